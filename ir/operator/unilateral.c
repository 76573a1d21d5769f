// unilateral.c: unilateral constraints become unknown reactions.
//
// Purpose: contact of bodies, stops, freewheels, ideal diodes: p = unilateral(x, e) says x >= 0, p >= 0 and x*p = 0. Where x is
// a gap between masses an impact reverses der(x) with the coefficient of restitution e (Newton).
// Method: each call gets an unknown p and a law, as a set-valued term of friction does (laws.c): either p = 0, or x is held
// at zero and p is what that takes (Glocker, Set-Valued Force Laws, 2001, chapter 3; Brogliato, Nonsmooth Mechanics, 2016).
// Pass `index` finds how often x has to be differentiated until p acts on it.
// Contract: after `contract`, before `units`: p takes the unit it meets. Appends variables, equations, binds and laws; an equation
// gets another shape and row. Afterwards no equation contains UNILATERAL. Complexity: linear in the equations with calls.
//
//     f = unilateral(s - 1, 0.5)   =>   f = $reaction1,  $gap1 = s - 1,
//                                       law: if $open1 == 0 then $gap1 else $reaction1 - ($open1 - 1)*(1 + 0.5) = 0
#include "ir/base/diag.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/operator/operator_calls.h"

static void
refuse(Calls *calls, Span span, const char *reason)
{
    Diag *diag = diag_add(calls->diags, E0508, span, "this unilateral constraint has no meaning: %s", reason);
    diag_help(diag, "unilateral(gap, e) is the reaction that keeps the gap from becoming negative; e is the coefficient of "
                    "restitution of impacts, from 0 to 1");
}

// Why it has no meaning, or NULL.
static const char *
wrong(const Calls *calls, Expr gap, Expr restitution)
{
    static const char *const of_gap[] = {[HOLDS_KNOWN] = "its gap is known before the start",
                                         [HOLDS_NO_UNKNOWN] = "its gap is no unknown that a force could hold at zero"};
    const Exprs *exprs = calls->dae->exprs;
    Holding holding = naming_holding(&calls->naming, gap);
    if (holding != HOLDS)
        return of_gap[holding];
    if (!calls_is_parametric(calls, restitution))
        return "its coefficient of restitution must be known before the start";
    double e = expr_op(exprs, restitution) == OP_CONST ? expr_value(exprs, restitution) : 0;
    return e >= 0 && e <= 1 ? NULL : "its coefficient of restitution is not between 0 and 1";
}

static Expr
law_shape(Exprs *exprs)
{
    Expr mode = expr_slot(exprs, 0), x = expr_slot(exprs, 1), p = expr_slot(exprs, 2), e = expr_slot(exprs, 3);
    Expr one = expr_const(exprs, 1), closed = expr_2(exprs, OP_EQ, mode, expr_const(exprs, 0));
    Expr given = expr_2(exprs, OP_MUL, expr_sub(exprs, mode, one), expr_2(exprs, OP_ADD, one, e));
    Expr law = expr_3(exprs, OP_IF, closed, x, expr_sub(exprs, p, given));
    return expr_2(exprs, OP_EQN, law, expr_const(exprs, 0));
}

static Expr
reaction(Calls *calls, Expr call)
{
    Dae *dae = calls->dae;
    Equation owner = dae->equations.at[calls->equation];
    Expr gap = expr_arg(dae->exprs, call, 0), restitution = expr_arg(dae->exprs, call, 1);
    const char *reason = wrong(calls, gap, restitution);
    if (reason) {
        refuse(calls, owner.span, reason);
        return 0;
    }
    uint32_t number = calls_number(calls);
    Law law = {.unilateral = 1, .span = owner.span};
    law.x = calls_variable(calls, gap, "gap", number);
    law.a = calls_variable(calls, restitution, "restitution", number);
    law.p = calls_hidden(calls, "reaction", number, VAR_CONTINUOUS, TYPE_REAL);
    law.mode = calls_hidden(calls, "open", number, VAR_DISCRETE, TYPE_INTEGER);
    naming_tell(dae, law.p, "unilateral", law.x, NONE);
    naming_tell(dae, law.mode, "open", law.x, NONE);
    uint32_t row = dae_add_row(dae, (Var[]){law.mode, law.x, law.p, law.a}, 4);
    law.equation = dae_generate(dae, EQN_LAW, law_shape(dae->exprs), row, owner.node, owner.span);
    vec_push(&dae->laws, law);
    return calls_slot(calls, law.p);
}

bool
pass_unilateral(Dae *dae, Diags *diags)
{
    static const OperatorRow row = {OP_UNILATERAL, reaction, refuse, "its reaction is no unknown of this equation"};
    Calls calls = {.dae = dae, .diags = diags, .naming.dae = dae};
    return calls_replace(&calls, &row);
}
