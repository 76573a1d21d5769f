// The pipeline: every pass of the compiler, what it needs and what it gives.
#include "ir/pipeline.h"

#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "ir/pass/describe.h"
#include "ir/pass/jumps.h"
#include "ir/pass/momenta.h"
#include "ir/pass/rates.h"

static bool
run_energy(Compilation *c)
{
    return pass_energy(c->dae, c->diags, &c->motion);
}

static bool
run_variability(Compilation *c)
{
    return pass_variability(c->dae, c->diags);
}

static bool
run_bonds(Compilation *c)
{
    if (!pass_bonds(c->dae, c->diags))
        return false;
    if (c->checked && (!c->check_most || c->dae->equations.n <= c->check_most))
        c->check = check_create(c->dae);
    return true;
}

static bool
run_contract(Compilation *c)
{
    return pass_contract(c->dae, c->diags);
}

static bool
run_units(Compilation *c)
{
    return pass_units(c->dae, c->diags);
}

static bool
run_integrals(Compilation *c)
{
    return pass_integrals(c->dae, c->diags);
}

static bool
run_thresholds(Compilation *c)
{
    return pass_thresholds(c->dae, c->diags);
}

static bool
run_unilateral(Compilation *c)
{
    return pass_unilateral(c->dae, c->diags);
}

static bool
run_coulomb(Compilation *c)
{
    return pass_coulomb(c->dae, c->diags);
}

static bool
run_chain(Compilation *c)
{
    return pass_chain(c->dae, c->diags);
}

static bool
run_roots(Compilation *c)
{
    return pass_roots(c->dae, c->diags);
}

static bool
run_algebra(Compilation *c)
{
    return pass_algebra(c->dae, c->diags);
}

static bool
run_laws(Compilation *c)
{
    return pass_laws(c->dae, c->diags);
}

static bool
run_delays(Compilation *c)
{
    return pass_delays(c->dae, c->settable, c->diags);
}

static bool
run_transports(Compilation *c)
{
    return pass_transports(c->dae, c->diags);
}

static bool
run_curves(Compilation *c)
{
    return pass_curves(c->dae, c->diags);
}

static bool
run_fractional(Compilation *c)
{
    return pass_fractional(c->dae, c->diags);
}

static bool
run_shorten(Compilation *c)
{
    return pass_shorten(c->dae, c->diags);
}

static bool
run_integers(Compilation *c)
{
    return pass_integers(c->dae, c->diags);
}

static bool
run_alias(Compilation *c)
{
    if (c->audit || c->describe)
        describe_nodes(c->dae);
    if (c->audit)
        momenta_add(c->dae);
    return pass_alias(c->dae, c->diags);
}

static bool
run_zeros(Compilation *c)
{
    return pass_zeros(c->dae, c->diags);
}

static bool
run_merge(Compilation *c)
{
    return pass_merge(c->dae, c->diags);
}

static bool
run_cycles(Compilation *c)
{
    return pass_cycles(c->dae, c->diags);
}

static bool
run_networks(Compilation *c)
{
    return pass_networks(c->dae, c->diags);
}

static bool
run_balance(Compilation *c)
{
    return pass_balance_closed(c->dae, c->diags);
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
    if (!pass_causality(c->dae, &c->reduction, &c->problem, c->diags))
        return false;
    if (c->audit && !rates_add(c->dae, &c->reduction, &c->problem, c->diags))
        return false;
    if (!jumps_of_reinits(c->dae, &c->reduction, &c->problem, c->diags))
        return false;
    take_part(c, &c->continuous, false);
    problem_couple(c->dae, &c->reduction, &c->continuous);
    take_part(c, &c->discrete, true);
    return variability_of_discretes(c->dae, &c->discrete, c->diags);
}

static bool
run_init(Compilation *c)
{
    c->dae->settable = c->settable;
    if (c->settable)
        starts_detach(c->dae, &c->reduction);
    if (!pass_init(c->dae, &c->reduction, &c->initial, c->diags))
        return false;
    problem_couple(c->dae, &c->reduction, &c->initial);
    return true;
}

static bool
run_solve(Compilation *c)
{
    causal_make(c->dae, &c->reduction, &c->continuous, NULL, &c->dynamics);
    causal_make(c->dae, &c->reduction, &c->discrete, NULL, &c->discretes);
    causal_make(c->dae, &c->reduction, &c->initial, &c->dynamics, &c->init);
    return true;
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
                           .settable = c->settable, .audit = c->audit, .tangents = c->tangents, .names = c->names};
    c->sys = pass_lower(&input, c->diags);
    if (c->sys && c->check)
        check_bind(c->check, c->dae, c->sys);
    return c->sys != NULL;
}

