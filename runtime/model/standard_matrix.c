// standard_matrix.c: linear equations as LAPACK's subroutines solve them.
//
// Purpose: what the Modelica Standard Library calls of LAPACK, where no LAPACK is installed.
// Method: Gaussian elimination with row pivoting, in place; results are what dgesv, dgetrf, dgetrs and dgetri give, with row interchanges
// counted from 1 and `info` the first zero pivot. Matrices come and go by rows. Contract: standard.h. Complexity: cubic.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/standard_inner.h"

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
    standard_fail(in, state, "the sizes do not fit each other, or there is no memory for a matrix of %zu values", n);
}

static bool
are_pivots(Argument pivots, size_t n)
{
    bool good = pivots.n >= n;
    for (size_t i = 0; good && i < n; i++)
        good = pivots.at[i] >= 1 && pivots.at[i] <= (double)n;
    return good;
}

// What the caller wants to have of argument number i.
static void
give(const double *in, double *out, int i, const double *values, size_t n)
{
    double *result = standard_result(in, out, i);
    if (result && n)
        memcpy(result, values, n * sizeof *values);
}

static void
give_info(const double *in, double *out, int i, int info)
{
    double value = info;
    give(in, out, i, &value, 1);
}

// n, nrhs, A, lda, ipiv, B, ldb, info
void
mdl_standard_dgesv(const double *in, double *out, double *state)
{
    size_t n = (size_t)standard_scalar(in, 0), columns = (size_t)standard_scalar(in, 1);
    Argument a = standard_argument(in, 2), pivots = standard_argument(in, 4), b = standard_argument(in, 5);
    double *lu = copy_of(a), *x = copy_of(b), *pivot = calloc(n + pivots.n + 1, sizeof *pivot);
    if (lu && x && pivot && a.n >= n * n && b.n >= n * columns) {
        int info = factor(lu, n, n, pivot);
        if (!info)
            solve(lu, pivot, n, x, columns);
        give(in, out, 2, lu, a.n);
        give(in, out, 4, pivot, pivots.n);
        give(in, out, 5, x, b.n);
        give_info(in, out, 7, info);
    } else {
        no_memory(in, state, a.n);
    }
    free(lu);
    free(x);
    free(pivot);
}

// m, n, A, lda, ipiv, info
void
mdl_standard_dgetrf(const double *in, double *out, double *state)
{
    size_t m = (size_t)standard_scalar(in, 0), n = (size_t)standard_scalar(in, 1);
    Argument a = standard_argument(in, 2), pivots = standard_argument(in, 4);
    double *lu = copy_of(a), *pivot = copy_of(pivots);
    if (lu && pivot && a.n >= m * n && pivots.n >= (m < n ? m : n)) {
        int info = factor(lu, m, n, pivot);
        give(in, out, 2, lu, a.n);
        give(in, out, 4, pivot, pivots.n);
        give_info(in, out, 5, info);
    } else {
        no_memory(in, state, m * n);
    }
    free(lu);
    free(pivot);
}

// trans, n, nrhs, LU, lda, ipiv, B, ldb, info
void
mdl_standard_dgetrs(const double *in, double *out, double *state)
{
    size_t n = (size_t)standard_scalar(in, 1), columns = (size_t)standard_scalar(in, 2);
    Argument lu = standard_argument(in, 3), pivots = standard_argument(in, 5), b = standard_argument(in, 6);
    double *x = copy_of(b);
    if (strcmp(standard_text(in, 0, state), "N") != 0) {
        standard_fail(in, state, "equations with the transposed matrix are not solved");
    } else if (x && lu.n >= n * n && are_pivots(pivots, n) && b.n >= n * columns) {
        solve(lu.at, pivots.at, n, x, columns);
        give(in, out, 6, x, b.n);
        give_info(in, out, 8, 0);
    } else {
        no_memory(in, state, n * n);
    }
    free(x);
}

// n, LU, lda, ipiv, work, lwork, info: what was LU becomes the inverse
void
mdl_standard_dgetri(const double *in, double *out, double *state)
{
    size_t n = (size_t)standard_scalar(in, 0);
    Argument lu = standard_argument(in, 1), pivots = standard_argument(in, 3), room = standard_argument(in, 4);
    double *inverse = copy_of(lu);
    int info = 0;
    if (!inverse || lu.n < n * n || !are_pivots(pivots, n)) {
        no_memory(in, state, n * n);
        free(inverse);
        return;
    }
    for (size_t i = 0; i < n * n; i++)
        inverse[i] = i % (n + 1) == 0;
    for (size_t k = n; k-- > 0;)
        info = lu.at[k * (n + 1)] == 0 ? (int)k + 1 : info;
    if (!info)
        solve(lu.at, pivots.at, n, inverse, n);
    give(in, out, 1, inverse, lu.n);
    give(in, out, 4, room.at, room.n);
    give_info(in, out, 6, info);
    free(inverse);
}
