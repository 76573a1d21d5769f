// regular.h: numbers for coefficients that only their texts tell apart.
#ifndef MDLC_IR_STRUCTURE_REGULAR_H
#define MDLC_IR_STRUCTURE_REGULAR_H

#include "ir/structure/problem.h"

// The number in front of a term; *text is what is left of it.
double regular_number(Exprs *exprs, Expr term, Expr *text);
// A value for a coefficient: its own where it is known while compiling, else what it is where variables that are not known have numbers
// that they determine, between 1 and 2; where it has none there, one that its text and its variables determine.
double regular_value(Dae *dae, Expr coefficient, const Var *vars);

#endif
