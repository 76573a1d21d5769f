// memory.h: the door of runtime/memory: what a run remembers: delays, transported profiles, fractional derivatives.
//
// In: accepted steps.
// Out: values of the past at the time of an evaluation.
// Read first: delay.c, then fractional.c.
#ifndef MDLC_RUNTIME_MEMORY_MEMORY_H
#define MDLC_RUNTIME_MEMORY_MEMORY_H

#include "runtime/point/run.h"

// --- delay.c: delayed values
MDL_CHECKED int delay_start(Run *run); // the first point, in v
// Sets the delayed values at the time in v. True when delay times are computed by the dynamics: then delay_moved() says
// whether the dynamics gave other ones than those that were used.
// Keeps the points of an accepted step from `before` to `instant`; v is at the latter afterwards.
// True when the argument of a delay has reached an earlier event at `instant`, with v there.
bool delay_reaches(const Run *run, double instant);
// Some delay changes: its argument may pass an earlier event within a step. delay_passes(): it has, at the time in v.
bool delay_may_pass(const Run *run);
bool delay_passes(const Run *run);
// Arguments of delays that reach an earlier event at `instant` go past it. True when there was one.
bool delay_due(Run *run, double instant);
// After an event, with v behind it. of_delay: nothing else than delay_due() made it.
MDL_CHECKED int delay_event(Run *run, bool of_delay);
double delay_next_instant(const Run *run); // where somebody else integrates of constant delays only: the others have guards
// How long it is until the argument of each delay that changes reaches an earlier event, negative behind that; NULL: only how many there are.
uint32_t delay_guards(const Run *run, double *value);

// --- transport.c: profiles of spatialDistribution
void transport_begin(Run *run); // before the initial system is solved
MDL_CHECKED int transport_start(Run *run);  // the initial profiles; v is at the start
// After an event, with v behind it. True: a jump has left, and the relations are to be looked at again.
bool transport_event(Run *run);

// --- fractional.c: fractional derivatives as sums of exponentials. `mode` has the values of all exponentials.
void fractional_start(Run *run); // v is at the start; after it: nothing has passed yet
void fractional_leave_start(Run *run); // the first row is written, and time goes on
// Slopes of the exponentials, after the derivatives in v.
void fractional_rates(const Run *run, const double *mode, double *rate);
// The same as residuals; yp are the derivatives that the integrator has.
void fractional_residual(const Run *run, const double *mode, const double *rate, const double *yp, double *out);
// run->mode: those of the accepted point, moved along their slopes.
void fractional_extrapolate(Run *run, double ahead);
// Completes the error weights of the model's unknowns. The exponentials shall not thin out the mean of the errors.
void fractional_weights(const Run *run, const double *y, double *weight);
double fractional_nominal(const Run *run, uint32_t mode);
// Before and after an event. True when something jumped, so that the model must be solved again.
void fractional_note(Run *run);
bool fractional_jump(Run *run);
// Before the model's partial derivatives are evaluated for cj.
void fractional_prepare(Run *run, double cj);
// The linear system with residuals `right` of the exponentials: what comes to the right sides of the rows in proportion to
// their partials by the derivative of the state that is returned; and, after the model's system was solved to b, all
// corrections.
uint32_t fractional_reduce(const Run *run, uint32_t i, double cj, const double *right, double *shift);
void fractional_expand(const Run *run, uint32_t i, double cj, double shift, double *b, double *right);
// b has residuals of y' - f(t, y), in which the exponentials' slopes contain those of states: to that of fractional_residual.
void fractional_explicit(const Run *run, double *b);

#endif
