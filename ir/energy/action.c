// action.c: the action of a model, for motions between two ends of time.
//
// Purpose: the Lagrangian as a function of coordinates, velocities and fractional derivatives, whose stationary action is the
// two-sided reading of (17), (23), (50), (51): what is a left derivative in L is a right one in the equation of Euler and Lagrange.
// Method: energies are collected as for equations of motion, all coordinates in one system. Parameters become numbers, variables that
// explicit equations give become functions of time. A fractional derivative of a linear combination of coordinates is that
// combination of features. With memory energies of order a the path is that of zeta, where D^a zeta = x are the coordinates
// (48), (50): mem-inerters and mem-dampers are functions of D^a zeta, mem-springs of zeta, and ordinary energies, which must be quadratic,
// have the same form in zeta and der(zeta) as in x and der(x), since M*der(der(x)) = D^a (M*der(der(zeta))).
// Derivatives of an order above 1 are those of rates, which become coordinates of their own: D^1.5 x = D^0.5 v, v = der(x) (Caputo's are).
// Contract: action.h; before pass energy, and instead of it. Complexity: linear in the energies, and their gradients.
#include "ir/energy/action.h"

#include <math.h>
#include <stdlib.h>

#include "ir/base/diag.h"
#include "ir/energy/energy_system.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/operator/operator.h"

enum { SIGNAL_DEPTH = 100, ORDER_MOST = 8 };

typedef struct Making {
    System *system;
    Action *action;
    Exprs *exprs;
    U32Vec with;       // per slot of the system: what stands for it; 0: not known yet
    Map given_by;      // variable -> equation whose one side it is
    uint32_t from;     // the energy that is looked at
    bool good;
} Making;

static Diag *
refuse(Making *m, const char *text, const char *name)
{
    m->good = false;
    return diag_add(m->system->diags, E0803, system_energy(m->system, m->from)->span, text, name);
}

// --- what stands for slots

static void
find_explicit(Making *m)
{
    const Dae *dae = m->system->dae;
    for (int swapped = 0; swapped < 2; swapped++)
        for (uint32_t i = 0; i < dae->equations.n; i++) {
            const Equation *at = &dae->equations.at[i];
            uint32_t known;
            if (at->kind != EQN_NORMAL || expr_op(m->exprs, at->shape) != OP_EQN)
                continue;
            Expr side = expr_arg(m->exprs, at->shape, swapped), other = expr_arg(m->exprs, at->shape, !swapped);
            if (expr_op(m->exprs, side) != OP_SLOT || expr_uses_slot(m->exprs, other, expr_slot_of(m->exprs, side)))
                continue;
            Var var = dae->rows.at[at->row + expr_slot_of(m->exprs, side)];
            if (!map_get(&m->given_by, var, &known))
                map_put(&m->given_by, var, 2 * i + !swapped);
        }
}

// A variable from outside as a function of time; 0: none is known.
static Expr
signal_of(Making *m, Var var, uint32_t depth)
{
    Dae *dae = m->system->dae;
    uint32_t found, n;
    double value;
    if (dae_known_value(dae, var, &value))
        return expr_const(m->exprs, value);
    if (dae->var_der_of.at[var] != NONE) {
        Expr of = signal_of(m, dae->var_der_of.at[var], depth + 1);
        return of ? expr_rate(m->exprs, of, NULL, 0) : 0;
    }
    if (depth > SIGNAL_DEPTH || !map_get(&m->given_by, var, &found))
        return 0;
    Expr e = expr_arg(m->exprs, dae->equations.at[found / 2].shape, found % 2), result = 0;
    const Var *row = dae_row(dae, found / 2, &n);
    Expr *with = base_calloc(n + 1, sizeof *with);
    bool good = true;
    for (uint32_t k = 0; k < n && good; k++)
        if (expr_uses_slot(m->exprs, e, k))
            good = (with[k] = signal_of(m, row[k], depth + 1)) != 0;
    if (good)
        result = expr_substitute(m->exprs, e, with, n);
    free(with);
    return result;
}

