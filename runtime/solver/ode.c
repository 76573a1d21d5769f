// ode.c: explicit steppers on y' = f(t, y): CVODE (BDF, Adams) and ARKODE (embedded explicit Runge-Kutta).
//
// Purpose: other methods on the same generated functions: Adams and Runge-Kutta cost less per step than BDF
// on smooth problems that are not stiff, and lose less energy.
// Method: f solves the model's algebraic loops by Newton's method. BDF uses the model's Jacobian: its
// matrix I - gamma df/dy is gamma times the one that the implicit form has for cj = 1/gamma (jacobian.c).
// SUNDIALS: Hindmarsh et al., ACM TOMS 31 (2005) 363; Reynolds et al., ACM TOMS 49 (2023) 15. Models with
// invariants (dynamic state selection): all states are integrated, and each accepted step ends with a
// projection onto the invariants (projection.c; Eich, SIAM J. Numer. Anal. 30 (1993) 1467). The method's
// history cannot be written to and must not be: an Adams method whose stored derivatives take part in the
// correction is unstable. The library therefore integrates w = y - shift, and the correction goes to the
// shift, which moves the newest point and leaves the derivatives alone. So do corrections of what is at rest on a surface.
// Contract: see run.h. Complexity: that of the methods.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <nvector/nvector_serial.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>

#include "runtime/linear/adapter.h"
#include "runtime/linear/nvector.h"
#include "runtime/linear/sundials.h"
#include "runtime/memory/memory.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/step/jacobian.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

enum { ERK_ORDER = 5, BDF_ORDER = 5, ADAMS_ORDER = 12 }; // the highest
enum { VECTORS = 24 };                                   // that a library makes, and some

// What errors of steps add up to, in units of what those of IDA do, measured on a linkage that revolves. CVODE lengthens its
// steps by any factor, IDA by 2 only, so that those of IDA are shorter on average.
static const double BDF_SHARE = 3, ADAMS_SHARE = 1, ERK_SHARE = 1.0 / 8;

// What is left of a step whose stages have no right side.
static const double SHORTER = 0.2;

// CVODE's factor between the errors of its iteration and of its steps; by which it becomes smaller where that was not enough.
static const double EXACTNESS = 0.1, EXACTER = 0.3;

// Failures of the error test in one step. After three CVODE goes on at order 1 from the slopes at its last point. Fast modes (a fractional
// derivative has some of 1e10/s) that are known to the tolerance have slopes of any size: the step must come below their times, a tenth at a time.
enum { ERROR_FAILURES = 40 };

static const double MISSING = 1; // corrections, in units of the tolerance, that a step may still ask for

struct Ode {
    const Run *run;
    SUNContext context;
    void *memory;           // of CVODE or ERKStep
    bool runge_kutta, stiff;
    N_Vector y, dense, dense_p; // y lies over run->y, but where there is a shift
    SUNMatrix matrix;
    SUNLinearSolver linear;
    SUNNonlinearSolver nonlinear;
    Jacobian *jacobian;
    Projection *projection; // NULL: all states are free
    double *shift;          // nx: y less what the library integrates; NULL: nothing moves points onto something
    double *before, *defect; // run_size() each: the point before the step; what its equations lack at its end (CVODE)
    double exactness;       // of CVODE's iteration, in units of its error test
    double gamma;
    bool fresh;
    uint64_t evaluation;    // number of the latest right side that has one (Run.evaluations), to which v belongs until there is another
    long evaluations, error_failures, newton_failures; // of the current start, already counted
    char message[500];
};

// States to v from what the library integrates.
static void
load_states(Run *run, double time, const double *w)
{
    const double *shift = run->ode->shift;
    double *y = run->v + run->model->y;
    run->v[0] = time;
    memcpy(y, w, run->model->nx * sizeof *y);
    for (uint32_t i = 0; shift && i < run->model->nx; i++)
        y[i] += shift[i];
    run->mode = w + run->model->nx;
}

