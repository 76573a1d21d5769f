// idle.c: relations that nothing follows from at present.
//
// Purpose: `off = s < 0 or pre(off) and not fire` is true whatever s is, once both other conditions hold; `quenched = off and (abs(i) <= abs(v)*G or
//          pre(quenched))` leaves i = G*v behind, whose relation is decided by rounding. Such a relation may change as often as it likes: it makes no events, which
//          would only restart the integrator, or end a run when they follow each other ever faster.
// Method: asked where events do not get on. The model is evaluated with both values of the relation, at the point and at two beside it, as it is and where
//         everything has settled with either of them, since a when-clause sees the edge; a relation is idle where all that is computed is the same to the last
//         bit. Where its function is zero at all of these points, that says nothing: max(0, u) is the same with both values as long as u is zero. It is
//         asked again after each event, which is where the other conditions change, and has its right value there. Where relations set states
//         anew, or laws are set-valued, nothing is idle and nothing is rounding: impacts of a ball on a floor become as small as one likes.
// Contract: event.h. Complexity: nothing where events get on; otherwise some thirty evaluations of the model for each relation that changes so often.
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
static const double LATER = 1e-3; // and time, of an output interval

// A relation triggers a reinit (what a sample triggers is no impact).
static bool
has_impacts(const Run *run)
{
    return run->model->n_rests || run->model->n_sgns;
}

// Everything that follows from the states in v with the given value of relation k. False: it has no solution there.
static bool
compute(Run *run, uint32_t k, double value)
{
    run->v[run->model->relation[k].value] = value;
    mdl_call(run->model->discretes, run->v);
    return evaluate_relations(run) == MDL_OK;
}

// Functions of time alone move with time.
static void
move_states(Run *run, uint32_t trial)
{
    const mdl_model *model = run->model;
    run->v[0] += trial ? (trial % 2 ? LATER : -LATER) * run->interval : 0;
    for (uint32_t i = 0; trial && i < model->nx; i++) {
        double *y = &run->v[model->y + i], size = fabs(run->v[model->nominal + i]) + fabs(*y);
        *y += (sin(1.0 + 2.4 * i + 17.0 * trial) < 0 ? -MOVED : MOVED) * size;
    }
}

// What the event iteration would make of the given value of relation k: all discrete variables and their pre() are those that follow from it.
static void
settle(Run *run, uint32_t k, double value)
{
    enum { PASSES = 16 };
    const mdl_model *model = run->model;
    double *v = run->v;
    bool changed = true;
    for (uint32_t pass = 0; pass < PASSES && changed; pass++) {
        v[model->relation[k].value] = value;
        mdl_call(model->discretes, v);
        changed = false;
        for (uint32_t i = 0; i < model->n_discretes; i++) {
            const mdl_discrete *d = &model->discrete[i];
            if (!d->next)
                continue;
            changed = changed || v[d->value] != v[d->next] || (d->pre && v[d->pre] != v[d->next]);
            v[d->value] = v[d->next];
            if (d->pre)
                v[d->pre] = v[d->next];
        }
    }
    for (uint32_t i = 0; i < model->n_reinits; i++)
        v[model->reinit[i].active] = 0;
}

// But for what the relation says itself. Not but for rounding: at a limit both branches are equal to that.
static bool
is_same(const Run *run, uint32_t k, const double *a, const double *b)
{
    const mdl_relation *relation = &run->model->relation[k];
    for (uint32_t i = 0; i < run->model->nv; i++)
        if (memcmp(&a[i], &b[i], sizeof *a) && i != relation->g && i != relation->next && i != relation->value)
            return false;
    return true;
}

// Whether nothing follows when the relation changes from the value that it has, in v, where all has settled: no equation sees it, and no when-clause
// its edge. `here` and `with` have room for v.
static bool
is_without_consequence(Run *run, uint32_t k, double *here, double *with)
{
    const mdl_model *model = run->model;
    size_t bytes = model->nv * sizeof *run->v;
    double *v = run->v, value = v[model->relation[k].value];
    memcpy(here, v, bytes);
    if (!compute(run, k, value))
        return false;
    memcpy(with, v, bytes);
    memcpy(v, here, bytes);
    if (!compute(run, k, 1 - value))
        return false;
    return is_same(run, k, with, v);
}

bool
idle_is(Run *run, uint32_t k)
{
    if (has_impacts(run))
        return false;
    enum { WAYS = 3 }; // as it is, and settled with either value
    const mdl_model *model = run->model;
    size_t n = model->nv, bytes = n * sizeof *run->v;
    double *kept = malloc(3 * bytes), *v = run->v;
    if (!kept)
        return false;
    bool same = true, moves = false;
    memcpy(kept, v, bytes);
    for (uint32_t trial = 0; trial < TRIALS * WAYS && same; trial++) {
        memcpy(v, kept, bytes);
        move_states(run, trial / WAYS);
        if (trial % WAYS)
            settle(run, k, trial % WAYS - 1);
        else
            v[model->relation[k].value] = 1;
        same = is_without_consequence(run, k, kept + n, kept + 2 * n);
        moves = moves || v[model->relation[k].g] != 0;
    }
    memcpy(v, kept, bytes);
    free(kept);
    failure_clear(run);
    return same && moves;
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
    if (zone * size > most || has_impacts(run))
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
        // What an event has changed to and back again has no band.
        bool asked = only == UINT32_MAX ? guard->band > 0 || guard->forced || guard->hurried : k == only;
        any = any || (guard->idle && k == only); // it was found to be before
        if (!asked || guard->idle)
            continue;
        guard->idle = idle_is(run, k);
        // A zone that is hardly wider than what is known already helps no more: without an end to this a run would go on for ever.
        double noise = guard->idle ? 0 : idle_rounding(run, k);
        bool wider = noise > 2 * guard->noise;
        if (wider)
            root_widen(run, k, noise);
        if (!guard->idle && !wider)
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
