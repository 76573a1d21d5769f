// friction.c: modes of set-valued laws p in a*Sgn(x): slipping forward, slipping backward, sticking.
//
// Purpose: dry friction without regularisation: no creep, no chattering.
// Method: the laws with x = 0 form a complementarity problem: each sticks (X = 0, |p| <= a; X is what sticking
//         holds, der(x) or x) or starts to slip (p = m*a, m*X >= 0). See Glocker, Set-Valued Force Laws, 2001,
//         chapters 6 and 10; Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts, 1996. One
//         evaluation of the model under given modes is one principal pivot, so no matrix is formed. All laws that
//         are wrong change at once (the step of a semismooth Newton method) while their number falls; when it
//         does not for some steps, only the first wrong law changes until it does. For contacts whose matrix is a
//         P-matrix (energy is dissipated) this ends with the only solution, whatever the order of the laws
//         (Judice and Pires, Comput. Oper. Res. 21 (1994) 587; Murty, 1974; Cottle, Pang, Stone, The Linear
//         Complementarity Problem, 1992, section 4.4).
//         Sticking laws that hold the same motion have no unique forces: see choose_basis.
//         The components of a force in a plane or in space change together (disk.c).
//         A play (the force of a spring in series with friction) has the roles exchanged: p is held at m*a.
// Contract: v was evaluated (p, a, X valid) before friction_update. Complexity: O(laws) per evaluation; few
//           evaluations per event.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/law.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"

static const double BAND = 1e-9;  // of a: a sticking law is not released by rounding
static const double MINUTE = 1e-6; // of the largest reaction of all: less is no size of its own
static const double NEAR = 1e-6;  // of a: a located release stands when sticking again would need this much

static const double NOTHING = 1e-14, LEAST = 1e-25; // of the forces seen, and of a force: a limit that is the rounding of zero
static const double SHARED = 1e-10; // change of shares that are settled
static const double BEYOND = 1.1;  // of a: a share that is too much
static const double ROUNDING = 1e-9; // of the X that a law's own force makes

enum { ROOT_MOVED = 1, ROOT_TOLD = 2 }; // Friction.told
static const double LEAK = 1e-8; // of ideal diodes while their modes are looked for, in SI units: closed a resistance, open a conductance
static const double BELOW = 3; // bands below zero: the argument of a root is negative

enum { PATIENCE = 4, RETURNS = 4, ROUNDS = 20, TURNS = 30 };

struct Friction {
    bool dependent;     // contacts may hold the same motion: sticking laws need a basis
    uint8_t *carried;   // per law: it sticks, held by other laws; its mode is p/a, not 0
    bool chosen;        // the basis is that of the laws that stick
    uint8_t *sticks;    // per law: a candidate for the basis
    double *scale;      // per law: |X| that its force makes when nothing sticks
    uint32_t fewest;    // wrong laws at most so far
    uint32_t patience;  // exchanges of all wrong laws that may still be tried without progress
    uint8_t *firm;      // per law: its release stands for this event
    uint8_t *turns;     // per law: directions of sliding tried in this search
    uint8_t *returns;   // per law: how often it came back to sticking in this search
    uint8_t *back;      // per law: the directions (1: -, 2: +) in which it was pulled back to rest while all others were right
    double *largest;    // per law: the largest a seen
    double most;        // of them
    double reaction;    // the largest force of a unilateral constraint seen
    int8_t *wanted;     // per law: the mode it should have
    uint8_t *told;      // per law of a root: ROOT_*
    double *gap_rate;   // per law: of an ideal diode's gap, where `rates` says that it was measured
    bool rates;
    uint32_t rests;     // of roots, told or not
};

MDL_CHECKED static int
friction_create(Run *run)
{
    size_t n = (size_t)run->model->n_sgns + 1;
    Friction *friction = calloc(1, sizeof *friction);
    run->friction = friction;
    if (!friction)
        return MDL_INTERNAL;
    friction->firm = calloc(n, 1);
    friction->returns = calloc(n, 1);
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
    return friction->firm && friction->returns && friction->turns && friction->back && friction->wanted && friction->told && friction->largest && friction->carried &&
           friction->sticks && friction->scale && friction->gap_rate ? MDL_OK : MDL_INTERNAL;
}

