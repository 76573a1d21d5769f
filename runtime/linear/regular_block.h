// regular_block.h: the regular part of a block some of whose equations follow from others.
#ifndef MDLC_RUNTIME_LINEAR_REGULAR_BLOCK_H
#define MDLC_RUNTIME_LINEAR_REGULAR_BLOCK_H

#include "runtime/linear/lu.h"
#include "runtime/linear/rank.h"
#include "runtime/model/model.h"

typedef struct Square Square;

// Of the block whose Jacobian, with its values in v, `rank` has factored. NULL: no memory, or there is no such part.
Square *square_create(const mdl_block *block, const double *v, const Rank *rank);
void square_free(Square **square);
// With the Jacobian's values now in v. False: this choice of equations and unknowns is no longer a good one.
MDL_CHECKED bool square_factor(Square *square, const double *v);
// x (m): a solution of the chosen equations A x = b (m); the unknowns that were not chosen stay 0. x may be b.
void square_solve(Square *square, const double *b, double *x);
// Null vector k of A: unknown k that was not chosen is 1.
void square_kernel(Square *square, const double *v, uint32_t k, double *x);

#endif
