// reduction.c: reductions and comprehensions: sum(e for i in r), {e for i in r, j in s}.
//
// Purpose: Modelica 3.6, sections 10.3.4.1 and 10.4.1. Ranges are constant; the expression is elaborated once
// per combination of indices with the indices as locals.
// Method: iteration over the ranges, the last index fastest.
// Contract: expression_inner.h. Complexity: combinations times the expression; sums are made at once.
#include <math.h>
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"

enum { MAX_INDICES = MAX_RANK };

typedef struct Loop {
    uint32_t n;
    Sym names[MAX_INDICES];
    Value ranges[MAX_INDICES];
} Loop;

// A range is known at compile time. So are the elements of an array, unless they change with time: then the index stands for
// each of them.
static bool
loop_range(ExprEnv *env, Node range, Value *out)
{
    if (ast_kind(env->ast, range) == AST_RANGE)
        return expression_range(env, range, out);
    DiagsMark mark = diags_mark(env->diags);
    bool run_time = env->at_run_time;
    if (expression_range(env, range, out))
        return true;
    Value elements;
    diags_return_to(env->diags, mark);
    env->at_run_time = run_time;
    if (!expression(env, range, &elements))
        return false;
    if (elements.type.rank != 1 || elements.type.base == TYPE_RECORD) {
        diag_add(env->diags, E0201, node_span(env, range), "an index runs over the elements of a vector, but this has type %s",
                 value_type_text(env, &elements));
        return false;
    }
    *out = elements;
    return true;
}

static bool
loop_open(ExprEnv *env, Node indices, Loop *loop)
{
    loop->n = ast_at(env->ast, indices)->nchild;
    if (loop->n > MAX_INDICES) {
        diag_add(env->diags, E0202, node_span(env, indices), "more than %d indices", MAX_INDICES);
        return false;
    }
    for (uint32_t i = 0; i < loop->n; i++) {
        Node index = ast_child(env->ast, indices, i), range = ast_child(env->ast, index, 0);
        loop->names[i] = ast_at(env->ast, index)->sym;
        if (!loop_has_range(env, index) || !loop_range(env, range, &loop->ranges[i]))
            return false;
    }
    return true;
}

static bool
loop_value(ExprEnv *env, const Loop *loop, const uint32_t *digit, Node body, Value *out)
{
    uint32_t locals = env->locals.n;
    for (uint32_t i = 0; i < loop->n; i++) {
        Expr element = loop->ranges[i].elements[digit[i]];
        Type type = type_with_sizes(&loop->ranges[i].type, 0, NULL);
        Value value = value_scalar(env, type.base, element);
        value.type = type;
        Local local = {loop->names[i], value};
        vec_push(&env->locals, local);
    }
    bool good = expression(env, body, out);
    env->locals.n = locals;
    return good;
}

// *open: a range is known at run time only. `body for i in r, j in s`: calls the body once per combination, indices as Locals; values in the order of
// the array they make, the first index fastest, and its sizes.
static bool
reduction_expand(ExprEnv *env, Node forarg, Value **values, uint32_t *n, uint32_t *sizes, uint32_t *n_sizes, bool *open)
{
    Loop loop;
    Node body = ast_child(env->ast, forarg, 0), indices = ast_child(env->ast, forarg, 1);
    bool run_time = env->at_run_time;
    env->at_run_time = false;
    bool ranges = loop_open(env, indices, &loop);
    *open = !ranges && env->at_run_time;
    env->at_run_time |= run_time;
    if (!ranges)
        return false;
    double total = 1;
    for (uint32_t i = 0; i < loop.n; i++) {
        // {e for i in r, j in s} is {{e for i in r} for j in s} (section 10.4.1.2).
        sizes[loop.n - 1 - i] = loop.ranges[i].count;
        total *= loop.ranges[i].count;
    }
    *n_sizes = loop.n;
    if (total > ELEMENT_LIMIT) {
        diag_add(env->diags, E0214, node_span(env, forarg), "this makes %.0f elements; the limit is %d",
                 total, ELEMENT_LIMIT);
        return false;
    }
    *n = (uint32_t)total;
    *values = arena_array(env->arena, Value, *n);
    uint32_t digit[MAX_INDICES] = {0};
    for (uint32_t k = 0; k < *n; k++) {
        if (!loop_value(env, &loop, digit, body, &(*values)[k]))
            return false;
        for (uint32_t i = 0; i < loop.n; i++) {
            if (++digit[i] < loop.ranges[i].count)
                break;
            digit[i] = 0;
        }
    }
    return true;
}

