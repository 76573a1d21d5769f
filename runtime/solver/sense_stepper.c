// sense_stepper.c: the integration of states together with their sensitivities.
//
// Purpose: the stepper of runs that want sensitivities (sensitivities.c).
// Method: x' = f(t, x, p) and s' = f_x s + f_p for each parameter as one system, whose right sides are one evaluation of the
//   model and one of its tangents (tangent.c), solved by BDF (CVODE). Newton's method takes the block-diagonal matrix with
//   I - gamma f_x in every block, so that all sensitivities cost one factorisation and are corrected simultaneously with the
//   states (Maly and Petzold, Appl. Numer. Math. 20 (1996) 57; the simultaneous corrector of CVODES and IDAS, whose names
//   collide with those of the libraries here). Sensitivities take part in the error test, with absolute tolerances of those of the states over
//   |p|. They return to the tangent space of invariants when the
//   states return to these (projection.c). The exponentials of fractional derivatives (fractional.c) follow the states, and those of each
//   sensitivity its own. What the library accepts is looked at as in a run: a step whose equations are not solved is made again, shorter and with a more
//   exact iteration.
// Contract: run.h. Complexity: per step that of BDF plus one pass over the tangents and one solve per parameter.
#include "runtime/point/sense.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvector/nvector_serial.h>

#include "runtime/linear/adapter.h"
#include "runtime/linear/nvector.h"
#include "runtime/linear/sundials.h"
#include "runtime/memory/memory.h"
#include "runtime/point/point.h"
#include "runtime/step/jacobian.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

// CVODE's factor between the errors of its iteration and of its steps, by which it becomes smaller where that was not enough, and what is left of
// the step; corrections, in units of the tolerance, that a step may still ask for.
static const double EXACTNESS = 0.1, EXACTER = 0.3, SHORTER = 0.2, MISSING = 1;
enum { ERROR_FAILURES = 40 }; // of the error test in one step, as in ode.c

typedef struct Stepping {
    Run *run;
    SUNContext context;
    void *cvode;
    uint32_t width;         // states and exponentials of one block
    N_Vector w, dense;      // blocks of the states and of sensitivities, less `shift`
    double *shift;          // what projections have added since the start
    double *scale;          // per parameter: |p|, or 1
    double *point;          // blocks that are being evaluated
    double *shown;          // 2*width: states, and slopes, of what was interpolated
    double *before;         // all blocks before the step
    double *defect;         // width: what the equations of the states lack at its end
    double exactness;       // of the iteration
    SUNMatrix matrix;
    SUNLinearSolver linear;
    Jacobian *jacobian;
    Projection *projection; // NULL: all states are free
    double *rho;            // n_constraints
    double gamma;
    bool fresh;
    char message[500];
} Stepping;

// --- the system

// Blocks to `to` from what the library integrates, and the states to v.
static void
load(Stepping *st, double time, const double *w, double *to)
{
    Run *run = st->run;
    size_t size = (size_t)(run->sense->n + 1) * st->width;
    for (size_t i = 0; i < size; i++)
        to[i] = w[i] + st->shift[i];
    evaluate_states(run, time, to);
    sense_take_modes(run->sense, to + st->width + run->sense->nx, st->width);
}

static int
right_side(realtype time, N_Vector y, N_Vector out, void *user)
{
    Stepping *st = user;
    Run *run = st->run;
    Sense *sense = run->sense;
    double *f = NV_DATA_S(out), *point = st->point;
    run->stats->residuals++;
    load(st, time, NV_DATA_S(y), point);
    if (evaluate_solved(run, false) != MDL_OK)
        return 1;
    evaluate_slopes(run, point, f);
    if (tangent_factor(sense->tangent) != MDL_OK)
        return -1;
    for (uint32_t p = 0; p < sense->n; p++) {
        size_t at = (size_t)(p + 1) * st->width;
        sense_follow(run, p, point + at, st->width);
        for (uint32_t i = 0; i < sense->nx; i++)
            f[at + i] = sense_rate(sense, run->model->yp + i);
        fractional_rates_tangent(run, p, f + at + sense->nx);
    }
    run->stats->directions += sense_follows_several(run);
    return nvector_finite(f, (sense->n + 1) * st->width) ? 0 : 1;
}

