// fit_runs.c: residuals of runs, with their derivatives.
//
// Purpose: all files as functions of the free quantities. Method: one run for each file gives values with their derivatives (trial.c) at the times of the data; where a run
// has no sensitivities they are central differences of runs. Contract: fit_inner.h. Complexity: runs; data times quantities for each.
#include "frontend/search/fit_inner.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- an evaluation

typedef struct RowTaker {
    Experiment *e;
    bool derivatives;
    uint32_t seen;              // rows of the run at the present time
    double time;
} RowTaker;

// Values at the times of data: behind an event, but before it for the first of several data at one time.
static void
take_row(void *user, const double *value)
{
    RowTaker *taker = user;
    Experiment *e = taker->e;
    const Trial *trial = &e->trial;
    uint32_t n = trial->free->n, rows = e->data.rows;
    while (e->row < rows && e->data.time[e->row] < value[0])
        e->row++;
    taker->seen = value[0] == taker->time ? taker->seen + 1 : 1;
    taker->time = value[0];
    bool several = e->row + 1 < rows && e->data.time[e->row + 1] == value[0];
    for (uint32_t row = e->row + (several && taker->seen > 1); row < rows && e->data.time[row] == value[0]; row++)
        for (uint32_t c = 0; c < e->columns; c++) {
            size_t at = (size_t)row * e->columns + c;
            e->value[at] = value[1 + c];
            for (uint32_t k = 0; k < n && taker->derivatives; k++)
                e->derivative[at * n + k] = value[trial_derivative(trial, c, k)];
        }
}

static bool
run_experiment(Experiment *e, const double *x, bool derivatives)
{
    size_t size = (size_t)e->data.rows * e->columns;
    RowTaker taker = {.e = e, .derivatives = derivatives, .time = NAN};
    e->row = 0;
    for (size_t at = 0; at < size; at++)
        e->value[at] = NAN;
    if (!trial_run(&e->trial, x, derivatives, take_row, &taker))
        return false;
    for (size_t at = 0; at < size; at++)
        if (!isfinite(e->value[at]) && !isnan(e->measured[at])) {
            snprintf(e->trial.said, sizeof e->trial.said, "the model ends at time %.9g, before the data do", taker.time);
            return false;
        }
    return true;
}

double
fit_deviation(const Fit *fit, const Experiment *e, size_t at)
{
    return isnan(e->deviation[at]) ? fit->kind[e->column[at % e->columns].kind].deviation : e->deviation[at];
}

// Residuals of one experiment from e->value.
static void
put_residuals(const Fit *fit, const Experiment *e, double *residual)
{
    uint32_t i = e->first;
    for (size_t at = 0; at < (size_t)e->data.rows * e->columns; at++)
        if (!isnan(e->measured[at]))
            residual[i++] = (e->value[at] - e->measured[at]) / fit_deviation(fit, e, at);
}

static void
put_derivatives(const Fitting *f, const Experiment *e, double *jacobian)
{
    uint32_t i = e->first, n = f->fit->free->n, m = f->problem.m;
    for (size_t at = 0; at < (size_t)e->data.rows * e->columns; at++) {
        if (isnan(e->measured[at]))
            continue;
        for (uint32_t k = 0; k < n; k++)
            jacobian[(size_t)k * m + i] = e->derivative[at * n + k] / fit_deviation(f->fit, e, at);
        i++;
    }
}

static bool
note_failure(Fitting *f, const Experiment *e)
{
    snprintf(f->fit->said, sizeof f->fit->said, "%s", e->trial.said);
    return false;
}

// Central differences for one experiment; where one side has no run, of the other side alone.
static bool
differ(Fitting *f, Experiment *e, const double *x, double *residual, double *jacobian)
{
    const Fit *fit = f->fit;
    uint32_t n = fit->free->n, m = f->problem.m;
    double *moved = base_calloc(n + 1, sizeof *moved);
    bool good = true;
    for (uint32_t k = 0; k < n && good; k++) {
        const FreeQuantity *q = &fit->free->at[k];
        double size = fabs(x[k]) > 0 ? fabs(x[k]) : isfinite(q->high - q->low) ? q->high - q->low : 1, at[2];
        double *column = jacobian + (size_t)k * m;
        bool side[2];
        for (int s = 0; s < 2; s++) {
            double *to = s ? f->shifted : column;
            memcpy(moved, x, n * sizeof *moved);
            at[s] = moved[k] = fmin(fmax(x[k] + (s ? f->step : -f->step) * size, q->low), q->high);
            side[s] = at[s] != x[k] && run_experiment(e, moved, false);
            if (side[s]) {
                put_residuals(fit, e, to);
            } else {
                at[s] = x[k];
                memcpy(to + e->first, residual + e->first, (m - e->first) * sizeof *to);
            }
        }
        good = side[0] || side[1];
        uint32_t end = e + 1 < fit->experiment + fit->experiments ? e[1].first : m;
        for (uint32_t i = e->first; i < end && good; i++)
            column[i] = (f->shifted[i] - column[i]) / (at[1] - at[0]);
    }
    free(moved);
    return good;
}

static bool
evaluate_experiment(Fitting *f, Experiment *e, const double *x, double *residual, double *jacobian)
{
    Fit *fit = f->fit;
    bool exact = jacobian && run_experiment(e, x, true);
    if (exact) {
        put_residuals(fit, e, residual);
        put_derivatives(f, e, jacobian);
        return true;
    }
    if (jacobian && e->trial.options.interrupt && *e->trial.options.interrupt)
        return note_failure(f, e);
    char said[sizeof e->trial.said];
    snprintf(said, sizeof said, "%s", e->trial.said);
    if (!run_experiment(e, x, false))
        return note_failure(f, e);
    put_residuals(fit, e, residual);
    if (!jacobian)
        return true;
    // There is a run, but it has no sensitivities.
    e->trial.failed--;
    if (!fit->by_differences++)
        snprintf(fit->reason, sizeof fit->reason, "%s", said);
    f->problem.apart = true;
    f->problem.resolution = 1e-5;
    return differ(f, e, x, residual, jacobian) || note_failure(f, e);
}

bool
fit_evaluate(void *user, const double *x, double *residual, double *jacobian)
{
    Fitting *f = user;
    bool good = true;
    for (uint32_t i = 0; i < f->fit->experiments && good; i++)
        good = evaluate_experiment(f, &f->fit->experiment[i], x, residual, jacobian);
    for (uint32_t i = 0; i < f->problem.m && good; i++)
        good = isfinite(residual[i]);
    for (size_t i = 0; i < (size_t)f->problem.m * f->problem.n && good && jacobian; i++)
        good = isfinite(jacobian[i]);
    return good;
}
