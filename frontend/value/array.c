// array.c: array constructors: {a, b}, [a, b; c, d], first:step:last, concatenation.
//
// Purpose: Modelica 3.6, section 10.4. Elements of one array have one type (Integers become Real beside
// Reals) and equal sizes.
// Method: none: elements are evaluated, brought to one type and put in order.
// Contract: expression_inner.h. Complexity: linear in the elements of the result.
#include <math.h>
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

static bool
common_type(ExprEnv *env, const Value *parts, uint32_t n, Span span, Type *type)
{
    *type = parts[0].type;
    for (uint32_t i = 1; i < n; i++) {
        const Type *other = &parts[i].type;
        bool numbers = type_is_number(type) && type_is_number(other);
        if (!numbers && !type_same_class(type, other)) {
            diag_add(env->diags, E0201, span, "an array cannot hold both %s and %s",
                     type_text(env->arena, env->syms, type), value_type_text(env, &parts[i]));
            return false;
        }
        if (other->base == TYPE_REAL)
            type->base = TYPE_REAL;
    }
    return true;
}

bool
array_stack(ExprEnv *env, const Value *parts, uint32_t n, Span span, Value *out)
{
    Type type;
    if (!common_type(env, parts, n, span, &type))
        return false;
    for (uint32_t i = 1; i < n; i++)
        if (!type_same_sizes(&parts[0].type, &parts[i].type)) {
            diag_add(env->diags, E0202, span,
                     "elements of one array have different sizes: element 1 is %s, element %u is %s",
                     value_type_text(env, &parts[0]), i + 1, value_type_text(env, &parts[i]));
            return false;
        }
    if (type.rank == MAX_RANK) {
        diag_add(env->diags, E0202, span, "arrays have at most %d dimensions", MAX_RANK);
        return false;
    }
    memmove(type.dims + 1, type.dims, (MAX_RANK - 1) * sizeof *type.dims);
    type.dims[0] = n;
    type.rank++;
    if (!value_new(env, &type, span, out))
        return false;
    for (uint32_t i = 0, at = 0; i < n; i++)
        for (uint32_t k = 0; k < parts[i].count; k++)
            out->elements[at++] = parts[i].elements[k];
    return true;
}

static bool
evaluate_children(ExprEnv *env, Node node, Value *parts, uint32_t n)
{
    bool good = true;
    for (uint32_t i = 0; i < n; i++)
        good = expression(env, ast_child(env->ast, node, i), &parts[i]) && good;
    return good;
}

bool
array_braces(ExprEnv *env, Node node, Value *out)
{
    uint32_t n = ast_at(env->ast, node)->nchild;
    if (n == 0) {
        Diag *diag = diag_add(env->diags, E0216, node_span(env, node),
                              "an array constructor needs at least one element");
        diag_help(diag, "an empty vector is 'fill(0, 0)'");
        return false;
    }
    if (ast_kind(env->ast, ast_child(env->ast, node, 0)) == AST_FORARG)
        return reduction_array(env, ast_child(env->ast, node, 0), out);
    Value *parts = arena_array(env->arena, Value, n);
    return evaluate_children(env, node, parts, n) && array_stack(env, parts, n, node_span(env, node), out);
}

bool
array_concatenate(ExprEnv *env, uint32_t dim, const Value *parts, uint32_t n, Span span, Value *out)
{
    Type type;
    if (!common_type(env, parts, n, span, &type))
        return false;
    uint64_t total = 0, inner = type_scalars(&type), outer = 1;
    for (uint32_t i = 0; i < n; i++) {
        Type other = parts[i].type;
        bool fits = other.rank == type.rank && dim < other.rank;
        total += fits ? other.dims[dim] : 0;
        other.dims[dim] = type.dims[dim];
        if (!fits || !type_same_sizes(&other, &type)) {
            diag_add(env->diags, E0202, span, "%s and %s cannot be joined along dimension %u",
                     value_type_text(env, &parts[0]), value_type_text(env, &parts[i]), dim + 1);
            return false;
        }
    }
    type.dims[dim] = total > ELEMENT_LIMIT ? ELEMENT_LIMIT + 1 : (uint32_t)total;
    if (!value_new(env, &type, span, out))
        return false;
    for (uint32_t i = 0; i < type.rank; i++)
        *(i < dim ? &outer : &inner) *= i == dim ? 1 : type.dims[i];
    uint32_t at = 0;
    for (uint64_t block = 0; block < outer; block++)
        for (uint32_t i = 0; i < n; i++) {
            uint64_t length = parts[i].type.dims[dim] * inner;
            for (uint64_t k = 0; k < length; k++)
                out->elements[at++] = parts[i].elements[block * length + k];
        }
    return true;
}

// To at least `rank` dimensions: ones are appended (section 10.4.2.1).
static void
promote(Value *value, uint32_t rank)
{
    while (value->type.rank < rank)
        value->type.dims[value->type.rank++] = 1;
}

