// ahead.c: what depends on time alone is known ahead of the integration.
//
// Purpose: a relation of time, `sin(1000*time) > 0.9999` or `abs(time - a) < b`, changes where the integrator may not look; a force that is
//          prescribed over time may come and go between two of its steps. The former become time events, found before the steps reach
//          them; the latter bound the steps.
// Method: functions of time (model.h, mdl_forecast) are evaluated over intervals, with their derivatives (jet.h). A relation keeps its value
//         where its root function cannot be negative, changes at most once where the function is monotonic, and at most at one bottom in
//         between where the derivative is; all other intervals are cut in half (interval branch and bound: Moore, Kearfott, Cloud,
//         Introduction to Interval Analysis, 2009, chapter 8). Where the relation has its other value at zero, `max(0, abs(time - a) - b) > 0`,
//         zero is on the other side, when it lasts: a function that is zero at one instant only is there within rounding, or is not. What
//         rounding hides for a while, `tanh(x) > atan(x)` around 0, changes in the middle of that, or at the event at which it began. A term of the equations of motion varies by A over a stretch of time within
//         which its second derivative is at most M: steps are no longer than 4 sqrt(A/M) there (a quarter of it
//           without an error test in every step), A seen at nine points; where they would be
//         shorter than their distance the stretch is cut in half.
//         What a function was made with may change at events, and all that was found behind them is void. A relation that this happens to again
//         and again, without a change of its own, is looked at a few such times ahead only, twice as far each time that it is spared. All
//         evaluations are paid for: by the time that the run has come through, and by each change that was found and came. Where that does
//         not suffice, 880 conditions each of which has all steps before it in its function, those that have wasted much are given up.
//         Of terms that a function with an algorithm computes values are taken ahead, a ten-thousandth of the run apart, and A and M are theirs.
// Contract: no change of a relation is missed, but for those that hold for less than rounding can tell; at the end of the run its value is the
//           one that the equations have there (root.c). A function that cannot be bounded, or
//           not in a reasonable number of evaluations, is looked at like relations of states, which is told once.
// Complexity: a change: about a hundred evaluations of one relation; in total at most in proportion to the time of the run and to the number of
//             changes, whatever the number of events and of relations; steps: ten evaluations of the terms for every stretch, which is
//             as long as it can be.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/event/jet.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

typedef struct Outlook {
    double clear;        // no change up to here
    double change;       // the first one behind it, just past it; infinity: not known yet
    double held;         // value of the relation that this is true for
    double sure;         // the latest instant at which the function was seen to have its side by more than rounding; -infinity: none yet
    bool touches;        // no change up to the end of the run, and at the end itself it is zero within rounding, as it was not a little before
    bool lost;           // cannot be looked at ahead
    uint32_t hopeless;   // looks in a row that asked for the shortest steps
    double wasted;       // operations of looks whose function changed before what they found came, since the latest change that came
    double cost;         // those since the function changed last
    double made, reach;  // when the function changed last; looks go no further than `reach` beyond, infinity: to the end
} Outlook;

enum { LOST_UNKNOWN, LOST_INTRICATE, LOST_COSTLY, LOST_KINDS };

struct Ahead {
    Jet *reg;            // of one forecast
    double *place;       // per operation of mdl_timely: the value that the forecast was made with
    Outlook *outlook;    // per forecast
    uint8_t *watched;    // per relation: its changes are known
    bool stale;          // an event has happened since
    double smooth, pace; // up to `smooth` no step longer than `pace`
    double length;       // of the latest stretch that was looked at
    double before;       // when the step before the latest ended
    double *glimpse;     // GLIMPSES + 1 per forecast: values of those without operations,
    double *level;       // and what jumps have made of each of them since the first
    double seen;         // from here on, `apart` from each other; NAN: none yet
    bool taken;          // they are there
    double credit;       // operations that may still be spent on relations
    double paid;         // up to this time
    uint32_t lost[LOST_KINDS], example[LOST_KINDS]; // forecasts that have been lost and not told, one of them
    bool costly_told;
};

