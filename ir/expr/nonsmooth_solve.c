// nonsmooth_solve.c: solving equations with luz, tar and Sgn.
//
// Purpose: explicit single-valued solutions of massless nodes with clearance and friction, so that they
// leave no algebraic loop and no law behind.
// Method: every y = luz(x, a) and p in F*Sgn(x) that contains an unknown becomes a slot of its own. The
// equations are then affine: eliminating the unknowns leaves, per argument x, a scalar equation K_0*x + sum
// of m_i*luz(x, a_i) + m*F*Sgn(x) = q, whose left side is strictly monotone when all slopes K_j = K_0 + m_1
// + ... + m_j are positive; its inverse is x = Y/K_0 - sum of m_j/(K_j K_(j-1)) * luz(Y, f_j),   Y = luz(q,
// m*F), f_j = K_0*a_j + sum_(i<j) m_i*(a_j - a_i) (R-inverse and R-loop of docs/nonsmooth.md). Equations
// that share a force are added first, so that the force stands in one of them only.
// Contract: nonsmooth.h. Signs that cannot be proved from `signs` make it give up.
// Complexity: cubic in the number of unknowns and bands, which are at most 16 and 32.
#include <stdlib.h>
#include <string.h>

#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_inner.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth.h"
#include "ir/expr/nonsmooth_inner.h"

enum { UNKNOWN_LIMIT = 16, ATOM_LIMIT = 32 };

typedef struct Atom { // y = luz(x, a), or p in a*Sgn(x)
    Expr x, a;        // over unknowns and the slots of other atoms; after elimination without unknowns
    Expr written;     // x before elimination
    Expr value;       // what its slot equals; 0: not solved yet
    Expr slope;       // m of its own group
    bool band;
} Atom;

typedef struct Work {
    Exprs *exprs;
    const Signs *signs;
    uint32_t n, natoms, first_slot; // atom i has slot first_slot + i
    const uint32_t *unknowns;
    Expr equation[UNKNOWN_LIMIT];
    Expr solution[UNKNOWN_LIMIT];   // per unknown
    bool used[UNKNOWN_LIMIT];       // per equation
    Atom atoms[ATOM_LIMIT];
    Expr written_x, solved_x;       // an argument as written and its explicit value
} Work;

static bool
work_nonneg(const Work *work, Expr e)
{
    return nonsmooth_nonneg(work->exprs, e, work->signs);
}

static bool
has_unknown(const Work *work, Expr e)
{
    for (uint32_t i = 0; i < work->n; i++)
        if (expr_uses_slot(work->exprs, e, work->unknowns[i]))
            return true;
    return false;
}

static bool
has_atom(const Work *work, Expr e)
{
    return expr_nslots(work->exprs, e) > work->first_slot;
}

static bool
set_valued(const Work *work, Expr e)
{
    return expr_has_op(work->exprs, e, OP_SGN) || expr_has_op(work->exprs, e, OP_TAR);
}

// --- atoms

static Expr
luz_atom(Work *work, Expr luz)
{
    Expr x = expr_arg(work->exprs, luz, 0), a = expr_arg(work->exprs, luz, 1);
    if (!has_unknown(work, x) && !has_atom(work, x))
        return luz;
    for (uint32_t i = 0; i < work->natoms; i++)
        if (!work->atoms[i].band && work->atoms[i].x == x && work->atoms[i].a == a)
            return expr_slot(work->exprs, work->first_slot + i);
    if (work->natoms == ATOM_LIMIT || has_unknown(work, a) || has_atom(work, a))
        return luz; // stays, so that the equation is not affine
    work->atoms[work->natoms] = (Atom){.x = x, .a = a, .written = x};
    return expr_slot(work->exprs, work->first_slot + work->natoms++);
}

static Expr
replace_luz(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    if (expr_op(exprs, part) != OP_LUZ)
        return 0;
    Expr luz = expr_make(exprs, OP_LUZ, args, 2);
    return expr_op(exprs, luz) == OP_LUZ ? luz_atom(context, luz) : luz;
}

// Every luz with unknowns becomes its atom's slot, inner ones first.
static Expr
name_luz(Work *work, Expr e)
{
    return expr_has_op(work->exprs, e, OP_LUZ) ? expr_rewrite(work->exprs, e, replace_luz, work) : e;
}

