// initial_whens.c: conditions of when-clauses that are initial().
//
// Purpose: what such clauses say belongs to the initial equations, and is no event (Modelica specification 3.6, section 8.6).
// Method: the conditions of a clause are Booleans of their own (frontend/equation/when.c); w = initial() names one. At the start its edge, w and
// not pre(w), has risen, and that of no other condition has.
// Contract: initial_whens.h. Complexity: linear in the equations, and in an expression.
#include "ir/dae/initial_whens.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

// The equation says w = ... of a condition w: that is slot 0.
static bool
defines_when(const Dae *dae, const Equation *at)
{
    const Exprs *exprs = dae->exprs;
    return at->kind == EQN_NORMAL && expr_op(exprs, at->shape) == OP_EQN && expr_op(exprs, expr_arg(exprs, at->shape, 0)) == OP_SLOT
           && expr_slot_of(exprs, expr_arg(exprs, at->shape, 0)) == 0 && dae_is_when(dae, dae->rows.at[at->row]);
}

bool
initial_whens(const Dae *dae, U8Vec *initial)
{
    bool any = false;
    for (uint32_t i = 0; exprs_have_op(dae->exprs, OP_INITIAL) && i < dae->equations.n; i++) {
        const Equation *at = &dae->equations.at[i];
        if (!defines_when(dae, at) || expr_op(dae->exprs, expr_arg(dae->exprs, at->shape, 1)) != OP_INITIAL)
            continue;
        if (!any)
            vec_grow(initial, dae->nvars);
        initial->at[dae->rows.at[at->row]] = any = true;
    }
    return any;
}

Expr
initial_whens_value(const Dae *dae, const U8Vec *initial, Expr e, const Var *vars, bool *active)
{
    Exprs *exprs = dae->exprs;
    U32Vec with = {0};
    *active = false;
    for (uint32_t k = 0; k < expr_nslots(exprs, e); k++) {
        Var of = dae->var_pre_of.at[vars[k]];
        bool rises = of == NONE && vars[k] < initial->n && initial->at[vars[k]];
        bool when = dae_is_when(dae, of == NONE ? vars[k] : of);
        vec_push(&with, when ? expr_const(exprs, rises) : expr_slot(exprs, k));
        *active = *active || rises;
    }
    e = expr_substitute(exprs, e, with.at, with.n);
    vec_free(&with);
    return e;
}

Expr
initial_whens_edge(const Dae *dae, const U8Vec *initial, Var when, uint32_t *equation)
{
    Exprs *exprs = dae->exprs;
    bool active = false;
    Expr condition = 0;
    *equation = NONE;
    for (uint32_t i = 0; i < dae->equations.n && *equation == NONE; i++)
        if (defines_when(dae, &dae->equations.at[i]) && dae->rows.at[dae->equations.at[i].row] == when)
            *equation = i;
    if (*equation == NONE)
        return expr_const(exprs, 0);
    const Equation *at = &dae->equations.at[*equation];
    condition = expr_arg(exprs, at->shape, 1);
    if (expr_op(exprs, condition) == OP_INITIAL)
        return expr_const(exprs, 1);
    condition = initial_whens_value(dae, initial, condition, dae->rows.at + at->row, &active);
    return active ? condition : expr_const(exprs, 0);
}
