// record.c: records as values.
//
// Purpose: the type of a record value, its fields, paths such as a.b[2].c into values, and record constructors
// (Modelica 3.6, sections 4.4.4, 5.3.2 and 12.6).
// Method: a record value is the row of the scalars of its fields, in order of declaration, one record after
// the other for arrays of them; a path selects positions in that row. Types are compared field by field, not
// by the name of the class.
// Contract: expression_inner.h. Complexity: linear in the scalars selected.
#include <math.h>
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "frontend/value/frame.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "runtime/model/nearest.h"

uint32_t
type_scalars(const Type *type)
{
    return type->base == TYPE_RECORD ? type->record->size : 1;
}

static bool
same_fields(const RecordType *a, const RecordType *b)
{
    bool open = a->open || b->open, same = a == b || (a->n == b->n && (open || a->size == b->size));
    for (uint32_t i = 0; same && a != b && i < a->n; i++) {
        const Type *left = &a->fields[i].type, *right = &b->fields[i].type;
        same = a->fields[i].name == b->fields[i].name && (open ? left->rank == right->rank : type_same_sizes(left, right))
            && (type_same_class(left, right) || (type_is_number(left) && type_is_number(right)));
    }
    return same;
}

// Enumerations with the same literals in the same order are one type (section 6.7).
static bool
type_same_literals(const Type *a, const Type *b)
{
    bool same = a->enum_class == b->enum_class || (a->n_literals && a->n_literals == b->n_literals);
    for (uint32_t i = 0; same && a->enum_class != b->enum_class && i < a->n_literals; i++)
        same = a->literals[i] == b->literals[i];
    return same;
}

bool
type_same_class(const Type *a, const Type *b)
{
    if (a->base != b->base || (a->base == TYPE_ENUM && !type_same_literals(a, b)))
        return false;
    return a->base != TYPE_RECORD || same_fields(a->record, b->record);
}

const RecordField *
record_field(const RecordType *record, Sym name)
{
    for (uint32_t i = 0; i < record->n; i++)
        if (record->fields[i].name == name)
            return &record->fields[i];
    return NULL;
}

void
record_reorder(ExprEnv *env, Value *value, const Type *wanted)
{
    if (value->type.base != TYPE_RECORD || wanted->base != TYPE_RECORD || !value->elements || same_fields(value->type.record, wanted->record))
        return;
    const RecordType *from = value->type.record, *to = wanted->record;
    const RecordField **source = arena_array(env->arena, const RecordField *, to->n + 1);
    bool same = from->n == to->n && from->size == to->size;
    for (uint32_t i = 0; i < to->n && same; i++) {
        const Type *type = &to->fields[i].type;
        source[i] = record_field(from, to->fields[i].name);
        same = source[i] && type_same_sizes(&source[i]->type, type)
            && (type_same_class(&source[i]->type, type) || (type_is_number(&source[i]->type) && type_is_number(type)));
    }
    if (!same)
        return;
    Expr *elements = arena_array(env->arena, Expr, value->count + 1);
    for (uint32_t row = 0; row < value->count; row += to->size)
        for (uint32_t i = 0; i < to->n; i++)
            memcpy(elements + row + to->fields[i].first, value->elements + row + source[i]->first, source[i]->count * sizeof *elements);
    value->elements = elements;
    value->type.record = to;
}

// The field that a scalar of such a value is in, and its number there; NULL when it is no record.
static const RecordField *
field_of_scalar(const Type *type, uint32_t *scalar)
{
    if (type->base != TYPE_RECORD || !type->record->size)
        return NULL;
    *scalar %= type->record->size;
    for (uint32_t i = 0; i < type->record->n; i++) {
        const RecordField *field = &type->record->fields[i];
        if (*scalar >= field->first && *scalar < field->first + field->count) {
            *scalar -= field->first;
            return field;
        }
    }
    return NULL;
}

bool
record_fixed(const Type *type, uint32_t scalar)
{
    const RecordField *field = field_of_scalar(type, &scalar);
    return field && (field->fixed || record_fixed(&field->type, scalar));
}

