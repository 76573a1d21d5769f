// delay_values.c: delayed values at an evaluation, from the history.
//
// Purpose: u(t - T) for what the dynamics ask.
// Method: the polynomial of degree five through the nearest points (past_polynomial.c), never across a discontinuity. What lies within the step that is being
//         made is on the polynomial through accepted points and what is delayed at the present instant, whose share is a weight in the equations (Bellen
//         and Zennaro, chapter 6).
// Contract: delay_inner.h. Complexity: a bisection per evaluation and delay.
#include <float.h>
#include <math.h>

#include "runtime/memory/delay_inner.h"
#include "runtime/model/order.h"

bool
delay_is_jump(double left, double right)
{
    return fabs(right - left) > 1e-12 * (fabs(left) + fabs(right)) + DBL_MIN;
}

size_t
delay_first_behind(const Delays *delays, size_t low, size_t high, double time)
{
    return first_above(delays->time, low, high, time);
}

double
delay_interpolate(const Delays *delays, const double *value, size_t stride, const Nodes *nodes, double *slope)
{
    return polynomial_at(delays->time + nodes->first, value + nodes->first * stride, stride, nodes->count, nodes->time, slope);
}

// Those nearest to `time` among points [low, high), which no break that matters divides.
static Nodes
nodes_among(const Delays *delays, size_t low, size_t high, double time)
{
    size_t at = delay_first_behind(delays, low, high, time), left = at > low ? at - 1 : low;
    while (left > low && !delays->starts[left] && at - left < POLYNOMIAL_POINTS)
        left--;
    size_t right = at > low ? at : low + 1;
    while (right < high && !delays->starts[right] && right - left < 2 * POLYNOMIAL_POINTS)
        right++;
    // The nearest points, as many on one side as on the other where there are so many.
    size_t count = right - left;
    if (count > POLYNOMIAL_POINTS) {
        size_t half = at >= left + POLYNOMIAL_POINTS / 2 ? at - POLYNOMIAL_POINTS / 2 : left;
        left = half + POLYNOMIAL_POINTS > right ? right - POLYNOMIAL_POINTS : half;
        count = POLYNOMIAL_POINTS;
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
    return delay_is_jump(*left, *right);
}

Nodes
delay_nodes(const Run *run, uint32_t k, double time)
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
    const Nodes nodes = delay_nodes(run, k, time);
    return delay_interpolate(run->delays, run->delays->value + k, run->model->n_delays, &nodes, NULL);
}

Latest
delay_latest(const Delays *delays, double now)
{
    Latest latest = {.at = {delays->points - 1}, .count = 1};
    double apart = 0.75 * (now - delays->time[delays->points - 1]);
    for (size_t at = delays->points - 1; at > 0 && latest.count < POLYNOMIAL_ORDER && !delays->starts[at]; at--)
        if (delays->time[latest.at[latest.count - 1]] - delays->time[at - 1] >= apart)
            latest.at[latest.count++] = at - 1;
    return latest;
}

Kept
delay_kept(const Run *run, uint32_t k)
{
    return (Kept){run->delays->value + k, run->model->n_delays};
}

double
delay_share(const Run *run, Kept kept, const Latest *latest, size_t count, double time, double *rest)
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

bool
delay_vanishes(const Run *run, uint32_t k)
{
    return run->model->delay[k].weight && delay_time(run, k) <= 8 * DBL_EPSILON * fabs(run->v[0]);
}

bool
delay_beyond(const Run *run, uint32_t k, double time)
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
    if (delay_vanishes(run, k)) {
        weight = 1;
        value = 0;
    } else if (delay_beyond(run, k, time)) {
        const Latest latest = delay_latest(delays, now);
        weight = delay_share(run, delay_kept(run, k), &latest, latest.count, time, &value);
    } else {
        value = value_at(run, k, time);
    }
    run->v[delay->value] = value;
    if (delay->weight)
        run->v[delay->weight] = weight;
}

bool
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

bool
delay_moved(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        if (delay_time_moved(run, &run->delays->times, k))
            return true;
    return false;
}

void
delay_tell_open(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_delays; k++)
        if (delay_time_moved(run, &run->delays->times, k))
            run_message(run, MDL_ERROR, "%s: at time %.12g: the delay follows from the value that it delays, and no delay was found that gives itself "
                        "(a value delayed by %.9g says %.9g)", run->model->delay[k].where, run->v[0], run->delays->times.last[k], delay_time(run, k));
}
