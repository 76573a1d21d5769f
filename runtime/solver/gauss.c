// gauss.c: Gauss-Legendre collocation of order 8 with a constant step.
//
// Purpose: long runs of systems that keep energy. The method is symmetric and symplectic: with a constant step
//          the energy of a Hamiltonian or reversible system stays within a bound instead of drifting, and
//          quadratic invariants stay what they are (Hairer, Lubich and Wanner, Geometric Numerical Integration,
//          2006, II.1.3, IV.2, IX, XI).
// Method: four stages solved to rounding (stages.c), from slopes extrapolated over the last two steps;
//         compensated summation (VIII.5 there). Invariants: symmetric projection (V.4.1 there), which moves
//         the start and the end of the step by the same multipliers. The step follows from the tolerance: it is
//         chosen so that one step and two of half the length agree to a small part of the tolerance. Afterwards it only
//         becomes shorter, when such a comparison asks for it; one is made whenever the slopes surprise more
//         than what the last comparison vouches for, near singular positions, where slopes do not tell, and every 500 steps. Equations that may
//         jump where no event is are compared with Lobatto's rule instead, at every step: the four stages do not see a jump behind the
//         last one, nor do those of half steps. Values between steps:
//         collocation itself is only of order 4 there, so two points inside the step, away from singular positions, are
//         computed with the same method, and a polynomial of degree 7 goes through values and slopes at all four.
//         Near a singular position collocation takes slopes where they are noise, while a method of many steps goes across on
//         what it knows of the motion. Where another method may go on (--solver=auto) and rounding of the invariants at a stage
//         or the end of a step moves states by more than a part of the tolerance, it does, from some steps before.
// Contract: run.h. `--step` gives the step and switches the comparison off. A step is cut short at an instant
//           known before. Complexity: per step about 5 to 10 iterations of four evaluations.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/solver.h"
#include "runtime/solver/stages.h"

// Steps after which one that is much too short is tried longer, and by how much; twice as many after each failure.
enum { RECOVER = 10, FASTER = 10, LONGEST_WAIT = 1 << 20 };
enum { CREEPING_MOST = 10000, CREEPING_REST = 10 }; // steps much shorter than at first, and how many times as many are left, until the run ends

enum { S = GAUSS_STAGES, POINTS = 4, CHECK_EVERY = 500, PROJECTIONS = 5, ATTEMPTS = 60, BEHIND = 6 };

static const double TOO_SLOW = 0.03;      // of the first step
static const double SHORTEST = 1e-10;     // of the run: a step
static const double AIM = 0.03;           // of the tolerance: what a step may be wrong by
static const double LEAST_AIM = 1e-13;    // relative error that rounding leaves room for
static const double IN_STEP = 0.03;       // tolerances that rounding of the invariants may move states by where slopes are taken
static const double BETWEEN = 1;          // the same for values between steps: they do no harm to later ones
static const double NEAR = 100;           // times the least nearness to singular positions: a step there is compared, whatever its slopes say
static const double ORDINARY = 1e-12;     // rounding that moves states by less tells of no singular position
static const double ON_INVARIANT = 1e-15; // relative correction that is left to later steps

struct Ode {
    Collocation method;
    Stages *stages, *inside;    // of the step; of steps inside it
    uint32_t n;
    double step;                // the constant step, 0: not chosen
    double chosen;              // what it was at first
    double anchor;              // time at which counting steps began
    uint64_t count;             // steps of full length since
    double from, length;        // the last accepted step
    bool searching;             // no step was accepted since the run began
    double surprise;            // of the last attempt, see surprise_of
    double trusted;             // surprise up to which the step is known to be good
    double nearness;            // of the last attempt to singular positions, see nearness_at
    double nearness_before;     // the same of the step before
    double ordinary;            // the least so far
    uint32_t unchecked;         // steps since the last comparison
    uint32_t history;           // past steps of the present length whose slopes are known, at most 2
    double *older, *newer;      // those slopes, S x n each
    double *start, *slope;      // y and f at the start of the last step
    double *carry, *next_carry; // what compensated summation has not added yet
    double *base;               // start, moved by the projection
    double *next, *other;       // the end of the step; the same by two half steps
    double *lift, *rho;         // of the projection
    Projection *at_start, *at_end;
    double *behind;             // the latest BEHIND points since the method began: time, y, f
    uint32_t n_behind;          // how many there have been
    bool noisy;                 // the latest attempt comes near to a singular position
    bool warned;                // of a step that has become much shorter
    uint32_t creeping;          // steps taken since then with such a step
    bool recovering;            // the step has been much shorter, and is not yet what it was
    bool longer;                // the latest change made it longer
    uint32_t wait, waited;      // steps until it is tried longer; since it was changed
    double place[POINTS];       // of the points of the interpolation, as fractions of the step
    bool dense;                 // `divided` belongs to the last step
    double *divided;            // 2*POINTS x n: divided differences of the interpolation
    double *value, *rate;       // interpolated
};

