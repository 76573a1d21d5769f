// own_points.c: points of a design that somebody has made elsewhere.
//
// Purpose: a design of any other tool, as a CSV file: a row of names, then a row of numbers for each run. Method: line by line (cells.h); each
// cell is a finite number.
// Contract: own_points.h. Complexity: linear in the file.
#include "frontend/design/own_points.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "frontend/design/cells.h"
#include "ir/base/map.h"
#include "ir/base/vec.h"

static void
take_header(char *line, Arena *arena, OwnPoints *points)
{
    size_t commas = 0;
    for (const char *c = line; *c; c++)
        commas += *c == ',';
    points->name = arena_array(arena, const char *, commas + 1);
    for (char *cell; (cell = cells_take(&line, ','));)
        points->name[points->columns++] = arena_strndup(arena, cell, strlen(cell));
}

// The column of the row in which there is no finite number, or one more than there are; UINT32_MAX: it is complete.
static uint32_t
take_row(char *line, const OwnPoints *points, F64Vec *values)
{
    for (uint32_t k = 0; k < points->columns; k++) {
        char *cell = cells_take(&line, ','), *end = cell;
        double value = cell ? strtod(cell, &end) : NAN;
        if (!cell || end == cell || *end || !isfinite(value))
            return k;
        vec_push(values, value);
    }
    return line ? points->columns - 1 : UINT32_MAX;
}

bool
own_points_read(const char *path, Arena *arena, OwnPoints *points, Out *why)
{
    Out text = {0};
    F64Vec values = {0};
    char *at = NULL;
    uint32_t number = 0;
    *points = (OwnPoints){0};
    bool good = cells_read(path, &text, &at, why);
    if (good)
        points->hash = hash_bytes(text.text, text.length);
    for (char *line; good && (line = cells_line(&at));) {
        number++;
        uint32_t wrong = UINT32_MAX;
        if (*line && !points->columns)
            take_header(line, arena, points);
        else if (*line)
            wrong = take_row(line, points, &values);
        good = wrong == UINT32_MAX;
        if (!good)
            out_printf(why, "%s:%u: column '%s' has no finite number, or the line not %u of them", path, number, points->name[wrong], points->columns);
    }
    if (good && !values.n) {
        out_printf(why, "%s has no points", path);
        good = false;
    }
    if (good) {
        points->rows = values.n / points->columns;
        points->value = arena_array(arena, double, values.n);
        memcpy(points->value, values.at, values.n * sizeof *values.at);
    } else {
        points->columns = 0;
    }
    vec_free(&values);
    out_free(&text);
    return good;
}