static uint32_t
feature(Action *action, uint32_t coordinate, double order)
{
    for (uint32_t i = 0; i < action->features.n; i++)
        if (action->features.at[i].coordinate == coordinate && action->features.at[i].order == order)
            return i;
    vec_push(&action->features, (ActionFeature){coordinate, order});
    return action->features.n - 1;
}

static bool
fill_slots(Making *m, Expr e)
{
    System *system = m->system;
    U32Vec used = {0};
    bool good = true;
    expr_used_slots(m->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n && good; i++) {
        uint32_t slot = used.at[i];
        vec_grow(&m->with, slot < m->with.n ? 0 : slot + 1 - m->with.n);
        if (m->with.at[slot])
            continue;
        if (slot < 3 * system->n && slot % 3 < 2) {
            m->with.at[slot] = expr_slot(m->exprs, 2 * (slot / 3) + slot % 3);
            continue;
        }
        Var var = system->vars.at[slot];
        if (slot < 3 * system->n && m->action->order == 0) {
            m->with.at[slot] = expr_slot(m->exprs, feature(m->action, slot / 3, 2));
            continue;
        }
        Expr signal = slot < 3 * system->n || var == NONE ? 0 : signal_of(m, var, 0);
        if (!signal) {
            Diag *diag = refuse(m, slot < 3 * system->n ? "beside memory energies the action depends on an acceleration, that of '%s'"
                                   : "what acts here depends on '%s', which is neither a parameter nor given by an explicit equation as a "
                                     "function of time and coordinates", dae_name(system->dae, slot < 3 * system->n ? system->coordinates.at[slot / 3] : var));
            diag_help(diag, "a path is that of the energies, forces and constraints of the energy section alone; what acts besides must be known at "
                            "every time");
            good = false;
            break;
        }
        m->with.at[slot] = signal;
    }
    vec_free(&used);
    return good;
}

// --- fractional derivatives

// Whether e is a sum of numbers times coordinates (slots 2*i; those of velocities too with `rates`); coefficient has 2n places.
static bool
is_linear(Making *m, Expr e, bool rates, double *coefficient)
{
    uint32_t slots = 2 * m->action->n;
    double *zero = base_calloc(m->action->features.n + slots + 1, sizeof *zero);
    bool good = !expr_has_op(m->exprs, e, OP_TIME) && expr_nslots(m->exprs, e) <= slots && expr_eval(m->exprs, e, zero, 0) == 0;
    for (uint32_t k = 0; k < slots && good; k++) {
        Expr part = expr_diff(m->exprs, e, k);
        good = part && expr_op(m->exprs, part) == OP_CONST && (k % 2 == 0 || rates || expr_is_const(m->exprs, part, 0));
        if (good && coefficient)
            coefficient[k] = expr_value(m->exprs, part);
    }
    free(zero);
    return good;
}

static Expr
take_fractional(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Making *m = context;
    if (expr_op(exprs, part) != OP_FDER)
        return 0;
    double *coefficient = base_calloc(2 * m->action->n + 1, sizeof *coefficient);
    double order = expr_op(exprs, args[1]) == OP_CONST ? expr_value(exprs, args[1]) : NAN;
    Expr sum = expr_const(exprs, 0);
    if (!m->good) {
        ;
    } else if (!(order <= (m->action->order != 0 ? 1 : ORDER_MOST))) {
        Diag *diag = refuse(m, "the path of a fractional derivative of %s", isnan(order) ? "an order that is not a number cannot be found"
                            : m->action->order != 0 ? "an order above 1 beside memory energies is not found" : "an order above 8 is not found");
        diag_help(diag, "the order of a derivative is a number or an expression of parameters");
    } else if (!is_linear(m, args[0], false, coefficient)) {
        Diag *diag = refuse(m, "the action of a path has fractional derivatives of %s only", "coordinates and their linear combinations");
        diag_help(diag, "declare what is differentiated as a coordinate s of its own, and say 'constraint s = ...'");
    } else {
        for (uint32_t i = 0; i < m->action->n; i++)
            if (coefficient[2 * i] != 0)
                sum = expr_2(exprs, OP_ADD, sum, expr_2(exprs, OP_MUL, expr_const(exprs, coefficient[2 * i]),
                                                        expr_slot(exprs, feature(m->action, i, order))));
    }
    free(coefficient);
    return sum;
}

