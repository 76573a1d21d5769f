// markowitz.h: an order of elimination for a sparse matrix with these values.
#ifndef MDLC_RUNTIME_LINEAR_MARKOWITZ_H
#define MDLC_RUNTIME_LINEAR_MARKOWITZ_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/model/checked.h"

// The matrix is n x n in compressed sparse columns. row_at and column_at get n entries each: the k-th pivot is in row row_at[k] and column
// column_at[k]. False, and these are not to be used: memory is exhausted, the matrix is singular, or the factors would have more than
// `most` entries, or it has so many entries in a row that counting what pivots fill in would take longer than it saves.
MDL_CHECKED bool markowitz_order(uint32_t n, const uint32_t *start, const uint32_t *row, const double *value, uint64_t most,
                                 int32_t *row_at, int32_t *column_at);

#endif
