// builtin_array.c: built-in array functions.
//
// Purpose: Modelica 3.6, section 10.3: sizes, fillings, matrix functions, conversions, reductions over
// arrays.
// Method: none: elements of the arguments are picked or combined as the specification says.
// Contract: expression_inner.h. Complexity: linear in the elements of arguments and result.
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"

static bool
refuse(BuiltinCall *call, uint32_t i, const char *needs)
{
    builtin_refuse(call, i, needs);
    return false;
}

static bool
integer_result(BuiltinCall *call, double value, Value *out)
{
    *out = value_scalar(call->env, TYPE_INTEGER, expr_const(call->env->exprs, value));
    return true;
}

// An argument of which only the sizes matter: variables are not used by it, and those of a
// function need no value yet.
static bool
argument_sizes(BuiltinCall *call, Node node, Value *out)
{
    ExprEnv *env = call->env;
    int64_t local = ast_kind(env->ast, node) == AST_REF ? expression_local(env, node) : -1;
    bool plain = local >= 0 && ast_at(env->ast, node)->nchild == 1
        && !ast_child(env->ast, ast_child(env->ast, node, 0), 0);
    if (plain) {
        *out = env->locals.at[local].value;
        return true;
    }
    uint32_t slots = env->slots->n;
    bool sizes_only = env->sizes_only;
    env->sizes_only = expression_is_name(env, node);
    bool good = expression_flexible(env, node, out);
    env->sizes_only = sizes_only;
    if (good && !out->sizes)
        env->slots->n = slots;
    return good;
}

bool
builtin_size(BuiltinCall *call, Value *out)
{
    Value value;
    int64_t dim = 0;
    if (!argument_sizes(call, call->nodes[0], &value)
        || (call->n > 1 && !expression_integer(call->env, call->nodes[1], &dim)))
        return false;
    const Type type = value.type;
    if (call->n > 1 && (dim < 1 || dim > type.rank)) {
        diag_add(call->env->diags, E0206, call->span, "dimension %lld of %s does not exist", (long long)dim,
                 type_text(call->env->arena, call->env->syms, &type));
        return false;
    }
    for (uint32_t i = 0; i < type.rank; i++)
        if (type.dims[i] == SIZE_UNKNOWN) {
            diag_add(call->env->diags, E0207, call->span, "this size is asked for before it is known");
            return false;
        }
    if (call->n > 1) {
        *out = value_scalar(call->env, TYPE_INTEGER, value_size(call->env, &value, (uint32_t)dim - 1));
        return true;
    }
    Type sizes = {.base = TYPE_INTEGER, .rank = 1, .dims = {type.rank}};
    if (!value_new(call->env, &sizes, call->span, out))
        return false;
    for (uint32_t i = 0; i < type.rank; i++)
        out->elements[i] = value_size(call->env, &value, i);
    return true;
}

bool
builtin_ndims(BuiltinCall *call, Value *out)
{
    Value value;
    return argument_sizes(call, call->nodes[0], &value) && integer_result(call, value.type.rank, out);
}

// --- fillings

static bool
changing_size(BuiltinCall *call, uint32_t i, uint32_t rank, uint32_t *room, Expr *size)
{
    ExprEnv *env = call->env;
    Value value;
    DiagsMark mark = diags_mark(env->diags);
    bool good = expression(env, call->nodes[i], &value) && !value.type.rank && value.type.base == TYPE_INTEGER && expression_moves(env, value.elements[0]);
    diags_return_to(env->diags, mark);
    return good && flexible_size(env, value.elements[0], rank, node_span(env, call->nodes[i]), room, size);
}

static void
give_sizes(BuiltinCall *call, Value *value, const Expr *sizes, uint32_t n)
{
    for (uint32_t d = 0; d < n; d++)
        if (sizes[d])
            value_set_size(call->env, value, d, sizes[d]);
}

