// radau_lanes.c: steps of Radau IIA collocation for several runs side by side.
//
// Purpose: studies of stiff models, circuits above all: evaluations, eliminations and sums of a step are made for all runs of an ensemble together.
// Method: that of radau.c, whose control of lengths, orders and iterations each run has for itself: with coefficients and shifts of its own (radau_wide.c), and
//         the loops' unknowns in the matrix (lane_matrix.c). A run with fewer stages than others has zeros in the places of the rest; one whose iteration has ended
//         is left as it is while others go on. Matrices are made anew for every attempt, those of all runs at once, the partial derivatives at the end of a step
//         being those of the next one: whether another run needs a matrix must not matter, and an iteration with the matrix of its own point takes fewer passes. A
//         run that gets no step here - pivots have vanished in the common order, no length is short enough - makes one by itself (radau.c).
// Contract: ensemble_inner.h. Complexity: that of radau.c, for as many stages and passes as the run has that needs most.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/radau_wide.h"
#include "runtime/point/point.h"
#include "runtime/solver/ensemble_inner.h"
#include "runtime/solver/radau_inner.h"
#include "runtime/step/lane_matrix.h"

enum { STAGES = RADAU_STAGES };

static const double FINE = 1e-9;    // tolerances below which order 13 is used
static const double TYPICAL = 1e-3; // of the time of a run: the step for whose matrix the order of elimination is chosen

// What the run in a column is about.
typedef struct Trial {
    bool begun;             // the column has its point
    bool known;             // and the partial derivatives there
    double wanted, h, to;   // lengths of the attempt, and where it ends
    uint32_t tries, s;      // attempts from this point; stages
    bool cut;
    RadauOutcome outcome;
    RadauIteration iteration;
} Trial;

struct LaneWork {
    RadauRule rule[RADAU_RULES];
    LaneMatrix *matrix;
    size_t size;            // doubles of a row: unknowns times width
    double *block;          // all arrays
    double *z, *w, *f;      // of STAGES rows: offsets, transformed ones, slopes
    double *past;           // offsets of the last steps, and where these began
    double *start;
    double *y, *slope, *weight, *error, *other, *point;
    Trial trial[LANES_MOST];
    uint32_t stages;        // the most of the present attempts
    WideSum to[STAGES], from[STAGES];
    WideShift shift;
    WideNumber rate[STAGES]; // of the estimate, with the step's length
};

static const WideNumber ones = {1, 1, 1, 1, 1, 1, 1, 1};

// --- creation

static void
work_free(struct LaneWork **slot)
{
    struct LaneWork *r = *slot;
    lane_matrix_free(&r->matrix);
    free(r->block);
    free(r);
    *slot = NULL;
}

// Where a motion starts, entries that stay zero, or near it, are zero; beside it they may be pivots.
static bool
look(struct Ensemble *e, Run *typical)
{
    const mdl_options *options = typical->options;
    struct LaneWork *r = e->work = calloc(1, sizeof *r);
    double length = options->stop > options->start ? options->stop - options->start : 1;
    bool made = typical->model->lanes->jacobian.fn || !typical->model->jacobian.fn;
    if (!r || !made || evaluate_solved(typical, false) != MDL_OK)
        return false;
    r->matrix = lane_matrix_create(typical, typical->model->lanes->width, 1 / (TYPICAL * length));
    return r->matrix && radau_rules_init(r->rule);
}

static bool
work_create(struct Ensemble *e)
{
    struct LaneWork *r = e->work;
    r->size = (size_t)e->lanes->model->nx * e->lanes->width;
    size_t bytes = ((4 * (size_t)STAGES + 7) * r->size + WIDE_MOST) * sizeof *r->block;
    r->block = aligned_alloc(64, (bytes + 63) / 64 * 64);
    if (!r->block)
        return false;
    memset(r->block, 0, bytes);
    double *place = r->block, **many[] = {&r->z, &r->w, &r->f, &r->past}, **one[] = {&r->start, &r->y, &r->slope, &r->weight, &r->error, &r->other, &r->point};
    for (size_t k = 0; k < sizeof many / sizeof *many; k++, place += STAGES * r->size)
        *many[k] = place;
    for (size_t k = 0; k < sizeof one / sizeof *one; k++, place += r->size)
        *one[k] = place;
    return true;
}

