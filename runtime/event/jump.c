// jump.c: impulses of what jumps and is differentiated.
//
// Purpose: a voltage that steps on a capacitor, a velocity that steps on a mass: the charge, or the momentum, that flows in an instant.
// Method: an equation 0 = g among continuous variables that was differentiated has, as 0 = dg/dt + k, an impulse k (ir/index/jumps.c).
//         With the continuous variables of the left limit and the discrete ones of behind the event, g is r. k has the integral
//         r over the event, so that g is 0 behind it; and as derivatives of states are affine in k,
//             dy/dt(k) = dy/dt(0) + D*k,     y changes by the integral of D*r over the way of the jump,
//         on which g goes from r to 0 (and so do the integrals of powers get the work of the impulse). A state that reinit() has
//         given another value changes on the way, too, from its left limit; the k in what determines its derivative (ir/index/resets.c) are
//         those that change the derivative by the whole of its jump; where there are none that are known (a law holds the derivative, it matters
//         how the state jumps, or there is no solution on the way) the other states keep their values, with a warning. The way is integrated by the classical Runge-Kutta method with steps
//         that are halved, and extrapolated, until that makes no difference. What is not affine in k, or jumps although it was differentiated twice
//         (a position under a mass), has no finite impulse: the run ends and names the equation. So it does where a function that branches by
//         itself jumps on the way: its result has changed by more than its derivative makes of the way.
//         A friction holds no impulse, having a limit that impulses do not change: it lets go, and what has no slip behind the event sticks again.
// Contract: event.h. Complexity: a copy of v per event; per event that jumps a dozen evaluations of the model, and more where D
//         changes on the way.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/event.h"
#include "runtime/law/law.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/sense.h"

static const double ROUNDING = 1e-10; // of what an equation's rest has been: none
static const double STIRRED = 1e-6;   // of a force that holds: it is another one
static const double AFFINE = 1e-6;    // of a change: that of half the impulse is half of it
static const double ON_THE_WAY = 1e-10; // of a change: what another step length makes of it is none
enum { STEPS_MOST = 256, SWEEPS = 60 };

typedef struct Kick { // the k of a state that was reset
    double now, before;
    double change;       // of the derivative, by the one before
} Kick;

typedef struct Jumps {
    double *left;    // v at the left limit
    double *work;    // nv: v with what is continuous from before the event
    double *rest;    // per jump: r
    Kick *kick;      // per jump
    double *start, *base, *change, *half, *best, *slope, *before, *point, *sum; // nx, then results of functions that branch (mdl_leap)
    double *result, *rate;   // per such result: at the beginning of the way; its derivative without impulses
    double *jump, *target;   // nx: by what reinit() has changed it; what it is behind the event if nothing else does
    unsigned char *reset;    // nx: reinit() has set it
    unsigned char *told;     // per jump: its impulse was said to be left out
    bool without;            // what reinit() has set has no impulse that is known: other states keep their values
    bool quiet;              // a point on the way where the model has no solution is no failure: they keep them, too
    double *force, *limit;   // per law: p and a without impulses
    unsigned char *pulled;   // per law: it sticks, or is closed, and impulses change its force or limit
    bool pulls;              // there are such laws
    unsigned char *released; // per law: it has let go for the impulses
} Jumps;

