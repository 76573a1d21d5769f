// operator_calls.c: operators whose calls in equations become expressions over hidden variables.
//
// Purpose: what such operators have in common: walking over equations, replacing, refusing, hidden variables and their equations.
// Method: calls are replaced from the inside out, once per equation and distinct call; the walk has a stack of its own (expr_rewrite).
// Contract: operator_calls.h. What is appended while equations are walked over has no calls: inner ones come first.
// Complexity: linear in the equations with calls.
#include "ir/operator/operator_calls.h"

#include "ir/base/diag.h"
#include "ir/dae/model_shapes.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

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
    return naming_number(&calls->naming, inst_of(calls));
}

bool
calls_is_parametric(const Calls *calls, Expr e)
{
    return dae_is_parametric(calls->dae, e, calls->naming.vars.at);
}

Var
calls_hidden(Calls *calls, const char *stem, uint32_t number, VarKind kind, VarType type)
{
    return naming_hidden(&calls->naming, inst_of(calls), stem, number, kind, type);
}

Expr
calls_slot(Calls *calls, Var var)
{
    vec_push(&calls->naming.vars, var);
    return expr_slot(calls->dae->exprs, calls->naming.vars.n - 1);
}

void
calls_equate(Calls *calls, Expr left, Expr right)
{
    Equation owner = calls->dae->equations.at[calls->equation];
    dae_equate(calls->dae, EQN_NORMAL, left, right, calls->naming.vars.at, owner.node, owner.span);
}

Var
calls_define(Calls *calls, Expr e, const char *stem, uint32_t number)
{
    return naming_define(&calls->naming, calls->equation, e, stem, number, true);
}

Var
calls_variable(Calls *calls, Expr e, const char *stem, uint32_t number)
{
    Var var = naming_bare(&calls->naming, e, true);
    return var != NONE ? var : calls_define(calls, e, stem, number);
}

// --- the walk

static Expr
replace_call(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Calls *calls = context;
    if (expr_op(exprs, part) != calls->row->op)
        return 0;
    Expr call = expr_make(exprs, calls->row->op, args, expr_nargs(exprs, part));
    if (expr_op(exprs, call) != calls->row->op)
        return call;
    Expr made = calls->row->replace(calls, call);
    calls->good = calls->good && made;
    return made ? made : expr_const(exprs, 0);
}

static void
refuse(void *context, Span span, const char *reason)
{
    Calls *calls = context;
    calls->good = false;
    if (calls->row->refuse) {
        calls->row->refuse(calls, span, reason);
        return;
    }
    Diag *diag = diag_add(calls->diags, E0720, span, "'%s' cannot stand here", op_table[calls->row->op].text);
    diag_help(diag, "give its value a variable of its own, with an equation");
}

static void
visit(Calls *calls, uint32_t equation)
{
    Dae *dae = calls->dae;
    Equation at = dae->equations.at[equation];
    if (calls->row->once && (at.kind == EQN_INITIAL || at.kind == EQN_WHEN)) {
        refuse(calls, at.span, calls->row->once);
        return;
    }
    calls->equation = equation;
    naming_open(&calls->naming, equation);
    naming_close(&calls->naming, equation, expr_rewrite(dae->exprs, at.shape, replace_call, calls));
}

void
operators_elsewhere(const Dae *dae, const Op *ops, uint32_t n, RefuseOperator *refuse_it, void *context)
{
    static const char *const reasons[SHAPE_PLACES] = {
        [SHAPE_IN_BIND] = "it gives a parameter or an attribute its value", [SHAPE_IN_RATE] = "a rate is made of it",
        [SHAPE_IN_REINIT] = "reinit() needs one value",
        [SHAPE_IN_ASSERT] = "an assertion compares it", [SHAPE_IN_MESSAGE] = "a message tells it",
        [SHAPE_IN_ENERGY] = "an energy is made of it", [SHAPE_IN_JUMP] = "a jump is made of it", [SHAPE_IN_LEAP] = "a jump is made of it",
    };
    for (ModelShape at = {.place = SHAPE_IN_BIND}; model_shape_next(dae, &at);) {
        bool stands = false;
        for (uint32_t i = 0; i < n; i++)
            stands |= expr_has_op(dae->exprs, at.shape, ops[i]);
        if (stands)
            refuse_it(context, at.span, reasons[at.place]);
    }
}

bool
calls_replace(Calls *calls, const OperatorRow *row)
{
    Dae *dae = calls->dae;
    uint32_t n = dae->equations.n;
    calls->row = row;
    calls->good = true;
    if (!exprs_have_op(dae->exprs, row->op))
        return true;
    operators_elsewhere(dae, &row->op, 1, refuse, calls);
    for (uint32_t i = 0; i < n; i++)
        if (dae->equations.at[i].kind != EQN_REMOVED && expr_has_op(dae->exprs, dae->equations.at[i].shape, row->op))
            visit(calls, i);
    naming_free(&calls->naming);
    return calls->good;
}
