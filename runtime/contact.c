// contact.c: unilateral constraints: impacts, and what is closed stays exactly closed.
//
// Purpose: bodies that touch: gap >= 0, force >= 0, one of them zero. friction.c decides at each event which constraints are
//          closed; this file treats what happens to velocities and positions.
// Method:  At an impact velocities jump by the impulses P of all constraints that touch, P >= 0, and by those of their
//          friction (Newton's law of restitution in the form of Moreau; Glocker, Set-Valued Force Laws, 2001, chapter 8):
//              0 <= P_i  complementary to  u_i+ + e_i*u_i- >= 0,       |T_j| <= a_j(P),  T_j against the slip afterwards.
//          What an impulse does is measured: with the reactions given, the derivatives of all states are affine in them,
//              dy/dt(p) = dy/dt(0) + D*p,     so that an impulse P changes y by D*P,  u by W*P,
//          and the limits a(p) of frictions that depend on reactions likewise. D contains the mass matrix of the whole
//          system, with joints, closed loops, gears and inerters, in whatever coordinates the compiler chose. D is taken at the
//          middle of the jump, so that integrals of powers get the work of the impulse. The complementarity
//          problem is solved by projected Gauss-Seidel iteration (Jourdan, Alart, Jean, Comput. Methods Appl. Mech. Eng. 155
//          (1998) 31), which redundant contacts do not disturb.
//          A rebound lower than the tolerance resolves does not happen: the contact stays closed. So infinitely many
//          bounces (Zeno) end after finitely many.
//          What has drifted from closed constraints is moved back along D (velocities), and along what D's velocities do to the
//          other states (positions).
// Contract: see run.h. Complexity: an impact costs one evaluation of the model per constraint, n^2 per sweep of the iteration.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/contact.h"

static const double UNRESOLVED = 1e-2; // of the tolerance: a gap that counts as none, and the least rebound
static const double SLOW = 1e-3;       // of the tolerance: a velocity that counts as none
static const double STILL = 1e-9;      // an acceleration that counts as none
static const double SETTLED = 1e-15;   // change of an impulse that ends the iteration, relative to the largest

enum { SWEEPS = 100000, STRIKES = 200 };

static bool
is_partner(const mdl_sgn *law)
{
    return law->level > 0 && !law->play;
}

double
contact_gap(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->sign[0] * run->v[sgn->place[0]];
}

double
contact_force(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->p_sign * run->v[sgn->p];
}

// What the law holds at zero when it is closed, or sticks.
static double
held(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral ? sgn->sign[sgn->level] * run->v[sgn->place[sgn->level]] : run->v[sgn->dx];
}

// What an impulse of the law changes.
static double
speed(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral ? sgn->sign[sgn->level - 1] * run->v[sgn->place[sgn->level - 1]] : run->v[sgn->x];
}

double
contact_band(const Run *run, uint32_t law)
{
    return (run->model->sgn[law].level == 2 ? UNRESOLVED : SLOW) * run->tolerance;
}

static bool
closes(const Run *run, uint32_t law)
{
    const mdl_model *model = run->model;
    return run->guard[model->n_relations + model->n_time_relations + law].pending && friction_mode(run, law) != 0;
}

// It has just closed: also when other constraints, moved back from their drift, have moved it a little.
static bool
touches(const Run *run, uint32_t law)
{
    return contact_gap(run, law) <= contact_band(run, law) || closes(run, law);
}

double
contact_open_mode(const Run *run, uint32_t law, bool pending, bool decided)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double slow = SLOW * run->tolerance;
    if (pending)
        return 0;
    if (decided || !touches(run, law))
        return 1;
    if (sgn->level == 0)
        return contact_gap(run, law) < -contact_band(run, law) ? 0 : 1;
    if (sgn->level == 2 && fabs(speed(run, law)) > slow)
        return 1;
    // Where others hold the same motion, what is held is zero but for rounding.
    return held(run, law) < -STILL ? 0 : 1;
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

int
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
    double *room = calloc(5 * n + 3 * nx + n * nx + 2 * n * n, sizeof *room);
    contacts->part = calloc(3 * n, 1);
    if (!room || !contacts->part) {
        free(room);
        return MDL_INTERNAL;
    }
    contacts->carried = contacts->part + n;
    contacts->closed = contacts->carried + n;
    double **part[] = {&contacts->mode, &contacts->held, &contacts->speed, &contacts->impulse, &contacts->restitution};
    for (size_t i = 0; i < sizeof part / sizeof *part; i++, room += n)
        *part[i] = room;
    double **states[] = {&contacts->base, &contacts->start, &contacts->shifted};
    for (size_t i = 0; i < sizeof states / sizeof *states; i++, room += nx)
        *states[i] = room;
    contacts->jump = room;
    contacts->answer = contacts->jump + n * nx;
    contacts->limit = contacts->answer + n * n;
    return MDL_OK;
}

