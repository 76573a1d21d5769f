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
// Contract: point.h. Complexity: nothing where no block is locked; otherwise one evaluation per null direction and event.
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

static void
tell(const Run *run, Newton *newton)
{
    char text[2000];
    if (newton->told)
        return;
    newton->told = true;
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

bool
newton_keeps_motion(Run *run, Newton *newton, uint32_t open)
{
    const mdl_model *model = run->model;
    const mdl_block *block = newton->block;
    double along[block->m + 1], most = 0;
    size_t nv = model->nv, nx = model->nx;
    double *kept = malloc((nv + nx + 1) * sizeof *kept), *before = kept + nv;
    mdl_call(block->jacobian, run->v);
    if (!kept || !newton_rank(run, newton, 0, block->m - open)) {
        free(kept);
        return false;
    }
    bool unique = true;
    // Only affine blocks go on like this as far as one likes.
    double part = block->linear ? 1 : 1e-6;
    memcpy(kept, run->v, nv * sizeof *kept);
    evaluate_plain(run);
    memcpy(before, run->v + model->dx, nx * sizeof *before);
    for (uint32_t k = 0; k < open; k++) {
        rank_kernel(newton->rank, k, along);
        unique = unique && !moves_rate(model, block, along);
        for (uint32_t i = 0; i < block->m; i++) {
            most = fmax(most, fabs(run->v[block->unknown[i]]) / newton->scale[i]);
            run->v[block->unknown[i]] += part * along[i];
        }
        evaluate_plain(run);
        for (uint32_t i = 0; i < model->nx; i++) {
            double change = state_is_own(model, i) ? fabs(run->v[model->dx + i] - before[i]) : 0;
            unique = unique && change <= 1e-7 * part * fmax(1, most) * fmax(fabs(before[i]), 1);
        }
        memcpy(run->v, kept, nv * sizeof *run->v);
    }
    free(kept);
    evaluate_plain(run);
    return unique;
}

bool
locked_keeps_motion(Run *run)
{
    bool keeps = true;
    for (uint32_t k = 0; k < run->model->n_dynamics && keeps; k++) {
        Newton *newton = run->block[k];
        keeps = !newton || !newton->locked || newton_keeps_motion(run, newton, newton->locked);
    }
    return keeps || hidden_determines(run);
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

int
locked_review(Run *run)
{
    uint32_t locked = 0;
    for (uint32_t k = 0; k < run->model->n_dynamics; k++) {
        Newton *newton = run->block[k];
        if (newton && newton->locked)
            newton_review_locked(run, newton);
        if (newton)
            newton->reviewed = newton->locked;
        if (!newton || !newton->locked)
            continue;
        if (newton_keeps_motion(run, newton, newton->locked)) {
            tell(run, newton);
            int status = leave_edges(run, newton);
            if (status != MDL_OK)
                return status;
        } else if (!hidden_determines(run)) {
            return refuse(run, newton);
        }
        locked += newton->locked;
    }
    run->locked = locked;
    return MDL_OK;
}
