// rates.c: derivatives of algebraic positions, for those who look at them.
//
// Purpose: power is effort times flow, and the flow of a mechanical bond is the derivative of a position, which the
// equations of motion often do not need: a tree in joint coordinates computes positions only. Neither do they need the velocity and the
// acceleration of a body without mass (Dae.monitors).
// Method: the equation (or loop) that determines the position is differentiated and determines its rate; so do, in turn,
// those of all quantities in it, until states, whose derivatives are known, or quantities that stand still are reached.
// What is added has the structure of what it comes from, hence the matching is known, too. Where index reduction has
// differentiated a part of a loop already, everything is matched anew.
// Contract: bonds.h. Complexity: linear in the equations that are differentiated, and one sorting.
#include "ir/bonds/bonds.h"

#include "ir/base/diag.h"
#include "ir/structure/rate.h"

typedef struct Rates {
    Dae *dae;
    Reduction *reduction;
    Problem *problem;
    Diags *diags;
    Structure structure;
    Patterns shapes;
    U32Vec block_of;  // per position of the problem as it was
    U8Vec done;       // per block
    U32Vec queue;     // variables whose rate was asked for
    const Monitor *monitor; // that they are asked for; NULL: for the audit
    bool rematch;
} Rates;

static bool
complain(Rates *rates, Var var, Span span)
{
    if (rates->monitor) {
        diag_add(rates->diags, E0504, span, "'%s' cannot be computed: it needs the derivative of '%s', which has none",
                 dae_name(rates->dae, rates->monitor->var), dae_name(rates->dae, var));
        return false;
    }
    Diag *diag = diag_add(rates->diags, E0504, span,
                          "the power at '%s' cannot be audited: it needs the derivative of a quantity that has none",
                          dae_name(rates->dae, var));
    diag_help(diag, "delayed values have no derivative; run without --audit");
    return false;
}

// The rate of a representative becomes part of the model. False when it has none.
static bool
ask(Rates *rates, Var var)
{
    Dae *dae = rates->dae;
    VarKind kind = dae_kind(dae, var);
    if (kind == VAR_INPUT && dae_group(dae, var)->decl->flags & GROUP_HIDDEN)
        return false;
    if (kind != VAR_CONTINUOUS || dae->var_pre_of.at[var] != NONE || structure_der(dae, var) != NONE)
        return true;
    dae_der(dae, var);
    vec_push(&rates->queue, var);
    return true;
}

static void
append(Rates *rates, uint32_t made, Var var)
{
    Problem *problem = rates->problem;
    Dae *dae = rates->dae;
    Var der = dae_der(dae, var);
    while (problem->equation_of.n < dae->nvars)
        vec_push(&problem->equation_of, NONE);
    vec_grow(&problem->unknown, dae->nvars - problem->unknown.n);
    if (problem->equation_of.at[der] != NONE)
        rates->rematch = true;
    problem->unknown.at[der] = 1;
    problem->equation_of.at[der] = problem->equations.n;
    vec_push(&problem->equations, made);
    vec_push(&problem->var_of, der);
}

static bool
differentiate(Rates *rates, uint32_t position)
{
    Problem *problem = rates->problem;
    uint32_t e = problem->equations.at[position];
    Var var = problem->var_of.at[position];
    if (e < rates->reduction->derivative.n && rates->reduction->derivative.at[e] != NONE) {
        rates->rematch = true;
        return true;
    }
    structure_read(&rates->structure, e);
    for (uint32_t k = 0; k < rates->structure.vars.n; k++)
        if (!ask(rates, rates->structure.vars.at[k]))
            return complain(rates, rates->structure.vars.at[k], rates->dae->equations.at[e].span);
    uint32_t made = rate_append(&rates->structure, &rates->shapes, e);
    if (made == NONE)
        return complain(rates, var, rates->dae->equations.at[e].span);
    append(rates, made, var);
    return true;
}

static bool
serve(Rates *rates, Var var)
{
    const Problem *problem = rates->problem;
    uint32_t position = var < problem->equation_of.n ? problem->equation_of.at[var] : NONE;
    if (position == NONE || position >= rates->block_of.n) {
        rates->rematch = true;
        return true;
    }
    uint32_t block = rates->block_of.at[position];
    if (rates->done.at[block])
        return true;
    rates->done.at[block] = 1;
    for (uint32_t k = problem->block_start.at[block]; k < problem->block_start.at[block + 1]; k++)
        if (!differentiate(rates, problem->sorted.at[k]))
            return false;
    return true;
}

static void
number_blocks(Rates *rates)
{
    const Problem *problem = rates->problem;
    uint32_t blocks = problem->block_start.n ? problem->block_start.n - 1 : 0;
    vec_grow(&rates->block_of, problem->equations.n);
    vec_grow(&rates->done, blocks);
    for (uint32_t b = 0; b < blocks; b++)
        for (uint32_t k = problem->block_start.at[b]; k < problem->block_start.at[b + 1]; k++)
            rates->block_of.at[problem->sorted.at[k]] = b;
}