MDL_CHECKED static int
compute_right_side(realtype time, N_Vector y, N_Vector out, void *user)
{
    Run *run = user;
    run->stats->residuals++;
    load_states(run, time, NV_DATA_S(y));
    if (evaluate_solved(run, false) != MDL_OK)
        return 1;
    evaluate_slopes(run, NV_DATA_S(y), NV_DATA_S(out));
    run->ode->evaluation = run->evaluations;
    return nvector_finite(NV_DATA_S(out), run_size(run)) ? 0 : 1;
}

static int
right_side(realtype time, N_Vector y, N_Vector out, void *user)
{
    Phase before = profile_enter(user, PHASE_EQUATIONS);
    int flag = compute_right_side(time, y, out, user);
    profile_leave(user, before);
    return flag;
}

static int
weights(N_Vector y, N_Vector w, void *user)
{
    const Run *run = user;
    const double *shift = run->ode->shift;
    for (uint32_t i = 0; i < run->ny; i++) {
        double value = shift ? NV_Ith_S(y, i) + shift[i] : NV_Ith_S(y, i);
        NV_Ith_S(w, i) = run->strictness / (run->tolerance * fabs(value) + run->abstol[i]);
    }
    fractional_weights(run, NV_DATA_S(y), NV_DATA_S(w));
    if (run->ode->projection)
        projection_weights(run, run->ode->projection, NULL, NV_DATA_S(w));
    return 0;
}

static void
keep_message(int code, const char *module, const char *function, char *text, void *user)
{
    (void)code, (void)module, (void)function;
    snprintf(((Ode *)user)->message, sizeof((Ode *)user)->message, "%s", text);
}

// --- the linear system of BDF

static int
fill_system(realtype time, N_Vector y, N_Vector f, SUNMatrix matrix, booleantype reuse, booleantype *renewed,
            realtype gamma, void *user, N_Vector w1, N_Vector w2, N_Vector w3)
{
    (void)f, (void)matrix, (void)reuse, (void)w1, (void)w2, (void)w3;
    Run *run = user;
    run->stats->jacobians++;
    Phase before = profile_enter(run, PHASE_PARTIALS);
    load_states(run, time, NV_DATA_S(y));
    run->ode->gamma = gamma;
    *renewed = 1;
    bool assembled = evaluate_solved(run, false) == MDL_OK && jacobian_assemble(run->ode->jacobian, run, 1 / gamma);
    profile_leave(run, before);
    return assembled ? 0 : 1;
}

static int
linear_setup(SUNLinearSolver solver, SUNMatrix matrix)
{
    (void)matrix;
    Ode *ode = solver->content;
    Phase before = profile_enter(ode->run, PHASE_FACTORS);
    bool good = jacobian_factor(ode->jacobian, ode->fresh);
    profile_leave(ode->run, before);
    ode->fresh = !good;
    return good ? 0 : 1;
}

static int
linear_solve(SUNLinearSolver solver, SUNMatrix matrix, N_Vector x, N_Vector b, realtype tolerance)
{
    (void)matrix, (void)tolerance;
    Ode *ode = solver->content;
    sunindextype n = NV_LENGTH_S(b);
    for (sunindextype i = 0; i < n; i++)
        NV_Ith_S(x, i) = NV_Ith_S(b, i) / ode->gamma;
    Phase before = profile_enter(ode->run, PHASE_SOLVES);
    fractional_explicit(ode->run, NV_DATA_S(x));
    jacobian_solve(ode->jacobian, NV_DATA_S(x));
    profile_leave(ode->run, before);
    return 0;
}

static bool
create_linear(Run *run, Ode *ode)
{
    const mdl_model *model = run->model;
    bool loops = model->n > model->nx;
    for (uint32_t i = 0; model->implicit && i < model->nx; i++)
        loops = loops || model->implicit[i];
    ode->jacobian = jacobian_create(run, loops, NULL);
    ode->matrix = adapter_matrix(ode->context);
    ode->linear = adapter_solver(ode->context, ode, NULL, linear_setup, linear_solve);
    if (!ode->jacobian || !ode->matrix || !ode->linear)
        return false;
    run->stats->nonzeros = jacobian_nonzeros(ode->jacobian);
    run->stats->linear_solver = jacobian_is_dense(ode->jacobian) ? "dense" : "klu";
    return CVodeSetLinearSolver(ode->memory, ode->linear, ode->matrix) == CV_SUCCESS &&
           CVodeSetLinSysFn(ode->memory, fill_system) == CV_SUCCESS;
}