void
contact_free(Run *run)
{
    if (!run->contacts)
        return;
    free(run->contacts->mode);
    free(run->contacts->part);
    free(run->contacts);
    run->contacts = NULL;
}

// Gives the law's force instead of what it holds: a reaction in units of its own, a friction as a share of its limit.
static void
give(Run *run, uint32_t law, double force)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    if (sgn->unilateral)
        run->v[sgn->mode] = 1 + force / (1 + run->v[sgn->a]);
    else
        run->v[sgn->mode] = force == 0 ? FRICTION_NOTHING : force;
}

static void
give_nothing(Run *run)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++)
        if (is_partner(&run->model->sgn[k]))
            give(run, k, 0);
}

static void
save_modes(Run *run)
{
    Contacts *contacts = run->contacts;
    for (uint32_t k = 0; k < contacts->n; k++)
        contacts->closed[k] = friction_mode(run, k) == 0;
    friction_keep(run, contacts->mode, contacts->carried);
}

static void
restore_modes(Run *run)
{
    friction_restore(run, run->contacts->mode, run->contacts->carried);
}

// Column `law` of D, W and the limits: the difference to the base values, per unit of force.
static void
take_column(Run *run, uint32_t law, const double *limit, double force)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    uint32_t n = contacts->n;
    for (uint32_t i = 0; i < contacts->nx; i++)
        contacts->jump[law * contacts->nx + i] = (run->v[model->yp + i] - contacts->base[i]) / force;
    for (uint32_t k = 0; k < n; k++) {
        contacts->answer[k * n + law] = (held(run, k) - contacts->held[k]) / force;
        if (limit)
            contacts->limit[k * n + law] = (run->v[model->sgn[k].a] - limit[k]) / force;
    }
}

// A force that changes what the law holds by about as much as other forces do, so that differences keep their digits.
static double
fitting_force(Run *run, uint32_t law)
{
    double scale = fmax(fabs(run->contacts->held[law]), 1);
    give(run, law, 1);
    if (evaluate_solved(run, true) != MDL_OK)
        return 0;
    double change = fabs(held(run, law) - run->contacts->held[law]);
    return change > 0 && isfinite(change) ? fmin(fmax(scale / change, 1e-9), 1e9) : 1;
}

MDL_CHECKED static int
measure_reactions(Run *run, double *limit)
{
    Contacts *contacts = run->contacts;
    for (uint32_t k = 0; k < contacts->n; k++)
        limit[k] = run->v[run->model->sgn[k].a];
    for (uint32_t k = 0; k < contacts->n; k++) {
        if (!run->model->sgn[k].unilateral || !is_partner(&run->model->sgn[k]))
            continue;
        double force = fitting_force(run, k);
        give(run, k, force);
        if (force == 0 || evaluate_solved(run, true) != MDL_OK)
            return MDL_FAILED;
        take_column(run, k, limit, force);
        give(run, k, 0);
    }
    return MDL_OK;
}

static bool
has_impulse(const Contacts *contacts, uint32_t law)
{
    bool any = false;
    for (uint32_t i = 0; i < contacts->n; i++)
        any = any || contacts->limit[law * contacts->n + i] != 0;
    return any;
}

// Frictions whose limits depend on reactions: a limit of their own is made by reactions all of one unit.
MDL_CHECKED static int
measure_frictions(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    bool any = false;
    for (uint32_t k = 0; k < contacts->n; k++)
        any = any || (!model->sgn[k].unilateral && is_partner(&model->sgn[k]) && has_impulse(contacts, k));
    if (!any)
        return MDL_OK;
    for (uint32_t k = 0; k < contacts->n; k++)
        if (model->sgn[k].unilateral && is_partner(&model->sgn[k]))
            give(run, k, 1);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    memcpy(contacts->base, run->v + model->yp, contacts->nx * sizeof *contacts->base);
    for (uint32_t k = 0; k < contacts->n; k++)
        contacts->held[k] = held(run, k);
    for (uint32_t k = 0; k < contacts->n; k++) {
        double limit = run->v[model->sgn[k].a];
        if (model->sgn[k].unilateral || !is_partner(&model->sgn[k]) || !has_impulse(contacts, k) || !(limit > 0))
            continue;
        give(run, k, 1);
        if (evaluate_solved(run, true) != MDL_OK)
            return MDL_FAILED;
        take_column(run, k, NULL, limit);
        give(run, k, 0);
    }
    return MDL_OK;
}

