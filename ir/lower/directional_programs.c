// directional_programs.c: tangents: directional derivatives of the model's functions, as functions like any others.
//
// Purpose: linearisation and sensitivities ask how everything that a function computes follows a change of what it
//   reads: states, inputs, parameters, time. The Jacobians of partial_derivatives.c have the integrator's rows and columns only.
// Method: forward differentiation of every instruction in one direction (Griewank and Walther, Evaluating Derivatives,
//   ch. 3): d = shape(s0, s1, ...) gets the instruction d' = sum over k of d(shape)/d(slot k) * sk', where the tangent of
//   place p is place p + shift. The sum is built once per shape and pattern of the slots that can move. A function's
//   tangent keeps the order of its instructions, so that runs of equal shapes stay loops.
// Contract: after all other instructions were made. A tangent is called after its function. A function that writes over
//   a place which it also reads has none: the value read is gone by then.
// Complexity: linear in the instructions; the value array becomes twice as long.
#include <string.h>

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/routine.h"
#include "ir/lower/lower_inner.h"

typedef struct Derived {  // memo: the tangent of a shape for a pattern of moving slots
    Expr shape;           // canonical
    uint32_t order, n_order;
} Derived;

typedef struct Tangents {
    Lowering *low;
    uint32_t shift;
    U8Vec moves;          // per place: its tangent may be other than zero
    VEC(Derived) derived;
    U32Vec orders;
    Map of, function_at;  // (shape, pattern); address of a function in the model's tables
    U32Vec rate, places;
} Tangents;

static const uint32_t *
slots_of(const Tangents *t, const Instr *instr)
{
    return t->low->sys->places.at + instr->row;
}

// Sum of partial derivatives times slots n + k, for the slots that move; time has slot 2n.
static Expr
differentiate(Tangents *t, const Instr *instr, uint32_t n)
{
    Exprs *exprs = t->low->exprs;
    vec_clear(&t->rate);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&t->rate, t->moves.at[slots_of(t, instr)[k]] ? expr_slot(exprs, n + k) : 0);
    if (!expr_has_op(exprs, instr->shape, OP_TIME))
        return expr_rate(exprs, instr->shape, t->rate.at, n);
    Expr by_time = expr_rate(exprs, instr->shape, NULL, 0), total = expr_2(exprs, OP_MUL, by_time, expr_slot(exprs, 2 * n));
    for (uint32_t k = 0; k < n; k++)
        if (t->rate.at[k]) {
            Expr term = expr_2(exprs, OP_MUL, expr_diff(exprs, instr->shape, k), t->rate.at[k]);
            total = expr_2(exprs, OP_ADD, total, term);
        }
    return total;
}

static Derived
derive(Tangents *t, const Instr *instr, uint32_t n)
{
    uint64_t key = hash_mix(instr->shape);
    uint32_t index;
    for (uint32_t k = 0; k < n; k++)
        key = hash_add(key, t->moves.at[slots_of(t, instr)[k]]);
    if (map_get(&t->of, key, &index))
        return t->derived.at[index];
    U32Vec order = {0};
    Derived derived = {.order = t->orders.n};
    derived.shape = expr_shape(t->low->exprs, differentiate(t, instr, n), &order);
    derived.n_order = order.n;
    vec_append(&t->orders, order.at, order.n);
    vec_free(&order);
    map_put(&t->of, key, t->derived.n);
    vec_push(&t->derived, derived);
    return derived;
}

static void
add_tangent(Tangents *t, const Instr *instr, InstrVec *out)
{
    uint32_t n = expr_nslots(t->low->exprs, instr->shape);
    Derived derived = derive(t, instr, n);
    vec_clear(&t->places);
    for (uint32_t k = 0; k < derived.n_order; k++) {
        uint32_t slot = t->orders.at[derived.order + k];
        uint32_t place = slot < n ? slots_of(t, instr)[slot] : slot < 2 * n ? t->shift + slots_of(t, instr)[slot - n] : t->shift;
        vec_push(&t->places, place);
    }
    emit_places(t->low, out, derived.shape, t->places.at, t->shift + instr->dest);
}

