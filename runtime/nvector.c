// nvector.c: the vector operations of the integration loop.
//
// Purpose: Debian's SUNDIALS is compiled without optimisation; with these operations a step costs a
//          quarter. Method: plain loops the compiler vectorises; sums use four accumulators in a fixed order,
//          so that results do not depend on the machine. Contract: same semantics as nvector_serial; the
//          vectors are serial ones. Complexity: one pass over the data per call.
#include "runtime/nvector.h"

#include <math.h>
#include <nvector/nvector_serial.h>

#pragma GCC optimize("O3")

#define DATA(vector) (((N_VectorContent_Serial)(vector)->content)->data)
#define LENGTH(vector) ((size_t)((N_VectorContent_Serial)(vector)->content)->length)

static void
linear_sum(realtype a, N_Vector x, realtype b, N_Vector y, N_Vector z)
{
    size_t n = LENGTH(x);
    const double *xd = DATA(x), *yd = DATA(y);
    double *zd = DATA(z);
    if (a == 1 && b == 1)
        for (size_t i = 0; i < n; i++)
            zd[i] = xd[i] + yd[i];
    else if (a == 1 && b == -1)
        for (size_t i = 0; i < n; i++)
            zd[i] = xd[i] - yd[i];
    else if (a == 1)
        for (size_t i = 0; i < n; i++)
            zd[i] = xd[i] + b * yd[i];
    else if (b == 1)
        for (size_t i = 0; i < n; i++)
            zd[i] = a * xd[i] + yd[i];
    else
        for (size_t i = 0; i < n; i++)
            zd[i] = a * xd[i] + b * yd[i];
}

static void
fill(realtype c, N_Vector z)
{
    size_t n = LENGTH(z);
    double *zd = DATA(z);
    for (size_t i = 0; i < n; i++)
        zd[i] = c;
}

static void
product(N_Vector x, N_Vector y, N_Vector z)
{
    size_t n = LENGTH(x);
    const double *xd = DATA(x), *yd = DATA(y);
    double *zd = DATA(z);
    for (size_t i = 0; i < n; i++)
        zd[i] = xd[i] * yd[i];
}

static void
scale(realtype c, N_Vector x, N_Vector z)
{
    size_t n = LENGTH(x);
    const double *xd = DATA(x);
    double *zd = DATA(z);
    if (c == 1 && xd == zd)
        return;
    for (size_t i = 0; i < n; i++)
        zd[i] = c * xd[i];
}

static double
sum_of_squares(const double *x, const double *w, const double *mask, size_t n)
{
    double sum[4] = {0, 0, 0, 0};
    size_t i = 0;
    for (; i + 4 <= n; i += 4)
        for (size_t k = 0; k < 4; k++) {
            double e = mask && !(mask[i + k] > 0) ? 0 : x[i + k] * w[i + k];
            sum[k] += e * e;
        }
    for (; i < n; i++) {
        double e = mask && !(mask[i] > 0) ? 0 : x[i] * w[i];
        sum[0] += e * e;
    }
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static realtype
wrms_norm(N_Vector x, N_Vector w)
{
    size_t n = LENGTH(x);
    return n ? sqrt(sum_of_squares(DATA(x), DATA(w), NULL, n) / (double)n) : 0;
}

static realtype
wrms_norm_mask(N_Vector x, N_Vector w, N_Vector id)
{
    size_t n = LENGTH(x);
    return n ? sqrt(sum_of_squares(DATA(x), DATA(w), DATA(id), n) / (double)n) : 0;
}

static realtype
max_norm(N_Vector x)
{
    size_t n = LENGTH(x);
    const double *xd = DATA(x);
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fabs(xd[i]) > most ? fabs(xd[i]) : most;
    return most;
}

static int
linear_combination(int count, realtype *c, N_Vector *x, N_Vector z)
{
    size_t n = LENGTH(z);
    double *zd = DATA(z);
    if (count == 1) {
        scale(c[0], x[0], z);
        return 0;
    }
    // z may be x[0]; the other vectors are distinct from z.
    linear_sum(c[0], x[0], c[1], x[1], z);
    int k = 2;
    for (; k + 1 < count; k += 2) {
        const double *first = DATA(x[k]), *second = DATA(x[k + 1]);
        double a = c[k], b = c[k + 1];
        for (size_t i = 0; i < n; i++)
            zd[i] = zd[i] + a * first[i] + b * second[i];
    }
    for (; k < count; k++) {
        const double *xd = DATA(x[k]);
        double a = c[k];
        for (size_t i = 0; i < n; i++)
            zd[i] += a * xd[i];
    }
    return 0;
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

static int
linear_sum_array(int count, realtype a, N_Vector *x, realtype b, N_Vector *y, N_Vector *z)
{
    for (int k = 0; k < count; k++)
        linear_sum(a, x[k], b, y[k], z[k]);
    return 0;
}

void
nvector_difference(const double *restrict a, const double *restrict b, double *restrict out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        out[i] = a[i] - b[i];
}

bool
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
    vector->ops->nvwrmsnormmask = wrms_norm_mask;
    vector->ops->nvmaxnorm = max_norm;
    vector->ops->nvlinearcombination = linear_combination;
    vector->ops->nvscaleaddmulti = scale_add_multi;
    vector->ops->nvscalevectorarray = scale_array;
    vector->ops->nvlinearsumvectorarray = linear_sum_array;
}
