// advance.c: one step of a run, with the rows and the event that it brings.
//
// Purpose: what happens between two points at which a run could be stopped.
// Method: the integrator takes its own steps; output points are interpolated; after each accepted step the conditions
//         are looked at and, when one has flipped, located inside the step. Time events limit the step. At an event
//         there is one row with the old and one with the new discrete values.
// Contract: simulate.h, shell.h. Complexity: a few evaluations of the model, and columns per row.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/memory/memory.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/point/sense.h"
#include "runtime/result/result.h"
#include "runtime/shell/simulate.h"
#include "runtime/solver/solver.h"
#include "runtime/start/start.h"

// --- output points

static double
time_of_point(const Run *run, uint64_t k)
{
    double start = run->options->start, stop = run->options->stop;
    if (k > run->points)
        return INFINITY;
    if (run->options->instant)
        return run->options->instant[k - 1];
    double time = start + (double)k * run->interval;
    // The last point is the stop time itself when the interval divides the run.
    return k == run->points && fabs(time - stop) <= 1e-9 * run->interval ? stop : time;
}

static double
point_time(const Run *run)
{
    return time_of_point(run, run->next_point);
}

uint32_t
simulate_points(const Run *run, double until, double *point, uint32_t most)
{
    uint32_t n = 0;
    for (double time; n < most && (time = time_of_point(run, run->next_point + n)) <= until; n++)
        point[n] = time;
    return n;
}

MDL_CHECKED static int
write_point(Run *run, double point)
{
    const double *row = ensemble_row(run, point);
    if (row)
        return result_prepared(run, row);
    int status = evaluate_at(run, point, true);
    return status == MDL_OK ? result_row(run) : status;
}

// Rows at the output points up to `time`; a point exactly at an event is served by the event's rows.
MDL_CHECKED static int
write_points(Run *run, double time, bool event)
{
    double point;
    int status = MDL_OK;
    Phase before = profile_enter(run, PHASE_RESULTS);
    while (status == MDL_OK && (point = point_time(run)) <= time) {
        run->next_point++;
        if (event && point == time)
            break;
        status = write_point(run, point);
    }
    profile_leave(run, before);
    return status;
}

// The end of a step, when no row stands there yet.
MDL_CHECKED static int
write_step(Run *run)
{
    if (*run->options->final_time >= run->time)
        return MDL_OK;
    int status = evaluate_at(run, run->time, true);
    return status == MDL_OK ? result_row(run) : status;
}

// --- events

static void
remember_motion(Run *run)
{
    const mdl_model *model = run->model;
    memcpy(run->motion, run->v + model->y, model->n * sizeof *run->motion);
    memcpy(run->motion + model->n, run->v + model->yp, model->nx * sizeof *run->motion);
}

// The event has changed neither unknowns nor derivatives since remember_motion(): the equations of motion do not see it.
// Loops' unknowns were solved anew, to rounding.
static bool
motion_goes_on(const Run *run)
{
    const mdl_model *model = run->model;
    const double *y = run->v + model->y, *yp = run->v + model->yp, *old = run->motion;
    if (memcmp(y, old, model->nx * sizeof *y) != 0)
        return false;
    for (uint32_t i = model->nx; i < model->n; i++)
        if (!(fabs(y[i] - old[i]) <= 1e-4 * (run->tolerance * fabs(y[i]) + run->abstol[i])))
            return false;
    for (uint32_t i = 0; i < model->nx; i++)
        if (!(fabs(yp[i] - old[model->n + i]) <= 1e-13 * fabs(yp[i])))
            return false;
    return true;
}

// The values of relations and discrete variables, which `kept` has room for.
static void
remember_choices(const Run *run, double *kept)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < model->n_relations; i++)
        *kept++ = run->v[model->relation[i].value];
    for (uint32_t i = 0; i < model->n_time_relations; i++)
        *kept++ = run->v[model->time_relation[i].value];
    for (uint32_t i = 0; i < model->n_discretes; i++)
        *kept++ = run->v[model->discrete[i].value];
}

// Nothing but branches of abs, min and max has changed at the event, which are no events of the model.
static bool
is_quiet(const Run *run, const double *kept)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < model->n_relations; i++, kept++)
        if (!model->relation[i].quiet && *kept != run->v[model->relation[i].value])
            return false;
    for (uint32_t i = 0; i < model->n_time_relations; i++, kept++)
        if (*kept != run->v[model->time_relation[i].value])
            return false;
    for (uint32_t i = 0; i < model->n_discretes; i++, kept++)
        if (model->discrete[i].next && *kept != run->v[model->discrete[i].value])
            return false;
    return !memcmp(run->v + model->y, run->motion, model->nx * sizeof *run->motion);
}

