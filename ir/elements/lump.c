// lump.c: distributed inertia as a few concentrated ones.
//
// Purpose: `inertia rho over s in a:b at {...}` with the smallest number of terms, for every formalism at once.
// Method: with place = sum of c_j*m_j over monomials m_j of the domain's variables, the kinetic energy is the quadratic
// form der(c)'*G*der(c)/2 with the moments G_jl = integral of density*m_j*m_l. Its decomposition G = L*D*L' makes it
// the sum of D_k/2*(sum over j of L_jk*der(c_j))^2: masses D_k at places sum of L_jk*c_j. For a uniform density
// over an interval these are the Legendre coefficients of the place, with masses m, m/12, m/180, ... The variables are
// scaled to the unit interval first, so that L and D are numbers times one common factor. Where they are not (a density
// with coefficients of its own), and for places that are no polynomials, the masses are those of a Gauss rule.
// Contract: bonds.h. Complexity: cube of the number of monomials.

#include <math.h>

#include "ir/elements/elements.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/integrate.h"
#include "ir/expr/polynomial.h"

enum { MONOMIALS_MOST = 64 };

typedef struct MultiTerm { // of a polynomial in the domain's variables
    uint32_t key;     // exponents, a byte each
    Expr coefficient;
} MultiTerm;
typedef VEC(MultiTerm) MultiTerms;

typedef struct Domain {
    Exprs *exprs;
    uint32_t n;
    LumpRange ranges[LUMP_RANGES];
    Expr measure;     // what an element of the domain is scaled by
    Map moments;      // key -> index into `moment`
    F64Vec moment;
    Lumps *out;
} Domain;

static bool
refuse(Domain *domain, const char *reason, Expr culprit)
{
    domain->out->reason = reason;
    domain->out->culprit = culprit;
    return false;
}

// --- polynomials in several variables

static bool
terms_from(Domain *domain, Expr e, uint32_t level, uint32_t key, MultiTerms *out)
{
    U32Vec coefficients = {0};
    bool good = true;
    if (level == domain->n) {
        vec_push(out, (MultiTerm){key, e});
        return true;
    }
    good = expr_polynomial(domain->exprs, e, domain->ranges[level].slot, &coefficients);
    for (uint32_t k = 0; k < coefficients.n && good; k++)
        if (coefficients.at[k] != expr_const(domain->exprs, 0))
            good = terms_from(domain, coefficients.at[k], level + 1, key | k << 8 * level, out);
    vec_free(&coefficients);
    return good;
}

static bool
terms_of(Domain *domain, Expr e, MultiTerms *out)
{
    vec_clear(out);
    return terms_from(domain, e, 0, 0, out);
}

static uint32_t
exponent_of(uint32_t key, uint32_t level)
{
    return key >> 8 * level & 0xff;
}

static uint32_t
degree_of(uint32_t key)
{
    return exponent_of(key, 0) + exponent_of(key, 1) + exponent_of(key, 2);
}

// terms = factor*(polynomial with coefficients that are numbers)? Returns the factor, or 0; the coefficients become
// the numbers.
static Expr
common_factor(Domain *domain, MultiTerms *terms)
{
    Exprs *exprs = domain->exprs;
    if (!terms->n)
        return expr_const(exprs, 0);
    Expr factor = terms->at[0].coefficient;
    for (uint32_t i = 0; i < terms->n; i++) {
        Expr ratio = monomial_reduced(exprs, expr_2(exprs, OP_DIV, terms->at[i].coefficient, factor));
        if (expr_op(exprs, ratio) != OP_CONST)
            return 0;
        terms->at[i].coefficient = ratio;
    }
    return factor;
}

// --- scaling the variables

static bool
uses_domain(const Domain *domain, Expr e)
{
    for (uint32_t i = 0; i < domain->n; i++)
        if (expr_uses_slot(domain->exprs, e, domain->ranges[i].slot))
            return true;
    return false;
}

// A scale for the variable, so that its length is a number or a polynomial with coefficients that are numbers.
static Expr
scale_of(Domain *domain, Expr length)
{
    MultiTerms terms = {0};
    Expr scale = 0;
    if (!uses_domain(domain, length))
        scale = length;
    else if (terms_of(domain, length, &terms))
        scale = common_factor(domain, &terms);
    vec_free(&terms);
    return scale;
}

