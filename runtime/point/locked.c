// locked.c: loops whose equations follow from others while certain conditions hold.
//
// Purpose: frictions in a row, written with conditions (stuck, forwards, backwards) instead of set-valued laws, may all hold
//          what moves: its accelerations are then determined more than once, and the forces of the frictions not at all.
//          As of redundant constraints (redundancy.c) the motion is unique, and of the forces the least are taken.
//          Clearances in a row that are all open let what is between them stand anywhere in the gaps; there it stays where it was, but not
//          where a relation is about to change.
// Method: newton.c factors blocks with choices by rank where an elimination finds them singular, and looks whether
//         the equations agree. Here the null directions are tried: they must not change how the states move. The dae form
//         would need a regular matrix, so the causal form is used from then on.
// Contract: point.h. Complexity: nothing where no block is locked; otherwise per event as many evaluations as a block has null directions
//           (those of all blocks are tried at once), or one per null direction where the motion is not unique.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/newton.h"
#include "runtime/point/point.h"

MDL_CHECKED static int
refuse(const Run *run, Newton *newton)
{
    char text[2000];
    newton_null_text(run, newton, 4, text, sizeof text);
    run_message(run, MDL_ERROR, "at time %.12g: the motion is not determined: under the conditions that hold now a block of %u "
                "equations is singular%s", run->time, newton->block->m + newton->block->n_inner, text);
    return MDL_FAILED;
}

enum { TOLD = 8 }; // loops that are told of in a run

static void
tell(Run *run, Newton *newton)
{
    char text[2000];
    if (newton->told)
        return;
    newton->told = true;
    if (run->told_locked++ == TOLD)
        run_message(run, MDL_NOTE, "so it is in more loops from now on, which are not told of");
    if (run->told_locked > TOLD)
        return;
    newton_null_text(run, newton, 2, text, sizeof text);
    run_message(run, MDL_NOTE, "at time %.6g: under the conditions that hold now %u of %u equations of a loop follow%s from the "
                "others; %s:%s", run->time, newton->locked, newton->block->m + newton->block->n_inner, newton->locked == 1 ? "s" : "",
                newton->block->linear ? "of the forces that they leave open the least are taken" : "what they leave open stays as it was", text);
}

void
locked_form(Run *run)
{
    run->causal = true;
    run->ny = run->model->nx;
    run->stats->form = "causal";
    run->stats->unknowns = run->ny;
}

bool
locked_newly(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_dynamics; k++)
        if (run->block[k] && run->block[k]->locked && run->block[k]->locked != run->block[k]->reviewed)
            return true;
    return false;
}

// Whether a null direction moves the rate of a state that is an unknown of the block itself.
static bool
moves_rate(const mdl_model *model, const mdl_block *block, const double *along)
{
    double most = 0;
    bool moves = false;
    for (uint32_t k = 0; k < block->m; k++)
        most = fmax(most, fabs(along[k]));
    for (uint32_t k = 0; k < block->m; k++) {
        uint32_t at = block->unknown[k];
        moves |= at >= model->yp && at < model->yp + model->nx && state_is_own(model, at - model->yp) && fabs(along[k]) > 1e-7 * most;
    }
    return moves;
}

// Blocks whose null directions are tried at once, all of them affine or none.
typedef struct Trial {
    Newton **newton;
    uint32_t *open;    // null directions of each
    uint32_t n;
    double part;       // of a null vector that the unknowns move by
    double *most;      // per block: the largest of its unknowns so far, each in its unit
} Trial;

// Two blocks that move the same state in opposite directions do not hide each other: each has a length of its own, between 1 and 2.
static double
length_of(uint32_t block)
{
    double turns = block * 0.6180339887498949;
    return 1 + turns - floor(turns);
}

MDL_CHECKED static bool
factor_all(Run *run, const Trial *trial)
{
    for (uint32_t b = 0; b < trial->n; b++) {
        Newton *newton = trial->newton[b];
        mdl_call(newton->block->jacobian, run->v);
        if (!newton_rank(run, newton, 0, newton->block->m - trial->open[b]))
            return false;
    }
    return true;
}

