// integrator.c: the stepper of a run.
//
// Purpose: sim.c, event.c and root.c step, restart and look between steps without knowing the method.
// Contract: run.h.
#include "runtime/run.h"

int
integrator_create(Run *run)
{
    static const Stepper *const steppers[] = {
        [MDL_SOLVER_IDA] = &ida_stepper, [MDL_SOLVER_CVODE] = &cvode_stepper, [MDL_SOLVER_ADAMS] = &adams_stepper,
        [MDL_SOLVER_ERK] = &erk_stepper, [MDL_SOLVER_RK4] = &rk4_stepper,
        [MDL_SOLVER_GAUSS] = &gauss_stepper,
    };
    run->stepper = steppers[run->options->solver];
    return run->stepper->create(run);
}

void
integrator_free(Run *run)
{
    if (run->stepper)
        run->stepper->free(run);
}

int
integrator_start(Run *run)
{
    return run->stepper->start(run);
}

int
integrator_step(Run *run, double limit)
{
    return run->stepper->step(run, limit);
}

void
integrator_interpolate(Run *run, double time)
{
    run->stepper->interpolate(run, time);
}

void
integrator_stats(Run *run)
{
    if (run->stepper)
        run->stepper->stats(run);
}
