// Delays: delay(expr, T) becomes a value that the runtime keeps a history for.
//
// Purpose: a delayed expression is known while the model is evaluated at one instant: it was computed earlier.
// Method: each call gets a hidden variable for the expression, with an equation, and a hidden input for the delayed
// value; the delay time and its limit become variables too (parameters, where they depend on parameters alone). The
// runtime samples the former and sets the latter.
// Contract: runs before `algebra`. Appends variables, equations, binds and Dae.delays; an equation gets another shape and
// row. Afterwards no equation contains DELAY. Complexity: linear in the equations with delays.
//
//     der(x) = -delay(x, 1)   =>   der(x) = -$delay1,  $past1 = x,  Dae.delays: $delay1 = $past1 one second ago
#include "ir/problem.h"

typedef struct Delays {
    Dae *dae;
    Diags *diags;
    Map number_of;   // instance -> last number of a hidden variable
    // of the equation at hand:
    U32Vec vars;
    Map done;
    uint32_t equation;
    bool good;
} Delays;

static uint32_t
inst_of(const Delays *delays)
{
    return delays->dae->nodes.at[delays->dae->equations.at[delays->equation].node].inst;
}

static Var
add_hidden(Delays *delays, const char *stem, uint32_t number, VarKind kind)
{
    Dae *dae = delays->dae;
    return dae_add_var(dae, arena_printf(dae->arena, "$%s%u", stem, number), inst_of(delays), kind, TYPE_REAL, false);
}

static bool
is_parametric(const Delays *delays, Expr e)
{
    const Dae *dae = delays->dae;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, e); k++) {
        VarKind kind = dae_kind(dae, delays->vars.at[k]);
        if (expr_uses_slot(dae->exprs, e, k) && kind != VAR_PARAMETER && kind != VAR_CONSTANT)
            return false;
    }
    return !expr_has_op(dae->exprs, e, OP_TIME);
}

// A hidden variable equal to e.
static Var
define(Delays *delays, Expr e, const char *stem, uint32_t number)
{
    Dae *dae = delays->dae;
    Equation owner = dae->equations.at[delays->equation];
    bool bind = is_parametric(delays, e);
    Var var = add_hidden(delays, stem, number, bind ? VAR_PARAMETER : VAR_CONTINUOUS);
    uint32_t last = delays->vars.n, row;
    Expr shape;
    if (bind) {
        dae_bind_shape(dae, e, delays->vars.at, &shape, &row);
        dae_add_bind(dae, (Bind){.var = var, .attr = ATTR_VALUE, .shape = shape, .row = row, .span = owner.span});
        return var;
    }
    vec_push(&delays->vars, var);
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, last), e), delays->vars.at, &shape, &row);
    delays->vars.n = last;
    uint32_t added = dae_add_equation(dae, EQN_NORMAL, shape, row, owner.node, owner.span);
    dae->equations.at[added].generated = 1;
    return var;
}

static Var
variable_for(Delays *delays, Expr e, const char *stem, uint32_t number)
{
    const Exprs *exprs = delays->dae->exprs;
    if (expr_op(exprs, e) == OP_CONST)
        return dae_literal(delays->dae, expr_value(exprs, e));
    if (expr_op(exprs, e) == OP_SLOT)
        return delays->vars.at[expr_slot_of(exprs, e)];
    return define(delays, e, stem, number);
}

static Expr
delayed(Delays *delays, Expr e)
{
    Dae *dae = delays->dae;
    uint32_t number = 0, inst = inst_of(delays);
    Span span = dae->equations.at[delays->equation].span;
    Expr past = expr_arg(dae->exprs, e, 0), time = expr_arg(dae->exprs, e, 1), most = expr_arg(dae->exprs, e, 2);
    if (is_parametric(delays, past))
        return past;
    if (!is_parametric(delays, most)) {
        Diag *diag = diag_add(delays->diags, E0720, span, "the longest time of a delay must be known before the start");
        diag_help(diag, "give a delay that changes a third argument: delay(expr, T, longest)");
        delays->good = false;
        return past;
    }
    map_get(&delays->number_of, inst, &number);
    map_put(&delays->number_of, inst, ++number);
    Delay made = {.span = span};
    made.input = define(delays, past, "past", number);
    made.time = variable_for(delays, time, "delayTime", number);
    made.most = time == most ? made.time : variable_for(delays, most, "delayMax", number);
    made.value = add_hidden(delays, "delay", number, VAR_INPUT);
    vec_push(&dae->delays, made);
    vec_push(&delays->vars, made.value);
    return expr_slot(dae->exprs, delays->vars.n - 1);
}

static Expr
rewrite(Delays *delays, Expr e)
{
    Exprs *exprs = delays->dae->exprs;
    uint32_t found, n = expr_nargs(exprs, e);
    if (!expr_has_op(exprs, e, OP_DELAY))
        return e;
    if (map_get(&delays->done, e, &found))
        return found;
    U32Vec args = {0};
    for (uint32_t i = 0; i < n; i++)
        vec_push(&args, rewrite(delays, expr_arg(exprs, e, i)));
    Expr result = expr_make(exprs, expr_op(exprs, e), args.at, n);
    vec_free(&args);
    if (expr_op(exprs, result) == OP_DELAY)
        result = delayed(delays, result);
    map_put(&delays->done, e, result);
    return result;
}

static void
visit(Delays *delays, uint32_t equation)
{
    Dae *dae = delays->dae;
    uint32_t n, new_row;
    const Var *row = dae_row(dae, equation, &n);
    vec_clear(&delays->vars);
    vec_append(&delays->vars, row, n);
    map_clear(&delays->done);
    delays->equation = equation;
    Expr shape, text = rewrite(delays, dae->equations.at[equation].shape);
    dae_bind_shape(dae, text, delays->vars.at, &shape, &new_row);
    dae->equations.at[equation].shape = shape;
    dae->equations.at[equation].row = new_row;
}

static void
refuse(Delays *delays, Expr shape, Span span)
{
    if (!expr_has_op(delays->dae->exprs, shape, OP_DELAY))
        return;
    Diag *diag = diag_add(delays->diags, E0720, span, "'delay' cannot stand here");
    diag_help(diag, "give the delayed value a variable of its own, with an equation");
    delays->good = false;
}

static void
refuse_elsewhere(Delays *delays)
{
    const Dae *dae = delays->dae;
    for (uint32_t i = 0; i < dae->binds.n; i++)
        refuse(delays, dae->binds.at[i].shape, dae->binds.at[i].span);
    for (uint32_t i = 0; i < dae->reinits.n; i++)
        refuse(delays, dae->reinits.at[i].value, dae->reinits.at[i].span);
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        refuse(delays, dae->asserts.at[i].condition, dae->asserts.at[i].span);
}

bool
pass_delays(Dae *dae, Diags *diags)
{
    Delays delays = {.dae = dae, .diags = diags, .good = true};
    uint32_t n = dae->equations.n; // what is appended has no delays: inner ones come first
    refuse_elsewhere(&delays);
    for (uint32_t i = 0; i < n; i++)
        if (dae->equations.at[i].kind != EQN_REMOVED && expr_has_op(dae->exprs, dae->equations.at[i].shape, OP_DELAY))
            visit(&delays, i);
    map_free(&delays.number_of);
    vec_free(&delays.vars);
    map_free(&delays.done);
    return delays.good;
}
