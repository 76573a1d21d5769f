// equations_of_motion.c: energies become equations of motion.
//
// Purpose: derives the equations of motion of every system of coordinates by the formalism of the model and adds them.
// Method: ir/energy/*.c; docs/energies.md derives what is done. Contract: runs first, so that equations of motion are
// like the user's for all later passes, contracts included; they belong to the component of their coordinate.
// Derivatives that only energies mention are marked removed; energies and coordinates are used up. Complexity: near-linear in the energies.
#include <math.h>

#include "ir/energy/energy_system.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/operator/operator.h"

static bool
derive(System *system)
{
    static bool (*const derivations[FORMALISM_COUNT])(System *) = {
        [FORMALISM_LAGRANGE] = derive_lagrange, [FORMALISM_HAMILTON] = derive_hamilton, [FORMALISM_GIBBS_APPELL] = derive_gibbs_appell,
        [FORMALISM_KANE] = derive_kane, [FORMALISM_MAGGI] = derive_maggi,
    };
    system_find_inertias(system);
    system_check_suspects(system);
    return system_check_dissipation(system) && derivations[system->formalism](system);
}

// Of what nothing was said about: an operator without a derivative, deep inside.
static void
report_failure(const System *system)
{
    const Term *term = system->potential.n ? &system->potential.at[0] : system->kinetic.n ? &system->kinetic.at[0]
                       : system->dissipation.n ? &system->dissipation.at[0] : NULL;
    uint32_t from = term ? term->from : system->memories.n ? system->memories.at[0].from : 0;
    diag_add(system->diags, E0803, system_energy(system, from)->span,
             "this energy, or one that has coordinates in common with it, contains something that has no derivative");
}

static void
add_line(System *system, const Line *line)
{
    Dae *dae = system->dae;
    Expr shape;
    uint32_t row;
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, line->left, line->right), system->vars.at, &shape, &row);
    dae_add_equation(dae, EQN_NORMAL, shape, row, line->node, line->span);
}

static void
mark_used(const Dae *dae, Expr shape, uint32_t row, U8Vec *used)
{
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, shape); k++)
        for (Var var = dae->rows.at[row + k]; var != NONE; var = dae->var_der_of.at[var])
            used->at[var] = 1;
}

static void
remove_unused_chain(Dae *dae, Var var, const U8Vec *used)
{
    for (; var != NONE; var = dae->var_der.at[var])
        if (dae->var_der_of.at[var] != NONE && !used->at[var])
            dae->var_flags.at[var] |= VARF_REMOVED;
}

// A part that several equations have becomes a hidden variable with an equation of its own.
static void
add_definitions(System *system, const U32Vec *definitions, uint32_t first_slot)
{
    Dae *dae = system->dae;
    Line line = system->lines.at[0];
    uint32_t inst = dae->nodes.at[line.node].inst;
    for (uint32_t i = 0; i < definitions->n; i++) {
        Var part = system_new_numbered(system, inst, "$part", false, line.span);
        vec_push(&system->vars, part);
        line.left = expr_slot(system->exprs, first_slot + i);
        line.right = definitions->at[i];
        add_line(system, &line);
    }
}

static void
add_lines(System *system, bool share)
{
    U32Vec roots = {0}, definitions = {0};
    uint32_t first_slot = system->vars.n;
    for (uint32_t i = 0; i < system->lines.n; i++) {
        vec_push(&roots, system->lines.at[i].left);
        vec_push(&roots, system->lines.at[i].right);
    }
    for (uint32_t i = 0; i < system->n; i++)
        if (system->vars.at[3 * i + 2] == NONE)
            system->vars.at[3 * i + 2] = dae_der(system->dae, system->vars.at[3 * i + 1]);
    if (share) {
        expr_share(system->exprs, roots.at, roots.n, first_slot, &definitions);
        add_definitions(system, &definitions, first_slot);
    }
    for (uint32_t i = 0; i < system->lines.n; i++) {
        Line line = system->lines.at[i];
        line.left = roots.at[2 * i];
        line.right = roots.at[2 * i + 1];
        add_line(system, &line);
    }
    vec_free(&roots);
    vec_free(&definitions);
}

// Derivatives in rows of energies that nothing else mentions.
static void
remove_unused(Dae *dae)
{
    U8Vec used = {0};
    vec_grow(&used, dae->nvars);
    for (uint32_t i = 0; i < dae->equations.n; i++)
        mark_used(dae, dae->equations.at[i].shape, dae->equations.at[i].row, &used);
    for (uint32_t i = 0; i < dae->binds.n; i++)
        mark_used(dae, dae->binds.at[i].shape, dae->binds.at[i].row, &used);
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        mark_used(dae, dae->asserts.at[i].condition, dae->asserts.at[i].row, &used);
    for (uint32_t i = 0; i < dae->told.n; i++)
        mark_used(dae, dae->told.at[i].shape, dae->told.at[i].row, &used);
    for (uint32_t i = 0; i < dae->reinits.n; i++) {
        mark_used(dae, dae->reinits.at[i].value, dae->reinits.at[i].row, &used);
        used.at[dae->reinits.at[i].var] = 1;
    }
    for (uint32_t i = 0; i < dae->energies.n; i++)
        for (uint32_t k = 0; k < expr_nslots(dae->exprs, dae->energies.at[i].shape); k++)
            remove_unused_chain(dae, dae->rows.at[dae->energies.at[i].row + k], &used);
    for (uint32_t i = 0; i < dae->coordinates.n; i++)
        remove_unused_chain(dae, dae->coordinates.at[i], &used);
    vec_free(&used);
}

