// curves.c: constitutive curves of memory elements: smooth enough for what is derived from them.
//
// Purpose: a curve c = g(u) between integrated quantities becomes a force and a velocity by differentiation. Where g jumps, or
// where g' jumps and g is differentiated twice, the force is an impulse that no step shows: the run would be wrong without a
// word.
// Method: u and c are the two chain variables of the equation (chain.c). Steps of the chains from c to its effort or flow say how
// often g is differentiated. Corners are roots of the arguments of abs, min, max, luz, if; there g and g' of both sides are
// compared, over the range that min and max of u declare, or else over twelve decades.
// A curve whose slope changes its sign is noted with the interval around the start of u where it does not. When the matching
// solves the curve for u, in a block of its own, there is no inverse beyond that interval; when it solves its derivative for
// that of u, the motion must not come to the end of the interval.
// Contract: before `chain`. Parameters have the values of the model; curves that depend on what is not known, or on other
// unknowns, are not judged. Reports, changes nothing. Complexity: a few hundred evaluations per curve and corner.
#include <math.h>

#include "ir/base/diag.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/operator/chain.h"
#include "ir/operator/operator.h"
#include "ir/structure/problem.h"

enum { GRID = 241, SLOTS_MAX = 64, CORNERS_MAX = 32 };

typedef struct Curve {
    Dae *dae;
    const Map *given;    // (attribute, variable) -> index into Dae.binds
    uint32_t equation;
    Var c, u;
    uint32_t steps;      // derivatives of c that the element's power needs
    Expr g, slope;
    uint32_t slot;       // of u
    double values[SLOTS_MAX];
    double low, high;    // of u
    bool declared;       // by min and max
} Curve;

// --- the chains

typedef struct Chains {
    Map next, before; // per variable of a chain
} Chains;

static void
find_chains(const Dae *dae, Chains *chains)
{
    Var x, y;
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (chain_link(dae, e, &x, &y)) {
            map_put(&chains->next, x, y);
            map_put(&chains->before, y, x);
        }
}

static uint32_t
length(const Map *map, Var var)
{
    uint32_t count = 0;
    while (count < 8 && map_get(map, var, &var))
        count++;
    return count;
}

static bool
follows(const Chains *chains, Var from, Var wanted)
{
    for (uint32_t count = 0; count < 8 && from != wanted; count++)
        if (!map_get(&chains->next, from, &from))
            return false;
    return from == wanted;
}

// Derivatives from c to the effort or flow of the element. A chain of four ends one behind it, with an acceleration.
static uint32_t
steps_to_power(const Chains *chains, Var c)
{
    uint32_t ahead = length(&chains->next, c), all = ahead + length(&chains->before, c) + 1;
    return ahead - (all > 3 && ahead > 0);
}

// --- one curve

// False when the equation is no curve that can be judged.
static bool
read_variables(Curve *curve, const Chains *chains, const Var *row, uint32_t n)
{
    Dae *dae = curve->dae;
    curve->c = curve->u = NONE;
    if (n > SLOTS_MAX)
        return false;
    for (uint32_t k = 0; k < n; k++) {
        if (length(&chains->next, row[k]) + length(&chains->before, row[k]) == 0) {
            if (!dae_known_value(dae, row[k], &curve->values[k]))
                return false;
        } else if (curve->c == NONE) {
            curve->c = k;
        } else if (curve->u == NONE) {
            curve->u = k;
        } else {
            return false;
        }
    }
    return curve->u != NONE && !follows(chains, row[curve->c], row[curve->u]) && !follows(chains, row[curve->u], row[curve->c]);
}

static uint64_t
attribute_key(uint32_t attr, Var var)
{
    return (uint64_t)attr << 32 | var;
}

static void
find_attributes(const Dae *dae, Map *given)
{
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        const Bind *bind = &dae->binds.at[i];
        if (bind->attr == ATTR_MIN || bind->attr == ATTR_MAX || bind->attr == ATTR_START)
            bind_each(bind, var)
                map_put(given, attribute_key(bind->attr, var), i);
    }
}

// What the model gives for an attribute of u, as far as parameters decide it; or `otherwise`.
static double
attribute(const Curve *curve, uint32_t attr, double otherwise)
{
    Dae *dae = curve->dae;
    double values[SLOTS_MAX];
    uint32_t found;
    if (!map_get(curve->given, attribute_key(attr, curve->u), &found))
        return otherwise;
    const Bind bind = dae->binds.at[found];
    uint32_t n = expr_nslots(dae->exprs, bind.shape);
    bool known = n <= SLOTS_MAX;
    for (uint32_t k = 0; k < n && known; k++)
        known = dae_known_value(dae, dae->rows.at[bind.row + k], &values[k]);
    return known ? expr_eval(dae->exprs, bind.shape, values, 0) : otherwise;
}

