// dop853.c: the explicit Runge-Kutta pair of Dormand and Prince of order 8, with a polynomial of order 7 between steps.
//
// Purpose: motions that are not stiff, from medium to small tolerances: a step costs twelve evaluations and is many times as long as one of order 5.
// Method: runtime/linear/dop853_rule.c, where the sources stand. The slope at a step's end is that at the beginning of the next one. Three evaluations more
//         make the polynomial, where values within a step are asked for. A step follows from the error of the last one by its
//         eighth root, between a third and six times as long. Where the model keeps an invariant, a step ends with the shortest way back to it. Runs of an
//         ensemble are made side by side (dop853_lanes.c).
// Contract: run.h; loops are solved inside the right side. Complexity: twelve evaluations a step.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/nvector.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/dop853_inner.h"
#include "runtime/solver/ensemble_inner.h"
#include "runtime/solver/solver.h"

enum { WIDTH = DOP853_WIDTH, SLOPES = DOP853_SLOPES, TERMS = DOP853_TERMS };

static const double SHARE = 1.0 / 8;          // as that of erk (ode.c)
static const double FINER = 4;                // long steps see little of what is narrow: some fifteen per cent more of them, and outliers are rare
static const double SAFE = 0.9, SHORTEST = 1.0 / 3, LONGEST = 6; // Hairer, Norsett and Wanner, II.5
static const double SHORTER = 0.2;            // what is left of a step whose stages have no right side
static const double SHORT = 0.01;             // of a step: an explicit step of Euler's
enum { STIFF = 6, CALM = 6 };                 // steps
static const double NOISY = 0.005;            // noise of invariants (projection_noise()) that a step rather leads over
static const double STRETCH = 1.01;           // by which a step may be longer to end where the next one must

// --- creation

bool
steps_create(Steps *steps, uint32_t n, uint32_t stride)
{
    enum { ARRAYS = 8 + SLOPES + TERMS };
    *steps = (Steps){.stride = stride, .chunks = ((size_t)n * stride + WIDTH - 1) / WIDTH};
    // From one array to the next it is not a multiple of a page, so that what is stored does not hold up what is loaded.
    size_t size = steps->chunks * WIDTH + 3 * WIDTH, bytes = ARRAYS * size * sizeof *steps->block;
    steps->size = size;
    steps->block = aligned_alloc(WIDTH * sizeof *steps->block, bytes);
    if (!steps->block)
        return false;
    memset(steps->block, 0, bytes);
    double *place = steps->block, **parts[] = {&steps->start, &steps->end, &steps->carry, &steps->left, &steps->weight, &steps->error, &steps->point, &steps->rate};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++, place += size)
        *parts[k] = place;
    for (size_t k = 0; k < SLOPES; k++, place += size)
        steps->slope[k] = place;
    for (size_t k = 0; k < TERMS; k++, place += size)
        steps->term[k] = place;
    return true;
}

void
steps_free(Steps *steps)
{
    free(steps->block);
    steps->block = NULL;
}

MDL_CHECKED static int
dop853_create(Run *run)
{
    Ode *ode = calloc(1, sizeof *ode);
    run->ode = ode;
    if (!ode)
        return MDL_INTERNAL;
    if (run->modes) {
        run_message(run, MDL_ERROR, "the dop853 method does not integrate fractional derivatives, which are stiff; --solver=ida and --solver=cvode do");
        return MDL_FAILED;
    }
    ode->n = run->ny;
    ode->at = &ode->own;
    ode->direction = calloc(5 * (size_t)ode->n + 1, sizeof *ode->direction);
    ode->probed = ode->direction + ode->n;
    ode->held = ode->probed + ode->n;
    ode->carry = ode->held + ode->n;
    ode->left = ode->carry + ode->n;
    if (!ode->direction || !projection_where_needed(run, &ode->projection))
        return MDL_INTERNAL;
    if (run->contest.open) {
        ode->rate = run->contest.rate;
        memcpy(ode->direction, run->contest.direction, ode->n * sizeof *ode->direction);
    }
    if (run->ensemble && !ensemble_takes(run))
        run->ensemble = NULL;
    if (!run->ensemble && !steps_create(&ode->own, ode->n, 1))
        return MDL_INTERNAL;
    if (ode->projection && !(ode->bridge = bridge_create(ode->n)))
        return MDL_INTERNAL;
    run->strictness = FINER * integrator_strictness(run, DOP853_ORDER, SHARE);
    run->stats->linear_solver = "none";
    return MDL_OK;
}

