// forecast.c: forecasts: functions of time alone, as lists of operations that the runtime can evaluate over intervals of time.
//
// Purpose: what depends on time alone is known ahead of the integration: when the relation `sin(1000*time) > 0.9999` changes, and how
//          fast a force prescribed over time moves. The runtime (runtime/event/ahead.c) turns the former into time events and bounds
//          steps by the latter.
// Method: values are constant between events, functions of time, or moving with the states; found forward through the
//         instructions. The root function of a relation over the first two kinds becomes a forecast, with the instructions that it
//         needs written out; so does each largest part of an instruction of the dynamics that is a function of time and not affine. What only
//         memories read (delays, pipes) belongs to the dynamics here: the past must be as well known as the present.
//         The root function of a relation that moves with states and time alone, and is not affine in them, is a course, in the same form: the runtime bounds it over each
//         step (runtime/event/course.c).
//         For terms a state with a rate that changes only at events is a function of time. A term of the motion that moves with states, and has a function in
//         it that may come and go (a bell of an angle), drifts: the runtime bounds it over each step, too (runtime/event/drift.c).
// Contract: runtime/model/model.h, mdl_forecast. What a function with an algorithm computes has no operations: count 0, and of a
//           term the place of its value, which a function computes from time (the same header, glimpses).
// Complexity: linear in the instructions: a forecast has a limited number of operations, which are not written where it is known
//             that there are more (least_operations), and there is a limited number of those that are no relations.
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/routine.h"
#include "ir/lower/lower_inner.h"
#include "runtime/model/order.h"

#include <string.h>

// DRIFTING: with time and states.
typedef enum Kind { KIND_FIXED, KIND_TIMED, KIND_DRIFTING, KIND_MOVING } Kind;
// A state whose derivative is 0, or changes only at events: one that is affine in time between them.
typedef enum Steady { UNSTEADY, STILL, STEADY } Steady;

// Forecasts of terms of the equations of motion; operations of a relation of states, and of all of them: they cost time in each step; of a
// term that drifts.
enum { TERMS_MOST = 1000, COURSE_MOST = 300, COURSES_MOST = 4000, DRIFT_MOST = 100 };

typedef struct Forecaster {
    Lowering *low;
    const InstrVec *code;
    U8Vec kind;              // per place
    U32Vec writer;           // per place: instruction + 1 that computes it, 0: none
    U32Vec least;            // per place: as many operations at least lead to it, up to MDL_TIMELY_MOST + 1; empty until a forecast is to be written
    Map operations_of;       // per shape: its own operations
    Map parts_of;            // per shape: where its parts are in `parts`, behind how many there are
    U32Vec parts;
    VEC(mdl_timely) timely;
    VEC(mdl_forecast) forecasts, courses, lines, drifts;
    uint32_t terms;
    Map term_of;             // places that are terms already
    // of the forecast that is being written:
    uint32_t first;
    PlaceMap reg;            // register of a place
    Map reg_of;              // and of a part of the shape that is being written
    bool failed;
    bool along;              // it may have states (a course)
    uint32_t along_count;    // operations of all courses,
    uint32_t line_count;     // of those that are affine,
    uint32_t drift_count;    // and of all terms that drift
    InstrVec glimpses;       // of terms without operations
    U8Vec clock;             // per state: a Steady; empty while relations are written
    U8Vec drifting;          // per state; empty but while terms of such states are written,
    U8Vec sharp;             // per place: a function that makes such a term worth while leads to it;
    U8Vec bent;              // per place: it may be other than affine in states and time; empty until a relation asks
    Kind wanted;             // and the kind of terms that are written
    U8Vec degree;            // per register: 0 constant, 1 affine in time, 2 otherwise
} Forecaster;

// --- kinds

static void
set_moving(Forecaster *f, uint32_t place, uint32_t count)
{
    if (place && count)
        memset(f->kind.at + place, KIND_MOVING, count);
}

// Unknowns, and what the runtime computes from the past or from the motion.
static void
mark_moving(Forecaster *f)
{
    Lowering *low = f->low;
    const mdl_model *model = low->sys->model;
    set_moving(f, low->y, low->n);
    set_moving(f, low->yp, low->n);
    for (uint32_t k = 0; k < model->n_delays; k++) {
        set_moving(f, model->delay[k].value, 1);
        if (model->delay[k].weight)
            set_moving(f, model->delay[k].weight, 1);
    }
    for (uint32_t k = 0; k < model->n_transports; k++)
        for (uint32_t i = 0; i < 2; i++) {
            set_moving(f, model->transport[k].end[i].leaves, 1);
            set_moving(f, model->transport[k].end[i].behind, 1);
            set_moving(f, model->transport[k].end[i].arrives, 1);
        }
    for (uint32_t k = 0; k < model->n_fractionals; k++) {
        set_moving(f, model->fractional[k].scale, 1);
        set_moving(f, model->fractional[k].shift, 1);
    }
    for (uint32_t k = 0; k < model->n_sgns; k++)
        if (model->sgn[k].disk)
            set_moving(f, model->sgn[k].mode, 1);
}

