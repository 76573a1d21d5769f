// gauss_lanes.c: steps of Gauss-Legendre collocation for several runs side by side.
//
// Purpose: studies of long motions that keep their energy: what the iterations on the stages of a step evaluate and add up is made for all runs of an ensemble together.
// Method: that of gauss.c, whose control of lengths each run has for itself (gauss_length.c), with stages of lane_stages.c. The half steps that a step is compared with, and the points of the polynomial within it, are made so as well. Slopes of the last two steps
//         stand in the run's column; where it makes a step by itself - another limit, an iteration that does not contract - they go to the run, and come back behind it.
// Contract: ensemble_inner.h. Complexity: that of gauss.c, for as many iterations as the run takes that needs most.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/solver/ensemble_inner.h"
#include "runtime/solver/gauss_inner.h"
#include "runtime/step/lane_stages.h"

enum { STAGES = GAUSS_STAGES, POINTS = GAUSS_POINTS };

static const double LEAST = 1e-6;   // as in stages.c
static const double TYPICAL = 1e-3; // of the time of a run: the step for whose matrix the order of elimination is chosen

// What the run in a column is about.
typedef struct Trial {
    bool known;           // its slopes and what rounding has taken off stand in the column
    bool taken;           // its last step is the one whose slopes are in `whole.f`
    bool begun;           // a step from where it is has been tried,
    uint32_t tries;       // so often
    double from, h, to;   // where the attempt begins, its length, and where it ends
    bool whole;           // not at the limit
    bool dense;           // the polynomial within it is there
} Trial;

struct LaneWork {
    LaneStages stages;
    size_t size;          // doubles of a row: unknowns times width
    double *block;        // all arrays
    double *start, *slope, *weight, *carry, *next, *next_carry, *end; // of the step; `end` is the slope there
    double *middle, *other;                 // of two half steps
    LaneSolver whole, inside;               // of the step, of steps within it
    double *newer, *older;                  // GAUSS_STAGES rows: slopes of the last two steps
    double *y, *rate;                       // GAUSS_POINTS rows
    double *divided;                        // 2*GAUSS_POINTS rows
    bool between;                           // polynomials were made since the latest attempt
    Trial trial[LANES_MOST];
};

// --- creation

static void
work_free(struct LaneWork **slot)
{
    lane_matrix_free(&(*slot)->whole.matrix);
    lane_matrix_free(&(*slot)->inside.matrix);
    free((*slot)->block);
    free(*slot);
    *slot = NULL;
}

// Without matrices runs that need Newton's method make their steps by themselves.
static bool
look(struct Ensemble *e, Run *typical)
{
    const mdl_options *options = typical->options;
    struct LaneWork *g = e->work = calloc(1, sizeof *g);
    double length = options->stop > options->start ? options->stop - options->start : 1;
    if (!g)
        return false;
    if (!typical->model->lanes->jacobian.fn || evaluate_solved(typical, false) != MDL_OK)
        return true;
    g->whole.matrix = lane_matrix_create(typical, typical->model->lanes->width, 1 / (TYPICAL * length));
    g->inside.matrix = g->whole.matrix ? lane_matrix_create(typical, typical->model->lanes->width, 1 / (TYPICAL * length)) : NULL;
    return true;
}

static bool
work_create(struct Ensemble *e)
{
    enum { ONE = 12, OF_STAGES = 10, OF_POINTS = 2 };
    struct LaneWork *g = e->work;
    collocation_init(&g->stages.method);
    g->size = g->stages.size = (size_t)e->lanes->model->nx * e->lanes->width;
    g->stages.lanes = e->lanes;
    size_t bytes = (ONE + OF_STAGES * STAGES + (OF_POINTS + 2) * POINTS) * g->size * sizeof *g->block;
    g->block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!g->block)
        return false;
    memset(g->block, 0, bytes);
    double *place = g->block;
    double **one[ONE] = {&g->start, &g->slope, &g->weight, &g->carry, &g->next, &g->next_carry, &g->end, &g->stages.absolute, &g->stages.least, &g->middle, &g->other, &g->stages.point};
    double **of_points[OF_POINTS] = {&g->y, &g->rate}, **of_stages[OF_STAGES] = {&g->whole.guess, &g->whole.f, &g->whole.z, &g->inside.guess, &g->inside.f, &g->inside.z,
                                                                    &g->newer, &g->older, &g->stages.change, &g->stages.scaled};
    for (size_t k = 0; k < ONE; k++, place += g->size)
        *one[k] = place;
    for (size_t k = 0; k < OF_STAGES; k++, place += STAGES * g->size)
        *of_stages[k] = place;
    for (size_t k = 0; k < OF_POINTS; k++, place += POINTS * g->size)
        *of_points[k] = place;
    g->divided = place;
    return true;
}

