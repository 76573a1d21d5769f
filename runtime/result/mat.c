// mat.c: result rows in MATLAB level 4 files, laid out as Modelica tools write trajectories.
//
// Purpose: results that libmatio, scipy and the tools around Modelica read. Method: the matrices
//   Aclass      4 x 11 text     "Atrajectory", "1.1", "", "binTrans": the other matrices are transposed
//   name        names, one a column; description the same: "comment [unit]"
//   dataInfo    4 x n int32     which data matrix (0: time), sign * column in it, 0 (linear), -1 (not defined outside)
//   data_1      parameters, at the start and at the end
//   data_2      a column per point: time, then the variables; aliases share a row
// come in this order, so that points are appended to the file and only the number of columns in the last header changes:
// it is renewed at every flush, after the points, and so the file can be read whatever ends the run.
// Contract: little-endian numbers of 8 bytes. Parameters are those outputs that are columns on request and no
//   derivatives; their values are taken from the first row. Complexity: O(columns) per row.
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/result/sink.h"

enum { TYPE_DOUBLE = 0, TYPE_INT32 = 20, TYPE_TEXT = 51 };

typedef struct Mat {
    const char *path;
    int file;                // -1: not open
    Bytes header;            // what is written when the file is opened
    size_t written;          // bytes of the file
    size_t count_at, data_at, parameters_at; // where the number of points, points, and data_1 stand
    uint32_t points;         // in the file
    uint32_t rows;           // of data_2
    uint32_t parameters;     // rows of data_1, with the time
    uint32_t *source;        // per row of data_2: index into a row's values
    uint32_t *parameter;     // per row of data_1: the same
    int32_t *info;           // dataInfo, 4 per name
    bool straight;           // a column of data_2 is a row as it comes
    bool begun;              // the first row has come
} Mat;

// --- bytes

static int
write_all(int file, const void *bytes, size_t length, off_t at)
{
    const char *from = bytes;
    while (length) {
        ssize_t count = pwrite(file, from, length, at);
        if (count < 0 && errno == EINTR)
            continue;
        if (count <= 0)
            return errno ? errno : EIO;
        from += count;
        at += count;
        length -= (size_t)count;
    }
    return 0;
}

static bool
append(Mat *mat, const void *bytes, size_t length)
{
    Bytes *header = &mat->header;
    if (header->used + length > header->capacity) {
        size_t capacity = 2 * (header->used + length);
        char *at = realloc(header->at, capacity);
        if (!at)
            return false;
        header->at = at;
        header->capacity = capacity;
    }
    if (bytes)
        memcpy(header->at + header->used, bytes, length);
    else
        memset(header->at + header->used, 0, length);
    header->used += length;
    return true;
}

static bool
append_header(Mat *mat, const char *name, int32_t type, uint32_t rows, uint32_t columns)
{
    int32_t header[5] = {type, (int32_t)rows, (int32_t)columns, 0, (int32_t)strlen(name) + 1};
    return append(mat, header, sizeof header) && append(mat, name, strlen(name) + 1);
}

// --- what a result is

static const mdl_output *
output_at(const mdl_model *model, const uint32_t *column, uint32_t k)
{
    return &model->output[column ? column[k] : k];
}

// "comment [unit]"; the text lives until the next call.
static const char *
description(const mdl_model *model, const mdl_output *output, char *text, size_t size)
{
    const mdl_declaration *d = output->declaration < model->n_declarations ? &model->declaration[output->declaration] : NULL;
    const char *comment = d && d->comment ? d->comment : "", *unit = d && d->unit ? d->unit : "";
    if (output->on_request == MDL_OUTPUT_DERIVATIVE)
        comment = unit = "";
    snprintf(text, size, "%s%s%s%s%s", comment, *comment && *unit ? " " : "", *unit ? "[" : "", unit, *unit ? "]" : "");
    return text;
}

