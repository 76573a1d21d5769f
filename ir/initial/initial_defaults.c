// initial_defaults.c: start values taken as conditions where something is missing.
//
// Purpose: what nothing else determines starts where its start value says. Method: each missing condition is `state = start`, accepted
// when an augmenting path exists (matroid exchange: what was matched stays matched); candidates in the order of StateSelect and of
// whether, and by whom, a start was written.
// Contract: initial_inner.h; the problem has a maximum matching. Complexity: linear for the usual case in which a missing condition is
// found in one step; otherwise a search for each.
#include "ir/initial/initial_inner.h"
#include "ir/base/diag.h"
#include "ir/structure/structure.h"

#include <math.h>
#include <stdlib.h>

typedef struct Search { // one depth-first search for an augmenting path
    Problem *problem;
    U32Vec stamp;       // per variable: number of the search that saw it
    U32Vec stack, edge; // positions on the path and the edge each is at
    uint32_t round;
} Search;

static bool
match_with(Search *search, uint32_t position)
{
    Problem *problem = search->problem;
    search->round++;
    vec_clear(&search->stack);
    vec_clear(&search->edge);
    vec_push(&search->stack, position);
    vec_push(&search->edge, problem->incidence.start.at[position]);
    while (search->stack.n) {
        uint32_t at = vec_last(&search->stack), *edge = &vec_last(&search->edge);
        if (*edge == problem->incidence.match_end.at[at]) {
            vec_drop(&search->stack);
            vec_drop(&search->edge);
            continue;
        }
        Var var = problem->incidence.column.at[(*edge)++];
        if (search->stamp.at[var] == search->round)
            continue;
        search->stamp.at[var] = search->round;
        uint32_t holder = problem->equation_of.at[var];
        if (holder != NONE) {
            vec_push(&search->stack, holder);
            vec_push(&search->edge, problem->incidence.start.at[holder]);
            continue;
        }
        // Found: every position on the path takes the variable its last edge pointed at.
        for (uint32_t i = 0; i < search->stack.n; i++) {
            uint32_t p = search->stack.at[i];
            Var taken = problem->incidence.column.at[search->edge.at[i] - 1];
            problem->var_of.at[p] = taken;
            problem->equation_of.at[taken] = p;
        }
        return true;
    }
    return false;
}

typedef struct Candidate {
    Var var;
    uint32_t priority; // smaller is better
} Candidate;

static int
candidate_compare(const void *a, const void *b)
{
    const Candidate *x = a, *y = b;
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    return x->var < y->var ? -1 : x->var > y->var;
}

// The variable whose start is taken when nothing is said about a state: itself, as a rule.
static Var
started_by(const Dae *dae, const Problem *problem, Var state)
{
    Var other;
    bool negative;
    if (!map_get(&dae->started_by, state, &other))
        return state;
    other = dae_alias(dae, other, &negative);
    return problem->unknown.at[other] ? other : state;
}

// Where constraints choose the states, as many of each depth (positions, velocities) are free as there are more of them than
// constraints. More conditions than that could be satisfied by values of another depth alone: of the force in a rod by the
// positions at its end, say.
typedef struct Freedom {
    U32Vec left;     // per depth: conditions that may still be added
    bool limited;    // there are constraints that choose states
} Freedom;

static uint32_t
depth_of(const Dae *dae, Var state)
{
    uint32_t depth = 0;
    for (Var v = structure_der(dae, state); v != NONE; v = structure_der(dae, v))
        depth++;
    return depth;
}

static uint32_t *
freedom_at(Freedom *freedom, uint32_t depth)
{
    if (depth >= freedom->left.n)
        vec_grow(&freedom->left, depth + 1 - freedom->left.n);
    return &freedom->left.at[depth];
}

static void
use_freedom(Freedom *freedom, uint32_t depth)
{
    uint32_t *left = freedom_at(freedom, depth);
    *left -= *left > 0;
}

static bool
is_state(const Reduction *reduction, Var var)
{
    return var < reduction->state.n && reduction->state.at[var];
}

static void
find_freedom(Dae *dae, const Reduction *reduction, const Problem *problem, Freedom *freedom)
{
    bool negative;
    freedom->limited = reduction->invariants.n > 0;
    for (Var var = 0; freedom->limited && var < reduction->state.n; var++)
        if (reduction->state.at[var])
            ++*freedom_at(freedom, depth_of(dae, var));
    for (uint32_t k = 0; k < reduction->invariants.n; k++)
        use_freedom(freedom, reduction->invariant_depth.at[k]);
    for (uint32_t i = 0; freedom->limited && i < problem->equations.n; i++) {
        const Equation *at = &dae->equations.at[problem->equations.at[i]];
        Var var = at->kind == EQN_INITIAL && at->generated ? dae_alias(dae, dae->rows.at[at->row], &negative) : NONE;
        if (var != NONE && is_state(reduction, var))
            use_freedom(freedom, depth_of(dae, var));
    }
}

