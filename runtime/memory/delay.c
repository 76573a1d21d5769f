// delay.c: delayed values from a history of accepted points.
//
// Purpose: delay(u, T) at time t is u(t - T); before the start of the run it is u at the start.
// Method: accepted points and points within each step (step_points.c) are kept; values in between are those of the polynomial of
//         degree five through the nearest of them (Neville), never across a discontinuity. Every event is one, and the
//         start; where T has passed since, the run has an event of its own, so that the integrator starts afresh there.
//         Such events make discontinuities of the next higher derivative, which are followed up to the order of the
//         integrators, or fewer times where there are many delays (Bellen and Zennaro, Numerical Methods for Delay Differential Equations, 2003, chapter 2).
//         Steps are no longer than the shortest delay, so that no value of the step being made is asked for. A delay that may
//         vanish does ask for these: they lie on the polynomial through accepted points and what is delayed at the present instant, whose
//         share is a weight in the equations (the implicit continuous extension of such methods, chapter 6 there). The steps of
//         these runs are kept where the polynomial is right to the tolerance. What is read of the past bounds them as well (past_scale.c).
//         Sensitivities are kept beside the values and interpolated like them; those of times that the dynamics compute: time_tangents.c.
// Contract: see memory.h. Complexity: per evaluation and delay a bisection; memory: the points within the longest delay.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory/delay_times.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/past_scale.h"
#include "runtime/memory/step_points.h"
#include "runtime/memory/time_tangents.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/sense.h"
#include "runtime/point/snapshot.h"

enum { ORDER = 5, POINTS = ORDER + 1, KEPT_LEVELS = 6, MOST_BRANCHES = 64 };

typedef struct Break {    // an event within the history, or the start
    double time;
    uint64_t point;       // the first point after it, counted from the start of the run
    uint32_t level;       // 0: not made by a delay alone; otherwise how many delays it has passed
    bool jumped;          // an input had another value behind it
} Break;

struct Delays {
    StepPoints step;      // points of the latest step
    double *time;         // of the points; all inputs are sampled together
    double *value;        // n_delays per point
    uint8_t *starts;      // per point: it stands behind an event
    uint32_t parameters;  // sensitivities are wanted to so many of them
    double *moved;        // per point, delay and parameter: the derivative of the value
    double *tau;          // per break and parameter: the derivative of its time
    double *noted;        // per delay and parameter: the derivative of what is delayed now
    double *slope;        // per delay: how fast what was delayed moved at that time of the past
    double *behind;       // per delay: how fast what is delayed moves behind the latest event
    TimeTangents follow;  // derivatives of delay times that the dynamics compute
    size_t points, capacity;
    uint64_t dropped;     // points given up at the front
    double needed;        // rows and points of the last step may still be asked for from here on
    Break *broken;
    size_t breaks, break_capacity;
    size_t *passed;       // per delay: breaks that its argument has passed; the first is the start
    DelayTimes times;     // for which the values in v were looked up
    double *came;         // per delay: the time of the past that it has come to at the end of the latest step,
    double *rate;         // and how fast that moves while time does by one
    double came_at, before; // the end of that step and of the one before
    bool moving;          // some delay time may change
    bool weighted;        // some delay may vanish
    double reach;         // with these: the length of the next step at which the polynomial beyond the last point is right
    bool failed;          // out of memory
    uint32_t levels;      // breaks of a higher level are not followed
    uint32_t next_level;  // of the event at the next instant
};

static double
input_of(const Run *run, uint32_t k)
{
    const mdl_delay *delay = &run->model->delay[k];
    return delay->sign * run->v[delay->input];
}

static void
read_row(const Run *run, double *row)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        row[k] = input_of(run, k);
}

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
    delays->noted = calloc((size_t)n * delays->parameters + 2 * (size_t)n, sizeof *delays->noted);
    delays->slope = delays->noted ? delays->noted + (size_t)n * delays->parameters : NULL;
    delays->behind = delays->noted ? delays->slope + n : NULL;
    good = good && delays->noted && (!run->options->sense || time_tangents_create(&delays->follow, run->model));
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
    time_tangents_free(&delays->follow);
    free(delays->broken);
    free(delays->passed);
    free(delays->came);
    delay_times_free(&delays->times);
    step_points_free(&delays->step);
    free(delays);
    run->delays = NULL;
}

// --- the history

