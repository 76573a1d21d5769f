// lift.c: lift: model operators out of expressions, so that instructions only compute.
//
// Purpose: relations, luz, min, max, abs and sign of continuous variables become held values which change
// only at events (Modelica specification, section 8.5); noEvent, smooth, homotopy, initial, terminal and
// sample become what they mean at this place. In live mode everything is computed where it stands.
// Method: a shape is rewritten once per pattern of what its rows hold (memoized); the lifted relations
// become extra slots after the shape's own. Equal relations over equal variables share one held value. A
// relation without continuous variables changes only at events anyway and is computed where it stands;
// `time >= expression of parameters` becomes an exact time event.
//         In loops that are iterated abs(x) is computed as it stands, though its relation is watched: with the sign of a moment before x*abs(x) is
//         k*x^2, of which the other root is no solution, and which may have none where the sign changes; abs(x)^1.5 has no value there.
//
//     f = k*luz(x, a)   =>   f = k*(if r1 then x - a else if r2 then x + a else 0),  r1 = x > a, r2 = x < -a
// Contract: lower_inner.h. Complexity: linear in rows and slots; a shape costs once per pattern.
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/lower/lower_inner.h"

#include <math.h>
#include <string.h>

typedef enum ExtraKind { EXTRA_RELATION, EXTRA_KINK, EXTRA_INITIAL, EXTRA_TERMINAL, EXTRA_LAMBDA, EXTRA_SAMPLE } ExtraKind;
typedef struct Extra {
    ExtraKind kind;
    Expr text; // RELATION, KINK (where the branch of abs, min, max or luz changes): the relation; SAMPLE: the call
} Extra;

// What becomes a held value: nothing (inside noEvent), or relations and kinks. In the argument of a function that is not defined
// everywhere a bound holds whatever is held: sqrt(max(0, x)) must not see the x a little below 0 that a step tries before the
// event is found, nor 1/max(0.001, x) the 0 to which x jumps.
typedef enum Events { EVENTS_NONE, EVENTS_ALL, EVENTS_DIVISOR, EVENTS_BOUNDED, EVENTS } Events;

typedef struct Lifted {
    Expr shape;                // over own slots, then extras
    uint32_t own;              // slots of the original shape
    uint32_t extra, n_extra;   // range of LiftMemo.extras
    uint32_t order, n_order;   // range of LiftMemo.orders: slot k of the canonical shape was slot order[k]
} Lifted;

struct LiftMemo {
    VEC(Lifted) lifted;
    VEC(Extra) extras;
    U32Vec orders;
    Map of;                    // (shape, mode, pattern) -> lifted
    Map rewriting;             // shape -> 1 when it holds anything to lift
    U8Vec plain;               // per shape that is lifted as it stands: 1
    // of the rewrite that is running:
    Map extra_of;              // (text, kind) -> index into extras
    Map done[EVENTS];          // per Events: expression -> rewritten
    Map moving[1];             // expression -> 1 when it changes between events
    Map stays;                 // relation -> 1 when what is inside it is held instead
    LiftMode mode;
    uint32_t own, first_extra;
    const uint8_t *slot_kind;  // per own slot: 1 when it is continuous
    U32Vec vars;               // scratch of emit
    U32Vec places;
    U8Vec kinds;
};

static struct LiftMemo *
memo_of(Lowering *low)
{
    if (!low->lift)
        low->lift = base_calloc(1, sizeof *low->lift);
    return low->lift;
}

void
lift_memo_free(Lowering *low)
{
    struct LiftMemo *memo = low->lift;
    if (!memo)
        return;
    vec_free(&memo->lifted);
    vec_free(&memo->extras);
    vec_free(&memo->orders);
    map_free(&memo->of);
    map_free(&memo->rewriting);
    vec_free(&memo->plain);
    map_free(&memo->extra_of);
    for (int i = 0; i < EVENTS; i++)
        map_free(&memo->done[i]);
    map_free(&memo->stays);
    map_free(&memo->moving[0]);
    vec_free(&memo->vars);
    vec_free(&memo->places);
    vec_free(&memo->kinds);
    free(memo);
    low->lift = NULL;
}

// ExprDescent: 1 for what moves between events, by itself or by a part.
static bool
moving_needs(void *context, Expr e, uint32_t way, uint32_t i, Expr *part, uint32_t *part_way)
{
    const Lowering *low = context;
    if (i >= expr_nargs(low->exprs, e) || expr_has_op(low->exprs, e, OP_TIME))
        return false;
    *part = expr_arg(low->exprs, e, i);
    *part_way = way;
    return true;
}

