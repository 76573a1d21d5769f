// dop853_lanes.c: steps of dop853 for several runs side by side.
//
// Purpose: thousands of runs of one model, as studies make them, in a fraction of the time of so many runs one after the other.
// Method: each run goes its own way through events, rows and messages, one after the other (runtime/shell/ensemble.c); only what costs most, the twelve
//         evaluations of a step, is done before that for all of them: ensemble_advance() makes one attempt for each run, with a length of its own, and the run's
//         stepper takes it when it is asked for a step. What was made for nothing (another limit, since an event has come up) is made again in arrays beside those of the others.
// Contract: run.h; a run does the same to the bit in any company (lanes.h). Complexity: that of dop853.c for one run, of which the evaluations are shared.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/lanes.h"
#include "runtime/point/point.h"
#include "runtime/solver/dop853_inner.h"
#include "runtime/solver/solver.h"

enum { WIDTH = DOP853_WIDTH, SLOPES = DOP853_SLOPES };

typedef struct Table { // what steps are made in
    Lanes *lanes;
    Steps steps;
} Table;

enum { ROWS = ENSEMBLE_ROWS };

// Rows within the steps that are ready.
typedef struct Rows {
    Lanes *lanes;
    const RowMaker *maker;
    double *value[LANES_MOST];           // of each run: ROWS rows
    uint32_t length[LANES_MOST], room[LANES_MOST]; // doubles of a row; that there is room for
    double point[LANES_MOST][ROWS];
    bool there[LANES_MOST][ROWS];
    uint32_t count[LANES_MOST];
} Rows;

struct Ensemble {
    Table all, aside;
    Rows rows;
};

// --- creation

static bool
make_table(Table *table, Lanes *lanes)
{
    table->lanes = lanes;
    return lanes && steps_create(&table->steps, lanes->model->nx, lanes->width);
}

struct Ensemble *
ensemble_create(Run *typical, const RowMaker *maker)
{
    struct Ensemble *e = calloc(1, sizeof *e);
    if (e)
        e->rows.maker = maker;
    if (!e || !make_table(&e->all, lanes_create(typical)) || !make_table(&e->aside, lanes_beside(e->all.lanes))
        || !(e->rows.lanes = lanes_beside(e->all.lanes)))
        ensemble_free(&e);
    return e;
}

void
ensemble_free(struct Ensemble **slot)
{
    struct Ensemble *e = *slot;
    if (!e)
        return;
    steps_free(&e->all.steps);
    steps_free(&e->aside.steps);
    for (uint32_t l = 0; l < LANES_MOST; l++)
        free(e->rows.value[l]);
    lanes_free(&e->rows.lanes);
    lanes_free(&e->aside.lanes);
    lanes_free(&e->all.lanes);
    free(e);
    *slot = NULL;
}

static void
set_column(Run *run, Run *whose)
{
    struct Ensemble *e = run->ensemble;
    Lanes *all[] = {e->all.lanes, e->aside.lanes, e->rows.lanes};
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        all[k]->run[run->lane] = whose;
        all[k]->loaded[run->lane] = false;
    }
    e->rows.count[run->lane] = 0;
}

bool
ensemble_takes(Run *run)
{
    if (!lanes_fit(run) || run->ode->projection)
        return false;
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
    run->ode->ready = run->ode->stuck = false;
    set_column(run, run);
}

// --- attempts

// Stage `k` of the steps that begin at `from`, at `point`, which is where the states of v stand.
static void
evaluate_stage(Table *table, uint32_t k, const double *from, const double *step)
{
    Lanes *lanes = table->lanes;
    for (uint32_t l = 0; l < lanes->width; l++)
        lanes->v[l] = from[l] + dop853_node[k] * step[l];
    lanes_slopes(lanes, table->steps.slope[k]);
}

static double *
states(const Lanes *lanes)
{
    return lanes->v + (size_t)lanes->model->y * lanes->width;
}

// The chunks of a step's arrays may have one half more than there are states.
static void
move_states(Table *table, uint32_t k, const double *step)
{
    Steps *steps = &table->steps;
    dop853_stage(k, steps->chunks, step, steps->start, steps->slope, steps->point);
    memcpy(states(table->lanes), steps->point, (size_t)table->lanes->model->nx * steps->stride * sizeof(double));
}

// The numbers of run l in `chunks` chunks of sums.
static void
add_lane(const Lanes *lanes, const double *sums, uint32_t l, uint32_t chunks, double *out)
{
    for (uint32_t c = 0; c < chunks; c++) {
        out[c] = 0;
        for (uint32_t k = l; k < WIDTH; k += lanes->width)
            out[c] += sums[c * WIDTH + k];
    }
}

