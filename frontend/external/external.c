// external.c: calls of external functions.
//
// Purpose: what `external "C" y = f(x, size(A, 1))` means (Modelica 3.6, section 12.9).
// Method: the arguments of the external function are values of the function's variables, or of expressions. They become the inputs of a
// routine without statements (ir/expr/routine.h) that calls the external function through a piece of C (external_code.c); there is one for each
// combination of the types, sizes and texts of arguments. What it gives becomes the value of the outputs, so that a call inlines into any
// expression like that of another function.
// Contract: external.h, external_inner.h. Functions that the C compiler does not know are its errors, when the model is compiled.
// Complexity: linear in the scalars passed.
#include <string.h>

#include "frontend/external/external.h"
#include "frontend/external/external_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

static const char *
function_text(const Frame *frame)
{
    return sym_text(frame->env->syms, frame->function->full_name);
}

static bool
refuse(const Frame *frame, Node node, const char *why)
{
    Diag *diag = diag_add(frame->env->diags, E0722, frame->span, "the external function '%s' cannot be called: %s", function_text(frame), why);
    diag_note(diag, node_span(frame->env, node), "here");
    return false;
}

// --- what is passed

static bool
has_arrays(const RecordType *record)
{
    for (uint32_t i = 0; i < record->n; i++)
        if (record->fields[i].type.rank || (record->fields[i].type.base == TYPE_RECORD && has_arrays(record->fields[i].type.record)))
            return true;
    return false;
}

static bool
check_type(const Frame *frame, const Passing *passing, const Pass *pass)
{
    const Type *type = &pass->value.type;
    if (type->base == TYPE_RECORD)
        return passing->fortran ? refuse(frame, pass->node, "records have no form in FORTRAN 77")
             : has_arrays(type->record) ? refuse(frame, pass->node, "a record with arrays has no form in C") : true;
    if (type->base == TYPE_STRING && passing->fortran && (pass->kind == PASS_RESULT || type->rank))
        return refuse(frame, pass->node, type->rank ? "FORTRAN 77 takes no arrays of Strings" : "FORTRAN 77 cannot give a String");
    if (type->object && (type->rank || passing->fortran))
        return refuse(frame, pass->node, type->rank ? "arrays of external objects have no form in C" : "external objects have no form in FORTRAN 77");
    return external_scalar_type(type) ? true : refuse(frame, pass->node, "it has no form in C");
}

static bool
add_pass(Frame *frame, Passing *passing, Pass pass)
{
    if (!check_type(frame, passing, &pass))
        return false;
    vec_push(&passing->passes, pass);
    return true;
}

static bool
add_variable(Frame *frame, Passing *passing, uint32_t i, Node node)
{
    const Variable *variable = &frame->variables.at[i];
    Pass pass = {.value = frame->env->locals.at[i].value, .variable = i, .node = node};
    if (variable->flags & AST_F_OUTPUT)
        pass.kind = PASS_RESULT;
    else if (!(variable->flags & AST_F_INPUT) && pass.value.type.rank)
        pass.kind = PASS_WORK;
    for (uint32_t k = 0; k < pass.value.type.rank; k++)
        if (pass.value.type.dims[k] == SIZE_UNKNOWN)
            return refuse(frame, variable->component, "the size of this variable is not known");
    return add_pass(frame, passing, pass);
}

static bool
add_size(Frame *frame, Passing *passing, double size, Node node)
{
    Value value = value_scalar(frame->env, TYPE_INTEGER, expr_const(frame->env->exprs, size));
    return add_pass(frame, passing, (Pass){.value = value, .size = true, .node = node});
}

static int64_t
whole_variable(const Frame *frame, Node node)
{
    const Ast *ast = frame->env->ast;
    if (ast_kind(ast, node) != AST_REF || ast_at(ast, node)->nchild != 1 || ast_child(ast, ast_child(ast, node, 0), 0))
        return -1;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        if (frame->variables.at[i].name == ast_at(ast, ast_child(ast, node, 0))->sym)
            return i;
    return -1;
}

