// zeros.c: what a variable or parameter that is zero multiplies is no part of the model.
//
// Purpose: a capacitance, a mass or an inertia that the model's equations make zero leaves no state behind. Where that is
// seen at run time only, a derivative stays an unknown that no equation determines.
// Method: the variables with an equation c*x = 0, c constant, are zero, and so are their aliases. Put into an equation that
// multiplies, such zeros can make derivatives vanish from it. It is rewritten where one of these then occurs nowhere any more:
// that is no unknown. Other equations keep their text. Parameters that have the value zero while compiling (the mass of a body that
// stands for a node) count like such variables, unless derivatives with respect to them are wanted; where they can be set later, an
// assertion holds them at zero. A derivative with a name of
// its own (an acceleration) stays an unknown, which index reduction finds from what determines the position.
//
//     c = 0;  d = c;  x = 2 + d*der(x)     ->     c = 0;  d = c;  x = 2
//     m*a = f;  a = der(der(x))            ->     0 = f       with m = 0
//
// Contract: after `alias`. Equations get another shape and row; derivatives may get VARF_REMOVED. Appends assertions.
// Complexity: linear in the equations; each shape is looked at once.
#include "ir/dae/guards.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

typedef struct Rewritten { // what zeros leave of an equation
    uint32_t equation, row;
    Expr shape;
} Rewritten;

typedef struct Zeros {
    Dae *dae;
    U8Vec zero;     // per variable: stands for a class that is zero
    U8Vec moves;    // per variable: MOVES_* of the class that it stands for
    U32Vec defines; // per equation `a = der(v)`: the class of a, else NONE
    U8Vec kind;     // per Expr: 0 not known yet, else ShapeKind
    U32Vec used;    // of the equation at hand
    VEC(Rewritten) rewritten;
} Zeros;

enum { MOVES_AS_DERIVATIVE = 1, MOVES_WITH_NAME = 2 }; // a derivative is in the class; so is a variable with a name of its own

typedef enum ShapeKind { SHAPE_UNKNOWN, SHAPE_OTHER, SHAPE_ZERO, SHAPE_PRODUCT } ShapeKind;

// c*#0 = 0.
static bool
says_zero(Exprs *exprs, Expr shape)
{
    Expr factor, rest;
    return expr_op(exprs, shape) == OP_EQN && expr_affine(exprs, expr_residual(exprs, shape), 0, &factor, &rest)
        && expr_op(exprs, factor) == OP_CONST && expr_value(exprs, factor) != 0 && expr_is_const(exprs, rest, 0);
}

static ShapeKind
kind_of_shape(Zeros *zeros, Expr shape)
{
    Exprs *exprs = zeros->dae->exprs;
    if (zeros->kind.n <= shape)
        vec_grow(&zeros->kind, expr_count(exprs) + 1 - zeros->kind.n);
    if (!zeros->kind.at[shape]) {
        uint32_t slots = expr_nslots(exprs, shape);
        ShapeKind kind = slots == 1 && says_zero(exprs, shape) ? SHAPE_ZERO
                       : slots > 1 && (expr_has_op(exprs, shape, OP_MUL) || expr_has_op(exprs, shape, OP_DIV))
                       ? SHAPE_PRODUCT : SHAPE_OTHER;
        zeros->kind.at[shape] = (uint8_t)kind;
    }
    return (ShapeKind)zeros->kind.at[shape];
}

static void
find_zeros(Zeros *zeros)
{
    Dae *dae = zeros->dae;
    bool negative;
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Equation *at = &dae->equations.at[e];
        if (at->kind != EQN_NORMAL || kind_of_shape(zeros, at->shape) != SHAPE_ZERO)
            continue;
        Var var = dae_alias(dae, dae->rows.at[at->row], &negative);
        if (dae_kind(dae, var) != VAR_CONTINUOUS)
            continue;
        zeros->zero.at[var] = 1;
    }
}

static void
find_derivatives(Zeros *zeros)
{
    Dae *dae = zeros->dae;
    bool negative;
    vec_grow(&zeros->moves, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++) {
        bool derivative = dae->var_der_of.at[var] != NONE;
        if (derivative || dae_kind(dae, var) == VAR_CONTINUOUS)
            zeros->moves.at[dae_alias(dae, var, &negative)] |= derivative ? MOVES_AS_DERIVATIVE : MOVES_WITH_NAME;
    }
}

