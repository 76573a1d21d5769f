// clock_stages.c: the equations of a clocked partition once more, at a place between two ticks.
//
// Purpose: methods of several stages (Modelica 3.6, section 16.8.2) need derivatives between ticks, f at states, inputs and a time there.
// Method: at a stage each unknown of the partition has a copy, each equation too. States are what the stage says; an input that a conversion
// brings is u at the tick before plus the part of the way to u at this one, if it changes continuously, and otherwise what it was at the tick before, but for
// the end of the interval; time goes the same part of the way. What belongs to state machines, and what the past says, is as at the tick itself. At the first tick, and where a
// state begins anew, a stage is the tick, so that nothing is evaluated at values that never were.
// Contract: clock_inner.h. Appends hidden variables and equations. Complexity: linear in the equations, for each stage.
#include "ir/clocks/clock_inner.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

typedef struct Copying {
    Stages *stages;
    uint32_t stage;    // number, from 1
    uint32_t equation;
    double place;
    Map copy;          // unknown -> its copy
    U32Vec vars;       // of the expression at hand
} Copying;

// --- states

static uint32_t
state_number(const Stages *stages, Var var)
{
    uint32_t number;
    return map_get(&stages->number, var, &number) ? number : NONE;
}

static Expr
state_at(const Stages *stages, uint32_t stage, uint32_t state, U32Vec *vars)
{
    Exprs *exprs = stages->clocks->dae->exprs;
    Expr way = expr_2(exprs, OP_MUL, expr_const(exprs, stages->places.at[stage - 1]), clocks_slope(stages, stage - 1, state, vars));
    return clocks_advanced(stages->clocks, stages->states.at[state], way, vars);
}

Expr
clocks_slope(const Stages *stages, uint32_t stage, uint32_t state, U32Vec *vars)
{
    Exprs *exprs = stages->clocks->dae->exprs;
    Var rate = stages->rates.at[state];
    uint32_t second = state_number(stages, rate);
    if (!stage)
        return expr_1(exprs, OP_PREVIOUS, clocks_slot(stages->clocks, rate, vars));
    if (second != NONE)
        return state_at(stages, stage, second, vars);
    return clocks_slot(stages->clocks, stages->copies.at[(stage - 1) * stages->states.n + state], vars);
}

// --- inputs

static bool
is_input(Op op)
{
    return op == OP_SAMPLED || op == OP_SUBSAMPLE || op == OP_SUPERSAMPLE || op == OP_SHIFTSAMPLE || op == OP_BACKSAMPLE || op == OP_NOCLOCK;
}

static VarType
type_of(const Dae *dae, Expr e, const Var *row)
{
    const Exprs *exprs = dae->exprs;
    for (;;) {
        Op op = expr_op(exprs, e);
        if (op == OP_SLOT)
            return dae_type(dae, row[expr_slot_of(exprs, e)]);
        if (op_table[op].type != OPTYPE_ARG && op_table[op].type != OPTYPE_ARG0)
            return op_table[op].type == OPTYPE_BOOL ? TYPE_BOOLEAN : TYPE_REAL;
        e = expr_arg(exprs, e, op_table[op].type == OPTYPE_ARG ? expr_nargs(exprs, e) - 1 : 0);
    }
}

// Whether what a conversion brings moves between ticks: a Real of no clock, or of a partition that is integrated.
static bool
moves(Clocks *clocks, Expr e, const Var *row)
{
    const Dae *dae = clocks->dae;
    if (type_of(dae, e, row) != TYPE_REAL)
        return false;
    if (expr_has_op(dae->exprs, e, OP_TIME))
        return true;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, e); k++) {
        if (!expr_uses_slot(dae->exprs, e, k) || dae_type(dae, row[k]) != TYPE_REAL || dae_kind(dae, row[k]) != VAR_CONTINUOUS)
            continue;
        uint32_t partition = row[k] < clocks->continuous ? clocks_partition(clocks, row[k]) : NONE;
        if (partition == NONE || clocks->partitions.at[partition].solver != CLOCK_SOLVER_NONE)
            return true;
    }
    return false;
}