static Expr
moving_of(void *context, Expr e, uint32_t way)
{
    const Lowering *low = context;
    const struct LiftMemo *memo = low->lift;
    uint32_t moves = expr_has_op(low->exprs, e, OP_TIME), n = expr_nargs(low->exprs, e), arg = 0;
    if (expr_op(low->exprs, e) == OP_SLOT) {
        uint32_t slot = expr_slot_of(low->exprs, e);
        moves = slot < memo->own && memo->slot_kind[slot];
    }
    for (uint32_t i = 0; i < n && !moves; i++) {
        map_get(&memo->moving[way], expr_arg(low->exprs, e, i), &arg);
        moves = arg;
    }
    return moves;
}

static bool
depends_on_continuous(Lowering *low, Expr e)
{
    ExprDescent descent = {.needs = moving_needs, .make = moving_of, .context = low, .done = low->lift->moving};
    return expr_descend(&descent, e, 0);
}

static Expr
extra_slot(Lowering *low, ExtraKind kind, Expr text)
{
    struct LiftMemo *memo = low->lift;
    uint64_t key = (uint64_t)text << 3 | kind;
    uint32_t at;
    if (!map_get(&memo->extra_of, key, &at)) {
        Extra extra = {kind, text};
        at = memo->extras.n;
        vec_push(&memo->extras, extra);
        map_put(&memo->extra_of, key, at);
    }
    return expr_slot(low->exprs, memo->own + at - memo->first_extra);
}

// Whether what is compared changes only where relations inside it change, as in (if x > 1 then 2 else 1) < 2. Then those are what is
// held: a root function of the outer one would jump, and perhaps to 0, which is no crossing.
static bool
changes_by_relations(Lowering *low, Expr text)
{
    const Exprs *exprs = low->exprs;
    U32Vec stack = {0};
    Map seen = {0};
    bool inner = false, only = true;
    for (uint32_t i = 0; i < 2; i++)
        vec_push(&stack, expr_arg(exprs, text, i));
    while (stack.n && only) {
        Expr e = vec_pop(&stack);
        Op op = expr_op(exprs, e);
        uint32_t known;
        bool moves = depends_on_continuous(low, e);
        if (!moves || map_get(&seen, e, &known))
            continue;
        map_put(&seen, e, 1);
        inner |= op_is_order(op);
        only = op_is_order(op) || (expr_nargs(exprs, e) && op != OP_NOEVENT && op != OP_SMOOTH);
        for (uint32_t i = 0; i < expr_nargs(exprs, e) && !op_is_order(op); i++)
            vec_push(&stack, expr_arg(exprs, e, i));
    }
    vec_free(&stack);
    map_free(&seen);
    return only && inner;
}

static Expr
unchecked(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    (void)context;
    return expr_op(exprs, part) == OP_INDEX ? expr_sub(exprs, args[1], expr_const(exprs, 1)) : 0;
}

static Expr
without_markers(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    (void)context;
    return expr_op(exprs, part) == OP_NOEVENT || expr_op(exprs, part) == OP_SMOOTH ? args[expr_nargs(exprs, part) - 1] : 0;
}

// Both hold; 0 stands for what always does.
static Expr
both(Exprs *exprs, Expr a, Expr b)
{
    return !a ? b : !b || a == b ? a : expr_2(exprs, OP_AND, a, b);
}

// That the subscripts in a part are good, of which `good_of` has the arguments; of a choice those in the branch that is taken. 0: nothing is asked.
static Expr
good_subscripts(Exprs *exprs, Expr part, const Map *good_of)
{
    Expr good = 0, branch[3] = {0}, always = expr_const(exprs, 1);
    bool choice = expr_op(exprs, part) == OP_IF;
    for (uint32_t i = 0; i < expr_nargs(exprs, part); i++) {
        uint32_t of = 0;
        map_get(good_of, expr_arg(exprs, part, i), &of);
        if (choice && i)
            branch[i] = of;
        else
            good = both(exprs, good, of);
    }
    if (branch[1] || branch[2])
        good = both(exprs, good, expr_3(exprs, OP_IF, expr_arg(exprs, part, 0), branch[1] ? branch[1] : always, branch[2] ? branch[2] : always));
    if (expr_op(exprs, part) == OP_INDEX)
        good = both(exprs, good, expr_2(exprs, OP_GE, part, expr_const(exprs, 0)));
    return good;
}

