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
//         of a position and a velocity, so nothing drifts; the other methods project when the drift becomes visible.
// Contract: run.h; tables mdl_rest of model.h. Complexity: per evaluation linear in the active contacts, cubic in those
//           that share states.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/snapshot.h"

static const double ROUNDING = 1e-9; // of the largest reaction seen: a contact is not opened by less
static const double EXACT = 100;     // times the tolerance: a contact at rest is this exact
enum { PROJECTIONS = 20, STRIKES = 1000 };
static const double UNRESOLVED = 3;  // times the tolerance: shorter ways are not told from errors

// Changes of states, per unit of a reaction.
typedef struct Direction {
    uint32_t n, *state;
    double *value;
} Direction;

typedef struct Contact {
    bool active, told;
    bool opening;          // it has opened, and the gap is still below what the tolerance resolves:
    double width;          // this
    bool lifted, struck;   // within an event: about to close again; its reset has run again
    bool passes;           // its reset did not turn the motion back
    double sign;           // gap = sign * g
    double reaction, largest;
    double rate;           // tangent of the reaction
    double *jump;          // per reinit of the table: what it did to its state at the last event
    Direction along[2];    // of positions (g = 0) and velocities (dg/dt = 0)
} Contact;

struct Rests {
    Contact *contact;
    uint32_t *row_start, *row_state, *row_value; // jac_rest by rows: states and places of the partials
    uint32_t *list, active;                      // active contacts, those that share states together
    uint32_t *group, groups;                     // first of each group in `list`; groups + 1 entries
    double *matrix, *right;                      // of the largest group
    uint32_t *owner, *parent, *replaced;         // per state; per contact; per state: row of jac_rest + 1
    uint32_t *position, *of_relation;            // for sorting; per relation: its contact, UINT32_MAX: none
    double *row;                                 // per unknown: one row, scattered
    uint32_t version;
    uint32_t strikes;                            // of the event being handled
};

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

int
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

void
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
                     rests->matrix, rests->right, rests->owner, rests->parent, rests->replaced, rests->row,
                     rests->position, rests->of_relation};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        free(parts[k]);
    free(rests);
    run->rests = NULL;
}

// --- contacts that share states

static uint32_t
root_of(uint32_t *parent, uint32_t k)
{
    while (parent[k] != k)
        k = parent[k] = parent[parent[k]];
    return k;
}

// Contacts are in one group when the reaction of one changes what another one constrains.
static void
join(const mdl_model *model, Rests *rests)
{
    memset(rests->owner, 0, model->n * sizeof *rests->owner);
    for (uint32_t k = 0; k < model->n_rests; k++) {
        Contact *contact = &rests->contact[k];
        rests->parent[k] = k;
        for (uint32_t i = 0; contact->active && i < contact->along[1].n; i++) {
            uint32_t *owner = &rests->owner[contact->along[1].state[i]];
            if (*owner)
                rests->parent[root_of(rests->parent, k)] = root_of(rests->parent, *owner - 1);
            *owner = k + 1;
        }
        for (uint32_t i = 0; contact->active && i < contact->along[0].n; i++)
            rests->owner[contact->along[0].state[i]] = k + 1;
    }
    for (uint32_t k = 0; k < model->n_rests; k++)
        for (uint32_t i = rests->row_start[2 * k]; rests->contact[k].active && i < rests->row_start[2 * k + 2]; i++)
            if (rests->owner[rests->row_state[i]])
                rests->parent[root_of(rests->parent, k)] =
                    root_of(rests->parent, rests->owner[rests->row_state[i]] - 1);
}

static bool
regroup(const mdl_model *model, Rests *rests)
{
    size_t largest = 0;
    uint32_t *position = rests->position, last = UINT32_MAX;
    join(model, rests);
    memset(position, 0, ((size_t)model->n_rests + 2) * sizeof *position);
    for (uint32_t k = 0; k < model->n_rests; k++)
        if (rests->contact[k].active)
            position[root_of(rests->parent, k) + 1]++;
    for (uint32_t k = 0; k < model->n_rests; k++)
        position[k + 1] += position[k];
    rests->active = position[model->n_rests];
    for (uint32_t k = 0; k < model->n_rests; k++)
        if (rests->contact[k].active)
            rests->list[position[root_of(rests->parent, k)]++] = k;
    rests->groups = 0;
    for (uint32_t i = 0; i < rests->active; i++) {
        uint32_t root = root_of(rests->parent, rests->list[i]);
        if (root != last)
            rests->group[rests->groups++] = i;
        last = root;
        size_t size = i + 1 - rests->group[rests->groups - 1];
        largest = size > largest ? size : largest;
    }
    rests->group[rests->groups] = rests->active;
    free(rests->matrix);
    free(rests->right);
    rests->matrix = calloc(largest * largest + 1, sizeof *rests->matrix);
    rests->right = calloc(largest + 1, sizeof *rests->right);
    return rests->matrix && rests->right;
}

