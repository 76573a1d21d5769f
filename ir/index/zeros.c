// zeros.c: what a variable or parameter that is zero multiplies is no part of the model.
//
// Purpose: a capacitance, a mass or an inertia that the model's equations make zero leaves no state behind. Where that is
// seen at run time only, a derivative stays an unknown that no equation determines.
// Method: the variables with an equation c*x = 0, c constant, are zero, and so are their aliases, and what an equation x = e gives where
// e is a product, a choice or a sum of what is zero (a junction's capacitance by its formula). Put into an equation that
// multiplies, such zeros can make derivatives vanish from it. It is rewritten where one of these then occurs nowhere any more:
// that is no unknown; and where it is an acceleration, which nothing else determines. Other equations keep their text. Parameters that have the value zero while compiling (the mass of a body that
// stands for a node) count like such variables, unless derivatives with respect to them are wanted; where they can be set later, an
// assertion holds them at zero. A derivative with a name of
// its own (an acceleration) stays an unknown, which index reduction finds from what determines the position. What that means for neighbours
// and states follows (zero_inertia.c).
//
//     c = 0;  d = c;  x = 2 + d*der(x)     ->     c = 0;  d = c;  x = 2
//     m*a = f;  a = der(der(x))            ->     0 = f       with m = 0
//
// Contract: after `alias`. Equations get another shape and row; derivatives may get VARF_REMOVED. Appends assertions.
// Complexity: linear in the equations; each shape is looked at once.
#include "ir/index/zeros.h"

#include <stdlib.h>
#include <string.h>

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

typedef struct Losing { // an equation and what parameters of zero leave of it
    uint32_t equation;
    Expr left;
} Losing;

typedef struct Zeros {
    Dae *dae;
    U8Vec zero;     // per variable: stands for a class that is zero
    U8Vec parameter; // per variable: what is_zero_parameter has found
    U8Vec moves;    // per variable: MOVES_* of the class that it stands for
    U32Vec defines; // per equation `a = der(v)`: the class of a, else NONE
    U32Vec named;   // per variable: of the class of such an a, v + 1; 0: none
    U32Vec bases;   // what the derivatives that vanished were of
    U8Vec kind;     // per Expr: 0 not known yet, else ShapeKind
    U32Vec given;   // per variable: 1 + the equation x = e of the class that it stands for; 0: none. Empty until it is asked for
    U8Vec proof;    // per variable: a Proof
    U32Vec used;    // of the equation at hand
    VEC(uint64_t) terms; // per Expr: terms_of; 0: not known yet
    VEC(Losing) losing;
    CompoundRates rates; // empty unless some_is_lost
    U8Vec inertance; // per node, with these: HAS_*
    U32Vec lost;    // accelerations that equations of bodies without any moment lost
    U8Vec carried;  // per class, then: rates of what has no inertance
    VEC(Rewritten) rewritten;
} Zeros;

enum { HAS_MASS = 1, HAS_MOMENT = 2, HAS_POSE = 4 }; // an inertance that is not zero, of a turn or another; a position of its own
enum { MOVES_AS_DERIVATIVE = 1, MOVES_WITH_NAME = 2 }; // a derivative is in the class; so is a variable with a name of its own

typedef enum ShapeKind { SHAPE_UNKNOWN, SHAPE_OTHER, SHAPE_ZERO, SHAPE_PRODUCT } ShapeKind;

