// ensemble_steps.c: steps of several runs side by side, by whichever method.
//
// Purpose: thousands of runs of one model, as studies make them, in a fraction of the time of so many runs one after the other.
// Method: each run goes its own way through events, rows and messages, one after the other (runtime/shell/ensemble.c); only what costs most, the evaluations
//         and solutions of a step, is done before that for all of them: ensemble_advance() makes one attempt for each run, with a length of its own, and the run's
//         stepper takes it when it is asked for a step. Rows within these steps, and the assertions at their ends, are computed for all of them as well.
// Contract: run.h; a run does the same to the bit in any company (lanes.h). Complexity: that of the method for one run, of which the evaluations are shared.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/point.h"
#include "runtime/solver/ensemble_inner.h"

enum { ROWS = ENSEMBLE_ROWS };

// --- creation

struct Ensemble *
ensemble_create(Run *typical, const RowMaker *maker)
{
    const mdl_model *model = typical->model;
    struct Ensemble *e = calloc(1, sizeof *e);
    if (!e)
        return NULL;
    mdl_solver solver = typical->options->solver;
    e->method = solver == MDL_SOLVER_RADAU ? &radau_lanes : solver == MDL_SOLVER_GAUSS ? &gauss_lanes : &dop853_lanes;
    e->rows.maker = maker;
    if (e->method->look && !e->method->look(e, typical)) {
        ensemble_free(&e);
        return NULL;
    }
    e->lanes = lanes_create(typical);
    if (e->lanes)
        e->rows.lanes = lanes_beside(e->lanes);
    if (e->rows.lanes)
        e->rows.states = calloc((size_t)(model->nx + 1) * e->lanes->width, sizeof *e->rows.states);
    if (!e->rows.states || !e->method->create(e))
        ensemble_free(&e);
    return e;
}

void
ensemble_free(struct Ensemble **slot)
{
    struct Ensemble *e = *slot;
    if (!e)
        return;
    if (e->work)
        e->method->free(&e->work);
    for (uint32_t l = 0; l < LANES_MOST; l++) {
        free(e->rows.value[l]);
        free(e->step[l].reached);
    }
    free(e->rows.states);
    lanes_free(&e->rows.lanes);
    lanes_free(&e->lanes);
    free(e);
    *slot = NULL;
}

static void
set_column(Run *run, Run *whose)
{
    struct Ensemble *e = run->ensemble;
    Lanes *all[] = {e->lanes, e->rows.lanes};
    LaneStep *step = &e->step[run->lane];
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        all[k]->run[run->lane] = whose;
        all[k]->loaded[run->lane] = false;
    }
    step->ready = step->stuck = step->holds = false;
    e->rows.count[run->lane] = 0;
    e->method->column(e, run->lane, whose);
}

bool
ensemble_takes(Run *run)
{
    LaneStep *step = &run->ensemble->step[run->lane];
    if (!lanes_fit(run))
        return false;
    if (!step->reached)
        step->reached = calloc(2 * (size_t)run->model->n + 1, sizeof *step->reached);
    if (!step->reached)
        return false;
    step->holds_then = false;
    set_column(run, run);
    return true;
}

void
ensemble_leave(Run *run)
{
    if (run->ensemble)
        set_column(run, NULL);
}

void
ensemble_forget(Run *run)
{
    set_column(run, run);
}

// --- steps

bool
ensemble_waits(const Run *run)
{
    const LaneStep *step = run->ensemble ? &run->ensemble->step[run->lane] : NULL;
    return step && !step->ready && !step->stuck;
}

void
ensemble_advance(struct Ensemble *e, const double *limit)
{
    bool tries[LANES_MOST] = {false}, any = false;
    for (uint32_t l = 0; l < e->lanes->width; l++) {
        const Run *run = e->lanes->run[l];
        tries[l] = run && ensemble_waits(run) && limit[l] > run->time;
        any = any || tries[l];
    }
    if (any)
        e->method->attempt(e, tries, limit);
}

void
ensemble_offer(Lanes *lanes, Run *run, double to, bool holds)
{
    LaneStep *step = &run->ensemble->step[run->lane];
    step->ready = true;
    step->to = to;
    step->holds_then = holds;
    lanes_read(lanes, run->lane, step->reached, step->reached + run->model->n);
}

void
ensemble_set_stuck(struct Ensemble *e, bool *tries, uint32_t lane)
{
    e->step[lane].stuck = true;
    tries[lane] = false;
}

