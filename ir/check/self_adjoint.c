// self_adjoint.c: Helmholtz's conditions of equations of motion.
//
// Purpose: rows F_i(t, q, der(q), der(der(q))) are those of a Lagrangian when and only when, with u = der(q) and a = der(u),
//     dF_i/da_j = dF_j/da_i                                                               (30), (31)
//     dF_i/du_j + dF_j/du_i = d/dt (dF_i/da_j + dF_j/da_i)                                (33)
//     dF_i/dq_j - dF_j/dq_i = 1/2 d/dt (dF_i/du_j - dF_j/du_i)                            (32)
// for all q, u, a and der(a) (Santilli, Foundations of Theoretical Mechanics I, 1978, 2.2); multipliers of constraints are positions whose rows the constraints are.
// Method: rows are paired with the variables that they work on (largest product of coefficients), conditions are looked at for the pairs of variables that a row has.
// A condition whose sides have one normal form is proven; others are evaluated at points without order (Schwartz 1980, Zippel 1979): one that differs there
// fails for certain, one that agrees holds with probability one. Where a condition fails, rows get factors: numbers and parameters along a spanning tree of the
// couplings; a factor of time and position for all rows from (33), whose sides then differ by the rate of its logarithm; and rows are exchanged between two
// systems. Whatever is found is put into all conditions again. Contract: self_adjoint.h. Complexity: the couplings times the size of rows; the pairing of each system
// is quadratic in its gains and cubic in its assignment (assign.c).
#include "ir/check/self_adjoint.h"

#include <math.h>
#include <string.h>

#include "ir/base/sets.h"
#include "ir/check/assign.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/polynomial.h"

enum { IDENTITY_POINTS = ROW_POINTS, EXCHANGED_MOST = 6, LONGEST_FACTOR = 30 };

typedef struct Form {       // rows of a system with factors
    MotionRows *rows;
    const AdjointSystem *system;
    Expr *f;
} Form;

typedef enum Sides { SIDES_EQUAL, SIDES_AGREE, SIDES_DIFFER, SIDES_UNKNOWN } Sides;

static Exprs *
exprs_of(const Form *form)
{
    return form->rows->exprs;
}

static double
value_at(const Form *form, Expr e, uint32_t point)
{
    return expr_eval(exprs_of(form), e, motion_row_point(form->rows, point), 0.3 + point);
}

// Both sides everywhere; `size` is what their rounding is measured by.
static Sides
compare(const Form *form, Expr left, Expr right, double *left_value, double *right_value)
{
    uint32_t seen = 0;
    if (!left || !right)
        return SIDES_UNKNOWN;
    if (left == right || expr_is_const(exprs_of(form), expr_sub(exprs_of(form), left, right), 0))
        return SIDES_EQUAL;
    for (uint32_t point = 0; point < IDENTITY_POINTS; point++) {
        double l = value_at(form, left, point), r = value_at(form, right, point);
        if (!isfinite(l) || !isfinite(r))
            continue;
        seen++;
        // What cancels inside of a side leaves rounding of its terms, which are of the size of one at these points.
        if (fabs(l - r) > 1e-9 * (fabs(l) + fabs(r)) + 1e-11) {
            *left_value = l;
            *right_value = r;
            return SIDES_DIFFER;
        }
    }
    return seen ? SIDES_AGREE : SIDES_UNKNOWN;
}

static Expr
by(const Form *form, uint32_t i, uint32_t j, uint32_t order)
{
    return expr_diff(exprs_of(form), form->f[i], row_slot(form->system->variables.at[j], order));
}

static Expr
sum(const Form *form, Expr a, Expr b)
{
    return a && b ? expr_2(exprs_of(form), OP_ADD, a, b) : 0;
}

static Expr
difference(const Form *form, Expr a, Expr b)
{
    return a && b ? expr_sub(exprs_of(form), a, b) : 0;
}

static Expr
rate(const Form *form, Expr e)
{
    return e ? motion_row_rate(form->rows, e) : 0;
}

