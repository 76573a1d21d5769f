// past_tangents.c: derivatives of values of the past that are looked up with what the dynamics compute.
//
// Purpose: u(t - d) moves by s(t - d) - u'(t - d)*dd, and dd is itself a result of the tangents of the dynamics, in which that derivative stands. So does
//         what leaves a profile with the position that it has moved to.
// Method: all of it is linear: with the derivatives z of the places given, the tangents say g + A z of them. Pass 0 says g; where no place follows from
//         what is looked up, A g = 0 and pass 1 is the last. Otherwise one pass for each place measures A, z = (I - A)^-1 g by elimination
//         with pivots, and one more pass has it. (Hartung, Krisztin, Walther and Wu, Functional Differential Equations with State-Dependent Delays,
//         2006, section 4, has the derivatives.) Where I - A is singular they are not finite, which the integrator tells.
// Contract: past_tangents.h. Complexity: two passes, or n + 3 of them and n^3.
#include "runtime/point/past_tangents.h"

#include <math.h>
#include <stdlib.h>

static const double SAME = 1e-14; // of the derivatives: the passes agree

bool
past_tangents_create(PastTangents *past, const mdl_model *model)
{
    size_t n = (size_t)model->n_delays + model->n_transports, values = (size_t)model->n_delays + 4 * (size_t)model->n_transports;
    past->place = calloc(n + 1, sizeof *past->place);
    past->value = calloc(values + 1, sizeof *past->value);
    past->matrix = calloc(n * n + 1, sizeof *past->matrix);
    return past->place && past->value && past->matrix;
}

void
past_tangents_free(PastTangents *past)
{
    free(past->place);
    free(past->value);
    free(past->matrix);
    *past = (PastTangents){0};
}

void
past_tangents_add(PastTangents *past, uint32_t place, int32_t sign, uint32_t value, double base, double slope)
{
    const PastPlace *last = past->n ? &past->place[past->n - 1] : NULL;
    if (!last || last->place != place || last->sign != sign)
        past->place[past->n++] = (PastPlace){.place = place, .sign = sign};
    past->value[past->values++] = (PastValue){value, past->n - 1, base, slope};
}

static double
said_of(const Tangent *tangent, const PastPlace *place)
{
    return place->sign * *tangent_at(tangent, place->place);
}

static void
give(const Tangent *tangent, const PastTangents *past)
{
    for (uint32_t i = 0; i < past->values; i++) {
        const PastValue *value = &past->value[i];
        *tangent_at(tangent, value->value) = value->base - value->slope * past->place[value->with].used;
    }
}

static void
unit(PastTangents *past, uint32_t column)
{
    for (uint32_t i = 0; i < past->n; i++)
        past->place[i].used = i == column;
}

// used = (I - A)^-1 first; the matrix and `first` are used up.
static void
solve(PastTangents *past)
{
    uint32_t n = past->n;
    double *a = past->matrix;
    PastPlace *b = past->place;
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
        double kept = b[c].first;
        b[c].first = b[best].first;
        b[best].first = kept;
        for (uint32_t i = c + 1; i < n; i++) {
            double factor = a[i * n + c] / a[c * n + c];
            for (uint32_t j = c; j < n; j++)
                a[i * n + j] -= factor * a[c * n + j];
            b[i].first -= factor * b[c].first;
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        double sum = b[i].first;
        for (uint32_t j = i + 1; j < n; j++)
            sum -= a[i * n + j] * b[j].used;
        b[i].used = sum / a[i * n + i];
    }
}

// Whether pass 1 says what it was given: then no place follows from what is looked up.
static bool
agrees(const Tangent *tangent, const PastTangents *past)
{
    for (uint32_t i = 0; i < past->n; i++) {
        double said = said_of(tangent, &past->place[i]), given = past->place[i].used;
        if (!(fabs(said - given) <= SAME * (fabs(said) + fabs(given))))
            return false;
    }
    return true;
}

bool
past_tangents_choose(const Tangent *tangent, PastTangents *past, unsigned pass)
{
    uint32_t n = past->n;
    if (pass == 0) {
        for (uint32_t i = 0; i < n; i++)
            past->place[i].used = past->place[i].first = said_of(tangent, &past->place[i]);
    } else if (pass == 1) {
        if (agrees(tangent, past))
            return false;
        unit(past, 0);
    } else if (pass < n + 2) {
        // What the pass says is first + A e.
        for (uint32_t i = 0; i < n; i++)
            past->matrix[i * n + pass - 2] = said_of(tangent, &past->place[i]) - past->place[i].first;
        unit(past, pass - 1);
        if (pass == n + 1)
            solve(past);
    } else {
        return false;
    }
    give(tangent, past);
    return true;
}
