// lane_stages.c: the stages of collocation steps of several runs side by side.
//
// Purpose: nearly all that a step costs.
// Method: that of stages.c: each run takes to Newton's method by itself, where the fixed-point iteration does not contract, with the loops' unknowns in the matrix
//         (lane_matrix.c). Runs whose iteration has ended are left as they are while others go on. Matrices are kept as long as the run's step has their length and
//         its iteration contracts; those of all runs are factored together, which gives the others what they had.
// Contract: lane_stages.h; what is computed for one run does not depend on those beside it. Complexity: that of stages.c, for as many iterations as the run
//           takes that needs most.
#include <string.h>

#include "runtime/step/lane_stages.h"
#include "runtime/step/stages.h"

enum { STAGES = GAUSS_STAGES };

void
lane_stages_evaluate(const LaneStages *g, const double *time, const double *states, double *slope)
{
    Lanes *lanes = g->lanes;
    WideMask mask = {0};
    for (uint32_t l = 0; l < lanes->width; l++) {
        mask[l] = lanes->active[l] ? UINT64_MAX : 0;
        if (!lanes->active[l])
            continue;
        lanes->v[l] = time[l];
        lanes->run[l]->stats->residuals++;
    }
    if (states != lanes_states(lanes))
        memcpy(lanes_states(lanes), states, g->size * sizeof *states);
    lanes_slopes(lanes, g->point);
    gauss_wide_put(lanes->width, mask, g->point, slope, g->size);
}

// The slopes at the stages of all runs that go on.
static void
evaluate_stages(const LaneStages *g, const LaneSolver *solver, const LaneProblem *problem, bool *goes_on)
{
    Lanes *lanes = g->lanes;
    for (uint32_t i = 0; i < STAGES; i++) {
        WideNumber at = {0};
        for (uint32_t l = 0; l < lanes->width; l++)
            at[l] = problem->time[l] + g->method.node[i] * problem->h[l];
        memcpy(lanes->active, goes_on, sizeof lanes->active);
        radau_wide_add(lanes->width, problem->base, solver->z + i * g->size, lanes_states(lanes), g->size);
        lane_stages_evaluate(g, at, lanes_states(lanes), solver->f + i * g->size);
        for (uint32_t l = 0; l < lanes->width; l++)
            goes_on[l] = goes_on[l] && !lanes->failed[l];
    }
}

// As solve_triangular() of stages.c, for the runs of the mask.
static void
solve_triangular(const LaneStages *g, LaneSolver *solver, const double *h, const uint64_t *mask)
{
    uint32_t width = g->lanes->width;
    for (uint32_t i = 0; i < STAGES; i++) {
        gauss_wide_before(width, i, g->method.lower[i], h, mask, g->change, g->scaled, g->point, g->size);
        lane_matrix_solve(solver->matrix, i, g->point, NULL);
        gauss_wide_behind(width, i, g->method.lower[i], mask, g->point, g->change, g->scaled, g->size);
    }
}

// Matrices at the beginning, for those that ask; those that get none do not ask any more.
static void
factor(const LaneStages *g, LaneSolver *solver, const LaneProblem *problem, bool *asks)
{
    Lanes *lanes = g->lanes;
    WideMask mask = {0};
    uint8_t worn[LANES_MOST] = {0};
    memcpy(lanes->active, asks, sizeof lanes->active);
    lane_stages_evaluate(g, problem->time, problem->base, g->scaled);
    for (uint32_t l = 0; l < lanes->width; l++) {
        asks[l] = asks[l] && !lanes->failed[l];
        mask[l] = asks[l] ? UINT64_MAX : 0;
        for (uint32_t i = 0; asks[l] && i < STAGES; i++)
            solver->shift[i][l] = 1 / (problem->h[l] * g->method.lower[i][i]);
    }
    lanes_derivatives(lanes);
    lane_matrix_load(solver->matrix, lanes->v, mask);
    for (uint32_t i = 0; i < STAGES; i++)
        lane_matrix_factor(solver->matrix, i, solver->shift[i], NULL, worn);
    for (uint32_t l = 0; l < lanes->width; l++)
        if (asks[l]) {
            lanes->run[l]->stats->jacobians++;
            asks[l] = !worn[l];
            solver->factored[l] = worn[l] ? 0 : problem->h[l];
        }
}

