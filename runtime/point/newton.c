// newton.c: one algebraic block solved by damped Newton; path.c has what is tried at a hard start.
//
// Purpose: initialisation, consistent values at events, rows and root functions, causal form.
// Method: affine-invariant damping with the natural monotonicity test (Deuflhard, Newton Methods for
//         Nonlinear Problems, 2004, algorithm NLEQ-ERR): the simplified correction at the trial point, not the
//         residual, must shrink, so the scaling of equations does not matter. Corrections are measured
//         relative to max(|u|, nominal). What has converged is accepted when the residuals are small, too,
//         compared with the terms that changes of the unknowns make in them.
//         At a start a solution that is far from the start values is looked for again with short corrections.
//         Blocks with constraints may have equations that follow from others: there corrections are the shortest
//         least-squares ones (Gauss-Newton), and the residuals decide whether the equations contradict each other. What an affine block
//         leaves open then is chosen in newton_shortest.c.
// Contract: on success inner variables and residuals in v belong to the solution; on failure the unknowns
//           are those of the last iterate and newton_report() explains.
// Complexity: one Jacobian and one factorisation per iteration.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"

enum { ITERATIONS = 60, BESIDE = 3 };

static const double CONVERGED = 1e-12;  // relative size of the last correction that is applied
static const double STAGNATED = 1e-8;   // rounding may keep corrections above CONVERGED, never above this
static const double UNEQUAL = 1e-5;     // the same of affine blocks whose residuals are rounding: conditions of some 1e10
static const double NOISY = 1e-4;      // the same of others whose residuals were seen to be noise: derivatives of voltages on picofarads
static const double WRONG = 1e-6;       // corrections above this part of an unknown leave it with few right digits
static const double SHRINKS = 0.9;
static const double NEAR = 0.5;         // length of a correction that leads to the nearest solution, and
static const double FAR_OFF = 1e30;     // units of an unknown
static const double FAR = 10;           // distance of a solution from which on a nearer one is looked for
static const double LEAP = 0.1;         // change of a correction over a step of almost no length
static const double SMALLEST_DAMPING = 1e-6;

static const double SUSPICIOUS = 1e-7;  // pivots of an elimination below this part of the largest: the rank is looked at
static const double INEXACT = 1e-6;     // residuals above this part of their terms are not solved

// The unit of unknown i.
static double
newton_scale(const mdl_block *block, uint32_t i)
{
    double nominal = block->nominal ? fabs(block->nominal[i]) : 1;
    return nominal > 0 ? nominal : 1;
}

Newton *
newton_create(const mdl_block *block)
{
    Newton *newton = calloc(1, sizeof *newton);
    size_t m = block->m;
    if (!newton)
        return NULL;
    newton->block = block;
    newton->base = calloc(7 * m + 1, sizeof *newton->base);
    newton->lu = lu_create(block->m, block->jac.column_start, block->jac.row);
    newton->rows.row = calloc(m + 1, sizeof *newton->rows.row);
    if (!newton->base || !newton->rows.row) {
        newton_free(&newton);
        return NULL;
    }
    place_rows(&newton->rows, block->unknown, block->residual, block->m);
    newton->step = newton->base + m;
    newton->trial = newton->step + m;
    newton->target = newton->trial + m;
    newton->start = newton->target + m;
    newton->scale = newton->start + m;
    newton->size = newton->scale + m;
    for (uint32_t i = 0; i < block->m; i++)
        newton->scale[i] = newton_scale(block, i);
    newton->review = (block->constraints || block->conditions) && block->m <= RANK_LIMIT;
    newton->switched = block->switched && !block->conditions && block->m <= RANK_LIMIT;
    return newton;
}

void
newton_free(Newton **slot)
{
    Newton *newton = *slot;
    if (!newton)
        return;
    lu_free(&newton->lu);
    rank_free(&newton->rank);
    square_free(&newton->square);
    standing_loop_free(&newton->standing);
    free(newton->base);
    free(newton->rows.row);
    free(newton->weight);
    free(newton);
    *slot = NULL;
}

void
newton_snapshot(Newton *newton, Snapshot *snapshot)
{
    snapshot_part(snapshot, &newton->trouble, sizeof newton->trouble);
    snapshot_part(snapshot, &newton->review, sizeof newton->review);
    snapshot_part(snapshot, &newton->deficient, sizeof newton->deficient);
    snapshot_part(snapshot, &newton->switched, sizeof newton->switched);
    snapshot_part(snapshot, &newton->told, sizeof newton->told);
    snapshot_part(snapshot, &newton->determined, sizeof newton->determined);
    snapshot_part(snapshot, &newton->noisy, sizeof newton->noisy);
    snapshot_part(snapshot, &newton->locked, sizeof newton->locked);
    snapshot_part(snapshot, &newton->reviewed, sizeof newton->reviewed);
}

