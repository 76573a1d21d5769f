// saltation.c: how sensitivities jump at events.
//
// Purpose: an event whose time depends on parameters changes sensitivities although states may be continuous.
// Method: the event is where g(t, x, p) = 0, so that its time t* moves by
//     tau = -(g_x s + g_p)/(g_t + g_x f-)
//   with the sensitivities s and the slopes f- before it, and what follows from x+ = R(t, x-, p) is
//     s+ = R_x (s + f- tau) + R_t tau + R_p - f+ tau
//   (Rozenvasser, Autom. Remote Control 28 (1967) 1081; Hiskens and Pai, IEEE Trans. CAS-I 47 (2000) 204). All derivatives are
//   tangents at the point before the event, in the direction of its motion with the parameter. R is the identity but for
//   reinit(), whose tangents `discretes` have; discrete variables get the derivatives of their new values the same way. What R
//   says is compared with what the event did, so that jumps of another origin (impacts) end the run instead of giving
//   wrong sensitivities.
// Contract: run.h. Complexity: per event a few passes over the tangents per parameter.
#include <float.h>
#include <math.h>
#include <string.h>

#include "runtime/sense.h"

static const double SAME = 1e-6;     // of a state: the event did what R says
static const double TOGETHER = 1e-6; // of two event times' derivatives: they are one event

void
sense_before_event(Run *run)
{
    Sense *sense = run->sense;
    memcpy(sense->left, run->v, run->model->nv * sizeof *run->v);
    memcpy(sense->left_s, sense->present, (size_t)sense->n * sense->nx * sizeof *sense->present);
    for (uint32_t k = 0; k < run->guards; k++)
        sense->trigger[k] = run->guard[k].pending;
}

// --- what triggered the event

// The derivative of the function of guard k in the direction of the tangents, at the left limit.
static double
guard_rate(const Run *run, uint32_t k)
{
    const Tangent *t = run->sense->tangent;
    const mdl_model *model = run->model;
    if (k < model->n_relations)
        return *tangent_at(t, model->relation[k].g);
    const mdl_sgn *law = &model->sgn[k - model->n_relations - model->n_time_relations];
    double mode = run->v[law->mode];
    if (law->unilateral)
        return mode == 0 ? law->p_sign * *tangent_at(t, law->p) : law->sign[0] * *tangent_at(t, law->place[0]);
    if (mode != 0)
        return mode * *tangent_at(t, law->x);
    return *tangent_at(t, law->a) - (run->v[law->p] < 0 ? -1 : 1) * *tangent_at(t, law->p);
}

// The sample's instant is now; *count: how many intervals after its first one.
static bool
samples_now(const Run *run, const mdl_sample *at, double *count)
{
    double now = run->v[0], interval = run->v[at->interval];
    *count = interval > 0 ? fmax(round((now - run->v[at->start]) / interval), 0) : 0;
    return fabs(run->v[at->start] + *count * interval - now) <= 1e-9 * fmax(fabs(now), 1);
}

// Time relations and samples whose instant is now, in the direction of the tangents: how the instant moves.
static bool
instant_rate(const Run *run, double *rate)
{
    const Tangent *t = run->sense->tangent;
    const mdl_model *model = run->model;
    double now = run->v[0], near = 1e-9 * fmax(fabs(now), 1);
    bool found = false;
    for (uint32_t k = 0; k < model->n_time_relations; k++) {
        const mdl_time_relation *at = &model->time_relation[k];
        if (fabs(run->v[at->instant] - now) > near || run->sense->after[at->value] == run->v[at->value])
            continue;
        *rate = *tangent_at(t, at->instant);
        found = true;
    }
    for (uint32_t k = 0; k < model->n_samples; k++) {
        const mdl_sample *at = &model->sample[k];
        double count;
        if (!samples_now(run, at, &count))
            continue;
        *rate = *tangent_at(t, at->start) + count * *tangent_at(t, at->interval);
        found = true;
    }
    return found;
}