MDL_CHECKED static int
jump_create(Run *run)
{
    size_t nv = run->model->nv, nx = run->model->nx, n = run->model->n_jumps, leaps = run->model->n_leaps, all = nx + leaps;
    if (!n)
        return MDL_OK;
    Jumps *jumps = run->jumps = calloc(1, sizeof *jumps);
    double *room = jumps ? calloc(2 * nv + n + 9 * all + 2 * leaps + 2 * nx + 2 * (size_t)run->model->n_sgns, sizeof *room) : NULL;
    if (!room)
        return MDL_INTERNAL;
    jumps->left = room;
    jumps->work = room + nv;
    jumps->rest = jumps->work + nv;
    jumps->start = jumps->rest + n;
    jumps->base = jumps->start + all;
    jumps->change = jumps->base + all;
    jumps->half = jumps->change + all;
    jumps->best = jumps->half + all;
    jumps->slope = jumps->best + all;
    jumps->before = jumps->slope + all;
    jumps->point = jumps->before + all;
    jumps->sum = jumps->point + all;
    jumps->result = jumps->sum + all;
    jumps->rate = jumps->result + leaps;
    jumps->jump = jumps->rate + leaps;
    jumps->target = jumps->jump + nx;
    jumps->force = jumps->target + nx;
    jumps->limit = jumps->force + run->model->n_sgns;
    jumps->kick = calloc(n, sizeof *jumps->kick);
    jumps->reset = calloc(nx + 1, sizeof *jumps->reset);
    jumps->told = calloc(n, sizeof *jumps->told);
    jumps->pulled = calloc(2 * (size_t)run->model->n_sgns + 1, sizeof *jumps->pulled);
    jumps->released = jumps->pulled ? jumps->pulled + run->model->n_sgns : NULL;
    return jumps->kick && jumps->reset && jumps->told && jumps->pulled ? MDL_OK : MDL_INTERNAL;
}

static void
jump_free(Run *run)
{
    if (run->jumps) {
        free(run->jumps->left);
        free(run->jumps->kick);
        free(run->jumps->reset);
        free(run->jumps->told);
        free(run->jumps->pulled);
    }
    free(run->jumps);
    run->jumps = NULL;
}

void
jump_note(Run *run)
{
    if (!run->jumps)
        return;
    evaluate_outputs(run);
    memcpy(run->jumps->left, run->v, run->model->nv * sizeof *run->v);
    memset(run->jumps->reset, 0, run->model->nx * sizeof *run->jumps->reset);
}

void
jump_reset(Run *run, uint32_t state)
{
    if (run->jumps)
        run->jumps->reset[state] = 1;
}

// work := the left limit with what is discrete as it is now.
static void
mix(Run *run)
{
    const mdl_model *model = run->model;
    double *work = run->jumps->work;
    memcpy(work, run->jumps->left, model->nv * sizeof *work);
    for (uint32_t k = 0; k < model->n_relations; k++)
        work[model->relation[k].value] = run->v[model->relation[k].value];
    for (uint32_t k = 0; k < model->n_time_relations; k++)
        work[model->time_relation[k].value] = run->v[model->time_relation[k].value];
    for (uint32_t k = 0; k < model->n_discretes; k++)
        if (model->discrete[k].next)
            work[model->discrete[k].value] = run->v[model->discrete[k].value];
    for (uint32_t k = 0; k < model->n_sgns; k++)
        work[model->sgn[k].mode] = run->v[model->sgn[k].mode];
}

static uint32_t
largest(const Run *run)
{
    uint32_t at = 0;
    for (uint32_t k = 0; k < run->model->n_jumps; k++)
        at = fabs(run->jumps->rest[k]) > fabs(run->jumps->rest[at]) ? k : at;
    return at;
}

MDL_CHECKED static int
refuse(const Run *run, uint32_t k, const char *why)
{
    const mdl_jump *jump = &run->model->jump[k];
    run_message(run, MDL_ERROR, "at time %.12g: %s by %.6g; %s:\n  %s", run->v[0],
                jump->state ? "this state jumps, and others follow from its derivative," : "this equation is differentiated, and jumps",
                run->jumps->rest[k], why, jump->text);
    return MDL_FAILED;
}

// No impulse is known. Where reinit() has set a state the others keep their values, which is its meaning in Modelica.
MDL_CHECKED static int
go_without(const Run *run, const char *why)
{
    Jumps *jumps = run->jumps;
    uint32_t k = largest(run);
    const mdl_jump *jump = &run->model->jump[k];
    if (!jump->state)
        return refuse(run, k, why);
    if (!jumps->told[k])
        run_message(run, MDL_WARNING, "at time %.12g: this state jumps by %.6g, and others follow from its derivative; %s, so they stay as they are:\n  %s",
                    run->v[0], jumps->rest[k], why, jump->text);
    jumps->told[k] = 1;
    jumps->without = true;
    return MDL_FAILED;
}

