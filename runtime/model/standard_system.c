// standard_system.c: functions of files.
//
// Purpose: what Modelica.Utilities.Files and Streams read and ask; what they change is in standard_write.c. Method: none.
// Contract: standard.h. Complexity: linear in the file.
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/model/platform.h"
#include "runtime/model/standard_inner.h"
#include "runtime/model/texts.h"

enum { NO_FILE = 1, REGULAR_FILE, DIRECTORY, SPECIAL_FILE }; // Modelica.Utilities.Types.FileType

void
mdl_standard_stat(const double *in, double *out, double *state)
{
    struct stat info;
    bool there = !stat(standard_text(in, 0, state), &info);
    out[0] = !there ? NO_FILE : S_ISREG(info.st_mode) ? REGULAR_FILE : S_ISDIR(info.st_mode) ? DIRECTORY : SPECIAL_FILE;
}

// A name that is no file yet is one of the current folder. That of a folder keeps the slash that it ends with: names of files are put behind it.
void
mdl_standard_full_path(const double *in, double *out, double *state)
{
    const char *name = standard_text(in, 0, state);
    if (strstr(name, "://")) {
        standard_fail(in, state, "'%s' is the address of a resource that is not known when the model is compiled", name);
        return;
    }
    char *real = realpath(name, NULL), *folder = real || *name == '/' ? NULL : getcwd(NULL, 0);
    const char *front = real ? real : folder ? folder : "", *back = real ? "" : name;
    bool folded = real && *name && name[strlen(name) - 1] == '/' && strcmp(real, "/") != 0;
    char *full = malloc(strlen(front) + strlen(back) + 2);
    if (full)
        sprintf(full, "%s%s%s", front, folded || folder ? "/" : "", back);
    out[0] = mdl_text_from(full ? full : name, state);
    free(full);
    free(real);
    free(folder);
}

// --- lines

static FILE *
opened(const double *in, double *state)
{
    const char *path = standard_text(in, 0, state);
    bool may = standard_may_read(path);
    FILE *file = may ? fopen(path, "r") : NULL;
    if (!may)
        standard_fail(in, state, "the file '%s' " STANDARD_NOT_READ, path);
    else if (!file)
        standard_fail(in, state, "the file '%s' cannot be read: %s", path, strerror(errno));
    return file;
}

// The next line without its end; NULL behind the last one, and where the file cannot be read on, as a folder cannot. To be freed.
static char *
next_line(FILE *file, const double *in, double *state)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n = getline(&line, &room, file);
    if (n < 0) {
        if (!feof(file))
            standard_fail(in, state, "the file '%s' cannot be read: %s", standard_text(in, 0, state), strerror(errno));
        free(line);
        return NULL;
    }
    while (n > 0 && (line[n - 1] == '\n' || line[n - 1] == '\r'))
        line[--n] = '\0';
    return line;
}

void
mdl_standard_count_lines(const double *in, double *out, double *state)
{
    FILE *file = opened(in, state);
    out[0] = 0;
    if (!file)
        return;
    for (char *line; (line = next_line(file, in, state)); free(line))
        out[0]++;
    fclose(file);
}

void
mdl_standard_read_line(const double *in, double *out, double *state)
{
    double number = standard_scalar(in, 1), *end = standard_result(in, out + 1, 2);
    FILE *file = opened(in, state);
    char *line = file ? next_line(file, in, state) : NULL;
    for (double k = 1; line && k < number; k++) {
        free(line);
        line = next_line(file, in, state);
    }
    if (file)
        fclose(file);
    *end = line == NULL;
    out[0] = mdl_text_from(line ? line : "", state);
    free(line);
}

void
mdl_standard_read_file(const double *in, double *out, double *state)
{
    double *lines = standard_result(in, out, 1), n = standard_scalar(in, 2);
    FILE *file = opened(in, state);
    for (size_t k = 0; file && k < (size_t)n; k++) {
        char *line = next_line(file, in, state);
        lines[k] = mdl_text_from(line ? line : "", state);
        free(line);
    }
    if (file)
        fclose(file);
}

// --- matrices

static double *
read_matrix(const double *in, double *state, size_t *rows, size_t *columns)
{
    char why[500];
    TableFile file = {.path = standard_text(in, 0, state), .name = standard_text(in, 1, state), .delimiter = ","};
    double *values = standard_read_table(&file, rows, columns, why, sizeof why);
    if (!values)
        standard_fail(in, state, "%s", why);
    return values;
}

void
mdl_standard_matrix_sizes(const double *in, double *out, double *state)
{
    size_t rows = 0, columns = 0;
    double *sizes = standard_result(in, out, 2);
    free(read_matrix(in, state, &rows, &columns));
    sizes[0] = (double)rows;
    sizes[1] = (double)columns;
}

void
mdl_standard_read_matrix(const double *in, double *out, double *state)
{
    size_t rows = 0, columns = 0;
    double *matrix = standard_result(in, out, 2), *values = read_matrix(in, state, &rows, &columns);
    if (values && ((double)rows != standard_scalar(in, 3) || (double)columns != standard_scalar(in, 4)))
        standard_fail(in, state, "the matrix '%s' of the file '%s' has %zu rows and %zu columns, not %g and %g", standard_text(in, 1, state),
                      standard_text(in, 0, state), rows, columns, standard_scalar(in, 3), standard_scalar(in, 4));
    else if (values)
        memcpy(matrix, values, rows * columns * sizeof *values);
    free(values);
}

// No file stays open behind a call.
void
mdl_standard_close_file(const double *in, double *out, double *state)
{
    (void)in;
    (void)state;
    out[0] = 0;
}
