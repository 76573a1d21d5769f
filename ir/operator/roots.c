// roots.c: roots: square roots of what they empty can come to rest.
//
// Purpose: der(h) = -sqrt(h) reaches h = 0 in finite time and stays there, though the slope of the root is infinite: no step
// size is short enough for a method that does not know it (the right side is not Lipschitz there). Two vessels whose levels
// meet, q = sign(a - b)*sqrt(abs(a - b)), are the same motion, and so is q*abs(q) = a - b; a check valve beside a source that changes with
// time, where the flow turns, is another.
// Method: such a root of u = |x| is A(x)*Sgn(x) with the band A = sqrt(max(|x|, FLOOR)): a friction whose limit grows with the slip,
// set-valued at x = 0 up to sqrt(FLOOR). What comes to rest there sticks, exactly and in finite time (runtime/law/friction.c), and is
// released by a flow that the root of FLOOR does not carry; less than FLOOR, or than a small part of the terms of x, is not resolved. A root of x >= 0 alone is
// A/2 + A/2*Sgn(x). Roots that are not known to empty what they are a root of (roots_reach.c) stay as they are, and so do
// those under conditions that are not about their own sign or a factor. A factor goes into the band: a closed valve holds nothing.
// Where x does not follow from states and time, at a node without volume, nothing is emptied, but Newton's method has no slope to go by where
// a root turns: there the root is a variable z of x = z*sqrt(z^2 + FLOOR), and a flow with q*abs(q) = x is one itself.
// Contract: runs before `algebra`, which brings Sgn into normal form. Appends variables and equations; an equation gets another
// shape and row. Equations of roots have Equation.root. Complexity: linear in the equations.
//
//     q = k*sqrt(h)    =>    q = $root1,  $root1 = k*sqrt(max(abs(h), FLOOR))*(1 + Sgn(h))/2
//     q = sign(h - p)*sqrt(abs(h - p))    =>    q = $root1,  $root1*sqrt($root1^2 + FLOOR) = h - p    (p: of a node without volume)
#include <math.h>
#include <string.h>

#include "ir/dae/pass.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth.h"
#include "ir/operator/naming.h"
#include "ir/operator/roots.h"

static const double FLOOR = 1e-10;
static const double ROUNDED = 1e-12; // part of the terms of a difference (pressures of 1e5 Pa) that is not resolved
static const double SOLVED = 1e-14;  // the same by a loop

typedef struct Root { // size*Sgn(x), or for x >= 0 alone
    Expr x, size;
    uint8_t kind;     // DAE_ROOT_*
    Expr under;       // what has the sign of x under the root, where that is known: scale*x
    Expr scale;
    double exponent;
    bool in_loop;     // no law: z of z*abs(z)^(1/exponent - 1) = under
} Root;

typedef struct Roots {
    Dae *dae;
    Reach reach;
    Naming naming;   // its vars: of the equation at hand
    uint32_t equation, slots; // slots + k is root k of the equation
    U32Vec given;    // per slot of the equation: the first slot of the row of the equation that gives its variable, or NONE
    VEC(Root) root;
    bool strict;     // roots that fail for x < 0 are taken, too
    Map branch;      // parts under conditions
    Map squares;     // equations that give what is between two roots: no roots themselves
} Roots;

// --- parts of expressions

static Expr
zero(Exprs *exprs)
{
    return expr_const(exprs, 0);
}

static bool
opposite(Exprs *exprs, Expr a, Expr b)
{
    return expr_is_const(exprs, expr_2(exprs, OP_ADD, a, b), 0);
}

static Root *
root_at(Roots *roots, Expr e)
{
    const Exprs *exprs = roots->dae->exprs;
    if (expr_op(exprs, e) != OP_SLOT || expr_slot_of(exprs, e) < roots->slots)
        return NULL;
    Root *root = &roots->root.at[expr_slot_of(exprs, e) - roots->slots];
    return root->in_loop ? NULL : root;
}

// max(L, 0), abs(L): L, or 0.
Expr
roots_folded(const Exprs *exprs, Expr e, Op op)
{
    if (expr_op(exprs, e) != op)
        return 0;
    if (op == OP_ABS)
        return expr_arg(exprs, e, 0);
    for (uint32_t i = 0; i < 2; i++)
        if (expr_is_const(exprs, expr_arg(exprs, e, i), 0))
            return expr_arg(exprs, e, 1 - i);
    return 0;
}

