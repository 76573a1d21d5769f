// scalar_law.c: what the equations of a component say about its scalar bonds, by values.
//
// Purpose: which element of a bond graph a component is (element.c), and whether a constraint closes each of its scalar bonds
// once, depends on the law that is left of its equations when its own variables are eliminated.
// Method: partial derivatives by central differences with one step of Richardson's extrapolation (Press et al., Numerical
// Recipes, 5.7), where a corner is met by a secant; der() becomes the factor s; own variables are eliminated by Gauss' method,
// rows with the fewest of them first (H. M. Markowitz, Management Science 3 (1957) 255). Own variables that an equation v = ...
// computes have that value at the point, the others any.
// Contract: scalar_law.h. Reads the model, makes no expressions. Complexity: slots of the equations, and rows times what is left of them.
#include "ir/elements/scalar_law.h"

#include <math.h>
#include <string.h>

#include "ir/elements/generic.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

enum { EQUATIONS_MAX = 400, OWN_MAX = 400, SWEEPS = 6 };

static const double STEP = 1e-3, NOTHING = 1e-9;

typedef struct Making {
    const ScalarAsk *ask;
    uint32_t own, stride;
    F64Vec at;         // rows of own variables, efforts, flows, given, change
    F64Vec values;     // of the slots of one equation
    F64Vec own_value;  // of own variables that equations v = ... compute
    U8Vec computed;    // per own variable: it is one of these
    U8Vec defined;     // per own variable: some equation v = ... is there
} Making;

static Var
base_of(const Dae *dae, Var var, uint32_t *derivatives)
{
    for (*derivatives = 0; dae->var_der_of.at[var] != NONE; ++*derivatives)
        var = dae->var_der_of.at[var];
    return var;
}

static bool
is_axes(const ScalarAsk *ask, Var var)
{
    Var first, turn;
    return ask->has_axes && ask->axes(ask->context, var, &first, &turn);
}

static bool
is_held(const ScalarAsk *ask, Var var)
{
    return dae_kind(ask->dae, var) != VAR_CONTINUOUS || ask->held(ask->context, var) || is_axes(ask, var);
}

// A vector without unit is a direction, also where it was taken for a motion since it stands beside one (w*e).
static bool
at_rest(const ScalarAsk *ask, Var var)
{
    const Group *group = ask->known && ask->dae->var_der_of.at[var] == NONE ? dae_group(ask->dae, var) : NULL;
    return !(group && group->decl->rank == 1 && !group->decl->unit) && ask->rests(ask->context, var);
}

// --- columns

// Columns of the ports are numbered from OWN_MAX on until the number of own variables is known.
static bool
find_columns(Making *making)
{
    const ScalarAsk *ask = making->ask;
    const Dae *dae = ask->dae;
    for (uint32_t b = 0; b < ask->bonds; b++) {
        map_put(ask->column, ask->port[b].effort, OWN_MAX + b);
        map_put(ask->column, ask->port[b].flow, OWN_MAX + ask->bonds + b);
    }
    for (uint32_t i = 0; i < ask->n; i++) {
        uint32_t n, derivatives, column;
        const Var *vars = dae_row(dae, ask->equations[i], &n);
        for (uint32_t k = 0; k < n; k++) {
            Var base = base_of(dae, vars[k], &derivatives);
            if (is_held(ask, base) || map_get(ask->column, base, &column))
                continue;
            if (making->own == OWN_MAX)
                return false;
            map_put(ask->column, base, making->own++);
        }
    }
    making->stride = making->own + 2*ask->bonds + 2;
    return true;
}

// --- values

static bool
is_arm(const Dae *dae, Var var)
{
    const Group *group = dae_is_parameter(dae, var) ? dae_group(dae, var) : NULL;
    return group && group->decl->rank == 1 && group->decl->count <= 3 && group->decl->unit
           && !strcmp(sym_text(dae->syms, group->decl->unit), "m");
}

// Beside a stiffness of a million everything else is nothing: such a number is any other. Directions and nothing stay what they are.
static bool
is_comparable(const Dae *dae, Var var, double value)
{
    const Group *group = dae_group(dae, var);
    return value == 0 || (fabs(value) > 0.01 && fabs(value) < 100) || dae_type(dae, var) != TYPE_REAL || (group && group->decl->rank);
}

