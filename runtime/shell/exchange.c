// exchange.c: a run whose steps somebody else makes: points, derivatives, conditions, events.
//
// Purpose: model exchange. The model's loops are solved here, its conditions and modes are what they are between events; events are handled
// as in any other run.
// Method: trial points are evaluated with everything held. The end of a step is looked at like that of any other method: what was not seen
// to change in it, and states that have left closed contacts or invariants far, ask for an event, since states may be moved there only. What
// limits steps here (delays, functions of time that are looked at ahead) is an event there.
// Between events the rates lead the states back onto the invariants c(t, y) = 0 (Baumgarte, Comput. Methods Appl. Mech. Eng. 1 (1972) 1): y' = f(t, y) + d/T,
// where d is the shortest way there, which is 0 on them, so that solutions stay what they are. T is of the length of the importer's steps: what each of them
// leaves is gone after a few, however exact they are, and no explicit method becomes unstable.
// Contract: sim.h. Complexity: one evaluation per point; where constraints choose no states one factorisation of their matrix per point.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/memory/memory.h"
#include "runtime/model/float_control.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"
#include "runtime/shell/shell.h"
#include "runtime/solver/solver.h"
#include "runtime/step/step.h"

// By how much states may leave invariants: of the tolerance, and of what the first step behind an event has left. Rates lead back from less.
static const double FAR = 100;
static const double FORGETTING = 0.9; // per step
static const double LONGER = 2; // times the importer's steps: in which the rates would lead back
static const double SHORTEST = 0.01; // of an output interval: how long steps are at least that a delay limits
static const double SHORTEST_RISE = 1e-5; // of an output interval
enum { PASSES = 20 }; // of an event that leaves conditions violated

uint32_t
mdl_run_states(const mdl_run *r)
{
    const Run *run = (const Run *)r;
    return run->model->nx + run->modes;
}

uint32_t
mdl_run_indicators(const mdl_run *r)
{
    const Run *run = (const Run *)r;
    return root_count(run) + (run->model->n_drifts > 0) + delay_guards(run, NULL);
}

void
mdl_run_point(mdl_run *r, double time, const double *state)
{
    Run *run = run_of(r);
    run->outside->time = time;
    if (state)
        memcpy(run->outside->y, state, run_size(run) * sizeof *state);
}

const double *
mdl_run_state(const mdl_run *r)
{
    return ((const Run *)r)->outside->y;
}

void
mdl_run_move(mdl_run *r, uint32_t state, double value, bool event)
{
    Outside *o = run_of(r)->outside;
    o->y[state] = value;
    o->given = o->given || event;
}

// Before the point is evaluated, since it is looked at where it would be.
static void
find_way(Run *run)
{
    Outside *o = run->outside;
    if (o->projection && o->pull > 0)
        projection_way(run, o->projection, o->time, o->y, o->way);
}

int
mdl_run_evaluate(mdl_run *r, bool report)
{
    Run *run = run_of(r);
    Outside *o = run->outside;
    unsigned control = float_control();
    int status = o->saved ? snapshot_settle(run) : MDL_OK;
    if (o->saved)
        path_break(run);
    o->saved = o->shown = false;
    find_way(run);
    evaluate_load(run, o->time, o->y, o->yp);
    if (status == MDL_OK)
        status = evaluate_row(run, report);
    if (status == MDL_OK)
        evaluate_slopes(run, o->y, o->yp);
    for (uint32_t i = 0; status == MDL_OK && i < run_size(run); i++)
        if (!isfinite(o->yp[i]))
            status = MDL_FAILED;
    float_control_set(control);
    return status;
}

double
mdl_run_rate(const mdl_run *r, uint32_t state)
{
    const Run *run = (const Run *)r;
    const Outside *o = run->outside;
    bool led = o->projection && o->pull > 0 && state < run->model->nx;
    return o->yp[state] + (led ? o->pull * o->way[state] : 0);
}

