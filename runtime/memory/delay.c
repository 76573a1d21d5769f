// delay.c: delayed values from a history of accepted points.
//
// Purpose: delay(u, T) at time t is u(t - T); before the start of the run it is u at the start.
// Method: accepted points and points within each step (step_points.c) are kept (delay_history.c); values in between are those of polynomials
//         through them (delay_values.c), never across a discontinuity. Every event is one, and the
//         start; where T has passed since, the run has an event of its own, so that the integrator starts afresh there.
//         Such events make discontinuities of the next higher derivative, which are followed up to the order of the
//         integrators, or fewer times where there are many delays (Bellen and Zennaro, Numerical Methods for Delay Differential Equations, 2003, chapter 2).
//         Steps are no longer than the shortest delay, so that no value of the step being made is asked for. A delay that may
//         vanish does ask for these; the steps of these runs are kept where the polynomial is right to the tolerance. What is read of
//         the past bounds them as well (past_scale.c). Sensitivities: delay_tangents.c.
// Contract: see memory.h. Complexity: per evaluation and delay a bisection; memory: the points within the longest delay.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory/delay_inner.h"
#include "runtime/memory/past_scale.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"

enum { KEPT_LEVELS = 6, MOST_BRANCHES = 64 };

MDL_CHECKED static int
delay_create(Run *run)
{
    uint32_t n = run->model->n_delays;
    if (!n)
        return MDL_OK;
    Delays *delays = calloc(1, sizeof *delays);
    run->delays = delays;
    if (!delays)
        return MDL_INTERNAL;
    delays->parameters = run->options->sense ? run->options->sense->n : 0;
    delays->passed = calloc(n, sizeof *delays->passed);
    delays->came = calloc(2 * (size_t)n, sizeof *delays->came);
    for (uint32_t k = 0; k < n; k++)
        delays->moving = delays->moving || run->model->delay[k].moving;
    for (uint32_t k = 0; k < n; k++)
        delays->weighted = delays->weighted || run->model->delay[k].weight;
    // Every break is one for every delay: with many of them following all levels would cost more than it gives.
    double branches = n;
    for (delays->levels = 1; delays->levels < KEPT_LEVELS && branches * n <= MOST_BRANCHES; delays->levels++)
        branches *= n;
    bool good = step_points_create(&delays->step, n) && delay_times_create(&delays->times, n) && delays->passed && delays->came;
    delays->noted = calloc((size_t)n * delays->parameters + n, sizeof *delays->noted);
    delays->behind = delays->noted ? delays->noted + (size_t)n * delays->parameters : NULL;
    good = good && delays->noted;
    delays->rate = good ? delays->came + n : NULL;
    return good ? MDL_OK : MDL_INTERNAL;
}

static void
delay_free(Run *run)
{
    Delays *delays = run->delays;
    if (!delays)
        return;
    free(delays->time);
    free(delays->value);
    free(delays->starts);
    free(delays->moved);
    free(delays->tau);
    free(delays->noted);
    free(delays->broken);
    free(delays->passed);
    free(delays->came);
    delay_times_free(&delays->times);
    step_points_free(&delays->step);
    free(delays);
    run->delays = NULL;
}

// --- the run

MDL_CHECKED static int
check_times(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++) {
        double time = run->model->delay[k].time_sign * run->v[run->model->delay[k].time], most = run->v[run->model->delay[k].most];
        bool positive = time > 0 || (run->model->delay[k].weight && time >= -1e-12 * most);
        if (positive && time <= most * (1 + 8 * DBL_EPSILON) && isfinite(time))
            continue;
        if (time > most)
            run_message(run, MDL_ERROR, "%s: at time %.12g: the delay of %.9g is longer than the longest that was announced, %.9g",
                        run->model->delay[k].where, run->v[0], time, most);
        else
            run_message(run, MDL_ERROR, "%s: at time %.12g: the delay is %.9g; it must %s", run->model->delay[k].where, run->v[0], time,
                        time == 0 ? "be positive in a model that was compiled with a positive delay" : "not be negative, and finite");
        return MDL_FAILED;
    }
    return MDL_OK;
}

static double
least_reach(const Run *run)
{
    return 0.01 * sqrt(run->tolerance) * (run->options->stop - run->options->start);
}

// What vanishes has passed whatever has happened by now.
static void
pass_vanished(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        if (delay_vanishes(run, k))
            run->delays->passed[k] = run->delays->breaks;
}

