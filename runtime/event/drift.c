// drift.c: terms of the motion that come and go with states, between the ends of a step.
//
// Purpose: what a body finds at a place, `exp(-((s - 20)/0.005)^2)` with der(s) = v, may come and go within one step that nothing else makes short.
// Method: the compiler has written such terms as operations on states (model.h, drift). Over each step they are bounded by where its states get to
//         (step_path.c). A term whose operations cannot be narrow over the step (gentle.c) is one that the method has seen; that is decided once for a box that
//         states stay in for some steps. So is a term that stays between what it is at both ends, and half of their distance beyond; else the stretch is cut in
//         half until it is, or until the term is seen outside of that. There the equations are evaluated: where the rates that they ask for differ from those of
//         the polynomial by as much as changes a state by more than the tolerance over the stretch, the step is taken back. The next one ends where the term
//         begins to leave, and those behind it are no longer than half the way from there to where it was seen.
//         Where somebody else integrates, a place that his step has passed over is shown as an event where the term begins to leave, and so are the ends of
//         steps behind it. The path that is known there is less than what he integrates: a term that the cubic through its values and slopes at
//         both ends foretells is one that he has seen.
// Contract: event.h. A term whose bounds do not decide within a number of evaluations, time and again, is given up: what changes it faster than steps are
//           long is not seen then. A bump that is less than half of what the term changes by over the step is hidden.
// Complexity: an evaluation of the values of each term per box, or three per step where it is not gentle; sixteen more of bounds per step in the long run where they do
//           not decide.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/step_path.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"

enum { CREDIT_MOST = 400, CREDIT_PER_STEP = 16, HOPELESS = 20, TRIES = 30, REPEATS = 12, HALVINGS = 30 };
static const double NOTHING = 1e-2;          // of the tolerance, of a term's size
static const double UNDERFLOW_SIZE = 1e-200; // what of a term is no more may be 0 for that reason
static const double BESIDE = 0.5;            // of the difference between the ends
static const double RELEVANT = 10;           // changes of states, in units of what steps may be wrong by
static const double FURTHER = 1e6;
static const double ASIDE = 1e-7;            // of a state's size: how far beside a point its rates are looked at
static const double SHORTEST = 0x1p-20;      // of half a step
static const double FIRST_MARGIN = 4, LEAST_MARGIN = 0.25, MOST_MARGIN = 64;
enum { MISSED_PART = 8 };

struct Drifts {
    double until, pace; // up to there no step is longer
    double begins;      // where a step must end at the latest; NAN: nowhere
    double refused;     // the latest step that was taken back began here,
    uint32_t repeats;   // and so many before it
    uint32_t *credit;   // per term: evaluations,
    uint8_t *hopeless;  // and looks in a row that they did not suffice for
    double *rate;       // 3 nx: gaps of rates, rates, units of states
    Span *point;        // per state that is read: where it is
    Span *latest;       // per term: what it is; low is NAN: not known
    double known;       // at this time, NAN: not known
    // Terms that are gentle where states stay for some steps are not looked at while they are there.
    Span *box, box_time; // per state that is read
    uint8_t *mild;       // per term: it is, within the box
    bool boxed;          // there is one, for this solver and since the latest event
    mdl_solver box_solver;
    uint64_t box_events;
    double margin;       // of the box, in sizes of the first step in it
    uint32_t steps, missed; // in it: steps, and terms that were gentle over one of them, but are not in the box
};

