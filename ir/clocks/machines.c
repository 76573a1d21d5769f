// machines.c: pass machines: state machines become clocked equations.
//
// Purpose: Modelica 3.6, chapter 17. Method: that of section 17.3. The transitions of a machine become equations of a few Integers
// (machine_steps.c); equations of a state hold while it is active, and its variables keep their values otherwise (machine_equations.c);
// connected outputs of states are one signal (machine_connections.c).
// Contract: behind `bonds`, before classes are balanced: what states define in variables around them belongs to these afterwards. No
// expression has an operator of state machines then. Complexity: near-linear in the model, but for a matching per state.
#include "ir/base/sets.h"
#include "ir/clocks/machine_inner.h"
#include "ir/dae/model_shapes.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

static bool
has_machines(const Dae *dae)
{
    for (Op op = OP_TRANSITION; op <= OP_TIMEINSTATE; op++) // they stand together in op.def
        if (exprs_have_op(dae->exprs, op))
            return true;
    return false;
}

uint32_t
machines_state_around(const Machines *machines, uint32_t inst)
{
    uint32_t state;
    for (; inst != NONE; inst = machines->dae->insts.at[inst].parent)
        if (map_get(&machines->state_at, inst, &state))
            return state;
    return NONE;
}

static uint32_t
parent_of(const Machines *machines, uint32_t state)
{
    return machines->machines.at[machines->states.at[state].machine].parent;
}

bool
machines_inside(const Machines *machines, uint32_t state, uint32_t around)
{
    if (around == NONE)
        return true;
    while (state != NONE && state != around)
        state = parent_of(machines, state);
    return state != NONE;
}

bool
machines_exclude(const Machines *machines, uint32_t a, uint32_t b)
{
    for (; a != NONE; a = parent_of(machines, a))
        for (uint32_t at = b; at != NONE; at = parent_of(machines, at))
            if (machines->states.at[a].machine == machines->states.at[at].machine)
                return a != at;
    return false;
}

// --- what is written

static Diag *
report(const Machines *machines, uint32_t equation, const char *text)
{
    return diag_add(machines->diags, E0515, machines->dae->equations.at[equation].span, "%s", text);
}

static Var
state_var(const Dae *dae, uint32_t equation, Expr call, uint32_t argument)
{
    return dae->rows.at[dae->equations.at[equation].row + expr_slot_of(dae->exprs, expr_arg(dae->exprs, call, argument))];
}

static uint32_t
state_named(Machines *machines, uint32_t equation, Expr call, uint32_t argument)
{
    const Dae *dae = machines->dae;
    Var active = state_var(dae, equation, call, argument);
    uint32_t state = machines->states.n;
    if (map_get(&machines->state_of_active, active, &state))
        return state;
    map_put(&machines->state_of_active, active, state);
    vec_push(&machines->states, ((MachineState){.inst = dae_group(dae, active)->inst, .equation = equation, .active = active, .reset = NONE,
                                                .entered = NONE, .ticks = NONE, .since = NONE}));
    return state;
}

static bool
add_transition(Machines *machines, uint32_t equation, Expr call)
{
    const Dae *dae = machines->dae;
    const Exprs *exprs = dae->exprs;
    Transition made = {.equation = equation, .from = state_named(machines, equation, call, 0), .to = state_named(machines, equation, call, 1),
                       .condition = expr_arg(exprs, call, 2), .immediate = expr_value(exprs, expr_arg(exprs, call, 3)) != 0,
                       .reset = expr_value(exprs, expr_arg(exprs, call, 4)) != 0, .synchronize = expr_value(exprs, expr_arg(exprs, call, 5)) != 0,
                       .priority = expr_value(exprs, expr_arg(exprs, call, 6))};
    for (uint32_t i = 0; i < machines->transitions.n; i++)
        if (machines->transitions.at[i].from == made.from && machines->transitions.at[i].priority == made.priority) {
            Diag *diag = report(machines, equation, "two transitions from one state have the same priority");
            diag_note(diag, dae->equations.at[machines->transitions.at[i].equation].span, "the other transition");
            diag_help(diag, "transition(a, b, condition, priority = 2); the one with the smallest number is taken");
            return false;
        }
    machines->states.at[made.from].leaves = true;
    vec_push(&machines->transitions, made);
    return true;
}

