// ahead.c: what depends on time alone is known ahead of the integration.
//
// Purpose: a relation of time, `sin(1000*time) > 0.9999` or `abs(time - a) < b`, changes where the integrator may not look; a force that is
//          prescribed over time may come and go between two of its steps. The former become time events, found before the steps reach
//          them (ahead_change.c); the latter bound the steps (ahead_pace.c, ahead_glimpse.c). Here is what is known of each, and for how long.
// Method: functions of time (model.h, mdl_forecast) are evaluated over intervals, with their derivatives (jet.h).
//         What a function was made with may change at events, and all that was found behind them is void. A relation that this happens to again
//         and again, without a change of its own, is looked at a few such times ahead only, twice as far each time that it is spared. All
//         evaluations are paid for: by the time that the run has come through, and by each change that was found and came. Where that does
//         not suffice, 880 conditions each of which has all steps before it in its function, those that have wasted much are given up.
// Contract: no change of a relation is missed, but for those that hold for less than rounding can tell; at the end of the run its value is the
//           one that the equations have there (root.c). A function that cannot be bounded, or
//           not in a reasonable number of evaluations, is looked at like relations of states, which is told once.
// Complexity: in total at most in proportion to the time of the run and to the number of changes, whatever the number of events and of relations.
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/event/ahead_inner.h"
#include "runtime/point/part.h"
#include "runtime/point/run.h"

static const double PATIENCE = 3e4;        // operations that a relation may waste before it is looked at less far ahead
static const double FAR = 4;               // times the time between two changes of its function, that is
static const double CREDIT = 2e7;          // operations at the start of a run: a tenth of a microsecond each
static const double LOAN = 0.1;            // of that, when some have been given up
static const double WAGE = 1e8;            // and for its whole time
static const double REWARD = 200;          // times the operations of a forecast whose change came

MDL_CHECKED static int
ahead_create(Run *run)
{
    const mdl_model *model = run->model;
    if (!model->n_forecasts)
        return MDL_OK;
    Ahead *ahead = run->ahead = calloc(1, sizeof *ahead);
    if (!ahead)
        return MDL_INTERNAL;
    ahead->reg = malloc(MDL_TIMELY_MOST * sizeof *ahead->reg);
    ahead->place = calloc(model->n_timely + 1, sizeof *ahead->place);
    ahead->outlook = calloc(model->n_forecasts + 1, sizeof *ahead->outlook);
    ahead->watched = calloc(model->n_relations + 1, sizeof *ahead->watched);
    ahead->stale = true;
    ahead->seen = NAN;
    ahead->push = INFINITY;
    for (uint32_t k = 0; k < model->n_forecasts && !ahead->glimpse; k++)
        if (model->forecast[k].place && !(ahead->glimpse = calloc(2 * (GLIMPSES + 1) * (size_t)model->n_forecasts, sizeof *ahead->glimpse)))
            return MDL_INTERNAL;
    ahead->level = ahead->glimpse ? ahead->glimpse + (GLIMPSES + 1) * (size_t)model->n_forecasts : NULL;
    ahead->credit = CREDIT;
    ahead->paid = run->options->start;
    return ahead->reg && ahead->place && ahead->outlook && ahead->watched ? MDL_OK : MDL_INTERNAL;
}

static void
ahead_free(Run *run)
{
    Ahead *ahead = run->ahead;
    if (!ahead)
        return;
    free(ahead->reg);
    free(ahead->glimpse);
    free(ahead->place);
    free(ahead->outlook);
    free(ahead->watched);
    free(ahead);
    run->ahead = NULL;
}

void
ahead_forget(Run *run)
{
    if (run->ahead)
        run->ahead->stale = true;
}

bool
ahead_knows(const Run *run, uint32_t relation)
{
    return run->ahead && run->ahead->watched[relation] && !run->guard[relation].at_limit;
}

// What is held at its limit changes where its other value agrees (limit.c), and not where its function does.
static bool
is_watched(const Run *run, uint32_t k)
{
    uint32_t relation = run->model->forecast[k].relation;
    return relation != UINT32_MAX && !run->ahead->outlook[k].lost && !run->guard[relation].at_limit;
}

bool
ahead_ends_wrong(const Run *run, uint32_t relation)
{
    const mdl_relation *at = &run->model->relation[relation];
    if (run->v[0] != run->options->stop || (run->v[at->next] != 0) == (run->v[at->value] != 0))
        return false;
    for (uint32_t k = 0; k < run->model->n_forecasts; k++)
        if (run->model->forecast[k].relation == relation)
            return run->ahead->outlook[k].touches;
    return false;
}