// One attempt for each run that `tries`, as far as `attempt` says. size[l]: the error of run l, NaN where there is no right side; holds[l]: at its end all
// assertions do.
static void
make_attempts(Table *table, const bool *tries, const Attempt *attempt, double *size, bool *holds)
{
    Lanes *lanes = table->lanes;
    Steps *steps = &table->steps;
    double step[WIDTH], from[LANES_MOST], squares[2 * WIDTH], differences[3 * WIDTH];
    bool lost[LANES_MOST] = {false};
    memcpy(lanes->active, tries, sizeof lanes->active);
    for (uint32_t l = 0; l < WIDTH; l++) {
        uint32_t lane = l % lanes->width;
        step[l] = tries[lane] ? attempt[lane].length : 0;
        from[lane] = tries[lane] ? lanes->run[lane]->time : 0;
    }
    steps->between = false;
    for (uint32_t k = 1; k < DOP853_STAGES; k++) {
        move_states(table, k, step);
        evaluate_stage(table, k, from, step);
        for (uint32_t l = 0; l < lanes->width; l++)
            lost[l] = lost[l] || lanes->failed[l];
    }
    dop853_end(steps->chunks, step, steps->start, steps->carry, steps->slope, steps->end, steps->left);
    memcpy(states(lanes), steps->end, (size_t)lanes->model->nx * steps->stride * sizeof(double));
    dop853_errors(steps->chunks, steps->weight, steps->slope, steps->error, steps->rate, squares);
    for (uint32_t l = 0; l < lanes->width; l++)
        if (tries[l])
            lanes->v[l] = attempt[l].to;
    lanes_slopes(lanes, steps->slope[DOP853_STAGES]);
    lanes_probe(lanes, steps->slope[DOP853_STAGES]);
    dop853_differences(steps->chunks, steps->weight, steps->slope, steps->point, steps->end, differences);
    for (uint32_t l = 0; l < lanes->width; l++) {
        double sum[2], apart[3];
        add_lane(lanes, squares, l, 2, sum);
        add_lane(lanes, differences, l, 3, apart);
        size[l] = lost[l] || lanes->failed[l] ? NAN : dop853_size(step[l], sum[0], sum[1], lanes->model->nx);
        if (tries[l] && size[l] <= 1)
            size[l] = dop853_judge_stability(lanes->run[l], steps, apart, step[l], size[l]);
    }
    if (lanes->model->n_asserts) {
        lanes_outputs(lanes);
        lanes_asserts(lanes, holds);
    }
}

// Those of `tries` that have a step afterwards are ready, or stuck.
static void
attempt_once(Table *table, bool *tries, const double *limit)
{
    Lanes *lanes = table->lanes;
    Attempt attempt[LANES_MOST];
    double size[LANES_MOST];
    bool holds[LANES_MOST];
    for (uint32_t l = 0; l < lanes->width; l++) {
        if (!tries[l])
            continue;
        Run *run = lanes->run[l];
        if (!dop853_prepare(run, &table->steps, limit[l])) {
            run->ode->stuck = true;
            tries[l] = false;
            continue;
        }
        if (!lanes->loaded[l])
            lanes_load(lanes, l);
        lanes_start_loops(lanes, l);
        attempt[l] = dop853_attempt(run, limit[l]);
    }
    make_attempts(table, tries, attempt, size, holds);
    for (uint32_t l = 0; l < lanes->width; l++) {
        if (!tries[l])
            continue;
        Run *run = lanes->run[l];
        Ode *ode = run->ode;
        run->stats->residuals += DOP853_STAGES;
        ode->ready = dop853_accept(run, attempt[l], size[l]);
        if (!ode->ready)
            continue;
        ode->made_in = &table->steps;
        ode->holds_then = lanes->model->n_asserts && holds[l];
        ode->made = attempt[l].length;
        ode->to = attempt[l].to;
        lanes_read(lanes, l, ode->reached, ode->reached + run->model->n);
        for (uint32_t i = 0; i < ode->n; i++)
            ode->left[i] = table->steps.left[i * table->steps.stride + l];
    }
}

bool
ensemble_waits(const Run *run)
{
    return run->ensemble && !run->ode->ready && !run->ode->stuck;
}

void
ensemble_advance(struct Ensemble *e, const double *limit)
{
    bool tries[LANES_MOST] = {false}, any = false;
    for (uint32_t l = 0; l < e->all.lanes->width; l++) {
        const Run *run = e->all.lanes->run[l];
        tries[l] = run && ensemble_waits(run) && limit[l] > run->time;
        any = any || tries[l];
    }
    if (any)
        attempt_once(&e->all, tries, limit);
}

// --- the stepper's part