// A product as a number and its other factors, in the order of their ids; *under is the denominator.
static double
list_factors(const Exprs *exprs, Expr e, U32Vec *factors, Expr *under)
{
    double number = 1;
    *under = 0;
    for (bool goes_on = true; goes_on;) {
        Op op = expr_op(exprs, e);
        goes_on = op == OP_NEG || (op == OP_DIV && !*under);
        number = op == OP_NEG ? -number : number;
        if (op == OP_DIV && goes_on)
            *under = expr_arg(exprs, e, 1);
        e = goes_on ? expr_arg(exprs, e, 0) : e;
    }
    for (uint32_t i = 0, n = expr_op(exprs, e) == OP_MUL ? expr_nargs(exprs, e) : 1; i < n; i++) {
        Expr at = expr_op(exprs, e) == OP_MUL ? expr_arg(exprs, e, i) : e;
        number *= expr_op(exprs, at) == OP_CONST ? expr_value(exprs, at) : 1;
        if (expr_op(exprs, at) != OP_CONST)
            vec_push(factors, at);
    }
    for (uint32_t i = 1; i < factors->n; i++)
        for (uint32_t k = i; k > 0 && factors->at[k - 1] > factors->at[k]; k--) {
            uint32_t swapped = factors->at[k];
            factors->at[k] = factors->at[k - 1];
            factors->at[k - 1] = swapped;
        }
    return number;
}

// a/b, a number where they have the same factors.
static Expr
ratio(Exprs *exprs, Expr a, Expr b)
{
    U32Vec above = {0}, below = {0};
    Expr under_a, under_b;
    double one = list_factors(exprs, a, &above, &under_a), two = list_factors(exprs, b, &below, &under_b);
    bool same = under_a == under_b && above.n == below.n && two != 0 && (!above.n || !memcmp(above.at, below.at, above.n * sizeof *above.at));
    vec_free(&above);
    vec_free(&below);
    return same ? expr_const(exprs, one / two) : expr_2(exprs, OP_DIV, a, b);
}

typedef struct Row {
    const Dae *dae;
    const Var *vars;
} Row;

static bool
is_nonneg(uint32_t slot, void *context)
{
    const Row *row = context;
    return dae_is_nonneg(row->dae, row->vars[slot]);
}

static Expr
named(Naming *naming, uint32_t equation, Expr e)
{
    Var var = naming_variable(naming, equation, e, "factor", true);
    vec_push(&naming->vars, var);
    return expr_slot(naming->dae->exprs, naming->vars.n - 1);
}

// The sign of something parametric, as a number where that is known.
static Expr
sign_of(Naming *naming, uint32_t equation, Expr e)
{
    Exprs *exprs = naming->dae->exprs;
    Row row = {naming->dae, naming->vars.at};
    Signs signs = {is_nonneg, NULL, &row, NULL};
    if (nonsmooth_nonneg(exprs, e, &signs))
        return expr_const(exprs, 1);
    Expr plus = expr_const(exprs, 1), minus = expr_const(exprs, -1);
    if (nonsmooth_nonneg(exprs, expr_1(exprs, OP_NEG, e), &signs))
        return minus;
    return named(naming, equation, expr_3(exprs, OP_IF, expr_2(exprs, OP_LT, e, zero(exprs)), minus, plus));
}

Expr
roots_scaled(Naming *naming, uint32_t equation, Expr e, Expr *scale)
{
    Dae *dae = naming->dae;
    Exprs *exprs = dae->exprs;
    Expr rest = e, factor, left, first = 0, sign = 0;
    U32Vec terms = {0};
    *scale = 0;
    for (uint32_t k = 0, n = expr_nslots(exprs, e); k < n; k++) {
        const Var *vars = naming->vars.at;
        VarKind kind = expr_uses_slot(exprs, rest, k) ? dae_kind(dae, vars[k]) : VAR_PARAMETER;
        if ((kind != VAR_CONTINUOUS && kind != VAR_INPUT) || !expr_affine(exprs, rest, k, &factor, &left) || !dae_is_parametric(dae, factor, vars))
            continue;
        if (!*scale) {
            first = factor;
            sign = sign_of(naming, equation, factor);
            *scale = expr_1(exprs, OP_ABS, expr_op(exprs, factor) == OP_CONST ? factor : named(naming, equation, factor));
        }
        vec_push(&terms, expr_make(exprs, OP_MUL, (Expr[]){sign, ratio(exprs, factor, first), expr_slot(exprs, k)}, 3));
        rest = left;
    }
    if (*scale) {
        vec_push(&terms, expr_2(exprs, OP_DIV, rest, *scale));
        e = expr_make(exprs, OP_ADD, terms.at, terms.n);
    } else {
        *scale = expr_const(exprs, 1);
    }
    vec_free(&terms);
    return e;
}

typedef struct Exchange {
    Expr part, with;
} Exchange;

static Expr
exchange(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    const Exchange *wanted = context;
    if (part == wanted->part)
        return wanted->with;
    return expr_op(exprs, part) == OP_NOEVENT && args[0] == wanted->with ? args[0] : 0;
}

// The part of e that folds x, and x; 0 when there is none, or more than one beside each other.
static Expr
fold_of(Exprs *exprs, Expr e, Op op, Expr *x)
{
    U32Vec parts = {0};
    Expr found = 0;
    uint32_t n = 0;
    *x = roots_folded(exprs, e, op);
    if (*x)
        return e;
    expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n; i++)
        if (roots_folded(exprs, parts.at[i], op)) {
            found = parts.at[i];
            *x = roots_folded(exprs, found, op);
            n++;
        }
    vec_free(&parts);
    return n == 1 ? found : 0;
}

