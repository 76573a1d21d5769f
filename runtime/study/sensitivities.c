// sensitivities.c: forward sensitivities s = dx/dp along a run.
//
// Purpose: how results depend on parameters, to the accuracy of the integration.
// Method: sense_stepper.c integrates them together with the states. They start as the derivatives of the initial system, and jump at
//   events (saltation.c). Those of results are one solve per parameter and row.
// Contract: sense.h. Complexity: one pass over the tangents per parameter and row.
#include "runtime/point/sense.h"

#include <stdlib.h>
#include <string.h>

// --- setting up

void
sense_free(Run *run)
{
    Sense *sense = run->sense;
    if (!sense)
        return;
    tangent_free(&sense->tangent);
    directions_free(sense);
    for (uint32_t p = 0; sense->image && p < sense->n; p++)
        free(sense->image[p]);
    free(sense->image);
    free(sense->s);
    free(sense->kept);
    free(sense->touched);
    free(sense->mode_s);
    free(sense);
    run->sense = NULL;
}

MDL_CHECKED static int
refuse(const Run *run)
{
    if (run->model->tangents && !run->model->tangents->incomplete)
        return MDL_OK;
    run_message(run, MDL_ERROR, "the model has no directional derivatives");
    return MDL_FAILED;
}

int
sense_create(Run *run)
{
    const mdl_sense *wanted = run->options->sense;
    if (!wanted)
        return MDL_OK;
    int status = refuse(run);
    Sense *sense = status == MDL_OK ? calloc(1, sizeof *sense) : NULL;
    run->sense = sense;
    if (status != MDL_OK)
        return status;
    if (!sense)
        return MDL_INTERNAL;
    size_t n = wanted->n, nx = run->model->nx, shift = run->model->tangents->shift;
    sense->wanted = wanted;
    sense->n = wanted->n;
    sense->nx = run->model->nx;
    sense->tangent = tangent_create(run);
    sense->image = calloc(n + 1, sizeof *sense->image);
    sense->s = calloc(3 * n * nx + n + 2 * nx + run->guards + 1, sizeof *sense->s);
    sense->kept = calloc(shift + 1, sizeof *sense->kept);
    sense->touched = calloc(run->guards + 1, 1);
    sense->modes = run->modes;
    sense->mode_s = calloc((3 * n + 1) * run->modes + 1, sizeof *sense->mode_s);
    sense->images = 1;
    bool good = directions_create(run) && sense->mode_s && sense->tangent && sense->image && sense->s && sense->kept && sense->touched;
    for (size_t p = 0; p < n && good; p++)
        good = (sense->image[p] = calloc(shift + 1, sizeof **sense->image)) != NULL;
    if (!good) {
        run_message(run, MDL_ERROR, "out of memory");
        return MDL_INTERNAL;
    }
    sense->present = sense->s + n * nx;
    sense->moved = sense->present + n * nx;
    sense->tau = sense->moved + n * nx;
    sense->reached = sense->tau + n;
    sense->slope = sense->reached + nx;
    sense->departs = sense->slope + nx;
    sense->mode_present = sense->mode_s + n * run->modes;
    sense->mode_moved = sense->mode_present + n * run->modes;
    sense->mode_rate = sense->mode_moved + n * run->modes;
    sense_take_modes(sense, sense->mode_present, run->modes);
    return MDL_OK;
}

// --- the start

int
sense_start(Run *run)
{
    if (!run->sense)
        return MDL_OK;
    int status = sense_begun(run);
    return status == MDL_OK ? sense_remember(run) : status;
}

int
sense_remember(Run *run)
{
    int status = delay_note_tangents(run);
    return status == MDL_OK ? transport_note_tangents(run) : status;
}

// --- results

static void
output_rates(Run *run)
{
    const mdl_sense *wanted = run->sense->wanted;
    sense_seed_motion(run, run->v + run->model->yp);
    for (uint32_t k = 0; k < wanted->outputs; k++) {
        const mdl_output *output = &run->model->output[wanted->output[k]];
        run->v[wanted->rates + k] = output->sign * *tangent_at(run->sense->tangent, output->place);
    }
}

int
sense_values(Run *run)
{
    Sense *sense = run->sense;
    const mdl_sense *wanted = sense->wanted;
    int status = tangent_factor(sense->tangent);
    if (wanted->rates && status == MDL_OK)
        output_rates(run);
    if (wanted->instants)
        memcpy(run->v + wanted->instants, sense->tau, sense->n * sizeof *sense->tau);
    for (uint32_t p = 0; p < sense->n && status == MDL_OK; p++) {
        sense_follow(run, p, sense->present + (size_t)p * sense->nx, sense->nx);
        for (uint32_t k = 0; k < wanted->outputs; k++)
            run->v[wanted->place + k * sense->n + p] = run->model->output[wanted->output[k]].sign
                * sense_rate(sense, run->model->output[wanted->output[k]].place);
    }
    return status;
}
