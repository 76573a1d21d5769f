// expr_diff.c: derivatives, affine decomposition and solving of expressions.
//
// Purpose: what index reduction, Jacobians, alias detection, tearing and causal assignment ask of a shape.
// Method: forward differentiation over the parts in post-order, each once; affine decomposition in the same
// order; an equation is solved through its affine form only, so that a solution holds for all values.
// Contract: expr_calculus.h. Derivatives and affine forms by a slot are memoized per (expression, slot).
// Complexity: linear in the number of different parts that contain the slot.
#include <math.h>
#include <stdlib.h>

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

// --- differentiation: rules get the operator's arguments a and their derivatives d (0: no derivative)

static Expr
square(Exprs *exprs, Expr a)
{
    return expr_2(exprs, OP_POW, a, expr_const(exprs, 2));
}

static Expr
one_plus_square(Exprs *exprs, Expr a)
{
    return expr_2(exprs, OP_ADD, exprs->one, square(exprs, a));
}

static Expr
diff_product(Exprs *exprs, const Expr *a, const Expr *d, uint32_t n)
{
    U32Vec sum = {0}, factors = {0};
    for (uint32_t i = 0; i < n; i++) {
        if (d[i] == exprs->zero)
            continue;
        factors.n = 0;
        for (uint32_t j = 0; j < n; j++)
            vec_push(&factors, j == i ? d[j] : a[j]);
        vec_push(&sum, expr_make(exprs, OP_MUL, factors.at, factors.n));
    }
    Expr result = expr_make(exprs, OP_ADD, sum.at, sum.n);
    vec_free(&sum);
    vec_free(&factors);
    return result;
}

// (a/b)' = (a' - (a/b) b')/b
static Expr
diff_quotient(Exprs *exprs, Expr e, const Expr *a, const Expr *d)
{
    if (d[1] == exprs->zero)
        return expr_2(exprs, OP_DIV, d[0], a[1]);
    Expr over = expr_sub(exprs, d[0], expr_2(exprs, OP_MUL, e, d[1]));
    return expr_2(exprs, OP_DIV, over, a[1]);
}

// (a^b)' = b a^(b-1) a' + a^b log(a) b'
static Expr
diff_power(Exprs *exprs, Expr e, const Expr *a, const Expr *d)
{
    Expr by_base = exprs->zero, by_exponent = exprs->zero;
    if (d[0] != exprs->zero) {
        Expr less = expr_sub(exprs, a[1], exprs->one);
        by_base = expr_make(exprs, OP_MUL, (Expr[]){a[1], expr_2(exprs, OP_POW, a[0], less), d[0]}, 3);
    }
    if (d[1] != exprs->zero)
        by_exponent = expr_make(exprs, OP_MUL, (Expr[]){e, expr_1(exprs, OP_LOG, a[0]), d[1]}, 3);
    return expr_2(exprs, OP_ADD, by_base, by_exponent);
}

static Expr
diff_atan2(Exprs *exprs, const Expr *a, const Expr *d)
{
    Expr over = expr_sub(exprs, expr_2(exprs, OP_MUL, a[1], d[0]), expr_2(exprs, OP_MUL, a[0], d[1]));
    return expr_2(exprs, OP_DIV, over, expr_2(exprs, OP_ADD, square(exprs, a[0]), square(exprs, a[1])));
}

// e has `factor`, or a power of it, as a factor, so that it vanishes with it.
static bool
vanishes_with(const Exprs *exprs, Expr e, Expr factor)
{
    bool product = cell_op(exprs, e) == OP_MUL || cell_op(exprs, e) == OP_NEG;
    for (uint32_t i = 0; i < (product ? cell_n(exprs, e) : 1); i++) {
        Expr part = product ? cell_args(exprs, e)[i] : e;
        if (cell_op(exprs, part) == OP_POW && cell_op(exprs, cell_args(exprs, part)[1]) == OP_CONST
            && expr_value(exprs, cell_args(exprs, part)[1]) > 0)
            part = cell_args(exprs, part)[0];
        if (part == factor)
            return true;
    }
    return false;
}

