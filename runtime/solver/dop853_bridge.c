// dop853_bridge.c: a step of dop853 over a position in which invariants depend on each other.
//
// Purpose: a linkage goes through its folded position on the branch on which it came, and its motion is smooth there, but slopes near it are noise: with
//          sigma the least singular value of the constraints' gradients rounding moves velocities by rounding/sigma^2 and accelerations by rounding/sigma^3. Steps that
//          become shorter on the way there end where nothing is known.
// Method: no slope is taken near the position. From some steps before it short ones lead to where invariants say enough; slopes at five points there are continued to the
//         first point behind at which they do so again, and four short steps lead on. The slopes on both sides make a polynomial, whose integral over the gap gives
//         the point behind better, and so the slopes there, until nothing changes: collocation with its points beside the gap instead of within. Continuing alone would
//         multiply the errors of the points before by binomial coefficients. What eight and six of the ten slopes give says how exact it is.
// Contract: dop853_inner.h. Complexity: some hundred evaluations for a position.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/collocation.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/dop853_inner.h"
#include "runtime/solver/solver.h"

enum { PAST = 6, FINE = 32, SIDE = BRIDGE_SLOPES / 2 }; // usual steps that are remembered; short ones; points on each side
enum { NEAR = 4, PER_STEP = 8, LEAST_FINE = 6, ENOUGH = 16, TRIES = 12, ROUNDS = 8, PANELS = 2, QUICK = 2, STRIDES = 4 };

static const double CLEAR = 1e-4;     // noise of invariants (projection_noise()) where slopes are taken; where the gap is too wide then ten times as much,
static const double MOST = 0.0101;    // up to that
static const double BEHIND = 0.7;     // of the noise where an attempt has ended: what is less, and later, is behind the position
static const double KNOWN = 1e-3;     // where short steps may begin, or not more than
static const double ABOVE = 30;       // times the least
static const double SHRUNK = 0.5;     // of a usual step: what is shorter does not come from the motion
static const double FORGETTING = 0.95;
static const double WIDER = 1.25;     // from one gap that is tried to the next
static const double REACH = 6;        // gaps of as many distances of the points
static const double SAME = 0.3;       // of what a step may be wrong by: a change that is none,
static const double NOISE = 3;        // and one that may be noise of the slopes
static const double EXACT = 5;        // of what a step may be wrong by, which is a part of the tolerance: there are few bridges
static const double BRANCH = 1e-2;    // of the size of a state: what is continued must not be farther from the invariants, which have several branches here

struct Bridge {
    uint32_t n;
    double *past, past_at[PAST], past_noise[PAST];
    uint32_t kept, latest;
    double usual;                     // how far they are from each other
    bool missed;                      // between the latest one and now invariants did not say enough
    double *fine, *fine_slope, fine_at[FINE + 1], fine_noise[FINE + 1];
    uint32_t count;                   // short steps
    double *behind, *before, *trial, *fewer;  // the point behind, as it was in the round before, and points
    double *from;                     // where the gap begins
    double *slope[BRIDGE_SLOPES], at[BRIDGE_SLOPES]; // those of the polynomial, in the order of time
    bool made;                        // the last step was a bridge
    Steps steps;                      // short ones
};

Bridge *
bridge_create(uint32_t n)
{
    Bridge *bridge = calloc(1, sizeof *bridge);
    if (!bridge)
        return NULL;
    bridge->n = n;
    bridge->past = calloc((size_t)(PAST + 1 + BRIDGE_SLOPES) * n + 1, sizeof *bridge->past);
    if (!bridge->past) {
        free(bridge);
        return NULL;
    }
    bridge->from = bridge->past + (size_t)PAST * n;
    for (uint32_t k = 0; k < BRIDGE_SLOPES; k++)
        bridge->slope[k] = bridge->from + (size_t)(k + 1) * n;
    return bridge;
}

void
bridge_free(Bridge **slot)
{
    if (!*slot)
        return;
    steps_free(&(*slot)->steps);
    free((*slot)->fine);
    free((*slot)->past);
    free(*slot);
    *slot = NULL;
}