void
newton_settle(Newton *newton)
{
    if (newton->lu)
        lu_forget(newton->lu);
    square_free(&newton->square);
    standing_loop_free(&newton->standing);
    rank_free(&newton->rank);
    newton->by_rank = newton->by_square = false;
}

// Evaluates the block and puts target - residual into `out`. False when something is not finite.
bool
newton_defect(const Run *run, const Newton *newton, double *out)
{
    const mdl_block *block = newton->block;
    failure_clear(run);
    mdl_call(block->eval, run->v);
    return rows_defect(out, newton->target, run->v, newton->rows) && !failure_happened(run);
}

// The largest part of a correction relative to max(|u|, nominal).
static double
newton_size(const Newton *newton, const double *correction)
{
    double most = 0;
    for (uint32_t i = 0; i < newton->block->m; i++) {
        double base = fabs(newton->base[i]), unit = base > newton->scale[i] ? base : newton->scale[i];
        if (!(fabs(correction[i]) <= most * unit))
            most = fabs(correction[i]) / unit;
    }
    return most;
}

void
newton_read(const Run *run, const Newton *newton, double *to)
{
    rows_read(to, run->v, newton->rows);
}

static void
move(const Run *run, const Newton *newton, double damping)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        run->v[newton->block->unknown[i]] = newton->base[i] + damping * newton->step[i];
}

bool
newton_fulfilled(const Run *run, Newton *newton, double tolerance)
{
    const mdl_block *block = newton->block;
    mdl_call(block->eval, run->v);
    mdl_call(block->jacobian, run->v);
    newton_measure_terms(run, newton);
    for (uint32_t i = 0; i < block->m; i++)
        if (!(fabs(run->v[block->residual[i]]) <= tolerance * newton->size[i]))
            return false;
    return true;
}

static double *
fill_rank_matrix(const Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    size_t m = block->m;
    if (!newton->rank)
        newton->rank = rank_create(block->m, block->m);
    if (!newton->rank)
        return NULL;
    double *matrix = rank_matrix(newton->rank);
    memset(matrix, 0, m * m * sizeof *matrix);
    for (size_t j = 0; j < m; j++)
        for (uint32_t k = block->jac.column_start[j]; k < block->jac.column_start[j + 1]; k++)
            matrix[j * m + block->jac.row[k]] = run->v[block->jac.values + k];
    return matrix;
}

bool
newton_rank(const Run *run, Newton *newton, double tolerance, uint32_t most)
{
    return fill_rank_matrix(run, newton) && rank_factor(newton->rank, newton->scale, tolerance, most);
}

bool
newton_review_rank(const Run *run, Newton *newton, uint32_t *rank)
{
    uint32_t m = *rank = newton->block->m;
    // The elimination costs next to nothing beside the decomposition of all of the matrix.
    if (newton->lu && lu_factor(newton->lu, run->v + newton->block->jac.values, true) && lu_pivot_ratio(newton->lu) >= SUSPICIOUS)
        return true;
    if (!newton_rank(run, newton, RANK_DEPENDENT, m))
        return false;
    *rank = rank_value(newton->rank);
    if (*rank == m)
        return true;
    double unit[m + 1];
    fill_rank_matrix(run, newton);
    if (!rank_balance(newton->rank, unit))
        return false;
    if (rank_factor(newton->rank, unit, RANK_DEPENDENT, m) && rank_value(newton->rank) == m) {
        *rank = m;
        return true;
    }
    return newton_rank(run, newton, RANK_DEPENDENT, m);
}

// What the unknowns contribute to each residual, from the partial derivatives at the iterate.
void
newton_measure_terms(const Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    memset(newton->size, 0, block->m * sizeof *newton->size);
    for (uint32_t j = 0; j < block->m; j++) {
        double value = fabs(run->v[block->unknown[j]]), unknown = value > newton->scale[j] ? value : newton->scale[j];
        for (uint32_t k = block->jac.column_start[j]; k < block->jac.column_start[j + 1]; k++)
            newton->size[block->jac.row[k]] += fabs(run->v[block->jac.values + k]) * unknown;
    }
}

static void
apply_inverse(Newton *newton, double *b)
{
    if (newton->by_square)
        square_solve(newton->square, b, b);
    else if (newton->by_rank)
        rank_solve(newton->rank, b, b);
    else
        lu_solve(newton->lu, b);
}

