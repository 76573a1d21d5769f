// lanes.h: the right sides of several runs of one model side by side.
//
// Place p of run l stands at v[p*width + l] (mdl_lanes). What is computed for one run does not depend on which others stand beside it, nor in which
// column it stands: a run is the same to the bit in any company.
#ifndef MDLC_RUNTIME_POINT_LANES_H
#define MDLC_RUNTIME_POINT_LANES_H

#include "runtime/point/run.h"

enum { LANES_MOST = 8 };

typedef struct LaneLoop LaneLoop;

typedef struct Lanes {
    const mdl_model *model;
    uint32_t width;
    double *v;                   // nv * width, at a multiple of 64 bytes
    Run *run[LANES_MOST];        // by column; NULL: nobody's
    bool loaded[LANES_MOST];     // what changes at events only is there as its run has it
    bool active[LANES_MOST];     // wants to know the right side; what the others' columns get is nothing
    bool failed[LANES_MOST];     // the latest right side has no value
    double *kept;                // nv, of a run while one of its loops is solved by itself
    LaneLoop **loop;             // by step of the dynamics; NULL: it is no loop
    bool lends;                  // the loops are those of others
} Lanes;

// The places of the states in v.
static inline double *
lanes_states(const Lanes *lanes)
{
    return lanes->v + (size_t)lanes->model->y * lanes->width;
}

// For runs like this one, which has consistent values that nobody needs afterwards. NULL: out of memory, or there is no order in which its loops can
// be eliminated.
Lanes *lanes_create(Run *typical);
// Another array for the same runs. NULL: out of memory.
Lanes *lanes_beside(const Lanes *lanes);
void lanes_free(Lanes **lanes);
// Whether the right side of the run is nothing but what the functions of its model compute, with loops that are regular. Consistent values.
bool lanes_fit(const Run *run);
// Column `lane` becomes v of its run.
void lanes_load(Lanes *lanes, uint32_t lane);
// With times and states in v: everything up to the derivatives of states, and these into `slope` (nx * width). Sets `failed` where a loop
// has no solution.
void lanes_slopes(Lanes *lanes, double *slope);
// Sets it where a slope is not finite, too.
void lanes_probe(Lanes *lanes, const double *slope);
// Behind lanes_slopes(): derivatives stand in their places.
void lanes_derivatives(Lanes *lanes);
// Behind lanes_slopes(): the outputs, and whether all of a run are finite.
void lanes_outputs(Lanes *lanes);
void lanes_finite(const Lanes *lanes, bool *finite);
// Behind lanes_outputs(): holds[l] says whether run l fulfils all assertions that do not depend on events.
void lanes_asserts(Lanes *lanes, bool *holds);
// The loops' unknowns of column `lane` are those of its run's accepted point.
void lanes_start_loops(Lanes *lanes, uint32_t lane);
// Unknowns and derivatives of column `lane` as evaluate_store() has them: y and yp of the model's n each.
void lanes_read(const Lanes *lanes, uint32_t lane, double *y, double *yp);

// --- lane_loop.c
// `start`: values of the Jacobian at the start, besides those in v of `typical`. NULL: out of memory, or no order is found.
LaneLoop *lane_loop_create(const Run *typical, const mdl_block *block, const double *start, uint32_t width);
void lane_loop_free(LaneLoop **loop);
// Solves step k, which is a loop, from the unknowns in v. Where it is not solved `failed` is set.
void lane_loop_solve(Lanes *lanes, uint32_t k);

#endif
