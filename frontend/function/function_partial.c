// function_partial.c: functions that are partial derivatives of others.
//
// Purpose: `function g = der(f, x, y)` (Modelica 3.6, section 12.7.2) has the inputs of f, and as outputs the derivatives of its Real ones by
// x, and of these by y.
// Method: f is called with a variable of its own in the place of each of these inputs, what it gives is differentiated by them, and the
// arguments take their places. So an f that is expanded gives the derivative of its expressions, and one that is called at run time a call
// of the routine of its derivative (ir/expr/routine_gradient.c), which folds where the arguments are known. The values of all inputs are found
// first: an input whose default uses x does not move with x.
// Contract: function.h. Complexity: that of the call, and of differentiating its results.
#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/routine.h"

static const char *
name_text(const ExprEnv *env, const FunctionRef *function)
{
    return sym_text(env->syms, function->full_name);
}

// --- the declaration

static const Variable *
find_input(const Frame *frame, Sym name)
{
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (frame->variables.at[i].flags & AST_F_INPUT && frame->variables.at[i].name == name)
            return &frame->variables.at[i];
    return NULL;
}

static bool
check_input(Frame *frame, const FunctionRef *of, Node ident)
{
    ExprEnv *env = frame->env;
    const char *name = sym_text(env->syms, ast_at(env->ast, ident)->sym);
    const Variable *input = find_input(frame, ast_at(env->ast, ident)->sym);
    Type type;
    uint32_t own;
    if (!input) {
        function_no_input(frame, of, ident);
        return false;
    }
    if (!function_named_type(env, input, &type, &own))
        return false;
    if (type.base == TYPE_REAL && !type.rank && !own)
        return true;
    Diag *diag = diag_add(env->diags, type.base == TYPE_REAL ? E0202 : E0201, node_span(env, ident),
                          "a partial derivative is by a scalar Real input, but '%s' of '%s' is %s", name, name_text(env, of),
                          type.base == TYPE_REAL ? "an array" : type.base == TYPE_RECORD ? "a record" : "no Real");
    diag_note(diag, node_span(env, input->component), "declared here");
    if (type.base == TYPE_REAL || type.base == TYPE_RECORD)
        diag_help(diag, "write a function that takes its %s as inputs of their own and calls '%s'; that one can be differentiated",
                  type.base == TYPE_REAL ? "elements" : "fields", name_text(env, of));
    return false;
}

static bool
only_reals(const Type *type)
{
    bool real = type->base == TYPE_REAL || type->base == TYPE_RECORD;
    for (uint32_t i = 0; real && type->base == TYPE_RECORD && i < type->record->n; i++)
        real = only_reals(&type->record->fields[i].type);
    return real;
}

// Outputs that have no derivative become variables of the function.
static bool
keep_real_outputs(Frame *frame, const FunctionRef *of, Node definition)
{
    ExprEnv *env = frame->env;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        Variable *variable = &frame->variables.at[i];
        Type type;
        uint32_t own;
        if (!(variable->flags & AST_F_OUTPUT))
            continue;
        if (!function_named_type(env, variable, &type, &own))
            return false;
        if (type.base == TYPE_RECORD && !only_reals(&type)) {
            Diag *diag = diag_add(env->diags, E0201, node_span(env, ast_child(env->ast, definition, 0)),
                                  "'%s' has no derivative: not all fields of its output '%s' are Reals", name_text(env, of),
                                  sym_text(env->syms, variable->name));
            diag_note(diag, node_span(env, variable->component), "declared here");
            return false;
        }
        kept += only_reals(&type);
        if (!only_reals(&type))
            variable->flags &= ~(uint32_t)AST_F_OUTPUT;
    }
    if (!kept)
        diag_add(env->diags, E0201, node_span(env, ast_child(env->ast, definition, 0)), "'%s' has no derivative: none of its outputs is a Real", name_text(env, of));
    return kept > 0;
}

bool
function_gather_partial(Frame *frame, const FunctionRef *of, Node definition)
{
    ExprEnv *env = frame->env;
    if (frame->record) {
        Diag *diag = diag_add(env->diags, E0115, node_span(env, ast_child(env->ast, definition, 0)), "'%s' is a record, not a function, and has no derivative",
                              name_text(env, of));
        diag_note(diag, frame->span, "in this use of '%s'", name_text(env, frame->function));
        return false;
    }
    if (!frame->of) {
        FunctionRef *copy = arena_new(env->arena, FunctionRef);
        *copy = *of;
        frame->of = copy;
    }
    for (uint32_t i = 1; i < ast_at(env->ast, definition)->nchild; i++) {
        Node ident = ast_child(env->ast, definition, i);
        if (!check_input(frame, of, ident))
            return false;
        vec_push(&frame->by, ast_at(env->ast, ident)->sym);
    }
    return keep_real_outputs(frame, of, definition);
}

// --- the call

// What stands for the inputs that results are differentiated by.
typedef struct Partial {
    Frame *frame;
    uint32_t *slot; // per variable of the function; NONE: it keeps its argument
    Expr *given;    // per variable: the argument
} Partial;