// The part as an unknown of the partition, which has a value at the tick before.
static Var
input_of(Copying *at, Expr part)
{
    Stages *stages = at->stages;
    Clocks *clocks = stages->clocks;
    Dae *dae = clocks->dae;
    Equation owner = dae->equations.at[at->equation];
    uint64_t key = (uint64_t)at->equation << 32 | part;
    uint32_t made;
    if (map_get(&stages->inputs, key, &made))
        return made;
    U32Vec vars = {0};
    VarType type = type_of(dae, expr_arg(dae->exprs, part, 0), dae->rows.at + owner.row);
    Var input = clocks_hidden(clocks, "input", type == TYPE_REAL ? VAR_CONTINUOUS : VAR_DISCRETE, type);
    Expr left = clocks_slot(clocks, input, &vars), right = clocks_carried(clocks, part, owner.row, &vars);
    dae_tell_part(dae, input, right, vars.at);
    map_put(&clocks->added, input, stages->partition);
    map_put(&stages->inputs, key, input);
    vec_push(stages->equations, dae_equate(dae, EQN_NORMAL, left, right, vars.at, owner.node, owner.span));
    vec_free(&vars);
    return input;
}

static Expr
input_at(Copying *at, Expr part)
{
    Clocks *clocks = at->stages->clocks;
    Dae *dae = clocks->dae;
    Exprs *exprs = dae->exprs;
    Var input = input_of(at, part);
    Expr now = clocks_slot(clocks, input, &at->vars), last = expr_1(exprs, OP_PREVIOUS, now);
    if (at->place == 1)
        return now;
    if (moves(clocks, expr_arg(exprs, part, 0), dae->rows.at + dae->equations.at[at->equation].row))
        last = expr_2(exprs, OP_DIV, expr_2(exprs, OP_ADD, last, now), expr_const(exprs, 2)); // the one place inside is half of the way
    return expr_3(exprs, OP_IF, expr_1(exprs, OP_FIRSTTICK, expr_const(exprs, 0)), now, last);
}

static Expr
time_at(Copying *at)
{
    Exprs *exprs = at->stages->clocks->dae->exprs;
    Expr zero = expr_const(exprs, 0), now = expr_time(exprs), first = expr_1(exprs, OP_FIRSTTICK, zero);
    Expr back = expr_2(exprs, OP_MUL, expr_const(exprs, 1 - at->place), expr_1(exprs, OP_INTERVAL, zero));
    return at->place == 1 ? now : expr_sub(exprs, now, expr_3(exprs, OP_IF, first, zero, back));
}

// --- equations

static Expr
at_stage(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Copying *at = context;
    Clocks *clocks = at->stages->clocks;
    Op op = expr_op(exprs, part);
    uint32_t found;
    (void)args;
    if (op == OP_TIME)
        return time_at(at);
    if (op == OP_PREVIOUS || op == OP_INTERVAL || op == OP_FIRSTTICK || op == OP_STAYED)
        return part;
    if (is_input(op))
        return input_at(at, part);
    if (op != OP_SLOT)
        return 0;
    Var var = at->vars.at[expr_slot_of(exprs, part)];
    uint32_t state = state_number(at->stages, var);
    if (state != NONE)
        return state_at(at->stages, at->stage, state, &at->vars);
    return map_get(&at->copy, var, &found) ? clocks_slot(clocks, found, &at->vars) : 0;
}

// State machines decide at ticks: their variables are the compiler's own, and discrete.
static bool
stays(const Dae *dae, Var var)
{
    for (uint32_t i = 0; i < dae->active_states.n; i++)
        if (dae->active_states.at[i].active == var || dae->active_states.at[i].reset == var)
            return true;
    return dae_kind(dae, var) == VAR_DISCRETE && dae_group(dae, var)->decl->flags & GROUP_HIDDEN;
}

