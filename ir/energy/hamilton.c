// hamilton.c: Hamilton's equations.
//
// Purpose: p = dT/du and der(p) = dT/dq - dV/dq - dD/du + Q + A'lambda; the momenta p are states (41)-(43). Method: dT/dq
// at fixed u is -dH/dq at fixed p, so that the energy need not be written over momenta; the velocities follow from p by
// the linear system p = M(q) u, which the compiler solves with the rest of the model. Contract: energy_system.h: E0804 where a
// momentum depends on no velocity (Legendre's transformation does not exist). Complexity: linear in the energies.
#include "ir/energy/energy_system.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"

static bool
check_momentum(System *system, uint32_t i, Expr momentum)
{
    const Group *group = dae_group(system->dae, system->coordinates.at[i]);
    if (system_depends(system, momentum, 1))
        return true;
    Diag *diag = diag_add(system->diags, E0804, group->decl->span,
                          "hamilton cannot express this model: the momentum of '%s' depends on no velocity, because no "
                          "kinetic energy moves with it", dae_name(system->dae, system->coordinates.at[i]));
    diag_help(diag, "lagrange, gibbs_appell, kane and maggi can");
    return false;
}

static bool
add_lines(System *system, const Expr *momenta, const Expr *left, const Expr *right)
{
    for (uint32_t i = 0; i < system->n; i++) {
        if (!check_momentum(system, i, momenta[i]))
            return false;
        Var p = system_new_var(system, i, "p_", 0);
        // What is not said about the start means rest, whatever the formalism.
        map_put(&system->dae->started_by, p, system->vars.at[3 * i + 1]);
        Expr rate = system_slot(system, dae_der(system->dae, p));
        system_add_line(system, i, system_slot(system, p), momenta[i]);
        system_add_line(system, i, expr_2(system->exprs, OP_ADD, rate, left[i]), right[i]);
    }
    system_add_limits(system);
    return true;
}

bool
derive_hamilton(System *system)
{
    uint32_t n = system->n;
    Expr *p = base_calloc(4 * n + 1, sizeof *p), *by_position = p + n, *applied = p + 2 * n, *forces = p + 3 * n;
    bool good = system_momenta(system, true, p) && system_by_position(system, true, by_position)
                && system_memory_momenta(system, p, by_position)
                && system_applied(system, applied, forces);
    for (uint32_t i = 0; i < n && good; i++)
        forces[i] = expr_2(system->exprs, OP_ADD, by_position[i], forces[i]);
    good = good && add_lines(system, p, applied, forces);
    free(p);
    return good;
}