// A block whose rank is known to be deficient for good. Of an affine one any solution will do, because newton_shorten() finds the
// shortest: the regular part is enough while its choice is a good one.
static void
factor_deficient(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    newton->by_square = newton->square && square_factor(newton->square, run->v);
    if (newton->by_square)
        return;
    square_free(&newton->square);
    newton->by_rank = newton_rank(run, newton, 0, block->m - newton->deficient);
    if (newton->by_rank && block->linear)
        newton->square = square_create(block, run->v, newton->rank);
}

// In units that bring its entries close to each other the matrix is regular.
static bool
only_units_differ(const Run *run, Newton *newton)
{
    uint32_t m = newton->block->m;
    double *unit = malloc((m + 1) * sizeof *unit);
    bool regular = unit && fill_rank_matrix(run, newton) && rank_balance(newton->rank, unit) && rank_factor(newton->rank, unit, VANISHED, m)
                   && rank_value(newton->rank) == m;
    free(unit);
    return regular;
}

// Frictions in a row that all hold determine what moves more than once, and their forces not at all; clearances in a row that are
// all open do not say where what is between them stands: under these conditions equations of the block follow from others.
// Whether they agree is seen by the residuals. What is left open stays where it was (the shortest correction), unless the block
// is affine: see newton_shorten().
static void
factor_locked(Run *run, Newton *newton, bool factored)
{
    uint32_t m = newton->block->m;
    newton->by_rank = newton_rank(run, newton, VANISHED, m) && rank_value(newton->rank) < m;
    if (newton->by_rank && factored && only_units_differ(run, newton))
        newton->by_rank = false;
    else if (newton->by_rank && factored)
        newton->by_rank = newton_rank(run, newton, VANISHED, m);
    newton->locked = newton->by_rank ? m - rank_value(newton->rank) : 0;
}

// Factors the Jacobian in v by elimination. False where that finds it singular; then only the rank can say more.
static bool
factor_square(Run *run, Newton *newton)
{
    return newton->lu && lu_factor(newton->lu, run->v + newton->block->jac.values, newton->review || newton->switched);
}

static bool
looks_locked(const Newton *newton, bool factored)
{
    return newton->switched && !newton->deficient && (!factored || lu_pivot_ratio(newton->lu) < VANISHED);
}

// No correction is needed; whether the solution is the only one is still to be known (clearances that are open leave out where
// what is between them stands).
void
newton_review_locked(Run *run, Newton *newton)
{
    newton->locked = 0;
    newton->by_rank = newton->by_square = false;
    if (!newton->switched || newton->deficient)
        return;
    mdl_call(newton->block->jacobian, run->v);
    bool factored = factor_square(run, newton);
    if (looks_locked(newton, factored))
        factor_locked(run, newton, factored);
}

// Newton correction at the current point, whose defect is in `step`.
static bool
correction(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    uint32_t rank;
    mdl_call(block->jacobian, run->v);
    newton_measure_terms(run, newton);
    newton->by_rank = newton->by_square = false;
    newton->locked = 0;
    if (newton->deficient)
        factor_deficient(run, newton);
    if (newton->by_square) {
        apply_inverse(newton, newton->step);
        return true;
    }
    bool factored = !newton->by_rank && factor_square(run, newton);
    if (newton->review && (!factored || lu_pivot_ratio(newton->lu) < SUSPICIOUS))
        newton->by_rank = newton_review_rank(run, newton, &rank) && rank < block->m;
    else if (looks_locked(newton, factored))
        factor_locked(run, newton, factored);
    if (!newton->by_rank && !factored)
        return newton_fail(newton, newton->lu && lu_starved(newton->lu) ? STARVED : SINGULAR);
    newton->determined |= !newton->by_rank;
    apply_inverse(newton, newton->step);
    return true;
}

// After the shortest step that is tried the simplified correction is still the one before, but for an equation that jumps in between.
static bool
jumps(const Newton *newton, double norm)
{
    double most = 0;
    for (uint32_t i = 0; i < newton->block->m; i++)
        most = fmax(most, fabs(newton->trial[i] - newton->step[i]) / fmax(fabs(newton->base[i]), newton->scale[i]));
    return most > LEAP * norm;
}

// What a number that stands for infinity makes of a term says nothing of the others (rank.c).
static double
quantity(double size)
{
    const double endless = 1e50;
    return size < endless ? size : 0;
}

