// motion_proof.c: nothing is lost: the equations of motion are those of the energies as they were written.
//
// Purpose: a formalism or the collecting of energies may drop or change a term in ways that leave a square, regular model with another
// motion. Method: for each coordinate q with velocity u the expression
//     E = sum of +-(d/dt(dT/du) - dT/dq) + dD/du - Q*ds/dq - lambda*dg/dq
// is made energy by energy, with variables that explicit equations give written out, by differentiation forward; nothing is shared with the
// formalisms, which sort energies into inertias and others and accumulate in reverse. At random points the equation that the pass made for
// q must have the same value (Hamilton's, with the momentum and its rate put in). (Equal at random points is equal: Schwartz 1980, Zippel 1979.)
// Sources: Lagrange's equations with multipliers; memory energies: docs/energies.md, (46)-(49).
// Maggi's equations of a system with constraints are sums B'r of r = E without multipliers, A B = 0 with the coefficients A of the constraints
// (docs/energies.md, (54)): at points with the same A, each must be the same combination of r (combination.h).
// Contract: motion_proof.h. Not decided: fractional derivatives, what has no value at the points, systems of more than
// MOST_COORDINATES coordinates or of large energies. Complexity: bounded for each system; linear in the systems.
#include "ir/energy/motion_proof.h"

#include <math.h>

#include "ir/energy/combination.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth.h"

enum { MOST_COORDINATES = 12, MOST_OPERATIONS = 4000, MOST_WRITTEN = 300, TRIALS = 3 };
static const double AGREE = 1e-8; // of the size of all terms

typedef struct Proof {
    Dae *dae;
    Exprs *exprs;
    const MotionRecord *record;
    const MotionSystem *system;
    Map given_by;        // variable -> equation that gives it explicitly, + 1; before the pass
    Map integral_of;     // variable z -> equation der(z) = e, + 1
    U8Vec state;         // per variable: 0 not asked for, 1 on the stack, 2 known
    U32Vec text;         // per variable: its text over the slots of the proof; 0: no equation gives it
    U32Vec given;        // variables with a text
    Map slot_of;         // variable -> slot
    U32Vec vars, rate;   // per slot
    F64Vec value;
    Map forced;          // variable -> index into `forced_value`
    F64Vec forced_value;
    bool open, lost;     // not decided; a constraint has no multiplier
    uint32_t trial, sample;
    U32Vec coefficients; // Maggi's equations: A, constraint by constraint
    U8Vec held;          // per slot: A depends on it, and samples of a trial do not differ in it
} Proof;

// --- variables

static Expr
slot_for(Proof *p, Var var)
{
    uint32_t slot;
    if (!map_get(&p->slot_of, var, &slot)) {
        slot = p->vars.n;
        map_put(&p->slot_of, var, slot);
        vec_push(&p->vars, var);
        vec_push(&p->rate, 0);
        bool flows = dae_kind(p->dae, var) == VAR_CONTINUOUS && dae_type(p->dae, var) == TYPE_REAL;
        // A variable that nothing differentiates has no derivative in the model, and no need of one.
        if (flows && p->dae->var_der.at[var] != NONE) {
            Expr rate = slot_for(p, p->dae->var_der.at[var]); // which may move what p->rate is in
            p->rate.at[slot] = rate;
        }
    }
    return expr_slot(p->exprs, slot);
}

static void
begin_slots(Proof *p)
{
    for (uint32_t i = 0; i < p->system->n; i++) {
        Var q = p->record->coordinates.at[p->system->first + i], u = p->dae->var_der.at[q];
        Var a = u == NONE ? NONE : p->dae->var_der.at[u];
        Var three[] = {q, u, a};
        for (int k = 0; k < 3; k++) {
            if (three[k] != NONE)
                map_put(&p->slot_of, three[k], p->vars.n);
            vec_push(&p->vars, three[k]);
            vec_push(&p->rate, k < 2 ? expr_slot(p->exprs, 3 * i + (uint32_t)k + 1) : 0);
        }
    }
}

static Var
base_of(const Dae *dae, Var var, uint32_t *order)
{
    for (*order = 0; dae->var_der_of.at[var] != NONE; (*order)++)
        var = dae->var_der_of.at[var];
    return var;
}

static bool
is_coordinate(const Proof *p, Var var)
{
    uint32_t slot;
    return map_get(&p->slot_of, var, &slot) && slot < 3 * p->system->n;
}