// Of one block, in which the absolute tolerances are for numbers of this size.
__attribute__((target_clones("avx2", "default"), optimize("O3"))) static void
weigh(double *restrict w, const double *restrict y, const double *restrict shift, const double *restrict abstol, double tolerance, double size, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        w[i] = 1 / (tolerance * fabs(y[i] + shift[i]) + abstol[i] / size);
}

static int
weights(N_Vector y, N_Vector w, void *user)
{
    const Stepping *st = user;
    const Run *run = st->run;
    for (uint32_t b = 0; b <= run->sense->n; b++) {
        size_t first = (size_t)b * st->width;
        double size = b ? st->scale[b - 1] : 1;
        weigh(NV_DATA_S(w) + first, NV_DATA_S(y) + first, st->shift + first, run->abstol, run->tolerance, size, run->sense->nx);
        fractional_scaled_weights(run, NV_DATA_S(y) + first, size, NV_DATA_S(w) + first);
    }
    return 0;
}

MDL_CHECKED static int
fill_system(realtype time, N_Vector y, N_Vector f, SUNMatrix matrix, booleantype reuse, booleantype *renewed, realtype gamma,
            void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
    (void)f, (void)matrix, (void)reuse, (void)w1, (void)w2, (void)w3;
    Stepping *st = user;
    Run *run = st->run;
    run->stats->jacobians++;
    load(st, time, NV_DATA_S(y), st->point);
    st->gamma = gamma;
    *renewed = 1;
    return evaluate_solved(run, false) == MDL_OK && jacobian_assemble(st->jacobian, run, 1 / gamma) ? 0 : 1;
}

static int
linear_setup(SUNLinearSolver solver, SUNMatrix matrix)
{
    (void)matrix;
    Stepping *st = solver->content;
    bool good = jacobian_factor(st->jacobian, st->fresh);
    st->fresh = !good;
    return good ? 0 : 1;
}

// The same factors for every block.
static int
linear_solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, realtype tolerance)
{
    (void)matrix, (void)tolerance;
    Stepping *st = solver->content;
    for (sunindextype i = 0; i < NV_LENGTH_S(b); i++)
        NV_Ith_S(x, i) = NV_Ith_S(b, i) / st->gamma;
    if (!st->run->modes) {
        jacobian_solve_several(st->jacobian, NV_DATA_S(x), st->run->sense->n + 1);
        return 0;
    }
    for (uint32_t p = 0; p <= st->run->sense->n; p++) {
        fractional_explicit(st->run, NV_DATA_S(x) + (size_t)p * st->width);
        jacobian_solve(st->jacobian, NV_DATA_S(x) + (size_t)p * st->width);
    }
    return 0;
}

static void
keep_message(int code, const char *module, const char *function, char *text, void *user)
{
    (void)code, (void)module, (void)function;
    snprintf(((Stepping *)user)->message, sizeof((Stepping *)user)->message, "%s", text);
}

// --- the stepper

static bool
create_cvode(Stepping *st)
{
    Run *run = st->run;
    const mdl_model *model = run->model;
    bool loops = model->n > model->nx;
    for (uint32_t i = 0; model->implicit && i < model->nx; i++)
        loops = loops || model->implicit[i];
    st->jacobian = jacobian_create(run, loops, NULL);
    st->matrix = adapter_matrix(st->context);
    st->linear = adapter_solver(st->context, st, NULL, linear_setup, linear_solve);
    st->cvode = CVodeCreate(CV_BDF, st->context);
    void *cvode = st->cvode;
    if (!st->jacobian || !st->matrix || !st->linear || !cvode || CVodeSetErrHandlerFn(cvode, keep_message, st) != CV_SUCCESS
        || CVodeInit(cvode, right_side, run->time, st->w) != CV_SUCCESS || CVodeSetUserData(cvode, st) != CV_SUCCESS
        || CVodeWFtolerances(cvode, weights) != CV_SUCCESS || CVodeSetMaxNumSteps(cvode, -1) != CV_SUCCESS
        || CVodeSetMaxErrTestFails(cvode, ERROR_FAILURES) != CV_SUCCESS
        || (run->options->max_step > 0 && CVodeSetMaxStep(cvode, run->options->max_step) != CV_SUCCESS))
        return false;
    run->stats->linear_solver = jacobian_is_dense(st->jacobian) ? "dense" : "klu";
    run->stats->nonzeros = jacobian_nonzeros(st->jacobian);
    return CVodeSetLinearSolver(cvode, st->linear, st->matrix) == CV_SUCCESS && CVodeSetLinSysFn(cvode, fill_system) == CV_SUCCESS;
}

