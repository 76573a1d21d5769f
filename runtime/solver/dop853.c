// dop853.c: the explicit Runge-Kutta pair of Dormand and Prince of order 8, with a polynomial of order 7 between steps.
//
// Purpose: motions that are not stiff, from medium to small tolerances: a step costs twelve evaluations and is many times as long as one of order 5.
// Method: runtime/linear/dop853_rule.c, where the sources stand. The slope at a step's end is that at the beginning of the next one. Three evaluations more
//         make the polynomial, where values within a step are asked for. A step follows from the error of the last one by its
//         eighth root, between a third and six times as long. Where the method keeps an invariant, a step ends with the shortest way back to it.
// Contract: run.h; loops are solved inside the right side. Complexity: twelve evaluations a step.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/dop853_rule.h"
#include "runtime/linear/nvector.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

enum { WIDTH = DOP853_WIDTH, SLOPES = DOP853_SLOPES, TERMS = DOP853_TERMS };

static const double SHARE = 1.0 / 8;          // as that of erk (ode.c)
static const double SAFE = 0.9, SHORTEST = 1.0 / 3, LONGEST = 6; // Hairer, Norsett and Wanner, II.5
static const double SHORTER = 0.2;            // what is left of a step whose stages have no right side
static const double STRETCH = 1.01;           // by which a step may be longer to end where the next one must

struct Ode {
    uint32_t n;
    size_t chunks;
    double *block;              // all arrays
    double *start, *end;        // of the last step, or of the one that is tried
    double *slope[SLOPES], *term[TERMS];
    double *weight, *error, *point, *rate;
    double from, length;        // of the last step; length 0: none
    double step;                // the next one; 0: not known
    bool fresh;                 // run->yp is the slope at run->y
    bool rejected;              // the latest attempt
    bool between;               // the polynomial of the last step is there
    Projection *projection;     // NULL: all states are free
};

// --- creation

static void
divide(Ode *ode)
{
    double *place = ode->block;
    size_t size = ode->chunks * WIDTH;
    double **parts[] = {&ode->start, &ode->end, &ode->weight, &ode->error, &ode->point, &ode->rate};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++, place += size)
        *parts[k] = place;
    for (size_t k = 0; k < SLOPES; k++, place += size)
        ode->slope[k] = place;
    for (size_t k = 0; k < TERMS; k++, place += size)
        ode->term[k] = place;
}

MDL_CHECKED static int
dop853_create(Run *run)
{
    enum { ARRAYS = 6 + SLOPES + TERMS };
    Ode *ode = calloc(1, sizeof *ode);
    run->ode = ode;
    if (!ode)
        return MDL_INTERNAL;
    if (run->modes) {
        run_message(run, MDL_ERROR, "the dop853 method does not integrate fractional derivatives, which are stiff; --solver=ida and --solver=cvode do");
        return MDL_FAILED;
    }
    ode->n = run->ny;
    ode->chunks = (ode->n + WIDTH - 1) / WIDTH;
    ode->block = calloc(ARRAYS * ode->chunks * WIDTH + 1, sizeof *ode->block);
    if (!ode->block || !projection_where_needed(run, &ode->projection))
        return MDL_INTERNAL;
    divide(ode);
    run->strictness = integrator_strictness(run, DOP853_ORDER, SHARE);
    run->stats->linear_solver = "none";
    return MDL_OK;
}

static void
dop853_free(Run *run)
{
    if (!run->ode)
        return;
    projection_free(&run->ode->projection);
    free(run->ode->block);
    free(run->ode);
    run->ode = NULL;
}

MDL_CHECKED static int
dop853_start(Run *run)
{
    Ode *ode = run->ode;
    ode->length = ode->step = 0;
    ode->fresh = ode->rejected = false;
    if (ode->projection)
        projection_forget(ode->projection);
    return MDL_OK;
}

// The motion goes on as it came, and so do the steps.
MDL_CHECKED static int
dop853_resume(Run *run)
{
    Ode *ode = run->ode;
    ode->length = 0;
    ode->fresh = ode->rejected = false;
    if (ode->projection)
        projection_forget(ode->projection);
    return MDL_OK;
}

static void
dop853_displace(Run *run)
{
    run->ode->fresh = false;
}

