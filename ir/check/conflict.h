// conflict.h: sources that impose one quantity.
#ifndef MDLC_IR_CHECK_CONFLICT_H
#define MDLC_IR_CHECK_CONFLICT_H

#include "ir/base/diag.h"
#include "ir/structure/problem.h"

// Reports set `set` of the over-determined part as a causal conflict when sources take part in it, and marks in
// `reported` (per set of `under`) the set of conjugate variables that stays open for the same reason. False, and
// nothing reported, when it is no such conflict. Linear in the set, in `under` and in nodes and bonds.
bool conflict_report(Dae *dae, const Singular *over, uint32_t set, const Singular *under, U8Vec *reported, Diags *diags);

// A network without a reference (floating_networks.c): set `set` is the balance of flows that follows from the others. Marks in
// `reported` the set that lacks the level of the potentials. Reports, E0512.
bool floating_report(Dae *dae, const Singular *over, uint32_t set, const Singular *under, U8Vec *reported, Diags *diags);

// Inputs of components in the sets of `under` that nothing gives a value (undriven.c): the rest of what is missing follows from
// them. False, and nothing reported, when there is none.
bool undriven_report(const Dae *dae, const Singular *under, DiagCode code, Diags *diags);

// massless_bodies.c: marks equations of bodies without mass in the sets of `over`; reports, E0501, those that are marked: nothing says how the bodies
// move. False, and nothing reported, when there is none.
void massless_find(Dae *dae, const Singular *over);
bool massless_report(Dae *dae, const Singular *under, Diags *diags);

#endif
