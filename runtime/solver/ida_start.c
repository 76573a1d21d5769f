// ida_start.c: where IDA starts, and starts again behind events.
//
// Purpose: a first step of the right length, and orders above 1 from the start where the motion admits them. Method: the second derivative from a
//          probing step along the first, as CVODE's CVHin; a history made from a polynomial (history.c).
// Contract: ida_inner.h. Complexity: a few evaluations.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/law/law.h"
#include "runtime/linear/nvector.h"
#include "runtime/memory/memory.h"
#include "runtime/point/point.h"
#include "runtime/solver/ida_inner.h"
#include "runtime/step/step.h"

// As in IDA's error test, which leaves the loops' unknowns out.
static double
weighted_norm(const Run *run, const double *x)
{
    const double *weight = run->integrator->weight;
    double sum = nvector_squares(run->options->threads, x, weight, run->model->nx);
    sum += nvector_squares(run->options->threads, x + run->ny, weight + run->ny, run->modes);
    return sqrt(sum / (run->model->nx + run->modes));
}

// Size of the second derivative from one probing step along the first; negative when it cannot be evaluated.
static double
second_derivative(Run *run, double probe)
{
    const mdl_model *model = run->model;
    double *v = run->v, *rate = run->integrator->rate;
    v[0] = run->time + probe;
    for (uint32_t i = 0; i < model->nx; i++)
        v[model->y + i] = run->y[i] + probe * run->yp[i];
    fractional_extrapolate(run, probe);
    bool solved = evaluate_solved(run, false) == MDL_OK;
    for (uint32_t i = 0; i < model->nx; i++)
        rate[i] = (v[model->yp + i] - run->yp[i]) / probe;
    fractional_rates(run, run->mode, rate + run->ny);
    for (uint32_t i = run->ny; i < run_size(run); i++)
        rate[i] = (rate[i] - run->yp[i]) / probe;
    double size = weighted_norm(run, rate);
    v[0] = run->time;
    memcpy(v + model->y, run->y, run_stored(run) * sizeof *v);
    memcpy(v + model->yp, run->yp, run_stored(run) * sizeof *v);
    run->mode = run->y + run->ny;
    return solved && isfinite(size) ? size : -1;
}

// The first step has order 1: its error h^2 |y''| / 2 shall be a fraction of the tolerance. As in CVODE's CVHin, y'' is
// estimated again over a time like the step it asks for, because over a longer one it may be anything.
static double
curvature_step(Run *run, double probe, double most, double least)
{
    double step = most;
    for (int round = 0; round < 8; round++) {
        double curvature = second_derivative(run, probe);
        if (curvature < 0)
            step = 1e-3 * probe;
        else
            step = curvature > 0 ? sqrt(0.1 / curvature) : most;
        step = fmax(fmin(step, most), least);
        if (probe <= 10 * step)
            break;
        probe = step;
    }
    return fmin(step, 1e3 * probe);
}

// What rounding of time leaves; the length of the run says nothing about the model.
static double
shortest_step(const Run *run)
{
    return 1e2 * DBL_EPSILON * fmax(fabs(run->time), DBL_MIN);
}

static double
first_step(Run *run)
{
    Integrator *integrator = run->integrator;
    double span = run->options->stop - run->time, least = shortest_step(run);
    double most = integrator->step > 0 ? fmin(integrator->step, span) : fmin(run->interval, span / 100);
    ida_weights(run, run->y, integrator->weight);
    double speed = weighted_norm(run, run->yp);
    // The probe moves the states by about a hundredth of what the tolerance calls significant digits.
    double far = speed > 0 ? 1e-2 * run->strictness / (run->tolerance * speed) : most;
    double probe = fmin(integrator->step > 0 ? most : 1e-4 * most, far);
    return curvature_step(run, fmax(probe, 10 * least), most, least);
}

// A condition is about to flip back, after which everything starts again. A long step could miss that.
static bool
flips_back(const Run *run)
{
    for (uint32_t k = 0; k < run->guards; k++)
        if (run->guard[k].returning)
            return true;
    return false;
}