bool
zeros_says(Exprs *exprs, Expr shape)
{
    Expr factor, rest;
    return expr_op(exprs, shape) == OP_EQN && expr_nslots(exprs, shape) == 1 && expr_affine(exprs, expr_residual(exprs, shape), 0, &factor, &rest)
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
        ShapeKind kind = zeros_says(exprs, shape) ? SHAPE_ZERO
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

// The name a in `a = der(v)`, equation e; else NONE.
static Var
named_at(const Dae *dae, uint32_t e, Var *base)
{
    const Exprs *exprs = dae->exprs;
    const Equation *at = &dae->equations.at[e];
    bool negative;
    if (at->kind != EQN_NORMAL || expr_op(exprs, at->shape) != OP_EQN || expr_nslots(exprs, at->shape) != 2
        || expr_op(exprs, expr_arg(exprs, at->shape, 0)) != OP_SLOT || expr_op(exprs, expr_arg(exprs, at->shape, 1)) != OP_SLOT)
        return NONE;
    Var one = dae->rows.at[at->row], other = dae->rows.at[at->row + 1];
    if ((dae->var_der_of.at[one] != NONE) == (dae->var_der_of.at[other] != NONE))
        return NONE;
    *base = dae->var_der_of.at[one] != NONE ? dae->var_der_of.at[one] : dae->var_der_of.at[other];
    return dae_alias(dae, dae->var_der_of.at[one] != NONE ? other : one, &negative);
}

// Equations that give a derivative a name: the name stands for it.
static void
find_names(Zeros *zeros)
{
    Dae *dae = zeros->dae;
    vec_grow(&zeros->named, dae->nvars);
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        Var base = NONE, name = named_at(dae, e, &base);
        if (name != NONE && dae_kind(dae, name) == VAR_CONTINUOUS) {
            zeros->moves.at[name] |= MOVES_AS_DERIVATIVE | MOVES_WITH_NAME;
            zeros->named.at[name] = base + 1;
        } else
            name = NONE;
        vec_push(&zeros->defines, name);
    }
}

static bool
is_zero_parameter(Zeros *zeros, Var var)
{
    enum { NOT_ASKED, IS_ZERO, IS_NOT };
    double value;
    if (dae_kind(zeros->dae, var) != VAR_PARAMETER || zeros->dae->varied)
        return false;
    uint8_t *known = &zeros->parameter.at[var];
    if (*known == NOT_ASKED)
        *known = dae_known_value(zeros->dae, var, &value) && value == 0 ? IS_ZERO : IS_NOT;
    return *known == IS_ZERO;
}

// --- what equations make zero

typedef enum Proof { PROOF_OPEN, PROOF_WANTED, PROOF_NONE, PROOF_ZERO } Proof;

enum { PROOF_DEPTH = 64 };

static bool is_zero_at(Zeros *zeros, Var var, uint32_t depth);

static void
find_given(Zeros *zeros)
{
    Dae *dae = zeros->dae;
    const Exprs *exprs = dae->exprs;
    bool negative;
    vec_grow(&zeros->given, dae->nvars);
    vec_grow(&zeros->proof, dae->nvars);
    for (uint32_t e = dae->equations.n; e-- > 0;) {
        const Equation *at = &dae->equations.at[e];
        for (uint32_t side = 0; side < 2 && at->kind == EQN_NORMAL && expr_op(exprs, at->shape) == OP_EQN; side++) {
            Expr alone = expr_arg(exprs, at->shape, side);
            if (expr_op(exprs, alone) == OP_SLOT)
                zeros->given.at[dae_alias(dae, dae->rows.at[at->row + expr_slot_of(exprs, alone)], &negative)] = e + 1;
        }
    }
}

static bool
known_zero(Zeros *zeros, Expr e, const Var *vars)
{
    double value;
    return !zeros->dae->varied && dae_is_parametric(zeros->dae, e, vars) && dae_known_expr(zeros->dae, e, vars, &value) && value == 0;
}

// Whether e is zero wherever it has a value, whatever the model does: 0/0 has none.
static bool
is_zero_expr(Zeros *zeros, Expr e, const Var *vars, uint32_t depth)
{
    const Exprs *exprs = zeros->dae->exprs;
    Op op = expr_op(exprs, e);
    bool any = false, all = true;
    if (op == OP_CONST)
        return expr_value(exprs, e) == 0;
    if (op == OP_SLOT)
        return is_zero_at(zeros, vars[expr_slot_of(exprs, e)], depth);
    if (depth > PROOF_DEPTH || (op != OP_MUL && op != OP_ADD && op != OP_NEG && op != OP_DIV && op != OP_IF && op != OP_NOEVENT))
        return known_zero(zeros, e, vars);
    uint32_t n = op == OP_DIV ? 1 : expr_nargs(exprs, e);
    for (uint32_t k = op == OP_IF ? 1 : 0; k < n; k++) {
        bool zero = is_zero_expr(zeros, expr_arg(exprs, e, k), vars, depth + 1);
        any |= zero;
        all &= zero;
        if (op == OP_MUL ? any : !all)
            break;
    }
    return (op == OP_MUL ? any : all) || (op == OP_ADD && known_zero(zeros, e, vars));
}

