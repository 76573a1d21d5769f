// radau_rule.h: the coefficients of Radau IIA collocation with 3, 5 or 7 stages (orders 5, 9, 13).
#ifndef MDLC_RUNTIME_LINEAR_RADAU_RULE_H
#define MDLC_RUNTIME_LINEAR_RADAU_RULE_H

#include <stdbool.h>
#include <stdint.h>

enum { RADAU_STAGES = 7, RADAU_PAIRS = RADAU_STAGES / 2 };

typedef struct RadauRule {
    uint32_t stages;                             // odd
    double node[RADAU_STAGES];                   // c_i in (0, 1]; the last one is 1
    double real;                                 // the real eigenvalue of A^-1
    double alpha[RADAU_PAIRS], beta[RADAU_PAIRS]; // the others: alpha + i beta, beta > 0
    // T^-1 A^-1 T is `real` and a block {alpha, beta; -beta, alpha} for each pair.
    double from[RADAU_STAGES][RADAU_STAGES];     // T
    double to[RADAU_STAGES][RADAU_STAGES];       // T^-1
    double rate[RADAU_STAGES];                   // h u'(0) = sum of rate_i z_i, where u(0) = 0 and u(c_i h) = z_i
    double between; // error of the collocation polynomial within a step, where it is largest, as a part of the error estimate
    double bulge;   // largest magnitude of x (x - c_1) ... (x - c_s) on [0, 1]
} RadauRule;

// False: not computed to rounding (does not happen for 3, 5 and 7 stages).
bool radau_rule_init(RadauRule *rule, uint32_t stages);
// x (x - c_1) ... (x - c_s): what interpolation through the stages is wrong by, in units of a derivative.
double radau_rule_product(const RadauRule *rule, double x);
// Its magnitude by x, for x near 0.
double radau_rule_beginning(const RadauRule *rule);

#endif
