// gauss_wide.c: sums over the stages of Gauss steps of several runs side by side.
//
// Purpose: what is not an evaluation in a step of gauss_lanes.c.
// Method: for each unknown the numbers of all stages are taken once, four runs in a vector; the number of runs is a constant of each copy of the code.
// Contract: gauss_wide.h. Complexity: stages^2 products for each unknown.
#include "runtime/linear/gauss_wide.h"

#include <string.h>

enum { S = GAUSS_STAGES, ROWS = 2 * GAUSS_POINTS };

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long Bits __attribute__((vector_size(32), aligned(8), may_alias));

#define WIDE __attribute__((target_clones("avx2", "default")))

static inline __attribute__((always_inline)) const Four *
four(const double *array, size_t place)
{
    return (const Four *)(const void *)(array + 4 * place);
}

static inline __attribute__((always_inline)) Four *
place_of(double *array, size_t place)
{
    return (Four *)(void *)(array + 4 * place);
}

// What the mask says of `now`, otherwise `before`.
static inline __attribute__((always_inline)) void
choose(const uint64_t *mask, const Four *now, const Four *before, Four *out)
{
    Bits chosen = *(const Bits *)(const void *)mask;
    *out = (Four)(((Bits)*now & chosen) | ((Bits)*before & ~chosen));
}

static inline __attribute__((always_inline)) void
make_absolute(const Four *x, Four *out)
{
    const long long most = 0x7fffffffffffffff;
    const Bits sign = {most, most, most, most};
    *out = (Four)((Bits)*x & sign);
}

// out := the larger one; what is no number stays, or comes.
static inline __attribute__((always_inline)) void
raise_to(const Four *x, Four *out)
{
    Bits keeps = *x <= *out;
    *out = (Four)(((Bits)*out & keeps) | ((Bits)*x & ~keeps));
}

#define CHOOSE(call)  \
    if (width == 4) { \
        call(1);      \
    } else {          \
        call(2);      \
    }

static inline __attribute__((always_inline)) void
put_chosen(const uint32_t fours, const uint64_t *mask, const double *from, double *to, size_t size)
{
    for (uint32_t h = 0; h < fours; h++)
        for (size_t k = h; k < size / 4; k += fours)
            choose(mask + (size_t)4 * h, four(from, k), four(to, k), place_of(to, k));
}

