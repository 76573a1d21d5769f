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
static const double OTHER = 1e-3; // the same between two solutions of one row
static const double LEAST = 1e-3; // of its nominal value: smaller ones are zero

// Some unknown of a nonlinear loop in v is far from that in `before`: by this part of itself.
static bool
differs(const Run *run, const double *before, double part)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_block *block = model->dynamics[k].block;
        for (uint32_t j = 0; block && !block->linear && j < block->m; j++) {
            uint32_t place = block->unknown[j], i = place - model->y;
            if (place < model->y || i >= model->n)
                continue;
            double now = run->v[place], size = fmax(fmax(fabs(now), fabs(before[i])), LEAST * run->block[k]->scale[j]);
            if (fabs(now - before[i]) > part * size)
                return true;
        }
    }
    return false;
}

bool
loops_are_continued(const Run *run)
{
    bool nonlinear = false, locked = false; // what conditions leave open stays where it was (locked.c)
    for (uint32_t k = 0; k < run->model->n_dynamics && !run->model->nx; k++) {
        const Newton *newton = run->block[k];
        nonlinear |= newton && !newton->block->linear;
        locked |= newton && newton->locked;
    }
    return nonlinear && !locked && !run->model->nx && !run->modes && isfinite(run->solved_time) && run->v[0] > run->solved_time;
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
    if (halvings && half > from && half < to && (status != MDL_OK || differs(run, start, LEAP))) {
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
    if (status == MDL_OK && !differs(run, run->solved, LEAP))
        return status;
    size_t n = model->n, nv = model->nv;
    double *kept = malloc((2 * n + nv + 1) * sizeof *kept), *start = kept + n, *values = start + n;
    if (!kept)
        return MDL_INTERNAL;
    memcpy(kept, run->solved, n * sizeof *kept);
    memcpy(start, run->v + model->y, n * sizeof *start);
    memcpy(values, run->v, nv * sizeof *values);
    int continued = go_on(run, before, now, HALVINGS, run->solved);
    run->v[0] = now;
    bool other = continued == MDL_OK && (status != MDL_OK || differs(run, start, OTHER));
    // Where the way ends, or leads to the same, what was found at first counts to the last digit; a loop that was not solved is looked for from the end of the way.
    if (!other && status == MDL_OK) {
        memcpy(run->solved, kept, n * sizeof *kept);
        memcpy(run->v, values, nv * sizeof *values);
        continued = MDL_OK;
    }
    free(kept);
    return continued;
}
