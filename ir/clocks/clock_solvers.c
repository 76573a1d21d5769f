// clock_solvers.c: clocked equations with derivatives are integrated from tick to tick.
//
// Purpose: Modelica 3.6, section 16.8.2: a clocked partition with a solver method has the continuous equations of its derivatives.
// Method: each derivative becomes an unknown of the partition, and its state x gets an equation, h the interval, 0 at the first tick:
//
//     ExplicitEuler      x = previous(x) + h*previous(der(x))
//     ImplicitEuler      x = previous(x) + h*der(x)
//     ImplicitTrapezoid  x = previous(x) + h/2*(previous(der(x)) + der(x))
//     ExplicitMidPoint2  x = previous(x) + h*k2
//     ExplicitRungeKutta4  x = previous(x) + h*(k1 + 2*k2 + 2*k3 + k4)/6
//
// with the rates k1 = previous(der(x)), k2, ... at stages within the interval (clock_stages.c).
// Of a state of a state machine: h is 0 at the tick at which it becomes active; x is kept while it is not.
// Contract: clock_inner.h. Appends hidden variables and equations; an equation gets another row. Complexity: linear in the rows.
#include <string.h>

#include "ir/clocks/clock_inner.h"
#include "ir/expr/expr_make.h"

typedef struct Discretising {
    Stages stages;
    U32Vec owners;     // per state: an equation that has its derivative
    uint32_t equation; // at hand
} Discretising;

// The innermost state of a state machine that has the variable, or NULL.
static const ActiveState *
state_of(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    for (uint32_t i = dae->active_states.n; group && i-- > 0;)
        if (dae_inst_inside(dae, group->inst, dae->active_states.at[i].inst))
            return &dae->active_states.at[i];
    return NULL;
}

Expr
clocks_advanced(Clocks *clocks, Var var, Expr rate, U32Vec *vars)
{
    Dae *dae = clocks->dae;
    Exprs *exprs = dae->exprs;
    const ActiveState *state = state_of(dae, var);
    Expr zero = expr_const(exprs, 0), last = expr_1(exprs, OP_PREVIOUS, clocks_slot(clocks, var, vars)), from = last;
    Expr begins = expr_1(exprs, OP_FIRSTTICK, zero);
    if (state) {
        Expr reset = clocks_slot(clocks, state->reset, vars), was = expr_1(exprs, OP_PREVIOUS, clocks_slot(clocks, state->active, vars));
        from = expr_3(exprs, OP_IF, reset, clocks_start_value(clocks, var, vars), last);
        begins = expr_2(exprs, OP_OR, begins, expr_2(exprs, OP_OR, reset, expr_1(exprs, OP_NOT, was)));
    }
    Expr h = expr_3(exprs, OP_IF, begins, zero, expr_1(exprs, OP_INTERVAL, zero));
    Expr value = expr_2(exprs, OP_ADD, from, expr_2(exprs, OP_MUL, h, rate));
    return state ? expr_3(exprs, OP_IF, clocks_slot(clocks, state->active, vars), value, last) : value;
}

// --- methods

static Expr
sum(Exprs *exprs, Expr a, Expr b)
{
    return expr_2(exprs, OP_ADD, a, b);
}

// What the method takes for the rate over the interval.
static Expr
mean_rate(const Stages *stages, uint32_t state, U32Vec *vars)
{
    Exprs *exprs = stages->clocks->dae->exprs;
    Expr now = clocks_slot(stages->clocks, stages->rates.at[state], vars), k[4];
    uint32_t n = 0;
    switch (stages->clocks->partitions.at[stages->partition].solver) {
    case CLOCK_EXPLICIT_EULER:
        return clocks_slope(stages, 0, state, vars);
    case CLOCK_IMPLICIT_EULER:
        return now;
    case CLOCK_IMPLICIT_TRAPEZOID:
        return expr_2(exprs, OP_DIV, sum(exprs, clocks_slope(stages, 0, state, vars), now), expr_const(exprs, 2));
    case CLOCK_EXPLICIT_MIDPOINT:
        return clocks_slope(stages, 1, state, vars);
    default:
        break;
    }
    for (; n < 4; n++)
        k[n] = clocks_slope(stages, n, state, vars);
    Expr inner = expr_2(exprs, OP_MUL, expr_const(exprs, 2), sum(exprs, k[1], k[2]));
    return expr_2(exprs, OP_DIV, sum(exprs, k[0], sum(exprs, inner, k[3])), expr_const(exprs, 6));
}

