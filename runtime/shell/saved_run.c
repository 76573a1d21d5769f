// saved_run.c: the state of a run, kept and given back.
//
// Purpose: whoever drives a model (embed.h) repeats a step that was too long, tries what an input would do, or goes on
// elsewhere: co-simulation needs that. Method: a block of bytes with a head that says of which model it is, all that is not made
// anew at every evaluation, and a checksum. What follows is the same to the bit in the run that was saved and in every one that
// is restored. Two things make it so. All that the future depends on is in the block, with the history of the method where the
// library lets it be read and written (Stepper.snapshot). And what could not be put there, or would be found again (factors of matrices
// with the pivots of when they were chosen), is forgotten by both before the next step (snapshot_settle); methods whose history is
// closed (CVODE's, ARKODE's) start again there, in the run that was saved, too.
// Contract: snapshot.h, mdl_run_save() in sim.h. A block that does not fit leaves the run as it was. Complexity: linear in the size
// of the block, which is that of the values, and of the history of delays and profiles.
#include "runtime/model/standard.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/solver/solver.h"

#include <stdlib.h>
#include <string.h>

typedef struct Head {
    char name[8];
    uint64_t size, identity, checksum;
} Head;

static const char HEAD_NAME[8] = "mdlstat2";

// FNV-1a, eight bytes at a time.
static uint64_t
mix(uint64_t hash, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    const uint64_t prime = 0x100000001b3;
    for (; bytes >= 8; bytes -= 8, at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        hash = (hash ^ word) * prime;
        hash ^= hash >> 29;
    }
    for (; bytes; bytes--, at++)
        hash = (hash ^ *at) * prime;
    return hash;
}

static const uint64_t SEED = 0xcbf29ce484222325;

static uint64_t
run_identity(const Run *run)
{
    const mdl_model *model = run->model;
    const uint64_t sizes[] = {MDL_MODEL_VERSION, sizeof *model, sizeof(Guard), model->nv, model->n, model->nx, model->n_outputs,
                              model->n_relations, model->n_sgns, model->n_rests, model->n_delays, model->n_transports, run->modes, run->guards,
                              run->deficient, run->redundant != NULL};
    const mdl_options *options = run->options;
    // What is asked of the steps; fractional derivatives are made for a horizon and a tolerance.
    const double asked[] = {options->tolerance, options->abstol, options->max_step, options->step, run->modes ? options->horizon : 0,
                            run->modes ? options->kernel : 0, options->solver, options->form, options->event_limit};
    uint64_t hash = mix(SEED, model->name, strlen(model->name));
    hash = mix(hash, sizes, sizeof sizes);
    hash = mix(hash, asked, sizeof asked);
    hash = mix(hash, model->v0, model->nv * sizeof *model->v0);
    return run->redundant ? mix(hash, run->redundant, model->n_constraints) : hash;
}

// Member by member: what is between them is nobody's, and the same state gives the same bytes.
static void
guards_snapshot(Run *run, Snapshot *s)
{
    for (uint32_t k = 0; k < run->guards; k++) {
        Guard *guard = &run->guard[k];
        snapshot_part(s, &guard->band, sizeof guard->band);
        snapshot_part(s, &guard->former, sizeof guard->former);
        snapshot_part(s, &guard->armed, sizeof guard->armed);
        snapshot_part(s, &guard->size, sizeof guard->size);
        snapshot_part(s, &guard->noise, sizeof guard->noise);
        snapshot_part(s, &guard->answer, sizeof guard->answer);
        bool *flag[] = {&guard->pending, &guard->forced, &guard->held, &guard->returning, &guard->vanished, &guard->passing, &guard->at_limit, &guard->limit_told, &guard->idle};
        for (size_t i = 0; i < sizeof flag / sizeof *flag; i++)
            snapshot_part(s, flag[i], sizeof *flag[i]);
        snapshot_part(s, &guard->flips, sizeof guard->flips);
        snapshot_part(s, &guard->crossed, sizeof guard->crossed);
        snapshot_part(s, &guard->descent, sizeof guard->descent);
        snapshot_part(s, &guard->depth, sizeof guard->depth);
        snapshot_part(s, &guard->flickers, sizeof guard->flickers);
        double *pair[] = {guard->last, guard->interval, guard->first, guard->limit, guard->ratio, guard->fall};
        for (size_t i = 0; i < sizeof pair / sizeof *pair; i++)
            snapshot_part(s, pair[i], 2 * sizeof *pair[i]);
        snapshot_part(s, guard->confirmed, sizeof guard->confirmed);
        snapshot_part(s, guard->faster, sizeof guard->faster);
        snapshot_part(s, &guard->hurried, sizeof guard->hurried);
        snapshot_part(s, &guard->lately, sizeof guard->lately);
        snapshot_part(s, &guard->extent, sizeof guard->extent);
        snapshot_part(s, &guard->told, sizeof guard->told);
        snapshot_part(s, &guard->dip, sizeof guard->dip);
    }
}

