// standing.h: factors of a sparse matrix in an order that stands: found once from values, then renewed without looking for pivots.
#ifndef MDLC_RUNTIME_LINEAR_STANDING_H
#define MDLC_RUNTIME_LINEAR_STANDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/model/checked.h"
#include "runtime/model/straight.h"

typedef struct Standing Standing;

// Chooses the order for these values; `start` (n + 1) and `row` are the columns of the pattern. NULL: out of memory, singular, or the
// factors would have many times the entries of the matrix.
Standing *standing_create(uint32_t n, const uint32_t *start, const uint32_t *row, const double *values);
void standing_free(Standing **standing);
// Factors another matrix of the pattern; nothing is done for one that is the same. False: a pivot has become much smaller than it was when the
// order was chosen, or is not finite. Whether the factors are good is otherwise for the caller to see by what they solve.
MDL_CHECKED bool standing_factor(Standing *standing, const double *values);
// b := A^-1 b.
void standing_solve(Standing *standing, double *b);
// Machine code takes the place of the lists, once these have done several times the work that making it costs; results stay the same to the bit. The
// translator must outlive it. Called as often as wanted; true: now it has been done.
MDL_CHECKED bool standing_translate(Standing *standing, const mdl_translator *translator);
bool standing_is_translated(const Standing *standing);
// The same for `width` matrices side by side, 4 or 8: value e of matrix l stands at values[e*width + l]. `factor` has standing_places() times
// as many doubles, b and work n times. worn[l] becomes 1 where a pivot of matrix l is as standing_factor() says.
size_t standing_places(const Standing *standing);
void standing_factor_wide(const Standing *standing, uint32_t width, const double *values, double *factor, uint8_t *worn);
void standing_solve_wide(const Standing *standing, uint32_t width, const double *factor, double *b, double *work);
// The same for matrices A + c B, whose pivots are judged by the other entries of their columns, for they change with c. Complex ones have the imaginary
// parts behind the real ones, in all arrays: of value e they stand at values[(2*e + 1)*width + l].
void standing_factor_shifted(const Standing *standing, uint32_t width, bool complex, const double *values, double *factor, uint8_t *worn);
void standing_solve_shifted(const Standing *standing, uint32_t width, bool complex, const double *factor, double *b, double *work);
uint64_t standing_operations(const Standing *standing); // multiplications with subtraction of one factorisation

#endif
