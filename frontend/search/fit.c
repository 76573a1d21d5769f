// fit.c: from data to the values with which a model fits them.
//
// Purpose: identification. Method: residuals of all files, each over its standard deviation, as functions of the free quantities; one run
// for each file gives them with their derivatives (trial.c). Where a run has no sensitivities, they are central differences of runs.
// Measurements without standard deviations have one for each variable, which is found from their residuals, and the search is
// repeated until it stays. Of several starts the best one counts.
// Contract: fit.h. Complexity: runs; data times quantities^2 for each.
#include "frontend/search/fit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/sweep/student.h"
#include "ir/base/unit.h"
#include "runtime/model/nearest.h"
#include "runtime/start/settable.h"

static const double SAME_SUM = 1e-6;   // of sums of squares: searches that came to the same place
static const double SETTLED = 1e-3;    // of standard deviations that are found
enum { ROUNDS_MOST = 12, FAULT_MODEL = 1, FAULT_USAGE = 2, FAULT_IO = 5 };

typedef struct Fitting {
    const FitRequest *request;
    Fit *fit;
    Arena *arena;
    Out *why;
    LeastSquares problem;
    double *shifted;            // residuals, for differences
    double step;                // of differences, relative
} Fitting;

// --- columns

typedef struct NamePair {
    const char *name, *value;
} NamePair;

// "a,b=c" in pieces, at commas outside brackets and parentheses; value: NULL where there is no '='.
static uint32_t
split_pairs(const char *list, Arena *arena, NamePair **pairs)
{
    uint32_t n = 0, depth = 0;
    const char *begin = list;
    *pairs = arena_array(arena, NamePair, strlen(list) + 2);
    for (const char *at = list;; at++) {
        depth += *at == '[' || *at == '(';
        depth -= (*at == ']' || *at == ')') && depth;
        if (*at && (*at != ',' || depth))
            continue;
        char *text = arena_strndup(arena, begin, (size_t)(at - begin)), *equals = strchr(text, '=');
        if (equals)
            *equals = '\0';
        if (*text)
            (*pairs)[n++] = (NamePair){text, equals ? equals + 1 : NULL};
        if (!*at)
            return n;
        begin = at + 1;
    }
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
                     .override = override, .overrides = n};
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

static int
read_files(Fitting *f)
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

// --- an evaluation

typedef struct RowTaker {
    Experiment *e;
    bool derivatives;
    uint32_t seen;              // rows of the run at the present time
    double time;
} RowTaker;

// Values at the times of data: behind an event, but before it for the first of several data at one time.
static void
take_row(void *user, const double *value)
{
    RowTaker *taker = user;
    Experiment *e = taker->e;
    const Trial *trial = &e->trial;
    uint32_t n = trial->free->n, rows = e->data.rows;
    while (e->row < rows && e->data.time[e->row] < value[0])
        e->row++;
    taker->seen = value[0] == taker->time ? taker->seen + 1 : 1;
    taker->time = value[0];
    bool several = e->row + 1 < rows && e->data.time[e->row + 1] == value[0];
    for (uint32_t row = e->row + (several && taker->seen > 1); row < rows && e->data.time[row] == value[0]; row++)
        for (uint32_t c = 0; c < e->columns; c++) {
            size_t at = (size_t)row * e->columns + c;
            e->value[at] = value[1 + c];
            for (uint32_t k = 0; k < n && taker->derivatives; k++)
                e->derivative[at * n + k] = value[trial_derivative(trial, c, k)];
        }
}

static bool
run_experiment(Experiment *e, const double *x, bool derivatives)
{
    size_t size = (size_t)e->data.rows * e->columns;
    RowTaker taker = {.e = e, .derivatives = derivatives, .time = NAN};
    e->row = 0;
    for (size_t at = 0; at < size; at++)
        e->value[at] = NAN;
    if (!trial_run(&e->trial, x, derivatives, take_row, &taker))
        return false;
    for (size_t at = 0; at < size; at++)
        if (!isfinite(e->value[at]) && !isnan(e->measured[at])) {
            snprintf(e->trial.said, sizeof e->trial.said, "the model ends at time %.9g, before the data do", taker.time);
            return false;
        }
    return true;
}

