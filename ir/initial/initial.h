// initial.h: the door of ir/initial: the problem of initialisation.
//
// In: equations of index 1 with their states; start values, initial equations, when-equations, laws.
// Out: a square system for everything at the start, matched and sorted (ir/structure/problem.h), with guesses for its loops; or why it is not square.
// Read first: initial_system.c, then start_values.c.
#ifndef MDLC_IR_INITIAL_INITIAL_H
#define MDLC_IR_INITIAL_INITIAL_H

#include "ir/dae/dae.h"
#include "ir/structure/problem.h"

// Gives start values parameters of their own, which a compiled model can set (start_parameters.c); before pass_init.
void starts_detach(Dae *dae, const Reduction *reduction);
// All equations, initial equations, fixed starts, and default starts (initial_system.c); false after errors.
bool pass_init(Dae *dae, const Reduction *reduction, Problem *problem, Diags *diags);
// mdlc show init: conditions given and start values that were taken as fixed (initial_report.c).
void problem_print_init(const Dae *dae, const Problem *problem, Out *out);

#endif
