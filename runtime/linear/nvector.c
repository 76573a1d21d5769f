// nvector.c: the vector operations of the integration loop.
//
// Purpose: Debian's SUNDIALS is compiled without optimisation; with these operations a step costs a
//          quarter. Method: plain loops the compiler vectorises, for AVX2 as well, which the loader chooses where
//          the processor has it. Sums use four accumulators in a fixed order and products are never fused with
//          sums, so that results do not depend on the machine. Contract: same semantics as nvector_serial; the
//          vectors are serial ones. Complexity: one pass over the data per call.
#include "runtime/linear/nvector.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <nvector/nvector_serial.h>

// So few numbers are done before code that is made for thousands has looked at them, two at a time. What precedes the pragma is
// not vectorised.
enum { FEW = 8 };

typedef double Pair __attribute__((vector_size(16), aligned(8), may_alias));

static inline Pair
pair_at(const double *x)
{
    return *(const Pair *)x;
}

static inline void
put_pair(double *z, Pair pair)
{
    *(Pair *)z = pair;
}

static inline void
few_sums(double a, const double *x, double b, const double *y, double *z, size_t n)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2)
        put_pair(z + i, a * pair_at(x + i) + b * pair_at(y + i));
    if (i < n)
        z[i] = a * x[i] + b * y[i];
}

static inline void
few_scaled(double c, const double *x, double *z, size_t n)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2)
        put_pair(z + i, c * pair_at(x + i));
    if (i < n)
        z[i] = c * x[i];
}

// Adds in the order of combine(); a number of terms that the compiler knows. `out` may be one of them.
static inline __attribute__((always_inline)) void
few_combined(const double *factor, const double *const *term, const int count, double *out, size_t n)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        Pair sum = factor[0] * pair_at(term[0] + i);
        for (int k = 1; k < count; k++)
            sum += factor[k] * pair_at(term[k] + i);
        put_pair(out + i, sum);
    }
    if (i == n)
        return;
    double sum = factor[0] * term[0][i];
    for (int k = 1; k < count; k++)
        sum += factor[k] * term[k][i];
    out[i] = sum;
}

// Adds in the order of add_cascade().
static inline __attribute__((always_inline)) void
few_cascaded(const double *y, double *const *x, const int count, size_t n)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        Pair sum = pair_at(y + i);
        for (int k = 0; k < count; k++) {
            sum = pair_at(x[k] + i) + sum;
            put_pair(x[k] + i, sum);
        }
    }
    if (i == n)
        return;
    double sum = y[i];
    for (int k = 0; k < count; k++)
        x[k][i] = sum = x[k][i] + sum;
}

static inline bool
few_finite(const double *x, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += 0 * x[i];
    return sum == 0;
}

static inline void
few_differences(const double *a, const double *b, double *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] - b[i];
}

// Adds in the order of sum_of_squares().
static inline double
few_norm(const double *x, const double *w, size_t n)
{
    double sum = 0, others = 0;
    size_t i = 0;
    if (n >= 4) {
        Pair low = pair_at(x) * pair_at(w), high = pair_at(x + 2) * pair_at(w + 2);
        sum = low[0] * low[0];
        others = high[0] * high[0] + high[1] * high[1];
        for (i = 4; i < n; i++)
            sum += x[i] * w[i] * (x[i] * w[i]);
        sum += low[1] * low[1];
    } else {
        for (; i < n; i++)
            sum += x[i] * w[i] * (x[i] * w[i]);
    }
    return n ? sqrt((sum + others) / (double)(int)n) : 0;
}

#pragma GCC optimize("O3")

// The sanitizers' start-up code runs after the loader's choice, which they would instrument.
#if defined(__x86_64__) && defined(__ELF__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

// What vectors of large models have beside the content of a serial vector, which comes first.
typedef struct SharedContent {
    struct _N_VectorContent_Serial serial;
    Threads *threads;
} SharedContent;

#define DATA(vector) (((N_VectorContent_Serial)(vector)->content)->data)
#define LENGTH(vector) ((size_t)((N_VectorContent_Serial)(vector)->content)->length)

