// factor.c: products: numbers that multiply, and vanish while expressions are folded; flows by what they carry.
//
// Purpose: a number that multiplies takes the unit that makes the product fit (pass units). Where folding leaves nothing of it,
// as of sin(2*pi*x/wavelength) with wavelength = 2*pi, or of 1*s, it still had that unit, and nobody can see where it stood.
// Method: the parts of a product or a sum are compared with what was made of them; when numbers multiplied in them, and none does
// in the result, units of the equation are not checked.
// Contract: expression_inner.h. Complexity: linear in the terms of the parts; sums and products that keep all of theirs are not
// looked at.
#include "frontend/value/expression_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_rewrite.h"

enum { DEEPEST = 4 }; // a quotient of products of quotients

// Whether a number multiplies e, or what e is divided by.
static bool
has_number(const Exprs *exprs, Expr e, uint32_t depth)
{
    Op op = expr_op(exprs, e);
    if (op == OP_CONST)
        return true;
    if (depth == DEEPEST || (op != OP_NEG && op != OP_MUL && op != OP_DIV))
        return false;
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++)
        if (has_number(exprs, expr_arg(exprs, e, i), depth + 1))
            return true;
    return false;
}

void
factor_note_product(ExprEnv *env, const Expr *parts, uint32_t n, Expr product)
{
    for (uint32_t i = 0; i < n && !env->other_units; i++)
        if (has_number(env->exprs, parts[i], 0)) {
            env->other_units = !has_number(env->exprs, product, 0);
            return;
        }
}

static uint32_t
terms_of(const Exprs *exprs, Expr e)
{
    return expr_op(exprs, e) == OP_ADD ? expr_nargs(exprs, e) : 1;
}

static bool
has_multiplied_term(const Exprs *exprs, Expr e)
{
    bool sum = expr_op(exprs, e) == OP_ADD;
    for (uint32_t i = 0; i < terms_of(exprs, e); i++) {
        Expr term = sum ? expr_arg(exprs, e, i) : e;
        if (expr_op(exprs, term) != OP_CONST && has_number(exprs, term, 0))
            return true;
    }
    return false;
}

// 3*s - 2*s
void
factor_note_sum(ExprEnv *env, const Expr *parts, uint32_t n, Expr sum)
{
    uint32_t terms = 0;
    bool multiplied = false;
    if (env->other_units)
        return;
    for (uint32_t i = 0; i < n; i++)
        terms += terms_of(env->exprs, parts[i]);
    if (terms == terms_of(env->exprs, sum) || expr_op(env->exprs, sum) == OP_CONST)
        return;
    for (uint32_t i = 0; i < n && !multiplied; i++)
        multiplied = has_multiplied_term(env->exprs, parts[i]);
    env->other_units = multiplied && !has_multiplied_term(env->exprs, sum);
}

static bool
is_variable(const ExprEnv *env, Expr e, Var var)
{
    return expr_op(env->exprs, e) == OP_SLOT && env->slots->at[expr_slot_of(env->exprs, e)] == var;
}

static Expr
without_event(Exprs *exprs, Expr choice)
{
    return expr_3(exprs, OP_IF, expr_1(exprs, OP_NOEVENT, expr_arg(exprs, choice, 0)), expr_arg(exprs, choice, 1), expr_arg(exprs, choice, 2));
}

// flow*actualStream(h) is continuous: the choice makes no event there (Modelica 3.6, section 15.3).
static Expr
factor_of_flow(ExprEnv *env, const Expr *parts, uint32_t n, uint32_t k)
{
    Expr choice = parts[k];
    Var flow;
    bool decided = false;
    if (!env->streams || !map_get(env->streams, choice, &flow))
        return choice;
    for (uint32_t i = 0; i < n && !decided; i++)
        decided = i != k && is_variable(env, parts[i], flow);
    return decided ? without_event(env->exprs, choice) : choice;
}

Expr
factor_multiply(ExprEnv *env, Expr *parts, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        parts[k] = factor_of_flow(env, parts, n, k);
    Expr product = expr_make(env->exprs, OP_MUL, parts, n);
    factor_note_product(env, parts, n, product);
    return product;
}

Expr
factor_product(ExprEnv *env, Expr a, Expr b)
{
    return factor_multiply(env, (Expr[]){a, b}, 2);
}

static Expr
stream_in_smooth(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    const Map *streams = context;
    uint32_t flow;
    return map_get(streams, part, &flow) ? expr_3(exprs, OP_IF, expr_1(exprs, OP_NOEVENT, args[0]), args[1], args[2]) : 0;
}

Expr
factor_smooth(ExprEnv *env, Expr e)
{
    return env->streams && env->streams->count ? expr_rewrite(env->exprs, e, stream_in_smooth, env->streams) : e;
}
