// limit.c: relations that make themselves false: `if x > a then x = a else x = u`.
//
// Purpose: where u > a such a model has no solution. With x = a the relation is false, with x = u it is true; what is meant is its limit, x = a. There it
// is held, which is told, but not for longer than that: as soon as u is back below a there is a solution again.
// Method: the closure of a relation at its boundary. A relation is held with a value that it does not have where its function is zero at the point and
// beside it, and where its other value contradicts itself as well. While it is held its root function is that of the other value: what its own function
// is when the model is solved with that. Where this stops contradicting it, an event gives the relation its other value.
// Contract: event.h. Other relations, and laws, are as they are at the point. Complexity: nothing where no relation is zero with the wrong value;
// otherwise two evaluations of the model for each of them, at events and at each look.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/memory/memory.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

static const double ZERO = 1e-12; // of the largest size seen: what counts as zero
static const double MOVED = 1e-6; // by so much states are moved, of themselves or of their nominal values

static bool
is_wrong(const Run *run, uint32_t k)
{
    const mdl_relation *relation = &run->model->relation[k];
    return (run->v[relation->next] != 0) != (run->v[relation->value] != 0);
}

bool
limit_reached(const Run *run, uint32_t k)
{
    return fabs(run->v[run->model->relation[k].g]) <= ZERO * run->guard[k].size;
}

static double *
keep_point(const Run *run)
{
    size_t bytes = run->model->nv * sizeof *run->v;
    double *kept = malloc(bytes);
    if (kept)
        memcpy(kept, run->v, bytes);
    return kept;
}

static void
restore_point(Run *run, double *kept)
{
    memcpy(run->v, kept, run->model->nv * sizeof *run->v);
    free(kept);
}

// The model with the other value of relation k, at the point in v, which is as before. False: it cannot be solved. *size: of the relation's function
// there; *agrees: the relation has that value there.
static bool
solve_other(Run *run, uint32_t k, double *size, bool *agrees)
{
    enum { PASSES = 2 }; // discrete variables follow from the solution, and it from them
    const mdl_model *model = run->model;
    const mdl_relation *relation = &model->relation[k];
    double *v = run->v, *kept = keep_point(run), other = v[relation->value] == 0;
    bool solved = true;
    if (!kept)
        return false;
    v[relation->value] = other;
    for (uint32_t pass = 0; pass < PASSES && solved; pass++) {
        mdl_call(model->discretes, v);
        solved = evaluate_relations(run) == MDL_OK;
    }
    *size = fabs(v[relation->g]);
    *agrees = (v[relation->next] != 0) == (other != 0);
    restore_point(run, kept);
    return solved;
}

double
limit_function(Run *run, uint32_t k)
{
    double size;
    bool agrees;
    if (!solve_other(run, k, &size, &agrees))
        return 1;
    if (!agrees)
        return size;
    return size <= ZERO * run->guard[k].size ? DBL_MIN : -size; // nothing takes it off its limit yet
}

bool
limit_is_zero(Run *run, uint32_t k)
{
    double size;
    bool agrees;
    return solve_other(run, k, &size, &agrees) && size == 0;
}

// Its function is zero beside the point, too: it follows from the equations and not from where the states are.
static bool
lasts(Run *run, uint32_t k)
{
    enum { TRIALS = 2 };
    const mdl_model *model = run->model;
    double *v = run->v, *kept = keep_point(run);
    bool zero = true;
    if (!kept)
        return false;
    for (uint32_t trial = 0; trial < TRIALS && zero; trial++) {
        memcpy(v, kept, model->nv * sizeof *v);
        v[0] += (trial ? -MOVED : MOVED) * run->interval;
        for (uint32_t i = 0; i < model->nx; i++)
            v[model->y + i] += (sin(1.0 + 2.4 * i + 17.0 * trial) < 0 ? -MOVED : MOVED) * (fabs(v[model->nominal + i]) + fabs(v[model->y + i]));
        zero = evaluate_relations(run) == MDL_OK && limit_reached(run, k);
    }
    restore_point(run, kept);
    return zero;
}

// A little later along the derivatives its other value contradicts itself by more than rounding. (What is open in a loop of clearances does not.)
static bool
contradicts(Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    double *v = run->v, *kept = keep_point(run), later = root_short_time(run);
    if (!kept)
        return false;
    v[0] += later;
    for (uint32_t i = 0; i < model->nx; i++)
        v[model->y + i] += later * run->yp[i];
    fractional_extrapolate(run, later);
    bool contradicts = evaluate_relations(run) == MDL_OK && limit_function(run, k) > ZERO * run->guard[k].size;
    restore_point(run, kept);
    return contradicts;
}

// It has the value that it has where its function is zero: `v >= limit` is true at the limit, and wrong by rounding alone. From now on it does not see that.
static bool
is_rounding(Run *run, uint32_t k)
{
    const mdl_relation *relation = &run->model->relation[k];
    double noise = relation->zero == (run->v[relation->value] != 0) ? idle_rounding(run, k) : 0;
    if (noise > 0)
        root_widen(run, k, noise);
    return noise > 0;
}

static void
tell(Run *run, uint32_t k)
{
    Guard *guard = &run->guard[k];
    if (!guard->limit_told)
        run_message(run, MDL_WARNING, "at time %.6g: with either value of this condition the equations make it the other one, so that they have no solution: "
                    "what changes it is held at its limit until they have one again:\n  %s\nhelp: a limit of x is written x = min(u, a), not "
                    "`if x > a then x = a else x = u`", run->v[0], root_text(run, k));
    guard->limit_told = true;
}

void
limit_find(Run *run)
{
    run->limits = 0;
    for (uint32_t k = 0; k < run->model->n_relations; k++) {
        Guard *guard = &run->guard[k];
        bool held = is_wrong(run, k) && limit_reached(run, k) && !guard->vanished && !rest_keeps(run, k);
        guard->at_limit = held && limit_function(run, k) > 0 && !is_rounding(run, k) && (guard->at_limit || (lasts(run, k) && contradicts(run, k) && !idle_is(run, k)));
        run->limits += guard->at_limit;
        if (guard->at_limit)
            tell(run, k);
    }
}