// --- columns

static void
read_column(const struct Ensemble *e, uint32_t lane, const double *from, size_t rows, double *to)
{
    size_t width = e->lanes->width, count = rows * e->lanes->model->nx;
    for (size_t k = 0; k < count; k++)
        to[k] = from[k * width + lane];
}

static void
write_column(const struct Ensemble *e, uint32_t lane, const double *from, size_t rows, double *to)
{
    size_t width = e->lanes->width, count = rows * e->lanes->model->nx;
    for (size_t k = 0; k < count; k++)
        to[k * width + lane] = from[k];
}

// The slopes of the last step, for whoever looks within it.
static void
keep_stages(const struct Ensemble *e, const Run *run)
{
    if (run->ode->beside)
        read_column(e, run->lane, e->work->whole.f, STAGES, run->ode->stages->slope);
    run->ode->beside = false;
}

// What the column knows of the motion becomes the run's.
static void
set_column(struct Ensemble *e, uint32_t lane, Run *whose)
{
    struct LaneWork *g = e->work;
    Trial *trial = &g->trial[lane];
    if (whose && trial->known) {
        Ode *ode = whose->ode;
        keep_stages(e, whose);
        read_column(e, lane, trial->taken ? g->whole.f : g->newer, STAGES, ode->newer);
        read_column(e, lane, trial->taken ? g->newer : g->older, STAGES, ode->older);
        read_column(e, lane, trial->taken ? g->next_carry : g->carry, 1, ode->carry);
    }
    *trial = (Trial){0};
    g->whole.factored[lane] = g->inside.factored[lane] = 0;
}

static void
begin(struct Ensemble *e, Run *run)
{
    struct LaneWork *g = e->work;
    uint32_t lane = run->lane;
    Trial *trial = &g->trial[lane];
    Ode *ode = run->ode;
    ode->from = run->time;
    if (!(ode->step > 0))
        ode->step = gauss_first_guess(run);
    trial->begun = true;
    trial->tries = 0;
    if (trial->known)
        return;
    trial->known = true;
    g->stages.tolerance[lane] = run->tolerance;
    write_column(e, lane, run->y, 1, g->start);
    write_column(e, lane, run->yp, 1, g->slope);
    write_column(e, lane, ode->carry, 1, g->carry);
    write_column(e, lane, ode->newer, STAGES, g->newer);
    write_column(e, lane, ode->older, STAGES, g->older);
    write_column(e, lane, run->abstol, 1, g->stages.absolute);
    for (uint32_t i = 0; i < ode->n; i++)
        g->stages.least[i * (size_t)e->lanes->width + lane] = LEAST * fabs(run->v[run->model->nominal + i]);
}

// --- attempts

// The steps that were taken are the last ones now.
static void
move_on(struct Ensemble *e, const bool *tries)
{
    struct LaneWork *g = e->work;
    uint32_t width = e->lanes->width;
    WideMask mask = {0};
    g->between = false;
    for (uint32_t l = 0; l < width; l++) {
        Trial *trial = &g->trial[l];
        if (e->lanes->run[l] && !tries[l])
            keep_stages(e, e->lanes->run[l]);
        else if (e->lanes->run[l])
            e->lanes->run[l]->ode->beside = false;
        mask[l] = trial->taken ? UINT64_MAX : 0;
        trial->taken = trial->dense = false;
    }
    gauss_wide_put(width, mask, g->newer, g->older, STAGES * g->size);
    gauss_wide_put(width, mask, g->whole.f, g->newer, STAGES * g->size);
    gauss_wide_put(width, mask, g->next_carry, g->carry, g->size);
    gauss_wide_put(width, mask, g->next, g->start, g->size);
    gauss_wide_put(width, mask, g->end, g->slope, g->size);
}

// Lengths and points of the runs that try.
static void
set_up(struct Ensemble *e, bool *tries, const double *limit)
{
    struct LaneWork *g = e->work;
    Lanes *lanes = e->lanes;
    for (uint32_t l = 0; l < lanes->width; l++) {
        Trial *trial = &g->trial[l];
        Run *run = tries[l] ? lanes->run[l] : NULL;
        if (!run)
            continue;
        if (!trial->begun)
            begin(e, run);
        if (trial->tries++ == GAUSS_ATTEMPTS) {
            ensemble_set_stuck(e, tries, l);
            continue;
        }
        trial->from = run->time;
        trial->h = gauss_plan(run, limit[l], &trial->whole);
        trial->to = trial->whole ? run->ode->anchor + (double)(run->ode->count + 1) * run->ode->step : limit[l];
        if (!lanes->loaded[l])
            lanes_load(lanes, l);
        lanes_start_loops(lanes, l);
    }
    gauss_wide_weights(lanes->width, g->stages.tolerance, g->stages.absolute, g->start, g->weight, g->size);
}

