// initial_system.c: init: the problem of initialisation.
//
// Purpose: a square system for everything at the start: all equations, the initial equations, fixed start
// values, and, for what is still free, start values of states chosen by StateSelect and by whether a start
// was written.
// Method: maximum matching of what the user demands (initial_conditions.c, start_values.c); what is missing then is taken from start
// values (initial_defaults.c); what is too much is left out where it follows from the rest (implied_starts.c).
// Contract: requires alias, index, states; provides a matched, sorted Problem. Complexity: linear for the
// usual case in which a missing condition is found in one step.
#include "ir/expr/expr_calculus.h"
#include "ir/initial/initial_inner.h"
#include "ir/base/diag.h"
#include "ir/index/index.h"

static void
mark_unknowns(Dae *dae, const U32Vec *pres, Problem *problem)
{
    vec_clear(&problem->unknown);
    vec_grow(&problem->unknown, dae->nvars);
    bool negative;
    for (Var var = 0; var < dae->nvars; var++) {
        VarKind kind = dae_kind(dae, var);
        bool unknown = (kind == VAR_CONTINUOUS || kind == VAR_DISCRETE) && dae->var_pre_of.at[var] == NONE
                       && !(dae->var_flags.at[var] & VARF_REMOVED) && dae_alias(dae, var, &negative) == var;
        problem->unknown.at[var] = unknown || dae->var_flags.at[var] & VARF_FREE;
    }
    for (uint32_t i = 0; i < pres->n; i++)
        problem->unknown.at[dae_alias(dae, pres->at[i], &negative)] = 1;
    for (uint32_t i = 0; i < dae->delays.n; i++)
        problem->unknown.at[dae->delays.at[i].value] = dae->delays.at[i].weight == NONE;
    for (uint32_t i = 0; i < 2 * dae->transports.n; i++) {
        const TransportEnd *end = &dae->transports.at[i / 2].end[i % 2];
        problem->unknown.at[end->leaves] = problem->unknown.at[end->behind] = 1;
    }
    for (uint32_t i = 0; i < dae->laws.n; i++)
        problem->unknown.at[dae->laws.at[i].mode] = 0;
    for (uint32_t i = 0; i < dae->laws.n; i++)
        if (dae->laws.at[i].disk == 1)
            problem->unknown.at[dae->laws.at[i].near] = 0;
}

enum { LOOSENED = 64 }; // conditions of a mechanism at most that constraints already imply

static void
fill_incidence(Dae *dae, Problem *problem)
{
    vec_free(&problem->incidence.start);
    vec_free(&problem->incidence.column);
    vec_free(&problem->incidence.match_end);
    vec_free(&problem->var_of);
    vec_free(&problem->equation_of);
    problem_incidence(dae, problem);
}

// An unknown that has no start value of a state to fall back on (an acceleration that a mass of zero multiplies).
static bool
leaves_open(const Problem *problem, uint32_t nvars, const uint8_t *state)
{
    for (Var var = 0; var < nvars; var++)
        if (problem->unknown.at[var] && problem->equation_of.at[var] == NONE && !state[var])
            return true;
    return false;
}

// Matches what is said about the start. States are matched last, so that they stay free for their start values.
static bool
match_start(Dae *dae, const Reduction *reduction, const U32Vec *pres, Problem *problem)
{
    U8Vec rank = {0};
    mark_unknowns(dae, pres, problem);
    fill_incidence(dae, problem);
    bool narrowed = initial_take_branches(dae, problem);
    vec_grow(&rank, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++)
        rank.at[var] = var < reduction->state.n && reduction->state.at[var];
    bool good = problem_match(problem, dae->nvars, rank.at) == 0;
    if (narrowed && (!good || leaves_open(problem, dae->nvars, rank.at))) {
        fill_incidence(dae, problem);
        good = problem_match(problem, dae->nvars, rank.at) == 0;
    }
    vec_free(&rank);
    return good;
}

// No other condition than start values of states: no law, no when-equation, no memory, no parameter to be found.
static bool
starts_states(Dae *dae, const Reduction *reduction, const Problem *problem)
{
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        const Equation *at = &dae->equations.at[problem->equations.at[i]];
        bool negative;
        if (at->kind != EQN_INITIAL)
            continue;
        Var var = at->generated ? dae_alias(dae, dae->rows.at[at->row], &negative) : NONE;
        if (var == NONE || var >= reduction->state.n || !reduction->state.at[var])
            return false;
    }
    return true;
}

