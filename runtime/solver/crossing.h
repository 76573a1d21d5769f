// crossing.h: over a position in which invariants depend on each other. Included by ida_inner.h only.
#ifndef MDLC_RUNTIME_SOLVER_CROSSING_H
#define MDLC_RUNTIME_SOLVER_CROSSING_H

#include "runtime/solver/solver.h"

typedef struct Crossing Crossing;

// For `ny` unknowns of the integrator. NULL: out of memory.
Crossing *crossing_create(uint32_t ny);
void crossing_free(Crossing **crossing);
// The method starts: what was kept is of another motion.
void crossing_forget(Crossing *crossing);
double crossing_step(const Crossing *crossing); // the last step of the memory that is kept; 0: none is
// Behind a step that ended where invariants determine velocities well: IDA's memory is kept.
void crossing_keep(Crossing *crossing, Run *run, void *ida);
// A step failed: run->time, run->y and run->yp are behind the position, as the motion of before it continues, at `limit` at the
// latest; IDA's memory is that of before, whose polynomial has the values between. The length of the steps of before is returned. 0: nothing
// has changed.
double crossing_leap(Crossing *crossing, Run *run, void *ida, Projection *projection, double limit);

#endif
