// root.c: conditions that change between events: detected on accepted steps, located on the interpolant.
//
// Purpose: state events. IDA's own root finding interpolates all unknowns every step and stops on functions
// that stay at zero; here the conditions cost at most one model evaluation per accepted step (condition.c).
// Method: a condition has a function that is >= 0 while its held value is right. Where the first of them becomes
// negative is located by the ITP method (Oliveira and Takahashi, ACM TOMS 47 (2021) 5), down to rounding, keeping the end
// where the condition has flipped. Its secant is that of the function that crosses first as far as the ends of the bracket
// say: the smallest of all has a kink where two of them cross one shortly behind the other, and no secant fits it. A condition may flip and flip back within one step: steps longer than an output
// interval are looked at in between (runtime/shell/advance.c), and what looks show is in sightings.c.
// Contract: flips that are shorter than all of that are not seen. Complexity: about 12 evaluations per
// event.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/event/root_inner.h"
#include "runtime/law/law.h"
#include "runtime/memory/memory.h"
#include "runtime/point/point.h"
#include "runtime/point/run.h"

static const double BAND = 1e-12;     // of the largest size seen: blind zone of a relation that has flipped
static const double REMEMBERED = 1e6;  // where an event changed the function, a size counts up to this multiple of what it is then
static const double DECAYED = 1e9;     // where it decayed, up to this multiple of what it is in the step of the crossing
static const double ZONE = 1e3;        // times what noise was seen to do: blind zone of its relation
static const double MOVED = 1e-6;      // part of itself by which a loop's unknown is moved to see how well the loop's solution is determined, and
static const double NOISY = 1e-3;      // part of a function that is then found to be noise
enum { FLICKERS = 4 };                 // changes of a tiny function in a row before its noise is measured
static const double RESOLUTION = 4e-15; // relative width of the final bracket

const char *
root_text(const Run *run, uint32_t guard)
{
    const mdl_model *model = run->model;
    const char *text;
    if (guard < model->n_relations)
        text = model->relation[guard].text;
    else if (guard < model->n_relations + model->n_time_relations)
        text = model->time_relation[guard - model->n_relations].text;
    else if (guard < model->n_relations + model->n_time_relations + model->n_sgns)
        text = model->sgn[guard - model->n_relations - model->n_time_relations].text;
    else
        text = rest_text(run, guard - model->n_relations - model->n_time_relations - model->n_sgns);
    return text ? text : "(a condition without a name)";
}

static double
relation_guard(Run *run, uint32_t k)
{
    const mdl_relation *relation = &run->model->relation[k];
    double g = run->v[relation->g];
    return run->guard[k].at_limit ? limit_function(run, k) : run->v[relation->value] != 0 ? g : -g;
}

// Within how much of zero guard k is blind at the instant in v.
static double
band_at(const Run *run, uint32_t k)
{
    const Guard *guard = &run->guard[k];
    return run->v[0] < guard->armed ? guard->former : guard->band;
}

// Fills run->phi with the guard functions at the point in v; a blind guard is shifted by its band.
void
root_compute(Run *run)
{
    const mdl_model *model = run->model;
    uint32_t k = model->n_relations;
    bool ahead = run->ahead != NULL;
    mdl_call(model->relations, run->v);
    for (uint32_t i = 0; i < model->n_relations; i++) {
        bool known = ahead && ahead_knows(run, i);
        run->phi[i] = !known ? relation_guard(run, i) + band_at(run, i) : ahead_ends_wrong(run, i) ? -1e-100 : 1;
        if (run->guard[i].vanished && vanish_wrong(run, i))
            run->phi[i] = -1e-100;
        if (run->guard[i].idle)
            run->phi[i] = 1;
    }
    if (rest_any(run))
        for (uint32_t i = 0; i < model->n_relations; i++)
            run->phi[i] = rest_holds(run, i) ? 1 : run->phi[i];
    for (uint32_t i = 0; i < model->n_time_relations; i++, k++) {
        // A net for instants that rounding has hidden; at the instant itself the time event is on its way.
        const mdl_time_relation *relation = &model->time_relation[i];
        double distance = fabs(run->v[0] - run->v[relation->instant]);
        bool same = (run->v[relation->next] != 0) == (run->v[relation->value] != 0);
        run->phi[k] = same || distance <= 32 * DBL_EPSILON * fabs(run->v[0]) ? 1 : -1;
    }
    for (uint32_t i = 0; i < model->n_sgns; i++, k++)
        run->phi[k] = friction_guard(run, i) + band_at(run, k);
    for (uint32_t i = 0; i < model->n_rests; i++, k++)
        run->phi[k] = rest_guard(run, i);
}

