// friction.c: set-valued laws p in a*Sgn(x), and their modes: slipping forward, slipping backward, sticking.
//
// Purpose: dry friction without regularisation: no creep, no chattering.
// Method: a mode is one of the cases of the law: it sticks (X = 0, |p| <= a; X is what sticking holds, der(x) or x) or slips
//         (p = m*a, m*X >= 0). Which one is searched for at events (friction_search.c); what is near enough to zero, and what is
//         the rounding of zero, is said here. See Glocker, Set-Valued Force Laws, 2001, chapters 6 and 10.
//         The components of a force in a plane or in space change together (disk.c).
//         A play (the force of a spring in series with friction) has the roles exchanged: p is held at m*a.
// Contract: law.h. Complexity: O(laws) per event and accepted step.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/friction_inner.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"

static const double MINUTE = 1e-6; // of the largest reaction of all: less is no size of its own
static const double LEAST = 1e-25; // of a force: a limit that is the rounding of zero
static const double BELOW = 3;     // bands below zero: the argument of a root is negative

static const double UNRESOLVED = 16; // of the tolerance: a slip in which an explicit method sees that it is unstable

enum { ROOT_MOVED = 1, ROOT_TOLD = 2 }; // Friction.told

MDL_CHECKED static int
friction_create(Run *run)
{
    size_t n = (size_t)run->model->n_sgns + 1;
    Friction *friction = calloc(1, sizeof *friction);
    run->friction = friction;
    if (!friction)
        return MDL_INTERNAL;
    friction->missed = INFINITY;
    friction->firm = calloc(n, 1);
    friction->returns = calloc(n, 1);
    friction->joined = calloc(n, 1);
    friction->last = calloc(2 * n, sizeof *friction->last);
    friction->wait = friction->last ? friction->last + n : NULL;
    friction->turns = calloc(n, 1);
    friction->back = calloc(n, 1);
    friction->wanted = calloc(n, 1);
    friction->told = calloc(n, 1);
    friction->largest = calloc(n, sizeof *friction->largest);
    friction->carried = calloc(n, 1);
    friction->sticks = calloc(n, 1);
    friction->scale = calloc(n, sizeof *friction->scale);
    friction->gap_rate = calloc(n, sizeof *friction->gap_rate);
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        // Of ideal diodes only what the search with a leak has not settled.
        friction->dependent = friction->dependent || (run->model->sgn[k].dependent && (!run->model->sgn[k].unilateral || run->model->sgn[k].level));
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        run->hides = run->hides || (run->model->sgn[k].unilateral && !run->model->sgn[k].level);
    return friction->firm && friction->joined && friction->last && friction->returns && friction->turns && friction->back && friction->wanted && friction->told && friction->largest && friction->carried &&
           friction->sticks && friction->scale && friction->gap_rate ? MDL_OK : MDL_INTERNAL;
}

static void
friction_free(Run *run)
{
    if (!run->friction)
        return;
    free(run->friction->firm);
    free(run->friction->returns);
    free(run->friction->joined);
    free(run->friction->last);
    free(run->friction->turns);
    free(run->friction->back);
    free(run->friction->wanted);
    free(run->friction->told);
    free(run->friction->largest);
    free(run->friction->carried);
    free(run->friction->sticks);
    free(run->friction->scale);
    free(run->friction->gap_rate);
    free(run->friction);
    run->friction = NULL;
}

static void
friction_snapshot(Run *run, Snapshot *snapshot)
{
    Friction *friction = run->friction;
    size_t n = run->model->n_sgns;
    uint8_t *lists[] = {friction->carried, friction->sticks, friction->firm, friction->turns, friction->returns, friction->back, friction->joined};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        snapshot_part(snapshot, lists[k], n);
    snapshot_part(snapshot, friction->wanted, n);
    snapshot_part(snapshot, friction->told, n);
    snapshot_part(snapshot, &friction->rests, sizeof friction->rests);
    snapshot_part(snapshot, friction->largest, n * sizeof *friction->largest);
    snapshot_part(snapshot, friction->scale, n * sizeof *friction->scale);
    snapshot_part(snapshot, friction->last, 2 * (n + 1) * sizeof *friction->last);
    snapshot_part(snapshot, &friction->chosen, sizeof friction->chosen);
    snapshot_part(snapshot, &friction->missed, sizeof friction->missed);
    snapshot_part(snapshot, &friction->most, sizeof friction->most);
    snapshot_part(snapshot, &friction->reaction, sizeof friction->reaction);
    snapshot_part(snapshot, &friction->fewest, sizeof friction->fewest);
    snapshot_part(snapshot, &friction->patience, sizeof friction->patience);
    snapshot_part(snapshot, friction->gap_rate, n * sizeof *friction->gap_rate);
    snapshot_part(snapshot, &friction->rates, sizeof friction->rates);
}

