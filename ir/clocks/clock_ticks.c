// clock_ticks.c: Boolean variables that become true at the ticks of a clock.
//
// Purpose: ticks are events. Method: the clocks of a base tick on a common grid, the coarsest that has all their ticks (exactly: clock_ratio.c).
// One variable is true at the instants of the grid, one counts them, and a clock ticks where the count says so; so clocks that meet
// tick in one event. Grids of constant intervals are instants of sample(), those of a condition its rising edges, those
// of an interval that changes the time at which the tick before has set the next one.
// Contract: clock_inner.h. Appends hidden variables and equations. Complexity: linear in partitions.
//
//     $tick1 = sample($begin1, 0.1),   $count2 = if $tick1 and not pre($tick1) then pre($count2) + 1 else pre($count2)
//     $ticks3 = $tick1 and not pre($tick1) and $count2 >= b and $count2 - b - a*trunc(($count2 - b)/a) == 0
#include "ir/clocks/clock_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

enum { ROOT = 0 }; // the instance of the model itself

Var
clocks_hidden(Clocks *clocks, const char *stem, VarKind kind, VarType type)
{
    Dae *dae = clocks->dae;
    return dae_add_var(dae, arena_printf(dae->arena, "$%s%u", stem, ++clocks->made), ROOT, kind, type, false);
}

Expr
clocks_slot(const Clocks *clocks, Var var, U32Vec *vars)
{
    uint32_t k = 0;
    while (k < vars->n && vars->at[k] != var)
        k++;
    if (k == vars->n)
        vec_push(vars, var);
    return expr_slot(clocks->dae->exprs, k);
}

Expr
clocks_carried(const Clocks *clocks, Expr e, uint32_t row, U32Vec *vars)
{
    Dae *dae = clocks->dae;
    uint32_t n = expr_nslots(dae->exprs, e);
    Expr *with = arena_array(dae->arena, Expr, n + 1);
    for (uint32_t k = 0; k < n; k++)
        if (expr_uses_slot(dae->exprs, e, k))
            with[k] = clocks_slot(clocks, dae->rows.at[row + k], vars);
    return expr_substitute(dae->exprs, e, with, n);
}

Expr
clocks_before(const Clocks *clocks, Var var, U32Vec *vars)
{
    return clocks_slot(clocks, dae_pre(clocks->dae, var), vars);
}

void
clocks_start_at(const Clocks *clocks, Var var, double value)
{
    Bind bind = {.var = var, .attr = ATTR_START};
    dae_bind_shape(clocks->dae, expr_const(clocks->dae->exprs, value), NULL, &bind.shape, &bind.row);
    dae_add_bind(clocks->dae, bind);
    clocks->dae->var_flags.at[var] |= VARF_FIXED;
}

Expr
clocks_start_value(const Clocks *clocks, Var var, U32Vec *vars)
{
    const Dae *dae = clocks->dae;
    Expr value = expr_const(dae->exprs, 0);
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (dae->binds.at[i].attr == ATTR_START && bind_covers(&dae->binds.at[i], var))
            value = clocks_carried(clocks, dae->binds.at[i].shape, dae->binds.at[i].row, vars);
    return value;
}

static void
define(Clocks *clocks, EqnKind kind, Var var, Expr value, U32Vec *vars, Span span)
{
    Expr left = clocks_slot(clocks, var, vars);
    dae_equate(clocks->dae, kind, left, value, vars->at, dae_node(clocks->dae, ROOT), span);
}

static Expr
rises(const Clocks *clocks, Var var, U32Vec *vars)
{
    Exprs *exprs = clocks->dae->exprs;
    Expr now = clocks_slot(clocks, var, vars);
    return expr_2(exprs, OP_AND, now, expr_1(exprs, OP_NOT, clocks_before(clocks, var, vars)));
}

Expr
clocks_active(Clocks *clocks, const Partition *partition, U32Vec *vars)
{
    return rises(clocks, partition->active, vars);
}

