// zeros.h: what follows where an inertance or a capacitance is zero. Inner header of zeros.c and zero_inertia.c.
#ifndef MDLC_IR_INDEX_ZEROS_H
#define MDLC_IR_INDEX_ZEROS_H

#include "ir/dae/dae.h"

bool zeros_says(Exprs *exprs, Expr shape); // c*#0 = 0
// These equations lost a derivative, `bases` are the variables that it was of: the effort on what has no mass is zero for its neighbours
// too, and names of its derivatives ask for nothing (zero_inertia.c).
void zeros_spread(Dae *dae, const U32Vec *equations, const U32Vec *bases);
// Of these equations, x = y and x = -y become aliases beside those that are there (alias.c).
void alias_more(Dae *dae, const U32Vec *equations);

#endif
