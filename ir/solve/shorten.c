// shorten.c: shorten: long equations with events give parts that are used again variables of their own.
//
// Purpose: a loop of an algorithm section becomes one expression in which every pass of the loop holds all passes before it. Each
// relation, floor or sign in it is an event with a function of its own, which would be as long as all of the loop before it: their
// number times the length of the loop.
// Method: parts that are used more than once and are not short become hidden variables, so that what is left of every part is
// short. A part stays where its value would not be the same elsewhere: on one side only of a choice, unless it has a value
// anywhere; inside noEvent, when it has events; under a square root or the like when it has bounds (lift.c holds those otherwise);
// what changes at events only, and what is affine in time, since its events are known instants.
//
//     y = if f(g(x)) > 1 then f(g(x)) else ...   =>   $part1 = f(g(x)),  y = if $part1 > 1 then $part1 else ...
//
// Contract: after `laws`, before `integers`. Appends variables and equations; an equation gets another shape and row.
// Complexity: linear in the length of the equations.
#include "ir/dae/pass.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/operator/naming.h"

enum {
    LONG = 256, // different parts of an equation that is looked at
    SHORT = 24, // operations up to which a part stays
};

typedef struct Spot { // a part of the equation at hand
    uint32_t users, size;  // size: of what is left of it, written out
    uint8_t degree;        // in time: 0 stands still, 1 affine, 2 anything else
    bool moves;            // between events
    bool total;            // has a value whatever its variables are
    bool always;           // evaluated whatever the choices say
    bool bounded, silent;  // stands under a function that is not defined everywhere; inside noEvent
} Spot;

typedef struct Shorten {
    Dae *dae;
    Naming naming;
    uint32_t equation;
    U32Vec parts;          // of the equation, arguments before users
    VEC(Spot) spots;       // per part
    Map spot_of;
    uint32_t at;           // the next part to be rewritten
} Shorten;

static const Op event_ops[] = {OP_LT, OP_LE, OP_GT, OP_GE, OP_ABS, OP_SIGN, OP_MIN, OP_MAX, OP_LUZ, OP_FLOOR, OP_CEIL, OP_TRUNC,
                               OP_NOEVENT, OP_SMOOTH, OP_SAMPLE};

static bool
has_events(const Exprs *exprs, Expr e)
{
    for (size_t i = 0; i < sizeof event_ops / sizeof *event_ops; i++)
        if (expr_has_op(exprs, e, event_ops[i]))
            return true;
    return false;
}

static Spot *
spot_of(Shorten *pass, Expr e)
{
    uint32_t at = 0;
    map_get(&pass->spot_of, e, &at);
    return &pass->spots.at[at];
}

// --- what a part is

static Spot
leaf_spot(const Shorten *pass, Expr e)
{
    const Dae *dae = pass->dae;
    Op op = expr_op(dae->exprs, e);
    if (op == OP_TIME)
        return (Spot){.degree = 1, .moves = true, .total = true, .size = 1};
    if (op != OP_SLOT)
        return (Spot){.total = true, .size = 1};
    Var var = pass->naming.vars.at[expr_slot_of(dae->exprs, e)];
    bool continuous = (dae_kind(dae, var) == VAR_CONTINUOUS || dae_kind(dae, var) == VAR_INPUT) && dae->var_pre_of.at[var] == NONE;
    return (Spot){.degree = continuous ? 2 : 0, .moves = continuous, .total = true, .size = 1};
}

static uint8_t
degree_of(Op op, const Spot *arg, uint32_t i, uint8_t before)
{
    if (op == OP_MUL)
        return before + arg->degree > 1 ? 2 : (uint8_t)(before + arg->degree);
    if (op == OP_ADD || op == OP_NEG || (op == OP_DIV && i == 0))
        return before > arg->degree ? before : arg->degree;
    return arg->degree ? 2 : before;
}

static bool
jumps_only(Op op)
{
    return op == OP_FLOOR || op == OP_CEIL || op == OP_TRUNC || op == OP_SIGN || op_table[op].type == OPTYPE_BOOL;
}

static bool
is_total(Op op, uint32_t moving)
{
    switch (op) {
    case OP_ADD: case OP_NEG: case OP_SIN: case OP_COS: case OP_TANH: case OP_ATAN: case OP_ABS: case OP_MIN: case OP_MAX: case OP_SIGN:
    case OP_LUZ: case OP_FLOOR: case OP_CEIL: case OP_TRUNC: case OP_IF: case OP_NOEVENT: case OP_SMOOTH:
        return true;
    case OP_MUL: // no product of two things that grow
        return moving <= 1;
    default:
        return op_table[op].type == OPTYPE_BOOL;
    }
}

