// jumps.h: equations that are differentiated although they may jump at events.
#ifndef MDLC_IR_INDEX_JUMPS_H
#define MDLC_IR_INDEX_JUMPS_H

#include "ir/structure/structure.h"

// Of the equation that `structure` has read last (of id `equation`), whose derivative is the equation `made`: when it may jump, the
// derivative gets an impulse, and both are remembered (Dae.jumps).
void jumps_add(Structure *structure, uint32_t equation, uint32_t made);
// On the matched and sorted problem of the dynamics: states that reinit() sets and whose derivatives others read get an impulse in the
// equation that determines the derivative, and an entry of Dae.jumps (resets.c).
void jumps_of_reinits(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags);
// A hidden parameter that is 0.
Var jumps_zero(Dae *dae, const char *stem);

#endif
