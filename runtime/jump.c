// jump.c: impulses of what jumps and is differentiated.
//
// Purpose: a voltage that steps on a capacitor, a velocity that steps on a mass: the charge, or the momentum, that flows in an instant.
// Method: an equation 0 = g among continuous variables that was differentiated has, as 0 = dg/dt + k, an impulse k (ir/pass/jumps.c).
//         With the continuous variables of the left limit and the discrete ones of behind the event, g is r. k has the integral
//         r over the event, so that g is 0 behind it; and as derivatives of states are affine in k,
//             dy/dt(k) = dy/dt(0) + D*k,     y changes by D*r,
//         with D at the middle of the jump, where g is r/2, so that integrals of powers get the work of the impulse (as contact.c does for
//         impacts). What is not affine in k, or jumps although it was differentiated twice (a position under a mass), has no finite
//         impulse: the run ends and names the equation.
// Contract: run.h. Complexity: a copy of v per event, and per jump six evaluations of the model.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/part.h"
#include "runtime/sense.h"

static const double ROUNDING = 1e-10; // of what an equation's rest has been: none
static const double STIRRED = 1e-6;   // of a force that holds: it is another one
static const double AFFINE = 1e-6;    // of a change: that of half the impulse is half of it

typedef struct Jumps {
    double *left;    // v at the left limit
    double *work;    // nv: v with what is continuous from before the event
    double *rest;    // per jump: r
    double *start, *base, *change, *half; // nx
    double *force;   // per law: p without impulses
    bool pulls;      // impulses change what holds something that sticks, or is closed
} Jumps;

MDL_CHECKED static int
jump_create(Run *run)
{
    size_t nv = run->model->nv, nx = run->model->nx, n = run->model->n_jumps;
    if (!n)
        return MDL_OK;
    Jumps *jumps = run->jumps = calloc(1, sizeof *jumps);
    double *room = jumps ? calloc(2 * nv + n + 4 * nx + run->model->n_sgns, sizeof *room) : NULL;
    if (!room)
        return MDL_INTERNAL;
    jumps->left = room;
    jumps->work = room + nv;
    jumps->rest = jumps->work + nv;
    jumps->start = jumps->rest + n;
    jumps->base = jumps->start + nx;
    jumps->change = jumps->base + nx;
    jumps->half = jumps->change + nx;
    jumps->force = jumps->half + nx;
    return MDL_OK;
}

static void
jump_free(Run *run)
{
    if (run->jumps)
        free(run->jumps->left);
    free(run->jumps);
    run->jumps = NULL;
}

void
jump_note(Run *run)
{
    if (!run->jumps)
        return;
    evaluate_outputs(run);
    memcpy(run->jumps->left, run->v, run->model->nv * sizeof *run->v);
}

// work := the left limit with what is discrete as it is now.
static void
mix(Run *run)
{
    const mdl_model *model = run->model;
    double *work = run->jumps->work;
    memcpy(work, run->jumps->left, model->nv * sizeof *work);
    for (uint32_t k = 0; k < model->n_relations; k++)
        work[model->relation[k].value] = run->v[model->relation[k].value];
    for (uint32_t k = 0; k < model->n_time_relations; k++)
        work[model->time_relation[k].value] = run->v[model->time_relation[k].value];
    for (uint32_t k = 0; k < model->n_discretes; k++)
        if (model->discrete[k].next)
            work[model->discrete[k].value] = run->v[model->discrete[k].value];
    for (uint32_t k = 0; k < model->n_sgns; k++)
        work[model->sgn[k].mode] = run->v[model->sgn[k].mode];
}

static int
refuse(const Run *run, uint32_t k, const char *why)
{
    run_message(run, MDL_ERROR, "at time %.12g: this equation is differentiated, and jumps by %.6g; %s:\n  %s", run->v[0],
                run->jumps->rest[k], why, run->model->jump[k].text);
    return MDL_FAILED;
}