// --- fields that a function leaves open

bool
record_may_leave(const Type *type, uint32_t scalar)
{
    const RecordField *field = field_of_scalar(type, &scalar);
    return field && (field->type.base == TYPE_RECORD ? record_may_leave(&field->type, scalar) : field->type.base != TYPE_STRING);
}

bool
record_fill(const ExprEnv *env, Value *value)
{
    uint32_t given = 0;
    for (uint32_t i = 0; value->elements && i < value->count; i++)
        given += value->elements[i] != 0;
    if (value->type.base != TYPE_RECORD || !given)
        return false;
    Expr *filled = arena_array(env->arena, Expr, value->count);
    for (uint32_t i = 0; i < value->count; i++) {
        filled[i] = value->elements[i] ? value->elements[i] : expr_const(env->exprs, NAN);
        if (!value->elements[i] && !record_may_leave(&value->type, i))
            return false;
    }
    value->elements = filled;
    return true;
}

// --- paths

typedef struct Walk {
    U32Vec starts;      // of what is selected so far, in the row of the whole value
    Type type;          // of one of them, with its own sizes
    uint32_t rank, dims[MAX_RANK]; // selected on the way
} Walk;

static bool
walk_join(ExprEnv *env, Walk *walk, const Type *selected, Span span)
{
    if (walk->rank + selected->rank > MAX_RANK) {
        diag_add(env->diags, E0202, span, "arrays have at most %d dimensions", MAX_RANK);
        return false;
    }
    for (uint32_t i = 0; i < selected->rank; i++)
        walk->dims[walk->rank++] = selected->dims[i];
    return true;
}

// Subscripts of what is selected so far; without them, all its elements.
static bool
walk_subscripts(ExprEnv *env, Walk *walk, Node subscripts, Span span)
{
    U32Vec positions = {0}, next = {0};
    Type selected = walk->type;
    uint64_t all = 1;
    bool good = true;
    for (uint32_t i = 0; i < walk->type.rank; i++)
        all *= walk->type.dims[i];
    if (subscripts)
        good = subscript_select(env, &walk->type, subscripts, &positions, &selected);
    for (uint32_t i = 0; good && !subscripts && i < all; i++)
        vec_push(&positions, i);
    good = good && walk_join(env, walk, &selected, span);
    uint32_t size = type_scalars(&walk->type);
    for (uint32_t s = 0; good && s < walk->starts.n; s++)
        for (uint32_t i = 0; i < positions.n; i++)
            vec_push(&next, walk->starts.at[s] + positions.at[i] * size);
    walk->type.rank = 0;
    vec_free(&positions);
    vec_free(&walk->starts);
    walk->starts = next;
    return good;
}

static bool
walk_field(ExprEnv *env, Walk *walk, Sym name, Span span)
{
    const char *text = sym_text(env->syms, name);
    if (walk->type.base != TYPE_RECORD) {
        diag_add(env->diags, E0101, span, "a value of type %s has no field '%s'",
                 type_text(env->arena, env->syms, &walk->type), text);
        return false;
    }
    const RecordType *record = walk->type.record;
    const RecordField *field = record_field(record, name);
    if (!field) {
        Diag *diag = diag_add(env->diags, E0101, span, "'%s' has no field '%s'", sym_text(env->syms, record->name),
                              text);
        const char **names = arena_array(env->arena, const char *, record->n + 1);
        for (uint32_t i = 0; i < record->n; i++)
            names[i] = sym_text(env->syms, record->fields[i].name);
        const char *near = nearest_name(text, names, record->n);
        if (near)
            diag_help(diag, "did you mean '%s'?", near);
        return false;
    }
    for (uint32_t s = 0; s < walk->starts.n; s++)
        walk->starts.at[s] += field->first;
    walk->type = field->type;
    return true;
}

