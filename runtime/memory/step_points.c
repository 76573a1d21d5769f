// step_points.c: the points of a step at which values that enter a memory are kept.
//
// Purpose: polynomials through the points of a memory (delay.c, transport_profile.c) are right to the tolerance, whatever the values are. The
//          integrator controls the errors of states only; what a function with branches, or a fast one, makes of them it does not see.
// Method: four points per step. Each second one is compared with the polynomial of degree five through those around it; where they
//         differ the cell is halved, until they agree. A cell that has become a millionth of the step holds a kink or a jump, and no
//         polynomial crosses it.
// Contract: step_points.h. Complexity: four evaluations per step where values are smooth, about thirty more for a kink, MOST at most.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/memory/step_points.h"
#include "runtime/model/order.h"
#include "runtime/point/point.h"

enum { STENCIL = 6, KEPT = 4, QUARTERS = 4, MOST = 200, VAIN = 10 };
static const double ALLOWED = 3;       // tolerances: the point that differs by so much quarters the difference of a kink, or better
static const double ROUNDING = 1e-11;  // relative: loops are solved to this
static const double LEAST = 1e-6;      // of a step: the shortest cell

typedef struct Cell {
    double from, to;
} Cell;

bool
step_points_create(StepPoints *points, uint32_t columns)
{
    *points = (StepPoints){.columns = columns, .capacity = KEPT + QUARTERS + MOST};
    points->time = calloc(points->capacity, sizeof *points->time);
    points->value = calloc(points->capacity * columns, sizeof *points->value);
    points->apart = calloc(points->capacity, sizeof *points->apart);
    points->size = calloc(columns, sizeof *points->size);
    points->row = calloc(columns, sizeof *points->row);
    return points->time && points->value && points->apart && points->size && points->row;
}

void
step_points_free(StepPoints *points)
{
    free(points->time);
    free(points->value);
    free(points->apart);
    free(points->size);
    free(points->row);
    *points = (StepPoints){0};
}

static double *
row_of(const StepPoints *points, size_t i)
{
    return points->value + i * points->columns;
}

// The first point behind `time`.
static size_t
behind(const StepPoints *points, double time)
{
    return first_above(points->time, 0, points->points, time);
}

// Inserts points->row at `time`, where no point is yet.
static void
insert(StepPoints *points, double time)
{
    size_t at = behind(points, time), rest = points->points - at;
    memmove(points->time + at + 1, points->time + at, rest * sizeof *points->time);
    memmove(row_of(points, at + 1), row_of(points, at), rest * points->columns * sizeof *points->value);
    memmove(points->apart + at + 1, points->apart + at, rest);
    points->time[at] = time;
    memcpy(row_of(points, at), points->row, points->columns * sizeof *points->row);
    points->apart[at] = 0;
    points->points++;
    for (uint32_t k = 0; k < points->columns; k++)
        points->size[k] = fmax(points->size[k], fabs(points->row[k]));
}

void
step_points_begin(StepPoints *points, const Run *run, StepRead *read)
{
    points->points = 0;
    points->first = 1;
    points->in_vain = 0;
    read(run, points->row);
    insert(points, run->v[0]);
}

// Points of earlier steps that polynomials may still use go to the front.
static void
keep_latest(StepPoints *points)
{
    size_t from = points->points - 1;
    while (from > 0 && points->points - from < KEPT && !points->apart[from])
        from--;
    points->points -= from;
    memmove(points->time, points->time + from, points->points * sizeof *points->time);
    memmove(points->value, row_of(points, from), points->points * points->columns * sizeof *points->value);
    memset(points->apart, 0, points->points);
    points->first = points->points;
}

// How far points->row at `time` is from the polynomials through the points around it, in tolerances of the largest magnitudes.
static double
surprise(const StepPoints *points, double time, double tolerance)
{
    size_t right = behind(points, time), from = right > STENCIL / 2 ? right - STENCIL / 2 : 0;
    if (from + STENCIL > points->points)
        from = points->points > STENCIL ? points->points - STENCIL : 0;
    size_t count = points->points - from < STENCIL ? points->points - from : STENCIL;
    double weight[STENCIL], most = 0;
    for (size_t i = 0; i < count; i++) { // Lagrange's polynomials
        weight[i] = 1;
        for (size_t j = 0; j < count; j++)
            if (j != i)
                weight[i] *= (time - points->time[from + j]) / (points->time[from + i] - points->time[from + j]);
    }
    for (uint32_t k = 0; k < points->columns; k++) {
        double sum = 0;
        for (size_t i = 0; i < count; i++)
            sum += weight[i] * row_of(points, from + i)[k];
        most = fmax(most, fabs(points->row[k] - sum) / (fmax(tolerance, ROUNDING) * (fmax(points->size[k], fabs(points->row[k])) + 1e-3)));
    }
    return most;
}

