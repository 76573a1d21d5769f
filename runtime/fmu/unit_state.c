// unit_state.c: the state of an instance, kept and as bytes.
//
// Purpose: importers go back, and carry states to other instances and processes. Method: the bytes of the run (sim.h) behind a head with
// the mode and what was set. Contract: fmu.h; the same calls behind a state give the same bits. Complexity: linear in the state.
#include <stdlib.h>
#include <string.h>

#include "runtime/fmu/fmu.h"

// Numbers without padding between them, so that equal states are equal bytes.
typedef struct Head {
    char name[8];
    uint64_t size;            // of all
    uint32_t exchange, mode, stale, unsettled, moved, ended, overrides, running;
    double time, last, start, stop, tolerance;
} Head;

typedef struct FmuState {
    Head head;                // then overrides, then the run
} FmuState;

static const char NAME[8] = "mdlfmu1";

static size_t
overrides_size(const FmuInstance *instance)
{
    return instance->options.overrides * sizeof *instance->override;
}

// NULL: memory is exhausted.
static FmuState *
save(FmuInstance *instance, FmuState *reused)
{
    size_t given = overrides_size(instance), run = instance->run ? mdl_run_save(instance->run, NULL, 0) : 0;
    size_t size = sizeof(Head) + given + run;
    FmuState *state = instance->run && !run ? NULL : realloc(reused, size);
    if (!state)
        return NULL;
    const mdl_options *o = &instance->options;
    memset(&state->head, 0, sizeof state->head);
    state->head = (Head){.size = size, .exchange = instance->exchange, .mode = instance->mode, .stale = instance->stale,
                         .unsettled = instance->unsettled, .moved = instance->moved, .ended = instance->ended, .overrides = o->overrides,
                         .running = instance->run != NULL, .time = instance->time, .last = instance->last, .start = o->start,
                         .stop = o->stop, .tolerance = o->tolerance};
    memcpy(state->head.name, NAME, sizeof NAME);
    memcpy(state + 1, instance->override, given);
    if (run)
        mdl_run_save(instance->run, (uint8_t *)(state + 1) + given, run);
    return state;
}

// A run of the state's tolerance that has started, for its bytes.
static FmuStatus
open_run(FmuInstance *instance, const Head *head)
{
    bool same = instance->run && !instance->stale && instance->options.tolerance == head->tolerance;
    instance->options.start = head->start;
    instance->options.stop = head->stop;
    fmu_set_tolerance(instance, head->tolerance);
    instance->stale = !same;
    return fmu_solve(instance);
}

static FmuStatus
restore(FmuInstance *instance, const FmuState *state)
{
    const Head *head = &state->head;
    if (memcmp(head->name, NAME, sizeof NAME) != 0 || head->exchange != instance->exchange || head->overrides > mdl_program.n_settables
        || head->size < sizeof *head + head->overrides * sizeof *instance->override) {
        fmu_say(instance, FMU_ERROR, "this is no state of such an instance");
        return FMU_ERROR;
    }
    size_t given = head->overrides * sizeof *instance->override;
    instance->options.overrides = head->overrides;
    memcpy(instance->override, state + 1, given);
    FmuStatus status = head->running ? open_run(instance, head) : FMU_OK;
    if (status == FMU_OK && head->running)
        status = fmu_status(mdl_run_restore(instance->run, (const uint8_t *)(state + 1) + given, head->size - sizeof *head - given));
    if (status != FMU_OK)
        return FMU_ERROR;
    instance->mode = head->mode;
    instance->stale = head->stale || !head->running;
    instance->unsettled = head->unsettled;
    instance->moved = head->moved;
    instance->ended = head->ended;
    instance->time = head->time;
    instance->last = head->last;
    instance->options.start = head->start;
    instance->options.stop = head->stop;
    fmu_set_tolerance(instance, head->tolerance);
    return FMU_OK;
}

// NULL: these are no such bytes, or memory is exhausted.
static FmuState *
read_bytes(const void *bytes, size_t size)
{
    Head head;
    if (!bytes || size < sizeof head)
        return NULL;
    memcpy(&head, bytes, sizeof head);
    FmuState *state = memcmp(head.name, NAME, sizeof NAME) == 0 && head.size == size ? malloc(size) : NULL;
    if (state)
        memcpy(state, bytes, size);
    return state;
}

FmuStatus
fmu_state_get(FmuInstance *instance, void **state, const char *call)
{
    if (!fmu_enter(instance, FMU_READABLE, call))
        return FMU_ERROR;
    FmuState *saved = save(instance, *state);
    if (saved)
        *state = saved;
    else
        fmu_say(instance, FMU_ERROR, "out of memory");
    fmu_leave(instance, FMU_OK);
    return saved ? FMU_OK : FMU_ERROR;
}

FmuStatus
fmu_state_set(FmuInstance *instance, const void *state, const char *call)
{
    if (!fmu_enter(instance, FMU_READABLE, call))
        return FMU_ERROR;
    FmuStatus status = state ? restore(instance, state) : FMU_ERROR;
    fmu_leave(instance, FMU_OK);
    return status;
}

FmuStatus
fmu_state_free(void **state)
{
    if (state) {
        free(*state);
        *state = NULL;
    }
    return FMU_OK;
}

FmuStatus
fmu_state_size(const void *state, size_t *size)
{
    *size = state ? ((const FmuState *)state)->head.size : 0;
    return state ? FMU_OK : FMU_ERROR;
}

FmuStatus
fmu_state_write(FmuInstance *instance, const void *state, void *bytes, size_t size, const char *call)
{
    size_t needed;
    if (!fmu_enter(instance, FMU_READABLE, call))
        return FMU_ERROR;
    bool fits = fmu_state_size(state, &needed) == FMU_OK && size >= needed;
    if (fits)
        memcpy(bytes, state, needed);
    else
        fmu_say(instance, FMU_ERROR, "%zu bytes are not enough for the state", size);
    fmu_leave(instance, FMU_OK);
    return fits ? FMU_OK : FMU_ERROR;
}

FmuStatus
fmu_state_read(FmuInstance *instance, const void *bytes, size_t size, void **state, const char *call)
{
    if (!fmu_enter(instance, FMU_READABLE, call))
        return FMU_ERROR;
    FmuState *read = read_bytes(bytes, size);
    if (read) {
        free(*state);
        *state = read;
    } else {
        fmu_say(instance, FMU_ERROR, "these bytes are no state of such an instance");
    }
    fmu_leave(instance, FMU_OK);
    return read ? FMU_OK : FMU_ERROR;
}