// x - a beyond a, x + a below -a, flat between, both corners included in the flat part. What is multiplied by the dead
// zone itself vanishes in the flat part anyway: the derivative of luz(x, a)^2/2 is luz(x, a)*der(x).
static Expr
diff_luz(Exprs *exprs, Expr e, const Expr *a, const Expr *d)
{
    if (d[1] == exprs->zero && vanishes_with(exprs, d[0], e))
        return d[0];
    Expr below = expr_2(exprs, OP_LT, a[0], expr_1(exprs, OP_NEG, a[1]));
    Expr inner = expr_3(exprs, OP_IF, below, expr_2(exprs, OP_ADD, d[0], d[1]), exprs->zero);
    return expr_3(exprs, OP_IF, expr_2(exprs, OP_GT, a[0], a[1]), expr_sub(exprs, d[0], d[1]), inner);
}

static Expr
diff_smooth(Exprs *exprs, Expr order, Expr d)
{
    bool more = cell_op(exprs, order) == OP_CONST && expr_value(exprs, order) >= 1;
    if (!more)
        return expr_1(exprs, OP_NOEVENT, d);
    return expr_2(exprs, OP_SMOOTH, expr_const(exprs, expr_value(exprs, order) - 1), d);
}

// 1/f(x) or f(x) such that the derivative of the function is that times d; quotients are written as d/f.
static Expr
diff_math(Exprs *exprs, Op op, Expr e, Expr a, Expr d)
{
    Expr root, one = exprs->one;
    switch (op) {
    case OP_SQRT:
        return expr_2(exprs, OP_DIV, d, expr_2(exprs, OP_MUL, expr_const(exprs, 2), e));
    case OP_EXP:
        return expr_2(exprs, OP_MUL, e, d);
    case OP_LOG:
        return expr_2(exprs, OP_DIV, d, a);
    case OP_LOG10:
        return expr_2(exprs, OP_DIV, d, expr_2(exprs, OP_MUL, expr_const(exprs, log(10)), a));
    case OP_SIN:
        return expr_2(exprs, OP_MUL, expr_1(exprs, OP_COS, a), d);
    case OP_COS:
        return expr_1(exprs, OP_NEG, expr_2(exprs, OP_MUL, expr_1(exprs, OP_SIN, a), d));
    case OP_TAN:
        return expr_2(exprs, OP_MUL, one_plus_square(exprs, e), d);
    case OP_ASIN:
    case OP_ACOS:
        root = expr_1(exprs, OP_SQRT, expr_sub(exprs, one, square(exprs, a)));
        return expr_2(exprs, OP_DIV, op == OP_ASIN ? d : expr_1(exprs, OP_NEG, d), root);
    case OP_ATAN:
        return expr_2(exprs, OP_DIV, d, one_plus_square(exprs, a));
    case OP_SINH:
        return expr_2(exprs, OP_MUL, expr_1(exprs, OP_COSH, a), d);
    case OP_COSH:
        return expr_2(exprs, OP_MUL, expr_1(exprs, OP_SINH, a), d);
    case OP_TANH:
        return expr_2(exprs, OP_MUL, expr_sub(exprs, one, square(exprs, e)), d);
    default:
        return 0;
    }
}

static Expr
diff_choice(Exprs *exprs, Expr e, Op op, const Expr *a, const Expr *d)
{
    Expr when;
    switch (op) {
    case OP_IF:
        return expr_3(exprs, OP_IF, a[0], d[1], d[2]);
    case OP_ABS:
        when = expr_2(exprs, OP_GE, a[0], exprs->zero);
        return expr_3(exprs, OP_IF, when, d[0], expr_1(exprs, OP_NEG, d[0]));
    case OP_MIN:
        return expr_3(exprs, OP_IF, expr_2(exprs, OP_LE, a[0], a[1]), d[0], d[1]);
    case OP_MAX:
        return expr_3(exprs, OP_IF, expr_2(exprs, OP_GE, a[0], a[1]), d[0], d[1]);
    case OP_LUZ:
        return diff_luz(exprs, e, a, d);
    default: // SIGN, FLOOR, CEIL, TRUNC: constant between their jumps
        return exprs->zero;
    }
}