// Equations that give a derivative a name: the name stands for it.
static void
find_names(Zeros *zeros)
{
    Dae *dae = zeros->dae;
    Exprs *exprs = dae->exprs;
    bool negative;
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Equation *at = &dae->equations.at[e];
        Var name = NONE;
        if (at->kind == EQN_NORMAL && expr_op(exprs, at->shape) == OP_EQN && expr_nslots(exprs, at->shape) == 2
            && expr_op(exprs, expr_arg(exprs, at->shape, 0)) == OP_SLOT && expr_op(exprs, expr_arg(exprs, at->shape, 1)) == OP_SLOT) {
            Var one = dae->rows.at[at->row], other = dae->rows.at[at->row + 1];
            if ((dae->var_der_of.at[one] != NONE) != (dae->var_der_of.at[other] != NONE))
                name = dae_alias(dae, dae->var_der_of.at[one] != NONE ? other : one, &negative);
        }
        if (name != NONE && dae_kind(dae, name) == VAR_CONTINUOUS)
            zeros->moves.at[name] |= MOVES_AS_DERIVATIVE | MOVES_WITH_NAME;
        else
            name = NONE;
        vec_push(&zeros->defines, name);
    }
}

static bool
is_zero_parameter(const Zeros *zeros, Var var)
{
    double value;
    return dae_kind(zeros->dae, var) == VAR_PARAMETER && !zeros->dae->varied && dae_known_value(zeros->dae, var, &value) && value == 0;
}

static bool
is_zero(const Zeros *zeros, Var var)
{
    bool negative;
    return zeros->zero.at[dae_alias(zeros->dae, var, &negative)] || is_zero_parameter(zeros, var);
}

// The class of the derivative that slot k names, if it is not zero itself, or NONE.
static Var
derivative_at(const Zeros *zeros, uint32_t row, uint32_t k)
{
    bool negative;
    Var var = dae_alias(zeros->dae, zeros->dae->rows.at[row + k], &negative);
    return zeros->moves.at[var] & MOVES_AS_DERIVATIVE && !zeros->zero.at[var] ? var : NONE;
}

static void
put_zeros(Zeros *zeros, uint32_t e)
{
    Dae *dae = zeros->dae;
    const Equation at = dae->equations.at[e];
    uint32_t n = expr_nslots(dae->exprs, at.shape);
    bool some = false, lost = false;
    for (uint32_t k = 0; k < n && !some; k++)
        some = derivative_at(zeros, at.row, k) != NONE;
    if (!some)
        return;
    some = false;
    vec_clear(&zeros->used);
    for (uint32_t k = 0; k < n; k++) {
        bool zero = is_zero(zeros, dae->rows.at[at.row + k]);
        vec_push(&zeros->used, zero ? expr_const(dae->exprs, 0) : 0);
        some |= zero;
    }
    if (!some)
        return;
    Expr left = expr_substitute(dae->exprs, at.shape, zeros->used.at, n);
    for (uint32_t k = 0; k < n; k++)
        lost |= derivative_at(zeros, at.row, k) != NONE && !expr_uses_slot(dae->exprs, left, k);
    if (!lost)
        return;
    vec_clear(&zeros->used);
    Expr shape = expr_shape(dae->exprs, left, &zeros->used);
    for (uint32_t k = 0; k < zeros->used.n; k++)
        zeros->used.at[k] = dae->rows.at[at.row + zeros->used.at[k]];
    Rewritten made = {e, dae_add_row(dae, zeros->used.at, zeros->used.n), shape};
    vec_push(&zeros->rewritten, made);
}

// --- derivatives that nothing mentions any more

static void
mark_row(const Dae *dae, Expr shape, uint32_t row, U8Vec *mentioned)
{
    bool negative;
    for (uint32_t k = expr_nslots(dae->exprs, shape); k-- > 0;)
        mentioned->at[dae_alias(dae, dae->rows.at[row + k], &negative)] = 1;
}

