// subscript.c: subscripts of values: local variables of functions and results of expressions.
//
// Purpose: which elements `[i, :, 2:3]` selects (Modelica 3.6, section 10.5). Subscripts of the model's own
// components are resolved by the class side.
// Method: every dimension becomes a list of positions; the selection is their product in row-major order.
// Contract: expression_inner.h. Complexity: linear in the elements selected.
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"

typedef struct Axis {
    U32Vec at;   // positions from 0
    bool scalar; // a single subscript: the dimension disappears
} Axis;

static bool
axis_push(ExprEnv *env, Axis *axis, double index, uint32_t size, uint32_t dim, Span span)
{
    if (index < 1 || index > size) {
        diag_add(env->diags, E0206, span, "subscript %.15g is outside 1:%u (dimension %u)", index, size,
                 dim + 1);
        return false;
    }
    vec_push(&axis->at, (uint32_t)index - 1);
    return true;
}

static bool
axis_subscript(ExprEnv *env, Node node, uint32_t size, Expr limit, uint32_t dim, Axis *axis)
{
    const LocalPick *pick = env->picks ? subscript_picked(env, node, size, limit) : NULL;
    if (pick) {
        axis->scalar = !pick->indices;
        for (uint32_t i = 0; i < pick->copies; i++)
            vec_push(&axis->at, pick->at);
        return true;
    }
    Local end = {sym_of(env->syms, "end"), value_scalar(env, TYPE_INTEGER, expr_const(env->exprs, size))};
    vec_push(&env->locals, end);
    Value value;
    bool good = expression_constant(env, node, &value);
    env->locals.n--;
    if (!good)
        return false;
    bool boolean = value.type.base == TYPE_BOOLEAN;
    bool usable = value.type.base == TYPE_INTEGER || value.type.base == TYPE_ENUM || boolean;
    if (!usable || value.type.rank > 1) {
        diag_add(env->diags, E0201, node_span(env, node),
                 "a subscript must be an Integer, but this has type %s", value_type_text(env, &value));
        return false;
    }
    axis->scalar = !value.type.rank;
    for (uint32_t i = 0; i < value.count; i++)
        if (!axis_push(env, axis, value_number(env, &value, i) + boolean, size, dim, node_span(env, node)))
            return false;
    return true;
}

static bool
axes_fill(ExprEnv *env, const Type *type, Node subscripts, Axis *axes)
{
    uint32_t given = ast_at(env->ast, subscripts)->nchild;
    const Expr *limits = env->limits;
    env->limits = NULL;
    if (given > type->rank) {
        diag_add(env->diags, E0206, node_span(env, subscripts), "%u subscript%s on %s", given, given == 1 ? ""
                 : "s", type_text(env->arena, env->syms, type));
        return false;
    }
    for (uint32_t dim = 0; dim < type->rank; dim++) {
        Node node = dim < given ? ast_child(env->ast, subscripts, dim) : 0;
        Expr limit = limits ? limits[dim] : 0;
        if (limit && !node) {
            diag_add(env->diags, E0206, node_span(env, subscripts), "an array whose sizes are known at run time only needs a subscript for each dimension");
            return false;
        }
        if (node && (limit || ast_kind(env->ast, node) != AST_COLON)) {
            if (!axis_subscript(env, node, type->dims[dim], limit, dim, &axes[dim]))
                return false;
            continue;
        }
        for (uint32_t i = 0; i < type->dims[dim]; i++)
            vec_push(&axes[dim].at, i);
    }
    return true;
}

// The product of the axes, last one fastest: an odometer.
static void
axes_product(const Type *type, const Axis *axes, U32Vec *positions)
{
    uint32_t digit[MAX_RANK] = {0};
    for (uint32_t dim = 0; dim < type->rank; dim++)
        if (!axes[dim].at.n)
            return;
    for (;;) {
        uint32_t position = 0;
        for (uint32_t dim = 0; dim < type->rank; dim++)
            position = position * type->dims[dim] + axes[dim].at.at[digit[dim]];
        vec_push(positions, position);
        uint32_t dim = type->rank;
        while (dim > 0 && ++digit[dim - 1] == axes[dim - 1].at.n)
            digit[--dim] = 0;
        if (dim == 0)
            return;
    }
}

bool
subscript_select(ExprEnv *env, const Type *type, Node subscripts, U32Vec *positions, Type *result)
{
    Axis axes[MAX_RANK];
    memset(axes, 0, sizeof axes);
    bool good = axes_fill(env, type, subscripts, axes);
    if (good) {
        uint32_t dims[MAX_RANK], rank = 0;
        for (uint32_t dim = 0; dim < type->rank; dim++)
            if (!axes[dim].scalar)
                dims[rank++] = axes[dim].at.n;
        *result = type_with_sizes(type, rank, dims);
        axes_product(type, axes, positions);
    }
    for (uint32_t dim = 0; dim < MAX_RANK; dim++)
        vec_free(&axes[dim].at);
    return good;
}

bool
subscript_value(ExprEnv *env, const Value *value, Node subscripts, Value *out)
{
    U32Vec positions = {0};
    Type type;
    bool good = subscript_select(env, &value->type, subscripts, &positions, &type)
        && value_new(env, &type, node_span(env, subscripts), out);
    uint32_t size = type_scalars(&value->type);
    for (uint32_t i = 0; good && i < positions.n; i++)
        for (uint32_t k = 0; k < size; k++)
            out->elements[i * size + k] = value->elements[positions.at[i] * size + k];
    vec_free(&positions);
    return good;
}
