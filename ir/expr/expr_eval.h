// expr_eval.h: the value of an expression at given values of its slots.
#ifndef MDLC_IR_EXPR_EXPR_EVAL_H
#define MDLC_IR_EXPR_EXPR_EVAL_H

#include <stdbool.h>

#include "ir/expr/expr_id.h"
#include "ir/expr/op.h"

// The value of an operator that computes, for constant folding and evaluation; NaN for the others.
double expr_apply(Op op, const double *args, uint32_t n);
double expr_apply_1(Op op, double x); // the value of an operator of one number; NaN for others
bool op_is_partial(Op op);            // has no value for some numbers: sqrt, log, ...
// slots[k] are values; undefined operators (TAR, SGN, SAMPLE...) yield NaN.
double expr_eval(Exprs *exprs, Expr e, const double *slots, double time);

// Several expressions at many points: what they share is computed once, and nothing is looked up again. Expressions that are made later do not disturb it.
typedef struct ExprTape ExprTape;
ExprTape *expr_tape_make(Exprs *exprs, const Expr *roots, uint32_t n);
void expr_tape_eval(ExprTape *tape, const double *slots, double time, double *out); // out[n]
void expr_tape_free(ExprTape *tape); // or NULL

#endif
