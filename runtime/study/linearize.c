// linearize.c: the linear system that the model is for small changes around a point.
//
// Purpose: eigenvalues, frequency responses, controller design; the iteration matrix of steady states.
// Method: one direction after the other through the tangents (tangent.c) gives how the derivatives of all states, the
//   outputs and everything that is held at zero follow each state and input. What is held at zero - invariants, velocities
//   of sticking friction, gaps and velocities of closed contacts - is a linear system G dx = 0. Gauss-Jordan elimination
//   with complete pivoting, invariants of positions first, solves it for dependent states, so that dx = T dx_i with the
//   independent states dx_i that remain; A = (rows of the independent states of df/dx) T, C = (dh/dx) T. The derivatives
//   keep G dx = 0 (model.h), so nothing is lost.
// Contract: linearize.h. Complexity: one pass over the tangents per state and input; states^2 * held quantities.
#include "runtime/study/linearize.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/law/law.h"
#include "runtime/point/point.h"
#include "runtime/point/tangent.h"
#include "runtime/study/study.h"

enum { MOST_STATES = 4000 };

static const double DEPENDENT = 1e-9; // pivots below this part of the row: it follows from the others
static const uint32_t NONE = UINT32_MAX;

// value = v[place] - factor*v[other] is held at zero.
typedef struct Held {
    uint32_t place, other; // other 0: none
    double factor;
    uint32_t depth;        // states of this depth are to depend; 0: any
    const char *text;
} Held;

typedef struct Work {
    Run *run;
    Tangent *tangent;
    const mdl_linear_request *request;
    mdl_linear *out;
    Held *held;
    uint32_t n_held;
    double *f;         // all x all: derivatives of states by states
    double *h;         // outputs x all
    double *g;         // n_held x all
    double *size;      // n_held: the largest entry of each row at first
    uint32_t *row_of;  // per state: the row that was solved for it, NONE: it is independent
    bool *solved;      // per row
} Work;

void
mdl_linear_free(mdl_linear *linear)
{
    free(linear->state);
    free(linear->a);
    free(linear->b);
    free(linear->c);
    free(linear->d);
    free(linear->follow);
    free(linear->slope);
    free(linear->held_value);
    free(linear->held_rate);
    *linear = (mdl_linear){0};
}

// --- what is held

static const char *
law_mode(const Run *run, uint32_t k)
{
    const mdl_sgn *law = &run->model->sgn[k];
    double mode = friction_mode(run, k);
    if (law->unilateral)
        return mode == 0 ? "closed" : "open";
    return mode == 0 ? "sticks" : mode > 0 ? "slips forward" : "slips backward";
}

void
mdl_run_modes(mdl_run *opened, mdl_mode_fn *tell, void *user)
{
    const Run *run = run_of(opened);
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_relations; k++)
        tell(user, model->relation[k].text, run->v[model->relation[k].value] != 0 ? "true" : "false");
    for (uint32_t k = 0; k < model->n_time_relations; k++)
        tell(user, model->time_relation[k].text, run->v[model->time_relation[k].value] != 0 ? "true" : "false");
    for (uint32_t k = 0; k < model->n_sgns; k++)
        tell(user, model->sgn[k].text, law_mode(run, k));
}

static void
hold(Work *w, uint32_t place, uint32_t depth, const char *text)
{
    w->held[w->n_held++] = (Held){place, 0, 0, depth, text};
}

// A law that sticks holds its velocity, one that is closed its gap and what comes before the level at which forces act. A
// play that slips holds its force at the limit.
static void
hold_law(Work *w, uint32_t k)
{
    const mdl_sgn *law = &w->run->model->sgn[k];
    bool closed = friction_mode(w->run, k) == 0;
    if (law->unilateral)
        for (uint32_t level = 0; closed && level < law->level; level++)
            hold(w, law->place[level], 0, law->text);
    else if (law->play && !closed)
        w->held[w->n_held++] = (Held){law->p, law->a, w->run->v[law->mode], 0, law->text};
    else if (!law->play && closed && (law->state >= 0 || law->level))
        hold(w, law->x, 0, law->text);
}

