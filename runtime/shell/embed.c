// embed.c: driving a compiled model step by step.
//
// Purpose: other programs drive a model: set inputs, take steps, read values, save and restore.
// Method: the parts of a run (driven_run.c) one after the other; a changed input is an event, at which discrete variables,
// algebraic loops and the integrator start anew. Contract: embed.h. Complexity: names are searched for linearly, handles not
// at all.
#include "runtime/shell/embed_inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/start/settable.h"

static void
on_message(void *user, mdl_severity severity, const char *text)
{
    mdl_simulation *s = user;
    (void)severity;
    snprintf(s->said, sizeof s->said, "%s", text);
}

mdl_simulation *
mdl_create(const mdl_model *model, double tolerance)
{
    mdl_simulation *s = calloc(1, sizeof *s);
    mdl_override *override = calloc(2 * (size_t)model->n_settables + 2, sizeof *override);
    if (!s || !override) {
        free(s);
        free(override);
        return NULL;
    }
    s->model = model;
    s->override = override;
    mdl_options_default(model, &s->options);
    if (tolerance != 0)
        s->options.tolerance = tolerance;
    s->options.override = override;
    s->options.message = on_message;
    s->options.user = s;
    return s;
}

void
mdl_destroy(mdl_simulation *s)
{
    if (!s)
        return;
    if (s->run)
        mdl_run_drop(s->run);
    free(s->override);
    free(s->in_force);
    free(s);
}

int
mdl_set(mdl_simulation *s, const char *name, double value)
{
    s->said[0] = '\0';
    const mdl_settable *settable = settable_allowed(s->model, name, value, s->said);
    if (!settable)
        return MDL_MODEL;
    if (s->run) {
        if (settable->kind == MDL_SETTABLE_INPUT)
            return mdl_run_input(s->run, settable->value, value);
        snprintf(s->said, sizeof s->said, "'%s' cannot change while the simulation runs: only inputs can", name);
        return MDL_USAGE;
    }
    settable_put(s->override, &s->options.overrides, settable->value, value);
    if (settable->given)
        settable_put(s->override, &s->options.overrides, settable->given, 1);
    return MDL_OK;
}

static int
start(mdl_simulation *s, double time)
{
    s->said[0] = '\0';
    if (s->run) {
        snprintf(s->said, sizeof s->said, "the simulation has started already");
        return MDL_USAGE;
    }
    double span = s->options.stop - s->options.start;
    s->options.start = time;
    s->options.stop = time + span;
    s->run = mdl_run_open(s->model, &s->options, &s->status);
    s->started = s->status == MDL_OK;
    return s->status;
}

int
mdl_start(mdl_simulation *s, double time)
{
    return start(s, time);
}

int
mdl_start_rates(mdl_simulation *s, double time)
{
    bool before = s->options.outside;
    s->options.outside = true;
    int status = start(s, time);
    if (status == MDL_USAGE) // it goes on as what it has started as
        s->options.outside = before;
    return status;
}

int
mdl_advance(mdl_simulation *s, double until)
{
    s->said[0] = '\0';
    if (s->run && s->options.outside) {
        snprintf(s->said, sizeof s->said, "the simulation was started by mdl_start_rates(): its steps are made by others");
        return MDL_USAGE;
    }
    if (!s->run || s->status != MDL_OK) {
        snprintf(s->said, sizeof s->said, s->run ? "the simulation has failed before" : "the simulation has not started");
        return MDL_USAGE;
    }
    if (!(until >= mdl_time(s)) || !isfinite(until)) {
        snprintf(s->said, sizeof s->said, "%.12g is not behind the present time %.12g", until, mdl_time(s));
        return MDL_USAGE;
    }
    s->status = mdl_run_advance(s->run, until);
    return s->status;
}

size_t
mdl_save(mdl_simulation *s, void *block, size_t size)
{
    return s->started ? mdl_run_save(s->run, block, size) : 0;
}

