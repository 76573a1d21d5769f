// radau_wide.c: sums over the stages of Radau steps of several runs side by side.
//
// Purpose: what is not an evaluation or an elimination in a step of radau_lanes.c.
// Method: for each unknown the numbers of all stages are taken once, four runs in a vector; the numbers of stages and of runs are constants of
//         each copy of the code.
// Contract: radau_wide.h. Complexity: stages^2 products for each unknown.
#include "runtime/linear/radau_wide.h"

#include <string.h>

typedef double Four __attribute__((vector_size(32), aligned(8), may_alias));
typedef long long Bits __attribute__((vector_size(32), aligned(8), may_alias));

#define WIDE __attribute__((target_clones("avx2", "default")))

// The copies of a function: `call(fours, stages)`.
#define CHOOSE(call)               \
    if (width == 4) {              \
        if (stages <= 3)           \
            call(1, 3);            \
        else if (stages <= 5)      \
            call(1, 5);            \
        else                       \
            call(1, 7);            \
    } else {                       \
        if (stages <= 3)           \
            call(2, 3);            \
        else if (stages <= 5)      \
            call(2, 5);            \
        else                       \
            call(2, 7);            \
    }

static inline __attribute__((always_inline)) const Four *
four(const double *array, size_t place)
{
    return (const Four *)(const void *)(array + 4 * place);
}

// x := what the mask says of `now`, otherwise what is there.
static inline __attribute__((always_inline)) void
put(double *array, size_t place, const uint64_t *mask, const Four *now)
{
    Four *x = (Four *)(void *)(array + 4 * place);
    Bits chosen = *(const Bits *)(const void *)mask;
    *x = (Four)(((Bits)*now & chosen) | ((Bits)*x & ~chosen));
}

static inline __attribute__((always_inline)) void
transform(const uint32_t fours, const uint32_t stages, WideSum *matrix, const uint64_t *mask, const double *in, double *out, size_t size)
{
    size_t places = size / 4;
    for (uint32_t h = 0; h < fours; h++)
        for (size_t k = h; k < places; k += fours) {
            Four x[RADAU_STAGES];
#pragma GCC unroll 7
            for (uint32_t j = 0; j < stages; j++)
                x[j] = *four(in, j * places + k);
#pragma GCC unroll 7
            for (uint32_t i = 0; i < stages; i++) {
                Four sum = *four(matrix[i][0], h) * x[0];
#pragma GCC unroll 7
                for (uint32_t j = 1; j < stages; j++)
                    sum += *four(matrix[i][j], h) * x[j];
                put(out, i * places + k, mask + (size_t)4 * h, &sum);
            }
        }
}