// --- creation

static bool
create_vectors(Run *run, Ode *ode)
{
    sunindextype n = run_size(run);
    ode->y = ode->shift ? N_VNew_Serial(n, ode->context) : N_VMake_Serial(n, run->y, ode->context);
    if (ode->y)
        nvector_accelerate(ode->y, run->options->threads);
    ode->dense = ode->y ? N_VClone(ode->y) : NULL;
    ode->dense_p = ode->y ? N_VClone(ode->y) : NULL;
    return ode->dense && ode->dense_p;
}

static bool
create_cvode(Run *run, Ode *ode)
{
    if (!nvector_room(run_size(run), VECTORS))
        return false;
    ode->memory = CVodeCreate(ode->stiff ? CV_BDF : CV_ADAMS, ode->context);
    void *cvode = ode->memory;
    if (!cvode || CVodeSetErrHandlerFn(cvode, keep_message, ode) != CV_SUCCESS ||
        CVodeInit(cvode, right_side, run->time, ode->y) != CV_SUCCESS || CVodeSetUserData(cvode, run) != CV_SUCCESS ||
        CVodeWFtolerances(cvode, weights) != CV_SUCCESS || CVodeSetMaxNumSteps(cvode, -1) != CV_SUCCESS ||
        CVodeSetMaxErrTestFails(cvode, ERROR_FAILURES) != CV_SUCCESS ||
        (run->options->max_step > 0 && CVodeSetMaxStep(cvode, run->options->max_step) != CV_SUCCESS))
        return false;
    if (ode->stiff)
        return create_linear(run, ode);
    ode->nonlinear = SUNNonlinSol_FixedPoint(ode->y, 0, ode->context);
    run->stats->linear_solver = "none";
    return ode->nonlinear && CVodeSetNonlinearSolver(cvode, ode->nonlinear) == CV_SUCCESS;
}

static bool
create_erk(Run *run, Ode *ode)
{
    if (!nvector_room(run_size(run), VECTORS))
        return false;
    ode->memory = ERKStepCreate(right_side, run->time, ode->y, ode->context);
    void *erk = ode->memory;
    if (!erk || ERKStepSetErrHandlerFn(erk, keep_message, ode) != ARK_SUCCESS ||
        ERKStepSetUserData(erk, run) != ARK_SUCCESS || ERKStepWFtolerances(erk, weights) != ARK_SUCCESS ||
        ERKStepSetOrder(erk, ERK_ORDER) != ARK_SUCCESS || ERKStepSetInterpolantDegree(erk, 5) != ARK_SUCCESS ||
        ERKStepSetMaxNumSteps(erk, -1) != ARK_SUCCESS || ERKStepSetMaxErrTestFails(erk, ERROR_FAILURES) != ARK_SUCCESS ||
        (run->options->max_step > 0 && ERKStepSetMaxStep(erk, run->options->max_step) != ARK_SUCCESS))
        return false;
    run->stats->linear_solver = "none";
    return true;
}

MDL_CHECKED static int
create(Run *run, bool runge_kutta, bool stiff)
{
    Ode *ode = calloc(1, sizeof *ode);
    run->ode = ode;
    if (!ode)
        return MDL_INTERNAL;
    if (!projection_where_needed(run, &ode->projection))
        return MDL_INTERNAL;
    if (run->model->n_constraints || run->rests) {
        ode->shift = calloc((size_t)run->model->nx + 1, sizeof *ode->shift);
        if (!ode->shift)
            return MDL_INTERNAL;
    }
    ode->run = run;
    run->strictness = runge_kutta ? integrator_strictness(run, ERK_ORDER, ERK_SHARE)
                      : stiff     ? integrator_strictness(run, BDF_ORDER, BDF_SHARE)
                                  : integrator_strictness(run, ADAMS_ORDER, ADAMS_SHARE);
    ode->runge_kutta = runge_kutta;
    ode->stiff = stiff;
    ode->fresh = true;
    ode->exactness = EXACTNESS;
    ode->before = calloc((size_t)run_size(run) + 1, sizeof *ode->before);
    ode->defect = calloc((size_t)run_size(run) + 1, sizeof *ode->defect);
    if (!ode->before || !ode->defect)
        return MDL_INTERNAL;
    if (!run->ny)
        return MDL_OK;
    if (SUNContext_Create(NULL, &ode->context) != 0 || !create_vectors(run, ode) ||
        !(runge_kutta ? create_erk(run, ode) : create_cvode(run, ode))) {
        if (ode->message[0])
            run_message(run, MDL_ERROR, "the integrator could not be set up: %s", ode->message);
        return MDL_INTERNAL;
    }
    return MDL_OK;
}