static void
dop853_snapshot(Run *run, Snapshot *snapshot)
{
    Ode *ode = run->ode;
    size_t row = ode->n * sizeof(double);
    double *number[] = {&ode->from, &ode->length, &ode->step};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        snapshot_part(snapshot, number[k], sizeof *number[k]);
    bool *flag[] = {&ode->fresh, &ode->rejected, &ode->between};
    for (size_t k = 0; k < sizeof flag / sizeof *flag; k++)
        snapshot_part(snapshot, flag[k], sizeof *flag[k]);
    snapshot_part(snapshot, ode->start, row);
    snapshot_part(snapshot, ode->end, row);
    snapshot_part(snapshot, ode->error, row);
    for (uint32_t k = 0; k < SLOPES; k++)
        snapshot_part(snapshot, ode->slope[k], row);
    for (uint32_t k = 0; k < TERMS; k++)
        snapshot_part(snapshot, ode->term[k], row);
    if (ode->projection)
        projection_snapshot(ode->projection, snapshot);
}

MDL_CHECKED static int
dop853_settle(Run *run)
{
    (void)run;
    return MDL_OK;
}

// --- the right side

// MDL_FAILED without a message: there is none at this point.
MDL_CHECKED static int
right_side(Run *run, double time, const double *y, double *slope)
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

static void
set_weights(Run *run)
{
    Ode *ode = run->ode;
    for (uint32_t i = 0; i < ode->n; i++)
        ode->weight[i] = run->strictness / (run->tolerance * fabs(run->y[i]) + run->abstol[i]);
    if (ode->projection)
        projection_weights(run, ode->projection, NULL, ode->weight);
}

// --- the first step

static double
weighted_length(const Ode *ode, const double *x)
{
    double sum = 0;
    for (uint32_t i = 0; i < ode->n; i++)
        sum += (x[i] * ode->weight[i]) * (x[i] * ode->weight[i]);
    return sqrt(sum / ode->n);
}

// By what an explicit step of Euler's says of the second derivative (Hairer, Norsett and Wanner, II.4).
static double
first_step(Run *run, double limit)
{
    Ode *ode = run->ode;
    const double *slope = ode->slope[0];
    double size = weighted_length(ode, run->y), speed = weighted_length(ode, slope), left = limit - run->time;
    double try = fmin(size > 1e-5 && speed > 1e-5 ? 0.01 * size / speed : 1e-6 * left, left);
    for (uint32_t i = 0; i < ode->n; i++)
        ode->point[i] = run->y[i] + try * slope[i];
    if (right_side(run, run->time + try, ode->point, ode->rate) != MDL_OK)
        return try * SHORTER;
    for (uint32_t i = 0; i < ode->n; i++)
        ode->point[i] = ode->rate[i] - slope[i];
    double most = fmax(speed, weighted_length(ode, ode->point) / try);
    return fmin(100 * try, most > 1e-15 ? pow(0.01 / most, 1.0 / DOP853_ORDER) : fmax(1e-6 * left, 1e-3 * try));
}

// --- steps

MDL_CHECKED static int
first_slope(Run *run)
{
    Ode *ode = run->ode;
    memcpy(ode->start, run->y, ode->n * sizeof *run->y);
    if (ode->fresh) {
        memcpy(ode->slope[0], run->yp, ode->n * sizeof *run->yp);
        return MDL_OK;
    }
    return right_side(run, run->time, run->y, ode->slope[0]);
}

// One attempt from `from` over `length`, with all slopes. *size: its error in units of the tolerance; NaN where there is no right side.
MDL_CHECKED static int
attempt(Run *run, double length, double to, double *size)
{
    Ode *ode = run->ode;
    _Alignas(64) double step[WIDTH], squares[2 * WIDTH];
    double sum[2] = {0};
    *size = NAN;
    for (uint32_t k = 0; k < WIDTH; k++)
        step[k] = length;
    for (uint32_t k = 1; k < DOP853_STAGES; k++) {
        dop853_stage(k, ode->chunks, step, ode->start, ode->slope, ode->point);
        if (right_side(run, ode->from + dop853_node[k] * length, ode->point, ode->slope[k]) != MDL_OK)
            return MDL_OK;
    }
    dop853_stage(DOP853_STAGES, ode->chunks, step, ode->start, ode->slope, ode->end);
    dop853_errors(ode->chunks, ode->weight, ode->slope, ode->error, ode->rate, squares);
    for (uint32_t k = 0; k < 2 * WIDTH; k++)
        sum[k / WIDTH] += squares[k];
    *size = dop853_size(length, sum[0], sum[1], ode->n);
    if (!(*size <= 1))
        return MDL_OK;
    if (ode->projection) {
        Phase before = profile_enter(run, PHASE_PROJECTION);
        bool projected = projection_apply(run, ode->projection, to, ode->end);
        profile_leave(run, before);
        if (!projected)
            return projection_report(run);
    }
    if (right_side(run, to, ode->end, ode->slope[DOP853_STAGES]) != MDL_OK)
        *size = NAN;
    return MDL_OK;
}

