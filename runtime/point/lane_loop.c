// lane_loop.c: one algebraic loop of several runs side by side.
//
// Purpose: the accelerations and forces of a mechanism are solved for in every evaluation of every run.
// Method: that of standing_loop.c with one order for all: Newton's corrections with the Jacobian of each iterate for what is not affine; for what is, one
//         Jacobian and corrections by what is left (Skeel, Math. Comp. 35 (1980) 817). A run whose correction is rounding gets no more, whatever the others need.
//         A run whose pivots have become small, or whose corrections do not shrink, is solved by itself (newton.c).
// Contract: lanes.h; on success inner variables and residuals belong to the solution. Complexity: two or three evaluations, one Jacobian and factorisation of an
//         affine loop; one each for every correction of another.
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/linear/standing.h"
#include "runtime/point/lanes.h"
#include "runtime/point/newton.h"
#include "runtime/point/point.h"

static const double CONVERGED = 1e-12;          // as in newton.c
static const double STAGNATED = 1e-10;          // as in standing_loop.c
enum { REFINEMENTS = 5, ITERATIONS = 10 };

struct LaneLoop {
    Standing *standing;
    double *factor, *step, *work, *start;
    double *scale;                  // m: of the unknowns
};

// An order whose pivots are there at the start and beside it, if there is one: what lies in line at the start may turn, and what turns out of line beside it may
// stay there.
static Standing *
find_order(const mdl_block *block, const double *start, const double *beside)
{
    const uint32_t *column = block->jac.column_start, *row = block->jac.row;
    Standing *usual = standing_create(block->m, column, row, beside);
    if (usual && standing_factor(usual, start))
        return usual;
    Standing *other = standing_create(block->m, column, row, start);
    bool better = other && (!usual || standing_factor(other, beside));
    standing_free(better ? &usual : &other);
    return better ? other : usual;
}

LaneLoop *
lane_loop_create(const Run *typical, const mdl_block *block, const double *start, uint32_t width)
{
    LaneLoop *loop = calloc(1, sizeof *loop);
    if (!loop)
        return NULL;
    mdl_call(block->jacobian, typical->v);
    loop->standing = find_order(block, start, typical->v + block->jac.values);
    size_t m = (size_t)block->m + 1, places = loop->standing ? standing_places(loop->standing) + 1 : 1;
    loop->factor = calloc(places * width, sizeof *loop->factor);
    loop->step = calloc(3 * m * width, sizeof *loop->step);
    loop->scale = calloc(m, sizeof *loop->scale);
    if (!loop->standing || !loop->factor || !loop->step || !loop->scale) {
        lane_loop_free(&loop);
        return NULL;
    }
    loop->work = loop->step + m * width;
    loop->start = loop->work + m * width;
    for (uint32_t i = 0; i < block->m; i++)
        loop->scale[i] = block->nominal && fabs(block->nominal[i]) > 0 ? fabs(block->nominal[i]) : 1;
    return loop;
}

void
lane_loop_free(LaneLoop **slot)
{
    LaneLoop *loop = *slot;
    if (!loop)
        return;
    standing_free(&loop->standing);
    free(loop->factor);
    free(loop->step);
    free(loop->scale);
    free(loop);
    *slot = NULL;
}

#define WIDE __attribute__((target_clones("avx2", "default")))

// What is wrong with the unknowns in v, with the sign changed.
static inline __attribute__((always_inline)) void
take_defects_of(const uint32_t width, const Lanes *lanes, const mdl_block *block, double *out)
{
    for (uint32_t i = 0; i < block->m; i++) {
        const double *residual = lanes->v + (size_t)block->residual[i] * width;
        for (uint32_t l = 0; l < width; l++)
            out[(size_t)i * width + l] = 0 - residual[l];
    }
}

WIDE static void
take_defects(const Lanes *lanes, const mdl_block *block, double *out)
{
    if (lanes->width == LANES_MOST)
        take_defects_of(LANES_MOST, lanes, block, out);
    else
        take_defects_of(LANES_MOST / 2, lanes, block, out);
}

// The largest part of each run's correction of max(|u|, nominal); what is no number stays.
static inline __attribute__((always_inline)) void
measure_of(const uint32_t width, const Lanes *lanes, const mdl_block *block, const LaneLoop *loop, double *norm)
{
    double most[LANES_MOST] = {0};
    for (uint32_t i = 0; i < block->m; i++) {
        const double *unknown = lanes->v + (size_t)block->unknown[i] * width, *step = loop->step + (size_t)i * width, scale = loop->scale[i];
        for (uint32_t l = 0; l < width; l++) {
            double unit = fabs(unknown[l]) > scale ? fabs(unknown[l]) : scale, size = fabs(step[l]) / unit;
            most[l] = size <= most[l] ? most[l] : size;
        }
    }
    memcpy(norm, most, width * sizeof *norm);
}

WIDE static void
measure(const Lanes *lanes, const mdl_block *block, const LaneLoop *loop, double *norm)
{
    if (lanes->width == LANES_MOST)
        measure_of(LANES_MOST, lanes, block, loop, norm);
    else
        measure_of(LANES_MOST / 2, lanes, block, loop, norm);
}