static void
enter(Run *run)
{
    struct LaneWork *r = run->ensemble->work;
    run->ode->past = r->past + run->lane;
    run->ode->start = r->start + run->lane;
    run->ode->rule = r->rule;
    run->stats->linear_solver = "lanes";
    run->stats->nonzeros = lane_matrix_nonzeros(r->matrix);
    // Runs with different numbers of stages wait for each other: all have one order, by the tolerance, throughout.
    run->ode->stands = true;
    run->ode->order = run->tolerance > FINE ? 1 : 2;
    run->ode->stride = run->ensemble->lanes->width;
}

static void
set_column(struct Ensemble *e, uint32_t lane, Run *whose)
{
    (void)whose;
    e->work->trial[lane].begun = e->work->trial[lane].known = false;
}

// --- attempts

static void
set_sum(WideNumber *sum, uint32_t lane, const double *value, uint32_t count, double factor)
{
    for (uint32_t j = 0; j < STAGES; j++)
        sum[j][lane] = j < count ? factor * value[j] : 0;
}

// The rule of the run, for its length. Of NULL all is zero.
static void
set_rule(struct LaneWork *r, uint32_t lane, const RadauRule *rule, double h)
{
    static const RadauRule none = {.stages = 0};
    const RadauRule *its = rule ? rule : &none;
    for (uint32_t i = 0; i < STAGES; i++) {
        set_sum(r->to[i], lane, its->to[i], i < its->stages ? its->stages : 0, 1);
        set_sum(r->from[i], lane, its->from[i], i < its->stages ? its->stages : 0, 1);
    }
    set_sum(r->rate, lane, its->rate, its->stages, -1 / h);
    r->shift.real[lane] = rule ? rule->real / h : 1;
    for (uint32_t p = 0; p < RADAU_PAIRS; p++) {
        r->shift.alpha[p][lane] = p < its->stages / 2 ? its->alpha[p] / h : 1;
        r->shift.beta[p][lane] = p < its->stages / 2 ? its->beta[p] / h : 0;
    }
}

static void
begin(struct LaneWork *r, Run *run)
{
    const Ode *ode = run->ode;
    Trial *trial = &r->trial[run->lane];
    size_t at = run->lane, width = run->ensemble->lanes->width;
    radau_begin(run);
    for (uint32_t k = 0; k < ode->n; k++, at += width) {
        r->y[at] = ode->y[k];
        r->slope[at] = ode->slope[k];
        r->weight[at] = ode->weight[k];
    }
    trial->wanted = ode->step > 0 ? ode->step : radau_first_guess(run);
    trial->tries = 0;
    trial->begun = true;
}

// Lengths, coefficients and points of the runs that try.
static void
set_up(struct Ensemble *e, bool *tries, const double *limit)
{
    struct LaneWork *r = e->work;
    Lanes *lanes = e->lanes;
    r->stages = 3;
    for (uint32_t l = 0; l < lanes->width; l++) {
        Trial *trial = &r->trial[l];
        Run *run = tries[l] ? lanes->run[l] : NULL;
        if (run) {
            if (!trial->begun)
                begin(r, run);
            double left = limit[l] - run->time;
            trial->h = radau_length(run, limit[l], trial->wanted);
            trial->cut = trial->h < 0.999 * trial->wanted;
            trial->to = trial->h >= left ? limit[l] : run->time + trial->h;
            if (trial->tries++ == RADAU_ATTEMPTS || !(trial->h > 16 * DBL_EPSILON * fmax(fabs(run->time), fabs(limit[l])))) {
                ensemble_set_stuck(e, tries, l);
                run = NULL;
            }
        }
        trial->outcome = RADAU_FAILED;
        set_rule(r, l, run ? &run->ode->rule[run->ode->order] : NULL, run ? trial->h : 1);
        if (!run)
            continue;
        trial->outcome = RADAU_GOES_ON;
        trial->s = run->ode->rule[run->ode->order].stages;
        radau_iteration_begin(run, &trial->iteration, trial->s);
        r->stages = trial->s > r->stages ? trial->s : r->stages;
        if (!lanes->loaded[l])
            lanes_load(lanes, l);
        lanes_start_loops(lanes, l);
    }
}

