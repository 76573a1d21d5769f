// expr_make.c: making expressions: the simplifying constructors.
//
// Purpose: every expression is in its final form when it is made (docs/ir.md, Expressions).
// Method: sums are collected as factor*base and products as base^factor, in order of first occurrence, by
// marks per id (long ones) or a scan (short ones).
// Contract: expr_make.h; simplification is idempotent. Nothing recurses deeper than the fixed nesting of
// constructors.
// Complexity: linear in the number of (flattened) arguments.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_eval.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"

enum { SCAN_LIMIT = 12 };

// A sum or product of more operands is one operand of others: s := s + f(i) in a long loop would copy what it has so far each time.
enum { FLAT = 256 };

// --- arithmetic

bool
expr_small_power(double exponent)
{
    double size = fabs(exponent);
    return size >= 2 && size <= 64 && size == floor(size);
}

// factor*base, where base has no leading constant and no sign of its own.
static Expr
scaled(Exprs *exprs, double factor, Expr base)
{
    if (factor == 1)
        return base;
    if (factor == -1)
        return expr_intern(exprs, OP_NEG, &base, 1);
    Expr leading = expr_const(exprs, factor);
    if (cell_op(exprs, base) != OP_MUL)
        return expr_intern(exprs, OP_MUL, (Expr[]){leading, base}, 2);
    U32Vec args = {0};
    vec_push(&args, leading);
    vec_append(&args, cell_args(exprs, base), cell_n(exprs, base));
    Expr product = expr_intern(exprs, OP_MUL, args.at, args.n);
    vec_free(&args);
    return product;
}

// Adds to the collection that begins at terms.at[begin]; equal bases are merged.
static void
collect(Exprs *exprs, uint32_t begin, double factor, Expr base)
{
    uint32_t n = exprs->terms.n;
    if (n - begin < SCAN_LIMIT) {
        for (uint32_t i = begin; i < n; i++) {
            if (exprs->terms.at[i].base == base) {
                exprs->terms.at[i].factor += factor;
                return;
            }
        }
    } else {
        if (n - begin == SCAN_LIMIT) // from here on by marks
            for (uint32_t i = begin; i < n; i++)
                exprs->place.at[exprs->terms.at[i].base] = i + 1;
        uint32_t place = exprs->place.at[base];
        if (place) {
            exprs->terms.at[place - 1].factor += factor;
            return;
        }
        exprs->place.at[base] = n + 1;
    }
    vec_push(&exprs->terms, (Term){factor, base});
}

static void
collected(Exprs *exprs, uint32_t begin)
{
    if (exprs->terms.n - begin >= SCAN_LIMIT)
        for (uint32_t i = begin; i < exprs->terms.n; i++)
            exprs->place.at[exprs->terms.at[i].base] = 0;
}

// Base of a product without its leading constant; *factor receives the constant.
static Expr
without_factor(Exprs *exprs, Expr product, double *factor)
{
    uint32_t n = cell_n(exprs, product);
    const Expr *args = cell_args(exprs, product);
    *factor = 1;
    if (!cell_constant(exprs, args[0], factor))
        return product;
    return n == 2 ? args[1] : expr_intern(exprs, OP_MUL, args + 1, n - 1);
}

static void
collect_term(Exprs *exprs, uint32_t begin, Expr term, double *sum)
{
    double factor;
    Op op = cell_op(exprs, term);
    if (cell_constant(exprs, term, &factor)) {
        *sum += factor;
    } else if (op == OP_NEG) {
        collect(exprs, begin, -1, cell_args(exprs, term)[0]);
    } else if (op == OP_MUL) {
        Expr base = without_factor(exprs, term, &factor);
        collect(exprs, begin, factor, base);
    } else {
        collect(exprs, begin, 1, term);
    }
}

static Expr make_add(Exprs *exprs, const Expr *args, uint32_t n);
static Expr make_mul(Exprs *exprs, const Expr *args, uint32_t n);
static Expr negate_sum(Exprs *exprs, Expr sum);

// c*(x/d) with c a multiple of d?
static bool
is_multiple(const Exprs *exprs, double factor, Expr base)
{
    double divisor;
    return cell_op(exprs, base) == OP_DIV && cell_constant(exprs, cell_args(exprs, base)[1], &divisor) && divisor != 0
           && fabs(factor) != 1 && fmod(factor, divisor) == 0;
}

