// tear_series.c: springs and clearances in a row, of any number, in closed form.
//
// Purpose: a row of springs of which several have clearances carries one force, which is a single dead zone of what the row is
// stretched by. What stands between two open clearances is not determined; here each gap is used in proportion to its width.
// Method: a spring with clearance k*luz(x, a) = f says x = f/k + a*s with one s in Sgn(f) for all of the row, so that every law
// is affine in the positions, f and s. Positions follow from one law after the other; the one that is left over, with the
// multipliers of the others (the transposed elimination), says C*f + B*s = D. Then f = luz(D, B)/C and s = (D - C*f)/B. Laws without
// clearance come first, so that with one clearance no position needs s. The force may be a variable of the block, or what all its
// equations have on both sides. Source: Zardecki and Debowski, Appl. Math. Model. 94 (2021), (11), (12), (20) to (32).
// Contract: tear_series.h. Complexity: linear in the incidence of the block.
//
//     f = k1*luz(x - y, a),  f = k2*luz(y, b)    =>    f := luz(x, a + b)/(1/k1 + 1/k2),  y := f/k2 + b*(x - (1/k1 + 1/k2)*f)/(a + b)
#include "ir/solve/tear_series.h"

#include "ir/dae/guards.h"
#include "ir/expr/expr_calculus.h"
#include "ir/expr/expr_make.h"
#include "ir/expr/expr_node.h"
#include "ir/expr/expr_parts.h"
#include "ir/expr/expr_rewrite.h"
#include "ir/expr/nonsmooth.h"
#include "ir/expr/polynomial.h"

enum {
    FORCES_LIMIT = 4, // unknowns that may be the force
    INLINED_LIMIT = 3 // positions that repeat the sums of the whole row
};

typedef struct Term { // coefficient * unknown
    uint32_t local;
    Expr coefficient;
} Term;

typedef struct SpringLaw { // sum of its terms + rest + force*f + slack*s = 0
    uint32_t terms, n_terms; // range of Row.terms
    Expr rest, force, slack;
    Expr weight;             // in the sum of all laws; 0: it is not in it
    uint32_t open;           // terms whose unknown is not known yet
    uint32_t determines;     // term, or NONE
} SpringLaw;

typedef struct Row {
    Tearing *t;
    const Var *unknowns;
    Signs signs;
    uint32_t n, through;     // unknowns of the block; which of them is the force, or NONE
    uint32_t force_slot, luz_slot;
    VEC(SpringLaw) laws;
    VEC(Term) terms;
    U32Vec start, incident;  // per unknown: laws that have it (compressed rows)
    U32Vec smooth, jumps;    // laws with one open term: without and with a clearance
    U32Vec order;            // laws that determine an unknown
} Row;

static uint32_t
slot_of(const Row *row, uint32_t local)
{
    uint32_t slot = NONE;
    map_get(&row->t->union_slot, row->unknowns[local], &slot);
    return slot;
}

static Expr
zero_of(const Row *row)
{
    return expr_const(row->t->dae->exprs, 0);
}

static bool
has_position(const Row *row, Expr e)
{
    const Tearing *t = row->t;
    bool found = false;
    U32Vec slots = {0};
    expr_used_slots(t->dae->exprs, &e, 1, &slots);
    for (uint32_t i = 0; i < slots.n; i++)
        if (slots.at[i] < t->union_vars.n && slots.at[i] != row->force_slot)
            found |= local_unknown(t, t->union_vars.at[slots.at[i]]) != NONE;
    vec_free(&slots);
    return found;
}

static bool
is_free(const Row *row, Expr e)
{
    return !has_position(row, e) && !expr_uses_slot(row->t->dae->exprs, e, row->force_slot);
}

// The only luz that has unknowns; 0 when there is none. *several when there are more.
static Expr
find_luz(const Row *row, Expr e, bool *several)
{
    const Exprs *exprs = row->t->dae->exprs;
    Expr found = 0;
    U32Vec parts = {0};
    *several = false;
    if (expr_has_op(exprs, e, OP_LUZ))
        expr_parts(exprs, e, &parts);
    for (uint32_t i = 0; i < parts.n; i++) {
        if (expr_op(exprs, parts.at[i]) != OP_LUZ || is_free(row, parts.at[i]))
            continue;
        *several |= found != 0;
        found = parts.at[i];
    }
    vec_free(&parts);
    return found;
}