double
friction_limit(const Run *run, uint32_t law)
{
    double a = run->v[run->model->sgn[law].a];
    return a > fmax(FRICTION_ZERO * run->friction->most, LEAST) ? a : 0;
}

// +1, -1, or 0 when the law sticks, by itself or carried by others; +1 for any direction of sliding.
double
friction_mode(const Run *run, uint32_t law)
{
    if (run->model->sgn[law].disk && !run->friction->carried[law])
        return run->v[run->model->sgn[law].mode] != 0;
    return run->friction->carried[law] ? 0 : run->v[run->model->sgn[law].mode];
}

double
friction_answer(const Run *run, uint32_t law)
{
    return run->friction->scale[law];
}

// What crosses the direction held is damped as if a/e were its viscosity, e being this slip. An explicit method that becomes unstable there goes on
// until its errors are seen: as large as the tolerance, and beyond e the friction would turn with them.
double
friction_slip(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double unresolved = run->stepper && run->stepper->is_explicit ? UNRESOLVED * run->tolerance : 0;
    return fmax(fmax(sgn->state >= 0 ? run->abstol[sgn->state] : 1e-2 * run->tolerance, 4 * MDL_NEAR), unresolved);
}

double
friction_reaction(const Run *run, uint32_t law)
{
    return fmax(run->friction->largest[law], MINUTE * run->friction->reaction);
}

double
friction_band(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double a = fabs(run->v[sgn->a]);
    if (sgn->unilateral)
        return friction_mode(run, law) == 0 ? FRICTION_BAND * friction_reaction(run, law) : contact_band(run, law);
    if (sgn->disk)
        return friction_mode(run, law) == 0 ? FRICTION_BAND * a : friction_slip(run, law);
    // The force of a play drifts from its limit while it slips, within the tolerance of the integration.
    if (friction_mode(run, law) == 0)
        return sgn->play ? fmax(run->tolerance * a, 2 * (fabs(run->v[sgn->p]) - a)) : FRICTION_BAND * a;
    return sgn->state >= 0 ? run->abstol[sgn->state] : 1e-3 * run->tolerance;
}

// The crossing of a law that was blind is located at the edge of its band, or a little beyond; by an importer at twice of it (root_functions()), and
// as sharply as it does so.
static double
within_zero(const Run *run, uint32_t law, double band, double rate)
{
    if (!guard_of(run, law)->pending)
        return band;
    double resolution = (run->outside ? 1e-10 : 1e-12) * fmax(fabs(run->v[0]), 1);
    return (run->outside ? 2 : 1) * band + resolution * rate;
}

bool
friction_at_zero(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double x = fabs(run->v[sgn->x]), rate = 0;
    if (sgn->disk) {
        for (uint32_t i = 0; i < sgn->of && run->outside; i++)
            rate = fmax(rate, fabs(run->v[sgn[i].dx]));
        return disk_speed(run, law) <= within_zero(run, law, friction_slip(run, law), rate);
    }
    if (sgn->state < 0)
        return !sgn->level || x <= friction_band(run, law) || guard_of(run, law)->pending;
    return x <= within_zero(run, law, friction_band(run, law), fabs(run->v[sgn->dx]));
}

static void
start_disk(Run *run, uint32_t first)
{
    const mdl_sgn *sgn = &run->model->sgn[first];
    disk_slide(run, first);
    if (disk_speed(run, first) > friction_slip(run, first) || !(friction_limit(run, first) > 0))
        return;
    for (uint32_t i = 0; i < sgn->of; i++) {
        run->v[sgn[i].mode] = 0;
        if (sgn[i].state >= 0)
            run->v[run->model->y + (uint32_t)sgn[i].state] = 0;
    }
}

void
friction_open(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (run->model->sgn[k].unilateral)
            run->v[run->model->sgn[k].mode] = 1;
}

