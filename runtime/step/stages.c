// stages.c: the stage equations of a collocation step, solved to rounding.
//
// Purpose: a symmetric method keeps energy for long times only when its stages are accurate to rounding: an
//          iteration that ends at a tolerance leaves an error of one sign in every step.
// Method: fixed-point iteration until the change is of the size of rounding or grows (Hairer, Lubich and
//         Wanner, Geometric Numerical Integration, 2006, VIII.6). When it contracts too slowly, simplified
//         Newton iteration with A replaced by its lower triangular factor T (van der Houwen and de Swart, SIAM
//         J. Sci. Comput. 18 (1997) 41): (1 - h T x J) dZ = h A f(Z) - Z is solved stage by stage with the
//         integrator's matrix 1/(h t_ii) - J, and contracts by 0.44 or better for every oscillating or decaying
//         linear problem.
// Contract: stages.h. Complexity: per iteration one evaluation of f per stage, and in Newton's method one solve.
#include "runtime/step/stages.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/nvector.h"
#include "runtime/memory/memory.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/step/jacobian.h"
#include "runtime/step/step.h"

enum { S = GAUSS_STAGES, ITERATIONS = 60 };

static const double SLOW = 0.6;       // contraction at which Newton's method takes over or gets a new matrix
static const double DIVERGING = 10;   // growth at which an iteration ends
static const double ROUNDING = 1e-9;  // relative change below which a growing one is rounding
static const double NOISE = 1e-3;     // tolerances below which a change that does not shrink further is rounding

Stages *
stages_create(const Run *run, const Collocation *method)
{
    const mdl_model *model = run->model;
    Stages *stages = calloc(1, sizeof *stages);
    if (!stages)
        return NULL;
    if (run->deficient && model->n_constraints) {
        stages->projection = projection_create(run);
        if (!stages->projection) {
            stages_free(&stages);
            return NULL;
        }
    }
    size_t n = run_size(run);
    stages->method = method;
    stages->n = run_size(run);
    stages->slope = calloc(5 * S * n + model->n + run->modes + 1, sizeof *stages->slope);
    if (!stages->slope) {
        stages_free(&stages);
        return NULL;
    }
    stages->offset = stages->slope + S * n;
    stages->scaled = stages->offset + S * n;
    stages->change = stages->scaled + S * n;
    stages->guess = stages->change + S * n;
    stages->right = stages->guess + S * n;
    return stages;
}

void
stages_free(Stages **slot)
{
    Stages *stages = *slot;
    if (!stages)
        return;
    for (int i = 0; i < S; i++)
        jacobian_free(&stages->jacobian[i]);
    projection_free(&stages->projection);
    free(stages->slope);
    free(stages);
    *slot = NULL;
}

void
stages_reset(Stages *stages)
{
    stages->implicit = false;
    stages->factored = 0;
}

void
stages_settle(Stages *stages)
{
    for (int i = 0; i < S; i++)
        jacobian_free(&stages->jacobian[i]);
    stages->factored = 0;
}

bool
stages_slope(Run *run, Stages *stages, double time, const double *y, double *slope)
{
    double *point = stages->right;
    run->stats->residuals++;
    memcpy(point, y, stages->n * sizeof *y);
    if (stages->projection && !projection_apply(run, stages->projection, time, point))
        return false;
    evaluate_states(run, time, point);
    if (evaluate_solved(run, false) != MDL_OK)
        return false;
    evaluate_slopes(run, point, slope);
    return nvector_finite(slope, stages->n);
}

static bool
evaluate_stages(Run *run, Stages *stages, double time, const double *base, double h)
{
    double *y = stages->change; // free now
    Phase before = profile_enter(run, PHASE_EQUATIONS);
    bool good = true;
    for (uint32_t i = 0; i < S && good; i++) {
        const double *z = stages->offset + (size_t)i * stages->n;
        for (uint32_t k = 0; k < stages->n; k++)
            y[k] = base[k] + z[k];
        good = stages_slope(run, stages, time + stages->method->node[i] * h, y, stages->slope + (size_t)i * stages->n);
    }
    profile_leave(run, before);
    return good;
}

// out_i = h * sum of a_ij f_j
static void
apply_inner(const Stages *stages, double h, double *out)
{
    uint32_t n = stages->n;
    for (uint32_t i = 0; i < S; i++) {
        const double *a = stages->method->inner[i];
        for (uint32_t k = 0; k < n; k++) {
            double sum = 0;
            for (uint32_t j = 0; j < S; j++)
                sum += a[j] * stages->slope[(size_t)j * n + k];
            out[(size_t)i * n + k] = h * sum;
        }
    }
}

// --- Newton's method

// The matrix of the DAE form has sparse rows for loops, but none for derivatives that are unknowns of a loop, nor for
// loops whose equations follow from others.
static bool
needs_causal_matrix(const Run *run)
{
    bool needed = run->deficient > 0 || run->locked > 0 || run->modes > 0;
    for (uint32_t i = 0; run->model->implicit && i < run->model->nx; i++)
        needed = needed || run->model->implicit[i];
    return needed;
}

static bool
factor_stages(Run *run, Stages *stages, double time, const double *base, double h)
{
    stages->factored = 0;
    // The point at which the matrix is taken; the slope goes to a place that is free now.
    if (!stages_slope(run, stages, time, base, stages->change))
        return false;
    run->stats->jacobians++;
    for (int i = 0; i < S; i++) {
        if (!stages->jacobian[i])
            stages->jacobian[i] = jacobian_create(run, needs_causal_matrix(run), NULL);
        if (!stages->jacobian[i] ||
            !jacobian_assemble(stages->jacobian[i], run, 1 / (h * stages->method->lower[i][i])) ||
            !jacobian_factor(stages->jacobian[i], true))
            return false;
    }
    run->stats->nonzeros = jacobian_nonzeros(stages->jacobian[0]);
    run->stats->linear_solver = jacobian_is_dense(stages->jacobian[0]) ? "dense" : "klu";
    stages->factored = h;
    return true;
}

