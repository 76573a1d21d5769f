// elementary.c: integrals in closed form beyond polynomials.
//
// Purpose: exact integrals of what springs, dampers and clearances are made of. Method: u = slope*x + shift with a slope
// that is a number. P(x)*u^r in powers of u; P(x)/q(x), q a quadratic of numbers without real zeros, by
// division, a logarithm and an arc tangent; P(x) times a sine, cosine or exponential by parts; P(x)*luz(u, a)^n by
// parts, because luz^n has the antiderivative luz^(n+1)/(n+1) as many times as P has derivatives; P(x)*|u|^n in powers
// of u, because u^k*|u| has the antiderivative u^(k+1)*|u|/(k+2). By parts loses digits when the slope is small: those
// go to a Gauss rule, which is exact to rounding there.
// Contract: integrate_inner.h. Complexity: square of the polynomial's degree.
#include <math.h>

#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/integrate_inner.h"

enum { FACTOR_DEPTH = 16, PARTS_DEGREE = 8, DIVIDED_DEGREE = 3 };

typedef enum Kind { KIND_NONE, KIND_POWER, KIND_QUADRATIC, KIND_SIN, KIND_COS, KIND_EXP } Kind;

typedef struct Form { // coefficient * polynomial * kind(u), u = slope*x + shift
    Expr coefficient, polynomial;
    Kind kind;
    Expr u, shift;
    double slope, exponent;
    double q[3];  // QUADRATIC: 1/(q[0] + q[1]*x + q[2]*x^2)
} Form;

// --- taking an expression apart

static Expr
times(Exprs *exprs, Expr a, Expr b)
{
    return expr_2(exprs, OP_MUL, a, b);
}

static Expr
scaled(Exprs *exprs, double factor, Expr e)
{
    return times(exprs, expr_const(exprs, factor), e);
}

// u is a quadratic of numbers that is zero nowhere.
static bool
take_quadratic(Integration *now, Form *form, Expr u)
{
    U32Vec c = {0};
    bool good = expr_polynomial(now->exprs, u, now->x, &c) && c.n == 3;
    for (uint32_t k = 0; k < 3 && good; k++)
        good = cell_constant(now->exprs, c.at[k], &form->q[k]);
    vec_free(&c);
    form->kind = KIND_QUADRATIC;
    return good && 4 * form->q[2] * form->q[0] > form->q[1] * form->q[1];
}

// The only factor that is no polynomial; powers of the same u multiply.
static bool
take_function(Integration *now, Form *form, Kind kind, Expr u, double exponent)
{
    Expr slope;
    if (form->kind == KIND_POWER && kind == KIND_POWER && form->u == u) {
        form->exponent += exponent;
        return true;
    }
    form->u = u;
    form->exponent = exponent;
    bool first = form->kind == KIND_NONE;
    form->kind = kind;
    if (!first)
        return false;
    if (integrate_affine(now, u, &slope, &form->shift))
        return cell_constant(now->exprs, slope, &form->slope) && form->slope != 0;
    return kind == KIND_POWER && exponent == -1 && take_quadratic(now, form, u);
}

static bool
take_leaf(Integration *now, Form *form, Expr e, bool under)
{
    Exprs *exprs = now->exprs;
    Op op = cell_op(exprs, e);
    Expr a = cell_n(exprs, e) ? expr_arg(exprs, e, 0) : 0;
    U32Vec coefficients = {0};
    double exponent = 1;
    bool polynomial = expr_polynomial(exprs, e, now->x, &coefficients);
    vec_free(&coefficients);
    if (polynomial && !under) {
        form->polynomial = times(exprs, form->polynomial, e);
        return true;
    }
    if (op == OP_POW && cell_constant(exprs, expr_arg(exprs, e, 1), &exponent))
        return take_function(now, form, KIND_POWER, a, under ? -exponent : exponent);
    if (op == OP_SQRT)
        return take_function(now, form, KIND_POWER, a, under ? -0.5 : 0.5);
    if (op == OP_EXP)
        return take_function(now, form, KIND_EXP, under ? expr_1(exprs, OP_NEG, a) : a, 1);
    if ((op == OP_SIN || op == OP_COS) && !under)
        return take_function(now, form, op == OP_SIN ? KIND_SIN : KIND_COS, a, 1);
    return under && take_function(now, form, KIND_POWER, e, -1);
}