// A relation that is held is looked at all the time, also where it stands in a branch that is not taken. So its subscripts are checked
// where the value is used: a position from 0, or a failure.
static Expr
with_checks(Lowering *low, Expr text, Expr held)
{
    Exprs *exprs = low->exprs;
    U32Vec parts = {0};
    Map good_of = {0};
    Expr good = 0;
    expr_parts(exprs, text, &parts);
    for (uint32_t i = 0; i < parts.n; i++) {
        good = good_subscripts(exprs, parts.at[i], &good_of);
        if (good)
            map_put(&good_of, parts.at[i], good);
    }
    vec_free(&parts);
    map_free(&good_of);
    return good ? expr_2(exprs, OP_AND, expr_rewrite(exprs, good, without_markers, NULL), held) : held;
}

// A relation, or that of a kink: held when it can change between events.
static Expr
relation(Lowering *low, ExtraKind kind, Op op, Expr a, Expr b)
{
    Expr text = expr_2(low->exprs, op, a, b);
    if (expr_op(low->exprs, text) == OP_CONST || op == OP_EQ || op == OP_NE || !depends_on_continuous(low, text))
        return text;
    if (!expr_has_op(low->exprs, text, OP_INDEX))
        return extra_slot(low, kind, text);
    return with_checks(low, text, extra_slot(low, kind, expr_rewrite(low->exprs, text, unchecked, NULL)));
}

// What stands for a part that has been rewritten.
static Expr
rewritten(const Lowering *low, Expr e, Events events)
{
    uint32_t result = 0;
    map_get(&low->lift->done[events], e, &result);
    return result;
}

// Piecewise operators written out over held relations. a and b are rewritten already; relations refer to
// the unrewritten arguments, which contain no held values of their own.
static Expr
choice(Lowering *low, Op op, Expr ra, Expr rb, Expr a, Expr b)
{
    Exprs *exprs = low->exprs;
    Expr zero = expr_const(exprs, 0), one = expr_const(exprs, 1);
    switch (op) {
    case OP_ABS:
        return expr_3(exprs, OP_IF, relation(low, EXTRA_KINK, OP_GE, ra, zero), a, expr_1(exprs, OP_NEG, a));
    case OP_SIGN:
        return expr_3(exprs, OP_IF, relation(low, EXTRA_RELATION, OP_GT, ra, zero), one,
                      expr_3(exprs, OP_IF, relation(low, EXTRA_RELATION, OP_LT, ra, zero), expr_const(exprs, -1), zero));
    case OP_MIN:
        return expr_3(exprs, OP_IF, relation(low, EXTRA_KINK, OP_LE, ra, rb), a, b);
    case OP_MAX:
        return expr_3(exprs, OP_IF, relation(low, EXTRA_KINK, OP_GE, ra, rb), a, b);
    default: // OP_LUZ
        return expr_3(exprs, OP_IF, relation(low, EXTRA_KINK, OP_GT, ra, rb), expr_sub(exprs, a, b),
                      expr_3(exprs, OP_IF, relation(low, EXTRA_KINK, OP_LT, ra, expr_1(exprs, OP_NEG, rb)),
                             expr_2(exprs, OP_ADD, a, b), zero));
    }
}

// min or max where the bound must hold: the side that does not move is held, the other is compared anew.
static Expr
bounded(Lowering *low, Op op, Expr ra, Expr rb, Expr a, Expr b)
{
    Exprs *exprs = low->exprs;
    Expr now = expr_2(exprs, op, a, b);
    bool first = !depends_on_continuous(low, ra);
    return expr_3(exprs, OP_IF, relation(low, EXTRA_KINK, op == OP_MIN ? OP_LE : OP_GE, ra, rb), first ? a : now, first ? now : b);
}

// As what argument i of e is seen, which is seen as `events` itself.
static Events
events_of(const Lowering *low, Expr e, uint32_t i, Events events)
{
    const Exprs *exprs = low->exprs;
    Op op = expr_op(exprs, e);
    if (events == EVENTS_ALL && i == 1 && op == OP_DIV)
        return EVENTS_DIVISOR;
    if (events == EVENTS_NONE || i != 0 || op != OP_POW)
        return events;
    Expr exponent = expr_arg(exprs, e, 1);
    bool whole = expr_op(exprs, exponent) == OP_CONST && expr_value(exprs, exponent) == rint(expr_value(exprs, exponent));
    return whole ? events : EVENTS_BOUNDED; // x^1.5 has no value below 0
}

