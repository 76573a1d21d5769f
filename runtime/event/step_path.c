// step_path.c: where the states go within the last step.
//
// Purpose: functions of states can be bounded over a step where the states can.
// Method: both ends of a step and the rates there bound where a state gets to, at no cost; that decides nearly always. The polynomial of the integrator, taken
//         at Chebyshev's points, says more: its Taylor coefficients in the middle of a stretch bound value and two derivatives there. Where somebody else
//         integrates, the steps are what lies between the points that he looks at, and their polynomials are Hermite's cubics.
// Contract: step_path.h. Complexity: six or nine interpolations for the polynomials of a step; a forecast costs its operations.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/event/step_path.h"
#include "runtime/point/part.h"
#include "runtime/point/point.h"

enum { LOW_NODES = 6 };
static const double ROUNDING = 64 * DBL_EPSILON;
static const double BEYOND_HULL = 0.25; // of its width

// Backward differences have polynomials of degree five.
static uint32_t
nodes_of(const Run *run)
{
    bool low = run->solver == MDL_SOLVER_IDA || run->solver == MDL_SOLVER_CVODE;
    return low && !run->model->n_constraints ? LOW_NODES : PATH_NODES;
}

// Chebyshev's points, from the beginning of a step to its end, and the coefficients of Lagrange's polynomials.
static void
set_inverse(StepPath *path)
{
    for (uint32_t i = 0; i < path->nodes; i++)
        path->node[i] = -cos(acos(-1) * i / (path->nodes - 1));
    for (uint32_t i = 0; i < path->nodes; i++) {
        double product[PATH_NODES + 1] = {1}, scale = 1;
        uint32_t degree = 0;
        for (uint32_t j = 0; j < path->nodes; j++) {
            if (j == i)
                continue;
            for (uint32_t k = ++degree; k > 0; k--)
                product[k] = product[k - 1] - path->node[j] * product[k];
            product[0] *= -path->node[j];
            scale *= path->node[i] - path->node[j];
        }
        for (uint32_t k = 0; k < path->nodes; k++)
            path->inverse[k][i] = product[k] / scale;
    }
}

static void
mark_states(const mdl_model *model, StepPath *path, const mdl_forecast *forecast, uint32_t n)
{
    for (uint32_t k = 0; k < n; k++)
        for (uint32_t i = 0; i < forecast[k].count; i++) {
            const mdl_timely *at = &model->timely[forecast[k].first + i];
            if (at->op == MDL_TIMELY_STATE)
                path->slot[at->a] = 1;
        }
}

MDL_CHECKED static int
path_create(Run *run)
{
    const mdl_model *model = run->model;
    if (!model->n_courses && !model->n_drifts)
        return MDL_OK;
    StepPath *path = run->path = calloc(1, sizeof *path);
    if (!path)
        return MDL_INTERNAL;
    path->slot = calloc(model->nx + 1, sizeof *path->slot);
    path->state = malloc((model->nx + 1) * sizeof *path->state);
    path->reg = malloc(MDL_TIMELY_MOST * sizeof *path->reg);
    path->value = malloc(MDL_TIMELY_MOST * sizeof *path->value);
    path->kept = malloc(model->nv * sizeof *path->kept);
    path->start = NAN;
    path->unknowns = run->modes ? run_size(run) : model->n;
    path->begin = malloc((4 * (size_t)path->unknowns + 1) * sizeof *path->begin);
    if (!path->slot || !path->state || !path->reg || !path->value || !path->kept || !path->begin)
        return MDL_INTERNAL;
    path->rate = path->begin + path->unknowns;
    path->within = path->rate + path->unknowns;
    mark_states(model, path, model->course, model->n_courses);
    mark_states(model, path, model->drift, model->n_drifts);
    for (uint32_t i = 0; i < model->nx; i++)
        if (path->slot[i]) {
            path->slot[i] = path->states;
            path->state[path->states++] = i;
        }
    path->reach = calloc(path->states + 1, sizeof *path->reach);
    path->sample = calloc(2 * PATH_NODES * (size_t)path->states + 1, sizeof *path->sample);
    path->coefficient = path->sample ? path->sample + PATH_NODES * (size_t)path->states : NULL;
    return path->reach && path->sample ? MDL_OK : MDL_INTERNAL;
}

