// Tests of ir/expr/expr.h: simplification, text, derivatives against difference quotients, solving, long and
// deep ones.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/expr/expr.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/expr_text.h"

enum { SLOTS = 6 };

typedef struct Test {
    Exprs *exprs;
    uint64_t random;
    int failures;
} Test;

static void
report(Test *test, const char *name, const char *what, bool ok)
{
    printf("%s %s %s\n", ok ? "ok" : "FAIL", name, what);
    test->failures += !ok;
}

static Expr
read(Test *test, const char *text)
{
    uint32_t at;
    Expr e = expr_read(test->exprs, text, &at);
    if (!e) {
        printf("FAIL cannot read %s at %u\n", text, at);
        exit(1);
    }
    return e;
}

static double
number(Test *test)
{
    test->random = test->random * 6364136223846793005u + 1442695040888963407u;
    return 0.2 + (double)(test->random >> 40) / (1 << 24) * 1.5;
}

// `text` is printed as `want`, and what is printed reads back as the same expression.
static void
prints(Test *test, const char *text, const char *want)
{
    Out out = {0};
    uint32_t at;
    Expr e = read(test, text);
    expr_print(test->exprs, e, NULL, NULL, &out);
    bool ok = !strcmp(out.text, want) && expr_read(test->exprs, out.text, &at) == e;
    report(test, "prints", text, ok);
    if (!ok)
        printf("  got %s\n", out.text);
    out_free(&out);
}

static void
test_simplify(Test *test)
{
    prints(test, "#0 + #0", "2*#0");
    prints(test, "#1*#0 - #1*#0", "0");
    prints(test, "3*(#0 + #1) - 2*(#0 + #1)", "#0 + #1");
    prints(test, "#0*#0*#0", "#0^3");
    prints(test, "(-#0)^3", "-#0^3");
    prints(test, "#0 - (#1 + #2) - 1", "#0 - #1 - #2 - 1");
    prints(test, "-(#0 - #1)", "-#0 + #1");
    prints(test, "#0/3", "#0/3");
    prints(test, "6*#0/3", "2*#0");
    prints(test, "#0/2*#1 + #0/2*#1", "#0*#1"); // also where terms are collected
    prints(test, "#0/2*#1 + #0/2*#1 - #0*#1", "0");
    prints(test, "4/8", "0.5");
    prints(test, "1/0", "1/0");
    prints(test, "0*#0", "0");
    prints(test, "#0 + 0", "#0");
    prints(test, "#0^1*#1^0", "#0");
    prints(test, "-#0/(-#1)", "#0/#1");
    prints(test, "#0/(#1/#2)", "#0*#2/#1");
    prints(test, "if 1 < 2 then #0 else #1", "#0");
    prints(test, "if not #0 > 1 then #1 else #2", "if #0 > 1 then #2 else #1");
    prints(test, "not (not #0 > 1)", "#0 > 1");
    prints(test, "#0 > 1 and 1 > 0", "#0 > 1");
}

static void
test_text(Test *test)
{
    prints(test, "(#0 + #1)*(#2 - #3)", "(#0 + #1)*(#2 - #3)");
    prints(test, "#0*(#1/#2)/#3*#4", "#0*(#1/#2)/#3*#4");
    prints(test, "(#0^2)^#1", "(#0^2)^#1");
    prints(test, "(-#0)^#1", "(-#0)^#1");
    prints(test, "#0^(-2)", "#0^(-2)");
    prints(test, "#0 < -2 or #1 >= 1 and not (#2 == 1 or #3 <> 2)", "#0 < -2 or #1 >= 1 and not (#2 == 1 or #3 <> 2)");
    prints(test, "2*(if #0 > 0 then #1 else -#1) = #2", "2*(if #0 > 0 then #1 else -#1) = #2");
    prints(test, "atan2(#0, -#1) + min(#0, max(#1, 2)) + time", "atan2(#0, -#1) + min(#0, max(#1, 2)) + time");
    prints(test, "0.1*#0 + 1e-9 - 40000*#1", "1e-09 + 0.1*#0 - 40000*#1");
    prints(test, "sample(0, 0.5) and initial()", "sample(0, 0.5) and initial()");
    const char *bad[] = {"", "#", "#0 +", "(#0", "sin(#0, #1)", "x", "#0 #1", "if #0 then #1", "1 = 2 = 3", "#0*-#1", "#99999999999"};
    for (uint32_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint32_t at;
        report(test, "refuses", bad[i], !expr_read(test->exprs, bad[i], &at));
    }
    char deep[4001];
    memset(deep, '(', 4000);
    deep[4000] = 0;
    uint32_t at;
    report(test, "refuses", "4000 parentheses", !expr_read(test->exprs, deep, &at));
}