// The angle of a port, where values are known: all axes are the world's.
static bool
is_angle(const ScalarAsk *ask, Var var)
{
    uint32_t column;
    if (!ask->known || !map_get(ask->column, var, &column) || column < OWN_MAX + ask->bonds)
        return false;
    const ScalarPort *port = &ask->port[column - OWN_MAX - ask->bonds];
    const Group *group = port->flow_is_der ? dae_group(ask->dae, port->effort) : NULL;
    return group && group->decl->unit && !strcmp(sym_text(ask->dae->syms, group->decl->unit), "N.m");
}

// Of axes that the component itself determines: the first element of the matrix, or NONE.
static Var
determined_axes(const Dae *dae, Var var)
{
    const Group *group = dae_group(dae, var);
    if (!group || group->decl->rank != 2 || group->decl->count != 9 || group->decl->unit || dae_is_parameter(dae, var))
        return NONE;
    uint32_t inst = group->inst;
    while (dae->insts.at[inst].class_kind == CLASS_KIND_RECORD && dae->insts.at[inst].parent != NONE)
        inst = dae->insts.at[inst].parent;
    return dae->insts.at[inst].class_kind == CLASS_KIND_CONNECTOR ? group->first : NONE;
}

// An element of the one orientation that all ports have.
static double
port_axes(const ScalarAsk *ask, uint32_t element)
{
    return ask->known ? element%4 == 0 : generic_value(ask->dae, ask->reference + element, ask->sample);
}

static double
value_of(const Making *making, Var var, bool later)
{
    const ScalarAsk *ask = making->ask;
    const Dae *dae = ask->dae;
    uint32_t derivatives, column;
    Var base = base_of(dae, var, &derivatives);
    Var first, turn;
    if (ask->has_axes && ask->axes(ask->context, base, &first, &turn)) // one orientation for all ports: small angles between them
        return port_axes(ask, base - first);
    if (ask->aligned && !derivatives && (first = determined_axes(dae, base)) != NONE)
        return (base - first)%4 == 0;
    bool held = is_held(ask, base), other = (held && later && !dae_is_parameter(dae, base)) || base == ask->moved;
    uint32_t sample = ask->sample + (other ? 64 : 0);
    double value;
    if (is_angle(ask, var)) // in a plane axes are turned by an angle
        return 0;
    if (held && ask->armless && is_arm(dae, base))
        return 0;
    if (ask->armless && !derivatives && map_get(ask->column, base, &column) && column >= OWN_MAX + ask->bonds
        && ask->port[column - OWN_MAX - ask->bonds].flow_is_der) // all ports are at one place
        return generic_number(ask->sample*64 + ask->port[column - OWN_MAX - ask->bonds].scalar, false);
    if (ask->known && dae_is_parameter(dae, base) && dae_known_value(ask->dae, base, &value) && is_comparable(dae, base, value))
        return value;
    if (held)
        return ask->quiet && !later && base != ask->moved && !dae_is_parameter(dae, base) && dae_type(dae, base) == TYPE_REAL
                   ? 0 : generic_value(dae, var, sample);
    if (!ask->moving && (derivatives || at_rest(ask, var)))
        return 0;
    bool own = !derivatives && map_get(ask->column, base, &column) && column < making->computed.n && making->computed.at[column];
    if (own && base != ask->moved)
        return making->own_value.at[column];
    return ask->aligned ? 0 : generic_value(dae, var, sample);
}

static Expr
single_valued(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    (void)context;
    return expr_op(exprs, part) == OP_SGN ? expr_1(exprs, OP_SIGN, args[0]) : 0;
}

// The law of a contact (Law of dae.h: slots 1, 2 are X and p) as a spring along its normal, that of friction as of a viscous film, or as nothing.
static Expr
contact_law(const ScalarAsk *ask, uint32_t equation)
{
    Exprs *exprs = ask->dae->exprs;
    uint32_t law;
    map_get(ask->law_of, equation, &law);
    Expr p = expr_slot(exprs, 2), x = expr_slot(exprs, 1);
    if (ask->dae->laws.at[law].unilateral)
        return expr_2(exprs, OP_EQN, p, expr_1(exprs, OP_NEG, x));
    return expr_2(exprs, OP_EQN, p, ask->contact == CONTACT_SLIDING ? x : expr_const(exprs, 0));
}