// The largest variable that is computed within the block: a residual that does not depend on the unknowns after all is the
// difference of such (positions round a loop that a free body carries along).
static double
inner_size(const Run *run, const Newton *newton)
{
    double size = 0;
    for (uint32_t k = 0; k < newton->block->n_inner; k++)
        size = fmax(size, quantity(fmax(fabs(run->v[newton->block->inner[k]]), newton->block->inner_nominal[k])));
    return size;
}

static bool
has_small_residuals(const Run *run, const Newton *newton, double part, double rounding)
{
    const mdl_block *block = newton->block;
    for (uint32_t i = 0; i < block->m; i++) {
        double residual = fabs(newton->target[i] - run->v[block->residual[i]]);
        if (!(residual <= part * newton->size[i] + rounding))
            return false;
    }
    return true;
}

// Adds to newton->size what known quantities make in each residual: how it answers when each of them changes by a small part of
// itself, up or down. A row that follows from others is a sum of such terms that cancel (the accelerations round a closed
// cardan are sums of products of velocities, whatever the unknowns are). v is as before.
static void
measure_known(const Run *run, Newton *newton)
{
    enum { SAMPLES = 4 };
    const double part = ldexp(1, -26);
    const mdl_block *block = newton->block;
    double *kept = malloc(((size_t)block->n_known + 1) * sizeof *kept);
    uint32_t random = 1;
    double most[block->m + 1], before[block->m + 1];
    memset(most, 0, sizeof most);
    for (uint32_t i = 0; i < block->m; i++)
        before[i] = run->v[block->residual[i]];
    for (uint32_t k = 0; kept && k < block->n_known; k++)
        kept[k] = run->v[block->known[k]];
    for (int sample = 0; kept && sample < SAMPLES; sample++) {
        for (uint32_t k = 0; k < block->n_known; k++) {
            random = random * 1664525 + 1013904223;
            run->v[block->known[k]] = kept[k] * (random >> 31 ? 1 - part : 1 + part);
        }
        mdl_call(block->eval, run->v);
        for (uint32_t i = 0; i < block->m; i++) {
            double change = fabs(run->v[block->residual[i]] - before[i]) / part;
            most[i] = isfinite(change) ? fmax(most[i], change) : most[i];
        }
    }
    for (uint32_t k = 0; kept && k < block->n_known; k++)
        run->v[block->known[k]] = kept[k];
    mdl_call(block->eval, run->v);
    for (uint32_t i = 0; i < block->m; i++)
        newton->size[i] += most[i];
    free(kept);
}

// Of each residual at -2 to 2 times `length` steps from the base: by how much it differs from the straight line that it is on without rounding and curvature,
// and by how much from its value at the base.
static void
measure_bends(const Run *run, Newton *newton, double length, const double *first, double *bend, double *change)
{
    const mdl_block *block = newton->block;
    memset(bend, 0, block->m * sizeof *bend);
    memset(change, 0, block->m * sizeof *change);
    for (int sample = -2; sample <= 2; sample++) {
        move(run, newton, sample * length);
        mdl_call(block->eval, run->v);
        for (uint32_t i = 0; i < block->m; i++) {
            double here = newton->target[i] - run->v[block->residual[i]];
            bend[i] = fmax(bend[i], fabs(here - (1 - sample * length) * first[i]));
            change[i] = fmax(change[i], fabs(here - first[i]));
        }
    }
}

// The residuals behind the full step are what rounding makes of them: what they differ by from straight lines along the step does not grow with the distance.
// At a kink it does, and where they are curved as its square. Where the step is below the resolution of their terms they do not change at all near it. v is as before.
static bool
is_noise(const Run *run, Newton *newton)
{
    const double far = 32, growth = 8, growth_of_flat = 100;
    const mdl_block *block = newton->block;
    double first[block->m + 1], near_bend[block->m + 1], far_bend[block->m + 1], change[block->m + 1], any[block->m + 1];
    bool noise = true;
    move(run, newton, 0);
    mdl_call(block->eval, run->v);
    for (uint32_t i = 0; i < block->m; i++)
        first[i] = newton->target[i] - run->v[block->residual[i]];
    measure_bends(run, newton, 1, first, near_bend, change); // the full step is one of these
    measure_bends(run, newton, far, first, far_bend, any);
    move(run, newton, 1);
    if (!newton_defect(run, newton, first)) // forgets what has failed far off
        return false;
    for (uint32_t i = 0; i < block->m; i++)
        noise = noise && far_bend[i] <= (change[i] > 0 ? growth : growth_of_flat) * near_bend[i] + CONVERGED * newton->size[i];
    return noise;
}