static bool
take(Integration *now, Form *form, Expr e, bool under, uint32_t depth)
{
    Exprs *exprs = now->exprs;
    Op op = cell_op(exprs, e);
    if (depth > FACTOR_DEPTH)
        return false;
    if (!integrate_moves(now, e)) {
        form->coefficient = expr_2(exprs, under ? OP_DIV : OP_MUL, form->coefficient, e);
        return true;
    }
    if (op == OP_NEG) {
        form->coefficient = expr_1(exprs, OP_NEG, form->coefficient);
        return take(now, form, expr_arg(exprs, e, 0), under, depth + 1);
    }
    if (op == OP_DIV)
        return take(now, form, expr_arg(exprs, e, 0), under, depth + 1)
               && take(now, form, expr_arg(exprs, e, 1), !under, depth + 1);
    if (op != OP_MUL)
        return take_leaf(now, form, e, under);
    for (uint32_t i = 0; i < cell_n(exprs, e); i++)
        if (!take(now, form, expr_arg(exprs, e, i), under, depth + 1))
            return false;
    return true;
}

// --- antiderivatives, between the limits

static Expr
power_of(Exprs *exprs, Expr base, double exponent)
{
    return expr_2(exprs, OP_POW, base, expr_const(exprs, exponent));
}

static Expr
integrate_power(Integration *now, const Form *form, U32Vec *p, Expr from, Expr to)
{
    Exprs *exprs = now->exprs;
    Expr a = integrate_at(now, form->u, from), b = integrate_at(now, form->u, to), sum = exprs->zero;
    polynomial_shift(exprs, p, expr_const(exprs, form->slope), form->shift);
    for (uint32_t k = 0; k < p->n; k++) {
        double exponent = k + form->exponent + 1;
        Expr powers;
        if (p->at[k] == exprs->zero)
            continue;
        if (exponent == 0)
            powers = expr_1(exprs, OP_LOG, expr_2(exprs, OP_DIV, b, a));
        else
            powers = expr_2(exprs, OP_DIV, expr_sub(exprs, power_of(exprs, b, exponent), power_of(exprs, a, exponent)),
                            expr_const(exprs, exponent));
        if (exponent <= 0) // a pole at u = 0
            integrate_require(now, expr_2(exprs, OP_GT, times(exprs, a, b), exprs->zero));
        sum = expr_2(exprs, OP_ADD, sum, times(exprs, p->at[k], powers));
    }
    return expr_2(exprs, OP_DIV, sum, expr_const(exprs, form->slope));
}

// P/q = Q + (alpha*x + beta)/q, and with the discriminant D = 4*q2*q0 - q1^2: alpha/(2*q2)*log(q) + (2*beta - alpha*q1/q2)/sqrt(D)*atan((2*q2*x + q1)/sqrt(D)).
static Expr
integrate_quadratic(Integration *now, const Form *form, U32Vec *p, Expr from, Expr to)
{
    Exprs *exprs = now->exprs;
    const double *q = form->q, root = sqrt(4 * q[2] * q[0] - q[1] * q[1]);
    U32Vec whole = {0};
    while (p->n < 2)
        vec_push(p, exprs->zero);
    vec_grow(&whole, p->n - 1);
    for (uint32_t k = 0; k < whole.n; k++)
        whole.at[k] = exprs->zero;
    for (uint32_t k = p->n - 1; k >= 2; k--) {
        Expr c = scaled(exprs, 1 / q[2], p->at[k]);
        whole.at[k - 2] = c;
        p->at[k - 1] = expr_sub(exprs, p->at[k - 1], scaled(exprs, q[1], c));
        p->at[k - 2] = expr_sub(exprs, p->at[k - 2], scaled(exprs, q[0], c));
    }
    Expr alpha = p->at[1], beta = p->at[0], x[2] = {from, to}, turn[2];
    for (uint32_t i = 0; i < 2; i++)
        turn[i] = expr_1(exprs, OP_ATAN, expr_2(exprs, OP_ADD, scaled(exprs, 2 * q[2] / root, x[i]), expr_const(exprs, q[1] / root)));
    Expr ratio = expr_2(exprs, OP_DIV, integrate_at(now, form->u, to), integrate_at(now, form->u, from));
    Expr sum = polynomial_integral(exprs, &whole, from, to);
    sum = expr_2(exprs, OP_ADD, sum, scaled(exprs, 0.5 / q[2], times(exprs, alpha, expr_1(exprs, OP_LOG, ratio))));
    Expr rest = expr_sub(exprs, scaled(exprs, 2 / root, beta), scaled(exprs, q[1] / (q[2] * root), alpha));
    vec_free(&whole);
    return expr_2(exprs, OP_ADD, sum, times(exprs, rest, expr_sub(exprs, turn[1], turn[0])));
}

