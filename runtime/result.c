// result.c: result rows to a CSV file or to the caller's sink.
//
// Purpose: every row is complete on disk or not there at all, whatever ends the run.
// Method: rows are formatted into a buffer that is written at flush points (32 KiB, a fifth of a second, the
//         run's end). When the device is full the file is cut back to its last complete row.
// Contract: CSV: first column `time`, names quoted when they contain a comma or a quote, %.17g, LF.
// Complexity: O(columns) per row.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/run.h"

enum { FLUSH_BYTES = 32768, NUMBER_BYTES = 32 };

struct Result {
    const mdl_sink *sink;
    uint32_t columns;
    const uint32_t *column;  // NULL: all
    double *row;             // 1 + columns
    int file;                // -1: none
    char *text;
    size_t used, capacity;
    size_t complete;         // bytes of the file that are complete rows
    double flushed;          // clock of the last flush
    bool begun;
};

static uint32_t
output_of(const Result *result, uint32_t k)
{
    return result->column ? result->column[k] : k;
}

static int
report(const Run *run, int error, const char *doing)
{
    const char *path = run->options->output_path ? run->options->output_path : "the result";
    run_message(run, MDL_ERROR, "%s: cannot %s: %s", path, doing, strerror(error));
    return MDL_IO;
}

static bool
reserve(Result *result, size_t more)
{
    if (result->used + more <= result->capacity)
        return true;
    size_t capacity = 2 * (result->used + more);
    char *text = realloc(result->text, capacity);
    if (!text)
        return false;
    result->text = text;
    result->capacity = capacity;
    return true;
}

static int
write_text(Result *result)
{
    size_t done = 0;
    while (done < result->used) {
        ssize_t count = write(result->file, result->text + done, result->used - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0) {
            int error = errno;
            // Keep whole rows of what went out; a device that is not a file has nothing to cut.
            while (done > 0 && result->text[done - 1] != '\n')
                done--;
            struct stat status;
            if (fstat(result->file, &status) == 0 && S_ISREG(status.st_mode) &&
                ftruncate(result->file, (off_t)(result->complete + done)) != 0)
                error = errno;
            result->used = 0;
            return error ? error : EIO;
        }
        done += (size_t)count;
    }
    result->complete += done;
    result->used = 0;
    return 0;
}

int
result_flush(Run *run)
{
    Result *result = run->result;
    if (!result || result->file < 0 || !result->used)
        return MDL_OK;
    int error = write_text(result);
    result->flushed = run_clock();
    return error ? report(run, error, "write") : MDL_OK;
}

static bool
append_name(Result *result, const char *name)
{
    size_t length = strlen(name);
    if (!reserve(result, 2 * length + 4))
        return false;
    result->text[result->used++] = ',';
    bool quote = strpbrk(name, ",\"\n\r") != NULL;
    if (quote)
        result->text[result->used++] = '"';
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '"')
            result->text[result->used++] = '"';
        result->text[result->used++] = name[i];
    }
    if (quote)
        result->text[result->used++] = '"';
    return true;
}

static int
write_header(Run *run)
{
    Result *result = run->result;
    if (!reserve(result, 8))
        return MDL_INTERNAL;
    memcpy(result->text, "time", 4);
    result->used = 4;
    for (uint32_t k = 0; k < result->columns; k++)
        if (!append_name(result, run->model->output[output_of(result, k)].name))
            return MDL_INTERNAL;
    if (!reserve(result, 1))
        return MDL_INTERNAL;
    result->text[result->used++] = '\n';
    return result_flush(run);
}

