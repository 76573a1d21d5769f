// simulate.c: the integration loop.
//
// Purpose: mdl_simulate(): start, steps, output points, events, end.
// Method: IDA takes its own steps; output points are interpolated; after each accepted step the conditions
// are looked at and, when one has flipped, located inside the step. Time events limit the step. At an event
// there is one row with the old and one with the new discrete values.
// Contract: sim.h. A row is handed to the result before the next step is taken.
// Complexity: steps * (model evaluation + linear solve) + rows * columns.
#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <xmmintrin.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/memory/memory.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/profile.h"
#include "runtime/point/sense.h"
#include "runtime/result/result.h"
#include "runtime/shell/shell.h"
#include "runtime/solver/solver.h"
#include "runtime/start/start.h"
#include "runtime/study/study.h"

// Blocks up to this size are solved anew at every stored row, so that rows satisfy all equations.
enum { ROW_BLOCK_LIMIT = 200 };

static const unsigned FLUSH_SUBNORMALS = 0x8040; // FTZ | DAZ

// Steps of fixed length: what is wrong with what was asked for, or NULL.
static const char *
check_length(const mdl_options *options)
{
    bool fixed = options->solver == MDL_SOLVER_RK4 || options->solver == MDL_SOLVER_GAUSS;
    if (!(options->step >= 0) || !isfinite(options->step))
        return "the step must be positive";
    if (options->step > 0 && !fixed)
        return "a step of fixed length (--step) is for the solvers rk4 and gauss; --tol controls the others";
    if (!(options->step > 0) && options->solver == MDL_SOLVER_RK4)
        return "the solver rk4 does not control its error: give the length of its steps with --step";
    return NULL;
}

MDL_CHECKED static int
check_options(const Run *run)
{
    const mdl_options *options = run->options;
    const char *wrong = NULL;
    if (run->model->version != MDL_MODEL_VERSION || run->model->size != sizeof(mdl_model)) {
        run_message(run, MDL_ERROR, "the model was compiled for another version of the runtime");
        return MDL_INTERNAL;
    }
    if (!isfinite(options->start) || !isfinite(options->stop) || options->stop < options->start)
        wrong = "the stop time must not be before the start time";
    else if (!(options->tolerance > 0) || options->tolerance >= 1)
        wrong = "the tolerance must be between 0 and 1";
    else if (!(options->interval >= 0) || !isfinite(options->interval))
        wrong = "the interval must be positive";
    else if (!(options->abstol >= 0) || !(options->max_step >= 0) || !(options->time_limit >= 0))
        wrong = "tolerances and limits must not be negative";
    else
        wrong = check_length(options);
    for (uint32_t k = 0; k < options->overrides; k++)
        if (options->override[k].place == 0 || options->override[k].place >= run->model->nv)
            wrong = "a value is set that the model does not have";
    if (!wrong)
        return MDL_OK;
    run_message(run, MDL_ERROR, "%s", wrong);
    return MDL_USAGE;
}

static void
choose_points(Run *run)
{
    const mdl_options *options = run->options;
    double span = options->stop - options->start;
    run->interval = options->interval > 0 ? options->interval : span / (options->points ? options->points : 500);
    double count = run->interval > 0 ? span / run->interval : 0;
    run->points = (uint64_t)floor(count * (1 + 1e-12) + 1e-9);
    run->next_point = 1;
}