static Expr
rewrite_args(Lowering *low, Expr e, Events events)
{
    uint32_t n = expr_nargs(low->exprs, e);
    Expr *args = base_realloc(NULL, sizeof *args * (n ? n : 1));
    bool changed = false;
    for (uint32_t i = 0; i < n; i++) {
        Expr arg = expr_arg(low->exprs, e, i);
        args[i] = rewritten(low, arg, events_of(low, e, i, events));
        changed |= args[i] != arg;
    }
    Expr result = changed ? expr_make(low->exprs, expr_op(low->exprs, e), args, n) : e;
    free(args);
    return result;
}

// How a part is rewritten.
typedef enum How {
    HOW_LEAF,     // needs nothing
    HOW_ONE,      // it is its argument `arg`, seen as `events`
    HOW_ARGS,     // the same operator of its arguments, seen as `events`
    HOW_HOMOTOPY, // between its arguments
    HOW_RELATION, // held; its arguments are live: model operators inside them are stripped, relations stay where they are
    HOW_CHOICE,   // held relations choose; its arguments are seen as `events`, and live for the relations
    HOW_TURN,     // the same operator of its arguments, whose relation is watched and does not choose
} How;

typedef struct Plan {
    How how;
    Events events;
    uint32_t arg;
} Plan;

static bool
stays_relation(Lowering *low, Expr e)
{
    uint32_t stays;
    if (!map_get(&low->lift->stays, e, &stays)) {
        stays = changes_by_relations(low, e);
        map_put(&low->lift->stays, e, stays);
    }
    return stays;
}

static Plan
plan_of(Lowering *low, Expr e, Events events)
{
    const Exprs *exprs = low->exprs;
    Op op = expr_op(exprs, e);
    bool held = events && low->lift->mode != LIFT_LIVE;
    switch (op) {
    case OP_CONST: case OP_SLOT: case OP_TIME: case OP_INITIAL: case OP_TERMINAL: case OP_SAMPLE:
        return (Plan){HOW_LEAF, events, 0};
    case OP_NOEVENT:
        return (Plan){HOW_ONE, EVENTS_NONE, 0};
    case OP_RATED:
        return (Plan){HOW_ONE, events, 0};
    case OP_SMOOTH:
        return (Plan){HOW_ONE, expr_is_const(exprs, expr_arg(exprs, e, 0), 0) ? events : EVENTS_NONE, 1};
    case OP_HOMOTOPY:
        return (Plan){low->lift->mode == LIFT_LIVE ? HOW_HOMOTOPY : HOW_ONE, events, 0};
    case OP_LT: case OP_LE: case OP_GT: case OP_GE:
        return (Plan){held && !stays_relation(low, e) ? HOW_RELATION : HOW_ARGS, events, 0};
    case OP_LUZ: case OP_MIN: case OP_MAX: case OP_ABS: case OP_SIGN: {
        bool smooth = op != OP_SIGN && low->lift->mode == LIFT_SEEN;
        bool plain = !held || smooth || (op == OP_ABS && events == EVENTS_BOUNDED) || !depends_on_continuous(low, e);
        return (Plan){plain ? HOW_ARGS : op == OP_ABS && low->lift->mode == LIFT_LOOP ? HOW_TURN : HOW_CHOICE, events, 0};
    }
    default:
        return (Plan){HOW_ARGS, events && op_is_partial(op) ? EVENTS_BOUNDED : events, 0};
    }
}

static bool
needs(void *context, Expr e, uint32_t way, uint32_t i, Expr *part, uint32_t *part_way)
{
    Lowering *low = context;
    Plan plan = plan_of(low, e, (Events)way);
    uint32_t n = expr_nargs(low->exprs, e), arg = i;
    *part_way = plan.events;
    switch (plan.how) {
    case HOW_LEAF:
        return false;
    case HOW_ONE:
        n = 1;
        arg = plan.arg;
        break;
    case HOW_ARGS:
        *part_way = events_of(low, e, i, plan.events);
        break;
    case HOW_HOMOTOPY:
        break;
    case HOW_RELATION:
        *part_way = EVENTS_NONE;
        break;
    case HOW_CHOICE: case HOW_TURN: // live, then as they are seen
        if (i < n)
            *part_way = EVENTS_NONE;
        arg = i % n;
        n *= 2;
        break;
    }
    if (i >= n)
        return false;
    *part = expr_arg(low->exprs, e, arg);
    return true;
}