static void
move(Run *run)
{
    const mdl_tangents *tables = run->model->tangents;
    tangent_dynamics(run->sense->tangent);
    mdl_call(tables->relations, run->v);
    mdl_call(tables->instants, run->v);
}

static void
seed_motion(Run *run, const double *f)
{
    Sense *sense = run->sense;
    tangent_clear(sense->tangent);
    *tangent_at(sense->tangent, 0) = 1;
    memcpy(tangent_at(sense->tangent, run->model->y), f, sense->nx * sizeof *f);
    move(run);
}

static int
refuse(const Run *run, const char *why, const char *text)
{
    run_message(run, MDL_ERROR, "at time %.12g: sensitivities have no derivative at this event: %s%s%s", run->v[0], why,
                *text ? ": " : "", text);
    return MDL_FAILED;
}

// Guard k demands tau[p] = -(g by p)/(dg/dt), with the tangents for p in v and `speed` = dg/dt.
static int
take_time(Run *run, uint32_t p, uint32_t k, double speed, bool first)
{
    Sense *sense = run->sense;
    double tau = -guard_rate(run, k) / speed;
    if (first)
        sense->tau[p] = tau;
    else if (fabs(tau - sense->tau[p]) > TOGETHER * (fabs(tau) + fabs(sense->tau[p])) + 1e3 * DBL_EPSILON)
        return refuse(run, "two conditions become true at one instant, and move apart with the parameter", root_text(run, k));
    return MDL_OK;
}

// sense->tau: how the event's time moves with each parameter. v is at the left limit.
static int
find_times(Run *run)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    double *f = run->v + model->yp;
    bool first = true;
    memset(sense->tau, 0, sense->n * sizeof *sense->tau);
    for (uint32_t k = 0; k < run->guards; k++) {
        uint32_t laws = model->n_relations + model->n_time_relations;
        if (!sense->trigger[k] || (k >= model->n_relations && k < laws))
            continue;
        if (k >= laws + model->n_sgns)
            return refuse(run, "a contact at rest opens", "");
        seed_motion(run, f);
        double speed = guard_rate(run, k);
        // A zero that is only touched is crossed, by the error of the states, at a speed like the root of the tolerance.
        double elapsed = fmax(run->time - run->options->start, run->interval);
        if (!(fabs(speed) * elapsed > sqrt(run->tolerance) * run->guard[k].size))
            return refuse(run, "its condition only touches zero", root_text(run, k));
        for (uint32_t p = 0; p < sense->n; p++) {
            sense_seed(run, p, sense->left_s + (size_t)p * sense->nx);
            move(run);
            int status = take_time(run, p, k, speed, first);
            if (status != MDL_OK)
                return status;
        }
        first = false;
    }
    for (uint32_t p = 0; p < sense->n && first; p++) {
        sense_seed(run, p, sense->left_s + (size_t)p * sense->nx);
        move(run);
        double rate = 0;
        if (instant_rate(run, &rate))
            sense->tau[p] = rate;
    }
    return MDL_OK;
}

// --- what the event does

// v: the states before the event, all else as it is behind it, the discrete part evaluated.
static int
load_mixed(Run *run)
{
    const Sense *sense = run->sense;
    const mdl_model *model = run->model;
    double unused;
    for (uint32_t k = 0; k < model->n_relations; k++)
        run->v[model->relation[k].value] = sense->after[model->relation[k].value];
    for (uint32_t k = 0; k < model->n_time_relations; k++)
        run->v[model->time_relation[k].value] = sense->after[model->time_relation[k].value];
    for (uint32_t k = 0; k < model->n_samples; k++)
        run->v[model->sample[k].value] = samples_now(run, &model->sample[k], &unused);
    for (uint32_t k = 0; k < model->n_discretes; k++)
        if (model->discrete[k].pre)
            run->v[model->discrete[k].pre] = sense->left[model->discrete[k].value];
    int status = evaluate_solved(run, true);
    if (status != MDL_OK)
        return status;
    evaluate_outputs(run);
    mdl_call(model->discretes, run->v);
    return tangent_factor(run->sense->tangent);
}

