// history.c: IDA's history: starting again at order 3 instead of 1, the terms of the last step's polynomial, projection.
//
// Purpose: after an event a multistep method has no past. From order 1 it needs many short steps before order
//          and step are what the motion admits.
// Method: Runge-Kutta starter (Gear, ACM TOMS 6 (1980) 263). Two evaluations give derivatives to second order
//         at the end of a short interval, one in its middle; with that of the event they determine a polynomial
//         y(s) of degree 3. What it has at -h, -2h, -3h is the past that a motion without the event would have
//         had; modified divided differences of constant steps are backward differences (Brenan, Campbell and
//         Petzold, Numerical Solution of Initial-Value Problems in DAEs, 1996, 5.2). One more evaluation at
//         twice the interval does not enter the polynomial: how far it is from it tells the error, and so the step.
//           An event that changes nothing in the motion leaves the polynomial of the last step: its values at constant
//           steps back from the event are the past.
// Contract: see history.h. Loops' unknowns are no part of the error test; theirs is the parabola through three
//           values.
// Complexity: four to nineteen evaluations of the model, linear in its size otherwise.
#include "runtime/solver/history.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <nvector/nvector_serial.h>

#include "runtime/linear/nvector.h"
#include "runtime/point/point.h"
#include "runtime/point/snapshot.h"
#include "runtime/solver/ida_private.h"

enum { ORDER = 3, ROUNDS = 4 };

struct History {
    uint32_t ny;
    double *first, *second, *third; // coefficients of s, s^2, s^3
    double *middle, *end;           // derivatives of states, values of loops' unknowns
    double *check;
    // Of history_keep(): the values of the polynomial's past become differences, in these.
    double *difference[HISTORY_TERMS];
    int order;
    double spacing, step;           // of the past; the next one
};

History *
history_create(uint32_t ny)
{
    History *history = calloc(1, sizeof *history);
    double *data = calloc(6 * (size_t)ny + 1, sizeof *data);
    if (!history || !data) {
        free(history);
        free(data);
        return NULL;
    }
    history->ny = ny;
    double **part[] = {&history->first, &history->second, &history->third, &history->middle, &history->end,
                       &history->check};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++)
        history->difference[k] = *part[k] = data + k * ny;
    return history;
}

void
history_free(History **history)
{
    if (*history)
        free((*history)->first);
    free(*history);
    *history = NULL;
}

// --- the polynomial

// Evaluates the model at `s` after the restart with the states on the polynomial. False: it has no values there.
static bool
sample(const History *history, Run *run, double s, double *out)
{
    const mdl_model *model = run->model;
    double *v = run->v;
    v[0] = run->time + s;
    nvector_cubic(run->y, history->first, history->second, history->third, s, v + model->y, model->nx);
    bool good = evaluate_solved(run, false) == MDL_OK;
    memcpy(out, v + model->yp, model->nx * sizeof *out);
    memcpy(out + model->nx, v + model->y + model->nx, (history->ny - model->nx) * sizeof *out);
    return good && nvector_finite(out, history->ny);
}

static void
restore(Run *run)
{
    const mdl_model *model = run->model;
    run->v[0] = run->time;
    memcpy(run->v + model->y, run->y, model->n * sizeof *run->v);
    memcpy(run->v + model->yp, run->yp, model->n * sizeof *run->v);
}

// Degree 2, from the derivatives at both ends.
static void
fit_parabola(History *history, const Run *run, double s)
{
    for (uint32_t i = 0; i < run->model->nx; i++) {
        history->first[i] = run->yp[i];
        history->second[i] = (history->end[i] - run->yp[i]) / (2 * s);
    }
}

