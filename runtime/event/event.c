// event.c: what happens at an event: relations, discrete variables, reinit, friction modes, samples.
//
// Purpose: bring the discrete part of the model to a fixed point at one instant.
// Method: Modelica Specification 3.6, appendix B: with pre() fixed, solve (mixed.c); when a discrete variable differs
//         from its pre(), set pre() and solve again. Samples and initial() are 1 only until the first fixed point, then 0.
// Contract: run->time and the unknowns in v are the event's point; afterwards v is consistent and stored in
//           run->y, run->yp. Complexity: passes * model evaluation; the number of passes is limited.
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"
#include "runtime/point/sense.h"

static bool
put(Run *run, uint32_t place, double value)
{
    bool changed = run->v[place] != value;
    run->v[place] = value;
    return changed;
}

// Assertions about edges are looked at while pre() still has the values of before.
static void
note_edges(Run *run)
{
    const mdl_model *model = run->model;
    bool any = false;
    for (uint32_t k = 0; k < model->n_asserts && !any; k++)
        any = model->assertion[k].edge != 0;
    if (!any)
        return;
    mdl_call(model->asserts, run->v);
    run->edge_failed = run->edge_failed || failure_report(run);
    for (uint32_t k = 0; k < model->n_asserts; k++)
        if (model->assertion[k].edge && run->v[model->assertion[k].ok] == 0)
            run->warned[k] |= ASSERT_FIRED;
}

// The discrete variables and states of the settled point become those of the next one; `old_discrete` are those before.
// True when something changed.
static bool
advance(Run *run)
{
    const mdl_model *model = run->model;
    bool changed = false;
    note_edges(run);
    for (uint32_t k = 0; k < model->n_discretes; k++) {
        const mdl_discrete *discrete = &model->discrete[k];
        bool kept = discrete->pre && discrete->next;
        run->old_discrete[k] = run->v[kept ? discrete->pre : discrete->value];
        changed = (kept && put(run, discrete->pre, run->v[discrete->value])) || changed;
    }
    for (uint32_t k = 0; k < model->n_reinits; k++) {
        const mdl_reinit *reinit = &model->reinit[k];
        if (run->v[reinit->active] == 0)
            continue;
        if (run->rests)
            rest_note(run, k, run->v[model->y + reinit->state], run->v[reinit->next]);
        run->v[model->y + reinit->state] = run->v[reinit->next];
        run->assigned[reinit->state] = 1;
        jump_reset(run, reinit->state);
        changed = true;
    }
    return changed;
}

// Discrete variables have values that an evaluation which failed has given, at the point where they are settled. Says why.
static bool
value_lost(const Run *run)
{
    double kept[MDL_FAILURE_PLACES], *state = run->v + run->model->failure;
    if (!failure_happened(run))
        return false;
    memcpy(kept, state, sizeof kept);
    failure_clear(run); // that of a relation is none as long as nothing uses it
    failure_next_look(run);
    mdl_call(run->model->discretes, run->v);
    bool lost = failure_report(run);
    if (!lost)
        memcpy(state, kept, sizeof kept);
    return lost;
}

// A discrete variable must be a number, and an Integer one that is exact: n + 1 is n from 2^53 on.
static bool
value_wrong(const Run *run)
{
    const double exact = 9007199254740992.0;
    for (uint32_t k = 0; k < run->model->n_discretes; k++) {
        const mdl_discrete *discrete = &run->model->discrete[k];
        double value = run->v[discrete->value];
        bool large = discrete->whole && fabs(value) >= exact, known = discrete->next || discrete->whole;
        if (!known || !discrete->name || !(isnan(value) || large))
            continue;
        const char *where = discrete->where ? discrete->where : "", *line = *where ? "\n  " : "";
        if (large && discrete->whole == 2)
            run_message(run, MDL_ERROR, "at time %.12g: what is rounded to a whole number here becomes %.17g, and whole numbers are exact below 2^53 = "
                        "%.0f only%s%s", run->v[0], value, exact, line, where);
        else if (large)
            run_message(run, MDL_ERROR, "at time %.12g: the Integer `%s` becomes %.17g, and whole numbers are exact below 2^53 = %.0f only%s%s",
                        run->v[0], discrete->name, value, exact, line, where);
        else
            run_message(run, MDL_ERROR, "at time %.12g: the discrete variable `%s` is not a number%s%s", run->v[0], discrete->name, line, where);
        return true;
    }
    return false;
}

// What the next pass of an iteration follows from: discrete variables, relations and states. A pass that brings it back to what it was
// shows that the iteration goes around in circles; as long as it is new the iteration gets on.
typedef struct Circle {
    double *kept;
    uint32_t next;  // pass at which it is kept again: the powers of two times the first (Brent, BIT 20 (1980) 176)
} Circle;