static void
read_range(Curve *curve)
{
    double low = attribute(curve, ATTR_MIN, -INFINITY), high = attribute(curve, ATTR_MAX, INFINITY);
    curve->low = fmax(low, -1e6);
    curve->high = fmin(high, 1e6);
    curve->declared = isfinite(low) || isfinite(high);
}

// c = g(u) or g(u) = c, u in the slot that is not alone.
static bool
read_curve(Curve *curve, const Chains *chains, uint32_t equation)
{
    Dae *dae = curve->dae;
    Exprs *exprs = dae->exprs;
    const Equation at = dae->equations.at[equation];
    uint32_t n;
    Var x, y;
    const Var *row = dae_row(dae, equation, &n);
    if (at.generated || at.kind != EQN_NORMAL || chain_link(dae, equation, &x, &y)
        || dae->insts.at[dae->nodes.at[at.node].inst].class_kind != CLASS_KIND_MEMORY || expr_has_op(exprs, at.shape, OP_TIME)
        || !read_variables(curve, chains, row, n))
        return false;
    Expr left = expr_arg(exprs, at.shape, 0), right = expr_arg(exprs, at.shape, 1);
    bool on_left = expr_op(exprs, left) == OP_SLOT;
    if (!on_left && expr_op(exprs, right) != OP_SLOT)
        return false;
    uint32_t alone = expr_slot_of(exprs, on_left ? left : right);
    curve->g = on_left ? right : left;
    curve->slot = alone == curve->c ? curve->u : curve->c;
    if ((alone != curve->c && alone != curve->u) || expr_uses_slot(exprs, curve->g, alone))
        return false;
    curve->equation = equation;
    curve->c = row[alone];
    curve->u = row[curve->slot];
    curve->steps = steps_to_power(chains, curve->c);
    curve->slope = expr_diff(exprs, curve->g, curve->slot);
    read_range(curve);
    return true;
}

static double
value_at(Curve *curve, Expr e, double u)
{
    curve->values[curve->slot] = u;
    return expr_eval(curve->dae->exprs, e, curve->values, 0);
}

// Places over the range: zero and both signs over twelve decades, or evenly between declared ends.
static double
grid_at(const Curve *curve, uint32_t k)
{
    if (curve->declared && curve->low > -1e6 && curve->high < 1e6)
        return curve->low + (curve->high - curve->low) * k / (GRID - 1);
    int from_middle = (int)k - GRID / 2;
    double size = from_middle ? pow(10, -6 + 12 * (fabs((double)from_middle) - 1) / (GRID / 2 - 1)) : 0;
    return fmin(fmax(from_middle < 0 ? -size : size, curve->low), curve->high);
}

// Where f changes its sign between a and b, to rounding.
static double
root_between(Curve *curve, Expr f, double a, double b)
{
    bool negative = value_at(curve, f, a) < 0;
    for (int k = 0; k < 100; k++) {
        double middle = (a + b) / 2;
        *((value_at(curve, f, middle) < 0) == negative ? &a : &b) = middle;
    }
    return (a + b) / 2;
}

// --- corners

// Those that e itself adds.
static void
corners_of(Exprs *exprs, Expr e, U32Vec *corners)
{
    uint32_t n = expr_nargs(exprs, e);
    Expr a = n ? expr_arg(exprs, e, 0) : 0, b = n > 1 ? expr_arg(exprs, e, 1) : 0;
    switch (expr_op(exprs, e)) {
    case OP_ABS: case OP_SIGN:
        vec_push(corners, a);
        break;
    case OP_MIN: case OP_MAX: case OP_LT: case OP_LE: case OP_GT: case OP_GE: case OP_EQ: case OP_NE:
        vec_push(corners, expr_sub(exprs, a, b));
        break;
    case OP_LUZ:
        vec_push(corners, expr_sub(exprs, a, b));
        vec_push(corners, expr_2(exprs, OP_ADD, a, b));
        break;
    case OP_FLOOR: case OP_CEIL: case OP_TRUNC:
        vec_push(corners, expr_2(exprs, OP_ADD, expr_sub(exprs, a, e), expr_const(exprs, -0.5)));
        break;
    default:
        break;
    }
}