// The dynamics at the states that stand in v, `share` of each run's step behind its beginning, of the runs that are active.
static void
evaluate_active(struct Ensemble *e, const double *share, double *slope)
{
    Lanes *lanes = e->lanes;
    for (uint32_t l = 0; l < lanes->width; l++)
        if (lanes->active[l]) {
            lanes->v[l] = lanes->run[l]->time + share[l] * e->work->trial[l].h;
            lanes->run[l]->stats->residuals++;
        }
    lanes_slopes(lanes, slope);
}

static void
load_matrices(struct Ensemble *e, const bool *which)
{
    WideMask mask = {0};
    for (uint32_t l = 0; l < e->lanes->width; l++)
        if (which[l]) {
            mask[l] = UINT64_MAX;
            e->work->trial[l].known = true;
            e->lanes->run[l]->stats->jacobians++;
        }
    lanes_derivatives(e->lanes);
    lane_matrix_load(e->work->matrix, e->lanes->v, mask);
}

// Partial derivatives at the points that no step has come to.
static void
find_partials(struct Ensemble *e, bool *tries)
{
    static const WideNumber beginning = {0};
    struct LaneWork *r = e->work;
    Lanes *lanes = e->lanes;
    bool wants[LANES_MOST], any = false;
    for (uint32_t l = 0; l < lanes->width; l++) {
        lanes->active[l] = wants[l] = tries[l] && !r->trial[l].known;
        any = any || wants[l];
    }
    if (!any)
        return;
    memcpy(lanes_states(lanes), r->y, r->size * sizeof *r->y);
    evaluate_active(e, beginning, r->point);
    for (uint32_t l = 0; l < lanes->width; l++)
        if (wants[l] && lanes->failed[l]) {
            ensemble_set_stuck(e, tries, l);
            r->trial[l].outcome = RADAU_FAILED;
            wants[l] = false;
        }
    load_matrices(e, wants);
}

static void
factor(struct Ensemble *e, bool *tries)
{
    struct LaneWork *r = e->work;
    uint8_t worn[LANES_MOST] = {0}, idle[LANES_MOST];
    lane_matrix_factor(r->matrix, 0, r->shift.real, NULL, worn);
    for (uint32_t p = 0; p < r->stages / 2; p++) {
        memset(idle, 0, sizeof idle);
        lane_matrix_factor(r->matrix, p + 1, r->shift.alpha[p], r->shift.beta[p], idle);
        for (uint32_t l = 0; l < e->lanes->width; l++)
            worn[l] |= idle[l] && p < r->trial[l].s / 2;
    }
    for (uint32_t l = 0; l < e->lanes->width; l++)
        if (tries[l]) {
            e->lanes->run[l]->stats->factorings += 1 + 4 * (r->trial[l].s / 2);
            if (worn[l]) {
                ensemble_set_stuck(e, tries, l);
                r->trial[l].outcome = RADAU_FAILED;
            }
        }
}

// Offsets to begin with, as in radau.c, and their transforms.
static void
predict(struct Ensemble *e, const bool *tries)
{
    struct LaneWork *r = e->work;
    WideSum matrix[STAGES];
    WideMask mask;
    uint32_t stages = r->stages, width = e->lanes->width;
    for (uint32_t l = 0; l < width; l++) {
        const Run *run = e->lanes->run[l];
        const Ode *ode = tries[l] ? run->ode : NULL;
        double h = r->trial[l].h;
        bool goes_on = ode && ode->length > 0 && run->time + h - ode->from <= 5 * ode->length;
        mask[l] = ode ? UINT64_MAX : 0;
        double base[STAGES], weight[STAGES];
        const RadauRule *before = goes_on ? &ode->rule[ode->past_order] : NULL;
        if (goes_on) {
            stages = before->stages > stages ? before->stages : stages;
            radau_offset_weights(before, (run->time - ode->from) / ode->length, false, base);
        }
        for (uint32_t i = 0; i < STAGES; i++) {
            bool stage = goes_on && i < r->trial[l].s;
            if (stage)
                radau_offset_weights(before, (run->time - ode->from + ode->rule[ode->order].node[i] * h) / ode->length, false, weight);
            for (uint32_t j = 0; j < STAGES; j++)
                matrix[i][j][l] = stage && j < before->stages ? weight[j] - base[j] : 0;
        }
    }
    radau_wide_transform(width, stages, matrix, mask, r->past, r->z, r->size);
    radau_wide_transform(width, r->stages, r->to, mask, r->z, r->w, r->size);
}

