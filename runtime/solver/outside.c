// outside.c: the stepper of a run whose steps somebody else makes.
//
// Purpose: whoever integrates a model with a method of his own (model exchange of FMI) gives points; events, memory and laws look at
// them as at the steps of any other method.
// Method: a step goes from the last accepted point to the present one; between them cubic Hermite interpolation, order 3, which is what
// delays keep of it. Contract: solver.h and run.h. Complexity: linear in the states.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

MDL_CHECKED static int
outside_create(Run *run)
{
    size_t n = run_size(run) + 1;
    Outside *o = calloc(1, sizeof *o + 9 * n * sizeof(double));
    run->outside = o;
    if (!o)
        return MDL_INTERNAL;
    double *place = (double *)(o + 1);
    double **parts[] = {&o->y, &o->yp, &o->y0, &o->yp0, &o->kept, &o->kept_p, &o->dense, &o->dense_p, &o->way};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++, place += n)
        *parts[k] = place;
    if (!projection_where_needed(run, &o->projection))
        return MDL_INTERNAL;
    o->apex = INFINITY;
    o->begun = NAN;
    run->strictness = 1;
    run->stats->linear_solver = "none";
    return MDL_OK;
}

static void
outside_free(Run *run)
{
    if (run->outside)
        projection_free(&run->outside->projection);
    free(run->outside);
    run->outside = NULL;
}

// The point is the present one, and a step begins there.
MDL_CHECKED static int
outside_start(Run *run)
{
    Outside *o = run->outside;
    size_t bytes = run_size(run) * sizeof(double);
    memcpy(o->y, run->y, bytes);
    memcpy(o->yp, run->yp, bytes);
    memcpy(o->y0, run->y, bytes);
    memcpy(o->yp0, run->yp, bytes);
    o->time = o->from = o->looked = run->time;
    o->shown = false;
    return MDL_OK;
}

void
outside_accept(Run *run)
{
    Outside *o = run->outside;
    size_t bytes = run_size(run) * sizeof(double);
    memcpy(o->y0, run->y, bytes);
    memcpy(o->yp0, run->yp, bytes);
    o->from = run->time;
    memcpy(run->y, o->y, bytes);
    memcpy(run->yp, o->yp, bytes);
    run->time = o->time;
    run->stats->steps++;
}

MDL_CHECKED static int
outside_step(Run *run, double limit)
{
    (void)limit;
    run_message(run, MDL_ERROR, "the run is integrated outside");
    return MDL_INTERNAL;
}

MDL_CHECKED static int
outside_interpolate(Run *run, double time)
{
    Outside *o = run->outside;
    double h = run->time - o->from, s = h > 0 ? (time - o->from) / h : 1;
    if (time == run->time || !(h > 0)) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    for (uint32_t i = 0; i < run_size(run); i++) {
        double y0 = o->y0[i], f0 = h * o->yp0[i], f1 = h * run->yp[i], d = run->y[i] - y0;
        o->dense[i] = y0 + s * (f0 + s * (3 * d - 2 * f0 - f1 + s * (f0 + f1 - 2 * d)));
        o->dense_p[i] = (f0 + s * (2 * (3 * d - 2 * f0 - f1) + 3 * s * (f0 + f1 - 2 * d))) / h;
    }
    evaluate_load(run, time, o->dense, o->dense_p);
    return MDL_OK;
}

static void
outside_snapshot(Run *run, Snapshot *snapshot)
{
    Outside *o = run->outside;
    size_t bytes = run_size(run) * sizeof(double);
    snapshot_part(snapshot, &o->time, sizeof o->time);
    snapshot_part(snapshot, &o->from, sizeof o->from);
    snapshot_part(snapshot, &o->drifted, sizeof o->drifted);
    snapshot_part(snapshot, &o->begun, sizeof o->begun);
    snapshot_part(snapshot, &run->strayed, sizeof run->strayed);
    snapshot_part(snapshot, &o->pull, sizeof o->pull);
    snapshot_part(snapshot, &o->looked, sizeof o->looked);
    snapshot_part(snapshot, &o->longest, sizeof o->longest);
    snapshot_part(snapshot, &o->shown, sizeof o->shown);
    snapshot_part(snapshot, o->way, run->model->nx * sizeof *o->way);
    snapshot_part(snapshot, &o->given, sizeof o->given);
    snapshot_part(snapshot, &o->next, sizeof o->next);
    snapshot_part(snapshot, &o->apex, sizeof o->apex);
    double *parts[] = {o->y, o->yp, o->y0, o->yp0};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        snapshot_part(snapshot, parts[k], bytes);
    if (o->projection)
        projection_snapshot(o->projection, snapshot);
}

// All of its past is kept.
MDL_CHECKED static int
outside_settle(Run *run)
{
    (void)run;
    return MDL_OK;
}

static void
outside_stats(Run *run)
{
    (void)run;
}

const Stepper outside_stepper = {.name = "outside", .create = outside_create, .free = outside_free, .start = outside_start, .step = outside_step,
                                 .interpolate = outside_interpolate, .stats = outside_stats, .snapshot = outside_snapshot,
                                 .settle = outside_settle};