// Fills the first condition of the pair that fails, or lowers `verdict` to what is known.
static bool
pair_fails(const Form *form, uint32_t i, uint32_t j, AdjointSystem *out, Adjointness *verdict)
{
    Exprs *exprs = exprs_of(form);
    Expr half = expr_const(exprs, 0.5), turn = rate(form, difference(form, by(form, i, j, 1), by(form, j, i, 1)));
    const struct { const char *name; Expr left, right; } conditions[] = {
        {"(30)", by(form, i, j, 2), by(form, j, i, 2)},
        {"(33)", sum(form, by(form, i, j, 1), by(form, j, i, 1)), rate(form, sum(form, by(form, i, j, 2), by(form, j, i, 2)))},
        {"(32)", difference(form, by(form, i, j, 0), by(form, j, i, 0)), turn ? expr_2(exprs, OP_MUL, half, turn) : 0},
    };
    for (size_t k = 0; k < sizeof conditions / sizeof *conditions; k++) {
        double left = 0, right = 0;
        Sides sides = compare(form, conditions[k].left, conditions[k].right, &left, &right);
        if (sides == SIDES_DIFFER) {
            out->condition = conditions[k].name;
            out->i = i;
            out->j = j;
            out->left = conditions[k].left;
            out->right = conditions[k].right;
            out->left_value = left;
            out->right_value = right;
            *verdict = ADJOINT_NOT;
            return true;
        }
        if (sides == SIDES_UNKNOWN)
            *verdict = ADJOINT_OPEN;
        else if (sides == SIDES_AGREE && *verdict == ADJOINT_PROVEN)
            *verdict = ADJOINT_PROBABLE;
    }
    return false;
}

// Places of the variables that a row has, among those of the system.
static void
couplings(const Form *form, uint32_t i, const Map *place, U32Vec *out)
{
    U32Vec used = {0};
    expr_used_slots(exprs_of(form), &form->f[i], 1, &used);
    vec_clear(out);
    for (uint32_t k = 0; k < used.n; k++) {
        uint32_t j;
        bool there = false;
        if (!map_get(place, used.at[k] / ROW_ORDERS, &j))
            continue;
        for (uint32_t l = 0; l < out->n && !there; l++)
            there = out->at[l] == j;
        if (!there)
            vec_push(out, j);
    }
    vec_free(&used);
}

static void
make_places(const AdjointSystem *system, Map *place)
{
    for (uint32_t i = 0; i < system->variables.n; i++)
        map_put(place, system->variables.at[i], i);
}

static Adjointness
check_conditions(const Form *form, AdjointSystem *out)
{
    Adjointness verdict = ADJOINT_PROVEN;
    Map place = {0};
    U32Vec others = {0};
    make_places(form->system, &place);
    for (uint32_t i = 0; i < form->system->rows.n && verdict != ADJOINT_NOT; i++) {
        couplings(form, i, &place, &others);
        for (uint32_t k = 0; k < others.n; k++)
            if (pair_fails(form, i, others.at[k], out, &verdict))
                break;
    }
    map_free(&place);
    vec_free(&others);
    return verdict;
}

static Form
form_open(MotionRows *rows, const AdjointSystem *system)
{
    Form form = {.rows = rows, .system = system, .f = base_calloc(system->rows.n + 1, sizeof *form.f)};
    for (uint32_t i = 0; i < system->rows.n; i++)
        form.f[i] = rows->rows.at[system->rows.at[i]].f;
    return form;
}

static void
form_close(Form *form)
{
    free(form->f);
}

static bool
is_held(const MotionRows *rows, Expr e)
{
    U32Vec used = {0};
    bool held = true;
    expr_used_slots(rows->exprs, &e, 1, &used);
    for (uint32_t k = 0; k < used.n; k++)
        held &= !rows->moves.at[used.at[k] / ROW_ORDERS];
    vec_free(&used);
    return held;
}

// e where everything that moves has one value.
static Expr
where_all_are(const Form *form, Expr e, double value)
{
    Exprs *exprs = exprs_of(form);
    Expr *with = base_calloc(ROW_ORDERS * form->rows->vars.n, sizeof *with);
    for (uint32_t s = 0; s < ROW_ORDERS * form->rows->vars.n; s++)
        with[s] = form->rows->moves.at[s / ROW_ORDERS] ? expr_const(exprs, value) : 0;
    Expr there = expr_substitute(exprs, e, with, ROW_ORDERS * form->rows->vars.n);
    free(with);
    return monomial_reduced(exprs, there);
}