static bool
notes_noise(const Run *run, Newton *newton)
{
    bool noise = is_noise(run, newton);
    newton->noisy |= noise;
    return noise;
}

// A full correction of the size `norm` that the next one need not be smaller than: both are rounding. Of an affine block this may be more
// than usual, since its unknowns may differ by their number of digits (what ideal diodes leak and what they conduct; a flow and the rate
// of the pressure in a stiff vessel); there the residuals must be rounding, too. In a folded mechanism such a correction is a wrong one.
static bool
may_be_rounding(const Run *run, Newton *newton, double norm)
{
    const double rounding = 64 * DBL_EPSILON;
    bool leaking = run->model->leak && run->v[run->model->leak] > 0, open = !run->model->n_constraints;
    if (norm <= STAGNATED)
        return true;
    if (!newton->block->linear)
        return open && norm <= NOISY && newton->block->m <= RANK_LIMIT && notes_noise(run, newton);
    if (!(leaking || open) || norm > UNEQUAL)
        return false;
    if (has_small_residuals(run, newton, rounding, leaking ? rounding * inner_size(run, newton) : 0))
        return true;
    measure_known(run, newton); // the rates of a circuit at rest are small beside the currents that cancel, known ones and those of the block
    return has_small_residuals(run, newton, rounding, rounding * inner_size(run, newton));
}

// One damped step from `base`. Afterwards v is at the trial point and `trial` is the simplified correction
// there.
static bool
damped_step(Run *run, Newton *newton, double norm, double *damping, double *trial_norm)
{
    double smallest = SMALLEST_DAMPING * (newton->leap > 0 ? fmin(1, newton->leap / norm) : 1);
    for (;;) {
        move(run, newton, *damping);
        if (newton_defect(run, newton, newton->trial)) {
            apply_inverse(newton, newton->trial);
            *trial_norm = newton_size(newton, newton->trial);
            if (*trial_norm <= (1 - *damping / 4) * norm || *trial_norm <= CONVERGED)
                return true;
            if (*damping == 1 && may_be_rounding(run, newton, norm))
                return true;
        }
        *damping /= 2;
        if (*damping < smallest && newton->block->linear && may_be_rounding(run, newton, norm)) { // a step before was shortened
            *damping = 1;
            move(run, newton, *damping);
            if (newton_defect(run, newton, newton->trial)) {
                apply_inverse(newton, newton->trial);
                *trial_norm = newton_size(newton, newton->trial);
                return true;
            }
        }
        if (*damping < smallest)
            return newton_fail(newton, jumps(newton, norm) ? JUMP : NO_DESCENT);
    }
}

// Applies the simplified correction at the trial point: the last digits for the price of one evaluation.
static bool
finish(Run *run, Newton *newton)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        run->v[newton->block->unknown[i]] += newton->trial[i];
    return newton_defect(run, newton, newton->step) || newton_fail(newton, NOT_FINITE);
}

// Start values that satisfy the equations exactly are a solution, also where the matrix is singular (a
// pendulum that starts level: x^2 + y^2 = L^2 at y = 0).
static bool
is_solved(const Newton *newton)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        if (newton->step[i] != 0)
            return false;
    return true;
}

// The largest term that an unknown of nominal size makes.
static double
nominal_size(const Run *run, const Newton *newton)
{
    const mdl_matrix *jac = &newton->block->jac;
    double size = 0;
    for (uint32_t j = 0; j < jac->columns; j++)
        for (uint32_t k = jac->column_start[j]; k < jac->column_start[j + 1]; k++)
            size = fmax(size, quantity(fabs(run->v[jac->values + k]) * newton->scale[j]));
    return size;
}

// The residuals of what has converged. Where the rank is known to be deficient for good, the equations were consistent
// at the start; between accepted points the states miss the constraints by more than rounding.
static bool
is_accurate(const Run *run, Newton *newton)
{
    // A row that follows from others may have no terms but what rounding left of zero (a mechanism at rest).
    double rounding = newton->by_rank ? DBL_EPSILON * fmax(nominal_size(run, newton), inner_size(run, newton)) : 0;
    for (uint32_t i = 0; i < newton->block->m && newton->by_rank; i++)
        rounding = fmax(rounding, DBL_EPSILON * quantity(newton->size[i]));
    if (newton->deficient || has_small_residuals(run, newton, newton->strict ? STRICT : INEXACT, rounding))
        return true;
    if (newton->by_rank && newton->block->n_known) {
        measure_known(run, newton);
        if (has_small_residuals(run, newton, INEXACT, rounding))
            return true;
    }
    if (run->hides && newton->locked && newton->block->linear)
        return true; // what that says of the states is looked at by hidden.c
    // Other unknowns than these may make the equations of a block with kinks independent again: that is for path.c to find.
    if (newton->locked && !newton->block->linear)
        return newton_fail(newton, SINGULAR);
    return newton_fail(newton, newton->by_rank ? CONTRADICTION : INACCURATE);
}