// Of a shape or of a part of one, which has the slots of its shape.
static Kind
kind_of(const Forecaster *f, Expr shape, uint32_t row)
{
    const Lowering *low = f->low;
    Kind kind = KIND_FIXED;
    for (uint32_t k = 0, n = expr_nslots(low->exprs, shape); k < n && kind != KIND_MOVING; k++) {
        Kind of = f->kind.at[low->sys->places.at[row + k]];
        kind = of > kind && expr_uses_slot(low->exprs, shape, k) ? of : kind;
    }
    return kind == KIND_FIXED && expr_has_op(low->exprs, shape, OP_TIME) ? KIND_TIMED : kind;
}

// Where the parts of a shape are: many rows have the same.
static uint32_t
find_parts(Forecaster *f, Expr shape)
{
    uint32_t at;
    if (map_get(&f->parts_of, shape, &at))
        return at;
    at = f->parts.n;
    map_put(&f->parts_of, shape, at);
    vec_push(&f->parts, 0);
    expr_parts(f->low->exprs, shape, &f->parts);
    f->parts.at[at] = f->parts.n - at - 1;
    return at;
}

// Whether shape(row) reads a place with such a mark.
static bool
reads_marked(const Forecaster *f, const U8Vec *mark, Expr shape, uint32_t row)
{
    const Exprs *exprs = f->low->exprs;
    for (uint32_t k = 0; k < expr_nslots(exprs, shape); k++)
        if (mark->at[f->low->sys->places.at[row + k]] && expr_uses_slot(exprs, shape, k))
            return true;
    return false;
}

// Operations that a shape has at least: its parts that are no slots.
static uint32_t
own_operations(Forecaster *f, Expr shape)
{
    uint32_t count = 0;
    if (map_get(&f->operations_of, shape, &count))
        return count;
    U32Vec parts = {0};
    expr_parts(f->low->exprs, shape, &parts);
    for (uint32_t i = 0; i < parts.n; i++)
        count += expr_op(f->low->exprs, parts.at[i]) != OP_SLOT;
    map_put(&f->operations_of, shape, count);
    vec_free(&parts);
    return count;
}

// The longest way to shape(row) through the instructions that it needs: none of its operations is written twice. So it is known without
// writing a thousand of them that there are too many, where each of a long row of relations needs all that were before it.
static uint32_t
least_of(Forecaster *f, Expr shape, uint32_t row)
{
    uint32_t most = 0;
    for (uint32_t k = 0, n = expr_nslots(f->low->exprs, shape); k < n; k++) {
        uint32_t least = f->least.at[f->low->sys->places.at[row + k]];
        most = least > most && expr_uses_slot(f->low->exprs, shape, k) ? least : most;
    }
    most += own_operations(f, shape);
    return most > MDL_TIMELY_MOST ? MDL_TIMELY_MOST + 1 : most;
}

static uint32_t
least_operations(Forecaster *f, Expr shape, uint32_t row)
{
    if (!f->least.n) {
        vec_grow(&f->least, f->low->nv);
        for (uint32_t i = 0; i < f->code->n; i++)
            f->least.at[f->code->at[i].dest] = least_of(f, f->code->at[i].shape, f->code->at[i].row);
    }
    return least_of(f, shape, row);
}

static void
set_kinds(Forecaster *f)
{
    memset(f->kind.at, KIND_FIXED, f->kind.n);
    mark_moving(f);
    for (uint32_t i = 0; i < f->clock.n; i++)
        if (f->clock.at[i] != UNSTEADY)
            f->kind.at[f->low->y + i] = f->clock.at[i] == STILL ? KIND_FIXED : KIND_TIMED;
    for (uint32_t i = 0; i < f->drifting.n; i++)
        if (f->drifting.at[i])
            f->kind.at[f->low->y + i] = KIND_DRIFTING;
    for (uint32_t i = 0; i < f->code->n; i++) {
        const Instr *instr = &f->code->at[i];
        if (f->kind.at[instr->dest] != KIND_MOVING)
            f->kind.at[instr->dest] = (uint8_t)kind_of(f, instr->shape, instr->row);
    }
}

static void
find_kinds(Forecaster *f)
{
    vec_grow(&f->kind, f->low->nv);
    vec_grow(&f->writer, f->low->nv);
    set_kinds(f);
    for (uint32_t i = 0; i < f->code->n; i++)
        f->writer.at[f->code->at[i].dest] = i + 1;
}

static Steady
clock_of(const Forecaster *f, uint32_t state)
{
    const Lowering *low = f->low;
    uint32_t place = low->dx + state, writer = f->writer.at[place];
    if (low->implicit.at[state] || f->kind.at[place] != KIND_FIXED)
        return UNSTEADY;
    Expr rate = writer ? f->code->at[writer - 1].shape : 0;
    return !writer || (expr_op(low->exprs, rate) == OP_CONST && expr_value(low->exprs, rate) == 0) ? STILL : STEADY;
}

// For terms, states that are functions of time between events are such: c of der(c) = 1, an angle of a constant speed, which is a state itself. Invariants
// correct states, and those are none.
static void
find_clocks(Forecaster *f)
{
    enum { ROUNDS = 4 };
    const Lowering *low = f->low;
    if (low->sys->model->n_constraints)
        return;
    vec_grow(&f->clock, low->nx);
    bool more = low->nx > 0;
    for (uint32_t round = 0; round < ROUNDS && more; round++) {
        more = false;
        for (uint32_t i = 0; i < low->nx; i++) {
            Steady clock = f->clock.at[i] == UNSTEADY ? clock_of(f, i) : UNSTEADY;
            more = more || clock != UNSTEADY;
            f->clock.at[i] = clock != UNSTEADY ? (uint8_t)clock : f->clock.at[i];
        }
        if (more)
            set_kinds(f);
    }
}