static bool
allocate(Run *run)
{
    const mdl_model *model = run->model;
    size_t n = model->n, guards = model->n_relations + model->n_time_relations + model->n_sgns +
                                      model->n_rests;
    run->guards = (uint32_t)guards;
    run->v = malloc(((size_t)model->nv + 1) * sizeof *run->v);
    run->abstol = calloc(n + 1, sizeof *run->abstol);
    run->solved = calloc(n + model->nx + 1, sizeof *run->solved);
    run->motion = calloc(n + model->nx + 1, sizeof *run->motion);
    run->y = calloc(n + run->modes + 1, sizeof *run->y);
    run->yp = calloc(n + run->modes + 1, sizeof *run->yp);
    run->block = calloc((size_t)model->n_dynamics + 1, sizeof *run->block);
    run->guard = calloc(guards + 1, sizeof *run->guard);
    run->phi = calloc(guards + 1, sizeof *run->phi);
    run->phi_scale = calloc(guards + 1, sizeof *run->phi_scale);
    run->seen = calloc(3 * guards + 1, sizeof *run->seen);
    run->old_discrete = calloc((size_t)model->n_discretes + 1, sizeof *run->old_discrete);
    run->assigned = calloc((size_t)model->nx + 1, sizeof *run->assigned);
    run->time_next = calloc((size_t)model->n_time_relations + 1, sizeof *run->time_next);
    run->sample_index = calloc((size_t)model->n_samples + 1, sizeof *run->sample_index);
    run->warned = calloc((size_t)model->n_asserts + 1, sizeof *run->warned);
    run->warned_in_calls = calloc((size_t)model->n_failures + 1, sizeof *run->warned_in_calls);
    run->implicit = calloc((size_t)model->nx + 1, sizeof *run->implicit);
    run->texts = model->n_texts ? mdl_texts_create(model->text, model->n_texts) : NULL;
    for (uint32_t i = 0; run->implicit && model->implicit && i < model->nx; i++)
        if (model->implicit[i])
            run->implicit[run->n_implicit++] = i;
    return run->implicit && (run->texts || !model->n_texts) && run->v && run->solved && run->motion && run->abstol && run->y && run->yp && run->block && run->guard && run->phi &&
           run->phi_scale && run->seen && run->old_discrete && run->assigned && run->time_next && run->sample_index && run->warned && run->warned_in_calls;
}

static const RunPart *const all_parts[] = {
    &friction_part, &contact_part, &jump_part, &leap_part, &rest_part, &delay_part, &transport_part, &condition_part, &ahead_part, &audit_part,
    &fractional_part, &range_part, &scale_part, &unit_part,
};
static_assert(sizeof all_parts / sizeof *all_parts <= PARTS_MOST, "room in Run.part");

static void
list_part(Run *run, const RunPart *part)
{
    const bool has[PART_HOOKS] = {
        [HOOK_LOAD] = part->load, [HOOK_REACT] = part->react, [HOOK_CLAMP] = part->clamp, [HOOK_SHARE] = part->share,
        [HOOK_CLOSE_ROW] = part->close_row, [HOOK_RATES] = part->rates, [HOOK_LIMIT] = part->limit, [HOOK_RECORD] = part->record,
    };
    for (uint32_t hook = 0; hook < PART_HOOKS; hook++)
        if (has[hook])
            run->having[hook].part[run->having[hook].n++] = part;
}

MDL_CHECKED static int
create_parts(Run *run)
{
    int status = MDL_OK;
    for (size_t i = 0; i < sizeof all_parts / sizeof *all_parts && status == MDL_OK; i++) {
        status = all_parts[i]->create ? all_parts[i]->create(run) : MDL_OK;
        if (!all_parts[i]->present || all_parts[i]->present(run))
            run->part[run->parts++] = all_parts[i];
    }
    for (uint32_t i = 0; i < run->parts; i++)
        list_part(run, run->part[i]);
    return status;
}

MDL_CHECKED static int
create_blocks(Run *run)
{
    const mdl_model *model = run->model;
    run->solve_rows = true;
    for (uint32_t k = 0; k < model->n_dynamics; k++) {
        const mdl_block *block = model->dynamics[k].block;
        if (!block)
            continue;
        run->loops = true;
        run->block[k] = newton_create(block);
        if (!run->block[k])
            return MDL_INTERNAL;
        if (block->m > ROW_BLOCK_LIMIT)
            run->solve_rows = false;
    }
    return MDL_OK;
}

