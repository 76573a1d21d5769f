// corrector.h: the equations of a step of IDA solved by the runtime's own Newton iteration.
#ifndef MDLC_RUNTIME_SOLVER_CORRECTOR_H
#define MDLC_RUNTIME_SOLVER_CORRECTOR_H

#include <sundials/sundials_nonlinearsolver.h>

#include "runtime/point/run.h"

typedef struct {
    // out := F(time, y, yp). False: it has no finite value there, but may have nearer to the last point.
    bool (*residual)(Run *run, double time, const double *y, const double *yp, double *out);
    // Factors dF/dy + cj dF/dyp at the point of the latest residual. False: the matrix is singular.
    bool (*factor)(Run *run, double cj);
    // b := matrix^-1 b.
    void (*solve)(Run *run, double *b);
} CorrectorModel;

// For IDASetNonlinearSolver(); IDA needs no linear solver then. `weight` (run_size() values, may be NULL) takes the place of
// IDA's error weights in the test of convergence. NULL: out of memory. SUNNonlinSolFree() releases it.
SUNNonlinearSolver corrector_create(SUNContext context, Run *run, const CorrectorModel *model, const double *weight);
// The next iteration has a new matrix: what IDA knew of the motion is gone.
void corrector_forget(SUNNonlinearSolver solver);
// The same, and nothing is left of earlier iterations: as in another run.
void corrector_settle(SUNNonlinearSolver solver);
// Did the latest solution fail at a matrix that is singular?
bool corrector_singular(SUNNonlinearSolver solver);

#endif
