// Tests of ir/expr/nonsmooth.h: the algebra against random numbers, zeros included.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/expr/expr.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_text.h"
#include "ir/expr/nonsmooth.h"

enum { SLOTS = 12, ROUNDS = 400 };

typedef struct Test {
    Exprs *exprs;
    uint64_t nonneg; // one bit per slot
    uint64_t random;
    int failures;
} Test;

static bool
is_nonneg(uint32_t slot, void *context)
{
    const Test *test = context;
    return test->nonneg >> slot & 1;
}

static void
report(Test *test, const char *name, bool ok)
{
    printf("%s %s\n", ok ? "ok" : "FAIL", name);
    test->failures += !ok;
}

static Expr
read(Test *test, const char *text)
{
    uint32_t at;
    Expr e = expr_read(test->exprs, text, &at);
    if (!e) {
        printf("cannot read %s at %u\n", text, at);
        exit(1);
    }
    return e;
}

// Multiples of 1/4, so that zeros and corners are met often.
static double
number(Test *test, bool nonneg)
{
    test->random = test->random * 6364136223846793005u + 1442695040888963407u;
    int k = (int)(test->random >> 40) % 17 - 8;
    return nonneg ? 0.25 + 0.25 * abs(k) : 0.25 * k;
}

static void
numbers(Test *test, double *slots)
{
    for (uint32_t i = 0; i < SLOTS; i++)
        slots[i] = number(test, test->nonneg >> i & 1);
}

static bool
close_to(double a, double b)
{
    return fabs(a - b) <= 1e-9 * (1 + fabs(a) + fabs(b));
}

static void
show(Test *test, const char *label, Expr e)
{
    Out out = {0};
    expr_print(test->exprs, e, NULL, NULL, &out);
    printf("  %s %s\n", label, out.text);
    out_free(&out);
}

// The normal form's text is `want`.
static void
normal(Test *test, const char *name, const char *text, const char *want)
{
    Expr e = nonsmooth_normalise(test->exprs, read(test, text), &(Signs){is_nonneg, NULL, test, NULL});
    Expr again = nonsmooth_normalise(test->exprs, e, &(Signs){is_nonneg, NULL, test, NULL});
    report(test, name, e == read(test, want) && again == e);
    if (e != read(test, want) || again != e)
        show(test, "got", e);
}

// Normalising a single-valued expression keeps its values.
static void
same_values(Test *test, const char *name, const char *text)
{
    Expr before = read(test, text), after = nonsmooth_normalise(test->exprs, before, &(Signs){is_nonneg, NULL, test, NULL});
    bool ok = true;
    for (int i = 0; i < ROUNDS && ok; i++) {
        double slots[SLOTS];
        numbers(test, slots);
        ok = close_to(expr_eval(test->exprs, before, slots, 0), expr_eval(test->exprs, after, slots, 0));
    }
    report(test, name, ok);
    if (!ok)
        show(test, "got", after);
}

// Is 0 an element of the set e takes at these slots? Bands are the p_i of nonsmooth_split.
static bool
holds(Test *test, Expr e, double *slots)
{
    U32Vec x = {0}, a = {0};
    const char *reason;
    Expr split = nonsmooth_split(test->exprs, expr_residual(test->exprs, e), SLOTS, &x, &a, &reason);
    double low[SLOTS + 8] = {0}, high[SLOTS + 8] = {0};
    memcpy(low, slots, SLOTS * sizeof *slots);
    memcpy(high, slots, SLOTS * sizeof *slots);
    for (uint32_t i = 0; i < x.n && i < 8; i++) {
        double at = expr_eval(test->exprs, x.at[i], slots, 0), band = expr_eval(test->exprs, a.at[i], slots, 0);
        // The residual is affine in p with a coefficient of one sign: its ends are at the ends of the band.
        low[SLOTS + i] = at > 1e-9 ? band : -band;
        high[SLOTS + i] = at < -1e-9 ? -band : band;
    }
    double one = expr_eval(test->exprs, split, low, 0), other = expr_eval(test->exprs, split, high, 0);
    bool ok = fmin(one, other) <= 1e-8 && fmax(one, other) >= -1e-8;
    vec_free(&x);
    vec_free(&a);
    return ok;
}

static void
solves(Test *test, const char *name, const char *text, uint32_t u, const char *want)
{
    Expr e = read(test, text), found = nonsmooth_solve(test->exprs, e, u, &(Signs){is_nonneg, NULL, test, NULL});
    bool ok = found != 0 && !expr_uses_slot(test->exprs, found, u);
    for (int i = 0; i < ROUNDS && ok && !expr_has_op(test->exprs, found, OP_TAR); i++) {
        double slots[SLOTS];
        numbers(test, slots);
        slots[u] = expr_eval(test->exprs, found, slots, 0);
        ok = holds(test, e, slots);
    }
    if (want)
        ok &= found == read(test, want);
    report(test, name, ok);
    if (!ok && found)
        show(test, "got", found);
}

