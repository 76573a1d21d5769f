// several.c: contacts that may as well be open.
//
// Purpose: friction whose limit grows with its own normal force can make a rigid contact have several solutions (Painleve): a rod that slides may
//          stay on the floor, pressed down by the friction that its reaction makes, or lift off. No law of rigid bodies says which it is. The
//          run goes on with the one that the search has found, and says so once. Three feet of one body in a line that slide with different friction have as
//          many motions as there are ways to share the load.
// Method: behind an event each closed constraint with a reaction is opened by itself. Where the gap then grows, and no other contact and no
//         sticking friction breaks its law, that is a solution, too (Genot and Brogliato, Eur. J. Mech. A/Solids 18 (1999) 653). Of reactions that others hold
//         (friction_share.c) each is changed by itself: what it moves would be moved otherwise with another choice.
// Contract: law.h. Complexity: an evaluation per closed constraint and event, in models where a friction slips; nothing in others.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/contact.h"
#include "runtime/law/friction_inner.h"
#include "runtime/point/point.h"

enum { TOLD_SEVERAL = 4, TOLD_OPEN = 8, CONTACTS_MOST = 50 };
static const double CLEAR = 1e-6; // of what the friction changes of the gap's acceleration, and of the largest reaction

static bool
is_closed(const Run *run, uint32_t k)
{
    const mdl_sgn *sgn = &run->model->sgn[k];
    return sgn->unilateral && sgn->level > 0 && friction_mode(run, k) == 0 && !run->friction->carried[k];
}

// A friction slips, and few contacts are closed.
static bool
may_be_several(const Run *run)
{
    uint32_t closed = 0;
    bool slips = false;
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        closed += is_closed(run, k);
        slips = slips || (!run->model->sgn[k].unilateral && friction_mode(run, k) != 0 && friction_limit(run, k) > 0);
    }
    return slips && closed > 0 && closed <= CONTACTS_MOST;
}

// With contact `law` open at the point in v: its gap grows, and the others keep their laws.
static bool
opens_as_well(Run *run, uint32_t law)
{
    double least = CLEAR * run->friction->reaction;
    if (!(contact_held(run, law) > CLEAR))
        return false;
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        bool sticks = !sgn->unilateral && !sgn->disk && !sgn->play && friction_mode(run, k) == 0;
        if (k != law && is_closed(run, k) && contact_force(run, k) < -least)
            return false;
        if (sticks && fabs(run->v[sgn->p]) > friction_limit(run, k) + least)
            return false;
    }
    return true;
}

// What a push of a carried law, that others hold, changes most of the derivatives of states.
static double
moved_by(Run *run, const double *kept, uint32_t law, double push)
{
    const mdl_model *model = run->model;
    double most = 0;
    run->v[model->sgn[law].mode] += push;
    bool solved = evaluate_solved(run, false) == MDL_OK;
    for (uint32_t i = 0; i < model->nx && solved; i++)
        most = fmax(most, fabs(run->v[model->yp + i] - kept[model->yp + i]));
    failure_clear(run);
    memcpy(run->v, kept, model->nv * sizeof *kept);
    return most;
}

// Forces that others hold do not move anything, unless they load frictions that slip, each with a coefficient of its own.
static void
tell_open(Run *run, const double *kept)
{
    Friction *friction = run->friction;
    double push = fmax(friction->reaction, 1);
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        bool looked_at = sgn->unilateral && sgn->level > 0 && friction->carried[k] && !(friction->told[k] & TOLD_OPEN);
        if (!looked_at || !(moved_by(run, kept, k, push) > CLEAR * friction->scale[k] * push))
            continue;
        for (uint32_t other = 0; other < run->model->n_sgns; other++)
            friction->told[other] |= TOLD_OPEN;
        run_message(run, MDL_WARNING, "at time %.12g: nothing determines how rigid contacts share their load here, and the motion depends on it, since they "
                    "slide with different friction; the least reactions are taken, this one is %.6g\n  %s\nhelp: with contacts that give way, a spring "
                    "and a damper, or with the same coefficient of friction, there is one motion", run->v[0], contact_force(run, k),
                    sgn->text ? sgn->text : "(a contact without a name)");
    }
}

int
contact_tell_several(Run *run)
{
    size_t bytes = run->model->nv * sizeof *run->v;
    if (!run->friction || !may_be_several(run))
        return MDL_OK;
    double *kept = malloc(bytes);
    if (!kept)
        return MDL_INTERNAL;
    memcpy(kept, run->v, bytes);
    tell_open(run, kept);
    for (uint32_t k = 0; k < run->model->n_sgns; k++) {
        const mdl_sgn *sgn = &run->model->sgn[k];
        double reaction = contact_force(run, k);
        if (!is_closed(run, k) || (run->friction->told[k] & TOLD_SEVERAL) || !(reaction > CLEAR * run->friction->reaction))
            continue;
        run->v[sgn->mode] = 1;
        bool other = evaluate_solved(run, false) == MDL_OK;
        if (other)
            evaluate_outputs(run);
        other = other && opens_as_well(run, k);
        failure_clear(run);
        memcpy(run->v, kept, bytes);
        if (!other)
            continue;
        run->friction->told[k] |= TOLD_SEVERAL;
        run_message(run, MDL_WARNING, "at time %.12g: rigid bodies with friction have several motions here: this contact may stay closed, with the "
                    "reaction %.6g, or open (Painleve: friction grows with the reaction that it makes); it stays closed\n  %s\nhelp: a contact "
                    "that gives way, a spring and a damper, has one", run->v[0], reaction, sgn->text ? sgn->text : "(a contact without a name)");
    }
    free(kept);
    return MDL_OK;
}
