// domains.c: positions, velocities, accelerations and efforts among the variables of components.
//
// Purpose: momenta (momenta.c) and the question whether a constraint is ideal (describe.c) need to know which of a
// component's variables are velocities, efforts and accelerations.
// Method: the ports' flows and efforts are known. Through equations without parameters the one variable that vanishes
// whenever all known quantities of a kind do is of that kind, too (v = v_0 + cross(w, d), w_a = T*w, f = {fx, fy}).
// Derivatives of velocities are accelerations.
// Contract: domains.h. Complexity: linear in the equations asked for (a fixed number of sweeps).
#include "ir/elements/domains.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

enum { SWEEPS = 4 };

// Of what is differentiated: a variable, or its first derivative.
static Domain
domain_of_base(const Domains *domains, Var var)
{
    Var of = domains->dae->var_der_of.at[var];
    if (domains->domain.at[var] != DOMAIN_OTHER || of == NONE)
        return (Domain)domains->domain.at[var];
    return domains->domain.at[of] == DOMAIN_POSITION ? DOMAIN_VELOCITY : DOMAIN_OTHER;
}

Domain
domain_of(const Domains *domains, Var var)
{
    Var of = domains->dae->var_der_of.at[var];
    if (domains->domain.at[var] != DOMAIN_OTHER || of == NONE)
        return (Domain)domains->domain.at[var];
    Domain before = domain_of_base(domains, of);
    return before == DOMAIN_VELOCITY ? DOMAIN_ACCELERATION : before == DOMAIN_POSITION ? DOMAIN_VELOCITY : DOMAIN_OTHER;
}

static void
seed_ports(Domains *domains)
{
    Dae *dae = domains->dae;
    vec_grow(&domains->domain, dae->nvars);
    for (uint32_t c = 0; c < dae->connectors.n; c++) { // connected or not: nothing acts at the end of a shaft, but it could
        const ConnectorType *type = dae_connector_type(dae, c);
        Var first = dae->connectors.at[c].first;
        for (uint32_t k = 0; k < type->n_bonds; k++) {
            domains->domain.at[first + type->bonds[k].flow] = type->bonds[k].flow_is_der ? DOMAIN_POSITION : DOMAIN_VELOCITY;
            domains->domain.at[first + type->bonds[k].effort] = DOMAIN_EFFORT;
        }
    }
}

static bool
is_of_component(const Dae *dae, uint32_t e)
{
    return !dae->equations.at[e].generated && dae->equations.at[e].kind == EQN_NORMAL;
}

static void
index_equations(Domains *domains)
{
    Dae *dae = domains->dae;
    vec_grow(&domains->start, dae->nodes.n + 2);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        domains->start.at[dae->equations.at[e].node + 2] += is_of_component(dae, e);
    for (uint32_t i = 0; i < dae->nodes.n; i++)
        domains->start.at[i + 2] += domains->start.at[i + 1];
    vec_grow(&domains->equations, dae->equations.n);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (is_of_component(dae, e))
            domains->equations.at[domains->start.at[dae->equations.at[e].node + 1]++] = e;
}

Domains
domains_open(Dae *dae)
{
    Domains domains = {.dae = dae};
    seed_ports(&domains);
    index_equations(&domains);
    return domains;
}

void
domains_free(Domains *domains)
{
    vec_free(&domains->domain);
    vec_free(&domains->start);
    vec_free(&domains->equations);
}

const uint32_t *
domains_equations(const Domains *domains, uint32_t node, uint32_t *n)
{
    *n = domains->start.at[node + 1] - domains->start.at[node];
    return domains->equations.at + domains->start.at[node];
}

Expr
domains_without(const Domains *domains, Expr residual, const Var *vars, uint32_t n, uint32_t mask)
{
    Exprs *exprs = domains->dae->exprs;
    U32Vec with = {0};
    for (uint32_t k = 0; k < n; k++)
        vec_push(&with, mask >> domain_of(domains, vars[k]) & 1 ? expr_const(exprs, 0) : 0);
    Expr rest = expr_with_zeros(exprs, residual, with.at, n);
    vec_free(&with);
    return rest;
}

// The one variable that must vanish when all quantities of `domain` do gets that domain, too.
static bool
spread(Domains *domains, uint32_t e, Domain domain)
{
    Dae *dae = domains->dae;
    uint32_t n, open = NONE;
    const Var *vars = dae_row(dae, e, &n);
    bool has = false;
    for (uint32_t k = 0; k < n; k++) {
        VarKind kind = dae_kind(dae, vars[k]);
        bool scales = domains->scaled && domain == DOMAIN_VELOCITY && (kind == VAR_PARAMETER || kind == VAR_CONSTANT);
        if (kind != VAR_CONTINUOUS && !scales)
            return false;
        has |= domain_of(domains, vars[k]) == domain;
    }
    if (!has)
        return false;
    Expr residual = expr_residual(dae->exprs, dae->equations.at[e].shape);
    Expr rest = domains_without(domains, residual, vars, n, 1u << domain), coefficient, constant;
    for (uint32_t k = 0; k < n; k++)
        if (expr_uses_slot(dae->exprs, rest, k) && !(domain == DOMAIN_EFFORT && domain_of(domains, vars[k]) != DOMAIN_OTHER)) {
            if (open != NONE)
                return false;
            open = k;
        }
    if (open == NONE || dae_kind(dae, vars[open]) != VAR_CONTINUOUS || domain_of(domains, vars[open]) != DOMAIN_OTHER
        || dae->var_der_of.at[vars[open]] != NONE
        || !expr_affine(dae->exprs, rest, open, &coefficient, &constant) || !expr_is_const(dae->exprs, constant, 0))
        return false;
    domains->domain.at[vars[open]] = (uint8_t)domain;
    return true;
}

void
domains_find(Domains *domains, uint32_t node)
{
    uint32_t n;
    const uint32_t *equations = domains_equations(domains, node, &n);
    static const Domain order[] = {DOMAIN_POSITION, DOMAIN_VELOCITY, DOMAIN_EFFORT, DOMAIN_ACCELERATION};
    for (size_t d = 0; d < sizeof order / sizeof *order; d++) {
        bool changed = true;
        for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
            changed = false;
            for (uint32_t i = 0; i < n; i++)
                changed |= spread(domains, equations[i], order[d]);
        }
    }
}
