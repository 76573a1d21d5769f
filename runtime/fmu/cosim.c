// cosim.c: co-simulation: an instance goes from one communication point to the next.
//
// Purpose: DoStep of both versions. Method: the run is advanced by its own method; where the importer handles events it is stopped at
// each of them, at the left limit, and where it wants to look in between it goes one step of the method at a time.
// Contract: fmu.h. A step that fails is discarded: the last time at which everything was right is known, and the instance goes on from a state that
// is restored. Complexity: that of the run.
#include <float.h>
#include <math.h>

#include "runtime/fmu/fmu.h"

static bool
is_next(FmuInstance *instance, double time, double length)
{
    bool here = fabs(time - instance->time) <= 1e-9 * fmax(fabs(time), fabs(length)) + 64 * DBL_EPSILON * fabs(instance->time);
    if (!here || !(length >= 0) || !isfinite(length)) {
        fmu_say(instance, FMU_ERROR, here ? "%g is no length of a step" : "the instance is at time %.17g, and the step shall begin at another",
                here ? length : instance->time);
        return false;
    }
    return true;
}

// Where it is: the left limit of an event that is held is before the end of the method's step.
static double
reached(const FmuInstance *instance)
{
    return mdl_run_values(instance->run)[0];
}

// One step of the method after the other. *stopped: before the end.
MDL_CHECKED static int
walk(FmuInstance *instance, double until, FmuWatch *watch, FmuStep *step, bool *stopped)
{
    int status = MDL_OK;
    do {
        bool event;
        status = mdl_run_step(instance->run, until, instance->event_mode, &event);
        double now = reached(instance);
        if (status != MDL_OK)
            return status;
        instance->last = now;
        bool held = instance->event_mode && event && mdl_run_holds(instance->run);
        if (held && (instance->early_return || now == until)) {
            step->event = *stopped = true;
            return MDL_OK;
        }
        if (held)
            status = mdl_run_event(instance->run);
        if (status == MDL_OK && watch && watch(instance, now, now == until) && instance->early_return && now < until) {
            *stopped = true;
            return MDL_OK;
        }
    } while (status == MDL_OK && reached(instance) < until && !mdl_run_ended(instance->run));
    return status;
}

FmuStatus
fmu_step(FmuInstance *instance, double time, double length, FmuWatch *watch, FmuStep *step)
{
    bool stopped = false;
    *step = (FmuStep){.last = instance->time};
    if (!is_next(instance, time, length))
        return FMU_ERROR;
    // Times of communication points are sums with their own rounding, and the run's is the one that counts.
    double until = fmax(time + length, instance->time);
    int status = instance->event_mode || watch ? walk(instance, until, watch, step, &stopped) : mdl_run_advance(instance->run, until);
    if (status != MDL_OK) {
        instance->mode = FMU_FAILED;
        instance->last = fmax(instance->last, fmin(mdl_run_reached(instance->run), until));
        step->last = instance->last;
        return fmu_status(status);
    }
    instance->time = instance->last = step->last = reached(instance);
    step->terminate = mdl_run_ended(instance->run);
    step->early = instance->time < until;
    instance->ended = step->terminate;
    return FMU_OK;
}