MDL_CHECKED static int
set_up(Run *run)
{
    const mdl_model *model = run->model;
    int status = check_options(run);
    if (status != MDL_OK)
        return status;
    run->tolerance = run->options->tolerance;
    integrator_form(run, run->options->solver);
    choose_points(run);
    status = create_parts(run);
    if (status == MDL_MODEL)
        return status;
    if (status != MDL_OK || !allocate(run) || create_blocks(run) != MDL_OK) {
        run_message(run, MDL_ERROR, "out of memory");
        return MDL_INTERNAL;
    }
    memcpy(run->v, model->v0, model->nv * sizeof *run->v);
    failure_join(run);
    run->v[0] = run->time = run->options->start;
    for (uint32_t i = 0; i < run->parts; i++)
        if (run->part[i]->begin)
            run->part[i]->begin(run);
    for (uint32_t k = 0; k < run->options->overrides; k++)
        run->v[run->options->override[k].place] = run->options->override[k].value;
    return sense_create(run);
}

static void
clean_up(Run *run)
{
    integrator_free(run);
    for (size_t i = 0; i < sizeof all_parts / sizeof *all_parts; i++)
        if (all_parts[i]->free)
            all_parts[i]->free(run);
    sense_free(run);
    for (uint32_t k = 0; run->block && k < run->model->n_dynamics; k++)
        newton_free(&run->block[k]);
    free(run->redundant);
    free(run->v);
    free(run->abstol);
    free(run->solved);
    free(run->kept);
    free(run->motion);
    free(run->y);
    free(run->yp);
    free(run->block);
    free(run->guard);
    free(run->phi);
    free(run->phi_scale);
    free(run->seen);
    free(run->old_discrete);
    free(run->assigned);
    free(run->time_next);
    free(run->sample_index);
    free(run->warned);
    free(run->warned_in_calls);
    mdl_texts_free(&run->texts);
    free(run->implicit);
}

// --- output points

static double
point_time(const Run *run)
{
    double start = run->options->start, stop = run->options->stop;
    if (run->next_point > run->points)
        return INFINITY;
    double time = start + (double)run->next_point * run->interval;
    // The last point is the stop time itself when the interval divides the run.
    return run->next_point == run->points && fabs(time - stop) <= 1e-9 * run->interval ? stop : time;
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
        status = evaluate_at(run, point, true);
        if (status == MDL_OK)
            status = result_row(run);
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
    int status = evaluate_at(run, instant, !located);
    if (status == MDL_OK || !located)
        return status;
    status = evaluate_at(run, run->settled, true);
    run->v[0] = instant;
    return status;
}

// other: something else than a delayed event makes this one.
MDL_CHECKED static int
process_event(Run *run, double instant, bool located, bool other)
{
    run->stats->events++;
    *(located ? &run->stats->state_events : &run->stats->time_events) += 1;
    int status = evaluate_left_limit(run, instant, located);
    if (status == MDL_OK)
        status = result_row(run);
    if (status != MDL_OK)
        return status;
    audit_before_event(run);
    ahead_mark(run, instant);
    if (run->sense)
        status = sense_before_event(run);
    // At the end of a step the method's history is that of the event; inside the step one has to be made.
    bool at_end = !located && instant == run->time;
    profile_before_event(run);
    remember_motion(run);
    bool of_delay = delay_due(run, instant) && !other;
    run->time = instant;
    fractional_note(run);
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
        status = result_row(run);
    profile_after_event(run);
    if (status == MDL_OK && may_stop(run))
        status = evaluate_asserts(run);
    if (status != MDL_OK)
        return status;
    bool goes_on = !run->delays && !run->transports && !run->sense && motion_goes_on(run);
    status = root_blind(run);
    if (status != MDL_OK)
        return status;
    if (run->locked && !was_locked)
        return lock(run);
    if (goes_on && at_end)
        return MDL_OK;
    return goes_on ? integrator_resume(run) : integrator_start(run);
}