// A root: u under it and, in *exponent, its power.
Expr
roots_under(const Exprs *exprs, Expr e, double *exponent)
{
    *exponent = 0.5;
    if (expr_op(exprs, e) == OP_SQRT)
        return expr_arg(exprs, e, 0);
    if (expr_op(exprs, e) != OP_POW || expr_op(exprs, expr_arg(exprs, e, 1)) != OP_CONST)
        return 0;
    *exponent = expr_value(exprs, expr_arg(exprs, e, 1));
    return *exponent > 0 && *exponent < 1 ? expr_arg(exprs, e, 0) : 0;
}

static Expr
power(Exprs *exprs, Expr u, double exponent)
{
    return exponent == 0.5 ? expr_1(exprs, OP_SQRT, u) : expr_2(exprs, OP_POW, u, expr_const(exprs, exponent));
}

// The sizes of the terms of a sum, added; 0: e is none.
static Expr
sum_of_sizes(Exprs *exprs, Expr e)
{
    if (expr_op(exprs, e) != OP_ADD)
        return 0;
    U32Vec sizes = {0};
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++)
        vec_push(&sizes, expr_1(exprs, OP_ABS, expr_arg(exprs, e, i)));
    Expr sum = expr_make(exprs, OP_ADD, sizes.at, sizes.n);
    vec_free(&sizes);
    return sum;
}

// The same of what x is a difference of: of its own text or, when x is a variable, of the text of the equation that gives it.
static Expr
terms_of(Roots *roots, Expr x)
{
    Dae *dae = roots->dae;
    Exprs *exprs = dae->exprs;
    while (expr_op(exprs, x) == OP_NEG)
        x = expr_arg(exprs, x, 0);
    uint32_t k = expr_op(exprs, x) == OP_SLOT ? expr_slot_of(exprs, x) : roots->given.n;
    if (k >= roots->given.n || roots->given.at[k] == NONE)
        return sum_of_sizes(exprs, x);
    uint32_t n, by = roots->reach.by.at[roots->naming.vars.at[k]], own = 0;
    const Var *row = dae_row(dae, by, &n);
    Expr with[n + 1], factor, rest;
    for (uint32_t i = 0; i < n; i++) {
        with[i] = expr_slot(exprs, roots->given.at[k] + i);
        own = row[i] == roots->naming.vars.at[k] ? roots->given.at[k] + i : own;
    }
    Expr text = expr_substitute(exprs, expr_residual(exprs, dae->equations.at[by].shape), with, n);
    if (!expr_affine(exprs, text, own, &factor, &rest) || !dae_is_parametric(dae, factor, roots->naming.vars.at))
        return 0;
    Expr sum = sum_of_sizes(exprs, rest);
    return sum ? expr_2(exprs, OP_DIV, sum, expr_1(exprs, OP_ABS, factor)) : 0;
}

static Expr
no_less(Exprs *exprs, Expr terms, double part)
{
    Expr least = expr_const(exprs, FLOOR);
    return terms ? expr_2(exprs, OP_MAX, least, expr_2(exprs, OP_MUL, expr_const(exprs, part), terms)) : least;
}

// max(|x|, FLOOR), and no less than what rounding of the terms of x leaves open.
static Expr
raised(Roots *roots, Expr x)
{
    Exprs *exprs = roots->dae->exprs;
    Expr least = no_less(exprs, terms_of(roots, x), ROUNDED);
    return expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_MAX, expr_1(exprs, OP_ABS, x), least));
}

// A root of k times a folded x, fold by `op`, to *root but for its kind. False: it is none.
static bool
open_folded(Roots *roots, Expr e, Op op, Root *root)
{
    Exprs *exprs = roots->dae->exprs;
    double exponent;
    Expr x, u = roots_under(exprs, e, &exponent), part = u ? fold_of(exprs, u, op, &x) : 0, factor, rest;
    if (!part)
        return false;
    Exchange wanted = {part, expr_slot(exprs, expr_nslots(exprs, u))};
    Expr text = expr_rewrite(exprs, u, exchange, &wanted);
    if (!expr_affine(exprs, text, expr_slot_of(exprs, wanted.with), &factor, &rest) || !expr_is_const(exprs, rest, 0))
        return false;
    *root = (Root){.x = x, .size = power(exprs, expr_2(exprs, OP_MUL, factor, raised(roots, x)), exponent),
                   .under = expr_2(exprs, OP_MUL, factor, x), .scale = expr_1(exprs, OP_ABS, factor), .exponent = exponent};
    return true;
}

// A root of x itself.
static bool
open_plain(Roots *roots, Expr e, Root *root)
{
    Exprs *exprs = roots->dae->exprs;
    double exponent;
    Expr x = roots_under(exprs, e, &exponent);
    if (!x || expr_op(exprs, x) == OP_CONST)
        return false;
    *root = (Root){.x = x, .size = power(exprs, raised(roots, x), exponent), .under = x, .scale = expr_const(exprs, 1), .exponent = exponent};
    return true;
}