// e of the system, over features; `level`: what stands for a coordinate, as an order (0, or that of the integrals).
static Expr
over_features(Making *m, Expr e, double level)
{
    if (!m->good || !fill_slots(m, e))
        return expr_const(m->exprs, 0);
    Expr made = expr_rewrite(m->exprs, expr_substitute(m->exprs, e, m->with.at, m->with.n), take_fractional, m);
    static const Op set_valued[] = {OP_SGN, OP_TAR};
    for (uint32_t i = 0; i < 2 && m->good; i++)
        if (expr_has_op(m->exprs, made, set_valued[i])) {
            Diag *diag = refuse(m, "%s has no path: its force is set-valued", "dry friction");
            diag_help(diag, "a smooth content function, for instance F*sqrt(der(x)^2 + v0^2), has one");
        }
    if (level == 0)
        return made;
    Expr *with = base_calloc(2 * m->action->n + 1, sizeof *with);
    for (uint32_t i = 0; i < m->action->n; i++)
        with[2 * i] = expr_slot(m->exprs, feature(m->action, i, level));
    made = expr_substitute(m->exprs, made, with, 2 * m->action->n);
    free(with);
    return made;
}

// --- ordinary energies

// Beside memory energies: a quadratic form of coordinates and velocities.
static void
check_quadratic(Making *m, Expr e)
{
    for (uint32_t k = 0; k < 2 * m->action->n && m->good && m->action->order != 0; k++) {
        Expr slope = expr_diff(m->exprs, e, k);
        if (slope && is_linear(m, slope, true, NULL))
            continue;
        Diag *diag = refuse(m, "beside memory energies this %s has no action: it is not quadratic with constant coefficients", "energy");
        diag_help(diag, "integrated energies exist for linear masses, springs and dampers; an element that is not linear is a memory element with "
                        "an integrated energy of its own");
    }
}

static void
add_terms(Making *m, const Term *terms, uint32_t n, double sign)
{
    for (uint32_t i = 0; i < n && m->good; i++) {
        m->from = terms[i].from;
        Expr e = over_features(m, terms[i].e, 0);
        check_quadratic(m, e);
        m->action->lagrangian = expr_2(m->exprs, OP_ADD, m->action->lagrangian, expr_2(m->exprs, OP_MUL, expr_const(m->exprs, sign), e));
    }
}

static void
add_inertias(Making *m)
{
    for (uint32_t i = 0; i < m->system->inertias.n && m->good; i++) {
        const Inertia *at = &m->system->inertias.at[i];
        Expr half = expr_2(m->exprs, OP_MUL, expr_const(m->exprs, 0.5), at->m);
        Term term = {expr_2(m->exprs, OP_MUL, half, expr_2(m->exprs, OP_POW, at->v, expr_const(m->exprs, 2))), at->from};
        add_terms(m, &term, 1, 1);
    }
}

static void
add_forces(Making *m)
{
    System *system = m->system;
    Expr *applied = base_calloc(2 * system->n + 1, sizeof *applied), *forces = applied + system->n;
    for (uint32_t i = 0; i < system->n; i++)
        applied[i] = forces[i] = expr_const(m->exprs, 0);
    for (uint32_t i = 0; i < system->forces.n; i++) {
        const Pull *pull = &system->forces.at[i];
        forces[pull->coordinate] = expr_2(m->exprs, OP_ADD, forces[pull->coordinate], pull->e);
        m->from = pull->from;
    }
    m->good = m->good && system_add_loads(system, forces);
    for (uint32_t i = 0; i < system->n && m->good && m->action->order != 0; i++)
        if (!expr_is_const(m->exprs, forces[i], 0)) {
            Diag *diag = refuse(m, "beside memory energies a generalised force has no %s", "action: the path is that of integrals of the coordinates");
            diag_help(diag, "integrated once, it would be an impulse that depends on the path");
            free(applied);
            return;
        }
    if (system->dissipation.n)
        m->from = system->dissipation.at[0].from;
    m->good = m->good && system_dissipation_forces(system, applied);
    for (uint32_t i = 0; i < system->n && m->good; i++) {
        Expr damping = over_features(m, applied[i], 0);
        if (m->good && m->action->order != 0 && !is_linear(m, damping, true, NULL))
            refuse(m, "beside memory energies a damper that is not linear has no %s", "action");
        vec_push(&m->action->force, expr_sub(m->exprs, over_features(m, forces[i], 0), damping));
    }
    free(applied);
}