static double
deviation_at(const Fit *fit, const Experiment *e, size_t at)
{
    return isnan(e->deviation[at]) ? fit->kind[e->column[at % e->columns].kind].deviation : e->deviation[at];
}

// Residuals of one experiment from e->value.
static void
put_residuals(const Fit *fit, const Experiment *e, double *residual)
{
    uint32_t i = e->first;
    for (size_t at = 0; at < (size_t)e->data.rows * e->columns; at++)
        if (!isnan(e->measured[at]))
            residual[i++] = (e->value[at] - e->measured[at]) / deviation_at(fit, e, at);
}

static void
put_derivatives(const Fitting *f, const Experiment *e, double *jacobian)
{
    uint32_t i = e->first, n = f->fit->free->n, m = f->problem.m;
    for (size_t at = 0; at < (size_t)e->data.rows * e->columns; at++) {
        if (isnan(e->measured[at]))
            continue;
        for (uint32_t k = 0; k < n; k++)
            jacobian[(size_t)k * m + i] = e->derivative[at * n + k] / deviation_at(f->fit, e, at);
        i++;
    }
}

static bool
note_failure(Fitting *f, const Experiment *e)
{
    snprintf(f->fit->said, sizeof f->fit->said, "%s", e->trial.said);
    return false;
}

// Central differences for one experiment; where one side has no run, of the other side alone.
static bool
differ(Fitting *f, Experiment *e, const double *x, double *residual, double *jacobian)
{
    const Fit *fit = f->fit;
    uint32_t n = fit->free->n, m = f->problem.m;
    double *moved = base_calloc(n + 1, sizeof *moved);
    bool good = true;
    for (uint32_t k = 0; k < n && good; k++) {
        const FreeQuantity *q = &fit->free->at[k];
        double size = fabs(x[k]) > 0 ? fabs(x[k]) : isfinite(q->high - q->low) ? q->high - q->low : 1, at[2];
        double *column = jacobian + (size_t)k * m;
        bool side[2];
        for (int s = 0; s < 2; s++) {
            double *to = s ? f->shifted : column;
            memcpy(moved, x, n * sizeof *moved);
            at[s] = moved[k] = fmin(fmax(x[k] + (s ? f->step : -f->step) * size, q->low), q->high);
            side[s] = at[s] != x[k] && run_experiment(e, moved, false);
            if (side[s]) {
                put_residuals(fit, e, to);
            } else {
                at[s] = x[k];
                memcpy(to + e->first, residual + e->first, (m - e->first) * sizeof *to);
            }
        }
        good = side[0] || side[1];
        uint32_t end = e + 1 < fit->experiment + fit->experiments ? e[1].first : m;
        for (uint32_t i = e->first; i < end && good; i++)
            column[i] = (f->shifted[i] - column[i]) / (at[1] - at[0]);
    }
    free(moved);
    return good;
}

static bool
evaluate_experiment(Fitting *f, Experiment *e, const double *x, double *residual, double *jacobian)
{
    Fit *fit = f->fit;
    bool exact = jacobian && run_experiment(e, x, true);
    if (exact) {
        put_residuals(fit, e, residual);
        put_derivatives(f, e, jacobian);
        return true;
    }
    if (jacobian && e->trial.options.interrupt && *e->trial.options.interrupt)
        return note_failure(f, e);
    char said[sizeof e->trial.said];
    snprintf(said, sizeof said, "%s", e->trial.said);
    if (!run_experiment(e, x, false))
        return note_failure(f, e);
    put_residuals(fit, e, residual);
    if (!jacobian)
        return true;
    // There is a run, but it has no sensitivities.
    e->trial.failed--;
    if (!fit->by_differences++)
        snprintf(fit->reason, sizeof fit->reason, "%s", said);
    f->problem.apart = true;
    f->problem.resolution = 1e-5;
    return differ(f, e, x, residual, jacobian) || note_failure(f, e);
}