enum { GLIMPSES = 200 }; // values of terms without operations that are taken at a time
enum { EVALUATIONS = 4000, UNSURE = 10 * EVALUATIONS, SAMPLES = 8, HOPELESS = 50, HOPELESS_LOOKS = 10 };
static const double SAME = 1e-9;           // part of values: what comes of rounding
static const double RESOLVED = 16;         // a change that is so many times as long as values taken ahead are apart is known by them
static const double NOTHING = 1e-2;        // of the tolerance, of a term's size
static const double UNDERFLOW_SIZE = 1e-200; // what of a term is no more may be 0 for that reason
static const double LEAST_PROGRESS = 1e-3; // part of the run that so many evaluations must come through
static const double HIDDEN = 1e-12;        // a function that has crossed zero keeps its new side within this (mixed.c)
static const double ROUNDINGS = 16;         // what is below zero by so many times its rounding at most is not seen there
static const double NARROW = 1e-12;        // part of the run: rounding hides as much of a crossing that is not flat
static const double PATIENCE = 3e4;        // operations that a relation may waste before it is looked at less far ahead
static const double FAR = 4;               // times the time between two changes of its function, that is
static const double CREDIT = 2e7;          // operations at the start of a run: a tenth of a microsecond each
static const double LOAN = 0.1;            // of that, when some have been given up
static const double WAGE = 1e8;            // and for its whole time
static const double REWARD = 200;          // times the operations of a forecast whose change came
static const double SHORT = 1e-4;          // part of the run: an interval is no longer that is decided at its ends

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
    return run->ahead && run->ahead->watched[relation];
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
static void
evaluate_fixed(Run *run, const mdl_forecast *forecast)
{
    const mdl_timely *at = operations(run, forecast);
    const double *place = run->ahead->place + forecast->first;
    Jet *reg = run->ahead->reg;
    for (uint32_t i = 0; i < forecast->count; i++) {
        if (at[i].moving)
            continue;
        if (at[i].op == MDL_TIMELY_CONST || at[i].op == MDL_TIMELY_PLACE || at[i].op == MDL_TIMELY_STATE)
            reg[i] = jet_constant(at[i].op == MDL_TIMELY_CONST ? at[i].value : place[i]);
        else
            reg[i] = jet_apply((mdl_timely_op)at[i].op, &reg[at[i].a], &reg[at[i].b], &reg[at[i].c]);
    }
}

// The forecast over an interval, behind evaluate_fixed().
static Jet
evaluate_over(const Run *run, const mdl_forecast *forecast, Span time)
{
    const mdl_timely *at = operations(run, forecast);
    Jet *reg = run->ahead->reg;
    for (uint32_t i = 0; i < forecast->count; i++)
        if (at[i].moving)
            reg[i] = at[i].op == MDL_TIMELY_TIME ? jet_time(time)
                                                 : jet_apply((mdl_timely_op)at[i].op, &reg[at[i].a], &reg[at[i].b], &reg[at[i].c]);
    return reg[forecast->count - 1];
}

static double
middle(Span a)
{
    return a.low / 2 + a.high / 2;
}

// --- the next change of a relation

typedef struct Search {
    Run *run;
    const mdl_forecast *forecast;
    double sign;          // of the root function on the side of the value that is held
    double sure;          // Outlook.sure
    bool at_zero;         // the relation has its other value where the function is zero
    uint32_t evaluations;
} Search;

static Jet
guard_over(Search *search, double from, double to)
{
    Jet jet = evaluate_over(search->run, search->forecast, (Span){from, to});
    search->evaluations++;
    if (search->sign > 0)
        return jet;
    return jet_apply(MDL_TIMELY_NEG, &jet, &jet, &jet);
}

static double
guard_at(Search *search, double time)
{
    return middle(guard_over(search, time, time).value);
}

// On the other side by more than rounding makes of it.
static bool
is_over(Search *search, double time)
{
    double high = guard_over(search, time, time).value.high;
    return high < 0 || (search->at_zero && high == 0);
}

