// dop853_lanes.c: steps of dop853 for several runs side by side.
//
// Purpose: the twelve evaluations of a step are made for all runs of an ensemble together.
// Method: ensemble_steps.c, with steps of each run's own length. What was made for nothing (another limit, since an event has come up) is made again in arrays
//         beside those of the others.
// Contract: ensemble_inner.h. Complexity: that of dop853.c for one run, of which the evaluations are shared.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/point/point.h"
#include "runtime/solver/dop853_inner.h"
#include "runtime/solver/ensemble_inner.h"

enum { WIDTH = DOP853_WIDTH, SLOPES = DOP853_SLOPES };

typedef struct Table { // what steps are made in
    Lanes *lanes;
    Steps steps;
} Table;

struct LaneWork {
    Table all, aside;
    Steps *made_in[LANES_MOST];   // what has the step that is ready,
    double made[LANES_MOST];      // and its length
    bool nears[LANES_MOST];       // the latest attempt has ended near a singular position
};

// --- creation

static bool
make_table(Table *table, Lanes *lanes)
{
    table->lanes = lanes;
    return lanes && steps_create(&table->steps, lanes->model->nx, lanes->width);
}

static void
work_free(struct LaneWork **slot)
{
    struct LaneWork *work = *slot;
    steps_free(&work->all.steps);
    steps_free(&work->aside.steps);
    lanes_free(&work->aside.lanes);
    free(work);
    *slot = NULL;
}

static bool
work_create(struct Ensemble *e)
{
    struct LaneWork *work = e->work = calloc(1, sizeof *work);
    return work && make_table(&work->all, e->lanes) && make_table(&work->aside, lanes_beside(e->lanes));
}

static void
set_column(struct Ensemble *e, uint32_t lane, Run *whose)
{
    Lanes *lanes = e->work->aside.lanes;
    lanes->run[lane] = whose;
    lanes->loaded[lane] = false;
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

// The chunks of a step's arrays may have one half more than there are states.
static void
move_states(Table *table, uint32_t k, const double *step)
{
    Steps *steps = &table->steps;
    dop853_stage(k, steps->chunks, step, steps->start, steps->slope, steps->point);
    memcpy(lanes_states(table->lanes), steps->point, (size_t)table->lanes->model->nx * steps->stride * sizeof(double));
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

// Each run's end by itself to the invariants of its model, where the error in size[l] is accepted; NaN where there is no way, and where it leads near a singular
// position.
static void
project_ends(Table *table, const bool *tries, const Attempt *attempt, double *size, bool *nears)
{
    Steps *steps = &table->steps;
    for (uint32_t l = 0; l < table->lanes->width; l++) {
        Run *run = table->lanes->run[l];
        nears[l] = false;
        if (!tries[l] || !(size[l] <= 1) || !run->ode->projection)
            continue;
        Ode *ode = run->ode;
        for (uint32_t i = 0; i < ode->n; i++)
            ode->probed[i] = steps->end[i * steps->stride + l];
        ode->off = !projection_apply(run, ode->projection, attempt[l].to, ode->probed);
        nears[l] = !ode->off && dop853_nears_singular(run, ode->probed);
        size[l] = ode->off || nears[l] ? NAN : size[l];
        if (!ode->off && !nears[l])
            projection_warn(run, ode->projection, ode->probed);
        for (uint32_t i = 0; i < ode->n && !ode->off; i++) {
            steps->end[i * steps->stride + l] = ode->probed[i];
            steps->left[i * steps->stride + l] = 0;
        }
    }
}

// One attempt for each run that `tries`, as far as `attempt` says. size[l]: the error of run l, NaN where there is no right side; holds[l]: at its end all
// assertions do. nears[l]: size[l] is NaN because a singular position is near.
static void
make_attempts(Table *table, const bool *tries, const Attempt *attempt, double *size, bool *nears, bool *holds)
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
    dop853_errors(steps->chunks, steps->weight, steps->slope, steps->error, steps->rate, squares);
    for (uint32_t l = 0; l < lanes->width; l++) {
        double sum[2];
        add_lane(lanes, squares, l, 2, sum);
        size[l] = lost[l] ? NAN : dop853_size(step[l], sum[0], sum[1], lanes->model->nx);
    }
    project_ends(table, tries, attempt, size, nears);
    memcpy(lanes_states(lanes), steps->end, (size_t)lanes->model->nx * steps->stride * sizeof(double));
    for (uint32_t l = 0; l < lanes->width; l++)
        if (tries[l])
            lanes->v[l] = attempt[l].to;
    lanes_slopes(lanes, steps->slope[DOP853_STAGES]);
    lanes_probe(lanes, steps->slope[DOP853_STAGES]);
    dop853_differences(steps->chunks, steps->weight, steps->slope, steps->point, steps->end, differences);
    for (uint32_t l = 0; l < lanes->width; l++) {
        double apart[3];
        add_lane(lanes, differences, l, 3, apart);
        size[l] = lanes->failed[l] ? NAN : size[l];
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
attempt_once(struct LaneWork *work, Table *table, bool *tries, const double *limit)
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
            run->ode->stuck = run->ensemble->step[l].stuck = true;
            tries[l] = false;
            continue;
        }
        if (run->ode->bridge && !run->ode->rejected)
            bridge_note(run->ode->bridge, run->time, run->y, run->contest.noise, run->contest.least);
        if (!lanes->loaded[l])
            lanes_load(lanes, l);
        lanes_start_loops(lanes, l);
        run->ode->unclear = false;
        attempt[l] = dop853_attempt(run, limit[l]);
    }
    make_attempts(table, tries, attempt, size, work->nears, holds);
    for (uint32_t l = 0; l < lanes->width; l++) {
        if (!tries[l])
            continue;
        Run *run = lanes->run[l];
        run->stats->residuals += DOP853_STAGES;
        if (work->nears[l]) { // the step is shortened, or leads over the position, by the run itself
            run->ensemble->step[l].stuck = true;
            continue;
        }
        bool accepted = dop853_accept(run, attempt[l], size[l]);
        run->ensemble->step[l].stuck = run->ode->stuck;
        if (!accepted)
            continue;
        work->made_in[l] = &table->steps;
        work->made[l] = attempt[l].length;
        for (uint32_t i = 0; i < run->ode->n; i++)
            run->ode->left[i] = table->steps.left[i * table->steps.stride + l];
        ensemble_offer(lanes, run, attempt[l].to, lanes->model->n_asserts && holds[l]);
    }
}

