// nvector.c: the vector operations of the integration loop.
//
// Purpose: Debian's SUNDIALS is compiled without optimisation; with these operations a step costs a
//          quarter. Method: plain loops the compiler vectorises, for AVX2 as well, which the loader chooses where
//          the processor has it. Sums use four accumulators in a fixed order and products are never fused with
//          sums, so that results do not depend on the machine. Contract: same semantics as nvector_serial; the
//          vectors are serial ones. Complexity: one pass over the data per call.
#include "runtime/nvector.h"

#include <math.h>
#include <stdint.h>
#include <nvector/nvector_serial.h>

// So few numbers are done before code that is made for thousands has looked at them. What precedes the pragma is not vectorised.
enum { FEW = 8 };

static void
few_sums(double a, const double *x, double b, const double *y, double *z, size_t n)
{
    for (size_t i = 0; i < n; i++)
        z[i] = a * x[i] + b * y[i];
}

// Adds in the order of sum_of_squares().
static double
few_norm(const double *x, const double *w, size_t n)
{
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    if (n >= 4)
        for (; i < 4; i++) {
            double e = x[i] * w[i];
            sum[i] = e * e;
        }
    for (; i < n; i++) {
        double e = x[i] * w[i];
        sum[0] += e * e;
    }
    return n ? sqrt(((sum[0] + sum[1]) + (sum[2] + sum[3])) / (double)n) : 0;
}

#pragma GCC optimize("O3")

// The sanitizers' start-up code runs after the loader's choice, which they would instrument.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define WIDE __attribute__((target_clones("avx2", "default")))
#else
#define WIDE
#endif

#define DATA(vector) (((N_VectorContent_Serial)(vector)->content)->data)
#define LENGTH(vector) ((size_t)((N_VectorContent_Serial)(vector)->content)->length)

WIDE static void
linear_sum(realtype a, N_Vector x, realtype b, N_Vector y, N_Vector z)
{
    size_t n = LENGTH(x);
    const double *xd = DATA(x), *yd = DATA(y);
    double *zd = DATA(z);
    if (n < FEW) {
        few_sums(a, xd, b, yd, zd, n);
        return;
    }
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

WIDE static void
fill(realtype c, N_Vector z)
{
    size_t n = LENGTH(z);
    double *zd = DATA(z);
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++)
        zd[i] = c;
}

WIDE static void
product(N_Vector x, N_Vector y, N_Vector z)
{
    size_t n = LENGTH(x);
    const double *xd = DATA(x), *yd = DATA(y);
    double *zd = DATA(z);
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++)
        zd[i] = xd[i] * yd[i];
}

WIDE static void
scale(realtype c, N_Vector x, N_Vector z)
{
    size_t n = LENGTH(x);
    const double *xd = DATA(x);
    double *zd = DATA(z);
    if (c == 1 && xd == zd)
        return;
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++)
        zd[i] = c * xd[i];
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

WIDE static realtype
wrms_norm(N_Vector x, N_Vector w)
{
    size_t n = LENGTH(x);
    if (n < FEW)
        return few_norm(DATA(x), DATA(w), n);
    return sqrt(sum_of_squares(DATA(x), DATA(w), n) / (double)n);
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

WIDE void
nvector_combine(const double *factor, const double *const *term, int count, double *out, size_t n)
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

enum { MOST_TERMS = 16 };

static int
linear_combination(int count, realtype *factor, N_Vector *x, N_Vector z)
{
    const double *term[MOST_TERMS];
    for (int k = 0; k < count && k < MOST_TERMS; k++)
        term[k] = DATA(x[k]);
    nvector_combine(factor, term, count < MOST_TERMS ? count : MOST_TERMS, DATA(z), LENGTH(z));
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

WIDE double
nvector_correct(const double *solution, double factor, const double *weight, const double *y0, const double *yp0, double cj,
                double *correction, double *y, double *yp, size_t n)
{
#pragma GCC ivdep
    for (size_t i = 0; i < n; i++) {
        double sum = correction[i] - factor * solution[i];
        correction[i] = sum;
        y[i] = y0[i] + sum;
        yp[i] = yp0[i] + cj * sum;
    }
    return n ? fabs(factor) * sqrt(sum_of_squares(solution, weight, n) / (double)n) : 0;
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

// Each sum is the second term of the next: how IDA adds the error to its differences.
static bool
is_cascade(int count, N_Vector *x, N_Vector *y, N_Vector *z)
{
    bool cascade = count <= MOST_TERMS && x[0] == z[0];
    for (int k = 1; k < count && cascade; k++)
        cascade = x[k] == z[k] && y[k] == z[k - 1];
    return cascade;
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
cascade(const double *y, double *const *x, int count, size_t n)
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

static int
linear_sum_array(int count, realtype a, N_Vector *x, realtype b, N_Vector *y, N_Vector *z)
{
    if (a == 1 && b == 1 && is_cascade(count, x, y, z)) {
        double *term[MOST_TERMS];
        for (int k = 0; k < count; k++)
            term[k] = DATA(x[k]);
        cascade(DATA(y[0]), term, count, LENGTH(x[0]));
        return 0;
    }
    for (int k = 0; k < count; k++)
        linear_sum(a, x[k], b, y[k], z[k]);
    return 0;
}

WIDE void
nvector_difference(const double *restrict a, const double *restrict b, double *restrict out, size_t n)
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

WIDE void
nvector_weights(const double *restrict x, double scale, double relative, const double *restrict absolute,
                double *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = scale / (relative * fabs(x[i]) + absolute[i]);
}

WIDE bool
nvector_finite(const double *x, size_t n)
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

void
nvector_accelerate(N_Vector vector)
{
    vector->ops->nvlinearsum = linear_sum;
    vector->ops->nvconst = fill;
    vector->ops->nvprod = product;
    vector->ops->nvscale = scale;
    vector->ops->nvwrmsnorm = wrms_norm;
    vector->ops->nvmaxnorm = max_norm;
    vector->ops->nvlinearcombination = linear_combination;
    vector->ops->nvscaleaddmulti = scale_add_multi;
    vector->ops->nvscalevectorarray = scale_array;
    vector->ops->nvlinearsumvectorarray = linear_sum_array;
}