// What a contact is, but for the places of its arrays.
static void
contact_snapshot(const mdl_model *model, const Rests *rests, uint32_t k, Snapshot *snapshot)
{
    Contact *contact = &rests->contact[k], kept = *contact;
    size_t jumps = model->rest[k].n_reinits, positions = rests->row_start[2 * k + 1] - rests->row_start[2 * k];
    const size_t room[2] = {positions, jumps};
    snapshot_part(snapshot, contact, sizeof *contact);
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

void
rest_snapshot(Run *run, Snapshot *snapshot)
{
    for (uint32_t k = 0; k < run->model->n_rests; k++)
        contact_snapshot(run->model, run->rests, k, snapshot);
    if (!snapshot->from)
        return;
    run->rests->version++;
    snapshot->failed = !regroup(run->model, run->rests) || snapshot->failed;
}

// --- reactions

// Gaussian elimination with partial pivoting; the solution replaces b. False: singular.
static bool
solve_dense(double *a, double *b, uint32_t n)
{
    for (uint32_t step = 0; step < n; step++) {
        uint32_t pivot = step;
        for (uint32_t i = step + 1; i < n; i++)
            if (fabs(a[i * (size_t)n + step]) > fabs(a[pivot * (size_t)n + step]))
                pivot = i;
        if (!(fabs(a[pivot * (size_t)n + step]) > DBL_MIN))
            return false;
        for (uint32_t j = 0; j < n && pivot != step; j++) {
            double kept = a[step * (size_t)n + j];
            a[step * (size_t)n + j] = a[pivot * (size_t)n + j];
            a[pivot * (size_t)n + j] = kept;
        }
        double kept = b[step];
        b[step] = b[pivot];
        b[pivot] = kept;
        for (uint32_t i = step + 1; i < n; i++) {
            double factor = a[i * (size_t)n + step] / a[step * (size_t)n + step];
            for (uint32_t j = step; j < n && factor != 0; j++)
                a[i * (size_t)n + j] -= factor * a[step * (size_t)n + j];
            b[i] -= factor * b[step];
        }
    }
    for (uint32_t i = n; i-- > 0;) {
        for (uint32_t j = i + 1; j < n; j++)
            b[i] -= a[i * (size_t)n + j] * b[j];
        b[i] /= a[i * (size_t)n + i];
    }
    return true;
}

static double
effect(const Rests *rests, const Direction *along)
{
    double sum = 0;
    for (uint32_t i = 0; i < along->n; i++)
        sum += rests->row[along->state[i]] * along->value[i];
    return sum;
}

static void
scatter_row(const Run *run, uint32_t row, bool clear)
{
    Rests *rests = run->rests;
    for (uint32_t i = rests->row_start[row]; i < rests->row_start[row + 1]; i++)
        rests->row[rests->row_state[i]] = clear ? 0 : run->v[rests->row_value[i]];
}

// Solves for the multipliers of a group that let its functions of the level change by minus v[g + value]; those of the
// tangents when `value` has their shift as well.
static bool
multipliers(Run *run, uint32_t group, uint32_t level, uint32_t value)
{
    Rests *rests = run->rests;
    uint32_t first = rests->group[group], n = rests->group[group + 1] - first;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t k = rests->list[first + i];
        double sign = rests->contact[k].sign;
        scatter_row(run, 2 * k + level, false);
        for (uint32_t j = 0; j < n; j++)
            rests->matrix[i * (size_t)n + j] = sign * effect(rests, &rests->contact[rests->list[first + j]].along[level]);
        scatter_row(run, 2 * k + level, true);
        rests->right[i] = -sign * run->v[run->model->rest[k].g + value];
    }
    return solve_dense(rests->matrix, rests->right, n);
}

