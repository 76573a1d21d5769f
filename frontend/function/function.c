// function.c: functions with algorithms: calls, arguments, frames.
//
// Purpose: a call becomes the expressions of its outputs (Modelica 3.6, chapter 12).
// Method: symbolic execution. The inputs are bound to the argument's expressions, the statements run at
// compile time on values that are expressions (expansion.c), and the outputs are what the variables hold at
// the end.
// Contract: expression.h. What cannot be expanded is a located E0721 or E0722. Relations inside a function
// make no events (section 12.3): the outermost call wraps outputs that choose between branches in noEvent.
// Complexity: statements executed, at most STATEMENT_LIMIT; CALL_LIMIT calls inside each other.
#include <math.h>
#include <string.h>

#include "frontend/external/external.h"
#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "runtime/model/nearest.h"

// --- arguments

static const char *
function_name(const Frame *frame)
{
    return sym_text(frame->env->syms, frame->function->full_name);
}

static bool
is_open_input(const Frame *frame, uint32_t i)
{
    return frame->variables.at[i].flags & AST_F_INPUT && !frame->variables.at[i].bound;
}

static int64_t
input_named(const Frame *frame, Sym name)
{
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (frame->variables.at[i].name == name && is_open_input(frame, i))
            return i;
    return -1;
}

static int64_t
input_numbered(const Frame *frame, uint32_t number)
{
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (is_open_input(frame, i) && number-- == 0)
            return i;
    return -1;
}

static uint32_t
count_flag(const Frame *frame, uint32_t flag)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        n += !!(frame->variables.at[i].flags & flag);
    return n;
}

void
function_no_input(const Frame *frame, const FunctionRef *function, Node named)
{
    ExprEnv *env = frame->env;
    const char *name = sym_text(env->syms, ast_at(env->ast, named)->sym);
    const char **names = arena_array(env->arena, const char *, frame->variables.n + 1);
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (frame->variables.at[i].flags & AST_F_INPUT)
            names[i] = sym_text(env->syms, frame->variables.at[i].name);
    const char *near = nearest_name(name, names, frame->variables.n);
    Diag *diag = diag_add(env->diags, E0203, node_span(env, named), "'%s' has no input named '%s'",
                          sym_text(env->syms, function->full_name), name);
    if (near)
        diag_help(diag, "did you mean '%s'?", near);
}

static bool
report_argument(Frame *frame, Node arg, uint32_t given)
{
    ExprEnv *env = frame->env;
    if (ast_kind(env->ast, arg) != AST_ARG) {
        uint32_t inputs = count_flag(frame, AST_F_INPUT);
        diag_add(env->diags, E0203, frame->span, "'%s' takes %u argument%s, got %u", function_name(frame),
                 inputs, inputs == 1 ? "" : "s", given);
        return false;
    }
    function_no_input(frame, frame->function, arg);
    return false;
}

// Argument expressions per variable, 0 where none is given.
static bool
match_arguments(Frame *frame, Node args, Node *nodes)
{
    ExprEnv *env = frame->env;
    uint32_t given = args ? ast_at(env->ast, args)->nchild : 0, positional = 0;
    for (uint32_t i = 0; i < given; i++) {
        Node arg = ast_child(env->ast, args, i);
        bool named = ast_kind(env->ast, arg) == AST_ARG;
        if (ast_kind(env->ast, arg) == AST_FORARG) {
            Diag *diag = diag_add(env->diags, E0203, node_span(env, arg), "only reductions such as 'sum' take iterators as arguments");
            diag_help(diag, "write '{... for i in ...}' to give '%s' an array", function_name(frame));
            return false;
        }
        int64_t index = named ? input_named(frame, ast_at(env->ast, arg)->sym)
            : input_numbered(frame, positional++);
        if (index < 0)
            return report_argument(frame, arg, given);
        if (nodes[index]) {
            diag_add(env->diags, E0203, node_span(env, arg), "input '%s' of '%s' is given twice",
                     sym_text(env->syms, frame->variables.at[index].name), function_name(frame));
            return false;
        }
        nodes[index] = named ? ast_child(env->ast, arg, 0) : arg;
    }
    return true;
}