static void
friction_free(Run *run)
{
    if (!run->friction)
        return;
    free(run->friction->firm);
    free(run->friction->returns);
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
    uint8_t *lists[] = {friction->carried, friction->sticks, friction->firm, friction->turns, friction->returns, friction->back};
    for (size_t k = 0; k < sizeof lists / sizeof *lists; k++)
        snapshot_part(snapshot, lists[k], n);
    snapshot_part(snapshot, friction->wanted, n);
    snapshot_part(snapshot, friction->told, n);
    snapshot_part(snapshot, &friction->rests, sizeof friction->rests);
    snapshot_part(snapshot, friction->largest, n * sizeof *friction->largest);
    snapshot_part(snapshot, friction->scale, n * sizeof *friction->scale);
    snapshot_part(snapshot, &friction->chosen, sizeof friction->chosen);
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
    return a > fmax(NOTHING * run->friction->most, LEAST) ? a : 0;
}

static Guard *
guard_of(const Run *run, uint32_t law)
{
    return &run->guard[run->model->n_relations + run->model->n_time_relations + law];
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

double
friction_slip(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return fmax(sgn->state >= 0 ? run->abstol[sgn->state] : 1e-2 * run->tolerance, 4 * MDL_NEAR);
}

// The largest reaction that was seen, as far as it is no rounding of those of others: a diode that has never conducted may carry
// the rounding of its neighbours' currents.
static double
reaction_size(const Run *run, uint32_t law)
{
    return fmax(run->friction->largest[law], MINUTE * run->friction->reaction);
}

double
friction_band(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double a = fabs(run->v[sgn->a]);
    if (sgn->unilateral)
        return friction_mode(run, law) == 0 ? BAND * reaction_size(run, law) : contact_band(run, law);
    if (sgn->disk)
        return friction_mode(run, law) == 0 ? BAND * a : friction_slip(run, law);
    // The force of a play drifts from its limit while it slips, within the tolerance of the integration.
    if (friction_mode(run, law) == 0)
        return sgn->play ? fmax(run->tolerance * a, 2 * (fabs(run->v[sgn->p]) - a)) : BAND * a;
    return sgn->state >= 0 ? run->abstol[sgn->state] : 1e-3 * run->tolerance;
}

static double
sign_of(double x)
{
    return x < 0 ? -1 : 1;
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
friction_search(Run *run)
{
    run->friction->fewest = UINT32_MAX;
    run->friction->patience = PATIENCE;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        run->friction->returns[k] = run->friction->turns[k] = run->friction->back[k] = 0;
}

static void
stick_alone(Run *run, uint32_t law)
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
    else if (mode == 0 && run->friction->returns[first] < RETURNS)
        run->friction->returns[first]++;
    for (uint32_t i = 0; i < sgn->of; i++)
        run->friction->carried[first + i] = 0;
    run->friction->chosen = false;
    if (mode != 0)
        disk_slide(run, first);
    for (uint32_t i = 0; mode == 0 && i < sgn->of; i++)
        stick_alone(run, first + i);
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
    else if (mode == 0 && run->friction->returns[law] < RETURNS)
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

// x is zero as far as the location of events can tell.
static bool
is_at_zero(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double x = fabs(run->v[sgn->x]);
    if (sgn->disk)
        return disk_speed(run, law) <= friction_slip(run, law);
    if (sgn->state < 0)
        return !sgn->level || x <= friction_band(run, law) || guard_of(run, law)->pending;
    double resolution = guard_of(run, law)->pending ? 1e-12 * fmax(fabs(run->v[0]), 1) * fabs(run->v[sgn->dx]) : 0;
    // The crossing of a law that was blind is located at the edge of its band, or a little beyond.
    return x <= friction_band(run, law) + resolution;
}

// The mode that a closed unilateral constraint should have. Each return makes the threshold coarser.
static double
leave_closed(const Run *run, uint32_t law)
{
    double least = BAND * fmax(reaction_size(run, law), fabs(contact_force(run, law)));
    if (guard_of(run, law)->pending)
        return 1;
    for (uint32_t k = 0; k < run->friction->returns[law]; k++)
        least *= 10;
    return contact_force(run, law) < -least ? 1 : 0;
}

// The mode that a sticking friction in a plane should have.
static double
leave_disk_stick(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    const Guard *guard = guard_of(run, law);
    double a = friction_limit(run, law), p, least = BAND;
    if (sgn->disk > 1)
        return 0;
    p = disk_force(run, law);
    if (guard->pending || !(a > 0))
        return 1;
    if (guard->held)
        return p >= a * (1 - NEAR);
    for (uint32_t k = 0; k < run->friction->returns[law]; k++)
        least *= 10;
    return p > a * (1 + least);
}

// The same of one that slides.
static double
leave_disk_slide(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    if (sgn->disk > 1 || !(friction_limit(run, law) > 0) || !is_at_zero(run, law))
        return 1;
    if (guard_of(run, law)->pending)
        return 0;
    return run->friction->firm[law] || disk_pull(run, law) >= -ROUNDING * run->friction->scale[law];
}

// The mode that a sticking law should have.
static double
leave_stick(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    const Guard *guard = guard_of(run, law);
    double a = sgn->unilateral ? 0 : friction_limit(run, law), p = run->v[sgn->p], least = BAND;
    if (sgn->unilateral)
        return leave_closed(run, law);
    if (sgn->disk)
        return leave_disk_stick(run, law);
    if (!(a > 0) && (run->friction->carried[law] || !sgn->play)) // nothing holds it
        return sign_of(run->v[run->friction->carried[law] ? sgn->dx : sgn->p]);
    if (guard->pending)
        return sign_of(p);
    if (sgn->play) {
        double rate = sign_of(p) * run->v[sgn->dp] - (sgn->da ? run->v[sgn->da] : 0);
        bool bound = fabs(p) >= a * (1 - NEAR) && rate > 0;
        return bound && run->friction->returns[law] < RETURNS ? sign_of(p) : 0;
    }
    if (guard->held)
        return fabs(p) >= a * (1 - NEAR) ? sign_of(p) : 0;
    if (run->friction->back[law] == 3) // slip either way ends at once: what p is beyond its limit is rounding
        return 0;
    // Each return makes the threshold coarser, so that rounding cannot keep a law changing.
    for (uint32_t k = 0; k < run->friction->returns[law]; k++)
        least *= 10;
    return fabs(p) > a * (1 + least) ? sign_of(p) : 0;
}

// The mode that a slipping law should have.
static double
leave_slip(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    const Guard *guard = guard_of(run, law);
    double mode = run->v[sgn->mode], x = run->v[sgn->x];
    if (sgn->unilateral)
        return contact_open_mode(run, law, guard->pending, guard->held);
    if (sgn->disk)
        return leave_disk_slide(run, law);
    if (!(friction_limit(run, law) > 0) && !sgn->play) // without friction the mode has no effect
        return mode * x < 0 ? sign_of(x) : mode;
    if (!is_at_zero(run, law))
        return sgn->state >= 0 || sgn->level ? sign_of(x) : mode;
    if (guard->pending)
        return 0;
    if (run->friction->firm[law])
        return mode;
    if (!sgn->level && sgn->state < 0 && !guard->held)
        return mode * x < -friction_band(run, law) ? 0 : mode;
    // At its limit, but held by others: X is zero but for rounding.
    return mode * run->v[sgn->dx] < -ROUNDING * run->friction->scale[law] ? 0 : mode;
}

// Fills friction->wanted. Returns how many laws at zero have a wrong mode; *first is the first of them.
static uint32_t
find_wrong(Run *run, uint32_t *first)
{
    uint32_t wrong = 0;
    *first = UINT32_MAX;
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        double mode = friction_mode(run, k);
        double wanted = mode == 0 ? leave_stick(run, k) : leave_slip(run, k);
        run->friction->wanted[k] = (int8_t)wanted;
        if (wanted == mode)
            continue;
        wrong++;
        if (*first == UINT32_MAX && (wanted == 0 || mode == 0))
            *first = k;
    }
    return wrong;
}

static void
change(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double wanted = run->friction->wanted[law];
    bool again = friction_mode(run, law) == 0 && guard_of(run, law)->held;
    if (sgn->disk)
        set_disk_mode(run, law, wanted);
    else if (!sgn->unilateral && !(friction_limit(run, law) > 0) && friction_mode(run, law) != 0 && wanted != 0)
        run->v[sgn->mode] = wanted;
    else
        set_mode(run, law, wanted);
    if (again)
        run->friction->firm[law] = 1;
}

// Directions in which frictions in a plane begin to slide.
static bool
turn_disks(Run *run)
{
    bool turned = false;
    for (uint32_t k = 0; k < run->model->n_sgns && !turned; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        bool begins = sgn->disk == 1 && friction_mode(run, k) != 0 && friction_limit(run, k) > 0 && is_at_zero(run, k);
        if (begins && run->friction->turns[k]++ < TURNS)
            turned = disk_turn(run, k);
    }
    return turned;
}

// All that is wrong are frictions in a plane that begin to slide against their pull. The direction of that, taken from the
// force that held them, may be what is wrong: of several side by side each turns with the others.
static bool
only_pulled_back(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        double mode = friction_mode(run, k);
        bool pulled = run->model->sgn[k].disk == 1 && mode != 0 && run->friction->wanted[k] == 0 && !guard_of(run, k)->pending;
        if (run->friction->wanted[k] != mode && !pulled)
            return false;
    }
    return true;
}