static const char *
text_of_column(const mdl_model *model, const uint32_t *column, uint32_t k, bool describe, char *text, size_t size)
{
    if (k == 0)
        return describe ? "time in [s]" : "time";
    const mdl_output *output = output_at(model, column, k - 1);
    return describe ? description(model, output, text, size) : output->name;
}

// The names or descriptions of time and the columns, each padded to the longest.
static bool
append_texts(Mat *mat, const char *name, const mdl_model *model, const uint32_t *column, uint32_t columns, bool describe)
{
    char text[1024];
    size_t longest = 1;
    for (uint32_t k = 0; k <= columns; k++) {
        size_t length = strlen(text_of_column(model, column, k, describe, text, sizeof text));
        longest = length > longest ? length : longest;
    }
    bool good = append_header(mat, name, TYPE_TEXT, (uint32_t)longest, columns + 1);
    for (uint32_t k = 0; good && k <= columns; k++) {
        const char *word = text_of_column(model, column, k, describe, text, sizeof text);
        good = append(mat, word, strlen(word)) && append(mat, NULL, longest - strlen(word));
    }
    return good;
}

// Which row of which matrix a column is; columns of one place share a row.
static bool
plan(Mat *mat, const mdl_model *model, const uint32_t *column, uint32_t columns)
{
    uint32_t *row_of = calloc(model->nv, sizeof *row_of); // by place: row of data_2 + 1
    mat->source = calloc((size_t)columns + 1, sizeof *mat->source);
    mat->parameter = calloc((size_t)columns + 1, sizeof *mat->parameter);
    mat->info = calloc(4 * ((size_t)columns + 1), sizeof *mat->info);
    bool good = row_of && mat->source && mat->parameter && mat->info;
    mat->rows = mat->parameters = 1; // the time
    if (good)
        memcpy(mat->info, (int32_t[]){0, 1, 0, -1}, 4 * sizeof *mat->info);
    for (uint32_t k = 0; good && k < columns; k++) {
        const mdl_output *output = output_at(model, column, k);
        bool constant = output->on_request == MDL_OUTPUT_PARAMETER;
        int32_t at;
        if (constant) {
            mat->parameter[mat->parameters++] = k + 1;
            at = (int32_t)mat->parameters;
        } else if (row_of[output->place]) {
            at = (int32_t)row_of[output->place];
            const mdl_output *first = output_at(model, column, mat->source[at - 1] - 1);
            at *= first->sign == output->sign ? 1 : -1;
        } else {
            mat->source[mat->rows++] = k + 1;
            at = (int32_t)mat->rows;
            row_of[output->place] = mat->rows;
        }
        memcpy(mat->info + 4 * ((size_t)k + 1), (int32_t[]){constant ? 1 : 2, at, 0, -1}, 4 * sizeof *mat->info);
    }
    free(row_of);
    mat->straight = good && mat->rows == columns + 1;
    return good;
}

static bool
append_class(Mat *mat)
{
    static const char rows[4][12] = {"Atrajectory", "1.1", "", "binTrans"};
    char text[44];
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 11; c++)
            text[4 * c + r] = c < (int)strlen(rows[r]) ? rows[r][c] : ' ';
    return append_header(mat, "Aclass", TYPE_TEXT, 4, 11) && append(mat, text, sizeof text);
}

// --- the file

static int
renew_count(Mat *mat)
{
    int32_t points = (int32_t)mat->points;
    return write_all(mat->file, &points, sizeof points, (off_t)mat->count_at);
}

// Whole points only stay when the disk is full.
static int
cut_back(Mat *mat, int error)
{
    size_t size = mat->rows * sizeof(double);
    off_t length = lseek(mat->file, 0, SEEK_END);
    if (length > (off_t)mat->data_at)
        mat->points = (uint32_t)((size_t)(length - (off_t)mat->data_at) / size);
    if (ftruncate(mat->file, (off_t)(mat->data_at + mat->points * size)) == 0)
        (void)renew_count(mat);
    return error;
}

