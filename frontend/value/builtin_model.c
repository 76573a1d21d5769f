// builtin_model.c: built-in functions about time and events: der, pre, edge, change, sample, noEvent, smooth.
//
// Purpose: Modelica 3.6, section 3.7. der of a composite expression is expanded by the chain rule, so that
// only derivatives of variables remain.
// Method: the chain rule, expr_rate() (ir/expr/expr_calculus.h), with the derivatives of the variables as slots.
// Contract: expression_inner.h. Complexity: linear in the expression.
#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"

// --- der

static Expr
der_slot(ExprEnv *env, Var var)
{
    Var der = var == BOUND_VARIABLE ? NONE : env->der(env, var);
    return der == NONE ? expr_const(env->exprs, 0) : expression_slot(env, der);
}

// A plain variable: its derivative takes the place, the variable itself is not used.
static bool
der_reference(BuiltinCall *call, Node node, bool *done, Value *out)
{
    ExprEnv *env = call->env;
    Reference reference = {0};
    *done = false;
    if (ast_kind(env->ast, node) != AST_REF || expression_local(env, node) >= 0)
        return true;
    if (expression_is_time(env, node))
        return true;
    if (!env->component(env, node, &reference))
        return false;
    if (reference.value)
        return true;
    *done = true;
    if (reference.type.base != TYPE_REAL) {
        diag_add(env->diags, E0210, node_span(env, node),
                 "the argument of 'der' must be a Real, but it has type %s",
                 type_text(env->arena, env->syms, &reference.type));
        return false;
    }
    if (reference.kind == VAR_DISCRETE) {
        Diag *diag = diag_add(env->diags, E0210, node_span(env, node),
                              "the argument of 'der' changes only at events; it has no derivative");
        if (reference.when.hi) {
            diag_note(diag, reference.when, "this equation in a 'when' gives it its value, at events only");
            diag_help(diag, "a state is set at an event by 'reinit(state, value);' in the place of that equation");
        }
        return false;
    }
    if (!value_new(env, &reference.type, call->span, out))
        return false;
    bool still = reference.kind == VAR_PARAMETER || reference.kind == VAR_CONSTANT;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = still ? expr_const(env->exprs, 0) : der_slot(env, reference.vars[i]);
    return true;
}

static Expr
leave_smooth(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    (void)context;
    (void)args;
    return expr_op(exprs, part) == OP_SMOOTH ? expr_const(exprs, 0) : 0;
}

bool
expression_changes(const ExprEnv *env, Expr e)
{
    U32Vec slots = {0};
    bool any = expr_has_op(env->exprs, e, OP_TIME);
    expr_used_slots(env->exprs, &e, 1, &slots);
    for (uint32_t k = 0; k < slots.n && !any; k++) {
        Var var = env->slots->at[slots.at[k]];
        any = var != BOUND_VARIABLE && env->varies && env->varies((ExprEnv *)env, var);
    }
    vec_free(&slots);
    return any;
}

// Whether a value may jump at events: its rate between them does not tell of the impulse, which the rate of a variable does.
static bool
may_jump(ExprEnv *env, Expr e)
{
    U32Vec parts = {0};
    bool any = false;
    expr_parts(env->exprs, expr_has_op(env->exprs, e, OP_SMOOTH) ? expr_rewrite(env->exprs, e, leave_smooth, NULL) : e, &parts);
    for (uint32_t i = 0; i < parts.n && !any; i++) {
        Op op = expr_op(env->exprs, parts.at[i]);
        bool step = op == OP_IF || op == OP_SIGN || op == OP_FLOOR || op == OP_CEIL || op == OP_TRUNC;
        any = step && expression_changes(env, expr_arg(env->exprs, parts.at[i], 0));
        if (op == OP_SLOT) { // a discrete variable
            Var var = env->slots->at[expr_slot_of(env->exprs, parts.at[i])];
            any = var != BOUND_VARIABLE && env->varies && env->real && env->varies(env, var) && env->real(env, var) && env->der(env, var) == NONE;
        }
    }
    vec_free(&parts);
    return any;
}

static bool
der_expression(BuiltinCall *call, const Value *value, Value *out)
{
    ExprEnv *env = call->env;
    if (!value_new(env, &value->type, call->span, out))
        return false;
    U32Vec order = {0};
    uint32_t n = env->slots->n;
    Expr *rates = arena_array(env->arena, Expr, n ? n : 1);
    out->type.base = TYPE_REAL;
    bool good = true;
    for (uint32_t i = 0; i < out->count && good; i++) {
        vec_clear(&order);
        if (may_jump(env, value->elements[i])) {
            vec_free(&order);
            Diag *diag = diag_add(env->diags, E0210, call->span, "this expression may jump at events, where its derivative has an impulse");
            diag_help(diag, "give it a variable of its own, whose derivative has that: u = ..., der(u)");
            return false;
        }
        expr_shape(env->exprs, value->elements[i], &order);
        for (uint32_t k = 0; k < order.n; k++)
            if (!rates[order.at[k]])
                rates[order.at[k]] = der_slot(env, env->slots->at[order.at[k]]);
        out->elements[i] = expr_rate(env->exprs, value->elements[i], rates, n);
        good = out->elements[i] != 0;
    }
    vec_free(&order);
    if (!good)
        diag_add(env->diags, E0210, call->span, "this expression has no derivative with respect to time");
    return good;
}

