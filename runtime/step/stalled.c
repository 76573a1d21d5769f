// stalled.c: runs that do not get on.
//
// Purpose: a run whose steps have shrunk to rounding ends with a message, whichever method it uses; one that would need hours
//          more says so while it runs, with what keeps its steps short.
// Method: a hundred steps in a row that hardly move time have stalled: near a pole, and where a loop has no solution beyond.
//         From time to time the part of the run that the latest seconds have brought says how long the rest would take.
// Contract: step.h; nothing is said twice, unless the pace has fallen to a tenth. Complexity: a comparison per step, a look at the
//           clock every LOOK steps.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/step/step.h"

enum { STALLED_STEPS = 100, LOOK = 1024 };

static const double PATIENCE = 10;   // s before something is said
static const double HOPELESS = 3600; // s that the rest would take
static const double AHEAD = 1e-6;    // of the run: where a loop that ends here has no solution any more

// Solved inside each evaluation, a loop must be solved to rounding wherever the method looks.
static bool
solves_loops_inside(const Run *run)
{
    return run->causal && (run->model->n > run->model->nx || run->n_implicit) && !run->deficient;
}

bool
pace_explain(Run *run)
{
    double step = AHEAD * (run->options->stop - run->options->start);
    for (uint32_t i = 0; i < run->model->nx; i++)
        run->v[run->model->y + i] = run->y[i] + step * run->yp[i];
    run->v[0] = run->time + step;
    run->mode = run->y + run->ny;
    if (evaluate_solved(run, true) != MDL_OK)
        return true;
    char text[300];
    if (!evaluate_not_finite(run, text, sizeof text))
        return false;
    run_message(run, MDL_ERROR, "at time %.12g: a little later, at %.12g, %s is not finite%s", run->time, run->v[0], text, evaluate_explain(run));
    return true;
}

void
pace_advise(const Run *run)
{
    if (run->loop_failed && solves_loops_inside(run))
        run_message(run, MDL_NOTE, "loops that are nearly singular may be solved together with the steps: --solver=ida --form=dae");
}

MDL_CHECKED static int
report_stall(Run *run)
{
    double most = 0;
    uint32_t fastest = 0;
    if (pace_explain(run))
        return MDL_FAILED;
    for (uint32_t i = 0; i < run->model->nx; i++) {
        double rate = fabs(run->yp[i]) / (fabs(run->y[i]) + run->abstol[i]);
        if (rate > most) {
            most = rate;
            fastest = i;
        }
    }
    run_message(run, MDL_ERROR, "at time %.12g: the steps became too small: `%s` = %.6g changes at the rate %.6g",
                run->time, run->model->state_name[fastest], run->y[fastest], run->yp[fastest]);
    return MDL_FAILED;
}

// --- slow runs

// What keeps the latest steps short.
static void
explain_steps(const Run *run, char *text, size_t size)
{
    const Pace *pace = &run->pace;
    const mdl_stats *stats = run->stats;
    uint64_t steps = stats->steps - pace->steps, events = stats->events - pace->events;
    double length = (run->time - pace->time) / (double)(steps ? steps : 1), most = 0;
    uint32_t worst = 0;
    int used = snprintf(text, size, "%llu steps of %.3g s on average", (unsigned long long)steps, length);
    double *error = calloc((size_t)run->ny + 1, sizeof *error);
    int order = error && run->stepper->judge ? run->stepper->judge((Run *)(uintptr_t)run, error) : -1;
    for (uint32_t i = 0; order >= 0 && i < run->ny; i++)
        if (fabs(error[i]) > most) {
            most = fabs(error[i]);
            worst = i;
        }
    free(error);
    if (events > steps / 4)
        snprintf(text + used, size - (size_t)used, ", with %llu events: --stats=long tells which conditions change",
                 (unsigned long long)events);
    else if (stats->newton_failures - pace->newton_failures > steps / 4)
        snprintf(text + used, size - (size_t)used, ", many of which could not be solved at first%s",
                 solves_loops_inside(run) ? ": with loops that are nearly singular --solver=ida --form=dae may get on" : "");
    else if (most > 0)
        snprintf(text + used, size - (size_t)used, "; the error of `%s` keeps them short", run->model->state_name[worst]);
}

static void
remember(Run *run, double now)
{
    run->pace.clock = now;
    run->pace.time = run->time;
    run->pace.steps = run->stats->steps;
    run->pace.events = run->stats->events;
    run->stepper->stats(run);
    run->pace.newton_failures = run->stats->newton_failures;
}

static void
look(Run *run)
{
    Pace *pace = &run->pace;
    double now = clock_seconds(), limit = run->options->time_limit;
    double patience = limit > 0 ? fmin(PATIENCE, limit / 4) : PATIENCE;
    if (pace->clock == 0) {
        remember(run, now);
        return;
    }
    double passed = now - pace->clock, gained = run->time - pace->time;
    if (passed < patience)
        return;
    double needed = passed * (run->options->stop - run->time) / fmax(gained, DBL_MIN);
    if (needed > HOPELESS && needed > 10 * pace->told) {
        char why[400], length[60];
        run->stepper->stats(run);
        explain_steps(run, why, sizeof why);
        snprintf(length, sizeof length, needed < 1e9 ? "%.3g hours" : "far more than %.3g hours", fmin(needed, 1e9) / 3600);
        run_message(run, MDL_NOTE, "at time %.12g: at the pace of the latest %.2g s the rest of this run takes %s\n%s",
                    run->time, passed, length, why);
        pace->told = needed;
    }
    remember(run, now);
}

int
pace_step(Run *run, double before)
{
    Pace *pace = &run->pace;
    bool moved = run->time - before > 64 * DBL_EPSILON * fabs(run->time);
    pace->stalled = moved ? 0 : pace->stalled + 1;
    if (pace->stalled >= STALLED_STEPS && run->ny) {
        pace->stalled = 0;
        return fold_found(run) ? MDL_OK : report_stall(run);
    }
    if (run->stats->steps % LOOK == 0 && !run->driven)
        look(run);
    return MDL_OK;
}
