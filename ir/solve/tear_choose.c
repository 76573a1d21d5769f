// tear_choose.c: the choice of tears.
//
// Purpose: in a block of n equations choose few unknowns (tears) such that the others follow by assignments.
// Method: propagate: an equation with one undetermined unknown that it can be solved for determines it; when
// none is left, take the equation with the fewest undetermined unknowns and tear the one that occurs in most
// equations (Elmqvist and Otter, ESM'94; Carpanzano, SIAM MCM 6 (2000) 1). A set-valued law is always a
// residual and the derivative it holds at zero is its tear, so that sticking is exact. In large loops the
// unknowns in most equations are torn first, so that the tears' matrix is sparse, and chains of assignments stay short
// (reaches_too_far).
// Contract: tear.h. Complexity: near linear in the block's incidence.
//
//     x + y = 3,  x - z = 1,  y*z = 2   =>   tear x; y := 3 - x, z := x - 1; residual y*z - 2
#include <string.h>

#include "ir/expr/expr_parts.h"
#include "ir/solve/tear.h"

enum {
    PATHS_LIMIT = 32,           // ways in which an assignment in a linear loop may depend on tears
    PATHS_LIMIT_NONLINEAR = 200, // the same in a loop that is iterated
    REACH_NONLINEAR = 2,        // the same in a large one: the elimination finds better pivots than sums of flows
    BENDS_LIMIT = 3             // curved functions of one another on such a way
};

enum { GUESSED_BY_TYPE = 1, GUESSED }; // Tearing.guessed

// Counting sort; equal degrees keep the order of the source.
static void
order_by_degree(Tearing *t, uint32_t n)
{
    U32Vec place = {0};
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = degree(t, i) > most ? degree(t, i) : most;
    vec_grow(&place, most + 2);
    for (uint32_t i = 0; i < n; i++)
        place.at[most - degree(t, i) + 1]++;
    for (uint32_t d = 0; d <= most; d++)
        place.at[d + 1] += place.at[d];
    vec_grow(&t->by_degree, n);
    for (uint32_t i = 0; i < n; i++)
        t->by_degree.at[place.at[most - degree(t, i)]++] = i;
    vec_free(&place);
}

// The residuals are affine in all unknowns of the block when no partial derivative contains one.
static bool
is_linear(const Tearing *t, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const LoopEquation *e = &t->equations.at[i];
        const Var *vars = t->vars.at + e->vars;
        for (uint32_t k = 0; k < e->n_vars; k++) {
            if (local_unknown(t, vars[k]) == NONE || !expr_uses_slot(t->dae->exprs, e->shape, k))
                continue;
            uint32_t used;
            const uint32_t *slot = solutions_partial_slots(t->solutions, e->shape, k, &used);
            for (uint32_t j = 0; j < used; j++)
                if (local_unknown(t, vars[slot[j]]) != NONE)
                    return false;
        }
    }
    return true;
}