// {e for i in r}, where how many elements r has is known at run time only. Arrays that i subscripts may have fewer elements than there is
// room for: then more than these are a failure.
static bool
flexible_array(ExprEnv *env, Node forarg, bool *flexible, Value *out)
{
    Node body = ast_child(env->ast, forarg, 0), indices = ast_child(env->ast, forarg, 1), index = ast_child(env->ast, indices, 0);
    Span span = node_span(env, forarg);
    DiagsMark mark = diags_mark(env->diags);
    Loop loop = {.n = 1, .names = {ast_at(env->ast, index)->sym}};
    bool run_time = env->at_run_time, good = true;
    *flexible = ast_at(env->ast, indices)->nchild == 1 && ast_child(env->ast, index, 0) && expression_flexible(env, ast_child(env->ast, index, 0), &loop.ranges[0])
             && loop.ranges[0].sizes && loop.ranges[0].type.rank == 1;
    diags_return_to(env->diags, mark);
    env->at_run_time = run_time;
    if (!*flexible)
        return false;
    uint32_t room = loop.ranges[0].count, n = 0;
    Value *values = arena_array(env->arena, Value, room + 1), range = loop.ranges[0];
    Expr guard = env->guard;
    while (n < room && good) {
        DiagsMark before = diags_mark(env->diags);
        Expr there = flexible_there(env, &range, n);
        env->guard = guard ? expr_2(env->exprs, OP_AND, guard, there) : there;
        good = loop_value(env, &loop, &n, body, &values[n]);
        if (!good && n)
            diags_return_to(env->diags, before);
        n += good;
    }
    env->guard = guard;
    if (!good && !n)
        return false;
    Value all = {.type = {.base = TYPE_REAL, .rank = 1}, .unseen = true};
    if (n && !array_stack(env, values, n, span, &all))
        return false;
    Expr size = loop.ranges[0].sizes[0], most = expr_const(env->exprs, n);
    if (n < room)
        size = expr_3(env->exprs, OP_IF, expr_1(env->exprs, OP_NOEVENT, expr_2(env->exprs, OP_LE, size, most)), size,
                      flexible_fail(env, size, "this makes \1d\2 elements, and not all of them have a value", span));
    value_set_size(env, &all, 0, size);
    uint32_t each = n ? all.count / n : 0;
    for (uint32_t k = 0; k < all.count; k++) // what is not there is not evaluated
        all.elements[k] = expr_3(env->exprs, OP_IF, flexible_there(env, &range, k / each), all.elements[k], expr_const(env->exprs, 0));
    *out = all;
    return true;
}

bool
reduction_array(ExprEnv *env, Node forarg, Value *out)
{
    Value *values;
    uint32_t n, sizes[MAX_INDICES], n_sizes;
    Span span = node_span(env, forarg);
    bool open, flexible;
    DiagsMark mark = diags_mark(env->diags);
    if (!reduction_expand(env, forarg, &values, &n, sizes, &n_sizes, &open)) {
        DiagsMark failed = diags_mark(env->diags);
        if (!open)
            return false;
        uint32_t errors = diags_errors(env->diags);
        bool made = flexible_array(env, forarg, &flexible, out);
        if (made)
            diags_return_to(env->diags, mark);
        else if (!flexible || diags_errors(env->diags) == errors)
            diags_return_to(env->diags, failed);
        return made;
    }
    if (n == 0) {
        Type type = {.base = TYPE_REAL, .rank = (uint8_t)n_sizes};
        memcpy(type.dims, sizes, n_sizes * sizeof *sizes);
        bool good = value_new(env, &type, span, out);
        out->unseen = good;
        return good;
    }
    if (!array_stack(env, values, n, span, out))
        return false;
    uint32_t rank = out->type.rank - 1 + n_sizes;
    if (rank > MAX_RANK) {
        diag_add(env->diags, E0202, span, "arrays have at most %d dimensions", MAX_RANK);
        return false;
    }
    uint32_t dims[2 * MAX_RANK];
    memcpy(dims, sizes, n_sizes * sizeof *sizes);
    memcpy(dims + n_sizes, out->type.dims + 1, (out->type.rank - 1u) * sizeof *dims);
    out->type = type_with_sizes(&out->type, rank, dims);
    return true;
}

// --- folding

Expr
reduction_empty(ExprEnv *env, Fold fold, VarType base)
{
    static const double neutral[] = {[FOLD_SUM] = 0, [FOLD_PRODUCT] = 1, [FOLD_MIN] = 1.7976931348623157e308,
                                     [FOLD_MAX] = -1.7976931348623157e308};
    double value = neutral[fold];
    if (base == TYPE_INTEGER && fabs(value) > 1)
        value = value > 0 ? 2147483647.0 : -2147483647.0;
    return expr_const(env->exprs, value);
}

