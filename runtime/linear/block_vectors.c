// block_vectors.c: what a solution of an algebraic block does with all its unknowns and residuals, four at a time.
//
// Purpose: a linear loop of a hundred unknowns is solved in every evaluation; residuals, corrections and their sizes, one unknown after the other, took as many
//   instructions as the elimination.
// Method: most places of a block are one behind the other (ir/lower/layout.c); rows of them are done by vectors of the compiler, in the same order on every
//   processor. Values that are not finite are found by a sum of their zeros.
// Contract: block_vectors.h.  Complexity: linear.
#include <math.h>
#include <stddef.h>

#include "runtime/linear/block_vectors.h"

#define WIDE __attribute__((target_clones("avx2", "default")))
#define FOUR(at) (*(Four *)(void *)(at))
#define FOUR_OF(at) (*(const Four *)(const void *)(at))

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t Mask __attribute__((vector_size(32)));

uint32_t
place_rows(BlockRow *rows, const uint32_t *unknown, const uint32_t *residual, uint32_t m)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < m; i++) {
        BlockRow *row = n ? &rows[n - 1] : NULL;
        if (row && unknown[i] == row->unknown + row->n && residual[i] == row->residual + row->n)
            row->n++;
        else
            rows[n++] = (BlockRow){i, 1, unknown[i], residual[i]};
    }
    return n;
}

WIDE bool
rows_defect(double *out, const double *target, const double *v, const BlockRow *rows, uint32_t n_rows)
{
    Four nothing = {0};
    double rest = 0;
    for (const BlockRow *row = rows; row < rows + n_rows; row++) {
        double *to = out + row->at;
        const double *a = target + row->at, *b = v + row->residual;
        uint32_t i = 0;
        for (; i + 4 <= row->n; i += 4) {
            Four value = FOUR_OF(a + i) - FOUR_OF(b + i);
            FOUR(to + i) = value;
            nothing += 0 * value;
        }
        for (; i < row->n; i++) {
            to[i] = a[i] - b[i];
            rest += 0 * to[i];
        }
    }
    return nothing[0] + nothing[1] + nothing[2] + nothing[3] + rest == 0;
}

WIDE void
rows_add(double *v, const double *step, const BlockRow *rows, uint32_t n_rows)
{
    for (const BlockRow *row = rows; row < rows + n_rows; row++) {
        double *a = v + row->unknown;
        const double *b = step + row->at;
        uint32_t i = 0;
        for (; i + 4 <= row->n; i += 4)
            FOUR(a + i) = FOUR_OF(a + i) + FOUR_OF(b + i);
        for (; i < row->n; i++)
            a[i] += b[i];
    }
}

WIDE double
rows_largest(const double *step, const double *scale, const double *v, const BlockRow *rows, uint32_t n_rows)
{
    const Mask magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    Four most = {0}, nothing = {0};
    double largest = 0, rest = 0;
    for (const BlockRow *row = rows; row < rows + n_rows; row++) {
        const double *from = step + row->at, *least = scale + row->at, *at = v + row->unknown;
        uint32_t i = 0;
        for (; i + 4 <= row->n; i += 4) {
            Four part = FOUR_OF(from + i), unit = (Four)((Mask)FOUR_OF(at + i) & magnitude), other = FOUR_OF(least + i);
            nothing += part - part; // is no number where it is not finite
            Mask larger = unit > other;
            unit = (Four)(((Mask)unit & larger) | ((Mask)other & ~larger));
            part = (Four)((Mask)part & magnitude) / unit;
            larger = part > most;
            most = (Four)(((Mask)part & larger) | ((Mask)most & ~larger));
        }
        for (; i < row->n; i++) {
            double unit = fabs(at[i]), part = fabs(from[i]) / (unit > least[i] ? unit : least[i]);
            rest += from[i] - from[i];
            largest = part > largest ? part : largest;
        }
    }
    for (int k = 0; k < 4; k++)
        largest = most[k] > largest ? most[k] : largest;
    return largest + nothing[0] + nothing[1] + nothing[2] + nothing[3] + rest;
}

WIDE void
rows_read(double *to, const double *v, const BlockRow *rows, uint32_t n_rows)
{
    for (const BlockRow *row = rows; row < rows + n_rows; row++) {
        uint32_t i = 0;
        for (; i + 4 <= row->n; i += 4)
            FOUR(to + row->at + i) = FOUR_OF(v + row->unknown + i);
        for (; i < row->n; i++)
            to[row->at + i] = v[row->unknown + i];
    }
}
