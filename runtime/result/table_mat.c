// table_mat.c: result files as MAT files of level 4, the trajectories of Modelica tools (mat.c explains the layout).
//
// Purpose: results of other Modelica tools can be compared and drawn.
// Method: the matrices that describe the variables are read first, wherever they stand; of the values only where they are is
// kept. Loading reads rows, or columns, in the order of the file. Contract: table_source.h. Complexity: linear in the file.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/result/table_source.h"

typedef struct Matrix {
    char *name, *data; // data: NULL when it stays in the file
    int32_t type, rows, columns;
    size_t size;       // of one value
    long at;           // of the data in the file
} Matrix;

enum { CLASS, NAME, DESCRIPTION, INFO, DATA_1, DATA_2, MATRICES };
static const char *const matrix_names[MATRICES] = {"Aclass", "name", "description", "dataInfo", "data_1", "data_2"};

// Where the values of a column are: a column of data_1 or data_2, negated or not.
typedef struct Place {
    uint32_t column;
    bool negated;
} Place;

struct MatInfo {
    Matrix matrix[MATRICES]; // rows == 0: missing
    bool transposed;
    Place *place;            // per column of the table
};

void
mat_free(MatInfo **at)
{
    MatInfo *info = *at;
    for (int i = 0; info && i < MATRICES; i++) {
        free(info->matrix[i].name);
        free(info->matrix[i].data);
    }
    if (info)
        free(info->place);
    free(info);
    *at = NULL;
}

static size_t
bytes_of(const Matrix *m)
{
    return m->size * (size_t)m->rows * (size_t)m->columns;
}

// Header and name; the file then stands behind the data, all of which it has.
static bool
next_matrix(FILE *file, long end, Matrix *m)
{
    static const size_t sizes[] = {8, 4, 4, 2, 2, 1};
    int32_t header[5];
    *m = (Matrix){0};
    if (fread(header, sizeof header, 1, file) != 1)
        return false;
    int32_t type = header[0] / 10 % 10, length = header[4];
    if (header[0] < 0 || header[0] >= 1000 || type > 5 || header[1] < 0 || header[2] < 0 || length < 1 || length > 64)
        return false;
    m->type = type;
    m->rows = header[1];
    m->columns = header[2];
    m->size = sizes[type];
    m->name = calloc(1, (size_t)length + 1);
    if (!m->name || fread(m->name, 1, (size_t)length, file) != (size_t)length || m->name[length - 1])
        return false;
    m->at = ftell(file);
    return m->at >= 0 && bytes_of(m) <= (size_t)(end - m->at) && fseek(file, m->at + (long)bytes_of(m), SEEK_SET) == 0;
}

static bool
read_data(FILE *file, Matrix *m)
{
    long behind = ftell(file);
    m->data = malloc(bytes_of(m) + 1);
    return m->data && fseek(file, m->at, SEEK_SET) == 0 && fread(m->data, 1, bytes_of(m), file) == bytes_of(m)
           && fseek(file, behind, SEEK_SET) == 0;
}

static double
number_at(const char *at, int32_t type)
{
    double real;
    float single;
    int32_t whole;
    int16_t half;
    switch (type) {
    case 0: memcpy(&real, at, sizeof real); return real;
    case 1: memcpy(&single, at, sizeof single); return (double)single;
    case 2: memcpy(&whole, at, sizeof whole); return whole;
    case 3: memcpy(&half, at, sizeof half); return half;
    case 4: memcpy(&half, at, sizeof half); return (uint16_t)half;
    default: return (unsigned char)*at;
    }
}

// Row `i`, column `k` of a matrix in memory that may be stored transposed.
static double
entry(const MatInfo *info, const Matrix *m, size_t i, size_t k)
{
    size_t index = info->transposed ? i * (size_t)m->rows + k : k * (size_t)m->rows + i;
    return number_at(m->data + index * m->size, m->type);
}

static size_t
height(const MatInfo *info, const Matrix *m)
{
    return (size_t)(info->transposed ? m->columns : m->rows);
}

static size_t
width(const MatInfo *info, const Matrix *m)
{
    return (size_t)(info->transposed ? m->rows : m->columns);
}