// --- creation

static bool
allocate(const mdl_model *model, Ode *ode)
{
    size_t n = ode->n;
    double *place = calloc((size_t)(2 * S + 2 * POINTS + 11 + 2 * BEHIND) * n + BEHIND + model->n_constraints + 1, sizeof *place);
    if (!place)
        return false;
    ode->older = place;
    ode->newer = ode->older + S * n;
    ode->divided = ode->newer + S * n;
    place = ode->divided + 2 * POINTS * n;
    double **parts[] = {&ode->start, &ode->slope, &ode->carry, &ode->next_carry, &ode->base, &ode->next, &ode->other,
                        &ode->lift, &ode->value, &ode->rate, &ode->rho};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++, place += n)
        *parts[k] = place;
    ode->behind = place + model->n_constraints;
    return true;
}

MDL_CHECKED static int
gauss_create(Run *run)
{
    const mdl_model *model = run->model;
    Ode *ode = calloc(1, sizeof *ode);
    run->ode = ode;
    if (!ode)
        return MDL_INTERNAL;
    ode->n = run_size(run);
    collocation_init(&ode->method);
    ode->stages = stages_create(run, &ode->method);
    ode->inside = stages_create(run, &ode->method);
    bool good = ode->stages && ode->inside && allocate(model, ode);
    if (good && model->n_constraints) {
        ode->at_start = projection_create(run);
        ode->at_end = projection_create(run);
        good = ode->at_start && ode->at_end;
    }
    run->stats->linear_solver = "none";
    ode->step = run->options->step;
    ode->ordinary = INFINITY;
    ode->searching = !(ode->step > 0);
    return good ? MDL_OK : MDL_INTERNAL;
}

static void
gauss_free(Run *run)
{
    Ode *ode = run->ode;
    if (!ode)
        return;
    stages_free(&ode->stages);
    stages_free(&ode->inside);
    projection_free(&ode->at_start);
    projection_free(&ode->at_end);
    free(ode->older);
    free(ode);
    run->ode = NULL;
}

static bool
is_much_shorter(const Ode *ode)
{
    return ode->step < TOO_SLOW * ode->chosen;
}

// What has made the step this short (a vessel that drains) has ended with the event: a step is looked for anew.
static void
forget_short_step(const Run *run, Ode *ode)
{
    if (run->options->step > 0 || !is_much_shorter(ode))
        return;
    ode->step = ode->chosen = 0;
    ode->searching = true;
    ode->creeping = 0;
    ode->recovering = false;
}

MDL_CHECKED static int
gauss_start(Run *run)
{
    Ode *ode = run->ode;
    forget_short_step(run, ode);
    ode->from = ode->anchor = run->time;
    ode->count = 0;
    ode->length = 0;
    ode->history = 0;
    ode->n_behind = 0;
    ode->dense = false;
    memset(ode->carry, 0, ode->n * sizeof *ode->carry);
    stages_reset(ode->stages);
    stages_reset(ode->inside);
    if (ode->at_start && !projection_factor(run, ode->at_start, run->time, run->y))
        return projection_report(run);
    return MDL_OK;
}

// --- the state of the run

static void
gauss_snapshot(Run *run, Snapshot *snapshot)
{
    Ode *ode = run->ode;
    size_t row = ode->n * sizeof(double);
    double *number[] = {&ode->step, &ode->chosen, &ode->anchor, &ode->from, &ode->length, &ode->surprise, &ode->trusted,
                        &ode->nearness, &ode->nearness_before, &ode->ordinary};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        snapshot_part(snapshot, number[k], sizeof *number[k]);
    uint32_t *count[] = {&ode->unchecked, &ode->history, &ode->n_behind, &ode->creeping, &ode->wait, &ode->waited};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++)
        snapshot_part(snapshot, count[k], sizeof *count[k]);
    bool *flag[] = {&ode->searching, &ode->noisy, &ode->warned, &ode->recovering, &ode->longer, &ode->stages->implicit, &ode->inside->implicit};
    for (size_t k = 0; k < sizeof flag / sizeof *flag; k++)
        snapshot_part(snapshot, flag[k], sizeof *flag[k]);
    snapshot_part(snapshot, &ode->count, sizeof ode->count);
    snapshot_part(snapshot, ode->older, S * row);
    snapshot_part(snapshot, ode->newer, S * row);
    snapshot_part(snapshot, ode->carry, row);
    snapshot_part(snapshot, ode->behind, BEHIND * (sizeof(double) + 2 * row));
    Projection *projection[] = {ode->at_start, ode->at_end, ode->stages->projection, ode->inside->projection};
    for (size_t k = 0; k < sizeof projection / sizeof *projection; k++)
        if (projection[k])
            projection_snapshot(projection[k], snapshot);
}