// --- evaluation

static const mdl_timely *
operations(const Run *run, const mdl_forecast *forecast)
{
    return run->model->timely + forecast->first;
}

// What does not depend on time, into the registers.
void
ahead_evaluate_fixed(Run *run, const mdl_forecast *forecast)
{
    const mdl_timely *at = operations(run, forecast);
    const double *place = run->ahead->place + forecast->first;
    Jet *reg = run->ahead->reg;
    for (uint32_t i = 0; i < forecast->count; i++) {
        if (at[i].moving)
            continue;
        if (at[i].op == MDL_TIMELY_CONST || at[i].op == MDL_TIMELY_PLACE || at[i].op == MDL_TIMELY_STATE)
            reg[i] = jet_constant(at[i].op == MDL_TIMELY_CONST ? at[i].value : place[i]);
        if (at[i].op == MDL_TIMELY_STATE)
            reg[i].known = false; // its value at time 0 is computed from another
        if (at[i].op > MDL_TIMELY_STATE)
            reg[i] = jet_apply((mdl_timely_op)at[i].op, &reg[at[i].a], &reg[at[i].b], &reg[at[i].c]);
    }
}

// The forecast over an interval, behind ahead_evaluate_fixed().
Jet
ahead_evaluate_over(const Run *run, const mdl_forecast *forecast, Span time)
{
    const mdl_timely *at = operations(run, forecast);
    Jet *reg = run->ahead->reg;
    for (uint32_t i = 0; i < forecast->count; i++)
        if (at[i].moving)
            reg[i] = at[i].op == MDL_TIMELY_TIME ? jet_time(time)
                                                 : jet_apply((mdl_timely_op)at[i].op, &reg[at[i].a], &reg[at[i].b], &reg[at[i].c]);
    return reg[forecast->count - 1];
}

// --- what is given up

void
ahead_lose(Run *run, uint32_t k, uint32_t kind)
{
    Ahead *ahead = run->ahead;
    ahead->outlook[k].lost = true;
    ahead->watched[run->model->forecast[k].relation] = 0;
    if (!ahead->lost[kind]++)
        ahead->example[kind] = k;
}

// What has been lost since is told, all of one kind at once; that events made it costly is told of the first ones.
static void
tell_lost(Run *run)
{
    static const char *const reason[] = {
        [LOST_UNKNOWN] = "through a function that is not known ahead of the integration",
        [LOST_INTRICATE] = "its function of time is too intricate to be bounded ahead of the integration",
        [LOST_COSTLY] = "its function of time changes at so many events that it is not bounded ahead of the integration any longer (nor are others like it)",
    };
    Ahead *ahead = run->ahead;
    double apart = fmin(run->interval, (run->options->stop - run->options->start) / 500);
    for (uint32_t kind = 0; kind < LOST_KINDS; kind++) {
        uint32_t count = ahead->lost[kind];
        const char *text = count ? run->model->relation[run->model->forecast[ahead->example[kind]].relation].text : NULL;
        ahead->lost[kind] = 0;
        if (kind == LOST_COSTLY && ahead->costly_told)
            continue;
        ahead->costly_told |= kind == LOST_COSTLY && count;
        if (count == 1)
            run_message(run, MDL_WARNING, "this condition depends on time alone, but %s: when it changes and changes back between two looks, at most "
                        "%.3g apart, that is not seen (a smaller --interval looks more often)\n  %s", reason[kind], apart, text);
        else if (count)
            run_message(run, MDL_WARNING, "%u conditions depend on time alone, but of each %s: when one changes and changes back between two looks, at "
                        "most %.3g apart, that is not seen (a smaller --interval looks more often); for example\n  %s", count, reason[kind],
                        apart, text);
    }
}

// More has been spent than the run has come through: what wasted much is given up, all at once, so that it is told once.
static void
give_up(Run *run)
{
    const mdl_model *model = run->model;
    Ahead *ahead = run->ahead;
    for (uint32_t k = 0; k < model->n_forecasts; k++)
        if (model->forecast[k].relation != UINT32_MAX && !ahead->outlook[k].lost && ahead->outlook[k].wasted > PATIENCE) {
            ahead_lose(run, k, LOST_COSTLY);
            ahead->credit = LOAN * CREDIT;
        }
}

// --- after events

