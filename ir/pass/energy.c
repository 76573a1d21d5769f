// Energies become equations of motion.
//
// Purpose: derives the equations of motion of every system of coordinates by the formalism of the model and adds them.
// Method: ir/energy/*.c; docs/energies.md derives what is done. Contract: runs first, so that equations of motion are
// like the user's for all later passes; they are marked as made and belong to the component of their coordinate.
// Derivatives that only energies mention are marked removed. Complexity: near-linear in the energies.
#include "ir/energy/system.h"

static bool
derive(System *system)
{
    static bool (*const derivations[])(System *) = {derive_lagrange, derive_hamilton, derive_gibbs_appell, derive_kane,
                                                    derive_maggi};
    system_find_inertias(system);
    return derivations[system->formalism](system);
}

static void
add_line(System *system, const Line *line)
{
    Dae *dae = system->dae;
    Expr shape;
    uint32_t row;
    for (uint32_t i = 0; i < system->n; i++)
        if (system->vars.at[3 * i + 2] == NONE)
            system->vars.at[3 * i + 2] = dae_der(dae, system->vars.at[3 * i + 1]);
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, line->left, line->right), system->vars.at, &shape, &row);
    uint32_t added = dae_add_equation(dae, EQN_NORMAL, shape, row, line->node, line->span);
    dae->equations.at[added].generated = 1;
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

bool
pass_energy(Dae *dae, Diags *diags, MotionCost *cost)
{
    Systems systems = {0};
    Map names = {0};
    if (cost)
        *cost = (MotionCost){0};
    if (!dae->energies.n && !dae->coordinates.n)
        return true;
    bool good = systems_collect(dae, diags, &systems);
    for (uint32_t i = 0; i < dae->groups.n; i++)
        map_put(&names, (uint64_t)dae->groups.at[i].inst << 32 | dae->groups.at[i].name, i);
    for (uint32_t s = 0; s < systems.n && good; s++) {
        systems.at[s].names = &names;
        good = derive(&systems.at[s]);
        for (uint32_t i = 0; i < systems.at[s].lines.n && good; i++)
            add_line(&systems.at[s], &systems.at[s].lines.at[i]);
    }
    if (good)
        remove_unused(dae);
    for (uint32_t s = 0; s < systems.n; s++)
        system_free(&systems.at[s]);
    vec_free(&systems);
    map_free(&names);
    return good && !diags_errors(diags);
}