// --- what moves

static bool
instruction_moves(const Tangents *t, const Instr *instr)
{
    const Exprs *exprs = t->low->exprs;
    uint32_t n = expr_nslots(exprs, instr->shape);
    bool moves = expr_has_op(exprs, instr->shape, OP_TIME);
    for (uint32_t k = 0; k < n && !moves; k++)
        moves = t->moves.at[slots_of(t, instr)[k]];
    return moves;
}

static void
mark_seeds(Tangents *t)
{
    const mdl_model *model = t->low->sys->model;
    t->moves.at[0] = 1;
    for (uint32_t i = 0; i < model->n; i++)
        t->moves.at[model->y + i] = t->moves.at[model->yp + i] = 1;
    for (uint32_t i = 0; i < model->n_settables; i++)
        if (model->settable[i].type == MDL_REAL)
            t->moves.at[model->settable[i].value] = t->moves.at[model->settable[i].result] = 1;
    for (uint32_t i = 0; i < model->n_discretes; i++)
        t->moves.at[model->discrete[i].value] = t->moves.at[model->discrete[i].pre] = 1;
    for (uint32_t i = 0; i < model->n_delays; i++)
        t->moves.at[model->delay[i].value] = 1;
    for (uint32_t i = 0; i < 2 * model->n_transports; i++) {
        const mdl_transport_end *end = &model->transport[i / 2].end[i % 2];
        t->moves.at[end->leaves] = t->moves.at[end->behind] = t->moves.at[end->arrives] = 1;
    }
    for (uint32_t i = 0; i < model->n_fractionals; i++)
        t->moves.at[model->fractional[i].shift] = t->moves.at[model->fractional[i].tail] = 1;
    for (uint32_t k = 0; k < model->n_init; k++)
        for (uint32_t i = 0; model->init[k].block && i < model->init[k].block->m; i++)
            t->moves.at[model->init[k].block->unknown[i]] = 1;
}

// Functions stand in any order, so the marks are repeated until nothing new moves.
static void
mark_moves(Tangents *t)
{
    const Sys *sys = t->low->sys;
    mark_seeds(t);
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < sys->instrs.n; i++)
            if (!t->moves.at[sys->instrs.at[i].dest] && instruction_moves(t, &sys->instrs.at[i])) {
                t->moves.at[sys->instrs.at[i].dest] = 1;
                again = true;
            }
    }
}

// --- functions

static bool
overwrites(Tangents *t, const Func *func)
{
    PlaceMap *read = &t->low->scratch;
    const Sys *sys = t->low->sys;
    bool found = false;
    for (uint32_t i = func->first; i < func->first + func->count; i++) {
        const Instr *instr = &sys->instrs.at[i];
        uint32_t n = expr_nslots(t->low->exprs, instr->shape), unused;
        for (uint32_t k = 0; k < n; k++)
            place_put(read, slots_of(t, instr)[k], 1);
        found = found || place_get(read, instr->dest, &unused);
    }
    place_clear(read);
    return found;
}

// The tangent of the function whose code comes to `of`, to `at`. False: it has none.
static bool
make_tangent(Tangents *t, const mdl_code *of, mdl_code *at)
{
    uint32_t index;
    if (!map_get(&t->function_at, (uintptr_t)of, &index))
        return true;
    const Func func = t->low->sys->funcs.at[index];
    InstrVec code = {0};
    if (overwrites(t, &func))
        return false;
    for (uint32_t i = func.first; i < func.first + func.count; i++) {
        const Instr instr = t->low->sys->instrs.at[i];
        if (t->moves.at[instr.dest])
            add_tangent(t, &instr, &code);
    }
    add_function(t->low, arena_printf(t->low->arena, "%s_tangent", func.name), &code, false, at);
    vec_free(&code);
    return true;
}