// Functions whose values may come and go while their argument moves by a small part of what it does.
static bool
exprs_are_sharp(const Exprs *exprs)
{
    static const Op sharp[] = {OP_EXP, OP_TANH, OP_COSH, OP_ATAN, OP_DIV, OP_POW};
    bool any = false;
    for (size_t i = 0; i < sizeof sharp / sizeof *sharp; i++)
        any = any || exprs_have_op(exprs, sharp[i]);
    return any;
}

// Whether shape(row) has such a function of what moves, itself or in what it reads: a term without one is not written (is_dull).
static bool
is_sharp(Forecaster *f, Expr shape, uint32_t row)
{
    const OpSet always = ops_and(ops_and(ops_and(ops_of(OP_EXP), OP_TANH), OP_COSH), OP_ATAN);
    const Exprs *exprs = f->low->exprs;
    if (reads_marked(f, &f->sharp, shape, row))
        return true;
    if (expr_has_any(exprs, shape, always))
        return true;
    if (!expr_has_any(exprs, shape, ops_and(ops_of(OP_DIV), OP_POW)))
        return false;
    uint32_t at = find_parts(f, shape), n = f->parts.at[at];
    for (uint32_t i = 1; i <= n; i++) {
        Expr part = f->parts.at[at + i];
        Op op = expr_op(exprs, part);
        if ((op == OP_DIV || op == OP_POW) && kind_of(f, op == OP_DIV ? expr_arg(exprs, part, 1) : part, row) != KIND_FIXED)
            return true;
    }
    return false;
}

// False when no term of what drifts can be worth while.
static bool
find_sharp(Forecaster *f)
{
    bool any = false;
    vec_grow(&f->sharp, f->low->nv);
    for (uint32_t i = 0; i < f->code->n; i++) {
        const Instr *instr = &f->code->at[i];
        bool sharp = is_sharp(f, instr->shape, instr->row);
        f->sharp.at[instr->dest] = sharp;
        any = any || sharp;
    }
    return any;
}

// Whether anything of the dynamics is a function of time.
static bool
is_timed(const Forecaster *f)
{
    bool timed = false;
    for (uint32_t i = 0; i < f->clock.n && !timed; i++)
        timed = f->clock.at[i] == STEADY;
    for (uint32_t i = 0; i < f->code->n && !timed; i++)
        timed = expr_has_op(f->low->exprs, f->code->at[i].shape, OP_TIME);
    return timed;
}

static bool
find_drifting(Forecaster *f)
{
    bool any = false;
    if (!exprs_are_sharp(f->low->exprs))
        return false;
    vec_grow(&f->drifting, f->low->nx);
    for (uint32_t i = 0; i < f->low->nx; i++) {
        f->drifting.at[i] = i >= f->clock.n || f->clock.at[i] == UNSTEADY;
        any = any || f->drifting.at[i];
    }
    if (any)
        set_kinds(f);
    return any && find_sharp(f);
}

// --- operations

static const uint8_t timely_op[OP_COUNT] = {
    [OP_ADD] = MDL_TIMELY_ADD, [OP_MUL] = MDL_TIMELY_MUL, [OP_NEG] = MDL_TIMELY_NEG, [OP_DIV] = MDL_TIMELY_DIV, [OP_POW] = MDL_TIMELY_POW,
    [OP_LT] = MDL_TIMELY_LT, [OP_LE] = MDL_TIMELY_LE, [OP_GT] = MDL_TIMELY_GT, [OP_GE] = MDL_TIMELY_GE, [OP_EQ] = MDL_TIMELY_EQ,
    [OP_NE] = MDL_TIMELY_NE, [OP_AND] = MDL_TIMELY_AND, [OP_OR] = MDL_TIMELY_OR, [OP_NOT] = MDL_TIMELY_NOT, [OP_IF] = MDL_TIMELY_IF,
    [OP_ABS] = MDL_TIMELY_ABS, [OP_SIGN] = MDL_TIMELY_SIGN, [OP_MIN] = MDL_TIMELY_MIN, [OP_MAX] = MDL_TIMELY_MAX,
    [OP_SQRT] = MDL_TIMELY_SQRT, [OP_EXP] = MDL_TIMELY_EXP, [OP_LOG] = MDL_TIMELY_LOG, [OP_SIN] = MDL_TIMELY_SIN, [OP_COS] = MDL_TIMELY_COS,
    [OP_TAN] = MDL_TIMELY_TAN, [OP_ASIN] = MDL_TIMELY_ASIN, [OP_ACOS] = MDL_TIMELY_ACOS, [OP_ATAN] = MDL_TIMELY_ATAN,
    [OP_SINH] = MDL_TIMELY_SINH, [OP_COSH] = MDL_TIMELY_COSH, [OP_TANH] = MDL_TIMELY_TANH, [OP_FLOOR] = MDL_TIMELY_FLOOR,
    [OP_CEIL] = MDL_TIMELY_CEIL, [OP_TRUNC] = MDL_TIMELY_TRUNC,
};

