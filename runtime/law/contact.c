// contact.c: unilateral constraints: what closes, and impacts.
//
// Purpose: bodies that touch: gap >= 0, force >= 0, one of them zero. friction_search.c decides at each event which constraints are
//          closed; this file treats what happens to velocities and positions.
// Method:  At an impact velocities jump by the impulses P of all constraints that touch, P >= 0, and by those of their
//          friction (Newton's law of restitution in the form of Moreau; Glocker, Set-Valued Force Laws, 2001, chapter 8):
//              0 <= P_i  complementary to  u_i+ + e_i*u_i- >= 0,       |T_j| <= a_j(P),  T_j against the slip afterwards.
//          What an impulse does is measured: with the reactions given, the derivatives of all states are affine in them,
//              dy/dt(p) = dy/dt(0) + D*p,     so that an impulse P changes y by D*P,  u by W*P,
//          and the limits a(p) of frictions that depend on reactions likewise. D contains the mass matrix of the whole
//          system, with joints, closed loops, gears and inerters, in whatever coordinates the compiler chose. D is taken at the
//          middle of the jump, so that integrals of powers get the work of the impulse. The complementarity
//          problem (contact_impulse.c) is solved by projected Gauss-Seidel iteration (Jourdan, Alart, Jean, Comput. Methods Appl. Mech. Eng. 155
//          (1998) 31), which redundant contacts do not disturb.
//          A rebound lower than the tolerance resolves does not happen: the contact stays closed. So infinitely many
//          bounces (Zeno) end after finitely many.
//          What has drifted from closed constraints is moved back (contact_drift.c).
// Contract: see law.h, contact.h. Complexity: an impact costs one evaluation of the model per constraint, n^2 per sweep of the iteration.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/contact.h"
#include "runtime/law/law.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"
#include "runtime/point/sense.h"

static const double UNRESOLVED = 1e-2; // of the tolerance: a gap that counts as none, and the least rebound
static const double STILL = 1e-9;      // an acceleration that counts as none
static const double EXACT = 1e-13;     // of the largest speed: no more is taken away from it
static const double PREDICTED = 1e-9;  // of the largest speed: what columns say is true
static const double FULFILLED = 1e-6;  // of the largest speed: what an impact may leave of its laws

static const double BESIDE = 10;       // bands: a gap of an ideal diode that counts as none where it is decided
static const double ROUNDING = 1e-14;  // of the largest gap: no change of it
static const double CLOSED = 1e-12;    // of the same, or of the largest state that an impact moves: no change of a gap that is held at zero, no speed

enum { STRIKES = 200, REFINEMENTS = 4 };

double
contact_force(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->p_sign * run->v[sgn->p];
}

double
contact_speed(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral ? sgn->sign[sgn->level - 1] * run->v[sgn->place[sgn->level - 1]] : run->v[sgn->x];
}

double
contact_band(const Run *run, uint32_t law)
{
    return (run->model->sgn[law].level == 2 ? UNRESOLVED : CONTACT_SLOW) * run->tolerance;
}

bool
contact_closes(const Run *run, uint32_t law)
{
    const mdl_model *model = run->model;
    return run->guard[model->n_relations + model->n_time_relations + law].pending && friction_mode(run, law) != 0;
}

bool
contact_touches(const Run *run, uint32_t law)
{
    return contact_gap(run, law) <= contact_band(run, law) || contact_closes(run, law);
}

// What separates does not close: where its gap is below zero the integration has erred, within its tolerance (a first step of order one behind an
// event leaves more than a band).
double
contact_guard(const Run *run, uint32_t law)
{
    double gap = contact_gap(run, law);
    bool separates = gap < 0 && run->model->sgn[law].level == 2 && contact_speed(run, law) > CONTACT_SLOW * run->tolerance;
    return separates ? -gap : gap;
}

bool
contact_stays_zero(const Run *run, uint32_t law, double rate)
{
    const mdl_model *model = run->model;
    double size = run->guard[model->n_relations + model->n_time_relations + law].size;
    return fabs(rate) * hidden_step(run) <= CLOSED * fmax(size, contact_band(run, law));
}

// At zero, or off it by no more than where an event is noticed, it is the rate of the gap that decides.
static double
open_diode_mode(const Run *run, uint32_t law)
{
    const mdl_model *model = run->model;
    double gap = contact_gap(run, law), band = contact_band(run, law), rate;
    double size = run->guard[model->n_relations + model->n_time_relations + law].size;
    if (!friction_gap_rate(run, law, &rate) || gap < -BESIDE * band)
        return gap < -band ? 0 : 1;
    return rate * hidden_step(run) < -ROUNDING * fmax(size, band) ? 0 : 1;
}

