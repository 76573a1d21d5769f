// integrate.c: definite integrals of expressions in one slot.
//
// Purpose: integral(e, x, a, b) in equations, energies and distributed inertia as an ordinary expression, so that
// everything that looks at expressions (derivatives, units, solving) works on it.
// Method: a piecewise integrand is cut where it changes its form; a condition c < x makes the part from
// max(a, c) to max(b, c), which is right for any order of a, b and c and has the right derivatives with respect to all
// three. A polynomial part gives powers of its limits. Dead zones and absolute values of affine functions have closed
// forms without cuts: the integral of luz(u)^n is luz(u)^(n+1)/(n+1), that of |u| is u*|u|/2; factors that are
// polynomials go by parts. What else has a closed form is in elementary.c, the rest goes to a Gauss rule
// (quadrature.c).
// Contract: integrate.h. Complexity: pieces (at most INTEGRAL_PIECES) times the size of the integrand.
#include "ir/expr/integrate.h"

#include <math.h>

#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/integrate_inner.h"

enum { DEPTH_LIMIT = 48 };

bool
integrate_refuse(Integration *now, const char *reason, Expr culprit)
{
    if (!now->reason) {
        now->reason = reason;
        now->culprit = culprit;
    }
    return false;
}

bool
integrate_moves(const Integration *now, Expr e)
{
    return expr_uses_slot(now->exprs, e, now->x);
}

Expr
integrate_at(Integration *now, Expr e, Expr at)
{
    U32Vec with = {0};
    vec_grow(&with, now->x + 1);
    with.at[now->x] = at;
    Expr result = expr_substitute(now->exprs, e, with.at, with.n);
    vec_free(&with);
    return result;
}

// e = slope*x + shift with neither containing x, after expansion.
bool
integrate_affine(Integration *now, Expr e, Expr *slope, Expr *shift)
{
    U32Vec coefficients = {0};
    bool good = expr_polynomial(now->exprs, e, now->x, &coefficients) && coefficients.n <= 2;
    if (good) {
        *shift = coefficients.at[0];
        *slope = coefficients.n > 1 ? coefficients.at[1] : now->exprs->zero;
    }
    vec_free(&coefficients);
    return good;
}

// --- rewriting the integrand

typedef struct Replaced {
    Expr node, with;
} Replaced;

static Expr
replace_node(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    const Replaced *replaced = context;
    (void)exprs, (void)args;
    return part == replaced->node ? replaced->with : 0;
}

Expr
integrate_replaced(Exprs *exprs, Expr e, Expr node, Expr with)
{
    Replaced replaced = {node, with};
    return expr_rewrite(exprs, e, replace_node, &replaced);
}

// What stands for one operator in an integrand: at single points its value does not matter.
static Expr
plain_operator(Integration *now, Expr e, Op op, const Expr *args, uint32_t n)
{
    Exprs *exprs = now->exprs;
    switch (op) {
    case OP_INTEGRAL:
    case OP_NOEVENT:
    case OP_RATED:
        return args[0];
    case OP_SMOOTH:
        return args[1];
    case OP_SGN:
        return expr_1(exprs, OP_SIGN, args[0]);
    case OP_TAR:
        return expr_2(exprs, OP_ADD, args[0], expr_2(exprs, OP_MUL, args[1], expr_1(exprs, OP_SIGN, args[0])));
    case OP_FLOOR:
    case OP_CEIL:
    case OP_TRUNC:
        integrate_refuse(now, "jumps at places that are not known", e);
        return e;
    case OP_DELAY:
    case OP_TRANSPORT:
    case OP_SAMPLE:
    case OP_HOMOTOPY:
        integrate_refuse(now, "has no meaning for the variable of an integral", e);
        return e;
    default:
        return expr_make(exprs, op, args, n);
    }
}