// Whoever integrates himself ends his step at the root that he has found by what he was shown; evaluated anew, the function may have another sign by rounding.
static bool
is_over(const Run *run, uint32_t k)
{
    return run->phi[k] < 0 || (run->outside && run->guard[k].told == run->v[0]);
}

bool
root_violated(Run *run)
{
    root_compute(run);
    bool violated = failure_happened(run); // a relation has no value
    for (uint32_t k = 0; k < run->guards; k++) {
        violated = violated || is_over(run, k);
        double size = fabs(run->phi[k]);
        run->guard[k].size = size > run->guard[k].size ? size : run->guard[k].size;
    }
    return violated;
}

uint32_t
root_count(const Run *run)
{
    return run->guards - run->model->n_time_relations;
}

// A condition that had begun to move back behind the event, and is on its side here: the parabola through both says how deep it was beyond.
static double
depth_of(const Run *run, const Guard *guard, double phi)
{
    double fall = guard->descent * (run->v[0] - guard->armed);
    return fall * fall / (4 * (phi + fall));
}

// Whoever integrates himself has looked at points within his step, and need not say which of them were its ends; the nearest to the event say most.
static void
note_depth(const Run *run, uint32_t k)
{
    Guard *guard = &run->guard[k];
    if (guard->returning && guard->band > 0 && run->phi[k] > 2 * guard->band && run->v[0] > guard->armed)
        guard->depth = fmin(guard->depth, depth_of(run, guard, run->phi[k]));
}

void
root_functions(Run *run, double *value)
{
    const mdl_model *model = run->model;
    uint32_t first = model->n_relations, behind = first + model->n_time_relations, n = 0;
    root_compute(run);
    for (uint32_t k = 0; k < run->guards; k++) {
        if (k >= first && k < behind)
            continue;
        note_depth(run, k);
        value[n] = run->phi[k] + band_at(run, k) > 0 ? run->phi[k] + band_at(run, k) : run->phi[k] == 0 ? DBL_MIN : run->phi[k];
        if (value[n++] < 0)
            run->guard[k].told = run->v[0];
    }
}

static double
scaled_minimum(const Run *run)
{
    double least = INFINITY;
    for (uint32_t k = 0; k < run->guards; k++)
        if (run->phi_scale[k] > 0 && !(run->phi[k] / run->phi_scale[k] >= least))
            least = run->phi[k] / run->phi_scale[k];
    return least;
}

// Where the equations have no solution the held values are not right any more.
static double
value_at(Run *run, double time)
{
    run->stats->root_evaluations++;
    if (condition_evaluate(run, time) != MDL_OK)
        return -INFINITY;
    root_compute(run);
    return failure_happened(run) ? -INFINITY : scaled_minimum(run);
}

// State of the ITP iteration on [a, b]: no function is negative at a, one is at b.
typedef struct Bracket {
    double a, b;
    double width;   // first width
    double narrow;  // half of the final width
    bool lost;      // the equations have no solution at b
    int steps, most;
} Bracket;

// The functions at the point in v are those of this end.
static void
keep_end(const Run *run, double *end)
{
    memcpy(end, run->phi, run->guards * sizeof *end);
}

