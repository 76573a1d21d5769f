// ahead_glimpse.c: terms of the equations of motion that a function with an algorithm computes, ahead of the integration.
//
// Purpose: such a function has no operations that could be bounded over an interval; its push may come and go between two steps all the same.
// Method: values are taken ahead, a ten-thousandth of the run apart, along the present slopes of the states; differences say how much a term
//         varies and bends, as ahead_pace.c has it from bounds. A jump, found by halving, comes and does not go: it is taken out.
// Contract: what comes and goes between two values is not seen. v is as before. Without memory for a copy of v nothing is bounded.
// Complexity: one call of the model's function for each value; GLIMPSES of them at a time, and 30 for a jump.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/ahead_inner.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

static const double RESOLVED = 16;         // a change that is so many times as long as values taken ahead are apart is known by them

// Values are taken so far apart: what comes and goes between two of them is not seen.
double
glimpse_distance(const Run *run)
{
    return 1e-4 * (run->options->stop - run->options->start);
}

// v as it was, from the unknowns on: no function of the equations changes what stands before them, such as the rows of tables, but the time.
typedef struct Kept {
    double time, *unknowns;
} Kept;

static size_t
kept_size(const mdl_model *model)
{
    return (model->nv - model->y) * sizeof(double);
}

// False without memory.
static bool
keep(const Run *run, Kept *kept)
{
    *kept = (Kept){run->v[0], malloc(kept_size(run->model))};
    if (kept->unknowns)
        memcpy(kept->unknowns, run->v + run->model->y, kept_size(run->model));
    return kept->unknowns;
}

static void
give_back(Run *run, Kept *kept)
{
    run->v[0] = kept->time;
    memcpy(run->v + run->model->y, kept->unknowns, kept_size(run->model));
    free(kept->unknowns);
}

// Their values at one instant: v[0], states along their slopes, and places that the equations compute anew change.
static void
glimpse_at(Run *run, const Kept *kept, double time)
{
    const mdl_model *model = run->model;
    const double *slope = kept->unknowns + (model->dx - model->y);
    run->v[0] = fmin(time, run->options->stop);
    for (uint32_t i = 0; i < model->nx; i++)
        run->v[model->y + i] = kept->unknowns[i] + slope[i] * (run->v[0] - kept->time);
    run->evaluations++;
    mdl_call(run->model->glimpses, run->v);
}

static double *
glimpses_of(const Run *run, uint32_t k)
{
    return run->ahead->glimpse + (size_t)k * (GLIMPSES + 1);
}

static double *
levels_of(const Run *run, uint32_t k)
{
    return run->ahead->level + (size_t)k * (GLIMPSES + 1);
}

// By how much the value of a term jumps between the glimpses i and i + 1, where it changes by far more than beside them: the half with more of the
// change is cut in half again. 0: it does not jump.
static double
jump_seen(Run *run, const Kept *kept, uint32_t k, uint32_t i)
{
    enum { HALVINGS = 30 };
    static const double BESIDE = 8, SUDDEN = 0.9; // of the changes beside it; part of the change that is left
    const double *value = glimpses_of(run, k);
    double before = i > 0 ? value[i] - value[i - 1] : 0, behind = i + 2 <= GLIMPSES ? value[i + 2] - value[i + 1] : 0;
    double all = value[i + 1] - value[i], low = value[i], high = value[i + 1], from = run->ahead->seen + i * glimpse_distance(run), to = from + glimpse_distance(run);
    if (!(fabs(all) > BESIDE * fmax(fabs(before), fabs(behind))) || !(fabs(all) > SAME * (fabs(low) + fabs(high))))
        return 0;
    for (uint32_t halving = 0; halving < HALVINGS && fabs(high - low) > SUDDEN * fabs(all); halving++) {
        double half = from + (to - from) / 2;
        glimpse_at(run, kept, half);
        double now = run->v[run->model->forecast[k].place];
        bool first = fabs(now - low) > fabs(high - now);
        high = first ? now : high;
        to = first ? half : to;
        low = first ? low : now;
        from = first ? from : half;
    }
    return fabs(high - low) > SUDDEN * fabs(all) ? high - low : 0;
}