typedef struct Named {
    Expr luz;
    uint32_t slot;
} Named;

static Expr
name_luz(void *context, Exprs *exprs, Expr part, const Expr *args)
{
    const Named *named = context;
    (void)args;
    return part == named->luz ? expr_slot(exprs, named->slot) : 0;
}

// A clearance that is zero now may be; that it is not negative is asserted where it can be set later.
static bool
may_be_threshold(Row *row, Expr a)
{
    Tearing *t = row->t;
    double value;
    if (!is_free(row, a))
        return false;
    if (nonsmooth_nonneg(t->dae->exprs, a, &row->signs))
        return true;
    bool zero = dae_is_parametric(t->dae, a, t->union_vars.at) && dae_known_expr(t->dae, a, t->union_vars.at, &value) && value == 0;
    if (zero)
        vec_push(&t->signs.assumed, a);
    return zero;
}

// k*luz(w, a) + c*f = 0 becomes w - y - sign(y)*a*s = 0 with y = -c/k*f. False where it is not of this kind.
static bool
open_luz(Row *row, Expr luz, Expr *text, SpringLaw *law)
{
    Exprs *exprs = row->t->dae->exprs;
    Named named = {luz, row->luz_slot};
    Expr slope, rest, per_force;
    Expr w = expr_arg(exprs, luz, 0), a = expr_arg(exprs, luz, 1);
    if (expr_uses_slot(exprs, w, row->force_slot) || !may_be_threshold(row, a)
        || !expr_affine(exprs, expr_rewrite(exprs, *text, name_luz, &named), row->luz_slot, &slope, &rest)
        || !expr_affine(exprs, rest, row->force_slot, &per_force, &rest) || rest != expr_const(exprs, 0) || !is_free(row, slope)
        || !is_free(row, per_force) || per_force == expr_const(exprs, 0))
        return false;
    Expr compliance = expr_1(exprs, OP_NEG, expr_2(exprs, OP_DIV, per_force, slope));
    bool positive = nonsmooth_nonneg(exprs, compliance, &row->signs);
    if (!positive && !nonsmooth_nonneg(exprs, expr_1(exprs, OP_NEG, compliance), &row->signs))
        return false;
    law->force = expr_1(exprs, OP_NEG, compliance);
    law->slack = positive ? expr_1(exprs, OP_NEG, a) : a;
    *text = w;
    return true;
}

// Factors on both sides cancel: the force k*(z1 - z2) of a spring says z1 = f/k + z2, where z2 is known as where it is not.
static Expr
quotient(Exprs *exprs, Expr above, Expr below)
{
    if (expr_2(exprs, OP_ADD, above, below) == expr_const(exprs, 0))
        return expr_const(exprs, -1);
    return above == below ? expr_const(exprs, 1) : monomial_reduced(exprs, expr_2(exprs, OP_DIV, above, below));
}

// Divides a law by its first coefficient, so that forces stand over stiffnesses.
static bool
normalise(Row *row, SpringLaw *law)
{
    Exprs *exprs = row->t->dae->exprs;
    Term *terms = row->terms.at + law->terms;
    Expr by = terms[0].coefficient;
    if (expr_op(exprs, by) == OP_CONST ? expr_value(exprs, by) == 0 : !causal_divides(row->t->dae, by, row->t->union_vars.at))
        return false;
    for (uint32_t i = 0; i < law->n_terms; i++)
        terms[i].coefficient = quotient(exprs, terms[i].coefficient, by);
    Expr *parts[] = {&law->rest, &law->force, &law->slack};
    for (uint32_t i = 0; i < 3; i++)
        *parts[i] = *parts[i] == expr_const(exprs, 0) ? expr_const(exprs, 0) : quotient(exprs, *parts[i], by);
    return true;
}

