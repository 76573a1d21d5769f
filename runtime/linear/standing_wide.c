// standing_wide.c: several matrices of one pattern, factored side by side in one order.
//
// Purpose: the loops and the iteration matrices of runs that are made together (runtime/point/lane_loop.c, runtime/step/lane_matrix.c).
// Method: the list of products of standing.c, each of them for four or eight matrices at once, in vectors. Complex matrices have the imaginary parts of
//         an entry behind its real ones; a product takes four multiplications, half of those that the real system of twice the size takes.
// Contract: standing.h; what is computed for one matrix does not depend on those beside it. Complexity: that of standing.c, for all of them.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/linear/standing_inner.h"

static const double STANDING_THIN = 1e-8; // part of the largest entry of its column that a pivot must have

#define WIDE __attribute__((target_clones("avx2", "default")))

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long Bits __attribute__((vector_size(32), aligned(8), may_alias));

static inline Four *
four_at(double *x, size_t place)
{
    return (Four *)x + place;
}

// The pivot becomes its reciprocal. bad: all bits of those that have become small, or are no numbers.
static inline __attribute__((always_inline)) void
take_pivot(Four *pivot, double initial, Bits *bad)
{
    const Bits all_but_sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    const Four least = {STANDING_WORN * initial, STANDING_WORN * initial, STANDING_WORN * initial, STANDING_WORN * initial}, most = {DBL_MAX, DBL_MAX, DBL_MAX, DBL_MAX};
    Four reciprocal = 1 / *pivot;
    *bad |= ~((Four)((Bits)*pivot & all_but_sign) >= least) | ~((Four)((Bits)reciprocal & all_but_sign) <= most);
    *pivot = reciprocal;
}

// Of a matrix with worn pivots the rest is done as well, with whatever numbers.
static inline __attribute__((always_inline)) void
factor_fours(const Standing *s, const uint32_t fours, const double *values, double *factors, uint8_t *worn)
{
    const uint32_t *target = s->target;
    Four *factor = four_at(factors, 0);
    Bits bad[2] = {{0}};
    memset(factors, 0, (size_t)s->places * fours * sizeof *factor);
    for (uint32_t e = 0; e < s->entries; e++)
        memcpy(factor + (size_t)s->entry_at[e] * fours, values + (size_t)e * 4 * fours, fours * sizeof *factor);
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t at = s->first[k], below = s->below[k], right = s->first[k + 1] - at - 1 - below;
        Four *pivot = factor + (size_t)at * fours, *column = pivot + fours, *row = column + (size_t)below * fours, a[2];
        for (uint32_t h = 0; h < fours; h++) {
            take_pivot(pivot + h, s->initial[k], &bad[h]);
            a[h] = pivot[h];
        }
        for (uint32_t i = 0; i < below; i++)
#pragma GCC unroll 2
            for (uint32_t h = 0; h < fours; h++)
                column[(size_t)i * fours + h] *= a[h];
        for (uint32_t j = 0; j < right; j++, target += below, row += fours) {
#pragma GCC unroll 2
            for (uint32_t h = 0; h < fours; h++)
                a[h] = row[h];
            for (uint32_t i = 0; i < below; i++) {
                Four *from = factor + (size_t)target[i] * fours;
#pragma GCC unroll 2
                for (uint32_t h = 0; h < fours; h++)
                    from[h] -= column[(size_t)i * fours + h] * a[h];
            }
        }
    }
    for (uint32_t l = 0; l < 4 * fours; l++)
        worn[l] |= bad[l / 4][l % 4] != 0;
}