static bool
is_zero_at(Zeros *zeros, Var var, uint32_t depth)
{
    Dae *dae = zeros->dae;
    bool negative;
    Var class = dae_alias(dae, var, &negative);
    if (zeros->zero.at[class] || is_zero_parameter(zeros, var))
        return true;
    if (dae_kind(dae, class) != VAR_CONTINUOUS || depth > PROOF_DEPTH)
        return false;
    if (!zeros->given.n)
        find_given(zeros);
    if (zeros->proof.at[class] == PROOF_OPEN && zeros->given.at[class]) {
        const Equation at = dae->equations.at[zeros->given.at[class] - 1];
        bool left = expr_op(dae->exprs, expr_arg(dae->exprs, at.shape, 0)) == OP_SLOT
                 && dae_alias(dae, dae->rows.at[at.row + expr_slot_of(dae->exprs, expr_arg(dae->exprs, at.shape, 0))], &negative) == class;
        zeros->proof.at[class] = PROOF_WANTED;
        bool zero = is_zero_expr(zeros, expr_arg(dae->exprs, at.shape, left), dae->rows.at + at.row, depth + 1);
        zeros->proof.at[class] = zero ? PROOF_ZERO : PROOF_NONE;
    }
    return zeros->proof.at[class] == PROOF_ZERO;
}

// Whether equation e may be told that the variable is zero: it says so itself, and then must go on saying it, or others do.
static bool
is_zero(Zeros *zeros, Var var, uint32_t e)
{
    bool negative;
    Var class = dae_alias(zeros->dae, var, &negative);
    if (zeros->given.n && !zeros->zero.at[class] && zeros->given.at[class] == e + 1) // it need not be proven
        return false;
    return is_zero_at(zeros, var, 0) && (zeros->zero.at[class] || !zeros->given.n || zeros->given.at[class] != e + 1);
}

// The class of the derivative that slot k names, if it is not zero itself, or NONE.
static Var
derivative_at(const Zeros *zeros, uint32_t row, uint32_t k)
{
    bool negative;
    Var var = dae_alias(zeros->dae, zeros->dae->rows.at[row + k], &negative);
    return zeros->moves.at[var] & MOVES_AS_DERIVATIVE && !zeros->zero.at[var] ? var : NONE;
}

// Equation e in the form `left`, over the slots that it had.
static Rewritten
rewritten_as(Zeros *zeros, uint32_t e, Expr left)
{
    Dae *dae = zeros->dae;
    uint32_t row = dae->equations.at[e].row;
    vec_clear(&zeros->used);
    Expr shape = expr_shape(dae->exprs, left, &zeros->used);
    for (uint32_t k = 0; k < zeros->used.n; k++)
        zeros->used.at[k] = dae->rows.at[row + zeros->used.at[k]];
    return (Rewritten){e, dae_add_row(dae, zeros->used.at, zeros->used.n), shape};
}

enum { TERM_SLOTS = 63 };
#define TERMS_KNOWN (1ull << TERM_SLOTS)

// The slots of an equation, bit k for slot k, that are in it once, alone in a sum or times a number: whatever other slots are, they stay.
static uint64_t
find_terms(const Exprs *exprs, Expr shape)
{
    enum { PARTS_MOST = 1000 }; // of which sums in sums may share many
    U32Vec open = {0};
    uint32_t slots = expr_nslots(exprs, shape);
    uint64_t once = 0, again = 0;
    vec_push(&open, shape);
    for (uint32_t parts = 0; open.n; parts++) {
        Expr e = vec_pop(&open);
        if (parts == PARTS_MOST) {
            again = UINT64_MAX;
            break;
        }
        Op op = expr_op(exprs, e);
        uint32_t n = expr_nargs(exprs, e), numbers = 0;
        for (uint32_t i = 0; op == OP_MUL && i < n; i++)
            numbers += expr_op(exprs, expr_arg(exprs, e, i)) == OP_CONST;
        if (op == OP_EQN || op == OP_ADD || op == OP_NEG || (op == OP_MUL && numbers + 1 == n)) {
            for (uint32_t i = 0; i < n; i++)
                vec_push(&open, expr_arg(exprs, e, i));
            continue;
        }
        for (uint32_t k = 0; k < slots && k < TERM_SLOTS; k++)
            if (expr_uses_slot(exprs, e, k)) {
                again |= (op == OP_SLOT ? once : UINT64_MAX) & 1ull << k;
                once |= 1ull << k;
            }
    }
    vec_free(&open);
    return expr_op(exprs, shape) == OP_EQN ? once & ~again : 0;
}