// After an event: order 3 from the start where the motion admits a longer step with it than with order 1.
static void
start_with_history(Run *run, double step)
{
    Integrator *integrator = run->integrator;
    double most = fmin(integrator->step, run->options->stop - run->time);
    double speed = weighted_norm(run, run->yp), curvature = weighted_norm(run, integrator->rate);
    double guess = speed > 0 && curvature > 0 ? pow(0.2 * speed * speed / pow(curvature, 3), 0.25) : most;
    if (most <= 4 * step)
        return;
    double longer = history_estimate(integrator->history, run, integrator->weight, fmax(guess, 4 * step), most,
                                     fmax(2 * step, 1e3 * shortest_step(run)));
    if (longer > 0)
        (void)history_install(integrator->history, integrator->ida, longer);
}

void
ida_stats(Run *run)
{
    Integrator *integrator = run->integrator;
    if (!integrator || !integrator->ida)
        return;
    long errors = 0, newtons = 0;
    if (IDAGetNumErrTestFails(integrator->ida, &errors) != IDA_SUCCESS
        || IDAGetNumNonlinSolvConvFails(integrator->ida, &newtons) != IDA_SUCCESS)
        return;
    run->stats->error_failures += (uint64_t)(errors - integrator->error_failures);
    run->stats->newton_failures += (uint64_t)(newtons - integrator->newton_failures);
    integrator->error_failures = errors;
    integrator->newton_failures = newtons;
}

MDL_CHECKED static int
restart(Run *run)
{
    Integrator *integrator = run->integrator;
    if (!run->ny)
        return MDL_OK;
    ida_stats(run);
    if (integrator->projection)
        projection_forget(integrator->projection);
    bool again = flips_back(run);
    integrator->step = fmax(integrator->step, integrator->step_before);
    integrator->step_before = again ? integrator->step : 0;
    double step = first_step(run);
    if (IDAReInit(integrator->ida, run->time, integrator->y, integrator->yp) != IDA_SUCCESS ||
        IDASetInitStep(integrator->ida, step) != IDA_SUCCESS) {
        run_message(run, MDL_ERROR, "at time %.12g: the integrator could not be restarted: %s", run->time,
                    integrator->message);
        return MDL_INTERNAL;
    }
    if (integrator->step > 0 && !again && !integrator->recovered && !run->modes)
        start_with_history(run, step);
    corrector_forget(integrator->corrector);
    integrator->limit = NAN;
    integrator->events = run->stats->events;
    integrator->error_failures = integrator->newton_failures = 0;
    return MDL_OK;
}

// Rows of states that contacts at rest determine now are replaced by these.
int
ida_choose_rows(Run *run)
{
    Integrator *integrator = run->integrator;
    integrator->rest_version = rest_version(run);
    integrator->replaced = run->causal ? NULL : rest_rows(run);
    jacobian_free(&integrator->jacobian);
    integrator->jacobian = jacobian_create(run, run->causal, integrator->replaced);
    if (!integrator->jacobian)
        return MDL_INTERNAL;
    integrator->fresh = true;
    return MDL_OK;
}

int
ida_start_again(Run *run)
{
    run->integrator->crossed = false;
    bool rests = run->ny && !run->causal && run->integrator->rest_version != rest_version(run);
    int status = rests ? ida_choose_rows(run) : MDL_OK;
    return status == MDL_OK ? restart(run) : status;
}

int
ida_start(Run *run)
{
    if (run->integrator->crossing)
        crossing_forget(run->integrator->crossing);
    return ida_start_again(run);
}

// An event in the middle of the last step that changes nothing in the motion: the polynomial of the step is as good as before.
int
ida_resume(Run *run)
{
    Integrator *integrator = run->integrator;
    if (!run->ny || run->modes || integrator->projection || integrator->recovered || flips_back(run)
        || (!run->causal && integrator->rest_version != rest_version(run))
        || !history_keep(integrator->history, integrator->ida, run->time))
        return ida_start(run);
    ida_stats(run);
    if (IDAReInit(integrator->ida, run->time, integrator->y, integrator->yp) != IDA_SUCCESS)
        return ida_start(run);
    history_resume(integrator->history, integrator->ida);
    corrector_forget(integrator->corrector);
    integrator->limit = NAN;
    integrator->step_before = 0;
    integrator->error_failures = integrator->newton_failures = 0;
    return MDL_OK;
}
