// motion_rows.c: equations of motion from the equations of a model.
//
// Purpose: what conditions on the form of equations of motion are asked of (self_adjoint.c), whichever way a model is written: with velocities
// or second derivatives, in angles or in Cartesian coordinates, with forces in between. Method: rows are residuals in variables and their derivatives. In this
// order, until nothing is left: what is never differentiated and explicit in an equation with a coefficient of parameters (a force), from equations of
// low order first, so that laws of elements go and balances of forces stay; then what an equation of first order gives in terms of rates (a velocity, a momentum),
// what stands alone there before what has a factor: m*der(v) + k*s = 0 gives no length s before v is known to be its rate;
// then positions that are functions of positions. A row belongs to the position whose acceleration it determines: the assignment with the largest
// product of coefficients, which for rows A*a with a positive definite A in any order and scale is the one that A was written for. Torques in the axes of a body (Euler's
// equations) are put in together. As long as there are forces
// that nothing determines but the motion, the row of a position x = f(q) counts for q with df/dq: reactions of ideal constraints do no work and vanish.
// Contract: nothing of the model changes but memos. Complexity: what is put in times the equations; cubic in the
// positions for the assignment.
#include "ir/check/motion_rows.h"

#include <math.h>
#include <stdlib.h>

#include "ir/check/assign.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/expr_text.h"

enum { DEEPEST = 8, HIGHEST = ROW_ORDERS - 2, WORKLESS_POINTS = 4, AXES_MOST = 3 };

typedef struct Maker {
    MotionRows *rows;
    Map index;              // variable of the model -> slot group
    U32Vec der_of;          // per variable: 2*position + 1, + 1 when negative, that it is the derivative of; 0
    U8Vec law;              // per variable: the force of a set-valued law
    Map zero;               // those of rows->zeros
} Maker;

static uint32_t
variable_of(Maker *maker, Var var)
{
    MotionRows *rows = maker->rows;
    uint32_t i;
    if (map_get(&maker->index, var, &i))
        return i;
    i = rows->vars.n;
    bool law = maker->law.at[var], held = dae_kind(rows->dae, var) != VAR_CONTINUOUS || law;
    map_put(&maker->index, var, i);
    vec_push(&rows->vars, var);
    vec_push(&rows->moves, !held);
    vec_push(&rows->positions, 0);
    return i;
}

static Expr
slot(const Maker *maker, uint32_t variable, uint32_t order)
{
    return expr_slot(maker->rows->exprs, row_slot(variable, order));
}

// A variable of the model as a derivative of what is no derivative.
static Expr
expression_of(Maker *maker, Var var)
{
    MotionRows *rows = maker->rows;
    double value;
    uint32_t order = 0;
    bool negative = false, minus;
    if (dae_is_literal(rows->dae, var, &value))
        return expr_const(rows->exprs, value);
    for (uint32_t depth = 0; depth < DEEPEST; depth++) {
        var = dae_alias(rows->dae, var, &minus);
        negative ^= minus;
        if (rows->dae->var_der_of.at[var] != NONE) {
            var = rows->dae->var_der_of.at[var];
        } else if (maker->der_of.at[var]) {
            negative ^= maker->der_of.at[var] % 2 == 0;
            var = (maker->der_of.at[var] - 1) / 2;
        } else {
            break;
        }
        order++;
    }
    if (!order && dae_is_parameter(rows->dae, var) && dae_known_value(rows->dae, var, &value) && value == 0) {
        uint32_t known;
        if (!map_get(&maker->zero, var, &known)) {
            map_put(&maker->zero, var, 1);
            vec_push(&rows->zeros, var);
        }
        return expr_const(rows->exprs, 0);
    }
    uint32_t i = variable_of(maker, var);
    if (order)
        rows->positions.at[i] = 1;
    if (order > HIGHEST)
        rows->leads = var;
    Expr e = slot(maker, i, order > HIGHEST ? HIGHEST : order);
    return negative ? expr_1(rows->exprs, OP_NEG, e) : e;
}

static void
find_velocities(Maker *maker)
{
    Dae *dae = maker->rows->dae;
    vec_grow(&maker->der_of, dae->nvars);
    vec_grow(&maker->law, dae->nvars);
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        bool negative;
        maker->law.at[dae->laws.at[i].p] = 1;
        maker->law.at[dae_alias(dae, dae->laws.at[i].p, &negative)] = 1;
    }
    for (Var var = 0; var < dae->nvars; var++) {
        bool negative, minus;
        Var der = dae->var_der.at[var];
        if (der == NONE || dae->var_flags.at[der] & VARF_REMOVED)
            continue;
        Var at = dae_alias(dae, der, &negative), base = dae_alias(dae, var, &minus);
        if (at != der && dae->var_der_of.at[at] == NONE && at != base)
            maker->der_of.at[at] = 2 * base + 1 + (negative ^ minus);
    }
}

