// standing_loop.c: a large block is solved with pivots, and where it is nonlinear with factors, that stand as long as residuals and corrections say
// that these are good.
//
// Purpose: the accelerations and forces of a mechanism, and the flows and pressures of a net, are solved for in every evaluation. Newton's iteration
// (newton.c) looks at such a block as at any other: two Jacobians, five evaluations, and factorisations that know nothing of those before.
// Method: the elimination is a list of products in an order that was found from values (standing.c). An affine block takes one Jacobian, a correction,
// and corrections by what the residuals then leave (iterative refinement: Skeel, Math. Comp. 35 (1980) 817), since the matrix is the same at
// every iterate. A nonlinear one takes simplified Newton corrections, at first with the factors of the solution before; they are renewed where the
// rate of contraction promises more than a few more (Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 2.1.2).
// There the next correction must be rounding: events are found where signs of what is solved for change, and the path to a solution must not be seen there.
// What is accepted is what newton_iterate() accepts: a correction by the residuals of the solution is below CONVERGED, and it has been applied unless it
// is rounding; the residuals are below INEXACT of their terms. Whatever else happens - pivots that have become small, corrections that do
// not shrink to a quarter, values that are not finite - the unknowns go back to where they were, and newton_iterate() solves the block.
// A pivot may vanish at an instant (of a crank at its dead centre, where an event is as well): orders are kept, and the next one with pivots there serves.
// Contract: used for blocks without choices, or that are too large to be asked for them, of models without set-valued laws, where no rank is looked at
// and none is deficient: no question is answered here that newton_iterate() would answer in another way. Each refusal costs COST
// solutions of credit, and the order, or DETOUR where corrections of a nonlinear block did not shrink; without credit it is over for the rest of the
// run. Affine blocks for which no order is found are left to newton_iterate() at once; for nonlinear ones KLU factors the matrix.
// Complexity: affine: two evaluations, mostly, one Jacobian, one factorisation, two solutions. Nonlinear: as many evaluations and solutions as
// corrections (two to four), mostly no Jacobian where the block changes little.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/standing.h"
#include "runtime/point/newton.h"

static const double CONVERGED = 1e-12;              // as in newton.c
static const double INEXACT = 1e-6;                 // as in newton.c
static const double CERTAINLY = 0.99;                // so much of a bound is below it, however both are rounded
static const double STAGNATED = 1e-10;              // two corrections below this of which the second is not much smaller are rounding
static const double NOTHING = 1e-10 * DBL_EPSILON;  // a correction below this part of max(|u|, nominal) is of something that is zero
static const double NEARBY = 0.1;                   // no longer correction is trusted to factors of another point
enum {
    SMALLEST = LU_DENSE_LIMIT + 1, LARGEST = 1 << 16,  // unknowns
    WARM = 16,      // solutions of a run before an order is looked for
    CREDIT = 256, COST = 64, ANOTHER = 16, DETOUR = 8,
    ORDERS = 8, SEVERAL = 4096, // that are kept, and of blocks up to how many unknowns
    REFINEMENTS = 5, ITERATIONS = 12
};

struct StandingLoop {
    Standing *order[ORDERS]; // that were found in different positions
    uint32_t orders, now, replaced;
    bool seek;        // none of them has pivots for the matrix at hand
    bool by_klu;      // no order was found for a nonlinear block
    bool factored;
    int credit;
    uint32_t solutions;
    uint32_t *large;  // per residual: its largest term is that of this entry of the matrix
    uint32_t *column; // and this unknown
    double *bound;    // per residual: it is small where it is below this part of that entry, whatever the unknown is
};

void
standing_loop_free(StandingLoop **slot)
{
    StandingLoop *loop = *slot;
    if (!loop)
        return;
    for (uint32_t k = 0; k < loop->orders; k++)
        standing_free(&loop->order[k]);
    free(loop->large);
    free(loop->bound);
    free(loop);
    *slot = NULL;
}

static uint32_t
most_orders(const Newton *newton)
{
    return newton->block->m <= SEVERAL ? ORDERS : 1;
}

// Puts it in the place of the oldest, where there is no room for another.
static void
add_order(StandingLoop *loop, Standing *standing, uint32_t most)
{
    loop->now = loop->orders < most ? loop->orders++ : loop->replaced++ % most;
    standing_free(&loop->order[loop->now]);
    loop->order[loop->now] = standing;
}

static void
note_size(mdl_stats *stats, const Standing *standing)
{
    if (standing_operations(standing) <= stats->standing_products)
        return;
    stats->standing_products = standing_operations(standing);
    stats->standing_entries = standing_places(standing);
}

static void
remove_order(StandingLoop *loop)
{
    standing_free(&loop->order[loop->now]);
    loop->order[loop->now] = loop->order[--loop->orders];
    loop->order[loop->orders] = NULL;
    loop->now = 0;
}

// The order at hand, or else the next one that has pivots for the matrix.
static bool
factor_by_any(StandingLoop *loop, const double *values)
{
    for (uint32_t k = 0; k < loop->orders; k++) {
        uint32_t at = (loop->now + k) % loop->orders;
        if (standing_factor(loop->order[at], values)) {
            loop->now = at;
            return true;
        }
    }
    loop->seek = true;
    return false;
}