// What is left of the equations; true when it is more than rounding, or than what was left before the event.
MDL_CHECKED static int
find_rests(Run *run, bool *any)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    memcpy(jumps->work, jumps->left, model->nv * sizeof *jumps->work);
    mdl_call(model->jumps, jumps->work);
    for (uint32_t k = 0; k < model->n_jumps; k++)
        jumps->rest[k] = model->jump[k].state ? 0 : jumps->work[model->jump[k].rest];
    mix(run);
    mdl_call(model->jumps, jumps->work);
    for (uint32_t k = 0; k < model->n_jumps; k++) {
        if (model->jump[k].state)
            continue;
        double rest = jumps->work[model->jump[k].rest], before = jumps->rest[k];
        double none = ROUNDING * fmax(fabs(rest), 1);
        bool jumped = fabs(rest - before) > (model->jump[k].literal ? none : fmax(none, 10 * fabs(before)));
        jumps->rest[k] = jumped ? rest - before : 0;
        *any = *any || jumped;
        if (fabs(rest - before) > run->tolerance && model->jump[k].again)
            return refuse(run, k, "its derivative is differentiated as well, so that no finite impulse makes up for that");
    }
    return MDL_OK;
}

// By how much reinit() has moved states; *any: one of them has a derivative that others follow from.
static void
find_resets(Run *run, bool *any)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    for (uint32_t i = 0; i < model->nx; i++) {
        jumps->target[i] = run->v[model->y + i];
        jumps->jump[i] = jumps->reset[i] ? jumps->target[i] - jumps->left[model->y + i] : 0;
    }
    for (uint32_t k = 0; k < model->n_jumps; k++)
        if (model->jump[k].state) {
            jumps->rest[k] = jumps->jump[model->jump[k].state - 1];
            *any = *any || jumps->rest[k] != 0;
        }
}

// --- what impulses do to the derivatives of states

static bool
is_reset(const Run *run, uint32_t k)
{
    uint32_t state = run->model->jump[k].state;
    return state && run->jumps->reset[state - 1];
}

// change := what the impulses, `factor` of those of equations and the kicks of what was reset, make of the derivatives of states.
MDL_CHECKED static int
kick(Run *run, double factor, double *change)
{
    const mdl_model *model = run->model;
    const Jumps *jumps = run->jumps;
    for (uint32_t k = 0; k < model->n_jumps; k++)
        run->v[model->jump[k].impulse] = is_reset(run, k) ? jumps->kick[k].now : factor * jumps->rest[k];
    int status = evaluate_solved(run, !jumps->quiet);
    for (uint32_t k = 0; k < model->n_jumps; k++)
        run->v[model->jump[k].impulse] = 0;
    for (uint32_t i = 0; i < model->nx; i++)
        change[i] = run->v[model->yp + i] - jumps->base[i];
    return status;
}

// The next kicks, by the secant of each through the last two (its own, which is exact where they do not reach each other, and where they
// do so in one direction only after as many sweeps). True: the derivatives change by the jumps.
static bool
correct_kicks(Run *run, double factor, const double *change, bool first)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    bool settled = true;
    for (uint32_t k = 0; k < model->n_jumps; k++) {
        if (!is_reset(run, k))
            continue;
        Kick *at = &jumps->kick[k];
        uint32_t state = model->jump[k].state - 1;
        double wanted = factor * jumps->rest[k], missing = wanted - change[state], moved = at->now - at->before;
        double slope = first || !(fabs(moved) > 0) ? 1 : (change[state] - at->change) / moved;
        double noise = 8 * DBL_EPSILON * fabs(jumps->base[state]) + 1e-3 * run->abstol[state];
        at->before = at->now;
        at->change = change[state];
        if (fabs(missing) <= ROUNDING * fabs(wanted) + noise)
            continue;
        settled = false;
        at->now += missing / (fabs(slope) > 1e-6 && isfinite(slope) ? slope : 1);
    }
    return settled;
}

// Results of functions that branch, and their derivatives, at the point in v.
static void
find_leaps(Run *run)
{
    if (!run->model->n_leaps)
        return;
    evaluate_outputs(run);
    mdl_call(run->model->leaps, run->v);
}

static bool
stirred(double before, double behind)
{
    return fabs(behind - before) > STIRRED * fmax(fabs(behind), fabs(before));
}