uint32_t
clocks_at_ticks(Clocks *clocks, const Partition *partition, Var var, Expr value, U32Vec *vars, Span span)
{
    Dae *dae = clocks->dae;
    Expr now = clocks_slot(clocks, var, vars), before = clocks_before(clocks, var, vars);
    Expr kept = expr_3(dae->exprs, OP_IF, clocks_active(clocks, partition, vars), value, before);
    return dae_equate(dae, EQN_WHEN, now, kept, vars->at, dae_node(dae, ROOT), span);
}

// --- grids

static Expr
number(const Clocks *clocks, Ratio ratio)
{
    return expr_const(clocks->dae->exprs, (double)ratio.num / (double)ratio.den);
}

// The time at which the run begins, which is when clocks do (section 16.3).
static Expr
begin(Clocks *clocks, U32Vec *vars)
{
    Dae *dae = clocks->dae;
    if (clocks->start == NONE) {
        U32Vec own = {0};
        clocks->start = clocks_hidden(clocks, "begin", VAR_PARAMETER, TYPE_REAL);
        dae->var_flags.at[clocks->start] |= VARF_FREE;
        define(clocks, EQN_INITIAL, clocks->start, expr_time(dae->exprs), &own, (Span){0, 0});
        vec_free(&own);
    }
    return clocks_slot(clocks, clocks->start, vars);
}

// An expression over the row of the constructor's equation, over `vars`.
static Expr
carried(const Clocks *clocks, const Constructor *constructor, Expr e, U32Vec *vars)
{
    return clocks_carried(clocks, e, clocks->dae->equations.at[constructor->equation].row, vars);
}

static Expr
quotient(const Clocks *clocks, const Constructor *constructor, U32Vec *vars)
{
    Expr first = carried(clocks, constructor, constructor->first, vars);
    return constructor->kind == CLOCK_RATIONAL ? expr_2(clocks->dae->exprs, OP_DIV, first, constructor->second) : first;
}

static bool
is_periodic(const Clocks *clocks, const Base *base)
{
    if (base->constructor == NONE)
        return true;
    const Constructor *constructor = &clocks->constructors.at[base->constructor];
    const Var *row = clocks->dae->rows.at + clocks->dae->equations.at[constructor->equation].row;
    return constructor->kind != CLOCK_CONDITION && dae_is_parametric(clocks->dae, constructor->first, row);
}

// One unit of the base, in seconds.
static Expr
unit(const Clocks *clocks, const Base *base, U32Vec *vars)
{
    Expr one = expr_const(clocks->dae->exprs, 1);
    if (base->constructor == NONE)
        return one;
    const Constructor *constructor = &clocks->constructors.at[base->constructor];
    return constructor->kind == CLOCK_RATIONAL ? one : carried(clocks, constructor, constructor->first, vars);
}

Expr
clocks_period(Clocks *clocks, const Partition *partition, U32Vec *vars)
{
    const Base *base = &clocks->bases.at[partition->base];
    if (!is_periodic(clocks, base))
        return 0;
    return expr_2(clocks->dae->exprs, OP_MUL, number(clocks, partition->interval), unit(clocks, base, vars));
}

// Of equal intervals a product, which is rounded less than a difference of times.
Expr
clocks_lasted(Clocks *clocks, const Partition *partition, Expr ticks, Expr since, U32Vec *vars)
{
    Exprs *exprs = clocks->dae->exprs;
    const Base *base = &clocks->bases.at[partition->base];
    if (!is_periodic(clocks, base))
        return expr_sub(exprs, expr_time(exprs), since);
    Expr units = expr_2(exprs, OP_MUL, ticks, expr_const(exprs, (double)partition->interval.num));
    units = expr_2(exprs, OP_DIV, units, expr_const(exprs, (double)partition->interval.den));
    return expr_2(exprs, OP_MUL, units, unit(clocks, base, vars));
}

