// literal.c: literal: what functions called at run time give decides in when-equations without an event of its own.
//
// Purpose: a when-equation is evaluated at events. A relation in it needs no root: it is asked there. Where it stands outside as well, its root is there
// for that, and both must have one value at the instant at which it changes; so relations of variables stay as they are. One about the result of a call
// (the amplitudes of a Fourier transform of what was sampled) stands in one place, and to watch it would call the function at each step.
// Method: relations, limits and the like of which a call is a part go into noEvent.
// Contract: after `laws`, before `integers`. When-equations get another shape. Complexity: linear in the length of the when-equations.
//
//     when c:  y = if f(u) > 1 then f(u) else 0   =>   y = if noEvent(f(u) > 1) then f(u) else 0
#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

static bool
makes_event(Op op)
{
    switch (op) {
    case OP_LT: case OP_LE: case OP_GT: case OP_GE: case OP_EQ: case OP_NE: case OP_ABS: case OP_SIGN: case OP_MIN: case OP_MAX:
        return true;
    default:
        return false;
    }
}

static Expr
make_literal(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Op op = expr_op(exprs, part);
    (void)context;
    return makes_event(op) && expr_has_op(exprs, part, OP_CALL) ? expr_1(exprs, OP_NOEVENT, expr_make(exprs, op, args, expr_nargs(exprs, part))) : 0;
}

bool
pass_literal(Dae *dae, Diags *diags)
{
    (void)diags; // nothing is refused
    for (uint32_t i = 0; exprs_have_op(dae->exprs, OP_CALL) && i < dae->equations.n; i++) {
        Equation *at = &dae->equations.at[i];
        if (at->kind == EQN_WHEN && expr_has_op(dae->exprs, at->shape, OP_CALL))
            at->shape = expr_rewrite(dae->exprs, at->shape, make_literal, NULL);
    }
    return true;
}
