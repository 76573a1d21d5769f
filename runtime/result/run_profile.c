// run_profile.c: why a run takes as long as it does: steps by length and order, what limits them, which conditions make events,
// where the time goes.
//
// Purpose: the figures of profile_report.c, at a cost that does not change them.
// Method: after each accepted step the integrator is asked for its order and for its error estimate per unknown; the
// largest one limited the step. Times are differences of the processor's time stamps, whose rate is measured over the whole
// run: a stamp costs some nanoseconds, so that even short sections can be told apart. What an explicit method could miss is
// measured by the power method on differences of the right side (Hairer and Wanner, Solving ODEs II, IV.2), at steps
// 16, 32, 64, ...
// Contract: profile.h; v is what it was after every call. Complexity: O(unknowns) per step; nothing when nobody asked.
#include "runtime/point/point.h"
#include "runtime/point/profile.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { POWER_ROUNDS = 6, FIRST_PROBE = 16 };

mdl_profile *
mdl_profile_create(const mdl_model *model)
{
    mdl_profile *p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    size_t n = model->n;
    p->model = model;
    p->n_conditions = model->n_relations + model->n_time_relations + model->n_sgns;
    p->unknown = calloc(n + 1, sizeof *p->unknown);
    p->error = calloc(4 * (n + 1), sizeof *p->error);
    p->condition = calloc((size_t)p->n_conditions + 1, sizeof *p->condition);
    p->held = calloc((size_t)p->n_conditions + 1, sizeof *p->held);
    p->sample = calloc((size_t)model->n_samples + 1, sizeof *p->sample);
    p->section = calloc((size_t)model->n_dynamics + 1, sizeof *p->section);
    if (!p->unknown || !p->error || !p->condition || !p->held || !p->sample || !p->section) {
        mdl_profile_free(&p);
        return NULL;
    }
    p->previous = p->error + n + 1;
    p->weight = p->previous + n + 1;
    p->trial = p->weight + n + 1;
    return p;
}

void
mdl_profile_free(mdl_profile **profile)
{
    mdl_profile *p = *profile;
    if (!p)
        return;
    free(p->unknown);
    free(p->error);
    free(p->condition);
    free(p->held);
    free(p->sample);
    free(p->section);
    free(p);
    *profile = NULL;
}

void
profile_begin(Run *run)
{
    mdl_profile *p = run->options->profile;
    run->profile = p;
    if (!p)
        return;
    p->shortest = INFINITY;
    // Few rows do not make changes quick: a usual number of them is 500.
    p->soon = fmin(run->interval, (run->options->stop - run->options->start) / 500);
    for (uint32_t i = 0; i < run->ny; i++) {
        p->previous[i] = p->unknown[i].low = p->unknown[i].high = run->y[i];
        p->unknown[i].least_step = INFINITY;
    }
    p->began_at = clock_seconds();
    p->compiling_seen = run->options->compiling ? *run->options->compiling : 0;
    p->began = p->since = profile_ticks();
    p->phase = PHASE_INTEGRATOR;
}

void
profile_end(Run *run)
{
    mdl_profile *p = run->profile;
    if (!p)
        return;
    uint64_t now = profile_now(run), raw = now + p->compiling;
    p->ticks[p->phase] += now - p->since;
    p->since = now;
    p->seconds_per_tick = raw > p->began ? (clock_seconds() - p->began_at) / (double)(raw - p->began) : 0;
    run->profile = NULL;
}

// --- steps

static void
count_length(mdl_profile *p, double time, double length)
{
    if (!(length > 0))
        return;
    int decade = (int)floor(log10(length)) - PROFILE_FIRST_DECADE;
    p->decade[decade < 0 ? 0 : decade >= PROFILE_DECADES ? PROFILE_DECADES - 1 : decade]++;
    p->longest = fmax(p->longest, length);
    if (length < p->shortest) {
        p->shortest = length;
        p->shortest_at = time;
    }
}

static void
count_judgement(Run *run, double length)
{
    mdl_profile *p = run->profile;
    int order = run->stepper->judge ? run->stepper->judge(run, p->error) : -1;
    uint32_t worst = UINT32_MAX;
    double most = 0;
    if (order >= 0)
        p->order[order < PROFILE_ORDERS ? order : PROFILE_ORDERS - 1]++;
    for (uint32_t i = 0; order >= 0 && i < run->ny; i++)
        if (fabs(p->error[i]) > most) {
            most = fabs(p->error[i]);
            worst = i;
        }
    if (worst == UINT32_MAX)
        return;
    p->judged++;
    p->unknown[worst].limits++;
    p->unknown[worst].least_step = fmin(p->unknown[worst].least_step, length);
}

