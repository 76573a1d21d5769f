// stages.h: the stage equations Z_i = h * sum of a_ij f(t + c_j h, base + Z_j) of a collocation step.
#ifndef MDLC_RUNTIME_STEP_STAGES_H
#define MDLC_RUNTIME_STEP_STAGES_H

#include "runtime/linear/collocation.h"
#include "runtime/point/run.h"

typedef struct Stages {
    const Collocation *method;
    uint32_t n;
    double *slope;      // GAUSS_STAGES x n: f at the stages; before a solve: a guess of them
    double *offset;     // Z, the same shape
    // Equations of loops that follow from others do so only on the invariants: f is taken there. Otherwise NULL.
    Projection *projection;
    // Newton's method, made when the fixed-point iteration does not contract:
    bool implicit;      // it is in use
    struct Jacobian *jacobian[GAUSS_STAGES];
    double factored;    // step size of the factors, 0: none
    double error;       // the latest change in tolerances
    double *scaled, *change, *guess, *right; // the last has one place per unknown of the model
} Stages;

// NULL: out of memory.
Stages *stages_create(const Run *run, const Collocation *method);
void stages_free(Stages **stages);
// After an event: forgets factors and tries the fixed-point iteration again.
void stages_reset(Stages *stages);
// Forgets factors, and the pivots that they have chosen.
void stages_settle(Stages *stages);
// Solves to rounding from the guess in `slope`. False: no convergence. v is used.
MDL_CHECKED bool stages_solve(Run *run, Stages *stages, double time, const double *base, double h);
// Whether an iteration on stages goes on, from the largest relative change of what it changes and the same in tolerances.
typedef struct StagesIteration {
    uint32_t count;
    double before, earlier, error_before, error_earlier;
} StagesIteration;
typedef enum StagesOutcome { STAGES_GO_ON, STAGES_SOLVED, STAGES_FAILED } StagesOutcome;
void stages_begin(StagesIteration *iteration);
StagesOutcome stages_judge(StagesIteration *iteration, double change, double error);
// f at one point; false when it has no finite value.
MDL_CHECKED bool stages_slope(Run *run, Stages *stages, double time, const double *y, double *slope);

#endif