static void
dop853_free(Run *run)
{
    if (!run->ode)
        return;
    if (run->contest.open && run->ode->direction) {
        run->contest.rate = run->ode->rate;
        run->contest.belief = 1;
        memcpy(run->contest.direction, run->ode->direction, run->ode->n * sizeof *run->ode->direction);
    }
    projection_free(&run->ode->projection);
    bridge_free(&run->ode->bridge);
    steps_free(&run->ode->own);
    steps_free(&run->ode->aside);
    steps_free(&run->ode->half[0]);
    steps_free(&run->ode->half[1]);
    free(run->ode->direction);
    free(run->ode);
    run->ode = NULL;
}

static void
forget(Run *run)
{
    Ode *ode = run->ode;
    ode->fresh = ode->rejected = ode->shortened = ode->judged = false;
    if (ode->projection)
        projection_forget(ode->projection);
    if (run->ensemble)
        ensemble_forget(run);
}

MDL_CHECKED static int
dop853_start(Run *run)
{
    run->ode->before = fmax(run->ode->step, run->ode->before);
    run->ode->length = run->ode->step = 0;
    forget(run);
    if (run->ode->bridge)
        bridge_forget(run->ode->bridge);
    return MDL_OK;
}

// The motion goes on as it came, and so do the steps.
MDL_CHECKED static int
dop853_resume(Run *run)
{
    run->ode->length = 0;
    forget(run);
    return MDL_OK;
}

static void
dop853_displace(Run *run)
{
    run->ode->fresh = false;
    if (run->ensemble)
        ensemble_forget(run);
}

static void
dop853_snapshot(Run *run, Snapshot *snapshot)
{
    Ode *ode = run->ode;
    Steps *steps = &ode->own;
    size_t row = ode->n * sizeof(double);
    ode->judged = false;
    double *number[] = {&ode->from, &ode->length, &ode->step, &ode->before, &ode->rate};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        snapshot_part(snapshot, number[k], sizeof *number[k]);
    bool *flag[] = {&ode->fresh, &ode->rejected, &ode->shortened, &steps->between};
    snapshot_part(snapshot, &ode->stiff, sizeof ode->stiff);
    snapshot_part(snapshot, &ode->calm, sizeof ode->calm);
    for (size_t k = 0; k < sizeof flag / sizeof *flag; k++)
        snapshot_part(snapshot, flag[k], sizeof *flag[k]);
    snapshot_part(snapshot, steps->start, row);
    snapshot_part(snapshot, steps->end, row);
    snapshot_part(snapshot, steps->error, row);
    snapshot_part(snapshot, ode->direction, row);
    snapshot_part(snapshot, ode->held, row);
    snapshot_part(snapshot, ode->carry, row);
    for (uint32_t k = 0; k < SLOPES; k++)
        snapshot_part(snapshot, steps->slope[k], row);
    for (uint32_t k = 0; k < TERMS; k++)
        snapshot_part(snapshot, steps->term[k], row);
    if (ode->projection)
        projection_snapshot(ode->projection, snapshot);
    snapshot_part(snapshot, &run->contest.noise, sizeof run->contest.noise);
    snapshot_part(snapshot, &run->contest.least, sizeof run->contest.least);
    if (ode->bridge)
        bridge_snapshot(ode->bridge, snapshot);
}

MDL_CHECKED static int
dop853_settle(Run *run)
{
    (void)run;
    return MDL_OK;
}

// --- the right side

