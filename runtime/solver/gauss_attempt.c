// gauss_attempt.c: one step of the Gauss method.
//
// Purpose: the end of a step of a given length.
// Method: four stages solved to rounding (stages.c), from slopes extrapolated over the last two steps; compensated summation (Hairer, Lubich and
//         Wanner, Geometric Numerical Integration, 2006, VIII.5). Invariants: symmetric projection (V.4.1 there), which moves the start and the end of the
//         step by the same multipliers. Near a singular position collocation takes slopes where they are noise: where another method may
//         go on and rounding of the invariants moves states by more than a part of the tolerance, the step is not made.
// Contract: gauss_inner.h. Complexity: about 5 to 10 iterations of four evaluations.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/solver/gauss_inner.h"
#include "runtime/step/step.h"

enum { PROJECTIONS = 5 };

static const double IN_STEP = 0.03;       // tolerances that rounding of the invariants may move states by where slopes are taken
static const double ORDINARY = 1e-12;     // rounding that moves states by less tells of no singular position
static const double ON_INVARIANT = 1e-15; // relative correction that is left to later steps

// Slopes at the stages of a step of length h, from the steps before it or the slope at its start.
static void
predict(Ode *ode, double h)
{
    double point[2 * GAUSS_STAGES], weight[2 * GAUSS_STAGES];
    uint32_t n = ode->n, count = ode->history * GAUSS_STAGES;
    for (uint32_t j = 0; j < GAUSS_STAGES; j++) {
        point[j] = ode->method.node[j] - 1;
        point[GAUSS_STAGES + j] = ode->method.node[j] - 2;
    }
    for (uint32_t i = 0; i < GAUSS_STAGES; i++) {
        double *out = ode->stages->slope + (size_t)i * n;
        if (!count) {
            memcpy(out, ode->slope, n * sizeof *out);
            continue;
        }
        collocation_lagrange(point, count, ode->method.node[i] * h / ode->length, weight);
        memset(out, 0, n * sizeof *out);
        for (uint32_t j = 0; j < count; j++) {
            const double *past = (j < GAUSS_STAGES ? ode->newer : ode->older - (size_t)GAUSS_STAGES * n) + (size_t)j * n;
            for (uint32_t k = 0; k < n; k++)
                out[k] += weight[j] * past[k];
        }
    }
}

// The end of the step: start + (base - start) + h * sum of b_j f_j + lift, with compensation.
static void
add_up(Ode *ode, double h)
{
    uint32_t n = ode->n;
    for (uint32_t k = 0; k < n; k++) {
        double sum = 0;
        for (uint32_t j = 0; j < GAUSS_STAGES; j++)
            sum += ode->method.weight[j] * ode->stages->slope[(size_t)j * n + k];
        double change = h * sum + ode->carry[k] + ode->lift[k];
        ode->next[k] = ode->start[k] + change;
        ode->next_carry[k] = (ode->start[k] - ode->next[k]) + change;
    }
}

// Whether another method is at hand.
static bool
may_give_up(const Run *run)
{
    return run->options->solver == MDL_SOLVER_AUTO && !(run->options->step > 0);
}

double
gauss_nearness(const Run *run, Projection *projection, const double *y)
{
    double *weight = run->ode->value, most = 0;
    for (uint32_t k = 0; k < run->model->nx; k++)
        weight[k] = INFINITY;
    projection_weights(run, projection, NULL, weight);
    for (uint32_t k = 0; k < run->model->nx; k++) // what is zero by symmetry has noise as others do
        most = fmax(most, 1 / (weight[k] * fmax(fabs(y[k]), fabs(run->v[run->model->nominal + k]))));
    return most;
}

double
gauss_nearness_of_stages(Run *run, double limit, const Stages *stages, double time, const double *y, double h)
{
    Ode *ode = run->ode;
    double most = 0;
    for (uint32_t i = 0; i < GAUSS_STAGES && most <= limit; i++) {
        for (uint32_t k = 0; k < ode->n; k++)
            ode->other[k] = y[k] + stages->offset[(size_t)i * ode->n + k];
        if (!projection_factor(run, ode->at_end, time + ode->method.node[i] * h, ode->other))
            return INFINITY;
        projection_measure(run, ode->at_end);
        most = fmax(most, gauss_nearness(run, ode->at_end, ode->other));
    }
    return most;
}

double
gauss_noisy(const Run *run, double share)
{
    return fmax(share * run->tolerance, ORDINARY);
}