WIDE static void
sum_many(double a, const double *xd, double b, const double *yd, double *zd, size_t n)
{
    if (a == 1 && b == 1)
#pragma GCC ivdep
        for (size_t i = 0; i < n; i++)
            zd[i] = xd[i] + yd[i];
    else if (a == 1 && b == -1)
#pragma GCC ivdep
        for (size_t i = 0; i < n; i++)
            zd[i] = xd[i] - yd[i];
    else if (a == 1)
#pragma GCC ivdep
        for (size_t i = 0; i < n; i++)
            zd[i] = xd[i] + b * yd[i];
    else if (b == 1)
#pragma GCC ivdep
        for (size_t i = 0; i < n; i++)
            zd[i] = a * xd[i] + yd[i];
    else
#pragma GCC ivdep
        for (size_t i = 0; i < n; i++)
            zd[i] = a * xd[i] + b * yd[i];
}

static void
linear_sum(realtype a, N_Vector x, realtype b, N_Vector y, N_Vector z)
{
    size_t n = LENGTH(x);
    if (n < FEW)
        few_sums(a, DATA(x), b, DATA(y), DATA(z), n);
    else
        sum_many(a, DATA(x), b, DATA(y), DATA(z), n);
}

WIDE static void
fill_many(double c, double *zd, size_t n)
{
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++)
        zd[i] = c;
}

static void
fill(realtype c, N_Vector z)
{
    fill_many(c, DATA(z), LENGTH(z));
}

WIDE static void
product_many(const double *xd, const double *yd, double *zd, size_t n)
{
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++)
        zd[i] = xd[i] * yd[i];
}

static void
product(N_Vector x, N_Vector y, N_Vector z)
{
    product_many(DATA(x), DATA(y), DATA(z), LENGTH(x));
}

WIDE static void
scale_many(double c, const double *x, double *z, size_t n)
{
    if (c == 1 && x == z)
        return;
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++)
        z[i] = c * x[i];
}

static void
scale(realtype c, N_Vector x, N_Vector z)
{
    size_t n = LENGTH(x);
    if (n < FEW)
        few_scaled(c, DATA(x), DATA(z), n);
    else
        scale_many(c, DATA(x), DATA(z), n);
}

static inline double
sum_of_squares(const double *x, const double *w, size_t n)
{
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) {
            double e = x[i + k] * w[i + k];
            sum[k] += e * e;
        }
    for (; i < n; i++) {
        double e = x[i] * w[i];
        sum[0] += e * e;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

WIDE static double
squares_of_many(const double *x, const double *w, size_t n)
{
    return sum_of_squares(x, w, n);
}

WIDE static double
norm_of_many(const double *x, const double *w, size_t n)
{
    return sqrt(sum_of_squares(x, w, n) / (double)n);
}

static realtype
wrms_norm(N_Vector x, N_Vector w)
{
    size_t n = LENGTH(x);
    return n < FEW ? few_norm(DATA(x), DATA(w), n) : norm_of_many(DATA(x), DATA(w), n);
}

WIDE static realtype
max_norm(N_Vector x)
{
    size_t n = LENGTH(x);
    const double *xd = DATA(x);
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fabs(xd[i]) > most ? fabs(xd[i]) : most;
    return most;
}

// The sum of `count` terms, a number that the compiler knows. `out` may be one of the terms.
static inline __attribute__((always_inline)) void
combine(const double *factor, const double *const *term, const int count, double *out, size_t n)
{
    double c[8];
    const double *x[8];
    for (int k = 0; k < count; k++) {
        c[k] = factor[k];
        x[k] = term[k];
    }
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++) {
        double sum = c[0] * x[0][i];
        for (int k = 1; k < count; k++)
            sum += c[k] * x[k][i];
        out[i] = sum;
    }
}

WIDE static void
combine_many(const double *factor, const double *const *term, int count, double *out, size_t n)
{
    switch (count) {
    case 1: combine(factor, term, 1, out, n); return;
    case 2: combine(factor, term, 2, out, n); return;
    case 3: combine(factor, term, 3, out, n); return;
    case 4: combine(factor, term, 4, out, n); return;
    case 5: combine(factor, term, 5, out, n); return;
    default: combine(factor, term, 6, out, n);
    }
    for (int k = 6; k < count; k++)
        for (size_t i = 0; i < n; i++)
            out[i] += factor[k] * term[k][i];
}

static void
combine_all(const double *factor, const double *const *term, int count, double *out, size_t n)
{
    switch (n < FEW ? count : 0) {
    case 1: few_combined(factor, term, 1, out, n); return;
    case 2: few_combined(factor, term, 2, out, n); return;
    case 3: few_combined(factor, term, 3, out, n); return;
    case 4: few_combined(factor, term, 4, out, n); return;
    case 5: few_combined(factor, term, 5, out, n); return;
    case 6: few_combined(factor, term, 6, out, n); return;
    default: combine_many(factor, term, count, out, n);
    }
}

