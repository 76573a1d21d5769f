// start_values.c: start values that are conditions: fixed ones, parameters that are found at the start, pre() that initial equations are about.
//
// Purpose: the equations `x = start` of the initial system. Method: fixed starts of aliases that say the same number are one; a parameter
// with fixed = false is an unknown, and so is what depends on it.
// Contract: initial_inner.h; requires alias, index, states. Complexity: linear in variables, equations and binds.
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/initial/initial_inner.h"

#include <stdio.h>

void
start_value_binds(const Dae *dae, U32Vec *start_of)
{
    for (Var var = 0; var < dae->nvars; var++)
        vec_push(start_of, NONE);
    for (uint32_t i = 0; i < dae->binds.n; i++)
        if (dae->binds.at[i].attr == ATTR_START)
            bind_each(&dae->binds.at[i], var)
                start_of->at[var] = i;
}

static uint32_t
rank_of_start(Dae *dae, const U32Vec *start_of, Var var)
{
    return dae_start_rank(dae, &dae->binds.at[start_of->at[var]], var);
}

void
start_value_holders(Dae *dae, const U32Vec *start_of, U32Vec *holder)
{
    bool negative;
    for (Var var = 0; var < dae->nvars; var++)
        vec_push(holder, var < start_of->n && start_of->at[var] != NONE ? var : NONE);
    for (Var var = 0; var < start_of->n; var++) {
        Var to = dae_alias(dae, var, &negative);
        if (start_of->at[var] != NONE && (holder->at[to] == NONE || rank_of_start(dae, start_of, var) > rank_of_start(dae, start_of, holder->at[to])))
            holder->at[to] = var;
    }
}

// For starts that may move: value + move, with a parameter whose value the runtime sets; it takes the next slot.
static Expr
add_move(Dae *dae, Var var, Expr value, U32Vec *vars)
{
    char name[32];
    snprintf(name, sizeof name, "$move%u", dae->moves.n + 1);
    Var move = dae_add_var(dae, name, 0, VAR_PARAMETER, TYPE_REAL, false);
    dae_add_bind(dae, (Bind){.var = move, .attr = ATTR_VALUE, .shape = expr_const(dae->exprs, 0)});
    vec_push(&dae->moves, ((Move){var, move}));
    vec_push(vars, move);
    return expr_2(dae->exprs, OP_ADD, value, expr_slot(dae->exprs, vars->n - 1));
}

void
start_value_add(Dae *dae, Problem *problem, Var var, const Bind *start, Span span)
{
    Exprs *exprs = dae->exprs;
    Expr value = start ? start->shape : expr_const(exprs, 0);
    uint32_t n = expr_nslots(exprs, value);
    U32Vec vars = {0}, with = {0};
    Var held = dae_start_of(dae, dae->var_pre_of.at[var] == NONE ? var : dae->var_pre_of.at[var]);
    uint32_t node = dae_node(dae, dae_group(dae, var)->inst);
    if (held == NONE && !n && !dae->assemble) { // a number
        initial_add(dae, problem, expr_2(exprs, OP_EQN, expr_slot(exprs, 0), value), &var, 1, node, span);
        return;
    }
    vec_push(&vars, var);
    if (held != NONE) {
        value = expr_slot(exprs, 0);
        n = 0;
        vec_push(&with, expr_slot(exprs, 1));
        vec_push(&vars, held);
    }
    for (uint32_t k = 0; k < n; k++) {
        vec_push(&with, expr_slot(exprs, k + 1));
        vec_push(&vars, dae->rows.at[start->row + k]);
    }
    value = expr_substitute(exprs, value, with.at, with.n);
    if (dae->assemble)
        value = add_move(dae, var, value, &vars);
    Expr shape = expr_2(exprs, OP_EQN, expr_slot(exprs, 0), value);
    initial_add(dae, problem, shape, vars.at, vars.n, node, span);
    vec_free(&vars);
    vec_free(&with);
}

