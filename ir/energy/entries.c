// entries.c: energies, forces, inertias and constraints as entries of their system.
//
// Purpose: checks what an item of an energy section depends on and writes it over the system's slots.
// Method: none: what an item depends on is checked slot by slot, and its shape rewritten over the slots of its system.
// Contract: collect.h.
// Complexity: linear in the expressions.
#include "ir/energy/collect.h"
#include "ir/base/diag.h"
#include "ir/dae/guards.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

static bool
has_no_derivative(const Collect *c, Expr e)
{
    static const Op without[] = {OP_TAR, OP_SGN, OP_DELAY, OP_TRANSPORT, OP_INITIAL, OP_TERMINAL, OP_SAMPLE};
    bool found = false;
    for (uint32_t i = 0; i < sizeof without / sizeof *without; i++)
        found |= expr_has_op(c->dae->exprs, e, without[i]);
    return found;
}

// A fractional derivative in what is varied: the variation of an integral over time turns it into one from the end of the
// run backwards (17).
static bool
refuse_fractional(Collect *c, const Energy *energy)
{
    if (c->two_sided || !expr_has_op(c->dae->exprs, energy->shape, OP_FDER) || (energy->kind == ENERGY_DISSIPATION && !energy->memory) || energy->kind == ENERGY_FORCE)
        return false;
    Diag *diag = diag_add(c->diags, E0803, energy->span, "an energy depends on a fractional derivative: its equations of motion would "
                          "contain derivatives from the end of the run backwards");
    diag_help(diag, "the force of a fractional element is 'dissipation c/2*fder(x, alpha)^2', that of a memory element of order alpha "
                    "'memory(order = alpha) dissipation E'; 'mdlc path' finds the motion between two given positions for which the "
                    "action of such an energy is stationary");
    c->good = false;
    return true;
}

static void
add_force(Collect *c, System *system, uint32_t from, Expr text)
{
    const Energy *energy = &c->dae->energies.at[from];
    Expr left = expr_arg(c->dae->exprs, text, 0);
    uint32_t coordinate, position;
    if (expr_op(c->dae->exprs, left) == OP_SLOT && expr_slot_of(c->dae->exprs, left) < 3 * system->n
        && expr_slot_of(c->dae->exprs, left) % 3 == 0) {
        coordinate = expr_slot_of(c->dae->exprs, left) / 3;
        vec_push(&system->forces, (Pull){coordinate, expr_arg(c->dae->exprs, text, 1), from});
        return;
    }
    if (c->two_sided && system_depends(system, left, 0) && !system_depends(system, left, 1)) {
        vec_push(&system->loads, (Load){left, expr_arg(c->dae->exprs, text, 1)});
        return;
    }
    bool placed = expr_op(c->dae->exprs, left) == OP_SLOT
                  && map_get(&c->local, system->vars.at[expr_slot_of(c->dae->exprs, left)], &position);
    if (placed && !system_depends(system, position, 1)) {
        vec_push(&system->loads, (Load){position, expr_arg(c->dae->exprs, text, 1)});
        return;
    }
    diag_add(c->diags, E0807, energy->span, "a generalised force acts on a coordinate, or on a position that an equation "
                                            "gives: force q = ...");
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
                  dae_name(c->dae, system->coordinates.at[i]));
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
    } else if (expr_op(exprs, s) == OP_MOVING) {
        collect_moving(c, system, from, m, s);
    } else if (!system_rates(system, &s, 1, &rate)) {
        collect_no_derivative(c, c->dae->energies.at[from].span);
    } else {
        collect_velocity(system, (Inertia){.m = m, .v = rate, .s = s, .from = from});
    }
}

// --- memory energies

// What the energy is called, and what its argument must be, in a system of displacements or of momenta.
static const char *
memory_name(const Energy *energy)
{
    return energy->kind == ENERGY_KINETIC ? "kinetic energy" : energy->kind == ENERGY_POTENTIAL ? "potential" : "dissipation";
}