int
dop853_right_side(Run *run, double time, const double *y, double *slope)
{
    Phase before = profile_enter(run, PHASE_EQUATIONS);
    run->stats->residuals++;
    evaluate_states(run, time, y);
    int status = evaluate_solved(run, false);
    if (status == MDL_OK) {
        evaluate_slopes(run, y, slope);
        status = nvector_finite(slope, run->ode->n) ? MDL_OK : MDL_FAILED;
    }
    profile_leave(run, before);
    return status;
}

bool
dop853_stages(Run *run, Steps *steps, double time, const double *step, uint32_t from, uint32_t to)
{
    for (uint32_t k = from; k < to; k++) {
        dop853_stage(k, steps->chunks, step, steps->start, steps->slope, steps->point);
        if (dop853_right_side(run, time + dop853_node[k] * step[0], steps->point, steps->slope[k]) != MDL_OK)
            return false;
    }
    return true;
}

void
dop853_lengths(double length, double *step)
{
    for (uint32_t k = 0; k < WIDTH; k++)
        step[k] = length;
}

double
dop853_estimate(const Run *run, Steps *steps, double length)
{
    double squares[2 * WIDTH], sum[2] = {0};
    dop853_errors(steps->chunks, steps->weight, steps->slope, steps->error, steps->rate, squares);
    for (uint32_t k = 0; k < 2 * WIDTH; k++)
        sum[k / WIDTH] += squares[k];
    return dop853_size(length, sum[0], sum[1], run->ode->n);
}

// --- stiffness

static void
note_stiffness(Ode *ode, bool limited)
{
    ode->stiff += limited;
    ode->calm = limited ? 0 : ode->calm + 1;
    if (ode->calm >= CALM)
        ode->stiff = 0;
}

// Beyond the limit what is stiff grows within the polynomial, though errors at the ends of steps do not tell it. That is said once for a step: where rates have
// no bound nothing is stable.
double
dop853_judge_stability(Run *run, const Steps *steps, const double *squares, double length, double error)
{
    Ode *ode = run->ode;
    double reach = dop853_reach(length, squares[0], squares[1], squares[2]);
    if (reach > length * ode->rate) {
        size_t at = steps->stride > 1 ? run->lane : 0;
        for (uint32_t i = 0; i < ode->n; i++, at += steps->stride)
            ode->direction[i] = steps->end[at] - steps->point[at];
        ode->rate = reach / length;
    }
    bool limited = reach > DOP853_STABLE && !ode->shortened;
    if (limited)
        note_stiffness(ode, true);
    ode->shortened = limited;
    return limited ? fmax(error, pow(reach / DOP853_STABLE, DOP853_ORDER)) : error;
}

// What is stiff and has died away is not seen any more in the steps: where the next one would be too long for the largest rate that was seen, the equations are
// asked along its direction, at run->y, whether they still are as fast (one step of the power method, of differences).
static void
heed_stability(Run *run, const Steps *steps)
{
    Ode *ode = run->ode;
    size_t at = steps->stride > 1 ? run->lane : 0;
    double way = 0, size = 0, rates = 0;
    bool limited = false;
    if (ode->step * ode->rate > DOP853_STABLE) {
        for (uint32_t i = 0, k = at; i < ode->n; i++, k += steps->stride) {
            way += pow(ode->direction[i] * steps->weight[k], 2);
            size += pow(run->y[i] * steps->weight[k], 2);
        }
        double factor = sqrt(DBL_EPSILON) * sqrt(size / way);
        for (uint32_t i = 0; i < ode->n; i++)
            ode->direction[i] = run->y[i] + factor * ode->direction[i];
        if (way > 0 && size > 0 && dop853_right_side(run, run->time, ode->direction, ode->probed) == MDL_OK) {
            for (uint32_t i = 0, k = at; i < ode->n; i++, k += steps->stride) {
                ode->direction[i] = ode->probed[i] - run->yp[i];
                rates += pow(ode->direction[i] * steps->weight[k], 2);
            }
            ode->rate = sqrt(rates / way) / factor;
        } else
            ode->rate = 0;
        limited = ode->step * ode->rate > DOP853_STABLE;
        if (limited)
            ode->step = DOP853_STABLE / ode->rate;
    }
    note_stiffness(ode, limited);
}

