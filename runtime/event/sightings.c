// sightings.c: what conditions do between the points at which they are looked at.
//
// Purpose: a condition may flip and flip back between two looks; dips of its function that come close to zero, and functions that are not what was expected.
// Method: parabolas through the latest three values point to minima, which are followed to their bottom; beside them corners with
// equal slopes are thought of. A function that differs from its parabola by more than errors of the states make of it (answers.c) asks for
// denser looks (runtime/shell/advance.c).
// Contract: event.h. Complexity: a few operations per function and look; at most 12 evaluations per dip.
#include <math.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/event/root_inner.h"
#include "runtime/point/run.h"

// A lowest point is worth a look when it is below this part of what the values beside it come to.
static const double LOW = 0.3;

// Parts of a function's distance from zero that it may be off what parabolas say between two looks.
static const double UNSEEN = 0.25;

// Lowest point of the parabola through three values at a < b < c. False: it has none.
static bool
lowest_point(const double at[3], const double value[3], double *when, double *low)
{
    double first = (value[1] - value[0]) / (at[1] - at[0]), second = (value[2] - value[1]) / (at[2] - at[1]);
    double bend = (second - first) / (at[2] - at[0]);
    if (!(bend > 0))
        return false;
    *when = (at[0] + at[1]) / 2 - first / (2 * bend);
    *low = value[0] + first * (*when - at[0]) + bend * (*when - at[0]) * (*when - at[1]);
    return true;
}

// The edge of the function with equal slopes up and down, as that of abs(x - a), through three values at a < b < c of which the middle one is lowest:
// the steeper of its sides goes on beyond it. False: it has none.
static bool
lowest_edge(const double at[3], const double value[3], double *when, double *low)
{
    double fall = (value[0] - value[1]) / (at[1] - at[0]), rise = (value[2] - value[1]) / (at[2] - at[1]), slope = fmax(fall, rise);
    if (!(fmin(fall, rise) >= 0 && slope > 0))
        return false;
    uint32_t first = fall > rise; // the edge lies between this one and the next
    double down = value[first] - value[first + 1], width = at[first + 1] - at[first];
    *when = at[first] + (width + down / slope) / 2;
    *low = value[first] - slope * (*when - at[first]);
    return true;
}

static double
seen_at(const Run *run, uint32_t i)
{
    return run->sightings.at[(run->sightings.first + i) % 3];
}

static const double *
seen_row(const Run *run, uint32_t i)
{
    return run->seen + (size_t)((run->sightings.first + i) % 3) * run->guards;
}

// Where the last three values say that guard k was lowest, not before `from`, when that is low; otherwise NAN.
static double
dip(const Run *run, uint32_t k, double from)
{
    const double at[3] = {seen_at(run, 0), seen_at(run, 1), seen_at(run, 2)};
    const double value[3] = {seen_row(run, 0)[k], seen_row(run, 1)[k], seen_row(run, 2)[k]};
    double when, low, edge, bottom;
    if (!lowest_point(at, value, &when, &low))
        return NAN;
    // A smooth function is not as low as an edge would be; where that would not come close to zero there is none to look for.
    if (!(low < LOW * fmax(value[when > at[1]], value[(when > at[1]) + 1])) && lowest_edge(at, value, &edge, &bottom) && bottom < 0.1 * value[1]) {
        when = edge;
        low = bottom;
    }
    int before = when > at[1];
    bool inside = when > at[0] && when < at[2] && at[before] >= from;
    return inside && low < LOW * fmax(value[before], value[before + 1]) ? when : NAN;
}

// Looks for dips among all guards: most parabolas do not fall at their first point and rise at their last.
static void
find_dips(Run *run, double from)
{
    double before = seen_at(run, 1) - seen_at(run, 0), behind = seen_at(run, 2) - seen_at(run, 1);
    if (!(before > 0 && behind > 0))
        return;
    const double *a = seen_row(run, 0), *b = seen_row(run, 1), *c = seen_row(run, 2);
    double both = before + behind, least = behind * behind / (before * (both + behind)), most = before * before / (behind * (both + before));
    for (uint32_t k = 0; k < run->guards; k++) {
        double fall = b[k] - a[k], rise = c[k] - b[k];
        if (!(rise > least * fall) || !(fall < most * rise))
            continue;
        double when = dip(run, k, from);
        if (isnan(when))
            continue;
        if (!run->sightings.dips++)
            for (uint32_t i = 0; i < run->guards; i++)
                run->guard[i].dip = NAN;
        run->guard[k].dip = when;
    }
}