int
simulate_event(Run *run, double instant, bool located, bool other)
{
    Phase before = profile_enter(run, PHASE_EVENTS);
    int status = process_event(run, instant, located, other);
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

MDL_CHECKED static int
evaluate_accepted(Run *run, bool report)
{
    evaluate_load(run, run->time, run->y, run->yp);
    if (run->causal)
        return evaluate_row(run, report);
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
    violated = violated || vanish_found(run, low);
    int status = violated ? root_locate(run, low, time, instant, found) : MDL_OK;
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
        root_violated(run);
    }
    if (status != MDL_OK || !root_suspect(run, before))
        return status;
    status = root_dipped(run, instant, found);
    if (status != MDL_OK || *found)
        return status;
    // The values before were solved for.
    if (evaluate_conditions(run, time) != MDL_OK)
        return evaluate_at(run, time, true);
    root_violated(run);
    return MDL_OK;
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
    // A step right behind an event: nothing is known yet of functions that are not as smooth as the states.
    bool affine = run->model->jac_relations.rows > 0;
    uint32_t first = sightings->count < 3 && parts < BEHIND_EVENT && !affine ? BEHIND_EVENT : 1;
    sightings->density = sightings->density ? sightings->density : 1;
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

// After an accepted step: looks at conditions and assertions. *instant is the end of what may be stored.
MDL_CHECKED static int
inspect(Run *run, double before, double *instant, bool *located)
{
    *located = false;
    Phase phase = profile_enter(run, PHASE_CONDITIONS);
    bool look = run->guards && !condition_far(run), whole = look && !condition_alone(run);
    int status = look ? inspect_conditions(run, before, instant, located) : MDL_OK;
    profile_leave(run, phase);
    if (status != MDL_OK)
        return status;
    if (!*located && !whole && (may_stop(run) || run->redundant))
        status = evaluate_accepted(run, true);
    if (status == MDL_OK && !*located && run->redundant)
        status = redundancy_check(run);
    if (status != MDL_OK)
        return status;
    return !*located && may_stop(run) ? evaluate_asserts(run) : MDL_OK;
}

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
    return limit;
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
    double low = before, high = run->time;
    if (evaluate_at(run, high, false) != MDL_OK || !delay_passes(run))
        return MDL_OK;
    while (high - low > 4 * DBL_EPSILON * fmax(fabs(low), fabs(high))) {
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
        run->time = high;
    }
    return status;
}

MDL_CHECKED static int
advance(Run *run, double stop)
{
    const PartList *having = &run->having[HOOK_RECORD];
    if (run->ahead)
        ahead_look(run);
    double own = event_next_instant(run), before = run->time;
    bool located;
    int status = integrator_step(run, step_limit(run, own, stop));
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
    bool event = located || run->time == own || (run->delays && delay_reaches(run, instant));
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
    bool drifted = status == MDL_OK && run->rests && rest_drifted(run);
    if (status == MDL_OK && !drifted && run->contacts)
        status = contact_drifted(run, &drifted);
    return status == MDL_OK && drifted ? integrator_start(run) : status;
}

// --- the whole run

MDL_CHECKED static int
watch(Run *run, double begun, double *shown)
{
    const mdl_options *options = run->options;
    if (run_interrupted(run))
        return MDL_INTERRUPTED;
    int status = result_tend(run);
    if (status != MDL_OK || (!options->progress && !(options->time_limit > 0)))
        return status;
    double now = clock_seconds();
    if (options->time_limit > 0 && now - begun > options->time_limit) {
        run_message(run, MDL_ERROR, "at time %.12g: the time limit of %g s is used up", run->time,
                    options->time_limit);
        return MDL_FAILED;
    }
    if (options->progress && now - *shown > 0.1) {
        *shown = now;
        options->progress(options->user, run->time, options->start, options->stop);
    }
    return MDL_OK;
}

