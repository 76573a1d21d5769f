// routine_loop.c: loops of functions that are called at run time.
//
// Purpose: `for` and `while` as blocks that jump back. Method: a for-loop counts the elements of its range, whose bounds have
// the values of before the loop; one whose body needs the index at compile time (for a slice, say) is unrolled when its
// range is known.
// Contract: routine_inner.h. Complexity: linear in the statements, those of unrolled loops repeated.
#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

// Repetitions k = 0 .. count - 1 with the index's value as an expression of k.
typedef struct Counting {
    Type type;
    Expr count, first, step; // value = first + k*step; first 0: element k of `values`
    Value values;
} Counting;

// A value of what is around, inside. Its elements may be those of a variable there, which stay.
static void
give(Compile *c, Value *value)
{
    Expr *inside = arena_array(c->env->arena, Expr, value->count + 1);
    for (uint32_t k = 0; k < value->count; k++)
        inside[k] = compile_given(c, value->elements[k]);
    value->elements = inside;
}

// `env`: where the range is evaluated, inside or around the routine.
static bool
counting_range(Compile *c, ExprEnv *env, Node range, Counting *counting)
{
    RangeParts parts;
    if (!range_parts(env, range, &parts))
        return false;
    for (uint32_t i = 0; env != c->env && i < 3; i++)
        give(c, &parts.part[i]);
    counting->type = parts.part[0].type;
    if (parts.real)
        counting->type.base = TYPE_REAL;
    counting->first = parts.part[0].elements[0];
    counting->step = parts.part[1].elements[0];
    counting->count = range_count(env->exprs, &parts);
    return true;
}

static bool
counting_values(Compile *c, ExprEnv *env, Node range, Counting *counting)
{
    if (!expression_flexible(env, range, &counting->values))
        return false;
    if (counting->values.type.rank != 1) {
        diag_add(env->diags, E0201, node_span(env, range), "a loop needs a vector of values, but this has type %s",
                 value_type_text(env, &counting->values));
        return false;
    }
    Value count = value_scalar(env, TYPE_INTEGER, value_size(env, &counting->values, 0));
    if (env != c->env) {
        give(c, &counting->values);
        give(c, &count);
    }
    counting->type = type_with_sizes(&counting->values.type, 0, NULL);
    counting->count = count.elements[0];
    counting->first = 0;
    return true;
}

// Bounds have the values of before the loop.
static Expr
keep(Compile *c, Expr e)
{
    return compile_in_cell(c, e, compile_set);
}

static void
keep_counting(Compile *c, Counting *counting)
{
    counting->count = keep(c, counting->count);
    if (counting->first) {
        counting->first = keep(c, counting->first);
        counting->step = keep(c, counting->step);
        return;
    }
    uint32_t cells = compile_cells(c, counting->values.count);
    for (uint32_t k = 0; k < counting->values.count; k++)
        compile_set(c, cells + k, counting->values.elements[k]);
    counting->values = compile_value(c, &counting->values.type, cells, counting->values.count);
}

static Expr
counted_value(Compile *c, const Counting *counting, Expr k)
{
    Exprs *exprs = c->env->exprs;
    if (counting->first)
        return expr_2(exprs, OP_ADD, counting->first, expr_2(exprs, OP_MUL, k, counting->step));
    U32Vec args = {0};
    bool all = expr_op(exprs, counting->count) == OP_CONST; // otherwise nothing says that the position is inside
    vec_push(&args, all ? k : pick_checked(c->env, expr_2(exprs, OP_ADD, k, expr_const(exprs, 1)), counting->values.count, "element \1d\2 of a loop", c->frame.span));
    vec_append(&args, counting->values.elements, counting->values.count);
    Expr value = expr_make(exprs, OP_PICK, args.at, args.n);
    vec_free(&args);
    return value;
}

static void
open_loop(Compile *c, uint32_t cell, uint32_t count)
{
    vec_push(&c->loops, ((CompiledLoop){cell, count, c->doubt, c->covers.n, false}));
}

// Behind a loop that is not left on the way its elements are assigned; where it is, nothing is known of them.
static void
settle_covers(Compile *c)
{
    uint32_t number = c->loops.n - 1;
    const CompiledLoop loop = c->loops.at[number];
    if (loop.left)
        c->covers.n = loop.covers;
    for (uint32_t i = loop.covers; i < c->covers.n; i++)
        if (c->covers.at[i].block == NO_BLOCK && c->covers.at[i].loop == number)
            c->covers.at[i].block = c->after;
    c->loops.n--;
}

// What follows a loop, whichever way it ends.
static Control
close_loop(Compile *c, uint32_t outer, Control control)
{
    settle_covers(c);
    c->block = c->after;
    c->after = outer;
    return control == CONTROL_FAILED ? control : CONTROL_NEXT;
}