static bool
more_points(Delays *delays, uint32_t n, size_t capacity)
{
    double *time = realloc(delays->time, capacity * sizeof *time);
    if (time)
        delays->time = time;
    double *value = realloc(delays->value, capacity * n * sizeof *value);
    if (value)
        delays->value = value;
    uint8_t *starts = realloc(delays->starts, capacity);
    if (starts)
        delays->starts = starts;
    double *moved = realloc(delays->moved, (capacity * n * delays->parameters + 1) * sizeof *moved);
    if (moved)
        delays->moved = moved;
    if (!time || !value || !starts || !moved)
        return false;
    delays->capacity = capacity;
    return true;
}

// Gives up points that no delay reaches any more, half of all at least.
static void
drop_points(Run *run)
{
    Delays *delays = run->delays;
    uint32_t n = run->model->n_delays;
    double longest = 0;
    for (uint32_t k = 0; k < n; k++)
        longest = fmax(longest, run->v[run->model->delay[k].most]);
    size_t drop = 0;
    while (drop + 2 * POINTS < delays->points && delays->time[drop + 2 * POINTS] < delays->needed - longest)
        drop++;
    if (!drop || 2 * drop < delays->points)
        return;
    delays->points -= drop;
    delays->dropped += drop;
    memmove(delays->time, delays->time + drop, delays->points * sizeof *delays->time);
    memmove(delays->value, delays->value + drop * n, delays->points * n * sizeof *delays->value);
    memmove(delays->starts, delays->starts + drop, delays->points);
    size_t moved = (size_t)n * delays->parameters;
    memmove(delays->moved, delays->moved + drop * moved, delays->points * moved * sizeof *delays->moved);
}

static void
add_point(Run *run, double time, const double *row, bool starts)
{
    Delays *delays = run->delays;
    uint32_t n = run->model->n_delays;
    size_t at = delays->points;
    if (!starts && at && !(time > delays->time[at - 1]))
        return;
    if (at == delays->capacity) {
        drop_points(run);
        at = delays->points;
        if (at == delays->capacity && !more_points(delays, n, at ? 2 * at : 64)) {
            delays->failed = true;
            return;
        }
    }
    // Points much closer than those before carry rounding, not slopes.
    if (!starts && at >= 2 && !delays->starts[at - 1]
        && time - delays->time[at - 1] < 1e-3 * (delays->time[at - 1] - delays->time[at - 2]))
        delays->points = --at;
    // So do those before that are much closer: two events a few roundings apart have a step between them.
    while (!starts && at >= 2 && !delays->starts[at - 1]
           && delays->time[at - 1] - delays->time[at - 2] < 1e-3 * (time - delays->time[at - 1]))
        delays->points = --at;
    delays->time[at] = time;
    delays->starts[at] = starts;
    memcpy(delays->value + at * n, row, n * sizeof *row);
    memset(delays->moved + at * n * delays->parameters, 0, (size_t)n * delays->parameters * sizeof *delays->moved);
    delays->points++;
}

// A new stretch of the history begins at the values in v.
static void
add_start(Run *run)
{
    StepPoints *step = &run->delays->step;
    step_points_begin(step, run, read_row);
    add_point(run, step->time[0], step->value, true);
}

// Forgets breaks that all delays have passed, but for the last of them.
static void
drop_breaks(Run *run)
{
    Delays *delays = run->delays;
    size_t least = delays->breaks;
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        least = delays->passed[k] < least ? delays->passed[k] : least;
    if (least < 2 || 2 * least < delays->breaks)
        return;
    delays->breaks -= least - 1;
    memmove(delays->broken, delays->broken + least - 1, delays->breaks * sizeof *delays->broken);
    memmove(delays->tau, delays->tau + (least - 1) * delays->parameters, delays->breaks * delays->parameters * sizeof *delays->tau);
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        delays->passed[k] -= least - 1;
}

static bool
more_breaks(Delays *delays, size_t capacity)
{
    Break *broken = realloc(delays->broken, capacity * sizeof *broken);
    if (broken)
        delays->broken = broken;
    double *tau = realloc(delays->tau, (capacity * delays->parameters + 1) * sizeof *tau);
    if (tau)
        delays->tau = tau;
    if (!broken || !tau)
        return false;
    delays->break_capacity = capacity;
    return true;
}