static bool
matrix_row(ExprEnv *env, Node row, Value *out)
{
    uint32_t n = ast_at(env->ast, row)->nchild, rank = 2;
    Value *parts = arena_array(env->arena, Value, n);
    if (!evaluate_children(env, row, parts, n))
        return false;
    for (uint32_t i = 0; i < n; i++)
        rank = parts[i].type.rank > rank ? parts[i].type.rank : rank;
    for (uint32_t i = 0; i < n; i++)
        promote(&parts[i], rank);
    return array_concatenate(env, 1, parts, n, node_span(env, row), out);
}

bool
array_matrix(ExprEnv *env, Node node, Value *out)
{
    uint32_t n = ast_at(env->ast, node)->nchild;
    Value *rows = arena_array(env->arena, Value, n);
    bool good = n > 0;
    uint32_t rank = 2;
    for (uint32_t i = 0; i < n; i++) {
        good = matrix_row(env, ast_child(env->ast, node, i), &rows[i]) && good;
        rank = good && rows[i].type.rank > rank ? rows[i].type.rank : rank;
    }
    for (uint32_t i = 0; i < n && good; i++)
        promote(&rows[i], rank);
    return good && array_concatenate(env, 0, rows, n, node_span(env, node), out);
}

bool
array_numbers(ExprEnv *env, Node node, Value *out)
{
    const double *values;
    const NumberBlock *block = ast_numbers(env->ast, node, &values);
    Type type = {.base = block->integer ? TYPE_INTEGER : TYPE_REAL, .rank = block->rank, .dims = {block->rows, block->columns}};
    if (block->rank == 1)
        type.dims[1] = 0;
    if (!value_new(env, &type, node_span(env, node), out))
        return false;
    if (out->count)
        memcpy(out->elements, expr_constants(env->exprs, values, out->count), out->count * sizeof *out->elements);
    return true;
}

// --- ranges

static bool
range_part(ExprEnv *env, Node node, Type *type, double *out)
{
    Value value;
    if (!expression_constant(env, node, &value))
        return false;
    if (value.type.rank || value.type.base == TYPE_STRING) {
        diag_add(env->diags, E0209, node_span(env, node),
                 "a range needs scalar numbers, but this has type %s", value_type_text(env, &value));
        return false;
    }
    if (type->base == TYPE_INTEGER)
        *type = value.type;
    *out = value_number(env, &value, 0);
    if (!isfinite(*out))
        diag_add(env->diags, E0209, node_span(env, node), "a bound of a range must be finite");
    return isfinite(*out);
}

// The range of `for i loop` is that of each array with the subscript i (implied_ranges.c).
static bool
same_sizes(ExprEnv *env, Node node, double last)
{
    for (uint32_t i = 3; i < ast_at(env->ast, node)->nchild; i++) {
        Type type = type_scalar(TYPE_INTEGER);
        double size;
        if (!range_part(env, ast_child(env->ast, node, i), &type, &size))
            return false;
        if (size == last)
            continue;
        Diag *diag = diag_add(env->diags, E0209, node_span(env, node),
                              "this index has no range, and subscripts arrays of %.0f and of %.0f elements", last, size);
        diag_help(diag, "give it the range that is meant: i in 1:n");
        return false;
    }
    return true;
}

// The range of `for i loop` whose index is a subscript of a dimension that an enumeration, or Boolean, counts: all of its values.
static void
implied_values(ExprEnv *env, Node node, Type *type, double *first, double *last)
{
    Node args = ast_child(env->ast, ast_child(env->ast, node, 2), 1), array = ast_child(env->ast, args, 0);
    uint32_t dim = (uint32_t)ast_number(env->ast, ast_child(env->ast, args, 1));
    bool sizes_only = env->sizes_only;
    Reference reference = {0};
    DiagsMark mark = diags_mark(env->diags);
    env->sizes_only = true;
    bool found = env->component && env->component(env, array, &reference);
    env->sizes_only = sizes_only;
    diags_return_to(env->diags, mark);
    if (!found || !reference.indices || dim > reference.type.rank || reference.indices[dim - 1].base == TYPE_INTEGER)
        return;
    *type = reference.indices[dim - 1];
    if (type->base == TYPE_BOOLEAN) {
        *first = 0;
        *last = 1;
    }
}