// Dry friction is looked at where it slips.
static Expr
shape_of(const ScalarAsk *ask, uint32_t equation)
{
    Dae *dae = ask->dae;
    Expr shape = dae->equations.at[equation].shape;
    if (dae->equations.at[equation].kind == EQN_LAW)
        return contact_law(ask, equation);
    return expr_has_op(dae->exprs, shape, OP_SGN) ? expr_rewrite(dae->exprs, shape, single_valued, NULL) : shape;
}

static double
residual(const Making *making, uint32_t equation, bool later)
{
    Dae *dae = making->ask->dae;
    Expr shape = shape_of(making->ask, equation);
    double time = generic_number(making->ask->sample + (later ? 64 : 0), true);
    double left = expr_eval(dae->exprs, expr_arg(dae->exprs, shape, 0), making->values.at, time);
    return left - expr_eval(dae->exprs, expr_arg(dae->exprs, shape, 1), making->values.at, time);
}

static double
difference(Making *making, uint32_t equation, uint32_t slot, double step)
{
    double kept = making->values.at[slot];
    making->values.at[slot] = kept + step;
    double above = residual(making, equation, false);
    making->values.at[slot] = kept - step;
    double below = residual(making, equation, false);
    making->values.at[slot] = kept;
    return (above - below)/(2*step);
}

static double
partial(Making *making, uint32_t equation, uint32_t slot)
{
    double wide = difference(making, equation, slot, STEP), narrow = difference(making, equation, slot, STEP/2);
    if (fabs(narrow) > 1.5*fabs(wide) + NOTHING) // a jump
        return difference(making, equation, slot, 0.25);
    double slope = (4*narrow - wide)/3;
    return fabs(slope - nearbyint(slope)) < NOTHING ? nearbyint(slope) : slope;
}

static void
read_values(Making *making, const Var *vars, uint32_t n, bool later)
{
    vec_clear(&making->values);
    for (uint32_t k = 0; k < n; k++)
        vec_push(&making->values, value_of(making, vars[k], later));
    vec_push(&making->values, 0);
}

// An own variable that nothing holds at zero.
static bool
is_open(const Making *making, Var var, uint32_t *column)
{
    const ScalarAsk *ask = making->ask;
    if (ask->aligned && determined_axes(ask->dae, var) != NONE)
        return false;
    return ask->dae->var_der_of.at[var] == NONE && !is_held(ask, var) && (ask->moving || !at_rest(ask, var))
           && map_get(ask->column, var, column) && *column < OWN_MAX && !making->computed.at[*column];
}

// With known values a vector between two ports is what the constraint makes of it, not what lies between positions of any kind.
static bool
uses_place(const Making *making, const Var *vars, uint32_t n)
{
    const ScalarAsk *ask = making->ask;
    for (uint32_t k = 0; ask->known && k < n; k++) {
        uint32_t column;
        if (map_get(ask->column, vars[k], &column) && column >= OWN_MAX + ask->bonds && ask->port[column - OWN_MAX - ask->bonds].flow_is_der
            && !is_angle(ask, vars[k]))
            return true;
    }
    return false;
}

// What no equation v = ... computes has any value. With known values, and without arms, others follow from it, as the orientation
// from a joint's angle and a vector from the displacement along it.
static bool
waits_for(const Making *making, uint32_t column)
{
    return (!making->ask->known && !making->ask->armless) || making->defined.at[column];
}

static void
find_defined(Making *making)
{
    Dae *dae = making->ask->dae;
    vec_grow(&making->defined, making->own);
    for (uint32_t i = 0; i < making->ask->n; i++) {
        Expr left = expr_arg(dae->exprs, shape_of(making->ask, making->ask->equations[i]), 0);
        uint32_t n, column;
        const Var *vars = dae_row(dae, making->ask->equations[i], &n);
        if (expr_op(dae->exprs, left) == OP_SLOT && !uses_place(making, vars, n) && is_open(making, vars[expr_slot_of(dae->exprs, left)], &column))
            making->defined.at[column] = 1;
    }
}

// A force over a length, as that of an elastic rod: it stands in an equation with an effort, and is no vector.
static bool
is_beside_efforts(const Making *making, Var var)
{
    const ScalarAsk *ask = making->ask;
    const Group *group = dae_group(ask->dae, var);
    if (!group || group->decl->rank)
        return false;
    for (uint32_t i = 0; i < ask->n; i++) {
        uint32_t n, column;
        const Var *vars = dae_row(ask->dae, ask->equations[i], &n);
        bool effort = false, there = false;
        for (uint32_t k = 0; k < n; k++) {
            effort |= map_get(ask->column, vars[k], &column) && column >= OWN_MAX && column < OWN_MAX + ask->bonds;
            there |= vars[k] == var;
        }
        if (effort && there)
            return true;
    }
    return false;
}

