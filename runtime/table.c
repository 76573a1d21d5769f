// table.c: reads result files.
//
// Purpose: what compares and draws results takes those of mdlc and of other Modelica tools.
// Method: the whole file is read; CSV is parsed in one pass, a MAT file by the headers of its matrices (mat.c explains them).
// Contract: table.h; a file cut anywhere gives its complete rows, or a message. Complexity: linear in the file.
#include "runtime/table.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct Text {
    char *at;
    size_t length;
} Text;

static bool
read_file(const char *path, Text *text, char why[TABLE_WHY])
{
    FILE *file = fopen(path, "rb");
    struct stat status;
    // A file of known size fits at once; what is no file, or still grows, takes more rounds.
    bool known = file && fstat(fileno(file), &status) == 0 && S_ISREG(status.st_mode);
    size_t capacity = known ? (size_t)status.st_size + 1 : 1 << 16;
    *text = (Text){0};
    while (file) {
        char *more = realloc(text->at, capacity + 1);
        if (!more)
            break;
        text->at = more;
        size_t count = fread(text->at + text->length, 1, capacity - text->length, file);
        text->length += count;
        if (text->length < capacity)
            break;
        capacity *= 2;
    }
    bool good = file && text->at && !ferror(file);
    if (!good)
        snprintf(why, TABLE_WHY, "%s: %s", path, errno ? strerror(errno) : "cannot be read");
    else
        text->at[text->length] = '\0';
    if (file)
        fclose(file);
    return good;
}

static Table *
table_make(uint32_t columns, uint32_t rows)
{
    Table *table = calloc(1, sizeof *table);
    if (!table)
        return NULL;
    table->columns = columns;
    table->rows = rows;
    table->name = calloc((size_t)columns + 1, sizeof *table->name);
    table->unit = calloc((size_t)columns + 1, sizeof *table->unit);
    table->value = calloc((size_t)columns + 1, sizeof *table->value);
    table->parameter = calloc((size_t)columns + 1, sizeof *table->parameter);
    bool good = table->name && table->unit && table->value && table->parameter;
    for (uint32_t k = 0; good && k < columns; k++)
        good = (table->value[k] = malloc(((size_t)rows + 1) * sizeof(double))) != NULL;
    if (!good)
        table_free(&table);
    return table;
}

void
table_free(Table **at)
{
    Table *table = *at;
    if (!table)
        return;
    for (uint32_t k = 0; k < table->columns; k++) {
        if (table->name)
            free(table->name[k]);
        if (table->unit)
            free(table->unit[k]);
        if (table->value)
            free(table->value[k]);
    }
    free(table->name);
    free(table->unit);
    free(table->parameter);
    free(table->value);
    free(table);
    *at = NULL;
}

// --- CSV

// The next field of a header, unquoted, in place. *at moves behind its comma, or to the end of the line.
static char *
header_field(char **at)
{
    char *from = *at, *to = from, *start = from;
    if (*from == '"') {
        for (from++; *from && !(*from == '"' && from[1] != '"'); from++) {
            if (*from == '"')
                from++;
            *to++ = *from;
        }
        from += *from == '"';
    } else {
        while (*from && *from != ',' && *from != '\n' && *from != '\r')
            *to++ = *from++;
    }
    bool comma = *from == ',';
    char *next = from + (comma || *from == '\r');
    *to = '\0';
    *at = next;
    return start;
}

static uint32_t
count_lines(const char *text)
{
    uint32_t lines = 0;
    for (const char *c = strchr(text, '\n'); c; c = strchr(c + 1, '\n'))
        lines++;
    return lines;
}

static uint32_t
count_fields(const char *line)
{
    uint32_t fields = 1;
    bool quoted = false;
    for (; *line && (quoted || *line != '\n'); line++) {
        quoted ^= *line == '"';
        fields += *line == ',' && !quoted;
    }
    return fields;
}

// One row of numbers; false when it is not complete.
static bool
read_row(Table *table, uint32_t row, char **at)
{
    for (uint32_t k = 0; k < table->columns; k++) {
        char *end;
        table->value[k][row] = strtod(*at, &end);
        bool last = k + 1 == table->columns;
        if (end == *at || (last ? *end != '\n' && *end != '\r' : *end != ','))
            return false;
        *at = end + 1 + (last && *end == '\r' && end[1] == '\n');
    }
    return true;
}

