// Tear: algebraic loops to few iteration unknowns.
//
// Purpose: in a block of n equations choose few unknowns (tears) such that the others follow by assignments.
// Method: propagate: an equation with one undetermined unknown that it can be solved for determines it; when
// none is left, take the equation with the fewest undetermined unknowns and tear the one that occurs in most
// equations (Elmqvist and Otter, ESM'94; Carpanzano, SIAM MCM 6 (2000) 1). A set-valued law is always a
// residual and the derivative it holds at zero is its tear, so that sticking is exact. In large loops the
// unknowns in most equations are torn first and assignments stay short, so that the tears' matrix is sparse
// (reaches_too_far), and every residual is paired with a tear (pair.c). Loops with few tears whose residuals
// are affine are solved symbolically; small loops with luz are first given to the algebra of luz and tar.
// Contract: causal.h. Complexity: near linear in the block's incidence.
//
//     m1*a1 = f1 - p,  m2*a2 = f2 + p,  ax = a1 - a2,  law(ax, p)   =>   tear ax; explicit after substitution
#include "ir/causal.h"

#include <string.h>

#include "ir/nonsmooth.h"
#include "ir/pass/pair.h"
#include "ir/pass/solutions.h"

enum {
    ALGEBRA_LIMIT = 12,      // unknowns in a loop that is given to the algebra of luz and tar
    TEARS_LIMIT = 4,         // tears that are eliminated symbolically
    OPERATIONS_LIMIT = 400,  // size of a substituted residual that is still solved symbolically
    LARGE_BLOCK = 200,       // unknowns from which on a loop is kept sparse
    PATHS_LIMIT = 32,        // ways in which an assignment in a linear loop may depend on tears
    REACH_LIMIT = 3          // tears that an assignment in a large loop may depend on, also such ways
};

// One equation of the block: its text, and its unknowns as (slot, local unknown).
typedef struct LoopEquation {
    uint32_t equation;
    Expr shape;
    uint32_t vars, n_vars;     // range of Tearing.vars
    uint32_t open;             // unknowns not determined yet
    bool used, is_law;
} LoopEquation;

struct Tearing {
    Dae *dae;
    const Reduction *reduction;
    Solutions *solutions;
    U32Vec local_of;           // per variable: local number of a block unknown, or NONE
    VEC(LoopEquation) equations;
    U32Vec vars;               // pool of the equations' variables
    U32Vec start, incident;    // per local unknown: equations that contain it (compressed rows)
    U8Vec determined;
    U32Vec queue;              // equations with one open unknown
    U32Vec order;              // pairs (equation, local unknown) in the order found
    U32Vec tears;              // local unknowns
    bool linear;               // the residuals are affine in all unknowns of the block
    U32Vec paths;              // per determined unknown of a linear block: ways in which it depends on tears
    // of a large block, else empty:
    bool large;
    U32Vec support;            // per unknown: the tears it depends on, in REACH_LIMIT places, then NONE
    U32Vec by_degree;          // unknowns, those in most equations first
    U8Vec guessed;             // per variable: the model writes a start value for it (or for an alias); empty until asked for
    Map law_of;                // law equation -> law
    U32Vec heap;               // equations touched lately: they have few open unknowns, see choose_tear
    U32Vec union_vars;         // composing: variables of the whole block
    Map union_slot;
    U32Vec composed;           // per local unknown: its expression over union slots
};

Tearing *
tearing_create(Dae *dae, const Reduction *reduction, Solutions *solutions)
{
    Tearing *t = base_calloc(1, sizeof *t);
    t->dae = dae;
    t->reduction = reduction;
    t->solutions = solutions;
    for (uint32_t i = 0; i < dae->laws.n; i++)
        map_put(&t->law_of, dae->laws.at[i].equation, i);
    return t;
}

void
tearing_free(Tearing **tearing)
{
    Tearing *t = *tearing;
    vec_free(&t->local_of);
    vec_free(&t->equations);
    vec_free(&t->vars);
    vec_free(&t->start);
    vec_free(&t->incident);
    vec_free(&t->determined);
    vec_free(&t->queue);
    vec_free(&t->order);
    vec_free(&t->tears);
    vec_free(&t->paths);
    vec_free(&t->support);
    vec_free(&t->by_degree);
    vec_free(&t->guessed);
    map_free(&t->law_of);
    vec_free(&t->heap);
    vec_free(&t->union_vars);
    map_free(&t->union_slot);
    vec_free(&t->composed);
    free(t);
    *tearing = NULL;
}

