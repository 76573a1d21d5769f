// Derivatives that functions declare.
//
// Purpose: `annotation(derivative = df)` (Modelica 3.6, section 12.7.1) of functions that are called at run time: a bisection has no
// derivative by its statements, and a closed form may be better than one by them. Functions that are expanded are
// differentiated as they stand, which is exact.
// Method: df takes the inputs of the function, then the derivatives of its Real inputs, and gives those of its Real outputs. A routine
// with the inputs and outputs that ir/routine_diff.c would make calls it. Derivatives of higher order follow from this one.
// Contract: routine_inner.h. Complexity: linear in the scalars of inputs and outputs.
#include <string.h>

#include "frontend/routine_inner.h"

typedef struct Declared { // an annotation derivative(noDerivative = a) = df
    Node function;
    Node options;         // MODS
} Declared;

static bool
excluded(const ExprEnv *env, const Declared *declared, Sym input)
{
    for (uint32_t i = 1; i < ast_at(env->ast, declared->options)->nchild; i++) {
        Node mod = ast_child(env->ast, declared->options, i), mods = ast_child(env->ast, mod, 1);
        Node ref = mods ? ast_child(env->ast, mods, 0) : 0;
        if (ref && ast_kind(env->ast, ref) == AST_REF && ast_at(env->ast, ast_child(env->ast, ref, 0))->sym == input)
            return true;
    }
    return false;
}

// The first derivative whose inputs are those of the function, but for what noDerivative excludes.
static bool
find_declared(const Frame *frame, Declared *out)
{
    const ExprEnv *env = frame->env;
    Node mods;
    for (uint32_t nth = 0; (out->function = ast_annotation(env->ast, env->syms, frame->function->class_node, "derivative", nth, &mods));
         nth++) {
        bool usable = ast_kind(env->ast, out->function) == AST_REF;
        for (uint32_t i = 1; i < ast_at(env->ast, mods)->nchild; i++) {
            Node mod = ast_child(env->ast, mods, i), name = ast_child(env->ast, mod, 0), inner = ast_child(env->ast, mod, 1);
            const char *text = sym_text(env->syms, ast_at(env->ast, ast_child(env->ast, name, 0))->sym);
            Node value = inner ? ast_child(env->ast, inner, 0) : 0;
            bool first = !strcmp(text, "order") && value && ast_kind(env->ast, value) == AST_NUMBER && ast_number(env->ast, value) == 1;
            usable = usable && (first || !strcmp(text, "noDerivative"));
        }
        out->options = mods;
        if (usable)
            return true;
    }
    return false;
}

// Inputs as the function has them, in cells, then the derivatives of its Real inputs.
static uint32_t
derivative_arguments(Compile *c, const Declared *declared, const Value *given, bool specialise, Value *arguments)
{
    uint32_t n = 0, inputs;
    compile_inputs(c, given, specialise);
    inputs = c->routine->inputs;
    compile_cells(c, inputs);
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t i = 0; i < c->frame->variables.n; i++) {
            const Variable *variable = &c->frame->variables.at[i];
            Value value = c->env->locals.at[i].value;
            if (!(variable->flags & AST_F_INPUT))
                continue;
            if (round && (value.type.base != TYPE_REAL || excluded(c->env, declared, variable->name)))
                continue;
            if (round && value.count)
                value = compile_value(c, &value.type, inputs + expr_slot_of(c->env->exprs, value.elements[0]), value.count);
            arguments[n++] = value;
        }
    for (uint32_t k = 0; k < inputs; k++)
        vec_push(&c->routine->real, c->routine->real.at[k]);
    c->routine->inputs = 2*inputs;
    return n;
}

// The derivatives of Real outputs go to their places; others stay 0.
static bool
take_derivatives(Compile *c, const Signature *signature, const Value *outputs, uint32_t n, Span span)
{
    uint32_t cell = c->routine->output, taken = 0;
    for (uint32_t o = 0; o < signature->n; o++) {
        Value room;
        if (!value_new(c->env, &signature->types[o], span, &room))
            return false;
        if (room.type.base == TYPE_REAL) {
            if (taken == n || outputs[taken].type.base != TYPE_REAL || !type_same_sizes(&outputs[taken].type, &room.type)) {
                diag_add(c->env->diags, E0202, span, "the derivative of '%s' has other outputs than the derivatives of its Real ones",
                         sym_text(c->env->syms, c->frame->function->full_name));
                return false;
            }
            for (uint32_t k = 0; k < room.count; k++)
                compile_set(c, cell + k, outputs[taken].elements[k]);
            taken++;
        }
        cell += room.count;
    }
    return true;
}

static bool
compile_derivative(Compile *c, const Declared *declared, const Value *given, bool specialise, const Signature *signature)
{
    ExprEnv *env = c->env;
    const Routine *of = routine_of(env->exprs, signature->number);
    Span span = node_span(env, declared->function);
    Value *arguments = arena_array(env->arena, Value, 2*c->frame->variables.n + 1), *outputs;
    FunctionRef function = {0};
    uint32_t n = derivative_arguments(c, declared, given, specialise, arguments), n_outputs;
    c->routine->output = compile_cells(c, of->outputs);
    c->routine->outputs = of->outputs;
    c->block = compile_block(c);
    env->scope = c->frame->function->scope;
    return env->function(env, declared->function, &function)
        && function_apply_all(env, &function, arguments, n, span, &outputs, &n_outputs)
        && take_derivatives(c, signature, outputs, n_outputs, span) && compile_check_size(c) && compile_finish(c);
}

bool
routine_declared_derivative(Frame *frame, const Value *given, bool specialise, const Signature *signature)
{
    Declared declared;
    Compile c;
    if (!find_declared(frame, &declared))
        return true;
    Exprs *exprs = frame->env->exprs;
    const char *name = sym_text(frame->env->syms, frame->function->full_name);
    compile_open(&c, frame, arena_printf(frame->env->arena, "der(%s)", name), node_span(frame->env, declared.function));
    bool good = compile_derivative(&c, &declared, given, specialise, signature);
    c.routine->complete = good;
    if (good)
        routine_of(exprs, signature->number)->derivative = c.routine->number;
    compile_close(&c);
    return good;
}