// D, W and the limits at the point in v; the modes are those without reactions afterwards.
MDL_CHECKED static int
measure(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    size_t n = contacts->n;
    memset(contacts->jump, 0, n * contacts->nx * sizeof *contacts->jump);
    memset(contacts->answer, 0, n * n * sizeof *contacts->answer);
    memset(contacts->limit, 0, n * n * sizeof *contacts->limit);
    give_nothing(run);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    memcpy(contacts->base, run->v + model->yp, contacts->nx * sizeof *contacts->base);
    for (uint32_t k = 0; k < n; k++)
        contacts->held[k] = held(run, k);
    int status = measure_reactions(run, contacts->impulse);
    return status == MDL_OK ? measure_frictions(run) : status;
}

// --- the impulses

double
contact_impulse_limit(const Contacts *contacts, uint32_t law)
{
    double limit = 0;
    for (uint32_t i = 0; i < contacts->n; i++)
        limit += contacts->limit[law * contacts->n + i] * contacts->impulse[i];
    return fmax(limit, 0);
}

double
contact_speed_after(const Contacts *contacts, uint32_t law)
{
    double sum = contacts->speed[law];
    for (uint32_t i = 0; i < contacts->n; i++)
        sum += contacts->answer[law * contacts->n + i] * contacts->impulse[i];
    return sum;
}

// The impulse of a friction in a plane, which begins with law k: towards what holds it, and back onto the disk of its limit.
static double
sweep_disk(const Run *run, uint32_t k)
{
    Contacts *contacts = run->contacts;
    uint32_t n = run->model->sgn[k].of;
    double limit = contact_impulse_limit(contacts, k), most = 0, next[3], size = 0, largest = 0;
    for (uint32_t i = 0; i < n; i++) {
        double sum = 0;
        for (uint32_t j = 0; j < n; j++)
            sum += fabs(contacts->answer[(k + i) * contacts->n + k + j]);
        most = fmax(most, sum);
    }
    for (uint32_t i = 0; i < n && most > 0; i++) {
        next[i] = contacts->impulse[k + i] + contact_speed_after(contacts, k + i) / most;
        size += next[i] * next[i];
    }
    for (uint32_t i = 0; i < n && most > 0; i++) {
        next[i] *= size > limit * limit ? limit / sqrt(size) : 1;
        largest = fmax(largest, fabs((next[i] - contacts->impulse[k + i]) * most));
        contacts->impulse[k + i] = next[i];
    }
    return largest;
}

// One sweep over all impulses; the largest change.
static double
sweep(const Run *run, bool bilateral)
{
    Contacts *contacts = run->contacts;
    double largest = 0;
    for (uint32_t k = 0; k < contacts->n; k++) {
        double own = contacts->answer[k * contacts->n + k];
        if (run->model->sgn[k].disk && !bilateral) {
            if (contacts->part[k] && run->model->sgn[k].disk == 1)
                largest = fmax(largest, sweep_disk(run, k));
            continue;
        }
        // A friction p acts against its x.
        if (!contacts->part[k] || !(run->model->sgn[k].unilateral ? own > 0 : own < 0))
            continue;
        double after = contact_speed_after(contacts, k), old = contacts->impulse[k], next;
        if (bilateral) {
            next = old - after / own;
        } else if (run->model->sgn[k].unilateral) {
            next = fmax(old - (after + contacts->restitution[k] * contacts->speed[k]) / own, 0);
        } else {
            double limit = contact_impulse_limit(contacts, k);
            next = fmin(fmax(old - after / own, -limit), limit);
        }
        contacts->impulse[k] = next;
        largest = fmax(largest, fabs((next - old) * own));
    }
    return largest;
}

static void
solve_impulses(const Run *run, bool bilateral)
{
    Contacts *contacts = run->contacts;
    double fastest = 0;
    for (uint32_t k = 0; k < contacts->n; k++) {
        contacts->impulse[k] = 0;
        if (contacts->part[k])
            fastest = fmax(fastest, fabs(contacts->speed[k]));
    }
    for (int i = 0; i < SWEEPS; i++)
        if (sweep(run, bilateral) <= SETTLED * fastest)
            break;
}

// --- an impact

static bool
approaches(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return sgn->unilateral && sgn->level && friction_mode(run, law) != 0 && touches(run, law)
        && speed(run, law) < -SLOW * run->tolerance;
}