static int
begin(Run *run)
{
    Result *result = run->result;
    const mdl_options *options = run->options;
    if (result->sink) {
        int error = result->sink->begin
                        ? result->sink->begin(result->sink->self, run->model, result->column, result->columns) : 0;
        result->begun = error == 0;
        return error ? report(run, error, "write") : MDL_OK;
    }
    if (!options->output_path)
        return MDL_OK;
    result->file = open(options->output_path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (result->file < 0)
        return report(run, errno, "open");
    return write_header(run);
}

int
result_open(Run *run)
{
    const mdl_options *options = run->options;
    Result *result = calloc(1, sizeof *result);
    run->result = result;
    if (!result)
        return MDL_INTERNAL;
    result->file = -1;
    result->sink = options->sink;
    result->column = options->column;
    result->columns = options->column ? options->columns : run->model->n_outputs;
    result->row = malloc(((size_t)result->columns + 1) * sizeof *result->row);
    for (uint32_t k = 0; k < result->columns; k++)
        if (output_of(result, k) >= run->model->n_outputs)
            return MDL_INTERNAL;
    result->flushed = run_clock();
    return result->row ? begin(run) : MDL_INTERNAL;
}

// Shortest work for the many values that are small integers; 17 digits otherwise.
static size_t
format_number(char *text, double value)
{
    if (fabs(value) < 1e9 && value == (double)(int32_t)value && !(value == 0 && signbit(value))) {
        char digits[16];
        size_t count = 0, length = 0;
        uint32_t left = (uint32_t)fabs(value);
        do
            digits[count++] = (char)('0' + left % 10);
        while ((left /= 10) != 0);
        if (value < 0)
            text[length++] = '-';
        while (count)
            text[length++] = digits[--count];
        return length;
    }
    return (size_t)snprintf(text, NUMBER_BYTES, "%.17g", value);
}

static int
append_row(Run *run)
{
    Result *result = run->result;
    if (!reserve(result, ((size_t)result->columns + 1) * NUMBER_BYTES))
        return MDL_INTERNAL;
    for (uint32_t k = 0; k <= result->columns; k++) {
        if (k)
            result->text[result->used++] = ',';
        result->used += format_number(result->text + result->used, result->row[k]);
    }
    result->text[result->used++] = '\n';
    if (result->used >= FLUSH_BYTES || run_clock() - result->flushed > 0.2)
        return result_flush(run);
    return MDL_OK;
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
keep_final(Run *run)
{
    const mdl_options *options = run->options;
    for (uint32_t k = 0; options->final_values && k < run->model->n_outputs; k++)
        options->final_values[k] = output_value(run, k);
    if (options->final_time)
        *options->final_time = run->v[0];
}

// A row with a value that is not finite would be worth nothing; the run ends before it.
static int
check_finite(const Run *run)
{
    const mdl_model *model = run->model;
    double probe = 0;
    for (uint32_t k = 0; k < model->n_outputs; k++)
        probe += 0 * run->v[model->output[k].place];
    for (uint32_t k = 0; probe != 0 && k < model->n_outputs; k++) {
        double value = output_value(run, k);
        if (isfinite(value))
            continue;
        run_message(run, MDL_ERROR, "at time %.12g: `%s` = %s is not finite%s", run->v[0], model->output[k].name,
                    isnan(value) ? "nan" : value > 0 ? "inf" : "-inf", evaluate_explain(run));
        return MDL_FAILED;
    }
    return MDL_OK;
}

int
result_row(Run *run)
{
    Result *result = run->result;
    if (check_finite(run) != MDL_OK)
        return MDL_FAILED;
    keep_final(run);
    run->stats->rows++;
    if (!result->sink && result->file < 0)
        return MDL_OK;
    result->row[0] = run->v[0];
    for (uint32_t k = 0; k < result->columns; k++)
        result->row[k + 1] = output_value(run, output_of(result, k));
    if (!result->sink)
        return append_row(run);
    int error = result->sink->row ? result->sink->row(result->sink->self, result->row, result->columns + 1) : 0;
    return error ? report(run, error, "write") : MDL_OK;
}

int
result_close(Run *run)
{
    Result *result = run->result;
    int status = MDL_OK;
    if (!result)
        return status;
    if (result->file >= 0) {
        status = result_flush(run);
        if (close(result->file) != 0 && status == MDL_OK)
            status = report(run, errno, "close");
    }
    if (result->begun && result->sink->end) {
        int error = result->sink->end(result->sink->self);
        if (error)
            status = report(run, error, "finish");
    }
    free(result->row);
    free(result->text);
    free(result);
    run->result = NULL;
    return status;
}