// At the point evaluated with impulses.
static void
find_pulled(Run *run)
{
    Jumps *jumps = run->jumps;
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        bool holds = friction_mode(run, k) == 0 && stirred(jumps->force[k], run->v[sgn->p]);
        bool presses = jumps->released[k] && stirred(jumps->limit[k], run->v[sgn->a]);
        jumps->pulled[k] = jumps->pulled[k] || holds || presses;
        jumps->pulls = jumps->pulls || jumps->pulled[k];
    }
}

// change := D times `factor` of the impulses, at the states in v.
MDL_CHECKED static int
respond(Run *run, double factor, double *change)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    if (evaluate_solved(run, !jumps->quiet) != MDL_OK)
        return MDL_FAILED;
    memcpy(jumps->base, run->v + model->yp, model->nx * sizeof *jumps->base);
    find_leaps(run);
    for (uint32_t k = 0; k < model->n_leaps; k++)
        jumps->rate[k] = run->v[model->leap[k].rate];
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        jumps->force[k] = run->v[model->sgn[k].p];
        jumps->limit[k] = run->v[model->sgn[k].a];
    }
    for (uint32_t k = 0; k < model->n_jumps; k++)
        jumps->kick[k] = (Kick){.now = factor * jumps->rest[k]};
    int status = kick(run, factor, change), sweep = 0;
    while (status == MDL_OK && !correct_kicks(run, factor, change, sweep == 0)) {
        if (sweep++ == SWEEPS)
            return go_without(run, "no impulse does that");
        status = kick(run, factor, change);
    }
    find_pulled(run);
    return status;
}

static bool
is_affine(const Run *run)
{
    const Jumps *jumps = run->jumps;
    for (uint32_t i = 0; i < run->model->nx; i++)
        if (!jumps->reset[i]
            && !(fabs(jumps->change[i] - 2 * jumps->half[i]) <= AFFINE * (fabs(jumps->change[i]) + 1e-6 * fabs(jumps->base[i]) + run->abstol[i])))
            return false;
    return true;
}

// --- the way of the jump

// slope := how the states, and results of functions that branch, change with s at the point s of the way, 0 before the event and 1 behind it.
MDL_CHECKED static int
slope_at(Run *run, double s, const double *point, double *slope)
{
    const mdl_model *model = run->model;
    const Jumps *jumps = run->jumps;
    memcpy(run->v + model->y, point, model->nx * sizeof *point);
    for (uint32_t k = 0; k < model->n_jumps; k++)
        if (!model->jump[k].state)
            run->v[model->jump[k].offset] = (1 - s) * jumps->rest[k];
    int status = respond(run, 1, slope);
    for (uint32_t k = 0; k < model->n_jumps; k++)
        if (!model->jump[k].state)
            run->v[model->jump[k].offset] = 0;
    for (uint32_t i = 0; i < model->nx; i++)
        slope[i] = jumps->reset[i] ? jumps->jump[i] : slope[i];
    find_leaps(run);
    for (uint32_t k = 0; k < model->n_leaps; k++) {
        slope[model->nx + k] = run->v[model->leap[k].rate] - jumps->rate[k];
        jumps->result[k] = s > 0 ? jumps->result[k] : run->v[model->leap[k].value];
    }
    return status;
}

// end := where n steps of the classical Runge-Kutta method lead. *straight: the slope was one and the same all along.
MDL_CHECKED static int
walk(Run *run, uint32_t n, double *end, bool *straight)
{
    static const double where[] = {0, 0.5, 0.5, 1}, share[] = {1, 2, 2, 1};
    uint32_t nx = run->model->nx, all = nx + run->model->n_leaps;
    Jumps *jumps = run->jumps;
    double h = 1.0 / n;
    int status = MDL_OK;
    *straight = true;
    memcpy(end, jumps->start, all * sizeof *end);
    for (uint32_t step = 0; step < n; step++) {
        memset(jumps->sum, 0, all * sizeof *jumps->sum);
        for (int stage = 0; stage < 4 && status == MDL_OK; stage++) {
            for (uint32_t i = 0; i < nx; i++)
                jumps->point[i] = end[i] + (stage ? h * where[stage] * jumps->slope[i] : 0);
            memcpy(jumps->before, jumps->slope, nx * sizeof *jumps->before);
            status = slope_at(run, (step + where[stage]) * h, jumps->point, jumps->slope);
            for (uint32_t i = 0; i < all; i++) {
                jumps->sum[i] += share[stage] * jumps->slope[i];
                if (i < nx && stage && !(fabs(jumps->slope[i] - jumps->before[i]) <= ON_THE_WAY * 1e-2 * fabs(jumps->slope[i]))) // NaN, too
                    *straight = false;
            }
        }
        for (uint32_t i = 0; i < all; i++)
            end[i] += h / 6 * jumps->sum[i];
    }
    return status;
}