// Variable i becomes from + scale*(itself), in everything that is integrated and in later limits. With `cube` the scale
// is the whole length, so that the domain is the unit cube.
static bool
scale_variable(Domain *domain, uint32_t i, bool cube, Expr *parts, uint32_t n_parts)
{
    Exprs *exprs = domain->exprs;
    LumpRange *range = &domain->ranges[i];
    Expr length = expr_sub(exprs, range->to, range->from), scale = cube ? length : scale_of(domain, length);
    if (!scale)
        return false;
    Expr is = expr_2(exprs, OP_ADD, range->from, expr_2(exprs, OP_MUL, scale, expr_slot(exprs, range->slot)));
    for (uint32_t k = 0; k < n_parts; k++)
        parts[k] = expr_replace_slot(domain->exprs, parts[k], range->slot, is);
    for (uint32_t k = i + 1; k < domain->n; k++) {
        domain->ranges[k].from = expr_replace_slot(domain->exprs, domain->ranges[k].from, range->slot, is);
        domain->ranges[k].to = expr_replace_slot(domain->exprs, domain->ranges[k].to, range->slot, is);
    }
    domain->measure = expr_2(exprs, OP_MUL, domain->measure, scale);
    range->from = expr_const(exprs, 0);
    range->to = expr_const(exprs, 1);
    if (cube || !uses_domain(domain, length))
        return true;
    MultiTerms terms = {0};
    U32Vec sum = {0};
    terms_of(domain, length, &terms);
    common_factor(domain, &terms);
    for (uint32_t t = 0; t < terms.n; t++) {
        Expr product = terms.at[t].coefficient;
        for (uint32_t k = 0; k < domain->n; k++)
            product = expr_2(exprs, OP_MUL, product,
                             expr_2(exprs, OP_POW, expr_slot(exprs, domain->ranges[k].slot),
                                    expr_const(exprs, exponent_of(terms.at[t].key, k))));
        vec_push(&sum, product);
    }
    range->to = expr_make(exprs, OP_ADD, sum.at, sum.n);
    vec_free(&terms);
    vec_free(&sum);
    return true;
}

// --- moments

// The integral of the monomial over the scaled domain, a number.
static double
moment_of(Domain *domain, uint32_t key)
{
    Exprs *exprs = domain->exprs;
    uint32_t known;
    if (map_get(&domain->moments, key, &known))
        return domain->moment.at[known];
    Expr e = expr_const(exprs, 1);
    double value = NAN;
    for (uint32_t i = domain->n; i-- > 0;) {
        const LumpRange *range = &domain->ranges[i];
        Integral integral;
        Expr power = expr_2(exprs, OP_POW, expr_slot(exprs, range->slot), expr_const(exprs, exponent_of(key, i)));
        e = expr_2(exprs, OP_MUL, e, power);
        if (!expr_integrate(exprs, e, range->slot, range->from, range->to, &integral))
            break;
        e = integral.value;
        value = i == 0 && expr_op(exprs, e) == OP_CONST ? expr_value(exprs, e) : NAN;
    }
    map_put(&domain->moments, key, domain->moment.n);
    vec_push(&domain->moment, value);
    return value;
}

static double
weighted_moment(Domain *domain, const MultiTerms *weight, uint32_t key)
{
    double sum = 0;
    for (uint32_t i = 0; i < weight->n; i++)
        sum += expr_value(domain->exprs, weight->at[i].coefficient) * moment_of(domain, key + weight->at[i].key);
    return sum;
}

// --- the decomposition

typedef struct Basis { // monomials of all places, lower degrees first
    U32Vec keys;
    U32Vec coefficients; // [key*n_places + component]
} Basis;

static void
add_to_basis(Domain *domain, Basis *basis, const MultiTerms *terms, uint32_t component, uint32_t n_places)
{
    for (uint32_t t = 0; t < terms->n; t++) {
        uint32_t at = 0, key = terms->at[t].key;
        while (at < basis->keys.n && basis->keys.at[at] != key)
            at++;
        if (at == basis->keys.n) {
            vec_push(&basis->keys, key);
            for (uint32_t k = 0; k < n_places; k++)
                vec_push(&basis->coefficients, expr_const(domain->exprs, 0));
        }
        basis->coefficients.at[at * n_places + component] = terms->at[t].coefficient;
    }
}