// The same of base, or of a factor in it.
static bool
has_multiple(const Exprs *exprs, double factor, Expr base)
{
    uint32_t n = cell_op(exprs, base) == OP_MUL ? cell_n(exprs, base) : 0;
    bool found = is_multiple(exprs, factor, base);
    for (uint32_t i = 0; i < n && !found; i++)
        found = is_multiple(exprs, factor, cell_args(exprs, base)[i]);
    return found;
}

// factor*base; c*(x/d) with c a multiple of d is (c/d)*x, exactly.
static Expr
scaled_product(Exprs *exprs, double factor, Expr base)
{
    if (is_multiple(exprs, factor, base)) {
        Expr over = cell_args(exprs, base)[0], under = cell_args(exprs, base)[1];
        return expr_2(exprs, OP_MUL, expr_const(exprs, factor / expr_value(exprs, under)), over);
    }
    if (cell_op(exprs, base) == OP_MUL && has_multiple(exprs, factor, base))
        return make_mul(exprs, (Expr[]){expr_const(exprs, factor), base}, 2);
    if (factor == -1 && cell_op(exprs, base) == OP_ADD)
        return negate_sum(exprs, base);
    return scaled(exprs, factor, base);
}

static Expr
finish_sum(Exprs *exprs, uint32_t begin, double sum)
{
    U32Vec args = {0};
    Expr few[SCAN_LIMIT + 1];
    bool nested = false;
    args.at = few; // short sums need no memory of their own
    if (exprs->terms.n - begin > SCAN_LIMIT) {
        args.at = NULL;
        vec_reserve(&args, exprs->terms.n - begin + 1);
    }
    if (sum != 0)
        args.at[args.n++] = expr_const(exprs, sum);
    for (uint32_t i = begin; i < exprs->terms.n; i++) {
        Term term = exprs->terms.at[i];
        if (term.factor == 0)
            continue;
        nested |= has_multiple(exprs, term.factor, term.base)
                  || (fabs(term.factor) == 1 && cell_op(exprs, term.base) == OP_ADD && cell_n(exprs, term.base) <= FLAT);
        args.at[args.n++] = scaled_product(exprs, term.factor, term.base);
    }
    exprs->terms.n = begin;
    Expr result = nested ? 0 : args.n > 1 ? expr_intern(exprs, OP_ADD, args.at, args.n)
                                          : args.n ? args.at[0] : exprs->zero;
    if (nested) // 3*(x + y) - 2*(x + y), x/2 + x/2: what is left joins the other terms
        result = make_add(exprs, args.at, args.n);
    if (args.capacity)
        free(args.at);
    return result;
}

static Expr
make_add(Exprs *exprs, const Expr *args, uint32_t n)
{
    uint32_t begin = exprs->terms.n;
    double sum = 0;
    for (uint32_t i = 0; i < n; i++) {
        Expr arg = args[i];
        if (cell_op(exprs, arg) != OP_ADD || (n > 1 && cell_n(exprs, arg) > FLAT)) {
            collect_term(exprs, begin, arg, &sum);
            continue;
        }
        uint32_t inner = cell_n(exprs, arg);
        for (uint32_t j = 0; j < inner; j++)
            collect_term(exprs, begin, cell_args(exprs, arg)[j], &sum);
    }
    collected(exprs, begin);
    return finish_sum(exprs, begin, sum);
}

static Expr
negate_sum(Exprs *exprs, Expr sum)
{
    U32Vec args = {0};
    uint32_t n = cell_n(exprs, sum);
    for (uint32_t i = 0; i < n; i++) {
        Expr negative = expr_1(exprs, OP_NEG, cell_args(exprs, sum)[i]); // no sum itself: no deeper
        vec_push(&args, negative);
    }
    Expr result = expr_intern(exprs, OP_ADD, args.at, args.n);
    vec_free(&args);
    return result;
}

