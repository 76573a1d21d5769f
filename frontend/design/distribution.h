// distribution.h: distributions of one number, by their quantiles.
#ifndef MDLC_FRONTEND_DESIGN_DISTRIBUTION_H
#define MDLC_FRONTEND_DESIGN_DISTRIBUTION_H

#include <stdbool.h>
#include <stdint.h>

typedef enum DistributionKind {
    DISTRIBUTION_LIST,       // n values, each as likely
    DISTRIBUTION_DISCRETE,   // n values with weights
    DISTRIBUTION_NORMAL,     // a: mean, b: standard deviation
    DISTRIBUTION_LOGNORMAL,  // a, b: of the logarithm
    DISTRIBUTION_UNIFORM,    // from a to b
    DISTRIBUTION_TRIANGULAR, // from a to b, most likely c
    DISTRIBUTION_INTEGERS,   // whole numbers from a to b
} DistributionKind;

typedef struct Distribution {
    DistributionKind kind;
    double a, b, c;
    double *value, *cumulative; // n; cumulative: of DISCRETE, the last is 1
    uint32_t n;
    bool truncated;
    double low, high;           // limits, where it is truncated
    double below, within;       // of distribution_truncate()
    bool upper;                 // these are of the upper tail
} Distribution;

// The value below which the part u of all values lies, 0 <= u < 1.
double distribution_quantile(const Distribution *distribution, double u);
// The same for a standard normal number z whose probability is u: exact where the distribution is normal.
double distribution_of_normal(const Distribution *distribution, double z);
// Takes effect of low and high; false: nothing lies between them.
bool distribution_truncate(Distribution *distribution);
bool distribution_is_list(const Distribution *distribution); // values that can be counted: a list

// The inverse of the standard normal distribution.
double normal_quantile(double p);

#endif
