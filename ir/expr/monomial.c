// monomial.c: products in lowest terms.
//
// Purpose: L^3*(1/L)^4 in an integral over a length is 1/L. Method: the factors of products, quotients and whole powers
// with their exponents; equal ones are added. Contract: polynomial.h; a factor that cancels is taken to be nonzero.
// Complexity: factors times different factors.
#include <math.h>

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/polynomial.h"

enum { MONOMIAL_DEPTH = 32 };

typedef struct Factor {
    Expr base;
    double exponent;
} Factor;

typedef struct Monomial {
    Exprs *exprs;
    double constant;
    VEC(Factor) factors;
} Monomial;

static void
add_factor(Monomial *monomial, Expr base, double exponent)
{
    for (uint32_t i = 0; i < monomial->factors.n; i++)
        if (monomial->factors.at[i].base == base) {
            monomial->factors.at[i].exponent += exponent;
            return;
        }
    vec_push(&monomial->factors, (Factor){base, exponent});
}

static void
collect(Monomial *monomial, Expr e, double exponent, uint32_t depth)
{
    Exprs *exprs = monomial->exprs;
    Op op = cell_op(exprs, e);
    double value = op == OP_CONST ? expr_value(exprs, e) : 0;
    double power = op == OP_POW && cell_op(exprs, expr_arg(exprs, e, 1)) == OP_CONST
                       ? expr_value(exprs, expr_arg(exprs, e, 1)) : 0;
    if (op == OP_CONST && value != 0) {
        monomial->constant *= pow(value, exponent);
    } else if (depth == MONOMIAL_DEPTH) {
        add_factor(monomial, e, exponent);
    } else if (op == OP_NEG) {
        monomial->constant *= fmod(exponent, 2) != 0 ? -1 : 1;
        collect(monomial, expr_arg(exprs, e, 0), exponent, depth + 1);
    } else if (op == OP_MUL) {
        for (uint32_t i = 0; i < cell_n(exprs, e); i++)
            collect(monomial, expr_arg(exprs, e, i), exponent, depth + 1);
    } else if (op == OP_DIV) {
        collect(monomial, expr_arg(exprs, e, 0), exponent, depth + 1);
        collect(monomial, expr_arg(exprs, e, 1), -exponent, depth + 1);
    } else if (power != 0 && power == floor(power)) {
        collect(monomial, expr_arg(exprs, e, 0), exponent * power, depth + 1);
    } else {
        add_factor(monomial, e, exponent);
    }
}

// The smallest whole number that makes a whole number of the value, as far as there is a small one; 1 otherwise.
static double
divisor_of(double value)
{
    enum { LARGEST = 10000 };
    for (uint32_t divisor = 1; divisor <= LARGEST; divisor++) {
        double whole = value * divisor;
        if (fabs(whole) < 1e9 && fabs(whole - round(whole)) <= 1e-14 * fabs(whole) && round(whole) != 0)
            return divisor;
    }
    return 1;
}

static Expr
reduced(Exprs *exprs, Expr e, bool fractions)
{
    Monomial monomial = {.exprs = exprs, .constant = 1};
    U32Vec over = {0}, under = {0};
    collect(&monomial, e, 1, 0);
    for (uint32_t i = 0; i < monomial.factors.n; i++) {
        Factor factor = monomial.factors.at[i];
        Expr power = expr_2(exprs, OP_POW, factor.base, expr_const(exprs, fabs(factor.exponent)));
        if (factor.exponent > 0)
            vec_push(&over, power);
        else if (factor.exponent < 0)
            vec_push(&under, power);
    }
    Expr result = expr_make(exprs, OP_MUL, over.at, over.n);
    double divisor = fractions ? divisor_of(monomial.constant) : 1; // x/3 rather than 0.333...*x
    double whole = divisor > 1 ? round(monomial.constant * divisor) : monomial.constant;
    result = expr_2(exprs, OP_MUL, expr_const(exprs, whole), result);
    result = expr_2(exprs, OP_DIV, result, expr_const(exprs, divisor));
    if (under.n)
        result = expr_2(exprs, OP_DIV, result, expr_make(exprs, OP_MUL, under.at, under.n));
    vec_free(&monomial.factors);
    vec_free(&over);
    vec_free(&under);
    return result;
}

Expr
monomial_reduced(Exprs *exprs, Expr e)
{
    return reduced(exprs, e, true);
}

Expr
monomial_collectable(Exprs *exprs, Expr e)
{
    return reduced(exprs, e, false);
}
