// block_vectors.h: what a solution of an algebraic block does with all its unknowns and residuals, which stand here and there in v.
#ifndef MDLC_RUNTIME_LINEAR_BLOCK_VECTORS_H
#define MDLC_RUNTIME_LINEAR_BLOCK_VECTORS_H

#include <stdbool.h>
#include <stdint.h>

// Unknowns at, at + 1, ... of a block whose places, and those of the residuals of the same numbers, are one behind the other.
typedef struct BlockRow {
    uint32_t at, n, unknown, residual;
} BlockRow;

// All of a block: rows, and from n on what stands alone, one each.
typedef struct BlockRows {
    BlockRow *row;
    uint32_t n, end;
} BlockRows;

// Rows for `m` unknowns, of which rows->row has room for m.
void place_rows(BlockRows *rows, const uint32_t *unknown, const uint32_t *residual, uint32_t m);
// out := target - residuals. False where something is not finite.
bool rows_defect(double *out, const double *target, const double *v, BlockRows rows);
// unknowns := unknowns + step.
void rows_add(double *v, const double *step, BlockRows rows);
// The largest of |step| / max(|unknown|, scale), NaN where a step is not finite.
double rows_largest(const double *step, const double *scale, const double *v, BlockRows rows);
// The same of a step that is added to the unknowns, as these were before.
double rows_correct(double *v, const double *step, const double *scale, BlockRows rows);
void rows_read(double *to, const double *v, BlockRows rows);
// Whether each |value[i]| is at most part[i] of |whole[at[i]]|, no number being so.
bool all_within(const double *value, const double *part, const double *whole, const uint32_t *at, uint32_t n);
// Whether each |value[i]| is at least least[i], no number being so.
bool all_reach(const double *value, const double *least, uint32_t n);

#endif