static bool
list_held(Work *w)
{
    const mdl_model *model = w->run->model;
    w->held = calloc((size_t)model->n_constraints + 3 * (size_t)model->n_sgns + 1, sizeof *w->held);
    if (!w->held)
        return false;
    for (uint32_t depth = 3; depth-- > 0;)
        for (uint32_t k = 0; k < model->n_constraints; k++)
            if (model->constraint[k].depth == depth || (depth == 2 && model->constraint[k].depth > 2))
                hold(w, model->constraint[k].value, model->constraint[k].depth, model->constraint[k].text);
    for (uint32_t k = 0; k < model->n_sgns; k++)
        hold_law(w, k);
    return true;
}

// --- derivatives in all directions

static double
held_rate(const Work *w, uint32_t k)
{
    const Held *held = &w->held[k];
    double rate = *tangent_at(w->tangent, held->place);
    return held->other ? rate - held->factor * *tangent_at(w->tangent, held->other) : rate;
}

static void
store_outputs(const Work *w, double *column)
{
    for (uint32_t i = 0; i < w->request->outputs; i++) {
        const mdl_output *output = &w->run->model->output[w->request->output[i]];
        column[i] = output->sign * *tangent_at(w->tangent, output->place);
    }
}

static void
store_slopes(const Work *w, double *column)
{
    memcpy(column, tangent_at(w->tangent, w->run->model->yp), w->out->all * sizeof *column);
}

static void
by_states(Work *w)
{
    uint32_t all = w->out->all;
    for (uint32_t j = 0; j < all; j++) {
        tangent_clear(w->tangent);
        *tangent_at(w->tangent, w->run->model->y + j) = 1;
        tangent_dynamics(w->tangent);
        store_slopes(w, w->f + (size_t)j * all);
        store_outputs(w, w->h + (size_t)j * w->request->outputs);
        for (uint32_t k = 0; k < w->n_held; k++)
            w->g[(size_t)j * w->n_held + k] = held_rate(w, k);
    }
}

MDL_CHECKED static int
by_inputs(Work *w, double *b)
{
    for (uint32_t j = 0; j < w->request->inputs; j++) {
        const mdl_settable *input = &w->run->model->settable[w->request->input[j]];
        tangent_parameter(w->tangent, input);
        int status = tangent_held(w->tangent, input->name);
        if (status != MDL_OK)
            return status;
        tangent_hold(w->tangent);
        tangent_dynamics(w->tangent);
        store_slopes(w, b + (size_t)j * w->out->all);
        store_outputs(w, w->out->d + (size_t)j * w->request->outputs);
        for (uint32_t k = 0; k < w->n_held; k++)
            if (held_rate(w, k) != 0) {
                run_message(w->run, MDL_ERROR, "`%s` moves what is held: %s\nit cannot be an input of the linear system, which "
                            "would need its derivatives, too", input->name, w->held[k].text);
                return MDL_FAILED;
            }
    }
    return MDL_OK;
}

// --- dependent states

// Row k solved for state `pivot`, which vanishes from all other rows.
static void
eliminate(Work *w, uint32_t k, uint32_t pivot)
{
    uint32_t all = w->out->all, rows = w->n_held;
    double over = w->g[(size_t)pivot * rows + k];
    for (uint32_t j = 0; j < all; j++)
        w->g[(size_t)j * rows + k] /= over;
    for (uint32_t i = 0; i < rows; i++) {
        double factor = w->g[(size_t)pivot * rows + i];
        if (i == k || factor == 0)
            continue;
        for (uint32_t j = 0; j < all; j++)
            w->g[(size_t)j * rows + i] -= factor * w->g[(size_t)j * rows + k];
        w->g[(size_t)pivot * rows + i] = 0;
    }
    w->g[(size_t)pivot * rows + k] = 1;
    w->row_of[pivot] = k;
    w->solved[k] = true;
}