static bool
add_initial(Machines *machines, uint32_t equation, Expr call)
{
    uint32_t state = state_named(machines, equation, call, 0);
    if (machines->states.at[state].starts) {
        report(machines, equation, "this state is marked as initial twice");
        return false;
    }
    machines->states.at[state].starts = true;
    machines->states.at[state].equation = equation;
    return true;
}

// The call that an equation is about, or 0.
static Expr
statement_of(const Dae *dae, uint32_t i)
{
    const Equation *equation = &dae->equations.at[i];
    Expr call = equation->kind != EQN_REMOVED && expr_op(dae->exprs, equation->shape) == OP_EQN ? expr_arg(dae->exprs, equation->shape, 0) : 0;
    Op op = call ? expr_op(dae->exprs, call) : OP_CONST;
    return op == OP_TRANSITION || op == OP_INITIALSTATE ? call : 0;
}

static bool
collect(Machines *machines)
{
    Dae *dae = machines->dae;
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        Expr call = statement_of(dae, i);
        Op op = call ? expr_op(dae->exprs, call) : OP_CONST;
        if (!call)
            continue;
        if (!(op == OP_TRANSITION ? add_transition(machines, i, call) : add_initial(machines, i, call)))
            return false;
    }
    return true;
}

// --- machines

static uint32_t
depth_of(const Dae *dae, uint32_t inst)
{
    uint32_t depth = 0;
    for (; dae->insts.at[inst].parent != NONE; inst = dae->insts.at[inst].parent)
        depth++;
    return depth;
}

// States of one machine, the initial one first, those of outer machines before those of inner ones.
static void
order_states(Machines *machines, U32Vec *sets, U32Vec *order)
{
    const Dae *dae = machines->dae;
    uint32_t n = machines->states.n, deepest = 0;
    for (uint32_t s = 0; s < n; s++) {
        uint32_t depth = depth_of(dae, machines->states.at[s].inst);
        deepest = depth > deepest ? depth : deepest;
    }
    for (uint32_t depth = 0; depth <= deepest; depth++)
        for (uint32_t root = 0; root < n; root++) {
            if (sets_find(sets, root) != root || depth_of(dae, machines->states.at[root].inst) != depth)
                continue;
            for (int later = 0; later < 2; later++)
                for (uint32_t s = root; s < n; s++)
                    if (sets_find(sets, s) == root && machines->states.at[s].starts == !later)
                        vec_push(order, s);
        }
}

static void
renumber(Machines *machines, const U32Vec *order)
{
    VEC(MachineState) states = {0};
    U32Vec place = {0};
    vec_grow(&place, machines->states.n);
    for (uint32_t i = 0; i < order->n; i++) {
        place.at[order->at[i]] = i;
        vec_push(&states, machines->states.at[order->at[i]]);
    }
    for (uint32_t i = 0; i < order->n; i++) {
        machines->states.at[i] = states.at[i];
        map_put(&machines->state_at, states.at[i].inst, i);
        map_put(&machines->state_of_active, states.at[i].active, i);
    }
    for (uint32_t i = 0; i < machines->transitions.n; i++) {
        machines->transitions.at[i].from = place.at[machines->transitions.at[i].from];
        machines->transitions.at[i].to = place.at[machines->transitions.at[i].to];
    }
    vec_free(&states);
    vec_free(&place);
}