MDL_CHECKED static int
cvode_create(Run *run)
{
    return create(run, false, true);
}

static int
adams_create(Run *run)
{
    return create(run, false, false);
}

MDL_CHECKED static int
erk_create(Run *run)
{
    return create(run, true, false);
}

static void
ode_free(Run *run)
{
    Ode *ode = run->ode;
    if (!ode)
        return;
    if (ode->memory && ode->runge_kutta)
        ERKStepFree(&ode->memory);
    else if (ode->memory)
        CVodeFree(&ode->memory);
    if (ode->linear)
        SUNLinSolFree(ode->linear);
    if (ode->nonlinear)
        SUNNonlinSolFree(ode->nonlinear);
    if (ode->matrix)
        SUNMatDestroy(ode->matrix);
    N_Vector *vectors[] = {&ode->y, &ode->dense, &ode->dense_p};
    for (size_t k = 0; k < sizeof vectors / sizeof *vectors; k++)
        if (*vectors[k])
            N_VDestroy(*vectors[k]);
    jacobian_free(&ode->jacobian);
    projection_free(&ode->projection);
    free(ode->shift);
    free(ode->before);
    free(ode->defect);
    if (ode->context)
        SUNContext_Free(&ode->context);
    free(ode);
    run->ode = NULL;
}

// --- stepping

static void
ode_stats(Run *run)
{
    Ode *ode = run->ode;
    if (!ode || !ode->memory)
        return;
    long errors = 0, newtons = 0;
    bool known = ode->runge_kutta ? ERKStepGetNumErrTestFails(ode->memory, &errors) == ARK_SUCCESS
                                  : CVodeGetNumErrTestFails(ode->memory, &errors) == CV_SUCCESS &&
                                        CVodeGetNumNonlinSolvConvFails(ode->memory, &newtons) == CV_SUCCESS;
    if (!known)
        return;
    run->stats->error_failures += (uint64_t)(errors - ode->error_failures);
    run->stats->newton_failures += (uint64_t)(newtons - ode->newton_failures);
    ode->error_failures = errors;
    ode->newton_failures = newtons;
}

MDL_CHECKED static int
report_restart(const Run *run)
{
    run_message(run, MDL_ERROR, "at time %.12g: the integrator could not be restarted: %s", run->time, run->ode->message);
    return MDL_INTERNAL;
}

MDL_CHECKED static int
ode_start(Run *run)
{
    Ode *ode = run->ode;
    if (!run->ny)
        return MDL_OK;
    ode_stats(run);
    ode->fresh = true;
    if (ode->projection)
        projection_forget(ode->projection);
    if (ode->shift) {
        memset(ode->shift, 0, run->ny * sizeof *ode->shift);
        memcpy(NV_DATA_S(ode->y), run->y, run_size(run) * sizeof *run->y);
    }
    int flag = ode->runge_kutta ? ERKStepReInit(ode->memory, right_side, run->time, ode->y)
                                : CVodeReInit(ode->memory, run->time, ode->y);
    ode->error_failures = ode->newton_failures = 0;
    return flag == 0 ? MDL_OK : report_restart(run);
}

// The point has been moved from where the method has arrived: the method goes on beside it.
static void
ode_displace(Run *run)
{
    Ode *ode = run->ode;
    for (uint32_t i = 0; i < run->ny; i++)
        ode->shift[i] = run->y[i] - NV_Ith_S(ode->y, i);
}

