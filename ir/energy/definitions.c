// definitions.c: definitions: what depends on coordinates through explicit equations.
//
// Purpose: finds the coordinates that a variable reaches. Method: equations whose one side is a variable alone give it;
// they are gone through by an explicit stack, each once and after those that it uses; coordinates that one of them reaches
// are joined with union-find. Contract: collect.h. A definition in terms of itself reaches what the rest of it does.
// Complexity: near-linear in the rows of the definitions visited.
#include "ir/energy/collect.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

// Two coordinates, or NONE, that something depends on: one of them.
uint32_t
collect_join(Collect *c, uint32_t a, uint32_t b)
{
    if (a == NONE || b == NONE)
        return a == NONE ? b : a;
    sets_join(&c->together, a, b);
    return a;
}

Var
collect_base(const Dae *dae, Var var, uint32_t *order)
{
    for (*order = 0; dae->var_der_of.at[var] != NONE; (*order)++)
        var = dae->var_der_of.at[var];
    return var;
}

// The other side of the equation is the derivative of z of this order.
static void
define_integral(Collect *c, Var z, uint32_t equation, bool swapped, double order, Expr told_order, bool may_change)
{
    uint32_t known;
    if (z == NONE || c->dae->var_group.at[z] == NONE || map_get(&c->rate_given_by, z, &known))
        return;
    map_put(&c->rate_given_by, z, c->integrals.n);
    vec_push(&c->integrals, (Definition){.var = z, .equation = equation, .swapped = swapped, .order = order, .told_order = told_order, .may_change = may_change, .reach = NONE});
}

// A parameter in e that has not shaped the model.
bool
collect_may_change(const Dae *dae, Expr e, const Var *row)
{
    for (uint32_t k = 0; k < expr_nslots(dae->exprs, e); k++) {
        const Group *group = dae->var_group.at[row[k]] == NONE ? NULL : dae_group(dae, row[k]);
        if (expr_uses_slot(dae->exprs, e, k) && group && !(group->decl->flags & GROUP_EVALUATE))
            return true;
    }
    return false;
}

static void
define_fractional(Collect *c, uint32_t equation, Expr side, bool swapped)
{
    const Exprs *exprs = c->dae->exprs;
    Expr of = expr_arg(exprs, side, 0), order = expr_arg(exprs, side, 1);
    const Var *row = c->dae->rows.at + c->dae->equations.at[equation].row;
    double value;
    if (expr_op(exprs, of) == OP_SLOT && dae_known_expr(c->dae, order, row, &value))
        define_integral(c, row[expr_slot_of(exprs, of)], equation, swapped, value, order, collect_may_change(c->dae, order, row));
}

static void
define(Collect *c, uint32_t equation, Expr side, Expr other, bool swapped)
{
    const Dae *dae = c->dae;
    uint32_t known;
    if (expr_op(dae->exprs, side) == OP_FDER)
        define_fractional(c, equation, side, swapped);
    if (expr_op(dae->exprs, side) != OP_SLOT || expr_uses_slot(dae->exprs, other, expr_slot_of(dae->exprs, side)))
        return;
    Var var = dae->rows.at[dae->equations.at[equation].row + expr_slot_of(dae->exprs, side)];
    define_integral(c, dae->var_der_of.at[var], equation, swapped, 1, 0, false);
    if (dae->var_group.at[var] == NONE || dae_kind(dae, var) != VAR_CONTINUOUS || map_get(&c->coordinate_of, var, &known)
        || map_get(&c->given_by, var, &known))
        return;
    map_put(&c->given_by, var, c->definitions.n);
    vec_push(&c->definitions, (Definition){.var = var, .equation = equation, .swapped = swapped, .reach = NONE});
    vec_push(&c->state, 0);
}

void
collect_definitions(Collect *c)
{
    const Dae *dae = c->dae;
    for (int swapped = 0; swapped < 2; swapped++)
        for (uint32_t i = 0; i < dae->equations.n; i++) {
            const Equation *at = &dae->equations.at[i];
            if (at->kind == EQN_NORMAL && expr_op(dae->exprs, at->shape) == OP_EQN)
                define(c, i, expr_arg(dae->exprs, at->shape, swapped != 0), expr_arg(dae->exprs, at->shape, swapped == 0),
                       swapped != 0);
        }
}

// Looks at a variable that something on top of the stack uses: joins a coordinate, pushes a definition.
static uint32_t
reach_of(Collect *c, Var var, U32Vec *stack)
{
    uint32_t order, found;
    Var base = collect_base(c->dae, var, &order);
    if (map_get(&c->coordinate_of, base, &found))
        return found;
    if (!map_get(&c->given_by, base, &found))
        return NONE;
    if (c->state.at[found] == 0 && stack)
        vec_push(stack, found);
    return c->state.at[found] == 2 ? c->definitions.at[found].reach : NONE;
}

bool
collect_is_loose(Collect *c, Var var)
{
    uint32_t order, found;
    Var base = collect_base(c->dae, var, &order);
    if (dae_kind(c->dae, base) != VAR_CONTINUOUS || map_get(&c->coordinate_of, base, &found)
        || map_get(&c->given_by, base, &found) || (base < c->connected.n && c->connected.at[base]))
        return false;
    return order || !map_get(&c->rate_given_by, base, &found);
}

