// From the model's energies to systems.
//
// Purpose: finds which coordinates belong together and writes energies over slots of their system. Method: a variable
// that an explicit equation v = e gives is a function of coordinates when e reaches one; such definitions are gone
// through once, definitions before their uses, by an explicit stack, and joined with union-find; then every energy is
// written over its system's slots, definitions put in their places. Other variables are signals: given from outside.
// Contract: system.h. Complexity: near-linear in the rows of energies and definitions.
#include "ir/base/sets.h"
#include "ir/energy/system.h"

typedef struct Definition { // of var, by the right (or left) side of an equation
    Var var;
    uint32_t equation;
    bool swapped;           // e = v
    uint32_t reach;         // a coordinate it depends on, or NONE
} Definition;

typedef struct Collect {
    Dae *dae;
    Diags *diags;
    Map coordinate_of;      // variable -> index into Dae.coordinates
    Map given_by;           // variable -> index into `definitions`
    VEC(Definition) definitions;
    Map rate_given_by;      // variable z of an equation der(z) = e -> index into `integrals`
    VEC(Definition) integrals;
    U8Vec state;            // per definition: 0 new, 1 on the stack, 2 done
    U32Vec order;           // definitions that reach coordinates, uses after what they use
    U32Vec together;        // sets of coordinates
    U32Vec system_of, index_of; // per coordinate: its system, its number there
    U8Vec connected;        // per variable: belongs to a connector
    Map local;              // variable (or its derivative) -> expression over its system's slots
    Systems *systems;
    bool good;
} Collect;

// Two coordinates, or NONE, that something depends on: one of them.
static uint32_t
join(Collect *c, uint32_t a, uint32_t b)
{
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    sets_join(&c->together, a, b);
    return a;
}

// The variable of which var is the derivative of order *order.
static Var
base_of(const Dae *dae, Var var, uint32_t *order)
{
    for (*order = 0; dae->var_der_of.at[var] != NONE; (*order)++)
        var = dae->var_der_of.at[var];
    return var;
}

// --- definitions

static void
define(Collect *c, uint32_t equation, Expr side, Expr other, bool swapped)
{
    const Dae *dae = c->dae;
    uint32_t known;
    if (expr_op(dae->exprs, side) != OP_SLOT || expr_uses_slot(dae->exprs, other, expr_slot_of(dae->exprs, side)))
        return;
    Var var = dae->rows.at[dae->equations.at[equation].row + expr_slot_of(dae->exprs, side)];
    Var of = dae->var_der_of.at[var];
    if (of != NONE && dae->var_group.at[of] != NONE && !map_get(&c->rate_given_by, of, &known)) {
        map_put(&c->rate_given_by, of, c->integrals.n);
        vec_push(&c->integrals, (Definition){of, equation, swapped, NONE});
    }
    if (dae->var_group.at[var] == NONE || dae_kind(dae, var) != VAR_CONTINUOUS || map_get(&c->coordinate_of, var, &known)
        || map_get(&c->given_by, var, &known))
        return;
    map_put(&c->given_by, var, c->definitions.n);
    vec_push(&c->definitions, (Definition){var, equation, swapped, NONE});
    vec_push(&c->state, 0);
}

static void
find_definitions(Collect *c)
{
    const Dae *dae = c->dae;
    for (int swapped = 0; swapped < 2; swapped++)
        for (uint32_t i = 0; i < dae->equations.n; i++) {
            const Equation *at = &dae->equations.at[i];
            if (at->kind == EQN_NORMAL && expr_op(dae->exprs, at->shape) == OP_EQN)
                define(c, i, expr_arg(dae->exprs, at->shape, swapped != 0), expr_arg(dae->exprs, at->shape, swapped == 0),
                       swapped != 0);
        }
}

// Looks at a variable that something on top of the stack uses: joins a coordinate, pushes a definition.
static uint32_t
reach_of(Collect *c, Var var, U32Vec *stack)
{
    uint32_t order, found;
    Var base = base_of(c->dae, var, &order);
    if (map_get(&c->coordinate_of, base, &found))
        return found;
    if (!map_get(&c->given_by, base, &found))
        return NONE;
    if (c->state.at[found] == 0 && stack)
        vec_push(stack, found);
    return c->state.at[found] == 2 ? c->definitions.at[found].reach : NONE;
}