static uint32_t
local_unknown(const Tearing *t, Var var)
{
    return var < t->local_of.n ? t->local_of.at[var] : NONE;
}

static uint32_t
degree(const Tearing *t, uint32_t local)
{
    return t->start.at[local + 1] - t->start.at[local];
}

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

static void
load_block(Tearing *t, const uint32_t *equations, const Var *unknowns, uint32_t n)
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
    vec_clear(&t->support);
    vec_clear(&t->by_degree);
    t->large = n > LARGE_BLOCK;
    if (t->large) {
        vec_grow(&t->support, n * REACH_LIMIT);
        memset(t->support.at, 0xff, sizeof *t->support.at * t->support.n);
        order_by_degree(t, n);
    }
}

static void
determine(Tearing *t, uint32_t local)
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

// The residuals are affine in all unknowns of the block when no partial derivative contains one.
static bool
block_is_linear(const Tearing *t, uint32_t n)
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

static uint32_t
count_paths(const Tearing *t, const LoopEquation *e, uint32_t local)
{
    uint32_t paths = 0;
    for (uint32_t k = 0; k < e->n_vars; k++) {
        uint32_t other = local_unknown(t, t->vars.at[e->vars + k]);
        if (other != NONE && other != local && expr_uses_slot(t->dae->exprs, e->shape, k))
            paths += t->paths.at[other];
    }
    return paths;
}

// In a large loop no assignment may depend on many tears, which would fill their matrix, and in a linear loop not in
// many ways: errors grow along a chain of assignments (marching along a bar or across a grid multiplies them at
// every step). Such an equation stays a residual, and its unknown waits for another equation or is torn. In a network
// this leaves the nodal form: potentials are tears, sums of currents residuals. A nonlinear loop is iterated, which
// takes errors away again, while assignments give unknowns without start values good ones.
static bool
reaches_too_far(Tearing *t, const LoopEquation *e, uint32_t local)
{
    uint32_t paths = t->linear ? count_paths(t, e, local) : 0;
    if (paths > (t->large ? REACH_LIMIT : PATHS_LIMIT) || (t->large && !inherit_support(t, e, local)))
        return true;
    t->paths.at[local] = paths;
    return false;
}

static void
propagate(Tearing *t)
{
    for (uint32_t head = 0; head < t->queue.n; head++) {
        uint32_t index = t->queue.at[head];
        LoopEquation *e = &t->equations.at[index];
        uint32_t k = e->used || e->open != 1 ? NONE : open_slot(t, e, 0);
        if (k == NONE || !solutions_has(t->solutions, e->shape, t->vars.at + e->vars, k))
            continue;
        uint32_t local = local_unknown(t, t->vars.at[e->vars + k]);
        if (reaches_too_far(t, e, local))
            continue;
        e->used = true;
        vec_push(&t->order, index);
        vec_push(&t->order, local);
        determine(t, local);
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
    determine(t, local);
}

static void
find_guessed(Tearing *t)
{
    const Dae *dae = t->dae;
    vec_grow(&t->guessed, dae->nvars);
    for (uint32_t b = 0; b < dae->binds.n; b++) {
        bool negative;
        if (dae->binds.at[b].attr == ATTR_START)
            bind_each(&dae->binds.at[b], var)
                t->guessed.at[dae_alias(dae, var, &negative)] = 1;
    }
}

// A start value is a guess where an iteration begins: unknowns that the model gives one are iterated on.
static void
tear_guessed(Tearing *t, const Var *unknowns, uint32_t n)
{
    if (n > LARGE_BLOCK)
        return;
    if (!t->guessed.n)
        find_guessed(t);
    for (uint32_t i = 0; i < n; i++) {
        if (t->determined.at[i] || unknowns[i] >= t->guessed.n || !t->guessed.at[unknowns[i]])
            continue;
        tear(t, i);
        propagate(t);
    }
}

static void
choose_tears(Tearing *t, const Var *unknowns, uint32_t n)
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
    propagate(t);
    tear_guessed(t, unknowns, n);
    uint32_t scan = 0;
    for (uint32_t next; (next = choose_tear(t, &scan)) != NONE;) {
        tear(t, next);
        propagate(t);
    }
}

// --- composing: residuals as expressions of the tears over a block-wide slot numbering

