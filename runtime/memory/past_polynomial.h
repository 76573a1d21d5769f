// past_polynomial.h: the polynomial through points of the past (past_polynomial.c).
#ifndef MDLC_RUNTIME_MEMORY_PAST_POLYNOMIAL_H
#define MDLC_RUNTIME_MEMORY_PAST_POLYNOMIAL_H

#include <stddef.h>

enum { POLYNOMIAL_ORDER = 5, POLYNOMIAL_POINTS = POLYNOMIAL_ORDER + 1 };

// Through the values value[i*stride] at place[i], i < n <= POLYNOMIAL_POINTS, at `at`; how fast it moves there to *slope, unless that is NULL.
double polynomial_at(const double *place, const double *value, size_t stride, size_t n, double at, double *slope);

#endif
