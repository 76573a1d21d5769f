// quadrature.c: integrals by Gauss-Legendre rules.
//
// Purpose: integrands without a closed form (integrate.c). Method: an integral of numbers takes as many points as two
// rules of n and 2n points need to agree. Otherwise the value is the rule of GAUSS_POINTS points written out, and the
// condition under which it is valid compares it with the rule of GAUSS_CHECK points and holds denominators to one
// sign: it is checked while the model runs. Between numbers, poles are looked for at many points first, because a rule
// that is symmetric about a pole would not notice it.
// Contract: integrate_inner.h. Complexity: points times the size of the integrand.
#include <math.h>

#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/integrate_inner.h"
#include "ir/expr/nonsmooth.h"

enum { SAMPLES = 257 };
static const double exact_tolerance = 1e-12, valid_tolerance = 1e-8;

// --- integrals of numbers

// True when x is the only thing e depends on.
static bool
is_numeric(Integration *now, Expr e)
{
    U32Vec order = {0};
    expr_shape(now->exprs, e, &order);
    bool alone = order.n == 1 && order.at[0] == now->x;
    vec_free(&order);
    return alone && !expr_has_op(now->exprs, e, OP_TIME);
}

typedef struct Numbers {
    Integration *now;
    double from, to;
    F64Vec slots;
} Numbers;

static double
value_at(Numbers *numbers, Expr e, double x)
{
    numbers->slots.at[numbers->now->x] = x;
    return expr_eval(numbers->now->exprs, e, numbers->slots.at, 0);
}

// Is e finite at many points between the limits, and, as a denominator, of one sign?
static bool
looks_finite(Numbers *numbers, Expr e, bool denominator)
{
    double first = 0;
    for (uint32_t i = 1; i + 1 < SAMPLES; i++) {
        double x = numbers->from + (numbers->to - numbers->from) * (0.5 - 0.5 * cos(M_PI * i / (SAMPLES - 1)));
        double value = value_at(numbers, e, x);
        if (!isfinite(value) || (denominator && (value == 0 || value * first < 0)))
            return false;
        first = value;
    }
    return true;
}

static double
apply_rule(Numbers *numbers, Expr e, uint32_t n, double *size)
{
    double points[GAUSS_MOST], weights[GAUSS_MOST], sum = 0;
    double half = (numbers->to - numbers->from) / 2, middle = numbers->from + half;
    gauss_legendre(n, points, weights);
    *size = 0;
    for (uint32_t i = 0; i < n; i++) {
        double value = weights[i] * value_at(numbers, e, middle + half * points[i]);
        sum += value;
        *size += fabs(value);
    }
    *size *= fabs(half);
    return sum * half;
}

static bool
converge(Numbers *numbers, Expr e, double *value)
{
    double size, before = apply_rule(numbers, e, 4, &size);
    for (uint32_t n = 8; n <= GAUSS_MOST; n *= 2) {
        *value = apply_rule(numbers, e, n, &size);
        if (fabs(*value - before) <= exact_tolerance * size)
            return true;
        before = *value;
    }
    return false;
}

// --- denominators

static bool
surely_positive(const Exprs *exprs, Expr e)
{
    if (cell_op(exprs, e) == OP_EXP || cell_op(exprs, e) == OP_COSH)
        return true;
    Expr first = cell_op(exprs, e) == OP_ADD ? expr_arg(exprs, e, 0) : 0;
    return first && cell_op(exprs, first) == OP_CONST && expr_value(exprs, first) > 0
           && nonsmooth_nonneg(exprs, e, NULL);
}

// What e divides by and moves with x, and cosines of what it takes the tangent of.
static void
find_denominators(Integration *now, Expr e, U32Vec *found)
{
    Exprs *exprs = now->exprs;
    U32Vec order = {0};
    double value;
    expr_walk(exprs, e, now->x, &order);
    for (uint32_t i = 0; i < order.n; i++) {
        Expr id = order.at[i], under = 0;
        Op op = cell_op(exprs, id);
        if (op == OP_DIV)
            under = expr_arg(exprs, id, 1);
        else if (op == OP_TAN)
            under = expr_1(exprs, OP_COS, expr_arg(exprs, id, 0));
        else if (op == OP_POW && cell_op(exprs, expr_arg(exprs, id, 1)) == OP_CONST) {
            value = expr_value(exprs, expr_arg(exprs, id, 1));
            under = value < 0 ? expr_arg(exprs, id, 0) : 0;
        }
        if (under && integrate_moves(now, under) && !surely_positive(exprs, under))
            vec_push(found, under);
    }
    vec_free(&order);
}

