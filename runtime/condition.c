// condition.c: relations looked at without the rest of the model.
//
// Purpose: a step of a large model should not cost more because a few relations are to be watched.
// Method: where the compiler could cut out what relations read (model.h, mdl_range), only those states are
//         interpolated and only that part is evaluated. Where root functions are affine in the states, every state
//         gets a radius: while all states stay within theirs, around where they were, no relation can change. The
//         method's polynomial over the last step deviates from its end by no more than the sum of the magnitudes of its
//         differences, so one comparison per state covers the whole step (conservative advancement: Mirtich, Impulse-
//         based Dynamic Simulation of Rigid Body Systems, 1996, 2.3).
// Contract: see run.h. Radii are those of the discrete values in force: condition_forget() after events.
// Complexity: a step far from all changes: the states that relations read times the order of the method.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/nvector.h"
#include "runtime/run.h"

struct Conditions {
    uint32_t inputs;    // states that relations read, in the order of the ranges
    double *centre, *radius, *spread;
    double *reach;      // per relation: change of its function per unit of the spreads
    bool known;         // centre and radius are valid
};

// A step is far from all changes when several like it would be: then the values before a change are known when it
// comes near, as root_suspect() needs them.
static const double STEPS_AHEAD = 4;

int
condition_create(Run *run)
{
    const mdl_model *model = run->model;
    Conditions *conditions = calloc(1, sizeof *conditions);
    run->conditions = conditions;
    if (!conditions)
        return MDL_INTERNAL;
    for (uint32_t k = 0; k < model->n_condition_ranges; k++)
        conditions->inputs += model->condition_range[k].count;
    size_t n = conditions->inputs;
    conditions->centre = calloc(3 * n + model->n_relations + 1, sizeof *conditions->centre);
    conditions->radius = conditions->centre + n;
    conditions->spread = conditions->radius + n;
    conditions->reach = conditions->spread + n;
    return conditions->centre ? MDL_OK : MDL_INTERNAL;
}

void
condition_free(Run *run)
{
    if (run->conditions)
        free(run->conditions->centre);
    free(run->conditions);
    run->conditions = NULL;
}

bool
condition_alone(const Run *run)
{
    // Fractional derivatives are set from states that are not those of relations.
    return run->model->condition_range && !rest_any(run) && !run->modes;
}

static void
load_accepted(Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_condition_ranges; k++) {
        mdl_range range = model->condition_range[k];
        memcpy(run->v + model->y + range.first, run->y + range.first, range.count * sizeof *run->y);
    }
}

// Inside a step states with invariants need the projection of all of them.
static bool
needs_all(const Run *run, double time)
{
    return time != run->time && (!run->stepper->interpolate_ranges || run->model->n_constraints > 0);
}

void
condition_evaluate(Run *run, double time)
{
    if (!condition_alone(run) || needs_all(run, time)) {
        integrator_interpolate(run, time);
        evaluate_row(run);
        return;
    }
    if (time == run->time)
        load_accepted(run);
    else
        run->stepper->interpolate_ranges(run, time, run->model->condition_range, run->model->n_condition_ranges);
    run->v[0] = time;
    mdl_call(run->model->conditions, run->v);
}

void
condition_forget(Run *run)
{
    run->conditions->known = false;
}

bool
condition_far(const Run *run)
{
    const Conditions *conditions = run->conditions;
    const mdl_model *model = run->model;
    const double *difference[MDL_DIFFERENCES];
    uint32_t orders = conditions->known ? run->stepper->differences(run, difference) : 0, input = 0;
    if (orders < 2)
        return false;
    for (uint32_t k = 0; k < model->n_condition_ranges; k++) {
        mdl_range range = model->condition_range[k];
        if (!nvector_stays(difference, orders, range.first, conditions->centre + input, conditions->radius + input,
                           STEPS_AHEAD, range.count))
            return false;
        input += range.count;
    }
    return true;
}

// Where the states are, and by how much each of them moves in a step like the last one.
static bool
set_centres(const Run *run)
{
    const mdl_model *model = run->model;
    Conditions *conditions = run->conditions;
    const double *difference[MDL_DIFFERENCES];
    uint32_t orders = run->stepper->differences ? run->stepper->differences(run, difference) : 0, input = 0;
    for (uint32_t k = 0; orders && k < model->n_condition_ranges; k++)
        for (uint32_t i = model->condition_range[k].first, end = i + model->condition_range[k].count; i < end; i++, input++) {
            double spread = run->tolerance * fabs(run->y[i]) + run->abstol[i];
            for (uint32_t order = 1; order < orders; order++)
                spread += fabs(difference[order][i]);
            conditions->centre[input] = run->y[i];
            conditions->spread[input] = spread;
            conditions->radius[input] = INFINITY;
        }
    return orders >= 2;
}

// Visits the partial derivatives that are not zero: with `shrink` the radii become what the relations allow, without it
// the reaches are summed up.
static void
visit_partials(Run *run, bool shrink)
{
    const mdl_matrix *matrix = &run->model->jac_relations;
    Conditions *conditions = run->conditions;
    uint32_t input = 0;
    for (uint32_t k = 0; k < run->model->n_condition_ranges; k++)
        for (uint32_t i = run->model->condition_range[k].first, end = i + run->model->condition_range[k].count; i < end; i++, input++)
            for (uint32_t at = matrix->column_start[i]; at < matrix->column_start[i + 1]; at++) {
                uint32_t relation = matrix->row[at];
                double spread = conditions->spread[input], part = fabs(run->v[matrix->values + at]) * spread;
                if (!shrink)
                    conditions->reach[relation] += part;
                else if (part != 0)
                    conditions->radius[input] = fmin(conditions->radius[input],
                                                     run->phi[relation] / conditions->reach[relation] * spread);
            }
}

void
condition_learn(Run *run)
{
    const mdl_model *model = run->model;
    Conditions *conditions = run->conditions;
    conditions->known = false;
    if (!model->jac_relations.rows || run->modes)
        return;
    for (uint32_t k = 0; k < model->n_relations; k++) {
        if (!(run->phi[k] > 0) || run->guard[k].band > 0)
            return;
        conditions->reach[k] = 0;
    }
    if (!set_centres(run))
        return;
    mdl_call(model->relation_partials, run->v);
    visit_partials(run, false);
    visit_partials(run, true);
    conditions->known = true;
}
