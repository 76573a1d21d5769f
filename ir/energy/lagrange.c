// lagrange.c: Lagrange's equations of the second kind, with multipliers.
//
// Purpose: d/dt(dT/du) - dT/dq + dV/dq + dD/du = Q + A'lambda (18), (22). Method: dT/du and dT/dq are accumulated in
// reverse over all energies at once; the momenta are differentiated in time together. Contract: energy_system.h.
// Complexity: linear in the energies.
#include "ir/energy/energy_system.h"
#include "ir/expr/expr_make.h"

typedef struct Lagrangian { // what L consists of, for gradients: sum of seed*d root
    U32Vec roots, seeds;
} Lagrangian;

// T = m/2*v^2 changes by m*v*dv.
static void
lagrangian_sources(System *system, bool whole, Lagrangian *out)
{
    for (uint32_t i = 0; i < system->inertias.n && whole; i++) {
        const Inertia *at = &system->inertias.at[i];
        vec_push(&out->roots, at->v);
        vec_push(&out->seeds, expr_2(system->exprs, OP_MUL, at->m, at->v));
    }
    for (uint32_t i = 0; i < system->kinetic.n; i++) {
        vec_push(&out->roots, system->kinetic.at[i].e);
        vec_push(&out->seeds, expr_const(system->exprs, 1));
    }
    if (whole)
        system_potentials(system, -1, &out->roots, &out->seeds);
}

// The gradient by positions (order 0) or velocities (order 1).
static bool
lagrangian_gradient(System *system, bool whole, uint32_t order, Expr *out)
{
    Lagrangian sources = {0};
    lagrangian_sources(system, whole, &sources);
    bool good = system_gradient(system, sources.roots.at, sources.seeds.at, sources.roots.n, order, out);
    vec_free(&sources.roots);
    vec_free(&sources.seeds);
    return good;
}

bool
system_momenta(System *system, bool whole, Expr *momenta)
{
    return lagrangian_gradient(system, whole, 1, momenta);
}

bool
system_by_position(System *system, bool whole, Expr *out)
{
    return lagrangian_gradient(system, whole, 0, out);
}

bool
system_euler(System *system, bool whole, Expr *out)
{
    uint32_t n = system->n;
    Expr *p = base_calloc(2 * n + 1, sizeof *p), *by_position = p + n;
    bool good = system_momenta(system, whole, p) && system_rates(system, p, n, out)
                && system_by_position(system, whole, by_position);
    for (uint32_t i = 0; i < n && good; i++)
        out[i] = expr_sub(system->exprs, out[i], by_position[i]);
    free(p);
    return good;
}

bool
derive_lagrange(System *system)
{
    Expr *left = base_calloc(system->n + 1, sizeof *left);
    bool good = system_euler(system, true, left) && system_finish(system, left);
    free(left);
    return good;
}