// Bands first (their forms are found by nonsmooth_split), then luz in equations and in the bands' arguments.
static bool
name_atoms(Work *work)
{
    Exprs *exprs = work->exprs;
    U32Vec x = {0}, a = {0};
    const char *reason;
    bool ok = true;
    for (uint32_t i = 0; i < work->n && ok; i++) {
        Expr e = nonsmooth_normalise(exprs, expr_residual(exprs, work->equation[i]), work->signs);
        work->equation[i] = nonsmooth_split(exprs, e, work->first_slot, &x, &a, &reason);
        ok = work->equation[i] != 0 && x.n <= ATOM_LIMIT;
    }
    work->natoms = ok ? x.n : 0;
    for (uint32_t i = 0; i < work->natoms; i++)
        work->atoms[i] = (Atom){.x = x.at[i], .a = a.at[i], .written = x.at[i], .band = true};
    for (uint32_t i = 0; i < x.n && ok; i++) {
        ok = !has_unknown(work, a.at[i]) && has_unknown(work, x.at[i]) && work_nonneg(work, a.at[i]);
        work->atoms[i].x = name_luz(work, work->atoms[i].x);
    }
    for (uint32_t i = 0; i < work->n && ok; i++)
        work->equation[i] = name_luz(work, work->equation[i]);
    vec_free(&x);
    vec_free(&a);
    return ok;
}

// --- elimination of the unknowns

static uint32_t
term_count(const Exprs *exprs, Expr e)
{
    return expr_op(exprs, e) == OP_ADD ? expr_nargs(exprs, e) : 1;
}

// Equation j plus or minus equation i has fewer terms: a force that acts in both goes out of j.
static bool
shared_force(Work *work, uint32_t i, uint32_t j)
{
    Exprs *exprs = work->exprs;
    for (int minus = 0; minus < 2; minus++) {
        Expr other = minus ? expr_1(exprs, OP_NEG, work->equation[i]) : work->equation[i];
        Expr sum = expr_2(exprs, OP_ADD, work->equation[j], other);
        if (term_count(exprs, sum) >= term_count(exprs, work->equation[j]))
            continue;
        work->equation[j] = sum;
        return true;
    }
    return false;
}

static void
share_forces(Work *work)
{
    bool changed = true;
    while (changed) { // every change makes an equation shorter
        changed = false;
        for (uint32_t i = 0; i < work->n; i++)
            for (uint32_t j = 0; j < work->n; j++)
                changed |= i != j && shared_force(work, i, j);
    }
}

static void
substitute_unknown(Work *work, uint32_t u, Expr with)
{
    for (uint32_t i = 0; i < work->n; i++) {
        if (!work->used[i])
            work->equation[i] = expr_replace_slot(work->exprs, work->equation[i], work->unknowns[u], with);
        if (work->solution[i])
            work->solution[i] = expr_replace_slot(work->exprs, work->solution[i], work->unknowns[u], with);
    }
    for (uint32_t i = 0; i < work->natoms; i++)
        work->atoms[i].x = expr_replace_slot(work->exprs, work->atoms[i].x, work->unknowns[u], with);
    work->solution[u] = with;
}

// May the equation be divided by this? Only by what has one sign for all parameters allowed.
static bool
one_sign(const Work *work, Expr divisor)
{
    return !divisor || work_nonneg(work, divisor) || work_nonneg(work, expr_1(work->exprs, OP_NEG, divisor));
}

static bool
eliminate_from(Work *work, uint32_t i)
{
    for (uint32_t u = 0; u < work->n; u++) {
        Expr divisor, found = 0;
        if (!work->solution[u])
            found = expr_solve(work->exprs, work->equation[i], work->unknowns[u], &divisor);
        if (!found || !one_sign(work, divisor))
            continue;
        work->used[i] = true;
        substitute_unknown(work, u, found);
        return true;
    }
    return false;
}

// Smooth equations first: what they give keeps the arguments of the others simple, so that signs can be seen.
static bool
eliminate_one(Work *work)
{
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < work->n; i++)
            if (!work->used[i] && has_atom(work, work->equation[i]) == (pass == 1) && eliminate_from(work, i))
                return true;
    return false;
}

