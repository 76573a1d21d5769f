// check.h: the door of ir/check: what has to hold of a model, said in the words of the user when it does not.
//
// In: a flat model, or its matching.
// Out: messages: units, contracts of components, variability, missing and surplus equations, conflicts of causality.
// Read first: balance.c, then contract.c.
// Also open to other rooms: self_adjoint.h.
#ifndef MDLC_IR_CHECK_CHECK_H
#define MDLC_IR_CHECK_CHECK_H

#include "ir/base/diag.h"
#include "ir/structure/problem.h"

// The problem of the dynamics: all continuous equations, unknown = all continuous variables that are not
// states (derivatives of states, algebraic variables, dummy derivatives); matched with the bond graph's
// priorities and sorted (causality.c). Then Bond.effort_from is set from the matching.
bool pass_causality(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags);
// pass_balance() as the model is: mechanisms with redundant constraints are not squared first (balance.c).
bool balance_open(Dae *dae, Diags *diags);
// Reports a singular structure in the user's names: per connected culprit set the equations that are too many
// (`over_code`) and the variables that nothing determines (`under_code`). The matching of `problem` is
// maximum.
void structure_report(Dae *dae, const Problem *problem, DiagCode over_code, DiagCode under_code, Diags *diags);
// An Integer that an equation, or an initial one, of the problem determines gets a whole number (whole_numbers.c); false after messages.
bool whole_numbers(Dae *dae, const Problem *problem, bool initial, Diags *diags);
bool variability_of_discretes(Dae *dae, const Problem *discrete, Diags *diags);
// Where the problem leaves an Integer, a Boolean undetermined because what it is given changes continuously: true after saying so.
bool variability_of_undetermined(Dae *dae, const Problem *problem, Diags *diags);

#endif