static size_t
circle_size(const Run *run)
{
    return (size_t)run->model->n_discretes + run->model->n_relations + run->model->nx;
}

static void
circle_state(const Run *run, double *state)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_discretes; k++)
        *state++ = run->v[model->discrete[k].value];
    for (uint32_t k = 0; k < model->n_relations; k++)
        *state++ = run->v[model->relation[k].value];
    memcpy(state, run->v + model->y, model->nx * sizeof *state);
}

// After a pass of a long iteration. True: it does not end, or memory is exhausted.
static bool
circle_closed(const Run *run, Circle *circle, uint32_t pass)
{
    enum { PASSES_MOST = 100000 };
    size_t n = circle_size(run);
    if (run->options->event_limit || pass >= PASSES_MOST)
        return true;
    if (!circle->kept)
        circle->kept = calloc(2 * n + 1, sizeof *circle->kept);
    if (!circle->kept)
        return true;
    double *now = circle->kept + n;
    circle_state(run, now);
    bool closed = circle->next && memcmp(now, circle->kept, n * sizeof *now) == 0;
    if (pass >= circle->next) {
        memcpy(circle->kept, now, n * sizeof *now);
        circle->next = 2 * pass;
    }
    return closed;
}

// One pass: what holds with pre() as it is, which then becomes pre() of the next one. *again: it is another one.
MDL_CHECKED static int
settle_pass(Run *run, bool *again)
{
    int status = mixed_solve(run);
    if (status == MDL_OK && run->sense)
        status = sense_discretes(run);
    if (status != MDL_OK)
        return status;
    if (value_lost(run) || value_wrong(run))
        return MDL_FAILED;
    *again = advance(run);
    // Instants follow from variables without pre(), too.
    mdl_call(run->model->instants, run->v);
    return MDL_OK;
}

MDL_CHECKED static int
settle_passes(Run *run, Circle *circle)
{
    uint32_t limit = mixed_limit(run);
    bool again = true;
    for (uint32_t pass = 0; pass < limit || !circle_closed(run, circle, pass); pass++) {
        failure_next_instant(run);
        int status = settle_pass(run, &again);
        if (status != MDL_OK || !again)
            return status;
    }
    return mixed_report(run);
}

MDL_CHECKED static int
settle_discretes(Run *run)
{
    Circle circle = {0};
    int status = settle_passes(run, &circle);
    free(circle.kept);
    return status;
}

static double
sample_instant(const Run *run, uint32_t k)
{
    const mdl_sample *sample = &run->model->sample[k];
    return run->v[sample->start] + (double)run->sample_index[k] * run->v[sample->interval];
}

static bool
reached(const Run *run, double instant)
{
    return instant <= run->time + 8 * DBL_EPSILON * fmax(fabs(run->time), fabs(instant));
}

bool
event_samples_due(const Run *run, double instant)
{
    bool due = false;
    for (uint32_t k = 0; k < run->model->n_samples && !due; k++)
        due = sample_instant(run, k) <= instant + 8 * DBL_EPSILON * fabs(instant) && run->v[run->model->sample[k].interval] > 0;
    return due;
}

// Samples due at the current time become 1 and move on to their next instant. True when there was one.
static bool
start_samples(Run *run)
{
    bool any = false;
    for (uint32_t k = 0; k < run->model->n_samples; k++) {
        if (!reached(run, sample_instant(run, k)))
            continue;
        run->v[run->model->sample[k].value] = 1;
        run->sample_index[k]++;
        any = true;
    }
    return any;
}

static bool
end_pulses(Run *run, bool initial)
{
    bool any = false;
    for (uint32_t k = 0; k < run->model->n_samples; k++)
        any = put(run, run->model->sample[k].value, 0) || any;
    if (initial && run->model->initial)
        any = put(run, run->model->initial, 0) || any;
    return any;
}

// The left limits of continuous variables, which pre() gives throughout the event.
static void
keep_left_limits(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_discretes; k++) {
        const mdl_discrete *discrete = &run->model->discrete[k];
        if (!discrete->next)
            run->v[discrete->pre] = run->v[discrete->value];
    }
}

// Discrete variables settle while samples that are due are 1, and once more when they are 0 again. initial() is 1 in the first pass
// only, which is the initialisation: what changes in later ones does so behind it (Modelica 3.6, 8.6).
MDL_CHECKED static int
settle_pulses(Run *run, bool initial)
{
    bool again = false;
    int status = initial ? settle_pass(run, &again) : settle_discretes(run);
    if (status == MDL_OK && (end_pulses(run, initial) || again))
        status = settle_discretes(run);
    return status;
}