// Slopes at the stages that the steps before let expect, as in gauss_attempt.c.
static void
predict(struct Ensemble *e, const bool *tries)
{
    struct LaneWork *g = e->work;
    uint32_t width = e->lanes->width;
    double point[2 * STAGES], weight[2 * STAGES];
    GaussSum newer, older;
    for (uint32_t j = 0; j < STAGES; j++) {
        point[j] = g->stages.method.node[j] - 1;
        point[STAGES + j] = g->stages.method.node[j] - 2;
    }
    for (uint32_t i = 0; i < STAGES; i++) {
        double *out = g->whole.guess + i * g->size;
        WideMask mask = {0};
        memset(newer, 0, sizeof newer);
        memset(older, 0, sizeof older);
        for (uint32_t l = 0; l < width; l++) {
            const Ode *ode = tries[l] ? e->lanes->run[l]->ode : NULL;
            uint32_t count = ode ? ode->history * STAGES : 0;
            mask[l] = ode && !count ? UINT64_MAX : 0;
            if (count)
                collocation_lagrange(point, count, g->stages.method.node[i] * g->trial[l].h / ode->length, weight);
            for (uint32_t j = 0; j < count; j++)
                (j < STAGES ? newer[j] : older[j - STAGES])[l] = weight[j];
        }
        gauss_wide_sum(width, NULL, newer, g->newer, out, g->size);
        gauss_wide_sum(width, out, older, g->older, out, g->size);
        gauss_wide_put(width, mask, g->slope, out, g->size);
    }
}

static void
solve(struct Ensemble *e, LaneSolver *solver, const double *time, const double *h, const double *base, bool *which)
{
    LaneProblem problem = {.time = time, .h = h, .base = base};
    for (uint32_t l = 0; l < e->lanes->width; l++)
        if (which[l]) {
            const Ode *ode = e->lanes->run[l]->ode;
            problem.implicit[l] = solver == &e->work->whole ? &ode->stages->implicit : &ode->inside->implicit;
        }
    lane_stages_solve(&e->work->stages, solver, &problem, which);
}

// A step of length h[l] from `base` at the fraction `begun` of the present step: to, as in gauss_attempt.c.
static void
step_inside(struct Ensemble *e, bool *which, double begun, double share, const double *base, double *to)
{
    struct LaneWork *g = e->work;
    uint32_t width = e->lanes->width;
    double weight[STAGES];
    WideNumber time = {0}, h = {0};
    GaussSum sum;
    for (uint32_t l = 0; l < width; l++) {
        if (!which[l])
            continue;
        h[l] = share * g->trial[l].h;
        time[l] = g->trial[l].from + begun * g->trial[l].h;
    }
    for (uint32_t i = 0; i < STAGES; i++) {
        collocation_lagrange(g->stages.method.node, STAGES, begun + g->stages.method.node[i] * share, weight);
        for (uint32_t j = 0; j < STAGES; j++)
            for (uint32_t l = 0; l < width; l++)
                sum[j][l] = weight[j];
        gauss_wide_sum(width, NULL, sum, g->whole.f, g->inside.guess + i * g->size, g->size);
    }
    solve(e, &g->inside, time, h, base, which);
    for (uint32_t j = 0; j < STAGES; j++)
        for (uint32_t l = 0; l < width; l++)
            sum[j][l] = h[l] * g->stages.method.weight[j];
    gauss_wide_sum(width, base, sum, g->inside.f, to, g->size);
}

// How far the slopes of a run with two steps behind it are from what these let expect, as in gauss_attempt.c.
static void
find_surprises(struct Ensemble *e, const bool *tries, const double *h)
{
    struct LaneWork *g = e->work;
    uint32_t width = e->lanes->width;
    WideNumber most = {0}, squares;
    for (uint32_t i = 0; i < STAGES; i++) {
        gauss_wide_distance(width, h, g->whole.f + i * g->size, g->whole.guess + i * g->size, g->weight, squares, g->size);
        for (uint32_t l = 0; l < width; l++)
            most[l] = fmax(most[l], sqrt(squares[l] / e->lanes->model->nx));
    }
    for (uint32_t l = 0; l < width; l++)
        if (tries[l]) {
            Ode *ode = e->lanes->run[l]->ode;
            ode->surprise = ode->history == 2 ? most[l] : INFINITY;
        }
}