// Sizes from the arguments first .. n-1; `sizes` those that are known at run time only, which may be in functions.
static bool
read_sizes(BuiltinCall *call, uint32_t first, Type *type, Expr *sizes)
{
    if (call->n - first > MAX_RANK) {
        diag_add(call->env->diags, E0202, call->span, "arrays have at most %d dimensions", MAX_RANK);
        return false;
    }
    type->rank = (uint8_t)(call->n - first);
    for (uint32_t i = first; i < call->n; i++) {
        int64_t size;
        DiagsMark mark = diags_mark(call->env->diags);
        bool run_time = call->env->at_run_time;
        if (!expression_integer(call->env, call->nodes[i], &size)) {
            if (!changing_size(call, i, call->n - first, &type->dims[i - first], &sizes[i - first]))
                return false;
            diags_return_to(call->env->diags, mark);
            call->env->at_run_time = run_time;
            continue;
        }
        if (size < 0) {
            diag_add(call->env->diags, E0210, node_span(call->env, call->nodes[i]),
                     "a size cannot be negative: %lld", (long long)size);
            return false;
        }
        type->dims[i - first] = size > ELEMENT_LIMIT ? ELEMENT_LIMIT + 1 : (uint32_t)size;
    }
    return true;
}

bool
builtin_constant_fill(BuiltinCall *call, Value *out)
{
    Type type = type_scalar(TYPE_INTEGER);
    Expr sizes[MAX_RANK] = {0};
    if (!read_sizes(call, 0, &type, sizes) || !value_new(call->env, &type, call->span, out))
        return false;
    Expr e = expr_const(call->env->exprs, call->builtin->name[0] == 'o');
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = e;
    give_sizes(call, out, sizes, type.rank);
    return true;
}

// fill(s, n1, n2): an array s is repeated as a whole, its dimensions are the last ones.
bool
builtin_fill(BuiltinCall *call, Value *out)
{
    Value value;
    if (!expression(call->env, call->nodes[0], &value))
        return false;
    Type type = value.type;
    Expr sizes[MAX_RANK] = {0};
    uint32_t given;
    if (!read_sizes(call, 1, &type, sizes))
        return false;
    given = type.rank;
    if (type.rank + value.type.rank > MAX_RANK) {
        diag_add(call->env->diags, E0202, call->span, "arrays have at most %d dimensions", MAX_RANK);
        return false;
    }
    memcpy(type.dims + type.rank, value.type.dims, value.type.rank * sizeof *type.dims);
    type.rank += value.type.rank;
    if (!value_new(call->env, &type, call->span, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = value.elements[i % value.count];
    give_sizes(call, out, sizes, given);
    return true;
}

bool
builtin_identity(BuiltinCall *call, Value *out)
{
    Type type = type_scalar(TYPE_INTEGER);
    Expr sizes[MAX_RANK] = {0};
    if (!read_sizes(call, 0, &type, sizes))
        return false;
    type.rank = 2;
    type.dims[1] = type.dims[0];
    sizes[1] = sizes[0];
    if (!value_new(call->env, &type, call->span, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expr_const(call->env->exprs, i % (type.dims[0] + 1u) == 0);
    give_sizes(call, out, sizes, 2);
    return true;
}

bool
builtin_diagonal(BuiltinCall *call, Value *out)
{
    const Value *vector = &call->values[0];
    if (vector->type.rank != 1 || !type_is_number(&vector->type))
        return refuse(call, 0, "a vector of numbers");
    Type type = vector->type;
    type.rank = 2;
    type.dims[1] = type.dims[0];
    if (!value_new(call->env, &type, call->span, out))
        return false;
    Expr zero = expr_const(call->env->exprs, 0);
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = i % (type.dims[0] + 1u) ? zero : vector->elements[i / (type.dims[0] + 1u)];
    return true;
}

// The last of them is the end but for rounding.
static bool
changing_linspace(BuiltinCall *call, Expr from, Expr distance, Expr size, Value *out)
{
    Exprs *exprs = call->env->exprs;
    Expr steps = expr_sub(exprs, size, expr_const(exprs, 1)), two = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_GE, size, expr_const(exprs, 2)));
    Expr few = flexible_fail(call->env, size, "'linspace' makes at least 2 points, but here it has to make \1d\2", call->span);
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expr_2(exprs, OP_ADD, from, expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, expr_const(exprs, i), distance), steps));
    value_set_size(call->env, out, 0, expr_3(exprs, OP_IF, two, size, few));
    return true;
}

