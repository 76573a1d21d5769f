// delay_history.c: accepted points and events that delays may still ask for.
//
// Purpose: what is delayed is known where the run has been.
// Method: points in the order of time, those between two breaks (events, and the start) on one smooth stretch; a break knows how many delays
//         it has passed, and is followed no further than the integrators' order (Bellen and Zennaro, Numerical Methods for Delay Differential Equations,
//         2003, chapter 2). What no delay reaches any more is given up, half of all at least.
// Contract: delay_inner.h. Complexity: constant per point, in the mean; memory: the points within the longest delay.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory/delay_inner.h"
#include "runtime/point/sense.h"

double
delay_input(const Run *run, uint32_t k)
{
    const mdl_delay *delay = &run->model->delay[k];
    return delay->sign * run->v[delay->input];
}

void
delay_read_row(const Run *run, double *row)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        row[k] = delay_input(run, k);
}

bool
delay_more_points(Delays *delays, uint32_t n, size_t capacity)
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
    while (drop + 2 * POLYNOMIAL_POINTS < delays->points && delays->time[drop + 2 * POLYNOMIAL_POINTS] < delays->needed - longest)
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

void
delay_add_point(Run *run, double time, const double *row, bool starts)
{
    Delays *delays = run->delays;
    uint32_t n = run->model->n_delays;
    size_t at = delays->points;
    if (!starts && at && !(time > delays->time[at - 1]))
        return;
    if (at == delays->capacity) {
        drop_points(run);
        at = delays->points;
        if (at == delays->capacity && !delay_more_points(delays, n, at ? 2 * at : 64)) {
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

void
delay_add_start(Run *run)
{
    StepPoints *step = &run->delays->step;
    step_points_begin(step, run, delay_read_row);
    delay_add_point(run, step->time[0], step->value, true);
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

bool
delay_more_breaks(Delays *delays, size_t capacity)
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

void
delay_add_break(Run *run, uint32_t level, bool jumped)
{
    Delays *delays = run->delays;
    if (level >= delays->levels)
        return;
    if (delays->breaks == delays->break_capacity)
        drop_breaks(run);
    if (delays->breaks == delays->break_capacity) {
        if (!delay_more_breaks(delays, delays->breaks ? 2 * delays->breaks : 16)) {
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