// A law that is the only wrong one and is pulled back in the direction in which it slips has a force within its limit on that side.
// From both sides that says that it sticks, also where the limit is smaller than the rounding of the force (a brake that begins to be
// pressed beside large torques).
static void
note_back(Run *run, uint32_t wrong, uint32_t first)
{
    Friction *friction = run->friction;
    if (wrong != 1 || first == UINT32_MAX) {
        memset(friction->back, 0, run->model->n_sgns);
        return;
    }
    const mdl_sgn *sgn = &run->model->sgn[first];
    double mode = friction_mode(run, first);
    if (mode != 0 && friction->wanted[first] == 0 && !sgn->unilateral && !sgn->disk && !sgn->play && !guard_of(run, first)->pending)
        friction->back[first] |= mode < 0 ? 1 : 2;
}

bool
friction_update(Run *run)
{
    Friction *friction = run->friction;
    uint32_t first, wrong = find_wrong(run, &first);
    if (!wrong)
        return turn_disks(run);
    note_back(run, wrong, first);
    if (only_pulled_back(run) && turn_disks(run))
        return true;
    if (wrong < friction->fewest) {
        friction->fewest = wrong;
        friction->patience = PATIENCE;
    } else if (friction->patience) {
        friction->patience--;
    }
    bool together = friction->patience > 0 || first == UINT32_MAX;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (run->model->sgn[k].disk <= 1 && friction_mode(run, k) != friction->wanted[k] && (together || k == first))
            change(run, k);
    return true;
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

// --- contacts that hold the same motion

// Sticking laws whose X depend on each other (two supports of one rigid body) have a singular matrix, and their forces are
// not unique. A largest independent set of them, the basis, sticks; the others are carried: their p = m*a is given, with
// the m that makes sum p^2/a of all that stick least. Finite differences are exact here: X and p are affine in the forces.

static bool
sticks(const Run *run, uint32_t law)
{
    return friction_mode(run, law) == 0;
}

static void
carry(Run *run, uint32_t law, double share)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    run->friction->carried[law] = 1;
    run->v[sgn->mode] = sgn->unilateral ? 1 + share : share == 0 ? FRICTION_NOTHING : share;
}