static void
differentiates(Test *test, const char *text)
{
    Expr e = read(test, text);
    bool ok = true;
    for (int round = 0; round < 50 && ok; round++) {
        double slots[SLOTS], step = 1e-6;
        for (uint32_t i = 0; i < SLOTS; i++)
            slots[i] = number(test);
        for (uint32_t k = 0; k < 3 && ok; k++) {
            Expr derivative = expr_diff(test->exprs, e, k);
            double was = slots[k], exact = derivative ? expr_eval(test->exprs, derivative, slots, 0.3) : NAN;
            slots[k] = was + step;
            double above = expr_eval(test->exprs, e, slots, 0.3);
            slots[k] = was - step;
            double below = expr_eval(test->exprs, e, slots, 0.3);
            slots[k] = was;
            ok = fabs((above - below) / (2 * step) - exact) < 1e-5 * (1 + fabs(exact));
        }
    }
    report(test, "differentiates", text, ok);
}

// Every function of op.def, whoever adds one.
static void
test_functions(Test *test)
{
    for (Op op = 0; op < OP_COUNT; op++) {
        char text[64];
        snprintf(text, sizeof text, op_table[op].arity == 2 ? "%s(#0/4, #1/4)" : "%s(#0/4)", op_table[op].text);
        if (op_table[op].kind == OPKIND_MATH)
            differentiates(test, text);
    }
}

static void
test_diff(Test *test)
{
    static const char *const texts[] = {
        "#0*#1*#2 - #0/#1/(#2 + 1)", "#0^3 + #1^#2 + #2^2.5 + #0^(-2)", "sin(#0*#1) + cos(#1) + tan(#2/3)",
        "asin(#0/4) + acos(#1/4) + atan(#2)", "sinh(#0) + cosh(#1) + tanh(#2)", "exp(-#0) + log(#1) + log10(#2) + sqrt(#0)",
        "atan2(#0, #1*#2)", "abs(#0 - 9) + min(#0, 20 + #1) + max(#2, 30*#1)", "luz(3*#0 + 4, #1) + luz(-4 - #0, #2)",
        "luz(#0/9, 1 + #1)", "if #0 > 5 then #1^2 else #1*#2", "noEvent(#0*#1) + smooth(1, #2^2)",
        "sign(#0)*#1 + floor(#0/9) + homotopy(#2^2, #2)"};
    for (uint32_t i = 0; i < sizeof texts / sizeof *texts; i++)
        differentiates(test, texts[i]);
    test_functions(test);
    Expr rate[] = {read(test, "#1"), 0};
    Expr total = expr_rate(test->exprs, read(test, "#0^2*#2 + time^2"), rate, 2);
    report(test, "rate", "#0^2*#2 + time^2", total == read(test, "2*#0*#1*#2 + 2*time"));
    report(test, "rate", "of an equation", !expr_rate(test->exprs, read(test, "#0 = 1"), rate, 2));
}