// The part of the bracket before the first zero, if all functions were straight.
static double
secant_part(const Run *run, const Bracket *bracket)
{
    double part = 1;
    for (uint32_t k = 0; k < run->guards && !bracket->lost; k++) {
        double low = fmax(run->phi_end[0][k], 0), high = run->phi_end[1][k];
        if (high < 0 && run->phi_scale[k] > 0)
            part = fmin(part, low / (low - high));
    }
    return bracket->lost ? 0.5 : part;
}

static double
itp_point(const Bracket *bracket, double part)
{
    double width = bracket->b - bracket->a, middle = bracket->a + width / 2;
    double radius = ldexp(bracket->narrow, bracket->most - bracket->steps) - width / 2;
    double secant = bracket->a + width * part;
    double truncation = 0.2 / bracket->width * width * width;
    double sign = middle >= secant ? 1 : -1;
    double point = truncation <= fabs(middle - secant) ? secant + sign * truncation : middle;
    if (fabs(point - middle) > radius)
        point = middle - sign * fmax(radius, 0);
    // At the last digits the secant end would not move: step at least the resolution.
    double least = bracket->a + bracket->narrow, most = bracket->b - bracket->narrow;
    return fmin(fmax(point, least), most);
}

static void
narrow(Run *run, Bracket *bracket)
{
    bracket->width = bracket->b - bracket->a;
    bracket->most = (int)ceil(log2(fmax(bracket->width / (2 * bracket->narrow), 1))) + 2;
    while (bracket->b - bracket->a > 2 * bracket->narrow && bracket->steps < 200) {
        double point = itp_point(bracket, secant_part(run, bracket));
        if (!(point > bracket->a && point < bracket->b))
            break;
        double f = value_at(run, point);
        *(f >= 0 ? &bracket->a : &bracket->b) = point;
        keep_end(run, run->phi_end[f < 0]);
        if (f < 0)
            bracket->lost = !isfinite(f);
        bracket->steps++;
    }
}

// The largest size that was seen says how much of a function's value is rounding. It does not for a state that has decayed since: what
// the function is on both sides of the crossing bounds it. A product that was large once, (x - 17)*(x - 17.00001), is followed near its zeros
// as closely as its factors allow.
static void
limit_size(Run *run, uint32_t k)
{
    double size = fmin(run->guard[k].size, DECAYED * run->phi_scale[k]);
    run->guard[k].size = k < run->model->n_relations ? fmin(size, course_size(run, k)) : size;
}

// Nor does it where the event has made another function of it: a discrete operand that began at -1e300. `before` is what it was.
static void
renew_size(Run *run, uint32_t k, double before)
{
    double now = fabs(run->phi[k]);
    if (run->guard[k].size > REMEMBERED * now && fabs(before) - now > 0.5 * fabs(before) && now > 0)
        run->guard[k].size = now;
}

// The factor by which an interval shrinks, beside the one before, from which on the sequence is faster than a geometric one.
static const double FASTER = 0.75;
// And the factor from which on one whose end moves by an interval is none.
static const double SLOWLY = 0.2;
// Or one that shrinks by so many times less than the step before.
static const double SLOWER = 10;

