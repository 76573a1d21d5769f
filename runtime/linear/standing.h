// standing.h: factors of a sparse matrix in an order that stands: found once from values, then renewed without looking for pivots.
#ifndef MDLC_RUNTIME_LINEAR_STANDING_H
#define MDLC_RUNTIME_LINEAR_STANDING_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/model/checked.h"

typedef struct Standing Standing;

// Chooses the order for these values; `start` (n + 1) and `row` are the columns of the pattern. NULL: out of memory, singular, or the
// factors would have many times the entries of the matrix.
Standing *standing_create(uint32_t n, const uint32_t *start, const uint32_t *row, const double *values);
void standing_free(Standing **standing);
// Factors another matrix of the pattern; nothing is done for one that is the same. False: a pivot has become much smaller than it was when the
// order was chosen, or is not finite. Whether the factors are good is otherwise for the caller to see by what they solve.
MDL_CHECKED bool standing_factor(Standing *standing, const double *values);
// b := A^-1 b.
void standing_solve(const Standing *standing, double *b);
uint64_t standing_operations(const Standing *standing); // multiplications with subtraction of one factorisation

#endif
