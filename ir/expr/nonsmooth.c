// nonsmooth.c: the algebra of luz and tar: normal form and splitting off of set-valued terms.
//
// Purpose: friction and clearance written in any of the usual ways get one form, in which each friction
// band is one term F*Sgn(x) of a sum: tar(x, a) = x + a*Sgn(x).
// Method: every part of an expression, arguments first, is kept as  rest + sum of F_i*Sgn(x_i)  with
// single-valued rest, F_i, x_i; the operators that respect this form (sums, products with single-valued
// factors, quotients, choices) work on it. Rules and sources: docs/nonsmooth.md.
// Contract: nonsmooth.h.
// Complexity: linear in the number of different parts times the number of bands.
#include "ir/expr/nonsmooth.h"

#include <math.h>
#include <stdlib.h>

#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth_inner.h"

enum { DEPTH_LIMIT = 64, LOOK_LIMIT = 2000, LUZ_LIMIT = 64 };

// --- signs

typedef struct Sight {
    const Exprs *exprs;
    const Signs *signs;
    uint32_t looks;
} Sight;

static bool see_sign(Sight *sight, Expr e, bool positive, uint32_t depth);

static bool
all_signs(Sight *sight, Expr e, uint32_t first, bool positive, uint32_t depth)
{
    for (uint32_t i = first; i < expr_nargs(sight->exprs, e); i++)
        if (!see_sign(sight, expr_arg(sight->exprs, e, i), positive, depth + 1))
            return false;
    return true;
}

// Products and quotients: every factor has a known sign.
static bool
product_sign(Sight *sight, Expr e, bool positive, uint32_t depth)
{
    for (uint32_t i = 0; i < expr_nargs(sight->exprs, e); i++) {
        Expr arg = expr_arg(sight->exprs, e, i);
        if (see_sign(sight, arg, true, depth + 1))
            continue;
        if (!see_sign(sight, arg, false, depth + 1))
            return false;
        positive = !positive;
    }
    return positive;
}

static bool
power_sign(Sight *sight, Expr e, bool positive, uint32_t depth)
{
    const Exprs *exprs = sight->exprs;
    Expr power = expr_arg(exprs, e, 1);
    bool even = expr_op(exprs, power) == OP_CONST && fmod(expr_value(exprs, power), 2) == 0;
    return positive && (even || see_sign(sight, expr_arg(exprs, e, 0), true, depth + 1));
}

// e >= 0, or e <= 0 with `positive` false.
static bool
see_sign(Sight *sight, Expr e, bool positive, uint32_t depth)
{
    const Exprs *exprs = sight->exprs;
    if (depth > DEPTH_LIMIT || ++sight->looks > LOOK_LIMIT)
        return false;
    switch (expr_op(exprs, e)) {
    case OP_CONST:
        return positive ? expr_value(exprs, e) >= 0 : expr_value(exprs, e) <= 0;
    case OP_SLOT:
        return positive && sight->signs && sight->signs->nonneg(expr_slot_of(exprs, e), sight->signs->context);
    case OP_ABS:
    case OP_SQRT:
    case OP_EXP:
    case OP_COSH:
        return positive;
    case OP_POW:
        return power_sign(sight, e, positive, depth);
    case OP_NEG:
        return see_sign(sight, expr_arg(exprs, e, 0), !positive, depth + 1);
    case OP_LUZ:
        return see_sign(sight, expr_arg(exprs, e, 0), positive, depth + 1);
    case OP_IF:
    case OP_SMOOTH:
        return all_signs(sight, e, 1, positive, depth);
    case OP_MIN:
    case OP_MAX:
        if ((expr_op(exprs, e) == OP_MAX) != positive)
            return all_signs(sight, e, 0, positive, depth);
        return see_sign(sight, expr_arg(exprs, e, 0), positive, depth + 1)
               || see_sign(sight, expr_arg(exprs, e, 1), positive, depth + 1);
    case OP_ADD:
    case OP_NOEVENT:
    case OP_HOMOTOPY:
        return all_signs(sight, e, 0, positive, depth);
    case OP_MUL:
    case OP_DIV:
        return product_sign(sight, e, positive, depth);
    default:
        return false;
    }
}