static void
make_stages(Stages *stages)
{
    static const double places[] = {0.5, 0.5, 1};
    ClockSolver solver = stages->clocks->partitions.at[stages->partition].solver;
    uint32_t n = solver == CLOCK_EXPLICIT_MIDPOINT ? 1 : solver == CLOCK_EXPLICIT_RUNGE_KUTTA ? 3 : 0;
    for (uint32_t i = 0; i < n; i++)
        clocks_add_stage(stages, places[i]);
}

static void
integrate(const Discretising *at)
{
    const Stages *stages = &at->stages;
    Clocks *clocks = stages->clocks;
    Dae *dae = clocks->dae;
    for (uint32_t s = 0; s < stages->states.n; s++) {
        Equation owner = dae->equations.at[at->owners.at[s]];
        U32Vec vars = {0};
        Expr x = clocks_slot(clocks, stages->states.at[s], &vars);
        Expr value = clocks_advanced(clocks, stages->states.at[s], mean_rate(stages, s, &vars), &vars);
        vec_push(stages->equations, dae_equate(dae, EQN_NORMAL, x, value, vars.at, owner.node, owner.span));
        vec_free(&vars);
    }
}

// The unknown that a derivative becomes.
static Var
unknown_for(Discretising *at, Var derivative)
{
    Stages *stages = &at->stages;
    Clocks *clocks = stages->clocks;
    Dae *dae = clocks->dae;
    uint32_t made;
    if (map_get(&clocks->rate_of, derivative, &made))
        return made;
    Var state = dae->var_der_of.at[derivative];
    bool dependent = map_get(&clocks->dependent, state, &made);
    if (dae->var_der_of.at[state] != NONE)
        state = unknown_for(at, state);
    Var rate = clocks_hidden(clocks, "rate", VAR_CONTINUOUS, TYPE_REAL);
    dae_tell_as(dae, rate, dae_name(dae, derivative));
    dae->var_flags.at[derivative] |= VARF_REMOVED;
    map_put(&clocks->rate_of, derivative, rate);
    map_put(&clocks->added, rate, stages->partition);
    if (dependent)
        return rate;
    dae->var_flags.at[state] &= (uint8_t)~(7 << VARF_STATE_SHIFT); // it is one
    map_put(&stages->number, state, stages->states.n);
    vec_push(&stages->states, state);
    vec_push(&stages->rates, rate);
    vec_push(&at->owners, at->equation);
    return rate;
}

static bool
refuse(const Discretising *at, Var derivative)
{
    Clocks *clocks = at->stages.clocks;
    if (clocks->partitions.at[at->stages.partition].solver != CLOCK_SOLVER_NONE)
        return false;
    Span span = clocks->dae->equations.at[at->equation].span;
    Diag *diag = diag_add(clocks->diags, E0514, span, "'%s' is the derivative of what has a clock, and no method integrates it", dae_name(clocks->dae, derivative));
    diag_help(diag, "Clock(c, solverMethod = \"ImplicitEuler\") is a clock with a method; what has a clock and what has none meet in sample(u) and hold(x)");
    return true;
}

// In the row of the equation at hand; false after an error.
static bool
replace_derivatives(Discretising *at)
{
    Dae *dae = at->stages.clocks->dae;
    uint32_t slots, row = dae->equations.at[at->equation].row;
    dae_row(dae, at->equation, &slots);
    for (uint32_t k = 0; k < slots; k++) {
        Var var = dae->rows.at[row + k];
        if (dae->var_der_of.at[var] == NONE)
            continue;
        if (refuse(at, var))
            return false;
        Var rate = unknown_for(at, var);
        if (row == dae->equations.at[at->equation].row) {
            Var *copy = arena_array(dae->arena, Var, slots);
            memcpy(copy, dae->rows.at + row, slots * sizeof *copy);
            row = dae_add_row(dae, copy, slots);
            dae->equations.at[at->equation].row = row;
        }
        dae->rows.at[row + k] = rate;
    }
    return true;
}

bool
clocks_discretise(Clocks *clocks, uint32_t partition, U32Vec *equations)
{
    clocks_reduce(clocks, partition, equations);
    Discretising at = {.stages = {.clocks = clocks, .partition = partition, .equations = equations, .n = equations->n}};
    bool good = true;
    for (uint32_t i = 0; i < at.stages.n && good; i++) {
        at.equation = equations->at[i];
        good = replace_derivatives(&at);
    }
    if (good && at.stages.states.n) {
        make_stages(&at.stages);
        integrate(&at);
    }
    vec_free(&at.owners);
    vec_free(&at.stages.states);
    vec_free(&at.stages.rates);
    vec_free(&at.stages.places);
    vec_free(&at.stages.copies);
    map_free(&at.stages.number);
    map_free(&at.stages.inputs);
    return good;
}
