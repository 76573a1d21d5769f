// Constitutive curves of memory elements: smooth enough for what is derived from them.
//
// Purpose: a curve c = g(u) between integrated quantities becomes a force and a velocity by differentiation. Where g jumps, or
// where g' jumps and g is differentiated twice, the force is an impulse that no step shows: the run would be wrong without a
// word.
// Method: u and c are the two chain variables of the equation (chain.c). Steps of the chains from c to its effort or flow say how
// often g is differentiated. Corners are roots of the arguments of abs, min, max, luz, if; there g and g' of both sides are
// compared, over the range that min and max of u declare, or else over twelve decades.
// Contract: before `chain`. Parameters have the values of the model; curves that depend on what is not known, or on other
// unknowns, are not judged. Reports, changes nothing. Complexity: a few hundred evaluations per curve and corner.
#include <math.h>

#include "ir/pass/chain.h"
#include "ir/problem.h"

enum { GRID = 241, SLOTS_MAX = 64, CORNERS_MAX = 32 };

typedef struct Curve {
    Dae *dae;
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

static void
read_range(Curve *curve)
{
    const Dae *dae = curve->dae;
    curve->low = -1e6;
    curve->high = 1e6;
    for (uint32_t i = 0; i < dae->binds.n; i++) {
        const Bind *bind = &dae->binds.at[i];
        double value;
        if (bind->var != curve->u || (bind->attr != ATTR_MIN && bind->attr != ATTR_MAX) || expr_nslots(dae->exprs, bind->shape))
            continue;
        value = expr_eval(dae->exprs, bind->shape, NULL, 0);
        *(bind->attr == ATTR_MIN ? &curve->low : &curve->high) = value;
        curve->declared = true;
    }
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

// Expressions whose sign decides which form g takes.
static void
collect_corners(Curve *curve, Expr e, U32Vec *corners, Map *seen)
{
    Exprs *exprs = curve->dae->exprs;
    uint32_t unused, n = expr_nargs(exprs, e);
    if (!expr_uses_slot(exprs, e, curve->slot) || map_get(seen, e, &unused) || corners->n >= CORNERS_MAX)
        return;
    map_put(seen, e, 1);
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
    for (uint32_t i = 0; i < n; i++)
        collect_corners(curve, expr_arg(exprs, e, i), corners, seen);
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

bool
pass_curves(Dae *dae, Diags *diags)
{
    Chains chains = {0};
    bool good = true;
    uint32_t n = dae->equations.n;
    find_chains(dae, &chains);
    for (uint32_t e = 0; chains.next.count && e < n && !diags_full(diags); e++) {
        Curve curve = {.dae = dae};
        U32Vec corners = {0};
        Map seen = {0};
        if (!read_curve(&curve, &chains, e) || !curve.steps)
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
    map_free(&chains.next);
    map_free(&chains.before);
    return good;
}