// Takes the step that is there, or makes one that ends early enough.
int
ensemble_step(Run *run, double limit)
{
    Ode *ode = run->ode;
    const mdl_model *model = run->model;
    double limits[LANES_MOST];
    limits[run->lane] = limit;
    ode->ready = ode->ready && ode->to <= limit;
    if (!ode->ready)
        run->ensemble->rows.count[run->lane] = 0;
    while (!ode->ready && !ode->stuck) {
        bool tries[LANES_MOST] = {false};
        tries[run->lane] = true;
        attempt_once(&run->ensemble->aside, tries, limits);
    }
    if (ode->stuck)
        return MDL_FAILED;
    ode->ready = false;
    ode->holds = ode->holds_then;
    ode->at = ode->made_in;
    ode->from = run->time;
    ode->length = ode->made;
    run->time = ode->to;
    memcpy(run->y, ode->reached, model->n * sizeof *run->y);
    memcpy(ode->held, ode->reached, ode->n * sizeof *ode->held);
    memcpy(ode->carry, ode->left, ode->n * sizeof *ode->carry);
    memcpy(run->yp, ode->reached + model->n, model->nx * sizeof *run->yp);
    memcpy(run->v + model->y + model->nx, run->y + model->nx, (model->n - model->nx) * sizeof *run->v);
    for (uint32_t k = 0; k < run->n_implicit; k++)
        run->v[model->yp + run->implicit[k]] = run->yp[run->implicit[k]];
    return MDL_OK;
}

bool
ensemble_holds(const Run *run)
{
    return run->ensemble && run->ode->length > 0 && run->ode->holds;
}

// For all runs of the table at once. lost[l]: a slope that it needs is not there.
static void
make_polynomials(Table *table, bool *lost)
{
    Lanes *lanes = table->lanes;
    Steps *steps = &table->steps;
    double step[WIDTH] = {0}, from[LANES_MOST] = {0};
    for (uint32_t l = 0; l < WIDTH; l++) {
        uint32_t lane = l % lanes->width;
        const Run *other = lanes->run[lane];
        const Ode *its = other ? other->ode : NULL;
        lanes->active[lane] = its && (its->ready ? its->made_in : its->at) == steps && (its->ready || its->length > 0);
        if (!lanes->active[lane])
            continue;
        step[l] = its->ready ? its->made : its->length;
        from[lane] = its->ready ? other->time : its->from;
    }
    for (uint32_t k = DOP853_STAGES + 1; k < SLOPES; k++) {
        move_states(table, k, step);
        evaluate_stage(table, k, from, step);
        for (uint32_t l = 0; l < lanes->width; l++)
            lost[l] = lost[l] || lanes->failed[l];
    }
    dop853_polynomial(steps->chunks, step, steps->start, steps->end, steps->slope, steps->term);
    for (uint32_t l = 0; l < lanes->width; l++)
        if (lanes->active[l])
            lanes->run[l]->stats->residuals += SLOPES - 1 - DOP853_STAGES;
    steps->between = true;
}

bool
ensemble_polynomial(Run *run)
{
    bool lost[LANES_MOST] = {false};
    make_polynomials(run->ode->at == &run->ensemble->all.steps ? &run->ensemble->all : &run->ensemble->aside, lost);
    return !lost[run->lane];
}

// --- rows

double
ensemble_reaches(const Run *run)
{
    return run->ensemble && run->ode->ready ? run->ode->to : -INFINITY;
}

// A row of each run that has one at place k.
static void
compute_rows(struct Ensemble *e, uint32_t k)
{
    Rows *rows = &e->rows;
    Lanes *lanes = rows->lanes;
    const Steps *steps = &e->all.steps;
    double x[WIDTH] = {0};
    bool finite[LANES_MOST];
    for (uint32_t l = 0; l < WIDTH; l++) {
        uint32_t lane = l % lanes->width;
        lanes->active[lane] = k < rows->count[lane];
        if (!lanes->active[lane])
            continue;
        const Run *run = lanes->run[lane];
        x[l] = (rows->point[lane][k] - run->time) / run->ode->made;
        lanes->v[lane] = rows->point[lane][k];
    }
    dop853_values(steps->chunks, x, steps->start, steps->term, steps->point);
    memcpy(states(lanes), steps->point, (size_t)lanes->model->nx * steps->stride * sizeof(double));
    lanes_slopes(lanes, steps->rate);
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
make_room(Rows *rows, const Run *run)
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
    Rows *rows = &e->rows;
    Lanes *lanes = rows->lanes;
    bool lost[LANES_MOST] = {false};
    uint32_t most = 0;
    for (uint32_t l = 0; l < lanes->width; l++) {
        const Run *run = lanes->run[l];
        bool wants = run && run->ode->ready && run->ode->made_in == &e->all.steps && count[l] && rows->maker->may(run) && make_room(rows, run);
        rows->count[l] = wants ? count[l] : 0;
        most = rows->count[l] > most ? rows->count[l] : most;
    }
    if (most && !e->all.steps.between)
        make_polynomials(&e->all, lost);
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
    const Rows *rows = run->ensemble ? &run->ensemble->rows : NULL;
    uint32_t l = run->lane;
    for (uint32_t k = 0; rows && k < rows->count[l]; k++)
        if (rows->point[l][k] == point)
            return rows->there[l][k] ? rows->value[l] + (size_t)k * rows->length[l] : NULL;
    return NULL;
}
