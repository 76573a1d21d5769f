// fit_data.c: what was measured, as residuals that a model may have.
//
// Purpose: files become experiments: columns with their variables, values in the units of these, standard deviations, a run for each file.
// Method: names are looked up once, units are converted once. Contract: fit_inner.h. Complexity: linear in the data.
#include "frontend/search/fit_inner.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/unit.h"
#include "runtime/model/nearest.h"
#include "runtime/start/settable.h"

// --- columns

typedef struct NamePair {
    const char *name, *value;
} NamePair;

// "a,b=c" in pieces, at commas outside brackets; value: NULL where there is no '='.
static uint32_t
split_pairs(const char *list, Arena *arena, NamePair **pairs)
{
    uint32_t n = 0;
    *pairs = arena_array(arena, NamePair, strlen(list) + 2);
    for (const char *rest = list; rest;) {
        char *text = arena_item(arena, &rest), *equals = strchr(text, '=');
        if (equals)
            *equals = '\0';
        if (*text)
            (*pairs)[n++] = (NamePair){text, equals ? equals + 1 : NULL};
    }
    return n;
}

static bool
find_output(const mdl_model *model, const char *name, Arena *arena, uint32_t *output, const char **near)
{
    const char **names = arena_array(arena, const char *, model->n_outputs + 1);
    for (*output = 0; *output < model->n_outputs; ++*output) {
        if (!strcmp(model->output[*output].name, name))
            return true;
        names[*output] = model->output[*output].name;
    }
    *near = nearest_name(name, names, model->n_outputs);
    return false;
}

// The kind of the variable, a new one where it is the first.
static uint32_t
kind_of(Fitting *f, uint32_t output)
{
    Fit *fit = f->fit;
    const mdl_model *model = f->request->model;
    uint32_t k = 0;
    while (k < fit->kinds && fit->kind[k].output != output)
        k++;
    if (k < fit->kinds)
        return k;
    const mdl_output *at = &model->output[output];
    const char *unit = at->on_request != MDL_OUTPUT_DERIVATIVE && at->declaration < model->n_declarations ? model->declaration[at->declaration].unit : NULL;
    fit->kind[fit->kinds++] = (FitKind){.name = at->name, .unit = unit && strcmp(unit, "1") ? unit : "", .output = output, .deviation = NAN};
    return k;
}

// The unit in the header of column `data` to that of the variable.
static bool
convert_unit(Fitting *f, const Measured *data, uint32_t which, const char *own, double *scale, double *offset)
{
    const char *text = data->unit[which], *error, *at;
    Unit from, to;
    uint32_t length;
    *scale = 1;
    *offset = 0;
    if (!text || !strcmp(text, own))
        return true;
    if (!unit_parse(text, &from, &error, &at, &length)) {
        out_printf(f->why, "%s: column '%s': the unit [%s] cannot be read: %s\n", data->path, data->name[which], text, error);
        return false;
    }
    if (!unit_parse(*own ? own : "1", &to, &error, &at, &length) || !unit_same_dimension(&from, &to)) {
        out_printf(f->why, "%s: column '%s' is in [%s], and the variable in [%s]\n", data->path, data->name[which], text, *own ? own : "1");
        return false;
    }
    *scale = from.scale / to.scale;
    *offset = (from.offset - to.offset) / to.scale;
    return true;
}

// Deviations without a unit are in that of their column.
static bool
convert_column(Fitting *f, const Measured *data, FitColumn *column)
{
    const char *own = f->fit->kind[column->kind].unit;
    double none;
    if (!convert_unit(f, data, column->data, own, &column->scale, &column->offset))
        return false;
    column->deviation_scale = column->scale;
    return column->deviations == UINT32_MAX || !data->unit[column->deviations]
        || convert_unit(f, data, column->deviations, own, &column->deviation_scale, &none);
}

// The column "sd(NAME)"; UINT32_MAX: there is none.
static uint32_t
find_deviations(const Measured *data, const char *name)
{
    size_t length = strlen(name);
    for (uint32_t k = 0; k < data->columns; k++)
        if (!strncmp(data->name[k], "sd(", 3) && !strncmp(data->name[k] + 3, name, length) && !strcmp(data->name[k] + 3 + length, ")"))
            return k;
    return UINT32_MAX;
}

static bool
is_deviations(const char *name)
{
    size_t length = strlen(name);
    return !strncmp(name, "sd(", 3) && name[length - 1] == ')';
}