bool
builtin_linspace(BuiltinCall *call, Value *out)
{
    Exprs *exprs = call->env->exprs;
    Value ends[2];
    Type type = type_scalar(TYPE_REAL);
    for (uint32_t i = 0; i < 2; i++)
        if (!expression_scalar(call->env, call->nodes[i], TYPE_REAL, "an end of 'linspace'", &ends[i]))
            return false;
    Expr sizes[MAX_RANK] = {0};
    if (!read_sizes(call, 2, &type, sizes))
        return false;
    if (type.dims[0] < 2)
        return refuse(call, 2, "at least 2");
    if (!value_new(call->env, &type, call->span, out))
        return false;
    Expr from = ends[0].elements[0], to = ends[1].elements[0], distance = expr_sub(exprs, to, from);
    if (sizes[0])
        return changing_linspace(call, from, distance, sizes[0], out);
    for (uint32_t i = 0; i < out->count; i++) {
        Expr share = expr_const(exprs, (double)i / (out->count - 1.0));
        out->elements[i] = i + 1 == out->count ? to : expr_2(exprs, OP_ADD, from,
                                                             expr_2(exprs, OP_MUL, share, distance));
    }
    return true;
}

// --- matrices

static bool
is_number_matrix(const Value *value)
{
    return value->type.rank == 2 && type_is_number(&value->type);
}

static bool
is_vector3(const Value *value)
{
    return value->type.rank == 1 && value->type.dims[0] == 3 && type_is_number(&value->type);
}

bool
builtin_transpose(BuiltinCall *call, Value *out)
{
    const Value *matrix = &call->values[0];
    if (matrix->type.rank < 2)
        return refuse(call, 0, "a matrix");
    Type type = matrix->type;
    uint32_t rows = type.dims[0], columns = type.dims[1];
    type.dims[0] = columns;
    type.dims[1] = rows;
    if (!value_new(call->env, &type, call->span, out))
        return false;
    uint32_t inner = rows && columns ? out->count / (rows * columns) : 0;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++)
            memcpy(out->elements + (size_t)(j * rows + i) * inner,
                   matrix->elements + (size_t)(i * columns + j) * inner, inner * sizeof(Expr));
    for (uint32_t d = 0; matrix->sizes && d < type.rank; d++)
        value_set_size(call->env, out, d, matrix->sizes[d < 2 ? 1 - d : d]);
    return true;
}

bool
builtin_symmetric(BuiltinCall *call, Value *out)
{
    const Value *matrix = &call->values[0];
    uint32_t n = matrix->type.dims[0];
    if (!is_number_matrix(matrix) || n != matrix->type.dims[1])
        return refuse(call, 0, "a square matrix of numbers");
    if (!value_new(call->env, &matrix->type, call->span, out))
        return false;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            out->elements[i * n + j] = matrix->elements[i > j ? j * n + i : i * n + j];
    return true;
}

static VarType
common_number(const BuiltinCall *call)
{
    for (uint32_t i = 0; i < call->n; i++)
        if (call->values[i].type.base == TYPE_REAL)
            return TYPE_REAL;
    return TYPE_INTEGER;
}

bool
builtin_cross(BuiltinCall *call, Value *out)
{
    Exprs *exprs = call->env->exprs;
    for (uint32_t i = 0; i < 2; i++)
        if (!is_vector3(&call->values[i]))
            return refuse(call, i, "a vector of 3 numbers");
    const Expr *x = call->values[0].elements, *y = call->values[1].elements;
    Type type = {.base = common_number(call), .rank = 1, .dims = {3}};
    if (!value_new(call->env, &type, call->span, out))
        return false;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
        out->elements[i] = expr_sub(exprs, factor_product(call->env, x[j], y[k]), factor_product(call->env, x[k], y[j]));
    }
    return true;
}

