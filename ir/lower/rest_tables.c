// rest_tables.c: rest: what the runtime needs to let a motion go on when impacts accumulate.
//
// Purpose: a ball that bounces lower and lower comes to rest: the relation whose change triggers a reinit stays
//          at g = 0 from then on. The runtime needs dg/dt, the second derivative of g and their partial
//          derivatives by the states.
// Method: time derivatives are made by the chain rule along the instructions of the dynamics that g and the
//         derivatives of its states depend on: every place gets a rate, that of a state being its computed
//         derivative (dx), that of a parameter or discrete variable none. Doing it again for the rates gives the
//         second derivative.
// Contract: runtime/model/model.h, mdl_rest. What cannot be differentiated is not an error here: `why` says the reason
//         should the run need it. Complexity: linear in the instructions that g depends on.
//
//     h <= 0, der(h) = v, der(v) = -k*v - grav     =>     g = -h, dg/dt = -dx_h, d2g/dt2 = -rate(dx_h) = -dx_v
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/lower/lower_inner.h"

#include <string.h>

enum { UNKNOWN, CONSTANT, NO_RATE, FIRST_RATE }; // Rates.rate: FIRST_RATE + place of the rate

typedef struct Rates {
    Lowering *low;
    const Instr *code;       // the dynamics
    uint32_t n;
    const uint8_t *in_loop;
    U32Vec instr_of;         // per place: instruction of `code` + 1, or 0
    U32Vec rate;             // per place, for those that were visited
    U8Vec chosen;            // per instruction of `code`: g or a first derivative of its states depends on it
    InstrVec made;
} Rates;

// --- which relation triggers which reinit

void
find_triggers(Lowering *low, const InstrVec *code, const U32Vec *when)
{
    PlaceMap *relation_at = &low->scratch, *instr_at = &low->more_scratch;
    U32Vec stack = {0}, seen = {0};
    vec_grow(&seen, code->n + low->relations.n);
    for (uint32_t i = 0; i < low->relations.n; i++)
        if (!low->relations.at[i].of_time)
            place_put(relation_at, low->relations.at[i].value, i);
    for (uint32_t i = 0; i < code->n; i++)
        place_put(instr_at, code->at[i].dest, i);
    for (uint32_t r = 0; r < when->n; r++) {
        vec_push(&stack, when->at[r]);
        while (stack.n) {
            uint32_t place = vec_pop(&stack), at;
            if (place_get(relation_at, place, &at) && seen.at[code->n + at] != r + 1) {
                Trigger trigger = {at, r};
                vec_push(&low->triggers, trigger);
                seen.at[code->n + at] = r + 1;
            }
            if (!place_get(instr_at, place, &at) || seen.at[at] == r + 1)
                continue;
            seen.at[at] = r + 1;
            vec_append(&stack, low->sys->places.at + code->at[at].row, expr_nslots(low->exprs, code->at[at].shape));
        }
    }
    place_clear(relation_at);
    place_clear(instr_at);
    vec_free(&stack);
    vec_free(&seen);
}

// --- rates

// The state at a place: its index, or NONE.
static uint32_t
state_at(const Lowering *low, uint32_t place)
{
    return place >= low->y && place < low->y + low->nx ? place - low->y : NONE;
}

static uint32_t
derivative_place(const Lowering *low, uint32_t state)
{
    return (low->implicit.at[state] ? low->yp : low->dx) + state;
}

// What the rate of a place is, in the coding of Rates.rate. Instructions are visited in causal order, so that of the
// place is known by now.
static uint32_t
place_of_rate(const Rates *rates, uint32_t place)
{
    const Lowering *low = rates->low;
    uint32_t state = state_at(low, place);
    if (state != NONE)
        return FIRST_RATE + derivative_place(low, state);
    if (place >= low->y && place < low->r)
        return NO_RATE; // an unknown of an algebraic loop, or a derivative that is one
    uint32_t known = place < rates->rate.n ? rates->rate.at[place] : UNKNOWN;
    if (known != UNKNOWN)
        return known;
    return place < rates->instr_of.n && rates->instr_of.at[place] ? NO_RATE : CONSTANT;
}