static void
refuses(Test *test, const char *name, const char *text, uint32_t u)
{
    Expr found = nonsmooth_solve(test->exprs, read(test, text), u, &(Signs){is_nonneg, NULL, test, NULL});
    report(test, name, !found);
    if (found)
        show(test, "got", found);
}

static bool
eliminates(Test *test, const char *name, const char *const *texts, uint32_t n, const uint32_t *unknowns, Expr *found)
{
    Expr equations[4] = {0};
    memset(found, 0, n * sizeof *found);
    for (uint32_t i = 0; i < n; i++)
        equations[i] = read(test, texts[i]);
    bool ok = nonsmooth_eliminate(test->exprs, equations, n, unknowns, found, &(Signs){is_nonneg, NULL, test, NULL});
    for (int round = 0; round < ROUNDS && ok; round++) {
        double slots[SLOTS];
        numbers(test, slots);
        for (uint32_t i = 0; i < n; i++)
            slots[unknowns[i]] = expr_eval(test->exprs, found[i], slots, 0);
        for (uint32_t i = 0; i < n; i++)
            ok &= holds(test, equations[i], slots);
    }
    report(test, name, ok);
    for (uint32_t i = 0; i < n && !ok; i++)
        if (found[i])
            show(test, "got", found[i]);
    return ok;
}

static void
test_normal_forms(Test *test)
{
    test->nonneg = 0xf0; // slots 4..7
    normal(test, "odd_luz", "luz(-#0, #4)", "-luz(#0, #4)");
    normal(test, "odd_luz_sum", "luz(-#0 + #1, #4)", "-luz(#0 - #1, #4)");
    normal(test, "nested_luz", "luz(luz(#0, #4), #5)", "luz(#0, #4 + #5)");
    normal(test, "scaled_luz_symbolic", "luz(#4*#0, #4*#5)", "#4*luz(#0, #5)");
    normal(test, "scaled_luz_unknown_sign", "luz(#1*#0, #1*#5)", "luz(#1*#0, #1*#5)");
    normal(test, "scaled_luz_literal", "luz(2*#0, #4)", "2*luz(#0, #4/2)");
    normal(test, "equal_thresholds", "#1*luz(#0, #4) + #2*luz(#0, #4)", "(#1 + #2)*luz(#0, #4)");
    normal(test, "unequal_thresholds", "#1*luz(#0, #4) + #2*luz(#0, #5)", "#1*luz(#0, #4) + #2*luz(#0, #5)");
    normal(test, "tar", "tar(#0, #4)", "#0 + #4*Sgn(#0)");
    normal(test, "tar_of_zero_band", "tar(#0, 0)", "#0");
    normal(test, "friction_band", "#4*tar(#0, #5/#4)", "#4*#0 + #5*Sgn(#0)");
    normal(test, "parallel_tar", "#4*tar(#0, #5/#4) + #6*tar(#0, #7/#6)", "#4*#0 + #6*#0 + (#5 + #7)*Sgn(#0)");
    normal(test, "nested_tar", "tar(tar(#0, #4), #5)", "#0 + (#4 + #5)*Sgn(#0)");
    normal(test, "luz_of_tar", "luz(tar(#0, #4), #4)", "#0");
    normal(test, "odd_sgn", "#4*Sgn(#1 - #0) + #5*Sgn(-#1 + #0)", "(#4 - #5)*Sgn(#1 - #0)");
    normal(test, "sgn_scale", "Sgn(3*#0/#4)", "Sgn(#0)");
    normal(test, "choice", "if #1 > 0 then #4*Sgn(#0) else #2", "(if #1 > 0 then 0 else #2) + (if #1 > 0 then #4 else 0)*Sgn(#0)");
    normal(test, "equation", "#1 = #4*tar(#0, #5/#4)", "#1 = #4*#0 + #5*Sgn(#0)");
    same_values(test, "values_luz", "#1*luz(luz(-2*#0 + #2, #4), 3*#5) - luz(#4*#0, #5*#4) + luz(#3, #6)*#2 + luz(#3, #6)");
    same_values(test, "values_quotient", "luz(#0/#4, #5/#4) + luz(-#1/#4, #6)");
}

