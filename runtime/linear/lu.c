// lu.c: dense and sparse LU behind one interface.
//
// Purpose: linear algebra of the integrator and of algebraic blocks.
// Method: up to LU_DENSE_LIMIT unknowns, Gaussian elimination with row scaling and partial pivoting; above,
//         KLU (Davis and Palamadai Natarajan, ACM TOMS 37 (2010) 36) with BTF and AMD or COLAMD.
//         Factors that serve for many solutions and are renewed go into arrays of our own (factors.c).
//         A refactorisation keeps the pivots and is repeated with new ones when its reciprocal pivot ratio
//         has become poor.
// Contract: the symbolic object lives as long as the Lu, whatever the integrator does in between.
// Complexity: O(n^3) dense; KLU's otherwise.
#include "runtime/linear/lu.h"

#include <amd.h>
#include <klu.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/dissection.h"
#include "runtime/linear/factors.h"

static const double VANISHED = 1e-15; // a pivot below this part of its column before the elimination is rounding

struct Lu {
    uint32_t n, singular;
    bool dense;
    int32_t *start, *row;
    double *dense_values; // n x n by columns, then the factors
    double *scale;        // n row scales, dense form
    int32_t *pivot;
    int32_t *row_at;      // n: the row of the matrix at each place, dense form
    double *work;
    klu_common common;
    klu_symbolic *symbolic;
    klu_numeric *numeric; // NULL when there are factors
    Factors *factors;
    Threads *threads;     // see lu_share()
    bool on_diagonal;     // the pivots of `factors`
    bool elsewhere;       // pivots must be
    bool repeats;         // see lu_repeats()
    bool solved;          // with `numeric`, once
    double pivot_ratio;   // of the last factorisation with new pivots
    double *last;         // what was factored last, when `kept`
    bool kept;
};

static bool
allocate_dense(Lu *lu)
{
    size_t n = lu->n;
    lu->dense_values = calloc(n * n + 1, sizeof *lu->dense_values);
    lu->scale = calloc(n + 1, sizeof *lu->scale);
    lu->pivot = calloc(n + 1, sizeof *lu->pivot);
    lu->row_at = calloc(n + 1, sizeof *lu->row_at);
    return lu->dense_values && lu->scale && lu->pivot && lu->row_at;
}