static uint32_t
union_slot(Tearing *t, Var var)
{
    uint32_t slot;
    if (!map_get(&t->union_slot, var, &slot)) {
        slot = t->union_vars.n;
        vec_push(&t->union_vars, var);
        map_put(&t->union_slot, var, slot);
    }
    return slot;
}

static Expr
to_union(Tearing *t, const LoopEquation *e, Expr text, bool compose)
{
    Exprs *exprs = t->dae->exprs;
    U32Vec with = {0};
    for (uint32_t k = 0; k < e->n_vars; k++) {
        Var var = t->vars.at[e->vars + k];
        uint32_t local = local_unknown(t, var);
        Expr composed = compose && local != NONE ? t->composed.at[local] : 0;
        vec_push(&with, composed ? composed : expr_slot(exprs, union_slot(t, var)));
    }
    Expr result = expr_substitute(exprs, text, with.at, with.n);
    vec_free(&with);
    return result;
}

static void
union_reset(Tearing *t, uint32_t n)
{
    vec_clear(&t->union_vars);
    map_clear(&t->union_slot);
    vec_clear(&t->composed);
    vec_grow(&t->composed, n);
}

static bool
block_nonneg(uint32_t slot, void *context)
{
    const Tearing *t = context;
    double value;
    if (slot >= t->union_vars.n)
        return false;
    Var var = t->union_vars.at[slot];
    if (dae_is_literal(t->dae, var, &value))
        return value >= 0;
    return t->dae->var_flags.at[var] & VARF_NONNEG;
}

static void
add_assign(Causal *causal, Assign assign)
{
    CausalItem item = {false, causal->assigns.n};
    vec_push(&causal->assigns, assign);
    vec_push(&causal->items, item);
}

// The only unknown of the equation that is not expressed yet; NONE when there are none or several.
static uint32_t
last_open(Tearing *t, const LoopEquation *e, uint32_t *slot)
{
    uint32_t unknown = NONE;
    for (uint32_t k = 0; k < e->n_vars; k++) {
        uint32_t local = local_unknown(t, t->vars.at[e->vars + k]);
        if (local == NONE || t->composed.at[local] || !expr_uses_slot(t->dae->exprs, e->shape, k))
            continue;
        if (unknown != NONE)
            return NONE;
        unknown = local;
        *slot = union_slot(t, t->vars.at[e->vars + k]);
    }
    return unknown;
}

// Expresses the last open unknown of an equation, if need be by inverting luz into tar.
static bool
express(Tearing *t, const LoopEquation *e)
{
    Exprs *exprs = t->dae->exprs;
    uint32_t slot = 0, unknown = last_open(t, e, &slot);
    if (unknown == NONE)
        return false;
    Expr text = to_union(t, e, e->shape, true), divisor = 0;
    Expr solved = expr_solve(exprs, text, slot, &divisor);
    if (!solved || (divisor && !causal_divides(t->dae, divisor, t->union_vars.at)))
        solved = nonsmooth_solve(exprs, text, slot, block_nonneg, t);
    if (!solved || expr_operations(exprs, solved) > OPERATIONS_LIMIT)
        return false;
    t->composed.at[unknown] = solved;
    return true;
}

// Equations with luz are used first, so that they are inverted, then the other laws of the common force; then
// what is left over is the sum of the elongations.
static uint32_t
turn_of(const Tearing *t, const LoopEquation *e, Var through)
{
    if (expr_has_op(t->dae->exprs, e->shape, OP_LUZ))
        return 0;
    for (uint32_t k = 0; k < e->n_vars; k++)
        if (t->vars.at[e->vars + k] == through)
            return 1;
    return 2;
}

// Expresses every unknown of the block through the one that composed[] starts with. Returns the equation that
// is left over, over union slots; 0 when the path breaks off.
static Expr
follow_series(Tearing *t, Var through, uint32_t n, uint32_t *left_over)
{
    bool used[ALGEBRA_LIMIT] = {false}, progress = true;
    uint32_t open = n;
    while (open > 1 && progress) {
        progress = false;
        for (uint32_t i = 0; i < 3 * n && open > 1 && !progress; i++) {
            const LoopEquation *e = &t->equations.at[i % n];
            if (used[i % n] || turn_of(t, e, through) != i / n || !express(t, e))
                continue;
            used[i % n] = progress = true;
            open--;
        }
    }
    for (uint32_t i = 0; i < n && open == 1; i++) {
        if (used[i])
            continue;
        *left_over = i;
        return to_union(t, &t->equations.at[i], t->equations.at[i].shape, true);
    }
    return 0;
}