// Degree 3, from the derivatives at both ends and in the middle.
static void
fit_cubic(History *history, const Run *run, double s)
{
    for (uint32_t i = 0; i < history->ny; i++) {
        double start = i < run->model->nx ? run->yp[i] : run->y[i];
        double slope = (4 * history->middle[i] - 3 * start - history->end[i]) / s;
        double bend = 2 * (start - 2 * history->middle[i] + history->end[i]) / (s * s);
        bool state = i < run->model->nx;
        history->first[i] = state ? start : slope;
        history->second[i] = state ? slope / 2 : bend;
        history->third[i] = state ? bend / 3 : 0;
    }
}

// The polynomial over `s` and more; false when the model has no values there.
static bool
fit(History *history, Run *run, double s)
{
    uint32_t nx = run->model->nx;
    memcpy(history->first, run->yp, nx * sizeof *history->first);
    memset(history->second, 0, nx * sizeof *history->second);
    memset(history->third, 0, nx * sizeof *history->third);
    if (!sample(history, run, s, history->end))
        return false;
    fit_parabola(history, run, s);
    if (!sample(history, run, s, history->end))
        return false;
    fit_parabola(history, run, s);
    if (!sample(history, run, s / 2, history->middle))
        return false;
    fit_cubic(history, run, s);
    return true;
}

// The error of a step of order 3 and size h, h^4 |y''''| / 4, in units of what is allowed. The polynomial's derivative
// interpolates at 0, h/4, h/2; at h it is wrong by h^3 y'''' / 16. Negative: the model has no values there.
static double
error_of_step(History *history, Run *run, const double *weight, double h)
{
    uint32_t nx = run->model->nx;
    double sum = 0;
    if (!sample(history, run, h, history->check))
        return -1;
    for (uint32_t i = 0; i < nx; i++) {
        double slope = history->first[i] + h * (2 * history->second[i] + h * 3 * history->third[i]);
        double error = 4 * h * (history->check[i] - slope) * weight[i];
        sum += error * error;
    }
    double size = sqrt(sum / nx);
    return isfinite(size) ? size : -1;
}

// Steps are shortened until the error is accepted; after a guess that was much too short longer ones are tried.
double
history_estimate(History *history, Run *run, const double *weight, double guess, double most, double least)
{
    const double aim = 0.003, accepted = 0.02, tiny = 2e-4;
    double h = fmin(guess, most), good = 0;
    for (int round = 0; round < ROUNDS && h > least; round++) {
        double error = fit(history, run, h / 2) ? error_of_step(history, run, weight, h) : -1;
        double factor = error < 0 ? 0.1 : error > 0 ? sqrt(sqrt(aim / error)) : INFINITY;
        bool small = error >= 0 && error <= accepted;
        if (small)
            good = h;
        if (small && (error >= tiny || h >= most))
            break;
        h = fmin(h * fmax(fmin(factor, 8), 0.05), most);
    }
    // The polynomial must be the one of the step that is taken.
    if (good > 0 && good != h && !fit(history, run, good / 2))
        good = 0;
    restore(run);
    return good;
}

// --- the memory of IDA

// Backward differences of constant steps h.
static void
fill_differences(const History *history, IDAMem memory, double h)
{
    double *one = NV_DATA_S(memory->ida_phi[1]), *two = NV_DATA_S(memory->ida_phi[2]);
    double *three = NV_DATA_S(memory->ida_phi[3]);
    for (uint32_t i = 0; i < history->ny; i++) {
        double a = history->first[i] * h, b = history->second[i] * h * h, c = history->third[i] * h * h * h;
        one[i] = a - b + c;
        two[i] = 2 * b - 6 * c;
        three[i] = 6 * c;
    }
}

// The memory after IDAReInit is that of `order` constant steps of size `spacing`, and of a next one of size `step`.
static void
set_past(IDAMem memory, int order, double spacing, double step)
{
    for (int k = 0; k < order; k++)
        memory->ida_psi[k] = (k + 1) * spacing;
    memory->ida_kk = memory->ida_kused = memory->ida_knew = order;
    memory->ida_hh = memory->ida_h0u = step;
    // There is no last step to interpolate in; this also makes IDA compute the coefficients of its first one.
    memory->ida_hused = 0;
    memory->ida_ns = 0;
    // Not the first step, in which IDA would set up order 1; the ratio of the cj asks for a new matrix.
    memory->ida_nst = 1;
    memory->ida_cj = memory->ida_cjlast = 1 / step;
    memory->ida_cjold = memory->ida_cj * 1e-6;
    memory->ida_cjratio = 1;
    memory->ida_ss = 100;
    memory->ida_tretlast = memory->ida_tn;
    memory->ida_SetupDone = SUNTRUE;
}