// The components of one force: OP_COULOMB has all of v. In one dimension it is a*Sgn(v).
bool
builtin_coulomb(BuiltinCall *call, Value *out)
{
    Exprs *exprs = call->env->exprs;
    const Value *v = &call->values[0], *a = &call->values[1];
    if (!type_is_number(&v->type) || v->type.rank > 1 || (v->type.rank == 1 && (v->count < 2 || v->count > 3)))
        return refuse(call, 0, "a velocity: a number, or a vector of 2 or 3 numbers");
    if (!type_is_number(&a->type) || a->type.rank)
        return refuse(call, 1, "one number: the limit of the force");
    if (!v->type.rank) {
        Expr sign = expr_1(exprs, OP_SGN, v->elements[0]);
        *out = value_scalar(call->env, TYPE_REAL, expr_2(exprs, OP_MUL, a->elements[0], sign));
        return true;
    }
    Type type = {.base = TYPE_REAL, .rank = 1, .dims = {v->count}};
    if (!value_new(call->env, &type, call->span, out))
        return false;
    for (uint32_t i = 0; i < v->count; i++) {
        Expr z = v->count > 2 ? v->elements[2] : expr_const(exprs, 0);
        Expr args[5] = {expr_const(exprs, i), a->elements[0], v->elements[0], v->elements[1], z};
        out->elements[i] = expr_make(exprs, OP_COULOMB, args, 5);
    }
    return true;
}

// skew(x)*y = cross(x, y).
bool
builtin_skew(BuiltinCall *call, Value *out)
{
    Exprs *exprs = call->env->exprs;
    if (!is_vector3(&call->values[0]))
        return refuse(call, 0, "a vector of 3 numbers");
    const Expr *x = call->values[0].elements;
    Type type = {.base = call->values[0].type.base, .rank = 2, .dims = {3, 3}};
    if (!value_new(call->env, &type, call->span, out))
        return false;
    for (uint32_t i = 0; i < 3; i++) {
        uint32_t j = (i + 1) % 3, k = (i + 2) % 3;
        out->elements[i * 3 + i] = expr_const(exprs, 0);
        out->elements[i * 3 + j] = expr_1(exprs, OP_NEG, x[k]);
        out->elements[i * 3 + k] = x[j];
    }
    return true;
}

bool
builtin_outer(BuiltinCall *call, Value *out)
{
    const Value *a = &call->values[0], *b = &call->values[1];
    for (uint32_t i = 0; i < 2; i++)
        if (call->values[i].type.rank != 1 || !type_is_number(&call->values[i].type))
            return refuse(call, i, "a vector of numbers");
    Type type = {.base = common_number(call), .rank = 2, .dims = {a->count, b->count}};
    if (!value_new(call->env, &type, call->span, out))
        return false;
    for (uint32_t i = 0; i < a->count; i++)
        for (uint32_t j = 0; j < b->count; j++)
            out->elements[i * b->count + j] = factor_product(call->env, a->elements[i], b->elements[j]);
    return true;
}

// --- conversions

static uint32_t
dimensions_above_one(const Type *type)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < type->rank; i++)
        n += type->dims[i] != 1;
    return n;
}

bool
builtin_vector(BuiltinCall *call, Value *out)
{
    *out = call->values[0];
    if (dimensions_above_one(&out->type) > 1)
        return refuse(call, 0, "an array with at most one dimension larger than 1");
    out->type = type_with_sizes(&call->values[0].type, 1, &out->count);
    return true;
}