bool
dop853_is_stiff(const Run *run)
{
    return run->ode->stiff >= STIFF;
}

// --- the first step

// By what an explicit step of Euler's says of the second derivative (Hairer, Norsett and Wanner, II.4). run->yp is the slope. Behind an event what moves by a hundredth
// of a step of before is known to be little, also of what is zero there.
static double
first_step(Run *run, double limit)
{
    uint32_t n = run->ode->n;
    double *point = malloc(3 * ((size_t)n + 1) * sizeof *point), *rate = point + n, *weight = rate + n, size = 0, speed = 0, bend = 0, left = limit - run->time;
    if (!point)
        return 1e-6 * left;
    for (uint32_t i = 0; i < n; i++) {
        weight[i] = run->strictness / (run->tolerance * fabs(run->y[i]) + run->abstol[i]);
        size += run->y[i] * weight[i] * run->y[i] * weight[i];
        speed += run->yp[i] * weight[i] * run->yp[i] * weight[i];
    }
    size = sqrt(size / n);
    speed = sqrt(speed / n);
    double try = size > 1e-5 && speed > 1e-5 ? 0.01 * size / speed : 1e-6 * left;
    try = fmin(fmax(try, SHORT * run->ode->before), left);
    double step = try * SHORTER;
    for (uint32_t i = 0; i < n; i++)
        point[i] = run->y[i] + try * run->yp[i];
    if (dop853_right_side(run, run->time + try, point, rate) == MDL_OK) {
        for (uint32_t i = 0; i < n; i++)
            bend += (rate[i] - run->yp[i]) * weight[i] * (rate[i] - run->yp[i]) * weight[i];
        double most = fmax(speed, sqrt(bend / n) / try);
        step = fmin(try / SHORT, most > 1e-15 ? pow(0.01 / most, 1.0 / DOP853_ORDER) : fmax(1e-6 * left, 1e-3 * try));
    }
    free(point);
    return run->ode->before > 0 ? fmin(step, run->ode->before) : step;
}

// --- steps

// By what invariants say about states, in the run's column.
static void
limit_weights(Run *run, Steps *steps)
{
    Ode *ode = run->ode;
    size_t stride = steps->stride, at = stride > 1 ? run->lane : 0;
    for (uint32_t i = 0; i < ode->n; i++)
        ode->probed[i] = steps->weight[at + i * stride];
    projection_weights(run, ode->projection, NULL, ode->probed);
    for (uint32_t i = 0; i < ode->n; i++)
        steps->weight[at + i * stride] = ode->probed[i];
}

bool
dop853_prepare(Run *run, Steps *steps, double limit)
{
    Ode *ode = run->ode;
    if (!ode->fresh && dop853_right_side(run, run->time, run->y, run->yp) != MDL_OK)
        return false;
    ode->fresh = true;
    if (!(ode->step > 0))
        ode->step = first_step(run, limit);
    size_t stride = steps->stride, at = stride > 1 ? run->lane : 0;
    for (uint32_t i = 0; i < ode->n; i++, at += stride) {
        steps->start[at] = run->y[i];
        steps->carry[at] = run->y[i] == ode->held[i] ? ode->carry[i] : 0;
        steps->slope[0][at] = run->yp[i];
        steps->weight[at] = run->strictness / (run->tolerance * fabs(run->y[i]) + run->abstol[i]);
    }
    if (ode->projection)
        limit_weights(run, steps);
    if (!ode->rejected)
        heed_stability(run, steps);
    return true;
}

Attempt
dop853_attempt(const Run *run, double limit)
{
    double step = run->ode->step, left = limit - run->time, most = run->options->max_step, wanted = most > 0 ? fmin(step, most) : step;
    bool last = wanted * STRETCH >= left;
    double to = last ? limit : run->time + wanted, length = to - run->time; // so that the lengths of all steps are the time
    return (Attempt){length > 0 ? length : wanted, to, last}; // what is shorter than rounding of the time grows until it moves
}

