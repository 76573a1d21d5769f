// block_vectors.h: what a solution of an algebraic block does with all its unknowns and residuals, which stand here and there in v.
#ifndef MDLC_RUNTIME_LINEAR_BLOCK_VECTORS_H
#define MDLC_RUNTIME_LINEAR_BLOCK_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

// Unknowns at, at + 1, ... of a block whose places, and those of the residuals of the same numbers, are one behind the other.
typedef struct BlockRow {
    uint32_t at, n, unknown, residual;
} BlockRow;

// Rows for `m` unknowns, of which there are at most m. Returns how many.
uint32_t place_rows(BlockRow *rows, const uint32_t *unknown, const uint32_t *residual, uint32_t m);
// out := target - residuals. False where something is not finite.
bool rows_defect(double *out, const double *target, const double *v, const BlockRow *rows, uint32_t n_rows);
// unknowns := unknowns + step.
void rows_add(double *v, const double *step, const BlockRow *rows, uint32_t n_rows);
// The largest of |step| / max(|unknown|, scale), NaN where a step is not finite.
double rows_largest(const double *step, const double *scale, const double *v, const BlockRow *rows, uint32_t n_rows);
void rows_read(double *to, const double *v, const BlockRow *rows, uint32_t n_rows);

#endif
