// external_builtin.c: external functions that are built-in functions.
//
// Purpose: `external "builtin" y = sin(u)`, and those of C's mathematical library that mean the same (Modelica 3.6, section 12.9).
// Method: the built-in function is called with the arguments that the clause gives it, in the function's frame; without a call in the clause
// it has the name of the function and takes all its inputs. What it gives is the value of the output.
// Contract: external_inner.h. Complexity: that of the built-in function.
#include <string.h>

#include "frontend/external/external_inner.h"
#include "ir/base/diag.h"
#include "ir/base/words.h"

// Functions of one argument in C's mathematical library that mean what built-in functions of the same names do.
static bool
is_mathematics(const char *name)
{
    static const char *const known[] = {"sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log",
                                        "log10", "sqrt"};
    return word_is_among(name, known, sizeof known / sizeof *known);
}

bool
external_is_builtin(const Frame *frame, const Passing *passing)
{
    const ExprEnv *env = frame->env;
    Node external = frame->external.node, mods;
    Sym sym = ast_at(env->ast, external)->sym;
    const char *language = sym ? sym_text(env->syms, sym) : "C";
    if (!strcmp(language, "builtin"))
        return true;
    return !strcmp(language, "C") && is_mathematics(passing->name) && ast_child(env->ast, external, 0)
        && !ast_external_annotation(env->ast, env->syms, frame->external_class, "Include", 0, &mods)
        && !ast_external_annotation(env->ast, env->syms, frame->external_class, "Library", 0, &mods);
}

// The output that gets the result: the one that the clause names, or the only one. -1 after a message.
static int64_t
result_variable(const Frame *frame)
{
    ExprEnv *env = frame->env;
    Node result = ast_child(env->ast, frame->external.node, 0);
    int64_t found = -1;
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        bool output = frame->variables.at[i].flags & AST_F_OUTPUT;
        bool named = !result || (ast_at(env->ast, result)->nchild == 1 && ast_at(env->ast, ast_child(env->ast, result, 0))->sym == frame->variables.at[i].name);
        outputs += output;
        if (output && named)
            found = i;
    }
    if (found >= 0 && outputs == 1)
        return found;
    diag_add(env->diags, E0722, node_span(env, frame->external.node), "a built-in function gives the value of the one output of '%s'",
             sym_text(env->syms, frame->function->full_name));
    return -1;
}

// All inputs in order.
static bool
run_with_inputs(const Frame *frame, const Builtin *builtin, Value *out)
{
    ExprEnv *env = frame->env;
    BuiltinCall call = {.env = env, .builtin = builtin, .node = frame->external.node, .span = frame->span};
    call.nodes = arena_array(env->arena, Node, frame->variables.n + 1);
    call.values = arena_array(env->arena, Value, frame->variables.n + 1);
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        if (!(frame->variables.at[i].flags & AST_F_INPUT))
            continue;
        call.nodes[call.n] = frame->variables.at[i].component;
        call.values[call.n++] = env->locals.at[i].value;
    }
    return builtin_run(&call, out);
}

bool
external_run_builtin(Frame *frame, const Passing *passing)
{
    ExprEnv *env = frame->env;
    Node external = frame->external.node;
    const Builtin *builtin = builtin_find(passing->name);
    int64_t at = result_variable(frame);
    bool clause = ast_child(env->ast, external, 1), usable = builtin && builtin_results(builtin) == 1 && (clause || !builtin->raw);
    Value result;
    if (at >= 0 && !usable)
        diag_add(env->diags, E0722, node_span(env, external), "there is no built-in function '%s' that could be called here", passing->name);
    if (at < 0 || !usable)
        return false;
    bool good = clause ? builtin_call_with(env, builtin, external, ast_child(env->ast, external, 2), &result)
                                                 : run_with_inputs(frame, builtin, &result);
    Value *output = &env->locals.at[at].value;
    const char *what = arena_printf(env->arena, "output '%s' of '%s'", sym_text(env->syms, frame->variables.at[at].name),
                                    sym_text(env->syms, frame->function->full_name));
    if (!good || !expression_coerce(env, &result, &output->type, node_span(env, external), what))
        return false;
    *output = result;
    return true;
}
