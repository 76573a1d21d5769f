// settable_check.c: whether parameters are what their declarations ask for.
//
// Purpose: a parameter that was set is finite and within its declared limits. A field that a function leaves open had no value while compiling
// either, and who reads it gets none. Method: none: one look at each.
// Contract: settable.h. Complexity: linear in the settable values.
#include "runtime/start/settable.h"

#include <math.h>
#include <stdio.h>

const char *
settable_check(const mdl_model *model, const double *v, char why[SETTABLE_WHY])
{
    for (uint32_t i = 0; i < model->n_settables; i++) {
        const mdl_settable *s = &model->settable[i];
        double value = v[s->result];
        if (isnan(value) && isnan(model->v0[s->result]))
            continue;
        if (!isfinite(value) && s->kind == MDL_SETTABLE_PARAMETER)
            snprintf(why, SETTABLE_WHY, "parameter '%s' is %s", s->name, isnan(value) ? "not a number" : "infinite");
        else if (s->low && value < v[s->low])
            snprintf(why, SETTABLE_WHY, "parameter '%s' is %g, but must be at least %g", s->name, value, v[s->low]);
        else if (s->high && value > v[s->high])
            snprintf(why, SETTABLE_WHY, "parameter '%s' is %g, but must be at most %g", s->name, value, v[s->high]);
        else if (s->type == MDL_INTEGER && fabs(value) >= 0x1p53)
            snprintf(why, SETTABLE_WHY, "Integer parameter '%s' is about %.15g, and whole numbers are exact below 2^53 = %.0f only", s->name, value, 0x1p53);
        else
            continue;
        return why;
    }
    return NULL;
}
