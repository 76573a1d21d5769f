// ladders.c: several fractional derivatives that depend on each other: with forces that make polynomials their solutions, and a linear
// system of order 1/2 by its eigenvectors.
#include "tests/random/kinds.h"

#include <math.h>
#include <stdio.h>

// Of c[0] + c[1]*t + c[2]*t^2, its derivative of an order below 1, plus what follows.
static void
print_derivative(double factor, const double *c, double order)
{
    for (int p = 1; p <= 2; p++)
        printf(" + (%.15g)*time^%.3f", factor * c[p] * tgamma(p + 1) / tgamma(p + 1 - order), p - order);
}

static void
print_polynomial(char name, const double *c)
{
    printf("    Real %c = %.3f + (%.3f)*time + (%.3f)*time^2;\n", name, c[0], c[1], c[2]);
}

void
ladders(Random *random)
{
    double c[4][3], order[4], k = between(random, 0.3, 2), m = between(random, 0.5, 2), cross = between(random, -0.5, 0.5), stiff = between(random, 0.5, 4), r = between(random, 0.3, 2);
    double l1 = between(random, 0.2, 1), l2 = l1 + between(random, 0.2, 1), a = between(random, -0.9, 0.9), b = between(random, -0.9, 0.9), first = between(random, -1, 1), second = between(random, -1, 1);
    for (int i = 0; i < 4; i++) {
        order[i] = between(random, 0.15, 0.85);
        for (int p = 0; p < 3; p++)
            c[i][p] = between(random, -0.6, 0.6);
    }
    double det = 1 - a * b; // of the eigenvectors {1, b} and {a, 1}
    printf("  function mittag \"E(-l*t^(1/2)) of order 1/2\"\n    input Real l, t;\n    output Real y = exp(l^2*t)*(1 - 2/sqrt(3.141592653589793)*integral(exp(-a^2), a, 0, l*sqrt(t)));\n  end mittag;\n");
    printf("  model Given\n    Real x(start = %.3f, fixed = true), y(start = %.3f, fixed = true), z(start = %.3f, fixed = true), v(start = %.3f, fixed = true), w(start = %.3f, fixed = true);\n", c[0][0],
           c[1][0], c[2][0], c[2][1], c[3][0]);
    printf("    Real p(start = %.15g, fixed = true), q(start = %.15g, fixed = true), X, Y, Z, W;\n  equation\n", first + a * second, b * first + second);
    for (int i = 0; i < 4; i++)
        printf("    %c = %.3f + (%.3f)*time + (%.3f)*time^2;\n", "XYZW"[i], c[i][0], c[i][1], c[i][2]);
    printf("    fder(x, %.3f) = -%.3f*(x - y) + (%.3f)*(x*y - X*Y) + %.3f*(X - Y)", order[0], k, cross, k);
    print_derivative(1, c[0], order[0]);
    printf(";\n    fder(y, %.3f) - (%.3f)*fder(x, %.3f) = -(y - x) - (X - Y)", order[1], cross, order[0]);
    print_derivative(1, c[1], order[1]);
    print_derivative(-cross, c[0], order[0]);
    // A mass behind a spring and a fractional damper in series; w is the node between them.
    printf(";\n    der(z) = v;\n    %.3f*der(v) = -%.3f*(z - w) + %.3f*(Z - W) + %.3f*(%.3f);\n    %.3f*fder(w, %.3f) = %.3f*(z - w) - %.3f*(Z - W)", m, stiff, stiff, m, 2 * c[2][2], r, order[3], stiff,
           stiff);
    print_derivative(r, c[3], order[3]);
    // A = V*diag(l1, l2)*V^-1
    printf(";\n    fder(p, 0.5) = -((%.15g)*p + (%.15g)*q);\n    fder(q, 0.5) = -((%.15g)*p + (%.15g)*q);\n", (l1 - a * b * l2) / det, a * (l2 - l1) / det, b * (l1 - l2) / det,
           (l2 - a * b * l1) / det);
    end_model("Given", 2);
    printf("  model Written\n");
    for (int i = 0; i < 4; i++)
        print_polynomial("xyzw"[i], c[i]);
    printf("    Real e = (%.3f)*mittag(%.3f, time), g = (%.3f)*mittag(%.3f, time), p = e + (%.3f)*g, q = (%.3f)*e + g;\n", first, l1, second, l2, a, b);
    end_model("Written", 2);
}
