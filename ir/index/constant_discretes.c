// constant_discretes.c: constants: Booleans, Integers and enumerations that equations make constant decide what they choose.
//
// Purpose: equations of discrete variables are sorted by what they may depend on, and loops of them are refused (Modelica 3.6, appendix B). Where
// the condition of a choice is constant, what it does not choose is none of that: a connector says which kind of component is behind it, and an
// equation with `if c.kind then c.fire else pre(c.fire)` reads c.fire for one kind only.
// Method: constants are found from x = e over constants, over and over; equations that remain when those that no loop can contain have been taken
// away are looked at with them, and rewritten where a discrete variable vanishes. So are the equations of other variables that a discrete one which is
// constant chooses in: a vessel whose level and whose port are at zero has the pressure of its port whatever flows, and two of them have one pressure, which
// is found where equations are differentiated, and not by an equation that might be another one.
//
//     d = false;  p = if d then f else pre(f);  f = p or c          ->     p = pre(f)
//     level = 0;  d = level >= 0;  (if d then p - q else m) = 0     ->     p - q = 0
//
// Contract: after `alias`. Equations get another shape and row. Complexity: linear in the rows of equations; one of a discrete variable is looked at again when
// one of its variables is decided.
#include <math.h>

#include "ir/dae/pass.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

typedef struct Constants {
    Dae *dae;
    U32Vec defined;  // discrete equations x = e; and the class of each x
    U32Vec class;
    U32Vec value;    // per variable: the constant + 1 that the class it stands for is; 0: none is known
    U8Vec open;      // per equation of `defined`: a loop may contain it
    U8Vec waits;     // per variable: an open equation gives it
    U32Vec reader_start, reader; // per variable: places in `defined` of the equations whose right sides use it
    U32Vec todo;     // places in `defined`
    U32Vec vars;     // of the equation at hand
} Constants;

static bool
is_discrete(const Dae *dae, Var var)
{
    return dae_kind(dae, var) == VAR_DISCRETE && dae_type(dae, var) != TYPE_REAL;
}

static void
find_defined(Constants *c)
{
    Dae *dae = c->dae;
    bool negative;
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Equation *at = &dae->equations.at[e];
        Expr left = expr_op(dae->exprs, at->shape) == OP_EQN ? expr_arg(dae->exprs, at->shape, 0) : 0;
        Var var = left && expr_op(dae->exprs, left) == OP_SLOT ? dae->rows.at[at->row + expr_slot_of(dae->exprs, left)] : NONE;
        if ((at->kind != EQN_NORMAL && at->kind != EQN_WHEN) || var == NONE || !is_discrete(dae, var))
            continue;
        vec_push(&c->defined, e);
        vec_push(&c->class, dae_alias(dae, var, &negative));
    }
}

// Calls for each variable that the right side of the i-th equation uses.
static void
each_used(Constants *c, uint32_t i, void (*take)(Constants *c, uint32_t i, Var var))
{
    Dae *dae = c->dae;
    vec_clear(&c->vars);
    Expr shape = dae_resolve(dae, c->defined.at[i], &c->vars);
    for (uint32_t k = 0; expr_op(dae->exprs, shape) == OP_EQN && k < c->vars.n; k++)
        if (expr_uses_slot(dae->exprs, expr_arg(dae->exprs, shape, 1), k))
            take(c, i, c->vars.at[k]);
}

static void
count_reader(Constants *c, uint32_t i, Var var)
{
    (void)i;
    c->reader_start.at[var + 1]++;
}

static void
add_reader(Constants *c, uint32_t i, Var var)
{
    c->reader.at[c->reader_start.at[var]++] = i;
}

static void
find_readers(Constants *c)
{
    U32Vec *start = &c->reader_start;
    vec_grow(start, c->dae->nvars + 1);
    for (uint32_t i = 0; i < c->defined.n; i++)
        each_used(c, i, count_reader);
    for (uint32_t v = 0; v < c->dae->nvars; v++)
        start->at[v + 1] += start->at[v];
    vec_grow(&c->reader, start->at[c->dae->nvars]);
    for (uint32_t i = 0; i < c->defined.n; i++)
        each_used(c, i, add_reader);
    for (uint32_t v = c->dae->nvars; v > 0; v--)
        start->at[v] = start->at[v - 1];
    start->at[0] = 0;
}

