// ida.c: IDA set up for one run: residual, matrix, tolerances, restarts, failure reports.
//
// Purpose: one accepted step at a time (IDA_ONE_STEP); everything around the step is the runtime's own.
// Method: variable-order BDF with fixed leading coefficient (Hindmarsh et al., SUNDIALS, ACM TOMS 31 (2005)
//         363). Own vector operations (nvector.c), own Newton iteration (corrector.c) with a matrix whose symbolic
//         analysis is kept across restarts, loops' unknowns left out of the error test, a first step from an
//         estimate of the second derivative, after events a history made from a polynomial (history.c), after
//         steps a projection onto the invariants (projection.c).
// Contract: see run.h. Values between steps come from IDA's own interpolation polynomial.
// Complexity: IDA's.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvector/nvector_serial.h>

#include "runtime/law/law.h"
#include "runtime/linear/nvector.h"
#include "runtime/linear/sundials.h"
#include "runtime/memory/memory.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/corrector.h"
#include "runtime/solver/crossing.h"
#include "runtime/solver/history.h"
#include "runtime/solver/jacobian.h"
#include "runtime/solver/solver.h"

enum { BDF_ORDER = 5 }; // the highest, as IDA comes

struct Integrator {
    const Run *run;
    SUNContext context;
    void *ida;
    N_Vector y, yp;          // over run->y, run->yp
    N_Vector dense, dense_p; // interpolated values
    SUNNonlinearSolver corrector;
    Jacobian *jacobian;
    Projection *projection;  // NULL: all states are free
    double *shift;           // nx: the latest projection
    Crossing *crossing;      // with it
    bool crossed;            // the last step leapt over a singular position: a start is wanted
    const uint32_t *replaced; // per state: the row of jac_rest that takes the place of its row, plus 1; NULL: none
    uint32_t rest_version;   // of the contacts at rest that `replaced` belongs to
    bool fresh;              // the next factorisation chooses new pivots
    double limit;            // stop time set in IDA
    double *weight, *rate;   // of all unknowns, as the latest point has them; second derivatives for the first step
    History *history;        // for the first step after an event
    double step;             // last step size, 0 at the start
    double step_before;      // the one before an event that another follows at once, otherwise 0
    long error_failures, newton_failures; // of the current start
    bool recovered;          // a restart was tried since the last good step
    bool held_low;           // a start is wanted, with a history
    uint32_t low_steps;      // of order 1 in a row
    long low_failures;       // of the error test, when they began
    double high_step;        // the last one of a higher order than 2
    char bad[300];           // what was not finite in the last failed residual
    char message[500];       // IDA's last message
};

// --- callbacks

// Contacts at rest in the place of the rows of the states that they determine.
static void
replace_rows(const Run *run, double *out)
{
    const mdl_model *model = run->model;
    const uint32_t *replaced = run->integrator->replaced;
    for (uint32_t i = 0; replaced && i < model->nx; i++)
        if (replaced[i])
            out[i] = run->v[model->rest[(replaced[i] - 1) / 2].g + (replaced[i] - 1) % 2];
}

static bool
causal_residual(Run *run, const double *yp, double *out)
{
    const mdl_model *model = run->model;
    memcpy(run->v + model->yp, yp, model->nx * sizeof *yp);
    if (evaluate_solved(run, false) != MDL_OK)
        return false;
    for (uint32_t i = 0; i < model->nx; i++)
        out[i] = yp[i] - run->v[model->yp + i];
    replace_rows(run, out);
    return true;
}

static void
dae_residual(Run *run, const double *yp, double *out)
{
    const mdl_model *model = run->model;
    memcpy(run->v + model->yp, yp, model->n * sizeof *yp);
    evaluate_plain(run);
    if (run->rests)
        rest_apply(run);
    nvector_difference(yp, run->v + model->dx, out, model->nx);
    for (uint32_t k = 0; k < run->n_implicit; k++)
        out[run->implicit[k]] = run->v[model->r + run->implicit[k]];
    memcpy(out + model->nx, run->v + model->r + model->nx, (model->n - model->nx) * sizeof *out);
    if (run->rests)
        replace_rows(run, out);
}

