// function_record.c: values of the fields of records that are variables of functions.
//
// Purpose: the class of a record gives fields values and sizes (Modelica 3.6, section 12.4.4), and a modification of the variable others, `output Coils c(n = n)`.
// Method: the record's own declarations are gone through as those of a function are, each of which may name those before it.
// Contract: function.h. Fields are as large as what they are given where the class leaves that open.
// Complexity: linear in the fields, and in their elements for each field that takes another size.
#include <string.h>

#include "frontend/function/function.h"
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"

// --- modifications

// The value with field k as large as `type` says, where the class of the record leaves that open.
static void
resize_field(ExprEnv *env, Value *value, uint32_t k, const Type *type)
{
    const RecordType *old = value->type.record;
    RecordType *made = arena_new(env->arena, RecordType);
    RecordField *fields = arena_array(env->arena, RecordField, old->n);
    uint32_t count = type_scalars(type);
    for (uint32_t i = 0; i < type->rank; i++)
        count *= type->dims[i];
    memcpy(fields, old->fields, old->n * sizeof *fields);
    memcpy(fields[k].type.dims, type->dims, sizeof fields[k].type.dims);
    fields[k].count = count;
    for (uint32_t i = k + 1; i < old->n; i++)
        fields[i].first = fields[i - 1].first + fields[i - 1].count;
    *made = *old;
    made->fields = fields;
    made->size = fields[old->n - 1].first + fields[old->n - 1].count;
    Expr *elements = arena_array(env->arena, Expr, made->size + 1);
    for (uint32_t i = 0; i < old->n; i++)
        for (uint32_t e = 0; i != k && e < fields[i].count; e++)
            elements[fields[i].first + e] = value->elements[old->fields[i].first + e];
    value->type.record = made;
    value->elements = elements;
    value->count = made->size;
}

// `output S s(redeclare Real a[size(u, 1)])` the same field, as large as that. *done: so it is.
static bool
redeclare_sizes(ExprEnv *env, Node mod, Value *value, bool *done)
{
    Node line = ast_kind(env->ast, mod) == AST_REDECLARE ? ast_child(env->ast, mod, 0) : 0;
    if (!line || ast_kind(env->ast, line) != AST_COMPONENTS || !value->type.record->open)
        return true;
    for (uint32_t i = 3; i < ast_at(env->ast, line)->nchild; i++) {
        Variable variable = {.line = line, .component = ast_child(env->ast, line, i), .scope = env->scope};
        const RecordField *field = record_field(value->type.record, ast_at(env->ast, variable.component)->sym);
        Type type;
        if (!field || ast_child(env->ast, variable.component, 1))
            return true;
        if (!function_variable_type(env, &variable, &type))
            return false;
        if (type.base != field->type.base || type.rank != field->type.rank || field->type.record)
            return true;
        resize_field(env, value, (uint32_t)(field - value->type.record->fields), &type);
    }
    *done = true;
    return true;
}

static bool
set_field(ExprEnv *env, Node mod, Value *value)
{
    bool done = false;
    if (!redeclare_sizes(env, mod, value, &done))
        return false;
    if (done)
        return true;
    Node name = ast_child(env->ast, mod, 0), mods = ast_child(env->ast, mod, 1), given = mods ? ast_child(env->ast, mods, 0) : 0;
    Value field;
    if (ast_kind(env->ast, mod) != AST_MOD || !given || ast_at(env->ast, name)->nchild != 1 || ast_at(env->ast, mods)->nchild > 1) {
        diag_add(env->diags, E0721, node_span(env, mod), "this modification of a variable of a function is not supported yet");
        return false;
    }
    Sym sym = ast_at(env->ast, ast_child(env->ast, name, 0))->sym;
    const RecordField *at = record_field(value->type.record, sym);
    if (!at) {
        diag_add(env->diags, E0103, node_span(env, name), "'%s' has no field '%s'", sym_text(env->syms, value->type.record->name),
                 sym_text(env->syms, sym));
        return false;
    }
    const char *what = arena_printf(env->arena, "field '%s'", sym_text(env->syms, sym));
    if (!expression(env, given, &field))
        return false;
    if (value->type.record->open && at->type.rank && field.type.rank == at->type.rank && !field.sizes && !type_same_sizes(&field.type, &at->type)) {
        resize_field(env, value, (uint32_t)(at - value->type.record->fields), &field.type);
        at = record_field(value->type.record, sym);
    }
    if (!expression_coerce(env, &field, &at->type, node_span(env, given), what))
        return false;
    for (uint32_t k = 0; k < at->count; k++)
        value->elements[at->first + k] = field.elements[k];
    return true;
}

