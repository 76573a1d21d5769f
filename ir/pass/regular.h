// regular.h: numbers for coefficients that only their texts tell apart, and regular choices of columns.
#ifndef MDLC_IR_PASS_REGULAR_H
#define MDLC_IR_PASS_REGULAR_H

#include "ir/problem.h"

// The number in front of a term; *text is what is left of it.
double regular_number(Exprs *exprs, Expr term, Expr *text);
// A value for a coefficient: its number times one that its text and its variables determine, between 1 and 2.
double regular_value(Exprs *exprs, Expr coefficient, const Var *vars);
// Chooses columns of the n x m matrix `a` (by rows, destroyed), in the given order, that are independent. row_of[k], for all m columns:
// the row that order[k] was chosen with, or NONE. Returns how many there are.
uint32_t regular_choose(double *a, uint32_t n, uint32_t m, const uint32_t *order, uint32_t n_order, uint32_t *row_of);

#endif