// `want` NULL: no solution. divisor NULL: none.
static void
solves(Test *test, const char *text, const char *want, const char *divisor)
{
    Expr found_divisor, found = expr_solve(test->exprs, read(test, text), 0, &found_divisor);
    bool ok = found == (want ? read(test, want) : 0) && found_divisor == (divisor ? read(test, divisor) : 0);
    report(test, "solves", text, ok);
    if (ok)
        return;
    Out out = {0};
    expr_print(test->exprs, found, NULL, NULL, &out);
    out_text(&out, " by ");
    expr_print(test->exprs, found_divisor, NULL, NULL, &out);
    printf("  got %s\n", out.text);
    out_free(&out);
}

static void
test_solve(Test *test)
{
    solves(test, "#0 = #1 + #2", "#1 + #2", NULL);
    solves(test, "#1 = #2*(#0 - #3)", "#1/#2 + #3", "#2");
    solves(test, "#0/3 = #1", "3*#1", NULL);
    solves(test, "2*#0 = #1", "#1/2", NULL);
    solves(test, "#1*#0 + #2*#0 = #3", "#3/(#1 + #2)", "#1 + #2");
    solves(test, "#0^3 = #1", NULL, NULL);
    solves(test, "sin(#0) = #1", NULL, NULL);
    solves(test, "#0*#0 = #1", NULL, NULL);
    solves(test, "#1 = #2", NULL, NULL);
    solves(test, "#1/#0 = #2", "#1/#2", "#2");
    solves(test, "if #1 == 0 then #2 else #0 - #1*#3 = 0", NULL, NULL);
    solves(test, "if #1 == 0 then #0 - #2 else 2*#0 - #3 = 0", "if #1 == 0 then #2 else #3/2", NULL);
    solves(test, "(if #1 > 0 then 0 else #2)*#0 = #3", NULL, NULL);
    solves(test, "sign(#1)*#0 = #2", NULL, NULL);
    solves(test, "if #0 > 1 then #0 else 2*#0 = 3", NULL, NULL);
    solves(test, "#0 - #0 + #1 = 2", NULL, NULL);
    Expr coefficient, rest;
    bool ok = expr_affine(test->exprs, read(test, "if #1 == 0 then 2*#0 + 1 else #2"), 0, &coefficient, &rest);
    report(test, "affine", "of a choice", ok && coefficient == read(test, "if #1 == 0 then 2 else 0")
                                              && rest == read(test, "if #1 == 0 then 1 else #2"));
}

static void
test_shapes(Test *test)
{
    U32Vec order = {0};
    Expr shape = expr_shape(test->exprs, read(test, "#5*(#2 - #5) + #3"), &order);
    report(test, "shape", "numbers", shape == read(test, "#0*(#1 - #0) + #2") && order.n == 3 && order.at[0] == 5
                                         && order.at[1] == 2 && order.at[2] == 3);
    report(test, "shape", "again", expr_shape(test->exprs, shape, &order) == shape && order.n == 3 && order.at[1] == 1);
    Expr with[] = {read(test, "#3"), read(test, "#3")};
    report(test, "substitute", "collects", expr_substitute(test->exprs, read(test, "#0 - #1 + #2"), with, 2) == read(test, "#2"));
    vec_free(&order);
}