static bool
compute_residual(Run *run, double time, const double *y, const double *yp, double *out)
{
    Integrator *integrator = run->integrator;
    run->stats->residuals++;
    run->v[0] = time;
    memcpy(run->v + run->model->y, y, run->ny * sizeof(double));
    run->mode = y + run->ny;
    if (!run->causal) {
        dae_residual(run, yp, out);
    } else if (!causal_residual(run, yp, out)) {
        snprintf(integrator->bad, sizeof integrator->bad, "an algebraic loop could not be solved");
        return false;
    }
    if (!run->causal && run->past_open) {
        snprintf(integrator->bad, sizeof integrator->bad, "a delay and the value that it delays could not be made to agree");
        return false;
    }
    if (run->modes)
        fractional_residual(run, run->mode, yp + run->ny, yp, out + run->ny);
    if (run->model->failure && failure_text(run, integrator->bad, sizeof integrator->bad))
        return false;
    if (nvector_finite(out, run_size(run)))
        return true;
    for (uint32_t i = 0; i < run->ny; i++)
        if (!isfinite(out[i])) {
            snprintf(integrator->bad, sizeof integrator->bad, "the equation of `%s` has no finite value",
                     run->model->state_name[i]);
            break;
        }
    return false;
}

static bool
residual(Run *run, double time, const double *y, const double *yp, double *out)
{
    if (!run->profile)
        return compute_residual(run, time, y, yp, out);
    Phase before = profile_enter(run, PHASE_EQUATIONS);
    bool good = compute_residual(run, time, y, yp, out);
    profile_leave(run, before);
    return good;
}

// At the point that the latest residual has left in v.
static bool
factor(Run *run, double cj)
{
    Integrator *integrator = run->integrator;
    run->stats->jacobians++;
    Phase before = profile_enter(run, PHASE_PARTIALS);
    // The residual's loops have converged as it needs them. Solved once more from there they are as exact as their derivatives,
    // which divide by what may be nearly singular, need them.
    bool good = (!run->causal || evaluate_solved(run, false) == MDL_OK) && jacobian_assemble(integrator->jacobian, run, cj);
    profile_leave(run, before);
    if (!good)
        return false;
    before = profile_enter(run, PHASE_FACTORS);
    good = jacobian_factor(integrator->jacobian, integrator->fresh);
    profile_leave(run, before);
    integrator->fresh = !good;
    return good;
}

static void
solve(Run *run, double *b)
{
    if (!run->profile) {
        jacobian_solve(run->integrator->jacobian, b);
        return;
    }
    Phase before = profile_enter(run, PHASE_SOLVES);
    jacobian_solve(run->integrator->jacobian, b);
    profile_leave(run, before);
}

static const CorrectorModel corrector_model = {.residual = residual, .factor = factor, .solve = solve};

// IDA wants a residual beside the one that the corrector has; it would serve for initial values only.
static int
ida_residual(realtype time, N_Vector y, N_Vector yp, N_Vector r, void *user)
{
    return residual(user, time, NV_DATA_S(y), NV_DATA_S(yp), NV_DATA_S(r)) ? 0 : 1;
}

static bool
has_loops(const Run *run)
{
    return run->ny > run->model->nx;
}

static void
all_weights(const Run *run, const double *y, double *weight)
{
    nvector_weights(y, run->strictness, run->tolerance, run->abstol, weight, run->ny);
    fractional_weights(run, y, weight);
    if (run->integrator->projection)
        projection_weights(run, run->integrator->projection, y, weight);
}

// Loops' unknowns are left out of the error test: they weigh nothing, and the mean is that of the others. The mean over all of
// a mask, as IDA would have it, is costlier, and the smaller the more unknowns loops have.
static int
weights(N_Vector y, N_Vector w, void *user)
{
    const Run *run = user;
    uint32_t nx = run->model->nx;
    double *out = NV_DATA_S(w), *weight = run->integrator->weight;
    if (!has_loops(run)) {
        all_weights(run, NV_DATA_S(y), out);
        return 0;
    }
    all_weights(run, NV_DATA_S(y), weight);
    double factor = sqrt((double)run_size(run) / (nx + run->modes));
    nvector_scale(factor, weight, out, nx);
    memset(out + nx, 0, (run->ny - nx) * sizeof *out);
    nvector_scale(factor, weight + run->ny, out + run->ny, run->modes);
    return 0;
}

