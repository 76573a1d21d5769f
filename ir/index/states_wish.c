// states_wish.c: which variables wish to be states.
//
// Purpose: what users say (stateSelect, start values), what laws need and what the model itself differentiates, over classes of aliases.
// Method: the stronger of two wishes of one class counts; a velocity and its position have one wish in common.
// Contract: states.h. Complexity: linear.
#include "ir/expr/expr_parts.h"
#include "ir/index/states.h"

static uint8_t
wish_of(StateSelect select)
{
    static const uint8_t wish[] = {[STATE_DEFAULT] = WISH_DEFAULT, [STATE_NEVER] = WISH_NEVER,
                                   [STATE_AVOID] = WISH_AVOID, [STATE_PREFER] = WISH_PREFER,
                                   [STATE_ALWAYS] = WISH_ALWAYS};
    return select <= STATE_ALWAYS ? wish[select] : WISH_DEFAULT;
}

// The stronger of two wishes of one alias class: for being a state before against it before none.
static uint8_t
join_wishes(uint8_t a, uint8_t b)
{
    static const uint8_t strength[WISHES] = {[WISH_DEFAULT] = 0, [WISH_MADE] = 1, [WISH_AVOID] = 2,
                                             [WISH_NEVER] = 3, [WISH_PREFER] = 4, [WISH_LAW] = 5, [WISH_BESIDE] = 6, [WISH_ALWAYS] = 7,
                                             [WISH_PLAY] = 1};
    return strength[a] < strength[b] ? b : a;
}

// Limits of friction that stand in an equation with the reaction of a contact. Several contacts of one body slide at velocities
// that depend on each other in some positions: they shall not all be states.
static void
find_contacts(const Dae *dae, Map *contacts)
{
    Map reactions = {0}, limits = {0};
    bool negative;
    for (uint32_t l = 0; l < dae->laws.n; l++)
        if (dae->laws.at[l].unilateral)
            map_put(&reactions, dae_alias(dae, dae->laws.at[l].p, &negative), 1);
        else if (dae_kind(dae, dae->laws.at[l].a) == VAR_CONTINUOUS)
            map_put(&limits, dae_alias(dae, dae->laws.at[l].a, &negative), 1);
    for (uint32_t e = 0; reactions.count && e < dae->equations.n; e++) {
        uint32_t n, limit = NONE, unused;
        const Var *row = dae_row(dae, e, &n);
        bool reaction = false;
        for (uint32_t k = 0; k < n; k++) {
            Var var = dae_alias(dae, row[k], &negative);
            reaction = reaction || map_get(&reactions, var, &unused);
            limit = map_get(&limits, var, &unused) ? var : limit;
        }
        if (reaction && limit != NONE)
            map_put(contacts, limit, 1);
    }
    map_free(&reactions);
    map_free(&limits);
}

void
states_collect_wishes(States *states)
{
    const Dae *dae = states->dae;
    bool negative;
    vec_grow(&states->wish, dae->nvars);
    vec_grow(&states->start, dae->nvars);
    if (dae->nvars)
        memset(states->wish.at, WISH_DEFAULT, dae->nvars);
    for (Var v = 0; v < dae->nvars; v++) {
        Var to = dae_alias(dae, v, &negative);
        uint8_t wish = dae->var_der_of.at[v] != NONE ? WISH_MADE : wish_of(dae_state_select(dae, v));
        states->wish.at[to] = join_wishes(states->wish.at[to], wish);
        if (dae->var_flags.at[v] & VARF_FIXED)
            states->start.at[to] = 2;
    }
    // What reinit() sets is to be a state where it can be one (Modelica 3.6, 8.3.6 asks for stateSelect = always).
    for (uint32_t i = 0; states->reduction->differentiated && i < dae->reinits.n; i++) {
        Var to = dae_alias(dae, dae->reinits.at[i].var, &negative);
        states->wish.at[to] = join_wishes(states->wish.at[to], WISH_PREFER);
    }
    uint32_t binds = states->reduction->differentiated ? dae->binds.n : 0; // otherwise no derivative is chosen
    for (uint32_t b = 0; b < binds; b++) {
        if (dae->binds.at[b].attr != ATTR_START)
            continue;
        bind_each(&dae->binds.at[b], var) {
            Var to = dae_alias(dae, var, &negative);
            if (!states->start.at[to])
                states->start.at[to] = 1;
        }
    }
    Map contacts = {0};
    find_contacts(dae, &contacts);
    for (uint32_t l = 0; l < dae->laws.n; l++) {
        Var to = dae_alias(dae, dae->laws.at[l].x, &negative);
        uint32_t found;
        bool contact = map_get(&contacts, dae_alias(dae, dae->laws.at[l].a, &negative), &found);
        if (dae->laws.at[l].level && !dae->laws.at[l].unilateral)
            states->wish.at[to] = join_wishes(states->wish.at[to], contact ? WISH_PREFER : WISH_LAW);
        // The force of a play is held at its limit: as a state it stays there exactly.
        to = dae_alias(dae, dae->laws.at[l].p, &negative);
        if (dae->laws.at[l].play && (states->wish.at[to] == WISH_DEFAULT || states->wish.at[to] == WISH_MADE))
            states->wish.at[to] = WISH_PLAY;
    }
    map_free(&contacts);
}

static void
share_wish(uint8_t *to, uint8_t from)
{
    uint8_t lesser = from == WISH_ALWAYS ? WISH_BESIDE : from;
    if ((*to == WISH_DEFAULT || *to == WISH_PREFER) && from >= WISH_PREFER && lesser > *to)
        *to = lesser;
}

// A variable and its velocity, der(x) = v, become states together: a wish for one is a (lesser) wish for the
// other, so that a stuck contact holds its relative position as exactly as its relative velocity. So is a start value.
void
states_pair_wishes(States *states)
{
    const Dae *dae = states->dae;
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        if (!structure_has_equation(dae, e) || expr_nslots(dae->exprs, dae->equations.at[e].shape) != 2)
            continue;
        structure_read(&states->structure, e);
        if (states->structure.vars.n != 2)
            continue;
        Var v = states->structure.vars.at[1], of = dae->var_der_of.at[states->structure.vars.at[0]];
        if (of == NONE) {
            v = states->structure.vars.at[0];
            of = dae->var_der_of.at[states->structure.vars.at[1]];
        }
        if (of == NONE || dae_kind(dae, v) != VAR_CONTINUOUS || dae->var_der_of.at[v] != NONE)
            continue;
        share_wish(&states->wish.at[of], states->wish.at[v]);
        share_wish(&states->wish.at[v], states->wish.at[of]);
        if (states->start.at[of] || states->start.at[v]) {
            states->start.at[of] |= !states->start.at[of];
            states->start.at[v] |= !states->start.at[v];
        }
    }
}