// Laws choose, too. An output point at the instant is served by the event, and so is the end of a step that is asked for.
static bool
may_be_quiet(const Run *run, double instant, bool located)
{
    const mdl_model *model = run->model;
    bool any = false;
    for (uint32_t i = 0; located && !run->options->steps && !model->n_sgns && !run->rests && i < model->n_relations && !any; i++)
        any = model->relation[i].quiet;
    return any && !(run->fold > 0) && (run->next_point <= 1 || time_of_point(run, run->next_point - 1) != instant);
}

// Loops are locked behind this event, and were not before.
MDL_CHECKED static int
lock(Run *run)
{
    int status = integrator_renew(run);
    return status == MDL_OK ? integrator_start(run) : status;
}

// The left limit at `instant`. A condition has crossed just before it, and where a loop has no solution any more as long as the
// event has not changed it the last point before is as near as rounding.
MDL_CHECKED static int
evaluate_left_limit(Run *run, double instant, bool located)
{
    int status = evaluate_at(run, instant, !located && !(run->fold > 0));
    if (status == MDL_OK || (!located && !(run->fold > 0)))
        return status;
    if (run->fold > 0)
        return fold_reached(run);
    status = evaluate_at(run, run->settled, true);
    run->v[0] = instant;
    return status;
}

MDL_CHECKED static int process_event(Run *run, double instant, bool located, bool other);

// Behind an event at whose instant `time <= t1` was still true: where it ends.
MDL_CHECKED static int
end_behind(Run *run)
{
    int status = integrator_start(run);
    run->literal = false;
    if (status != MDL_OK || !simulate_goes_on(run))
        return status;
    run->time = event_just_after(run->time);
    return process_event(run, run->time, false, true);
}

// other: something else than a delayed event makes this one.
MDL_CHECKED static int
process_event(Run *run, double instant, bool located, bool other)
{
    run->stats->events++;
    *(located ? &run->stats->state_events : &run->stats->time_events) += 1;
    int status = evaluate_left_limit(run, instant, located);
    run->outdated = located;
    if (status == MDL_OK && instant != event_just_after(run->options->start)) // of that the first row is the left limit
        status = result_before_event(run);
    run->outdated = false;
    if (status != MDL_OK)
        return status;
    audit_before_event(run);
    ahead_mark(run, instant);
    bool split = event_is_split(run, located || run->fold > 0 || event_samples_due(run, instant) || ahead_next_instant(run) <= instant);
    if (run->sense)
        status = sense_before_event(run);
    // At the end of a step the method's history is that of the event; inside the step one has to be made.
    bool at_end = !located && instant == run->time;
    profile_before_event(run);
    remember_motion(run);
    bool quiet = may_be_quiet(run, instant, located);
    if (quiet)
        remember_choices(run, run->choices);
    bool of_delay = delay_due(run, instant) && !other;
    run->time = instant;
    run->starts_anew = false;
    fractional_note(run);
    bool jumps = run->fold > 0;
    if (status == MDL_OK && jumps)
        status = fold_jump(run);
    if (status == MDL_OK)
        status = event_iterate(run, false);
    if (status == MDL_OK && fractional_jump(run))
        status = event_iterate(run, false);
    if (status == MDL_OK)
        status = event_progress(run);
    if (status == MDL_OK)
        status = delay_event(run, of_delay);
    if (status == MDL_OK && transport_event(run))
        status = event_iterate(run, false);
    bool was_locked = run->locked;
    if (status == MDL_OK)
        status = locked_review(run);
    if (status == MDL_OK && run->sense)
        status = sense_after_event(run);
    if (status == MDL_OK && run->sense)
        status = sense_remember(run);
    if (status == MDL_OK)
        audit_after_event(run);
    if (status == MDL_OK)
        status = result_behind_event(run, quiet && !jumps && is_quiet(run, run->choices));
    profile_after_event(run);
    if (status == MDL_OK && may_stop(run))
        status = evaluate_asserts(run);
    if (status != MDL_OK)
        return status;
    bool goes_on = !jumps && !run->delays && !run->transports && !run->sense && motion_goes_on(run);
    status = root_blind(run);
    if (status != MDL_OK)
        return status;
    if (run->locked && !was_locked)
        return lock(run);
    if (split)
        return end_behind(run);
    if (goes_on && at_end)
        return MDL_OK;
    return goes_on ? integrator_resume(run) : integrator_start(run);
}