static void
keep_message(int code, const char *module, const char *function, char *text, void *user)
{
    (void)code, (void)module, (void)function;
    Integrator *integrator = user;
    snprintf(integrator->message, sizeof integrator->message, "%s", text);
}

// --- creation

static N_Vector
vector_over(Integrator *integrator, uint32_t n, double *data)
{
    N_Vector vector = N_VMake_Serial((sunindextype)n, data, integrator->context);
    if (vector)
        nvector_accelerate(vector);
    return vector;
}

static bool
create_vectors(Run *run, Integrator *integrator)
{
    uint32_t n = run_size(run);
    integrator->y = vector_over(integrator, n, run->y);
    integrator->yp = vector_over(integrator, n, run->yp);
    integrator->dense = integrator->y ? N_VClone(integrator->y) : NULL;
    integrator->dense_p = integrator->y ? N_VClone(integrator->y) : NULL;
    integrator->weight = calloc((size_t)n + 1, sizeof *integrator->weight);
    integrator->rate = calloc((size_t)n + 1, sizeof *integrator->rate);
    integrator->history = history_create(n);
    if (!integrator->y || !integrator->yp || !integrator->dense || !integrator->dense_p ||
        !integrator->weight || !integrator->rate || !integrator->history)
        return false;
    // The iteration must converge in all unknowns.
    integrator->corrector = corrector_create(integrator->context, run, &corrector_model,
                                             has_loops(run) ? integrator->weight : NULL);
    return integrator->corrector != NULL;
}

static bool
set_up_ida(Run *run, Integrator *integrator)
{
    integrator->ida = IDACreate(integrator->context);
    void *ida = integrator->ida;
    if (!ida || IDASetErrHandlerFn(ida, keep_message, integrator) != IDA_SUCCESS ||
        IDAInit(ida, ida_residual, run->time, integrator->y, integrator->yp) != IDA_SUCCESS ||
        IDASetUserData(ida, run) != IDA_SUCCESS || IDAWFtolerances(ida, weights) != IDA_SUCCESS ||
        IDASetNonlinearSolver(ida, integrator->corrector) != IDA_SUCCESS)
        return false;
    return !(run->options->max_step > 0) || IDASetMaxStep(ida, run->options->max_step) == IDA_SUCCESS;
}

MDL_CHECKED static int
ida_create(Run *run)
{
    Integrator *integrator = calloc(1, sizeof *integrator);
    run->integrator = integrator;
    if (!integrator)
        return MDL_INTERNAL;
    integrator->run = run;
    run->strictness = integrator_strictness(run, BDF_ORDER, 1);
    if (!run->ny)
        return MDL_OK;
    if (run->model->n_constraints) {
        integrator->projection = projection_create(run);
        integrator->shift = calloc((size_t)run->model->nx + 1, sizeof *integrator->shift);
        integrator->crossing = crossing_create(run->ny);
        if (!integrator->projection || !integrator->shift || !integrator->crossing)
            return MDL_INTERNAL;
    }
    integrator->jacobian = jacobian_create(run, run->causal, NULL);
    if (!integrator->jacobian) {
        run_message(run, MDL_ERROR, "the matrix of the integrator could not be set up: it is structurally "
                    "singular or memory is exhausted");
        return MDL_FAILED;
    }
    if (SUNContext_Create(NULL, &integrator->context) != 0 || !create_vectors(run, integrator) || !set_up_ida(run, integrator)) {
        run_message(run, MDL_ERROR, "the integrator could not be set up: %s", integrator->message);
        return MDL_INTERNAL;
    }
    run->stats->nonzeros = jacobian_nonzeros(integrator->jacobian);
    run->stats->linear_solver = jacobian_is_dense(integrator->jacobian) ? "dense" : "klu";
    return MDL_OK;
}

static void
ida_free(Run *run)
{
    Integrator *integrator = run->integrator;
    if (!integrator)
        return;
    if (integrator->ida)
        IDAFree(&integrator->ida);
    if (integrator->corrector)
        SUNNonlinSolFree(integrator->corrector);
    N_Vector *vectors[] = {&integrator->y, &integrator->yp, &integrator->dense, &integrator->dense_p};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (*vectors[k])
            N_VDestroy(*vectors[k]);
    jacobian_free(&integrator->jacobian);
    projection_free(&integrator->projection);
    crossing_free(&integrator->crossing);
    free(integrator->shift);
    free(integrator->weight);
    free(integrator->rate);
    history_free(&integrator->history);
    if (integrator->context)
        SUNContext_Free(&integrator->context);
    free(integrator);
    run->integrator = NULL;
}