// Largest correction relative to the unknown itself; what is rounding of the nominal value does not count.
static double
digits_missing(const Run *run, const Newton *newton)
{
    double most = 0;
    for (uint32_t i = 0; i < newton->block->m; i++) {
        double size = fabs(newton->step[i]);
        if (size > DBL_EPSILON * newton->scale[i])
            most = fmax(most, size / fmax(fabs(run->v[newton->block->unknown[i]]), DBL_MIN));
    }
    return most;
}

// An unknown that is much smaller than its nominal value (nobody gave one) has converged in units of that, but has no right
// digits. The iteration goes on while corrections shrink, so it never fails for asking too much. The factors at hand say
// whether that is needed.
bool
newton_polish(Run *run, Newton *newton)
{
    if (newton->block->linear || newton->by_rank)
        return true;
    memcpy(newton->step, newton->trial, newton->block->m * sizeof *newton->step);
    double before = INFINITY;
    for (int k = 0; k < ITERATIONS && digits_missing(run, newton) > WRONG; k++) {
        newton_read(run, newton, newton->base);
        if (!newton_defect(run, newton, newton->step) || !correction(run, newton))
            return true;
        double norm = newton_size(newton, newton->step);
        if (!(norm < SHRINKS * before))
            return true;
        before = norm;
        move(run, newton, 1);
        if (newton_defect(run, newton, newton->trial))
            continue;
        move(run, newton, 0);
        return newton_defect(run, newton, newton->trial);
    }
    return true;
}

bool
newton_iterate(Run *run, Newton *newton)
{
    double damping = 1;
    newton->corrections = 0;
    if (!newton_defect(run, newton, newton->step))
        return newton_fail(newton, NOT_FINITE);
    if (!newton->block->linear && is_solved(newton)) {
        newton_review_locked(run, newton);
        return true;
    }
    for (int k = 0; k < ITERATIONS; k++) {
        newton_read(run, newton, newton->base);
        if (!correction(run, newton))
            return false;
        double norm = newton_size(newton, newton->step), trial_norm = 0;
        if (!isfinite(norm))
            return newton_fail(newton, SINGULAR);
        if (newton->leap > 0)
            damping = fmin(damping, newton->leap / norm);
        if (!damped_step(run, newton, norm, &damping, &trial_norm))
            return false;
        run->stats->newton_iterations++;
        newton->corrections = (uint32_t)k + 1;
        bool stagnated = damping == 1 && trial_norm > norm / 4 && may_be_rounding(run, newton, norm);
        if (damping == 1 && (trial_norm <= CONVERGED || stagnated)) {
            if (trial_norm < norm && trial_norm > 0 && !finish(run, newton))
                return false;
            return newton_polish(run, newton) && is_accurate(run, newton);
        }
        if (!newton_defect(run, newton, newton->step))
            return newton_fail(newton, NOT_FINITE);
        damping = fmin(1, 4 * damping);
    }
    return newton_fail(newton, TOO_MANY);
}

void
newton_write(const Run *run, const Newton *newton, const double *from)
{
    for (uint32_t i = 0; i < newton->block->m; i++)
        run->v[newton->block->unknown[i]] = from[i];
}

// Constraints at start values where they depend on each other by chance (y = 0 in x^2 + y^2 = L^2 with x given): beside
// them they do not.
static bool
solve_beside(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    Trouble first = newton->trouble;
    for (int k = 0; k < BESIDE && newton->review; k++) {
        for (uint32_t i = 0; i < block->m; i++) {
            double wave = sin(1.0 + 2.4 * (i + 1) + 17.0 * k); // as good as random, and the same in every run
            run->v[block->unknown[i]] = newton->start[i] + 0.05 * wave * fmax(fabs(newton->start[i]), newton->scale[i]);
        }
        if (newton_iterate(run, newton))
            return true;
    }
    if (!newton->review)
        return false;
    newton_write(run, newton, newton->start);
    newton->trouble = newton_iterate(run, newton) ? NO_TROUBLE : first;
    // A dependence that least squares cannot resolve: the residuals at the start values say which equations disagree.
    if (newton->by_rank && newton->trouble != CONTRADICTION) {
        newton_write(run, newton, newton->start);
        newton->trouble = newton_defect(run, newton, newton->step) ? NOT_REACHED : first;
    }
    return false;
}

