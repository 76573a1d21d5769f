// collect.c: from the model's energies to systems.
//
// Purpose: finds which coordinates belong together and writes energies over slots of their system. Method: a variable
// that an explicit equation v = e gives is a function of coordinates when e reaches one; such definitions are gone
// through once, definitions before their uses, by an explicit stack, and joined with union-find; then every energy is
// written over its system's slots, definitions put in their places. Other variables are signals: given from outside.
// Contract: energy_system.h. Complexity: near-linear in the rows of energies and definitions.
#include "ir/energy/collect.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

// --- joining

static void
check_variable(Collect *c, const Energy *energy, Var var)
{
    uint32_t order, found;
    Var base = collect_base(c->dae, var, &order);
    bool coordinate = map_get(&c->coordinate_of, base, &found);
    if (energy->kind == ENERGY_FORCE)
        return;
    if (order > (c->two_sided ? 2 : 1) && coordinate) {
        Diag *diag = diag_add(c->diags, E0803, energy->span, "an energy depends on the acceleration of '%s'",
                              dae_name(c->dae, base));
        diag_help(diag, "energies are functions of positions and velocities");
        c->good = false;
    } else if (collect_is_loose(c, var)) {
        Diag *diag = diag_add(c->diags, E0803, energy->span,
                              "the energy depends on '%s', which is no coordinate and which no equation gives",
                              dae_name(c->dae, base));
        diag_note(diag, dae_group(c->dae, base)->decl->span, "'%s' is declared here", dae_name(c->dae, base));
        diag_help(diag, "declare it as a coordinate ('coordinate Real %s'), or give it by an equation '%s = ...'",
                  sym_text(c->dae->syms, dae_group(c->dae, base)->decl->name),
                  sym_text(c->dae->syms, dae_group(c->dae, base)->decl->name));
        c->good = false;
    }
}

static uint32_t
join_energy(Collect *c, const Energy *energy)
{
    uint32_t n = expr_nslots(c->dae->exprs, energy->shape), reach = NONE, found;
    for (uint32_t k = 0; k < n; k++) {
        Var var = c->dae->rows.at[energy->row + k];
        bool explicit = map_get(&c->coordinate_of, var, &found) || map_get(&c->given_by, var, &found);
        if (energy->memory && !explicit && map_get(&c->rate_given_by, var, &found)) {
            reach = collect_join(c, reach, collect_integral(c, &c->integrals.at[found]));
            continue;
        }
        check_variable(c, energy, var);
        if (energy->kind != ENERGY_FORCE || k == 0 || c->two_sided)
            collect_visit(c, var);
        // A force may depend on anything without joining it to its coordinate.
        if (energy->kind != ENERGY_FORCE || k == 0)
            reach = collect_join(c, reach, collect_reach(c, var));
    }
    return reach;
}

static void
find_connected(Collect *c)
{
    const Dae *dae = c->dae;
    vec_grow(&c->connected, dae->nvars);
    for (uint32_t i = 0; i < dae->connectors.n; i++) {
        const Connector *at = &dae->connectors.at[i];
        for (uint32_t k = 0; k < dae->connector_types.at[at->type].n; k++)
            c->connected.at[at->first + k] = 1;
    }
}

static void
make_systems(Collect *c)
{
    Dae *dae = c->dae;
    for (uint32_t i = 0; i < dae->coordinates.n; i++) {
        uint32_t root = sets_find(&c->together, i);
        if (root == i) {
            c->system_of.at[i] = c->systems->n;
            vec_push(c->systems, (System){.dae = dae, .exprs = dae->exprs, .diags = c->diags,
                                          .formalism = dae->formalism});
        }
        System *system = &c->systems->at[c->system_of.at[root]];
        c->system_of.at[i] = c->system_of.at[root];
        c->index_of.at[i] = system->n++;
        vec_push(&system->coordinates, dae->coordinates.at[i]);
    }
    for (uint32_t s = 0; s < c->systems->n; s++) {
        System *system = &c->systems->at[s];
        for (uint32_t i = 0; i < system->n; i++) {
            Var q = system->coordinates.at[i], u = dae_der(dae, q);
            map_put(&system->slot_of, q, 3 * i);
            map_put(&system->slot_of, u, 3 * i + 1);
            if (dae->var_der.at[u] != NONE)
                map_put(&system->slot_of, dae->var_der.at[u], 3 * i + 2);
            vec_push(&system->vars, q);
            vec_push(&system->vars, u);
            vec_push(&system->vars, dae->var_der.at[u]);
        }
        vec_grow(&system->rate, system->vars.n);
    }
}

// --- expressions over a system's slots

bool
collect_local(Collect *c, System *system, Var var, Expr *out)
{
    uint32_t order, found;
    Var base = collect_base(c->dae, var, &order);
    if (!map_get(&c->local, base, &found) || dae_kind(c->dae, base) != VAR_CONTINUOUS) {
        *out = system_slot(system, var);
        return true;
    }
    Expr e = found;
    for (uint32_t i = 0; i < order; i++) {
        Expr rate;
        if (!system_rates(system, &e, 1, &rate))
            return false;
        map_put(&system->position_of, rate, e);
        e = rate;
    }
    *out = e;
    return true;
}

