// table_csv.c: result files as comma-separated values: a line of names, lines of numbers.
//
// Purpose: results of other programs, and those that are still being written, can be compared and drawn.
// Method: a line at a time; fields of columns that nobody wants are counted, not read. A last line without its end is being
// written, or was cut, and is left out and told (Table.cut). Contract: table_source.h. Complexity: linear in the file.
#include <stdlib.h>
#include <string.h>

#include "runtime/result/table_source.h"

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

bool
csv_open(Table *table, char why[TABLE_WHY])
{
    TableSource *source = table->source;
    char *line = NULL;
    size_t room = 0;
    ssize_t length = getline(&line, &room, source->file);
    bool header = length > 0 && line[length - 1] == '\n' && strlen(line) == (size_t)length;
    bool good = header && table_make_columns(table, count_fields(line));
    if (!good)
        snprintf(why, TABLE_WHY, "%s: %s", source->path, header ? "memory is exhausted" : "no result file: it has no header line");
    char *at = line;
    for (uint32_t k = 0; good && k < table->columns; k++)
        good = (table->name[k] = strdup(header_field(&at))) != NULL;
    source->rows_at = ftell(source->file);
    free(line);
    return good;
}

// --- rows

typedef struct Loading {
    Table *table;
    const bool *wanted;
    uint32_t capacity;
    uint32_t last;     // of the columns that are wanted
} Loading;

static bool
more_rows(Loading *loading)
{
    uint32_t capacity = loading->capacity ? 2 * loading->capacity : 256;
    if (capacity < loading->capacity)
        return false;
    for (uint32_t k = 0; k <= loading->last; k++)
        if (table_wants(loading->wanted, k)) {
            double *value = realloc(loading->table->value[k], capacity * sizeof *value);
            if (!value)
                return false;
            loading->table->value[k] = value;
        }
    loading->capacity = capacity;
    return true;
}

// One line of numbers, behind which only fields that are not wanted follow; false when it is no complete row.
static bool
read_row(const Loading *loading, uint32_t row, const char *at, const char *end)
{
    const Table *table = loading->table;
    for (uint32_t k = 0; k < table->columns; k++) {
        bool last = k + 1 == table->columns;
        char *stop;
        if (table_wants(loading->wanted, k)) {
            table->value[k][row] = strtod(at, &stop);
            if (stop == at)
                return false;
        } else {
            stop = memchr(at, ',', (size_t)(end - at));
            stop = stop ? stop : (char *)end;
        }
        if (last ? stop != end && !(*stop == '\r' && stop + 1 == end) : *stop != ',')
            return false;
        at = stop + !last;
    }
    return true;
}

bool
csv_load(Table *table, const bool *wanted, char why[TABLE_WHY])
{
    TableSource *source = table->source;
    Loading loading = {.table = table, .wanted = wanted};
    for (uint32_t k = 0; k < table->columns; k++)
        loading.last = table_wants(wanted, k) ? k : loading.last;
    char *line = NULL;
    size_t room = 0;
    ssize_t length = 0;
    bool good = fseek(source->file, source->rows_at, SEEK_SET) == 0, memory = true;
    while (good && (length = getline(&line, &room, source->file)) > 0 && line[length - 1] == '\n') {
        memory = table->rows < loading.capacity || more_rows(&loading);
        good = memory && read_row(&loading, table->rows, line, line + length - 1);
        table->rows += good;
    }
    table->cut = good && length > 0 && line[length - 1] != '\n';
    free(line);
    // There is a place for every column that was wanted, also without rows.
    memory = memory && (loading.capacity || more_rows(&loading));
    if (!good && memory)
        snprintf(why, TABLE_WHY, "%s:%u: not a row of %u numbers", source->path, table->rows + 2, table->columns);
    else if (!memory)
        snprintf(why, TABLE_WHY, "%s: memory is exhausted", source->path);
    return good && memory;
}