static uint8_t
degree_of(const Forecaster *f, const mdl_timely *at)
{
    const uint8_t *degree = f->degree.at;
    switch ((mdl_timely_op)at->op) {
    case MDL_TIMELY_CONST: case MDL_TIMELY_PLACE:
        return 0;
    case MDL_TIMELY_TIME:
        return 1;
    case MDL_TIMELY_STATE:
        return f->along ? 2 : 0;
    case MDL_TIMELY_ADD:
        return degree[at->a] > degree[at->b] ? degree[at->a] : degree[at->b];
    case MDL_TIMELY_MUL:
        return (uint8_t)(degree[at->a] + degree[at->b] > 2 ? 2 : degree[at->a] + degree[at->b]);
    case MDL_TIMELY_NEG:
        return degree[at->a];
    case MDL_TIMELY_DIV:
        return degree[at->b] ? 2 : degree[at->a];
    case MDL_TIMELY_IF:
        if (degree[at->a])
            return 2;
        return degree[at->b] > degree[at->c] ? degree[at->b] : degree[at->c];
    default:
        return degree[at->a] || (at->b < f->degree.n && degree[at->b]) ? 2 : 0;
    }
}

// Whether the forecast that is being written is affine in states and time: polynomials through looks see all that it does.
static bool
is_affine(const Forecaster *f)
{
    U8Vec degree = {0}; // in states and time; 2: not affine
    for (uint32_t i = f->first; i < f->timely.n; i++) {
        const mdl_timely *at = &f->timely.at[i];
        bool leaf = at->op <= MDL_TIMELY_STATE;
        uint8_t a = leaf ? 0 : degree.at[at->a], b = leaf ? 0 : degree.at[at->b], c = leaf ? 0 : degree.at[at->c], most = a > b ? a : b;
        switch ((mdl_timely_op)at->op) {
        case MDL_TIMELY_CONST: case MDL_TIMELY_PLACE: most = 0; break;
        case MDL_TIMELY_TIME: case MDL_TIMELY_STATE: most = 1; break;
        case MDL_TIMELY_ADD: case MDL_TIMELY_NEG: break;
        case MDL_TIMELY_MUL: most = a && b ? 2 : most; break;
        case MDL_TIMELY_DIV: most = b ? 2 : a; break;
        default: most = most || c ? 2 : 0; break;
        }
        vec_push(&degree, most);
    }
    bool affine = vec_last(&degree) < 2;
    vec_free(&degree);
    return affine;
}

// The same of a term that drifts, where it has no such function of what drifts.
static bool
is_dull(const Forecaster *f)
{
    const mdl_timely *first = f->timely.at + f->first;
    for (const mdl_timely *at = first; at < f->timely.at + f->timely.n; at++) {
        mdl_timely_op op = (mdl_timely_op)at->op;
        bool moves = at->moving && at->op > MDL_TIMELY_STATE;
        if (moves && (op == MDL_TIMELY_EXP || op == MDL_TIMELY_TANH || op == MDL_TIMELY_COSH || op == MDL_TIMELY_ATAN))
            return false;
        if (moves && op == MDL_TIMELY_DIV && first[at->b].moving)
            return false;
        if (moves && op == MDL_TIMELY_POW && !(first[at->b].op == MDL_TIMELY_CONST && first[at->b].value > 0))
            return false;
    }
    return true;
}

static uint32_t
operations_most(const Forecaster *f)
{
    return f->drifting.n ? DRIFT_MOST : f->along ? COURSE_MOST : MDL_TIMELY_MOST;
}

// Appends an operation of the forecast that is being written. Returns its register.
static uint32_t
put(Forecaster *f, mdl_timely at)
{
    if (f->degree.n == operations_most(f)) {
        f->failed = true;
        return 0;
    }
    uint8_t degree = degree_of(f, &at);
    at.moving = degree > 0;
    vec_push(&f->timely, at);
    vec_push(&f->degree, degree);
    return f->degree.n - 1;
}

static uint32_t
put_op(Forecaster *f, mdl_timely_op op, uint32_t a, uint32_t b)
{
    return put(f, (mdl_timely){.op = (uint16_t)op, .a = a, .b = b});
}

static uint32_t
put_constant(Forecaster *f, double value)
{
    return put(f, (mdl_timely){.op = MDL_TIMELY_CONST, .value = value});
}

// A clock: what it is at time 0, by its rate, and that times time.
static uint32_t
put_clock(Forecaster *f, uint32_t state)
{
    uint32_t origin = put_op(f, MDL_TIMELY_STATE, state, 0), rate = put_op(f, MDL_TIMELY_PLACE, f->low->dx + state, 0);
    return put_op(f, MDL_TIMELY_ADD, origin, put_op(f, MDL_TIMELY_MUL, rate, put_op(f, MDL_TIMELY_TIME, 0, 0)));
}

