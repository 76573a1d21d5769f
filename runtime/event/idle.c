// idle.c: relations that nothing follows from at present.
//
// Purpose: `off = s < 0 or pre(off) and not fire` is true whatever s is, once both other conditions hold; `quenched = off and (abs(i) <= abs(v)*G or
//          pre(quenched))` leaves i = G*v behind, whose relation is decided by rounding. Such a relation may change as often as it likes: it makes no events, which
//          would only restart the integrator, or end a run when they follow each other ever faster.
// Method: asked where events do not get on. The model is evaluated with both values of the relation, at the point and at two beside it; a relation is idle
//         where all that is computed is the same to the last bit. It is asked again after each event, which is where the other conditions change, and has its
//         right value there.
// Contract: event.h. Complexity: nothing where events get on; otherwise six evaluations of the model for each relation that changes so often.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

enum { TRIALS = 3 };
static const double MOVED = 1e-6; // by so much states are moved, of themselves and of their nominal values

// Everything that follows from the states in v with the given value of relation k. False: it has no solution there.
static bool
compute(Run *run, uint32_t k, double value)
{
    run->v[run->model->relation[k].value] = value;
    mdl_call(run->model->discretes, run->v);
    return evaluate_relations(run) == MDL_OK;
}

static void
move_states(Run *run, uint32_t trial)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; trial && i < model->nx; i++) {
        double *y = &run->v[model->y + i], size = fabs(run->v[model->nominal + i]) + fabs(*y);
        *y += (sin(1.0 + 2.4 * i + 17.0 * trial) < 0 ? -MOVED : MOVED) * size;
    }
}

bool
idle_is(Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    size_t n = model->nv, bytes = n * sizeof *run->v;
    double *kept = malloc(3 * bytes), *v = run->v;
    if (!kept)
        return false;
    double *here = kept + n, *with = here + n;
    bool same = true;
    memcpy(kept, v, bytes);
    for (uint32_t trial = 0; trial < TRIALS && same; trial++) {
        memcpy(v, kept, bytes);
        move_states(run, trial);
        memcpy(here, v, bytes);
        same = compute(run, k, 1);
        memcpy(with, v, bytes);
        memcpy(v, here, bytes);
        same = same && compute(run, k, 0);
        v[model->relation[k].value] = 1;
        same = same && memcmp(with, v, bytes) == 0;
    }
    memcpy(v, kept, bytes);
    free(kept);
    failure_clear(run);
    return same;
}

// What rounding makes of the function of relation k: how much it changes with the last digits of the states, and with where the solution of loops begins.
static double
noise_here(Run *run, uint32_t k)
{
    enum { SAMPLES = 4 };
    const mdl_model *model = run->model;
    double *v = run->v, *kept = malloc(model->nv * sizeof *kept), here = v[model->relation[k].g], noise = 0;
    if (!kept)
        return 0;
    memcpy(kept, v, model->nv * sizeof *v);
    for (uint32_t trial = 0; trial < SAMPLES; trial++) {
        for (uint32_t i = 0; i < model->nx; i++)
            v[model->y + i] *= sin(1.0 + 2.4 * i + 17.0 * trial) < 0 ? 1 - 4 * DBL_EPSILON : 1 + 4 * DBL_EPSILON;
        point_move_loops(run, trial % 2 ? MOVED : -MOVED);
        if (evaluate_relations(run) == MDL_OK)
            noise = fmax(noise, fabs(v[model->relation[k].g] - here));
        memcpy(v, kept, model->nv * sizeof *v);
    }
    free(kept);
    failure_clear(run);
    return noise;
}

// The largest value of the function beside the point: of one that an equation holds at zero it is rounding, too.
static double
size_beside(Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    double *v = run->v, *kept = malloc(model->nv * sizeof *kept), most = 0;
    if (!kept)
        return INFINITY;
    memcpy(kept, v, model->nv * sizeof *v);
    for (uint32_t trial = 1; trial < TRIALS; trial++) {
        move_states(run, trial);
        most = evaluate_relations(run) == MDL_OK ? fmax(most, fabs(v[model->relation[k].g])) : INFINITY;
        memcpy(v, kept, model->nv * sizeof *v);
    }
    free(kept);
    failure_clear(run);
    return most;
}

// Where loops have several solutions, and another one was found, the difference is no rounding.
double
idle_rounding(Run *run, uint32_t k)
{
    const double zone = 64, part = 1e-2; // times what was seen; of the tolerance
    double size = fabs(run->v[run->model->relation[k].g]), most = part * run->tolerance * fmax(1, run->guard[k].size);
    if (zone * size > most)
        return 0;
    double noise = zone * noise_here(run, k);
    if (size <= noise)
        return noise <= most ? noise : 0;
    double beside = size_beside(run, k);
    return beside <= 16 * size ? zone * fmin(fmax(size, beside), most / zone) : 0;
}

// What was counted up to now says nothing of what comes.
static void
forget(Guard *guard)
{
    guard->hurried = 0;
    for (int side = 0; side < 2; side++) {
        guard->limit[side] = INFINITY;
        guard->confirmed[side] = 0;
    }
}

bool
idle_begins(Run *run, uint32_t only)
{
    bool any = false;
    for (uint32_t k = 0; k < run->model->n_relations; k++) {
        Guard *guard = &run->guard[k];
        bool asked = only == UINT32_MAX ? guard->band > 0 || guard->forced : k == only;
        if (!asked || guard->idle)
            continue;
        guard->idle = idle_is(run, k);
        double noise = guard->idle ? 0 : idle_rounding(run, k);
        if (noise > 0)
            root_widen(run, k, noise);
        if (!guard->idle && !(noise > 0))
            continue;
        forget(guard);
        any = true;
    }
    return any;
}

void
idle_review(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        run->guard[k].idle = run->guard[k].idle && idle_is(run, k);
}
