// standing_loop.h: the solution of a large block with factors that stand (standing_loop.c). Included by newton.h only.
#ifndef MDLC_RUNTIME_POINT_STANDING_LOOP_H
#define MDLC_RUNTIME_POINT_STANDING_LOOP_H

#include "runtime/point/run.h"

typedef struct StandingLoop StandingLoop;

// Solves the block from the unknowns in v. False: the unknowns are as before, and everything else is for newton_iterate() to say.
MDL_CHECKED bool standing_loop_solve(Run *run, Newton *newton);
void standing_loop_free(StandingLoop **loop);
// For tangents of an affine block at the point of its latest solution: whether factors of its matrix, whose values these are, are there, and what they make of b.
MDL_CHECKED bool standing_loop_factor(const Newton *newton, const double *values);
void standing_loop_apply(const Newton *newton, double *b);

#endif
