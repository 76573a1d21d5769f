// machine_steps.c: which state is active at a tick.
//
// Purpose: the semantics of Modelica 3.6, section 17.3.4. Method: for each machine, with the state p that it is inside of (active, and begun
// anew at the first tick only, where there is none), t its transitions from the one that counts least:
//
//     selected = if reset(p) then 1 else previous(next)
//     fired    = the last i with t[i].from = selected and its condition, or with t[i] as the delayed one of the tick before; 0: none
//     current  = if reset(p) then 1 elseif fired > 0 then t[fired].to else selected
//     next     = if active(p) then current else previous(next)
//     delayed  = the last i with t[i].from = next and its condition
//     active   = active(p) and current = its number
//     reset    = active and (reset(p) or fired is a transition with reset or previous(pending))
//     pending  = if active(p) then not current = its number and (reset(p) or previous(pending)) else previous(pending)
//
// Contract: machine_inner.h. Appends hidden variables and equations. Complexity: linear in states and transitions.
#include "ir/clocks/machine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

static Expr
number(const Machines *machines, double value)
{
    return expr_const(machines->dae->exprs, value);
}

static Expr
slot(const Machines *machines, Var var, U32Vec *vars)
{
    return clocks_slot(&machines->clocks, var, vars);
}

static Expr
before(const Machines *machines, Var var, U32Vec *vars)
{
    return expr_1(machines->dae->exprs, OP_PREVIOUS, slot(machines, var, vars));
}

static Expr
is_equal(const Machines *machines, Expr a, double value)
{
    return expr_2(machines->dae->exprs, OP_EQ, a, number(machines, value));
}

static Expr
both(const Machines *machines, Expr a, Expr b)
{
    return expr_2(machines->dae->exprs, OP_AND, a, b);
}

static Expr
either(const Machines *machines, Expr a, Expr b)
{
    return expr_2(machines->dae->exprs, OP_OR, a, b);
}

static Expr
choose(const Machines *machines, Expr condition, Expr a, Expr b)
{
    return expr_3(machines->dae->exprs, OP_IF, condition, a, b);
}

static Var
hidden(Machines *machines, const char *stem, VarType type, double start)
{
    Var var = clocks_hidden(&machines->clocks, stem, VAR_DISCRETE, type);
    clocks_start_at(&machines->clocks, var, start);
    return var;
}

static void
define(Machines *machines, Var var, Expr value, U32Vec *vars, uint32_t equation)
{
    Dae *dae = machines->dae;
    Expr left = slot(machines, var, vars);
    dae_equate(dae, EQN_NORMAL, left, value, vars->at, dae_node(dae, dae_group(dae, var)->inst), dae->equations.at[equation].span);
    vec_clear(vars);
}

Expr
machines_is_active(const Machines *machines, uint32_t state, U32Vec *vars)
{
    return state == NONE ? number(machines, 1) : slot(machines, machines->states.at[state].active, vars);
}

static Expr
begins_anew(const Machines *machines, uint32_t state, U32Vec *vars)
{
    return state == NONE ? expr_1(machines->dae->exprs, OP_FIRSTTICK, number(machines, 0)) : slot(machines, machines->states.at[state].reset, vars);
}

// --- how long

static Var
entered(Machines *machines, uint32_t index)
{
    MachineState *state = &machines->states.at[index];
    const Machine *machine = &machines->machines.at[state->machine];
    if (state->entered != NONE)
        return state->entered;
    U32Vec vars = {0};
    Var made = hidden(machines, "entered", TYPE_BOOLEAN, 0), around = machine->parent == NONE ? NONE : entered(machines, machine->parent);
    Expr anew = begins_anew(machines, machine->parent, &vars);
    if (around != NONE)
        anew = either(machines, anew, slot(machines, around, &vars));
    anew = either(machines, anew, expr_2(machines->dae->exprs, OP_GT, slot(machines, machine->fired, &vars), number(machines, 0)));
    define(machines, made, both(machines, machines_is_active(machines, index, &vars), anew), &vars, state->equation);
    vec_free(&vars);
    return machines->states.at[index].entered = made;
}

static Var
ticks_of(Machines *machines, uint32_t index)
{
    if (machines->states.at[index].ticks != NONE)
        return machines->states.at[index].ticks;
    U32Vec vars = {0};
    Var first = entered(machines, index), made = hidden(machines, "staying", TYPE_INTEGER, 0);
    Expr more = expr_2(machines->dae->exprs, OP_ADD, before(machines, made, &vars), number(machines, 1));
    Expr counted = choose(machines, slot(machines, first, &vars), number(machines, 1), more);
    define(machines, made, choose(machines, machines_is_active(machines, index, &vars), counted, number(machines, 0)), &vars,
           machines->states.at[index].equation);
    vec_free(&vars);
    return machines->states.at[index].ticks = made;
}

static Var
since_of(Machines *machines, uint32_t index)
{
    if (machines->states.at[index].since != NONE)
        return machines->states.at[index].since;
    U32Vec vars = {0};
    Var first = entered(machines, index), made = hidden(machines, "since", TYPE_REAL, 0);
    define(machines, made, choose(machines, slot(machines, first, &vars), expr_time(machines->dae->exprs), before(machines, made, &vars)), &vars,
           machines->states.at[index].equation);
    vec_free(&vars);
    return machines->states.at[index].since = made;
}

