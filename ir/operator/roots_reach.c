// roots_reach.c: which arguments of roots a root itself can bring to rest (roots.h).
//
// Purpose: sqrt(h) comes to rest at h = 0 where it empties h; one that is only looked at, or whose h is prescribed, does not.
// Method: what follows from time alone is found by unit propagation (an equation of which all variables but one are known gives that
// one), then in the same way what is a function of differentiated variables and time. Linear equations join such variables in
// families, whichever of them gives which; for others it is kept which equation gave a variable. Unknowns of one equation are joined in
// sets: a root acts on a derivative when its equation is in the derivative's set. This says too much where unknowns meet without acting
// on each other, never too little. What is held is differentiated: what jumps with time can be (runtime/event/jump.c), results of functions are not.
// Contract: roots.h. Complexity: linear in the equations; each becomes known once, and a root is followed to MOST_VARS variables.
#include <string.h>

#include "ir/base/sets.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/operator/roots.h"

enum { MOST_SLOTS = 12, MOST_VARS = 64 }; // of an equation that is looked at; that a root is followed to

// A continuous unknown; derivatives are unknowns, too.
static bool
moves(const Dae *dae, Var var)
{
    return (dae_kind(dae, var) == VAR_CONTINUOUS && dae->var_pre_of.at[var] == NONE) || dae_kind(dae, var) == VAR_INPUT
        || dae_kind(dae, var) == VAR_DISCRETE || dae->var_pre_of.at[var] != NONE;
}

static bool
is_discrete(const Dae *dae, Var var)
{
    return dae_kind(dae, var) == VAR_DISCRETE || dae->var_pre_of.at[var] != NONE;
}

// The model's to move, and not at events alone.
static bool
is_free(const Dae *dae, Var var)
{
    return dae_kind(dae, var) == VAR_CONTINUOUS && dae->var_pre_of.at[var] == NONE;
}

static bool
counts(const Equation *at)
{
    return at->kind == EQN_NORMAL || at->kind == EQN_ALIAS;
}

// Neither arithmetic nor, unless the choice follows from parameters or `timely` from time, a choice.
static bool
is_opaque(const Dae *dae, Expr e, const Var *vars, bool timely)
{
    const Exprs *exprs = dae->exprs;
    U32Vec parts = {0};
    bool found = false;
    expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n && !found; i++) {
        Op op = expr_op(exprs, parts.at[i]);
        uint8_t kind = op_table[op].kind;
        bool bends = op == OP_ABS || op == OP_MIN || op == OP_MAX || op == OP_LUZ;
        bool chooses = kind == OPKIND_CHOICE || kind == OPKIND_COMPARE || kind == OPKIND_LOGIC;
        chooses = chooses && (timely || dae_is_parametric(dae, parts.at[i], vars));
        found = kind != OPKIND_LEAF && kind != OPKIND_ARITH && kind != OPKIND_MATH && !bends && !chooses;
    }
    vec_free(&parts);
    return found;
}

// Whether e is a function of time, of what is discrete and of moved variables, but for one variable, *open (NONE: no one), that jumps with
// time and at events alone. *linear: of moved variables and the open one it is a linear function with parametric factors.
static bool
is_function(Reach *reach, Expr e, const Var *vars, Var *open, bool *linear)
{
    Dae *dae = reach->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n = expr_nslots(exprs, e);
    *open = NONE;
    *linear = true;
    if (n > MOST_SLOTS)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        if (!expr_uses_slot(exprs, e, k) || !moves(dae, vars[k]))
            continue;
        if (is_discrete(dae, vars[k]))
            continue;
        if (!is_free(dae, vars[k]) || dae->var_der_of.at[vars[k]] != NONE)
            return false;
        if (reach->known.at[vars[k]] == REACH_UNKNOWN && *open != NONE && *open != vars[k])
            return false;
        *open = reach->known.at[vars[k]] == REACH_UNKNOWN ? vars[k] : *open;
        if (reach->known.at[vars[k]] == REACH_OPAQUE)
            return false;
    }
    for (uint32_t k = 0; k < n && *linear; k++) {
        Expr factor, rest;
        if (expr_uses_slot(exprs, e, k) && moves(dae, vars[k]) && !is_discrete(dae, vars[k]) && reach->known.at[vars[k]] != REACH_GIVEN)
            *linear = expr_affine(exprs, e, k, &factor, &rest) && dae_is_parametric(dae, factor, vars);
    }
    return !is_opaque(dae, e, vars, false);
}

// --- propagation

static void
list_users(Reach *reach)
{
    const Dae *dae = reach->dae;
    vec_grow(&reach->start, dae->nvars + 2);
    for (int fill = 0; fill < 2; fill++) {
        for (uint32_t i = 0; i < dae->equations.n; i++) {
            uint32_t n;
            const Var *row = dae_row(dae, i, &n);
            for (uint32_t k = 0; k < n && counts(&dae->equations.at[i]); k++) {
                if (!moves(dae, row[k]))
                    continue;
                if (fill)
                    reach->users.at[reach->start.at[row[k] + 1]++] = i;
                else
                    reach->start.at[row[k] + 2]++;
            }
        }
        for (uint32_t v = 0; !fill && v < dae->nvars; v++)
            reach->start.at[v + 2] += reach->start.at[v + 1];
        if (!fill)
            vec_grow(&reach->users, reach->start.at[dae->nvars + 1]);
    }
}