// The same of a sum, or of a variable that an equation gives as one; its variables are appended to the row.
static Expr
floor_of(Roots *roots, Expr e)
{
    Dae *dae = roots->dae;
    Exprs *exprs = dae->exprs;
    U32Vec *vars = &roots->naming.vars;
    Expr value;
    uint32_t by = expr_op(exprs, e) == OP_SLOT ? roots_definition(&roots->reach, vars->at[expr_slot_of(exprs, e)], &value) : NONE, n;
    if (by != NONE) {
        const Var *row = dae_row(dae, by, &n);
        U32Vec with = {0};
        for (uint32_t i = 0; i < n; i++)
            vec_push(&with, expr_slot(exprs, vars->n + i));
        vec_append(vars, row, n);
        e = expr_substitute(exprs, value, with.at, n);
        vec_free(&with);
    }
    return expr_1(exprs, OP_NOEVENT, no_less(exprs, sum_of_sizes(exprs, e), SOLVED));
}

// z*abs(z)^(1/exponent - 1), where z turns with the slope that belongs to FLOOR, or to what rounding leaves open of the terms of what it is.
static Expr
rounded(Roots *roots, Expr z, Expr of, Expr scale, double exponent)
{
    Exprs *exprs = roots->dae->exprs;
    Expr least = expr_2(exprs, OP_MUL, scale, floor_of(roots, of));
    Expr size = expr_2(exprs, OP_ADD, expr_2(exprs, OP_MUL, z, z), exponent == 0.5 ? least : power(exprs, least, 2 * exponent));
    return expr_2(exprs, OP_MUL, z, exponent == 0.5 ? power(exprs, size, 0.5) : power(exprs, size, (1 / exponent - 1) / 2));
}

// --- making roots

static bool
slot_is_nonneg(uint32_t slot, void *context)
{
    const Roots *roots = context;
    Var var = slot < roots->slots ? roots->naming.vars.at[slot] : NONE;
    return var != NONE && dae_is_nonneg(roots->dae, var);
}

// A row of variables, and through how many equations it was reached.
typedef struct Givers {
    const Roots *roots;
    const Var *row;
    int depth;
} Givers;

// The variable follows from an equation as a sum of squares, or of what others give as such.
static bool
is_square(uint32_t slot, void *context)
{
    enum { DEEPEST = 4 };
    const Givers *at = context;
    Dae *dae = at->roots->dae;
    Exprs *exprs = dae->exprs;
    Var var = at->row[slot];
    uint32_t by = at->roots->reach.by.at[var], n, own = 0;
    if (by == NONE || at->depth == DEEPEST)
        return false;
    Givers next = {at->roots, dae_row(dae, by, &n), at->depth + 1};
    for (uint32_t i = 0; i < n; i++)
        own = next.row[i] == var ? i : own;
    Expr factor, rest;
    if (!expr_affine(exprs, expr_residual(exprs, dae->equations.at[by].shape), own, &factor, &rest) || expr_op(exprs, factor) != OP_CONST)
        return false;
    Expr value = expr_value(exprs, factor) > 0 ? expr_1(exprs, OP_NEG, rest) : rest;
    bool folded = expr_has_op(exprs, value, OP_MAX) || expr_has_op(exprs, value, OP_ABS) || expr_has_op(exprs, value, OP_IF);
    return !folded && nonsmooth_nonneg(exprs, value, &(Signs){is_square, NULL, &next, NULL});
}

// Not a product whose factors that may be zero have one sign: a coefficient with a density in it does not turn.
static bool
turns(const Roots *roots, Expr x)
{
    const Dae *dae = roots->dae;
    Exprs *exprs = dae->exprs;
    Expr factor, rest;
    bool product = false;
    for (uint32_t k = 0; k < roots->slots; k++) {
        Var var = roots->naming.vars.at[k];
        if (!expr_uses_slot(exprs, x, k) || dae_is_parameter(dae, var) || !expr_affine(exprs, x, k, &factor, &rest))
            continue;
        if (!expr_is_const(exprs, rest, 0) || !dae_is_nonneg(dae, var))
            return true;
        product = true;
    }
    return !product;
}

// In a loop, or where the flow is known and the pressure is not, a root has an infinite slope where it turns, and x as a function of z has none.
static Expr
make_in_loop(Roots *roots, Root root, uint8_t kind)
{
    Exprs *exprs = roots->dae->exprs;
    if (!root.under || kind == DAE_ROOT_STRICT || !turns(roots, root.x) || !reach_in_loop(&roots->reach, root.x, roots->naming.vars.at) ||
        nonsmooth_nonneg(exprs, root.x, &(Signs){slot_is_nonneg, NULL, roots, NULL}))
        return 0;
    root.kind = kind;
    root.in_loop = true;
    vec_push(&roots->root, root);
    Expr z = expr_slot(exprs, roots->slots + roots->root.n - 1);
    return kind == DAE_ROOT_ABOVE ? expr_2(exprs, OP_MAX, z, zero(exprs)) : z;
}