static bool
take_column(Fitting *f, Experiment *e, uint32_t data, const char *variable)
{
    const char *near = NULL;
    uint32_t output;
    if (!find_output(f->request->model, variable, f->arena, &output, &near)) {
        out_printf(f->why, "%s: the model has no variable '%s'", e->data.path, variable);
        out_printf(f->why, near ? "; did you mean '%s'?\n" : "\n%s", near ? near : "");
        out_printf(f->why, "help: --columns a,b=body.s fits the columns a and b, and compares b with body.s\n");
        return false;
    }
    if (f->request->model->output[output].type != MDL_REAL) {
        out_printf(f->why, "%s: '%s' is no real variable\n", e->data.path, variable);
        return false;
    }
    FitColumn *column = &e->column[e->columns];
    *column = (FitColumn){.data = data, .deviations = find_deviations(&e->data, e->data.name[data]), .kind = kind_of(f, output)};
    for (uint32_t k = 0; k < e->columns; k++)
        if (e->column[k].kind == column->kind) {
            out_printf(f->why, "%s: two columns are compared with '%s'\n", e->data.path, variable);
            return false;
        }
    e->columns++;
    return convert_column(f, &e->data, column);
}

static bool
take_columns(Fitting *f, Experiment *e, const NamePair *pairs, uint32_t n, bool *used)
{
    const Measured *data = &e->data;
    e->column = arena_array(f->arena, FitColumn, data->columns + 1);
    for (uint32_t k = 0; k < data->columns; k++) {
        uint32_t i = 0;
        if (is_deviations(data->name[k]))
            continue;
        while (i < n && strcmp(pairs[i].name, data->name[k]))
            i++;
        if (n && i == n)
            continue;
        if (n)
            used[i] = true;
        if (!take_column(f, e, k, n && pairs[i].value ? pairs[i].value : data->name[k]))
            return false;
    }
    if (!e->columns)
        out_printf(f->why, "%s has none of the columns that are fitted\n", data->path);
    return e->columns > 0;
}

// --- values

static bool
take_deviation(Fitting *f, const Experiment *e, const FitColumn *column, uint32_t row, double *deviation)
{
    double given = column->deviations == UINT32_MAX ? NAN : e->data.value[(size_t)row * e->data.columns + column->deviations];
    *deviation = given * column->deviation_scale;
    if (isnan(given) || given > 0)
        return true;
    out_printf(f->why, "%s: sd(%s) at time %.9g is %g: a standard deviation is positive\n", e->data.path, e->data.name[column->data], e->data.time[row], given);
    return false;
}

static bool
take_values(Fitting *f, Experiment *e)
{
    Fit *fit = f->fit;
    const Measured *data = &e->data;
    size_t size = (size_t)data->rows * e->columns;
    e->value = arena_array(f->arena, double, size);
    e->measured = arena_array(f->arena, double, size);
    e->deviation = arena_array(f->arena, double, size);
    e->best = arena_array(f->arena, double, size);
    e->derivative = arena_array(f->arena, double, size * fit->free->n);
    e->first = fit->values;
    for (uint32_t row = 0; row < data->rows; row++)
        for (uint32_t c = 0; c < e->columns; c++) {
            const FitColumn *column = &e->column[c];
            size_t at = (size_t)row * e->columns + c;
            const double *sd = f->request->deviations ? NULL : data->value;
            e->measured[at] = column->scale * data->value[(size_t)row * data->columns + column->data] + column->offset;
            e->deviation[at] = NAN;
            if (sd && !take_deviation(f, e, column, row, &e->deviation[at]))
                return false;
            if (isnan(e->measured[at]))
                continue;
            fit->values++;
            fit->kind[column->kind].n++;
            fit->weighted = fit->weighted && !isnan(e->deviation[at]);
        }
    return true;
}

// How far the data of a variable are spread about their mean.
static void
measure_spread(Fit *fit, FitKind *kind, uint32_t which)
{
    double sum = 0, squares = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < fit->experiments; i++) {
            const Experiment *e = &fit->experiment[i];
            for (uint32_t row = 0; row < e->data.rows; row++)
                for (uint32_t c = 0; c < e->columns; c++) {
                    double value = e->measured[(size_t)row * e->columns + c];
                    if (e->column[c].kind != which || isnan(value))
                        continue;
                    if (pass)
                        squares += (value - sum / (double)kind->n) * (value - sum / (double)kind->n);
                    else
                        sum += value;
                }
        }
    double mean = kind->n ? fabs(sum / (double)kind->n) : 0;
    kind->spread = kind->n > 1 ? sqrt(squares / (double)(kind->n - 1)) : 0;
    if (!(kind->spread > 1e-12 * mean))
        kind->spread = mean > 0 ? mean : 1;
}