void
friction_start(Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        const mdl_sgn *sgn = &model->sgn[k];
        double x = run->v[sgn->x];
        if (sgn->disk == 1)
            start_disk(run, k);
        if (sgn->disk)
            continue;
        run->v[sgn->mode] = 1;
        if (sgn->unilateral)
            continue; // contact_start()
        if (!sgn->play && fabs(x) > friction_band(run, k)) {
            run->v[sgn->mode] = sign_of(x);
        } else if (friction_limit(run, k) > 0) {
            run->v[sgn->mode] = 0;
            if (sgn->state >= 0)
                run->v[model->y + (uint32_t)sgn->state] = 0;
        }
    }
}

void
friction_stick(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    run->friction->carried[law] = 0;
    run->v[sgn->mode] = 0;
    if (sgn->state >= 0) {
        run->v[run->model->y + (uint32_t)sgn->state] = 0;
        run->v[run->model->yp + (uint32_t)sgn->state] = 0;
    }
}

static void
set_disk_mode(Run *run, uint32_t first, double mode)
{
    const mdl_sgn *sgn = &run->model->sgn[first];
    Guard *guard = guard_of(run, first);
    if (friction_mode(run, first) == 0)
        guard->held = guard->held || guard->pending;
    else if (mode == 0 && run->friction->returns[first] < FRICTION_RETURNS)
        run->friction->returns[first]++;
    for (uint32_t i = 0; i < sgn->of; i++)
        run->friction->carried[first + i] = 0;
    run->friction->chosen = false;
    if (mode != 0)
        disk_slide(run, first);
    for (uint32_t i = 0; mode == 0 && i < sgn->of; i++)
        friction_stick(run, first + i);
    guard->forced = true;
    guard->pending = false;
}

static void
set_mode(Run *run, uint32_t law, double mode)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    Guard *guard = guard_of(run, law);
    // A release that the root finder located stands: evaluated again, p is within rounding of a.
    if (friction_mode(run, law) == 0)
        guard->held = guard->held || guard->pending;
    else if (mode == 0 && run->friction->returns[law] < FRICTION_RETURNS)
        run->friction->returns[law]++;
    run->v[sgn->mode] = mode;
    run->friction->carried[law] = 0;
    run->friction->chosen = false;
    // What the force of a play has drifted from its limit ends here.
    bool free = sgn->p >= run->model->y && sgn->p < run->model->y + run->model->nx;
    if (sgn->play && free && fabs(run->v[sgn->p]) > run->v[sgn->a])
        run->v[sgn->p] = sign_of(run->v[sgn->p]) * run->v[sgn->a];
    if (mode == 0 && sgn->state >= 0) {
        run->v[run->model->y + (uint32_t)sgn->state] = 0;
        run->v[run->model->yp + (uint32_t)sgn->state] = 0;
    }
    guard->forced = true;
    guard->pending = false;
}

void
friction_set(Run *run, uint32_t law, double mode)
{
    if (run->model->sgn[law].disk)
        set_disk_mode(run, law, mode);
    else
        set_mode(run, law, mode);
}

void
friction_keep(const Run *run, double *mode, uint8_t *carried)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        mode[k] = run->v[run->model->sgn[k].mode];
        carried[k] = run->friction->carried[k];
    }
}

void
friction_restore(Run *run, const double *mode, const uint8_t *carried)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        run->v[run->model->sgn[k].mode] = mode[k];
        run->friction->carried[k] = carried[k];
    }
}

// What slides on does so along its present direction.
static void
begin_disk_event(Run *run, uint32_t first)
{
    if (disk_slides(run, first) && !friction_at_zero(run, first)) {
        disk_slide(run, first);
        guard_of(run, first)->pending = false;
    }
}

void
friction_event(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        guard_of(run, k)->held = false;
        run->friction->firm[k] = 0;
        if (run->model->sgn[k].disk == 1)
            begin_disk_event(run, k);
    }
}

double
friction_guard(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double mode = friction_mode(run, law), a = sgn->unilateral ? 0 : friction_limit(run, law);
    if (sgn->unilateral)
        return mode == 0 ? contact_force(run, law) : contact_guard(run, law);
    if (sgn->disk)
        return sgn->disk == 1 ? disk_guard(run, law) : 1;
    if (mode == 0)
        return a - fabs(run->v[sgn->p]);
    return a > 0 || sgn->play ? mode * run->v[sgn->x] : fabs(run->v[sgn->x]) + 1;
}

void
friction_clamp(Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        const mdl_sgn *sgn = &model->sgn[k];
        if (sgn->state >= 0 && run->v[sgn->mode] == 0) {
            run->v[model->yp + (uint32_t)sgn->state] = 0;
            run->v[sgn->dx] = 0;
        }
    }
}

