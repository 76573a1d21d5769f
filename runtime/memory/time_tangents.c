// time_tangents.c: derivatives of delay times that the dynamics compute.
//
// Purpose: u(t - d) moves by s(t - d) - u'(t - d)*dd, and dd is itself a result of the tangents of the dynamics, in which that derivative stands.
// Method: all of it is linear: with the derivatives z of the times given, the tangents say g + A z of them. Pass 0 says g; where no time follows from
//         what times delay, A g = 0 and pass 1 is the last. Otherwise one pass for each time measures A, z = (I - A)^-1 g by elimination
//         with pivots, and one more pass has it. (Hartung, Krisztin, Walther and Wu, Functional Differential Equations with State-Dependent Delays,
//         2006, section 4, has the derivatives.) Where I - A is singular they are not finite, which the integrator tells.
// Contract: time_tangents.h. Complexity: two passes, or n + 3 of them and n^3.
#include "runtime/memory/time_tangents.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/point/sense.h"

static const double SAME = 1e-14; // of the derivatives: the passes agree

bool
time_tangents_create(TimeTangents *tangents, const mdl_model *model)
{
    size_t n = 0;
    for (uint32_t k = 0; k < model->n_delays; k++)
        n += model->delay[k].moving != 0;
    tangents->delay = calloc(n + 1, sizeof *tangents->delay);
    tangents->base = calloc(n * (n + 3) + 1, sizeof *tangents->base);
    if (!tangents->delay || !tangents->base)
        return false;
    tangents->used = tangents->base + n;
    tangents->first = tangents->used + n;
    tangents->matrix = tangents->first + n;
    for (uint32_t k = 0; k < model->n_delays; k++)
        if (model->delay[k].moving)
            tangents->delay[tangents->n++] = k;
    return true;
}

void
time_tangents_free(TimeTangents *tangents)
{
    free(tangents->delay);
    free(tangents->base);
    *tangents = (TimeTangents){0};
}

static void
give(const Run *run, const TimeTangents *tangents, const double *slope)
{
    for (uint32_t i = 0; i < tangents->n; i++) {
        uint32_t k = tangents->delay[i];
        *tangent_at(run->sense->tangent, run->model->delay[k].value) = tangents->base[i] - slope[k] * tangents->used[i];
    }
}

static void
unit(TimeTangents *tangents, uint32_t column)
{
    for (uint32_t i = 0; i < tangents->n; i++)
        tangents->used[i] = i == column;
}

// used = (I - A)^-1 first; the matrix and `first` are used up.
static void
solve(TimeTangents *tangents)
{
    uint32_t n = tangents->n;
    double *a = tangents->matrix, *b = tangents->first;
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t j = 0; j < n; j++)
            a[i * n + j] = (i == j) - a[i * n + j];
    for (uint32_t c = 0; c < n; c++) {
        uint32_t best = c;
        for (uint32_t i = c + 1; i < n; i++)
            best = fabs(a[i * n + c]) > fabs(a[best * n + c]) ? i : best;
        for (uint32_t j = 0; j < n && best != c; j++) {
            double kept = a[c * n + j];
            a[c * n + j] = a[best * n + j];
            a[best * n + j] = kept;
        }
        double kept = b[c];
        b[c] = b[best];
        b[best] = kept;
        for (uint32_t i = c + 1; i < n; i++) {
            double factor = a[i * n + c] / a[c * n + c];
            for (uint32_t j = c; j < n; j++)
                a[i * n + j] -= factor * a[c * n + j];
            b[i] -= factor * b[c];
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        double sum = b[i];
        for (uint32_t j = i + 1; j < n; j++)
            sum -= a[i * n + j] * tangents->used[j];
        tangents->used[i] = sum / a[i * n + i];
    }
}

// Pass 0 has said `first`; those that move are given to pass 1.
static void
begin(const Run *run, TimeTangents *tangents)
{
    for (uint32_t i = 0; i < tangents->n; i++) {
        tangents->base[i] = *tangent_at(run->sense->tangent, run->model->delay[tangents->delay[i]].value);
        tangents->used[i] = tangents->first[i] = delay_tangent(run, tangents->delay[i]);
    }
}

// Whether pass 1 says what it was given: then no time follows from delayed values.
static bool
agrees(const Run *run, const TimeTangents *tangents)
{
    for (uint32_t i = 0; i < tangents->n; i++) {
        double said = delay_tangent(run, tangents->delay[i]), given = tangents->used[i];
        if (!(fabs(said - given) <= SAME * (fabs(said) + fabs(given))))
            return false;
    }
    return true;
}

bool
time_tangents_choose(const Run *run, TimeTangents *tangents, const double *slope, unsigned pass)
{
    uint32_t n = tangents->n;
    if (pass == 0) {
        begin(run, tangents);
    } else if (pass == 1) {
        if (agrees(run, tangents))
            return false;
        unit(tangents, 0);
    } else if (pass < n + 2) {
        // What the pass says is first + A e.
        for (uint32_t i = 0; i < n; i++)
            tangents->matrix[i * n + pass - 2] = delay_tangent(run, tangents->delay[i]) - tangents->first[i];
        unit(tangents, pass - 1);
        if (pass == n + 1)
            solve(tangents);
    } else {
        return false;
    }
    give(run, tangents, slope);
    return true;
}
