// operation.c: operators on scalars and arrays.
//
// Purpose: types, sizes and elements of unary and binary operators (Modelica 3.6, sections 3.4-3.6, 10.6).
// Method: a left-associative chain of BINARY nodes is walked with a loop; runs of scalar sums, products,
// `and` and `or` are collected and made at once, because a sum made term by term costs the square of its
// length.
// Contract: expression_inner.h. Complexity: linear in nodes plus scalar operations of the result.
#include <math.h>
#include <string.h>

#include "frontend/value/expression_inner.h"
#include "ir/base/diag.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

static bool
refuse_operator(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span)
{
    Diag *diag = diag_add(env->diags, E0204, span, "operator '%s' is not defined for %s and %s",
                          ast_op_text(op), value_type_text(env, left), value_type_text(env, right));
    bool numbers = op <= AOP_EPOW;
    if (numbers && (left->type.base == TYPE_BOOLEAN || right->type.base == TYPE_BOOLEAN))
        diag_help(diag, "write 'if b then 1 else 0' where a Boolean is to count as a number");
    else if (op == AOP_ADD && (left->type.base == TYPE_STRING) != (right->type.base == TYPE_STRING))
        diag_help(diag, "write 'String(x)' for the text of a value");
    return false;
}

static bool
refuse_sizes(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span)
{
    Diag *diag = diag_add(env->diags, E0202, span, "operator '%s' cannot combine the sizes of %s and %s",
                          ast_op_text(op), value_type_text(env, left), value_type_text(env, right));
    bool one_scalar = !left->type.rank != !right->type.rank;
    if (one_scalar && (op == AOP_ADD || op == AOP_SUB || op == AOP_POW || op == AOP_DIV))
        diag_help(diag, "the elementwise operator is '.%s'", ast_op_text(op));
    return false;
}

static Expr
scalar_binary(Exprs *exprs, AstOp op, Expr a, Expr b)
{
    switch (op) {
    case AOP_ADD: case AOP_EADD: return expr_2(exprs, OP_ADD, a, b);
    case AOP_SUB: case AOP_ESUB: return expr_sub(exprs, a, b);
    case AOP_MUL: case AOP_EMUL: return expr_2(exprs, OP_MUL, a, b);
    case AOP_DIV: case AOP_EDIV: return expr_2(exprs, OP_DIV, a, b);
    case AOP_POW: case AOP_EPOW: return expr_2(exprs, OP_POW, a, b);
    case AOP_LT: return expr_2(exprs, OP_LT, a, b);
    case AOP_LE: return expr_2(exprs, OP_LE, a, b);
    case AOP_GT: return expr_2(exprs, OP_GT, a, b);
    case AOP_GE: return expr_2(exprs, OP_GE, a, b);
    case AOP_EQ: return expr_2(exprs, OP_EQ, a, b);
    case AOP_NE: return expr_2(exprs, OP_NE, a, b);
    case AOP_AND: return expr_2(exprs, OP_AND, a, b);
    default: return expr_2(exprs, OP_OR, a, b);
    }
}

// Numbers that multiply and vanish are noted.
static Expr
arithmetic_binary(ExprEnv *env, AstOp op, Expr a, Expr b)
{
    if (op == AOP_MUL || op == AOP_EMUL)
        return factor_product(env, a, b);
    Expr parts[2] = {a, b}, result = scalar_binary(env->exprs, op, a, b);
    if (op == AOP_DIV || op == AOP_EDIV)
        factor_note_product(env, parts, 2, result);
    else if (op == AOP_ADD || op == AOP_EADD || op == AOP_SUB || op == AOP_ESUB)
        factor_note_sum(env, parts, 2, result);
    return result;
}