// With the multipliers rho moving both ends of the step, its end is on the invariants. K = K(start) at the start and
// K(end) at the end, C K = 1, so the invariants at the end change by about 2 rho.
static bool
project_step(Run *run, Ode *ode, double h)
{
    const double *defect = projection_defect(ode->at_end);
    double time = ode->from + h;
    memset(ode->rho, 0, run->model->n_constraints * sizeof *ode->rho);
    for (int k = 0; k < PROJECTIONS; k++) {
        if (!projection_factor(run, ode->at_end, time, ode->next))
            return false;
        memcpy(ode->other, ode->next, ode->n * sizeof *ode->other);
        if (projection_move(run, ode->at_end, defect, -1, ode->other) <= ON_INVARIANT)
            return true;
        for (uint32_t i = 0; i < run->model->n_constraints; i++)
            ode->rho[i] -= defect[i] / 2;
        memcpy(ode->base, ode->start, ode->n * sizeof *ode->base);
        memset(ode->lift, 0, ode->n * sizeof *ode->lift);
        projection_move(run, ode->at_start, ode->rho, 1, ode->base);
        projection_move(run, ode->at_start, ode->rho, 1, ode->lift);
        projection_move(run, ode->at_end, ode->rho, 1, ode->lift);
        if (!stages_solve(run, ode->stages, ode->from, ode->base, h))
            return false;
        add_up(ode, h);
    }
    // As close as rounding in the constraints lets it come.
    return projection_apply(run, ode->at_end, time, ode->next);
}

double
gauss_norm(const Run *run, const double *y, const double *difference)
{
    double sum = 0;
    for (uint32_t k = 0; k < run->model->nx; k++) {
        double part = difference[k] / (run->tolerance * fabs(y[k]) + run->abstol[k]);
        sum += part * part;
    }
    return sqrt(sum / run->model->nx);
}

// How far the slopes are from what the two steps before let expect, times h. Like the error of the step this goes with
// the ninth power of h. INFINITY without two such steps.
static double
surprise_of(const Run *run, double h)
{
    Ode *ode = run->ode;
    double most = 0;
    for (uint32_t i = 0; ode->history == 2 && i < GAUSS_STAGES; i++) {
        size_t first = (size_t)i * ode->n;
        for (uint32_t k = 0; k < ode->n; k++)
            ode->value[k] = h * (ode->stages->slope[first + k] - ode->stages->guess[first + k]);
        most = fmax(most, gauss_norm(run, ode->start, ode->value));
    }
    return ode->history == 2 ? most : INFINITY;
}

bool
gauss_attempt(Run *run, double h)
{
    Ode *ode = run->ode;
    predict(ode, h);
    memcpy(ode->base, ode->start, ode->n * sizeof *ode->base);
    memset(ode->lift, 0, ode->n * sizeof *ode->lift);
    if (!stages_solve(run, ode->stages, ode->from, ode->base, h))
        return false;
    ode->surprise = surprise_of(run, h);
    add_up(ode, h);
    if (!ode->at_end)
        return true;
    double limit = may_give_up(run) ? gauss_noisy(run, IN_STEP) : INFINITY;
    double stages = gauss_nearness_of_stages(run, limit, ode->stages, ode->from, ode->base, h);
    ode->noisy = may_give_up(run) && stages > limit;
    if (ode->noisy || !project_step(run, ode, h))
        return false;
    projection_measure(run, ode->at_end);
    ode->nearness = fmax(stages, gauss_nearness(run, ode->at_end, ode->next));
    ode->noisy = ode->nearness > limit;
    return !ode->noisy;
}

bool
gauss_step_inside(Run *run, Ode *ode, double begin, double length, double h, double *y)
{
    uint32_t n = ode->n;
    for (uint32_t i = 0; i < GAUSS_STAGES; i++) {
        double weight[GAUSS_STAGES], *out = ode->inside->slope + (size_t)i * n;
        collocation_lagrange(ode->method.node, GAUSS_STAGES, begin + ode->method.node[i] * h / length, weight);
        for (uint32_t k = 0; k < n; k++) {
            out[k] = 0;
            for (uint32_t j = 0; j < GAUSS_STAGES; j++)
                out[k] += weight[j] * ode->stages->slope[(size_t)j * n + k];
        }
    }
    double time = ode->from + begin * length;
    if (!stages_solve(run, ode->inside, time, y, h))
        return false;
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t j = 0; j < GAUSS_STAGES; j++)
            y[k] += h * ode->method.weight[j] * ode->inside->slope[(size_t)j * n + k];
    return !ode->at_end || projection_apply(run, ode->at_end, time + h, y);
}
