// stored.c: what the elements of a model store, and which storages are in derivative causality.
//
// Purpose: messages (storage.c) and drawings (graph.c, canonical.c) tell the same storages, those of the problem that
// is simulated.
// Method: an element that differentiates a variable which is no state has lost its storage to what determines that
// variable. Elements in one flow, or on one effort, may store in a variable that alias elimination has made one: of
// these the one that the matching lets determine the derivative keeps integral causality.
// Contract: requires causality. Changes nothing.
// Complexity: linear in equations, their variables and nodes.
//
//     v1 = L1*der(i); v2 = L2*der(i)    with der(i) matched to the first    ->    L2 is dependent
#include "ir/view/stored.h"

Var
stored_base(const Dae *dae, Var var)
{
    bool negative;
    Var of = dae->var_der_of.at[dae_alias(dae, var, &negative)];
    return of == NONE ? NONE : dae_alias(dae, of, &negative);
}

bool
stored_in_kind(uint8_t kind)
{
    return kind == NODE_I || kind == NODE_C || kind == NODE_MEMORY || kind == NODE_BODY || kind == NODE_COMPONENT
           || kind == NODE_SIGNAL;
}

// Only of one-dimensional elements it is plain what they store: a body differentiates coordinates that it may share.
static bool
can_share(const Dae *dae, uint32_t node)
{
    return dae->nodes.at[node].kind == NODE_I || dae->nodes.at[node].kind == NODE_C;
}

static void
add_base(Stored *stored, const Dae *dae, uint32_t node, Var base)
{
    uint32_t first = stored->by.at[base];
    if (first == NONE)
        stored->by.at[base] = node;
    else if (first != node && can_share(dae, first) && can_share(dae, node))
        vec_push(&stored->shared, ((SharedStore){node, first, base}));
}

static void
find_stored(Stored *stored, const Dae *dae)
{
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Equation *at = &dae->equations.at[e];
        if (at->generated || at->kind != EQN_NORMAL || at->node >= dae->nodes.n)
            continue;
        uint32_t n;
        const Var *row = dae_row(dae, e, &n);
        for (uint32_t k = 0; k < n; k++) {
            Var base = stored_base(dae, row[k]);
            if (base != NONE)
                add_base(stored, dae, at->node, base);
        }
    }
}

// The element whose equation determines der(var), or NONE.
static uint32_t
determines(const Dae *dae, const Problem *problem, Var var)
{
    bool negative;
    uint32_t position = problem->equation_of.at[dae_alias(dae, dae->var_der.at[var], &negative)];
    return position == NONE ? NONE : dae->equations.at[problem->equations.at[position]].node;
}

// Of those that share a variable the matched one takes the place of the first in source order.
static void
order_shared(Stored *stored, const Dae *dae, const Problem *problem)
{
    for (uint32_t i = 0; i < stored->shared.n; i++)
        if (determines(dae, problem, stored->shared.at[i].var) == stored->shared.at[i].node)
            stored->by.at[stored->shared.at[i].var] = stored->shared.at[i].node;
    for (uint32_t i = 0; i < stored->shared.n; i++) {
        SharedStore *shared = &stored->shared.at[i];
        uint32_t keeps = stored->by.at[shared->var];
        shared->node = shared->node == keeps ? shared->other : shared->node;
        shared->other = keeps;
    }
}

// --- what determines a variable that is no state

enum { BY_MOTION = 1, BY_OTHERS = 2, BY_COORDINATE = 4 };

// The motion of inertances, what a flow source prescribes, and coordinates of what stores nothing, dampers and joints, that were chosen as states.
static uint8_t
given_by(const Dae *dae, uint32_t node)
{
    uint8_t kind = node < dae->nodes.n ? dae->nodes.at[node].kind : NODE_COMPONENT;
    bool ground = node < dae->nodes.n && dae->nodes.at[node].parts.bits & PART_ZERO;
    if (kind == NODE_R || kind == NODE_TF || kind == NODE_CONSTRAINT || ground)
        return BY_COORDINATE;
    return kind == NODE_I || kind == NODE_BODY || kind == NODE_SF ? BY_MOTION : BY_OTHERS;
}