static void
test_solving(Test *test)
{
    test->nonneg = 0xf0;
    // #0 unknown, #1 #2 displacements, #3 slot without sign
    solves(test, "r_loop", "#0 + #4*luz(#0, #5) = #1", 0, "#1 - #4/(1 + #4)*luz(#1, #5)");
    solves(test, "r_loop_tar", "#1 = #0 + #4*tar(#0, #5)", 0, NULL);
    solves(test, "r_inverse_one", "#4*luz(#0, #5) = #1", 0, "tar(#1/#4, #5)");
    solves(test, "r_inverse_negative", "-#4*luz(#0 - #2, #5) = #1", 0, NULL);
    solves(test, "r_series", "#1 - #2 = #0/#4 + tar(#0/#5, #7) + #0/#6", 0,
           "luz(#1 - #2, #7)/(1/#4 + 1/#5 + 1/#6)");
    solves(test, "stop_spring", "#4*#0 + (#6 - #4)*luz(#0, #5) = #1", 0,
           "#1/#4 - (#6 - #4)/(#6*#4)*luz(#1, #4*#5)");
    solves(test, "two_thresholds", "#4*#0 + #6*luz(#0, #5) + #4*luz(#0, #5 + #7) = #1", 0, NULL);
    solves(test, "friction_and_stop", "#4*#0 + #6*luz(#0, #5) + #7*Sgn(#0) = #1", 0, NULL);
    solves(test, "inside_a_sum", "#4*(#0 - #1) - #6*luz(#2 - #0, #5) = #3", 0, NULL);
    refuses(test, "thresholds_not_ordered", "#4*#0 + #6*luz(#0, #5) + #4*luz(#0, #7) = #1", 0);
    refuses(test, "slope_of_unknown_sign", "#0 + #3*luz(#0, #5) = #1", 0);
    refuses(test, "only_friction", "#7*Sgn(#0) = #1", 0);
    refuses(test, "negative_friction", "#4*#0 - #7*Sgn(#0) = #1", 0);
    refuses(test, "nonlinear", "#0^2 + luz(#0, #5) = #1", 0);
}

static void
test_chain(Test *test)
{
    Expr found[4] = {0};
    test->nonneg = 0xf0;
    // The chain (18), (19): #0 = z2, #1 = z3 massless, z1 = #2, z4 = #3, K12 = #4, K23 = #5, K34 = #6, c =
    // #7.
    const char *chain[] = {"#4*(#2 - #0) = #5*luz(#0 - #1, #7)", "#5*luz(#0 - #1, #7) = #6*(#1 - #3)"};
    uint32_t nodes[] = {0, 1};
    bool ok = eliminates(test, "massless_chain", chain, 2, nodes, found);
    for (int i = 0; i < ROUNDS && ok; i++) { // the force is (33): K14*luz(z1 - z4, c) with (32)
        double s[SLOTS];
        numbers(test, s);
        double k14 = 1 / (1 / s[4] + 1 / s[5] + 1 / s[6]), x = s[2] - s[3], c = s[7];
        double force = k14 * (x > c ? x - c : x < -c ? x + c : 0);
        ok = close_to(force, s[4] * (s[2] - expr_eval(test->exprs, found[0], s, 0)));
    }
    report(test, "massless_chain_force", ok);
    const char *by_force[] = {"#2 - #0 = #8/#4", "#0 - #1 = tar(#8/#5, #7)", "#1 - #3 = #8/#6"};
    uint32_t with_force[] = {0, 1, 8};
    eliminates(test, "series_by_force", by_force, 3, with_force, found);
    const char *damper[] = {"#4*(#2 - #0) = #5*(#0 - #1) + #7*Sgn(#0 - #1)", "#5*(#0 - #1) + #7*Sgn(#0 - #1) = #6*(#1 - #3)"};
    eliminates(test, "massless_friction", damper, 2, nodes, found);
    const char *floating[] = {"#4*luz(#2 - #0, #7) = #5*luz(#0 - #1, #7)", "#5*luz(#0 - #1, #7) = #6*(#1 - #3)"};
    Expr equations[] = {read(test, floating[0]), read(test, floating[1])};
    report(test, "floating_node_refused",
           !nonsmooth_eliminate(test->exprs, equations, 2, nodes, found, &(Signs){is_nonneg, NULL, test, NULL}));
}

static void
split_refused(Test *test, const char *name, const char *text)
{
    U32Vec x = {0}, a = {0};
    const char *reason = NULL;
    Expr e = nonsmooth_split(test->exprs, read(test, text), SLOTS, &x, &a, &reason);
    report(test, name, !e && reason);
    vec_free(&x);
    vec_free(&a);
}

static void
test_split(Test *test)
{
    U32Vec x = {0}, a = {0};
    const char *reason;
    Expr e = nonsmooth_split(test->exprs, read(test, "#0 = tar(#1, #4) - #5*Sgn(#2) + #4*Sgn(#1)/#6"), SLOTS, &x, &a,
                             &reason);
    bool ok = e && x.n == 2 && x.at[0] == read(test, "#1") && x.at[1] == read(test, "#2") && a.at[1] == read(test, "#5")
              && e == read(test, "#0 = #1 + #12 - #13");
    report(test, "split", ok);
    if (!ok && e)
        show(test, "got", e);
    vec_free(&x);
    vec_free(&a);
    split_refused(test, "split_sine", "sin(Sgn(#0))");
    split_refused(test, "split_square", "#1 = Sgn(#0)^2");
    split_refused(test, "split_product", "Sgn(#1)*Sgn(#0)");
    split_refused(test, "split_relation", "if tar(#0, #1) > 0 then 1 else 2");
    split_refused(test, "split_nested", "Sgn(#1 + Sgn(#0))");
    split_refused(test, "split_divisor", "1/Sgn(#0)");
}

int
main(void)
{
    Test test = {.exprs = exprs_create(), .random = 42};
    test_normal_forms(&test);
    test_solving(&test);
    test_chain(&test);
    test_split(&test);
    exprs_free(&test.exprs);
    return test.failures != 0;
}