// Explicit equations v = e, and der(z) = e, from before the pass.
static void
find_definitions(Proof *p, uint32_t before)
{
    Dae *dae = p->dae;
    uint32_t known;
    for (uint32_t e = 0; e < before; e++) {
        const Equation *at = &dae->equations.at[e];
        for (uint32_t side = 0; side < 2 && at->kind == EQN_NORMAL && expr_op(p->exprs, at->shape) == OP_EQN; side++) {
            Expr left = expr_arg(p->exprs, at->shape, side), right = expr_arg(p->exprs, at->shape, 1 - side);
            if (expr_op(p->exprs, left) != OP_SLOT || expr_uses_slot(p->exprs, right, expr_slot_of(p->exprs, left)))
                continue;
            Var var = dae->rows.at[at->row + expr_slot_of(p->exprs, left)];
            bool derivative = dae->var_der_of.at[var] != NONE;
            Var of = derivative ? dae->var_der_of.at[var] : var;
            Map *to = derivative ? &p->integral_of : &p->given_by;
            if (dae_kind(dae, of) == VAR_CONTINUOUS && !map_get(to, of, &known))
                map_put(to, of, e + 1);
        }
    }
}

static Expr
definition_side(const Proof *p, uint32_t equation, Var var)
{
    const Equation *at = &p->dae->equations.at[equation];
    Expr left = expr_arg(p->exprs, at->shape, 0);
    bool first = expr_op(p->exprs, left) == OP_SLOT && p->dae->rows.at[at->row + expr_slot_of(p->exprs, left)] == var;
    return expr_arg(p->exprs, at->shape, first ? 1 : 0);
}

// The text of an expression, when all its variables are known; `plainly`: variables that equations give stay what they are.
static Expr
written(Proof *p, Expr e, uint32_t row, bool plainly)
{
    uint32_t n = expr_nslots(p->exprs, e), order, text;
    Expr *with = base_calloc(n + 1, sizeof *with);
    U32Vec used = {0};
    expr_used_slots(p->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n; i++) {
        Var var = p->dae->rows.at[row + used.at[i]], base = base_of(p->dae, var, &order);
        text = plainly || is_coordinate(p, var) ? 0 : p->text.at[base];
        if (!text) {
            p->open |= !is_coordinate(p, var) && is_coordinate(p, base);
            with[used.at[i]] = slot_for(p, var);
            continue;
        }
        for (; order && text; order--)
            text = expr_rate(p->exprs, text, p->rate.at, p->rate.n);
        p->open |= !text;
        with[used.at[i]] = text ? text : expr_const(p->exprs, 0);
    }
    Expr result = expr_substitute(p->exprs, e, with, n);
    vec_free(&used);
    free(with);
    return result;
}

// Writes out what the variables of an expression depend on, definitions before their uses, by a stack; circles cannot be written out.
static void
write_out(Proof *p, Expr e, uint32_t row)
{
    U32Vec stack = {0}, used = {0};
    uint32_t order, equation;
    expr_used_slots(p->exprs, &e, 1, &used);
    for (uint32_t i = 0; i < used.n; i++)
        vec_push(&stack, base_of(p->dae, p->dae->rows.at[row + used.at[i]], &order));
    while (stack.n) {
        Var var = stack.at[stack.n - 1];
        bool given = !is_coordinate(p, var) && map_get(&p->given_by, var, &equation);
        if (!given || p->state.at[var] == 2) {
            stack.n--;
            continue;
        }
        const Equation *at = &p->dae->equations.at[equation - 1];
        Expr side = definition_side(p, equation - 1, var);
        if (p->state.at[var] == 1) { // all that it needs is known
            stack.n--;
            Expr text = written(p, side, at->row, false);
            p->text.at[var] = text;
            vec_push(&p->given, var);
            p->state.at[var] = 2;
            continue;
        }
        p->state.at[var] = 1;
        vec_clear(&used);
        expr_used_slots(p->exprs, &side, 1, &used);
        for (uint32_t i = 0; i < used.n; i++) {
            Var needs = base_of(p->dae, p->dae->rows.at[at->row + used.at[i]], &order);
            p->open |= p->state.at[needs] == 1; // a circle
            if (p->state.at[needs] == 0)
                vec_push(&stack, needs);
        }
        if (p->open)
            break;
    }
    vec_free(&stack);
    vec_free(&used);
}

// --- the equation of one coordinate

