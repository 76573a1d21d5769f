// standard_table.c: tables of one variable, and tables over time.
//
// Purpose: what the tables of one input, and over time, of the Modelica Standard Library call.
// Method: a table is an object made once from its arguments. One over time has events where a piece ends; between two events only pieces
// up to the next one count, so that what the table gives does not jump before the event has been handled, nor by rounding at it.
// Contract: standard_inner.h. Complexity: logarithmic in the rows; where only jumps are events, the next one is found going through the rows up to it.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/model/standard_inner.h"

static const double NEVER = 1e60; // what the library takes for infinite

static Curves *
curves_of(const double *in, double *state)
{
    return standard_object(in, state, curves_free, "a table is used before it has been made");
}

// The column of an argument, from 0.
static bool
column_of(const double *in, double *state, size_t columns, size_t *column)
{
    double asked = standard_scalar(in, 1);
    *column = asked >= 1 ? (size_t)asked - 1 : columns;
    if (*column < columns)
        return true;
    standard_fail(in, state, "the table has no column number %g: it has %zu", asked, columns);
    return false;
}

static bool
check_rows(const double *in, double *state, const double *matrix, size_t rows, size_t width, bool jumps)
{
    for (size_t i = 1; i < rows; i++) {
        double before = matrix[(i - 1) * width], here = matrix[i * width];
        if (!(here > before || (jumps && here == before))) {
            standard_fail(in, state, "the first column of a table has to grow from row to row, but row %zu has %g after %g", i + 1, here, before);
            return false;
        }
    }
    return true;
}

static bool
check_columns(const double *in, double *state, Argument column, size_t width)
{
    for (size_t i = 0; i < column.n; i++)
        if (!(column.at[i] >= 1 && column.at[i] <= (double)width)) {
            standard_fail(in, state, "the table has no column %g: it has %zu", column.at[i], width);
            return false;
        }
    return true;
}

// The curves of a table whose columns and kinds are arguments 5, 7 and 8, `shift` places further for one over time.
static Curves *
make_curves(const double *in, double *state, const TableFile *file, int shift)
{
    Argument matrix, column = standard_argument(in, 5 + shift);
    size_t rows, width;
    double *own;
    Curves *curves = NULL;
    if (!standard_matrix(in, state, file, 2, &matrix, &rows, &width, &own))
        return NULL;
    if (check_rows(in, state, matrix.at, rows, width, shift) && check_columns(in, state, column, width)) {
        curves = curves_create(matrix.at, rows, width, column.at, column.n, (Smoothness)standard_scalar(in, 7 + shift),
                               (Extrapolation)standard_scalar(in, 8 + shift));
        if (!curves)
            standard_fail(in, state, "there is no memory for a table");
    }
    free(own);
    return curves;
}

void
standard_keep(const double *in, double *out, double *state, int arguments, const TableFile *file, mdl_object_free *kind, MakeTable *make)
{
    mdl_objects *objects = standard_objects(state);
    Argument from = standard_arguments(in, arguments);
    out[0] = objects ? mdl_object_find(objects, kind, from.at, from.n) : 0;
    if (out[0] != 0)
        return;
    void *made = objects ? make(in, state, file) : NULL;
    out[0] = made ? mdl_object_keep(objects, kind, from.at, from.n, made) : 0;
    if (out[0] == 0)
        standard_fail(in, state, "there is no memory for a table");
}

static TableFile
file_of(const double *in, const double *state, int delimiter)
{
    return (TableFile){.path = standard_text(in, 0, state), .name = standard_text(in, 1, state),
                       .delimiter = delimiter ? standard_text(in, delimiter, state) : ",",
                       .header_lines = delimiter ? (int)standard_scalar(in, delimiter + 1) : 0};
}

// Objects are freed with the run.
void
mdl_standard_close(const double *in, double *out, double *state)
{
    (void)in;
    (void)state;
    out[0] = 0;
}

// --- of one variable: file, name, matrix, two sizes, columns, their number, smoothness, extrapolation, verbose

static void *
make_plain(const double *in, double *state, const TableFile *file)
{
    return make_curves(in, state, file, 0);
}

void
mdl_standard_curve_init(const double *in, double *out, double *state)
{
    TableFile file = file_of(in, state, 0);
    standard_keep(in, out, state, 10, &file, curves_free, make_plain);
}

void
mdl_standard_curve_init_file(const double *in, double *out, double *state)
{
    TableFile file = file_of(in, state, 10);
    standard_keep(in, out, state, 12, &file, curves_free, make_plain);
}

