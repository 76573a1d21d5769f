// ida.c: IDA set up for one run: residual, matrix, tolerances, steps.
//
// Purpose: one accepted step at a time (IDA_ONE_STEP); everything around the step is the runtime's own.
// Method: variable-order BDF with fixed leading coefficient (Hindmarsh et al., SUNDIALS, ACM TOMS 31 (2005)
//         363). Own vector operations (nvector.c), own Newton iteration (corrector.c) with a matrix whose symbolic
//         analysis is kept across restarts, loops' unknowns left out of the error test, after
//         steps a projection onto the invariants (projection.c); starts in ida_start.c, failures in ida_failure.c.
// Contract: see run.h. Values between steps come from IDA's own interpolation polynomial.
// Complexity: IDA's.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/law.h"
#include "runtime/linear/nvector.h"
#include "runtime/memory/memory.h"
#include "runtime/point/newton.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/ida_inner.h"
#include "runtime/step/step.h"

enum { BDF_ORDER = 5 }; // the highest, as IDA comes
static const double ROUNDING_ALONE = 100; // noise of invariants (projection_noise()): ten thousand tolerances. What passes by such a position has as much as 1
static const double STANDS = 1e-7; // of the step before it

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
    nvector_copy(run->options->threads, yp, run->v + model->yp, model->n);
    evaluate_plain(run);
    if (run->rests)
        rest_apply(run);
    nvector_difference(run->options->threads, yp, run->v + model->dx, out, model->nx);
    for (uint32_t k = 0; k < run->n_implicit; k++)
        out[run->implicit[k]] = run->v[model->r + run->implicit[k]];
    nvector_copy(run->options->threads, run->v + model->r + model->nx, out + model->nx, model->n - model->nx);
    if (run->rests)
        replace_rows(run, out);
}

static bool
compute_residual(Run *run, double time, const double *y, const double *yp, double *out)
{
    Integrator *integrator = run->integrator;
    run->stats->residuals++;
    run->v[0] = time;
    nvector_copy(run->options->threads, y, run->v + run->model->y, run->ny);
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

bool
ida_has_loops(const Run *run)
{
    return run->ny > run->model->nx;
}

void
ida_weights(const Run *run, const double *y, double *weight)
{
    nvector_weights(run->options->threads, y, run->strictness, run->tolerance, run->abstol, weight, run->ny);
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
    if (!ida_has_loops(run)) {
        ida_weights(run, NV_DATA_S(y), out);
        return 0;
    }
    ida_weights(run, NV_DATA_S(y), weight);
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
        nvector_accelerate(vector, integrator->run->options->threads);
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
                                             ida_has_loops(run) ? integrator->weight : NULL);
    return integrator->corrector != NULL;
}

