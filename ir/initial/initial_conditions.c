// initial_conditions.c: what holds at the start besides start values: equations, initial equations, when-equations, laws, memories.
//
// Purpose: the equations of the initial system that the model gives. Method: initial equations that say the same once more count once.
// When-equations keep their variable at pre(), unless initial() makes them active (section 8.6 of Modelica 3.6); a set-valued law takes
// its single-valued selection p = a*sign(x), which is 0 at rest; what is remembered is as it is at the start.
// Contract: initial_inner.h; requires alias, index, states. Complexity: linear in equations, laws and memories.
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/initial/initial_inner.h"
#include "ir/dae/initial_whens.h"
#include "runtime/model/model.h"

#include <string.h>

void
initial_add(Dae *dae, Problem *problem, Expr shape, const Var *vars, uint32_t n, uint32_t node, Span span)
{
    vec_push(&problem->equations, dae_generate(dae, EQN_INITIAL, shape, dae_add_row(dae, vars, n), node, span));
}

Var
initial_pre(Dae *dae, Var var)
{
    bool negative;
    Var at = dae_alias(dae, var, &negative), to = dae_pre(dae, at);
    if (!negative)
        return to;
    // One that nobody asked for before the aliases were found becomes an alias now.
    Var pre = dae_pre(dae, var);
    dae_set_alias(dae, pre, to, true);
    return pre;
}

// --- when-equations

// d = e, where a condition that is initial() makes e count: its edge rises now, and that of no other condition.
static bool
add_initial_when(Dae *dae, Problem *problem, const Equation *at, const U8Vec *initial)
{
    Exprs *exprs = dae->exprs;
    uint32_t n = expr_nslots(exprs, at->shape), place;
    bool active;
    Expr value = initial_whens_value(dae, initial, at->shape, dae->rows.at + at->row, &active), shape;
    if (!active)
        return false;
    Var *vars = arena_array(dae->arena, Var, n + 1); // rows may move while they grow
    memcpy(vars, dae->rows.at + at->row, n * sizeof *vars);
    dae_bind_shape(dae, value, vars, &shape, &place);
    vec_push(&problem->equations, dae_generate(dae, EQN_INITIAL, shape, place, at->node, at->span));
    return true;
}

// d = pre(d)
static void
add_when(Dae *dae, Problem *problem, uint32_t when, const U8Vec *initial)
{
    Equation at = dae->equations.at[when];
    Var defined = dae->rows.at[at.row];
    if (initial->n && add_initial_when(dae, problem, &at, initial))
        return;
    Var vars[2] = {defined, initial_pre(dae, defined)};
    Expr shape = expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, 0), expr_slot(dae->exprs, 1));
    initial_add(dae, problem, shape, vars, 2, at.node, at.span);
}

// p_i = a*x_i/|x|, as far as x is not zero.
static void
add_disk_law(Dae *dae, Problem *problem, const Law *law)
{
    Exprs *exprs = dae->exprs;
    const Law *first = law - (law->disk - 1), *end = dae->laws.at + dae->laws.n;
    Var vars[8] = {law->p, law->a, law->x};
    Expr squares[4] = {expr_const(exprs, MDL_NEAR * MDL_NEAR)};
    uint32_t n = 0;
    for (const Law *at = first; at < end && at->disk == n + 1; at++, n++) {
        vars[3 + n] = at->x;
        squares[n + 1] = expr_2(exprs, OP_POW, expr_slot(exprs, 3 + n), expr_const(exprs, 2));
    }
    Expr size = expr_1(exprs, OP_SQRT, expr_make(exprs, OP_ADD, squares, n + 1));
    Expr along = expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, expr_slot(exprs, 1), expr_slot(exprs, 2)), size);
    initial_add(dae, problem, expr_2(exprs, OP_EQN, expr_slot(exprs, 0), along), vars, 3 + n,
                dae->equations.at[law->equation].node, law->span);
}

// p = a*sign(x); of a play x = 0; of a unilateral constraint p = 0
static void
add_law(Dae *dae, Problem *problem, const Law *law)
{
    Exprs *exprs = dae->exprs;
    if (law->play) { // its force comes from where it is
        Expr still = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), expr_const(exprs, 0));
        initial_add(dae, problem, still, &law->x, 1, dae->equations.at[law->equation].node, law->span);
        return;
    }
    if (law->disk) {
        add_disk_law(dae, problem, law);
        return;
    }
    if (law->unilateral && law->level == 0) { // as it is, and open: with p = 0 nothing would determine a potential between open diodes
        vec_push(&problem->equations, law->equation);
        return;
    }
    if (law->unilateral) { // open until the first event iteration decides
        Expr none = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), expr_const(exprs, 0));
        initial_add(dae, problem, none, &law->p, 1, dae->equations.at[law->equation].node, law->span);
        return;
    }
    Expr sign = expr_1(exprs, OP_SIGN, expr_slot(exprs, 2));
    Expr shape = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), expr_2(exprs, OP_MUL, expr_slot(exprs, 1), sign));
    Var vars[3] = {law->p, law->a, law->x};
    initial_add(dae, problem, shape, vars, 3, dae->equations.at[law->equation].node, law->span);
}