static void
events_snapshot(Run *run, Snapshot *s)
{
    const mdl_model *model = run->model;
    guards_snapshot(run, s);
    snapshot_part(s, run->phi, run->guards * sizeof *run->phi);
    snapshot_part(s, run->phi_scale, run->guards * sizeof *run->phi_scale);
    snapshot_part(s, &run->blind, sizeof run->blind);
    snapshot_part(s, run->seen, 3 * run->guards * sizeof *run->seen);
    snapshot_part(s, &run->sightings, sizeof run->sightings);
    snapshot_part(s, run->old_discrete, model->n_discretes * sizeof *run->old_discrete);
    snapshot_part(s, run->time_next, model->n_time_relations * sizeof *run->time_next);
    snapshot_part(s, run->sample_index, model->n_samples * sizeof *run->sample_index);
    snapshot_part(s, &run->time_event, sizeof run->time_event);
    snapshot_part(s, &run->limits, sizeof run->limits);
    snapshot_part(s, &run->accumulated, sizeof run->accumulated);
    snapshot_part(s, run->event_time, sizeof run->event_time);
    snapshot_part(s, &run->event_count, sizeof run->event_count);
    snapshot_part(s, run->warned, model->n_asserts * sizeof *run->warned);
    snapshot_part(s, run->warned_in_calls, model->n_failures * sizeof *run->warned_in_calls);
    snapshot_part(s, &run->terminated, sizeof run->terminated);
    snapshot_part(s, run->assigned, model->nx * sizeof *run->assigned);
    snapshot_part(s, &run->settled, sizeof run->settled);
    snapshot_part(s, &run->edge_failed, sizeof run->edge_failed);
}

// Texts that the run has made behind those of the model: they get the same numbers again.
static void
texts_snapshot(Run *run, Snapshot *s)
{
    uint64_t size = 0, used = 0;
    uint32_t known = run->model->n_texts, n = mdl_texts_count(run->texts);
    for (uint32_t i = known; i < n; i++)
        size += strlen(mdl_text(run->texts, i)) + 1;
    snapshot_part(s, &size, sizeof size);
    bool fits = !s->failed && (!s->from || size <= s->size - s->used);
    char *all = fits ? malloc(size + 1) : NULL;
    for (uint32_t i = known; all && !s->from && i < n; i++) {
        size_t length = strlen(mdl_text(run->texts, i)) + 1;
        memcpy(all + used, mdl_text(run->texts, i), length);
        used += length;
    }
    s->failed |= !all;
    if (all)
        snapshot_part(s, all, size);
    if (all && s->from && !s->failed) {
        mdl_texts *texts = mdl_texts_create(run->model->text, known);
        if (texts)
            mdl_texts_take_objects(texts, run->texts);
        for (; texts && used < size; used += strlen(all + used) + 1)
            mdl_text_number(texts, all + used);
        s->failed |= !texts;
        if (texts) {
            mdl_texts_free(&run->texts);
            run->texts = texts;
        }
    }
    failure_join(run);
    free(all);
}

// Tables and what other functions have made from their arguments are there: the start has made them. Generators of random numbers have a state.
static void
generators_snapshot(Run *run, Snapshot *s)
{
    mdl_objects *objects = mdl_texts_objects(run->texts);
    uint64_t n = objects ? mdl_generators_save(objects, NULL) : 0;
    snapshot_part(s, &n, sizeof n);
    bool fits = objects && !s->failed && (!s->from || n <= (s->size - s->used) / sizeof(double));
    double *all = fits ? malloc((n + 1) * sizeof *all) : NULL;
    s->failed |= !all;
    if (!all)
        return;
    if (!s->from)
        mdl_generators_save(objects, all);
    snapshot_part(s, all, n * sizeof *all);
    if (s->from && !s->failed)
        s->failed = !mdl_generators_load(objects, all, n);
    free(all);
}

// Calls find the run by addresses in v, which mean nothing elsewhere.
static void
values_snapshot(Run *run, Snapshot *s)
{
    double *state = run->model->failure ? run->v + run->model->failure : NULL;
    if (state)
        state[MDL_CALL_TEXTS] = state[MDL_CALL_LOOK] = state[MDL_CALL_LOOKER] = 0;
    snapshot_part(s, run->v, run->model->nv * sizeof *run->v);
    failure_join(run);
}

