// routine_assign.c: assignments of functions that are called at run time.
//
// Purpose: what is assigned as steps over cells. Method: an element at a subscript known at run time only
// is a first cell and a distance from it. Contract: routine_inner.h. Complexity: linear in the cells assigned.
#include "frontend/function/routine_inner.h"

// Cells of a value of slots that positions select.
static void
take_cells(const Compile *c, const Value *value, const U32Vec *positions, U32Vec *cells)
{
    for (uint32_t i = 0; i < positions->n; i++)
        vec_push(cells, expr_slot_of(c->env->exprs, value->elements[positions->at[i]]));
}

// Subscripts known at run time only: each element has a first cell, and all the same distance from it.
static bool
set_picked(Compile *c, const Elements *to, const Value *variable, const U32Vec *first, const Value *value)
{
    ExprEnv *env = c->env;
    Exprs *exprs = env->exprs;
    LocalPicks *picks = to->picks;
    Expr distance = expr_const(exprs, 0);
    uint32_t reach = 0;
    for (uint32_t d = 0; d < picks->n; d++) {
        U32Vec next = {0}, cells = {0};
        Type type;
        uint32_t stride = 0;
        picks->at[d].at = picks->at[d].size > 1;
        bool good = path_select(env, &variable->type, to->target, 0, &next, &type);
        picks->at[d].at = 0;
        take_cells(c, variable, &next, &cells);
        if (good && cells.n)
            stride = cells.at[0] - first->at[0];
        vec_free(&next);
        vec_free(&cells);
        if (!good)
            return false;
        Expr index = pick_index(env, &picks->at[d], to->target);
        distance = expr_2(exprs, OP_ADD, distance, expr_2(exprs, OP_MUL, index, expr_const(exprs, stride)));
        reach += stride * (picks->at[d].size - 1);
    }
    uint32_t temporary = compile_cells(c, value->count + 1);
    for (uint32_t i = 0; i < value->count; i++)
        compile_set(c, temporary + i, value->elements[i]);
    compile_set(c, temporary + value->count, distance);
    for (uint32_t i = 0; i < first->n; i++)
        routine_step(c->routine, c->block, (Step){expr_slot(exprs, temporary + i), first->at[i],
                                                  expr_slot(exprs, temporary + value->count), reach + 1});
    return true;
}

bool
compile_elements(Frame *frame, const Elements *to, const Value *value, Span span)
{
    Compile *c = (Compile *)frame;
    Value variable = c->env->locals.at[to->local].value;
    U32Vec cells = {0};
    bool good = true;
    (void)span;
    take_cells(c, &variable, to->positions, &cells);
    if (to->picks->n)
        good = set_picked(c, to, &variable, &cells, value);
    else
        compile_set_all(c, &cells, value->elements);
    vec_free(&cells);
    return good;
}

void
compile_hold(Frame *frame, Value *value)
{
    Compile *c = (Compile *)frame;
    uint32_t first = compile_cells(c, value->count);
    for (uint32_t k = 0; k < value->count; k++)
        compile_set(c, first + k, value->elements[k]);
    *value = compile_value(c, &value->type, first, value->count);
}