static bool
set_up_ida(Run *run, Integrator *integrator)
{
    enum { VECTORS = 24 }; // that IDA makes, and some
    if (!nvector_room(run_size(run), VECTORS))
        return false;
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
    integrator->watchful = fold_is_watched(run);
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
    if (!integrator->jacobian)
        return MDL_INTERNAL;
    if (SUNContext_Create(NULL, &integrator->context) != 0 || !create_vectors(run, integrator) || !set_up_ida(run, integrator)) {
        if (integrator->message[0])
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

// --- stepping

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
    return ida_start_again(run) == MDL_OK;
}

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
    bool nears = contest_nears_singular(run, integrator->projection, run->y);
    bool stands = nears && integrator->step < STANDS * crossing_step(integrator->crossing);
    integrator->lost = run->contest.noise > ROUNDING_ALONE || stands ? integrator->lost + 1 : 0;
    if (!nears && !run->modes)
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
    integrator->limit = NAN; // memory that is restored has none
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
    return ida_start_again(run);
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
// or one that changes no slope, would not be seen. Behind such an event the error test of a whole step may not see it either: where the slope falls as fast as
// it rose before, half of the step before it with the order 1 agrees with the history by chance. The slopes at its end tell. True: they are not those of the
// method's polynomial.
static bool
bends_here(Run *run, double limit)
{
    static const double CUT = 0.25, ALLOWED = 5, ALLOWED_WHOLE = 200; // of the last step; tolerances
    Integrator *integrator = run->integrator;
    double factor[HISTORY_TERMS], slope[HISTORY_TERMS], length = limit - run->time, *y = NV_DATA_S(integrator->dense), *yp = NV_DATA_S(integrator->dense_p);
    const double *term[HISTORY_TERMS];
    bool cut = length < CUT * integrator->step, event = integrator->events != run->stats->events;
    integrator->events = run->stats->events;
    if (!(cut || event) || !(integrator->step > 0) || integrator->projection || run->modes)
        return false;
    double end = cut ? limit : fmin(limit, run->time + integrator->step), allowed = cut ? ALLOWED : ALLOWED_WHOLE;
    length = end - run->time;
    int terms = (int)history_terms(integrator->ida, end, factor, slope, term);
    if (terms < 2)
        return false;
    nvector_combine(run->options->threads, factor, term, terms, y, run_size(run));
    nvector_combine(run->options->threads, slope + 1, term + 1, terms - 1, yp, run_size(run));
    evaluate_load(run, end, y, yp);
    bool bends = false, solved = evaluate_solved(run, false) == MDL_OK;
    for (uint32_t i = 0; solved && i < run->model->nx && !bends; i++)
        bends = fabs(run->v[run->model->yp + i] - yp[i]) * length > allowed * (run->tolerance * fabs(y[i]) + run->abstol[i]);
    failure_clear(run);
    return bends;
}

// Correctors have not converged since the latest accepted step.
static bool
has_stumbled(const Run *run)
{
    Integrator *integrator = run->integrator;
    long failures = 0, before = integrator->stumbles;
    if (IDAGetNumNonlinSolvConvFails(integrator->ida, &failures) != IDA_SUCCESS)
        return false;
    integrator->stumbles = failures;
    return failures > 0 && failures != before; // counted anew at each start
}

// Loops among the unknowns, and nobody has asked for that. All are affine: the solution of another one may have ended here, which the report says; or one
// has unknowns that rounding alone changes by more than the corrector lets it, which Newton's method knows of.
static bool
may_be_causal(const Run *run, bool noisy_alone)
{
    bool asks = !run->causal && run->options->form == MDL_FORM_AUTO && run->model->n > run->model->nx, affine = true, noisy = false;
    for (uint32_t k = 0; asks && k < run->model->n_dynamics; k++) {
        affine = affine && (!run->block[k] || run->block[k]->block->linear);
        noisy = noisy || (run->block[k] && run->block[k]->noisy);
    }
    return asks && ((affine && !noisy_alone) || noisy);
}

// Rounding of loops costs more than their solution by themselves where many of the latest steps could not be solved at first, and the rest of the run would
// take so many of them that it would hardly end.
static bool
stumbles_on(Run *run, double before, bool stumbled)
{
    static const double LATEST = 0.01, MANY = 0.25, STEPS = 1e5;
    Integrator *integrator = run->integrator;
    integrator->stumbling += LATEST * (stumbled - integrator->stumbling);
    integrator->pace += LATEST * (run->time - before - integrator->pace);
    return integrator->stumbling > MANY && run->options->stop - run->time > STEPS * integrator->pace && may_be_causal(run, true);
}

// One or two steps may end near a singular position. Where they become short there, and many, they follow what rounding has made of slopes.
static void
find_way_out(Run *run, double limit)
{
    enum { LOST = 5, ASTRAY = 50 };
    Integrator *integrator = run->integrator;
    if (integrator->lost == LOST && leap(run, run->time, limit))
        integrator->lost = 0;
    if (integrator->lost < ASTRAY || integrator->warned)
        return;
    integrator->warned = true;
    run_message(run, MDL_WARNING, "at time %.12g: near a position in which constraints depend on each other the steps of ida do not get on, and velocities are "
                "rounding; the motion behind may be another one\n--solver=auto leads over such positions; a larger tolerance may do", run->time);
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
    int status = integrator->crossed ? ida_start_again(run) : integrator->held_low ? leave_low_order(run) : MDL_OK;
    if (status == MDL_OK && bends_here(run, limit))
        status = begin_anew(run);
    if (status != MDL_OK)
        return status;
    int flag = step_once(run, limit, &time);
    if (flag < 0 && recover(run))
        flag = step_once(run, limit, &time);
    if (flag < 0) {
        if (leap(run, run->time, limit))
            return MDL_OK;
        integrator->recovered = false;
        if (fold_found(run))
            return MDL_OK;
        return flag == IDA_CONV_FAIL && may_be_causal(run, false) ? RUN_STUMBLES : ida_report_failure(run, flag);
    }
    double before = run->time;
    run->time = flag == IDA_TSTOP_RETURN ? limit : time;
    integrator->recovered = false;
    bool stumbled = ida_has_loops(run) && has_stumbled(run);
    if (ida_has_loops(run) && !integrator->projection && (integrator->watchful || stumbled)) {
        int status = fold_crossed(run, before);
        if (status != MDL_OK)
            return status;
    }
    int order;
    history_last(integrator->ida, &integrator->step, &order);
    integrator->held_low = is_held_low(integrator, order);
    if (!integrator->projection)
        return stumbles_on(run, before, stumbled) ? RUN_STUMBLES : MDL_OK;
    if (project(run) != MDL_OK)
        return leap(run, before, limit) ? MDL_OK : projection_report(run);
    find_way_out(run, limit);
    return MDL_OK;
}

// --- the state of the run

static void
ida_snapshot(Run *run, Snapshot *snapshot)
{
    Integrator *integrator = run->integrator;
    if (!run->ny)
        return;
    double *number[] = {&integrator->step, &integrator->step_before, &integrator->high_step, &integrator->stumbling, &integrator->pace};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        snapshot_part(snapshot, number[k], sizeof *number[k]);
    long *count[] = {&integrator->error_failures, &integrator->newton_failures, &integrator->low_failures, &integrator->stumbles};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++)
        snapshot_part(snapshot, count[k], sizeof *count[k]);
    uint64_t since = run->stats->events - integrator->events; // another run has counted others
    snapshot_part(snapshot, &since, sizeof since);
    integrator->events = run->stats->events - since;
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
    return ida_choose_rows(run);
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
    nvector_combine(run->options->threads, factor, term, terms, y, run_size(run));
    nvector_combine(run->options->threads, slope + 1, term + 1, terms - 1, yp, run_size(run));
    // Values between steps are off the invariants by the error of the interpolation.
    if (integrator->projection)
        (void)projection_between(run, integrator->projection, time, y);
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
        nvector_combine(run->options->threads, factor, part, terms, out, range[r].count);
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
    if (!run->ny || IDAGetLastOrder(integrator->ida, &order) != IDA_SUCCESS || !ida_weigh_errors(run))
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