// The last row of a run that ends between output points; terminal() holds there.
MDL_CHECKED static int
finish(Run *run)
{
    const mdl_model *model = run->model;
    int status = MDL_OK;
    if (run->options->final_time && *run->options->final_time < run->time)
        status = evaluate_at(run, run->time, true);
    if (status == MDL_OK && run->options->final_time && *run->options->final_time < run->time)
        status = result_row(run);
    if (status != MDL_OK || !model->terminal)
        return status;
    run->v[model->terminal] = 1;
    status = integrator_interpolate(run, run->time);
    if (status == MDL_OK)
        status = event_iterate(run, false);
    if (status == MDL_OK)
        status = evaluate_asserts(run);
    return status == MDL_OK ? result_row(run) : status;
}

// The start has as long as the integration.
static void
set_deadline(Run *run)
{
    run->deadline = run->options->time_limit > 0 ? clock_seconds() + run->options->time_limit : 0;
}

MDL_CHECKED static int
integrate(Run *run)
{
    double begun = clock_seconds(), shown = begun, stop = run->options->stop;
    set_deadline(run);
    int status = integrator_create(run);
    profile_begin(run);
    if (status == MDL_OK)
        status = integrator_start(run);
    while (status == MDL_OK && run->time < stop && !run->terminated) {
        status = watch(run, begun, &shown);
        if (status == MDL_OK)
            status = advance(run, stop);
    }
    if (status == MDL_OK)
        status = finish(run);
    if (status == MDL_OK)
        scale_end(run);
    integrator_stats(run);
    profile_end(run);
    run->stats->run_seconds = clock_seconds() - begun;
    return status;
}

MDL_CHECKED static int
start(Run *run)
{
    double begun = clock_seconds();
    int status = init_solve(run);
    run->stats->init_seconds = clock_seconds() - begun;
    if (status == MDL_OK)
        status = delay_start(run);
    if (status == MDL_OK)
        status = transport_start(run);
    if (status == MDL_OK)
        status = redundancy_review(run);
    if (status == MDL_OK)
        status = locked_review(run);
    if (status == MDL_OK && run->locked)
        locked_form(run);
    if (status == MDL_OK && run->options->steady)
        status = steady_find(run);
    if (status == MDL_OK)
        status = sense_start(run);
    if (status == MDL_OK)
        fractional_start(run);
    if (status == MDL_OK)
        status = result_row(run);
    if (status == MDL_OK)
        audit_start(run);
    if (status == MDL_OK && may_stop(run))
        status = evaluate_asserts(run);
    fractional_leave_start(run);
    return status == MDL_OK ? root_blind(run) : status;
}

// Numbers too small for their full precision cost many times what others do, and mean nothing here.
static unsigned
flush_subnormals(void)
{
    unsigned control = _mm_getcsr();
    _mm_setcsr(control | FLUSH_SUBNORMALS);
    return control;
}

int
mdl_simulate(const mdl_model *model, const mdl_options *given, mdl_stats *stats)
{
    mdl_stats unused;
    mdl_options options = *given;
    double final_time = -INFINITY;
    if (!options.final_time)
        options.final_time = &final_time;
    *options.final_time = -INFINITY;
    Run run = {.model = model, .options = &options, .stats = stats ? stats : &unused};
    memset(run.stats, 0, sizeof *run.stats);
    unsigned control = flush_subnormals();
    int status = set_up(&run);
    set_deadline(&run);
    if (status == MDL_OK)
        status = result_open(&run);
    if (status == MDL_OK)
        status = start(&run);
    if (status == MDL_OK)
        status = integrate(&run);
    int balanced = audit_finish(&run);
    if (status == MDL_OK)
        status = balanced;
    // A call that was left (failure.c) has failed.
    if (status == MDL_INTERRUPTED || (status == MDL_FAILED && run_interrupted(&run))) {
        status = MDL_INTERRUPTED;
        run_message(&run, MDL_NOTE, "interrupted at time %.12g", run.time);
    }
    run.stats->end_time = run.time;
    int closed = result_close(&run);
    if (closed != MDL_OK)
        status = closed;
    clean_up(&run);
    _mm_setcsr(control);
    return status;
}