static int
append_to_file(Mat *mat, const void *bytes, size_t length)
{
    int error = write_all(mat->file, bytes, length, (off_t)mat->written);
    if (error)
        return cut_back(mat, error);
    mat->written += length;
    if (mat->written > mat->data_at)
        mat->points = (uint32_t)((mat->written - mat->data_at) / (mat->rows * sizeof(double)));
    return renew_count(mat);
}

static int
begin(void *self, const mdl_model *model, const uint32_t *column, uint32_t columns)
{
    Mat *mat = self;
    mat->file = result_file_open(mat->path);
    if (mat->file < 0)
        return errno;
    bool good = plan(mat, model, column, columns) && append_class(mat)
                && append_texts(mat, "name", model, column, columns, false)
                && append_texts(mat, "description", model, column, columns, true)
                && append_header(mat, "dataInfo", TYPE_INT32, 4, columns + 1)
                && append(mat, mat->info, 4 * ((size_t)columns + 1) * sizeof *mat->info)
                && append_header(mat, "data_1", TYPE_DOUBLE, mat->parameters, 2);
    mat->parameters_at = mat->header.used;
    good = good && append(mat, NULL, 2 * mat->parameters * sizeof(double));
    mat->count_at = mat->header.used + 2 * sizeof(int32_t);
    good = good && append_header(mat, "data_2", TYPE_DOUBLE, mat->rows, 0);
    mat->data_at = mat->header.used;
    return good ? append_to_file(mat, mat->header.at, mat->header.used) : ENOMEM;
}

// The values of parameters, with the span of time as far as it is known.
static int
write_parameters(Mat *mat, const double *value)
{
    int error = 0;
    for (uint32_t copy = 0; copy < 2 && !error; copy++)
        for (uint32_t p = 0; p < mat->parameters && !error; p++)
            error = write_all(mat->file, &value[mat->parameter[p]], sizeof(double),
                              (off_t)(mat->parameters_at + (copy * mat->parameters + p) * sizeof(double)));
    mat->begun = true;
    return error;
}

static size_t
room(const void *self, uint32_t rows, uint32_t count)
{
    const Mat *mat = self;
    (void)count;
    return mat->straight ? 1 : (size_t)rows * mat->rows * sizeof(double);
}

static void
encode(const void *self, const double *value, uint32_t rows, uint32_t count, Bytes *bytes)
{
    const Mat *mat = self;
    bytes->used = (size_t)rows * mat->rows * sizeof *value;
    char *to = bytes->at;
    for (uint32_t i = 0; i < rows && !mat->straight; i++, value += count)
        for (uint32_t r = 0; r < mat->rows; r++, to += sizeof *value)
            memcpy(to, &value[mat->source[r]], sizeof *value);
}

static int
put(void *self, const double *value, const Bytes *bytes)
{
    Mat *mat = self;
    int error = mat->begun ? 0 : write_parameters(mat, value);
    return error ? error : append_to_file(mat, mat->straight ? (const void *)value : bytes->at, bytes->used);
}

// data_1 says over what time the parameters hold.
static int
write_end_time(Mat *mat)
{
    double time;
    if (!mat->points)
        return 0;
    size_t last = mat->data_at + (mat->points - 1) * (size_t)mat->rows * sizeof(double);
    if (pread(mat->file, &time, sizeof time, (off_t)last) != sizeof time)
        return 0;
    return write_all(mat->file, &time, sizeof time, (off_t)(mat->parameters_at + mat->parameters * sizeof(double)));
}

static int
end(void *self)
{
    Mat *mat = self;
    int error = mat->file >= 0 ? write_end_time(mat) : 0;
    if (mat->file >= 0 && close(mat->file) != 0 && !error)
        error = errno;
    free(mat->header.at);
    free(mat->source);
    free(mat->parameter);
    free(mat->info);
    free(mat);
    return error;
}

bool
mat_file(const char *path, FileKind *kind)
{
    Mat *mat = calloc(1, sizeof *mat);
    if (!mat)
        return false;
    mat->path = path;
    mat->file = -1;
    *kind = (FileKind){mat, begin, room, encode, put, end};
    return true;
}