// Moves each block along its k-th null direction, if it has one. False: one of them moves the rate of a state.
static bool
move_all(Run *run, Trial *trial, uint32_t k)
{
    bool unique = true;
    for (uint32_t b = 0; b < trial->n; b++) {
        const Newton *newton = trial->newton[b];
        const mdl_block *block = newton->block;
        double along[block->m + 1];
        if (k >= trial->open[b])
            continue;
        rank_kernel(newton->rank, k, along);
        unique = unique && !moves_rate(run->model, block, along);
        for (uint32_t i = 0; i < block->m; i++) {
            trial->most[b] = fmax(trial->most[b], fabs(run->v[block->unknown[i]]) / newton->scale[i]);
            run->v[block->unknown[i]] += length_of(b) * trial->part * along[i];
        }
    }
    return unique;
}

// The rates at the point in v are those of `before` but for rounding, which grows with the unknowns of a block: those of the block where
// they are smallest count.
static bool
rates_stay(const Run *run, const Trial *trial, const double *before)
{
    const mdl_model *model = run->model;
    double least = INFINITY;
    for (uint32_t b = 0; b < trial->n; b++)
        least = fmin(least, fmax(1, trial->most[b]));
    bool stay = true;
    for (uint32_t i = 0; i < model->nx; i++) {
        double change = state_is_own(model, i) ? fabs(run->v[model->dx + i] - before[i]) : 0;
        stay = stay && change <= 1e-7 * trial->part * least * fmax(fabs(before[i]), 1);
    }
    return stay;
}

// As many evaluations of the model as a block has null directions, and two, for any number of blocks.
static bool
try_all(Run *run, Trial *trial)
{
    const mdl_model *model = run->model;
    size_t nv = model->nv, nx = model->nx;
    uint32_t open = 0;
    double *kept = malloc((nv + nx + 1) * sizeof *kept), *before = kept + nv;
    bool unique = kept && factor_all(run, trial);
    if (!unique) {
        free(kept);
        return false;
    }
    for (uint32_t b = 0; b < trial->n; b++)
        open = trial->open[b] > open ? trial->open[b] : open;
    memcpy(kept, run->v, nv * sizeof *kept);
    evaluate_plain(run);
    memcpy(before, run->v + model->dx, nx * sizeof *before);
    for (uint32_t k = 0; k < open; k++) {
        unique = move_all(run, trial, k) && unique;
        evaluate_plain(run);
        unique = rates_stay(run, trial, before) && unique;
        memcpy(run->v, kept, nv * sizeof *run->v);
    }
    free(kept);
    evaluate_plain(run);
    return unique;
}

// Only affine blocks go on like this as far as one likes.
static double
part_of(bool linear)
{
    return linear ? 1 : 1e-6;
}

bool
newton_keeps_motion(Run *run, Newton *newton, uint32_t open)
{
    double most = 0;
    Trial trial = {&newton, &open, 1, part_of(newton->block->linear), &most};
    return try_all(run, &trial);
}

// Together, and where that moves something each by itself.
static bool
try_each(Run *run, Trial *trial)
{
    bool keep = !trial->n || try_all(run, trial);
    if (trial->n < 2 || keep)
        return keep;
    keep = true;
    for (uint32_t b = 0; b < trial->n && keep; b++)
        keep = newton_keeps_motion(run, trial->newton[b], trial->open[b]);
    return keep;
}

bool
newton_all_keep_motion(Run *run, bool locked)
{
    uint32_t n = run->model->n_dynamics;
    Trial trial = {.newton = calloc((size_t)n + 1, sizeof *trial.newton), .open = calloc((size_t)n + 1, sizeof *trial.open),
                   .most = calloc((size_t)n + 1, sizeof *trial.most)};
    bool keep = trial.newton && trial.open && trial.most;
    for (uint32_t linear = 0; linear < 2 && keep; linear++) {
        trial.n = 0;
        trial.part = part_of(linear);
        for (uint32_t k = 0; k < n; k++) {
            Newton *newton = run->block[k];
            uint32_t open = !newton ? 0 : locked ? newton->locked : newton->deficient;
            if (!open || newton->block->linear != linear)
                continue;
            trial.newton[trial.n] = newton;
            trial.most[trial.n] = 0;
            trial.open[trial.n++] = open;
        }
        keep = try_each(run, &trial);
    }
    free(trial.newton);
    free(trial.open);
    free(trial.most);
    return keep;
}

