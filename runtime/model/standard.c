// standard.c: the C functions that the Modelica Standard Library declares as external.
//
// Purpose: which functions there are, and how they take arguments and fail.
// Method: a table, searched from its beginning (while compiling only); arguments are found by skipping those before them.
// Complexity: linear in the arguments before the one asked for.
// Contract: standard.h.
#include "runtime/model/standard_inner.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "runtime/model/model.h"
#include "runtime/model/texts.h"

#define STANDARD_ROW(name, code, arguments, effect) {#name, #code, code, arguments, effect},

static const mdl_standard functions[] = {STANDARD_TEXT_FUNCTIONS(STANDARD_ROW) STANDARD_FILE_FUNCTIONS(STANDARD_ROW) STANDARD_RANDOM_FUNCTIONS(STANDARD_ROW)
                                             STANDARD_TABLE_FUNCTIONS(STANDARD_ROW)};
static const mdl_standard units[] = {STANDARD_UNIT_FUNCTIONS(STANDARD_ROW)};
static const mdl_standard subroutines[] = {STANDARD_MATRIX_FUNCTIONS(STANDARD_ROW)};

static const mdl_standard *
found(const mdl_standard *table, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(table[i].name, name))
            return &table[i];
    return NULL;
}

const mdl_standard *
mdl_standard_find(const char *name, const char *library)
{
    if (!strcmp(library, "lapack"))
        return found(subroutines, sizeof subroutines / sizeof *subroutines, name);
    if (!strcmp(library, "mdlc_units"))
        return found(units, sizeof units / sizeof *units, name);
    if (!strcmp(library, "ModelicaExternalC") || !strcmp(library, "ModelicaStandardTables") || !strcmp(library, "ModelicaIO"))
        return found(functions, sizeof functions / sizeof *functions, name);
    return NULL;
}

const mdl_standard *
mdl_standard_coded(const char *symbol)
{
    const mdl_standard *tables[] = {functions, subroutines, units};
    size_t n[] = {sizeof functions / sizeof *functions, sizeof subroutines / sizeof *subroutines, sizeof units / sizeof *units};
    for (size_t k = 0; k < sizeof n / sizeof *n; k++)
        for (size_t i = 0; i < n[k]; i++)
            if (!strcmp(tables[k][i].symbol, symbol))
                return &tables[k][i];
    return NULL;
}

bool
mdl_standard_is_foreign(const mdl_standard *standard)
{
    return standard >= units && standard < units + sizeof units / sizeof *units;
}

Argument
standard_argument(const double *in, int i)
{
    const double *at = in + 1;
    for (; i; i--)
        at += 1 + (size_t)fabs(*at);
    return (Argument){at + 1, (size_t)fabs(*at)};
}

double *
standard_result(const double *in, double *out, int i)
{
    const double *at = in + 1;
    for (; i; i--) {
        out += *at < 0 ? (size_t)-*at : 0;
        at += 1 + (size_t)fabs(*at);
    }
    return *at < 0 ? out : NULL;
}

double
standard_scalar(const double *in, int i)
{
    return *standard_argument(in, i).at;
}

const char *
standard_text(const double *in, int i, const double *state)
{
    return mdl_text_at(standard_scalar(in, i), state);
}

Argument
standard_arguments(const double *in, int n)
{
    Argument last = standard_argument(in, n - 1);
    return (Argument){in + 1, (size_t)(last.at + last.n - (in + 1))};
}

void
standard_fail(const double *in, double *state, const char *format, ...)
{
    char text[1000];
    va_list values;
    va_start(values, format);
    vsnprintf(text, sizeof text, format, values);
    va_end(values);
    for (size_t n = strlen(text); n && text[n - 1] == '\n'; n--)
        text[n - 1] = 0;
    if (state[0] != 0)
        return;
    state[0] = in[0];
    state[1] = mdl_text_from(text, state);
}

mdl_objects *
standard_objects(const double *state)
{
    return mdl_texts_objects((mdl_texts *)(uintptr_t)state[MDL_CALL_TEXTS]);
}

void *
standard_object(const double *in, double *state, mdl_object_free *kind, const char *missing)
{
    mdl_objects *objects = standard_objects(state);
    void *object = objects ? mdl_object_at(objects, kind, standard_scalar(in, 0)) : NULL;
    if (!object)
        standard_fail(in, state, "%s", missing);
    return object;
}