static Expr
periodic(Clocks *clocks, const Base *base, U32Vec *vars)
{
    Exprs *exprs = clocks->dae->exprs;
    Expr length = unit(clocks, base, vars);
    Expr first = expr_2(exprs, OP_ADD, begin(clocks, vars), expr_2(exprs, OP_MUL, number(clocks, base->first), length));
    return expr_2(exprs, OP_SAMPLE, first, expr_2(exprs, OP_MUL, number(clocks, base->step), length));
}

// The first tick is when the run begins; each sets the next one.
static Expr
changing(Clocks *clocks, const Base *base, const Constructor *constructor, U32Vec *vars)
{
    Dae *dae = clocks->dae;
    Exprs *exprs = dae->exprs;
    Span span = dae->equations.at[constructor->equation].span;
    U32Vec own = {0};
    Var next = clocks_hidden(clocks, "next", VAR_DISCRETE, TYPE_REAL);
    clocks_start_at(clocks, next, 1e300);
    Expr then = expr_2(exprs, OP_ADD, expr_time(exprs), quotient(clocks, constructor, &own));
    Expr value = expr_3(exprs, OP_IF, rises(clocks, base->tick, &own), then, clocks_before(clocks, next, &own));
    define(clocks, EQN_WHEN, next, value, &own, span);
    vec_free(&own);
    Expr at_first = expr_2(exprs, OP_SAMPLE, begin(clocks, vars), expr_const(exprs, 1e300));
    return expr_2(exprs, OP_OR, at_first, expr_2(exprs, OP_GE, expr_time(exprs), clocks_before(clocks, next, vars)));
}

// The variables that give `var` its value at once: of the equation at hand that has it alone on a side.
static void
push_sources(const Clocks *clocks, uint32_t equation, uint32_t side, U32Vec *stack)
{
    const Dae *dae = clocks->dae;
    const Equation *at = &dae->equations.at[equation];
    Expr other = expr_arg(dae->exprs, at->shape, 1 - side);
    for (uint32_t k = 0, n = expr_nslots(dae->exprs, other); k < n; k++) {
        Var source = dae->rows.at[at->row + k];
        if (expr_uses_slot(dae->exprs, other, k) && dae->var_pre_of.at[source] == NONE && dae_type(dae, source) != TYPE_REAL)
            vec_push(stack, source);
    }
}

// The condition of a clock of events follows at once, by Booleans and Integers alone, from what the clock itself makes: it asks for the tick, and
// the tick takes the request back. The tick is in the next iteration of the event then. What Reals carry back need not do so at once: each event of
// LogicalSample (Modelica.Clocked) would count twice.
static bool
answers_itself(Clocks *clocks, const Base *base)
{
    Dae *dae = clocks->dae;
    const Constructor *constructor = &clocks->constructors.at[base->constructor];
    const Var *row = dae->rows.at + dae->equations.at[constructor->equation].row;
    U32Vec first = {0}, next = {0}, stack = {0};
    bool found = false;
    vec_grow(&first, dae->nvars + 1);
    vec_grow(&next, 2 * dae->equations.n);
    for (uint32_t i = 0; i < 2 * dae->equations.n; i++) {
        const Equation *at = &dae->equations.at[i / 2];
        bool written = at->kind != EQN_INITIAL && expr_op(dae->exprs, at->shape) == OP_EQN && !clocks_is_about_clocks(dae, i / 2);
        Var var = written ? clocks_alone(dae, i / 2, i % 2) : NONE;
        if (var != NONE) {
            next.at[i] = first.at[var];
            first.at[var] = i + 1;
        }
    }
    for (uint32_t k = 0, n = expr_nslots(dae->exprs, constructor->first); k < n; k++)
        if (expr_uses_slot(dae->exprs, constructor->first, k))
            vec_push(&stack, row[k]);
    while (stack.n && !found) {
        Var var = vec_pop(&stack);
        uint32_t partition = var < clocks->continuous ? clocks_partition(clocks, var) : NONE; // others were made here
        found = partition != NONE && &clocks->bases.at[clocks->partitions.at[partition].base] == base;
        for (uint32_t i = first.at[var]; i && !found; i = next.at[i - 1])
            push_sources(clocks, (i - 1) / 2, (i - 1) % 2, &stack);
        first.at[var] = 0;
    }
    vec_free(&first);
    vec_free(&next);
    vec_free(&stack);
    return found;
}

