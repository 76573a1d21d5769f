// exponentials.h: the kernel of a fractional derivative as a sum of decaying exponentials.
#ifndef MDLC_RUNTIME_MEMORY_EXPONENTIALS_H
#define MDLC_RUNTIME_MEMORY_EXPONENTIALS_H

#include <stdbool.h>
#include <stdint.h>

// t^-order/Gamma(1 - order), 0 < order <= 1, is `sum over k of weight[k]*exp(-rate[k]*t)` and an impulse `tail`. What is faster than `shortest` has the
// right integral and first and second moments; the third is wrong by `blur`: the derivative of order `order` of x by blur*x. For all t in (0, longest] the two together differ
// from the kernel by at most `error` of it.
typedef struct Exponentials {
    uint32_t n;
    double *rate, *weight; // n each, rates ascending, all positive but the first, which may be 0
    double tail, blur;
    double error;          // the bound reached
    double step, first;    // of the quadrature: nodes are at multiples of the step, those above the first one as they stand,
    uint32_t slow;         // and so many for what lies up to it
    bool stiff;
} Exponentials;

// stiff: the method that integrates follows any rate. The fewest exponentials of this construction for `error`; there are none for order 1, but with
// `turned`, where they weigh nothing and have derivatives by the order. False: memory is exhausted.
bool exponentials_make(double order, double error, double shortest, double longest, bool stiff, bool turned, Exponentials *out);
// Derivatives of rates, weights and the tail by the order, of a sum of order `order`, at the same places of the quadrature; at order 1 of those below.
// False: memory is exhausted.
bool exponentials_slope(const Exponentials *sum, double order, Exponentials *slope);
void exponentials_free(Exponentials *sum);

#endif