void
mdl_run_rates(mdl_run *r, double *rate)
{
    const Run *run = run_of(r);
    Outside *o = run->outside;
    o->longest = fmax(o->longest, o->time - o->looked);
    o->looked = o->time;
    for (uint32_t i = 0; i < run_size(run); i++)
        rate[i] = mdl_run_rate(r, i);
}

int
mdl_run_led(mdl_run *r, const uint32_t *place, const double *rate, uint32_t places, double *answer)
{
    Run *run = run_of(r);
    const Outside *o = run->outside;
    memset(answer, 0, run->model->nx * sizeof *answer);
    if (!o || !o->projection || !(o->pull > 0))
        return MDL_OK;
    if (!projection_way_tangent(run, o->projection, o->time, o->y, place, rate, places, answer)) {
        run_message(run, MDL_ERROR, "out of memory");
        return MDL_INTERNAL;
    }
    for (uint32_t i = 0; i < run->model->nx; i++)
        answer[i] *= o->pull;
    return MDL_OK;
}

// The motion that terms are bounded along is that on the invariants: that the states are led back is no force.
static void
glimpse(Run *run, double *indicator, uint32_t n)
{
    Outside *o = run->outside;
    memcpy(o->dense, o->y, run_size(run) * sizeof(double));
    for (uint32_t i = 0; o->projection && o->pull > 0 && i < run->model->nx; i++)
        o->dense[i] += o->way[i];
    path_glimpse(run, o->time, o->dense, o->yp, indicator, n);
}

void
mdl_run_look(mdl_run *r, double *indicator)
{
    Run *run = run_of(r);
    uint32_t n = root_count(run);
    bool drifts = run->model->n_drifts > 0;
    if (run->outside && run->outside->shown)
        (void)!mdl_run_evaluate(r, false);
    root_functions(run, indicator);
    if (drifts)
        indicator[n] = 1;
    (void)delay_guards(run, indicator + n + drifts);
    if (run->outside)
        glimpse(run, indicator, n);
}

double
mdl_run_nominal(const mdl_run *r, uint32_t state)
{
    const Run *run = (const Run *)r;
    return state < run->model->nx ? fabs(run->v[run->model->nominal + state]) : fractional_nominal(run, state - run->model->nx);
}

double
mdl_run_exponential(const mdl_run *r, uint32_t k, bool rate)
{
    const Run *run = (const Run *)r;
    const Outside *o = run->outside;
    uint32_t at = run->ny + k;
    if (k >= run->modes) // another order takes fewer of them
        return 0;
    return rate ? (o ? o->yp : run->yp)[at] : (o ? o->y : run->y)[at];
}

// --- the end of a step

static void
keep_point(Run *run)
{
    size_t bytes = run_size(run) * sizeof(double);
    memcpy(run->outside->kept, run->y, bytes);
    memcpy(run->outside->kept_p, run->yp, bytes);
}

static void
return_point(Run *run)
{
    size_t bytes = run_size(run) * sizeof(double);
    memcpy(run->y, run->outside->kept, bytes);
    memcpy(run->yp, run->outside->kept_p, bytes);
}

// The time in which rates lead back, from how far apart points were in the last step. A short step, as one that an event cuts, says nothing of the next.
static void
choose_pull(Run *run)
{
    Outside *o = run->outside;
    if (!(o->longest > 0))
        return;
    double wanted = 1 / (LONGER * o->longest), most = o->pull > 0 ? 2 * o->pull : 1 / run->interval;
    if (wanted > most || wanted < o->pull / 2 || !(o->pull > 0))
        o->pull = fmin(wanted, most);
    o->longest = 0;
}

