// routine_inverse.c: inverses that functions declare.
//
// Purpose: `annotation(inverse(x = g(y, a)))` (Modelica 3.6, section 12.8): y = f(x, a) is solved for x by a call of g, without iterations.
// Method: a routine with the inputs of f, of which x is not used, and then y calls g; whoever solves an equation for an argument takes it
// (ir/expr/expr_diff.c).
// Contract: routine_inner.h. Only scalar Reals are solved for, and only of functions with one scalar result; other inverses are not used.
// Complexity: linear in the scalars of the inputs, for each inverse.
#include <string.h>

#include "frontend/function/routine_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

static const uint32_t NO_INPUT = UINT32_MAX; // of arrays and records there is none

typedef struct Backward {  // x = g(...)
    Node input, call;
    uint32_t variable;     // of the frame
} Backward;

static bool
find_variable(const Frame *frame, Sym name, uint32_t flag, uint32_t *variable)
{
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (frame->variables.at[i].name == name && frame->variables.at[i].flags & flag) {
            *variable = i;
            return true;
        }
    return false;
}

static bool
refuse(const Frame *frame, Node at, const char *why)
{
    diag_add(frame->env->diags, E0202, node_span(frame->env, at), "the inverse of '%s' %s",
             sym_text(frame->env->syms, frame->function->full_name), why);
    return false;
}

// The n-th entry of annotations `inverse`; *out->call is 0 behind the last one. False after messages.
static bool
find_backward(const Frame *frame, uint32_t nth, Backward *out)
{
    const ExprEnv *env = frame->env;
    Node mods;
    *out = (Backward){0};
    for (uint32_t k = 0; (mods = ast_annotation_mods(env->ast, env->syms, frame->function->class_node, "inverse", k)); k++)
        for (uint32_t i = 1; i < ast_at(env->ast, mods)->nchild; i++) {
            if (nth--)
                continue;
            Node mod = ast_child(env->ast, mods, i), inner = ast_kind(env->ast, mod) == AST_MOD ? ast_child(env->ast, mod, 1) : 0;
            out->input = inner ? ast_child(env->ast, mod, 0) : 0;
            out->call = inner ? ast_child(env->ast, inner, 0) : 0;
            if (!out->call || ast_kind(env->ast, out->call) != AST_CALL || ast_at(env->ast, out->input)->nchild != 1)
                return refuse(frame, mod, "is written as x = g(y), with an input x and the output y");
            Sym name = ast_at(env->ast, ast_child(env->ast, out->input, 0))->sym;
            return find_variable(frame, name, AST_F_INPUT, &out->variable) || refuse(frame, mod, "is not for one of its inputs");
        }
    return true;
}

static Value
named_value(Compile *c, Sym name, Expr result)
{
    uint32_t i;
    if (find_variable(&c->frame, name, AST_F_OUTPUT, &i))
        return value_scalar(c->env, TYPE_REAL, result);
    return find_variable(&c->frame, name, AST_F_INPUT, &i) ? c->env->locals.at[i].value : (Value){0};
}

// The place of input `name` among those of g, of which there are fewer than `most`; `most`: there is none.
static uint32_t
input_place(Compile *c, const FunctionRef *g, Sym name, uint32_t most)
{
    Frame frame = {.env = c->env, .function = g, .span = c->frame.span};
    uint32_t place = 0, found = most;
    DiagsMark mark = diags_mark(c->env->diags);
    if (function_gather(&frame))
        for (uint32_t i = 0; i < frame.variables.n && found == most; i++) {
            if (!(frame.variables.at[i].flags & AST_F_INPUT))
                continue;
            if (frame.variables.at[i].name == name)
                found = place;
            place++;
        }
    function_release(&frame);
    diags_return_to(c->env->diags, mark);
    return found < most ? found : most;
}

