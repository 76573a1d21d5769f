// outcome.c: outputs of a run with their derivatives.
//
// Purpose: what studies want of a run (frontend/sweep/reduce.h), as smooth functions of free quantities where they are. Method: values are those
// of a study. Each row brings the derivatives of its columns; between rows variables are linear, as there. Rows on both sides of an event move
// with it: with tau, by which its time moves, a value at the event moves by s + tau dx/dt, and an integral by tau times the jump of
// what is integrated. The largest value moves as the row that has it.
// Contract: optimum.h. Complexity: rows times outputs times quantities.
#include "frontend/optimum/optimum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/sweep/reduce.h"

typedef struct Collecting {
    Reduction reduction;
    mdl_sink sink;
    uint32_t width;     // of a row
    bool derivatives;
    bool any;           // there was a row
    double start;
    double *before;     // the last row
    double *extreme;    // of each output: the smallest or largest value so far
    double *crossed;    // of each output FIRST: not 0 when it has been
} Collecting;

bool
outcome_create(Outcome *o, const mdl_model *model, const mdl_options *options, const FreeList *free, const OutputList *outputs, Arena *arena, Diags *diags)
{
    *o = (Outcome){.study = {.output = outputs->at, .outputs = outputs->n}};
    if (!study_bind(&o->study, model, arena, diags, &o->binding))
        return false;
    o->trial = (Trial){.model = model, .free = free, .options = *options, .column = o->binding.column, .columns = o->binding.columns};
    trial_create(&o->trial, arena);
    o->output = arena_array(arena, double, outputs->n + 1);
    o->slope = arena_array(arena, double, (size_t)outputs->n * free->n + 1);
    for (uint32_t k = 0; k < outputs->n; k++)
        o->corners = o->corners || outputs->at[k].kind == OUTPUT_MIN || outputs->at[k].kind == OUTPUT_MAX || outputs->at[k].kind == OUTPUT_FIRST;
    Collecting *c = o->collecting = arena_new(arena, Collecting);
    c->width = 1 + o->trial.columns + (o->trial.columns + 1) * free->n + o->trial.columns;
    c->before = arena_array(arena, double, c->width);
    c->extreme = arena_array(arena, double, outputs->n + 1);
    c->crossed = arena_array(arena, double, outputs->n + 1);
    return reduce_create(&c->reduction, &o->study);
}

void
outcome_free(Outcome *o)
{
    if (o->collecting)
        reduce_free(&o->collecting->reduction);
}

// How the value of a column moves with quantity p: at an event, where rows stand at one time, with the event.
static double
moved(const Outcome *o, const double *row, uint32_t column, uint32_t p, double tau)
{
    return row[trial_derivative(&o->trial, column, p)] + tau * row[trial_rate(&o->trial, column)];
}

static void
move_crossing(const Outcome *o, uint32_t k, const double *from, const double *to, double *slope)
{
    const StudyOutput *output = &o->study.output[k];
    uint32_t column = o->binding.of_output[k], n = o->trial.free->n;
    double x = from[1 + column], y = to[1 + column], length = to[0] - from[0];
    bool beyond = output->below ? y < output->argument : y > output->argument, was = output->below ? x < output->argument : x > output->argument;
    if (!beyond || o->collecting->crossed[k] != 0)
        return;
    o->collecting->crossed[k] = 1;
    for (uint32_t p = 0; p < n; p++) {
        double dx = from[trial_derivative(&o->trial, column, p)], dy = to[trial_derivative(&o->trial, column, p)];
        double part = y != x ? (output->argument - x) / (y - x) : 0;
        if (was)
            slope[p] = 0;
        else if (length > 0)
            slope[p] = -length * ((1 - part) * dx + part * dy) / (y - x);
        else
            slope[p] = to[trial_instant(&o->trial, p)];
    }
}

static void
move_extreme(Outcome *o, uint32_t k, const double *row, bool event, double *slope)
{
    Collecting *c = o->collecting;
    uint32_t column = o->binding.of_output[k];
    double value = row[1 + column];
    bool least = o->study.output[k].kind == OUTPUT_MIN;
    // The row on the other side of an event moves alike where the value does not jump.
    if (c->any && !(least ? value < c->extreme[k] : value > c->extreme[k]))
        return;
    c->extreme[k] = value;
    for (uint32_t p = 0; p < o->trial.free->n; p++)
        slope[p] = moved(o, row, column, p, event ? row[trial_instant(&o->trial, p)] : 0);
}