bool
nonsmooth_nonneg(const Exprs *exprs, Expr e, const Signs *signs)
{
    Sight sight = {exprs, signs, 0};
    return see_sign(&sight, e, true, 0) || (signs && signs->assume && signs->assume(e, signs->context));
}

// Does the text of e begin with a minus sign?
static bool
leading_minus(const Exprs *exprs, Expr e)
{
    while (expr_op(exprs, e) == OP_ADD) {
        Expr first = expr_arg(exprs, e, 0);
        if (expr_op(exprs, first) == OP_CONST) // printed behind the others when it is negative
            first = expr_arg(exprs, e, 1);
        e = first;
    }
    if (expr_op(exprs, e) == OP_MUL)
        e = expr_arg(exprs, e, 0);
    return expr_op(exprs, e) == OP_NEG || (expr_op(exprs, e) == OP_CONST && expr_value(exprs, e) < 0);
}

// --- products and quotients with cancelling

Expr
nonsmooth_without_factor(Exprs *exprs, Expr e, Expr factor)
{
    if (e == factor)
        return exprs->one;
    if (expr_op(exprs, e) != OP_MUL)
        return 0;
    U32Vec others = {0};
    bool found = false;
    for (uint32_t i = 0; i < expr_nargs(exprs, e); i++) {
        Expr arg = expr_arg(exprs, e, i);
        if (arg == factor && !found)
            found = true;
        else
            vec_push(&others, arg);
    }
    Expr result = found ? expr_make(exprs, OP_MUL, others.at, others.n) : 0;
    vec_free(&others);
    return result;
}

// a*b with b = p/q or 1/q, where q cancels against a factor of a. A band c*(F/c) is F also in the limit c =
// 0.
Expr
nonsmooth_times(Exprs *exprs, Expr a, Expr b)
{
    if (expr_op(exprs, a) == OP_NEG)
        return expr_1(exprs, OP_NEG, nonsmooth_times(exprs, expr_arg(exprs, a, 0), b));
    if (expr_op(exprs, b) == OP_NEG)
        return expr_1(exprs, OP_NEG, nonsmooth_times(exprs, a, expr_arg(exprs, b, 0)));
    for (int turn = 0; turn < 2; turn++) {
        Expr c = turn ? b : a, quotient = turn ? a : b;
        if (expr_op(exprs, quotient) != OP_DIV)
            continue;
        Expr over = expr_arg(exprs, quotient, 0), under = expr_arg(exprs, quotient, 1);
        Expr left = nonsmooth_without_factor(exprs, c, under);
        if (left)
            return expr_2(exprs, OP_MUL, left, over);
        if (over == exprs->one)
            return expr_2(exprs, OP_DIV, c, under);
    }
    return expr_2(exprs, OP_MUL, a, b);
}

// --- the form  rest + sum of F*Sgn(x)

typedef struct Band {
    Expr x, force; // x without sign and literal factor
} Band;

typedef struct Part {
    Expr rest;
    uint32_t first, n; // bands
} Part;

typedef struct Form {
    Exprs *exprs;
    const Signs *signs;
    VEC(Part) parts; // per position of the walk
    VEC(Band) bands;
    const char *reason; // why the last part that could not keep the form could not
} Form;

static bool
form_nonneg(const Form *form, Expr e)
{
    return nonsmooth_nonneg(form->exprs, e, form->signs);
}

// x as s*x' with s = +1 or -1 times a positive factor that does not matter to Sgn.
static Expr
direction(const Form *form, Expr x, bool *negative)
{
    Exprs *exprs = form->exprs;
    *negative = false;
    for (Expr before = 0; before != x;) { // what a divisor or factor leaves may begin with a minus sign
        before = x;
        if (leading_minus(exprs, x)) {
            x = expr_1(exprs, OP_NEG, x);
            *negative = !*negative;
        }
        while (expr_op(exprs, x) == OP_DIV && form_nonneg(form, expr_arg(exprs, x, 1)))
            x = expr_arg(exprs, x, 0);
        if (expr_op(exprs, x) == OP_MUL && expr_op(exprs, expr_arg(exprs, x, 0)) == OP_CONST && expr_value(exprs, expr_arg(exprs, x, 0)) > 0)
            x = nonsmooth_without_factor(exprs, x, expr_arg(exprs, x, 0));
    }
    return x;
}

