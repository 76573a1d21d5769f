// fixed.c: the classical Runge-Kutta method with fixed steps.
//
// Purpose: comparison with publications that use it. Events are located as with any other stepper, and a
// step is cut short at an event or a time event; the next one has full length again.
// Method: Kutta (1901), order 4; cubic Hermite interpolation between steps, order 3.
// Contract: run.h. Complexity: four evaluations of the right side per step.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

struct Ode {
    double from;              // time at the start of the last step
    double *y0, *f0;          // there
    double *sum, *stage, *f;  // nx each, with those of fractional derivatives
    double *dense, *dense_p;
    Projection *projection;   // NULL: all states are free
};

MDL_CHECKED static int
rk4_create(Run *run)
{
    size_t n = run_size(run);
    Ode *ode = calloc(1, sizeof *ode + 7 * n * sizeof(double));
    run->ode = ode;
    if (!ode)
        return MDL_INTERNAL;
    if (!projection_where_needed(run, &ode->projection))
        return MDL_INTERNAL;
    double *place = (double *)(ode + 1);
    double **parts[] = {&ode->y0, &ode->f0, &ode->sum, &ode->stage, &ode->f, &ode->dense, &ode->dense_p};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++, place += n)
        *parts[k] = place;
    run->stats->linear_solver = "none";
    return MDL_OK;
}

static void
rk4_free(Run *run)
{
    if (run->ode)
        projection_free(&run->ode->projection);
    free(run->ode);
    run->ode = NULL;
}

MDL_CHECKED static int
rk4_start(Run *run)
{
    run->ode->from = run->time;
    return MDL_OK;
}

static void
rk4_snapshot(Run *run, Snapshot *snapshot)
{
    if (run->ode->projection)
        projection_snapshot(run->ode->projection, snapshot);
}

MDL_CHECKED static int
slope(Run *run, double time, const double *y)
{
    Phase before = profile_enter(run, PHASE_EQUATIONS);
    run->stats->residuals++;
    evaluate_states(run, time, y);
    int status = evaluate_solved(run, true);
    evaluate_slopes(run, y, run->ode->f);
    profile_leave(run, before);
    return status;
}

MDL_CHECKED static int
rk4_step(Run *run, double limit)
{
    Ode *ode = run->ode;
    const mdl_model *model = run->model;
    double h = run->options->step;
    double end = limit - run->time <= h * (1 + 1e-9) ? limit : run->time + h;
    static const double node[4] = {0, 0.5, 0.5, 1}, weight[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    const double *f = ode->f;
    uint32_t n = run_size(run);
    h = end - run->time;
    run->stats->steps++;
    ode->from = run->time;
    memcpy(ode->y0, run->y, n * sizeof(double));
    memcpy(ode->sum, run->y, n * sizeof(double));
    for (int k = 0; k < 4; k++) {
        // f still holds the slope of the stage before.
        for (uint32_t i = 0; i < n; i++)
            ode->stage[i] = k ? ode->y0[i] + node[k] * h * f[i] : ode->y0[i];
        if (slope(run, ode->from + node[k] * h, ode->stage) != MDL_OK)
            return MDL_FAILED;
        if (k == 0)
            memcpy(ode->f0, f, n * sizeof(double));
        for (uint32_t i = 0; i < n; i++)
            ode->sum[i] += weight[k] * h * f[i];
    }
    if (ode->projection && !projection_apply(run, ode->projection, end, ode->sum))
        return projection_report(run);
    if (slope(run, end, ode->sum) != MDL_OK)
        return MDL_FAILED;
    for (uint32_t i = 0; i < model->nx; i++) {
        if (isfinite(ode->sum[i]))
            continue;
        run_message(run, MDL_ERROR, "at time %.12g: `%s` has no finite value; the fixed step %g may be too long", end,
                    model->state_name[i], h);
        return MDL_FAILED;
    }
    run->time = end;
    evaluate_store(run);
    return MDL_OK;
}

MDL_CHECKED static int
rk4_interpolate(Run *run, double time)
{
    Ode *ode = run->ode;
    double h = run->time - ode->from, s = h > 0 ? (time - ode->from) / h : 1;
    if (time == run->time || !(h > 0)) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    for (uint32_t i = 0; i < run_size(run); i++) {
        double y0 = ode->y0[i], y1 = run->y[i], f0 = h * ode->f0[i], f1 = h * run->yp[i], d = y1 - y0;
        ode->dense[i] = y0 + s * (f0 + s * (3 * d - 2 * f0 - f1 + s * (f0 + f1 - 2 * d)));
        ode->dense_p[i] = (f0 + s * (2 * (3 * d - 2 * f0 - f1) + 3 * s * (f0 + f1 - 2 * d))) / h;
    }
    if (ode->projection)
        (void)projection_between(run, ode->projection, time, ode->dense);
    evaluate_load(run, time, ode->dense, ode->dense_p);
    return MDL_OK;
}

static void
rk4_stats(Run *run)
{
    (void)run;
}

// Nothing estimates errors.
static int
rk4_judge(Run *run, double *error)
{
    memset(error, 0, run->ny * sizeof *error);
    return 4;
}

const Stepper rk4_stepper = {.name = "rk4", .create = rk4_create, .free = rk4_free, .start = rk4_start,
                             .step = rk4_step, .interpolate = rk4_interpolate, .stats = rk4_stats, .judge = rk4_judge,
                             .snapshot = rk4_snapshot, .settle = rk4_start,
                             .is_explicit = true};