static double
share_of(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral ? run->v[sgn->mode] - 1 : run->v[sgn->mode];
}

// What the force of a law is measured by: the limit of a friction, about the largest force of all unilateral constraints. A size
// for each of them would remember what an instant has made of it: feet of a table would carry unequal loads ever after.
static double
size_of(const Run *run, uint32_t law)
{
    return run->model->sgn[law].unilateral ? fmax(run->friction->reaction, 1) : friction_limit(run, law);
}

// How X of a carried law answers to its own force; 0 when the model cannot be solved.
static double
answer(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    if (evaluate_solved(run, false) != MDL_OK)
        return 0;
    double before = run->v[sgn->dx];
    carry(run, law, 0.5);
    double change = evaluate_solved(run, false) == MDL_OK ? fabs(run->v[sgn->dx] - before) : 0;
    carry(run, law, FRICTION_NOTHING);
    return isfinite(change) ? change : 0;
}

// Reactions first, because limits of friction depend on them; then states, which are held exactly.
static int
turn_of(const mdl_sgn *sgn)
{
    return sgn->unilateral ? 0 : sgn->state >= 0 ? 1 : 2;
}

static void
measure_scales(Run *run, bool reactions)
{
    Friction *friction = run->friction;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (friction->sticks[k] && (turn_of(&run->model->sgn[k]) == 0) == reactions)
            friction->scale[k] = answer(run, k);
}