static Expr
replace_plainly(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Integration *now = context;
    uint32_t n = cell_n(exprs, part);
    if (cell_op(exprs, part) == OP_INTEGRAL && !integrate_moves(now, args[1]))
        integrate_require(now, args[1]);
    bool whole = n && (integrate_moves(now, part) || expr_has_op(exprs, part, OP_INTEGRAL));
    return whole ? plain_operator(now, part, cell_op(exprs, part), args, n) : part;
}

// The integrand without operators that have no meaning under an integral. Conditions under which integrals inside it
// are valid are collected where they do not depend on x.
static Expr
plain(Integration *now, Expr e)
{
    return expr_rewrite(now->exprs, e, replace_plainly, now);
}

void
integrate_require(Integration *now, Expr condition)
{
    now->valid = expr_2(now->exprs, OP_AND, now->valid, condition);
}

// --- where the form changes

// A node of the integrand that is `yes` where `test` > 0 and `no` elsewhere.
typedef struct Choice {
    Expr node, test, yes, no;
} Choice;

static bool
is_choice(const Integration *now, Expr e)
{
    switch (cell_op(now->exprs, e)) {
    case OP_IF:
        return integrate_moves(now, cell_args(now->exprs, e)[0]);
    case OP_ABS:
    case OP_SIGN:
    case OP_MIN:
    case OP_MAX:
    case OP_LUZ:
        return integrate_moves(now, e);
    default:
        return false;
    }
}

// The first choice in post-order: there is none inside it. 0: there is none.
static Expr
first_choice(Integration *now, Expr e)
{
    U32Vec order = {0};
    Expr found = 0;
    expr_walk(now->exprs, e, now->x, &order);
    for (uint32_t i = 0; i < order.n && !found; i++)
        if (is_choice(now, order.at[i]))
            found = order.at[i];
    vec_free(&order);
    return found;
}

// if (a and b) then p else q = if a then (if b then p else q) else q, and so on.
static bool
logic_choice(Integration *now, Expr condition, Expr yes, Expr no, Choice *out)
{
    Exprs *exprs = now->exprs;
    Op op = cell_op(exprs, condition);
    Expr first = cell_args(exprs, condition)[0], rest;
    uint32_t n = cell_n(exprs, condition);
    if (op == OP_NOT) {
        rest = expr_3(exprs, OP_IF, first, no, yes);
    } else {
        Expr others = n > 2 ? expr_intern(exprs, op, cell_args(exprs, condition) + 1, n - 1)
                            : cell_args(exprs, condition)[1];
        Expr tail = expr_3(exprs, OP_IF, others, yes, no);
        first = cell_args(exprs, condition)[0];
        rest = op == OP_AND ? expr_3(exprs, OP_IF, first, tail, no) : expr_3(exprs, OP_IF, first, yes, tail);
    }
    out->yes = out->no = rest;
    out->test = 0; // the node is replaced as it is
    return true;
}

static bool
if_choice(Integration *now, Expr node, Choice *out)
{
    Exprs *exprs = now->exprs;
    Expr condition = expr_arg(exprs, node, 0), yes = expr_arg(exprs, node, 1), no = expr_arg(exprs, node, 2);
    Op op = cell_op(exprs, condition);
    Expr a = cell_n(exprs, condition) > 0 ? expr_arg(exprs, condition, 0) : 0;
    Expr b = cell_n(exprs, condition) > 1 ? expr_arg(exprs, condition, 1) : 0;
    out->yes = yes;
    out->no = no;
    switch (op) {
    case OP_LT:
    case OP_LE:
        out->test = expr_sub(exprs, b, a);
        return true;
    case OP_GT:
    case OP_GE:
        out->test = expr_sub(exprs, a, b);
        return true;
    case OP_EQ:
    case OP_NE:
        out->yes = out->no = op == OP_EQ ? no : yes;
        out->test = 0;
        return true;
    case OP_AND:
    case OP_OR:
    case OP_NOT:
        return logic_choice(now, condition, yes, no, out);
    default:
        return integrate_refuse(now, "decides the form of the integrand in a way that is not supported", condition);
    }
}