typedef struct Defaults {
    Dae *dae;
    const Reduction *reduction;
    Problem *problem;
    const U32Vec *start_of;
    U32Vec holder;
    Search search;
    Freedom freedom;
    Map taken;         // representative -> the variable whose start value was taken for it
} Defaults;

// `var = start`, where something is missing for it.
static bool
add_default(Defaults *defaults, Var var)
{
    Dae *dae = defaults->dae;
    Problem *problem = defaults->problem;
    uint32_t position = problem->equations.n;
    vec_push(&problem->incidence.column, var);
    vec_push(&problem->incidence.match_end, problem->incidence.column.n);
    vec_push(&problem->incidence.start, problem->incidence.column.n);
    vec_push(&problem->var_of, NONE);
    if (!match_with(&defaults->search, position)) {
        vec_drop(&problem->incidence.column);
        vec_drop(&problem->incidence.start);
        vec_drop(&problem->incidence.match_end);
        vec_drop(&problem->var_of);
        return false;
    }
    // The equation is that of the alias, or of its pre(); its sign comes with it.
    Var of = dae->var_pre_of.at[var], held = defaults->holder.at[of == NONE ? var : of];
    Var from = held == NONE ? var : of == NONE ? held : initial_pre(dae, held);
    const Bind *bind = held == NONE ? NULL : &dae->binds.at[defaults->start_of->at[held]];
    vec_push(&problem->assumed, dae->equations.n);
    if (bind && of == NONE)
        map_put(&defaults->taken, var, from);
    start_value_add(dae, problem, from, bind, dae_var_span(dae, var));
    if (defaults->freedom.limited && is_state(defaults->reduction, var))
        use_freedom(&defaults->freedom, depth_of(dae, var));
    return true;
}

// --- start values that contradict each other

// Whether the start values of two names of one variable are numbers that differ.
static bool
contradict(Dae *dae, const U32Vec *start_of, Var a, Var b, double *first, double *second)
{
    const Bind one = dae->binds.at[start_of->at[a]], other = dae->binds.at[start_of->at[b]];
    bool negative_a, negative_b;
    if (!dae_known_expr(dae, one.shape, dae->rows.at + one.row, first)
        || !dae_known_expr(dae, other.shape, dae->rows.at + other.row, second))
        return false;
    dae_alias(dae, a, &negative_a);
    dae_alias(dae, b, &negative_b);
    double same = negative_a == negative_b ? *second : -*second;
    return fabs(*first - same) > 1e-12 * fabs(same);
}

void
initial_tell_start(Dae *dae, const U32Vec *start_of, Var from, Var var, Diags *diags)
{
    bool negative, turned;
    double value, other;
    const Bind *lost = &dae->binds.at[start_of->at[var]];
    if (from == var || sources_in_library(dae->sources, lost->span.lo) || !contradict(dae, start_of, from, var, &value, &other))
        return;
    dae_alias(dae, var, &negative);
    dae_alias(dae, from, &turned);
    Diag *diag = diag_add(diags, W1604, lost->span, "'%s' starts at %g and '%s', another name for %s, at %g: the start value of '%s' counts",
                          dae_name(dae, var), other, dae_name(dae, from),
                          negative == turned ? "it" : "its negative", value, dae_name(dae, from));
    diag_note(diag, dae->binds.at[start_of->at[from]].span, "this one counts");
    diag_help(diag, "remove one of them, or write fixed = true beside the one that is meant");
}

// One variable with several names starts where one of them says.
static void
warn_contradictions(Dae *dae, const U32Vec *start_of, Map *taken, Diags *diags)
{
    for (Var var = 0; var < start_of->n && !diags_full(diags); var++) {
        bool negative;
        Var to = dae_alias(dae, var, &negative), from;
        if (start_of->at[var] != NONE && map_get(taken, to, &from))
            initial_tell_start(dae, start_of, from, var, diags);
    }
}

// --- discrete variables

// Both start values are to hold at the start: false after a message where they cannot. In a library of others, where the user can mend nothing, one
// counts, which is told: the specification has fixed start values of pre(a) and pre(b), and does not say of a = b that these are equal.
static bool
fixed_agree(Dae *dae, const U32Vec *start_of, Var from, Var var, Diags *diags)
{
    double value, other;
    bool negative, turned;
    if (!(dae->var_flags.at[from] & VARF_FIXED) || !contradict(dae, start_of, from, var, &value, &other))
        return true;
    if (sources_is_found(dae->sources, dae->binds.at[start_of->at[var]].span.lo)) {
        initial_tell_start(dae, start_of, from, var, diags);
        return true;
    }
    dae_alias(dae, var, &negative);
    dae_alias(dae, from, &turned);
    Diag *diag = diag_add(diags, E0601, dae->binds.at[start_of->at[var]].span,
                          "the initial conditions are over-determined: '%s' is another name for %s'%s', and both start values are fixed",
                          dae_name(dae, var), negative == turned ? "" : "the negative of ", dae_name(dae, from));
    diag_note(diag, dae->binds.at[start_of->at[from]].span, "the other one");
    diag_help(diag, "remove one of the fixed = true");
    return false;
}

