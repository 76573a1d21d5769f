// when_loop.c: discrete Reals in a loop with what else holds at an event.
//
// Purpose: `when sample(0, 1) then y = 7 - 2*x; end when; x + y = 5;` gives y from x and x from y at the same instant (Modelica
//          Specification 3.6, appendix B: a system of equations). Evaluated in turn, the one with the last value of the other, they lead away from
//          the solution where a change comes back larger than it was, and slowly towards it where it comes back hardly smaller.
// Method: Newton's method for d = F(d), where d are the discrete Reals that still change after some passes, and F(d) is what their equations
//         give with everything else solved for these d. The partial derivatives are differences: F is affine in most models, whose
//         differences are exact to rounding, and what they are wrong by the next step makes good. Sensitivities T satisfy T = F'T + b, an affine
//         system, and are found from n + 1 evaluations of the right hand side in the same way.
// Contract: event.h. Complexity: n + 1 solutions of the model for a step, and n^3.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/linear/lu.h"
#include "runtime/point/run.h"

enum { LOOPED_MOST = 100 };
static const double SHIFT = 1e-6; // of a value or of what it changes by

bool
loop_is_solved(const Run *run)
{
    return run->n_looped > 0 && run->n_looped <= LOOPED_MOST;
}

// By what the first pass changes a value: what the event itself does. loop_change is its negative; those in the list have a positive one.
static void
note_first(Run *run, const double *change)
{
    run->n_looped = 0;
    for (uint32_t k = 0; k < run->model->n_discretes; k++)
        run->loop_change[k] = -change[k];
}

// Its change before, INFINITY when it is the first one; it is in the list from now on.
static double
join_loop(Run *run, uint32_t discrete)
{
    double before = run->loop_change[discrete];
    if (before <= 0)
        run->looped[run->n_looped++] = discrete;
    return before == 0 ? INFINITY : fabs(before);
}

bool
loop_note(Run *run, bool first)
{
    const mdl_model *model = run->model;
    double *changes = run->loop_now;
    bool grows = false;
    for (uint32_t k = 0; k < model->n_discretes; k++) {
        const mdl_discrete *discrete = &model->discrete[k];
        changes[k] = discrete->next && !discrete->whole ? fabs(run->v[discrete->value] - run->old_discrete[k]) : 0;
        if (first || changes[k] == 0)
            continue;
        double before = join_loop(run, k);
        grows = grows || changes[k] > before;
        run->loop_change[k] = changes[k];
    }
    if (first)
        note_first(run, changes);
    return grows;
}

// x := (1 - J)^-1 x, with column j of J from slope + j*n. Where that is singular x stays.
static void
solve_loop(uint32_t n, const double *slope, double *x)
{
    uint32_t *start = malloc((n + 1) * sizeof *start), *row = malloc((size_t)n * n * sizeof *row);
    double *values = malloc((size_t)n * n * sizeof *values);
    Lu *lu = NULL;
    bool solved = start && row && values;
    for (uint32_t j = 0; solved && j <= n; j++)
        start[j] = j * n;
    for (uint32_t i = 0; solved && i < n * n; i++) {
        row[i] = i % n;
        values[i] = (i % n == i / n) - slope[i];
    }
    if (solved)
        lu = lu_create(n, start, row);
    solved = lu && lu_factor(lu, values, true);
    if (solved)
        lu_solve(lu, x);
    lu_free(&lu);
    free(start);
    free(row);
    free(values);
}

// Column j of F' at x, by a difference from F(x) = x + change.
MDL_CHECKED static int
evaluate_column(Run *run, LoopMap map, void *data, double *x, const double *change, uint32_t j, double *column)
{
    double before = x[j], size = fmax(fabs(before), fabs(change[j]));
    x[j] = before + (size > 0 ? SHIFT * size : SHIFT);
    double shift = x[j] - before;
    int status = map(run, data, x, column);
    x[j] = before;
    for (uint32_t i = 0; i < run->n_looped; i++)
        column[i] = (column[i] - x[i] - change[i]) / shift;
    return status;
}

MDL_CHECKED static int
step_within(Run *run, LoopMap map, void *data, double *x, double *change, double *slope)
{
    uint32_t n = run->n_looped;
    int status = map(run, data, x, change);
    for (uint32_t i = 0; i < n; i++)
        change[i] -= x[i];
    for (uint32_t j = 0; j < n && status == MDL_OK; j++)
        status = evaluate_column(run, map, data, x, change, j, slope + (size_t)j * n);
    if (status == MDL_OK)
        solve_loop(n, slope, change);
    for (uint32_t i = 0; i < n && status == MDL_OK; i++)
        x[i] += change[i];
    return status;
}

int
loop_step(Run *run, LoopMap map, void *data, double *x)
{
    size_t n = run->n_looped;
    if (!loop_is_solved(run))
        return MDL_OK;
    double *room = malloc((n + n * n) * sizeof *room);
    int status = room ? step_within(run, map, data, x, room, room + n) : MDL_INTERNAL;
    free(room);
    return status;
}