static bool
wrong_argument(Collect *c, const Energy *energy, const char *text, Var var, const char *help)
{
    Diag *diag = diag_add(c->diags, E0806, energy->span, text, dae_name(c->dae, var));
    diag_help(diag, "%s", help);
    return false;
}

// A function of displacements: inerters and dampers; springs when coordinates are momenta.
static bool
displacement(Collect *c, System *system, const Energy *energy, Var var, Expr *s)
{
    if (collect_role(c, var) == ROLE_INTEGRAL) {
        Diag *diag = diag_add(c->diags, E0806, energy->span, "a memory %s is a function of %s, but '%s' is an integral of them",
                              memory_name(energy), system->dual ? "momenta" : "displacements", dae_name(c->dae, var));
        diag_help(diag, system->dual ? "with momenta as coordinates, 'memory kinetic' is the energy that is a function of their integrals"
                                     : "'memory potential' is the energy that is a function of integrals of displacements");
        return false;
    }
    if (!collect_local(c, system, var, s))
        return false;
    if (!system_depends(system, *s, 1) && !system_depends(system, *s, 2))
        return true;
    return wrong_argument(c, energy, "a memory energy depends on '%s', which depends on velocities", var,
                          "integrated energies are functions of displacements (kinetic, dissipation) or of their integrals (potential)");
}

// Both orders are one number, whatever parameters become in a compiled model.
static bool
same_order(Collect *c, const Definition *integral, const Energy *energy, Expr told)
{
    Dae *dae = c->dae;
    const Var *row = dae->rows.at + energy->row;
    if (!integral->may_change && !(told && collect_may_change(dae, told, row)))
        return true;
    Expr one, other;
    uint32_t one_row, other_row;
    if (!told || !integral->told_order)
        return false;
    dae_bind_shape(dae, told, row, &one, &one_row);
    dae_bind_shape(dae, integral->told_order, dae->rows.at + dae->equations.at[integral->equation].row, &other, &other_row);
    bool same = one == other;
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, one) && same; k++)
        same = dae->rows.at[one_row + k] == dae->rows.at[other_row + k];
    return same;
}

// A function of integrals: springs; inerters when coordinates are momenta. *s is the displacement.
static bool
integral(Collect *c, System *system, const Energy *energy, Expr told, Var var, Expr *s)
{
    uint32_t found;
    const char *of = system->dual ? "a momentum" : "a displacement";
    if (!map_get(&c->rate_given_by, var, &found) || collect_role(c, var) == ROLE_DISPLACEMENT) {
        Diag *diag = diag_add(c->diags, E0806, energy->span, "a memory %s is a function of the integral of %s, but no equation says what "
                              "'%s' is the integral of", memory_name(energy), of, dae_name(c->dae, var));
        diag_help(diag, "declare its integral: Real zeta(start = 0, fixed = true), with the equation der(zeta) = %s",
                  dae_name(c->dae, var));
        return false;
    }
    const Definition *at = &c->integrals.at[found];
    if (at->order != energy->order) {
        Diag *diag = diag_add(c->diags, E0806, energy->span, "a memory %s of order %.10g is a function of the integral of "
                              "this order, but '%s' is one of order %.10g", memory_name(energy), energy->order, dae_name(c->dae, var),
                              at->order);
        diag_help(diag, "write fder(%s, %.10g) on the left side of its equation, or memory(order = %.10g) here",
                  dae_name(c->dae, var), energy->order, at->order);
        return false;
    }
    if (c->dae->settable && !same_order(c, at, energy, told)) {
        Diag *diag = diag_add(c->diags, E0806, energy->span, "the order of the integral '%s' and that of the energy can be set to different values in a "
                              "compiled model", dae_name(c->dae, var));
        diag_help(diag, "give both the same parameter: fder(%s, alpha) and memory(order = alpha)", dae_name(c->dae, var));
        return false;
    }
    const Equation *equation = &c->dae->equations.at[at->equation];
    Expr side = expr_arg(c->dae->exprs, equation->shape, at->swapped ? 0 : 1);
    if (!collect_localise(c, system, side, equation->row, false, s))
        return false;
    if (!system_depends(system, *s, 1) && !system_depends(system, *s, 2))
        return true;
    return wrong_argument(c, energy, "a memory energy depends on '%s', which is the integral of a velocity", var,
                          "a displacement itself is the argument of 'memory dissipation' and 'memory kinetic'");
}