int
simulate_event(Run *run, double instant, bool located, bool other)
{
    Phase before = profile_enter(run, PHASE_EVENTS);
    int status = process_event(run, instant, located, other);
    if (run->ensemble)
        ensemble_forget(run); // also where the steps go on: what changes at events has
    profile_leave(run, before);
    return status;
}

// The event waits for whoever drives the run; v is at its left limit.
MDL_CHECKED static int
hold_event(Run *run, double instant, bool located, bool other)
{
    run->held = (HeldEvent){true, located, other, instant};
    return evaluate_left_limit(run, instant, located);
}

// --- conditions within a step

MDL_CHECKED static int
evaluate_accepted(Run *run, bool report)
{
    if (run->causal)
        return evaluate_row_reached(run, report);
    evaluate_load(run, run->time, run->y, run->yp);
    evaluate_plain(run);
    friction_clamp(run);
    int status = friction_share(run, report);
    if (status != MDL_OK)
        return status;
    rest_apply(run);
    return evaluate_finish(run, report);
}

// What conditions read within the last step, silently.
MDL_CHECKED static int
evaluate_conditions(Run *run, double time)
{
    return time < run->time || condition_alone(run) ? condition_evaluate(run, time) : evaluate_accepted(run, false);
}

// Conditions may have come close to zero, and have left again, before the look at `time`, whose values are there.
MDL_CHECKED static int
find_dip(Run *run, double time, double *instant, bool *found)
{
    int status = root_dipped(run, instant, found);
    if (status != MDL_OK || *found)
        return status;
    // The values before were solved for.
    if (evaluate_conditions(run, time) != MDL_OK)
        return evaluate_at(run, time, true);
    (void)root_violated(run);
    return MDL_OK;
}

// One look at the conditions, *last being the last point without violation, and `time` from then on. *found when there was an event between. An
// `extra` look, which the length of the step does not ask for, says nothing where it shows no more than errors of the states.
MDL_CHECKED static int
find_between(Run *run, double before, double *last, double time, bool extra, double *instant, bool *found)
{
    bool lost = evaluate_conditions(run, time) != MDL_OK;
    double low = *last;
    *found = false;
    bool violated = lost || root_violated(run);
    if (violated && extra && !lost && root_uncertain(run))
        return MDL_OK;
    *last = time;
    // What has flipped, and is not back, may have hidden another one that is.
    bool hidden = violated && !lost && root_suspect(run, before);
    int status = hidden ? find_dip(run, time, instant, found) : MDL_OK;
    if (status != MDL_OK || *found)
        return status;
    bool seen = violated && !lost;
    violated = violated || vanish_found(run, low);
    status = violated ? root_locate(run, low, time, instant, found) : MDL_OK;
    if (status != MDL_OK || *found)
        return status;
    if (lost) // it was found again, from where the location has begun
        status = evaluate_row(run, true);
    if (status == MDL_OK && run->rests && root_must_return(run)) {
        status = root_returned(run, low, time, instant, found);
        if (status != MDL_OK || *found)
            return status;
        // The values before were solved for.
        status = evaluate_conditions(run, time) == MDL_OK ? MDL_OK : evaluate_at(run, time, true);
        (void)root_violated(run);
    }
    return status == MDL_OK && !seen && root_suspect(run, before) ? find_dip(run, time, instant, found) : status;
}

// Conditions on the last step from `before` on, at `parts` points of it and `denser` times as many looks, and where they have come close to zero and
// left again. With `wary` no further than to the first surprise.
MDL_CHECKED static int
look_along(Run *run, double before, uint32_t parts, uint32_t denser, bool wary, double *instant, bool *located)
{
    double length = run->time - before, low = before;
    uint32_t looks = parts * denser;
    run->sightings.extra = denser > 1;
    for (uint32_t k = 1; k <= looks && !*located && !(wary && run->sightings.surprised); k++) {
        double time = k < looks ? before + length * k / looks : run->time;
        double reached = low;
        bool extra = k % denser != 0;
        int status = find_between(run, before, &low, time, extra, &reached, located);
        if (status != MDL_OK || *located)
            *instant = reached;
        // A condition that must have flipped twice before this is an event of its own. It may be on its way back between two parts.
        if (status == MDL_OK && !extra)
            status = root_arm(run);
        if (status != MDL_OK)
            return status;
        if (run->accumulated) {
            *located = true;
            *instant = before;
        }
    }
    return MDL_OK;
}

