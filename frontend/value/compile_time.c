// compile_time.c: constant evaluation.
//
// Purpose: values that must be known at compile time: sizes, subscripts, ranges, structural parameters.
// Method: the expression is elaborated as any other; the variables it still uses are replaced by their
// values, which the class side knows (and remembers that they shaped the model), and constants fold.
// Contract: expression.h. Slots taken for the purpose are given back. Complexity: linear in the expression.
#include <math.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/routine.h"

typedef struct Evaluation {
    ExprEnv *env;
    Span span;
    VEC(Expr) known; // per slot: its value, 0 when not yet asked for
    U32Vec order;
} Evaluation;

// Asks for the values of the variables that `e` uses.
static bool
learn_values(Evaluation *evaluation, Expr e)
{
    ExprEnv *env = evaluation->env;
    vec_clear(&evaluation->order);
    expr_shape(env->exprs, e, &evaluation->order);
    if (evaluation->known.n < env->slots->n)
        vec_grow(&evaluation->known, env->slots->n - evaluation->known.n);
    for (uint32_t i = 0; i < evaluation->order.n; i++) {
        uint32_t slot = evaluation->order.at[i];
        double value;
        if (evaluation->known.at[slot])
            continue;
        if (env->slots->at[slot] == BOUND_VARIABLE) {
            env->at_run_time = true;
            diag_add(env->diags, E0205, evaluation->span, "this must be known at compile time, but it depends on %s",
                     env->compile ? "what a function is called with at run time" : "the variable of an integral");
            return false;
        }
        if (!env->value(env, env->slots->at[slot], &value, evaluation->span)) {
            env->at_run_time = true;
            return false;
        }
        evaluation->known.at[slot] = expr_const(env->exprs, value);
    }
    return true;
}

static void
report_not_constant(Evaluation *evaluation, Expr e)
{
    ExprEnv *env = evaluation->env;
    env->at_run_time = true;
    if (expr_has_op(env->exprs, e, OP_TIME))
        diag_add(env->diags, E0205, evaluation->span,
                 "this must be known at compile time, but it depends on time");
    else if (expr_has_op(env->exprs, e, OP_CALL))
        diag_add(env->diags, E0208, evaluation->span,
                 "this must be known at compile time, but the function that is called fails, or takes more than %d "
                 "repetitions and calls", ROUTINE_FOLDING);
    else if (expr_has_op(env->exprs, e, OP_DIV))
        diag_add(env->diags, E0215, evaluation->span, "this has no value: it divides by zero");
    else if (expr_nslots(env->exprs, e) == 0 && isnan(expr_eval(env->exprs, e, NULL, 0)))
        diag_add(env->diags, E0215, evaluation->span, "this has no value: a function is called outside of where it is defined");
    else
        diag_add(env->diags, E0205, evaluation->span,
                 "this must be known at compile time, but it depends on what happens during the simulation");
}

// External functions are called where their value is needed, and nowhere else.
static Expr
external_result(Exprs *exprs, Expr e)
{
    if (!expr_has_op(exprs, e, OP_CALL) || expr_nslots(exprs, e) || expr_has_op(exprs, e, OP_TIME))
        return e;
    double value = expr_eval(exprs, e, NULL, 0);
    return isnan(value) ? e : expr_const(exprs, value);
}

// of_record: a field that a function has left open is not a number, which matters to those alone who read it.
static bool
evaluate_element(Evaluation *evaluation, bool of_record, Expr *element)
{
    ExprEnv *env = evaluation->env;
    Expr e = *element;
    if (expr_op(env->exprs, e) != OP_CONST) {
        if (!learn_values(evaluation, e))
            return false;
        e = expr_substitute(env->exprs, e, evaluation->known.at, evaluation->known.n);
        if (expr_op(env->exprs, e) == OP_NOEVENT)
            e = expr_arg(env->exprs, e, 0);
        e = external_result(env->exprs, e);
    }
    if (expr_op(env->exprs, e) != OP_CONST) {
        report_not_constant(evaluation, e);
        return false;
    }
    if (isnan(expr_value(env->exprs, e)) && !of_record) {
        diag_add(env->diags, E0215, evaluation->span, "this has no value: it is not a number (NaN)");
        return false;
    }
    *element = e;
    return true;
}

bool
value_evaluate(ExprEnv *env, Value *value, Span span)
{
    Evaluation evaluation = {.env = env, .span = span};
    uint32_t n = value->count;
    Expr *elements = arena_array(env->arena, Expr, n + 1);
    bool good = true;
    for (uint32_t i = 0; i < n && good; i++) {
        elements[i] = value->elements[i];
        good = evaluate_element(&evaluation, value->type.base == TYPE_RECORD, &elements[i]);
    }
    value->elements = elements;
    vec_free(&evaluation.known);
    vec_free(&evaluation.order);
    return good;
}

bool
expression_constant(ExprEnv *env, Node node, Value *out)
{
    uint32_t slots = env->slots->n;
    bool good = expression(env, node, out) && value_evaluate(env, out, node_span(env, node));
    env->slots->n = slots;
    return good;
}

static bool
constant_scalar(ExprEnv *env, Node node, const char *needs, bool boolean, double *out)
{
    Value value;
    if (!expression_constant(env, node, &value))
        return false;
    VarType base = value.type.base;
    bool fits = boolean ? base == TYPE_BOOLEAN : base == TYPE_INTEGER || base == TYPE_ENUM;
    if (!fits || value.type.rank) {
        Diag *diag = diag_add(env->diags, E0201, node_span(env, node),
                              "%s is needed here, but this has type %s", needs, value_type_text(env, &value));
        if (base == TYPE_REAL && !boolean && !value.type.rank)
            diag_help(diag, "use 'integer(x)' to convert");
        return false;
    }
    *out = value_number(env, &value, 0);
    return true;
}

bool
expression_integer(ExprEnv *env, Node node, int64_t *out)
{
    double value;
    if (!constant_scalar(env, node, "an Integer", false, &value))
        return false;
    if (fabs(value) >= 9007199254740992.0) {
        diag_add(env->diags, E0215, node_span(env, node), "this Integer is too large: %g", value);
        return false;
    }
    *out = (int64_t)value;
    return true;
}

bool
expression_bool(ExprEnv *env, Node node, bool *out)
{
    double value;
    if (!constant_scalar(env, node, "a Boolean", true, &value))
        return false;
    *out = value != 0;
    return true;
}

bool
loop_has_range(ExprEnv *env, Node index)
{
    if (ast_child(env->ast, index, 0))
        return true;
    const char *name = sym_text(env->syms, ast_at(env->ast, index)->sym);
    Diag *diag = diag_add(env->diags, E0218, node_span(env, index),
                          "'%s' has no range and is no subscript from which one could be taken", name);
    diag_help(diag, "write 'for %s in 1:n'", name);
    return false;
}

bool
expression_range(ExprEnv *env, Node range, Value *out)
{
    if (!expression_constant(env, range, out))
        return false;
    if (out->type.rank != 1) {
        Diag *diag = diag_add(env->diags, E0201, node_span(env, range),
                              "a loop needs a vector of values, but this has type %s",
                                  value_type_text(env, out));
        if (!out->type.rank && out->type.base == TYPE_INTEGER)
            diag_help(diag, "write '1:%s'", expression_text(env, range));
        return false;
    }
    return true;
}
