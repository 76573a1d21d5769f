// csv.c: result rows as text.
//
// Purpose: every row is complete on disk or not there at all, whatever ends the run.
// Method: numbers that are the same as in the row above are copied from there; others are formatted, as many at a time as stand side by
//         side. When the device is full the
//         file is cut back to its last complete row.
// Contract: sink.h. CSV: first column `time`, names quoted when they contain a comma or a quote, %.17g, LF.
// Complexity: O(columns) per row.
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/result/decimal.h"
#include "runtime/result/sink.h"

enum { LONGEST = 24 }; // -1.2345678901234567e-308

typedef struct Csv {
    const char *path;
    int file;             // -1: not open
    size_t complete;      // bytes of the file that are complete rows
    DecimalPowers powers;
} Csv;

static int
cut_back(const Csv *csv, const Bytes *text, size_t done, int error)
{
    // Keep whole rows of what went out; a device that is not a file has nothing to cut.
    while (done > 0 && text->at[done - 1] != '\n')
        done--;
    struct stat status;
    if (fstat(csv->file, &status) == 0 && S_ISREG(status.st_mode) && ftruncate(csv->file, (off_t)(csv->complete + done)) != 0)
        error = errno;
    return error ? error : EIO;
}

static int
put(void *self, const double *value, const Bytes *text)
{
    Csv *csv = self;
    size_t done = 0;
    (void)value;
    while (done < text->used) {
        ssize_t count = write(csv->file, text->at + done, text->used - done);
        if (count < 0 && errno == EINTR)
            continue;
        if (count < 0)
            return cut_back(csv, text, done, errno);
        done += (size_t)count;
    }
    csv->complete += done;
    return 0;
}

static size_t
quoted_length(const char *name)
{
    size_t length = 1;
    for (const char *c = name; *c; c++)
        length += *c == '"' ? 2 : 1;
    return strpbrk(name, ",\"\n\r") ? length + 2 : length;
}

static void
append_name(Bytes *text, const char *name)
{
    text->at[text->used++] = ',';
    bool quote = strpbrk(name, ",\"\n\r") != NULL;
    if (quote)
        text->at[text->used++] = '"';
    for (const char *c = name; *c; c++) {
        if (*c == '"')
            text->at[text->used++] = '"';
        text->at[text->used++] = *c;
    }
    if (quote)
        text->at[text->used++] = '"';
}

static int
begin(void *self, const mdl_model *model, const uint32_t *column, uint32_t columns)
{
    Csv *csv = self;
    Bytes header = {.capacity = strlen("time\n")};
    csv->file = !strcmp(csv->path, "-") ? dup(STDOUT_FILENO) : result_file_open(csv->path);
    if (csv->file < 0)
        return errno;
    decimal_prepare(&csv->powers);
    for (uint32_t k = 0; k < columns; k++)
        header.capacity += quoted_length(model->output[column ? column[k] : k].name);
    header.at = malloc(header.capacity);
    if (!header.at)
        return ENOMEM;
    memcpy(header.at, "time", 4);
    header.used = 4;
    for (uint32_t k = 0; k < columns; k++)
        append_name(&header, model->output[column ? column[k] : k].name);
    header.at[header.used++] = '\n';
    int error = put(csv, NULL, &header);
    free(header.at);
    return error;
}

// What decimal_format() and copying touch is a little more than what they make.
static size_t
room(const void *self, uint32_t rows, uint32_t count)
{
    (void)self;
    return (size_t)rows * count * (LONGEST + 1) + DECIMAL_BYTES;
}

// Both may lie in one row that is shorter than this.
static inline void
copy_number(char *to, const char *from)
{
    char number[LONGEST + 1];
    memcpy(number, from, sizeof number);
    memcpy(to, number, sizeof number);
}

// Up to where numbers are the same as in the row before.
static inline uint32_t
same(const double *value, const double *before, uint32_t from, uint32_t count)
{
    uint32_t k = from;
    while (k < count && !memcmp(&value[k], &before[k], sizeof *value))
        k++;
    return k;
}

// Up to where two numbers in succession are: single ones are formatted with their neighbours.
static inline uint32_t
changing(const double *value, const double *before, uint32_t from, uint32_t count)
{
    uint32_t k = from;
    for (uint32_t unchanged = 0; k < count && unchanged < 2; k++)
        unchanged = memcmp(&value[k], &before[k], sizeof *value) ? 0 : unchanged + 1;
    return k;
}

// A row like the one of the numbers before these, which stands at `above`.
static char *
encode_row(const DecimalPowers *powers, const double *value, uint32_t count, char *at, const char *above, uint8_t *length)
{
    for (uint32_t k = 0; k < count;) {
        uint32_t end = same(value, value - count, k, count);
        for (; k < end; k++) {
            copy_number(at, above);
            at += length[k] + 1;
            above += length[k] + 1;
        }
        end = changing(value, value - count, k, count);
        for (uint32_t i = k; i < end; i++)
            above += length[i] + 1;
        at = decimal_format_all(powers, at, value + k, end - k, length + k);
        k = end;
    }
    return at;
}

static void
encode(const void *self, const double *value, uint32_t rows, uint32_t count, Bytes *text)
{
    const DecimalPowers *powers = &((const Csv *)self)->powers;
    uint8_t *length = text->scratch; // of the numbers of the row above; `above` is where they stand
    char *at = text->at;
    const char *above = NULL;
    for (uint32_t r = 0; r < rows; r++, value += count) {
        char *row = at;
        at = r ? encode_row(powers, value, count, row, above, length) : decimal_format_all(powers, row, value, count, length);
        at[-1] = '\n';
        above = row;
    }
    text->used = (size_t)(at - text->at);
}

static int
end(void *self)
{
    Csv *csv = self;
    int error = csv->file >= 0 && close(csv->file) != 0 ? errno : 0;
    free(csv);
    return error;
}

bool
csv_file(const char *path, FileKind *kind)
{
    Csv *csv = calloc(1, sizeof *csv);
    if (!csv)
        return false;
    csv->path = path;
    csv->file = -1;
    *kind = (FileKind){csv, begin, room, encode, put, end};
    return true;
}