// --- starting

// As in IDA's error test, which leaves the loops' unknowns out.
static double
weighted_norm(const Run *run, const double *x)
{
    const double *weight = run->integrator->weight;
    double sum = nvector_squares(x, weight, run->model->nx);
    sum += nvector_squares(x + run->ny, weight + run->ny, run->modes);
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
    all_weights(run, run->y, integrator->weight);
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

static void
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
    integrator->error_failures = integrator->newton_failures = 0;
    return MDL_OK;
}

// Rows of states that contacts at rest determine now are replaced by these.
MDL_CHECKED static int
choose_rows(Run *run)
{
    Integrator *integrator = run->integrator;
    integrator->rest_version = rest_version(run);
    integrator->replaced = run->causal ? NULL : rest_rows(run);
    jacobian_free(&integrator->jacobian);
    integrator->jacobian = jacobian_create(run, run->causal, integrator->replaced);
    if (!integrator->jacobian) {
        run_message(run, MDL_ERROR, "at time %.12g: the contacts at rest do not determine states", run->time);
        return MDL_INTERNAL;
    }
    integrator->fresh = true;
    return MDL_OK;
}

MDL_CHECKED static int
start_again(Run *run)
{
    run->integrator->crossed = false;
    bool rests = run->ny && !run->causal && run->integrator->rest_version != rest_version(run);
    int status = rests ? choose_rows(run) : MDL_OK;
    return status == MDL_OK ? restart(run) : status;
}

MDL_CHECKED static int
ida_start(Run *run)
{
    if (run->integrator->crossing)
        crossing_forget(run->integrator->crossing);
    return start_again(run);
}

// An event in the middle of the last step that changes nothing in the motion: the polynomial of the step is as good as before.
MDL_CHECKED static int
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

// --- failures

static const char *
equation_of_row(const mdl_model *model, uint32_t row)
{
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_block *block = model->dynamics[k].block;
        for (uint32_t i = 0; block && block->equation && i < block->m; i++)
            if (block->residual[i] == model->r + row)
                return block->equation[i];
    }
    return NULL;
}

// The estimated errors of the latest step in units of what is allowed, in `dense`. False: there are none.
static bool
weigh_errors(Run *run)
{
    Integrator *integrator = run->integrator;
    if (IDAGetEstLocalErrors(integrator->ida, integrator->dense) != IDA_SUCCESS
        || IDAGetErrWeights(integrator->ida, integrator->dense_p) != IDA_SUCCESS)
        return false;
    const double *weight = has_loops(run) ? integrator->weight : NV_DATA_S(integrator->dense_p);
    for (uint32_t i = 0; i < run->ny; i++)
        NV_Ith_S(integrator->dense, i) *= weight[i];
    return true;
}

// The unknown with the largest weighted estimated error.
static uint32_t
worst_unknown(Run *run, double *size)
{
    Integrator *integrator = run->integrator;
    uint32_t worst = 0;
    *size = 0;
    if (!weigh_errors(run))
        return 0;
    for (uint32_t i = 0; i < run->ny; i++) {
        double error = fabs(NV_Ith_S(integrator->dense, i));
        if (error > *size) {
            *size = error;
            worst = i;
        }
    }
    return worst;
}

static void
report_singular(const Run *run)
{
    const Integrator *integrator = run->integrator;
    uint32_t first = jacobian_singular(integrator->jacobian);
    bool kept = first >= run->model->n;
    const char *name = kept ? run->model->kept_name[first - run->model->n] : run->model->state_name[first];
    const char *equation = kept ? NULL : equation_of_row(run->model, first);
    char text[2000];
    jacobian_null_text(integrator->jacobian, run, text, sizeof text);
    run_message(run, MDL_ERROR, "at time %.12g: the model's matrix is singular; `%s` is not determined%s%s%s", run->time,
                name, text, equation ? "\nequation " : "", equation ? equation : "");
}

MDL_CHECKED static int
report_memory(const Run *run, const char *message)
{
    run_message(run, MDL_ERROR, "at time %.12g: out of memory: the integrator cannot go on: %s", run->time, message);
    return MDL_INTERNAL;
}