// What the variables of block `block` follow from.
static uint8_t
block_given_by(const Dae *dae, const Problem *problem, uint32_t block, const U8Vec *by, const U8Vec *inside)
{
    uint8_t all = 0;
    for (uint32_t k = problem->block_start.at[block]; k < problem->block_start.at[block + 1]; k++) {
        uint32_t e = problem->equations.at[problem->sorted.at[k]], n;
        const Var *row = dae_row(dae, e, &n);
        uint8_t here = 0;
        bool negative;
        for (uint32_t i = 0; i < n; i++) {
            Var var = dae_alias(dae, row[i], &negative);
            here |= inside->at[var] ? 0 : by->at[var];
        }
        all |= here || problem->block_start.at[block + 1] - problem->block_start.at[block] > 1
                   ? here : given_by(dae, dae->equations.at[e].node);
    }
    return all;
}

// Per variable: by what it is given, in the order in which the problem is solved.
static void
find_given(const Stored *stored, const Dae *dae, const Problem *problem, U8Vec *by)
{
    U8Vec inside = {0};
    vec_grow(by, dae->nvars);
    vec_grow(&inside, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++)
        if (stored->by.at[var] != NONE && !problem->unknown.at[var])
            by->at[var] = given_by(dae, stored->by.at[var]);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        for (int pass = 0; pass < 2; pass++) {
            uint8_t given = pass ? block_given_by(dae, problem, b, by, &inside) : 0;
            for (uint32_t k = problem->block_start.at[b]; k < problem->block_start.at[b + 1]; k++) {
                Var var = problem->var_of.at[problem->sorted.at[k]];
                if (var != NONE && pass)
                    by->at[var] = given;
                if (var != NONE)
                    inside.at[var] = !pass;
            }
        }
    vec_free(&inside);
}

// A spring between masses whose coordinates are states takes the motion that it is given: its own displacement is another
// choice of coordinates, and its causality is integral.
static bool
takes_motion(const Dae *dae, uint32_t node, uint8_t given)
{
    uint8_t kind = dae->nodes.at[node].kind;
    return (kind == NODE_C || kind == NODE_COMPONENT) && given && !(given & BY_OTHERS);
}

// Per node: an inertance whose strokes all say that it takes efforts and gives its flow. Where a coordinate of a damper beside it is a
// state in place of its own, that is another choice of coordinates.
static void
find_integral(const Dae *dae, U8Vec *integral)
{
    vec_grow(integral, dae->nodes.n);
    for (int gives = 0; gives < 2; gives++)
        for (uint32_t b = 0; b < dae->bonds.n; b++) {
            uint32_t node = dae->bonds.at[b].component;
            if (dae->nodes.at[node].kind == NODE_I && (dae->bonds.at[b].effort_from != 2) == gives)
                integral->at[node] = !gives;
        }
}

static void
find_dependent(Stored *stored, const Dae *dae, const Problem *problem)
{
    U8Vec free_of = {0}, by = {0}, integral = {0}; // per node: it has a state of its own; per variable; per node
    vec_grow(&free_of, dae->nodes.n);
    vec_grow(&stored->dependent, dae->nodes.n);
    find_given(stored, dae, problem, &by);
    find_integral(dae, &integral);
    for (Var var = 0; var < dae->nvars; var++) {
        uint32_t node = stored->by.at[var];
        if (node == NONE || !stored_in_kind(dae->nodes.at[node].kind))
            continue;
        if (!problem->unknown.at[var])
            free_of.at[node] = 1;
        else if (!takes_motion(dae, node, by.at[var]) && !(integral.at[node] && by.at[var] == BY_COORDINATE))
            stored->dependent.at[node] = 1;
    }
    uint32_t kept = 0;
    for (uint32_t i = 0; i < stored->shared.n; i++) {
        SharedStore shared = stored->shared.at[i];
        if (!free_of.at[shared.node] && !stored->dependent.at[shared.node])
            stored->shared.at[kept++] = shared;
    }
    stored->shared.n = kept;
    for (uint32_t i = 0; i < kept; i++)
        stored->dependent.at[stored->shared.at[i].node] = 1;
    vec_free(&free_of);
    vec_free(&by);
    vec_free(&integral);
}

Stored
stored_open(const Dae *dae, const Problem *problem)
{
    Stored stored = {0};
    for (Var var = 0; var < dae->nvars; var++)
        vec_push(&stored.by, NONE);
    find_stored(&stored, dae);
    order_shared(&stored, dae, problem);
    find_dependent(&stored, dae, problem);
    return stored;
}

void
stored_free(Stored *stored)
{
    vec_free(&stored->by);
    vec_free(&stored->shared);
    vec_free(&stored->dependent);
}
