// index.h: the door of ir/index: from equations as written to ones of index one with states.
//
// In: a flat model without operators.
// Out: aliases, differentiated equations and dummy derivatives (Reduction), squared redundant mechanisms, chosen states.
// Read first: alias.c, then index.c and states.c.
// Also open to other rooms: jumps.h.
#ifndef MDLC_IR_INDEX_INDEX_H
#define MDLC_IR_INDEX_INDEX_H

#include "ir/structure/problem.h"

// Pantelides (SIAM J. Sci. Stat. Comput. 9 (1988) 213): appends differentiated equations, sets Law.level
// (index.c).
bool pass_index(Dae *dae, Reduction *reduction, Diags *diags);
// Dummy derivatives (Mattsson, Soderlind, SIAM J. Sci. Comput. 14 (1993) 677), chosen by StateSelect; the x
// of a law of level 1 is preferred above all (states.c).
bool pass_states(Dae *dae, Reduction *reduction, Diags *diags);
// Derivatives of variables with a declared rate (Dae.rates) follow from that, where no state is found while the motion goes on; after
// pass_states (declared_rates.c).
void declared_rates_apply(Dae *dae, const Reduction *reduction);
// Squares mechanisms with redundant constraints, before pass_balance (closure.c).
// True when something was added.
bool close_mechanisms(Dae *dae);
// Takes one surplus equation of every mechanism from an over-determined initial problem, which must be matched anew. `number`
// counts the variables that were made, over all calls. False when constraints are not the reason (redundant_starts.c).
bool loosen_start(Dae *dae, const Reduction *reduction, Problem *problem, uint32_t *number);
// Motions of mechanisms that are prescribed (conflict.h): what the over-determined sets determine is prescribed more than once, or prescribed and
// held (rheonomic.c). Reports, E0511, once for each who prescribes; false when no set is of this kind.
bool rheonomic_report(const Dae *dae, const Singular *over, Diags *diags);
// Drives, servos or equations say how something in these sets moves.
bool rheonomic_prescribes(const Dae *dae, const Singular *over);

#endif