// The slopes of the last steps stay; matrices are made when they are needed.
MDL_CHECKED static int
gauss_settle(Run *run)
{
    Ode *ode = run->ode;
    stages_settle(ode->stages);
    stages_settle(ode->inside);
    ode->dense = false;
    if (ode->at_start && !projection_factor(run, ode->at_start, run->time, run->y))
        return projection_report(run);
    return MDL_OK;
}

// --- one step

// Slopes at the stages of a step of length h, from the steps before it or the slope at its start.
static void
predict(Ode *ode, double h)
{
    double point[2 * S], weight[2 * S];
    uint32_t n = ode->n, count = ode->history * S;
    for (uint32_t j = 0; j < S; j++) {
        point[j] = ode->method.node[j] - 1;
        point[S + j] = ode->method.node[j] - 2;
    }
    for (uint32_t i = 0; i < S; i++) {
        double *out = ode->stages->slope + (size_t)i * n;
        if (!count) {
            memcpy(out, ode->slope, n * sizeof *out);
            continue;
        }
        collocation_lagrange(point, count, ode->method.node[i] * h / ode->length, weight);
        memset(out, 0, n * sizeof *out);
        for (uint32_t j = 0; j < count; j++) {
            const double *past = (j < S ? ode->newer : ode->older - (size_t)S * n) + (size_t)j * n;
            for (uint32_t k = 0; k < n; k++)
                out[k] += weight[j] * past[k];
        }
    }
}

// The end of the step: start + (base - start) + h * sum of b_j f_j + lift, with compensation.
static void
add_up(Ode *ode, double h)
{
    uint32_t n = ode->n;
    for (uint32_t k = 0; k < n; k++) {
        double sum = 0;
        for (uint32_t j = 0; j < S; j++)
            sum += ode->method.weight[j] * ode->stages->slope[(size_t)j * n + k];
        double change = h * sum + ode->carry[k] + ode->lift[k];
        ode->next[k] = ode->start[k] + change;
        ode->next_carry[k] = (ode->start[k] - ode->next[k]) + change;
    }
}

// Whether another method is at hand.
static bool
may_give_up(const Run *run)
{
    return run->options->solver == MDL_SOLVER_AUTO && !(run->options->step > 0);
}

// How far rounding of the invariants moves states near the point y, in units of their sizes. Clobbers `value`.
static double
nearness_at(const Run *run, Projection *projection, const double *y)
{
    double *weight = run->ode->value, most = 0;
    for (uint32_t k = 0; k < run->model->nx; k++)
        weight[k] = INFINITY;
    projection_weights(run, projection, NULL, weight);
    for (uint32_t k = 0; k < run->model->nx; k++) // what is zero by symmetry has noise as others do
        most = fmax(most, 1 / (weight[k] * fmax(fabs(y[k]), fabs(run->v[run->model->nominal + k]))));
    return most;
}

// The most of it at the stages of a step of length h from y at `time`; no more are looked at when it is above `limit`.
static double
nearness_of_stages(Run *run, double limit, const Stages *stages, double time, const double *y, double h)
{
    Ode *ode = run->ode;
    double most = 0;
    for (uint32_t i = 0; i < S && most <= limit; i++) {
        for (uint32_t k = 0; k < ode->n; k++)
            ode->other[k] = y[k] + stages->offset[(size_t)i * ode->n + k];
        if (!projection_factor(run, ode->at_end, time + ode->method.node[i] * h, ode->other))
            return INFINITY;
        projection_measure(run, ode->at_end);
        most = fmax(most, nearness_at(run, ode->at_end, ode->other));
    }
    return most;
}

// Nearness above which rounding moves states by more than this share of the tolerance.
static double
noisy(const Run *run, double share)
{
    return fmax(share * run->tolerance, ORDINARY);
}

// With the multipliers rho moving both ends of the step, its end is on the invariants. K = K(start) at the start and
// K(end) at the end, C K = 1, so the invariants at the end change by about 2 rho.
static bool
project_step(Run *run, Ode *ode, double h)
{
    const double *defect = projection_defect(ode->at_end);
    double time = ode->from + h;
    memset(ode->rho, 0, run->model->n_constraints * sizeof *ode->rho);
    for (int k = 0; k < PROJECTIONS; k++) {
        if (!projection_factor(run, ode->at_end, time, ode->next))
            return false;
        memcpy(ode->other, ode->next, ode->n * sizeof *ode->other);
        if (projection_move(run, ode->at_end, defect, -1, ode->other) <= ON_INVARIANT)
            return true;
        for (uint32_t i = 0; i < run->model->n_constraints; i++)
            ode->rho[i] -= defect[i] / 2;
        memcpy(ode->base, ode->start, ode->n * sizeof *ode->base);
        memset(ode->lift, 0, ode->n * sizeof *ode->lift);
        projection_move(run, ode->at_start, ode->rho, 1, ode->base);
        projection_move(run, ode->at_start, ode->rho, 1, ode->lift);
        projection_move(run, ode->at_end, ode->rho, 1, ode->lift);
        if (!stages_solve(run, ode->stages, ode->from, ode->base, h))
            return false;
        add_up(ode, h);
    }
    // As close as rounding in the constraints lets it come.
    return projection_apply(run, ode->at_end, time, ode->next);
}