// shift: 0, or that of the tangents.
static void
accelerate(Run *run, uint32_t k, double reaction, uint32_t shift)
{
    const mdl_model *model = run->model;
    const Direction *along = &run->rests->contact[k].along[1];
    for (uint32_t i = 0; i < along->n; i++) {
        double change = reaction * along->value[i];
        const mdl_reinit *reinit = &model->reinit[model->rest[k].reinit[i]];
        run->v[shift + model->dx + along->state[i]] += change;
        if (reinit->der)
            run->v[shift + reinit->der] += reinit->der_sign * change;
    }
}

void
rest_apply(Run *run)
{
    Rests *rests = run->rests;
    if (!rests || !rests->active)
        return;
    friction_clamp(run);
    mdl_call(run->model->rests, run->v);
    mdl_call(run->model->rest_partials, run->v);
    for (uint32_t group = 0; group < rests->groups; group++) {
        uint32_t first = rests->group[group], n = rests->group[group + 1] - first;
        bool solved = multipliers(run, group, 1, 2);
        for (uint32_t i = 0; i < n; i++) {
            uint32_t k = rests->list[first + i];
            rests->contact[k].reaction = solved ? rests->right[i] : NAN;
            accelerate(run, k, rests->contact[k].reaction, 0);
        }
    }
}

// --- tangents

static void
evaluate_tangents(Run *run)
{
    mdl_call(run->model->rests, run->v);
    mdl_call(run->model->rest_partials, run->v);
    mdl_call(run->model->tangents->rests, run->v);
}

// With the accelerations in dx, d2g/dt2 is zero; its tangents are what the reactions have to take away.
void
rest_tangent(Run *run)
{
    const mdl_model *model = run->model;
    Rests *rests = run->rests;
    if (!rests || !rests->active)
        return;
    uint32_t shift = model->tangents->shift;
    evaluate_tangents(run);
    for (uint32_t group = 0; group < rests->groups; group++) {
        uint32_t first = rests->group[group], n = rests->group[group + 1] - first;
        bool solved = multipliers(run, group, 1, shift + 2);
        for (uint32_t i = 0; i < n; i++) {
            Contact *contact = &rests->contact[rests->list[first + i]];
            contact->rate = solved ? rests->right[i] : NAN;
            accelerate(run, rests->list[first + i], contact->rate, shift);
        }
    }
}

double
rest_rate(const Run *run, uint32_t k)
{
    const Contact *contact = &run->rests->contact[k];
    uint32_t g = run->model->relation[run->model->rest[k].relation].g;
    return contact->active ? contact->rate : contact->sign * run->v[run->model->tangents->shift + g];
}

bool
rest_close_tangent(Run *run, uint32_t level, double *s)
{
    Rests *rests = run->rests;
    evaluate_tangents(run);
    for (uint32_t group = 0; group < rests->groups; group++) {
        uint32_t first = rests->group[group], n = rests->group[group + 1] - first;
        if (!multipliers(run, group, level, run->model->tangents->shift + level))
            return false;
        for (uint32_t i = 0; i < n; i++) {
            const Direction *along = &rests->contact[rests->list[first + i]].along[level];
            for (uint32_t k = 0; k < along->n; k++)
                s[along->state[k]] += along->value[k] * rests->right[i];
        }
    }
    return true;
}

// Reactions on several states have a direction that depends on masses.
uint32_t
rest_shared(const Run *run)
{
    const Rests *rests = run->rests;
    for (uint32_t i = 0; rests && i < rests->active; i++) {
        const Direction *along = &rests->contact[rests->list[i]].along[1];
        uint32_t moved = 0;
        for (uint32_t k = 0; k < along->n; k++)
            moved += along->value[k] != 0;
        if (moved > 1)
            return rests->list[i];
    }
    return UINT32_MAX;
}

// --- projection onto the surfaces

static bool
evaluate_functions(Run *run)
{
    if (evaluate_solved(run, false) != MDL_OK)
        return false;
    mdl_call(run->model->rests, run->v);
    mdl_call(run->model->rest_partials, run->v);
    return true;
}

