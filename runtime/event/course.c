// course.c: relations of states, bounded over a whole step.
//
// Purpose: a condition that holds for a moment, `max(s, -3*s) < 1e-5` or `abs(angle^2 - c) < 1e-5`, comes and goes between two looks at it. Parabolas
//          through the looks (root.c) find smooth bottoms that are wide beside their distance, and no corners of unequal slopes.
// Method: over a step each state is within bounds that both of its ends give, or is the polynomial of the integrator, with two derivatives (step_path.c). The compiler has written root functions as
//         operations on states and time (model.h, mdl_forecast), which are bounded as functions of time are (jet.h): a stretch in which a function
//         has the sign of the value held for certain, or is monotonic, or bent one way, is decided; others are cut in half.
//         The first point on the other side that is found so is where root.c then locates the event. A dip counts where it is also
//         there when all states are moved by as much as the tolerance allows them to be wrong, for a little more than the step: a clock
//         that is late by that passes its window all the same, while a spring that touches by rounding does not.
// Contract: event.h. Not seen is what is shorter than a millionth of a step; functions of loops' unknowns, of delayed values and of
//           algorithms have no courses. A function that asks for more than that is told of, and given up. Complexity: per step an evaluation of the values of each function that is far from zero; near it the polynomials
//           of the step, and 48 evaluations with derivatives in the long run.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/step_path.h"
#include "runtime/law/law.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"

enum { CREDIT_MOST = 400, CREDIT_PER_STEP = 48, HOPELESS = 20, TRIALS = 3 };
static const double SHORTEST = 0x1p-20; // part of half a step: a stretch is not cut further
static const double BEYOND = 1.25;      // half steps from the middle that moved states are followed
static const double ROUNDING = 64 * DBL_EPSILON;

struct Courses {
    double *moved;       // coefficients of the polynomials (step_path.h), with another value in the middle
    Span *point;         // per state that is read
    uint32_t *credit;    // per course: evaluations,
    uint8_t *hopeless;   // and looks in a row that they did not suffice for
    bool told;           // of one that they did not suffice for again and again
    uint32_t *of;        // per relation: its course plus 1, 0: none
};

static uint32_t
looked_at(const Run *run)
{
    const mdl_model *model = run->model;
    return run->options->outside ? model->n_courses : model->n_courses - model->n_lines;
}

MDL_CHECKED static int
course_create(Run *run)
{
    const mdl_model *model = run->model;
    if (!model->n_courses)
        return MDL_OK;
    Courses *courses = run->courses = calloc(1, sizeof *courses);
    if (!courses)
        return MDL_INTERNAL;
    courses->moved = malloc((PATH_NODES * (size_t)run->path->states + 1) * sizeof *courses->moved);
    courses->point = malloc((run->path->states + 1) * sizeof *courses->point);
    courses->credit = malloc(model->n_courses * sizeof *courses->credit);
    courses->hopeless = calloc(model->n_courses, sizeof *courses->hopeless);
    courses->of = calloc(model->n_relations + 1, sizeof *courses->of);
    if (!courses->moved || !courses->point || !courses->credit || !courses->hopeless || !courses->of)
        return MDL_INTERNAL;
    for (uint32_t k = 0; k < model->n_courses; k++)
        courses->credit[k] = CREDIT_MOST;
    for (uint32_t k = 0; k < looked_at(run); k++)
        courses->of[model->course[k].relation] = k + 1;
    return MDL_OK;
}

static void
course_free(Run *run)
{
    Courses *courses = run->courses;
    if (!courses)
        return;
    free(courses->moved);
    free(courses->point);
    free(courses->credit);
    free(courses->hopeless);
    free(courses->of);
    free(courses);
    run->courses = NULL;
}

// A look at one course over a step; places in it are from -1 to 1.
typedef struct Look {
    Run *run;
    const mdl_forecast *course;
    const double *coefficient;
    double sign;          // of the root function on the side of the value held
    double margin;        // below zero by so much is on the other side
    bool any;             // any place will do, not the first one alone
    uint32_t credit;
} Look;

