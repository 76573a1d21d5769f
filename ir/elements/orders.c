// orders.c: how often the quantities in a component's laws are integrated or differentiated.
//
// Purpose: the cell of a memory element in the periodic table of elements, and the letters of components that cannot be told at
// points, as a contact whose pressing force turns with it.
// Method: a variable whose unit is that of a port's effort or flow times a power of seconds has its place in the chain of that
// effort or flow; others have that of what an equation v = ... computes them from. An equation that still says something when all
// efforts vanish, and contains both, is a law. A fractional derivative inside a law counts for what it is taken of; one around the
// law, as in f = D^a(g(x)), counts on the other side, D^(1 - a)p = g(x). Of a law with several orders of one chain, f = K(z, x)*x, the
// lowest is what it remembers: it belongs to the cell of p = g(z).
// Contract: orders.h; reads the model and makes expressions. Complexity: linear in the equations (a fixed number of sweeps).
#include "ir/elements/orders.h"

#include <math.h>

#include "ir/base/map.h"
#include "ir/base/unit.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

enum { SWEEPS = 4, CHAINS_MAX = 16, POWERS = 6, DEEP = 200 };
enum { CHAIN_MOTION, CHAIN_EFFORT, CHAINS };

typedef struct Range { // orders of what is met of one chain
    bool any;
    double least, most;
} Range;

typedef struct ChainPlace { // of a variable
    bool known;
    Range of[CHAINS];
} ChainPlace;

typedef struct Orders {
    const OrdersAsk *ask;
    struct { Unit unit; uint8_t chain; double order; } chain[CHAINS_MAX];
    uint32_t chains;
    Map number;             // variable -> index into place
    VEC(ChainPlace) place;
} Orders;

typedef struct Walk {
    const Orders *orders;
    const Var *vars;
    bool outer_counts;      // a fractional derivative around everything is told apart
    Range of[CHAINS];
    double outer[CHAINS];   // order of the derivative around what was met of a chain
    bool bad, inside;       // an order is not known, or orders around it differ; a fractional derivative was met
} Walk;

static void
meet(Range *range, double least, double most)
{
    range->least = range->any ? fmin(range->least, least) : least;
    range->most = range->any ? fmax(range->most, most) : most;
    range->any = true;
}

// --- units

static bool
unit_of(const Dae *dae, Var var, Unit *unit)
{
    const Group *group = dae_group(dae, var);
    const char *error, *at;
    uint32_t length;
    return group && group->decl->unit && unit_parse(sym_text(dae->syms, group->decl->unit), unit, &error, &at, &length);
}

static void
add_chain(Orders *orders, Var var, uint8_t chain, double order)
{
    Unit unit;
    if (!unit_of(orders->ask->dae, var, &unit) || orders->chains == CHAINS_MAX)
        return;
    for (uint32_t i = 0; i < orders->chains; i++)
        if (orders->chain[i].chain == chain && unit_same_dimension(&orders->chain[i].unit, &unit))
            return;
    orders->chain[orders->chains].unit = unit;
    orders->chain[orders->chains].chain = chain;
    orders->chain[orders->chains++].order = order;
}

static bool
place_by_unit(const Orders *orders, Var var, ChainPlace *place)
{
    Unit unit, second = unit_base(UNIT_SECOND);
    if (!unit_of(orders->ask->dae, var, &unit))
        return false;
    for (int power = 0; power <= 2*POWERS; power++) { // the unit itself, then one integral, one derivative, ...
        int integrals = power % 2 ? (power + 1)/2 : -power/2;
        Unit scale, other;
        for (uint32_t i = 0; i < orders->chains; i++)
            if (unit_power(second, integrals, &scale) && unit_multiply(orders->chain[i].unit, scale, &other) && unit_same_dimension(&other, &unit)) {
                place->known = true;
                meet(&place->of[orders->chain[i].chain], orders->chain[i].order - integrals, orders->chain[i].order - integrals);
                return true;
            }
    }
    return false;
}

