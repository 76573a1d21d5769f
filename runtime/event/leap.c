// leap.c: functions whose results jump where no event is.
//
// Purpose: an equation with such a call may be differentiated. The derivative of the statements says nothing of a jump, whose impulse
//          would be lost.
// Method: over each accepted step the change of a result must be the integral of its derivative, by Simpson's rule. Where it is not by more
//         than the tolerance the step is halved, and the halves are looked at in turn, until the rule holds or the part is as
//         short as rounding: then the result jumps there. Where states settle fast, as behind an event, their rates by the equations are not the slopes of what
//         is looked at, the method's polynomial: the derivative with these will do, too. What moves no state by its impulse is none of this. All else ends the run.
// Contract: part.h; v is put back. Complexity: one evaluation of the model per step that is short beside what the function does, and
//           nothing for models without such calls; a jump costs about a hundred.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"

static const double LEAST = 1e-7;    // of a result's size: a change that counts, at tolerances below
static const double ROUNDING = 1e-6; // tolerances: of a result that moves nothing it is rounding, as it will be again
enum { DEPTH = 64, LOOKS_MOST = 4096 };

typedef struct Look { // all results and their derivatives at one instant
    double time;
    double *value, *rate;
    double *along;       // derivatives with the states' slopes between steps in the place of their rates
} Look;

typedef struct Leaps {
    double *kept;        // nv: v
    double *slope;       // per state, where the look is made
    double *size;        // per leap: the largest magnitude of the result so far
    Look look[DEPTH + 1]; // a stack: the end of the step, and the ends of parts that come before the one below
    Look start;          // of the part at hand; then the latest point that was reached
    double *room;
    uint64_t events;     // until `start`
    bool known;          // `start` holds
} Leaps;

MDL_CHECKED static int
leap_create(Run *run)
{
    uint32_t n = run->model->n_leaps;
    if (!n)
        return MDL_OK;
    Leaps *leaps = run->leaps = calloc(1, sizeof *leaps);
    if (!leaps)
        return MDL_INTERNAL;
    leaps->kept = malloc((run->model->nv + (size_t)n + run->model->nx) * sizeof *leaps->kept);
    leaps->room = calloc((size_t)3 * n * (DEPTH + 2), sizeof *leaps->room); // of all looks
    if (!leaps->kept || !leaps->room)
        return MDL_INTERNAL;
    leaps->size = leaps->kept + run->model->nv;
    leaps->slope = leaps->size + n;
    memset(leaps->size, 0, n * sizeof *leaps->size);
    for (size_t i = 0; i < DEPTH + 2; i++) {
        Look *look = i <= DEPTH ? &leaps->look[i] : &leaps->start;
        look->value = leaps->room + 3 * n * i;
        look->rate = look->value + n;
        look->along = look->rate + n;
    }
    return MDL_OK;
}

static void
leap_free(Run *run)
{
    if (run->leaps) {
        free(run->leaps->kept);
        free(run->leaps->room);
    }
    free(run->leaps);
    run->leaps = NULL;
}

static bool
leap_present(const Run *run)
{
    return run->leaps != NULL;
}

MDL_CHECKED static int
look_at(Run *run, double time, Look *look)
{
    const mdl_model *model = run->model;
    double *rates = run->v + model->yp, *slope = run->leaps->slope;
    look->time = time;
    if (run->stepper->interpolate(run, time) != MDL_OK)
        return MDL_FAILED;
    memcpy(slope, rates, model->nx * sizeof *slope);
    if (evaluate_row(run, false) != MDL_OK)
        return MDL_FAILED;
    mdl_call(model->leaps, run->v);
    for (uint32_t k = 0; k < model->n_leaps; k++) {
        look->value[k] = run->v[model->leap[k].value];
        look->rate[k] = run->v[model->leap[k].rate];
        run->leaps->size[k] = fmax(run->leaps->size[k], fabs(look->value[k]));
    }
    memcpy(rates, slope, model->nx * sizeof *slope);
    mdl_call(model->leaps, run->v);
    for (uint32_t k = 0; k < model->n_leaps; k++)
        look->along[k] = run->v[model->leap[k].rate];
    return MDL_OK;
}

static double
least(const Run *run)
{
    return fmax(run->tolerance, LEAST);
}

// Of a derivative over a part: Simpson's rule, or the trapezoidal one.
static double
mean(double low, const double *middle, double high)
{
    return middle ? (low + 4 * *middle + high) / 6 : (low + high) / 2;
}

// The first result that has changed between two looks by more than its derivative says, with one in the middle (NULL: the
// trapezoidal rule); NONE: none has.
static uint32_t
changed(const Run *run, const Look *low, const Look *middle, const Look *high)
{
    double length = high->time - low->time;
    for (uint32_t k = 0; k < run->model->n_leaps; k++) {
        double change = high->value[k] - low->value[k], counts = least(run) * run->leaps->size[k];
        double left = change - length * mean(low->rate[k], middle ? &middle->rate[k] : NULL, high->rate[k]);
        if (fabs(left) > counts && fabs(change - length * mean(low->along[k], middle ? &middle->along[k] : NULL, high->along[k])) > counts)
            return k;
    }
    return UINT32_MAX;
}