void
tearing_load(Tearing *t, const uint32_t *equations, const Var *unknowns, uint32_t n)
{
    Dae *dae = t->dae;
    while (t->local_of.n < dae->nvars)
        vec_push(&t->local_of, NONE);
    for (uint32_t i = 0; i < n; i++)
        t->local_of.at[unknowns[i]] = i;
    vec_clear(&t->equations);
    vec_clear(&t->vars);
    vec_clear(&t->start);
    vec_grow(&t->start, n + 1);
    U32Vec vars = {0};
    for (uint32_t i = 0; i < n; i++) {
        LoopEquation e = {.equation = equations[i], .shape = dae_resolve(dae, equations[i], &vars)};
        e.vars = t->vars.n;
        e.n_vars = vars.n;
        e.is_law = dae->equations.at[equations[i]].kind == EQN_LAW;
        vec_append(&t->vars, vars.at, vars.n);
        for (uint32_t k = 0; k < vars.n; k++) {
            uint32_t local = local_unknown(t, vars.at[k]);
            if (local == NONE || !expr_uses_slot(dae->exprs, e.shape, k))
                continue;
            e.open++;
            t->start.at[local + 1]++;
        }
        vec_push(&t->equations, e);
    }
    for (uint32_t i = 0; i < n; i++)
        t->start.at[i + 1] += t->start.at[i];
    vec_clear(&t->incident);
    vec_grow(&t->incident, t->start.at[n]);
    U32Vec fill = {0};
    vec_append(&fill, t->start.at, n);
    for (uint32_t i = 0; i < n; i++) {
        const LoopEquation *e = &t->equations.at[i];
        for (uint32_t k = 0; k < e->n_vars; k++) {
            uint32_t local = local_unknown(t, t->vars.at[e->vars + k]);
            if (local != NONE && expr_uses_slot(dae->exprs, e->shape, k))
                t->incident.at[fill.at[local]++] = i;
        }
    }
    vec_free(&fill);
    vec_free(&vars);
    vec_clear(&t->determined);
    vec_grow(&t->determined, n);
    vec_clear(&t->queue);
    vec_clear(&t->order);
    vec_clear(&t->tears);
    vec_clear(&t->paths);
    vec_grow(&t->paths, n);
    vec_clear(&t->bends);
    vec_clear(&t->support);
    vec_clear(&t->by_degree);
    t->large = n > LARGE_BLOCK;
    if (t->large) {
        vec_grow(&t->support, n * REACH_LIMIT);
        memset(t->support.at, 0xff, sizeof *t->support.at * t->support.n);
        order_by_degree(t, n);
    }
    t->linear = is_linear(t, n);
    if (t->linear)
        tearing_scale(t, n);
    else
        vec_grow(&t->bends, n);
}

void
tearing_determine(Tearing *t, uint32_t local)
{
    t->determined.at[local] = 1;
    for (uint32_t i = t->start.at[local]; i < t->start.at[local + 1]; i++) {
        LoopEquation *e = &t->equations.at[t->incident.at[i]];
        if (--e->open == 1 && !e->used && !e->is_law)
            vec_push(&t->queue, t->incident.at[i]);
        else if (e->open > 1 && !e->used && !t->large)
            vec_push(&t->heap, t->incident.at[i]);
    }
}

// Slot of the n-th open unknown of an equation; NONE past the end.
static uint32_t
open_slot(const Tearing *t, const LoopEquation *e, uint32_t nth)
{
    for (uint32_t k = 0; k < e->n_vars; k++) {
        uint32_t local = local_unknown(t, t->vars.at[e->vars + k]);
        if (local == NONE || t->determined.at[local] || !expr_uses_slot(t->dae->exprs, e->shape, k))
            continue;
        if (!nth--)
            return k;
    }
    return NONE;
}

// The tears that the equation's other unknowns depend on, for its own unknown. False when they are too many.
static bool
inherit_support(Tearing *t, const LoopEquation *e, uint32_t local)
{
    uint32_t tears[REACH_LIMIT], count = 0;
    for (uint32_t k = 0; k < e->n_vars; k++) {
        uint32_t other = local_unknown(t, t->vars.at[e->vars + k]);
        if (other == NONE || other == local || !expr_uses_slot(t->dae->exprs, e->shape, k))
            continue;
        const uint32_t *inherited = t->support.at + (size_t)other * REACH_LIMIT;
        for (uint32_t i = 0; i < REACH_LIMIT && inherited[i] != NONE; i++) {
            uint32_t at = 0;
            while (at < count && tears[at] != inherited[i])
                at++;
            if (at == REACH_LIMIT)
                return false;
            tears[at] = inherited[i];
            count += at == count;
        }
    }
    memcpy(t->support.at + (size_t)local * REACH_LIMIT, tears, count * sizeof *tears);
    return true;
}

// What an assignment depends on: the ways in which it depends on tears, and how many curved functions of one another lie on one.
typedef struct Reach {
    uint32_t paths, bends;
} Reach;

