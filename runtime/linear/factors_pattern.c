// factors_pattern.c: where factors have entries when pivots are on the diagonal.
//
// Purpose: the first factorisation of a large matrix by threads: KLU takes the diagonal wherever it is not a thousand times smaller than its column, and where it
//          does so everywhere its pivots are known before.
// Method: what a column of the matrix reaches in the columns of L before it (Gilbert and Peierls, SIAM J. Sci. Stat. Comput. 9 (1988) 862), of which those rows are
//         left out that are reached another way (Eisenstat and Liu, SIAM J. Matrix Anal. Appl. 13 (1992) 202).
// Contract: see factors.h. Complexity: O(entries of L) for patterns that are nearly symmetric.
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/factors_inner.h"

typedef struct Pattern {
    Factors *factors;
    int32_t *kept;       // of each column of L: the end of the rows that are gone along
    int32_t *mark;       // latest column that has reached the place
    int32_t *stack, *at; // columns in hand, and how far
    int32_t l, u, f, room;
} Pattern;

static bool
allocate(Pattern *pattern, size_t room)
{
    Factors *factors = pattern->factors;
    size_t n = (size_t)factors->n + 1, entries = (size_t)factors->start[factors->n];
    int32_t **index[] = {&factors->block, &factors->row_at, &factors->column_at, &factors->place, &factors->l_start, &factors->u_start,
                         &factors->f_start, &pattern->kept, &pattern->mark, &pattern->stack, &pattern->at};
    double **value[] = {&factors->reciprocal, &factors->scale, &factors->work};
    bool good = true;
    for (size_t k = 0; k < sizeof index / sizeof *index; k++)
        good = (*index[k] = calloc(n, sizeof **index[k])) && good;
    for (size_t k = 0; k < sizeof value / sizeof *value; k++)
        good = (*value[k] = calloc(n, sizeof **value[k])) && good;
    factors->alike = calloc(n, sizeof *factors->alike);
    factors->l_row = calloc(room + 1, sizeof *factors->l_row);
    factors->u_row = calloc(room + 1, sizeof *factors->u_row);
    factors->f_row = calloc(entries + 1, sizeof *factors->f_row);
    factors->f = calloc(entries + 1, sizeof *factors->f);
    pattern->room = (int32_t)room;
    return good && factors->alike && factors->l_row && factors->u_row && factors->f_row && factors->f;
}

// The place p and what is reached from it, for column k. False: there are more entries than was thought.
static bool
reach(Pattern *pattern, int32_t p, int32_t k)
{
    Factors *factors = pattern->factors;
    int32_t depth = -1;
    for (;;) {
        bool is_new = pattern->mark[p] != k;
        pattern->mark[p] = k;
        if (is_new && p > k) {
            if (pattern->l == pattern->room)
                return false;
            factors->l_row[pattern->l++] = p;
        } else if (is_new) {
            pattern->stack[++depth] = p;
            pattern->at[depth] = factors->l_start[p];
        }
        while (depth >= 0 && pattern->at[depth] == pattern->kept[pattern->stack[depth]]) {
            if (pattern->u == pattern->room)
                return false;
            factors->u_row[pattern->u++] = pattern->stack[depth--];
        }
        if (depth < 0)
            return true;
        p = factors->l_row[pattern->at[depth]++];
    }
}

// Column k of L holds all rows behind k that column j does, if k is one of them.
static void
prune(Pattern *pattern, int32_t j, int32_t k)
{
    int32_t *row = pattern->factors->l_row, first = pattern->factors->l_start[j], end = pattern->factors->l_start[j + 1], e = first;
    while (e < end && row[e] != k)
        e++;
    if (e == end)
        return;
    for (e = first; e < end;) {
        if (row[e] <= k) {
            e++;
            continue;
        }
        int32_t behind = row[e];
        row[e] = row[--end];
        row[end] = behind;
    }
    pattern->kept[j] = end;
}