// What a root has emptied goes on at rest: said once, of the first few of a model.
static void
tell_rest(Run *run, uint32_t law)
{
    enum { TOLD_MOST = 3 };
    Friction *friction = run->friction;
    uint8_t *told = &friction->told[law];
    if (friction_mode(run, law) != 0) {
        *told |= ROOT_MOVED;
        return;
    }
    if (*told & ROOT_TOLD || !(*told & ROOT_MOVED))
        return;
    *told |= ROOT_TOLD;
    if (friction->rests++ < TOLD_MOST)
        run_message(run, MDL_NOTE, "by time %.6g the argument of this root has come to rest at zero, where the slope of the root is infinite; "
                    "it stays there until it is filled again%s:\n  %s", run->time,
                    friction->rests == TOLD_MOST ? " (further ones are not told)" : "", run->model->sgn[law].text);
}

// A root of what must not be negative.
MDL_CHECKED static int
check_root(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    tell_rest(run, law);
    if (sgn->root != MDL_ROOT_STRICT || friction_mode(run, law) >= 0 || !(run->v[sgn->x] < -BELOW * friction_band(run, law)))
        return MDL_OK;
    run_message(run, MDL_ERROR, "at time %.12g: the argument of a root has become negative (%.6g): %s", run->v[0], run->v[sgn->x],
                sgn->text);
    return MDL_FAILED;
}

static void
tell_missed(Run *run)
{
    if (run->friction->missed != run->v[0] || run->friction->told_missed)
        return;
    run->friction->told_missed = true;
    run_message(run, MDL_WARNING, "at time %.12g: of the laws that hold the same motion here no forces were found that are all within their limits; "
                "forces at rest that are written from here on may be others than those that can act", run->v[0]);
}

int
friction_check(Run *run)
{
    const mdl_model *model = run->model;
    tell_missed(run);
    // Reactions that are unknowns of the integrator are about as exact as its tolerance.
    const double slack = run->causal ? 1e-12 : fmax(1e-12, 10 * run->tolerance);
    for (uint32_t k = 0; k < model->n_sgns; k++)
        run->friction->most = fmax(run->friction->most, run->friction->largest[k]);
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        const mdl_sgn *sgn = &model->sgn[k];
        double a = run->v[sgn->a], p = run->v[sgn->p], *largest = &run->friction->largest[k];
        if (sgn->root && check_root(run, k) != MDL_OK)
            return MDL_FAILED;
        if (sgn->unilateral) {
            *largest = fmax(*largest, fabs(p));
            run->friction->reaction = fmax(run->friction->reaction, *largest);
            continue;
        }
        *largest = fmax(*largest, fabs(a));
        if (a < -1e-6 * *largest && a < -slack * fmax(run->friction->most, 1)) {
            run_message(run, MDL_ERROR, "at time %.12g: the limit of this set-valued law has become negative (%.6g); a "
                        "limit a of a*Sgn(x) must not be below zero:\n  %s", run->v[0], a, sgn->text);
            return MDL_FAILED;
        }
        if (sgn->play && fabs(p) > a + 1e-3 * *largest) {
            run_message(run, MDL_ERROR, "at time %.12g: the force %.6g of a spring in series with dry friction is beyond the "
                        "friction's limit %.6g, which it cannot be:\n  %s", run->v[0], p, a, sgn->text);
            return MDL_FAILED;
        }
        // Without friction the mode has no effect; it is kept ready for when there is some again.
        if (!sgn->play && !sgn->disk && friction_mode(run, k) != 0 && !(friction_limit(run, k) > 0) && run->v[sgn->x] != 0)
            run->v[sgn->mode] = sign_of(run->v[sgn->x]);
    }
    return MDL_OK;
}

static void
clamp_tangent(const Run *run, double *rate, uint32_t width)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (run->model->sgn[k].state >= 0 && friction_mode(run, k) == 0)
            memset(rate + (size_t)run->model->sgn[k].state * width, 0, width * sizeof *rate);
}

static bool
present(const Run *run)
{
    return run->model->n_sgns != 0;
}

const RunPart friction_part = {
    .name = "friction", .create = friction_create, .free = friction_free, .present = present, .clamp = friction_clamp,
    .share = friction_share, .clamp_tangent = clamp_tangent, .snapshot = friction_snapshot,
};