static uint32_t
put_place(Forecaster *f, uint32_t place)
{
    uint32_t reg;
    if (place_get(&f->reg, place, &reg))
        return reg;
    if (f->along && place >= f->low->y && place < f->low->y + f->low->nx) {
        reg = put(f, (mdl_timely){.op = MDL_TIMELY_STATE, .a = place - f->low->y});
        place_put(&f->reg, place, reg);
        return reg;
    }
    if (f->clock.n && place >= f->low->y && place < f->low->y + f->low->nx && f->clock.at[place - f->low->y] == STEADY) {
        reg = put_clock(f, place - f->low->y);
        place_put(&f->reg, place, reg);
        return reg;
    }
    if (f->kind.at[place] != KIND_FIXED || f->writer.at[place]) {
        f->failed = true; // its instruction was to be written before
        return 0;
    }
    reg = put(f, (mdl_timely){.op = MDL_TIMELY_PLACE, .a = place});
    place_put(&f->reg, place, reg);
    return reg;
}

// One part of a shape, whose arguments have registers.
static uint32_t
put_part(Forecaster *f, Expr part, uint32_t row, const Map *reg_of)
{
    const Lowering *low = f->low;
    Exprs *exprs = low->exprs;
    Op op = expr_op(exprs, part);
    uint32_t n = expr_nargs(exprs, part), arg[3] = {0};
    if (op == OP_CONST)
        return put_constant(f, expr_value(exprs, part));
    if (op == OP_SLOT)
        return put_place(f, low->sys->places.at[row + expr_slot_of(exprs, part)]);
    if (op == OP_TIME)
        return put_op(f, MDL_TIMELY_TIME, 0, 0);
    for (uint32_t i = 0; i < n && i < 3; i++)
        (void)map_get(reg_of, expr_arg(exprs, part, i), &arg[i]);
    if (op == OP_LOG10)
        return put_op(f, MDL_TIMELY_MUL, put_op(f, MDL_TIMELY_LOG, arg[0], arg[0]), put_constant(f, 0.43429448190325182765));
    if (op == OP_LUZ) {
        uint32_t low_end = put_op(f, MDL_TIMELY_NEG, arg[1], arg[1]), above = put_op(f, MDL_TIMELY_MAX, arg[0], low_end);
        return put_op(f, MDL_TIMELY_ADD, arg[0], put_op(f, MDL_TIMELY_NEG, put_op(f, MDL_TIMELY_MIN, above, arg[1]), 0));
    }
    if (!timely_op[op]) {
        f->failed = true;
        return 0;
    }
    if (op == OP_IF)
        return put(f, (mdl_timely){.op = MDL_TIMELY_IF, .a = arg[0], .b = arg[1], .c = arg[2]});
    uint32_t reg = n == 1 ? put_op(f, timely_op[op], arg[0], arg[0]) : arg[0];
    for (uint32_t i = 1; i < n; i++) {
        uint32_t other = 0;
        (void)map_get(reg_of, expr_arg(exprs, part, i), &other);
        reg = put_op(f, timely_op[op], reg, other);
    }
    return reg;
}

static uint32_t
put_shape(Forecaster *f, Expr shape, uint32_t row)
{
    uint32_t at = find_parts(f, shape), n = f->parts.at[at], reg = 0;
    if (f->reg_of.capacity > 64) // one long shape would make all others wait
        map_free(&f->reg_of);
    map_clear(&f->reg_of);
    for (uint32_t i = 1; i <= n && !f->failed; i++) {
        Expr part = f->parts.at[at + i];
        reg = put_part(f, part, row, &f->reg_of);
        map_put(&f->reg_of, part, reg);
    }
    return reg;
}

// Writes what an expression reads, in the order of the instructions.
static void
put_operands(Forecaster *f, Expr shape, uint32_t row)
{
    const Lowering *low = f->low;
    U32Vec open = {0}, chosen = {0}, slots = {0};
    expr_used_slots(low->exprs, &shape, 1, &slots);
    for (uint32_t k = 0; k < slots.n; k++)
        vec_push(&open, low->sys->places.at[row + slots.at[k]]);
    Map seen = {0};
    while (open.n && !f->failed) {
        uint32_t place = vec_pop(&open), writer = f->writer.at[place], known;
        if (!writer || map_get(&seen, writer, &known))
            continue;
        const Instr *instr = &f->code->at[writer - 1];
        map_put(&seen, writer, 1);
        vec_push(&chosen, writer - 1);
        f->failed = chosen.n > operations_most(f);
        vec_clear(&slots);
        expr_used_slots(low->exprs, &instr->shape, 1, &slots);
        for (uint32_t k = 0; k < slots.n; k++)
            vec_push(&open, low->sys->places.at[instr->row + slots.at[k]]);
    }
    if (chosen.n)
        qsort(chosen.at, chosen.n, sizeof *chosen.at, ascending_u32);
    for (uint32_t i = 0; i < chosen.n && !f->failed; i++) {
        const Instr *instr = &f->code->at[chosen.at[i]];
        place_put(&f->reg, instr->dest, put_shape(f, instr->shape, instr->row));
    }
    map_free(&seen);
    vec_free(&open);
    vec_free(&chosen);
    vec_free(&slots);
}

// Methods here find what affine functions do by polynomials through looks; looks of others are only at the ends of their steps.
static uint32_t
lines_most(const Forecaster *f)
{
    return f->low->in->outside ? COURSES_MOST : 0;
}