// A constraint that touched and separates will have come back before its gap is as large as the tolerance resolves.
static bool
is_low(const Run *run, uint32_t law)
{
    double after = contact_speed(run, law), pull = -contact_held(run, law);
    return after > CONTACT_SLOW * run->tolerance && after * after < 2 * pull * UNRESOLVED * run->tolerance;
}

double
contact_open_mode(const Run *run, uint32_t law, bool pending, bool decided)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double slow = CONTACT_SLOW * run->tolerance;
    if (pending)
        return 0;
    if (decided || !contact_touches(run, law))
        return 1;
    if (sgn->level == 0)
        return open_diode_mode(run, law);
    if (sgn->level == 2 && fabs(contact_speed(run, law)) > slow && !is_low(run, law))
        return 1;
    // Where others hold the same motion, what is held is zero but for rounding.
    return contact_held(run, law) < -STILL ? 0 : 1;
}

bool
contact_rests_open(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral && sgn->level > 0 && friction_mode(run, law) != 0 && contact_touches(run, law) &&
           (sgn->level < 2 || fabs(contact_speed(run, law)) <= CONTACT_SLOW * run->tolerance) && fabs(contact_held(run, law)) <= STILL;
}

// --- measuring

static uint32_t
partners(const Run *run)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        n += run->model->sgn[k].unilateral != 0;
    return n;
}

MDL_CHECKED static int
contact_create(Run *run)
{
    size_t n = run->model->n_sgns, nx = run->model->nx;
    if (!partners(run))
        return MDL_OK;
    Contacts *contacts = calloc(1, sizeof *contacts);
    run->contacts = contacts;
    if (!contacts)
        return MDL_INTERNAL;
    contacts->n = (uint32_t)n;
    contacts->nx = (uint32_t)nx;
    double *room = calloc(6 * n + 3 * nx, sizeof *room);
    contacts->mode = room;
    contacts->part = calloc(7 * n, 1);
    contacts->jump = calloc(3 * n, sizeof *contacts->jump);
    contacts->list = calloc(4 * n + nx, sizeof *contacts->list);
    if (!room || !contacts->part || !contacts->jump || !contacts->list)
        return MDL_INTERNAL;
    contacts->together_list = contacts->list + n;
    contacts->mark = contacts->together_list + n;
    contacts->answer = contacts->jump + n;
    contacts->limit = contacts->answer + n;
    uint8_t **flags[] = {&contacts->carried, &contacts->closed, &contacts->known, &contacts->measured, &contacts->active, &contacts->low};
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        *flags[i] = contacts->part + (i + 1) * n;
    double **part[] = {&contacts->mode, &contacts->held, &contacts->speed, &contacts->impulse, &contacts->restitution, &contacts->room};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++, room += n)
        *part[i] = room;
    double **states[] = {&contacts->base, &contacts->start, &contacts->shifted};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++, room += nx)
        *states[i] = room;
    return MDL_OK;
}

static void
contact_free(Run *run)
{
    if (!run->contacts)
        return;
    for (uint32_t k = 0; run->contacts->jump && k < 3 * run->contacts->n; k++) {
        free(run->contacts->jump[k].row);
        free(run->contacts->jump[k].value);
    }
    free(run->contacts->jump);
    free(run->contacts->list);
    free(run->contacts->mode);
    free(run->contacts->part);
    free(run->contacts);
    run->contacts = NULL;
}

void
contact_save_modes(Run *run)
{
    Contacts *contacts = run->contacts;
    for (uint32_t k = 0; k < contacts->n; k++)
        contacts->closed[k] = friction_mode(run, k) == 0;
    friction_keep(run, contacts->mode, contacts->carried);
}

void
contact_restore_modes(Run *run)
{
    friction_restore(run, run->contacts->mode, run->contacts->carried);
}

// --- an impact

static bool
approaches(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral && sgn->level && friction_mode(run, law) != 0 && contact_touches(run, law)
        && contact_speed(run, law) < -CONTACT_SLOW * run->tolerance;
}

static void
choose_reactions(Run *run)
{
    Contacts *contacts = run->contacts;
    memset(contacts->low, 0, contacts->n);
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        contacts->part[k] = sgn->unilateral && sgn->level && (contacts->closed[k] || contact_touches(run, k));
        contacts->speed[k] = contact_is_partner(sgn) ? contact_speed(run, k) : 0;
        contacts->restitution[k] = sgn->unilateral && sgn->level == 2 ? run->v[sgn->a] : 0;
    }
}