static double
next_step(const Ode *ode, double length, double size)
{
    double factor = size > 0 ? SAFE * pow(size, -1.0 / DOP853_ORDER) : LONGEST;
    return length * fmin(ode->rejected ? 1 : LONGEST, fmax(SHORTEST, factor));
}

bool
dop853_accept(Run *run, Attempt attempt, double size)
{
    Ode *ode = run->ode;
    double next = isnan(size) ? SHORTER * attempt.length : next_step(ode, attempt.length, size);
    ode->stuck = false;
    if (size <= 1) {
        ode->step = attempt.last && next < ode->step ? ode->step : next; // it was cut short
        ode->rejected = ode->shortened = false;
        ode->before = 0;
        return true;
    }
    *(isnan(size) ? &run->stats->newton_failures : &run->stats->error_failures) += 1;
    ode->rejected = true;
    ode->step = next;
    ode->stuck = next < 16 * DBL_EPSILON * fmax(fabs(run->time), DBL_MIN);
    return false;
}

bool
dop853_nears_singular(Run *run, const double *end)
{
    Ode *ode = run->ode;
    bool nears = contest_nears_singular(run, ode->projection, end), bridges = !ode->unclear && bridge_usual(ode->bridge) > 0;
    return (bridges && run->contest.noise > NOISY) || (nears && run->contest.open);
}

// All slopes of an attempt, and its end, which is evaluated last. *size: its error in units of the tolerance; NaN where there is no right side, or no way to the
// invariants.
MDL_CHECKED static int
make_attempt(Run *run, Attempt attempt, double *size)
{
    Ode *ode = run->ode;
    Steps *steps = &ode->own;
    double step[WIDTH], squares[3 * WIDTH];
    *size = NAN;
    ode->off = false;
    dop853_lengths(attempt.length, step);
    if (!dop853_stages(run, steps, run->time, step, 1, DOP853_STAGES))
        return MDL_OK;
    dop853_end(steps->chunks, step, steps->start, steps->carry, steps->slope, steps->end, steps->left);
    double error = dop853_estimate(run, steps, attempt.length);
    *size = error;
    if (!(error <= 1))
        return MDL_OK;
    if (ode->projection) {
        *size = NAN;
        Phase before = profile_enter(run, PHASE_PROJECTION);
        bool projected = projection_apply(run, ode->projection, attempt.to, steps->end);
        memset(steps->left, 0, ode->n * sizeof *steps->left);
        profile_leave(run, before);
        ode->off = !projected;
        if (!projected)
            return MDL_OK;
        if (dop853_nears_singular(run, steps->end))
            return RUN_NEARS_SINGULAR;
        if (!run->contest.open)
            projection_warn(run, ode->projection, steps->end);
    }
    if (dop853_right_side(run, attempt.to, steps->end, steps->slope[DOP853_STAGES]) != MDL_OK) {
        *size = NAN;
        return MDL_OK;
    }
    dop853_differences(steps->chunks, steps->weight, steps->slope, steps->point, steps->end, squares);
    double sums[3] = {0};
    for (uint32_t k = 0; k < 3 * WIDTH; k++)
        sums[k / WIDTH] += squares[k];
    *size = dop853_judge_stability(run, steps, sums, attempt.length, error);
    return MDL_OK;
}

int
dop853_report(Run *run)
{
    if (pace_explain(run))
        return MDL_FAILED;
    run_message(run, MDL_ERROR, "at time %.12g: the dop853 method could not take a step\nthe model is stiff or nearly singular here, as a folded linkage is; "
                "another method may get on: --solver=ida", run->time);
    return MDL_FAILED;
}

// The run is at the end of a step.
static void
take_end(Run *run)
{
    Ode *ode = run->ode;
    memcpy(ode->held, ode->own.end, ode->n * sizeof *ode->held);
    memcpy(ode->carry, ode->own.left, ode->n * sizeof *ode->carry);
    evaluate_store(run);
    evaluate_note_reached(run);
}