static Expr
plus(const Proof *p, Expr a, Expr b)
{
    return expr_2(p->exprs, OP_ADD, a, b);
}

static Expr
times(const Proof *p, Expr a, Expr b)
{
    return expr_2(p->exprs, OP_MUL, a, b);
}

static Expr
proof_rate(Proof *p, Expr e)
{
    Expr rate = e ? expr_rate(p->exprs, e, p->rate.at, p->rate.n) : 0;
    p->open |= !rate;
    return rate ? rate : expr_const(p->exprs, 0);
}

static Expr
slope_of(Proof *p, Expr e, uint32_t slot)
{
    Expr slope = expr_diff(p->exprs, e, slot);
    p->open |= !slope;
    return slope ? slope : expr_const(p->exprs, 0);
}

// Per coordinate: what one energy has in E, and in the momentum.
typedef struct Share {
    Expr force, momentum;
} Share;

static void
share_of_action(Proof *p, Expr e, double sign, uint32_t i, Share *share)
{
    Expr momentum = times(p, expr_const(p->exprs, sign), slope_of(p, e, 3 * i + 1));
    Expr position = times(p, expr_const(p->exprs, -sign), slope_of(p, e, 3 * i));
    share->momentum = plus(p, share->momentum, momentum);
    share->force = plus(p, share->force, plus(p, proof_rate(p, momentum), position));
}

// m/2*der(s)^2, also of both coordinates of a point in a moving frame.
static Expr
energy_of_inertia(Proof *p, Expr m, Expr s)
{
    Exprs *exprs = p->exprs;
    Expr half = expr_2(exprs, OP_DIV, m, expr_const(exprs, 2)), two = expr_const(exprs, 2);
    if (expr_op(exprs, s) != OP_MOVING)
        return times(p, half, expr_2(exprs, OP_POW, proof_rate(p, s), two));
    Expr theta = expr_arg(exprs, s, 0), x = expr_arg(exprs, s, 3), y = expr_arg(exprs, s, 4);
    Expr c = expr_1(exprs, OP_COS, theta), d = expr_1(exprs, OP_SIN, theta);
    Expr X = plus(p, expr_arg(exprs, s, 1), expr_sub(exprs, times(p, c, x), times(p, d, y)));
    Expr Y = plus(p, expr_arg(exprs, s, 2), plus(p, times(p, d, x), times(p, c, y)));
    return times(p, half, plus(p, expr_2(exprs, OP_POW, proof_rate(p, X), two), expr_2(exprs, OP_POW, proof_rate(p, Y), two)));
}

// A memory element: the slope of its energy by each displacement s, or by each integral z of one, acts along s.
static void
share_of_memory(Proof *p, const Energy *energy, uint32_t i, Share *share)
{
    Exprs *exprs = p->exprs;
    EnergyKind kind = (EnergyKind)energy->kind;
    if (p->system->dual && kind != ENERGY_DISSIPATION)
        kind = kind == ENERGY_KINETIC ? ENERGY_POTENTIAL : ENERGY_KINETIC;
    Expr plain = written(p, energy->shape, energy->row, true);
    U32Vec used = {0};
    expr_used_slots(exprs, &energy->shape, 1, &used);
    for (uint32_t k = 0; k < used.n; k++) {
        Var var = p->dae->rows.at[energy->row + used.at[k]];
        uint32_t slot = expr_slot_of(exprs, slot_for(p, var)), equation;
        if (dae_kind(p->dae, var) != VAR_CONTINUOUS)
            continue;
        Expr s, slope;
        if (kind == ENERGY_POTENTIAL) {
            if (!map_get(&p->integral_of, var, &equation)) {
                p->open = true;
                continue;
            }
            const Equation *at = &p->dae->equations.at[equation - 1];
            Expr side = definition_side(p, equation - 1, p->dae->var_der.at[var]);
            write_out(p, side, at->row);
            s = written(p, side, at->row, false);
            p->rate.at[slot] = s;
            slope = slope_of(p, plain, slot);
        } else {
            s = !is_coordinate(p, var) && p->text.at[var] ? p->text.at[var] : expr_slot(exprs, slot);
            // By the displacement, then with all of them written out.
            Expr by = slope_of(p, plain, slot);
            Expr *with = base_calloc(p->vars.n + 1, sizeof *with);
            for (uint32_t j = 0; j < used.n; j++) {
                Var other = p->dae->rows.at[energy->row + used.at[j]];
                if (!is_coordinate(p, other) && p->text.at[other])
                    with[expr_slot_of(exprs, slot_for(p, other))] = p->text.at[other];
            }
            slope = expr_substitute(exprs, by, with, p->vars.n);
            free(with);
        }
        Expr along = slope_of(p, s, 3 * i), rate = proof_rate(p, slope);
        if (kind == ENERGY_KINETIC) {
            share->momentum = plus(p, share->momentum, times(p, rate, along));
            rate = proof_rate(p, rate);
        }
        share->force = plus(p, share->force, times(p, rate, along));
    }
    vec_free(&used);
}

