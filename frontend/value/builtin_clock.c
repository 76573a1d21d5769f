// builtin_clock.c: clocks and what converts values between them.
//
// Purpose: Modelica 3.6, sections 16.3 to 16.6 and 16.10: Clock, sample of a clocked value, hold, previous, noClock, subSample,
// superSample, shiftSample, backSample, interval, firstTick.
// Method: one operator per scalar (ir/expr/op.def); which clock everything has is found by pass `clocks`. Factors and counters shape the
// clocks, so they are known while compiling.
// Contract: expression_inner.h. Complexity: linear in the elements.
#include <math.h>
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/dae/clock_kinds.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

static Expr
zero(const BuiltinCall *call)
{
    return expr_const(call->env->exprs, 0);
}

// One operator for each element of the first argument, with two more arguments at most.
static bool
for_each(BuiltinCall *call, Op op, Expr second, Expr third, Value *out)
{
    const Value *u = &call->values[0];
    if (!value_new(call->env, &u->type, call->span, out))
        return false;
    uint32_t n = third ? 3 : second ? 2 : 1;
    for (uint32_t i = 0; i < out->count; i++) {
        Expr args[3] = {u->elements[i], second, third};
        out->elements[i] = expr_make(call->env->exprs, op, args, n);
    }
    return true;
}

static bool
is_given(const BuiltinCall *call, uint32_t i)
{
    return i < call->n && call->nodes[i];
}

bool
builtin_sampled(BuiltinCall *call, Value *out)
{
    Expr clock = zero(call);
    if (call->values[0].type.base == TYPE_CLOCK) {
        builtin_refuse(call, 0, "a value that changes without a clock");
        return false;
    }
    if (is_given(call, 1)) {
        if (call->values[1].type.rank) {
            builtin_refuse(call, 1, "one clock");
            return false;
        }
        clock = call->values[1].elements[0];
    }
    return for_each(call, OP_SAMPLED, clock, 0, out);
}

// What has a start value is asked for before its clock ticks: a component, or a value that does not change (sections 16.4 and 16.5). In this language,
// and in a library, any expression begins with 0.
static bool
names_component(BuiltinCall *call)
{
    ExprEnv *env = call->env;
    bool strict = env->routines && sources_is_strict(env->routines->sources, call->span.lo), known = true;
    for (uint32_t i = 0; strict && i < call->values[0].count; i++)
        known &= !expression_moves(env, call->values[0].elements[i]);
    bool previous = call->builtin->op == OP_PREVIOUS;
    if (!strict || ast_kind(env->ast, call->nodes[0]) == AST_REF || (known && !previous))
        return true;
    diag_add(env->diags, E0210, node_span(env, call->nodes[0]), "'%s' takes the name of a component, whose start value it has before the first tick%s",
             call->builtin->name, previous ? "" : ", or a value that does not change");
    return false;
}

bool
builtin_clocked(BuiltinCall *call, Value *out)
{
    if (call->values[0].type.base == TYPE_CLOCK) {
        builtin_refuse(call, 0, "a value that has a clock");
        return false;
    }
    return names_component(call) && for_each(call, (Op)call->builtin->op, 0, 0, out);
}

// An Integer that is known while compiling, at least `least`; what is not given is `otherwise`.
static bool
known_count(BuiltinCall *call, uint32_t i, double otherwise, double least, Expr *out)
{
    ExprEnv *env = call->env;
    double value = otherwise;
    if (is_given(call, i)) {
        Value *given = &call->values[i];
        if (given->type.base != TYPE_INTEGER || given->type.rank) {
            builtin_refuse(call, i, "a scalar Integer");
            return false;
        }
        if (!value_evaluate(env, given, node_span(env, call->nodes[i])))
            return false;
        value = value_number(env, given, 0);
        if (value < least) {
            diag_add(env->diags, E0210, node_span(env, call->nodes[i]), "argument %u of '%s' must be at least %g, but it is %g", i + 1,
                     call->builtin->name, least, value);
            return false;
        }
    }
    *out = expr_const(env->exprs, value);
    return true;
}

bool
builtin_clock_conversion(BuiltinCall *call, Value *out)
{
    Op op = (Op)call->builtin->op;
    bool shifts = op == OP_SHIFTSAMPLE || op == OP_BACKSAMPLE;
    Expr second, third = 0;
    return known_count(call, 1, 0, 0, &second) && (!shifts || known_count(call, 2, 1, 1, &third)) && for_each(call, op, second, third, out);
}