static Spot
inner_spot(Shorten *pass, Expr e)
{
    const Exprs *exprs = pass->dae->exprs;
    Op op = expr_op(exprs, e);
    uint32_t n = expr_nargs(exprs, e), moving = 0;
    Spot spot = {.total = true};
    for (uint32_t i = 0; i < n; i++) {
        Spot *arg = spot_of(pass, expr_arg(exprs, e, i));
        arg->users++;
        moving += arg->moves && !(op == OP_IF && i == 0);
        spot.total &= arg->total;
        spot.degree = degree_of(op, arg, i, spot.degree);
    }
    spot.moves = moving > 0 && !jumps_only(op);
    spot.total &= is_total(op, moving);
    return spot;
}

static void
look(Shorten *pass)
{
    const Exprs *exprs = pass->dae->exprs;
    pass->spots.n = 0;
    map_clear(&pass->spot_of);
    for (uint32_t i = 0; i < pass->parts.n; i++) {
        Expr e = pass->parts.at[i];
        Spot spot = expr_nargs(exprs, e) ? inner_spot(pass, e) : leaf_spot(pass, e);
        vec_push(&pass->spots, spot);
        map_put(&pass->spot_of, e, i);
    }
}

// --- where it stands

// Whether the i-th argument may not be evaluated although e is.
static bool
is_guarded(Op op, uint32_t i)
{
    return i > 0 && (op == OP_IF || op == OP_AND || op == OP_OR || op == OP_PICK || op == OP_HOMOTOPY);
}

static void
look_down(Shorten *pass)
{
    const Exprs *exprs = pass->dae->exprs;
    vec_last(&pass->spots).always = true;
    for (uint32_t k = pass->parts.n; k-- > 0;) {
        Expr e = pass->parts.at[k];
        Op op = expr_op(exprs, e);
        Spot spot = pass->spots.at[k];
        bool silent = op == OP_NOEVENT || (op == OP_SMOOTH && !expr_is_const(exprs, expr_arg(exprs, e, 0), 0));
        for (uint32_t i = 0; i < expr_nargs(exprs, e); i++) {
            Spot *arg = spot_of(pass, expr_arg(exprs, e, i));
            arg->always |= spot.always && !is_guarded(op, i);
            arg->silent |= spot.silent || silent;
            arg->bounded |= spot.bounded || op_is_partial(op);
        }
    }
}

// --- rewriting

static bool
can_leave(const Exprs *exprs, Expr e, const Spot *spot)
{
    bool bound = expr_has_op(exprs, e, OP_MIN) || expr_has_op(exprs, e, OP_MAX) || expr_has_op(exprs, e, OP_ABS);
    return spot->users > 1 && spot->moves && spot->degree == 2 && expr_op(exprs, e) != OP_CALL && (spot->always || spot->total)
           && !(spot->silent && has_events(exprs, e)) && !(spot->bounded && bound);
}

static Expr
shortened(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    enum { ENOUGH = 1u << 30 };
    Shorten *pass = context;
    Spot *spot = &pass->spots.at[pass->at++];
    uint32_t n = expr_nargs(exprs, part);
    if (!n)
        return 0;
    spot->size = 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t size = spot_of(pass, expr_arg(exprs, part, i))->size;
        spot->size = spot->size + size < ENOUGH ? spot->size + size : ENOUGH;
    }
    if (spot->size <= SHORT || !can_leave(exprs, part, spot))
        return 0;
    Expr now = expr_make(exprs, expr_op(exprs, part), args, n);
    if (expr_nargs(exprs, now) == 0)
        return now;
    vec_push(&pass->naming.vars, naming_variable(&pass->naming, pass->equation, now, "part", false));
    spot->size = 1;
    return expr_slot(exprs, pass->naming.vars.n - 1);
}

static void
visit(Shorten *pass, uint32_t equation)
{
    Dae *dae = pass->dae;
    uint32_t n, new_row;
    Expr old = dae->equations.at[equation].shape, shape;
    vec_clear(&pass->parts);
    expr_parts(dae->exprs, old, &pass->parts);
    if (pass->parts.n < LONG)
        return;
    const Var *row = dae_row(dae, equation, &n);
    vec_clear(&pass->naming.vars);
    vec_append(&pass->naming.vars, row, n);
    pass->equation = equation;
    pass->at = 0;
    look(pass);
    look_down(pass);
    Expr text = expr_rewrite(dae->exprs, old, shortened, pass);
    if (text == old)
        return;
    dae_bind_shape(dae, text, pass->naming.vars.at, &shape, &new_row);
    dae->equations.at[equation].shape = shape;
    dae->equations.at[equation].row = new_row;
}

bool
pass_shorten(Dae *dae, Diags *diags)
{
    (void)diags; // nothing is refused
    if (expr_count(dae->exprs) < LONG)
        return true;
    Shorten pass = {.dae = dae, .naming = {.dae = dae}};
    uint32_t n = dae->equations.n; // what is appended below is short
    for (uint32_t i = 0; i < n; i++)
        if (dae->equations.at[i].kind == EQN_NORMAL && has_events(dae->exprs, dae->equations.at[i].shape))
            visit(&pass, i);
    naming_free(&pass.naming);
    vec_free(&pass.parts);
    vec_free(&pass.spots);
    map_free(&pass.spot_of);
    return true;
}