// Reads text = 0 into a law.
static bool
add_law(Row *row, Expr text)
{
    Tearing *t = row->t;
    Exprs *exprs = t->dae->exprs;
    SpringLaw law = {.terms = row->terms.n, .force = expr_const(exprs, 0), .slack = expr_const(exprs, 0), .determines = NONE};
    bool several, ok = true;
    text = nonsmooth_normalise(exprs, text, &row->signs);
    Expr luz = find_luz(row, text, &several), per_force;
    if (several || (luz && !open_luz(row, luz, &text, &law)))
        return false;
    U32Vec slots = {0};
    expr_used_slots(exprs, &text, 1, &slots);
    for (uint32_t i = 0; i < slots.n && ok; i++) {
        uint32_t local = slots.at[i] < t->union_vars.n ? local_unknown(t, t->union_vars.at[slots.at[i]]) : NONE;
        if (local == NONE || slots.at[i] == row->force_slot)
            continue;
        Term term = {.local = local};
        ok = expr_affine(exprs, text, slots.at[i], &term.coefficient, &text) && is_free(row, term.coefficient);
        vec_push(&row->terms, term);
    }
    vec_free(&slots);
    ok = ok && expr_affine(exprs, text, row->force_slot, &per_force, &law.rest) && is_free(row, per_force);
    law.n_terms = law.open = row->terms.n - law.terms;
    if (!ok || !law.n_terms)
        return false;
    law.force = luz ? law.force : per_force;
    vec_push(&row->laws, law);
    return normalise(row, &row->laws.at[row->laws.n - 1]);
}

static void
find_incidence(Row *row)
{
    U32Vec fill = {0};
    vec_grow(&row->start, row->n + 1);
    for (uint32_t i = 0; i < row->terms.n; i++)
        row->start.at[row->terms.at[i].local + 1]++;
    for (uint32_t i = 0; i < row->n; i++)
        row->start.at[i + 1] += row->start.at[i];
    vec_append(&fill, row->start.at, row->n);
    vec_grow(&row->incident, row->terms.n);
    for (uint32_t i = 0; i < row->laws.n; i++)
        for (uint32_t k = 0; k < row->laws.at[i].n_terms; k++)
            row->incident.at[fill.at[row->terms.at[row->laws.at[i].terms + k].local]++] = i;
    vec_free(&fill);
}

static void
note_open(Row *row, uint32_t law)
{
    if (row->laws.at[law].open == 1)
        vec_push(row->laws.at[law].slack == zero_of(row) ? &row->smooth : &row->jumps, law);
}

// Every unknown but the force from a law of its own; the law that is left over, or NONE.
static uint32_t
follow(Row *row)
{
    U8Vec known = {0};
    vec_grow(&known, row->n);
    for (uint32_t i = 0; i < row->laws.n; i++)
        note_open(row, i);
    while (row->smooth.n || row->jumps.n) {
        U32Vec *from = row->smooth.n ? &row->smooth : &row->jumps;
        uint32_t at = from->at[--from->n];
        SpringLaw *law = &row->laws.at[at];
        if (law->open != 1)
            continue; // became the one that is left over
        uint32_t k = 0;
        while (known.at[row->terms.at[law->terms + k].local])
            k++;
        uint32_t local = row->terms.at[law->terms + k].local;
        law->determines = k;
        known.at[local] = 1;
        vec_push(&row->order, at);
        for (uint32_t i = row->start.at[local]; i < row->start.at[local + 1]; i++) {
            row->laws.at[row->incident.at[i]].open--;
            note_open(row, row->incident.at[i]);
        }
    }
    vec_free(&known);
    uint32_t left = NONE;
    for (uint32_t i = 0; i < row->laws.n; i++)
        if (row->laws.at[i].determines == NONE)
            left = left == NONE && !row->laws.at[i].open ? i : NONE;
    return row->order.n + 1 == row->laws.n ? left : NONE;
}