// Expressions whose sign decides which form g takes.
static void
collect_corners(Curve *curve, Expr root, U32Vec *corners, Map *seen)
{
    Exprs *exprs = curve->dae->exprs;
    U32Vec stack = {0};
    uint32_t unused;
    vec_push(&stack, root);
    while (stack.n && corners->n < CORNERS_MAX) {
        Expr e = vec_pop(&stack);
        if (!expr_uses_slot(exprs, e, curve->slot) || map_get(seen, e, &unused))
            continue;
        map_put(seen, e, 1);
        corners_of(exprs, e, corners);
        for (uint32_t i = expr_nargs(exprs, e); i-- > 0;)
            vec_push(&stack, expr_arg(exprs, e, i));
    }
    vec_free(&stack);
}

// By how much e jumps at u, as far as that is more than its slope explains; 0 when it does not.
static double
jump_of(Curve *curve, Expr e, double u)
{
    double h = 1e-7 * fmax(fabs(u), 1e-3);
    double left = value_at(curve, e, u - h), right = value_at(curve, e, u + h);
    double bend = fabs(left - value_at(curve, e, u - 2 * h)) + fabs(value_at(curve, e, u + 2 * h) - right);
    double jump = right - left, size = fabs(left) + fabs(right);
    return isfinite(jump) && fabs(jump) > 20 * bend + 1e-9 * size ? jump : 0;
}

static bool
complain_corner(Curve *curve, double u, bool slope, Diags *diags)
{
    Dae *dae = curve->dae;
    const char *c = dae_name(dae, curve->c), *by = dae_name(dae, curve->u);
    Diag *diag = diag_add(diags, E0521, dae->equations.at[curve->equation].span,
                          slope ? "the curve of '%s' over '%s' has a corner at %.6g: there its second derivative, a force or a "
                                  "speed, is an impulse"
                                : "the curve of '%s' over '%s' jumps at %.6g: there its derivative, a force or a speed, is an impulse",
                          c, by, u);
    diag_help(diag, "%s must be differentiable %s: round the corner off over a length that the device has", c,
              curve->steps > 1 ? "twice" : "once");
    return false;
}

static bool
check_corner(Curve *curve, Expr corner, Diags *diags)
{
    for (uint32_t k = 0; k + 1 < GRID; k++) {
        double a = grid_at(curve, k), b = grid_at(curve, k + 1), fa = value_at(curve, corner, a), fb = value_at(curve, corner, b);
        if (!(b > a) || (fa < 0) == (fb < 0))
            continue;
        double u = root_between(curve, corner, a, b);
        if (jump_of(curve, curve->g, u) != 0)
            return complain_corner(curve, u, false, diags);
        if (curve->steps > 1 && jump_of(curve, curve->slope, u) != 0)
            return complain_corner(curve, u, true, diags);
    }
    return true;
}

// --- folds

// Notes where the curve turns round, nearest to the start on both sides.
static void
find_folds(Curve *curve)
{
    CurveFold fold = {curve->equation, curve->c, curve->u, -INFINITY, INFINITY};
    double start = fmin(fmax(attribute(curve, ATTR_START, 0), curve->low), curve->high);
    for (uint32_t k = 0; curve->slope && k + 1 < GRID; k++) {
        double a = grid_at(curve, k), b = grid_at(curve, k + 1);
        double sa = value_at(curve, curve->slope, a), sb = value_at(curve, curve->slope, b);
        if (!(b > a) || !(sa * sb < 0))
            continue;
        double at = root_between(curve, curve->slope, a, b);
        if (at <= start)
            fold.low = at;
        else
            fold.high = fmin(fold.high, at);
    }
    if (isfinite(fold.low) || isfinite(fold.high))
        vec_push(&curve->dae->folds, fold);
}

// The variable is one of u's chain from u on, or a derivative of one.
static bool
is_of_chain(const Dae *dae, const Chains *chains, Var u, Var var)
{
    bool negative;
    while (dae->var_der_of.at[var] != NONE)
        var = dae->var_der_of.at[var];
    for (uint32_t count = 0; count < 8; count++) {
        if (dae_alias(dae, u, &negative) == var)
            return true;
        if (!map_get(&chains->next, u, &u))
            return false;
    }
    return false;
}

// A bound to declare: a hair inside, so that its rounded text is.
static double
inside(double fold, int side)
{
    return fold + side * 1e-5 * fabs(fold);
}

// "min = -1, max = 1" or what of it there is.
static const char *
both_sides(Dae *dae, const char *before, const char *between, const char *after, double low, double high)
{
    Out out = {0};
    if (isfinite(low))
        out_printf(&out, "%s%.6g", before, low);
    if (isfinite(high))
        out_printf(&out, "%s%.6g", isfinite(low) ? between : after, high);
    const char *text = arena_strndup(dae->arena, out.text, out.length);
    out_free(&out);
    return text;
}

