// delay_times.c: which time of the past a delay is looked up with, where that follows from what it delays.
//
// Purpose: delay times may be computed by the dynamics, from the values that they delay: an evaluation is repeated until they agree.
// Method: the secant method finds one that gives itself; times that follow from each other's values are found together, by Broyden's method
//         (Math. Comp. 19 (1965) 577), which begins with the slopes that the secants have seen. Behind both the times that the dynamics say are
//         followed, which come together when they change less than what is delayed says.
// Contract: delay_times.h. Complexity: the square of the number of delays for each pass, up to TOGETHER_MOST of them; linear beyond, where each is
//           looked for by itself.
#include "runtime/memory/delay_times.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

enum { TOGETHER_MOST = 64 };
enum { PLAIN_PASSES = 2, SECANT_PASSES = 12, BROYDEN_PASSES = 80 };
static const double LATE = 0.01; // part of the tolerance that a time may be off by where none was found in half of them

bool
delay_times_create(DelayTimes *times, uint32_t n)
{
    times->last = calloc(3 * (size_t)n + (n <= TOGETHER_MOST ? (size_t)n * n : 0), sizeof *times->last);
    if (!times->last)
        return false;
    times->before = times->last + n;
    times->gap = times->before + n;
    times->inverse = times->gap + n;
    return true;
}

void
delay_times_free(DelayTimes *times)
{
    free(times->last);
    times->last = NULL;
}

double
delay_time(const Run *run, uint32_t k)
{
    const mdl_delay *delay = &run->model->delay[k];
    return fmin(delay->time_sign * run->v[delay->time], run->v[delay->most]);
}

// What delay k is looked up with next, when this is a time.
static void
set_time(Run *run, uint32_t k, double time)
{
    const mdl_delay *delay = &run->model->delay[k];
    if (isfinite(time) && time >= 0 && time <= run->v[delay->most])
        run->v[delay->time] = delay->time_sign * time;
}

// The slopes of the secants, as the diagonal of the inverse of the gaps' derivatives.
static void
broyden_begin(const Run *run, DelayTimes *times)
{
    uint32_t n = run->model->n_delays;
    for (uint32_t k = 0; k < n; k++) {
        double slope = (delay_time(run, k) - times->last[k] - times->gap[k]) / (times->last[k] - times->before[k]);
        for (uint32_t j = 0; j < n; j++)
            times->inverse[k * n + j] = j != k ? 0 : isfinite(slope) && slope != 0 ? 1 / slope : -1;
    }
}

// H += (s - H g) s'H / (s'H g), s being the change of the times since the pass before and g that of the gaps.
static void
broyden_update(const Run *run, DelayTimes *times)
{
    uint32_t n = run->model->n_delays;
    double *h = times->inverse, left[TOGETHER_MOST] = {0}, right[TOGETHER_MOST] = {0}, scale = 0;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < n; j++) {
            left[k] += h[k * n + j] * (delay_time(run, j) - times->last[j] - times->gap[j]);
            right[j] += h[k * n + j] * (times->last[k] - times->before[k]);
        }
    for (uint32_t k = 0; k < n; k++)
        scale += (times->last[k] - times->before[k]) * left[k];
    for (uint32_t k = 0; k < n && scale != 0; k++)
        for (uint32_t j = 0; j < n; j++)
            h[k * n + j] += (times->last[k] - times->before[k] - left[k]) * right[j] / scale;
}

static double
broyden_time(const Run *run, const DelayTimes *times, uint32_t k)
{
    uint32_t n = run->model->n_delays;
    double time = times->last[k];
    for (uint32_t j = 0; j < n; j++)
        time -= times->inverse[k * n + j] * (delay_time(run, j) - times->last[j]);
    return time;
}

static double
secant_time(const Run *run, const DelayTimes *times, uint32_t k)
{
    double last = times->last[k], gap = delay_time(run, k) - last;
    return gap != 0 ? last - gap * (last - times->before[k]) / (gap - times->gap[k]) : last;
}

static void
choose_together(Run *run, DelayTimes *times, unsigned pass)
{
    uint32_t n = run->model->n_delays;
    double gap[TOGETHER_MOST], next[TOGETHER_MOST];
    bool secant = pass >= PLAIN_PASSES && pass < SECANT_PASSES, together = pass >= SECANT_PASSES && pass < BROYDEN_PASSES;
    if (together && pass == SECANT_PASSES)
        broyden_begin(run, times);
    else if (together)
        broyden_update(run, times);
    for (uint32_t k = 0; k < n; k++) {
        gap[k] = delay_time(run, k) - times->last[k];
        next[k] = secant ? secant_time(run, times, k) : together ? broyden_time(run, times, k) : NAN;
    }
    for (uint32_t k = 0; k < n; k++) {
        set_time(run, k, next[k]);
        times->before[k] = times->last[k];
        times->gap[k] = gap[k];
        times->last[k] = delay_time(run, k);
    }
}

// The same where there are too many to be found together.
static void
choose_each(Run *run, DelayTimes *times, unsigned pass)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++) {
        double last = times->last[k], gap = delay_time(run, k) - last;
        set_time(run, k, pass >= PLAIN_PASSES && pass < SECANT_PASSES ? secant_time(run, times, k) : NAN);
        times->before[k] = last;
        times->gap[k] = gap;
        times->last[k] = delay_time(run, k);
    }
}

void
delay_times_choose(Run *run, DelayTimes *times, unsigned pass)
{
    times->pass = pass;
    (run->model->n_delays <= TOGETHER_MOST ? choose_together : choose_each)(run, times, pass);
}

bool
delay_time_moved(const Run *run, const DelayTimes *times, uint32_t k)
{
    double said = delay_time(run, k), off = fabs(said - times->last[k]), rounding = 4 * DBL_EPSILON * (fabs(run->v[0]) + fabs(said));
    // Where two polynomials of the past meet no time may give itself, but one on each side of it does by what they differ: less than either is right to.
    if (times->pass >= BROYDEN_PASSES / 2)
        rounding = fmax(rounding, LATE * run->tolerance * fabs(said));
    return off > rounding; // false for what is not a number, which others tell
}