static double
weighted_norm(const Run *run, const double *y, const double *difference)
{
    double sum = 0;
    for (uint32_t k = 0; k < run->model->nx; k++) {
        double part = difference[k] / (run->tolerance * fabs(y[k]) + run->abstol[k]);
        sum += part * part;
    }
    return sqrt(sum / run->model->nx);
}

// How far the slopes are from what the two steps before let expect, times h. Like the error of the step this goes with
// the ninth power of h. INFINITY without two such steps.
static double
surprise_of(const Run *run, double h)
{
    Ode *ode = run->ode;
    double most = 0;
    for (uint32_t i = 0; ode->history == 2 && i < S; i++) {
        size_t first = (size_t)i * ode->n;
        for (uint32_t k = 0; k < ode->n; k++)
            ode->value[k] = h * (ode->stages->slope[first + k] - ode->stages->guess[first + k]);
        most = fmax(most, weighted_norm(run, ode->start, ode->value));
    }
    return ode->history == 2 ? most : INFINITY;
}

static bool
attempt(Run *run, double h)
{
    Ode *ode = run->ode;
    predict(ode, h);
    memcpy(ode->base, ode->start, ode->n * sizeof *ode->base);
    memset(ode->lift, 0, ode->n * sizeof *ode->lift);
    if (!stages_solve(run, ode->stages, ode->from, ode->base, h))
        return false;
    ode->surprise = surprise_of(run, h);
    add_up(ode, h);
    if (!ode->at_end)
        return true;
    double limit = may_give_up(run) ? noisy(run, IN_STEP) : INFINITY;
    double stages = nearness_of_stages(run, limit, ode->stages, ode->from, ode->base, h);
    ode->noisy = may_give_up(run) && stages > limit;
    if (ode->noisy || !project_step(run, ode, h))
        return false;
    projection_measure(run, ode->at_end);
    ode->nearness = fmax(stages, nearness_at(run, ode->at_end, ode->next));
    ode->noisy = ode->nearness > limit;
    return !ode->noisy;
}

// A step of length h that begins at the fraction `begin` of the present one: y := y + h * sum of b_j f_j.
static bool
step_inside(Run *run, Ode *ode, double begin, double length, double h, double *y)
{
    uint32_t n = ode->n;
    for (uint32_t i = 0; i < S; i++) {
        double weight[S], *out = ode->inside->slope + (size_t)i * n;
        collocation_lagrange(ode->method.node, S, begin + ode->method.node[i] * h / length, weight);
        for (uint32_t k = 0; k < n; k++) {
            out[k] = 0;
            for (uint32_t j = 0; j < S; j++)
                out[k] += weight[j] * ode->stages->slope[(size_t)j * n + k];
        }
    }
    double time = ode->from + begin * length;
    if (!stages_solve(run, ode->inside, time, y, h))
        return false;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < S; j++)
            y[k] += h * ode->method.weight[j] * ode->inside->slope[(size_t)j * n + k];
    return !ode->at_end || projection_apply(run, ode->at_end, time + h, y);
}

// --- the choice of the step

// The error of a step of order 8 grows with the ninth power of its length, and so does what a constant step leaves to the places
// where the motion is fastest. A thirtieth of the tolerance costs half as many steps again, but each converges in fewer
// iterations: in all a tenth more evaluations, for errors a tenth as large.
static double
aim(const Run *run)
{
    return fmin(fmax(AIM, LEAST_AIM / run->tolerance), 1);
}

// The error of the step in units of what is allowed, from two steps of half the length. INFINITY: they failed.
static double
step_error(Run *run, double h)
{
    Ode *ode = run->ode;
    memcpy(ode->other, ode->base, ode->n * sizeof *ode->other);
    for (uint32_t k = 0; ode->at_end && k < ode->n; k++)
        ode->other[k] = ode->start[k];
    if (!step_inside(run, ode, 0, h, h / 2, ode->other) || !step_inside(run, ode, 0.5, h, h / 2, ode->other))
        return INFINITY;
    for (uint32_t k = 0; k < ode->n; k++)
        ode->value[k] = ode->next[k] - ode->other[k];
    return weighted_norm(run, ode->next, ode->value) / aim(run);
}