static bool
is_open(const Run *run, const Newton *newton)
{
    const mdl_block *block = newton->block;
    bool choices = block->linear ? block->switched : newton->switched;
    return block->m >= SMALLEST && block->m <= LARGEST && !choices && !block->conditions && !run->model->n_sgns
           && !newton->review && !newton->deficient && !newton->locked && newton->lu;
}

static StandingLoop *
create(uint32_t m)
{
    StandingLoop *loop = calloc(1, sizeof *loop);
    uint32_t *large = calloc(2 * (size_t)m + 1, sizeof *large);
    double *bound = calloc((size_t)m + 1, sizeof *bound);
    if (!loop || !large || !bound) {
        free(loop);
        free(large);
        free(bound);
        return NULL;
    }
    *loop = (StandingLoop){.credit = CREDIT, .large = large, .column = large + m, .bound = bound};
    return loop;
}

static inline double
unit(const Run *run, const Newton *newton, uint32_t j)
{
    double size = fabs(run->v[newton->block->unknown[j]]), scale = newton->scale[j];
    return size > scale ? size : scale;
}

// Factors the matrix in v, for which an order is looked for first. False: this matrix is not for this file.
static bool
choose_order(const Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    const mdl_matrix *jac = &block->jac;
    StandingLoop *loop = newton->standing;
    Standing *standing = standing_create(block->m, jac->column_start, jac->row, run->v + jac->values);
    loop->seek = false;
    loop->by_klu = !standing && !block->linear;
    if (!standing && !loop->by_klu) {
        loop->credit = 0;
        return false;
    }
    if (standing) {
        add_order(loop, standing, most_orders(newton));
        note_size(run->stats, standing);
    }
    memset(newton->size, 0, block->m * sizeof *newton->size);
    for (uint32_t j = 0; j < block->m; j++)
        for (uint32_t e = jac->column_start[j]; e < jac->column_start[j + 1]; e++) {
            double term = fabs(run->v[jac->values + e]) * unit(run, newton, j);
            if (term > newton->size[jac->row[e]]) {
                newton->size[jac->row[e]] = term;
                loop->large[jac->row[e]] = e;
                loop->column[jac->row[e]] = j;
            }
        }
    for (uint32_t i = 0; i < block->m; i++)
        loop->bound[i] = CERTAINLY * INEXACT * newton->scale[loop->column[i]];
    if (loop->by_klu)
        lu_repeats(newton->lu);
    return standing || lu_factor(newton->lu, run->v + jac->values, false);
}

// The factors of the matrix at the unknowns in v.
static bool
renew(Run *run, Newton *newton)
{
    StandingLoop *loop = newton->standing;
    const double *values = run->v + newton->block->jac.values;
    mdl_call(newton->block->jacobian, run->v);
    if (loop->by_klu)
        loop->factored = lu_factor(newton->lu, values, false);
    else
        loop->factored = loop->orders && !loop->seek ? factor_by_any(loop, values) : choose_order(run, newton);
    return loop->factored;
}

// Newton's iteration may have left KLU without factors since.
static bool
has_factors(const Newton *newton)
{
    const StandingLoop *loop = newton->standing;
    return loop->factored && (!loop->by_klu || lu_is_factored(newton->lu));
}

// The largest term of each residual when the order was chosen mostly vouches for it; all terms are added up where that one has become small.
static bool
has_small_residuals(const Run *run, Newton *newton, const double *defect)
{
    const mdl_block *block = newton->block;
    const StandingLoop *loop = newton->standing;
    const double *value = run->v + block->jac.values;
    bool added = false;
    if (all_within(defect, loop->bound, value, loop->large, block->m))
        return true;
    for (uint32_t i = 0; i < block->m; i++) {
        double term = fabs(value[loop->large[i]]) * unit(run, newton, loop->column[i]);
        if (fabs(defect[i]) <= INEXACT * term)
            continue;
        if (!added)
            newton_measure_terms(run, newton);
        added = true;
        if (!(fabs(defect[i]) <= INEXACT * newton->size[i]))
            return false;
    }
    return true;
}

// The correction for the defect in `step`, which it takes the place of.
static void
find_correction(const Newton *newton)
{
    const StandingLoop *loop = newton->standing;
    if (loop->by_klu)
        lu_solve(newton->lu, newton->step);
    else
        standing_solve(loop->order[loop->now], newton->step);
}

// The same; its largest part of max(|u|, nominal) at the unknowns in v.
static double
correction(const Run *run, const Newton *newton)
{
    find_correction(newton);
    return rows_largest(newton->step, newton->scale, run->v, newton->rows);
}

// The second of two corrections that are rounding.
static bool
is_stagnant(double norm, double before)
{
    return norm > before / 4 && before <= STAGNATED && norm <= STAGNATED;
}