// A root of a sum of squares is a distance, which nothing empties; a root that has no value below zero may be one.
static Expr
make_root(Roots *roots, Root root, uint8_t kind)
{
    bool linear;
    Expr x = root.x;
    if (!reach_holds(&roots->reach, roots->equation, x, roots->naming.vars.at, &linear))
        return make_in_loop(roots, root, kind);
    if (expr_op(roots->dae->exprs, x) == OP_SLOT && is_square(expr_slot_of(roots->dae->exprs, x), &(Givers){roots, roots->naming.vars.at, 0}))
        return 0;
    if (!linear && (kind == DAE_ROOT_STRICT || nonsmooth_nonneg(roots->dae->exprs, x, &(Signs){slot_is_nonneg, NULL, roots, NULL})))
        return 0;
    root.kind = kind;
    vec_push(&roots->root, root);
    return expr_slot(roots->dae->exprs, roots->slots + roots->root.n - 1);
}

// factor*root: where the factor is not negative it is part of the band. `plain` is what the root says without its law.
static Expr
absorb(Roots *roots, Expr factor, Expr at)
{
    Exprs *exprs = roots->dae->exprs;
    Root root = *root_at(roots, at);
    Expr none = zero(exprs), sign = expr_3(exprs, OP_IF, expr_2(exprs, OP_LT, root.x, none),
                                           expr_const(exprs, root.kind == DAE_ROOT_ODD ? -1 : 0), expr_const(exprs, 1));
    if (nonsmooth_nonneg(exprs, factor, &(Signs){slot_is_nonneg, NULL, roots, NULL}))
        return make_root(roots, (Root){.x = root.x, .size = expr_2(exprs, OP_MUL, factor, root.size)}, root.kind);
    Expr band = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_MAX, factor, none));
    Expr made = make_root(roots, (Root){.x = root.x, .size = expr_2(exprs, OP_MUL, band, root.size)}, root.kind);
    Expr plain = expr_make(exprs, OP_MUL, (Expr[]){factor, root.size, sign}, 3);
    Expr against = expr_3(exprs, OP_IF, expr_2(exprs, OP_LT, factor, none), plain, none);
    return made ? expr_2(exprs, OP_ADD, made, expr_1(exprs, OP_NOEVENT, against)) : 0;
}

// The condition says x > 0: x, otherwise 0.
static Expr
positive(Exprs *exprs, Expr condition)
{
    Op op = expr_op(exprs, condition);
    if (op == OP_GT || op == OP_GE)
        return expr_sub(exprs, expr_arg(exprs, condition, 0), expr_arg(exprs, condition, 1));
    if (op == OP_LT || op == OP_LE)
        return expr_sub(exprs, expr_arg(exprs, condition, 1), expr_arg(exprs, condition, 0));
    return 0;
}

// The sign of x as a factor: x; otherwise 0.
Expr
roots_sign(Exprs *exprs, Expr e)
{
    if (expr_op(exprs, e) == OP_NOEVENT)
        e = expr_arg(exprs, e, 0);
    if (expr_op(exprs, e) == OP_SIGN)
        return expr_arg(exprs, e, 0);
    if (expr_op(exprs, e) != OP_IF || !expr_is_const(exprs, expr_arg(exprs, e, 1), 1) || !expr_is_const(exprs, expr_arg(exprs, e, 2), -1))
        return 0;
    return positive(exprs, expr_arg(exprs, e, 0));
}

// sign(x)*sqrt(abs(x)) among the factors: its root replaces the two. True when there was one.
static bool
pair_sign(Roots *roots, U32Vec *factors)
{
    Exprs *exprs = roots->dae->exprs;
    for (uint32_t i = 0; i < factors->n; i++) {
        Expr x = roots_sign(exprs, factors->at[i]);
        Root root;
        for (uint32_t j = 0; x && j < factors->n; j++) {
            if (j == i || !open_folded(roots, factors->at[j], OP_ABS, &root) || !(root.x == x || opposite(exprs, root.x, x)))
                continue;
            root.under = root.x == x ? root.under : expr_1(exprs, OP_NEG, root.under);
            root.x = x;
            Expr made = make_root(roots, root, DAE_ROOT_ODD);
            if (!made)
                return false;
            factors->at[i] = made;
            factors->at[j] = factors->at[factors->n - 1];
            factors->n--;
            return true;
        }
    }
    return false;
}

static Expr
product(Roots *roots, const Expr *args, uint32_t n)
{
    Exprs *exprs = roots->dae->exprs;
    U32Vec factors = {0};
    Expr result = 0, outside = expr_const(exprs, 1), inside = outside, at = 0;
    uint32_t found = 0;
    vec_append(&factors, args, n);
    bool paired = pair_sign(roots, &factors);
    for (uint32_t i = 0; i < factors.n; i++) {
        Expr *to = expr_op(exprs, factors.at[i]) == OP_CONST ? &outside : &inside;
        if (root_at(roots, factors.at[i])) {
            at = factors.at[i];
            found++;
        } else {
            *to = expr_2(exprs, OP_MUL, *to, factors.at[i]);
        }
    }
    if (found == 1 && !expr_is_const(exprs, inside, 1)) {
        Expr made = absorb(roots, inside, at);
        result = made ? expr_2(exprs, OP_MUL, outside, made) : 0;
    } else if (paired) {
        result = expr_make(exprs, OP_MUL, factors.at, factors.n);
    }
    vec_free(&factors);
    return result;
}