MDL_CHECKED static int
drift_create(Run *run)
{
    const mdl_model *model = run->model;
    if (!model->n_drifts)
        return MDL_OK;
    Drifts *drifts = run->drifts = calloc(1, sizeof *drifts);
    if (!drifts)
        return MDL_INTERNAL;
    drifts->credit = malloc(model->n_drifts * sizeof *drifts->credit);
    drifts->hopeless = calloc(model->n_drifts, sizeof *drifts->hopeless);
    drifts->rate = malloc((3 * (size_t)model->nx + 1) * sizeof *drifts->rate);
    drifts->point = malloc((model->nx + 1) * sizeof *drifts->point);
    drifts->latest = calloc(model->n_drifts, sizeof *drifts->latest);
    drifts->box = malloc((model->nx + 1) * sizeof *drifts->box);
    drifts->mild = malloc(model->n_drifts * sizeof *drifts->mild);
    drifts->margin = FIRST_MARGIN;
    if (!drifts->credit || !drifts->hopeless || !drifts->rate || !drifts->point || !drifts->latest || !drifts->box || !drifts->mild)
        return MDL_INTERNAL;
    for (uint32_t k = 0; k < model->n_drifts; k++)
        drifts->credit[k] = CREDIT_MOST;
    drifts->until = -INFINITY;
    drifts->pace = INFINITY;
    drift_forget(run);
    return MDL_OK;
}

static void
drift_free(Run *run)
{
    Drifts *drifts = run->drifts;
    if (!drifts)
        return;
    free(drifts->credit);
    free(drifts->hopeless);
    free(drifts->rate);
    free(drifts->point);
    free(drifts->latest);
    free(drifts->box);
    free(drifts->mild);
    free(drifts);
    run->drifts = NULL;
}

void
drift_forget(Run *run)
{
    if (!run->drifts)
        return;
    if (!run->outside) { // who shows a term as an event goes on behind it
        run->drifts->until = -INFINITY;
        run->drifts->pace = INFINITY;
    }
    run->drifts->begins = run->drifts->refused = run->drifts->known = NAN;
}

// --- one term over a step

typedef struct Glance {
    Run *run;
    const mdl_forecast *term;
    Span band;        // what was seen of it
    double beside;    // and how far beyond
    uint32_t credit;
} Glance;

// What the term is at an end of the step.
static Span
value_at_end(Run *run, const mdl_forecast *term, const double *y, double time)
{
    const StepPath *path = run->path;
    Span *point = run->drifts->point;
    for (uint32_t i = 0; i < term->count; i++) {
        const mdl_timely *at = &run->model->timely[term->first + i];
        if (at->op == MDL_TIMELY_STATE)
            point[path->slot[at->a]] = (Span){y[at->a], y[at->a]};
    }
    return path_values(run, term, point, (Span){time, time});
}

static bool
is_within(const Glance *glance, Span value)
{
    return value.low >= glance->band.low - glance->beside && value.high <= glance->band.high + glance->beside;
}

static Span
hull(Span a, Span b)
{
    return (Span){fmin(a.low, b.low), fmax(a.high, b.high)};
}

// True: nothing else is to be looked at.
static bool
is_plain(Glance *glance)
{
    Run *run = glance->run;
    StepPath *path = run->path;
    Drifts *drifts = run->drifts;
    Span *latest = &drifts->latest[glance->term - run->model->drift];
    path_reach(run);
    Span all = path_values(run, glance->term, path->reach, (Span){path->start, path->end});
    if (path_is_gentle(run, glance->term)) {
        latest->low = NAN;
        drifts->missed++;
        return true;
    }
    bool known = drifts->known == path->start && !isnan(latest->low);
    Span before = known ? *latest : value_at_end(run, glance->term, path->begin, path->start);
    Span after = *latest = value_at_end(run, glance->term, path->y, path->end);
    if (!isfinite(before.low) || !isfinite(before.high) || !isfinite(after.low) || !isfinite(after.high))
        return true;
    glance->band = hull(before, after);
    double size = span_size(glance->band), rounding = fmax(before.high - before.low, after.high - after.low);
    glance->beside = fmax(fmax(BESIDE * (glance->band.high - glance->band.low), NOTHING * run->tolerance * size), fmax(rounding, UNDERFLOW_SIZE));
    return is_within(glance, all);
}

static Jet
look(Glance *glance, double from, double to)
{
    glance->credit -= glance->credit > 0;
    return path_over(glance->run, glance->term, glance->run->path->coefficient, from, to);
}

