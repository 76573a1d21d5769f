// answers.c: by how much errors of the states change the functions of conditions.
//
// Purpose: below that it is not known whether a condition changes.
// Method: every state is moved by what it may be wrong by, up or down as good as random and the same in every run, in a few trials: a stiff spring makes
// much of little.
// Contract: root_inner.h. Complexity: four evaluations, at most once for each look that asks.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/event/root_inner.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

// What counts as noise of a state: far below what the integrator resolves.
static double
noise_of(const Run *run, uint32_t i)
{
    return 1e-6 * run->tolerance * fabs(run->v[run->model->nominal + i]);
}

// What a step may be wrong by.
static double
error_of(const Run *run, uint32_t i)
{
    return run->tolerance * fabs(run->y[i]) + run->abstol[i];
}

// Of state i in a trial, as good as random.
static bool
goes_down(uint32_t i, uint32_t trial)
{
    uint32_t mixed = (i + 1) * 0x9e3779b9u + trial * 0x85ebca6bu; // an odd multiple of the golden ratio and another odd number
    mixed ^= mixed >> 15;
    return (mixed * 0x2c1b3c6du) >> 31;
}

// The point at the end of the last step, every state moved by its `amount`: up or down, as good as random and the same in every run. Trial 0
// moves none.
MDL_CHECKED static int
evaluate_moved(Run *run, double (*amount)(const Run *, uint32_t), uint32_t trial)
{
    const mdl_model *model = run->model;
    bool alone = condition_alone(run);
    if (alone && condition_evaluate(run, run->time) != MDL_OK)
        return MDL_FAILED;
    if (!alone)
        evaluate_load(run, run->time, run->y, run->yp);
    for (uint32_t i = 0; trial && i < model->nx; i++)
        run->v[model->y + i] += goes_down(i, trial) ? -amount(run, i) : amount(run, i);
    if (!alone)
        return evaluate_relations(run);
    run->evaluations++;
    mdl_call(model->conditions, run->v);
    mdl_call(model->relations, run->v);
    return MDL_OK;
}

// By how much such amounts of all states together change the functions of relations: a stiff spring makes much of little. It goes to their
// guards' `answer`, zero where the equations have no solution. v stays as it is.
static void
measure_answers(Run *run, double (*amount)(const Run *, uint32_t))
{
    enum { TRIALS = 3 };
    const mdl_model *model = run->model;
    size_t bytes = run->model->nv * sizeof *run->v;
    double *kept = malloc(bytes + 1), *before = run->phi_scale;
    for (uint32_t k = 0; k < model->n_relations; k++)
        run->guard[k].answer = 0;
    if (!kept)
        return;
    memcpy(kept, run->v, bytes);
    int status = MDL_OK;
    for (uint32_t trial = 0; trial <= TRIALS && status == MDL_OK; trial++) {
        status = evaluate_moved(run, amount, trial);
        for (uint32_t k = 0; k < model->n_relations && status == MDL_OK; k++) {
            double g = run->v[model->relation[k].g];
            before[k] = trial ? before[k] : g;
            run->guard[k].answer = fmax(run->guard[k].answer, fabs(g - before[k]));
        }
    }
    for (uint32_t k = 0; k < model->n_relations && status != MDL_OK; k++)
        run->guard[k].answer = 0;
    failure_clear(run);
    memcpy(run->v, kept, bytes);
    free(kept);
}

// Whether an amount of the function of relation k is more than errors of the states make of it. Below that it is not known whether the
// condition changes, and looking again finds what the next step contradicts.
bool
answer_is_known(Run *run, uint32_t k, double amount)
{
    if (run->sightings.measured != run->time) {
        measure_answers(run, error_of);
        run->sightings.measured = run->time;
    }
    return amount > run->guard[k].answer;
}

bool
root_uncertain(Run *run)
{
    if (failure_happened(run))
        return false;
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        if (run->phi[k] < 0 && answer_is_known(run, k, -run->phi[k]))
            return false;
    return true;
}

bool
root_undecided(Run *run)
{
    const mdl_model *model = run->model;
    double *kept = malloc(2 * run->guards * sizeof *kept + 1);
    if (!kept || failure_happened(run)) {
        free(kept);
        return false;
    }
    memcpy(kept, run->phi, run->guards * sizeof *kept);
    memcpy(kept + run->guards, run->phi_scale, run->guards * sizeof *kept);
    root_compute(run);
    bool violated = false;
    for (uint32_t k = 0; k < model->n_relations; k++)
        violated = violated || run->phi[k] < 0;
    bool undecided = violated && root_uncertain(run);
    memcpy(run->phi, kept, run->guards * sizeof *kept);
    memcpy(run->phi_scale, kept + run->guards, run->guards * sizeof *kept);
    free(kept);
    return undecided;
}

// How large the function of relation k may be and still be noise.
double
answer_to_noise(Run *run, uint32_t k, double wanted)
{
    double least = 1e-6 * run->tolerance;
    for (uint32_t i = 0; i < run->model->nx; i++)
        least = fmin(least, noise_of(run, i));
    if (wanted <= least)
        return least;
    measure_answers(run, noise_of);
    run->sightings.measured = NAN;
    return fmax(least, run->guard[k].answer);
}