static void
step_path_free(Run *run)
{
    StepPath *path = run->path;
    if (!path)
        return;
    free(path->slot);
    free(path->state);
    free(path->reg);
    free(path->value);
    free(path->kept);
    free(path->begin);
    free(path->reach);
    free(path->sample);
    free(path);
    run->path = NULL;
}

static void
begin_at(StepPath *path, double time, const double *y, const double *yp)
{
    path->start = time;
    path->reached = path->taken = false;
    memcpy(path->begin, y, path->unknowns * sizeof *path->begin);
    memcpy(path->rate, yp, path->unknowns * sizeof *path->rate);
}

void
path_begin(Run *run)
{
    if (run->path)
        begin_at(run->path, run->time, run->y, run->yp);
}

void
path_break(Run *run)
{
    if (run->path)
        run->path->start = NAN;
    drift_forget(run);
}

// The path ends here, and begins where the latest look has ended that saw nothing (path_go_on), or at the end of the latest accepted step where that is
// nearer. False: there is no such path.
static bool
path_follow(Run *run, double time, const double *y, const double *yp)
{
    StepPath *path = run->path;
    bool elsewhere = !(path->start < time) || run->time > path->start;
    if (!isnan(path->start) && elsewhere && run->time < time)
        begin_at(path, run->time, run->y, run->yp);
    path->cubic = true;
    path->end = time;
    path->y = y;
    path->yp = yp;
    path->reached = path->taken = false;
    return path->start < time;
}

static void
path_go_on(Run *run)
{
    StepPath *path = run->path;
    begin_at(path, path->end, path->y, path->yp);
}

void
path_glimpse(Run *run, double time, const double *y, const double *yp, double *value, uint32_t n)
{
    if (!run->path)
        return;
    bool follows = path_follow(run, time, y, yp), changed = false;
    if (follows) {
        for (uint32_t k = 0; k < n; k++)
            changed = changed || !(value[k] > 0);
        changed = course_glimpse(run, value) || changed;
    }
    if (run->model->n_drifts) {
        double left = follows ? drift_glimpse(run) : 1;
        value[n] = left == 0 ? DBL_MIN : left;
        changed = changed || left < 0;
    }
    if (follows ? !changed : !(time < run->path->start))
        path_go_on(run);
}

void
path_return(Run *run)
{
    const StepPath *path = run->path;
    run->time = path->start;
    memcpy(run->y, path->begin, path->unknowns * sizeof *run->y);
    memcpy(run->yp, path->rate, path->unknowns * sizeof *run->yp);
}

double
path_time(const StepPath *path, double place)
{
    return path->middle + path->half * place;
}

void
path_reach(Run *run)
{
    StepPath *path = run->path;
    if (path->reached)
        return;
    if (!path->cubic) {
        path->end = run->time;
        path->y = run->y;
        path->yp = run->yp;
    }
    double length = path->end - path->start;
    path->half = length / 2;
    path->middle = path->start + path->half;
    for (uint32_t k = 0; k < path->states; k++) {
        uint32_t i = path->state[k];
        double y0 = path->begin[i], y1 = path->y[i], c0 = y0 + length * path->rate[i] / 3, c1 = y1 - length * path->yp[i] / 3;
        double low = fmin(fmin(y0, y1), fmin(c0, c1)), high = fmax(fmax(y0, y1), fmax(c0, c1));
        double more = BEYOND_HULL * (high - low) + ROUNDING * fmax(fabs(low), fabs(high));
        path->reach[k] = (Span){low - more, high + more};
    }
    path->reached = true;
}

// State i over the step, by what bounds it and the slopes between the control points, with a quarter beyond.
static Jet
state_within_reach(const StepPath *path, uint32_t i)
{
    double length = 2 * path->half, d0 = path->rate[i], d1 = path->yp[i], between = 3 * (path->y[i] - path->begin[i]) / length - d0 - d1;
    double low = fmin(between, fmin(d0, d1)), high = fmax(between, fmax(d0, d1)), more = BEYOND_HULL * (high - low);
    return jet_state(i, path->reach[path->slot[i]], (Span){low - more, high + more}, (Span){-INFINITY, INFINITY});
}