// The equation of a discrete variable: d = e.
static bool
gives_discrete(const Dae *dae, Expr shape, const U32Vec *vars)
{
    bool given = false;
    for (uint32_t side = 0; side < expr_nargs(dae->exprs, shape); side++) {
        Expr e = expr_arg(dae->exprs, shape, side);
        given |= expr_op(dae->exprs, e) == OP_SLOT && dae_kind(dae, vars->at[expr_slot_of(dae->exprs, e)]) == VAR_DISCRETE;
    }
    return given;
}

// The hidden variable, a part that longer equations have in common, that an equation gives: part = e; NONE.
static uint32_t
defined_by(Maker *maker, Expr shape, const U32Vec *vars)
{
    const Dae *dae = maker->rows->dae;
    uint32_t found = NONE;
    for (uint32_t side = 0; side < expr_nargs(dae->exprs, shape) && found == NONE; side++) {
        Expr e = expr_arg(dae->exprs, shape, side);
        Var var = expr_op(dae->exprs, e) == OP_SLOT ? vars->at[expr_slot_of(dae->exprs, e)] : NONE;
        if (var != NONE && dae_kind(dae, var) == VAR_CONTINUOUS && dae_group(dae, var)->decl->flags & GROUP_HIDDEN && dae->var_der.at[var] == NONE)
            map_get(&maker->index, var, &found);
    }
    return found;
}

static void
read_equations(Maker *maker)
{
    MotionRows *rows = maker->rows;
    Dae *dae = rows->dae;
    U32Vec vars = {0};
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        if (dae->equations.at[e].kind != EQN_NORMAL)
            continue;
        Expr shape = dae_resolve(dae, e, &vars), *with = base_calloc(vars.n + 1, sizeof *with);
        bool moving = false;
        for (uint32_t k = 0; k < vars.n; k++) {
            with[k] = expression_of(maker, vars.at[k]);
            moving |= dae_kind(dae, vars.at[k]) == VAR_CONTINUOUS;
        }
        Expr f = expr_substitute(rows->exprs, expr_residual(rows->exprs, shape), with, vars.n);
        if (moving && expr_op(rows->exprs, f) != OP_CONST && !gives_discrete(dae, shape, &vars))
            vec_push(&rows->rows, (MotionRow){.f = f, .equation = e, .defines = defined_by(maker, shape, &vars)});
        free(with);
    }
    vec_free(&vars);
}

static void
make_rates(MotionRows *rows)
{
    for (uint32_t s = rows->rate.n; s < ROW_ORDERS * rows->vars.n; s++)
        vec_push(&rows->rate, rows->moves.at[s / ROW_ORDERS] && s % ROW_ORDERS + 1 < ROW_ORDERS ? expr_slot(rows->exprs, s + 1) : 0);
}

Expr
motion_row_rate(const MotionRows *rows, Expr e)
{
    return expr_rate(rows->exprs, e, rows->rate.at, rows->rate.n);
}

// The highest order in which e has this variable, + 1; 0: it has none.
static uint32_t
motion_row_order(const MotionRows *rows, Expr e, uint32_t variable)
{
    uint32_t order = ROW_ORDERS;
    while (order && !expr_uses_slot(rows->exprs, e, row_slot(variable, order - 1)))
        order--;
    return order;
}

// Highest order of any unknown in e, and how many unknowns; parameters do not count.
static uint32_t
highest_order(const MotionRows *rows, Expr e, uint32_t *n)
{
    U32Vec used = {0};
    uint32_t highest = 0;
    expr_used_slots(rows->exprs, &e, 1, &used);
    *n = 0;
    for (uint32_t k = 0; k < used.n; k++) {
        if (!rows->moves.at[used.at[k] / ROW_ORDERS])
            continue;
        ++*n;
        highest = used.at[k] % ROW_ORDERS > highest ? used.at[k] % ROW_ORDERS : highest;
    }
    vec_free(&used);
    return highest;
}