// Whether the unknown of a block of one equation follows from it without iteration. `solved` remembers it per shape and slot.
static bool
follows_explicitly(Dae *dae, uint32_t equation, Var var, U32Vec *vars, Map *solved)
{
    Expr shape = dae_resolve(dae, equation, vars), divisor;
    uint32_t k = 0, known;
    while (k < vars->n && vars->at[k] != var)
        k++;
    if (k == vars->n)
        return false;
    uint64_t key = (uint64_t)shape << 32 | k;
    if (!map_get(solved, key, &known)) {
        known = expr_solve(dae->exprs, shape, k, &divisor) != 0;
        map_put(solved, key, known);
    }
    return known;
}

// A start value that the user has written for something other than a state gives way to others where nothing is left for it to determine;
// where no iteration begins there it has no effect.
static void
find_without_effect(Dae *dae, const U32Vec *start_of, Problem *problem)
{
    U32Vec vars = {0};
    Map solved = {0};
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++) {
        uint32_t first = problem->block_start.at[b], position = problem->sorted.at[first], equation = problem->equations.at[position];
        Var var = problem->var_of.at[position];
        if (problem->block_start.at[b + 1] - first == 1 && dae->equations.at[equation].kind == EQN_NORMAL && var < start_of->n
            && start_of->at[var] != NONE && dae_kind(dae, var) == VAR_CONTINUOUS
            && !sources_in_library(dae->sources, dae->binds.at[start_of->at[var]].span.lo) && follows_explicitly(dae, equation, var, &vars, &solved))
            vec_push(&problem->without_effect, var);
    }
    map_free(&solved);
    vec_free(&vars);
}

// Iterations begin at the start value of one of a variable's names: others that differ are told.
static void
tell_loop_starts(Dae *dae, const U32Vec *start_of, const Problem *problem, Diags *diags)
{
    U32Vec vars = {0}, holder = {0};
    U8Vec iterated = {0};
    Map solved = {0};
    bool any = false, negative;
    vec_grow(&iterated, dae->nvars);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        for (uint32_t i = problem->block_start.at[b]; i < problem->block_start.at[b + 1]; i++) {
            uint32_t position = problem->sorted.at[i], equation = problem->equations.at[position];
            Var var = problem->var_of.at[position];
            bool alone = problem->block_start.at[b + 1] - problem->block_start.at[b] == 1;
            iterated.at[var] = dae_kind(dae, var) == VAR_CONTINUOUS && !(alone && follows_explicitly(dae, equation, var, &vars, &solved));
            any = any || iterated.at[var];
        }
    if (any)
        start_value_holders(dae, start_of, &holder);
    for (Var var = 0; any && var < start_of->n && !diags_full(diags); var++) {
        Var to = dae_alias(dae, var, &negative);
        if (iterated.at[to] && start_of->at[var] != NONE)
            initial_tell_start(dae, start_of, holder.at[to], var, diags);
    }
    vec_free(&vars);
    vec_free(&holder);
    vec_free(&iterated);
    map_free(&solved);
}

bool
pass_init(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags)
{
    U32Vec start_of = {0};
    uint32_t n = dae->equations.n;
    dae->assemble &= reduction->invariants.n > 0;
    InitialStates states = {0};
    initial_conditions(dae, problem, &states);
    U32Vec pres = {0};
    start_value_binds(dae, &start_of);
    start_values_fixed(dae, problem, &start_of, &states.given);
    start_values_parameters(dae, problem);
    start_values_pres(dae, problem, n, &start_of, &pres);
    initial_once(dae, problem);
    start_values_left(dae, problem, &start_of, &states.left, &pres);
    vec_free(&states.given);
    vec_free(&states.left);
    bool good = match_start(dae, reduction, &pres, problem);
    uint32_t loosened = 0;
    for (uint32_t k = 0; !good && k < LOOSENED && loosen_start(dae, reduction, problem, &loosened); k++)
        good = match_start(dae, reduction, &pres, problem);
    if (!good && initial_leave_out(dae, problem))
        good = match_start(dae, reduction, &pres, problem);
    vec_free(&pres);
    if (!good)
        init_report_over(dae, problem, diags);
    uint32_t open = good ? problem_unmatched(problem) : 0;
    if (good && open && initial_defaults(dae, reduction, problem, &start_of, open, diags)) {
        init_report_under(dae, problem, diags);
        good = false;
    }
    good = good && initial_discrete_starts(dae, &start_of, diags);
    if (good) {
        dae->starts_states = starts_states(dae, reduction, problem);
        problem_sort(problem);
        find_without_effect(dae, &start_of, problem);
        tell_loop_starts(dae, &start_of, problem, diags);
        init_guesses(dae, problem);
    }
    vec_free(&start_of);
    return good;
}
