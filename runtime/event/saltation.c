// saltation.c: how sensitivities jump at events.
//
// Purpose: an event whose time depends on parameters changes sensitivities although states may be continuous.
// Method: the event is where g(t, x, p) = 0, so that its time t* moves by
//     tau = -(g_x s + g_p)/(g_t + g_x f-)
//   with the sensitivities s and the slopes f- before it. What the states are at the event moves by  m = s + f- tau,
//   every step of the event iteration that changes states or discrete variables, x := R(t, x, p), takes m to
//   R_x m + R_t tau + R_p, and behind the last one  s+ = m - f+ tau  (Rozenvasser, Autom. Remote Control 28 (1967) 1081;
//   Hiskens and Pai, IEEE Trans. CAS-I 47 (2000) 204). So chains of events at one instant are as many steps: resets that
//   trigger others, sampled values, impacts (impact.c). All derivatives are tangents at the point at which the step is
//   taken, in the direction of its motion with the parameter. That the states behind the event are those which the steps
//   have led to is checked, so that a jump of another origin ends the run instead of giving wrong sensitivities.
// Contract: sense.h. Complexity: per event a few passes over the tangents per parameter.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/memory/memory.h"
#include "runtime/point/point.h"
#include "runtime/point/sense.h"

static const double UNCHANGED = 1e-13; // of a derivative: it has settled
static const double SAME = 1e-6;     // of a state: the event did what R says
static const double RETURN = 0.1;    // of the speed at which a condition was left: it is crossed again, not touched
static const double UNRESOLVED = 1e3; // of the gap that counts as none: the height of a rebound that does not count any more
static const double TOGETHER = 1e-6; // of two event times' derivatives: they are one event

// --- what triggered the event

// Of friction in a plane, whose first component is `law`: of |p| against the limit, or of the slip along the direction held.
static double
disk_rate(const Run *run, const mdl_sgn *law)
{
    const Tangent *t = run->sense->tangent;
    bool sticks = run->v[law->mode] == 0;
    double sum = 0, size = 0;
    for (uint32_t i = 0; i < law->of; i++) {
        sum += sticks ? run->v[law[i].p] * *tangent_at(t, law[i].p) : (run->v[law[i].mode] - MDL_SLIDES) * *tangent_at(t, law[i].x);
        size = hypot(size, run->v[law[i].p]);
    }
    return sticks ? *tangent_at(t, law->a) - sum / size : sum;
}

// The derivative of the function of guard k in the direction of the tangents, at the left limit.
static double
guard_rate(const Run *run, uint32_t k)
{
    const Tangent *t = run->sense->tangent;
    const mdl_model *model = run->model;
    if (k < model->n_relations)
        return *tangent_at(t, model->relation[k].g);
    uint32_t at = k - model->n_relations - model->n_time_relations;
    if (at >= model->n_sgns)
        return rest_rate(run, at - model->n_sgns);
    const mdl_sgn *law = &model->sgn[at];
    double mode = run->v[law->mode];
    if (law->unilateral)
        return mode == 0 ? law->p_sign * *tangent_at(t, law->p) : law->sign[0] * *tangent_at(t, law->place[0]);
    if (law->disk)
        return disk_rate(run, law);
    if (mode != 0)
        return mode * *tangent_at(t, law->x);
    return *tangent_at(t, law->a) - (run->v[law->p] < 0 ? -1 : 1) * *tangent_at(t, law->p);
}

// The instant is now, as event.c sees it.
static bool
is_now(const Run *run, double instant)
{
    return fabs(instant - run->v[0]) <= 16 * DBL_EPSILON * fmax(fabs(instant), fabs(run->v[0]));
}

static bool
sample_is_now(const Run *run, uint32_t k, double *count)
{
    const mdl_sample *at = &run->model->sample[k];
    *count = (double)run->sample_index[k];
    return run->v[at->interval] > 0 && is_now(run, run->v[at->start] + *count * run->v[at->interval]);
}

static void
move(Run *run)
{
    const mdl_tangents *tables = run->model->tangents;
    tangent_dynamics(run->sense->tangent);
    mdl_call(tables->relations, run->v);
    mdl_call(tables->instants, run->v);
}

void
sense_seed_motion(Run *run, const double *f)
{
    Sense *sense = run->sense;
    tangent_clear(sense->tangent);
    *tangent_at(sense->tangent, 0) = 1;
    memcpy(tangent_at(sense->tangent, run->model->y), f, sense->nx * sizeof *f);
    tangent_seed_past(sense->tangent, UINT32_MAX);
    move(run);
}

