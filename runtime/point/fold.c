// fold.c: loops whose solution ends.
//
// Purpose: a comparator with feedback has two solutions, and a third that is none in reality, until the one that it is on meets that third and both end
//          (Kuehn, Multiple Time Scale Dynamics, 2015, chapters 3 and 5: a fold). What is left out of such a model is fast; it jumps to the solution that is left.
// Method: steps before a fold become as short as rounding. Just behind the point that was reached the loops are solved along their path (path.c), beyond its turning points,
//         and from other places; where that gives other values an event at that point takes them.
// Contract: point.h. Complexity: a few tens of solutions per fold.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"
#include "runtime/point/point.h"

static const double AHEAD = 1e-6; // of the run: as far behind the point another solution is looked for
static const double OTHER = 1e-2; // of an unknown: a change that no step as short makes
static const double CLEAR = 100;  // tolerances: nor is it rounding of zero
static const double BENT = 0.5;   // of a change: what equations are off their tangents, beyond which another solution is one

// A loop between its solution in v and another place.
typedef struct Between {
    uint32_t m;
    double *slope, *rest;  // derivatives of the equations at the solution, m x m by rows; the same with unknowns eliminated
    double *change;        // from the solution to the other place, per unknown
    double *now, *before;  // residuals at the solution, and at the other place
    uint8_t *used;         // rows that have eliminated an unknown
} Between;

// Takes unknown j out of all rows but the one that has most of it and was not used before, which gives its change.
static void
eliminate(Between *at, uint32_t j, uint32_t *pivot)
{
    uint32_t m = at->m, best = m;
    for (uint32_t i = 0; i < m; i++)
        if (!at->used[i] && fabs(at->rest[(size_t)i * m + j]) > (best < m ? fabs(at->rest[(size_t)best * m + j]) : 0))
            best = i;
    for (uint32_t i = 0; i < m && best < m; i++) {
        double *row = at->rest + (size_t)i * m, *from = at->rest + (size_t)best * m, factor = row[j] / from[j];
        for (uint32_t k = 0; k < m && i != best && factor != 0; k++)
            row[k] = k == j ? 0 : row[k] - factor * from[k];
    }
    if (best < m)
        at->used[best] = 1;
    *pivot = best;
}

// The derivatives, and the changes. Unknowns that no result has have no value of before: they change as the equations say that are solved for them.
static void
find_changes(const Run *run, const mdl_block *block, const double *before, Between *at)
{
    const mdl_model *model = run->model;
    uint32_t m = at->m, *pivot = calloc(m + 1, sizeof *pivot);
    mdl_call(block->eval, run->v);
    mdl_call(block->jacobian, run->v);
    for (uint32_t j = 0; j < m; j++) {
        uint32_t i = block->unknown[j] - model->y;
        at->now[j] = run->v[block->residual[j]];
        at->change[j] = i < model->n ? before[i] - run->v[block->unknown[j]] : 0;
        for (uint32_t k = block->jac.column_start[j]; k < block->jac.column_start[j + 1]; k++)
            at->slope[(size_t)block->jac.row[k] * m + j] = run->v[block->jac.values + k];
    }
    memcpy(at->rest, at->slope, (size_t)m * m * sizeof *at->rest);
    for (uint32_t j = 0; j < m && pivot; j++)
        if (block->unknown[j] - model->y >= model->n)
            eliminate(at, j, &pivot[j]);
    for (uint32_t j = 0; j < m && pivot; j++) {
        if (block->unknown[j] - model->y < model->n || pivot[j] >= m)
            continue;
        const double *row = at->rest + (size_t)pivot[j] * m;
        double sum = 0;
        for (uint32_t k = 0; k < m; k++)
            sum += block->unknown[k] - model->y < model->n ? row[k] * at->change[k] : 0;
        at->change[j] = -sum / row[j];
    }
    free(pivot);
}

// The residuals there; v is as before.
static void
look_there(const Run *run, const mdl_block *block, Between *at)
{
    for (int there = 1; there >= 0; there--) {
        for (uint32_t j = 0; j < at->m; j++) {
            double here = there ? run->v[block->unknown[j]] : at->rest[j];
            at->rest[j] = here;
            run->v[block->unknown[j]] = there ? here + at->change[j] : here;
        }
        mdl_call(block->eval, run->v);
        for (uint32_t i = 0; i < at->m && there; i++)
            at->before[i] = run->v[block->residual[i]];
    }
}

// The equations differ by more than rounding, and not by what their derivatives make of the changes: there are two solutions.
static bool
is_bent(const Run *run, const mdl_block *block, const Between *at)
{
    double change = 0, off = 0;
    for (uint32_t i = 0; i < at->m; i++) {
        double size = 0, straight = 0;
        for (uint32_t j = 0; j < at->m; j++) {
            double part = at->slope[(size_t)i * at->m + j], value = run->v[block->unknown[j]];
            size += fabs(part) * fmax(fabs(value), fabs(value + at->change[j]));
            straight += part * at->change[j];
        }
        if (at->used[i] || !(fabs(straight) > STRICT * size))
            continue;
        change = fmax(change, fabs(straight) / size);
        off = fmax(off, fabs(at->before[i] - at->now[i] - straight) / size);
    }
    return !(off <= BENT * change);
}

// Loop k has another solution in v than the one that `before` is near. Where its equations are known to rounding alone between the two, or are straight there,
// it is one solution: a small difference of large values, or what errors of stiff states make of an unknown.
static bool
is_other_solution(const Run *run, uint32_t k, const double *before)
{
    enum { MOST = 300 };
    const mdl_block *block = run->model->dynamics[k].block;
    size_t m = block->m;
    if (m > MOST)
        return true;
    double *place = calloc(2 * m * m + 3 * m + 1, sizeof *place);
    uint8_t *used = calloc(m + 1, 1);
    bool other = true;
    if (place && used) {
        Between at = {block->m, place, place + m * m, place + 2 * m * m, place + 2 * m * m + m, place + 2 * m * m + 2 * m, used};
        find_changes(run, block, before, &at);
        look_there(run, block, &at);
        other = is_bent(run, block, &at);
    }
    free(place);
    free(used);
    return other;
}