// A remembered value, a hidden input, is that of `is` at the start.
static void
add_remembered(Dae *dae, Problem *problem, Var value, Var is, Span span)
{
    Expr shape = expr_2(dae->exprs, OP_EQN, expr_slot(dae->exprs, 0), expr_slot(dae->exprs, 1));
    uint32_t node = dae_node(dae, dae_group(dae, value)->inst);
    initial_add(dae, problem, shape, (Var[]){value, is}, 2, node, span);
}

// Before the start everything was as it is at the start; the ends of a profile hold its first and last initial value.
static void
add_memories(Dae *dae, Problem *problem)
{
    for (uint32_t i = 0; i < dae->delays.n; i++) {
        Delay delay = dae->delays.at[i];
        if (delay.weight == NONE) // otherwise the runtime begins with the weight 1
            add_remembered(dae, problem, delay.value, delay.input, delay.span);
    }
    for (uint32_t i = 0; i < 2 * dae->transports.n; i++) {
        Transport transport = dae->transports.at[i / 2];
        Var is = transport.point[i % 2 ? 2 * transport.n - 1 : 1];
        add_remembered(dae, problem, transport.end[i % 2].leaves, is, transport.span);
        add_remembered(dae, problem, transport.end[i % 2].behind, is, transport.span);
    }
}

// --- reinit

// x = value, or under a condition x = if condition then value else pre(x). What pre() is taken of goes to `left`.
static void
add_initial_reinit(Dae *dae, Problem *problem, const Reinit *reinit, Expr condition, uint32_t equation, U32Vec *left)
{
    Exprs *exprs = dae->exprs;
    uint32_t n = expr_nslots(exprs, reinit->value), m = expr_nslots(exprs, condition);
    U32Vec vars = {0}, with = {0};
    vec_append(&vars, dae->rows.at + reinit->row, n);
    vec_append(&vars, dae->rows.at + dae->equations.at[equation].row, m);
    vec_push(&vars, reinit->var);
    for (uint32_t k = 0; k < m; k++)
        vec_push(&with, expr_slot(exprs, n + k));
    Expr value = reinit->value, x = expr_slot(exprs, n + m);
    condition = expr_substitute(exprs, condition, with.at, with.n);
    if (!expr_is_const(exprs, condition, 1)) {
        vec_push(&vars, initial_pre(dae, reinit->var));
        value = expr_3(exprs, OP_IF, condition, value, expr_slot(exprs, n + m + 1));
    }
    Expr shape;
    uint32_t row;
    dae_bind_shape(dae, expr_2(exprs, OP_EQN, x, value), vars.at, &shape, &row);
    vec_push(&problem->equations, dae_generate(dae, EQN_INITIAL, shape, row, dae->equations.at[equation].node, reinit->span));
    for (uint32_t k = 0; k < expr_nslots(exprs, shape); k++) {
        Var of = dae->var_pre_of.at[dae->rows.at[row + k]];
        if (of != NONE && dae_kind(dae, of) == VAR_CONTINUOUS)
            vec_push(left, dae->rows.at[row + k]);
    }
    vec_free(&vars);
    vec_free(&with);
}

// reinit() where initial() makes it count is the initial equation of its state (section 8.6), in the place of the start value. The last one
// of a state counts, as at events.
static void
add_reinits(Dae *dae, Problem *problem, const U8Vec *initial, InitialStates *states)
{
    bool negative;
    for (uint32_t i = dae->reinits.n; initial->n && i-- > 0;) {
        Reinit *reinit = &dae->reinits.at[i];
        uint32_t equation;
        Var state = dae_alias(dae, reinit->var, &negative);
        Expr condition = initial_whens_edge(dae, initial, reinit->when, &equation);
        reinit->at_start = !expr_is_const(dae->exprs, condition, 0);
        if (!reinit->at_start || states->given.at[state])
            continue;
        states->given.at[state] = 1;
        add_initial_reinit(dae, problem, reinit, condition, equation, &states->left);
    }
}

// --- initial equations

// The variable that stands for this one after alias elimination; itself when it is the negative of one.
static Var
standing_for(Dae *dae, Var var)
{
    Var of = dae->var_pre_of.at[var];
    bool negative;
    Var at = dae_alias(dae, of == NONE ? var : of, &negative);
    return negative ? var : of == NONE ? at : dae_pre(dae, at);
}