// v = expression of what is known: v gets the value that it has there.
static bool
compute(Making *making, uint32_t equation)
{
    Dae *dae = making->ask->dae;
    Expr shape = shape_of(making->ask, equation), left = expr_arg(dae->exprs, shape, 0);
    uint32_t n, column, other;
    const Var *vars = dae_row(dae, equation, &n);
    if (expr_op(dae->exprs, left) != OP_SLOT || uses_place(making, vars, n) || !is_open(making, vars[expr_slot_of(dae->exprs, left)], &column))
        return false;
    for (uint32_t k = 0; k < n; k++)
        if (is_open(making, vars[k], &other) && waits_for(making, other) && (other != column || expr_uses_slot(dae->exprs, expr_arg(dae->exprs, shape, 1), k)))
            return false;
    read_values(making, vars, n, false);
    double value = expr_eval(dae->exprs, expr_arg(dae->exprs, shape, 1), making->values.at, generic_number(making->ask->sample, true));
    making->own_value.at[column] = making->ask->unloaded && is_beside_efforts(making, vars[expr_slot_of(dae->exprs, left)]) ? 0 : value;
    making->computed.at[column] = isfinite(value) != 0;
    return isfinite(value);
}

// Axes that the component determines without saying so (`frame_b.R.T = frame_a.R.T`, where those of frame_a follow) are those of the ports.
static void
share_axes(Making *making)
{
    const ScalarAsk *ask = making->ask;
    for (uint32_t i = 0; ask->has_axes && i < ask->n; i++) {
        uint32_t n, derivatives, column;
        const Var *vars = dae_row(ask->dae, ask->equations[i], &n);
        for (uint32_t k = 0; k < n; k++) {
            Var base = base_of(ask->dae, vars[k], &derivatives), first = determined_axes(ask->dae, base);
            if (first == NONE || is_axes(ask, base) || !map_get(ask->column, base, &column) || column >= making->own || making->defined.at[column])
                continue;
            making->own_value.at[column] = port_axes(ask, base - first);
            making->computed.at[column] = 1;
        }
    }
}

static void
compute_own(Making *making)
{
    vec_grow(&making->own_value, making->own);
    vec_grow(&making->computed, making->own);
    find_defined(making);
    share_axes(making);
    bool changed = true;
    for (int sweep = 0; sweep < SWEEPS && changed; sweep++) {
        changed = false;
        for (uint32_t i = 0; i < making->ask->n; i++)
            changed |= compute(making, making->ask->equations[i]);
    }
}

// --- axes of the ports

static bool
is_about_axes(const Making *making, uint32_t equation)
{
    const ScalarAsk *ask = making->ask;
    uint32_t n, derivatives;
    const Var *vars = dae_row(ask->dae, equation, &n);
    bool turned = false;
    for (uint32_t k = 0; k < n; k++) {
        Var base = base_of(ask->dae, vars[k], &derivatives);
        if (derivatives)
            return false;
        turned |= is_axes(ask, base) || is_angle(ask, base) || determined_axes(ask->dae, base) != NONE;
    }
    return turned && !uses_place(making, vars, n);
}

// The equation holds when it is about axes.
static bool
fits_axes(Making *making, uint32_t equation)
{
    uint32_t n;
    const Var *vars = dae_row(making->ask->dae, equation, &n);
    if (!is_about_axes(making, equation))
        return true;
    read_values(making, vars, n, false);
    return fabs(residual(making, equation, false)) <= 1e-9;
}

// Conditions on positions alone say nothing of a given velocity: an offset between two points stands still.
static bool
about_power(const ScalarAsk *ask, const Var *vars, uint32_t n)
{
    bool open = false;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t derivatives;
        Var base = base_of(ask->dae, vars[k], &derivatives);
        if (is_held(ask, base))
            continue;
        open = true;
        if (derivatives || at_rest(ask, vars[k]))
            return true;
    }
    return !open;
}