static void
add_break(Run *run, uint32_t level, bool jumped)
{
    Delays *delays = run->delays;
    if (level >= delays->levels)
        return;
    if (delays->breaks == delays->break_capacity)
        drop_breaks(run);
    if (delays->breaks == delays->break_capacity) {
        if (!more_breaks(delays, delays->breaks ? 2 * delays->breaks : 16)) {
            delays->failed = true;
            return;
        }
    }
    for (uint32_t p = 0; p < delays->parameters; p++)
        delays->tau[delays->breaks * delays->parameters + p] = run->sense->tau[p];
    Break *made = &delays->broken[delays->breaks++];
    memset(made, 0, sizeof *made); // all of its bytes go into snapshots
    made->time = run->v[0];
    made->point = delays->dropped + delays->points;
    made->level = level;
    made->jumped = jumped;
}

// --- values

static bool
is_jump(double left, double right)
{
    return fabs(right - left) > 1e-12 * (fabs(left) + fabs(right)) + DBL_MIN;
}

// First point of [low, high) behind time, or high.
static size_t
first_behind(const Delays *delays, size_t low, size_t high, double time)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (delays->time[middle] > time)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Points whose polynomial gives the value at `time`.
typedef struct Nodes {
    size_t first, count;
    double time;
} Nodes;

// The polynomial through p[i] at t[i]; p is used up, the derivative goes to *slope.
static double
polynomial(const double *t, double *p, size_t n, double time, double *slope)
{
    double d[POINTS] = {0};
    for (size_t span = 1; span < n; span++)
        for (size_t i = 0; i + span < n; i++) {
            double a = t[i], b = t[i + span];
            if (slope)
                d[i] = ((time - b) * d[i] + p[i] + (a - time) * d[i + 1] - p[i + 1]) / (a - b);
            p[i] = ((time - b) * p[i] + (a - time) * p[i + 1]) / (a - b);
        }
    if (slope)
        *slope = d[0];
    return p[0];
}

// Of numbers of which each point has `stride`; the derivative of the polynomial goes to *slope.
static double
interpolate(const Delays *delays, const double *value, size_t stride, const Nodes *nodes, double *slope)
{
    double p[POINTS];
    for (size_t i = 0; i < nodes->count; i++)
        p[i] = value[(nodes->first + i) * stride];
    return polynomial(delays->time + nodes->first, p, nodes->count, nodes->time, slope);
}

// Those nearest to `time` among points [low, high), which no break that matters divides.
static Nodes
nodes_among(const Delays *delays, size_t low, size_t high, double time)
{
    size_t at = first_behind(delays, low, high, time), left = at > low ? at - 1 : low;
    while (left > low && !delays->starts[left] && at - left < POINTS)
        left--;
    size_t right = at > low ? at : low + 1;
    while (right < high && !delays->starts[right] && right - left < 2 * POINTS)
        right++;
    // The nearest points, as many on one side as on the other where there are so many.
    size_t count = right - left;
    if (count > POINTS) {
        size_t half = at >= left + POINTS / 2 ? at - POINTS / 2 : left;
        left = half + POINTS > right ? right - POINTS : half;
        count = POINTS;
    }
    // Beyond the last point, where a delay has become shorter during a step, only a little.
    double last = delays->time[left + count - 1], span = last - delays->time[left];
    return (Nodes){left, count, fmax(fmin(time, last + 0.1 * span), delays->time[left])};
}

// Whether the input of delay k is another one behind the event; where the point before it has been given up, perhaps.
static bool
jumps(const Run *run, uint32_t k, const Break *at)
{
    const Delays *delays = run->delays;
    uint32_t n = run->model->n_delays;
    if (!at || !at->jumped || at->point <= delays->dropped)
        return at && at->jumped;
    const double *right = delays->value + (size_t)(at->point - delays->dropped) * n + k, *left = right - n;
    return is_jump(*left, *right);
}

static Nodes
nodes_at(const Run *run, uint32_t k, double time)
{
    const Delays *delays = run->delays;
    const Break *next = delays->passed[k] < delays->breaks ? &delays->broken[delays->passed[k]] : NULL;
    const Break *last = delays->passed[k] ? &delays->broken[delays->passed[k] - 1] : NULL;
    size_t low = 0, high = delays->points;
    // Before the start everything was as it is there. A delay that shortens during a step passes the start without an event.
    if (!delays->passed[k] && time <= delays->broken[0].time)
        return (Nodes){0, 1, time};
    // Which side of a jump counts is a matter of events, not of rounding.
    if (jumps(run, k, next) && next->point > delays->dropped) {
        high = (size_t)(next->point - delays->dropped);
        time = fmin(time, next->time);
    }
    if (jumps(run, k, last) && last->point > delays->dropped)
        low = (size_t)(last->point - delays->dropped);
    return low < high ? nodes_among(delays, low, high, time) : (Nodes){delays->points - 1, 1, time};
}