bool
path_is_monotonic(Run *run, const mdl_forecast *forecast)
{
    StepPath *path = run->path;
    const mdl_timely *at = run->model->timely + forecast->first;
    Jet *reg = path->reg;
    path_reach(run);
    for (uint32_t i = 0; i < forecast->count; i++)
        switch ((mdl_timely_op)at[i].op) {
        case MDL_TIMELY_CONST: reg[i] = jet_constant(at[i].value); break;
        case MDL_TIMELY_PLACE: reg[i] = jet_constant(run->v[at[i].a]); break;
        case MDL_TIMELY_TIME: reg[i] = jet_time((Span){path->start, path->end}); break;
        case MDL_TIMELY_STATE: reg[i] = state_within_reach(path, at[i].a); break;
        default: reg[i] = jet_apply((mdl_timely_op)at[i].op, &reg[at[i].a], &reg[at[i].b], &reg[at[i].c]); break;
        }
    Span slope = reg[forecast->count - 1].first;
    return slope.low >= 0 || slope.high <= 0;
}

// --- polynomials

// States within the last step, into v.
MDL_CHECKED static int
interpolate(Run *run, double time)
{
    const mdl_model *model = run->model;
    if (time == run->time) {
        evaluate_load(run, time, run->y, run->yp);
        return MDL_OK;
    }
    if (!model->condition_range || !run->stepper->interpolate_ranges || model->n_constraints || model->n_drifts)
        return run->stepper->interpolate(run, time);
    run->stepper->interpolate_ranges(run, time, model->condition_range, model->n_condition_ranges);
    return MDL_OK;
}

// Hermite's cubic between the ends.
static void
take_cubic(StepPath *path)
{
    for (uint32_t k = 0; k < path->states; k++) {
        uint32_t i = path->state[k];
        double *coefficient = path->coefficient + (size_t)k * PATH_NODES, half = (path->y[i] - path->begin[i]) / 2;
        double d0 = path->half * path->rate[i], d1 = path->half * path->yp[i], slope = (d0 + d1) / 4, bow = (d1 - d0) / 4;
        memset(coefficient, 0, PATH_NODES * sizeof *coefficient);
        coefficient[0] = path->begin[i] + half - bow;
        coefficient[1] = 3 * half / 2 - slope;
        coefficient[2] = bow;
        coefficient[3] = slope - half / 2;
    }
    path->taken = true;
}

int
path_take(Run *run)
{
    StepPath *path = run->path;
    uint32_t nodes = nodes_of(run);
    if (path->taken)
        return MDL_OK;
    path_reach(run);
    if (path->cubic) {
        take_cubic(path);
        return MDL_OK;
    }
    if (nodes != path->nodes) { // also where another method has taken over
        path->nodes = nodes;
        set_inverse(path);
        memset(path->coefficient, 0, PATH_NODES * (size_t)path->states * sizeof *path->coefficient);
    }
    for (uint32_t i = 0; i < nodes; i++) {
        int status = interpolate(run, i + 1 < nodes ? path_time(path, path->node[i]) : run->time);
        if (status != MDL_OK)
            return status;
        for (uint32_t k = 0; k < path->states; k++)
            path->sample[k * PATH_NODES + i] = run->v[run->model->y + path->state[k]];
    }
    for (uint32_t k = 0; k < path->states; k++) {
        double *coefficient = path->coefficient + (size_t)k * PATH_NODES, *sample = path->sample + (size_t)k * PATH_NODES, last = sample[nodes - 1];
        for (uint32_t j = 0; j < nodes; j++) {
            double sum = 0;
            for (uint32_t i = 0; i < nodes; i++)
                sum += path->inverse[j][i] * (sample[i] - last);
            coefficient[j] = sum + (j ? 0 : last);
        }
    }
    path->taken = true;
    return MDL_OK;
}

