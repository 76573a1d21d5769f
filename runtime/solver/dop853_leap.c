// dop853_leap.c: a step of dop853 over a position in which invariants depend on each other.
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
#include "runtime/linear/nvector.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/dop853_inner.h"
#include "runtime/solver/solver.h"

enum { PAST = 6, FINE = 32, SIDE = LEAP_SLOPES / 2 }; // usual steps that are remembered; short ones; points on each side
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
static const double EXACT = 5;        // of what a step may be wrong by, which is a part of the tolerance: there are few leaps
static const double BRANCH = 1e-2;    // of the size of a state: what is continued must not be farther from the invariants, which have several branches here

struct Leap {
    uint32_t n;
    double *past, past_at[PAST], past_noise[PAST];
    uint32_t kept, latest;
    double usual;                     // how far they are from each other
    bool missed;                      // between the latest one and now invariants did not say enough
    double *fine, *fine_slope, fine_at[FINE + 1], fine_noise[FINE + 1];
    uint32_t count;                   // short steps
    double *behind, *before, *trial, *fewer;  // the point behind, as it was in the round before, and points
    double *from;                     // where the gap begins
    double *slope[LEAP_SLOPES], at[LEAP_SLOPES]; // those of the polynomial, in the order of time
    bool made;                        // the last step was a leap
    Steps steps;                      // short ones
};

Leap *
leap_create(uint32_t n)
{
    Leap *leap = calloc(1, sizeof *leap);
    if (!leap)
        return NULL;
    leap->n = n;
    leap->past = calloc((size_t)(PAST + 1 + LEAP_SLOPES) * n + 1, sizeof *leap->past);
    if (!leap->past) {
        free(leap);
        return NULL;
    }
    leap->from = leap->past + (size_t)PAST * n;
    for (uint32_t k = 0; k < LEAP_SLOPES; k++)
        leap->slope[k] = leap->from + (size_t)(k + 1) * n;
    return leap;
}

void
leap_free(Leap **slot)
{
    if (!*slot)
        return;
    steps_free(&(*slot)->steps);
    free((*slot)->fine);
    free((*slot)->past);
    free(*slot);
    *slot = NULL;
}

// What a leap alone needs, before the first one. False: out of memory.
static bool
make_room(Leap *leap)
{
    if (leap->fine)
        return true;
    size_t n = leap->n, row = (FINE + 1) * n;
    leap->fine = calloc(2 * row + 4 * n + 1, sizeof *leap->fine);
    if (!leap->fine || !steps_create(&leap->steps, leap->n, 1)) {
        free(leap->fine);
        leap->fine = NULL;
        return false;
    }
    leap->fine_slope = leap->fine + row;
    leap->behind = leap->fine_slope + row;
    leap->before = leap->behind + n;
    leap->trial = leap->before + n;
    leap->fewer = leap->trial + n;
    return true;
}

void
leap_forget(Leap *leap)
{
    leap->kept = 0;
    leap->usual = 0;
    leap->made = leap->missed = false;
}

void
leap_snapshot(Leap *leap, Snapshot *snapshot)
{
    snapshot_part(snapshot, leap->past, (size_t)PAST * leap->n * sizeof *leap->past);
    snapshot_part(snapshot, leap->past_at, sizeof leap->past_at);
    snapshot_part(snapshot, leap->past_noise, sizeof leap->past_noise);
    snapshot_part(snapshot, &leap->kept, sizeof leap->kept);
    snapshot_part(snapshot, &leap->latest, sizeof leap->latest);
    snapshot_part(snapshot, &leap->usual, sizeof leap->usual);
    snapshot_part(snapshot, &leap->missed, sizeof leap->missed);
    snapshot_part(snapshot, &leap->made, sizeof leap->made);
    snapshot_part(snapshot, leap->from, leap->n * sizeof *leap->from);
    snapshot_part(snapshot, leap->at, sizeof leap->at);
    for (uint32_t k = 0; k < LEAP_SLOPES; k++)
        snapshot_part(snapshot, leap->slope[k], leap->n * sizeof *leap->slope[k]);
}