// The k-th antiderivative of a sine, cosine or exponential by its argument.
static Expr
wave(Exprs *exprs, Kind kind, uint32_t k, Expr u)
{
    static const Op ops[] = {OP_SIN, OP_COS};
    if (kind == KIND_EXP)
        return expr_1(exprs, OP_EXP, u);
    uint32_t turn = (k + (kind == KIND_COS ? 3 : 0)) % 4; // sin, -cos, -sin, cos
    Expr value = expr_1(exprs, ops[turn % 2], u);
    return turn == 1 || turn == 2 ? expr_1(exprs, OP_NEG, value) : value;
}

static void
differentiate(Exprs *exprs, U32Vec *p)
{
    for (uint32_t k = 1; k < p->n; k++)
        p->at[k - 1] = scaled(exprs, k, p->at[k]);
    vec_drop(p);
}

static Expr
integrate_wave(Integration *now, const Form *form, U32Vec *p, Expr from, Expr to)
{
    Exprs *exprs = now->exprs;
    Expr a = integrate_at(now, form->u, from), b = integrate_at(now, form->u, to), sum = exprs->zero;
    double divisor = -1;
    for (uint32_t k = 1; p->n; k++) {
        divisor *= -form->slope;
        Expr high = times(exprs, polynomial_value(exprs, p, to), wave(exprs, form->kind, k, b));
        Expr low = times(exprs, polynomial_value(exprs, p, from), wave(exprs, form->kind, k, a));
        sum = expr_2(exprs, OP_ADD, sum, expr_2(exprs, OP_DIV, expr_sub(exprs, high, low), expr_const(exprs, divisor)));
        differentiate(exprs, p);
    }
    return sum;
}

bool
integrate_elementary(Integration *now, Expr e, Expr from, Expr to, Expr *out)
{
    Exprs *exprs = now->exprs;
    Form form = {.coefficient = exprs->one, .polynomial = exprs->one};
    U32Vec p = {0};
    bool good = take(now, &form, e, false, 0) && form.kind != KIND_NONE
                && expr_polynomial(exprs, form.polynomial, now->x, &p);
    if (good && form.kind == KIND_QUADRATIC)
        good = p.n <= DIVIDED_DEGREE + 1;
    else if (good && form.kind != KIND_POWER)
        good = p.n <= PARTS_DEGREE + 1 && fabs(form.slope) >= (p.n > 1 ? 1 : 0.1);
    if (good) {
        Expr value = form.kind == KIND_POWER       ? integrate_power(now, &form, &p, from, to)
                     : form.kind == KIND_QUADRATIC ? integrate_quadratic(now, &form, &p, from, to)
                                                   : integrate_wave(now, &form, &p, from, to);
        *out = times(exprs, form.coefficient, value);
    }
    vec_free(&p);
    return good;
}

// --- dead zones and absolute values

typedef struct Corner { // node = luz(u, a) or |u|
    Expr node, u, shift;
    double slope;
    bool luz;
} Corner;

