// clocked_equations.c: equations with a clock become equations of discrete variables.
//
// Purpose: at each tick of its clock the equations of a partition determine its variables, which keep their values in between
// (Modelica 3.6, sections 16.4 and 16.8).
// Method: values are held, so hold(x), noClock(x) and conversions are x; sample(u) is pre(u), previous(x) pre(x). Equations and variables of
// all partitions are matched and sorted; an equation that can be solved for its variable becomes the first line. Real variables that
// determine each other at a tick stay unknowns of continuous equations, which hold them in between (the second, where $held is x at the last tick).
// Contract: clock_inner.h. Afterwards no expression of the model has an operator of clocks. Complexity: linear but for the matching.
//
//     x = if $ticks and not pre($ticks) then e else pre(x)
//     0 = if $ticks and not pre($ticks) then left - right else x - pre($held),   $held = if $ticks and not pre($ticks) then x else pre($held)
#include <string.h>

#include "ir/clocks/clock_inner.h"
#include "ir/dae/model_shapes.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/structure/problem.h"

typedef struct Rewriting {
    Clocks *clocks;
    U32Vec vars;           // of the expression at hand
    uint32_t partition;    // its own; NONE: it has no clock
    bool past;             // previous() is replaced, too
    VEC(U32Vec) equations; // of each partition
    Problem problem;
    U32Vec partition_at;   // of each equation of the problem
} Rewriting;

static bool
stands_still(const Dae *dae, Var var)
{
    VarKind kind = dae_kind(dae, var);
    return kind == VAR_PARAMETER || kind == VAR_CONSTANT || kind == VAR_INPUT || dae->var_pre_of.at[var] != NONE;
}

// --- operators of clocks

// What e was just before the event.
static Expr
before_event(Rewriting *at, Expr e)
{
    Dae *dae = at->clocks->dae;
    uint32_t n = expr_nslots(dae->exprs, e);
    Expr *with = arena_array(dae->arena, Expr, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        if (!expr_uses_slot(dae->exprs, e, k) || stands_still(dae, at->vars.at[k]))
            continue;
        uint32_t held = at->vars.at[k];
        map_get(&at->clocks->held, at->vars.at[k], &held);
        with[k] = clocks_before(at->clocks, held, &at->vars);
    }
    return expr_substitute(dae->exprs, e, with, n);
}

static Expr
replace(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Rewriting *at = context;
    switch (expr_op(exprs, part)) {
    case OP_SAMPLED:
        return before_event(at, args[0]);
    case OP_PREVIOUS:
        return at->past ? before_event(at, args[0]) : 0;
    case OP_HOLD: case OP_NOCLOCK: case OP_CLOCKED: case OP_SUBSAMPLE: case OP_SUPERSAMPLE: case OP_SHIFTSAMPLE: case OP_BACKSAMPLE:
        return args[0];
    case OP_INTERVAL:
        return at->partition == NONE ? 0 : clocks_interval(at->clocks, at->partition, &at->vars);
    case OP_FIRSTTICK:
        return at->partition == NONE ? 0 : clocks_first(at->clocks, at->partition, &at->vars);
    case OP_STAYED:
        return at->partition == NONE ? 0 : clocks_lasted(at->clocks, &at->clocks->partitions.at[at->partition], args[0], args[1], &at->vars);
    default:
        return 0;
    }
}

static void
open_row(Rewriting *at, const Var *row, uint32_t n)
{
    vec_clear(&at->vars);
    vec_append(&at->vars, row, n);
}

static void
rewrite(Rewriting *at, uint32_t equation, bool past)
{
    Dae *dae = at->clocks->dae;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    open_row(at, row, n);
    at->past = past;
    Expr e = expr_rewrite(dae->exprs, dae->equations.at[equation].shape, replace, at);
    Equation *out = &dae->equations.at[equation];
    dae_bind_shape(dae, e, at->vars.at, &out->shape, &out->row);
}

