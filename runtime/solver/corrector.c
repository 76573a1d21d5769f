// corrector.c: Newton's iteration for the equations of one step of IDA.
//
// Purpose: IDA's packaged iteration is not optimised, and goes over the unknowns some ten times for each correction. This
//          one goes over them once beside the residual and the solution.
// Method: modified Newton with the matrix of an earlier step, corrections scaled by 2/(1 + cj/cj') for the change of the
//         coefficient since; a new matrix when cj has changed by more than a factor 5/3, or when the old one does not
//         converge; convergence judged by the rate of the corrections (Brenan, Campbell and Petzold, Numerical Solution of
//         Initial-Value Problems in DAEs, 1996, 5.2.2). The decisions are those of IDA (Hindmarsh et al., ACM TOMS 31 (2005)
//         363), so that steps are, too, but for one: a matrix of more than fifty steps (as in CVODE) with which the latest
//         iteration took several corrections is renewed. What a slow iteration leaves of the error comes back in the
//         differences of the past, 2^order times as large, as an error that keeps the steps short and constant; and with
//         constant steps cj does not change, so that the old matrix would stay for ever. And where conditions read loops'
//         unknowns the rate is that of this step: nothing else controls these unknowns' errors, and one of an earlier step lets them lag
//         behind where a loop's matrix becomes singular soon after a switch, which is then missed.
// Contract: see corrector.h. IDA's memory (ida_private.h) is read only.
// Complexity: one residual, one solution and one pass over the unknowns for each correction.
#include "runtime/solver/corrector.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include <nvector/nvector_serial.h>

#include "runtime/linear/nvector.h"
#include "runtime/solver/ida_private.h"

enum { CORRECTIONS = 4, OLD = 50 };

// Corrections of this part of the tolerance: the predicted point solves the equations; what rounding may leave.
static const double SOLVED = 1e-8, ROUNDING = 0.1;

static const double SLOW = 0.9; // rate at which the iteration is not worth going on

// The second correction of loops may be as large as the first, when what the first has moved moves others, and the third nothing.
static const double AGAIN = 2;

typedef struct {
    Run *run;
    const CorrectorModel *model;
    const double *weight;       // NULL: IDA's
    size_t n;
    bool coupled;               // there are other rows than y' - f(t, y)
    bool affine;                // the matrix is that of the equations but for cj
    bool made, singular;        // there is a matrix; the latest was singular
    double made_cj, latest_cj;  // cj of the matrix, and of the latest step
    uint32_t age;               // of the matrix, in steps
    uint64_t events;            // before it was made
    double slowness;            // rate/(1 - rate) of the convergence, an upper estimate after changes
    long corrections, failures; // of the latest call
} Corrector;

// The point that the iteration is at and the correction that has led there.
typedef struct {
    const double *y0, *yp0, *weight; // predicted
    double *correction, *y, *yp, *residual;
    double time, cj, tolerance;
} Point;

// LIKELY: by what earlier steps have shown.
typedef enum Verdict { CONVERGED, LIKELY, OPEN, FAILED } Verdict;

static Point
point_of(const Corrector *corrector, IDAMem memory, N_Vector correction, N_Vector weight, double tolerance)
{
    return (Point){.y0 = NV_DATA_S(memory->ida_yypredict), .yp0 = NV_DATA_S(memory->ida_yppredict),
                   .weight = corrector->weight ? corrector->weight : NV_DATA_S(weight),
                   .correction = NV_DATA_S(correction), .y = NV_DATA_S(memory->ida_yy), .yp = NV_DATA_S(memory->ida_yp),
                   .residual = NV_DATA_S(memory->ida_delta), .time = memory->ida_tn, .cj = memory->ida_cj,
                   .tolerance = tolerance};
}

static bool
iteration_matrix(Corrector *corrector, const Point *point)
{
    corrector->made = false;
    corrector->singular = !corrector->model->factor(corrector->run, point->cj);
    if (corrector->singular)
        return false;
    corrector->made = true;
    corrector->age = 0;
    corrector->events = corrector->run->stats->events;
    corrector->made_cj = point->cj;
    corrector->slowness = 20;
    return true;
}

// The residual at the corrected point. All rows being y' - f(t, y), it would move y by no more than the tolerance within the time
// that the formula sees, 1/cj.
static bool
is_small(const Corrector *corrector, const Point *point)
{
    double squares = nvector_squares(corrector->run->options->threads, point->residual, point->weight, corrector->n);
    double limit = point->tolerance * point->cj;
    return squares <= limit * limit * (double)corrector->n;
}

// Correction k, of this size, is done. What is left is a geometric series, also where it seems to grow: that may be rounding, but
// hardly where both are the same, as with a matrix that is much too large, and still move the unknowns.
static Verdict
judge(Corrector *corrector, int k, double first, double size, double tolerance)
{
    double rate = k == 1 ? 0 : k == 2 ? size / first : pow(size / first, 1.0 / (k - 1));
    const Run *run = corrector->run;
    bool unmoved = size <= 16 * DBL_EPSILON * run->strictness / run->tolerance;
    if (k > 1)
        corrector->slowness = rate / fabs(1 - rate);
    if (unmoved ? k > 1 || size == 0 : k == 1 && size <= SOLVED * tolerance && corrector->age == 0)
        return CONVERGED;
    bool small = corrector->slowness * size <= tolerance;
    if (k == 2 && corrector->coupled && rate > SLOW && rate <= AGAIN && !small)
        return OPEN;
    if (!(rate <= SLOW))
        return small && (rate < 1 || size <= ROUNDING * tolerance) ? CONVERGED : FAILED;
    if (small)
        return k > 1 || corrector->affine ? CONVERGED : LIKELY;
    return k == CORRECTIONS ? FAILED : OPEN;
}