// One Newton step; *moved is its size in units of the tolerance.
static bool
project_once(Run *run, uint32_t level, double *moved)
{
    Rests *rests = run->rests;
    *moved = 0;
    if (!evaluate_functions(run))
        return false;
    for (uint32_t group = 0; group < rests->groups; group++) {
        uint32_t first = rests->group[group], n = rests->group[group + 1] - first;
        if (!multipliers(run, group, level, level))
            return false;
        for (uint32_t i = 0; i < n; i++) {
            const Direction *along = &rests->contact[rests->list[first + i]].along[level];
            for (uint32_t k = 0; k < along->n; k++) {
                double *y = &run->v[run->model->y + along->state[k]], change = along->value[k] * rests->right[i];
                *y += change;
                *moved = fmax(*moved, fabs(change) / (run->tolerance * fabs(*y) + run->abstol[along->state[k]]));
            }
        }
    }
    return isfinite(*moved);
}

// Moves the states in v to g = 0 and dg/dt = 0 of all active contacts.
static bool
project(Run *run)
{
    for (uint32_t level = 0; level < 2; level++) {
        double moved = 1, before = INFINITY;
        for (int pass = 0; pass < PROJECTIONS && moved > 1e-9 && !(moved >= before); pass++) {
            before = pass ? moved : INFINITY;
            if (!project_once(run, level, &moved))
                return false;
        }
        if (moved > 1e-3)
            return false;
    }
    if (run->sense)
        sense_moved(run);
    return evaluate_functions(run);
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
    scatter_row(run, 2 * k + 1, false);
    along->n = rest->n_reinits;
    for (uint32_t i = 0; i < along->n; i++) {
        along->state[i] = run->model->reinit[rest->reinit[i]].state;
        along->value[i] = run->rests->row[along->state[i]] != 0 ? contact->jump[i] : 0;
        most = fmax(most, fabs(along->value[i]));
    }
    for (uint32_t i = 0; i < along->n && most > 0; i++)
        along->value[i] /= most;
    double opens = contact->sign * effect(run->rests, along);
    scatter_row(run, 2 * k + 1, true);
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
    bool solved = evaluate_functions(run);
    for (uint32_t i = 0; i < velocity->n; i++)
        v[model->y + velocity->state[i]] -= step * velocity->value[i];
    scatter_row(run, 2 * k, false);
    for (uint32_t i = 0; i < along->n; i++) {
        double change = along->state[i] < model->nx ? (along->value[i] + v[model->dx + along->state[i]]) / step : 0;
        along->value[i] = fabs(change) > 1e-6 ? change : 0;
        most = fmax(most, fabs(along->value[i]));
    }
    for (uint32_t i = 0; i < along->n && most > 0; i++)
        along->value[i] /= most;
    double opens = contact->sign * effect(run->rests, along);
    scatter_row(run, 2 * k, true);
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

// Distance from the surface of the level and what the tolerance says about it.
static double
drift(const Run *run, uint32_t k, uint32_t level, double *allowed)
{
    const Rests *rests = run->rests;
    *allowed = 0;
    for (uint32_t i = rests->row_start[2 * k + level]; i < rests->row_start[2 * k + level + 1]; i++) {
        uint32_t state = rests->row_state[i];
        double size = run->tolerance * fabs(run->v[run->model->y + state]) + run->abstol[state];
        *allowed += fabs(run->v[rests->row_value[i]]) * size;
    }
    return rests->contact[k].sign * run->v[run->model->rest[k].g + level];
}

bool
rest_unresolved(Run *run, uint32_t guard, double interval, bool confirmed)
{
    uint32_t k = rest_of_guard(run, guard);
    double allowed, unused;
    mdl_call(run->model->rests, run->v);
    mdl_call(run->model->rest_partials, run->v);
    drift(run, k, 0, &allowed);
    double speed = drift(run, k, 1, &unused);
    // Between two impacts it comes as far as a quarter of the time at the speed after the impact.
    return (confirmed || speed <= 0) && fabs(speed) * interval / 4 < UNRESOLVED * allowed;
}

bool
rest_keeps(const Run *run, uint32_t relation)
{
    uint32_t k = run->rests && (run->rests->active || run->rests->strikes) ? rest_of_guard(run, relation) : UINT32_MAX;
    return k != UINT32_MAX && (run->rests->contact[k].active || run->rests->contact[k].struck);
}

static const char *
begin(Run *run, uint32_t k)
{
    Contact *contact = &run->rests->contact[k];
    contact->passes = false;
    if (!evaluate_functions(run))
        return "the equations cannot be solved";
    if (!find_velocities(run, k))
        return "the reset states do not move it";
    if (!find_positions(run, k))
        return "the reset states are not velocities of what it depends on";
    contact->active = true;
    contact->opening = false;
    contact->largest = 0;
    if (!regroup(run->model, run->rests) || !project(run)) {
        contact->active = false;
        regroup(run->model, run->rests);
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
    const char *why = begin(run, k);
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

static void
open_contact(Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    Contact *contact = &run->rests->contact[k];
    mdl_call(model->rests, run->v);
    mdl_call(model->rest_partials, run->v);
    drift(run, k, 0, &contact->width);
    contact->width *= UNRESOLVED;
    contact->active = false;
    contact->opening = true;
    run->rests->version++;
    Guard *relation = &run->guard[model->rest[k].relation];
    relation->forced = true;
    relation->pending = false;
    regroup(model, run->rests);
}

static Guard *
guard_of(const Run *run, uint32_t k)
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
        bool pulls = contact->reaction < -ROUNDING * contact->largest || guard_of(run, k)->pending;
        if (pulls && fmin(contact->reaction, 0) <= least) {
            least = fmin(contact->reaction, 0);
            worst = k;
        }
    }
    for (uint32_t i = 0; worst != UINT32_MAX && i < rests->active; i++)
        guard_of(run, rests->list[i])->pending = false;
    if (worst != UINT32_MAX)
        open_contact(run, worst);
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
        else if (guard_of(run, k)->pending)
            back = model->rest[k].relation;
        guard_of(run, k)->pending = false;
    }
    return back;
}

