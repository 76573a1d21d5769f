// Ideal constraints.
//
// Purpose: an ideal constraint does no work on any motion that it admits; the audit holds it to that. One that carries a
// spring, a drive or a prescribed motion is not ideal and may.
// Method: on the constraint's own equations. It is ideal when they (1) contain neither time nor signals, (2) have no law
// between efforts and motion: what is left of an equation without its efforts vanishes, where multipliers, which only
// stand beside efforts, count as efforts; (3) are homogeneous in the velocities: nothing is left without them but
// conditions on positions; (4) prescribe no accelerations. Where only what is given from outside is in the way of that, the
// constraint is a drive; a law of the motion makes it an element.
// Contract: after bonds and laws, before alias. Writes GraphNode.work. Complexity: linear in the constraints' equations
// (a fixed number of sweeps).
#include "ir/pass/ideal.h"

#include "ir/pass/domains.h"

enum { SWEEPS = 4 };

typedef struct Ideal {
    Dae *dae;
    Domains domains;
    U8Vec signal;   // per variable: of a connector without bonds
    U32Vec beside;  // per variable: round in which it was seen in an equation without efforts
    uint32_t round;
} Ideal;

static void
mark_signals(Ideal *ideal)
{
    Dae *dae = ideal->dae;
    vec_grow(&ideal->signal, dae->nvars);
    vec_grow(&ideal->beside, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) {
        const ConnectorType *type = &dae->connector_types.at[dae->connectors.at[c].type];
        for (uint32_t k = 0; k < type->n && !type->n_bonds; k++)
            ideal->signal.at[dae->connectors.at[c].first + k] = 1;
    }
}

// Rates of the constraint's own positions are velocities as well: v = der(s).
static void
seed_rates(Ideal *ideal, const uint32_t *equations, uint32_t n)
{
    Dae *dae = ideal->dae;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t slots;
        const Var *vars = dae_row(dae, equations[i], &slots);
        for (uint32_t k = 0; k < slots; k++) {
            Var of = dae->var_der_of.at[vars[k]];
            if (of != NONE && dae->var_der_of.at[of] == NONE && slots == 2
                && ideal->domains.domain.at[of] == DOMAIN_OTHER && ideal->domains.domain.at[vars[k]] == DOMAIN_OTHER)
                ideal->domains.domain.at[vars[k]] = DOMAIN_VELOCITY;
        }
    }
}

static bool
is_open(const Ideal *ideal, Var var)
{
    return dae_kind(ideal->dae, var) == VAR_CONTINUOUS && domain_of(&ideal->domains, var) == DOMAIN_OTHER
           && ideal->dae->var_der_of.at[var] == NONE;
}

// Variables that stand in no equation without efforts are multipliers: they count as efforts.
static void
find_multipliers(Ideal *ideal, const uint32_t *equations, uint32_t n)
{
    Dae *dae = ideal->dae;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        ideal->round++;
        for (int marking = 1; marking >= 0; marking--)
            for (uint32_t i = 0; i < n; i++) {
                uint32_t slots;
                const Var *vars = dae_row(dae, equations[i], &slots);
                bool effort = false;
                for (uint32_t k = 0; k < slots; k++)
                    effort |= domain_of(&ideal->domains, vars[k]) == DOMAIN_EFFORT;
                for (uint32_t k = 0; k < slots; k++) {
                    if (!is_open(ideal, vars[k]))
                        continue;
                    if (marking && !effort)
                        ideal->beside.at[vars[k]] = ideal->round;
                    else if (!marking && effort && ideal->beside.at[vars[k]] != ideal->round)
                        ideal->domains.domain.at[vars[k]] = DOMAIN_EFFORT;
                }
            }
    }
}

// What is left of an equation without its efforts: nothing, something given, or a law of the motion.
static Work
work_of_rest(const Ideal *ideal, Expr rest, const Var *vars, uint32_t n)
{
    Dae *dae = ideal->dae;
    if (expr_is_const(dae->exprs, rest, 0))
        return WORK_NONE;
    for (uint32_t k = 0; k < n; k++)
        if (dae_kind(dae, vars[k]) == VAR_CONTINUOUS && !ideal->signal.at[vars[k]] && expr_uses_slot(dae->exprs, rest, k))
            return WORK_ANY;
    return WORK_DRIVE;
}

static Work
work_of(Ideal *ideal, uint32_t e)
{
    Dae *dae = ideal->dae;
    uint32_t n, has = 0;
    const Var *vars = dae_row(dae, e, &n);
    bool given = expr_has_op(dae->exprs, dae->equations.at[e].shape, OP_TIME);
    for (uint32_t k = 0; k < n; k++) {
        VarKind kind = dae_kind(dae, vars[k]);
        given |= kind == VAR_INPUT || kind == VAR_DISCRETE || ideal->signal.at[vars[k]];
        has |= 1u << domain_of(&ideal->domains, vars[k]);
    }
    Expr residual = expr_residual(dae->exprs, dae->equations.at[e].shape);
    uint32_t efforts = has & 1u << DOMAIN_EFFORT, velocities = has & 1u << DOMAIN_VELOCITY;
    if (efforts) {
        Work work = work_of_rest(ideal, domains_without(&ideal->domains, residual, vars, n, efforts), vars, n);
        return work == WORK_NONE && given ? WORK_DRIVE : work;
    }
    if (given || has & 1u << DOMAIN_ACCELERATION)
        return WORK_DRIVE;
    bool homogeneous = !velocities
        || expr_is_const(dae->exprs, domains_without(&ideal->domains, residual, vars, n, velocities), 0);
    return homogeneous ? WORK_NONE : WORK_DRIVE;
}

static Work
examine(Ideal *ideal, uint32_t node)
{
    uint32_t n;
    const uint32_t *equations = domains_equations(&ideal->domains, node, &n);
    seed_rates(ideal, equations, n);
    domains_find(&ideal->domains, node);
    find_multipliers(ideal, equations, n);
    Work most = n ? WORK_NONE : WORK_ANY;
    for (uint32_t i = 0; i < n; i++) {
        Work work = work_of(ideal, equations[i]);
        most = work > most ? work : most;
    }
    return most;
}

void
ideal_mark(Dae *dae)
{
    Ideal ideal = {.dae = dae, .domains = domains_open(dae)};
    mark_signals(&ideal);
    for (uint32_t node = 0; node < dae->nodes.n; node++)
        if (dae->nodes.at[node].kind == NODE_CONSTRAINT)
            dae->nodes.at[node].work = (uint8_t)examine(&ideal, node);
    domains_free(&ideal.domains);
    vec_free(&ideal.signal);
    vec_free(&ideal.beside);
}
