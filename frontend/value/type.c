// type.c: types and values of expressions.
//
// Purpose: scalars and arrays of the five basic types; making values, comparing and printing types, coercion
// (Modelica 3.6, sections 10.1 and 10.6.13: Integer to Real only, sizes must agree).
// Method: none.
// Contract: expression.h, expression_inner.h. Complexity: linear in elements.
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_node.h"

Type
type_scalar(VarType base)
{
    return (Type){.base = base};
}

Type
type_with_sizes(const Type *type, uint32_t rank, const uint32_t *dims)
{
    Type sized = *type;
    sized.rank = (uint8_t)rank;
    memset(sized.dims, 0, sizeof sized.dims);
    if (rank)
        memcpy(sized.dims, dims, rank * sizeof *dims);
    return sized;
}

bool
type_same_sizes(const Type *a, const Type *b)
{
    if (a->rank != b->rank)
        return false;
    for (uint32_t i = 0; i < a->rank; i++)
        if (a->dims[i] != b->dims[i])
            return false;
    return true;
}

bool
type_is_sized(const Type *type)
{
    for (uint32_t i = 0; i < type->rank; i++)
        if (type->dims[i] == SIZE_UNKNOWN)
            return false;
    return true;
}

const char *
type_text(Arena *arena, const Syms *syms, const Type *type)
{
    static const char *const names[] = {
        [TYPE_REAL] = "Real", [TYPE_INTEGER] = "Integer", [TYPE_BOOLEAN] = "Boolean",
        [TYPE_STRING] = "String", [TYPE_ENUM] = "enumeration", [TYPE_CLOCK] = "Clock", [TYPE_FUNCTION] = "function",
    };
    Out out = {0};
    Sym own = type->base == TYPE_ENUM ? type->enum_class : type->base == TYPE_RECORD ? type->record->name : 0;
    out_text(&out, own ? sym_text(syms, own) : names[type->base]);
    for (uint32_t i = 0; i < type->rank; i++) {
        out_char(&out, i ? ',' : '[');
        if (type->dims[i] == SIZE_UNKNOWN)
            out_char(&out, ':');
        else
            out_printf(&out, "%u", type->dims[i]);
    }
    if (type->rank)
        out_char(&out, ']');
    const char *text = arena_strndup(arena, out.text, out.length);
    out_free(&out);
    return text;
}

const char *
value_type_text(ExprEnv *env, const Value *value)
{
    return type_text(env->arena, env->syms, &value->type);
}

const char *
expression_text(ExprEnv *env, Node node)
{
    enum { LONGEST = 48 };
    Span span = node_span(env, node);
    if (!node || span.hi - span.lo > 4 * LONGEST)
        return "...";
    Out out = {0};
    ast_print_expr(env->ast, env->syms, node, &out);
    const char *text = out.length > LONGEST
        ? arena_printf(env->arena, "%.*s...", LONGEST, out.text)
        : arena_strndup(env->arena, out.text ? out.text : "", out.length);
    out_free(&out);
    return text;
}

Value
value_scalar(ExprEnv *env, VarType base, Expr element)
{
    Value value = {.type = type_scalar(base), .count = 1, .elements = arena_array(env->arena, Expr, 1)};
    value.elements[0] = element;
    return value;
}

bool
value_new(ExprEnv *env, const Type *type, Span span, Value *out)
{
    uint64_t count = type_scalars(type);
    for (uint32_t i = 0; i < type->rank; i++) {
        count *= type->dims[i];
        if (count > ELEMENT_LIMIT) {
            diag_add(env->diags, E0214, span, "an array of type %s has more than %d elements",
                     type_text(env->arena, env->syms, type), ELEMENT_LIMIT);
            return false;
        }
    }
    *out = (Value){.type = *type, .count = (uint32_t)count, .elements = arena_array(env->arena, Expr, count)};
    return true;
}

bool
value_known(const ExprEnv *env, const Value *value)
{
    if (value->sizes)
        return false;
    for (uint32_t i = 0; i < value->count; i++)
        if (!value->elements[i] || expr_op(env->exprs, value->elements[i]) != OP_CONST)
            return false;
    return true;
}

double
value_number(const ExprEnv *env, const Value *value, uint32_t i)
{
    return expr_value(env->exprs, value->elements[i]);
}

