// rest.c: motions that come to rest when their impacts accumulate.
//
// Purpose: a `when g > 0 then reinit(v, ...)` whose events follow each other ever faster (Zeno) has a limit: the motion
//          on the surface g = 0. The run goes on with it.
// Method: a relation at rest is a unilateral constraint with gap s*g, s = +-1. Its reaction accelerates the states in
//         the direction in which the last reinits changed them: y' = f + D lambda, and lambda follows from
//         d2g/dt2 = 0. It holds while lambda >= 0, the other half of the complementarity; where lambda becomes
//         negative the free motion leaves the surface and the most negative contact opens (Brogliato, Nonsmooth
//         Mechanics, 2016, chapter 5; index reduction by differentiation with projection: Hairer and Wanner, Solving
//         Ordinary Differential Equations II, section VII.2). IDA solves g = 0 and dg/dt = 0 in the place of the rows
//         of a position and a velocity, so nothing drifts; the other methods project when the drift becomes visible,
//         and go on beside the corrected point (Stepper.displace).
//         Here is when they come to rest and when they leave it; rest_reaction.c has the reactions and projections,
//         rest_impact.c the impacts on what is at rest.
// Contract: law.h, rest_inner.h; tables mdl_rest of model.h. Complexity: per evaluation that of rest_reaction.c.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/law.h"
#include "runtime/law/rest_inner.h"
#include "runtime/linear/disjoint_sets.h"
#include "runtime/point/part.h"
#include "runtime/point/snapshot.h"

static const double ROUNDING = 1e-9; // of the largest reaction seen: a contact is not opened by less

// --- setting up

static bool
make_rows(const mdl_model *model, Rests *rests)
{
    const mdl_matrix *matrix = &model->jac_rest;
    uint32_t rows = 2 * model->n_rests;
    rests->row_start = calloc((size_t)rows + 2, sizeof *rests->row_start);
    rests->row_state = calloc((size_t)matrix->nonzeros + 1, sizeof *rests->row_state);
    rests->row_value = calloc((size_t)matrix->nonzeros + 1, sizeof *rests->row_value);
    if (!rests->row_start || !rests->row_state || !rests->row_value)
        return false;
    for (uint32_t k = 0; k < matrix->nonzeros; k++)
        rests->row_start[matrix->row[k] + 2]++;
    for (uint32_t i = 0; i <= rows; i++)
        rests->row_start[i + 1] += rests->row_start[i];
    for (uint32_t j = 0; matrix->nonzeros && j < matrix->columns; j++)
        for (uint32_t k = matrix->column_start[j]; k < matrix->column_start[j + 1]; k++) {
            uint32_t at = rests->row_start[matrix->row[k] + 1]++;
            rests->row_state[at] = j;
            rests->row_value[at] = matrix->values + k;
        }
    return true;
}

static bool
make_direction(Direction *along, size_t n)
{
    along->state = calloc(n + 1, sizeof *along->state);
    along->value = calloc(n + 1, sizeof *along->value);
    return along->state && along->value;
}

MDL_CHECKED static int
rest_create(Run *run)
{
    const mdl_model *model = run->model;
    if (!model->n_rests)
        return MDL_OK;
    Rests *rests = run->rests = calloc(1, sizeof *rests);
    size_t n = model->n_rests;
    if (!rests || !make_rows(model, rests))
        return MDL_INTERNAL;
    rests->contact = calloc(n, sizeof *rests->contact);
    rests->list = calloc(n, sizeof *rests->list);
    rests->group = calloc(n + 1, sizeof *rests->group);
    rests->parent = calloc(n, sizeof *rests->parent);
    rests->position = calloc(n + 2, sizeof *rests->position);
    rests->of_relation = malloc(((size_t)model->n_relations + 1) * sizeof *rests->of_relation);
    rests->owner = calloc((size_t)model->n + 1, sizeof *rests->owner);
    rests->replaced = calloc((size_t)model->n + 1, sizeof *rests->replaced);
    rests->row = calloc((size_t)model->n + 1, sizeof *rests->row);
    bool good = rests->contact && rests->list && rests->group && rests->parent && rests->owner && rests->replaced &&
                rests->row && rests->position && rests->of_relation;
    if (good)
        memset(rests->of_relation, 0xff, model->n_relations * sizeof *rests->of_relation);
    for (size_t k = 0; good && k < n; k++) {
        Contact *contact = &rests->contact[k];
        rests->of_relation[model->rest[k].relation] = (uint32_t)k;
        contact->jump = calloc((size_t)model->rest[k].n_reinits + 1, sizeof *contact->jump);
        good = contact->jump && make_direction(&contact->along[1], model->rest[k].n_reinits) &&
               make_direction(&contact->along[0], rests->row_start[2 * k + 1] - rests->row_start[2 * k]);
    }
    return good ? MDL_OK : MDL_INTERNAL;
}

