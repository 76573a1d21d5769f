// function_sizes.c: inputs of a function that sizes are made of.
//
// Purpose: where the size of a local array or of a result uses an input, the value of that input is known at compile time, and is so in
// the statements as well: `if i <= m then b[i + 1] := ...` with `Real b[m + 1]` is decided then. Method: the names in
// the subscripts of declarations. Contract: function.h. Complexity: linear in the text of the subscripts times the number
// of variables.
#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"

// Marks the variables that an expression names.
static void
mark_named(Frame *frame, Node root)
{
    const Ast *ast = frame->env->ast;
    U32Vec open = {0};
    if (root)
        vec_push(&open, root);
    while (open.n) {
        Node node = vec_pop(&open);
        if (ast_kind(ast, node) == AST_REF && ast_at(ast, node)->nchild == 1)
            for (uint32_t i = 0; i < frame->variables.n; i++)
                frame->variables.at[i].shapes |= frame->variables.at[i].name == ast_at(ast, ast_child(ast, node, 0))->sym;
        for (uint32_t i = 0; i < ast_at(ast, node)->nchild; i++)
            if (ast_child(ast, node, i))
                vec_push(&open, ast_child(ast, node, i));
    }
    vec_free(&open);
}

void
function_mark_sizes(Frame *frame)
{
    const ExprEnv *env = frame->env;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        const Variable *variable = &frame->variables.at[i];
        if (variable->flags & AST_F_INPUT)
            continue;
        mark_named(frame, ast_child(env->ast, variable->component, 0));
        mark_named(frame, ast_child(env->ast, variable->line, 1));
    }
}

bool
function_settle_sizes(Frame *frame, Value *values)
{
    ExprEnv *env = frame->env;
    bool good = true;
    function_mark_sizes(frame);
    for (uint32_t i = 0; i < frame->variables.n && good; i++) {
        const Variable *variable = &frame->variables.at[i];
        bool whole = values[i].type.base == TYPE_INTEGER && !values[i].type.rank;
        if (!variable->shapes || !(variable->flags & AST_F_INPUT) || !whole)
            continue;
        good = value_evaluate(env, &values[i], frame->span);
        env->locals.at[i] = (Local){variable->name, values[i]};
    }
    return good;
}