// The first unknown of a loop in v that has changed from `before` by far more than a short step can; n: none has. The solution of an affine loop does not
// end: what jumps there are its choices, of which events know.
static uint32_t
first_other(const Run *run, const double *before)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_block *block = model->dynamics[k].block;
        for (uint32_t j = 0; block && !block->linear && j < block->m; j++) {
            uint32_t i = block->unknown[j] - model->y;
            if (block->unknown[j] < model->y + model->nx || i >= model->n)
                continue;
            double now = run->v[model->y + i], size = fmax(fabs(now), fabs(before[i])), change = fabs(now - before[i]);
            bool other = change > OTHER * size && change > CLEAR * (run->tolerance * size + run->abstol[i]);
            if (other && is_other_solution(run, k, before))
                return i;
            if (other)
                break;
        }
    }
    return model->n;
}

void
fold_tell(Run *run, const double *before)
{
    const mdl_model *model = run->model;
    uint32_t i = first_other(run, before);
    if (run->folded || i == model->n)
        return;
    run->folded = true;
    run_message(run, MDL_WARNING, "at time %.12g: the solution that a loop was on has ended; the run goes on with another one: `%s` = %.9g instead of %.9g",
                run->v[0], model->state_name ? model->state_name[i] : "?", run->v[model->y + i], before[i]);
}

// Loops' unknowns at the accepted point, with the states in the same array or not.
static const double *
accepted(const Run *run)
{
    return run->causal ? run->solved : run->y;
}

// The point so much behind the accepted one, with all loops solved on whatever solution there is.
MDL_CHECKED static int
solve_behind(Run *run, double step)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < model->nx; i++)
        run->v[model->y + i] = run->y[i] + step * run->yp[i];
    run->v[0] = run->time + step;
    run->mode = run->y + run->ny;
    point_start_loops(run, accepted(run), run->causal ? run->solved + model->n : run->yp);
    run->branching = true;
    int status = evaluate_solved(run, false);
    run->branching = false;
    return status;
}

bool
fold_found(Run *run)
{
    double span = run->options->stop - run->options->start;
    if (!run->loops || run->model->n == run->model->nx || run->modes)
        return false;
    for (double step = 16 * DBL_EPSILON * fmax(fabs(run->time), span); step <= AHEAD * span; step *= 4)
        if (solve_behind(run, step) == MDL_OK && first_other(run, accepted(run)) < run->model->n) {
            fold_tell(run, accepted(run));
            run->fold = step;
            return true;
        }
    return false;
}

// At this time within the last step the loops can be solved, on the solution that the step was made with.
static bool
stays(Run *run, double time, double *with)
{
    const mdl_model *model = run->model;
    if (run->stepper->interpolate(run, time) != MDL_OK)
        return false;
    memcpy(with, run->v + model->y, model->n * sizeof *with);
    bool solved = evaluate_solved(run, false) == MDL_OK && first_other(run, with) == model->n;
    for (uint32_t k = 0; k < model->n_dynamics && solved; k++)
        solved = !run->block[k] || newton_fulfilled(run, run->block[k], STRICT);
    return solved;
}

// Some loop has choices and so few unknowns that solving it costs no more than a step.
bool
fold_is_watched(const Run *run)
{
    enum { FEW = 4 };
    for (uint32_t k = 0; k < run->model->n_dynamics; k++) {
        const mdl_block *block = run->model->dynamics[k].block;
        if (block && block->switched && !block->linear && block->m <= FEW)
            return true;
    }
    return false;
}

// Beside a very steep part of an equation a corrector is content with small changes of the unknowns where there is no solution any more.
int
fold_crossed(Run *run, double before)
{
    const mdl_model *model = run->model;
    size_t n = model->n;
    double *kept = malloc(3 * (n + 1) * sizeof *kept), low = before, high = run->time, end = run->time;
    double finest = 4 * DBL_EPSILON * fmax(fabs(before), fabs(end));
    if (!kept)
        return MDL_INTERNAL;
    double *with = kept + 2 * n;
    bool look = run->loops && !run->modes && !stays(run, high, with);
    while (look && high - low > finest) {
        double half = low + (high - low) / 2;
        *(stays(run, half, with) ? &low : &high) = half;
    }
    memcpy(kept, run->y, n * sizeof *kept);
    memcpy(kept + n, run->yp, n * sizeof *kept);
    if (look && low > before && stays(run, low, with)) {
        evaluate_store(run);
        run->time = low;
        if (!fold_found(run)) {
            run->time = end;
            memcpy(run->y, kept, n * sizeof *kept);
            memcpy(run->yp, kept + n, n * sizeof *kept);
        }
    }
    free(kept);
    return MDL_OK;
}

int
fold_reached(Run *run)
{
    evaluate_load(run, run->time, run->y, run->yp);
    if (run->causal)
        point_start_loops(run, run->solved, run->solved + run->model->n);
    evaluate_plain(run);
    return evaluate_finish(run, true);
}

int
fold_jump(Run *run)
{
    const mdl_model *model = run->model;
    double step = run->fold;
    run->fold = 0;
    int status = solve_behind(run, step);
    if (status == MDL_OK) {
        memcpy(run->v + model->y, run->y, model->nx * sizeof *run->v);
        run->v[0] = run->time;
        status = evaluate_solved(run, true);
    }
    return status;
}