// The number a start value is; no start is 0. False when it depends on parameters.
static bool
literal_start(const Dae *dae, Expr shape, double *value)
{
    *value = 0;
    if (!shape)
        return true;
    if (expr_op(dae->exprs, shape) != OP_CONST)
        return false;
    *value = expr_value(dae->exprs, shape);
    return true;
}

void
start_values_fixed(Dae *dae, Problem *problem, const U32Vec *start_of, const U8Vec *given)
{
    U32Vec first = {0}; // per representative: variable whose start was added + 1, or 0
    vec_grow(&first, dae->nvars);
    for (Var var = 0; var < start_of->n; var++) {
        uint8_t flags = dae->var_flags.at[var];
        if (!(flags & VARF_FIXED) || flags & VARF_REMOVED || dae_kind(dae, var) != VAR_CONTINUOUS)
            continue;
        bool negative, first_negative;
        Var to = dae_alias(dae, var, &negative);
        if (given->at[to])
            continue;
        const Bind *bind = start_of->at[var] == NONE ? NULL : &dae->binds.at[start_of->at[var]];
        if (first.at[to]) {
            Var earlier = first.at[to] - 1;
            dae_alias(dae, earlier, &first_negative);
            Expr other = start_of->at[earlier] == NONE ? 0 : dae->binds.at[start_of->at[earlier]].shape;
            double value, again;
            if (literal_start(dae, bind ? bind->shape : 0, &value) && literal_start(dae, other, &again)
                && (negative == first_negative ? value == again : value == -again))
                continue;
        }
        first.at[to] = var + 1;
        start_value_add(dae, problem, var, bind, bind ? bind->span : dae_var_span(dae, var));
    }
    vec_free(&first);
}

void
start_values_left(Dae *dae, Problem *problem, const U32Vec *start_of, const U32Vec *left, U32Vec *pres)
{
    U8Vec done = {0};
    U32Vec holder = {0};
    bool negative;
    vec_grow(&done, dae->nvars);
    if (left->n)
        start_value_holders(dae, start_of, &holder);
    for (uint32_t i = 0; i < left->n; i++) {
        Var var = dae_alias(dae, dae->var_pre_of.at[left->at[i]], &negative);
        if (done.at[var])
            continue;
        done.at[var] = 1;
        vec_push(pres, dae_pre(dae, var));
        Var name = holder.at[var] == NONE ? var : holder.at[var]; // its sign comes with its pre()
        const Bind *bind = holder.at[var] == NONE ? NULL : &dae->binds.at[start_of->at[name]];
        start_value_add(dae, problem, initial_pre(dae, name), bind, bind ? bind->span : dae_var_span(dae, name));
    }
    vec_free(&done);
    vec_free(&holder);
}

// --- parameters that initialisation finds

typedef struct Dependents { // of variables: the parameters whose value is given in terms of them
    U32Vec start, at;
} Dependents;

static void
collect_dependents(const Dae *dae, Dependents *dependents)
{
    vec_grow(&dependents->start, dae->nvars + 2);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < dae->binds.n; i++) {
            const Bind *bind = &dae->binds.at[i];
            if (bind->attr != ATTR_VALUE)
                continue;
            for (uint32_t k = 0; k < expr_nslots(dae->exprs, bind->shape); k++) {
                Var used = dae->rows.at[bind->row + k];
                if (pass)
                    dependents->at.at[dependents->start.at[used + 1]++] = i;
                else
                    dependents->start.at[used + 2]++;
            }
        }
        for (Var var = 0; !pass && var < dae->nvars; var++)
            dependents->start.at[var + 2] += dependents->start.at[var + 1];
        if (!pass)
            vec_grow(&dependents->at, dependents->start.at[dae->nvars + 1] + 1);
    }
}