// Weights with which the sum of all laws has no position.
static void
weigh(Row *row, uint32_t left)
{
    Exprs *exprs = row->t->dae->exprs;
    U32Vec total = {0}; // per unknown: its coefficient in the sum so far
    vec_grow(&total, row->n);
    for (uint32_t i = 0; i < row->n; i++)
        total.at[i] = expr_const(exprs, 0);
    row->laws.at[left].weight = expr_const(exprs, 1);
    for (uint32_t i = row->order.n + 1; i-- > 0;) {
        SpringLaw *law = &row->laws.at[i < row->order.n ? row->order.at[i] : left];
        const Term *terms = row->terms.at + law->terms;
        if (i < row->order.n) {
            const Term *own = &terms[law->determines];
            Expr sum = total.at[own->local];
            law->weight = sum == expr_const(exprs, 0) ? 0 : expr_1(exprs, OP_NEG, quotient(exprs, sum, own->coefficient));
        }
        for (uint32_t k = 0; law->weight && k < law->n_terms; k++)
            if (k != law->determines)
                total.at[terms[k].local] = expr_2(exprs, OP_ADD, total.at[terms[k].local],
                                                  expr_2(exprs, OP_MUL, law->weight, terms[k].coefficient));
    }
    vec_free(&total);
}

// The sum over all laws of one of their parts, times `sign`.
static Expr
weighted(const Row *row, size_t part, double sign)
{
    Exprs *exprs = row->t->dae->exprs;
    U32Vec terms = {0};
    for (uint32_t i = 0; i < row->laws.n; i++) {
        const SpringLaw *law = &row->laws.at[i];
        const Expr parts[] = {law->rest, law->force, law->slack};
        if (law->weight && parts[part] != expr_const(exprs, 0))
            vec_push(&terms, expr_2(exprs, OP_MUL, expr_2(exprs, OP_MUL, expr_const(exprs, sign), law->weight), parts[part]));
    }
    vec_push(&terms, expr_const(exprs, 0));
    Expr sum = expr_make(exprs, OP_ADD, terms.at, terms.n);
    vec_free(&terms);
    return sum;
}

// What the row has opened: D - C*f. A law that was used before says it, too, when its gap is not zero: rows of any length stay short.
typedef struct Opened {
    Expr gap, open;       // s = open/gap
    const SpringLaw *reference; // where not NULL: its slack*s is known by its terms
    uint32_t uses;
} Opened;

static bool
known_positive(const Row *row, Expr e)
{
    Exprs *exprs = row->t->dae->exprs;
    return expr_op(exprs, e) == OP_CONST ? expr_value(exprs, e) > 0
                                         : !row->t->dae->settable && dae_known_positive(row->t->dae, e, row->t->union_vars.at);
}

// coefficient*f, as a force over a stiffness where it can be.
static Expr
of_force(Exprs *exprs, Expr coefficient, Expr f)
{
    if (expr_op(exprs, coefficient) == OP_NEG)
        return expr_1(exprs, OP_NEG, of_force(exprs, expr_arg(exprs, coefficient, 0), f));
    if (expr_op(exprs, coefficient) != OP_DIV)
        return expr_2(exprs, OP_MUL, coefficient, f);
    return expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, expr_arg(exprs, coefficient, 0), f), expr_arg(exprs, coefficient, 1));
}

// The law's terms but `except`, its rest and its part of the force.
static Expr
without_slack(const Row *row, const SpringLaw *law, uint32_t except, Expr through)
{
    Exprs *exprs = row->t->dae->exprs;
    const Term *terms = row->terms.at + law->terms;
    U32Vec sum = {0};
    for (uint32_t k = 0; k < law->n_terms; k++)
        if (k != except)
            vec_push(&sum, expr_2(exprs, OP_MUL, terms[k].coefficient, expr_slot(exprs, slot_of(row, terms[k].local))));
    vec_push(&sum, law->rest);
    vec_push(&sum, of_force(exprs, law->force, through));
    Expr result = expr_make(exprs, OP_ADD, sum.at, sum.n);
    vec_free(&sum);
    return result;
}

