// student.c: Student's distribution, for confidence intervals.
//
// Purpose: few data have wide intervals. Method: the finite sums of Abramowitz and Stegun (26.7.3, 26.7.4), inverted by bisection; for many
// degrees of freedom Fisher's expansion about the normal distribution (26.7.5).
// Contract: student.h. Complexity: linear in the degrees of freedom, at most MANY of them, times the bisection.
#include "frontend/design/student.h"

#include <math.h>

#include "frontend/design/design.h"

enum { MANY = 300, HALVINGS = 200 };

// P(|T| < t)
static double
within(double t, uint32_t freedom)
{
    double angle = atan(t / sqrt(freedom)), s = sin(angle), c = cos(angle), term = freedom % 2 ? c : 1, sum = freedom == 1 ? 0 : term;
    for (uint32_t k = freedom % 2 ? 3 : 2; k + 2 <= freedom; k += 2) {
        term *= c * c * (k - 1) / k;
        sum += term;
    }
    return freedom % 2 ? (angle + s * sum) / acos(0) : s * sum;
}

double
student_two_sided(double p, uint32_t freedom)
{
    if (freedom > MANY) {
        double z = normal_quantile(0.5 + 0.5 * p), n = freedom, z2 = z * z;
        return z + z * (z2 + 1) / (4 * n) + z * ((5 * z2 + 16) * z2 + 3) / (96 * n * n) + z * (((3 * z2 + 19) * z2 + 17) * z2 - 15) / (384 * n * n * n);
    }
    double low = 0, high = 1;
    while (within(high, freedom) < p && high < 1e10)
        high *= 2;
    for (int i = 0; i < HALVINGS && high - low > 1e-14 * high; i++) {
        double half = 0.5 * (low + high);
        if (within(half, freedom) < p)
            low = half;
        else
            high = half;
    }
    return 0.5 * (low + high);
}