static Expr
diff_model(Exprs *exprs, Op op, const Expr *a, const Expr *d)
{
    switch (op) {
    case OP_NOEVENT:
        return expr_1(exprs, OP_NOEVENT, d[0]);
    case OP_SMOOTH:
        return diff_smooth(exprs, a[0], d[1]);
    case OP_HOMOTOPY:
        return expr_2(exprs, OP_HOMOTOPY, d[0], d[1]);
    case OP_INTEGRAL: // by Leibniz's rule, since the value has the limits and parameters in it
    case OP_RATED:    // by a slot, or along a direction
        return d[0];
    case OP_SAMPLE:
        return exprs->zero;
    default: // EQN, TAR, SGN
        return 0;
    }
}

// All outputs of a call differentiate together: d result(k, f(x)) = result(k, f'(x, dx)).
static Expr
diff_call(Exprs *exprs, Op op, const Expr *a, const Expr *d, uint32_t n)
{
    U32Vec args = {0};
    Expr result = exprs->zero;
    if (op == OP_RESULT) {
        result = expr_2(exprs, OP_RESULT, a[0], d[1]);
    } else if (op == OP_PICK) {
        vec_push(&args, a[0]);
        vec_append(&args, d + 1, n - 1);
        result = expr_make(exprs, OP_PICK, args.at, args.n);
    } else if (op == OP_CALL) {
        const uint8_t *left_out;
        vec_push(&args, expr_const(exprs, routine_derivative_for(exprs, (uint32_t)expr_value(exprs, a[0]), d + 1, &left_out)));
        vec_append(&args, a + 1, n - 1);
        for (uint32_t k = 0; k < n - 1; k++)
            if (!left_out || !left_out[k])
                vec_push(&args, d[1 + k]);
        result = expr_make(exprs, OP_CALL, args.at, args.n);
    }
    vec_free(&args);
    return result;
}

Expr
expr_diff_operator(Exprs *exprs, Expr e, const Expr *a, const Expr *d, uint32_t n)
{
    Op op = cell_op(exprs, e);
    switch ((OpKind)op_table[op].kind) {
    case OPKIND_ARITH:
        if (op == OP_ADD)
            return expr_make(exprs, OP_ADD, d, n);
        if (op == OP_NEG)
            return expr_1(exprs, OP_NEG, d[0]);
        if (op == OP_MUL)
            return diff_product(exprs, a, d, n);
        return op == OP_DIV ? diff_quotient(exprs, e, a, d) : diff_power(exprs, e, a, d);
    case OPKIND_CHOICE:
        return diff_choice(exprs, e, op, a, d);
    case OPKIND_MATH:
        return op == OP_ATAN2 ? diff_atan2(exprs, a, d) : diff_math(exprs, op, e, a[0], d[0]);
    case OPKIND_CALL:
        return diff_call(exprs, op, a, d, n);
    case OPKIND_MODEL:
        return diff_model(exprs, op, a, d);
    default: // comparisons and logic
        return exprs->zero;
    }
}

void
expr_keep_positions(Exprs *exprs, const U32Vec *order, uint32_t *routines)
{
    if (routine_count(exprs) == *routines)
        return;
    for (uint32_t i = 0; i < order->n; i++)
        exprs->index.at[order->at[i]] = i;
    *routines = routine_count(exprs);
}

// Makes the routines of derivatives of all calls. Making one walks other expressions, so that the positions of this walk
// are put back.
void
expr_prepare_calls(Exprs *exprs, const U32Vec *order)
{
    uint32_t routines = routine_count(exprs);
    for (uint32_t i = 0; i < order->n; i++)
        if (cell_op(exprs, order->at[i]) == OP_CALL)
            routine_derivative(exprs, (uint32_t)expr_value(exprs, cell_args(exprs, order->at[i])[0]));
    expr_keep_positions(exprs, order, &routines);
}

