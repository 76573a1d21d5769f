// shared_factors.c: factors of large matrices are the same to the last bit for any number of threads, and solve as KLU's do.
#include <stdint.h>

#include "runtime/linear/lu.h"
#include "tests/runtime/check.h"

enum { SIDE = 142, MOST_ENTRIES = 12, ROUNDS = 2, THREADS = 4 };

typedef enum Kind { GRID, CHAIN, CASCADE, JOINED, TURNED, HUNG, KINDS } Kind;

// JOINED: two grids and what each of them drives. TURNED: a diagonal of zeros in places, where pivots are elsewhere. HUNG: a part whose own matrix is singular.
static const char *const names[] = {"a grid", "a chain", "a cascade", "grids that drive others", "pivots off the diagonal", "a singular part"};

typedef struct Matrix {
    uint32_t n, *start, *row;
    double *value;
} Matrix;

static double
next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) / 9007199254740992.0;
}

static bool
has_entry(Kind kind, uint32_t n, uint32_t row, uint32_t column)
{
    uint32_t distance = row > column ? row - column : column - row, last = row > column ? row : column;
    if (!distance)
        return true;
    if (kind == CHAIN)
        return distance == 1;
    if (kind == CASCADE)
        return row == column + 1;
    if (kind == JOINED && row / (n / 2) != column / (n / 2))
        return row == column + n / 2 && row % 7 == 0;
    return distance == SIDE || (distance == 1 && last % SIDE > 0);
}

static Matrix
make(Kind kind, uint64_t *random)
{
    uint32_t n = kind == JOINED ? 2 * SIDE * SIDE : SIDE * SIDE, at = 0;
    Matrix a = {n, calloc(n + 1, sizeof *a.start), calloc((size_t)n * MOST_ENTRIES, sizeof *a.row), calloc((size_t)n * MOST_ENTRIES, sizeof *a.value)};
    int64_t far[] = {-SIDE * SIDE, -SIDE, -1, 0, 1, SIDE, SIDE * SIDE};
    for (uint32_t j = 0; j < n && a.start && a.row && a.value; j++) {
        for (size_t k = 0; k < sizeof far / sizeof *far; k++) {
            int64_t i = (int64_t)j + far[k];
            if (i < 0 || i >= n || !has_entry(kind, n, (uint32_t)i, j))
                continue;
            a.row[at] = (uint32_t)i;
            a.value[at++] = i == j ? 4 + next(random) : -0.5 - 0.5 * next(random);
        }
        a.start[j + 1] = at;
    }
    return a;
}

static double *
entry(const Matrix *a, uint32_t row, uint32_t column)
{
    for (uint32_t e = a->start[column]; e < a->start[column + 1]; e++)
        if (a->row[e] == row)
            return &a->value[e];
    return NULL;
}

// Other values for the same pattern, which are those of `kind`.
static void
change(const Matrix *a, Kind kind, uint64_t *random)
{
    for (uint32_t e = 0; e < a->start[a->n]; e++)
        a->value[e] *= 0.9 + 0.2 * next(random);
    for (uint32_t k = 0; k < a->n && kind == TURNED; k += 997)
        *entry(a, k, k) = 0;
    // The first two unknowns have the rows (1 1) and (1 1), and are told apart by what they are coupled to.
    if (kind == HUNG)
        *entry(a, 0, 0) = *entry(a, 1, 0) = *entry(a, 0, 1) = *entry(a, 1, 1) = 1;
}

// The matrix times the numbers that are wanted.
static void
multiply(const Matrix *a, const double *x, double *b)
{
    memset(b, 0, a->n * sizeof *b);
    for (uint32_t j = 0; j < a->n; j++)
        for (uint32_t e = a->start[j]; e < a->start[j + 1]; e++)
            b[a->row[e]] += a->value[e] * x[j];
}

typedef struct Outcome {
    double wrong, ratio;
    double *solution; // of all rounds
} Outcome;