// What a bridge alone needs, before the first one. False: out of memory.
static bool
make_room(Bridge *bridge)
{
    if (bridge->fine)
        return true;
    size_t n = bridge->n, row = (FINE + 1) * n;
    bridge->fine = calloc(2 * row + 4 * n + 1, sizeof *bridge->fine);
    if (!bridge->fine || !steps_create(&bridge->steps, bridge->n, 1)) {
        free(bridge->fine);
        bridge->fine = NULL;
        return false;
    }
    bridge->fine_slope = bridge->fine + row;
    bridge->behind = bridge->fine_slope + row;
    bridge->before = bridge->behind + n;
    bridge->trial = bridge->before + n;
    bridge->fewer = bridge->trial + n;
    return true;
}

void
bridge_forget(Bridge *bridge)
{
    bridge->kept = 0;
    bridge->usual = 0;
    bridge->made = bridge->missed = false;
}

void
bridge_snapshot(Bridge *bridge, Snapshot *snapshot)
{
    snapshot_part(snapshot, bridge->past, (size_t)PAST * bridge->n * sizeof *bridge->past);
    snapshot_part(snapshot, bridge->past_at, sizeof bridge->past_at);
    snapshot_part(snapshot, bridge->past_noise, sizeof bridge->past_noise);
    snapshot_part(snapshot, &bridge->kept, sizeof bridge->kept);
    snapshot_part(snapshot, &bridge->latest, sizeof bridge->latest);
    snapshot_part(snapshot, &bridge->usual, sizeof bridge->usual);
    snapshot_part(snapshot, &bridge->missed, sizeof bridge->missed);
    snapshot_part(snapshot, &bridge->made, sizeof bridge->made);
    snapshot_part(snapshot, bridge->from, bridge->n * sizeof *bridge->from);
    snapshot_part(snapshot, bridge->at, sizeof bridge->at);
    for (uint32_t k = 0; k < BRIDGE_SLOPES; k++)
        snapshot_part(snapshot, bridge->slope[k], bridge->n * sizeof *bridge->slope[k]);
}

// Points that follow each other more closely than usual steps do are on the way into a position. Behind an event in which the motion goes on as it came nothing has been
// measured yet.
void
bridge_note(Bridge *bridge, double time, const double *y, double noise, double least)
{
    bridge->made = false;
    if (bridge->kept && bridge->past_at[bridge->latest] == time)
        return; // a step from there is tried anew
    double way = bridge->kept ? time - bridge->past_at[bridge->latest] : 0;
    bool measured = isfinite(least) || !bridge->kept;
    if (!measured || !(noise <= fmax(KNOWN, ABOVE * least))) {
        bridge->missed = true;
        return;
    }
    if (bridge->kept > 1 && way < SHRUNK * bridge->usual)
        return;
    if (!bridge->missed)
        bridge->usual = fmax(way, FORGETTING * bridge->usual);
    bridge->missed = false;
    bridge->latest = (bridge->latest + 1) % PAST;
    bridge->kept = bridge->kept < PAST ? bridge->kept + 1 : PAST;
    bridge->past_at[bridge->latest] = time;
    bridge->past_noise[bridge->latest] = noise;
    memcpy(bridge->past + (size_t)bridge->latest * bridge->n, y, bridge->n * sizeof *y);
}

double
bridge_usual(const Bridge *bridge)
{
    return bridge->kept > 1 ? bridge->usual / NEAR : 0;
}

bool
bridge_made(const Bridge *bridge)
{
    return bridge && bridge->made;
}

// --- short steps