static Jet
course_over(Look *look, double from, double to)
{
    look->credit -= look->credit > 0;
    Jet jet = path_over(look->run, look->course, look->coefficient, from, to);
    return look->sign > 0 ? jet : jet_apply(MDL_TIMELY_NEG, &jet, &jet, &jet);
}

// It has the sign of the value held throughout, by its values alone.
static bool
is_clear(const Look *look)
{
    const StepPath *path = look->run->path;
    path_reach(look->run);
    Span all = path_values(look->run, look->course, path->reach, (Span){path->start, path->end});
    return look->sign > 0 ? all.low >= -look->margin : all.high <= look->margin;
}

static bool
is_over(Look *look, double place)
{
    Span value = course_over(look, place, place).value;
    return value.low / 2 + value.high / 2 < -look->margin;
}

// The bottom of a function that is bent upwards over [from, to].
static double
bottom(Look *look, double from, double to)
{
    while (to - from > 2 * DBL_EPSILON) {
        double half = from + (to - from) / 2;
        if (!(half > from && half < to))
            break;
        Span slope = course_over(look, half, half).first;
        if (slope.low / 2 + slope.high / 2 > 0)
            to = half;
        else
            from = half;
    }
    return from + (to - from) / 2;
}

typedef enum Verdict { SAME, OVER, LATER, OPEN } Verdict;

// Whether the function is over within [from, to]. OVER: at *place, and at most once before it; LATER: it may have been over and back before.
static Verdict
judge(Look *look, double from, double to, double *place)
{
    Jet all = course_over(look, from, to);
    double half = from + (to - from) / 2, reach = (to - from) / 2 * look->run->path->half;
    if (all.value.low >= -look->margin)
        return SAME;
    if (isfinite(all.first.low) && isfinite(all.first.high)) {
        Jet at = course_over(look, half, half);
        all.value = span_meet(all.value, span_add(at.value, span_mul(all.first, (Span){-reach, reach})));
        if (all.value.low >= -look->margin)
            return SAME;
    }
    *place = half;
    bool straight = all.second.low <= 0 && all.second.high <= 0, bent = all.second.low >= 0;
    if (all.first.low >= 0 || all.first.high <= 0 || straight) {
        *place = is_over(look, from) ? from : to;
        return is_over(look, *place) ? OVER : SAME;
    }
    if (bent)
        *place = bottom(look, from, to);
    if (is_over(look, *place))
        return bent ? OVER : LATER;
    return bent ? SAME : OPEN;
}

// The first place found in [from, to] at which the function is over; false: there is none, or it would take too long.
static bool
find(Look *look, double from, double to, double *place)
{
    double end = to, length = to - from, seen = INFINITY;
    while (from < end && look->credit) {
        to = fmin(from + length, end);
        Verdict verdict = judge(look, from, to, place);
        if (verdict == OVER || (verdict == LATER && (look->any || to - from <= SHORTEST)))
            return true;
        seen = verdict == LATER ? *place : seen;
        if (verdict != SAME && to - from > SHORTEST) {
            length = (to - from) / 2;
            continue;
        }
        from = to;
        length *= 2;
    }
    *place = seen;
    return seen < end;
}

// --- dips

// Up or down, as good as random and the same in every run.
static double
direction(uint32_t i, uint32_t trial)
{
    uint32_t mixed = (i + 1) * 0x9e3779b9u + trial * 0x85ebca6bu; // an odd multiple of the golden ratio and another odd number
    mixed ^= mixed >> 15;
    return (mixed * 0x2c1b3c6du) >> 31 ? 1 : -1;
}

// What a step may be wrong by.
static double
error_of(const Run *run, uint32_t i)
{
    return run->tolerance * fabs(run->y[i]) + run->abstol[i];
}

static double
height_at(Look *look, double place)
{
    Span value = course_over(look, place, place).value;
    return value.low / 2 + value.high / 2;
}

// Moves a state of `trial` by as much as it may be wrong: up or down.
static void
move(const Look *trial, uint32_t k, double sign)
{
    const StepPath *path = trial->run->path;
    trial->run->courses->moved[k * PATH_NODES] = path->coefficient[k * PATH_NODES] + sign * error_of(trial->run, path->state[k]);
}