static bool
defines_what_stays(const Dae *dae, uint32_t equation)
{
    const Equation *at = &dae->equations.at[equation];
    for (uint32_t side = 0; side < 2 && expr_op(dae->exprs, at->shape) == OP_EQN; side++) {
        Expr e = expr_arg(dae->exprs, at->shape, side);
        if (expr_op(dae->exprs, e) == OP_SLOT && stays(dae, dae->rows.at[at->row + expr_slot_of(dae->exprs, e)]))
            return true;
    }
    return false;
}

static bool
is_of_partition(const Stages *stages, Var var)
{
    Clocks *clocks = stages->clocks;
    const Dae *dae = clocks->dae;
    uint32_t partition = NONE;
    VarKind kind = dae_kind(dae, var);
    if (var >= clocks->continuous)
        return map_get(&clocks->added, var, &partition) && partition == stages->partition;
    return kind != VAR_PARAMETER && kind != VAR_CONSTANT && kind != VAR_INPUT && dae_type(dae, var) != TYPE_CLOCK && dae->var_pre_of.at[var] == NONE
        && dae->var_der_of.at[var] == NONE && clocks_partition(clocks, var) == stages->partition;
}

static void
copy_unknown(Copying *at, Var var)
{
    Stages *stages = at->stages;
    Clocks *clocks = stages->clocks;
    Dae *dae = clocks->dae;
    uint32_t found;
    if (!is_of_partition(stages, var) || map_get(&at->copy, var, &found) || state_number(stages, var) != NONE || stays(dae, var))
        return;
    Var copy = clocks_hidden(clocks, "stage", dae_kind(dae, var), dae_type(dae, var));
    dae_tell_as(dae, copy, arena_printf(dae->arena, "%s(stage %u)", dae_name(dae, var), at->stage + 1));
    for (uint32_t i = 0, n = dae->binds.n; i < n; i++)
        if (dae->binds.at[i].attr == ATTR_START && bind_covers(&dae->binds.at[i], var))
            dae_add_bind(dae, bind_of_one(dae->binds.at[i], copy));
    map_put(&at->copy, var, copy);
    map_put(&clocks->added, copy, stages->partition);
}

static void
copy_equation(Copying *at, uint32_t equation)
{
    Dae *dae = at->stages->clocks->dae;
    uint32_t n;
    if (defines_what_stays(dae, equation))
        return;
    Equation owner = dae->equations.at[equation];
    const Var *row = dae_row(dae, equation, &n);
    vec_clear(&at->vars);
    vec_append(&at->vars, row, n);
    at->equation = equation;
    Expr e = expr_rewrite(dae->exprs, owner.shape, at_stage, at);
    if (expr_op(dae->exprs, e) != OP_EQN)
        return; // it says nothing of the partition's unknowns
    vec_push(at->stages->equations, dae_equate(dae, owner.kind, expr_arg(dae->exprs, e, 0), expr_arg(dae->exprs, e, 1), at->vars.at, owner.node, owner.span));
}

void
clocks_add_stage(Stages *stages, double place)
{
    Dae *dae = stages->clocks->dae;
    Copying at = {.stages = stages, .place = place};
    vec_push(&stages->places, place);
    at.stage = stages->places.n;
    for (uint32_t i = 0; i < stages->n; i++) {
        uint32_t n, row = dae->equations.at[stages->equations->at[i]].row;
        dae_row(dae, stages->equations->at[i], &n);
        for (uint32_t k = 0; k < n; k++)
            copy_unknown(&at, dae->rows.at[row + k]);
    }
    for (uint32_t s = 0; s < stages->states.n; s++) {
        uint32_t copy = NONE;
        map_get(&at.copy, stages->rates.at[s], &copy); // none where the rate is a state itself
        vec_push(&stages->copies, copy);
    }
    for (uint32_t i = 0; i < stages->n; i++)
        copy_equation(&at, stages->equations->at[i]);
    map_free(&at.copy);
    vec_free(&at.vars);
}