// What is left of the equations; true when it is more than rounding, or than what was left before the event.
MDL_CHECKED static int
find_rests(Run *run, bool *any)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    memcpy(jumps->work, jumps->left, model->nv * sizeof *jumps->work);
    mdl_call(model->jumps, jumps->work);
    for (uint32_t k = 0; k < model->n_jumps; k++)
        jumps->rest[k] = jumps->work[model->jump[k].rest];
    mix(run);
    mdl_call(model->jumps, jumps->work);
    for (uint32_t k = 0; k < model->n_jumps; k++) {
        double rest = jumps->work[model->jump[k].rest], before = jumps->rest[k];
        bool jumped = fabs(rest - before) > fmax(ROUNDING * fmax(fabs(rest), 1), 10 * fabs(before));
        jumps->rest[k] = jumped ? rest - before : 0;
        *any = *any || jumped;
        if (fabs(rest - before) > run->tolerance && model->jump[k].again)
            return refuse(run, k, "its derivative is differentiated as well, so that no finite impulse makes up for that");
    }
    return MDL_OK;
}

// change := D times `factor` of the impulses, at the states in v.
MDL_CHECKED static int
respond(Run *run, double factor, double *change)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    memcpy(jumps->base, run->v + model->yp, model->nx * sizeof *jumps->base);
    for (uint32_t k = 0; k < model->n_sgns; k++)
        jumps->force[k] = run->v[model->sgn[k].p];
    for (uint32_t k = 0; k < model->n_jumps; k++)
        run->v[model->jump[k].impulse] = factor * jumps->rest[k];
    int status = evaluate_solved(run, true);
    for (uint32_t k = 0; k < model->n_jumps; k++)
        run->v[model->jump[k].impulse] = 0;
    for (uint32_t i = 0; i < model->nx; i++)
        change[i] = run->v[model->yp + i] - jumps->base[i];
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        double before = jumps->force[k], force = run->v[model->sgn[k].p];
        bool changed = fabs(force - before) > STIRRED * fmax(fabs(force), fabs(before));
        jumps->pulls = jumps->pulls || (changed && friction_mode(run, k) == 0);
    }
    return status;
}

static uint32_t
largest(const Run *run)
{
    uint32_t at = 0;
    for (uint32_t k = 0; k < run->model->n_jumps; k++)
        at = fabs(run->jumps->rest[k]) > fabs(run->jumps->rest[at]) ? k : at;
    return at;
}

static bool
is_affine(const Run *run)
{
    const Jumps *jumps = run->jumps;
    for (uint32_t i = 0; i < run->model->nx; i++)
        if (!(fabs(jumps->change[i] - 2 * jumps->half[i]) <= AFFINE * (fabs(jumps->change[i]) + 1e-6 * fabs(jumps->base[i]) + run->abstol[i])))
            return false;
    return true;
}

int
jump_apply(Run *run, bool *jumped)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    bool any = false;
    double *y = run->v + model->y;
    if (!jumps)
        return MDL_OK;
    int status = find_rests(run, &any);
    if (status != MDL_OK || !any)
        return status;
    jumps->pulls = false;
    if (run->sense)
        return sense_refuse(run, "an equation that is differentiated jumps", model->jump[largest(run)].text);
    memcpy(jumps->start, y, model->nx * sizeof *y);
    status = respond(run, 1, jumps->change);
    if (status == MDL_OK)
        status = respond(run, 0.5, jumps->half);
    if (status != MDL_OK)
        return status;
    if (jumps->pulls)
        return refuse(run, largest(run), "what its impulse does to frictions that stick, or constraints that are closed, is not known");
    if (!is_affine(run))
        return refuse(run, largest(run), "what its impulse does to the states is not proportional to it");
    for (uint32_t i = 0; i < model->nx; i++)
        y[i] = jumps->start[i] + 0.5 * jumps->change[i];
    for (uint32_t k = 0; k < model->n_jumps; k++)
        run->v[model->jump[k].offset] = 0.5 * jumps->rest[k];
    status = respond(run, 1, jumps->change);
    for (uint32_t k = 0; k < model->n_jumps; k++)
        run->v[model->jump[k].offset] = 0;
    bool moved = false;
    for (uint32_t i = 0; i < model->nx; i++) {
        y[i] = jumps->start[i] + jumps->change[i];
        moved = moved || y[i] != jumps->start[i];
    }
    if (status == MDL_OK)
        status = evaluate_solved(run, true);
    *jumped = *jumped || moved;
    return status;
}

const RunPart jump_part = {
    .name = "jump", .create = jump_create, .free = jump_free,
};