// y and its derivatives become those of e wherever they stand.
static void
put_in(MotionRows *rows, uint32_t y, Expr e)
{
    Expr *with = base_calloc(ROW_ORDERS * rows->vars.n, sizeof *with);
    uint32_t last = 0, n;
    U32Vec having = {0};
    for (uint32_t r = 0; r < rows->rows.n; r++) {
        uint32_t order = rows->rows.at[r].f ? motion_row_order(rows, rows->rows.at[r].f, y) : 0;
        last = order > last ? order : last;
        if (order)
            vec_push(&having, r);
    }
    for (uint32_t order = 0; order < last; order++) {
        with[row_slot(y, order)] = e;
        if (highest_order(rows, e, &n) >= HIGHEST && order + 1 < last) {
            rows->leads = rows->vars.at[y];
            break;
        }
        e = motion_row_rate(rows, e);
        if (!e) { // what has no derivative: nothing can be said of the rows
            rows->leads = rows->vars.at[y];
            break;
        }
    }
    for (uint32_t k = 0; k < having.n && rows->leads == NONE; k++) {
        MotionRow *row = &rows->rows.at[having.at[k]];
        row->f = expr_substitute(rows->exprs, row->f, with, ROW_ORDERS * rows->vars.n);
    }
    vec_free(&having);
    free(with);
}

typedef enum Stage { STAGE_NAMES, STAGE_FORCES, STAGE_AXES, STAGE_VELOCITIES, STAGE_POSITIONS, STAGE_RATES, STAGE_COUNT } Stage;

// A velocity or a momentum vanishes with the rates that it is made of: a node without mass on a damper, y = x + c/k*der(x), is none.
static bool
is_rate(const MotionRows *rows, Expr e)
{
    U32Vec used = {0};
    Expr *with = base_calloc(ROW_ORDERS * rows->vars.n, sizeof *with);
    uint32_t n;
    expr_used_slots(rows->exprs, &e, 1, &used);
    for (uint32_t k = 0; k < used.n; k++)
        if (used.at[k] % ROW_ORDERS)
            with[used.at[k]] = expr_const(rows->exprs, 0);
    highest_order(rows, expr_substitute(rows->exprs, e, with, ROW_ORDERS * rows->vars.n), &n);
    free(with);
    vec_free(&used);
    return !n;
}

// A derivative that has a name, v = der(x): two variables and nothing else.
static bool
is_name(const MotionRows *rows, Expr f)
{
    U32Vec used = {0};
    expr_used_slots(rows->exprs, &f, 1, &used);
    bool good = used.n == 2 && (used.at[0] % ROW_ORDERS == 0) != (used.at[1] % ROW_ORDERS == 0);
    for (uint32_t k = 0; k < used.n && good; k++) {
        Expr by = expr_diff(rows->exprs, f, used.at[k]);
        good = expr_is_const(rows->exprs, by, 1) || expr_is_const(rows->exprs, by, -1);
    }
    vec_free(&used);
    return good;
}

// How many of the unknowns of e but y may be forces, which are never differentiated, and are in no function; and whether there are others.
static uint32_t
count_forces(const MotionRows *rows, Expr e, uint32_t y, bool *positions)
{
    U32Vec used = {0};
    uint32_t forces = 0;
    *positions = false;
    expr_used_slots(rows->exprs, &e, 1, &used);
    for (uint32_t k = 0; k < used.n; k++) {
        uint32_t v = used.at[k] / ROW_ORDERS;
        Expr coefficient, rest;
        if (!rows->moves.at[v] || v == y)
            continue;
        bool force = !rows->positions.at[v] && expr_affine(rows->exprs, e, used.at[k], &coefficient, &rest);
        forces += force;
        *positions |= !force;
    }
    vec_free(&used);
    return forces;
}

// What a row of positions alone has with a factor of them is a length of that geometry, though it is never differentiated (that of a spring along an axis that
// turns): the forces or accelerations in row r do not give it. `maybe`: as long as others are in that row, too, which may still go.
static bool
is_length(const MotionRows *rows, uint32_t r, uint32_t y, bool maybe)
{
    bool length = false, positions;
    for (uint32_t other = 0; other < rows->rows.n && !length; other++) {
        Expr f = rows->rows.at[other].f, coefficient, rest;
        uint32_t moving = 1;
        if (other == r || !f || motion_row_order(rows, f, y) != 1 || (count_forces(rows, f, y, &positions) && !maybe) || !positions || highest_order(rows, f, &moving))
            continue;
        if (expr_affine(rows->exprs, f, row_slot(y, 0), &coefficient, &rest))
            highest_order(rows, coefficient, &moving);
        length = moving > 0;
    }
    return length;
}