// --- the parts of a run

struct mdl_run {
    Run run;                // first: run_of()
    mdl_options options;
    mdl_stats stats;
    double final_time;
    bool moved;             // an input changed since the last event
    bool saved;             // or restored, since the last step (snapshot_settle)
    double until;           // what it is advanced to
    double span;            // what the options give as the length of a run
};

// A run that is driven has no end that is known: fractional derivatives remember so many usual lengths of it.
static const double DRIVEN_SPANS = 1000;

// All of v at run->time, where the last step or event ended.
MDL_CHECKED static int
load_present(Run *run)
{
    return evaluate_at(run, run->time, true);
}

mdl_run *
mdl_run_open(const mdl_model *model, const mdl_options *options, int *status)
{
    mdl_run *r = calloc(1, sizeof *r);
    *status = MDL_INTERNAL;
    if (!r)
        return NULL;
    r->options = *options;
    r->final_time = -INFINITY;
    r->options.final_time = &r->final_time;
    r->span = options->stop - options->start;
    r->options.horizon = DRIVEN_SPANS * r->span;
    r->run = (Run){.model = model, .options = &r->options, .stats = &r->stats, .driven = true};
    unsigned control = flush_subnormals();
    *status = set_up(&r->run);
    r->run.next_point = r->run.points + 1; // whoever drives it looks when he wants to
    if (*status == MDL_OK)
        *status = result_open(&r->run);
    if (*status == MDL_OK)
        *status = start(&r->run);
    if (*status == MDL_OK)
        *status = integrator_create(&r->run);
    if (*status == MDL_OK)
        *status = integrator_start(&r->run);
    if (*status == MDL_OK) // the method has evaluated other points
        *status = load_present(&r->run);
    _mm_setcsr(control);
    return r;
}

MDL_CHECKED static int
check_horizon(const mdl_run *r, double until)
{
    double behind = until - r->options.start;
    if (!r->run.modes || behind <= r->options.horizon)
        return MDL_OK;
    run_message(&r->run, MDL_ERROR, "fractional derivatives remember %g s: %g times the StopTime of the model's experiment; give it a longer one",
                r->options.horizon, DRIVEN_SPANS);
    return MDL_FAILED;
}

// Before a run goes on.
MDL_CHECKED static int
continue_run(mdl_run *r, double until)
{
    Run *run = &r->run;
    r->options.stop = fmax(r->options.stop, until + r->span);
    if (r->until != until) // how closely conditions are looked at
        run->interval = until > run->time ? until - run->time : run->interval;
    r->until = until;
    int status = r->saved ? snapshot_settle(run) : MDL_OK;
    r->saved = false;
    return status;
}

// The event that is held, or that inputs have made.
MDL_CHECKED static int
handle_pending(mdl_run *r)
{
    Run *run = &r->run;
    HeldEvent held = run->held;
    bool moved = r->moved;
    run->held.any = r->moved = false;
    if (held.any)
        return simulate_event(run, held.instant, held.located, held.other || moved);
    return moved ? simulate_event(run, run->time, false, true) : MDL_OK;
}

int
mdl_run_advance(mdl_run *r, double until)
{
    Run *run = &r->run;
    int good = check_horizon(r, until);
    if (good != MDL_OK)
        return good;
    unsigned control = flush_subnormals();
    run->holds = false;
    int status = continue_run(r, until);
    if (status == MDL_OK)
        status = handle_pending(r);
    while (status == MDL_OK && run->time < until && !run->terminated)
        status = advance(run, until);
    if (status == MDL_OK)
        status = load_present(run);
    _mm_setcsr(control);
    return status;
}