bool
builtin_der(BuiltinCall *call, Value *out)
{
    ExprEnv *env = call->env;
    bool done;
    if (call->n > 1)
        return builtin_partial(call, out);
    if (env->in_function) {
        diag_add(env->diags, E0210, call->span, "'der' has no meaning inside a function");
        return false;
    }
    if (!der_reference(call, call->nodes[0], &done, out))
        return false;
    if (done)
        return true;
    Value value;
    if (!expression(env, call->nodes[0], &value))
        return false;
    if (!type_is_number(&value.type)) {
        diag_add(env->diags, E0210, node_span(env, call->nodes[0]),
                 "the argument of 'der' must be a Real, but it has type %s", value_type_text(env, &value));
        return false;
    }
    return der_expression(call, &value, out);
}

// rooted, inStream, actualStream, cardinality, getInstanceName.
bool
builtin_connections(BuiltinCall *call, Value *out)
{
    return call->env->graph ? call->env->graph(call->env, call->node, out) : builtin_not_supported(call, out);
}

// --- pre

// What does not change at events, in a value that the caller may write into.
static bool
own_values(ExprEnv *env, Node node, Value *out)
{
    Value value;
    if (!expression(env, node, &value) || !value_new(env, &value.type, node_span(env, node), out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = value.elements[i];
    return true;
}

// Before the event, of a REF whose subscripts are known. What the statements of a section have assigned so far does not count.
static bool
before_event(ExprEnv *env, Node node, void *context, Value *out)
{
    const BuiltinCall *call = context;
    Reference reference = {0};
    int64_t at = expression_local(env, node);
    bool local = at >= env->held;
    if (!local && !env->component(env, node, &reference))
        return false;
    if (local || reference.value)
        return own_values(env, node, out);
    if (reference.kind == VAR_CONTINUOUS && !env->when) {
        Diag *diag = diag_add(env->diags, E0210, node_span(env, node), "'%s' changes continuously: '%s' of it has a meaning only in "
                              "when-clauses", expression_text(env, node), call->builtin->name);
        diag_help(diag, "pre(x) and change(x) are of what changes at events");
        return false;
    }
    bool still = reference.kind == VAR_PARAMETER || reference.kind == VAR_CONSTANT;
    if (!value_new(env, &reference.type, call->span, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expression_slot(env, still ? reference.vars[i] : env->pre(env, reference.vars[i]));
    return true;
}

// Values of a variable now (when asked for) and before the event.
static bool
pre_values(BuiltinCall *call, Value *now, Value *before)
{
    ExprEnv *env = call->env;
    Node node = call->nodes[0];
    if (env->in_function || ast_kind(env->ast, node) != AST_REF || expression_is_time(env, node)) {
        diag_add(env->diags, E0210, call->span, "the argument of '%s' must be a variable of the model",
                 call->builtin->name);
        return false;
    }
    return pick_reference(env, node, before_event, call, before) && (!now || expression(env, node, now));
}

bool
builtin_pre(BuiltinCall *call, Value *out)
{
    return pre_values(call, NULL, out);
}

bool
builtin_edge(BuiltinCall *call, Value *out)
{
    Value now;
    Exprs *exprs = call->env->exprs;
    if (!pre_values(call, &now, out))
        return false;
    if (now.type.base != TYPE_BOOLEAN) {
        diag_add(call->env->diags, E0210, node_span(call->env, call->nodes[0]),
                 "the argument of 'edge' must be a Boolean, but it has type %s",
                 value_type_text(call->env, &now));
        return false;
    }
    for (uint32_t i = 0; i < now.count; i++)
        out->elements[i] = expr_2(exprs, OP_AND, now.elements[i], expr_1(exprs, OP_NOT, out->elements[i]));
    return true;
}

bool
builtin_change(BuiltinCall *call, Value *out)
{
    Value now;
    if (!pre_values(call, &now, out))
        return false;
    for (uint32_t i = 0; i < now.count; i++)
        out->elements[i] = expr_2(call->env->exprs, OP_NE, now.elements[i], out->elements[i]);
    Type type = type_scalar(TYPE_BOOLEAN);
    out->type = type_with_sizes(&type, now.type.rank, now.type.dims);
    return true;
}

// --- events

bool
builtin_nullary(BuiltinCall *call, Value *out)
{
    *out = value_scalar(call->env, TYPE_BOOLEAN, expr_make(call->env->exprs, (Op)call->builtin->op, NULL, 0));
    return true;
}

bool
builtin_sample(BuiltinCall *call, Value *out)
{
    if (call->n == 1 || call->values[1].type.base == TYPE_CLOCK)
        return builtin_sampled(call, out);
    for (uint32_t i = 0; i < 2; i++)
        if (call->values[i].type.rank || !type_is_number(&call->values[i].type)) {
            builtin_refuse(call, i, "a scalar number");
            return false;
        }
    bool known = value_known(call->env, &call->values[1]);
    if (known && !(value_number(call->env, &call->values[1], 0) > 0)) {
        diag_add(call->env->diags, E0210, node_span(call->env, call->nodes[1]),
                 "the interval of 'sample' must be positive");
        return false;
    }
    Expr sample = expr_2(call->env->exprs, OP_SAMPLE, call->values[0].elements[0],
                         call->values[1].elements[0]);
    *out = value_scalar(call->env, TYPE_BOOLEAN, sample);
    return true;
}

bool
builtin_event_free(BuiltinCall *call, Value *out)
{
    const Value *value = &call->values[0];
    if (!value_new(call->env, &value->type, call->span, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expr_1(call->env->exprs, OP_NOEVENT, value->elements[i]);
    return true;
}

bool
builtin_smooth(BuiltinCall *call, Value *out)
{
    const Value *order = &call->values[0], *value = &call->values[1];
    if (order->type.base != TYPE_INTEGER || order->type.rank || !value_known(call->env, order)) {
        builtin_refuse(call, 0, "a constant Integer, the order of continuity");
        return false;
    }
    if (value_number(call->env, order, 0) < 0) {
        diag_add(call->env->diags, E0210, node_span(call->env, call->nodes[0]), "the order of 'smooth' is not negative");
        return false;
    }
    if (!type_is_number(&value->type)) {
        builtin_refuse(call, 1, "a number");
        return false;
    }
    if (!value_new(call->env, &value->type, call->span, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expr_2(call->env->exprs, OP_SMOOTH, order->elements[0], factor_smooth(call->env, value->elements[i]));
    return true;
}

// delay(expr, time, longest): what expr was `time` ago (section 3.7.4.1).
bool
builtin_delay(BuiltinCall *call, Value *out)
{
    const Value *value = &call->values[0];
    bool limited = call->n > 2 && call->nodes[2];
    if (value->type.base != TYPE_REAL) {
        builtin_refuse(call, 0, "of type Real");
        return false;
    }
    for (uint32_t i = 1; i < (limited ? 3u : 2u); i++)
        if (call->values[i].type.rank || !type_is_number(&call->values[i].type)) {
            builtin_refuse(call, i, "a scalar number");
            return false;
        }
    bool known = value_known(call->env, &call->values[1]);
    if (known && !(value_number(call->env, &call->values[1], 0) >= 0)) {
        builtin_refuse(call, 1, "a time that is not negative");
        return false;
    }
    if (!value_new(call->env, &value->type, call->span, out))
        return false;
    Expr time = call->values[1].elements[0], most = limited ? call->values[2].elements[0] : time;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expr_3(call->env->exprs, OP_DELAY, value->elements[i], time, most);
    return true;
}

// fder(x, alpha): the fractional derivative of any real order alpha from the start of the run. What shapes the model is how many whole
// derivatives it is above; that follows from the parameters' values where they are known (ir/operator/fractional_orders.c).
bool
builtin_fder(BuiltinCall *call, Value *out)
{
    ExprEnv *env = call->env;
    Value value, order;
    if (!expression(env, call->nodes[0], &value) || !expression(env, call->nodes[1], &order))
        return false;
    if (!type_is_number(&value.type)) {
        builtin_refuse(call, 0, "a number");
        return false;
    }
    if (order.type.rank || !type_is_number(&order.type)) {
        builtin_refuse(call, 1, "a scalar number");
        return false;
    }
    if (expression_changes(env, order.elements[0])) {
        Diag *diag = diag_add(env->diags, E0219, node_span(env, call->nodes[1]), "the order of 'fder' changes during the simulation");
        diag_help(diag, "an order is a number or an expression of parameters");
        return false;
    }
    if (!value_new(env, &value.type, call->span, out))
        return false;
    out->type.base = TYPE_REAL;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expr_2(env->exprs, OP_FDER, value.elements[i], order.elements[0]);
    return true;
}

bool
builtin_pure(BuiltinCall *call, Value *out)
{
    if (ast_kind(call->env->ast, call->nodes[0]) != AST_CALL) {
        diag_add(call->env->diags, E0210, node_span(call->env, call->nodes[0]), "'pure' says something of the call of a function, and this is none");
        return false;
    }
    *out = call->values[0];
    return true;
}