// Differentiates all of `order` (arguments first). rate gives the leaves' derivatives: slot k has rate[k] (0
// or beyond n: constant), time has `time`. `want` = 0: `order` is complete; otherwise it has only the parts
// whose slots meet this mask, and the others are constant. `made` receives one derivative, or 0, per part.
static void
differentiate_all(Exprs *exprs, const U32Vec *order, uint64_t want, const Expr *rate, uint32_t n, Expr time,
                  U32Vec *made)
{
    U32Vec a = {0}, d = {0};
    expr_prepare_calls(exprs, order);
    uint32_t routines = routine_count(exprs);
    for (uint32_t i = 0; i < order->n; i++) {
        Expr id = order->at[i], result = exprs->zero;
        Op op = cell_op(exprs, id);
        uint32_t slot = exprs->cells.at[id].args;
        bool moves = false, known = true;
        a.n = d.n = 0;
        for (uint32_t j = 0; j < cell_n(exprs, id); j++) {
            Expr arg = cell_args(exprs, id)[j];
            bool listed = !want || exprs->facts.at[arg].slots & want;
            Expr derivative = listed ? made->at[exprs->index.at[arg]] : exprs->zero;
            vec_push(&a, arg);
            vec_push(&d, derivative);
            moves |= derivative != exprs->zero;
            known &= derivative != 0;
        }
        if (op == OP_TIME)
            result = time;
        else if (op == OP_RATED && time == exprs->one)
            result = a.at[1];
        else if (op == OP_SLOT)
            result = slot < n && rate[slot] ? rate[slot] : exprs->zero;
        else if (moves)
            result = known ? expr_diff_operator(exprs, id, a.at, d.at, a.n) : 0;
        expr_keep_positions(exprs, order, &routines);
        vec_push(made, result);
    }
    vec_free(&a);
    vec_free(&d);
}

// The derivative of the last of `order`.
static Expr
differentiate(Exprs *exprs, const U32Vec *order, uint64_t want, const Expr *rate, uint32_t n, Expr time)
{
    U32Vec made = {0};
    differentiate_all(exprs, order, want, rate, n, time, &made);
    Expr result = vec_last(&made);
    vec_free(&made);
    return result;
}

// Of many slots all derivatives are made at once when a second one is asked for, since who does so asks for the others: 0 where this is not such an expression.
static Expr
one_of_all(Exprs *exprs, Expr e, uint32_t k)
{
    enum { MANY = 64 };
    uint32_t n = exprs->cells.at[e].nslots;
    if (n <= MANY || cell_op(exprs, e) == OP_EQN || expr_has_op(exprs, e, OP_CALL))
        return 0;
    if (exprs->sloped != e && exprs->asked == e) {
        U8Vec want = {0};
        vec_fill(&want, n, 1);
        vec_clear(&exprs->slopes);
        vec_grow(&exprs->slopes, n);
        if (!expr_gradient(exprs, &e, &exprs->one, 1, want.at, n, exprs->slopes.at))
            vec_clear(&exprs->slopes);
        exprs->sloped = e;
        vec_free(&want);
    }
    exprs->asked = e;
    return exprs->sloped == e && exprs->slopes.n ? exprs->slopes.at[k] : 0;
}

Expr
expr_diff(Exprs *exprs, Expr e, uint32_t k)
{
    uint32_t memo;
    if (!expr_uses_slot(exprs, e, k))
        return cell_op(exprs, e) == OP_EQN ? 0 : exprs->zero;
    if (map_get(&exprs->derivatives, memo_key(e, k), &memo))
        return memo;
    Expr made = one_of_all(exprs, e, k);
    if (made)
        return made;
    U32Vec order = {0}, rate = {0};
    expr_walk(exprs, e, k, &order);
    vec_grow(&rate, k + 1);
    rate.at[k] = exprs->one;
    Expr result = differentiate(exprs, &order, 1ull << (k % 64), rate.at, k + 1, exprs->zero);
    vec_free(&order);
    vec_free(&rate);
    map_put(&exprs->derivatives, memo_key(e, k), result);
    return result;
}

