// regular.c: numbers for coefficients that only their texts tell apart.
//
// Purpose:    (a + b)/h and (a + c)/h determine a and one of b and c, while (a + b)/h and (a + b - c)/h do not determine a and b, whatever
//             h is; cos(2*pi/3) and cos(4*pi/3) are the same factor twice, although their texts differ.
// Method:     a coefficient has the value that its parameters give it: what is regular for one set of values is so for almost all. Other
//             variables have numbers of their own, made of a hash: a matrix of analytic functions of them is singular there, but for
//             chance, where it is for all values (Schwartz, J. ACM 27 (1980) 701; Zippel 1979). The derivatives of cos(a)*cos(b), sin(a)*cos(b)
//             and sin(b) by a, b and c are a singular matrix only when sin(a) and cos(a) belong to one angle. What has no value there,
//             and what only a branch makes zero, is a number made of its text.
// Contract:   regular.h. Complexity: linear in the text.
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/structure/regular.h"

#include <math.h>


enum { MOST_FACTORS = 32 };

double
regular_number(Exprs *exprs, Expr term, Expr *text)
{
    Op op = expr_op(exprs, term);
    double number = 1;
    *text = term;
    if (op == OP_CONST) {
        number = expr_value(exprs, term);
        *text = expr_const(exprs, 1);
    } else if (op == OP_NEG) {
        number = -regular_number(exprs, expr_arg(exprs, term, 0), text);
    } else if (op == OP_MUL && expr_op(exprs, expr_arg(exprs, term, 0)) == OP_CONST) {
        Expr args[MOST_FACTORS];
        uint32_t n = expr_nargs(exprs, term);
        if (n > MOST_FACTORS)
            return 1;
        for (uint32_t k = 1; k < n; k++)
            args[k - 1] = expr_arg(exprs, term, k);
        number = expr_value(exprs, expr_arg(exprs, term, 0));
        *text = expr_make(exprs, OP_MUL, args, n - 1);
    } else if (op == OP_DIV) {
        Expr over;
        number = regular_number(exprs, expr_arg(exprs, term, 0), &over);
        *text = number != 1 ? expr_2(exprs, OP_DIV, over, expr_arg(exprs, term, 1)) : term;
    }
    return number;
}

// Between 1 and 2.
static double
number_of(uint64_t key)
{
    return 1 + ldexp((double)(hash_add(1, key) >> 12), -52);
}

// Where unknown variables have numbers of their own, with this sign.
static double
value_at_random(Dae *dae, Expr e, const Var *vars, double sign)
{
    uint32_t n = expr_nslots(dae->exprs, e);
    double *values = base_calloc((size_t)n + 1, sizeof *values);
    for (uint32_t k = 0; k < n; k++)
        if (!dae_known_value(dae, vars[k], &values[k]))
            values[k] = sign * number_of(vars[k]);
    double value = expr_eval(dae->exprs, e, values, sign * number_of(UINT32_MAX));
    free(values);
    return value;
}

double
regular_value(Dae *dae, Expr coefficient, const Var *vars)
{
    Exprs *exprs = dae->exprs;
    Expr text;
    double number;
    if (dae_known_expr(dae, coefficient, vars, &number))
        return number;
    number = value_at_random(dae, coefficient, vars, 1);
    if (isfinite(number) && (number != 0 || value_at_random(dae, coefficient, vars, -1) == 0))
        return number;
    number = regular_number(exprs, coefficient, &text);
    if (expr_is_const(exprs, text, 1))
        return number;
    U32Vec order = {0};
    uint64_t key = hash_mix(expr_shape(exprs, text, &order));
    for (uint32_t k = 0; k < order.n; k++)
        key = hash_add(key, vars[order.at[k]]);
    vec_free(&order);
    return number * number_of(key);
}