static void
add_band(Form *form, Part *part, Expr x, Expr force)
{
    Exprs *exprs = form->exprs;
    for (uint32_t i = part->first; i < part->first + part->n; i++) {
        if (form->bands.at[i].x != x)
            continue;
        form->bands.at[i].force = expr_2(exprs, OP_ADD, form->bands.at[i].force, force);
        return;
    }
    vec_push(&form->bands, (Band){x, force});
    part->n++;
}

static void
add_sgn(Form *form, Part *part, Expr x, Expr force)
{
    bool negative;
    x = direction(form, x, &negative);
    add_band(form, part, x, negative ? expr_1(form->exprs, OP_NEG, force) : force);
}

static Expr
assemble(Form *form, Part part)
{
    Exprs *exprs = form->exprs;
    U32Vec terms = {0};
    vec_push(&terms, part.rest);
    for (uint32_t i = part.first; i < part.first + part.n; i++) {
        Band band = form->bands.at[i];
        vec_push(&terms, expr_2(exprs, OP_MUL, band.force, expr_1(exprs, OP_SGN, band.x)));
    }
    Expr result = expr_make(exprs, OP_ADD, terms.at, terms.n);
    vec_free(&terms);
    return result;
}

// --- rules of luz

// k1*luz(x,a) + k2*luz(x,a) = (k1+k2)*luz(x,a)
static Expr
merge_luz(Exprs *exprs, Expr sum)
{
    if (expr_op(exprs, sum) != OP_ADD || !expr_has_op(exprs, sum, OP_LUZ))
        return sum;
    U32Vec terms = {0}, luz = {0}, factor = {0}, place = {0};
    bool merged = false;
    for (uint32_t i = 0; i < expr_nargs(exprs, sum); i++) {
        Expr term = expr_arg(exprs, sum, i), bare = expr_op(exprs, term) == OP_NEG ? expr_arg(exprs, term, 0) : term;
        Expr found = expr_op(exprs, bare) == OP_LUZ ? bare : 0;
        for (uint32_t j = 0; expr_op(exprs, bare) == OP_MUL && j < expr_nargs(exprs, bare); j++)
            if (expr_op(exprs, expr_arg(exprs, bare, j)) == OP_LUZ)
                found = expr_arg(exprs, bare, j);
        Expr k = found ? nonsmooth_without_factor(exprs, bare, found) : 0;
        uint32_t at = luz.n;
        if (k && bare != term)
            k = expr_1(exprs, OP_NEG, k);
        for (uint32_t j = 0; k && j < luz.n; j++)
            if (luz.at[j] == found)
                at = j;
        if (at < luz.n) {
            factor.at[at] = expr_2(exprs, OP_ADD, factor.at[at], k);
            terms.at[place.at[at]] = expr_2(exprs, OP_MUL, factor.at[at], found);
            merged = true;
            continue;
        }
        if (k && luz.n < LUZ_LIMIT) {
            vec_push(&luz, found);
            vec_push(&factor, k);
            vec_push(&place, terms.n);
        }
        vec_push(&terms, term);
    }
    if (merged)
        sum = expr_make(exprs, OP_ADD, terms.at, terms.n);
    vec_free(&terms);
    vec_free(&luz);
    vec_free(&factor);
    vec_free(&place);
    return sum;
}

// Is k positive, so that it can be divided by?
static bool
form_positive(const Form *form, Expr k)
{
    const Signs *signs = form->signs;
    return expr_op(form->exprs, k) == OP_CONST ? expr_value(form->exprs, k) > 0 : signs && signs->assume && signs->assume(k, signs->context);
}

static bool
has_luz_factor(const Exprs *exprs, Expr product)
{
    for (uint32_t i = 0; i < expr_nargs(exprs, product); i++)
        if (expr_op(exprs, expr_arg(exprs, product, i)) == OP_LUZ)
            return true;
    return false;
}

// luz(k*x, k*a) = k*luz(x, a) for a factor or divisor k >= 0 of both; luz(c*x, a) = c*luz(x, a/c) for literals, and where that lets
// luz(k*luz(x, a), b) = k*luz(x, a + b/k) be seen.
static Expr luz_normal(const Form *form, Expr x, Expr a);