// Points that follow each other more closely than usual steps do are on the way into a position.
void
leap_note(Leap *leap, double time, const double *y, double noise, double least)
{
    leap->made = false;
    double way = leap->kept ? time - leap->past_at[leap->latest] : 0;
    if (!(noise <= fmax(KNOWN, ABOVE * least))) {
        leap->missed = true;
        return;
    }
    if (leap->kept > 1 && way < SHRUNK * leap->usual)
        return;
    if (!leap->missed)
        leap->usual = fmax(way, FORGETTING * leap->usual);
    leap->missed = false;
    leap->latest = (leap->latest + 1) % PAST;
    leap->kept = leap->kept < PAST ? leap->kept + 1 : PAST;
    leap->past_at[leap->latest] = time;
    leap->past_noise[leap->latest] = noise;
    memcpy(leap->past + (size_t)leap->latest * leap->n, y, leap->n * sizeof *y);
}

double
leap_usual(const Leap *leap)
{
    return leap->kept > 1 ? leap->usual / NEAR : 0;
}

bool
leap_made(const Leap *leap)
{
    return leap && leap->made;
}

// --- short steps

// From y to leap->steps.end, which is on the invariants, with its slope; *noise of the invariants there. False: there is no such step.
static bool
short_step(Run *run, double time, double length, const double *y, const double *slope, double *slope_behind, double *noise)
{
    Ode *ode = run->ode;
    Leap *leap = ode->leap;
    Steps *steps = &leap->steps;
    double step[DOP853_WIDTH];
    for (uint32_t k = 0; k < DOP853_WIDTH; k++)
        step[k] = length;
    memcpy(steps->start, y, leap->n * sizeof *y);
    memcpy(steps->slope[0], slope, leap->n * sizeof *slope);
    for (uint32_t k = 1; k < DOP853_STAGES; k++) {
        dop853_stage(k, steps->chunks, step, steps->start, steps->slope, steps->point);
        if (dop853_right_side(run, time + dop853_node[k] * length, steps->point, steps->slope[k]) != MDL_OK)
            return false;
    }
    dop853_end(steps->chunks, step, steps->start, steps->carry, steps->slope, steps->end, steps->left);
    if (!projection_apply(run, ode->projection, time + length, steps->end))
        return false;
    *noise = projection_noise(run, ode->projection, steps->end);
    return isfinite(*noise) && dop853_right_side(run, time + length, steps->end, slope_behind) == MDL_OK;
}

