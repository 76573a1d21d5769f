// function_units.c: units that a function changes by declaring them.
//
// Purpose: `output Real y(unit = "1")` of a function that gets any Real says what the unit of the result is, whatever that of
// the argument was; a number for `input Real k(unit = "m3/s2")` has that unit. The text of the function takes the place of the
// call, where neither is to be seen: what such a call stands in is not checked for units (Modelica 3.6, chapter 19).
// Method: the declarations are looked at, no unit is computed.
// Contract: function.h. Complexity: linear in the function's variables and the elements of its arguments.
#include <string.h>

#include "frontend/function/function.h"
#include "ir/expr/expr_node.h"

static bool
declares_unit(const ExprEnv *env, const Variable *variable)
{
    Node mods = ast_child(env->ast, variable->component, 1);
    for (uint32_t i = 1; mods && ast_kind(env->ast, mods) == AST_MODS && i < ast_at(env->ast, mods)->nchild; i++) {
        Node mod = ast_child(env->ast, mods, i), name = ast_kind(env->ast, mod) == AST_MOD ? ast_child(env->ast, mod, 0) : 0;
        if (name && ast_at(env->ast, name)->nchild == 1
            && !strcmp(sym_text(env->syms, ast_at(env->ast, ast_child(env->ast, name, 0))->sym), "unit"))
            return true;
    }
    return false;
}

static bool
is_plain_real(const ExprEnv *env, const Variable *variable)
{
    Node type = ast_child(env->ast, variable->line, 0);
    return type && ast_at(env->ast, type)->nchild == 1 && !declares_unit(env, variable)
        && !strcmp(sym_text(env->syms, ast_at(env->ast, ast_child(env->ast, type, 0))->sym), "Real");
}

static bool
is_number(const ExprEnv *env, const Value *value)
{
    for (uint32_t i = 0; i < value->count; i++)
        if (expr_op(env->exprs, value->elements[i]) != OP_CONST)
            return false;
    return value->count > 0;
}

void
function_note_units(const Frame *frame, const Value *values)
{
    ExprEnv *env = frame->env;
    bool any = false, result = false;
    for (uint32_t i = 0; i < frame->variables.n && !frame->record && !env->other_units; i++) {
        const Variable *variable = &frame->variables.at[i];
        bool input = (variable->flags & AST_F_INPUT) != 0;
        any |= input && is_plain_real(env, variable);
        result |= (variable->flags & AST_F_OUTPUT) && declares_unit(env, variable);
        env->other_units = (input && declares_unit(env, variable) && is_number(env, &values[i])) || (any && result);
    }
}
