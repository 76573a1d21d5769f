// csv.c: result rows as text.
//
// Purpose: every row is complete on disk or not there at all, whatever ends the run.
// Method: rows are formatted into a buffer that is written when it is full or asked for. When the device is full the file
//         is cut back to its last complete row.
// Contract: CSV: first column `time`, names quoted when they contain a comma or a quote, %.17g, LF.
// Complexity: O(columns) per row.
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/decimal.h"
#include "runtime/sink.h"

enum { FLUSH_BYTES = 1 << 17, NUMBER_BYTES = DECIMAL_BYTES + 1 };

typedef struct Csv {
    const char *path;
    int file;             // -1: not open
    char *text;
    size_t used, capacity;
    size_t complete;      // bytes of the file that are complete rows
    DecimalPowers powers;
} Csv;

static bool
reserve(Csv *csv, size_t more)
{
    if (csv->used + more <= csv->capacity)
        return true;
    size_t capacity = 2 * (csv->used + more);
    char *text = realloc(csv->text, capacity);
    if (!text)
        return false;
    csv->text = text;
    csv->capacity = capacity;
    return true;
}

static int
cut_back(Csv *csv, size_t done, int error)
{
    // Keep whole rows of what went out; a device that is not a file has nothing to cut.
    while (done > 0 && csv->text[done - 1] != '\n')
        done--;
    struct stat status;
    if (fstat(csv->file, &status) == 0 && S_ISREG(status.st_mode) && ftruncate(csv->file, (off_t)(csv->complete + done)) != 0)
        error = errno;
    csv->used = 0;
    return error ? error : EIO;
}

static int
flush(void *self)
{
    Csv *csv = self;
    size_t done = 0;
    while (csv->file >= 0 && done < csv->used) {
        ssize_t count = write(csv->file, csv->text + done, csv->used - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return cut_back(csv, done, errno);
        done += (size_t)count;
    }
    csv->complete += done;
    csv->used = 0;
    return 0;
}

static bool
append_name(Csv *csv, const char *name)
{
    size_t length = strlen(name);
    if (!reserve(csv, 2 * length + 4))
        return false;
    csv->text[csv->used++] = ',';
    bool quote = strpbrk(name, ",\"\n\r") != NULL;
    if (quote)
        csv->text[csv->used++] = '"';
    for (size_t i = 0; i < length; i++) {
        if (name[i] == '"')
            csv->text[csv->used++] = '"';
        csv->text[csv->used++] = name[i];
    }
    if (quote)
        csv->text[csv->used++] = '"';
    return true;
}

static int
begin(void *self, const mdl_model *model, const uint32_t *column, uint32_t columns)
{
    Csv *csv = self;
    csv->file = !strcmp(csv->path, "-") ? dup(STDOUT_FILENO) : open(csv->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (csv->file < 0)
        return errno;
    if (!reserve(csv, 8))
        return ENOMEM;
    decimal_prepare(&csv->powers);
    memcpy(csv->text, "time", 4);
    csv->used = 4;
    for (uint32_t k = 0; k < columns; k++)
        if (!append_name(csv, model->output[column ? column[k] : k].name))
            return ENOMEM;
    if (!reserve(csv, 1))
        return ENOMEM;
    csv->text[csv->used++] = '\n';
    return flush(csv);
}

// Shortest work for the many values that are small integers; 17 digits otherwise.
static size_t
format_number(const DecimalPowers *powers, char *text, double value)
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
    return decimal_format(powers, text, value);
}

static int
row(void *self, const double *value, uint32_t count)
{
    Csv *csv = self;
    if (!reserve(csv, (size_t)count * NUMBER_BYTES))
        return ENOMEM;
    for (uint32_t k = 0; k < count; k++) {
        if (k)
            csv->text[csv->used++] = ',';
        csv->used += format_number(&csv->powers, csv->text + csv->used, value[k]);
    }
    csv->text[csv->used++] = '\n';
    return csv->used >= FLUSH_BYTES ? flush(csv) : 0;
}

static int
end(void *self)
{
    Csv *csv = self;
    int error = flush(csv);
    if (csv->file >= 0 && close(csv->file) != 0 && !error)
        error = errno;
    free(csv->text);
    free(csv);
    return error;
}

bool
csv_sink(const char *path, mdl_sink *sink)
{
    Csv *csv = calloc(1, sizeof *csv);
    if (!csv)
        return false;
    csv->path = path;
    csv->file = -1;
    *sink = (mdl_sink){csv, begin, row, flush, end};
    return true;
}
