// embed_about.c: what a compiled model says about its variables and about what can be set.
//
// Purpose: other languages show names, units, values and limits without a copy of the model's tables. Method: values in force come from the
// function of the parameters, called once for a copy of the initial image. Contract: embed.h. Complexity: constant, but for that one
// call.
#include "runtime/shell/embed_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/float_control.h"

int
mdl_embed_version(void)
{
    return MDL_EMBED_VERSION;
}

static const char *
text_or_empty(const char *text)
{
    return text ? text : "";
}

static void
describe(const mdl_model *model, uint32_t declaration, mdl_about *about)
{
    if (declaration >= model->n_declarations)
        return;
    const mdl_declaration *d = &model->declaration[declaration];
    about->unit = text_or_empty(d->unit);
    about->comment = text_or_empty(d->comment);
    about->literals = (int)d->n_literals;
    about->literal = d->literal;
}

int
mdl_about_variable(const mdl_simulation *s, int index, mdl_about *about)
{
    *about = (mdl_about){.name = "", .unit = "", .comment = "", .value = NAN, .low = -INFINITY, .high = INFINITY};
    if (index < 0 || (uint32_t)index >= s->model->n_outputs)
        return MDL_USAGE;
    const mdl_output *output = &s->model->output[index];
    describe(s->model, output->declaration, about);
    about->name = output->name;
    about->type = output->type;
    about->kind = output->on_request;
    if (about->kind == MDL_OUTPUT_DERIVATIVE) // its declaration is that of the variable
        about->unit = "";
    return MDL_OK;
}

// Values in force when nothing is set, made once; NULL: memory is exhausted.
static const double *
values_in_force(mdl_simulation *s)
{
    const mdl_model *model = s->model;
    if (s->in_force)
        return s->in_force;
    s->in_force = malloc((size_t)model->nv * sizeof *s->in_force);
    if (!s->in_force)
        return NULL;
    memcpy(s->in_force, model->v0, (size_t)model->nv * sizeof *s->in_force);
    unsigned control = float_control();
    mdl_call(model->parameters, s->in_force);
    float_control_set(control);
    return s->in_force;
}

int
mdl_about_settable(mdl_simulation *s, int index, mdl_about *about)
{
    *about = (mdl_about){.name = "", .unit = "", .comment = "", .value = NAN, .low = -INFINITY, .high = INFINITY};
    if (index < 0 || (uint32_t)index >= s->model->n_settables)
        return MDL_USAGE;
    const mdl_settable *settable = &s->model->settable[index];
    const double *v = values_in_force(s);
    if (!v)
        return MDL_INTERNAL;
    describe(s->model, settable->declaration, about);
    about->name = settable->name;
    about->type = (int)settable->type;
    about->kind = (int)settable->kind;
    about->value = v[settable->result];
    about->low = settable->low ? v[settable->low] : -INFINITY;
    about->high = settable->high ? v[settable->high] : INFINITY;
    about->why = settable->why;
    return MDL_OK;
}