bool
initial_discrete_starts(Dae *dae, const U32Vec *start_of, Diags *diags)
{
    U32Vec holder = {0};
    U8Vec remembered = {0};
    bool negative, good = true, any = false;
    vec_grow(&remembered, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++)
        if (dae->var_pre_of.at[var] != NONE) {
            Var of = dae_alias(dae, dae->var_pre_of.at[var], &negative);
            remembered.at[of] = 1;
            any |= dae_kind(dae, of) == VAR_DISCRETE;
        }
    if (any)
        start_value_holders(dae, start_of, &holder);
    for (Var var = 0; any && var < start_of->n && !diags_full(diags); var++) {
        Var to = dae_alias(dae, var, &negative), from = holder.at[to];
        bool fixed = dae->var_flags.at[var] & VARF_FIXED;
        if (start_of->at[var] == NONE || from == var || dae_kind(dae, to) != VAR_DISCRETE || !remembered.at[to])
            continue;
        if (fixed)
            good = fixed_agree(dae, start_of, from, var, diags) && good;
        else if (!(dae->var_flags.at[from] & VARF_FIXED))
            initial_tell_start(dae, start_of, from, var, diags);
    }
    vec_free(&holder);
    vec_free(&remembered);
    return good;
}

// What comes first: start values of states that somebody has written in a declaration, then those of other variables, further out before deeper inside
// (Modelica specification 3.6, section 8.6.2), then start values that types and the library give to states and to variables that it would like to be states
// (that an elastic joint begins without strain), zeros of states that nobody has written, and other start values of types and the library, which are guesses.
static uint32_t
turn_of(const Defaults *defaults, Var var, bool state)
{
    enum { RANKS = 8, WRITTEN = RANKS * (LEVEL_OF_TYPE + 1), USUAL = 2 * WRITTEN };
    Var holder = defaults->holder.at[var];
    if (holder == NONE)
        return USUAL + RANKS;
    const Bind *bind = &defaults->dae->binds.at[defaults->start_of->at[holder]];
    if (bind->level != LEVEL_OF_TYPE && !sources_in_library(defaults->dae->sources, bind->span.lo))
        return state ? 0 : WRITTEN + RANKS * dae_start_level(defaults->dae, bind);
    StateSelect select = dae_state_select(defaults->dae, var);
    return state || select == STATE_PREFER || select == STATE_ALWAYS ? USUAL : USUAL + 2 * RANKS;
}

uint32_t
initial_defaults(Dae *dae, const Reduction *reduction, Problem *problem, const U32Vec *start_of, uint32_t open, Diags *diags)
{
    VEC(Candidate) candidates = {0};
    Defaults defaults = {.dae = dae, .reduction = reduction, .problem = problem, .start_of = start_of, .search = {.problem = problem}};
    start_value_holders(dae, start_of, &defaults.holder);
    find_freedom(dae, reduction, problem, &defaults.freedom);
    static const uint32_t rank[] = {[STATE_ALWAYS] = 0, [STATE_PREFER] = 1, [STATE_DEFAULT] = 2,
                                    [STATE_AVOID] = 3, [STATE_NEVER] = 4};
    for (Var var = 0; var < problem->unknown.n; var++) {
        if (problem->unknown.at[var] && dae->var_pre_of.at[var] != NONE)
            vec_push(&candidates, ((Candidate){var, 0}));
        if (!problem->unknown.at[var] || dae_kind(dae, var) != VAR_CONTINUOUS)
            continue;
        bool state = is_state(reduction, var);
        bool declared = dae->var_group.at[var] != NONE;
        bool has_start = defaults.holder.at[var] != NONE;
        if (!state && !(declared && has_start))
            continue;
        Candidate c = {has_start ? var : started_by(dae, problem, var),
                       turn_of(&defaults, var, state) + rank[dae_state_select(dae, var)]};
        vec_push(&candidates, c);
    }
    if (candidates.n)
        qsort(candidates.at, candidates.n, sizeof *candidates.at, candidate_compare);
    vec_grow(&defaults.search.stamp, dae->nvars);
    for (int round = 0; round < 2; round++)
        for (uint32_t i = 0; i < candidates.n && open; i++) {
            Var var = candidates.at[i].var;
            bool limited = defaults.freedom.limited && is_state(reduction, var);
            if (round == 0 ? !limited || *freedom_at(&defaults.freedom, depth_of(dae, var)) > 0 : limited)
                open -= add_default(&defaults, var);
        }
    if (defaults.taken.count)
        warn_contradictions(dae, start_of, &defaults.taken, diags);
    map_free(&defaults.taken);
    vec_free(&defaults.search.stamp);
    vec_free(&defaults.search.stack);
    vec_free(&defaults.search.edge);
    vec_free(&defaults.holder);
    vec_free(&defaults.freedom.left);
    vec_free(&candidates);
    return open;
}