// e(a, b, c) of Levi and Civita.
static int
permutation(uint32_t a, uint32_t b, uint32_t c)
{
    return a == b || b == c || a == c ? 0 : (b + 3 - a)%3 == 1 ? 1 : -1;
}

// Axes turn with their angular velocity w: their rows change by cross(w, row) where w has the world's components, their columns by
// -cross(w, column) where it has their own.
static void
add_turn(Making *making, uint32_t first_of_row, Var var, double factor)
{
    const ScalarAsk *ask = making->ask;
    Var first, turn;
    uint32_t column;
    ask->axes(ask->context, var, &first, &turn);
    uint32_t i = (var - first)/3, j = (var - first)%3;
    for (uint32_t a = 0; a < 3; a++) {
        double rate = 0;
        for (uint32_t b = 0; b < 3; b++)
            rate += ask->own_axes ? -permutation(i, a, b)*value_of(making, first + 3*b + j, false)
                                  : permutation(j, a, b)*value_of(making, first + 3*i + b, false);
        if (map_get(ask->column, turn + a, &column) && column >= OWN_MAX)
            making->at.at[first_of_row + making->own + column - OWN_MAX] += factor*rate/ask->s;
    }
}

static bool
add_row(Making *making, uint32_t equation)
{
    const ScalarAsk *ask = making->ask;
    const Dae *dae = ask->dae;
    uint32_t n, derivatives, column, first = making->at.n;
    const Var *vars = dae_row(dae, equation, &n);
    double most = 0;
    vec_grow(&making->at, making->stride);
    read_values(making, vars, n, false);
    for (uint32_t k = 0; k < n; k++) {
        Var base = base_of(dae, vars[k], &derivatives);
        if (is_axes(ask, base)) {
            double slope = partial(making, equation, k);
            add_turn(making, first, base, slope);
            most = fmax(most, fabs(slope));
            continue;
        }
        if (is_held(ask, base) || !map_get(ask->column, base, &column))
            continue;
        double factor = partial(making, equation, k)*pow(ask->s, derivatives);
        if (column >= OWN_MAX) {
            uint32_t b = column - OWN_MAX;
            factor *= b >= ask->bonds && ask->port[b - ask->bonds].flow_is_der ? 1/ask->s : 1;
            column = making->own + b;
        }
        if (!isfinite(factor))
            return false;
        making->at.at[first + column] += factor;
        most = fmax(most, fabs(making->at.at[first + column]));
    }
    double now = residual(making, equation, false);
    making->at.at[first + making->stride - 2] = about_power(ask, vars, n) ? now : 0;
    read_values(making, vars, n, true);
    making->at.at[first + making->stride - 1] = residual(making, equation, true) - now;
    if (most <= NOTHING) {
        making->at.n = first;
        return isfinite(now);
    }
    for (uint32_t j = 0; j < making->stride; j++)
        making->at.at[first + j] /= most;
    return isfinite(now);
}

// --- elimination of own variables

static uint32_t
count_own(const Making *making, uint32_t row)
{
    uint32_t count = 0;
    for (uint32_t j = 0; j < making->own; j++)
        count += fabs(making->at.at[row*making->stride + j]) > NOTHING;
    return count;
}

static void
subtract(Making *making, uint32_t row, uint32_t pivot_row, uint32_t column, U32Vec *count)
{
    double *to = making->at.at + (size_t)row*making->stride, *from = making->at.at + (size_t)pivot_row*making->stride;
    double factor = to[column]/from[column], most = 0;
    for (uint32_t j = 0; j < making->stride; j++) {
        to[j] -= factor*from[j];
        to[j] = fabs(to[j]) < 1e-13 ? 0 : to[j];
        most = j + 2 < making->stride ? fmax(most, fabs(to[j])) : most;
    }
    to[column] = 0;
    for (uint32_t j = 0; j < making->stride && most > 0; j++)
        to[j] /= most;
    count->at[row] = count_own(making, row);
}

