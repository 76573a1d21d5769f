// block_vectors.c: what a solution of an algebraic block does with all its unknowns and residuals, four at a time.
//
// Purpose: a linear loop of a hundred unknowns is solved in every evaluation; residuals, corrections and their sizes, one unknown after the other, took as many
//   instructions as the elimination.
// Method: most places of a block are one behind the other (ir/lower/layout.c); rows of them are done by vectors of the compiler, in the same order on every
//   processor, and what stands alone, as derivatives of every second state do, one by one. Values that are not finite are found by a sum of their zeros.
// Contract: block_vectors.h.  Complexity: linear.
#include <math.h>
#include <stddef.h>

#include "runtime/linear/block_vectors.h"

#define WIDE __attribute__((target_clones("avx2", "default")))
#define FOUR(at) (*(Four *)(void *)(at))
#define FOUR_OF(at) (*(const Four *)(const void *)(at))

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef int64_t Mask __attribute__((vector_size(32)));

enum { SHORTEST = 4 }; // rows that are worth a loop of their own

// Where the row that begins with unknown i ends.
static uint32_t
row_end(const uint32_t *unknown, const uint32_t *residual, uint32_t i, uint32_t m)
{
    uint32_t end = i + 1;
    while (end < m && unknown[end] == unknown[end - 1] + 1 && residual[end] == residual[end - 1] + 1)
        end++;
    return end;
}

void
place_rows(BlockRows *rows, const uint32_t *unknown, const uint32_t *residual, uint32_t m)
{
    rows->n = 0;
    for (uint32_t i = 0, end; i < m; i = end) {
        end = row_end(unknown, residual, i, m);
        if (end - i >= SHORTEST)
            rows->row[rows->n++] = (BlockRow){i, end - i, unknown[i], residual[i]};
    }
    rows->end = rows->n;
    for (uint32_t i = 0, end; i < m; i = end) {
        end = row_end(unknown, residual, i, m);
        for (uint32_t k = i; k < end && end - i < SHORTEST; k++)
            rows->row[rows->end++] = (BlockRow){k, 1, unknown[k], residual[k]};
    }
}

#define FOR_ROWS(rows) for (const BlockRow *row = (rows).row; row < (rows).row + (rows).n; row++)
#define FOR_SINGLES(rows) for (const BlockRow *row = (rows).row + (rows).n; row < (rows).row + (rows).end; row++)

WIDE bool
rows_defect(double *out, const double *target, const double *v, BlockRows rows)
{
    Four nothing = {0};
    double rest = 0;
    FOR_ROWS(rows) {
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
    FOR_SINGLES(rows) {
        double value = target[row->at] - v[row->residual];
        out[row->at] = value;
        rest += 0 * value;
    }
    return nothing[0] + nothing[1] + nothing[2] + nothing[3] + rest == 0;
}

WIDE void
rows_add(double *v, const double *step, BlockRows rows)
{
    FOR_ROWS(rows) {
        double *a = v + row->unknown;
        const double *b = step + row->at;
        uint32_t i = 0;
        for (; i + 4 <= row->n; i += 4)
            FOUR(a + i) = FOUR_OF(a + i) + FOUR_OF(b + i);
        for (; i < row->n; i++)
            a[i] += b[i];
    }
    FOR_SINGLES(rows)
        v[row->unknown] += step[row->at];
}

// `part` of the unknown's size, which is at least `least`.
static inline double
part_of(double part, double unknown, double least)
{
    double unit = fabs(unknown);
    return fabs(part) / (unit > least ? unit : least);
}

// Of each two the larger one, b where one is no number: an instruction.
static inline __attribute__((always_inline)) void
take_larger(Four *a, const Four *b)
{
    for (int k = 0; k < 4; k++)
        (*a)[k] = (*a)[k] > (*b)[k] ? (*a)[k] : (*b)[k];
}

static inline __attribute__((always_inline)) double
measure(const double *step, const double *scale, double *v, BlockRows rows, const bool add)
{
    const Mask magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    Four most = {0}, nothing = {0};
    double largest = 0, rest = 0;
    FOR_ROWS(rows) {
        const double *from = step + row->at, *least = scale + row->at;
        double *at = v + row->unknown;
        uint32_t i = 0;
        for (; i + 4 <= row->n; i += 4) {
            Four part = FOUR_OF(from + i), unknown = FOUR_OF(at + i), unit = (Four)((Mask)unknown & magnitude), other = FOUR_OF(least + i);
            nothing += part - part; // is no number where it is not finite
            if (add)
                FOUR(at + i) = unknown + part;
            take_larger(&unit, &other);
            part = (Four)((Mask)part & magnitude) / unit;
            take_larger(&part, &most);
            most = part;
        }
        for (; i < row->n; i++) {
            double part = part_of(from[i], at[i], least[i]);
            rest += from[i] - from[i];
            largest = part > largest ? part : largest;
            if (add)
                at[i] += from[i];
        }
    }
    FOR_SINGLES(rows) {
        double part = part_of(step[row->at], v[row->unknown], scale[row->at]);
        rest += step[row->at] - step[row->at];
        largest = part > largest ? part : largest;
        if (add)
            v[row->unknown] += step[row->at];
    }
    for (int k = 0; k < 4; k++)
        largest = most[k] > largest ? most[k] : largest;
    return largest + nothing[0] + nothing[1] + nothing[2] + nothing[3] + rest;
}

WIDE double
rows_largest(const double *step, const double *scale, const double *v, BlockRows rows)
{
    return measure(step, scale, (double *)(uintptr_t)v, rows, false); // which is only read
}

WIDE double
rows_correct(double *v, const double *step, const double *scale, BlockRows rows)
{
    return measure(step, scale, v, rows, true);
}

WIDE void
rows_read(double *to, const double *v, BlockRows rows)
{
    FOR_ROWS(rows) {
        uint32_t i = 0;
        for (; i + 4 <= row->n; i += 4)
            FOUR(to + row->at + i) = FOUR_OF(v + row->unknown + i);
        for (; i < row->n; i++)
            to[row->at + i] = v[row->unknown + i];
    }
    FOR_SINGLES(rows)
        to[row->at] = v[row->unknown];
}

WIDE bool
all_within(const double *value, const double *part, const double *whole, const uint32_t *at, uint32_t n)
{
    const Mask magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    Mask within = {-1, -1, -1, -1};
    bool rest = true;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4) {
        Four bound = {whole[at[i]], whole[at[i + 1]], whole[at[i + 2]], whole[at[i + 3]]};
        bound = FOUR_OF(part + i) * (Four)((Mask)bound & magnitude);
        within &= (Four)((Mask)FOUR_OF(value + i) & magnitude) <= bound;
    }
    for (; i < n; i++)
        rest = rest && fabs(value[i]) <= part[i] * fabs(whole[at[i]]);
    return (within[0] & within[1] & within[2] & within[3]) && rest;
}

WIDE bool
all_reach(const double *value, const double *least, uint32_t n)
{
    const Mask magnitude = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    Mask reach = {-1, -1, -1, -1};
    bool rest = true;
    uint32_t i = 0;
    for (; i + 4 <= n; i += 4)
        reach &= (Four)((Mask)FOUR_OF(value + i) & magnitude) >= FOUR_OF(least + i);
    for (; i < n; i++)
        rest = rest && fabs(value[i]) >= least[i];
    return (reach[0] & reach[1] & reach[2] & reach[3]) && rest;
}
