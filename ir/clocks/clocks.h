// clocks.h: the door of ir/clocks: the synchronous part of the language becomes events and discrete variables.
//
// In: a flat model with connections as equations, in which Clock, sample, hold, previous, subSample and their relatives stand.
// Out: the same motion without them: Boolean variables that are true at ticks, and one equation for each clocked variable that gives it a
// value at a tick of its clock and keeps it in between.
// Read first: clock_inner.h, then clock_partitions.c, clock_inference.c, clock_ticks.c, clocked_equations.c.
#ifndef MDLC_IR_CLOCKS_CLOCKS_H
#define MDLC_IR_CLOCKS_CLOCKS_H

#include "ir/base/out.h"
#include "ir/dae/dae.h"

// Modelica 3.6, chapter 16. False after E0514. Nothing is done in a model without clocks. `listing`, where it is not NULL, is given
// the clocks and what has them, as text (mdlc show clocks).
bool pass_clocks(Dae *dae, Out *listing, Diags *diags);

#endif