// e where it is free of the motion, as an expression of parameters: what it is at a simple place, or, where that is long, its value. 0: it depends on the motion.
static Expr
without_motion(const Form *form, Expr e)
{
    Exprs *exprs = exprs_of(form);
    double l, r;
    if (!e)
        return 0;
    if (is_held(form->rows, e) && expr_operations(exprs, e) <= LONGEST_FACTOR)
        return monomial_reduced(exprs, e);
    for (double place = 0; place <= 1; place++) {
        Expr there = where_all_are(form, e, place);
        if (expr_operations(exprs, there) <= LONGEST_FACTOR && isfinite(value_at(form, there, 0)) && compare(form, e, there, &l, &r) <= SIDES_AGREE)
            return there;
    }
    double value = value_at(form, e, 0), nearest = round(value);
    Expr number = expr_const(exprs, fabs(value - nearest) < 1e-9 ? nearest : value);
    return compare(form, e, number, &l, &r) <= SIDES_AGREE ? number : 0;
}

static bool
vanishes(const Form *form, Expr e)
{
    double l, r;
    return !e || compare(form, e, expr_const(exprs_of(form), 0), &l, &r) != SIDES_DIFFER;
}

// What row j has to be multiplied by when row i counts once, so that their coupling agrees; 0: nothing free of the motion.
static Expr
ratio(const Form *form, uint32_t i, uint32_t j)
{
    static const uint32_t orders[] = {2, 0, 1};
    Exprs *exprs = exprs_of(form);
    for (size_t k = 0; k < 3; k++) {
        Expr ij = by(form, i, j, orders[k]), ji = by(form, j, i, orders[k]);
        if (vanishes(form, ij) || vanishes(form, ji))
            continue;
        Expr quotient = without_motion(form, expr_2(exprs, OP_DIV, ij, ji));
        if (quotient && isfinite(value_at(form, quotient, 0)))
            return orders[k] == 1 ? expr_1(exprs, OP_NEG, quotient) : quotient;
    }
    return 0;
}

// Factors of rows along a spanning tree of the couplings; false when there are none but ones.
static bool
scale_rows(Form *form, Expr *factors)
{
    Exprs *exprs = exprs_of(form);
    uint32_t n = form->system->rows.n;
    bool some = false;
    Map place = {0};
    U32Vec queue = {0}, others = {0};
    make_places(form->system, &place);
    for (uint32_t start = 0; start < n; start++) {
        if (factors[start])
            continue;
        factors[start] = expr_const(exprs, 1);
        vec_push(&queue, start);
        for (uint32_t head = 0; head < queue.n; head++) {
            uint32_t i = queue.at[head];
            couplings(form, i, &place, &others);
            for (uint32_t k = 0; k < others.n; k++) {
                uint32_t j = others.at[k];
                Expr quotient = factors[j] ? 0 : ratio(form, i, j);
                if (!quotient)
                    continue;
                factors[j] = monomial_reduced(exprs, expr_2(exprs, OP_MUL, factors[i], quotient));
                some |= !expr_is_const(exprs, factors[j], 1);
                vec_push(&queue, j);
            }
        }
        vec_clear(&queue);
    }
    for (uint32_t i = 0; i < n && some; i++)
        form->f[i] = expr_2(exprs, OP_MUL, factors[i], form->f[i]);
    map_free(&place);
    vec_free(&queue);
    vec_free(&others);
    return some;
}