// The same from Lobatto's rule over slopes at five points, which has both ends: wherever in the step slopes jump, what it makes of the jump differs
// from what the stages make of it, by at least two thirds of what is wrong with that. For smooth slopes both are of order 8.
static double
branched_error(Run *run, double h)
{
    enum { PLACES = 5 };
    const double aside = sqrt(21) / 14;
    const double place[PLACES] = {0, 0.5 - aside, 0.5, 0.5 + aside, 1};
    const double weight[PLACES] = {1 / 20.0, 49 / 180.0, 16 / 45.0, 49 / 180.0, 1 / 20.0};
    Ode *ode = run->ode;
    memcpy(ode->other, ode->start, ode->n * sizeof *ode->other);
    for (uint32_t k = 0; k < ode->n; k++)
        ode->value[k] = ode->next[k] - ode->start[k] - h * weight[0] * ode->slope[k];
    for (int p = 1; p < PLACES; p++) {
        const double *at = p + 1 < PLACES ? ode->other : ode->next;
        if (at == ode->other && !step_inside(run, ode, place[p - 1], h, h * (place[p] - place[p - 1]), ode->other))
            return INFINITY;
        if (!stages_slope(run, ode->inside, ode->from + place[p] * h, at, ode->rate))
            return INFINITY;
        for (uint32_t k = 0; k < ode->n; k++)
            ode->value[k] -= h * weight[p] * ode->rate[k];
    }
    // A step that a jump has made short is one of few.
    return weighted_norm(run, ode->next, ode->value) / (is_much_shorter(ode) ? 1 : aim(run));
}

static void
change_step(Run *run, double factor)
{
    Ode *ode = run->ode;
    ode->step *= factor;
    ode->anchor = run->time;
    ode->count = 0;
    ode->history = 0;
    ode->trusted = 0;
    if (ode->longer && ode->wait < LONGEST_WAIT)
        ode->wait *= 2;
    ode->waited = 0;
    ode->longer = false;
}

// One place of the motion, as a jump that is no event, may have asked for a step that is much too short behind it. It grows again, up to its
// first length; where that fails it is tried less often.
static void
recover_step(Run *run)
{
    Ode *ode = run->ode;
    ode->recovering = (ode->recovering || is_much_shorter(ode)) && !ode->searching && !(run->options->step > 0);
    if (!ode->recovering || ++ode->waited < ode->wait)
        return;
    ode->wait = ode->longer || !ode->wait ? RECOVER : ode->wait;
    ode->longer = false;
    change_step(run, fmin(FASTER, ode->chosen / ode->step));
    ode->longer = true;
    ode->recovering = ode->step < 0.999 * ode->chosen;
    ode->creeping = ode->recovering ? ode->creeping : 0;
}

// After an attempt that converged: true when the step may be kept; otherwise it has been changed. A step that was cut short, or is
// what a cut has left of one, says nothing about longer ones: the search goes on behind it, and nothing vouches for the first step
// behind an event.
static bool
is_good(Run *run, double h, bool cut, int attempt)
{
    Ode *ode = run->ode;
    double most = (run->options->stop - run->options->start) / 50;
    double near = fmax(ode->nearness, ode->nearness_before);
    ode->ordinary = fmin(ode->ordinary, fmax(ode->nearness, DBL_EPSILON));
    bool branches = run->model->branches;
    if (!branches && !ode->searching && ode->unchecked < CHECK_EVERY && ode->surprise <= ode->trusted && near <= NEAR * ode->ordinary)
        return true;
    if (run->options->max_step > 0)
        most = fmin(most, run->options->max_step);
    double error = branches ? branched_error(run, h) : step_error(run, h), factor = error > 0 ? 0.9 * pow(error, -1.0 / (2 * S + 1)) : 5;
    ode->unchecked = 0;
    if (error > 1 || !(error >= 0)) {
        run->stats->error_failures++;
        ode->searching = false;
        ode->step = fmin(ode->step, h);
        change_step(run, fmin(fmax(factor, 0.1), 0.95));
        return false;
    }
    if (ode->searching && !cut && factor > 1.1 && h < most && attempt < ATTEMPTS / 2) {
        change_step(run, fmin(fmin(factor, 5), most / h));
        return false;
    }
    ode->trusted = isfinite(ode->surprise) ? ode->surprise * fmin(fmax(0.5 / error, 1), 4) : 0;
    return true;
}

// A step that moves the states by about a hundredth of their size.
static double
first_guess(const Run *run)
{
    const mdl_model *model = run->model;
    double speed = 0, most = (run->options->stop - run->options->start) / 50;
    for (uint32_t k = 0; k < model->nx; k++) {
        double size = fmax(fabs(run->y[k]), 1e-2 * fabs(run->v[model->nominal + k]));
        speed = fmax(speed, fabs(run->yp[k]) / size);
    }
    if (run->options->max_step > 0)
        most = fmin(most, run->options->max_step);
    double guess = speed > 0 ? fmin(1e-2 / speed, most) : 1e-2 * most;
    // A state that is zero now may have any size: no step is too short to begin with.
    return fmax(guess, 10 * SHORTEST * (run->options->stop - run->options->start));
}