// --- conditions

// The only root of x, by itself or multiplied, in e: as slot `at` of *text; *plain: the root as it was.
static bool
isolate(Exprs *exprs, Expr e, uint32_t at, Expr *text, Expr *plain)
{
    U32Vec parts = {0};
    uint32_t n = 0;
    double exponent;
    expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n; i++)
        if (roots_under(exprs, parts.at[i], &exponent)) {
            *plain = parts.at[i];
            n++;
        }
    vec_free(&parts);
    if (n != 1)
        return false;
    Exchange wanted = {*plain, expr_slot(exprs, at)};
    *text = expr_rewrite(exprs, e, exchange, &wanted);
    return true;
}

// if x > 0 then k*sqrt(x) else 0, and if x > 0 then k*sqrt(x) else -k*sqrt(-x): k*root.
static Expr
choose_by_sign(Roots *roots, const Expr *args)
{
    Exprs *exprs = roots->dae->exprs;
    Expr above = positive(exprs, args[0]), plain, text, other, other_plain, minus, factor, rest;
    Root root;
    uint32_t at = roots->slots + roots->root.n + 1;
    if (!above || !isolate(exprs, args[1], at, &text, &plain))
        return 0;
    if (!(open_folded(roots, plain, OP_ABS, &root) || open_folded(roots, plain, OP_MAX, &root) || open_plain(roots, plain, &root))
        || !expr_affine(exprs, text, at, &factor, &rest) || !expr_is_const(exprs, rest, 0))
        return 0;
    // The condition may be about h where the root is one of 2*g*h.
    bool scaled = expr_op(exprs, above) == OP_SLOT && expr_affine(exprs, root.x, expr_slot_of(exprs, above), &factor, &rest) &&
                  expr_is_const(exprs, rest, 0) && dae_is_parametric(roots->dae, factor, roots->naming.vars.at);
    if (root.x != above && !scaled)
        return 0;
    uint8_t kind = DAE_ROOT_ODD;
    if (expr_is_const(exprs, args[2], 0)) {
        kind = DAE_ROOT_ABOVE;
    } else {
        double exponent;
        if (!isolate(exprs, args[2], at, &other, &other_plain) || !opposite(exprs, other, text))
            return 0;
        Expr u = roots_under(exprs, other_plain, &exponent);
        bool same = other_plain == plain && fold_of(exprs, u, OP_ABS, &minus);
        if (!same && !opposite(exprs, u, root.x))
            return 0;
    }
    Expr made = make_root(roots, root, kind);
    return made ? expr_replace_slot(exprs, text, at, made) : 0;
}

// if c then k*root else 0: the condition goes into the band.
static Expr
choose(Roots *roots, const Expr *args)
{
    Exprs *exprs = roots->dae->exprs;
    Expr none = zero(exprs), side = expr_is_const(exprs, args[2], 0) ? args[1] : expr_is_const(exprs, args[1], 0) ? args[2] : 0;
    Expr factor, rest, found = 0;
    for (uint32_t k = roots->slots; side && k < roots->slots + roots->root.n; k++)
        if (!roots->root.at[k - roots->slots].in_loop && expr_uses_slot(exprs, side, k)) {
            if (found)
                return 0;
            found = expr_slot(exprs, k);
        }
    if (!found || !expr_affine(exprs, side, expr_slot_of(exprs, found), &factor, &rest) || !expr_is_const(exprs, rest, 0))
        return 0;
    Root root = *root_at(roots, found);
    Expr above = positive(exprs, args[0]);
    if (above && above == root.x)
        return side == args[1] && root.kind == DAE_ROOT_ABOVE ? side : 0;
    Expr size = expr_3(exprs, OP_IF, args[0], side == args[1] ? root.size : none, side == args[1] ? none : root.size);
    Expr made = make_root(roots, (Root){.x = root.x, .size = size}, root.kind);
    return made ? expr_2(exprs, OP_MUL, factor, made) : 0;
}

// --- equations

static Expr
replace(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Roots *roots = context;
    Op op = expr_op(exprs, part);
    Root root;
    if (op == OP_MUL)
        return product(roots, args, expr_nargs(exprs, part));
    if (op == OP_IF) {
        Expr chosen = choose_by_sign(roots, args);
        return chosen ? chosen : choose(roots, args);
    }
    if (op != OP_SQRT && op != OP_POW)
        return 0;
    if (open_folded(roots, part, OP_MAX, &root))
        return make_root(roots, root, DAE_ROOT_ABOVE);
    uint32_t unused;
    if (roots->strict && !map_get(&roots->branch, part, &unused) && open_plain(roots, part, &root))
        return make_root(roots, root, DAE_ROOT_STRICT);
    return 0;
}