// A common factor of all rows, from row i: with r = (dF/du - d/dt dF/da)/(dF/da) it is mu with d/dt log(mu) = r = h + g(q)*u, where h is free of the motion.
static Expr
common_factor(const Form *form, uint32_t i)
{
    Exprs *exprs = exprs_of(form);
    Expr a = by(form, i, i, 2), zero = expr_const(exprs, 0);
    uint32_t q = row_slot(form->system->variables.at[i], 0);
    if (vanishes(form, a))
        return 0;
    Expr r = difference(form, by(form, i, i, 1), rate(form, a));
    if (!r || vanishes(form, r))
        return 0;
    r = expr_2(exprs, OP_DIV, r, a);
    Expr h = without_motion(form, expr_replace_slot(exprs, r, q + 1, zero)), mu = expr_const(exprs, 1);
    Expr g = expr_diff(exprs, r, q + 1);
    if (!h || !g || !vanishes(form, expr_diff(exprs, g, q + 1)))
        return 0;
    Expr power = vanishes(form, expr_diff(exprs, a, q)) ? 0
               : without_motion(form, expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, g, a), expr_diff(exprs, a, q)));
    Expr constant = vanishes(form, g) ? 0 : without_motion(form, g);
    if (power)
        mu = expr_2(exprs, OP_POW, a, power);
    else if (constant)
        mu = expr_1(exprs, OP_EXP, expr_2(exprs, OP_MUL, constant, expr_slot(exprs, q)));
    else if (!vanishes(form, g))
        return 0;
    if (!vanishes(form, h))
        mu = expr_2(exprs, OP_MUL, mu, expr_1(exprs, OP_EXP, expr_2(exprs, OP_MUL, h, expr_time(exprs))));
    return mu;
}

static bool
holds(Adjointness verdict)
{
    return verdict == ADJOINT_PROVEN || verdict == ADJOINT_PROBABLE;
}

// Looks for factors that make the rows self-adjoint: of each row, of all, both.
static void
find_factors(MotionRows *rows, AdjointSystem *system)
{
    Form form = form_open(rows, system);
    Exprs *exprs = rows->exprs;
    Expr *factors = base_calloc(system->rows.n + 1, sizeof *factors);
    AdjointSystem failure;
    Adjointness verdict = ADJOINT_NOT;
    if (scale_rows(&form, factors))
        verdict = check_conditions(&form, &failure);
    for (uint32_t i = 0; i < system->rows.n && !holds(verdict); i++) {
        Expr mu = common_factor(&form, i);
        if (!mu)
            continue;
        for (uint32_t k = 0; k < system->rows.n; k++) {
            form.f[k] = expr_2(exprs, OP_MUL, mu, form.f[k]);
            factors[k] = expr_2(exprs, OP_MUL, mu, factors[k] ? factors[k] : expr_const(exprs, 1));
        }
        verdict = check_conditions(&form, &failure);
        break;
    }
    if (holds(verdict)) {
        system->verdict = ADJOINT_WITH_FACTORS;
        system->with_factors = verdict;
        for (uint32_t i = 0; i < system->rows.n; i++)
            vec_push(&system->factors, factors[i] ? factors[i] : expr_const(exprs, 1));
    }
    free(factors);
    form_close(&form);
}

static void find_moving(const Form *form, U8Vec *moving);
static void mark_used(const Form *form, uint32_t i, bool there, U8Vec *has, bool *constraint);

// Per variable of the model: a row of the system has an acceleration of it.
static void
find_accelerated(const Form *form, U8Vec *accelerated)
{
    vec_fill(accelerated, form->rows->vars.n, 0);
    for (uint32_t i = 0; i < form->system->rows.n; i++)
        for (uint32_t j = 0; j < form->system->variables.n; j++)
            accelerated->at[form->system->variables.at[j]] |= expr_uses_slot(exprs_of(form), form->f[i], row_slot(form->system->variables.at[j], 2));
}

// A row between velocities of what has accelerations elsewhere.
static bool
is_of_velocities(const Form *form, uint32_t i, const U8Vec *accelerated)
{
    U32Vec used = {0};
    bool rates = false, good = true;
    expr_used_slots(exprs_of(form), &form->f[i], 1, &used);
    for (uint32_t k = 0; k < used.n; k++) {
        uint32_t v = used.at[k] / ROW_ORDERS, order = used.at[k] % ROW_ORDERS;
        if (!form->rows->moves.at[v])
            continue;
        rates |= order == 1;
        good &= order <= 1 && accelerated->at[v];
    }
    vec_free(&used);
    return good && rates;
}