// The condition as a variable, of which the tick sees what it was an iteration before.
static Expr
asked_before(Clocks *clocks, const Constructor *constructor, U32Vec *vars)
{
    U32Vec own = {0};
    Var asked = clocks_hidden(clocks, "asked", VAR_DISCRETE, TYPE_BOOLEAN);
    clocks_start_at(clocks, asked, 0);
    define(clocks, EQN_NORMAL, asked, carried(clocks, constructor, constructor->first, &own), &own, clocks->dae->equations.at[constructor->equation].span);
    vec_free(&own);
    return clocks_before(clocks, asked, vars);
}

static void
make_grid(Clocks *clocks, Base *base)
{
    Dae *dae = clocks->dae;
    Exprs *exprs = dae->exprs;
    const Constructor *constructor = base->constructor == NONE ? NULL : &clocks->constructors.at[base->constructor];
    Span span = constructor ? dae->equations.at[constructor->equation].span : (Span){0, 0};
    U32Vec vars = {0};
    base->tick = clocks_hidden(clocks, "tick", VAR_DISCRETE, TYPE_BOOLEAN);
    Expr value = is_periodic(clocks, base) ? periodic(clocks, base, &vars)
        : constructor->kind != CLOCK_CONDITION ? changing(clocks, base, constructor, &vars)
        : answers_itself(clocks, base) ? asked_before(clocks, constructor, &vars) : carried(clocks, constructor, constructor->first, &vars);
    if (constructor && constructor->kind == CLOCK_CONDITION)
        value = expr_2(exprs, OP_AND, expr_1(exprs, OP_NOT, expr_make(exprs, OP_INITIAL, NULL, 0)), value);
    define(clocks, EQN_NORMAL, base->tick, value, &vars, span);
    vec_clear(&vars);
    base->count = clocks_hidden(clocks, "count", VAR_DISCRETE, TYPE_INTEGER);
    clocks_start_at(clocks, base->count, -1);
    Expr before = clocks_before(clocks, base->count, &vars);
    Expr more = expr_2(exprs, OP_ADD, before, expr_const(exprs, 1));
    define(clocks, EQN_WHEN, base->count, expr_3(exprs, OP_IF, rises(clocks, base->tick, &vars), more, before), &vars, span);
    vec_free(&vars);
}

// The grid of events is each of them; the one of intervals is as coarse as their ticks allow.
static void
find_grids(Clocks *clocks)
{
    for (uint32_t b = 0; b < clocks->bases.n; b++)
        clocks->bases.at[b].step = (Ratio){0, 1};
    for (uint32_t p = 0; p < clocks->partitions.n; p++) {
        const Partition *partition = &clocks->partitions.at[p];
        Base *base = &clocks->bases.at[partition->base];
        if (!base->step.num || ratio_minus(partition->shift, base->first).num < 0)
            base->first = partition->shift;
        base->step = ratio_common(base->step, partition->interval);
    }
    for (uint32_t p = 0; p < clocks->partitions.n; p++) {
        const Partition *partition = &clocks->partitions.at[p];
        Base *base = &clocks->bases.at[partition->base];
        base->step = ratio_common(base->step, ratio_minus(partition->shift, base->first));
    }
    for (uint32_t b = 0; b < clocks->bases.n; b++)
        if (!is_periodic(clocks, &clocks->bases.at[b])) {
            clocks->bases.at[b].step = (Ratio){1, 1};
            clocks->bases.at[b].first = (Ratio){0, 1};
        }
}

