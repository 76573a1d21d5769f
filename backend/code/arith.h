// arith.h: the exact meaning of the piecewise operators, shared by the interpreter and the code generator.
//
// Both engines give results equal bit for bit, to each other and to expr_eval: sums and products are
// evaluated from left to right in double precision without contraction or reassociation, small whole powers
// are products (see code.c), library functions are the same libm calls. The generator emits the
// compare-and-select sequences written here. With NaN comparisons are false, except <>; as a condition NaN
// counts as true. The payload and sign of a NaN are not specified.
#ifndef MDLC_BACKEND_CODE_ARITH_H
#define MDLC_BACKEND_CODE_ARITH_H

static inline double
arith_min(double a, double b) // a when either is NaN, or when they are equal
{
    return b < a ? b : a;
}

static inline double
arith_max(double a, double b) // a when either is NaN, or when they are equal
{
    return b > a ? b : a;
}

static inline double
arith_sign(double x) // 0 for NaN
{
    return x > 0.0 ? 1.0 : x < 0.0 ? -1.0 : 0.0;
}

static inline double
arith_luz(double x, double a) // 0 when either is NaN
{
    return x > a ? x - a : x < -a ? x + a : 0.0;
}

#endif