// How far the polynomial through the points before a step and its end is from that with one point less, in its middle, in units of
// the tolerance.
static double
error_within(const Run *run, uint32_t k, const Latest *latest)
{
    const Delays *delays = run->delays;
    double last = delays->time[latest->at[0]], time = last + (run->v[0] - last) / 2, now = delay_input(run, k), rest, fewer;
    double weight = delay_share(run, delay_kept(run, k), latest, latest->count, time, &rest);
    double less = delay_share(run, delay_kept(run, k), latest, latest->count - 1, time, &fewer);
    double size = fabs(now) + fabs(delays->value[latest->at[0] * run->model->n_delays + k]);
    return fabs(rest - fewer + (weight - less) * now) / (run->tolerance * (size + 1e-3));
}

// After an accepted step whose points are not there yet, with v at its end: how long the next one may be.
static void
update_reach(Run *run)
{
    Delays *delays = run->delays;
    double length = run->v[0] - delays->time[delays->points - 1], factor = 2;
    const Latest latest = delay_latest(delays, run->v[0]);
    for (uint32_t k = 0; k < run->model->n_delays && latest.count > 1; k++)
        if (run->model->delay[k].weight && !delay_vanishes(run, k))
            factor = fmin(factor, pow(3 / fmax(error_within(run, k, &latest), 1e-12), 1.0 / (double)latest.count));
    delays->reach = fmax(fmax(factor, 0.2) * length, least_reach(run));
}

static void
delay_begin(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        if (run->model->delay[k].weight)
            run->v[run->model->delay[k].weight] = 1;
}

// Behind an event how fast a delay changes is seen a little later, along the slopes of the states. v stays as it is.
static void
measure_rates(Run *run)
{
    static const double LATER = 1e-7; // of the run
    const mdl_model *model = run->model;
    Delays *delays = run->delays;
    double later = LATER * (run->options->stop - run->options->start), *kept = NULL;
    size_t nv = model->nv, chosen = 3 * (size_t)model->n_delays; // the times that were looked up belong to v
    if (delays->moving || (delays->weighted && delays->parameters))
        kept = malloc((nv + chosen) * sizeof *kept);
    for (uint32_t k = 0; k < model->n_delays; k++)
        delays->rate[k] = 1;
    if (!kept)
        return;
    memcpy(kept, run->v, nv * sizeof *kept);
    memcpy(kept + nv, delays->times.last, chosen * sizeof *kept);
    for (uint32_t k = 0; k < model->n_delays; k++)
        delays->behind[k] = -delay_input(run, k);
    run->v[0] = run->time + later;
    for (uint32_t i = 0; i < model->nx; i++)
        run->v[model->y + i] = run->y[i] + later * run->yp[i];
    bool solved = evaluate_solved(run, false) == MDL_OK;
    for (uint32_t k = 0; k < model->n_delays; k++) {
        double rate = (run->v[0] - delay_time(run, k) - delays->came[k]) / later;
        delays->rate[k] = solved && model->delay[k].moving && isfinite(rate) ? rate : 1;
        delays->behind[k] = solved ? (delays->behind[k] + delay_input(run, k)) / later : 0;
    }
    failure_clear(run);
    memcpy(run->v, kept, nv * sizeof *kept);
    memcpy(delays->times.last, kept + nv, chosen * sizeof *kept);
    free(kept);
}

// The end of a step, in v, is the beginning of the next one.
static void
note_places(Run *run, bool behind_event)
{
    Delays *delays = run->delays;
    double passed = behind_event ? 0 : run->v[0] - delays->came_at;
    for (uint32_t k = 0; k < run->model->n_delays; k++) {
        double place = run->v[0] - delay_time(run, k);
        if (passed > 0)
            delays->rate[k] = run->model->delay[k].moving ? (place - delays->came[k]) / passed : 1;
        delays->came[k] = place;
    }
    delays->before = run->v[0] - passed;
    delays->came_at = run->v[0];
    if (behind_event)
        measure_rates(run);
}

int
delay_start(Run *run)
{
    if (!run->delays)
        return MDL_OK;
    int status = check_times(run);
    if (status != MDL_OK)
        return status;
    run->delays->needed = run->v[0];
    delay_add_break(run, 0, false);
    delay_add_start(run);
    note_places(run, true);
    pass_vanished(run);
    run->delays->reach = least_reach(run);
    return run->delays->failed ? MDL_INTERNAL : MDL_OK;
}