bool
history_install(const History *history, void *ida, double step)
{
    IDAMem memory = ida;
    if (memory->ida_maxord <= ORDER || step * memory->ida_hmax_inv > 1)
        return false;
    fill_differences(history, memory, step);
    set_past(memory, ORDER, step, step);
    // Order and step may rise with each step until the error test objects, as after a start at order 1.
    memory->ida_phase = 0;
    return true;
}

// What IDASolve() finds of the steps before: the rest of the memory is settings, or set before it is read. The first call of a start sets
// where the weights' function finds the run; a memory that was put in the place of another does not make that call.
void
history_snapshot(void *ida, uint32_t n, Snapshot *snapshot)
{
    IDAMem memory = ida;
    for (int k = 0; k < MXORDP1; k++) {
        if (snapshot->to && k > memory->ida_kused + 1 && k > memory->ida_kk + 1) // nothing was written there
            memset(NV_DATA_S(memory->ida_phi[k]), 0, n * sizeof(double));
        snapshot_part(snapshot, NV_DATA_S(memory->ida_phi[k]), n * sizeof(double));
    }
    realtype *row[] = {memory->ida_psi, memory->ida_alpha, memory->ida_beta, memory->ida_sigma, memory->ida_gamma};
    for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        snapshot_part(snapshot, row[k], MXORDP1 * sizeof *row[k]);
    int *whole[] = {&memory->ida_kk, &memory->ida_kused, &memory->ida_knew, &memory->ida_phase, &memory->ida_ns, &memory->ida_SetupDone};
    for (size_t k = 0; k < sizeof whole / sizeof *whole; k++)
        snapshot_part(snapshot, whole[k], sizeof *whole[k]);
    realtype *number[] = {&memory->ida_hin, &memory->ida_h0u, &memory->ida_hh, &memory->ida_hused, &memory->ida_eta, &memory->ida_tn,
                          &memory->ida_tretlast, &memory->ida_cj, &memory->ida_cjlast, &memory->ida_cjold, &memory->ida_cjratio,
                          &memory->ida_ss, &memory->ida_oldnrm, &memory->ida_epsNewt, &memory->ida_toldel, &memory->ida_tolsf};
    for (size_t k = 0; k < sizeof number / sizeof *number; k++)
        snapshot_part(snapshot, number[k], sizeof *number[k]);
    long int *count[] = {&memory->ida_nst, &memory->ida_nre, &memory->ida_ncfn, &memory->ida_netf, &memory->ida_nni, &memory->ida_nnf,
                         &memory->ida_nsetups};
    for (size_t k = 0; k < sizeof count / sizeof *count; k++)
        snapshot_part(snapshot, count[k], sizeof *count[k]);
    if (!snapshot->from)
        return;
    memory->ida_tstopset = SUNFALSE; // the next step has its own
    memory->ida_edata = memory->ida_user_data;
}

// The polynomial of IDA's last step `back` before `time`.
static void
value_before(const History *history, void *ida, double time, double back, double *out)
{
    double factor[HISTORY_TERMS];
    const double *term[HISTORY_TERMS];
    uint32_t terms = history_terms(ida, time - back, factor, NULL, term);
    nvector_combine(NULL, factor, term, (int)terms, out, history->ny);
}

