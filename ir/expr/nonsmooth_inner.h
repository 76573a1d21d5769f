// nonsmooth_inner.h: shared by nonsmooth*.c only.
#ifndef MDLC_IR_EXPR_NONSMOOTH_INNER_H
#define MDLC_IR_EXPR_NONSMOOTH_INNER_H

#include "ir/expr/nonsmooth.h"

// a*b with b = p/q, where q cancels against a factor of a.
Expr nonsmooth_times(Exprs *exprs, Expr a, Expr b);
// Product of the factors of e but one `factor`; 0 when it is not among them.
Expr nonsmooth_without_factor(Exprs *exprs, Expr e, Expr factor);

#endif