static void
rest_free(Run *run)
{
    Rests *rests = run->rests;
    if (!rests)
        return;
    for (uint32_t k = 0; rests->contact && k < run->model->n_rests; k++) {
        Contact *contact = &rests->contact[k];
        free(contact->jump);
        for (int level = 0; level < 2; level++) {
            free(contact->along[level].state);
            free(contact->along[level].value);
        }
    }
    void *parts[] = {rests->contact, rests->row_start, rests->row_state, rests->row_value, rests->list, rests->group,
                     rests->owner, rests->parent, rests->replaced, rests->row,
                     rests->position, rests->of_relation};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        free(parts[k]);
    rests_patterns_free(rests);
    free(rests);
    run->rests = NULL;
}

// --- contacts that share states

// Contacts are in one group when the reaction of one changes what another one constrains.
static void
join(const mdl_model *model, Rests *rests)
{
    memset(rests->owner, 0, model->n * sizeof *rests->owner);
    sets_begin(rests->parent, model->n_rests);
    for (uint32_t k = 0; k < model->n_rests; k++) {
        Contact *contact = &rests->contact[k];
        for (uint32_t level = 0; contact->active && level < 2; level++)
            for (uint32_t i = 0; i < contact->along[level].n; i++) {
                uint32_t *owner = &rests->owner[contact->along[level].state[i]];
                if (*owner)
                    sets_join(rests->parent, k, *owner - 1);
                *owner = k + 1;
            }
    }
    for (uint32_t k = 0; k < model->n_rests; k++)
        for (uint32_t i = rests->row_start[2 * k]; rests->contact[k].active && i < rests->row_start[2 * k + 2]; i++)
            if (rests->owner[rests->row_state[i]])
                sets_join(rests->parent, k, rests->owner[rests->row_state[i]] - 1);
}

// Makes `list` and `group` from the contacts that are active. False: no memory.
static bool
rests_regroup(const mdl_model *model, Rests *rests)
{
    uint32_t *position = rests->position, last = UINT32_MAX;
    join(model, rests);
    memset(position, 0, ((size_t)model->n_rests + 2) * sizeof *position);
    for (uint32_t k = 0; k < model->n_rests; k++)
        if (rests->contact[k].active)
            position[sets_find(rests->parent, k) + 1]++;
    for (uint32_t k = 0; k < model->n_rests; k++)
        position[k + 1] += position[k];
    rests->active = position[model->n_rests];
    for (uint32_t k = 0; k < model->n_rests; k++)
        if (rests->contact[k].active)
            rests->list[position[sets_find(rests->parent, k)]++] = k;
    rests->groups = 0;
    for (uint32_t i = 0; i < rests->active; i++) {
        uint32_t root = sets_find(rests->parent, rests->list[i]);
        if (root != last)
            rests->group[rests->groups++] = i;
        last = root;
    }
    rests->group[rests->groups] = rests->active;
    if (rests_patterns(model, rests))
        return true;
    rests->active = rests->groups = 0;
    return false;
}