static void
subtract_force(Proof *p, Expr force, Expr s, uint32_t slot, Share *share)
{
    share->force = expr_sub(p->exprs, share->force, times(p, force, slope_of(p, s, slot)));
}

static bool
constrains_velocities(const Proof *p, Expr g)
{
    bool velocity = false;
    for (uint32_t k = 0; k < p->system->n; k++)
        velocity |= expr_uses_slot(p->exprs, g, 3 * k + 1);
    return velocity;
}

static void
share_of(Proof *p, uint32_t from, uint32_t i, Share *share)
{
    const Energy *energy = &p->record->energies.at[from];
    Exprs *exprs = p->exprs;
    if (energy->memory) {
        share_of_memory(p, energy, i, share);
        return;
    }
    Expr text = written(p, energy->shape, energy->row, false);
    if (expr_written_operations(exprs, &text, 1) > MOST_WRITTEN) {
        p->open = true;
        return;
    }
    switch ((EnergyKind)energy->kind) {
    case ENERGY_KINETIC:
    case ENERGY_POTENTIAL:
        share_of_action(p, text, (energy->kind == ENERGY_KINETIC) != p->system->dual ? 1 : -1, i, share);
        break;
    case ENERGY_INERTIA:
        share_of_action(p, energy_of_inertia(p, expr_arg(exprs, text, 0), expr_arg(exprs, text, 1)), 1, i, share);
        break;
    case ENERGY_DISSIPATION:
        share->force = plus(p, share->force, slope_of(p, text, 3 * i + 1));
        break;
    case ENERGY_FORCE:
        subtract_force(p, expr_arg(exprs, written(p, energy->shape, energy->row, true), 1), expr_arg(exprs, text, 0), 3 * i, share);
        break;
    case ENERGY_CONSTRAINT: {
        Expr g = expr_sub(exprs, expr_arg(exprs, text, 0), expr_arg(exprs, text, 1));
        uint32_t slot = 3 * i + constrains_velocities(p, g);
        if (p->record->multipliers.at[from] != NONE)
            subtract_force(p, slot_for(p, p->record->multipliers.at[from]), g, slot, share);
        else // of another system, or Maggi's
            p->lost |= p->system->formalism != FORMALISM_MAGGI && !expr_is_const(exprs, slope_of(p, g, slot), 0);
        break;
    }
    }
}

static bool
has_no_value(const Exprs *exprs, Expr e)
{
    static const Op ops[] = {OP_FDER, OP_DELAY, OP_TRANSPORT, OP_SAMPLE, OP_INITIAL, OP_TERMINAL, OP_UNILATERAL, OP_COULOMB};
    bool found = false;
    for (uint32_t i = 0; i < sizeof ops / sizeof *ops; i++)
        found |= expr_has_op(exprs, e, ops[i]);
    return found;
}

static Share
expected_share(Proof *p, uint32_t i)
{
    Expr zero = expr_const(p->exprs, 0);
    Share share = {zero, zero};
    for (uint32_t from = 0; from < p->record->energies.n && !p->open; from++) {
        const Energy *energy = &p->record->energies.at[from];
        p->open = has_no_value(p->exprs, energy->shape) || (energy->memory && energy->order != 1);
        if (p->open || expr_operations(p->exprs, energy->shape) > MOST_WRITTEN) {
            p->open = true;
            break;
        }
        bool force = energy->kind == ENERGY_FORCE; // whose size may depend on anything
        write_out(p, force ? expr_arg(p->exprs, energy->shape, 0) : energy->shape, energy->row);
        if (!p->open)
            share_of(p, from, i, &share);
        p->open = p->open || expr_operations(p->exprs, share.force) > MOST_OPERATIONS;
    }
    return share;
}

// --- values

