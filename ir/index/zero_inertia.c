// zero_inertia.c: bodies without mass are nodes.
//
// Purpose: a body of mass zero between two springs is what the node between them would be without it. Its neighbours have one force, so that
// springs and clearances in a row have their closed form (tear_series.c), frictions in a row one law; its position follows
// from theirs and is no state, although it has a velocity and an acceleration by name.
// Method: where the equation of a body has become 0 = f, f vanishes from all equations; of what is left some say that another variable is zero,
// and so on, and some say x = y. A velocity and an acceleration of the body that nothing reads leave the model until everything else is
// determined (Dae.monitors; ir/bonds/rates.c), so that no equation is differentiated for them.
// Contract: called by pass_zeros. Equations get other shapes and rows; 0 = f stays. Complexity: linear in the rows of the model, and in those of what is
// rewritten once for each zero of an equation.
//
//     0 = f;  f + a - b = 0;  v = der(s);  z = der(v)      ->      0 = f;  a = b;  v and z are computed at last
#include "ir/index/zeros.h"

#include "ir/dae/model_shapes.h"
#include "ir/dae/pass.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

typedef struct Spread {
    Dae *dae;
    U8Vec zero;            // per variable: the class that it stands for is zero
    U32Vec uses;           // per variable: how often its class is read, in whatever place
    U8Vec held;            // per variable: its class is more than a name: its start is fixed, it is set, or part of a law
    U32Vec first, entries; // per variable: the equations that mention its class, with a last entry for the end
    U32Vec queue;          // classes found to be zero
    U32Vec changed;        // equations
    U32Vec with, order;    // of the equation at hand
} Spread;

static Var
class_of(const Dae *dae, Var var)
{
    bool negative;
    return dae_alias(dae, var, &negative);
}

// The equations of each class.
static void
find_uses(Spread *spread)
{
    const Dae *dae = spread->dae;
    uint32_t n, sum = 0;
    vec_clear(&spread->first);
    vec_clear(&spread->entries);
    vec_grow(&spread->first, dae->nvars + 1);
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Var *row = dae_row(dae, e, &n);
        for (uint32_t k = 0; k < n && dae->equations.at[e].kind == EQN_NORMAL; k++)
            spread->first.at[class_of(dae, row[k])]++;
    }
    for (Var v = 0; v <= dae->nvars; v++)
        spread->first.at[v] = sum += spread->first.at[v];
    vec_grow(&spread->entries, sum);
    for (uint32_t e = dae->equations.n; e-- > 0;) {
        const Var *row = dae_row(dae, e, &n);
        for (uint32_t k = 0; k < n && dae->equations.at[e].kind == EQN_NORMAL; k++)
            spread->entries.at[--spread->first.at[class_of(dae, row[k])]] = e;
    }
}

static void
add_zero(Spread *spread, uint32_t e)
{
    const Dae *dae = spread->dae;
    const Equation *at = &dae->equations.at[e];
    Var var = zeros_says(dae->exprs, at->shape) ? class_of(dae, dae->rows.at[at->row]) : NONE;
    if (var == NONE || dae_kind(dae, var) != VAR_CONTINUOUS || spread->zero.at[var])
        return;
    spread->zero.at[var] = 1;
    vec_push(&spread->queue, var);
}

static bool
has_unknown(const Spread *spread, uint32_t row)
{
    bool some = false;
    for (uint32_t k = 0; k < spread->order.n && !some; k++)
        some = dae_kind(spread->dae, spread->dae->rows.at[row + spread->order.at[k]]) == VAR_CONTINUOUS;
    return some;
}

// An equation that says 0 = 0 is one too many: it says of one of its variables again that it is zero, so that the balance of equations sees it.
static bool
keep_one(Spread *spread, uint32_t row, Expr residual, Expr *shape)
{
    Exprs *exprs = spread->dae->exprs;
    if (!expr_is_const(exprs, residual, 0))
        return false;
    vec_clear(&spread->order);
    for (uint32_t k = 0; k < spread->with.n && !spread->order.n; k++)
        if (spread->with.at[k] && spread->zero.at[class_of(spread->dae, spread->dae->rows.at[row + k])])
            vec_push(&spread->order, k);
    *shape = expr_2(exprs, OP_EQN, expr_const(exprs, 0), expr_slot(exprs, 0));
    return spread->order.n;
}