static uint64_t
terms_of(Zeros *zeros, Expr shape)
{
    if (shape >= zeros->terms.n)
        vec_grow(&zeros->terms, expr_count(zeros->dae->exprs) + 1 - zeros->terms.n);
    if (!zeros->terms.at[shape])
        zeros->terms.at[shape] = find_terms(zeros->dae->exprs, shape) | TERMS_KNOWN;
    return zeros->terms.at[shape];
}

// Whether zeros can take a derivative out of equation e: those that are terms of their own stay, unless they are zero themselves.
static bool
may_lose(Zeros *zeros, uint32_t e)
{
    const Equation *at = &zeros->dae->equations.at[e];
    for (uint32_t k = 0, n = expr_nslots(zeros->dae->exprs, at->shape); k < n; k++)
        if (derivative_at(zeros, at->row, k) != NONE
            && (k >= TERM_SLOTS || !(terms_of(zeros, at->shape) >> k & 1) || is_zero(zeros, zeros->dae->rows.at[at->row + k], e)))
            return true;
    return false;
}

static void
put_zeros(Zeros *zeros, uint32_t e)
{
    Dae *dae = zeros->dae;
    const Equation at = dae->equations.at[e];
    uint32_t n = expr_nslots(dae->exprs, at.shape);
    bool some = false, lost = false;
    if (!may_lose(zeros, e))
        return;
    vec_clear(&zeros->used);
    for (uint32_t k = 0; k < n; k++) {
        bool zero = is_zero(zeros, dae->rows.at[at.row + k], e);
        vec_push(&zeros->used, zero ? expr_const(dae->exprs, 0) : 0);
        some |= zero;
    }
    if (!some)
        return;
    Expr left = expr_with_zeros(dae->exprs, at.shape, zeros->used.at, n);
    for (uint32_t k = 0; k < n; k++)
        lost |= derivative_at(zeros, at.row, k) != NONE && !expr_uses_slot(dae->exprs, left, k);
    if (lost)
        vec_push(&zeros->rewritten, rewritten_as(zeros, e, left));
}

// --- rates that several derivatives make up

// What parameters that are zero leave of equation e, or 0 where they leave all of it.
static Expr
without_zero_parameters(Zeros *zeros, uint32_t e)
{
    Dae *dae = zeros->dae;
    const Equation at = dae->equations.at[e];
    uint32_t n = expr_nslots(dae->exprs, at.shape);
    bool some = false;
    vec_clear(&zeros->used);
    for (uint32_t k = 0; k < n; k++) {
        bool zero = is_zero_parameter(zeros, dae->rows.at[at.row + k]);
        vec_push(&zeros->used, zero ? expr_const(dae->exprs, 0) : 0);
        some |= zero;
    }
    return some ? expr_with_zeros(dae->exprs, at.shape, zeros->used.at, n) : 0;
}

// The unknown in slot k of equation e if `left` has lost it; else NONE.
static Var
lost_at(const Zeros *zeros, uint32_t e, Expr left, uint32_t k)
{
    const Dae *dae = zeros->dae;
    bool negative;
    Var class = dae_alias(dae, dae->rows.at[dae->equations.at[e].row + k], &negative);
    return dae_kind(dae, class) == VAR_CONTINUOUS && !expr_uses_slot(dae->exprs, left, k) ? class : NONE;
}

// Accelerations of bodies in space that parameters of zero take out of equation e, which does not define them.
static void
add_lost_rates(Zeros *zeros, uint32_t e, Expr left, U32Vec *lost)
{
    Dae *dae = zeros->dae;
    uint32_t n = expr_nslots(dae->exprs, dae->equations.at[e].shape);
    for (uint32_t k = 0; k < n; k++) {
        Var var = lost_at(zeros, e, left, k);
        if (var != NONE && zeros->rates.order.at[var] > 1 && zeros->rates.given.at[var] && zeros->rates.given.at[var] != e + 1)
            vec_push(lost, var);
    }
}

