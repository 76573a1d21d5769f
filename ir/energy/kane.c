// kane.c: Kane's equations.
//
// Purpose: generalised active and inertia forces: sum of m*der(v)*(dv/du) + dV/dq + dD/du = Q + A'lambda. Method:
// kinematics are differentiated, not energies; the partial velocities dv/du are those of the position, ds/dq, and their
// products with the inertia forces are accumulated in reverse, so that they are never formed one by one. Contract:
// energy_system.h. Complexity: linear in the energies.
#include "ir/energy/energy_system.h"
#include "ir/expr/expr_make.h"

// sum of seed*dv/du + dV/dq, where dv/du = ds/dq when the position s is known.
static bool
partial_velocities(System *system, const Expr *seeds, Expr *out)
{
    Exprs *exprs = system->exprs;
    U32Vec places[2] = {{0}}, forces[2] = {{0}}; // positions, velocities
    Expr *more = base_calloc(system->n + 1, sizeof *more);
    for (uint32_t i = 0; i < system->inertias.n; i++) {
        const Inertia *at = &system->inertias.at[i];
        vec_push(&places[!at->s], at->s ? at->s : at->v);
        vec_push(&forces[!at->s], seeds[i]);
    }
    system_potentials(system, 1, &places[0], &forces[0]);
    bool good = system_gradient(system, places[0].at, forces[0].at, places[0].n, 0, out)
                && system_gradient(system, places[1].at, forces[1].at, places[1].n, 1, more);
    for (uint32_t i = 0; i < system->n && good; i++)
        out[i] = expr_2(exprs, OP_ADD, out[i], more[i]);
    for (int k = 0; k < 2; k++) {
        vec_free(&places[k]);
        vec_free(&forces[k]);
    }
    free(more);
    return good;
}

bool
system_inertia_forces(System *system, Expr *left)
{
    uint32_t n = system->n;
    U32Vec accelerations = {0}, seeds = {0};
    Expr *others = base_calloc(n + 1, sizeof *others);
    bool good = system_accelerations(system, &accelerations, &seeds)
                && partial_velocities(system, seeds.at, left) && system_euler(system, false, others);
    for (uint32_t i = 0; i < n && good; i++)
        left[i] = expr_2(system->exprs, OP_ADD, left[i], others[i]);
    vec_free(&accelerations);
    vec_free(&seeds);
    free(others);
    return good;
}

bool
derive_kane(System *system)
{
    Expr *left = base_calloc(system->n + 1, sizeof *left);
    bool good = system_is_quadratic(system, "kane") && system_inertia_forces(system, left)
                && system_finish(system, left);
    free(left);
    return good;
}