// --- stepping

// What delays, transports and fractional derivatives have recorded belongs to the points where it was recorded.
static bool
may_step_back(const Run *run)
{
    return !run->delays && !run->transports && !run->modes;
}

// To some steps before: the other method must be at full speed where this one fails.
static void
step_back(Run *run)
{
    Ode *ode = run->ode;
    if (!ode->n_behind || !may_step_back(run))
        return;
    uint32_t oldest = ode->n_behind < BEHIND ? 0 : ode->n_behind % BEHIND, n = ode->n;
    const double *point = ode->behind + (size_t)oldest * (1 + 2 * (size_t)n);
    run->time = point[0];
    memcpy(run->y, point + 1, n * sizeof *run->y);
    memcpy(run->yp, point + 1 + n, n * sizeof *run->yp);
}

static void
remember_point(Ode *ode)
{
    double *point = ode->behind + (size_t)(ode->n_behind++ % BEHIND) * (1 + 2 * (size_t)ode->n);
    point[0] = ode->from;
    memcpy(point + 1, ode->start, ode->n * sizeof *point);
    memcpy(point + 1 + ode->n, ode->slope, ode->n * sizeof *point);
}

MDL_CHECKED static int
report_stages(Run *run, double h)
{
    const Ode *ode = run->ode;
    if (run->options->solver == MDL_SOLVER_AUTO) {
        step_back(run);
        return ode->noisy ? RUN_NEARS_SINGULAR : RUN_GIVES_UP;
    }
    if (pace_explain(run))
        return MDL_FAILED;
    run_message(run, MDL_ERROR, "at time %.12g: %s (step %.3g)%s", run->time,
                run->options->step > 0 ? "the stages of a collocation step could not be solved"
                                       : "the step of the gauss method became too small", h,
                run->options->step > 0 ? "\na shorter --step may help"
                                       : "\nthe model is stiff or nearly singular here; another method may get on: --solver=ida");
    return MDL_FAILED;
}

// Another method is at hand, and a step that a single place of the motion has made this short would stay so for ever.
static bool
is_too_slow(Run *run)
{
    Ode *ode = run->ode;
    bool slow = is_much_shorter(ode);
    if (slow && run->options->solver == MDL_SOLVER_GAUSS && !ode->warned) {
        ode->warned = true;
        run_message(run, MDL_WARNING, "at time %.12g: the step of the gauss method had to become %.3g times shorter than at the "
                    "start: the motion has become stiff or nearly singular here, or jumps where no event is; "
                    "--solver=ida needs no constant step", run->time, ode->chosen / ode->step);
    }
    return slow && run->options->solver == MDL_SOLVER_AUTO;
}

// Where the present step ends. A step that was cut at an instant where it would have ended anyway was not counted.
static double
next_end(double time, Ode *ode)
{
    double end = ode->anchor + (double)(ode->count + 1) * ode->step;
    if (end - time > 1e-9 * ode->step)
        return end;
    ode->count++;
    return ode->anchor + (double)(ode->count + 1) * ode->step;
}

// The rest of the run would be many more steps of a length that one place of the motion has asked for.
MDL_CHECKED static int
check_pace(Run *run)
{
    Ode *ode = run->ode;
    if (run->options->step > 0 || !is_much_shorter(ode))
        return MDL_OK;
    double left = (run->options->stop - run->time) / ode->step;
    if (++ode->creeping < CREEPING_MOST || left < (double)CREEPING_REST * CREEPING_MOST)
        return MDL_OK;
    run_message(run, MDL_ERROR, "at time %.12g: the constant step of the gauss method (%.3g) has become %.3g times shorter than it was at first, and the "
                "rest of the run would take %.3g of them\nthe motion is stiff, or jumps or comes to rest, where another method gets on: "
                "--solver=ida", run->time, ode->step, ode->chosen / ode->step, left);
    return MDL_FAILED;
}

// Finds a step from run->time that can be kept; its end is in `next`. *h is its length.
MDL_CHECKED static int
take_step(Run *run, double limit, double *h, bool *whole)
{
    Ode *ode = run->ode;
    // A step that asks for ten thousand million of them is no step; neither is one that rounding of time swallows.
    double least = fmax(64 * DBL_EPSILON * fmax(fabs(run->time), fabs(limit)),
                        SHORTEST * (run->options->stop - run->options->start));
    for (int k = 0; k < ATTEMPTS; k++) {
        double end = next_end(run->time, ode);
        *whole = end < limit - 1e-9 * ode->step;
        *h = *whole ? end - run->time : limit - run->time;
        bool trying = ode->searching;
        if (attempt(run, *h)) {
            bool fixed = run->options->step > 0, cut = *h < 0.999 * ode->step;
            if (fixed || is_good(run, *h, cut, k))
                return MDL_OK;
        } else {
            run->stats->newton_failures++;
            ode->searching = false;
            if (run->options->step > 0)
                return report_stages(run, *h);
            ode->step = fmin(ode->step, *h);
            change_step(run, 0.25);
            ode->recovering = ode->recovering || ode->chosen > 0; // an iteration that failed says less than an error does
        }
        // A step that was tried for its length says nothing about shorter ones.
        if ((ode->noisy && !trying) || ode->step < least || is_too_slow(run))
            break;
    }
    return report_stages(run, *h);
}