// What row r gives y, of what this stage is about, or 0.
static Expr
explicit_for(const MotionRows *rows, Stage stage, uint32_t r, uint32_t y, uint32_t order)
{
    Exprs *exprs = rows->exprs;
    Expr f = rows->rows.at[r].f, coefficient, rest;
    uint32_t n, none;
    if (motion_row_order(rows, f, y) != 1 || (stage != STAGE_NAMES && rows->positions.at[y] != (stage != STAGE_FORCES)) ||
        !expr_affine(exprs, f, row_slot(y, 0), &coefficient, &rest))
        return 0;
    highest_order(rows, coefficient, &n);
    uint32_t highest = highest_order(rows, rest, &none);
    bool rates = stage == STAGE_VELOCITIES || stage == STAGE_RATES, positions;
    if (n || expr_is_const(exprs, coefficient, 0) || highest > order || (rates && !highest) || (stage == STAGE_POSITIONS && highest))
        return 0;
    if (stage == STAGE_VELOCITIES && !expr_is_const(exprs, coefficient, 1) && !expr_is_const(exprs, coefficient, -1))
        return 0;
    if (stage == STAGE_FORCES && rows->whole && (highest || count_forces(rows, rest, y, &positions)) && is_length(rows, r, y, order < HIGHEST))
        return 0;
    if ((rates && !is_rate(rows, rest)) || (stage == STAGE_FORCES && rows->whole && highest > 1))
        return 0;
    return expr_2(exprs, OP_DIV, expr_1(exprs, OP_NEG, rest), coefficient);
}

static bool
is_coordinate(const Dae *dae, Var var)
{
    bool negative;
    for (uint32_t i = 0; i < dae->coordinates.n; i++)
        if (dae_alias(dae, dae->coordinates.at[i], &negative) == var)
            return true;
    return false;
}

static bool
choose(MotionRows *rows, Stage stage, uint32_t r, uint32_t order, uint32_t *y, Expr *e)
{
    MotionRow *row = &rows->rows.at[r];
    U32Vec used = {0};
    bool found = false, name = stage == STAGE_NAMES && is_name(rows, row->f);
    if ((row->barren[stage] == row->f && order <= row->tried[stage]) || (stage == STAGE_NAMES && !name && row->defines == NONE))
        return false;
    expr_used_slots(rows->exprs, &row->f, 1, &used);
    for (uint32_t k = 0; k < used.n && !found; k++) {
        *y = used.at[k] / ROW_ORDERS;
        if (used.at[k] % ROW_ORDERS || !rows->moves.at[*y] || (stage == STAGE_NAMES && !name && row->defines != *y) || (stage > STAGE_FORCES && is_coordinate(rows->dae, rows->vars.at[*y])))
            continue;
        *e = explicit_for(rows, stage, r, *y, order);
        found = *e != 0;
    }
    vec_free(&used);
    row->barren[stage] = row->f;
    row->tried[stage] = (uint8_t)order;
    return found;
}

// A force that no equation gives: it is never differentiated and occurs in a row of accelerations with a coefficient of positions.
static bool
has_reaction(const MotionRows *rows)
{
    U32Vec used = {0};
    bool found = false;
    for (uint32_t r = 0; r < rows->rows.n && !found; r++) {
        uint32_t n;
        if (!rows->rows.at[r].f || highest_order(rows, rows->rows.at[r].f, &n) < 2)
            continue;
        vec_clear(&used);
        expr_used_slots(rows->exprs, &rows->rows.at[r].f, 1, &used);
        for (uint32_t k = 0; k < used.n && !found; k++) {
            uint32_t v = used.at[k] / ROW_ORDERS;
            found = rows->moves.at[v] && !rows->positions.at[v];
        }
    }
    vec_free(&used);
    return found;
}

const double *
motion_row_point(MotionRows *rows, uint32_t point)
{
    double *slots = rows->point[point];
    if (slots)
        return slots;
    rows->point[point] = slots = base_calloc(ROW_ORDERS * rows->vars.n + 1, sizeof *slots);
    for (uint32_t s = 0; s < ROW_ORDERS * rows->vars.n; s++) {
        double value = 0.1 + fmod((point + 1) * sqrt(2.0 + s) + 0.7548776662466927 * s, 1.0);
        if (s % ROW_ORDERS == 0 && dae_is_parameter(rows->dae, rows->vars.at[s / ROW_ORDERS]))
            dae_known_value(rows->dae, rows->vars.at[s / ROW_ORDERS], &value);
        slots[s] = value;
    }
    return slots;
}