// From where the method has arrived to the invariants.
MDL_CHECKED static int
project(Run *run)
{
    Ode *ode = run->ode;
    const double *w = NV_DATA_S(ode->y);
    for (uint32_t i = 0; i < run->ny; i++)
        run->y[i] = w[i] + ode->shift[i];
    memcpy(run->y + run->ny, w + run->ny, run->modes * sizeof *w);
    if (!ode->projection)
        return MDL_OK;
    if (!projection_apply(run, ode->projection, run->time, run->y))
        return projection_report(run);
    if (run->contest.open && contest_nears_singular(run, ode->projection, run->y))
        return RUN_NEARS_SINGULAR;
    if (!run->contest.open)
        projection_warn(run, ode->projection, run->y);
    ode_displace(run);
    return MDL_OK;
}

// ERKStep ends a step with the slopes there. What the run remembers of the past may be looked up otherwise behind the step.
static bool
has_end_values(const Run *run)
{
    const double *v = run->v;
    return run->ode->evaluation && run->ode->evaluation == run->evaluations && !run->having[HOOK_LOAD].n && !run->modes && v[0] == run->time
           && !memcmp(v + run->model->y, run->y, run->model->nx * sizeof *v);
}

// The derivatives and the loops' unknowns at the accepted point.
MDL_CHECKED static int
take_point(Run *run)
{
    Phase before = profile_enter(run, PHASE_PROJECTION);
    int status = run->ode->shift ? project(run) : MDL_OK;
    profile_leave(run, before);
    if (status != MDL_OK)
        return status;
    if (has_end_values(run)) {
        evaluate_store(run);
        evaluate_note_reached(run);
        return MDL_OK;
    }
    return evaluate_reached(run, run->y);
}

MDL_CHECKED static int
report_unknown(const Run *run, double time)
{
    run_message(run, MDL_ERROR, "at time %.12g: the integrator does not say what the motion is there: %s", time, run->ode->message);
    return MDL_INTERNAL;
}

// The library has accepted the step by the rate of its iteration: does it solve the step's equations? What they lack at its end is
// gamma*(y' - f(t, y)), y' being that of the method's polynomial; the correction that this asks for, in units of the tolerance.
// Where that is small by itself a stable motion asks for no more. NaN: the library does not say.
static double
missing_correction(Run *run)
{
    Ode *ode = run->ode;
    double gamma = 0, *defect = ode->defect, *weight = NV_DATA_S(ode->dense);
    uint32_t n = run_size(run);
    if (CVodeGetCurrentGamma(ode->memory, &gamma) != CV_SUCCESS
        || CVodeGetDky(ode->memory, run->time, 1, ode->dense_p) != CV_SUCCESS || weights(ode->y, ode->dense, run) != 0)
        return NAN;
    nvector_difference(run->options->threads, run->yp, NV_DATA_S(ode->dense_p), defect, n);
    double size = fabs(gamma) * sqrt(nvector_squares(run->options->threads, defect, weight, n) / n);
    if (size <= MISSING || !ode->stiff)
        return size;
    fractional_explicit(run, defect);
    jacobian_solve(ode->jacobian, defect);
    return sqrt(nvector_squares(run->options->threads, defect, weight, n) / n);
}

MDL_CHECKED static int
report_unsolved(Run *run, double missing)
{
    const Ode *ode = run->ode;
    uint32_t worst = 0;
    double most = 0;
    for (uint32_t i = 0; i < run->ny; i++) {
        double size = fabs(ode->defect[i]) * NV_Ith_S(ode->dense, i);
        if (size > most) {
            most = size;
            worst = i;
        }
    }
    run_message(run, MDL_ERROR, "at time %.12g: the equations of a step could not be solved by the %s method, however short it was: they "
                "still ask for corrections %.3g times the tolerance, the largest one of `%s` = %.10g", run->time, run->stepper->name,
                missing, run->model->state_name[worst], run->y[worst]);
    return MDL_FAILED;
}

MDL_CHECKED static int
evolve(Ode *ode, double limit, double *time)
{
    int flag = ode->runge_kutta ? ERKStepSetStopTime(ode->memory, limit) : CVodeSetStopTime(ode->memory, limit);
    if (flag != 0)
        return flag;
    return ode->runge_kutta ? ERKStepEvolve(ode->memory, limit, ode->y, time, ARK_ONE_STEP)
                            : CVode(ode->memory, limit, ode->y, time, CV_ONE_STEP);
}