static void
move_sum(const Outcome *o, uint32_t k, const double *from, const double *to, bool event, double *slope)
{
    uint32_t column = o->binding.of_output[k];
    double x = from[1 + column], y = to[1 + column], length = to[0] - from[0];
    bool square = o->study.output[k].kind == OUTPUT_RMS;
    for (uint32_t p = 0; p < o->trial.free->n; p++) {
        double dx = from[trial_derivative(&o->trial, column, p)], dy = to[trial_derivative(&o->trial, column, p)];
        if (event)
            slope[p] += to[trial_instant(&o->trial, p)] * (square ? x * x - y * y : x - y);
        else
            slope[p] += square ? length * ((2 * x + y) * dx + (x + 2 * y) * dy) / 3 : 0.5 * length * (dx + dy);
    }
}

static void
move_output(Outcome *o, uint32_t k, const double *from, const double *to, bool event)
{
    const StudyOutput *output = &o->study.output[k];
    uint32_t column = o->binding.of_output[k], n = o->trial.free->n;
    double *slope = o->slope + (size_t)k * n, length = to[0] - from[0];
    switch (output->kind) {
    case OUTPUT_FINAL:
        for (uint32_t p = 0; p < n; p++)
            slope[p] = to[trial_derivative(&o->trial, column, p)];
        return;
    case OUTPUT_MIN:
    case OUTPUT_MAX:
        if (event) { // the row before it is one of the event, too
            Collecting *c = o->collecting;
            bool same = c->any && from[1 + column] == c->extreme[k];
            for (uint32_t p = 0; p < n && same; p++)
                slope[p] = moved(o, from, column, p, to[trial_instant(&o->trial, p)]);
        }
        move_extreme(o, k, to, event, slope);
        return;
    case OUTPUT_AT: {
        if (!(from[0] <= output->argument && output->argument <= to[0]))
            return;
        double part = length > 0 ? (output->argument - from[0]) / length : 1;
        for (uint32_t p = 0; p < n; p++)
            slope[p] = (1 - part) * from[trial_derivative(&o->trial, column, p)] + part * to[trial_derivative(&o->trial, column, p)];
        return;
    }
    case OUTPUT_FIRST: move_crossing(o, k, from, to, slope); return;
    default: move_sum(o, k, from, to, event, slope);
    }
}

static void
on_row(void *user, const double *row)
{
    Outcome *o = user;
    Collecting *c = o->collecting;
    c->sink.row(c->sink.self, row, 1 + o->trial.columns);
    if (!c->derivatives)
        return;
    if (!c->any)
        memcpy(c->before, row, c->width * sizeof *row);
    bool event = c->any && row[0] == c->before[0];
    for (uint32_t k = 0; k < o->study.outputs; k++)
        move_output(o, k, c->before, row, event);
    if (!c->any)
        c->start = row[0];
    c->any = true;
    memcpy(c->before, row, c->width * sizeof *row);
}

// What depends on the end: the length of the run, and where terminate() ends it, the time of that event.
static void
end_slopes(Outcome *o)
{
    const Collecting *c = o->collecting;
    const double *row = c->before;
    double span = row[0] - c->start;
    bool moves = row[0] < o->trial.options.stop;
    for (uint32_t k = 0; k < o->study.outputs; k++)
        for (uint32_t p = 0; p < o->trial.free->n; p++) {
            OutputKind kind = o->study.output[k].kind;
            uint32_t column = o->binding.of_output[k];
            double *slope = &o->slope[(size_t)k * o->trial.free->n + p], x = row[1 + column], value = o->output[k];
            double later = moves ? row[trial_instant(&o->trial, p)] : 0;
            if (kind == OUTPUT_FINAL)
                *slope += later * row[trial_rate(&o->trial, column)];
            else if (kind == OUTPUT_INTEGRAL)
                *slope += later * x;
            else if (kind == OUTPUT_MEAN)
                *slope = span > 0 ? (*slope + later * (x - value)) / span : row[trial_derivative(&o->trial, column, p)];
            else if (kind == OUTPUT_RMS)
                *slope = span > 0 && value > 0 ? (*slope + later * (x * x - value * value)) / (2 * span * value) : 0;
        }
}

bool
outcome_run(Outcome *o, const double *x, bool derivatives)
{
    Collecting *c = o->collecting;
    uint32_t n = o->trial.free->n, outputs = o->study.outputs;
    c->derivatives = derivatives;
    c->any = false;
    c->start = 0;
    memset(o->slope, 0, (size_t)outputs * n * sizeof *o->slope);
    memset(c->crossed, 0, outputs * sizeof *c->crossed);
    reduce_begin(&c->reduction, &o->binding);
    c->sink = reduce_sink(&c->reduction);
    if (!trial_run(&o->trial, x, derivatives, on_row, o))
        return false;
    reduce_end(&c->reduction);
    memcpy(o->output, c->reduction.value, outputs * sizeof *o->output);
    if (derivatives)
        end_slopes(o);
    return true;
}
