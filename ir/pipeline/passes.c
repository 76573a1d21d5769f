// passes.c: the table of passes.def, and what the passes that need or make more than the model work with.
//
// Purpose: passes that take only the model are rows; the others have here a function with the one form that the table asks for. Method:
// none: each takes what it needs from the compilation's record and puts back what it made.
// Contract: pipeline.h. Complexity: that of the passes; taking the parts of the problem is linear.
#include "ir/elements/elements.h"
#include "ir/pipeline/pipeline.h"

#include "ir/bonds/bonds.h"
#include "ir/clocks/clocks.h"
#include "ir/index/jumps.h"
#include "ir/operator/operator.h"

static bool
run_energy(Compilation *c)
{
    return pass_energy(c->dae, c->diags, &c->motion, c->verify ? &c->record : NULL);
}

static bool
run_bonds(Compilation *c)
{
    return pass_bonds(c->dae, c->diags);
}

static bool
run_machines(Compilation *c)
{
    return pass_machines(c->dae, c->list_clocks ? &c->clocks : NULL, c->diags);
}

// Equations are as they are written from here on, for those who look at the results.
static bool
run_clocks(Compilation *c)
{
    if (!pass_clocks(c->dae, c->list_clocks ? &c->clocks : NULL, c->diags))
        return false;
    if (c->checked && (!c->check_most || c->dae->equations.n <= c->check_most))
        c->check = check_create(c->dae);
    return true;
}

static bool
run_delays(Compilation *c)
{
    return pass_delays(c->dae, c->settable, c->diags);
}

static bool
run_describe(Compilation *c)
{
    if (c->audit || c->describe)
        describe_nodes(c->dae);
    return true;
}

static bool
run_momenta(Compilation *c)
{
    if (c->audit)
        momenta_add(c->dae);
    return true;
}

static bool
run_index(Compilation *c)
{
    return pass_index(c->dae, &c->reduction, c->diags);
}

static bool
run_states(Compilation *c)
{
    return pass_states(c->dae, &c->reduction, c->diags);
}

// A rate that is held against the equations it takes the place of: those of the library are when the passes are looked at, others always. NULL: none.
static const Rate *
doubted_rate(const Compilation *c)
{
    for (uint32_t i = 0; i < c->dae->rates.n; i++)
        if (c->verify || !sources_in_library(c->dae->sources, c->dae->rates.at[i].span.lo))
            return &c->dae->rates.at[i];
    return NULL;
}

static bool
run_declared(Compilation *c)
{
    const Rate *doubted = doubted_rate(c);
    Snapshot before = {0};
    Out why = {0};
    if (doubted)
        snapshot_take(c->dae, &before);
    declared_rates_apply(c->dae, &c->reduction);
    bool good = !doubted || snapshot_implied(c->dae, &before, &c->implied, &why);
    if (!good)
        diag_add(c->diags, E0516, doubted->span, "a declared rate is not what the model makes it: %s", why.text);
    out_free(&why);
    snapshot_free(&before);
    return good;
}

// The next row of the part's incidence: row i of the whole, less the columns that are no unknowns of the
// part.
static void
take_row(const Incidence *whole, uint32_t i, const U8Vec *unknown, Incidence *part)
{
    vec_push(&part->start, part->column.n);
    for (uint32_t k = whole->start.at[i]; k < whole->start.at[i + 1]; k++) {
        if (k == whole->match_end.at[i])
            vec_push(&part->match_end, part->column.n);
        if (unknown->at[whole->column.at[k]])
            vec_push(&part->column, whole->column.at[k]);
    }
    if (part->match_end.n < part->start.n)
        vec_push(&part->match_end, part->column.n);
}

static uint32_t
count_determined(const Compilation *c, bool discrete)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < c->problem.equations.n; i++)
        n += (dae_kind(c->dae, c->problem.var_of.at[i]) == VAR_DISCRETE) == discrete;
    return n;
}

