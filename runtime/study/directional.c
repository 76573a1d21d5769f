// directional.c: directional derivatives of a run that is driven from outside.
//
// Purpose: solvers around a model (co-simulation masters, optimisers, estimators) want to know how it answers to small changes of states and
// inputs. Method: the tangents of the model (tangent.c) at the present point, with the conditions and modes in force.
// Contract: sim.h. Complexity: one evaluation, one factorisation of each block, one pass over the tangents.
#include <stdlib.h>

#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/point/tangent.h"

static bool
is_free(const mdl_model *model, uint32_t place)
{
    bool found = place >= model->y && place < model->y + model->nx;
    for (uint32_t k = 0; !found && k < model->n_settables; k++)
        found = model->settable[k].kind == MDL_SETTABLE_INPUT && model->settable[k].value == place;
    return found || (!place && !model->n_delays); // histories have no tangent by time
}

MDL_CHECKED static int
refuse(const Run *run, const uint32_t *place, uint32_t places)
{
    const mdl_model *model = run->model;
    const char *why = NULL;
    if (!model->tangents || model->tangents->incomplete)
        why = "the model was built without directional derivatives: `mdlc build --derivatives` adds them";
    else if (model->tangents->blind)
        why = "what follows by comparisons in functions alone has no directional derivatives";
    for (uint32_t k = 0; k < places && !why; k++)
        if (!is_free(model, place[k]))
            why = "derivatives are by states, inputs and, without delays, time only";
    if (why)
        run_message(run, MDL_ERROR, "%s", why);
    return why ? MDL_USAGE : MDL_OK;
}

// A velocity that sticks is zero, whatever is said of it.
static void
hold_sticking(const Run *run, Tangent *tangent)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (run->model->sgn[k].state >= 0 && run->v[run->model->sgn[k].mode] == 0)
            *tangent_at(tangent, run->model->y + (uint32_t)run->model->sgn[k].state) = 0;
}

int
mdl_run_tangent(mdl_run *opened, const uint32_t *place, const double *rate, uint32_t places, const uint32_t *of, uint32_t n_of, double *answer)
{
    Run *run = run_of(opened);
    int status = refuse(run, place, places);
    Tangent *tangent = status == MDL_OK ? tangent_create(run) : NULL;
    if (status != MDL_OK)
        return status;
    if (!tangent) {
        run_message(run, MDL_ERROR, "out of memory");
        return MDL_INTERNAL;
    }
    status = evaluate_row(run, true);
    if (status == MDL_OK)
        status = tangent_factor(tangent);
    tangent_clear(tangent);
    for (uint32_t k = 0; k < places; k++)
        *tangent_at(tangent, place[k]) += rate[k];
    hold_sticking(run, tangent);
    tangent_seed_past(tangent, UINT32_MAX);
    if (status == MDL_OK)
        tangent_dynamics(tangent);
    for (uint32_t k = 0; k < n_of && status == MDL_OK; k++)
        answer[k] = *tangent_at(tangent, of[k]);
    tangent_free(&tangent);
    return status;
}

int
mdl_run_derivative(mdl_run *opened, const uint32_t *place, const double *rate, uint32_t places, const uint32_t *output,
                   uint32_t outputs, double *answer)
{
    const mdl_output *column = run_of(opened)->model->output;
    uint32_t *of = calloc((size_t)outputs + 1, sizeof *of);
    if (!of)
        return MDL_INTERNAL;
    for (uint32_t k = 0; k < outputs; k++)
        of[k] = column[output[k]].place;
    int status = mdl_run_tangent(opened, place, rate, places, of, outputs, answer);
    for (uint32_t k = 0; k < outputs && status == MDL_OK; k++)
        answer[k] *= column[output[k]].sign;
    free(of);
    return status;
}
