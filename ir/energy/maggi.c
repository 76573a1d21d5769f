// Maggi's equations.
//
// Purpose: the equations of Lagrange for redundant coordinates, projected on the velocities that the constraints leave
// free: B'(d/dt(dT/du) - dT/dq + dV/dq + dD/du - Q) = 0 with A B = 0. Method: the positions of the inertias are the
// redundant coordinates, for which Lagrange's left side is m*der(der(s)), and their constraints der(s) = (ds/dq) u have
// the complement ds/dq. Contract: system.h. Complexity: linear in the energies.
#include "ir/energy/system.h"

bool
derive_maggi(System *system)
{
    Expr *left = base_calloc(system->n + 1, sizeof *left);
    bool good = system_inertia_forces(system, left) && system_finish(system, left);
    free(left);
    return good;
}
