// solve.h: the door of ir/solve: blocks become assignments and torn loops.
//
// In: sorted problems.
// Out: causal forms (causal.h): explicit assignments where a block can be solved safely, tears and residuals elsewhere.
// Read first: solve.c, then tear.c.
#ifndef MDLC_IR_SOLVE_SOLVE_H
#define MDLC_IR_SOLVE_SOLVE_H

#include "ir/base/diag.h"
#include "ir/structure/causal.h"

// Solves each block of the sorted problem: symbolically where one unknown can be isolated with a divisor made
// of parameters only, by the algebra of luz and tar for small piecewise-linear loops, by tearing otherwise
// (solve.c, tear.c). `solved`, if not NULL, is the causal form of another problem of the model: what both determine from
// one equation is taken from there.
void causal_make(Dae *dae, const Reduction *reduction, const Problem *problem, const Causal *solved, Causal *causal);
// False, and told, when equations of a linear loop with numbers as coefficients contradict each other (contradiction.c).
bool causal_consistent(Dae *dae, const Causal *causal, Diags *diags);
// Joins accelerations that differentiated invariants seem to determine with the systems of the forces that follow from
// them (couple.c). `problem` is sorted and is sorted anew.
void problem_couple(Dae *dae, const Reduction *reduction, Problem *problem);

#endif