static Expr
integrate_numbers(Integration *now, Expr e, double from, double to)
{
    Numbers numbers = {.now = now, .from = from, .to = to};
    U32Vec under = {0};
    double value = NAN;
    vec_grow(&numbers.slots, now->x + 1);
    find_denominators(now, e, &under);
    if (!looks_finite(&numbers, e, false))
        integrate_refuse(now, "is not finite everywhere between the limits", e);
    for (uint32_t i = 0; i < under.n && !now->reason; i++)
        if (!looks_finite(&numbers, under.at[i], true))
            integrate_refuse(now, "is divided by and is zero between the limits", under.at[i]);
    if (!now->reason && !converge(&numbers, e, &value))
        integrate_refuse(now, "is singular or changes too quickly for a Gauss rule of 64 points", e);
    vec_free(&numbers.slots);
    vec_free(&under);
    return now->reason ? now->exprs->zero : expr_const(now->exprs, value);
}

// --- integrals whose value is found while the model runs

typedef struct Rule { // written out for one integrand
    Expr sum, size;
} Rule;

static Rule
write_rule(Integration *now, Expr e, uint32_t n, Expr middle, Expr half)
{
    Exprs *exprs = now->exprs;
    double points[GAUSS_MOST], weights[GAUSS_MOST];
    U32Vec terms = {0}, sizes = {0};
    gauss_legendre(n, points, weights);
    for (uint32_t i = 0; i < n; i++) {
        Expr at = expr_2(exprs, OP_ADD, middle, expr_2(exprs, OP_MUL, half, expr_const(exprs, points[i])));
        Expr value = integrate_at(now, e, at);
        vec_push(&terms, expr_2(exprs, OP_MUL, expr_const(exprs, weights[i]), value));
        vec_push(&sizes, expr_1(exprs, OP_ABS, vec_last(&terms)));
    }
    Rule rule = {expr_2(exprs, OP_MUL, half, expr_make(exprs, OP_ADD, terms.at, n)),
                 expr_2(exprs, OP_MUL, expr_1(exprs, OP_ABS, half), expr_make(exprs, OP_ADD, sizes.at, n))};
    vec_free(&terms);
    vec_free(&sizes);
    return rule;
}

// A denominator has the sign at every point that it has at the first.
static void
require_one_sign(Integration *now, Expr under, Expr middle, Expr half)
{
    Exprs *exprs = now->exprs;
    double points[GAUSS_MOST], weights[GAUSS_MOST];
    Expr first = 0;
    gauss_legendre(GAUSS_POINTS, points, weights);
    for (uint32_t i = 0; i < GAUSS_POINTS; i++) {
        Expr at = expr_2(exprs, OP_ADD, middle, expr_2(exprs, OP_MUL, half, expr_const(exprs, points[i])));
        Expr value = integrate_at(now, under, at);
        if (i)
            integrate_require(now, expr_2(exprs, OP_GT, expr_2(exprs, OP_MUL, first, value), exprs->zero));
        else
            first = value;
    }
}

static Expr
integrate_symbols(Integration *now, Expr e, Expr from, Expr to)
{
    Exprs *exprs = now->exprs;
    U32Vec under = {0};
    Expr two = expr_const(exprs, 2);
    Expr half = expr_2(exprs, OP_DIV, expr_sub(exprs, to, from), two);
    Expr middle = expr_2(exprs, OP_DIV, expr_2(exprs, OP_ADD, from, to), two);
    Rule fine = write_rule(now, e, GAUSS_POINTS, middle, half), coarse = write_rule(now, e, GAUSS_CHECK, middle, half);
    Expr error = expr_1(exprs, OP_ABS, expr_sub(exprs, fine.sum, coarse.sum));
    Expr bound = expr_2(exprs, OP_MUL, expr_const(exprs, valid_tolerance), coarse.size);
    integrate_require(now, expr_2(exprs, OP_LE, error, bound));
    find_denominators(now, e, &under);
    for (uint32_t i = 0; i < under.n; i++)
        require_one_sign(now, under.at[i], middle, half);
    vec_free(&under);
    return fine.sum;
}

Expr
integrate_numerically(Integration *now, Expr e, Expr from, Expr to)
{
    Exprs *exprs = now->exprs;
    bool numbers = cell_op(exprs, from) == OP_CONST && cell_op(exprs, to) == OP_CONST;
    if (numbers && is_numeric(now, e))
        return integrate_numbers(now, e, expr_value(exprs, from), expr_value(exprs, to));
    return integrate_symbols(now, e, from, to);
}