static bool
walk_finish(ExprEnv *env, Walk *walk, U32Vec *positions, Type *result, Span span)
{
    uint32_t size = type_scalars(&walk->type);
    bool good = walk_subscripts(env, walk, 0, span);
    for (uint32_t s = 0; good && s < walk->starts.n; s++)
        for (uint32_t k = 0; k < size; k++)
            vec_push(positions, walk->starts.at[s] + k);
    *result = type_with_sizes(&walk->type, walk->rank, walk->dims);
    vec_free(&walk->starts);
    return good;
}

bool
path_select(ExprEnv *env, const Type *type, Node ref, uint32_t part, U32Vec *positions, Type *result)
{
    Walk walk = {.type = *type};
    uint32_t n = ast_at(env->ast, ref)->nchild;
    bool good = true;
    vec_push(&walk.starts, 0);
    for (uint32_t i = part; good && i < n; i++) {
        Node at = ast_child(env->ast, ref, i), subscripts = ast_child(env->ast, at, 0);
        if (i > part)
            good = walk_subscripts(env, &walk, 0, node_span(env, at))
                && walk_field(env, &walk, ast_at(env->ast, at)->sym, node_span(env, at));
        if (good && subscripts)
            good = walk_subscripts(env, &walk, subscripts, node_span(env, at));
    }
    if (!good) {
        vec_free(&walk.starts);
        return false;
    }
    return walk_finish(env, &walk, positions, result, node_span(env, ref));
}

static bool
take_positions(ExprEnv *env, const Value *value, const U32Vec *positions, const Type *type, Span span, Value *out)
{
    if (!value_new(env, type, span, out))
        return false;
    for (uint32_t i = 0; i < positions->n; i++)
        out->elements[i] = value->elements[positions->at[i]];
    return true;
}

bool
path_value(ExprEnv *env, const Value *value, Node ref, uint32_t part, Value *out)
{
    U32Vec positions = {0};
    Type type;
    bool good = path_select(env, &value->type, ref, part, &positions, &type)
        && take_positions(env, value, &positions, &type, node_span(env, ref), out);
    vec_free(&positions);
    return good;
}

bool
field_value(ExprEnv *env, const Value *value, Sym name, Span span, Value *out)
{
    U32Vec positions = {0};
    Walk walk = {.type = value->type};
    Type type;
    vec_push(&walk.starts, 0);
    if (!walk_subscripts(env, &walk, 0, span) || !walk_field(env, &walk, name, span)) {
        vec_free(&walk.starts);
        return false;
    }
    bool good = walk_finish(env, &walk, &positions, &type, span)
        && take_positions(env, value, &positions, &type, span, out);
    vec_free(&positions);
    return good;
}

// --- constructors

bool
record_construct(Frame *frame, Value *out)
{
    ExprEnv *env = frame->env;
    RecordType *record = arena_new(env->arena, RecordType);
    RecordField *fields = arena_array(env->arena, RecordField, frame->variables.n + 1);
    VEC(Expr) elements = {0};
    bool good = true;
    *record = (RecordType){.name = frame->function->full_name, .class_id = frame->function->id, .fields = fields};
    for (uint32_t i = 0; i < frame->variables.n && good; i++) {
        const Value *value = &env->locals.at[i].value;
        bool fixed = frame->variables.at[i].flags & (AST_F_CONSTANT | AST_F_PARAMETER);
        fields[record->n++] = (RecordField){.name = frame->variables.at[i].name, .type = value->type,
                                            .first = record->size, .count = value->count, .fixed = fixed};
        record->size += value->count;
        for (uint32_t k = 0; k < value->count && good; k++) {
            good = value->elements && value->elements[k];
            if (good)
                vec_push(&elements, value->elements[k]);
        }
        if (!good)
            diag_add(env->diags, E0203, frame->span, "'%s' needs a value for its field '%s'",
                     sym_text(env->syms, record->name), sym_text(env->syms, frame->variables.at[i].name));
    }
    Type type = {.base = TYPE_RECORD, .record = record};
    good = good && value_new(env, &type, frame->span, out);
    if (good && elements.n)
        memcpy(out->elements, elements.at, elements.n * sizeof(Expr));
    vec_free(&elements);
    return good;
}