// The part of the matched problem that determines discrete, or continuous, variables; sorted on its own,
// because the other part's variables are known while it is evaluated.
static void
take_part(Compilation *c, Problem *part, bool discrete)
{
    Problem *whole = &c->problem;
    uint32_t n = count_determined(c, discrete);
    if (n == whole->equations.n) { // nothing has to be left out, and it is sorted
        problem_copy(whole, part);
        return;
    }
    vec_grow(&part->unknown, c->dae->nvars);
    vec_fill(&part->equation_of, c->dae->nvars, NONE);
    vec_reserve(&part->equations, n);
    vec_reserve(&part->var_of, n);
    vec_reserve(&part->incidence.start, n + 1);
    vec_reserve(&part->incidence.match_end, n);
    vec_reserve(&part->incidence.column, n);
    for (uint32_t i = 0; i < whole->equations.n; i++) {
        Var var = whole->var_of.at[i];
        if ((dae_kind(c->dae, var) == VAR_DISCRETE) != discrete)
            continue;
        part->unknown.at[var] = 1;
        part->equation_of.at[var] = part->equations.n;
        vec_push(&part->equations, whole->equations.at[i]);
        vec_push(&part->var_of, var);
    }
    for (uint32_t i = 0; i < whole->equations.n; i++)
        if ((dae_kind(c->dae, whole->var_of.at[i]) == VAR_DISCRETE) == discrete)
            take_row(&whole->incidence, i, &part->unknown, &part->incidence);
    vec_push(&part->incidence.start, part->incidence.column.n);
    problem_sort(part);
}

static bool
run_causality(Compilation *c)
{
    return pass_causality(c->dae, &c->reduction, &c->problem, c->diags);
}

static bool
run_rates(Compilation *c)
{
    return monitors_add(c->dae, &c->reduction, &c->problem, c->diags)
           && (!c->audit || rates_add(c->dae, &c->reduction, &c->problem, c->diags));
}

static bool
run_parts(Compilation *c)
{
    jumps_of_reinits(c->dae, &c->reduction, &c->problem, c->diags);
    take_part(c, &c->continuous, false);
    problem_couple(c->dae, &c->reduction, &c->continuous);
    take_part(c, &c->discrete, true);
    return variability_of_discretes(c->dae, &c->discrete, c->diags) && whole_numbers(c->dae, &c->discrete, false, c->diags);
}

static bool
run_detach(Compilation *c)
{
    if (c->settable)
        starts_detach(c->dae, &c->reduction);
    return true;
}

static bool
run_init(Compilation *c)
{
    if (!pass_init(c->dae, &c->reduction, &c->initial, c->diags))
        return false;
    problem_couple(c->dae, &c->reduction, &c->initial);
    return whole_numbers(c->dae, &c->initial, true, c->diags);
}

static bool
run_solve(Compilation *c)
{
    causal_make(c->dae, &c->reduction, &c->continuous, NULL, &c->dynamics);
    causal_make(c->dae, &c->reduction, &c->discrete, NULL, &c->discretes);
    causal_make(c->dae, &c->reduction, &c->initial, &c->dynamics, &c->init);
    return causal_consistent(c->dae, &c->dynamics, c->diags);
}

// Matchings and orders are in the causal forms by now, and lowering needs the memory; the list of equations is kept.
static void
forget_problems(Compilation *c)
{
    U32Vec equations = c->problem.equations;
    c->problem.equations = (U32Vec){0};
    problem_free(&c->problem);
    c->problem.equations = equations;
    problem_free(&c->continuous);
    problem_free(&c->discrete);
    problem_free(&c->initial);
}

static bool
run_lower(Compilation *c)
{
    if (!c->keep_problems)
        forget_problems(c);
    LoweringInput input = {.dae = c->dae, .reduction = &c->reduction, .dynamics = &c->dynamics,
                           .discrete = &c->discretes, .init = &c->init, .equations = c->problem.equations.n,
                           .variables = c->variables, .results = c->results, .parameters = c->parameters,
                           .settable = c->settable, .audit = c->audit, .tangents = c->tangents, .outside = c->outside, .names = c->names};
    c->sys = pass_lower(&input, c->diags);
    if (c->sys && c->check)
        check_bind(c->check, c->dae, c->sys);
    return c->sys != NULL;
}

#define PASS(pass, needs, gives, text) {.name = #pass, .doc = text, .requires = FACT_##needs, .provides = FACT_##gives, .plain = pass_##pass},
#define STEP(pass, needs, gives, text) {.name = #pass, .doc = text, .requires = FACT_##needs, .provides = FACT_##gives, .run = run_##pass},
const Pass pipeline[] = {
#include "ir/check/check.h"
#include "ir/index/index.h"
#include "ir/lower/lower.h"
#include "ir/solve/solve.h"
#include "ir/dae/passes.def"
};
#undef PASS
#undef STEP
const uint32_t pipeline_length = sizeof pipeline / sizeof *pipeline;