// --- which equations are whose

static bool
collect(Rewriting *at)
{
    Clocks *clocks = at->clocks;
    Dae *dae = clocks->dae;
    vec_grow(&at->equations, clocks->partitions.n);
    for (uint32_t i = 0, n = dae->equations.n; i < n; i++) {
        Equation *equation = &dae->equations.at[i];
        uint32_t element = clocks_equation_element(clocks, i);
        uint32_t partition = i < clocks->equations && equation->kind != EQN_REMOVED && equation->kind != EQN_INITIAL ? clocks_partition(clocks, element) : NONE;
        if (partition == NONE)
            continue;
        if (clocks_is_about_clocks(dae, i))
            equation->kind = EQN_REMOVED;
        else
            vec_push(&at->equations.at[partition], i);
    }
    for (uint32_t i = 0; i < dae->groups.n; i++)
        for (uint32_t k = 0; dae->groups.at[i].decl->type == TYPE_CLOCK && k < dae->groups.at[i].decl->count; k++)
            dae->var_flags.at[dae->groups.at[i].first + k] |= VARF_REMOVED;
    for (uint32_t p = 0; p < clocks->partitions.n; p++)
        if (!clocks_discretise(clocks, p, &at->equations.at[p]))
            return false;
    return true;
}

static uint32_t
partition_of_var(const Rewriting *at, Var var)
{
    Clocks *clocks = at->clocks;
    uint32_t partition = NONE;
    if (var >= clocks->continuous)
        return map_get(&clocks->added, var, &partition) ? partition : NONE;
    if (stands_still(clocks->dae, var) || clocks->dae->var_der_of.at[var] != NONE)
        return NONE;
    return clocks_partition(clocks, var);
}

// --- what determines what

static void
add_column(Rewriting *at, uint32_t first, Var var)
{
    for (uint32_t k = first; k < at->problem.incidence.column.n; k++)
        if (at->problem.incidence.column.at[k] == var)
            return;
    vec_push(&at->problem.incidence.column, var);
}

// Columns that the equation can determine come first: what stands alone on a side, or with `any` every Real of the partition.
static void
add_row(Rewriting *at, uint32_t position, bool any)
{
    Dae *dae = at->clocks->dae;
    Incidence *incidence = &at->problem.incidence;
    uint32_t equation = at->problem.equations.at[position], partition = at->partition_at.at[position], first = incidence->column.n;
    const Equation *this = &dae->equations.at[equation];
    U32Vec used = {0};
    Expr now = clocks_without_past(dae, this->shape);
    expr_used_slots(dae->exprs, &now, 1, &used);
    vec_push(&incidence->start, first);
    for (uint32_t side = 0; side < 2 && expr_op(dae->exprs, this->shape) == OP_EQN; side++) {
        Var var = clocks_alone(dae, equation, side);
        if (var != NONE && partition_of_var(at, var) == partition)
            add_column(at, first, var);
    }
    for (uint32_t k = 0; k < used.n && any; k++) {
        Var var = dae->rows.at[this->row + used.at[k]];
        if (partition_of_var(at, var) == partition && dae_type(dae, var) == TYPE_REAL)
            add_column(at, first, var);
    }
    vec_push(&incidence->match_end, incidence->column.n);
    for (uint32_t k = 0; k < used.n; k++)
        if (at->problem.unknown.at[dae->rows.at[this->row + used.at[k]]])
            add_column(at, first, dae->rows.at[this->row + used.at[k]]);
    vec_free(&used);
}

static uint32_t
match(Rewriting *at, bool any)
{
    Incidence *incidence = &at->problem.incidence;
    vec_clear(&incidence->start);
    vec_clear(&incidence->column);
    vec_clear(&incidence->match_end);
    for (uint32_t i = 0; i < at->problem.equations.n; i++)
        add_row(at, i, any);
    vec_push(&incidence->start, incidence->column.n);
    return problem_match(&at->problem, at->clocks->dae->nvars, NULL);
}

