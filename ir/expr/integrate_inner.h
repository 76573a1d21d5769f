// integrate_inner.h: what integrate.c, elementary.c and quadrature.c share.
#ifndef MDLC_IR_EXPR_INTEGRATE_INNER_H
#define MDLC_IR_EXPR_INTEGRATE_INNER_H

#include "ir/expr/expr_inner.h"
#include "ir/expr/integrate.h"
#include "ir/expr/polynomial.h"

typedef struct Integration {
    Exprs *exprs;
    uint32_t x;         // the slot integrated over
    Expr from, to;
    Expr valid;         // a condition; the constant 1 when there is none
    uint32_t pieces;
    const char *reason; // why there is no value; NULL so far
    Expr culprit;
} Integration;

typedef struct Part { // what lies between low and high (0: no bound)
    Expr low, high;
    uint32_t depth;
} Part;

bool integrate_refuse(Integration *now, const char *reason, Expr culprit);
bool integrate_moves(const Integration *now, Expr e);         // does e depend on x?
Expr integrate_at(Integration *now, Expr e, Expr at);         // e for x = at
// e with `node` replaced by `with` everywhere.
Expr integrate_replaced(Exprs *exprs, Expr e, Expr node, Expr with);
bool integrate_affine(Integration *now, Expr e, Expr *slope, Expr *shift);
void integrate_require(Integration *now, Expr condition);     // joins now->valid

// Closed forms (elementary.c): false when there is none.
// e is a polynomial in x and `node`, a LUZ or ABS of an affine function of x.
bool integrate_corner(Integration *now, Expr e, Expr node, Expr from, Expr to, Expr *out);
// e is free of choices: a polynomial times a power, sine, cosine or exponential of an affine function, or over a quadratic.
bool integrate_elementary(Integration *now, Expr e, Expr from, Expr to, Expr *out);

// By a Gauss rule (quadrature.c); e is smooth but for poles.
Expr integrate_numerically(Integration *now, Expr e, Expr from, Expr to);

#endif