// Parts whose value counts only where a condition says so.
static void
find_branches(Roots *roots, Expr text)
{
    const Exprs *exprs = roots->dae->exprs;
    U32Vec parts = {0}, inside = {0};
    expr_parts(exprs, text, &parts);
    map_clear(&roots->branch);
    for (uint32_t i = 0; i < parts.n; i++) {
        uint32_t n = expr_op(exprs, parts.at[i]) == OP_IF ? expr_nargs(exprs, parts.at[i]) : 0;
        vec_clear(&inside);
        for (uint32_t k = 1; k < n; k++)
            expr_parts(exprs, expr_arg(exprs, parts.at[i], k), &inside);
        for (uint32_t k = 0; k < inside.n; k++)
            map_put(&roots->branch, inside.at[k], 1);
    }
    vec_free(&parts);
    vec_free(&inside);
}

// A root that stands under a condition would be held where nobody asks it.
static bool
is_hidden(Roots *roots, Expr text)
{
    uint32_t unused;
    find_branches(roots, text);
    for (uint32_t k = 0; k < roots->root.n; k++)
        if (!roots->root.at[k].in_loop && expr_uses_slot(roots->dae->exprs, text, roots->slots + k) &&
            map_get(&roots->branch, expr_slot(roots->dae->exprs, roots->slots + k), &unused))
            return true;
    return false;
}

// q*abs(q) among the factors of a product becomes slot `at`; *q is its variable.
typedef struct Square {
    uint32_t at, q;
    bool found;
} Square;

static Expr
put_square(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    Square *square = context;
    uint32_t n = expr_nargs(exprs, part);
    if (expr_op(exprs, part) != OP_MUL)
        return 0;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n && expr_op(exprs, args[i]) == OP_ABS; j++) {
            if (args[j] != expr_arg(exprs, args[i], 0) || expr_op(exprs, args[j]) != OP_SLOT)
                continue;
            U32Vec left = {0};
            for (uint32_t k = 0; k < n; k++)
                if (k != i)
                    vec_push(&left, k == j ? expr_slot(exprs, square->at) : args[k]);
            square->q = expr_slot_of(exprs, args[j]);
            square->found = true;
            Expr result = expr_make(exprs, OP_MUL, left.at, left.n);
            vec_free(&left);
            return result;
        }
    return 0;
}

// c*q*abs(q) = x: q = root of |x/c|. 0 when the equation is not of that kind.
static Expr
solve_square(Roots *roots, Expr shape)
{
    Exprs *exprs = roots->dae->exprs;
    const Var *vars = roots->naming.vars.at;
    Square square = {.at = roots->slots};
    if (expr_op(exprs, shape) != OP_EQN || !expr_has_op(exprs, shape, OP_ABS))
        return 0;
    Expr text = expr_rewrite(exprs, expr_residual(exprs, shape), put_square, &square), factor, rest;
    if (!square.found || expr_uses_slot(exprs, text, square.q) || dae_kind(roots->dae, vars[square.q]) != VAR_CONTINUOUS ||
        !expr_affine(exprs, text, square.at, &factor, &rest) || !dae_is_parametric(roots->dae, factor, vars))
        return 0;
    Expr scale, x = roots_scaled(&roots->naming, roots->equation, expr_2(exprs, OP_DIV, expr_1(exprs, OP_NEG, rest), factor), &scale);
    roots->slots = roots->naming.vars.n;
    vars = roots->naming.vars.at;
    Expr made = make_root(roots, (Root){.x = x, .size = power(exprs, expr_2(exprs, OP_MUL, scale, raised(roots, x)), 0.5)}, DAE_ROOT_ODD);
    if (made)
        return expr_2(exprs, OP_EQN, expr_slot(exprs, square.q), made);
    if (roots->reach.computed.at[vars[square.q]] || !reach_in_loop(&roots->reach, x, vars))
        return 0;
    Expr size = rounded(roots, expr_slot(exprs, square.q), x, scale, 0.5);
    return expr_2(exprs, OP_EQN, expr_2(exprs, OP_ADD, expr_2(exprs, OP_MUL, factor, size), rest), zero(exprs));
}

// The variable of a root in a loop, with an equation for what is under it.
static Var
variable_in_loop(Roots *roots, const Root *root)
{
    Dae *dae = roots->dae;
    Exprs *exprs = dae->exprs;
    Naming *naming = &roots->naming;
    Named named;
    Equation owner = dae->equations.at[roots->equation];
    Expr key = expr_2(exprs, OP_POW, root->under, expr_const(exprs, root->exponent));
    dae_bind_shape(dae, key, naming->vars.at, &named.shape, &named.row);
    named.var = naming_recall(naming, named.shape, named.row, &named.hash);
    if (named.var != NONE)
        return named.var;
    uint32_t inst = dae->nodes.at[owner.node].inst;
    named.var = naming_hidden(naming, inst, "root", naming_number(naming, inst), VAR_CONTINUOUS, TYPE_REAL);
    naming_remember(naming, named);
    uint32_t before = naming->vars.n;
    vec_push(&naming->vars, named.var);
    Expr z = expr_slot(exprs, naming->vars.n - 1);
    dae_tell_part(dae, named.var, key, naming->vars.at);
    Expr size = rounded(roots, z, root->x, root->scale, root->exponent);
    dae_equate(dae, EQN_NORMAL, size, root->under, naming->vars.at, owner.node, owner.span);
    naming->vars.n = before;
    return named.var;
}

