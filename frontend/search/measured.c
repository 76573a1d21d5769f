// measured.c: data of an experiment.
//
// Purpose: files as measuring equipment and spreadsheets write them. Method: line by line (frontend/design/cells.h): a header of names with units in
// brackets, then numbers; what is no number is told with its line.
// Contract: measured.h. Complexity: linear in the file.
#include "frontend/search/measured.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/design/cells.h"
#include "ir/base/unit.h"
#include "ir/base/vec.h"

typedef struct Reading {
    Arena *arena;
    Measured *measured;
    Out *why;
    F64Vec times, values;
    VEC(RunSetting) settings;
    uint32_t line;
    char separator;
    double time_scale;
} Reading;

static bool
refuse(Reading *r, const char *format, const char *what)
{
    out_printf(r->why, "%s:%u: ", r->measured->path, r->line);
    out_printf(r->why, format, what);
    out_char(r->why, '\n');
    return false;
}

// "NAME [UNIT]" in two; the subscripts of an element stand without a blank before them.
static const char *
cut_unit(char *cell)
{
    size_t length = strlen(cell);
    char *open = length && cell[length - 1] == ']' ? strrchr(cell, '[') : NULL;
    if (!open || open == cell || (open[-1] != ' ' && open[-1] != '\t'))
        return NULL;
    cell[length - 1] = '\0';
    *open = '\0';
    cells_trim(cell);
    return cells_trim(open + 1);
}

static bool
take_time_unit(Reading *r, const char *text)
{
    Unit unit, second = unit_base(UNIT_SECOND);
    const char *error, *at;
    uint32_t length;
    r->time_scale = 1;
    if (!text)
        return true;
    if (!unit_parse(text, &unit, &error, &at, &length) || !unit_same_dimension(&unit, &second))
        return refuse(r, "the unit [%s] of the first column is none of time", text);
    r->time_scale = unit.scale;
    return true;
}

static bool
take_header(Reading *r, char *line)
{
    Measured *m = r->measured;
    r->separator = strchr(line, '\t') ? '\t' : strchr(line, ';') ? ';' : ',';
    size_t most = 1;
    for (const char *c = line; *c; c++)
        most += *c == r->separator;
    m->name = arena_array(r->arena, const char *, most);
    m->unit = arena_array(r->arena, const char *, most);
    char *first = cells_take(&line, r->separator);
    const char *unit = cut_unit(first);
    if (strcmp(first, "time") && strcmp(first, "t"))
        return refuse(r, "the first column is `time`, or `t`, not '%s'", first);
    if (!take_time_unit(r, unit))
        return false;
    for (char *cell; (cell = cells_take(&line, r->separator));) {
        const char *own = cut_unit(cell);
        if (!*cell)
            return refuse(r, "a column has no name%s", "");
        for (uint32_t k = 0; k < m->columns; k++)
            if (!strcmp(m->name[k], cell))
                return refuse(r, "there are two columns '%s'", cell);
        m->unit[m->columns] = own ? arena_strndup(r->arena, own, strlen(own)) : NULL;
        m->name[m->columns++] = arena_strndup(r->arena, cell, strlen(cell));
    }
    return m->columns ? true : refuse(r, "there is no column but the time%s", "");
}

static bool
take_number(Reading *r, const char *cell, const char *column, double *value)
{
    char *end;
    if (!cell)
        return refuse(r, "this line ends before the column '%s'", column);
    if (!*cell) {
        *value = NAN;
        return true;
    }
    *value = strtod(cell, &end);
    if (end == cell || *end) {
        const char *comma = *end == ',' && end[1 + strspn(end + 1, "0123456789")] == '\0' ? ": digits behind the comma stand behind a point here" : "";
        out_printf(r->why, "%s:%u: column '%s': '%s' is no number%s\n", r->measured->path, r->line, column, cell, comma);
        return false;
    }
    if (!isfinite(*value)) {
        out_printf(r->why, "%s:%u: column '%s': %s is no measurement; a cell stays empty where there is none\n", r->measured->path, r->line, column, cell);
        return false;
    }
    return true;
}

static bool
take_row(Reading *r, char *line)
{
    const Measured *m = r->measured;
    double time, value;
    if (!take_number(r, cells_take(&line, r->separator), "time", &time))
        return false;
    if (isnan(time))
        return refuse(r, "this line has no time%s", "");
    time *= r->time_scale;
    if (r->times.n && time < vec_last(&r->times))
        return refuse(r, "time goes back: rows stand in the order of time%s", "");
    vec_push(&r->times, time);
    for (uint32_t k = 0; k < m->columns; k++) {
        if (!take_number(r, cells_take(&line, r->separator), m->name[k], &value))
            return false;
        vec_push(&r->values, value);
    }
    return line && *cells_trim(line) ? refuse(r, "this line has more cells than the header has names: '%s'", line) : true;
}

// "set NAME = VALUE" behind the #; other comments are for people.
static bool
take_comment(Reading *r, char *text)
{
    text = cells_trim(text);
    if (strncmp(text, "set ", 4) && strncmp(text, "set\t", 4))
        return true;
    char *equals = strchr(text, '=');
    if (!equals)
        return refuse(r, "what is different in an experiment is written as  # set NAME = VALUE, not '# %s'", text);
    *equals = '\0';
    char *name = cells_trim(text + 4), *value = cells_trim(equals + 1);
    if (!*name || !*value)
        return refuse(r, "what is different in an experiment is written as  # set NAME = VALUE%s", "");
    vec_push(&r->settings, (RunSetting){arena_strndup(r->arena, name, strlen(name)), arena_strndup(r->arena, value, strlen(value))});
    return true;
}

static bool
take_lines(Reading *r, char *text)
{
    bool headed = false, good = true;
    for (char *line; good && (line = cells_line(&text));) {
        r->line++;
        if (!*line)
            continue;
        if (*line == '#') {
            good = take_comment(r, line + 1);
        } else if (!headed) {
            headed = true;
            good = take_header(r, line);
        } else {
            good = take_row(r, line);
        }
    }
    if (good && !r->times.n) {
        out_printf(r->why, "%s has no data\n", r->measured->path);
        good = false;
    }
    return good;
}

bool
measured_read(const char *path, Arena *arena, Measured *m, Out *why)
{
    Out text = {0};
    Reading r = {.arena = arena, .measured = m, .why = why};
    *m = (Measured){.path = path};
    char *at = NULL;
    bool good = cells_read(path, &text, &at, why);
    if (!good)
        out_char(why, '\n');
    good = good && take_lines(&r, at);
    if (good) {
        m->rows = r.times.n;
        m->time = arena_array(arena, double, r.times.n);
        m->value = arena_array(arena, double, r.values.n + 1);
        memcpy(m->time, r.times.at, r.times.n * sizeof *m->time);
        if (r.values.n)
            memcpy(m->value, r.values.at, r.values.n * sizeof *m->value);
        m->n_set = r.settings.n;
        m->set = arena_array(arena, RunSetting, r.settings.n + 1);
        if (r.settings.n)
            memcpy(m->set, r.settings.at, r.settings.n * sizeof *m->set);
    }
    vec_free(&r.times);
    vec_free(&r.values);
    vec_free(&r.settings);
    out_free(&text);
    return good;
}