static void
place_variables(Partial *partial, Value *values)
{
    Frame *frame = partial->frame;
    ExprEnv *env = frame->env;
    partial->slot = arena_array(env->arena, uint32_t, frame->variables.n + 1);
    partial->given = arena_array(env->arena, Expr, frame->variables.n + 1);
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        const Variable *variable = &frame->variables.at[i];
        bool moves = false;
        partial->slot[i] = NONE;
        for (uint32_t k = 0; k < frame->by.n && variable->flags & AST_F_INPUT; k++)
            moves |= frame->by.at[k] == variable->name;
        if (!moves)
            continue;
        partial->slot[i] = env->slots->n;
        partial->given[i] = values[i].elements[0];
        vec_push(env->slots, BOUND_VARIABLE);
        values[i] = value_scalar(env, TYPE_REAL, expr_slot(env->exprs, partial->slot[i]));
    }
}

static bool
has_no_derivative(const Frame *frame, const char *name, bool external, Sym by)
{
    ExprEnv *env = frame->env;
    Diag *diag = diag_add(env->diags, E0722, frame->span, "the derivative of '%s' by '%s' is needed, but '%s' %s",
                          name_text(env, frame->function), sym_text(env->syms, by), name,
                          external ? "is an external function that declares none"
                                   : "depends on its arguments through comparisons alone");
    diag_help(diag, "give '%s' the annotation 'derivative'", name);
    return false;
}

// The derivatives of the routines that are called are those of their statements, and are complete.
static bool
check_routine(const Frame *frame, const Routine *routine, Sym by)
{
    ExprEnv *env = frame->env;
    if (routine->stepwise)
        return has_no_derivative(frame, routine->name, routine->external != NULL, by);
    if (!routine->complete)
        diag_add(env->diags, E0722, frame->span, "the derivative of '%s' is used inside of '%s' itself, where it is not known yet",
                 name_text(env, frame->function), routine->name);
    return routine->complete;
}

// Looks at the functions whose derivatives an expression calls, which the one that was differentiated called, or they.
static bool
check_routines(const Frame *frame, Expr result, Expr derivative, Sym by)
{
    Exprs *exprs = frame->env->exprs;
    U8Vec seen = {0}, seen_made = {0};
    U32Vec called = {0}, made = {0};
    bool good = true;
    routine_reach(exprs, result, &seen, &called);
    routine_reach(exprs, derivative, &seen_made, &made);
    for (uint32_t i = 0; i < called.n && good; i++) {
        const Routine *routine = routine_of(exprs, called.at[i]);
        bool used = !routine->complete;
        for (uint32_t k = 0; k < made.n && !used; k++)
            used = made.at[k] == routine->derivative;
        good = !used || check_routine(frame, routine, by);
    }
    vec_free(&seen);
    vec_free(&seen_made);
    vec_free(&called);
    vec_free(&made);
    return good;
}

static bool
differentiate(const Partial *partial, Expr *element)
{
    const Frame *frame = partial->frame;
    Exprs *exprs = frame->env->exprs;
    for (uint32_t k = 0; k < frame->by.n; k++) {
        uint32_t i = 0;
        while (frame->variables.at[i].name != frame->by.at[k])
            i++;
        Expr result = *element;
        *element = expr_uses_slot(exprs, result, partial->slot[i]) ? expr_diff(exprs, result, partial->slot[i]) : expr_const(exprs, 0);
        if (!*element) {
            diag_add(frame->env->diags, E0722, frame->span, "what '%s' gives has no derivative by '%s'", name_text(frame->env, frame->of),
                     sym_text(frame->env->syms, frame->by.at[k]));
            return false;
        }
        if (expr_has_op(exprs, result, OP_CALL) && !check_routines(frame, result, *element, frame->by.at[k]))
            return false;
    }
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (partial->slot[i] != NONE)
            *element = expr_replace_slot(exprs, *element, partial->slot[i], partial->given[i]);
    return true;
}

// Runs f with the variables in their places.
static bool
run(Partial *partial, Node *nodes, Value *values, Value **outputs, uint32_t *n)
{
    Frame *frame = partial->frame;
    ExprEnv *env = frame->env;
    const FunctionRef *own = frame->function;
    U32Vec by = frame->by;
    bool in_function = env->in_function;
    frame->by = (U32Vec){0};
    frame->function = frame->of;
    env->in_function = true; // what it decides by comparisons makes no events: who called the derivative sees to that
    bool good = function_execute(frame, nodes, values, outputs, n);
    env->in_function = in_function;
    frame->function = own;
    frame->by = by;
    return good;
}

bool
function_partial(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    Partial partial = {.frame = frame};
    Node *given = arena_array(env->arena, Node, frame->variables.n + 1);
    Value *moved = arena_array(env->arena, Value, frame->variables.n + 1);
    if (!function_inputs(frame, nodes, values))
        return false;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        moved[i] = values[i];
        if (frame->variables.at[i].flags & AST_F_INPUT)
            given[i] = nodes[i] ? nodes[i] : frame->variables.at[i].component;
    }
    place_variables(&partial, moved);
    if (!run(&partial, given, moved, outputs, n))
        return false;
    for (uint32_t o = 0; o < *n; o++) {
        Value *output = &(*outputs)[o];
        Value derivative;
        if (!value_new(env, &output->type, frame->span, &derivative))
            return false;
        for (uint32_t k = 0; k < output->count; k++) {
            derivative.elements[k] = output->elements[k];
            if (!differentiate(&partial, &derivative.elements[k]))
                return false;
        }
        *output = derivative;
    }
    return true;
}