static void
learn(Reach *reach, Var var, uint8_t known)
{
    reach->known.at[var] = known;
    vec_push(&reach->waiting, var);
}

// sqrt(x), x^0.5, q*abs(q) = x
static bool
has_root(const Exprs *exprs, Expr shape)
{
    return expr_has_any(exprs, shape, ops_and(ops_and(ops_of(OP_SQRT), OP_POW), OP_ABS));
}

static bool
is_given(const Reach *reach, Var var)
{
    return reach->known.at[var] == REACH_GIVEN || reach->known.at[var] == REACH_OPAQUE;
}

// The only variable of an equation that is not given, or NONE.
static Var
last_open(const Reach *reach, uint32_t equation)
{
    const Dae *dae = reach->dae;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    Var open = NONE;
    for (uint32_t k = 0; k < n; k++) {
        if (!moves(dae, row[k]) || is_given(reach, row[k]) || row[k] == open)
            continue;
        if (open != NONE || !is_free(dae, row[k]) || dae->var_der_of.at[row[k]] != NONE)
            return NONE;
        open = row[k];
    }
    return open;
}

static void
give(Reach *reach, uint32_t equation)
{
    const Dae *dae = reach->dae;
    Var open = counts(&dae->equations.at[equation]) ? last_open(reach, equation) : NONE;
    if (open == NONE)
        return;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    bool opaque = is_opaque(dae, expr_residual(dae->exprs, dae->equations.at[equation].shape), row, true);
    for (uint32_t k = 0; k < n && !opaque; k++)
        opaque = reach->known.at[row[k]] == REACH_OPAQUE;
    learn(reach, open, opaque ? REACH_OPAQUE : REACH_GIVEN);
}

static void
find_given(Reach *reach)
{
    for (uint32_t i = 0; i < reach->dae->equations.n; i++)
        give(reach, i);
    while (reach->waiting.n) {
        Var var = vec_pop(&reach->waiting);
        for (uint32_t at = reach->start.at[var]; at < reach->start.at[var + 1]; at++)
            give(reach, reach->users.at[at]);
    }
}

static void
move(Reach *reach, uint32_t equation)
{
    Dae *dae = reach->dae;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    Var open, first = NONE;
    bool linear;
    if (!is_function(reach, expr_residual(dae->exprs, dae->equations.at[equation].shape), row, &open, &linear))
        return;
    for (uint32_t k = 0; k < n && linear; k++) {
        if (!moves(dae, row[k]) || is_given(reach, row[k]))
            continue;
        if (first != NONE)
            sets_join(&reach->family, first, row[k]);
        first = row[k];
    }
    if (open != NONE) {
        reach->by.at[open] = equation;
        learn(reach, open, has_root(dae->exprs, dae->equations.at[equation].shape) ? REACH_ROOTED : REACH_MOVED);
    }
}

static void
find_moved(Reach *reach)
{
    Dae *dae = reach->dae;
    for (Var v = 0; v < dae->nvars; v++)
        if (dae->var_der.at[v] != NONE && dae->var_der_of.at[v] == NONE && reach->known.at[v] == REACH_UNKNOWN && is_free(dae, v))
            learn(reach, v, REACH_MOVED);
    while (reach->waiting.n) {
        Var var = vec_pop(&reach->waiting);
        for (uint32_t at = reach->start.at[var]; at < reach->start.at[var + 1]; at++)
            move(reach, reach->users.at[at]);
    }
}

// --- what follows by one equation after the other

static void
mark(const Exprs *exprs, Expr e, bool *under)
{
    for (uint32_t k = 0, n = expr_nslots(exprs, e); k < n; k++)
        under[k] = under[k] || expr_uses_slot(exprs, e, k);
}

// Slots of an equation that stand under a root in it.
static void
mark_under(const Exprs *exprs, Expr shape, bool *under)
{
    U32Vec parts = {0};
    double exponent;
    expr_parts(exprs, shape, &parts);
    for (uint32_t i = 0; i < parts.n; i++) {
        Expr e = roots_under(exprs, parts.at[i], &exponent);
        if (e)
            mark(exprs, e, under);
    }
    vec_free(&parts);
}

// The only unknown of an equation is computed by it, unless it would have to be found under a root.
static void
compute(Reach *reach, uint32_t equation)
{
    const Dae *dae = reach->dae;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    Var open = NONE;
    for (uint32_t k = 0; k < n && counts(&dae->equations.at[equation]); k++) {
        if (!moves(dae, row[k]) || reach->computed.at[row[k]] || row[k] == open)
            continue;
        if (open != NONE)
            return;
        open = row[k];
    }
    if (open == NONE)
        return;
    Expr shape = dae->equations.at[equation].shape;
    if (has_root(dae->exprs, shape)) {
        bool under[n];
        memset(under, 0, sizeof under);
        mark_under(dae->exprs, shape, under);
        for (uint32_t k = 0; k < n; k++)
            if (under[k] && row[k] == open)
                return;
    }
    reach->computed.at[open] = 1;
    vec_push(&reach->waiting, open);
}