static bool
choice_of(Integration *now, Expr node, Choice *out)
{
    Exprs *exprs = now->exprs;
    Op op = cell_op(exprs, node);
    if (op == OP_IF) {
        out->node = node;
        return if_choice(now, node, out);
    }
    Expr a = expr_arg(exprs, node, 0), b = cell_n(exprs, node) > 1 ? expr_arg(exprs, node, 1) : 0;
    Expr minus = expr_1(exprs, OP_NEG, exprs->one);
    switch (op) {
    case OP_ABS:
        *out = (Choice){node, a, a, expr_1(exprs, OP_NEG, a)};
        return true;
    case OP_SIGN:
        *out = (Choice){node, a, exprs->one, minus};
        return true;
    case OP_MIN:
        *out = (Choice){node, expr_sub(exprs, b, a), a, b};
        return true;
    case OP_MAX:
        *out = (Choice){node, expr_sub(exprs, a, b), a, b};
        return true;
    default: { // LUZ
        Expr below = expr_3(exprs, OP_IF, expr_2(exprs, OP_LT, a, expr_1(exprs, OP_NEG, b)),
                            expr_2(exprs, OP_ADD, a, b), exprs->zero);
        *out = (Choice){node, expr_sub(exprs, a, b), expr_sub(exprs, a, b), below};
        return true;
    }
    }
}

// --- the pieces

static Expr
lower_of(Integration *now, Expr a, Expr b)
{
    return !a ? b : !b ? a : expr_2(now->exprs, OP_MIN, a, b);
}

static Expr
higher_of(Integration *now, Expr a, Expr b)
{
    return !a ? b : !b ? a : expr_2(now->exprs, OP_MAX, a, b);
}

static Expr integrate_part(Integration *now, Expr e, Part part);

// The part of the integral where test > 0 has `yes`, that where it is not has `no`: test = slope*x + shift.
static Expr
cut_at(Integration *now, Expr yes, Expr no, double slope, Expr at, Part part)
{
    Part below = part, above = part;
    below.high = lower_of(now, part.high, at);
    above.low = higher_of(now, part.low, at);
    below.depth = above.depth = part.depth + 1;
    Expr first = integrate_part(now, slope > 0 ? no : yes, below);
    Expr second = integrate_part(now, slope > 0 ? yes : no, above);
    return expr_2(now->exprs, OP_ADD, first, second);
}

// test = c[0] + c[1]*x + c[2]*x^2 of numbers.
static Expr
cut_quadratic(Integration *now, Expr yes, Expr no, const double *c, Part part)
{
    Exprs *exprs = now->exprs;
    double under = c[1] * c[1] - 4 * c[0] * c[2];
    part.depth++;
    if (under <= 0)
        return integrate_part(now, c[2] > 0 ? yes : no, part);
    double q = -(c[1] + copysign(sqrt(under), c[1])) / 2;
    double first = q / c[2], second = q != 0 ? c[0] / q : 0;
    Expr low = expr_const(exprs, fmin(first, second)), high = expr_const(exprs, fmax(first, second));
    Expr outside = c[2] > 0 ? yes : no, inside = c[2] > 0 ? no : yes;
    Part middle = part;
    middle.high = lower_of(now, part.high, high);
    middle.low = higher_of(now, part.low, low);
    Expr sum = integrate_part(now, inside, middle);
    Part below = part, above = part;
    below.high = lower_of(now, part.high, low);
    above.low = higher_of(now, part.low, high);
    sum = expr_2(exprs, OP_ADD, sum, integrate_part(now, outside, below));
    return expr_2(exprs, OP_ADD, sum, integrate_part(now, outside, above));
}