static bool
find_column(Pattern *pattern, int32_t k, int32_t first)
{
    Factors *factors = pattern->factors;
    int32_t column = factors->column_at[k];
    pattern->mark[k] = k;
    for (int32_t e = factors->start[column]; e < factors->start[column + 1]; e++) {
        int32_t p = factors->place[factors->row[e]];
        if (p < first)
            factors->f_row[pattern->f++] = p;
        else if (pattern->mark[p] != k && !reach(pattern, p, k))
            return false;
    }
    factors->l_start[k + 1] = pattern->kept[k] = pattern->l;
    factors->u_start[k + 1] = pattern->u;
    factors->f_start[k + 1] = pattern->f;
    for (int32_t e = factors->u_start[k]; e < pattern->u; e++) {
        int32_t j = factors->u_row[e];
        if (pattern->kept[j] == factors->l_start[j + 1])
            prune(pattern, j, k);
    }
    return true;
}

// Rows of each column in ascending order: by rows, then by columns again.
static bool
sort_columns(int32_t n, const int32_t *start, int32_t *row)
{
    int32_t *next = calloc((size_t)n + 2, sizeof *next), *column = calloc((size_t)start[n] + 1, sizeof *column), *place = calloc((size_t)n + 1, sizeof *place);
    bool good = next && column && place;
    for (int32_t e = 0; e < start[n] && good; e++)
        next[row[e] + 2]++;
    for (int32_t k = 0; k < n && good; k++)
        next[k + 2] += next[k + 1];
    for (int32_t k = 0; k < n && good; k++)
        for (int32_t e = start[k]; e < start[k + 1]; e++)
            column[next[row[e] + 1]++] = k;
    if (good)
        memcpy(place, start, (size_t)n * sizeof *place);
    for (int32_t k = 0, e = 0; k < n && good; k++)
        for (; e < next[k + 1]; e++)
            row[place[column[e]]++] = k;
    free(next);
    free(column);
    free(place);
    return good;
}

static bool
find_pattern(Pattern *pattern, const klu_symbolic *symbolic)
{
    Factors *factors = pattern->factors;
    int32_t n = factors->n;
    memcpy(factors->block, symbolic->R, ((size_t)factors->blocks + 1) * sizeof *factors->block);
    memcpy(factors->row_at, symbolic->P, (size_t)n * sizeof *factors->row_at);
    memcpy(factors->column_at, symbolic->Q, (size_t)n * sizeof *factors->column_at);
    for (int32_t k = 0; k < n; k++) {
        factors->place[factors->row_at[k]] = k;
        pattern->mark[k] = -1;
    }
    for (int32_t block = 0; block < factors->blocks; block++)
        for (int32_t k = factors->block[block]; k < factors->block[block + 1]; k++)
            if (!find_column(pattern, k, factors->block[block]))
                return false;
    factors->l = calloc((size_t)pattern->l + 1, sizeof *factors->l);
    factors->u = calloc((size_t)pattern->u + 1, sizeof *factors->u);
    return factors->l && factors->u && sort_columns(n, factors->l_start, factors->l_row) && sort_columns(n, factors->u_start, factors->u_row)
           && factors_prepare(factors);
}

Factors *
factors_on_diagonal(const klu_symbolic *symbolic, const int32_t *start, const int32_t *row)
{
    double room = symbolic->lnz;
    Factors *factors = room >= 0 && room < INT32_MAX ? calloc(1, sizeof *factors) : NULL;
    if (!factors)
        return NULL;
    *factors = (Factors){.n = symbolic->n, .blocks = symbolic->nblocks, .start = start, .row = row};
    Pattern pattern = {.factors = factors};
    bool good = allocate(&pattern, (size_t)room) && find_pattern(&pattern, symbolic);
    free(pattern.kept);
    free(pattern.mark);
    free(pattern.stack);
    free(pattern.at);
    if (!good)
        factors_free(&factors);
    return factors;
}
