// condition.c: relations looked at without the rest of the model.
//
// Purpose: a step of a large model should not cost more because a few relations are to be watched.
// Method: where the compiler could cut out what relations read (model.h, mdl_range), only those states are
//         interpolated and only that part is evaluated. Where root functions are affine in the states, every state
//         gets a radius: while all states stay within theirs, around where they were, no relation can change. The
//         method's polynomial over the last step deviates from its end by no more than the sum of the magnitudes of its
//         differences, so one comparison per state covers the whole step (conservative advancement: Mirtich, Impulse-
//         based Dynamic Simulation of Rigid Body Systems, 1996, 2.3). Further on the polynomial changes by the corrections of the
//         steps that follow, which the error test keeps below the tolerance: where the radii are large beside that, the
//         comparison covers some of these steps as well.
// Contract: see event.h. Radii are those of the discrete values in force: condition_forget() after events.
// Complexity: a step far from all changes: the states that relations read times the order of the method.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/linear/nvector.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

struct Conditions {
    uint32_t inputs;    // states that relations read, in the order of the ranges
    double *centre, *radius, *spread;
    double *reach;      // per relation: change of its function per unit of the spreads
    bool known;         // centre and radius are valid
    bool wide;          // radii are large beside what steps are corrected by
    double covered;     // no relation changes up to this time,
    uint32_t left;      // as long as no more than so many steps lead there: each of them corrects
};

// A step is far from all changes when several like it would be: then the values before a change are known when it
// comes near, as root_suspect() needs them.
static const double STEPS_AHEAD = 4;
// Steps that follow and need no comparison of their own.
enum { STEPS_COVERED = 2 };
// Bounds what corrections of these steps do in units of the tolerance, with methods of order 5: errors of 10 tolerances, growing by
// the factors 1, 7 and 28 of the basis polynomial at the ends of this step and the next ones.
static const double CORRECTIONS = 360;

MDL_CHECKED static int
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
    conditions->centre = calloc(3 * n + model->n_relations + 1, sizeof *conditions->centre); // zeros: they go into snapshots
    conditions->radius = conditions->centre + n;
    conditions->spread = conditions->radius + n;
    conditions->reach = conditions->spread + n;
    return conditions->centre ? MDL_OK : MDL_INTERNAL;
}

static void
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
    return run->model->condition_range && !rest_any(run) && !run->modes && !run->limits;
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

int
condition_evaluate(Run *run, double time)
{
    if (!condition_alone(run) || needs_all(run, time))
        return evaluate_at(run, time, false);
    if (time == run->time)
        load_accepted(run);
    else
        run->stepper->interpolate_ranges(run, time, run->model->condition_range, run->model->n_condition_ranges);
    run->v[0] = time;
    failure_clear(run);
    run->evaluations++;
    mdl_call(run->model->conditions, run->v);
    return failure_happened(run) ? MDL_FAILED : MDL_OK;
}

void
condition_forget(Run *run)
{
    run->conditions->known = false;
    run->conditions->covered = -INFINITY;
    ahead_forget(run);
    drift_forget(run);
}