static Expr
make_neg(Exprs *exprs, Expr a)
{
    double value;
    if (cell_constant(exprs, a, &value))
        return expr_const(exprs, -value);
    switch (cell_op(exprs, a)) {
    case OP_NEG:
        return cell_args(exprs, a)[0];
    case OP_ADD:
        return cell_n(exprs, a) > FLAT ? expr_intern(exprs, OP_NEG, &a, 1) : negate_sum(exprs, a);
    case OP_MUL: {
        Expr base = without_factor(exprs, a, &value);
        return scaled(exprs, -value, base);
    }
    default:
        return expr_intern(exprs, OP_NEG, &a, 1);
    }
}

static void
collect_factor(Exprs *exprs, uint32_t begin, Expr factor, double *product)
{
    double value;
    while (cell_op(exprs, factor) == OP_NEG) {
        *product = -*product;
        factor = cell_args(exprs, factor)[0];
    }
    if (cell_constant(exprs, factor, &value)) {
        *product *= value;
    } else if (cell_op(exprs, factor) == OP_POW
               && cell_constant(exprs, cell_args(exprs, factor)[1], &value) && value > 0
               && expr_small_power(value)) {
        collect(exprs, begin, value, cell_args(exprs, factor)[0]);
    } else {
        collect(exprs, begin, 1, factor);
    }
}

// The product of a constant and what was collected since `begin`.
static Expr
collect_again(Exprs *exprs, uint32_t begin, double product)
{
    U32Vec args = {0};
    vec_push(&args, expr_const(exprs, product));
    for (uint32_t i = begin; i < exprs->terms.n; i++) {
        Term term = exprs->terms.at[i];
        Expr power = term.factor == 1 ? term.base : expr_2(exprs, OP_POW, term.base, expr_const(exprs, term.factor));
        vec_push(&args, power);
    }
    exprs->terms.n = begin;
    Expr result = make_mul(exprs, args.at, args.n);
    vec_free(&args);
    return result;
}

// c*a*(x/d) with c a multiple of d: *product becomes c/d, exactly, and the term x, with which
// the product is to be collected again.
static bool
absorb_divisor(Exprs *exprs, Term *term, double *product)
{
    if (term->factor != 1 || !is_multiple(exprs, *product, term->base))
        return false;
    Expr over = cell_args(exprs, term->base)[0];
    *product /= expr_value(exprs, cell_args(exprs, term->base)[1]);
    term->base = over;
    return true;
}

static Expr
finish_product(Exprs *exprs, uint32_t begin, double product)
{
    bool again = false;
    for (uint32_t i = begin; i < exprs->terms.n && exprs->terms.n > begin + 1; i++)
        again |= absorb_divisor(exprs, &exprs->terms.at[i], &product);
    if (again)
        return collect_again(exprs, begin, product);
    U32Vec args = {0};
    Expr few[SCAN_LIMIT + 1];
    args.at = few;
    if (exprs->terms.n - begin > SCAN_LIMIT) {
        args.at = NULL;
        vec_reserve(&args, exprs->terms.n - begin + 1);
    }
    for (uint32_t i = begin; i < exprs->terms.n; i++) {
        Term term = exprs->terms.at[i];
        args.at[args.n++] = term.factor == 1
                                ? term.base
                                : expr_2(exprs, OP_POW, term.base, expr_const(exprs, term.factor));
    }
    exprs->terms.n = begin;
    Expr result = !args.n       ? expr_const(exprs, product)
                  : args.n == 1 ? scaled_product(exprs, product, args.at[0])
                                : scaled(exprs, product, expr_intern(exprs, OP_MUL, args.at, args.n));
    if (args.capacity)
        free(args.at);
    return result;
}

static Expr
make_mul(Exprs *exprs, const Expr *args, uint32_t n)
{
    uint32_t begin = exprs->terms.n;
    double product = 1;
    for (uint32_t i = 0; i < n; i++) {
        Expr arg = args[i];
        if (cell_op(exprs, arg) == OP_NEG) {
            product = -product;
            arg = cell_args(exprs, arg)[0];
        }
        if (cell_op(exprs, arg) != OP_MUL || (n > 1 && cell_n(exprs, arg) > FLAT)) {
            collect_factor(exprs, begin, arg, &product);
            continue;
        }
        uint32_t inner = cell_n(exprs, arg);
        for (uint32_t j = 0; j < inner; j++)
            collect_factor(exprs, begin, cell_args(exprs, arg)[j], &product);
    }
    collected(exprs, begin);
    if (product == 0) {
        exprs->terms.n = begin;
        return exprs->zero;
    }
    return finish_product(exprs, begin, product);
}

