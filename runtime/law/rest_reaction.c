// rest_reaction.c: what holds motions at rest (rest.c): reactions, their tangents, and the projection onto the surfaces.
//
// Purpose: motions at rest go on without events: their contacts hold as constraints.
// Method: in each group of contacts that share states, multipliers lambda of the directions D of the contacts let the
//         functions change as wanted: G D lambda = -g at the level of positions or velocities, -d2g/dt2 for reactions
//         (Hairer and Wanner, Solving Ordinary Differential Equations II, section VII.2).
//         A contact's multiplier changes the functions that depend on the states it moves; the matrices are as sparse
//         as that.
// Contract: rest_inner.h and run.h. Complexity: linear in the active contacts and what couples them, and what the
//           sparse factorisation needs.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/law.h"
#include "runtime/law/rest_inner.h"
#include "runtime/linear/lu.h"
#include "runtime/point/point.h"
#include "runtime/point/sense.h"
#include "runtime/model/order.h"

enum { PROJECTIONS = 20 };

// --- patterns of the matrices

// Places in `list` by the states that their functions depend on.
typedef struct Readers {
    uint32_t *start, *place; // states + 1
} Readers;

static bool
find_readers(const mdl_model *model, const Rests *rests, Readers *readers)
{
    size_t entries = 0;
    readers->start = calloc((size_t)model->n + 2, sizeof *readers->start);
    if (!readers->start)
        return false;
    for (uint32_t i = 0; i < rests->active; i++) {
        uint32_t row = 2 * rests->list[i];
        for (uint32_t e = rests->row_start[row]; e < rests->row_start[row + 2]; e++, entries++)
            readers->start[rests->row_state[e] + 2]++;
    }
    readers->place = malloc((entries + 1) * sizeof *readers->place);
    if (!readers->place)
        return false;
    for (uint32_t s = 0; s < model->n; s++)
        readers->start[s + 2] += readers->start[s + 1];
    for (uint32_t i = 0; i < rests->active; i++) {
        uint32_t row = 2 * rests->list[i];
        for (uint32_t e = rests->row_start[row]; e < rests->row_start[row + 2]; e++)
            readers->place[readers->start[rests->row_state[e] + 1]++] = i;
    }
    return true;
}

// Appends the rows of the column of list[j], of the group that begins at `first`. `seen` (per place): j + 1 where it is
// in already. There is room.
static void
add_column(Rests *rests, const Readers *readers, uint32_t first, uint32_t j, uint32_t *seen)
{
    const Contact *contact = &rests->contact[rests->list[j]];
    uint32_t end = rests->column[j];
    for (uint32_t level = 0; level < 2; level++)
        for (uint32_t i = 0; i < contact->along[level].n; i++) {
            uint32_t state = contact->along[level].state[i];
            for (uint32_t e = readers->start[state]; e < readers->start[state + 1]; e++) {
                uint32_t place = readers->place[e];
                if (seen[place] != j + 1)
                    rests->entry[end++] = place - first;
                seen[place] = j + 1;
            }
        }
    qsort(rests->entry + rests->column[j], end - rests->column[j], sizeof *rests->entry, ascending_u32);
    rests->column[j + 1] = end;
}

static bool
add_group(Rests *rests, const Readers *readers, uint32_t group, uint32_t *seen, size_t *capacity)
{
    uint32_t first = rests->group[group], end = rests->group[group + 1], n = end - first;
    for (uint32_t j = first; j < end; j++) {
        size_t needed = (size_t)rests->column[j] + n;
        if (needed > *capacity) {
            uint32_t *entry = realloc(rests->entry, 2 * needed * sizeof *entry);
            if (!entry)
                return false;
            rests->entry = entry;
            *capacity = 2 * needed;
        }
        add_column(rests, readers, first, j, seen);
    }
    uint32_t *start = malloc(((size_t)n + 1) * sizeof *start);
    if (!start)
        return false;
    for (uint32_t j = 0; j <= n; j++)
        start[j] = rests->column[first + j] - rests->column[first];
    rests->lu[group] = lu_create(n, start, rests->entry + rests->column[first]);
    free(start);
    return true;
}

void
rests_patterns_free(Rests *rests)
{
    for (uint32_t group = 0; group < rests->lus; group++)
        lu_free(&rests->lu[group]);
    void *parts[] = {rests->lu, rests->column, rests->entry, rests->value, rests->right};
    for (size_t k = 0; k < sizeof parts / sizeof *parts; k++)
        free(parts[k]);
    rests->lu = NULL;
    rests->column = rests->entry = NULL;
    rests->value = rests->right = NULL;
    rests->lus = 0;
}