static CurvePoint
curve_point(const double *in, double *state)
{
    const Curves *curves = curves_of(in, state);
    size_t column;
    double u = standard_scalar(in, 2);
    if (!curves || !column_of(in, state, curves->columns, &column))
        return (CurvePoint){NAN, NAN, NAN};
    if (curves->extrapolation == BEYOND_NONE && (u < curves->x[0] || u > curves->x[curves->rows - 1])) {
        standard_fail(in, state, "the table is asked for its value at %g, but goes from %g to %g", u, curves->x[0], curves->x[curves->rows - 1]);
        return (CurvePoint){NAN, NAN, NAN};
    }
    return curves_at(curves, column, u);
}

void
mdl_standard_curve_value(const double *in, double *out, double *state)
{
    out[0] = curve_point(in, state).value;
}

void
mdl_standard_curve_slope(const double *in, double *out, double *state)
{
    out[0] = curve_point(in, state).slope * standard_scalar(in, 3);
}

void
mdl_standard_curve_bend(const double *in, double *out, double *state)
{
    CurvePoint point = curve_point(in, state);
    double rate = standard_scalar(in, 3);
    out[0] = point.bend * rate * rate + point.slope * standard_scalar(in, 4);
}

void
mdl_standard_curve_least(const double *in, double *out, double *state)
{
    const Curves *curves = curves_of(in, state);
    out[0] = curves ? curves->x[0] : NAN;
}

void
mdl_standard_curve_most(const double *in, double *out, double *state)
{
    const Curves *curves = curves_of(in, state);
    out[0] = curves ? curves->x[curves->rows - 1] : NAN;
}

// --- over time: file, name, matrix, two sizes, start time, columns, their number, smoothness, extrapolation, shift, events, verbose

typedef enum TimeEvents { EVENTS_ALWAYS = 1, EVENTS_AT_JUMPS, EVENTS_NONE } TimeEvents;

typedef struct History {
    Curves *curves;
    double start, shift; // the value is 0 before `start`; the table's time is that of the run less `shift`
    TimeEvents events;
} History;

static void
free_history(void *place)
{
    History *history = place;
    if (history)
        curves_free(history->curves);
    free(history);
}

static void *
make_history(const double *in, double *state, const TableFile *file)
{
    History *history = calloc(1, sizeof *history);
    if (!history)
        return NULL;
    history->curves = make_curves(in, state, file, 1);
    history->start = standard_scalar(in, 5);
    history->shift = standard_scalar(in, 10);
    history->events = (TimeEvents)standard_scalar(in, 11);
    if (!history->curves) {
        free(history);
        return NULL;
    }
    return history;
}

void
mdl_standard_history_init(const double *in, double *out, double *state)
{
    TableFile file = file_of(in, state, 0);
    standard_keep(in, out, state, 13, &file, free_history, make_history);
}

void
mdl_standard_history_init_file(const double *in, double *out, double *state)
{
    TableFile file = file_of(in, state, 13);
    standard_keep(in, out, state, 15, &file, free_history, make_history);
}

static History *
history_of(const double *in, double *state)
{
    return standard_object(in, state, free_history, "a table is used before it has been made");
}

// Rounding of times: one that is reached from the run's time less `shift` has the rounding of these.
static double
tolerance(double t, double x)
{
    return 8 * DBL_EPSILON * fmax(fabs(t), fabs(x));
}

// Whether there is an event at row i.
static bool
is_event(const History *history, size_t i)
{
    const Curves *curves = history->curves;
    bool jump = i + 1 < curves->rows && curves->x[i + 1] == curves->x[i];
    bool end = i == 0 || i + 1 == curves->rows;
    if (history->events == EVENTS_NONE)
        return false;
    return history->events == EVENTS_ALWAYS || jump || curves->smoothness == SMOOTH_STEPS
        || (end && curves->extrapolation == BEYOND_PERIODIC && curves->rows > 1);
}