Expr
expr_rate(Exprs *exprs, Expr e, const Expr *rate, uint32_t n)
{
    U32Vec order = {0};
    if (cell_op(exprs, e) == OP_EQN)
        return 0;
    expr_walk(exprs, e, UINT32_MAX, &order);
    Expr result = differentiate(exprs, &order, 0, rate, n, exprs->one);
    vec_free(&order);
    return result;
}

Expr
expr_along(Exprs *exprs, Expr e, const Expr *rate, uint32_t n)
{
    U32Vec order = {0};
    expr_walk(exprs, e, UINT32_MAX, &order);
    Expr result = differentiate(exprs, &order, 0, rate, n, exprs->zero);
    vec_free(&order);
    return result;
}

bool
expr_rates(Exprs *exprs, const Expr *roots, uint32_t n_roots, const Expr *rate, uint32_t n, Expr *out)
{
    U32Vec order = {0}, made = {0};
    bool known = true;
    expr_walk_all(exprs, roots, n_roots, &order);
    differentiate_all(exprs, &order, 0, rate, n, exprs->one, &made);
    // The walk's positions stay: making expressions does not walk.
    for (uint32_t r = 0; r < n_roots; r++) {
        out[r] = made.at[exprs->index.at[roots[r]]];
        known &= out[r] != 0;
    }
    vec_free(&order);
    vec_free(&made);
    return known;
}

Expr
expr_residual(Exprs *exprs, Expr equation)
{
    uint32_t memo;
    if (cell_op(exprs, equation) != OP_EQN)
        return equation;
    if (map_get(&exprs->derivatives, memo_key(equation, UINT32_MAX), &memo))
        return memo;
    Expr residual = expr_sub(exprs, expr_arg(exprs, equation, 0), expr_arg(exprs, equation, 1));
    map_put(&exprs->derivatives, memo_key(equation, UINT32_MAX), residual);
    return residual;
}

// --- affine decomposition

static Affine
affine_sum(Exprs *exprs, const Affine *parts, uint32_t n)
{
    U32Vec sum = {0};
    Affine result;
    for (uint32_t i = 0; i < n; i++)
        vec_push(&sum, parts[i].coefficient);
    result.coefficient = expr_make(exprs, OP_ADD, sum.at, n);
    for (uint32_t i = 0; i < n; i++)
        sum.at[i] = parts[i].rest;
    result.rest = expr_make(exprs, OP_ADD, sum.at, n);
    vec_free(&sum);
    return result;
}

// At most one factor may contain the slot.
static Affine
affine_product(Exprs *exprs, const Affine *parts, uint32_t n)
{
    uint32_t at = n;
    for (uint32_t i = 0; i < n; i++) {
        if (parts[i].coefficient == exprs->zero)
            continue;
        if (at < n)
            return (Affine){0, 0};
        at = i;
    }
    U32Vec factors = {0};
    Affine result;
    for (uint32_t i = 0; i < n; i++)
        vec_push(&factors, i == at ? parts[i].coefficient : parts[i].rest);
    result.coefficient = expr_make(exprs, OP_MUL, factors.at, n);
    factors.at[at] = parts[at].rest;
    result.rest = expr_make(exprs, OP_MUL, factors.at, n);
    vec_free(&factors);
    return result;
}

static Affine
affine_operator(Exprs *exprs, Op op, const Affine *p, uint32_t n)
{
    Expr zero = exprs->zero;
    switch (op) {
    case OP_ADD:
        return affine_sum(exprs, p, n);
    case OP_MUL:
        return affine_product(exprs, p, n);
    case OP_NEG:
    case OP_NOEVENT:
        return (Affine){expr_1(exprs, op, p[0].coefficient), expr_1(exprs, op, p[0].rest)};
    case OP_DIV:
        if (p[1].coefficient != zero)
            break;
        return (Affine){expr_2(exprs, OP_DIV, p[0].coefficient, p[1].rest),
                        expr_2(exprs, OP_DIV, p[0].rest, p[1].rest)};
    case OP_IF:
        if (p[0].coefficient != zero)
            break;
        return (Affine){expr_3(exprs, OP_IF, p[0].rest, p[1].coefficient, p[2].coefficient),
                        expr_3(exprs, OP_IF, p[0].rest, p[1].rest, p[2].rest)};
    case OP_INTEGRAL:
    case OP_RATED:
        return p[0];
    case OP_HOMOTOPY:
        return (Affine){expr_2(exprs, op, p[0].coefficient, p[1].coefficient),
                        expr_2(exprs, op, p[0].rest, p[1].rest)};
    default:
        break;
    }
    return (Affine){0, 0};
}

