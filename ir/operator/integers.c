// integers.c: integers: integer-valued functions of continuous variables become discrete variables.
//
// Purpose: floor, ceil and trunc (integer, div, mod and rem are written with these) jump; outside noEvent a jump is an
// event and the value is held in between (Modelica specification 3.6, section 3.7.2).
// Method: each call becomes a hidden discrete variable k that leaves its value when the argument u leaves the interval
// in which k is right. A bound that belongs to the interval of k is passed a little later by the margin, so that
// rounding at a located bound cannot lead back and forth. Where u is affine in time the bounds are instants.
//
//     y = floor(x)   =>   y = k,   k = if initial() then floor(x) else if x >= pre(k) + 1 then pre(k) + 1
//                                      else if x < pre(k) then pre(k) - 1 else pre(k)
//
// When-equations and initial equations are no place for events: there the functions are computed as they stand.
// Contract: after `laws`, before `alias`. Appends variables and equations; an equation gets another shape and row.
// Complexity: linear in the equations with such functions.
#include "ir/dae/pass.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/operator/naming.h"
#include "ir/operator/operator.h"

typedef struct Integers {
    Dae *dae;
    Naming naming;      // its variables: those of the equation at hand, then those made for it
    // of the equation at hand:
    Map done[1];
    U32Vec args;        // of the part at hand
    uint32_t equation;
    const char *stem;   // of names of its variables
} Integers;

static bool
is_step(Op op)
{
    return op == OP_FLOOR || op == OP_CEIL || op == OP_TRUNC;
}

static bool
concerns(const Exprs *exprs, Expr e)
{
    return expr_has_any(exprs, e, ops_and(ops_and(ops_of(OP_FLOOR), OP_CEIL), OP_TRUNC));
}

// --- instants: u = rate*time + rest

static bool
is_timeless(const Exprs *exprs, Expr e)
{
    return !expr_has_op(exprs, e, OP_TIME);
}

// What a part is as a function of time: rate*time + rest.
typedef struct AffinePart {
    Expr rate, rest; // 0 and 0: not affine
} AffinePart;

// At most one factor moves, and what divides stands still.
static AffinePart
affine_product(Exprs *exprs, Expr e, const AffinePart *args)
{
    AffinePart moving = {expr_const(exprs, 0), expr_const(exprs, 1)};
    Expr factor = expr_const(exprs, 1);
    bool moves = false, divides = expr_op(exprs, e) == OP_DIV;
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++) {
        Expr arg = expr_arg(exprs, e, i);
        if (is_timeless(exprs, arg)) {
            factor = expr_2(exprs, divides && i ? OP_DIV : OP_MUL, factor, arg);
        } else if (moves || (divides && i)) {
            return (AffinePart){0};
        } else {
            moves = true;
            moving = args[i];
        }
    }
    if (divides) { // rate/d and rest/d as they are written
        Expr divisor = expr_arg(exprs, e, 1);
        return (AffinePart){expr_2(exprs, OP_DIV, moving.rate, divisor), expr_2(exprs, OP_DIV, moving.rest, divisor)};
    }
    return (AffinePart){expr_2(exprs, OP_MUL, factor, moving.rate), expr_2(exprs, OP_MUL, factor, moving.rest)};
}

static AffinePart
affine_sum(Exprs *exprs, Expr e, const AffinePart *args)
{
    U32Vec rates = {0}, rests = {0};
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++) {
        vec_push(&rates, args[i].rate);
        vec_push(&rests, args[i].rest);
    }
    AffinePart sum = {expr_make(exprs, OP_ADD, rates.at, rates.n), expr_make(exprs, OP_ADD, rests.at, rests.n)};
    vec_free(&rates);
    vec_free(&rests);
    return sum;
}

static AffinePart
affine_part(Exprs *exprs, Expr e, const AffinePart *args)
{
    Op op = expr_op(exprs, e);
    if (op == OP_TIME)
        return (AffinePart){expr_const(exprs, 1), expr_const(exprs, 0)};
    if (is_timeless(exprs, e))
        return (AffinePart){expr_const(exprs, 0), e};
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++)
        if (!args[i].rate)
            return (AffinePart){0};
    if (op == OP_NEG)
        return (AffinePart){expr_1(exprs, OP_NEG, args[0].rate), expr_1(exprs, OP_NEG, args[0].rest)};
    if (op == OP_ADD)
        return affine_sum(exprs, e, args);
    return op == OP_MUL || op == OP_DIV ? affine_product(exprs, e, args) : (AffinePart){0};
}

// False when u is not affine in time.
static bool
affine_in_time(Exprs *exprs, Expr u, Expr *rate, Expr *rest)
{
    U32Vec parts = {0};
    VEC(AffinePart) made = {0}, args = {0};
    Map place = {0};
    expr_parts(exprs, u, &parts);
    for (uint32_t i = 0; i < parts.n; i++) {
        vec_clear(&args);
        for (uint32_t j = 0; j < expr_nargs(exprs, parts.at[i]); j++) {
            uint32_t at = 0;
            map_get(&place, expr_arg(exprs, parts.at[i], j), &at);
            vec_push(&args, made.at[at]);
        }
        map_put(&place, parts.at[i], i);
        vec_push(&made, affine_part(exprs, parts.at[i], args.at));
    }
    *rate = vec_last(&made).rate;
    *rest = vec_last(&made).rest;
    vec_free(&parts);
    vec_free(&made);
    vec_free(&args);
    map_free(&place);
    return *rate != 0;
}