// slack*s of a law.
static Expr
used_slack(const Row *row, const SpringLaw *law, Opened *opened, Expr through)
{
    Exprs *exprs = row->t->dae->exprs;
    if (law->slack == expr_const(exprs, 0))
        return expr_const(exprs, 0);
    if (opened->reference) {
        Expr ratio = quotient(exprs, law->slack, opened->reference->slack);
        return expr_1(exprs, OP_NEG, expr_2(exprs, OP_MUL, ratio, without_slack(row, opened->reference, NONE, through)));
    }
    Expr positive = expr_op(exprs, law->slack) == OP_NEG ? expr_arg(exprs, law->slack, 0) : law->slack;
    if (++opened->uses == INLINED_LIMIT && known_positive(row, positive))
        opened->reference = law;
    Expr used = expr_2(exprs, OP_DIV, expr_2(exprs, OP_MUL, law->slack, opened->open), opened->gap);
    if (known_positive(row, opened->gap))
        return used;
    Expr some = expr_1(exprs, OP_NOEVENT, expr_2(exprs, OP_GT, opened->gap, expr_const(exprs, 0)));
    return expr_3(exprs, OP_IF, some, used, expr_const(exprs, 0));
}

static void
write_out(Row *row, Causal *causal, const uint32_t *equations, Expr force, Opened *opened)
{
    Tearing *t = row->t;
    Exprs *exprs = t->dae->exprs;
    uint32_t at = 0;
    if (row->through != NONE)
        tearing_add(causal, causal_assign(t->dae, row->unknowns[row->through], force, t->union_vars.at, equations[at++]));
    Expr through = row->through != NONE ? expr_slot(exprs, row->force_slot) : force;
    for (uint32_t i = 0; i < row->order.n; i++) {
        const SpringLaw *law = &row->laws.at[row->order.at[i]];
        const Term *own = &row->terms.at[law->terms + law->determines];
        Expr rest = without_slack(row, law, law->determines, through);
        Expr sum = expr_2(exprs, OP_ADD, rest, used_slack(row, law, opened, through));
        Expr value = quotient(exprs, expr_1(exprs, OP_NEG, sum), own->coefficient);
        tearing_add(causal, causal_assign(t->dae, row->unknowns[own->local], value, t->union_vars.at, equations[at++]));
    }
}

// Positions that lie between clearances may be looked at, but must not move anything.
static bool
moves_something(const Row *row)
{
    bool floats = false, moves = false;
    for (uint32_t i = 0; i < row->order.n; i++) {
        const SpringLaw *law = &row->laws.at[row->order.at[i]];
        floats |= law->slack != zero_of(row);
        moves |= floats && tearing_moves(row->t, row->unknowns[row->terms.at[law->terms + law->determines].local]);
    }
    return moves;
}

static bool
finish(Row *row, Causal *causal, const uint32_t *equations)
{
    Exprs *exprs = row->t->dae->exprs;
    find_incidence(row);
    uint32_t left = follow(row);
    if (left == NONE || moves_something(row))
        return false;
    weigh(row, left);
    Expr compliance = weighted(row, 1, 1);
    double sign = nonsmooth_nonneg(exprs, compliance, &row->signs) ? 1 : -1;
    compliance = sign > 0 ? compliance : weighted(row, 1, -1);
    Opened opened = {.gap = weighted(row, 2, sign)};
    Expr stretch = weighted(row, 0, -sign);
    if (compliance == expr_const(exprs, 0) || opened.gap == expr_const(exprs, 0) || !nonsmooth_nonneg(exprs, compliance, &row->signs)
        || !nonsmooth_nonneg(exprs, opened.gap, &row->signs))
        return false;
    Expr beyond = expr_2(exprs, OP_LUZ, stretch, opened.gap), force = expr_2(exprs, OP_DIV, beyond, compliance);
    if (row->through != NONE)
        beyond = expr_2(exprs, OP_MUL, compliance, expr_slot(exprs, row->force_slot));
    opened.open = expr_sub(exprs, stretch, beyond);
    write_out(row, causal, equations, nonsmooth_normalise(exprs, force, &row->signs), &opened);
    return true;
}

// --- which force

// The force is an unknown: each equation is a law of its own.
static bool
by_unknown(Row *row, uint32_t through)
{
    Tearing *t = row->t;
    Exprs *exprs = t->dae->exprs;
    row->through = through;
    row->force_slot = slot_of(row, through);
    bool ok = true;
    for (uint32_t i = 0; i < row->n && ok; i++)
        ok = add_law(row, expr_residual(exprs, tearing_text(t, &t->equations.at[i])));
    return ok;
}

static Expr
unsigned_term(Exprs *exprs, Expr term)
{
    return expr_op(exprs, term) == OP_NEG ? expr_arg(exprs, term, 0) : term;
}