enum { MOST_TERMS = 16 };

static int
linear_combination(int count, realtype *factor, N_Vector *x, N_Vector z)
{
    const double *term[MOST_TERMS];
    int first = count < MOST_TERMS ? count : MOST_TERMS;
    for (int k = 0; k < first; k++)
        term[k] = DATA(x[k]);
    combine_all(factor, term, first, DATA(z), LENGTH(z));
    for (int k = MOST_TERMS; k < count; k++)
        linear_sum(factor[k], x[k], 1, z, z);
    return 0;
}

static inline __attribute__((always_inline)) bool
stays(const double *const *term, const double *factor, const uint32_t count, size_t first, const double *centre,
      const double *radius, size_t n)
{
    const double *x[8];
    double f[8];
    for (uint32_t k = 0; k < count; k++) {
        x[k] = term[k] + first;
        f[k] = factor[k];
    }
    int64_t inside = -1;
    for (size_t i = 0; i < n; i++) {
        double moved = fabs(x[0][i] - centre[i]);
        for (uint32_t k = 1; k < count; k++)
            moved += f[k] * fabs(x[k][i]);
        inside &= moved <= radius[i] ? -1 : 0;
    }
    return inside;
}

WIDE bool
nvector_stays(const double *const *term, const double *factor, uint32_t count, size_t first, const double *centre,
              const double *radius, size_t n)
{
    switch (count) {
    case 2: return stays(term, factor, 2, first, centre, radius, n);
    case 3: return stays(term, factor, 3, first, centre, radius, n);
    case 4: return stays(term, factor, 4, first, centre, radius, n);
    case 5: return stays(term, factor, 5, first, centre, radius, n);
    case 6: return stays(term, factor, 6, first, centre, radius, n);
    default: return false;
    }
}

static double
correct_few(const double *solution, double factor, const double *weight, const double *y0, const double *yp0, double cj,
            double *correction, double *y, double *yp, size_t n)
{
    size_t i = 0;
    for (; i + 2 <= n; i += 2) {
        Pair sum = pair_at(correction + i) - factor * pair_at(solution + i);
        put_pair(correction + i, sum);
        put_pair(y + i, pair_at(y0 + i) + sum);
        put_pair(yp + i, pair_at(yp0 + i) + cj * sum);
    }
    if (i < n) {
        correction[i] -= factor * solution[i];
        y[i] = y0[i] + correction[i];
        yp[i] = yp0[i] + cj * correction[i];
    }
    return fabs(factor) * few_norm(solution, weight, n);
}

WIDE static double
correct_many(const double *solution, double factor, const double *weight, const double *y0, const double *yp0, double cj,
             double *correction, double *y, double *yp, size_t n)
{
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++) {
        double sum = correction[i] - factor * solution[i];
        correction[i] = sum;
        y[i] = y0[i] + sum;
        yp[i] = yp0[i] + cj * sum;
    }
    return sum_of_squares(solution, weight, n);
}

static int
scale_add_multi(int count, realtype *a, N_Vector x, N_Vector *y, N_Vector *z)
{
    for (int k = 0; k < count; k++)
        linear_sum(a[k], x, 1, y[k], z[k]);
    return 0;
}

static int
scale_array(int count, realtype *c, N_Vector *x, N_Vector *z)
{
    for (int k = 0; k < count; k++)
        scale(c[k], x[k], z[k]);
    return 0;
}

// Each sum is the second term of the next: how IDA adds the error to its differences. True: then `term` has the data of x.
static bool
is_cascade(int count, N_Vector *x, N_Vector *y, N_Vector *z, double **term)
{
    for (int k = 0; k < count; k++) {
        if (x[k] != z[k] || (k > 0 && y[k] != z[k - 1]))
            return false;
        term[k] = DATA(x[k]);
    }
    return true;
}

static inline __attribute__((always_inline)) void
add_cascade(const double *y, double *const *x, const int count, size_t n)
{
    double *out[MOST_TERMS];
    for (int k = 0; k < count; k++)
        out[k] = x[k];
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++) {
        double sum = y[i];
        for (int k = 0; k < count; k++) {
            sum = out[k][i] + sum;
            out[k][i] = sum;
        }
    }
}

