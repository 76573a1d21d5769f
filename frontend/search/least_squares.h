// least_squares.h: the least sum of squares of functions, within bounds, and what is known of where it is.
#ifndef MDLC_FRONTEND_SEARCH_LEAST_SQUARES_H
#define MDLC_FRONTEND_SEARCH_LEAST_SQUARES_H

#include <stdbool.h>
#include <stdint.h>

#include "frontend/analysis/lapack.h"

typedef enum SearchEnd {
    SEARCH_FOUND,       // no step makes it better
    SEARCH_STUCK,       // no step makes it better, though the derivatives say that one should
    SEARCH_LIMIT,       // as many runs as were allowed
    SEARCH_INTERRUPTED,
    SEARCH_NO_START     // there is no value where it begins
} SearchEnd;

typedef struct LeastSquares {
    uint32_t n, m;              // quantities; functions, at least as many as 1
    const double *low, *high;   // of n
    // The functions (m) at x, and unless it is NULL their derivatives by columns (m x n). False: they have no value there.
    bool (*evaluate)(void *user, const double *x, double *residual, double *jacobian);
    bool (*ended)(void *user, SearchEnd *end); // asked before each evaluation
    void *user;
    bool apart;                 // derivatives cost much more than values: they are asked for where they are needed
    const Lapack *lapack;
    double resolution;          // relative accuracy of derivatives
    double *x;                  // where it begins, and where it has come to
    double *residual, *jacobian; // m, m x n: at x
    double sum;                 // of squares at x
} LeastSquares;

SearchEnd least_squares(LeastSquares *problem);

typedef struct Precision {
    double *covariance;         // n x n for functions of variance 1; rows of what is at a bound or undetermined are 0
    bool *bound;                // n: at a bound, and taken as known
    uint8_t *undetermined;      // n: 0, or the number of the combination that the functions do not depend on
    uint32_t combinations;
    double *direction;          // combinations x n: the changes that nothing depends on; the largest part is 1
    uint32_t determined;        // quantities that are free and not undetermined
} Precision;

// `scale`: n, the size of each quantity. Arrays of the result are the caller's.
void precision_find(const LeastSquares *problem, const double *scale, Precision *precision);

#endif
