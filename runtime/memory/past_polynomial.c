// past_polynomial.c: the polynomial through points of the past.
//
// Purpose: values between the points that delays and profiles keep, and how fast they move.
// Method: Neville's scheme, with the derivative of each of its lines.
// Contract: past_polynomial.h. Complexity: quadratic in the points, which are POLYNOMIAL_POINTS at most.
#include "runtime/memory/past_polynomial.h"

double
polynomial_at(const double *place, const double *value, size_t stride, size_t n, double at, double *slope)
{
    double p[POLYNOMIAL_POINTS], d[POLYNOMIAL_POINTS] = {0};
    for (size_t i = 0; i < n; i++)
        p[i] = value[i * stride];
    for (size_t span = 1; span < n; span++)
        for (size_t i = 0; i + span < n; i++) {
            double a = place[i], b = place[i + span];
            if (slope)
                d[i] = ((at - b) * d[i] + p[i] + (a - at) * d[i + 1] - p[i + 1]) / (a - b);
            p[i] = ((at - b) * p[i] + (a - at) * p[i + 1]) / (a - b);
        }
    if (slope)
        *slope = d[0];
    return p[0];
}