static void
join_basis(Run *run, int turn)
{
    Friction *friction = run->friction;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (friction->sticks[k] && turn_of(&run->model->sgn[k]) == turn && size_of(run, k) > 0 &&
            answer(run, k) > ROUNDING * friction->scale[k])
            stick_alone(run, k);
}

// Laws join the basis while they can still be moved by their own force.
MDL_CHECKED static int
choose_basis(Run *run)
{
    const mdl_model *model = run->model;
    Friction *friction = run->friction;
    friction->chosen = true;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        friction->sticks[k] = sticks(run, k);
        if (friction->sticks[k])
            carry(run, k, FRICTION_NOTHING);
    }
    measure_scales(run, true);
    join_basis(run, 0);
    int status = friction_share(run, true); // limits of friction, where several contacts share a load
    if (status != MDL_OK)
        return status;
    measure_scales(run, false);
    join_basis(run, 1);
    join_basis(run, 2);
    return MDL_OK;
}

// Gaussian elimination with pivoting on an n x n system with its right side in column n.
static bool
eliminate(double *m, uint32_t n)
{
    uint32_t width = n + 1;
    for (uint32_t k = 0; k < n; k++) {
        uint32_t best = k;
        for (uint32_t i = k; i < n; i++)
            best = fabs(m[i * width + k]) > fabs(m[best * width + k]) ? i : best;
        if (!(fabs(m[best * width + k]) > 0))
            return false;
        for (uint32_t j = 0; j < width; j++) {
            double t = m[k * width + j];
            m[k * width + j] = m[best * width + j];
            m[best * width + j] = t;
        }
        for (uint32_t i = 0; i < n; i++)
            for (uint32_t j = n; i != k && j + 1 > k; j--)
                m[i * width + j] -= m[i * width + k] / m[k * width + k] * m[k * width + j];
        for (uint32_t j = n; j + 1 > k; j--)
            m[k * width + j] /= m[k * width + k];
    }
    return true;
}

// Whether the force of a law is one of rest: also where it is at its limit and others hold what it rubs on. If its force did not
// count there, the load of contacts at rest would move to those of which the friction happens to be at the limit.
static bool
rests(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    bool moves = !sgn->disk && sgn->state < 0 && !sgn->level;
    uint32_t first = sgn->disk ? law + 1 - sgn->disk : law;
    return sticks(run, law) || (!sgn->unilateral && !moves && is_at_zero(run, first));
}

// Row c of `change` (one value per law): what the forces of the laws at rest do when the c-th carried one grows by a/2.
static bool
measure_shares(Run *run, const double *force, double *change)
{
    const mdl_model *model = run->model;
    for (uint32_t j = 0, row = 0; j < model->n_sgns; j++) {
        if (!run->friction->carried[j])
            continue;
        double share = share_of(run, j), *row_of = change + row++ * model->n_sgns;
        memset(row_of, 0, model->n_sgns * sizeof *row_of);
        if (!(size_of(run, j) > 0)) // it has no force, and what would change is rounding
            continue;
        carry(run, j, share + 0.5);
        if (evaluate_solved(run, false) != MDL_OK)
            return false;
        carry(run, j, share);
        for (uint32_t k = 0; k < model->n_sgns; k++)
            row_of[k] = rests(run, k) ? run->v[model->sgn[k].p] - force[k] : 0;
    }
    return true;
}

