// rate.c: the time derivative of an equation.
//
// Purpose: index reduction differentiates constraints, the audit positions whose velocity carries power.
// Method: on the shape, memoized by (shape, which slots have a rate); per equation only the row is made.
// Contract: rate.h. Complexity: linear in the row; the text is differentiated once.
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/structure/rate.h"

// The derivative shape; a source below n is a slot of the equation, n + k the rate of slot k.
static const Pattern *
differentiate_shape(Structure *structure, Patterns *rates, const U32Vec *pattern)
{
    Exprs *exprs = structure->dae->exprs;
    const Pattern *known = patterns_find(rates, structure->shape, pattern->at, pattern->n);
    if (known)
        return known;
    U32Vec rate = {0}, order = {0};
    for (uint32_t k = 0; k < pattern->n; k++)
        vec_push(&rate, pattern->at[k] ? expr_slot(exprs, pattern->n + k) : 0);
    Expr equation = structure->shape;
    bool sides = expr_op(exprs, equation) == OP_EQN;
    Expr left = sides ? expr_arg(exprs, equation, 0) : equation;
    Expr right = sides ? expr_arg(exprs, equation, 1) : expr_const(exprs, 0);
    left = expr_rate(exprs, left, rate.at, rate.n);
    right = expr_rate(exprs, right, rate.at, rate.n);
    Expr result = left && right ? expr_shape(exprs, expr_2(exprs, OP_EQN, left, right), &order) : 0;
    known = patterns_add(rates, equation, pattern->at, pattern->n, result, order.at, order.n);
    vec_free(&rate);
    vec_free(&order);
    return known;
}

bool
rate_of(Structure *structure, Patterns *rates, Expr *shape, uint32_t *row)
{
    Dae *dae = structure->dae;
    U32Vec pattern = {0};
    uint32_t n = structure->vars.n;
    for (uint32_t k = 0; k < n; k++) {
        Var var = structure->vars.at[k];
        vec_push(&pattern, dae_kind(dae, var) == VAR_CONTINUOUS && dae->var_pre_of.at[var] == NONE);
    }
    const Pattern *rate = differentiate_shape(structure, rates, &pattern);
    vec_free(&pattern);
    *shape = rate->result;
    *row = dae->rows.n;
    for (uint32_t k = 0; rate->result && k < rate->n_result; k++) {
        uint32_t source = rate->source[k];
        Var var = structure->vars.at[source < n ? source : source - n];
        vec_push(&dae->rows, source < n ? var : dae_der(dae, var));
    }
    return rate->result;
}

uint32_t
rate_append(Structure *structure, Patterns *rates, uint32_t equation)
{
    Expr shape;
    uint32_t row;
    if (!rate_of(structure, rates, &shape, &row))
        return NONE;
    Equation old = structure->dae->equations.at[equation];
    return dae_generate(structure->dae, EQN_NORMAL, shape, row, old.node, old.span);
}