static Table *
read_csv(const char *path, char *text, char why[TABLE_WHY])
{
    uint32_t rows = count_lines(text), columns = count_fields(text);
    char *end_of_header = strchr(text, '\n');
    Table *table = end_of_header && rows ? table_make(columns, rows - 1) : NULL;
    if (!table) {
        snprintf(why, TABLE_WHY, "%s: no result file: it has no header line", path);
        return NULL;
    }
    char *at = text;
    *end_of_header = '\0';
    for (uint32_t k = 0; k < columns; k++)
        table->name[k] = strdup(header_field(&at));
    at = end_of_header + 1;
    for (uint32_t row = 0; row < table->rows; row++)
        if (!read_row(table, row, &at)) {
            snprintf(why, TABLE_WHY, "%s:%u: not a row of %u numbers", path, row + 2, columns);
            table_free(&table);
            return NULL;
        }
    return table;
}

// --- MAT

typedef struct Matrix {
    const char *name, *data;
    int32_t type, rows, columns;
    size_t size; // of one value
} Matrix;

static bool
next_matrix(const Text *text, size_t *at, Matrix *m)
{
    static const size_t sizes[] = {8, 4, 4, 2, 2, 1};
    int32_t header[5];
    if (*at + sizeof header > text->length)
        return false;
    memcpy(header, text->at + *at, sizeof header);
    int32_t type = header[0] / 10 % 10;
    if (header[0] < 0 || header[0] >= 1000 || type > 5 || header[1] < 0 || header[2] < 0 || header[4] < 1 || header[4] > 64)
        return false;
    m->name = text->at + *at + sizeof header;
    m->data = m->name + header[4];
    m->type = type;
    m->rows = header[1];
    m->columns = header[2];
    m->size = sizes[type];
    size_t length = m->size * (size_t)m->rows * (size_t)m->columns;
    *at += sizeof header + (size_t)header[4];
    if (*at > text->length || length > text->length - *at || m->name[header[4] - 1])
        return false;
    *at += length;
    return true;
}

static double
matrix_value(const Matrix *m, size_t index)
{
    const char *at = m->data + index * m->size;
    double real;
    float single;
    int32_t whole;
    int16_t half;
    switch (m->type) {
    case 0: memcpy(&real, at, sizeof real); return real;
    case 1: memcpy(&single, at, sizeof single); return (double)single;
    case 2: memcpy(&whole, at, sizeof whole); return whole;
    case 3: memcpy(&half, at, sizeof half); return half;
    case 4: memcpy(&half, at, sizeof half); return (uint16_t)half;
    default: return (unsigned char)*at;
    }
}

typedef struct Trajectory {
    Matrix class, name, description, info, data[2]; // rows == 0: missing
    bool transposed;
} Trajectory;

// Row `i`, column `k` of a matrix that may be stored transposed.
static double
entry(const Trajectory *t, const Matrix *m, size_t i, size_t k)
{
    return matrix_value(m, t->transposed ? i * (size_t)m->rows + k : k * (size_t)m->rows + i);
}

static size_t
height(const Trajectory *t, const Matrix *m)
{
    return (size_t)(t->transposed ? m->columns : m->rows);
}

static size_t
width(const Trajectory *t, const Matrix *m)
{
    return (size_t)(t->transposed ? m->rows : m->columns);
}

static char *
text_row(const Trajectory *t, const Matrix *m, size_t row)
{
    size_t length = width(t, m);
    char *text = malloc(length + 1);
    for (size_t k = 0; text && k < length; k++)
        text[k] = (char)entry(t, m, row, k);
    while (text && length && (text[length - 1] == ' ' || text[length - 1] == '\0'))
        length--;
    if (text)
        text[length] = '\0';
    return text;
}

// What stands in the last brackets of a description: the unit, perhaps with the displayed one behind a bar.
static char *
unit_of(const char *text)
{
    const char *open = text ? strrchr(text, '[') : NULL;
    if (!open)
        return NULL;
    size_t length = strcspn(open + 1, "]|");
    return length ? strndup(open + 1, length) : NULL;
}