static bool
same(const Run *run, uint32_t i, double expected)
{
    double value = run->sense->after[run->model->y + i], nominal = fabs(run->v[run->model->nominal + i]);
    return fabs(value - expected) <= SAME * fmax(fabs(value), nominal) + 100 * run->abstol[i];
}

// The reinit that has set state i, or NULL.
static const mdl_reinit *
reinit_of(const Run *run, uint32_t i)
{
    for (uint32_t k = 0; k < run->model->n_reinits; k++)
        if (run->model->reinit[k].state == i && run->v[run->model->reinit[k].active] != 0)
            return &run->model->reinit[k];
    return NULL;
}

static int
check_jumps(const Run *run)
{
    const mdl_model *model = run->model;
    bool resets = false;
    for (uint32_t i = 0; i < model->nx; i++) {
        const mdl_reinit *reinit = reinit_of(run, i);
        resets = resets || reinit;
        if (!same(run, i, reinit ? run->v[reinit->next] : run->v[model->y + i]))
            return refuse(run, "it changes a state otherwise than by one reinit (an impact, or a chain of events)", model->state_name[i]);
    }
    if (resets && model->tangents->no_discretes)
        return refuse(run, "the values it gives have no derivatives", "");
    return MDL_OK;
}

// Sensitivities of discrete variables are those of their new values; of left limits those of the values.
static void
follow_discretes(Run *run, double *image)
{
    const Tangent *t = run->sense->tangent;
    for (uint32_t k = 0; k < run->model->n_discretes; k++) {
        const mdl_discrete *at = &run->model->discrete[k];
        if (!at->next)
            continue;
        image[at->value] = run->v[at->next] == run->sense->left[at->value] ? image[at->value] : *tangent_at(t, at->next);
        if (at->pre)
            image[at->pre] = image[at->value];
    }
}

static void
jump(Run *run, uint32_t p)
{
    Sense *sense = run->sense;
    const mdl_model *model = run->model;
    double *s = sense->s + (size_t)p * sense->nx, tau = sense->tau[p];
    const double *before = sense->left_s + (size_t)p * sense->nx, *f = sense->left + model->yp, *f_after = sense->after + model->yp;
    for (uint32_t i = 0; i < sense->nx; i++)
        sense->fresh[i] = before[i] + f[i] * tau;
    sense_seed(run, p, sense->fresh);
    *tangent_at(sense->tangent, 0) = tau;
    tangent_dynamics(sense->tangent);
    for (uint32_t k = 0; k < model->n_discretes; k++)
        if (!model->discrete[k].next && model->discrete[k].pre)
            *tangent_at(sense->tangent, model->discrete[k].pre) = *tangent_at(sense->tangent, model->discrete[k].value);
    mdl_call(model->tangents->discretes, run->v);
    for (uint32_t i = 0; i < sense->nx; i++) {
        const mdl_reinit *reinit = reinit_of(run, i);
        s[i] = (reinit ? *tangent_at(sense->tangent, reinit->next) : sense->fresh[i]) - f_after[i] * tau;
    }
    for (uint32_t k = 0; k < model->n_sgns; k++)
        if (model->sgn[k].state >= 0 && sense->after[model->sgn[k].mode] == 0)
            s[model->sgn[k].state] = 0;
    follow_discretes(run, sense->image[p]);
}

int
sense_after_event(Run *run)
{
    Sense *sense = run->sense;
    size_t bytes = run->model->nv * sizeof *run->v;
    memcpy(sense->after, run->v, bytes);
    memcpy(run->v, sense->left, bytes);
    int status = tangent_factor(sense->tangent);
    if (status == MDL_OK)
        status = find_times(run);
    if (status == MDL_OK)
        status = load_mixed(run);
    if (status == MDL_OK)
        status = check_jumps(run);
    for (uint32_t p = 0; p < sense->n && status == MDL_OK; p++)
        jump(run, p);
    memcpy(run->v, sense->after, bytes);
    memcpy(sense->present, sense->s, (size_t)sense->n * sense->nx * sizeof *sense->s);
    return status;
}