// As far as rounding lets see.
static bool
is_negative(Search *search, double time)
{
    return guard_at(search, time) < 0;
}

// Not on its own side for certain.
static bool
is_unsure(Search *search, double time)
{
    double low = guard_over(search, time, time).value.low;
    return !(low > 0 || (low == 0 && !search->at_zero));
}

static bool
is_rising(Search *search, double time)
{
    return middle(guard_over(search, time, time).first) > 0;
}

// The first instant of (from, to] at which something is so that is not at `from`, and is at `to` and between.
static double
first_that(bool is_so(Search *, double), Search *search, double from, double to)
{
    while (to - from > DBL_EPSILON * fmax(fabs(from), fabs(to))) {
        double half = from + (to - from) / 2;
        if (!(half > from && half < to))
            break;
        if (is_so(search, half))
            to = half;
        else
            from = half;
    }
    return to;
}

// What is over at `time` is so for a while, within what follows up to `to`.
static bool
lasts(Search *search, double time, double to)
{
    if (guard_over(search, time, time).value.high < 0)
        return true;
    double later = time + fmax((to - time) * 0x1p-20, 4 * DBL_EPSILON * fabs(time));
    return later <= to && is_over(search, later);
}

// Whether a function that bends upwards over [from, to] falls at first. At `from` itself it may have a corner, where max() or if change over: what
// counts is the slope behind that.
static bool
falls_first(Search *search, double from, double to)
{
    double inside = from + (to - from) * 0x1p-20;
    return middle(guard_over(search, from, from).first) < 0 || middle(guard_over(search, inside, inside).first) < 0;
}

// When the function had its side for certain, within the interval where no end of one has shown it: it may have risen and fallen since.
static double
sure_before(Search *search, double from, double end)
{
    enum { LOOKS = 20 };
    double length = end - from;
    for (uint32_t i = 0; i < LOOKS && !isfinite(search->sure); i++) {
        length /= 2;
        if (!is_unsure(search, from + length))
            return from + length;
    }
    return search->sure;
}

// The change before `end`, at which the function is on the other side for certain, as it was not at `from`. Between where it was last on its
// side for certain and there rounding hides where it changes: a flat crossing is in the middle, what was zero has left it at the beginning.
// What rounding has hidden since the look began has left zero then: an event is a little behind the one before. A function that
// jumps is on the other side where that is certain.
static double
change_within(Search *search, double from, double end)
{
    const Run *run = search->run;
    double sure = sure_before(search, from, end), behind = first_that(is_over, search, isfinite(sure) ? sure : from, end), change = run->time;
    if (guard_over(search, behind, behind).value.high == 0)
        return behind;
    if (isfinite(sure)) {
        double before = first_that(is_unsure, search, sure, behind);
        if (behind - before <= NARROW * (run->options->stop - run->options->start))
            change = first_that(is_negative, search, before, behind);
        else if (span_size(guard_over(search, sure, sure).value) == 0)
            change = before;
        else
            change = before + (behind - before) / 2;
    }
    return span_size(guard_over(search, change, change).value) <= HIDDEN ? change : behind;
}

typedef enum Verdict { VERDICT_NONE, VERDICT_CHANGE, VERDICT_HIDDEN, VERDICT_OPEN } Verdict;

// The bounds over an interval where they follow more closely from those at its middle, by the derivatives (mean value and Taylor forms).
// rounding: some times what the function's bounds are apart by at one instant.
static Jet
narrowed(Search *search, Jet all, double from, double to, double *rounding)
{
    double half = from + (to - from) / 2, length = to - from;
    Span reach = {-length / 2, length / 2}, squares = {0, length * length / 8};
    Jet at = guard_over(search, half, half);
    *rounding = ROUNDINGS * (at.value.high - at.value.low);
    if (isfinite(all.second.low) && isfinite(all.second.high)) {
        all.first = span_meet(all.first, span_add(at.first, span_mul(all.second, reach)));
        Span bent = span_add(span_mul(at.first, reach), span_mul(all.second, squares));
        all.value = span_meet(all.value, span_add(at.value, bent));
    }
    all.value = span_meet(all.value, span_add(at.value, span_mul(all.first, reach)));
    return all;
}