static void
evaluate_stages(struct Ensemble *e)
{
    struct LaneWork *r = e->work;
    Lanes *lanes = e->lanes;
    for (uint32_t i = 0; i < r->stages; i++) {
        WideNumber node = {0};
        for (uint32_t l = 0; l < lanes->width; l++) {
            Trial *trial = &r->trial[l];
            lanes->active[l] = trial->outcome == RADAU_GOES_ON && i < trial->s;
            node[l] = lanes->active[l] ? lanes->run[l]->ode->rule[lanes->run[l]->ode->order].node[i] : 0;
        }
        radau_wide_add(lanes->width, r->y, r->z + i * r->size, lanes_states(lanes), r->size);
        evaluate_active(e, node, r->f + i * r->size);
        for (uint32_t l = 0; l < lanes->width; l++)
            if (lanes->active[l] && lanes->failed[l])
                r->trial[l].outcome = RADAU_FAILED;
    }
}

static void
iterate(struct Ensemble *e)
{
    struct LaneWork *r = e->work;
    uint32_t width = e->lanes->width;
    WideNumber squares;
    for (bool any = true; any;) {
        WideMask mask;
        evaluate_stages(e);
        radau_wide_defects(width, r->stages, r->to, &r->shift, r->f, r->w, r->size);
        lane_matrix_solve(r->matrix, 0, r->f, NULL);
        for (uint32_t p = 0; p < r->stages / 2; p++)
            lane_matrix_solve(r->matrix, p + 1, r->f + (2 * p + 1) * r->size, r->f + (2 * p + 2) * r->size);
        for (uint32_t l = 0; l < width; l++)
            mask[l] = r->trial[l].outcome == RADAU_GOES_ON ? UINT64_MAX : 0;
        radau_wide_correct(width, r->stages, r->from, mask, r->f, r->w, r->z, r->weight, squares, r->size);
        any = false;
        for (uint32_t l = 0; l < width; l++) {
            Trial *trial = &r->trial[l];
            if (trial->outcome != RADAU_GOES_ON)
                continue;
            e->lanes->run[l]->stats->newton_iterations++;
            trial->outcome = radau_iteration_judge(&trial->iteration, sqrt(squares[l] / ((double)trial->s * e->lanes->model->nx)));
            any = any || trial->outcome == RADAU_GOES_ON;
        }
    }
}

// --- the error

// error := (c - J)^-1 (slope - u'(t)); its size in units of the tolerance.
static void
filter(struct Ensemble *e, const double *slope, double *error, double *size)
{
    struct LaneWork *r = e->work;
    static const WideNumber none[STAGES] = {{0}};
    WideNumber squares;
    radau_wide_sum(e->lanes->width, r->stages, ones, slope, r->rate, r->z, error, NULL, NULL, r->size);
    lane_matrix_solve(r->matrix, 0, error, NULL);
    radau_wide_sum(e->lanes->width, 0, ones, error, none, r->z, NULL, r->weight, squares, r->size);
    for (uint32_t l = 0; l < e->lanes->width; l++) {
        const Run *run = e->lanes->run[l];
        if (r->trial[l].outcome == RADAU_GOOD)
            size[l] = fmax(run->ode->rule[run->ode->order].between * sqrt(squares[l] / run->model->nx), 1e-10);
    }
}