bool
condition_far(const Run *run)
{
    Conditions *conditions = run->conditions;
    const mdl_model *model = run->model;
    const double *difference[MDL_DIFFERENCES];
    double factor[MDL_DIFFERENCES], next = 0;
    if (!conditions->known || run->limits || !run->stepper->differences) // a contest may have found another method
        return false;
    if (run->time <= conditions->covered && conditions->left > 0) {
        conditions->left--;
        return true;
    }
    uint32_t input = 0, orders = run->stepper->differences(run, STEPS_AHEAD + (conditions->wide ? STEPS_COVERED : 0),
                                                           difference, factor, &next);
    if (orders < 2)
        return false;
    for (uint32_t k = 0; k < model->n_condition_ranges; k++) {
        mdl_range range = model->condition_range[k];
        if (!nvector_stays(difference, factor, orders, range.first, conditions->centre + input, conditions->radius + input,
                           range.count))
            return false;
        input += range.count;
    }
    if (conditions->wide) {
        conditions->covered = run->time + STEPS_COVERED * next;
        conditions->left = STEPS_COVERED;
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
    double next;
    uint32_t orders = run->stepper->differences ? run->stepper->differences(run, 1, difference, NULL, &next) : 0, input = 0;
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

// By how much every relation's function can change while the states move by their spreads.
static void
sum_reaches(const Run *run, uint32_t first, uint32_t count, const double *spread)
{
    const mdl_matrix *matrix = &run->model->jac_relations;
    const double *value = run->v + matrix->values;
    const uint32_t *start = matrix->column_start + first, *row = matrix->row;
    double *restrict reach = run->conditions->reach;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t at = start[i]; at < start[i + 1]; at++)
            reach[row[at]] += fabs(value[at]) * spread[i];
}

// Each state may move in proportion to its spread until the first of its relations could change.
static void
shrink_radii(const Run *run, uint32_t first, uint32_t count, const double *spread, double *restrict radius)
{
    const mdl_matrix *matrix = &run->model->jac_relations;
    const double *value = run->v + matrix->values, *phi = run->phi, *reach = run->conditions->reach;
    const uint32_t *start = matrix->column_start + first, *row = matrix->row;
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t at = start[i]; at < start[i + 1]; at++) {
            double within = value[at] != 0 ? phi[row[at]] / reach[row[at]] * spread[i] : radius[i];
            radius[i] = within < radius[i] ? within : radius[i];
        }
}

// Where all radii are wide they leave room for corrections, a tenth of them. (States may grow by as much as their radii.)
static void
make_room(const Run *run)
{
    Conditions *conditions = run->conditions;
    const mdl_model *model = run->model;
    double room = 10 * CORRECTIONS * sqrt(model->nx), tolerance = run->tolerance;
    const double *radius = conditions->radius;
    conditions->wide = true;
    for (uint32_t k = 0; k < model->n_condition_ranges && conditions->wide; k++) {
        mdl_range range = model->condition_range[k];
        const double *y = run->y + range.first, *abstol = run->abstol + range.first;
        bool wide = true;
        for (uint32_t i = 0; i < range.count; i++)
            wide &= radius[i] >= room * (tolerance * (fabs(y[i]) + radius[i]) + abstol[i]);
        conditions->wide = wide;
        radius += range.count;
    }
    for (uint32_t i = 0; conditions->wide && i < conditions->inputs; i++)
        conditions->radius[i] *= 0.9;
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
    uint32_t input = 0;
    for (uint32_t k = 0; k < model->n_condition_ranges; input += model->condition_range[k++].count)
        sum_reaches(run, model->condition_range[k].first, model->condition_range[k].count, conditions->spread + input);
    input = 0;
    for (uint32_t k = 0; k < model->n_condition_ranges; input += model->condition_range[k++].count)
        shrink_radii(run, model->condition_range[k].first, model->condition_range[k].count, conditions->spread + input,
                     conditions->radius + input);
    make_room(run);
    conditions->known = true;
    conditions->covered = -INFINITY;
}

static void
condition_snapshot(Run *run, Snapshot *snapshot)
{
    Conditions *conditions = run->conditions;
    snapshot_part(snapshot, conditions->centre, (3 * (size_t)conditions->inputs + run->model->n_relations) * sizeof *conditions->centre);
    snapshot_part(snapshot, &conditions->known, sizeof conditions->known);
    snapshot_part(snapshot, &conditions->wide, sizeof conditions->wide);
    snapshot_part(snapshot, &conditions->covered, sizeof conditions->covered);
    snapshot_part(snapshot, &conditions->left, sizeof conditions->left);
}

const RunPart condition_part = {
    .name = "condition", .create = condition_create, .free = condition_free, .snapshot = condition_snapshot,
};
