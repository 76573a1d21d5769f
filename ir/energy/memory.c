// Memory elements: integrated energies.
//
// Purpose: the integrated Lagrangian (46)-(49), (58): with the integrals z of the coordinates as coordinates, and
// L = T(x) - V(z), D(x), x = der(z), the equations of motion are
//     d/dt( d/dt dL/dx - dL/dz + dD/dx ) = Q.
// Along the displacement s of an element this is the force d2/dt2 dT/ds of a mem-inerter, d/dt dD/ds of a mem-damper,
// d/dt dV/dz of a mem-spring; it acts on the coordinates with ds/dq. They are summed with the ordinary equations, so that
// no constant of integration comes in. Contract: system.h. Complexity: linear in the energies.
#include "ir/energy/system.h"

// out[i] += sum of seed*d root/dq_i
static bool
add_pull(System *system, const U32Vec *roots, const U32Vec *seeds, Expr *out)
{
    Expr *part = base_calloc(system->n + 1, sizeof *part);
    bool good = system_gradient(system, roots->at, seeds->at, roots->n, 0, part);
    for (uint32_t i = 0; i < system->n && good; i++)
        out[i] = expr_2(system->exprs, OP_ADD, out[i], part[i]);
    free(part);
    return good;
}

bool
system_memory_forces(System *system, bool inerters, Expr *applied)
{
    U32Vec roots = {0}, seeds = {0};
    bool good = true;
    for (uint32_t i = 0; i < system->memories.n && good; i++) {
        const Memory at = system->memories.at[i];
        Expr force;
        if (at.kind == ENERGY_KINETIC && !inerters)
            continue;
        good = system_rates(system, &at.slope, 1, &force);
        if (good && at.kind == ENERGY_KINETIC)
            good = system_rates(system, &force, 1, &force);
        vec_push(&roots, at.s);
        vec_push(&seeds, force);
    }
    good = good && add_pull(system, &roots, &seeds, applied);
    vec_free(&roots);
    vec_free(&seeds);
    return good;
}

// The momentum B(s)*der(s) = d/dt dT/ds acts with ds/dq; where that changes, the rate of the product has one more term.
bool
system_memory_momenta(System *system, Expr *momenta, Expr *by_position)
{
    U32Vec roots = {0}, rates = {0}, seeds = {0};
    bool good = true;
    for (uint32_t i = 0; i < system->memories.n && good; i++) {
        const Memory at = system->memories.at[i];
        Expr both[] = {at.slope, at.s}, out[2];
        if (at.kind != ENERGY_KINETIC)
            continue;
        good = system_rates(system, both, 2, out);
        vec_push(&roots, at.s);
        vec_push(&seeds, out[0]);
        vec_push(&rates, out[1]);
    }
    good = good && add_pull(system, &roots, &seeds, momenta) && add_pull(system, &rates, &seeds, by_position);
    vec_free(&roots);
    vec_free(&rates);
    vec_free(&seeds);
    return good;
}