// It stays within [from, to].
static bool
is_clear(Glance *glance, double from, double to)
{
    Jet all = look(glance, from, to);
    if (is_within(glance, all.value))
        return true;
    if (!isfinite(all.first.low) || !isfinite(all.first.high))
        return false;
    double half = from + (to - from) / 2, reach = (to - from) / 2 * glance->run->path->half;
    Span middle = look(glance, half, half).value;
    return is_within(glance, span_meet(all.value, span_add(middle, span_mul(all.first, (Span){-reach, reach}))));
}

static bool
is_outside(Glance *glance, double place)
{
    Span value = look(glance, place, place).value;
    double middle = value.low / 2 + value.high / 2;
    return middle < glance->band.low - glance->beside || middle > glance->band.high + glance->beside;
}

// The first place found in [*from, 1] at which the term is outside, with the beginning of a stretch, behind clear ones, that it is in. False: there is none, or
// the credit does not suffice.
static bool
find_outside(Glance *glance, double *from, double *to, double *place)
{
    double length = 1 - *from;
    while (*from < 1 && glance->credit) {
        *to = fmin(*from + length, 1);
        *place = *from + (*to - *from) / 2;
        bool clear = is_clear(glance, *from, *to);
        if (!clear && is_outside(glance, *place))
            return true;
        if (!clear && *to - *from > SHORTEST) {
            length = (*to - *from) / 2;
            continue;
        }
        *from = *to;
        length *= 2;
    }
    return false;
}

// Of state i with this value. Others' tolerances are relative to the nominal values that they are told, and what their steps leave of invariants shows how
// wrong these are.
static double
relevant(const Run *run, uint32_t i, double value)
{
    if (run->path->cubic)
        return RELEVANT * fmax(1, run->strayed) * run->tolerance * (fabs(value) + fabs(run->v[run->model->nominal + i]));
    return RELEVANT * (run->tolerance * fabs(value) + run->abstol[i]);
}

// How fast the equations take back what is off in the direction `gap` of rates, beside the point in v, where they are `at_point`. Stiff equations answer a state
// that is off by no more than it may be with rates that no step has: the gap of rates times the length of a stretch says nothing there, and what it asks for
// is the gap divided by this (as errors of stiff methods are filtered: Hairer and Wanner, Solving Ordinary Differential Equations II, IV.8). v is used.
static double
stiffness(Run *run, const double *gap, const double *at_point, const double *unit, double step)
{
    const mdl_model *model = run->model;
    double along = 0, size = 0;
    for (uint32_t i = 0; i < model->nx; i++)
        run->v[model->y + i] += step * gap[i];
    if (evaluate_solved(run, false) != MDL_OK)
        return 0;
    for (uint32_t i = 0; i < model->nx; i++) {
        along += (run->v[model->yp + i] - at_point[i]) * gap[i] / (unit[i] * unit[i]);
        size += gap[i] * gap[i] / (unit[i] * unit[i]);
    }
    double rate = -along / (step * size);
    return rate > 0 ? rate : 0;
}

// How much the equations at this place ask for other rates than the polynomial has: what that changes in a state over the stretch, in units of what is relevant.
// v is used.
static double
unseen(Run *run, double place, double length)
{
    const mdl_model *model = run->model;
    uint32_t nx = model->nx;
    double *gap = run->drifts->rate, *at_point = gap + nx, *unit = at_point + nx, duration = length * run->path->half, most = 0;
    if (path_load(run, place) != MDL_OK)
        return 0;
    memcpy(gap, run->v + model->yp, nx * sizeof *gap);
    if (evaluate_solved(run, false) != MDL_OK)
        return 0;
    memcpy(at_point, run->v + model->yp, nx * sizeof *at_point);
    for (uint32_t i = 0; i < nx; i++) {
        gap[i] = at_point[i] - gap[i];
        unit[i] = relevant(run, i, run->v[model->y + i]);
        most = fmax(most, fabs(gap[i]) / unit[i]);
    }
    if (!(most * duration > 1) || !isfinite(most))
        return most * duration;
    // A small part of the sizes that what is relevant is relative to.
    double rate = stiffness(run, gap, at_point, unit, ASIDE / (most * RELEVANT * run->tolerance));
    return most * duration / (1 + duration * rate);
}

