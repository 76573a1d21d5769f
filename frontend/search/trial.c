// trial.c: one run of a search.
//
// Purpose: the model as a function of its free quantities. Method: mdl_simulate() with their values as overrides; rows go to whoever
// searches. Derivatives are those of forward sensitivities (runtime/study/sensitivities.c), in places behind those of the model.
// Contract: search.h. Complexity: that of a run; with derivatives, of as many more as there are free quantities.
#include "frontend/search/search.h"

#include <stdio.h>
#include <string.h>

typedef struct RowSink {
    TrialRow *row;
    void *user;
} RowSink;

static int
on_row(void *self, const double *value, uint32_t count)
{
    const RowSink *sink = self;
    (void)count;
    sink->row(sink->user, value);
    return 0;
}

static void
keep_message(void *user, mdl_severity severity, const char *text)
{
    Trial *trial = user;
    size_t length = strcspn(text, "\n");
    if (severity == MDL_ERROR && !*trial->said)
        snprintf(trial->said, sizeof trial->said, "%.*s", (int)(length < sizeof trial->said ? length : sizeof trial->said - 1), text);
}

// A further column; the next one.
static mdl_output *
put_output(mdl_output *at, const char *name, uint32_t place, uint32_t declaration)
{
    *at = (mdl_output){name, place, 1, MDL_REAL, MDL_OUTPUT_PARAMETER, declaration};
    return at + 1;
}

// The model with columns for derivatives, in the order of trial_derivative(), trial_instant() and trial_rate().
void
trial_create(Trial *trial, Arena *arena)
{
    const mdl_model *model = trial->model;
    uint32_t n = trial->free->n, columns = trial->columns, more = (columns + 1) * n + columns;
    double *v0 = arena_array(arena, double, model->nv + more + 1);
    mdl_output *output = arena_array(arena, mdl_output, model->n_outputs + more + 1), *at = output + model->n_outputs;
    mdl_declaration *declaration = arena_array(arena, mdl_declaration, model->n_declarations + 1);
    uint32_t *parameter = arena_array(arena, uint32_t, n + 1);
    memcpy(v0, model->v0, model->nv * sizeof *v0);
    memcpy(output, model->output, model->n_outputs * sizeof *output);
    if (model->n_declarations)
        memcpy(declaration, model->declaration, model->n_declarations * sizeof *declaration);
    trial->sense = (mdl_sense){.parameter = parameter, .n = n, .output = trial->column, .outputs = columns, .place = model->nv,
                               .instants = model->nv + columns * n, .rates = model->nv + (columns + 1) * n};
    for (uint32_t k = 0; k < n; k++)
        parameter[k] = trial->free->at[k].settable;
    for (uint32_t c = 0; c < columns; c++)
        for (uint32_t k = 0; k < n; k++)
            at = put_output(at, arena_printf(arena, "d(%s)/d(%s)", model->output[trial->column[c]].name, trial->free->at[k].name),
                            trial->sense.place + c * n + k, model->n_declarations);
    for (uint32_t k = 0; k < n; k++)
        at = put_output(at, arena_printf(arena, "d(time of event)/d(%s)", trial->free->at[k].name), trial->sense.instants + k, model->n_declarations);
    for (uint32_t c = 0; c < columns; c++)
        at = put_output(at, arena_printf(arena, "der(%s)", model->output[trial->column[c]].name), trial->sense.rates + c, model->n_declarations);
    trial->wide = *model;
    trial->wide.nv += more;
    trial->wide.v0 = v0;
    trial->wide.output = output;
    trial->wide.n_outputs += more;
    trial->wide.declaration = declaration;
    trial->wide.n_declarations++;
    trial->wide_column = arena_array(arena, uint32_t, columns + more + 1);
    for (uint32_t c = 0; c < columns; c++)
        trial->wide_column[c] = trial->column[c];
    for (uint32_t k = 0; k < more; k++)
        trial->wide_column[columns + k] = model->n_outputs + k;
    trial->place = arena_array(arena, mdl_override, trial->overrides + 2 * n + 1);
    if (trial->overrides)
        memcpy(trial->place, trial->override, trial->overrides * sizeof *trial->place);
}

// Tangents of several quantities at once, from when on runs have taken about as long as compiling them does. The digits are the same.
static const mdl_directions *
choose_directions(Trial *trial)
{
    enum { ENOUGH = 20000, FEW = 4 };
    const TrialCompiler *compiler = trial->compiler;
    if (!compiler || trial->free->n < 2 || (trial->sides * trial->free->n < ENOUGH && !compiler->at_once))
        return NULL;
    return compiler->directions(compiler->engine, trial->free->n > FEW ? 2 * FEW : FEW);
}

bool
trial_run(Trial *trial, const double *x, bool derivatives, TrialRow *row, void *user)
{
    RowSink sink = {row, user};
    const mdl_sink rows = {.self = &sink, .row = on_row};
    uint32_t n = trial->overrides, more = trial->wide.n_outputs - trial->model->n_outputs;
    mdl_options options = trial->options;
    mdl_stats stats;
    for (uint32_t k = 0; k < trial->free->n; k++) {
        const mdl_settable *settable = &trial->model->settable[trial->free->at[k].settable];
        trial->place[n++] = (mdl_override){settable->value, x[k]};
        if (settable->given)
            trial->place[n++] = (mdl_override){settable->given, 1};
    }
    options.override = trial->place;
    options.overrides = n;
    options.column = trial->wide_column;
    options.columns = trial->columns + (derivatives ? more : 0);
    options.sense = derivatives ? &trial->sense : NULL;
    options.directions = derivatives ? choose_directions(trial) : NULL;
    options.sink = &rows;
    options.no_ranges = true;
    options.message = keep_message;
    options.user = trial;
    trial->said[0] = '\0';
    int status = mdl_simulate(&trial->wide, &options, &stats);
    trial->runs++;
    trial->sides += derivatives ? stats.residuals : 0;
    trial->together += stats.directions;
    trial->failed += status != MDL_OK;
    if (status != MDL_OK && !*trial->said)
        snprintf(trial->said, sizeof trial->said, status == MDL_INTERRUPTED ? "interrupted" : "the run failed");
    return status == MDL_OK;
}
