// integrate.h: definite integrals of expressions in one slot.
//
//     integral of e from `from` to `to` over slot x
//
// becomes an expression without x: exactly for polynomials and piecewise polynomials, for powers, logarithms,
// sines, cosines and exponentials of affine functions with constant slope, and their products with polynomials; by a
// Gauss-Legendre rule for what is left, piece by piece. docs/integrals.md has the methods.
#ifndef MDLC_IR_EXPR_INTEGRATE_H
#define MDLC_IR_EXPR_INTEGRATE_H

#include <stdbool.h>

#include "ir/expr/expr_id.h"

enum {
    GAUSS_POINTS = 16, // of an integral whose limits or parameters are not numbers: exact up to degree 31
    GAUSS_CHECK = 12,  // of the rule it is compared with while the model runs
    GAUSS_MOST = 64,   // of an integral of numbers, which takes as many as its accuracy needs
    INTEGRAL_PIECES = 256
};

typedef struct Integral {
    Expr value;         // 0: there is none; see reason and culprit
    Expr valid;         // a condition; the constant 1 when the value is exact and always defined
    Expr integrand;     // e in a form without set-valued terms, at one of the limits: for the check of units
    Expr limit;         // that limit
    const char *reason; // why there is no value, a static sentence about `culprit`
    Expr culprit;
} Integral;

// `from` and `to` do not contain slot x. False when there is no value.
bool expr_integrate(Exprs *exprs, Expr e, uint32_t x, Expr from, Expr to, Integral *out);
// INTEGRAL(value, valid, integrand, limit), or the value itself when it is a number.
Expr expr_integral(Exprs *exprs, const Integral *integral);
// Every INTEGRAL inside e is replaced by its value.
Expr expr_without_integrals(Exprs *exprs, Expr e);

// Points and weights of the Gauss-Legendre rule of n points on [-1, 1], n <= GAUSS_MOST.
void gauss_legendre(uint32_t n, double *points, double *weights);

#endif