static bool
evaluate(void *user, const double *x, double *residual, double *jacobian)
{
    Fitting *f = user;
    bool good = true;
    for (uint32_t i = 0; i < f->fit->experiments && good; i++)
        good = evaluate_experiment(f, &f->fit->experiment[i], x, residual, jacobian);
    for (uint32_t i = 0; i < f->problem.m && good; i++)
        good = isfinite(residual[i]);
    for (size_t i = 0; i < (size_t)f->problem.m * f->problem.n && good && jacobian; i++)
        good = isfinite(jacobian[i]);
    return good;
}

static uint64_t
count_runs(const Fit *fit)
{
    uint64_t runs = 0;
    for (uint32_t i = 0; i < fit->experiments; i++)
        runs += fit->experiment[i].trial.runs;
    return runs;
}

static bool
ended(void *user, SearchEnd *end)
{
    const Fitting *f = user;
    const volatile sig_atomic_t *interrupt = f->request->options->interrupt;
    bool stopped = interrupt && *interrupt, many = count_runs(f->fit) >= f->request->runs_most;
    *end = stopped ? SEARCH_INTERRUPTED : SEARCH_LIMIT;
    return stopped || many;
}

// --- searches

static void
sum_squares(Fitting *f, const double *residual)
{
    Fit *fit = f->fit;
    for (uint32_t k = 0; k < fit->kinds; k++)
        fit->kind[k].squares = 0;
    for (uint32_t i = 0; i < fit->experiments; i++) {
        const Experiment *e = &fit->experiment[i];
        uint32_t at_residual = e->first;
        for (size_t at = 0; at < (size_t)e->data.rows * e->columns; at++) {
            if (isnan(e->measured[at]))
                continue;
            double value = residual[at_residual++] * deviation_at(fit, e, at);
            fit->kind[e->column[at % e->columns].kind].squares += value * value;
        }
    }
}

// Standard deviations of variables from their residuals; true: others than before. The data of the one with the smallest ones must not be
// taken for exact.
static bool
renew_deviations(Fitting *f)
{
    Fit *fit = f->fit;
    bool moved = false;
    double part = fit->values > fit->free->n ? 1 - (double)fit->free->n / fit->values : 1;
    for (uint32_t k = 0; k < fit->kinds; k++) {
        FitKind *kind = &fit->kind[k];
        double now = fmax(sqrt(kind->squares / ((double)kind->n * part)), 1e-6 * kind->spread);
        moved = moved || !(fabs(now - kind->deviation) <= SETTLED * now);
        kind->deviation = now;
    }
    return moved;
}

static void
begin_deviations(Fit *fit)
{
    for (uint32_t k = 0; k < fit->kinds; k++)
        fit->kind[k].deviation = fit->kind[k].given ? fit->kind[k].deviation : fit->kind[k].spread;
}

// One search from f->problem.x on.
static SearchEnd
search(Fitting *f)
{
    Fit *fit = f->fit;
    SearchEnd end;
    bool several = !fit->weighted && fit->kinds > 1;
    if (!fit->weighted)
        begin_deviations(fit);
    for (uint32_t round = 0;; round++) {
        end = least_squares(&f->problem);
        if (end == SEARCH_NO_START || end == SEARCH_INTERRUPTED || !several || round == ROUNDS_MOST)
            break;
        sum_squares(f, f->problem.residual);
        if (!renew_deviations(f) || end == SEARCH_LIMIT)
            break;
    }
    return end;
}

// What searches are compared by: with standard deviations that are found their product counts, by the likelihood.
static double
badness(const Fitting *f)
{
    const Fit *fit = f->fit;
    double sum = 0;
    if (fit->weighted || fit->kinds == 1)
        return f->problem.sum;
    for (uint32_t k = 0; k < fit->kinds; k++)
        sum += (double)fit->kind[k].n / fit->values * log(fit->kind[k].deviation / fit->kind[k].spread);
    return exp(2 * sum);
}