// The variable of a root, with an equation.
static Var
variable_of(Roots *roots, const Root *root)
{
    Dae *dae = roots->dae;
    Exprs *exprs = dae->exprs;
    Expr band = root->size, sgn = expr_1(exprs, OP_SGN, root->x), half = expr_const(exprs, 0.5), value;
    if (root->kind == DAE_ROOT_ODD)
        value = expr_2(exprs, OP_MUL, band, sgn);
    else
        value = expr_make(exprs, OP_MUL, (Expr[]){half, band, expr_2(exprs, OP_ADD, expr_const(exprs, 1), sgn)}, 3);
    uint32_t before = dae->equations.n;
    Var var = naming_variable(&roots->naming, roots->equation, value, "root", false);
    if (dae->equations.n > before)
        dae->equations.at[dae->equations.n - 1].root = root->kind;
    return var;
}

static void
finish(Roots *roots, Expr text)
{
    Dae *dae = roots->dae;
    U32Vec made = {0};
    Expr shape;
    uint32_t row;
    for (uint32_t k = 0; k < roots->root.n; k++) {
        bool used = expr_uses_slot(dae->exprs, text, roots->slots + k);
        Root *root = &roots->root.at[k];
        vec_push(&made, !used ? NONE : root->in_loop ? variable_in_loop(roots, root) : variable_of(roots, root));
    }
    vec_append(&roots->naming.vars, made.at, made.n);
    vec_free(&made);
    dae_bind_shape(dae, text, roots->naming.vars.at, &shape, &row);
    dae->equations.at[roots->equation].shape = shape;
    dae->equations.at[roots->equation].row = row;
}

static bool
has_root(const Exprs *exprs, Expr shape)
{
    return expr_has_any(exprs, shape, ops_and(ops_of(OP_SQRT), OP_POW));
}

// The variables of the equations that give those of this one.
static void
add_givers(Roots *roots, uint32_t equation, uint32_t n)
{
    vec_clear(&roots->given);
    for (uint32_t k = 0; k < n; k++) {
        uint32_t length, by = roots->reach.by.at[roots->naming.vars.at[k]];
        vec_push(&roots->given, by == NONE || by == equation ? NONE : roots->naming.vars.n);
        if (roots->given.at[k] == NONE)
            continue;
        const Var *row = dae_row(roots->dae, by, &length);
        vec_append(&roots->naming.vars, row, length);
    }
}

static void
visit(Roots *roots, uint32_t equation)
{
    Dae *dae = roots->dae;
    Exprs *exprs = dae->exprs;
    uint32_t n;
    const Var *row = dae_row(dae, equation, &n);
    Expr shape = dae->equations.at[equation].shape;
    vec_clear(&roots->naming.vars);
    vec_append(&roots->naming.vars, row, n);
    add_givers(roots, equation, n);
    roots->equation = equation;
    roots->slots = roots->naming.vars.n;
    roots->root.n = 0;
    Expr text = solve_square(roots, shape);
    if (!text) {
        if (!has_root(exprs, shape))
            return;
        roots->strict = false;
        text = expr_rewrite(exprs, shape, replace, roots);
        find_branches(roots, text);
        roots->strict = true;
        text = expr_rewrite(exprs, text, replace, roots);
    }
    if (text != shape && !is_hidden(roots, text))
        finish(roots, text);
}

// Set-valued terms of the model's own keep their meaning: no root in such an equation becomes one.
static bool
concerns(const Exprs *exprs, const Equation *at)
{
    return at->kind == EQN_NORMAL && expr_has_any(exprs, at->shape, ops_and(ops_and(ops_of(OP_SQRT), OP_POW), OP_ABS))
           && !expr_has_any(exprs, at->shape, ops_and(ops_of(OP_SGN), OP_TAR));
}

bool
pass_roots(Dae *dae, Diags *diags)
{
    (void)diags; // a root that cannot be held stays what it is
    if (!exprs_have_op(dae->exprs, OP_SQRT) && !exprs_have_op(dae->exprs, OP_POW) && !exprs_have_op(dae->exprs, OP_ABS))
        return true;
    uint32_t n = dae->equations.n, first = 0;
    while (first < n && !concerns(dae->exprs, &dae->equations.at[first]))
        first++;
    if (first == n)
        return true;
    Roots roots = {.dae = dae, .naming = {.dae = dae}, .reach = reach_create(dae)};
    if (roots_row(&roots.reach, &roots.naming, &roots.squares)) {
        reach_free(&roots.reach);
        roots.reach = reach_create(dae);
    }
    uint32_t unused;
    for (uint32_t i = first; i < n; i++)
        if (concerns(dae->exprs, &dae->equations.at[i]) && !map_get(&roots.squares, i, &unused))
            visit(&roots, i);
    reach_free(&roots.reach);
    naming_free(&roots.naming);
    vec_free(&roots.root);
    vec_free(&roots.given);
    map_free(&roots.branch);
    map_free(&roots.squares);
    return true;
}