// A jump comes and does not go: shorter steps show no more of it.
static void
find_jumps(Run *run, const Kept *kept, uint32_t k)
{
    double *level = levels_of(run, k);
    level[0] = 0;
    for (uint32_t i = 0; i < GLIMPSES; i++)
        level[i + 1] = level[i] + jump_seen(run, kept, k, i);
}

static void
take_glimpses(Run *run, double from)
{
    const mdl_model *model = run->model;
    Kept kept;
    if (!keep(run, &kept))
        return;
    for (uint32_t i = 0; i <= GLIMPSES; i++) {
        glimpse_at(run, &kept, from + i * glimpse_distance(run));
        for (uint32_t k = 0; k < model->n_forecasts; k++)
            if (model->forecast[k].place)
                glimpses_of(run, k)[i] = run->v[model->forecast[k].place];
    }
    run->ahead->seen = from;
    run->ahead->taken = true;
    for (uint32_t k = 0; k < model->n_forecasts; k++)
        if (model->forecast[k].place)
            find_jumps(run, &kept, k);
    failure_clear(run);
    give_back(run, &kept);
}

// Behind an event: some of the values are others now.
bool
glimpse_changed(Run *run)
{
    const mdl_model *model = run->model;
    Ahead *ahead = run->ahead;
    bool changed = false;
    Kept kept;
    if (!ahead->taken || !keep(run, &kept))
        return false;
    for (uint32_t i = 0; i <= GLIMPSES; i += GLIMPSES / 2) {
        glimpse_at(run, &kept, ahead->seen + i * glimpse_distance(run));
        for (uint32_t k = 0; k < model->n_forecasts; k++)
            if (model->forecast[k].place) {
                double before = glimpses_of(run, k)[i], now = run->v[model->forecast[k].place];
                changed = changed || fabs(now - before) > SAME * (fabs(now) + fabs(before));
            }
    }
    failure_clear(run);
    give_back(run, &kept);
    ahead->taken = ahead->taken && !changed;
    ahead->seen = changed ? NAN : ahead->seen;
    return changed;
}

// How long steps may be from `from` on, within a stretch of the given length, for a term without operations: as pace_of(), by differences.
double
glimpse_pace(Run *run, uint32_t k, double from, double length)
{
    Ahead *ahead = run->ahead;
    double h = glimpse_distance(run), least = INFINITY, most = -INFINITY, bend = 0;
    if (!ahead->taken && isfinite(ahead->seen)) // of a run that was restored
        take_glimpses(run, ahead->seen);
    if (!ahead->taken || !(from >= ahead->seen && from + length <= ahead->seen + (GLIMPSES - 1) * h))
        take_glimpses(run, from);
    if (!ahead->taken)
        return INFINITY;
    const double *value = glimpses_of(run, k), *level = levels_of(run, k);
    uint32_t first = (uint32_t)((from - ahead->seen) / h), last = (uint32_t)ceil((from + length - ahead->seen) / h);
    for (uint32_t i = first; i <= last && i <= GLIMPSES; i++) {
        uint32_t left = i > 0 ? i - 1 : 0, right = i < GLIMPSES ? i + 1 : GLIMPSES;
        double before = value[left] - level[left], now = value[i] - level[i], behind = value[right] - level[right];
        double turn = i > 0 && i < GLIMPSES ? fabs(behind - 2 * now + before) : 0, rounding = 8 * DBL_EPSILON * (fabs(before) + fabs(now) + fabs(behind));
        least = fmin(least, fmin(before, fmin(now, behind)));
        most = fmax(most, fmax(before, fmax(now, behind)));
        bend = fmax(bend, turn > rounding ? turn / (h * h) : 0);
    }
    double nothing = fmax(NOTHING * run->tolerance * fmax(fabs(least), fabs(most)), UNDERFLOW_SIZE);
    if (bend == 0 || !isfinite(most - least))
        return INFINITY;
    double pace = (run->solver == MDL_SOLVER_GAUSS ? 1 : 4) * sqrt(fmax(most - least, nothing) / bend);
    return pace < RESOLVED * h && most - least > nothing ? fmin(pace, h / 2) : pace; // between two values it may bend more
}