// Keeps track of the times between crossings in the same direction (see event_no_progress).
static void
note_crossing(Run *run, uint32_t k, double time)
{
    const mdl_model *model = run->model;
    uint32_t laws = model->n_relations + model->n_time_relations;
    Guard *guard = &run->guard[k];
    // Rebounds of unilateral constraints end by themselves (contact.c).
    if (k >= laws + model->n_sgns || (k >= laws && model->sgn[k - laws].unilateral))
        return;
    int side = k < model->n_relations ? run->v[model->relation[k].value] != 0
               : k >= laws            ? friction_mode(run, k - laws) == 0
                                      : 0;
    double interval = time - guard->last[side], ratio = interval / guard->interval[side];
    bool slower = ratio > SLOWER * guard->ratio[side]; // than the step before, which led here from a calm
    guard->faster[side] = ratio < FASTER * guard->ratio[side] ? guard->faster[side] + 1 : 0;
    guard->fall[side] = ratio / guard->ratio[side];
    guard->ratio[side] = ratio;
    // The end of the geometric sequence through the latest two intervals. It moves by less than an interval
    // per crossing when the crossings accumulate (intervals like n^-p: by (1 - 1/p) intervals for p > 1) and
    // by more than one when they only become faster (by 1/p intervals for p < 1).
    double limit = ratio < 1 ? time + interval * ratio / (1 - ratio) : INFINITY;
    if (!(ratio < 1)) {
        guard->confirmed[side] = 0;
        guard->first[side] = interval;
        guard->faster[side] = 0;
        guard->passing = false;
    } else if (fabs(limit - guard->limit[side]) < 0.9 * interval) {
        guard->confirmed[side]++;
    } else if (ratio > SLOWLY || slower) { // a cycle that becomes faster, or one behind a long calm, has no end: a sequence that has may begin here
        guard->confirmed[side] = 0;
        guard->first[side] = guard->interval[side];
    }
    guard->hurried = interval <= event_hurry(run) ? guard->hurried + 1 : 0;
    // Frictions that switch each other ever faster are held together where all are at zero as far as the tolerance tells (friction_search.c).
    guard->limit[side] = k < laws ? limit : INFINITY;
    guard->interval[side] = interval;
    guard->last[side] = time;
}

static void
be_blind(Guard *guard, double zone)
{
    guard->size = fmax(guard->size, zone / BAND);
    guard->band = BAND * guard->size;
    guard->returning = false;
    guard->flickers = 0;
}

// The conditions that were violated at the end of the bracket are not any more when it is evaluated anew: what was found is rounding, of which another
// start of the loops makes another number. They are blind to it from now on. False: there are none, or they are larger than that may be.
static bool
was_rounding(Run *run)
{
    bool any = false;
    for (uint32_t k = 0; k < run->model->n_relations; k++) {
        double before = run->phi_end[1][k], zone = ZONE * (run->phi[k] - before);
        if (!(before < 0 && run->phi[k] >= 0) || rest_was(run, k))
            continue;
        if (!(zone <= run->tolerance))
            return false;
        be_blind(&run->guard[k], zone);
        any = run->blind = true;
    }
    return any;
}

// The guards that are violated at `time`, just behind the last point at which none is. The equations may have no solution there
// any more as long as the conditions are what they were; where no condition has changed it is lost. *found: that is an
// event; where `wary` it is none where they were rounding.
MDL_CHECKED static int
mark_pending(Run *run, double time, bool wary, bool *found)
{
    bool any = false;
    *found = false;
    if (condition_evaluate(run, time) != MDL_OK) {
        evaluate_plain(run);
        evaluate_outputs(run);
        wary = false;
    }
    root_compute(run);
    for (uint32_t k = 0; k < run->guards; k++) {
        run->guard[k].pending = run->phi[k] < 0;
        if (!run->guard[k].pending)
            continue;
        any = true;
        run->guard[k].crossed = run->phi_scale[k];
        limit_size(run, k);
        note_crossing(run, k, time);
    }
    *found = any;
    if (any || (wary && was_rounding(run)))
        return MDL_OK;
    int status = evaluate_at(run, time, true);
    if (status != MDL_OK)
        return status;
    root_compute(run);
    *found = !failure_report(run);
    return *found ? MDL_OK : MDL_FAILED;
}

void
root_take(Run *run, bool *any)
{
    root_compute(run);
    *any = false;
    for (uint32_t k = 0; k < run->guards; k++) {
        run->guard[k].pending = is_over(run, k);
        run->guard[k].told = NAN;
        if (!run->guard[k].pending)
            continue;
        *any = true;
        if (k < run->model->n_relations)
            run->guard[k].size = fmin(run->guard[k].size, course_size(run, k));
        run->guard[k].crossed = INFINITY;
        note_crossing(run, k, run->time);
    }
}