static Expr
luz_scaled(const Form *form, Expr x, Expr a)
{
    Exprs *exprs = form->exprs;
    U32Vec outside = {0};
    Expr under = 0;
    for (bool found = true; found;) {
        found = false;
        if (expr_op(exprs, x) == OP_DIV && expr_op(exprs, a) == OP_DIV && expr_arg(exprs, x, 1) == expr_arg(exprs, a, 1)
            && form_nonneg(form, expr_arg(exprs, x, 1))) {
            under = expr_arg(exprs, x, 1);
            x = expr_arg(exprs, x, 0);
            a = expr_arg(exprs, a, 0);
            break;
        }
        for (uint32_t i = 0, n = expr_op(exprs, x) == OP_MUL ? expr_nargs(exprs, x) : 0; i < n && !found; i++) {
            Expr factor = expr_arg(exprs, x, i);
            bool literal = expr_op(exprs, factor) == OP_CONST;
            Expr band = literal ? expr_2(exprs, OP_DIV, a, factor) : nonsmooth_without_factor(exprs, a, factor);
            found = band && form_nonneg(form, factor);
            if (!band && expr_op(exprs, factor) == OP_SLOT && has_luz_factor(exprs, x) && form_positive(form, factor)) {
                band = expr_2(exprs, OP_DIV, a, factor);
                found = true;
            }
            if (!found)
                continue;
            vec_push(&outside, factor);
            x = nonsmooth_without_factor(exprs, x, factor); // one factor less
            a = band;
        }
    }
    bool again = outside.n || under; // what is left may begin with a minus sign, or be luz itself
    Expr result = again ? luz_normal(form, x, a) : expr_2(exprs, OP_LUZ, x, a);
    if (under)
        result = expr_2(exprs, OP_DIV, result, under);
    while (outside.n) {
        Expr factor = vec_pop(&outside);
        result = expr_2(exprs, OP_MUL, factor, result);
    }
    vec_free(&outside);
    return result;
}

static Expr
luz_normal(const Form *form, Expr x, Expr a)
{
    Exprs *exprs = form->exprs;
    if (leading_minus(exprs, x))
        return expr_1(exprs, OP_NEG, luz_normal(form, expr_1(exprs, OP_NEG, x), a));
    if (expr_op(exprs, x) == OP_LUZ) { // luz(luz(x,a),b) = luz(x,a+b); the inner one is normal already
        a = expr_2(exprs, OP_ADD, expr_arg(exprs, x, 1), a);
        x = expr_arg(exprs, x, 0);
    }
    return luz_scaled(form, x, a);
}

// --- operators on the form

// rest + bands is tar of something with the same direction: x + F*Sgn(x). Sets *force.
static bool
is_tar(Form *form, Part part, Expr *force)
{
    bool negative;
    if (part.n != 1)
        return false;
    Expr x = direction(form, part.rest, &negative);
    *force = form->bands.at[part.first].force;
    if (negative)
        *force = expr_1(form->exprs, OP_NEG, *force);
    return x == form->bands.at[part.first].x;
}

static Part
opaque(Form *form, Expr id, const Part *args, uint32_t n, const char *reason)
{
    U32Vec whole = {0};
    for (uint32_t i = 0; i < n; i++)
        vec_push(&whole, assemble(form, args[i]));
    Expr result = expr_make(form->exprs, expr_op(form->exprs, id), whole.at, n);
    vec_free(&whole);
    if (expr_op(form->exprs, id) != OP_EQN)
        form->reason = reason;
    return (Part){result, 0, 0};
}

static Part
part_sum(Form *form, const Part *args, uint32_t n)
{
    U32Vec rests = {0};
    Part part = {0, form->bands.n, 0};
    for (uint32_t i = 0; i < n; i++) {
        vec_push(&rests, args[i].rest);
        for (uint32_t j = args[i].first; j < args[i].first + args[i].n; j++) {
            Band band = form->bands.at[j];
            add_band(form, &part, band.x, band.force);
        }
    }
    part.rest = merge_luz(form->exprs, expr_make(form->exprs, OP_ADD, rests.at, n));
    vec_free(&rests);
    return part;
}