// --- tidying

// -e, with the sign inside of a sum whose terms have one: -(-1/k1 - 1/k2) = 1/k1 + 1/k2.
static Expr
opposite(Exprs *exprs, Expr e)
{
    if (expr_op(exprs, e) != OP_ADD)
        return expr_1(exprs, OP_NEG, e);
    U32Vec terms = {0};
    uint32_t n = expr_nargs(exprs, e);
    for (uint32_t i = 0; i < n; i++)
        vec_push(&terms, expr_1(exprs, OP_NEG, expr_arg(exprs, e, i)));
    Expr result = expr_make(exprs, OP_ADD, terms.at, terms.n);
    vec_free(&terms);
    return result;
}

// term/c where c is a factor of it, or 0.
static Expr
term_without(Exprs *exprs, Expr term, Expr c)
{
    Expr left;
    if (expr_op(exprs, term) == OP_NEG) {
        left = term_without(exprs, expr_arg(exprs, term, 0), c);
        return left ? opposite(exprs, left) : 0;
    }
    if (expr_op(exprs, term) != OP_DIV)
        return nonsmooth_without_factor(exprs, term, c);
    left = nonsmooth_without_factor(exprs, expr_arg(exprs, term, 0), c);
    return left ? expr_2(exprs, OP_DIV, left, expr_arg(exprs, term, 1)) : 0;
}

// sum/c term by term when that makes every term simpler: (1 + c/k)/c = 1/c + 1/k. 0 when it does not.
static Expr
sum_without(Exprs *exprs, Expr sum, Expr c)
{
    if (expr_op(exprs, sum) != OP_ADD)
        return 0;
    U32Vec terms = {0};
    bool all = true;
    for (uint32_t i = 0; i < expr_nargs(exprs, sum) && all; i++) {
        Expr term = expr_arg(exprs, sum, i), left;
        if (term == exprs->one) {
            left = expr_2(exprs, OP_DIV, exprs->one, c);
        } else {
            left = term_without(exprs, term, c);
        }
        all = left != 0;
        vec_push(&terms, left);
    }
    Expr result = all ? expr_make(exprs, OP_ADD, terms.at, terms.n) : 0;
    vec_free(&terms);
    return result;
}

// c*(n/(1 + c/k)) = n/(1/c + 1/k): stiffnesses in series as the books write them.
static Expr
tidy_product(Exprs *exprs, Expr a, Expr b)
{
    Expr c = expr_op(exprs, b) == OP_DIV ? a : b, quotient = c == a ? b : a;
    if (expr_op(exprs, quotient) == OP_DIV) {
        Expr sum = sum_without(exprs, expr_arg(exprs, quotient, 1), c);
        if (sum)
            return expr_2(exprs, OP_DIV, expr_arg(exprs, quotient, 0), sum);
    }
    return nonsmooth_times(exprs, a, b);
}

// c*n/(1 + c/k) = n/(1/c + 1/k), the factor above the fraction.
static Expr
tidy_quotient(Exprs *exprs, Expr above, Expr below)
{
    for (uint32_t i = 0; expr_op(exprs, above) == OP_MUL && i < expr_nargs(exprs, above); i++) {
        Expr c = expr_arg(exprs, above, i), sum = expr_op(exprs, c) == OP_CONST ? 0 : sum_without(exprs, below, c);
        if (sum)
            return expr_2(exprs, OP_DIV, nonsmooth_without_factor(exprs, above, c), sum);
    }
    return 0;
}

static Expr
tidy_part(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    (void)context;
    if (expr_op(exprs, part) == OP_DIV)
        return tidy_quotient(exprs, args[0], args[1]);
    if (expr_op(exprs, part) != OP_MUL)
        return 0;
    Expr product = args[0];
    for (uint32_t j = 1; j < expr_nargs(exprs, part); j++)
        product = tidy_product(exprs, product, args[j]);
    return product;
}

// Cancels what the elimination multiplied and divided by; these factors are not zero, or it would not have
// been done.
static Expr
tidy(Exprs *exprs, Expr e)
{
    return expr_rewrite(exprs, e, tidy_part, NULL);
}

