// factors.c: numerical refactorisation and solution with pivots that are known.
//
// Purpose: most of a large model's steps are triangular solutions, with factors whose pattern stays. KLU's kernels serve
//          several right sides and keep indices and values in one array; these do not.
// Method: P R A Q = L U + F over the diagonal blocks of the block triangular form; refactorisation column by column from the left
//         over known patterns (Gilbert and Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862; Davis, Direct Methods for Sparse
//         Linear Systems, 2006, 6.3). Pivots are stored as reciprocals.
// Contract: see factors.h. Whether pivots are still good is the caller's to judge.
// Complexity: a solution takes one product per entry of L, U and F; a refactorisation what KLU's takes.
#include "runtime/linear/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct Factors {
    int32_t n, blocks;
    const int32_t *start, *row;      // the matrix
    int32_t *block;                  // first column of each diagonal block, and n
    int32_t *row_at, *column_at;     // P and Q: rows and columns of the matrix by place
    int32_t *place;                  // of the rows of the matrix
    int32_t *l_start, *l_row, *u_start, *u_row, *f_start, *f_row; // columns, without the diagonal
    double *l, *u, *f, *reciprocal;
    double *scale;                   // R, by place
    double *work;                    // zero between calls
};

void
factors_free(Factors **slot)
{
    Factors *factors = *slot;
    if (!factors)
        return;
    void *parts[] = {factors->block, factors->row_at, factors->column_at, factors->place, factors->l_start, factors->l_row,
                     factors->u_start, factors->u_row, factors->f_start, factors->f_row, factors->l, factors->u,
                     factors->f, factors->reciprocal, factors->scale, factors->work};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        free(parts[k]);
    free(factors);
    *slot = NULL;
}

static bool
allocate(Factors *factors, const klu_numeric *numeric)
{
    size_t n = (size_t)factors->n + 1;
    int32_t **index[] = {&factors->block, &factors->row_at, &factors->column_at, &factors->place, &factors->l_start,
                         &factors->u_start, &factors->f_start};
    double **value[] = {&factors->reciprocal, &factors->scale, &factors->work};
    bool good = true;
    for (size_t k = 0; k < sizeof index / sizeof *index; k++)
        good = (*index[k] = calloc(n, sizeof **index[k])) && good;
    for (size_t k = 0; k < sizeof value / sizeof *value; k++)
        good = (*value[k] = calloc(n, sizeof **value[k])) && good;
    factors->l_row = calloc((size_t)numeric->lnz + 1, sizeof *factors->l_row);
    factors->u_row = calloc((size_t)numeric->unz + 1, sizeof *factors->u_row);
    factors->f_row = calloc((size_t)numeric->nzoff + 1, sizeof *factors->f_row);
    factors->l = calloc((size_t)numeric->lnz + 1, sizeof *factors->l);
    factors->u = calloc((size_t)numeric->unz + 1, sizeof *factors->u);
    factors->f = calloc((size_t)numeric->nzoff + 1, sizeof *factors->f);
    return good && factors->l_row && factors->u_row && factors->f_row && factors->l && factors->u && factors->f;
}

// Takes the diagonal out of sorted columns: the first entry of each column of L, the last one of each of U.
static void
take_diagonal_out(Factors *factors)
{
    int32_t l = 0, u = 0, l_from = 0, u_from = 0;
    for (int32_t k = 0; k < factors->n; k++) {
        int32_t l_to = factors->l_start[k + 1], u_to = factors->u_start[k + 1];
        for (int32_t at = l_from + 1; at < l_to; at++, l++) {
            factors->l_row[l] = factors->l_row[at];
            factors->l[l] = factors->l[at];
        }
        for (int32_t at = u_from; at < u_to - 1; at++, u++) {
            factors->u_row[u] = factors->u_row[at];
            factors->u[u] = factors->u[at];
        }
        factors->reciprocal[k] = 1 / factors->u[u_to - 1];
        factors->l_start[k + 1] = l;
        factors->u_start[k + 1] = u;
        l_from = l_to;
        u_from = u_to;
    }
}

Factors *
factors_create(klu_symbolic *symbolic, klu_numeric *numeric, klu_common *common, const int32_t *start, const int32_t *row)
{
    Factors *factors = calloc(1, sizeof *factors);
    if (!factors)
        return NULL;
    *factors = (Factors){.n = symbolic->n, .blocks = symbolic->nblocks, .start = start, .row = row};
    if (!allocate(factors, numeric) || !klu_sort(symbolic, numeric, common)
        || !klu_extract(numeric, symbolic, factors->l_start, factors->l_row, factors->l, factors->u_start, factors->u_row,
                        factors->u, factors->f_start, factors->f_row, factors->f, factors->row_at, factors->column_at,
                        factors->scale, factors->block, common)) {
        factors_free(&factors);
        return NULL;
    }
    take_diagonal_out(factors);
    for (int32_t k = 0; k < factors->n; k++) {
        factors->place[factors->row_at[k]] = k;
        factors->scale[k] = 1 / factors->scale[k];
    }
    return factors;
}