static bool
comes_before(uint32_t a, uint32_t b)
{
    return degree_of(a) != degree_of(b) ? degree_of(a) < degree_of(b) : a < b;
}

static void
sort_basis(Basis *basis, uint32_t n_places)
{
    for (uint32_t i = 1; i < basis->keys.n; i++)
        for (uint32_t j = i; j > 0 && comes_before(basis->keys.at[j], basis->keys.at[j - 1]); j--) {
            uint32_t key = basis->keys.at[j];
            basis->keys.at[j] = basis->keys.at[j - 1];
            basis->keys.at[j - 1] = key;
            for (uint32_t k = 0; k < n_places; k++) {
                uint32_t *at = &basis->coefficients.at[j * n_places + k], before = at[-(int)n_places];
                at[-(int)n_places] = *at;
                *at = before;
            }
        }
}

// The fraction with a small denominator that the value is but for rounding, or the value: elements of L and D of
// polynomial densities are rational.
static double
rational(double value)
{
    enum { STEPS = 12, LARGEST = 100000 };
    double before = 0, under = 1, over_before = 1, over = floor(value), part = value - over;
    for (uint32_t i = 0; i < STEPS && fabs(over / under - value) > 1e-12 * fabs(value); i++) {
        double inverse = 1 / part, whole = floor(inverse);
        double next_over = whole * over + over_before, next_under = whole * under + before;
        if (!(next_under <= LARGEST))
            return value;
        over_before = over;
        before = under;
        over = next_over;
        under = next_under;
        part = inverse - whole;
    }
    return over / under;
}

// G becomes L below its diagonal and D on it. False when G is not positive definite.
static bool
decompose(double *g, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++) {
        if (!(g[k * n + k] > 0))
            return false;
        for (uint32_t i = k + 1; i < n; i++) {
            double factor = g[i * n + k] / g[k * n + k];
            for (uint32_t j = k + 1; j <= i; j++)
                g[i * n + j] -= factor * g[j * n + k];
        }
        for (uint32_t i = k + 1; i < n; i++)
            g[i * n + k] = rational(g[i * n + k] / g[k * n + k]);
        g[k * n + k] = rational(g[k * n + k]);
    }
    return true;
}

// Adds factor*e to the terms, a sum term by term.
static void
push_scaled(Exprs *exprs, U32Vec *terms, double factor, Expr e)
{
    Expr scale = expr_const(exprs, factor);
    bool sum = expr_op(exprs, e) == OP_ADD;
    for (uint32_t i = 0; i < (sum ? expr_nargs(exprs, e) : 1); i++) {
        Expr term = sum ? expr_arg(exprs, e, i) : e;
        vec_push(terms, monomial_collectable(exprs, expr_2(exprs, OP_MUL, scale, term)));
    }
}

static double
leading_factor(const Exprs *exprs, Expr e)
{
    if (expr_op(exprs, e) == OP_CONST)
        return expr_value(exprs, e);
    Expr first = expr_op(exprs, e) == OP_MUL ? expr_arg(exprs, e, 0) : 0;
    return first && expr_op(exprs, first) == OP_CONST ? expr_value(exprs, first) : 1;
}

// The sum of the terms, equal ones put together as fractions: L*p/2 - 2*L*p/3 + L*p/4 is L*p/12.
static Expr
sum_of_terms(Exprs *exprs, const U32Vec *terms)
{
    static const double negligible = 1e-13;
    Expr sum = expr_make(exprs, OP_ADD, terms->at, terms->n);
    U32Vec kept = {0};
    for (uint32_t i = 0; expr_op(exprs, sum) == OP_ADD && i < expr_nargs(exprs, sum); i++) {
        Expr term = expr_arg(exprs, sum, i);
        double factor = leading_factor(exprs, term);
        if (fabs(factor) > negligible)
            vec_push(&kept, monomial_reduced(exprs, expr_2(exprs, OP_MUL, expr_const(exprs, rational(factor) / factor), term)));
    }
    if (expr_op(exprs, sum) == OP_ADD)
        sum = expr_make(exprs, OP_ADD, kept.at, kept.n);
    vec_free(&kept);
    return sum;
}