// What is behind the event demands that its time moves by `tau`.
MDL_CHECKED static int
take_time(Run *run, uint32_t p, double tau, bool first, const char *text)
{
    Sense *sense = run->sense;
    if (first)
        sense->tau[p] = tau;
    else if (fabs(tau - sense->tau[p]) > TOGETHER * (fabs(tau) + fabs(sense->tau[p])) + 1e3 * DBL_EPSILON)
        return sense_refuse(run, "two conditions become true at one instant, and move apart with the parameter", text);
    return MDL_OK;
}

static void
seed_parameter(Run *run, uint32_t p)
{
    sense_seed(run, p, run->sense->present + (size_t)p * run->sense->nx);
    move(run);
}

// A zero that is only touched is crossed, by the error of the states, at a speed like the root of the tolerance. Rebounds
// become slow without touching.
static bool
crosses(const Run *run, uint32_t k, double speed)
{
    double elapsed = fmax(run->time - run->options->start, run->interval), size = run->guard[k].size, left = run->sense->departs[k];
    return fabs(speed) * elapsed > sqrt(run->tolerance) * size
        || (left * elapsed > 1e-6 * sqrt(run->tolerance) * size && fabs(speed) > RETURN * left);
}

// The end of a rebound that the tolerance does not resolve: it moves as its beginning, which was the latest event.
static bool
is_low(const Run *run, uint32_t k)
{
    const mdl_model *model = run->model;
    uint32_t law = k - model->n_relations - model->n_time_relations;
    if (k < model->n_relations || law >= model->n_sgns || !model->sgn[law].unilateral || !(run->sense->departs[k] > 0))
        return false;
    return run->sense->departs[k] * (run->v[0] - run->sense->latest) < UNRESOLVED * contact_band(run, law);
}

// The condition of guard k has become true: tau = -(g by p)/(dg/dt).
MDL_CHECKED static int
guard_time(Run *run, uint32_t k, bool first)
{
    Sense *sense = run->sense;
    sense_seed_motion(run, run->v + run->model->yp);
    double speed = guard_rate(run, k);
    int status = MDL_OK;
    if (!crosses(run, k, speed)) {
        sense->touching = root_text(run, k);
        return MDL_OK;
    }
    sense->touched[k] = 1;
    for (uint32_t p = 0; p < sense->n && status == MDL_OK; p++) {
        seed_parameter(run, p);
        status = take_time(run, p, -guard_rate(run, k) / speed, first, root_text(run, k));
    }
    return status;
}

// Time relations and samples that are due: the instant moves as what it is computed from.
MDL_CHECKED static int
instant_times(Run *run, bool *first)
{
    const mdl_model *model = run->model;
    const Tangent *t = run->sense->tangent;
    int status = MDL_OK;
    double count;
    for (uint32_t p = 0; p < run->sense->n && status == MDL_OK; p++) {
        bool found = !*first;
        seed_parameter(run, p);
        for (uint32_t k = 0; k < model->n_time_relations && status == MDL_OK; k++) {
            const mdl_time_relation *at = &model->time_relation[k];
            if (!is_now(run, run->v[at->instant]) || (run->v[at->next] != 0) == (run->v[at->value] != 0))
                continue;
            status = take_time(run, p, *tangent_at(t, at->instant), !found, at->text);
            found = true;
        }
        for (uint32_t k = 0; k < model->n_samples && status == MDL_OK; k++) {
            const mdl_sample *at = &model->sample[k];
            if (!sample_is_now(run, k, &count))
                continue;
            status = take_time(run, p, *tangent_at(t, at->start) + count * *tangent_at(t, at->interval), !found,
                               at->text ? at->text : "a sample");
            found = true;
        }
        if (p + 1 == run->sense->n)
            *first = !found;
    }
    return status;
}

// The argument t - d of delay k arrives at a jump: (1 - d')*tau is how the jump's own time moves, and d with the parameter.
MDL_CHECKED static int
arrival_times(Run *run, uint32_t k, bool first)
{
    const char *where = run->model->delay[k].where;
    sense_seed_motion(run, run->v + run->model->yp);
    double rate = 1 - delay_tangent(run, k);
    int status = MDL_OK;
    if (fabs(rate) < sqrt(run->tolerance)) {
        run->sense->touching = where;
        return MDL_OK;
    }
    for (uint32_t p = 0; p < run->sense->n && status == MDL_OK; p++) {
        seed_parameter(run, p);
        status = take_time(run, p, (delay_break_moves(run, k, p) + delay_tangent(run, k)) / rate, first, where);
    }
    return status;
}

