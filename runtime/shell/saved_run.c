// saved_run.c: the state of a run, kept and given back.
//
// Purpose: whoever drives a model (embed.h) repeats a step that was too long, tries what an input would do, or goes on
// elsewhere: co-simulation needs that. Method: a block of bytes with a head that says of which model it is, all that is not made
// anew at every evaluation, and a checksum. The history of a multistep method is not kept: from a state the
// integrator starts as it does behind an event, so that what follows is the same each time, and that of the run
// which went on without stop within the tolerance.
// Contract: snapshot.h, mdl_run_save() in sim.h. A block that does not fit leaves the run as it was. Complexity: linear in the size
// of the block, which is that of the values, and of the history of delays and profiles.
#include "runtime/point/part.h"
#include "runtime/point/point.h"

#include <stdlib.h>
#include <string.h>

typedef struct Head {
    char name[8];
    uint64_t size, identity, checksum;
} Head;

static const char HEAD_NAME[8] = "mdlstat1";

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
    uint64_t hash = mix(SEED, model->name, strlen(model->name));
    hash = mix(hash, sizes, sizeof sizes);
    hash = mix(hash, model->v0, model->nv * sizeof *model->v0);
    return run->redundant ? mix(hash, run->redundant, model->n_constraints) : hash;
}

static void
events_snapshot(Run *run, Snapshot *s)
{
    const mdl_model *model = run->model;
    snapshot_part(s, run->guard, run->guards * sizeof *run->guard);
    snapshot_part(s, run->phi, run->guards * sizeof *run->phi);
    snapshot_part(s, run->phi_scale, run->guards * sizeof *run->phi_scale);
    snapshot_part(s, &run->blind, sizeof run->blind);
    snapshot_part(s, run->seen, 3 * run->guards * sizeof *run->seen);
    snapshot_part(s, &run->sightings, sizeof run->sightings);
    snapshot_part(s, run->old_discrete, model->n_discretes * sizeof *run->old_discrete);
    snapshot_part(s, run->time_next, model->n_time_relations * sizeof *run->time_next);
    snapshot_part(s, run->sample_index, model->n_samples * sizeof *run->sample_index);
    snapshot_part(s, &run->time_event, sizeof run->time_event);
    snapshot_part(s, &run->accumulated, sizeof run->accumulated);
    snapshot_part(s, run->event_time, sizeof run->event_time);
    snapshot_part(s, &run->event_count, sizeof run->event_count);
    snapshot_part(s, run->warned, model->n_asserts * sizeof *run->warned);
    snapshot_part(s, run->warned_in_calls, model->n_failures * sizeof *run->warned_in_calls);
    snapshot_part(s, &run->terminated, sizeof run->terminated);
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

static void
run_snapshot(Run *run, Snapshot *s)
{
    const mdl_model *model = run->model;
    size_t stored = (size_t)model->n + run->modes;
    snapshot_part(s, &run->solver, sizeof run->solver);
    snapshot_part(s, &run->causal, sizeof run->causal);
    snapshot_part(s, &run->locked, sizeof run->locked);
    snapshot_part(s, &run->ny, sizeof run->ny);
    snapshot_part(s, &run->time, sizeof run->time);
    snapshot_part(s, run->v, model->nv * sizeof *run->v);
    snapshot_part(s, run->y, stored * sizeof *run->y);
    snapshot_part(s, run->yp, stored * sizeof *run->yp);
    snapshot_part(s, run->motion, ((size_t)model->n + model->nx) * sizeof *run->motion);
    events_snapshot(run, s);
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->snapshot)
            run->part[i]->snapshot(run, s);
    if (run->texts)
        texts_snapshot(run, s);
}

// --- of runs that are driven

size_t
snapshot_save(Run *run, bool *moved, void *block, size_t size)
{
    Snapshot s = {.used = sizeof(Head)};
    run_snapshot(run, &s);
    snapshot_part(&s, moved, sizeof *moved);
    size_t needed = s.used;
    if (!block || size < needed)
        return needed;
    s = (Snapshot){.to = block, .size = needed, .used = sizeof(Head)};
    run_snapshot(run, &s);
    snapshot_part(&s, moved, sizeof *moved);
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
    if (memcmp(head.name, HEAD_NAME, sizeof head.name) != 0 || head.size > size || head.size < sizeof head
        || mix(SEED, (const uint8_t *)block + sizeof head, head.size - sizeof head) != head.checksum)
        return "this is no state of a simulation, or not all of it";
    return head.identity == run_identity(run) ? NULL : "the state is of another model, or of another build of it";
}

bool
snapshot_restore(Run *run, bool *moved, const void *block)
{
    Head head;
    memcpy(&head, block, sizeof head);
    Snapshot s = {.from = block, .size = head.size, .used = sizeof head};
    run_snapshot(run, &s);
    snapshot_part(&s, moved, sizeof *moved);
    return !s.failed;
}