MDL_CHECKED static int
delay_record(Run *run, double before, double instant)
{
    int status = MDL_OK;
    if (!run->delays)
        return MDL_OK;
    run->delays->needed = before;
    bool reaching = run->delays->weighted && instant > run->delays->time[run->delays->points - 1];
    if (reaching)
        status = evaluate_at(run, instant, true);
    if (status == MDL_OK && reaching)
        update_reach(run);
    StepPoints *step = &run->delays->step;
    if (status == MDL_OK)
        status = step_points_take(step, run, instant, delay_read_row);
    for (size_t i = step->first; i < step->points && status == MDL_OK; i++) {
        // Before the point is there: until then what a short delay asks for is a share of the present.
        if (run->sense)
            status = evaluate_at(run, step->time[i], true);
        if (status == MDL_OK && run->sense)
            status = delay_note_present(run);
        delay_add_point(run, step->time[i], step->value + i * step->columns, step->apart[i]);
        if (run->sense && !run->delays->failed)
            delay_keep_noted(run);
    }
    if (status != MDL_OK)
        return status;
    if (run->delays->failed) {
        run_message(run, MDL_ERROR, "out of memory for the history of delays");
        return MDL_INTERNAL;
    }
    if (run->v[0] == instant)
        note_places(run, false);
    return check_times(run);
}

bool
delay_reaches(const Run *run, double instant)
{
    const Delays *delays = run->delays;
    for (uint32_t k = 0; delays && k < run->model->n_delays; k++)
        if (delays->passed[k] < delays->breaks
            && delays->broken[delays->passed[k]].time + delay_time(run, k) <= instant + 8 * DBL_EPSILON * fabs(instant))
            return true;
    return false;
}

bool
delay_passes(const Run *run)
{
    const Delays *delays = run->delays;
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        if (run->model->delay[k].moving && delays->passed[k] < delays->breaks
            && delays->broken[delays->passed[k]].time + delay_time(run, k) < run->v[0] - 8 * DBL_EPSILON * fabs(run->v[0]))
            return true;
    return false;
}

bool
delay_may_pass(const Run *run)
{
    return run->delays && run->delays->moving;
}

bool
delay_due(Run *run, double instant)
{
    Delays *delays = run->delays;
    bool any = false;
    if (!delays)
        return false;
    delays->next_level = 0;
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        while (delays->passed[k] < delays->breaks) {
            const Break *at = &delays->broken[delays->passed[k]];
            double due = at->time + delay_time(run, k);
            if (due > instant + 8 * DBL_EPSILON * fabs(instant))
                break;
            if (!any || at->level + 1 < delays->next_level)
                delays->next_level = at->level + 1;
            any = true;
            delays->passed[k]++;
        }
    return any;
}

int
delay_event(Run *run, bool of_delay)
{
    Delays *delays = run->delays;
    if (!delays)
        return MDL_OK;
    uint32_t n = run->model->n_delays, level = of_delay ? delays->next_level : 0;
    bool jumped = false;
    for (uint32_t k = 0; k < n && delays->points; k++) {
        jumped = jumped || delay_is_jump(delays->value[(delays->points - 1) * n + k], delay_input(run, k));
    }
    delay_add_break(run, jumped ? 0 : level, jumped);
    delay_add_start(run);
    note_places(run, true);
    pass_vanished(run);
    run->delays->reach = least_reach(run);
    return delays->failed ? MDL_INTERNAL : MDL_OK;
}

uint32_t
delay_guards(const Run *run, double *value)
{
    const Delays *delays = run->delays;
    uint32_t n = 0;
    for (uint32_t k = 0; k < run->model->n_delays; k++) {
        if (!run->model->delay[k].moving)
            continue;
        if (value) {
            double left = delays->passed[k] < delays->breaks ? delays->broken[delays->passed[k]].time + delay_time(run, k) - run->v[0] : 1;
            value[n] = left == 0 ? -DBL_MIN : left;
        }
        n++;
    }
    return n;
}

double
delay_next_instant(const Run *run)
{
    const Delays *delays = run->delays;
    double next = INFINITY;
    if (!delays)
        return next;
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        if (delays->passed[k] < delays->breaks && !(run->outside && run->model->delay[k].moving))
            next = fmin(next, fmax(delays->broken[delays->passed[k]].time + delay_time(run, k),
                                   run->time + 16 * DBL_EPSILON * fabs(run->time)));
    return next;
}