const char *
rest_text(const Run *run, uint32_t k)
{
    return run->model->relation[run->model->rest[k].relation].text;
}

// --- impacts on what is at rest

// Its relation has the value that its reset follows, and its gap has not become visible since.
static bool
is_closed(const Run *run, uint32_t k)
{
    const mdl_rest *rest = &run->model->rest[k];
    const Contact *contact = &run->rests->contact[k];
    bool value = run->v[run->model->relation[rest->relation].value] != 0;
    double allowed;
    return contact->active || (!rest->why && contact->sign != 0 && !contact->passes && value == (contact->sign < 0) &&
                               fabs(drift(run, k, 0, &allowed)) <= EXACT * allowed);
}

// The reset of a closed contact runs again: its relation leaves the value that triggers it and takes it again.
static void
strike(Run *run, uint32_t k)
{
    Contact *contact = &run->rests->contact[k];
    if (contact->active)
        open_contact(run, k);
    contact->opening = false;
    contact->lifted = contact->struck = true;
    run->guard[run->model->rest[k].relation].pending = true;
}

static bool
lower_lifted(Run *run)
{
    bool any = false;
    for (uint32_t k = 0; k < run->model->n_rests; k++) {
        Contact *contact = &run->rests->contact[k];
        if (contact->lifted)
            run->guard[run->model->rest[k].relation].pending = any = true;
        contact->lifted = false;
    }
    return any;
}

void
rest_event(Run *run)
{
    if (!run->rests || !run->rests->strikes)
        return;
    run->rests->strikes = 0;
    for (uint32_t k = 0; k < run->model->n_rests; k++)
        run->rests->contact[k].struck = run->rests->contact[k].lifted = false;
}

// Looks at a contact that is closed. *approach receives the speed at which it would be passed through, in units of
// what the tolerance allows. True when a reinit has lifted it.
static bool
is_lifted(const Run *run, uint32_t k, double *approach)
{
    double allowed, gap = drift(run, k, 0, &allowed);
    bool lifted = gap > EXACT * allowed;
    double speed = drift(run, k, 1, &allowed);
    *approach = speed < -EXACT * allowed && !lifted ? -speed / allowed : 0;
    return lifted || speed > EXACT * allowed;
}

static int
report(const Run *run, uint32_t k, const char *what)
{
    run_message(run, MDL_ERROR, "at time %.12g: the simulation makes no progress: %s:\n  %s", run->v[0], what,
                rest_text(run, k));
    return MDL_FAILED;
}

// The next flight would be lower than what the tolerance resolves.
static bool
is_flat(const Run *run, uint32_t k)
{
    double allowed, unused;
    double acceleration = run->rests->contact[k].sign * run->v[run->model->rest[k].g + 2];
    drift(run, k, 0, &allowed);
    double speed = drift(run, k, 1, &unused);
    return acceleration < 0 && speed * speed < -2 * acceleration * UNRESOLVED * allowed;
}