// Of somebody else's step.
static bool
is_foretold(Glance *glance, double place)
{
    Jet begin = look(glance, -1, -1), end = look(glance, 1, 1);
    double h = 2 * glance->run->path->half, s = (place + 1) / 2, value = span_middle(look(glance, place, place).value);
    double f0 = h * span_middle(begin.first), f1 = h * span_middle(end.first), first = span_middle(begin.value), d = span_middle(end.value) - first;
    double told = first + s * (f0 + s * (3 * d - 2 * f0 - f1 + s * (f0 + f1 - 2 * d)));
    return fabs(value - told) < 0.5 * fmax(value - glance->band.high, glance->band.low - value);
}

// The same beside somebody else's step. v is as it was.
static double
unseen_by_other(Run *run, double place, double length)
{
    memcpy(run->path->kept, run->v, run->model->nv * sizeof *run->v);
    double part = unseen(run, place, length);
    memcpy(run->v, run->path->kept, run->model->nv * sizeof *run->v);
    return part;
}

static double
passed_over(Glance *glance, double place, double length)
{
    Run *run = glance->run;
    return !run->path->cubic ? unseen(run, place, length) : is_foretold(glance, place) ? 0 : unseen_by_other(run, place, length);
}

// Looks may be nearer to each other than steps are long: the states come from a polynomial that has passed over what the rates at them have. What states gain
// is not what the mean of the rates says then, by as much as half of their difference, and not what the rates in the middle say.
static bool
is_beside(Run *run)
{
    enum { PARTS = 4 };
    StepPath *path = run->path;
    bool apart = false;
    double h = 2 * path->half;
    for (uint32_t i = 0; i < run->model->nx && !apart; i++) {
        double off = fabs((path->y[i] - path->begin[i]) / h - (path->rate[i] + path->yp[i]) / 2);
        apart = off * h > relevant(run, i, path->y[i]) && PARTS * off > fabs(path->yp[i] - path->rate[i]);
    }
    return apart && unseen_by_other(run, 0, 2) > 1;
}

// The term is outside at this place, and that comes to `part` of what is relevant: so does all that is as much further outside.
static void
widen(Glance *glance, double place, double part)
{
    Span value = look(glance, place, place).value, *band = &glance->band;
    double further = fmin(FURTHER, 0.5 / part), middle = value.low / 2 + value.high / 2;
    if (middle > band->high)
        band->high = fmax(value.high, band->high + further * (middle - band->high));
    else
        band->low = fmin(value.low, band->low - further * (band->low - middle));
}

// Where the term begins to leave, and a place behind that at which it is outside.
static void
narrow(Glance *glance, double *from, double *place)
{
    double to = *place;
    glance->credit = 4 * HALVINGS;
    for (uint32_t i = 0; i < HALVINGS && to - *from > SHORTEST; i++) {
        double half = *from + (to - *from) / 2;
        if (is_clear(glance, *from, half)) {
            *from = half;
            continue;
        }
        to = half;
        if (is_outside(glance, half))
            *place = half;
    }
}

static void
fill_credit(Drifts *drifts, uint32_t k)
{
    drifts->credit[k] = drifts->credit[k] < CREDIT_MOST ? drifts->credit[k] + CREDIT_PER_STEP : CREDIT_MOST;
}

