// simulate.c: a run from its start to its end.
//
// Purpose: mdl_simulate().
// Method: consistent values, then steps (advance.c) until the stop time; the last row stands at the end.
// Contract: sim.h. A row is handed to the result before the next step is taken.
// Complexity: steps * (model evaluation + linear solve) + rows * columns.
#include <math.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/memory/memory.h"
#include "runtime/model/float_control.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/point/sense.h"
#include "runtime/result/result.h"
#include "runtime/shell/simulate.h"
#include "runtime/solver/solver.h"
#include "runtime/start/start.h"
#include "runtime/study/study.h"

MDL_CHECKED static int
watch(Run *run, Watch *clock)
{
    const mdl_options *options = run->options;
    if (run_interrupted(run))
        return MDL_INTERRUPTED;
    int status = result_tend(run);
    if (status != MDL_OK || (!options->progress && !(options->time_limit > 0)))
        return status;
    double now = clock_seconds();
    if (options->time_limit > 0 && now - clock->begun > options->time_limit) {
        run_message(run, MDL_ERROR, "at time %.12g: the time limit of %g s is used up", run->time,
                    options->time_limit);
        return MDL_FAILED;
    }
    if (options->progress && now - clock->shown > 0.1) {
        clock->shown = now;
        options->progress(options->user, run->time, options->start, options->stop);
    }
    return MDL_OK;
}

// The last row of a run that ends between output points; terminal() holds there.
MDL_CHECKED static int
finish(Run *run)
{
    const mdl_model *model = run->model;
    int status = MDL_OK;
    if (run->options->final_time && *run->options->final_time < run->time)
        status = evaluate_at(run, run->time, true);
    if (status == MDL_OK && run->options->final_time && *run->options->final_time < run->time)
        status = result_row(run);
    if (status != MDL_OK || !model->terminal)
        return status;
    run->v[model->terminal] = 1;
    status = integrator_interpolate(run, run->time);
    if (status == MDL_OK)
        status = event_iterate(run, false);
    if (status == MDL_OK)
        status = evaluate_asserts(run);
    return status == MDL_OK ? result_row(run) : status;
}

// The point behind the start is not the start itself: what divides by time there need not have a value at it.
int
simulate_leave_start(Run *run)
{
    run->v[0] = run->time; // the method has evaluated other points
    if (!simulate_goes_on(run) || !event_leaves_start(run))
        return MDL_OK;
    run->time = event_just_after(run->time);
    return simulate_event(run, run->time, false, true);
}

// The start has as long as the integration.
static void
set_deadline(Run *run)
{
    run->deadline = run->options->time_limit > 0 ? clock_seconds() + run->options->time_limit : 0;
}

int
simulate_start(Run *run)
{
    double begun = clock_seconds();
    int status = init_solve(run);
    run->stats->init_seconds = clock_seconds() - begun;
    if (status == MDL_OK)
        status = delay_start(run);
    if (status == MDL_OK)
        status = transport_start(run);
    if (status == MDL_OK)
        status = redundancy_review(run);
    if (status == MDL_OK)
        status = locked_review(run);
    if (status == MDL_OK && run->locked)
        locked_form(run);
    if (status == MDL_OK && run->options->steady)
        status = steady_find(run);
    if (status == MDL_OK)
        status = sense_start(run);
    if (status == MDL_OK)
        fractional_start(run);
    if (status == MDL_OK)
        status = result_row(run);
    if (status == MDL_OK)
        audit_start(run);
    if (status == MDL_OK && may_stop(run))
        status = evaluate_asserts(run);
    fractional_leave_start(run);
    return status == MDL_OK ? root_blind(run) : status;
}

// Numbers too small for their full precision cost many times what others do, and mean nothing here.
unsigned
simulate_flush_subnormals(void)
{
    unsigned control = float_control();
    float_control_set(control | FLOAT_FLUSH);
    return control;
}

int
simulate_begin(Run *run, Watch *clock)
{
    memset(run->stats, 0, sizeof *run->stats);
    *clock = (Watch){0};
    int status = simulate_set_up(run);
    set_deadline(run);
    if (status == MDL_OK)
        status = result_open(run);
    if (status == MDL_OK)
        status = simulate_start(run);
    if (status != MDL_OK)
        return status;
    clock->integrates = true;
    clock->begun = clock->shown = clock_seconds();
    set_deadline(run);
    status = integrator_create(run);
    profile_begin(run);
    if (status == MDL_OK)
        status = integrator_start(run);
    return status == MDL_OK ? simulate_leave_start(run) : status;
}

bool
simulate_goes_on(const Run *run)
{
    return run->time < run->options->stop && !run->terminated;
}

int
simulate_step(Run *run, Watch *clock)
{
    int status = watch(run, clock);
    return status == MDL_OK ? simulate_advance(run, run->options->stop) : status;
}

int
simulate_end(Run *run, const Watch *clock, int status)
{
    if (clock->integrates) {
        if (status == MDL_OK)
            status = finish(run);
        if (status == MDL_OK)
            scale_end(run);
        integrator_stats(run);
        profile_end(run);
        run->stats->run_seconds = clock_seconds() - clock->begun;
    }
    int balanced = audit_finish(run);
    if (status == MDL_OK)
        status = balanced;
    // A call that was left (failure.c) has failed.
    if (status == MDL_INTERRUPTED || (status == MDL_FAILED && run_interrupted(run))) {
        status = MDL_INTERRUPTED;
        run_message(run, MDL_NOTE, "interrupted at time %.12g", run->time);
    }
    // Who finds no memory says so where he knows what for, and nothing where he does not.
    if (status == MDL_INTERNAL && !run->stats->errors)
        run_message(run, MDL_ERROR, "at time %.12g: out of memory", run->time);
    run->stats->end_time = run->time;
    int closed = result_close(run);
    if (closed != MDL_OK)
        status = closed;
    simulate_clean_up(run);
    return status;
}

int
mdl_simulate(const mdl_model *model, const mdl_options *given, mdl_stats *stats)
{
    mdl_stats unused;
    mdl_options options = *given;
    double final_time;
    if (!options.final_time)
        options.final_time = &final_time;
    *options.final_time = -INFINITY;
    Run run = {.model = model, .options = &options, .stats = stats ? stats : &unused};
    Watch clock;
    unsigned control = simulate_flush_subnormals();
    int status = simulate_begin(&run, &clock);
    while (status == MDL_OK && simulate_goes_on(&run))
        status = simulate_step(&run, &clock);
    status = simulate_end(&run, &clock, status);
    float_control_set(control);
    return status;
}
