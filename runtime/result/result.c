// result.c: result rows to a file or to the caller's sink.
//
// Purpose: rows of finite values only, the values at the end for the caller, and what has come is on disk at least every
// fifth of a second.
// Method: a block of rows at a time, to the writer (writer.c) or the caller.
// Contract: result.h. Complexity: O(columns) per row.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/point/sense.h"
#include "runtime/result/result.h"
#include "runtime/result/sink.h"

static const double FLUSH_SECONDS = 0.2;
enum { CALLS_PER_LOOK = 16 };

struct Result {
    mdl_sink sink;           // of options, or of a file
    bool wanted, begun;      // there is a sink; its `begin` was called
    uint32_t columns;
    const uint32_t *column;  // NULL: all
    uint32_t *place;         // per output of the model, where its value stands; those of the columns behind them
    uint32_t *negated;       // outputs with the sign changed; columns behind them
    uint32_t negated_outputs, negated_columns;
    double *row;             // 1 + columns
    double *before;          // the same: the row before the event at hand
    bool held;               // it has not been written yet
    double flushed;          // clock of the last flush
    bool pending;            // a row has come since
    double looked;           // clock of the latest look at it
    uint32_t rest;           // calls of result_tend() without a look
};

static uint32_t
output_of(const Result *result, uint32_t k)
{
    return result->column ? result->column[k] : k;
}

MDL_CHECKED static int
report(const Run *run, int error, const char *doing)
{
    const char *path = run->options->output_path ? run->options->output_path : "the result";
    if (error == EBUSY) {
        run_message(run, MDL_ERROR, "%s: another run is writing this file; give one of them another name", path);
        return MDL_IO;
    }
    run_message(run, MDL_ERROR, "%s: cannot %s: %s", path, doing, strerror(error));
    return MDL_IO;
}

MDL_CHECKED static int
flush(Run *run)
{
    Result *result = run->result;
    result->flushed = clock_seconds();
    result->pending = false;
    if (!result->sink.flush)
        return MDL_OK;
    int error = result->sink.flush(result->sink.self);
    return error ? report(run, error, "write") : MDL_OK;
}

MDL_CHECKED static int
write_row(Run *run, const double *row)
{
    Result *result = run->result;
    run->stats->rows++;
    if (!result->wanted)
        return MDL_OK;
    const mdl_sink *witness = run->options->witness;
    int error = result->sink.row ? result->sink.row(result->sink.self, row, result->columns + 1) : 0;
    if (!error && witness)
        error = witness->row(witness->self, row, result->columns + 1);
    if (error)
        return report(run, error, "write");
    result->pending = true;
    return MDL_OK;
}

MDL_CHECKED static int
write_before(Run *run)
{
    Result *result = run->result;
    if (!result->held)
        return MDL_OK;
    result->held = false;
    if (run->options->final_time && *run->options->final_time < result->before[0])
        *run->options->final_time = result->before[0];
    return write_row(run, result->before);
}

int
result_tend(Run *run)
{
    Result *result = run->result;
    if (!result->pending)
        return MDL_OK;
    if (result->rest) {
        result->rest--;
        return MDL_OK;
    }
    // Steps are mostly much faster than what is waited for: a look at the clock in many of them is enough.
    double now = clock_seconds();
    result->rest = now - result->looked < FLUSH_SECONDS / 10 ? CALLS_PER_LOOK - 1 : 0;
    result->looked = now;
    return now - result->flushed > FLUSH_SECONDS ? flush(run) : MDL_OK;
}

static bool
is_mat(const char *path)
{
    size_t length = strlen(path);
    return length > 4 && !strcmp(path + length - 4, ".mat");
}