static bool
create_parts(Stepping *st)
{
    Run *run = st->run;
    const Sense *sense = run->sense;
    st->width = run->model->nx + run->modes;
    st->exactness = EXACTNESS;
    size_t size = (size_t)(sense->n + 1) * st->width;
    st->shift = calloc(size + 1, sizeof *st->shift);
    st->scale = calloc(sense->n + 1, sizeof *st->scale);
    st->point = calloc(2 * size + 3 * (size_t)st->width + 1, sizeof *st->point);
    st->before = st->point ? st->point + size : NULL;
    st->shown = st->point ? st->before + size : NULL;
    st->defect = st->point ? st->shown + 2 * (size_t)st->width : NULL;
    st->rho = calloc((size_t)run->model->n_constraints + 1, sizeof *st->rho);
    if (!projection_where_needed(run, &st->projection))
        return false;
    if (!st->shift || !st->scale || !st->point || !st->rho || SUNContext_Create(NULL, &st->context) != 0)
        return false;
    for (uint32_t p = 0; p < sense->n; p++) {
        double value = fabs(run->v[run->model->settable[sense->wanted->parameter[p]].result]);
        st->scale[p] = value > 0 ? value : 1;
    }
    st->w = N_VNew_Serial((sunindextype)size, st->context);
    if (st->w)
        nvector_accelerate(st->w, run->options->threads);
    st->dense = st->w ? N_VClone(st->w) : NULL;
    return st->dense && create_cvode(st);
}

MDL_CHECKED static int
stepper_create(Run *run)
{
    Stepping *st = calloc(1, sizeof *st);
    run->sense->stepping = st;
    if (!st)
        return MDL_INTERNAL;
    st->run = run;
    st->fresh = true;
    if (!run->ny || create_parts(st))
        return MDL_OK;
    if (st->message[0])
        run_message(run, MDL_ERROR, "the integrator could not be set up: %s", st->message);
    return MDL_INTERNAL;
}

static void
stepper_free(Run *run)
{
    Stepping *st = run->sense ? run->sense->stepping : NULL;
    if (!st)
        return;
    if (st->cvode)
        CVodeFree(&st->cvode);
    if (st->linear)
        SUNLinSolFree(st->linear);
    if (st->matrix)
        SUNMatDestroy(st->matrix);
    if (st->w)
        N_VDestroy(st->w);
    if (st->dense)
        N_VDestroy(st->dense);
    jacobian_free(&st->jacobian);
    projection_free(&st->projection);
    free(st->shift);
    free(st->scale);
    free(st->point);
    free(st->rho);
    if (st->context)
        SUNContext_Free(&st->context);
    free(st);
    run->sense->stepping = NULL;
}

MDL_CHECKED static int
stepper_start(Run *run)
{
    Stepping *st = run->sense->stepping;
    const Sense *sense = run->sense;
    if (!run->ny)
        return MDL_OK;
    memset(st->shift, 0, (size_t)(sense->n + 1) * st->width * sizeof *st->shift);
    memcpy(NV_DATA_S(st->w), run->y, st->width * sizeof *run->y);
    for (uint32_t p = 0; p < sense->n; p++) {
        double *block = NV_DATA_S(st->w) + (size_t)(p + 1) * st->width;
        memcpy(block, sense->s + (size_t)p * sense->nx, sense->nx * sizeof *block);
        memcpy(block + sense->nx, sense->mode_s + (size_t)p * sense->modes, sense->modes * sizeof *block);
    }
    st->fresh = true;
    if (CVodeReInit(st->cvode, run->time, st->w) == CV_SUCCESS)
        return MDL_OK;
    run_message(run, MDL_ERROR, "at time %.12g: the integrator could not be restarted: %s", run->time, st->message);
    return MDL_INTERNAL;
}

// Back to the invariants: the states, then the sensitivities into their tangent space.
MDL_CHECKED static bool
project(Stepping *st, double time, double *point)
{
    Run *run = st->run;
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    if (!projection_apply(run, st->projection, time, point) || !projection_factor(run, st->projection, time, point)
        || evaluate_solved(run, false) != MDL_OK || tangent_factor(sense->tangent) != MDL_OK)
        return false;
    for (uint32_t p = 0; p < sense->n; p++) {
        double *s = point + (size_t)(p + 1) * st->width;
        sense_follow(run, p, s, st->width);
        for (uint32_t k = 0; k < model->n_constraints; k++)
            st->rho[k] = sense_rate(sense, model->constraint[k].value);
        projection_move(run, st->projection, st->rho, -1, s);
    }
    return true;
}

