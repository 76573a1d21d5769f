// clocks.h: the door of ir/clocks: state machines become clocked equations, these events and discrete variables.
//
// In: a flat model with connections as equations, in which Clock, sample, hold, previous, subSample and their relatives stand.
// Out: the same motion without them: Boolean variables that are true at ticks, and one equation for each clocked variable that gives it a
// value at a tick of its clock and keeps it in between.
// Read first: clock_inner.h, then clock_partitions.c, clock_inference.c, clock_ticks.c, clock_solvers.c, clocked_equations.c; of state machines machine_inner.h and machines.c.
#ifndef MDLC_IR_CLOCKS_CLOCKS_H
#define MDLC_IR_CLOCKS_CLOCKS_H

#include "ir/base/out.h"
#include "ir/dae/dae.h"

// What was found, before nothing of it is left: as text, and as elements of arrays in JSON. The caller frees it.
typedef struct ClockListing {
    Out text;
    Out machines; // {"inside", "states": [{"name", "initial", "final"}], "transitions": [{"from", "to", "priority", "condition", "immediate", "reset", "synchronize"}]}
    Out clocks;   // {"clock", "base", "interval", "first" (in s; null: at events), "every", "from" (in ticks of the base's event), "method", "variables"}
} ClockListing;
void clock_listing_free(ClockListing *listing);
// Text of both passes; JSON: `"machines": [..], "clocks": [..]`.
void clock_listing_print_json(const ClockListing *listing, Out *out);
// Modelica 3.6, chapter 16. False after E0514. Nothing is done in a model without clocks. `listing`, where it is not NULL, is given
// the clocks and what has them.
bool pass_clocks(Dae *dae, ClockListing *listing, Diags *diags);
// Modelica 3.6, chapter 17: state machines become clocked equations. False after E0515. Nothing is done in a model without state machines.
bool pass_machines(Dae *dae, ClockListing *listing, Diags *diags);
// Two instances are different states of a state machine, or inside such: never active together. Before pass_machines.
bool clocks_alternate(Dae *dae, uint32_t a, uint32_t b);

#endif