static bool
evaluate_arguments(Frame *frame, const Node *nodes, Value *values)
{
    bool good = true;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        const Variable *variable = &frame->variables.at[i];
        if (!nodes[i] || variable->bound)
            continue;
        AstKind kind = ast_kind(frame->env->ast, nodes[i]);
        bool function = kind == AST_FUNCARG || (kind == AST_REF && closure_wanted(frame->env, variable));
        frame->env->argument = frame->env->in_function ? nodes[i] : 0;
        good = (function ? closure_value(frame->env, nodes[i], &values[i]) : expression_flexible(frame->env, nodes[i], &values[i])) && good;
        frame->env->argument = 0;
        if (good && function && closure_wanted(frame->env, variable))
            good = function_fits(frame->env, variable, values[i].closure, node_span(frame->env, nodes[i]));
    }
    return good;
}

// --- variables

Node
function_default(const ExprEnv *env, const Variable *variable)
{
    Node modification = ast_child(env->ast, variable->component, 1);
    if (variable->value)
        return variable->value;
    return modification && ast_kind(env->ast, modification) == AST_MODS ? ast_child(env->ast, modification, 0)
        : 0;
}

static bool
unset_value(ExprEnv *env, const Type *type, Span span, Value *out)
{
    for (uint32_t i = 0; i < type->rank; i++)
        if (type->dims[i] == SIZE_UNKNOWN) {
            *out = (Value){.type = *type};
            return true;
        }
    return value_new(env, type, span, out);
}

// Elements of its own: statements change them in place.
static void
own_elements(ExprEnv *env, Value *value)
{
    uint32_t n = value->count;
    Expr *own = arena_array(env->arena, Expr, n + 1);
    if (value->elements)
        memcpy(own, value->elements, n * sizeof *own);
    value->elements = own;
}

static bool
coerce_to(Frame *frame, uint32_t i, const Type *type, Value *value, Node node)
{
    ExprEnv *env = frame->env;
    const char *kind = frame->record ? "field" : frame->variables.at[i].flags & AST_F_INPUT ? "input" : "variable";
    const char *what = arena_printf(env->arena, "%s '%s' of '%s'", kind, sym_text(env->syms, frame->variables.at[i].name), function_name(frame));
    return expression_coerce(env, value, type, node_span(env, node), what);
}

bool
function_given(Frame *frame, uint32_t i, const Type *type, Value *value, bool *given)
{
    ExprEnv *env = frame->env;
    const Variable *variable = &frame->variables.at[i];
    Node start = function_default(env, variable), modification = ast_child(env->ast, variable->component, 1);
    *given = start || (type->base == TYPE_RECORD && modification && ast_at(env->ast, modification)->nchild > 1);
    if (!start && !*given)
        return (variable->flags & AST_F_INPUT && !frame->record) || function_record_given(frame, variable, type, value, given);
    if (!start)
        return function_record_modified(frame, variable, type, value);
    env->scope = variable->value ? variable->value_scope : variable->scope;
    return expression_flexible(env, start, value) && coerce_to(frame, i, type, value, start);
}

static bool
variable_open(Frame *frame, uint32_t i, Node argument, Value *value)
{
    ExprEnv *env = frame->env;
    const Variable *variable = &frame->variables.at[i];
    bool input = variable->flags & AST_F_INPUT, given = true;
    Type type;
    env->scope = variable->scope;
    if (!function_variable_type(env, variable, &type))
        return false;
    for (uint32_t k = 0; !input && k < type.rank; k++)
        frame->variables.at[i].open_sizes |= (type.dims[k] == SIZE_UNKNOWN) << k;
    if (!(argument ? coerce_to(frame, i, &type, value, argument) : function_given(frame, i, &type, value, &given)))
        return false;
    if (!given && input) {
        Diag *diag = diag_add(env->diags, E0203, frame->span, "'%s' needs an argument for its input '%s'",
                              function_name(frame), sym_text(env->syms, variable->name));
        diag_note(diag, node_span(env, variable->component), "declared here");
        return false;
    }
    if (!given)
        return unset_value(env, &type, node_span(env, variable->component), value);
    own_elements(env, value);
    return true;
}

