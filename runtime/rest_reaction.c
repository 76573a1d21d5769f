// rest_reaction.c: what holds motions at rest (rest.c): reactions, their tangents, and the projection onto the surfaces.
//
// Method: in each group of contacts that share states, multipliers lambda of the directions D of the contacts let the
//         functions change as wanted: G D lambda = -g at the level of positions or velocities, -d2g/dt2 for reactions
//         (Hairer and Wanner, Solving Ordinary Differential Equations II, section VII.2).
// Contract: rest_inner.h and run.h. Complexity: linear in the active contacts, cubic in those that share states.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/rest_inner.h"

enum { PROJECTIONS = 20 };

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
        rests_scatter(run, 2 * k + level, false);
        for (uint32_t j = 0; j < n; j++)
            rests->matrix[i * (size_t)n + j] = sign * rests_effect(rests, &rests->contact[rests->list[first + j]].along[level]);
        rests_scatter(run, 2 * k + level, true);
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