static void
finish_definition(Collect *c, uint32_t d)
{
    uint32_t n, reach = NONE;
    const Var *row = dae_row(c->dae, c->definitions.at[d].equation, &n);
    for (uint32_t k = 0; k < n; k++)
        if (row[k] != c->definitions.at[d].var)
            reach = join(c, reach, reach_of(c, row[k], NULL));
    c->definitions.at[d].reach = reach;
    c->state.at[d] = 2;
    if (reach != NONE)
        vec_push(&c->order, d);
}

static void
visit(Collect *c, uint32_t first)
{
    U32Vec stack = {0};
    vec_push(&stack, first);
    while (stack.n) {
        uint32_t d = vec_last(&stack), n;
        if (c->state.at[d]) { // its parts are done, or it was on the stack twice, or it uses itself
            vec_drop(&stack);
            if (c->state.at[d] == 1)
                finish_definition(c, d);
            continue;
        }
        c->state.at[d] = 1;
        const Var *row = dae_row(c->dae, c->definitions.at[d].equation, &n);
        for (uint32_t k = 0; k < n; k++)
            reach_of(c, row[k], &stack);
    }
    vec_free(&stack);
}

// --- joining

static const char *
variable_name(Collect *c, Var var)
{
    return dae_name(c->dae, var);
}

// Something that moves but is neither a coordinate nor given by anything.
static bool
is_undeclared(Collect *c, Var base)
{
    uint32_t found;
    return dae_kind(c->dae, base) == VAR_CONTINUOUS && !map_get(&c->coordinate_of, base, &found)
           && !map_get(&c->given_by, base, &found) && !(base < c->connected.n && c->connected.at[base]);
}

static void
check_variable(Collect *c, const Energy *energy, Var var)
{
    uint32_t order, found;
    Var base = base_of(c->dae, var, &order);
    bool coordinate = map_get(&c->coordinate_of, base, &found);
    if (energy->kind == ENERGY_FORCE)
        return;
    if (order > 1 && coordinate) {
        Diag *diag = diag_add(c->diags, E0803, energy->span, "an energy depends on the acceleration of '%s'",
                              variable_name(c, base));
        diag_help(diag, "energies are functions of positions and velocities");
        c->good = false;
    } else if (is_undeclared(c, base)) {
        Diag *diag = diag_add(c->diags, E0803, energy->span,
                              "the energy depends on '%s', which is no coordinate and which no equation gives",
                              variable_name(c, base));
        diag_note(diag, dae_group(c->dae, base)->span, "'%s' is declared here", variable_name(c, base));
        diag_help(diag, "declare it as a coordinate ('coordinate Real %s'), or give it by an equation '%s = ...'",
                  sym_text(c->dae->syms, dae_group(c->dae, base)->name), sym_text(c->dae->syms, dae_group(c->dae, base)->name));
        c->good = false;
    }
}

// What the equation der(z) = e of an integral reaches.
static uint32_t
join_integral(Collect *c, Definition *integral)
{
    uint32_t n, found, order;
    const Var *row = dae_row(c->dae, integral->equation, &n);
    for (uint32_t k = 0; k < n; k++) {
        if (c->dae->var_der_of.at[row[k]] == integral->var)
            continue;
        if (map_get(&c->given_by, base_of(c->dae, row[k], &order), &found))
            visit(c, found);
        integral->reach = join(c, integral->reach, reach_of(c, row[k], NULL));
    }
    return integral->reach;
}

static uint32_t
join_energy(Collect *c, const Energy *energy)
{
    uint32_t n = expr_nslots(c->dae->exprs, energy->shape), reach = NONE, found, order;
    for (uint32_t k = 0; k < n; k++) {
        Var var = c->dae->rows.at[energy->row + k];
        if (energy->memory && is_undeclared(c, var) && map_get(&c->rate_given_by, var, &found)) {
            reach = join(c, reach, join_integral(c, &c->integrals.at[found]));
            continue;
        }
        check_variable(c, energy, var);
        if (map_get(&c->given_by, base_of(c->dae, var, &order), &found) && energy->kind != ENERGY_FORCE)
            visit(c, found);
        // A force may depend on anything without joining it to its coordinate.
        if (energy->kind != ENERGY_FORCE || k == 0)
            reach = join(c, reach, reach_of(c, var, NULL));
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

static bool
local_of(Collect *c, System *system, Var var, Expr *out)
{
    uint32_t order, found;
    Var base = base_of(c->dae, var, &order);
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
static bool
localise(Collect *c, System *system, Expr e, uint32_t row, bool plainly, Expr *out)
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
            good = local_of(c, system, var, &with[used.at[i]]);
    }
    if (good)
        *out = expr_substitute(c->dae->exprs, e, with, n);
    vec_free(&used);
    free(with);
    return good;
}

static void
no_derivative(Collect *c, Span span)
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
        if (localise(c, system, side, equation->row, false, &text))
            map_put(&c->local, at->var, text);
        else
            no_derivative(c, equation->span);
    }
}