#define ROW(pass) .name = #pass, .run = run_##pass
const Pass pipeline[] = {
    {ROW(variability), .doc = "values do not depend on what changes more often than they may",
     .requires = FACT_FLAT},
    {ROW(energy), .doc = "energies become equations of motion, by the formalism chosen",
     .requires = FACT_FLAT, .provides = FACT_MOTION},
    {ROW(bonds), .doc = "connection sets become junctions with their equations and bonds",
     .requires = FACT_MOTION, .provides = FACT_JUNCTIONS},
    {ROW(contract), .doc = "bodies, elements, constraints and memory elements keep their physical contracts",
     .requires = FACT_JUNCTIONS, .provides = FACT_CONTRACTS},
    {ROW(thresholds), .doc = "thresholds, limits and coefficients lie where their operators have a meaning",
     .requires = FACT_CONTRACTS},
    {ROW(unilateral), .doc = "unilateral constraints become unknown reactions with a law each",
     .requires = FACT_CONTRACTS},
    {ROW(coulomb), .doc = "friction forces in a plane become unknowns with a law for each component",
     .requires = FACT_CONTRACTS},
    {ROW(units), .doc = "units of both sides of every equation agree",
     .requires = FACT_JUNCTIONS, .provides = FACT_UNITS},
    {ROW(integrals), .doc = "integrals take their closed form or their Gauss rule",
     .requires = FACT_UNITS},
    {ROW(curves), .doc = "constitutive curves of memory elements are as smooth as they must be",
     .requires = FACT_CONTRACTS},
    {ROW(chain), .doc = "chain variables of memory elements that nobody uses vanish",
     .requires = FACT_CONTRACTS},
    {ROW(delays), .doc = "delayed expressions become inputs with a history",
     .requires = FACT_JUNCTIONS},
    {ROW(transports), .doc = "transported profiles become inputs at both ends with relations for their jumps",
     .requires = FACT_JUNCTIONS},
    {ROW(fractional), .doc = "fractional derivatives become states with a sum of exponentials",
     .requires = FACT_JUNCTIONS},
    {ROW(roots), .doc = "square roots of what they empty become set-valued where it comes to rest",
     .requires = FACT_JUNCTIONS},
    {ROW(algebra), .doc = "luz and tar in normal form",
     .requires = FACT_JUNCTIONS, .provides = FACT_NORMAL},
    {ROW(laws), .doc = "each set-valued term becomes an unknown and a law",
     .requires = FACT_NORMAL, .provides = FACT_LAWS, .laws = true},
    {ROW(shorten), .doc = "parts of long equations with events that are used again become variables",
     .requires = FACT_LAWS},
    {ROW(integers), .doc = "floor, ceil and trunc of what moves become discrete variables that change at events",
     .requires = FACT_LAWS},
    {ROW(alias), .doc = "x = y and x = -y: one representative",
     .requires = FACT_LAWS, .provides = FACT_ALIASES},
    {ROW(zeros), .doc = "derivatives that a variable which is always zero multiplies vanish",
     .requires = FACT_ALIASES},
    {ROW(merge), .doc = "set-valued laws of one velocity become one law",
     .requires = FACT_ALIASES},
    {ROW(cycles), .doc = "what closes a loop that a free body carries no longer holds the body's position",
     .requires = FACT_ALIASES},
    {ROW(networks), .doc = "sums of equations that bind states alone (loops and cuts of networks) are said in an equation of their own",
     .requires = FACT_ALIASES},
    {ROW(balance), .doc = "as many independent equations as unknowns, or a message in physical words",
     .requires = FACT_ALIASES, .provides = FACT_BALANCED},
    {ROW(index), .doc = "constraints on states are differentiated (Pantelides)",
     .requires = FACT_BALANCED, .provides = FACT_INDEX_1},
    {ROW(states), .doc = "states and dummy derivatives (Mattsson, Soderlind)",
     .requires = FACT_INDEX_1, .provides = FACT_STATES},
    {ROW(causality), .doc = "matching with the bond graph's priorities, block lower triangular form",
     .requires = FACT_STATES, .provides = FACT_CAUSAL},
    {ROW(init), .doc = "the problem of initialisation, matched and sorted",
     .requires = FACT_CAUSAL, .provides = FACT_INIT},
    {ROW(solve), .doc = "blocks become assignments, algebra of luz and tar, torn loops",
     .requires = FACT_INIT, .provides = FACT_SOLVED},
    {ROW(lower), .doc = "programs and tables of the compiled model: events, Jacobian, results",
     .requires = FACT_SOLVED, .provides = FACT_SYS},
};
const uint32_t pipeline_length = sizeof pipeline / sizeof *pipeline;