// Where the next state is still looked for, an immediate condition asks for what holds if this one stays.
static Expr
anew_unless_left(Machines *machines, uint32_t index, U32Vec *vars)
{
    uint32_t parent = machines->machines.at[machines->states.at[index].machine].parent;
    Expr anew = begins_anew(machines, parent, vars);
    return parent == NONE ? anew : either(machines, anew, slot(machines, entered(machines, parent), vars));
}

static Expr
ticks_in(Machines *machines, uint32_t state, bool immediate, U32Vec *vars)
{
    Var ticks = ticks_of(machines, state);
    if (!immediate)
        return slot(machines, ticks, vars);
    Expr more = expr_2(machines->dae->exprs, OP_ADD, before(machines, ticks, vars), number(machines, 1));
    return choose(machines, anew_unless_left(machines, state, vars), number(machines, 1), more);
}

static Expr
time_in(Machines *machines, uint32_t state, bool immediate, U32Vec *vars)
{
    Exprs *exprs = machines->dae->exprs;
    Var since = since_of(machines, state);
    Expr from = immediate ? choose(machines, anew_unless_left(machines, state, vars), expr_time(exprs), before(machines, since, vars))
                          : slot(machines, since, vars);
    return expr_2(exprs, OP_STAYED, expr_sub(exprs, ticks_in(machines, state, immediate, vars), number(machines, 1)), from);
}

// --- values of the tick before

Expr
machines_kept(Machines *machines, Var var, U32Vec *vars)
{
    const Group *group = dae_group(machines->dae, var);
    uint32_t owner = group ? machines_state_around(machines, group->inst) : NONE;
    Expr last = before(machines, var, vars);
    if (owner == NONE || var >= machines->made)
        return last;
    return choose(machines, slot(machines, machines->states.at[owner].reset, vars), clocks_start_value(&machines->clocks, var, vars), last);
}

typedef struct Expanding {
    Machines *machines;
    uint32_t state;
    bool immediate;
    U32Vec *vars;
} Expanding;

// previous(x) of a variable of the state, or of one around it.
static Expr
begun(Expanding *at, Expr part, Expr value)
{
    const Exprs *exprs = at->machines->dae->exprs;
    if (expr_op(exprs, value) != OP_SLOT)
        return part;
    Var var = at->vars->at[expr_slot_of(exprs, value)];
    const Group *group = dae_group(at->machines->dae, var);
    uint32_t owner = group ? machines_state_around(at->machines, group->inst) : NONE;
    return owner != NONE && machines_inside(at->machines, at->state, owner) ? machines_kept(at->machines, var, at->vars) : part;
}

static Expr
replace(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Expanding *at = context;
    switch (expr_op(exprs, part)) {
    case OP_PREVIOUS: return at->state == NONE ? 0 : begun(at, part, args[0]);
    case OP_TICKSINSTATE: return at->state == NONE ? 0 : ticks_in(at->machines, at->state, at->immediate, at->vars);
    case OP_TIMEINSTATE: return at->state == NONE ? 0 : time_in(at->machines, at->state, at->immediate, at->vars);
    default: return 0;
    }
}

Expr
machines_expand(Machines *machines, uint32_t state, bool immediate, Expr e, U32Vec *vars)
{
    Expanding at = {machines, state, immediate, vars};
    return expr_rewrite(machines->dae->exprs, e, replace, &at);
}

// --- one machine

// All machines inside of a state are in states that nothing leaves; before the tick, for a condition that decides what is active at it.
static Expr
is_finished(const Machines *machines, uint32_t state, bool immediate, U32Vec *vars)
{
    Expr all = number(machines, 1);
    for (uint32_t m = 0; m < machines->machines.n; m++) {
        const Machine *machine = &machines->machines.at[m];
        if (machine->parent != state)
            continue;
        Expr in_final = number(machines, 0);
        for (uint32_t s = machine->first; s < machine->first + machine->n; s++) {
            Expr now = immediate ? before(machines, machine->next, vars) : slot(machines, machine->current, vars);
            if (!machines->states.at[s].leaves)
                in_final = either(machines, in_final, is_equal(machines, now, machines->states.at[s].number));
        }
        all = both(machines, all, in_final);
    }
    return all;
}

static Expr
condition_of(Machines *machines, const Transition *transition, uint32_t parent, U32Vec *vars)
{
    Expr e = clocks_carried(&machines->clocks, transition->condition, machines->dae->equations.at[transition->equation].row, vars);
    // previous() is that of where the transition stands, the time in a state that of the one it leads from.
    Expanding at = {machines, parent, transition->immediate, vars};
    bool asks = expr_has_op(machines->dae->exprs, e, OP_TICKSINSTATE) || expr_has_op(machines->dae->exprs, e, OP_TIMEINSTATE);
    if (asks)
        at.state = transition->from;
    e = expr_rewrite(machines->dae->exprs, e, replace, &at);
    return transition->synchronize ? both(machines, e, is_finished(machines, transition->from, transition->immediate, vars)) : e;
}

