// recorded.c: the runs of a search in a file, from which the same search goes on.
//
// Purpose: a search of hours is interrupted, or asked again with another constraint. Method: searches are determined by what runs answer, so a table of
// answers is all that must be kept: a line for each run, appended when it is over. The same call finds them there and makes only what is missing. A last
// line that is not whole is cut off. That the model is the same is found by making the first run again.
// Contract: seek.h. Complexity: runs for each question; a comparison of quantities for each run.
#include "frontend/optimum/seek.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "frontend/design/cells.h"

typedef struct Line {
    bool good, derivatives;
    double *x, *output, *slope; // one block, from x
    char *said;
} Line;

struct Recorded {
    FILE *file;
    const char *path;
    uint32_t n, outputs;
    VEC(Line) lines;
    uint32_t read;              // lines of an earlier call
};

static void
put_name(const char *name, Out *out)
{
    out_char(out, ',');
    cells_put(name, strlen(name), out);
}

static void
put_header(const OptimumRequest *request, Out *out)
{
    const OutputList *outputs = &request->reader->outputs;
    Out slope = {0};
    out_text(out, "status,derivatives");
    for (uint32_t k = 0; k < request->free->n; k++)
        put_name(request->free->at[k].name, out);
    for (uint32_t k = 0; k < outputs->n; k++)
        put_name(outputs->at[k].written, out);
    for (uint32_t k = 0; k < outputs->n; k++)
        for (uint32_t i = 0; i < request->free->n; i++) {
            out_printf(&slope, "d(%s)/d(%s)", outputs->at[k].written, request->free->at[i].name);
            put_name(slope.text, out);
            out_free(&slope);
            slope = (Out){0};
        }
    out_text(out, ",message\n");
}

static Line
make_line(const Recorded *r, bool good, bool derivatives)
{
    Line line = {.good = good, .derivatives = derivatives};
    line.x = base_calloc((size_t)r->n + r->outputs + (size_t)r->n * r->outputs + 1, sizeof *line.x);
    line.output = line.x + r->n;
    line.slope = line.output + r->outputs;
    return line;
}

static bool
read_number(char **at, double *value)
{
    char *cell = cells_take(at, ','), *end = cell;
    *value = cell && *cell ? strtod(cell, &end) : NAN;
    return cell && !*end;
}

static bool
read_line(Recorded *r, char *text)
{
    const char *status = cells_take(&text, ','), *slopes = cells_take(&text, ',');
    bool good = status && (!strcmp(status, "ok") || !strcmp(status, "failed")) && slopes && (!strcmp(slopes, "1") || !strcmp(slopes, "0"));
    Line line = make_line(r, good && *status == 'o', good && *slopes == '1');
    size_t numbers = (size_t)r->n + r->outputs + (size_t)r->n * r->outputs;
    for (size_t i = 0; i < numbers && good; i++)
        good = read_number(&text, &line.x[i]);
    char *said = good ? cells_take(&text, ',') : NULL;
    line.said = strdup(said ? said : "");
    vec_push(&r->lines, line);
    return good && said;
}

static bool
read_lines(Recorded *r, const char *header, Out *why)
{
    Out text = {0};
    char *at;
    bool good = cells_read(r->path, &text, &at, why);
    if (!good)
        out_char(why, '\n');
    char *whole = good ? strrchr(at, '\n') : NULL;
    if (whole)
        whole[1] = '\0';
    size_t length = whole ? strlen(text.text) : 0;
    const char *first = whole ? at : "";
    if (good && *text.text && strncmp(first, header, strlen(header))) {
        out_printf(why, "%s is no record of such a search: its columns are others\nhelp: another name begins another record\n", r->path);
        good = false;
    }
    if (good && whole)
        cells_line(&at);
    uint32_t number = 1;
    for (char *line; good && whole && (line = cells_line(&at));) {
        number++;
        good = read_line(r, line);
        if (!good)
            out_printf(why, "%s:%u: this is no run of a search\n", r->path, number);
    }
    if (good && truncate(r->path, (off_t)length)) {
        out_printf(why, "%s: %s\n", r->path, strerror(errno));
        good = false;
    }
    r->read = r->lines.n;
    out_free(&text);
    return good;
}