// What A depends on is the same in all samples of a trial.
static uint32_t
sample_of(const Proof *p, Var var)
{
    uint32_t slot;
    return map_get(&p->slot_of, var, &slot) && slot < p->held.n && p->held.at[slot] ? 0 : p->sample;
}

// Of either sign where no range forbids it.
static double
random_value(const Proof *p, Var var)
{
    uint64_t bits = hash_add(hash_add(p->trial + 1, var), 0x5bd1e995 + sample_of(p, var));
    double unit = (double)(bits >> 11) * 0x1p-53, known;
    bool moves = dae_kind(p->dae, var) == VAR_CONTINUOUS && dae_type(p->dae, var) == TYPE_REAL;
    if (!moves && dae_known_value(p->dae, var, &known))
        return known;
    if (dae_type(p->dae, var) == TYPE_BOOLEAN)
        return unit > 0.5;
    if (dae_type(p->dae, var) != TYPE_REAL)
        return 1 + floor(3 * unit);
    double size = 0.3 + 1.4 * unit;
    return !moves || p->dae->var_flags.at[var] & VARF_NONNEG || bits & 1 ? size : -size;
}

static double
value_of(const Proof *p, Var var)
{
    uint32_t known;
    if (var == NONE) // an acceleration that nothing has
        return 0;
    return map_get(&p->forced, var, &known) ? p->forced_value.at[known] : random_value(p, var);
}

static void
force_value(Proof *p, Var var, double value)
{
    map_put(&p->forced, var, p->forced_value.n);
    vec_push(&p->forced_value, value);
}

static double
value_with(Proof *p, Expr e, const double *slots)
{
    return expr_eval(p->exprs, nonsmooth_valued(p->exprs, e), slots, 0.7 + 0.3 * p->trial);
}

static double
value_here(Proof *p, Expr e)
{
    vec_clear(&p->value);
    for (uint32_t k = 0; k < p->vars.n; k++)
        vec_push(&p->value, value_of(p, p->vars.at[k]));
    return value_with(p, e, p->value.at);
}

// Both sides of an equation of the model.
static void
sides_of(Proof *p, uint32_t equation, double side[2])
{
    const Equation *at = &p->dae->equations.at[equation];
    F64Vec slots = {0};
    for (uint32_t k = 0; k < expr_nslots(p->exprs, at->shape); k++)
        vec_push(&slots, value_of(p, p->dae->rows.at[at->row + k]));
    vec_push(&slots, 0);
    for (uint32_t k = 0; k < 2; k++)
        side[k] = value_with(p, expr_arg(p->exprs, at->shape, k), slots.at);
    vec_free(&slots);
}

static Var
left_variable(const Proof *p, uint32_t equation)
{
    const Equation *at = &p->dae->equations.at[equation];
    Expr left = expr_arg(p->exprs, at->shape, 0);
    return expr_op(p->exprs, left) == OP_SLOT ? p->dae->rows.at[at->row + expr_slot_of(p->exprs, left)] : NONE;
}

// What equations give has the value, and the rates, that they give.
static void
force_given(Proof *p)
{
    for (uint32_t i = 0; i < p->given.n; i++) {
        Var var = p->given.at[i];
        Expr text = p->text.at[var];
        for (int order = 0; order < 3 && var != NONE; order++, var = p->dae->var_der.at[var]) {
            text = order ? proof_rate(p, text) : text;
            force_value(p, var, value_here(p, text));
        }
    }
}

typedef enum Verdict { AGREES, DIFFERS, UNDECIDED } Verdict;

static void
force_left(Proof *p, uint32_t equation)
{
    double side[2];
    sides_of(p, equation, side);
    force_value(p, left_variable(p, equation), side[1]);
}

static void
force_definitions(Proof *p)
{
    for (uint32_t k = 0; k < p->system->definitions; k++)
        force_left(p, p->system->equation + k);
}

static void
begin_point(Proof *p)
{
    map_clear(&p->forced);
    vec_clear(&p->forced_value);
    force_given(p);
}

// The equation's left less right side against the value expected.
static Verdict
judge(Proof *p, uint32_t equation, double expected)
{
    double side[2];
    sides_of(p, equation, side);
    double off = side[0] - side[1] - expected;
    if (!isfinite(off))
        return UNDECIDED;
    return fabs(off) <= AGREE * (1 + fabs(side[0]) + fabs(side[1]) + fabs(expected)) ? AGREES : DIFFERS;
}