// *from: NAN, or where the term begins to leave what the method has seen; *place: where it has.
MDL_CHECKED static int
glance_at(Run *run, uint32_t k, double *from, double *place)
{
    Drifts *drifts = run->drifts;
    Glance glance = {.run = run, .term = &run->model->drift[k], .credit = drifts->credit[k]};
    double to;
    *from = NAN;
    if (is_plain(&glance)) {
        fill_credit(drifts, k);
        return MDL_OK;
    }
    if (!run->path->taken)
        memcpy(run->path->kept, run->v, run->model->nv * sizeof *run->v);
    int status = path_take(run);
    if (status != MDL_OK)
        return status;
    double at = -1;
    bool found = false;
    double part = 0;
    for (uint32_t i = 0; i < TRIES && find_outside(&glance, &at, &to, place); i++) {
        part = passed_over(&glance, *place, to - at);
        if ((found = part > 1))
            break;
        widen(&glance, *place, part);
    }
    drifts->hopeless[k] = glance.credit ? 0 : (uint8_t)(drifts->hopeless[k] + 1);
    drifts->credit[k] = glance.credit + CREDIT_PER_STEP;
    if (!found)
        return MDL_OK;
    to = *place;
    if (run->path->cubic) {
        double beyond = span_middle(look(&glance, to, to).value), matters = 0.5 / part;
        glance.beside = fmax(glance.beside, matters * fmax(beyond - glance.band.high, glance.band.low - beyond));
    }
    narrow(&glance, &at, place);
    if (run->path->cubic) // steps of somebody else follow it from where it matters to where it was seen
        *place = to;
    *from = at;
    return MDL_OK;
}

// --- steps

static bool
contains(Span all, Span part)
{
    return all.low <= part.low && part.high <= all.high;
}

static bool
is_in_box(const Run *run)
{
    const Drifts *drifts = run->drifts;
    const StepPath *path = run->path;
    bool in = drifts->boxed && drifts->box_solver == run->solver && drifts->box_events == run->stats->events
              && contains(drifts->box_time, (Span){path->start, path->end});
    for (uint32_t k = 0; k < path->states && in; k++)
        in = contains(drifts->box[k], path->reach[k]);
    return in;
}

// About the last step. It is the wider the more steps stay in it, and no wider than leaves most terms gentle.
static void
make_box(Run *run)
{
    Drifts *drifts = run->drifts;
    const StepPath *path = run->path;
    const mdl_model *model = run->model;
    bool narrow = drifts->missed > (uint64_t)drifts->steps * model->n_drifts / MISSED_PART;
    drifts->margin = drifts->boxed ? fmax(LEAST_MARGIN, fmin(MOST_MARGIN, drifts->margin * (narrow ? 0.5 : 2))) : drifts->margin;
    for (uint32_t k = 0; k < path->states; k++) {
        double more = drifts->margin * (path->reach[k].high - path->reach[k].low);
        drifts->box[k] = (Span){path->reach[k].low - more, path->reach[k].high + more};
    }
    drifts->box_time = (Span){path->start, path->end + drifts->margin * (path->end - path->start)};
    drifts->box_solver = run->solver;
    drifts->box_events = run->stats->events;
    drifts->boxed = true;
    drifts->steps = drifts->missed = 0;
    for (uint32_t k = 0; k < model->n_drifts; k++) {
        path_values(run, &model->drift[k], drifts->box, drifts->box_time);
        drifts->mild[k] = path_is_gentle(run, &model->drift[k]);
    }
}

// Of a step in the box.
static void
pass_mild(Drifts *drifts, uint32_t k)
{
    fill_credit(drifts, k);
    drifts->latest[k].low = NAN;
}

// The first place of all terms; *first: 1 or more, there is none.
MDL_CHECKED static int
first_place(Run *run, double *first, double *seen)
{
    Drifts *drifts = run->drifts;
    *first = *seen = INFINITY;
    path_reach(run);
    if (!is_in_box(run))
        make_box(run);
    drifts->steps++;
    for (uint32_t k = 0; k < run->model->n_drifts && drifts->repeats < REPEATS; k++) {
        double from, place;
        if (drifts->hopeless[k] == HOPELESS)
            continue;
        if (drifts->mild[k]) {
            pass_mild(drifts, k);
            continue;
        }
        int status = glance_at(run, k, &from, &place);
        if (status != MDL_OK)
            return status;
        if (from < *first) {
            *first = from;
            *seen = place;
        }
    }
    return MDL_OK;
}

// How steps go on from where a term begins to leave. That instant.
static double
keep_pace(Run *run, double first, double seen)
{
    Drifts *drifts = run->drifts;
    const StepPath *path = run->path;
    double begins = path_time(path, first), way = path_time(path, seen) - begins;
    drifts->pace = fmax(way / (path->cubic ? 4 : 2), run_shortest(run));
    drifts->until = begins + 4 * way;
    drifts->refused = path->start;
    return begins;
}

