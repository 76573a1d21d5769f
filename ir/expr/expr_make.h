// expr_make.h: making expressions, which simplifies them.
//
// Constants fold (never hiding a division by zero: x/0 stays), sums and products are flat with one leading constant, nested negation
// and identities (x+0, 1*x, x^1, --x, if true ...) vanish. 0*x folds to 0. The order of terms is kept as written (first occurrence), and
// equal terms are collected (x + x = 2*x). Simplification is idempotent.
#ifndef MDLC_IR_EXPR_EXPR_MAKE_H
#define MDLC_IR_EXPR_EXPR_MAKE_H

#include "ir/expr/expr_id.h"
#include "ir/expr/op.h"

Expr expr_const(Exprs *exprs, double value); // -0.0 becomes 0.0; NaN and infinities are kept
// The same for n numbers that are asked for again and again; valid until the next call.
const Expr *expr_constants(Exprs *exprs, const double *values, uint32_t n);
Expr expr_slot(Exprs *exprs, uint32_t k);
Expr expr_time(Exprs *exprs);
Expr expr_make(Exprs *exprs, Op op, const Expr *args, uint32_t n); // simplifies
Expr expr_1(Exprs *exprs, Op op, Expr a);
Expr expr_2(Exprs *exprs, Op op, Expr a, Expr b);
Expr expr_3(Exprs *exprs, Op op, Expr a, Expr b, Expr c);
Expr expr_sub(Exprs *exprs, Expr a, Expr b); // a + -b

#endif
