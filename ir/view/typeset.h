// typeset.h: variables and equations as presentation MathML.
//
// The symbol of a variable is its name; what identifies it stands below: s of component wheel is s with subscript wheel, K21
// is K with subscript 21. Derivatives have dots, Greek names are Greek letters. Every symbol has the attribute data-v, the
// variable's number in the Dae (of a derivative: its own).
#ifndef MDLC_IR_VIEW_TYPESET_H
#define MDLC_IR_VIEW_TYPESET_H

#include "ir/dae/dae.h"

// One element, without <math>.
void typeset_variable(const Dae *dae, Var var, Out *out);
// var = shape(row); NONE: 0 = shape(row).
void typeset_assignment(const Dae *dae, Var var, Expr shape, uint32_t row, Out *out);
// shape(row), as the value of `of`, or NONE; an equation is left = right.
void typeset_shape(const Dae *dae, Expr shape, uint32_t row, Var of, Out *out);
// After alias resolution when there is one.
void typeset_equation(Dae *dae, uint32_t equation, Out *out);

#endif