// A long step is looked at in between. So is one in which a condition's function turned out to change faster than the looks follow; steps like
// that have more looks from then on, half as many when a while has brought no surprise.
MDL_CHECKED static int
find_event(Run *run, double before, double *instant, bool *located)
{
    enum { DENSEST = 64, CALM = 20, BEHIND_EVENT = 4 };
    Sightings *sightings = &run->sightings;
    double span = run->options->stop - run->options->start;
    double most = fmin(run->interval, span / 500), length = run->time - before;
    uint32_t parts = most > 0 && length > most ? (uint32_t)fmin(ceil(length / most), 1e6) : 1;
    int status;
    // A step right behind an event: nothing is known yet of functions that are not as smooth as the states, nor of any within a first step that is not short.
    bool known = run->model->jac_relations.rows > 0 && run_is_multistep(run);
    uint32_t first = sightings->count < 3 && parts < BEHIND_EVENT && !known ? BEHIND_EVENT : 1;
    sightings->density = sightings->density ? sightings->density : 1;
    if (sightings->count == 0 && !known) // what a first step that is not short begins with is the first look
        root_look_again(run, before);
    for (;;) {
        bool wary = sightings->density < DENSEST;
        sightings->surprised = false;
        status = look_along(run, before, parts, first * sightings->density, wary, instant, located);
        if (status != MDL_OK)
            return status;
        if (*located || !sightings->surprised || !wary)
            break;
        sightings->density *= 2;
        root_look_again(run, before);
    }
    if (!*located)
        status = course_look(run, before, instant, located);
    if (status != MDL_OK)
        return status;
    sightings->calm = sightings->surprised ? 0 : sightings->calm + 1;
    if (sightings->calm >= CALM && sightings->density > 1) {
        sightings->density /= 2;
        sightings->calm = 0;
    }
    return MDL_OK;
}

MDL_CHECKED static int
inspect_conditions(Run *run, double before, double *instant, bool *located)
{
    int status = find_event(run, before, instant, located);
    if (status == MDL_OK && !*located)
        status = friction_check(run);
    if (status == MDL_OK && !*located) {
        disk_follow(run);
        condition_learn(run);
    }
    return status;
}

// Silently: the model has values at this time within the last step, and its assertions hold.
MDL_CHECKED static bool
is_right_at(Run *run, double time)
{
    bool right = (time < run->time ? evaluate_at(run, time, false) : evaluate_accepted(run, false)) == MDL_OK && evaluate_holds(run);
    if (!right)
        failure_clear(run);
    return right;
}

// Something is wrong at the end of the step: it is told where it begins to be, up to which rows are right, however long the step is.
MDL_CHECKED static int
report_wrong(Run *run, double before, double *instant)
{
    double low = before, high = run->time, row = point_time(run), finest = 4 * DBL_EPSILON * fmax(fabs(low), fabs(high));
    while (run->interval > 0 && row < high && is_right_at(run, row)) {
        low = fmax(low, row);
        row += run->interval;
    }
    high = run->interval > 0 ? fmin(row, high) : high;
    while (high - low > finest) {
        double half = low + (high - low) / 2;
        *(is_right_at(run, half) ? &low : &high) = half;
    }
    *instant = high < run->time ? high : nextafter(high, before); // of the end itself there is no row
    int status = high < run->time ? evaluate_at(run, high, true) : evaluate_accepted(run, true);
    return status == MDL_OK ? evaluate_asserts(run) : status;
}

// After an accepted step: looks at conditions and assertions. *instant is the end of what may be stored.
MDL_CHECKED static int
inspect(Run *run, double before, double *instant, bool *located)
{
    *located = false;
    Phase phase = profile_enter(run, PHASE_CONDITIONS);
    bool look = run->guards && !condition_far(run), whole = look && !condition_alone(run);
    bool asks = may_stop(run) && (run->edge_failed || !ensemble_holds(run));
    int status = look ? inspect_conditions(run, before, instant, located) : MDL_OK;
    profile_leave(run, phase);
    if (status != MDL_OK)
        return status;
    if (!*located && !whole && (asks || run->redundant))
        status = evaluate_accepted(run, !asks);
    if (!*located && asks && (status == MDL_FAILED || (status == MDL_OK && !evaluate_holds(run)))) {
        failure_clear(run);
        status = report_wrong(run, before, instant);
    }
    if (status == MDL_OK && !*located && run->redundant)
        status = redundancy_check(run);
    if (status != MDL_OK)
        return status;
    return !*located && asks ? evaluate_asserts(run) : MDL_OK;
}

// --- the step

// Where the next step must end at the latest.
static double
step_limit(Run *run, double own, double stop)
{
    const PartList *having = &run->having[HOOK_LIMIT];
    double limit = own < stop ? own : stop;
    if (run->delays)
        limit = fmin(limit, delay_next_instant(run));
    for (uint32_t i = 0; i < having->n; i++)
        limit = fmin(limit, having->part[i]->limit(run));
    if (run->ahead)
        limit = fmin(limit, ahead_limit(run));
    return fmin(limit, drift_limit(run));
}