// change := (1 - h T x J)^-1 change. With g_j the right side of stage j, h J dZ_j = (dZ_j - g_j)/t_jj.
static void
solve_triangular(const Run *run, Stages *stages, double h)
{
    uint32_t n = stages->n;
    double *right = stages->right, *scaled = stages->scaled;
    for (uint32_t i = 0; i < S; i++) {
        const double *t = stages->method->lower[i];
        double *dz = stages->change + (size_t)i * n;
        for (uint32_t j = 0; j < i; j++)
            for (uint32_t k = 0; k < n; k++)
                dz[k] += t[j] * scaled[(size_t)j * n + k];
        memset(right, 0, (run->model->n + run->modes) * sizeof *right);
        for (uint32_t k = 0; k < n; k++)
            right[k] = dz[k] / (h * t[i]);
        fractional_explicit(run, right);
        jacobian_solve(stages->jacobian[i], right);
        for (uint32_t k = 0; k < n; k++) {
            scaled[(size_t)i * n + k] = (right[k] - dz[k]) / t[i];
            dz[k] = right[k];
        }
    }
}

// --- the iteration

// Largest change relative to the size of what changes; Z becomes Z + change. Unknowns that symmetry keeps at zero hold
// rounding of others, so a millionth of the nominal value is the least size.
static double
take_change(const Run *run, Stages *stages, const double *base)
{
    uint32_t n = stages->n;
    const double *nominal = run->v + run->model->nominal;
    double most = 0;
    stages->error = 0;
    for (uint32_t k = 0; k < n; k++) {
        double unit = k < run->model->nx ? nominal[k] : fractional_nominal(run, k - run->model->nx);
        double change = 0, size = fmax(fabs(base[k]), 1e-6 * fabs(unit));
        for (uint32_t i = 0; i < S; i++) {
            double *z = &stages->offset[(size_t)i * n + k], dz = stages->change[(size_t)i * n + k];
            *z += dz;
            size = fmax(size, fabs(*z));
            change = !(fabs(dz) <= change) ? fabs(dz) : change;
        }
        if (!(change / size <= most))
            most = change / size;
        double absolute = k < run->model->nx ? run->abstol[k] : run->tolerance * fabs(unit);
        stages->error = fmax(stages->error, change / (run->tolerance * size + absolute));
    }
    return most;
}

void
stages_begin(StagesIteration *iteration)
{
    *iteration = (StagesIteration){0, INFINITY, INFINITY, INFINITY, INFINITY};
}

StagesOutcome
stages_judge(StagesIteration *it, double change, double error)
{
    // Positions follow velocities by one iteration, so contraction shows over two. What is nearly zero changes by many times itself
    // while all that counts converges: the changes in tolerances must say so, too.
    bool slow = it->count >= 3 && change > SLOW * SLOW * it->earlier && error > SLOW * SLOW * it->error_earlier;
    bool diverges = change > DIVERGING * it->before && error > DIVERGING * it->error_before;
    if (change <= DBL_EPSILON || (change <= ROUNDING && (slow || change >= it->before)))
        return STAGES_SOLVED;
    // A stiff spring turns the rounding of positions into more of velocities.
    if (slow && error <= NOISE)
        return STAGES_SOLVED;
    if (!isfinite(change) || slow || diverges || ++it->count == ITERATIONS)
        return STAGES_FAILED;
    it->earlier = it->before;
    it->before = change;
    it->error_earlier = it->error_before;
    it->error_before = error;
    return STAGES_GO_ON;
}

static bool
iterate(Run *run, Stages *stages, double time, const double *base, double h)
{
    uint32_t n = stages->n;
    StagesIteration iteration;
    StagesOutcome outcome = STAGES_GO_ON;
    stages_begin(&iteration);
    while (outcome == STAGES_GO_ON) {
        if (!evaluate_stages(run, stages, time, base, h))
            return false;
        apply_inner(stages, h, stages->change);
        for (size_t i = 0; i < (size_t)S * n; i++)
            stages->change[i] -= stages->offset[i];
        Phase phase = profile_enter(run, PHASE_SOLVES);
        if (stages->implicit)
            solve_triangular(run, stages, h);
        profile_leave(run, phase);
        double change = take_change(run, stages, base);
        if (stages->implicit)
            run->stats->newton_iterations++;
        outcome = stages_judge(&iteration, change, stages->error);
    }
    return outcome == STAGES_SOLVED;
}

bool
stages_solve(Run *run, Stages *stages, double time, const double *base, double h)
{
    size_t size = (size_t)S * stages->n * sizeof *stages->slope;
    memcpy(stages->guess, stages->slope, size);
    apply_inner(stages, h, stages->offset);
    bool good = !stages->implicit && iterate(run, stages, time, base, h);
    // A matrix from an earlier step is tried before a new one.
    for (int fresh = stages->factored != h; !good && fresh < 2; fresh++) {
        stages->implicit = true;
        memcpy(stages->slope, stages->guess, size);
        apply_inner(stages, h, stages->offset);
        Phase before = profile_enter(run, PHASE_FACTORS);
        bool factored = !fresh || factor_stages(run, stages, time, base, h);
        profile_leave(run, before);
        if (!factored)
            break;
        good = iterate(run, stages, time, base, h);
    }
    return good;
}
