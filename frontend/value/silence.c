// silence.c: functions make no events; what is handed to them does.
//
// Purpose: a function that is expanded where it is called looks at its own relations at every instant (Modelica 3.6, section 12.4.1), but
// the relations in the arguments are those of the model around it (section 8.5).
// Method: where no argument makes events the result as a whole is under noEvent. Otherwise each relation of the function's own is,
// unless it is one of what makes events itself: such a relation keeps its events, since noEvent would take those of the argument.
// Contract: expression_inner.h. Complexity: linear in the parts of the results.
#include "frontend/value/expression_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

typedef struct Silence {
    Map arguments; // expression -> 1: an argument that makes events
    Map inside;    // the same, and what has one inside
} Silence;

static bool
is_switch(Op op)
{
    switch (op) {
    case OP_LT: case OP_LE: case OP_GT: case OP_GE: case OP_EQ: case OP_NE:
    case OP_ABS: case OP_SIGN: case OP_MIN: case OP_MAX: case OP_LUZ: case OP_FLOOR: case OP_CEIL: case OP_TRUNC:
        return true;
    default:
        return false;
    }
}

// Of a table that is handed on there are many elements, and nothing in them.
static bool
is_leaf(const Exprs *exprs, Expr e)
{
    return expr_nargs(exprs, e) == 0;
}

static bool
has_switch(const Exprs *exprs, Expr e)
{
    if (is_leaf(exprs, e))
        return false;
    for (Op op = OP_LT; op <= OP_TRUNC; op++)
        if (is_switch(op) && expr_has_op(exprs, e, op))
            return true;
    return false;
}

// What stands under noEvent makes none.
static bool
makes_events(const Exprs *exprs, Expr e)
{
    if (!has_switch(exprs, e) || !expr_has_op(exprs, e, OP_NOEVENT))
        return has_switch(exprs, e);
    Map seen = {0};
    U32Vec stack = {0};
    uint32_t known;
    bool any = false;
    vec_push(&stack, e);
    while (stack.n && !any) {
        Expr part = vec_pop(&stack);
        if (expr_op(exprs, part) == OP_NOEVENT || map_get(&seen, part, &known))
            continue;
        map_put(&seen, part, 1);
        any = is_switch(expr_op(exprs, part));
        for (uint32_t i = 0; i < expr_nargs(exprs, part); i++)
            vec_push(&stack, expr_arg(exprs, part, i));
    }
    map_free(&seen);
    vec_free(&stack);
    return any;
}

// What would jump at an event: the choice between branches, or a step of floor, ceil, integer, div, mod and rem (section 3.7.2).
static bool
has_jump(const Exprs *exprs, Expr e)
{
    if (is_leaf(exprs, e))
        return false;
    if (expr_has_op(exprs, e, OP_FLOOR) || expr_has_op(exprs, e, OP_CEIL) || expr_has_op(exprs, e, OP_TRUNC))
        return true;
    bool any = false;
    for (Op op = OP_LT; op <= OP_NE && !any; op++)
        any = expr_has_op(exprs, e, op);
    return any && expr_has_op(exprs, e, OP_IF);
}

static Expr
silence_part(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Silence *silence = context;
    uint32_t n = expr_nargs(exprs, part), known;
    bool has = false;
    if (map_get(&silence->arguments, part, &known))
        return part;
    for (uint32_t i = 0; i < n; i++)
        has |= map_get(&silence->inside, expr_arg(exprs, part, i), &known);
    if (has)
        map_put(&silence->inside, part, 1);
    if (has || !is_switch(expr_op(exprs, part)))
        return 0;
    return expr_1(exprs, OP_NOEVENT, expr_make(exprs, expr_op(exprs, part), args, n));
}

static void
note_argument(Silence *silence, const Exprs *exprs, const Value *argument)
{
    for (uint32_t k = 0; argument->elements && k < argument->count; k++)
        if (argument->elements[k] && makes_events(exprs, argument->elements[k])) {
            map_put(&silence->arguments, argument->elements[k], 1);
            map_put(&silence->inside, argument->elements[k], 1);
        }
}

void
function_silence(ExprEnv *env, const Node *nodes, const Value *arguments, uint32_t n_arguments, Value *outputs, uint32_t n)
{
    Silence silence = {0};
    for (uint32_t i = 0; i < n_arguments; i++)
        if (nodes[i])
            note_argument(&silence, env->exprs, &arguments[i]);
    U32Vec jumping = {0};
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < outputs[i].count; k++) {
            Expr *element = &outputs[i].elements[k];
            if (has_jump(env->exprs, *element) && silence.arguments.count)
                vec_push(&jumping, *element);
            else if (has_jump(env->exprs, *element))
                *element = expr_1(env->exprs, OP_NOEVENT, *element);
        }
    expr_rewrite_all(env->exprs, jumping.at, jumping.n, silence_part, &silence);
    for (uint32_t i = 0, at = 0; i < n; i++)
        for (uint32_t k = 0; k < outputs[i].count && jumping.n; k++)
            if (has_jump(env->exprs, outputs[i].elements[k]))
                outputs[i].elements[k] = jumping.at[at++];
    vec_free(&jumping);
    map_free(&silence.arguments);
    map_free(&silence.inside);
}