// Changes of what is delayed that are no more than it may be wrong by.
static double
nothing_of(const Run *run, uint32_t k)
{
    uint32_t input = run->model->delay[k].input - run->model->y;
    return 4 * (run->tolerance * run->delays->step.size[k] + (input < run->model->nx ? run->abstol[input] : 0));
}

// How long the next step may be for what it reads of the past.
static double
past_length(const Run *run, uint32_t k)
{
    static const double GROWTH = 20, LEAST_RATE = 1e-3; // a step is no longer than so many times the one before
    const Delays *delays = run->delays;
    double last = delays->came_at - delays->before, rate = delays->rate[k], speed = fmax(fabs(rate), LEAST_RATE), from = delays->came[k];
    size_t first = delay_first_behind(delays, 0, delays->points, from);
    if (rate < 0 ? first == 0 : first == delays->points)
        return INFINITY;
    Past past = {.at = delays->time, .value = delays->value + k, .starts = delays->starts, .stride = run->model->n_delays,
                 .points = delays->points, .first = first - (rate < 0), .backward = rate < 0, .falling = rate < 0, .nothing = nothing_of(run, k)};
    PastScale scale = past_scale(run, &past, from, last > 0 ? GROWTH * last * speed : INFINITY, run_shortest(run));
    return fmax(fmin(scale.pace, scale.end) / speed, run_shortest(run));
}

static double
delay_limit(const Run *run)
{
    double shortest = INFINITY;
    bool bounded = run->delays && run->delays->points && !(run->options->step > 0) && !run->options->outside; // steps of others have lengths of their own
    for (uint32_t k = 0; run->delays && k < run->model->n_delays; k++) {
        double time = run->model->delay[k].moving ? delay_time(run, k) / 2 : delay_time(run, k);
        if (delay_vanishes(run, k)) // nothing is asked of the polynomial
            continue;
        shortest = fmin(shortest, run->model->delay[k].weight ? fmax(time, run->delays->reach) : time);
        if (bounded)
            shortest = fmin(shortest, past_length(run, k));
    }
    return run->time + shortest;
}

// The counts come first: with them there is room for what they count.
static void
delay_snapshot(Run *run, Snapshot *snapshot)
{
    Delays *delays = run->delays;
    uint32_t n = run->model->n_delays;
    size_t points = delays->points, breaks = delays->breaks;
    snapshot_part(snapshot, &points, sizeof points);
    snapshot_part(snapshot, &breaks, sizeof breaks);
    if ((points > delays->capacity && !delay_more_points(delays, n, points)) || (breaks > delays->break_capacity && !delay_more_breaks(delays, breaks))) {
        snapshot->failed = true;
        return;
    }
    delays->points = points;
    delays->breaks = breaks;
    snapshot_part(snapshot, delays->time, points * sizeof *delays->time);
    snapshot_part(snapshot, delays->value, points * n * sizeof *delays->value);
    snapshot_part(snapshot, delays->starts, points);
    snapshot_part(snapshot, delays->broken, breaks * sizeof *delays->broken);
    snapshot_part(snapshot, delays->passed, n * sizeof *delays->passed);
    snapshot_part(snapshot, delays->times.last, n * sizeof *delays->times.last);
    snapshot_part(snapshot, delays->came, 2 * (size_t)n * sizeof *delays->came);
    snapshot_part(snapshot, &delays->came_at, sizeof delays->came_at);
    snapshot_part(snapshot, &delays->before, sizeof delays->before);
    snapshot_part(snapshot, &delays->dropped, sizeof delays->dropped);
    snapshot_part(snapshot, &delays->needed, sizeof delays->needed);
    snapshot_part(snapshot, &delays->next_level, sizeof delays->next_level);
    snapshot_part(snapshot, &delays->reach, sizeof delays->reach);
    step_points_snapshot(&delays->step, snapshot);
}

static bool
present(const Run *run)
{
    return run->model->n_delays != 0;
}

const RunPart delay_part = {
    .name = "delay", .create = delay_create, .free = delay_free, .present = present, .begin = delay_begin,
    .load = delay_load, .moved = delay_moved, .tell_open = delay_tell_open, .seed = delay_tangents,
    .limit = delay_limit, .record = delay_record,
    .snapshot = delay_snapshot,
};