static inline __attribute__((always_inline)) void
apply_of(const uint32_t width, const Lanes *lanes, const mdl_block *block, const LaneLoop *loop, const double *part)
{
    double takes[LANES_MOST];
    memcpy(takes, part, width * sizeof *takes);
    for (uint32_t i = 0; i < block->m; i++) {
        double *unknown = lanes->v + (size_t)block->unknown[i] * width;
        const double *step = loop->step + (size_t)i * width;
        for (uint32_t l = 0; l < width; l++) {
            double moved = unknown[l] + step[l];
            unknown[l] = takes[l] > 0 ? moved : unknown[l];
        }
    }
}

WIDE static void
apply(const Lanes *lanes, const mdl_block *block, const LaneLoop *loop, const double *part)
{
    if (lanes->width == LANES_MOST)
        apply_of(LANES_MOST, lanes, block, loop, part);
    else
        apply_of(LANES_MOST / 2, lanes, block, loop, part);
}

static void
keep(const Lanes *lanes, const mdl_block *block, double *to)
{
    for (uint32_t i = 0; i < block->m; i++)
        memcpy(to + i * lanes->width, lanes->v + block->unknown[i] * lanes->width, lanes->width * sizeof *to);
}

// By itself, from where its unknowns were, with nothing that is remembered of the solutions before.
static void
solve_alone(Lanes *lanes, uint32_t k, uint32_t lane)
{
    const LaneLoop *loop = lanes->loop[k];
    const mdl_block *block = lanes->model->dynamics[k].block;
    Run *run = lanes->run[lane];
    size_t width = lanes->width;
    double *v = lanes->v + lane;
    memcpy(lanes->kept, run->v, lanes->model->nv * sizeof *lanes->kept);
    for (uint32_t p = 0; p < lanes->model->nv; p++)
        run->v[p] = v[p * width];
    for (uint32_t i = 0; i < block->m; i++)
        run->v[block->unknown[i]] = loop->start[i * width + lane];
    newton_settle(run->block[k]);
    lanes->failed[lane] = newton_solve(run, run->block[k], EFFORT_RUN) != MDL_OK || lanes->failed[lane];
    for (uint32_t p = 0; p < lanes->model->nv; p++)
        v[p * width] = run->v[p];
    memcpy(run->v, lanes->kept, lanes->model->nv * sizeof *lanes->kept);
}

typedef enum Progress { GOES_ON, DONE, LOST } Progress;

// From a correction that is to be applied if this says so (*part), and the one before.
static Progress
judge(double norm, double before, bool first, const mdl_block *block, double *part)
{
    bool stagnant = norm > before / 4 && before <= STAGNATED && norm <= STAGNATED;
    *part = 0;
    if (!isfinite(norm) || !(norm <= before / 4 || norm <= CONVERGED || stagnant))
        return LOST;
    if (!first && (norm <= newton_rounding(block->linear ? block->m : 1) || (stagnant && norm >= before)))
        return DONE;
    *part = 1;
    double rate = norm / before; // 0 at first
    return !first && (block->linear ? norm <= CONVERGED || stagnant : (norm <= CONVERGED && norm * rate <= DBL_EPSILON) || stagnant) ? DONE : GOES_ON;
}

void
lane_loop_solve(Lanes *lanes, uint32_t k)
{
    const mdl_lane_step *code = &lanes->model->lanes->step[k];
    const mdl_block *block = lanes->model->dynamics[k].block;
    LaneLoop *loop = lanes->loop[k];
    Progress progress[LANES_MOST];
    double norm[LANES_MOST], before[LANES_MOST], part[LANES_MOST];
    uint8_t worn[LANES_MOST] = {0};
    bool more = true;
    keep(lanes, block, loop->start);
    mdl_call(code->call, lanes->v);
    for (uint32_t l = 0; l < lanes->width; l++) {
        before[l] = INFINITY;
        progress[l] = lanes->active[l] && !lanes->failed[l] ? GOES_ON : DONE;
    }
    for (int pass = 0; more && pass < (block->linear ? REFINEMENTS : ITERATIONS); pass++) {
        take_defects(lanes, block, loop->step);
        if (pass == 0 || !block->linear) {
            mdl_call(code->jacobian, lanes->v);
            standing_factor_wide(loop->standing, lanes->width, lanes->v + (size_t)block->jac.values * lanes->width, loop->factor, worn);
        }
        standing_solve_wide(loop->standing, lanes->width, loop->factor, loop->step, loop->work);
        measure(lanes, block, loop, norm);
        bool moved = false;
        more = false;
        for (uint32_t l = 0; l < lanes->width; l++) {
            part[l] = 0;
            if (progress[l] != GOES_ON)
                continue;
            progress[l] = worn[l] ? LOST : judge(norm[l], before[l], pass == 0, block, &part[l]);
            before[l] = norm[l];
            moved = moved || part[l] > 0;
            more = more || progress[l] == GOES_ON;
        }
        if (!moved)
            break;
        apply(lanes, block, loop, part);
        mdl_call(code->call, lanes->v);
    }
    for (uint32_t l = 0; l < lanes->width; l++)
        if (progress[l] != DONE)
            solve_alone(lanes, k, l);
}