static void
complain_fold(Dae *dae, const CurveFold *fold, Diags *diags)
{
    const char *c = dae_name(dae, fold->c), *u = dae_name(dae, fold->u);
    Diag *diag = diag_add(diags, E0522, dae->equations.at[fold->equation].span,
                          "the model gives '%s', and its curve must be inverted for '%s'; but it turns round at %s", c, u,
                          both_sides(dae, "", " and ", "", fold->low, fold->high));
    diag_help(diag, "let a motion control the element; or, if it stays on the branch where it starts, say so: %s(%s)", u,
              both_sides(dae, "min = ", ", max = ", "max = ", inside(fold->low, 1), inside(fold->high, -1)));
}

// The derivative of the curve is linear in that of u: there is a solution as long as u does not come to the fold. The run
// ends there with these words instead of ever smaller steps.
static void
assert_branch(Dae *dae, const CurveFold *fold)
{
    Exprs *exprs = dae->exprs;
    Expr u = expr_slot(exprs, 0), above = expr_2(exprs, OP_GT, u, expr_const(exprs, inside(fold->low, 1)));
    Expr below = expr_2(exprs, OP_LT, u, expr_const(exprs, inside(fold->high, -1)));
    Out text = {0};
    out_printf(&text, "the curve of '%s' over '%s' is inverted here, and it turns round at %s", dae_name(dae, fold->c),
               dae_name(dae, fold->u), both_sides(dae, "", " and ", "", fold->low, fold->high));
    Assert made = {.row = dae_add_row(dae, &fold->u, 1), .span = dae->equations.at[fold->equation].span,
                   .inst = dae->nodes.at[dae->equations.at[fold->equation].node].inst, .message = sym_of(dae->syms, text.text)};
    made.condition = !isfinite(fold->low) ? below : !isfinite(fold->high) ? above : expr_2(exprs, OP_AND, above, below);
    vec_push(&dae->asserts, made);
    out_free(&text);
}

// The size of each position's block would need a search: blocks are visited once instead.
static void
mark_single(const Problem *problem, U8Vec *single)
{
    vec_grow(single, problem->equations.n);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        if (problem->block_start.at[b + 1] - problem->block_start.at[b] == 1)
            single->at[problem->sorted.at[problem->block_start.at[b]]] = 1;
}

bool
curves_check_inverses(Dae *dae, const Reduction *reduction, const Problem *problem, Diags *diags)
{
    Chains chains = {0};
    U8Vec single = {0};
    Map fold_of = {0};
    bool good = true;
    uint32_t f;
    if (!dae->folds.n)
        return true;
    find_chains(dae, &chains);
    mark_single(problem, &single);
    for (f = 0; f < dae->folds.n; f++) {
        uint32_t highest = dae->folds.at[f].equation;
        while (highest < reduction->derivative.n && reduction->derivative.at[highest] != NONE)
            highest = reduction->derivative.at[highest];
        map_put(&fold_of, highest, f);
    }
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        if (!single.at[i] || !map_get(&fold_of, problem->equations.at[i], &f)
            || !is_of_chain(dae, &chains, dae->folds.at[f].u, problem->var_of.at[i]))
            continue;
        const CurveFold *fold = &dae->folds.at[f];
        if (problem->equations.at[i] != fold->equation) {
            assert_branch(dae, fold);
            continue;
        }
        complain_fold(dae, fold, diags);
        good = false;
    }
    map_free(&fold_of);
    map_free(&chains.next);
    map_free(&chains.before);
    vec_free(&single);
    return good;
}

bool
pass_curves(Dae *dae, Diags *diags)
{
    Chains chains = {0};
    Map given = {0};
    bool good = true;
    uint32_t n = dae->equations.n;
    find_chains(dae, &chains);
    if (chains.next.count)
        find_attributes(dae, &given);
    for (uint32_t e = 0; chains.next.count && e < n && !diags_full(diags); e++) {
        Curve curve = {.dae = dae, .given = &given};
        U32Vec corners = {0};
        Map seen = {0};
        if (!read_curve(&curve, &chains, e))
            continue;
        find_folds(&curve);
        if (!curve.steps)
            continue;
        collect_corners(&curve, curve.g, &corners, &seen);
        for (uint32_t i = 0; i < corners.n; i++)
            if (!check_corner(&curve, corners.at[i], diags)) {
                good = false;
                break;
            }
        vec_free(&corners);
        map_free(&seen);
    }
    map_free(&given);
    map_free(&chains.next);
    map_free(&chains.before);
    return good;
}
