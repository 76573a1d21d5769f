// expr_calculus.h: derivatives of expressions, equations solved for a slot, and how far rounding moves a value.
#ifndef MDLC_IR_EXPR_EXPR_CALCULUS_H
#define MDLC_IR_EXPR_EXPR_CALCULUS_H

#include <stdbool.h>

#include "ir/expr/expr_id.h"

// Partial derivative by slot k. Piecewise operators differentiate piecewise (corners take the side that
// the operator's value takes: luz at |x| = a is flat, min(a,b) at a = b follows a). Differentiating by a
// slot under floor, sign, comparisons gives 0. 0 (no expression) for what has no derivative: EQN.
// For EQN(l, r) use expr_residual first.
Expr expr_diff(Exprs *exprs, Expr e, uint32_t k);
// Total time derivative: slot k has derivative rate[k] (an expression; 0 means constant in time).
Expr expr_rate(Exprs *exprs, Expr e, const Expr *rate, uint32_t n);
// The derivative along a direction: slot k moves with rate[k], while time stands still.
Expr expr_along(Exprs *exprs, Expr e, const Expr *rate, uint32_t n);
// expr_rate for n_roots expressions at once, whose shared parts are differentiated once. False when one has no
// derivative (its out is 0 then).
bool expr_rates(Exprs *exprs, const Expr *roots, uint32_t n_roots, const Expr *rate, uint32_t n, Expr *out);
// Reverse accumulation: out[k] = sum over r of seed[r] * d root[r]/d slot k, for all k < n with want[k] at once (0 for
// the others), in time proportional to the size of the roots (Baur, Strassen, Theor. Comput. Sci. 22 (1983) 317). The
// seeds are not differentiated. False when a part has no derivative.
bool expr_gradient(Exprs *exprs, const Expr *roots, const Expr *seeds, uint32_t n_roots, const uint8_t *want,
                   uint32_t n, Expr *out);
Expr expr_residual(Exprs *exprs, Expr equation); // EQN(l, r) -> l - r (same id when e is no EQN)
// e = coefficient * slot_k + rest with neither containing slot k. False when e is not affine in slot k.
bool expr_affine(Exprs *exprs, Expr e, uint32_t k, Expr *coefficient, Expr *rest);
// Solves an equation (EQN, or e = 0) for slot k: the expression that slot k equals, or 0 when there is no
// single-valued solution that is valid for all values (k in 2*k = x: x/2; k^3 = x: no). *divisor, when not
// NULL, receives the expression divided by (0 when none, or when it is a nonzero constant).
Expr expr_solve(Exprs *exprs, Expr equation, uint32_t k, Expr *divisor);

// How far rounding may have moved the value of e, in units of DBL_EPSILON and to first order: an expression over the slots of e
// and, n = expr_nslots(e) slots later, the errors of their values in the same unit. Whole numbers among the constants are exact.
Expr expr_noise(Exprs *exprs, Expr e);

#endif