bool
locked_keeps_motion(Run *run)
{
    return newton_all_keep_motion(run, true) || hidden_determines(run);
}

// --- edges

static const double LITTLE = 1e-3, FAR = 0.1; // of the units of the unknowns: along what is open
static const double EDGE = 1e-12;             // of what a relation compares

static bool
relations_hold(Run *run)
{
    const mdl_model *model = run->model;
    if (evaluate_relations(run) != MDL_OK)
        return false;
    for (uint32_t k = 0; k < model->n_relations; k++)
        if ((run->v[model->relation[k].next] != 0) != (run->v[model->relation[k].value] != 0))
            return false;
    return true;
}

// From `kept`, all of v, by a part of the unit along what is open.
static bool
holds_beside(Run *run, const Newton *newton, const double *kept, const double *along, double part)
{
    const mdl_block *block = newton->block;
    memcpy(run->v, kept, run->model->nv * sizeof *kept);
    for (uint32_t i = 0; i < block->m; i++)
        run->v[block->unknown[i]] += part * along[i];
    return relations_hold(run);
}

// The side of the open direction on which all relations are as they are, where it is not both: 1, -1 or 0.
static int
inner_side(Run *run, const Newton *newton, const double *kept, const double *along)
{
    bool below = holds_beside(run, newton, kept, along, -LITTLE), above = holds_beside(run, newton, kept, along, LITTLE);
    return (int)above - (int)below;
}

static bool
some_at_edge(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        if (fabs(run->v[run->model->relation[k].g]) <= EDGE)
            return true;
    return false;
}

// What is left open stands where a relation is about to change (a pressure between two ports that are shut, at which one of them opens): rounding would
// decide, at one event after the other. It moves to where none is about to.
MDL_CHECKED static int
leave_edges(Run *run, Newton *newton)
{
    const mdl_block *block = newton->block;
    uint32_t open = newton->locked;
    size_t nv = run->model->nv;
    if (block->linear || !some_at_edge(run))
        return MDL_OK;
    double *kept = malloc((nv + (size_t)open * block->m + 1) * sizeof *kept), *along = kept + nv;
    if (!kept)
        return MDL_INTERNAL;
    for (uint32_t k = 0; k < open; k++)
        rank_kernel(newton->rank, k, along + (size_t)k * block->m);
    bool moved = false;
    for (uint32_t k = 0; k < open; k++, along += block->m) {
        memcpy(kept, run->v, nv * sizeof *kept);
        int side = inner_side(run, newton, kept, along);
        bool found = false;
        for (double part = FAR; side && !found && part >= LITTLE; part /= 10)
            found = holds_beside(run, newton, kept, along, side * part);
        if (!found)
            memcpy(run->v, kept, nv * sizeof *kept);
        moved |= found;
    }
    free(kept);
    if (moved)
        evaluate_store(run);
    return MDL_OK;
}

// The number of equations that follow from others under the present conditions.
static uint32_t
review_all(Run *run)
{
    uint32_t locked = 0;
    for (uint32_t k = 0; k < run->model->n_dynamics; k++) {
        Newton *newton = run->block[k];
        if (newton && newton->locked)
            newton_review_locked(run, newton);
        if (newton)
            locked += newton->reviewed = newton->locked;
    }
    return locked;
}

int
locked_review(Run *run)
{
    uint32_t locked = review_all(run);
    bool all = !locked || newton_all_keep_motion(run, true);
    int determined = -1; // not asked yet whether what laws say of the states determines the motion
    for (uint32_t k = 0; k < run->model->n_dynamics && locked; k++) {
        Newton *newton = run->block[k];
        if (!newton || !newton->locked)
            continue;
        if (all || newton_keeps_motion(run, newton, newton->locked)) {
            tell(run, newton);
            int status = leave_edges(run, newton);
            if (status != MDL_OK)
                return status;
            continue;
        }
        determined = determined < 0 ? hidden_determines(run) : determined;
        if (!determined)
            return refuse(run, newton);
    }
    run->locked = locked;
    return MDL_OK;
}
