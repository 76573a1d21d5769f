// non_finite.h: which equation is to blame for a value that is not finite.
#ifndef MDLC_IR_VIEW_NON_FINITE_H
#define MDLC_IR_VIEW_NON_FINITE_H

#include "ir/dae/sys.h"
#include "ir/structure/causal.h"

// Appends the first assignment of the causal form, in order of evaluation, whose result is not finite though
// all it reads is: where it stands, its text, and the values it read. False, and nothing appended, when there
// is none.
bool explain_not_finite(Dae *dae, const Causal *causal, const Sys *sys, const double *v, Out *out);

#endif