MDL_CHECKED static int
begin(Run *run)
{
    Result *result = run->result;
    const mdl_options *options = run->options;
    const char *path = options->output_path;
    result->wanted = options->sink || path || options->witness;
    FileKind file;
    if (options->sink)
        result->sink = *options->sink;
    else if (path && (!(is_mat(path) ? mat_file : csv_file)(path, &file) || !writer_sink(&file, &result->sink)))
        return MDL_INTERNAL;
    if (!result->wanted)
        return MDL_OK;
    result->begun = true;
    int error = result->sink.begin ? result->sink.begin(result->sink.self, run->model, result->column, result->columns) : 0;
    return error ? report(run, error, error == ENOSPC ? "write" : "open") : MDL_OK;
}

// The places of `count` outputs; returns how many of these have the sign changed, which `negated` lists.
static uint32_t
list_outputs(const mdl_model *model, const uint32_t *column, uint32_t count, uint32_t *place, uint32_t *negated)
{
    uint32_t found = 0;
    for (uint32_t k = 0; k < count; k++) {
        const mdl_output *output = &model->output[column ? column[k] : k];
        place[k] = output->place;
        if (output->sign < 0)
            negated[found++] = k;
    }
    return found;
}

// Rows are copied by short lists of places; the outputs themselves are spread over more memory than a cache holds.
static bool
list_places(Result *result, const mdl_model *model)
{
    size_t size = ((size_t)model->n_outputs + result->columns + 1) * sizeof *result->place;
    result->place = malloc(size);
    result->negated = malloc(size);
    if (!result->place || !result->negated)
        return false;
    uint32_t n = model->n_outputs;
    result->negated_outputs = list_outputs(model, NULL, n, result->place, result->negated);
    result->negated_columns = list_outputs(model, result->column, result->columns, result->place + n, result->negated + n);
    return true;
}

int
result_open(Run *run)
{
    const mdl_options *options = run->options;
    Result *result = calloc(1, sizeof *result);
    run->result = result;
    if (!result)
        return MDL_INTERNAL;
    result->column = options->column;
    result->columns = options->column ? options->columns : run->model->n_outputs;
    result->row = malloc(((size_t)result->columns + 1) * sizeof *result->row);
    result->before = calloc((size_t)result->columns + 1, sizeof *result->before);
    for (uint32_t k = 0; k < result->columns; k++)
        if (output_of(result, k) >= run->model->n_outputs)
            return MDL_INTERNAL;
    result->flushed = clock_seconds();
    return result->row && result->before && list_places(result, run->model) ? begin(run) : MDL_INTERNAL;
}

static double
output_value(const Run *run, uint32_t k)
{
    const mdl_output *output = &run->model->output[k];
    double value = run->v[output->place];
    // No negative zeros from aliases.
    return output->sign < 0 ? 0 - value : value;
}

static void
collect(const Run *run, const uint32_t *place, uint32_t count, const uint32_t *negated, uint32_t changed, double *value)
{
    for (uint32_t k = 0; k < count; k++)
        value[k] = run->v[place[k]];
    // No negative zeros from aliases.
    for (uint32_t i = 0; i < changed; i++)
        value[negated[i]] = 0 - value[negated[i]];
}

static void
keep_final(Run *run)
{
    const mdl_options *options = run->options;
    const Result *result = run->result;
    if (options->final_values)
        collect(run, result->place, run->model->n_outputs, result->negated, result->negated_outputs, options->final_values);
}