// The last transition of this kind that can be taken from the state that `from` numbers, or `otherwise`.
static Expr
taken(Machines *machines, const Machine *machine, bool immediate, Expr from, Expr delayed, U32Vec *vars)
{
    Expr result = number(machines, 0);
    for (uint32_t k = 0; k < machine->n_transitions; k++) {
        const Transition *at = &machines->transitions.at[machine->first_transition + k];
        if (at->immediate != immediate && !delayed)
            continue;
        Expr fires = at->immediate == immediate ? both(machines, is_equal(machines, from, machines->states.at[at->from].number),
                                                       condition_of(machines, at, machine->parent, vars))
                                                : is_equal(machines, delayed, k + 1);
        result = choose(machines, fires, number(machines, k + 1), result);
    }
    return result;
}

static void
make_variables(Machines *machines, Machine *machine)
{
    machine->next = hidden(machines, "next", TYPE_INTEGER, 0);
    machine->fired = hidden(machines, "fired", TYPE_INTEGER, 0);
    machine->current = hidden(machines, "current", TYPE_INTEGER, 0);
    for (uint32_t s = machine->first; s < machine->first + machine->n; s++) {
        MachineState *state = &machines->states.at[s];
        state->reset = hidden(machines, "reset", TYPE_BOOLEAN, 0);
    }
}

static void
decide(Machines *machines, const Machine *machine)
{
    U32Vec vars = {0};
    uint32_t equation = machines->states.at[machine->initial].equation;
    bool any_delayed = false;
    for (uint32_t k = 0; k < machine->n_transitions; k++)
        any_delayed |= !machines->transitions.at[machine->first_transition + k].immediate;
    Var selected = hidden(machines, "selected", TYPE_INTEGER, 0), delayed = any_delayed ? hidden(machines, "delayed", TYPE_INTEGER, 0) : NONE;
    Expr anew = begins_anew(machines, machine->parent, &vars);
    define(machines, selected, choose(machines, anew, number(machines, 1), before(machines, machine->next, &vars)), &vars, equation);
    if (any_delayed)
        define(machines, delayed, taken(machines, machine, false, slot(machines, machine->next, &vars), 0, &vars), &vars, equation);
    Expr was = any_delayed ? before(machines, delayed, &vars) : number(machines, 0);
    define(machines, machine->fired, taken(machines, machine, true, slot(machines, selected, &vars), was, &vars), &vars, equation);
    Expr current = slot(machines, selected, &vars);
    for (uint32_t k = 0; k < machine->n_transitions; k++) {
        const Transition *at = &machines->transitions.at[machine->first_transition + k];
        current = choose(machines, is_equal(machines, slot(machines, machine->fired, &vars), k + 1),
                         number(machines, machines->states.at[at->to].number), current);
    }
    current = choose(machines, begins_anew(machines, machine->parent, &vars), number(machines, 1), current);
    define(machines, machine->current, current, &vars, equation);
    Expr next = choose(machines, machines_is_active(machines, machine->parent, &vars), slot(machines, machine->current, &vars),
                       before(machines, machine->next, &vars));
    define(machines, machine->next, next, &vars, equation);
    vec_free(&vars);
}

static void
activate(Machines *machines, const Machine *machine, const MachineState *state)
{
    U32Vec vars = {0};
    Expr here = is_equal(machines, slot(machines, machine->current, &vars), state->number);
    define(machines, state->active, both(machines, machines_is_active(machines, machine->parent, &vars), here), &vars, state->equation);
    Var pending = hidden(machines, "pending", TYPE_BOOLEAN, 0);
    Expr waits = either(machines, begins_anew(machines, machine->parent, &vars), before(machines, pending, &vars));
    here = is_equal(machines, slot(machines, machine->current, &vars), state->number);
    Expr elsewhere = both(machines, expr_1(machines->dae->exprs, OP_NOT, here), waits);
    Expr value = choose(machines, machines_is_active(machines, machine->parent, &vars), elsewhere, before(machines, pending, &vars));
    define(machines, pending, value, &vars, state->equation);
    Expr anew = either(machines, begins_anew(machines, machine->parent, &vars), before(machines, pending, &vars));
    for (uint32_t k = 0; k < machine->n_transitions; k++)
        if (machines->transitions.at[machine->first_transition + k].reset)
            anew = either(machines, anew, is_equal(machines, slot(machines, machine->fired, &vars), k + 1));
    define(machines, state->reset, both(machines, slot(machines, state->active, &vars), anew), &vars, state->equation);
    vec_free(&vars);
}

void
machines_make_steps(Machines *machines)
{
    for (uint32_t m = 0; m < machines->machines.n; m++)
        make_variables(machines, &machines->machines.at[m]);
    for (uint32_t m = 0; m < machines->machines.n; m++) {
        const Machine machine = machines->machines.at[m];
        decide(machines, &machine);
        for (uint32_t s = machine.first; s < machine.first + machine.n; s++) {
            const MachineState state = machines->states.at[s];
            activate(machines, &machine, &state);
        }
    }
}