// Adds what the equation's unknown in slot k of a nonlinear loop brings along.
static void
reach_add(const Tearing *t, const LoopEquation *e, uint32_t k, Reach *reach, uint32_t *mixed)
{
    uint32_t other = local_unknown(t, t->vars.at[e->vars + k]), used;
    bool product = false, curved = false;
    const uint32_t *slot = solutions_partial_slots(t->solutions, e->shape, k, &used);
    for (uint32_t j = 0; j < used; j++) {
        curved |= slot[j] == k;
        product |= slot[j] != k && local_unknown(t, t->vars.at[e->vars + slot[j]]) != NONE;
    }
    uint32_t bends = t->bends.at[other] + (curved && !solutions_is_bounded(t->solutions, e->shape, k));
    reach->bends = bends > reach->bends ? bends : reach->bends;
    if (product)
        *mixed = t->paths.at[other] > *mixed ? t->paths.at[other] : *mixed;
    else
        reach->paths += t->paths.at[other];
}

// Ways through products with other unknowns of the block, such as those of rotation matrices, do not add up: sizes of the factors
// are not known, and of rotations they are at most 1.
static Reach
reach_of(const Tearing *t, const LoopEquation *e, uint32_t local)
{
    Reach reach = {0};
    uint32_t mixed = 0;
    for (uint32_t k = 0; k < e->n_vars; k++) {
        uint32_t other = local_unknown(t, t->vars.at[e->vars + k]);
        if (other == NONE || other == local || !expr_uses_slot(t->dae->exprs, e->shape, k))
            continue;
        if (t->linear)
            reach.paths += t->paths.at[other];
        else
            reach_add(t, e, k, &reach, &mixed);
    }
    reach.paths = mixed > reach.paths ? mixed : reach.paths;
    return reach;
}

// In a large loop no assignment may depend on many tears, which would fill their matrix, and in none in
// many ways: errors grow along a chain of assignments (marching along a bar or across a grid multiplies them at
// every step). Where the loop is iterated, this takes errors away again, and assignments give unknowns without start values
// good ones, so that chains may be longer; but a cube of a cube of a cube leaves all bounds before an iteration begins.
// An equation beyond the bounds stays a residual, and its unknown waits for another equation or is torn. In a network
// this leaves the nodal form: potentials are tears, sums of currents residuals.
static bool
reaches_too_far(Tearing *t, const LoopEquation *e, uint32_t local)
{
    Reach reach = reach_of(t, e, local);
    uint32_t most = t->large ? (t->linear ? REACH_LIMIT : REACH_NONLINEAR) : t->linear ? PATHS_LIMIT : PATHS_LIMIT_NONLINEAR;
    if (reach.paths > most || reach.bends > BENDS_LIMIT || (t->linear && tearing_grows(t, e, local)) || (t->large && !inherit_support(t, e, local)))
        return true;
    t->paths.at[local] = reach.paths;
    if (!t->linear)
        t->bends.at[local] = (uint8_t)reach.bends;
    return false;
}

void
tearing_propagate(Tearing *t)
{
    for (uint32_t head = 0; head < t->queue.n; head++) {
        uint32_t index = t->queue.at[head];
        LoopEquation *e = &t->equations.at[index];
        uint32_t k = e->used || e->open != 1 ? NONE : open_slot(t, e, 0);
        if (k == NONE || !solutions_has(t->solutions, e->shape, t->vars.at + e->vars, k))
            continue;
        uint32_t local = local_unknown(t, t->vars.at[e->vars + k]);
        if ((t->linear && tearing_is_tiny(t, index, local, t->coefficient.at[e->vars + k])) || reaches_too_far(t, e, local))
            continue;
        e->used = true;
        vec_push(&t->order, index);
        vec_push(&t->order, local);
        tearing_determine(t, local);
    }
    vec_clear(&t->queue);
}

// The next tear of a large block: what occurs in most equations is the centre of a star of short assignments.
static uint32_t
choose_central(const Tearing *t, uint32_t *scan)
{
    for (; *scan < t->by_degree.n; ++*scan)
        if (!t->determined.at[t->by_degree.at[*scan]])
            return t->by_degree.at[*scan];
    return NONE;
}

