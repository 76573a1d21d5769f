// polynomial.c: expressions as polynomials in one slot.
//
// Purpose: integrals of polynomials are exact (integrate.c). Method: the parts of the expression in post-order, each
// with its coefficients; sums, products, whole powers and quotients by what is free of the slot keep polynomials.
// Contract: polynomial.h. Complexity: parts times the square of the degree.
#include "ir/expr/polynomial.h"

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"

typedef struct Piece { // coefficients in the pool; n = 0: no polynomial
    uint32_t at, n;
} Piece;

typedef struct Collection {
    Exprs *exprs;
    uint32_t x;
    U32Vec order, pool;
    VEC(Piece) made;
    U32Vec terms; // of one coefficient under construction
} Collection;

static Piece
piece_of(Collection *all, const Expr *coefficients, uint32_t n)
{
    Piece piece = {all->pool.n, n};
    while (piece.n > 1 && coefficients[piece.n - 1] == all->exprs->zero)
        piece.n--;
    vec_append(&all->pool, coefficients, piece.n);
    return piece;
}

static Piece
constant_piece(Collection *all, Expr e)
{
    return piece_of(all, &e, 1);
}

static Expr
coefficient(const Collection *all, Piece piece, uint32_t k)
{
    return k < piece.n ? all->pool.at[piece.at + k] : all->exprs->zero;
}

static Piece
argument(Collection *all, Expr arg)
{
    if (!expr_uses_slot(all->exprs, arg, all->x))
        return constant_piece(all, arg);
    return all->made.at[all->exprs->index.at[arg]];
}

static uint32_t
longest(const Piece *parts, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = parts[i].n > most ? parts[i].n : most;
    return most;
}

// op of the coefficients of the parts, power by power.
static Piece
by_powers(Collection *all, Op op, Expr condition, const Piece *parts, uint32_t n)
{
    U32Vec sums = {0};
    uint32_t most = longest(parts, n);
    for (uint32_t k = 0; k < most; k++) {
        vec_clear(&all->terms);
        if (condition)
            vec_push(&all->terms, condition);
        for (uint32_t i = 0; i < n; i++)
            vec_push(&all->terms, coefficient(all, parts[i], k));
        vec_push(&sums, expr_make(all->exprs, op, all->terms.at, all->terms.n));
    }
    Piece piece = piece_of(all, sums.at, sums.n);
    vec_free(&sums);
    return piece;
}

// Two coefficients in either order are one term of a square.
static void
push_products(Collection *all, Piece a, Piece b, uint32_t k)
{
    bool square = a.at == b.at;
    Exprs *exprs = all->exprs;
    for (uint32_t i = k < b.n ? 0 : k - b.n + 1; i < a.n && i <= k; i++) {
        Expr first = coefficient(all, a, i), second = coefficient(all, b, k - i);
        if (square && 2 * i > k)
            break;
        Expr term = expr_2(exprs, OP_MUL, first, second);
        vec_push(&all->terms, square && 2 * i < k ? expr_2(exprs, OP_MUL, expr_const(exprs, 2), term) : term);
    }
}

static Piece
product(Collection *all, Piece a, Piece b)
{
    if (a.n + b.n - 1 > POLYNOMIAL_DEGREE + 1)
        return (Piece){0, 0};
    U32Vec sums = {0};
    for (uint32_t k = 0; k < a.n + b.n - 1; k++) {
        vec_clear(&all->terms);
        push_products(all, a, b, k);
        vec_push(&sums, expr_make(all->exprs, OP_ADD, all->terms.at, all->terms.n));
    }
    Piece piece = piece_of(all, sums.at, sums.n);
    vec_free(&sums);
    return piece;
}

static Piece
power(Collection *all, Piece base, Expr exponent)
{
    double n = cell_op(all->exprs, exponent) == OP_CONST ? expr_value(all->exprs, exponent) : -1;
    if (n < 0 || !expr_small_power(n))
        return (Piece){0, 0};
    Piece result = base;
    for (uint32_t i = 1; i < n && result.n; i++)
        result = product(all, result, base);
    return result;
}

static Piece
quotient(Collection *all, Piece over, Expr under)
{
    U32Vec parts = {0};
    for (uint32_t k = 0; k < over.n; k++)
        vec_push(&parts, expr_2(all->exprs, OP_DIV, coefficient(all, over, k), under));
    Piece piece = piece_of(all, parts.at, parts.n);
    vec_free(&parts);
    return piece;
}