void
root_take_behind(Run *run, bool *any)
{
    *any = false;
    root_compute(run);
    for (uint32_t k = 0; k < run->guards; k++) {
        Guard *guard = &run->guard[k];
        guard->pending = run->phi[k] < -2 * guard->band;
        if (!guard->pending)
            continue;
        *any = true;
        guard->crossed = INFINITY;
        note_crossing(run, k, run->time);
    }
}

void
root_show_behind(Run *run)
{
    for (uint32_t k = 0; k < run->guards; k++) {
        Guard *guard = &run->guard[k];
        double band = band_at(run, k), shifted = run->phi[k];
        if (guard->pending || !(band > 0) || shifted + band > 0)
            continue;
        guard->band = band - shifted;
        run->blind = true;
    }
}

// From the point in v on. Points before it are looked at again where another condition is followed to its lowest, and there the
// function may still be within its band.
static void
arm(const Run *run, Guard *guard)
{
    guard->former = guard->band;
    guard->armed = run->v[0];
    guard->band = 0;
}

// A condition that changed a moment ago may have left its blind zone and be back within one look: where that is seen it sees again, so that it
// changes where its function is zero and not where the zone ends.
static void
arm_between(Run *run, double low, double high)
{
    enum { HALVINGS = 20 };
    bool blind = false;
    for (uint32_t k = 0; run->blind && k < run->model->n_relations; k++)
        blind = blind || (run->guard[k].band > 0 && !run->guard[k].returning && course_follows(run, k));
    for (int halving = 0; blind && halving < HALVINGS; halving++) {
        high = low + (high - low) / 2;
        bool solved = high > low && value_at(run, high) > -INFINITY;
        blind = false;
        for (uint32_t k = 0; k < run->model->n_relations; k++) {
            Guard *guard = &run->guard[k];
            bool follows = guard->band > 0 && !guard->returning && course_follows(run, k);
            if (follows && solved && run->phi[k] > 2 * guard->band)
                arm(run, guard);
            else
                blind = blind || follows;
        }
    }
}

// As root_locate(). *again: what was found was rounding, to which its conditions are blind from now on; only where `wary`.
MDL_CHECKED static int
locate(Run *run, double low, double high, double *instant, bool *found, bool wary, bool *again)
{
    *found = *again = false;
    for (uint32_t k = 0; k < run->guards; k++)
        run->phi_scale[k] = 1;
    arm_between(run, low, high);
    bool solved = value_at(run, low) > -INFINITY;
    for (uint32_t k = 0; k < run->guards; k++) {
        run->phi_scale[k] = solved ? fabs(run->phi[k]) : 0;
        run->phi_end[0][k] = solved ? run->phi[k] : 0;
    }
    solved = value_at(run, high) > -INFINITY;
    for (uint32_t k = 0; k < run->guards; k++)
        run->phi_scale[k] = solved ? fmax(run->phi_scale[k], fabs(run->phi[k])) : fmax(run->phi_scale[k], DBL_MIN);
    keep_end(run, run->phi_end[1]);
    Bracket bracket = {.a = low, .b = high, .lost = !solved};
    if (solved && !(scaled_minimum(run) < 0))
        return MDL_OK;
    bracket.narrow = RESOLUTION * fmax(fmax(fabs(low), fabs(high)), high - low);
    narrow(run, &bracket);
    run->settled = bracket.a;
    int status = mark_pending(run, bracket.b, wary && !bracket.lost, found);
    *again = status == MDL_OK && !*found;
    *instant = *found ? bracket.b : bracket.a;
    return status;
}

