// gauss_rule.c: Gauss-Legendre rules.
//
// Purpose: points and weights for integrate.c. Method: the zeros of the Legendre polynomial by Newton's method from
// Tricomi's approximation, the polynomial and its derivative by the three-term recurrence (Davis and Rabinowitz,
// Methods of Numerical Integration, 2.7). Contract: integrate.h. Complexity: quadratic in the number of points.
#include <math.h>

#include "ir/expr/integrate.h"

// P_n(x), and its derivative.
static double
legendre(uint32_t n, double x, double *derivative)
{
    double before = 1, now = x;
    for (uint32_t k = 2; k <= n; k++) {
        double next = ((2 * k - 1) * x * now - (k - 1) * before) / k;
        before = now;
        now = next;
    }
    *derivative = n * (x * now - before) / (x * x - 1);
    return now;
}

void
gauss_legendre(uint32_t n, double *points, double *weights)
{
    enum { NEWTON_STEPS = 8 };
    if (n == 1) {
        points[0] = 0;
        weights[0] = 2;
        return;
    }
    for (uint32_t i = 0; i < (n + 1) / 2; i++) {
        double x = 2 * i + 1 == n ? 0 : cos(M_PI * (i + 0.75) / (n + 0.5)), slope;
        for (uint32_t step = 0; step < NEWTON_STEPS && x != 0; step++)
            x -= legendre(n, x, &slope) / slope;
        legendre(n, x, &slope);
        points[i] = -x;
        points[n - 1 - i] = x;
        weights[i] = weights[n - 1 - i] = 2 / ((1 - x * x) * slope * slope);
    }
}