// From y to bridge->steps.end, which is on the invariants, with its slope; *noise of the invariants there. False: there is no such step.
static bool
short_step(Run *run, double time, double length, const double *y, const double *slope, double *slope_behind, double *noise)
{
    Ode *ode = run->ode;
    Bridge *bridge = ode->bridge;
    Steps *steps = &bridge->steps;
    double step[DOP853_WIDTH];
    dop853_lengths(length, step);
    memcpy(steps->start, y, bridge->n * sizeof *y);
    memcpy(steps->slope[0], slope, bridge->n * sizeof *slope);
    if (!dop853_stages(run, steps, time, step, 1, DOP853_STAGES))
        return false;
    dop853_end(steps->chunks, step, steps->start, steps->carry, steps->slope, steps->end, steps->left);
    if (!projection_apply(run, ode->projection, time + length, steps->end))
        return false;
    *noise = projection_noise(run, ode->projection, steps->end);
    return isfinite(*noise) && dop853_right_side(run, time + length, steps->end, slope_behind) == MDL_OK;
}

// Of the past points the latest one from which enough short steps lead to here. False: there is none.
static bool
find_start(const Bridge *bridge, double reached, double length, uint32_t *which)
{
    bool found = false;
    for (uint32_t k = 0; k < bridge->kept; k++) {
        uint32_t i = (bridge->latest + PAST - k) % PAST;
        double way = reached - bridge->past_at[i];
        if (way < LEAST_FINE * length || way > 2 * FINE * length)
            continue;
        found = true;
        *which = i;
        if (way >= ENOUGH * length)
            break;
    }
    return found;
}

// To where the run is. False: they do not get there.
static bool
approach(Run *run, double length)
{
    Bridge *bridge = run->ode->bridge;
    uint32_t which;
    if (!find_start(bridge, run->time, length, &which))
        return false;
    size_t n = bridge->n, row = n * sizeof(double);
    double began = bridge->past_at[which], way = run->time - began;
    bridge->count = (uint32_t)fmin(FINE, fmax(LEAST_FINE, round(way / length)));
    bridge->fine_at[0] = began;
    bridge->fine_noise[0] = bridge->past_noise[which];
    memcpy(bridge->fine, bridge->past + which * n, row);
    if (dop853_right_side(run, began, bridge->fine, bridge->fine_slope) != MDL_OK)
        return false;
    for (uint32_t k = 0; k < bridge->count; k++) {
        double from = bridge->fine_at[k], to = began + way * (k + 1) / bridge->count;
        if (!short_step(run, from, to - from, bridge->fine + k * n, bridge->fine_slope + k * n, bridge->fine_slope + (k + 1) * n, &bridge->fine_noise[k + 1]))
            return false;
        memcpy(bridge->fine + (k + 1) * n, bridge->steps.end, row);
        bridge->fine_at[k + 1] = to;
    }
    return true;
}

// --- the polynomial

// weight[j]: what slope j of the `count` ones at `at` counts for in the integral from `from` to `to`, which two panels of Gauss' rule of order 8 give.
static void
integral_weights(const double *at, uint32_t count, double from, double to, double *weight)
{
    Collocation rule;
    double place[BRIDGE_SLOPES], value[BRIDGE_SLOPES], scale = at[count - 1] - at[0];
    collocation_init(&rule);
    for (uint32_t j = 0; j < count; j++) {
        place[j] = (at[j] - at[0]) / scale;
        weight[j] = 0;
    }
    for (uint32_t q = 0; q < PANELS * GAUSS_STAGES; q++) {
        double panel = (to - from) / PANELS, x = from - at[0] + (q / GAUSS_STAGES + rule.node[q % GAUSS_STAGES]) * panel;
        collocation_lagrange(place, count, x / scale, value);
        for (uint32_t j = 0; j < count; j++)
            weight[j] += rule.weight[q % GAUSS_STAGES] * panel * value[j];
    }
}

// y := the end of the gap by the slopes first ... first + count - 1.
static void
integrate(const Bridge *bridge, uint32_t first, uint32_t count, double to, double *y)
{
    double weight[BRIDGE_SLOPES];
    integral_weights(bridge->at + first, count, bridge->at[SIDE - 1], to, weight);
    for (uint32_t i = 0; i < bridge->n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < count; j++)
            sum += weight[j] * bridge->slope[first + j][i];
        y[i] = bridge->from[i] + sum;
    }
}