static void
find_computed(Reach *reach)
{
    Dae *dae = reach->dae;
    vec_grow(&reach->computed, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++)
        reach->computed.at[v] = !is_free(dae, v) || (dae->var_der.at[v] != NONE && dae->var_der_of.at[v] == NONE);
    for (uint32_t i = 0; i < dae->equations.n; i++)
        compute(reach, i);
    while (reach->waiting.n) {
        Var var = vec_pop(&reach->waiting);
        for (uint32_t at = reach->start.at[var]; at < reach->start.at[var + 1]; at++)
            compute(reach, reach->users.at[at]);
    }
}

bool
reach_in_loop(const Reach *reach, Expr e, const Var *vars)
{
    for (uint32_t k = 0, n = expr_nslots(reach->dae->exprs, e); k < n; k++)
        if (expr_uses_slot(reach->dae->exprs, e, k) && vars[k] < reach->computed.n && !reach->computed.at[vars[k]])
            return true;
    return false;
}

// --- sets

static bool
is_sought(const Reach *reach, Var var)
{
    return is_free(reach->dae, var) && (reach->known.at[var] == REACH_UNKNOWN || reach->known.at[var] == REACH_ROOTED);
}

static void
join_unknowns(Reach *reach)
{
    const Dae *dae = reach->dae;
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        uint32_t n;
        const Var *row = dae_row(dae, i, &n);
        Var first = NONE;
        for (uint32_t k = 0; k < n && counts(&dae->equations.at[i]); k++) {
            if (!is_sought(reach, row[k]))
                continue;
            if (first != NONE)
                sets_join(&reach->together, first, row[k]);
            first = row[k];
        }
    }
}

static uint64_t
pair(uint32_t family, uint32_t set)
{
    return (uint64_t)family << 32 | set;
}

Reach
reach_create(Dae *dae)
{
    Reach reach = {.dae = dae};
    vec_grow(&reach.known, dae->nvars);
    vec_grow(&reach.by, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++)
        reach.by.at[v] = NONE;
    sets_grow(&reach.family, dae->nvars);
    sets_grow(&reach.together, dae->nvars);
    list_users(&reach);
    find_given(&reach);
    find_moved(&reach);
    find_computed(&reach);
    join_unknowns(&reach);
    for (Var v = 0; v < dae->nvars; v++)
        if (dae->var_der.at[v] != NONE && reach.known.at[v] == REACH_MOVED)
            map_put(&reach.moves, pair(sets_find(&reach.family, v), sets_find(&reach.together, dae->var_der.at[v])), 1);
    return reach;
}

void
reach_free(Reach *reach)
{
    vec_free(&reach->known);
    vec_free(&reach->by);
    vec_free(&reach->computed);
    vec_free(&reach->family);
    vec_free(&reach->together);
    vec_free(&reach->waiting);
    vec_free(&reach->start);
    vec_free(&reach->users);
    map_free(&reach->moves);
}

static void
follow(const Reach *reach, U32Vec *seen, Var var)
{
    for (uint32_t i = 0; i < seen->n; i++)
        if (seen->at[i] == var)
            return;
    if (moves(reach->dae, var) && !is_given(reach, var) && seen->n < MOST_VARS)
        vec_push(seen, var);
}

// Whether a derivative of the family of a variable among `seen`, or of what it is a function of, is among the unknowns of `sets`.
static bool
acts(Reach *reach, const U32Vec *sets, U32Vec *seen)
{
    const Dae *dae = reach->dae;
    uint32_t unused;
    for (uint32_t i = 0; i < seen->n; i++) {
        Var var = seen->at[i];
        for (uint32_t k = 0; k < sets->n; k++)
            if (map_get(&reach->moves, pair(sets_find(&reach->family, var), sets->at[k]), &unused))
                return true;
        uint32_t n = 0;
        const Var *row = reach->by.at[var] == NONE ? NULL : dae_row(dae, reach->by.at[var], &n);
        for (uint32_t k = 0; k < n; k++)
            follow(reach, seen, row[k]);
    }
    return false;
}

bool
reach_holds(Reach *reach, uint32_t equation, Expr e, const Var *vars, bool *linear)
{
    Dae *dae = reach->dae;
    Var open;
    if (!is_function(reach, e, vars, &open, linear) || open != NONE)
        return false;
    U32Vec seen = {0}, sets = {0};
    for (uint32_t k = 0, n = expr_nslots(dae->exprs, e); k < n; k++)
        if (expr_uses_slot(dae->exprs, e, k))
            follow(reach, &seen, vars[k]);
    uint32_t length;
    const Var *row = dae_row(dae, equation, &length);
    for (uint32_t k = 0; k < length; k++)
        if (is_sought(reach, row[k]))
            vec_push(&sets, sets_find(&reach->together, row[k]));
    bool found = acts(reach, &sets, &seen);
    vec_free(&seen);
    vec_free(&sets);
    return found;
}
