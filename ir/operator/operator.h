// operator.h: the door of ir/operator: operators of the language that are no arithmetic become hidden variables, laws, histories.
//
// In: a flat model with luz, tar, Sgn, coulomb, unilateral, delay, spatialDistribution, fder, integral, floor, square roots that empty.
// Out: the same motion without them: variables, laws, delays, fractional derivatives of Dae.
// Read first: naming.h and operator_calls.h, then unilateral.c and laws.c; each other file is one operator.
// Also open to other rooms: leak.h, naming.h, play.h.
#ifndef MDLC_IR_OPERATOR_OPERATOR_H
#define MDLC_IR_OPERATOR_OPERATOR_H

#include "ir/structure/problem.h"

// delay(): hidden variables and Dae.delays (delays.c). settable: parameters can be set in the compiled model.
bool pass_delays(Dae *dae, bool settable, Diags *diags);
// Integrals in energies take their values, before equations are made of these (integrals.c).
void integrals_of_energies(Dae *dae);
// e, over `vars` and about this equation, with a discrete variable for each floor, ceil and trunc of what changes continuously: the
// variable holds it between events. They are called $STEM1, ... and come behind `vars` (integers.c).
Expr integers_hold(Dae *dae, uint32_t equation, Expr e, const char *stem, U32Vec *vars);
// Part of pass_causality: a curve that turns round is not solved for what it is a function of: false after E0522; where its
// derivative is, an assertion keeps to the branch (curves.c).
bool curves_check_inverses(Dae *dae, const Reduction *reduction, const Problem *problem, Diags *diags);
// Reports set-valued laws that no motion satisfies while they slip, as a located error that names their components. The
// laws are those of the over-determined part of `problem`, else the plays of the model (play.c).
void structure_report_laws(Dae *dae, const Problem *problem, Diags *diags);

#endif
