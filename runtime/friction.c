// friction.c: modes of set-valued laws p in a*Sgn(x): slipping forward, slipping backward, sticking.
//
// Purpose: dry friction without regularisation: no creep, no chattering.
// Method: slip ends when x crosses zero; then sticking is tried (x is set to exactly zero) and kept while
//         |p| <= a, otherwise the law slips on in the direction of p. Of several laws the most violated
//         one changes,
//         one per evaluation, so that coupled contacts settle (Glocker, Set-Valued Force Laws, 2001,
//         chapter 6
//         states the complementarity problem that the settled modes solve).
// Contract: v was evaluated (p, a, dx valid) before friction_update. Complexity: O(laws).
#include <math.h>

#include "runtime/run.h"

static const double BAND = 1e-9; // of a: a sticking law is not released by rounding

static Guard *
guard_of(const Run *run, uint32_t law)
{
    return &run->guard[run->model->n_relations + run->model->n_time_relations + law];
}

double
friction_band(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    if (run->v[sgn->mode] == 0)
        return BAND * fabs(run->v[sgn->a]);
    return sgn->state >= 0 ? run->abstol[sgn->state] : 1e-3 * run->tolerance;
}

static double
sign_of(double x)
{
    return x < 0 ? -1 : 1;
}

void
friction_start(Run *run)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        const mdl_sgn *sgn = &model->sgn[k];
        double x = run->v[sgn->x];
        run->v[sgn->mode] = 1;
        if (fabs(x) > friction_band(run, k)) {
            run->v[sgn->mode] = sign_of(x);
        } else if (run->v[sgn->a] > 0) {
            run->v[sgn->mode] = 0;
            if (sgn->state >= 0)
                run->v[model->y + (uint32_t)sgn->state] = 0;
        }
    }
}

static void
set_mode(Run *run, uint32_t law, double mode)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    run->v[sgn->mode] = mode;
    if (mode == 0 && sgn->state >= 0) {
        run->v[run->model->y + (uint32_t)sgn->state] = 0;
        run->v[run->model->yp + (uint32_t)sgn->state] = 0;
    }
    guard_of(run, law)->forced = true;
    guard_of(run, law)->pending = false;
}

// How wrong the mode is, 0 when it is right; *mode is what it should be. Ranks: crossings first, then
// overloaded contacts by their relative overload, then contacts about to slip against their mode.
static double
violation(const Run *run, uint32_t law, double *mode)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    const Guard *guard = guard_of(run, law);
    double now = run->v[sgn->mode], x = run->v[sgn->x], a = run->v[sgn->a], p = run->v[sgn->p];
    *mode = now;
    if (now == 0) {
        *mode = sign_of(p);
        if (guard->held)
            return 0;
        double over = fabs(p) - fmax(a, 0);
        if (guard->pending)
            return 4;
        return over > BAND * fabs(a) ? 1 + over / (fabs(p) + fabs(a)) : 0;
    }
    if (!(a > 0)) {
        *mode = sign_of(now * x < 0 ? x : now);
        return 0;
    }
    double band = friction_band(run, law);
    if (guard->held)
        return 0;
    *mode = 0;
    if (guard->pending && now * x <= band)
        return 3;
    if (now * x < -band) {
        *mode = -now;
        return 5;
    }
    if (x == 0 && sgn->state >= 0 && now * run->v[sgn->dx] < 0)
        return fabs(run->v[sgn->dx]) / (1 + fabs(run->v[sgn->dx]));
    return 0;
}

bool
friction_update(Run *run)
{
    const mdl_model *model = run->model;
    uint32_t worst = 0;
    double most = 0, mode = 0;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        double wanted, size = violation(run, k, &wanted);
        if (size > most) {
            most = size;
            worst = k;
            mode = wanted;
        } else if (size == 0 && !(run->v[model->sgn[k].a] > 0) && run->v[model->sgn[k].mode] != 0) {
            run->v[model->sgn[k].mode] = wanted; // without friction the mode has no effect
        }
    }
    if (!(most > 0))
        return false;
    Guard *guard = guard_of(run, worst);
    // A release that the root finder located stands: evaluated again, p is within rounding of a and could
    // be taken for sticking.
    guard->held = guard->pending && run->v[model->sgn[worst].mode] == 0;
    set_mode(run, worst, mode);
    return true;
}

double
friction_guard(const Run *run, uint32_t law)
{
    const mdl_sgn *sgn = &run->model->sgn[law];
    double mode = run->v[sgn->mode], a = run->v[sgn->a];
    if (mode == 0)
        return a - fabs(run->v[sgn->p]);
    return a > 0 ? mode * run->v[sgn->x] : fabs(run->v[sgn->x]) + 1;
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