// From blocks to where the sensitivities of states and of exponentials are kept.
static void
part_blocks(const Stepping *st, const double *point, double *s, double *mode)
{
    const Sense *sense = st->run->sense;
    for (uint32_t p = 0; p < sense->n; p++) {
        const double *block = point + (size_t)(p + 1) * st->width;
        memcpy(s + (size_t)p * sense->nx, block, sense->nx * sizeof *s);
        memcpy(mode + (size_t)p * sense->modes, block + sense->nx, sense->modes * sizeof *mode);
    }
}

MDL_CHECKED static int
take_point(Stepping *st)
{
    Run *run = st->run;
    Sense *sense = run->sense;
    size_t size = (size_t)(sense->n + 1) * st->width;
    double *point = st->point;
    load(st, run->time, NV_DATA_S(st->w), point);
    if (st->projection && !project(st, run->time, point))
        return projection_report(run);
    for (size_t i = 0; i < size && st->projection; i++)
        st->shift[i] = point[i] - NV_Ith_S(st->w, (sunindextype)i);
    memcpy(run->y, point, st->width * sizeof *point);
    part_blocks(st, point, sense->s, sense->mode_s);
    sense_take_modes(sense, sense->mode_s, sense->modes);
    return evaluate_reached(run, run->y);
}

MDL_CHECKED static int
take_step(Run *run, double limit)
{
    Stepping *st = run->sense->stepping;
    double time = run->time;
    run->stats->steps++;
    st->message[0] = '\0';
    int flag = CVodeSetStopTime(st->cvode, limit);
    if (flag == CV_SUCCESS)
        flag = CVode(st->cvode, limit, st->w, &time, CV_ONE_STEP);
    if (flag == CV_MEM_FAIL || (flag < 0 && jacobian_starved(st->jacobian))) {
        run_message(run, MDL_ERROR, "at time %.12g: out of memory: the integrator cannot go on: %s", run->time, st->message);
        return MDL_INTERNAL;
    }
    if (flag < 0) {
        run_message(run, MDL_ERROR, "at time %.12g: the states and their sensitivities could not take a step\n%s", run->time,
                    st->message);
        return MDL_FAILED;
    }
    run->time = flag == CV_TSTOP_RETURN ? limit : time;
    return take_point(st);
}

// The correction that the states' equations still ask for at the end of the step, in units of the tolerance; the sensitivities' are linear and have
// the same matrix. NaN: the library does not say.
static double
missing_correction(Stepping *st)
{
    Run *run = st->run;
    double gamma = 0, *weight = NV_DATA_S(st->dense);
    if (CVodeGetCurrentGamma(st->cvode, &gamma) != CV_SUCCESS || CVodeGetDky(st->cvode, run->time, 1, st->dense) != CV_SUCCESS)
        return NAN;
    nvector_difference(run->options->threads, run->yp, NV_DATA_S(st->dense), st->defect, st->width);
    if (weights(st->w, st->dense, st) != 0)
        return NAN;
    double size = fabs(gamma) * sqrt(nvector_squares(run->options->threads, st->defect, weight, st->width) / st->width);
    if (size <= MISSING)
        return size;
    fractional_explicit(run, st->defect);
    jacobian_solve(st->jacobian, st->defect);
    return sqrt(nvector_squares(run->options->threads, st->defect, weight, st->width) / st->width);
}

// Back to where the step began. Its iteration shall be more exact from now on.
MDL_CHECKED static int
begin_again(Run *run, double before)
{
    Stepping *st = run->sense->stepping;
    double step = 0;
    run->stats->restarts++;
    run->time = before;
    memcpy(run->y, st->before, st->width * sizeof *run->y);
    part_blocks(st, st->before, run->sense->s, run->sense->mode_s);
    st->exactness *= EXACTER;
    bool set = CVodeGetLastStep(st->cvode, &step) == CV_SUCCESS && CVodeSetNonlinConvCoef(st->cvode, st->exactness) == CV_SUCCESS;
    int status = stepper_start(run);
    if (status != MDL_OK || (set && CVodeSetInitStep(st->cvode, SHORTER * step) == CV_SUCCESS))
        return status;
    run_message(run, MDL_ERROR, "at time %.12g: the integrator could not be restarted: %s", run->time, st->message);
    return MDL_INTERNAL;
}