// One event iteration; contacts at rest that it lifts are open in the next one. Initialisation is an instant before the events at
// the same time: a sample that is due there ticks behind it (Modelica 3.6, 8.6).
MDL_CHECKED static int
iterate_once(Run *run, bool initial, bool *again)
{
    bool jumped = false, struck = false;
    keep_left_limits(run);
    jump_note(run);
    int status = run->sense ? sense_left_limits(run) : MDL_OK;
    friction_event(run);
    if (status == MDL_OK && initial)
        status = settle_pulses(run, true);
    bool event = status == MDL_OK && (start_samples(run) || !initial);
    if (event && initial) { // what jumps does so from where the initialisation has led
        keep_left_limits(run);
        jump_note(run);
    }
    if (event)
        status = settle_pulses(run, false);
    if (event && status == MDL_OK)
        status = jump_apply(run, &jumped);
    if (status == MDL_OK)
        status = contact_close(run, false);
    if (status == MDL_OK)
        status = contact_impacts(run, &struck);
    if (status == MDL_OK)
        status = rest_after_event(run, again);
    *again = *again || jumped || struck;
    return status;
}

MDL_CHECKED static int
iterate_passes(Run *run, bool initial)
{
    bool again = false;
    memset(run->assigned, 0, run->model->nx * sizeof *run->assigned);
    rest_event(run);
    int status = initial && run->sense ? sense_begin(run) : MDL_OK;
    if (status == MDL_OK && initial)
        status = contact_start(run);
    if (status == MDL_OK && initial) // with all ideal diodes open a current that is given has no way
        status = friction_leak(run, mixed_limit(run));
    if (status == MDL_OK)
        status = contact_event(run);
    if (status == MDL_OK)
        status = iterate_once(run, initial, &again);
    while (status == MDL_OK && again)
        status = iterate_once(run, initial, &again);
    if (status != MDL_OK)
        return status;
    char text[300];
    if (evaluate_not_finite(run, text, sizeof text)) {
        if (failure_report(run))
            return MDL_FAILED;
        run_message(run, MDL_ERROR, "%s at time %.12g: %s is not finite%s", initial ? "initialisation" : "after an event",
                    run->v[0], text, evaluate_explain(run));
        return MDL_FAILED;
    }
    // What is only looked at is part of the rows behind the event, too: the last search may have shared forces otherwise than the evaluation before it.
    if (run->model->failure)
        failure_clear(run);
    evaluate_outputs(run);
    if (run->model->failure && failure_report(run))
        return MDL_FAILED;
    if (run->contacts)
        status = contact_tell_several(run);
    evaluate_store(run);
    limit_find(run);
    return status;
}

int
event_iterate(Run *run, bool initial)
{
    int status = iterate_passes(run, initial);
    failure_leave_event(run);
    return status;
}

void
event_instants(Run *run)
{
    const mdl_model *model = run->model;
    mdl_call(model->instants, run->v);
    for (uint32_t k = 0; k < model->n_samples; k++) {
        // Instants before the start of the run do not happen.
        double behind = (run->time - run->v[model->sample[k].start]) / run->v[model->sample[k].interval];
        if (behind > 0 && isfinite(behind))
            run->sample_index[k] = (uint64_t)ceil(behind * (1 - 4 * DBL_EPSILON));
    }
}

double
event_next_instant(const Run *run)
{
    const mdl_model *model = run->model;
    double next = INFINITY, foreseen = run->ahead ? ahead_next_instant(run) : INFINITY;
    for (uint32_t k = 0; k < model->n_time_relations; k++) {
        double instant = run->v[model->time_relation[k].instant];
        if (instant < next && !reached(run, instant))
            next = instant;
    }
    for (uint32_t k = 0; k < model->n_samples; k++) {
        double instant = sample_instant(run, k);
        if (instant > run->options->stop && instant <= run->options->stop + 8 * DBL_EPSILON * fabs(run->options->stop))
            instant = run->options->stop; // 3*0.1 is no later than 0.3
        if (instant < next && run->v[model->sample[k].interval] > 0)
            next = instant;
    }
    return ahead_coincides(foreseen, next) ? next : fmin(foreseen, next);
}

// Confirmations of an accumulation's end; fewer (FEW_CONFIRMATIONS) do when the tolerance does not resolve its events any more, and where they follow each
// other so much faster each time that no more of them are resolved (Fuller's switchings: 17 times).
enum { CONFIRMATIONS = 8 };
static const double STEEP = 0.1;  // of the interval before, on average
static const double FALL = 1e-2;  // of its factor: what falls by less than this at once, behind a slow cycle, is no part of a steep sequence

