// table.c: reads result files.
//
// Purpose: what compares and draws results takes those of mdlc and of other Modelica tools, also files larger than memory.
// Method: names first; then a pass over the file for the columns that are wanted. Contract: table.h; a file cut anywhere gives its
// complete rows, or a message. Complexity: linear in the file per pass; memory for the names and the loaded columns.
#include "runtime/result/table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "runtime/result/table_source.h"

enum { BUFFER = 1 << 20 };

// What can be read only once goes to a file without a name.
static FILE *
copy_stream(FILE *from)
{
    FILE *to = tmpfile();
    char *buffer = malloc(BUFFER);
    size_t count;
    bool good = to && buffer;
    while (good && (count = fread(buffer, 1, BUFFER, from)) > 0)
        good = fwrite(buffer, 1, count, to) == count;
    good = good && !ferror(from) && fflush(to) == 0;
    free(buffer);
    int error = errno;
    if (to && !good)
        fclose(to);
    fclose(from);
    errno = error;
    return good ? to : NULL;
}

static FILE *
open_file(const char *path, char why[TABLE_WHY])
{
    struct stat status;
    FILE *file = fopen(path, "rb");
    if (file && fstat(fileno(file), &status) == 0 && S_ISDIR(status.st_mode)) {
        fclose(file);
        file = NULL;
        errno = EISDIR;
    } else if (file && !S_ISREG(status.st_mode)) {
        file = copy_stream(file);
    }
    if (file)
        setvbuf(file, NULL, _IOFBF, BUFFER);
    else
        snprintf(why, TABLE_WHY, "%s: %s", path, errno ? strerror(errno) : "cannot be read");
    return file;
}

bool
table_make_columns(Table *table, uint32_t columns)
{
    table->columns = columns;
    table->name = calloc((size_t)columns + 1, sizeof *table->name);
    table->unit = calloc((size_t)columns + 1, sizeof *table->unit);
    table->value = calloc((size_t)columns + 1, sizeof *table->value);
    table->parameter = calloc((size_t)columns + 1, sizeof *table->parameter);
    return table->name && table->unit && table->value && table->parameter;
}

static void
forget_values(Table *table)
{
    for (uint32_t k = 0; table->value && k < table->columns; k++) {
        free(table->value[k]);
        table->value[k] = NULL;
    }
    table->rows = 0;
}

static void
source_free(TableSource **at)
{
    TableSource *source = *at;
    if (!source)
        return;
    if (source->file)
        fclose(source->file);
    mat_free(&source->mat);
    free(source->path);
    free(source);
    *at = NULL;
}

void
table_free(Table **at)
{
    Table *table = *at;
    if (!table)
        return;
    forget_values(table);
    for (uint32_t k = 0; k < table->columns; k++) {
        if (table->name)
            free(table->name[k]);
        if (table->unit)
            free(table->unit[k]);
    }
    source_free(&table->source);
    free(table->name);
    free(table->unit);
    free(table->parameter);
    free(table->value);
    free(table);
    *at = NULL;
}

bool
table_holds_runs(const Table *table)
{
    return table->columns > 1 && !strcmp(table->name[0], "id") && !strcmp(table->name[1], "time");
}

Table *
table_take_run(const Table *table, uint32_t *row)
{
    uint32_t first = *row, columns = table->columns - 1;
    const double *id = table->value[0];
    while (*row < table->rows && id[*row] == id[first])
        ++*row;
    Table *run = calloc(1, sizeof *run);
    if (!run)
        return NULL;
    run->rows = *row - first;
    bool good = table_make_columns(run, columns);
    for (uint32_t k = 0; k < columns && good; k++) {
        const char *unit = table->unit[k + 1];
        run->name[k] = strdup(table->name[k + 1]);
        run->unit[k] = unit ? strdup(unit) : NULL;
        run->value[k] = malloc((size_t)run->rows * sizeof **run->value);
        good = run->name[k] && (!unit || run->unit[k]) && run->value[k];
        if (good)
            memcpy(run->value[k], table->value[k + 1] + first, (size_t)run->rows * sizeof **run->value);
    }
    if (!good)
        table_free(&run);
    return run;
}

static bool
is_mat(FILE *file)
{
    char head[27];
    bool mat = fread(head, 1, sizeof head, file) == sizeof head && !memcmp(head + 20, "Aclass", 7);
    rewind(file);
    return mat;
}

Table *
table_open(const char *path, char why[TABLE_WHY])
{
    FILE *file = open_file(path, why);
    if (!file)
        return NULL;
    Table *table = calloc(1, sizeof *table);
    TableSource *source = calloc(1, sizeof *source);
    char *name = strdup(path);
    if (!table || !source || !name) {
        snprintf(why, TABLE_WHY, "%s: memory is exhausted", path);
        fclose(file);
        free(table);
        free(source);
        free(name);
        return NULL;
    }
    *source = (TableSource){.file = file, .path = name};
    table->source = source;
    if (!(is_mat(file) ? mat_open : csv_open)(table, why))
        table_free(&table);
    return table;
}

bool
table_load(Table *table, const bool *wanted, char why[TABLE_WHY])
{
    if (!table->source)
        return true;
    forget_values(table);
    bool good = (table->source->mat ? mat_load : csv_load)(table, wanted, why);
    if (!good)
        forget_values(table);
    return good;
}

Table *
table_read(const char *path, char why[TABLE_WHY])
{
    Table *table = table_open(path, why);
    if (table && !table_load(table, NULL, why))
        table_free(&table);
    if (table)
        source_free(&table->source);
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
