// lane_stages.h: the stage equations of stages.h for several runs side by side.
//
// Number k of run l stands at array[k*width + l]; arrays of stages have `size` doubles for each.
#ifndef MDLC_RUNTIME_STEP_LANE_STAGES_H
#define MDLC_RUNTIME_STEP_LANE_STAGES_H

#include "runtime/linear/gauss_wide.h"
#include "runtime/point/lanes.h"
#include "runtime/step/lane_matrix.h"

typedef struct LaneStages {
    Lanes *lanes;
    Collocation method;
    size_t size;                 // doubles of a row: states times width
    double *absolute, *least;    // of the tolerance; sizes below which nothing counts
    double *change, *scaled;     // GAUSS_STAGES rows, of an iteration
    double *point;               // a row, for what is evaluated
    WideNumber tolerance;
} LaneStages;

// What solves the stages of steps of one kind.
typedef struct LaneSolver {
    LaneMatrix *matrix;          // NULL: there is none, and Newton's method does not solve them
    WideNumber factored;         // the step's length that each run's matrices are for; 0: there are none
    WideNumber shift[GAUSS_STAGES]; // of these
    double *guess, *f, *z;       // GAUSS_STAGES rows: slopes that are expected, and those found; offsets
} LaneSolver;

// A step of length h[l] from `base` at time[l], of each run; *implicit[l]: it takes Newton's method, which may come to be so.
typedef struct LaneProblem {
    const double *time, *h, *base;
    bool *implicit[LANES_MOST];
} LaneProblem;

// Slopes at `states` of the runs that are active at time[l], into the same runs' places of `slope`. Clobbers `point`.
void lane_stages_evaluate(const LaneStages *stages, const double *time, const double *states, double *slope);
// The stages of steps, from solver->guess. Those of `which` that have no solution so are none of it any more.
void lane_stages_solve(const LaneStages *stages, LaneSolver *solver, const LaneProblem *problem, bool *which);

#endif