MDL_CHECKED static int
report_failure(Run *run, int flag)
{
    Integrator *integrator = run->integrator;
    double step = 0, size = 0;
    if (jacobian_starved(integrator->jacobian))
        return report_memory(run, "there is none left for the factors of its matrix");
    if (flag == IDA_MEM_FAIL || IDAGetCurrentStep(integrator->ida, &step) != IDA_SUCCESS)
        return report_memory(run, integrator->message);
    uint32_t worst = worst_unknown(run, &size);
    const char *name = run->model->state_name[worst];
    const char *equation = equation_of_row(run->model, worst);
    if (integrator->bad[0] && flag != IDA_ERR_FAIL)
        run_message(run, MDL_ERROR, "at time %.12g: %s (step %.3g)", run->time, integrator->bad, step);
    else if (flag != IDA_ERR_FAIL && corrector_singular(integrator->corrector))
        report_singular(run);
    else if (flag == IDA_ERR_FAIL)
        run_message(run, MDL_ERROR, "at time %.12g: the step became too small (%.3g): the error of `%s` stays "
                    "%.3g times above the tolerance%s%s", run->time, step, name, size,
                    equation ? "\nequation " : "", equation ? equation : "");
    else if (!pace_explain(run))
        run_message(run, MDL_ERROR, "at time %.12g: the equations of a step could not be solved (step %.3g); "
                    "worst unknown `%s`%s%s\n%s", run->time, step, name, equation ? "\nequation " : "",
                    equation ? equation : "", integrator->message);
    return MDL_FAILED;
}

// A consistent restart at the last accepted point, once per point.
static bool
recover(Run *run)
{
    Integrator *integrator = run->integrator;
    if (integrator->recovered)
        return false;
    integrator->recovered = true;
    run->stats->restarts++;
    evaluate_load(run, run->time, run->y, run->yp);
    if (evaluate_solved(run, false) != MDL_OK)
        return false;
    evaluate_store(run);
    integrator->step *= 1e-2;
    integrator->step_before = 0;
    return start_again(run) == MDL_OK;
}

// --- stepping

MDL_CHECKED static int
step_once(Run *run, double limit, double *time)
{
    Integrator *integrator = run->integrator;
    if (integrator->limit != limit) {
        int stop = IDASetStopTime(integrator->ida, limit);
        if (stop != IDA_SUCCESS)
            return stop;
        integrator->limit = limit;
    }
    integrator->bad[0] = integrator->message[0] = '\0';
    int flag = IDASolve(integrator->ida, limit, time, integrator->y, integrator->yp, IDA_ONE_STEP);
    if (flag == IDA_TSTOP_RETURN)
        integrator->limit = NAN;
    return flag;
}

// Without unknowns time moves on by the output interval.
MDL_CHECKED static int
step_time_only(Run *run, double limit)
{
    double span = run->options->stop - run->options->start;
    double step = run->interval > 0 ? fmin(run->interval, span / 100) : span / 100;
    run->time = limit - run->time <= step * (1 + 1e-9) ? limit : run->time + step;
    return MDL_OK;
}

// From where the method has arrived to the invariants. MDL_FAILED: there is no way.
MDL_CHECKED static int
project(Run *run)
{
    Integrator *integrator = run->integrator;
    double *shift = integrator->shift;
    uint32_t nx = run->model->nx;
    memcpy(shift, run->y, nx * sizeof *shift);
    Phase before = profile_enter(run, PHASE_PROJECTION);
    bool projected = projection_apply(run, integrator->projection, run->time, run->y);
    profile_leave(run, before);
    if (!projected)
        return MDL_FAILED;
    for (uint32_t i = 0; i < nx; i++)
        shift[i] = run->y[i] - shift[i];
    history_shift(integrator->ida, shift, nx);
    if (!run->modes && projection_is_clear(run, integrator->projection, run->y))
        crossing_keep(integrator->crossing, run, integrator->ida);
    return MDL_OK;
}