// What a contact is, but for the places of its arrays.
static void
contact_snapshot(const mdl_model *model, const Rests *rests, uint32_t k, Snapshot *snapshot)
{
    Contact *contact = &rests->contact[k], kept = *contact, bare = kept;
    size_t jumps = model->rest[k].n_reinits, positions = rests->row_start[2 * k + 1] - rests->row_start[2 * k];
    const size_t room[2] = {positions, jumps};
    bare.jump = NULL;
    for (int level = 0; level < 2; level++) {
        bare.along[level].state = NULL;
        bare.along[level].value = NULL;
    }
    snapshot_part(snapshot, &bare, sizeof bare);
    *contact = bare;
    contact->jump = kept.jump;
    snapshot_part(snapshot, contact->jump, jumps * sizeof *contact->jump);
    for (int level = 0; level < 2; level++) {
        Direction *along = &contact->along[level];
        along->state = kept.along[level].state;
        along->value = kept.along[level].value;
        snapshot_part(snapshot, along->state, room[level] * sizeof *along->state);
        snapshot_part(snapshot, along->value, room[level] * sizeof *along->value);
    }
}

static void
rest_snapshot(Run *run, Snapshot *snapshot)
{
    for (uint32_t k = 0; k < run->model->n_rests; k++)
        contact_snapshot(run->model, run->rests, k, snapshot);
    if (!snapshot->from)
        return;
    run->rests->version++;
    snapshot->failed = !rests_regroup(run->model, run->rests) || snapshot->failed;
}

// The factors of groups have the pivots of when they were made.
static void
rest_settle(Run *run)
{
    run->rests->version++;
    run->rests->broken |= !rests_regroup(run->model, run->rests);
}

// --- beginning

void
rest_note(Run *run, uint32_t reinit, double before, double after)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_rests; k++) {
        const mdl_rest *rest = &model->rest[k];
        for (uint32_t i = 0; i < rest->n_reinits; i++)
            if (rest->reinit[i] == reinit && run->guard[rest->relation].forced) {
                run->rests->contact[k].jump[i] = after - before;
                run->rests->contact[k].sign = run->v[model->relation[rest->relation].value] != 0 ? -1 : 1;
                run->rests->contact[k].reset = true;
            }
    }
}

// The states that the reinits changed and that dg/dt depends on, the largest change being 1.
static bool
find_velocities(Run *run, uint32_t k)
{
    Contact *contact = &run->rests->contact[k];
    const mdl_rest *rest = &run->model->rest[k];
    Direction *along = &contact->along[1];
    double most = 0;
    rests_scatter(run, 2 * k + 1, false);
    along->n = rest->n_reinits;
    for (uint32_t i = 0; i < along->n; i++) {
        along->state[i] = run->model->reinit[rest->reinit[i]].state;
        along->value[i] = run->rests->row[along->state[i]] != 0 ? contact->jump[i] : 0;
        most = fmax(most, fabs(along->value[i]));
    }
    for (uint32_t i = 0; i < along->n && most > 0; i++)
        along->value[i] /= most;
    double opens = contact->sign * rests_effect(run->rests, along);
    rests_scatter(run, 2 * k + 1, true);
    // A reset that rounding caused may have pushed the wrong way.
    for (uint32_t i = 0; i < along->n && opens < 0; i++)
        along->value[i] = -along->value[i];
    return opens != 0;
}