MDL_CHECKED static int
locate_within(Run *run, double low, double high, double *instant, bool *found)
{
    enum { TRIES = 8 }; // more may arm again what they have made blind
    bool again = true;
    int status = MDL_OK;
    for (uint32_t k = 0; k < TRIES && again && status == MDL_OK; k++)
        status = locate(run, low, high, instant, found, k + 1 < TRIES, &again);
    return status;
}

int
root_locate(Run *run, double low, double high, double *instant, bool *found)
{
    double from = low, to = high;
    *found = false;
    int status = course_first(run, &from, &to);
    if (status == MDL_OK && to < high)
        status = locate_within(run, from, to, instant, found);
    return status == MDL_OK && !*found ? locate_within(run, low, high, instant, found) : status;
}

const char *
root_chatter_help(const Run *run)
{
    bool relation = false;
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        relation = relation || run->guard[k].band > 0;
    return relation ? "\nhelp: a quantity that a condition pushes back from both sides chatters: it would have to slide along where the condition "
                      "changes, and neither side of it says how; a set-valued term, a*Sgn(x) or tar(x, a), can hold it there, and a hysteresis "
                      "(one threshold for each direction) lets it switch less often" : "";
}

MDL_CHECKED static int
report_missed(const Run *run, uint32_t guard)
{
    run_message(run, MDL_ERROR, "at time %.12g: the simulation makes no progress: events follow each other faster than "
                "the tolerance resolves; this condition changed and changed back within one step:\n  %s%s",
                run->time, root_text(run, guard), root_chatter_help(run));
    return MDL_FAILED;
}

// The latest times between crossings shrink towards an end within the run. Where nothing can come to rest two of them say little: a diode that has just
// begun to conduct and is blocked again by an error of its current has two as well.
static bool
shrinks(Run *run, uint32_t k)
{
    const Guard *guard = &run->guard[k];
    bool rests = rest_possible(run, k);
    for (int side = 0; side < 2; side++)
        if (guard->limit[side] > guard->last[side] && guard->limit[side] <= run->options->stop && (rests || guard->confirmed[side] >= FEW_CONFIRMATIONS))
            return true;
    return false;
}

void
root_widen(Run *run, uint32_t relation, double zone)
{
    Guard *guard = &run->guard[relation];
    guard->noise = fmax(guard->noise, zone);
    guard->band = fmax(guard->band, zone);
    guard->returning = false;
    run->blind = true;
}

// A velocity that a locked friction holds at zero but for rounding changes its sign at random. What flips and flips back within
// such noise is blind to it from then on: its zone is a thousand times what it was seen to do.
static bool
is_noise(Run *run, uint32_t k)
{
    Guard *guard = &run->guard[k];
    double zone = ZONE * run->phi[k];
    if (k >= run->model->n_relations || rest_was(run, k) || zone > answer_to_noise(run, k, zone))
        return false;
    be_blind(guard, zone);
    return true;
}

// The functions of relations at the point in v once more: with the loops solved from another start, and from states that differ by `rounding`.
static bool
evaluate_again(Run *run, double rounding)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < model->nx; i++)
        run->v[model->y + i] *= i % 2 ? 1 + rounding : 1 - rounding;
    point_move_loops(run, MOVED);
    return evaluate_relations(run) == MDL_OK;
}

// The same of any function that is rounding: computed once more, it is another number.
static bool
is_rounding(Run *run, uint32_t k)
{
    double before = run->phi[k], time = run->v[0];
    if (k >= run->model->n_relations || rest_was(run, k) || condition_alone(run))
        return false;
    mdl_call(run->model->relations, run->v);
    double here = relation_guard(run, k);
    bool solved = evaluate_again(run, 4 * DBL_EPSILON);
    double noise = fabs(relation_guard(run, k) - here), zone = ZONE * fmax(noise, before);
    solved = condition_evaluate(run, time) == MDL_OK && solved;
    root_compute(run);
    if (!solved || !(noise > NOISY * before) || zone > run->tolerance)
        return false;
    be_blind(&run->guard[k], zone);
    return true;
}