// Arguments of delays arrive at jumps: when these happened moves, and how long they take.
MDL_CHECKED static int
delay_times(Run *run, bool *first)
{
    int status = MDL_OK;
    for (uint32_t k = 0; k < run->model->n_delays && status == MDL_OK; k++) {
        if (!delay_arrives(run, k))
            continue;
        status = arrival_times(run, k, *first);
        *first = false;
    }
    return status;
}

// sense->tau: how the event's time moves with each parameter. v is at the left limit.
MDL_CHECKED static int
find_times(Run *run)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    uint32_t laws = model->n_relations + model->n_time_relations;
    bool first = true, low = run->accumulated;
    int status = MDL_OK;
    for (uint32_t k = 0; k < run->guards && !low; k++)
        low = run->guard[k].pending && is_low(run, k);
    // What accumulates ends when its latest event does.
    sense->touching = NULL;
    if (low)
        return MDL_OK;
    memset(sense->tau, 0, sense->n * sizeof *sense->tau);
    for (uint32_t k = 0; k < run->guards && status == MDL_OK; k++) {
        if (!run->guard[k].pending || run->guard[k].at_limit || (k >= model->n_relations && k < laws)) // what a limit gives up goes on as it was
            continue;
        status = guard_time(run, k, first);
        first = false;
    }
    if (status == MDL_OK)
        status = instant_times(run, &first);
    return status == MDL_OK ? delay_times(run, &first) : status;
}

// The exponentials of fractional derivatives up to the event.
static void
move_modes(Run *run)
{
    Sense *sense = run->sense;
    fractional_rates(run, run->mode, sense->mode_rate);
    for (uint32_t p = 0; p < sense->n; p++)
        for (uint32_t k = 0; k < sense->modes; k++) {
            size_t at = (size_t)p * sense->modes + k;
            sense->mode_moved[at] = sense->mode_present[at] + sense->mode_rate[k] * sense->tau[p];
        }
    sense_take_modes(sense, sense->mode_moved, sense->modes);
    for (uint32_t p = 0; p < sense->n; p++) {
        sense_seed_event(run, p, sense->moved + (size_t)p * sense->nx);
        tangent_dynamics(sense->tangent);
        fractional_note_tangents(run, p);
    }
}

int
sense_before_event(Run *run)
{
    Sense *sense = run->sense;
    const double *f = run->v + run->model->yp;
    event_relations(run);
    int status = tangent_factor(sense->tangent);
    if (status == MDL_OK)
        status = find_times(run);
    for (uint32_t p = 0; p < sense->n; p++)
        for (uint32_t i = 0; i < sense->nx; i++) {
            size_t at = (size_t)p * sense->nx + i;
            sense->moved[at] = sense->present[at] + f[i] * sense->tau[p];
        }
    sense_moved(run);
    memcpy(sense->slope, f, sense->nx * sizeof *f);
    sense->in_event = true;
    if (sense->modes && status == MDL_OK)
        move_modes(run);
    return status;
}

// --- what the event does

// v is evaluated: pre() of continuous variables moves as they do now.
int
sense_left_limits(Run *run)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    bool any = false;
    for (uint32_t k = 0; k < model->n_discretes && !any; k++)
        any = !model->discrete[k].next && model->discrete[k].pre;
    if (!sense->in_event || !any)
        return MDL_OK;
    int status = tangent_factor(sense->tangent);
    for (uint32_t p = 0; p < sense->n && status == MDL_OK; p++) {
        sense_seed_event(run, p, sense->moved + (size_t)p * sense->nx);
        tangent_dynamics(sense->tangent);
        for (uint32_t k = 0; k < model->n_discretes; k++)
            if (!model->discrete[k].next && model->discrete[k].pre)
                sense->image[p][model->discrete[k].pre] = *tangent_at(sense->tangent, model->discrete[k].value);
    }
    sense->images++;
    return status;
}

// Resets, and new values other than those of counters and switches, must have tangents and a time.
MDL_CHECKED static int
check_discretes(const Run *run)
{
    const mdl_model *model = run->model;
    bool acts = false;
    for (uint32_t k = 0; k < model->n_reinits; k++)
        acts = acts || run->v[model->reinit[k].active] != 0;
    for (uint32_t k = 0; k < model->n_discretes; k++) {
        const mdl_discrete *at = &model->discrete[k];
        double next = at->next ? run->v[at->next] : 0;
        acts = acts || (at->next && next != run->sense->kept[at->value] && next != floor(next));
    }
    if (acts && model->tangents->no_discretes)
        return sense_refuse(run, "the values it gives have no derivatives", "");
    return acts ? sense_acts(run) : MDL_OK;
}

