// markowitz.c and standing.c: orders are permutations, of trees without any fill; factors in an order that stands solve matrices whose values
// drift, and refuse one whose pivots have vanished.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/markowitz.h"
#include "runtime/linear/standing.h"
#include "tests/runtime/check.h"

enum { N = 60 };

typedef struct Sparse {
    uint32_t start[N + 1], row[N * N];
    double value[N * N];
    double dense[N][N]; // by rows
} Sparse;

static double
random_number(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return (*seed >> 8) / 8388608.0 - 1;
}

static void
compress(Sparse *a)
{
    uint32_t n = 0;
    for (uint32_t j = 0; j < N; j++) {
        a->start[j] = n;
        for (uint32_t i = 0; i < N; i++)
            if (a->dense[i][j] != 0) {
                a->row[n] = i;
                a->value[n++] = a->dense[i][j];
            }
    }
    a->start[N] = n;
}

// A cyclic shift of a tree: every node hands on to its parent, and the pattern is as far from symmetric as it can be.
static void
make_tree(Sparse *a, uint32_t *seed)
{
    memset(a, 0, sizeof *a);
    for (uint32_t i = 0; i < N; i++) {
        uint32_t parent = i / 2, shifted = (i + 7) % N;
        a->dense[i][shifted] = 2 + random_number(seed);
        a->dense[i][(parent + 7) % N] += random_number(seed) / 2;
        a->dense[parent][shifted] += random_number(seed) / 2;
    }
    compress(a);
}

static void
make_random(Sparse *a, uint32_t *seed, double filled)
{
    memset(a, 0, sizeof *a);
    for (uint32_t i = 0; i < N; i++) {
        for (uint32_t j = 0; j < N; j++)
            if (fabs(random_number(seed)) < filled)
                a->dense[i][j] = random_number(seed);
        a->dense[i][(7 * i + 12) % N] += i % 3 ? 1.5 : -2; // two permutations: regular without the first entries of a column
        a->dense[i][(i + 5) % N] += 3;
    }
    compress(a);
}

static bool
is_permutation(const int32_t *place)
{
    bool seen[N] = {false};
    for (uint32_t k = 0; k < N; k++) {
        if (place[k] < 0 || place[k] >= N || seen[place[k]])
            return false;
        seen[place[k]] = true;
    }
    return true;
}

// Products that the elimination of a matrix in this order subtracts, of the pattern alone; *entries of the factors.
static uint64_t
count_products(const Sparse *a, const int32_t *row_at, const int32_t *column_at, uint32_t *entries)
{
    static bool has[N][N];
    uint64_t count = 0;
    *entries = 0;
    for (uint32_t k = 0; k < N; k++)
        for (uint32_t l = 0; l < N; l++)
            has[k][l] = a->dense[row_at[k]][column_at[l]] != 0;
    for (uint32_t k = 0; k < N; k++)
        for (uint32_t i = k + 1; i < N; i++)
            for (uint32_t j = k + 1; has[i][k] && j < N; j++) {
                has[i][j] |= has[k][j];
                count += has[k][j];
            }
    for (uint32_t k = 0; k < N; k++)
        for (uint32_t l = 0; l < N; l++)
            *entries += has[k][l];
    return count;
}

static double
error_of(const Sparse *a, Standing *standing)
{
    double x[N], b[N] = {0}, most = 0;
    for (uint32_t k = 0; k < N; k++)
        x[k] = 1 + 0.1 * k;
    for (uint32_t i = 0; i < N; i++)
        for (uint32_t j = 0; j < N; j++)
            b[i] += a->dense[i][j] * x[j];
    standing_solve(standing, b);
    for (uint32_t k = 0; k < N; k++)
        most = fmax(most, fabs(b[k] - x[k]));
    return most;
}

static void
check_orders(Check *state)
{
    uint32_t seed = 1, entries = 0;
    static Sparse a;
    int32_t row_at[N], column_at[N];
    make_tree(&a, &seed);
    bool good = markowitz_order(N, a.start, a.row, a.value, N * N, row_at, column_at) && is_permutation(row_at) && is_permutation(column_at);
    uint64_t products = good ? count_products(&a, row_at, column_at, &entries) : 0;
    check(state, good && entries == a.start[N], "tree", "%u entries of the factors, %u of the matrix", entries, a.start[N]);
    Standing *standing = standing_create(N, a.start, a.row, a.value);
    check(state, standing && standing_operations(standing) == products, "products", "%llu instead of %llu",
          (unsigned long long)(standing ? standing_operations(standing) : 0), (unsigned long long)products);
    standing_free(&standing);
    for (int k = 0; k < 20 && good; k++) {
        make_random(&a, &seed, 0.02 + 0.01 * k);
        good = markowitz_order(N, a.start, a.row, a.value, N * N, row_at, column_at) && is_permutation(row_at) && is_permutation(column_at);
    }
    check(state, good, "permutations", "an order is none");
    check(state, !markowitz_order(N, a.start, a.row, a.value, a.start[N], row_at, column_at), "bound", "more entries than were allowed");
    for (uint32_t k = a.start[4]; k < a.start[5]; k++)
        a.value[k] = 0;
    standing = standing_create(N, a.start, a.row, a.value);
    check(state, !standing, "singular", "a column of zeros has no pivot");
    standing_free(&standing);
}

// Values drift by an eighth a time.
static void
check_solutions(Check *state)
{
    uint32_t seed = 5;
    static Sparse a;
    double most = 0;
    bool good = true, refused = true;
    for (int matrix = 0; matrix < 8 && good; matrix++) {
        make_random(&a, &seed, 0.03);
        Standing *standing = standing_create(N, a.start, a.row, a.value);
        good = standing != NULL;
        for (int k = 0; k < 20 && good; k++) {
            for (uint32_t j = 0; j < N; j++)
                for (uint32_t e = a.start[j]; e < a.start[j + 1]; e++) {
                    a.value[e] *= 1 + random_number(&seed) / 8;
                    a.dense[a.row[e]][j] = a.value[e];
                }
            good = standing_factor(standing, a.value);
            most = good ? fmax(most, error_of(&a, standing)) : INFINITY;
        }
        for (uint32_t e = a.start[9]; e < a.start[10]; e++)
            a.value[e] *= 1e-9;
        refused = good && !standing_factor(standing, a.value) && refused;
        standing_free(&standing);
    }
    check(state, good && most < 1e-9, "drifting values", "an error of %g", most);
    check(state, refused, "vanished pivots", "factors whose pivot has become 10^9 times smaller were accepted");
}

int
main(void)
{
    Check state = {0};
    check_orders(&state);
    check_solutions(&state);
    return state.failures != 0;
}