// Whether the relation changes within [from, to], at whose beginning it does not. HIDDEN: it is nothing
// but rounding there. OPEN: the interval is to be cut.
static Verdict
judge(Search *search, double from, double to, double *change)
{
    Jet all = guard_over(search, from, to);
    double end = to, rounding = 0;
    if (all.value.low <= 0 && isfinite(all.first.low) && isfinite(all.first.high))
        all = narrowed(search, all, from, to, &rounding);
    if (search->at_zero && all.value.high <= 0) {
        *change = from;
        return VERDICT_CHANGE;
    }
    if (all.value.low > 0 || (all.value.low == 0 && !search->at_zero))
        return VERDICT_NONE;
    if (all.value.low < 0 && all.value.low >= -rounding && all.value.high <= rounding)
        return VERDICT_HIDDEN;
    // Rounding at the middle does not speak for all of a long interval: `max(x, 0) - 1e-12` is exact where x is negative.
    if (all.value.low < 0 && all.value.low >= -rounding && !is_over(search, from) && !is_over(search, to))
        return to - from > SHORT * (search->run->options->stop - search->run->options->start) ? VERDICT_OPEN : VERDICT_NONE;
    if (search->at_zero && is_over(search, from) && lasts(search, from, to)) {
        *change = from;
        return VERDICT_CHANGE;
    }
    bool monotonic = all.first.low >= 0 || all.first.high <= 0;
    if (!monotonic && !(all.second.low >= 0 || all.second.high <= 0))
        return VERDICT_OPEN;
    if (!monotonic && all.second.low >= 0) // it falls and rises: its bottom is where the slope changes
        end = falls_first(search, from, to) ? first_that(is_rising, search, from, to) : from;
    if (!is_over(search, end) && (end == to || !is_over(search, to)))
        return VERDICT_NONE;
    if (!is_over(search, end))
        end = to;
    *change = change_within(search, from, end);
    // Zero at the end of the interval, or at its bottom: whether it lasts is seen in the next one, or it does not.
    return lasts(search, end, to) || lasts(search, *change, to) ? VERDICT_CHANGE : VERDICT_NONE;
}

// Looks from where the outlook ends up to `end`, until a change is found. What rounding hides is looked through to its end: the change may be at
// its beginning, which the next step must not have passed.
static void
look(Search *search, Outlook *outlook, double end)
{
    double stop = search->run->options->stop;
    double finest = 64 * DBL_EPSILON * fmax(fabs(outlook->clear), fabs(stop)), length = end - outlook->clear, floor = finest;
    // At the very beginning a function may be on its way to the other side: an event is a little behind the one before.
    double now = search->run->time, first = now + 128 * DBL_EPSILON * fmax(fabs(now), 1e-3 * (stop - search->run->options->start));
    double before = outlook->clear; // of the interval before
    if (!isfinite(outlook->sure) && !is_unsure(search, outlook->clear))
        outlook->sure = outlook->clear;
    search->sure = outlook->sure;
    while (outlook->clear < end && search->evaluations < (search->sure < outlook->clear ? UNSURE : EVALUATIONS)) {
        double from = outlook->clear, to = length < end - from ? from + length : end, change = to;
        Verdict verdict = judge(search, from, to, &change);
        bool tiny = to - from <= floor;
        if (verdict == VERDICT_OPEN && !tiny) {
            length = (to - from) / 2;
            continue;
        }
        if (verdict == VERDICT_HIDDEN) {
            floor = fmax(floor, to - from);
            verdict = VERDICT_OPEN;
        } else if (verdict == VERDICT_NONE) {
            floor = finest;
        }
        // What touches zero flatter than a parabola does, or is zero for a while, is decided at the ends of short intervals, which become longer.
        if (verdict == VERDICT_OPEN && guard_over(search, to, to).value.high < 0) {
            change = change_within(search, from, to);
            verdict = VERDICT_CHANGE;
        } else if (verdict == VERDICT_CHANGE && change == from && !is_over(search, before)) {
            change = first_that(is_over, search, before, from); // zero has begun within the interval before, which was not decided
        }
        if (verdict == VERDICT_OPEN && floor < SHORT * (search->run->options->stop - search->run->options->start))
            floor = 2 * floor;
        if (verdict == VERDICT_CHANGE) {
            outlook->change = fmax(change, first);
            return;
        }
        double half = from + (to - from) / 2, seen = !is_unsure(search, to) ? to : half; // it may have risen and be back
        if (seen == to || !is_unsure(search, half))
            search->sure = outlook->sure = seen;
        before = from;
        outlook->clear = to;
        length = 2 * (to - from);
    }
    outlook->touches = outlook->clear >= stop && isfinite(search->sure) && is_unsure(search, stop)
                       && stop - first_that(is_unsure, search, search->sure, stop) <= NARROW * (stop - search->run->options->start);
}

