// solve.c: solve: from a sorted problem to assignments and loops.
//
// Purpose: every block of the block lower triangular form becomes explicit assignments or a torn loop.
// Method: a block of one equation is solved symbolically for its unknown when the solution is single valued
// and what is divided by consists of parameters (a divisor that moves could pass through zero); otherwise,
// and for larger blocks, tearing (tear.c). Solutions are memoized per (shape, slot).
// Contract: requires a perfect matching and sorted blocks; provides a Causal form. Complexity: linear in
// the rows.
//
//     m*der(v) = f - c*v   matched with der(v)    =>   der(v) = (f - c*v)/m
#include <string.h>

#include "ir/structure/causal.h"

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/nonsmooth.h"
#include "ir/solve/solutions.h"
#include "ir/solve/solve.h"

void
causal_free(Causal *causal)
{
    vec_free(&causal->items);
    vec_free(&causal->assigns);
    vec_free(&causal->singles);
    vec_free(&causal->loops);
    vec_free(&causal->tears);
    vec_free(&causal->residuals);
}

bool
causal_divides(Dae *dae, Expr divisor, const Var *vars)
{
    return dae_is_parametric(dae, divisor, vars) && !dae_known_cancelled(dae, divisor, vars);
}

Assign
causal_assign(Dae *dae, Var var, Expr e, const Var *vars, uint32_t equation)
{
    Assign assign = {.var = var, .equation = equation};
    dae_bind_shape(dae, e, vars, &assign.shape, &assign.row);
    return assign;
}

Expr
causal_solve(Dae *dae, Expr shape, const Var *vars, uint32_t k)
{
    Expr divisor = 0;
    Expr solved = expr_solve(dae->exprs, shape, k, &divisor);
    if (solved && (!divisor || causal_divides(dae, divisor, vars)))
        return solved;
    if (!expr_has_op(dae->exprs, shape, OP_LUZ))
        return 0;
    DaeRow row = {dae, vars};
    solved = nonsmooth_solve(dae->exprs, shape, k, &(Signs){dae_slot_is_nonneg, NULL, &row, NULL});
    // A set-valued solution says only where the unknown may lie.
    bool single = solved && !expr_has_op(dae->exprs, solved, OP_TAR) && !expr_has_op(dae->exprs, solved, OP_SGN);
    return single ? solved : 0;
}

static uint32_t
slot_of(const U32Vec *vars, Var var)
{
    for (uint32_t k = 0; k < vars->n; k++)
        if (vars->at[k] == var)
            return k;
    return NONE;
}

// Per equation of the model the assignment that was solved from it alone + 1, or 0.
static void
find_solved(const Dae *dae, const Causal *solved, U32Vec *assign_of)
{
    if (!solved)
        return;
    vec_grow(assign_of, dae->equations.n);
    for (uint32_t i = 0; i < solved->singles.n; i++)
        assign_of->at[solved->assigns.at[solved->singles.at[i]].equation] = solved->singles.at[i] + 1;
}

static void
add_assign(Causal *causal, Assign assign)
{
    CausalItem item = {false, causal->assigns.n};
    vec_push(&causal->singles, causal->assigns.n);
    vec_push(&causal->assigns, assign);
    vec_push(&causal->items, item);
}

// der(U) = der(m)*u + m*der(u), differentiated because a temperature is to be a state: what is stored in moves by a flow over a capacity, which
// may be as small as one likes and is not zero, or nothing would say what the state does. As an unknown of the integrator der(u) would be
// held to a tolerance that says nothing of it, as it is neither a state nor the derivative of one.
static Expr
solve_wished(Dae *dae, uint32_t equation, Expr shape, uint32_t k, Var unknown)
{
    Expr divisor = 0;
    if (!dae->equations.at[equation].wished || dae->var_der_of.at[unknown] == NONE)
        return 0;
    Expr solved = expr_solve(dae->exprs, shape, k, &divisor);
    return solved && divisor && expr_op(dae->exprs, divisor) == OP_SLOT ? solved : 0;
}