static void
make_clock(Clocks *clocks, Partition *partition)
{
    Dae *dae = clocks->dae;
    Exprs *exprs = dae->exprs;
    const Base *base = &clocks->bases.at[partition->base];
    Ratio every = ratio_over(partition->interval, base->step), from = ratio_over(ratio_minus(partition->shift, base->first), base->step);
    partition->active = base->tick;
    if (ratio_same(every, (Ratio){1, 1}) && !from.num)
        return;
    U32Vec vars = {0};
    partition->active = clocks_hidden(clocks, "ticks", VAR_DISCRETE, TYPE_BOOLEAN);
    Expr count = clocks_slot(clocks, base->count, &vars), zero = expr_const(exprs, 0);
    Expr beyond = expr_sub(exprs, count, expr_const(exprs, (double)from.num)), length = expr_const(exprs, (double)every.num);
    Expr whole = expr_2(exprs, OP_MUL, length, expr_1(exprs, OP_TRUNC, expr_2(exprs, OP_DIV, beyond, length)));
    Expr due = expr_2(exprs, OP_EQ, expr_sub(exprs, beyond, whole), zero);
    Expr value = expr_2(exprs, OP_AND, rises(clocks, base->tick, &vars), expr_2(exprs, OP_AND, expr_2(exprs, OP_GE, beyond, zero), due));
    define(clocks, EQN_NORMAL, partition->active, value, &vars, dae->equations.at[partition->equation].span);
    vec_free(&vars);
}

void
clocks_make_ticks(Clocks *clocks)
{
    find_grids(clocks);
    for (uint32_t b = 0; b < clocks->bases.n; b++)
        make_grid(clocks, &clocks->bases.at[b]);
    for (uint32_t p = 0; p < clocks->partitions.n; p++)
        make_clock(clocks, &clocks->partitions.at[p]);
}

// --- questions

// A variable that has this value from the next tick on, and 0 before the first.
static Var
remembered(Clocks *clocks, const Partition *partition, const char *stem, VarType type, Expr value)
{
    U32Vec vars = {0};
    Var var = clocks_hidden(clocks, stem, VAR_DISCRETE, type);
    clocks_start_at(clocks, var, 0);
    clocks_at_ticks(clocks, partition, var, value, &vars, clocks->dae->equations.at[partition->equation].span);
    vec_free(&vars);
    return var;
}

static Var
has_ticked(Clocks *clocks, Partition *partition)
{
    if (partition->ticked == NONE)
        partition->ticked = remembered(clocks, partition, "ticked", TYPE_BOOLEAN, expr_const(clocks->dae->exprs, 1));
    return partition->ticked;
}

static Var
last_tick(Clocks *clocks, Partition *partition)
{
    if (partition->last == NONE)
        partition->last = remembered(clocks, partition, "last", TYPE_REAL, expr_time(clocks->dae->exprs));
    return partition->last;
}

Expr
clocks_first(Clocks *clocks, uint32_t index, U32Vec *vars)
{
    Var ticked = has_ticked(clocks, &clocks->partitions.at[index]);
    return expr_1(clocks->dae->exprs, OP_NOT, clocks_before(clocks, ticked, vars));
}

// Before the first tick of a clock of events: what its constructor says; of an interval that changes: the first interval.
Expr
clocks_interval(Clocks *clocks, uint32_t index, U32Vec *vars)
{
    Partition *partition = &clocks->partitions.at[index];
    Exprs *exprs = clocks->dae->exprs;
    Expr period = clocks_period(clocks, partition, vars);
    if (period)
        return period;
    const Constructor *constructor = &clocks->constructors.at[clocks->bases.at[partition->base].constructor];
    Expr at_first = constructor->kind == CLOCK_CONDITION ? carried(clocks, constructor, constructor->second, vars) : quotient(clocks, constructor, vars);
    Expr since = expr_sub(exprs, expr_time(exprs), clocks_before(clocks, last_tick(clocks, partition), vars));
    return expr_3(exprs, OP_IF, clocks_first(clocks, index, vars), at_first, since);
}