// Whether an initial equation has been met before, perhaps in other names for the same variables. Saying a thing twice
// contradicts nothing; two that look alike by their hash are compared.
static bool
said_before(Dae *dae, Map *said, uint32_t equation)
{
    const Equation at = dae->equations.at[equation];
    uint32_t n = expr_nslots(dae->exprs, at.shape), first;
    uint64_t key = at.shape;
    for (uint32_t k = 0; k < n; k++)
        key = hash_add(key, standing_for(dae, dae->rows.at[at.row + k]));
    if (!map_get(said, key, &first)) {
        map_put(said, key, equation);
        return false;
    }
    bool same = dae->equations.at[first].shape == at.shape;
    for (uint32_t k = 0; k < n && same; k++)
        same = standing_for(dae, dae->rows.at[dae->equations.at[first].row + k]) == standing_for(dae, dae->rows.at[at.row + k]);
    return same;
}

// The side of pre(v) = e that is e, of parameters, and v's pre(); 0: the condition is another one.
static Expr
kept_value(Dae *dae, uint32_t equation, Var *pre)
{
    const Exprs *exprs = dae->exprs;
    const Equation *at = &dae->equations.at[equation];
    for (uint32_t side = 0; side < 2 && at->kind == EQN_INITIAL && expr_op(exprs, at->shape) == OP_EQN; side++) {
        Expr left = expr_arg(exprs, at->shape, side), right = expr_arg(exprs, at->shape, 1 - side);
        if (expr_op(exprs, left) != OP_SLOT)
            continue;
        Var var = dae->rows.at[at->row + expr_slot_of(exprs, left)];
        if (dae->var_pre_of.at[var] == NONE || !dae_is_parametric(dae, right, dae->rows.at + at->row))
            continue;
        *pre = standing_for(dae, var);
        return right;
    }
    return 0;
}

// Where one of the values can be set later.
static void
assert_same(Dae *dae, uint32_t kept, Expr value, uint32_t dropped, Expr other)
{
    Exprs *exprs = dae->exprs;
    const Equation one = dae->equations.at[kept], more = dae->equations.at[dropped];
    uint32_t n = expr_nslots(exprs, one.shape), m = expr_nslots(exprs, more.shape);
    U32Vec vars = {0}, with = {0};
    vec_append(&vars, dae->rows.at + one.row, n);
    vec_append(&vars, dae->rows.at + more.row, m);
    for (uint32_t k = 0; k < m; k++)
        vec_push(&with, expr_slot(exprs, n + k));
    Expr same = expr_2(exprs, OP_EQ, value, expr_substitute(exprs, other, with.at, with.n));
    if (dae->settable && !expr_is_const(exprs, same, 1)) {
        Assert made = {.inst = dae->nodes.at[more.node].inst, .span = more.span,
                       .message = sym_of(dae->syms, "two conditions of the start give one variable different values")};
        dae_bind_shape(dae, same, vars.at, &made.condition, &made.row);
        vec_push(&dae->asserts, made);
    }
    vec_free(&vars);
    vec_free(&with);
}

void
initial_once(Dae *dae, Problem *problem)
{
    Map first_of = {0};
    uint32_t kept = 0;
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        uint32_t equation = problem->equations.at[i], first;
        Var pre, same;
        double value, before;
        Expr e = kept_value(dae, equation, &pre);
        if (e && !map_get(&first_of, pre, &first)) {
            map_put(&first_of, pre, equation);
        } else if (e) {
            Expr said = kept_value(dae, first, &same);
            if (dae_known_expr(dae, said, dae->rows.at + dae->equations.at[first].row, &before)
                && dae_known_expr(dae, e, dae->rows.at + dae->equations.at[equation].row, &value) && value == before) {
                assert_same(dae, first, said, equation, e);
                continue;
            }
        }
        problem->equations.at[kept++] = equation;
    }
    problem->equations.n = kept;
    map_free(&first_of);
}

void
initial_conditions(Dae *dae, Problem *problem, InitialStates *states)
{
    Map said = {0};
    U8Vec initial = {0};
    uint32_t n = dae->equations.n;
    initial_whens(dae, &initial);
    vec_grow(&states->given, dae->nvars);
    for (uint32_t i = 0; i < n; i++) {
        EqnKind kind = dae->equations.at[i].kind;
        if (kind == EQN_NORMAL || (kind == EQN_INITIAL && !said_before(dae, &said, i)))
            vec_push(&problem->equations, i);
        else if (kind == EQN_WHEN)
            add_when(dae, problem, i, &initial);
    }
    add_reinits(dae, problem, &initial, states);
    for (uint32_t i = 0; i < dae->laws.n; i++)
        add_law(dae, problem, &dae->laws.at[i]);
    add_memories(dae, problem);
    map_free(&said);
    vec_free(&initial);
}