bool
history_keep(History *history, void *ida, double time)
{
    const IDAMem memory = ida;
    int order = memory->ida_kused;
    double behind = memory->ida_tn - time, length = memory->ida_psi[order > 0 ? order - 1 : 0];
    bool starting = memory->ida_phase == 0; // order and step still rise with each step: a start finds better ones
    if (starting || order < 1 || memory->ida_hused <= 0 || behind < 0 || behind >= memory->ida_hused || memory->ida_hh <= 0)
        return false;
    // The past reaches back as far as the polynomial was fitted, but for order 1, which is as good anywhere.
    history->spacing = order == 1 ? memory->ida_hused : (length - behind) / order;
    // A longer step was meant for the next order where that was to rise.
    history->step = memory->ida_kk > order ? fmin(memory->ida_hh, memory->ida_hused) : memory->ida_hh;
    history->order = order;
    for (int k = 0; k <= order; k++)
        value_before(history, ida, time, k * history->spacing, history->difference[k]);
    // Backward differences: of constant steps, these are the modified divided ones.
    for (int level = 1; level <= order; level++)
        for (int k = order; k >= level; k--)
            for (uint32_t i = 0; i < history->ny; i++)
                history->difference[k][i] = history->difference[k - 1][i] - history->difference[k][i];
    return true;
}

void
history_resume(const History *history, void *ida)
{
    IDAMem memory = ida;
    for (int k = 1; k <= history->order; k++)
        memcpy(NV_DATA_S(memory->ida_phi[k]), history->difference[k], history->ny * sizeof(double));
    set_past(memory, history->order, history->spacing, history->step);
    memory->ida_phase = 1;
}

_Static_assert(HISTORY_TERMS >= MXORDP1, "the polynomial of the highest order has as many terms");

// The polynomial of Newton's form through the latest points (Brenan, Campbell and Petzold, 5.2.2), as IDAGetDky() has it; the
// slopes by the rule for products.
uint32_t
history_terms(void *ida, double time, double *factor, double *slope, const double **term)
{
    const IDAMem memory = ida;
    double distance = time - memory->ida_tn, before = 0, rate = 0;
    if (memory->ida_kused < 1 || memory->ida_hused == 0)
        return 0;
    factor[0] = 1;
    term[0] = NV_DATA_S(memory->ida_phi[0]);
    if (slope)
        slope[0] = 0;
    for (int k = 1; k <= memory->ida_kused; k++) {
        double psi = memory->ida_psi[k - 1];
        factor[k] = factor[k - 1] * (distance + before) / psi;
        if (slope) {
            rate = (rate * (distance + before) + factor[k - 1]) / psi;
            slope[k] = rate;
        }
        before = psi;
        term[k] = NV_DATA_S(memory->ida_phi[k]);
    }
    return (uint32_t)memory->ida_kused + 1;
}

void
history_last(void *ida, double *step, int *order)
{
    const IDAMem memory = ida;
    *step = memory->ida_hused;
    *order = memory->ida_kused;
}

// The basis polynomials of the differences grow with the distance from the last step; that of the order that the next step may
// have counts, too.
uint32_t
history_differences(void *ida, double steps, const double **difference, double *factor, double *next)
{
    const IDAMem memory = ida;
    int order = memory->ida_kk > memory->ida_kused ? memory->ida_kk : memory->ida_kused;
    if (memory->ida_kused < 1 || memory->ida_hused == 0)
        return 0;
    double far = steps * memory->ida_hh, before = 0, product = 1;
    difference[0] = NV_DATA_S(memory->ida_phi[0]);
    for (int k = 1; k <= order; k++) {
        double psi = memory->ida_psi[k - 1];
        difference[k] = NV_DATA_S(memory->ida_phi[k]);
        product *= (far + before) / psi;
        before = psi;
        if (factor)
            factor[k] = product > steps ? product : steps;
    }
    *next = memory->ida_hh;
    return (uint32_t)order + 1;
}

void
history_shift(void *ida, const double *shift, uint32_t n)
{
    double *newest = NV_DATA_S(((IDAMem)ida)->ida_phi[0]);
    for (uint32_t i = 0; i < n; i++)
        newest[i] += shift[i];
}