// Whether rows that fail may be others than those that the displacements of their variables work on: a constraint is left between positions, without the reaction
// that holds it, or between velocities; or forces that no law gives are what inertia makes them, and reactions that are left stand for others, whose sums with
// inertia forces they are.
static bool
are_others(const Form *form)
{
    const MotionRows *rows = form->rows;
    U8Vec moving = {0}, has = {0}, accelerated = {0};
    bool others = false, spent = rows->spent.n && memchr(rows->spent.at, 1, rows->spent.n);
    find_moving(form, &moving);
    find_accelerated(form, &accelerated);
    vec_fill(&has, rows->vars.n, 0);
    for (uint32_t i = 0; i < form->system->variables.n && !others; i++) {
        uint32_t v = form->system->variables.at[i];
        bool constraint;
        mark_used(form, i, true, &has, &constraint);
        others = (constraint && moving.at[v]) || (spent && (!moving.at[v] || rows->spent.at[v])) || is_of_velocities(form, i, &accelerated);
    }
    vec_free(&moving);
    vec_free(&has);
    vec_free(&accelerated);
    return others;
}

// Whether a variable is left that is never differentiated: the pairing may have taken another row for that of a reaction.
static bool
has_forces(const Form *form)
{
    U8Vec moving = {0};
    bool some = false;
    find_moving(form, &moving);
    for (uint32_t i = 0; i < form->system->variables.n; i++)
        some |= !moving.at[form->system->variables.at[i]];
    vec_free(&moving);
    return some;
}

static void
judge(MotionRows *rows, AdjointSystem *system)
{
    Form form = form_open(rows, system);
    system->verdict = check_conditions(&form, system);
    system->reason = system->verdict == ADJOINT_OPEN ? "a derivative of a row is not known" : NULL;
    if (system->verdict == ADJOINT_NOT)
        find_factors(rows, system);
    // Inertia that is not symmetric tells of rows that are sums of others, when reactions have been put in; a mechanism has no other.
    if (system->verdict == ADJOINT_NOT && (are_others(&form) || (rows->reactions && !strcmp(system->condition, "(30)")))) {
        system->by_motion = true;
        system->condition = NULL;
    } else if (system->verdict == ADJOINT_NOT) {
        system->may_be_others = has_forces(&form);
    }
    form_close(&form);
}

// --- systems and pairs

// How much row r is about variable v: its acceleration, or, of a variable without any, what else the row has of it.
static double
gain_of(const Form *form, uint32_t r, uint32_t v)
{
    static const struct { uint32_t order; double less; } orders[] = {{2, 0}, {0, 1e3}, {1, 2e3}};
    for (size_t k = 0; k < 3; k++) {
        Expr a = expr_diff(exprs_of(form), form->rows->rows.at[r].f, row_slot(v, orders[k].order));
        double value = a ? fabs(value_at(form, a, 0)) : 0;
        if (value > 0 && isfinite(value))
            return log(value) - orders[k].less;
    }
    return ASSIGN_NEVER;
}

// A constraint is the row of the multiplier that acts along its gradient: the cosine of both, as row i has it.
static double
gain_of_multiplier(const Form *form, const U32Vec *lines, uint32_t r, uint32_t v)
{
    Exprs *exprs = exprs_of(form);
    U32Vec used = {0};
    double product = 0, gradient = 0, action = 0;
    expr_used_slots(exprs, &form->rows->rows.at[r].f, 1, &used);
    for (uint32_t k = 0; k < used.n; k++) {
        double g = form->rows->moves.at[used.at[k] / ROW_ORDERS] ? value_at(form, expr_diff(exprs, form->rows->rows.at[r].f, used.at[k]), 0) : 0;
        for (uint32_t l = 0; l < lines->n && g != 0; l++) {
            Expr f = form->rows->rows.at[lines->at[l]].f, own = expr_diff(exprs, f, row_slot(used.at[k] / ROW_ORDERS, 2));
            if (vanishes(form, own))
                continue;
            double a = value_at(form, expr_diff(exprs, f, row_slot(v, 0)), 0);
            product += fabs(a * g);
            action += a * a;
            gradient += g * g;
        }
    }
    vec_free(&used);
    return product > 0 ? log(product * product / (action * gradient)) : ASSIGN_NEVER;
}

// Per variable of the model: a row of the system has a derivative of it.
static void
find_moving(const Form *form, U8Vec *moving)
{
    U32Vec used = {0};
    vec_fill(moving, form->rows->vars.n, 0);
    for (uint32_t i = 0; i < form->system->rows.n; i++) {
        vec_clear(&used);
        expr_used_slots(exprs_of(form), &form->f[i], 1, &used);
        for (uint32_t k = 0; k < used.n; k++)
            if (used.at[k] % ROW_ORDERS)
                moving->at[used.at[k] / ROW_ORDERS] = 1;
    }
    vec_free(&used);
}

