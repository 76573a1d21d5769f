// error_estimate.c: what a run may be wrong by: its rows beside those of a second run with a smaller tolerance.
//
// Purpose: a tolerance bounds the error of a step. What the errors of all steps have become at the end says a run that makes far smaller ones.
// Method: the rows of the first run are kept. Those of the second one are compared with them where both have a row at the same time, behind
//         the event where there is one: rows at events that happen at another time in the other run have no counterpart.
// Contract: run_program.h. Complexity: linear in the values of the result, of which one copy is kept.
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/list.h"
#include "runtime/point/run.h"
#include "runtime/shell/run_program.h"

enum { SHOWN = 10 };

typedef struct ErrorOf {
    uint32_t column;
    double error, time, size; // the largest difference, when; the largest value of the first run
} ErrorOf;

struct Estimate {
    const mdl_model *model;
    const uint32_t *column; // NULL: all
    uint32_t columns;
    size_t width;           // of a row
    double *row;            // of the first run
    size_t rows, next;      // the first one that has not been compared
    double *last;           // the latest row of the second run
    bool pending;           // it has not been compared
    uint64_t compared;
    ErrorOf *error;         // per column
    mdl_sink first, second;
};

static int
keep_row(void *self, const double *value, uint32_t count)
{
    Estimate *e = self;
    if (!list_room(&e->row, e->rows, e->width * sizeof *e->row))
        return ENOMEM;
    memcpy(e->row + e->rows++ * e->width, value, count * sizeof *value);
    return 0;
}

// The row that waits, with the last one of the first run at its time.
static void
compare_pending(Estimate *e)
{
    double time = e->last[0];
    const double *row = NULL;
    e->pending = false;
    for (; e->next < e->rows && e->row[e->next * e->width] <= time; e->next++)
        row = e->row + e->next * e->width;
    if (!row || row[0] != time)
        return;
    e->compared++;
    for (uint32_t k = 0; k < e->columns; k++) {
        double difference = fabs(row[1 + k] - e->last[1 + k]);
        if (!(difference <= e->error[k].error)) {
            e->error[k].error = difference;
            e->error[k].time = time;
        }
        e->error[k].size = fmax(e->error[k].size, fabs(row[1 + k]));
    }
}

static int
compare_row(void *self, const double *value, uint32_t count)
{
    Estimate *e = self;
    if (e->pending && e->last[0] != value[0])
        compare_pending(e);
    memcpy(e->last, value, count * sizeof *value);
    e->pending = true;
    return 0;
}

static int
end_rows(void *self)
{
    Estimate *e = self;
    if (e->pending)
        compare_pending(e);
    return 0;
}

Estimate *
estimate_create(const mdl_model *model, const uint32_t *column, uint32_t columns)
{
    Estimate *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    *e = (Estimate){.model = model, .column = column, .columns = column ? columns : model->n_outputs};
    e->width = 1 + (size_t)e->columns;
    e->first = (mdl_sink){.self = e, .row = keep_row};
    e->second = (mdl_sink){.self = e, .row = compare_row, .end = end_rows};
    e->last = malloc(e->width * sizeof *e->last);
    e->error = calloc(e->width, sizeof *e->error);
    if (!e->last || !e->error)
        estimate_free(&e);
    for (uint32_t k = 0; e && k < e->columns; k++)
        e->error[k].column = column ? column[k] : k;
    return e;
}

void
estimate_free(Estimate **estimate)
{
    Estimate *e = *estimate;
    if (!e)
        return;
    free(e->row);
    free(e->last);
    free(e->error);
    free(e);
    *estimate = NULL;
}

const mdl_sink *
estimate_first(const Estimate *e)
{
    return &e->first;
}

const mdl_sink *
estimate_second(const Estimate *e)
{
    return &e->second;
}

// Relative to the size of the variable. What is no number in one of the runs comes first.
static double
share(const ErrorOf *e)
{
    return isnan(e->error) ? INFINITY : e->size > 0 ? e->error / e->size : e->error > 0 ? INFINITY : 0;
}

static int
largest_first(const void *a, const void *b)
{
    const ErrorOf *x = a, *y = b;
    double p = share(x), q = share(y);
    return p != q ? (p > q ? -1 : 1) : (x->column > y->column) - (x->column < y->column);
}

// Not another name of one that is shown.
static bool
is_new(const Estimate *e, const ErrorOf *v, const ErrorOf *const *shown, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        if (e->model->output[shown[k]->column].place == e->model->output[v->column].place)
            return false;
    return true;
}

static size_t
name_width(const Estimate *e, const ErrorOf *v, size_t width)
{
    size_t length = strlen(e->model->output[v->column].name);
    return length > width ? length : width;
}

void
estimate_text(Estimate *e, double finer, FILE *out)
{
    fprintf(out, "estimated errors (differences from a run with a tolerance of %.3g; %llu rows compared):\n", finer, (unsigned long long)e->compared);
    qsort(e->error, e->columns, sizeof *e->error, largest_first);
    const ErrorOf *shown[SHOWN];
    uint32_t n = 0;
    size_t width = 4;
    for (uint32_t k = 0; k < e->columns && n < SHOWN && share(&e->error[k]) > 0; k++)
        if (is_new(e, &e->error[k], shown, n)) {
            shown[n++] = &e->error[k];
            width = name_width(e, &e->error[k], width);
        }
    for (uint32_t k = 0; k < n; k++)
        fprintf(out, "  %-*s  %.2g at %.9g s, %.2g of its largest value\n", (int)width, e->model->output[shown[k]->column].name, shown[k]->error,
                shown[k]->time, share(shown[k]));
    fputs(n == SHOWN ? "  all others are smaller beside their values\n" : "  no differences in all others\n", out);
}

// What is no number is null.
static void
json_number(double value, FILE *out)
{
    if (isfinite(value))
        fprintf(out, "%.9g", value);
    else
        fputs("null", out);
}

void
estimate_json(const Estimate *e, double tolerance, double finer, FILE *out)
{
    fprintf(out, "{\"tolerance\":%.9g,\"reference\":%.9g,\"rows\":%llu,\"errors\":[", tolerance, finer, (unsigned long long)e->compared);
    for (uint32_t k = 0; k < e->columns; k++) {
        const ErrorOf *v = &e->error[k];
        fputs(k ? ",{\"name\":" : "{\"name\":", out);
        run_json_text(e->model->output[v->column].name, out);
        fputs(",\"error\":", out);
        json_number(v->error, out);
        fprintf(out, ",\"time\":%.17g,\"size\":", v->time);
        json_number(v->size, out);
        fputc('}', out);
    }
    fputs("]}\n", out);
}