static void
add_constraints(Making *m)
{
    for (uint32_t i = 0; i < m->system->limits.n && m->good; i++) {
        const Limit *limit = &m->system->limits.at[i];
        m->from = limit->from;
        if (limit->velocity) {
            Diag *diag = refuse(m, "a constraint between velocities has no %s", "path: its forces do no virtual work, which is no condition of "
                                "a stationary action");
            diag_help(diag, "write it between positions where it can be integrated; 'mdlc run' solves it from start values");
            return;
        }
        Expr e = over_features(m, limit_residual(m->system, limit), 0);
        if (m->good && m->action->order != 0 && !is_linear(m, e, false, NULL))
            refuse(m, "beside memory energies %s must be linear in the coordinates", "a constraint");
        vec_push(&m->action->constraints, e);
    }
}

// --- memory energies

// The variable z of an equation D^order z = x.
static Var
integral_of(Dae *dae, Var x, double order)
{
    const Exprs *exprs = dae->exprs;
    for (uint32_t i = 0; i < 2 * dae->equations.n; i++) {
        const Equation *at = &dae->equations.at[i / 2];
        const Var *row = dae->rows.at + at->row;
        double value;
        if (at->kind != EQN_NORMAL || expr_op(exprs, at->shape) != OP_EQN)
            continue;
        Expr rate = expr_arg(exprs, at->shape, i % 2), other = expr_arg(exprs, at->shape, 1 - i % 2);
        if (expr_op(exprs, other) != OP_SLOT || row[expr_slot_of(exprs, other)] != x)
            continue;
        if (order == 1 && expr_op(exprs, rate) == OP_SLOT && dae->var_der_of.at[row[expr_slot_of(exprs, rate)]] != NONE)
            return dae->var_der_of.at[row[expr_slot_of(exprs, rate)]];
        if (expr_op(exprs, rate) == OP_FDER && expr_op(exprs, expr_arg(exprs, rate, 0)) == OP_SLOT
            && dae_known_expr(dae, expr_arg(exprs, rate, 1), row, &value) && value == order)
            return row[expr_slot_of(exprs, expr_arg(exprs, rate, 0))];
    }
    return NONE;
}

static void
name_integrals(Making *m)
{
    Dae *dae = m->system->dae;
    Action *action = m->action;
    for (uint32_t i = 0; i < action->n && m->good; i++) {
        Var x = action->vars.at[i], z = integral_of(dae, x, action->order);
        if (z == NONE) {
            Diag *diag = refuse(m, "with memory energies the path is that of integrals, and no variable is the integral of '%s'", dae_name(dae, x));
            if (action->order == 1)
                diag_help(diag, "declare one, whose ends can then be given: Real zeta(start = 0, fixed = true), with the equation der(zeta) = %s",
                          dae_name(dae, x));
            else
                diag_help(diag, "declare one, whose ends can then be given: Real zeta(start = 0), with the equation fder(zeta, %.10g) = %s",
                          action->order, dae_name(dae, x));
        }
        vec_push(&action->of, x);
        action->vars.at[i] = z;
    }
}