// Whether shape(row) may be other than affine in states and time, by what it reads, too.
static bool
bends(Forecaster *f, Expr shape, uint32_t row)
{
    const Exprs *exprs = f->low->exprs;
    if (reads_marked(f, &f->bent, shape, row))
        return true;
    uint32_t at = find_parts(f, shape), n = f->parts.at[at];
    for (uint32_t i = 1; i <= n; i++) {
        Expr part = f->parts.at[at + i];
        Op op = expr_op(exprs, part);
        uint32_t moving = 0;
        if (op == OP_CONST || op == OP_SLOT || op == OP_TIME || op == OP_ADD || op == OP_NEG)
            continue;
        for (uint32_t k = 0; op == OP_MUL && k < expr_nargs(exprs, part); k++)
            moving += kind_of(f, expr_arg(exprs, part, k), row) != KIND_FIXED;
        if (op == OP_MUL ? moving > 1 : kind_of(f, op == OP_DIV ? expr_arg(exprs, part, 1) : part, row) != KIND_FIXED)
            return true;
    }
    return false;
}

// The same, where what it reads is found first: relations that are known to be affine are not written (is_affine).
static bool
is_bent(Forecaster *f, Expr shape, uint32_t row)
{
    if (!f->bent.n) {
        vec_grow(&f->bent, f->low->nv);
        for (uint32_t i = 0; i < f->code->n; i++)
            f->bent.at[f->code->at[i].dest] = bends(f, f->code->at[i].shape, f->code->at[i].row);
    }
    return bends(f, shape, row);
}

// A forecast of shape(row). False: it has no operations, and nothing was written.
static bool
write_forecast(Forecaster *f, Expr shape, uint32_t row, uint32_t relation, uint32_t dest)
{
    bool term = relation == UINT32_MAX;
    if (least_operations(f, shape, row) > operations_most(f))
        return false;
    if (f->along && (term ? !is_sharp(f, shape, row) : !lines_most(f) && !is_bent(f, shape, row)))
        return false;
    f->first = f->timely.n;
    f->failed = false;
    vec_clear(&f->degree);
    place_clear(&f->reg);
    put_operands(f, shape, row);
    uint32_t value = f->failed ? 0 : put_shape(f, shape, row);
    if (!f->failed && value + 1 != f->degree.n)
        (void)put_op(f, MDL_TIMELY_NEG, put_op(f, MDL_TIMELY_NEG, value, value), 0);
    bool affine = !f->failed && f->along && is_affine(f);
    bool dull = !f->failed && ((term && f->degree.at[f->degree.n - 1] < 2) || (affine && (term || f->line_count >= lines_most(f))));
    dull = dull || (!f->failed && term && f->along && is_dull(f));
    if (f->failed || dull) {
        f->timely.n = f->first;
        return false;
    }
    mdl_forecast made = {relation, f->first, f->timely.n - f->first, 0, term ? place_text(f->low, dest) : NULL};
    if (f->along && term) {
        vec_push(&f->drifts, made);
        f->drift_count += made.count;
    } else if (affine) {
        vec_push(&f->lines, made);
        f->line_count += made.count;
    } else if (f->along) {
        vec_push(&f->courses, made);
        f->along_count += made.count;
    } else
        vec_push(&f->forecasts, made);
    f->terms += term;
    return true;
}

// --- relations

static void
forecast_relations(Forecaster *f)
{
    Lowering *low = f->low;
    uint32_t number = 0;
    for (uint32_t i = 0; i < low->relations.n; i++) {
        const Relation *at = &low->relations.at[i];
        if (at->of_time)
            continue;
        Expr shape = root_function(low, at->shape);
        Kind kind = kind_of(f, shape, at->row);
        f->along = kind == KIND_MOVING;
        if (f->along && f->along_count < COURSES_MOST)
            (void)write_forecast(f, shape, at->row, number, 0);
        f->along = false;
        if (kind == KIND_TIMED && !write_forecast(f, shape, at->row, number, 0)) {
            mdl_forecast opaque = {.relation = number};
            vec_push(&f->forecasts, opaque);
        }
        number++;
    }
}

// --- terms of the equations of motion

// Whether functions of others are called for a part: they are not called ahead of time.
static bool
leaves(const Forecaster *f, Expr part, uint32_t row)
{
    const Lowering *low = f->low;
    U32Vec open = {0};
    Map seen = {0};
    bool found = routine_leaves(low->exprs, part);
    for (uint32_t k = 0; k < expr_nslots(low->exprs, part); k++)
        vec_push(&open, low->sys->places.at[row + k]);
    while (open.n && !found) {
        uint32_t place = vec_pop(&open), writer = f->writer.at[place], known;
        if (!writer || map_get(&seen, writer, &known))
            continue;
        const Instr *instr = &f->code->at[writer - 1];
        map_put(&seen, writer, 1);
        found = routine_leaves(low->exprs, instr->shape);
        for (uint32_t k = 0; k < expr_nslots(low->exprs, instr->shape); k++)
            vec_push(&open, low->sys->places.at[instr->row + k]);
    }
    vec_free(&open);
    map_free(&seen);
    return found;
}

// A term that has no operations, since a function with an algorithm is in it: the runtime takes its values ahead. Those of functions of others it does
// not, and tells.
static void
glimpse(Forecaster *f, Expr part, uint32_t row, uint32_t dest)
{
    mdl_forecast made = {.relation = UINT32_MAX, .text = place_text(f->low, dest)};
    if (!leaves(f, part, row)) {
        made.place = new_places(f->low, 1);
        vec_push(&f->glimpses, ((Instr){part, row, made.place}));
    }
    vec_push(&f->forecasts, made);
    f->terms++;
}