// --- conditions

// True when the argument reaches (from below, or from above) the bound at which k changes.
static Expr
passes(Exprs *exprs, bool upwards, Expr u, Expr bound, const Expr *rate, const Expr *rest)
{
    if (!rate)
        return expr_2(exprs, upwards ? OP_GE : OP_LT, u, bound);
    // Conditions with time are evaluated just after their instant: whether the bound itself counts is the same.
    Expr instant = expr_2(exprs, OP_DIV, expr_sub(exprs, bound, *rest), *rate), zero = expr_const(exprs, 0);
    Expr later = expr_2(exprs, OP_GE, expr_time(exprs), instant);
    Expr right_way = expr_2(exprs, upwards ? OP_GT : OP_LT, *rate, zero);
    return expr_2(exprs, OP_AND, right_way, later);
}

static Expr
shifted(Exprs *exprs, Expr e, double by)
{
    return expr_2(exprs, OP_ADD, e, expr_const(exprs, by));
}

// The bounds of the interval of `pre`: at `upper` and above k grows; below `lower` (a closed end with the margin) it
// falls.
static void
bounds(Exprs *exprs, Op op, Expr pre, Expr margin, Expr *upper, Expr *lower)
{
    Expr zero = expr_const(exprs, 0), above = expr_2(exprs, OP_ADD, pre, margin), below = expr_sub(exprs, pre, margin);
    *upper = shifted(exprs, pre, 1);
    *lower = shifted(exprs, pre, -1);
    if (op == OP_FLOOR)
        *lower = below;
    if (op == OP_CEIL)
        *upper = above;
    if (op == OP_TRUNC) {
        *upper = expr_3(exprs, OP_IF, expr_2(exprs, OP_GE, pre, zero), *upper, above);
        *lower = expr_3(exprs, OP_IF, expr_2(exprs, OP_GT, pre, zero), below, *lower);
    }
}

// The right side of k's equation, over the slots of the equation at hand and that of pre(k).
static Expr
held_value(Exprs *exprs, Op op, Expr u, Expr pre, bool of_time)
{
    Expr call = expr_1(exprs, op, u), upper, lower, rate, rest;
    bool timed = of_time && affine_in_time(exprs, u, &rate, &rest);
    Expr size = expr_2(exprs, OP_MUL, expr_const(exprs, 1e-12), expr_1(exprs, OP_ABS, pre));
    bounds(exprs, op, pre, timed ? expr_const(exprs, 0) : shifted(exprs, size, 1e-10), &upper, &lower);
    Expr up = passes(exprs, true, u, upper, timed ? &rate : NULL, &rest);
    Expr down = passes(exprs, false, u, lower, timed ? &rate : NULL, &rest);
    Expr more = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_MAX, call, shifted(exprs, pre, 1)));
    Expr less = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_MIN, call, shifted(exprs, pre, -1)));
    Expr held = expr_3(exprs, OP_IF, up, more, expr_3(exprs, OP_IF, down, less, pre));
    return expr_3(exprs, OP_IF, expr_make(exprs, OP_INITIAL, NULL, 0), call, held);
}

// --- variables

static bool
depends_on_continuous(const Integers *integers, Expr e)
{
    const Dae *dae = integers->dae;
    U32Vec slots = {0};
    bool depends = false;
    expr_used_slots(dae->exprs, &e, 1, &slots);
    for (uint32_t k = 0; k < slots.n && !depends; k++) {
        Var var = integers->naming.vars.at[slots.at[k]];
        depends = (dae_kind(dae, var) == VAR_CONTINUOUS || dae_kind(dae, var) == VAR_INPUT) && dae->var_pre_of.at[var] == NONE;
    }
    vec_free(&slots);
    return depends;
}

static void
define(Integers *integers, Var var, Op op, Expr u)
{
    Dae *dae = integers->dae;
    Equation owner = dae->equations.at[integers->equation];
    bool of_time = !depends_on_continuous(integers, u);
    uint32_t last = integers->naming.vars.n;
    vec_push(&integers->naming.vars, var);
    vec_push(&integers->naming.vars, dae_pre(dae, var));
    Expr value = held_value(dae->exprs, op, u, expr_slot(dae->exprs, last + 1), of_time);
    dae_equate(dae, EQN_NORMAL, expr_slot(dae->exprs, last), value, integers->naming.vars.at, owner.node, owner.span);
    integers->naming.vars.n = last;
}

static void
tell(Integers *integers, Var var, Expr call)
{
    enum { OPERATIONS = 8 }; // longer ones keep a name
    Dae *dae = integers->dae;
    Out text = {0};
    if (expr_operations(dae->exprs, call) > OPERATIONS)
        return;
    dae_print_value(dae, call, integers->naming.vars.at, &text);
    dae_tell_as(dae, var, text.text);
    out_free(&text);
}