// The bands of `from`, each force changed: force*factor or force/divisor.
static Part
part_scaled(Form *form, Part from, Expr rest, Expr factor, Expr divisor)
{
    Part part = {rest, form->bands.n, 0};
    for (uint32_t j = from.first; j < from.first + from.n; j++) {
        Band band = form->bands.at[j];
        if (factor)
            band.force = nonsmooth_times(form->exprs, factor, band.force);
        if (divisor)
            band.force = expr_2(form->exprs, OP_DIV, band.force, divisor);
        vec_push(&form->bands, band);
        part.n++;
    }
    return part;
}

static Part
part_product(Form *form, Expr id, const Part *args, uint32_t n)
{
    U32Vec rests = {0}, factors = {0};
    uint32_t at = n, set_valued = 0;
    for (uint32_t i = 0; i < n; i++) {
        set_valued += args[i].n > 0;
        at = args[i].n ? i : at;
        vec_push(&rests, args[i].rest);
        if (!args[i].n)
            vec_push(&factors, args[i].rest);
    }
    Part part;
    if (set_valued > 1) {
        part = opaque(form, id, args, n, "a set-valued term (Sgn, tar) is multiplied by another one");
    } else {
        Expr factor = expr_make(form->exprs, OP_MUL, factors.at, factors.n);
        Expr rest = expr_make(form->exprs, OP_MUL, rests.at, n);
        part = part_scaled(form, args[at], rest, factor, 0);
    }
    vec_free(&rests);
    vec_free(&factors);
    return part;
}

// if c then F1*Sgn(x) else F2*Sgn(x) = (if c then F1 else F2)*Sgn(x): the band vanishes where it is not used.
static Part
part_choice(Form *form, Part when, Part yes, Part no)
{
    Exprs *exprs = form->exprs;
    Part part = {expr_3(exprs, OP_IF, when.rest, yes.rest, no.rest), form->bands.n, 0};
    for (uint32_t j = yes.first; j < yes.first + yes.n; j++) {
        Band band = form->bands.at[j];
        add_band(form, &part, band.x, expr_3(exprs, OP_IF, when.rest, band.force, exprs->zero));
    }
    for (uint32_t j = no.first; j < no.first + no.n; j++) {
        Band band = form->bands.at[j];
        add_band(form, &part, band.x, expr_3(exprs, OP_IF, when.rest, exprs->zero, band.force));
    }
    for (uint32_t j = part.first; j < part.first + part.n; j++) { // both branches: one choice instead of a sum of two
        Expr force[2] = {exprs->zero, exprs->zero};
        for (uint32_t side = 0; side < 2; side++) {
            Part from = side ? no : yes;
            for (uint32_t i = from.first; i < from.first + from.n; i++)
                if (form->bands.at[i].x == form->bands.at[j].x)
                    force[side] = form->bands.at[i].force;
        }
        form->bands.at[j].force = expr_3(exprs, OP_IF, when.rest, force[0], force[1]);
    }
    return part;
}

// luz, tar and Sgn of an argument that is set-valued itself: only of tar with the same argument.
static Part
part_of_tar(Form *form, Expr id, const Part *args, uint32_t n)
{
    Exprs *exprs = form->exprs;
    Op op = expr_op(exprs, id);
    Expr force;
    const char *reason = "the argument of luz, tar or Sgn is itself set-valued (Sgn, tar)";
    if ((n > 1 && args[1].n) || !is_tar(form, args[0], &force))
        return opaque(form, id, args, n, reason);
    Part part = {op == OP_SGN ? exprs->zero : args[0].rest, form->bands.n, 0};
    if (op == OP_LUZ) // luz(tar(x,a),a) = x
        return args[1].rest == force ? part : opaque(form, id, args, n, reason);
    if (op == OP_TAR) // tar(tar(x,a),b) = tar(x,a+b)
        add_sgn(form, &part, args[0].rest, force);
    add_sgn(form, &part, args[0].rest, op == OP_TAR ? args[1].rest : exprs->one);
    return part;
}