static void
choose_parts(Run *run)
{
    Contacts *contacts = run->contacts;
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        contacts->part[k] = sgn->unilateral && sgn->level && (contacts->closed[k] || touches(run, k));
        contacts->speed[k] = is_partner(sgn) ? speed(run, k) : 0;
        contacts->restitution[k] = sgn->unilateral && sgn->level == 2 ? run->v[sgn->a] : 0;
    }
    for (uint32_t k = 0; k < contacts->n; k++)
        for (uint32_t i = 0; i < contacts->n; i++)
            if (!run->model->sgn[k].unilateral && contacts->part[i] && contacts->limit[k * contacts->n + i] != 0)
                contacts->part[k] = 1;
}

// Limits of frictions are known when reactions are given.
int
contact_give(Run *run, const double *impulse)
{
    const Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    give_nothing(run);
    for (uint32_t k = 0; impulse && k < contacts->n; k++)
        if (model->sgn[k].unilateral && is_partner(&model->sgn[k]))
            give(run, k, impulse[k]);
    int status = evaluate_solved(run, true);
    if (!impulse || status != MDL_OK)
        return status;
    for (uint32_t k = 0; k < contacts->n; k++)
        if (!model->sgn[k].unilateral && contacts->part[k] && run->v[model->sgn[k].a] > 0) {
            // Where both are rounding of nothing, an open contact's, the share is no more than what friction can be.
            give(run, k, fmin(fmax(impulse[k] / run->v[model->sgn[k].a], -1), 1));
        }
    return evaluate_solved(run, true);
}

// The states after half of the jump, and then the whole jump as it is in the middle.
MDL_CHECKED static int
jump(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    double *y = run->v + model->y, *yp = run->v + model->yp;
    for (uint32_t i = 0; i < contacts->nx; i++) {
        double change = 0;
        for (uint32_t k = 0; k < contacts->n; k++)
            change += contacts->jump[k * contacts->nx + i] * contacts->impulse[k];
        y[i] = contacts->start[i] + 0.5 * change;
    }
    if (contact_give(run, NULL) != MDL_OK)
        return MDL_FAILED;
    memcpy(contacts->shifted, yp, contacts->nx * sizeof *yp);
    if (contact_give(run, contacts->impulse) != MDL_OK)
        return MDL_FAILED;
    for (uint32_t i = 0; i < contacts->nx; i++)
        y[i] = contacts->start[i] + yp[i] - contacts->shifted[i];
    return MDL_OK;
}

// Rebounds that the tolerance does not resolve: they do not happen. True when there was one.
static bool
drop_low_rebounds(Run *run)
{
    Contacts *contacts = run->contacts;
    bool any = false;
    for (uint32_t k = 0; k < contacts->n; k++) {
        if (!contacts->part[k] || !(contacts->restitution[k] > 0) || !(contacts->impulse[k] > 0))
            continue;
        double after = contact_speed_after(contacts, k), pull = -held(run, k);
        if (after > 0 && after * after < 2 * pull * UNRESOLVED * run->tolerance) {
            contacts->restitution[k] = 0;
            any = true;
        }
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
                        model->sgn[k].text ? model->sgn[k].text : "?", -speed(run, k));
            break;
        }
    return MDL_FAILED;
}

// The modes after the impact: what does not separate is closed, what does not slip sticks.
static void
set_modes(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    double slow = SLOW * run->tolerance;
    restore_modes(run);
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *sgn = &model->sgn[k];
        if (!is_partner(sgn))
            continue;
        if (sgn->disk > 1)
            continue;
        double after = sgn->disk ? disk_speed(run, k) : speed(run, k), mode = friction_mode(run, k);
        if (sgn->unilateral && contacts->part[k])
            friction_set(run, k, after > slow ? 1 : 0);
        else if (!sgn->unilateral && contacts->part[k] && fabs(after) <= slow)
            friction_set(run, k, 0);
        else if (!sgn->unilateral && (mode == 0 || sgn->disk) && fabs(after) > slow)
            friction_set(run, k, after < 0 ? -1 : 1);
    }
}