static bool
is_size(const ExprEnv *env, Node node)
{
    Node ref = ast_kind(env->ast, node) == AST_CALL ? ast_child(env->ast, node, 0) : 0;
    return ref && ast_at(env->ast, ref)->nchild == 1 && ast_at(env->ast, ast_child(env->ast, node, 1))->nchild == 2
        && !strcmp(sym_text(env->syms, ast_at(env->ast, ast_child(env->ast, ref, 0))->sym), "size");
}

static bool
add_argument(Frame *frame, Passing *passing, Node node)
{
    ExprEnv *env = frame->env;
    int64_t variable = whole_variable(frame, node);
    Pass pass = {.node = node};
    if (variable >= 0)
        return add_variable(frame, passing, (uint32_t)variable, node);
    pass.size = is_size(env, node);
    return expression(env, node, &pass.value) && add_pass(frame, passing, pass);
}

// Without a call in the declaration: all inputs and outputs in order, arrays with their sizes; a single output is returned.
static bool
add_all(Frame *frame, Passing *passing)
{
    uint32_t outputs = 0;
    for (uint32_t i = 0; i < frame->variables.n; i++)
        outputs += !!(frame->variables.at[i].flags & AST_F_OUTPUT);
    for (uint32_t i = 0; i < frame->variables.n; i++) {
        const Variable *variable = &frame->variables.at[i];
        if (!(variable->flags & (AST_F_INPUT | AST_F_OUTPUT)))
            continue;
        if (!add_variable(frame, passing, i, variable->component))
            return false;
        Type type = vec_last(&passing->passes).value.type;
        if (variable->flags & AST_F_OUTPUT && outputs == 1) {
            passing->returned = passing->passes.n - 1;
            if (type.rank)
                return refuse(frame, variable->component, "a function in C cannot return an array; write the call with its arguments");
            continue;
        }
        for (uint32_t d = 0; d < type.rank; d++)
            if (!add_size(frame, passing, type.dims[d], variable->component))
                return false;
    }
    return true;
}

static bool
add_returned(Frame *frame, Passing *passing, Node node)
{
    int64_t variable = whole_variable(frame, node);
    if (variable < 0 || !(frame->variables.at[variable].flags & AST_F_OUTPUT))
        return refuse(frame, node, "what it returns must go to an output");
    if (!add_variable(frame, passing, (uint32_t)variable, node))
        return false;
    passing->returned = passing->passes.n - 1;
    return vec_last(&passing->passes).value.type.rank ? refuse(frame, node, "a function in C cannot return an array") : true;
}

static bool
add_declared(Frame *frame, Passing *passing, Node external)
{
    const Ast *ast = frame->env->ast;
    Node result = ast_child(ast, external, 0), args = ast_child(ast, external, 2);
    if (result && !add_returned(frame, passing, result))
        return false;
    for (uint32_t i = 0; args && i < ast_at(ast, args)->nchild; i++)
        if (!add_argument(frame, passing, ast_child(ast, args, i)))
            return false;
    return true;
}

// --- its place among inputs and outputs

static void
append_inputs(ExprEnv *env, const Value *value, U32Vec *inputs)
{
    for (uint32_t k = 0; k < value->count; k++) {
        Expr element = value->elements ? value->elements[k] : 0;
        vec_push(inputs, element ? element : expr_const(env->exprs, 0));
    }
}

// The object that it makes; NULL: none.
const Type *
external_makes_object(const Passing *passing)
{
    for (uint32_t i = 0; i < passing->passes.n; i++)
        if (passing->passes.at[i].kind == PASS_RESULT && passing->passes.at[i].value.type.object)
            return &passing->passes.at[i].value.type;
    return NULL;
}

static void
place_passes(Passing *passing, U32Vec *inputs)
{
    for (uint32_t i = 0; i < passing->passes.n; i++) {
        Pass *pass = &passing->passes.at[i];
        pass->in = inputs->n;
        append_inputs(passing->env, &pass->value, inputs);
        if (pass->kind != PASS_RESULT)
            continue;
        pass->out = passing->outputs;
        passing->outputs += pass->value.count;
    }
    if (external_makes_object(passing))
        vec_push(inputs, expr_const(passing->env->exprs, 0)); // which one it is: see ir/lower/parameters.c
    else if (passing->counted) // equal expressions are one: next() - next() was zero
        vec_push(inputs, expr_const(passing->env->exprs, passing->env->routines->impure++));
    passing->inputs = inputs->n;
}