// Sums of 20,000 terms and chains 50,000 deep: nothing is quadratic, nothing recurses.
static void
test_size(Test *test)
{
    enum { WIDE = 20000, DEEP = 50000 };
    Exprs *exprs = test->exprs;
    U32Vec terms = {0}, order = {0};
    for (uint32_t i = 0; i < WIDE; i++)
        vec_push(&terms, expr_2(exprs, OP_MUL, expr_const(exprs, 1 + i % 3), expr_slot(exprs, WIDE - 1 - i / 2)));
    Expr sum = expr_make(exprs, OP_ADD, terms.at, terms.n);
    report(test, "size", "sum", expr_nargs(exprs, sum) == WIDE / 2 && expr_uses_slot(exprs, sum, WIDE / 2)
                                    && !expr_uses_slot(exprs, sum, 3));
    Expr deep = expr_slot(exprs, 0);
    for (uint32_t i = 0; i < DEEP; i++)
        deep = expr_1(exprs, i % 2 ? OP_SIN : OP_ATAN, expr_2(exprs, OP_MUL, deep, expr_slot(exprs, 1)));
    double slots[2] = {0.5, 0.9};
    Expr rate = expr_diff(exprs, deep, 0);
    Out out = {0};
    expr_print(exprs, deep, NULL, NULL, &out);
    report(test, "size", "deep", isfinite(expr_eval(exprs, deep, slots, 0)) && rate && expr_shape(exprs, deep, &order)
                                     && out.length > DEEP && expr_operations(exprs, deep) == 2 * DEEP);
    out_free(&out);
    vec_free(&terms);
    vec_free(&order);
}

// Random expressions: what the constructors make has the value of what they were asked to make, prints
// and reads back, and its solutions solve it.
typedef struct Sample {
    Expr e;
    double value;
} Sample;

static uint32_t
below(Test *test, uint32_t n)
{
    return (uint32_t)(number(test) * 1e6) % n;
}

static Sample
combine(Test *test, const Sample *pool, uint32_t n)
{
    static const Op ops[] = {OP_ADD, OP_ADD, OP_MUL, OP_MUL, OP_NEG, OP_DIV, OP_POW, OP_IF, OP_LT, OP_AND, OP_NOT,
                             OP_ABS, OP_MIN, OP_MAX, OP_SIGN, OP_SIN, OP_LUZ, OP_ADD, OP_DIV, OP_NEG};
    Op op = ops[below(test, sizeof ops / sizeof *ops)];
    Sample args[3] = {pool[below(test, n)], pool[below(test, n)], pool[below(test, n)]};
    uint32_t count = op_table[op].arity < 0 ? 2 + below(test, 2) : (uint32_t)op_table[op].arity;
    for (uint32_t i = 0; i < 3 && (op == OP_AND || op == OP_NOT || op == OP_IF); i++) // conditions
        if (i == 0 || op == OP_AND)
            args[i] = (Sample){expr_2(test->exprs, OP_GT, args[i].e, expr_const(test->exprs, 0)), args[i].value > 0};
    if (op == OP_POW)
        args[1] = (Sample){expr_const(test->exprs, 2 + below(test, 2)), 0};
    if (op == OP_POW)
        args[1].value = expr_value(test->exprs, args[1].e);
    if (op == OP_LUZ)
        args[1] = (Sample){expr_const(test->exprs, 0.5), 0.5};
    Expr e[3] = {args[0].e, args[1].e, args[2].e};
    double a = args[0].value, b = args[1].value, c = args[2].value, value = 0;
    switch (op) {
    case OP_ADD: value = count == 3 ? a + b + c : a + b; break;
    case OP_MUL: value = count == 3 ? a * b * c : a * b; break;
    case OP_NEG: value = -a; break;
    case OP_DIV: value = a / b; break;
    case OP_POW: value = pow(a, b); break;
    case OP_IF: value = a != 0 ? b : c; break;
    case OP_LT: value = a < b; break;
    case OP_AND: value = a != 0 && b != 0 && (count == 2 || c != 0); break;
    case OP_NOT: value = a == 0; break;
    case OP_ABS: value = fabs(a); break;
    case OP_MIN: value = fmin(a, b); break;
    case OP_MAX: value = fmax(a, b); break;
    case OP_SIGN: value = (a > 0) - (a < 0); break;
    case OP_SIN: value = sin(a); break;
    default: value = a > 0.5 ? a - 0.5 : a < -0.5 ? a + 0.5 : 0; break;
    }
    return (Sample){expr_make(test->exprs, op, e, count), value};
}

static bool
near(double a, double b)
{
    return fabs(a - b) <= 1e-6 * (1 + fabs(a) + fabs(b));
}