// The arguments of g, by place or by name: names of the inputs and of the output.
static bool
gather_arguments(Compile *c, const Backward *backward, const FunctionRef *g, Expr result, Value *arguments, uint32_t *n)
{
    const ExprEnv *env = c->env;
    Node list = ast_child(env->ast, backward->call, 1);
    *n = list ? ast_at(env->ast, list)->nchild : 0;
    for (uint32_t i = 0; i < *n; i++)
        arguments[i] = (Value){0};
    for (uint32_t i = 0; i < *n; i++) {
        Node argument = ast_child(env->ast, list, i);
        uint32_t place = i;
        if (ast_kind(env->ast, argument) == AST_ARG) {
            place = input_place(c, g, ast_at(env->ast, argument)->sym, *n);
            argument = ast_child(env->ast, argument, 0);
        }
        bool name = place < *n && ast_kind(env->ast, argument) == AST_REF && ast_at(env->ast, argument)->nchild == 1;
        Value value = name ? named_value(c, ast_at(env->ast, ast_child(env->ast, argument, 0))->sym, result) : (Value){0};
        if (!value.elements && !value.closure)
            return refuse(&c->frame, argument, "takes names of its inputs and of its output");
        arguments[place] = value;
    }
    return true;
}

static bool
compile_inverse(Compile *c, const Backward *backward, const Value *given, Keep keep, uint32_t *input)
{
    ExprEnv *env = c->env;
    Span span = node_span(env, backward->call);
    Node list = ast_child(env->ast, backward->call, 1);
    Value *arguments = arena_array(env->arena, Value, (list ? ast_at(env->ast, list)->nchild : 0) + 1), *outputs;
    FunctionRef function = {0};
    uint32_t n, n_outputs;
    compile_inputs(c, given, keep);
    const Value *x = &env->locals.at[backward->variable].value;
    bool scalar = x->type.base == TYPE_REAL && !x->type.rank && x->count == 1 && expr_op(env->exprs, x->elements[0]) == OP_SLOT;
    *input = scalar ? expr_slot_of(env->exprs, x->elements[0]) : NO_INPUT;
    if (!scalar)
        return true;
    Expr result = expr_slot(env->exprs, compile_cells(c, 1));
    vec_push(&c->routine->real, 1);
    c->routine->inputs++;
    c->routine->output = compile_cells(c, 1);
    c->routine->outputs = 1;
    c->block = compile_block(c);
    env->scope = c->frame.function->scope;
    if (!env->function(env, ast_child(env->ast, backward->call, 0), &function) || !gather_arguments(c, backward, &function, result, arguments, &n)
        || !env->calls->apply_all(env, &function, arguments, n, span, &outputs, &n_outputs))
        return false;
    if (!n_outputs || outputs[0].count != 1 || outputs[0].type.base != TYPE_REAL)
        return refuse(&c->frame, backward->call, "gives no scalar Real");
    compile_set(c, c->routine->output, outputs[0].elements[0]);
    return compile_check_size(c) && compile_finish(c);
}

bool
routine_declares_inverse(const Frame *frame)
{
    return ast_annotation_mods(frame->env->ast, frame->env->syms, frame->function->class_node, "inverse", 0) != 0;
}

bool
routine_declared_inverses(Frame *frame, const Value *given, Keep keep, const Signature *signature)
{
    Backward backward;
    Exprs *exprs = frame->env->exprs;
    if (!routine_declares_inverse(frame))
        return true;
    if (routine_of(exprs, signature->number)->outputs != 1)
        return true;
    for (uint32_t nth = 0; find_backward(frame, nth, &backward); nth++) {
        Compile c;
        uint32_t input = 0;
        if (!backward.call)
            return true;
        const char *name = sym_text(frame->env->syms, frame->function->full_name);
        compile_open(&c, frame, arena_printf(frame->env->arena, "inverse(%s)", name), node_span(frame->env, backward.call));
        bool good = compile_inverse(&c, &backward, given, keep, &input);
        c.routine->complete = good && input != NO_INPUT;
        uint32_t number = c.routine->number;
        compile_close(&c);
        if (!good)
            return false;
        if (input != NO_INPUT)
            vec_push(&routine_of(exprs, signature->number)->inverses, ((Inverse){input, number}));
    }
    return false;
}