static Expr
rewrite_leaf(Lowering *low, Expr e)
{
    switch (expr_op(low->exprs, e)) {
    case OP_INITIAL:
        return extra_slot(low, EXTRA_INITIAL, 0);
    case OP_TERMINAL:
        return extra_slot(low, EXTRA_TERMINAL, 0);
    case OP_SAMPLE:
        return low->lift->mode != LIFT_LIVE ? extra_slot(low, EXTRA_SAMPLE, e) : expr_const(low->exprs, 0);
    default:
        return e;
    }
}

static Expr
rewrite_homotopy(Lowering *low, Expr actual, Expr simple)
{
    Exprs *exprs = low->exprs;
    Expr lambda = extra_slot(low, EXTRA_LAMBDA, 0);
    Expr zero = expr_const(exprs, 0), one = expr_const(exprs, 1), rest = expr_sub(exprs, one, lambda);
    Expr between = expr_2(exprs, OP_ADD, expr_2(exprs, OP_MUL, lambda, actual), expr_2(exprs, OP_MUL, rest, simple));
    // At the ends the other expression need have no value, nor a derivative (a root of nothing where all guesses are equal).
    Expr after = expr_3(exprs, OP_IF, expr_2(exprs, OP_GE, lambda, one), actual, between);
    return expr_3(exprs, OP_IF, expr_2(exprs, OP_LE, lambda, zero), simple, after);
}

static Expr
rewrite_choice(Lowering *low, Expr e, Events events)
{
    const Exprs *exprs = low->exprs;
    Op op = expr_op(exprs, e);
    bool two = expr_nargs(exprs, e) > 1;
    Expr a = expr_arg(exprs, e, 0), b = two ? expr_arg(exprs, e, 1) : 0;
    Expr live_a = rewritten(low, a, EVENTS_NONE), live_b = two ? rewritten(low, b, EVENTS_NONE) : 0;
    Expr now_a = rewritten(low, a, events), now_b = two ? rewritten(low, b, events) : 0;
    if (events != EVENTS_ALL && (op == OP_MIN || op == OP_MAX))
        return bounded(low, op, live_a, live_b, now_a, now_b);
    return choice(low, op, live_a, live_b, now_a, now_b);
}

static Expr
rewrite_part(void *context, Expr e, uint32_t way)
{
    Lowering *low = context;
    Plan plan = plan_of(low, e, (Events)way);
    switch (plan.how) {
    case HOW_LEAF:
        return rewrite_leaf(low, e);
    case HOW_ONE:
        return rewritten(low, expr_arg(low->exprs, e, plan.arg), plan.events);
    case HOW_HOMOTOPY:
        return rewrite_homotopy(low, rewritten(low, expr_arg(low->exprs, e, 0), plan.events),
                                rewritten(low, expr_arg(low->exprs, e, 1), plan.events));
    case HOW_RELATION:
        return relation(low, EXTRA_RELATION, expr_op(low->exprs, e), rewritten(low, expr_arg(low->exprs, e, 0), EVENTS_NONE),
                        rewritten(low, expr_arg(low->exprs, e, 1), EVENTS_NONE));
    case HOW_CHOICE:
        return rewrite_choice(low, e, plan.events);
    case HOW_TURN:
        (void)relation(low, EXTRA_KINK, OP_GE, rewritten(low, expr_arg(low->exprs, e, 0), EVENTS_NONE), expr_const(low->exprs, 0));
        return rewrite_args(low, e, plan.events);
    default:
        return rewrite_args(low, e, plan.events);
    }
}

static Expr
rewrite(Lowering *low, Expr e, Events events)
{
    ExprDescent descent = {.needs = needs, .make = rewrite_part, .context = low, .done = low->lift->done};
    return expr_descend(&descent, e, events);
}

static bool
needs_rewrite(const Lowering *low, Expr e)
{
    static const Op ops[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_LUZ, OP_MIN, OP_MAX, OP_ABS, OP_SIGN, OP_NOEVENT, OP_SMOOTH,
                             OP_HOMOTOPY, OP_RATED, OP_INITIAL, OP_TERMINAL, OP_SAMPLE};
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (expr_has_op(low->exprs, e, ops[i]))
            return true;
    return false;
}

static void
note_plain(Lowering *low, Expr shape)
{
    U8Vec *plain = &low->lift->plain;
    if (shape >= plain->n)
        vec_grow(plain, expr_count(low->exprs) + 1 - plain->n);
    plain->at[shape] = 1;
}