// By how much two ends of the way differ, as a multiple of what is none.
static double
apart(const Run *run, const double *a, const double *b)
{
    const Jumps *jumps = run->jumps;
    double most = 0;
    for (uint32_t i = 0; i < run->model->nx; i++) {
        double size = fabs(b[i]) + fabs(b[i] - jumps->start[i]) + run->abstol[i] / run->tolerance * 1e-3;
        double gap = fabs(a[i] - b[i]) / (ON_THE_WAY * size);
        most = gap <= most ? most : gap; // NaN counts
    }
    return most;
}

// change := the end of the way, extrapolated from the last two step lengths (Richardson).
MDL_CHECKED static int
go(Run *run)
{
    Jumps *jumps = run->jumps;
    size_t all = run->model->nx + run->model->n_leaps;
    bool straight;
    double gap = INFINITY;
    int status = walk(run, 1, jumps->half, &straight);
    memcpy(jumps->change, jumps->half, all * sizeof *jumps->half);
    for (uint32_t n = 2; n <= STEPS_MOST && status == MDL_OK && !straight && gap > 1; n *= 2) {
        memcpy(jumps->best, jumps->change, all * sizeof *jumps->best);
        status = walk(run, n, jumps->change, &straight);
        for (uint32_t i = 0; i < all; i++) {
            double end = jumps->change[i];
            jumps->change[i] += (end - jumps->half[i]) / 15;
            jumps->half[i] = end;
        }
        straight = false;
        gap = apart(run, jumps->best, jumps->change);
    }
    if (status == MDL_OK && !straight && !(gap * ON_THE_WAY <= 0.1 * run->tolerance))
        return go_without(run, "what its impulse does to them depends on how it jumps");
    return status;
}

// Behind the way: what functions that branch give has changed as their derivatives say, or its jump reaches no state.
MDL_CHECKED static int
check_leaps(Run *run)
{
    const Jumps *jumps = run->jumps;
    find_leaps(run);
    for (uint32_t k = 0; k < run->model->n_leaps; k++) {
        double value = run->v[run->model->leap[k].value], change = value - jumps->result[k];
        double size = fmax(fabs(value), fabs(jumps->result[k]));
        int status = leap_judge(run, k, change - jumps->change[run->model->nx + k], size);
        if (status != MDL_OK)
            return status;
    }
    return MDL_OK;
}

static uint32_t
first_of(const Run *run, uint32_t law)
{
    return run->model->sgn[law].disk ? law + 1 - run->model->sgn[law].disk : law;
}

// Frictions that would have to hold an impulse slip, in whatever direction: a force that is constant has none. False: there are no more.
static bool
let_go(Run *run)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    bool any = false;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        uint32_t first = first_of(run, k);
        if (!jumps->pulled[k] || model->sgn[k].unilateral || model->sgn[k].play || jumps->released[first])
            continue;
        jumps->released[first] = 1;
        any = true;
        friction_set(run, first, 1);
    }
    return any;
}

// Where the jump has led, those slip as they move; the search for modes finds those that stick again.
static void
slip_on(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (run->jumps->released[k])
            friction_set(run, k, run->v[run->model->sgn[k].x] < 0 ? -1 : 1);
}

// change and half := what all impulses, and half of them, make of the derivatives of states.
MDL_CHECKED static int
respond_both(Run *run)
{
    Jumps *jumps = run->jumps;
    jumps->pulls = false;
    memset(jumps->pulled, 0, run->model->n_sgns);
    int status = respond(run, 1, jumps->change);
    return status == MDL_OK ? respond(run, 0.5, jumps->half) : status;
}