// Antiderivative of p(x)*luz^n at one limit: sum over i of (-1)^i p^(i) luz^(n+1+i)/(slope^(i+1) (n+1)...(n+1+i)).
static Expr
luz_antiderivative(Integration *now, const Corner *corner, const U32Vec *p, uint32_t n, Expr at)
{
    Exprs *exprs = now->exprs;
    U32Vec derivative = {0};
    Expr sum = exprs->zero, luz = integrate_at(now, corner->node, at);
    double divisor = 1;
    vec_append(&derivative, p->at, p->n);
    for (uint32_t i = 0; derivative.n; i++) {
        divisor *= corner->slope * (n + 1 + i);
        Expr term = times(exprs, polynomial_value(exprs, &derivative, at), power_of(exprs, luz, n + 1 + i));
        sum = expr_2(exprs, OP_ADD, sum, expr_2(exprs, OP_DIV, term, expr_const(exprs, divisor)));
        divisor = -divisor;
        differentiate(exprs, &derivative);
    }
    vec_free(&derivative);
    return sum;
}

static Expr
abs_antiderivative(Integration *now, const Corner *corner, const U32Vec *p, uint32_t n, Expr at)
{
    Exprs *exprs = now->exprs;
    U32Vec c = {0};
    Expr sum = exprs->zero, u = integrate_at(now, corner->u, at), size = expr_1(exprs, OP_ABS, u);
    vec_append(&c, p->at, p->n);
    polynomial_shift(exprs, &c, expr_const(exprs, corner->slope), corner->shift);
    for (uint32_t k = 0; k < c.n; k++) {
        uint32_t power = k + n + 1;
        Expr value = n % 2 ? times(exprs, power_of(exprs, u, power - 1), size) : power_of(exprs, u, power);
        value = expr_2(exprs, OP_DIV, value, expr_const(exprs, power * corner->slope));
        sum = expr_2(exprs, OP_ADD, sum, times(exprs, c.at[k], value));
    }
    vec_free(&c);
    return sum;
}

static bool
corner_of(Integration *now, Expr node, Corner *corner)
{
    Exprs *exprs = now->exprs;
    Expr slope;
    *corner = (Corner){.node = node, .luz = cell_op(exprs, node) == OP_LUZ};
    if (!corner->luz && cell_op(exprs, node) != OP_ABS)
        return false;
    corner->u = expr_arg(exprs, node, 0);
    return (!corner->luz || !integrate_moves(now, expr_arg(exprs, node, 1)))
           && integrate_affine(now, corner->u, &slope, &corner->shift) && cell_constant(exprs, slope, &corner->slope)
           && corner->slope != 0;
}

bool
integrate_corner(Integration *now, Expr e, Expr node, Expr from, Expr to, Expr *out)
{
    Exprs *exprs = now->exprs;
    Corner corner;
    U32Vec powers = {0}, p = {0};
    uint32_t slot = expr_nslots(exprs, e);
    if (!corner_of(now, node, &corner))
        return false;
    Expr inside = integrate_replaced(exprs, e, node, expr_slot(exprs, slot)), sum = exprs->zero;
    bool good = expr_polynomial(exprs, inside, slot, &powers);
    for (uint32_t n = 0; good && n < powers.n; n++) {
        good = expr_polynomial(exprs, powers.at[n], now->x, &p);
        if (!good)
            break;
        Expr high = corner.luz ? luz_antiderivative(now, &corner, &p, n, to)
                               : abs_antiderivative(now, &corner, &p, n, to);
        Expr low = corner.luz ? luz_antiderivative(now, &corner, &p, n, from)
                              : abs_antiderivative(now, &corner, &p, n, from);
        if (corner.luz && n == 0) {
            sum = expr_2(exprs, OP_ADD, sum, polynomial_integral(exprs, &p, from, to));
            continue;
        }
        sum = expr_2(exprs, OP_ADD, sum, expr_sub(exprs, high, low));
    }
    vec_free(&powers);
    vec_free(&p);
    *out = sum;
    return good;
}
