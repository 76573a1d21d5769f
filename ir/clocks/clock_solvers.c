// clock_solvers.c: clocked equations with derivatives are integrated from tick to tick.
//
// Purpose: Modelica 3.6, section 16.8.2: a clocked partition with a solver method has the continuous equations of its derivatives.
// Method: each derivative becomes an unknown of the partition, and its state x gets an equation, h the interval, 0 at the first tick:
//
//     ExplicitEuler      x = previous(x) + h*previous(der(x))
//     ImplicitEuler      x = previous(x) + h*der(x)
//     ImplicitTrapezoid  x = previous(x) + h/2*(previous(der(x)) + der(x))
//
// Of a state of a state machine: h is 0 at the tick at which it becomes active; x is kept while it is not.
// Contract: clock_inner.h. Appends hidden variables and equations; an equation gets another row. Complexity: linear in the rows.
#include <string.h>

#include "ir/clocks/clock_inner.h"
#include "ir/expr/expr_make.h"

typedef struct Discretising {
    Clocks *clocks;
    uint32_t partition;
    U32Vec *equations;
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

static void
integrate(Discretising *at, Var var, Var rate)
{
    Dae *dae = at->clocks->dae;
    Exprs *exprs = dae->exprs;
    Equation owner = dae->equations.at[at->equation];
    ClockSolver solver = at->clocks->partitions.at[at->partition].solver;
    const ActiveState *state = state_of(dae, var);
    U32Vec vars = {0};
    Expr x = clocks_slot(at->clocks, var, &vars), dx = clocks_slot(at->clocks, rate, &vars), zero = expr_const(exprs, 0);
    Expr before = expr_1(exprs, OP_PREVIOUS, dx), last = expr_1(exprs, OP_PREVIOUS, x), from = last;
    Expr slope = solver == CLOCK_EXPLICIT_EULER ? before
        : solver == CLOCK_IMPLICIT_EULER ? dx : expr_2(exprs, OP_DIV, expr_2(exprs, OP_ADD, before, dx), expr_const(exprs, 2));
    Expr begins = expr_1(exprs, OP_FIRSTTICK, zero);
    if (state) {
        Expr reset = clocks_slot(at->clocks, state->reset, &vars), was = expr_1(exprs, OP_PREVIOUS, clocks_slot(at->clocks, state->active, &vars));
        from = expr_3(exprs, OP_IF, reset, clocks_start_value(at->clocks, var, &vars), last);
        begins = expr_2(exprs, OP_OR, begins, expr_2(exprs, OP_OR, reset, expr_1(exprs, OP_NOT, was)));
    }
    Expr h = expr_3(exprs, OP_IF, begins, zero, expr_1(exprs, OP_INTERVAL, zero));
    Expr value = expr_2(exprs, OP_ADD, from, expr_2(exprs, OP_MUL, h, slope));
    if (state)
        value = expr_3(exprs, OP_IF, clocks_slot(at->clocks, state->active, &vars), value, last);
    vec_push(at->equations, dae_equate(dae, EQN_NORMAL, x, value, vars.at, owner.node, owner.span));
    vec_free(&vars);
}

// The unknown that a derivative becomes.
static Var
unknown_for(Discretising *at, Var derivative)
{
    Clocks *clocks = at->clocks;
    Dae *dae = clocks->dae;
    uint32_t made;
    if (map_get(&clocks->rate_of, derivative, &made))
        return made;
    Var state = dae->var_der_of.at[derivative];
    if (dae->var_der_of.at[state] != NONE)
        state = unknown_for(at, state);
    Var rate = clocks_hidden(clocks, "rate", VAR_CONTINUOUS, TYPE_REAL);
    dae_tell_as(dae, rate, dae_name(dae, derivative));
    dae->var_flags.at[derivative] |= VARF_REMOVED;
    map_put(&clocks->rate_of, derivative, rate);
    map_put(&clocks->added, rate, at->partition);
    integrate(at, state, rate);
    return rate;
}

static bool
refuse(const Discretising *at, Var derivative)
{
    Clocks *clocks = at->clocks;
    ClockSolver solver = clocks->partitions.at[at->partition].solver;
    Span span = clocks->dae->equations.at[at->equation].span;
    if (solver == CLOCK_EXPLICIT_EULER || solver == CLOCK_IMPLICIT_EULER || solver == CLOCK_IMPLICIT_TRAPEZOID)
        return false;
    if (solver == CLOCK_SOLVER_NONE) {
        Diag *diag = diag_add(clocks->diags, E0514, span, "'%s' is the derivative of what has a clock, and no method integrates it", dae_name(clocks->dae, derivative));
        diag_help(diag, "Clock(c, solverMethod = \"ImplicitEuler\") is a clock with a method; what has a clock and what has none meet in sample(u) and hold(x)");
    } else {
        Diag *diag = diag_add(clocks->diags, E0514, span, "the method %s of clocked equations is not supported yet", clock_solver_names[solver]);
        diag_help(diag, "ExplicitEuler, ImplicitEuler and ImplicitTrapezoid are");
    }
    return true;
}

bool
clocks_discretise(Clocks *clocks, uint32_t partition, U32Vec *equations)
{
    Dae *dae = clocks->dae;
    Discretising at = {.clocks = clocks, .partition = partition, .equations = equations};
    for (uint32_t i = 0, n = equations->n; i < n; i++) {
        at.equation = equations->at[i];
        uint32_t slots, row = dae->equations.at[at.equation].row;
        dae_row(dae, at.equation, &slots);
        for (uint32_t k = 0; k < slots; k++) {
            Var var = dae->rows.at[row + k];
            if (dae->var_der_of.at[var] == NONE)
                continue;
            if (refuse(&at, var))
                return false;
            Var rate = unknown_for(&at, var);
            if (row == dae->equations.at[at.equation].row) {
                Var *copy = arena_array(dae->arena, Var, slots);
                memcpy(copy, dae->rows.at + row, slots * sizeof *copy);
                row = dae_add_row(dae, copy, slots);
                dae->equations.at[at.equation].row = row;
            }
            dae->rows.at[row + k] = rate;
        }
    }
    return true;
}
