// shifted.c: factors of A + c B for one real and several complex numbers c, in real arithmetic.
//
// Purpose: the systems that the stages of an implicit Runge-Kutta method fall apart into (radau.c).
// Method: a complex system of m equations is one of 2m real ones, {A + alpha B, beta B; -beta B, A + alpha B}. It goes through lu.c like any
//         other matrix: dense when it is small, otherwise sparse with the ordering, the pivots and the renewed factors that are there.
//         (Complex arithmetic would need half of the multiplications, and a second copy of all that.)
// Contract: shifted.h. Complexity: that of lu.c.
#include "runtime/linear/shifted.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/linear/lu.h"

struct Shifted {
    uint32_t m, n;
    uint32_t *start, *row;
    uint32_t *diagonal;            // per column of B: the place of its one
    double *values;                // of the matrix to be factored, 2*(nonzeros + n)
    double *work;                  // 2m
    uint32_t *pair_start, *pair_row;
    Lu *real, *pair[SHIFTED_PAIRS];
    bool fresh_real, fresh[SHIFTED_PAIRS];
    bool starved; // the last factorisation had no memory
    Threads *threads;
};

static bool
allocate(Shifted *s, uint32_t nonzeros)
{
    size_t m = s->m, doubled = 2 * ((size_t)nonzeros + s->n);
    s->start = calloc(m + 1, sizeof *s->start);
    s->row = calloc((size_t)nonzeros + 1, sizeof *s->row);
    s->diagonal = calloc((size_t)s->n + 1, sizeof *s->diagonal);
    s->values = calloc(doubled + 1, sizeof *s->values);
    s->work = calloc(2 * m + 1, sizeof *s->work);
    s->pair_start = calloc(2 * m + 1, sizeof *s->pair_start);
    s->pair_row = calloc(doubled + 1, sizeof *s->pair_row);
    return s->start && s->row && s->diagonal && s->values && s->work && s->pair_start && s->pair_row;
}

static bool
find_diagonal(Shifted *s)
{
    for (uint32_t j = 0; j < s->n; j++) {
        uint32_t k = s->start[j];
        while (k < s->start[j + 1] && s->row[k] != j)
            k++;
        if (k == s->start[j + 1])
            return false;
        s->diagonal[j] = k;
    }
    return true;
}

// Rows ascend in each column: those of A, then the one of -B; the one of B, then those of A.
static void
double_pattern(Shifted *s)
{
    uint32_t at = 0, m = s->m;
    for (uint32_t j = 0; j < 2 * m; j++) {
        uint32_t column = j % m;
        s->pair_start[j] = at;
        if (j >= m && column < s->n)
            s->pair_row[at++] = column;
        for (uint32_t k = s->start[column]; k < s->start[column + 1]; k++)
            s->pair_row[at++] = s->row[k] + (j < m ? 0 : m);
        if (j < m && column < s->n)
            s->pair_row[at++] = m + column;
    }
    s->pair_start[2 * m] = at;
}

Shifted *
shifted_create(uint32_t m, uint32_t n, const uint32_t *start, const uint32_t *row, Threads *threads)
{
    Shifted *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->m = m;
    s->n = n;
    s->threads = threads;
    bool good = allocate(s, start[m]);
    if (good) {
        memcpy(s->start, start, ((size_t)m + 1) * sizeof *start);
        memcpy(s->row, row, start[m] * sizeof *row);
        good = find_diagonal(s);
    }
    if (good) {
        double_pattern(s);
        s->real = lu_create(m, s->start, s->row);
        good = s->real != NULL;
    }
    if (!good) {
        shifted_free(&s);
        return NULL;
    }
    lu_repeats(s->real);
    lu_share(s->real, threads);
    shifted_forget(s);
    return s;
}

void
shifted_free(Shifted **slot)
{
    Shifted *s = *slot;
    if (!s)
        return;
    lu_free(&s->real);
    for (int p = 0; p < SHIFTED_PAIRS; p++)
        lu_free(&s->pair[p]);
    free(s->start);
    free(s->row);
    free(s->diagonal);
    free(s->values);
    free(s->work);
    free(s->pair_start);
    free(s->pair_row);
    free(s);
    *slot = NULL;
}

void
shifted_forget(Shifted *s)
{
    lu_forget(s->real);
    s->fresh_real = true;
    for (int p = 0; p < SHIFTED_PAIRS; p++) {
        if (s->pair[p])
            lu_forget(s->pair[p]);
        s->fresh[p] = true;
    }
}

bool
shifted_factor_real(Shifted *s, const double *values, double c)
{
    memcpy(s->values, values, s->start[s->m] * sizeof *values);
    for (uint32_t j = 0; j < s->n; j++)
        s->values[s->diagonal[j]] += c;
    bool good = lu_factor(s->real, s->values, s->fresh_real);
    s->fresh_real = !good;
    s->starved = lu_starved(s->real);
    return good;
}

static void
fill_pair(Shifted *s, const double *values, double alpha, double beta)
{
    uint32_t at = 0, m = s->m;
    for (uint32_t j = 0; j < 2 * m; j++) {
        uint32_t column = j % m;
        if (j >= m && column < s->n)
            s->values[at++] = beta;
        for (uint32_t k = s->start[column]; k < s->start[column + 1]; k++)
            s->values[at++] = values[k] + (column < s->n && s->diagonal[column] == k ? alpha : 0);
        if (j < m && column < s->n)
            s->values[at++] = -beta;
    }
}

bool
shifted_factor_pair(Shifted *s, uint32_t pair, const double *values, double alpha, double beta)
{
    if (!s->pair[pair]) {
        s->pair[pair] = lu_create(2 * s->m, s->pair_start, s->pair_row);
        s->starved = !s->pair[pair];
        if (!s->pair[pair])
            return false;
        lu_repeats(s->pair[pair]);
        lu_share(s->pair[pair], s->threads);
    }
    fill_pair(s, values, alpha, beta);
    bool good = lu_factor(s->pair[pair], s->values, s->fresh[pair]);
    s->fresh[pair] = !good;
    s->starved = lu_starved(s->pair[pair]);
    return good;
}

bool
shifted_starved(const Shifted *s)
{
    return s->starved;
}

void
shifted_solve_real(Shifted *s, double *b)
{
    memcpy(s->work, b, s->n * sizeof *b);
    memset(s->work + s->n, 0, (s->m - s->n) * sizeof *b);
    lu_solve(s->real, s->work);
    memcpy(b, s->work, s->n * sizeof *b);
}

void
shifted_solve_pair(Shifted *s, uint32_t pair, double *x, double *y)
{
    memset(s->work, 0, 2 * (size_t)s->m * sizeof *x);
    memcpy(s->work, x, s->n * sizeof *x);
    memcpy(s->work + s->m, y, s->n * sizeof *y);
    lu_solve(s->pair[pair], s->work);
    memcpy(x, s->work, s->n * sizeof *x);
    memcpy(y, s->work + s->m, s->n * sizeof *y);
}

bool
shifted_is_dense(const Shifted *s)
{
    return lu_is_dense(s->real);
}