// The derivatives by parameter p of what the discrete equations give, which v has. True when one is another one than before.
static bool
follow_discretes(Run *run, uint32_t p)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    double *image = sense->image[p];
    bool changed = false;
    for (uint32_t k = 0; k < model->n_discretes && !model->tangents->no_discretes; k++) {
        const mdl_discrete *at = &model->discrete[k];
        if (!at->next)
            continue;
        double before = image[at->value], now = *tangent_at(sense->tangent, at->next);
        changed = changed || fabs(now - before) > UNCHANGED * fmax(fabs(now), fabs(before));
        image[at->value] = now;
    }
    return changed;
}

// At the point in v, from the derivatives that `image` has of discrete variables: those of everything else, and what the discrete equations give.
static void
evaluate_discretes(Run *run, uint32_t p)
{
    Sense *sense = run->sense;
    memcpy(run->v, sense->kept, run->model->tangents->shift * sizeof *run->v);
    sense_seed_event(run, p, sense->moved + (size_t)p * sense->nx);
    tangent_dynamics(sense->tangent);
    failure_next_look(run);
    mdl_call(run->model->discretes, run->v);
    mdl_call(run->model->tangents->discretes, run->v);
}

// LoopMap: the same for discrete variables in a loop.
MDL_CHECKED static int
follow_looped(Run *run, void *parameter, const double *x, double *result)
{
    uint32_t p = *(const uint32_t *)parameter;
    double *image = run->sense->image[p];
    for (uint32_t i = 0; i < run->n_looped; i++)
        image[run->model->discrete[run->looped[i]].value] = x[i];
    evaluate_discretes(run, p);
    for (uint32_t i = 0; i < run->n_looped; i++)
        result[i] = *tangent_at(run->sense->tangent, run->model->discrete[run->looped[i]].next);
    return MDL_OK;
}

MDL_CHECKED static int
solve_looped(Run *run, uint32_t p)
{
    double *image = run->sense->image[p], *x = malloc((run->n_looped + 1) * sizeof *x);
    if (!x)
        return MDL_INTERNAL;
    for (uint32_t i = 0; i < run->n_looped; i++)
        x[i] = image[run->model->discrete[run->looped[i]].value];
    int status = loop_step(run, follow_looped, &p, x);
    for (uint32_t i = 0; i < run->n_looped; i++)
        image[run->model->discrete[run->looped[i]].value] = x[i];
    free(x);
    return status;
}

// Derivatives by parameter p of discrete variables: each follows from others through what is solved at this instant, as their values do.
MDL_CHECKED static int
settle_tangents(Run *run, uint32_t p)
{
    enum { PASSES = 100, IN_TURN = 8 };
    int status = MDL_OK;
    bool again = true;
    for (uint32_t pass = 0; pass < PASSES && again && status == MDL_OK; pass++) {
        if (pass >= IN_TURN)
            status = solve_looped(run, p);
        evaluate_discretes(run, p);
        if (pass == 0 && status == MDL_OK)
            status = check_discretes(run);
        again = follow_discretes(run, p);
    }
    return status == MDL_OK && again ? sense_refuse(run, "derivatives of discrete variables follow from each other without end", "") : status;
}

// What the settled derivatives by parameter p make of states and of pre().
static void
keep_tangents(Run *run, uint32_t p)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    double *moved = sense->moved + (size_t)p * sense->nx, *image = sense->image[p];
    for (uint32_t k = 0; k < model->n_reinits; k++)
        if (run->v[model->reinit[k].active] != 0)
            moved[model->reinit[k].state] = *tangent_at(sense->tangent, model->reinit[k].next);
    for (uint32_t k = 0; k < model->n_discretes && !model->tangents->no_discretes; k++)
        if (model->discrete[k].next && model->discrete[k].pre)
            image[model->discrete[k].pre] = image[model->discrete[k].value];
}

// Before the discrete equations are evaluated at the point in v, which stays.
int
sense_discretes(Run *run)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    if (!sense->in_event)
        return MDL_OK;
    size_t bytes = model->tangents->shift * sizeof *run->v;
    memcpy(sense->kept, run->v, bytes);
    int status = tangent_factor(sense->tangent);
    for (uint32_t p = 0; p < sense->n && status == MDL_OK; p++) {
        status = settle_tangents(run, p);
        keep_tangents(run, p);
    }
    sense->images++;
    for (uint32_t k = 0; k < model->n_reinits; k++)
        if (run->v[model->reinit[k].active] != 0)
            sense->reached[model->reinit[k].state] = run->v[model->reinit[k].next];
    memcpy(run->v, sense->kept, bytes);
    return status;
}