static bool
inputs_open(Frame *frame, const Node *nodes, Value *values)
{
    ExprEnv *env = frame->env;
    uint32_t *order = arena_array(env->arena, uint32_t, frame->variables.n + 1), n;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        vec_push(&env->locals, (Local){nodes[i] ? frame->variables.at[i].name : 0, values[i]});
    if (!function_order_inputs(frame, nodes, order, &n))
        return false;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t i = order[k];
        bool was = env->is_default;
        env->is_default = !nodes[i];
        bool good = variable_open(frame, i, nodes[i], &values[i]);
        env->is_default = was;
        if (!good)
            return false;
        env->locals.at[i] = (Local){frame->variables.at[i].name, values[i]};
    }
    return true;
}

void
function_enter(ExprEnv *env)
{
    env->locals.at = NULL;
    env->locals.n = env->locals.capacity = 0;
    if (!env->in_function)
        env->calling = env->scope;
    env->in_function = true;
    env->is_default = false;
}

void
function_leave(ExprEnv *env, const ExprEnv *before)
{
    vec_free(&env->locals);
    env->locals.at = before->locals.at;
    env->locals.n = before->locals.n;
    env->locals.capacity = before->locals.capacity;
    env->in_function = before->in_function;
    env->is_default = before->is_default;
    env->depth = before->depth;
    env->scope = before->scope;
    env->some_assigned = before->some_assigned; // of the caller's own variables
    env->at_run_time |= before->at_run_time;
}

bool
function_inputs(Frame *frame, const Node *nodes, Value *values)
{
    ExprEnv *env = frame->env, saved = *env;
    function_enter(env);
    bool good = inputs_open(frame, nodes, values);
    function_leave(env, &saved);
    return good;
}

static bool
variables_open(Frame *frame, const Node *nodes, Value *values)
{
    ExprEnv *env = frame->env;
    // Inputs first: the sizes of other variables use them wherever they are declared, and A[:, size(A, 1)]
    // uses itself.
    if (!inputs_open(frame, nodes, values) || !function_settle_sizes(frame, values))
        return false;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        if (frame->variables.at[i].flags & AST_F_INPUT)
            continue;
        if (!variable_open(frame, i, nodes[i], &values[i]))
            return false;
        env->locals.at[i] = (Local){frame->variables.at[i].name, values[i]};
    }
    return true;
}

// --- outputs

static bool
output_value(Frame *frame, uint32_t i, Value *out)
{
    ExprEnv *env = frame->env;
    *out = env->locals.at[i].value;
    bool missing = !out->elements;
    for (uint32_t k = 0; !missing && k < out->count; k++)
        missing = !out->elements[k];
    if (!missing || record_fill(env, out))
        return true;
    env->at_run_time |= env->some_assigned; // a call finds out where it runs (routine_unset.c)
    Diag *diag = diag_add(env->diags, E0207, frame->span,
                          "output '%s' of '%s' has no value at the end of the function",
                          sym_text(env->syms, frame->variables.at[i].name), function_name(frame));
    diag_note(diag, node_span(env, frame->variables.at[i].component), "declared here");
    return false;
}

static bool
collect_outputs(Frame *frame, Value **outputs, uint32_t *n)
{
    uint32_t count = count_flag(frame, AST_F_OUTPUT);
    if (frame->record) {
        *n = 1;
        *outputs = arena_new(frame->env->arena, Value);
        return record_construct(frame, *outputs);
    }
    *outputs = arena_array(frame->env->arena, Value, count ? count : 1);
    *n = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if ((frame->variables.at[i].flags & AST_F_OUTPUT) && !output_value(frame, i, &(*outputs)[(*n)++]))
            return false;
    if (!count) // for who calls it for its effects
        (*outputs)[0] = value_scalar(frame->env, TYPE_REAL, frame->effect ? frame->effect : expr_const(frame->env->exprs, 0));
    return true;
}