static bool
take_given_deviations(Fitting *f)
{
    NamePair *pairs;
    Fit *fit = f->fit;
    uint32_t n = f->request->deviations ? split_pairs(f->request->deviations, f->arena, &pairs) : 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = 0;
        char *end = NULL;
        while (k < fit->kinds && strcmp(fit->kind[k].name, pairs[i].name))
            k++;
        double value = pairs[i].value ? strtod(pairs[i].value, &end) : 0;
        if (k == fit->kinds) {
            out_printf(f->why, "--sd: '%s' is no variable that is fitted\n", pairs[i].name);
            return false;
        }
        if (!(value > 0) || !isfinite(value) || *end) {
            out_printf(f->why, "--sd %s=%s: a standard deviation is a positive number, in the unit of the variable\n", pairs[i].name,
                       pairs[i].value ? pairs[i].value : "");
            return false;
        }
        fit->kind[k].deviation = value;
        fit->kind[k].given = true;
    }
    fit->weighted = n ? true : fit->weighted;
    for (uint32_t k = 0; k < fit->kinds && n; k++)
        fit->weighted = fit->weighted && fit->kind[k].given;
    if (n && !fit->weighted) {
        out_text(f->why, "--sd gives standard deviations of all variables that are fitted, or of none\n");
        return false;
    }
    return true;
}

// Some values with a standard deviation and others without cannot be weighed against each other.
static bool
check_deviations(Fitting *f)
{
    uint64_t with = 0;
    for (uint32_t i = 0; i < f->fit->experiments; i++) {
        const Experiment *e = &f->fit->experiment[i];
        for (size_t at = 0; at < (size_t)e->data.rows * e->columns; at++)
            with += !isnan(e->measured[at]) && !isnan(e->deviation[at]);
    }
    if (!with || with == f->fit->values)
        return true;
    out_printf(f->why, "%llu of %u values have a standard deviation in a column sd(NAME): all have one, or none\n", (unsigned long long)with, f->fit->values);
    return false;
}

// --- files

static bool
open_run(Fitting *f, Experiment *e)
{
    const Measured *data = &e->data;
    Trial *trial = &e->trial;
    char why[SETTABLE_WHY] = "";
    size_t room = 1;
    for (uint32_t k = 0; k < data->n_set; k++)
        room += settable_room(data->set[k].value);
    mdl_override *override = arena_array(f->arena, mdl_override, room);
    uint32_t *column = arena_array(f->arena, uint32_t, e->columns + 1), n = 0;
    for (uint32_t k = 0; k < data->n_set; k++)
        if (!settable_override(f->request->model, data->set[k].name, data->set[k].value, override, &n, why)) {
            out_printf(f->why, "%s: # set %s = %s: %s\n", data->path, data->set[k].name, data->set[k].value, why);
            return false;
        }
    for (uint32_t c = 0; c < e->columns; c++)
        column[c] = f->fit->kind[e->column[c].kind].output;
    *trial = (Trial){.model = f->request->model, .free = f->fit->free, .options = *f->request->options, .column = column, .columns = e->columns,
                     .override = override, .overrides = n, .compiler = f->request->compiler};
    double start = trial->options.start, stop = trial->options.stop, last = data->time[data->rows - 1];
    if (data->time[0] < start || (f->request->stop_given && last > stop)) {
        bool early = data->time[0] < start;
        out_printf(f->why, "%s: there are data at time %.9g, and the run %s at %.9g; --st%s moves that\n", data->path, early ? data->time[0] : last,
                   early ? "begins" : "ends", early ? start : stop, early ? "art" : "op");
        return false;
    }
    trial->options.stop = last > start ? last : nextafter(start, INFINITY);
    trial->options.instant = data->time;
    trial->options.instants = data->rows;
    trial_create(trial, f->arena);
    return true;
}

int
fit_read(Fitting *f)
{
    Fit *fit = f->fit;
    const FitRequest *request = f->request;
    NamePair *pairs = NULL;
    uint32_t n = request->columns ? split_pairs(request->columns, f->arena, &pairs) : 0;
    bool *used = arena_array(f->arena, bool, n + 1);
    fit->experiment = arena_array(f->arena, Experiment, request->n_files);
    fit->kind = arena_array(f->arena, FitKind, request->model->n_outputs + 1);
    fit->weighted = true;
    for (uint32_t i = 0; i < request->n_files; i++) {
        Experiment *e = &fit->experiment[fit->experiments++];
        if (!measured_read(request->files[i], f->arena, &e->data, f->why))
            return FAULT_IO;
        if (!take_columns(f, e, pairs, n, used) || !take_values(f, e) || !open_run(f, e))
            return FAULT_MODEL;
    }
    for (uint32_t k = 0; k < n; k++)
        if (!used[k]) {
            out_printf(f->why, "--columns: no file has a column '%s'\n", pairs[k].name);
            return FAULT_USAGE;
        }
    if (!fit->values) {
        out_text(f->why, "nothing was measured: all cells are empty\n");
        return FAULT_MODEL;
    }
    for (uint32_t k = 0; k < fit->kinds; k++)
        measure_spread(fit, &fit->kind[k], k);
    if (!take_given_deviations(f) || !check_deviations(f))
        return FAULT_USAGE;
    return 0;
}
