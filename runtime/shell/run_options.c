// run_options.c: the options of a run.
//
// Purpose: `mdlc run` and built programs take the same options. Method: a table (run_options.def); a row says how its value is stored.
// Contract: options.h. Complexity: constant for each option, but for --set: linear in what was set before.
#include "runtime/shell/options.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/list.h"
#include "runtime/model/number.h"

const Option run_options[] = {
#define OPTION(id, action, ...) {__VA_ARGS__},
#include "runtime/shell/run_options.def"
};
const uint32_t run_options_count = sizeof run_options / sizeof *run_options;
enum {
#define OPTION(id, action, ...) RUN_##id,
#include "runtime/shell/run_options.def"
};

void
run_settings_init(RunSettings *settings)
{
    *settings = (RunSettings){.start = NAN, .stop = NAN, .interval = NAN, .tolerance = NAN, .abstol = NAN, .step = NAN,
                              .solver = MDL_SOLVER_AUTO};
}

void
run_settings_free(RunSettings *settings)
{
    for (uint32_t i = 0; i < settings->n_set; i++)
        free((void *)(uintptr_t)settings->set[i].name);
    free(settings->set);
    settings->set = NULL;
    settings->n_set = 0;
}

static bool
take_set(RunSettings *settings, const char *text, char why[OPTION_WHY])
{
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || !equals[1]) {
        snprintf(why, OPTION_WHY, "--set needs NAME=VALUE, got '%s'", text);
        return false;
    }
    size_t length = (size_t)(equals - text);
    uint32_t at = 0; // a later value replaces an earlier one
    while (at < settings->n_set && (strncmp(settings->set[at].name, text, length) || settings->set[at].name[length]))
        at++;
    bool first = at == settings->n_set;
    char *name = first && list_room(&settings->set, at, sizeof *settings->set) ? strndup(text, length) : NULL;
    if (first && !name) {
        snprintf(why, OPTION_WHY, "memory is exhausted");
        return false;
    }
    if (first)
        settings->set[settings->n_set++].name = name;
    settings->set[at].value = equals + 1;
    return true;
}

// The name of a model after -o is a slip that would cost the model.
static bool
is_no_model(const char *path, char why[OPTION_WHY])
{
    const char *dot = strrchr(path, '.');
    if (!dot || (strcmp(dot, ".mdl") && strcmp(dot, ".mo")))
        return true;
    snprintf(why, OPTION_WHY, "-o says what to write, and '%s' is the name of a model: it is left as it is", path);
    return false;
}

static bool
one_grid(const RunSettings *settings, char why[OPTION_WHY])
{
    if (isnan(settings->interval) || !settings->points)
        return true;
    snprintf(why, OPTION_WHY, "--interval and --points both say where results are: give one of them");
    return false;
}

static bool
take_stats(RunSettings *s, const char *value)
{
    s->stats = true;
    s->stats_json = value && strstr(value, "json");
    s->stats_long = value && strncmp(value, "long", 4) == 0;
    return true;
}

static bool
take_estimate(RunSettings *s, const char *value)
{
    s->estimate = true;
    s->estimate_json = value != NULL;
    return true;
}

static bool
take_audit(RunSettings *s, const char *value)
{
    s->audit = true;
    s->audit_json = s->audit_json || (value && !strcmp(value, "json"));
    s->audit_columns = s->audit_columns || (value && !strcmp(value, "columns"));
    return true;
}

bool
run_settings_take(void *user, uint32_t index, const char *value, char why[OPTION_WHY])
{
    RunSettings *s = user;
    double number = 0;
    int word = value && run_options[index].kind == OPTION_WORD ? option_word(value, run_options[index].value) : -1;
    if (value)
        number_of_text(value, &number);
    switch (index) {
#define OPTION(id, action, ...) case RUN_##id: return action;
#include "runtime/shell/run_options.def"
    default: return false;
    }
}

static void
replace(double given, double *value)
{
    if (!isnan(given))
        *value = given;
}

bool
run_wants_parameters(const RunSettings *s)
{
    size_t length = s->output ? strlen(s->output) : 0;
    return length > 4 && !strcmp(s->output + length - 4, ".mat");
}

void
run_settings_apply(const RunSettings *s, const mdl_model *model, mdl_options *options)
{
    mdl_options_default(model, options);
    replace(s->start, &options->start);
    replace(s->stop, &options->stop);
    bool moved = !isnan(s->start) || !isnan(s->stop);
    // An interval that comes from nowhere but the default number of points follows the new span.
    if (moved && model->interval == (model->stop - model->start) / 500)
        options->interval = (options->stop - options->start) / 500;
    replace(s->interval, &options->interval);
    if (s->points) {
        options->interval = 0;
        options->points = s->points;
    }
    replace(s->tolerance, &options->tolerance);
    replace(s->abstol, &options->abstol);
    replace(s->step, &options->step);
    options->form = s->form;
    options->solver = s->solver;
    options->check = s->check;
    options->time_limit = s->limit_time;
    options->output_path = s->output;
    options->trace = s->trace;
    options->steps = s->steps;
    options->assemble = s->assemble;
    options->no_ranges = s->no_ranges;
}