// change := where the impulses take the states.
MDL_CHECKED static int
travel(Run *run)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    memset(jumps->released, 0, model->n_sgns);
    for (uint32_t i = 0; i < model->nx; i++)
        jumps->start[i] = run->v[model->y + i] - jumps->jump[i];
    memset(jumps->start + model->nx, 0, model->n_leaps * sizeof *jumps->start);
    int status = respond_both(run);
    while (status == MDL_OK && jumps->pulls && let_go(run))
        status = respond_both(run);
    if (status != MDL_OK)
        return status;
    if (!is_affine(run)) {
        jumps->quiet = false;
        return refuse(run, largest(run), "what its impulse does to the states is not proportional to it");
    }
    if (!jumps->pulls)
        status = go(run);
    if (status == MDL_OK && jumps->pulls) {
        jumps->quiet = false;
        return refuse(run, largest(run), "what its impulse does to constraints that are closed, or frictions with limits that it changes, is not known");
    }
    return status;
}

// The states as reinit() has left them, and no impulse of it. *any: there are other impulses.
MDL_CHECKED static int
leave_resets(Run *run, bool *any)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    *any = false;
    for (uint32_t k = 0; k < model->n_jumps; k++) {
        jumps->rest[k] = model->jump[k].state ? 0 : jumps->rest[k];
        *any = *any || jumps->rest[k] != 0;
    }
    memcpy(run->v + model->y, jumps->target, model->nx * sizeof *jumps->target);
    return evaluate_solved(run, true);
}

int
jump_apply(Run *run, bool *jumped)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    bool any = false, moved = false;
    double *y = run->v + model->y;
    if (!jumps)
        return MDL_OK;
    int status = find_rests(run, &any);
    if (status != MDL_OK)
        return status;
    find_resets(run, &any);
    if (!any)
        return MDL_OK;
    if (run->sense)
        return sense_refuse(run, "what is differentiated jumps", model->jump[largest(run)].text);
    jumps->without = false;
    jumps->quiet = model->jump[largest(run)].state != 0;
    memcpy(jumps->work, run->v, model->nv * sizeof *run->v);
    status = travel(run);
    if (status == MDL_FAILED && jumps->quiet && !jumps->without) {
        memcpy(run->v, jumps->work, model->nv * sizeof *run->v);
        status = go_without(run, "on the way of its impulse the model has no solution");
    }
    jumps->quiet = false;
    if (jumps->without) {
        failure_clear(run);
        status = leave_resets(run, &any);
        if (status == MDL_OK && any)
            status = travel(run);
        if (status != MDL_OK || !any)
            return status;
    }
    if (status != MDL_OK)
        return status;
    for (uint32_t i = 0; i < model->nx; i++) {
        y[i] = jumps->reset[i] ? jumps->target[i] : jumps->change[i];
        moved = moved || y[i] != jumps->target[i];
    }
    if (status == MDL_OK)
        status = evaluate_solved(run, true);
    if (status == MDL_OK && memchr(jumps->released, 1, model->n_sgns)) {
        slip_on(run);
        status = evaluate_solved(run, true);
    }
    if (status == MDL_OK && model->n_leaps)
        status = check_leaps(run);
    if (status == MDL_OK && model->n_leaps)
        status = evaluate_solved(run, true);
    *jumped = *jumped || moved;
    return status;
}

int
jump_reaches(Run *run, uint32_t jump, double impulse, bool *reaches)
{
    const mdl_model *model = run->model;
    Jumps *jumps = run->jumps;
    int status = evaluate_solved(run, false);
    memcpy(jumps->base, run->v + model->yp, model->nx * sizeof *jumps->base);
    run->v[model->jump[jump].impulse] = impulse;
    if (status == MDL_OK)
        status = evaluate_solved(run, false);
    run->v[model->jump[jump].impulse] = 0;
    *reaches = false;
    for (uint32_t i = 0; i < model->nx; i++) {
        double none = 1e-3 * (run->tolerance * fabs(run->v[model->y + i]) + run->abstol[i]);
        *reaches = *reaches || !(fabs(run->v[model->yp + i] - jumps->base[i]) <= none);
    }
    return status;
}

const RunPart jump_part = {
    .name = "jump", .create = jump_create, .free = jump_free,
};