static void
lose(Run *run, uint32_t k, uint32_t kind)
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

static void
extend(Run *run, uint32_t k)
{
    const mdl_forecast *forecast = &run->model->forecast[k];
    Outlook *outlook = &run->ahead->outlook[k];
    Search search = {.run = run, .forecast = forecast, .sign = outlook->held != 0 ? 1 : -1,
                     .at_zero = (outlook->held != 0) != (run->model->relation[forecast->relation].zero != 0)};
    double from = outlook->clear, stop = run->options->stop, end = stop;
    if (isfinite(outlook->reach)) {
        if (from > outlook->made)
            outlook->reach = 2 * (from - outlook->made); // spared so far
        end = fmin(stop, fmax(from, outlook->made) + outlook->reach);
    }
    evaluate_fixed(run, forecast);
    look(&search, outlook, end);
    double operations_done = (double)search.evaluations * forecast->count;
    outlook->cost += operations_done;
    run->ahead->credit -= operations_done;
    bool hopeless = outlook->change == INFINITY && outlook->clear < end && outlook->clear - from < LEAST_PROGRESS * (stop - run->options->start);
    outlook->hopeless = hopeless ? outlook->hopeless + 1 : 0;
    if (outlook->hopeless == HOPELESS_LOOKS)
        lose(run, k, LOST_INTRICATE);
}

// More has been spent than the run has come through: what wasted much is given up, all at once, so that it is told once.
static void
give_up(Run *run)
{
    const mdl_model *model = run->model;
    Ahead *ahead = run->ahead;
    for (uint32_t k = 0; k < model->n_forecasts; k++)
        if (model->forecast[k].relation != UINT32_MAX && !ahead->outlook[k].lost && ahead->outlook[k].wasted > PATIENCE) {
            lose(run, k, LOST_COSTLY);
            ahead->credit = LOAN * CREDIT;
        }
}

// --- terms that a function with an algorithm computes

// Values are taken so far apart: what comes and goes between two of them is not seen.
static double
apart(const Run *run)
{
    return 1e-4 * (run->options->stop - run->options->start);
}

