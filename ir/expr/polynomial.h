// polynomial.h: expressions as polynomials in one slot.
#ifndef MDLC_IR_EXPR_POLYNOMIAL_H
#define MDLC_IR_EXPR_POLYNOMIAL_H

#include <stdbool.h>

#include "ir/base/vec.h"
#include "ir/expr/expr_id.h"

enum { POLYNOMIAL_DEGREE = 64 };

// The coefficients of e = sum of coefficients[k]*x^k, where x is slot k of the expression; at least one. They are
// expressions without x and may contain anything else (an `if` whose condition is free of x has its branches'
// coefficients). False when e is no polynomial in x, or one of a degree above POLYNOMIAL_DEGREE.
bool expr_polynomial(Exprs *exprs, Expr e, uint32_t x, U32Vec *coefficients);
// The antiderivative from `from` to `to`.
Expr polynomial_integral(Exprs *exprs, const U32Vec *coefficients, Expr from, Expr to);
// The value for x = at, by Horner's rule.
Expr polynomial_value(Exprs *exprs, const U32Vec *coefficients, Expr at);
// Replaces x by (u - shift)/scale: afterwards the coefficients are those of powers of u.
void polynomial_shift(Exprs *exprs, U32Vec *coefficients, Expr scale, Expr shift);

// A product or quotient in lowest terms: factors that stand on both sides of a fraction cancel (monomial.c).
Expr monomial_reduced(Exprs *exprs, Expr e);
// The same with a factor in front for what is a fraction: x/3 as 0.333...*x, which sums collect.
Expr monomial_collectable(Exprs *exprs, Expr e);

#endif