int
mdl_run_step(mdl_run *r, double until, bool hold, bool *event)
{
    Run *run = &r->run;
    uint64_t before = run->stats->events;
    int good = check_horizon(r, until);
    *event = false;
    if (good != MDL_OK)
        return good;
    unsigned control = flush_subnormals();
    int status = continue_run(r, until);
    if (status == MDL_OK)
        status = handle_pending(r);
    run->holds = hold;
    if (status == MDL_OK && run->time < until && !run->terminated)
        status = advance(run, until);
    run->holds = false;
    *event = run->held.any || run->stats->events > before;
    if (status == MDL_OK && !run->held.any)
        status = load_present(run);
    _mm_setcsr(control);
    return status;
}

int
mdl_run_event(mdl_run *r)
{
    if (!r->run.held.any && !r->moved)
        return MDL_OK;
    unsigned control = flush_subnormals();
    int status = continue_run(r, r->until);
    if (status == MDL_OK)
        status = handle_pending(r);
    if (status == MDL_OK)
        status = load_present(&r->run);
    _mm_setcsr(control);
    return status;
}

int
mdl_run_input(mdl_run *r, uint32_t place, double value)
{
    if (place == 0 || place >= r->run.model->nv)
        return MDL_USAGE;
    r->moved = r->moved || r->run.v[place] != value;
    if (r->run.outside && r->moved)
        r->run.outside->given = true;
    r->run.v[place] = value;
    return MDL_OK;
}

static void
give_driver(mdl_run *r, double driver[SNAPSHOT_DRIVER])
{
    const HeldEvent *held = &r->run.held;
    const double all[SNAPSHOT_DRIVER] = {r->moved, r->span, r->options.start, r->options.stop, r->until, held->any, held->located, held->other,
                                         held->instant};
    memcpy(driver, all, sizeof all);
}

static void
take_driver(mdl_run *r, const double driver[SNAPSHOT_DRIVER])
{
    r->moved = driver[0] != 0;
    r->span = driver[1];
    r->options.start = driver[2];
    r->options.stop = driver[3];
    r->until = driver[4];
    r->run.held = (HeldEvent){driver[5] != 0, driver[6] != 0, driver[7] != 0, driver[8]};
}

bool
mdl_run_holds(const mdl_run *r)
{
    return r->run.held.any;
}

double
mdl_run_reached(const mdl_run *r)
{
    return r->run.time;
}

size_t
mdl_run_save(mdl_run *r, void *block, size_t size)
{
    double driver[SNAPSHOT_DRIVER];
    give_driver(r, driver);
    size_t needed = snapshot_save(&r->run, driver, block, size);
    r->saved |= block && size >= needed;
    return needed;
}

int
mdl_run_restore(mdl_run *r, const void *block, size_t size)
{
    Run *run = &r->run;
    double driver[SNAPSHOT_DRIVER];
    const char *why = snapshot_misfit(run, block, size);
    if (why) {
        run_message(run, MDL_ERROR, "%s", why);
        return MDL_USAGE;
    }
    unsigned control = flush_subnormals();
    give_driver(r, driver);
    int status = snapshot_restore(run, driver, block);
    take_driver(r, driver);
    r->saved = true;
    _mm_setcsr(control);
    return status;
}

bool
mdl_run_ended(const mdl_run *r)
{
    return r->run.terminated;
}

const double *
mdl_run_values(const mdl_run *r)
{
    return r->run.v;
}

bool
mdl_run_follows(const mdl_run *r, uint32_t k)
{
    return r->run.redundant && r->run.redundant[k];
}

void
mdl_run_drop(mdl_run *r)
{
    if (mdl_run_close(r) != MDL_OK)
        return; // and it was said
}

int
mdl_run_close(mdl_run *r)
{
    int status = result_close(&r->run);
    clean_up(&r->run);
    free(r);
    return status;
}
