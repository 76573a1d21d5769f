// delay_tangents.c: sensitivities of delayed values.
//
// Purpose: y(t) = u(t - T) moves by s(t - T) + (dt - dT)*u'(t - T).
// Method: derivatives are kept beside the values and interpolated like them; those of times that the dynamics compute: past_tangents.c.
// Contract: delay_inner.h, runtime/point/sense.h. Complexity: that of the values, for each parameter.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/memory/delay_inner.h"
#include "runtime/point/sense.h"

// How fast what is delayed moves at `time`, behind the last point, by the polynomial that goes on to the present instant.
static double
slope_beyond(const Run *run, uint32_t k, const Latest *latest, double time)
{
    const Delays *delays = run->delays;
    double t[POLYNOMIAL_POINTS] = {run->v[0]}, p[POLYNOMIAL_POINTS] = {delay_input(run, k)}, slope;
    for (size_t j = 0; j < latest->count; j++) {
        t[j + 1] = delays->time[latest->at[j]];
        p[j + 1] = delays->value[latest->at[j] * run->model->n_delays + k];
    }
    (void)polynomial_at(t, p, 1, latest->count + 1, time, &slope);
    return slope;
}

// How fast what is delayed moves now.
static double
slope_now(const Run *run, uint32_t k)
{
    const Delays *delays = run->delays;
    if (run->v[0] > delays->time[delays->points - 1]) {
        const Latest latest = delay_latest(delays, run->v[0]);
        return slope_beyond(run, k, &latest, run->v[0]);
    }
    const Nodes nodes = delay_nodes(run, k, run->v[0]);
    double slope;
    delay_interpolate(delays, delays->value + k, run->model->n_delays, &nodes, &slope);
    return nodes.count > 1 ? slope : delays->behind[k];
}

// By parameter p, or UINT32_MAX: by none, what was delayed moves at the time of the past that delay k has come to, which moves with time alone. What
// the equations add as a share of the present is left out; *slope: how fast it moved there.
static double
past_tangent(const Run *run, const Tangent *tangent, uint32_t k, uint32_t p, double *slope)
{
    const Delays *delays = run->delays;
    const Kept moved = {p == UINT32_MAX ? NULL : delays->moved + (size_t)k * delays->parameters + p, (size_t)run->model->n_delays * delays->parameters};
    double now = run->v[0], time = now - delay_time(run, k), tau = *tangent_at(tangent, 0), change = 0;
    if (delay_vanishes(run, k)) {
        *slope = slope_now(run, k);
        return 0;
    }
    if (delay_beyond(run, k, time)) {
        const Latest latest = delay_latest(delays, now);
        double rest, weight = delay_share(run, delay_kept(run, k), &latest, latest.count, time, &rest);
        *slope = slope_beyond(run, k, &latest, time);
        if (moved.value)
            (void)delay_share(run, moved, &latest, latest.count, time, &change);
        return change + (*slope - weight * slope_beyond(run, k, &latest, now)) * tau;
    }
    const Nodes nodes = delay_nodes(run, k, time);
    delay_interpolate(delays, delays->value + k, run->model->n_delays, &nodes, slope);
    if (moved.value)
        change = delay_interpolate(delays, moved.value, moved.stride, &nodes, NULL);
    return change + *slope * tau;
}

void
delay_tangents(const Run *run, Tangent *tangent, uint32_t p)
{
    const Delays *delays = run->delays;
    for (uint32_t k = 0; delays && delays->points && k < run->model->n_delays; k++) {
        const mdl_delay *delay = &run->model->delay[k];
        double slope, *value = tangent_at(tangent, delay->value);
        *value = past_tangent(run, tangent, k, p, &slope);
        if (delay->moving) // what the dynamics compute is not known before these
            tangent_looked_up(tangent, delay->value, slope, delay->time, delay->time_sign);
        else
            *value -= slope * delay->time_sign * *tangent_at(tangent, delay->time);
    }
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

int
delay_note_present(const Run *run)
{
    return note_tangents(run, run->delays->noted, 1);
}

void
delay_keep_noted(const Run *run)
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