static bool
solve_single(Dae *dae, Solutions *solutions, Causal *causal, uint32_t equation, Var unknown, U32Vec *vars)
{
    if (dae->equations.at[equation].kind == EQN_LAW)
        return false;
    Expr shape = dae_resolve(dae, equation, vars);
    uint32_t k = slot_of(vars, unknown);
    Assign assign;
    if (k == NONE)
        return false;
    if (!solutions_assign(solutions, shape, vars->at, k, equation, &assign)) {
        Expr solved = solve_wished(dae, equation, shape, k, unknown);
        if (!solved)
            return false;
        assign = causal_assign(dae, unknown, solved, vars->at, equation);
    }
    add_assign(causal, assign);
    return true;
}

void
causal_make(Dae *dae, const Reduction *reduction, const Problem *problem, const Causal *solved, Causal *causal)
{
    U32Vec vars = {0}, equations = {0}, unknowns = {0}, assign_of = {0};
    find_solved(dae, solved, &assign_of);
    Solutions *solutions = solutions_create(dae);
    Tearing *tearing = tearing_create(dae, reduction, problem, solutions);
    uint32_t blocks = problem->block_start.n ? problem->block_start.n - 1 : 0;
    vec_reserve(&dae->rows, dae->rows.n + (solved ? 0 : problem->incidence.column.n));
    vec_reserve(&causal->items, blocks);
    vec_reserve(&causal->assigns, blocks);
    vec_reserve(&causal->singles, blocks);
    for (uint32_t b = 0; b < blocks; b++) {
        uint32_t first = problem->block_start.at[b], end = problem->block_start.at[b + 1];
        uint32_t position = problem->sorted.at[first], equation = problem->equations.at[position];
        uint32_t known = end - first == 1 && equation < assign_of.n ? assign_of.at[equation] : 0;
        if (known && solved->assigns.at[known - 1].var == problem->var_of.at[position]) {
            add_assign(causal, solved->assigns.at[known - 1]);
            continue;
        }
        if (end - first == 1
            && solve_single(dae, solutions, causal, equation, problem->var_of.at[position], &vars))
            continue;
        vec_clear(&equations);
        vec_clear(&unknowns);
        for (uint32_t i = first; i < end; i++) {
            vec_push(&equations, problem->equations.at[problem->sorted.at[i]]);
            vec_push(&unknowns, problem->var_of.at[problem->sorted.at[i]]);
        }
        tearing_block(tearing, causal, equations.at, unknowns.at, equations.n);
    }
    tearing_free(&tearing);
    solutions_free(&solutions);
    vec_free(&vars);
    vec_free(&equations);
    vec_free(&unknowns);
    vec_free(&assign_of);
}

static void
print_assign(Dae *dae, const Assign *assign, const char *indent, Out *out)
{
    Out name = {0}, value = {0};
    dae_told_inside(dae, assign->var, &name);
    dae_print_shape(dae, assign->shape, assign->row, assign->var, &value);
    out_text(out, indent);
    if (strcmp(name.text, value.text)) { // else it is told as what it is
        dae_told_name(dae, assign->var, out);
        out_text(out, " = ");
    }
    out_text(out, value.text);
    out_char(out, '\n');
    out_free(&name);
    out_free(&value);
}

void
causal_print(Dae *dae, const Causal *causal, Out *out)
{
    for (uint32_t i = 0; i < causal->items.n; i++) {
        CausalItem item = causal->items.at[i];
        if (!item.is_loop) {
            print_assign(dae, &causal->assigns.at[item.index], "", out);
            continue;
        }
        const Loop *loop = &causal->loops.at[item.index];
        out_printf(out, "%s loop over", loop->linear ? "linear" : "nonlinear");
        for (uint32_t k = 0; k < loop->n; k++) {
            out_text(out, k ? ", " : " ");
            dae_told_name(dae, causal->tears.at[loop->tear + k], out);
        }
        out_char(out, '\n');
        for (uint32_t k = 0; k < loop->n_inner; k++)
            print_assign(dae, &causal->assigns.at[loop->inner + k], "    ", out);
        for (uint32_t k = 0; k < loop->n; k++) {
            const Residual *residual = &causal->residuals.at[loop->residual + k];
            out_text(out, "    0 = ");
            dae_print_shape(dae, residual->shape, residual->row, NONE, out);
            out_char(out, '\n');
        }
    }
}
