// free_quantities.c: what a search may change.
//
// Purpose: parameters and start values by their names, with bounds that are those of the call within those of the model. Method: names are
// looked up once; values are read from a run that was opened, so that parameters that depend on others begin where they are.
// Contract: search.h. Complexity: names times settable values of the model.
#include "frontend/search/search.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/design/sobol.h"
#include "runtime/model/nearest.h"
#include "runtime/model/number.h"

// --- the list

// "lo..hi", of which one may be missing.
static bool
read_bounds(const char *text, FreeQuantity *q, Out *why)
{
    const char *dots = strstr(text, "..");
    char number[64];
    size_t length = dots ? (size_t)(dots - text) : 0;
    bool good = dots && length < sizeof number && (length || dots[2]);
    if (good && length) {
        memcpy(number, text, length);
        number[length] = '\0';
        good = number_of_text(number, &q->low);
    }
    if (good && dots[2])
        good = number_of_text(dots + 2, &q->high);
    if (!good)
        out_printf(why, "--free %s=%s: bounds are written as LOW..HIGH, and one of them may be left out\n", q->name, text);
    else if (!(q->low < q->high))
        out_printf(why, "--free %s=%s: the lower bound is not below the upper one\n", q->name, text);
    return good && q->low < q->high;
}

static bool
read_one(char *text, FreeList *list, Out *why)
{
    char *equals = strchr(text, '=');
    FreeQuantity q = {.name = text, .low = -INFINITY, .high = INFINITY, .unit = ""};
    if (equals)
        *equals = '\0';
    if (!*text) {
        out_text(why, "--free needs names of parameters or start values, separated by commas\n");
        return false;
    }
    for (uint32_t k = 0; k < list->n; k++)
        if (!strcmp(list->at[k].name, text)) {
            out_printf(why, "--free names '%s' twice\n", text);
            return false;
        }
    if (equals && !read_bounds(equals + 1, &q, why))
        return false;
    list->at[list->n++] = q;
    return true;
}

bool
free_read(const char *text, Arena *arena, FreeList *list, Out *why)
{
    size_t length = strlen(text), commas = 1;
    for (size_t i = 0; i < length; i++)
        commas += text[i] == ',';
    FreeQuantity *more = arena_array(arena, FreeQuantity, list->n + commas);
    if (list->n)
        memcpy(more, list->at, list->n * sizeof *more);
    list->at = more;
    for (const char *rest = text; rest;)
        if (!read_one(arena_item(arena, &rest), list, why))
            return false;
    return true;
}

// --- the model

static bool
tell_missing(const FreeQuantity *q, const mdl_model *model, Arena *arena, Out *why)
{
    for (uint32_t i = 0; i < model->n_outputs; i++)
        if (!strcmp(model->output[i].name, q->name)) {
            out_printf(why, "'%s' is determined by equations and cannot be free; what can are parameters and start values\n", q->name);
            return false;
        }
    const char **names = arena_array(arena, const char *, model->n_settables + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_settables; i++)
        if (model->settable[i].type == MDL_REAL)
            names[n++] = model->settable[i].name;
    const char *near = nearest_name(q->name, names, n);
    out_printf(why, near ? "the model has no real parameter or start value '%s'; did you mean '%s'?\n"
                         : "the model has no real parameter or start value '%s'\n", q->name, near);
    return false;
}

static bool
bind_one(FreeQuantity *q, const mdl_model *model, Arena *arena, Out *why)
{
    uint32_t i = 0;
    while (i < model->n_settables && strcmp(model->settable[i].name, q->name))
        i++;
    if (i == model->n_settables)
        return tell_missing(q, model, arena, why);
    const mdl_settable *settable = &model->settable[i];
    if (settable->why)
        out_printf(why, "'%s' cannot be free: %s\n", q->name, settable->why);
    else if (settable->type != MDL_REAL)
        out_printf(why, "'%s' is no real number: only these can be free; mdlc sweep tries values of others\n", q->name);
    if (settable->why || settable->type != MDL_REAL)
        return false;
    q->settable = i;
    const char *unit = settable->declaration < model->n_declarations ? model->declaration[settable->declaration].unit : NULL;
    q->unit = unit && strcmp(unit, "1") ? unit : "";
    return true;
}

bool
free_bind(FreeList *list, const mdl_model *model, Arena *arena, Out *why)
{
    for (uint32_t k = 0; k < list->n; k++)
        if (!bind_one(&list->at[k], model, arena, why))
            return false;
    if (!list->n)
        out_text(why, "--free says which parameters or start values are looked for\n");
    return list->n > 0;
}

bool
free_begin(FreeList *list, const mdl_model *model, const double *v, Out *why)
{
    for (uint32_t k = 0; k < list->n; k++) {
        FreeQuantity *q = &list->at[k];
        const mdl_settable *settable = &model->settable[q->settable];
        double low = settable->low ? v[settable->low] : -INFINITY, high = settable->high ? v[settable->high] : INFINITY;
        q->start = v[settable->result];
        if (q->high < low || q->low > high) {
            out_printf(why, "--free %s: the bounds lie outside of those of the model, %g to %g\n", q->name, low, high);
            return false;
        }
        q->low = fmax(q->low, low);
        q->high = fmin(q->high, high);
        if (!isfinite(q->start)) {
            out_printf(why, "'%s' has no finite value to begin with; --set %s=VALUE gives one\n", q->name, q->name);
            return false;
        }
        q->start = fmin(fmax(q->start, q->low), q->high);
    }
    return true;
}

void
free_print_set(const FreeList *list, const double *x, Out *out)
{
    for (uint32_t k = 0; k < list->n; k++) {
        bool quoted = list->at[k].name[strcspn(list->at[k].name, "[ '\"")] != '\0';
        out_printf(out, quoted ? "%s--set '%s=" : "%s--set %s=", k ? " " : "", list->at[k].name);
        out_number(out, x[k]);
        out_text(out, quoted ? "'" : "");
    }
}

bool
free_spread(const FreeList *list, uint32_t id, double *x, Out *why)
{
    for (uint32_t k = 0; k < list->n; k++) {
        const FreeQuantity *q = &list->at[k];
        double u = sobol_point(id, k % sobol_dimensions());
        x[k] = q->start;
        if (!id)
            continue;
        if (!isfinite(q->low) || !isfinite(q->high)) {
            out_printf(why, "--starts begins at several points within bounds: --free %s=LOW..HIGH\n", q->name);
            return false;
        }
        x[k] = q->low > 0 && q->high > 100 * q->low ? q->low * pow(q->high / q->low, u) : q->low + u * (q->high - q->low);
    }
    return true;
}