void
ensemble_offer_good(struct Ensemble *e, bool *good, bool *tries, const double *to, const double *slopes)
{
    Lanes *lanes = e->lanes;
    bool holds[LANES_MOST] = {false};
    lanes_probe(lanes, slopes);
    for (uint32_t l = 0; l < lanes->width; l++)
        if (good[l] && lanes->failed[l]) {
            ensemble_set_stuck(e, tries, l);
            good[l] = false;
        }
    if (lanes->model->n_asserts) {
        lanes_outputs(lanes);
        lanes_asserts(lanes, holds);
    }
    for (uint32_t l = 0; l < lanes->width; l++)
        if (good[l])
            ensemble_offer(lanes, lanes->run[l], to[l], holds[l]);
}

void
ensemble_take(Run *run)
{
    const mdl_model *model = run->model;
    LaneStep *step = &run->ensemble->step[run->lane];
    step->ready = false;
    step->holds = step->holds_then;
    run->time = step->to;
    memcpy(run->y, step->reached, model->n * sizeof *run->y);
    memcpy(run->yp, step->reached + model->n, model->nx * sizeof *run->yp);
    memcpy(run->v + model->y + model->nx, run->y + model->nx, (model->n - model->nx) * sizeof *run->v);
    for (uint32_t k = 0; k < run->n_implicit; k++)
        run->v[model->yp + run->implicit[k]] = run->yp[run->implicit[k]];
}

bool
ensemble_holds(const Run *run)
{
    return run->ensemble && run->ensemble->step[run->lane].holds;
}

// --- rows

double
ensemble_reaches(const Run *run)
{
    return run->ensemble && run->ensemble->step[run->lane].ready ? run->ensemble->step[run->lane].to : -INFINITY;
}

// A row of each run that has one at place k.
static void
compute_rows(struct Ensemble *e, uint32_t k)
{
    LaneRows *rows = &e->rows;
    Lanes *lanes = rows->lanes;
    bool finite[LANES_MOST];
    for (uint32_t l = 0; l < lanes->width; l++) {
        lanes->active[l] = k < rows->count[l];
        if (lanes->active[l])
            lanes->v[l] = rows->point[l][k];
    }
    e->method->values(e, lanes, lanes->v, lanes_states(lanes));
    lanes_slopes(lanes, rows->states);
    lanes_outputs(lanes);
    lanes_finite(lanes, finite);
    for (uint32_t l = 0; l < lanes->width; l++) {
        rows->there[l][k] = lanes->active[l] && finite[l];
        if (rows->there[l][k])
            rows->maker->prepare(lanes->run[l], lanes->v + l, lanes->width, rows->value[l] + (size_t)k * rows->length[l]);
    }
}

// Room for rows of the run. False: it gets none.
static bool
make_room(LaneRows *rows, const Run *run)
{
    uint32_t l = run->lane, length = rows->maker->length(run);
    if (length > rows->room[l]) {
        free(rows->value[l]);
        rows->value[l] = malloc((size_t)length * ROWS * sizeof *rows->value[l]);
        rows->room[l] = rows->value[l] ? length : 0;
    }
    rows->length[l] = length;
    return rows->room[l] >= length;
}

void
ensemble_prepare_rows(struct Ensemble *e, double point[][ENSEMBLE_ROWS], const uint32_t *count)
{
    LaneRows *rows = &e->rows;
    Lanes *lanes = rows->lanes;
    bool lost[LANES_MOST] = {false};
    uint32_t most = 0;
    for (uint32_t l = 0; l < lanes->width; l++) {
        const Run *run = lanes->run[l];
        bool wants = run && e->step[l].ready && e->method->has_rows(e, l) && count[l] && rows->maker->may(run) && make_room(rows, run);
        rows->count[l] = wants ? count[l] : 0;
        most = rows->count[l] > most ? rows->count[l] : most;
    }
    if (most)
        e->method->prepare(e, lost);
    for (uint32_t l = 0; l < lanes->width; l++) {
        rows->count[l] = lost[l] ? 0 : rows->count[l];
        if (!rows->count[l])
            continue;
        memcpy(rows->point[l], point[l], rows->count[l] * sizeof *point[l]);
        if (!lanes->loaded[l])
            lanes_load(lanes, l);
        lanes_start_loops(lanes, l);
    }
    for (uint32_t k = 0; k < most; k++)
        compute_rows(e, k);
}

const double *
ensemble_row(const Run *run, double point)
{
    const LaneRows *rows = run->ensemble ? &run->ensemble->rows : NULL;
    uint32_t l = run->lane;
    for (uint32_t k = 0; rows && k < rows->count[l]; k++)
        if (rows->point[l][k] == point)
            return rows->there[l][k] ? rows->value[l] + (size_t)k * rows->length[l] : NULL;
    return NULL;
}