WIDE static void
cascade_many(const double *y, double *const *x, int count, size_t n)
{
    switch (count) {
    case 2: add_cascade(y, x, 2, n); return;
    case 3: add_cascade(y, x, 3, n); return;
    case 4: add_cascade(y, x, 4, n); return;
    case 5: add_cascade(y, x, 5, n); return;
    case 6: add_cascade(y, x, 6, n); return;
    default: add_cascade(y, x, count, n);
    }
}

static void
few_cascade(const double *y, double *const *x, int count, size_t n)
{
    switch (count) {
    case 2: few_cascaded(y, x, 2, n); return;
    case 3: few_cascaded(y, x, 3, n); return;
    case 4: few_cascaded(y, x, 4, n); return;
    case 5: few_cascaded(y, x, 5, n); return;
    case 6: few_cascaded(y, x, 6, n); return;
    default: few_cascaded(y, x, count, n);
    }
}

static int
linear_sum_array(int count, realtype a, N_Vector *x, realtype b, N_Vector *y, N_Vector *z)
{
    double *term[MOST_TERMS];
    if (a == 1 && b == 1 && count <= MOST_TERMS && is_cascade(count, x, y, z, term)) {
        size_t n = LENGTH(x[0]);
        (n < FEW ? few_cascade : cascade_many)(DATA(y[0]), term, count, n);
        return 0;
    }
    for (int k = 0; k < count; k++)
        linear_sum(a, x[k], b, y[k], z[k]);
    return 0;
}

WIDE static void
differences_of_many(const double *restrict a, const double *restrict b, double *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] - b[i];
}

WIDE void
nvector_scale(double factor, const double *restrict x, double *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = factor * x[i];
}

WIDE static void
weights_of_many(const double *restrict x, double scale, double relative, const double *restrict absolute, double *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = scale / (relative * fabs(x[i]) + absolute[i]);
}

WIDE void
nvector_cubic(const double *restrict start, const double *restrict first, const double *restrict second,
              const double *restrict third, double s, double *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = start[i] + s * (first[i] + s * (second[i] + s * third[i]));
}

WIDE static bool
many_finite(const double *x, size_t n)
{
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += 0 * x[i + k];
    for (; i < n; i++)
        sum[0] += 0 * x[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]) == 0;
}

bool
nvector_finite(const double *x, size_t n)
{
    return n < FEW ? few_finite(x, n) : many_finite(x, n);
}

WIDE static void
largest_of_many(const double *x, double *largest, size_t n)
{
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++) {
        double size = fabs(x[i]);
        largest[i] = size > largest[i] ? size : largest[i];
    }
}

// --- large vectors, in parts

// A vector of THREADS_LEAST elements and more is worked at in so many parts at most, of so many elements at least; sums are sums of the parts' sums,
// whoever makes them.
enum { MOST_PARTS = 256, LEAST_PART = 1 << 13 };

typedef struct Parts {
    size_t n, length; // of a part
    double a, b;
    const double *x, *y, *z, *u;
    double *out, *y_out, *yp_out;
    const double *factor;
    const double *const *term;
    double *const *cascade;
    int count;
    double sum[MOST_PARTS];
} Parts;

// Elements of a part, which begins at *first.
static size_t
part_range(const Parts *p, size_t part, size_t *first)
{
    *first = part * p->length;
    return p->n - *first < p->length ? p->n - *first : p->length;
}

static bool
is_large(size_t n)
{
    return n >= THREADS_LEAST;
}

static size_t
run_parts(Threads *threads, ThreadTask *task, Parts *p)
{
    size_t even = (p->n + MOST_PARTS - 1) / MOST_PARTS;
    p->length = even < LEAST_PART ? LEAST_PART : (even + 7) / 8 * 8;
    size_t n = (p->n + p->length - 1) / p->length;
    threads_run(threads, task, p, n);
    return n;
}

static double
sum_parts(Threads *threads, ThreadTask *task, Parts *p)
{
    size_t n = run_parts(threads, task, p);
    double sum = 0;
    for (size_t part = 0; part < n; part++)
        sum += p->sum[part];
    return sum;
}

#define PART_TASK(name, work)                       \
    static void name(void *context, size_t part)    \
    {                                               \
        Parts *p = context;                         \
        size_t at, n = part_range(p, part, &at);    \
        work;                                       \
    }