static double
weight(const Work *w, uint32_t j)
{
    return fabs(w->run->v[w->run->model->nominal + j]);
}

// The largest entry, relative to its row, of rows [first, last) that are not solved yet. False: only rounding is left.
static bool
find_pivot(const Work *w, uint32_t first, uint32_t last, bool deep, uint32_t *row, uint32_t *column)
{
    const uint8_t *depth = w->run->model->state_depth;
    double most = DEPENDENT;
    for (uint32_t j = 0; j < w->out->all; j++) {
        if (w->row_of[j] != NONE || (deep && (!depth || depth[j] != w->held[first].depth)))
            continue;
        for (uint32_t k = first; k < last; k++) {
            double size = fabs(w->g[(size_t)j * w->n_held + k]) * weight(w, j);
            if (w->solved[k] || !(size > most * w->size[k]))
                continue;
            most = size / w->size[k];
            *row = k;
            *column = j;
        }
    }
    return most > DEPENDENT;
}

// Rows of one depth after the other: first for states of that depth, then what they still say about others.
static void
find_dependent(Work *w)
{
    uint32_t all = w->out->all, rows = w->n_held, row, column, last;
    for (uint32_t j = 0; j < all; j++)
        w->row_of[j] = NONE;
    for (uint32_t k = 0; k < rows; k++)
        for (uint32_t j = 0; j < all; j++)
            w->size[k] = fmax(w->size[k], fabs(w->g[(size_t)j * rows + k]) * weight(w, j));
    for (uint32_t first = 0; first < rows; first = last) {
        for (last = first; last < rows && w->held[last].depth == w->held[first].depth; last++)
            continue;
        for (int deep = 1; deep >= 0; deep--)
            while (find_pivot(w, first, last, deep, &row, &column))
                eliminate(w, row, column);
    }
}

static bool
list_states(Work *w)
{
    mdl_linear *out = w->out;
    out->state = calloc((size_t)out->all + 1, sizeof *out->state);
    for (uint32_t j = 0; out->state && j < out->all; j++)
        if (w->row_of[j] == NONE)
            out->state[out->n++] = j;
    out->follow = calloc((size_t)out->all * out->n + 1, sizeof *out->follow);
    for (uint32_t i = 0; out->state && out->follow && i < out->n; i++)
        for (uint32_t j = 0; j < out->all; j++)
            out->follow[(size_t)i * out->all + j] = w->row_of[j] == NONE ? j == out->state[i]
                : -w->g[(size_t)out->state[i] * w->n_held + w->row_of[j]];
    return out->state && out->follow;
}

// --- the reduced system

// column := the `rows` of the matrix m (of `leading` rows) times column i of `follow`; row r is row_index[r], or r.
static void
follow_column(const mdl_linear *out, const double *m, uint32_t leading, const uint32_t *row_index, uint32_t rows, uint32_t i,
              double *column)
{
    for (uint32_t j = 0; j < out->all; j++) {
        double along = out->follow[(size_t)i * out->all + j];
        for (uint32_t r = 0; r < rows && along != 0; r++)
            column[r] += m[(size_t)j * leading + (row_index ? row_index[r] : r)] * along;
    }
}

static bool
reduce(Work *w, const double *b)
{
    mdl_linear *out = w->out;
    uint32_t n = out->n;
    out->a = calloc((size_t)n * n + 1, sizeof *out->a);
    out->b = calloc((size_t)n * out->inputs + 1, sizeof *out->b);
    out->c = calloc((size_t)n * out->outputs + 1, sizeof *out->c);
    if (!out->a || !out->b || !out->c)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        follow_column(out, w->f, out->all, out->state, n, i, out->a + (size_t)i * n);
        follow_column(out, w->h, out->outputs, NULL, out->outputs, i, out->c + (size_t)i * out->outputs);
    }
    for (uint32_t j = 0; j < out->inputs; j++)
        for (uint32_t i = 0; i < n; i++)
            out->b[(size_t)j * n + i] = b[(size_t)j * out->all + out->state[i]];
    return true;
}