// Of frictions those whose limits depend on the reactions that were measured.
static void
choose_frictions(const Run *run)
{
    Contacts *contacts = run->contacts;
    for (uint32_t i = 0; i < contacts->n; i++)
        for (uint32_t e = 0; contacts->measured[i] && e < contacts->limit[i].n; e++) {
            uint32_t k = contacts->limit[i].row[e];
            contacts->part[k] = contacts->part[k] || (!run->model->sgn[k].unilateral && contacts->part[i]);
        }
}

// Limits of frictions are known when reactions are given.
int
contact_give(Run *run, const double *impulse)
{
    const Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    contact_push_nothing(run);
    for (uint32_t k = 0; impulse && k < contacts->n; k++)
        if (model->sgn[k].unilateral && contact_is_partner(&model->sgn[k]))
            contact_push(run, k, impulse[k]);
    int status = evaluate_solved(run, true);
    bool rubs = false;
    if (!impulse || status != MDL_OK)
        return status;
    for (uint32_t k = 0; k < contacts->n; k++)
        if (!model->sgn[k].unilateral && contacts->part[k] && run->v[model->sgn[k].a] > 0) {
            // Where both are rounding of nothing, an open contact's, the share is no more than what friction can be.
            contact_push(run, k, fmin(fmax(impulse[k] / run->v[model->sgn[k].a], -1), 1));
            rubs = true;
        }
    return rubs ? evaluate_solved(run, true) : status;
}

// The states after half of the jump, and then the whole jump as it is in the middle.
MDL_CHECKED static int
jump(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    double *y = run->v + model->y, *yp = run->v + model->yp;
    memset(contacts->shifted, 0, contacts->nx * sizeof *contacts->shifted);
    contact_add_columns(contacts, contacts->jump, contacts->impulse, contacts->shifted);
    for (uint32_t i = 0; i < contacts->nx; i++)
        y[i] = contacts->start[i] + 0.5 * contacts->shifted[i];
    if (contact_give(run, NULL) != MDL_OK)
        return MDL_FAILED;
    memcpy(contacts->shifted, yp, contacts->nx * sizeof *yp);
    if (contact_give(run, contacts->impulse) != MDL_OK)
        return MDL_FAILED;
    for (uint32_t i = 0; i < contacts->nx; i++)
        y[i] = contacts->start[i] + yp[i] - contacts->shifted[i];
    return MDL_OK;
}

// Rebounds that the tolerance does not resolve do not happen: that of what strikes, and that of what others lift off. (A disk that another
// one rolls under would be lifted, fall, push the other one away and be met by it again, without end.) True when there was one.
static bool
drop_low_rebounds(Run *run)
{
    Contacts *contacts = run->contacts;
    bool any = false;
    for (uint32_t k = 0; k < contacts->n; k++) {
        if (!contacts->part[k] || !run->model->sgn[k].unilateral || run->model->sgn[k].level != 2 || contacts->low[k] || !is_low(run, k))
            continue;
        contacts->low[k] = !(contacts->restitution[k] > 0 && contacts->impulse[k] > 0);
        contacts->restitution[k] = 0;
        any = true;
    }
    return any;
}

MDL_CHECKED static int
report_stuck(const Run *run, const char *what)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_sgns; k++)
        if (approaches(run, k)) {
            run_message(run, MDL_ERROR, "at time %.12g: %s:\n  %s, which closes with %.6g", run->v[0], what,
                        model->sgn[k].text ? model->sgn[k].text : "?", -contact_speed(run, k));
            return MDL_FAILED;
        }
    run_message(run, MDL_ERROR, "at time %.12g: %s", run->v[0], what); // a slip, or what touches was moved apart by the attempt
    return MDL_FAILED;
}

// The modes after the impact: what does not separate is closed, what does not slip sticks, and the impact may have turned a slip around.
static void
set_modes(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    double slow = CONTACT_SLOW * run->tolerance;
    contact_restore_modes(run);
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *sgn = &model->sgn[k];
        if (!contact_is_partner(sgn))
            continue;
        if (sgn->disk > 1)
            continue;
        double after = sgn->disk ? disk_speed(run, k) : contact_speed(run, k), mode = friction_mode(run, k);
        if (sgn->unilateral && contacts->part[k])
            friction_set(run, k, after > slow ? 1 : 0);
        else if (!sgn->unilateral && contacts->part[k] && fabs(after) <= slow)
            friction_set(run, k, 0);
        else if (!sgn->unilateral && (mode * after <= 0 || sgn->disk) && fabs(after) > slow)
            friction_set(run, k, after < 0 ? -1 : 1);
    }
}

