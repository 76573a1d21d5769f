// contact_drift.c: what is closed stays exactly closed, and what sticks at rest.
//
// Purpose: integration leaves closed constraints by less than the tolerance; over a run that would add up.
// Method: what has drifted is moved back along D (velocities), and along what D's velocities do to the other states (positions), with the impulses
//         that make all of it zero at once.
// Contract: law.h, contact.h. Complexity: an evaluation per constraint that is closed, where something has drifted.
#include <math.h>
#include <string.h>

#include "runtime/law/contact.h"
#include "runtime/law/law.h"
#include "runtime/point/point.h"
#include "runtime/point/sense.h"

static const double TURNS = 1e-6;  // of the slip that counts as none: it turns a force by as much
static const double BEYOND = 1e-6; // of its limit: a force that no rounding makes so large

static bool
is_held(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return contact_is_partner(sgn) && friction_mode(run, law) == 0 && (sgn->unilateral || (sgn->state < 0 && friction_limit(run, law) > 0));
}

// What closes is below zero: its instant is where an importer has found it. A rebound would begin there, and be no rebound.
static bool
closes_below(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral && sgn->level == 2 && contact_closes(run, law) && contact_gap(run, law) < -2 * contact_band(run, law);
}

// A friction in a plane that sticks is about to be decided anew. Where it begins to slide, what it has drifted would be its slip, and turn its
// force: as much of it as it is beside the slip below which the direction held takes over.
static bool
turns_force(const Run *run, uint32_t law)
{
    return run->model->sgn[law].disk && fabs(contact_speed(run, law)) > TURNS * friction_slip(run, law);
}

// At the beginning of an event what is held is so more exactly.
static bool
has_drifted(const Run *run, double allowed, bool begins)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        if (closes_below(run, k))
            return true;
        if (!is_held(run, k))
            continue;
        if (fabs(contact_speed(run, k)) > allowed || (begins && turns_force(run, k)))
            return true;
        if (run->model->sgn[k].unilateral && run->model->sgn[k].level == 2 && fabs(contact_gap(run, k)) > allowed)
            return true;
    }
    return false;
}

// Positions move as the velocities that the impulses would make move them. What closes at this event closes at zero, too: moved along with
// the others it would begin its rebound below.
MDL_CHECKED static int
move_positions(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    double *y = run->v + model->y, *yp = run->v + model->yp;
    bool any = false;
    for (uint32_t k = 0; k < contacts->n; k++) {
        bool zero = contacts->closed[k] || contact_closes(run, k);
        contacts->part[k] = model->sgn[k].unilateral && model->sgn[k].level == 2 && zero;
        contacts->speed[k] = contacts->part[k] ? contact_gap(run, k) : 0;
        any = any || contacts->part[k];
    }
    if (!any)
        return MDL_OK;
    if (contact_impulses(run, contacts->part, contacts->speed, true, contacts->impulse, NULL) == MDL_INTERNAL)
        return MDL_INTERNAL;
    memcpy(contacts->start, y, contacts->nx * sizeof *y);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    memcpy(contacts->shifted, yp, contacts->nx * sizeof *yp);
    contact_add_columns(contacts, contacts->jump, contacts->impulse, y);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    for (uint32_t i = 0; i < contacts->nx; i++)
        contacts->shifted[i] = yp[i] - contacts->shifted[i];
    for (uint32_t k = 0; k < contacts->n; k++) // what impulses move are velocities
        for (uint32_t e = 0; contacts->measured[k] && e < contacts->jump[k].n; e++)
            contacts->shifted[contacts->jump[k].row[e]] = 0;
    for (uint32_t i = 0; i < contacts->nx; i++)
        y[i] = contacts->start[i] + contacts->shifted[i];
    return evaluate_solved(run, true);
}

MDL_CHECKED static int
move_back(Run *run)
{
    Contacts *contacts = run->contacts;
    for (uint32_t k = 0; k < contacts->n; k++)
        contacts->part[k] = run->model->sgn[k].unilateral && (contacts->closed[k] || contact_closes(run, k));
    if (contact_take(run) != MDL_OK)
        return MDL_FAILED;
    contact_push_nothing(run);
    if (evaluate_solved(run, true) != MDL_OK || move_positions(run) != MDL_OK)
        return MDL_FAILED;
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        contacts->part[k] = contact_is_partner(sgn) && contacts->closed[k];
        contacts->speed[k] = contact_is_partner(sgn) ? contact_speed(run, k) : 0;
    }
    if (contact_impulses(run, contacts->part, contacts->speed, true, contacts->impulse, NULL) == MDL_INTERNAL)
        return MDL_INTERNAL;
    contact_add_columns(contacts, contacts->jump, contacts->impulse, run->v + run->model->y);
    for (uint32_t k = 0; k < contacts->n; k++) // what sticks stays at zero exactly, also where its limit has nothing to do with reactions
        if (contacts->part[k] && run->model->sgn[k].state >= 0)
            run->v[run->model->y + (uint32_t)run->model->sgn[k].state] = 0;
    return MDL_OK;
}