// ERKStep gives up where a stage has no right side: a loop without solution beyond a switch that the step has not been cut at yet, a
// root of a number that the stage has made negative. A shorter step from the last accepted point may have one.
MDL_CHECKED static int
evolve_shorter(Run *run, double limit, double *time)
{
    Ode *ode = run->ode;
    double step = 0, least = 16 * DBL_EPSILON * fmax(fabs(run->time), DBL_MIN);
    int flag = ARK_UNREC_RHSFUNC_ERR;
    if (ERKStepGetCurrentStep(ode->memory, &step) != ARK_SUCCESS)
        return flag;
    step = fmin(step, limit - run->time);
    while (flag == ARK_UNREC_RHSFUNC_ERR && (step *= SHORTER) > least) {
        run->stats->newton_failures++;
        if (ode_start(run) != MDL_OK || ERKStepSetInitStep(ode->memory, step) != ARK_SUCCESS)
            return flag;
        flag = evolve(ode, limit, time);
    }
    int reset = ERKStepSetInitStep(ode->memory, 0);
    return flag < 0 || reset == ARK_SUCCESS ? flag : reset;
}

MDL_CHECKED static int
ode_step(Run *run, double limit)
{
    Ode *ode = run->ode;
    double time = run->time;
    run->stats->steps++;
    if (!run->ny || limit - run->time <= 32 * DBL_EPSILON * fmax(fabs(limit), fabs(run->time))) {
        run->time = limit;
        return MDL_OK;
    }
    ode->message[0] = '\0';
    int flag = evolve(ode, limit, &time);
    if (ode->runge_kutta && flag == ARK_UNREC_RHSFUNC_ERR)
        flag = evolve_shorter(run, limit, &time);
    if (flag == (ode->runge_kutta ? ARK_MEM_FAIL : CV_MEM_FAIL) || (flag < 0 && jacobian_starved(ode->jacobian))) {
        run_message(run, MDL_ERROR, "at time %.12g: out of memory: the integrator cannot go on: %s", run->time,
                    jacobian_starved(ode->jacobian) ? "there is none left for the factors of its matrix" : ode->message);
        return MDL_INTERNAL;
    }
    if (flag < 0 && pace_explain(run))
        return MDL_FAILED;
    if (flag < 0) {
        run_message(run, MDL_ERROR, "at time %.12g: the %s method could not take a step\n%s%sthe model is stiff or nearly singular here, as "
                    "a folded linkage is; another method may get on: --solver=ida", run->time, run->stepper->name, ode->message,
                    ode->message[0] ? "\n" : "");
        return MDL_FAILED;
    }
    // Both libraries say 1 when the stop time was reached.
    run->time = flag == CV_TSTOP_RETURN ? limit : time;
    return take_point(run);
}

// Between `time` and the present instant is nothing: a step there (ode_step) is none of the library's.
static bool
is_rounding(const Run *run, double time)
{
    return run->time - time <= 64 * DBL_EPSILON * fmax(fabs(run->time), fabs(time));
}

// Back to where the step began. Its iteration shall be more exact from now on.
MDL_CHECKED static int
begin_again(Run *run, double before)
{
    Ode *ode = run->ode;
    double step = 0;
    run->stats->restarts++;
    run->time = before;
    memcpy(run->y, ode->before, run_size(run) * sizeof *run->y);
    ode->exactness *= EXACTER;
    bool set = CVodeGetLastStep(ode->memory, &step) == CV_SUCCESS && CVodeSetNonlinConvCoef(ode->memory, ode->exactness) == CV_SUCCESS;
    int status = ode_start(run);
    if (status != MDL_OK || (set && CVodeSetInitStep(ode->memory, SHORTER * step) == CV_SUCCESS))
        return status;
    return report_restart(run);
}