// Onto the invariants. How far that is, in units of the tolerance with which an importer has them.
MDL_CHECKED static int
project(Run *run, double *moved)
{
    Outside *o = run->outside;
    *moved = 0;
    if (!o->projection)
        return MDL_OK;
    memcpy(o->dense, run->y, run_size(run) * sizeof(double));
    if (!projection_apply(run, o->projection, run->time, o->dense))
        return projection_report(run);
    for (uint32_t i = 0; i < run->model->nx; i++)
        *moved = fmax(*moved, fabs(o->dense[i] - run->y[i]) / (run->tolerance * (fabs(run->y[i]) + mdl_run_nominal((const mdl_run *)run, i))));
    memcpy(run->y, o->dense, run->model->nx * sizeof(double));
    return MDL_OK;
}

// An event makes the importer's method begin anew, and its first steps of low order leave more than later ones: if they asked for an event there would
// be one behind each step, and all steps would be first ones. So what the first step has left is the measure, also of importers whose tolerance is not known.
static bool
is_far(const Outside *o, double moved)
{
    return moved > FAR * fmax(1, o->begun);
}

// Moves the states onto what they have left: invariants, contacts.
MDL_CHECKED static int
move_back(Run *run, bool *far)
{
    Outside *o = run->outside;
    double moved = 0;
    bool contact = false;
    int status = project(run, &moved);
    if (isnan(o->begun))
        o->begun = moved;
    run->strayed = fmax(moved, FORGETTING * run->strayed);
    if (status == MDL_OK && run->contacts)
        status = contact_drifted(run, &contact);
    *far = is_far(o, moved) || contact || (status == MDL_OK && run->rests && rest_drifted(run));
    return status;
}

// The same for the run's own point alone, from which its next step is looked at: what the importer integrates stays.
MDL_CHECKED static int
look_for_drift(Run *run)
{
    Outside *o = run->outside;
    if (!o->projection && !run->contacts && !run->rests)
        return MDL_OK;
    keep_point(run);
    int status = move_back(run, &o->drifted);
    o->shown = status == MDL_OK && o->projection;
    if (!o->shown)
        return_point(run);
    evaluate_load(run, run->time, run->y, run->yp);
    int evaluated = evaluate_row(run, status == MDL_OK);
    return status == MDL_OK ? evaluated : status;
}

MDL_CHECKED static int
record(Run *run, double before)
{
    const PartList *having = &run->having[HOOK_RECORD];
    int status = MDL_OK;
    for (uint32_t i = 0; i < having->n && status == MDL_OK; i++)
        status = having->part[i]->record(run, before, run->time);
    return status;
}

// At the accepted point, evaluated. What an importer has not seen is an event, too.
MDL_CHECKED static int
inspect(Run *run, bool *event)
{
    bool left = drift_accept(run);
    *event = root_violated(run) || left;
    int status = root_arm(run); // also beside the event of another condition: a flight that was over is not looked at again
    if (status == MDL_OK && !*event)
        status = friction_check(run);
    if (status == MDL_OK && !*event)
        disk_follow(run);
    if (status == MDL_OK && !*event && may_stop(run))
        status = evaluate_asserts(run);
    // A flight that was over within one step has come to rest.
    *event = *event || run->accumulated || locked_newly(run);
    return status;
}

int
mdl_run_accept(mdl_run *r, bool *event)
{
    Run *run = run_of(r);
    double before = run->time;
    *event = false;
    int status = mdl_run_evaluate(r, true);
    if (status != MDL_OK || run->outside->time < before)
        return status;
    outside_accept(run);
    choose_pull(run);
    status = inspect(run, event);
    if (status == MDL_OK)
        status = record(run, before);
    if (status == MDL_OK && !*event) {
        status = evaluate_at(run, run->time, true);
        if (status == MDL_OK)
            status = look_for_drift(run);
    }
    *event = *event || run->outside->drifted;
    return status;
}

// --- events

// Behind an event: conditions that are violated have no sign left that an importer could see change, and are pending.
MDL_CHECKED static int
look_behind(Run *run, bool *any)
{
    int status = evaluate_at(run, run->time, true);
    *any = false;
    if (status != MDL_OK)
        return status;
    root_take_behind(run, any);
    return MDL_OK;
}