// An initial system that leaves states open says too little.
static bool
opens_states(const Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    const mdl_model *model = run->model;
    size_t n = (size_t)block->m + block->n_inner;
    double *along = calloc(n + 1, sizeof *along);
    bool opens = !along;
    for (uint32_t k = 0; k < newton->locked && !opens; k++) {
        rank_kernel(newton->rank, k, along);
        newton_inner_response(run, newton, along, along + block->m);
        for (size_t i = 0; i < n; i++) {
            uint32_t place = i < block->m ? block->unknown[i] : block->inner[i - block->m];
            bool state = (place >= model->y && place < model->y + model->nx) || (place >= model->yp && place < model->yp + model->nx);
            opens = opens || (state && fabs(along[i]) > STAGNATED);
        }
    }
    free(along);
    if (opens)
        newton->trouble = SINGULAR;
    return opens;
}

// Units of the unknowns from the start to the iterate in v.
static double
distance(const Run *run, const Newton *newton)
{
    const mdl_block *block = newton->block;
    double most = 0;
    for (uint32_t i = 0; i < block->m; i++) {
        double moved = fabs(run->v[block->unknown[i]] - newton->start[i]);
        most = fmax(most, moved / fmax(fabs(newton->start[i]), newton->scale[i]));
    }
    return most;
}

// Where a slope at the start values is almost zero, the first correction leads far away, and where the equations are periodic
// it ends there: at an angle of many turns, which has lost its digits. Corrections of limited length tell whether
// there is a solution much nearer. `solved` and v are as before where there is none.
static bool
solve_nearer(Run *run, Newton *newton, bool solved)
{
    const size_t m = newton->block->m;
    double far = distance(run, newton), kept[m + 1];
    if (newton->block->linear || (solved && far <= FAR) || (!solved && newton->trouble == NOT_FINITE))
        return solved;
    Trouble trouble = newton->trouble;
    newton_read(run, newton, kept);
    newton_write(run, newton, newton->start);
    newton->leap = NEAR;
    bool nearer = newton_iterate(run, newton) && (!solved || distance(run, newton) < far / 2);
    newton->leap = 0;
    if (nearer)
        return true;
    newton_write(run, newton, solved ? kept : newton->start);
    bool again = newton_iterate(run, newton); // the factors, the rank and the report are those of the first attempt
    if (solved && !again) {
        newton_write(run, newton, kept);
        again = newton_defect(run, newton, newton->step);
    }
    newton->trouble = again ? NO_TROUBLE : trouble;
    return again;
}

// The solution of affine equations does not depend on where the iteration begins, but for rounding: values of 1e188 that the stages of a step have left are
// not forgotten in the corrections that an iteration may take.
static bool
solve_from_zero(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    Trouble trouble = newton->trouble;
    bool far = false;
    for (uint32_t i = 0; i < block->m; i++)
        far = far || !(fabs(newton->start[i]) <= FAR_OFF * newton->scale[i]); // also where it is not a number
    if (!far)
        return false;
    for (uint32_t i = 0; i < block->m; i++)
        run->v[block->unknown[i]] = 0;
    if (newton_iterate(run, newton))
        return true;
    newton->trouble = trouble;
    newton_write(run, newton, newton->start);
    return false;
}

// The residual of a block of one equation at this value of its unknown; NAN where it has none.
static double
residual_at(const Run *run, const Newton *newton, double value)
{
    double residual;
    run->v[newton->block->unknown[0]] = value;
    return newton_defect(run, newton, &residual) ? residual : NAN;
}

// One unknown whose equation does not depend on it where it starts (the flow m with dp = c*m^2 at m = 0): the nearest change of sign on either side is
// enclosed, of two the nearer one, and of two as near the upper one.
static bool
solve_across(Run *run, Newton *newton, Effort effort)
{
    enum { BISECTIONS = 60 };
    const double least = 1e-6, most = 1e6, alike = 0.999; // units of the unknown; of two distances
    if (newton->block->m != 1 || newton->block->linear || newton->trouble != SINGULAR)
        return false;
    double start = newton->start[0], unit = fmax(fabs(start), newton->scale[0]), found = INFINITY, first = residual_at(run, newton, start);
    for (double step = least * unit; isfinite(first) && step <= most * unit && !isfinite(found); step *= 2)
        for (int side = 1; side >= -1; side -= 2) {
            double near = step > least * unit ? step / 2 : 0, far = step;
            if (!(residual_at(run, newton, start + side * far) * first <= 0))
                continue;
            for (int i = 0; i < BISECTIONS; i++) {
                double half = (near + far) / 2;
                *(residual_at(run, newton, start + side * half) * first <= 0 ? &far : &near) = half;
            }
            if (far < alike * fabs(found))
                found = side * far;
        }
    if (isfinite(found)) {
        double from = run->v[newton->block->unknown[0]] = start + found;
        newton->trouble = NO_TROUBLE;
        bool solved = newton_iterate(run, newton);
        if (solved && effort != EFFORT_JUMP)
            newton_note_elsewhere(run, newton, &from);
        if (solved)
            return true;
    }
    newton->trouble = SINGULAR;
    newton_write(run, newton, newton->start);
    return false;
}