static const mdl_code *
make_step_tangents(Tangents *t, const mdl_step *steps, uint32_t n, bool *complete)
{
    mdl_code *codes = arena_array(t->low->arena, mdl_code, n + 1);
    for (uint32_t k = 0; k < n; k++)
        *complete &= make_tangent(t, steps[k].block ? &steps[k].block->eval : &steps[k].call, &codes[k]);
    return codes;
}

// --- what has no derivative

// Inputs of constructors of external objects, and both sides of assertions that a parameter has one value.
typedef struct HeldValues {
    InstrVec code;
    VEC(mdl_held) table;
} HeldValues;

static void
hold(Lowering *low, HeldValues *held, Expr e, const uint32_t *places, mdl_held_kind kind, const char *text)
{
    U32Vec order = {0}, from = {0};
    Expr shape = expr_shape(low->exprs, e, &order);
    for (uint32_t k = 0; k < order.n; k++)
        vec_push(&from, places[order.at[k]]);
    vec_push(&held->table, ((mdl_held){new_places(low, 1), kind, text}));
    emit_places(low, &held->code, shape, from.at, vec_last(&held->table).place);
    vec_free(&order);
    vec_free(&from);
}

static void
hold_inputs(Lowering *low, HeldValues *held, const Instr *instr)
{
    const Exprs *exprs = low->exprs;
    U32Vec parts = {0};
    expr_parts(exprs, instr->shape, &parts);
    for (uint32_t i = 0; i < parts.n; i++) {
        const Routine *routine = expr_op(exprs, parts.at[i]) == OP_CALL ? routine_of(exprs, (uint32_t)expr_value(exprs, expr_arg(exprs, parts.at[i], 0))) : NULL;
        if (!routine || !routine->external || !routine->external->makes)
            continue;
        Var object = variable_at(low, instr->dest);
        const char *text = object == NONE ? "an external object" : dae_name(low->dae, object);
        for (uint32_t k = 0; k < routine->inputs; k++)
            if (routine->real.at[k] && expr_nslots(exprs, expr_arg(exprs, parts.at[i], k + 1)))
                hold(low, held, expr_arg(exprs, parts.at[i], k + 1), low->sys->places.at + instr->row, MDL_HELD_OBJECT, text);
    }
    vec_free(&parts);
}

// An assertion a == b of parameters: nothing is known for other values.
static void
hold_sides(Lowering *low, HeldValues *held, const Assert *at)
{
    Exprs *exprs = low->exprs;
    Dae *dae = low->dae;
    Expr e = expr_op(exprs, at->condition) == OP_NOEVENT ? expr_arg(exprs, at->condition, 0) : at->condition;
    if (at->level != ASSERT_ERROR || expr_op(exprs, e) != OP_EQ || !dae_is_parametric(dae, e, dae->rows.at + at->row))
        return;
    uint32_t place = new_places(low, 1);
    emit_vars(low, &held->code, LIFT_LIVE, expr_sub(exprs, expr_arg(exprs, e, 0), expr_arg(exprs, e, 1)), dae->rows.at + at->row, at->span, 1, place);
    vec_push(&held->table, ((mdl_held){place, MDL_HELD_VALUE, lower_place(low, at->span, "the model")}));
}

// What moves with states.
static void
mark_swings(const Tangents *t, U8Vec *swings)
{
    const Sys *sys = t->low->sys;
    const mdl_model *model = sys->model;
    vec_grow(swings, t->low->nv);
    for (uint32_t i = 0; i < model->n; i++)
        swings->at[model->y + i] = swings->at[model->yp + i] = 1;
    for (uint32_t i = 0; i < model->n_discretes; i++)
        swings->at[model->discrete[i].value] = swings->at[model->discrete[i].pre] = 1;
    for (bool again = true; again;) {
        again = false;
        for (uint32_t i = 0; i < sys->instrs.n; i++) {
            const Instr *instr = &sys->instrs.at[i];
            uint32_t n = expr_nslots(t->low->exprs, instr->shape);
            bool found = false;
            for (uint32_t k = 0; k < n && !found && !swings->at[instr->dest]; k++)
                found = t->moves.at[instr->dest] && swings->at[slots_of(t, instr)[k]];
            swings->at[instr->dest] |= found;
            again |= found;
        }
    }
}

