// failure.c: what may fail in an evaluation: subscripts, and functions that are called at run time.
//
// Purpose: a failure at a point that the integrator only tries makes it try another; one at a point that counts ends the
// run with a message.
// Method: none: v holds the number of the failure and its values, and a table of the model the text.
// Contract: point.h. Compiled code records the first failure in v and gives NaN as results (runtime/model/model.h).
// Complexity: constant.
#include <math.h>
#include "runtime/model/template.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

#include <stdio.h>

void
failure_clear(const Run *run)
{
    if (!run->model->failure)
        return;
    run->v[run->model->failure] = 0;
    run->v[run->model->failure + MDL_CALL_BYTES] = 0;
    run->v[run->model->failure + MDL_CALL_WARNING] = 0;
}

static int32_t
is_to_end(const void *looker)
{
    const Run *run = looker;
    return run_interrupted(run) || (run->deadline > 0 && clock_seconds() > run->deadline);
}

void
failure_join(const Run *run)
{
    if (!run->model->failure)
        return;
    double *state = run->v + run->model->failure;
    state[MDL_CALL_TEXTS] = (double)(uintptr_t)run->texts;
    state[MDL_CALL_LOOK] = (double)(uintptr_t)is_to_end;
    state[MDL_CALL_LOOKER] = (double)(uintptr_t)run;
}

void
failure_next_instant(const Run *run)
{
    double *instant = run->v + run->model->failure + MDL_CALL_INSTANT;
    if (run->model->failure)
        *instant = floor(*instant) + 1;
}

void
failure_next_look(const Run *run)
{
    double *instant = run->v + run->model->failure + MDL_CALL_INSTANT;
    if (run->model->failure && *instant - floor(*instant) < 0.25)
        *instant += 0x1p-20;
}

void
failure_leave_event(const Run *run)
{
    double *instant = run->v + run->model->failure + MDL_CALL_INSTANT;
    if (run->model->failure)
        *instant = floor(*instant) + 0.5;
}

bool
failure_happened(const Run *run)
{
    return run->model->failure && run->v[run->model->failure] != 0;
}

// The failure or warning that is recorded from `state` on.
static bool
recorded_text(const Run *run, const double *state, char *text, size_t size)
{
    const mdl_model *model = run->model;
    if (state[0] == 0 || !(state[0] <= model->n_failures))
        return false;
    const mdl_failure *failed = &model->failed[(uint32_t)state[0] - 1];
    int used = snprintf(text, size, "%s%s", failed->where, *failed->where ? ": " : "");
    if (used >= 0 && (size_t)used < size)
        template_fill(failed->text, state + 1, run->texts, text + used, size - (size_t)used);
    return true;
}

bool
failure_text(const Run *run, char *text, size_t size)
{
    return failure_happened(run) && recorded_text(run, run->v + run->model->failure, text, size);
}

// Each assertion warns once.
static void
report_warning(const Run *run)
{
    char text[1200];
    double *state = run->v + run->model->failure + MDL_CALL_WARNING;
    if (!run->model->failure || !recorded_text(run, state, text, sizeof text))
        return;
    uint8_t *told = &run->warned_in_calls[(uint32_t)state[0] - 1];
    if (!*told)
        run_message(run, MDL_WARNING, "%s at time %.12g", text, run->v[0]);
    *told = 1;
    state[0] = 0;
}

bool
failure_report(const Run *run)
{
    char text[1200];
    report_warning(run);
    if (!failure_text(run, text, sizeof text))
        return false;
    run_message(run, MDL_ERROR, "%s at time %.12g", text, run->v[0]);
    return true;
}