// A value at points->row that nobody expected: both halves of its cell are looked at, or it holds a kink.
static size_t
divide(StepPoints *points, const Cell *cell, double length, Cell *queue, size_t queued)
{
    double middle = cell->from + (cell->to - cell->from) / 2;
    if (cell->to - cell->from > LEAST * length) {
        queue[queued++] = (Cell){cell->from, middle};
        queue[queued++] = (Cell){middle, cell->to};
    } else {
        size_t at = behind(points, middle);
        points->apart[at - 1] = points->apart[at] = 1;
    }
    return queued;
}

// Evaluates the middle of each cell in the queue until all values are as expected.
MDL_CHECKED static int
refine(StepPoints *points, Run *run, double length, StepRead *read, Cell *queue, size_t queued)
{
    size_t evaluated = 0;
    for (size_t i = 0; i < queued && evaluated < MOST - 2; i++) {
        const Cell cell = queue[i];
        double middle = cell.from + (cell.to - cell.from) / 2;
        if (!(middle > cell.from && middle < cell.to))
            continue;
        int status = evaluate_at(run, middle, true);
        if (status != MDL_OK)
            return status;
        evaluated++;
        read(run, points->row);
        bool wrong = !(surprise(points, middle, run->tolerance) <= ALLOWED);
        insert(points, middle);
        if (wrong)
            queued = divide(points, &cell, length, queue, queued);
    }
    // Values that no cell is short enough for are noise: more points do not make it less.
    points->in_vain = evaluated < MOST - 2 ? 0 : points->in_vain + 1;
    return MDL_OK;
}

int
step_points_take(StepPoints *points, Run *run, double instant, StepRead *read)
{
    Cell queue[2 * (MOST + QUARTERS)];
    size_t queued = 0, columns = points->columns;
    double before = points->time[points->points - 1], length = instant - before;
    if (!(length > 0))
        return evaluate_at(run, instant, true);
    keep_latest(points);
    double *quarter = calloc(QUARTERS * columns, sizeof *quarter), at[QUARTERS];
    int status = quarter ? MDL_OK : MDL_INTERNAL;
    for (int i = 0; i < QUARTERS && status == MDL_OK; i++) {
        at[i] = i + 1 < QUARTERS ? before + length * (i + 1) / QUARTERS : instant;
        status = evaluate_at(run, at[i], true);
        read(run, quarter + (size_t)i * columns);
    }
    static const int order[QUARTERS] = {1, 3, 0, 2}; // the middle and the end, then those that are compared with them
    double unexpected[QUARTERS];
    for (int i = 0; i < QUARTERS && status == MDL_OK; i++) {
        memcpy(points->row, quarter + (size_t)order[i] * columns, columns * sizeof *quarter);
        unexpected[order[i]] = surprise(points, at[order[i]], run->tolerance);
        if (points->time[behind(points, at[order[i]]) - 1] < at[order[i]])
            insert(points, at[order[i]]);
    }
    free(quarter);
    if (status != MDL_OK || points->in_vain >= VAIN)
        return status;
    for (int i = 0; i < QUARTERS; i += 2)
        if (!(unexpected[i] <= ALLOWED))
            queued = divide(points, &(Cell){i ? at[i - 1] : before, at[i + 1]}, length, queue, queued);
    if (!queued)
        return MDL_OK;
    status = refine(points, run, length, read, queue, queued);
    return status == MDL_OK ? evaluate_at(run, instant, true) : status;
}

void
step_points_snapshot(StepPoints *points, Snapshot *snapshot)
{
    if (!snapshot->from && points->points)
        keep_latest(points);
    size_t kept = points->points;
    snapshot_part(snapshot, &kept, sizeof kept);
    if (kept > KEPT) {
        snapshot->failed = true;
        return;
    }
    points->points = kept;
    snapshot_part(snapshot, points->time, kept * sizeof *points->time);
    snapshot_part(snapshot, points->value, kept * points->columns * sizeof *points->value);
    snapshot_part(snapshot, points->size, points->columns * sizeof *points->size);
    snapshot_part(snapshot, &points->in_vain, sizeof points->in_vain);
}
