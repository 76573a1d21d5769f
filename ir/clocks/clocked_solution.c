// clocked_solution.c: what a clocked equation determines, and what it gives that.
//
// Purpose: at a tick previous(x) is a number, whatever x is now (Modelica 3.6, section 16.4). Method: previous() is taken out of the
// equation before it is looked at.
// Contract: clock_inner.h; changes nothing. Complexity: linear in the equation.
#include "ir/clocks/clock_inner.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

static Expr
forget_past(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    (void)context;
    (void)args;
    return expr_op(exprs, part) == OP_PREVIOUS ? expr_const(exprs, 0) : 0;
}

Expr
clocks_without_past(Dae *dae, Expr e)
{
    return expr_rewrite(dae->exprs, e, forget_past, NULL);
}

static Var
bare(const Dae *dae, const Equation *equation, Expr side)
{
    return expr_op(dae->exprs, side) == OP_SLOT ? dae->rows.at[equation->row + expr_slot_of(dae->exprs, side)] : NONE;
}

Var
clocks_alone(Dae *dae, uint32_t equation, uint32_t side)
{
    const Equation *this = &dae->equations.at[equation];
    Expr own = expr_arg(dae->exprs, this->shape, side), other = expr_arg(dae->exprs, this->shape, 1 - side);
    Var var = bare(dae, this, own);
    if (var == NONE || expr_uses_slot(dae->exprs, clocks_without_past(dae, other), expr_slot_of(dae->exprs, own)))
        return NONE;
    return var;
}

Expr
clocks_solved(Dae *dae, uint32_t equation, Var var)
{
    const Equation *this = &dae->equations.at[equation];
    uint32_t n, k = 0;
    for (uint32_t side = 0; side < 2 && expr_op(dae->exprs, this->shape) == OP_EQN; side++)
        if (clocks_alone(dae, equation, side) == var)
            return expr_arg(dae->exprs, this->shape, 1 - side);
    const Var *row = dae_row(dae, equation, &n);
    while (k < n && row[k] != var)
        k++;
    // A value from the past that contains the variable is a number now.
    U32Vec parts = {0};
    bool past = false;
    expr_parts(dae->exprs, this->shape, &parts);
    for (uint32_t i = 0; i < parts.n && !past; i++)
        past = expr_op(dae->exprs, parts.at[i]) == OP_PREVIOUS && expr_uses_slot(dae->exprs, parts.at[i], k);
    vec_free(&parts);
    Expr divisor = 0;
    Expr value = past || k == n ? 0 : expr_solve(dae->exprs, this->shape, k, &divisor);
    return divisor ? 0 : value;
}
