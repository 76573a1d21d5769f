// roots_row.c: flows through orifices in a row become one root (roots.h).
//
// Purpose: a node without volume between two orifices, q = k1*root of (h1 - p) and q = k2*root of (p - h2), has a pressure p that no motion
// moves: where the flow turns, both roots have an infinite slope, and only their sum says what comes to rest.
// Method: an equation of a root is one of s = q*abs(q): q = k*sign(x)*sqrt(abs(x)) says s = k*abs(k)*x, and q = k*sqrt(max(x, 0)) the same
// where s is above zero. Of two equations of one s that share a variable with parametric factors, where nothing that moves gives it, the sum
// without it takes the place of the first, as a root of what is left; the other one, in s, gives the variable. What stands for a difference, `dp = a - b`,
// is replaced by it, and what connections make equal has one name. Of check valves in a row one takes the sum; what is between them
// when they are closed is open, and is the pressure behind the others.
// Contract: roots.h. Complexity: the square of the equations of one flow, at most MOST of them.
#include <stdlib.h>

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth.h"
#include "ir/operator/roots.h"

enum { MOST = 64, MOST_SLOTS = 64, DEEPEST = 4 };

typedef struct Square {   // factor*s + rest = 0, over vars
    uint32_t equation;
    Var q;
    Expr factor, rest;
    bool above;           // s is not below zero, and zero where this equation would have it there
    Var own;              // q as the equation names it ...
    bool negative;        // ... is -q
    bool turned;          // it is one of the flow the other way round
    U32Vec vars;
} Square;

typedef struct Rows {
    Dae *dae;
    const Reach *reach;
    Naming *naming;
    VEC(Square) square;
    Map equal;            // variable -> 1 + twice the one that it is equal to, and 1 for its negative
    U32Vec waiting;
} Rows;

typedef struct Given {
    Dae *dae;
    const U32Vec *vars;
} Given;

typedef struct Exchange {
    uint32_t at;      // slot that takes the place of the root
    Expr x;           // what it is a root of
    uint32_t q;       // slot of q in q*abs(q)
    bool above;
    uint32_t found;
} Exchange;

// q*abs(q), sign(x)*sqrt(abs(x)) among the factors of a product.
static Expr
find_product(Exchange *exchange, Exprs *exprs, const Expr *args, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            double exponent;
            Expr sign = roots_sign(exprs, args[i]), under = roots_under(exprs, args[j], &exponent), x = under ? roots_folded(exprs, under, OP_ABS) : 0;
            bool root = i != j && sign && x && exponent == 0.5 && (x == sign || expr_is_const(exprs, expr_2(exprs, OP_ADD, x, sign), 0));
            bool square = i != j && expr_op(exprs, args[i]) == OP_SLOT && roots_folded(exprs, args[j], OP_ABS) == args[i];
            if (!root && !square)
                continue;
            U32Vec left = {0};
            for (uint32_t k = 0; k < n; k++)
                if (k != i && k != j)
                    vec_push(&left, args[k]);
            vec_push(&left, expr_slot(exprs, exchange->at));
            exchange->x = root ? sign : 0;
            exchange->q = square ? expr_slot_of(exprs, args[i]) : NONE;
            exchange->found++;
            Expr result = left.n == 1 ? left.at[0] : expr_make(exprs, OP_MUL, left.at, left.n);
            vec_free(&left);
            return result;
        }
    return 0;
}

static Expr
find_root(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Exchange *exchange = context;
    double exponent;
    if (expr_op(exprs, part) == OP_MUL)
        return find_product(exchange, exprs, args, expr_nargs(exprs, part));
    Expr under = roots_under(exprs, part, &exponent), x = under ? roots_folded(exprs, under, OP_MAX) : 0;
    if (!x || exponent != 0.5)
        return 0;
    exchange->x = x;
    exchange->q = NONE;
    exchange->above = true;
    exchange->found++;
    return expr_slot(exprs, exchange->at);
}

static bool
is_above(const Rows *rows, Expr e, const Var *vars)
{
    Exprs *exprs = rows->dae->exprs;
    return expr_op(exprs, e) == OP_CONST ? expr_value(exprs, e) > 0
        : expr_op(exprs, e) == OP_SLOT && dae_is_nonneg(rows->dae, vars[expr_slot_of(exprs, e)]);
}