static Part
part_set_valued(Form *form, Expr id, const Part *args, uint32_t n)
{
    Exprs *exprs = form->exprs;
    Op op = expr_op(exprs, id);
    switch (op) {
    case OP_ADD:
        return part_sum(form, args, n);
    case OP_NEG:
        return part_scaled(form, args[0], expr_1(exprs, OP_NEG, args[0].rest), expr_const(exprs, -1), 0);
    case OP_NOEVENT:
        return part_scaled(form, args[0], expr_1(exprs, OP_NOEVENT, args[0].rest), 0, 0);
    case OP_MUL:
        return part_product(form, id, args, n);
    case OP_DIV:
        if (args[1].n)
            return opaque(form, id, args, n, "something is divided by a set-valued term (Sgn, tar)");
        return part_scaled(form, args[0], expr_2(exprs, OP_DIV, args[0].rest, args[1].rest), 0, args[1].rest);
    case OP_IF:
        if (args[0].n)
            return opaque(form, id, args, n, "a condition depends on a set-valued term (Sgn, tar)");
        return part_choice(form, args[0], args[1], args[2]);
    case OP_LUZ:
    case OP_TAR:
    case OP_SGN:
        return part_of_tar(form, id, args, n);
    default:
        break;
    }
    bool relation = op_table[op].kind == OPKIND_COMPARE || op_table[op].kind == OPKIND_LOGIC;
    return opaque(form, id, args, n,
                  relation ? "a relation compares a set-valued term (Sgn, tar)"
                           : "a set-valued term (Sgn, tar) is the argument of a nonlinear function");
}

// k*luz(x, a)/k = luz(x, a) for k > 0.
static Expr
luz_divided(const Form *form, Expr e)
{
    Exprs *exprs = form->exprs;
    if (expr_op(exprs, e) != OP_DIV || expr_op(exprs, expr_arg(exprs, e, 0)) != OP_MUL || !has_luz_factor(exprs, expr_arg(exprs, e, 0)))
        return e;
    Expr left = nonsmooth_without_factor(exprs, expr_arg(exprs, e, 0), expr_arg(exprs, e, 1));
    return left && form_positive(form, expr_arg(exprs, e, 1)) ? left : e;
}

// luz(x, a)/k*k = luz(x, a): the scale of an argument that was taken out meets that of the term.
static Expr
luz_product(Exprs *exprs, const Expr *args, uint32_t n)
{
    U32Vec factors = {0};
    vec_append(&factors, args, n);
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++) {
            bool negative = expr_op(exprs, factors.at[i]) == OP_NEG;
            Expr quotient = negative ? expr_arg(exprs, factors.at[i], 0) : factors.at[i];
            if (i == j || expr_op(exprs, quotient) != OP_DIV || expr_arg(exprs, quotient, 1) != factors.at[j]
                || !expr_has_op(exprs, expr_arg(exprs, quotient, 0), OP_LUZ))
                continue;
            Expr over = expr_arg(exprs, quotient, 0);
            factors.at[i] = negative ? expr_1(exprs, OP_NEG, over) : over;
            factors.at[j] = exprs->one;
        }
    Expr product = expr_make(exprs, OP_MUL, factors.at, n);
    vec_free(&factors);
    return product;
}

static Part
part_plain(Form *form, Expr id, const Expr *args, uint32_t n)
{
    Exprs *exprs = form->exprs;
    Part part = {id, form->bands.n, 0};
    switch (expr_op(exprs, id)) {
    case OP_LUZ:
        part.rest = luz_normal(form, args[0], args[1]);
        break;
    case OP_TAR:
        part.rest = args[0];
        if (!expr_is_const(exprs, args[1], 0))
            add_sgn(form, &part, args[0], args[1]);
        break;
    case OP_SGN:
        part.rest = exprs->zero;
        add_sgn(form, &part, args[0], exprs->one);
        break;
    case OP_MUL:
        part.rest = merge_luz(exprs, luz_product(exprs, args, n));
        break;
    default:
        if (n)
            part.rest = luz_divided(form, expr_make(exprs, expr_op(exprs, id), args, n));
        part.rest = merge_luz(exprs, part.rest);
    }
    return part;
}

// Fills form->parts for everything in `order`.
static void
build(Form *form, const U32Vec *order)
{
    Exprs *exprs = form->exprs;
    VEC(Part) args = {0};
    U32Vec rests = {0};
    for (uint32_t i = 0; i < order->n; i++) {
        Expr id = order->at[i];
        bool set_valued = false;
        args.n = rests.n = 0;
        for (uint32_t j = 0; j < expr_nargs(exprs, id); j++) {
            Part arg = form->parts.at[exprs->index.at[expr_arg(exprs, id, j)]];
            set_valued |= arg.n > 0;
            vec_push(&args, arg);
            vec_push(&rests, arg.rest);
        }
        Part part = set_valued ? part_set_valued(form, id, args.at, args.n) : part_plain(form, id, rests.at, rests.n);
        vec_push(&form->parts, part);
    }
    vec_free(&args);
    vec_free(&rests);
}