static bool
report_unmatched(Rewriting *at)
{
    Clocks *clocks = at->clocks;
    Dae *dae = clocks->dae;
    for (uint32_t i = 0; i < at->problem.equations.n; i++)
        if (at->problem.var_of.at[i] == NONE) {
            diag_add(clocks->diags, E0514, dae->equations.at[at->problem.equations.at[i]].span,
                     "there are more equations with this clock than variables that they could determine");
            return false;
        }
    for (Var var = 0; var < dae->nvars; var++)
        if (at->problem.unknown.at[var] && at->problem.equation_of.at[var] == NONE) {
            diag_add(clocks->diags, E0514, dae_var_span(dae, var), "'%s' has a clock, and no equation with this clock determines it", dae_name(dae, var));
            return false;
        }
    return true;
}

static bool
determine(Rewriting *at)
{
    Clocks *clocks = at->clocks;
    Dae *dae = clocks->dae;
    for (uint32_t p = 0; p < clocks->partitions.n; p++)
        for (uint32_t i = 0; i < at->equations.at[p].n; i++) {
            at->partition = p;
            rewrite(at, at->equations.at[p].at[i], false);
            vec_push(&at->problem.equations, at->equations.at[p].at[i]);
            vec_push(&at->partition_at, p);
        }
    vec_grow(&at->problem.unknown, dae->nvars);
    for (Var var = 0; var < dae->nvars; var++)
        at->problem.unknown.at[var] = partition_of_var(at, var) != NONE && !(dae->var_flags.at[var] & VARF_REMOVED) && dae_type(dae, var) != TYPE_CLOCK;
    if ((match(at, false) || problem_unmatched(&at->problem)) && (match(at, true), !report_unmatched(at)))
        return false;
    problem_sort(&at->problem);
    return true;
}

// --- their new form

static void
set_kind(Dae *dae, Var var, VarKind kind)
{
    dae->var_kind.at[var] = (uint8_t)kind;
    if (dae->var_pre.at[var] != NONE)
        dae->var_kind.at[dae->var_pre.at[var]] = (uint8_t)kind;
    dae_forget_resolved(dae);
}

// Returns the partition of an equation, over whose row is written from now on, with the past in it.
static const Partition *
open_equation(Rewriting *at, uint32_t position)
{
    uint32_t n;
    const Var *row = dae_row(at->clocks->dae, at->problem.equations.at[position], &n);
    open_row(at, row, n);
    at->past = true;
    at->partition = at->partition_at.at[position];
    return &at->clocks->partitions.at[at->partition];
}

static void
hold_between(Rewriting *at, uint32_t position, Expr value)
{
    Clocks *clocks = at->clocks;
    Dae *dae = clocks->dae;
    uint32_t equation = at->problem.equations.at[position];
    Var var = at->problem.var_of.at[position];
    const Partition *partition = open_equation(at, position);
    Expr now = expr_rewrite(dae->exprs, value, replace, at);
    Expr kept = expr_3(dae->exprs, OP_IF, clocks_active(clocks, partition, &at->vars), now, clocks_before(clocks, var, &at->vars));
    Expr left = clocks_slot(clocks, var, &at->vars);
    Equation *out = &dae->equations.at[equation];
    dae_bind_shape(dae, expr_2(dae->exprs, OP_EQN, left, kept), at->vars.at, &out->shape, &out->row);
    out->kind = EQN_WHEN;
}