// The next tear: from the most recently touched equation with few open unknowns, the one of highest degree.
static uint32_t
choose_tear(Tearing *t, uint32_t *scan)
{
    if (t->large)
        return choose_central(t, scan);
    const LoopEquation *best = NULL;
    // Equations touched last have the fewest open unknowns in practice; a bounded look keeps this linear.
    for (uint32_t looked = 0; t->heap.n && looked < 16; looked++) {
        const LoopEquation *e = &t->equations.at[t->heap.at[t->heap.n - 1]];
        if (e->used || e->open < 2) {
            vec_drop(&t->heap);
            continue;
        }
        if (!best || e->open < best->open)
            best = e;
        break;
    }
    if (best) {
        uint32_t chosen = NONE;
        for (uint32_t i = 0; i < best->open; i++) {
            uint32_t local = local_unknown(t, t->vars.at[best->vars + open_slot(t, best, i)]);
            if (chosen == NONE || degree(t, local) > degree(t, chosen))
                chosen = local;
        }
        return chosen;
    }
    uint32_t first = NONE, seen = 0;
    for (uint32_t i = *scan; i < t->determined.n && seen < 64; i++) {
        if (t->determined.at[i])
            continue;
        if (first == NONE)
            *scan = i;
        if (first == NONE || degree(t, i) > degree(t, first))
            first = i;
        seen++;
    }
    return first;
}

static void
tear(Tearing *t, uint32_t local)
{
    vec_push(&t->tears, local);
    t->paths.at[local] = 1;
    if (t->large)
        t->support.at[(size_t)local * REACH_LIMIT] = local;
    tearing_determine(t, local);
}

static void
find_guessed(Tearing *t)
{
    const Dae *dae = t->dae;
    vec_grow(&t->guessed, dae->nvars);
    for (uint32_t b = 0; b < dae->binds.n; b++) {
        const Bind *bind = &dae->binds.at[b];
        bool negative;
        if (bind->attr != ATTR_START)
            continue;
        bind_each(bind, var) {
            uint8_t *guessed = &t->guessed.at[dae_alias(dae, var, &negative)], by = bind->level == LEVEL_OF_TYPE ? GUESSED_BY_TYPE : GUESSED;
            *guessed = by > *guessed ? by : *guessed;
        }
    }
}

// A start value is a guess where an iteration begins: unknowns that the model gives one are iterated on, those whose types alone have one after the others,
// as far as these do not determine them. A large affine loop forgets where it began.
static void
tear_guessed(Tearing *t, const Var *unknowns, uint32_t n)
{
    if (t->large && t->linear)
        return;
    if (!t->guessed.n)
        find_guessed(t);
    for (uint8_t by = GUESSED; by >= GUESSED_BY_TYPE; by--)
        for (uint32_t i = 0; i < n; i++) {
            if (t->determined.at[i] || unknowns[i] >= t->guessed.n || t->guessed.at[unknowns[i]] != by)
                continue;
            tear(t, i);
            tearing_propagate(t);
        }
}

void
tearing_choose(Tearing *t, const Var *unknowns, uint32_t n)
{
    vec_clear(&t->heap);
    // The derivative that a law holds at zero is iterated on directly.
    for (uint32_t i = 0; i < n; i++) {
        LoopEquation *e = &t->equations.at[i];
        if (!e->is_law)
            continue;
        uint32_t law = 0;
        map_get(&t->law_of, e->equation, &law);
        const Law *at = &t->dae->laws.at[law];
        Var x = at->x;
        bool negative;
        for (uint8_t level = 0; level < at->level; level++)
            x = t->dae->var_der.at[dae_alias(t->dae, x, &negative)];
        uint32_t local = local_unknown(t, dae_alias(t->dae, x, &negative));
        if (local != NONE && !t->determined.at[local])
            tear(t, local);
    }
    for (uint32_t i = 0; i < n; i++)
        if (t->equations.at[i].open == 1 && !t->equations.at[i].is_law)
            vec_push(&t->queue, i);
    tearing_propagate(t);
    tear_guessed(t, unknowns, n);
    uint32_t scan = 0;
    for (uint32_t next; (next = choose_tear(t, &scan)) != NONE;) {
        tear(t, next);
        tearing_propagate(t);
    }
}
