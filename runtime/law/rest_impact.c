// rest_impact.c: impacts on what is at rest (rest.c).
//
// Purpose: what strikes a resting contact strikes all that rests on it.
// Method: a contact at rest that something else pushes into its surface is struck: its own reset runs again, within the same
//         event, until nothing approaches any more (the sequential law of Newton's cradle); what remains closed then
//         is at rest again.
//         A blow with little restitution runs up and down a column of n contacts about n^2.7 times until it has died away.
// Contract: rest_inner.h and law.h. Complexity: linear in the contacts for each strike.
#include <math.h>

#include "runtime/law/law.h"
#include "runtime/law/rest_inner.h"

static const double EXACT = 100;            // times the tolerance: a contact at rest is this exact
enum { STRIKES = 1000, STRIKES_OF_ALL = 10 }; // of one event: of a contact, and times the cube of those that are closed

// Its relation has the value that its reset follows, and its gap has not become visible since.
static bool
is_closed(const Run *run, uint32_t k)
{
    const mdl_rest *rest = &run->model->rest[k];
    const Contact *contact = &run->rests->contact[k];
    bool value = run->v[run->model->relation[rest->relation].value] != 0;
    double allowed;
    return contact->active || (!rest->why && contact->sign != 0 && !contact->passes && value == (contact->sign < 0) &&
                               fabs(rests_drift(run, k, 0, &allowed)) <= EXACT * allowed);
}

// The reset of a closed contact runs again: its relation leaves the value that triggers it and takes it again.
static void
strike(Run *run, uint32_t k)
{
    Contact *contact = &run->rests->contact[k];
    if (contact->active)
        rests_open(run, k);
    contact->opening = false;
    contact->lifted = contact->struck = true;
    run->guard[run->model->rest[k].relation].pending = true;
}

static bool
lower_lifted(Run *run)
{
    bool any = false;
    for (uint32_t k = 0; k < run->model->n_rests; k++) {
        Contact *contact = &run->rests->contact[k];
        if (contact->lifted)
            run->guard[run->model->rest[k].relation].pending = any = true;
        contact->lifted = false;
    }
    return any;
}

void
rest_event(Run *run)
{
    if (!run->rests)
        return;
    for (uint32_t k = 0; k < run->model->n_rests; k++)
        run->rests->contact[k].reset = false;
    if (!run->rests->strikes)
        return;
    run->rests->strikes = 0;
    for (uint32_t k = 0; k < run->model->n_rests; k++)
        run->rests->contact[k].struck = run->rests->contact[k].lifted = false;
}

// Looks at a contact that is closed. *approach receives the speed at which it would be passed through, in units of
// what the tolerance allows. True when a reinit has lifted it.
static bool
is_lifted(const Run *run, uint32_t k, double *approach)
{
    double allowed, gap = rests_drift(run, k, 0, &allowed);
    bool lifted = gap > EXACT * allowed;
    double speed = rests_drift(run, k, 1, &allowed);
    *approach = speed < -EXACT * allowed && !lifted ? -speed / allowed : 0;
    return lifted || speed > EXACT * allowed;
}

// Whether so many strikes within one event are more than closed contacts need for a blow to die away.
static bool
is_endless(uint32_t strikes, uint32_t closed)
{
    return strikes > STRIKES + STRIKES_OF_ALL * (double)closed * closed * closed;
}

MDL_CHECKED static int
report(const Run *run, uint32_t k, const char *what)
{
    run_message(run, MDL_ERROR, "at time %.12g: the simulation makes no progress: %s:\n  %s", run->v[0], what,
                rest_text(run, k));
    return MDL_FAILED;
}

// The next flight would be lower than what the tolerance resolves.
static bool
is_flat(const Run *run, uint32_t k)
{
    double allowed, unused;
    double acceleration = run->rests->contact[k].sign * run->v[run->model->rest[k].g + 2];
    rests_drift(run, k, 0, &allowed);
    double speed = rests_drift(run, k, 1, &unused);
    return acceleration < 0 && speed * speed < -2 * acceleration * UNRESOLVED * allowed;
}

double
rest_apex(Run *run)
{
    const mdl_model *model = run->model;
    double soonest = INFINITY, allowed;
    if (run->rests) {
        mdl_call(model->rests, run->v);
        mdl_call(model->rest_partials, run->v);
    }
    for (uint32_t k = 0; run->rests && k < model->n_rests; k++) {
        const double *g = run->v + model->rest[k].g;
        rests_drift(run, k, 0, &allowed);
        if (!run->rests->contact[k].active && fabs(g[0]) <= allowed && g[1] * g[2] < 0)
            soonest = fmin(soonest, -g[1] / g[2]);
    }
    return soonest;
}

// Contacts whose impacts have died away within the event come to rest, the others at rest are projected.
MDL_CHECKED static int
close_struck(Run *run)
{
    Rests *rests = run->rests;
    for (uint32_t k = 0; (rests->active || rests->strikes) && k < run->model->n_rests; k++) {
        double approach;
        if (rests->contact[k].active || !is_closed(run, k) || (is_lifted(run, k, &approach) && !(rests->strikes && is_flat(run, k))))
            continue;
        const char *why = rests_begin(run, k);
        if (why)
            return report(run, k, why);
    }
    return !rests->active || rests_project(run) ? MDL_OK : report(run, rests->list[0], "what is at rest does not stay so");
}

// What was at rest once and has bounced: it comes to rest again where the tolerance does not resolve the bounce.
static void
watch_bounces(Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_rests; k++) {
        Contact *contact = &run->rests->contact[k];
        bool value = run->v[model->relation[model->rest[k].relation].value] != 0;
        if (!contact->told || contact->active || contact->opening || value != (contact->sign < 0))
            continue;
        rests_drift(run, k, 0, &contact->width);
        contact->width *= UNRESOLVED;
        contact->opening = true;
    }
}

int
rest_after_event(Run *run, bool *again)
{
    Rests *rests = run->rests;
    *again = false;
    if (!rests || !rests->version) // nothing has ever been at rest
        return MDL_OK;
    if (rests->broken) {
        run_message(run, MDL_ERROR, "out of memory");
        return MDL_INTERNAL;
    }
    *again = lower_lifted(run);
    if (*again)
        return MDL_OK;
    mdl_call(run->model->rests, run->v);
    mdl_call(run->model->rest_partials, run->v);
    uint32_t worst = UINT32_MAX, closed = 0;
    double most = 0;
    for (uint32_t k = 0; k < run->model->n_rests; k++) {
        double approach = 0;
        if (!is_closed(run, k))
            continue;
        closed++;
        if (is_lifted(run, k, &approach) && rests->contact[k].active) {
            rests_open(run, k);
            *again = true;
            return MDL_OK;
        }
        // A reset that does not turn the motion back lets it pass; what was at rest before does not do that.
        rests->contact[k].passes = approach > 0 && !rests->strikes && !rests->contact[k].told &&
                                   run->guard[run->model->rest[k].relation].forced;
        if (approach > most && !rests->contact[k].passes) {
            most = approach;
            worst = k;
        }
    }
    if (worst == UINT32_MAX) {
        watch_bounces(run);
        return close_struck(run);
    }
    if (is_endless(++rests->strikes, closed))
        return report(run, worst, "impacts follow each other without end at this instant");
    strike(run, worst);
    *again = true;
    return MDL_OK;
}