static void
hold_solution(Rewriting *at, uint32_t position)
{
    Clocks *clocks = at->clocks;
    Dae *dae = clocks->dae;
    Exprs *exprs = dae->exprs;
    uint32_t equation = at->problem.equations.at[position], held = NONE;
    Var var = at->problem.var_of.at[position];
    const Partition *partition = open_equation(at, position);
    map_get(&clocks->held, var, &held);
    Expr now = expr_rewrite(exprs, expr_residual(exprs, dae->equations.at[equation].shape), replace, at);
    Expr still = expr_sub(exprs, clocks_slot(clocks, var, &at->vars), clocks_before(clocks, held, &at->vars));
    Expr residual = expr_3(exprs, OP_IF, clocks_active(clocks, partition, &at->vars), now, still);
    Equation *out = &dae->equations.at[equation];
    dae_bind_shape(dae, expr_2(exprs, OP_EQN, residual, expr_const(exprs, 0)), at->vars.at, &out->shape, &out->row);
    out->kind = EQN_NORMAL;
    Span span = out->span;
    vec_clear(&at->vars);
    clocks_at_ticks(clocks, partition, held, clocks_slot(clocks, var, &at->vars), &at->vars, span);
}

// A discrete variable that has the value of `var` at the last tick, and its start value before.
static void
make_held(Rewriting *at, Var var)
{
    Clocks *clocks = at->clocks;
    Dae *dae = clocks->dae;
    Var held = clocks_hidden(clocks, "held", VAR_DISCRETE, TYPE_REAL);
    dae_tell_as(dae, held, arena_printf(dae->arena, "hold(%s)", dae_name(dae, var)));
    for (uint32_t i = 0, n = dae->binds.n; i < n; i++)
        if (dae->binds.at[i].attr == ATTR_START && bind_covers(&dae->binds.at[i], var)) {
            Bind own = bind_of_one(dae->binds.at[i], held);
            dae_add_bind(dae, own);
        }
    dae->var_flags.at[held] |= dae->var_flags.at[var] & VARF_FIXED;
    dae->var_flags.at[var] &= (uint8_t)~(VARF_FIXED | VARF_FIXED_SET);
    map_put(&clocks->held, var, held);
}

// A block of one solvable equation is an assignment.
static bool
is_assignment(const Rewriting *at, uint32_t block, Expr *value)
{
    const Problem *problem = &at->problem;
    uint32_t first = problem->block_start.at[block], position = problem->sorted.at[first];
    *value = problem->block_start.at[block + 1] - first == 1 ? clocks_solved(at->clocks->dae, problem->equations.at[position], problem->var_of.at[position]) : 0;
    return *value || dae_type(at->clocks->dae, problem->var_of.at[position]) != TYPE_REAL;
}

static void
give_values(Rewriting *at)
{
    const Problem *problem = &at->problem;
    Dae *dae = at->clocks->dae;
    Expr *value = arena_array(dae->arena, Expr, problem->equations.n + 1);
    for (uint32_t b = 0; b + 1 < problem->block_start.n; b++)
        for (uint32_t i = problem->block_start.at[b]; i < problem->block_start.at[b + 1]; i++) {
            uint32_t position = problem->sorted.at[i];
            Var var = problem->var_of.at[position];
            bool assigned = is_assignment(at, b, &value[position]) || dae_type(dae, var) != TYPE_REAL;
            if (assigned && !value[position]) // a loop of what is no Real, which is told where events are sorted
                value[position] = clocks_solved(dae, problem->equations.at[position], var);
            set_kind(dae, var, assigned ? VAR_DISCRETE : VAR_CONTINUOUS);
            if (!assigned)
                make_held(at, var);
        }
    for (uint32_t i = 0; i < problem->equations.n; i++) {
        if (value[i])
            hold_between(at, i, value[i]);
        else
            hold_solution(at, i);
    }
}

// Declarations say what all their scalars are.
static void
declare_kinds(Dae *dae)
{
    for (uint32_t i = 0; i < dae->groups.n; i++) {
        const Group *group = &dae->groups.at[i];
        uint32_t n = group->decl->count, k = 0;
        while (k < n && dae->var_kind.at[group->first + k] == dae->var_kind.at[group->first])
            k++;
        if (n && k == n)
            dae_set_kind(dae, i, (VarKind)dae->var_kind.at[group->first]);
    }
}

// --- what else has such operators