// The equation without the variables that are zero, as far as it is affine in them: behind a divisor or a condition they stay.
static void
rewrite_without(Spread *spread, uint32_t e)
{
    Dae *dae = spread->dae;
    Exprs *exprs = dae->exprs;
    const Equation at = dae->equations.at[e];
    uint32_t n = expr_nslots(exprs, at.shape);
    Expr factor, rest, residual = expr_op(exprs, at.shape) == OP_EQN ? expr_residual(exprs, at.shape) : 0;
    bool some = false;
    if (!residual || zeros_says(exprs, at.shape))
        return;
    vec_clear(&spread->with);
    vec_clear(&spread->order);
    for (uint32_t k = 0; k < n; k++) {
        bool zero = spread->zero.at[class_of(dae, dae->rows.at[at.row + k])] && expr_affine(exprs, residual, k, &factor, &rest);
        vec_push(&spread->with, zero ? expr_const(exprs, 0) : 0);
        some |= zero;
    }
    if (!some)
        return;
    Expr left = expr_substitute(exprs, at.shape, spread->with.at, n);
    Expr shape = expr_op(exprs, left) == OP_EQN ? expr_shape(exprs, left, &spread->order) : 0;
    if (!shape)
        return;
    if (!has_unknown(spread, at.row) && !keep_one(spread, at.row, expr_residual(exprs, left), &shape))
        return;
    for (uint32_t k = 0; k < spread->order.n; k++)
        spread->order.at[k] = dae->rows.at[at.row + spread->order.at[k]];
    uint32_t row = dae_add_row(dae, spread->order.at, spread->order.n);
    dae->equations.at[e].shape = shape;
    dae->equations.at[e].row = row;
    vec_push(&spread->changed, e);
    add_zero(spread, e);
}

// --- names that nothing reads

static void
hold(Spread *spread, Var var)
{
    if (var != NONE)
        spread->held.at[class_of(spread->dae, var)] = 1;
}

static void
count_uses(Spread *spread)
{
    const Dae *dae = spread->dae;
    vec_grow(&spread->uses, dae->nvars);
    vec_grow(&spread->held, dae->nvars);
    for (ModelShape at = {0}; model_shape_next(dae, &at);)
        if (at.place != SHAPE_IN_EQUATION || dae->equations.at[at.index].kind != EQN_ALIAS)
            for (uint32_t k = expr_nslots(dae->exprs, at.shape); k-- > 0;)
                spread->uses.at[class_of(dae, dae->rows.at[at.row + k])]++;
    for (Var v = 0; v < dae->nvars; v++)
        if (dae->var_flags.at[v] & VARF_FIXED || dae->var_pre.at[v] != NONE || dae_state_select(dae, v) == STATE_ALWAYS)
            hold(spread, v);
    for (uint32_t i = 0; i < dae->reinits.n; i++)
        hold(spread, dae->reinits.at[i].var);
    for (uint32_t i = 0; i < dae->laws.n; i++) {
        hold(spread, dae->laws.at[i].x);
        hold(spread, dae->laws.at[i].p);
        hold(spread, dae->laws.at[i].a);
    }
    for (uint32_t i = 0; i < dae->bonds.n; i++) {
        hold(spread, dae->bonds.at[i].flow);
        hold(spread, dae->bonds.at[i].effort);
    }
    for (uint32_t i = 0; i < dae->delays.n; i++)
        hold(spread, dae->delays.at[i].input);
    for (uint32_t i = 0; i < dae->fractionals.n; i++)
        hold(spread, dae->fractionals.at[i].input);
    for (uint32_t i = 0; i < dae->transports.n; i++) {
        hold(spread, dae->transports.at[i].in[0]);
        hold(spread, dae->transports.at[i].in[1]);
        hold(spread, dae->transports.at[i].x);
    }
}

static void
leave_out(Dae *dae, Var var)
{
    dae->var_flags.at[var] |= VARF_REMOVED;
    dae->var_flags.at[class_of(dae, var)] |= VARF_REMOVED;
}

// Equation e, `v = der(x)`, is set aside where nothing but it reads v.
static bool
set_aside(Spread *spread, uint32_t e, Var v, Var x)
{
    Dae *dae = spread->dae;
    if (spread->uses.at[v] != 1 || spread->held.at[v] || dae->var_der_of.at[v] != NONE || dae_kind(dae, v) != VAR_CONTINUOUS)
        return false;
    Var der = dae->var_der.at[x];
    dae->equations.at[e].kind = EQN_REMOVED;
    dae->var_flags.at[v] |= VARF_REMOVED;
    if (--spread->uses.at[class_of(dae, der)] == 0)
        leave_out(dae, der);
    vec_push(&dae->monitors, ((Monitor){e, v, class_of(dae, x)}));
    return true;
}