// A variable of the definition is given by no explicit equation, or in terms of what is being defined.
static void
check_part(Collect *c, const Definition *at, Var var)
{
    uint32_t order, found;
    Var base = collect_base(c->dae, var, &order);
    bool circular = map_get(&c->given_by, base, &found) && c->state.at[found] == 1;
    if (!c->good || (!circular && !collect_is_loose(c, var)))
        return;
    const Equation *equation = &c->dae->equations.at[at->equation];
    const char *name = dae_name(c->dae, base);
    Diag *diag = diag_add(c->diags, E0803, equation->span, circular
                          ? "an energy depends on '%s', which is given in terms of itself, through '%s'"
                          : "an energy depends on '%s', which depends on '%s', and that no explicit equation gives",
                          dae_name(c->dae, at->var), name);
    diag_help(diag, "energies are differentiated by coordinates: all that they depend on must be coordinates, states, or given by "
                    "equations 'v = ...'");
    c->good = false;
}

// A variable that is a number is written out too, whatever system it stands in.
static void
note_number(Collect *c, const Definition *definition)
{
    Expr equation = c->dae->equations.at[definition->equation].shape;
    Expr side = expr_arg(c->dae->exprs, equation, definition->swapped ? 0 : 1);
    if (expr_op(c->dae->exprs, side) == OP_CONST)
        map_put(&c->local, definition->var, side);
}

static void
finish_definition(Collect *c, uint32_t d)
{
    uint32_t n, reach = NONE;
    const Var *row = dae_row(c->dae, c->definitions.at[d].equation, &n);
    for (uint32_t k = 0; k < n; k++) {
        if (row[k] == c->definitions.at[d].var)
            continue;
        check_part(c, &c->definitions.at[d], row[k]);
        reach = collect_join(c, reach, reach_of(c, row[k], NULL));
    }
    c->definitions.at[d].reach = reach;
    note_number(c, &c->definitions.at[d]);
    c->state.at[d] = 2;
    if (reach != NONE)
        vec_push(&c->order, d);
}

static void
visit(Collect *c, uint32_t first)
{
    U32Vec stack = {0};
    vec_push(&stack, first);
    while (stack.n) {
        uint32_t d = vec_last(&stack), n;
        if (c->state.at[d]) { // its parts are done, or it was on the stack twice, or it uses itself
            vec_drop(&stack);
            if (c->state.at[d] == 1)
                finish_definition(c, d);
            continue;
        }
        c->state.at[d] = 1;
        const Var *row = dae_row(c->dae, c->definitions.at[d].equation, &n);
        for (uint32_t k = 0; k < n; k++)
            reach_of(c, row[k], &stack);
    }
    vec_free(&stack);
}

uint32_t
collect_integral(Collect *c, Definition *integral)
{
    uint32_t n;
    const Var *row = dae_row(c->dae, integral->equation, &n);
    for (uint32_t k = 0; k < n; k++) {
        if (c->dae->var_der_of.at[row[k]] == integral->var || row[k] == integral->var)
            continue;
        collect_visit(c, row[k]);
        check_part(c, integral, row[k]);
        integral->reach = collect_join(c, integral->reach, reach_of(c, row[k], NULL));
    }
    return integral->reach;
}

uint32_t
collect_reach(Collect *c, Var var)
{
    return reach_of(c, var, NULL);
}

// The right side of the equation of an integral has a coordinate in it, and not the integral.
static bool
is_pure_integral(const Collect *c, const Definition *integral)
{
    uint32_t n, found, order;
    const Var *row = dae_row(c->dae, integral->equation, &n);
    bool reaches = false;
    Expr equation = c->dae->equations.at[integral->equation].shape;
    Expr side = expr_arg(c->dae->exprs, equation, integral->swapped ? 0 : 1);
    for (uint32_t k = 0; k < n; k++) {
        if (!expr_uses_slot(c->dae->exprs, side, k))
            continue;
        Var base = collect_base(c->dae, row[k], &order);
        if (base == integral->var)
            return false;
        reaches |= map_get(&c->coordinate_of, base, &found)
                   || (map_get(&c->given_by, base, &found) && c->definitions.at[found].reach != NONE);
    }
    return reaches;
}

Role
collect_role(const Collect *c, Var var)
{
    uint32_t found;
    if (dae_kind(c->dae, var) != VAR_CONTINUOUS)
        return ROLE_OUTSIDE;
    if (c->dae->var_der_of.at[var] != NONE)
        return ROLE_RATE;
    if (map_get(&c->coordinate_of, var, &found))
        return ROLE_DISPLACEMENT;
    if (map_get(&c->given_by, var, &found))
        return c->definitions.at[found].reach != NONE ? ROLE_DISPLACEMENT : ROLE_OUTSIDE;
    return map_get(&c->rate_given_by, var, &found) && is_pure_integral(c, &c->integrals.at[found]) ? ROLE_INTEGRAL : ROLE_OUTSIDE;
}

void
collect_visit(Collect *c, Var var)
{
    uint32_t order, found;
    if (map_get(&c->given_by, collect_base(c->dae, var, &order), &found))
        visit(c, found);
}