// Takes a sign off e: true when it was negative, *e is then without it.
static bool
take_sign(Exprs *exprs, Expr *e)
{
    double value;
    Op op = cell_op(exprs, *e);
    bool negative = op == OP_NEG || (cell_constant(exprs, *e, &value) && value < 0)
                    || (op == OP_MUL && cell_constant(exprs, cell_args(exprs, *e)[0], &value) && value < 0);
    if (negative)
        *e = make_neg(exprs, *e);
    return negative;
}

// a/b of parts without signs, b no constant zero.
static Expr
plain_quotient(Exprs *exprs, Expr a, Expr b)
{
    double over, under, inner;
    bool constant_a = cell_constant(exprs, a, &over), constant_b = cell_constant(exprs, b, &under);
    if (constant_a && over == 0)
        return exprs->zero;
    if (constant_a && constant_b)
        return expr_const(exprs, over / under);
    if (constant_b && under == 1)
        return a;
    if (constant_b && cell_op(exprs, a) == OP_MUL && cell_constant(exprs, cell_args(exprs, a)[0], &over)
        && fmod(over, under) == 0) {
        Expr base = without_factor(exprs, a, &over);
        return scaled_product(exprs, over / under, base);
    }
    if (constant_b && cell_op(exprs, a) == OP_DIV
        && cell_constant(exprs, cell_args(exprs, a)[1], &inner) && inner != 0)
        return plain_quotient(exprs, cell_args(exprs, a)[0], expr_const(exprs, inner * under));
    return expr_intern(exprs, OP_DIV, (Expr[]){a, b}, 2);
}

static Expr
make_div(Exprs *exprs, Expr a, Expr b)
{
    bool negative = take_sign(exprs, &a) ^ take_sign(exprs, &b);
    // a/(p/q) = a*q/p, as long as the divisor is a quotient.
    while (cell_op(exprs, b) == OP_DIV && !expr_is_const(exprs, cell_args(exprs, b)[0], 0)) {
        Expr over = cell_args(exprs, b)[0], under = cell_args(exprs, b)[1];
        a = make_mul(exprs, (Expr[]){a, under}, 2);
        b = over;
        negative ^= take_sign(exprs, &a) ^ take_sign(exprs, &b);
    }
    Expr quotient = expr_is_const(exprs, b, 0) ? expr_intern(exprs, OP_DIV, (Expr[]){a, b}, 2)
                                               : plain_quotient(exprs, a, b);
    return negative ? make_neg(exprs, quotient) : quotient;
}

static Expr
make_pow(Exprs *exprs, Expr base, Expr exponent)
{
    double b, x, inner;
    bool constant_x = cell_constant(exprs, exponent, &x), constant_b = cell_constant(exprs, base, &b);
    if (constant_x && x == 0)
        return exprs->one;
    if ((constant_x && x == 1) || (constant_b && b == 1))
        return base;
    if (constant_x && constant_b) {
        double value = expr_apply(OP_POW, (double[]){b, x}, 2);
        if (isfinite(value))
            return expr_const(exprs, value);
    }
    if (!constant_x || constant_b || !expr_small_power(x))
        return expr_intern(exprs, OP_POW, (Expr[]){base, exponent}, 2);
    bool negative = cell_op(exprs, base) == OP_NEG;
    if (negative)
        base = cell_args(exprs, base)[0];
    if (cell_op(exprs, base) == OP_POW && cell_constant(exprs, cell_args(exprs, base)[1], &inner)
        && expr_small_power(inner) && expr_small_power(inner * x)) {
        base = cell_args(exprs, base)[0];
        exponent = expr_const(exprs, inner * x);
    }
    Expr power = expr_intern(exprs, OP_POW, (Expr[]){base, exponent}, 2);
    return negative && fmod(x, 2) != 0 ? make_neg(exprs, power) : power;
}

// --- logic and choice