// --- one argument with all its bands

typedef struct Group {
    uint32_t members[ATOM_LIMIT], n; // luz sorted by threshold; at most one band, last
    bool band;
    Expr k0, q; // k0*x + sum of slope_i*y_i = q
} Group;

static Expr
times(Exprs *exprs, Expr a, Expr b)
{
    return nonsmooth_times(exprs, a, b);
}

// Is a threshold not less than another one?
static bool
at_least(const Work *work, Expr a, Expr other)
{
    const Signs *signs = work->signs;
    Expr difference = expr_sub(work->exprs, a, other);
    return work_nonneg(work, difference) || (signs && signs->ordered && signs->ordered(difference, signs->context));
}

static bool
insert_sorted(Work *work, Group *group, uint32_t atom)
{
    uint32_t at = group->n, end = group->n - group->band;
    if (!work->atoms[atom].band) {
        for (at = end; at > 0; at--) {
            Expr a = work->atoms[atom].a, before = work->atoms[group->members[at - 1]].a;
            if (at_least(work, a, before))
                break;
            if (!at_least(work, before, a))
                return false;
        }
    } else if (group->band) {
        return false;
    }
    memmove(group->members + at + 1, group->members + at, (group->n - at) * sizeof *group->members);
    group->members[at] = atom;
    group->n++;
    group->band |= work->atoms[atom].band;
    return true;
}

// Takes a denominator that all slopes have to the other side: x + (n/d)*y = q/d becomes d*x + n*y = q.
static void
clear_denominator(Work *work, Group *group)
{
    Exprs *exprs = work->exprs;
    Expr common = 0;
    for (uint32_t i = 0; i < group->n; i++) {
        Expr slope = work->atoms[group->members[i]].slope;
        if (expr_op(exprs, slope) == OP_NEG)
            slope = expr_arg(exprs, slope, 0);
        if (expr_op(exprs, slope) != OP_DIV || (common && expr_arg(exprs, slope, 1) != common))
            return;
        common = expr_arg(exprs, slope, 1);
    }
    if (!common || !work_nonneg(work, common))
        return;
    for (uint32_t i = 0; i < group->n; i++) {
        Atom *atom = &work->atoms[group->members[i]];
        atom->slope = times(exprs, common, atom->slope);
    }
    group->k0 = common;
    group->q = times(exprs, common, group->q);
}

// Collects the unsolved atoms with the argument of `leader` and brings it to k0*x = q - sum of m_i*y_i.
static bool
make_group(Work *work, uint32_t leader, Group *group)
{
    Exprs *exprs = work->exprs;
    Expr x = work->atoms[leader].x;
    *group = (Group){.k0 = exprs->one, .q = x};
    for (uint32_t i = 0; i < work->natoms; i++) {
        if (work->atoms[i].value || work->atoms[i].x != x)
            continue;
        Expr coefficient;
        if (!insert_sorted(work, group, i)
            || !expr_affine(exprs, group->q, work->first_slot + i, &coefficient, &group->q))
            return false;
        work->atoms[i].slope = expr_1(exprs, OP_NEG, coefficient);
        if (has_atom(work, coefficient))
            return false;
    }
    clear_denominator(work, group);
    return !has_atom(work, group->q) && !set_valued(work, group->q);
}

// x of the group as an explicit expression; K receives the last slope. False when a slope may not be
// positive.
static bool
invert(Work *work, const Group *group, Expr *x, Expr *last_slope)
{
    Exprs *exprs = work->exprs;
    Expr slope = group->k0, f, result, base = group->q;
    uint32_t nluz = group->n - group->band;
    if (group->band) {
        const Atom *band = &work->atoms[group->members[nluz]];
        if (!work_nonneg(work, band->slope) || band->slope == exprs->zero)
            return false;
        base = expr_2(exprs, OP_LUZ, base, times(exprs, band->slope, band->a));
        base = nonsmooth_normalise(exprs, base, work->signs);
    }
    result = expr_2(exprs, OP_DIV, base, slope);
    for (uint32_t j = 0; j < nluz; j++) {
        const Atom *luz = &work->atoms[group->members[j]];
        Expr before = slope;
        f = times(exprs, group->k0, luz->a);
        for (uint32_t i = 0; i < j; i++) {
            const Atom *inner = &work->atoms[group->members[i]];
            f = expr_2(exprs, OP_ADD, f, times(exprs, inner->slope, expr_sub(exprs, luz->a, inner->a)));
        }
        slope = expr_2(exprs, OP_ADD, slope, luz->slope);
        if (!work_nonneg(work, slope) || slope == exprs->zero)
            return false;
        Expr factor = expr_2(exprs, OP_DIV, luz->slope, expr_2(exprs, OP_MUL, slope, before));
        result = expr_sub(exprs, result, times(exprs, factor, expr_2(exprs, OP_LUZ, base, f)));
    }
    *x = nonsmooth_normalise(exprs, result, work->signs);
    *last_slope = slope;
    return true;
}