static bool
has_operator(const Exprs *exprs, Expr e)
{
    bool any = false;
    for (Op op = OP_CLOCK; op <= OP_FIRSTTICK; op++)
        any = any || expr_has_op(exprs, e, op);
    return any;
}

// The partition of a variable in an expression, or NONE.
static uint32_t
partition_in(const Rewriting *at, Expr e, uint32_t row)
{
    const Dae *dae = at->clocks->dae;
    uint32_t partition = NONE;
    for (uint32_t k = 0; partition == NONE && k < expr_nslots(dae->exprs, e); k++)
        if (expr_uses_slot(dae->exprs, e, k))
            partition = partition_of_var(at, dae->rows.at[row + k]);
    return partition;
}

// Assertions about clocked variables are looked at at the ticks.
static void
guard_assertions(Rewriting *at)
{
    Clocks *clocks = at->clocks;
    Dae *dae = clocks->dae;
    for (uint32_t i = 0; i < dae->asserts.n; i++) {
        Assert *assertion = &dae->asserts.at[i];
        uint32_t n = expr_nslots(dae->exprs, assertion->condition);
        at->partition = partition_in(at, assertion->condition, assertion->row);
        if (at->partition == NONE && !has_operator(dae->exprs, assertion->condition))
            continue;
        open_row(at, dae->rows.at + assertion->row, n);
        at->past = true;
        Expr e = expr_rewrite(dae->exprs, assertion->condition, replace, at);
        if (at->partition != NONE) {
            Expr idle = expr_1(dae->exprs, OP_NOT, clocks_active(clocks, &clocks->partitions.at[at->partition], &at->vars));
            e = expr_2(dae->exprs, OP_OR, idle, e);
        }
        assertion = &dae->asserts.at[i];
        dae_bind_shape(dae, e, at->vars.at, &assertion->condition, &assertion->row);
    }
    for (uint32_t i = 0; i < dae->told.n; i++) {
        Told *told = &dae->told.at[i];
        if (!has_operator(dae->exprs, told->shape))
            continue;
        open_row(at, dae->rows.at + told->row, expr_nslots(dae->exprs, told->shape));
        at->partition = partition_in(at, told->shape, told->row);
        Expr e = expr_rewrite(dae->exprs, told->shape, replace, at);
        dae_bind_shape(dae, e, at->vars.at, &dae->told.at[i].shape, &dae->told.at[i].row);
    }
}

static bool
refuse_others(const Rewriting *at)
{
    Clocks *clocks = at->clocks;
    const Dae *dae = clocks->dae;
    bool good = true;
    for (ModelShape shape = {0}; model_shape_next(dae, &shape);)
        if (shape.place != SHAPE_IN_ASSERT && shape.place != SHAPE_IN_MESSAGE && has_operator(dae->exprs, shape.shape)) {
            diag_add(clocks->diags, E0514, shape.span, "an operator of clocks cannot stand here");
            good = false;
        }
    return good;
}

static void
rewrite_others(Rewriting *at)
{
    Dae *dae = at->clocks->dae;
    for (uint32_t i = 0; i < dae->equations.n; i++) {
        const Equation *equation = &dae->equations.at[i];
        if (equation->kind == EQN_REMOVED || !has_operator(dae->exprs, equation->shape))
            continue;
        at->partition = NONE;
        rewrite(at, i, true);
    }
}

bool
clocks_rewrite(Clocks *clocks)
{
    Rewriting at = {.clocks = clocks};
    bool good = collect(&at) && determine(&at);
    if (good) {
        give_values(&at);
        rewrite_others(&at);
        guard_assertions(&at);
        declare_kinds(clocks->dae);
        good = refuse_others(&at);
    }
    for (uint32_t p = 0; p < at.equations.n; p++)
        vec_free(&at.equations.at[p]);
    vec_free(&at.equations);
    vec_free(&at.partition_at);
    vec_free(&at.vars);
    problem_free(&at.problem);
    return good;
}