static uint32_t
lift_shape(Lowering *low, LiftMode mode, Expr shape, const uint8_t *kinds, uint32_t own)
{
    struct LiftMemo *memo = memo_of(low);
    uint32_t rewriting = 0;
    if (!map_get(&memo->rewriting, shape, &rewriting)) {
        rewriting = needs_rewrite(low, shape);
        map_put(&memo->rewriting, shape, rewriting);
    }
    uint64_t key = hash_add(hash_mix(shape), rewriting ? mode : LIFT_LOOP + 1);
    for (uint32_t k = 0; k < own && rewriting; k++)
        key = hash_add(key, kinds[k]);
    uint32_t found;
    if (map_get(&memo->of, key, &found))
        return found;
    map_clear(&memo->extra_of);
    for (int i = 0; i < EVENTS; i++)
        map_clear(&memo->done[i]);
    map_clear(&memo->stays);
    map_clear(&memo->moving[0]);
    memo->mode = mode;
    memo->own = own;
    memo->first_extra = memo->extras.n;
    memo->slot_kind = kinds;
    Expr text = rewriting ? rewrite(low, shape, EVENTS_ALL) : shape;
    Lifted lifted = {.own = own, .extra = memo->first_extra, .n_extra = memo->extras.n - memo->first_extra,
                     .order = memo->orders.n};
    U32Vec order = {0};
    lifted.shape = expr_shape(low->exprs, text, &order);
    lifted.n_order = order.n;
    vec_append(&memo->orders, order.at, order.n);
    vec_free(&order);
    if (!rewriting && lifted.shape == shape)
        note_plain(low, shape);
    vec_push(&memo->lifted, lifted);
    map_put(&memo->of, key, memo->lifted.n - 1);
    return memo->lifted.n - 1;
}

// --- extras of one row

// What an extra is in the source.
static Expr
extra_text(Exprs *exprs, Extra extra)
{
    switch (extra.kind) {
    case EXTRA_INITIAL:
        return expr_make(exprs, OP_INITIAL, NULL, 0);
    case EXTRA_TERMINAL:
        return expr_make(exprs, OP_TERMINAL, NULL, 0);
    case EXTRA_LAMBDA:
        return expr_const(exprs, 1);
    default:
        return extra.text;
    }
}

// Whether an expression is short when written out. In a loop of a function each condition may contain all those before it: n texts of
// n conditions would take longer than all else.
static bool
is_readable(const Exprs *exprs, Expr e)
{
    enum { MOST = 1000 };
    U32Vec todo = {0};
    uint32_t parts = 0;
    vec_push(&todo, e);
    while (todo.n && parts <= MOST) {
        Expr part = vec_pop(&todo);
        uint32_t n = expr_nargs(exprs, part);
        for (uint32_t i = 0; i < n && i <= MOST; i++)
            vec_push(&todo, expr_arg(exprs, part, i));
        parts++;
    }
    vec_free(&todo);
    return parts <= MOST;
}

// floor() and the like compare with what they had before, for which people have no name.
static bool
is_step(const Lowering *low, const Lifted *lifted, Expr text, const Var *vars)
{
    bool step = false;
    U32Vec used = {0};
    expr_used_slots(low->exprs, &text, 1, &used);
    for (uint32_t i = 0; i < used.n && !step; i++)
        step = used.at[i] < lifted->own && vars[used.at[i]] != NONE && dae_is_step(low->dae, vars[used.at[i]]);
    vec_free(&used);
    return step;
}

static const char *
placed(const Lowering *low, const char *text, Span span)
{
    Place place;
    return span_locate(low->dae->sources, span, &place) ? arena_printf(low->arena, "%s (%s:%u)", text, place.path, place.line)
                                                        : arena_strndup(low->arena, text, strlen(text));
}

// `text` is over the own slots and those of the extras before it.
static const char *
relation_text(Lowering *low, const Lifted *lifted, Expr text, const Var *vars, Span span)
{
    Out out = {0};
    U32Vec with = {0};
    if (is_step(low, lifted, text, vars))
        return placed(low, "a step of floor, ceil, integer, div, mod or rem", span);
    if (!is_readable(low->exprs, text))
        return placed(low, "a long condition", span);
    vec_fill(&with, lifted->own, 0);
    for (uint32_t i = 0; lifted->own + i < expr_nslots(low->exprs, text); i++)
        vec_push(&with, extra_text(low->exprs, low->lift->extras.at[lifted->extra + i]));
    Expr written = expr_substitute(low->exprs, text, with.at, with.n), shape;
    uint32_t row;
    vec_free(&with);
    dae_bind_shape(low->dae, written, vars, &shape, &row);
    dae_print_shape(low->dae, shape, row, NONE, &out);
    const char *said = placed(low, out.text, span);
    out_free(&out);
    return said;
}

