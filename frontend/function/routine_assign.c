// routine_assign.c: assignments of functions that are called at run time.
//
// Purpose: x := e, x[i] := e and (a, , b) := f(x) as steps over cells. Method: an element at a subscript known at run time only
// is a first cell and a distance from it. Contract: routine_inner.h. Complexity: linear in the cells assigned.
#include "frontend/function/function.h"
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
set_picked(Compile *c, Node target, const Value *variable, LocalPicks *picks, const U32Vec *first, const Value *value)
{
    ExprEnv *env = c->env;
    Exprs *exprs = env->exprs;
    Expr distance = expr_const(exprs, 0);
    uint32_t reach = 0;
    for (uint32_t d = 0; d < picks->n; d++) {
        U32Vec next = {0}, cells = {0};
        Type type;
        uint32_t stride = 0;
        picks->at[d].at = picks->at[d].size > 1;
        bool good = path_select(env, &variable->type, target, 0, &next, &type);
        picks->at[d].at = 0;
        take_cells(c, variable, &next, &cells);
        if (good && cells.n)
            stride = cells.at[0] - first->at[0];
        vec_free(&next);
        vec_free(&cells);
        if (!good)
            return false;
        Expr index = pick_index(env, &picks->at[d], target);
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

static bool
set_elements(Compile *c, Node target, uint32_t local, Value *value, Span span, const char *what)
{
    ExprEnv *env = c->env;
    Value variable = env->locals.at[local].value;
    U32Vec positions = {0}, cells = {0};
    Type selected;
    LocalPicks picks = {0}, *outer = env->picks;
    env->picks = &picks;
    bool good = path_select(env, &variable.type, target, 0, &positions, &selected)
             && expression_coerce(env, value, &selected, span, what);
    picks.frozen = true;
    if (good)
        take_cells(c, &variable, &positions, &cells);
    if (good && picks.n)
        good = set_picked(c, target, &variable, &picks, &cells, value);
    else if (good)
        compile_set_all(c, &cells, value->elements);
    env->picks = outer;
    vec_free(&positions);
    vec_free(&cells);
    return good;
}

static bool
compile_target(Compile *c, Node target, Value *value, Span span)
{
    ExprEnv *env = c->env;
    int64_t local = statement_target(c->frame, target);
    if (local < 0)
        return false;
    const char *what = arena_printf(env->arena, "'%s'", expression_text(env, target));
    return set_elements(c, target, (uint32_t)local, value, span, what);
}

bool
compile_assignment(Compile *c, Node node)
{
    Node source = ast_child(c->env->ast, node, 1);
    Value value;
    return expression(c->env, source, &value)
        && compile_target(c, ast_child(c->env->ast, node, 0), &value, node_span(c->env, source));
}

// The outputs are taken before the first of them is assigned: arguments may be among the targets.
bool
compile_assignments(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    Node tuple = ast_child(env->ast, node, 0);
    Value *outputs;
    uint32_t targets = ast_at(env->ast, tuple)->nchild;
    if (!env->calls->results(env, tuple, ast_child(env->ast, node, 1), node_span(env, node), &outputs))
        return false;
    for (uint32_t i = 0; i < targets; i++) {
        if (!ast_child(env->ast, tuple, i))
            continue;
        uint32_t first = compile_cells(c, outputs[i].count);
        for (uint32_t k = 0; k < outputs[i].count; k++)
            compile_set(c, first + k, outputs[i].elements[k]);
        outputs[i] = compile_value(c, &outputs[i].type, first, outputs[i].count);
    }
    for (uint32_t i = 0; i < targets; i++) {
        Node target = ast_child(env->ast, tuple, i);
        if (target && !compile_target(c, target, &outputs[i], node_span(env, target)))
            return false;
    }
    return true;
}
