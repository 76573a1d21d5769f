// reduce.c: from the rows of a run to its outputs.
//
// Purpose: a run of a study leaves some numbers. Method: rows are looked at as they come, so that none has to be kept; they are those of the
// result of mdlc run: at output points and on both sides of events. Between rows variables are taken to be linear, in integrals, means and at
// times between them.
// Contract: reduce.h. Complexity: rows times outputs.
#include "frontend/sweep/reduce.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool
reduce_create(Reduction *r, const Study *study)
{
    *r = (Reduction){.study = study, .value = calloc((size_t)study->outputs + 1, sizeof *r->value),
                     .before = calloc((size_t)study->outputs + study->kept + 2, sizeof *r->before)};
    return r->value && r->before;
}

void
reduce_free(Reduction *r)
{
    free(r->value);
    free(r->before);
    vec_free(&r->kept);
}

void
reduce_begin(Reduction *r, const Binding *binding)
{
    r->binding = binding;
    r->rows = 0;
    vec_clear(&r->kept);
    for (uint32_t k = 0; k < r->study->outputs; k++) {
        OutputKind kind = r->study->output[k].kind;
        r->value[k] = kind == OUTPUT_MEAN || kind == OUTPUT_RMS || kind == OUTPUT_INTEGRAL ? 0 : NAN;
    }
}

// A value that is not a number stays: fmin() and fmax() would lose it.
static double
least(double a, double b)
{
    return isnan(a) || a < b ? a : b;
}

static double
most(double a, double b)
{
    return isnan(a) || a > b ? a : b;
}

// Where the line from x at `from` to y at `to` comes beyond the limit.
static double
crossing(double from, double x, double to, double y, double limit)
{
    return y == x || to == from ? to : from + (to - from) * fmin(fmax((limit - x) / (y - x), 0), 1);
}

static void
add_row(const StudyOutput *output, double *sum, double from, double x, double to, double y)
{
    double length = to - from;
    switch (output->kind) {
    case OUTPUT_FINAL: *sum = y; return;
    case OUTPUT_MIN: *sum = least(*sum, y); return;
    case OUTPUT_MAX: *sum = most(*sum, y); return;
    case OUTPUT_MEAN:
    case OUTPUT_INTEGRAL: *sum += length > 0 ? 0.5 * length * (x + y) : 0; return;
    case OUTPUT_RMS: *sum += length > 0 ? length * (x * x + x * y + y * y) / 3 : 0; return;
    case OUTPUT_AT:
        if (from <= output->argument && output->argument <= to)
            *sum = to == from ? y : x + (y - x) * ((output->argument - from) / length);
        return;
    case OUTPUT_FIRST: {
        bool beyond = output->below ? y < output->argument : y > output->argument;
        bool was = output->below ? x < output->argument : x > output->argument;
        if (isnan(*sum) && beyond)
            *sum = was ? from : crossing(from, x, to, y, output->argument);
        return;
    }
    }
}

static int
on_row(void *self, const double *value, uint32_t count)
{
    Reduction *r = self;
    const Study *study = r->study;
    if (!r->rows++) {
        memcpy(r->before, value, count * sizeof *value);
        r->start = value[0];
        for (uint32_t k = 0; k < study->outputs; k++) {
            OutputKind kind = study->output[k].kind;
            if (kind == OUTPUT_MIN || kind == OUTPUT_MAX)
                r->value[k] = value[1 + r->binding->of_output[k]];
        }
    }
    for (uint32_t k = 0; k < study->outputs; k++) {
        uint32_t column = 1 + r->binding->of_output[k];
        add_row(&study->output[k], &r->value[k], r->before[0], r->before[column], value[0], value[column]);
    }
    memcpy(r->before, value, count * sizeof *value);
    if (study->keep) {
        vec_push(&r->kept, value[0]);
        vec_append(&r->kept, value + 1 + r->binding->columns - study->kept, study->kept);
    }
    return 0;
}

mdl_sink
reduce_sink(Reduction *r)
{
    return (mdl_sink){.self = r, .row = on_row};
}

void
reduce_end(Reduction *r)
{
    double span = r->before[0] - r->start;
    for (uint32_t k = 0; k < r->study->outputs && r->rows; k++) {
        double last = r->before[1 + r->binding->of_output[k]];
        if (r->study->output[k].kind == OUTPUT_MEAN)
            r->value[k] = span > 0 ? r->value[k] / span : last;
        if (r->study->output[k].kind == OUTPUT_RMS)
            r->value[k] = span > 0 ? sqrt(fmax(r->value[k] / span, 0)) : fabs(last);
    }
}