// --- calls

static bool
frame_run(Frame *frame)
{
    for (uint32_t i = 0; i < frame->sections.n; i++) {
        frame->env->scope = frame->sections.at[i].scope;
        Control control = statement_expand(frame, frame->sections.at[i].node);
        if (control == CONTROL_FAILED)
            return false;
        if (control == CONTROL_RETURN)
            break;
    }
    return statement_returns(frame);
}

// What goes wrong inside a function is the doing of its caller as often as its own.
static void
note_call(const Frame *frame)
{
    Diag *diag = diags_newest(frame->env->diags);
    Span at = diag_span(diag);
    if (at.lo < frame->span.lo || at.hi > frame->span.hi)
        diag_note(diag, frame->span, "in this call of '%s'", function_name(frame));
}

// The function is being expanded already, and what decides how deep it goes is not known.
static bool
recurs(const Frame *frame, const Node *nodes, const Value *values)
{
    const ExprEnv *env = frame->env;
    bool known = true, inside = false;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (nodes[i])
            known &= value_known(env, &values[i]) && closure_known(env, values[i].closure);
    for (const Running *running = env->running; running; running = running->outer)
        inside |= running->class_node == frame->function->class_node && running->id == frame->function->id;
    return inside && !known;
}

static void
forget(Frame *frame)
{
    frame->env->at_run_time = frame->env->some_assigned = false;
    frame->env->locals.n = 0;
    frame->exits.n = 0;
    frame->path = frame->left = frame->returned = 0;
}

// What is called has values for all its inputs; fields of records may be open.
static bool
arguments_given(Frame *frame, const Node *nodes, const Value *values)
{
    ExprEnv *env = frame->env;
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        bool open = false;
        for (uint32_t k = 0; nodes[i] && values[i].type.base != TYPE_RECORD && values[i].elements && k < values[i].count; k++)
            open |= expr_op(env->exprs, values[i].elements[k]) == OP_CONST && isnan(expr_value(env->exprs, values[i].elements[k]));
        if (!open)
            continue;
        env->at_run_time = true; // who calls this may find out where it runs
        diag_add(env->diags, E0207, node_span(env, nodes[i]), "'%s' is read before it has a value", expression_text(env, nodes[i]));
        return false;
    }
    return true;
}

// What cannot be expanded is called.
static bool
call_instead(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n)
{
    forget(frame);
    return arguments_given(frame, nodes, values) && inputs_open(frame, nodes, values) && routine_use(frame, values, outputs, n);
}

// What is passed to other languages has sizes that are known.
bool
function_settled(const Frame *frame)
{
    bool good = true;
    for (uint32_t i = 0; frame->external.node && good && i < frame->variables.n; i++)
        good = value_settled(frame->env, &frame->env->locals.at[i].value, frame->span);
    return good;
}

static bool
expand(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    const Running *outer = env->running;
    Running running = {frame->function->class_node, frame->function->id, outer};
    env->running = &running;
    bool good = statement_count(frame, frame->span) && variables_open(frame, nodes, values) && frame_run(frame) && function_settled(frame)
             && (!frame->external.node || (arguments_given(frame, nodes, values) && external_run(frame))) && collect_outputs(frame, outputs, n);
    env->running = outer;
    return good;
}

// Whether what has been expanded still calls functions at run time, whose statements would be differentiated.
static bool
calls_inside(const ExprEnv *env, const Value *outputs, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < outputs[i].count; k++)
            if (expr_has_op(env->exprs, outputs[i].elements[k], OP_CALL))
                return true;
    return false;
}