static void
set_rate(Rates *rates, uint32_t place, uint32_t rate)
{
    if (place >= rates->rate.n)
        vec_grow(&rates->rate, place + 1 - rates->rate.n);
    rates->rate.at[place] = rate;
}

// The rate of an instruction's result; instructions that compute it are appended to `made`.
static uint32_t
rate_of_instr(Rates *rates, Instr instr)
{
    Lowering *low = rates->low;
    Exprs *exprs = low->exprs;
    uint32_t n = expr_nslots(exprs, instr.shape);
    U32Vec rate = {0}, source = {0}, order = {0};
    bool none = false, moves = expr_has_op(exprs, instr.shape, OP_TIME);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t known = expr_uses_slot(exprs, instr.shape, k) ? place_of_rate(rates, low->sys->places.at[instr.row + k]) : CONSTANT;
        none = none || known == NO_RATE;
        moves = moves || known >= FIRST_RATE;
        vec_push(&rate, known >= FIRST_RATE ? expr_slot(exprs, n + k) : 0);
        vec_push(&source, known >= FIRST_RATE ? known - FIRST_RATE : 0);
    }
    uint32_t result = none ? NO_RATE : CONSTANT;
    if (!none && moves) {
        Expr made = expr_rate(exprs, instr.shape, rate.at, n);
        Expr shape = made ? expr_shape(exprs, made, &order) : 0;
        if (!made) {
            result = NO_RATE;
        } else if (!expr_is_const(exprs, made, 0)) {
            Instr derivative = {shape, low->sys->places.n, new_places(low, 1)};
            for (uint32_t k = 0; k < order.n; k++) {
                uint32_t from = order.at[k], place = from < n ? low->sys->places.at[instr.row + from] : source.at[from - n];
                vec_push(&low->sys->places, place);
            }
            vec_push(&rates->made, derivative);
            result = FIRST_RATE + derivative.dest;
        }
    }
    vec_free(&rate);
    vec_free(&source);
    vec_free(&order);
    return result;
}

// --- what g depends on

static void
push_slots(const Rates *rates, Instr instr, U32Vec *stack)
{
    const Lowering *low = rates->low;
    vec_append(stack, low->sys->places.at + instr.row, expr_nslots(low->exprs, instr.shape));
}

// Chooses the instructions that the places on the stack depend on; states they reach go to `states`.
static void
choose(Rates *rates, U32Vec *stack, U8Vec *reached, U32Vec *states)
{
    while (stack->n) {
        uint32_t place = vec_pop(stack), state = state_at(rates->low, place);
        if (state != NONE && !reached->at[state]) {
            reached->at[state] = 1;
            vec_push(states, state);
        }
        uint32_t instr = place < rates->instr_of.n ? rates->instr_of.at[place] : 0;
        if (!instr || rates->chosen.at[instr - 1])
            continue;
        rates->chosen.at[instr - 1] = 1;
        push_slots(rates, rates->code[instr - 1], stack);
    }
}

static void
choose_all(Rates *rates, const Instr *g, uint32_t n)
{
    U32Vec stack = {0}, states = {0};
    U8Vec reached = {0};
    vec_grow(&reached, rates->low->nx + 1);
    for (uint32_t k = 0; k < n; k++)
        push_slots(rates, g[k], &stack);
    choose(rates, &stack, &reached, &states);
    for (uint32_t i = 0, first = states.n; i < first; i++)
        vec_push(&stack, derivative_place(rates->low, states.at[i]));
    choose(rates, &stack, &reached, &states);
    vec_free(&stack);
    vec_free(&states);
    vec_free(&reached);
}

// --- the table

static int
by_relation(const void *a, const void *b)
{
    const Trigger *x = a, *y = b;
    if (x->relation != y->relation)
        return x->relation < y->relation ? -1 : 1;
    return x->reinit < y->reinit ? -1 : x->reinit > y->reinit;
}