static bool
is_single_valued(const Exprs *exprs, Expr e)
{
    return !expr_has_op(exprs, e, OP_TAR) && !expr_has_op(exprs, e, OP_SGN);
}

static void
emit_inner(Tearing *t, Causal *causal, const Var *unknowns, bool as_items);

// A series of springs with clearance has one force: found first, everything else follows by assignments.
// Equations (18)-(34): z1 - z4 in f/K12 + tar(f/K23, c) + f/K34, hence f = luz(z1 - z4, c)/(1/K12 + 1/K23 +
// 1/K34).
static bool
reduce_series(Tearing *t, Causal *causal, const Var *unknowns, uint32_t n, uint32_t through)
{
    uint32_t left_over = 0;
    union_reset(t, n);
    uint32_t slot = union_slot(t, unknowns[through]);
    t->composed.at[through] = expr_slot(t->dae->exprs, slot);
    Expr text = follow_series(t, unknowns[through], n, &left_over);
    Expr solved = text ? nonsmooth_solve(t->dae->exprs, text, slot, block_nonneg, t) : 0;
    if (!solved || !is_single_valued(t->dae->exprs, solved))
        return false;
    Assign force = causal_assign(t->dae, unknowns[through], solved, t->union_vars.at, 0);
    // With the force known, ordinary propagation must reach everything but one equation, which the force
    // used up.
    determine(t, through);
    propagate(t);
    uint32_t unused = NONE, count = 0;
    for (uint32_t i = 0; i < n; i++) {
        if (t->equations.at[i].used)
            continue;
        unused = i;
        count++;
    }
    if (count != 1)
        return false;
    force.equation = t->equations.at[unused].equation;
    add_assign(causal, force);
    emit_inner(t, causal, unknowns, true);
    return true;
}

// The algebra of luz and tar removes whole piecewise-linear loops.
static bool
reduce_by_algebra(Tearing *t, Causal *causal, const uint32_t *equations, const Var *unknowns, uint32_t n)
{
    Exprs *exprs = t->dae->exprs;
    bool has_luz = false;
    for (uint32_t i = 0; i < n; i++) {
        has_luz |= expr_has_op(exprs, t->equations.at[i].shape, OP_LUZ);
        if (t->equations.at[i].is_law)
            return false;
    }
    if (!has_luz || n > ALGEBRA_LIMIT)
        return false;
    // The common force occurs in the law of every spring, more often than any position.
    for (uint32_t wanted = n; wanted > 0; wanted--) {
        for (uint32_t i = 0; i < n; i++) {
            if (degree(t, i) != wanted)
                continue;
            if (reduce_series(t, causal, unknowns, n, i)) {
                causal->reduced++;
                return true;
            }
            load_block(t, equations, unknowns, n); // forget what the attempt determined
        }
    }
    union_reset(t, n);
    Expr texts[ALGEBRA_LIMIT], solution[ALGEBRA_LIMIT];
    uint32_t slots[ALGEBRA_LIMIT];
    for (uint32_t i = 0; i < n; i++) {
        const LoopEquation *e = &t->equations.at[i];
        texts[i] = expr_residual(exprs, to_union(t, e, e->shape, false));
    }
    for (uint32_t i = 0; i < n; i++)
        slots[i] = union_slot(t, unknowns[i]);
    if (!nonsmooth_eliminate(exprs, texts, n, slots, solution, block_nonneg, t))
        return false;
    for (uint32_t i = 0; i < n; i++)
        add_assign(causal, causal_assign(t->dae, unknowns[i], solution[i], t->union_vars.at,
                                         t->equations.at[i].equation));
    causal->reduced++;
    return true;
}

// The inner unknowns as expressions of the tears and of what is known. False when they grow too large.
static bool
compose_inner(Tearing *t, const Var *unknowns, uint32_t n)
{
    Exprs *exprs = t->dae->exprs;
    union_reset(t, n);
    for (uint32_t i = 0; i < t->order.n; i += 2) {
        const LoopEquation *e = &t->equations.at[t->order.at[i]];
        uint32_t local = t->order.at[i + 1], k = 0;
        while (t->vars.at[e->vars + k] != unknowns[local])
            k++;
        Expr solved = causal_solve(t->dae, e->shape, t->vars.at + e->vars, k);
        Expr composed = to_union(t, e, solved, true);
        if (expr_operations(exprs, composed) > OPERATIONS_LIMIT)
            return false;
        t->composed.at[local] = composed;
    }
    return true;
}