static Control
run_counted(Compile *c, Node here, Counting *counting, LoopBody *inside, void *of)
{
    Exprs *exprs = c->env->exprs;
    uint32_t outer = c->after, locals = c->env->locals.n, head, body;
    keep_counting(c, counting);
    uint32_t k = compile_cells(c, 1), cell = compile_cells(c, 1);
    Expr position = expr_slot(exprs, k);
    compile_set(c, k, expr_const(exprs, 0));
    head = compile_block(c);
    body = compile_block(c);
    c->after = compile_block(c);
    compile_jump(c, head, false);
    c->block = head;
    compile_branch(c, expr_2(exprs, OP_LT, position, counting->count), body, c->after);
    c->block = body;
    compile_set(c, cell, counted_value(c, counting, position));
    vec_push(&c->env->locals, (Local){ast_at(c->env->ast, here)->sym, compile_value(c, &counting->type, cell, 1)});
    bool known = expr_op(exprs, counting->count) == OP_CONST, each = counting->first && expr_is_const(exprs, counting->first, 1)
                                                                  && expr_is_const(exprs, counting->step, 1);
    double count = known ? expr_value(exprs, counting->count) : 0;
    open_loop(c, each ? cell : NO_BLOCK, count > 0 && count < NO_BLOCK ? (uint32_t)count : 0);
    Control control = inside(c, of);
    c->env->locals.n = locals;
    if (c->block != NO_BLOCK)
        compile_set(c, k, expr_2(exprs, OP_ADD, position, expr_const(exprs, 1)));
    compile_jump(c, head, true);
    return close_loop(c, outer, control);
}

typedef struct ForBody { Node node; uint32_t index; } ForBody; // a for-statement, and which of its indices comes next

static Control
inside_for(Compile *c, void *of)
{
    const ForBody *body = of;
    return compile_for(&c->frame, body->node, body->index);
}

bool
compile_counted(Compile *c, ExprEnv *env, Node here, LoopBody *inside, void *of)
{
    Node range = loop_has_range(env, here) ? ast_child(env->ast, here, 0) : 0;
    Counting counting = {0};
    return range && (ast_kind(env->ast, range) == AST_RANGE ? counting_range(c, env, range, &counting) : counting_values(c, env, range, &counting))
        && run_counted(c, here, &counting, inside, of) != CONTROL_FAILED;
}

static Control
run_unrolled(Compile *c, Node node, uint32_t index, const Value *range)
{
    uint32_t outer = c->after;
    c->after = compile_block(c);
    open_loop(c, NO_BLOCK, range->count);
    Control control = statement_iterations(&c->frame, node, index, range);
    compile_jump(c, c->after, false);
    return close_loop(c, outer, control);
}

Control
compile_for(Frame *frame, Node node, uint32_t index)
{
    Compile *c = (Compile *)frame;
    ExprEnv *env = c->env;
    Node here = ast_child(env->ast, ast_child(env->ast, node, 0), index);
    if (!here)
        return statement_list(frame, node, 1);
    if (!loop_has_range(env, here))
        return CONTROL_FAILED;
    Node range = ast_child(env->ast, here, 0);
    uint32_t locals = env->locals.n;
    Before start = compile_mark(c);
    if (compile_counted(c, env, here, inside_for, &(ForBody){node, index + 1}))
        return CONTROL_NEXT;
    // The body may need the index while compiling: where the range is known, it is written out.
    Value known;
    env->locals.n = locals;
    DiagsMark mark = diags_mark(env->diags);
    bool is_known = expression_range(env, range, &known);
    diags_return_to(env->diags, mark);
    if (!is_known)
        return CONTROL_FAILED;
    compile_return_to(c, &start);
    return run_unrolled(c, node, index, &known);
}

static Control
compile_while(Compile *c, Node node)
{
    ExprEnv *env = c->env;
    uint32_t outer = c->after, head = compile_block(c), body = compile_block(c);
    Control control = CONTROL_FAILED;
    Value condition;
    c->after = compile_block(c);
    open_loop(c, NO_BLOCK, 0);
    compile_jump(c, head, false);
    c->block = head;
    if (expression_scalar(env, ast_child(env->ast, node, 0), TYPE_BOOLEAN, "the condition", &condition)) {
        compile_branch(c, condition.elements[0], body, c->after);
        c->block = body;
        c->doubt++;
        control = statement_list(&c->frame, node, 1);
        c->doubt--;
    }
    compile_jump(c, head, true);
    return close_loop(c, outer, control);
}

Control
compile_loop(Frame *frame, Node node)
{
    return ast_kind(frame->env->ast, node) == AST_FORST ? compile_for(frame, node, 0) : compile_while((Compile *)frame, node);
}