static bool
add_machine(Machines *machines, uint32_t first, uint32_t n)
{
    const Dae *dae = machines->dae;
    const MachineState *initial = &machines->states.at[first];
    uint32_t inst = dae->insts.at[initial->inst].parent;
    Machine made = {.inst = inst, .parent = inst == NONE ? NONE : machines_state_around(machines, inst), .first = first, .n = n, .initial = first};
    if (!initial->starts) {
        Diag *diag = report(machines, initial->equation, "no state of this state machine is marked as the initial one");
        diag_help(diag, "initialState(a) says which state is active first");
        return false;
    }
    for (uint32_t s = first; s < first + n; s++) {
        if (s > first && machines->states.at[s].starts) {
            Diag *diag = report(machines, machines->states.at[s].equation, "a state machine has one initial state");
            diag_note(diag, dae->equations.at[initial->equation].span, "the other one");
            return false;
        }
        if (inst == NONE || dae->insts.at[machines->states.at[s].inst].parent != inst) {
            report(machines, machines->states.at[s].equation, "the states of a state machine are components of one class");
            return false;
        }
        machines->states.at[s].machine = machines->machines.n;
        machines->states.at[s].number = s - first + 1;
    }
    vec_push(&machines->machines, made);
    return true;
}

// By machines; of one, the one with the smallest number last.
static void
order_transitions(Machines *machines)
{
    VEC(Transition) sorted = {0};
    uint32_t n = machines->transitions.n;
    for (uint32_t i = 0; i < n; i++)
        machines->transitions.at[i].machine = machines->states.at[machines->transitions.at[i].from].machine;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = sorted.n;
        vec_grow(&sorted, 1);
        const Transition *at = &machines->transitions.at[i];
        for (; k > 0 && (sorted.at[k - 1].machine > at->machine || (sorted.at[k - 1].machine == at->machine && sorted.at[k - 1].priority < at->priority)); k--)
            sorted.at[k] = sorted.at[k - 1];
        sorted.at[k] = *at;
    }
    for (uint32_t i = 0; i < n; i++) {
        machines->transitions.at[i] = sorted.at[i];
        Machine *machine = &machines->machines.at[sorted.at[i].machine];
        if (!machine->n_transitions++)
            machine->first_transition = i;
    }
    vec_free(&sorted);
}

static bool
divide(Machines *machines)
{
    U32Vec sets = {0}, order = {0};
    sets_grow(&sets, machines->states.n);
    for (uint32_t i = 0; i < machines->transitions.n; i++)
        sets_join(&sets, machines->transitions.at[i].from, machines->transitions.at[i].to);
    order_states(machines, &sets, &order);
    renumber(machines, &order);
    bool good = true;
    for (uint32_t i = 0, n; i < order.n && good; i += n) {
        n = 1;
        while (i + n < order.n && sets_find(&sets, order.at[i + n]) == sets_find(&sets, order.at[i]))
            n++;
        good = add_machine(machines, i, n);
    }
    if (good)
        order_transitions(machines);
    vec_free(&sets);
    vec_free(&order);
    return good;
}

// --- what asks for states

typedef struct Asking {
    Machines *machines;
    const Var *row;
    bool wrong;
} Asking;

static Expr
answer(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Asking *asking = context;
    uint32_t state;
    if (expr_op(exprs, part) != OP_ACTIVESTATE)
        return 0;
    asking->wrong |= !map_get(&asking->machines->state_of_active, asking->row[expr_slot_of(exprs, args[0])], &state);
    return args[0];
}