// The states on which g depends and whose derivatives change with the velocities of the contact.
static bool
find_positions(Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    Contact *contact = &run->rests->contact[k];
    Direction *along = &contact->along[0];
    const Direction *velocity = &contact->along[1];
    double *v = run->v, step = 0, most = 0;
    along->n = 0;
    for (uint32_t i = 0; i < velocity->n; i++)
        step = fmax(step, fabs(velocity->value[i] * v[model->nominal + velocity->state[i]]));
    for (uint32_t i = run->rests->row_start[2 * k]; i < run->rests->row_start[2 * k + 1]; i++) {
        along->state[along->n] = run->rests->row_state[i];
        along->value[along->n++] = -v[model->dx + run->rests->row_state[i]];
    }
    for (uint32_t i = 0; i < velocity->n; i++)
        v[model->y + velocity->state[i]] += step * velocity->value[i];
    bool solved = rests_evaluate(run);
    for (uint32_t i = 0; i < velocity->n; i++)
        v[model->y + velocity->state[i]] -= step * velocity->value[i];
    rests_scatter(run, 2 * k, false);
    for (uint32_t i = 0; i < along->n; i++) {
        double change = along->state[i] < model->nx ? (along->value[i] + v[model->dx + along->state[i]]) / step : 0;
        along->value[i] = fabs(change) > 1e-6 ? change : 0;
        most = fmax(most, fabs(along->value[i]));
    }
    for (uint32_t i = 0; i < along->n && most > 0; i++)
        along->value[i] /= most;
    double opens = contact->sign * rests_effect(run->rests, along);
    rests_scatter(run, 2 * k, true);
    return solved && opens > 0;
}

static uint32_t
rest_of_guard(const Run *run, uint32_t guard)
{
    return run->rests && guard < run->model->n_relations ? run->rests->of_relation[guard] : UINT32_MAX;
}

bool
rest_possible(const Run *run, uint32_t guard)
{
    uint32_t k = rest_of_guard(run, guard);
    return k != UINT32_MAX && !run->model->rest[k].why && !run->rests->contact[k].active;
}

bool
rest_any(const Run *run)
{
    const Rests *rests = run->rests;
    for (uint32_t k = 0; rests && k < run->model->n_rests; k++)
        if (rests->contact[k].active || rests->contact[k].opening)
            return true;
    return false;
}

bool
rest_holds(const Run *run, uint32_t relation)
{
    uint32_t k = run->rests && run->rests->active ? rest_of_guard(run, relation) : UINT32_MAX;
    return k != UINT32_MAX && run->rests->contact[k].active;
}

bool
rest_unresolved(Run *run, uint32_t guard, double interval, bool confirmed)
{
    uint32_t k = rest_of_guard(run, guard);
    double allowed, unused;
    // A condition that stands beside the one that triggers the reset (v <= 0 at the top of a flight) meets no surface.
    if (!run->rests->contact[k].reset)
        return false;
    mdl_call(run->model->rests, run->v);
    mdl_call(run->model->rest_partials, run->v);
    rests_drift(run, k, 0, &allowed);
    double speed = rests_drift(run, k, 1, &unused);
    // What nothing presses onto the surface stays there by itself: a reset that also ends the fall.
    if (speed == 0 && !(run->rests->contact[k].sign * run->v[run->model->rest[k].g + 2] < 0))
        return false;
    // Between two impacts it comes as far as a quarter of the time at the speed after the impact.
    return (confirmed || speed <= 0) && fabs(speed) * interval / 4 < UNRESOLVED * allowed;
}

bool
rest_keeps(const Run *run, uint32_t relation)
{
    uint32_t k = run->rests && (run->rests->active || run->rests->strikes) ? rest_of_guard(run, relation) : UINT32_MAX;
    return k != UINT32_MAX && (run->rests->contact[k].active || run->rests->contact[k].struck);
}

const char *
rests_begin(Run *run, uint32_t k)
{
    Contact *contact = &run->rests->contact[k];
    contact->passes = false;
    if (!rests_evaluate(run))
        return "the equations cannot be solved";
    if (!find_velocities(run, k))
        return "the reset states do not move it";
    if (!find_positions(run, k))
        return "the reset states are not velocities of what it depends on";
    contact->active = true;
    contact->opening = false;
    contact->largest = 0;
    if (!rests_regroup(run->model, run->rests) || !rests_project(run)) {
        contact->active = false;
        run->rests->broken = !rests_regroup(run->model, run->rests);
        return "the states cannot be moved onto it";
    }
    run->rests->version++;
    return NULL;
}