// The function among those that the tangent calls of whose result nothing is known but that the derivative of its statements is zero.
static const Routine *
stepping(const Exprs *exprs, Expr tangent)
{
    U8Vec seen = {0};
    U32Vec numbers = {0};
    const Routine *found = NULL;
    routine_reach(exprs, tangent, &seen, &numbers);
    for (uint32_t i = 0; i < numbers.n && !found; i++) {
        uint32_t of = routine_of(exprs, numbers.at[i])->derivative_of;
        found = of && routine_of(exprs, of)->stepwise ? routine_of(exprs, of) : NULL;
    }
    vec_free(&seen);
    vec_free(&numbers);
    return found;
}

// The declared derivative that leaves out inputs which move, where the expression calls one: appends the slots of these. NULL: there is none.
static const Routine *
left_out(const Exprs *exprs, Expr e, U32Vec *slots)
{
    U32Vec parts = {0};
    const Routine *found = NULL;
    expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n; i++) {
        const Routine *routine = expr_op(exprs, parts.at[i]) == OP_CALL ? routine_of(exprs, (uint32_t)expr_value(exprs, expr_arg(exprs, parts.at[i], 0))) : NULL;
        for (uint32_t k = 0; routine && routine->ignored && k < routine->inputs / 2; k++) {
            Expr rate = expr_arg(exprs, parts.at[i], 1 + routine->inputs / 2 + k);
            if (!routine->ignored[k] || !expr_nslots(exprs, rate))
                continue;
            expr_used_slots(exprs, &rate, 1, slots);
            found = routine;
        }
    }
    vec_free(&parts);
    return found;
}

// The same of what the expression calls, statement by statement.
static const Routine *
left_out_inside(const Exprs *exprs, Expr tangent)
{
    U8Vec seen = {0};
    U32Vec numbers = {0}, slots = {0};
    const Routine *found = NULL;
    routine_reach(exprs, tangent, &seen, &numbers);
    for (uint32_t i = 0; i < numbers.n && !found; i++) {
        const Routine *routine = routine_of(exprs, numbers.at[i]);
        for (uint32_t k = 0; k < routine->steps.n && !found && !routine->ignored; k++)
            found = left_out(exprs, routine->steps.at[k].value, &slots);
    }
    vec_free(&seen);
    vec_free(&numbers);
    vec_free(&slots);
    return found;
}

// What follows from states is left out because the function's author says so; of parameters he knows nothing.
static void
hold_left_out(Tangents *t, HeldValues *held, const Instr *instr, const U8Vec *swings)
{
    Lowering *low = t->low;
    uint32_t n = expr_nslots(low->exprs, instr->shape);
    if (!instruction_moves(t, instr))
        return;
    const Derived derived = derive(t, instr, n);
    U32Vec slots = {0};
    const Routine *direct = left_out(low->exprs, derived.shape, &slots), *inside = left_out_inside(low->exprs, derived.shape);
    const char *text = direct || inside ? (direct ? direct : inside)->name : "";
    for (uint32_t k = 0; k < slots.n; k++)
        slots.at[k] = t->orders.at[derived.order + slots.at[k]];
    for (uint32_t k = 0; k < n && inside; k++)
        vec_push(&slots, n + k);
    for (uint32_t k = 0; k < slots.n; k++) {
        bool rate = slots.at[k] >= n && slots.at[k] < 2 * n;
        uint32_t place = rate ? slots_of(t, instr)[slots.at[k] - n] : 0;
        if (rate && t->moves.at[place] && !swings->at[place])
            hold(low, held, expr_slot(low->exprs, 0), &place, MDL_HELD_LEFT_OUT, text);
    }
    vec_free(&slots);
}