static double
value_at(const Run *run, uint32_t k, double time)
{
    const Nodes nodes = nodes_at(run, k, time);
    return interpolate(run->delays, run->delays->value + k, run->model->n_delays, &nodes, NULL);
}

// Points that make a polynomial with that of the present instant, latest first: about as far apart as that is from the last of them, since
// closer ones would multiply what rounding and the integrator leave in their values. No break divides them.
typedef struct Latest {
    size_t at[ORDER], count;
} Latest;

static Latest
latest_points(const Delays *delays, double now)
{
    Latest latest = {.at = {delays->points - 1}, .count = 1};
    double apart = 0.75 * (now - delays->time[delays->points - 1]);
    for (size_t at = delays->points - 1; at > 0 && latest.count < ORDER && !delays->starts[at]; at--)
        if (delays->time[latest.at[latest.count - 1]] - delays->time[at - 1] >= apart)
            latest.at[latest.count++] = at - 1;
    return latest;
}

// Numbers of which each point has `stride`.
typedef struct Kept {
    const double *value;
    size_t stride;
} Kept;

static Kept
kept_values(const Run *run, uint32_t k)
{
    return (Kept){run->delays->value + k, run->model->n_delays};
}

// The polynomial through the first `count` of them and what is delayed now: the present value's share in the value at `time`, and
// what the points give.
static double
present_share(const Run *run, Kept kept, const Latest *latest, size_t count, double time, double *rest)
{
    const Delays *delays = run->delays;
    double now = run->v[0], weight = 1;
    *rest = 0;
    for (size_t j = 0; j < count; j++) {
        double t = delays->time[latest->at[j]], share = (time - now) / (t - now);
        weight *= (time - t) / (now - t);
        for (size_t i = 0; i < count; i++)
            if (i != j)
                share *= (time - delays->time[latest->at[i]]) / (t - delays->time[latest->at[i]]);
        *rest += share * kept.value[latest->at[j] * kept.stride];
    }
    return weight;
}

static bool
vanishes(const Run *run, uint32_t k)
{
    return run->model->delay[k].weight && delay_time(run, k) <= 8 * DBL_EPSILON * fabs(run->v[0]);
}

// Whether the delayed value lies beyond the last point, on the near side of jumps.
static bool
beyond_points(const Run *run, uint32_t k, double time)
{
    const Delays *delays = run->delays;
    const Break *next = delays->passed[k] < delays->breaks ? &delays->broken[delays->passed[k]] : NULL;
    return run->model->delay[k].weight && !jumps(run, k, next) && time > delays->time[delays->points - 1];
}

static void
load(Run *run, uint32_t k)
{
    const Delays *delays = run->delays;
    const mdl_delay *delay = &run->model->delay[k];
    double now = run->v[0], time = now - delay_time(run, k), weight = 0, value;
    if (vanishes(run, k)) {
        weight = 1;
        value = 0;
    } else if (beyond_points(run, k, time)) {
        const Latest latest = latest_points(delays, now);
        weight = present_share(run, kept_values(run, k), &latest, latest.count, time, &value);
    } else {
        value = value_at(run, k, time);
    }
    run->v[delay->value] = value;
    if (delay->weight)
        run->v[delay->weight] = weight;
}

static bool
delay_load(Run *run, unsigned pass)
{
    Delays *delays = run->delays;
    if (!delays || !delays->points)
        return false;
    delay_times_choose(run, &delays->times, pass);
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        load(run, k);
    return delays->moving;
}

static bool
delay_moved(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        if (delay_time_moved(run, &run->delays->times, k))
            return true;
    return false;
}

static void
delay_tell_open(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        if (delay_time_moved(run, &run->delays->times, k))
            run_message(run, MDL_ERROR, "%s: at time %.12g: the delay follows from the value that it delays, and no delay was found that gives itself "
                        "(a value delayed by %.9g says %.9g)", run->model->delay[k].where, run->v[0], run->delays->times.last[k], delay_time(run, k));
}

// --- sensitivities: y(t) = u(t - T) moves by s(t - T) + (dt - dT)*u'(t - T)