// One entry per relation; `g` receives its function as an instruction whose destination is the entry's first place.
static uint32_t
list_rests(Lowering *low, mdl_rest *table, InstrVec *g)
{
    uint32_t n = 0;
    U32Vec index = {0}; // of relations in the model's table
    for (uint32_t i = 0, next = 0; i < low->relations.n; i++)
        vec_push(&index, low->relations.at[i].of_time ? NONE : next++);
    if (low->triggers.n)
        qsort(low->triggers.at, low->triggers.n, sizeof *low->triggers.at, by_relation);
    for (uint32_t i = 0; i < low->triggers.n;) {
        uint32_t first = i, relation = low->triggers.at[i].relation;
        while (i < low->triggers.n && low->triggers.at[i].relation == relation)
            i++;
        uint32_t *reinit = arena_array(low->arena, uint32_t, i - first);
        for (uint32_t k = first; k < i; k++)
            reinit[k - first] = low->triggers.at[k].reinit;
        table[n] = (mdl_rest){index.at[relation], i - first, reinit, new_places(low, 3), NULL};
        const Relation *at = &low->relations.at[relation];
        Instr instr = {root_function(low, at->shape), at->row, table[n++].g};
        vec_push(g, instr);
    }
    vec_free(&index);
    return n;
}

static const uint32_t SEVERAL = UINT32_MAX;

static void
note_reader(Lowering *low, Expr shape, uint32_t row, uint32_t reader, U32Vec *readers)
{
    for (uint32_t k = 0; k < expr_nslots(low->exprs, shape); k++) {
        uint32_t *at = &readers->at[low->sys->places.at[row + k]];
        *at = *at == 0 || *at == reader ? reader : SEVERAL;
    }
}

// Per place: the only place that the dynamics compute from it, 0 (none) or SEVERAL; what a relation reads counts as
// several.
static void
find_readers(Lowering *low, const InstrVec *code, const U8Vec *needed, U32Vec *readers)
{
    vec_grow(readers, low->nv);
    for (uint32_t i = 0; i < code->n; i++)
        if (needed->at[i])
            note_reader(low, code->at[i].shape, code->at[i].row, code->at[i].dest, readers);
    for (uint32_t i = 0; i < low->relations.n; i++)
        note_reader(low, low->relations.at[i].shape, low->relations.at[i].row, SEVERAL, readers);
}

// The variable that the derivative of a state is a copy of (der(v) = a), which must show the reaction too.
static void
find_copied(const Rates *rates, mdl_reinit *reinit)
{
    Lowering *low = rates->low;
    uint32_t place = low->dx + reinit->state, instr = rates->instr_of.at[place];
    if (!instr)
        return;
    Instr at = rates->code[instr - 1];
    bool negative = expr_op(low->exprs, at.shape) == OP_NEG;
    Expr source = negative ? expr_arg(low->exprs, at.shape, 0) : at.shape;
    uint32_t from = expr_op(low->exprs, source) == OP_SLOT ? low->sys->places.at[at.row] : 0;
    if (!from || !rates->instr_of.at[from] || (from >= low->y && from < low->dx + low->nx))
        return;
    reinit->der = from;
    reinit->der_sign = negative ? -1 : 1;
}

// The reaction acts on the derivatives of reset states; nothing may have used them before.
static const char *
why_not_reset(const Rates *rates, const mdl_rest *rest, const U32Vec *readers)
{
    Lowering *low = rates->low;
    for (uint32_t k = 0; k < rest->n_reinits; k++) {
        mdl_reinit *reinit = (mdl_reinit *)&low->sys->model->reinit[rest->reinit[k]];
        Var state = low->state.at[reinit->state];
        uint32_t place = low->dx + reinit->state;
        if (low->implicit.at[reinit->state])
            return arena_printf(low->arena, "the derivative of '%s' is part of an algebraic loop", dae_name(low->dae, state));
        find_copied(rates, reinit);
        uint32_t reader = reinit->der ? readers->at[reinit->der] : 0;
        if (readers->at[place] || (reader && reader != place))
            return arena_printf(low->arena, "other equations use der(%s), which the reaction of the rest changes",
                                dae_name(low->dae, state));
    }
    return NULL;
}

// Stores the rate that stands in a place of its own where the table wants it.
static void
store_rate(Rates *rates, uint32_t rate, uint32_t dest)
{
    uint32_t from = rate - FIRST_RATE;
    if (rate >= FIRST_RATE)
        emit_places(rates->low, &rates->made, expr_slot(rates->low->exprs, 0), &from, dest);
}