static inline __attribute__((always_inline)) void
solve_fours(const Standing *s, const uint32_t fours, const double *factors, double *right, double *work)
{
    const uint32_t *other = s->other, *first = s->first, *below = s->below, n = s->n;
    const Four *factor = four_at((double *)(uintptr_t)factors, 0); // which is only read
    Four *x = four_at(work, 0), *b = four_at(right, 0), a[2];
    for (uint32_t k = 0; k < n; k++)
        memcpy(x + (size_t)k * fours, b + (size_t)s->row_at[k] * fours, fours * sizeof *x);
    for (uint32_t k = 0; k < n; k++) {
#pragma GCC unroll 2
        for (uint32_t h = 0; h < fours; h++)
            a[h] = x[(size_t)k * fours + h];
        for (uint32_t at = first[k] + 1, to = at + below[k]; at < to; at++) {
            Four *from = x + (size_t)other[at] * fours;
#pragma GCC unroll 2
            for (uint32_t h = 0; h < fours; h++)
                from[h] -= factor[(size_t)at * fours + h] * a[h];
        }
    }
    for (uint32_t k = n; k-- > 0;) {
#pragma GCC unroll 2
        for (uint32_t h = 0; h < fours; h++)
            a[h] = x[(size_t)k * fours + h];
        for (uint32_t at = first[k] + 1 + below[k], to = first[k + 1]; at < to; at++)
#pragma GCC unroll 2
            for (uint32_t h = 0; h < fours; h++)
                a[h] -= factor[(size_t)at * fours + h] * x[(size_t)other[at] * fours + h];
#pragma GCC unroll 2
        for (uint32_t h = 0; h < fours; h++)
            x[(size_t)k * fours + h] = a[h] * factor[(size_t)first[k] * fours + h];
    }
    for (uint32_t k = 0; k < n; k++)
        memcpy(b + (size_t)s->column_at[k] * fours, x + (size_t)k * fours, fours * sizeof *x);
}

WIDE void
standing_factor_wide(const Standing *s, uint32_t width, const double *values, double *factor, uint8_t *worn)
{
    if (width == 4)
        factor_fours(s, 1, values, factor, worn);
    else
        factor_fours(s, 2, values, factor, worn);
}

WIDE void
standing_solve_wide(const Standing *s, uint32_t width, const double *factor, double *b, double *work)
{
    if (width == 4)
        solve_fours(s, 1, factor, b, work);
    else
        solve_fours(s, 2, factor, b, work);
}

// --- A + c B, whose pivots are compared with their columns: by c they change by powers of ten

// Of complex numbers: the sum of the magnitudes of the parts.
static inline __attribute__((always_inline)) void
measure(const Four *at, const uint32_t fours, const bool complex, Four *size)
{
    const Bits all_but_sign = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    *size = (Four)((Bits)at[0] & all_but_sign);
    if (complex)
        *size += (Four)((Bits)at[fours] & all_but_sign);
}

// x -= a b
static inline __attribute__((always_inline)) void
subtract_product(Four *x, const Four *a, const Four *b, const uint32_t fours, const bool complex)
{
    if (complex) {
        Four re = a[0] * b[0] - a[fours] * b[fours], im = a[0] * b[fours] + a[fours] * b[0];
        x[0] -= re;
        x[fours] -= im;
    } else
        x[0] -= a[0] * b[0];
}

static inline __attribute__((always_inline)) void
multiply(Four *x, const Four *b, const uint32_t fours, const bool complex)
{
    if (complex) {
        Four re = x[0] * b[0] - x[fours] * b[fours], im = x[0] * b[fours] + x[fours] * b[0];
        x[0] = re;
        x[fours] = im;
    } else
        x[0] *= b[0];
}

static inline __attribute__((always_inline)) void
invert(Four *x, const uint32_t fours, const bool complex)
{
    if (complex) {
        Four square = x[0] * x[0] + x[fours] * x[fours];
        x[0] = x[0] / square;
        x[fours] = -x[fours] / square;
    } else
        x[0] = 1 / x[0];
}

// The pivot becomes its reciprocal and multiplies its column.
static inline __attribute__((always_inline)) void
scale_column(Four *pivot, const uint32_t below, const uint32_t fours, const bool complex, uint8_t *worn)
{
    const uint32_t step = complex ? 2 * fours : fours;
    Four size, other, largest;
    measure(pivot, fours, complex, &size);
    largest = size;
    invert(pivot, fours, complex);
    for (uint32_t i = 1; i <= below; i++) {
        Four *entry = pivot + (size_t)i * step;
        measure(entry, fours, complex, &other);
        for (uint32_t l = 0; l < 4; l++)
            largest[l] = other[l] > largest[l] ? other[l] : largest[l];
        multiply(entry, pivot, fours, complex);
    }
    measure(pivot, fours, complex, &other);
    for (uint32_t l = 0; l < 4; l++)
        worn[l] |= !(size[l] >= STANDING_THIN * largest[l]) || !isfinite(other[l]);
}