int
mdl_restore(mdl_simulation *s, const void *block, size_t size)
{
    s->said[0] = '\0';
    if (!s->started) {
        snprintf(s->said, sizeof s->said, "the simulation has not started");
        return MDL_USAGE;
    }
    int status = mdl_run_restore(s->run, block, size);
    if (status != MDL_USAGE)
        s->status = status;
    return status;
}

// False: a handle is none.
static bool
take_handles(const mdl_model *model, const int *handle, int n, uint32_t *index)
{
    for (int k = 0; k < n; k++) {
        if (handle[k] < 0 || (uint32_t)handle[k] >= model->n_outputs)
            return false;
        index[k] = (uint32_t)handle[k];
    }
    return true;
}

// `index` has n_by and then n_of indices of outputs; a variable may be a state with its sign changed.
MDL_CHECKED static int
differentiate(mdl_simulation *s, uint32_t *index, double *rate, const double *seed, int n_by, double *out, int n_of)
{
    for (int k = 0; k < n_by; k++) {
        const mdl_output *moved = &s->model->output[index[k]];
        rate[k] = moved->sign * seed[k];
        index[k] = moved->place;
    }
    return mdl_run_derivative(s->run, index, rate, (uint32_t)n_by, index + n_by, (uint32_t)n_of, out);
}

int
mdl_derivative(mdl_simulation *s, const int *by, const double *seed, int n_by, const int *of, double *out, int n_of)
{
    s->said[0] = '\0';
    if (!s->started || s->status != MDL_OK || n_by < 0 || n_of < 0) {
        snprintf(s->said, sizeof s->said, s->started ? "there is nothing to differentiate" : "the simulation has not started");
        return MDL_USAGE;
    }
    uint32_t *index = calloc((size_t)n_by + (size_t)n_of + 1, sizeof *index);
    double *rate = calloc((size_t)n_by + 1, sizeof *rate);
    int status = index && rate ? MDL_OK : MDL_INTERNAL;
    if (status == MDL_OK && (!take_handles(s->model, by, n_by, index) || !take_handles(s->model, of, n_of, index + n_by))) {
        snprintf(s->said, sizeof s->said, "a handle is not one of this model's");
        status = MDL_USAGE;
    }
    if (status == MDL_OK)
        status = differentiate(s, index, rate, seed, n_by, out, n_of);
    free(index);
    free(rate);
    return status;
}

double
mdl_time(const mdl_simulation *s)
{
    return s->run ? mdl_run_values(s->run)[0] : s->options.start;
}

int
mdl_ended(const mdl_simulation *s)
{
    return s->run && mdl_run_ended(s->run);
}

int
mdl_find(const mdl_simulation *s, const char *name)
{
    for (uint32_t k = 0; k < s->model->n_outputs; k++)
        if (!strcmp(s->model->output[k].name, name))
            return (int)k;
    return -1;
}

double
mdl_value(const mdl_simulation *s, int handle)
{
    if (handle < 0 || (uint32_t)handle >= s->model->n_outputs || !s->run)
        return NAN;
    const mdl_output *output = &s->model->output[handle];
    return output->sign * mdl_run_values(s->run)[output->place];
}

double
mdl_get(const mdl_simulation *s, const char *name)
{
    return mdl_value(s, mdl_find(s, name));
}

const char *
mdl_variable_name(const mdl_simulation *s, int index)
{
    return index >= 0 && (uint32_t)index < s->model->n_outputs ? s->model->output[index].name : NULL;
}

const char *
mdl_variable_unit(const mdl_simulation *s, int index)
{
    if (index < 0 || (uint32_t)index >= s->model->n_outputs)
        return NULL;
    const char *unit = s->model->declaration[s->model->output[index].declaration].unit;
    return unit ? unit : "";
}

const char *
mdl_settable_name(const mdl_simulation *s, int index)
{
    return index >= 0 && (uint32_t)index < s->model->n_settables ? s->model->settable[index].name : NULL;
}

const char *
mdl_message(const mdl_simulation *s)
{
    return s->said;
}