// With CVODE, too, what is accepted has been looked at: the right side is evaluated there anyway.
MDL_CHECKED static int
cvode_step(Run *run, double limit)
{
    enum { REPEATS = 8 };
    Ode *ode = run->ode;
    double before = run->time;
    if (!run->ny)
        return ode_step(run, limit);
    memcpy(ode->before, run->y, run_size(run) * sizeof *run->y);
    for (int k = 0;; k++) {
        int status = ode_step(run, limit);
        double missing = status == MDL_OK && !is_rounding(run, before) ? missing_correction(run) : 0;
        if (k > 0 && CVodeSetInitStep(ode->memory, 0) != CV_SUCCESS)
            return status == MDL_OK ? report_restart(run) : status;
        if (status != MDL_OK || missing <= MISSING)
            return status;
        if (isnan(missing))
            return report_unknown(run, run->time);
        if (k == REPEATS)
            return report_unsolved(run, missing);
        if ((status = begin_again(run, before)) != MDL_OK)
            return status;
    }
}

MDL_CHECKED static int
ode_interpolate(Run *run, double time)
{
    Ode *ode = run->ode;
    if (is_rounding(run, time) || !run->ny) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    double at = time, last = 0;
    bool known = (ode->runge_kutta ? ERKStepGetLastStep(ode->memory, &last) : CVodeGetLastStep(ode->memory, &last)) == 0;
    // A step that ends at an instant is longer or shorter than the library's by rounding, which refuses times outside of its own.
    if (known && at < run->time - last && run->time - last - at <= 1e-12 * fabs(run->time))
        at = run->time - last;
    known = known && (ode->runge_kutta ? ERKStepGetDky(ode->memory, at, 0, ode->dense) == ARK_SUCCESS &&
                                             ERKStepGetDky(ode->memory, at, 1, ode->dense_p) == ARK_SUCCESS
                                       : CVodeGetDky(ode->memory, at, 0, ode->dense) == CV_SUCCESS &&
                                             CVodeGetDky(ode->memory, at, 1, ode->dense_p) == CV_SUCCESS);
    if (!known)
        return report_unknown(run, time);
    double *y = NV_DATA_S(ode->dense);
    for (uint32_t i = 0; ode->shift && i < run->ny; i++)
        y[i] += ode->shift[i];
    // Values between steps are off the invariants by the error of the interpolation.
    if (ode->projection)
        (void)projection_between(run, ode->projection, time, y);
    evaluate_load(run, time, y, NV_DATA_S(ode->dense_p));
    return MDL_OK;
}

// error := error estimate times weights, which SUNDIALS has in two vectors.
static void
multiply(const Run *run, double *error)
{
    const Ode *ode = run->ode;
    for (uint32_t i = 0; i < run->ny; i++)
        error[i] = NV_Ith_S(ode->dense, i) * NV_Ith_S(ode->dense_p, i);
}

static int
cvode_judge(Run *run, double *error)
{
    Ode *ode = run->ode;
    int order = -1;
    if (!run->ny || CVodeGetLastOrder(ode->memory, &order) != CV_SUCCESS
        || CVodeGetEstLocalErrors(ode->memory, ode->dense) != CV_SUCCESS
        || CVodeGetErrWeights(ode->memory, ode->dense_p) != CV_SUCCESS)
        return -1;
    multiply(run, error);
    return order;
}

static int
erk_judge(Run *run, double *error)
{
    Ode *ode = run->ode;
    if (!run->ny || ERKStepGetEstLocalErrors(ode->memory, ode->dense) != ARK_SUCCESS
        || ERKStepGetErrWeights(ode->memory, ode->dense_p) != ARK_SUCCESS)
        return -1;
    multiply(run, error);
    return ERK_ORDER;
}

const Stepper cvode_stepper = {.name = "cvode", .create = cvode_create, .free = ode_free, .start = ode_start,
                               .step = cvode_step, .interpolate = ode_interpolate, .stats = ode_stats, .judge = cvode_judge, .displace = ode_displace};
const Stepper adams_stepper = {.name = "adams", .create = adams_create, .free = ode_free, .start = ode_start,
                               .step = cvode_step, .interpolate = ode_interpolate, .stats = ode_stats, .judge = cvode_judge, .displace = ode_displace,
                               .is_explicit = true};
const Stepper erk_stepper = {.name = "erk", .create = erk_create, .free = ode_free, .start = ode_start,
                             .step = ode_step, .interpolate = ode_interpolate, .stats = ode_stats, .judge = erk_judge, .displace = ode_displace,
                             .is_explicit = true};