// What zeros leave of the equation has an acceleration, and it is not there to define one: a mass is in it, or a moment of inertia where
// it is one of `turn`.
static uint8_t
inertance_of(Zeros *zeros, uint32_t e, const U8Vec *turn)
{
    Dae *dae = zeros->dae;
    const Equation at = dae->equations.at[e];
    uint32_t n = expr_nslots(dae->exprs, at.shape);
    uint8_t has = 0;
    bool some = false, negative;
    vec_clear(&zeros->used);
    for (uint32_t k = 0; k < n; k++) {
        Var class = dae_alias(dae, dae->rows.at[at.row + k], &negative);
        if (zeros->defines.at[e] == class || (zeros->rates.given.at[class] == e + 1 && turn->at[class]))
            return 0;
        some |= zeros->rates.order.at[class] > 1;
        vec_push(&zeros->used, is_zero(zeros, dae->rows.at[at.row + k], e) ? expr_const(dae->exprs, 0) : 0);
    }
    Expr left = some ? expr_with_zeros(dae->exprs, at.shape, zeros->used.at, n) : 0;
    for (uint32_t k = 0; k < n && some; k++) {
        Var class = dae_alias(dae, dae->rows.at[at.row + k], &negative);
        if (zeros->rates.order.at[class] > 1 && expr_uses_slot(dae->exprs, left, k))
            has |= turn->at[class] ? HAS_MOMENT : HAS_MASS;
    }
    return has;
}

// Components of whose own positions derivatives make up rates of `turn`: a body whose orientation no joint gives.
static void
find_own_poses(Zeros *zeros, const U8Vec *turn)
{
    Dae *dae = zeros->dae;
    U32Vec node_of = {0};
    bool negative;
    vec_grow(&node_of, dae->insts.n);
    for (uint32_t k = dae->nodes.n; k-- > 0;)
        if (dae->nodes.at[k].inst < dae->insts.n)
            node_of.at[dae->nodes.at[k].inst] = k + 1;
    for (Var var = 0; var < dae->nvars; var++) {
        Var of = dae->var_der_of.at[var];
        if (of == NONE || !turn->at[dae_alias(dae, var, &negative)] || zeros->rates.order.at[dae_alias(dae, of, &negative)] || dae->var_group.at[of] == NONE
            || dae->var_group.at[of] >= dae->groups.n)
            continue;
        uint32_t node = node_of.at[dae->groups.at[dae->var_group.at[of]].inst];
        if (node)
            zeros->inertance.at[node - 1] |= HAS_POSE;
    }
    vec_free(&node_of);
}

static bool
is_product(Zeros *zeros, uint32_t e)
{
    return zeros->dae->equations.at[e].kind == EQN_NORMAL && kind_of_shape(zeros, zeros->dae->equations.at[e].shape) == SHAPE_PRODUCT;
}

// What each component has. A thin rod has one moment of zero, and others.
static void
find_inertances(Zeros *zeros)
{
    Dae *dae = zeros->dae;
    U32Vec lost = {0};
    U8Vec turn = {0};
    vec_grow(&zeros->inertance, dae->nodes.n);
    for (uint32_t i = 0; i < zeros->losing.n; i++)
        add_lost_rates(zeros, zeros->losing.at[i].equation, zeros->losing.at[i].left, &lost);
    compound_rates_mark(dae, &zeros->rates, &lost, &turn);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        if (is_product(zeros, e))
            zeros->inertance.at[dae->equations.at[e].node] |= inertance_of(zeros, e, &turn);
    find_own_poses(zeros, &turn);
    vec_free(&turn);
    vec_free(&lost);
}

// Equations, besides those that put_zeros has found, out of which parameters of zero take unknowns.
static void
find_losing(Zeros *zeros)
{
    Dae *dae = zeros->dae;
    uint32_t next = 0;
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        if (next < zeros->rewritten.n && zeros->rewritten.at[next].equation == e) {
            next++;
            continue;
        }
        Expr left = is_product(zeros, e) ? without_zero_parameters(zeros, e) : 0;
        bool any = false;
        for (uint32_t k = left ? expr_nslots(dae->exprs, dae->equations.at[e].shape) : 0; k-- > 0 && !any;)
            any = lost_at(zeros, e, left, k) != NONE;
        if (any)
            vec_push(&zeros->losing, ((Losing){e, left}));
    }
}