static double
fastest(const Contacts *contacts)
{
    double most = 0;
    for (uint32_t k = 0; k < contacts->n; k++)
        most = fmax(most, contacts->part[k] ? fabs(contacts->speed[k]) : 0);
    return most;
}

// What is missing of the speed that the active law k asks for, at the point in v.
static double
missing(const Run *run, uint32_t k)
{
    const Contacts *contacts = run->contacts;
    return contact_speed(run, k) + (run->model->sgn[k].unilateral ? contacts->restitution[k] * contacts->speed[k] : 0);
}

// The largest of what is missing, by law in contacts->room.
static double
most_missing(const Run *run)
{
    Contacts *contacts = run->contacts;
    double most = 0;
    for (uint32_t k = 0; k < contacts->n; k++) {
        contacts->room[k] = contacts->active[k] ? missing(run, k) : 0;
        most = fmax(most, fabs(contacts->room[k]));
    }
    return most;
}

// What rounding has left of the speeds behind the jump, where masses differ by orders of magnitude, is taken away by small impulses
// of their own. v is behind the jump, without reactions. Where laws hold the same motion (both ends of a rod that stick) the impulses that
// would take away rounding may be none: what does not become less stays as it was.
MDL_CHECKED static int
refine(Run *run)
{
    Contacts *contacts = run->contacts;
    double allowed = EXACT * fastest(contacts), before = INFINITY, *y = run->v + run->model->y;
    double *kept = malloc((contacts->nx + 1) * sizeof *kept);
    int status = kept ? MDL_OK : MDL_INTERNAL;
    for (int pass = 0; pass <= REFINEMENTS && status == MDL_OK; pass++) {
        double most = most_missing(run);
        if (most > before) {
            memcpy(y, kept, contacts->nx * sizeof *kept);
            status = evaluate_solved(run, true);
            break;
        }
        if (most <= allowed || most > 0.1 * before || pass == REFINEMENTS)
            break;
        before = most;
        if (contact_impulses(run, contacts->active, contacts->room, true, contacts->held, NULL) != MDL_OK)
            break; // what is left is looked at afterwards
        memcpy(kept, y, contacts->nx * sizeof *kept);
        contact_add_columns(contacts, contacts->jump, contacts->held, y);
        status = evaluate_solved(run, true);
    }
    free(kept);
    return status;
}

// Whether the speeds behind the jump are those that the columns have predicted. Before they are refined.
static bool
as_predicted(const Run *run)
{
    Contacts *contacts = run->contacts;
    double allowed = PREDICTED * fastest(contacts);
    memcpy(contacts->room, contacts->speed, contacts->n * sizeof *contacts->room);
    contact_add_columns(contacts, contacts->answer, contacts->impulse, contacts->room);
    for (uint32_t k = 0; k < contacts->n; k++)
        if (contact_is_partner(&run->model->sgn[k]) && !(fabs(contacts->room[k] - contact_speed(run, k)) <= allowed))
            return false;
    return true;
}

// The largest state that the impulses move: speeds are sums and differences of such, and no better known than to its rounding.
static double
largest_moved(const Run *run)
{
    const Contacts *contacts = run->contacts;
    double most = 0;
    for (uint32_t k = 0; k < contacts->n; k++)
        for (uint32_t e = 0; contacts->measured[k] && contacts->part[k] && e < contacts->jump[k].n; e++)
            most = fmax(most, fabs(run->v[run->model->y + contacts->jump[k].row[e]]));
    return most;
}

// No constraint that takes part is left with more approach than its law allows, and none that holds with another speed.
static bool
is_fulfilled(const Run *run)
{
    const Contacts *contacts = run->contacts;
    double allowed = fmax(fmax(FULFILLED * fastest(contacts), CONTACT_SLOW * run->tolerance), CLOSED * largest_moved(run));
    for (uint32_t k = 0; k < contacts->n; k++) {
        bool reaction = run->model->sgn[k].unilateral;
        if (contacts->part[k] && ((reaction && missing(run, k) < -allowed) || (contacts->active[k] && fabs(missing(run, k)) > allowed)))
            return false;
    }
    return true;
}