// s = q*abs(q) of q = k*root of x.
static bool
square_of_root(const Rows *rows, Expr text, const Exchange *exchange, Square *square)
{
    Exprs *exprs = rows->dae->exprs;
    const Var *vars = square->vars.at;
    Expr k, rest, factor, zero;
    if (!expr_affine(exprs, text, exchange->at, &k, &rest) || !dae_is_parametric(rows->dae, k, vars))
        return false;
    uint32_t q = NONE;
    for (uint32_t i = 0; i < expr_nslots(exprs, rest); i++)
        if (expr_uses_slot(exprs, rest, i) && dae_kind(rows->dae, vars[i]) == VAR_CONTINUOUS) {
            if (q != NONE)
                return false;
            q = i;
        }
    if (q == NONE || !expr_affine(exprs, rest, q, &factor, &zero) || !expr_is_const(exprs, zero, 0) || expr_op(exprs, factor) != OP_CONST)
        return false;
    k = expr_2(exprs, OP_DIV, expr_1(exprs, OP_NEG, k), factor);
    if (exchange->above && !is_above(rows, k, vars))
        return false;
    square->q = vars[q];
    square->above = exchange->above;
    square->factor = expr_const(exprs, -1);
    square->rest = expr_make(exprs, OP_MUL, (Expr[]){k, expr_1(exprs, OP_ABS, k), exchange->x}, 3);
    return !expr_uses_slot(exprs, square->rest, q);
}

static bool
has_root(const Exprs *exprs, Expr e)
{
    return expr_has_any(exprs, e, ops_and(ops_and(ops_of(OP_ABS), OP_SQRT), OP_POW));
}

// Nothing that moves gives it.
static bool
is_between(const Rows *rows, Var var)
{
    const Dae *dae = rows->dae;
    return dae_kind(dae, var) == VAR_CONTINUOUS && dae->var_pre_of.at[var] == NONE && dae->var_der_of.at[var] == NONE &&
           dae->var_der.at[var] == NONE && rows->reach->known.at[var] == REACH_UNKNOWN;
}

// A flow with inertia is no function of pressures.
static bool
has_rates(const Rows *rows, const Square *square)
{
    for (uint32_t k = 0; k < square->vars.n; k++)
        if (expr_uses_slot(rows->dae->exprs, square->rest, k) && rows->dae->var_der_of.at[square->vars.at[k]] != NONE)
            return true;
    return false;
}

// --- what connections make equal

// An equation x = y, x = -y or x + y = 0 of `var` and *other.
static bool
equates(const Rows *rows, uint32_t equation, Var var, Var *other, bool *negative)
{
    const Dae *dae = rows->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n, own = NONE, at = NONE;
    const Var *row = dae_row(dae, equation, &n);
    Expr shape = dae->equations.at[equation].shape, e, factor[2], rest;
    uint8_t kind = dae->equations.at[equation].kind;
    if ((kind != EQN_NORMAL && kind != EQN_ALIAS) || n != 2 || expr_op(exprs, shape) != OP_EQN)
        return false;
    own = row[1] == var;
    at = 1 - own;
    *other = row[at];
    e = expr_residual(exprs, shape);
    if (row[own] != var || *other == var || dae_kind(dae, *other) != VAR_CONTINUOUS || dae->var_pre_of.at[*other] != NONE ||
        dae->var_der_of.at[*other] != NONE || !expr_affine(exprs, e, own, &factor[0], &rest) || !expr_affine(exprs, rest, at, &factor[1], &rest))
        return false;
    if (!expr_is_const(exprs, rest, 0) || expr_op(exprs, factor[0]) != OP_CONST || expr_op(exprs, factor[1]) != OP_CONST)
        return false;
    double one = expr_value(exprs, factor[0]), two = expr_value(exprs, factor[1]);
    *negative = one == two;
    return one == two || one == -two;
}