void
bridge_value(const Bridge *bridge, double time, double *y, double *yp)
{
    double value[BRIDGE_SLOPES], place[BRIDGE_SLOPES], scale = bridge->at[BRIDGE_SLOPES - 1] - bridge->at[0];
    for (uint32_t j = 0; j < BRIDGE_SLOPES; j++)
        place[j] = (bridge->at[j] - bridge->at[0]) / scale;
    collocation_lagrange(place, BRIDGE_SLOPES, (time - bridge->at[0]) / scale, value);
    integrate(bridge, 0, BRIDGE_SLOPES, time, y);
    for (uint32_t i = 0; i < bridge->n; i++) {
        yp[i] = 0;
        for (uint32_t j = 0; j < BRIDGE_SLOPES; j++)
            yp[i] += value[j] * bridge->slope[j][i];
    }
}

// --- over the gap

static double
distance(const Run *run, const double *a, const double *b)
{
    const double *weight = run->ode->own.weight;
    double sum = 0;
    for (uint32_t i = 0; i < run->ode->n; i++)
        sum += (a[i] - b[i]) * weight[i] * (a[i] - b[i]) * weight[i];
    return sqrt(sum / run->ode->n);
}

// Onto the invariants. False: not from where the motion is continued to, or they do not say enough there.
static bool
arrives(Run *run, double time, double *y, double clear)
{
    const Ode *ode = run->ode;
    memcpy(ode->bridge->trial, y, ode->n * sizeof *y);
    if (!projection_apply(run, ode->projection, time, y) || !(projection_noise(run, ode->projection, y) <= clear))
        return false;
    for (uint32_t i = 0; i < ode->n; i++)
        if (!(fabs(y[i] - ode->bridge->trial[i]) <= BRANCH * fmax(fabs(y[i]), fabs(run->v[run->model->nominal + i]))))
            return false;
    return true;
}

// The slopes behind the gap, from bridge->behind on, `length` apart.
static bool
look_behind(Run *run, double length)
{
    Bridge *bridge = run->ode->bridge;
    double noise;
    memcpy(bridge->trial, bridge->behind, bridge->n * sizeof *bridge->trial);
    if (dop853_right_side(run, bridge->at[SIDE], bridge->trial, bridge->slope[SIDE]) != MDL_OK)
        return false;
    for (uint32_t k = SIDE; k + 1 < BRIDGE_SLOPES; k++) {
        bridge->at[k + 1] = bridge->at[k] + length;
        if (!short_step(run, bridge->at[k], length, bridge->trial, bridge->slope[k], bridge->slope[k + 1], &noise))
            return false;
        memcpy(bridge->trial, bridge->steps.end, bridge->n * sizeof *bridge->trial);
    }
    return true;
}

// How wrong the end of the gap is, in units of what a step may be wrong by: what two slopes less change, times as much as that is less than what the two before change.
static double
error_of(Run *run)
{
    Bridge *bridge = run->ode->bridge;
    double *fewer = bridge->fewer, *fewest = bridge->trial, *error = run->ode->own.error, to = bridge->at[SIDE], length = to - bridge->at[SIDE - 1];
    integrate(bridge, 0, BRIDGE_SLOPES, to, error);
    integrate(bridge, 1, BRIDGE_SLOPES - 2, to, fewer);
    integrate(bridge, 2, BRIDGE_SLOPES - 4, to, fewest);
    double first = distance(run, fewer, fewest), second = distance(run, error, fewer);
    for (uint32_t i = 0; i < bridge->n; i++)
        error[i] = (error[i] - fewer[i]) / length;
    return second < first ? second * second / first : second;
}