// The discrete variable that holds op(u).
static Var
variable_for(Integers *integers, Op op, Expr u)
{
    Dae *dae = integers->dae;
    uint32_t row;
    uint64_t hash;
    Expr shape;
    dae_bind_shape(dae, expr_1(dae->exprs, op, u), integers->naming.vars.at, &shape, &row);
    Var var = naming_recall(&integers->naming, shape, row, &hash);
    if (var != NONE)
        return var;
    uint32_t inst = dae->nodes.at[dae->equations.at[integers->equation].node].inst;
    uint32_t number = naming_number(&integers->naming, inst);
    var = dae_add_declared(dae, (Declaration){.name = sym_of(dae->syms, arena_printf(dae->arena, "$%s%u", integers->stem, number)), .count = 1,
                                              .kind = VAR_DISCRETE, .type = TYPE_INTEGER, .flags = GROUP_HIDDEN | GROUP_STEP,
                                              .span = dae->insts.at[inst].span}, inst);
    tell(integers, var, expr_1(dae->exprs, op, u));
    define(integers, var, op, u);
    naming_remember(&integers->naming, (Named){.hash = hash, .shape = shape, .row = row, .var = var});
    return var;
}

// --- equations

static bool
is_left(const Exprs *exprs, Expr e)
{
    Op op = expr_op(exprs, e);
    return !concerns(exprs, e) || op == OP_NOEVENT || (op == OP_SMOOTH && !expr_is_const(exprs, expr_arg(exprs, e, 0), 0));
}

static bool
needs(void *context, Expr e, uint32_t way, uint32_t i, Expr *part, uint32_t *part_way)
{
    const Exprs *exprs = ((Integers *)context)->dae->exprs;
    if (is_left(exprs, e) || i >= expr_nargs(exprs, e))
        return false;
    *part = expr_arg(exprs, e, i);
    *part_way = way;
    return true;
}

static Expr
rewrite(void *context, Expr e, uint32_t way)
{
    Integers *integers = context;
    Exprs *exprs = integers->dae->exprs;
    uint32_t n = expr_nargs(exprs, e), now = 0;
    if (is_left(exprs, e))
        return e;
    vec_clear(&integers->args);
    for (uint32_t i = 0; i < n; i++) {
        map_get(&integers->done[way], expr_arg(exprs, e, i), &now);
        vec_push(&integers->args, now);
    }
    Expr result = expr_make(exprs, expr_op(exprs, e), integers->args.at, n);
    Op op = expr_op(exprs, result);
    if (!is_step(op))
        return result;
    Expr u = expr_arg(exprs, result, 0);
    if (is_timeless(exprs, u) && !depends_on_continuous(integers, u))
        return result;
    // The equation of the variable is made first: it may add to the same list.
    Var var = variable_for(integers, op, u);
    vec_push(&integers->naming.vars, var);
    return expr_slot(exprs, integers->naming.vars.n - 1);
}

// e with variables for its calls, over naming.vars, which are those of the equation.
static Expr
hold(Integers *integers, uint32_t equation, Expr e)
{
    map_clear(&integers->done[0]);
    integers->equation = equation;
    ExprDescent descent = {.needs = needs, .make = rewrite, .context = integers, .done = integers->done};
    return expr_descend(&descent, e, 0);
}

static void
visit(Integers *integers, uint32_t equation)
{
    naming_open(&integers->naming, equation);
    Expr old = integers->dae->equations.at[equation].shape, text = hold(integers, equation, old);
    if (text != old)
        naming_close(&integers->naming, equation, text);
}

static void
integers_free(Integers *integers)
{
    naming_free(&integers->naming);
    map_free(&integers->done[0]);
    vec_free(&integers->args);
}

Expr
integers_hold(Dae *dae, uint32_t equation, Expr e, const char *stem, U32Vec *vars)
{
    Integers integers = {.dae = dae, .naming = {.dae = dae}, .stem = stem};
    if (!concerns(dae->exprs, e))
        return e;
    vec_append(&integers.naming.vars, vars->at, vars->n);
    e = hold(&integers, equation, e);
    vec_clear(vars);
    vec_append(vars, integers.naming.vars.at, integers.naming.vars.n);
    integers_free(&integers);
    return e;
}

bool
pass_integers(Dae *dae, Diags *diags)
{
    (void)diags; // every such function can be held
    if (!exprs_have_op(dae->exprs, OP_FLOOR) && !exprs_have_op(dae->exprs, OP_CEIL) && !exprs_have_op(dae->exprs, OP_TRUNC))
        return true;
    Integers integers = {.dae = dae, .naming = {.dae = dae}, .stem = "integer"};
    uint32_t n = dae->equations.n; // what is appended below is in its final form
    for (uint32_t i = 0; i < n; i++)
        if (dae->equations.at[i].kind == EQN_NORMAL && concerns(dae->exprs, dae->equations.at[i].shape))
            visit(&integers, i);
    integers_free(&integers);
    return true;
}