bool
rests_patterns(const mdl_model *model, Rests *rests)
{
    Readers readers = {0};
    size_t capacity = 0;
    uint32_t *seen = calloc((size_t)rests->active + 1, sizeof *seen);
    rests_patterns_free(rests);
    rests->lu = calloc((size_t)rests->groups + 1, sizeof *rests->lu);
    rests->column = calloc((size_t)rests->active + 1, sizeof *rests->column);
    rests->right = calloc((size_t)rests->active + 1, sizeof *rests->right);
    rests->lus = rests->groups;
    bool good = seen && rests->lu && rests->column && rests->right && find_readers(model, rests, &readers);
    for (uint32_t group = 0; good && group < rests->groups; group++)
        good = add_group(rests, &readers, group, seen, &capacity);
    if (good)
        rests->value = calloc((size_t)rests->column[rests->active] + 1, sizeof *rests->value);
    free(readers.start);
    free(readers.place);
    free(seen);
    return good && rests->value;
}

// --- reactions

double
rests_effect(const Rests *rests, const Direction *along)
{
    double sum = 0;
    for (uint32_t i = 0; i < along->n; i++)
        sum += rests->row[along->state[i]] * along->value[i];
    return sum;
}

void
rests_scatter(const Run *run, uint32_t row, bool clear)
{
    Rests *rests = run->rests;
    for (uint32_t i = rests->row_start[row]; i < rests->row_start[row + 1]; i++)
        rests->row[rests->row_state[i]] = clear ? 0 : run->v[rests->row_value[i]];
}

// Column of list[j] at the level: what a unit of its multiplier does to the functions of its group.
static void
fill_column(Run *run, uint32_t first, uint32_t j, uint32_t level)
{
    Rests *rests = run->rests;
    const Direction *along = &rests->contact[rests->list[j]].along[level];
    for (uint32_t i = 0; i < along->n; i++)
        rests->row[along->state[i]] += along->value[i];
    for (uint32_t e = rests->column[j]; e < rests->column[j + 1]; e++) {
        uint32_t k = rests->list[first + rests->entry[e]], row = 2 * k + level;
        double sum = 0;
        for (uint32_t i = rests->row_start[row]; i < rests->row_start[row + 1]; i++)
            sum += run->v[rests->row_value[i]] * rests->row[rests->row_state[i]];
        rests->value[e] = rests->contact[k].sign * sum;
    }
    for (uint32_t i = 0; i < along->n; i++)
        rests->row[along->state[i]] = 0;
}

// Solves for the multipliers of a group, into its part of `right`, that let its functions of the level change by minus
// v[g + value]; those of the tangents when `value` has their shift as well.
static bool
multipliers(Run *run, uint32_t group, uint32_t level, uint32_t value)
{
    Rests *rests = run->rests;
    uint32_t first = rests->group[group], end = rests->group[group + 1];
    if (!rests->value || !rests->lu[group]) // there was no memory, or the matrix is singular
        return false;
    for (uint32_t j = first; j < end; j++) {
        uint32_t k = rests->list[j];
        fill_column(run, first, j, level);
        rests->right[j] = -rests->contact[k].sign * run->v[run->model->rest[k].g + value];
    }
    if (!lu_factor(rests->lu[group], rests->value + rests->column[first], true))
        return false;
    lu_solve(rests->lu[group], rests->right + first);
    return true;
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
        bool solved = multipliers(run, group, 1, 2);
        for (uint32_t i = rests->group[group]; i < rests->group[group + 1]; i++) {
            uint32_t k = rests->list[i];
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
        bool solved = multipliers(run, group, 1, shift + 2);
        for (uint32_t i = rests->group[group]; i < rests->group[group + 1]; i++) {
            Contact *contact = &rests->contact[rests->list[i]];
            contact->rate = solved ? rests->right[i] : NAN;
            accelerate(run, rests->list[i], contact->rate, shift);
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
        if (!multipliers(run, group, level, run->model->tangents->shift + level))
            return false;
        for (uint32_t i = rests->group[group]; i < rests->group[group + 1]; i++) {
            const Direction *along = &rests->contact[rests->list[i]].along[level];
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

bool
rests_evaluate(Run *run)
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
    if (!rests_evaluate(run))
        return false;
    for (uint32_t group = 0; group < rests->groups; group++) {
        if (!multipliers(run, group, level, level))
            return false;
        for (uint32_t i = rests->group[group]; i < rests->group[group + 1]; i++) {
            const Direction *along = &rests->contact[rests->list[i]].along[level];
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
bool
rests_project(Run *run)
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
    return rests_evaluate(run);
}

// Distance from the surface of the level and what the tolerance says about it.
double
rests_drift(const Run *run, uint32_t k, uint32_t level, double *allowed)
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
rest_drifted(Run *run)
{
    Rests *rests = run->rests;
    bool moved = false;
    if (!rests || !rests->active)
        return false;
    evaluate_load(run, run->time, run->y, run->yp);
    if (!rests_evaluate(run))
        return false;
    for (uint32_t i = 0; i < rests->active && !moved; i++)
        for (uint32_t level = 0; level < 2; level++) {
            double allowed, gap = rests_drift(run, rests->list[i], level, &allowed);
            moved = moved || fabs(gap) > 0.1 * allowed;
        }
    if (!moved || !rests_project(run))
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