// Element i op element i; a scalar operand meets every element of the other.
static bool
elementwise(ExprEnv *env, AstOp op, VarType base, const Value *left, const Value *right, Span span,
            Value *out)
{
    Type type = left->type.rank ? left->type : right->type;
    type.base = base;
    if (!value_new(env, &type, span, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = arithmetic_binary(env, op, left->elements[left->type.rank ? i : 0],
                                             right->elements[right->type.rank ? i : 0]);
    out->sizes = left->type.rank ? left->sizes : right->sizes; // which agree
    return true;
}

// A term of a product of arrays: what is summed over may have a size that is known at run time only.
static Expr
product_term(ExprEnv *env, Expr term, const Value *left, uint32_t k)
{
    Expr size = left->sizes ? left->sizes[left->type.rank - 1] : 0;
    if (!size)
        return term;
    Expr there = expr_1(env->exprs, OP_NOEVENT, expr_2(env->exprs, OP_LT, expr_const(env->exprs, k), size));
    return expr_3(env->exprs, OP_IF, there, term, expr_const(env->exprs, 0));
}

// The dimension that a product of arrays sums over gets one size.
static bool
agree_inside(ExprEnv *env, Value *left, Value *right, Span span)
{
    uint32_t inner = left->type.rank - 1u, dims[MAX_RANK];
    if (!(left->sizes && left->sizes[inner]) && !(right->sizes && right->sizes[0]))
        return true;
    Value a = {.type = {.rank = 1, .dims = {left->type.dims[inner]}}}, b = {.type = {.rank = 1, .dims = {right->type.dims[0]}}};
    a.elements = arena_array(env->arena, Expr, left->type.dims[inner] + 1);
    b.elements = arena_array(env->arena, Expr, right->type.dims[0] + 1);
    value_set_size(env, &a, 0, value_size(env, left, inner));
    value_set_size(env, &b, 0, value_size(env, right, 0));
    if (!flexible_agree(env, &a, &b, span))
        return false;
    memcpy(dims, left->type.dims, sizeof dims);
    dims[inner] = a.type.dims[0];
    if (!flexible_resize(env, left, dims, span))
        return false;
    memcpy(dims, right->type.dims, sizeof dims);
    dims[0] = a.type.dims[0];
    if (!flexible_resize(env, right, dims, span))
        return false;
    value_set_size(env, left, inner, value_size(env, &a, 0));
    value_set_size(env, right, 0, value_size(env, &a, 0));
    return true;
}

static bool
matrix_product(ExprEnv *env, VarType base, const Value *left, const Value *right, Span span, Value *out)
{
    uint32_t rows = left->type.rank == 2 ? left->type.dims[0] : 1;
    uint32_t inner = left->type.dims[left->type.rank - 1];
    uint32_t columns = right->type.rank == 2 ? right->type.dims[1] : 1;
    if (left->type.rank > 2 || right->type.rank > 2 || inner != right->type.dims[0])
        return refuse_sizes(env, AOP_MUL, left, right, span);
    uint32_t dims[2], rank = 0;
    if (left->type.rank == 2)
        dims[rank++] = rows;
    if (right->type.rank == 2)
        dims[rank++] = columns;
    Type scalar = type_scalar(base), type = type_with_sizes(&scalar, rank, dims);
    if (!value_new(env, &type, span, out))
        return false;
    Expr *terms = arena_array(env->arena, Expr, inner ? inner : 1);
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j < columns; j++) {
            for (uint32_t k = 0; k < inner; k++)
                terms[k] = product_term(env, factor_product(env, left->elements[i * inner + k], right->elements[k * columns + j]), left, k);
            Expr sum = inner == 0 ? expr_const(env->exprs, 0)
                : inner == 1 ? terms[0] : expr_make(env->exprs, OP_ADD, terms, inner);
            factor_note_sum(env, terms, inner, sum);
            out->elements[i * columns + j] = sum;
        }
    if (left->sizes && left->type.rank == 2)
        value_set_size(env, out, 0, left->sizes[0]);
    if (right->sizes && right->type.rank == 2)
        value_set_size(env, out, rank - 1, right->sizes[1]);
    return true;
}

// A matrix to a non-negative Integer power, by repeated squaring (section 10.6.8).
static bool
matrix_power(ExprEnv *env, const Value *left, const Value *right, Span span, Value *out)
{
    if (left->type.rank != 2 || left->type.dims[0] != left->type.dims[1] || right->type.rank)
        return refuse_sizes(env, AOP_POW, left, right, span);
    double exponent = value_known(env, right) ? value_number(env, right, 0) : -1;
    if (right->type.base != TYPE_INTEGER || !(exponent >= 0) || exponent > 1e6 || exponent != floor(exponent)) {
        diag_add(env->diags, E0210, span,
                 "the exponent of a matrix must be a constant Integer that is not negative");
        return false;
    }
    Value base = *left, product;
    base.type.base = TYPE_REAL;
    if (!value_new(env, &base.type, span, &product))
        return false;
    for (uint32_t i = 0; i < product.count; i++)
        product.elements[i] = expr_const(env->exprs, i % (left->type.dims[0] + 1) == 0);
    for (uint32_t n = (uint32_t)exponent; n; n >>= 1) {
        Value old = product, square = base;
        if ((n & 1) && !matrix_product(env, TYPE_REAL, &old, &square, span, &product))
            return false;
        if (n > 1 && !matrix_product(env, TYPE_REAL, &square, &square, span, &base))
            return false;
    }
    *out = product;
    return true;
}

// The same with its values looked at: 2^53 + 1 is no double.
static bool
whole_operand(ExprEnv *env, const Value *value, Span span, Value *out)
{
    *out = *value;
    if (!value->count)
        return true;
    if (!value_new(env, &value->type, span, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = whole_checked(env, value->elements[i], span);
    out->sizes = value->sizes;
    return true;
}

static bool
arithmetic(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out)
{
    if (!type_is_number(&left->type) || !type_is_number(&right->type))
        return refuse_operator(env, op, left, right, span);
    bool integers = left->type.base == TYPE_INTEGER && right->type.base == TYPE_INTEGER;
    bool one_scalar = !left->type.rank || !right->type.rank;
    bool quotient = op == AOP_DIV || op == AOP_POW || op == AOP_EDIV || op == AOP_EPOW;
    VarType base = integers && !quotient ? TYPE_INTEGER : TYPE_REAL;
    if (op == AOP_MUL && !one_scalar)
        return matrix_product(env, base, left, right, span, out);
    if (op == AOP_POW && left->type.rank)
        return value_settled(env, left, span) && matrix_power(env, left, right, span, out);
    bool fits = type_same_sizes(&left->type, &right->type);
    if (op == AOP_DIV)
        fits = !right->type.rank;
    else if (op == AOP_MUL || op >= AOP_EADD)
        fits = fits || one_scalar;
    if (!fits)
        return refuse_sizes(env, op, left, right, span);
    if (base == TYPE_INTEGER) {
        Value a, b;
        return whole_operand(env, left, span, &a) && whole_operand(env, right, span, &b) && elementwise(env, op, base, &a, &b, span, out);
    }
    return elementwise(env, op, base, left, right, span, out);
}

// Equal texts have equal numbers; otherwise the order of characters decides.
static Expr
string_comparison(ExprEnv *env, AstOp op, Expr left, Expr right)
{
    if (op == AOP_EQ || op == AOP_NE)
        return scalar_binary(env->exprs, op, left, right);
    return scalar_binary(env->exprs, op, text_order(env->exprs, left, right), expr_const(env->exprs, 0));
}

static bool
comparison(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out)
{
    VarType a = left->type.base, b = right->type.base;
    bool numbers = type_is_number(&left->type) && type_is_number(&right->type);
    if (!numbers && (a != b || a == TYPE_CLOCK || (a == TYPE_ENUM && !type_same_class(&left->type, &right->type)) || left->type.object))
        return refuse_operator(env, op, left, right, span);
    if (left->type.rank || right->type.rank) {
        refuse_operator(env, op, left, right, span);
        diag_help(diags_newest(env->diags), "relations are between scalars");
        return false;
    }
    Expr x = left->elements[0], y = right->elements[0];
    if (a == TYPE_INTEGER && b == TYPE_INTEGER) {
        x = whole_checked(env, x, span);
        y = whole_checked(env, y, span);
    }
    *out = value_scalar(env, TYPE_BOOLEAN, a == TYPE_STRING ? string_comparison(env, op, x, y) : scalar_binary(env->exprs, op, x, y));
    return true;
}

// Of arrays element by element; `.+` also of an array and a scalar (section 10.6.2).
static bool
concatenation(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out)
{
    bool one_scalar = op == AOP_EADD && (!left->type.rank || !right->type.rank);
    if (!value_settled(env, left, span) || !value_settled(env, right, span))
        return false;
    if (!one_scalar && !type_same_sizes(&left->type, &right->type))
        return refuse_sizes(env, op, left, right, span);
    return text_joined(env, left, right, span, out);
}

bool
operator_binary(ExprEnv *env, AstOp op, const Value *left, const Value *right, Span span, Value *out)
{
    if (left->type.base == TYPE_RECORD || right->type.base == TYPE_RECORD)
        return value_settled(env, left, span) && value_settled(env, right, span) && overload_binary(env, op, left, right, span, out);
    Value a = *left, b = *right;
    if ((left->sizes || right->sizes) && left->type.rank && right->type.rank) {
        bool product = op == AOP_MUL && left->type.rank <= 2 && right->type.rank <= 2;
        if (product ? !agree_inside(env, &a, &b, span) : flexible_fits(left, right) && !flexible_agree(env, &a, &b, span))
            return false;
        left = &a;
        right = &b;
    }
    if ((op == AOP_ADD || op == AOP_EADD) && left->type.base == TYPE_STRING && right->type.base == TYPE_STRING)
        return concatenation(env, op, left, right, span, out);
    if (op <= AOP_EPOW)
        return arithmetic(env, op, left, right, span, out);
    if (op <= AOP_NE)
        return comparison(env, op, left, right, span, out);
    if (left->type.base != TYPE_BOOLEAN || right->type.base != TYPE_BOOLEAN)
        return refuse_operator(env, op, left, right, span);
    if (!type_same_sizes(&left->type, &right->type))
        return refuse_sizes(env, op, left, right, span);
    return elementwise(env, op, TYPE_BOOLEAN, left, right, span, out);
}

bool
operator_unary(ExprEnv *env, AstOp op, const Value *operand, Span span, Value *out)
{
    bool logical = op == AOP_NOT;
    if (operand->type.base == TYPE_RECORD)
        return value_settled(env, operand, span) && overload_unary(env, op, operand, span, out);
    if (logical ? operand->type.base != TYPE_BOOLEAN : !type_is_number(&operand->type)) {
        diag_add(env->diags, E0204, span, "operator '%s' is not defined for %s", ast_op_text(op),
                 value_type_text(env, operand));
        return false;
    }
    if (op == AOP_PLUS || op == AOP_EPLUS) {
        *out = *operand;
        return true;
    }
    if (!value_new(env, &operand->type, span, out))
        return false;
    for (uint32_t i = 0; i < out->count; i++)
        out->elements[i] = expr_1(env->exprs, logical ? OP_NOT : OP_NEG, operand->elements[i]);
    out->sizes = operand->sizes;
    return true;
}

// --- chains

// Operators whose scalar chains are collected; 0 for the others.
static Op
chain_op(AstOp op)
{
    switch (op) {
    case AOP_ADD: case AOP_SUB: case AOP_EADD: case AOP_ESUB: return OP_ADD;
    case AOP_MUL: case AOP_EMUL: return OP_MUL;
    case AOP_AND: return OP_AND;
    case AOP_OR: return OP_OR;
    default: return OP_CONST;
    }
}

static bool
chain_takes(Op op, const Value *value)
{
    bool logical = op == OP_AND || op == OP_OR;
    return !value->type.rank && (logical ? value->type.base == TYPE_BOOLEAN : type_is_number(&value->type));
}

// Whether an operand of `and` or `or` decides what they give.
static bool
is_decided(const ExprEnv *env, Op op, Expr left)
{
    return expr_op(env->exprs, left) == OP_CONST && (expr_value(env->exprs, left) != 0) == (op == OP_OR);
}

typedef struct Chain {
    VEC(Expr) terms; // of the run being collected; empty when `value` is complete
    Op op;
    bool decided;    // of `and` and `or`: a term is known that decides
    Value value;
} Chain;

static void
chain_close(ExprEnv *env, Chain *chain)
{
    if (chain->terms.n > 1) {
        Expr made = chain->op == OP_MUL ? factor_multiply(env, chain->terms.at, chain->terms.n)
                                        : expr_make(env->exprs, chain->op, chain->terms.at, chain->terms.n);
        chain->value.elements[0] = made;
        if (chain->op == OP_ADD)
            factor_note_sum(env, chain->terms.at, chain->terms.n, made);
    }
    vec_clear(&chain->terms);
}

static bool
chain_add(ExprEnv *env, Chain *chain, AstOp op, const Value *right, Span span)
{
    Op run = chain_op(op);
    if (run == OP_CONST || !chain_takes(run, &chain->value) || !chain_takes(run, right)) {
        chain_close(env, chain);
        Value left = chain->value;
        return operator_binary(env, op, &left, right, span, &chain->value);
    }
    if (chain->terms.n && chain->op != run)
        chain_close(env, chain);
    if (!chain->terms.n) {
        chain->op = run;
        chain->decided = is_decided(env, run, chain->value.elements[0]);
        vec_push(&chain->terms, chain->value.elements[0]);
        chain->value = value_scalar(env, chain->value.type.base, chain->value.elements[0]);
    }
    chain->decided = chain->decided || is_decided(env, run, right->elements[0]);
    bool minus = op == AOP_SUB || op == AOP_ESUB;
    vec_push(&chain->terms, minus ? expr_1(env->exprs, OP_NEG, right->elements[0]) : right->elements[0]);
    if (right->type.base == TYPE_REAL)
        chain->value.type.base = TYPE_REAL;
    return true;
}

// --- what `and` and `or` need not know

// What stands on the left of `and` and `or`, so far.
typedef struct Left {
    bool logical, decides; // whatever the right operand is, the value is known
    Expr condition;        // 0: the right operand asks for nothing that may not be there
} Left;

// Whether a text has subscripts or calls.
static bool
asks_more(const Ast *ast, Node node)
{
    U32Vec stack = {0};
    bool found = false;
    vec_push(&stack, node);
    while (stack.n && !found) {
        Node at = vec_pop(&stack);
        AstKind kind = ast_kind(ast, at);
        found = kind == AST_CALL || kind == AST_SUBSCRIPTS;
        for (uint32_t i = 0; i < ast_at(ast, at)->nchild; i++)
            if (ast_child(ast, at, i))
                vec_push(&stack, ast_child(ast, at, i));
    }
    vec_free(&stack);
    return found;
}

static Left
left_operand(ExprEnv *env, Chain *chain, Op op, Node right)
{
    Left left = {.logical = (op == OP_AND || op == OP_OR) && chain_takes(op, &chain->value)};
    if (!left.logical)
        return left;
    bool open = chain->terms.n && chain->op == op, asks = env->in_function && asks_more(env->ast, right);
    if (open && !asks) { // a long chain is not made term by term
        left.decides = chain->decided;
        return left;
    }
    chain_close(env, chain);
    left.decides = is_decided(env, op, chain->value.elements[0]);
    left.condition = asks && !left.decides ? chain->value.elements[0] : 0;
    return left;
}

// What fails where it is computed.
static bool
may_fail(const Exprs *exprs, Expr e)
{
    return expr_has_op(exprs, e, OP_INDEX) || expr_has_op(exprs, e, OP_CALL) || expr_has_op(exprs, e, OP_RESULT);
}

// The right operand of `left and right`, `left or right`. Where the left one decides, the other need not be computed (section 3.3):
// an element that is not there, or a variable without a value, is no error there.
static bool
right_operand(ExprEnv *env, Node node, Op op, const Left *left, Value *right)
{
    Expr guard = env->guard;
    bool run_time = env->at_run_time;
    DiagsMark mark = diags_mark(env->diags);
    if (left->condition) {
        Expr reached = op == OP_AND ? left->condition : expr_1(env->exprs, OP_NOT, left->condition);
        env->guard = guard ? expr_2(env->exprs, OP_AND, guard, reached) : reached;
    }
    bool good = expression_flexible(env, node, right);
    env->guard = guard;
    if (good || !left->decides || !diags_are(env->diags, mark, (DiagCode[]){E0206, E0207}, 2))
        return good;
    diags_return_to(env->diags, mark);
    env->at_run_time = run_time;
    *right = value_scalar(env, TYPE_BOOLEAN, expr_const(env->exprs, op == OP_OR));
    return true;
}

// In a function what may fail is computed only where the left operand does not decide.
static bool
chain_choose(ExprEnv *env, Chain *chain, Op op, const Left *left, const Value *right)
{
    if (!left->condition || !chain_takes(op, right) || !may_fail(env->exprs, right->elements[0]))
        return false;
    Expr made = right->elements[0];
    Expr yes = op == OP_AND ? made : expr_const(env->exprs, 1), no = op == OP_AND ? expr_const(env->exprs, 0) : made;
    chain->value = value_scalar(env, TYPE_BOOLEAN, expr_3(env->exprs, OP_IF, left->condition, yes, no));
    return true;
}

bool
expression_binary(ExprEnv *env, Node node, Value *out)
{
    U32Vec links = {0};
    Node first = node;
    for (; ast_kind(env->ast, first) == AST_BINARY; first = ast_child(env->ast, first, 0))
        vec_push(&links, first);
    Chain chain = {0};
    bool good = expression_flexible(env, first, &chain.value);
    while (links.n) {
        Node link = vec_pop(&links);
        AstOp op = (AstOp)ast_at(env->ast, link)->kind_of;
        Node operand = ast_child(env->ast, link, 1);
        Left left = good ? left_operand(env, &chain, chain_op(op), operand) : (Left){0};
        Value right;
        // The right operand is looked at even after an error on the left, so that one run reports both.
        bool right_good = right_operand(env, operand, chain_op(op), &left, &right);
        good = good && right_good;
        if (good && !chain_choose(env, &chain, chain_op(op), &left, &right))
            good = chain_add(env, &chain, op, &right, node_span(env, link));
    }
    if (good) {
        chain_close(env, &chain);
        *out = chain.value;
    }
    vec_free(&links);
    vec_free(&chain.terms);
    return good;
}