// Values of the group's slots from its argument's value.
static void
set_values(Work *work, const Group *group, Expr x, Expr last_slope)
{
    Exprs *exprs = work->exprs;
    Expr left = expr_sub(exprs, group->q, times(exprs, group->k0, x)); // of q = k0*x + sum of m_i*y_i + m*p
    for (uint32_t j = 0; j < group->n; j++) {
        Atom *atom = &work->atoms[group->members[j]];
        if (atom->band)
            atom->value = expr_2(exprs, OP_DIV, left, atom->slope);
        else if (group->n == 1) // luz(x,a) = luz(q,k0*a)/K
            atom->value = expr_2(exprs, OP_DIV,
                                 expr_2(exprs, OP_LUZ, group->q, times(exprs, group->k0, atom->a)), last_slope);
        else
            atom->value = expr_2(exprs, OP_LUZ, x, atom->a);
        atom->value = nonsmooth_normalise(exprs, atom->value, work->signs);
        left = expr_sub(exprs, left, times(exprs, atom->slope, atom->value));
    }
}

static void
substitute_values(Work *work, const Group *group)
{
    for (uint32_t j = 0; j < group->n; j++) {
        uint32_t slot = work->first_slot + group->members[j];
        Expr value = work->atoms[group->members[j]].value;
        for (uint32_t i = 0; i < work->natoms; i++)
            work->atoms[i].x = expr_replace_slot(work->exprs, work->atoms[i].x, slot, value);
        for (uint32_t i = 0; i < work->n; i++)
            work->solution[i] = expr_replace_slot(work->exprs, work->solution[i], slot, value);
    }
}

static bool
solve_one_group(Work *work)
{
    for (uint32_t i = 0; i < work->natoms; i++) {
        Group group;
        Expr x, slope;
        if (work->atoms[i].value || !make_group(work, i, &group) || !invert(work, &group, &x, &slope))
            continue;
        work->written_x = work->atoms[i].written;
        work->solved_x = x;
        set_values(work, &group, x, slope);
        substitute_values(work, &group);
        return true;
    }
    return false;
}

// With one unknown, the argument's value gives it directly: fewer operations than through the equation.
static void
shorten(Work *work)
{
    Expr divisor;
    if (work->n != 1 || !work->written_x || has_atom(work, work->written_x)
        || !expr_uses_slot(work->exprs, work->written_x, work->unknowns[0]))
        return;
    Expr equation = expr_2(work->exprs, OP_EQN, work->written_x, work->solved_x);
    Expr found = expr_solve(work->exprs, equation, work->unknowns[0], &divisor);
    if (found && one_sign(work, divisor))
        work->solution[0] = found;
}

static void
start(Work *work, Exprs *exprs, const Expr *equations, uint32_t n, const uint32_t *unknowns, const Signs *signs)
{
    *work = (Work){.exprs = exprs, .signs = signs, .n = n, .unknowns = unknowns};
    for (uint32_t i = 0; i < n; i++) {
        uint32_t nslots = expr_nslots(exprs, equations[i]);
        work->equation[i] = equations[i];
        work->first_slot = nslots > work->first_slot ? nslots : work->first_slot;
        work->first_slot = unknowns[i] >= work->first_slot ? unknowns[i] + 1 : work->first_slot;
    }
}