// At an event, where nothing is differentiated, each of many outputs would hold the call and all of the many inputs that go into it.
static bool
is_long(const Frame *frame, const Value *values, const Value *outputs, uint32_t n)
{
    enum { LONG = 10000 };
    uint64_t open = 0, given = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        for (uint32_t k = 0; frame->variables.at[i].flags & AST_F_INPUT && values[i].elements && k < values[i].count; k++)
            open += expr_op(frame->env->exprs, values[i].elements[k]) != OP_CONST;
    for (uint32_t i = 0; i < n; i++)
        given += outputs[i].count;
    return open * given > LONG && calls_inside(frame->env, outputs, n);
}

static bool
declares_derivative(const Frame *frame)
{
    Node mods;
    return ast_annotation(frame->env->ast, frame->env->syms, frame->function->class_node, "derivative", 0, &mods) != 0;
}

// annotation(Inline = false), section 18.3: whoever wrote it together with a derivative wants both as they are written. Where the arguments
// are known there is nothing to differentiate.
static bool
is_not_inline(const Frame *frame, const Value *outputs, uint32_t n)
{
    const ExprEnv *env = frame->env;
    Node mods, value = ast_annotation(env->ast, env->syms, frame->function->class_node, "Inline", 0, &mods);
    if (!value || ast_kind(env->ast, value) != AST_BOOL || ast_at(env->ast, value)->flags & AST_F_TRUE)
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < outputs[i].count; k++)
            if (expr_op(env->exprs, outputs[i].elements[k]) != OP_CONST)
                return true;
    return false;
}

// A function with an inverse is called where its arguments are not known, so that equations can be solved by that (section 12.8).
static bool
may_be_inverted(const Frame *frame, const Value *values)
{
    if (!routine_declares_inverse(frame))
        return false;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        for (uint32_t k = 0; frame->variables.at[i].flags & AST_F_INPUT && values[i].elements && k < values[i].count; k++)
            if (expr_op(frame->env->exprs, values[i].elements[k]) != OP_CONST)
                return true;
    return false;
}

// annotation(GenerateEvents = true), section 12.7.4: its relations make events where it is expanded.
static bool
generates_events(const ExprEnv *env, const FunctionRef *function)
{
    Node mods, value = ast_annotation(env->ast, env->syms, function->class_node, "GenerateEvents", 0, &mods);
    return value && ast_kind(env->ast, value) == AST_BOOL && ast_at(env->ast, value)->flags & AST_F_TRUE;
}

// What is expanded of a partial derivative makes no events either.
static bool
execute_partial(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n)
{
    ExprEnv *env = frame->env;
    uint32_t errors = diags_errors(env->diags);
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (!value_settled(env, &values[i], frame->span))
            return false;
    bool good = function_partial(frame, nodes, values, outputs, n);
    if (good)
        function_note_units(frame, values);
    if (!good && !env->in_function && diags_errors(env->diags) != errors)
        note_call(frame);
    if (good && !env->in_function && !generates_events(env, frame->of))
        function_silence(env, nodes, values, frame->variables.n, *outputs, *n);
    return good;
}

bool
function_execute(Frame *frame, const Node *nodes, Value *values, Value **outputs, uint32_t *n)
{
    if (frame->by.n)
        return execute_partial(frame, nodes, values, outputs, n);
    ExprEnv *env = frame->env, saved = *env;
    DiagsMark mark = diags_mark(env->diags);
    bool callable = env->routines && !frame->record, called = callable && (recurs(frame, nodes, values) || (!saved.in_function && may_be_inverted(frame, values)));
    function_enter(env);
    env->depth++;
    if (saved.depth == 0)
        env->statements = 0;
    uint32_t errors = diags_errors(env->diags);
    env->at_run_time = env->some_assigned = false;
    bool many = callable && frame->many && !called, good = many && call_instead(frame, nodes, values, outputs, n);
    if (many && !good) {
        diags_return_to(env->diags, mark);
        forget(frame);
    }
    called |= good;
    good = good || (!called && expand(frame, nodes, values, outputs, n));
    bool declared = callable && good && !called && declares_derivative(frame)
                 && (calls_inside(env, *outputs, *n) || is_not_inline(frame, *outputs, *n));
    if (callable && good && !called && saved.when && !saved.in_function && is_long(frame, values, *outputs, *n)) {
        Value *expanded = *outputs;
        uint32_t n_expanded = *n;
        called = call_instead(frame, nodes, values, outputs, n);
        if (!called) {
            diags_return_to(env->diags, mark);
            *outputs = expanded;
            *n = n_expanded;
        }
    } else if (declared || (callable && !good && (called || env->at_run_time))) {
        diags_return_to(env->diags, mark);
        env->statements = saved.statements;
        called = true;
        good = call_instead(frame, nodes, values, outputs, n);
    }
    if (good && !called)
        function_note_units(frame, values);
    if (callable && good && !called && declares_derivative(frame))
        function_take_rates(frame, values, *outputs, *n);
    if (!good && !saved.in_function && diags_errors(env->diags) != errors)
        note_call(frame);
    function_leave(env, &saved);
    if (good && !called && !saved.in_function && !generates_events(env, frame->function))
        function_silence(env, nodes, values, frame->variables.n, *outputs, *n);
    return good;
}