// All states that the course reads are moved the way that takes the function up at `place`: the most that the tolerance makes of it there.
static void
move_up(Look *trial, double place)
{
    const StepPath *path = trial->run->path;
    const mdl_timely *at = trial->run->model->timely + trial->course->first;
    double height = height_at(trial, place);
    for (uint32_t i = 0; i < trial->course->count; i++) {
        if (at[i].op != MDL_TIMELY_STATE)
            continue;
        uint32_t k = path->slot[at[i].a];
        move(trial, k, 1);
        double up = height_at(trial, place);
        move(trial, k, -1);
        double down = height_at(trial, place);
        move(trial, k, up >= height && up >= down ? 1 : down >= height ? -1 : 0);
        height = fmax(height, fmax(up, down));
    }
}

// The dip at `place` is there wherever the states are within the tolerance.
static bool
is_certain(const Look *look, double place)
{
    Run *run = look->run;
    Courses *courses = run->courses;
    const StepPath *path = run->path;
    Look trial = *look;
    trial.coefficient = courses->moved;
    trial.any = true;
    for (uint32_t t = 0; t <= TRIALS; t++) {
        memcpy(courses->moved, path->coefficient, PATH_NODES * (size_t)path->states * sizeof *courses->moved);
        trial.credit = CREDIT_MOST;
        if (t == 0)
            move_up(&trial, place);
        for (uint32_t k = 0; t > 0 && k < path->states; k++)
            move(&trial, k, direction(path->state[k], t));
        double there;
        if (!find(&trial, -BEYOND, BEYOND, &there))
            return false;
    }
    return true;
}

// What begins at `place` lasts up to `end`.
static bool
stays_over(Look *look, double place, double end)
{
    return course_over(look, place, end).value.high < -look->margin;
}

// The evaluations that the latest looks at a course could make did not suffice.
static void
tell_hopeless(Run *run, uint32_t k)
{
    Courses *courses = run->courses;
    if (courses->hopeless[k] < HOPELESS || courses->told)
        return;
    courses->told = true;
    run_message(run, MDL_WARNING, "at time %.12g: this condition is too intricate to be bounded over steps: when it changes and changes back within one, that may "
                "not be seen (a smaller --interval looks more often)\n  %s", run->time, root_text(run, run->model->course[k].relation));
}

// Where course k is over within the step before `end`, the first place of it; NAN: it is not, or it is from there to `end`, which shows it.
MDL_CHECKED static int
dip_of(Run *run, uint32_t k, double end, double *when)
{
    const mdl_model *model = run->model;
    Courses *courses = run->courses;
    const StepPath *path = run->path;
    const mdl_relation *relation = &model->relation[model->course[k].relation];
    const Guard *guard = &run->guard[model->course[k].relation];
    Look look = {.run = run, .course = &model->course[k], .coefficient = path->coefficient, .credit = courses->credit[k],
                 .sign = run->v[relation->value] != 0 ? 1 : -1, .margin = 2 * fmax(guard->band, guard->former) + ROUNDING * fabs(run->v[relation->g])};
    double place;
    *when = NAN;
    if (is_clear(&look)) {
        courses->credit[k] = courses->credit[k] < CREDIT_MOST ? courses->credit[k] + CREDIT_PER_STEP : CREDIT_MOST;
        return MDL_OK;
    }
    if (end < path->end && path_is_monotonic(run, look.course))
        return MDL_OK;
    int status = path_take(run);
    if (status != MDL_OK)
        return status;
    end = end < path->end ? (end - path->middle) / path->half : 1;
    bool found = find(&look, -1, end, &place) && !(end < 1 && stays_over(&look, place, end));
    courses->hopeless[k] = look.credit ? 0 : (uint8_t)(courses->hopeless[k] + 1);
    courses->credit[k] = look.credit + CREDIT_PER_STEP < CREDIT_MOST ? look.credit + CREDIT_PER_STEP : CREDIT_MOST;
    tell_hopeless(run, k);
    if (found && is_certain(&look, place))
        *when = path_time(path, place);
    return MDL_OK;
}

