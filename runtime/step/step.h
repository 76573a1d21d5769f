// step.h: the door of runtime/step: what methods of integration solve within a step, whichever they are.
//
// In: the model at any point.
// Out: iteration matrices with their factors, the stage equations of collocation, the shortest way back to the invariants; what is said of runs that do
// not get on.
// Read first: jacobian.c, then projection.c.
// Also open to other rooms: jacobian.h, lane_matrix.h, lane_stages.h, slopes.h, stages.h.
#ifndef MDLC_RUNTIME_STEP_STEP_H
#define MDLC_RUNTIME_STEP_STEP_H

#include "runtime/point/run.h"

// --- invariants.c: groups of invariants that share states (models with constraints only)
Invariants *invariants_create(const mdl_model *model); // NULL: out of memory
void invariants_free(Invariants **invariants);
// How they change with the states, where the model's `jacobian` was called: before slopes and ranks are asked for. False: a loop that
// they need is singular there, and its unknowns count as if they stood still.
bool invariants_look(const Run *run, Invariants *invariants);
const struct Slopes *invariants_slopes(const Invariants *invariants);
uint32_t invariants_groups(const Invariants *invariants);
// The invariants of group g into `row` (model->n_constraints places); their number.
uint32_t invariants_group(const Invariants *invariants, uint32_t g, uint32_t *row);
// The states of their depth that they depend on into `column` (model->nx places; NULL: only their number); their number.
uint32_t invariants_states(const Invariants *invariants, uint32_t g, uint32_t *column);
// Their transposed Jacobian at the point looked at last, in units of nominal values, factored. NULL: out of memory, or not finite.
struct Rank *invariants_rank(const Run *run, Invariants *invariants, uint32_t g);

// --- projection.c: projection onto the invariants (models with constraints only)
Projection *projection_create(const Run *run); // NULL: out of memory, or invariants among too few states
MDL_CHECKED bool projection_where_needed(const Run *run, Projection **projection); // NULL where the model has no constraints; false as above
void projection_free(Projection **projection);
// Moves the states y (nx) onto the invariants by the shortest way in nominal values. v is used. False: they
// depend on each other here, or y is too far away.
MDL_CHECKED bool projection_apply(Run *run, Projection *projection, double time, double *y);
// The same for values between two steps: where there is no way, or the invariants say less than the interpolation, y stays off them by its error, and the answer is false.
bool projection_between(Run *run, Projection *projection, double time, double *y);
// The parts of it: the matrix at y, what the invariants are there (per constraint), and y += factor*K*rho, where
// C K = 1 with C = dc/dy at the point factored last. Returns the largest relative size of that correction.
MDL_CHECKED bool projection_factor(Run *run, Projection *projection, double time, const double *y);
// Limits the weights of the model's states in error tests to what the invariants say about the states, at the point where the
// latest projection has arrived: near a singular position that may be less than the tolerance asks for.
// Unknowns of loops, whose values are in y, have that of second derivatives; y is not read where the integrator has none.
void projection_weights(const Run *run, Projection *projection, const double *y, double *weight);
// At the point where the latest projection has arrived rounding of the invariants moves no state by much more than the tolerance.
bool projection_is_clear(const Run *run, const Projection *projection, const double *y);
double projection_noise(const Run *run, const Projection *projection, const double *y); // what it moves, in units of that; INFINITY: nothing is known
void projection_measure(const Run *run, Projection *projection); // the same at the point factored last
void projection_forget(Projection *projection); // what earlier projections have shown; when the method starts again
void projection_snapshot(Projection *projection, struct Snapshot *snapshot); // the same is kept; the factors are made anew
// Of a run that is integrated outside: the first correction from y, without what singular positions make large.
void projection_way(Run *run, Projection *projection, double time, const double *y, double *way);
// Its derivative in the direction in which states, inputs and time at these places of v go; v is as before. False: out of memory.
MDL_CHECKED bool projection_way_tangent(Run *run, Projection *projection, double time, const double *y, const uint32_t *place, const double *rate, uint32_t places,
                                        double *way);
const double *projection_defect(const Projection *projection);
double projection_move(const Run *run, Projection *projection, const double *rho, double factor, double *y);
MDL_CHECKED int projection_report(const Run *run); // MDL_FAILED
// Of a method that nobody takes over from, at the end of each step: once, where that is so near a singular position that projected velocities are noise. Who keeps velocities
// as they were integrated there is told when steps that follow each other do not get on.
void projection_warn(const Run *run, Projection *projection, const double *y);

// --- stalled.c: runs that do not get on
// After a step that began at `before`. MDL_FAILED with a message: the steps have shrunk to rounding.
MDL_CHECKED int pace_step(Run *run, double before);
// Just ahead of the last point a loop has no solution, or something is not a number: says so, with its equations. False: nothing was said.
bool pace_explain(Run *run);
// After a step that has failed: another form may get on.
void pace_advise(const Run *run);

#endif
