// Tests of what ir/expr/expr.h does for many expressions at once, on random ones: gradients in reverse against derivatives one by
// one, time derivatives together against apart, and common parts against the values of what they were taken from.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "ir/expr/expr.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

enum { SLOTS = 6, ROOTS = 4, DEFINED = 4000 };

typedef struct Test {
    Exprs *exprs;
    uint64_t random;
    int failures;
} Test;

static uint32_t
below(Test *test, uint32_t n)
{
    test->random = test->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(test->random >> 33) % n;
}

static void
report(Test *test, const char *what, uint32_t size, bool ok)
{
    printf("%s %s, %u parts\n", ok ? "ok" : "FAIL", what, size);
    test->failures += !ok;
}

// A new part over earlier ones; sums may be long, so that both ways of counting pairs are used.
static Expr
part(Test *test, const Expr *earlier, uint32_t n)
{
    static const Op unary[] = {OP_SIN, OP_COS, OP_NEG, OP_TANH};
    Expr args[60];
    Expr a = earlier[below(test, n)], b = earlier[below(test, n)];
    uint32_t kind = below(test, 8), count = 2 + below(test, kind == 0 ? 58 : 4);
    for (uint32_t i = 0; i < count; i++)
        args[i] = earlier[below(test, n)];
    if (kind < 3)
        return expr_make(test->exprs, OP_ADD, args, count);
    if (kind < 5)
        return expr_make(test->exprs, OP_MUL, (Expr[]){expr_1(test->exprs, OP_SIN, a), b, args[0]}, 3);
    if (kind == 5)
        return expr_2(test->exprs, OP_DIV, a, expr_2(test->exprs, OP_ADD, expr_const(test->exprs, 3), expr_1(test->exprs, OP_COS, b)));
    if (kind == 6)
        return expr_2(test->exprs, OP_POW, expr_1(test->exprs, OP_TANH, a), expr_const(test->exprs, 2));
    return expr_1(test->exprs, unary[below(test, 4)], a);
}

static void
random_roots(Test *test, uint32_t size, Expr *roots)
{
    Expr *parts = calloc(SLOTS + size, sizeof *parts);
    for (uint32_t k = 0; k < SLOTS; k++)
        parts[k] = expr_slot(test->exprs, k);
    for (uint32_t i = 0; i < size; i++)
        parts[SLOTS + i] = part(test, parts, SLOTS + i);
    for (uint32_t r = 0; r < ROOTS; r++)
        roots[r] = parts[SLOTS + size - 1 - r];
    free(parts);
}

static bool
close_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b)) || (isnan(a) && isnan(b));
}

static void
test_gradient(Test *test, const Expr *roots, const double *at, uint32_t size)
{
    const uint8_t want[SLOTS] = {1, 1, 0, 1, 1, 1};
    Expr seeds[ROOTS], out[SLOTS];
    bool ok;
    for (uint32_t r = 0; r < ROOTS; r++)
        seeds[r] = expr_slot(test->exprs, r);
    ok = expr_gradient(test->exprs, roots, seeds, ROOTS, want, SLOTS, out);
    for (uint32_t k = 0; k < SLOTS && ok; k++) {
        double sum = 0;
        for (uint32_t r = 0; r < ROOTS && want[k]; r++)
            sum += at[r] * expr_eval(test->exprs, expr_diff(test->exprs, roots[r], k), at, 0);
        ok = close_to(sum, expr_eval(test->exprs, out[k], at, 0));
    }
    report(test, "gradient", size, ok);
}

static void
test_rates(Test *test, const Expr *roots, uint32_t size)
{
    Expr rate[SLOTS], out[ROOTS];
    for (uint32_t k = 0; k < SLOTS; k++)
        rate[k] = expr_slot(test->exprs, (k + 1) % SLOTS);
    bool ok = expr_rates(test->exprs, roots, ROOTS, rate, SLOTS, out);
    for (uint32_t r = 0; r < ROOTS && ok; r++)
        ok = out[r] == expr_rate(test->exprs, roots[r], rate, SLOTS);
    report(test, "rates", size, ok);
}

// Operations of an expression as written: its parts are shared nowhere else.
static uint64_t
written(Test *test, const U32Vec *definitions, const Expr *roots)
{
    uint64_t sum = expr_written_operations(test->exprs, roots, ROOTS);
    for (uint32_t i = 0; i < definitions->n; i++)
        sum += expr_written_operations(test->exprs, &definitions->at[i], 1);
    return sum;
}

static void
test_share(Test *test, const Expr *roots, const double *at, uint32_t size)
{
    Expr shared[ROOTS], counted[ROOTS];
    double values[SLOTS + DEFINED];
    U32Vec definitions = {0};
    for (uint32_t r = 0; r < ROOTS; r++)
        shared[r] = counted[r] = roots[r];
    uint32_t operations = expr_share(test->exprs, shared, ROOTS, SLOTS, &definitions);
    bool ok = definitions.n <= DEFINED && operations == expr_share(test->exprs, counted, ROOTS, SLOTS, NULL)
              && operations <= expr_written_operations(test->exprs, roots, ROOTS);
    for (uint32_t k = 0; k < SLOTS; k++)
        values[k] = at[k];
    for (uint32_t i = 0; i < definitions.n && ok; i++) {
        ok = expr_nslots(test->exprs, definitions.at[i]) <= SLOTS + i; // over earlier ones
        values[SLOTS + i] = expr_eval(test->exprs, definitions.at[i], values, 0);
    }
    for (uint32_t r = 0; r < ROOTS && ok; r++)
        ok = close_to(expr_eval(test->exprs, roots[r], at, 0), expr_eval(test->exprs, shared[r], values, 0));
    report(test, "shared parts have the same values", size, ok);
    // Signs may be written more often than they are counted.
    report(test, "shared parts are written once", size, written(test, &definitions, shared) <= operations + operations / 5 + 4);
    vec_free(&definitions);
}

int
main(void)
{
    Test test = {.exprs = exprs_create(), .random = 7};
    static const uint32_t sizes[] = {5, 10, 20, 40, 80, 160, 320};
    for (uint32_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        Expr roots[ROOTS];
        double at[SLOTS];
        for (uint32_t k = 0; k < SLOTS; k++)
            at[k] = 0.2 + below(&test, 1000) / 700.0;
        random_roots(&test, sizes[i], roots);
        test_gradient(&test, roots, at, sizes[i]);
        test_rates(&test, roots, sizes[i]);
        test_share(&test, roots, at, sizes[i]);
    }
    exprs_free(&test.exprs);
    return test.failures != 0;
}
