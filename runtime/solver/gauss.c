// gauss.c: Gauss-Legendre collocation of order 8 with a constant step.
//
// Purpose: long runs of systems that keep energy. The method is symmetric and symplectic: with a constant step
//          the energy of a Hamiltonian or reversible system stays within a bound instead of drifting, and
//          quadratic invariants stay what they are (Hairer, Lubich and Wanner, Geometric Numerical Integration,
//          2006, II.1.3, IV.2, IX, XI).
// Method: steps of one length (gauss_length.c) with four stages each (gauss_attempt.c); values between them: gauss_dense.c. Where another
//         method may go on (--solver=auto) near a singular position, it does, from some steps before: collocation takes slopes where they are noise, while
//         a method of many steps goes across on what it knows of the motion.
// Contract: run.h. `--step` gives the step and switches the comparison off. A step is cut short at an instant
//           known before. Complexity: per step about 5 to 10 iterations of four evaluations.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/snapshot.h"
#include "runtime/solver/ensemble_inner.h"
#include "runtime/solver/gauss_inner.h"
#include "runtime/step/step.h"

enum { CREEPING_MOST = 10000, CREEPING_REST = 10 }; // steps much shorter than at first, and how many times as many are left, until the run ends

enum { BEHIND = 6 };

// --- creation

static bool
allocate(const mdl_model *model, Ode *ode)
{
    size_t n = ode->n;
    double *place = calloc((size_t)(2 * GAUSS_STAGES + 2 * GAUSS_POINTS + 11 + 2 * BEHIND) * n + BEHIND + model->n_constraints + 1, sizeof *place);
    if (!place)
        return false;
    ode->older = place;
    ode->newer = ode->older + GAUSS_STAGES * n;
    ode->divided = ode->newer + GAUSS_STAGES * n;
    place = ode->divided + 2 * GAUSS_POINTS * n;
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
    ode->step = run->options->step;
    ode->ordinary = INFINITY;
    ode->searching = !(ode->step > 0);
    if (good && run->ensemble && !ensemble_takes(run))
        run->ensemble = NULL;
    run->stats->linear_solver = run->ensemble ? "lanes" : "none";
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

// What has made the step this short (a vessel that drains) has ended with the event: a step is looked for anew.
static void
forget_short_step(const Run *run, Ode *ode)
{
    if (run->options->step > 0 || !gauss_is_much_shorter(ode))
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
    if (run->ensemble)
        ensemble_forget(run);
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
    snapshot_part(snapshot, ode->older, GAUSS_STAGES * row);
    snapshot_part(snapshot, ode->newer, GAUSS_STAGES * row);
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
    bool slow = gauss_is_much_shorter(ode);
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
int
gauss_check_pace(Run *run)
{
    Ode *ode = run->ode;
    if (run->options->step > 0 || !gauss_is_much_shorter(ode))
        return MDL_OK;
    double left = (run->options->stop - run->time) / ode->step;
    if (++ode->creeping < CREEPING_MOST || left < (double)CREEPING_REST * CREEPING_MOST)
        return MDL_OK;
    run_message(run, MDL_ERROR, "at time %.12g: the constant step of the gauss method (%.3g) has become %.3g times shorter than it was at first, and the "
                "rest of the run would take %.3g of them\nthe motion is stiff, or jumps or comes to rest, where another method gets on: "
                "--solver=ida", run->time, ode->step, ode->chosen / ode->step, left);
    return MDL_FAILED;
}

double
gauss_plan(Run *run, double limit, bool *whole)
{
    Ode *ode = run->ode;
    double end = next_end(run->time, ode);
    *whole = end < limit - 1e-9 * ode->step;
    return (*whole ? end : limit) - run->time;
}

bool
gauss_is_hopeless(Run *run, double limit)
{
    // A step that asks for ten thousand million of them is no step; neither is one that rounding of time swallows.
    double least = fmax(64 * DBL_EPSILON * fmax(fabs(run->time), fabs(limit)),
                        GAUSS_SHORTEST * (run->options->stop - run->options->start));
    return run->ode->step < least || is_too_slow(run);
}

// Finds a step from run->time that can be kept; its end is in `next`. *h is its length.
MDL_CHECKED static int
take_step(Run *run, double limit, double *h, bool *whole)
{
    Ode *ode = run->ode;
    for (int k = 0; k < GAUSS_ATTEMPTS; k++) {
        *h = gauss_plan(run, limit, whole);
        bool trying = ode->searching;
        if (gauss_attempt(run, *h)) {
            bool fixed = run->options->step > 0, cut = *h < 0.999 * ode->step;
            if (fixed || gauss_is_good(run, *h, cut, k))
                return MDL_OK;
        } else {
            run->stats->newton_failures++;
            ode->searching = false;
            if (run->options->step > 0)
                return report_stages(run, *h);
            ode->step = fmin(ode->step, *h);
            gauss_change_step(run, 0.25);
            ode->recovering = ode->recovering || ode->chosen > 0; // an iteration that failed says less than an error does
        }
        // A step that was tried for its length says nothing about shorter ones.
        if ((ode->noisy && !trying) || gauss_is_hopeless(run, limit))
            break;
    }
    return report_stages(run, *h);
}

void
gauss_note(Ode *ode, double h, bool whole)
{
    bool cut = h < 0.999 * ode->step;
    bool same = ode->length > 0 && fabs(ode->length - h) <= 1e-9 * h;
    ode->history = same && ode->history ? 2 : 1;
    ode->length = h;
    ode->count += whole;
    if (!(ode->chosen > 0) && !(cut && ode->searching))
        ode->chosen = ode->step;
    ode->unchecked++;
    ode->nearness_before = ode->nearness;
    ode->searching = ode->searching && cut;
    ode->dense = ode->beside = false;
}

static void
remember(Ode *ode, double h, bool whole)
{
    double *swapped = ode->older;
    size_t size = (size_t)GAUSS_STAGES * ode->n;
    remember_point(ode);
    // `older` keeps the start of the allocation, so contents move instead of pointers.
    memcpy(swapped, ode->newer, size * sizeof *swapped);
    memcpy(ode->newer, ode->stages->slope, size * sizeof *swapped);
    swapped = ode->carry;
    ode->carry = ode->next_carry;
    ode->next_carry = swapped;
    Projection *kept = ode->at_start;
    ode->at_start = ode->at_end;
    ode->at_end = kept;
    gauss_note(ode, h, whole);
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
        if (run->ensemble)
            ensemble_forget(run);
        return MDL_OK;
    }
    ode->from = run->time;
    memcpy(ode->start, run->y, ode->n * sizeof *ode->start);
    memcpy(ode->slope, run->yp, ode->n * sizeof *ode->slope);
    if (!(ode->step > 0))
        ode->step = gauss_first_guess(run);
    int status;
    if (run->ensemble && run->ensemble->method->step(run, limit, &status))
        return status;
    status = take_step(run, limit, &h, &whole);
    if (status == MDL_OK)
        status = gauss_check_pace(run);
    if (status != MDL_OK)
        return status;
    run->time = whole ? ode->anchor + (double)(ode->count + 1) * ode->step : limit;
    remember(ode, h, whole);
    gauss_recover(run);
    return evaluate_reached(run, ode->next);
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
    return run->ny ? 2 * GAUSS_STAGES : -1;
}

const Stepper gauss_stepper = {.name = "gauss", .create = gauss_create, .free = gauss_free, .start = gauss_start,
                               .step = gauss_step, .interpolate = gauss_interpolate, .stats = gauss_stats, .judge = gauss_judge,
                               .snapshot = gauss_snapshot, .settle = gauss_settle};