static Verdict
judge_coordinate(Proof *p, uint32_t i, const Share *share)
{
    uint32_t first = p->system->equation + p->system->definitions;
    if (p->system->formalism != FORMALISM_HAMILTON) {
        force_definitions(p);
        return judge(p, first + i, value_here(p, share->force));
    }
    Var momentum = left_variable(p, first + 2 * i);
    if (momentum == NONE || p->dae->var_der.at[momentum] == NONE)
        return UNDECIDED;
    // Momentum and rate are those that were expected; what other equations share depends on neither.
    force_value(p, momentum, value_here(p, share->momentum));
    force_value(p, p->dae->var_der.at[momentum], value_here(p, proof_rate(p, share->momentum)));
    force_definitions(p);
    Verdict first_of = judge(p, first + 2 * i, 0);
    return first_of != AGREES ? first_of : judge(p, first + 2 * i + 1, value_here(p, share->force));
}

static Verdict
prove_coordinate(Proof *p, uint32_t i)
{
    Share share = expected_share(p, i);
    uint32_t agreed = 0;
    if (p->lost && !p->open)
        return DIFFERS;
    for (p->trial = 0; p->trial < TRIALS && !p->open; p->trial++) {
        begin_point(p);
        Verdict verdict = judge_coordinate(p, i, &share);
        if (verdict == DIFFERS)
            return DIFFERS;
        agreed += verdict == AGREES;
    }
    return p->open || !agreed ? UNDECIDED : AGREES;
}

// --- Maggi's equations of a system with constraints

// One row of A for each constraint between the coordinates of the system; what it depends on is held.
static void
find_coefficients(Proof *p)
{
    uint32_t n = p->system->n;
    U32Vec used = {0};
    for (uint32_t from = 0; from < p->record->energies.n && !p->open; from++) {
        const Energy *energy = &p->record->energies.at[from];
        if (energy->kind != ENERGY_CONSTRAINT)
            continue;
        write_out(p, energy->shape, energy->row);
        Expr text = p->open ? 0 : written(p, energy->shape, energy->row, false);
        p->open |= !text || has_no_value(p->exprs, text) || expr_written_operations(p->exprs, &text, 1) > MOST_WRITTEN;
        if (p->open)
            break;
        Expr g = expr_sub(p->exprs, expr_arg(p->exprs, text, 0), expr_arg(p->exprs, text, 1));
        bool velocity = constrains_velocities(p, g), any = false;
        for (uint32_t i = 0; i < n; i++) {
            vec_push(&p->coefficients, slope_of(p, g, 3 * i + velocity));
            any |= !expr_is_const(p->exprs, vec_last(&p->coefficients), 0);
        }
        if (!any) // of another system
            p->coefficients.n -= n;
    }
    expr_used_slots(p->exprs, p->coefficients.at, p->coefficients.n, &used);
    vec_grow(&p->held, p->vars.n);
    for (uint32_t k = 0; k < used.n; k++)
        p->held.at[used.at[k]] = 1;
    vec_free(&used);
}

// One point: the parts r, and what the equations give.
static void
sample_sums(Proof *p, const Share *shares, uint32_t constraints, double *out)
{
    const MotionSystem *system = p->system;
    uint32_t first = system->equation + system->definitions, sums = system->n - constraints;
    double side[2];
    begin_point(p);
    // Weights of choices depend on parts that are defined, and other defined parts on weights.
    force_definitions(p);
    for (uint32_t k = constraints; k < system->lines - sums; k++)
        force_left(p, first + k);
    force_definitions(p);
    for (uint32_t i = 0; i < system->n; i++)
        out[i] = value_here(p, shares[i].force);
    for (uint32_t k = 0; k < sums; k++) {
        sides_of(p, first + system->lines - sums + k, side);
        out[system->n + k] = side[0] - side[1];
    }
}

static Verdict
judge_sums(Proof *p, const Share *shares)
{
    uint32_t n = p->system->n, constraints = p->coefficients.n / n, sums = n - constraints, width = n + sums, samples = n + 3;
    double *table = base_calloc((size_t)(constraints + samples) * width + 1, sizeof *table);
    for (p->sample = 0; p->sample < samples; p->sample++)
        sample_sums(p, shares, constraints, table + (size_t)(constraints + p->sample) * width);
    p->sample = 0;
    begin_point(p);
    for (uint32_t k = 0; k < p->coefficients.n; k++)
        table[(size_t)(k / n) * width + k % n] = value_here(p, p->coefficients.at[k]);
    Combination found = combination_find(table, constraints + samples, constraints, n, sums);
    free(table);
    return found == COMBINATION_FOUND ? AGREES : found == COMBINATION_NONE ? DIFFERS : UNDECIDED;
}