static Expr
make_logic(Exprs *exprs, Op op, const Expr *args, uint32_t n)
{
    double neutral = op == OP_AND, value;
    uint32_t begin = exprs->terms.n;
    bool decided = false;
    for (uint32_t i = 0; i < n; i++) {
        bool flat = cell_op(exprs, args[i]) == op;
        uint32_t inner = flat ? cell_n(exprs, args[i]) : 1;
        for (uint32_t j = 0; j < inner; j++) {
            Expr arg = flat ? cell_args(exprs, args[i])[j] : args[i];
            if (!cell_constant(exprs, arg, &value))
                collect(exprs, begin, 1, arg);
            else
                decided |= (value != 0) != (neutral != 0);
        }
    }
    collected(exprs, begin);
    U32Vec kept = {0};
    for (uint32_t i = begin; i < exprs->terms.n; i++)
        vec_push(&kept, exprs->terms.at[i].base);
    exprs->terms.n = begin;
    Expr result = decided       ? expr_const(exprs, !neutral)
                  : !kept.n     ? expr_const(exprs, neutral)
                  : kept.n == 1 ? kept.at[0]
                                : expr_intern(exprs, op, kept.at, kept.n);
    vec_free(&kept);
    return result;
}

static Expr
make_if(Exprs *exprs, Expr condition, Expr yes, Expr no)
{
    double value;
    if (cell_constant(exprs, condition, &value))
        return value != 0 ? yes : no;
    if (yes == no)
        return yes;
    if (cell_op(exprs, condition) == OP_NOT)
        return make_if(exprs, cell_args(exprs, condition)[0], no, yes); // not(not c) does not exist
    return expr_intern(exprs, OP_IF, (Expr[]){condition, yes, no}, 3);
}

// Identities of the operators with one argument; 0 when none applies.
static Expr
simplify_1(Exprs *exprs, Op op, Expr a)
{
    Op inner = cell_op(exprs, a);
    Expr bare = inner == OP_NEG ? cell_args(exprs, a)[0] : 0;
    double value;
    switch (op) {
    case OP_NEG:
        return make_neg(exprs, a);
    case OP_NOT:
        return inner == OP_NOT ? cell_args(exprs, a)[0] : 0;
    case OP_ABS:
        return bare ? expr_1(exprs, OP_ABS, bare) : inner == OP_ABS ? a : 0;
    case OP_SIGN:
    case OP_SGN:
        if (op == OP_SGN && cell_constant(exprs, a, &value) && value != 0)
            return expr_const(exprs, value > 0 ? 1 : -1);
        return bare ? make_neg(exprs, expr_1(exprs, op, bare)) : 0;
    case OP_NOEVENT:
        return op_table[inner].kind == OPKIND_LEAF || inner == OP_NOEVENT ? a : 0;
    default:
        return 0;
    }
}

static Expr
simplify_2(Exprs *exprs, Op op, Expr a, Expr b)
{
    switch (op) {
    case OP_DIV:
        return make_div(exprs, a, b);
    case OP_POW:
        return make_pow(exprs, a, b);
    case OP_LT:
    case OP_GT:
    case OP_NE:
        return a == b ? exprs->zero : 0;
    case OP_LE:
    case OP_GE:
    case OP_EQ:
        return a == b ? exprs->one : 0;
    case OP_MIN:
    case OP_MAX:
    case OP_HOMOTOPY:
        return a == b ? a : 0;
    case OP_RATED: // what stands still
        return cell_op(exprs, a) == OP_CONST && b == exprs->zero ? a : 0;
    case OP_LUZ:
        return expr_is_const(exprs, b, 0) || expr_is_const(exprs, a, 0) ? a : 0;
    case OP_TAR:
        return expr_is_const(exprs, b, 0) ? a : 0;
    case OP_SMOOTH:
        return op_table[cell_op(exprs, b)].kind == OPKIND_LEAF ? b : 0;
    default:
        return 0;
    }
}

// A number has no unit to check; one that is not valid is not a number.
static Expr
make_integral(Exprs *exprs, const Expr *args)
{
    double value;
    if (expr_is_const(exprs, args[1], 0))
        return expr_const(exprs, NAN);
    if (cell_constant(exprs, args[0], &value) && expr_is_const(exprs, args[1], 1))
        return args[0];
    return expr_intern(exprs, OP_INTEGRAL, args, 4);
}

