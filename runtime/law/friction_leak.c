// friction_leak.c: modes of ideal diodes, found with a small leak.
//
// Purpose: closed diodes have no voltage and open ones no current, so that a wrong choice leaves a singular model, from which no search goes on.
// Method: each diode gets a small resistance while it is closed and a small conductance while it is open (ir/operator/leak.c), with which the
//         model is regular, and modes are exchanged until none is wrong. Where they would not last, as of sources that cross at this
//         instant, the modes are those a little later.
// Contract: law.h. Complexity: one evaluation of the model per exchange.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/friction_inner.h"
#include "runtime/point/point.h"

static const double LEAK = 1e-8; // in SI units: closed a resistance, open a conductance

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
                friction_set(run, k, 0);
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
    double least = fmax(FRICTION_BAND * run->friction->reaction, FRICTION_ZERO);
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