static bool
has_no_derivative(const Collect *c, Expr e)
{
    static const Op without[] = {OP_TAR, OP_SGN, OP_DELAY, OP_INITIAL, OP_TERMINAL, OP_SAMPLE};
    bool found = false;
    for (uint32_t i = 0; i < sizeof without / sizeof *without; i++)
        found |= expr_has_op(c->dae->exprs, e, without[i]);
    return found;
}

static System *
system_with(Collect *c, uint32_t reach)
{
    return &c->systems->at[c->system_of.at[sets_find(&c->together, reach)]];
}

// --- entries

static void
add_force(Collect *c, System *system, uint32_t from, Expr text)
{
    const Energy *energy = &c->dae->energies.at[from];
    Expr left = expr_arg(c->dae->exprs, text, 0);
    uint32_t coordinate;
    if (expr_op(c->dae->exprs, left) == OP_SLOT && expr_slot_of(c->dae->exprs, left) < 3 * system->n
        && expr_slot_of(c->dae->exprs, left) % 3 == 0) {
        coordinate = expr_slot_of(c->dae->exprs, left) / 3;
        vec_push(&system->forces, (Pull){coordinate, expr_arg(c->dae->exprs, text, 1), from});
        return;
    }
    diag_add(c->diags, E0807, energy->span, "a generalised force acts on a coordinate: force q = ...");
    c->good = false;
}

static void
add_limit(Collect *c, System *system, uint32_t from, Expr text)
{
    Limit limit = {.left = expr_arg(c->dae->exprs, text, 0), .right = expr_arg(c->dae->exprs, text, 1),
                   .multiplier = NONE, .from = from};
    Expr residual = expr_sub(c->dae->exprs, limit.left, limit.right);
    limit.velocity = system_depends(system, residual, 1);
    for (uint32_t i = 0; i < system->n && limit.velocity; i++) {
        Expr coefficient = expr_diff(c->dae->exprs, residual, 3 * i + 1);
        if (coefficient && !system_depends(system, coefficient, 1))
            continue;
        Diag *diag = diag_add(c->diags, E0807, c->dae->energies.at[from].span,
                              "a velocity constraint must be linear in the velocities");
        diag_note(diag, c->dae->energies.at[from].span, "it is not linear in der(%s)",
                  variable_name(c, system->coordinates.at[i]));
        c->good = false;
        return;
    }
    vec_push(&system->limits, limit);
}

static void
add_inertia(Collect *c, System *system, uint32_t from, Expr text)
{
    Exprs *exprs = c->dae->exprs;
    Expr m = expr_arg(exprs, text, 0), s = expr_arg(exprs, text, 1), rate = 0;
    if (system_depends(system, s, 1)) {
        diag_add(c->diags, E0807, c->dae->energies.at[from].span,
                 "an inertia moves with a position or an angle; this one depends on velocities");
        c->good = false;
    } else if (!system_rates(system, &s, 1, &rate)) {
        no_derivative(c, c->dae->energies.at[from].span);
    } else if (system_is_fixed(system, m)) {
        vec_push(&system->inertias, (Inertia){m, rate, s, from});
    } else { // a mass that changes: its energy only
        Expr square = expr_2(exprs, OP_POW, rate, expr_const(exprs, 2));
        Expr half = expr_2(exprs, OP_DIV, m, expr_const(exprs, 2));
        vec_push(&system->kinetic, (Term){expr_2(exprs, OP_MUL, half, square), from});
    }
}