bool
expression_bounds(ExprEnv *env, Node node, RangeBounds *out)
{
    double first, step = 1, last;
    Type type = type_scalar(TYPE_INTEGER);
    Node step_node = ast_child(env->ast, node, 1);
    if (!range_part(env, ast_child(env->ast, node, 0), &type, &first))
        return false;
    if (step_node && (type.base == TYPE_ENUM || type.base == TYPE_BOOLEAN)) {
        diag_add(env->diags, E0209, node_span(env, step_node), "a range of an enumeration or of Booleans has no step: it has each value from the first to the last");
        return false;
    }
    if ((step_node && !range_part(env, step_node, &type, &step))
        || !range_part(env, ast_child(env->ast, node, 2), &type, &last) || !same_sizes(env, node, last))
        return false;
    if (ast_at(env->ast, node)->flags & AST_F_IMPLICIT)
        implied_values(env, node, &type, &first, &last);
    if (step == 0) {
        diag_add(env->diags, E0209, node_span(env, step_node), "the step of a range must not be zero");
        return false;
    }
    double steps = (last - first) / step;
    // A rounded quotient just below a whole number (0:0.1:0.3) still reaches the last value.
    double slack = type.base == TYPE_REAL ? 1e-12 : 0;
    double count = steps < 0 ? 0 : floor(steps * (1 + slack) + slack) + 1;
    if (count > ELEMENT_LIMIT) {
        diag_add(env->diags, E0214, node_span(env, node), "this range has %.0f values; the limit is %d",
                 count, ELEMENT_LIMIT);
        return false;
    }
    *out = (RangeBounds){type, (uint32_t)count, first, step};
    return true;
}

bool
range_parts(ExprEnv *env, Node range, RangeParts *out)
{
    out->real = false;
    for (uint32_t i = 0; i < 3; i++) { // first, step (or nothing), last
        Node node = ast_child(env->ast, range, i);
        if (!node)
            out->part[i] = value_scalar(env, TYPE_INTEGER, expr_const(env->exprs, 1));
        else if (!expression(env, node, &out->part[i]))
            return false;
        const Type *type = &out->part[i].type;
        if (type->rank || (!type_is_number(type) && type->base != TYPE_ENUM)) {
            diag_add(env->diags, E0209, node_span(env, range), "the bounds of a range must be numbers");
            return false;
        }
        out->real |= type->base == TYPE_REAL;
    }
    return true;
}

Expr
range_count(Exprs *exprs, const RangeParts *parts)
{
    Expr first = parts->part[0].elements[0], step = parts->part[1].elements[0];
    Expr span = expr_2(exprs, OP_DIV, expr_sub(exprs, parts->part[2].elements[0], first), step);
    if (parts->real) // (last - first)/step may be a little below a whole number
        span = expr_2(exprs, OP_ADD, span, expr_const(exprs, 1e-9));
    return expr_2(exprs, OP_ADD, expr_1(exprs, OP_FLOOR, span), expr_const(exprs, 1));
}

// Bounds that are known at run time only.
static bool
changing_range(ExprEnv *env, Node node, uint32_t room, bool *changes, Value *out)
{
    Exprs *exprs = env->exprs;
    RangeParts parts;
    *changes = false;
    if (!range_parts(env, node, &parts))
        return false;
    for (uint32_t i = 0; i < 3; i++)
        *changes |= expression_moves(env, parts.part[i].elements[0]);
    if (!*changes)
        return false;
    Type type = parts.part[0].type;
    if (parts.real)
        type.base = TYPE_REAL;
    Expr step = parts.part[1].elements[0], unit = expr_sub(exprs, parts.part[2].elements[0], parts.part[0].elements[0]);
    Expr count = expr_is_const(exprs, step, 1) && !parts.real ? expr_2(exprs, OP_ADD, unit, expr_const(exprs, 1)) : range_count(exprs, &parts), size;
    count = expr_2(exprs, OP_MAX, count, expr_const(exprs, 0));
    Span span = node_span(env, node);
    uint32_t own = room;
    if (!room && !flexible_size(env, count, 1, span, &own, &size))
        return false;
    if (room) {
        const char *text = arena_printf(env->arena, "this range has \1d\2 values, and the dimension has %u elements", room);
        Expr fits = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_LE, count, expr_const(exprs, room)));
        size = expr_3(exprs, OP_IF, fits, count, flexible_fail(env, count, text, span));
    }
    return flexible_range(env, &type, parts.part[0].elements[0], step, size, own, span, out);
}

bool
array_range(ExprEnv *env, Node node, Value *out)
{
    RangeBounds bounds;
    uint32_t room = env->room, slots = env->slots->n;
    DiagsMark mark = diags_mark(env->diags);
    env->room = 0;
    if (!expression_bounds(env, node, &bounds)) {
        bool run_time = env->at_run_time, changes;
        DiagsMark failed = diags_mark(env->diags);
        if (changing_range(env, node, room, &changes, out)) {
            diags_return_to(env->diags, mark);
            return true;
        }
        if (!changes) {
            diags_return_to(env->diags, failed);
            env->slots->n = slots;
        }
        env->at_run_time = run_time;
        return false;
    }
    bounds.type.rank = 1;
    bounds.type.dims[0] = bounds.count;
    if (!value_new(env, &bounds.type, node_span(env, node), out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expr_const(env->exprs, bounds.first + i * bounds.step);
    return true;
}