int
path_load(Run *run, double place)
{
    StepPath *path = run->path;
    if (!path->cubic)
        return run->stepper->interpolate(run, path_time(path, place));
    double h = 2 * path->half, s = (place + 1) / 2, *y = path->within, *yp = y + path->unknowns;
    for (uint32_t i = 0; i < path->unknowns; i++) {
        double f0 = h * path->rate[i], f1 = h * path->yp[i], d = path->y[i] - path->begin[i], bow = 3 * d - 2 * f0 - f1, slope = f0 + f1 - 2 * d;
        y[i] = path->begin[i] + s * (f0 + s * (bow + s * slope));
        yp[i] = (f0 + s * (2 * bow + 3 * s * slope)) / h;
    }
    evaluate_load(run, path_time(path, place), y, yp);
    return MDL_OK;
}

// --- functions of states

// State k over [from, to]: Taylor's polynomial in the middle.
static Jet
state_over(const StepPath *path, const double *coefficient, uint32_t k, double from, double to)
{
    double q[PATH_NODES], middle = from + (to - from) / 2, radius = (to - from) / 2, h = path->half;
    memcpy(q, coefficient + (size_t)path->slot[k] * PATH_NODES, sizeof q);
    for (uint32_t i = 0; i < PATH_NODES; i++)
        for (uint32_t j = PATH_NODES - 1; j-- > i;)
            q[j] += middle * q[j + 1];
    double value = 0, first = 0, second = 0, power = 1; // of the terms behind the second
    for (uint32_t j = 3; j < PATH_NODES; j++, power *= radius) {
        value += fabs(q[j]) * power * radius * radius * radius;
        first += j * fabs(q[j]) * power * radius * radius;
        second += j * (j - 1) * fabs(q[j]) * power * radius;
    }
    double line = fabs(q[1]) * radius, bow = q[2] * radius * radius, slope = 2 * fabs(q[2]) * radius, size = ROUNDING * (fabs(q[0]) + line + fabs(bow));
    double slack = radius > 0 ? value + size : 0;
    Span values = {q[0] - line + fmin(bow, 0) - slack, q[0] + line + fmax(bow, 0) + slack};
    Span firsts = {(q[1] - slope - first) / h, (q[1] + slope + first) / h}, seconds = {(2 * q[2] - second) / (h * h), (2 * q[2] + second) / (h * h)};
    return jet_state(k, values, firsts, seconds);
}

Jet
path_over(Run *run, const mdl_forecast *forecast, const double *coefficient, double from, double to)
{
    StepPath *path = run->path;
    const mdl_timely *at = run->model->timely + forecast->first;
    Jet *reg = path->reg;
    for (uint32_t i = 0; i < forecast->count; i++)
        switch ((mdl_timely_op)at[i].op) {
        case MDL_TIMELY_CONST: reg[i] = jet_constant(at[i].value); break;
        case MDL_TIMELY_PLACE: reg[i] = jet_constant(run->v[at[i].a]); break;
        case MDL_TIMELY_TIME: reg[i] = jet_time((Span){path_time(path, from), path_time(path, to)}); break;
        case MDL_TIMELY_STATE: reg[i] = state_over(path, coefficient, at[i].a, from, to); break;
        default: reg[i] = jet_apply((mdl_timely_op)at[i].op, &reg[at[i].a], &reg[at[i].b], &reg[at[i].c]); break;
        }
    return reg[forecast->count - 1];
}

Span
path_values(Run *run, const mdl_forecast *forecast, const Span *reach, Span time)
{
    StepPath *path = run->path;
    const mdl_timely *at = run->model->timely + forecast->first;
    Span *value = path->value;
    for (uint32_t i = 0; i < forecast->count; i++)
        switch ((mdl_timely_op)at[i].op) {
        case MDL_TIMELY_CONST: value[i] = (Span){at[i].value, at[i].value}; break;
        case MDL_TIMELY_PLACE: value[i] = (Span){run->v[at[i].a], run->v[at[i].a]}; break;
        case MDL_TIMELY_TIME: value[i] = time; break;
        case MDL_TIMELY_STATE: value[i] = reach[path->slot[at[i].a]]; break;
        default: value[i] = span_apply((mdl_timely_op)at[i].op, &value[at[i].a], &value[at[i].b], &value[at[i].c]); break;
        }
    return value[forecast->count - 1];
}

const RunPart path_part = {.name = "path", .create = path_create, .free = step_path_free};