// The scaled column of the matrix at place k: into `work` what is in its block, into F what is above.
static inline void
scatter(Factors *factors, const double *restrict values, int32_t k, int32_t first)
{
    double *restrict work = factors->work;
    const int32_t *restrict rows = factors->row, *restrict places = factors->place;
    const double *restrict scale = factors->scale;
    int32_t column = factors->column_at[k], above = factors->f_start[k];
    for (int32_t e = factors->start[column], to = factors->start[column + 1]; e < to; e++) {
        int32_t place = places[rows[e]];
        double value = values[e] * scale[place];
        if (place >= first) {
            work[place] = value;
        } else {
            factors->f_row[above] = place;
            factors->f[above++] = value;
        }
    }
}

// Eliminates in the column at place k. False: its pivot cannot be divided by.
static inline bool
eliminate(Factors *factors, int32_t k)
{
    double *restrict work = factors->work, *restrict l = factors->l, *restrict u = factors->u;
    const int32_t *restrict l_start = factors->l_start, *restrict l_row = factors->l_row, *restrict u_row = factors->u_row;
    for (int32_t e = factors->u_start[k], to = factors->u_start[k + 1]; e < to; e++) {
        int32_t j = u_row[e];
        double value = work[j];
        work[j] = 0;
        u[e] = value;
        for (int32_t at = l_start[j], end = l_start[j + 1]; at < end; at++)
            work[l_row[at]] -= l[at] * value;
    }
    double reciprocal = 1 / work[k];
    work[k] = 0;
    factors->reciprocal[k] = reciprocal;
    for (int32_t at = l_start[k], end = l_start[k + 1]; at < end; at++) {
        l[at] = work[l_row[at]] * reciprocal;
        work[l_row[at]] = 0;
    }
    return isfinite(reciprocal) && reciprocal != 0;
}

// The largest entry of each scaled row is 1: only then sizes of pivots say something.
static void
choose_scales(Factors *factors, const double *restrict values)
{
    const int32_t *restrict rows = factors->row, *restrict places = factors->place;
    double *restrict scale = factors->scale;
    int32_t n = factors->n, entries = factors->start[n];
    memset(scale, 0, (size_t)n * sizeof *scale);
    for (int32_t e = 0; e < entries; e++) {
        double size = fabs(values[e]), *most = scale + places[rows[e]];
        *most = size > *most ? size : *most;
    }
    for (int32_t k = 0; k < n; k++)
        scale[k] = 1 / scale[k];
}

bool
factors_renew(Factors *factors, const double *values)
{
    bool good = true;
    choose_scales(factors, values);
    for (int32_t block = 0; block < factors->blocks && good; block++)
        for (int32_t k = factors->block[block]; k < factors->block[block + 1] && good; k++) {
            scatter(factors, values, k, factors->block[block]);
            good = eliminate(factors, k);
        }
    return good;
}

double
factors_pivot_ratio(const Factors *factors)
{
    double least = INFINITY, most = 0;
    for (int32_t k = 0; k < factors->n; k++) {
        double size = fabs(factors->reciprocal[k]);
        least = size < least ? size : least;
        most = size > most ? size : most;
    }
    return factors->n ? least / most : 1;
}

static void
solve_block(const Factors *factors, int32_t first, int32_t end, double *restrict x)
{
    const int32_t *restrict start = factors->l_start, *restrict row = factors->l_row;
    const double *restrict value = factors->l, *restrict reciprocal = factors->reciprocal;
    int32_t at = start[first];
    for (int32_t k = first; k < end; k++) {
        double solved = x[k];
        for (int32_t to = start[k + 1]; at < to; at++)
            x[row[at]] -= value[at] * solved;
    }
    start = factors->u_start;
    row = factors->u_row;
    value = factors->u;
    at = start[end];
    for (int32_t k = end; k-- > first;) {
        double solved = x[k] * reciprocal[k];
        x[k] = solved;
        for (int32_t to = start[k]; at > to;) {
            at--;
            x[row[at]] -= value[at] * solved;
        }
    }
}

static void
subtract_above(const Factors *factors, int32_t first, int32_t end, double *restrict x)
{
    int32_t at = factors->f_start[first];
    for (int32_t k = first; k < end; k++)
        for (int32_t to = factors->f_start[k + 1]; at < to; at++)
            x[factors->f_row[at]] -= factors->f[at] * x[k];
}

void
factors_solve(const Factors *factors, double *b)
{
    double *restrict x = factors->work;
    const int32_t *restrict row_at = factors->row_at, *restrict column_at = factors->column_at;
    const double *restrict scale = factors->scale;
    int32_t n = factors->n;
    for (int32_t k = 0; k < n; k++)
        x[k] = b[row_at[k]] * scale[k];
    for (int32_t block = factors->blocks; block-- > 0;) {
        int32_t first = factors->block[block], end = factors->block[block + 1];
        solve_block(factors, first, end, x);
        if (block > 0)
            subtract_above(factors, first, end, x);
    }
    for (int32_t k = 0; k < n; k++) {
        b[column_at[k]] = x[k];
        x[k] = 0;
    }
}
