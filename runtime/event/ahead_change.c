// ahead_change.c: the next change of a relation that depends on time alone.
//
// Purpose: `sin(1000*time) > 0.9999` becomes time events, found before the steps reach them.
// Method: a relation keeps its value
//         where its root function cannot be negative, changes at most once where the function is monotonic, and at most at one bottom in
//         between where the derivative is; all other intervals are cut in half (interval branch and bound: Moore, Kearfott, Cloud,
//         Introduction to Interval Analysis, 2009, chapter 8). Where the relation has its other value at zero, `max(0, abs(time - a) - b) > 0`,
//         zero is on the other side, when it lasts: a function that is zero at one instant only is there within rounding, or is not. What
//         rounding hides for a while, `tanh(x) > atan(x)` around 0, changes in the middle of that, or at the event at which it began.
// Contract: no change is missed, but for those that hold for less than rounding can tell. A function that is too intricate is lost (ahead_lose).
// Complexity: a change: about a hundred evaluations of one relation.
#include <float.h>
#include <math.h>

#include "runtime/event/ahead_inner.h"
#include "runtime/point/run.h"

enum { EVALUATIONS = 4000, UNSURE = 10 * EVALUATIONS, HOPELESS_LOOKS = 10 };
static const double LEAST_PROGRESS = 1e-3; // part of the run that so many evaluations must come through
static const double HIDDEN = 1e-12;        // a function that has crossed zero keeps its new side within this (mixed.c)
static const double ROUNDINGS = 16;         // what is below zero by so many times its rounding at most is not seen there
static const double NARROW = 1e-12;        // part of the run: rounding hides as much of a crossing that is not flat
static const double SHORT = 1e-4;          // part of the run: an interval is no longer that is decided at its ends

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
    Jet jet = ahead_evaluate_over(search->run, search->forecast, (Span){from, to});
    search->evaluations++;
    if (search->sign > 0)
        return jet;
    return jet_apply(MDL_TIMELY_NEG, &jet, &jet, &jet);
}

static double
guard_at(Search *search, double time)
{
    return span_middle(guard_over(search, time, time).value);
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
    return span_middle(guard_over(search, time, time).first) > 0;
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
    return span_middle(guard_over(search, from, from).first) < 0 || span_middle(guard_over(search, inside, inside).first) < 0;
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

void
ahead_extend(Run *run, uint32_t k)
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
    ahead_evaluate_fixed(run, forecast);
    look(&search, outlook, end);
    double operations_done = (double)search.evaluations * forecast->count;
    outlook->cost += operations_done;
    run->ahead->credit -= operations_done;
    bool hopeless = outlook->change == INFINITY && outlook->clear < end && outlook->clear - from < LEAST_PROGRESS * (stop - run->options->start);
    outlook->hopeless = hopeless ? outlook->hopeless + 1 : 0;
    if (outlook->hopeless == HOPELESS_LOOKS)
        ahead_lose(run, k, LOST_INTRICATE);
}
