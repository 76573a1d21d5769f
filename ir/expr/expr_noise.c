// expr_noise.c: how far rounding may have moved the value of an expression.
//
// Purpose: cos(2*pi/3) - cos(4*pi/3) is zero, but its value is 8e-16: what an equation is divided by must be larger than what
// rounding alone makes of it.
// Method: running error analysis to first order (Wilkinson; Higham, Accuracy and Stability of Numerical Algorithms, 2002, 3.3):
// each operator passes the errors of its arguments on by the sizes of its partial derivatives and adds one rounding of its own value.
// Contract: expr_calculus.h; memoized per expression. Complexity: linear in the parts, quadratic in the factors of one product.
#include <math.h>

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

typedef struct Noise {
    Exprs *exprs;
    uint32_t n;    // slots of the expression
    Map of;        // part -> its error
    U32Vec a, d;   // of one operator: arguments, and their errors one at a time
} Noise;

static Expr
size_of(Exprs *exprs, Expr e)
{
    return expr_1(exprs, OP_ABS, e);
}

static Expr
error_of(const Noise *noise, Expr part)
{
    uint32_t error = 0;
    map_get(&noise->of, part, &error);
    return error;
}

// The errors that the arguments bring along.
static Expr
inherited(Noise *noise, Expr e)
{
    Exprs *exprs = noise->exprs;
    U32Vec sum = {0};
    uint32_t n = expr_nargs(exprs, e);
    vec_clear(&noise->a);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&noise->a, expr_arg(exprs, e, k));
    for (uint32_t k = 0; k < n; k++) {
        Expr error = error_of(noise, noise->a.at[k]);
        if (!error || expr_is_const(exprs, error, 0))
            continue;
        vec_clear(&noise->d);
        for (uint32_t j = 0; j < n; j++)
            vec_push(&noise->d, j == k ? error : exprs->zero);
        Expr moved = expr_diff_operator(exprs, e, noise->a.at, noise->d.at, n);
        vec_push(&sum, size_of(exprs, moved ? moved : error));
    }
    Expr result = expr_make(exprs, OP_ADD, sum.at, sum.n);
    vec_free(&sum);
    return result;
}

static Expr
part_error(Noise *noise, Expr e)
{
    Exprs *exprs = noise->exprs;
    Op op = expr_op(exprs, e);
    if (op == OP_CONST) {
        double value = expr_value(exprs, e);
        return expr_const(exprs, value == rint(value) ? 0 : fabs(value)); // whole numbers are exact
    }
    if (op == OP_SLOT)
        return expr_slot(exprs, noise->n + expr_slot_of(exprs, e));
    if (op == OP_IF)
        return expr_3(exprs, OP_IF, expr_arg(exprs, e, 0), error_of(noise, expr_arg(exprs, e, 1)),
                      error_of(noise, expr_arg(exprs, e, 2)));
    if (op == OP_NEG || op == OP_ABS)
        return error_of(noise, expr_arg(exprs, e, 0));
    if (op_table[op].kind == OPKIND_ARITH)
        return expr_2(exprs, OP_ADD, inherited(noise, e), size_of(exprs, e));
    if (op_table[op].kind == OPKIND_MATH || op == OP_MIN || op == OP_MAX || op == OP_LUZ)
        return expr_2(exprs, OP_ADD, inherited(noise, e), size_of(exprs, e));
    if (op == OP_RESULT || op == OP_PICK)
        return size_of(exprs, e);
    return exprs->zero; // conditions, steps
}

Expr
expr_noise(Exprs *exprs, Expr e)
{
    Noise noise = {.exprs = exprs, .n = expr_nslots(exprs, e)};
    U32Vec parts = {0};
    uint32_t known;
    if (map_get(&exprs->noise_of, e, &known))
        return known;
    expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n; i++)
        map_put(&noise.of, parts.at[i], part_error(&noise, parts.at[i]));
    Expr result = error_of(&noise, e);
    map_free(&noise.of);
    vec_free(&noise.a);
    vec_free(&noise.d);
    vec_free(&parts);
    map_put(&exprs->noise_of, e, result);
    return result;
}
