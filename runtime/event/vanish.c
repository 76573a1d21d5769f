// vanish.c: relations whose functions become exactly zero and stay zero.
//
// Purpose: the function of `min(u, limit) < u` is never negative: it is zero where the relation is false, and no change of sign tells when
//          that begins. What is zero at one point only is another matter: a deflection that just touches its limit is there to rounding, and
//          what has decayed until rounding leaves nothing of it has not got there.
// Method: a relation whose function is zero while its value is not the one it has at zero is looked at beside that point: a little
//         later along the slopes, with each state moved by more than rounding. A function that is zero at all of these points is
//         zero because of how it is written. At an event the same is asked of a relation that has just crossed zero: zero to rounding it keeps
//         its new value, zero whatever the rounding of the states is, and whichever value it has (a saturation has ended, reinit() has assigned it) it takes the one it has there. From then on zero counts as the wrong side (root.c), and the instant at which it was reached is
//         located like any other. What was lost in rounding before it was zero does not count.
// Contract: event.h. What is zero and not zero again between two looks is not seen. Complexity: nothing where no function is zero with the
//           wrong value; otherwise three evaluations of the model.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/memory/memory.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

static const double LOST = 1e-12;   // of the largest size seen: what is lost in rounding
static const double FORGOTTEN = 4;  // a look later a size counts for so much less

bool
vanish_wrong(const Run *run, uint32_t k)
{
    const mdl_relation *relation = &run->model->relation[k];
    return run->v[relation->g] == 0 && (run->v[relation->next] != 0) != (run->v[relation->value] != 0);
}

// At each look: what the function was lately, and at the most.
static void
remember(Guard *guard, double size)
{
    double lately = guard->lately / FORGOTTEN;
    guard->lately = size > lately ? size : lately;
    guard->extent = size > guard->extent ? size : guard->extent;
}

static bool
is_candidate(const Run *run, uint32_t k)
{
    const Guard *guard = &run->guard[k];
    return !guard->vanished && !guard->at_limit && vanish_wrong(run, k) && !rest_holds(run, k) && guard->lately >= LOST * guard->extent;
}

// Moves states by noise whose signs are as good as random and the same in every run. What friction holds at zero, and what
// reinit() has assigned in the present event, is exact.
static void
add_noise(Run *run, uint32_t trial, bool all)
{
    const mdl_model *model = run->model;
    double *y = run->v + model->y, noise = fmax(1e-6 * run->tolerance, 1e-13);
    for (uint32_t i = 0; i < model->nx; i++) {
        double size = fabs(run->v[model->nominal + i]) + fabs(y[i]);
        if (all || !run->assigned[i])
            y[i] += (sin(1.0 + 2.4 * i + 17.0 * trial) < 0 ? -noise : noise) * size;
    }
    evaluate_stick(run);
}

// The model at a time within the last step or a little behind it, with noise.
MDL_CHECKED static int
evaluate_beside(Run *run, double time, uint32_t trial)
{
    const mdl_model *model = run->model;
    double *v = run->v, behind = fmax(time - run->time, 0);
    int status = MDL_OK;
    if (behind > 0)
        evaluate_load(run, run->time, run->y, run->yp);
    else
        status = run->stepper->interpolate(run, time);
    if (status != MDL_OK)
        return status;
    v[0] = time;
    for (uint32_t i = 0; i < model->nx; i++)
        v[model->y + i] += behind * run->yp[i];
    if (behind > 0)
        fractional_extrapolate(run, behind);
    add_noise(run, trial, true);
    return evaluate_relations(run);
}

// With the other value of relation k at a time beside the point, too: in a loop that is open without it, nothing else may hold its function at
// zero. What it pushes back from zero would have to change again at once.
static bool
zero_without(Run *run, uint32_t k, double time)
{
    double *value = &run->v[run->model->relation[k].value], held = *value;
    *value = held == 0;
    bool zero = evaluate_beside(run, time, 1) == MDL_OK && run->v[run->model->relation[k].g] == 0;
    *value = held;
    return zero && evaluate_beside(run, time, 1) == MDL_OK && limit_is_zero(run, k); // discrete variables follow, too
}

// Of the candidates those that are zero beside the point at `time`, too. True: there are some. v is used, `kept` is how it was: what
// one relation leaves open must not be where a look at another has taken it.
static bool
find_lasting(Run *run, const double *kept, double time, double length)
{
    static const double later[] = {1.0 / 64, 1.0 / 32, 1.0 / 8};
    bool any = true;
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        if (run->guard[k].vanished) {
            memcpy(run->v, kept, run->model->nv * sizeof *run->v);
            run->guard[k].vanished = zero_without(run, k, time + later[0] * length);
        }
    for (uint32_t trial = 0; trial < sizeof later / sizeof *later && any; trial++) {
        bool solved = evaluate_beside(run, time + later[trial] * length, trial + 1) == MDL_OK;
        any = false;
        for (uint32_t k = 0; k < run->model->n_relations; k++) {
            run->guard[k].vanished = run->guard[k].vanished && solved && vanish_wrong(run, k);
            any = any || run->guard[k].vanished;
        }
    }
    return any;
}

static void
forget_candidates(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        run->guard[k].vanished = false;
}

bool
vanish_found(Run *run, double low)
{
    bool any = false;
    for (uint32_t k = 0; k < run->model->n_relations; k++) {
        double size = fabs(run->v[run->model->relation[k].g]);
        run->guard[k].vanished = size == 0 && !run->guard[k].idle && is_candidate(run, k);
        any = any || run->guard[k].vanished;
        if (size > 0)
            remember(&run->guard[k], size);
    }
    if (!any)
        return false;
    size_t bytes = run->model->nv * sizeof *run->v;
    double time = run->v[0], *kept = malloc(bytes);
    if (!kept) {
        forget_candidates(run);
        return false;
    }
    memcpy(kept, run->v, bytes);
    any = find_lasting(run, kept, time, time - low);
    memcpy(run->v, kept, bytes);
    free(kept);
    return any;
}

bool
vanish_is_exact(Run *run, uint32_t k)
{
    enum { TRIALS = 3 };
    const mdl_model *model = run->model;
    double *v = run->v, *kept = malloc(model->nv * sizeof *v);
    bool exact = kept != NULL;
    if (!kept)
        return false;
    memcpy(kept, v, model->nv * sizeof *v);
    for (uint32_t trial = 1; trial <= TRIALS && exact; trial++) {
        memcpy(v, kept, model->nv * sizeof *v);
        if (trial == TRIALS) // what it pushes back from zero itself would have to change again at once
            v[model->relation[k].value] = v[model->relation[k].value] == 0;
        v[0] += (trial % 2 ? 1e-6 : -1e-6) * run->interval;
        add_noise(run, trial, false);
        exact = evaluate_relations(run) == MDL_OK && v[model->relation[k].g] == 0;
    }
    memcpy(v, kept, model->nv * sizeof *v);
    free(kept);
    return exact && limit_is_zero(run, k); // discrete variables follow, too
}