// The states behind the event are those that its steps have led to.
int
sense_states(const Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < model->nx; i++) {
        double value = run->v[model->y + i], size = fmax(fabs(value), fabs(run->v[model->nominal + i]));
        if (fabs(value - run->sense->reached[i]) > SAME * size + 100 * run->abstol[i])
            return sense_refuse(run, "it changes a state in a way that has no known derivative", model->state_name[i]);
    }
    return MDL_OK;
}

// How fast the conditions that made the event leave it.
MDL_CHECKED static int
note_departures(Run *run)
{
    Sense *sense = run->sense;
    int status = tangent_factor(sense->tangent);
    sense->latest = run->v[0];
    if (status != MDL_OK)
        return status;
    sense_seed_motion(run, run->v + run->model->yp);
    for (uint32_t k = 0; k < run->guards - run->model->n_rests; k++)
        if (sense->touched[k])
            sense->departs[k] = fabs(guard_rate(run, k));
    return MDL_OK;
}

// Slopes that change do so at a time that must be known.
MDL_CHECKED static int
check_slopes(const Run *run)
{
    const double *f = run->v + run->model->yp, *before = run->sense->slope;
    for (uint32_t i = 0; i < run->sense->nx; i++)
        if (fabs(f[i] - before[i]) > SAME * fmax(fabs(f[i]), fabs(before[i])))
            return sense_acts(run);
    return MDL_OK;
}

// What is at rest stays there for all parameters.
MDL_CHECKED static int
keep_rest(Run *run)
{
    Sense *sense = run->sense;
    if (!rest_any(run))
        return MDL_OK;
    uint32_t shared = rest_shared(run);
    if (shared != UINT32_MAX)
        return sense_refuse(run, "what comes to rest lies on something that moves as well", rest_text(run, shared));
    int status = tangent_factor(sense->tangent);
    for (uint32_t p = 0; p < sense->n && status == MDL_OK; p++)
        for (uint32_t level = 0; level < 2 && status == MDL_OK; level++) {
            double *s = sense->s + (size_t)p * sense->nx;
            sense_seed(run, p, s);
            tangent_dynamics(sense->tangent);
            if (!rest_close_tangent(run, level, s))
                status = sense_refuse(run, "the reactions of what is at rest have no derivatives", "");
        }
    return status;
}

// And from it on, with what jumps there.
MDL_CHECKED static int
leave_modes(Run *run)
{
    Sense *sense = run->sense;
    int status = sense->modes ? tangent_factor(sense->tangent) : MDL_OK;
    if (status != MDL_OK || !sense->modes)
        return status;
    fractional_rates(run, run->mode, sense->mode_rate);
    for (uint32_t p = 0; p < sense->n; p++) {
        sense_seed_event(run, p, sense->moved + (size_t)p * sense->nx);
        tangent_dynamics(sense->tangent);
        fractional_jump_tangents(run, p);
        for (uint32_t k = 0; k < sense->modes; k++) {
            size_t at = (size_t)p * sense->modes + k;
            sense->mode_s[at] = sense->mode_present[at] = sense->mode_moved[at] - sense->mode_rate[k] * sense->tau[p];
        }
    }
    sense_take_modes(sense, sense->mode_present, sense->modes);
    return MDL_OK;
}

int
sense_after_event(Run *run)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    const double *f = run->v + model->yp;
    sense->in_event = false;
    int status = leave_modes(run);
    for (uint32_t p = 0; p < sense->n; p++) {
        double *s = sense->s + (size_t)p * sense->nx;
        const double *moved = sense->moved + (size_t)p * sense->nx;
        for (uint32_t i = 0; i < sense->nx; i++)
            s[i] = moved[i] - f[i] * sense->tau[p];
        for (uint32_t k = 0; k < model->n_sgns; k++)
            if (model->sgn[k].state >= 0 && friction_mode(run, k) == 0)
                s[model->sgn[k].state] = 0;
    }
    if (status == MDL_OK)
        status = sense_states(run);
    if (status == MDL_OK)
        status = check_slopes(run);
    if (status == MDL_OK)
        status = note_departures(run);
    if (status == MDL_OK)
        status = sense_close(run);
    if (status == MDL_OK)
        status = keep_rest(run);
    memcpy(sense->present, sense->s, (size_t)sense->n * sense->nx * sizeof *sense->s);
    return status;
}