// `plainly`: definitions stay variables.
bool
collect_localise(Collect *c, System *system, Expr e, uint32_t row, bool plainly, Expr *out)
{
    uint32_t n = expr_nslots(c->dae->exprs, e);
    Expr *with = base_calloc(n + 1, sizeof *with);
    U32Vec used = {0};
    bool good = true;
    expr_used_slots(c->dae->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n && good; i++) {
        Var var = c->dae->rows.at[row + used.at[i]];
        if (plainly)
            with[used.at[i]] = system_slot(system, var);
        else
            good = collect_local(c, system, var, &with[used.at[i]]);
    }
    if (good)
        *out = expr_substitute(c->dae->exprs, e, with, n);
    vec_free(&used);
    free(with);
    return good;
}

void
collect_no_derivative(Collect *c, Span span)
{
    diag_add(c->diags, E0803, span, "an energy contains something that has no derivative (a set-valued or discrete "
                                    "operator)");
    c->good = false;
}

// What definitions that reach coordinates are, in order.
static void
write_definitions(Collect *c)
{
    for (uint32_t i = 0; i < c->order.n; i++) {
        const Definition *at = &c->definitions.at[c->order.at[i]];
        const Equation *equation = &c->dae->equations.at[at->equation];
        System *system = &c->systems->at[c->system_of.at[sets_find(&c->together, at->reach)]];
        Expr text, side = expr_arg(c->dae->exprs, equation->shape, at->swapped ? 0 : 1);
        if (collect_localise(c, system, side, equation->row, false, &text))
            map_put(&c->local, at->var, text);
        else
            collect_no_derivative(c, equation->span);
    }
}

// --- the whole

// Integrated energies of inerters and dampers are functions of displacements, those of springs of integrals; with momenta as
// coordinates those of springs are functions of them, and those of inerters of their integrals.
static void
note_memory(const Collect *c, System *system, const Energy *energy)
{
    for (uint32_t k = 0; k < expr_nslots(c->dae->exprs, energy->shape) && energy->kind != ENERGY_DISSIPATION; k++) {
        Role role = collect_role(c, c->dae->rows.at[energy->row + k]);
        Role usual = energy->kind == ENERGY_KINETIC ? ROLE_DISPLACEMENT : ROLE_INTEGRAL;
        if (role == ROLE_DISPLACEMENT || role == ROLE_INTEGRAL)
            *(role == usual ? &system->displaced : &system->integrated) = true;
    }
}

static System *
system_with(Collect *c, uint32_t reach)
{
    return &c->systems->at[c->system_of.at[sets_find(&c->together, reach)]];
}

static void
no_coordinate(Collect *c, const Energy *energy)
{
    Diag *diag;
    if (!c->good)
        return; // the reason has been told
    if (energy->kind == ENERGY_FORCE)
        diag = diag_add(c->diags, E0807, energy->span, "a generalised force acts on a coordinate: force q = ...");
    else
        diag = diag_add(c->diags, E0803, energy->span, "this depends on no coordinate, so that nothing follows from it");
    diag_help(diag, "coordinates are declared with the prefix 'coordinate': coordinate Real q(start = 0, fixed = true)");
    c->good = false;
}

static void
start(Collect *c)
{
    const Dae *dae = c->dae;
    for (uint32_t i = 0; i < dae->coordinates.n; i++)
        map_put(&c->coordinate_of, dae->coordinates.at[i], i);
    sets_grow(&c->together, dae->coordinates.n);
    vec_grow(&c->system_of, dae->coordinates.n);
    vec_grow(&c->index_of, dae->coordinates.n);
    for (uint32_t i = 1; i < dae->coordinates.n && c->two_sided; i++)
        sets_join(&c->together, 0, i); // a path has one action
    find_connected(c);
    collect_definitions(c);
}

static void
finish(Collect *c)
{
    map_free(&c->coordinate_of);
    map_free(&c->given_by);
    vec_free(&c->definitions);
    map_free(&c->rate_given_by);
    vec_free(&c->integrals);
    vec_free(&c->state);
    vec_free(&c->order);
    vec_free(&c->together);
    vec_free(&c->system_of);
    vec_free(&c->index_of);
    vec_free(&c->connected);
    map_free(&c->local);
}

bool
systems_collect(Dae *dae, Diags *diags, bool two_sided, Systems *out)
{
    Collect c = {.dae = dae, .diags = diags, .systems = out, .two_sided = two_sided, .good = true};
    U32Vec reach = {0};
    start(&c);
    for (uint32_t i = 0; i < dae->energies.n; i++) {
        uint32_t found = join_energy(&c, &dae->energies.at[i]);
        vec_push(&reach, found);
        if (found == NONE)
            no_coordinate(&c, &dae->energies.at[i]);
    }
    if (c.good) {
        make_systems(&c);
        write_definitions(&c);
        for (uint32_t i = 0; i < dae->energies.n; i++)
            if (!dae->energies.at[i].memory)
                collect_entry(&c, system_with(&c, reach.at[i]), i);
            else
                note_memory(&c, system_with(&c, reach.at[i]), &dae->energies.at[i]);
        for (uint32_t s = 0; s < out->n; s++)
            c.good &= system_find_duality(&out->at[s]);
        for (uint32_t i = 0; i < dae->energies.n && c.good; i++)
            if (dae->energies.at[i].memory)
                collect_memory(&c, system_with(&c, reach.at[i]), i);
    }
    vec_free(&reach);
    finish(&c);
    return c.good && !diags_errors(diags);
}