// The displacement that a variable of a memory energy is, or is the integral of; false after E0806.
static bool
memory_displacement(Collect *c, System *system, const Energy *energy, EnergyKind kind, Var var, Expr *s)
{
    uint32_t found;
    if (c->dae->var_der_of.at[var] != NONE) {
        Diag *diag = diag_add(c->diags, E0806, energy->span, "a memory energy depends on the velocity '%s'",
                              variable_name(c, var));
        diag_help(diag, "integrated energies are functions of displacements (kinetic, dissipation) or of their integrals "
                        "(potential)");
        return false;
    }
    if (kind != ENERGY_POTENTIAL)
        return local_of(c, system, var, s);
    if (!map_get(&c->rate_given_by, var, &found)) {
        Diag *diag = diag_add(c->diags, E0806, energy->span, "a memory potential is a function of the integral of a "
                              "displacement, but no equation says what '%s' is the integral of", variable_name(c, var));
        diag_help(diag, "declare its integral: Real zeta(start = 0, fixed = true), with the equation der(zeta) = %s",
                  variable_name(c, var));
        return false;
    }
    const Definition *at = &c->integrals.at[found];
    const Equation *equation = &c->dae->equations.at[at->equation];
    Expr side = expr_arg(c->dae->exprs, equation->shape, at->swapped ? 0 : 1);
    return localise(c, system, side, equation->row, false, s);
}

// Where coordinates are momenta, the integrated kinetic energy is one of their integrals.
static EnergyKind
memory_kind(const System *system, const Energy *energy)
{
    EnergyKind kind = (EnergyKind)energy->kind;
    if (!system->dual || kind == ENERGY_DISSIPATION)
        return kind;
    return kind == ENERGY_KINETIC ? ENERGY_POTENTIAL : ENERGY_KINETIC;
}

static void
add_memory(Collect *c, System *system, uint32_t from)
{
    const Energy *energy = &c->dae->energies.at[from];
    Exprs *exprs = c->dae->exprs;
    U32Vec used = {0}, slots = {0}, with = {0};
    Expr e;
    c->good &= localise(c, system, energy->shape, energy->row, true, &e);
    expr_used_slots(exprs, &energy->shape, 1, &used);
    for (uint32_t i = 0; i < used.n && c->good; i++) {
        Var var = c->dae->rows.at[energy->row + used.at[i]];
        Memory made = {.kind = memory_kind(system, energy), .from = from};
        if (dae_kind(c->dae, var) != VAR_CONTINUOUS)
            continue;
        c->good = memory_displacement(c, system, energy, made.kind, var, &made.s);
        uint32_t slot = expr_slot_of(exprs, system_slot(system, var));
        vec_grow(&with, slot < with.n ? 0 : slot + 1 - with.n);
        if (made.kind == ENERGY_POTENTIAL)
            system->rate.at[slot] = made.s;
        else
            with.at[slot] = made.s;
        vec_push(&slots, slot);
        vec_push(&system->memories, made);
    }
    for (uint32_t i = 0; i < slots.n && c->good; i++) {
        Expr slope = expr_diff(exprs, e, slots.at[i]);
        if (slope)
            system->memories.at[system->memories.n - slots.n + i].slope = expr_substitute(exprs, slope, with.at, with.n);
        else
            no_derivative(c, energy->span);
    }
    vec_free(&used);
    vec_free(&slots);
    vec_free(&with);
}

static void
add_entry(Collect *c, uint32_t from, uint32_t reach)
{
    const Energy *energy = &c->dae->energies.at[from];
    System *system = system_with(c, reach);
    Expr text;
    bool force = energy->kind == ENERGY_FORCE;
    if ((!force && has_no_derivative(c, energy->shape)) || !localise(c, system, energy->shape, energy->row, force, &text)) {
        no_derivative(c, energy->span);
        return;
    }
    switch ((EnergyKind)energy->kind) {
    case ENERGY_KINETIC:
        vec_push(&system->kinetic, (Term){text, from});
        break;
    case ENERGY_POTENTIAL:
        vec_push(&system->potential, (Term){text, from});
        break;
    case ENERGY_DISSIPATION:
        vec_push(&system->dissipation, (Term){text, from});
        break;
    case ENERGY_FORCE:
        add_force(c, system, from, text);
        break;
    case ENERGY_CONSTRAINT:
        add_limit(c, system, from, text);
        break;
    case ENERGY_INERTIA:
        add_inertia(c, system, from, text);
        break;
    }
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
    find_connected(c);
    find_definitions(c);
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
systems_collect(Dae *dae, Diags *diags, Systems *out)
{
    Collect c = {.dae = dae, .diags = diags, .systems = out, .good = true};
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
                add_entry(&c, i, reach.at[i]);
        for (uint32_t s = 0; s < out->n; s++)
            c.good &= system_find_duality(&out->at[s]);
        for (uint32_t i = 0; i < dae->energies.n && c.good; i++)
            if (dae->energies.at[i].memory)
                add_memory(&c, system_with(&c, reach.at[i]), i);
    }
    vec_free(&reach);
    finish(&c);
    return c.good && !diags_errors(diags);
}