// Some unknown that is no derivative is lost by one of these equations and kept by none: bodies of which products of inertia alone are zero have no such.
static bool
some_is_lost(const Zeros *zeros)
{
    const Dae *dae = zeros->dae;
    U8Vec kept = {0};
    bool some = false, negative;
    if (zeros->losing.n)
        vec_grow(&kept, dae->nvars);
    for (uint32_t i = 0; i < zeros->losing.n; i++) {
        const Equation *at = &dae->equations.at[zeros->losing.at[i].equation];
        for (uint32_t k = expr_nslots(dae->exprs, at->shape); k-- > 0;)
            if (expr_uses_slot(dae->exprs, zeros->losing.at[i].left, k))
                kept.at[dae_alias(dae, dae->rows.at[at->row + k], &negative)] = 1;
    }
    for (uint32_t i = 0; i < zeros->losing.n && !some; i++)
        for (uint32_t k = expr_nslots(dae->exprs, dae->equations.at[zeros->losing.at[i].equation].shape); k-- > 0 && !some;) {
            Var lost = lost_at(zeros, zeros->losing.at[i].equation, zeros->losing.at[i].left, k);
            some = lost != NONE && !kept.at[lost] && !(zeros->moves.at[lost] & MOVES_AS_DERIVATIVE);
        }
    vec_free(&kept);
    return some;
}

static int
by_equation(const void *a, const void *b)
{
    const Rewritten *one = a, *other = b;
    return one->equation < other->equation ? -1 : one->equation > other->equation;
}

// Inertances of zero that multiply such an acceleration, of a body that has no other; a mass it may have where no joint carries it.
static void
put_compounds(Zeros *zeros)
{
    find_losing(zeros);
    if (!some_is_lost(zeros))
        return;
    compound_rates_find(zeros->dae, &zeros->zero, &zeros->rates);
    find_inertances(zeros);
    for (uint32_t i = 0; i < zeros->losing.n; i++) {
        Losing losing = zeros->losing.at[i];
        uint32_t before = zeros->lost.n;
        uint8_t has = zeros->inertance.at[zeros->dae->equations.at[losing.equation].node];
        if (has & HAS_MOMENT || (has & HAS_MASS && !(has & HAS_POSE)))
            continue;
        add_lost_rates(zeros, losing.equation, losing.left, &zeros->lost);
        if (zeros->lost.n > before)
            vec_push(&zeros->rewritten, rewritten_as(zeros, losing.equation, losing.left));
    }
    if (zeros->lost.n)
        qsort(zeros->rewritten.at, zeros->rewritten.n, sizeof *zeros->rewritten.at, by_equation);
}

// Dampings of zero that multiply a rate of what has no inertance. What they leave is put in place; `changed` gets the equations.
static void
put_carried(Zeros *zeros, U32Vec *changed)
{
    Dae *dae = zeros->dae;
    for (uint32_t e = 0; e < dae->equations.n && zeros->lost.n; e++) {
        if (!is_product(zeros, e))
            continue;
        Expr left = without_zero_parameters(zeros, e);
        uint32_t n = expr_nslots(dae->exprs, dae->equations.at[e].shape), row = dae->equations.at[e].row;
        bool some = false;
        for (uint32_t k = 0; k < n && left && !some; k++) {
            Var lost = lost_at(zeros, e, left, k);
            some = lost != NONE && zeros->carried.at[lost] && zeros->rates.given.at[lost] != e + 1;
        }
        if (!some)
            continue;
        Rewritten made = rewritten_as(zeros, e, left);
        for (uint32_t k = 0; k < n; k++)
            if (is_zero_parameter(zeros, dae->rows.at[row + k]))
                dae_require_zero(dae, dae->rows.at[row + k], e);
        dae->equations.at[e].shape = made.shape;
        dae->equations.at[e].row = made.row;
        vec_push(changed, e);
    }
}

// --- resistances that are zero

// In how many equations each variable's class stands.
static void
count_uses(const Dae *dae, U32Vec *uses)
{
    bool negative;
    vec_grow(uses, dae->nvars);
    for (uint32_t e = 0; e < dae->equations.n; e++)
        for (uint32_t k = dae->equations.at[e].kind == EQN_REMOVED ? 0 : expr_nslots(dae->exprs, dae->equations.at[e].shape); k-- > 0;)
            uses->at[dae_alias(dae, dae->rows.at[dae->equations.at[e].row + k], &negative)]++;
}

