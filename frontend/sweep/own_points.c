// own_points.c: points of a design that somebody has made elsewhere.
//
// Purpose: a design of any other tool, as a CSV file: a row of names, then a row of numbers for each run. Method: the file is read as a
// whole; a name may stand in quotation marks, in which two of them stand for one.
// Contract: own_points.h. Complexity: linear in the file.
#include "frontend/sweep/own_points.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/map.h"
#include "ir/base/vec.h"

static bool
read_bytes(const char *path, Out *text, Out *why)
{
    char block[65536];
    size_t n;
    FILE *file = fopen(path, "r");
    if (!file) {
        out_printf(why, "%s: %s", path, strerror(errno));
        return false;
    }
    while ((n = fread(block, 1, sizeof block, file)) > 0)
        out_bytes(text, block, n);
    bool good = !ferror(file);
    fclose(file);
    if (!good)
        out_printf(why, "%s: it cannot be read", path);
    return good;
}

// The cell that begins at *at; *at comes to stand behind it, on ',', '\n' or the end.
static const char *
take_cell(const char **at, Arena *arena)
{
    Out cell = {0};
    const char *c = *at + strspn(*at, " \t");
    out_text(&cell, "");
    if (*c == '"') {
        for (c++; *c && (*c != '"' || c[1] == '"'); c++) {
            c += *c == '"';
            out_char(&cell, *c);
        }
        c += *c == '"';
        c += strcspn(c, ",\n");
    } else {
        size_t length = strcspn(c, ",\n");
        out_bytes(&cell, c, length);
        c += length;
        while (cell.length && strchr(" \t\r", cell.text[cell.length - 1]))
            cell.length--;
    }
    *at = c;
    const char *kept = arena_strndup(arena, cell.length ? cell.text : "", cell.length);
    out_free(&cell);
    return kept;
}

static void
take_header(const char **at, Arena *arena, OwnPoints *points)
{
    size_t commas = 0;
    for (const char *c = *at; *c && *c != '\n'; c++)
        commas += *c == ',';
    points->name = arena_array(arena, const char *, commas + 2);
    for (;;) {
        points->name[points->columns++] = take_cell(at, arena);
        if (**at != ',')
            break;
        ++*at;
    }
}

bool
own_points_read(const char *path, Arena *arena, OwnPoints *points, Out *why)
{
    Out text = {0};
    F64Vec values = {0};
    *points = (OwnPoints){0};
    bool good = read_bytes(path, &text, why);
    const char *at = text.text ? text.text : "";
    if (good) {
        points->hash = hash_bytes(at, text.length);
        take_header(&at, arena, points);
    }
    for (uint32_t line = 2; good && *at; line++) {
        at += *at == '\n';
        if (!at[strspn(at, " \t\r\n")])
            break;
        for (uint32_t k = 0; k < points->columns && good; k++) {
            char *end;
            double value = strtod(at, &end);
            end += strspn(end, " \t\r");
            good = end != at && isfinite(value) && (k + 1 < points->columns ? *end == ',' : !*end || *end == '\n');
            if (!good)
                out_printf(why, "%s:%u: column '%s' has no finite number, or the line not %u of them", path, line, points->name[k], points->columns);
            at = end + (k + 1 < points->columns);
            vec_push(&values, value);
        }
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
