// rates.h: flows of bonds that are derivatives of algebraic positions.
#ifndef MDLC_IR_PASS_RATES_H
#define MDLC_IR_PASS_RATES_H

#include "ir/problem.h"

// On the matched problem of the dynamics, for the audit: every bond whose flow is the derivative of a position gets it as
// a variable of the model. Positions that are computed from others are differentiated with all they depend on; the
// equations that were there, their matching and the states stay as they are. False after errors: a position follows a
// delayed value.
bool rates_add(Dae *dae, Reduction *reduction, Problem *problem, Diags *diags);

#endif
