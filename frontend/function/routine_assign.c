// routine_assign.c: assignments of functions that are called at run time.
//
// Purpose: what is assigned as steps over cells. Method: an element at a subscript known at run time only
// is a first cell and a distance from it. Contract: routine_inner.h. Complexity: linear in the cells assigned.
#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

// Cells of a value of slots that positions select.
static void
take_cells(const Compile *c, const Value *value, const U32Vec *positions, U32Vec *cells)
{
    for (uint32_t i = 0; i < positions->n; i++)
        vec_push(cells, expr_slot_of(c->env->exprs, value->elements[positions->at[i]]));
}

// The loop whose index a subscript is, if it takes all its values; NO_BLOCK: there is none.
static uint32_t
loop_over(const Compile *c, const LocalPick *pick)
{
    uint32_t cell = expr_op(c->env->exprs, pick->index) == OP_SLOT ? expr_slot_of(c->env->exprs, pick->index) : NO_BLOCK;
    for (uint32_t i = 0; i < c->loops.n && cell != NO_BLOCK; i++)
        if (c->loops.at[i].cell == cell)
            return c->loops.at[i].count == pick->size ? i : NO_BLOCK;
    return NO_BLOCK;
}

// All elements are assigned when the outermost loop over a subscript has ended.
static void
note_cover(Compile *c, const LocalPicks *picks, const uint32_t *stride, const U32Vec *first)
{
    uint32_t outermost = NO_BLOCK;
    U32Vec cells = {0};
    vec_append(&cells, first->at, first->n);
    for (uint32_t d = 0; d < picks->n; d++) {
        uint32_t loop = loop_over(c, &picks->at[d]), before = cells.n;
        bool again = false;
        for (uint32_t e = 0; e < d; e++)
            again = again || picks->at[e].index == picks->at[d].index;
        if (loop == NO_BLOCK || again) {
            vec_free(&cells);
            return;
        }
        outermost = loop < outermost ? loop : outermost;
        for (uint32_t k = 1; k < picks->at[d].size; k++)
            for (uint32_t i = 0; i < before; i++)
                vec_push(&cells, cells.at[i] + k * stride[d]);
    }
    bool sure = picks->n && c->doubt == c->loops.at[outermost].doubt;
    for (uint32_t i = outermost; sure && i < c->loops.n; i++)
        sure = c->loops.at[i].count > 0;
    for (uint32_t i = 0; sure && i < cells.n; i++)
        vec_push(&c->covers, ((Cover){NO_BLOCK, cells.at[i], outermost}));
    vec_free(&cells);
}

// Subscripts known at run time only: each element has a first cell, and all the same distance from it.
static bool
set_picked(Compile *c, const Elements *to, const Value *variable, const U32Vec *first, const Value *value)
{
    ExprEnv *env = c->env;
    Exprs *exprs = env->exprs;
    LocalPicks *picks = to->picks;
    Expr distance = expr_const(exprs, 0);
    uint32_t reach = 0, strides[PICK_RANK];
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
        strides[d] = stride;
    }
    note_cover(c, picks, strides, first);
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

// Where the variables are is decided before the statements are compiled, so that they are so anew once the size is known.
bool
compile_size(Frame *frame, uint32_t local, const Value *value, Span span, const char *what)
{
    Compile *c = (Compile *)frame;
    Value given = *value;
    if (!expression_coerce(c->env, &given, &c->env->locals.at[local].value.type, span, what))
        return false;
    c->sizes[local] = type_lasting(c->env->routines->arena, &given.type);
    c->sized = true;
    return false;
}