static bool
is_spent(const MotionRows *rows, uint32_t v)
{
    return v < rows->own.n && rows->own.at[v] && rows->rows.at[rows->own.at[v] - 1].spent;
}

// Per variable: row + 1 that determines its acceleration.
static uint32_t *
rows_of_accelerations(MotionRows *rows)
{
    uint32_t *row_of = base_calloc(rows->vars.n + 1, sizeof *row_of), n;
    U32Vec used = {0}, lines = {0}, columns = {0};
    const double *slots = motion_row_point(rows, 0);
    for (uint32_t r = 0; r < rows->rows.n; r++) {
        if (!rows->rows.at[r].f || highest_order(rows, rows->rows.at[r].f, &n) < 2)
            continue;
        vec_push(&lines, r);
        vec_clear(&used);
        expr_used_slots(rows->exprs, &rows->rows.at[r].f, 1, &used);
        for (uint32_t k = 0; k < used.n; k++) {
            uint32_t v = used.at[k] / ROW_ORDERS;
            if (used.at[k] % ROW_ORDERS != 2 || !rows->moves.at[v] || row_of[v] || is_spent(rows, v))
                continue;
            vec_push(&columns, v);
            row_of[v] = columns.n;
        }
    }
    uint32_t size = lines.n > columns.n ? lines.n : columns.n, *column_of = base_calloc(size + 1, sizeof *column_of);
    double *gain = base_calloc((size_t)size * size + 1, sizeof *gain);
    for (size_t i = 0; i < (size_t)size * size; i++)
        gain[i] = ASSIGN_NEVER;
    for (uint32_t i = 0; i < lines.n; i++) {
        Expr f = rows->rows.at[lines.at[i]].f;
        vec_clear(&used);
        expr_used_slots(rows->exprs, &f, 1, &used);
        for (uint32_t k = 0; k < used.n; k++) {
            uint32_t column = used.at[k] % ROW_ORDERS == 2 ? row_of[used.at[k] / ROW_ORDERS] : 0;
            Expr a = column ? expr_diff(rows->exprs, f, used.at[k]) : 0;
            double value = a ? fabs(expr_eval(rows->exprs, a, slots, 0.3)) : 0;
            if (value > 0 && isfinite(value))
                gain[i * size + column - 1] = log(value);
        }
    }
    assign_most(gain, size, column_of);
    memset(row_of, 0, rows->vars.n * sizeof *row_of);
    for (uint32_t i = 0; i < lines.n; i++)
        if (column_of[i] < columns.n && gain[i * size + column_of[i]] > ASSIGN_NEVER)
            row_of[columns.at[column_of[i]]] = lines.at[i] + 1;
    free(gain);
    free(column_of);
    vec_free(&used);
    vec_free(&lines);
    vec_free(&columns);
    return row_of;
}

// The row of y = e counts for what e moves.
static void
project(MotionRows *rows, uint32_t *row_of, uint32_t y, Expr e)
{
    U32Vec used = {0};
    uint32_t from = row_of[y] - 1;
    Expr f = rows->rows.at[from].f;
    expr_used_slots(rows->exprs, &e, 1, &used);
    for (uint32_t k = 0; k < used.n; k++) {
        uint32_t q = used.at[k] / ROW_ORDERS;
        if (!rows->moves.at[q])
            continue;
        if (!row_of[q]) {
            vec_push(&rows->rows, (MotionRow){.f = expr_const(rows->exprs, 0), .equation = NONE, .defines = NONE, .projected = 1});
            row_of[q] = rows->rows.n;
        }
        MotionRow *to = &rows->rows.at[row_of[q] - 1];
        Expr part = expr_2(rows->exprs, OP_MUL, f, expr_diff(rows->exprs, e, used.at[k]));
        to->f = expr_2(rows->exprs, OP_ADD, to->f, part);
        to->projected = 1;
    }
    rows->rows.at[from].f = 0;
    vec_free(&used);
}