static void
remember(Ode *ode, double h, bool whole)
{
    bool cut = h < 0.999 * ode->step;
    double *swapped = ode->older;
    bool same = ode->length > 0 && fabs(ode->length - h) <= 1e-9 * h;
    size_t size = (size_t)S * ode->n;
    remember_point(ode);
    // `older` keeps the start of the allocation, so contents move instead of pointers.
    memcpy(swapped, ode->newer, size * sizeof *swapped);
    memcpy(ode->newer, ode->stages->slope, size * sizeof *swapped);
    ode->history = same && ode->history ? 2 : 1;
    ode->length = h;
    ode->count += whole;
    if (!(ode->chosen > 0) && !(cut && ode->searching))
        ode->chosen = ode->step;
    swapped = ode->carry;
    ode->carry = ode->next_carry;
    ode->next_carry = swapped;
    Projection *kept = ode->at_start;
    ode->at_start = ode->at_end;
    ode->at_end = kept;
    ode->unchecked++;
    ode->nearness_before = ode->nearness;
    ode->searching = ode->searching && cut;
    ode->dense = false;
}

MDL_CHECKED static int
gauss_step(Run *run, double limit)
{
    Ode *ode = run->ode;
    double h = 0;
    bool whole;
    run->stats->steps++;
    if (!ode->n || limit - run->time <= 32 * DBL_EPSILON * fmax(fabs(limit), fabs(run->time))) {
        run->time = ode->n || !(run->interval > 0) ? limit : fmin(limit, run->time + run->interval);
        return MDL_OK;
    }
    ode->from = run->time;
    memcpy(ode->start, run->y, ode->n * sizeof *ode->start);
    memcpy(ode->slope, run->yp, ode->n * sizeof *ode->slope);
    if (!(ode->step > 0))
        ode->step = first_guess(run);
    int status = take_step(run, limit, &h, &whole);
    if (status == MDL_OK)
        status = check_pace(run);
    if (status != MDL_OK)
        return status;
    run->time = whole ? ode->anchor + (double)(ode->count + 1) * ode->step : limit;
    remember(ode, h, whole);
    recover_step(run);
    evaluate_states(run, run->time, ode->next);
    status = evaluate_solved(run, true);
    if (status == MDL_OK)
        evaluate_store(run);
    return status;
}

// --- between steps

// Value and slope at point p of the last step from its neighbour `from`, whose value is known. False: a singular position is so near
// that they cannot be computed, or that rounding makes the slopes.
static bool
inner_point(Run *run, const double *place, int p, int from, double *y, double *f)
{
    Ode *ode = run->ode;
    size_t n = ode->n;
    double begin = place[from], h = ode->length * (place[p] - begin), time = ode->from + begin * ode->length;
    double *value = y + (size_t)p * n, *known = y + (size_t)from * n, limit = noisy(run, BETWEEN);
    memcpy(value, known, n * sizeof *value);
    return step_inside(run, ode, begin, ode->length, h, value) && stages_slope(run, ode->inside, time + h, value, f + (size_t)p * n)
           && (!ode->at_end || (nearness_of_stages(run, limit, ode->inside, time, known, h) <= limit
                                && nearness_at(run, ode->at_end, value) <= limit));
}

// How much the slopes of the stages add from the start of the step to the fraction `place` of it, in units of its length: their polynomial,
// integrated exactly by the method's own rule (Hairer, Lubich and Wanner, Geometric Numerical Integration, II.1.2).
static void
integrated_weights(const Collocation *method, double place, double *weight)
{
    double value[S];
    memset(weight, 0, S * sizeof *weight);
    for (uint32_t q = 0; q < S; q++) {
        collocation_lagrange(method->node, S, place * method->node[q], value);
        for (uint32_t j = 0; j < S; j++)
            weight[j] += place * method->weight[q] * value[j];
    }
}

