// binding.c: names of a study in a compiled model.
//
// Purpose: a name that the model does not have, or a value that its variable cannot take, is told before the first run, at its place in the
// study. Method: names are looked up once for each build. Contract: design.h. Complexity: names times settable values and outputs.
#include "frontend/design/design.h"

#include <math.h>
#include <regex.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/nearest.h"
#include "runtime/start/settable.h"

static const char *const type_names[] = {[MDL_REAL] = "a Real", [MDL_INTEGER] = "an Integer", [MDL_BOOLEAN] = "a Boolean", [MDL_ENUM] = "one of an enumeration"};

static bool
fits(const mdl_model *model, const mdl_settable *settable, double value)
{
    double literals = settable->type == MDL_ENUM ? model->declaration[settable->declaration].n_literals : INFINITY;
    return value == floor(value) && (settable->type != MDL_BOOLEAN || value == 0 || value == 1)
        && (settable->type != MDL_ENUM || (value >= 1 && value <= literals));
}

// The first value of a factor that its variable cannot take; false: all are fine. Of a distribution the ends are looked at.
static bool
find_misfit(const Study *study, uint32_t k, const mdl_model *model, const mdl_settable *settable, double *misfit)
{
    const Distribution *d = &study->factor[k].values;
    uint64_t n = study->design == DESIGN_POINTS ? study->runs : d->value ? d->n : 2;
    for (uint64_t i = 0; i < n; i++) {
        double value = study->design == DESIGN_POINTS ? study->point[i * study->factors + k] : d->value ? d->value[i] : i ? d->b : d->a;
        if (fits(model, settable, value))
            continue;
        *misfit = value;
        return true;
    }
    return false;
}

static bool
check_values(const Study *study, uint32_t k, const mdl_model *model, const mdl_settable *settable, Diags *diags)
{
    const Factor *factor = &study->factor[k];
    double misfit;
    if (settable->type == MDL_REAL)
        return true;
    bool spread = study->design != DESIGN_POINTS && !factor->values.value && factor->values.kind != DISTRIBUTION_INTEGERS;
    if (spread)
        diag_help(diag_add(diags, E0851, factor->span, "'%s' is %s: it has no distribution of real numbers", factor->name, type_names[settable->type]),
                  "integers(1, 6) and discrete({1, 2}, {0.9, 0.1}) are distributions of whole ones");
    else if (find_misfit(study, k, model, settable, &misfit))
        diag_add(diags, E0851, factor->span, "'%s' is %s, which %.12g is not", factor->name, type_names[settable->type], misfit);
    else
        return true;
    return false;
}

static bool
bind_factor(const Study *study, uint32_t k, const mdl_model *model, Diags *diags, uint32_t *index)
{
    const Factor *factor = &study->factor[k];
    char why[SETTABLE_WHY] = "";
    *index = SETTABLE_NONE;
    if (factor->structural)
        return true;
    for (uint32_t i = 0; i < model->n_settables; i++)
        if (!strcmp(model->settable[i].name, factor->name))
            *index = i;
    if (*index == SETTABLE_NONE && !strcmp(factor->name, "tol")) {
        *index = SETTABLE_TOLERANCE;
        return true;
    }
    double value = study->design == DESIGN_POINTS ? study->point[k] : factor->values.value ? factor->values.value[0] : floor(factor->values.a);
    if (!isfinite(value))
        value = 1;
    if (*index != SETTABLE_NONE && !model->settable[*index].why)
        return check_values(study, k, model, &model->settable[*index], diags);
    if (settable_allowed(model, factor->name, value, why))
        return true;
    Diag *diag = diag_add(diags, *index == SETTABLE_NONE ? E0101 : E0851, factor->span, "%s", why);
    if (*index != SETTABLE_NONE)
        diag_help(diag, "`structural %s = ...` compiles the model for each value", factor->name);
    return false;
}

static bool
bind_output(const StudyOutput *output, const mdl_model *model, Arena *arena, Diags *diags, uint32_t *index)
{
    for (*index = 0; *index < model->n_outputs; ++*index)
        if (!strcmp(model->output[*index].name, output->variable))
            return true;
    const char **names = arena_array(arena, const char *, model->n_outputs + 1);
    for (uint32_t i = 0; i < model->n_outputs; i++)
        names[i] = model->output[i].name;
    const char *near = nearest_name(output->variable, names, model->n_outputs);
    Diag *diag = diag_add(diags, E0101, output->span, "the model has no variable '%s'", output->variable);
    if (near)
        diag_help(diag, "did you mean '%s'?", near);
    return false;
}

static uint32_t
column_of(Binding *binding, uint32_t output)
{
    uint32_t k = 0;
    while (k < binding->columns && binding->column[k] != output)
        k++;
    if (k == binding->columns)
        binding->column[binding->columns++] = output;
    return k;
}

// The first build says which variables are kept; the others have them, too.
static bool
bind_kept(Study *study, const mdl_model *model, Arena *arena, Diags *diags, Binding *binding)
{
    regex_t compiled;
    if (!study->kept_name) {
        if (regcomp(&compiled, study->keep, REG_EXTENDED | REG_NOSUB))
            return false; // which study_read() has told
        study->kept_name = arena_array(arena, const char *, model->n_outputs + 1);
        for (uint32_t i = 0; i < model->n_outputs; i++)
            if (model->output[i].on_request == MDL_OUTPUT_ALWAYS && !regexec(&compiled, model->output[i].name, 0, NULL, 0))
                study->kept_name[study->kept++] = arena_printf(arena, "%s", model->output[i].name); // longer than the library is loaded
        regfree(&compiled);
    }
    if (!study->kept)
        diag_add(diags, E0851, (Span){0}, "keep \"%s\": no variable of the model has such a name", study->keep);
    uint32_t first = binding->columns;
    binding->columns += study->kept;
    for (uint32_t k = 0; k < study->kept; k++) {
        const StudyOutput kept = {.variable = study->kept_name[k]};
        if (!bind_output(&kept, model, arena, diags, &binding->column[first + k]))
            return false;
    }
    return study->kept > 0;
}

bool
study_bind(Study *study, const mdl_model *model, Arena *arena, Diags *diags, Binding *binding)
{
    bool good = true;
    *binding = (Binding){.model = model, .settable = arena_array(arena, uint32_t, study->factors + 1),
                         .column = arena_array(arena, uint32_t, (size_t)study->outputs + model->n_outputs + 1),
                         .of_output = arena_array(arena, uint32_t, study->outputs + 1)};
    for (uint32_t k = 0; k < study->factors; k++)
        good = bind_factor(study, k, model, diags, &binding->settable[k]) && good;
    for (uint32_t k = 0; k < study->outputs; k++) {
        uint32_t index;
        if (bind_output(&study->output[k], model, arena, diags, &index))
            binding->of_output[k] = column_of(binding, index);
        else
            good = false;
    }
    return good && (!study->keep || bind_kept(study, model, arena, diags, binding));
}
