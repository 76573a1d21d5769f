// dissipation.c: dissipation: its forces, and content functions that would produce power.
//
// Purpose: dD/du on the coordinates. Method: gradients, with two kinds of parts held apart from them. The content F*abs(v) of
// dry friction is not smooth: what stands on dv/du is F*Sgn(v), which may have any value between -F and F at rest. The
// content of a fractional damper depends on the derivative w = fder(s, alpha) of a displacement: the force dD/dw, which for
// c/2*w^2 is c*w, stands on ds/dq (the dissipation of (23) with its sign mended). Each such part becomes a slot of its own
// for the gradient.
//
// A content function that is never positive belongs to no damper; where its text and the values of parameters show it, it
// is an error: signs are propagated through the expression; even powers are not negative, parameters have the sign of
// their value or of their declared bounds. Contract: energy_system.h. Complexity: linear in the energies.
#include <math.h>

#include "ir/energy/energy_system.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

// What is known of a value: bits of the signs that it may have.
enum { SIGN_NEGATIVE = 1, SIGN_ZERO = 2, SIGN_POSITIVE = 4, SIGN_ANY = 7, NOT_NEGATIVE = 6 };

static uint8_t
sign_of_number(double value)
{
    return value > 0 ? SIGN_POSITIVE : value < 0 ? SIGN_NEGATIVE : value == 0 ? SIGN_ZERO : SIGN_ANY;
}

static uint8_t
negated(uint8_t sign)
{
    return (uint8_t)((sign & SIGN_ZERO) | (sign & SIGN_POSITIVE ? SIGN_NEGATIVE : 0)
                     | (sign & SIGN_NEGATIVE ? SIGN_POSITIVE : 0));
}

static uint8_t
product(uint8_t a, uint8_t b)
{
    uint8_t sign = (a | b) & SIGN_ZERO;
    if (a & SIGN_POSITIVE)
        sign |= b & (SIGN_POSITIVE | SIGN_NEGATIVE);
    if (a & SIGN_NEGATIVE)
        sign |= negated(b) & (SIGN_POSITIVE | SIGN_NEGATIVE);
    return sign;
}

static uint8_t
sum(uint8_t a, uint8_t b)
{
    uint8_t moving = (a | b) & (SIGN_POSITIVE | SIGN_NEGATIVE);
    if (moving == (SIGN_POSITIVE | SIGN_NEGATIVE))
        return SIGN_ANY;
    return (uint8_t)(moving | (a & b & SIGN_ZERO));
}

static uint8_t
sign_of_slot(System *system, uint32_t slot)
{
    Var var = system->vars.at[slot];
    double value;
    if (slot < 3 * system->n)
        return SIGN_ANY;
    if (dae_known_value(system->dae, var, &value))
        return sign_of_number(value);
    return system->dae->var_flags.at[var] & VARF_NONNEG ? NOT_NEGATIVE : SIGN_ANY;
}

static uint8_t
sign_of_part(System *system, Expr e, const Map *signs)
{
    Exprs *exprs = system->exprs;
    uint32_t n = expr_nargs(exprs, e), found;
    uint8_t all = SIGN_ANY;
    for (uint32_t i = 0; i < n; i++) {
        uint8_t sign = map_get(signs, expr_arg(exprs, e, i), &found) ? (uint8_t)found : SIGN_ANY;
        if (!i)
            all = sign;
        else if (expr_op(exprs, e) == OP_ADD)
            all = sum(all, sign);
        else if (expr_op(exprs, e) == OP_MUL || expr_op(exprs, e) == OP_DIV)
            all = product(all, sign);
    }
    switch (expr_op(exprs, e)) {
    case OP_CONST:
        return sign_of_number(expr_value(exprs, e));
    case OP_SLOT:
        return sign_of_slot(system, expr_slot_of(exprs, e));
    case OP_ADD:
    case OP_MUL:
    case OP_DIV:
        return all;
    case OP_NEG:
        return negated(all);
    case OP_POW: {
        Expr exponent = expr_arg(exprs, e, 1);
        bool even = expr_op(exprs, exponent) == OP_CONST && fmod(expr_value(exprs, exponent), 2) == 0;
        return even ? NOT_NEGATIVE : SIGN_ANY;
    }
    case OP_ABS:
    case OP_SQRT:
    case OP_EXP:
    case OP_COSH:
        return NOT_NEGATIVE;
    default:
        return SIGN_ANY;
    }
}