// c*a = c*b, c constant, and nothing else; b and a are slots of `used`.
static bool
says_equal(Zeros *zeros, Expr shape)
{
    Exprs *exprs = zeros->dae->exprs;
    Expr factor, rest, other, none;
    return zeros->used.n == 2 && expr_affine(exprs, expr_residual(exprs, shape), 0, &factor, &rest) && expr_op(exprs, factor) == OP_CONST
        && expr_affine(exprs, rest, 1, &other, &none) && expr_op(exprs, other) == OP_CONST && expr_is_const(exprs, none, 0)
        && expr_value(exprs, factor) != 0 && expr_value(exprs, other) == -expr_value(exprs, factor);
}

// R*i = v - w where the parameter R is zero: v = w holds these together, and i follows from what else it stands in. Only where the parameter
// cannot be set later.
static void
put_short(Zeros *zeros, uint32_t e, const U32Vec *uses)
{
    Dae *dae = zeros->dae;
    Equation *at = &dae->equations.at[e];
    uint32_t n = expr_nslots(dae->exprs, at->shape);
    bool some = false, negative;
    vec_clear(&zeros->used);
    for (uint32_t k = 0; k < n; k++) {
        bool zero = is_zero_parameter(zeros, dae->rows.at[at->row + k]);
        vec_push(&zeros->used, zero ? expr_const(dae->exprs, 0) : 0);
        some |= zero;
    }
    if (!some)
        return;
    Expr left = expr_with_zeros(dae->exprs, at->shape, zeros->used.at, n);
    for (uint32_t k = 0; k < n; k++) {
        Var var = dae_alias(dae, dae->rows.at[at->row + k], &negative);
        bool kept = expr_uses_slot(dae->exprs, left, k), unknown = dae_kind(dae, var) == VAR_CONTINUOUS;
        if (kept ? !unknown : unknown && uses->at[var] < 2)
            return;
    }
    vec_clear(&zeros->used);
    Expr shape = expr_shape(dae->exprs, left, &zeros->used);
    if (!says_equal(zeros, shape))
        return;
    for (uint32_t k = 0; k < zeros->used.n; k++)
        zeros->used.at[k] = dae->rows.at[at->row + zeros->used.at[k]];
    uint32_t row = dae_add_row(dae, zeros->used.at, zeros->used.n);
    dae->equations.at[e].shape = shape;
    dae->equations.at[e].row = row;
}

