// symmetric_eigen.c: eigenvalues and eigenvectors of a symmetric matrix.
//
// Purpose: null spaces of some hundred conditions. Method: Householder's reflections make the matrix tridiagonal, the implicit QR algorithm with Wilkinson's shift
// makes it diagonal (Golub and Van Loan, Matrix Computations, 8.3.1 and 8.3.3). Contract: symmetric_eigen.h. Complexity: cubic, with the vectors some 7*n^3.
#include "ir/check/symmetric_eigen.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/vec.h"

enum { SWEEPS_MOST = 60 };

// v of the reflection 1 - 2*v*v'/(v'*v) that takes column k behind its first n - k - 1 places to zero: into the column. Returns what the first place becomes, *by 2/(v'*v).
static double
reflector(uint32_t n, double *at, uint32_t k, double *by)
{
    double square = 0, *first = &at[(k + 1)*n + k];
    for (uint32_t i = k + 1; i < n; i++)
        square += at[i*n + k]*at[i*n + k];
    double behind = square - *first * *first, becomes = *first > 0 ? -sqrt(square) : sqrt(square);
    if (!(behind > 0)) {
        *by = 0;
        return *first;
    }
    *first -= becomes;
    *by = 2/(behind + *first * *first);
    return becomes;
}

// Diagonal and what stands beside it; the rows of `vectors` are the axes.
static void
make_tridiagonal(uint32_t n, double *at, double *diagonal, double *beside, double *vectors)
{
    double *by = base_calloc(n + 1, sizeof *by), *p = base_calloc(n + 1, sizeof *p);
    for (uint32_t k = 0; k + 2 < n; k++) {
        double along = 0;
        beside[k] = reflector(n, at, k, &by[k]);
        for (uint32_t i = k + 1; i < n && by[k] != 0; i++) {
            p[i] = 0;
            for (uint32_t j = k + 1; j < n; j++)
                p[i] += by[k]*at[i*n + j]*at[j*n + k];
            along += by[k]/2*p[i]*at[i*n + k];
        }
        for (uint32_t i = k + 1; i < n && by[k] != 0; i++)
            p[i] -= along*at[i*n + k];
        for (uint32_t i = k + 1; i < n && by[k] != 0; i++)
            for (uint32_t j = k + 1; j < n; j++)
                at[i*n + j] -= at[i*n + k]*p[j] + p[i]*at[j*n + k];
    }
    if (n > 1)
        beside[n - 2] = at[(n - 1)*n + n - 2];
    for (uint32_t i = 0; i < n; i++) {
        diagonal[i] = at[i*n + i];
        memset(vectors + (size_t)i*n, 0, n*sizeof *vectors);
        vectors[i*n + i] = 1;
    }
    for (uint32_t k = n > 2 ? n - 2 : 0; k-- > 0;) // reflections from the last to the first, of columns, which are rows here
        for (uint32_t i = k + 1; i < n && by[k] != 0; i++) {
            double sum = 0;
            for (uint32_t j = k + 1; j < n; j++)
                sum += at[j*n + k]*vectors[i*n + j];
            for (uint32_t j = k + 1; j < n; j++)
                vectors[i*n + j] -= by[k]*sum*at[j*n + k];
        }
    free(by);
    free(p);
}

// One sweep between `from` and `to`.
static void
sweep(uint32_t n, uint32_t from, uint32_t to, double *d, double *e, double *vectors)
{
    double half = (d[to - 1] - d[to])/2, square = e[to - 1]*e[to - 1];
    double shift = d[to] - square/(half + (half >= 0 ? 1 : -1)*sqrt(half*half + square)), x = d[from] - shift, z = e[from];
    for (uint32_t k = from; k < to; k++) {
        double r = hypot(x, z), c = r > 0 ? x/r : 1, s = r > 0 ? z/r : 0, a = d[k], b = d[k + 1], off = e[k];
        if (k > from)
            e[k - 1] = r;
        d[k] = c*c*a + 2*c*s*off + s*s*b;
        d[k + 1] = s*s*a - 2*c*s*off + c*c*b;
        e[k] = c*s*(b - a) + (c*c - s*s)*off;
        x = e[k];
        if (k + 1 < to) {
            z = s*e[k + 1];
            e[k + 1] *= c;
        }
        double *one = vectors + (size_t)k*n, *other = one + n;
        for (uint32_t i = 0; i < n; i++) {
            double u = one[i], w = other[i];
            one[i] = c*u + s*w;
            other[i] = c*w - s*u;
        }
    }
}

void
symmetric_eigen(uint32_t n, double *at, double *value, double *vectors)
{
    double *e = base_calloc(n + 1, sizeof *e);
    make_tridiagonal(n, at, value, e, vectors);
    for (uint32_t to = n ? n - 1 : 0, sweeps = 0; to > 0 && sweeps < SWEEPS_MOST*n; sweeps++) {
        for (uint32_t k = 0; k < to; k++)
            if (fabs(e[k]) <= DBL_EPSILON*(fabs(value[k]) + fabs(value[k + 1])))
                e[k] = 0;
        if (e[to - 1] == 0) {
            to--;
            continue;
        }
        uint32_t from = to - 1;
        while (from > 0 && e[from - 1] != 0)
            from--;
        sweep(n, from, to, value, e, vectors);
    }
    free(e);
}
