// energy_system.c: a system of coordinates: slots, time derivatives, gradients.
//
// Purpose: the calculus that all formalisms share. Method: the time derivative of a slot is looked up when an expression
// that contains it is differentiated, so that derivatives of signals enter the model only where they are needed;
// gradients are accumulated in reverse. Contract: energy_system.h. Complexity: linear in the expressions.
#include "ir/energy/energy_system.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"

const Energy *
system_energy(const System *system, uint32_t from)
{
    return &system->dae->energies.at[from];
}

Expr
system_velocity(const System *system, uint32_t i)
{
    return expr_slot(system->exprs, 3 * i + 1);
}

Expr
system_slot(System *system, Var var)
{
    uint32_t slot;
    if (!map_get(&system->slot_of, var, &slot)) {
        slot = system->vars.n;
        vec_push(&system->vars, var);
        vec_push(&system->rate, 0);
        map_put(&system->slot_of, var, slot);
    }
    return expr_slot(system->exprs, slot);
}

static bool
is_moving(const Dae *dae, Var var)
{
    VarKind kind = dae_kind(dae, var);
    return kind == VAR_CONTINUOUS || kind == VAR_INPUT;
}

// The time derivative of slot k.
static Expr
slot_rate(System *system, uint32_t k)
{
    if (k < 3 * system->n && k % 3 < 2)
        return expr_slot(system->exprs, k + 1);
    if (system->vars.at[k] == NONE)
        system->vars.at[k] = dae_der(system->dae, system->vars.at[k - 1]);
    if (!is_moving(system->dae, system->vars.at[k]))
        return expr_const(system->exprs, 0);
    return system_slot(system, dae_der(system->dae, system->vars.at[k]));
}

bool
system_rates(System *system, const Expr *roots, uint32_t n, Expr *out)
{
    U32Vec used = {0};
    expr_used_slots(system->exprs, roots, n, &used);
    for (uint32_t i = 0; i < used.n; i++)
        if (!system->rate.at[used.at[i]]) {
            Expr rate = slot_rate(system, used.at[i]); // may move the table
            system->rate.at[used.at[i]] = rate;
        }
    vec_free(&used);
    bool known = expr_rates(system->exprs, roots, n, system->rate.at, system->rate.n, out);
    system->failed |= !known;
    return known;
}

bool
system_gradient(System *system, const Expr *roots, const Expr *seeds, uint32_t n, uint32_t kind, Expr *out)
{
    uint32_t slots = 3 * system->n;
    uint8_t *want = base_calloc(slots + 1, 1);
    Expr *all = base_calloc(slots + 1, sizeof *all);
    for (uint32_t i = 0; i < system->n; i++)
        want[3 * i + kind] = 1;
    bool known = expr_gradient(system->exprs, roots, seeds, n, want, slots, all);
    for (uint32_t i = 0; i < system->n; i++)
        out[i] = all[3 * i + kind];
    system->failed |= !known;
    free(want);
    free(all);
    return known;
}

bool
system_add_gradient(System *system, const Expr *roots, const Expr *seeds, uint32_t n, uint32_t kind, Expr *sum)
{
    Expr *part = base_calloc(system->n + 1, sizeof *part);
    bool good = system_gradient(system, roots, seeds, n, kind, part);
    for (uint32_t i = 0; i < system->n && good; i++)
        sum[i] = expr_2(system->exprs, OP_ADD, sum[i], part[i]);
    free(part);
    return good;
}

void
system_moving(const System *system, Expr e, U32Vec *coordinates)
{
    U32Vec used = {0};
    expr_used_slots(system->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n; i++)
        if (used.at[i] < 3 * system->n && used.at[i] % 3 == 1)
            vec_push(coordinates, used.at[i] / 3);
    vec_free(&used);
}

