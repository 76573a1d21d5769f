// standard_matrix.c: linear equations as LAPACK's subroutines solve them.
//
// Method: Gaussian elimination with row pivoting, in place; results are what dgesv, dgetrf, dgetrs and dgetri give, with row interchanges
// counted from 1 and `info` the first zero pivot. Matrices come and go by rows. Contract: standard.h. Complexity: cubic.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/standard_inner.h"

// Factors of the m x n matrix; the number of the first zero pivot, or 0.
static int
factor(double *a, size_t m, size_t n, double *pivot)
{
    int info = 0;
    for (size_t k = 0; k < m && k < n; k++) {
        size_t best = k;
        for (size_t i = k + 1; i < m; i++)
            best = fabs(a[i * n + k]) > fabs(a[best * n + k]) ? i : best;
        pivot[k] = (double)best + 1;
        for (size_t j = 0; best != k && j < n; j++) {
            double kept = a[k * n + j];
            a[k * n + j] = a[best * n + j];
            a[best * n + j] = kept;
        }
        if (a[k * n + k] == 0) {
            info = info ? info : (int)k + 1;
            continue;
        }
        for (size_t i = k + 1; i < m; i++) {
            double by = a[i * n + k] /= a[k * n + k];
            for (size_t j = k + 1; by != 0 && j < n; j++)
                a[i * n + j] -= by * a[k * n + j];
        }
    }
    return info;
}

// b := A^-1 b for n x columns values by rows.
static void
solve(const double *lu, const double *pivot, size_t n, double *b, size_t columns)
{
    for (size_t c = 0; c < columns; c++) {
        for (size_t i = 0; i < n; i++) {
            size_t other = (size_t)pivot[i] - 1;
            double kept = b[i * columns + c];
            b[i * columns + c] = b[other * columns + c];
            b[other * columns + c] = kept;
        }
        for (size_t i = 0; i < n; i++)
            for (size_t j = 0; j < i; j++)
                b[i * columns + c] -= lu[i * n + j] * b[j * columns + c];
        for (size_t i = n; i-- > 0;) {
            for (size_t j = i + 1; j < n; j++)
                b[i * columns + c] -= lu[i * n + j] * b[j * columns + c];
            b[i * columns + c] /= lu[i * n + i];
        }
    }
}

static double *
copy_of(Argument values)
{
    double *copy = malloc((values.n + 1) * sizeof *copy);
    if (copy && values.n)
        memcpy(copy, values.at, values.n * sizeof *copy);
    return copy;
}

static void
no_memory(const double *in, double *state, size_t n)
{
    standard_fail(in, state, "there is no memory for a matrix of %zu values", n);
}

// n, nrhs, A, lda, ipiv, B, ldb, info: A is worked with, results are B and info.
void
mdl_standard_dgesv(const double *in, double *out, double *state)
{
    size_t n = (size_t)standard_scalar(in, 0), columns = (size_t)standard_scalar(in, 1);
    Argument a = standard_argument(in, 2), b = standard_argument(in, 5);
    double *lu = copy_of(a), *pivot = malloc((n + 1) * sizeof *pivot);
    if (lu && pivot && a.n >= n * n && b.n >= n * columns) {
        memcpy(out, b.at, b.n * sizeof *out);
        int info = factor(lu, n, n, pivot);
        if (!info)
            solve(lu, pivot, n, out, columns);
        out[b.n] = info;
    } else {
        no_memory(in, state, a.n);
    }
    free(lu);
    free(pivot);
}

// m, n, A, lda, ipiv, info: results are A, ipiv and info.
void
mdl_standard_dgetrf(const double *in, double *out, double *state)
{
    size_t m = (size_t)standard_scalar(in, 0), n = (size_t)standard_scalar(in, 1);
    Argument a = standard_argument(in, 2), pivots = standard_argument(in, 4);
    if (a.n < m * n || pivots.n < (m < n ? m : n)) {
        no_memory(in, state, m * n);
        return;
    }
    if (a.n)
        memcpy(out, a.at, a.n * sizeof *out);
    out[a.n + pivots.n] = factor(out, m, n, out + a.n);
}

// trans, n, nrhs, LU, lda, ipiv, B, ldb, info: results are B and info.
void
mdl_standard_dgetrs(const double *in, double *out, double *state)
{
    size_t n = (size_t)standard_scalar(in, 1), columns = (size_t)standard_scalar(in, 2);
    Argument lu = standard_argument(in, 3), pivots = standard_argument(in, 5), b = standard_argument(in, 6);
    if (strcmp(standard_text(in, 0, state), "N") != 0) {
        standard_fail(in, state, "equations with the transposed matrix are not solved");
        return;
    }
    if (lu.n < n * n || pivots.n < n || b.n < n * columns) {
        no_memory(in, state, n * n);
        return;
    }
    if (b.n)
        memcpy(out, b.at, b.n * sizeof *out);
    solve(lu.at, pivots.at, n, out, columns);
    out[b.n] = 0;
}

// n, LU, lda, ipiv, work, lwork, info: results are the inverse and info.
void
mdl_standard_dgetri(const double *in, double *out, double *state)
{
    size_t n = (size_t)standard_scalar(in, 0);
    Argument lu = standard_argument(in, 1), pivots = standard_argument(in, 3);
    if (lu.n < n * n || pivots.n < n) {
        no_memory(in, state, n * n);
        return;
    }
    for (size_t i = 0; i < n * n; i++)
        out[i] = i % (n + 1) == 0;
    int info = 0;
    for (size_t k = n; k-- > 0;)
        info = lu.at[k * (n + 1)] == 0 ? (int)k + 1 : info;
    if (!info)
        solve(lu.at, pivots.at, n, out, n);
    out[lu.n] = info;
}