bool
builtin_clock_question(BuiltinCall *call, Value *out)
{
    Exprs *exprs = call->env->exprs;
    Expr of = zero(call);
    if (call->n) {
        if (!call->values[0].count) {
            builtin_refuse(call, 0, "a value that has a clock");
            return false;
        }
        of = call->values[0].elements[0]; // all elements have the same clock
    }
    Op op = (Op)call->builtin->op;
    *out = value_scalar(call->env, op == OP_INTERVAL ? TYPE_REAL : TYPE_BOOLEAN, expr_1(exprs, op, of));
    return true;
}

// --- Clock()

static bool
solver_named(BuiltinCall *call, Expr *out)
{
    ExprEnv *env = call->env;
    if (!is_given(call, 1) || call->values[1].type.base != TYPE_STRING || call->values[1].type.rank) {
        diag_add(env->diags, E0210, call->span, "a clock made of another clock has a solver method, a String");
        return false;
    }
    if (!value_evaluate(env, &call->values[1], node_span(env, call->nodes[1])))
        return false;
    const char *name = text_of(env, &call->values[1]);
    if (name && !strcmp(name, "External")) { // the choice is the tool's: a method that is stable at any interval
        *out = expr_const(env->exprs, CLOCK_IMPLICIT_TRAPEZOID);
        return true;
    }
    for (uint32_t i = 0; name && i < CLOCK_SOLVERS; i++)
        if (!strcmp(name, clock_solver_names[i])) {
            *out = expr_const(env->exprs, i);
            return true;
        }
    Diag *diag = diag_add(env->diags, E0210, node_span(env, call->nodes[1]), "there is no solver method '%s' of clocked equations",
                          name ? name : "...");
    diag_help(diag, "it is one of ExplicitEuler, ExplicitMidPoint2, ExplicitRungeKutta4, ImplicitEuler, ImplicitTrapezoid, External");
    return false;
}

static bool
real_argument(BuiltinCall *call, uint32_t i, Expr *out)
{
    if (!is_given(call, i)) {
        *out = zero(call);
        return true;
    }
    if (call->values[i].type.rank || !type_is_number(&call->values[i].type)) {
        builtin_refuse(call, i, "a scalar number");
        return false;
    }
    *out = call->values[i].elements[0];
    return true;
}

// Counters that stand still are known while compiling, so that clocks made of them can be compared.
static bool
rational(BuiltinCall *call, Expr *counter, Expr *resolution)
{
    ExprEnv *env = call->env;
    if (!known_count(call, 1, 1, 1, resolution))
        return false;
    if (!expression_changes(env, call->values[0].elements[0]))
        return known_count(call, 0, 0, 1, counter);
    *counter = call->values[0].elements[0];
    return true;
}

bool
builtin_clock(BuiltinCall *call, Value *out)
{
    ExprEnv *env = call->env;
    ClockKind kind = CLOCK_INFERRED;
    Expr first = zero(call), second = zero(call);
    bool good = true;
    if (is_given(call, 0)) {
        const Value *value = &call->values[0];
        VarType base = value->type.base;
        if (value->type.rank || base == TYPE_STRING || base >= TYPE_RECORD || base == TYPE_ENUM) {
            builtin_refuse(call, 0, "an interval, a condition or another clock");
            return false;
        }
        kind = base == TYPE_CLOCK ? CLOCK_SOLVER : base == TYPE_BOOLEAN ? CLOCK_CONDITION : base == TYPE_INTEGER ? CLOCK_RATIONAL : CLOCK_REAL;
        first = value->elements[0];
    } else if (is_given(call, 1)) {
        diag_add(env->diags, E0210, call->span, "a clock with a second argument has a first one");
        return false;
    }
    if (kind == CLOCK_SOLVER)
        good = solver_named(call, &second);
    else if (kind == CLOCK_RATIONAL)
        good = rational(call, &first, &second);
    else if (kind == CLOCK_CONDITION)
        good = real_argument(call, 1, &second);
    else if (kind == CLOCK_REAL && is_given(call, 1)) {
        diag_add(env->diags, E0210, node_span(env, call->nodes[1]), "a resolution belongs to an Integer counter");
        return false;
    }
    double interval = kind == CLOCK_REAL && expr_op(env->exprs, first) == OP_CONST ? expr_value(env->exprs, first) : 1;
    if (good && !(interval > 0)) {
        diag_add(env->diags, E0210, node_span(env, call->nodes[0]), "the interval of a clock must be positive");
        return false;
    }
    *out = value_scalar(env, TYPE_CLOCK, expr_3(env->exprs, OP_CLOCK, expr_const(env->exprs, kind), first, second));
    return good;
}