// With the points `stride` short steps apart, to the point in bridge->behind. False: it is not found, or not exact.
static bool
settle(Run *run, uint32_t stride, double clear)
{
    Bridge *bridge = run->ode->bridge;
    double length = stride * (bridge->fine_at[bridge->count] - bridge->fine_at[0]) / bridge->count;
    for (uint32_t k = 0; k < ROUNDS; k++) {
        if (!look_behind(run, length))
            return false;
        memcpy(bridge->before, bridge->behind, bridge->n * sizeof *bridge->before);
        integrate(bridge, 0, BRIDGE_SLOPES, bridge->at[SIDE], bridge->behind);
        if (!arrives(run, bridge->at[SIDE], bridge->behind, clear))
            return false;
        double change = distance(run, bridge->before, bridge->behind);
        if (change <= SAME || (change <= NOISE && k >= QUICK))
            return error_of(run) <= EXACT;
    }
    return false;
}

// The slopes before the gap, which begins behind short step `last`.
static void
take_before(Bridge *bridge, uint32_t last, uint32_t stride)
{
    size_t n = bridge->n;
    for (uint32_t j = 0; j < SIDE; j++) {
        uint32_t k = last - (SIDE - 1 - j) * stride;
        bridge->at[j] = bridge->fine_at[k];
        memcpy(bridge->slope[j], bridge->fine_slope + k * n, n * sizeof *bridge->slope[j]);
    }
    memcpy(bridge->from, bridge->fine + last * n, n * sizeof *bridge->from);
}

// The first point behind the position at which the invariants say enough, which is later than `beyond`, where their noise is `noise`. False: none is found.
static bool
cross(Run *run, double clear, double noise, double beyond, double limit)
{
    Bridge *bridge = run->ode->bridge;
    double longest = run->options->max_step > 0 ? run->options->max_step : INFINITY, length = (bridge->fine_at[bridge->count] - bridge->fine_at[0]) / bridge->count;
    uint32_t last = bridge->count;
    while (last > 0 && !(bridge->fine_noise[last] <= clear))
        last--;
    double gap = beyond - bridge->fine_at[last] + length / 2;
    for (uint32_t k = 0; k < TRIES; k++, gap *= WIDER) {
        uint32_t stride = (uint32_t)fmin(STRIDES, fmax(1, ceil(gap / (REACH * length))));
        if ((SIDE - 1) * stride > last || gap > longest || bridge->fine_at[last] + gap > limit)
            return false;
        take_before(bridge, last, stride);
        bridge->at[SIDE] = bridge->fine_at[last] + gap;
        integrate(bridge, 0, SIDE, bridge->at[SIDE], bridge->behind);
        if (arrives(run, bridge->at[SIDE], bridge->behind, fmin(clear, BEHIND * noise)))
            return settle(run, stride, clear);
    }
    return false;
}

// What the tries have shown of the noise where nobody goes is forgotten.
static bool
is_there(Run *run)
{
    Ode *ode = run->ode;
    Bridge *bridge = ode->bridge;
    projection_forget(ode->projection);
    return projection_apply(run, ode->projection, bridge->at[SIDE], bridge->behind) && !contest_nears_singular(run, ode->projection, bridge->behind)
           && dop853_right_side(run, bridge->at[SIDE], bridge->behind, ode->own.slope[DOP853_STAGES]) == MDL_OK;
}

bool
bridge_over(Run *run, double beyond, double limit)
{
    Ode *ode = run->ode;
    Bridge *bridge = ode->bridge;
    double usual = bridge->usual;
    double noise = run->contest.noise;
    bool over = false, possible = bridge->kept > 1 && make_room(bridge);
    for (uint32_t per = PER_STEP; possible && per <= 2 * PER_STEP && !over; per *= 2) {
        bool near = approach(run, usual / per);
        for (double clear = CLEAR; near && !over && clear <= MOST; clear *= 10)
            over = cross(run, clear, noise, beyond, limit);
    }
    over = over && is_there(run);
    bridge_forget(bridge);
    if (!over) {
        projection_forget(ode->projection);
        return false;
    }
    ode->from = bridge->at[SIDE - 1];
    ode->length = bridge->at[SIDE] - ode->from;
    ode->step = usual;
    memcpy(ode->own.end, bridge->behind, bridge->n * sizeof *bridge->behind);
    memset(ode->own.left, 0, bridge->n * sizeof *ode->own.left);
    run->time = bridge->at[SIDE];
    bridge->made = true;
    return true;
}