// A slope that is not a number: which side is which is decided while the model runs.
static Expr
cut_symbolic(Integration *now, Expr yes, Expr no, Expr slope, Expr shift, Part part)
{
    Exprs *exprs = now->exprs;
    Expr at = expr_1(exprs, OP_NEG, expr_2(exprs, OP_DIV, shift, slope));
    Expr rising = cut_at(now, yes, no, 1, at, part), falling = cut_at(now, yes, no, -1, at, part);
    part.depth++;
    Expr level = expr_3(exprs, OP_IF, expr_2(exprs, OP_GT, shift, exprs->zero), integrate_part(now, yes, part),
                        integrate_part(now, no, part));
    Expr down = expr_3(exprs, OP_IF, expr_2(exprs, OP_LT, slope, exprs->zero), falling, level);
    return expr_3(exprs, OP_IF, expr_2(exprs, OP_GT, slope, exprs->zero), rising, down);
}

static Expr
cut(Integration *now, Expr e, const Choice *choice, Part part)
{
    Exprs *exprs = now->exprs;
    U32Vec c = {0};
    double value[3] = {0};
    Expr yes = integrate_replaced(exprs, e, choice->node, choice->yes), no = integrate_replaced(exprs, e, choice->node, choice->no);
    Expr result = exprs->zero;
    bool numbers = true, good = expr_polynomial(exprs, choice->test, now->x, &c) && c.n <= 3;
    for (uint32_t k = 0; good && k < c.n; k++) {
        numbers &= cell_op(exprs, c.at[k]) == OP_CONST;
        value[k] = numbers ? expr_value(exprs, c.at[k]) : 0;
    }
    if (!good || (c.n == 3 && !numbers))
        integrate_refuse(now, "decides the form of the integrand at places that cannot be found", choice->test);
    else if (c.n == 3)
        result = cut_quadratic(now, yes, no, value, part);
    else if (c.n == 2 && cell_op(exprs, c.at[1]) == OP_CONST)
        result = cut_at(now, yes, no, expr_value(exprs, c.at[1]),
                        expr_1(exprs, OP_NEG, expr_2(exprs, OP_DIV, c.at[0], c.at[1])), part);
    else if (c.n == 2)
        result = cut_symbolic(now, yes, no, c.at[1], c.at[0], part);
    else {
        part.depth++;
        result = expr_3(exprs, OP_IF, expr_2(exprs, OP_GT, c.at[0], exprs->zero), integrate_part(now, yes, part),
                        integrate_part(now, no, part));
    }
    vec_free(&c);
    return result;
}

// --- one piece

// The limits of the part: the limits of the integral, brought between low and high.
static Expr
clip(Integration *now, Expr at, Part part)
{
    Expr below = lower_of(now, at, part.high);
    return higher_of(now, below, part.low);
}

static bool
is_empty(const Integration *now, Part part)
{
    const Exprs *exprs = now->exprs;
    return part.low && part.high && cell_op(exprs, part.low) == OP_CONST && cell_op(exprs, part.high) == OP_CONST
           && expr_value(exprs, part.low) >= expr_value(exprs, part.high);
}

// A sum: its polynomial terms together, each other term by itself.
static Expr
integrate_sum(Integration *now, Expr e, Part part)
{
    Exprs *exprs = now->exprs;
    U32Vec terms = {0}, polynomial = {0}, coefficients = {0};
    part.depth++;
    for (uint32_t i = 0; i < cell_n(exprs, e); i++) {
        Expr term = cell_args(exprs, e)[i];
        if (expr_polynomial(exprs, term, now->x, &coefficients))
            vec_push(&polynomial, term);
        else
            vec_push(&terms, integrate_part(now, term, part));
    }
    if (polynomial.n)
        vec_push(&terms, integrate_part(now, expr_make(exprs, OP_ADD, polynomial.at, polynomial.n), part));
    Expr sum = expr_make(exprs, OP_ADD, terms.at, terms.n);
    vec_free(&terms);
    vec_free(&polynomial);
    vec_free(&coefficients);
    return sum;
}

static Expr
integrate_choice(Integration *now, Expr e, Expr node, Part part)
{
    Choice choice = {.node = node};
    if (!choice_of(now, node, &choice))
        return now->exprs->zero;
    if (choice.test)
        return cut(now, e, &choice, part);
    part.depth++;
    return integrate_part(now, integrate_replaced(now->exprs, e, node, choice.yes), part);
}

