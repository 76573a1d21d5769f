// function_argument.c: functions as arguments.
//
// Purpose: functional inputs and partial application, `quadrature(function f(a = 1), 0, 1)` (Modelica 3.6, sections 12.4.2 and
// 12.4.2.1). Method: the value of such an input is the function with the arguments that are bound already; calling the input calls
// this function for the others. What is bound and known at run time only is passed to a routine (run_time_call.c) like other arguments.
// Contract: function.h. Complexity: linear in the arguments.
#include <string.h>

#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"

bool
closure_wanted(ExprEnv *env, const Variable *variable)
{
    void *scope = env->scope;
    Node name = ast_child(env->ast, variable->line, 0);
    env->scope = variable->scope;
    bool wanted = env->function_type && env->function_type(env, name);
    env->scope = scope;
    return wanted;
}

// What the arguments of `function f(a = 1)` bind, after what is bound already.
static bool
bind_arguments(ExprEnv *env, Node args, Closure *closure)
{
    uint32_t given = args ? ast_at(env->ast, args)->nchild : 0;
    Sym *names = arena_array(env->arena, Sym, closure->n + given + 1);
    Value *values = arena_array(env->arena, Value, closure->n + given + 1);
    for (uint32_t i = 0; i < closure->n; i++) {
        names[i] = closure->names[i];
        values[i] = closure->values[i];
    }
    for (uint32_t i = 0; i < given; i++) {
        Node arg = ast_child(env->ast, args, i);
        if (ast_kind(env->ast, arg) != AST_ARG) {
            diag_add(env->diags, E0203, node_span(env, arg), "arguments that are bound are named: 'function f(a = 1)'");
            return false;
        }
        names[closure->n] = ast_at(env->ast, arg)->sym;
        if (!expression(env, ast_child(env->ast, arg, 0), &values[closure->n++]))
            return false;
    }
    closure->names = names;
    closure->values = values;
    return true;
}

bool
closure_value(ExprEnv *env, Node node, Value *out)
{
    bool partial = ast_kind(env->ast, node) == AST_FUNCARG;
    Node name = partial ? ast_child(env->ast, node, 0) : node;
    const Closure *local = closure_called(env, name);
    Closure *closure = arena_new(env->arena, Closure);
    if (!partial && ast_kind(env->ast, node) != AST_REF) {
        diag_add(env->diags, E0119, node_span(env, node), "a function is needed here");
        return false;
    }
    if (local)
        *closure = *local;
    else if (!env->function(env, name, &closure->function))
        return false;
    if (partial && !bind_arguments(env, ast_child(env->ast, node, 1), closure))
        return false;
    *out = (Value){.type = {.base = TYPE_FUNCTION}, .closure = closure};
    return true;
}

const Closure *
closure_called(const ExprEnv *env, Node ref)
{
    if (ast_at(env->ast, ref)->nchild != 1)
        return NULL;
    Sym name = ast_at(env->ast, ast_child(env->ast, ref, 0))->sym;
    for (uint32_t i = env->locals.n; i-- > 0;)
        if (env->locals.at[i].name == name)
            return env->locals.at[i].value.closure;
    return NULL;
}

bool
closure_bind(Frame *frame, const Closure *closure, Node *nodes, Value *values)
{
    ExprEnv *env = frame->env;
    for (uint32_t k = 0; k < closure->n; k++) {
        uint32_t i = 0;
        while (i < frame->variables.n && (frame->variables.at[i].name != closure->names[k]
                                          || !(frame->variables.at[i].flags & AST_F_INPUT)))
            i++;
        if (i == frame->variables.n || frame->variables.at[i].bound) {
            diag_add(env->diags, E0203, frame->span, i == frame->variables.n ? "'%s' has no input named '%s'"
                     : "'%s': the input '%s' is bound twice", sym_text(env->syms, frame->function->full_name),
                     sym_text(env->syms, closure->names[k]));
            return false;
        }
        frame->variables.at[i].bound = true;
        nodes[i] = frame->function->class_node;
        values[i] = closure->values[k];
    }
    return true;
}

// --- in routines

bool
closure_known(const ExprEnv *env, const Closure *closure)
{
    for (uint32_t k = 0; closure && k < closure->n; k++)
        if (!value_known(env, &closure->values[k]) || !closure_known(env, closure->values[k].closure))
            return false;
    return true;
}

void
closure_elements(const ExprEnv *env, const Closure *closure, U32Vec *elements)
{
    for (uint32_t k = 0; closure && k < closure->n; k++) {
        const Value *value = &closure->values[k];
        if (!value_known(env, value))
            vec_append(elements, value->elements, value->count);
        closure_elements(env, value->closure, elements);
    }
}

void
closure_key(const ExprEnv *env, const Closure *closure, Out *out)
{
    out_printf(out, " function %u %u (", closure->function.class_node, closure->function.id);
    for (uint32_t k = 0; k < closure->n; k++) {
        const Value *value = &closure->values[k];
        out_printf(out, "%u: %u %u ", closure->names[k], value->type.base, value->count);
        for (uint32_t d = 0; d < value->type.rank; d++)
            out_printf(out, "[%u]", value->type.dims[d]);
        if (value->closure)
            closure_key(env, value->closure, out);
        for (uint32_t i = 0; value_known(env, value) && i < value->count; i++)
            out_printf(out, " %.17g", value_number(env, value, i));
    }
    out_char(out, ')');
}