static bool
all_finite(const double *x, size_t n, size_t *where)
{
    for (*where = 0; *where < n; ++*where)
        if (!isfinite(x[*where]))
            return false;
    return true;
}

// What a root has brought to rest stays there while it is held; how fast it would come back there from beside it is no number.
MDL_CHECKED static int
check_roots(const Run *run, double time)
{
    const mdl_model *model = run->model;
    for (uint32_t k = 0; k < model->n_sgns; k++) {
        const mdl_sgn *law = &model->sgn[k];
        const char *name = law->state >= 0 ? model->state_name[law->state] : NULL;
        if (!law->root || friction_mode(run, k) != 0)
            continue;
        if (name && !(model->state_kind[law->state] & MDL_NAME_BARE))
            run_message(run, MDL_ERROR, "the derivative of der(%s) by `%s` is not finite at time %.12g, where it is at rest: %s", name, name,
                        time, law->text);
        else
            run_message(run, MDL_ERROR, "the derivative of a root is not finite at time %.12g, where its argument is at rest: %s", time,
                        law->text);
        return MDL_FAILED;
    }
    return MDL_OK;
}

MDL_CHECKED static int
check_finite(const Work *w, const double *b)
{
    if (check_roots(w->run, w->out->time) != MDL_OK)
        return MDL_FAILED;
    const mdl_linear *out = w->out;
    const mdl_model *model = w->run->model;
    size_t all = out->all, where;
    if (!all_finite(w->f, all * all, &where))
        run_message(w->run, MDL_ERROR, "the derivative of der(%s) by `%s` is not finite at time %.12g",
                    model->state_name[where % all], model->state_name[where / all], out->time);
    else if (!all_finite(b, all * out->inputs, &where))
        run_message(w->run, MDL_ERROR, "the derivative of der(%s) by `%s` is not finite at time %.12g",
                    model->state_name[where % all], model->settable[w->request->input[where / all]].name, out->time);
    else if (!all_finite(w->h, out->outputs * all, &where))
        run_message(w->run, MDL_ERROR, "the derivative of `%s` by `%s` is not finite at time %.12g",
                    model->output[w->request->output[where % out->outputs]].name, model->state_name[where / out->outputs], out->time);
    else if (!all_finite(out->d, (size_t)out->outputs * out->inputs, &where))
        run_message(w->run, MDL_ERROR, "the derivative of `%s` by `%s` is not finite at time %.12g",
                    model->output[w->request->output[where % out->outputs]].name,
                    model->settable[w->request->input[where / out->outputs]].name, out->time);
    else
        return MDL_OK;
    return MDL_FAILED;
}

// --- the whole

MDL_CHECKED static int
refuse(const Run *run)
{
    const mdl_model *model = run->model;
    if (!model->tangents || model->tangents->incomplete)
        run_message(run, MDL_ERROR, "the model has no directional derivatives");
    else if (run->modes)
        run_message(run, MDL_ERROR, "%s: a fractional derivative remembers all the past: the model has no linear system of finitely "
                    "many states", model->fractional[0].where);
    else if (model->n_delays)
        run_message(run, MDL_ERROR, "%s: a delay remembers a stretch of the past: the model has no linear system of finitely many "
                    "states", model->delay[0].where);
    else if (model->n_transports)
        run_message(run, MDL_ERROR, "%s: a profile that moves remembers a stretch of the past: the model has no linear system of "
                    "finitely many states", model->transport[0].where);
    else if (model->tangents->blind)
        run_message(run, MDL_ERROR, "a function gives what follows from states by comparisons alone: the model has no linear system");
    else if (model->nx > MOST_STATES)
        run_message(run, MDL_ERROR, "the model has %u states; linear systems are dense here and go up to %u", model->nx, MOST_STATES);
    else
        return MDL_OK;
    return MDL_FAILED;
}