static bool
sound(Test *test, Sample sample, const double *slots)
{
    Expr solution = expr_solve(test->exprs, expr_2(test->exprs, OP_EQN, sample.e, expr_slot(test->exprs, 5)), 0, NULL);
    Out out = {0};
    uint32_t at;
    expr_print(test->exprs, sample.e, NULL, NULL, &out);
    bool ok = near(expr_eval(test->exprs, sample.e, slots, 0), sample.value)
              && (out.length > 2000 || expr_read(test->exprs, out.text, &at) == sample.e);
    double there[SLOTS];
    memcpy(there, slots, sizeof there);
    if (solution && ok) {
        there[0] = expr_eval(test->exprs, solution, there, 0);
        double value = expr_eval(test->exprs, sample.e, there, 0);
        ok = !isfinite(value) || fabs(there[0]) > 1e6 || fabs(value - slots[5]) < 1e-5 * (1 + fabs(slots[5]));
    }
    if (!ok)
        printf("  at %s: %g, not %g\n", out.text, expr_eval(test->exprs, sample.e, slots, 0), sample.value);
    out_free(&out);
    return ok;
}

static void
test_random(Test *test)
{
    enum { POOL = 40, ROUNDS = 300 };
    bool ok = true;
    for (int round = 0; round < ROUNDS && ok; round++) {
        Sample pool[POOL];
        double slots[SLOTS];
        for (uint32_t i = 0; i < SLOTS; i++) {
            slots[i] = number(test) - 0.9;
            pool[i] = (Sample){expr_slot(test->exprs, i), slots[i]};
        }
        for (uint32_t i = SLOTS; i < SLOTS + 4; i++)
            pool[i] = (Sample){expr_const(test->exprs, (double)i - 8), (double)i - 8};
        for (uint32_t i = SLOTS + 4; i < POOL && ok; i++) {
            pool[i] = combine(test, pool, i);
            if (!isfinite(pool[i].value) || fabs(pool[i].value) > 1e3)
                pool[i] = pool[0];
            else
                ok = sound(test, pool[i], slots);
        }
    }
    report(test, "random", "expressions", ok);
}

// A tape gives what each expression gives alone, bit for bit, whatever is made behind it.
static void
test_tape(Test *test)
{
    Exprs *exprs = test->exprs;
    Expr x = expr_slot(exprs, 0), y = expr_slot(exprs, 1), sum = expr_2(exprs, OP_ADD, x, y);
    Expr roots[] = {sum, expr_2(exprs, OP_MUL, sum, expr_1(exprs, OP_SIN, sum)), expr_const(exprs, 3), y,
                    expr_2(exprs, OP_POW, x, y), expr_2(exprs, OP_POW, sum, expr_const(exprs, 3)),
                    expr_2(exprs, OP_DIV, expr_time(exprs), sum), expr_2(exprs, OP_LUZ, x, y), sum};
    enum { ROOTS = sizeof roots/sizeof *roots };
    ExprTape *tape = expr_tape_make(exprs, roots, ROOTS);
    bool same = true;
    for (int point = 0; point < 5; point++) {
        double slots[] = {0.3 + point, 1.7 - 0.2*point}, values[ROOTS];
        expr_tape_eval(tape, slots, 0.25*point, values);
        for (size_t i = 0; i < ROOTS; i++)
            same &= values[i] == expr_eval(exprs, roots[i], slots, 0.25*point);
        expr_2(exprs, OP_MUL, roots[1], expr_const(exprs, point + 0.5));
    }
    report(test, "tape", "values", same);
    expr_tape_free(tape);
}

int
main(void)
{
    Test test = {.exprs = exprs_create(), .random = 7};
    test_simplify(&test);
    test_text(&test);
    test_diff(&test);
    test_solve(&test);
    test_shapes(&test);
    test_random(&test);
    test_size(&test);
    test_tape(&test);
    exprs_free(&test.exprs);
    return test.failures != 0;
}