// Whether the function of a relation is far from the parabola through its three points, beside how near it is to zero: between two looks it
// may have been anywhere, and parabolas show no dips. A cubic part has a sixteenth of what it makes here in the middle between looks.
static bool
surprises(Run *run)
{
    double at[3], to = run->v[0], weight[3];
    for (uint32_t i = 0; i < 3; i++)
        at[i] = seen_at(run, i);
    if (!(at[1] > at[0] && at[2] > at[1] && to > at[2]))
        return false;
    weight[0] = (to - at[1]) * (to - at[2]) / ((at[0] - at[1]) * (at[0] - at[2]));
    weight[1] = (to - at[0]) * (to - at[2]) / ((at[1] - at[0]) * (at[1] - at[2]));
    weight[2] = (to - at[0]) * (to - at[1]) / ((at[2] - at[0]) * (at[2] - at[1]));
    // How much of the error of the parabola there is its error between the latest two points: products of distances.
    double middle = (to - at[2]) / 2, inside = middle * middle * (middle + at[2] - at[1]);
    double share = inside / ((to - at[0]) * (to - at[1]) * (to - at[2]));
    const double *a = seen_row(run, 0), *b = seen_row(run, 1), *c = seen_row(run, 2);
    for (uint32_t k = 0; k < run->model->n_relations; k++) {
        double expected = weight[0] * a[k] + weight[1] * b[k] + weight[2] * c[k], near = c[k] < run->phi[k] ? c[k] : run->phi[k];
        double deviation = share * fabs(run->phi[k] - expected);
        if (deviation > UNSEEN * near && near > 0 && !(run->guard[k].band > 0) && !ahead_knows(run, k) && answer_is_known(run, k, deviation))
            return true;
    }
    return false;
}

bool
root_suspect(Run *run, double from)
{
    Sightings *sightings = &run->sightings;
    // Where steps that were far from all changes lie between, the values before say nothing.
    bool follows = sightings->count >= 3 && seen_at(run, 2) >= from;
    sightings->surprised = sightings->surprised || (follows && surprises(run));
    uint32_t newest = sightings->first;
    sightings->first = newest < 2 ? newest + 1 : 0;
    sightings->at[newest] = run->v[0];
    memcpy(run->seen + (size_t)newest * run->guards, run->phi, run->guards * sizeof *run->phi);
    sightings->dips = 0;
    if (++sightings->count >= 3)
        find_dips(run, from);
    return sightings->dips > 0;
}

void
root_look_again(Run *run, double before)
{
    if (condition_evaluate(run, before) != MDL_OK)
        return;
    root_compute(run);
    run->sightings.count = 0;
    (void)root_suspect(run, before);
}

// Where a function may be lowest that has these values at a < b < c, the middle one lowest, when that is much lower than what was seen; otherwise NAN.
static double
lower_yet(const double at[3], const double value[3])
{
    double when, least;
    if (lowest_point(at, value, &when, &least) && least < LOW * value[1] && when > at[0] && when < at[2] && when != at[1])
        return when;
    return lowest_edge(at, value, &when, &least) && least < LOW * value[1] && when != at[1] ? when : NAN;
}

// One more value between those of a bracket of the lowest.
static void
close_in(double at[3], double value[3], double point, double now)
{
    bool lower = now < value[1], right = point > at[1];
    int end = lower == right ? 0 : 2;
    at[end] = lower ? at[1] : point;
    value[end] = lower ? value[1] : now;
    at[1] = lower ? point : at[1];
    value[1] = lower ? now : value[1];
}

// Follows guard k to the bottom of its dip, as long as it may be much lower than what was seen.
MDL_CHECKED static int
follow_dip(Run *run, uint32_t k, double *instant, bool *found)
{
    enum { LOOKS = 12 };
    double at[3], value[3], next = run->guard[k].dip;
    for (uint32_t i = 0; i < 3; i++) {
        at[i] = seen_at(run, i);
        value[i] = seen_row(run, i)[k];
    }
    double low = at[next > at[1]];
    for (int look = 0; look < LOOKS && next > low && next < at[2]; look++) {
        double before = next > at[1] ? at[1] : fmax(low, at[0]);
        bool lost = condition_evaluate(run, next) != MDL_OK, violated = lost || root_violated(run);
        if (violated && !lost && run->sightings.extra && root_uncertain(run))
            return MDL_OK;
        int status = violated ? root_locate(run, fmax(low, before), next, instant, found) : MDL_OK;
        if (status != MDL_OK || *found || lost)
            return status;
        close_in(at, value, next, run->phi[k]);
        next = lower_yet(at, value);
    }
    return MDL_OK;
}

int
root_dipped(Run *run, double *instant, bool *found)
{
    *found = false;
    for (;;) {
        uint32_t first = UINT32_MAX;
        for (uint32_t k = 0; k < run->guards; k++)
            if (!isnan(run->guard[k].dip) && (first == UINT32_MAX || run->guard[k].dip < run->guard[first].dip))
                first = k;
        int status = first == UINT32_MAX ? MDL_OK : follow_dip(run, first, instant, found);
        if (status != MDL_OK || *found || first == UINT32_MAX)
            return status;
        run->guard[first].dip = NAN;
    }
}