static Expr
fold_constants(Exprs *exprs, Op op, const Expr *args, uint32_t n)
{
    double values[2] = {0, 0};
    if (n < 1 || n > 2 || op_table[op].kind == OPKIND_MODEL)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        if (!cell_constant(exprs, args[i], &values[i]))
            return 0;
    if (op == OP_LUZ && values[1] < 0)
        return 0; // which has no meaning, and is reported where it stands (ir/operator/thresholds.c)
    double value = expr_apply(op, values, n);
    return isfinite(value) ? expr_const(exprs, value) : 0;
}

// --- routines and subscripts

// A call whose inputs are known has a value, unless it fails.
static Expr
make_result(Exprs *exprs, Expr k, Expr call)
{
    uint32_t n = cell_n(exprs, call) - 1;
    Expr result = expr_intern(exprs, OP_RESULT, (Expr[]){k, call}, 2);
    for (uint32_t i = 1; i <= n; i++)
        if (cell_op(exprs, cell_args(exprs, call)[i]) != OP_CONST)
            return result;
    const Routine *routine = routine_of(exprs, (uint32_t)expr_value(exprs, cell_args(exprs, call)[0]));
    double *inputs = base_calloc((size_t)n + routine->outputs + 1, sizeof *inputs), *outputs = inputs + n;
    for (uint32_t i = 0; i < n; i++)
        inputs[i] = expr_value(exprs, cell_args(exprs, call)[i + 1]);
    bool before = exprs->folding;
    exprs->folding = true;
    if (routine->complete && routine_evaluate(exprs, routine->number, inputs, outputs))
        result = expr_const(exprs, outputs[(uint32_t)expr_value(exprs, k) - 1]);
    exprs->folding = before;
    free(inputs);
    return result;
}

static Expr
make_index(Exprs *exprs, const Expr *args)
{
    double subscript, size;
    if (cell_constant(exprs, args[1], &subscript) && cell_constant(exprs, args[2], &size) && subscript >= 1 && subscript <= size)
        return expr_const(exprs, subscript - 1);
    return expr_intern(exprs, OP_INDEX, args, 3);
}

static Expr
make_pick(Exprs *exprs, const Expr *args, uint32_t n)
{
    double position;
    if (cell_constant(exprs, args[0], &position) && position >= 0 && position < n - 1)
        return args[1 + (uint32_t)position];
    return expr_intern(exprs, OP_PICK, args, n);
}

Expr
expr_make(Exprs *exprs, Op op, const Expr *args, uint32_t n)
{
    Expr result = 0, copy[4];
    if (n <= 4 && n) { // `args` may point into the pool, which moves
        memcpy(copy, args, n * sizeof *args);
        args = copy;
    }
    switch (op) {
    case OP_ADD:
        return make_add(exprs, args, n);
    case OP_MUL:
        return make_mul(exprs, args, n);
    case OP_AND:
    case OP_OR:
        return make_logic(exprs, op, args, n);
    case OP_IF:
        return make_if(exprs, args[0], args[1], args[2]);
    case OP_INTEGRAL:
        return make_integral(exprs, args);
    case OP_CALL:
    case OP_TRANSPORT:
        return expr_intern(exprs, op, args, n);
    case OP_RESULT:
        return make_result(exprs, args[0], args[1]);
    case OP_INDEX:
        return make_index(exprs, args);
    case OP_PICK:
        return make_pick(exprs, args, n);
    case OP_CONST:
    case OP_SLOT:
        return 0; // leaves have constructors of their own
    default:
        break;
    }
    if (op != OP_DIV && op != OP_POW && op != OP_NEG)
        result = fold_constants(exprs, op, args, n);
    if (!result && n == 1)
        result = simplify_1(exprs, op, args[0]);
    if (!result && n == 2)
        result = simplify_2(exprs, op, args[0], args[1]);
    return result ? result : expr_intern(exprs, op, args, n);
}

Expr
expr_1(Exprs *exprs, Op op, Expr a)
{
    return expr_make(exprs, op, &a, 1);
}

Expr
expr_2(Exprs *exprs, Op op, Expr a, Expr b)
{
    return expr_make(exprs, op, (Expr[]){a, b}, 2);
}

Expr
expr_3(Exprs *exprs, Op op, Expr a, Expr b, Expr c)
{
    return expr_make(exprs, op, (Expr[]){a, b, c}, 3);
}

Expr
expr_sub(Exprs *exprs, Expr a, Expr b)
{
    return expr_2(exprs, OP_ADD, a, make_neg(exprs, b));
}