// The least sum of p^2/a over p = force + z*change. `system` has room for the normal equations.
static bool
least_forces(const Run *run, const double *force, const double *change, uint32_t rows, double *system)
{
    const mdl_model *model = run->model;
    for (uint32_t i = 0; i < rows; i++)
        for (uint32_t j = 0; j <= rows; j++) {
            double sum = 0;
            for (uint32_t k = 0; k < model->n_sgns; k++) {
                double a = size_of(run, k), right = j < rows ? change[j * model->n_sgns + k] : -force[k];
                if (rests(run, k) && a > 0)
                    sum += change[i * model->n_sgns + k] * right / a;
            }
            // A friction without a limit shares nothing.
            system[i * (rows + 1) + j] = i == j && sum == 0 ? 1 : sum;
        }
    return eliminate(system, rows);
}

// One step towards the least forces; *largest is what shares have changed by. Room for n + rows*n + rows*(rows + 1) values.
MDL_CHECKED static int
share_once(Run *run, double *force, uint32_t rows, double *largest, bool report)
{
    const mdl_model *model = run->model;
    uint32_t n = model->n_sgns;
    double *change = force + n, *system = change + (size_t)rows * n;
    if (evaluate_solved(run, report) != MDL_OK)
        return MDL_FAILED;
    for (uint32_t k = 0; k < n; k++)
        force[k] = run->v[model->sgn[k].p];
    if (measure_shares(run, force, change) && least_forces(run, force, change, rows, system))
        for (uint32_t j = 0, row = 0; j < n; j++)
            if (run->friction->carried[j]) {
                double share = share_of(run, j) + 0.5 * system[row * (rows + 1) + rows];
                // A friction beyond its limit is released; while limits change, too, its share says no more than that.
                if (!model->sgn[j].unilateral)
                    share = fmin(fmax(share, -BEYOND), BEYOND);
                if (isfinite(share)) {
                    *largest = fmax(*largest, fabs(share - share_of(run, j)) / fmax(fabs(share), 1));
                    carry(run, j, share);
                }
                row++;
            }
    return MDL_OK;
}

int
friction_share(Run *run, bool report)
{
    const mdl_model *model = run->model;
    uint32_t n = model->n_sgns, rows = 0;
    bool reactions = false; // limits of friction depend on forces that are shared, too
    for (uint32_t k = 0; k < n; k++) {
        rows += run->friction->carried[k];
        reactions = reactions || (run->friction->carried[k] && model->sgn[k].unilateral);
    }
    if (!rows)
        return MDL_OK;
    double *force = calloc(n + (size_t)rows * n + (size_t)rows * (rows + 1), sizeof *force);
    int status = force ? MDL_OK : MDL_INTERNAL;
    double changed = 1;
    for (int round = 0; status == MDL_OK && round < (reactions ? ROUNDS : 1) && changed > SHARED; round++) {
        changed = 0;
        status = share_once(run, force, rows, &changed, report);
    }
    free(force);
    return status == MDL_OK ? evaluate_solved(run, report) : status;
}

static void
join_disk_again(Run *run, uint32_t first)
{
    const mdl_sgn *sgn = &run->model->sgn[first];
    double still = ROUNDING * run->friction->scale[first];
    bool rests = still > 0 && disk_slides(run, first) && !guard_of(run, first)->pending && friction_limit(run, first) > 0 &&
                 is_at_zero(run, first);
    for (uint32_t i = 0; rests && i < sgn->of; i++)
        rests = fabs(run->v[sgn[i].dx]) <= still;
    if (!rests)
        return;
    guard_of(run, first)->forced = true;
    for (uint32_t i = 0; i < sgn->of; i++)
        carry(run, first + i, run->v[sgn[i].mode] - MDL_SLIDES);
    run->friction->chosen = false;
}