int
drift_review(Run *run, bool *again)
{
    Drifts *drifts = run->drifts;
    StepPath *path = run->path;
    *again = false;
    if (!drifts || run->options->step > 0 || run->options->outside || !(run->time > path->start))
        return MDL_OK;
    if (run->time >= drifts->begins)
        drifts->begins = NAN;
    if (path->start != drifts->refused)
        drifts->repeats = 0;
    double first, seen;
    int status = first_place(run, &first, &seen);
    if (status != MDL_OK)
        return status;
    if (path->taken)
        memcpy(run->v, path->kept, run->model->nv * sizeof *path->kept);
    drifts->known = first < 1 || drifts->repeats >= REPEATS ? NAN : run->time;
    if (!(first < 1))
        return MDL_OK;
    double begins = keep_pace(run, first, seen);
    drifts->begins = begins > path->start + run_shortest(run) ? begins : NAN;
    drifts->repeats++;
    *again = true;
    run->stats->restarts++;
    path_return(run);
    return MDL_OK;
}

double
drift_glimpse(Run *run)
{
    Drifts *drifts = run->drifts;
    const StepPath *path = run->path;
    double first, seen;
    if (isnan(drifts->begins)) {
        bool follows = path->start < drifts->until;
        drifts->repeats = follows ? drifts->repeats : 0;
        if (first_place(run, &first, &seen) != MDL_OK)
            return 1;
        if (!(first < 1) && drifts->repeats < REPEATS && is_beside(run)) {
            first = -1;
            seen = 1;
        }
        if (!(first < 1))
            return 1;
        // What leaves at once is come nearer to.
        bool at_once = path_time(path, first) <= path->start + run_shortest(run);
        drifts->begins = keep_pace(run, at_once ? -1 + (seen + 1) / 4 : first, seen);
        drifts->repeats += follows;
    }
    return drifts->begins - path->end;
}

bool
drift_accept(Run *run)
{
    const Drifts *drifts = run->drifts;
    if (!drifts || !(run->time > drifts->begins))
        return false;
    if (run->time > drifts->begins + 2 * drifts->pace)
        run_message(run, MDL_WARNING, "at time %.12g: a step of the importer has passed over a force that came at %.12g and is gone; it had to end there, where "
                    "an event indicator becomes negative", run->time, drifts->begins);
    return true;
}

double
drift_limit(const Run *run)
{
    const Drifts *drifts = run->drifts;
    if (!drifts)
        return INFINITY;
    if (run->time < drifts->begins)
        return drifts->begins;
    return run->time < drifts->until ? run->time + drifts->pace : INFINITY;
}

static void
drift_snapshot(Run *run, Snapshot *snapshot)
{
    Drifts *drifts = run->drifts;
    if (!drifts)
        return;
    snapshot_part(snapshot, &drifts->until, sizeof drifts->until);
    snapshot_part(snapshot, &drifts->pace, sizeof drifts->pace);
    snapshot_part(snapshot, &drifts->begins, sizeof drifts->begins);
    snapshot_part(snapshot, &drifts->refused, sizeof drifts->refused);
    snapshot_part(snapshot, &drifts->repeats, sizeof drifts->repeats);
    drifts->known = snapshot->from ? NAN : drifts->known;
    snapshot_part(snapshot, drifts->credit, run->model->n_drifts * sizeof *drifts->credit);
    snapshot_part(snapshot, drifts->hopeless, run->model->n_drifts * sizeof *drifts->hopeless);
}

static void
drift_settle(Run *run)
{
    Drifts *drifts = run->drifts;
    if (!drifts)
        return;
    drifts->boxed = false;
    drifts->margin = FIRST_MARGIN;
}

const RunPart drift_part = {
    .name = "drift", .create = drift_create, .free = drift_free, .snapshot = drift_snapshot, .settle = drift_settle,
};
