// start_tangents.c: sensitivities from the initial system through the events of the start.
//
// Purpose: clocks that tick at the start, conditions that hold there and impacts of what begins in contact change discrete variables and states
// after the initial system was solved, and their derivatives with them. Method: sensitivities begin as derivatives of the solution of
// the initial system; the event iteration of the start is followed as any other one (saltation.c), at a time that does not move. An
// instant at the start that moves with a parameter is before or behind it for values of the parameter on either side: there is no derivative.
// Contract: sense.h. Complexity: a few passes over the tangents per parameter.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/law/law.h"
#include "runtime/point/sense.h"

static const char *
parameter_name(const Run *run, uint32_t p)
{
    return run->model->settable[run->sense->wanted->parameter[p]].name;
}

// Tails of fractional derivatives count at the start as long as it is solved.
MDL_CHECKED static int
solve_tangents(Run *run, uint32_t p)
{
    tangent_parameter(run->sense->tangent, &run->model->settable[run->sense->wanted->parameter[p]]);
    int status = fractional_orders(run, p);
    if (status != MDL_OK)
        return status;
    if (run->fractionals)
        fractional_parameter(run, p);
    return tangent_start(run->sense->tangent);
}

static bool
is_start(const Run *run, double instant)
{
    return fabs(instant - run->v[0]) <= 16 * DBL_EPSILON * fmax(fabs(instant), fabs(run->v[0]));
}

MDL_CHECKED static int
refuse_instant(const Run *run, uint32_t p, const char *text)
{
    run_message(run, MDL_ERROR, "at time %.12g: results have no derivative by `%s`: it moves an instant that is the start of the run, and "
                "would be before it or behind it: %s", run->v[0], parameter_name(run, p), text);
    return MDL_FAILED;
}

// Instants are there, and the tangents of the start.
MDL_CHECKED static int
check_instants(const Run *run, uint32_t p)
{
    const mdl_model *model = run->model;
    const Tangent *t = run->sense->tangent;
    mdl_call(model->tangents->instants, run->v);
    for (uint32_t k = 0; k < model->n_time_relations; k++)
        if (is_start(run, run->v[model->time_relation[k].instant]) && *tangent_at(t, model->time_relation[k].instant) != 0)
            return refuse_instant(run, p, model->time_relation[k].text);
    for (uint32_t k = 0; k < model->n_samples; k++) {
        const mdl_sample *at = &model->sample[k];
        double count = (double)run->sample_index[k], instant = run->v[at->start] + count * run->v[at->interval];
        if (run->v[at->interval] > 0 && is_start(run, instant) && *tangent_at(t, at->start) + count * *tangent_at(t, at->interval) != 0)
            return refuse_instant(run, p, at->text ? at->text : "a sample");
    }
    return MDL_OK;
}

// Discrete variables keep what they started with; unknowns are seeded with every evaluation.
static void
keep_image(const Run *run, uint32_t p)
{
    const mdl_model *model = run->model;
    const Tangent *t = run->sense->tangent;
    size_t bytes = model->n * sizeof(double);
    memcpy(run->sense->s + (size_t)p * run->sense->nx, tangent_at(t, model->y), run->sense->nx * sizeof(double));
    memset(tangent_at(t, model->y), 0, bytes);
    memset(tangent_at(t, model->yp), 0, bytes);
    memcpy(run->sense->image[p], tangent_at(t, 0), model->tangents->shift * sizeof(double));
}

int
sense_begin(Run *run)
{
    Sense *sense = run->sense;
    size_t bytes = (size_t)sense->n * sense->nx * sizeof *sense->s;
    for (uint32_t p = 0; p < sense->n; p++) {
        int status = solve_tangents(run, p);
        if (status == MDL_OK)
            status = tangent_held(sense->tangent, parameter_name(run, p));
        if (status == MDL_OK)
            status = check_instants(run, p);
        if (status != MDL_OK)
            return status;
        keep_image(run, p);
    }
    sense->images++;
    memcpy(sense->present, sense->s, bytes);
    memcpy(sense->moved, sense->s, bytes);
    memset(sense->tau, 0, sense->n * sizeof *sense->tau);
    memcpy(sense->slope, run->v + run->model->yp, sense->nx * sizeof *sense->slope);
    sense->touching = NULL;
    sense->in_event = true;
    sense_moved(run);
    return MDL_OK;
}

MDL_CHECKED static int
check_finite(const Run *run, uint32_t p)
{
    for (uint32_t i = 0; i < run->sense->nx; i++)
        if (!isfinite(run->sense->s[(size_t)p * run->sense->nx + i])) {
            run_message(run, MDL_ERROR, "the start value of `%s` has no finite derivative by `%s`", run->model->state_name[i], parameter_name(run, p));
            return MDL_FAILED;
        }
    return MDL_OK;
}

int
sense_begun(Run *run)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    int status = sense_states(run);
    sense->in_event = false;
    for (uint32_t p = 0; p < sense->n && status == MDL_OK; p++) {
        double *s = sense->s + (size_t)p * sense->nx;
        memcpy(s, sense->moved + (size_t)p * sense->nx, sense->nx * sizeof *s);
        for (uint32_t k = 0; k < model->n_sgns; k++)
            if (model->sgn[k].state >= 0 && friction_mode(run, k) == 0)
                s[model->sgn[k].state] = 0;
        status = check_finite(run, p);
    }
    memcpy(sense->present, sense->s, (size_t)sense->n * sense->nx * sizeof *sense->s);
    return status;
}
