// jumps.c: equations that are differentiated although they may jump at events.
//
// Purpose: a voltage that steps on a capacitor, a velocity that steps on a mass: what jumps and is differentiated makes an impulse.
// Method: an equation 0 = g that may jump (a choice, a discrete variable) and its derivative 0 = dg/dt get an impulse k, a
//         hidden parameter that is 0: 0 = dg/dt + k. At an event that leaves g = r with the continuous variables of before it, k has the
//         integral r over the event; what that does to the derivatives of states is what the event does to states
//         (runtime/event/jump.c). The equation itself becomes g = j with another such parameter, so that the way of the jump can be looked at.
//         Conditions in noEvent() are evaluated as they stand in the equation, but make events in the g of the table, or nobody would
//         know of the jump.
// Contract: jumps.h. Complexity: linear in the row.
#include "ir/index/jumps.h"
#include "ir/expr/expr.h"

static bool
may_jump(const Structure *structure)
{
    const Dae *dae = structure->dae;
    if (expr_has_op(dae->exprs, structure->shape, OP_IF) || expr_has_op(dae->exprs, structure->shape, OP_SIGN))
        return true;
    for (uint32_t k = 0; k < structure->vars.n; k++)
        if (dae_kind(dae, structure->vars.at[k]) == VAR_DISCRETE)
            return true;
    return false;
}

// noEvent() of what jumps. Kinks make no impulse, so that minima and absolute values stay as they are.
static Expr
open_silent(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    bool *opened = context;
    if (expr_op(exprs, part) != OP_NOEVENT || !(expr_has_op(exprs, args[0], OP_IF) || expr_has_op(exprs, args[0], OP_SIGN)))
        return 0;
    *opened = true;
    return args[0];
}

static bool
is_of_law(const Dae *dae, uint32_t equation)
{
    for (uint32_t i = 0; i < dae->laws.n; i++)
        if (dae->laws.at[i].equation == equation)
            return true;
    return false;
}

Var
jumps_zero(Dae *dae, const char *stem)
{
    Var zero = dae_add_var(dae, arena_printf(dae->arena, "$%s%u", stem, dae->jumps.n + 1), 0, VAR_PARAMETER, TYPE_REAL, false);
    dae_add_bind(dae, (Bind){.var = zero, .attr = ATTR_VALUE, .shape = expr_const(dae->exprs, 0)});
    return zero;
}

// The equation becomes left = right + sign*var, where it was `shape` (over `vars`, n slots).
static void
put(Dae *dae, uint32_t equation, Expr shape, const Var *vars, uint32_t n, Var var, bool negative)
{
    Exprs *exprs = dae->exprs;
    U32Vec all = {0};
    bool sides = expr_op(exprs, shape) == OP_EQN;
    Expr left = sides ? expr_arg(exprs, shape, 0) : shape, right = sides ? expr_arg(exprs, shape, 1) : expr_const(exprs, 0);
    Expr slot = expr_slot(exprs, n);
    right = negative ? expr_sub(exprs, right, slot) : expr_2(exprs, OP_ADD, right, slot);
    vec_append(&all, vars, n);
    vec_push(&all, var);
    uint32_t row;
    dae_bind_shape(dae, expr_2(exprs, OP_EQN, left, right), all.at, &shape, &row);
    dae->equations.at[equation].shape = shape;
    dae->equations.at[equation].row = row;
    vec_free(&all);
}

void
jumps_add(Structure *structure, uint32_t equation, uint32_t made)
{
    Dae *dae = structure->dae;
    Exprs *exprs = dae->exprs;
    if (!may_jump(structure) || is_of_law(dae, equation))
        return;
    Expr shape = structure->shape;
    Jump jump = {.equation = equation, .derivative = made, .state = NONE};
    Out text = {0};
    dae_print_equation(dae, equation, &text);
    jump.text = arena_strndup(dae->arena, text.text ? text.text : "", text.length);
    out_free(&text);
    bool sides = expr_op(exprs, shape) == OP_EQN;
    Expr rest = sides ? expr_sub(exprs, expr_arg(exprs, shape, 0), expr_arg(exprs, shape, 1)) : shape;
    rest = expr_has_op(exprs, rest, OP_NOEVENT) ? expr_rewrite(exprs, rest, open_silent, &jump.literal) : rest;
    dae_bind_shape(dae, rest, structure->vars.at, &jump.rest, &jump.row);
    jump.impulse = jumps_zero(dae, "impulse");
    jump.offset = jumps_zero(dae, "offset");
    put(dae, equation, shape, structure->vars.at, structure->vars.n, jump.offset, false);
    shape = dae->equations.at[made].shape;
    U32Vec vars = {0}; // rows may move while they grow
    vec_append(&vars, dae->rows.at + dae->equations.at[made].row, expr_nslots(exprs, shape));
    put(dae, made, shape, vars.at, vars.n, jump.impulse, true);
    vec_free(&vars);
    vec_push(&dae->jumps, jump);
}