static bool
shrinks(double norm, double before)
{
    return isfinite(norm) && (norm <= before / 4 || norm <= CONVERGED || is_stagnant(norm, before));
}

// Applies the correction in `step`, which becomes the defect there.
static bool
apply(const Run *run, Newton *newton)
{
    rows_add(run->v, newton->step, newton->rows);
    return newton_defect(run, newton, newton->step);
}

// An affine block, from the defect at the unknowns in v, in `step`, with the factors of its matrix.
static bool
refine(Run *run, Newton *newton)
{
    find_correction(newton); // the first one is applied whatever it is
    double before = rows_correct(run->v, newton->step, newton->scale, newton->rows), rounded = newton_rounding(newton->block->m);
    if (!isfinite(before) || !newton_defect(run, newton, newton->step))
        return false;
    for (int k = 1; k < REFINEMENTS; k++) {
        memcpy(newton->trial, newton->step, newton->block->m * sizeof *newton->trial);
        double norm = correction(run, newton);
        if (!shrinks(norm, before))
            return false;
        bool stagnant = is_stagnant(norm, before);
        if (norm <= rounded || (stagnant && norm >= before))
            return has_small_residuals(run, newton, newton->trial);
        if (!apply(run, newton))
            return false;
        if (norm <= CONVERGED || stagnant)
            return has_small_residuals(run, newton, newton->step);
        before = norm;
    }
    return false;
}

// Flows through parts of a net in which nothing flows are rounding of zero, of another sign at every solution, and conditions on them would change
// as often. They stay what they are.
static void
leave_nothing(const Run *run, Newton *newton)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        if (fabs(newton->step[i]) <= NOTHING * unit(run, newton, i))
            newton->step[i] = 0;
}

// A nonlinear block, from the defect at the unknowns in v, in `step`, with the factors at hand. `longest` is how long the first correction may be.
static bool
converge(Run *run, Newton *newton, double longest)
{
    double before = INFINITY;
    for (int k = 0; k < ITERATIONS; k++) {
        double norm = correction(run, newton);
        if (!shrinks(norm, before) || (k == 0 && norm > longest))
            return false;
        memcpy(newton->trial, newton->step, newton->block->m * sizeof *newton->trial);
        leave_nothing(run, newton);
        if (!apply(run, newton))
            return false;
        double rate = norm / before; // 0 at first: what the factors are worth is not known yet
        if (k > 0 && ((norm <= CONVERGED && norm * rate <= DBL_EPSILON) || is_stagnant(norm, before)))
            return has_small_residuals(run, newton, newton->step) && newton_polish(run, newton);
        if (norm * rate * rate * rate > DBL_EPSILON && !renew(run, newton))
            return false;
        before = norm;
    }
    return false;
}

// Machine code for the order at hand, when it has been used often.
static void
translate(const Run *run, StandingLoop *loop)
{
    const mdl_translator *translator = run->options->translator;
    if (!translator || loop->by_klu || !loop->orders || standing_is_translated(loop->order[loop->now]))
        return;
    run->stats->standing_translated += standing_translate(loop->order[loop->now], translator);
}

static bool
solve(Run *run, Newton *newton)
{
    if (!newton_defect(run, newton, newton->step))
        return false;
    if (newton->block->linear)
        return renew(run, newton) && refine(run, newton);
    if (has_factors(newton)) {
        if (converge(run, newton, NEARBY))
            return true;
        newton_write(run, newton, newton->start);
        if (!newton_defect(run, newton, newton->step))
            return false;
    }
    return renew(run, newton) && converge(run, newton, INFINITY);
}

bool
standing_loop_solve(Run *run, Newton *newton)
{
    if (!is_open(run, newton))
        return false;
    if (!newton->standing && !(newton->standing = create(newton->block->m)))
        return false;
    StandingLoop *loop = newton->standing;
    if (loop->credit < 0 || loop->solutions++ < WARM)
        return false;
    newton->by_rank = newton->by_square = false;
    if (solve(run, newton)) {
        translate(run, loop);
        loop->credit += loop->credit < CREDIT;
        run->stats->newton_iterations++;
        run->stats->standing_solves++;
        newton->corrections = 1;
        return true;
    }
    bool curved = !newton->block->linear && loop->factored; // not the order: the way to the solution bends
    bool elsewhere = loop->seek && loop->orders < most_orders(newton);
    loop->credit -= curved ? DETOUR : elsewhere ? ANOTHER : COST;
    if (!curved) {
        if (loop->orders && loop->factored && !loop->by_klu)
            remove_order(loop);
        loop->by_klu = false;
        loop->seek = true;
    }
    loop->factored = false;
    run->stats->standing_refused++;
    newton_write(run, newton, newton->start);
    return false;
}

bool
standing_loop_factor(const Newton *newton, const double *values)
{
    const StandingLoop *loop = newton->standing;
    return loop && newton->block->linear && loop->orders && loop->credit > 0 && !loop->seek && standing_factor(loop->order[loop->now], values);
}

void
standing_loop_apply(const Newton *newton, double *b)
{
    standing_solve(newton->standing->order[newton->standing->now], b);
}