static bool
is_still(const System *system, Expr e, bool coordinates)
{
    U32Vec used = {0};
    bool still = !expr_has_op(system->exprs, e, OP_TIME);
    expr_used_slots(system->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n && still; i++) {
        uint32_t slot = used.at[i];
        VarKind kind = slot < 3 * system->n ? VAR_CONTINUOUS : dae_kind(system->dae, system->vars.at[slot]);
        still = kind == VAR_PARAMETER || kind == VAR_CONSTANT || (coordinates && slot < 3 * system->n);
    }
    vec_free(&used);
    return still;
}

bool
system_is_fixed(const System *system, Expr e)
{
    return is_still(system, e, false);
}

bool
system_is_scleronomic(const System *system, Expr e)
{
    return is_still(system, e, true);
}

bool
system_depends(const System *system, Expr e, uint32_t kind)
{
    U32Vec used = {0};
    bool found = false;
    expr_used_slots(system->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n && !found; i++)
        found = used.at[i] < 3 * system->n && used.at[i] % 3 == kind;
    vec_free(&used);
    return found;
}

void
system_add_line(System *system, uint32_t coordinate, Expr left, Expr right)
{
    const Group *group = dae_group(system->dae, system->coordinates.at[coordinate]);
    Line line = {left, right, dae_node(system->dae, group->inst), group->decl->span};
    vec_push(&system->lines, line);
}

static uint64_t
name_key(uint32_t inst, Sym name)
{
    return (uint64_t)inst << 32 | name;
}

static bool
name_is_free(System *system, uint32_t inst, Sym name)
{
    uint32_t group;
    return !map_get(system->names, name_key(inst, name), &group);
}

Var
system_new_var(System *system, uint32_t i, const char *stem, Sym unit)
{
    Dae *dae = system->dae;
    Var q = system->coordinates.at[i];
    const Group *of = dae_group(dae, q);
    Out name = {0};
    out_printf(&name, "%s%s", stem, sym_text(dae->syms, of->decl->name));
    for (uint32_t k = 0, offset = q - of->first, left = of->decl->count; k < of->decl->rank; k++) {
        left /= dae->dims.at[of->decl->dims + k];
        out_printf(&name, "_%u", offset / left + 1);
        offset %= left;
    }
    while (!name_is_free(system, of->inst, sym_of(dae->syms, name.text)))
        out_char(&name, '_');
    Declaration made = {.name = sym_of(dae->syms, name.text), .count = 1, .kind = VAR_CONTINUOUS,
                        .type = TYPE_REAL, .unit = unit, .span = of->decl->span};
    out_free(&name);
    map_put(system->names, name_key(of->inst, made.name), dae->groups.n);
    return dae_add_declared(dae, made, of->inst);
}

Var
system_new_numbered(System *system, uint32_t inst, const char *stem, bool shown, Span span)
{
    Dae *dae = system->dae;
    uint32_t number = 0;
    uint64_t last = hash_add(inst, sym_of(dae->syms, stem)) | 1ull << 63; // apart from all names
    Sym name;
    map_get(system->names, last, &number);
    do
        name = sym_of(dae->syms, arena_printf(dae->arena, "%s%u", stem, ++number));
    while (!name_is_free(system, inst, name));
    map_put(system->names, last, number);
    map_put(system->names, name_key(inst, name), dae->groups.n);
    return dae_add_declared(dae, (Declaration){.name = name, .count = 1, .kind = VAR_CONTINUOUS, .type = TYPE_REAL,
                                               .flags = shown ? 0 : GROUP_HIDDEN, .span = span}, inst);
}

void
system_free(System *system)
{
    vec_free(&system->coordinates);
    vec_free(&system->vars);
    map_free(&system->slot_of);
    map_free(&system->position_of);
    vec_free(&system->rate);
    vec_free(&system->inertias);
    vec_free(&system->kinetic);
    vec_free(&system->potential);
    vec_free(&system->dissipation);
    vec_free(&system->forces);
    vec_free(&system->loads);
    vec_free(&system->limits);
    vec_free(&system->memories);
    vec_free(&system->integrated_energies);
    vec_free(&system->suspects);
    vec_free(&system->lines);
}