// Contacts whose impacts have died away within the event come to rest, the others at rest are projected.
static int
close_struck(Run *run)
{
    Rests *rests = run->rests;
    for (uint32_t k = 0; (rests->active || rests->strikes) && k < run->model->n_rests; k++) {
        double approach;
        if (rests->contact[k].active || !is_closed(run, k) || (is_lifted(run, k, &approach) && !(rests->strikes && is_flat(run, k))))
            continue;
        const char *why = begin(run, k);
        if (why)
            return report(run, k, why);
    }
    return !rests->active || project(run) ? MDL_OK : report(run, rests->list[0], "what is at rest does not stay so");
}

// What was at rest once and has bounced: it comes to rest again where the tolerance does not resolve the bounce.
static void
watch_bounces(Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_rests; k++) {
        Contact *contact = &run->rests->contact[k];
        bool value = run->v[model->relation[model->rest[k].relation].value] != 0;
        if (!contact->told || contact->active || contact->opening || value != (contact->sign < 0))
            continue;
        drift(run, k, 0, &contact->width);
        contact->width *= UNRESOLVED;
        contact->opening = true;
    }
}

int
rest_after_event(Run *run, bool *again)
{
    Rests *rests = run->rests;
    *again = false;
    if (!rests || !rests->version) // nothing has ever been at rest
        return MDL_OK;
    *again = lower_lifted(run);
    if (*again)
        return MDL_OK;
    mdl_call(run->model->rests, run->v);
    mdl_call(run->model->rest_partials, run->v);
    uint32_t worst = UINT32_MAX;
    double most = 0;
    for (uint32_t k = 0; k < run->model->n_rests; k++) {
        double approach = 0;
        if (!is_closed(run, k))
            continue;
        if (is_lifted(run, k, &approach) && rests->contact[k].active) {
            open_contact(run, k);
            *again = true;
            return MDL_OK;
        }
        // A reset that does not turn the motion back lets it pass; what was at rest before does not do that.
        rests->contact[k].passes = approach > 0 && !rests->strikes && !rests->contact[k].told &&
                                   run->guard[run->model->rest[k].relation].forced;
        if (approach > most && !rests->contact[k].passes) {
            most = approach;
            worst = k;
        }
    }
    if (worst == UINT32_MAX) {
        watch_bounces(run);
        return close_struck(run);
    }
    if (++rests->strikes > STRIKES)
        return report(run, worst, "impacts follow each other without end at this instant");
    strike(run, worst);
    *again = true;
    return MDL_OK;
}

bool
rest_drifted(Run *run)
{
    Rests *rests = run->rests;
    bool moved = false;
    if (!rests || !rests->active)
        return false;
    evaluate_load(run, run->time, run->y, run->yp);
    if (!evaluate_functions(run))
        return false;
    for (uint32_t i = 0; i < rests->active && !moved; i++)
        for (uint32_t level = 0; level < 2; level++) {
            double allowed, gap = drift(run, rests->list[i], level, &allowed);
            moved = moved || fabs(gap) > 0.1 * allowed;
        }
    if (!moved || !project(run))
        return false;
    evaluate_store(run);
    return true;
}

// --- rows of IDA

uint32_t
rest_version(const Run *run)
{
    return run->rests ? run->rests->version : 0;
}

static uint32_t
best_state(const Run *run, uint32_t k, uint32_t level)
{
    const Rests *rests = run->rests;
    const Direction *along = &rests->contact[k].along[level];
    uint32_t best = UINT32_MAX;
    double most = 0;
    for (uint32_t i = 0; i < along->n; i++)
        if (fabs(along->value[i]) > most && !rests->replaced[along->state[i]]) {
            most = fabs(along->value[i]);
            best = along->state[i];
        }
    return best;
}

const uint32_t *
rest_rows(const Run *run)
{
    Rests *rests = run->rests;
    if (!rests || !rests->active)
        return NULL;
    memset(rests->replaced, 0, run->model->n * sizeof *rests->replaced);
    for (uint32_t i = 0; i < rests->active; i++)
        for (uint32_t level = 0; level < 2; level++) {
            uint32_t k = rests->list[i], state = best_state(run, k, level);
            if (state != UINT32_MAX)
                rests->replaced[state] = 2 * k + level + 1;
        }
    return rests->replaced;
}