void
contact_held_parts(Run *run)
{
    for (uint32_t k = 0; k < run->contacts->n; k++)
        run->contacts->part[k] = is_held(run, k);
}

int
contact_measure(Run *run)
{
    contact_save_modes(run);
    int status = contact_take(run);
    contact_restore_modes(run);
    return status;
}

// A contact that closes with a speed which the tolerance does not resolve is stopped, and what begins to slip may be taken along the other way.
static void
turn_slips(Run *run)
{
    Contacts *contacts = run->contacts;
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        if (!contact_is_partner(sgn) || sgn->unilateral || sgn->disk || !(friction_limit(run, k) > 0)
            || !(friction_mode(run, k) * contact_speed(run, k) < -CONTACT_SLOW * run->tolerance))
            continue;
        friction_set(run, k, contact_speed(run, k) < 0 ? -1 : 1);
        contacts->turned = true;
    }
}

// Moving states back has turned forces that depend on slips as small as what was moved: what sticks is now beyond its limit.
static bool
overloads(const Run *run)
{
    bool beyond = false;
    for (uint32_t k = 0; k < run->contacts->n && !beyond; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        bool sticks = sgn->disk == 1 && contact_is_partner(sgn) && friction_mode(run, k) == 0 && friction_limit(run, k) > 0;
        beyond = sticks && disk_force(run, k) > (1 + BEYOND) * friction_limit(run, k);
    }
    return beyond;
}

int
contact_close(Run *run, bool begins)
{
    int hidden = run->contacts ? hidden_close(run) : MDL_OK;
    if (run->contacts)
        run->contacts->turned = false;
    if (hidden != MDL_OK || !run->contacts || !has_drifted(run, 1e-4 * run->tolerance, begins))
        return hidden;
    contact_save_modes(run);
    int status = move_back(run);
    if (run->sense)
        sense_moved(run);
    contact_restore_modes(run);
    if (status == MDL_OK)
        status = friction_evaluate(run);
    if (status != MDL_OK)
        return status;
    turn_slips(run);
    status = run->contacts->turned ? friction_evaluate(run) : MDL_OK;
    run->contacts->turned = run->contacts->turned || (status == MDL_OK && overloads(run));
    return status;
}

// All laws are unilateral and hold a rate at most: ideal diodes at capacitors and sources, freewheels. What they have drifted by is a part of
// what states may be wrong by, which may be much more than the tolerance of the gap itself.
static bool
holds_rates_only(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (!run->model->sgn[k].unilateral || run->model->sgn[k].level > 1)
            return false;
    return true;
}

int
contact_close_row(Run *run)
{
    return run->contacts && !run->sense && holds_rates_only(run) ? contact_close(run, false) : MDL_OK;
}

// The states in v, which were moved onto what ideal diodes say of them, are further from those of the step than its tolerance.
static bool
has_moved(const Run *run)
{
    bool moved = false;
    for (uint32_t i = 0; i < run->model->nx && !moved && (hidden_any(run) || holds_rates_only(run)); i++)
        moved = fabs(run->v[run->model->y + i] - run->y[i]) > run->tolerance * fabs(run->y[i]) + run->abstol[i];
    return moved;
}

double
contact_apex(const Run *run)
{
    double soonest = INFINITY;
    for (uint32_t k = 0; run->contacts && k < run->contacts->n; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        if (!sgn->unilateral || sgn->level != 2 || friction_mode(run, k) == 0 || !contact_touches(run, k))
            continue;
        double after = contact_speed(run, k), pull = -contact_held(run, k);
        if (after > CONTACT_SLOW * run->tolerance && pull > 0)
            soonest = fmin(soonest, after / pull);
    }
    return soonest;
}

int
contact_drifted(Run *run, bool *drifted)
{
    *drifted = false;
    if (!run->contacts)
        return MDL_OK;
    evaluate_load(run, run->time, run->y, run->yp);
    int status = evaluate_row(run, true);
    *drifted = status == MDL_OK && has_moved(run);
    if (status == MDL_OK && has_drifted(run, run->tolerance, false)) {
        *drifted = true;
        status = contact_close(run, false);
    }
    if (*drifted && status == MDL_OK)
        evaluate_store(run);
    return status;
}
