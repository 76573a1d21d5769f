// standard_file.c: matrices in files.
//
// Purpose: text files of matrices,
//
//     #1
//     double NAME(ROWS,COLUMNS)   # a remark
//       0 1
//       ...
//
// files of MATLAB (standard_mat.c), and files of comma-separated values, whose name ends with .csv.
// Method: the first bytes and the ending of the name decide the kind; numbers are read where the file has them.
// Contract: standard_inner.h. Complexity: linear in the file.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "runtime/model/platform.h"
#include "runtime/model/standard_inner.h"

#ifdef _WIN32
#define LISTED ";"
#else
#define LISTED ":"
#endif

enum { LARGEST = 1 << 30 }; // bytes

typedef struct Reading {
    const TableFile *file;
    char *text;
    size_t size;
    char *why;
    size_t room;
} Reading;

static bool
is_listed(const char *list, const char *real)
{
    bool found = false;
    while (*list && !found) {
        size_t length = strcspn(list, LISTED), n = length && list[length - 1] == '/' ? length - 1 : length;
        found = length && !strncmp(real, list, n) && (!real[n] || real[n] == '/');
        list += length + (list[length] != 0);
    }
    return found;
}

// MDLC_FILES lists folders and files, each as realpath() gives it: others are not read. Without it there is no limit.
bool
standard_may_read(const char *path)
{
    const char *list = getenv("MDLC_FILES");
    char *real = list ? realpath(path, NULL) : NULL;
    bool may = !list || !real || is_listed(list, real); // opening it says what is wrong with what is not there
    free(real);
    return may;
}

// MDLC_WRITES is such a list; without it nothing is written. Of what is not there yet the folder is looked at. A link that leads nowhere would be followed when it is made: it is refused.
bool
standard_may_write(const char *path)
{
    const char *list = getenv("MDLC_WRITES"), *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *real = list ? realpath(path, NULL) : NULL;
    bool may = real && is_listed(list, real);
    if (list && !real && errno == ENOENT && *name && strcmp(name, ".") && strcmp(name, "..")) {
        size_t n = slash == path ? 1 : slash ? (size_t)(slash - path) : 1;
        char *folder = malloc(n + 1);
        if (folder) {
            memcpy(folder, slash ? path : ".", n);
            folder[n] = '\0';
            real = realpath(folder, NULL);
            may = real && is_listed(list, real) && !platform_is_link(path);
        }
        free(folder);
    }
    free(real);
    return may;
}

static double *
refused(Reading *reading, const char *what)
{
    snprintf(reading->why, reading->room, "the file '%s' %s", reading->file->path, what);
    return NULL;
}

static char *
read_all(Reading *reading)
{
    struct stat info;
    if (!standard_may_read(reading->file->path)) {
        refused(reading, STANDARD_NOT_READ);
        return NULL;
    }
    FILE *file = fopen(reading->file->path, "rb");
    bool good = file && !fstat(fileno(file), &info) && S_ISREG(info.st_mode) && info.st_size < LARGEST;
    if (!good)
        refused(reading, !file ? strerror(errno) : "is no file of at most 1 GB");
    size_t size = good ? (size_t)info.st_size : 0;
    char *text = good ? malloc(size + 1) : NULL;
    if (text)
        text[reading->size = fread(text, 1, size, file)] = 0;
    if (file)
        fclose(file);
    if (text && !strncmp(text, "\xEF\xBB\xBF", 3)) // the mark of UTF-8
        memmove(text, text + 3, (reading->size -= 3) + 1);
    return text;
}

static char *
behind_line(char *at)
{
    char *end = strchr(at, '\n');
    return end ? end + 1 : at + strlen(at);
}

// Skips blanks, separators and remarks.
static char *
behind_blanks(char *at)
{
    while (isspace((unsigned char)*at) || *at == ',' || *at == ';' || *at == '#')
        at = *at == '#' ? behind_line(at) : at + 1;
    return at;
}

// What stands behind "double NAME(rows,columns)"; NULL: the matrix is not there.
static char *
find_matrix(Reading *reading, size_t *rows, size_t *columns)
{
    size_t length = strlen(reading->file->name);
    for (char *at = reading->text; *at; at = behind_line(at)) {
        char *name = at + strspn(at, " \t");
        size_t word = strcspn(name, " \t\n");
        if (strncmp(name, "double", word) != 0 && strncmp(name, "float", word) != 0)
            continue;
        name += word;
        name += strspn(name, " \t");
        unsigned long m, n;
        int end = 0;
        if (!strncmp(name, reading->file->name, length) && sscanf(name + length, " (%lu ,%lu )%n", &m, &n, &end) == 2 && end) {
            *rows = m;
            *columns = n;
            return name + length + end;
        }
    }
    return NULL;
}