// Marks of what contains the slot: only those are decomposed, all others are their own rest.
static Affine
decompose(Exprs *exprs, Expr e, uint32_t k)
{
    U32Vec order = {0};
    U8Vec uses = {0};
    VEC(Affine) made = {0};
    VEC(Affine) parts = {0};
    expr_walk(exprs, e, UINT32_MAX, &order);
    for (uint32_t i = 0; i < order.n; i++) {
        Expr id = order.at[i];
        Op op = cell_op(exprs, id);
        bool here = op == OP_SLOT && expr_slot_of(exprs, id) == k, known = true;
        Affine result = {exprs->zero, id};
        parts.n = 0;
        if (here)
            result = (Affine){exprs->one, exprs->zero};
        for (uint32_t j = 0; j < cell_n(exprs, id); j++) {
            uint32_t arg = exprs->index.at[cell_args(exprs, id)[j]];
            here |= uses.at[arg];
            known &= made.at[arg].rest != 0;
            vec_push(&parts, made.at[arg]);
        }
        if (here && op != OP_SLOT)
            result = known ? affine_operator(exprs, op, parts.at, parts.n) : (Affine){0, 0};
        vec_push(&made, result);
        vec_push(&uses, here);
    }
    Affine result = vec_last(&made);
    vec_free(&order);
    vec_free(&uses);
    vec_free(&made);
    vec_free(&parts);
    return result;
}

bool
expr_affine(Exprs *exprs, Expr e, uint32_t k, Expr *coefficient, Expr *rest)
{
    uint32_t memo;
    e = expr_residual(exprs, e);
    *coefficient = exprs->zero;
    *rest = e;
    if (!expr_uses_slot(exprs, e, k))
        return true;
    if (!map_get(&exprs->affine_of, memo_key(e, k), &memo)) {
        Affine made = decompose(exprs, e, k);
        memo = exprs->affine.n;
        vec_push(&exprs->affine, made);
        map_put(&exprs->affine_of, memo_key(e, k), memo);
    }
    Affine found = exprs->affine.at[memo];
    if (!found.rest)
        return false;
    *coefficient = found.coefficient;
    *rest = found.rest;
    return true;
}

// --- solving

typedef enum Zeros { ZEROS_NEVER, ZEROS_POSSIBLE, ZEROS_CERTAIN } Zeros;

// Parts of one coefficient that are looked at: choices nested in choices may share parts many times over.
enum { LOOK_LIMIT = 200, DEPTH_LIMIT = 64 };

// May e be zero? CERTAIN: it is zero for some mode of the model (a branch, a dead zone), so dividing by it is
// no solution. POSSIBLE: only for exceptional values of variables and parameters.
static Zeros
zeros_of(const Exprs *exprs, Expr e, uint32_t depth, uint32_t *looks)
{
    Op op = cell_op(exprs, e);
    Zeros worst = ZEROS_NEVER;
    uint32_t first = 0, n = cell_n(exprs, e);
    if (depth > DEPTH_LIMIT || ++*looks > LOOK_LIMIT)
        return ZEROS_CERTAIN;
    switch (op) {
    case OP_CONST:
        return expr_value(exprs, e) == 0 ? ZEROS_CERTAIN : ZEROS_NEVER;
    case OP_EXP:
    case OP_COSH:
        return ZEROS_NEVER;
    case OP_IF:
    case OP_SMOOTH:
        first = 1;
        break;
    case OP_DIV:
    case OP_POW:
        n = 1;
        break;
    case OP_NEG:
    case OP_MUL:
    case OP_NOEVENT:
    case OP_HOMOTOPY:
        break;
    case OP_RATED:
        n = 1;
        break;
    case OP_LUZ:
    case OP_SIGN:
    case OP_FLOOR:
    case OP_CEIL:
    case OP_TRUNC:
        return ZEROS_CERTAIN;
    default:
        return op_table[op].type == OPTYPE_BOOL ? ZEROS_CERTAIN : ZEROS_POSSIBLE;
    }
    for (uint32_t i = first; i < n; i++) {
        Zeros part = zeros_of(exprs, cell_args(exprs, e)[i], depth + 1, looks);
        worst = part > worst ? part : worst;
    }
    return worst;
}