// Of the past points the latest one from which enough short steps lead to here. False: there is none.
static bool
find_start(const Leap *leap, double reached, double length, uint32_t *which)
{
    bool found = false;
    for (uint32_t k = 0; k < leap->kept; k++) {
        uint32_t i = (leap->latest + PAST - k) % PAST;
        double way = reached - leap->past_at[i];
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
    Leap *leap = run->ode->leap;
    uint32_t which;
    if (!find_start(leap, run->time, length, &which))
        return false;
    size_t n = leap->n, row = n * sizeof(double);
    double began = leap->past_at[which], way = run->time - began;
    leap->count = (uint32_t)fmin(FINE, fmax(LEAST_FINE, round(way / length)));
    leap->fine_at[0] = began;
    leap->fine_noise[0] = leap->past_noise[which];
    memcpy(leap->fine, leap->past + which * n, row);
    if (dop853_right_side(run, began, leap->fine, leap->fine_slope) != MDL_OK)
        return false;
    for (uint32_t k = 0; k < leap->count; k++) {
        double from = leap->fine_at[k], to = began + way * (k + 1) / leap->count;
        if (!short_step(run, from, to - from, leap->fine + k * n, leap->fine_slope + k * n, leap->fine_slope + (k + 1) * n, &leap->fine_noise[k + 1]))
            return false;
        memcpy(leap->fine + (k + 1) * n, leap->steps.end, row);
        leap->fine_at[k + 1] = to;
    }
    return true;
}

// --- the polynomial

// weight[j]: what slope j of the `count` ones at `at` counts for in the integral from `from` to `to`, which two panels of Gauss' rule of order 8 give.
static void
integral_weights(const double *at, uint32_t count, double from, double to, double *weight)
{
    Collocation rule;
    double place[LEAP_SLOPES], value[LEAP_SLOPES], scale = at[count - 1] - at[0];
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
integrate(const Leap *leap, uint32_t first, uint32_t count, double to, double *y)
{
    double weight[LEAP_SLOPES];
    integral_weights(leap->at + first, count, leap->at[SIDE - 1], to, weight);
    for (uint32_t i = 0; i < leap->n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < count; j++)
            sum += weight[j] * leap->slope[first + j][i];
        y[i] = leap->from[i] + sum;
    }
}

void
leap_value(const Leap *leap, double time, double *y, double *yp)
{
    double value[LEAP_SLOPES], place[LEAP_SLOPES], scale = leap->at[LEAP_SLOPES - 1] - leap->at[0];
    for (uint32_t j = 0; j < LEAP_SLOPES; j++)
        place[j] = (leap->at[j] - leap->at[0]) / scale;
    collocation_lagrange(place, LEAP_SLOPES, (time - leap->at[0]) / scale, value);
    integrate(leap, 0, LEAP_SLOPES, time, y);
    for (uint32_t i = 0; i < leap->n; i++) {
        yp[i] = 0;
        for (uint32_t j = 0; j < LEAP_SLOPES; j++)
            yp[i] += value[j] * leap->slope[j][i];
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
    memcpy(ode->leap->trial, y, ode->n * sizeof *y);
    if (!projection_apply(run, ode->projection, time, y) || !(projection_noise(run, ode->projection, y) <= clear))
        return false;
    for (uint32_t i = 0; i < ode->n; i++)
        if (!(fabs(y[i] - ode->leap->trial[i]) <= BRANCH * fmax(fabs(y[i]), fabs(run->v[run->model->nominal + i]))))
            return false;
    return true;
}

// The slopes behind the gap, from leap->behind on, `length` apart.
static bool
look_behind(Run *run, double length)
{
    Leap *leap = run->ode->leap;
    double noise;
    memcpy(leap->trial, leap->behind, leap->n * sizeof *leap->trial);
    if (dop853_right_side(run, leap->at[SIDE], leap->trial, leap->slope[SIDE]) != MDL_OK)
        return false;
    for (uint32_t k = SIDE; k + 1 < LEAP_SLOPES; k++) {
        leap->at[k + 1] = leap->at[k] + length;
        if (!short_step(run, leap->at[k], length, leap->trial, leap->slope[k], leap->slope[k + 1], &noise))
            return false;
        memcpy(leap->trial, leap->steps.end, leap->n * sizeof *leap->trial);
    }
    return true;
}

// How wrong the end of the gap is, in units of what a step may be wrong by: what two slopes less change, times as much as that is less than what the two before change.
static double
error_of(Run *run)
{
    Leap *leap = run->ode->leap;
    double *fewer = leap->fewer, *fewest = leap->trial, *error = run->ode->own.error, to = leap->at[SIDE], length = to - leap->at[SIDE - 1];
    integrate(leap, 0, LEAP_SLOPES, to, error);
    integrate(leap, 1, LEAP_SLOPES - 2, to, fewer);
    integrate(leap, 2, LEAP_SLOPES - 4, to, fewest);
    double first = distance(run, fewer, fewest), second = distance(run, error, fewer);
    for (uint32_t i = 0; i < leap->n; i++)
        error[i] = (error[i] - fewer[i]) / length;
    return second < first ? second * second / first : second;
}

// With the points `stride` short steps apart, to the point in leap->behind. False: it is not found, or not exact.
static bool
settle(Run *run, uint32_t stride, double clear)
{
    Leap *leap = run->ode->leap;
    double length = stride * (leap->fine_at[leap->count] - leap->fine_at[0]) / leap->count;
    for (uint32_t k = 0; k < ROUNDS; k++) {
        if (!look_behind(run, length))
            return false;
        memcpy(leap->before, leap->behind, leap->n * sizeof *leap->before);
        integrate(leap, 0, LEAP_SLOPES, leap->at[SIDE], leap->behind);
        if (!arrives(run, leap->at[SIDE], leap->behind, clear))
            return false;
        double change = distance(run, leap->before, leap->behind);
        if (change <= SAME || (change <= NOISE && k >= QUICK))
            return error_of(run) <= EXACT;
    }
    return false;
}

// The slopes before the gap, which begins behind short step `last`.
static void
take_before(Leap *leap, uint32_t last, uint32_t stride)
{
    size_t n = leap->n;
    for (uint32_t j = 0; j < SIDE; j++) {
        uint32_t k = last - (SIDE - 1 - j) * stride;
        leap->at[j] = leap->fine_at[k];
        memcpy(leap->slope[j], leap->fine_slope + k * n, n * sizeof *leap->slope[j]);
    }
    memcpy(leap->from, leap->fine + last * n, n * sizeof *leap->from);
}

// The first point behind the position at which the invariants say enough, which is later than `beyond`, where their noise is `noise`. False: none is found.
static bool
cross(Run *run, double clear, double noise, double beyond, double limit)
{
    Leap *leap = run->ode->leap;
    double longest = run->options->max_step > 0 ? run->options->max_step : INFINITY, length = (leap->fine_at[leap->count] - leap->fine_at[0]) / leap->count;
    uint32_t last = leap->count;
    while (last > 0 && !(leap->fine_noise[last] <= clear))
        last--;
    double gap = beyond - leap->fine_at[last] + length / 2;
    for (uint32_t k = 0; k < TRIES; k++, gap *= WIDER) {
        uint32_t stride = (uint32_t)fmin(STRIDES, fmax(1, ceil(gap / (REACH * length))));
        if ((SIDE - 1) * stride > last || gap > longest || leap->fine_at[last] + gap > limit)
            return false;
        take_before(leap, last, stride);
        leap->at[SIDE] = leap->fine_at[last] + gap;
        integrate(leap, 0, SIDE, leap->at[SIDE], leap->behind);
        if (arrives(run, leap->at[SIDE], leap->behind, fmin(clear, BEHIND * noise)))
            return settle(run, stride, clear);
    }
    return false;
}

// What the tries have shown of the noise where nobody goes is forgotten.
static bool
is_there(Run *run)
{
    Ode *ode = run->ode;
    Leap *leap = ode->leap;
    projection_forget(ode->projection);
    return projection_apply(run, ode->projection, leap->at[SIDE], leap->behind) && !contest_nears_singular(run, ode->projection, leap->behind)
           && dop853_right_side(run, leap->at[SIDE], leap->behind, ode->own.slope[DOP853_STAGES]) == MDL_OK;
}

bool
leap_over(Run *run, double beyond, double limit)
{
    Ode *ode = run->ode;
    Leap *leap = ode->leap;
    double usual = leap->usual;
    double noise = run->contest.noise;
    bool over = false, possible = leap->kept > 1 && make_room(leap);
    for (uint32_t per = PER_STEP; possible && per <= 2 * PER_STEP && !over; per *= 2) {
        bool near = approach(run, usual / per);
        for (double clear = CLEAR; near && !over && clear <= MOST; clear *= 10)
            over = cross(run, clear, noise, beyond, limit);
    }
    over = over && is_there(run);
    leap_forget(leap);
    if (!over) {
        projection_forget(ode->projection);
        return false;
    }
    ode->from = leap->at[SIDE - 1];
    ode->length = leap->at[SIDE] - ode->from;
    ode->step = usual;
    memcpy(ode->own.end, leap->behind, leap->n * sizeof *leap->behind);
    memset(ode->own.left, 0, leap->n * sizeof *ode->own.left);
    run->time = leap->at[SIDE];
    leap->made = true;
    return true;
}