static void
run_snapshot(Run *run, Snapshot *s)
{
    const mdl_model *model = run->model;
    size_t stored = (size_t)model->n + run->modes;
    snapshot_part(s, &run->solver, sizeof run->solver);
    snapshot_part(s, &run->causal, sizeof run->causal);
    snapshot_part(s, &run->locked, sizeof run->locked);
    snapshot_part(s, &run->stumbled, sizeof run->stumbled);
    snapshot_part(s, &run->ny, sizeof run->ny);
    snapshot_part(s, &run->time, sizeof run->time);
    values_snapshot(run, s);
    snapshot_part(s, run->y, stored * sizeof *run->y);
    snapshot_part(s, run->yp, stored * sizeof *run->yp);
    snapshot_part(s, run->motion, ((size_t)model->n + model->nx) * sizeof *run->motion);
    snapshot_part(s, run->solved, ((size_t)model->n + model->nx) * sizeof *run->solved);
    snapshot_part(s, &run->solved_time, sizeof run->solved_time);
    snapshot_part(s, run->abstol, model->n * sizeof *run->abstol);
    snapshot_part(s, &run->strictness, sizeof run->strictness);
    snapshot_part(s, &run->interval, sizeof run->interval);
    snapshot_part(s, &run->loop_failed, sizeof run->loop_failed);
    snapshot_part(s, &run->tolerant, sizeof run->tolerant);
    snapshot_part(s, &run->fold, sizeof run->fold);
    snapshot_part(s, &run->folded, sizeof run->folded);
    snapshot_part(s, &run->pace.stalled, sizeof run->pace.stalled);
    for (uint32_t k = 0; k < model->n_dynamics; k++)
        if (run->block[k])
            newton_snapshot(run->block[k], s);
    events_snapshot(run, s);
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->snapshot)
            run->part[i]->snapshot(run, s);
    if (run->texts) {
        texts_snapshot(run, s);
        generators_snapshot(run, s);
    }
}

// --- of runs that are driven

static void
whole_snapshot(Run *run, double *driver, Snapshot *s)
{
    run_snapshot(run, s);
    snapshot_part(s, driver, SNAPSHOT_DRIVER * sizeof *driver);
    if (run->stepper->snapshot)
        run->stepper->snapshot(run, s);
}

size_t
snapshot_save(Run *run, double *driver, void *block, size_t size)
{
    Snapshot s = {.used = sizeof(Head)};
    whole_snapshot(run, driver, &s);
    size_t needed = s.used;
    if (!block || size < needed)
        return needed;
    s = (Snapshot){.to = block, .size = needed, .used = sizeof(Head)};
    whole_snapshot(run, driver, &s);
    Head head = {.size = needed, .identity = run_identity(run)};
    memcpy(head.name, HEAD_NAME, sizeof head.name);
    head.checksum = mix(SEED, s.to + sizeof head, needed - sizeof head);
    memcpy(block, &head, sizeof head);
    return needed;
}

const char *
snapshot_misfit(const Run *run, const void *block, size_t size)
{
    Head head;
    if (!block || size < sizeof head)
        return "this is no state of a simulation";
    memcpy(&head, block, sizeof head);
    if (memcmp(head.name, HEAD_NAME, sizeof head.name) != 0 || head.size != size
        || mix(SEED, (const uint8_t *)block + sizeof head, head.size - sizeof head) != head.checksum)
        return "this is no state of a simulation, or not all of it, or more than it";
    return head.identity == run_identity(run) ? NULL : "the state is of another model, of another build of it, or of a simulation with another tolerance";
}

// Another integrator, which knows nothing of the motion. Making it evaluates the model.
MDL_CHECKED static int
renew_integrator(Run *run)
{
    bool causal = run->causal;
    integrator_free(run);
    integrator_form(run, run->solver);
    if (causal)
        locked_form(run);
    return integrator_again(run);
}

int
snapshot_restore(Run *run, double *driver, const void *block)
{
    Head head;
    memcpy(&head, block, sizeof head);
    Snapshot s = {.from = block, .size = head.size, .used = sizeof head};
    run_snapshot(run, &s);
    run->mode = run->y + run->ny;
    int status = s.failed ? MDL_INTERNAL : renew_integrator(run);
    s = (Snapshot){.from = block, .size = head.size, .used = sizeof head};
    if (status == MDL_OK)
        whole_snapshot(run, driver, &s);
    if (!s.failed && (status != MDL_OK || s.used == s.size))
        return status;
    run_message(run, MDL_ERROR, s.failed ? "out of memory" : "the state holds more than this simulation has");
    return MDL_INTERNAL;
}

int
snapshot_settle(Run *run)
{
    run->mode = run->y + run->ny;
    for (uint32_t k = 0; k < run->model->n_dynamics; k++)
        if (run->block[k])
            newton_settle(run->block[k]);
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->settle)
            run->part[i]->settle(run);
    if (run->stepper->settle)
        return run->stepper->settle(run);
    double strictness = run->strictness;
    integrator_stats(run);
    int status = renew_integrator(run);
    run->strictness = strictness;
    return status == MDL_OK ? integrator_start(run) : status;
}