// How fast what is delayed moves at `time`, behind the last point, by the polynomial that goes on to the present instant.
static double
slope_beyond(const Run *run, uint32_t k, const Latest *latest, double time)
{
    const Delays *delays = run->delays;
    double t[POINTS] = {run->v[0]}, p[POINTS] = {input_of(run, k)}, slope;
    for (size_t j = 0; j < latest->count; j++) {
        t[j + 1] = delays->time[latest->at[j]];
        p[j + 1] = delays->value[latest->at[j] * run->model->n_delays + k];
    }
    (void)polynomial(t, p, latest->count + 1, time, &slope);
    return slope;
}

// How fast what is delayed moves now.
static double
slope_now(const Run *run, uint32_t k)
{
    const Delays *delays = run->delays;
    if (run->v[0] > delays->time[delays->points - 1]) {
        const Latest latest = latest_points(delays, run->v[0]);
        return slope_beyond(run, k, &latest, run->v[0]);
    }
    const Nodes nodes = nodes_at(run, k, run->v[0]);
    double slope;
    interpolate(delays, delays->value + k, run->model->n_delays, &nodes, &slope);
    return nodes.count > 1 ? slope : delays->behind[k];
}

// By parameter p, or UINT32_MAX: by none, what was delayed moves at the time of the past that delay k has come to, which moves with time alone. What
// the equations add as a share of the present is left out; *slope: how fast it moved there.
static double
past_tangent(const Run *run, uint32_t k, uint32_t p, double *slope)
{
    const Delays *delays = run->delays;
    const Kept moved = {p == UINT32_MAX ? NULL : delays->moved + (size_t)k * delays->parameters + p, (size_t)run->model->n_delays * delays->parameters};
    double now = run->v[0], time = now - delay_time(run, k), tau = *tangent_at(run->sense->tangent, 0), change = 0;
    if (vanishes(run, k)) {
        *slope = slope_now(run, k);
        return 0;
    }
    if (beyond_points(run, k, time)) {
        const Latest latest = latest_points(delays, now);
        double rest, weight = present_share(run, kept_values(run, k), &latest, latest.count, time, &rest);
        *slope = slope_beyond(run, k, &latest, time);
        if (moved.value)
            (void)present_share(run, moved, &latest, latest.count, time, &change);
        return change + (*slope - weight * slope_beyond(run, k, &latest, now)) * tau;
    }
    const Nodes nodes = nodes_at(run, k, time);
    interpolate(delays, delays->value + k, run->model->n_delays, &nodes, slope);
    if (moved.value)
        change = interpolate(delays, moved.value, moved.stride, &nodes, NULL);
    return change + *slope * tau;
}

void
delay_tangents(const Run *run, uint32_t p)
{
    Delays *delays = run->delays;
    const Tangent *tangent = run->sense->tangent;
    for (uint32_t k = 0; delays && delays->points && k < run->model->n_delays; k++) {
        const mdl_delay *delay = &run->model->delay[k];
        double value = past_tangent(run, k, p, &delays->slope[k]);
        // Times that the dynamics compute are not known before these.
        double time = delay->moving ? 0 : delay->time_sign * *tangent_at(tangent, delay->time);
        *tangent_at(tangent, delay->value) = value - delays->slope[k] * time;
    }
}

static bool
delay_again_tangent(Run *run, unsigned pass)
{
    Delays *delays = run->delays;
    return run->sense && delays->points && delays->moving && time_tangents_choose(run, &delays->follow, delays->slope, pass);
}

// What is delayed at the point in v, which is evaluated, to `moved`.
MDL_CHECKED static int
note_tangents(const Run *run, double *moved, uint32_t passes)
{
    uint32_t parameters = run->delays->parameters;
    int status = tangent_factor(run->sense->tangent);
    for (uint32_t pass = 0; pass < passes && status == MDL_OK; pass++)
        for (uint32_t p = 0; p < parameters; p++) {
            sense_seed(run, p, run->sense->present + (size_t)p * run->sense->nx);
            tangent_dynamics(run->sense->tangent);
            for (uint32_t k = 0; k < run->model->n_delays; k++)
                moved[(size_t)k * parameters + p] = run->model->delay[k].sign * *tangent_at(run->sense->tangent, run->model->delay[k].input);
        }
    return status;
}

MDL_CHECKED static int
note_present(const Run *run)
{
    return note_tangents(run, run->delays->noted, 1);
}

static void
keep_noted(const Run *run)
{
    Delays *delays = run->delays;
    size_t size = (size_t)run->model->n_delays * delays->parameters;
    if (delays->time[delays->points - 1] == run->v[0])
        memcpy(delays->moved + (delays->points - 1) * size, delays->noted, size * sizeof *delays->noted);
}