static bool
is_smooth(const Exprs *exprs, Expr e)
{
    return !expr_has_op(exprs, e, OP_LUZ) && !expr_has_op(exprs, e, OP_TAR) && !expr_has_op(exprs, e, OP_SGN);
}

static void
form_free(Form *form)
{
    vec_free(&form->parts);
    vec_free(&form->bands);
}

Expr
nonsmooth_normalise(Exprs *exprs, Expr e, const Signs *signs)
{
    if (is_smooth(exprs, e))
        return e;
    Form form = {.exprs = exprs, .signs = signs};
    U32Vec order = {0};
    expr_walk(exprs, e, UINT32_MAX, &order);
    build(&form, &order);
    Expr result = assemble(&form, vec_last(&form.parts));
    form_free(&form);
    vec_free(&order);
    return result;
}

// --- splitting

// rest + sum of p_i, where p_i stands for the band a_i*Sgn(x_i); equal ones share an unknown.
static Expr
name_bands(Form *form, Part part, uint32_t first_slot, U32Vec *x, U32Vec *a)
{
    Exprs *exprs = form->exprs;
    U32Vec terms = {0};
    vec_push(&terms, part.rest);
    for (uint32_t i = part.first; i < part.first + part.n; i++) {
        Band band = form->bands.at[i];
        bool negative = leading_minus(exprs, band.force);
        Expr force = negative ? expr_1(exprs, OP_NEG, band.force) : band.force;
        if (expr_is_const(exprs, force, 0))
            continue;
        uint32_t k = 0;
        while (k < x->n && (x->at[k] != band.x || a->at[k] != force))
            k++;
        if (k == x->n) {
            vec_push(x, band.x);
            vec_push(a, force);
        }
        Expr p = expr_slot(exprs, first_slot + k);
        vec_push(&terms, negative ? expr_1(exprs, OP_NEG, p) : p);
    }
    Expr result = expr_make(exprs, OP_ADD, terms.at, terms.n);
    vec_free(&terms);
    return result;
}

Expr
nonsmooth_split(Exprs *exprs, Expr e, uint32_t first_slot, U32Vec *x, U32Vec *a, const char **reason)
{
    *reason = NULL;
    if (!expr_has_op(exprs, e, OP_TAR) && !expr_has_op(exprs, e, OP_SGN))
        return e;
    Form form = {.exprs = exprs};
    U32Vec order = {0};
    Expr result = 0;
    expr_walk(exprs, e, UINT32_MAX, &order);
    build(&form, &order);
    *reason = form.reason;
    if (!form.reason && expr_op(exprs, e) == OP_EQN) {
        Part left = form.parts.at[exprs->index.at[expr_arg(exprs, e, 0)]];
        Part right = form.parts.at[exprs->index.at[expr_arg(exprs, e, 1)]];
        Expr on_left = name_bands(&form, left, first_slot, x, a);
        result = expr_2(exprs, OP_EQN, on_left, name_bands(&form, right, first_slot, x, a));
    } else if (!form.reason) {
        result = name_bands(&form, vec_last(&form.parts), first_slot, x, a);
    }
    form_free(&form);
    vec_free(&order);
    return result;
}

// --- values

static Expr
replace_set_valued(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    (void)context;
    Op op = expr_op(exprs, part);
    if (op != OP_SGN && op != OP_TAR)
        return 0;
    Expr sign = expr_1(exprs, OP_SIGN, args[0]);
    return op == OP_SGN ? sign : expr_2(exprs, OP_ADD, args[0], expr_2(exprs, OP_MUL, args[1], sign));
}

Expr
nonsmooth_valued(Exprs *exprs, Expr e)
{
    if (!expr_has_op(exprs, e, OP_SGN) && !expr_has_op(exprs, e, OP_TAR))
        return e;
    return expr_rewrite(exprs, e, replace_set_valued, NULL);
}