static Verdict
prove_sums(Proof *p)
{
    uint32_t n = p->system->n, agreed = 0;
    Share *shares = base_calloc(n, sizeof *shares);
    Verdict verdict = UNDECIDED;
    for (uint32_t i = 0; i < n && !p->open; i++)
        shares[i] = expected_share(p, i);
    if (!p->open && (p->coefficients.n > n * n || p->system->lines < n))
        verdict = DIFFERS; // fewer equations than constraints and ways to move
    for (p->trial = 0; p->trial < TRIALS && !p->open && verdict != DIFFERS; p->trial++) {
        verdict = judge_sums(p, shares);
        agreed += verdict == AGREES;
    }
    free(shares);
    return verdict == DIFFERS ? DIFFERS : p->open || !agreed ? UNDECIDED : AGREES;
}

// --- the whole

static void
end_system(Proof *p)
{
    map_free(&p->given_by);
    map_free(&p->integral_of);
    vec_free(&p->state);
    vec_free(&p->text);
    vec_free(&p->given);
    map_free(&p->slot_of);
    map_free(&p->forced);
    vec_free(&p->forced_value);
    vec_free(&p->vars);
    vec_free(&p->rate);
    vec_free(&p->value);
    vec_free(&p->coefficients);
    vec_free(&p->held);
}

static void
count(MotionRecord *record, Verdict verdict, uint32_t coordinates)
{
    record->proven += verdict == AGREES ? coordinates : 0;
    record->open += verdict == UNDECIDED ? coordinates : 0;
}

static bool
prove_each(Proof *p, MotionRecord *record, Out *why)
{
    bool good = true, out = false;
    for (uint32_t i = 0; i < p->system->n && good; i++) {
        p->open = out;
        Verdict verdict = prove_coordinate(p, i);
        out = out || verdict == UNDECIDED; // the others have its energies, too
        count(record, verdict, 1);
        good = verdict != DIFFERS;
        if (!good)
            out_printf(why, "the equation of motion of '%s' is not the one that follows from the energies",
                       dae_name(p->dae, record->coordinates.at[p->system->first + i]));
    }
    return good;
}

static bool
prove_together(Proof *p, MotionRecord *record, Out *why)
{
    Verdict verdict = p->open ? UNDECIDED : prove_sums(p);
    count(record, verdict, p->system->n);
    if (verdict == DIFFERS)
        out_printf(why, "the equations of motion of '%s' and of what constraints join with it are not those that follow from the energies",
                   dae_name(p->dae, record->coordinates.at[p->system->first]));
    return verdict != DIFFERS;
}

static bool
prove_system(Dae *dae, MotionRecord *record, const MotionSystem *system, Out *why)
{
    Proof p = {.dae = dae, .exprs = dae->exprs, .record = record, .system = system};
    if (system->n > MOST_COORDINATES) {
        count(record, UNDECIDED, system->n);
        return true;
    }
    vec_grow(&p.state, dae->nvars);
    vec_grow(&p.text, dae->nvars);
    begin_slots(&p);
    find_definitions(&p, record->systems.at[0].equation);
    if (system->formalism == FORMALISM_MAGGI)
        find_coefficients(&p);
    bool good = p.open || p.coefficients.n ? prove_together(&p, record, why) : prove_each(&p, record, why);
    end_system(&p);
    return good;
}

bool
motion_implied(Dae *dae, MotionRecord *record, Out *why)
{
    enum { MOST_SYSTEMS = 8, MOST_ENERGIES = 200 };
    bool good = true;
    for (uint32_t s = 0; s < record->systems.n && good; s++) {
        if (s < MOST_SYSTEMS && record->energies.n <= MOST_ENERGIES)
            good = prove_system(dae, record, &record->systems.at[s], why);
        else
            record->open += record->systems.at[s].n;
    }
    return good;
}

void
motion_record_free(MotionRecord *record)
{
    vec_free(&record->energies);
    vec_free(&record->multipliers);
    vec_free(&record->coordinates);
    vec_free(&record->systems);
}