// The one that stands for all that are equal to a variable; *negative: for its negative.
static Var
equal_to(Rows *rows, Var var, bool *negative)
{
    const Reach *reach = rows->reach;
    uint32_t found, unused;
    *negative = false;
    if (dae_kind(rows->dae, var) != VAR_CONTINUOUS || rows->dae->var_pre_of.at[var] != NONE || rows->dae->var_der_of.at[var] != NONE)
        return var;
    if (!map_get(&rows->equal, var, &found)) {
        map_put(&rows->equal, var, 1 + 2 * var);
        vec_push(&rows->waiting, var);
    }
    while (rows->waiting.n) {
        Var from = vec_pop(&rows->waiting), other;
        bool other_way;
        if (map_get(&rows->equal, from, &found))
            for (uint32_t at = reach->start.at[from]; at < reach->start.at[from + 1]; at++)
                if (equates(rows, reach->users.at[at], from, &other, &other_way) && !map_get(&rows->equal, other, &unused)) {
                    map_put(&rows->equal, other, ((found - 1) ^ other_way) + 1);
                    vec_push(&rows->waiting, other);
                }
    }
    if (!map_get(&rows->equal, var, &found))
        return var;
    *negative = (found - 1) & 1;
    return (found - 1) >> 1;
}

// Its variables become the ones that stand for them.
static void
take_equals(Rows *rows, Square *square)
{
    Exprs *exprs = rows->dae->exprs;
    for (uint32_t k = 0; k < square->vars.n; k++) {
        bool negative;
        square->vars.at[k] = equal_to(rows, square->vars.at[k], &negative);
        if (negative)
            square->rest = expr_replace_slot(exprs, square->rest, k, expr_1(exprs, OP_NEG, expr_slot(exprs, k)));
    }
}

// s of the negative of the flow.
static void
turn_round(const Rows *rows, Square *square, Var own)
{
    square->factor = expr_1(rows->dae->exprs, OP_NEG, square->factor);
    square->own = own;
    square->turned = true;
}

// --- squares

static bool
read_square(Rows *rows, uint32_t equation, Square *square)
{
    Dae *dae = rows->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    Expr shape = dae->equations.at[equation].shape;
    *square = (Square){.equation = equation};
    if (dae->equations.at[equation].kind != EQN_NORMAL || expr_op(exprs, shape) != OP_EQN || n > MOST_SLOTS || !has_root(exprs, shape))
        return false;
    Exchange exchange = {.at = n};
    Expr text = expr_rewrite(exprs, expr_residual(exprs, shape), find_root, &exchange);
    if (exchange.found != 1)
        return false;
    vec_append(&square->vars, row, n);
    bool good;
    if (exchange.q != NONE) {
        square->q = row[exchange.q];
        good = expr_affine(exprs, text, n, &square->factor, &square->rest) && dae_is_parametric(dae, square->factor, row) &&
               !expr_uses_slot(exprs, square->rest, exchange.q);
    } else {
        good = square_of_root(rows, text, &exchange, square);
    }
    good = good && is_between(rows, square->q) && !has_rates(rows, square);
    square->own = square->q;
    square->q = equal_to(rows, square->q, &square->negative);
    if (!good)
        vec_free(&square->vars);
    return good;
}

// --- what stands for differences

uint32_t
roots_definition(const Reach *reach, Var var, Expr *value)
{
    const Dae *dae = reach->dae;
    const Exprs *exprs = dae->exprs;
    for (uint32_t at = reach->start.at[var]; at < reach->start.at[var + 1]; at++) {
        uint32_t equation = reach->users.at[at], n;
        const Var *row = dae_row(dae, equation, &n);
        Expr shape = dae->equations.at[equation].shape;
        if (expr_op(exprs, shape) != OP_EQN || expr_op(exprs, expr_arg(exprs, shape, 0)) != OP_SLOT)
            continue;
        uint32_t own = expr_slot_of(exprs, expr_arg(exprs, shape, 0));
        *value = expr_arg(exprs, shape, 1);
        Op op = expr_op(exprs, *value);
        if (row[own] == var && !expr_uses_slot(exprs, *value, own) && !has_root(exprs, *value) && (op == OP_ADD || op == OP_NEG || op == OP_SLOT))
            return equation;
    }
    return NONE;
}

// The variables of squares that are defined as differences are replaced.
static void
open_differences(const Rows *rows, Square *square)
{
    Exprs *exprs = rows->dae->exprs;
    for (uint32_t k = 0, opened = 0; k < square->vars.n && opened < DEEPEST; k++) {
        Expr value, with[MOST_SLOTS];
        if (!expr_uses_slot(exprs, square->rest, k) || !is_between(rows, square->vars.at[k]))
            continue;
        uint32_t by = roots_definition(rows->reach, square->vars.at[k], &value), n, first = square->vars.n;
        if (by == NONE)
            continue;
        const Var *row = dae_row(rows->dae, by, &n);
        if (n > MOST_SLOTS || first + n > 2 * MOST_SLOTS)
            return;
        for (uint32_t i = 0; i < n; i++)
            with[i] = expr_slot(exprs, first + i);
        vec_append(&square->vars, row, n);
        square->rest = expr_replace_slot(exprs, square->rest, k, expr_substitute(exprs, value, with, n));
        opened++;
    }
}

