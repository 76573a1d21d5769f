// memory_energy.c: memory elements: integrated energies.
//
// Purpose: the integrated Lagrangian (46)-(49), (58): with the integrals z of the coordinates as coordinates, and
// L = T(x) - V(z), D(x), x = der(z), the equations of motion are
//     d/dt( d/dt dL/dx - dL/dz + dD/dx ) = Q.
// Along the displacement s of an element this is the force d2/dt2 dT/ds of a mem-inerter, d/dt dD/ds of a mem-damper,
// d/dt dV/dz of a mem-spring; it acts on the coordinates with ds/dq. They are summed with the ordinary equations, so that
// no constant of integration comes in. An element of order a has derivatives of order a in the place of d/dt: the force is
// D^2a dT/ds, D^a dD/ds, D^a dV/dz with D^a z = s. They are Caputo derivatives from the start of the run, where (50), (51)
// have derivatives from both ends of time (docs/energies.md).
// Method: the equations above (docs/energies.md has their source), with the derivatives of energy_system.h.
// Contract: energy_system.h. Complexity: linear in the energies.
#include "ir/energy/energy_system.h"
#include "ir/expr/expr_make.h"

// A mem-inerter whose momentum is d/dt dT/ds; one of broken order has none.
static bool
has_momentum(const Memory *at)
{
    return at->kind == ENERGY_KINETIC && at->order == 1;
}

// The derivative of dE/ds or dE/dz that is the force.
static bool
force_of(System *system, const Memory *at, Expr *force)
{
    if (at->order != 1) {
        Expr order = at->told_order ? at->told_order : expr_const(system->exprs, at->order);
        if (at->kind == ENERGY_KINETIC)
            order = expr_2(system->exprs, OP_MUL, expr_const(system->exprs, 2), order);
        *force = expr_2(system->exprs, OP_FDER, at->slope, order);
        return true;
    }
    return system_rates(system, &at->slope, 1, force)
           && (at->kind != ENERGY_KINETIC || system_rates(system, force, 1, force));
}

bool
system_memory_forces(System *system, bool inerters, Expr *applied)
{
    U32Vec roots = {0}, seeds = {0};
    bool good = true;
    for (uint32_t i = 0; i < system->memories.n && good; i++) {
        const Memory at = system->memories.at[i];
        Expr force;
        if (has_momentum(&at) && !inerters)
            continue;
        good = force_of(system, &at, &force);
        vec_push(&roots, at.s);
        vec_push(&seeds, force);
    }
    good = good && system_add_gradient(system, roots.at, seeds.at, roots.n, 0, applied);
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
        if (!has_momentum(&at))
            continue;
        good = system_rates(system, both, 2, out);
        vec_push(&roots, at.s);
        vec_push(&seeds, out[0]);
        vec_push(&rates, out[1]);
    }
    good = good && system_add_gradient(system, roots.at, seeds.at, roots.n, 0, momenta)
           && system_add_gradient(system, rates.at, seeds.at, rates.n, 0, by_position);
    vec_free(&roots);
    vec_free(&rates);
    vec_free(&seeds);
    return good;
}
