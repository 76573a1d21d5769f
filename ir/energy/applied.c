// What stands against the inertia forces: potentials, dissipation, generalised forces and constraints.
//
// Purpose: the part of the equations of motion that all formalisms share,
//     (inertia forces)_k + dV/dq_k + dD/du_k = Q_k + sum over constraints of lambda dg/du_k.
// Method: gradients accumulated in reverse over all energies at once; the multiplier of a constraint between positions
// stands on dg/dq, of one between velocities on dg/du (d'Alembert's principle: constraint forces do no virtual work).
// Contract: system.h. Complexity: linear in the energies.
#include "ir/energy/system.h"

// adds b to a
static void
accumulate(System *system, Expr *a, const Expr *b)
{
    for (uint32_t i = 0; i < system->n; i++)
        a[i] = expr_2(system->exprs, OP_ADD, a[i], b[i]);
}

static bool
add_gradient(System *system, const Term *terms, uint32_t n, uint32_t kind, Expr *applied)
{
    U32Vec roots = {0}, seeds = {0};
    Expr *part = base_calloc(system->n + 1, sizeof *part);
    for (uint32_t i = 0; i < n; i++) {
        vec_push(&roots, terms[i].e);
        vec_push(&seeds, expr_const(system->exprs, 1));
    }
    bool good = system_gradient(system, roots.at, seeds.at, n, kind, part);
    if (good)
        accumulate(system, applied, part);
    vec_free(&roots);
    vec_free(&seeds);
    free(part);
    return good;
}

void
system_potentials(System *system, int sign, U32Vec *roots, U32Vec *seeds)
{
    for (uint32_t i = 0; i < system->potential.n; i++) {
        vec_push(roots, system->potential.at[i].e);
        vec_push(seeds, expr_const(system->exprs, sign));
    }
}

// --- dissipation

// Dry friction has the content F*abs(v). It is not smooth: what stands on dv/du is F*Sgn(v), which may have any value
// between -F and F at rest. Each abs() of something that moves becomes a slot of its own for the gradient.
typedef struct Friction {
    U32Vec inner;  // v
    U32Vec slots;  // of abs(v)
} Friction;

static Expr
take_friction(System *system, Expr e, Friction *friction)
{
    Exprs *exprs = system->exprs;
    U32Vec parts = {0}, args = {0};
    Map made = {0};
    uint32_t found = e;
    expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n; i++) {
        Expr part = parts.at[i];
        args.n = 0;
        for (uint32_t k = 0; k < expr_nargs(exprs, part); k++) {
            map_get(&made, expr_arg(exprs, part, k), &found);
            vec_push(&args, found);
        }
        Expr now = args.n ? expr_make(exprs, expr_op(exprs, part), args.at, args.n) : part;
        if (expr_op(exprs, now) == OP_ABS && system_depends(system, expr_arg(exprs, now, 0), 1)) {
            vec_push(&friction->inner, expr_arg(exprs, now, 0));
            vec_push(&friction->slots, system->vars.n + friction->slots.n);
            now = expr_slot(exprs, vec_last(&friction->slots));
        }
        map_put(&made, part, now);
    }
    map_get(&made, e, &found);
    vec_free(&parts);
    vec_free(&args);
    map_free(&made);
    return found;
}

// F*Sgn(v)*dv/du, where F = dD/d abs(v) is what the content has in front of abs(v).
static bool
add_friction(System *system, Expr e, const Friction *friction, Expr *applied)
{
    Exprs *exprs = system->exprs;
    U32Vec with = {0}, roots = {0}, seeds = {0};
    vec_grow(&with, system->vars.n);
    for (uint32_t i = 0; i < friction->inner.n; i++)
        vec_push(&with, expr_1(exprs, OP_ABS, friction->inner.at[i]));
    for (uint32_t i = 0; i < friction->inner.n; i++) {
        Expr force = expr_substitute(exprs, expr_diff(exprs, e, friction->slots.at[i]), with.at, with.n);
        vec_push(&roots, friction->inner.at[i]);
        vec_push(&seeds, expr_2(exprs, OP_MUL, force, expr_1(exprs, OP_SGN, friction->inner.at[i])));
    }
    Expr *part = base_calloc(system->n + 1, sizeof *part);
    bool good = system_gradient(system, roots.at, seeds.at, roots.n, 1, part);
    if (good)
        accumulate(system, applied, part);
    free(part);
    vec_free(&with);
    vec_free(&roots);
    vec_free(&seeds);
    return good;
}

// dD/du with abs(v) held, and then abs(v) put back.
static bool
add_smooth_part(System *system, Expr e, const Expr *with, uint32_t n, Expr *applied)
{
    Expr one = expr_const(system->exprs, 1), *part = base_calloc(system->n + 1, sizeof *part);
    bool good = system_gradient(system, &e, &one, 1, 1, part);
    for (uint32_t i = 0; i < system->n && good; i++)
        part[i] = expr_substitute(system->exprs, part[i], with, n);
    if (good)
        accumulate(system, applied, part);
    free(part);
    return good;
}

static bool
add_dissipation(System *system, Expr *applied)
{
    bool good = true;
    for (uint32_t i = 0; i < system->dissipation.n && good; i++) {
        Term *term = &system->dissipation.at[i];
        Friction friction = {0};
        Expr e = expr_has_op(system->exprs, term->e, OP_ABS) ? take_friction(system, term->e, &friction) : term->e;
        if (friction.inner.n) {
            good = add_friction(system, e, &friction, applied);
            U32Vec none = {0};
            vec_grow(&none, system->vars.n);
            for (uint32_t k = 0; k < friction.inner.n; k++) // the rest: as if abs(v) were given
                vec_push(&none, expr_1(system->exprs, OP_ABS, friction.inner.at[k]));
            good = good && add_smooth_part(system, e, none.at, none.n, applied);
            vec_free(&none);
        } else {
            good = add_gradient(system, term, 1, 1, applied);
        }
        vec_free(&friction.inner);
        vec_free(&friction.slots);
    }
    return good;
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
    Expr *part = base_calloc(system->n + 1, sizeof *part);
    bool good = true;
    for (uint32_t i = 0; i < system->limits.n && good; i++) {
        Limit *limit = &system->limits.at[i];
        limit->multiplier = make_multiplier(system, limit);
        Expr root = limit_residual(system, limit), seed = system_slot(system, limit->multiplier);
        good = system_gradient(system, &root, &seed, 1, limit->velocity ? 1 : 0, part);
        if (good)
            accumulate(system, forces, part);
    }
    free(part);
    return good;
}

static bool
add_loads(System *system, Expr *forces)
{
    U32Vec roots = {0}, seeds = {0};
    Expr *part = base_calloc(system->n + 1, sizeof *part);
    for (uint32_t i = 0; i < system->loads.n; i++) {
        vec_push(&roots, system->loads.at[i].s);
        vec_push(&seeds, system->loads.at[i].e);
    }
    bool good = system_gradient(system, roots.at, seeds.at, roots.n, 0, part);
    if (good)
        accumulate(system, forces, part);
    vec_free(&roots);
    vec_free(&seeds);
    free(part);
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
    return add_loads(system, forces) && add_dissipation(system, applied)
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
        accumulate(system, left, applied);
        for (uint32_t i = 0; i < system->n; i++)
            system_add_line(system, i, left[i], forces[i]);
        system_add_limits(system);
    }
    free(applied);
    return good;
}