// Per variable of the model: row i has it; `constraint`: and no derivative of an unknown.
static void
mark_used(const Form *form, uint32_t i, bool there, U8Vec *has, bool *constraint)
{
    U32Vec used = {0};
    *constraint = true;
    expr_used_slots(exprs_of(form), &form->f[i], 1, &used);
    for (uint32_t k = 0; k < used.n; k++) {
        has->at[used.at[k] / ROW_ORDERS] = there;
        if (used.at[k] % ROW_ORDERS && form->rows->moves.at[used.at[k] / ROW_ORDERS])
            *constraint = false;
    }
    vec_free(&used);
}

// Orders the variables so that each stands at the place of its row.
static void
pair_up(MotionRows *rows, AdjointSystem *system)
{
    Form form = form_open(rows, system);
    uint32_t n = system->rows.n, *column_of = base_calloc(n + 1, sizeof *column_of);
    double *gain = base_calloc((size_t)n * n + 1, sizeof *gain);
    U8Vec moving = {0}, has = {0};
    U32Vec old = {0};
    find_moving(&form, &moving);
    vec_fill(&has, rows->vars.n, 0);
    for (uint32_t i = 0; i < n; i++) {
        bool constraint;
        mark_used(&form, i, true, &has, &constraint);
        for (uint32_t j = 0; j < n; j++) {
            uint32_t r = system->rows.at[i], v = system->variables.at[j];
            gain[i * n + j] = has.at[v] ? gain_of(&form, r, v)
                            : constraint && !moving.at[v] ? gain_of_multiplier(&form, &system->rows, r, v)
                            : ASSIGN_NEVER;
        }
        mark_used(&form, i, false, &has, &constraint);
    }
    assign_most(gain, n, column_of);
    vec_append(&old, system->variables.at, n);
    for (uint32_t i = 0; i < n; i++)
        system->variables.at[i] = old.at[column_of[i]];
    free(gain);
    free(column_of);
    vec_free(&moving);
    vec_free(&has);
    vec_free(&old);
    form_close(&form);
}

static void
make_systems(SelfAdjoint *about)
{
    MotionRows *rows = &about->rows;
    U32Vec parent = {0}, used = {0}, system_of = {0};
    for (uint32_t v = 0; v < rows->vars.n + rows->rows.n; v++)
        vec_push(&parent, v);
    for (uint32_t r = 0; r < rows->rows.n; r++) {
        vec_clear(&used);
        expr_used_slots(rows->exprs, &rows->rows.at[r].f, 1, &used);
        for (uint32_t k = 0; k < used.n; k++)
            if (rows->moves.at[used.at[k] / ROW_ORDERS])
                sets_join(&parent, used.at[k] / ROW_ORDERS, rows->vars.n + r);
    }
    vec_fill(&system_of, parent.n, NONE);
    for (uint32_t k = 0; k < rows->unknowns.n + rows->rows.n; k++) {
        bool variable = k < rows->unknowns.n;
        uint32_t at = variable ? rows->unknowns.at[k] : k - rows->unknowns.n, root = sets_find(&parent, variable ? at : rows->vars.n + at);
        if (system_of.at[root] == NONE) {
            system_of.at[root] = about->systems.n;
            vec_push(&about->systems, (AdjointSystem){0});
        }
        AdjointSystem *system = &about->systems.at[system_of.at[root]];
        vec_push(variable ? &system->variables : &system->rows, at);
    }
    vec_free(&parent);
    vec_free(&used);
    vec_free(&system_of);
}

static bool
is_second_order(const MotionRows *rows, const AdjointSystem *system)
{
    U32Vec used = {0};
    bool good = true;
    for (uint32_t i = 0; i < system->rows.n && good; i++) {
        vec_clear(&used);
        expr_used_slots(rows->exprs, &rows->rows.at[system->rows.at[i]].f, 1, &used);
        for (uint32_t k = 0; k < used.n; k++)
            good &= !rows->moves.at[used.at[k] / ROW_ORDERS] || used.at[k] % ROW_ORDERS <= 2;
    }
    vec_free(&used);
    return good;
}