// Over a singular position, when a step from `time` on has failed.
static bool
leap(Run *run, double time, double limit)
{
    Integrator *integrator = run->integrator;
    run->time = time;
    if (!integrator->projection || run->modes)
        return false;
    double step = crossing_leap(integrator->crossing, run, integrator->ida, integrator->projection, limit);
    if (!(step > 0))
        return false;
    integrator->step = step;
    integrator->crossed = true;
    integrator->recovered = false;
    return true;
}

// Behind steps that failed again and again IDA goes on with order 1. Where fast vibrations then need steps so short that rounding
// shows in the differences of higher orders, it stays there for ever, one failure to a step. True: it does.
static bool
is_held_low(Integrator *integrator, int order)
{
    enum { LOW_STEPS = 60 };
    long failures = 0;
    if (order > 2)
        integrator->high_step = integrator->step;
    if (order > 1 || integrator->low_steps >= LOW_STEPS)
        integrator->low_steps = 0;
    if (order > 1 || IDAGetNumErrTestFails(integrator->ida, &failures) != IDA_SUCCESS)
        return false;
    if (!integrator->low_steps++)
        integrator->low_failures = failures;
    return integrator->low_steps == LOW_STEPS && failures - integrator->low_failures > LOW_STEPS / 4
           && integrator->high_step > 10 * integrator->step;
}

// A start at the present point, with a history as behind an event.
MDL_CHECKED static int
begin_anew(Run *run)
{
    evaluate_load(run, run->time, run->y, run->yp);
    if (evaluate_solved(run, false) != MDL_OK)
        return MDL_OK;
    evaluate_store(run);
    run->stats->restarts++;
    return start_again(run);
}

// The same before a step, when all have looked at the one before, with a step as they were before the order fell.
MDL_CHECKED static int
leave_low_order(Run *run)
{
    Integrator *integrator = run->integrator;
    integrator->held_low = false;
    integrator->step_before = integrator->high_step;
    return begin_anew(run);
}

// A step that must end long before those before it did is judged by its error beside theirs: a bend of the motion where it begins, which makes no event
// or one that changes no slope, would not be seen. The slopes at its end tell. True: they are not those of the method's polynomial.
static bool
bends_here(Run *run, double limit)
{
    static const double CUT = 0.25, ALLOWED = 5; // of the last step; tolerances
    Integrator *integrator = run->integrator;
    double factor[HISTORY_TERMS], slope[HISTORY_TERMS], length = limit - run->time, *y = NV_DATA_S(integrator->dense), *yp = NV_DATA_S(integrator->dense_p);
    const double *term[HISTORY_TERMS];
    if (!(length < CUT * integrator->step) || integrator->projection || run->modes)
        return false;
    int terms = (int)history_terms(integrator->ida, limit, factor, slope, term);
    if (terms < 2)
        return false;
    nvector_combine(factor, term, terms, y, run_size(run));
    nvector_combine(slope + 1, term + 1, terms - 1, yp, run_size(run));
    evaluate_load(run, limit, y, yp);
    bool bends = false, solved = evaluate_solved(run, false) == MDL_OK;
    for (uint32_t i = 0; solved && i < run->model->nx && !bends; i++)
        bends = fabs(run->v[run->model->yp + i] - yp[i]) * length > ALLOWED * (run->tolerance * fabs(y[i]) + run->abstol[i]);
    failure_clear(run);
    return bends;
}

MDL_CHECKED static int
ida_step(Run *run, double limit)
{
    Integrator *integrator = run->integrator;
    double time = run->time;
    run->stats->steps++;
    if (!run->ny)
        return step_time_only(run, limit);
    if (limit - run->time <= 32 * DBL_EPSILON * fmax(fabs(limit), fabs(run->time))) {
        run->time = limit;
        return MDL_OK;
    }
    int status = integrator->crossed ? start_again(run) : integrator->held_low ? leave_low_order(run) : MDL_OK;
    if (status == MDL_OK && bends_here(run, limit))
        status = begin_anew(run);
    if (status != MDL_OK)
        return status;
    int flag = step_once(run, limit, &time);
    if (flag < 0 && recover(run))
        flag = step_once(run, limit, &time);
    if (flag < 0)
        return leap(run, run->time, limit) ? MDL_OK : report_failure(run, flag);
    double before = run->time;
    run->time = flag == IDA_TSTOP_RETURN ? limit : time;
    integrator->recovered = false;
    int order;
    history_last(integrator->ida, &integrator->step, &order);
    integrator->held_low = is_held_low(integrator, order);
    if (!integrator->projection || project(run) == MDL_OK)
        return MDL_OK;
    return leap(run, before, limit) ? MDL_OK : projection_report(run);
}