static bool
call_function(ExprEnv *env, const FunctionRef *function, const Closure *closure, Node call, Value **outputs, uint32_t *n)
{
    Frame frame = {.env = env, .function = function, .span = node_span(env, call)};
    if (env->depth >= CALL_LIMIT) {
        diag_add(env->diags, E0208, frame.span, "'%s' calls itself, or other functions, more than %d deep",
                 sym_text(env->syms, function->full_name), CALL_LIMIT);
        return false;
    }
    bool good = function_gather(&frame);
    if (good)
        function_order_variables(&frame);
    Node *nodes = arena_array(env->arena, Node, frame.variables.n + 1);
    Value *values = arena_array(env->arena, Value, frame.variables.n + 1);
    good = good && function_check_derivatives(&frame) && (!closure || closure_bind(&frame, closure, nodes, values))
        && match_arguments(&frame, ast_child(env->ast, call, 1), nodes) && evaluate_arguments(&frame, nodes, values)
        && function_map(&frame, nodes, values, outputs, n);
    function_release(&frame);
    return good;
}

// --- which of several functions a call means

static bool
input_accepts(Frame *frame, uint32_t i, const Value *value)
{
    Type type;
    uint32_t own;
    if (!function_named_type(frame->env, &frame->variables.at[i], &type, &own))
        return false;
    bool same = type_same_class(&type, &value->type) || (type.base == TYPE_REAL && value->type.base == TYPE_INTEGER);
    return same && type.rank + own == value->type.rank;
}

static bool
accepts(ExprEnv *env, const FunctionRef *function, const Value *arguments, uint32_t n)
{
    Frame frame = {.env = env, .function = function};
    void *scope = env->scope;
    DiagsMark mark = diags_mark(env->diags);
    uint32_t given = 0;
    bool good = function_gather(&frame);
    for (uint32_t i = 0; good && i < frame.variables.n; i++) {
        if (!(frame.variables.at[i].flags & AST_F_INPUT))
            continue;
        good = given < n ? input_accepts(&frame, i, &arguments[given]) : function_default(env, &frame.variables.at[i]) != 0;
        given++;
    }
    diags_return_to(env->diags, mark);
    env->scope = scope;
    function_release(&frame);
    return good && given >= n;
}

static bool
takes(ExprEnv *env, const FunctionRef *function, Node call)
{
    Frame frame = {.env = env, .function = function, .span = node_span(env, call)};
    void *scope = env->scope;
    DiagsMark mark = diags_mark(env->diags);
    bool good = function_gather(&frame);
    env->scope = scope;
    Node *nodes = arena_array(env->arena, Node, frame.variables.n + 1);
    Value *values = arena_array(env->arena, Value, frame.variables.n + 1);
    good = good && match_arguments(&frame, ast_child(env->ast, call, 1), nodes) && evaluate_arguments(&frame, nodes, values);
    for (uint32_t i = 0; good && i < frame.variables.n; i++)
        if (frame.variables.at[i].flags & AST_F_INPUT)
            good = nodes[i] ? input_accepts(&frame, i, &values[i]) : function_default(env, &frame.variables.at[i]) != 0;
    diags_return_to(env->diags, mark);
    env->scope = scope;
    function_release(&frame);
    return good;
}