static double *
no_matrix(Reading *reading)
{
    snprintf(reading->why, reading->room, "the file '%s' has no matrix '%s'", reading->file->path, reading->file->name);
    return NULL;
}

static double *
read_binary(Reading *reading, size_t *rows, size_t *columns)
{
    const char *problem;
    double *values = standard_read_mat(reading->text, reading->size, reading->file->name, rows, columns, &problem);
    if (values)
        return values;
    return !problem ? refused(reading, "is no table: a text file begins with #1, and it is no MAT file that can be read")
                    : *problem ? refused(reading, problem) : no_matrix(reading);
}

static double *
read_named(Reading *reading, size_t *rows, size_t *columns)
{
    if (strncmp(reading->text, "#1", 2) != 0)
        return read_binary(reading, rows, columns);
    char *at = find_matrix(reading, rows, columns);
    if (!at)
        return no_matrix(reading);
    if (*columns && *rows > LARGEST / sizeof(double) / *columns)
        return refused(reading, "has a matrix of more than 1 GB");
    double *values = malloc((*rows * *columns + 1) * sizeof *values);
    for (size_t i = 0; values && i < *rows * *columns; i++) {
        char *end;
        at = behind_blanks(at);
        values[i] = strtod(at, &end);
        if (end == at) {
            free(values);
            return refused(reading, "ends before its matrix is complete");
        }
        at = end;
    }
    return values ? values : refused(reading, "is too large");
}

// Appends the numbers of a line; how many there are, or -1.
static long
read_line(char *at, char delimiter, double *values, size_t room)
{
    long n = 0;
    at += strspn(at, " \t\r");
    while (*at && *at != '\n') {
        char *end;
        double value = strtod(at, &end);
        if (end == at || (size_t)n == room)
            return -1;
        values[n++] = value;
        end += strspn(end, delimiter == '\t' ? " \r" : " \t\r");
        if (*end && *end != '\n' && *end++ != delimiter)
            return -1;
        at = end + strspn(end, delimiter == '\t' ? " \r" : " \t\r");
    }
    return n;
}

static double *
read_separated(Reading *reading, size_t *rows, size_t *columns)
{
    size_t room = strlen(reading->text) / 2 + 1, n = 0;
    char delimiter = *reading->file->delimiter ? *reading->file->delimiter : ',', *at = reading->text;
    double *values = malloc(room * sizeof *values);
    *rows = *columns = 0;
    for (int skip = reading->file->header_lines; skip > 0; skip--)
        at = behind_line(at);
    for (; values && *at; at = behind_line(at)) {
        long found = read_line(at, delimiter, values + n, room - n);
        if (found < 0 || (found && *rows && (size_t)found != *columns)) {
            free(values);
            return refused(reading, found < 0 ? "has something else than numbers" : "has lines of different lengths");
        }
        *rows += found > 0;
        *columns = found > 0 ? (size_t)found : *columns;
        n += (size_t)found;
    }
    return values ? values : refused(reading, "is too large");
}

double *
standard_read_table(const TableFile *file, size_t *rows, size_t *columns, char *why, size_t room)
{
    size_t length = strlen(file->path);
    bool separated = length > 4 && !strcasecmp(file->path + length - 4, ".csv");
    Reading reading = {.file = file, .why = why, .room = room};
    snprintf(why, room, "there is no memory for the file '%s'", file->path);
    reading.text = read_all(&reading);
    double *values = !reading.text ? NULL : separated ? read_separated(&reading, rows, columns) : read_named(&reading, rows, columns);
    free(reading.text);
    return values;
}

static bool
is_named(const char *text)
{
    return text[strspn(text, " ")] && strcmp(text, "NoName") != 0;
}

int
standard_matrix(const double *in, double *state, const TableFile *file, int first, Argument *matrix, size_t *rows, size_t *columns, double **own)
{
    char why[500];
    *own = NULL;
    if (!is_named(file->path)) {
        *matrix = standard_argument(in, first);
        *rows = (size_t)standard_scalar(in, first + 1);
        *columns = (size_t)standard_scalar(in, first + 2);
    } else {
        *own = standard_read_table(file, rows, columns, why, sizeof why);
        *matrix = (Argument){*own, *own ? *rows * *columns : 0};
        if (!*own)
            standard_fail(in, state, "%s", why);
    }
    if (*own || !is_named(file->path)) {
        if (*rows && *columns && matrix->n >= *rows * *columns)
            return 1;
        standard_fail(in, state, "the table is empty");
    }
    free(*own);
    return 0;
}