static Expr
integrate_part(Integration *now, Expr e, Part part)
{
    Exprs *exprs = now->exprs;
    if (now->reason || is_empty(now, part))
        return exprs->zero;
    if (part.depth > DEPTH_LIMIT || ++now->pieces > INTEGRAL_PIECES) {
        integrate_refuse(now, "has too many pieces", e);
        return exprs->zero;
    }
    Expr from = clip(now, now->from, part), to = clip(now, now->to, part), result = 0;
    if (from == to)
        return exprs->zero;
    U32Vec coefficients = {0};
    if (expr_polynomial(exprs, e, now->x, &coefficients))
        result = polynomial_integral(exprs, &coefficients, from, to);
    vec_free(&coefficients);
    if (!result && cell_op(exprs, e) == OP_ADD)
        return integrate_sum(now, e, part);
    Expr node = result ? 0 : first_choice(now, e);
    if (!result && node && integrate_corner(now, e, node, from, to, &result))
        return result;
    if (!result && node)
        return integrate_choice(now, e, node, part);
    if (!result && !integrate_elementary(now, e, from, to, &result))
        result = integrate_numerically(now, e, from, to);
    return result;
}

// --- the whole

static bool
usable_limit(Integration *now, Expr limit)
{
    enum { FARTHEST = 100000 };
    bool number = cell_op(now->exprs, limit) == OP_CONST;
    double value = number ? expr_value(now->exprs, limit) : 0;
    if (number && !(fabs(value) < 1e15 * FARTHEST))
        return integrate_refuse(now, "is no finite limit", limit);
    return true;
}

// The integrand at a limit that has a unit, for the check of units; a number stands for any unit.
static void
describe(Integration *now, Expr e, Integral *out)
{
    static const double nothing_special = 0.7390851332151607;
    Exprs *exprs = now->exprs;
    bool from = cell_op(exprs, now->from) != OP_CONST, to = cell_op(exprs, now->to) != OP_CONST;
    out->limit = from && to ? expr_sub(exprs, now->to, now->from) : from ? now->from : to ? now->to : exprs->one;
    if (!from && !to)
        out->limit = expr_const(exprs, nothing_special);
    out->integrand = integrate_at(now, e, to ? now->to : from ? now->from : out->limit);
}

bool
expr_integrate(Exprs *exprs, Expr e, uint32_t x, Expr from, Expr to, Integral *out)
{
    Integration now = {.exprs = exprs, .x = x, .from = from, .to = to, .valid = exprs->one};
    Part whole = {0};
    *out = (Integral){0};
    if (usable_limit(&now, from) && usable_limit(&now, to)) {
        e = plain(&now, e);
        describe(&now, e, out);
        out->value = integrate_part(&now, e, whole);
    }
    if (!now.reason && expr_is_const(exprs, now.valid, 0))
        integrate_refuse(&now, "is not finite between the limits", e);
    bool number = out->value && !expr_nslots(exprs, out->value) && !expr_has_op(exprs, out->value, OP_TIME);
    if (!now.reason && number && !isfinite(expr_eval(exprs, out->value, NULL, 0)))
        integrate_refuse(&now, "has no finite integral between the limits", e);
    out->valid = now.valid;
    out->reason = now.reason;
    out->culprit = now.culprit;
    if (now.reason)
        out->value = 0;
    return !now.reason;
}

Expr
expr_integral(Exprs *exprs, const Integral *integral)
{
    Expr args[] = {integral->value, integral->valid, integral->integrand, integral->limit};
    return expr_make(exprs, OP_INTEGRAL, args, 4);
}

static Expr
replace_integral(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    (void)context;
    return cell_op(exprs, part) == OP_INTEGRAL ? args[0] : 0;
}

Expr
expr_without_integrals(Exprs *exprs, Expr e)
{
    return expr_has_op(exprs, e, OP_INTEGRAL) ? expr_rewrite(exprs, e, replace_integral, NULL) : e;
}
