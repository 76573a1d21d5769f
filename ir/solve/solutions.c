// solutions.c: solutions: memo of solving per shape.
//
// Purpose: a million equations have a few hundred texts; solving, forming the residual and differentiating are
// done once per (shape, slot), what depends on the instance is index arithmetic.
// Method: a result is kept in canonical form with the slots of the equation that its own slots stand for.
// Contract: solutions.h. Complexity: linear in the slots of the equations asked for.
//
//     #0*#1 = #2 for #0    ->    #0/#1 with slots (2, 1), divisor #1
#include "ir/solve/solutions.h"

#include "ir/base/map.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

typedef struct Solution {
    Expr shape;                // canonical; 0: none. Of a partial derivative: over the slots of the equation
    Expr divisor;              // over the slots of the equation, or 0
    bool bounded;              // of a partial derivative: it contains a sine or cosine
    uint32_t order, n_order;   // range of `orders`: slot k of the result is slot order[k] of the equation
} Solution;

// What is remembered of a shape and slot.
enum { KEY_SOLUTION, KEY_RESIDUAL, KEY_PARTIAL, KEYS };

struct Solutions {
    Dae *dae;
    VEC(Solution) list;
    U32Vec orders, order;
    Map of[KEYS];
};

Solutions *
solutions_create(Dae *dae)
{
    Solutions *solutions = base_calloc(1, sizeof *solutions);
    solutions->dae = dae;
    return solutions;
}

void
solutions_free(Solutions **slot)
{
    Solutions *solutions = *slot;
    vec_free(&solutions->list);
    vec_free(&solutions->orders);
    vec_free(&solutions->order);
    for (int key = 0; key < KEYS; key++)
        map_free(&solutions->of[key]);
    free(solutions);
    *slot = NULL;
}

static const Solution *
find(const Solutions *solutions, int kind, Expr shape, uint32_t k)
{
    uint32_t found;
    return map_get(&solutions->of[kind], (uint64_t)shape << 32 | k, &found) ? &solutions->list.at[found] : NULL;
}

static const Solution *
keep(Solutions *solutions, int kind, Expr shape, uint32_t k, Solution made)
{
    made.order = solutions->orders.n;
    made.n_order = solutions->order.n;
    vec_append(&solutions->orders, solutions->order.at, solutions->order.n);
    vec_push(&solutions->list, made);
    map_put(&solutions->of[kind], (uint64_t)shape << 32 | k, solutions->list.n - 1);
    return &vec_last(&solutions->list);
}

static const Solution *
solution_of(Solutions *solutions, Expr shape, uint32_t k)
{
    const Solution *known = find(solutions, KEY_SOLUTION, shape, k);
    if (known)
        return known;
    Solution made = {0};
    Expr solved = expr_solve(solutions->dae->exprs, shape, k, &made.divisor);
    vec_clear(&solutions->order);
    if (solved)
        made.shape = expr_shape(solutions->dae->exprs, solved, &solutions->order);
    return keep(solutions, KEY_SOLUTION, shape, k, made);
}

static bool
is_safe(const Solutions *solutions, const Solution *solution, const Var *vars)
{
    return solution->shape && (!solution->divisor || causal_divides(solutions->dae, solution->divisor, vars));
}

bool
solutions_has(Solutions *solutions, Expr shape, const Var *vars, uint32_t k)
{
    if (is_safe(solutions, solution_of(solutions, shape, k), vars))
        return true;
    return expr_has_op(solutions->dae->exprs, shape, OP_LUZ) && causal_solve(solutions->dae, shape, vars, k);
}

static uint32_t
bind(Solutions *solutions, const Solution *solution, const Var *vars)
{
    U32Vec *rows = &solutions->dae->rows;
    uint32_t row = rows->n;
    for (uint32_t i = 0; i < solution->n_order; i++)
        vec_push(rows, vars[solutions->orders.at[solution->order + i]]);
    return row;
}

bool
solutions_assign(Solutions *solutions, Expr shape, const Var *vars, uint32_t k, uint32_t equation, Assign *assign)
{
    const Solution *solution = solution_of(solutions, shape, k);
    if (is_safe(solutions, solution, vars)) {
        *assign = (Assign){.var = vars[k], .shape = solution->shape, .equation = equation};
        assign->row = bind(solutions, solution, vars);
        if (solution->divisor && solutions->dae->settable)
            causal_guard(solutions->dae, solution->divisor, vars, equation);
        return true;
    }
    Expr solved = expr_has_op(solutions->dae->exprs, shape, OP_LUZ) ? causal_solve(solutions->dae, shape, vars, k) : 0;
    if (solved)
        *assign = causal_assign(solutions->dae, vars[k], solved, vars, equation);
    return solved != 0;
}

Residual
solutions_residual(Solutions *solutions, Expr shape, const Var *vars, uint32_t equation)
{
    Exprs *exprs = solutions->dae->exprs;
    const Solution *known = find(solutions, KEY_RESIDUAL, shape, 0);
    if (!known) {
        Solution made = {.shape = expr_shape(exprs, expr_residual(exprs, shape), &solutions->order)};
        known = keep(solutions, KEY_RESIDUAL, shape, 0, made);
    }
    Residual residual = {.shape = known->shape, .equation = equation};
    residual.row = bind(solutions, known, vars);
    return residual;
}

static const Solution *
partial_of(Solutions *solutions, Expr shape, uint32_t k)
{
    Exprs *exprs = solutions->dae->exprs;
    const Solution *known = find(solutions, KEY_PARTIAL, shape, k);
    if (known)
        return known;
    Expr partial = expr_diff(exprs, expr_residual(exprs, shape), k);
    vec_clear(&solutions->order);
    for (uint32_t j = 0; partial && j < expr_nslots(exprs, partial); j++)
        if (expr_uses_slot(exprs, partial, j))
            vec_push(&solutions->order, j);
    bool bounded = partial && (expr_has_op(exprs, partial, OP_SIN) || expr_has_op(exprs, partial, OP_COS));
    return keep(solutions, KEY_PARTIAL, shape, k, (Solution){.shape = partial, .bounded = bounded});
}

Expr
solutions_partial(Solutions *solutions, Expr shape, uint32_t k)
{
    return partial_of(solutions, shape, k)->shape;
}

const uint32_t *
solutions_partial_slots(Solutions *solutions, Expr shape, uint32_t k, uint32_t *n)
{
    const Solution *partial = partial_of(solutions, shape, k);
    *n = partial->n_order;
    return solutions->orders.at + partial->order;
}

bool
solutions_is_bounded(Solutions *solutions, Expr shape, uint32_t k)
{
    return partial_of(solutions, shape, k)->bounded;
}