static void
put_shorts(Zeros *zeros)
{
    Dae *dae = zeros->dae;
    U32Vec uses = {0};
    count_uses(dae, &uses);
    for (uint32_t e = 0; e < dae->equations.n && !dae->settable && !dae->varied; e++)
        if (dae->equations.at[e].kind == EQN_NORMAL && kind_of_shape(zeros, dae->equations.at[e].shape) == SHAPE_PRODUCT)
            put_short(zeros, e, &uses);
    vec_free(&uses);
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

// The variable is a derivative, or a name of one.
static bool
is_rate(const Zeros *zeros, Var var)
{
    bool negative;
    return var != NONE && zeros->moves.at[dae_alias(zeros->dae, var, &negative)] & MOVES_AS_DERIVATIVE;
}

static bool
has_lost(const Zeros *zeros, const Rewritten *made, Var class)
{
    const Dae *dae = zeros->dae;
    bool lost = true, negative;
    for (uint32_t k = expr_nslots(dae->exprs, made->shape); k-- > 0 && lost;)
        lost = dae_alias(dae, dae->rows.at[made->row + k], &negative) != class;
    return lost;
}

// An acceleration that put_compounds has found.
static bool
was_lost(const Zeros *zeros, const Rewritten *made, Var var)
{
    bool negative;
    Var class = dae_alias(zeros->dae, var, &negative);
    return zeros->lost.n && zeros->rates.order.at[class] > 1 && zeros->rates.given.at[class] && zeros->rates.given.at[class] != made->equation + 1
        && dae_kind(zeros->dae, class) == VAR_CONTINUOUS && has_lost(zeros, made, class);
}

// The parameter whose zero alone takes a derivative out of the equation; NONE: there is none, or it has no name.
static Var
cause(Zeros *zeros, const Equation *at)
{
    Dae *dae = zeros->dae;
    uint32_t n = expr_nslots(dae->exprs, at->shape);
    bool negative;
    for (uint32_t k = 0; k < n; k++) {
        Var var = dae->rows.at[at->row + k];
        if (!is_zero_parameter(zeros, var) || dae->var_group.at[var] == NONE)
            continue;
        Expr left = expr_replace_slot(dae->exprs, at->shape, k, expr_const(dae->exprs, 0));
        for (uint32_t j = 0; j < n; j++) {
            Var rate = dae_alias(dae, dae->rows.at[at->row + j], &negative);
            bool moves = derivative_at(zeros, at->row, j) != NONE || (zeros->lost.n && zeros->rates.order.at[rate] > 1);
            if (moves && !expr_uses_slot(dae->exprs, left, j))
                return var;
        }
    }
    return NONE;
}

// Rewrites an equation that had a derivative which is gone from the model, if it is.
static bool
rewrite(Zeros *zeros, const Rewritten *made, const U8Vec *mentioned)
{
    Dae *dae = zeros->dae;
    Equation *at = &dae->equations.at[made->equation];
    bool gone = false, negative;
    for (uint32_t k = expr_nslots(dae->exprs, at->shape); k-- > 0;) {
        Var der = derivative_at(zeros, at->row, k);
        Var var = dae->rows.at[at->row + k];
        gone |= was_lost(zeros, made, var);
        if (der != NONE && mentioned->at[der])
            gone |= at->kind == EQN_NORMAL && zeros->named.at[der] && is_rate(zeros, zeros->named.at[der] - 1) && has_lost(zeros, made, der);
        if (der == NONE || mentioned->at[der])
            continue;
        if (dae->var_der_of.at[var] != NONE || zeros->named.at[der])
            vec_push(&zeros->bases, dae->var_der_of.at[var] != NONE ? dae->var_der_of.at[var] : zeros->named.at[der] - 1);
        remove_unmentioned(zeros, var, mentioned);
        gone = true;
    }
    if (!gone)
        return false;
    Var zero = cause(zeros, at);
    for (uint32_t k = expr_nslots(dae->exprs, at->shape); k-- > 0;) {
        Var var = dae->rows.at[at->row + k];
        if (!is_zero(zeros, var, made->equation) || zeros->zero.at[dae_alias(dae, var, &negative)])
            continue;
        dae_require_zero(dae, var, made->equation);
    }
    if (zero != NONE)
        vec_push(&dae->massless, ((Massless){made->equation, zero, false}));
    at->shape = made->shape;
    at->row = made->row;
    return true;
}

bool
pass_zeros(Dae *dae, Diags *diags)
{
    (void)diags; // nothing here can be wrong
    Zeros zeros = {.dae = dae};
    vec_grow(&zeros.zero, dae->nvars);
    vec_grow(&zeros.parameter, dae->nvars);
    find_zeros(&zeros);
    find_derivatives(&zeros);
    find_names(&zeros);
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        uint8_t kind = dae->equations.at[e].kind;
        if ((kind == EQN_NORMAL || kind == EQN_INITIAL)
            && kind_of_shape(&zeros, dae->equations.at[e].shape) == SHAPE_PRODUCT)
            put_zeros(&zeros, e);
    }
    put_compounds(&zeros);
    if (zeros.rewritten.n) {
        U8Vec mentioned = {0};
        U32Vec changed = {0};
        mark_mentioned(&zeros, &mentioned);
        for (uint32_t i = 0; i < zeros.rewritten.n; i++)
            if (rewrite(&zeros, &zeros.rewritten.at[i], &mentioned))
                vec_push(&changed, zeros.rewritten.at[i].equation);
        if (zeros.lost.n)
            compound_rates_mark(dae, &zeros.rates, &zeros.lost, &zeros.carried);
        put_carried(&zeros, &changed);
        if (changed.n)
            zeros_spread(dae, &changed, &zeros.bases);
        vec_free(&changed);
        vec_free(&mentioned);
    }
    put_shorts(&zeros);
    vec_free(&zeros.rewritten);
    vec_free(&zeros.zero);
    vec_free(&zeros.parameter);
    vec_free(&zeros.moves);
    vec_free(&zeros.defines);
    dae->known = NULL; // later passes add parameters
    vec_free(&zeros.kind);
    vec_free(&zeros.named);
    vec_free(&zeros.bases);
    vec_free(&zeros.used);
    vec_free(&zeros.terms);
    vec_free(&zeros.given);
    vec_free(&zeros.proof);
    vec_free(&zeros.lost);
    vec_free(&zeros.inertance);
    vec_free(&zeros.losing);
    vec_free(&zeros.carried);
    compound_rates_free(&zeros.rates);
    return true;
}