typedef struct BestSearch {
    double badness;
    double *x, *residual, *jacobian, *deviation, *begin;
    SearchEnd end;
    double sum;
} BestSearch;

static void
keep_search(Fitting *f, BestSearch *best, SearchEnd end, double bad, const double *begin)
{
    Fit *fit = f->fit;
    const LeastSquares *p = &f->problem;
    best->badness = bad;
    best->end = end;
    best->sum = p->sum;
    memcpy(best->x, p->x, p->n * sizeof *best->x);
    memcpy(best->begin, begin, p->n * sizeof *best->x);
    memcpy(best->residual, p->residual, p->m * sizeof *best->residual);
    memcpy(best->jacobian, p->jacobian, (size_t)p->m * p->n * sizeof *best->jacobian);
    for (uint32_t k = 0; k < fit->kinds; k++)
        best->deviation[k] = fit->kind[k].deviation;
}

static bool
try_start(Fitting *f, BestSearch *best, uint32_t id)
{
    Fit *fit = f->fit;
    double *begin = arena_array(f->arena, double, fit->free->n + 1);
    if (!free_spread(fit->free, id, begin, f->why))
        return false;
    memcpy(f->problem.x, begin, fit->free->n * sizeof *begin);
    fit->starts++;
    SearchEnd end = search(f);
    if (end == SEARCH_NO_START || !isfinite(f->problem.sum))
        return true;
    double bad = badness(f);
    bool same = fabs(bad - best->badness) <= SAME_SUM * bad;
    if (bad < best->badness && !same)
        fit->agreeing = 0;
    fit->agreeing += same || bad < best->badness;
    if (bad < best->badness)
        keep_search(f, best, end, bad, begin);
    return true;
}

// --- what is known of the solution

static void
find_precision(Fitting *f)
{
    Fit *fit = f->fit;
    LeastSquares *p = &f->problem;
    uint32_t n = p->n;
    double *scale = arena_array(f->arena, double, n + 1);
    Precision *precision = &fit->precision;
    *precision = (Precision){.covariance = arena_array(f->arena, double, (size_t)n * n + 1), .bound = arena_array(f->arena, bool, n + 1),
                             .undetermined = arena_array(f->arena, uint8_t, n + 1), .direction = arena_array(f->arena, double, (size_t)n * n + 1)};
    for (uint32_t k = 0; k < n; k++)
        scale[k] = fabs(p->x[k]) > 0 ? fabs(p->x[k]) : 1;
    precision_find(p, scale, precision);
    fit->covariance = arena_array(f->arena, double, (size_t)n * n + 1);
    fit->error = arena_array(f->arena, double, n + 1);
    uint32_t freedom = p->m > precision->determined ? p->m - precision->determined : 0;
    double variance = fit->weighted ? 1 : freedom ? p->sum / freedom : NAN;
    fit->quantile = fit->weighted ? 1.959963984540054 : freedom ? student_two_sided(0.95, freedom) : NAN;
    for (uint32_t a = 0; a < n; a++)
        for (uint32_t b = 0; b < n; b++) {
            bool known = !precision->bound[a] && !precision->bound[b] && !precision->undetermined[a] && !precision->undetermined[b];
            fit->covariance[(size_t)a * n + b] = known ? variance * precision->covariance[(size_t)a * n + b] : NAN;
        }
    for (uint32_t a = 0; a < n; a++)
        fit->error[a] = sqrt(fit->covariance[(size_t)a * n + a]);
}

static void
keep_values(Fitting *f)
{
    Fit *fit = f->fit;
    for (uint32_t i = 0; i < fit->experiments; i++) {
        Experiment *e = &fit->experiment[i];
        uint32_t at_residual = e->first;
        for (size_t at = 0; at < (size_t)e->data.rows * e->columns; at++)
            e->best[at] = isnan(e->measured[at]) ? NAN : e->measured[at] + f->problem.residual[at_residual++] * deviation_at(fit, e, at);
    }
}