// --- sums

// The slot of `var` in e; *same: further ones were replaced by it.
static uint32_t
slot_of(Exprs *exprs, Expr *e, const U32Vec *vars, Var var)
{
    uint32_t found = NONE;
    for (uint32_t k = 0; k < vars->n; k++) {
        if (vars->at[k] != var || !expr_uses_slot(exprs, *e, k))
            continue;
        if (found == NONE)
            found = k;
        else
            *e = expr_replace_slot(exprs, *e, k, expr_slot(exprs, found));
    }
    return found;
}

static bool
factor_of(const Rows *rows, Square *square, Var var, Expr *factor)
{
    Exprs *exprs = rows->dae->exprs;
    Expr rest;
    uint32_t k = slot_of(exprs, &square->rest, &square->vars, var);
    return k != NONE && expr_affine(exprs, square->rest, k, factor, &rest) && dae_is_parametric(rows->dae, *factor, square->vars.at) &&
           !expr_is_const(exprs, *factor, 0);
}

static bool
slot_is_nonneg(uint32_t slot, void *context)
{
    const Given *given = context;
    return slot < given->vars->n && dae_is_nonneg(given->dae, given->vars->at[slot]);
}

// Where s is zero the sum is below zero when a is: else a closed valve would be taken for an open one. fb and of: over the slots of b behind those of a.
static bool
is_same_way(const Rows *rows, const Square *a, const Square *b, Expr fa, Expr fb, Expr of)
{
    Exprs *exprs = rows->dae->exprs;
    U32Vec vars = {0};
    vec_append(&vars, a->vars.at, a->vars.n);
    vec_append(&vars, b->vars.at, b->vars.n);
    Given given = {rows->dae, &vars};
    Expr share = expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, fa, of), expr_2(exprs, OP_MUL, fb, a->factor));
    bool same = nonsmooth_nonneg(exprs, expr_1(exprs, OP_NEG, share), &(Signs){slot_is_nonneg, NULL, &given, NULL});
    vec_free(&vars);
    return same;
}

// a := the sum of a and b without a variable that nothing moves. False: they share none.
static bool
add(const Rows *rows, Square *a, Square *b)
{
    Exprs *exprs = rows->dae->exprs;
    for (uint32_t k = 0; k < a->vars.n; k++) {
        Var var = a->vars.at[k];
        Expr fa, fb, with[2 * MOST_SLOTS];
        if (var == a->q || !is_between(rows, var) || !factor_of(rows, a, var, &fa) || !factor_of(rows, b, var, &fb))
            continue;
        uint32_t first = a->vars.n;
        if (first + b->vars.n > 2 * MOST_SLOTS)
            return false;
        for (uint32_t i = 0; i < b->vars.n; i++)
            with[i] = expr_slot(exprs, first + i);
        fb = expr_substitute(exprs, fb, with, b->vars.n);
        Expr of = expr_substitute(exprs, b->factor, with, b->vars.n), rest = expr_substitute(exprs, b->rest, with, b->vars.n), unused;
        Expr factor = expr_sub(exprs, expr_2(exprs, OP_MUL, fb, a->factor), expr_2(exprs, OP_MUL, fa, of));
        Expr sum = expr_sub(exprs, expr_2(exprs, OP_MUL, fb, a->rest), expr_2(exprs, OP_MUL, fa, rest));
        if (expr_is_const(exprs, factor, 0) || (a->above && !is_same_way(rows, a, b, fa, fb, of)))
            continue;
        vec_append(&a->vars, b->vars.at, b->vars.n);
        uint32_t at = slot_of(exprs, &sum, &a->vars, var);
        a->factor = factor;
        a->rest = sum; // without it: its factor is zero, if not by the text
        if (at != NONE)
            expr_affine(exprs, sum, at, &unused, &a->rest);
        return true;
    }
    return false;
}