static double
now(void)
{
    struct timespec at;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &at);
    return (double)at.tv_sec + 1e-9 * (double)at.tv_nsec;
}

double
pipeline_peak(void)
{
    struct rusage usage;
    return getrusage(RUSAGE_SELF, &usage) ? 0 : (double)usage.ru_maxrss / 1024;
}

// Equations change until the model is balanced; later passes add to it.
static bool
rewrites_equations(const Compilation *c)
{
    return !(c->facts & FACT_BALANCED);
}

static bool
verified(Compilation *c, const Pass *pass, const Snapshot *before, Out *fault)
{
    Out why = {0};
    bool good = dae_verify(c->dae, &why) && (!c->sys || sys_verify(c->sys, &why))
                && (!before || snapshot_implied(c->dae, before, &c->implied, &why));
    if (!good)
        out_printf(fault, "pass %s left a broken model: %s", pass->name, why.text ? why.text : "");
    out_free(&why);
    return good;
}

static bool
run_passes(Compilation *c, uint32_t wanted, const char *after, Snapshot *before, Out *fault)
{
    uint32_t errors = diags_errors(c->diags);
    c->facts |= FACT_FLAT;
    for (uint32_t i = 0; i < pipeline_length && (c->facts & wanted) != wanted; i++) {
        const Pass *pass = &pipeline[i];
        if (pass->provides && (c->facts & pass->provides) == pass->provides)
            continue;
        if ((c->facts & pass->requires) != pass->requires) {
            out_printf(fault, "pass %s is out of order", pass->name);
            return false;
        }
        bool prove = c->verify && rewrites_equations(c);
        if (prove)
            snapshot_take(c->dae, before);
        before->laws = pass->laws;
        double begin = now();
        bool good = pass->run(c);
        c->seconds[i] = now() - begin;
        c->peak[i] = pipeline_peak();
        if (!good || diags_errors(c->diags) > errors)
            return false;
        c->facts = (c->facts | pass->provides) & ~pass->breaks;
        if (c->verify && !verified(c, pass, prove ? before : NULL, fault))
            return false;
        if (after && !strcmp(after, pass->name))
            return true;
    }
    return true;
}

bool
pipeline_run(Compilation *c, uint32_t wanted, const char *after, Out *fault)
{
    Snapshot before = {0};
    bool good = run_passes(c, wanted, after, &before, fault);
    snapshot_free(&before);
    return good;
}

void
compilation_free(Compilation *c)
{
    reduction_free(&c->reduction);
    problem_free(&c->problem);
    problem_free(&c->continuous);
    problem_free(&c->discrete);
    problem_free(&c->initial);
    causal_free(&c->dynamics);
    causal_free(&c->discretes);
    causal_free(&c->init);
    if (c->sys)
        sys_free(&c->sys);
    check_free(&c->check);
    dae_free(&c->dae);
}

static const char *const fact_names[] = {"flat", "junctions", "contracts", "units", "normal", "laws", "aliases",
                                         "balanced", "index-1", "states", "causal", "init", "solved", "sys", "motion"};

static void
print_facts(uint32_t facts, Out *out)
{
    bool first = true;
    for (uint32_t i = 0; i < sizeof fact_names / sizeof *fact_names; i++) {
        if (!(facts >> i & 1))
            continue;
        out_printf(out, "%s%s", first ? "" : ", ", fact_names[i]);
        first = false;
    }
}

void
pipeline_print(Out *out)
{
    out_text(out, "| pass | does | requires | provides |\n|---|---|---|---|\n");
    for (uint32_t i = 0; i < pipeline_length; i++) {
        out_printf(out, "| %s | %s | ", pipeline[i].name, pipeline[i].doc);
        print_facts(pipeline[i].requires, out);
        out_text(out, " | ");
        print_facts(pipeline[i].provides, out);
        out_text(out, " |\n");
    }
}