int
delay_note_tangents(const Run *run)
{
    Delays *delays = run->delays;
    uint32_t n = run->model->n_delays;
    if (!delays || !delays->points || delays->time[delays->points - 1] != run->v[0])
        return MDL_OK;
    // At the start what is delayed is what it will be: delays of delays take one pass more each.
    return note_tangents(run, delays->moved + (delays->points - 1) * n * delays->parameters, delays->points > 1 ? 1 : n + 1);
}

bool
delay_arrives(const Run *run, uint32_t k)
{
    const Delays *delays = run->delays;
    const Break *at = &delays->broken[delays->passed[k]];
    return delays->passed[k] < delays->breaks && at->jumped && at->time + delay_time(run, k) <= run->v[0] + 8 * DBL_EPSILON * fabs(run->v[0]);
}

double
delay_tangent(const Run *run, uint32_t k)
{
    return run->model->delay[k].time_sign * *tangent_at(run->sense->tangent, run->model->delay[k].time);
}

double
delay_break_moves(const Run *run, uint32_t k, uint32_t p)
{
    return run->delays->tau[run->delays->passed[k] * run->delays->parameters + p];
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
        if (vanishes(run, k))
            run->delays->passed[k] = run->delays->breaks;
}

// How far the polynomial through the points before a step and its end is from that with one point less, in its middle, in units of
// the tolerance.
static double
error_within(const Run *run, uint32_t k, const Latest *latest)
{
    const Delays *delays = run->delays;
    double last = delays->time[latest->at[0]], time = last + (run->v[0] - last) / 2, now = input_of(run, k), rest, fewer;
    double weight = present_share(run, kept_values(run, k), latest, latest->count, time, &rest);
    double less = present_share(run, kept_values(run, k), latest, latest->count - 1, time, &fewer);
    double size = fabs(now) + fabs(delays->value[latest->at[0] * run->model->n_delays + k]);
    return fabs(rest - fewer + (weight - less) * now) / (run->tolerance * (size + 1e-3));
}

// After an accepted step whose points are not there yet, with v at its end: how long the next one may be.
static void
update_reach(Run *run)
{
    Delays *delays = run->delays;
    double length = run->v[0] - delays->time[delays->points - 1], factor = 2;
    const Latest latest = latest_points(delays, run->v[0]);
    for (uint32_t k = 0; k < run->model->n_delays && latest.count > 1; k++)
        if (run->model->delay[k].weight && !vanishes(run, k))
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
        delays->behind[k] = -input_of(run, k);
    run->v[0] = run->time + later;
    for (uint32_t i = 0; i < model->nx; i++)
        run->v[model->y + i] = run->y[i] + later * run->yp[i];
    bool solved = evaluate_solved(run, false) == MDL_OK;
    for (uint32_t k = 0; k < model->n_delays; k++) {
        double rate = (run->v[0] - delay_time(run, k) - delays->came[k]) / later;
        delays->rate[k] = solved && model->delay[k].moving && isfinite(rate) ? rate : 1;
        delays->behind[k] = solved ? (delays->behind[k] + input_of(run, k)) / later : 0;
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
    add_break(run, 0, false);
    add_start(run);
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
        status = step_points_take(step, run, instant, read_row);
    for (size_t i = step->first; i < step->points && status == MDL_OK; i++) {
        // Before the point is there: until then what a short delay asks for is a share of the present.
        if (run->sense)
            status = evaluate_at(run, step->time[i], true);
        if (status == MDL_OK && run->sense)
            status = note_present(run);
        add_point(run, step->time[i], step->value + i * step->columns, step->apart[i]);
        if (run->sense && !run->delays->failed)
            keep_noted(run);
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
        jumped = jumped || is_jump(delays->value[(delays->points - 1) * n + k], input_of(run, k));
    }
    add_break(run, jumped ? 0 : level, jumped);
    add_start(run);
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
    size_t first = first_behind(delays, 0, delays->points, from);
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
        if (vanishes(run, k)) // nothing is asked of the polynomial
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
    if ((points > delays->capacity && !more_points(delays, n, points)) || (breaks > delays->break_capacity && !more_breaks(delays, breaks))) {
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
    .load = delay_load, .moved = delay_moved, .tell_open = delay_tell_open, .seed = delay_tangents, .again_tangent = delay_again_tangent, .limit = delay_limit, .record = delay_record,
    .snapshot = delay_snapshot,
};
