// friction_search.c: which modes set-valued laws have: the search at an event.
//
// Purpose: modes that fulfil all laws at once, in few evaluations of the model.
// Method: the laws with x = 0 form a complementarity problem: each sticks (X = 0, |p| <= a) or starts to slip (p = m*a, m*X >= 0). See
//         Glocker, Set-Valued Force Laws, 2001, chapters 6 and 10; Pfeiffer and Glocker, Multibody Dynamics with Unilateral Contacts,
//         1996. One evaluation of the model under given modes is one principal pivot, so no matrix is formed. All laws that
//         are wrong change at once (the step of a semismooth Newton method) while their number falls; when it
//         does not for some steps, only the first wrong law changes until it does. For contacts whose matrix is a
//         P-matrix (energy is dissipated) this ends with the only solution, whatever the order of the laws
//         (Judice and Pires, Comput. Oper. Res. 21 (1994) 587; Murty, 1974; Cottle, Pang, Stone, The Linear
//         Complementarity Problem, 1992, section 4.4).
// Contract: v was evaluated (p, a, X valid) before friction_update(). Complexity: O(laws) per evaluation; few evaluations per event.
#include <math.h>
#include <string.h>

#include "runtime/law/friction_inner.h"

static const double NEAR = 1e-6; // of a: a located release stands when sticking again would need this much

enum { PATIENCE = 4, TURNS = 30 };

void
friction_search(Run *run)
{
    run->friction->fewest = UINT32_MAX;
    run->friction->patience = PATIENCE;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        run->friction->returns[k] = run->friction->turns[k] = run->friction->back[k] = run->friction->joined[k] = 0;
}

// The mode that a closed unilateral constraint should have. Each return makes the threshold coarser.
static double
leave_closed(const Run *run, uint32_t law)
{
    double least = FRICTION_BAND * fmax(friction_reaction(run, law), fabs(contact_force(run, law)));
    if (guard_of(run, law)->pending)
        return 1;
    for (uint32_t k = 0; k < run->friction->returns[law]; k++)
        least *= 10;
    return contact_force(run, law) < -least ? 1 : 0;
}

// X of a law that others should hold is not zero: struts in one line hold the same motion at that instant, and not its derivative.
static bool
escapes(const Run *run, uint32_t law)
{
    double scale = run->friction->scale[law];
    return run->friction->carried[law] && scale > 0 && fabs(run->v[run->model->sgn[law].dx]) > NEAR * scale;
}

// The mode that a sticking friction in a plane should have.
static double
leave_disk_stick(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    const Guard *guard = guard_of(run, law);
    double a = friction_limit(run, law), p, least = FRICTION_BAND;
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
    if (sgn->disk > 1 || !(friction_limit(run, law) > 0) || !friction_at_zero(run, law))
        return 1;
    if (guard_of(run, law)->pending)
        return 0;
    return run->friction->firm[law] || disk_goes_on(run, law) || disk_pull(run, law) >= -friction_still(run, law);
}

// The mode that a sticking law should have.
static double
leave_stick(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    const Guard *guard = guard_of(run, law);
    double a = sgn->unilateral ? 0 : friction_limit(run, law), p = run->v[sgn->p], least = FRICTION_BAND;
    if (sgn->unilateral)
        return leave_closed(run, law);
    if (sgn->disk)
        return leave_disk_stick(run, law);
    if (!(a > 0) && (run->friction->carried[law] || !sgn->play)) // nothing holds it
        return sign_of(run->v[run->friction->carried[law] ? sgn->dx : sgn->p]);
    if (escapes(run, law))
        return sign_of(run->v[sgn->dx]);
    if (guard->pending)
        return sign_of(p);
    if (sgn->play) {
        double rate = sign_of(p) * run->v[sgn->dp] - (sgn->da ? run->v[sgn->da] : 0);
        bool bound = fabs(p) >= a * (1 - NEAR) && rate > 0;
        return bound && run->friction->returns[law] < FRICTION_RETURNS ? sign_of(p) : 0;
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
    if (!friction_at_zero(run, law))
        return sgn->state >= 0 || sgn->level ? sign_of(x) : mode;
    if (guard->pending)
        return 0;
    if (run->friction->firm[law])
        return mode;
    if (!sgn->level && sgn->state < 0 && !guard->held)
        return mode * x < -friction_band(run, law) ? 0 : mode;
    // At its limit, but held by others: X is zero but for rounding, of which small forces make little: a brake that begins to be pressed is not held.
    return mode * run->v[sgn->dx] < -fmin(friction_limit(run, law), 1) * friction_still(run, law) ? 0 : mode;
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

bool
friction_right(Run *run)
{
    uint32_t first;
    return find_wrong(run, &first) == 0;
}

static void
change(Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double wanted = run->friction->wanted[law];
    bool again = friction_mode(run, law) == 0 && guard_of(run, law)->held;
    if (!sgn->disk && !sgn->unilateral && !(friction_limit(run, law) > 0) && friction_mode(run, law) != 0 && wanted != 0)
        run->v[sgn->mode] = wanted;
    else
        friction_set(run, law, wanted);
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
        bool begins = sgn->disk == 1 && friction_mode(run, k) != 0 && friction_limit(run, k) > 0 && friction_at_zero(run, k);
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