// Their values at one instant: v[0], states along their slopes, and places that the equations compute anew change. kept: v as it was.
static void
glimpse_at(Run *run, const double *kept, double time)
{
    const mdl_model *model = run->model;
    run->v[0] = fmin(time, run->options->stop);
    for (uint32_t i = 0; i < model->nx; i++)
        run->v[model->y + i] = kept[model->y + i] + kept[model->dx + i] * (run->v[0] - kept[0]);
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
jump_seen(Run *run, const double *kept, uint32_t k, uint32_t i)
{
    enum { HALVINGS = 30 };
    static const double BESIDE = 8, SUDDEN = 0.9; // of the changes beside it; part of the change that is left
    const double *value = glimpses_of(run, k);
    double before = i > 0 ? value[i] - value[i - 1] : 0, behind = i + 2 <= GLIMPSES ? value[i + 2] - value[i + 1] : 0;
    double all = value[i + 1] - value[i], low = value[i], high = value[i + 1], from = run->ahead->seen + i * apart(run), to = from + apart(run);
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
find_jumps(Run *run, const double *kept, uint32_t k)
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
    double *kept = malloc(model->nv * sizeof *kept);
    if (!kept)
        return;
    memcpy(kept, run->v, model->nv * sizeof *kept);
    for (uint32_t i = 0; i <= GLIMPSES; i++) {
        glimpse_at(run, kept, from + i * apart(run));
        for (uint32_t k = 0; k < model->n_forecasts; k++)
            if (model->forecast[k].place)
                glimpses_of(run, k)[i] = run->v[model->forecast[k].place];
    }
    run->ahead->seen = from;
    run->ahead->taken = true;
    for (uint32_t k = 0; k < model->n_forecasts; k++)
        if (model->forecast[k].place)
            find_jumps(run, kept, k);
    failure_clear(run);
    memcpy(run->v, kept, model->nv * sizeof *kept);
    free(kept);
}

// Behind an event: some of the values are others now.
static bool
glimpses_changed(Run *run)
{
    const mdl_model *model = run->model;
    Ahead *ahead = run->ahead;
    double *kept = ahead->taken ? malloc(model->nv * sizeof *kept) : NULL;
    bool changed = false;
    if (!kept)
        return false;
    memcpy(kept, run->v, model->nv * sizeof *kept);
    for (uint32_t i = 0; i <= GLIMPSES; i += GLIMPSES / 2) {
        glimpse_at(run, kept, ahead->seen + i * apart(run));
        for (uint32_t k = 0; k < model->n_forecasts; k++)
            if (model->forecast[k].place) {
                double before = glimpses_of(run, k)[i], now = run->v[model->forecast[k].place];
                changed = changed || fabs(now - before) > SAME * (fabs(now) + fabs(before));
            }
    }
    failure_clear(run);
    memcpy(run->v, kept, model->nv * sizeof *kept);
    free(kept);
    ahead->taken = ahead->taken && !changed;
    ahead->seen = changed ? NAN : ahead->seen;
    return changed;
}

// How long steps may be from `from` on, within a stretch of the given length, for a term without operations: as pace_of(), by differences.
static double
pace_seen(Run *run, uint32_t k, double from, double length)
{
    Ahead *ahead = run->ahead;
    double h = apart(run), least = INFINITY, most = -INFINITY, bend = 0;
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
        if (!forecast->count) {
            lose(run, k, LOST_UNKNOWN);
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
        *outlook = (Outlook){.clear = run->time, .change = INFINITY, .held = held, .sure = -INFINITY, .wasted = wasted, .made = run->time,
                             .reach = wasted > PATIENCE && apart > 0 ? FAR * apart : INFINITY};
    }
    terms = (ahead->glimpse && glimpses_changed(run)) || terms;
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
        if (run->model->forecast[k].relation != UINT32_MAX && !outlook->lost && outlook->change == INFINITY
            && outlook->clear <= run->time && run->time < run->options->stop)
            extend(run, k);
    }
    tell_lost(run);
}

double
ahead_next_instant(const Run *run)
{
    double next = INFINITY;
    for (uint32_t k = 0; run->ahead && k < run->model->n_forecasts; k++)
        if (run->model->forecast[k].relation != UINT32_MAX && !run->ahead->outlook[k].lost)
            next = fmin(next, run->ahead->outlook[k].change);
    return next;
}

void
ahead_mark(Run *run, double instant)
{
    for (uint32_t k = 0; run->ahead && k < run->model->n_forecasts; k++) {
        const mdl_forecast *forecast = &run->model->forecast[k];
        if (forecast->relation == UINT32_MAX || run->ahead->outlook[k].lost
            || !(run->ahead->outlook[k].change <= instant + 8 * DBL_EPSILON * fabs(instant)))
            continue;
        run->guard[forecast->relation].pending = true;
    }
}

// --- terms of the equations of motion

// How large a term becomes in the time that follows: changes that are nothing beside that need not be followed.
static double
size_ahead(const Run *run, const mdl_forecast *forecast)
{
    double end = run->time + 0.1 * (run->options->stop - run->options->start);
    double size = span_size(evaluate_over(run, forecast, (Span){run->time, fmin(end, run->options->stop)}).value);
    return isfinite(size) ? size : 0;
}