Recorded *
recorded_open(const char *path, const OptimumRequest *request, Out *why)
{
    Recorded *r = base_calloc(1, sizeof *r);
    *r = (Recorded){.path = path, .n = request->free->n, .outputs = request->reader->outputs.n};
    Out header = {0};
    put_header(request, &header);
    bool good = access(path, F_OK) || read_lines(r, header.text, why);
    if (good && !(r->file = fopen(path, "a"))) {
        out_printf(why, "%s: %s\n", path, strerror(errno));
        good = false;
    }
    if (good && ftello(r->file) == 0)
        good = fputs(header.text, r->file) >= 0 && !fflush(r->file);
    out_free(&header);
    if (good)
        return r;
    recorded_close(r);
    return NULL;
}

void
recorded_close(Recorded *r)
{
    if (!r)
        return;
    for (uint32_t i = 0; i < r->lines.n; i++) {
        free(r->lines.at[i].x);
        free(r->lines.at[i].said);
    }
    vec_free(&r->lines);
    if (r->file)
        fclose(r->file);
    free(r);
}

static const Line *
find_line(const Recorded *r, const double *x, bool derivatives)
{
    for (uint32_t i = 0; i < r->lines.n; i++)
        if (r->lines.at[i].derivatives == derivatives && !memcmp(r->lines.at[i].x, x, r->n * sizeof *x))
            return &r->lines.at[i];
    return NULL;
}

bool
recorded_find(const Recorded *r, const double *x, bool derivatives, bool *good, double *output, double *slope, char *said, size_t room)
{
    const Line *line = find_line(r, x, derivatives);
    // The first run is made again, to see that the model is the same.
    if (!line || (line == r->lines.at && r->read))
        return false;
    *good = line->good;
    memcpy(output, line->output, r->outputs * sizeof *output);
    memcpy(slope, line->slope, (size_t)r->outputs * r->n * sizeof *slope);
    snprintf(said, room, "%s", line->said);
    return true;
}

bool
recorded_differs(const Recorded *r, const double *x, bool derivatives, bool good, const double *output)
{
    const Line *line = r->read ? find_line(r, x, derivatives) : NULL;
    if (!line || line != r->lines.at)
        return false;
    bool same = line->good == good;
    for (uint32_t k = 0; k < r->outputs && same; k++)
        same = line->output[k] == output[k] || (isnan(line->output[k]) && isnan(output[k]));
    return !same;
}

bool
recorded_put(Recorded *r, const double *x, bool derivatives, bool good, const double *output, const double *slope, const char *said, Out *why)
{
    if (find_line(r, x, derivatives)) // the first one, made again
        return true;
    Line line = make_line(r, good, derivatives);
    memcpy(line.x, x, r->n * sizeof *x);
    for (uint32_t k = 0; k < r->outputs; k++)
        line.output[k] = good ? output[k] : NAN;
    for (size_t k = 0; k < (size_t)r->n * r->outputs; k++)
        line.slope[k] = good && derivatives ? slope[k] : NAN;
    line.said = strdup(good ? "" : said);
    vec_push(&r->lines, line);
    Out text = {0};
    size_t numbers = (size_t)r->n + r->outputs + (size_t)r->n * r->outputs;
    out_printf(&text, "%s,%d", good ? "ok" : "failed", derivatives);
    for (size_t i = 0; i < numbers; i++)
        if (isnan(line.x[i]))
            out_char(&text, ',');
        else
            out_printf(&text, ",%.17g", line.x[i]);
    put_name(line.said, &text);
    out_char(&text, '\n');
    bool written = fwrite(text.text, 1, text.length, r->file) == text.length && !fflush(r->file);
    if (!written)
        out_printf(why, "%s: %s\n", r->path, strerror(errno));
    out_free(&text);
    return written;
}