// Systems that fail each for itself may have a Lagrangian together, in which the row of one is that of the other's variable (Bateman's pair).
static bool
exchange(SelfAdjoint *about, uint32_t a, uint32_t b)
{
    AdjointSystem *one = &about->systems.at[a], *other = &about->systems.at[b], both = {.exchanged = true};
    uint32_t n = one->rows.n;
    if (other->rows.n != n || 2 * n > EXCHANGED_MOST)
        return false;
    vec_append(&both.rows, one->rows.at, n);
    vec_append(&both.rows, other->rows.at, n);
    vec_append(&both.variables, other->variables.at, n);
    vec_append(&both.variables, one->variables.at, n);
    judge(&about->rows, &both);
    bool good = holds(both.verdict) || both.verdict == ADJOINT_WITH_FACTORS;
    if (good)
        vec_push(&about->systems, both);
    else {
        vec_free(&both.rows);
        vec_free(&both.variables);
    }
    return good;
}

static void
exchange_rows(SelfAdjoint *about)
{
    U32Vec open = {0};
    for (uint32_t s = 0; s < about->systems.n; s++)
        if (about->systems.at[s].condition)
            vec_push(&open, s);
    for (uint32_t i = 0; i + 1 < open.n && open.n <= EXCHANGED_MOST; i++)
        for (uint32_t j = i + 1; j < open.n; j++)
            if (exchange(about, open.at[i], open.at[j]))
                break;
    vec_free(&open);
}

// By the motion that the rows leave, whichever displacements they work on: rows of which none is a sum of others.
static void
judge_motion(SelfAdjoint *about, AdjointSystem *system)
{
    U32Vec from = {0};
    if (!about->has_whole) {
        motion_rows_make(about->rows.dae, true, &about->whole);
        about->has_whole = true;
    }
    for (uint32_t v = 0; v < about->whole.vars.n; v++)
        for (uint32_t i = 0; i < system->variables.n; i++)
            if (about->whole.vars.at[v] == about->rows.vars.at[system->variables.at[i]])
                vec_push(&from, v);
    if (about->whole.leads == NONE)
        left_lagrangian_judge(&about->whole, &from, &system->motion);
    system->verdict = system->motion.verdict == ADJOINT_PROBABLE ? ADJOINT_LEFT : about->whole.leads == NONE ? system->motion.verdict : ADJOINT_OPEN;
    system->reason = about->whole.leads == NONE ? system->motion.reason : "a row would need derivatives that are not known or of a high order";
    vec_free(&from);
}

// A condition fails of rows that may be paired with others than theirs: what their motion says counts.
static void
judge_again(SelfAdjoint *about, AdjointSystem *system)
{
    judge_motion(about, system);
    system->by_motion = true;
    system->condition = NULL;
}

void
self_adjoint_make(Dae *dae, SelfAdjoint *out)
{
    *out = (SelfAdjoint){0};
    motion_rows_make(dae, false, &out->rows);
    if (out->rows.leads != NONE) {
        out->reason = "a row would need derivatives that are not known or of a high order, of";
        return;
    }
    make_systems(out);
    for (uint32_t s = 0; s < out->systems.n; s++) {
        AdjointSystem *system = &out->systems.at[s];
        system->verdict = ADJOINT_OPEN;
        system->by_motion = system->rows.n != system->variables.n || !is_second_order(&out->rows, system);
        if (!system->by_motion) {
            pair_up(&out->rows, system);
            judge(&out->rows, system);
        }
        if (system->by_motion)
            judge_motion(out, system);
        else if (system->may_be_others)
            judge_again(out, system);
    }
    exchange_rows(out);
}

void
self_adjoint_free(SelfAdjoint *about)
{
    for (uint32_t s = 0; s < about->systems.n; s++) {
        vec_free(&about->systems.at[s].rows);
        vec_free(&about->systems.at[s].variables);
        vec_free(&about->systems.at[s].factors);
        vec_free(&about->systems.at[s].motion.firsts);
    }
    vec_free(&about->systems);
    motion_rows_free(&about->rows);
    if (about->has_whole)
        motion_rows_free(&about->whole);
}
