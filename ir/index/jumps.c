// jumps.c: equations that are differentiated although they may jump at events.
//
// Purpose: a voltage that steps on a capacitor, a velocity that steps on a mass: what jumps and is differentiated makes an impulse.
// Method: an equation 0 = g that may jump (a choice, a discrete variable) and its derivative 0 = dg/dt get an impulse k, a
//         hidden parameter that is 0: 0 = dg/dt + k. At an event that leaves g = r with the continuous variables of before it, k has the
//         integral r over the event; what that does to the derivatives of states is what the event does to states
//         (runtime/event/jump.c). The equation itself becomes g = j with another such parameter, so that the way of the jump can be looked at.
//         Conditions, steps and comparisons in noEvent() are evaluated as they stand in the equation, but make events in the g of the
//         table, or nobody would know of the jump. Functions that are called at run time branch where no event can be: each
//         such call is remembered with its derivative, and the runtime looks whether one follows from the other (runtime/event/leap.c).
// Contract: jumps.h. Complexity: linear in the row.
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/index/jumps.h"
#include "ir/expr/routine.h"
#include "ir/operator/operator.h"

static const Op JUMPS[] = {OP_IF, OP_SIGN, OP_FLOOR, OP_CEIL, OP_TRUNC};
static const Op COMPARES[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE};

static bool
has_any(const Exprs *exprs, Expr e, const Op *ops, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (expr_has_op(exprs, e, ops[i]))
            return true;
    return false;
}

static bool
may_jump(const Structure *structure)
{
    const Dae *dae = structure->dae;
    if (has_any(dae->exprs, structure->shape, JUMPS, sizeof JUMPS / sizeof *JUMPS) || expr_has_op(dae->exprs, structure->shape, OP_CALL))
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
    if (expr_op(exprs, part) != OP_NOEVENT || !(has_any(exprs, args[0], JUMPS, sizeof JUMPS / sizeof *JUMPS)
                                                || has_any(exprs, args[0], COMPARES, sizeof COMPARES / sizeof *COMPARES)))
        return 0;
    *opened = true;
    return args[0];
}

Var
jumps_zero(Dae *dae, const char *stem)
{
    Var zero = dae_add_var(dae, arena_printf(dae->arena, "$%s%u", stem, dae->jumps.n + 1), 0, VAR_PARAMETER, TYPE_REAL, false);
    dae_add_bind(dae, (Bind){.var = zero, .attr = ATTR_VALUE, .shape = expr_const(dae->exprs, 0)});
    dae_tell_nothing(dae, zero); // but at events
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

// g as it is looked at at events, over `vars`.
static Expr
write_rest(Dae *dae, Jump *jump, Expr shape, U32Vec *vars)
{
    Exprs *exprs = dae->exprs;
    bool sides = expr_op(exprs, shape) == OP_EQN;
    Expr rest = sides ? expr_sub(exprs, expr_arg(exprs, shape, 0), expr_arg(exprs, shape, 1)) : shape;
    if (expr_has_op(exprs, rest, OP_NOEVENT))
        rest = expr_rewrite(exprs, rest, open_silent, &jump->literal);
    return integers_hold(dae, jump->equation, rest, arena_printf(dae->arena, "step%u_", dae->jumps.n + 1), vars);
}

// --- calls

static bool
moves(const Dae *dae, Var var)
{
    return dae_kind(dae, var) == VAR_CONTINUOUS && dae->var_pre_of.at[var] == NONE;
}

static bool
depends_on_motion(const Structure *structure, Expr e)
{
    U32Vec slots = {0};
    bool depends = expr_has_op(structure->dae->exprs, e, OP_TIME);
    expr_used_slots(structure->dae->exprs, &e, 1, &slots);
    for (uint32_t i = 0; i < slots.n && !depends; i++)
        depends = moves(structure->dae, structure->vars.at[slots.at[i]]);
    vec_free(&slots);
    return depends;
}

// The result of a call, over the variables of the equation, and its time derivative. Derivatives of variables are there: the
// derivative of the equation has them.
static void
add_leap(Structure *structure, Expr result)
{
    Dae *dae = structure->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n = structure->vars.n;
    U32Vec rates = {0}, vars = {0};
    Leap leap = {.jump = dae->jumps.n};
    uint32_t number = (uint32_t)expr_value(exprs, expr_arg(exprs, expr_arg(exprs, result, 1), 0));
    leap.function = routine_of(exprs, number)->name;
    vec_append(&vars, structure->vars.at, n);
    for (uint32_t k = 0; k < n; k++) {
        Var der = moves(dae, vars.at[k]) ? dae->var_der.at[vars.at[k]] : NONE;
        vec_push(&rates, der != NONE ? expr_slot(exprs, n + k) : 0);
        vec_push(&vars, der != NONE ? der : vars.at[k]);
    }
    Expr rate = expr_rate(exprs, result, rates.at, n);
    if (rate) {
        dae_bind_shape(dae, result, vars.at, &leap.value, &leap.value_row);
        dae_bind_shape(dae, rate, vars.at, &leap.rate, &leap.rate_row);
        vec_push(&dae->leaps, leap);
    }
    vec_free(&rates);
    vec_free(&vars);
}

static void
add_leaps(Structure *structure, Expr shape)
{
    const Exprs *exprs = structure->dae->exprs;
    U32Vec parts = {0};
    if (expr_has_op(exprs, shape, OP_CALL))
        expr_parts(exprs, shape, &parts);
    for (uint32_t i = 0; i < parts.n; i++)
        if (expr_op(exprs, parts.at[i]) == OP_RESULT && depends_on_motion(structure, parts.at[i]) && routine_call_branches(exprs, parts.at[i])
            && !routine_call_is_smooth(exprs, parts.at[i]))
            add_leap(structure, parts.at[i]);
    vec_free(&parts);
}

void
jumps_add(Structure *structure, uint32_t equation, uint32_t made)
{
    Dae *dae = structure->dae;
    Exprs *exprs = dae->exprs;
    if (!may_jump(structure) || dae->equations.at[equation].kind == EQN_LAW)
        return;
    Expr shape = structure->shape;
    Jump jump = {.equation = equation, .derivative = made, .state = NONE};
    Out text = {0};
    dae_print_equation(dae, equation, &text);
    jump.text = arena_strndup(dae->arena, text.text ? text.text : "", text.length);
    out_free(&text);
    U32Vec vars = {0};
    vec_append(&vars, structure->vars.at, structure->vars.n);
    Expr rest = write_rest(dae, &jump, shape, &vars);
    dae_bind_shape(dae, rest, vars.at, &jump.rest, &jump.row);
    add_leaps(structure, shape);
    jump.impulse = jumps_zero(dae, "impulse");
    jump.offset = jumps_zero(dae, "jump");
    put(dae, equation, shape, structure->vars.at, structure->vars.n, jump.offset, false);
    shape = dae->equations.at[made].shape;
    vec_clear(&vars); // rows may move while they grow
    vec_append(&vars, dae->rows.at + dae->equations.at[made].row, expr_nslots(exprs, shape));
    put(dae, made, shape, vars.at, vars.n, jump.impulse, true);
    vec_free(&vars);
    vec_push(&dae->jumps, jump);
}