// As error_between() of radau.c.
static void
find_between(struct Ensemble *e, double *size)
{
    struct LaneWork *r = e->work;
    uint32_t width = e->lanes->width, stages = 3;
    WideNumber now[STAGES] = {{0}}, before[STAGES] = {{0}}, slopes = {0}, squares;
    for (uint32_t l = 0; l < width; l++) {
        const Run *run = e->lanes->run[l];
        if (r->trial[l].outcome != RADAU_GOOD)
            continue;
        const Ode *ode = run->ode;
        const RadauRule *rule = &ode->rule[ode->order], *past = &ode->rule[ode->past_order];
        double weight[STAGES], there, h = r->trial[l].h;
        if (!(ode->length > 0)) {
            double factor = rule->bulge / radau_rule_beginning(rule);
            slopes[l] = factor * h;
            set_sum(now, l, rule->rate, rule->stages, -factor);
            continue;
        }
        double x = radau_point_before(run, h, &there), factor = rule->bulge / fabs(radau_rule_product(rule, x)), base[STAGES];
        radau_offset_weights(rule, x, false, weight);
        set_sum(now, l, weight, rule->stages, -factor);
        radau_offset_weights(past, there, false, weight);
        radau_offset_weights(past, (run->time - ode->from) / ode->length, false, base);
        for (uint32_t j = 0; j < past->stages; j++)
            before[j][l] = factor * (weight[j] - base[j]);
        stages = past->stages > stages ? past->stages : stages;
    }
    radau_wide_sum(width, stages, slopes, r->slope, before, r->past, r->point, NULL, NULL, r->size);
    radau_wide_sum(width, r->stages, ones, r->point, now, r->z, NULL, r->weight, squares, r->size);
    for (uint32_t l = 0; l < width; l++)
        if (r->trial[l].outcome == RADAU_GOOD)
            size[l] = sqrt(squares[l] / e->lanes->model->nx);
}

// The second estimate of those whose first one may be too large, as in radau.c.
static void
estimate_again(struct Ensemble *e, double *size)
{
    static const WideNumber beginning = {0};
    struct LaneWork *r = e->work;
    Lanes *lanes = e->lanes;
    double second[LANES_MOST];
    bool any = false;
    for (uint32_t l = 0; l < lanes->width; l++) {
        const Ode *ode = r->trial[l].outcome == RADAU_GOOD ? lanes->run[l]->ode : NULL;
        lanes->active[l] = ode && size[l] >= 1 && (ode->first || ode->rejected);
        any = any || lanes->active[l];
    }
    if (!any)
        return;
    radau_wide_add(lanes->width, r->y, r->error, lanes_states(lanes), r->size);
    evaluate_active(e, beginning, r->point);
    lanes_probe(lanes, r->point);
    filter(e, r->point, r->other, second);
    for (uint32_t l = 0; l < lanes->width; l++) {
        if (!lanes->active[l] || lanes->failed[l])
            continue;
        size[l] = second[l];
        for (size_t k = l; k < r->size; k += lanes->width)
            r->error[k] = r->other[k];
    }
}

static void
estimate(struct Ensemble *e)
{
    struct LaneWork *r = e->work;
    double size[LANES_MOST] = {0}, between[LANES_MOST] = {0};
    filter(e, r->slope, r->error, size);
    find_between(e, between);
    estimate_again(e, size);
    for (uint32_t l = 0; l < e->lanes->width; l++)
        if (r->trial[l].outcome == RADAU_GOOD)
            e->lanes->run[l]->ode->size = fmax(size[l], between[l]);
}

// --- the ends

// Those that are `good` have their ends evaluated, with what is wanted there.
static void
reach(struct Ensemble *e, bool *good, bool *tries)
{
    struct LaneWork *r = e->work;
    Lanes *lanes = e->lanes;
    WideNumber last[STAGES] = {{0}};
    double to[LANES_MOST] = {0};
    for (uint32_t l = 0; l < lanes->width; l++) {
        lanes->active[l] = good[l];
        if (!good[l])
            continue;
        last[r->trial[l].s - 1][l] = 1;
        lanes->v[l] = to[l] = r->trial[l].to;
        lanes->run[l]->stats->residuals++;
    }
    radau_wide_sum(lanes->width, r->stages, ones, r->y, last, r->z, lanes_states(lanes), NULL, NULL, r->size);
    lanes_slopes(lanes, r->point);
    ensemble_offer_good(e, good, tries, to, r->point);
    load_matrices(e, good);
}

