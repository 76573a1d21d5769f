// factors.c: sparse triangular factors with the pivots that KLU has chosen.
//
// Purpose: most of a large model's steps are triangular solutions, with factors whose pattern stays. KLU's kernels serve
//          several right sides and keep indices and values in one array; these do not, and are shared by threads where they are large (division.c).
// Method: P R A Q = L U + F over the diagonal blocks of the block triangular form. Pivots are stored as reciprocals.
// Contract: see factors.h. Complexity: O(entries).
#include "runtime/linear/factors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/factors_inner.h"

void
factors_free(Factors **slot)
{
    Factors *factors = *slot;
    if (!factors)
        return;
    void *parts[] = {factors->block, factors->row_at, factors->column_at, factors->place, factors->l_start, factors->l_row,
                     factors->u_start, factors->u_row, factors->f_start, factors->f_row, factors->l, factors->u,
                     factors->f, factors->reciprocal, factors->scale, factors->work, factors->alike};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        free(parts[k]);
    division_free(factors);
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
    factors->alike = calloc(n, sizeof *factors->alike);
    factors->l_row = calloc((size_t)numeric->lnz + 1, sizeof *factors->l_row);
    factors->u_row = calloc((size_t)numeric->unz + 1, sizeof *factors->u_row);
    factors->f_row = calloc((size_t)numeric->nzoff + 1, sizeof *factors->f_row);
    factors->l = calloc((size_t)numeric->lnz + 1, sizeof *factors->l);
    factors->u = calloc((size_t)numeric->unz + 1, sizeof *factors->u);
    factors->f = calloc((size_t)numeric->nzoff + 1, sizeof *factors->f);
    return good && factors->alike && factors->l_row && factors->u_row && factors->f_row && factors->l && factors->u && factors->f;
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

// Column k and the next are alike if the next is the first row of k, and the others are those of the next (Demmel et al., SIAM J. Matrix Anal. Appl. 20 (1999) 720).
static void
find_alike(Factors *factors)
{
    const int32_t *start = factors->l_start, *row = factors->l_row;
    for (int32_t k = factors->n - 1; k-- > 0;) {
        int32_t size = start[k + 1] - start[k], next = start[k + 2] - start[k + 1];
        bool alike = size == next + 1 && row[start[k]] == k + 1 && !memcmp(row + start[k] + 1, row + start[k + 1], (size_t)next * sizeof *row);
        factors->alike[k] = !alike ? 0 : factors->alike[k + 1] < UINT8_MAX ? (uint8_t)(factors->alike[k + 1] + 1) : UINT8_MAX;
    }
}

bool
factors_prepare(Factors *factors)
{
    if (!division_make(factors))
        return false;
    find_alike(factors);
    for (int32_t k = 0; k < factors->n; k++)
        factors->place[factors->row_at[k]] = k;
    return true;
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
    for (int32_t k = 0; k < factors->n; k++)
        factors->scale[k] = 1 / factors->scale[k];
    if (!factors_prepare(factors))
        factors_free(&factors);
    return factors;
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