MDL_CHECKED static int
refuse(const Run *run, uint32_t k, double time, double amount)
{
    const mdl_leap *leap = &run->model->leap[k];
    run_message(run, MDL_ERROR, "at time %.12g: this equation is differentiated, and what `%s` gives in it jumps by %.6g: branches of functions "
                "make no events, so that the impulse is not known; a condition in an equation of the model makes one:\n  %s",
                time, leap->function, amount, run->model->jump[leap->jump].text);
    return MDL_FAILED;
}

int
leap_judge(Run *run, uint32_t k, double amount, double size)
{
    uint32_t jump = run->model->leap[k].jump;
    bool reaches = fabs(amount) > run->tolerance;
    if (fabs(amount) <= least(run) * size)
        return MDL_OK;
    if (!run->model->jump[jump].again && jump_reaches(run, jump, amount, &reaches) != MDL_OK)
        return MDL_FAILED;
    return reaches ? refuse(run, k, run->v[0], amount) : MDL_OK;
}

// A result jumps between two looks that rounding keeps apart.
MDL_CHECKED static int
judge(Run *run, uint32_t k, const Look *low, const Look *high)
{
    uint32_t jump = run->model->leap[k].jump;
    double change = high->value[k] - low->value[k];
    bool reaches = fabs(change) > run->tolerance; // of what is differentiated twice, as in jump.c
    if (!run->model->jump[jump].again && evaluate_at(run, low->time, false) == MDL_OK
        && jump_reaches(run, jump, change, &reaches) != MDL_OK)
        return MDL_FAILED;
    if (!reaches && fabs(change) < ROUNDING * run->tolerance)
        run->leaps->size[k] = fmax(run->leaps->size[k], 8 * fabs(change) / least(run));
    return reaches ? refuse(run, k, high->time, change) : MDL_OK;
}

static bool
is_point(double low, double high)
{
    return high - low <= 4 * DBL_EPSILON * fmax(fabs(low), fabs(high));
}

static void
copy_look(const Run *run, const Look *from, Look *to)
{
    to->time = from->time;
    memcpy(to->value, from->value, run->model->n_leaps * sizeof *to->value);
    memcpy(to->rate, from->rate, run->model->n_leaps * sizeof *to->rate);
    memcpy(to->along, from->along, run->model->n_leaps * sizeof *to->along);
}

// From `start` to the end of the step, which lies at the bottom of the stack. *known: the equations could be solved wherever it looked.
MDL_CHECKED static int
walk(Run *run, bool *known)
{
    Leaps *leaps = run->leaps;
    Look *low = &leaps->start;
    uint32_t top = 0, looks = 0, k;
    int status = MDL_OK;
    for (;;) {
        Look *high = &leaps->look[top];
        bool differs = (k = changed(run, low, NULL, high)) != UINT32_MAX, point = is_point(low->time, high->time);
        if (differs && !point && top < DEPTH && looks++ < LOOKS_MOST) {
            Look *middle = &leaps->look[top + 1];
            *known = look_at(run, low->time + (high->time - low->time) / 2, middle) == MDL_OK;
            if (!*known)
                return MDL_OK;
            if (changed(run, low, middle, high) != UINT32_MAX) {
                top++;
                continue;
            }
        } else if (differs && point) {
            status = judge(run, k, low, high);
        }
        copy_look(run, high, low);
        if (status != MDL_OK || !top--)
            return status;
    }
}

MDL_CHECKED static int
leap_record(Run *run, double before, double instant)
{
    Leaps *leaps = run->leaps;
    memcpy(leaps->kept, run->v, run->model->nv * sizeof *run->v);
    bool known = leaps->known && leaps->start.time == before && leaps->events == run->stats->events;
    known = known || look_at(run, before, &leaps->start) == MDL_OK;
    known = known && look_at(run, instant, &leaps->look[0]) == MDL_OK;
    int status = known ? walk(run, &known) : MDL_OK;
    leaps->known = known;
    leaps->events = run->stats->events;
    memcpy(run->v, leaps->kept, run->model->nv * sizeof *run->v);
    return status;
}

// Looks are made anew.
static void
leap_settle(Run *run)
{
    run->leaps->known = false;
}

static void
leap_snapshot(Run *run, Snapshot *snapshot)
{
    snapshot_part(snapshot, run->leaps->size, run->model->n_leaps * sizeof *run->leaps->size);
}

const RunPart leap_part = {
    .name = "leap", .create = leap_create, .free = leap_free, .present = leap_present, .record = leap_record, .settle = leap_settle,
    .snapshot = leap_snapshot,
};