// A relation between rates alone, with coefficients of parameters, is one between positions but for a constant (a wheel that rolls, a gear): their displacements.
static void
integrate_rates(MotionRows *rows)
{
    U32Vec used = {0};
    for (uint32_t r = 0; r < rows->rows.n; r++) {
        Expr rest = rows->rows.at[r].f, sum = expr_const(rows->exprs, 0);
        uint32_t moving = 0, n;
        bool good = rest != 0;
        vec_clear(&used);
        if (good)
            expr_used_slots(rows->exprs, &rest, 1, &used);
        for (uint32_t k = 0; k < used.n && good; k++) {
            uint32_t v = used.at[k] / ROW_ORDERS;
            Expr coefficient;
            if (!rows->moves.at[v])
                continue;
            good = used.at[k] % ROW_ORDERS == 1 && expr_affine(rows->exprs, rest, used.at[k], &coefficient, &rest);
            if (!good)
                break;
            highest_order(rows, coefficient, &n);
            good = !n && !expr_has_op(rows->exprs, coefficient, OP_TIME);
            sum = expr_2(rows->exprs, OP_ADD, sum, expr_2(rows->exprs, OP_MUL, coefficient, expr_slot(rows->exprs, used.at[k] - 1)));
            moving++;
        }
        if (good && moving > 1 && expr_is_const(rows->exprs, rest, 0))
            rows->rows.at[r].f = sum;
    }
    vec_free(&used);
}

// --- forces in axes that turn

typedef struct AxesRow { // a row and the only forces in it, in the order of their variables
    uint32_t row, n, force[AXES_MOST];
} AxesRow;

static int
by_forces(const void *a, const void *b)
{
    const AxesRow *x = a, *y = b;
    for (uint32_t k = 0; k < AXES_MOST; k++)
        if (x->force[k] != y->force[k])
            return x->force[k] < y->force[k] ? -1 : 1;
    return x->row < y->row ? -1 : x->row > y->row;
}

// Per variable: how often it is differentiated at most, in all rows.
static void
find_orders(const MotionRows *rows, U8Vec *order)
{
    U32Vec used = {0};
    vec_fill(order, rows->vars.n, 0);
    for (uint32_t r = 0; r < rows->rows.n; r++) {
        vec_clear(&used);
        if (rows->rows.at[r].f)
            expr_used_slots(rows->exprs, &rows->rows.at[r].f, 1, &used);
        for (uint32_t k = 0; k < used.n; k++) {
            uint8_t *at = &order->at[used.at[k] / ROW_ORDERS];
            *at = used.at[k] % ROW_ORDERS > *at ? (uint8_t)(used.at[k] % ROW_ORDERS) : *at;
        }
    }
    vec_free(&used);
}

// False when it has the derivative of no velocity that is none of a position, one force at most, too many, or one in another way than times what positions give.
static bool
read_forces(const MotionRows *rows, const U8Vec *order, uint32_t r, AxesRow *out)
{
    U32Vec used = {0};
    bool good = true, turns = false;
    *out = (AxesRow){.row = r, .force = {NONE, NONE, NONE}};
    expr_used_slots(rows->exprs, &rows->rows.at[r].f, 1, &used);
    for (uint32_t k = 0; k < used.n && good; k++) {
        uint32_t v = used.at[k] / ROW_ORDERS, at = out->n, ignored;
        Expr coefficient, rest;
        turns |= used.at[k] % ROW_ORDERS == 1 && order->at[v] == 1;
        if (!rows->moves.at[v] || rows->positions.at[v])
            continue;
        good = out->n < AXES_MOST && used.at[k] % ROW_ORDERS == 0 && motion_row_order(rows, rows->rows.at[r].f, v) == 1
               && expr_affine(rows->exprs, rows->rows.at[r].f, used.at[k], &coefficient, &rest)
               && !highest_order(rows, coefficient, &ignored);
        if (!good)
            break;
        for (out->n++; at && out->force[at - 1] > v; at--)
            out->force[at] = out->force[at - 1];
        out->force[at] = v;
    }
    vec_free(&used);
    return good && turns && out->n > 1;
}

static Expr
minor_of(Exprs *exprs, Expr a[][AXES_MOST], uint32_t n, uint32_t row, uint32_t column)
{
    uint32_t i = row ? 0 : 1, k = row + i == 1 ? 2 : 1, j = column ? 0 : 1, l = column + j == 1 ? 2 : 1;
    if (n == 2)
        return a[i][j];
    return expr_sub(exprs, expr_2(exprs, OP_MUL, a[i][j], a[k][l]), expr_2(exprs, OP_MUL, a[i][l], a[k][j]));
}

