// factors.c: what factorisations and solutions of large matrices take, by one thread and by several: the least of some times by the clock.
//
// factors KIND SIZE THREADS: KIND chain, cascade, grid (SIZE x SIZE), cube.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/linear/lu.h"

static const double LONG_ENOUGH = 3; // seconds for each measurement, at least five times

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

typedef struct Matrix {
    uint32_t n, *start, *row;
    double *value;
} Matrix;

// Neighbours along `dimensions` axes of m points each; of a cascade, the one before.
static Matrix
make(const char *kind, uint32_t m)
{
    int dimensions = !strcmp(kind, "grid") ? 2 : !strcmp(kind, "cube") ? 3 : 1;
    uint32_t n = 1, at = 0;
    for (int d = 0; d < dimensions; d++)
        n *= m;
    Matrix a = {n, calloc(n + 1, sizeof *a.start), calloc(7 * (size_t)n, sizeof *a.row), calloc(7 * (size_t)n, sizeof *a.value)};
    for (uint32_t k = 0; k < n && a.start && a.row && a.value; k++) {
        uint32_t step[3] = {1, m, m * m};
        for (int d = dimensions - 1; d >= 0; d--)
            if (k / step[d] % m > 0 && strcmp(kind, "cascade"))
                a.row[at++] = k - step[d];
        a.row[at++] = k;
        for (int d = 0; d < dimensions; d++)
            if (k / step[d] % m < m - 1)
                a.row[at++] = k + step[d];
        a.start[k + 1] = at;
        for (uint32_t e = a.start[k]; e < at; e++)
            a.value[e] = a.row[e] == k ? 2 * dimensions + 0.1 : -1 - 1e-3 * (k % 7);
    }
    return a;
}

int
main(int count, char **argument)
{
    if (count != 4)
        return 2;
    Matrix a = make(argument[1], (uint32_t)atoi(argument[2]));
    Threads *threads = threads_create((unsigned)atoi(argument[3]));
    double t = now(), first, renew = INFINITY, solve = INFINITY, wrong = 0;
    Lu *lu = lu_create(a.n, a.start, a.row);
    double analysis = now() - t, *b = calloc(a.n, sizeof *b), *x = calloc(a.n, sizeof *x);
    if (!lu || !b || !x)
        return 1;
    lu_repeats(lu);
    lu_share(lu, threads);
    t = now();
    bool good = lu_factor(lu, a.value, true);
    first = now() - t;
    double begun = now();
    for (int k = 0; (k < 5 || now() < begun + LONG_ENOUGH) && good; k++) {
        for (uint32_t e = 0; e < a.start[a.n]; e++)
            a.value[e] *= k % 2 ? 1.001 : 1/1.001;
        t = now();
        good = lu_factor(lu, a.value, false);
        renew = fmin(renew, now() - t);
    }
    begun = now();
    for (int k = 0; (k < 5 || now() < begun + LONG_ENOUGH) && good; k++) {
        memset(b, 0, a.n * sizeof *b);
        for (uint32_t j = 0; j < a.n; j++) {
            x[j] = sin(j + k);
            for (uint32_t e = a.start[j]; e < a.start[j + 1]; e++)
                b[a.row[e]] += a.value[e] * x[j];
        }
        t = now();
        lu_solve(lu, b);
        solve = fmin(solve, now() - t);
        for (uint32_t j = 0; j < a.n; j++)
            wrong = fmax(wrong, fabs(b[j] - x[j]));
    }
    printf("%s %s threads %u: analysis %.3f s, first %.4f s, again %.4f s, solution %.5f s, error %.1e%s\n", argument[1], argument[2], threads_count(threads),
           analysis, first, renew, solve, wrong, good ? "" : " FAILED");
    lu_free(&lu);
    threads_free(&threads);
    free(a.start);
    free(a.row);
    free(a.value);
    free(b);
    free(x);
    return !good;
}