// Behind the jump, which is made again from measurements of each law by itself where it went elsewhere than predicted.
MDL_CHECKED static int
strike_once(Run *run, bool *again)
{
    Contacts *contacts = run->contacts;
    memset(contacts->active, 0, contacts->n);
    int status = contact_impulses(run, contacts->part, contacts->speed, false, contacts->impulse, contacts->active);
    if (status == MDL_INTERNAL)
        return status;
    if (status == MDL_OK && jump(run) != MDL_OK)
        return MDL_FAILED;
    contact_push_nothing(run);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    *again = contacts->together && (status != MDL_OK || !as_predicted(run));
    if (*again)
        return MDL_OK;
    if (status != MDL_OK)
        return report_stuck(run, "the impulses of an impact were not found; constraints and frictions that touch contradict each other "
                            "here, or there are more of them than can be solved for");
    status = refine(run);
    if (status != MDL_OK)
        return status;
    return is_fulfilled(run) ? MDL_OK : report_stuck(run, "the impulses that were found for an impact do not stop what touches");
}

MDL_CHECKED static int
strike(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    bool again = false;
    if (++contacts->strikes > STRIKES)
        return report_stuck(run, "impacts follow each other without end at this instant");
    contact_save_modes(run);
    choose_reactions(run);
    memcpy(contacts->start, run->v + model->y, contacts->nx * sizeof *contacts->start);
    if (contact_take(run) != MDL_OK)
        return MDL_FAILED;
    choose_frictions(run);
    do {
        int status = strike_once(run, &again);
        if (status == MDL_OK && again) {
            contact_forget(contacts);
            memcpy(run->v + model->y, contacts->start, contacts->nx * sizeof *contacts->start);
            if (contact_take(run) != MDL_OK)
                return MDL_FAILED;
            choose_frictions(run);
            status = strike_once(run, &again);
        }
        if (status != MDL_OK)
            return status;
        set_modes(run);
        if (friction_evaluate(run) != MDL_OK)
            return MDL_FAILED;
    } while (drop_low_rebounds(run));
    for (uint32_t k = 0; k < contacts->n; k++)
        if (approaches(run, k))
            return report_stuck(run, "this constraint closes, and no impulse can stop it");
    return run->sense ? sense_impact(run) : MDL_OK;
}

int
contact_impacts(Run *run, bool *struck)
{
    *struck = false;
    for (uint32_t k = 0; run->contacts && k < run->contacts->n; k++)
        *struck = *struck || approaches(run, k);
    if (*struck)
        return strike(run);
    *struck = run->contacts && run->contacts->turned;
    if (*struck && ++run->contacts->strikes > STRIKES)
        return report_stuck(run, "slips turn around without end at this instant");
    return MDL_OK;
}

int
contact_event(Run *run)
{
    bool struck;
    if (!run->contacts)
        return MDL_OK;
    run->contacts->strikes = 0;
    // At the start feet that touch may hold the same motion, and none of them is carried by the others yet.
    int status = evaluate_solved(run, false);
    if (status != MDL_OK)
        status = friction_evaluate(run);
    // What opens at this event shall do so from zero.
    if (status != MDL_OK || contact_close(run, true) != MDL_OK)
        return MDL_FAILED;
    return contact_impacts(run, &struck);
}

int
contact_start(Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; run->contacts && k < model->n_sgns; k++) {
        const mdl_sgn *sgn = &model->sgn[k];
        if (!sgn->unilateral)
            continue;
        double gap = contact_gap(run, k), e = run->v[sgn->a];
        if (!(e >= 0 && e <= 1)) {
            run_message(run, MDL_ERROR, "the coefficient of restitution of this constraint is %.6g; it must be between 0 and 1:\n"
                        "  %s", e, sgn->text);
            return MDL_FAILED;
        }
        if (sgn->level && gap < -fmax(contact_band(run, k), 1e-9 * run->guard[model->n_relations +
                                                                              model->n_time_relations + k].size)) {
            run_message(run, MDL_ERROR, "at the start this unilateral constraint is violated by %.6g:\n  %s", -gap, sgn->text);
            return MDL_FAILED;
        }
        bool open = sgn->level == 0 || !contact_touches(run, k) || (sgn->level == 2 && fabs(contact_speed(run, k)) > CONTACT_SLOW * run->tolerance);
        run->v[sgn->mode] = open;
    }
    return MDL_OK;
}

// Which laws are measured in one evaluation follows from what was measured before, and rounding from that.
static void
contact_settle(Run *run)
{
    if (run->contacts)
        contact_forget(run->contacts);
}

const RunPart contact_part = {
    .name = "contact", .create = contact_create, .free = contact_free, .close_row = contact_close_row, .settle = contact_settle,
};