static uint8_t
sign_of(System *system, Expr e)
{
    Map signs = {0};
    U32Vec order = {0};
    expr_parts(system->exprs, e, &order);
    for (uint32_t i = 0; i < order.n; i++)
        map_put(&signs, order.at[i], sign_of_part(system, order.at[i], &signs));
    uint32_t found = SIGN_ANY;
    map_get(&signs, e, &found);
    map_free(&signs);
    vec_free(&order);
    return (uint8_t)found;
}

bool
system_check_dissipation(System *system)
{
    bool good = true;
    for (uint32_t i = 0; i < system->dissipation.n; i++) {
        uint8_t sign = sign_of(system, system->dissipation.at[i].e);
        if (sign & SIGN_POSITIVE || !(sign & SIGN_NEGATIVE))
            continue;
        Diag *diag = diag_add(system->diags, E0805, system_energy(system, system->dissipation.at[i].from)->span,
                              "this dissipation is never positive: the element would produce power");
        diag_help(diag, "a damper of coefficient c >= 0 has the dissipation c/2*der(x)^2; a source is a 'force'");
        good = false;
    }
    return good;
}

// --- forces

typedef struct Held {  // parts of a content function that the gradient takes for given
    System *system;
    U32Vec parts;      // abs(v), fder(s, alpha)
    U32Vec slots;      // what stands for them
} Held;

static bool
is_held(const System *system, Expr e)
{
    Op op = expr_op(system->exprs, e);
    return op == OP_FDER || (op == OP_ABS && system_depends(system, expr_arg(system->exprs, e, 0), 1));
}

static Expr
hold(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Held *held = context;
    Expr now = expr_nargs(exprs, part) ? expr_make(exprs, expr_op(exprs, part), args, expr_nargs(exprs, part)) : part;
    if (!is_held(held->system, now))
        return now;
    vec_push(&held->parts, now);
    vec_push(&held->slots, held->system->vars.n + held->slots.n);
    return expr_slot(exprs, vec_last(&held->slots));
}

// The force of one held part, as if it were a velocity of its own.
static bool
add_held(System *system, Expr part, Expr force, Expr *applied)
{
    Expr root = expr_arg(system->exprs, part, 0);
    if (expr_op(system->exprs, part) == OP_ABS)
        force = expr_2(system->exprs, OP_MUL, force, expr_1(system->exprs, OP_SGN, root));
    return system_add_gradient(system, &root, &force, 1, system_depends(system, root, 1), applied);
}

static bool
add_content(System *system, Expr content, Expr *applied)
{
    Exprs *exprs = system->exprs;
    Held held = {.system = system};
    U32Vec with = {0};
    Expr one = expr_const(exprs, 1), e = expr_rewrite(exprs, content, hold, &held);
    Expr *smooth = base_calloc(system->n + 1, sizeof *smooth);
    bool good = system_gradient(system, &e, &one, 1, 1, smooth);
    vec_grow(&with, system->vars.n);
    vec_append(&with, held.parts.at, held.parts.n);
    for (uint32_t i = 0; i < system->n && good; i++)
        applied[i] = expr_2(exprs, OP_ADD, applied[i], expr_substitute(exprs, smooth[i], with.at, with.n));
    for (uint32_t i = 0; i < held.parts.n && good; i++) {
        Expr force = expr_substitute(exprs, expr_diff(exprs, e, held.slots.at[i]), with.at, with.n);
        good = add_held(system, held.parts.at[i], force, applied);
    }
    free(smooth);
    vec_free(&with);
    vec_free(&held.parts);
    vec_free(&held.slots);
    return good;
}

bool
system_dissipation_forces(System *system, Expr *applied)
{
    bool good = true;
    for (uint32_t i = 0; i < system->dissipation.n && good; i++)
        good = add_content(system, system->dissipation.at[i].e, applied);
    return good;
}