bool
builtin_matrix(BuiltinCall *call, Value *out)
{
    *out = call->values[0];
    for (uint32_t i = 2; i < out->type.rank; i++)
        if (out->type.dims[i] != 1)
            return refuse(call, 0, "an array whose third and further dimensions are 1");
    uint32_t dims[2] = {out->type.rank > 0 ? out->type.dims[0] : 1, out->type.rank > 1 ? out->type.dims[1]
                        : 1};
    out->type = type_with_sizes(&call->values[0].type, 2, dims);
    return true;
}

bool
builtin_scalar(BuiltinCall *call, Value *out)
{
    *out = call->values[0];
    if (dimensions_above_one(&out->type))
        return refuse(call, 0, "an array of one element");
    out->type = type_with_sizes(&call->values[0].type, 0, NULL);
    return true;
}

bool
builtin_array(BuiltinCall *call, Value *out)
{
    if (call->n == 1 && ast_kind(call->env->ast, call->nodes[0]) == AST_FORARG) {
        *out = call->values[0];
        return true;
    }
    return array_stack(call->env, call->values, call->n, call->span, out);
}

bool
builtin_cat(BuiltinCall *call, Value *out)
{
    int64_t dim;
    if (!expression_integer(call->env, call->nodes[0], &dim))
        return false;
    uint32_t n = call->n - 1;
    Value *parts = arena_array(call->env->arena, Value, n);
    bool flexible = false;
    for (uint32_t i = 0; i < n; i++) {
        if (!expression_flexible(call->env, call->nodes[i + 1], &parts[i]))
            return false;
        flexible |= parts[i].sizes != NULL;
    }
    if (dim < 1 || dim > parts[0].type.rank) {
        diag_add(call->env->diags, E0206, call->span, "dimension %lld of %s does not exist", (long long)dim,
                 value_type_text(call->env, &parts[0]));
        return false;
    }
    bool vectors = dim == 1;
    for (uint32_t i = 0; i < n; i++)
        vectors = vectors && parts[i].type.rank == 1 && (type_same_class(&parts[0].type, &parts[i].type) || (type_is_number(&parts[0].type) && type_is_number(&parts[i].type)));
    if (flexible && vectors)
        return flexible_concatenate(call->env, parts, n, call->span, out);
    for (uint32_t i = 0; i < n; i++)
        if (!value_settled(call->env, &parts[i], call->span))
            return false;
    return array_concatenate(call->env, (uint32_t)dim - 1, parts, n, call->span, out);
}

// --- reductions

static bool
extremum_of_two(BuiltinCall *call, Value *out)
{
    Value values[2];
    for (uint32_t i = 0; i < 2; i++) {
        if (!expression(call->env, call->nodes[i], &values[i]))
            return false;
        if (values[i].type.rank) {
            diag_add(call->env->diags, E0202, node_span(call->env, call->nodes[i]),
                     "'%s' of two arguments needs scalars, but this has type %s", call->builtin->name,
                     value_type_text(call->env, &values[i]));
            return false;
        }
    }
    Value both;
    return array_stack(call->env, values, 2, call->span, &both)
        && reduction_fold(call->env, call->builtin->op == OP_MIN ? FOLD_MIN : FOLD_MAX, &both, call->span,
                          out);
}

bool
builtin_fold(BuiltinCall *call, Value *out)
{
    Fold fold = call->builtin->op == OP_ADD ? FOLD_SUM : call->builtin->op == OP_MUL ? FOLD_PRODUCT
        : call->builtin->op == OP_MIN ? FOLD_MIN : FOLD_MAX;
    if (call->n == 2)
        return extremum_of_two(call, out);
    Span span = node_span(call->env, call->nodes[0]);
    if (ast_kind(call->env->ast, call->nodes[0]) == AST_FORARG)
        return reduction_call(call->env, fold, call->nodes[0], span, out);
    Value value;
    if (!expression_flexible(call->env, call->nodes[0], &value))
        return false;
    if (!value.type.rank) {
        diag_add(call->env->diags, E0202, span, "'%s' is about the elements of an array, but this has type %s", call->builtin->name,
                 value_type_text(call->env, &value));
        return false;
    }
    return reduction_fold(call->env, fold, &value, span, out);
}