static char *
text_row(const MatInfo *info, const Matrix *m, size_t row)
{
    size_t length = width(info, m);
    char *text = malloc(length + 1);
    for (size_t k = 0; text && k < length; k++)
        text[k] = (char)entry(info, m, row, k);
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
find_matrices(FILE *file, MatInfo *info)
{
    Matrix m;
    long end = fseek(file, 0, SEEK_END) == 0 ? ftell(file) : -1;
    bool good = end >= 0;
    rewind(file);
    while (good && next_matrix(file, end, &m)) {
        int which = 0;
        while (which < MATRICES && strcmp(m.name, matrix_names[which]) != 0)
            which++;
        if (which == MATRICES || info->matrix[which].name) {
            free(m.name);
            continue;
        }
        good = which == DATA_2 || read_data(file, &m);
        info->matrix[which] = m;
    }
    if (good)
        free(m.name);
    const Matrix *class = &info->matrix[CLASS], *last = &info->matrix[DATA_2];
    char kind[9] = "";
    for (int c = 0; good && class->rows >= 4 && c < 8 && c < class->columns; c++)
        kind[c] = (char)number_at(class->data + (size_t)(c * class->rows + 3) * class->size, class->type);
    info->transposed = !memcmp(kind, "binTrans", 8);
    size_t n = height(info, &info->matrix[NAME]);
    return good && class->rows >= 4 && n > 0 && info->matrix[INFO].rows && last->name && height(info, &info->matrix[INFO]) == n
           && width(info, &info->matrix[INFO]) >= 2 && (!info->matrix[DESCRIPTION].rows || height(info, &info->matrix[DESCRIPTION]) == n);
}

static bool
describe_column(MatInfo *info, Table *table, uint32_t k)
{
    const Matrix *about = &info->matrix[DESCRIPTION];
    char *description = about->rows ? text_row(info, about, k) : NULL;
    table->name[k] = text_row(info, &info->matrix[NAME], k);
    table->unit[k] = unit_of(description);
    free(description);
    double matrix = entry(info, &info->matrix[INFO], k, 0), column = entry(info, &info->matrix[INFO], k, 1);
    const Matrix *m = &info->matrix[matrix == 1 ? DATA_1 : DATA_2];
    table->parameter[k] = matrix == 1;
    if (!(fabs(column) >= 1 && fabs(column) <= (double)width(info, m)) || (matrix == 1 && !height(info, m)))
        return false;
    info->place[k] = (Place){(uint32_t)fabs(column) - 1, column < 0};
    return table->name[k] != NULL;
}

bool
mat_open(Table *table, char why[TABLE_WHY])
{
    TableSource *source = table->source;
    MatInfo *info = source->mat = calloc(1, sizeof *info);
    bool good = info && find_matrices(source->file, info);
    size_t n = good ? height(info, &info->matrix[NAME]) : 0;
    good = good && table_make_columns(table, (uint32_t)n);
    good = good && (info->place = calloc(n, sizeof *info->place)) != NULL;
    for (uint32_t k = 0; good && k < table->columns; k++)
        good = describe_column(info, table, k);
    for (int i = CLASS; good && i <= INFO; i++) {
        free(info->matrix[i].data);
        info->matrix[i].data = NULL;
    }
    if (!good)
        snprintf(why, TABLE_WHY, "%s: a MAT file, but no trajectory: matrices are missing or do not fit", source->path);
    return good;
}

// --- values

static bool
make_room(Table *table, const bool *wanted)
{
    for (uint32_t k = 0; k < table->columns; k++)
        if (table_wants(wanted, k) && !(table->value[k] = malloc(((size_t)table->rows + 1) * sizeof(double))))
            return false;
    return true;
}

// `line` has room for a row, or a column, of data_2. `list` has the n columns that change and are wanted.
static bool
load_rows(Table *table, const uint32_t *list, uint32_t n, const Matrix *m, char *line)
{
    const MatInfo *info = table->source->mat;
    size_t length = width(info, m) * m->size;
    for (uint32_t row = 0; row < table->rows; row++) {
        if (fread(line, 1, length, table->source->file) != length)
            return false;
        for (uint32_t i = 0; i < n; i++) {
            const Place *place = &info->place[list[i]];
            double value = number_at(line + place->column * m->size, m->type);
            table->value[list[i]][row] = place->negated ? -value : value;
        }
    }
    return true;
}

static bool
load_columns(Table *table, const uint32_t *list, uint32_t n, const Matrix *m, char *line)
{
    const MatInfo *info = table->source->mat;
    size_t length = table->rows * m->size;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = list[i];
        if (fseek(table->source->file, m->at + (long)(info->place[k].column * length), SEEK_SET) != 0
            || fread(line, 1, length, table->source->file) != length)
            return false;
        for (uint32_t row = 0; row < table->rows; row++) {
            double value = number_at(line + row * m->size, m->type);
            table->value[k][row] = info->place[k].negated ? -value : value;
        }
    }
    return true;
}

static void
fill_parameter(Table *table, uint32_t k)
{
    const MatInfo *info = table->source->mat;
    double value = entry(info, &info->matrix[DATA_1], 0, info->place[k].column);
    for (uint32_t row = 0; row < table->rows; row++)
        table->value[k][row] = info->place[k].negated ? -value : value;
}

bool
mat_load(Table *table, const bool *wanted, char why[TABLE_WHY])
{
    const MatInfo *info = table->source->mat;
    const Matrix *m = &info->matrix[DATA_2];
    table->rows = (uint32_t)height(info, m);
    size_t longest = height(info, m) > width(info, m) ? height(info, m) : width(info, m);
    char *line = malloc(longest * m->size + 1);
    uint32_t n = 0, *list = malloc(((size_t)table->columns + 1) * sizeof *list);
    bool room = line && list && make_room(table, wanted);
    for (uint32_t k = 0; room && k < table->columns; k++) {
        if (table_wants(wanted, k) && table->parameter[k])
            fill_parameter(table, k);
        else if (table_wants(wanted, k))
            list[n++] = k;
    }
    bool good = room && fseek(table->source->file, m->at, SEEK_SET) == 0
                && (info->transposed ? load_rows : load_columns)(table, list, n, m, line);
    free(line);
    free(list);
    if (!good)
        snprintf(why, TABLE_WHY, "%s: %s", table->source->path, room ? "the file has become shorter meanwhile" : "memory is exhausted");
    return good;
}
