// nonsmooth.h: the algebra of luz and tar on expressions.
//
// luz(x,a) = x - clip(x,-a,a); tar(x,a) = x + a*Sgn(x). Sources: Zardecki, J. Theor. Appl. Mech. 44 (2006)
// 163-202; Zardecki and Debowski, Appl. Math. Model. 94 (2021), equations (5)-(13), (18)-(34); corrected
// rules R-series,
// R-parallel, R-inverse, R-loop in docs/nonsmooth.md.
#ifndef MDLC_IR_EXPR_NONSMOOTH_H
#define MDLC_IR_EXPR_NONSMOOTH_H

#include <stdbool.h>

#include "ir/base/vec.h"
#include "ir/expr/expr_id.h"

// What the algebra may know of signs; NULL: what the expressions say themselves.
typedef struct Signs {
    bool (*nonneg)(uint32_t slot, void *context); // is the slot never negative (min >= 0, a number)?
    // Of an expression whose sign its text does not say: is it positive for the values of parameters that are known while compiling? Who
    // says yes asserts it where they can be set later. May be NULL.
    bool (*assume)(Expr e, void *context);
    void *context;
    // The same of a difference of thresholds, which may be zero: equal thresholds are in any order. May be NULL.
    bool (*ordered)(Expr e, void *context);
} Signs;

// Normalises: luz(x,0)=x, tar(x,0)=x, oddness, scaling by non-negative constants pulled out, nesting
// luz(luz(x,a),b)=luz(x,a+b), parallel tar of the same argument merged, F*Sgn(v) and c*tar(v, F/c) written as
// c*v + tar-part, so that the friction band appears as one expression.
Expr nonsmooth_normalise(Exprs *exprs, Expr e, const Signs *signs);
// Is e known to be non-negative? Sums, products, quotients, squares ... of what is.
bool nonsmooth_nonneg(const Exprs *exprs, Expr e, const Signs *signs);

// With the values that set-valued terms have where their arguments are not zero: Sgn(x) is sign(x), tar(x, a) is x + a*sign(x).
Expr nonsmooth_valued(Exprs *exprs, Expr e);

// Solves e(slot u) = 0 (or EQN) for u when e is a monotone piecewise-linear function of u built from affine
// terms and luz/tar of affine functions of u, by R-inverse and R-loop. The result may contain tar or luz of
// expressions without u. 0 when it does not apply (thresholds that cannot be ordered symbolically, slopes of
// unknown sign...).
Expr nonsmooth_solve(Exprs *exprs, Expr e, uint32_t u, const Signs *signs);

// Solves n equations (EQN or residuals) for n unknown slots when they are affine but for luz, tar and Sgn of
// affine functions: massless nodes between springs, clearances and dampers with friction. Each luz or band
// becomes an unknown of its own, the rest is eliminated, and each scalar piecewise-linear equation that is
// left is inverted by R-loop. solution[i] is explicit, single-valued and free of all unknowns. False when it
// does not apply: a node that floats in its clearance, bands that depend on each other, slopes not known to
// be positive, more than 16 unknowns.
bool nonsmooth_eliminate(Exprs *exprs, const Expr *equations, uint32_t n, const uint32_t *unknown_slots,
                         Expr *solution, const Signs *signs);

// Splits a set-valued expression: every distinct set-valued term a*Sgn(x) inside e (from TAR, SGN, products
// F*Sgn(v)) is replaced by a new slot first_slot + i standing for an unknown p_i in a_i*Sgn(x_i). Returns the
// new expression; arguments and bands are appended to `x` and `a` (expressions over the slots of e); i counts
// from the beginning of `x`, and a pair that is in there already is used again. One Sgn(x) is one selection:
// F*Sgn(v) - F*Sgn(v) is 0. 0 and *reason when e uses a set-valued term in a way that has no meaning
// (sin(Sgn(v)), Sgn(v)^2, a relation of it).
Expr nonsmooth_split(Exprs *exprs, Expr e, uint32_t first_slot, U32Vec *x, U32Vec *a, const char **reason);

#endif
