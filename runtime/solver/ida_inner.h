// ida_inner.h: one run of IDA: what ida.c, ida_start.c and ida_failure.c share.
#ifndef MDLC_RUNTIME_SOLVER_IDA_INNER_H
#define MDLC_RUNTIME_SOLVER_IDA_INNER_H

#include <nvector/nvector_serial.h>

#include "runtime/linear/sundials.h"
#include "runtime/solver/corrector.h"
#include "runtime/solver/crossing.h"
#include "runtime/solver/history.h"
#include "runtime/step/jacobian.h"
#include "runtime/solver/solver.h"

struct Integrator {
    const Run *run;
    SUNContext context;
    void *ida;
    N_Vector y, yp;          // over run->y, run->yp
    N_Vector dense, dense_p; // interpolated values
    SUNNonlinearSolver corrector;
    Jacobian *jacobian;
    Projection *projection;  // NULL: all states are free
    double *shift;           // nx: the latest projection
    Crossing *crossing;      // with it
    bool crossed;            // the last step leapt over a singular position: a start is wanted
    uint32_t lost;           // steps in a row that have ended near one
    bool warned;             // of these
    const uint32_t *replaced; // per state: the row of jac_rest that takes the place of its row, plus 1; NULL: none
    uint32_t rest_version;   // of the contacts at rest that `replaced` belongs to
    bool fresh;              // the next factorisation chooses new pivots
    double limit;            // stop time set in IDA
    double *weight, *rate;   // of all unknowns, as the latest point has them; second derivatives for the first step
    History *history;        // for the first step after an event
    double step;             // last step size, 0 at the start
    double step_before;      // the one before an event that another follows at once, otherwise 0
    long error_failures, newton_failures; // of the current start
    long stumbles;           // its correctors that did not converge, until the last good step
    double stumbling, pace;  // part of the latest good steps before which correctors did not converge; their length
    bool watchful;           // loops are looked at behind each step (fold.c)
    uint64_t events;         // of the run, before the latest step
    bool recovered;          // a restart was tried since the last good step
    bool held_low;           // a start is wanted, with a history
    uint32_t low_steps;      // of order 1 in a row
    long low_failures;       // of the error test, when they began
    double high_step;        // the last one of a higher order than 2
    char bad[300];           // what was not finite in the last failed residual
    char message[500];       // IDA's last message
};

// --- ida.c
// Unknowns of loops are among IDA's.
bool ida_has_loops(const Run *run);
// Of all unknowns at y.
void ida_weights(const Run *run, const double *y, double *weight);

// --- ida_start.c
MDL_CHECKED int ida_start(Run *run);
// The same in the middle of a leap.
MDL_CHECKED int ida_start_again(Run *run);
// An event that changes nothing in the motion.
MDL_CHECKED int ida_resume(Run *run);
// Rows of states that contacts at rest determine now are replaced by these.
MDL_CHECKED int ida_choose_rows(Run *run);
// What IDA has counted since the last call.
void ida_stats(Run *run);

// --- ida_failure.c
// The estimated errors of the latest step in units of what is allowed, in `dense`. False: there are none.
bool ida_weigh_errors(Run *run);
MDL_CHECKED int ida_report_failure(Run *run, int flag);

#endif