// --- the routine

static Sym
passing_key(const Frame *frame, const Passing *passing)
{
    ExprEnv *env = passing->env;
    Out out = {0};
    out_printf(&out, "external %u %u %s", frame->external_class, frame->function->id, passing->name);
    for (uint32_t i = 0; i < passing->passes.n; i++) {
        const Pass *pass = &passing->passes.at[i];
        out_printf(&out, ", %u %s", pass->kind, value_type_text(env, &pass->value));
        if (external_literal(passing, pass))
            out_printf(&out, " %s", external_literal(passing, pass));
    }
    Sym key = sym_of(env->syms, out.text);
    out_free(&out);
    return key;
}

static void
mark_reals(Routine *routine, const Passing *passing)
{
    for (uint32_t i = 0; i < passing->passes.n; i++) {
        const Value *value = &passing->passes.at[i].value;
        for (uint32_t k = 0; k < value->count; k++)
            vec_push(&routine->real, value->type.base == TYPE_REAL || value->type.base == TYPE_RECORD);
    }
    while (routine->real.n < passing->inputs)
        vec_push(&routine->real, 0);
}

static bool
describe(const Frame *frame, const Passing *passing, uint32_t number, External *external)
{
    ExprEnv *env = frame->env;
    Out code = {0}, prototype = {0};
    Node mods, include = ast_external_annotation(env->ast, env->syms, frame->external_class, "Include", 0, &mods);
    uint32_t site = site_add(env->exprs, arena_printf(env->arena, "'%s': \1t\2", function_text(frame)), frame->span);
    external->symbol = arena_printf(env->arena, "mdlc_external_%u", number);
    external_wrapper(passing, external->symbol, site, &code);
    external->code = arena_strndup(env->arena, code.text, code.length);
    external_prototype(passing, &prototype);
    external->include = arena_strndup(env->arena, prototype.text, prototype.length);
    out_free(&code);
    out_free(&prototype);
    if (include && ast_kind(env->ast, include) == AST_STRING) {
        external->declared = true;
        external->include = sym_text(env->syms, ast_at(env->ast, include)->sym);
    }
    env->scope = frame->external.scope;
    return external_words(env, frame->external_class, external);
}

// The routine of the destructor of an object that is made; *number is 0 where there is none. False after an error.
static bool
find_destructor(const Frame *frame, Passing *passing, uint32_t *number)
{
    ExprEnv *env = frame->env;
    const Type *type = external_makes_object(passing);
    *number = 0;
    if (!type)
        return true;
    const FunctionRef *function;
    Value handle = value_scalar(env, type->base, expr_const(env->exprs, 0)), *outputs;
    handle.type = *type;
    uint32_t n;
    if (env->operators(env, type->object, "destructor", &function) != 1) {
        Diag *diag = diag_add(env->diags, E0212, frame->span, "'%s' is a class of external objects without a destructor",
                              sym_text(env->syms, type->enum_class));
        diag_help(diag, "declare a function 'destructor' in it, with the object as its input");
        return false;
    }
    if (!env->calls->apply_all(env, function, &handle, 1, frame->span, &outputs, &n))
        return false;
    Expr call = n || outputs ? outputs[0].elements[0] : 0;
    while (call && expr_op(env->exprs, call) == OP_RESULT)
        call = expr_arg(env->exprs, call, 1);
    if (call && expr_op(env->exprs, call) == OP_CALL)
        *number = (uint32_t)expr_value(env->exprs, expr_arg(env->exprs, call, 0));
    const External *external = *number ? routine_of(env->exprs, *number)->external : NULL;
    passing->destructor = external ? external->symbol : NULL;
    return true;
}

bool
external_uses_objects(const Passing *passing)
{
    for (uint32_t i = 0; i < passing->passes.n; i++)
        if (passing->passes.at[i].value.type.object)
            return true;
    return false;
}