// activeState(a) is the variable of a.
static bool
answer_questions(Machines *machines)
{
    Dae *dae = machines->dae;
    for (ModelShape at = {0}; model_shape_next(dae, &at);) {
        if (!expr_has_op(dae->exprs, at.shape, OP_ACTIVESTATE))
            continue;
        Asking asking = {.machines = machines, .row = dae->rows.at + at.row};
        Expr e = expr_rewrite(dae->exprs, at.shape, answer, &asking);
        if (asking.wrong || (at.place != SHAPE_IN_EQUATION && at.place != SHAPE_IN_ASSERT && at.place != SHAPE_IN_MESSAGE)) {
            diag_add(machines->diags, E0515, at.span, asking.wrong ? "'activeState' asks for what is no state: no transition leads from it or to it"
                                                                   : "'activeState' cannot stand here");
            return false;
        }
        Expr *place = at.place == SHAPE_IN_EQUATION ? &dae->equations.at[at.index].shape
            : at.place == SHAPE_IN_ASSERT ? &dae->asserts.at[at.index].condition : &dae->told.at[at.index].shape;
        uint32_t *row = at.place == SHAPE_IN_EQUATION ? &dae->equations.at[at.index].row
            : at.place == SHAPE_IN_ASSERT ? &dae->asserts.at[at.index].row : &dae->told.at[at.index].row;
        U32Vec vars = {0};
        vec_append(&vars, dae->rows.at + at.row, expr_nslots(dae->exprs, at.shape));
        dae_bind_shape(dae, e, vars.at, place, row);
        vec_free(&vars);
    }
    for (uint32_t i = 0; i < machines->transitions.n; i++) {
        Transition *at = &machines->transitions.at[i];
        Asking asking = {.machines = machines, .row = dae->rows.at + dae->equations.at[at->equation].row};
        at->condition = expr_rewrite(dae->exprs, at->condition, answer, &asking);
        if (asking.wrong) {
            report(machines, at->equation, "'activeState' asks for what is no state: no transition leads from it or to it");
            return false;
        }
    }
    return true;
}

static bool
refuse_others(const Machines *machines)
{
    const Dae *dae = machines->dae;
    bool good = true;
    for (ModelShape at = {0}; model_shape_next(dae, &at);)
        for (Op op = OP_TICKSINSTATE; good && op <= OP_TIMEINSTATE; op++)
            if (expr_has_op(dae->exprs, at.shape, op)) {
                Diag *diag = diag_add(machines->diags, E0515, at.span, "this is outside of all states, and no condition of a transition");
                diag_help(diag, "ticksInState() and timeInState() are asked in states, or for the state that a transition leads from");
                good = false;
            }
    return good;
}

static void
json_path(const Dae *dae, const char *before, uint32_t inst, Out *out)
{
    Out path = {0};
    dae_inst_path(dae, inst, &path);
    out_text(out, before);
    out_json(out, path.length ? path.text : "");
    out_free(&path);
}

static void
list_transition(const Machines *machines, const Transition *at, ClockListing *out)
{
    Dae *dae = machines->dae;
    Out *text = &out->text, *json = &out->machines, condition = {0};
    uint32_t from = machines->states.at[at->from].inst, to = machines->states.at[at->to].inst;
    dae_print_shape(dae, at->condition, dae->equations.at[at->equation].row, NONE, &condition);
    out_text(text, "    ");
    dae_inst_path(dae, from, text);
    out_text(text, " -> ");
    dae_inst_path(dae, to, text);
    out_printf(text, ", priority %g%s%s%s: %s\n", at->priority, at->immediate ? "" : ", delayed", at->reset ? "" : ", no reset",
               at->synchronize ? ", synchronized" : "", condition.text);
    json_path(dae, "{\"from\": ", from, json);
    json_path(dae, ", \"to\": ", to, json);
    out_printf(json, ", \"priority\": %g, \"condition\": ", at->priority);
    out_json(json, condition.text);
    out_printf(json, ", \"immediate\": %s, \"reset\": %s, \"synchronize\": %s}", at->immediate ? "true" : "false", at->reset ? "true" : "false",
               at->synchronize ? "true" : "false");
    out_free(&condition);
}

static void
list_state(const Machines *machines, const Machine *machine, uint32_t s, ClockListing *out)
{
    const MachineState *state = &machines->states.at[s];
    bool initial = s == machine->initial;
    out_text(&out->text, "    ");
    dae_inst_path(machines->dae, state->inst, &out->text);
    out_printf(&out->text, "%s%s\n", initial ? ", initial" : "", state->leaves ? "" : ", final");
    json_path(machines->dae, "{\"name\": ", state->inst, &out->machines);
    out_printf(&out->machines, ", \"initial\": %s, \"final\": %s}", initial ? "true" : "false", state->leaves ? "false" : "true");
}