// From the residual at the predicted point on.
static int
correct(Corrector *corrector, const Point *point)
{
    double scale = 2 / (1 + point->cj / corrector->made_cj), first = 0;
    for (int k = 1;; k++) {
        corrector->corrections++;
        corrector->model->solve(corrector->run, point->residual);
        double size = nvector_correct(corrector->run->options->threads, point->residual, scale, point->weight, point->y0, point->yp0, point->cj,
                                      point->correction, point->y, point->yp, corrector->n);
        first = k == 1 ? size : first;
        Verdict verdict = judge(corrector, k, first, size, point->tolerance);
        if (verdict == CONVERGED || verdict == FAILED)
            return verdict == CONVERGED ? SUN_NLS_SUCCESS : SUN_NLS_CONV_RECVR;
        if (!corrector->model->residual(corrector->run, point->time, point->y, point->yp, point->residual))
            return IDA_RES_RECVR;
        if (verdict == LIKELY && !corrector->coupled && is_small(corrector, point))
            return SUN_NLS_SUCCESS;
    }
}

// With `renew` or after the old matrix has failed the iteration has a new one.
MDL_CHECKED static int
iterate(Corrector *corrector, const Point *point, bool renew)
{
    for (;;) {
        if (!corrector->model->residual(corrector->run, point->time, point->y0, point->yp0, point->residual))
            return IDA_RES_RECVR;
        if (renew && !iteration_matrix(corrector, point))
            return IDA_LSETUP_RECVR;
        int status = correct(corrector, point);
        corrector->failures += status != SUN_NLS_SUCCESS;
        if (status == SUN_NLS_SUCCESS || renew)
            return status;
        renew = true;
        for (size_t i = 0; i < corrector->n; i++)
            point->correction[i] = 0;
    }
}

// `predicted` and `renew` are IDA's: it counts the former in the memory, and decides the latter for linear solvers of its own.
static int
solve(SUNNonlinearSolver solver, N_Vector predicted, N_Vector correction, N_Vector weight, realtype tolerance,
      booleantype renew, void *memory)
{
    (void)predicted, (void)renew;
    Corrector *corrector = solver->content;
    const Run *run = corrector->run;
    Point point = point_of(corrector, memory, correction, weight, tolerance);
    double ratio = corrector->made ? point.cj / corrector->made_cj : INFINITY;
    bool slow = corrector->age++ >= OLD && corrector->corrections > 1;
    corrector->coupled = corrector->weight || (!run->causal && (run->n_implicit || run->rests));
    corrector->affine = run->model->affine && corrector->events == run->stats->events;
    if (!corrector->made || point.cj != corrector->latest_cj)
        corrector->slowness = 100;
    corrector->latest_cj = point.cj;
    corrector->corrections = corrector->failures = 0;
    corrector->singular = false;
    return iterate(corrector, &point, slow || !(ratio >= 0.6 && ratio <= 1 / 0.6));
}

// --- as SUNDIALS sees it

static SUNNonlinearSolver_Type
type(SUNNonlinearSolver solver)
{
    (void)solver;
    return SUNNONLINEARSOLVER_ROOTFIND;
}

// The equations are known.
static int
set_system(SUNNonlinearSolver solver, SUNNonlinSolSysFn system)
{
    (void)solver, (void)system;
    return SUN_NLS_SUCCESS;
}

static int
count_corrections(SUNNonlinearSolver solver, long *count)
{
    *count = ((Corrector *)solver->content)->corrections;
    return SUN_NLS_SUCCESS;
}

static int
count_failures(SUNNonlinearSolver solver, long *count)
{
    *count = ((Corrector *)solver->content)->failures;
    return SUN_NLS_SUCCESS;
}

static int
release(SUNNonlinearSolver solver)
{
    free(solver->content);
    SUNNonlinSolFreeEmpty(solver);
    return SUN_NLS_SUCCESS;
}

SUNNonlinearSolver
corrector_create(SUNContext context, Run *run, const CorrectorModel *model, const double *weight)
{
    Corrector *corrector = calloc(1, sizeof *corrector);
    SUNNonlinearSolver solver = corrector ? SUNNonlinSolNewEmpty(context) : NULL;
    if (!solver) {
        free(corrector);
        return NULL;
    }
    *corrector = (Corrector){.run = run, .model = model, .weight = weight, .n = run_size(run)};
    solver->content = corrector;
    solver->ops->gettype = type;
    solver->ops->solve = solve;
    solver->ops->free = release;
    solver->ops->setsysfn = set_system;
    solver->ops->getnumiters = count_corrections;
    solver->ops->getnumconvfails = count_failures;
    return solver;
}

void
corrector_forget(SUNNonlinearSolver solver)
{
    ((Corrector *)solver->content)->made = false;
}

void
corrector_settle(SUNNonlinearSolver solver)
{
    Corrector *c = solver->content;
    *c = (Corrector){.run = c->run, .model = c->model, .weight = c->weight, .n = c->n, .events = UINT64_MAX};
}

bool
corrector_singular(SUNNonlinearSolver solver)
{
    return ((Corrector *)solver->content)->singular;
}