// --- declarations

// Fields of the frame of a record, in the order of their declarations: each may name those before it.
static void
open_fields(Frame *record, Value *value)
{
    ExprEnv *env = record->env;
    for (uint32_t i = 0; i < record->variables.n; i++) {
        const Variable *variable = &record->variables.at[i];
        const RecordField *field = record_field(value->type.record, variable->name);
        Type type;
        Value own = {0};
        bool given = false;
        env->scope = variable->scope;
        bool good = field && function_variable_type(env, variable, &type) && function_given(record, i, &type, &own, &given);
        given = good && given && own.count == field->count && own.elements;
        for (uint32_t k = 0; given && k < field->count; k++)
            value->elements[field->first + k] = own.elements[k];
        vec_push(&env->locals, (Local){given ? variable->name : 0, own});
    }
}

// Fields without a value are as large as the fields that their sizes name say, `c(n = 3)`.
static void
take_sizes(Frame *record, Value *value)
{
    ExprEnv *env = record->env;
    for (uint32_t i = 0; i < record->variables.n; i++) {
        const Variable *variable = &record->variables.at[i];
        const RecordField *field = record_field(value->type.record, variable->name);
        if (!field)
            continue;
        Type type;
        env->scope = variable->scope;
        bool given = field->count && value->elements[field->first], sized = !given && field->type.rank && function_variable_type(env, variable, &type);
        for (uint32_t k = 0; sized && k < type.rank; k++)
            sized = type.dims[k] != SIZE_UNKNOWN;
        if (sized && type.rank == field->type.rank && type.base == field->type.base && !type_same_sizes(&type, &field->type))
            resize_field(env, value, (uint32_t)(field - value->type.record->fields), &type);
        field = record_field(value->type.record, variable->name);
        Value own = {.type = field->type, .count = field->count, .elements = value->elements + field->first};
        vec_push(&env->locals, (Local){given ? variable->name : 0, own});
    }
}

// Has `visit` look at the fields as the class of the record declares them, which is the type of a variable. Without messages: what the class
// does not give, or what cannot be found here, is read before it has a value when it is read.
static void
each_field(Frame *frame, const Variable *variable, Value *value, void (*visit)(Frame *record, Value *value))
{
    ExprEnv *env = frame->env, saved = *env;
    FunctionRef function;
    DiagsMark mark = diags_mark(env->diags);
    env->scope = variable->scope;
    if (env->depth < CALL_LIMIT && env->function(env, ast_child(env->ast, variable->line, 0), &function)) {
        Frame record = {.env = env, .function = &function, .span = frame->span};
        function_enter(env);
        env->depth++;
        if (function_gather(&record) && record.record)
            visit(&record, value);
        function_release(&record);
        function_leave(env, &saved);
    }
    env->scope = saved.scope;
    diags_return_to(env->diags, mark);
}

// What the class of a record gives its fields (section 12.4.4).
static void
record_defaults(Frame *frame, const Variable *variable, Value *value)
{
    each_field(frame, variable, value, open_fields);
}

static void
size_fields(Frame *frame, const Variable *variable, Value *value)
{
    each_field(frame, variable, value, take_sizes);
}

// --- both

bool
function_record_modified(Frame *frame, const Variable *variable, const Type *type, Value *value)
{
    ExprEnv *env = frame->env;
    Node modification = ast_child(env->ast, variable->component, 1);
    if (type->rank) {
        diag_add(env->diags, E0721, node_span(env, modification),
                 "modifying the fields of an array of records in a function is not supported yet");
        return false;
    }
    bool good = value_new(env, type, node_span(env, variable->component), value);
    if (good)
        record_defaults(frame, variable, value);
    for (uint32_t i = 1; good && i < ast_at(env->ast, modification)->nchild; i++)
        good = set_field(env, ast_child(env->ast, modification, i), value);
    if (good && type->record->open)
        size_fields(frame, variable, value);
    return good;
}

bool
function_record_given(Frame *frame, const Variable *variable, const Type *type, Value *value, bool *given)
{
    if (type->base != TYPE_RECORD || type->rank)
        return true;
    if (!value_new(frame->env, type, node_span(frame->env, variable->component), value))
        return false;
    record_defaults(frame, variable, value);
    for (uint32_t k = 0; k < value->count; k++)
        *given = *given || value->elements[k];
    return true;
}