// What the attempt says about the next one of the run.
static void
change_length(Trial *trial, Run *run)
{
    Ode *ode = run->ode;
    if (trial->outcome == RADAU_GOOD) {
        run->stats->error_failures++;
        trial->wanted = ode->first ? 0.1 * trial->h : radau_next_step(ode, trial->h);
    } else {
        run->stats->newton_failures++;
        trial->wanted = trial->iteration.factor * trial->h;
        if (trial->outcome == RADAU_FAILED || ode->settled > 0)
            radau_choose_order(ode, 1, true);
    }
    ode->rejected = true;
}

static void
attempt(struct Ensemble *e, bool *tries, const double *limit)
{
    struct LaneWork *r = e->work;
    bool good[LANES_MOST] = {false}, any = false;
    set_up(e, tries, limit);
    find_partials(e, tries);
    factor(e, tries);
    predict(e, tries);
    iterate(e);
    estimate(e);
    for (uint32_t l = 0; l < e->lanes->width; l++) {
        if (!tries[l])
            continue;
        Run *run = e->lanes->run[l];
        Ode *ode = run->ode;
        ode->rate = r->trial[l].iteration.rate;
        ode->iterations = r->trial[l].iteration.count;
        good[l] = r->trial[l].outcome == RADAU_GOOD && ode->size < 1;
        any = any || good[l];
        if (!good[l])
            change_length(&r->trial[l], run);
    }
    if (any)
        reach(e, good, tries);
}

// --- the stepper's part

static bool
take_step(Run *run, double limit, int *status)
{
    struct Ensemble *e = run->ensemble;
    struct LaneWork *r = e->work;
    LaneStep *step = &e->step[run->lane];
    Trial *trial = &r->trial[run->lane];
    Ode *ode = run->ode;
    bool takes = step->ready && step->to <= limit;
    trial->begun = false;
    if (!takes) {
        step->ready = step->stuck = step->holds = trial->known = false;
        e->rows.count[run->lane] = 0;
        return false;
    }
    for (size_t k = run->lane; k < trial->s * r->size; k += e->lanes->width)
        r->past[k] = r->z[k];
    for (size_t k = run->lane; k < r->size; k += e->lanes->width)
        r->start[k] = r->y[k];
    ode->past_order = ode->order;
    ode->from = run->time;
    ode->length = trial->h;
    ode->errors = r->error + run->lane;
    ode->assembled = false;
    memset(ode->tilt, 0, ode->n * sizeof *ode->tilt);
    radau_plan(run, trial->h, trial->cut, trial->wanted);
    ensemble_take(run);
    *status = MDL_OK;
    return true;
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
    (void)e;
    (void)lost;
}

static void
values(struct Ensemble *e, const Lanes *lanes, const double *time, double *states)
{
    struct LaneWork *r = e->work;
    WideNumber sum[STAGES] = {{0}};
    uint32_t stages = 3;
    for (uint32_t l = 0; l < lanes->width; l++) {
        if (!lanes->active[l])
            continue;
        double weight[STAGES];
        const Ode *ode = lanes->run[l]->ode;
        radau_offset_weights(&ode->rule[ode->order], (time[l] - lanes->run[l]->time) / r->trial[l].h, false, weight);
        set_sum(sum, l, weight, r->trial[l].s, 1);
        stages = r->trial[l].s > stages ? r->trial[l].s : stages;
    }
    radau_wide_sum(lanes->width, stages, ones, r->y, sum, r->z, states, NULL, NULL, r->size);
}

const LaneMethod radau_lanes = {.look = look, .create = work_create, .free = work_free, .column = set_column, .attempt = attempt, .enter = enter, .step = take_step, .has_rows = has_rows,
                                .prepare = prepare, .values = values};
