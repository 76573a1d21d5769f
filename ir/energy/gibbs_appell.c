// gibbs_appell.c: equations of Gibbs and Appell.
//
// Purpose: dS/da + dV/dq + dD/du = Q + A'lambda with the energy of acceleration S = sum of m/2*der(v)^2. Method: the
// velocities of all inertias are differentiated in time, and S by the accelerations, in reverse. What has no such form
// (squares.c) contributes S = a'M a/2 + a'h with h from its kinetic energy, which must be quadratic. Contract: energy_system.h.
// Complexity: linear in the energies.
#include "ir/energy/energy_system.h"
#include "ir/expr/expr_make.h"

bool
system_accelerations(System *system, U32Vec *out, U32Vec *seeds)
{
    U32Vec v = {0};
    uint32_t n = system->inertias.n;
    for (uint32_t i = 0; i < n; i++)
        vec_push(&v, system->inertias.at[i].v);
    vec_grow(out, n);
    bool good = system_rates(system, v.at, n, out->at);
    for (uint32_t i = 0; i < n && good; i++)
        if (system->inertias.at[i].a)
            out->at[i] = system->inertias.at[i].a;
    for (uint32_t i = 0; i < n && good; i++)
        vec_push(seeds, expr_2(system->exprs, OP_MUL, system->inertias.at[i].m, out->at[i]));
    vec_free(&v);
    return good;
}

bool
derive_gibbs_appell(System *system)
{
    uint32_t n = system->n;
    U32Vec accelerations = {0}, seeds = {0};
    U32Vec potentials = {0}, ones = {0};
    Expr *left = base_calloc(3 * n + 1, sizeof *left), *others = left + n, *springs = left + 2 * n;
    system_potentials(system, 1, &potentials, &ones);
    bool good = system_is_quadratic(system, "gibbs_appell") && system_accelerations(system, &accelerations, &seeds)
                && system_gradient(system, accelerations.at, seeds.at, accelerations.n, 2, left)
                && system_gradient(system, potentials.at, ones.at, potentials.n, 0, springs)
                && system_euler(system, false, others);
    for (uint32_t i = 0; i < n && good; i++)
        left[i] = expr_make(system->exprs, OP_ADD, (Expr[]){left[i], others[i], springs[i]}, 3);
    good = good && system_finish(system, left);
    vec_free(&accelerations);
    vec_free(&seeds);
    vec_free(&potentials);
    vec_free(&ones);
    free(left);
    return good;
}