static void
eliminate(Making *making, U8Vec *used)
{
    uint32_t rows = making->at.n/making->stride;
    U32Vec count = {0};
    vec_grow(used, rows);
    for (uint32_t i = 0; i < rows; i++)
        vec_push(&count, count_own(making, i));
    for (;;) {
        uint32_t best = NONE, column = 0;
        for (uint32_t i = 0; i < rows; i++)
            if (!used->at[i] && count.at[i] && (best == NONE || count.at[i] < count.at[best]))
                best = i;
        if (best == NONE)
            break;
        used->at[best] = 1;
        const double *row = making->at.at + (size_t)best*making->stride;
        for (uint32_t j = 1; j < making->own; j++)
            column = fabs(row[j]) > fabs(row[column]) ? j : column;
        for (uint32_t i = 0; i < rows; i++)
            if (!used->at[i] && making->at.at[(size_t)i*making->stride + column] != 0)
                subtract(making, i, best, column, &count);
    }
    vec_free(&count);
}

static bool
read_law(const Making *making, const U8Vec *used, ScalarLaw *law)
{
    uint32_t width = 2*making->ask->bonds + 2;
    law->bonds = making->ask->bonds;
    law->rows = 0;
    for (uint32_t i = 0; i < used->n; i++) {
        const double *row = making->at.at + (size_t)i*making->stride + making->own;
        double most = 0;
        for (uint32_t j = 0; j + 2 < width; j++)
            most = fmax(most, fabs(row[j]));
        if (used->at[i] || most <= NOTHING)
            continue;
        if (law->rows == SCALAR_ROWS_MAX)
            return false;
        for (uint32_t j = 0; j < width; j++)
            law->at[law->rows][j] = row[j]/most;
        law->rows++;
    }
    return true;
}

static void
free_making(Making *making)
{
    map_clear(making->ask->column);
    vec_free(&making->at);
    vec_free(&making->values);
    vec_free(&making->own_value);
    vec_free(&making->computed);
    vec_free(&making->defined);
}

bool
scalar_law(const ScalarAsk *ask, ScalarLaw *law)
{
    Making making = {.ask = ask};
    U8Vec used = {0};
    bool good = ask->n <= EQUATIONS_MAX && ask->bonds <= SCALAR_BONDS_MAX && find_columns(&making);
    if (good)
        compute_own(&making);
    for (uint32_t i = 0; good && i < ask->n; i++)
        good = add_row(&making, ask->equations[i]);
    if (good) {
        eliminate(&making, &used);
        good = read_law(&making, &used, law);
    }
    vec_free(&used);
    free_making(&making);
    return good;
}

bool
scalar_law_aligned(const ScalarAsk *ask)
{
    Making making = {.ask = ask};
    bool good = ask->n <= EQUATIONS_MAX && ask->bonds <= SCALAR_BONDS_MAX && find_columns(&making);
    if (good)
        compute_own(&making);
    for (uint32_t i = 0; good && i < ask->n; i++)
        good = fits_axes(&making, ask->equations[i]);
    free_making(&making);
    return good;
}

// --- the law itself

static void
pivot_with(ScalarLaw *law, uint32_t row, uint32_t best, uint32_t column)
{
    uint32_t width = 2*law->bonds + 2;
    for (uint32_t j = 0; j < width; j++) {
        double kept = law->at[row][j];
        law->at[row][j] = law->at[best][j];
        law->at[best][j] = kept;
    }
    double divisor = law->at[row][column];
    for (uint32_t j = 0; j < width; j++)
        law->at[row][j] /= divisor;
    for (uint32_t i = 0; i < law->rows; i++) {
        double factor = law->at[i][column];
        for (uint32_t j = 0; i != row && factor != 0 && j < width; j++) {
            double value = law->at[i][j] - factor*law->at[row][j];
            law->at[i][j] = fabs(value) < NOTHING ? 0 : value;
        }
    }
}

static uint32_t
solve_for(ScalarLaw *law, uint32_t row, uint32_t from, uint32_t *pivot)
{
    for (; row < law->rows; row++) {
        uint32_t best = row, column = from;
        for (uint32_t i = row; i < law->rows; i++)
            for (uint32_t j = from; j < from + law->bonds; j++)
                if (fabs(law->at[i][j]) > fabs(law->at[best][column])) {
                    best = i;
                    column = j;
                }
        if (fabs(law->at[best][column]) <= 1e-7)
            break;
        pivot_with(law, row, best, column);
        pivot[row] = column;
    }
    return row;
}

void
scalar_law_solve(ScalarLaw *law, uint32_t *efforts, uint32_t *flows, uint32_t *pivot)
{
    *efforts = solve_for(law, 0, 0, pivot);
    law->rows = solve_for(law, *efforts, law->bonds, pivot);
    *flows = law->rows - *efforts;
}