// --- the state of the run

static void
ida_snapshot(Run *run, Snapshot *snapshot)
{
    Integrator *integrator = run->integrator;
    if (!run->ny)
        return;
    double *number[] = {&integrator->step, &integrator->step_before, &integrator->high_step};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        snapshot_part(snapshot, number[k], sizeof *number[k]);
    long *count[] = {&integrator->error_failures, &integrator->newton_failures, &integrator->low_failures};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++)
        snapshot_part(snapshot, count[k], sizeof *count[k]);
    snapshot_part(snapshot, &integrator->recovered, sizeof integrator->recovered);
    snapshot_part(snapshot, &integrator->held_low, sizeof integrator->held_low);
    snapshot_part(snapshot, &integrator->low_steps, sizeof integrator->low_steps);
    history_snapshot(integrator->ida, run_size(run), snapshot);
    if (integrator->projection)
        projection_snapshot(integrator->projection, snapshot);
}

// The history stays. The matrix is made at the next step, with pivots of its own.
MDL_CHECKED static int
ida_settle(Run *run)
{
    Integrator *integrator = run->integrator;
    if (!run->ny)
        return MDL_OK;
    corrector_settle(integrator->corrector);
    integrator->limit = NAN;
    return choose_rows(run);
}

MDL_CHECKED static int
ida_interpolate(Run *run, double time)
{
    Integrator *integrator = run->integrator;
    double factor[HISTORY_TERMS], slope[HISTORY_TERMS];
    const double *term[HISTORY_TERMS];
    int terms = time == run->time || !run->ny ? 0 : (int)history_terms(integrator->ida, time, factor, slope, term);
    if (!terms) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    double *y = NV_DATA_S(integrator->dense), *yp = NV_DATA_S(integrator->dense_p);
    nvector_combine(factor, term, terms, y, run_size(run));
    nvector_combine(slope + 1, term + 1, terms - 1, yp, run_size(run));
    // Values between steps are off the invariants by the error of the interpolation.
    if (integrator->projection)
        projection_between(run, integrator->projection, time, y);
    evaluate_load(run, time, y, yp);
    return MDL_OK;
}

// The values alone, of some of the unknowns.
static void
ida_interpolate_ranges(Run *run, double time, const mdl_range *range, uint32_t n)
{
    Integrator *integrator = run->integrator;
    double factor[HISTORY_TERMS];
    const double *term[HISTORY_TERMS], *part[HISTORY_TERMS];
    int terms = run->ny ? (int)history_terms(integrator->ida, time, factor, NULL, term) : 0;
    for (uint32_t r = 0; r < n; r++) {
        double *out = run->v + run->model->y + range[r].first;
        if (!terms) {
            memcpy(out, run->y + range[r].first, range[r].count * sizeof *out);
            continue;
        }
        for (int k = 0; k < terms; k++)
            part[k] = term[k] + range[r].first;
        nvector_combine(factor, part, terms, out, range[r].count);
    }
}

static uint32_t
ida_differences(const Run *run, double steps, const double *difference[], double *factor, double *next)
{
    return run->ny && !run->integrator->crossed ? history_differences(run->integrator->ida, steps, difference, factor, next) : 0;
}

static int
ida_judge(Run *run, double *error)
{
    Integrator *integrator = run->integrator;
    int order = -1;
    if (!run->ny || IDAGetLastOrder(integrator->ida, &order) != IDA_SUCCESS || !weigh_errors(run))
        return -1;
    // Loops' unknowns are left out of the error test.
    for (uint32_t i = 0; i < run->ny; i++)
        error[i] = i < run->model->nx ? NV_Ith_S(integrator->dense, i) : 0;
    return order;
}

const Stepper ida_stepper = {.name = "ida", .create = ida_create, .free = ida_free, .start = ida_start,
                             .resume = ida_resume, .step = ida_step,
                             .interpolate = ida_interpolate, .stats = ida_stats,
                             .interpolate_ranges = ida_interpolate_ranges, .differences = ida_differences, .judge = ida_judge,
                             .snapshot = ida_snapshot, .settle = ida_settle};