static void
attempt(struct Ensemble *e, bool *tries, const double *limit)
{
    attempt_once(e->work, &e->work->all, tries, limit);
}

// --- the stepper's part

// Takes the step that is there, or makes one that ends early enough. False: there is none, or it comes near a singular position.
static bool
take_step(Run *run, double limit, int *status)
{
    struct Ensemble *e = run->ensemble;
    LaneStep *step = &e->step[run->lane];
    Ode *ode = run->ode;
    double limits[LANES_MOST];
    limits[run->lane] = limit;
    step->ready = step->ready && step->to <= limit;
    if (!step->ready)
        e->rows.count[run->lane] = 0;
    while (!step->ready && !step->stuck) {
        bool tries[LANES_MOST] = {false};
        tries[run->lane] = true;
        attempt_once(e->work, &e->work->aside, tries, limits);
    }
    if (step->stuck)
        return false;
    ode->at = e->work->made_in[run->lane];
    ode->from = run->time;
    ode->length = e->work->made[run->lane];
    ode->judged = false;
    ensemble_take(run);
    memcpy(ode->held, run->y, ode->n * sizeof *ode->held);
    memcpy(ode->carry, ode->left, ode->n * sizeof *ode->carry);
    *status = MDL_OK;
    return true;
}

// For all runs of the table at once. lost[l]: a slope that it needs is not there.
static void
make_polynomials(struct LaneWork *work, Table *table, bool *lost)
{
    Lanes *lanes = table->lanes;
    Steps *steps = &table->steps;
    double step[WIDTH] = {0}, from[LANES_MOST] = {0};
    for (uint32_t l = 0; l < WIDTH; l++) {
        uint32_t lane = l % lanes->width;
        const Run *other = lanes->run[lane];
        const Ode *its = other ? other->ode : NULL;
        bool ready = its && other->ensemble->step[lane].ready;
        lanes->active[lane] = its && (ready ? work->made_in[lane] : its->at) == steps && (ready || its->length > 0);
        if (!lanes->active[lane])
            continue;
        step[l] = ready ? work->made[lane] : its->length;
        from[lane] = ready ? other->time : its->from;
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

static bool
make_between(Run *run)
{
    struct LaneWork *work = run->ensemble->work;
    bool lost[LANES_MOST] = {false};
    make_polynomials(work, run->ode->at == &work->all.steps ? &work->all : &work->aside, lost);
    return !lost[run->lane];
}

// --- rows

static bool
has_rows(const struct Ensemble *e, uint32_t lane)
{
    return e->work->made_in[lane] == &e->work->all.steps;
}

static void
prepare(struct Ensemble *e, bool *lost)
{
    if (!e->work->all.steps.between)
        make_polynomials(e->work, &e->work->all, lost);
}

static void
values(struct Ensemble *e, const Lanes *lanes, const double *time, double *states)
{
    const Steps *steps = &e->work->all.steps;
    double x[WIDTH] = {0};
    for (uint32_t l = 0; l < WIDTH; l++) {
        uint32_t lane = l % lanes->width;
        if (lanes->active[lane])
            x[l] = (time[lane] - lanes->run[lane]->time) / e->work->made[lane];
    }
    dop853_values(steps->chunks, x, steps->start, steps->term, steps->point);
    memcpy(states, steps->point, (size_t)lanes->model->nx * steps->stride * sizeof *states);
    for (uint32_t l = 0; l < lanes->width; l++) {
        Run *run = lanes->run[l];
        if (!lanes->active[l])
            continue;
        if (!run->ode->projection) {
            if (dop853_wrong(run, steps) > DOP853_WRONG)
                states[l] = NAN; // the run makes the row by itself
            continue;
        }
        for (uint32_t i = 0; i < run->ode->n; i++)
            run->ode->probed[i] = states[i * steps->stride + l];
        bool wrong = !projection_between(run, run->ode->projection, time[l], run->ode->probed)
                     || dop853_way(run, steps, states + l, steps->stride, run->ode->probed) > DOP853_FAR;
        for (uint32_t i = 0; i < run->ode->n; i++) // as above
            states[i * steps->stride + l] = wrong ? NAN : run->ode->probed[i];
    }
}

const LaneMethod dop853_lanes = {.create = work_create, .free = work_free, .column = set_column, .attempt = attempt, .step = take_step, .between = make_between, .has_rows = has_rows,
                                 .prepare = prepare, .values = values};