// All memory elements have one order, and their displacements are linear in the coordinates.
static void
check_memories(Making *m)
{
    System *system = m->system;
    for (uint32_t i = 0; i < system->memories.n && m->good; i++) {
        const Memory *at = &system->memories.at[i];
        m->from = at->from;
        if (at->order != m->action->order)
            refuse(m, "memory energies of one path have one %s", "order");
        else if (!is_linear(m, over_features(m, at->s, 0), false, NULL) && m->good)
            refuse(m, "the path of a memory element needs a displacement that is linear in the %s", "coordinates");
    }
}

static void
add_memories(Making *m)
{
    System *system = m->system;
    Exprs *exprs = m->exprs;
    check_memories(m);
    for (uint32_t i = 0; i < system->integrated_energies.n && m->good; i++) {
        const Integrated *at = &system->integrated_energies.at[i];
        m->from = at->from;
        Expr e = over_features(m, at->e, at->kind == ENERGY_POTENTIAL ? 0 : at->order);
        if (at->kind != ENERGY_DISSIPATION) {
            Expr sign = expr_const(exprs, at->kind == ENERGY_KINETIC ? 1 : -1);
            m->action->lagrangian = expr_2(exprs, OP_ADD, m->action->lagrangian, expr_2(exprs, OP_MUL, sign, e));
            continue;
        }
        for (uint32_t k = 0; k < m->action->n && m->good; k++) {
            Expr slope = expr_diff(exprs, e, feature(m->action, k, at->order));
            if (slope)
                m->action->force.at[k] = expr_sub(exprs, m->action->force.at[k], slope);
            else
                refuse(m, "this contains something that has no %s", "derivative");
        }
    }
}

// --- rates

// The variable v of an equation v = der(x) that is no derivative itself, or that derivative, or NONE.
static Var
rate_variable(const Dae *dae, Var x)
{
    const Exprs *exprs = dae->exprs;
    Var rate = x == NONE ? NONE : dae->var_der.at[x];
    for (uint32_t i = 0; rate != NONE && i < 2 * dae->equations.n; i++) {
        const Equation *at = &dae->equations.at[i / 2];
        if (at->kind != EQN_NORMAL || expr_op(exprs, at->shape) != OP_EQN)
            continue;
        Expr side = expr_arg(exprs, at->shape, i % 2), other = expr_arg(exprs, at->shape, 1 - i % 2);
        const Var *row = dae->rows.at + at->row;
        if (expr_op(exprs, side) == OP_SLOT && expr_op(exprs, other) == OP_SLOT && row[expr_slot_of(exprs, side)] == rate
            && dae->var_der_of.at[row[expr_slot_of(exprs, other)]] == NONE)
            return row[expr_slot_of(exprs, other)];
    }
    return rate;
}

static uint32_t
rate_coordinate(const Dae *dae, Action *action, uint32_t of)
{
    for (uint32_t i = 0; i < action->n; i++)
        if (action->rate_of.at[i] == of)
            return i;
    vec_push(&action->vars, rate_variable(dae, action->vars.at[of]));
    vec_push(&action->rate_of, of);
    return action->n++;
}

// Derivatives of an order above 1 become those of rates; then the features of all coordinates are numbered as action.h says.
static void
take_rates(Making *m)
{
    Action *action = m->action;
    uint32_t plain = action->n, n = action->features.n;
    ActionFeature *of = base_calloc(n + 1, sizeof *of);
    Expr *with = base_calloc(n + 1, sizeof *with);
    for (uint32_t i = 0; i < plain; i++)
        vec_push(&action->rate_of, NONE);
    for (uint32_t k = 0; k < n; k++) {
        of[k] = action->features.at[k];
        for (; of[k].order > 1; of[k].order--)
            of[k].coordinate = rate_coordinate(m->system->dae, action, of[k].coordinate);
    }
    action->features.n = 0;
    for (uint32_t i = 0; i < action->n; i++) {
        vec_push(&action->features, (ActionFeature){i, 0});
        vec_push(&action->features, (ActionFeature){i, 1});
    }
    for (uint32_t k = 0; k < n; k++)
        with[k] = expr_slot(m->exprs, feature(action, of[k].coordinate, of[k].order));
    action->lagrangian = expr_substitute(m->exprs, action->lagrangian, with, n);
    for (uint32_t i = 0; i < plain; i++)
        action->force.at[i] = expr_substitute(m->exprs, action->force.at[i], with, n);
    for (uint32_t i = plain; i < action->n; i++)
        vec_push(&action->force, expr_const(m->exprs, 0));
    for (uint32_t j = 0; j < action->constraints.n; j++)
        action->constraints.at[j] = expr_substitute(m->exprs, action->constraints.at[j], with, n);
    free(of);
    free(with);
}