MDL_CHECKED static int
report_unsolved(const Run *run, double missing)
{
    run_message(run, MDL_ERROR, "at time %.12g: the equations of a step of the states with their sensitivities could not be solved, however short it was: they "
                "still ask for corrections %.3g times the tolerance", run->time, missing);
    return MDL_FAILED;
}

MDL_CHECKED static int
stepper_step(Run *run, double limit)
{
    enum { REPEATS = 8 };
    Stepping *st = run->sense->stepping;
    double before = run->time;
    size_t size = (size_t)(run->sense->n + 1) * st->width;
    if (!run->ny || limit - run->time <= 32 * DBL_EPSILON * fmax(fabs(limit), fabs(run->time))) {
        run->stats->steps++;
        run->time = limit;
        return MDL_OK;
    }
    for (size_t i = 0; i < size; i++)
        st->before[i] = NV_Ith_S(st->w, (sunindextype)i) + st->shift[i];
    for (int k = 0;; k++) {
        int status = take_step(run, limit);
        bool none = run->time - before <= 64 * DBL_EPSILON * fmax(fabs(run->time), fabs(before)); // none of the library's steps
        double missing = status == MDL_OK && !none ? missing_correction(st) : 0;
        if (status == MDL_OK && k > 0 && CVodeSetInitStep(st->cvode, 0) != CV_SUCCESS)
            status = MDL_INTERNAL;
        if (status != MDL_OK || missing <= MISSING)
            return status;
        if (isnan(missing)) {
            run_message(run, MDL_ERROR, "at time %.12g: the integrator does not say what the motion is there: %s", run->time, st->message);
            return MDL_INTERNAL;
        }
        if (k == REPEATS)
            return report_unsolved(run, missing);
        if ((status = begin_again(run, before)) != MDL_OK)
            return status;
    }
}

MDL_CHECKED static int
stepper_interpolate(Run *run, double time)
{
    Sense *sense = run->sense;
    Stepping *st = sense->stepping;
    sense_take_modes(sense, sense->mode_present, sense->modes);
    if (time == run->time || !run->ny) {
        memcpy(sense->present, sense->s, (size_t)sense->n * sense->nx * sizeof *sense->s);
        memcpy(sense->mode_present, sense->mode_s, (size_t)sense->n * sense->modes * sizeof *sense->s);
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    double at = time, last = 0, end = 0;
    bool known = CVodeGetLastStep(st->cvode, &last) == CV_SUCCESS && CVodeGetCurrentTime(st->cvode, &end) == CV_SUCCESS;
    // Where the step began and ends by the library's rounding; the run may have been cut off within it.
    if (known && at < end - last && end - last - at <= 1e-12 * fabs(end))
        at = end - last;
    if (known && at > end && at - end <= 1e-12 * fabs(end))
        at = end;
    if (!known || CVodeGetDky(st->cvode, at, 0, st->dense) != CV_SUCCESS) {
        run_message(run, MDL_ERROR, "at time %.12g: the integrator has no values between its steps: %s", time, st->message);
        return MDL_INTERNAL;
    }
    load(st, time, NV_DATA_S(st->dense), st->point);
    if (st->projection && !project(st, time, st->point))
        return projection_report(run);
    part_blocks(st, st->point, sense->present, sense->mode_present);
    sense_take_modes(sense, sense->mode_present, sense->modes);
    memcpy(st->shown, st->point, st->width * sizeof *st->shown);
    memcpy(st->shown + st->width, run->yp, st->width * sizeof *st->shown);
    evaluate_load(run, time, st->shown, st->shown + st->width);
    return MDL_OK;
}

static void
stepper_stats(Run *run)
{
    const Stepping *st = run->sense->stepping;
    long errors = 0, newtons = 0;
    if (!st || !st->cvode)
        return;
    if (CVodeGetNumErrTestFails(st->cvode, &errors) != CV_SUCCESS || CVodeGetNumNonlinSolvConvFails(st->cvode, &newtons) != CV_SUCCESS)
        return;
    run->stats->error_failures = (uint64_t)errors;
    run->stats->newton_failures = (uint64_t)newtons;
}

const Stepper sense_stepper = {.name = "cvode", .create = stepper_create, .free = stepper_free, .start = stepper_start,
                               .step = stepper_step, .interpolate = stepper_interpolate, .stats = stepper_stats};