// What slides on does so along its present direction.
static void
begin_disk_event(Run *run, uint32_t first)
{
    if (disk_slides(run, first) && !is_at_zero(run, first)) {
        disk_slide(run, first);
        guard_of(run, first)->pending = false;
    } else {
        join_disk_again(run, first);
    }
}

// A law at its limit whose contact others hold sticks as well: the forces are shared anew.
static void
join_again(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double still = ROUNDING * run->friction->scale[law];
    if (sgn->unilateral || run->friction->carried[law] || run->v[sgn->mode] == 0 || guard_of(run, law)->pending || !(friction_limit(run, law) > 0) ||
        !is_at_zero(run, law) || !(fabs(run->v[sgn->dx]) <= still) || !(still > 0))
        return;
    guard_of(run, law)->forced = true;
    carry(run, law, run->v[sgn->mode]);
    run->friction->chosen = false;
}

void
friction_event(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        guard_of(run, k)->held = false;
        run->friction->firm[k] = 0;
        if (!run->model->sgn[k].disk)
            join_again(run, k);
        else if (run->model->sgn[k].disk == 1)
            begin_disk_event(run, k);
    }
}

int
friction_evaluate(Run *run)
{
    Friction *friction = run->friction;
    uint32_t stuck = 0;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        stuck += sticks(run, k);
    if (stuck && !friction->dependent) {
        if (evaluate_solved(run, stuck < 2) == MDL_OK)
            return MDL_OK;
        if (stuck < 2)
            return MDL_FAILED;
        friction->dependent = true;
    }
    int status = stuck && !friction->chosen ? choose_basis(run) : MDL_OK;
    if (status == MDL_OK)
        status = evaluate_solved(run, true);
    return status == MDL_OK ? friction_share(run, true) : status;
}

// Where open diodes with neither a voltage nor a current leave the motion open (that of a coil which they let go on), it is that with all of
// them closed, as far as there is one.
MDL_CHECKED static int
close_idle(Run *run)
{
    const mdl_model *model = run->model;
    uint32_t idle = 0;
    if (evaluate_solved(run, false) != MDL_OK || locked_keeps_motion(run))
        return MDL_OK;
    double *mode = calloc(model->n_sgns + (size_t)1, sizeof *mode);
    uint8_t *carried = calloc(model->n_sgns + (size_t)1, 1);
    if (mode && carried) {
        friction_keep(run, mode, carried);
        for (uint32_t k = 0; k < model->n_sgns; k++) {
            const mdl_sgn *sgn = &model->sgn[k];
            bool rests = sgn->unilateral && !sgn->level && friction_mode(run, k) != 0 && fabs(contact_gap(run, k)) <= contact_band(run, k);
            if (rests)
                set_mode(run, k, 0);
            idle += rests;
        }
        if (idle && (evaluate_solved(run, false) != MDL_OK || !locked_keeps_motion(run)))
            friction_restore(run, mode, carried);
    }
    int status = mode && carried ? MDL_OK : MDL_INTERNAL;
    free(mode);
    free(carried);
    return status;
}

int
friction_gap_rates(Run *run)
{
    Friction *friction = run->friction;
    friction->rates = false;
    if (!run->hides)
        return MDL_OK;
    int status = hidden_gap_rates(run, friction->gap_rate);
    friction->rates = status == MDL_OK;
    return status == MDL_INTERNAL ? status : MDL_OK;
}

bool
friction_gap_rate(const Run *run, uint32_t law, double *rate)
{
    *rate = run->friction->gap_rate[law];
    return run->friction->rates;
}

// Exchanges of modes with a leak until none is wrong.
MDL_CHECKED static int
exchange_leaking(Run *run, double leak, uint32_t limit)
{
    int status = MDL_OK;
    run->v[run->model->leak] = leak;
    run->friction->rates = false;
    friction_search(run);
    for (uint32_t pass = 0; pass < limit; pass++) {
        status = evaluate_solved(run, false);
        if (status != MDL_OK)
            break;
        evaluate_outputs(run);
        if (!friction_update(run))
            break;
    }
    run->v[run->model->leak] = 0;
    return status;
}