PART_TASK(sum_part, sum_many(p->a, p->x + at, p->b, p->y + at, p->out + at, n))
PART_TASK(fill_part, fill_many(p->a, p->out + at, n))
PART_TASK(product_part, product_many(p->x + at, p->y + at, p->out + at, n))
PART_TASK(scale_part, scale_many(p->a, p->x + at, p->out + at, n))
PART_TASK(squares_part, p->sum[part] = squares_of_many(p->x + at, p->y + at, n))
PART_TASK(difference_part, differences_of_many(p->x + at, p->y + at, p->out + at, n))
PART_TASK(weights_part, weights_of_many(p->x + at, p->a, p->b, p->y + at, p->out + at, n))
PART_TASK(largest_part, largest_of_many(p->x + at, p->out + at, n))
PART_TASK(copy_part, memcpy(p->out + at, p->x + at, n * sizeof *p->out))
PART_TASK(correct_part, p->sum[part] = correct_many(p->x + at, p->a, p->u + at, p->y + at, p->z + at, p->b, p->out + at, p->y_out + at, p->yp_out + at, n))

static void
combine_part(void *context, size_t part)
{
    Parts *p = context;
    const double *term[MOST_TERMS];
    size_t at, n = part_range(p, part, &at);
    for (int k = 0; k < p->count; k++)
        term[k] = p->term[k] + at;
    combine_many(p->factor, term, p->count, p->out + at, n);
}

static void
cascade_part(void *context, size_t part)
{
    Parts *p = context;
    double *term[MOST_TERMS];
    size_t at, n = part_range(p, part, &at);
    for (int k = 0; k < p->count; k++)
        term[k] = p->cascade[k] + at;
    cascade_many(p->y + at, term, p->count, n);
}

void
nvector_combine(Threads *threads, const double *factor, const double *const *term, int count, double *out, size_t n)
{
    if (threads && is_large(n) && count <= MOST_TERMS)
        run_parts(threads, combine_part, &(Parts){.n = n, .factor = factor, .term = term, .count = count, .out = out});
    else
        combine_all(factor, term, count, out, n);
}

double
nvector_correct(Threads *threads, const double *solution, double factor, const double *weight, const double *y0, const double *yp0, double cj,
                double *correction, double *y, double *yp, size_t n)
{
    if (n < FEW)
        return correct_few(solution, factor, weight, y0, yp0, cj, correction, y, yp, n);
    double squares = is_large(n) ? sum_parts(threads, correct_part, &(Parts){.n = n, .x = solution, .a = factor, .u = weight, .y = y0, .z = yp0, .b = cj,
                                                                          .out = correction, .y_out = y, .yp_out = yp})
        : correct_many(solution, factor, weight, y0, yp0, cj, correction, y, yp, n);
    return fabs(factor) * sqrt(squares / (double)n);
}

void
nvector_difference(Threads *threads, const double *a, const double *b, double *out, size_t n)
{
    if (n < FEW)
        few_differences(a, b, out, n);
    else if (threads && is_large(n))
        run_parts(threads, difference_part, &(Parts){.n = n, .x = a, .y = b, .out = out});
    else
        differences_of_many(a, b, out, n);
}

void
nvector_weights(Threads *threads, const double *x, double scaled, double relative, const double *absolute, double *out, size_t n)
{
    if (threads && is_large(n))
        run_parts(threads, weights_part, &(Parts){.n = n, .x = x, .a = scaled, .b = relative, .y = absolute, .out = out});
    else
        weights_of_many(x, scaled, relative, absolute, out, n);
}

double
nvector_squares(Threads *threads, const double *x, const double *w, size_t n)
{
    return is_large(n) ? sum_parts(threads, squares_part, &(Parts){.n = n, .x = x, .y = w}) : squares_of_many(x, w, n);
}

void
nvector_largest(Threads *threads, const double *x, double *largest, size_t n)
{
    if (threads && is_large(n))
        run_parts(threads, largest_part, &(Parts){.n = n, .x = x, .out = largest});
    else
        largest_of_many(x, largest, n);
}

void
nvector_copy_large(Threads *threads, const double *x, double *out, size_t n)
{
    run_parts(threads, copy_part, &(Parts){.n = n, .x = x, .out = out});
}

// --- the operations of large vectors

static Threads *
threads_of(N_Vector vector)
{
    return ((SharedContent *)vector->content)->threads;
}

static void
large_sum(realtype a, N_Vector x, realtype b, N_Vector y, N_Vector z)
{
    run_parts(threads_of(x), sum_part, &(Parts){.n = LENGTH(x), .a = a, .x = DATA(x), .b = b, .y = DATA(y), .out = DATA(z)});
}

static void
large_fill(realtype c, N_Vector z)
{
    run_parts(threads_of(z), fill_part, &(Parts){.n = LENGTH(z), .a = c, .out = DATA(z)});
}