// What moved back and is on its side all the same has turned. It did not flip where errors of the states explain how deep it was beyond: a current
// between diodes that a tiny inductance carries is known no better than the tolerance.
static bool
is_shallow(Run *run, uint32_t k)
{
    const Guard *guard = &run->guard[k];
    bool later = run->v[0] > guard->armed;
    return k < run->model->n_relations && later && !answer_is_known(run, k, fmin(guard->depth, depth_of(run, guard, run->phi[k])));
}

// A flight that began at the last event and was over before the first look: right behind the event the condition is the other
// one, so halving the time finds it.
int
root_returned(Run *run, double low, double time, double *instant, bool *found)
{
    enum { HALVINGS = 50 };
    *found = false;
    for (int halving = 0; halving < HALVINGS && time > low; halving++) {
        time = low + (time - low) / 2;
        bool lost = condition_evaluate(run, time) != MDL_OK;
        if (lost || root_violated(run))
            return root_locate(run, low, time, instant, found);
    }
    return MDL_OK;
}

bool
root_must_return(const Run *run)
{
    for (uint32_t k = 0; run->blind && k < run->model->n_relations; k++) {
        const Guard *guard = &run->guard[k];
        if (guard->returning && guard->band > 0 && run->phi[k] > 2 * guard->band && rest_possible(run, k))
            return true;
    }
    return false;
}

int
root_arm(Run *run)
{
    bool blind = false;
    for (uint32_t k = 0; run->blind && k < run->guards; k++) {
        Guard *guard = &run->guard[k];
        blind = blind || guard->band > 0;
        if (!(guard->band > 0 && run->phi[k] > 2 * guard->band))
            continue;
        if (guard->returning && (is_noise(run, k) || is_rounding(run, k)))
            continue;
        if (guard->returning && !guard->passing && (shrinks(run, k) || rest_was(run, k)))
            run->accumulated = k + 1;
        else if (guard->returning && !guard->passing && !is_shallow(run, k) && !idle_begins(run, k))
            return report_missed(run, k);
        else
            arm(run, guard);
    }
    run->blind = blind;
    return MDL_OK;
}

// A short time in which no state moves by more than a part in 10^8 of itself or of its nominal value. States that rest say
// nothing about functions of time, so it is short beside an output interval, too.
double
root_short_time(const Run *run)
{
    const mdl_model *model = run->model;
    double fastest = 0;
    for (uint32_t i = 0; i < model->nx; i++) {
        double size = fabs(run->y[i]) + fabs(run->v[model->nominal + i]) + DBL_MIN, rate = fabs(run->yp[i]) / size;
        fastest = rate > fastest ? rate : fastest;
    }
    double time = fastest > 0 ? fmin(1e-8 / fastest, 1e-3 * run->interval) : 1e-8 * run->interval;
    return fmax(time, 64 * DBL_EPSILON * fabs(run->time));
}

// Relations that have flipped and whose functions move back at once: they must flip again. The root functions
// are evaluated at the point and a little later along the derivatives.
MDL_CHECKED static int
look_ahead(Run *run)
{
    const mdl_model *model = run->model;
    double *v = run->v, later = root_short_time(run);
    evaluate_load(run, run->time, run->y, run->yp);
    int status = evaluate_row(run, true);
    if (status != MDL_OK)
        return status;
    mdl_call(model->relations, v);
    for (uint32_t k = 0; k < model->n_relations; k++) {
        run->phi[k] = relation_guard(run, k);
        // reinit() may have moved it far away: it sees at once.
        if (run->phi[k] > 2 * run->guard[k].band)
            run->guard[k].band = 0;
    }
    v[0] = run->time + later;
    for (uint32_t i = 0; i < model->nx; i++)
        v[model->y + i] = run->y[i] + later * run->yp[i];
    fractional_extrapolate(run, later);
    bool solved = evaluate_solved(run, false) == MDL_OK;
    evaluate_outputs(run);
    mdl_call(model->relations, v);
    for (uint32_t k = 0; k < model->n_relations; k++) {
        Guard *guard = &run->guard[k];
        double change = relation_guard(run, k) - run->phi[k];
        guard->returning = guard->band > 0 && solved && !rest_holds(run, k) && !(rest_band(run, k) > 0) &&
                           change < -4 * DBL_EPSILON * fmax(fabs(run->phi[k]), guard->size);
        guard->descent = guard->returning ? -change / later : 0;
        guard->depth = INFINITY;
    }
    evaluate_load(run, run->time, run->y, run->yp);
    return evaluate_row(run, true);
}