// The right side of an equation with what is known put in; its variables are in c->vars.
static Expr
right_side(Constants *c, uint32_t e, bool *some)
{
    Dae *dae = c->dae;
    vec_clear(&c->vars);
    Expr shape = dae_resolve(dae, e, &c->vars);
    U32Vec with = {0};
    *some = false;
    if (expr_op(dae->exprs, shape) != OP_EQN)
        return 0;
    for (uint32_t k = 0; k < c->vars.n; k++) {
        uint32_t known = c->value.at[c->vars.at[k]];
        bool constant = dae_kind(dae, c->vars.at[k]) == VAR_CONSTANT;
        double value;
        if (!known && constant && dae_type(dae, c->vars.at[k]) != TYPE_REAL && dae_known_value(dae, c->vars.at[k], &value))
            known = expr_const(dae->exprs, value) + 1;
        vec_push(&with, known ? known - 1 : 0);
        *some |= known != 0;
    }
    Expr right = expr_arg(dae->exprs, shape, 1);
    right = *some ? expr_substitute(dae->exprs, right, with.at, with.n) : right;
    vec_free(&with);
    return right;
}

// A loop may contain it where it uses what an equation gives that a loop may contain.
static void
find_open(Constants *c)
{
    U32Vec uses = {0}; // per equation: variables that wait
    vec_grow(&c->waits, c->dae->nvars);
    vec_grow(&uses, c->defined.n);
    vec_fill(&c->open, c->defined.n, 1);
    for (uint32_t i = 0; i < c->defined.n; i++)
        c->waits.at[c->class.at[i]] = 1;
    for (Var v = 0; v < c->dae->nvars; v++)
        for (uint32_t k = c->reader_start.at[v]; c->waits.at[v] && k < c->reader_start.at[v + 1]; k++)
            uses.at[c->reader.at[k]]++;
    vec_clear(&c->todo);
    for (uint32_t i = 0; i < c->defined.n; i++)
        if (!uses.at[i])
            vec_push(&c->todo, i);
    while (c->todo.n) {
        uint32_t i = vec_pop(&c->todo);
        Var var = c->class.at[i];
        c->open.at[i] = 0;
        for (uint32_t k = c->reader_start.at[var]; c->waits.at[var] && k < c->reader_start.at[var + 1]; k++)
            if (!--uses.at[c->reader.at[k]])
                vec_push(&c->todo, c->reader.at[k]);
        c->waits.at[var] = 0;
    }
    vec_free(&uses);
}

// x = 3 of what is not discrete.
static void
find_numbers(Constants *c)
{
    Dae *dae = c->dae;
    for (uint32_t e = 0; e < dae->equations.n; e++) {
        const Equation *at = &dae->equations.at[e];
        if (at->kind != EQN_NORMAL || expr_op(dae->exprs, at->shape) != OP_EQN || expr_op(dae->exprs, expr_arg(dae->exprs, at->shape, 1)) != OP_CONST)
            continue;
        Expr shape = dae_resolve(dae, e, &c->vars);
        bool alone = expr_op(dae->exprs, expr_arg(dae->exprs, shape, 0)) == OP_SLOT && c->vars.n == 1;
        Expr right = expr_arg(dae->exprs, shape, 1);
        if (alone && dae_kind(dae, c->vars.at[0]) == VAR_CONTINUOUS && expr_op(dae->exprs, right) == OP_CONST && isfinite(expr_value(dae->exprs, right)))
            c->value.at[c->vars.at[0]] = right + 1;
    }
}

