// gauss_dense.c: values between the steps of the Gauss method.
//
// Purpose: rows, events and delays at any time of the last step.
// Method: collocation itself is only of order 4 there, so two points inside the step, away from singular positions, are computed with the same
//         method, and a polynomial of degree 7 goes through values and slopes at all four (Newton's divided differences).
// Contract: gauss_inner.h. Complexity: two steps for the first value of each step, then the degree.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/solver/ensemble_inner.h"
#include "runtime/solver/gauss_inner.h"
#include "runtime/step/step.h"

const double gauss_places[GAUSS_POINTS] = {0, 1 / 3.0, 2 / 3.0, 1};

static const double BETWEEN = 1;          // the same for values between steps: they do no harm to later ones

// Value and slope at point p of the last step from its neighbour `from`, whose value is known. False: a singular position is so near
// that they cannot be computed, or that rounding makes the slopes.
static bool
inner_point(Run *run, const double *place, int p, int from, double *y, double *f)
{
    Ode *ode = run->ode;
    size_t n = ode->n;
    double begin = place[from], h = ode->length * (place[p] - begin), time = ode->from + begin * ode->length;
    double *value = y + (size_t)p * n, *known = y + (size_t)from * n, limit = gauss_noisy(run, BETWEEN);
    memcpy(value, known, n * sizeof *value);
    return gauss_step_inside(run, ode, begin, ode->length, h, value) && stages_slope(run, ode->inside, time + h, value, f + (size_t)p * n)
           && (!ode->at_end || (gauss_nearness_of_stages(run, limit, ode->inside, time, known, h) <= limit
                                && gauss_nearness(run, ode->at_end, value) <= limit));
}

// How much the slopes of the stages add from the start of the step to the fraction `place` of it, in units of its length: their polynomial,
// integrated exactly by the method's own rule (Hairer, Lubich and Wanner, Geometric Numerical Integration, II.1.2).
static void
integrated_weights(const Collocation *method, double place, double *weight)
{
    double value[GAUSS_STAGES];
    memset(weight, 0, GAUSS_STAGES * sizeof *weight);
    for (uint32_t q = 0; q < GAUSS_STAGES; q++) {
        collocation_lagrange(method->node, GAUSS_STAGES, place * method->node[q], value);
        for (uint32_t j = 0; j < GAUSS_STAGES; j++)
            weight[j] += place * method->weight[q] * value[j];
    }
}

// What the collocation polynomial says, which leads from the start of the step to its end.
static void
guess_point(const Run *run, const double *place, int p, double *y, double *f)
{
    const Ode *ode = run->ode;
    double slope_weight[GAUSS_STAGES], weight[GAUSS_STAGES], whole[GAUSS_STAGES];
    size_t n = ode->n;
    double *value = y + (size_t)p * n, *slope = f + (size_t)p * n;
    collocation_lagrange(ode->method.node, GAUSS_STAGES, place[p], slope_weight);
    integrated_weights(&ode->method, place[p], weight);
    integrated_weights(&ode->method, 1, whole);
    for (size_t k = 0; k < n; k++) {
        double there = ode->start[k], end = ode->start[k];
        slope[k] = 0;
        for (uint32_t j = 0; j < GAUSS_STAGES; j++) {
            double of_stage = ode->stages->slope[(size_t)j * n + k];
            slope[k] += slope_weight[j] * of_stage;
            there += ode->length * weight[j] * of_stage;
            end += ode->length * whole[j] * of_stage;
        }
        value[k] = there + place[p] * (run->y[k] - end); // the projection has moved the end
    }
}

// Values and slopes at the fractions `place` of the last step, the first and last ones known: forwards up to a singular position, and
// from the end of the step backwards to it. False: not all of them.
static bool
inner_points(Run *run, const double *place, double *y, double *f)
{
    Ode *ode = run->ode;
    size_t n = ode->n;
    int first = 1, last = GAUSS_POINTS - 2;
    memcpy(y, ode->start, n * sizeof *y);
    memcpy(f, ode->slope, n * sizeof *f);
    memcpy(y + (GAUSS_POINTS - 1) * n, run->y, n * sizeof *y);
    memcpy(f + (GAUSS_POINTS - 1) * n, run->yp, n * sizeof *f);
    while (first <= last && inner_point(run, place, first, first - 1, y, f))
        first++;
    while (last >= first && inner_point(run, place, last, last + 1, y, f))
        last--;
    for (int p = first; p <= last; p++)
        guess_point(run, place, p, y, f);
    return first > last;
}

// Newton's divided differences over the points, each taken twice.
static bool
make_dense(Run *run)
{
    Ode *ode = run->ode;
    uint32_t n = ode->n;
    double *y = calloc((size_t)2 * GAUSS_POINTS * n + 1, sizeof *y), *f = y + (size_t)GAUSS_POINTS * n;
    if (!y)
        return false;
    static const double others[][GAUSS_POINTS] = {{0, 0.26, 0.6, 1}, {0, 0.4, 0.74, 1}};
    const double *place = gauss_places;
    for (size_t k = 0; !inner_points(run, place, y, f) && k < sizeof others / sizeof *others; k++)
        place = others[k];
    memcpy(ode->place, place, sizeof ode->place);
    for (uint32_t k = 0; k < n; k++) {
        double d[2 * GAUSS_POINTS], x[2 * GAUSS_POINTS];
        for (int i = 0; i < 2 * GAUSS_POINTS; i++) {
            x[i] = ode->place[i / 2];
            d[i] = y[(size_t)(i / 2) * n + k];
        }
        for (int order = 1; order < 2 * GAUSS_POINTS; order++)
            for (int i = 2 * GAUSS_POINTS - 1; i >= order; i--)
                d[i] = x[i] == x[i - order] ? ode->length * f[(size_t)(i / 2) * n + k]
                                            : (d[i] - d[i - 1]) / (x[i] - x[i - order]);
        for (int i = 0; i < 2 * GAUSS_POINTS; i++)
            ode->divided[(size_t)i * n + k] = d[i];
    }
    free(y);
    ode->dense = true;
    return true;
}

int
gauss_interpolate(Run *run, double time)
{
    Ode *ode = run->ode;
    if (time == run->time || !(ode->length > 0)) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    if (!ode->dense && ode->beside)
        (void)run->ensemble->method->between(run);
    if (!ode->dense && !make_dense(run)) {
        run_message(run, MDL_ERROR, "at time %.12g: out of memory for the values between steps", time);
        return MDL_INTERNAL;
    }
    double at = (time - ode->from) / ode->length;
    for (uint32_t k = 0; k < ode->n; k++) {
        double value = 0, rate = 0;
        for (int i = 2 * GAUSS_POINTS - 1; i >= 0; i--) {
            double x = ode->place[i / 2];
            rate = rate * (at - x) + value;
            value = value * (at - x) + ode->divided[(size_t)i * ode->n + k];
        }
        ode->value[k] = value;
        ode->rate[k] = rate / ode->length;
    }
    if (ode->at_end)
        (void)projection_between(run, ode->at_end, time, ode->value);
    evaluate_load(run, time, ode->value, ode->rate);
    return MDL_OK;
}
