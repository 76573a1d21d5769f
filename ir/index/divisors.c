// divisors.c: divisors: what equations are divided by, checked when parameters have other values.
//
// Purpose: a divisor was chosen for the values that parameters have while compiling. With others its terms may cancel to a rounding
// residue of zero, and what is divided by it would be noise.
// Method: an assertion  d == 0 or abs(d) > 16*epsilon*noise(d)  for each divisor with a sum or a function in it (expr_noise);
// a zero proper is seen by whoever divides by it. The noise of a parameter that others give is that of its bind.
// Contract: solve.c calls it for what it divides by; equal assertions are made once. Complexity: linear in the divisors.
#include <float.h>

#include "ir/dae/guards.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/structure/causal.h"

enum { OPERATIONS_MOST = 60 }; // of a divisor that is looked at

// Operators by which a value can become a residue; products and quotients of numbers cannot.
static bool
can_cancel(const Exprs *exprs, Expr e)
{
    return expr_has_op(exprs, e, OP_ADD) || expr_has_op(exprs, e, OP_SIN) || expr_has_op(exprs, e, OP_COS)
           || expr_has_op(exprs, e, OP_TAN) || expr_has_op(exprs, e, OP_LOG) || expr_has_op(exprs, e, OP_RESULT);
}

// The error of a parameter's value over `vars`, to which the parameters of its bind are appended. 0: the parameter is exact.
static Expr
error_of_value(Dae *dae, uint32_t slot, U32Vec *vars)
{
    Exprs *exprs = dae->exprs;
    Var var = vars->at[slot];
    const Bind *bind = dae_value_bind(dae, var);
    uint32_t n = bind ? expr_nslots(exprs, bind->shape) : 0;
    if (dae_type(dae, var) != TYPE_REAL)
        return expr_const(exprs, 0);
    if (!bind || !can_cancel(exprs, bind->shape) || expr_operations(exprs, bind->shape) > OPERATIONS_MOST)
        return expr_1(exprs, OP_ABS, expr_slot(exprs, slot));
    U32Vec with = {0};
    for (uint32_t k = 0; k < n; k++) {
        vec_push(&with, expr_slot(exprs, vars->n));
        vec_push(vars, dae->rows.at[bind->row + k]);
    }
    for (uint32_t k = 0; k < n; k++)
        vec_push(&with, expr_1(exprs, OP_ABS, with.at[k]));
    Expr noise = expr_substitute(exprs, expr_noise(exprs, bind->shape), with.at, with.n);
    vec_free(&with);
    return noise;
}

// d == 0 or abs(d) > 16*epsilon*noise
static Expr
condition_of(Dae *dae, Expr divisor, U32Vec *vars)
{
    Exprs *exprs = dae->exprs;
    U32Vec with = {0};
    uint32_t n = vars->n;
    for (uint32_t k = 0; k < n; k++)
        vec_push(&with, expr_slot(exprs, k));
    for (uint32_t k = 0; k < n; k++)
        vec_push(&with, expr_uses_slot(exprs, divisor, k) ? error_of_value(dae, k, vars) : expr_const(exprs, 0));
    Expr noise = expr_substitute(exprs, expr_noise(exprs, divisor), with.at, with.n);
    Expr bound = expr_2(exprs, OP_MUL, expr_const(exprs, 16 * DBL_EPSILON), noise);
    vec_free(&with);
    return expr_2(exprs, OP_OR, expr_2(exprs, OP_EQ, divisor, expr_const(exprs, 0)),
                  expr_2(exprs, OP_GT, expr_1(exprs, OP_ABS, divisor), bound));
}

// Whether the value can be a residue: by what it is made of, or by what a parameter in it is made of.
static bool
may_be_residue(Dae *dae, Expr e, const Var *vars)
{
    bool may = can_cancel(dae->exprs, e);
    for (uint32_t k = 0, n = expr_nslots(dae->exprs, e); k < n && !may; k++) {
        const Bind *bind = expr_uses_slot(dae->exprs, e, k) ? dae_value_bind(dae, vars[k]) : NULL;
        may = bind && can_cancel(dae->exprs, bind->shape);
    }
    return may && expr_nslots(dae->exprs, e) && expr_operations(dae->exprs, e) <= OPERATIONS_MOST;
}

static Sym
message_of(Dae *dae, Expr divisor, const Var *vars)
{
    return dae_guard_message(dae, divisor, vars, ", by which this equation has to be divided, is zero but for rounding");
}

void
causal_guard(Dae *dae, Expr divisor, const Var *vars, uint32_t equation)
{
    Assert made = {.span = dae->equations.at[equation].span, .inst = dae->nodes.at[dae->equations.at[equation].node].inst};
    U32Vec all = {0};
    if (!may_be_residue(dae, divisor, vars))
        return;
    vec_append(&all, vars, expr_nslots(dae->exprs, divisor));
    Expr condition = condition_of(dae, divisor, &all);
    dae_bind_shape(dae, condition, all.at, &made.condition, &made.row);
    dae_guard(dae, made, message_of, divisor, vars);
    vec_free(&all);
}