// What the forecast was made with is not so any more.
static bool
renew(Run *run, uint32_t k)
{
    const mdl_forecast *forecast = &run->model->forecast[k];
    const mdl_timely *at = operations(run, forecast);
    double *place = run->ahead->place + forecast->first;
    bool changed = false;
    for (uint32_t i = 0; i < forecast->count; i++)
        if (at[i].op == MDL_TIMELY_PLACE && place[i] != run->v[at[i].a]) {
            place[i] = run->v[at[i].a];
            changed = true;
        } else if (at[i].op == MDL_TIMELY_STATE) {
            double value = run->v[run->model->y + at[i].a], gone = run->v[run->model->dx + at[i].a] * run->v[0], origin = value - gone;
            bool set = !(fabs(origin - place[i]) <= SAME * (fabs(value) + fabs(gone)));
            place[i] = set ? origin : place[i];
            changed = changed || set;
        }
    return changed;
}

// Of a term that an external function computes, once for all of them.
static void
tell_unknown(Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    uint32_t others = 0;
    for (uint32_t i = 0; i < model->n_forecasts; i++) {
        const mdl_forecast *forecast = &model->forecast[i];
        bool unknown = forecast->relation == UINT32_MAX && !forecast->count && !forecast->place;
        if (unknown && i < k)
            return;
        others += unknown && i > k;
    }
    run_message(run, MDL_WARNING, "what an external function makes of time in the equation of `%s`%s is not known ahead of the integration: a change of it that "
                "comes and goes within one step is not seen (--max-step bounds steps)", model->forecast[k].text, others ? " (and of others)" : "");
}

// Times that cannot be told from the present one.
static double
rounding_of_time(const Run *run)
{
    return 8 * DBL_EPSILON * fabs(run->time);
}

// From where the relation is looked at behind the event of this instant. A change that rounding of time puts right behind the event was part of it (ahead_mark):
// up to there the function is on the former side still, which is no change back.
static double
clear_from(const Run *run, const Outlook *outlook, double held)
{
    bool taken = outlook->held != held && outlook->change > run->time && outlook->change <= run->time + rounding_of_time(run);
    return taken ? outlook->change : run->time;
}

static void
look_again(Run *run)
{
    const mdl_model *model = run->model;
    Ahead *ahead = run->ahead;
    bool terms = ahead->length == 0;
    for (uint32_t k = 0; k < model->n_forecasts; k++) {
        const mdl_forecast *forecast = &model->forecast[k];
        Outlook *outlook = &ahead->outlook[k];
        if (outlook->lost)
            continue;
        if (forecast->place)
            continue;
        if (!forecast->count && forecast->relation == UINT32_MAX) {
            outlook->lost = true;
            tell_unknown(run, k);
            continue;
        }
        if (!forecast->count) {
            ahead_lose(run, k, LOST_UNKNOWN);
            continue;
        }
        bool changed = renew(run, k);
        if (forecast->relation == UINT32_MAX) {
            terms = terms || changed;
            continue;
        }
        double held = run->v[model->relation[forecast->relation].value];
        if (!changed && outlook->held == held && outlook->change > run->time && ahead->watched[forecast->relation])
            continue;
        bool came = !ahead->watched[forecast->relation] || outlook->held != held || outlook->change <= run->time;
        double wasted = came ? 0 : outlook->wasted + outlook->cost, apart = run->time - outlook->made;
        if (came && ahead->watched[forecast->relation])
            ahead->credit += REWARD * forecast->count;
        ahead->watched[forecast->relation] = 1;
        *outlook = (Outlook){.clear = changed ? run->time : clear_from(run, outlook, held), .change = INFINITY, .held = held, .sure = -INFINITY, .wasted = wasted, .made = run->time,
                             .reach = wasted > PATIENCE && apart > 0 ? FAR * apart : INFINITY};
    }
    terms = (ahead->glimpse && glimpse_changed(run)) || terms;
    ahead->stale = false;
    ahead->smooth = terms ? -INFINITY : ahead->smooth;
    ahead->before = run->time;
}

void
ahead_look(Run *run)
{
    Ahead *ahead = run->ahead;
    if (!ahead)
        return;
    if (ahead->stale)
        look_again(run);
    if (run->time > ahead->paid) {
        ahead->credit += WAGE * (run->time - ahead->paid) / (run->options->stop - run->options->start);
        ahead->paid = run->time;
    }
    if (ahead->credit < 0)
        give_up(run);
    for (uint32_t k = 0; k < run->model->n_forecasts; k++) {
        const Outlook *outlook = &ahead->outlook[k];
        if (is_watched(run, k) && outlook->change == INFINITY && outlook->clear <= run->time + rounding_of_time(run) && run->time < run->options->stop)
            ahead_extend(run, k);
    }
    tell_lost(run);
}