// At the point in v closed diodes stay without voltage along the motion: their equations do not contradict each other a little later.
static bool
stays_closed(Run *run)
{
    double rate;
    bool stays = evaluate_solved(run, false) == MDL_OK && friction_gap_rates(run) == MDL_OK;
    for (uint32_t k = 0; k < run->model->n_sgns && stays; k++) {
        bool closed = run->model->sgn[k].unilateral && !run->model->sgn[k].level && friction_mode(run, k) == 0;
        stays = friction_gap_rate(run, k, &rate) && (!closed || contact_stays_zero(run, k, rate));
    }
    run->friction->rates = false;
    return stays;
}

// Some ideal diode carries a current. Where none does, with all voltages zero, close_idle() and the rates of the gaps decide.
static bool
carries_current(const Run *run)
{
    double least = fmax(BAND * run->friction->reaction, NOTHING);
    bool any = false;
    for (uint32_t k = 0; k < run->model->n_sgns && !any; k++)
        any = run->model->sgn[k].unilateral && !run->model->sgn[k].level && friction_mode(run, k) == 0 && contact_force(run, k) > least;
    return any;
}

// Modes a little later than the point in v, with a leak. v stays, but for the modes.
static void
exchange_later(Run *run, double leak, uint32_t limit, double *kept)
{
    const mdl_model *model = run->model;
    double step = hidden_step(run), *mode = kept + model->nv;
    uint8_t *carried = (uint8_t *)(mode + model->n_sgns);
    memcpy(kept, run->v, model->nv * sizeof *kept);
    friction_keep(run, mode, carried);
    run->v[0] += step;
    for (uint32_t i = 0; i < model->nx; i++)
        run->v[model->y + i] += step * run->v[model->yp + i];
    bool solved = exchange_leaking(run, leak, limit) == MDL_OK;
    if (solved)
        friction_keep(run, mode, carried);
    memcpy(run->v, kept, model->nv * sizeof *kept);
    friction_restore(run, mode, carried);
}

// Closed diodes may agree at this instant alone: of two sources that cross, each through a diode on one node, both conduct with any leak. Where
// that would not last, the modes become those that hold a little later, with a leak between what the voltages and currents there
// do not resolve and what hides how slowly the sources part.
MDL_CHECKED static int
leave_instant(Run *run, uint32_t limit)
{
    static const double part[] = {1, 1e-2, 1e-4};
    const mdl_model *model = run->model;
    size_t laws = model->n_sgns;
    // What is wrong at the instant itself is left to the caller.
    if (evaluate_solved(run, false) != MDL_OK || !carries_current(run) || stays_closed(run))
        return MDL_OK;
    double *kept = malloc((model->nv + 3 * laws) * sizeof *kept), *mode = kept + model->nv + 2 * laws;
    uint8_t *carried = malloc(laws);
    bool stays = false;
    if (kept && carried) {
        friction_keep(run, mode, carried);
        for (size_t i = 0; i < sizeof part / sizeof *part && !stays; i++) {
            exchange_later(run, part[i] * LEAK, limit, kept);
            stays = stays_closed(run);
        }
        if (!stays)
            friction_restore(run, mode, carried);
    }
    int status = kept && carried ? MDL_OK : MDL_INTERNAL;
    free(kept);
    free(carried);
    return status;
}

int
friction_leak(Run *run, uint32_t limit)
{
    if (!run->model->leak)
        return MDL_OK;
    int status = exchange_leaking(run, LEAK, limit);
    if (status == MDL_OK)
        status = leave_instant(run, limit);
    return status == MDL_INTERNAL ? status : close_idle(run);
}

double
friction_guard(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double mode = friction_mode(run, law), a = sgn->unilateral ? 0 : friction_limit(run, law);
    if (sgn->unilateral)
        return mode == 0 ? contact_force(run, law) : contact_gap(run, law);
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
static int
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

int
friction_check(Run *run)
{
    const mdl_model *model = run->model;
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
clamp_tangent(Run *run)
{
    double *yp = run->v + run->model->tangents->shift + run->model->yp;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (run->model->sgn[k].state >= 0 && friction_mode(run, k) == 0)
            yp[run->model->sgn[k].state] = 0;
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