// An attempt has ended near a singular position. Steps become shorter up to that, and the next one leads over it. False: there is no such step.
static bool
pass_singular(Run *run, Attempt attempt, double limit, bool *over)
{
    Ode *ode = run->ode;
    double near = bridge_usual(ode->bridge);
    *over = false;
    if (attempt.length > STRETCH * near && near > 0) {
        ode->step = fmax(near, attempt.length / 2);
        ode->rejected = true;
        return true;
    }
    if (near > 0 && bridge_over(run, attempt.to, limit)) {
        ode->rejected = ode->shortened = false;
        ode->before = 0;
        run->contest.bridged = true;
        take_end(run);
        return *over = true;
    }
    evaluate_load(run, run->time, run->y, run->yp);
    return false;
}

MDL_CHECKED static int
make_step(Run *run, double limit)
{
    Ode *ode = run->ode;
    if (!dop853_prepare(run, &ode->own, limit))
        return dop853_report(run);
    ode->own.between = ode->unclear = false;
    if (ode->bridge)
        bridge_note(ode->bridge, run->time, run->y, run->contest.noise, run->contest.least);
    for (;;) {
        Attempt attempt = dop853_attempt(run, limit);
        double size;
        int status = make_attempt(run, attempt, &size);
        if (status == RUN_NEARS_SINGULAR) {
            bool over;
            if (pass_singular(run, attempt, limit, &over)) {
                if (over)
                    return MDL_OK;
                continue;
            }
            if (ode->unclear)
                return status;
            ode->unclear = true; // it may end there all the same
            continue;
        }
        if (status != MDL_OK)
            return status;
        if (dop853_accept(run, attempt, size)) {
            ode->from = run->time;
            ode->length = attempt.length;
            ode->judged = false;
            run->time = attempt.to;
            take_end(run);
            return MDL_OK;
        }
        if (ode->stuck)
            return ode->off ? projection_report(run) : dop853_report(run);
        if (run->contest.open) // what stages have left of loops may be far from any solution
            evaluate_load(run, run->time, run->y, run->yp);
    }
}

// Beside those of other runs; by itself where that gives none, or none that may be taken.
MDL_CHECKED static int
step_in_ensemble(Run *run, double limit)
{
    Ode *ode = run->ode;
    int status;
    if (run->ensemble->method->step(run, limit, &status))
        return status;
    ensemble_forget(run);
    if (!ode->own.block && !steps_create(&ode->own, ode->n, 1))
        return MDL_INTERNAL;
    ode->at = &ode->own;
    return make_step(run, limit);
}

MDL_CHECKED static int
dop853_step(Run *run, double limit)
{
    run->stats->steps++;
    if (!run->ode->n || limit - run->time <= 32 * DBL_EPSILON * fmax(fabs(limit), fabs(run->time))) {
        run->time = limit;
        if (run->ensemble)
            ensemble_forget(run);
        return MDL_OK;
    }
    return run->ensemble ? step_in_ensemble(run, limit) : make_step(run, limit);
}

static void
dop853_stats(Run *run)
{
    (void)run;
}

static int
dop853_judge(Run *run, double *error)
{
    Ode *ode = run->ode;
    size_t at = ode->at->stride > 1 ? run->lane : 0;
    if (!ode->n)
        return -1;
    for (uint32_t i = 0; i < ode->n; i++, at += ode->at->stride)
        error[i] = ode->length > 0 ? fabs(ode->length * ode->at->error[at]) : 0;
    return DOP853_ORDER;
}

const Stepper dop853_stepper = {.name = "dop853", .create = dop853_create, .free = dop853_free, .start = dop853_start, .resume = dop853_resume,
                                .step = dop853_step, .interpolate = dop853_interpolate, .stats = dop853_stats, .judge = dop853_judge,
                                .displace = dop853_displace, .snapshot = dop853_snapshot, .settle = dop853_settle, .is_explicit = true};