double
ahead_next_instant(const Run *run)
{
    double next = INFINITY;
    for (uint32_t k = 0; run->ahead && k < run->model->n_forecasts; k++)
        if (is_watched(run, k))
            next = fmin(next, run->ahead->outlook[k].change);
    return next;
}

bool
ahead_coincides(double change, double instant)
{
    const double tie = 1e-12; // of the time
    return isfinite(instant) && change < instant && instant - change <= tie * fabs(instant);
}

void
ahead_mark(Run *run, double instant)
{
    for (uint32_t k = 0; run->ahead && k < run->model->n_forecasts; k++) {
        double change = is_watched(run, k) ? run->ahead->outlook[k].change : INFINITY, rounding = 8 * DBL_EPSILON * fabs(instant);
        if (!(change <= instant + rounding) || (change < instant - rounding && ahead_coincides(change, instant)))
            continue;
        run->guard[run->model->forecast[k].relation].pending = true;
    }
}

// A run with steps of fixed length has the steps that were asked for.
double
ahead_limit(Run *run)
{
    const mdl_model *model = run->model;
    Ahead *ahead = run->ahead;
    double limit = INFINITY;
    bool terms = false;
    if (!ahead)
        return limit;
    for (uint32_t k = 0; k < model->n_forecasts; k++) {
        const Outlook *outlook = &ahead->outlook[k];
        if (model->forecast[k].relation == UINT32_MAX)
            terms = true;
        else if (is_watched(run, k) && outlook->change == INFINITY && outlook->clear < run->options->stop)
            limit = fmin(limit, outlook->clear);
    }
    bool moves = model->nx || run->delays || run->transports;
    if (!terms || !moves || run->options->step > 0)
        return limit;
    if (run->options->outside) // steps of others have lengths of their own
        return fmin(limit, ahead_push(run, run_shortest(run)));
    double last = run->time - ahead->before, shortest = run_shortest(run);
    if (!(run->time + 2 * last < ahead->smooth))
        ahead_find_pace(run, shortest);
    ahead->before = run->time;
    return fmin(limit, fmin(ahead->smooth, run->time + ahead->pace));
}

static void
ahead_snapshot(Run *run, Snapshot *snapshot)
{
    const mdl_model *model = run->model;
    Ahead *ahead = run->ahead;
    if (!ahead)
        return;
    snapshot_part(snapshot, ahead->place, model->n_timely * sizeof *ahead->place);
    for (uint32_t k = 0; k < model->n_forecasts; k++) {
        Outlook *outlook = &ahead->outlook[k];
        snapshot_part(snapshot, &outlook->clear, sizeof outlook->clear);
        snapshot_part(snapshot, &outlook->change, sizeof outlook->change);
        snapshot_part(snapshot, &outlook->held, sizeof outlook->held);
        snapshot_part(snapshot, &outlook->sure, sizeof outlook->sure);
        snapshot_part(snapshot, &outlook->touches, sizeof outlook->touches);
        snapshot_part(snapshot, &outlook->lost, sizeof outlook->lost);
        snapshot_part(snapshot, &outlook->hopeless, sizeof outlook->hopeless);
        snapshot_part(snapshot, &outlook->wasted, sizeof outlook->wasted);
        snapshot_part(snapshot, &outlook->cost, sizeof outlook->cost);
        snapshot_part(snapshot, &outlook->made, sizeof outlook->made);
        snapshot_part(snapshot, &outlook->reach, sizeof outlook->reach);
    }
    snapshot_part(snapshot, ahead->watched, model->n_relations * sizeof *ahead->watched);
    snapshot_part(snapshot, &ahead->stale, sizeof ahead->stale);
    snapshot_part(snapshot, &ahead->smooth, sizeof ahead->smooth);
    snapshot_part(snapshot, &ahead->pace, sizeof ahead->pace);
    snapshot_part(snapshot, &ahead->push, sizeof ahead->push);
    snapshot_part(snapshot, &ahead->followed, sizeof ahead->followed);
    snapshot_part(snapshot, &ahead->spent, sizeof ahead->spent);
    snapshot_part(snapshot, &ahead->length, sizeof ahead->length);
    snapshot_part(snapshot, &ahead->before, sizeof ahead->before);
    snapshot_part(snapshot, &ahead->credit, sizeof ahead->credit);
    snapshot_part(snapshot, &ahead->paid, sizeof ahead->paid);
    snapshot_part(snapshot, &ahead->seen, sizeof ahead->seen);
    ahead->taken = ahead->taken && !snapshot->from; // taken again from there
}

const RunPart ahead_part = {
    .name = "ahead", .create = ahead_create, .free = ahead_free, .snapshot = ahead_snapshot,
};