static bool
ask_flows(Rates *rates)
{
    Dae *dae = rates->dae;
    for (uint32_t b = 0; b < dae->bonds.n; b++) {
        const Bond *bond = &dae->bonds.at[b];
        const Connector *connector = &dae->connectors.at[bond->connector];
        bool negative;
        if (dae->connector_types.at[connector->type].bonds[bond->scalar].flow_is_der
            && !ask(rates, dae_alias(dae, bond->flow, &negative)))
            return complain(rates, bond->flow, dae->nodes.at[bond->component].span);
    }
    return true;
}

// The new equations belong to the same phase of the model as the old ones.
static bool
finish(Rates *rates)
{
    Dae *dae = rates->dae;
    Problem *problem = rates->problem;
    Reduction *reduction = rates->reduction;
    if (reduction->state.n < dae->nvars)
        vec_grow(&reduction->state, dae->nvars - reduction->state.n);
    while (reduction->derivative.n < dae->equations.n)
        vec_push(&reduction->derivative, NONE);
    while (reduction->derivative_of.n < dae->equations.n)
        vec_push(&reduction->derivative_of, NONE);
    while (problem->equation_of.n < dae->nvars)
        vec_push(&problem->equation_of, NONE);
    if (problem->unknown.n < dae->nvars)
        vec_grow(&problem->unknown, dae->nvars - problem->unknown.n);
    for (uint32_t i = 0; i < rates->queue.n; i++)
        problem->unknown.at[dae_der(dae, rates->queue.at[i])] = 1;
    problem_incidence(dae, problem);
    if (rates->rematch && problem_match(problem, dae->nvars, NULL) != 0) {
        if (rates->monitor)
            diag_add(rates->diags, E0503, dae->equations.at[rates->monitor->equation].span,
                     "'%s' is not determined: velocities of its loop are not determined one by one", dae_name(dae, rates->monitor->var));
        else
            diag_add(rates->diags, E0503, (Span){0},
                     "the power of this model cannot be audited: velocities of its loops are not determined one by one");
        return false;
    }
    problem_sort(problem);
    return true;
}

static Rates
rates_begin(Dae *dae, Reduction *reduction, Problem *problem, Diags *diags)
{
    Rates rates = {.dae = dae, .reduction = reduction, .problem = problem, .diags = diags,
                   .structure = {.dae = dae}, .shapes = {.arena = dae->arena}};
    number_blocks(&rates);
    return rates;
}

static bool
rates_end(Rates *rates, bool good)
{
    for (uint32_t i = 0; good && i < rates->queue.n; i++)
        good = serve(rates, rates->queue.at[i]);
    good = good && finish(rates);
    structure_free(&rates->structure);
    vec_free(&rates->block_of);
    vec_free(&rates->done);
    vec_free(&rates->queue);
    return good;
}

bool
rates_add(Dae *dae, Reduction *reduction, Problem *problem, Diags *diags)
{
    Rates rates = rates_begin(dae, reduction, problem, diags);
    return rates_end(&rates, ask_flows(&rates));
}

// --- names that nothing reads

// `var = der(of)` is an equation again, which determines var.
static bool
add_monitor(Rates *rates, const Monitor *monitor)
{
    Dae *dae = rates->dae;
    Problem *problem = rates->problem;
    bool negative;
    rates->monitor = monitor;
    if (!ask(rates, dae_alias(dae, monitor->of, &negative)))
        return complain(rates, monitor->of, dae->equations.at[monitor->equation].span);
    dae->equations.at[monitor->equation].kind = EQN_NORMAL;
    dae->var_flags.at[monitor->var] &= (uint8_t)~VARF_REMOVED;
    problem->unknown.at[monitor->var] = 1;
    problem->equation_of.at[monitor->var] = problem->equations.n;
    vec_push(&problem->equations, monitor->equation);
    vec_push(&problem->var_of, monitor->var);
    return true;
}

bool
monitors_add(Dae *dae, Reduction *reduction, Problem *problem, Diags *diags)
{
    bool good = true, negative;
    for (uint8_t order = 1; order <= 2 && good && dae->monitors.n; order++) { // velocities, then what is the derivative of one of these
        Rates rates = rates_begin(dae, reduction, problem, diags);
        for (uint32_t i = 0; i < dae->monitors.n && good; i++) {
            const Monitor *monitor = &dae->monitors.at[i];
            bool later = i > 0 && dae_alias(dae, monitor->of, &negative) == dae->monitors.at[i - 1].var;
            if (later == (order == 2))
                good = add_monitor(&rates, monitor);
        }
        good = rates_end(&rates, good);
    }
    return good;
}
