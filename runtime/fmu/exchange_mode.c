// exchange_mode.c: model exchange: points, ends of steps; and event mode of both interfaces.
//
// Purpose: importers with a method of their own. Method: a point is evaluated once for whatever is asked for there; what the runtime does
// at events is one update, behind which nothing changes any more until an input does.
// Contract: fmu.h. Complexity: one evaluation per point.
#include <math.h>

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