static void
forecast_term(Forecaster *f, Expr part, uint32_t row, uint32_t dest)
{
    const Lowering *low = f->low;
    uint32_t known;
    if (f->terms >= TERMS_MOST || f->drift_count >= COURSES_MOST)
        return;
    if (expr_op(low->exprs, part) == OP_SLOT) {
        uint32_t place = low->sys->places.at[row + expr_slot_of(low->exprs, part)];
        if (map_get(&f->term_of, place, &known))
            return;
        map_put(&f->term_of, place, 1);
    }
    bool written = write_forecast(f, part, row, UINT32_MAX, dest);
    if (!written && f->failed && !f->along)
        glimpse(f, part, row, dest);
}

// Among the arguments of a part that moves, those that are functions of time: together where they are added or multiplied, so that two
// steps of opposite signs are one pulse.
static void
forecast_arguments(Forecaster *f, Expr part, uint32_t row, uint32_t dest)
{
    Exprs *exprs = f->low->exprs;
    Op op = expr_op(exprs, part);
    bool together = op == OP_ADD || op == OP_MUL;
    U32Vec timed = {0};
    for (uint32_t i = 0; i < expr_nargs(exprs, part); i++) {
        Expr arg = expr_arg(exprs, part, i);
        if (kind_of(f, arg, row) != f->wanted)
            continue;
        // What is divided by may be a polynomial where its inverse is a bell.
        if (op == OP_DIV && i == 1 && f->wanted == KIND_DRIFTING)
            arg = expr_make(exprs, OP_DIV, (Expr[]){expr_const(exprs, 1), arg}, 2);
        vec_push(&timed, arg);
    }
    if (together && timed.n > 1)
        forecast_term(f, expr_make(exprs, op, timed.at, timed.n), row, dest);
    else
        for (uint32_t i = 0; i < timed.n; i++)
            forecast_term(f, timed.at[i], row, dest);
    vec_free(&timed);
}

// What enters delays and pipes, and what laws look at (a push that breaks a friction loose enters no motion before), per place; and whether an
// instruction leads there.
static void
mark_entering(const Forecaster *f, U8Vec *enters)
{
    const mdl_model *model = f->low->sys->model;
    vec_grow(enters, f->low->nv);
    for (uint32_t k = 0; k < model->n_delays; k++)
        enters->at[model->delay[k].input] = 1;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        enters->at[model->sgn[k].p] = 1;
        enters->at[model->sgn[k].a] = 1;
    }
    for (uint32_t k = 0; k < model->n_transports; k++) {
        enters->at[model->transport[k].x] = 1;
        for (uint32_t i = 0; i < 2; i++)
            enters->at[model->transport[k].end[i].in] = 1;
    }
}

// What laws look at they look at while they hold: per place the mode of its law, which is 0 then; 0: of none, or of several with modes of their own.
static void
find_holding(const Forecaster *f, U32Vec *mode)
{
    const mdl_model *model = f->low->sys->model;
    U8Vec several = {0};
    vec_grow(mode, f->low->nv);
    vec_grow(&several, f->low->nv);
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        const mdl_sgn *sgn = &model->sgn[k];
        for (uint32_t i = 0; i < 2; i++) {
            uint32_t place = i ? sgn->a : sgn->p;
            several.at[place] |= mode->at[place] && mode->at[place] != sgn->mode;
            mode->at[place] = several.at[place] ? 0 : sgn->mode;
        }
    }
    vec_free(&several);
}

// `shape` while the mode is 0. Nothing else breaks loose, and of what slides p is computed from equations in which the push cancels, whose bounds are
// those of the push nevertheless.
static Expr
while_held(Forecaster *f, Expr shape, uint32_t *row, uint32_t mode)
{
    Lowering *low = f->low;
    uint32_t n = expr_nslots(low->exprs, shape), first = low->sys->places.n;
    for (uint32_t k = 0; k < n; k++)
        vec_push(&low->sys->places, low->sys->places.at[*row + k]);
    vec_push(&low->sys->places, mode);
    *row = first;
    Expr zero = expr_const(low->exprs, 0);
    return expr_3(low->exprs, OP_IF, expr_2(low->exprs, OP_EQ, expr_slot(low->exprs, n), zero), shape, zero);
}

static void
mark_leading(const Forecaster *f, const U8Vec *enters, U8Vec *leads)
{
    const Lowering *low = f->low;
    vec_append(leads, enters->at, enters->n);
    for (uint32_t i = f->code->n; i-- > 0;) {
        const Instr *instr = &f->code->at[i];
        for (uint32_t k = 0; leads->at[instr->dest] && k < expr_nslots(low->exprs, instr->shape); k++)
            leads->at[low->sys->places.at[instr->row + k]] = 1;
    }
}