// The forces of as many rows by Cramer's rule; false where they do not determine them.
static bool
solve_axes(MotionRows *rows, const AxesRow *of)
{
    Exprs *exprs = rows->exprs;
    uint32_t n = of->n;
    Expr a[AXES_MOST][AXES_MOST], rest[AXES_MOST], determinant = expr_const(exprs, 0), found[AXES_MOST];
    for (uint32_t i = 0; i < n; i++) {
        rest[i] = rows->rows.at[of[i].row].f;
        for (uint32_t j = 0; j < n; j++)
            if (!expr_affine(exprs, rest[i], row_slot(of->force[j], 0), &a[i][j], &rest[i]))
                return false;
    }
    for (uint32_t j = 0; j < n; j++) {
        Expr term = expr_2(exprs, OP_MUL, a[0][j], minor_of(exprs, a, n, 0, j));
        determinant = j % 2 ? expr_sub(exprs, determinant, term) : expr_2(exprs, OP_ADD, determinant, term);
    }
    double value = expr_eval(exprs, determinant, motion_row_point(rows, 0), 0.3);
    if (!(fabs(value) > 1e-9))
        return false;
    for (uint32_t j = 0; j < n; j++) {
        Expr sum = expr_const(exprs, 0);
        for (uint32_t i = 0; i < n; i++) {
            Expr term = expr_2(exprs, OP_MUL, rest[i], minor_of(exprs, a, n, i, j));
            sum = (i + j) % 2 ? expr_2(exprs, OP_ADD, sum, term) : expr_sub(exprs, sum, term);
        }
        found[j] = expr_2(exprs, OP_DIV, sum, determinant);
    }
    for (uint32_t i = 0; i < n; i++) {
        rows->rows.at[of[i].row].f = 0;
        rows->rows.at[of[i].row].spent = 1;
    }
    for (uint32_t j = 0; j < n && rows->leads == NONE; j++)
        put_in(rows, of->force[j], found[j]);
    return true;
}

// Torques in the axes of a body (Euler's equations) are explicit in none of their rows: two or three rows that have the same two or three forces, and no others,
// give them together.
static bool
solve_in_axes(MotionRows *rows)
{
    VEC(AxesRow) found = {0};
    U8Vec order = {0};
    AxesRow row;
    bool some = false;
    find_orders(rows, &order);
    for (uint32_t r = 0; r < rows->rows.n; r++)
        if (rows->rows.at[r].f && !rows->rows.at[r].projected && read_forces(rows, &order, r, &row))
            vec_push(&found, row);
    vec_free(&order);
    if (found.n > 1)
        qsort(found.at, found.n, sizeof *found.at, by_forces);
    for (uint32_t from = 0, to; from < found.n && rows->leads == NONE && !some; from = to) {
        for (to = from; to < found.n && !memcmp(found.at[to].force, found.at[from].force, sizeof row.force); to++)
            continue;
        some = to - from == found.at[from].n && solve_axes(rows, &found.at[from]);
    }
    vec_free(&found);
    return some;
}

// True when something of the stage was found and put in.
static bool
eliminate(MotionRows *rows, Stage stage)
{
    if (stage == STAGE_AXES)
        return !rows->whole && solve_in_axes(rows);
    if (stage == STAGE_POSITIONS)
        integrate_rates(rows);
    bool some = false, reactions = !rows->whole && stage == STAGE_POSITIONS && has_reaction(rows);
    uint32_t *row_of = reactions ? rows_of_accelerations(rows) : NULL, n = rows->rows.n;
    for (uint32_t order = 0; order <= (stage == STAGE_VELOCITIES || stage == STAGE_RATES ? 1 : stage == STAGE_POSITIONS ? 0 : HIGHEST) && rows->leads == NONE; order++)
        for (uint32_t r = 0; r < n && rows->leads == NONE; r++) {
            uint32_t y, none;
            Expr e;
            if (!rows->rows.at[r].f || rows->rows.at[r].projected || !choose(rows, stage, r, order, &y, &e))
                continue;
            rows->rows.at[r].f = 0;
            rows->rows.at[r].spent = stage == STAGE_FORCES;
            rows->reactions |= stage == STAGE_FORCES && highest_order(rows, e, &none) > 0;
            if (reactions && row_of[y])
                project(rows, row_of, y, e);
            if (stage == STAGE_POSITIONS) {
                U32Vec used = {0};
                expr_used_slots(rows->exprs, &e, 1, &used);
                for (uint32_t k = 0; k < used.n; k++)
                    rows->positions.at[used.at[k] / ROW_ORDERS] = 1;
                for (uint32_t k = 0; k < rows->rows.n; k++)
                    memset(rows->rows.at[k].barren, 0, sizeof rows->rows.at[k].barren);
                vec_free(&used);
            }
            put_in(rows, y, e);
            some = true;
        }
    free(row_of);
    return some;
}