static void
find_constants(Constants *c)
{
    Dae *dae = c->dae;
    bool some;
    vec_clear(&c->todo);
    for (uint32_t i = c->defined.n; i-- > 0;)
        vec_push(&c->todo, i);
    while (c->todo.n) {
        uint32_t i = vec_pop(&c->todo);
        Var var = c->class.at[i];
        if (c->value.at[var] || dae->equations.at[c->defined.at[i]].kind != EQN_NORMAL)
            continue;
        Expr right = right_side(c, c->defined.at[i], &some);
        if (!right || expr_op(dae->exprs, right) != OP_CONST || isnan(expr_value(dae->exprs, right)))
            continue;
        c->value.at[var] = right + 1;
        map_put(&dae->decided, var, right);
        for (uint32_t k = c->reader_start.at[var]; k < c->reader_start.at[var + 1]; k++)
            vec_push(&c->todo, c->reader.at[k]);
    }
}

static void
put_shape(Dae *dae, uint32_t e, Expr shape, const U32Vec *vars)
{
    U32Vec used = {0};
    Expr rewritten = expr_shape(dae->exprs, shape, &used);
    for (uint32_t k = 0; k < used.n; k++)
        used.at[k] = vars->at[used.at[k]];
    uint32_t row = dae_add_row(dae, used.at, used.n);
    dae->equations.at[e].shape = rewritten;
    dae->equations.at[e].row = row;
    vec_free(&used);
}

// What a discrete variable that is constant does not choose leaves the equation.
static void
put_choices(Constants *c, uint32_t e)
{
    Dae *dae = c->dae;
    U32Vec with = {0}, used = {0};
    bool some = false;
    Expr shape = dae_resolve(dae, e, &c->vars);
    for (uint32_t k = 0; k < c->vars.n; k++) {
        bool own = expr_op(dae->exprs, expr_arg(dae->exprs, shape, 0)) == OP_SLOT && expr_slot_of(dae->exprs, expr_arg(dae->exprs, shape, 0)) == k; // it gives it
        uint32_t known = !own && is_discrete(dae, c->vars.at[k]) ? c->value.at[c->vars.at[k]] : 0;
        vec_push(&with, known ? known - 1 : 0);
        some |= known != 0;
    }
    Expr chosen = some ? expr_substitute(dae->exprs, shape, with.at, with.n) : 0;
    if (some && expr_op(dae->exprs, chosen) == OP_EQN) {
        expr_used_slots(dae->exprs, &chosen, 1, &used);
        if (used.n)
            put_shape(dae, e, chosen, &c->vars);
    }
    vec_free(&with);
    vec_free(&used);
}

static bool
put_constants(Constants *c, uint32_t e)
{
    Dae *dae = c->dae;
    bool some, fewer = false;
    Expr right = right_side(c, e, &some);
    if (!right || !some)
        return false;
    U32Vec vars = {0};
    Expr shape = dae_resolve(dae, e, &vars), before = expr_arg(dae->exprs, shape, 1);
    for (uint32_t k = 0; k < vars.n && !fewer; k++)
        fewer = c->waits.at[vars.at[k]] && expr_uses_slot(dae->exprs, before, k) && !expr_uses_slot(dae->exprs, right, k);
    if (fewer) {
        Expr left = expr_arg(dae->exprs, shape, 0);
        put_shape(dae, e, expr_2(dae->exprs, OP_EQN, left, right), &vars);
    }
    vec_free(&vars);
    return fewer;
}

bool
pass_constants(Dae *dae, Diags *diags)
{
    Constants c = {.dae = dae};
    (void)diags; // nothing is refused
    find_defined(&c);
    if (c.defined.n) {
        vec_grow(&c.value, dae->nvars);
        find_readers(&c);
        find_open(&c);
        find_numbers(&c);
        find_constants(&c);
    }
    for (uint32_t i = 0; i < c.defined.n; i++)
        if (c.open.at[i])
            put_constants(&c, c.defined.at[i]);
    for (uint32_t e = 0; e < dae->equations.n && c.defined.n; e++) {
        const Equation *at = &dae->equations.at[e];
        if ((at->kind == EQN_NORMAL || at->kind == EQN_INITIAL) && expr_has_op(dae->exprs, at->shape, OP_IF))
            put_choices(&c, e);
    }
    vec_free(&c.defined);
    vec_free(&c.class);
    vec_free(&c.value);
    vec_free(&c.open);
    vec_free(&c.waits);
    vec_free(&c.reader_start);
    vec_free(&c.reader);
    vec_free(&c.todo);
    vec_free(&c.vars);
    return true;
}