// The first of all of them.
MDL_CHECKED static int
first_dip(Run *run, double end, double *first)
{
    *first = NAN;
    for (uint32_t k = 0; k < looked_at(run); k++) {
        double when = NAN;
        uint32_t relation = run->model->course[k].relation;
        bool held = run->guard[relation].idle || (rest_any(run) && rest_holds(run, relation));
        if (run->courses->hopeless[k] >= HOPELESS || ahead_knows(run, relation) || held)
            continue;
        int status = dip_of(run, k, end, &when);
        if (status != MDL_OK)
            return status;
        if (!(when >= *first))
            *first = isnan(when) ? *first : when;
    }
    return MDL_OK;
}

// The end of the step, as it was before the look.
MDL_CHECKED static int
restore(Run *run, const double *kept)
{
    if (kept) {
        memcpy(run->v, kept, run->model->nv * sizeof *run->v);
        return MDL_OK;
    }
    return condition_evaluate(run, run->time) == MDL_OK ? MDL_OK : evaluate_at(run, run->time, true);
}

int
course_look(Run *run, double before, double *instant, bool *found)
{
    *found = false;
    if (!run->courses || !(run->time > before) || before != run->path->start)
        return MDL_OK;
    double *kept = condition_alone(run) ? NULL : run->path->kept, when;
    if (kept)
        memcpy(kept, run->v, run->model->nv * sizeof *kept);
    int status = first_dip(run, INFINITY, &when);
    bool dips = status == MDL_OK && when > before && when < run->time;
    if (dips)
        status = root_locate(run, before, when, instant, found);
    if (status != MDL_OK || *found || !run->path->taken)
        return status;
    status = restore(run, kept);
    if (status == MDL_OK && dips)
        (void)root_violated(run);
    return status;
}

int
course_first(Run *run, double *low, double *high)
{
    const StepPath *path = run->path;
    double when;
    if (!run->courses || !(path->start <= *low) || !(*high <= run->time))
        return MDL_OK;
    int status = first_dip(run, *high, &when);
    if (status == MDL_OK && when > path->start && when < *high) {
        *low = path->start;
        *high = when;
    }
    return status;
}

bool
course_glimpse(Run *run, double *value)
{
    bool changed = false;
    for (uint32_t k = 0; run->courses && k < run->model->n_courses; k++) {
        uint32_t relation = run->model->course[k].relation;
        double when;
        if (!(value[relation] > 0) || run->courses->hopeless[k] >= HOPELESS || ahead_knows(run, relation))
            continue;
        if (dip_of(run, k, INFINITY, &when) != MDL_OK || !(when < run->path->end))
            continue;
        value[relation] = -value[relation];
        changed = true;
    }
    return changed;
}

bool
course_follows(const Run *run, uint32_t relation)
{
    return run->courses && run->courses->of[relation];
}

double
course_size(Run *run, uint32_t relation)
{
    const mdl_model *model = run->model;
    double *v = run->v;
    if (!course_follows(run, relation))
        return INFINITY;
    const mdl_forecast *course = &model->course[run->courses->of[relation] - 1];
    Span *point = run->courses->point;
    for (uint32_t i = 0; i < course->count; i++) {
        const mdl_timely *at = &model->timely[course->first + i];
        if (at->op != MDL_TIMELY_STATE)
            continue;
        double value = v[model->y + at->a], slack = ROUNDING * (fabs(value) + fabs(v[0] * run->yp[at->a]));
        point[run->path->slot[at->a]] = (Span){value - slack, value + slack};
    }
    double late = ROUNDING * fabs(v[0]);
    Span all = path_values(run, course, point, (Span){v[0] - late, v[0] + late});
    return isfinite(all.low) && isfinite(all.high) ? fmax((all.high - all.low) / (2 * ROUNDING), DBL_MIN) : INFINITY;
}

static void
course_snapshot(Run *run, Snapshot *snapshot)
{
    if (!run->courses)
        return;
    snapshot_part(snapshot, run->courses->hopeless, run->model->n_courses);
    snapshot_part(snapshot, &run->courses->told, sizeof run->courses->told);
    snapshot_part(snapshot, run->courses->credit, run->model->n_courses * sizeof *run->courses->credit);
}

const RunPart course_part = {
    .name = "course", .create = course_create, .free = course_free, .snapshot = course_snapshot,
};