// Within a run the equations of an affine block hold exactly where their matrix is singular: 0 = tau*w of a turbine that stands, whose power is zero. What
// they leave open stays as it is, which is told: until then they determined it.
static bool
stays_open(Run *run, Newton *newton)
{
    char text[2000];
    if (!newton->determined || !newton->block->linear || newton->block->m > RANK_LIMIT || newton->trouble != SINGULAR)
        return false;
    newton_write(run, newton, newton->start);
    if (!newton_defect(run, newton, newton->step) || !is_solved(newton))
        return false;
    mdl_call(newton->block->jacobian, run->v);
    if (!newton->told && newton_rank(run, newton, 0, newton->block->m)) {
        newton->told = true;
        newton_null_text(run, newton, 2, text, sizeof text);
        run_message(run, MDL_NOTE, "at time %.12g: equations that hold leave open what they have determined so far, and it stays as it is:%s", run->v[0], text);
    }
    newton->trouble = NO_TROUBLE;
    return true;
}

// Where the matrix is singular at the start values those that are zero may be why: most of them
// are nobody's. v is as before where there is no solution.
static bool
solve_from_others(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    if (block->linear || block->m == 1 || newton->trouble != SINGULAR)
        return false;
    double kept[block->m + 1], from[block->m + 1];
    newton_read(run, newton, kept);
    newton_write(run, newton, newton->start);
    if (zeros_follow(run, newton)) {
        newton_read(run, newton, from);
        newton->trouble = NO_TROUBLE;
        if (newton_iterate(run, newton)) {
            newton_note_elsewhere(run, newton, from);
            return true;
        }
        newton->trouble = SINGULAR;
    }
    newton_write(run, newton, kept);
    return false;
}

int
newton_solve(Run *run, Newton *newton, Effort effort)
{
    memset(newton->target, 0, newton->block->m * sizeof *newton->target);
    newton->trouble = NO_TROUBLE;
    run->stats->block_solves++;
    newton_read(run, newton, newton->start);
    if (effort == EFFORT_RUN && standing_loop_solve(run, newton))
        return MDL_OK;
    newton->strict = effort == EFFORT_JUMP;
    bool solved = newton_iterate(run, newton) || (newton->block->linear && solve_from_zero(run, newton));
    // Within a run nobody would be told which of two it is.
    solved = solved || (effort != EFFORT_RUN && solve_across(run, newton, effort));
    if (effort == EFFORT_JUMP) {
        solved = solved || path_jump(run, newton);
        newton->strict = false;
        return solved ? MDL_OK : MDL_FAILED;
    }
    if (!solved && newton->by_square) {
        // The decomposition may still do it, and its null vectors are what a report shows.
        square_free(&newton->square);
        newton_write(run, newton, newton->start);
        solved = newton_iterate(run, newton);
    }
    if (effort == EFFORT_RUN)
        solved = solved || stays_open(run, newton);
    else if (!solved && solve_from_others(run, newton))
        solved = true;
    else
        solved = solve_nearer(run, newton, solved);
    if (run->options->trace && effort != EFFORT_RUN)
        newton_trace_solve(run, newton, solved);
    if (solved && effort != EFFORT_RUN && newton->locked && opens_states(run, newton))
        return MDL_FAILED;
    if (solved)
        return newton_shorten(run, newton) ? MDL_OK : MDL_FAILED;
    if (effort == EFFORT_PATHS && newton->trouble != NOT_FINITE && solve_beside(run, newton))
        return MDL_OK;
    if (effort == EFFORT_PATHS && newton->trouble != CONTRADICTION && newton->trouble != NOT_REACHED && path_solve(run, newton))
        return newton_shorten(run, newton) ? MDL_OK : MDL_FAILED;
    return MDL_FAILED;
}

void
newton_restore(const Run *run, const Newton *newton)
{
    newton_write(run, newton, newton->start);
}