// -rest/coefficient, branch by branch where the coefficient is a choice. No deeper and no longer than
// zeros_of,
// which came before and has looked at the same choices.
static Expr
solution(Exprs *exprs, Expr coefficient, Expr rest)
{
    if (cell_op(exprs, coefficient) == OP_IF) {
        Expr when = expr_arg(exprs, coefficient, 0);
        bool same = cell_op(exprs, rest) == OP_IF && expr_arg(exprs, rest, 0) == when;
        Expr yes = same ? expr_arg(exprs, rest, 1) : rest, no = same ? expr_arg(exprs, rest, 2) : rest;
        yes = solution(exprs, expr_arg(exprs, coefficient, 1), yes);
        no = solution(exprs, expr_arg(exprs, coefficient, 2), no);
        return expr_3(exprs, OP_IF, when, yes, no);
    }
    Expr first = coefficient;
    double value;
    while (cell_op(exprs, first) == OP_ADD)
        first = expr_arg(exprs, first, 0);
    if (cell_op(exprs, first) == OP_MUL)
        first = expr_arg(exprs, first, 0);
    value = cell_op(exprs, first) == OP_CONST ? expr_value(exprs, first) : 1;
    // A divisor that begins with a minus sign gives it to the dividend.
    if (cell_op(exprs, first) == OP_NEG || value < 0)
        return expr_2(exprs, OP_DIV, rest, expr_1(exprs, OP_NEG, coefficient));
    return expr_2(exprs, OP_DIV, expr_1(exprs, OP_NEG, rest), coefficient);
}

// An equation on its way to a solution: side = other, where only `side` contains the slot.
typedef struct Isolation {
    Expr side, other;
    Expr divisor;   // product of what was divided by and may be zero; 0: nothing
    uint32_t looks;
    bool impossible;
} Isolation;

static void
divided_by(Exprs *exprs, Isolation *now, Expr factor)
{
    Zeros zeros = zeros_of(exprs, factor, 0, &now->looks);
    now->impossible |= zeros == ZEROS_CERTAIN;
    if (zeros == ZEROS_POSSIBLE)
        now->divisor = now->divisor ? expr_2(exprs, OP_MUL, now->divisor, factor) : factor;
}

// Splits the arguments of a sum or product: the only one with the slot, and the others put together. False
// when several contain the slot.
static bool
single_out(Exprs *exprs, Expr e, uint32_t k, Expr *with, Expr *without)
{
    U32Vec others = {0};
    *with = 0;
    bool single = true;
    for (uint32_t i = 0; i < cell_n(exprs, e); i++) {
        Expr arg = cell_args(exprs, e)[i];
        bool uses = expr_uses_slot(exprs, arg, k);
        single &= !uses || !*with;
        if (uses)
            *with = arg;
        else
            vec_push(&others, arg);
    }
    if (single)
        *without = expr_make(exprs, cell_op(exprs, e), others.at, others.n);
    vec_free(&others);
    return single;
}

// A call with the slot in one argument, for which the function has an inverse.
static bool
invert(Exprs *exprs, Isolation *now, uint32_t k)
{
    U32Vec args = {0};
    Expr call = expr_arg(exprs, now->side, 1), argument;
    const Routine *routine = routine_of(exprs, (uint32_t)expr_value(exprs, cell_args(exprs, call)[0]));
    uint32_t uses = 0, which = 0, number = 0;
    for (uint32_t i = 0; i < routine->inputs; i++)
        if (expr_uses_slot(exprs, cell_args(exprs, call)[i + 1], k)) {
            uses++;
            which = i;
        }
    for (uint32_t i = 0; i < routine->inverses.n && uses == 1 && !number; i++)
        number = routine->inverses.at[i].input == which ? routine->inverses.at[i].number : 0;
    if (!number)
        return false;
    argument = cell_args(exprs, call)[which + 1];
    vec_append(&args, cell_args(exprs, call) + 1, routine->inputs);
    args.at[which] = exprs->zero;
    vec_push(&args, now->other);
    now->other = routine_result(exprs, routine_call(exprs, number, args.at, args.n), 0);
    now->side = argument;
    vec_free(&args);
    return true;
}