static ChainPlace *
place_of(Orders *orders, Var var)
{
    uint32_t number;
    if (!map_get(&orders->number, var, &number)) {
        ChainPlace place = {0};
        number = orders->place.n;
        map_put(&orders->number, var, number);
        if (!dae_is_parameter(orders->ask->dae, var) && dae_kind(orders->ask->dae, var) == VAR_CONTINUOUS)
            place_by_unit(orders, var, &place);
        vec_push(&orders->place, place);
    }
    return &orders->place.at[number];
}

// --- what an expression contains

static bool
known_order(const Walk *walk, Expr e, double *order)
{
    Dae *dae = walk->orders->ask->dae;
    double values[32];
    uint32_t n = expr_nslots(dae->exprs, e);
    for (uint32_t k = 0; k < n && n <= 32; k++) {
        values[k] = 0;
        if (expr_uses_slot(dae->exprs, e, k) && !dae_known_value(dae, walk->vars[k], &values[k]))
            return false;
    }
    *order = n <= 32 ? expr_eval(dae->exprs, e, values, 0) : NAN;
    return isfinite(*order);
}

static void
walk_over(Walk *walk, Expr e, double inner, double outer, uint32_t depth)
{
    const Orders *orders = walk->orders;
    const Dae *dae = orders->ask->dae;
    if (depth > DEEP) {
        walk->bad = true;
        return;
    }
    if (expr_op(dae->exprs, e) == OP_SLOT) {
        uint32_t derivatives = 0, number;
        Var var = walk->vars[expr_slot_of(dae->exprs, e)];
        for (; dae->var_der_of.at[var] != NONE; derivatives++)
            var = dae->var_der_of.at[var];
        const ChainPlace *place = map_get(&orders->number, var, &number) ? &orders->place.at[number] : NULL;
        for (int chain = 0; place && chain < CHAINS; chain++) {
            if (!place->of[chain].any)
                continue;
            walk->bad |= walk->of[chain].any && walk->outer[chain] != outer;
            walk->outer[chain] = outer;
            meet(&walk->of[chain], place->of[chain].least + derivatives + inner, place->of[chain].most + derivatives + inner);
        }
        return;
    }
    if (expr_op(dae->exprs, e) == OP_FDER) {
        double order;
        if (!known_order(walk, expr_arg(dae->exprs, e, 1), &order)) {
            walk->bad = true;
            return;
        }
        bool around = walk->outer_counts && !walk->inside;
        walk->inside = true;
        walk_over(walk, expr_arg(dae->exprs, e, 0), around ? inner : inner + order, around ? outer + order : outer, depth + 1);
        walk->inside = !around;
        return;
    }
    for (uint32_t i = 0; i < expr_nargs(dae->exprs, e); i++)
        walk_over(walk, expr_arg(dae->exprs, e, i), inner, outer, depth + 1);
}

// v = ... of what has places: v has theirs.
static bool
place_by_equation(Orders *orders, uint32_t equation)
{
    Dae *dae = orders->ask->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    Expr left = expr_arg(dae->exprs, dae->equations.at[equation].shape, 0);
    if (expr_op(dae->exprs, left) != OP_SLOT)
        return false;
    Var var = vars[expr_slot_of(dae->exprs, left)];
    if (dae->var_der_of.at[var] != NONE || dae_kind(dae, var) != VAR_CONTINUOUS || place_of(orders, var)->known)
        return false;
    Walk walk = {.orders = orders, .vars = vars};
    walk_over(&walk, expr_arg(dae->exprs, dae->equations.at[equation].shape, 1), 0, 0, 0);
    if (walk.bad || walk.of[CHAIN_MOTION].any == walk.of[CHAIN_EFFORT].any)
        return false;
    ChainPlace *place = place_of(orders, var);
    place->known = true;
    for (int chain = 0; chain < CHAINS; chain++)
        place->of[chain] = walk.of[chain];
    return true;
}