static void
emit_modes(Domain *domain, const Basis *basis, const double *g, Expr factor, uint32_t n_places)
{
    Exprs *exprs = domain->exprs;
    uint32_t n = basis->keys.n;
    U32Vec sum = {0};
    for (uint32_t k = 0; k < n; k++) {
        Expr mass = expr_2(exprs, OP_MUL, expr_const(exprs, g[k * n + k]), factor);
        vec_push(&domain->out->masses, monomial_reduced(exprs, mass));
        for (uint32_t c = 0; c < n_places; c++) {
            vec_clear(&sum);
            for (uint32_t j = k; j < n; j++) {
                double factor = j == k ? 1 : g[j * n + k];
                push_scaled(exprs, &sum, factor, basis->coefficients.at[j * n_places + c]);
            }
            vec_push(&domain->out->places, sum_of_terms(exprs, &sum));
        }
    }
    vec_free(&sum);
}

// Modes of the places over the scaled domain. False without a reason where they do not exist as numbers.
static bool
lump_modes(Domain *domain, const Expr *parts, uint32_t n_places)
{
    MultiTerms weight = {0}, terms = {0};
    Basis basis = {0};
    Expr density = expr_2(domain->exprs, OP_MUL, parts[n_places], domain->measure), factor = 0;
    bool good = terms_of(domain, density, &weight) && (factor = common_factor(domain, &weight)) != 0 && weight.n;
    // The constant is always among the monomials, first: what a place is added to moves with the first mode alone.
    vec_push(&terms, (MultiTerm){0, expr_const(domain->exprs, 0)});
    add_to_basis(domain, &basis, &terms, 0, n_places);
    for (uint32_t c = 0; c < n_places && good; c++) {
        good = terms_of(domain, parts[c], &terms);
        add_to_basis(domain, &basis, &terms, c, n_places);
    }
    uint32_t n = basis.keys.n;
    good = good && n && n <= MONOMIALS_MOST;
    if (good) {
        double *g = base_calloc((size_t)n * n, sizeof *g);
        sort_basis(&basis, n_places);
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = 0; j <= i; j++)
                g[i * n + j] = weighted_moment(domain, &weight, basis.keys.at[i] + basis.keys.at[j]);
        if (decompose(g, n))
            emit_modes(domain, &basis, g, factor, n_places);
        else
            good = refuse(domain, "is not positive everywhere in its domain", parts[n_places]);
        free(g);
    }
    vec_free(&weight);
    vec_free(&terms);
    vec_free(&basis.keys);
    vec_free(&basis.coefficients);
    return good;
}

// --- Gauss rules

// Points that make the rule exact in variable i; GAUSS_POINTS where it is no polynomial.
static uint32_t
points_for(Domain *domain, uint32_t i, const Expr *parts, uint32_t n_places)
{
    U32Vec c = {0};
    uint32_t degree = 0, highest = 0;
    bool polynomial = true;
    for (uint32_t k = 0; k < n_places && polynomial; k++) {
        polynomial = expr_polynomial(domain->exprs, parts[k], domain->ranges[i].slot, &c);
        degree = c.n > degree + 1 ? c.n - 1 : degree;
    }
    Expr density = expr_2(domain->exprs, OP_MUL, parts[n_places], domain->measure);
    polynomial = polynomial && expr_polynomial(domain->exprs, density, domain->ranges[i].slot, &c);
    highest = 2 * degree + c.n;
    vec_free(&c);
    return polynomial && highest / 2 < GAUSS_POINTS ? (highest + 1) / 2 : GAUSS_POINTS;
}

static void
emit_point(Domain *domain, const Expr *parts, uint32_t n_places, const double *at, double weight)
{
    Exprs *exprs = domain->exprs;
    Expr mass = expr_2(exprs, OP_MUL, parts[n_places], domain->measure);
    U32Vec with = {0};
    for (uint32_t i = 0; i < domain->n; i++) {
        if (with.n <= domain->ranges[i].slot)
            vec_grow(&with, domain->ranges[i].slot + 1 - with.n);
        with.at[domain->ranges[i].slot] = expr_const(exprs, at[i]);
    }
    mass = expr_2(exprs, OP_MUL, expr_const(exprs, weight), expr_substitute(exprs, mass, with.at, with.n));
    vec_push(&domain->out->masses, mass);
    for (uint32_t c = 0; c < n_places; c++)
        vec_push(&domain->out->places, expr_substitute(exprs, parts[c], with.at, with.n));
    vec_free(&with);
}