bool
nonsmooth_eliminate(Exprs *exprs, const Expr *equations, uint32_t n, const uint32_t *unknown_slots, Expr *solution,
                    const Signs *signs)
{
    Work work;
    if (!n || n > UNKNOWN_LIMIT)
        return false;
    start(&work, exprs, equations, n, unknown_slots, signs);
    if (!name_atoms(&work))
        return false;
    share_forces(&work);
    for (uint32_t i = 0; i < n; i++)
        if (!eliminate_one(&work))
            return false;
    while (solve_one_group(&work))
        continue;
    shorten(&work);
    for (uint32_t i = 0; i < n; i++) {
        solution[i] = nonsmooth_normalise(exprs, tidy(exprs, work.solution[i]), signs);
        if (has_atom(&work, solution[i]) || has_unknown(&work, solution[i]))
            return false;
    }
    return true;
}

// --- one equation without a smooth part in the unknown:  sum of k_i*luz(w, a_i) = X

// k_1 ... k_n from the equation's affine form in the atoms' slots; X = what is left. False: not of this kind.
static bool
flat_equation(Work *work, Group *group)
{
    Exprs *exprs = work->exprs;
    Expr rest = work->equation[0], x = work->natoms ? work->atoms[0].x : 0;
    *group = (Group){0};
    for (uint32_t i = 0; i < work->natoms; i++) {
        Atom *atom = &work->atoms[i];
        if (atom->band || atom->x != x || !insert_sorted(work, group, i)
            || !expr_affine(exprs, rest, work->first_slot + i, &atom->slope, &rest))
            return false;
    }
    group->q = expr_1(exprs, OP_NEG, rest);
    bool known = group->n && !has_atom(work, rest) && !has_unknown(work, rest) && !set_valued(work, rest);
    if (known && work_nonneg(work, expr_1(exprs, OP_NEG, work->atoms[group->members[0]].slope))) {
        group->q = rest;
        for (uint32_t i = 0; i < group->n; i++)
            work->atoms[i].slope = expr_1(exprs, OP_NEG, work->atoms[i].slope);
    }
    return known;
}

// w in tar(X/K_1, a_1) - sum_(j>1) k_j/(K_j K_(j-1)) * luz(X, f_j)
static Expr
invert_flat(Work *work, const Group *group)
{
    Exprs *exprs = work->exprs;
    Expr slope = exprs->zero, result = 0;
    for (uint32_t j = 0; j < group->n; j++) {
        const Atom *luz = &work->atoms[group->members[j]];
        Expr before = slope, f = exprs->zero;
        slope = expr_2(exprs, OP_ADD, slope, luz->slope);
        if (!work_nonneg(work, slope) || slope == exprs->zero || has_atom(work, slope))
            return 0;
        if (!j) {
            result = expr_2(exprs, OP_TAR, expr_2(exprs, OP_DIV, group->q, slope), luz->a);
            continue;
        }
        for (uint32_t i = 0; i < j; i++) {
            const Atom *inner = &work->atoms[group->members[i]];
            f = expr_2(exprs, OP_ADD, f, times(exprs, inner->slope, expr_sub(exprs, luz->a, inner->a)));
        }
        Expr factor = expr_2(exprs, OP_DIV, luz->slope, expr_2(exprs, OP_MUL, slope, before));
        result = expr_sub(exprs, result, times(exprs, factor, expr_2(exprs, OP_LUZ, group->q, f)));
    }
    return result;
}

Expr
nonsmooth_solve(Exprs *exprs, Expr e, uint32_t u, const Signs *signs)
{
    Work work;
    Group group;
    Expr solution = 0, divisor;
    if (!expr_uses_slot(exprs, e, u))
        return 0;
    if (nonsmooth_eliminate(exprs, &e, 1, &u, &solution, signs))
        return solution;
    start(&work, exprs, &e, 1, &u, signs);
    if (!name_atoms(&work) || !flat_equation(&work, &group) || has_atom(&work, work.atoms[0].x))
        return 0;
    Expr w = invert_flat(&work, &group);
    if (!w)
        return 0;
    Expr found = expr_solve(exprs, expr_2(exprs, OP_EQN, work.atoms[0].x, w), u, &divisor);
    return found && one_sign(&work, divisor) ? found : 0;
}
