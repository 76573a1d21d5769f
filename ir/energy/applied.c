// applied.c: what stands against the inertia forces: potentials, dissipation, generalised forces and constraints.
//
// Purpose: the part of the equations of motion that all formalisms share,
//     (inertia forces)_k + dV/dq_k + dD/du_k = Q_k + sum over constraints of lambda dg/du_k.
// Method: gradients accumulated in reverse over all energies at once; the multiplier of a constraint between positions
// stands on dg/dq, of one between velocities on dg/du (d'Alembert's principle: constraint forces do no virtual work).
// Contract: energy_system.h. Complexity: linear in the energies.
#include "ir/energy/energy_system.h"
#include "ir/expr/expr_make.h"

void
system_potentials(System *system, int sign, U32Vec *roots, U32Vec *seeds)
{
    for (uint32_t i = 0; i < system->potential.n; i++) {
        vec_push(roots, system->potential.at[i].e);
        vec_push(seeds, expr_const(system->exprs, sign));
    }
}

Expr
limit_residual(const System *system, const Limit *limit)
{
    return expr_sub(system->exprs, limit->left, limit->right);
}

// One multiplier per constraint, named lambda1, lambda2, ... in the component of the section.
static Var
make_multiplier(System *system, const Limit *limit)
{
    Dae *dae = system->dae;
    uint32_t inst = dae->nodes.at[system_energy(system, limit->from)->node].inst;
    return system_new_numbered(system, inst, "lambda", true, system_energy(system, limit->from)->span);
}

static bool
add_multipliers(System *system, Expr *forces)
{
    bool good = true;
    for (uint32_t i = 0; i < system->limits.n && good; i++) {
        Limit *limit = &system->limits.at[i];
        limit->multiplier = make_multiplier(system, limit);
        Expr root = limit_residual(system, limit), seed = system_slot(system, limit->multiplier);
        good = system_add_gradient(system, &root, &seed, 1, limit->velocity ? 1 : 0, forces);
    }
    return good;
}

bool
system_add_loads(System *system, Expr *forces)
{
    U32Vec roots = {0}, seeds = {0};
    for (uint32_t i = 0; i < system->loads.n; i++) {
        vec_push(&roots, system->loads.at[i].s);
        vec_push(&seeds, system->loads.at[i].e);
    }
    bool good = system_add_gradient(system, roots.at, seeds.at, roots.n, 0, forces);
    vec_free(&roots);
    vec_free(&seeds);
    return good;
}

bool
system_applied(System *system, Expr *applied, Expr *forces)
{
    for (uint32_t i = 0; i < system->n; i++)
        applied[i] = forces[i] = expr_const(system->exprs, 0);
    for (uint32_t i = 0; i < system->forces.n; i++) {
        const Pull *pull = &system->forces.at[i];
        forces[pull->coordinate] = expr_2(system->exprs, OP_ADD, forces[pull->coordinate], pull->e);
    }
    return system_add_loads(system, forces) && system_dissipation_forces(system, applied)
           && system_memory_forces(system, system->formalism != FORMALISM_HAMILTON, applied)
           && (system->formalism == FORMALISM_MAGGI || add_multipliers(system, forces));
}

void
system_add_limits(System *system)
{
    for (uint32_t i = 0; i < system->limits.n; i++) {
        const Limit *limit = &system->limits.at[i];
        const Energy *energy = system_energy(system, limit->from);
        Line line = {limit->left, limit->right, energy->node, energy->span};
        vec_push(&system->lines, line);
    }
}

bool
system_finish(System *system, Expr *left)
{
    Expr *applied = base_calloc(2 * system->n + 1, sizeof *applied), *forces = applied + system->n;
    bool good = system_applied(system, applied, forces);
    if (good) {
        for (uint32_t i = 0; i < system->n; i++)
            system_add_line(system, i, expr_2(system->exprs, OP_ADD, left[i], applied[i]), forces[i]);
        system_add_limits(system);
    }
    free(applied);
    return good;
}