MDL_CHECKED static int
not_finite(const Run *run, uint32_t k)
{
    double value = output_value(run, k);
    if (failure_report(run))
        return MDL_FAILED;
    run_message(run, MDL_ERROR, "at time %.12g: `%s` = %s is not finite%s", run->v[0], run->model->output[k].name,
                isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", evaluate_explain(run));
    return MDL_FAILED;
}

// A row with a value that is not finite would be worth nothing; the run ends before it. A parameter may have none (a field of a record that a function
// leaves out): where it counts, a variable has none either.
MDL_CHECKED static int
check_finite(const Run *run)
{
    const mdl_model *model = run->model;
    const Result *result = run->result;
    uint32_t k = 0, n = model->n_outputs;
    const uint32_t *place = result->place;
    double probe[4] = {0};
    for (; k + 4 <= n; k += 4)
        for (uint32_t i = 0; i < 4; i++)
            probe[i] += 0 * run->v[place[k + i]];
    for (; k < n; k++)
        probe[0] += 0 * run->v[place[k]];
    if (probe[0] + probe[1] + probe[2] + probe[3] == 0)
        return MDL_OK;
    for (k = 0; k < n; k++)
        if (!isfinite(output_value(run, k)) && model->output[k].on_request == MDL_OUTPUT_ALWAYS)
            return not_finite(run, k);
    for (k = 0; k < result->columns; k++)
        if (!isfinite(output_value(run, output_of(result, k))) && model->output[output_of(result, k)].on_request != MDL_OUTPUT_PARAMETER)
            return not_finite(run, output_of(result, k));
    return MDL_OK;
}

static void
fill_row(Run *run)
{
    Result *result = run->result;
    uint32_t n = run->model->n_outputs;
    collect(run, result->place + n, result->columns, result->negated + n, result->negated_columns, result->row + 1);
}

bool
result_may_prepare(const Run *run)
{
    const mdl_options *options = run->options;
    return !run->sense && !run->audit && !options->final_values && (!options->checker || options->check == MDL_CHECK_OFF)
           && (options->no_ranges || !run->model->n_limits);
}

uint32_t
result_length(const Run *run)
{
    return run->result->columns + 1;
}

void
result_prepare(const Run *run, const double *v, uint32_t width, double *row)
{
    const Result *result = run->result;
    uint32_t n = run->model->n_outputs;
    row[0] = v[0];
    for (uint32_t k = 0; k < result->columns; k++)
        row[1 + k] = v[(size_t)result->place[n + k] * width];
    for (uint32_t i = 0; i < result->negated_columns; i++)
        row[1 + result->negated[n + i]] = 0 - row[1 + result->negated[n + i]];
}

int
result_prepared(Run *run, const double *row)
{
    if (run->options->final_time)
        *run->options->final_time = row[0];
    int status = write_before(run);
    if (status == MDL_OK)
        status = write_row(run, row);
    return status == MDL_OK ? result_tend(run) : status;
}

// The values in v into result->row, with all that is looked at in a row.
MDL_CHECKED static int
make_row(Run *run)
{
    Result *result = run->result;
    int status = run->sense ? sense_values(run) : MDL_OK;
    if (status != MDL_OK)
        return status;
    if ((status = check_loops(run)) != MDL_OK)
        return status;
    if (check_finite(run) != MDL_OK || check_row(run) != MDL_OK)
        return MDL_FAILED;
    if ((status = audit_row(run)) != MDL_OK)
        return status;
    range_row(run);
    keep_final(run);
    // What happens just after the start stands at the instant of the start, as events do at theirs.
    double start = run->options->start;
    result->row[0] = run->v[0] == event_just_after(start) ? start : run->v[0];
    if (result->wanted)
        fill_row(run);
    return MDL_OK;
}

int
result_row(Run *run)
{
    int status = make_row(run);
    return status == MDL_OK ? result_prepared(run, run->result->row) : status;
}

int
result_before_event(Run *run)
{
    Result *result = run->result;
    int status = make_row(run);
    if (status != MDL_OK)
        return status;
    memcpy(result->before, result->row, ((size_t)result->columns + 1) * sizeof *result->row);
    result->held = true;
    return MDL_OK;
}

int
result_behind_event(Run *run, bool quiet)
{
    if (!quiet)
        return result_row(run);
    run->result->held = false;
    return MDL_OK;
}

int
result_close(Run *run)
{
    Result *result = run->result;
    int status = MDL_OK;
    if (!result)
        return status;
    if (result->begun)
        status = write_before(run);
    if (result->begun && result->sink.end) {
        int error = result->sink.end(result->sink.self);
        if (error)
            status = report(run, error, "finish");
    }
    free(result->row);
    free(result->before);
    free(result->place);
    free(result->negated);
    free(result);
    run->result = NULL;
    return status;
}