// How long steps from `from` on may be for one term, within a stretch of the given length; less than its samples' distance: not known.
static double
pace_of(Run *run, const mdl_forecast *forecast, double size, double from, double length)
{
    Jet all = evaluate_over(run, forecast, (Span){from, from + length});
    double bend = span_size(all.second), least = INFINITY, most = -INFINITY, rounding = 0;
    if (bend == 0)
        return INFINITY;
    for (uint32_t i = 0; i <= SAMPLES; i++) {
        double time = from + length * i / SAMPLES;
        Span sample = evaluate_over(run, forecast, (Span){time, time}).value;
        least = fmin(least, middle(sample));
        most = fmax(most, middle(sample));
        // At an instant the bounds are apart by rounding alone: of a term that cancels nothing else is left, neither value nor curvature.
        if (isfinite(sample.low) && isfinite(sample.high))
            rounding = fmax(rounding, sample.high / 2 - sample.low / 2);
    }
    double nothing = fmax(fmax(NOTHING * run->tolerance * fmax(size, fmax(fabs(least), fabs(most))), rounding), UNDERFLOW_SIZE);
    return (run->solver == MDL_SOLVER_GAUSS ? 1 : 4) * sqrt(fmax(most - least, nothing) / bend);
}

// A term whose bounds ask for the shortest steps all the time cannot be bounded well enough.
static void
lose_term(Run *run, uint32_t k, bool hopeless)
{
    Outlook *outlook = &run->ahead->outlook[k];
    outlook->hopeless = hopeless ? outlook->hopeless + 1 : 0;
    if (outlook->hopeless < HOPELESS)
        return;
    outlook->lost = true;
    run_message(run, MDL_WARNING, "what depends on time alone in the equation of `%s` is too intricate to be bounded ahead of the integration: a "
                "change of it that comes and goes within one step is not seen (--max-step bounds steps)", run->model->forecast[k].text);
}

static void
find_pace(Run *run, double shortest)
{
    const mdl_model *model = run->model;
    Ahead *ahead = run->ahead;
    double span = run->options->stop - run->options->start, length = ahead->length > 0 ? 2 * ahead->length : fmin(run->interval, span / 500);
    length = fmax(fmin(length, fmin(0.1 * span, run->options->stop - run->time)), shortest);
    ahead->pace = INFINITY;
    if (ahead->glimpse)
        length = fmin(length, GLIMPSES / 4 * apart(run));
    for (uint32_t k = 0; k < model->n_forecasts; k++) {
        const mdl_forecast *forecast = &model->forecast[k];
        if (forecast->relation != UINT32_MAX)
            continue;
        if (ahead->outlook[k].lost)
            continue;
        bool seen = forecast->place != 0;
        if (!seen)
            evaluate_fixed(run, forecast);
        double size = seen ? 0 : size_ahead(run, forecast);
        double pace = seen ? pace_seen(run, k, run->time, length) : pace_of(run, forecast, size, run->time, length);
        while (!(pace >= length / SAMPLES) && length > shortest) {
            length /= 2;
            pace = seen ? pace_seen(run, k, run->time, length) : pace_of(run, forecast, size, run->time, length);
        }
        lose_term(run, k, pace < shortest);
        ahead->pace = fmin(ahead->pace, fmax(pace, shortest));
    }
    ahead->length = length;
    ahead->smooth = run->time + length;
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
        else if (!outlook->lost && outlook->change == INFINITY && outlook->clear < run->options->stop)
            limit = fmin(limit, outlook->clear);
    }
    bool moves = model->nx || run->delays || run->transports;
    if (!terms || !moves || run->options->step > 0 || run->options->outside) // steps of others have lengths of their own
        return limit;
    double last = run->time - ahead->before, shortest = run_shortest(run);
    if (!(run->time + 2 * last < ahead->smooth))
        find_pace(run, shortest);
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