typedef struct Isolated { // tear := solution, from an equation
    uint32_t tear;        // local unknown
    Expr solution;        // over union slots
    uint32_t equation;
} Isolated;

// Isolates one of the tears that are still open in residual `text` = 0; NONE when none can be.
static uint32_t
isolate(Tearing *t, const Var *unknowns, Expr text, const bool *done, Expr *solution)
{
    for (uint32_t i = t->tears.n; i-- > 0;) {
        uint32_t slot = union_slot(t, unknowns[t->tears.at[i]]);
        if (done[i] || !expr_uses_slot(t->dae->exprs, text, slot))
            continue;
        *solution = causal_solve(t->dae, text, t->union_vars.at, slot);
        if (*solution)
            return i;
    }
    return NONE;
}

// With few tears: substitutes the inner assignments into the residuals and eliminates one tear after the
// other (Gaussian elimination on expressions). A law comes last: EQN(if mode == 0 then X else p - mode*a, 0)
// is solved for X branch by branch, and sticking gives X = 0 exactly.
static bool
solve_few_tears(Tearing *t, Causal *causal, const Var *unknowns, uint32_t n)
{
    Exprs *exprs = t->dae->exprs;
    Expr text[TEARS_LIMIT], mode = 0, held = 0;
    const LoopEquation *from[TEARS_LIMIT];
    bool done[TEARS_LIMIT] = {false};
    Isolated isolated[TEARS_LIMIT];
    uint32_t count = 0, laws = 0;
    if (t->tears.n > TEARS_LIMIT || !compose_inner(t, unknowns, n))
        return false;
    for (uint32_t pass = 0; pass < 2; pass++) { // ordinary residuals first
        for (uint32_t i = 0; i < n; i++) {
            const LoopEquation *e = &t->equations.at[i];
            if (e->used || e->is_law != (pass == 1))
                continue;
            Expr law = expr_residual(exprs, e->shape);
            if (e->is_law && (++laws > 1 || expr_op(exprs, law) != OP_IF))
                return false;
            if (e->is_law) {
                mode = to_union(t, e, expr_arg(exprs, law, 0), false);
                held = to_union(t, e, expr_arg(exprs, law, 1), false);
            }
            from[count] = e;
            text[count++] = to_union(t, e, e->is_law ? expr_arg(exprs, law, 2) : law, true);
        }
    }
    for (uint32_t i = 0; i < count; i++) {
        Expr solution = 0;
        uint32_t tear = expr_operations(exprs, text[i]) > OPERATIONS_LIMIT
            ? NONE : isolate(t, unknowns, text[i], done, &solution);
        if (tear == NONE)
            return false;
        done[tear] = true;
        // Sticking says something about X only: with another tear left, the loop stays.
        if (from[i]->is_law && held != expr_slot(exprs, union_slot(t, unknowns[t->tears.at[tear]])))
            return false;
        if (from[i]->is_law)
            solution = expr_3(exprs, OP_IF, mode, expr_const(exprs, 0), solution);
        isolated[i] = (Isolated){t->tears.at[tear], solution, from[i]->equation};
        uint32_t slot = union_slot(t, unknowns[t->tears.at[tear]]);
        for (uint32_t k = i + 1; k < count; k++)
            text[k] = expr_replace_slot(exprs, text[k], slot, solution);
    }
    for (uint32_t i = count; i-- > 0;)
        add_assign(causal, causal_assign(t->dae, unknowns[isolated[i].tear], isolated[i].solution, t->union_vars.at,
                                         isolated[i].equation));
    return true;
}

static void
emit_inner(Tearing *t, Causal *causal, const Var *unknowns, bool as_items)
{
    for (uint32_t i = 0; i < t->order.n; i += 2) {
        const LoopEquation *e = &t->equations.at[t->order.at[i]];
        const Var *vars = t->vars.at + e->vars;
        Var var = unknowns[t->order.at[i + 1]];
        uint32_t k = 0;
        while (vars[k] != var)
            k++;
        Assign assign;
        if (!solutions_assign(t->solutions, e->shape, vars, k, e->equation, &assign))
            continue; // cannot be: propagate() has asked
        if (as_items)
            add_assign(causal, assign);
        else
            vec_push(&causal->assigns, assign);
    }
}

