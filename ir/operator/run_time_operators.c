// run_time_operators.c: calls of operators that a run computes.
//
// Purpose: what `delays` and `fractional` have in common: walking over equations, hidden variables and their equations.
// Method: calls are replaced from the inside out, once per equation and distinct call.
// Contract: run_time_operators.h. What is appended while equations are walked over has no calls: inner ones come first.
// Complexity: linear in the equations with calls.
#include "ir/operator/run_time_operators.h"
#include "ir/base/diag.h"

static uint32_t
inst_of(const Calls *calls)
{
    return calls->dae->nodes.at[calls->dae->equations.at[calls->equation].node].inst;
}

Span
calls_span(const Calls *calls)
{
    return calls->dae->equations.at[calls->equation].span;
}

uint32_t
calls_number(Calls *calls)
{
    uint32_t number = 0, inst = inst_of(calls);
    map_get(&calls->number_of, inst, &number);
    map_put(&calls->number_of, inst, ++number);
    return number;
}

Var
calls_hidden(Calls *calls, const char *stem, uint32_t number, VarKind kind)
{
    Dae *dae = calls->dae;
    return dae_add_var(dae, arena_printf(dae->arena, "$%s%u", stem, number), inst_of(calls), kind, TYPE_REAL, false);
}

bool
calls_is_parametric(const Calls *calls, Expr e)
{
    const Dae *dae = calls->dae;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, e); k++) {
        VarKind kind = dae_kind(dae, calls->vars.at[k]);
        if (expr_uses_slot(dae->exprs, e, k) && kind != VAR_PARAMETER && kind != VAR_CONSTANT)
            return false;
    }
    return !expr_has_op(dae->exprs, e, OP_TIME);
}

Expr
calls_slot(Calls *calls, Var var)
{
    vec_push(&calls->vars, var);
    return expr_slot(calls->dae->exprs, calls->vars.n - 1);
}

void
calls_equate(Calls *calls, Expr left, Expr right)
{
    Dae *dae = calls->dae;
    Equation owner = dae->equations.at[calls->equation];
    uint32_t row;
    Expr shape;
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, left, right), calls->vars.at, &shape, &row);
    uint32_t added = dae_add_equation(dae, EQN_NORMAL, shape, row, owner.node, owner.span);
    dae->equations.at[added].generated = 1;
}

Var
calls_define(Calls *calls, Expr e, const char *stem, uint32_t number)
{
    Dae *dae = calls->dae;
    bool bind = calls_is_parametric(calls, e);
    Var var = calls_hidden(calls, stem, number, bind ? VAR_PARAMETER : VAR_CONTINUOUS);
    if (!bind) {
        calls_equate(calls, calls_slot(calls, var), e);
        return var;
    }
    Bind made = {.var = var, .attr = ATTR_VALUE, .span = calls_span(calls)};
    dae_bind_shape(dae, e, calls->vars.at, &made.shape, &made.row);
    dae_add_bind(dae, made);
    return var;
}

Var
calls_variable(Calls *calls, Expr e, const char *stem, uint32_t number)
{
    const Exprs *exprs = calls->dae->exprs;
    if (expr_op(exprs, e) == OP_CONST)
        return dae_literal(calls->dae, expr_value(exprs, e));
    if (expr_op(exprs, e) == OP_SLOT)
        return calls->vars.at[expr_slot_of(exprs, e)];
    return calls_define(calls, e, stem, number);
}

static Expr
replace_call(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Calls *calls = context;
    if (expr_op(exprs, part) != calls->op)
        return 0;
    Expr call = expr_make(exprs, calls->op, args, expr_nargs(exprs, part));
    if (expr_op(exprs, call) != calls->op)
        return call;
    Expr made = calls->replace(calls, call);
    calls->good = calls->good && made;
    return made ? made : expr_const(exprs, 0);
}

static void
visit(Calls *calls, uint32_t equation)
{
    Dae *dae = calls->dae;
    uint32_t n, new_row;
    const Var *row = dae_row(dae, equation, &n);
    vec_clear(&calls->vars);
    vec_append(&calls->vars, row, n);
    calls->equation = equation;
    Expr shape, text = expr_rewrite(dae->exprs, dae->equations.at[equation].shape, replace_call, calls);
    dae_bind_shape(dae, text, calls->vars.at, &shape, &new_row);
    dae->equations.at[equation].shape = shape;
    dae->equations.at[equation].row = new_row;
}

static void
refuse(Calls *calls, Expr shape, Span span)
{
    if (!expr_has_op(calls->dae->exprs, shape, calls->op))
        return;
    Diag *diag = diag_add(calls->diags, E0720, span, "'%s' cannot stand here", op_table[calls->op].text);
    diag_help(diag, "give its value a variable of its own, with an equation");
    calls->good = false;
}

static void
refuse_elsewhere(Calls *calls)
{
    const Dae *dae = calls->dae;
    for (uint32_t i = 0; i < dae->binds.n; i++)
        refuse(calls, dae->binds.at[i].shape, dae->binds.at[i].span);
    for (uint32_t i = 0; i < dae->reinits.n; i++)
        refuse(calls, dae->reinits.at[i].value, dae->reinits.at[i].span);
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        refuse(calls, dae->asserts.at[i].condition, dae->asserts.at[i].span);
    for (uint32_t i = 0; i < dae->told.n; i++)
        refuse(calls, dae->told.at[i].shape, dae->told.at[i].span);
}

bool
calls_replace(Calls *calls)
{
    Dae *dae = calls->dae;
    uint32_t n = dae->equations.n;
    if (!exprs_have_op(dae->exprs, calls->op))
        return true;
    calls->good = true;
    refuse_elsewhere(calls);
    for (uint32_t i = 0; i < n; i++)
        if (dae->equations.at[i].kind != EQN_REMOVED && expr_has_op(dae->exprs, dae->equations.at[i].shape, calls->op))
            visit(calls, i);
    map_free(&calls->number_of);
    vec_free(&calls->vars);
    return calls->good;
}