static double
next_step(const Ode *ode, double length, double size)
{
    double factor = size > 0 ? SAFE * pow(size, -1.0 / DOP853_ORDER) : LONGEST;
    return length * fmin(ode->rejected ? 1 : LONGEST, fmax(SHORTEST, factor));
}

MDL_CHECKED static int
report_no_step(Run *run)
{
    if (pace_explain(run))
        return MDL_FAILED;
    run_message(run, MDL_ERROR, "at time %.12g: the dop853 method could not take a step\nthe model is stiff or nearly singular here, as a folded linkage is; "
                "another method may get on: --solver=ida", run->time);
    return MDL_FAILED;
}

// Until one is within the tolerance.
MDL_CHECKED static int
make_step(Run *run, double limit)
{
    Ode *ode = run->ode;
    double left = limit - run->time, least = 16 * DBL_EPSILON * fmax(fabs(run->time), DBL_MIN), most = run->options->max_step;
    ode->from = run->time;
    ode->rejected = false;
    for (;;) {
        double wanted = most > 0 ? fmin(ode->step, most) : ode->step;
        bool last = wanted * STRETCH >= left;
        double length = last ? left : wanted, to = last ? limit : run->time + length, size;
        int status = attempt(run, length, to, &size);
        if (status != MDL_OK)
            return status;
        double next = isnan(size) ? SHORTER * length : next_step(ode, length, size);
        if (size <= 1) {
            ode->step = last && next < ode->step ? ode->step : next; // it was cut short
            ode->length = length;
            run->time = to;
            return MDL_OK;
        }
        *(isnan(size) ? &run->stats->newton_failures : &run->stats->error_failures) += 1;
        ode->rejected = true;
        ode->step = next;
        if (next < least)
            return report_no_step(run);
    }
}

MDL_CHECKED static int
dop853_step(Run *run, double limit)
{
    Ode *ode = run->ode;
    run->stats->steps++;
    if (!ode->n || limit - run->time <= 32 * DBL_EPSILON * fmax(fabs(limit), fabs(run->time))) {
        run->time = limit;
        return MDL_OK;
    }
    if (first_slope(run) != MDL_OK)
        return report_no_step(run);
    set_weights(run);
    if (!(ode->step > 0))
        ode->step = first_step(run, limit);
    ode->between = false;
    int status = make_step(run, limit);
    if (status != MDL_OK)
        return status;
    evaluate_store(run); // the end was evaluated last
    ode->fresh = true;
    return MDL_OK;
}

// --- between steps

MDL_CHECKED static int
make_polynomial(Run *run)
{
    Ode *ode = run->ode;
    _Alignas(64) double step[WIDTH];
    for (uint32_t k = 0; k < WIDTH; k++)
        step[k] = ode->length;
    for (uint32_t k = DOP853_STAGES + 1; k < SLOPES; k++) {
        dop853_stage(k, ode->chunks, step, ode->start, ode->slope, ode->point);
        if (right_side(run, ode->from + dop853_node[k] * ode->length, ode->point, ode->slope[k]) != MDL_OK)
            return MDL_FAILED;
    }
    dop853_polynomial(ode->chunks, step, ode->start, ode->end, ode->slope, ode->term);
    return MDL_OK;
}

MDL_CHECKED static int
dop853_interpolate(Run *run, double time)
{
    Ode *ode = run->ode;
    if (time == run->time || !(ode->length > 0)) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    if (!ode->between && make_polynomial(run) != MDL_OK)
        return report_no_step(run);
    ode->between = true;
    double x = (time - ode->from) / ode->length;
    size_t stride = ode->chunks * WIDTH;
    for (uint32_t i = 0; i < ode->n; i++)
        dop853_value(ode->term[0] + i, stride, ode->start[i], ode->length, x, &ode->point[i], &ode->rate[i]);
    // Values between steps are off the invariants by the error of the interpolation.
    if (ode->projection)
        projection_between(run, ode->projection, time, ode->point);
    evaluate_load(run, time, ode->point, ode->rate);
    return MDL_OK;
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
    if (!ode->n)
        return -1;
    for (uint32_t i = 0; i < ode->n; i++)
        error[i] = fabs(ode->length * ode->error[i]);
    return DOP853_ORDER;
}

const Stepper dop853_stepper = {.name = "dop853", .create = dop853_create, .free = dop853_free, .start = dop853_start, .resume = dop853_resume,
                                .step = dop853_step, .interpolate = dop853_interpolate, .stats = dop853_stats, .judge = dop853_judge,
                                .displace = dop853_displace, .snapshot = dop853_snapshot, .settle = dop853_settle, .is_explicit = true};