// The step cannot be gone on from: what was computed before `instant`, up to which everything was right, is written.
MDL_CHECKED static int
end_within(Run *run, double before, double instant, int status)
{
    if (instant > before && instant < run->time && point_time(run) < instant && write_points(run, instant, true) == MDL_IO)
        return MDL_IO;
    return status;
}

// Conditions within noEvent() may lock loops without an event.
MDL_CHECKED static int
review_locked(Run *run)
{
    if (!locked_newly(run))
        return MDL_OK;
    bool was_locked = run->locked, was_causal = run->causal;
    int status = evaluate_at(run, run->time, true);
    if (status == MDL_OK)
        status = locked_review(run);
    return status == MDL_OK && run->locked && !was_locked && !was_causal ? lock(run) : status;
}

// A delay that shortens comes to an event of the past within the step from `before` on: the step ends there instead.
MDL_CHECKED static int
cut_at_delay(Run *run, double before)
{
    double low = before, high = run->time, finest = 4 * DBL_EPSILON * fmax(fabs(low), fabs(high));
    if (evaluate_at(run, high, false) != MDL_OK || !delay_passes(run))
        return MDL_OK;
    while (high - low > finest) {
        double half = low + (high - low) / 2;
        int status = evaluate_at(run, half, true);
        if (status != MDL_OK)
            return status;
        if (delay_passes(run))
            high = half;
        else
            low = half;
    }
    int status = evaluate_at(run, high, true);
    if (status == MDL_OK && high < run->time) {
        evaluate_store(run);
        sense_store(run);
        run->time = high;
    }
    return status;
}

// What has drifted off the surfaces that it lies on is moved back.
MDL_CHECKED static int
correct_drift(Run *run)
{
    bool drifted = run->rests && rest_drifted(run);
    if (drifted && run->stepper->displace) {
        run->stepper->displace(run);
        drifted = false;
    }
    int status = !drifted && run->contacts ? contact_drifted(run, &drifted) : MDL_OK;
    run->starts_anew = drifted && run->looked_back;
    return status == MDL_OK && drifted && !run->looked_back ? integrator_start(run) : status;
}

// One step that has passed over nothing.
MDL_CHECKED static int
step_reviewed(Run *run, double own, double stop)
{
    for (;;) {
        bool again = false;
        path_begin(run);
        int status = integrator_step(run, step_limit(run, own, stop));
        if (status == MDL_OK)
            status = drift_review(run, &again);
        if (status != MDL_OK || !again)
            return status;
        evaluate_load(run, run->time, run->y, run->yp);
        status = evaluate_row(run, true);
        if (status == MDL_OK)
            status = integrator_start(run);
        if (status != MDL_OK)
            return status;
    }
}

double
simulate_limit(Run *run)
{
    ahead_look(run);
    return step_limit(run, event_next_instant(run), run->options->stop);
}

int
simulate_advance(Run *run, double stop)
{
    const PartList *having = &run->having[HOOK_RECORD];
    if (run->ahead)
        ahead_look(run);
    double own = event_next_instant(run), before = run->time;
    bool located;
    int status = run->starts_anew ? integrator_start(run) : MDL_OK;
    run->starts_anew = false;
    if (status == MDL_OK)
        status = step_reviewed(run, own, stop);
    double instant = run->time;
    if (status == MDL_OK && run->delays && delay_may_pass(run))
        status = cut_at_delay(run, before);
    if (status != MDL_OK)
        return status;
    instant = run->time;
    status = inspect(run, before, &instant, &located);
    if (status != MDL_OK)
        return end_within(run, before, instant, status);
    if (run->profile)
        status = profile_step(run, before, instant, located);
    for (uint32_t i = 0; i < having->n && status == MDL_OK; i++)
        status = having->part[i]->record(run, before, instant);
    bool event = located || run->time == own || run->fold > 0 || (run->delays && delay_reaches(run, instant));
    if (status == MDL_OK && point_time(run) <= instant)
        status = write_points(run, instant, event);
    if (status == MDL_OK && run->audit)
        status = audit_step(run, before, instant);
    if (status == MDL_OK && event)
        return (run->holds ? hold_event : simulate_event)(run, instant, located, located || run->time == own);
    if (status == MDL_OK && run->options->steps)
        status = write_step(run);
    if (status == MDL_OK && run->options->check == MDL_CHECK_STEPS)
        status = check_step(run);
    if (status == MDL_OK && run->loops)
        status = review_locked(run);
    return status == MDL_OK ? correct_drift(run) : status;
}