MDL_CHECKED static int
refuse_rest(const Run *run)
{
    for (uint32_t k = 0; k < run->model->n_rests; k++)
        if (run->rests && rest_holds(run, run->model->rest[k].relation)) {
            run_message(run, MDL_ERROR, "at time %.12g a contact has come to rest behind infinitely many impacts: %s\n"
                        "write it as a unilateral constraint to linearise the model there", run->time,
                        run->model->relation[run->model->rest[k].relation].text);
            return MDL_FAILED;
        }
    return MDL_OK;
}

MDL_CHECKED static int
evaluate_work(Work *w)
{
    Run *run = w->run;
    evaluate_load(run, run->time, run->y, run->yp);
    int status = evaluate_solved(run, true);
    if (status != MDL_OK)
        return status;
    evaluate_outputs(run);
    w->out->time = run->time;
    for (uint32_t k = 0; k < w->n_held; k++) {
        const Held *held = &w->held[k];
        w->out->held_value[k] = run->v[held->place] - (held->other ? held->factor * run->v[held->other] : 0);
    }
    memcpy(w->out->slope, run->v + run->model->yp, w->out->all * sizeof *w->out->slope);
    return tangent_factor(w->tangent);
}

static bool
allocate(Work *w)
{
    size_t all = w->out->all, rows, outputs = w->request->outputs;
    if (!list_held(w))
        return false;
    rows = w->n_held;
    w->f = calloc(all * all + 1, sizeof *w->f);
    w->h = calloc(outputs * all + 1, sizeof *w->h);
    w->g = calloc(rows * all + rows + 1, sizeof *w->g);
    w->row_of = calloc(all + 1, sizeof *w->row_of);
    w->solved = calloc(rows + 1, sizeof *w->solved);
    w->out->d = calloc(outputs * w->request->inputs + 1, sizeof *w->out->d);
    w->out->slope = calloc(all + 1, sizeof *w->out->slope);
    w->out->held = w->n_held;
    w->out->held_value = calloc(rows + 1, sizeof *w->out->held_value);
    w->out->held_rate = calloc(rows * all + 1, sizeof *w->out->held_rate);
    w->tangent = tangent_create(w->run);
    w->size = w->g + rows * all;
    return w->f && w->h && w->g && w->row_of && w->solved && w->out->d && w->out->slope && w->out->held_value
           && w->out->held_rate && w->tangent;
}

MDL_CHECKED static int
linearize(Work *w, double *b)
{
    int status = evaluate_work(w);
    if (status != MDL_OK)
        return status;
    by_states(w);
    status = by_inputs(w, b);
    if (status == MDL_OK)
        status = check_finite(w, b);
    if (status != MDL_OK)
        return status;
    memcpy(w->out->held_rate, w->g, (size_t)w->n_held * w->out->all * sizeof *w->g);
    find_dependent(w);
    return list_states(w) && reduce(w, b) ? MDL_OK : MDL_INTERNAL;
}

int
mdl_linearize(mdl_run *opened, const mdl_linear_request *request, mdl_linear *out)
{
    return linearize_run(run_of(opened), request, out);
}

int
linearize_run(Run *run, const mdl_linear_request *request, mdl_linear *out)
{
    Work w = {.run = run, .request = request, .out = out};
    *out = (mdl_linear){.all = run->model->nx, .inputs = request->inputs, .outputs = request->outputs};
    int status = refuse(run);
    if (status == MDL_OK)
        status = refuse_rest(run);
    if (status != MDL_OK)
        return status;
    double *b = calloc((size_t)out->all * request->inputs + 1, sizeof *b);
    status = b && allocate(&w) ? linearize(&w, b) : MDL_INTERNAL;
    if (status == MDL_INTERNAL)
        run_message(run, MDL_ERROR, "out of memory");
    tangent_free(&w.tangent);
    free(b);
    free(w.held);
    free(w.f);
    free(w.h);
    free(w.g);
    free(w.row_of);
    free(w.solved);
    return status;
}