static Expr
fold_elements(ExprEnv *env, Fold fold, const Expr *elements, uint32_t n)
{
    if (n == 1)
        return elements[0];
    if (fold == FOLD_SUM || fold == FOLD_PRODUCT) {
        Expr made = expr_make(env->exprs, fold == FOLD_SUM ? OP_ADD : OP_MUL, elements, n);
        (fold == FOLD_SUM ? factor_note_sum : factor_note_product)(env, elements, n, made);
        return made;
    }
    Expr e = elements[0];
    for (uint32_t i = 1; i < n; i++)
        e = expr_2(env->exprs, fold == FOLD_MIN ? OP_MIN : OP_MAX, e, elements[i]);
    return e;
}

static bool
refuse_fold(ExprEnv *env, Fold fold, const Value *value, Span span)
{
    static const char *const names[] = {"sum", "product", "min", "max"};
    diag_add(env->diags, E0201, span, "'%s' needs numbers, but this has type %s", names[fold], value_type_text(env, value));
    return false;
}

// The sum of records whose class declares '+'; of none, its '0' (section 10.3.4.1).
static bool
fold_records(ExprEnv *env, const Value *value, Span span, Value *out)
{
    uint32_t size = value->type.record->size, n = size ? value->count / size : 0;
    if (!n)
        return overload_zero(env, value->type.record, span, out) || refuse_fold(env, FOLD_SUM, value, span);
    for (uint32_t i = 0; i < n; i++) {
        Value sum = *out, next = {.type = type_with_sizes(&value->type, 0, NULL), .count = size, .elements = value->elements + i * size};
        if (!i)
            *out = next;
        else if (!overload_binary(env, AOP_ADD, &sum, &next, span, out))
            return false;
    }
    return true;
}

bool
reduction_fold(ExprEnv *env, Fold fold, const Value *value, Span span, Value *out)
{
    bool ordered = fold >= FOLD_MIN && (value->type.base == TYPE_ENUM || value->type.base == TYPE_BOOLEAN);
    if (fold == FOLD_SUM && value->type.base == TYPE_RECORD)
        return value_settled(env, value, span) && fold_records(env, value, span, out);
    if (!type_is_number(&value->type) && !ordered)
        return refuse_fold(env, fold, value, span);
    Expr *elements = value->elements, none = reduction_empty(env, fold, value->type.base);
    if (value->sizes) {
        elements = arena_array(env->arena, Expr, value->count + 1);
        for (uint32_t k = 0; k < value->count; k++)
            elements[k] = flexible_or(env, value, k, none);
    }
    Expr e = value->count ? fold_elements(env, fold, elements, value->count) : none;
    *out = value_scalar(env, value->type.base, e);
    out->type = type_with_sizes(&value->type, 0, NULL);
    return true;
}

// sum(e for ...): with e an array, sums are elementwise; the others need scalars.
bool
reduction_call(ExprEnv *env, Fold fold, Node forarg, Span span, Value *out)
{
    Value *values, stacked;
    uint32_t n, sizes[MAX_INDICES], n_sizes;
    bool open;
    DiagsMark mark = diags_mark(env->diags);
    if (!reduction_expand(env, forarg, &values, &n, sizes, &n_sizes, &open)) {
        if (!open)
            return false;
        diags_return_to(env->diags, mark);
        return env->calls->reduce(env, fold, forarg, span, out);
    }
    if (n == 0) {
        *out = value_scalar(env, TYPE_REAL, reduction_empty(env, fold, TYPE_REAL));
        return true;
    }
    if (!array_stack(env, values, n, span, &stacked))
        return false;
    if (stacked.type.rank == 1)
        return reduction_fold(env, fold, &stacked, span, out);
    if (fold != FOLD_SUM || !type_is_number(&stacked.type)) {
        diag_add(env->diags, E0202, span, "this reduction needs scalars, but its expression has type %s",
                 value_type_text(env, &values[0]));
        return false;
    }
    Type type = type_with_sizes(&stacked.type, stacked.type.rank - 1u, stacked.type.dims + 1);
    if (!value_new(env, &type, span, out))
        return false;
    Expr *terms = arena_array(env->arena, Expr, n);
    for (uint32_t i = 0; i < out->count; i++) {
        for (uint32_t k = 0; k < n; k++)
            terms[k] = stacked.elements[k * out->count + i];
        out->elements[i] = fold_elements(env, fold, terms, n);
    }
    return true;
}