static void
finish(Fitting *f, const BestSearch *best)
{
    Fit *fit = f->fit;
    LeastSquares *p = &f->problem;
    memcpy(p->x, best->x, p->n * sizeof *p->x);
    memcpy(p->residual, best->residual, p->m * sizeof *p->residual);
    memcpy(p->jacobian, best->jacobian, (size_t)p->m * p->n * sizeof *p->jacobian);
    p->sum = best->sum;
    for (uint32_t k = 0; k < fit->kinds; k++)
        fit->kind[k].deviation = best->deviation[k];
    fit->x = best->x;
    fit->begin = best->begin;
    fit->end = best->end;
    keep_values(f);
    sum_squares(f, p->residual);
    find_precision(f);
    fit->chi2 = p->sum;
    if (fit->weighted)
        return;
    // With the deviation of the residuals, where it is the only thing known.
    for (uint32_t k = 0; k < fit->kinds && fit->kinds == 1; k++) {
        uint32_t freedom = p->m > fit->precision.determined ? p->m - fit->precision.determined : 0;
        fit->kind[k].deviation = freedom ? sqrt(fit->kind[k].squares / freedom) : NAN;
    }
}

static void
allocate(Fitting *f, BestSearch *best)
{
    Fit *fit = f->fit;
    uint32_t n = fit->free->n, m = fit->values;
    size_t size = (size_t)m * n + 1;
    Arena *a = f->arena;
    double *low = arena_array(a, double, n + 1), *high = arena_array(a, double, n + 1);
    for (uint32_t k = 0; k < n; k++) {
        low[k] = fit->free->at[k].low;
        high[k] = fit->free->at[k].high;
    }
    f->problem = (LeastSquares){.n = n, .m = m, .low = low, .high = high, .evaluate = evaluate, .ended = ended, .user = f,
                                .resolution = 1e-6, .lapack = f->problem.lapack, .x = arena_array(a, double, n + 1),
                                .residual = arena_array(a, double, m + 1), .jacobian = arena_array(a, double, size)};
    f->shifted = arena_array(a, double, m + 1);
    f->step = cbrt(fmax(f->request->options->tolerance, 1e-12));
    *best = (BestSearch){.badness = INFINITY, .end = SEARCH_NO_START, .x = arena_array(a, double, n + 1), .begin = arena_array(a, double, n + 1),
                         .residual = arena_array(a, double, m + 1), .jacobian = arena_array(a, double, size),
                         .deviation = arena_array(a, double, fit->kinds + 1)};
}

static int
search_all(Fitting *f)
{
    Fit *fit = f->fit;
    BestSearch best;
    SearchEnd end;
    allocate(f, &best);
    for (uint32_t id = 0; id < f->request->starts; id++) {
        if (id && ended(f, &end))
            break;
        if (!try_start(f, &best, id))
            return FAULT_USAGE;
    }
    fit->runs = count_runs(fit);
    for (uint32_t i = 0; i < fit->experiments; i++)
        fit->failed += fit->experiment[i].trial.failed;
    fit->end = best.end;
    if (best.end == SEARCH_NO_START) {
        out_printf(f->why, "no run from where the search begins comes to the end of the data: %s\n", fit->said);
        return 3;
    }
    finish(f, &best);
    return 0;
}

int
fit_find(const FitRequest *request, Arena *arena, Fit *fit, Out *why)
{
    Lapack lapack;
    *fit = (Fit){.free = request->free};
    Fitting f = {.request = request, .fit = fit, .arena = arena, .why = why};
    int status = read_files(&f);
    if (status)
        return status;
    if (!lapack_open(&lapack, why))
        return FAULT_IO;
    f.problem.lapack = &lapack;
    status = search_all(&f);
    lapack_close(&lapack);
    return status;
}
