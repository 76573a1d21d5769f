// sense_stepper.c: the integration of states together with their sensitivities.
//
// Purpose: the stepper of runs that want sensitivities (sensitivities.c).
// Method: x' = f(t, x, p) and s' = f_x s + f_p for each parameter as one system, whose right sides are one evaluation of the
//   model and one of its tangents (tangent.c), solved by BDF (CVODE). Newton's method takes the block-diagonal matrix with
//   I - gamma f_x in every block, so that all sensitivities cost one factorisation and are corrected simultaneously with the
//   states (Maly and Petzold, Appl. Numer. Math. 20 (1996) 57; the simultaneous corrector of CVODES and IDAS, whose names
//   collide with those of the libraries here). Sensitivities take part in the error test, with absolute tolerances of those of the states over
//   |p|. They return to the tangent space of invariants when the
//   states return to these (projection.c).
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
#include "runtime/point/point.h"
#include "runtime/solver/jacobian.h"
#include "runtime/solver/solver.h"

typedef struct Stepping {
    Run *run;
    SUNContext context;
    void *cvode;
    N_Vector w, dense;      // states, then sensitivities, less `shift`
    double *shift;          // what projections have added since the start
    double *scale;          // per parameter: |p|, or 1
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

// States and sensitivities to v and `to` from what the library integrates.
static void
load(Stepping *st, double time, const double *w, double *to)
{
    Run *run = st->run;
    size_t size = (size_t)(run->sense->n + 1) * run->sense->nx;
    for (size_t i = 0; i < size; i++)
        to[i] = w[i] + st->shift[i];
    evaluate_states(run, time, to);
}

static int
right_side(realtype time, N_Vector y, N_Vector out, void *user)
{
    Stepping *st = user;
    Run *run = st->run;
    Sense *sense = run->sense;
    double *f = NV_DATA_S(out), *point = st->scale + sense->n;
    run->stats->residuals++;
    load(st, time, NV_DATA_S(y), point);
    if (evaluate_solved(run, false) != MDL_OK)
        return 1;
    memcpy(f, run->v + run->model->yp, sense->nx * sizeof *f);
    if (tangent_factor(sense->tangent) != MDL_OK)
        return -1;
    for (uint32_t p = 0; p < sense->n; p++) {
        sense_seed(run, p, point + (size_t)(p + 1) * sense->nx);
        tangent_dynamics(sense->tangent);
        memcpy(f + (size_t)(p + 1) * sense->nx, tangent_at(sense->tangent, run->model->yp), sense->nx * sizeof *f);
    }
    return nvector_finite(f, (sense->n + 1) * sense->nx) ? 0 : 1;
}

static int
weights(N_Vector y, N_Vector w, void *user)
{
    const Stepping *st = user;
    const Run *run = st->run;
    uint32_t nx = run->sense->nx;
    for (uint32_t b = 0; b <= run->sense->n; b++)
        for (uint32_t i = 0; i < nx; i++) {
            size_t at = (size_t)b * nx + i;
            double absolute = run->abstol[i] / (b ? st->scale[b - 1] : 1);
            NV_Ith_S(w, (sunindextype)at) = 1 / (run->tolerance * fabs(NV_Ith_S(y, (sunindextype)at) + st->shift[at]) + absolute);
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
    load(st, time, NV_DATA_S(y), st->scale + run->sense->n);
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
    uint32_t nx = st->run->sense->nx;
    for (sunindextype i = 0; i < NV_LENGTH_S(b); i++)
        NV_Ith_S(x, i) = NV_Ith_S(b, i) / st->gamma;
    for (uint32_t p = 0; p <= st->run->sense->n; p++)
        jacobian_solve(st->jacobian, NV_DATA_S(x) + (size_t)p * nx);
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
    size_t size = (size_t)(sense->n + 1) * sense->nx;
    st->shift = calloc(size + 1, sizeof *st->shift);
    st->scale = calloc(size + sense->n + 1, sizeof *st->scale);
    st->rho = calloc((size_t)run->model->n_constraints + 1, sizeof *st->rho);
    if (run->model->n_constraints && !(st->projection = projection_create(run)))
        return false;
    if (!st->shift || !st->scale || !st->rho || SUNContext_Create(NULL, &st->context) != 0)
        return false;
    for (uint32_t p = 0; p < sense->n; p++) {
        double value = fabs(run->v[run->model->settable[sense->wanted->parameter[p]].result]);
        st->scale[p] = value > 0 ? value : 1;
    }
    st->w = N_VNew_Serial((sunindextype)size, st->context);
    if (st->w)
        nvector_accelerate(st->w);
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
    size_t nx = run->sense->nx, rest = nx * run->sense->n;
    if (!run->ny)
        return MDL_OK;
    memset(st->shift, 0, (nx + rest) * sizeof *st->shift);
    memcpy(NV_DATA_S(st->w), run->y, nx * sizeof *run->y);
    memcpy(NV_DATA_S(st->w) + nx, run->sense->s, rest * sizeof *run->y);
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
        double *s = point + (size_t)(p + 1) * sense->nx;
        sense_seed(run, p, s);
        tangent_dynamics(sense->tangent);
        for (uint32_t k = 0; k < model->n_constraints; k++)
            st->rho[k] = *tangent_at(sense->tangent, model->constraint[k].value);
        projection_move(run, st->projection, st->rho, -1, s);
    }
    return true;
}

MDL_CHECKED static int
take_point(Stepping *st)
{
    Run *run = st->run;
    Sense *sense = run->sense;
    size_t size = (size_t)(sense->n + 1) * sense->nx;
    double *point = st->scale + sense->n;
    load(st, run->time, NV_DATA_S(st->w), point);
    if (st->projection && !project(st, run->time, point))
        return projection_report(run);
    for (size_t i = 0; i < size && st->projection; i++)
        st->shift[i] = point[i] - NV_Ith_S(st->w, (sunindextype)i);
    memcpy(run->y, point, sense->nx * sizeof *point);
    memcpy(sense->s, point + sense->nx, (size_t)sense->n * sense->nx * sizeof *point);
    evaluate_states(run, run->time, run->y);
    int status = evaluate_solved(run, true);
    if (status == MDL_OK)
        evaluate_store(run);
    return status;
}

MDL_CHECKED static int
stepper_step(Run *run, double limit)
{
    Stepping *st = run->sense->stepping;
    double time = run->time;
    run->stats->steps++;
    if (!run->ny || limit - run->time <= 32 * DBL_EPSILON * fmax(fabs(limit), fabs(run->time))) {
        run->time = limit;
        return MDL_OK;
    }
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

MDL_CHECKED static int
stepper_interpolate(Run *run, double time)
{
    Sense *sense = run->sense;
    Stepping *st = sense->stepping;
    size_t nx = sense->nx, rest = nx * sense->n;
    if (time == run->time || !run->ny) {
        memcpy(sense->present, sense->s, rest * sizeof *sense->s);
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    double at = time, last = 0;
    bool known = CVodeGetLastStep(st->cvode, &last) == CV_SUCCESS;
    if (known && at < run->time - last && run->time - last - at <= 1e-12 * fabs(run->time)) // rounding of where the step began
        at = run->time - last;
    if (!known || CVodeGetDky(st->cvode, at, 0, st->dense) != CV_SUCCESS) {
        run_message(run, MDL_ERROR, "at time %.12g: the integrator has no values between its steps: %s", time, st->message);
        return MDL_INTERNAL;
    }
    double *point = st->scale + sense->n;
    load(st, time, NV_DATA_S(st->dense), point);
    if (st->projection && !project(st, time, point))
        return projection_report(run);
    memcpy(sense->present, point + nx, rest * sizeof *point);
    memcpy(NV_DATA_S(st->dense), run->yp, nx * sizeof *point);
    evaluate_load(run, time, point, NV_DATA_S(st->dense));
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