// Factors with new pivots, renewed ones, and those after everything was forgotten.
static bool
solve_rounds(Kind kind, Threads *threads, bool repeats, Outcome *out)
{
    uint64_t random = 88172645463325252u + kind;
    Matrix a = make(kind, &random);
    Lu *lu = lu_create(a.n, a.start, a.row);
    double *x = calloc(a.n, sizeof *x);
    bool good = lu && x && (out->solution = calloc((size_t)a.n * 2 * ROUNDS, sizeof *out->solution));
    if (good && repeats) {
        lu_repeats(lu);
        lu_share(lu, threads);
    }
    out->wrong = 0;
    for (int round = 0; round < 2 * ROUNDS && good; round++) {
        double *b = out->solution + (size_t)a.n * round;
        change(&a, kind, &random);
        if (round == ROUNDS)
            lu_forget(lu);
        good = lu_factor(lu, a.value, round % ROUNDS == 0);
        out->ratio = good ? lu_pivot_ratio(lu) : 0;
        for (int again = 0; again < 3 && good; again++) { // KLU's factors are taken over at the second
            for (uint32_t i = 0; i < a.n; i++)
                x[i] = next(&random) - 0.5;
            multiply(&a, x, b);
            lu_solve(lu, b);
            for (uint32_t i = 0; i < a.n; i++)
                out->wrong = fmax(out->wrong, fabs(b[i] - x[i]));
        }
    }
    if (lu)
        lu_free(&lu);
    free(a.start);
    free(a.row);
    free(a.value);
    free(x);
    return good;
}

// A column of zeros, at first and where there were factors, is found by any number of threads.
static bool
finds_singular(Threads *threads)
{
    uint64_t random = 362436069;
    Matrix a = make(GRID, &random);
    uint32_t column = 7 * SIDE + 9;
    Lu *lu = lu_create(a.n, a.start, a.row);
    bool good = lu != NULL;
    for (int first = 0; first < 2 && good; first++) {
        lu_repeats(lu);
        lu_share(lu, threads);
        lu_forget(lu);
        good = first || lu_factor(lu, a.value, true);
        double kept[MOST_ENTRIES];
        uint32_t from = a.start[column], size = a.start[column + 1] - from;
        memcpy(kept, a.value + from, size * sizeof *kept);
        memset(a.value + from, 0, size * sizeof *kept);
        good = good && !lu_factor(lu, a.value, false) && !lu_starved(lu) && !lu_is_factored(lu);
        memcpy(a.value + from, kept, size * sizeof *kept);
        good = good && lu_factor(lu, a.value, false);
    }
    if (lu)
        lu_free(&lu);
    free(a.start);
    free(a.row);
    free(a.value);
    return good;
}

int
main(void)
{
    Check state = {0};
    Threads *threads[THREADS + 1] = {0};
    for (unsigned t = 2; t <= THREADS; t++)
        threads[t] = threads_create(t);
    for (Kind kind = 0; kind < KINDS; kind++) {
        Outcome whole = {0}, alone = {0};
        bool good = solve_rounds(kind, NULL, false, &whole) && solve_rounds(kind, NULL, true, &alone);
        check(&state, good && alone.wrong < 1e-9 && alone.wrong < 100 * whole.wrong + 1e-13, names[kind], "wrong by %g, KLU by %g", alone.wrong, whole.wrong);
        check(&state, good && alone.ratio < 10 * whole.ratio && whole.ratio < 10 * alone.ratio, names[kind], "ratio of pivots %g, KLU's %g", alone.ratio, whole.ratio);
        uint32_t n = kind == JOINED ? 2 * SIDE * SIDE : SIDE * SIDE;
        for (unsigned t = 2; t <= THREADS && good; t++) {
            Outcome shared = {0};
            bool same = solve_rounds(kind, threads[t], true, &shared) && !memcmp(shared.solution, alone.solution, (size_t)n * 2 * ROUNDS * sizeof(double));
            check(&state, same, names[kind], "other bits with %u threads", t);
            free(shared.solution);
        }
        free(whole.solution);
        free(alone.solution);
    }
    for (unsigned t = 1; t <= THREADS; t++)
        check(&state, finds_singular(threads[t]), "a singular matrix", "with %u threads", t);
    for (unsigned t = 2; t <= THREADS; t++)
        threads_free(&threads[t]);
    return state.failures > 0;
}