static void
find_places(Orders *orders)
{
    const OrdersAsk *ask = orders->ask;
    for (uint32_t b = 0; b < ask->bonds; b++) {
        add_chain(orders, ask->port[b].effort, CHAIN_EFFORT, 1);
        add_chain(orders, ask->port[b].flow, CHAIN_MOTION, ask->port[b].flow_is_der ? 0 : 1);
    }
    for (uint32_t i = 0; i < ask->n; i++) {
        uint32_t n;
        const Var *vars = dae_row(ask->dae, ask->equations[i], &n);
        for (uint32_t k = 0; k < n; k++) {
            Var var = vars[k];
            while (ask->dae->var_der_of.at[var] != NONE)
                var = ask->dae->var_der_of.at[var];
            place_of(orders, var);
        }
    }
    bool changed = true;
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        changed = false;
        for (uint32_t i = 0; i < ask->n; i++)
            changed |= place_by_equation(orders, ask->equations[i]);
    }
}

static Orders
orders_open(const OrdersAsk *ask)
{
    Orders orders = {.ask = ask};
    find_places(&orders);
    return orders;
}

static void
orders_close(Orders *orders)
{
    map_free(&orders->number);
    vec_free(&orders->place);
}

// --- laws

// Without its efforts something is left of it: it does not only resolve efforts along moving directions.
static bool
says_more(Orders *orders, uint32_t equation)
{
    Dae *dae = orders->ask->dae;
    uint32_t n;
    const Var *vars = dae_row(dae, equation, &n);
    U32Vec with = {0};
    for (uint32_t k = 0; k < n; k++) {
        Var var = vars[k];
        while (dae->var_der_of.at[var] != NONE)
            var = dae->var_der_of.at[var];
        vec_push(&with, place_of(orders, var)->of[CHAIN_EFFORT].any ? expr_const(dae->exprs, 0) : 0);
    }
    Expr rest = expr_with_zeros(dae->exprs, expr_residual(dae->exprs, dae->equations.at[equation].shape), with.at, n);
    vec_free(&with);
    return !expr_is_const(dae->exprs, rest, 0);
}

static bool
is_law(Orders *orders, uint32_t equation, Walk *walk)
{
    Dae *dae = orders->ask->dae;
    uint32_t n;
    Expr shape = dae->equations.at[equation].shape, left = expr_arg(dae->exprs, shape, 0), right = expr_arg(dae->exprs, shape, 1);
    const Var *vars = dae_row(dae, equation, &n);
    bool one_sided = expr_has_op(dae->exprs, left, OP_FDER) != expr_has_op(dae->exprs, right, OP_FDER);
    *walk = (Walk){.orders = orders, .vars = vars, .outer_counts = one_sided};
    walk_over(walk, left, 0, 0, 0);
    walk->inside = false;
    walk_over(walk, right, 0, 0, 0);
    return walk->of[CHAIN_MOTION].any && walk->of[CHAIN_EFFORT].any && says_more(orders, equation);
}

bool
orders_of_memory(const OrdersAsk *ask, double *effort, double *motion)
{
    Orders orders = orders_open(ask);
    uint32_t laws = 0;
    bool good = true;
    for (uint32_t i = 0; i < ask->n; i++) {
        Walk walk;
        if (!is_law(&orders, ask->equations[i], &walk))
            continue;
        const Range *e = &walk.of[CHAIN_EFFORT], *m = &walk.of[CHAIN_MOTION];
        laws++;
        good &= !walk.bad;
        *effort = e->least - (m->most - m->least) - walk.outer[CHAIN_MOTION];
        *motion = m->least - (e->most - e->least) - walk.outer[CHAIN_EFFORT];
    }
    orders_close(&orders);
    return laws == 1 && good;
}

uint16_t
orders_letters(const OrdersAsk *ask)
{
    static const uint8_t letters[] = {NODE_C, NODE_R, NODE_I};
    Orders orders = orders_open(ask);
    uint16_t bits = 0;
    for (uint32_t i = 0; i < ask->n; i++) {
        Walk walk;
        if (!is_law(&orders, ask->equations[i], &walk) || walk.bad)
            continue;
        double effort = walk.of[CHAIN_EFFORT].most - 1;
        const Range *m = &walk.of[CHAIN_MOTION];
        for (int k = 0; k < 3; k++)
            if (m->least <= effort + k && effort + k <= m->most)
                bits |= (uint16_t)(1u << letters[k]);
    }
    orders_close(&orders);
    return bits;
}