static void
large_product(N_Vector x, N_Vector y, N_Vector z)
{
    run_parts(threads_of(x), product_part, &(Parts){.n = LENGTH(x), .x = DATA(x), .y = DATA(y), .out = DATA(z)});
}

static void
large_scale(realtype c, N_Vector x, N_Vector z)
{
    if (c != 1 || x != z)
        run_parts(threads_of(x), scale_part, &(Parts){.n = LENGTH(x), .a = c, .x = DATA(x), .out = DATA(z)});
}

static realtype
large_norm(N_Vector x, N_Vector w)
{
    return sqrt(nvector_squares(threads_of(x), DATA(x), DATA(w), LENGTH(x)) / (double)LENGTH(x));
}

static int
large_combination(int count, realtype *factor, N_Vector *x, N_Vector z)
{
    const double *term[MOST_TERMS];
    int first = count < MOST_TERMS ? count : MOST_TERMS;
    for (int k = 0; k < first; k++)
        term[k] = DATA(x[k]);
    nvector_combine(threads_of(z), factor, term, first, DATA(z), LENGTH(z));
    for (int k = MOST_TERMS; k < count; k++)
        large_sum(factor[k], x[k], 1, z, z);
    return 0;
}

static int
large_add_multi(int count, realtype *a, N_Vector x, N_Vector *y, N_Vector *z)
{
    for (int k = 0; k < count; k++)
        large_sum(a[k], x, 1, y[k], z[k]);
    return 0;
}

static int
large_scale_array(int count, realtype *c, N_Vector *x, N_Vector *z)
{
    for (int k = 0; k < count; k++)
        large_scale(c[k], x[k], z[k]);
    return 0;
}

static int
large_sum_array(int count, realtype a, N_Vector *x, realtype b, N_Vector *y, N_Vector *z)
{
    double *term[MOST_TERMS];
    if (a == 1 && b == 1 && count <= MOST_TERMS && is_cascade(count, x, y, z, term)) {
        run_parts(threads_of(x[0]), cascade_part, &(Parts){.n = LENGTH(x[0]), .y = DATA(y[0]), .cascade = term, .count = count});
        return 0;
    }
    for (int k = 0; k < count; k++)
        large_sum(a, x[k], b, y[k], z[k]);
    return 0;
}

// Makes room for the threads behind the content. False: memory has ended, and the vector is as it was.
static bool
share_content(N_Vector vector, Threads *threads)
{
    SharedContent *content = realloc(vector->content, sizeof *content);
    if (!content)
        return false;
    content->threads = threads;
    vector->content = content;
    return true;
}

static N_Vector
clone_shared(N_Vector vector)
{
    N_Vector made = N_VClone_Serial(vector);
    if (made && !share_content(made, threads_of(vector))) {
        N_VDestroy_Serial(made);
        return NULL;
    }
    return made;
}

static N_Vector
clone_shared_empty(N_Vector vector)
{
    N_Vector made = N_VCloneEmpty_Serial(vector);
    if (made && !share_content(made, threads_of(vector))) {
        N_VDestroy_Serial(made);
        return NULL;
    }
    return made;
}

void
nvector_accelerate(N_Vector vector, Threads *threads)
{
    bool shared = is_large(LENGTH(vector)) && share_content(vector, threads);
    vector->ops->nvlinearsum = shared ? large_sum : linear_sum;
    vector->ops->nvconst = shared ? large_fill : fill;
    vector->ops->nvprod = shared ? large_product : product;
    vector->ops->nvscale = shared ? large_scale : scale;
    vector->ops->nvwrmsnorm = shared ? large_norm : wrms_norm;
    vector->ops->nvmaxnorm = max_norm;
    vector->ops->nvlinearcombination = shared ? large_combination : linear_combination;
    vector->ops->nvscaleaddmulti = shared ? large_add_multi : scale_add_multi;
    vector->ops->nvscalevectorarray = shared ? large_scale_array : scale_array;
    vector->ops->nvlinearsumvectorarray = shared ? large_sum_array : linear_sum_array;
    if (shared) {
        vector->ops->nvclone = clone_shared;
        vector->ops->nvcloneempty = clone_shared_empty;
    }
}

bool
nvector_room(size_t n, size_t vectors)
{
    enum { ADMINISTRATION = 64 }; // doubles of each
    void *probe = malloc(vectors * (n + ADMINISTRATION) * sizeof(double));
    bool room = probe != NULL;
    free(probe);
    return room;
}