// The instructions that compute g and its two derivatives.
static void
differentiate_all(Rates *rates, mdl_rest *table, const InstrVec *g)
{
    for (uint32_t i = 0; i < rates->n; i++)
        if (rates->chosen.at[i])
            set_rate(rates, rates->code[i].dest, rates->in_loop[i] ? NO_RATE : rate_of_instr(rates, rates->code[i]));
    U32Vec rate = {0};
    for (uint32_t k = 0; k < g->n; k++) {
        vec_push(&rates->made, g->at[k]);
        vec_push(&rate, rate_of_instr(rates, g->at[k]));
    }
    for (uint32_t i = 0, first = rates->made.n; i < first; i++)
        set_rate(rates, rates->made.at[i].dest, rate_of_instr(rates, rates->made.at[i]));
    for (uint32_t k = 0; k < g->n; k++) {
        uint32_t twice = rate.at[k] >= FIRST_RATE ? place_of_rate(rates, rate.at[k] - FIRST_RATE) : NO_RATE;
        if ((rate.at[k] == NO_RATE || twice == NO_RATE) && !table[k].why)
            table[k].why = rate.at[k] == CONSTANT ? "its function does not depend on a state"
                                                  : "its time derivative depends on an algebraic loop or does not exist";
        store_rate(rates, rate.at[k], table[k].g + 1);
        store_rate(rates, twice, table[k].g + 2);
    }
    vec_free(&rate);
}

static void
make_partials(Rates *rates, const mdl_rest *table, uint32_t n)
{
    Lowering *low = rates->low;
    InstrVec all = {0}, derivatives = {0};
    EntryVec entries = {0};
    for (uint32_t i = 0; i < rates->n; i++)
        if (rates->chosen.at[i])
            vec_push(&all, rates->code[i]);
    vec_append(&all, rates->made.at, rates->made.n);
    for (uint32_t i = 0; i < low->n; i++)
        place_put(&low->column_of, low->y + i, i);
    for (uint32_t k = 0; k < n; k++) {
        place_put(&low->row_of, table[k].g, 2 * k);
        place_put(&low->row_of, table[k].g + 1, 2 * k + 1);
    }
    accumulate(low, all.at, all.n, &derivatives, &entries, NULL);
    low->sys->model->jac_rest = make_matrix(low, &entries, 2 * n, low->n, NULL, &derivatives);
    add_function(low, "rest_partials", &derivatives, true, &low->sys->model->rest_partials);
    vec_free(&all);
    vec_free(&derivatives);
    vec_free(&entries);
}

void
make_rests(Lowering *low, const InstrVec *code, const U8Vec *in_loop, const U8Vec *needed)
{
    if (!low->triggers.n)
        return;
    mdl_model *model = low->sys->model;
    mdl_rest *table = arena_array(low->arena, mdl_rest, low->triggers.n);
    Rates rates = {.low = low, .code = code->at, .n = code->n, .in_loop = in_loop->at};
    InstrVec g = {0};
    U32Vec readers = {0};
    uint32_t n = list_rests(low, table, &g);
    find_readers(low, code, needed, &readers);
    vec_grow(&rates.instr_of, low->nv);
    vec_grow(&rates.chosen, code->n + 1);
    for (uint32_t i = 0; i < code->n; i++)
        rates.instr_of.at[code->at[i].dest] = i + 1;
    for (uint32_t k = 0; k < n; k++)
        table[k].why = model->n_constraints ? "the model's states are chosen while running"
                                            : why_not_reset(&rates, &table[k], &readers);
    choose_all(&rates, g.at, g.n);
    differentiate_all(&rates, table, &g);
    make_partials(&rates, table, n);
    add_function(low, "rests", &rates.made, true, &model->rests);
    model->rest = table;
    model->n_rests = n;
    vec_free(&rates.instr_of);
    vec_free(&rates.rate);
    vec_free(&rates.chosen);
    vec_free(&rates.made);
    vec_free(&g);
    vec_free(&readers);
}