// Iterations until all of those that go on are solved or fail; whether they are solved.
static void
iterate(const LaneStages *g, LaneSolver *solver, const LaneProblem *problem, const bool *by_newton, bool *goes_on, bool *solved)
{
    uint32_t width = g->lanes->width;
    GaussChange size_of = {.base = problem->base, .least = g->least, .absolute = g->absolute, .tolerance = g->tolerance};
    StagesIteration iteration[LANES_MOST];
    bool any = false;
    for (uint32_t l = 0; l < width; l++) {
        stages_begin(&iteration[l]);
        any = any || goes_on[l];
    }
    while (any) {
        WideMask mask = {0}, newton = {0};
        bool some = false;
        evaluate_stages(g, solver, problem, goes_on);
        for (uint32_t l = 0; l < width; l++) {
            mask[l] = goes_on[l] ? UINT64_MAX : 0;
            newton[l] = by_newton[l] ? mask[l] : 0;
            some = some || newton[l];
        }
        gauss_wide_defects(width, &g->method, problem->h, solver->f, solver->z, g->change, g->size);
        if (some)
            solve_triangular(g, solver, problem->h, newton);
        gauss_wide_take(width, mask, g->change, solver->z, &size_of, g->size);
        any = false;
        for (uint32_t l = 0; l < width; l++) {
            if (!goes_on[l])
                continue;
            StagesOutcome outcome = stages_judge(&iteration[l], size_of.most[l], size_of.error[l]);
            g->lanes->run[l]->stats->newton_iterations += by_newton[l];
            solved[l] = outcome == STAGES_SOLVED;
            goes_on[l] = outcome == STAGES_GO_ON;
            any = any || goes_on[l];
        }
    }
}

// How the stages of a run are solved: as in stages_solve(), one after the other.
typedef enum Way { BY_POINTS, BY_OLD_MATRIX, BY_NEW_MATRIX, NO_WAY } Way;

static Way
choose_way(const LaneSolver *solver, const LaneProblem *problem, uint32_t lane, Way failed)
{
    bool *implicit = problem->implicit[lane];
    *implicit = *implicit || failed == BY_POINTS;
    if (!*implicit)
        return BY_POINTS;
    if (!solver->matrix || failed == BY_NEW_MATRIX)
        return NO_WAY;
    return failed != BY_OLD_MATRIX && solver->factored[lane] == problem->h[lane] ? BY_OLD_MATRIX : BY_NEW_MATRIX;
}

// From solver->guess, each run in its way: which of them are solved.
static void
go_ways(const LaneStages *g, LaneSolver *solver, const LaneProblem *problem, const Way *way, bool *solved)
{
    uint32_t width = g->lanes->width;
    bool asks[LANES_MOST] = {false}, goes_on[LANES_MOST] = {false}, by_newton[LANES_MOST], any = false;
    WideMask mask = {0};
    for (uint32_t l = 0; l < width; l++) {
        asks[l] = way[l] == BY_NEW_MATRIX;
        by_newton[l] = way[l] != BY_POINTS;
        any = any || asks[l];
    }
    if (any)
        factor(g, solver, problem, asks);
    for (uint32_t l = 0; l < width; l++) {
        goes_on[l] = way[l] == BY_NEW_MATRIX ? asks[l] : way[l] != NO_WAY;
        mask[l] = goes_on[l] ? UINT64_MAX : 0;
    }
    gauss_wide_put(width, mask, solver->guess, solver->f, STAGES * g->size);
    gauss_wide_offsets(width, &g->method, problem->h, solver->f, g->change, g->size);
    gauss_wide_put(width, mask, g->change, solver->z, STAGES * g->size);
    iterate(g, solver, problem, by_newton, goes_on, solved);
}

void
lane_stages_solve(const LaneStages *g, LaneSolver *solver, const LaneProblem *problem, bool *which)
{
    uint32_t width = g->lanes->width;
    Way way[LANES_MOST];
    bool any = false, solved[LANES_MOST] = {false};
    for (uint32_t l = 0; l < width; l++) {
        way[l] = which[l] ? choose_way(solver, problem, l, NO_WAY) : NO_WAY;
        any = any || way[l] != NO_WAY;
    }
    while (any) {
        go_ways(g, solver, problem, way, solved);
        any = false;
        for (uint32_t l = 0; l < width; l++) {
            if (way[l] == NO_WAY)
                continue;
            way[l] = solved[l] ? NO_WAY : choose_way(solver, problem, l, way[l]);
            any = any || way[l] != NO_WAY;
        }
    }
    memcpy(which, solved, sizeof solved);
}