WIDE void
gauss_wide_put(uint32_t width, const uint64_t *mask, const double *from, double *to, size_t size)
{
#define CALL(fours) put_chosen(fours, mask, from, to, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
add_weighted(const uint32_t fours, const double *base, const WideNumber *weight, const double *in, double *out, size_t size)
{
    size_t places = size / 4;
    for (uint32_t h = 0; h < fours; h++)
        for (size_t k = h; k < places; k += fours) {
            Four sum = {0};
            if (base)
                sum = *four(base, k);
#pragma GCC unroll 4
            for (uint32_t j = 0; j < S; j++)
                sum += *four(weight[j], h) * *four(in, j * places + k);
            *place_of(out, k) = sum;
        }
}

WIDE void
gauss_wide_sum(uint32_t width, const double *base, const WideNumber *weight, const double *in, double *out, size_t size)
{
#define CALL(fours) add_weighted(fours, base, weight, in, out, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
find_weights(const uint32_t fours, const double *tolerance, const double *absolute, const double *y, double *weight, size_t size)
{
    for (uint32_t h = 0; h < fours; h++)
        for (size_t k = h; k < size / 4; k += fours) {
            Four way;
            make_absolute(four(y, k), &way);
            *place_of(weight, k) = 1 / (*four(tolerance, h) * way + *four(absolute, k));
        }
}

WIDE void
gauss_wide_weights(uint32_t width, const double *tolerance, const double *absolute, const double *y, double *weight, size_t size)
{
#define CALL(fours) find_weights(fours, tolerance, absolute, y, weight, size)
    CHOOSE(CALL)
#undef CALL
}

// Row i of the method's sums.
static inline __attribute__((always_inline)) void
sum_inner(const Collocation *method, uint32_t i, const Four *f, Four *out)
{
    Four sum = method->inner[i][0] * f[0];
#pragma GCC unroll 4
    for (uint32_t j = 1; j < S; j++)
        sum += method->inner[i][j] * f[j];
    *out = sum;
}

// h times the sums of slopes, less z where there is one.
static inline __attribute__((always_inline)) void
find_offsets(const uint32_t fours, const Collocation *method, const double *h, const double *f, const double *z, double *out, size_t size)
{
    size_t places = size / 4;
    for (uint32_t q = 0; q < fours; q++)
        for (size_t k = q; k < places; k += fours) {
            Four slope[S], sum;
#pragma GCC unroll 4
            for (uint32_t j = 0; j < S; j++)
                slope[j] = *four(f, j * places + k);
#pragma GCC unroll 4
            for (uint32_t i = 0; i < S; i++) {
                sum_inner(method, i, slope, &sum);
                *place_of(out, i * places + k) = z ? *four(h, q) * sum - *four(z, i * places + k) : *four(h, q) * sum;
            }
        }
}

WIDE void
gauss_wide_offsets(uint32_t width, const Collocation *method, const double *h, const double *f, double *z, size_t size)
{
#define CALL(fours) find_offsets(fours, method, h, f, NULL, z, size)
    CHOOSE(CALL)
#undef CALL
}

WIDE void
gauss_wide_defects(uint32_t width, const Collocation *method, const double *h, const double *f, const double *z, double *change, size_t size)
{
#define CALL(fours) find_offsets(fours, method, h, f, z, change, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
go_before(const uint32_t fours, uint32_t stage, const double *lower, const double *h, const uint64_t *mask, double *change, const double *scaled, double *right, size_t size)
{
    size_t places = size / 4;
    for (uint32_t q = 0; q < fours; q++)
        for (size_t k = q; k < places; k += fours) {
            Four before = *four(change, stage * places + k), sum = before;
            for (uint32_t j = 0; j < stage; j++)
                sum += lower[j] * *four(scaled, j * places + k);
            choose(mask + (size_t)4 * q, &sum, &before, place_of(change, stage * places + k));
            *place_of(right, k) = sum / (*four(h, q) * lower[stage]);
        }
}

WIDE void
gauss_wide_before(uint32_t width, uint32_t stage, const double *lower, const double *h, const uint64_t *mask, double *change, const double *scaled, double *right,
                  size_t size)
{
#define CALL(fours) go_before(fours, stage, lower, h, mask, change, scaled, right, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
go_behind(const uint32_t fours, uint32_t stage, const double *lower, const uint64_t *mask, const double *right, double *change, double *scaled, size_t size)
{
    size_t places = size / 4;
    for (uint32_t q = 0; q < fours; q++)
        for (size_t k = q; k < places; k += fours) {
            Four before = *four(change, stage * places + k);
            *place_of(scaled, stage * places + k) = (*four(right, k) - before) / lower[stage];
            choose(mask + (size_t)4 * q, four(right, k), &before, place_of(change, stage * places + k));
        }
}

WIDE void
gauss_wide_behind(uint32_t width, uint32_t stage, const double *lower, const uint64_t *mask, const double *right, double *change, double *scaled, size_t size)
{
#define CALL(fours) go_behind(fours, stage, lower, mask, right, change, scaled, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
take_changes(const uint32_t fours, const uint64_t *mask, const double *change, double *z, GaussChange *size_of, size_t size)
{
    size_t places = size / 4;
    for (uint32_t q = 0; q < fours; q++) {
        Four most = {0}, error = {0};
        for (size_t k = q; k < places; k += fours) {
            Four moved = {0}, unit, part;
            make_absolute(four(size_of->base, k), &unit);
            raise_to(four(size_of->least, k), &unit);
#pragma GCC unroll 4
            for (uint32_t i = 0; i < S; i++) {
                Four before = *four(z, i * places + k), dz = *four(change, i * places + k), now = before + dz;
                choose(mask + (size_t)4 * q, &now, &before, place_of(z, i * places + k));
                make_absolute(&now, &now);
                raise_to(&now, &unit);
                make_absolute(&dz, &dz);
                raise_to(&dz, &moved);
            }
            part = moved / unit;
            raise_to(&part, &most);
            part = moved / (*four(size_of->tolerance, q) * unit + *four(size_of->absolute, k));
            raise_to(&part, &error);
        }
        memcpy(size_of->most + (size_t)4 * q, &most, sizeof most);
        memcpy(size_of->error + (size_t)4 * q, &error, sizeof error);
    }
}

WIDE void
gauss_wide_take(uint32_t width, const uint64_t *mask, const double *change, double *z, GaussChange *size_of, size_t size)
{
#define CALL(fours) take_changes(fours, mask, change, z, size_of, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
find_end(const uint32_t fours, const Collocation *method, const double *h, const double *f, const double *start, const double *carry, double *next, double *next_carry,
         size_t size)
{
    size_t places = size / 4;
    for (uint32_t q = 0; q < fours; q++)
        for (size_t k = q; k < places; k += fours) {
            Four sum = method->weight[0] * *four(f, k);
#pragma GCC unroll 4
            for (uint32_t j = 1; j < S; j++)
                sum += method->weight[j] * *four(f, j * places + k);
            Four way = *four(h, q) * sum + *four(carry, k), from = *four(start, k), end = from + way;
            *place_of(next, k) = end;
            *place_of(next_carry, k) = (from - end) + way;
        }
}

WIDE void
gauss_wide_end(uint32_t width, const Collocation *method, const double *h, const double *f, const double *start, const double *carry, double *next, double *next_carry,
               size_t size)
{
#define CALL(fours) find_end(fours, method, h, f, start, carry, next, next_carry, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
find_distance(const uint32_t fours, const double *factor, const double *a, const double *b, const double *weight, double *squares, size_t size)
{
    for (uint32_t q = 0; q < fours; q++) {
        Four total = {0};
        for (size_t k = q; k < size / 4; k += fours) {
            Four part = *four(factor, q) * (*four(a, k) - *four(b, k)) * *four(weight, k);
            total += part * part;
        }
        memcpy(squares + (size_t)4 * q, &total, sizeof total);
    }
}

WIDE void
gauss_wide_distance(uint32_t width, const double *factor, const double *a, const double *b, const double *weight, double *squares, size_t size)
{
#define CALL(fours) find_distance(fours, factor, a, b, weight, squares, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
divide(const uint32_t fours, const double *place, const double *h, const double *y, const double *f, double *divided, size_t size)
{
    size_t places = size / 4;
    for (uint32_t q = 0; q < fours; q++)
        for (size_t k = q; k < places; k += fours) {
            Four d[ROWS];
#pragma GCC unroll 8
            for (uint32_t i = 0; i < ROWS; i++)
                d[i] = *four(y, (i / 2) * places + k);
#pragma GCC unroll 8
            for (uint32_t order = 1; order < ROWS; order++)
#pragma GCC unroll 8
                for (uint32_t i = ROWS - 1; i >= order; i--) {
                    double apart = place[i / 2] - place[(i - order) / 2];
                    if (i / 2 == (i - order) / 2)
                        d[i] = *four(h, q) * *four(f, (i / 2) * places + k);
                    else
                        d[i] = (d[i] - d[i - 1]) / apart;
                }
#pragma GCC unroll 8
            for (uint32_t i = 0; i < ROWS; i++)
                *place_of(divided, i * places + k) = d[i];
        }
}

WIDE void
gauss_wide_divide(uint32_t width, const double *place, const double *h, const double *y, const double *f, double *divided, size_t size)
{
#define CALL(fours) divide(fours, place, h, y, f, divided, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
find_value(const uint32_t fours, const double *place, const double *at, const double *divided, double *out, size_t size)
{
    size_t places = size / 4;
    for (uint32_t q = 0; q < fours; q++)
        for (size_t k = q; k < places; k += fours) {
            Four value = *four(divided, (ROWS - 1) * places + k);
#pragma GCC unroll 8
            for (uint32_t i = ROWS - 1; i-- > 0;)
                value = value * (*four(at, q) - place[i / 2]) + *four(divided, i * places + k);
            *place_of(out, k) = value;
        }
}

WIDE void
gauss_wide_value(uint32_t width, const double *place, const double *at, const double *divided, double *out, size_t size)
{
#define CALL(fours) find_value(fours, place, at, divided, out, size)
    CHOOSE(CALL)
#undef CALL
}
