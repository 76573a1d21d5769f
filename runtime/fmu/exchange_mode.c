// exchange_mode.c: model exchange: points, ends of steps; and event mode of both interfaces.
//
// Purpose: importers with a method of their own. Method: a point is evaluated once for whatever is asked for there; what the runtime does
// at events is one update, behind which nothing changes any more until an input does.
// Contract: fmu.h. Complexity: one evaluation per point.
#include <math.h>
#include <string.h>

#include "runtime/fmu/fmu.h"

FmuStatus
fmu_evaluate(FmuInstance *instance)
{
    if (!instance->moved)
        return FMU_OK;
    int status = mdl_run_evaluate(instance->run, false);
    if (status == MDL_OK)
        instance->moved = false;
    else
        fmu_say(instance, FMU_DISCARD, "at time %.12g: the equations have no solution at these states", instance->time);
    return fmu_status(status);
}

FmuStatus
fmu_point(FmuInstance *instance, double time, const double *state)
{
    mdl_run_point(instance->run, time, state);
    instance->time = time;
    instance->moved = true;
    return FMU_OK;
}

FmuStatus
fmu_accept(FmuInstance *instance, bool *event, bool *terminate)
{
    int status = mdl_run_accept(instance->run, event);
    instance->moved = status != MDL_OK;
    instance->last = instance->time;
    *terminate = instance->ended = mdl_run_ended(instance->run);
    return fmu_status(status);
}

FmuStatus
fmu_update(FmuInstance *instance, FmuUpdate *update)
{
    int status = MDL_OK;
    *update = (FmuUpdate){0};
    if (instance->unsettled)
        status = instance->exchange ? mdl_run_settle(instance->run, &update->moved) : mdl_run_event(instance->run);
    if (status != MDL_OK) {
        instance->mode = FMU_FAILED;
        return fmu_status(status);
    }
    instance->unsettled = false;
    instance->moved = false;
    update->terminate = instance->ended = mdl_run_ended(instance->run);
    update->next = mdl_run_next(instance->run);
    update->has_next = isfinite(update->next);
    return FMU_OK;
}

static void
fill(FmuInstance *instance, FmuLook what, double *value, size_t n)
{
    if (what == FMU_LOOK_RATES)
        mdl_run_rates(instance->run, value);
    else if (what == FMU_LOOK_INDICATORS)
        mdl_run_look(instance->run, value);
    else if (what == FMU_LOOK_STATES && n)
        memcpy(value, mdl_run_state(instance->run), n * sizeof *value);
    for (size_t i = 0; i < n && what == FMU_LOOK_NOMINALS; i++)
        value[i] = mdl_run_nominal(instance->run, (uint32_t)i);
}

bool
fmu_fits(FmuInstance *instance, size_t n, FmuLook what)
{
    uint32_t wanted = mdl_fmu_head[what == FMU_LOOK_INDICATORS ? FMU_INDICATORS : FMU_STATES];
    if (n != wanted)
        fmu_say(instance, FMU_ERROR, "the unit has %u %s, not %zu", wanted, what == FMU_LOOK_INDICATORS ? "event indicators" : "states", n);
    return n == wanted;
}

FmuStatus
fmu_look(FmuInstance *instance, FmuLook what, double *value, size_t n, const char *call)
{
    if (!fmu_enter(instance, FMU_INITIALIZING | FMU_CONTINUOUS | FMU_EVENTS | FMU_TERMINATED, call))
        return FMU_ERROR;
    FmuStatus status = FMU_ERROR;
    bool evaluated = what == FMU_LOOK_RATES || what == FMU_LOOK_INDICATORS;
    if (!instance->exchange)
        fmu_say(instance, FMU_ERROR, "%s is a function of model exchange", call);
    else if (fmu_fits(instance, n, what))
        status = instance->mode == FMU_INITIALIZING ? fmu_solve(instance) : evaluated ? fmu_evaluate(instance) : FMU_OK;
    if (status == FMU_OK)
        fill(instance, what, value, n);
    fmu_leave(instance, FMU_OK);
    return status;
}