static void
forecast_terms(Forecaster *f, Kind wanted, const U8Vec *needed)
{
    const Lowering *low = f->low;
    U32Vec parts = {0};
    U32Vec mode = {0};
    U8Vec enters = {0}, leads = {0};
    f->wanted = wanted;
    mark_entering(f, &enters);
    find_holding(f, &mode);
    mark_leading(f, &enters, &leads);
    for (uint32_t i = 0; i < f->code->n && f->terms < TERMS_MOST; i++) {
        const Instr *instr = &f->code->at[i];
        if (!needed->at[i] && !leads.at[instr->dest])
            continue;
        bool ends = (instr->dest >= low->dx && instr->dest < low->dx + low->nx)
                    || (instr->dest >= low->r && instr->dest < low->r + low->n) || enters.at[instr->dest];
        Kind kind = kind_of(f, instr->shape, instr->row);
        if (kind == f->wanted && ends) {
            uint32_t row = instr->row;
            Expr shape = mode.at[instr->dest] ? while_held(f, instr->shape, &row, mode.at[instr->dest]) : instr->shape;
            forecast_term(f, shape, row, instr->dest);
        }
        if (kind != KIND_MOVING)
            continue;
        bool timed = f->wanted == KIND_TIMED && expr_has_op(low->exprs, instr->shape, OP_TIME);
        for (uint32_t k = 0; k < expr_nslots(low->exprs, instr->shape) && !timed; k++)
            timed = f->kind.at[low->sys->places.at[instr->row + k]] == f->wanted;
        if (!timed)
            continue;
        vec_clear(&parts);
        expr_parts(low->exprs, instr->shape, &parts);
        for (uint32_t k = 0; k < parts.n; k++)
            if (kind_of(f, parts.at[k], instr->row) == KIND_MOVING)
                forecast_arguments(f, parts.at[k], instr->row, instr->dest);
    }
    vec_free(&parts);
    vec_free(&mode);
    vec_free(&enters);
    vec_free(&leads);
}

// What computes the glimpses, with the instructions that they need.
static void
make_glimpses(Forecaster *f)
{
    Lowering *low = f->low;
    U8Vec wanted = {0};
    InstrVec code = {0};
    U32Vec chosen = {0};
    vec_grow(&wanted, low->nv);
    for (uint32_t i = 0; i < f->glimpses.n; i++)
        for (uint32_t k = 0; k < expr_nslots(low->exprs, f->glimpses.at[i].shape); k++)
            wanted.at[low->sys->places.at[f->glimpses.at[i].row + k]] = 1;
    for (uint32_t i = f->code->n; i-- > 0;) {
        const Instr *instr = &f->code->at[i];
        if (!wanted.at[instr->dest] || f->kind.at[instr->dest] == KIND_MOVING)
            continue;
        vec_push(&chosen, i);
        for (uint32_t k = 0; k < expr_nslots(low->exprs, instr->shape); k++)
            wanted.at[low->sys->places.at[instr->row + k]] = 1;
    }
    for (uint32_t i = chosen.n; i-- > 0;)
        vec_push(&code, f->code->at[chosen.at[i]]);
    vec_append(&code, f->glimpses.at, f->glimpses.n);
    add_function(low, "glimpses", &code, true, &low->sys->model->glimpses);
    vec_free(&wanted);
    vec_free(&chosen);
    vec_free(&code);
}

static const mdl_forecast *
keep_forecasts(Lowering *low, const mdl_forecast *made, uint32_t n)
{
    mdl_forecast *kept = arena_array(low->arena, mdl_forecast, n + 1);
    if (n)
        memcpy(kept, made, n * sizeof *kept);
    return kept;
}

void
make_forecasts(Lowering *low, const InstrVec *code, const U8Vec *needed)
{
    mdl_model *model = low->sys->model;
    Forecaster f = {.low = low, .code = code};
    find_kinds(&f);
    forecast_relations(&f);
    find_clocks(&f);
    if (is_timed(&f))
        forecast_terms(&f, KIND_TIMED, needed);
    if (f.glimpses.n)
        make_glimpses(&f);
    f.along = find_drifting(&f);
    f.terms = 0;
    if (f.along)
        forecast_terms(&f, KIND_DRIFTING, needed);
    mdl_timely *timely = arena_array(low->arena, mdl_timely, f.timely.n + 1);
    if (f.timely.n)
        memcpy(timely, f.timely.at, f.timely.n * sizeof *timely);
    model->timely = timely;
    model->n_timely = f.timely.n;
    model->forecast = keep_forecasts(low, f.forecasts.at, model->n_forecasts = f.forecasts.n);
    for (uint32_t i = 0; i < f.lines.n; i++)
        vec_push(&f.courses, f.lines.at[i]);
    model->n_lines = f.lines.n;
    model->course = keep_forecasts(low, f.courses.at, model->n_courses = f.courses.n);
    model->drift = keep_forecasts(low, f.drifts.at, model->n_drifts = f.drifts.n);
    vec_free(&f.kind);
    vec_free(&f.writer);
    vec_free(&f.least);
    map_free(&f.operations_of);
    map_free(&f.parts_of);
    vec_free(&f.parts);
    map_free(&f.reg_of);
    vec_free(&f.timely);
    vec_free(&f.forecasts);
    vec_free(&f.courses);
    vec_free(&f.lines);
    vec_free(&f.drifts);
    vec_free(&f.drifting);
    vec_free(&f.sharp);
    vec_free(&f.bent);
    vec_free(&f.glimpses);
    vec_free(&f.clock);
    map_free(&f.term_of);
    place_free(&f.reg);
    vec_free(&f.degree);
}