// Of steps that nothing vouches for: error[l] from two steps of half the length.
static void
compare(struct Ensemble *e, const bool *asks, double *error)
{
    static const WideNumber ones = {1, 1, 1, 1, 1, 1, 1, 1};
    struct LaneWork *g = e->work;
    uint32_t width = e->lanes->width;
    bool solved[LANES_MOST];
    WideNumber squares;
    memcpy(solved, asks, sizeof solved);
    step_inside(e, solved, 0, 0.5, g->start, g->middle);
    step_inside(e, solved, 0.5, 0.5, g->middle, g->other);
    gauss_wide_weights(width, g->stages.tolerance, g->stages.absolute, g->next, g->middle, g->size);
    gauss_wide_distance(width, ones, g->next, g->other, g->middle, squares, g->size);
    for (uint32_t l = 0; l < width; l++)
        if (asks[l])
            error[l] = solved[l] ? gauss_error_of(e->lanes->run[l], sqrt(squares[l] / e->lanes->model->nx)) : INFINITY;
}

// By the run itself, from what gauss_error() looks at.
static double
compare_alone(struct Ensemble *e, Run *run)
{
    struct LaneWork *g = e->work;
    Ode *ode = run->ode;
    memcpy(ode->start, run->y, ode->n * sizeof *ode->start);
    memcpy(ode->base, run->y, ode->n * sizeof *ode->base);
    memcpy(ode->slope, run->yp, ode->n * sizeof *ode->slope);
    read_column(e, run->lane, g->whole.f, STAGES, ode->stages->slope);
    read_column(e, run->lane, g->next, 1, ode->next);
    return gauss_error(run, g->trial[run->lane].h);
}

// Which of the steps that were solved may be kept; those of others have another length now, or the run looks for itself.
static void
decide(struct Ensemble *e, bool *tries, const double *limit, bool *good)
{
    struct LaneWork *g = e->work;
    bool asks[LANES_MOST] = {false}, together[LANES_MOST] = {false}, any = false;
    double error[LANES_MOST] = {0};
    for (uint32_t l = 0; l < e->lanes->width; l++) {
        if (!tries[l])
            continue;
        Run *run = e->lanes->run[l];
        good[l] = run->options->step > 0 || gauss_is_vouched(run);
        asks[l] = !good[l];
        together[l] = asks[l] && !run->model->branches;
        any = any || together[l];
    }
    if (any)
        compare(e, together, error);
    for (uint32_t l = 0; l < e->lanes->width; l++) {
        if (!asks[l])
            continue;
        Run *run = e->lanes->run[l];
        double h = g->trial[l].h;
        if (!together[l])
            error[l] = compare_alone(e, run);
        good[l] = gauss_is_within(run, h, h < 0.999 * run->ode->step, (int)g->trial[l].tries - 1, error[l]);
        if (!good[l] && gauss_is_hopeless(run, limit[l]))
            ensemble_set_stuck(e, tries, l);
    }
}

// Those that are `good` have their ends evaluated, with what is wanted there.
static void
reach(struct Ensemble *e, bool *good, bool *tries)
{
    struct LaneWork *g = e->work;
    Lanes *lanes = e->lanes;
    WideNumber to = {0};
    for (uint32_t l = 0; l < lanes->width; l++) {
        lanes->active[l] = good[l];
        to[l] = good[l] ? g->trial[l].to : 0;
    }
    lane_stages_evaluate(&g->stages, to, g->next, g->end);
    ensemble_offer_good(e, good, tries, to, g->end);
}

static void
attempt(struct Ensemble *e, bool *tries, const double *limit)
{
    struct LaneWork *g = e->work;
    uint32_t width = e->lanes->width;
    WideNumber time = {0}, h = {0};
    bool solved[LANES_MOST], good[LANES_MOST] = {false}, any = false;
    move_on(e, tries);
    set_up(e, tries, limit);
    for (uint32_t l = 0; l < width; l++)
        if (tries[l]) {
            time[l] = e->lanes->run[l]->time;
            h[l] = g->trial[l].h;
        }
    predict(e, tries);
    memcpy(solved, tries, sizeof solved);
    solve(e, &g->whole, time, h, g->start, solved);
    for (uint32_t l = 0; l < width; l++)
        if (tries[l] && !solved[l])
            ensemble_set_stuck(e, tries, l);
    gauss_wide_end(width, &g->stages.method, h, g->whole.f, g->start, g->carry, g->next, g->next_carry, g->size);
    find_surprises(e, tries, h);
    decide(e, tries, limit, good);
    for (uint32_t l = 0; l < width; l++)
        any = any || good[l];
    if (any)
        reach(e, good, tries);
}