// The force has no name: every equation says that two terms are equal, and all of them are.
static bool
by_terms(Row *row)
{
    Tearing *t = row->t;
    Exprs *exprs = t->dae->exprs;
    Map sign_of = {0}; // term -> 1 + whether it is the force or its opposite
    U32Vec terms = {0}, open = {0};
    bool ok = true;
    row->through = NONE;
    row->force_slot = row->luz_slot + 1;
    for (uint32_t i = 0; i < row->n && ok; i++) {
        Expr text = nonsmooth_normalise(exprs, expr_residual(exprs, tearing_text(t, &t->equations.at[i])), &row->signs);
        ok = expr_op(exprs, text) == OP_ADD && expr_nargs(exprs, text) == 2;
        for (uint32_t k = 0; k < 2 && ok; k++)
            vec_push(&open, expr_arg(exprs, text, k));
    }
    bool progress = ok;
    if (ok) {
        Expr first = unsigned_term(exprs, open.at[0]);
        map_put(&sign_of, first, 1);
        vec_push(&terms, first);
    }
    U8Vec used = {0};
    vec_grow(&used, row->n);
    while (progress) {
        progress = false;
        for (uint32_t i = 0; i < row->n; i++) {
            uint32_t sign[2] = {0, 0};
            Expr a[2] = {unsigned_term(exprs, open.at[2 * i]), unsigned_term(exprs, open.at[2 * i + 1])};
            for (uint32_t k = 0; k < 2; k++)
                if (!map_get(&sign_of, a[k], &sign[k]))
                    sign[k] = 0;
            if (used.at[i] || !sign[0] == !sign[1])
                continue;
            // p + q = 0 and p = +-f: the sign of q is the opposite of that of p as they stand in the equation
            uint32_t known = sign[0] ? 0 : 1;
            bool opposite = (expr_op(exprs, open.at[2 * i]) == OP_NEG) == (expr_op(exprs, open.at[2 * i + 1]) == OP_NEG);
            map_put(&sign_of, a[1 - known], 1 + ((sign[known] - 1) ^ opposite));
            vec_push(&terms, a[1 - known]);
            used.at[i] = 1;
            progress = true;
        }
    }
    ok = ok && terms.n == row->n + 1;
    for (uint32_t i = 0; i < terms.n && ok; i++) {
        uint32_t sign = 1;
        map_get(&sign_of, terms.at[i], &sign);
        Expr force = expr_slot(exprs, row->force_slot);
        ok = add_law(row, sign == 1 ? expr_sub(exprs, terms.at[i], force) : expr_2(exprs, OP_ADD, terms.at[i], force));
    }
    vec_free(&used);
    vec_free(&terms);
    vec_free(&open);
    map_free(&sign_of);
    return ok;
}

static void
row_clear(Row *row)
{
    vec_free(&row->laws);
    vec_free(&row->terms);
    vec_free(&row->start);
    vec_free(&row->incident);
    vec_free(&row->smooth);
    vec_free(&row->jumps);
    vec_free(&row->order);
}

bool
tearing_series(Tearing *t, Causal *causal, const uint32_t *equations, const Var *unknowns, uint32_t n)
{
    uint32_t most = 0;
    for (uint32_t i = 0; i < n; i++)
        most = degree(t, i) > most ? degree(t, i) : most;
    uint32_t tried = 0;
    // The common force occurs in the law of every spring, more often than any position; last, a force without a name.
    for (uint32_t i = 0; i <= n; i++) {
        if (i < n && (degree(t, i) < most || n < 2 || tried == FORCES_LIMIT))
            continue;
        tried++;
        tearing_texts_begin(t, n);
        for (uint32_t k = 0; k < n; k++)
            tearing_text(t, &t->equations.at[k]); // numbers all slots
        Row row = {.t = t, .unknowns = unknowns, .signs = row_signs(&t->signs), .n = n, .luz_slot = t->union_vars.n};
        bool done = (i < n ? by_unknown(&row, i) : by_terms(&row)) && finish(&row, causal, equations);
        row_clear(&row);
        if (done)
            return true;
    }
    return false;
}