static void
hold_steps(Tangents *t, HeldValues *held, const Instr *instr, const U8Vec *swings)
{
    Lowering *low = t->low;
    uint32_t n = expr_nslots(low->exprs, instr->shape);
    const Routine *routine = instruction_moves(t, instr) ? stepping(low->exprs, derive(t, instr, n).shape) : NULL;
    for (uint32_t k = 0; k < n && routine; k++) {
        uint32_t place = slots_of(t, instr)[k];
        if (swings->at[place])
            vec_push(&held->table, ((mdl_held){0, MDL_HELD_STEPS, routine->name}));
        else if (t->moves.at[place])
            hold(low, held, expr_slot(low->exprs, 0), &place, MDL_HELD_STEPS, routine->name);
    }
}

// Of directions of states and inputs, for those who drive the model.
static bool
is_blind(const HeldValues *held)
{
    bool blind = false;
    for (uint32_t i = 0; i < held->table.n && !blind; i++)
        blind = held->table.at[i].kind == MDL_HELD_STEPS;
    return blind;
}

static void
find_held(Tangents *t, HeldValues *held)
{
    Lowering *low = t->low;
    U8Vec swings = {0};
    uint32_t n = low->sys->instrs.n;
    mark_swings(t, &swings);
    for (uint32_t i = 0; i < n; i++) {
        const Instr instr = low->sys->instrs.at[i];
        if (!expr_has_op(low->exprs, instr.shape, OP_CALL))
            continue;
        hold_inputs(low, held, &instr);
        hold_steps(t, held, &instr, &swings);
        hold_left_out(t, held, &instr, &swings);
    }
    vec_free(&swings);
    for (uint32_t i = 0; i < low->dae->asserts.n; i++) {
        const Assert at = low->dae->asserts.at[i];
        hold_sides(low, held, &at);
    }
}

// Tangents alone: the values are not looked at.
static void
make_held(Tangents *t, const HeldValues *held, mdl_tangents *made)
{
    InstrVec code = {0};
    mdl_held *table = arena_array(t->low->arena, mdl_held, held->table.n + 1);
    for (uint32_t i = 0; i < held->code.n; i++)
        if (instruction_moves(t, &held->code.at[i]))
            add_tangent(t, &held->code.at[i], &code);
    if (held->table.n)
        memcpy(table, held->table.at, held->table.n * sizeof *table);
    made->held_value = table;
    made->n_held = held->table.n;
    add_function(t->low, "held_tangent", &code, false, &made->held);
    vec_free(&code);
}

void
make_tangents(Lowering *low)
{
    const mdl_model *model = low->sys->model;
    HeldValues held = {0};
    mdl_tangents *made = arena_new(low->arena, mdl_tangents);
    Tangents t = {.low = low};
    vec_grow(&t.moves, low->nv);
    mark_moves(&t);
    find_held(&t, &held);
    t.shift = low->nv;
    sys_functions_at(low->sys, &t.function_at);
    new_places(low, low->nv);
    bool complete = true;
    made->shift = t.shift;
    made->n_init = model->n_init;
    made->n_dynamics = model->n_dynamics;
    complete &= make_tangent(&t, &model->parameters, &made->parameters);
    made->init = make_step_tangents(&t, model->init, model->n_init, &complete);
    made->dynamics = make_step_tangents(&t, model->dynamics, model->n_dynamics, &complete);
    complete &= make_tangent(&t, &model->outputs, &made->outputs);
    complete &= make_tangent(&t, &model->relations, &made->relations);
    complete &= make_tangent(&t, &model->instants, &made->instants);
    complete &= make_tangent(&t, &model->rests, &made->rests);
    made->no_discretes = !make_tangent(&t, &model->discretes, &made->discretes);
    made->incomplete = !complete;
    made->blind = is_blind(&held);
    make_held(&t, &held, made);
    vec_free(&held.code);
    vec_free(&held.table);
    low->sys->model->tangents = made;
    vec_free(&t.moves);
    vec_free(&t.derived);
    vec_free(&t.orders);
    vec_free(&t.rate);
    vec_free(&t.places);
    map_free(&t.of);
    map_free(&t.function_at);
}