static bool
sizes_fit(const Value *value, const Type *wanted)
{
    const Type *given = &value->type;
    if (given->rank != wanted->rank)
        return false;
    for (uint32_t i = 0; i < given->rank; i++)
        if (wanted->dims[i] != SIZE_UNKNOWN && given->dims[i] != wanted->dims[i] && !(value->sizes && value->sizes[i]))
            return false;
    return true;
}

static void
report_coercion(ExprEnv *env, const Value *value, const Type *type, Span span, const char *what, bool sizes)
{
    const char *wanted = type_text(env->arena, env->syms, type);
    Diag *diag = diag_add(env->diags, sizes ? E0202 : E0201, span, "%s has type %s, but this has type %s",
                          what, wanted, value_type_text(env, value));
    if (sizes && type->rank == 1 && value->type.rank == 2 && value->type.dims[0] == 1)
        diag_help(diag, "write '{a, b}' for a vector: square brackets make a matrix with one row");
    else if (sizes && type->rank == 2 && value->type.rank == 2 && value->type.dims[0] == 1 && type->dims[0]*type->dims[1] == value->count)
        diag_help(diag, "write '[1, 2; 3, 4]' or '{{1, 2}, {3, 4}}' for a matrix; square brackets inside square brackets join matrices");
    else if (sizes && !value->type.rank)
        diag_help(diag, "write 'fill(value, ...)' to give every element the same value");
    else if (type->base == TYPE_INTEGER && value->type.base == TYPE_REAL)
        diag_help(diag, "use 'integer(x)' (the largest Integer not above x) to convert");
    else if (type->base == TYPE_BOOLEAN && type_is_number(&value->type) && value->count == 1 && value->elements
             && expr_op(env->exprs, value->elements[0]) == OP_CONST)
        diag_help(diag, "write '%s'", expr_value(env->exprs, value->elements[0]) != 0 ? "true" : "false");
    else if (type->base == TYPE_BOOLEAN && type_is_number(&value->type))
        diag_help(diag, "write a comparison, such as 'x > 0'");
    else if (type->base == TYPE_REAL && value->type.base == TYPE_BOOLEAN)
        diag_help(diag, "write 'if b then 1 else 0' to convert");
}

// An empty array whose elements nobody has seen takes the type that is wanted, as far as its own dimensions are those.
static void
adopt_type(Value *value, const Type *wanted)
{
    uint32_t rank = value->type.rank;
    if (!value->unseen || rank > wanted->rank)
        return;
    for (uint32_t i = 0; i < rank; i++)
        if (wanted->dims[i] != SIZE_UNKNOWN && wanted->dims[i] != value->type.dims[i])
            return;
    Type given = value->type;
    value->type = *wanted;
    memcpy(value->type.dims, given.dims, rank * sizeof *given.dims);
    for (uint32_t i = rank; i < wanted->rank; i++)
        if (wanted->dims[i] == SIZE_UNKNOWN)
            value->type.dims[i] = 0;
}

bool
expression_coerce(ExprEnv *env, Value *value, const Type *type, Span span, const char *what)
{
    adopt_type(value, type);
    record_reorder(env, value, type);
    VarType given = value->type.base;
    bool fits = given == type->base || (given == TYPE_INTEGER && type->base == TYPE_REAL);
    if (given == type->base)
        fits = type_same_class(&value->type, type);
    if (!fits || !sizes_fit(value, type)) {
        report_coercion(env, value, type, span, what, fits);
        return false;
    }
    value->type.base = type->base;
    if (type->base == TYPE_RECORD && !type->record->open)
        value->type.record = type->record;
    return !value->sizes || flexible_settle(env, value, &(Value){.type = *type}, span);
}

// Records stand inside each other as deep as their declarations do.
Type
type_lasting(Arena *arena, const Type *type)
{
    Type copy = *type;
    if (type->base != TYPE_RECORD)
        return copy;
    RecordType *record = arena_new(arena, RecordType);
    RecordField *fields = arena_array(arena, RecordField, type->record->n + 1);
    *record = *type->record;
    for (uint32_t i = 0; i < record->n; i++) {
        fields[i] = type->record->fields[i];
        fields[i].type = type_lasting(arena, &type->record->fields[i].type);
    }
    record->fields = fields;
    copy.record = record;
    return copy;
}