static bool
lump_points(Domain *domain, const Expr *parts, uint32_t n_places)
{
    double points[LUMP_RANGES][GAUSS_MOST], weights[LUMP_RANGES][GAUSS_MOST];
    uint32_t n[LUMP_RANGES] = {1, 1, 1}, digit[LUMP_RANGES] = {0}, total = 1;
    for (uint32_t i = 0; i < domain->n; i++) {
        n[i] = points_for(domain, i, parts, n_places);
        gauss_legendre(n[i], points[i], weights[i]);
        total *= n[i];
    }
    for (uint32_t k = 0; k < total; k++) {
        double at[LUMP_RANGES] = {0}, weight = 1;
        for (uint32_t i = 0; i < domain->n; i++) {
            at[i] = 0.5 + points[i][digit[i]] / 2;
            weight *= weights[i][digit[i]] / 2;
        }
        domain->out->points = true;
        emit_point(domain, parts, n_places, at, weight);
        for (uint32_t i = domain->n; i-- > 0;) {
            if (++digit[i] < n[i])
                break;
            digit[i] = 0;
        }
    }
    return true;
}

// --- the whole

static Domain
domain_in_ranges(Exprs *exprs, const LumpRange *ranges, uint32_t n, Lumps *out)
{
    Domain domain = {.exprs = exprs, .n = n, .measure = expr_const(exprs, 1), .out = out};
    for (uint32_t i = 0; i < n; i++)
        domain.ranges[i] = ranges[i];
    return domain;
}

static bool
scaled(Domain *domain, bool cube, Expr *parts, uint32_t n_parts)
{
    for (uint32_t i = 0; i < domain->n; i++)
        if (!scale_variable(domain, i, cube, parts, n_parts))
            return false;
    return true;
}

// Corners would make the rules inexact without a word.
static bool
is_smooth(Domain *domain, Expr e)
{
    U32Vec order = {0};
    Exprs *exprs = domain->exprs;
    bool smooth = true;
    expr_parts(exprs, e, &order);
    for (uint32_t i = 0; i < order.n && smooth; i++) {
        OpKind kind = (OpKind)op_table[expr_op(exprs, order.at[i])].kind;
        bool corner = kind == OPKIND_CHOICE || kind == OPKIND_COMPARE || kind == OPKIND_MODEL;
        smooth = !corner || !uses_domain(domain, order.at[i]);
    }
    vec_free(&order);
    return smooth || refuse(domain, "has corners or jumps in the domain: give each smooth part an inertia of its own", e);
}

bool
expr_lump(Exprs *exprs, Expr density, const Expr *places, uint32_t n_places, const LumpRange *ranges,
          uint32_t n_ranges, Lumps *out)
{
    U32Vec parts = {0}, again = {0};
    *out = (Lumps){0};
    Domain domain = domain_in_ranges(exprs, ranges, n_ranges, out);
    vec_append(&parts, places, n_places);
    vec_push(&parts, density);
    bool good = true;
    for (uint32_t i = 0; i < parts.n && good; i++) {
        parts.at[i] = expr_without_integrals(exprs, parts.at[i]);
        good = is_smooth(&domain, parts.at[i]);
    }
    vec_append(&again, parts.at, parts.n);
    bool modes = good && scaled(&domain, false, parts.at, parts.n) && lump_modes(&domain, parts.at, n_places);
    map_free(&domain.moments);
    vec_free(&domain.moment);
    if (good && !modes && !out->reason) {
        domain = domain_in_ranges(exprs, ranges, n_ranges, out);
        scaled(&domain, true, again.at, again.n);
        modes = lump_points(&domain, again.at, n_places);
    }
    vec_free(&parts);
    vec_free(&again);
    return modes;
}

void
lumps_free(Lumps *lumps)
{
    vec_free(&lumps->masses);
    vec_free(&lumps->places);
}
