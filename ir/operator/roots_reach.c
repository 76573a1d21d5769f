// roots_reach.c: which arguments of roots a root itself can bring to rest (roots.h).
//
// Purpose: sqrt(h) comes to rest at h = 0 where it empties h; one that is only looked at, or whose h is prescribed, does not.
// Method: what follows from time alone is found by unit propagation (an equation of which all variables but one are known gives that
// one), then in the same way, through linear equations, what is a linear function of differentiated variables. Unknowns of one
// equation are joined in sets: a root acts on a derivative when its equation is in the derivative's set. This says too much
// where unknowns meet without acting on each other, never too little.
// Contract: roots.h. Complexity: linear in the equations; each becomes known once.
#include "ir/base/sets.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_parts.h"
#include "ir/operator/naming.h"
#include "ir/operator/roots.h"

enum { MOST_SLOTS = 12 }; // of a linear equation that is looked at

// A continuous unknown; derivatives are unknowns, too.
static bool
moves(const Dae *dae, Var var)
{
    return (dae_kind(dae, var) == VAR_CONTINUOUS && dae->var_pre_of.at[var] == NONE) || dae_kind(dae, var) == VAR_INPUT
        || dae_kind(dae, var) == VAR_DISCRETE || dae->var_pre_of.at[var] != NONE;
}

// What jumps at events, or is not the model's to move, is no part of a sum that can be held.
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

// Each moving variable of e stands in it once, with a parametric factor; all have `known`, but for one: *open (NONE: none is).
static bool
is_linear(Reach *reach, Expr e, const Var *vars, Var *open)
{
    Dae *dae = reach->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n = expr_nslots(exprs, e);
    *open = NONE;
    if (n > MOST_SLOTS || expr_has_op(exprs, e, OP_TIME))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        Expr factor, rest;
        if (!expr_uses_slot(exprs, e, k) || !moves(dae, vars[k]))
            continue;
        if (!is_free(dae, vars[k]) || dae->var_der_of.at[vars[k]] != NONE || reach->known.at[vars[k]] == REACH_GIVEN)
            return false;
        if (reach->known.at[vars[k]] == REACH_UNKNOWN && *open != NONE && *open != vars[k])
            return false;
        if (!expr_affine(exprs, e, k, &factor, &rest) || !dae_is_parametric(dae, factor, vars))
            return false;
        *open = reach->known.at[vars[k]] == REACH_UNKNOWN ? vars[k] : *open;
    }
    return true;
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

// The only variable of an equation that is not given, or NONE.
static Var
last_open(const Reach *reach, uint32_t equation)
{
    const Dae *dae = reach->dae;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    Var open = NONE;
    for (uint32_t k = 0; k < n; k++) {
        if (!moves(dae, row[k]) || reach->known.at[row[k]] == REACH_GIVEN || row[k] == open)
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
    Var open = counts(&reach->dae->equations.at[equation]) ? last_open(reach, equation) : NONE;
    if (open != NONE)
        learn(reach, open, REACH_GIVEN);
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
    if (!is_linear(reach, expr_residual(dae->exprs, dae->equations.at[equation].shape), row, &open))
        return;
    for (uint32_t k = 0; k < n; k++) {
        if (!moves(dae, row[k]))
            continue;
        if (first != NONE)
            sets_join(&reach->family, first, row[k]);
        first = row[k];
    }
    if (open != NONE)
        learn(reach, open, REACH_MOVED);
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

// --- sets

static bool
is_sought(const Reach *reach, Var var)
{
    return is_free(reach->dae, var) && reach->known.at[var] == REACH_UNKNOWN;
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
    sets_grow(&reach.family, dae->nvars);
    sets_grow(&reach.together, dae->nvars);
    list_users(&reach);
    find_given(&reach);
    find_moved(&reach);
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
    vec_free(&reach->family);
    vec_free(&reach->together);
    vec_free(&reach->waiting);
    vec_free(&reach->start);
    vec_free(&reach->users);
    map_free(&reach->moves);
}

bool
reach_holds(Reach *reach, uint32_t equation, Expr e, const Var *vars)
{
    Dae *dae = reach->dae;
    uint32_t n = expr_nslots(dae->exprs, e), length, unused;
    Var open, any = NONE;
    if (!is_linear(reach, e, vars, &open) || open != NONE)
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (expr_uses_slot(dae->exprs, e, k) && moves(dae, vars[k]))
            any = vars[k];
    const Var *row = dae_row(dae, equation, &length);
    for (uint32_t k = 0; k < length && any != NONE; k++)
        if (is_sought(reach, row[k]) &&
            map_get(&reach->moves, pair(sets_find(&reach->family, any), sets_find(&reach->together, row[k])), &unused))
            return true;
    return false;
}
