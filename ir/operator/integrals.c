// integrals.c: integrals: integral(e, x, a, b) becomes its value.
//
// Purpose: the front end has integrated (ir/expr/integrate.c) and kept, beside the value, what the check of units needs and
// the condition under which a Gauss rule is accurate or an antiderivative has no pole between the limits. Method: shape
// by shape; each condition that is no constant becomes an assertion of the component whose equation it is from.
// Contract: runs after `units`. An equation, bind, assertion or reinit with an integral gets another shape and row;
// assertions are appended. Afterwards nothing contains INTEGRAL. Complexity: linear in the equations with integrals.
//
//     w = integral(k*u, u, 0, x)   =>   w = k*x^2/2
#include "ir/dae/model_shapes.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/integrate.h"
#include "ir/operator/operator.h"
#include "ir/dae/locate.h"

typedef struct Integrals {
    Dae *dae;
    Map checked; // hash of a condition and its variables -> 1
    U32Vec vars;
} Integrals;

static bool
concerns(const Integrals *integrals, Expr shape)
{
    return expr_has_op(integrals->dae->exprs, shape, OP_INTEGRAL);
}

static void
require(Integrals *integrals, Expr condition, uint32_t inst, Span span)
{
    Dae *dae = integrals->dae;
    Assert made = {.inst = inst, .span = span};
    uint32_t seen;
    condition = expr_without_integrals(dae->exprs, condition);
    if (expr_op(dae->exprs, condition) == OP_CONST)
        return;
    dae_bind_shape(dae, expr_1(dae->exprs, OP_NOEVENT, condition), integrals->vars.at, &made.condition, &made.row);
    uint64_t hash = model_shape_hash(dae, made.condition, made.row);
    if (map_get(&integrals->checked, hash, &seen))
        return;
    map_put(&integrals->checked, hash, 1);
    made.message = sym_of(dae->syms, "an integral is not finite between its limits here, or changes too quickly for a "
                                     "Gauss rule of 16 points");
    vec_push(&dae->asserts, made);
}

// The conditions of all integrals in the shape, innermost first.
static void
require_all(Integrals *integrals, Expr shape, uint32_t inst, Span span)
{
    const Exprs *exprs = integrals->dae->exprs;
    U32Vec stack = {0};
    Map seen = {0};
    uint32_t known;
    vec_push(&stack, shape);
    while (stack.n) {
        Expr e = vec_pop(&stack);
        if (!concerns(integrals, e) || map_get(&seen, e, &known))
            continue;
        map_put(&seen, e, 1);
        if (expr_op(exprs, e) == OP_INTEGRAL)
            require(integrals, expr_arg(exprs, e, 1), inst, span);
        for (uint32_t i = 0; i < expr_nargs(exprs, e); i++)
            vec_push(&stack, expr_arg(exprs, e, i));
    }
    vec_free(&stack);
    map_free(&seen);
}

static void
replace_integrals(Integrals *integrals, Expr *shape, uint32_t *row, uint32_t inst, Span span)
{
    Dae *dae = integrals->dae;
    if (!concerns(integrals, *shape))
        return;
    vec_clear(&integrals->vars);
    vec_append(&integrals->vars, dae->rows.at + *row, expr_nslots(dae->exprs, *shape));
    require_all(integrals, *shape, inst, span);
    dae_bind_shape(dae, expr_without_integrals(dae->exprs, *shape), integrals->vars.at, shape, row);
}

void
integrals_of_energies(Dae *dae)
{
    Integrals integrals = {.dae = dae};
    for (uint32_t i = 0; i < dae->energies.n; i++) {
        Energy *energy = &dae->energies.at[i];
        replace_integrals(&integrals, &energy->shape, &energy->row, dae->nodes.at[energy->node].inst, energy->span);
    }
    map_free(&integrals.checked);
    vec_free(&integrals.vars);
}

bool
pass_integrals(Dae *dae, Diags *diags)
{
    Integrals integrals = {.dae = dae};
    (void)diags;
    if (!exprs_have_op(dae->exprs, OP_INTEGRAL))
        return true;
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        Equation *equation = &dae->equations.at[i];
        if (equation->kind != EQN_REMOVED)
            replace_integrals(&integrals, &equation->shape, &equation->row, dae->nodes.at[equation->node].inst, equation->span);
    }
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        Bind *bind = &dae->binds.at[i];
        replace_integrals(&integrals, &bind->shape, &bind->row, locate_var_inst(dae, bind->var), bind->span);
    }
    uint32_t asserts = dae->asserts.n; // those that are appended contain no integrals
    for (uint32_t i = 0; i < asserts; i++) {
        Assert at = dae->asserts.at[i];
        replace_integrals(&integrals, &at.condition, &at.row, at.inst, at.span);
        dae->asserts.at[i] = at;
    }
    for (uint32_t i = 0; i < dae->told.n; i++) {
        Told at = dae->told.at[i];
        replace_integrals(&integrals, &at.shape, &at.row, at.inst, at.span);
        dae->told.at[i] = at;
    }
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        Reinit *reinit = &dae->reinits.at[i];
        replace_integrals(&integrals, &reinit->value, &reinit->row, locate_var_inst(dae, reinit->var), reinit->span);
    }
    map_free(&integrals.checked);
    vec_free(&integrals.vars);
    return true;
}
