// affine_loop.h: the solution of an affine block with pivots that stand (affine_loop.c). Included by newton.c and newton.h only.
#ifndef MDLC_RUNTIME_POINT_AFFINE_LOOP_H
#define MDLC_RUNTIME_POINT_AFFINE_LOOP_H

#include "runtime/point/run.h"

typedef struct Affine Affine;

// Solves the block from the unknowns in v. False: the unknowns are as before, and everything else is for newton_iterate() to say.
MDL_CHECKED bool affine_solve(Run *run, Newton *newton);
void affine_free(Affine **affine);

#endif