// A relation's function that has flipped again and again, and was no larger than rounding may be.
static bool
flickers(const Run *run, uint32_t k)
{
    uint32_t n = run->guard[k].flickers;
    return k < run->model->n_relations && n >= FLICKERS && !(n & (n - 1));
}

// What flows round a loop of pipes that nothing feeds is rounding of zero, of another sign at every solution. Whether a function is such is measured:
// what is computed once more and differs by a part of what the function was on both sides of the crossing is blind from now on.
MDL_CHECKED static int
find_noise(Run *run)
{
    bool any = false;
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        any = any || flickers(run, k);
    if (!any)
        return MDL_OK;
    evaluate_load(run, run->time, run->y, run->yp);
    int status = evaluate_row(run, true);
    if (status != MDL_OK)
        return status;
    mdl_call(run->model->relations, run->v);
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        run->phi[k] = relation_guard(run, k);
    bool solved = evaluate_again(run, 0); // a difference of states is known as well as these
    for (uint32_t k = 0; solved && k < run->model->n_relations; k++) {
        Guard *guard = &run->guard[k];
        double noise = fabs(relation_guard(run, k) - run->phi[k]);
        if (!flickers(run, k) || !(noise > NOISY * guard->crossed))
            continue;
        be_blind(guard, ZONE * fmax(noise, guard->crossed));
    }
    return MDL_OK;
}

// The event is the first point of what dips are looked for in.
static void
remember_first(Run *run)
{
    memcpy(run->phi_scale, run->phi, run->guards * sizeof *run->phi);
    root_compute(run);
    for (uint32_t k = 0; k < run->model->n_relations; k++)
        if (!(run->guard[k].band > 0))
            renew_size(run, k, run->phi_scale[k]);
    run->sightings.count = 0;
    run->sightings.measured = NAN;
    (void)root_suspect(run, run->time);
}

int
root_blind(Run *run)
{
    uint32_t laws = run->model->n_relations + run->model->n_time_relations;
    bool blind = false;
    run->blind = false;
    idle_review(run);
    for (uint32_t k = 0; k < run->guards; k++) {
        Guard *guard = &run->guard[k];
        guard->returning = guard->vanished = false;
        if (run->time < guard->armed) // an event that was found before it
            guard->band = guard->former;
        guard->armed = run->time;
        if (k < run->model->n_relations && ahead_knows(run, k)) {
            guard->band = 0;
            guard->forced = guard->pending = false;
        }
        if (guard->forced) {
            bool law = k >= laws && k < laws + run->model->n_sgns;
            guard->flickers = guard->crossed <= 1e-6 * run->tolerance ? guard->flickers + 1 : 0;
            guard->idle = guard->idle || (k < run->model->n_relations && guard->flickers && idle_is(run, k));
            guard->band = law ? friction_band(run, k - laws) : fmax(fmax(BAND * guard->size, guard->noise), rest_band(run, k));
            guard->forced = guard->pending = false;
        }
        run->blind = run->blind || guard->band > 0;
        blind = blind || (k < run->model->n_relations && guard->band > 0);
    }
    condition_forget(run);
    int status = blind ? find_noise(run) : MDL_OK;
    if (status == MDL_OK && blind)
        status = look_ahead(run);
    if (status == MDL_OK)
        remember_first(run);
    return status;
}