static void
follow_unknowns(const Run *run, const double *y)
{
    mdl_profile *p = run->profile;
    for (uint32_t i = 0; i < run->ny; i++) {
        ProfiledUnknown *at = &p->unknown[i];
        at->path += fabs(y[i] - p->previous[i]);
        at->low = fmin(at->low, y[i]);
        at->high = fmax(at->high, y[i]);
        p->previous[i] = y[i];
    }
}

static double
weighted_length(const mdl_profile *p, const double *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * p->weight[i] * x[i] * p->weight[i];
    return sqrt(sum);
}

// The largest |eigenvalue| of df/dy at the last accepted point, by differences along a direction that f itself turns.
static double
fastest_rate(Run *run)
{
    mdl_profile *p = run->profile;
    const mdl_model *model = run->model;
    uint32_t nx = model->nx;
    double *direction = p->error, *v = run->v, rate = 0;
    for (uint32_t i = 0; i < nx; i++) {
        p->weight[i] = 1 / (run->tolerance * fabs(run->y[i]) + run->abstol[i]);
        direction[i] = (i % 2 ? 1 : -1) / p->weight[i];
    }
    for (int round = 0; round < POWER_ROUNDS; round++) {
        double size = weighted_length(p, direction, nx);
        if (!(size > 0) || !isfinite(size))
            break;
        evaluate_load(run, run->time, run->y, run->yp);
        for (uint32_t i = 0; i < nx; i++)
            v[model->y + i] = run->y[i] + direction[i] / size;
        if (evaluate_solved(run, false) != MDL_OK)
            break;
        for (uint32_t i = 0; i < nx; i++)
            direction[i] = v[model->yp + i] - run->yp[i];
        rate = weighted_length(p, direction, nx);
    }
    return isfinite(rate) ? rate : 0;
}

MDL_CHECKED static int
probe_stiffness(Run *run, double length)
{
    mdl_profile *p = run->profile;
    uint64_t steps = run->stats->steps;
    if (!run->stepper->is_explicit || run->modes || steps < FIRST_PROBE || (steps & (steps - 1)))
        return MDL_OK;
    double rate = fastest_rate(run);
    p->rate = fmax(p->rate, rate);
    p->stiffness_sum += length * rate;
    p->stiffness_probes++;
    evaluate_load(run, run->time, run->y, run->yp);
    return evaluate_row(run, true);
}

int
profile_step(Run *run, double before, double instant, bool located)
{
    mdl_profile *p = run->profile;
    if (!p)
        return MDL_OK;
    count_length(p, before, instant - before);
    count_judgement(run, run->time - before);
    // With an event the step ends where profile_before_event() is called.
    if (located)
        return MDL_OK;
    follow_unknowns(run, run->y);
    return probe_stiffness(run, run->time - before);
}

// --- events

static double
condition_value(const Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    if (k < model->n_relations)
        return run->v[model->relation[k].value];
    k -= model->n_relations;
    if (k < model->n_time_relations)
        return run->v[model->time_relation[k].value];
    return run->v[model->sgn[k - model->n_time_relations].mode];
}

void
profile_before_event(Run *run)
{
    mdl_profile *p = run->profile;
    if (!p)
        return;
    follow_unknowns(run, run->v + run->model->y);
    for (uint32_t k = 0; k < p->n_conditions; k++)
        p->held[k] = condition_value(run, k);
    for (uint32_t k = 0; k < run->model->n_samples; k++)
        p->sample[k] -= run->sample_index[k];
}

static void
count_change(ProfiledCondition *at, double time, double soon)
{
    at->burst = at->changes && time - at->last <= soon ? at->burst + 1 : 0;
    if (at->burst > at->longest) {
        at->longest = at->burst;
        at->longest_at = time;
    }
    at->last = time;
    at->changes++;
}

void
profile_after_event(Run *run)
{
    mdl_profile *p = run->profile;
    for (uint32_t k = 0; p && k < p->n_conditions; k++)
        if (condition_value(run, k) != p->held[k])
            count_change(&p->condition[k], run->time, p->soon);
    for (uint32_t k = 0; p && k < run->model->n_samples; k++)
        p->sample[k] += run->sample_index[k];
    // What the event has moved is no way that a step went.
    for (uint32_t i = 0; p && i < run->ny; i++)
        p->previous[i] = run->y[i];
}