WIDE void
radau_wide_transform(uint32_t width, uint32_t stages, WideSum *matrix, const uint64_t *mask, const double *in, double *out, size_t size)
{
#define CALL(fours, number) transform(fours, number, matrix, mask, in, out, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
find_defects(const uint32_t fours, const uint32_t stages, WideSum *matrix, const WideShift *shift, double *f, const double *w, size_t size)
{
    size_t places = size / 4;
    for (uint32_t h = 0; h < fours; h++)
        for (size_t k = h; k < places; k += fours) {
            Four x[RADAU_STAGES], y[RADAU_STAGES], sum[RADAU_STAGES];
#pragma GCC unroll 7
            for (uint32_t j = 0; j < stages; j++) {
                x[j] = *four(f, j * places + k);
                y[j] = *four(w, j * places + k);
            }
#pragma GCC unroll 7
            for (uint32_t i = 0; i < stages; i++) {
                sum[i] = *four(matrix[i][0], h) * x[0];
#pragma GCC unroll 7
                for (uint32_t j = 1; j < stages; j++)
                    sum[i] += *four(matrix[i][j], h) * x[j];
            }
            sum[0] -= *four(shift->real, h) * y[0];
#pragma GCC unroll 3
            for (uint32_t p = 0; p < stages / 2; p++) {
                Four alpha = *four(shift->alpha[p], h), beta = *four(shift->beta[p], h);
                sum[2 * p + 1] -= alpha * y[2 * p + 1] + beta * y[2 * p + 2];
                sum[2 * p + 2] -= alpha * y[2 * p + 2] - beta * y[2 * p + 1];
            }
#pragma GCC unroll 7
            for (uint32_t i = 0; i < stages; i++)
                *(Four *)(void *)(f + 4 * (i * places + k)) = sum[i];
        }
}

WIDE void
radau_wide_defects(uint32_t width, uint32_t stages, WideSum *matrix, const WideShift *shift, double *f, const double *w, size_t size)
{
#define CALL(fours, number) find_defects(fours, number, matrix, shift, f, w, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
correct(const uint32_t fours, const uint32_t stages, WideSum *matrix, const uint64_t *mask, const double *f, double *w, double *z, const double *weight,
        double *squares, size_t size)
{
    size_t places = size / 4;
    for (uint32_t h = 0; h < fours; h++) {
        Four total = {0};
        for (size_t k = h; k < places; k += fours) {
            Four x[RADAU_STAGES], scale = *four(weight, k);
#pragma GCC unroll 7
            for (uint32_t j = 0; j < stages; j++) {
                x[j] = *four(f, j * places + k);
                Four moved = *four(w, j * places + k) + x[j];
                put(w, j * places + k, mask + (size_t)4 * h, &moved);
            }
#pragma GCC unroll 7
            for (uint32_t i = 0; i < stages; i++) {
                Four sum = *four(matrix[i][0], h) * x[0];
#pragma GCC unroll 7
                for (uint32_t j = 1; j < stages; j++)
                    sum += *four(matrix[i][j], h) * x[j];
                Four moved = *four(z, i * places + k) + sum;
                put(z, i * places + k, mask + (size_t)4 * h, &moved);
                sum *= scale;
                total += sum * sum;
            }
        }
        memcpy(squares + 4 * (size_t)h, &total, sizeof total);
    }
}

WIDE void
radau_wide_correct(uint32_t width, uint32_t stages, WideSum *matrix, const uint64_t *mask, const double *f, double *w, double *z, const double *weight,
                   double *squares, size_t size)
{
#define CALL(fours, number) correct(fours, number, matrix, mask, f, w, z, weight, squares, size)
    CHOOSE(CALL)
#undef CALL
}

static inline __attribute__((always_inline)) void
add_up(const uint32_t fours, const uint32_t stages, const double *factor, const double *base, const WideNumber *sum, const double *in, double *out,
       const double *weight, double *squares, size_t size)
{
    size_t places = size / 4;
    for (uint32_t h = 0; h < fours; h++) {
        Four total = {0};
        for (size_t k = h; k < places; k += fours) {
            Four value = *four(factor, h) * *four(base, k);
#pragma GCC unroll 7
            for (uint32_t j = 0; j < stages; j++)
                value += *four(sum[j], h) * *four(in, j * places + k);
            if (out)
                *(Four *)(void *)(out + 4 * k) = value;
            if (weight) {
                value *= *four(weight, k);
                total += value * value;
            }
        }
        if (squares)
            memcpy(squares + 4 * (size_t)h, &total, sizeof total);
    }
}

WIDE void
radau_wide_sum(uint32_t width, uint32_t stages, const double *factor, const double *base, const WideNumber *sum, const double *in, double *out,
               const double *weight, double *squares, size_t size)
{
#define CALL(fours, number) add_up(fours, number, factor, base, sum, in, out, weight, squares, size)
    CHOOSE(CALL)
#undef CALL
}

WIDE void
radau_wide_add(uint32_t width, const double *a, const double *b, double *out, size_t size)
{
    (void)width;
    for (size_t k = 0; k < size / 4; k++)
        *(Four *)(void *)(out + 4 * k) = *four(a, k) + *four(b, k);
}