const char *
rest_begin(Run *run, uint32_t guard)
{
    uint32_t k = rest_of_guard(run, guard);
    if (k == UINT32_MAX)
        return "nothing is reset when it changes";
    if (run->model->rest[k].why)
        return run->model->rest[k].why;
    const char *why = rests_begin(run, k);
    Guard *crossings = &run->guard[guard];
    for (int side = 0; side < 2; side++) {
        crossings->confirmed[side] = 0;
        crossings->interval[side] = 0;
        crossings->limit[side] = INFINITY;
    }
    return why;
}

bool
rest_was(const Run *run, uint32_t relation)
{
    uint32_t k = rest_of_guard(run, relation);
    return k != UINT32_MAX && run->rests->contact[k].told;
}

bool
rest_first(Run *run, uint32_t guard)
{
    Contact *contact = &run->rests->contact[rest_of_guard(run, guard)];
    bool first = !contact->told;
    contact->told = true;
    return first;
}

// --- while it lasts

void
rests_open(Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    Contact *contact = &run->rests->contact[k];
    mdl_call(model->rests, run->v);
    mdl_call(model->rest_partials, run->v);
    rests_drift(run, k, 0, &contact->width);
    contact->width *= UNRESOLVED;
    contact->active = false;
    contact->opening = true;
    run->rests->version++;
    Guard *relation = &run->guard[model->rest[k].relation];
    relation->forced = true;
    relation->pending = false;
    run->rests->broken = !rests_regroup(model, run->rests);
}

static Guard *
rests_guard(const Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    return &run->guard[model->n_relations + model->n_time_relations + model->n_sgns + k];
}

bool
rest_update(Run *run)
{
    Rests *rests = run->rests;
    uint32_t worst = UINT32_MAX;
    double least = 0;
    for (uint32_t i = 0; rests && i < rests->active; i++) {
        uint32_t k = rests->list[i];
        Contact *contact = &rests->contact[k];
        contact->largest = fmax(contact->largest, fabs(contact->reaction));
        // A crossing that was located stands: evaluated again, it may be within rounding of zero.
        bool pulls = contact->reaction < -ROUNDING * contact->largest || rests_guard(run, k)->pending;
        if (pulls && fmin(contact->reaction, 0) <= least) {
            least = fmin(contact->reaction, 0);
            worst = k;
        }
    }
    for (uint32_t i = 0; worst != UINT32_MAX && i < rests->active; i++)
        rests_guard(run, rests->list[i])->pending = false;
    if (worst != UINT32_MAX)
        rests_open(run, worst);
    return worst != UINT32_MAX;
}

double
rest_guard(const Run *run, uint32_t k)
{
    const Contact *contact = &run->rests->contact[k];
    if (contact->active)
        return contact->reaction + ROUNDING * contact->largest;
    double gap = contact->sign * run->v[run->model->relation[run->model->rest[k].relation].g];
    return contact->opening ? gap + contact->width : 1;
}

double
rest_band(const Run *run, uint32_t relation)
{
    uint32_t k = rest_of_guard(run, relation);
    return k != UINT32_MAX && run->rests->contact[k].opening ? run->rests->contact[k].width : 0;
}

uint32_t
rest_falling_back(Run *run)
{
    const mdl_model *model = run->model;
    uint32_t back = UINT32_MAX;
    for (uint32_t k = 0; k < model->n_rests; k++) {
        Contact *contact = &run->rests->contact[k];
        if (!contact->opening)
            continue;
        if ((run->v[model->relation[model->rest[k].relation].value] != 0) != (contact->sign < 0))
            contact->opening = false;
        else if (rests_guard(run, k)->pending)
            back = model->rest[k].relation;
        rests_guard(run, k)->pending = false;
    }
    return back;
}

const char *
rest_text(const Run *run, uint32_t k)
{
    return run->model->relation[run->model->rest[k].relation].text;
}

static bool
present(const Run *run)
{
    return run->model->n_rests != 0;
}

const RunPart rest_part = {
    .name = "rest", .create = rest_create, .free = rest_free, .present = present, .react = rest_apply,
    .react_tangent = rest_tangent, .reacts = rest_any, .snapshot = rest_snapshot, .settle = rest_settle,
};