// The first row, taken `offset` later, that is behind t in the table's time; the number of rows when there is none.
static size_t
row_behind(const History *history, double t, double offset)
{
    const Curves *curves = history->curves;
    size_t low = 0, high = curves->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        double x = curves->x[middle] + offset;
        if (x > t + fmax(tolerance(t, x), tolerance(t + history->shift, history->shift)))
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// The first event behind t in the table's time, when it is taken `offset` later.
static double
event_behind(const History *history, double t, double offset)
{
    for (size_t i = row_behind(history, t, offset); i < history->curves->rows; i++)
        if (is_event(history, i))
            return history->curves->x[i] + offset;
    return NEVER;
}

void
mdl_standard_history_event(const double *in, double *out, double *state)
{
    const History *history = history_of(in, state);
    out[0] = NEVER;
    if (!history)
        return;
    const Curves *curves = history->curves;
    double now = standard_scalar(in, 1), t = now - history->shift, next = event_behind(history, t, 0);
    double first = curves->x[0], period = curves->x[curves->rows - 1] - first;
    if (curves->extrapolation == BEYOND_PERIODIC && period > 0) {
        double turns = floor((t - first) / period);
        next = event_behind(history, t, (turns - 1) * period);
        for (int k = 0; k < 3; k++)
            next = fmin(next, event_behind(history, t, (turns + k) * period));
    }
    next = next < NEVER ? next + history->shift : NEVER;
    if (history->events != EVENTS_NONE && now < history->start - tolerance(now, history->start))
        next = fmin(next, history->start);
    out[0] = next;
}

// The first row at which the event at x is, in the table's time without periods; the number of rows when it is at none.
static size_t
row_of_event(const Curves *curves, double x, double shift)
{
    double near = 64 * fmax(tolerance(x, curves->x[curves->rows - 1] - curves->x[0]), tolerance(x + shift, shift));
    size_t low = 0, high = curves->rows;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (x - curves->x[middle] <= near)
            high = middle;
        else
            low = middle + 1;
    }
    return low < curves->rows && curves->x[low] - x <= near ? low : curves->rows;
}

// The point at t, of a piece that ends not behind the next event.
static CurvePoint
point_before(const History *history, size_t column, double t, double event)
{
    const Curves *curves = history->curves;
    size_t i = curves_find(curves, t), end = row_of_event(curves, event, history->shift);
    if (end < curves->rows && i >= end)
        i = end ? end - 1 : 0; // two rows at the beginning: the first is what was before
    if (curves->smoothness == SMOOTH_STEPS && end < curves->rows) // a step lasts until its event has been handled
        return (CurvePoint){.value = curves->y[column * curves->rows + i]};
    return curves_piece(curves, column, i, t);
}

static CurvePoint
periodic_point(const History *history, size_t column, double t, double event)
{
    const Curves *curves = history->curves;
    double first = curves->x[0], period = curves->x[curves->rows - 1] - first;
    // The ends of periods are events: time belongs to the period that the next event is in, or ends, whatever rounding says.
    double turns = event < NEVER ? ceil((event - first) / period - 64 * DBL_EPSILON * fmax(1, fabs(event / period))) - 1 : floor((t - first) / period);
    return point_before(history, column, fmax(t - turns * period, first), event < NEVER ? event - turns * period : NEVER);
}

static CurvePoint
history_point(const double *in, double *state)
{
    const History *history = history_of(in, state);
    size_t column;
    double now = standard_scalar(in, 2), event = standard_scalar(in, 3);
    if (!history || !column_of(in, state, history->curves->columns, &column))
        return (CurvePoint){NAN, NAN, NAN};
    const Curves *curves = history->curves;
    double t = now - history->shift, first = curves->x[0], last = curves->x[curves->rows - 1];
    double ahead = event < NEVER ? event - history->shift : NEVER;
    // Before its start it is 0, until the event of that has been handled.
    double near = tolerance(event, history->start);
    if ((now < history->start && !(event > history->start + near)) || fabs(event - history->start) <= near)
        return (CurvePoint){0};
    if (curves->rows == 1)
        return curves_piece(curves, column, 0, t);
    if (curves->extrapolation == BEYOND_PERIODIC && last > first)
        return periodic_point(history, column, t, ahead);
    if (t >= first && t <= last)
        return point_before(history, column, t, ahead);
    if (curves->extrapolation == BEYOND_NONE) {
        standard_fail(in, state, "the table is asked for its value at the time %g, but goes from %g to %g", t, first, last);
        return (CurvePoint){NAN, NAN, NAN};
    }
    return curves_at(curves, column, t);
}

void
mdl_standard_history_value(const double *in, double *out, double *state)
{
    out[0] = history_point(in, state).value;
}

void
mdl_standard_history_slope(const double *in, double *out, double *state)
{
    out[0] = history_point(in, state).slope * standard_scalar(in, 5);
}

void
mdl_standard_history_bend(const double *in, double *out, double *state)
{
    CurvePoint point = history_point(in, state);
    double rate = standard_scalar(in, 5);
    out[0] = point.bend * rate * rate + point.slope * standard_scalar(in, 6);
}

void
mdl_standard_history_least(const double *in, double *out, double *state)
{
    const History *history = history_of(in, state);
    out[0] = history ? history->curves->x[0] : NAN;
}

void
mdl_standard_history_most(const double *in, double *out, double *state)
{
    const History *history = history_of(in, state);
    out[0] = history ? history->curves->x[history->curves->rows - 1] : NAN;
}