// What makes the event, once violated conditions are pending.
typedef enum Cause { CAUSE_NONE, CAUSE_DELAY, CAUSE_OTHER } Cause;

// None: a step was to end there because a delay is short, or a flight. An event would be one more break in the history, which comes back.
static Cause
cause_of(Run *run, bool located)
{
    bool reaches = run->delays && delay_reaches(run, run->time);
    bool asked = run->having[HOOK_LIMIT].n || run->time >= run->outside->apex || reaches;
    bool other = located || run->outside->given || run->outside->drifted || run->accumulated || locked_newly(run) || !asked
              || run->outside->next <= run->time + 8 * DBL_EPSILON * fabs(run->time);
    return other ? CAUSE_OTHER : reaches ? CAUSE_DELAY : CAUSE_NONE;
}

int
mdl_run_settle(mdl_run *r, bool *moved)
{
    Run *run = run_of(r);
    Outside *o = run->outside;
    bool located = false, far, begun = o->time > run->time;
    double before = run->time;
    *moved = false;
    int status = mdl_run_evaluate(r, true);
    if (status != MDL_OK)
        return status;
    memcpy(o->dense, o->y, run_size(run) * sizeof(double));
    if (begun)
        outside_accept(run);
    memcpy(run->y, o->y, run_size(run) * sizeof(double));
    memcpy(run->yp, o->yp, run_size(run) * sizeof(double));
    keep_point(run);
    run->settled = run->time;
    if (begun)
        status = record(run, before);
    if (status == MDL_OK)
        status = evaluate_at(run, run->time, true);
    if (status != MDL_OK)
        return status;
    root_take(run, &located);
    Cause cause = cause_of(run, located);
    if (cause == CAUSE_NONE) {
        o->begun = NAN;
        return MDL_OK;
    }
    if (o->drifted)
        status = move_back(run, &far);
    else if (o->projection)
        (void)projection_between(run, o->projection, run->time, run->y);
    if (status == MDL_OK)
        status = evaluate_at(run, run->time, true);
    o->drifted = o->given = false;
    o->begun = NAN;
    if (status == MDL_OK)
        status = simulate_event(run, run->time, located, cause == CAUSE_OTHER);
    for (int pass = 0; pass < PASSES && status == MDL_OK; pass++) {
        status = look_behind(run, &located);
        if (status != MDL_OK || !located)
            break;
        status = simulate_event(run, run->time, true, true);
    }
    if (status != MDL_OK)
        return status;
    if (!located)
        root_show_behind(run);
    status = integrator_start(run);
    path_begin(run);
    *moved = memcmp(run->y, o->kept, run_size(run) * sizeof(double)) != 0;
    return status == MDL_OK ? evaluate_at(run, run->time, true) : status;
}

// A step that begins with a rebound and is longer than the flight would end below the surface with nothing to see: steps end in the middle of
// flights that are shorter than two output intervals. The last ones of many are too short for methods of importers.
static double
next_apex(Run *run)
{
    double in = fmin(contact_apex(run), rest_apex(run));
    return in < run->interval && in > SHORTEST_RISE * run->interval ? run->time + in : INFINITY;
}

double
mdl_run_next(mdl_run *r)
{
    Run *run = run_of(r);
    const PartList *having = &run->having[HOOK_LIMIT];
    if (run->ahead)
        ahead_look(run);
    double next = event_next_instant(run);
    if (run->outside) {
        run->outside->next = next;
        run->outside->apex = next_apex(run);
        next = fmin(fmin(next, run->outside->apex), drift_limit(run));
    }
    if (run->delays)
        next = fmin(next, delay_next_instant(run));
    // Steps shall end there; but an event is no step.
    for (uint32_t i = 0; i < having->n; i++)
        next = fmin(next, fmax(having->part[i]->limit(run), run->time + SHORTEST * run->interval));
    if (run->ahead)
        next = fmin(next, ahead_limit(run));
    return next;
}