// a/x = b gives x = a/b, where b is not 0 because a is not.
static bool
turn_over(Exprs *exprs, Isolation *now, uint32_t k)
{
    Expr dividend = expr_arg(exprs, now->side, 0);
    if (expr_uses_slot(exprs, dividend, k))
        return false;
    if (zeros_of(exprs, dividend, 0, &now->looks) != ZEROS_NEVER)
        divided_by(exprs, now, now->other);
    if (now->impossible || now->other == exprs->zero)
        return false;
    now->side = expr_arg(exprs, now->side, 1);
    now->other = expr_2(exprs, OP_DIV, dividend, now->other);
    return true;
}

// Takes one operator off the side with the slot; false when it is not a sum, product or quotient with the
// slot in one place.
static bool
peel(Exprs *exprs, Isolation *now, uint32_t k)
{
    Expr with, without;
    switch (cell_op(exprs, now->side)) {
    case OP_NEG:
        now->other = expr_1(exprs, OP_NEG, now->other);
        now->side = expr_arg(exprs, now->side, 0);
        return true;
    case OP_ADD:
        if (!single_out(exprs, now->side, k, &with, &without))
            return false;
        now->other = expr_sub(exprs, now->other, without);
        now->side = with;
        return true;
    case OP_MUL:
        if (!single_out(exprs, now->side, k, &with, &without))
            return false;
        divided_by(exprs, now, without);
        if (now->impossible)
            return false;
        now->other = solution(exprs, without, expr_1(exprs, OP_NEG, now->other));
        now->side = with;
        return true;
    case OP_DIV:
        without = expr_arg(exprs, now->side, 1);
        if (expr_uses_slot(exprs, without, k))
            return turn_over(exprs, now, k);
        now->other = expr_2(exprs, OP_MUL, now->other, without);
        now->side = expr_arg(exprs, now->side, 0);
        return true;
    case OP_RESULT:
        return invert(exprs, now, k);
    default:
        return false;
    }
}

// What is left when the operators were taken off: the slot itself, or an affine expression of it.
static Expr
isolate(Exprs *exprs, Isolation *now, uint32_t k)
{
    Expr coefficient, rest;
    while (peel(exprs, now, k))
        continue;
    if (now->impossible)
        return 0;
    if (cell_op(exprs, now->side) == OP_SLOT)
        return now->other;
    Expr residual = expr_sub(exprs, now->side, now->other);
    if (!expr_affine(exprs, residual, k, &coefficient, &rest))
        return 0;
    divided_by(exprs, now, coefficient);
    return now->impossible ? 0 : solution(exprs, coefficient, rest);
}

Expr
expr_solve(Exprs *exprs, Expr equation, uint32_t k, Expr *divisor)
{
    Isolation now = {.side = equation, .other = exprs->zero};
    if (divisor)
        *divisor = 0;
    if (cell_op(exprs, equation) == OP_EQN) {
        Expr left = expr_arg(exprs, equation, 0), right = expr_arg(exprs, equation, 1);
        bool in_left = expr_uses_slot(exprs, left, k), in_right = expr_uses_slot(exprs, right, k);
        now.side = in_left ? left : right;
        now.other = in_left ? right : left;
        if (in_left && in_right) {
            now.side = expr_residual(exprs, equation);
            now.other = exprs->zero;
        }
    }
    if (!expr_uses_slot(exprs, now.side, k))
        return 0;
    Expr found = isolate(exprs, &now, k);
    if (divisor && found)
        *divisor = now.divisor;
    return found;
}
