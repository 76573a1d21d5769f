// duality.c: the dual form: momenta as coordinates.
//
// Purpose: springs that are controlled by their forces and inerters that are controlled by their momenta have the
// co-Lagrangian L = V(der(p)) - T(p) (19), (21), dampers controlled by forces the co-content D(der(p)). Method: a potential
// that depends on rates of coordinates says that the coordinates are momenta. Where there is neither a potential nor a kinetic
// energy of rates, memory energies say it: (47) and (49) have springs controlled by p and inerters controlled by its
// integral. Where these say nothing either, kinetic energies do, of which none depends on a rate, an acceleration or a fractional derivative. Potential and kinetic energies
// then change their places, and everything else is the same. Contract: energy_system.h. Complexity: linear in the energies.
#include "ir/energy/energy_system.h"

#include "ir/base/diag.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

static bool
mixed(System *system, uint32_t from, const char *what)
{
    Diag *diag = diag_add(system->diags, E0803, system_energy(system, from)->span, "%s", what);
    diag_help(diag, "with positions as coordinates, potentials depend on coordinates and kinetic energies on their rates; with "
                    "momenta it is the other way round; one system cannot have both");
    return false;
}

static bool
any_of_rates(const System *system, const Term *terms, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        if (system_depends(system, terms[i].e, 1))
            return true;
    return false;
}

// Whether a kinetic energy has a derivative of broken order, which is that of a displacement; an integral is not.
static bool
is_fractional(const System *system, Expr e)
{
    const Exprs *exprs = system->dae->exprs;
    U32Vec parts = {0};
    bool found = false;
    expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n && !found; i++) {
        double order;
        if (expr_op(exprs, parts.at[i]) == OP_FDER)
            found = !dae_known_expr(system->dae, expr_arg(exprs, parts.at[i], 1), system->vars.at, &order) || order > 0;
    }
    vec_free(&parts);
    return found;
}

static bool
any_of_displacements(const System *system)
{
    for (uint32_t i = 0; i < system->kinetic.n; i++)
        if (is_fractional(system, system->kinetic.at[i].e) || system_depends(system, system->kinetic.at[i].e, 2))
            return true;
    return false;
}

static bool
are_momenta(const System *system)
{
    if (any_of_rates(system, system->potential.at, system->potential.n))
        return true;
    if (system->potential.n || system->inertias.n || system->displaced
        || any_of_rates(system, system->kinetic.at, system->kinetic.n) || any_of_displacements(system))
        return false;
    return system->integrated || system->kinetic.n;
}

bool
system_find_duality(System *system)
{
    if (!are_momenta(system))
        return true;
    for (uint32_t i = 0; i < system->potential.n; i++)
        if (!system_depends(system, system->potential.at[i].e, 1) || system_depends(system, system->potential.at[i].e, 0))
            return mixed(system, system->potential.at[i].from,
                         "this potential depends on coordinates, but others of the system depend on their rates");
    for (uint32_t i = 0; i < system->kinetic.n; i++)
        if (system_depends(system, system->kinetic.at[i].e, 1))
            return mixed(system, system->kinetic.at[i].from,
                         "this kinetic energy depends on rates of coordinates, and so does a potential of the system");
    if (system->inertias.n)
        return mixed(system, system->inertias.at[0].from,
                     "an inertia moves with positions, but a potential of the system depends on rates of coordinates");
    system->dual = true;
    for (uint32_t i = 0; i < system->kinetic.n; i++)
        vec_push(&system->potential, system->kinetic.at[i]);
    uint32_t old = system->potential.n - system->kinetic.n, moved = system->kinetic.n;
    system->kinetic.n = 0;
    for (uint32_t i = 0; i < old; i++)
        vec_push(&system->kinetic, system->potential.at[i]);
    if (moved)
        memmove(system->potential.at, system->potential.at + old, moved * sizeof *system->potential.at);
    system->potential.n = moved;
    return true;
}