// Residuals of a large block in the order of the tears they belong to: a residual goes with the tear that it
// contains in most ways (the balance of a node with its potential), so that the matrix of the tears has a full
// diagonal and, for networks, a symmetric pattern, which a fill-reducing ordering needs.
static void
pair_residuals(Tearing *t, U32Vec *residuals)
{
    PairInput input = {.tears = t->tears.n};
    U32Vec position = {0};
    vec_grow(&position, t->paths.n);
    for (uint32_t k = 0; k < t->tears.n; k++)
        position.at[t->tears.at[k]] = k;
    for (uint32_t r = 0; r < residuals->n; r++) {
        const LoopEquation *e = &t->equations.at[residuals->at[r]];
        vec_push(&input.start, input.uses.n);
        for (uint32_t k = 0; k < e->n_vars; k++) {
            uint32_t local = local_unknown(t, t->vars.at[e->vars + k]);
            if (local == NONE || !expr_uses_slot(t->dae->exprs, e->shape, k))
                continue;
            const uint32_t *tears = t->support.at + (size_t)local * REACH_LIMIT;
            for (uint32_t i = 0; i < REACH_LIMIT && tears[i] != NONE; i++)
                vec_push(&input.uses, position.at[tears[i]]);
        }
    }
    vec_push(&input.start, input.uses.n);
    vec_free(&position);
    vec_free(&t->support);
    vec_free(&t->paths);
    tearing_pair(&input, residuals);
}

// Constraints that were differentiated, and their derivatives: numerically they may follow from each other.
static uint32_t
count_constraints(const Tearing *t, uint32_t n)
{
    const Reduction *reduction = t->reduction;
    uint32_t count = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool constraint = false;
        for (uint32_t e = t->equations.at[i].equation; !constraint;) {
            constraint = e < reduction->derivative.n
                         && (reduction->derivative.at[e] != NONE || reduction->derivative_of.at[e] != NONE);
            if (!map_get(&t->dae->stands_for, e, &e))
                break;
        }
        count += constraint;
    }
    return count;
}

// What only the choice of tears needs; a large block gives it back before its results are written.
static void
forget_search(Tearing *t)
{
    vec_free(&t->start);
    vec_free(&t->incident);
    vec_free(&t->by_degree);
    vec_free(&t->queue);
    vec_free(&t->determined);
}

static void
emit_loop(Tearing *t, Causal *causal, const Var *unknowns, uint32_t n)
{
    Loop loop = {.inner = causal->assigns.n, .tear = causal->tears.n, .residual = causal->residuals.n,
                 .n = t->tears.n, .linear = t->linear, .constraints = count_constraints(t, n)};
    U32Vec residuals = {0};
    if (t->large)
        forget_search(t);
    emit_inner(t, causal, unknowns, false);
    loop.n_inner = causal->assigns.n - loop.inner;
    for (uint32_t i = 0; i < t->tears.n; i++)
        vec_push(&causal->tears, unknowns[t->tears.at[i]]);
    for (uint32_t i = 0; i < n; i++)
        if (!t->equations.at[i].used)
            vec_push(&residuals, i);
    if (t->large)
        pair_residuals(t, &residuals);
    for (uint32_t i = 0; i < residuals.n; i++) {
        const LoopEquation *e = &t->equations.at[residuals.at[i]];
        vec_push(&causal->residuals,
                 solutions_residual(t->solutions, e->shape, t->vars.at + e->vars, e->equation));
    }
    CausalItem item = {true, causal->loops.n};
    vec_push(&causal->loops, loop);
    vec_push(&causal->items, item);
    vec_free(&residuals);
}

void
tearing_block(Tearing *t, Causal *causal, const uint32_t *equations, const Var *unknowns, uint32_t n)
{
    load_block(t, equations, unknowns, n);
    t->linear = block_is_linear(t, n);
    if (!reduce_by_algebra(t, causal, equations, unknowns, n)) {
        choose_tears(t, unknowns, n);
        if (solve_few_tears(t, causal, unknowns, n))
            emit_inner(t, causal, unknowns, true);
        else
            emit_loop(t, causal, unknowns, n);
    }
    for (uint32_t i = 0; i < n; i++)
        t->local_of.at[unknowns[i]] = NONE;
}