static void
write(Dae *dae, const Square *square, Expr text)
{
    Equation *at = &dae->equations.at[square->equation];
    dae_bind_shape(dae, text, square->vars.at, &at->shape, &at->row);
}

static void
slot_for(Square *square, uint32_t *q)
{
    *q = square->vars.n;
    vec_push(&square->vars, square->own);
}

// q = the root of what s is.
static void
write_root(Dae *dae, Naming *naming, Square *square)
{
    Exprs *exprs = dae->exprs;
    uint32_t q;
    slot_for(square, &q);
    vec_clear(&naming->vars);
    vec_append(&naming->vars, square->vars.at, square->vars.n);
    Expr scale, x = roots_scaled(naming, square->equation, expr_2(exprs, OP_DIV, expr_1(exprs, OP_NEG, square->rest), square->factor), &scale);
    vec_clear(&square->vars);
    vec_append(&square->vars, naming->vars.at, naming->vars.n);
    Expr root = square->above ? expr_1(exprs, OP_SQRT, expr_2(exprs, OP_MAX, x, expr_const(exprs, 0)))
                              : expr_2(exprs, OP_MUL, expr_1(exprs, OP_SIGN, x), expr_1(exprs, OP_SQRT, expr_1(exprs, OP_ABS, x)));
    root = expr_2(exprs, OP_MUL, expr_1(exprs, OP_SQRT, scale), root);
    write(dae, square, expr_2(exprs, OP_EQN, expr_slot(exprs, q), root));
}

// factor*q*abs(q) = -rest
static void
write_square(Dae *dae, Square *square)
{
    Exprs *exprs = dae->exprs;
    uint32_t q;
    slot_for(square, &q);
    Expr slot = expr_slot(exprs, q), s = expr_make(exprs, OP_MUL, (Expr[]){square->factor, slot, expr_1(exprs, OP_ABS, slot)}, 3);
    write(dae, square, expr_2(exprs, OP_EQN, s, expr_1(exprs, OP_NEG, square->rest)));
}

// The equations of one flow: the first, or a check valve, takes the sum with all others that it shares such variables with.
static bool
join(Rows *rows, uint32_t first, uint32_t end, Map *squares)
{
    bool joined[MOST] = {false}, any = false, found = true;
    uint32_t to = first;
    for (uint32_t i = first; i < end; i++) {
        open_differences(rows, &rows->square.at[i]);
        take_equals(rows, &rows->square.at[i]);
        to = rows->square.at[i].above ? i : to;
    }
    Square *sum = &rows->square.at[to];
    for (uint32_t i = first; i < end; i++)
        if (rows->square.at[i].negative != sum->negative)
            turn_round(rows, &rows->square.at[i], sum->own);
    while (found) {
        found = false;
        for (uint32_t i = first; i < end; i++) {
            Square *gives = &rows->square.at[i];
            if (i == to || joined[i - first] || (gives->above && gives->turned) || !add(rows, sum, gives))
                continue;
            write_square(rows->dae, gives);
            map_put(squares, gives->equation, 1);
            joined[i - first] = any = found = true;
        }
    }
    if (any)
        write_root(rows->dae, rows->naming, sum);
    return any;
}

static int
by_flow(const void *a, const void *b)
{
    const Square *x = a, *y = b;
    return x->q != y->q ? (x->q < y->q ? -1 : 1) : x->equation < y->equation ? -1 : 1;
}

bool
roots_row(Reach *reach, Naming *naming, Map *squares)
{
    Rows rows = {.dae = reach->dae, .reach = reach, .naming = naming};
    bool any = false;
    Square square;
    for (uint32_t i = 0; i < reach->dae->equations.n; i++)
        if (read_square(&rows, i, &square))
            vec_push(&rows.square, square);
    if (rows.square.n)
        qsort(rows.square.at, rows.square.n, sizeof *rows.square.at, by_flow);
    for (uint32_t i = 0, end; i < rows.square.n; i = end) {
        for (end = i + 1; end < rows.square.n && rows.square.at[end].q == rows.square.at[i].q;)
            end++;
        any |= end - i > 1 && end - i <= MOST && join(&rows, i, end, squares);
    }
    for (uint32_t i = 0; i < rows.square.n; i++)
        vec_free(&rows.square.at[i].vars);
    vec_free(&rows.square);
    vec_free(&rows.waiting);
    map_free(&rows.equal);
    return any;
}