// What the collocation polynomial says, which leads from the start of the step to its end.
static void
guess_point(const Run *run, const double *place, int p, double *y, double *f)
{
    const Ode *ode = run->ode;
    double slope_weight[S], weight[S], whole[S];
    size_t n = ode->n;
    double *value = y + (size_t)p * n, *slope = f + (size_t)p * n;
    collocation_lagrange(ode->method.node, S, place[p], slope_weight);
    integrated_weights(&ode->method, place[p], weight);
    integrated_weights(&ode->method, 1, whole);
    for (size_t k = 0; k < n; k++) {
        double there = ode->start[k], end = ode->start[k];
        slope[k] = 0;
        for (uint32_t j = 0; j < S; j++) {
            double of_stage = ode->stages->slope[(size_t)j * n + k];
            slope[k] += slope_weight[j] * of_stage;
            there += ode->length * weight[j] * of_stage;
            end += ode->length * whole[j] * of_stage;
        }
        value[k] = there + place[p] * (run->y[k] - end); // the projection has moved the end
    }
}

// Values and slopes at the fractions `place` of the last step, the first and last ones known: forwards up to a singular position, and
// from the end of the step backwards to it. False: not all of them.
static bool
inner_points(Run *run, const double *place, double *y, double *f)
{
    Ode *ode = run->ode;
    size_t n = ode->n;
    int first = 1, last = POINTS - 2;
    memcpy(y, ode->start, n * sizeof *y);
    memcpy(f, ode->slope, n * sizeof *f);
    memcpy(y + (POINTS - 1) * n, run->y, n * sizeof *y);
    memcpy(f + (POINTS - 1) * n, run->yp, n * sizeof *f);
    while (first <= last && inner_point(run, place, first, first - 1, y, f))
        first++;
    while (last >= first && inner_point(run, place, last, last + 1, y, f))
        last--;
    for (int p = first; p <= last; p++)
        guess_point(run, place, p, y, f);
    return first > last;
}

// Newton's divided differences over the points, each taken twice.
static bool
make_dense(Run *run)
{
    Ode *ode = run->ode;
    uint32_t n = ode->n;
    double *y = calloc((size_t)2 * POINTS * n + 1, sizeof *y), *f = y + (size_t)POINTS * n;
    if (!y)
        return false;
    static const double places[][POINTS] = {{0, 1 / 3.0, 2 / 3.0, 1}, {0, 0.26, 0.6, 1}, {0, 0.4, 0.74, 1}};
    size_t choices = sizeof places / sizeof *places, chosen = 0;
    while (!inner_points(run, places[chosen], y, f) && chosen + 1 < choices)
        chosen++;
    memcpy(ode->place, places[chosen], sizeof ode->place);
    for (uint32_t k = 0; k < n; k++) {
        double d[2 * POINTS], x[2 * POINTS];
        for (int i = 0; i < 2 * POINTS; i++) {
            x[i] = ode->place[i / 2];
            d[i] = y[(size_t)(i / 2) * n + k];
        }
        for (int order = 1; order < 2 * POINTS; order++)
            for (int i = 2 * POINTS - 1; i >= order; i--)
                d[i] = x[i] == x[i - order] ? ode->length * f[(size_t)(i / 2) * n + k]
                                            : (d[i] - d[i - 1]) / (x[i] - x[i - order]);
        for (int i = 0; i < 2 * POINTS; i++)
            ode->divided[(size_t)i * n + k] = d[i];
    }
    free(y);
    ode->dense = true;
    return true;
}

MDL_CHECKED static int
gauss_interpolate(Run *run, double time)
{
    Ode *ode = run->ode;
    if (time == run->time || !(ode->length > 0)) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    if (!ode->dense && !make_dense(run)) {
        run_message(run, MDL_ERROR, "at time %.12g: out of memory for the values between steps", time);
        return MDL_INTERNAL;
    }
    double at = (time - ode->from) / ode->length;
    for (uint32_t k = 0; k < ode->n; k++) {
        double value = 0, rate = 0;
        for (int i = 2 * POINTS - 1; i >= 0; i--) {
            double x = ode->place[i / 2];
            rate = rate * (at - x) + value;
            value = value * (at - x) + ode->divided[(size_t)i * ode->n + k];
        }
        ode->value[k] = value;
        ode->rate[k] = rate / ode->length;
    }
    if (ode->at_end)
        projection_between(run, ode->at_end, time, ode->value);
    evaluate_load(run, time, ode->value, ode->rate);
    return MDL_OK;
}

static void
gauss_stats(Run *run)
{
    (void)run;
}

// Errors are estimated now and then, of all states together.
static int
gauss_judge(Run *run, double *error)
{
    memset(error, 0, run->ny * sizeof *error);
    return run->ny ? 2 * S : -1;
}

const Stepper gauss_stepper = {.name = "gauss", .create = gauss_create, .free = gauss_free, .start = gauss_start,
                               .step = gauss_step, .interpolate = gauss_interpolate, .stats = gauss_stats, .judge = gauss_judge,
                               .snapshot = gauss_snapshot, .settle = gauss_settle};
