// continued_loops.c: loops of a model without states, from row to row.
//
// Purpose: where nothing is integrated no step is too long, and Newton's method goes from the solution of the row before to some solution of this row. Of
//          several the one is meant that the loop has been on (the flow of a pump that goes down to zero, where another solution stands still and boils).
// Method: an unknown that has changed by a large part of itself is looked at: the time between the two rows is halved, and again, until no such change is left
//         or the pieces are too short. Where the solution ends on the way what fold.c and path.c find counts, as for any loop.
// Contract: point.h. Complexity: nothing where the unknowns change little; otherwise up to two solutions for each halving and for each piece that leaps.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"
#include "runtime/point/point.h"

enum { HALVINGS = 7 };

static const double LEAP = 0.25;  // of an unknown
static const double LEAST = 1e-3; // of its nominal value: smaller ones are zero

// Some unknown of a nonlinear loop in v is far from that in `before`.
static bool
leaps(const Run *run, const double *before)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_block *block = model->dynamics[k].block;
        for (uint32_t j = 0; block && !block->linear && j < block->m; j++) {
            uint32_t place = block->unknown[j], i = place - model->y;
            if (place < model->y || i >= model->n)
                continue;
            double now = run->v[place], size = fmax(fmax(fabs(now), fabs(before[i])), LEAST * run->block[k]->scale[j]);
            if (fabs(now - before[i]) > LEAP * size)
                return true;
        }
    }
    return false;
}

bool
loops_are_continued(const Run *run)
{
    bool nonlinear = false;
    for (uint32_t k = 0; k < run->model->n_dynamics && !nonlinear; k++)
        nonlinear = run->model->dynamics[k].block && !run->model->dynamics[k].block->linear;
    return nonlinear && !run->model->nx && !run->modes && isfinite(run->solved_time) && run->v[0] > run->solved_time;
}

// From the solution at `from` in `start` to that at `to`, which takes its place.
MDL_CHECKED static int
go_on(Run *run, double from, double to, int halvings, double *start)
{
    const mdl_model *model = run->model;
    run->v[0] = to;
    point_start_loops(run, start, start + model->n);
    int status = evaluate_solved(run, false);
    double half = from + (to - from) / 2;
    if (halvings && half > from && half < to && (status != MDL_OK || leaps(run, start))) {
        status = go_on(run, from, half, halvings - 1, start);
        return status == MDL_OK ? go_on(run, half, to, halvings - 1, start) : status;
    }
    if (status == MDL_OK)
        memcpy(start, run->v + model->y, model->n * sizeof *start);
    return status;
}

int
loops_continue(Run *run)
{
    const mdl_model *model = run->model;
    double now = run->v[0], before = run->solved_time;
    int status = evaluate_solved(run, false);
    if (status == MDL_OK && !leaps(run, run->solved))
        return status;
    double *first = malloc((model->n + 1) * sizeof *first);
    if (!first)
        return MDL_INTERNAL;
    memcpy(first, run->solved, model->n * sizeof *first);
    int continued = go_on(run, before, now, HALVINGS, run->solved);
    run->v[0] = now;
    // Where the way ends the first solution is as good as any; that of a loop which was not solved is looked for from the end of the way.
    if (continued != MDL_OK && status == MDL_OK) {
        memcpy(run->solved, first, model->n * sizeof *first);
        point_start_loops(run, run->solved, run->solved + model->n);
        continued = evaluate_solved(run, false);
    }
    free(first);
    return continued;
}