static bool
make_routine(const Frame *frame, Passing *passing, uint32_t *number)
{
    ExprEnv *env = frame->env;
    External external = {.objects = external_uses_objects(passing), .makes = external_makes_object(passing) != NULL};
    if (!find_destructor(frame, passing, &external.destructor))
        return false;
    Routine *routine = routine_create(env->exprs, function_text(frame), frame->span);
    if (passing->inputs)
        routine_cells(routine, passing->inputs);
    routine->inputs = passing->inputs;
    routine->outputs = passing->outputs ? passing->outputs : 1;
    routine->output = routine_cells(routine, routine->outputs);
    mark_reals(routine, passing);
    if (!describe(frame, passing, routine->number, &external))
        return false;
    routine_take_external(env->exprs, routine, &external);
    routine->complete = true;
    *number = routine->number;
    return true;
}

bool
external_take_results(Frame *frame, const Passing *passing, Expr call)
{
    ExprEnv *env = frame->env;
    for (uint32_t i = 0; i < passing->passes.n; i++) {
        const Pass *pass = &passing->passes.at[i];
        Value *value = &env->locals.at[pass->variable].value;
        if (pass->kind != PASS_RESULT)
            continue;
        if (!value_new(env, &pass->value.type, frame->span, value))
            return false;
        for (uint32_t k = 0; k < value->count; k++)
            value->elements[k] = routine_result(env->exprs, call, pass->out + k);
    }
    if (!passing->outputs)
        frame->effect = routine_result(env->exprs, call, 0);
    return true;
}

static bool
call(Frame *frame, Passing *passing)
{
    ExprEnv *env = frame->env;
    U32Vec inputs = {0};
    bool known;
    uint32_t number = 0;
    place_passes(passing, &inputs);
    Sym key = passing_key(frame, passing);
    uint32_t *place = routines_external_place(env->routines, key, &known);
    number = *place;
    bool good = known ? number != 0 : make_routine(frame, passing, &number);
    *routines_external_place(env->routines, key, &known) = good ? number : 0;
    good = good && external_take_results(frame, passing, routine_call(env->exprs, number, inputs.at, inputs.n));
    vec_free(&inputs);
    return good;
}

// --- declarations

static bool
check_language(const Frame *frame, Passing *passing, Node external)
{
    ExprEnv *env = frame->env;
    Sym sym = ast_at(env->ast, external)->sym;
    const char *language = sym ? sym_text(env->syms, sym) : "C";
    passing->fortran = !strcmp(language, "FORTRAN 77");
    if (passing->fortran || !strcmp(language, "C"))
        return true;
    Diag *diag = diag_add(env->diags, E0722, frame->span, "'%s' is an external function in the language '%s', which is not known",
                          function_text(frame), language);
    diag_note(diag, node_span(env, external), "here");
    diag_help(diag, "known are \"C\", \"FORTRAN 77\" and \"builtin\"");
    return false;
}

static bool
check_allowed(const Frame *frame)
{
    ExprEnv *env = frame->env;
    if (env->routines && env->routines->externals)
        return true;
    Diag *diag = diag_add(env->diags, E0724, frame->span, "'%s' is an external function, which is code that can do anything",
                          function_text(frame));
    diag_note(diag, node_span(env, frame->external.node), "declared here");
    diag_help(diag, "if you trust it, give the option --allow-external");
    return false;
}

bool
external_run(Frame *frame)
{
    ExprEnv *env = frame->env;
    Node external = frame->external.node, name = ast_child(env->ast, external, 1);
    Passing passing = {.env = env, .returned = -1, .impure = !(ast_at(env->ast, frame->external_class)->flags & AST_F_PURE)};
    passing.counted = env->routines && ast_at(env->ast, frame->external_class)->flags & AST_F_IMPURE;
    env->scope = frame->external.scope;
    passing.name = sym_text(env->syms, name ? ast_at(env->ast, name)->sym : ast_at(env->ast, frame->external_class)->sym);
    if (external_is_builtin(frame, &passing))
        return external_run_builtin(frame, &passing);
    if (!check_language(frame, &passing, external))
        return false;
    bool good = name ? add_declared(frame, &passing, external) : add_all(frame, &passing);
    const mdl_standard *standard = good && env->routines ? external_standard(frame, &passing) : NULL;
    if (standard)
        good = (!mdl_standard_is_foreign(standard) || check_allowed(frame)) && external_call_standard(frame, &passing, standard);
    else
        good = good && check_allowed(frame) && call(frame, &passing);
    vec_free(&passing.passes);
    return good;
}