// --- the whole

static void
find_ends(Dae *dae, Action *action)
{
    Map of = {0};
    uint32_t i;
    for (uint32_t k = 0; k < action->n; k++) {
        if (action->vars.at[k] != NONE)
            map_put(&of, action->vars.at[k], k);
        vec_push(&action->start, action->rate_of.at[k] == NONE ? 0 : NAN);
        vec_push(&action->stop, NAN);
    }
    for (uint32_t b = 0; b < dae->binds.n; b++) {
        const Bind *bind = &dae->binds.at[b];
        double value;
        if (bind->attr != ATTR_START && bind->attr != ATTR_STOP)
            continue;
        bind_each(bind, var)
            if (map_get(&of, var, &i)) {
                bool known = dae_known_expr(dae, bind->shape, dae->rows.at + bind->row, &value);
                if (bind->attr == ATTR_STOP)
                    action->stop.at[i] = known ? value : INFINITY;
                else if (action->rate_of.at[i] == NONE || dae->var_flags.at[var] & VARF_FIXED)
                    action->start.at[i] = known ? value : INFINITY;
            }
    }
    map_free(&of);
}

static bool
make(Making *m)
{
    System *system = m->system;
    Action *action = m->action;
    action->n = system->n;
    action->lagrangian = expr_const(m->exprs, 0);
    action->order = system->memories.n ? system->memories.at[0].order : 0;
    m->from = system->memories.n ? system->memories.at[0].from : 0;
    for (uint32_t i = 0; i < system->n; i++) {
        vec_push(&action->vars, system->coordinates.at[i]);
        vec_push(&action->features, (ActionFeature){i, 0});
        vec_push(&action->features, (ActionFeature){i, 1});
    }
    find_explicit(m);
    add_inertias(m);
    add_terms(m, system->kinetic.at, system->kinetic.n, 1);
    add_terms(m, system->potential.at, system->potential.n, -1);
    add_forces(m);
    add_constraints(m);
    if (action->order != 0 && m->good) {
        add_memories(m);
        name_integrals(m);
    }
    if (m->good) {
        take_rates(m);
        find_ends(system->dae, action);
    }
    return m->good;
}

bool
action_of(Dae *dae, Diags *diags, Action *action)
{
    Systems systems = {0};
    *action = (Action){0};
    integrals_of_energies(dae);
    bool good = systems_collect(dae, diags, true, &systems) && systems.n == 1;
    if (good) {
        Making m = {.system = &systems.at[0], .action = action, .exprs = dae->exprs, .good = true};
        good = system_check_dissipation(m.system) && make(&m) && !diags_errors(diags);
        vec_free(&m.with);
        map_free(&m.given_by);
    }
    for (uint32_t s = 0; s < systems.n; s++)
        system_free(&systems.at[s]);
    vec_free(&systems);
    return good;
}

void
action_free(Action *action)
{
    vec_free(&action->vars);
    vec_free(&action->start);
    vec_free(&action->stop);
    vec_free(&action->rate_of);
    vec_free(&action->features);
    vec_free(&action->force);
    vec_free(&action->constraints);
    vec_free(&action->of);
}

void
action_name(Dae *dae, const Action *action, uint32_t coordinate, Out *out)
{
    if (action->vars.at[coordinate] != NONE) {
        dae_told_name(dae, action->vars.at[coordinate], out);
        return;
    }
    out_text(out, "der(");
    action_name(dae, action, action->rate_of.at[coordinate], out); // as deep as orders are high
    out_char(out, ')');
}