static Piece
operation(Collection *all, Expr e, const Piece *parts, uint32_t n)
{
    Exprs *exprs = all->exprs;
    Piece none = {0, 0}, result;
    switch (cell_op(exprs, e)) {
    case OP_ADD:
    case OP_NEG:
        return by_powers(all, cell_op(exprs, e), 0, parts, n);
    case OP_MUL:
        result = parts[0];
        for (uint32_t i = 1; i < n && result.n; i++)
            result = product(all, result, parts[i]);
        return result;
    case OP_DIV:
        return expr_uses_slot(exprs, expr_arg(exprs, e, 1), all->x) ? none
                                                                    : quotient(all, parts[0], expr_arg(exprs, e, 1));
    case OP_POW:
        return power(all, parts[0], expr_arg(exprs, e, 1));
    case OP_IF:
        return expr_uses_slot(exprs, expr_arg(exprs, e, 0), all->x)
                   ? none : by_powers(all, OP_IF, expr_arg(exprs, e, 0), parts + 1, 2);
    default:
        return none;
    }
}

static Piece
collect_part(Collection *all, Expr e)
{
    VEC(Piece) parts = {0};
    bool known = true;
    if (!expr_uses_slot(all->exprs, e, all->x))
        return constant_piece(all, e);
    if (cell_op(all->exprs, e) == OP_SLOT)
        return piece_of(all, (Expr[]){all->exprs->zero, all->exprs->one}, 2);
    for (uint32_t i = 0; i < cell_n(all->exprs, e); i++) {
        Piece part = argument(all, cell_args(all->exprs, e)[i]);
        known &= part.n > 0;
        vec_push(&parts, part);
    }
    Piece result = known ? operation(all, e, parts.at, parts.n) : (Piece){0, 0};
    vec_free(&parts);
    return result;
}

bool
expr_polynomial(Exprs *exprs, Expr e, uint32_t x, U32Vec *coefficients)
{
    Collection all = {.exprs = exprs, .x = x};
    vec_clear(coefficients);
    expr_walk(exprs, e, x, &all.order);
    for (uint32_t i = 0; i < all.order.n; i++) {
        Piece piece = collect_part(&all, all.order.at[i]);
        vec_push(&all.made, piece);
    }
    Piece whole = vec_last(&all.made);
    vec_append(coefficients, all.pool.at + whole.at, whole.n);
    vec_free(&all.order);
    vec_free(&all.pool);
    vec_free(&all.made);
    vec_free(&all.terms);
    return whole.n > 0;
}

// --- what is done with them

Expr
polynomial_integral(Exprs *exprs, const U32Vec *coefficients, Expr from, Expr to)
{
    U32Vec terms = {0};
    for (uint32_t k = 0; k < coefficients->n; k++) {
        Expr exponent = expr_const(exprs, k + 1);
        Expr powers = expr_sub(exprs, expr_2(exprs, OP_POW, to, exponent), expr_2(exprs, OP_POW, from, exponent));
        Expr term = expr_2(exprs, OP_MUL, coefficients->at[k], powers);
        vec_push(&terms, monomial_reduced(exprs, expr_2(exprs, OP_DIV, term, exponent)));
    }
    Expr sum = expr_make(exprs, OP_ADD, terms.at, terms.n);
    vec_free(&terms);
    return sum;
}

Expr
polynomial_value(Exprs *exprs, const U32Vec *coefficients, Expr at)
{
    Expr value = exprs->zero;
    for (uint32_t k = coefficients->n; k-- > 0;)
        value = expr_2(exprs, OP_ADD, coefficients->at[k], expr_2(exprs, OP_MUL, at, value));
    return value;
}

// Horner's rule with (u - shift)/scale in the place of x: result = result*(u - shift)/scale + coefficient.
void
polynomial_shift(Exprs *exprs, U32Vec *coefficients, Expr scale, Expr shift)
{
    U32Vec result = {0};
    for (uint32_t k = coefficients->n; k-- > 0;) {
        vec_push(&result, exprs->zero);
        for (uint32_t i = result.n; i-- > 0;) {
            Expr lower = i ? result.at[i - 1] : exprs->zero;
            Expr moved = expr_sub(exprs, lower, expr_2(exprs, OP_MUL, shift, result.at[i]));
            moved = expr_2(exprs, OP_DIV, moved, scale);
            result.at[i] = i ? moved : expr_2(exprs, OP_ADD, moved, coefficients->at[k]);
        }
    }
    while (result.n > coefficients->n)
        vec_drop(&result);
    vec_clear(coefficients);
    vec_append(coefficients, result.at, result.n);
    vec_free(&result);
}
