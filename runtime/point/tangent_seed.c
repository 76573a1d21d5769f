// tangent_seed.c: sensitivities of the states as tangents of everything, and what parts of a run tell about an event that has some.
//
// Purpose: everything that keeps a tangent begins, and passes events, with the right one. Method: none: tangents of the states are copied
// to where the directional derivatives of the model read them (tangent.h).
// Contract: sense.h. Complexity: linear in the values of the model.
#include "runtime/point/sense.h"

#include <string.h>

void
sense_take_modes(Sense *sense, const double *mode, size_t stride)
{
    sense->mode = mode;
    sense->mode_stride = stride;
}

void
sense_seed(const Run *run, uint32_t p, const double *s)
{
    const Sense *sense = run->sense;
    memcpy(tangent_at(sense->tangent, 0), sense->image[p], run->model->tangents->shift * sizeof(double));
    memcpy(tangent_at(sense->tangent, run->model->y), s, sense->nx * sizeof *s);
    tangent_seed_past(sense->tangent, p);
}

void
sense_seed_event(const Run *run, uint32_t p, const double *states)
{
    sense_seed(run, p, states);
    *tangent_at(run->sense->tangent, 0) = run->sense->tau[p];
    tangent_seed_past(run->sense->tangent, p);
}

void
sense_moved(const Run *run)
{
    memcpy(run->sense->reached, run->v + run->model->y, run->sense->nx * sizeof *run->v);
}

void
sense_store(const Run *run)
{
    Sense *sense = run->sense;
    if (!sense)
        return;
    memcpy(sense->s, sense->present, (size_t)sense->n * sense->nx * sizeof *sense->s);
    memcpy(sense->mode_s, sense->mode_present, (size_t)sense->n * sense->modes * sizeof *sense->mode_s);
}

int
sense_refuse(const Run *run, const char *why, const char *text)
{
    run_message(run, MDL_ERROR, "at time %.12g: sensitivities have no derivative at this event: %s%s%s", run->v[0], why,
                *text ? ": " : "", text);
    return MDL_FAILED;
}

// It has an effect whose time would have to be known.
int
sense_acts(const Run *run)
{
    return run->sense->touching ? sense_refuse(run, "its condition only touches zero", run->sense->touching) : MDL_OK;
}