// What the model mentions when all equations are rewritten that can be.
static void
mark_mentioned(const Zeros *zeros, U8Vec *mentioned)
{
    const Dae *dae = zeros->dae;
    uint32_t next = 0;
    vec_grow(mentioned, dae->nvars);
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Equation *at = &dae->equations.at[e];
        const Rewritten *made = next < zeros->rewritten.n && zeros->rewritten.at[next].equation == e
                              ? &zeros->rewritten.at[next++] : NULL;
        Var name = zeros->defines.at[e];
        uint8_t before = name != NONE ? mentioned->at[name] : 0;
        if (at->kind != EQN_REMOVED)
            mark_row(dae, made ? made->shape : at->shape, made ? made->row : at->row, mentioned);
        if (name != NONE)
            mentioned->at[name] = before;
    }
    for (uint32_t i = 0; i < dae->binds.n; i++)
        mark_row(dae, dae->binds.at[i].shape, dae->binds.at[i].row, mentioned);
    for (uint32_t i = 0; i < dae->rates.n; i++)
        mark_row(dae, dae->rates.at[i].shape, dae->rates.at[i].row, mentioned);
    for (uint32_t i = 0; i < dae->asserts.n; i++)
        mark_row(dae, dae->asserts.at[i].condition, dae->asserts.at[i].row, mentioned);
    for (uint32_t i = 0; i < dae->told.n; i++)
        mark_row(dae, dae->told.at[i].shape, dae->told.at[i].row, mentioned);
    for (uint32_t i = 0; i < dae->reinits.n; i++)
        mark_row(dae, dae->reinits.at[i].value, dae->reinits.at[i].row, mentioned);
    bool negative;
    for (Var var = dae->nvars; var-- > 0;) // a derivative of a higher order uses the lower ones
        if (dae->var_der_of.at[var] != NONE && mentioned->at[dae_alias(dae, var, &negative)])
            mentioned->at[dae_alias(dae, dae->var_der_of.at[var], &negative)] = 1;
}

// The derivative and those of lower order that were there for its sake. What has a name stays.
static void
remove_unmentioned(Zeros *zeros, Var var, const U8Vec *mentioned)
{
    Dae *dae = zeros->dae;
    bool negative;
    for (; dae->var_der_of.at[var] != NONE; var = dae->var_der_of.at[var]) {
        Var class = dae_alias(dae, var, &negative);
        if (mentioned->at[class] || zeros->moves.at[class] & MOVES_WITH_NAME)
            return;
        dae->var_flags.at[var] |= VARF_REMOVED;
        dae->var_flags.at[class] |= VARF_REMOVED;
    }
}

// Rewrites an equation that had a derivative which is gone from the model.
static void
rewrite(Zeros *zeros, const Rewritten *made, const U8Vec *mentioned)
{
    Dae *dae = zeros->dae;
    Equation *at = &dae->equations.at[made->equation];
    bool gone = false;
    for (uint32_t k = expr_nslots(dae->exprs, at->shape); k-- > 0;) {
        Var der = derivative_at(zeros, at->row, k);
        if (der == NONE || mentioned->at[der])
            continue;
        remove_unmentioned(zeros, dae->rows.at[at->row + k], mentioned);
        gone = true;
    }
    if (!gone)
        return;
    for (uint32_t k = expr_nslots(dae->exprs, at->shape); k-- > 0;)
        if (is_zero_parameter(zeros, dae->rows.at[at->row + k]))
            dae_require_zero(dae, dae->rows.at[at->row + k], made->equation);
    at->shape = made->shape;
    at->row = made->row;
}

bool
pass_zeros(Dae *dae, Diags *diags)
{
    (void)diags; // nothing here can be wrong
    Zeros zeros = {.dae = dae};
    vec_grow(&zeros.zero, dae->nvars);
    find_zeros(&zeros);
    find_derivatives(&zeros);
    find_names(&zeros);
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        uint8_t kind = dae->equations.at[e].kind;
        if ((kind == EQN_NORMAL || kind == EQN_INITIAL)
            && kind_of_shape(&zeros, dae->equations.at[e].shape) == SHAPE_PRODUCT)
            put_zeros(&zeros, e);
    }
    if (zeros.rewritten.n) {
        U8Vec mentioned = {0};
        mark_mentioned(&zeros, &mentioned);
        for (uint32_t i = 0; i < zeros.rewritten.n; i++)
            rewrite(&zeros, &zeros.rewritten.at[i], &mentioned);
        vec_free(&mentioned);
    }
    vec_free(&zeros.rewritten);
    vec_free(&zeros.zero);
    vec_free(&zeros.moves);
    vec_free(&zeros.defines);
    dae->known = NULL; // later passes add parameters
    vec_free(&zeros.kind);
    vec_free(&zeros.used);
    return true;
}
