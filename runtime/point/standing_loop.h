// standing_loop.h: the solution of a large block with factors that stand (standing_loop.c). Included by newton.c and newton.h only.
#ifndef MDLC_RUNTIME_POINT_STANDING_LOOP_H
#define MDLC_RUNTIME_POINT_STANDING_LOOP_H

#include "runtime/point/run.h"

typedef struct StandingLoop StandingLoop;

// Solves the block from the unknowns in v. False: the unknowns are as before, and everything else is for newton_iterate() to say.
MDL_CHECKED bool standing_loop_solve(Run *run, Newton *newton);
void standing_loop_free(StandingLoop **loop);

#endif
