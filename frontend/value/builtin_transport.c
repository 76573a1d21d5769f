// builtin_transport.c: spatialDistribution(): transport along a profile.
//
// Purpose: (out0, out1) = spatialDistribution(in0, in1, x, positiveVelocity, initialPoints, initialValues), section 3.7.4.2 of the
// Modelica specification: dz/dt + der(x)*dz/dy = 0 for 0 <= y <= 1; out0 = z(0), out1 = z(1).
// Method: one operator per result with all that is given; pass `transports` finds that both are of one profile.
// Contract: expression_inner.h. Complexity: linear in the initial points.
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"

enum { IN0, IN1, X, POSITIVE, POINTS, VALUES };

static bool
check_scalars(BuiltinCall *call)
{
    for (uint32_t i = IN0; i <= POSITIVE; i++) {
        const Type *type = &call->values[i].type;
        if (type->rank || (i == POSITIVE ? type->base != TYPE_BOOLEAN : !type_is_number(type))) {
            builtin_refuse(call, i, i == POSITIVE ? "a scalar Boolean" : "a scalar number");
            return false;
        }
    }
    return true;
}

static bool
is_given(const BuiltinCall *call, uint32_t i)
{
    return i < call->n && call->nodes[i];
}

static bool
check_vector(BuiltinCall *call, uint32_t i)
{
    const Value *value = &call->values[i];
    if (value->type.rank == 1 && type_is_number(&value->type) && value->count >= 2)
        return true;
    builtin_refuse(call, i, "a vector of at least two numbers");
    return false;
}

// What is known while compiling; the rest is checked at the start.
static bool
check_points(BuiltinCall *call)
{
    const Value *points = &call->values[POINTS];
    if (!value_known(call->env, points))
        return true;
    bool good = value_number(call->env, points, 0) == 0 && value_number(call->env, points, points->count - 1) == 1;
    for (uint32_t k = 1; k < points->count; k++)
        good = good && value_number(call->env, points, k) >= value_number(call->env, points, k - 1);
    if (!good)
        builtin_refuse(call, POINTS, "a vector that begins with 0, ends with 1 and does not fall");
    return good;
}

static bool
check_profile(BuiltinCall *call)
{
    bool points = is_given(call, POINTS), values = is_given(call, VALUES);
    if ((points && (!check_vector(call, POINTS) || !check_points(call))) || (values && !check_vector(call, VALUES)))
        return false;
    uint32_t n = points ? call->values[POINTS].count : 2, given = values ? call->values[VALUES].count : 2;
    if (n != given)
        diag_add(call->env->diags, E0202, call->span, "'spatialDistribution' is given %u initial point%s and %u initial value%s", n,
                 n == 1 ? "" : "s", given, given == 1 ? "" : "s");
    return n == given;
}

bool
builtin_transport(BuiltinCall *call, Value *out)
{
    Exprs *exprs = call->env->exprs;
    if (!check_scalars(call) || !check_profile(call))
        return false;
    uint32_t n = is_given(call, POINTS) ? call->values[POINTS].count : 2;
    Expr *args = arena_array(call->env->arena, Expr, TRANSPORT_POINTS + 2 * n);
    for (uint32_t i = IN0; i <= POSITIVE; i++)
        args[1 + i] = call->values[i].elements[0];
    for (uint32_t k = 0; k < n; k++) {
        args[TRANSPORT_POINTS + 2 * k] = is_given(call, POINTS) ? call->values[POINTS].elements[k] : expr_const(exprs, k);
        args[TRANSPORT_POINTS + 2 * k + 1] = is_given(call, VALUES) ? call->values[VALUES].elements[k] : expr_const(exprs, 0);
    }
    for (uint32_t end = 0; end < 2; end++) {
        args[0] = expr_const(exprs, end);
        out[end] = value_scalar(call->env, TYPE_REAL, expr_make(exprs, OP_TRANSPORT, args, TRANSPORT_POINTS + 2 * n));
    }
    return true;
}
