// routine_difference.c: derivatives of external functions.
//
// Purpose: Newton's method needs the derivative of a function whose statements are not known, and which declares none.
// Method: a central difference in the direction of the derivatives of the inputs, (f(x + h d) - f(x - h d))/(2 h), with h d about the
// third root of the precision of the inputs (Nocedal and Wright, Numerical Optimization, 2nd ed., section 8.1). Values that are no
// Reals, such as external objects, have the derivative 0 and stay as they are: no object is made for it.
// Contract: routine.h. The function counts as one whose derivative is not that of its statements, so that equations with it are not
// differentiated. Complexity: two calls for each derivative of a result.
#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/routine.h"

// Steps that find the largest magnitude of n cells from `first` on, and at least `least`; the cell that holds it.
static Expr
largest(Exprs *exprs, Routine *to, uint32_t block, uint32_t first, uint32_t n, double least)
{
    uint32_t cell = routine_cells(to, 1);
    Expr all = expr_slot(exprs, cell);
    routine_step(to, block, (Step){expr_const(exprs, least), cell, 0, 1});
    for (uint32_t i = 0; i < n; i++)
        routine_step(to, block, (Step){expr_2(exprs, OP_MAX, all, expr_1(exprs, OP_ABS, expr_slot(exprs, first + i))), cell, 0, 1});
    return all;
}

// A call at the inputs moved by `step` in the direction of their derivatives.
static Expr
call_moved(Exprs *exprs, const Routine *of, Expr step)
{
    U32Vec inputs = {0};
    for (uint32_t i = 0; i < of->inputs; i++) {
        Expr x = expr_slot(exprs, i), d = expr_slot(exprs, of->inputs + i);
        vec_push(&inputs, of->real.at[i] ? expr_2(exprs, OP_ADD, x, expr_2(exprs, OP_MUL, step, d)) : x);
    }
    Expr call = routine_call(exprs, of->number, inputs.at, inputs.n);
    vec_free(&inputs);
    return call;
}

uint32_t
routine_difference(Exprs *exprs, Routine *of)
{
    const double width = 6e-6; // about the third root of the precision
    Routine *to = routine_create(exprs, arena_printf(exprs->arena, "der(%s)", of->name), site_of(exprs, of->depth_site)->span);
    of->derivative = to->number;
    of->stepwise = true;
    for (uint32_t k = 0; k < of->outputs; k++)
        vec_push(&of->steps_alone, 1);
    routine_cells(to, of->inputs);
    routine_cells(to, of->inputs);
    for (uint32_t round = 0; round < 2; round++)
        vec_append(&to->real, of->real.at, of->inputs);
    to->inputs = 2 * of->inputs;
    to->outputs = of->outputs;
    to->output = routine_cells(to, of->outputs);
    to->complete = true;
    uint32_t block = routine_block(to);
    for (uint32_t k = 0; of->external->makes && k < of->outputs; k++)
        routine_step(to, block, (Step){exprs->zero, to->output + k, 0, 1});
    if (of->external->makes)
        return to->number;
    uint32_t step = routine_cells(to, 1);
    Expr size = largest(exprs, to, block, 0, of->inputs, 1), rate = largest(exprs, to, block, of->inputs, of->inputs, 1e-300);
    Expr h = expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, expr_const(exprs, width), size), rate), at = expr_slot(exprs, step);
    routine_step(to, block, (Step){h, step, 0, 1});
    Expr ahead = call_moved(exprs, of, at), behind = call_moved(exprs, of, expr_2(exprs, OP_MUL, expr_const(exprs, -1), at));
    for (uint32_t k = 0; k < of->outputs; k++) {
        Expr change = expr_sub(exprs, routine_result(exprs, ahead, k), routine_result(exprs, behind, k));
        Expr slope = expr_2(exprs, OP_DIV, change, expr_2(exprs, OP_MUL, expr_const(exprs, 2), at));
        routine_step(to, block, (Step){slope, to->output + k, 0, 1});
    }
    return to->number;
}
