// embed_run.c: whole runs for other programs, their rows in one block.
//
// Purpose: languages that reach functions only get a trajectory by one call, without a file and without a copy. Method: mdl_simulate() with a
// sink that appends to one block, which doubles: large blocks are moved by the system's tables, not copied. Messages are gathered as text.
// Contract: embed.h. Complexity: that of the run.
#include "runtime/shell/embed_inner.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/clock.h"
#include "runtime/shell/options.h"

typedef struct Gathering {
    mdl_simulation *simulation;
    const mdl_request *request;
    mdl_trajectory *out;
    size_t capacity, said, said_capacity; // of values, of the messages
} Gathering;

void
mdl_request_default(mdl_request *request)
{
    *request = (mdl_request){.start = NAN, .stop = NAN, .interval = NAN, .step = NAN, .abstol = NAN};
}

void
mdl_trajectory_free(mdl_trajectory *t)
{
    free(t->value);
    free(t->column);
    free(t->messages);
    *t = (mdl_trajectory){0};
}

static void
on_message(void *user, mdl_severity severity, const char *text)
{
    static const char *const names[] = {[MDL_NOTE] = "note", [MDL_WARNING] = "warning", [MDL_ERROR] = "error"};
    Gathering *g = user;
    size_t more = strlen(text) + 16;
    snprintf(g->simulation->said, sizeof g->simulation->said, "%s", text);
    if (g->said + more > g->said_capacity) {
        size_t capacity = 2 * (g->said + more);
        char *moved = realloc(g->out->messages, capacity);
        if (!moved)
            return; // the last message is kept in any case
        g->out->messages = moved;
        g->said_capacity = capacity;
    }
    g->said += (size_t)sprintf(g->out->messages + g->said, "%s: %s\n", names[severity], text);
}

static void
on_progress(void *user, double time, double start, double stop)
{
    const Gathering *g = user;
    g->request->progress(g->request->user, time, start, stop);
}

// Of a sink.
static int
take_row(void *self, const double *value, uint32_t count)
{
    Gathering *g = self;
    size_t used = g->out->rows * count;
    if (used + count > g->capacity) {
        size_t capacity = 2 * g->capacity + 64 * (size_t)count;
        double *moved = realloc(g->out->value, capacity * sizeof *moved);
        if (!moved)
            return ENOMEM;
        g->out->value = moved;
        g->capacity = capacity;
    }
    memcpy(g->out->value + used, value, count * sizeof *value);
    g->out->rows++;
    return 0;
}

// Handles as columns; those of results where none are named.
MDL_CHECKED static int
choose_columns(Gathering *g, uint32_t **column)
{
    const mdl_request *request = g->request;
    const mdl_model *model = g->simulation->model;
    uint32_t most = request->column ? (uint32_t)request->columns : model->n_outputs;
    *column = calloc((size_t)most + 1, sizeof **column);
    g->out->column = calloc((size_t)most + 1, sizeof *g->out->column);
    if (!*column || !g->out->column)
        return MDL_INTERNAL;
    for (uint32_t k = 0; k < most; k++) {
        int handle = request->column ? request->column[k] : (int)k;
        if (handle < 0 || (uint32_t)handle >= model->n_outputs) {
            on_message(g, MDL_ERROR, "a handle is not one of this model's");
            return MDL_USAGE;
        }
        if (!request->column && model->output[k].on_request != MDL_OUTPUT_ALWAYS)
            continue;
        (*column)[g->out->columns] = (uint32_t)handle;
        g->out->column[g->out->columns++] = handle;
    }
    return MDL_OK;
}

// The words of the command line for numbers of the interface.
MDL_CHECKED static int
take_words(Gathering *g, RunSettings *settings)
{
    const mdl_request *r = g->request;
    if (r->solver < 0 || r->solver > MDL_SOLVER_AUTO || r->form < MDL_FORM_AUTO || r->form > MDL_FORM_DAE || r->points < 0) {
        on_message(g, MDL_ERROR, "the request has a solver, a form or a number of points that there is not");
        return MDL_USAGE;
    }
    run_settings_init(settings);
    settings->start = r->start;
    settings->stop = r->stop;
    settings->interval = r->interval;
    settings->abstol = r->abstol;
    settings->step = r->step;
    settings->points = (uint32_t)r->points;
    settings->steps = r->steps != 0;
    settings->assemble = r->assemble != 0;
    settings->solver = r->solver ? (mdl_solver)(r->solver - 1) : MDL_SOLVER_AUTO;
    settings->form = (mdl_form)r->form;
    settings->limit_time = r->time_limit;
    if (!isnan(r->interval) && r->points) {
        on_message(g, MDL_ERROR, "interval and points both say where results are: give one of them");
        return MDL_USAGE;
    }
    return MDL_OK;
}

MDL_CHECKED static int
simulate(Gathering *g, const RunSettings *settings, const uint32_t *column)
{
    const mdl_simulation *s = g->simulation;
    const mdl_sink sink = {.self = g, .row = take_row};
    mdl_options options;
    mdl_stats stats = {0};
    run_settings_apply(settings, s->model, &options);
    options.tolerance = s->options.tolerance;
    options.override = s->override;
    options.overrides = s->options.overrides;
    options.sink = &sink;
    options.column = column;
    options.columns = (uint32_t)g->out->columns;
    options.interrupt = g->request->interrupt;
    options.message = on_message;
    options.progress = g->request->progress ? on_progress : NULL;
    options.user = g;
    double began = clock_seconds();
    int status = mdl_simulate(s->model, &options, &stats);
    g->out->seconds = clock_seconds() - began;
    g->out->end = stats.end_time;
    g->out->steps = stats.steps;
    g->out->events = stats.events;
    return status;
}

int
mdl_trajectory_run(mdl_simulation *s, const mdl_request *request, mdl_trajectory *out)
{
    Gathering g = {.simulation = s, .request = request, .out = out};
    RunSettings settings;
    uint32_t *column = NULL;
    *out = (mdl_trajectory){.messages = calloc(1, 1)};
    s->said[0] = '\0';
    int status = out->messages ? take_words(&g, &settings) : MDL_INTERNAL;
    if (status == MDL_OK)
        status = choose_columns(&g, &column);
    if (status == MDL_OK)
        status = simulate(&g, &settings, column);
    free(column);
    return status;
}