static void
count_operations(System *system, MotionCost *cost)
{
    U32Vec residuals = {0};
    for (uint32_t i = 0; i < system->lines.n; i++)
        vec_push(&residuals, expr_sub(system->exprs, system->lines.at[i].left, system->lines.at[i].right));
    cost->raw = expr_written_operations(system->exprs, residuals.at, residuals.n);
    cost->shared = expr_share(system->exprs, residuals.at, residuals.n, 0, NULL);
    cost->coordinates = system->n;
    cost->equations = system->lines.n;
    vec_free(&residuals);
}

// Large equations that have most of their parts in common are compiled and computed faster with the parts as variables;
// small ones are better left alone: fewer unknowns, and text that people can read.
static bool
is_worth_sharing(const MotionCost *cost)
{
    return cost->raw >= 5000 && cost->raw >= 4 * cost->shared;
}

static void
add_cost(MotionCost *sum, const MotionCost *cost)
{
    if (!sum)
        return;
    sum->raw += cost->raw;
    sum->shared += cost->shared;
    sum->coordinates += cost->coordinates;
    sum->equations += cost->equations;
}

// Equations of motion have derivatives of energies only; the conditions under which integrals in energies are accurate
// are kept by an assertion about the energy itself.
static void
keep_integrals(Dae *dae)
{
    Exprs *exprs = dae->exprs;
    for (uint32_t i = 0; i < dae->energies.n; i++) {
        const Energy *energy = &dae->energies.at[i];
        if (!expr_has_op(exprs, energy->shape, OP_INTEGRAL))
            continue;
        U32Vec vars = {0};
        vec_append(&vars, dae->rows.at + energy->row, expr_nslots(exprs, energy->shape)); // rows move
        Expr value = expr_op(exprs, energy->shape) == OP_EQN ? expr_arg(exprs, energy->shape, 1) : energy->shape;
        Expr finite = expr_2(exprs, OP_LT, value, expr_const(exprs, INFINITY));
        Assert made = {.inst = dae->nodes.at[energy->node].inst, .span = energy->span,
                       .message = sym_of(dae->syms, "an energy is not finite")};
        dae_bind_shape(dae, expr_1(exprs, OP_NOEVENT, finite), vars.at, &made.condition, &made.row);
        vec_push(&dae->asserts, made);
        vec_free(&vars);
    }
}

// What the proof of the equations needs to know of a system, whose equations from `first` on have just been added.
static void
record_system(const System *system, uint32_t first, MotionRecord *record)
{
    MotionSystem made = {.first = record->coordinates.n, .n = system->n, .equation = first, .formalism = system->formalism,
                         .definitions = system->dae->equations.n - first - system->lines.n, .lines = system->lines.n,
                         .dual = system->dual};
    vec_append(&record->coordinates, system->coordinates.at, system->n);
    vec_push(&record->systems, made);
    for (uint32_t i = 0; i < system->limits.n; i++)
        record->multipliers.at[system->limits.at[i].from] = system->limits.at[i].multiplier;
}

static void
record_energies(const Dae *dae, MotionRecord *record)
{
    vec_append(&record->energies, dae->energies.at, dae->energies.n);
    for (uint32_t i = 0; i < dae->energies.n; i++)
        vec_push(&record->multipliers, NONE);
}

bool
pass_energy(Dae *dae, Diags *diags, MotionCost *cost, MotionRecord *record)
{
    Systems systems = {0};
    Map names = {0};
    if (cost)
        *cost = (MotionCost){0};
    if (!dae->energies.n && !dae->coordinates.n)
        return true;
    uint32_t errors = diags_errors(diags);
    integrals_of_energies(dae);
    if (record)
        record_energies(dae, record);
    bool good = systems_collect(dae, diags, false, &systems);
    for (uint32_t i = 0; i < dae->groups.n; i++)
        map_put(&names, (uint64_t)dae->groups.at[i].inst << 32 | dae->groups.at[i].decl->name, i);
    for (uint32_t s = 0; s < systems.n && good; s++) {
        systems.at[s].names = &names;
        good = derive(&systems.at[s]);
        if (!good && diags_errors(diags) == errors)
            report_failure(&systems.at[s]);
        MotionCost now = {0};
        if (good)
            count_operations(&systems.at[s], &now);
        add_cost(cost, &now);
        uint32_t first = dae->equations.n;
        if (good)
            add_lines(&systems.at[s], is_worth_sharing(&now));
        if (good && record)
            record_system(&systems.at[s], first, record);
    }
    if (good) {
        keep_integrals(dae);
        remove_unused(dae);
        vec_clear(&dae->energies); // they are equations now
        vec_clear(&dae->coordinates);
    }
    for (uint32_t s = 0; s < systems.n; s++)
        system_free(&systems.at[s]);
    vec_free(&systems);
    map_free(&names);
    return good && diags_errors(diags) == errors;
}