static bool
find_matrices(const Text *text, Trajectory *t)
{
    Matrix m;
    *t = (Trajectory){0};
    for (size_t at = 0; next_matrix(text, &at, &m);) {
        if (!strcmp(m.name, "Aclass"))
            t->class = m;
        else if (!strcmp(m.name, "name"))
            t->name = m;
        else if (!strcmp(m.name, "description"))
            t->description = m;
        else if (!strcmp(m.name, "dataInfo"))
            t->info = m;
        else if (!strcmp(m.name, "data_1"))
            t->data[0] = m;
        else if (!strcmp(m.name, "data_2"))
            t->data[1] = m;
    }
    char kind[9] = "";
    for (int c = 0; t->class.rows >= 4 && c < 8 && c < t->class.columns; c++)
        kind[c] = (char)matrix_value(&t->class, (size_t)(c * t->class.rows + 3));
    t->transposed = !strncmp(kind, "binTrans", 8);
    size_t n = height(t, &t->name);
    return t->class.rows >= 4 && n > 0 && t->info.rows && t->data[1].name && height(t, &t->info) == n && width(t, &t->info) >= 2
           && (!t->description.rows || height(t, &t->description) == n);
}

static bool
fill_column(const Trajectory *t, Table *table, uint32_t k)
{
    double matrix = entry(t, &t->info, k, 0), signed_column = entry(t, &t->info, k, 1);
    size_t column = (size_t)fabs(signed_column) - 1;
    const Matrix *m = &t->data[matrix == 1 ? 0 : 1];
    size_t rows = height(t, m);
    table->parameter[k] = m == &t->data[0];
    if (fabs(signed_column) < 1 || column >= width(t, m) || (m == &t->data[0] && !rows))
        return false;
    for (uint32_t row = 0; row < table->rows; row++)
        table->value[k][row] = (signed_column < 0 ? -1 : 1) * entry(t, m, m == &t->data[0] ? 0 : row, column);
    return true;
}

static Table *
read_mat(const char *path, const Text *text, char why[TABLE_WHY])
{
    Trajectory t;
    Table *table = NULL;
    bool good = find_matrices(text, &t);
    if (good)
        table = table_make((uint32_t)height(&t, &t.name), (uint32_t)height(&t, &t.data[1]));
    for (uint32_t k = 0; table && good && k < table->columns; k++) {
        table->name[k] = text_row(&t, &t.name, k);
        char *description = t.description.rows ? text_row(&t, &t.description, k) : NULL;
        table->unit[k] = unit_of(description);
        free(description);
        good = table->name[k] && fill_column(&t, table, k);
    }
    if (table && !good)
        table_free(&table);
    if (!table)
        snprintf(why, TABLE_WHY, "%s: a MAT file, but no trajectory: matrices are missing or do not fit", path);
    return table;
}

static bool
is_mat(const Text *text)
{
    return text->length >= 27 && !memcmp(text->at + 20, "Aclass", 7);
}

Table *
table_read(const char *path, char why[TABLE_WHY])
{
    Text text;
    Table *table = NULL;
    if (read_file(path, &text, why))
        table = is_mat(&text) ? read_mat(path, &text, why) : read_csv(path, text.at, why);
    free(text.at);
    return table;
}

uint32_t
table_find(const Table *table, const char *name)
{
    for (uint32_t k = 0; k < table->columns; k++)
        if (!strcmp(table->name[k], name))
            return k;
    return UINT32_MAX;
}

double
table_at(const Table *table, uint32_t column, double time, uint32_t *row, bool left)
{
    const double *t = table->value[0], *value = table->value[column];
    uint32_t n = table->rows, i = *row < n ? *row : 0;
    while (i > 0 && (left ? t[i] >= time : t[i] > time))
        i--;
    while (i + 1 < n && (left ? t[i + 1] < time : t[i + 1] <= time))
        i++;
    *row = i; // the last row before `time`, or at it unless `left`
    if (i + 1 == n || time <= t[i] || t[i + 1] == t[i])
        return value[left && i + 1 < n && t[i + 1] == time && t[i] < time ? i + 1 : i];
    return value[i] + (value[i + 1] - value[i]) * ((time - t[i]) / (t[i + 1] - t[i]));
}