static inline __attribute__((always_inline)) void
factor_shifted(const Standing *s, const uint32_t fours, const bool complex, const double *values, double *factors, uint8_t *worn)
{
    const uint32_t *target = s->target, step = complex ? 2 * fours : fours;
    Four *factor = four_at(factors, 0);
    memset(factors, 0, (size_t)s->places * step * sizeof *factor);
    for (uint32_t e = 0; e < s->entries; e++)
        memcpy(factor + (size_t)s->entry_at[e] * step, values + (size_t)e * step * 4, step * sizeof *factor);
    for (uint32_t k = 0; k < s->n; k++) {
        uint32_t at = s->first[k], below = s->below[k], right = s->first[k + 1] - at - 1 - below;
        for (uint32_t h = 0; h < fours; h++)
            scale_column(factor + (size_t)at * step + h, below, fours, complex, worn + (size_t)4 * h);
        for (uint32_t j = 0; j < right; j++, target += below) {
            const Four *row = factor + (size_t)(at + 1 + below + j) * step, *column = factor + (size_t)(at + 1) * step;
            for (uint32_t i = 0; i < below; i++)
#pragma GCC unroll 2
                for (uint32_t h = 0; h < fours; h++)
                    subtract_product(factor + (size_t)target[i] * step + h, column + (size_t)i * step + h, row + h, fours, complex);
        }
    }
}

static inline __attribute__((always_inline)) void
solve_shifted(const Standing *s, const uint32_t fours, const bool complex, const double *factors, double *right, double *work)
{
    const uint32_t *other = s->other, *first = s->first, *below = s->below, n = s->n, step = complex ? 2 * fours : fours;
    const Four *factor = four_at((double *)(uintptr_t)factors, 0); // which is only read
    Four *x = four_at(work, 0), *b = four_at(right, 0);
    for (uint32_t k = 0; k < n; k++)
        memcpy(x + (size_t)k * step, b + (size_t)s->row_at[k] * step, step * sizeof *x);
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t at = first[k] + 1, to = at + below[k]; at < to; at++)
#pragma GCC unroll 2
            for (uint32_t h = 0; h < fours; h++)
                subtract_product(x + (size_t)other[at] * step + h, factor + (size_t)at * step + h, x + (size_t)k * step + h, fours, complex);
    for (uint32_t k = n; k-- > 0;)
#pragma GCC unroll 2
        for (uint32_t h = 0; h < fours; h++) {
            Four *sum = x + (size_t)k * step + h;
            for (uint32_t at = first[k] + 1 + below[k], to = first[k + 1]; at < to; at++)
                subtract_product(sum, factor + (size_t)at * step + h, x + (size_t)other[at] * step + h, fours, complex);
            multiply(sum, factor + (size_t)first[k] * step + h, fours, complex);
        }
    for (uint32_t k = 0; k < n; k++)
        memcpy(b + (size_t)s->column_at[k] * step, x + (size_t)k * step, step * sizeof *x);
}

WIDE void
standing_factor_shifted(const Standing *s, uint32_t width, bool complex, const double *values, double *factor, uint8_t *worn)
{
    if (width == 4 && complex)
        factor_shifted(s, 1, true, values, factor, worn);
    else if (width == 4)
        factor_shifted(s, 1, false, values, factor, worn);
    else if (complex)
        factor_shifted(s, 2, true, values, factor, worn);
    else
        factor_shifted(s, 2, false, values, factor, worn);
}

WIDE void
standing_solve_shifted(const Standing *s, uint32_t width, bool complex, const double *factor, double *b, double *work)
{
    if (width == 4 && complex)
        solve_shifted(s, 1, true, factor, b, work);
    else if (width == 4)
        solve_shifted(s, 1, false, factor, b, work);
    else if (complex)
        solve_shifted(s, 2, true, factor, b, work);
    else
        solve_shifted(s, 2, false, factor, b, work);
}