// The displacement that a variable of a memory energy is, or is the integral of; false after E0806.
static bool
memory_displacement(Collect *c, System *system, const Energy *energy, Expr told, EnergyKind kind, Var var, Expr *s)
{
    if (c->dae->var_der_of.at[var] != NONE)
        return wrong_argument(c, energy, "a memory energy depends on the velocity '%s'", var,
                              "integrated energies are functions of displacements (kinetic, dissipation) or of their integrals "
                              "(potential)");
    return kind == ENERGY_POTENTIAL ? integral(c, system, energy, told, var, s) : displacement(c, system, energy, var, s);
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

static Sym
order_message(Dae *dae, Expr e, const Var *vars)
{
    return dae_guard_message(dae, e, vars, " was 1 when the model was compiled, and its memory element is an ordinary one: compile the model with this value");
}

// The number that parameters give as the order of an energy. False after E0219.
static bool
find_order(Collect *c, Energy *energy, Expr told)
{
    Dae *dae = c->dae;
    const Var *row = dae->rows.at + energy->row;
    Exprs *exprs = dae->exprs;
    if (!dae_known_expr(dae, told, row, &energy->order) || !(energy->order > 0 && energy->order <= 1)) {
        Out text = {0};
        dae_print_shape(dae, told, energy->row, NONE, &text);
        Diag *diag = diag_add(c->diags, E0219, energy->span, "the order %s of a memory energy must be a number in (0, 1]", text.text);
        out_free(&text);
        diag_help(diag, "an element of order 1 is an ordinary mem-spring, mem-damper or mem-inerter; the force of a mem-inerter of order a "
                        "has a derivative of order 2*a");
        c->good = false;
        return false;
    }
    if (energy->order == 1 && dae->settable) {
        Assert made = {.span = energy->span, .inst = dae->nodes.at[energy->node].inst};
        Expr condition = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_EQ, told, expr_const(exprs, 1)));
        dae_bind_shape(dae, condition, row, &made.condition, &made.row);
        dae_guard(dae, made, order_message, told, row);
    }
    return true;
}

void
collect_memory(Collect *c, System *system, uint32_t from)
{
    Energy *energy = &c->dae->energies.at[from];
    Exprs *exprs = c->dae->exprs;
    U32Vec used = {0}, slots = {0}, with = {0};
    Expr e, shape = energy->shape, told = 0, told_order = 0;
    if (expr_op(exprs, shape) == OP_EQN) {
        told = expr_arg(exprs, shape, 1);
        shape = expr_arg(exprs, shape, 0);
        if (!find_order(c, energy, told) || !collect_localise(c, system, told, energy->row, true, &told_order))
            return;
    }
    if (refuse_fractional(c, energy))
        return;
    c->good &= collect_localise(c, system, shape, energy->row, true, &e);
    expr_used_slots(exprs, &shape, 1, &used);
    for (uint32_t i = 0; i < used.n && c->good; i++) {
        Var var = c->dae->rows.at[energy->row + used.at[i]];
        Memory made = {.kind = memory_kind(system, energy), .order = energy->order, .told_order = told_order, .from = from};
        if (dae_kind(c->dae, var) != VAR_CONTINUOUS)
            continue;
        c->good = memory_displacement(c, system, energy, told, made.kind, var, &made.s);
        uint32_t slot = expr_slot_of(exprs, system_slot(system, var));
        vec_grow(&with, slot < with.n ? 0 : slot + 1 - with.n);
        if (made.kind == ENERGY_POTENTIAL)
            system->rate.at[slot] = made.s;
        if (made.kind != ENERGY_POTENTIAL || c->two_sided)
            with.at[slot] = made.s;
        vec_push(&slots, slot);
        vec_push(&system->memories, made);
    }
    if (c->two_sided && c->good)
        vec_push(&system->integrated_energies, (Integrated){memory_kind(system, energy), energy->order,
                                                            expr_substitute(exprs, e, with.at, with.n), from});
    for (uint32_t i = 0; i < slots.n && c->good; i++) {
        Expr slope = expr_diff(exprs, e, slots.at[i]);
        if (slope)
            system->memories.at[system->memories.n - slots.n + i].slope = expr_substitute(exprs, slope, with.at, with.n);
        else
            collect_no_derivative(c, energy->span);
    }
    vec_free(&used);
    vec_free(&slots);
    vec_free(&with);
}