// x where the equation says v = der(x), v a variable with a name of its own; else NONE.
static Var
position_of(const Dae *dae, uint32_t e, Var v)
{
    const Equation *at = &dae->equations.at[e];
    if (at->kind != EQN_NORMAL || expr_nslots(dae->exprs, at->shape) != 2 || expr_op(dae->exprs, at->shape) != OP_EQN
        || expr_op(dae->exprs, expr_arg(dae->exprs, at->shape, 0)) != OP_SLOT || expr_op(dae->exprs, expr_arg(dae->exprs, at->shape, 1)) != OP_SLOT)
        return NONE;
    Var one = dae->rows.at[at->row], other = dae->rows.at[at->row + 1];
    Var of = class_of(dae, one) == v ? dae->var_der_of.at[other] : class_of(dae, other) == v ? dae->var_der_of.at[one] : NONE;
    return of;
}

// The equation a = der(v) of the class v, and a, if it is the only one that reads der(v); else NONE.
static uint32_t
only_name(const Spread *spread, Var v, Var *name)
{
    const Dae *dae = spread->dae;
    Var der = dae->var_der.at[v] == NONE ? NONE : class_of(dae, dae->var_der.at[v]);
    if (der == NONE || spread->uses.at[der] != 1 || spread->first.at[der + 1] != spread->first.at[der] + 1)
        return NONE;
    uint32_t e = spread->entries.at[spread->first.at[der]];
    const Equation *at = &dae->equations.at[e];
    for (uint32_t k = 0; k < 2 && expr_nslots(dae->exprs, at->shape) == 2; k++) {
        *name = class_of(dae, dae->rows.at[at->row + k]);
        Var of = *name == der ? NONE : position_of(dae, e, *name);
        if (of != NONE && class_of(dae, of) == v)
            return e;
    }
    return NONE;
}

// The velocity v of what has no mass, and its derivative by name.
static void
set_names_aside(Spread *spread, Var v)
{
    Dae *dae = spread->dae;
    Var a;
    uint32_t named = only_name(spread, v, &a), here = dae->monitors.n;
    bool read = dae->var_der.at[v] != NONE && spread->uses.at[class_of(dae, dae->var_der.at[v])];
    if (named == NONE ? read : !set_aside(spread, named, a, v))
        return;
    for (uint32_t k = spread->first.at[v]; k < spread->first.at[v + 1]; k++) {
        Var x = position_of(dae, spread->entries.at[k], v);
        if (x != NONE && set_aside(spread, spread->entries.at[k], v, x))
            break;
    }
    if (dae->monitors.n > here + 1) { // the velocity comes first
        Monitor velocity = dae->monitors.at[here + 1];
        dae->monitors.at[here + 1] = dae->monitors.at[here];
        dae->monitors.at[here] = velocity;
    }
}

void
zeros_spread(Dae *dae, const U32Vec *equations, const U32Vec *bases)
{
    Spread spread = {.dae = dae};
    vec_grow(&spread.zero, dae->nvars);
    find_uses(&spread);
    for (uint32_t i = 0; i < equations->n; i++) {
        vec_push(&spread.changed, equations->at[i]);
        add_zero(&spread, equations->at[i]);
    }
    while (spread.queue.n) {
        Var var = spread.queue.at[--spread.queue.n];
        for (uint32_t k = spread.first.at[var]; k < spread.first.at[var + 1]; k++)
            rewrite_without(&spread, spread.entries.at[k]);
    }
    alias_more(dae, &spread.changed);
    find_uses(&spread);
    count_uses(&spread);
    for (uint32_t i = 0; i < bases->n; i++)
        set_names_aside(&spread, class_of(dae, bases->at[i]));
    vec_free(&spread.zero);
    vec_free(&spread.uses);
    vec_free(&spread.held);
    vec_free(&spread.first);
    vec_free(&spread.entries);
    vec_free(&spread.queue);
    vec_free(&spread.changed);
    vec_free(&spread.with);
    vec_free(&spread.order);
}