static void
set_free(Dae *dae, Var var, U32Vec *queue)
{
    if (dae->var_flags.at[var] & VARF_FREE)
        return;
    dae->var_flags.at[var] |= VARF_FREE;
    vec_push(queue, var);
}

void
start_values_parameters(Dae *dae, Problem *problem)
{
    U32Vec queue = {0};
    Dependents dependents = {0};
    for (Var var = 0; var < dae->nvars; var++) {
        uint8_t flags = dae->var_flags.at[var];
        if (dae_kind(dae, var) == VAR_PARAMETER && flags & VARF_FIXED_SET && !(flags & VARF_FIXED))
            set_free(dae, var, &queue);
    }
    if (queue.n)
        collect_dependents(dae, &dependents);
    for (uint32_t i = 0; i < queue.n; i++)
        for (uint32_t k = dependents.start.at[queue.at[i]]; k < dependents.start.at[queue.at[i] + 1]; k++)
            set_free(dae, dae->binds.at[dependents.at.at[k]].var, &queue);
    for (uint32_t i = 0; i < dae->binds.n && queue.n; i++) {
        const Bind bind = dae->binds.at[i];
        bind_each(&bind, var)
            if (bind.attr == ATTR_VALUE && dae->var_flags.at[var] & VARF_FREE)
                start_value_add(dae, problem, var, &bind, bind.span);
    }
    vec_free(&queue);
    vec_free(&dependents.start);
    vec_free(&dependents.at);
}

// --- pre() values that initialisation finds

// Per representative the variable of its class whose start value is fixed; its own counts before those of its other names.
static void
find_fixed(const Dae *dae, U32Vec *fixed)
{
    bool negative;
    for (Var var = 0; var < dae->nvars; var++)
        vec_push(fixed, NONE);
    for (Var var = 0; var < dae->nvars; var++) {
        Var to = dae_alias(dae, var, &negative);
        if (dae->var_flags.at[var] & VARF_FIXED && dae->var_pre_of.at[var] == NONE && (fixed->at[to] == NONE || var == to))
            fixed->at[to] = var;
    }
}

void
start_values_pres(Dae *dae, Problem *problem, uint32_t equations, const U32Vec *start_of, U32Vec *pres)
{
    U8Vec kept = {0}, done = {0}; // per variable: a when-equation defines it; its pre() is in `pres`
    U32Vec fixed = {0};           // per representative: the name whose start value is fixed, or NONE
    vec_grow(&kept, dae->nvars);
    vec_grow(&done, dae->nvars);
    bool negative;
    find_fixed(dae, &fixed);
    for (uint32_t i = 0; i < equations; i++)
        if (dae->equations.at[i].kind == EQN_WHEN)
            kept.at[dae_alias(dae, dae->rows.at[dae->equations.at[i].row], &negative)] = 1;
    for (uint32_t i = 0; i < equations; i++) {
        const Equation at = dae->equations.at[i];
        uint32_t n = at.kind == EQN_INITIAL ? expr_nslots(dae->exprs, at.shape) : 0;
        for (uint32_t k = 0; k < n; k++) {
            Var named = dae->rows.at[at.row + k], of = dae->var_pre_of.at[named];
            Var var = dae_alias(dae, of == NONE ? named : of, &negative);
            VarKind kind = dae_kind(dae, var);
            if ((kind != VAR_DISCRETE && (kind != VAR_INPUT || of == NONE)) || (of == NONE && !kept.at[var]) || done.at[var])
                continue;
            done.at[var] = 1;
            vec_push(pres, dae_pre(dae, var));
            Var name = fixed.at[var]; // its sign comes with its pre()
            if (name == NONE)
                continue;
            const Bind *bind = start_of->at[name] == NONE ? NULL : &dae->binds.at[start_of->at[name]];
            start_value_add(dae, problem, initial_pre(dae, name), bind, bind ? bind->span : dae_var_span(dae, name));
        }
    }
    vec_free(&kept);
    vec_free(&done);
    vec_free(&fixed);
}