static void
list(const Machines *machines, ClockListing *out)
{
    Dae *dae = machines->dae;
    for (uint32_t m = 0; m < machines->machines.n; m++) {
        const Machine *machine = &machines->machines.at[m];
        out_printf(&out->text, "state machine %u", m + 1);
        if (machine->parent != NONE) {
            uint32_t around = machines->states.at[machine->parent].inst;
            out_text(&out->text, ", in state ");
            dae_inst_path(dae, around, &out->text);
            json_path(dae, m ? ", {\"inside\": " : "{\"inside\": ", around, &out->machines);
        } else
            out_text(&out->machines, m ? ", {\"inside\": null" : "{\"inside\": null");
        out_text(&out->text, ":\n");
        out_text(&out->machines, ", \"states\": [");
        for (uint32_t s = machine->first; s < machine->first + machine->n; s++) {
            out_text(&out->machines, s > machine->first ? ", " : "");
            list_state(machines, machine, s, out);
        }
        out_text(&out->machines, "], \"transitions\": [");
        for (uint32_t n = machine->n_transitions, i = n; i-- > 0;) {
            out_text(&out->machines, i + 1 < n ? ", " : "");
            list_transition(machines, &machines->transitions.at[machine->first_transition + i], out);
        }
        out_text(&out->machines, "]}");
    }
}

// What the front end made for states has no equations in their classes.
static void
forget_made(Machines *machines)
{
    Dae *dae = machines->dae;
    for (uint32_t i = 0; i < dae->groups.n && dae->balanced; i++) {
        uint32_t state;
        Var first = dae->groups.at[i].first;
        if (map_get(&machines->state_of_active, first, &state) && first < dae->balanced)
            dae->balanced = first;
    }
}

bool
clocks_alternate(Dae *dae, uint32_t a, uint32_t b)
{
    Machines machines = {.dae = dae};
    uint32_t one, other;
    bool yes = false;
    if (has_machines(dae)) {
        Diags *quiet = machines.diags = diags_create(dae->sources);
        yes = collect(&machines) && divide(&machines);
        one = machines_state_around(&machines, a);
        other = machines_state_around(&machines, b);
        yes = yes && one != NONE && other != NONE && machines_exclude(&machines, one, other);
        diags_free(&quiet);
    }
    vec_free(&machines.states);
    vec_free(&machines.transitions);
    vec_free(&machines.machines);
    map_free(&machines.state_at);
    map_free(&machines.state_of_active);
    return yes;
}

bool
pass_machines(Dae *dae, ClockListing *listing, Diags *diags)
{
    Machines machines = {.dae = dae, .diags = diags, .clocks = {.dae = dae, .diags = diags, .start = NONE}, .made = dae->nvars};
    if (!has_machines(dae))
        return true;
    bool good = collect(&machines) && divide(&machines) && answer_questions(&machines);
    if (good) {
        for (uint32_t i = 0; i < dae->equations.n; i++)
            if (statement_of(dae, i))
                dae->equations.at[i].kind = EQN_REMOVED;
        forget_made(&machines);
        if (listing)
            list(&machines, listing);
        machines_make_steps(&machines);
        for (uint32_t s = 0; s < machines.states.n; s++)
            vec_push(&dae->active_states, ((ActiveState){machines.states.at[s].inst, machines.states.at[s].active, machines.states.at[s].reset}));
        machines_merge_connections(&machines);
        good = machines_guard_equations(&machines) && refuse_others(&machines);
    }
    vec_free(&machines.states);
    vec_free(&machines.transitions);
    vec_free(&machines.machines);
    map_free(&machines.state_at);
    map_free(&machines.state_of_active);
    return good;
}