// time <op> e or e <op> time with e free of time and of continuous variables.
static Expr
time_instant(Lowering *low, Expr text, const uint8_t *kinds)
{
    for (uint32_t side = 0; side < 2; side++) {
        Expr a = expr_arg(low->exprs, text, side), b = expr_arg(low->exprs, text, 1 - side);
        if (expr_op(low->exprs, a) != OP_TIME || expr_has_op(low->exprs, b, OP_TIME))
            continue;
        uint32_t n = expr_nslots(low->exprs, b);
        bool fixed = true;
        for (uint32_t k = 0; k < n; k++)
            fixed &= !(kinds[k] && expr_uses_slot(low->exprs, b, k));
        if (fixed)
            return b;
    }
    return 0;
}

// A row that is being lifted.
typedef struct LiftRow {
    const Lifted *lifted;
    const Var *vars;         // per own slot
    const uint32_t *places;
    const uint8_t *kinds;
    const uint32_t *extras;  // the places of the extras before the one at hand
    Span span;
} LiftRow;

static uint32_t
slot_place(const LiftRow *at, uint32_t slot)
{
    return slot < at->lifted->own ? at->places[slot] : at->extras[slot - at->lifted->own];
}

// In the Modelica language abs, min and max make no events (Modelica 3.6, sections 3.7.1 and 10.3.4).
static bool
makes_no_event(const Lowering *low, Span span)
{
    Place place;
    if (!span_locate(low->dae->sources, span, &place))
        return false;
    size_t length = strlen(place.path);
    return length > 3 && !strcmp(place.path + length - 3, ".mo");
}

static uint32_t
relation_place(Lowering *low, Expr text, bool kink, const LiftRow *at)
{
    U32Vec order = {0};
    Expr shape = expr_shape(low->exprs, text, &order);
    uint64_t key = hash_mix(shape);
    for (uint32_t k = 0; k < order.n; k++)
        key = hash_add(key, slot_place(at, order.at[k]));
    uint32_t index;
    if (!map_get(&low->relation_of, key, &index)) {
        Relation made = {.shape = shape, .row = low->sys->places.n};
        U8Vec kinds = {0};
        for (uint32_t k = 0; k < order.n; k++) {
            vec_push(&low->sys->places, slot_place(at, order.at[k]));
            // What is lifted out of a relation, as initial() is, changes at events only.
            vec_push(&kinds, order.at[k] < at->lifted->own ? at->kinds[order.at[k]] : 0);
        }
        made.instant = time_instant(low, shape, kinds.at);
        made.of_time = made.instant != 0;
        made.value = new_places(low, 1);
        made.next = new_places(low, 1);
        made.g = new_places(low, 1);
        made.text = relation_text(low, at->lifted, text, at->vars, at->span);
        index = low->relations.n;
        vec_push(&low->relations, made);
        map_put(&low->relation_of, key, index);
        vec_free(&kinds);
    }
    vec_free(&order);
    Relation *found = &low->relations.at[index];
    found->told = found->told || !kink || !makes_no_event(low, at->span);
    return found->value;
}

static uint32_t
sample_place(Lowering *low, Expr text, const LiftRow *at)
{
    uint32_t n = expr_nslots(low->exprs, text), row = low->sys->places.n;
    for (uint32_t k = 0; k < n; k++)
        vec_push(&low->sys->places, slot_place(at, k));
    Sample sample = {.start = expr_arg(low->exprs, text, 0), .interval = expr_arg(low->exprs, text, 1), .row = row};
    sample.value = new_places(low, 1);
    sample.start_place = new_places(low, 1);
    sample.interval_place = new_places(low, 1);
    sample.text = relation_text(low, at->lifted, text, at->vars, at->span);
    vec_push(&low->samples, sample);
    return sample.value;
}

static uint32_t
extra_place(Lowering *low, Extra extra, const LiftRow *at)
{
    switch (extra.kind) {
    case EXTRA_INITIAL:
        low->uses_initial = true;
        return low->initial;
    case EXTRA_TERMINAL:
        low->uses_terminal = true;
        return low->terminal;
    case EXTRA_LAMBDA:
        low->uses_lambda = true;
        return low->lambda;
    case EXTRA_SAMPLE:
        return sample_place(low, extra.text, at);
    default:
        return relation_place(low, extra.text, extra.kind == EXTRA_KINK, at);
    }
}

