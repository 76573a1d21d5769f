// compare.h: mdlc compare RESULT REFERENCE.
#ifndef MDLC_FRONTEND_ANALYSIS_COMPARE_H
#define MDLC_FRONTEND_ANALYSIS_COMPARE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/out.h"

typedef struct Tube { // of one variable: as wide as relative times the largest value of the reference, plus absolute
    const char *name;
    double relative, absolute;
} Tube;

typedef struct CompareOptions {
    double relative, absolute; // of variables without a tube of their own
    double shift;              // how much earlier or later something may happen
    const Tube *tubes;
    uint32_t n_tubes;
    const char *variables;     // regular expression, or NULL: all of the reference
    bool json;
} CompareOptions;

// Writes what was compared to `out`. 0: within the tubes; 1: not, or a variable is missing; 5: a file cannot be read, with
// a line in `why`; 2: nothing to compare.
int compare_results(const char *result, const char *reference, const CompareOptions *options, Out *out, Out *why);

#endif