// A reaction whose power is zero in a projected row is no part of it.
static void
drop_workless(MotionRows *rows)
{
    for (uint32_t r = 0; r < rows->rows.n; r++) {
        U32Vec used = {0};
        if (!rows->rows.at[r].f || !rows->rows.at[r].projected)
            continue;
        expr_used_slots(rows->exprs, &rows->rows.at[r].f, 1, &used);
        for (uint32_t k = 0; k < used.n; k++) {
            uint32_t v = used.at[k] / ROW_ORDERS;
            Expr a = expr_diff(rows->exprs, rows->rows.at[r].f, used.at[k]);
            bool zero = rows->moves.at[v] && !rows->positions.at[v] && a;
            for (uint32_t point = 0; point < WORKLESS_POINTS && zero; point++) {
                zero = fabs(expr_eval(rows->exprs, a, motion_row_point(rows, point), 0.3 + point)) <= 1e-11;
            }
            if (zero)
                rows->rows.at[r].f = expr_replace_slot(rows->exprs, rows->rows.at[r].f, used.at[k], expr_const(rows->exprs, 0));
        }
        vec_free(&used);
    }
}

static void
close_rows(MotionRows *rows)
{
    U8Vec seen = {0};
    U32Vec used = {0};
    uint32_t kept = 0;
    for (uint32_t v = 0; v < rows->vars.n; v++)
        vec_push(&rows->spent, is_spent(rows, v));
    vec_grow(&seen, rows->vars.n);
    for (uint32_t r = 0; r < rows->rows.n; r++) {
        uint32_t n = 0;
        if (rows->rows.at[r].f)
            highest_order(rows, rows->rows.at[r].f, &n);
        if (!n)
            continue;
        rows->rows.at[kept++] = rows->rows.at[r];
        vec_clear(&used);
        expr_used_slots(rows->exprs, &rows->rows.at[kept - 1].f, 1, &used);
        for (uint32_t k = 0; k < used.n; k++) {
            uint32_t v = used.at[k] / ROW_ORDERS;
            if (rows->moves.at[v] && !seen.at[v]) {
                vec_push(&rows->unknowns, v);
                seen.at[v] = 1;
            }
        }
    }
    rows->rows.n = kept;
    vec_free(&seen);
    vec_free(&used);
}

void
motion_rows_make(Dae *dae, bool whole, MotionRows *out)
{
    Maker maker = {.rows = out};
    *out = (MotionRows){.dae = dae, .exprs = dae->exprs, .leads = NONE, .whole = whole};
    find_velocities(&maker);
    read_equations(&maker);
    make_rates(out);
    for (Stage stage = STAGE_NAMES; stage < STAGE_COUNT;) {
        if (stage == STAGE_FORCES && !out->own.n) { // derivatives stand in the rows, and forces still do
            uint32_t *row_of = rows_of_accelerations(out);
            vec_append(&out->own, row_of, out->vars.n);
            free(row_of);
        }
        stage = eliminate(out, stage) && out->leads == NONE ? STAGE_NAMES : stage + 1;
    }
    if (!whole)
        drop_workless(out);
    close_rows(out);
    map_free(&maker.index);
    map_free(&maker.zero);
    vec_free(&maker.der_of);
    vec_free(&maker.law);
}

void
motion_rows_free(MotionRows *rows)
{
    vec_free(&rows->vars);
    vec_free(&rows->moves);
    vec_free(&rows->rows);
    vec_free(&rows->unknowns);
    vec_free(&rows->rate);
    vec_free(&rows->positions);
    vec_free(&rows->own);
    vec_free(&rows->zeros);
    vec_free(&rows->spent);
    for (uint32_t point = 0; point < ROW_POINTS; point++)
        free(rows->point[point]);
}

static void
print_slot(Out *out, uint32_t s, void *context)
{
    const MotionRows *rows = context;
    for (uint32_t i = 0; i < s % ROW_ORDERS; i++)
        out_text(out, "der(");
    dae_told_name(rows->dae, rows->vars.at[s / ROW_ORDERS], out);
    out_repeat(out, ')', s % ROW_ORDERS);
}

void
motion_row_print(const MotionRows *rows, Expr e, Out *out)
{
    expr_print(rows->exprs, e, print_slot, (void *)rows, out);
}