void
emit_places(Lowering *low, InstrVec *code, Expr shape, const uint32_t *places, uint32_t dest)
{
    Instr instr = {shape, low->sys->places.n, dest};
    vec_append(&low->sys->places, places, expr_nslots(low->exprs, shape));
    vec_push(code, instr);
}

bool
bind_is_computed(const Lowering *low, const Bind *bind)
{
    return expr_nslots(low->exprs, bind->shape) || expr_has_op(low->exprs, bind->shape, OP_CALL);
}

static bool
is_plain(const struct LiftMemo *memo, Expr shape)
{
    return shape < memo->plain.n && memo->plain.at[shape];
}

// The instruction of a shape over memo->vars in which there is nothing to lift.
static void
emit_plain(Lowering *low, InstrVec *code, Expr shape, uint32_t dest)
{
    const U32Vec *vars = &low->lift->vars;
    U32Vec *places = &low->sys->places;
    Instr instr = {shape, places->n, dest};
    vec_reserve(places, places->n + vars->n);
    for (uint32_t k = 0; k < vars->n; k++) {
        int unused;
        places->at[instr.row + k] = place_of(low, vars->at[k], &unused);
    }
    places->n += vars->n;
    vec_push(code, instr);
}

// Lifts `shape` over memo->vars and appends the instruction.
static void
emit_lifted(Lowering *low, InstrVec *code, LiftMode mode, Expr shape, Span span, uint32_t dest)
{
    struct LiftMemo *memo = low->lift;
    if (is_plain(memo, shape)) {
        emit_plain(low, code, shape, dest);
        return;
    }
    vec_clear(&memo->places);
    vec_clear(&memo->kinds);
    for (uint32_t k = 0; k < memo->vars.n; k++) {
        int unused;
        Var var = memo->vars.at[k];
        vec_push(&memo->places, place_of(low, var, &unused));
        // Delayed values are inputs that move.
        vec_push(&memo->kinds, dae_kind(low->dae, var) == VAR_CONTINUOUS || dae_kind(low->dae, var) == VAR_INPUT);
    }
    uint32_t index = lift_shape(low, mode, shape, memo->kinds.at, memo->vars.n);
    Lifted lifted = memo->lifted.at[index];
    // Extras may add to the pools, so the row is written afterwards.
    uint32_t few[64], *extras = lifted.n_extra <= 64 ? few : base_realloc(NULL, sizeof *extras * lifted.n_extra);
    LiftRow at = {&lifted, memo->vars.at, memo->places.at, memo->kinds.at, extras, span};
    for (uint32_t i = 0; i < lifted.n_extra; i++)
        extras[i] = extra_place(low, memo->extras.at[lifted.extra + i], &at);
    Instr instr = {lifted.shape, low->sys->places.n, dest};
    for (uint32_t k = 0; k < lifted.n_order; k++) {
        uint32_t slot = memo->orders.at[lifted.order + k];
        vec_push(&low->sys->places, slot < lifted.own ? memo->places.at[slot] : extras[slot - lifted.own]);
    }
    vec_push(code, instr);
    if (extras != few)
        free(extras);
}

void
emit(Lowering *low, InstrVec *code, LiftMode mode, Expr shape, uint32_t row, Span span, uint32_t dest)
{
    struct LiftMemo *memo = memo_of(low);
    vec_clear(&memo->vars);
    vec_append(&memo->vars, low->dae->rows.at + row, expr_nslots(low->exprs, shape));
    emit_lifted(low, code, mode, shape, span, dest);
}

void
emit_vars(Lowering *low, InstrVec *code, LiftMode mode, Expr shape, const Var *vars, Span span, int sign,
          uint32_t dest)
{
    struct LiftMemo *memo = memo_of(low);
    uint32_t n = expr_nslots(low->exprs, shape), row = low->dae->rows.n;
    vec_reserve(&memo->vars, n);
    vec_clear(&memo->vars);
    vec_append(&memo->vars, vars, n); // `vars` may lie in the pool that is about to grow
    row = dae_add_row(low->dae, memo->vars.at, n);
    Expr resolved = dae_resolve_shape(low->dae, shape, row, &memo->vars);
    low->dae->rows.n = row;
    if (sign < 0)
        resolved = expr_1(low->exprs, OP_NEG, resolved);
    emit_lifted(low, code, mode, resolved, span, dest);
}
