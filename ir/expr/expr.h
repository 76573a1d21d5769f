// expr.h: the door of ir/expr: expressions as shared nodes, and what can be done with them without knowing a model.
//
// In: texts and numbers.
// Out: hash-consed expressions over slots (operators are rows of op.def), derivatives, simplification, evaluation,
// polynomials, integrals, set-valued algebra, routines, and the text form of all of it with its reader.
// Read first: expr.c, then expr_make.c and expr_diff.c.
// Also open to other rooms: expr_calculus.h, expr_eval.h, expr_id.h, expr_make.h, expr_node.h, expr_parts.h, expr_rewrite.h, expr_text.h,
// integrate.h, nonsmooth.h, op.def, op.h, polynomial.h, routine.h, text_values.h. A header for each thing that is done with expressions, so
// that a change compiles again what does it.
//
// An expression is a 32-bit id; equal ids, equal expressions. Leaves are constants, time and slots. The
// text of an equation is a *shape*: an expression whose slots are numbered 0..k-1 in order of first
// occurrence; which variable a slot stands for is said by a row (dae.h). Work on the text of equations is
// done once per shape and memoized by id.
#ifndef MDLC_IR_EXPR_EXPR_H
#define MDLC_IR_EXPR_EXPR_H

#include "ir/expr/expr_id.h"

Exprs *exprs_create(void);
void exprs_free(Exprs **exprs);

#endif
