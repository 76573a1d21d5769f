// leak.c: ideal diodes that leak while the runtime looks for the modes.
//
// Purpose: of several laws p = unilateral(x) with algebraic x that depend on each other (diodes of a bridge) not every mode has a solution:
//          all open, the potential between them is open; all closed, they short-circuit what lies between. An exchange of modes that
//          passes through such a mode learns nothing there. The same is true of one law beside a switch, 0 = if on then v else i: where
//          the switch opens, the diode must close at the same instant.
// Method:  with a leak r the laws are x + r*p = 0 (closed) and p + r*x = 0 (open). In a passive network every mode then has one
//          solution, the matrix is a P-matrix, and exchanges end (Cottle, Pang, Stone, The Linear Complementarity Problem, 1992,
//          sections 3.3 and 4.4; r is the regularisation of their section 5.6). The runtime looks for the modes with a small r, and
//          goes on with r = 0 (friction_leak).
// Contract: behind pass_index, which has found the levels. Appends a parameter, Dae.leak, where there are such laws. Complexity: linear in the laws.
#include "ir/expr/expr_make.h"
#include "ir/operator/leak.h"

static Expr
leaking_law(Exprs *exprs)
{
    Expr mode = expr_slot(exprs, 0), x = expr_slot(exprs, 1), p = expr_slot(exprs, 2), leak = expr_slot(exprs, 4);
    Expr one = expr_const(exprs, 1), closed = expr_2(exprs, OP_EQ, mode, expr_const(exprs, 0));
    Expr given = expr_2(exprs, OP_MUL, expr_sub(exprs, mode, one), expr_2(exprs, OP_ADD, one, expr_slot(exprs, 3)));
    Expr blocks = expr_2(exprs, OP_ADD, expr_sub(exprs, p, given), expr_2(exprs, OP_MUL, leak, x));
    Expr conducts = expr_2(exprs, OP_ADD, x, expr_2(exprs, OP_MUL, leak, p));
    return expr_2(exprs, OP_EQN, expr_3(exprs, OP_IF, closed, conducts, blocks), expr_const(exprs, 0));
}

static bool
is_algebraic(const Law *law)
{
    return law->unilateral && law->level == 0;
}

static void
let_leak(Dae *dae, const Law *law, Expr shape)
{
    uint32_t n;
    const Var *row = dae_row(dae, law->equation, &n);
    Var with[5] = {row[0], row[1], row[2], row[3], dae->leak};
    uint32_t place = dae_add_row(dae, with, 5);
    dae->equations.at[law->equation].shape = shape;
    dae->equations.at[law->equation].row = place;
}

void
leak_add(Dae *dae)
{
    bool any = false;
    for (uint32_t i = 0; i < dae->laws.n && !any; i++)
        any = is_algebraic(&dae->laws.at[i]);
    if (!any)
        return;
    dae->leak = dae_add_var(dae, "$leak", 0, VAR_PARAMETER, TYPE_REAL, false);
    dae_tell_as(dae, dae->leak, "leak");
    dae_add_bind(dae, (Bind){.var = dae->leak, .attr = ATTR_VALUE, .shape = expr_const(dae->exprs, 0)});
    Expr shape = leaking_law(dae->exprs);
    for (uint32_t i = 0; i < dae->laws.n; i++)
        if (is_algebraic(&dae->laws.at[i]))
            let_leak(dae, &dae->laws.at[i], shape);
}