MDL_CHECKED static int
strike(Run *run)
{
    Contacts *contacts = run->contacts;
    const mdl_model *model = run->model;
    if (++contacts->strikes > STRIKES)
        return report_stuck(run, "impacts follow each other without end at this instant");
    save_modes(run);
    memcpy(contacts->start, run->v + model->y, contacts->nx * sizeof *contacts->start);
    if (measure(run) != MDL_OK)
        return MDL_FAILED;
    choose_parts(run);
    do {
        solve_impulses(run, false);
        if (jump(run) != MDL_OK)
            return MDL_FAILED;
        give_nothing(run);
        if (evaluate_solved(run, true) != MDL_OK)
            return MDL_FAILED;
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
    return *struck ? strike(run) : MDL_OK;
}

int
contact_event(Run *run)
{
    bool struck;
    if (!run->contacts)
        return MDL_OK;
    run->contacts->strikes = 0;
    // What opens at this event shall do so from zero.
    if (evaluate_solved(run, true) != MDL_OK || contact_close(run) != MDL_OK)
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
        bool open = sgn->level == 0 || !touches(run, k) || (sgn->level == 2 && fabs(speed(run, k)) > SLOW * run->tolerance);
        run->v[sgn->mode] = open;
    }
    return MDL_OK;
}

// --- drift

static bool
is_held(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    return is_partner(sgn) && friction_mode(run, law) == 0 && (sgn->unilateral || (sgn->state < 0 && friction_limit(run, law) > 0));
}

static bool
has_drifted(const Run *run, double allowed)
{
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        if (!is_held(run, k))
            continue;
        if (fabs(speed(run, k)) > allowed)
            return true;
        if (run->model->sgn[k].unilateral && run->model->sgn[k].level == 2 && fabs(contact_gap(run, k)) > allowed)
            return true;
    }
    return false;
}

static void
add_jumps(Run *run, double *to)
{
    Contacts *contacts = run->contacts;
    for (uint32_t i = 0; i < contacts->nx; i++)
        for (uint32_t k = 0; k < contacts->n; k++)
            to[i] += contacts->jump[k * contacts->nx + i] * contacts->impulse[k];
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
        bool zero = contacts->closed[k] || closes(run, k);
        contacts->part[k] = model->sgn[k].unilateral && model->sgn[k].level == 2 && zero;
        contacts->speed[k] = contacts->part[k] ? contact_gap(run, k) : 0;
        any = any || contacts->part[k];
    }
    if (!any)
        return MDL_OK;
    solve_impulses(run, true);
    memcpy(contacts->start, y, contacts->nx * sizeof *y);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    memcpy(contacts->shifted, yp, contacts->nx * sizeof *yp);
    add_jumps(run, y);
    if (evaluate_solved(run, true) != MDL_OK)
        return MDL_FAILED;
    for (uint32_t i = 0; i < contacts->nx; i++) {
        bool velocity = false;
        for (uint32_t k = 0; k < contacts->n; k++)
            velocity = velocity || contacts->jump[k * contacts->nx + i] != 0;
        y[i] = contacts->start[i] + (velocity ? 0 : yp[i] - contacts->shifted[i]);
    }
    return evaluate_solved(run, true);
}

MDL_CHECKED static int
move_back(Run *run)
{
    Contacts *contacts = run->contacts;
    if (measure(run) != MDL_OK)
        return MDL_FAILED;
    give_nothing(run);
    if (evaluate_solved(run, true) != MDL_OK || move_positions(run) != MDL_OK)
        return MDL_FAILED;
    for (uint32_t k = 0; k < contacts->n; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        contacts->part[k] = is_partner(sgn) && contacts->closed[k] && (sgn->unilateral || sgn->state < 0);
        contacts->speed[k] = is_partner(sgn) ? speed(run, k) : 0;
    }
    solve_impulses(run, true);
    add_jumps(run, run->v + run->model->y);
    return MDL_OK;
}

int
contact_measure(Run *run)
{
    Contacts *contacts = run->contacts;
    save_modes(run);
    int status = measure(run);
    restore_modes(run);
    for (uint32_t k = 0; k < contacts->n; k++)
        contacts->part[k] = is_held(run, k);
    return status;
}

int
contact_close(Run *run)
{
    if (!run->contacts || !has_drifted(run, 1e-4 * run->tolerance))
        return MDL_OK;
    save_modes(run);
    int status = move_back(run);
    if (run->sense)
        sense_moved(run);
    restore_modes(run);
    return status == MDL_OK ? friction_evaluate(run) : status;
}

int
contact_drifted(Run *run, bool *drifted)
{
    *drifted = false;
    if (!run->contacts)
        return MDL_OK;
    evaluate_load(run, run->time, run->y, run->yp);
    int status = evaluate_row(run, true);
    *drifted = status == MDL_OK && has_drifted(run, run->tolerance);
    if (*drifted)
        status = contact_close(run);
    if (*drifted && status == MDL_OK)
        evaluate_store(run);
    return status;
}
