// sensitivities.c: forward sensitivities s = dx/dp along a run.
//
// Purpose: how results depend on parameters, to the accuracy of the integration.
// Method: sense_stepper.c integrates them together with the states. They start as the derivatives of the initial system, and jump at
//   events (saltation.c). Those of results are one solve per parameter and row.
// Contract: sense.h. Complexity: one pass over the tangents per parameter and row.
#include "runtime/law/law.h"
#include "runtime/point/sense.h"

#include <math.h>
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
    const mdl_model *model = run->model;
    const mdl_delay *moving = NULL;
    if (!model->tangents || model->tangents->incomplete)
        run_message(run, MDL_ERROR, "the model has no directional derivatives");
    else if (model->n_transports)
        run_message(run, MDL_ERROR, "%s: sensitivities of models with spatialDistribution are not supported", model->transport[0].where);
    for (uint32_t k = 0; k < model->n_delays && !moving; k++)
        moving = model->delay[k].moving || model->delay[k].weight ? &model->delay[k] : NULL;
    if (moving)
        run_message(run, MDL_ERROR, "%s: sensitivities of models with delay times that the model computes or that are 0 are not supported", moving->where);
    bool refused = moving || model->n_transports || !model->tangents || model->tangents->incomplete;
    return refused ? MDL_FAILED : MDL_OK;
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
    bool good = sense->mode_s && sense->tangent && sense->image && sense->s && sense->kept && sense->touched;
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

// Tails of fractional derivatives count at the start as long as it is solved.
MDL_CHECKED static int
start_tangents(Run *run, uint32_t p)
{
    if (run->fractionals)
        fractional_parameter(run, p);
    return tangent_start(run->sense->tangent);
}

int
sense_start(Run *run)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    if (!sense)
        return MDL_OK;
    for (uint32_t p = 0; p < sense->n; p++) {
        double *s = sense->s + (size_t)p * sense->nx;
        tangent_parameter(sense->tangent, &model->settable[sense->wanted->parameter[p]]);
        int status = fractional_orders(run, p);
        if (status == MDL_OK)
            status = start_tangents(run, p);
        if (status != MDL_OK)
            return status;
        memcpy(s, tangent_at(sense->tangent, model->y), sense->nx * sizeof *s);
        for (uint32_t k = 0; k < model->n_sgns; k++)
            if (model->sgn[k].state >= 0 && friction_mode(run, k) == 0)
                s[model->sgn[k].state] = 0;
        // Discrete variables keep what they started with; unknowns are seeded with every evaluation.
        memset(tangent_at(sense->tangent, model->y), 0, model->n * sizeof *s);
        memset(tangent_at(sense->tangent, model->yp), 0, model->n * sizeof *s);
        memcpy(sense->image[p], tangent_at(sense->tangent, 0), model->tangents->shift * sizeof *s);
        for (uint32_t i = 0; i < sense->nx; i++)
            if (!isfinite(s[i])) {
                run_message(run, MDL_ERROR, "the start value of `%s` has no finite derivative by `%s`", model->state_name[i],
                            model->settable[sense->wanted->parameter[p]].name);
                return MDL_FAILED;
            }
    }
    memcpy(sense->present, sense->s, (size_t)sense->n * sense->nx * sizeof *sense->s);
    return delay_note_tangents(run);
}

int
sense_remember(Run *run)
{
    return delay_note_tangents(run);
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
        sense_seed(run, p, sense->present + (size_t)p * sense->nx);
        tangent_dynamics(sense->tangent);
        for (uint32_t k = 0; k < wanted->outputs; k++)
            run->v[wanted->place + k * sense->n + p] = run->model->output[wanted->output[k]].sign
                * *tangent_at(sense->tangent, run->model->output[wanted->output[k]].place);
    }
    return status;
}
