// routine_reduction.c: reductions whose ranges are known at run time only.
//
// Purpose: `sum(x[i] for i in 1:n)` where n changes, or is an argument of a function that is called at run time (Modelica 3.6, section
// 10.3.4.1). Method: the reduction alone becomes a routine with one output, which a loop for each index adds to; what stands around it
// is an input, as for the loops of algorithm sections (routine_section.c). It stands in an expression as a call, so that it is made only where the
// expression needs it. Relations inside make no events; ranges are evaluated around the reduction,
// where theirs do.
// Contract: function.h. Complexity: linear in the expression and the scalars of the locals around.
#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"

typedef struct Reduction {
    Fold fold;
    Node body, indices;
    uint32_t index;      // which of the indices comes next
    uint32_t cell, count; // what has been found so far
    Type type;           // of the body, once it is known
    bool again;          // it has other sizes than `count`: the routine is made again
    Span span;
} Reduction;

static Expr
folded(Exprs *exprs, Fold fold, Expr before, Expr next)
{
    static const Op ops[] = {[FOLD_SUM] = OP_ADD, [FOLD_PRODUCT] = OP_MUL, [FOLD_MIN] = OP_MIN, [FOLD_MAX] = OP_MAX};
    return expr_2(exprs, ops[fold], before, next);
}

static Control
reduce_inside(Compile *c, void *of)
{
    Reduction *reduction = of;
    ExprEnv *env = c->env;
    if (reduction->index < ast_at(env->ast, reduction->indices)->nchild) {
        Node here = ast_child(env->ast, reduction->indices, reduction->index++);
        bool good = compile_counted(c, c->outer, here, reduce_inside, reduction);
        reduction->index--;
        return good ? CONTROL_NEXT : CONTROL_FAILED;
    }
    Value value;
    if (!expression(env, reduction->body, &value))
        return CONTROL_FAILED;
    if (!type_is_number(&value.type) || (value.type.rank && reduction->fold != FOLD_SUM)) {
        diag_add(env->diags, E0201, reduction->span, "over a range that is known at run time only, a reduction has scalar numbers, a sum also arrays of them, but this has type %s",
                 value_type_text(env, &value));
        return CONTROL_FAILED;
    }
    reduction->type = value.type;
    reduction->again = value.count != reduction->count;
    reduction->count = value.count;
    for (uint32_t k = 0; k < value.count && !reduction->again; k++)
        compile_set(c, reduction->cell + k, folded(env->exprs, reduction->fold, expr_slot(env->exprs, reduction->cell + k), value.elements[k]));
    return reduction->again ? CONTROL_FAILED : CONTROL_NEXT;
}

static bool
compile_reduction(Compile *c, Reduction *reduction, Value *out)
{
    Exprs *exprs = c->env->exprs;
    uint32_t count = reduction->count;
    reduction->cell = compile_cells(c, count);
    c->routine->outputs = c->routine->cells;
    c->block = compile_block(c);
    for (uint32_t i = 0; i < c->outer->locals.n; i++) {
        Local local = c->outer->locals.at[i];
        if (local.value.elements)
            compile_held(c, &c->outer->locals.at[i].value, &local.value);
        vec_push(&c->env->locals, local);
    }
    // The least and the greatest Integer are another number than those of Real, which a reduction of none gives (section 10.3.4.1).
    for (uint32_t k = 0; k < count; k++)
        compile_set(c, reduction->cell + k, reduction_empty(c->env, reduction->fold, TYPE_REAL));
    if (reduce_inside(c, reduction) == CONTROL_FAILED || !compile_finish(c) || !compile_check_size(c))
        return false;
    compile_settle_inputs(c);
    c->routine->complete = true;
    Expr call = routine_call(exprs, c->routine->number, c->given.at, c->given.n);
    if (!value_new(c->outer, &reduction->type, reduction->span, out))
        return false;
    for (uint32_t k = 0; k < count; k++)
        out->elements[k] = routine_result(exprs, call, k);
    return true;
}

bool
routine_reduction(ExprEnv *env, Fold fold, Node forarg, Span span, Value *out)
{
    Compile c;
    FunctionRef function = {.full_name = sym_of(env->syms, "a reduction")};
    Frame frame = {.env = env, .function = &function, .span = span};
    Reduction reduction = {.fold = fold, .body = ast_child(env->ast, forarg, 0), .indices = ast_child(env->ast, forarg, 1), .count = 1, .span = span};
    bool good;
    do {
        compile_open(&c, &frame, "a reduction", span);
        c.outer = c.around;
        reduction.again = false;
        reduction.index = 0;
        good = compile_reduction(&c, &reduction, out);
        env->statements = c.own.statements;
        compile_close(&c);
    } while (reduction.again);
    return good;
}