static bool
has_entry(const Lu *lu, int32_t row, int32_t column)
{
    int32_t low = lu->start[column], high = lu->start[column + 1];
    while (low < high) {
        int32_t middle = low + (high - low) / 2;
        if (lu->row[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low < lu->start[column + 1] && lu->row[low] == row;
}

// AMD orders the pattern of A + A', which describes the factors only when A is nearly symmetric in structure,
// as in chains and grids of states. Torn loops are not: there COLAMD (of A'A) fills several times less.
static bool
is_nearly_symmetric(const Lu *lu)
{
    uint32_t mirrored = 0, nonzeros = (uint32_t)lu->start[lu->n];
    for (uint32_t column = 0; column < lu->n; column++)
        for (int32_t k = lu->start[column]; k < lu->start[column + 1]; k++)
            mirrored += has_entry(lu, (int32_t)column, lu->row[k]);
    return mirrored >= nonzeros - nonzeros / 4;
}

// The order of a diagonal block: as KLU orders it by AMD, or what threads can share.
static int32_t
order_block(int32_t n, int32_t *start, int32_t *row, int32_t *order, klu_common *common)
{
    (void)common;
    double info[AMD_INFO], entries = 0;
    if (n >= DISSECTION_LEAST)
        entries = dissection_order(n, start, row, order);
    else if (amd_order(n, start, row, order, NULL, info) >= AMD_OK)
        entries = info[AMD_LNZ] + n;
    return entries < INT32_MAX ? (int32_t)entries : INT32_MAX; // where factors begin; they grow
}

enum { KLU_BY_AMD, KLU_BY_COLAMD, KLU_BY_FUNCTION = 3 };

static bool
analyse_sparse(Lu *lu)
{
    klu_defaults(&lu->common);
    lu->common.ordering = !is_nearly_symmetric(lu) ? KLU_BY_COLAMD : lu->n < DISSECTION_LEAST ? KLU_BY_AMD : KLU_BY_FUNCTION;
    lu->common.user_order = order_block;
    lu->symbolic = klu_analyze((int)lu->n, lu->start, lu->row, &lu->common);
    return lu->symbolic != NULL;
}

// Where KLU is not linked (functional mock-up units of models that are not large) it analyses nothing, and sets no defaults. Otherwise it had no memory: a
// pattern that is singular is analysed as any other.
static bool
go_dense(Lu *lu)
{
    if (lu->common.tol > 0)
        return false;
    lu->dense = true;
    return allocate_dense(lu);
}

Lu *
lu_create(uint32_t n, const uint32_t *start, const uint32_t *row)
{
    Lu *lu = calloc(1, sizeof *lu);
    if (!lu)
        return NULL;
    uint32_t nonzeros = n ? start[n] : 0;
    lu->n = n;
    lu->dense = n <= LU_DENSE_LIMIT;
    lu->start = calloc((size_t)n + 1, sizeof *lu->start);
    lu->row = calloc((size_t)nonzeros + 1, sizeof *lu->row);
    lu->work = calloc((size_t)n + 1, sizeof *lu->work);
    lu->last = calloc((size_t)nonzeros + 1, sizeof *lu->last);
    if (lu->start && lu->row && lu->work && lu->last) {
        for (uint32_t k = 0; n && k <= n; k++)
            lu->start[k] = (int32_t)start[k];
        for (uint32_t k = 0; k < nonzeros; k++)
            lu->row[k] = (int32_t)row[k];
        if (lu->dense ? allocate_dense(lu) : analyse_sparse(lu) || go_dense(lu))
            return lu;
    }
    lu_free(&lu);
    return NULL;
}

void
lu_free(Lu **slot)
{
    Lu *lu = *slot;
    if (!lu)
        return;
    factors_free(&lu->factors);
    if (lu->numeric)
        klu_free_numeric(&lu->numeric, &lu->common);
    if (lu->symbolic)
        klu_free_symbolic(&lu->symbolic, &lu->common);
    free(lu->start);
    free(lu->row);
    free(lu->dense_values);
    free(lu->scale);
    free(lu->pivot);
    free(lu->row_at);
    free(lu->work);
    free(lu->last);
    free(lu);
    *slot = NULL;
}

void
lu_forget(Lu *lu)
{
    factors_free(&lu->factors);
    if (lu->numeric)
        klu_free_numeric(&lu->numeric, &lu->common);
    lu->kept = lu->solved = lu->elsewhere = false;
}

// Scatters the columns and computes the row scales. False when a row is empty or not finite.
static bool
load_dense(Lu *lu, const double *values)
{
    size_t n = lu->n;
    memset(lu->dense_values, 0, n * n * sizeof *lu->dense_values);
    memset(lu->scale, 0, n * sizeof *lu->scale);
    for (size_t j = 0; j < n; j++)
        for (int32_t k = lu->start[j]; k < lu->start[j + 1]; k++) {
            int32_t i = lu->row[k];
            lu->dense_values[j * n + (size_t)i] = values[k];
            double size = fabs(values[k]);
            if (!(size <= lu->scale[i]))
                lu->scale[i] = size;
        }
    for (size_t i = 0; i < n; i++) {
        if (!(lu->scale[i] > 0) || !isfinite(lu->scale[i])) {
            lu->singular = (uint32_t)i;
            return false;
        }
        lu->scale[i] = 1 / lu->scale[i];
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++)
            lu->dense_values[j * n + i] *= lu->scale[i];
    return true;
}

static void
swap_rows(double *a, size_t n, size_t first, size_t second)
{
    for (size_t j = 0; j < n; j++) {
        double keep = a[j * n + first];
        a[j * n + first] = a[j * n + second];
        a[j * n + second] = keep;
    }
}

// Where the exchanges of the elimination have put the rows.
static void
order_rows(Lu *lu)
{
    for (uint32_t k = 0; k < lu->n; k++)
        lu->row_at[k] = (int32_t)k;
    for (uint32_t k = 0; k < lu->n; k++) {
        int32_t row = lu->row_at[k];
        lu->row_at[k] = lu->row_at[lu->pivot[k]];
        lu->row_at[lu->pivot[k]] = row;
    }
}

static size_t
pivot_row(const double *column, size_t k, size_t n)
{
    size_t best = k;
    for (size_t i = k + 1; i < n; i++)
        if (fabs(column[i]) > fabs(column[best]))
            best = i;
    return best;
}

// The largest entry that column k had before the elimination: what is left of it is measured in this, because an unknown in
// large units (a current beside C/h times a voltage, in a short step h) has small entries everywhere.
static double
column_size(const Lu *lu, const double *values, size_t k)
{
    double size = 0;
    for (int32_t i = lu->start[k]; i < lu->start[k + 1]; i++)
        size = fmax(size, fabs(values[i]) * lu->scale[lu->row[i]]);
    return size;
}

static bool
factor_dense(Lu *lu, const double *values)
{
    size_t n = lu->n;
    double *a = lu->dense_values;
    if (!load_dense(lu, values))
        return false;
    for (size_t k = 0; k < n; k++) {
        size_t p = pivot_row(a + k * n, k, n);
        lu->pivot[k] = (int32_t)p;
        double size = fabs(a[k * n + p]);
        if (!(size > VANISHED) && !(size > VANISHED * column_size(lu, values, k))) {
            lu->singular = (uint32_t)k;
            return false;
        }
        if (p != k)
            swap_rows(a, n, k, p);
        double inverse = 1 / a[k * n + k];
        for (size_t i = k + 1; i < n; i++)
            a[k * n + i] *= inverse;
        for (size_t j = k + 1; j < n; j++) {
            double factor = a[j * n + k];
            if (factor != 0)
                for (size_t i = k + 1; i < n; i++)
                    a[j * n + i] -= factor * a[k * n + i];
        }
    }
    order_rows(lu);
    return true;
}

static inline __attribute__((always_inline)) void
solve_dense_of(const Lu *lu, double *restrict b, const size_t n, double *restrict x)
{
    const double *restrict a = lu->dense_values, *restrict scale = lu->scale;
#pragma GCC unroll 6
    for (size_t k = 0; k < n; k++) {
        int32_t row = lu->row_at[k];
        x[k] = b[row] * scale[row];
    }
#pragma GCC unroll 6
    for (size_t k = 0; k < n; k++)
#pragma GCC unroll 6
        for (size_t i = k + 1; i < n; i++)
            x[i] -= a[k * n + i] * x[k];
#pragma GCC unroll 6
    for (size_t k = n; k-- > 0;) {
        x[k] /= a[k * n + k];
#pragma GCC unroll 6
        for (size_t i = 0; i < k; i++)
            x[i] -= a[k * n + i] * x[k];
    }
    memcpy(b, x, n * sizeof *b);
}

// Of few unknowns the loops cost more than what is in them: the compiler unrolls those whose lengths it knows.
__attribute__((optimize("O3"))) static void
solve_dense(const Lu *lu, double *b)
{
    double x[LU_DENSE_LIMIT];
    switch (lu->n) {
    case 1: solve_dense_of(lu, b, 1, x); return;
    case 2: solve_dense_of(lu, b, 2, x); return;
    case 3: solve_dense_of(lu, b, 3, x); return;
    case 4: solve_dense_of(lu, b, 4, x); return;
    case 5: solve_dense_of(lu, b, 5, x); return;
    case 6: solve_dense_of(lu, b, 6, x); return;
    default: solve_dense_of(lu, b, lu->n, lu->n <= LU_DENSE_LIMIT ? x : lu->work);
    }
}

// Pivots on the diagonal where KLU would find none elsewhere, for threads. False: KLU is to choose.
static bool
factor_on_diagonal(Lu *lu, const double *values)
{
    if (!lu->repeats || lu->common.ordering != KLU_BY_FUNCTION || lu->elsewhere)
        return false;
    if (!lu->factors || !lu->on_diagonal) {
        factors_free(&lu->factors);
        lu->factors = factors_on_diagonal(lu->symbolic, lu->start, lu->row);
    }
    lu->on_diagonal = lu->factors && factors_renew_within(lu->factors, lu->threads, values, 1 / lu->common.tol);
    lu->pivot_ratio = lu->on_diagonal ? factors_pivot_ratio(lu->factors) : 0;
    lu->on_diagonal = lu->pivot_ratio > 0 && isfinite(lu->pivot_ratio);
    lu->elsewhere = !lu->on_diagonal;
    return lu->on_diagonal;
}

static bool
factor_with_new_pivots(Lu *lu, double *values)
{
    if (factor_on_diagonal(lu, values)) {
        if (lu->numeric)
            klu_free_numeric(&lu->numeric, &lu->common);
        return true;
    }
    factors_free(&lu->factors);
    if (lu->numeric)
        klu_free_numeric(&lu->numeric, &lu->common);
    lu->solved = false;
    lu->numeric = klu_factor(lu->start, lu->row, values, lu->symbolic, &lu->common);
    if (!lu->numeric || lu->common.status != KLU_OK) {
        lu->singular = (uint32_t)(lu->common.singular_col >= 0 ? lu->common.singular_col : 0);
        return false;
    }
    klu_rcond(lu->symbolic, lu->numeric, &lu->common);
    lu->pivot_ratio = lu->common.rcond;
    return lu->common.rcond > 0 && isfinite(lu->common.rcond);
}

// From KLU's factors to our own. False: out of memory, everything is as before.
static bool
take_over(Lu *lu)
{
    if (!lu->factors && lu->numeric)
        lu->factors = factors_create(lu->symbolic, lu->numeric, &lu->common, lu->start, lu->row);
    if (lu->factors && lu->numeric)
        klu_free_numeric(&lu->numeric, &lu->common);
    return lu->factors != NULL;
}

static bool
factor_sparse(Lu *lu, double *values, bool fresh)
{
    bool renewed = false;
    if (fresh || (!lu->numeric && !lu->factors))
        return factor_with_new_pivots(lu, values);
    if (lu->repeats && take_over(lu))
        renewed = factors_renew(lu->factors, lu->threads, values) && factors_pivot_ratio(lu->factors) > 1e-4 * lu->pivot_ratio;
    else
        renewed = klu_refactor(lu->start, lu->row, values, lu->symbolic, lu->numeric, &lu->common)
                  && lu->common.status == KLU_OK && klu_rcond(lu->symbolic, lu->numeric, &lu->common)
                  && lu->common.rcond > 1e-4 * lu->pivot_ratio;
    return renewed || factor_with_new_pivots(lu, values);
}

// Linear loops whose coefficients do not change are solved at every evaluation in causal form: then comparing the
// values saves nearly everything.
bool
lu_factor(Lu *lu, const double *values, bool fresh)
{
    size_t size = lu->n ? (size_t)lu->start[lu->n] * sizeof *values : 0;
    if (lu->kept && !memcmp(lu->last, values, size))
        return true;
    // KLU's prototype lacks const; it does not write to the values.
    lu->kept = lu->dense ? factor_dense(lu, values) : factor_sparse(lu, (double *)(uintptr_t)values, fresh);
    if (lu->kept)
        memcpy(lu->last, values, size);
    return lu->kept;
}

bool
lu_is_factored(const Lu *lu)
{
    return lu->kept;
}

bool
lu_starved(const Lu *lu)
{
    return !lu->dense && !lu->kept && lu->common.status == KLU_OUT_OF_MEMORY;
}

uint32_t
lu_singular_column(const Lu *lu)
{
    return lu->singular < lu->n ? lu->singular : 0;
}

double
lu_pivot_ratio(Lu *lu)
{
    if (lu->factors)
        return factors_pivot_ratio(lu->factors);
    if (!lu->dense)
        return klu_rcond(lu->symbolic, lu->numeric, &lu->common) ? lu->common.rcond : 0;
    double least = INFINITY, most = 0;
    for (size_t k = 0; k < lu->n; k++) {
        double pivot = fabs(lu->dense_values[k * lu->n + k]);
        least = fmin(least, pivot);
        most = fmax(most, pivot);
    }
    return most > 0 ? least / most : lu->n == 0;
}

void
lu_solve(Lu *lu, double *b)
{
    if (lu->dense) {
        solve_dense(lu, b);
    } else if (lu->factors || (lu->repeats && lu->solved && take_over(lu))) {
        factors_solve(lu->factors, lu->threads, b);
    } else {
        klu_solve(lu->symbolic, lu->numeric, (int)lu->n, 1, b, &lu->common);
        lu->solved = true;
    }
}

typedef double Columns __attribute__((vector_size(LU_TOGETHER * sizeof(double)))); // numbers of as many right sides

// As solve_dense_of(), for several right sides side by side.
__attribute__((target_clones("avx2", "default"))) static void
solve_dense_columns(const Lu *lu, double *b, uint32_t several)
{
    Columns x[LU_DENSE_LIMIT];
    const double *a = lu->dense_values;
    size_t n = lu->n;
    for (size_t k = 0; k < n; k++) {
        const double *from = b + lu->row_at[k];
        x[k] = (Columns){0};
        for (uint32_t l = 0; l < several; l++)
            x[k][l] = from[l * n] * lu->scale[lu->row_at[k]];
    }
    for (size_t k = 0; k < n; k++)
        for (size_t i = k + 1; i < n; i++)
            x[i] -= a[k * n + i] * x[k];
    for (size_t k = n; k-- > 0;) {
        x[k] /= a[k * n + k];
        for (size_t i = 0; i < k; i++)
            x[i] -= a[k * n + i] * x[k];
    }
    for (size_t k = 0; k < n; k++)
        for (uint32_t l = 0; l < several; l++)
            b[l * n + k] = x[k][l];
}

void
lu_solve_several(Lu *lu, double *b, uint32_t several)
{
    size_t n = lu->n;
    if (lu->dense && n > 1 && n <= LU_DENSE_LIMIT) {
        for (uint32_t taken; several > 1; several -= taken, b += taken * n) {
            taken = several < LU_TOGETHER ? several : LU_TOGETHER;
            solve_dense_columns(lu, b, taken);
        }
    } else if (!lu->dense && !lu->factors && !lu->repeats) {
        klu_solve(lu->symbolic, lu->numeric, (int)n, (int)several, b, &lu->common);
        return;
    }
    for (; several; several--, b += n)
        lu_solve(lu, b);
}

void
lu_repeats(Lu *lu)
{
    lu->repeats = true;
}

void
lu_share(Lu *lu, Threads *threads)
{
    lu->threads = threads;
}

bool
lu_is_dense(const Lu *lu)
{
    return lu->dense;
}