static bool
apply_all(ExprEnv *env, const FunctionRef *function, const Value *arguments, uint32_t n, Span span, Value **outputs,
                   uint32_t *n_outputs)
{
    Frame frame = {.env = env, .function = function, .span = span};
    uint32_t given = 0;
    bool good = function_gather(&frame);
    if (good)
        function_order_variables(&frame);
    Node *nodes = arena_array(env->arena, Node, frame.variables.n + 1);
    Value *values = arena_array(env->arena, Value, frame.variables.n + 1);
    for (uint32_t i = 0; good && i < frame.variables.n && given < n; i++)
        if (frame.variables.at[i].flags & AST_F_INPUT) {
            nodes[i] = function->class_node;
            values[i] = arguments[given++];
        }
    if (good && given < n) {
        diag_add(env->diags, E0203, span, "'%s' takes %u arguments, got %u", function_name(&frame), given, n);
        good = false;
    }
    good = good && function_execute(&frame, nodes, values, outputs, n_outputs);
    function_release(&frame);
    return good;
}

static bool
apply(ExprEnv *env, const FunctionRef *function, const Value *arguments, uint32_t n, Span span,
               Value *out)
{
    Value *outputs;
    uint32_t n_outputs;
    bool good = apply_all(env, function, arguments, n, span, &outputs, &n_outputs);
    if (good)
        *out = outputs[0];
    return good;
}

bool
function_multiple(ExprEnv *env, Node call, Value **outputs, uint32_t *n)
{
    Node ref = ast_child(env->ast, call, 0);
    FunctionRef function = {0};
    const Closure *closure = closure_called(env, ref);
    const Builtin *builtin = closure ? NULL : builtin_called(env, ref);
    if (closure)
        function = closure->function;
    if (builtin && builtin->run == builtin_string && overload_string(env, call, &function))
        return call_function(env, &function, NULL, call, outputs, n);
    if (!builtin && (closure || env->function(env, ref, &function)))
        return (closure || overload_constructor(env, &function, call)) && call_function(env, &function, closure, call, outputs, n);
    if (!builtin)
        return false;
    *n = builtin_results(builtin);
    *outputs = arena_array(env->arena, Value, *n);
    return builtin_call(env, builtin, call, *outputs);
}

bool
function_effect(ExprEnv *env, Node call, Expr *effect)
{
    Value *outputs;
    uint32_t n;
    *effect = 0;
    if (!function_multiple(env, call, &outputs, &n))
        return false;
    for (uint32_t i = 0; i < (n ? n : 1) && !*effect; i++)
        for (uint32_t k = 0; k < outputs[i].count && !*effect; k++)
            if (expr_has_op(env->exprs, outputs[i].elements[k], OP_CALL))
                *effect = outputs[i].elements[k];
    return true;
}

static bool
call_results(ExprEnv *env, Node tuple, Node call, Span span, Value **outputs)
{
    uint32_t n, places = ast_at(env->ast, tuple)->nchild;
    if (!function_multiple(env, call, outputs, &n))
        return false;
    if (places > n)
        diag_add(env->diags, E0203, span, "%u variables stand on the left, but the function has %u output%s", places, n,
                 n == 1 ? "" : "s");
    return places <= n;
}

static bool
call_first(ExprEnv *env, Node call, Value *out)
{
    Value *outputs;
    uint32_t n;
    if (!function_multiple(env, call, &outputs, &n))
        return false;
    if (!n)
        diag_add(env->diags, E0212, node_span(env, call), "'%s' has no output",
                 expression_text(env, ast_child(env->ast, call, 0)));
    *out = outputs[0];
    return n > 0;
}

const FunctionCalls function_calls = {
    .call = call_first, .results = call_results, .apply_all = apply_all, .apply = apply, .accepts = accepts, .takes = takes, .reduce = routine_reduction,
};