// The slopes at point p, and which runs have any.
static void
evaluate_point(struct Ensemble *e, const bool *which, uint32_t p)
{
    struct LaneWork *g = e->work;
    WideNumber time = {0};
    for (uint32_t l = 0; l < e->lanes->width; l++) {
        e->lanes->active[l] = which[l];
        if (which[l])
            time[l] = g->trial[l].from + gauss_places[p] * g->trial[l].h;
    }
    lane_stages_evaluate(&g->stages, time, g->y + p * g->size, g->rate + p * g->size);
}

// The polynomials within the steps of `which`, which are ready or were just taken.
static void
make_polynomials(struct Ensemble *e, bool *which)
{
    struct LaneWork *g = e->work;
    uint32_t width = e->lanes->width;
    size_t row = g->size * sizeof *g->y;
    WideNumber h = {0};
    for (uint32_t l = 0; l < width; l++)
        h[l] = g->trial[l].h;
    memcpy(g->y, g->start, row);
    memcpy(g->rate, g->slope, row);
    memcpy(g->y + (POINTS - 1) * g->size, g->next, row);
    memcpy(g->rate + (POINTS - 1) * g->size, g->end, row);
    for (uint32_t p = 1; p + 1 < POINTS; p++) {
        double begun = gauss_places[p - 1];
        step_inside(e, which, begun, gauss_places[p] - begun, g->y + (p - 1) * g->size, g->y + p * g->size);
        evaluate_point(e, which, p);
        for (uint32_t l = 0; l < width; l++)
            which[l] = which[l] && !e->lanes->failed[l];
    }
    gauss_wide_divide(width, gauss_places, h, g->y, g->rate, g->divided, g->size);
    for (uint32_t l = 0; l < width; l++)
        g->trial[l].dense = which[l];
}

// Where one run needs it, all get theirs: the others look within their steps, too.
static void
make_all_polynomials(struct Ensemble *e)
{
    bool which[LANES_MOST] = {false};
    if (e->work->between)
        return;
    e->work->between = true;
    for (uint32_t l = 0; l < e->lanes->width; l++) {
        const Run *run = e->lanes->run[l];
        which[l] = run && (e->step[l].ready || (run->ode->beside && e->work->trial[l].taken));
    }
    make_polynomials(e, which);
}

// --- the stepper's part

static bool
take_step(Run *run, double limit, int *status)
{
    struct Ensemble *e = run->ensemble;
    LaneStep *step = &e->step[run->lane];
    Trial *trial = &e->work->trial[run->lane];
    trial->begun = false;
    if (!(step->ready && step->to <= limit)) {
        ensemble_forget(run);
        return false;
    }
    *status = gauss_check_pace(run);
    if (*status != MDL_OK)
        return true;
    gauss_note(run->ode, trial->h, trial->whole);
    trial->taken = run->ode->beside = true;
    ensemble_take(run);
    gauss_recover(run);
    return true;
}

static bool
make_between(Run *run)
{
    struct Ensemble *e = run->ensemble;
    Ode *ode = run->ode;
    make_all_polynomials(e);
    if (!e->work->trial[run->lane].dense) {
        keep_stages(e, run);
        return true;
    }
    read_column(e, run->lane, e->work->divided, 2 * POINTS, ode->divided);
    memcpy(ode->place, gauss_places, sizeof ode->place);
    return ode->dense = true;
}

// --- rows

static bool
has_rows(const struct Ensemble *e, uint32_t lane)
{
    (void)e;
    (void)lane;
    return true;
}

static void
prepare(struct Ensemble *e, bool *lost)
{
    make_all_polynomials(e);
    for (uint32_t l = 0; l < e->lanes->width; l++)
        lost[l] = e->rows.count[l] && !e->work->trial[l].dense;
}

static void
values(struct Ensemble *e, const Lanes *lanes, const double *time, double *states)
{
    const struct LaneWork *g = e->work;
    WideNumber at = {0};
    for (uint32_t l = 0; l < lanes->width; l++)
        if (lanes->active[l])
            at[l] = (time[l] - lanes->run[l]->time) / g->trial[l].h;
    gauss_wide_value(lanes->width, gauss_places, at, g->divided, states, g->size);
}

const LaneMethod gauss_lanes = {.look = look, .create = work_create, .free = work_free, .column = set_column, .attempt = attempt, .step = take_step, .between = make_between, .has_rows = has_rows, .prepare = prepare,
                                .values = values};