static bool
accumulates(Run *run, uint32_t k, int side)
{
    const Guard *guard = &run->guard[k];
    if (guard->passing || !(guard->limit[side] > guard->last[side] && guard->limit[side] <= run->options->stop))
        return false;
    double shrunk = guard->interval[side] / guard->first[side];
    bool steep = !rest_possible(run, k) && guard->confirmed[side] >= FEW_CONFIRMATIONS && shrunk < pow(STEEP, guard->confirmed[side] + 1) &&
                 guard->fall[side] > FALL;
    if ((guard->confirmed[side] >= CONFIRMATIONS || steep) && shrunk < 1e-5)
        return true;
    return guard->forced && rest_possible(run, k) &&
           // Who integrates outside may not resolve its flights well enough for more.
           rest_unresolved(run, k, guard->interval[side], guard->confirmed[side] >= FEW_CONFIRMATIONS || run->outside);
}

// The condition whose crossings come ever faster towards an instant within the run, or UINT32_MAX. It counts once the
// time between crossings has become small compared with that at the sequence's beginning.
static uint32_t
accumulating(Run *run, double *limit)
{
    for (uint32_t k = 0; k < run->guards; k++)
        for (int side = 0; side < 2; side++) {
            *limit = run->guard[k].limit[side];
            if (accumulates(run, k, side))
                return k;
        }
    return UINT32_MAX;
}

// The motion goes on with the limit of the accumulating events. Where there is no rest and the intervals shrink by a smaller factor each time, as those
// of a lag that is set back to its limit whenever its input falls below it, g(n+1) ~ g(n)^2, a few more events and they are below all rounding: it goes
// on behind them. A geometric sequence has no such end.
MDL_CHECKED static int
come_to_rest(Run *run, uint32_t guard, double limit)
{
    enum { IN_A_ROW = 2 };
    const mdl_model *model = run->model;
    bool passes = run->guard[guard].faster[0] >= IN_A_ROW || run->guard[guard].faster[1] >= IN_A_ROW;
    const char *why = rest_begin(run, guard);
    if (why && passes) {
        run->guard[guard].passing = true;
        memcpy(run->v + model->y, run->y, model->nx * sizeof *run->y);
        return event_iterate(run, false);
    }
    if (why) {
        run_message(run, MDL_ERROR, "at time %.12g: the simulation makes no progress: events follow each other "
                    "ever faster and accumulate at time %.9g:\n  %s\nit cannot come to rest there: %s", run->time, limit,
                    root_text(run, guard), why);
        return MDL_FAILED;
    }
    if (rest_first(run, guard))
        run_message(run, MDL_WARNING, "events follow each other ever faster and accumulate at time %.6g: the motion comes to "
                    "rest there and stays on the limit of this condition until it is pulled off:\n  %s", limit,
                    root_text(run, guard));
    return event_iterate(run, false);
}

double
event_hurry(const Run *run)
{
    return 1e-9 * fmin(run->options->stop - run->options->start, 1);
}

MDL_CHECKED static int
report_chattering(const Run *run, double length)
{
    char text[2000] = "";
    size_t used = 0;
    for (uint32_t k = 0; k < run->guards && used + 1 < sizeof text; k++)
        if (run->guard[k].band > 0 || run->guard[k].forced || run->guard[k].hurried)
            used += (size_t)snprintf(text + used, sizeof text - used, "\n  %s", root_text(run, k));
    run_message(run, MDL_ERROR, "at time %.12g: the simulation makes no progress: %d events within %.3g s%s%s%s",
                run->time, EVENT_WINDOW, length, used ? "; involved:" : "", text, root_chatter_help(run));
    return MDL_FAILED;
}

// One condition changes to and fro, slower than many events within event_hurry() are, but still so that no run comes through.
static bool
is_hurried(const Run *run)
{
    for (uint32_t k = 0; k < run->guards; k++)
        if (run->guard[k].hurried >= HURRIED_MOST)
            return true;
    return false;
}

int
event_progress(Run *run)
{
    uint32_t slot = run->event_count++ % EVENT_WINDOW;
    double oldest = run->event_time[slot], limit = run->time;
    uint32_t zeno = run->accumulated ? run->accumulated - 1 : accumulating(run, &limit);
    uint32_t back = rest_falling_back(run);
    run->event_time[slot] = run->time;
    run->accumulated = 0;
    zeno = zeno == UINT32_MAX ? back : zeno;
    if (zeno < run->model->n_relations && zeno != back && idle_begins(run, zeno))
        return MDL_OK;
    if (zeno != UINT32_MAX)
        return come_to_rest(run, zeno, limit);
    double length = run->time - oldest;
    if (run->event_count <= EVENT_WINDOW || (length > event_hurry(run) && !is_hurried(run)))
        return MDL_OK;
    if (idle_begins(run, UINT32_MAX)) {
        run->event_count = 0;
        return MDL_OK;
    }
    return report_chattering(run, length);
}