// --- parts of ordinary energies from which nothing follows

static bool
has_integral(const Collect *c, const System *system, Expr e)
{
    U32Vec used = {0};
    bool found = false;
    expr_used_slots(c->dae->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n && !found; i++)
        found = used.at[i] >= 3 * system->n && collect_role(c, system->vars.at[used.at[i]]) == ROLE_INTEGRAL;
    vec_free(&used);
    return found;
}

// One term of an energy: what a dissipation has of positions alone, or any energy of integrals of coordinates alone, gives no force.
static bool
has_effect(Collect *c, const System *system, const Energy *energy, Expr term)
{
    bool moves = system_depends(system, term, 1) || expr_has_op(c->dae->exprs, term, OP_FDER);
    if (energy->kind == ENERGY_DISSIPATION && !moves && system_depends(system, term, 0)) {
        Diag *diag = diag_add(c->diags, E0803, energy->span, "a part of this dissipation depends on coordinates, but on no velocity, "
                              "so that no force follows from it");
        diag_help(diag, "a force that depends on positions is that of a potential; 'memory dissipation' is the energy of a damper "
                        "with memory");
        return false;
    }
    if (!moves && !system_depends(system, term, 0) && has_integral(c, system, term)) {
        Diag *diag = diag_add(c->diags, E0803, energy->span, "a part of this energy depends on integrals of coordinates alone, so that "
                              "no force follows from it");
        diag_help(diag, "energies of integrals are those of memory elements: 'memory potential'");
        return false;
    }
    return true;
}

// Goes through the terms of a sum, of its negative and of its multiples.
static void
check_effect(Collect *c, const System *system, const Energy *energy, Expr text)
{
    const Exprs *exprs = c->dae->exprs;
    U32Vec stack = {0};
    vec_push(&stack, text);
    while (stack.n && c->good) {
        Expr e = vec_pop(&stack), factor = NONE;
        Op op = expr_op(exprs, e);
        uint32_t n = expr_nargs(exprs, e), factors = 0;
        for (uint32_t i = 0; op == OP_MUL && i < n; i++)
            if (!system_is_fixed(system, expr_arg(exprs, e, i))) {
                factor = expr_arg(exprs, e, i);
                factors++;
            }
        if (op == OP_ADD || op == OP_NEG) {
            for (uint32_t i = 0; i < n; i++)
                vec_push(&stack, expr_arg(exprs, e, i));
        } else if (factors == 1) {
            vec_push(&stack, factor);
        } else if (op == OP_DIV && system_is_fixed(system, expr_arg(exprs, e, 1))) {
            vec_push(&stack, expr_arg(exprs, e, 0));
        } else {
            c->good = has_effect(c, system, energy, e);
        }
    }
    vec_free(&stack);
}

void
collect_entry(Collect *c, System *system, uint32_t from)
{
    const Energy *energy = &c->dae->energies.at[from];
    Expr text;
    bool force = energy->kind == ENERGY_FORCE;
    if (refuse_fractional(c, energy))
        return;
    if ((!force && has_no_derivative(c, energy->shape)) || !collect_localise(c, system, energy->shape, energy->row, force && !c->two_sided, &text)) {
        collect_no_derivative(c, energy->span);
        return;
    }
    if (energy->kind <= ENERGY_DISSIPATION)
        check_effect(c, system, energy, text);
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
