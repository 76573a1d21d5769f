// past.c: what depends on the past: delays, transport, fractional derivatives, memory elements with their inverse curves.
#include "tests/random/kinds.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

// --- delays: in a feedback, of a length that changes, of a jump, one in another; as transport, and in closed form

void
delays(Random *random)
{
    double loss = between(random, 0.2, 2), gain = between(random, -2, 2), tau = between(random, 0.2, 1.2), start = between(random, -1, 1), speed = between(random, 1, 5);
    double swing = between(random, 0.05, 0.4), mean = random_below(random, 3) ? swing + between(random, 0, 0.5) : swing, rate = between(random, 1, 4);
    double step = between(random, 0.1, 1), other = between(random, 0.1, 0.8);
    for (int written = 0; written < 2; written++) {
        printf("  model %s\n    Real x(start = %.3f, fixed = true), xd, T = %.3f + %.3f*sin(%.3f*time), y, q%s, both;\n", written ? "Written" : "Given", start, mean, swing, rate,
               written ? "" : "(start = 0, fixed = true)");
        if (written)
            printf("    Real p(start = 0, fixed = true);\n");
        else
            printf("    parameter Real tau = %.3f;\n    Real u = sin(%.3f*time) + 0.2*time, jump = if time > %.3f then 1 else 0;\n", tau, speed, step);
        printf("  equation\n    der(x) = -%.3f*x + (%.3f)*xd + sin(%.3f*time);\n", loss, gain, speed);
        if (written) {
            printf("    der(p) = 1/%.3f;\n    (, xd) = spatialDistribution(x, 0, p, true, {0, 1}, {%.3f, %.3f});\n", tau, start, start);
            printf("    y = if time > T then sin(%.3f*(time - T)) + 0.2*(time - T) else 0;\n", speed);
            printf("    q = max(0, time - %.4f);\n", step + tau);
            printf("    both = if time > %.4f then sin(%.3f*(time - %.4f)) + 0.2*(time - %.4f) else 0;\n", tau + other, speed, tau + other, tau + other);
        } else {
            printf("    xd = delay(x, %s);\n    y = delay(u, T, %.4f);\n    der(q) = delay(jump, tau);\n", either(random, "tau", "1*tau"), mean + swing);
            printf("    both = delay(delay(u, tau), %.3f);\n", other);
        }
        end_model(written ? "Written" : "Given", 3);
    }
}

// --- transports: what enters at either end continues one profile g(x - place), so that every place has its value whichever way it moves

void
transports(Random *random)
{
    double mean = between(random, -0.3, 1), swing = between(random, 0.5, 3), speed = between(random, 1, 5), base = between(random, -1, 1), slope = between(random, -1, 1);
    double height = between(random, 0.1, 1), wave = between(random, 0.5, 4), front = between(random, 0.05, 0.6);
    printf("  function profile\n    input Real s;\n    output Real y = %.3f + (%.3f)*s + (if s > 0 then %.3f*(1 - cos(%.3f*s)) else 0);\n  end profile;\n", base, slope,
           height, wave);
    for (int written = 0; written < 2; written++) {
        printf("  model %s\n    Real x%s, v = %.3f + %.3f*cos(%.3f*time), left, right, step, q(start = 0, fixed = true), r(start = 0, fixed = true);\n",
               written ? "Written" : "Given", written ? "" : "(start = 0, fixed = true)", mean, swing, speed);
        printf("  equation\n    der(q) = right;\n    der(r) = step;\n");
        if (written) {
            printf("    x = %.3f*time + %.3f/%.3f*sin(%.3f*time);\n    left = profile(x);\n    right = profile(x - 1);\n", mean, swing, speed, speed);
            printf("    step = if x > %.3f then 2 else 1;\n", 1 + front);
        } else {
            printf("    der(x) = v;\n    (left, right) = spatialDistribution(profile(x), profile(x - 1), x, v >= 0, {0, 1}, {%.3f, %.3f});\n", base, base - slope);
            printf("    (, step) = spatialDistribution(if x > %.3f then 2 else 1, if x > %.3f then 2 else 1, x, v >= 0, {0, 1}, {1, 1});\n", front, 1 + front);
        }
        end_model(written ? "Written" : "Given", 3);
    }
}

// --- fractional: polynomials with the forces that make them solutions, and equations whose solutions are error functions

void
fractional(Random *random)
{
    double order = between(random, 0.1, 0.9), loss = between(random, 0.3, 2), x[3] = {between(random, -1, 1), between(random, -1, 1), between(random, -1, 1)};
    double high = between(random, 0.1, 0.9) + random_below(random, 2), m = between(random, 0.5, 2), c = between(random, 0.1, 1), k = between(random, 0.5, 5);
    double y[4] = {between(random, -1, 1), between(random, -1, 1), between(random, -1, 1), between(random, -0.5, 0.5)};
    double rate = between(random, 0.3, 1.5), l1 = between(random, 0.3, 1), l2 = l1 + between(random, 0.2, 1);
    const char *polynomials = "    Real x = %.3f + (%.3f)*time + (%.3f)*time^2;\n    Real y = %.3f + (%.3f)*time + (%.3f)*time^2 + (%.3f)*time^3;\n";
    printf("  model Given\n    Real x(start = %.3f, fixed = true), y(start = %.3f, fixed = true), w(start = %.3f, fixed = true), z(start = 1, fixed = true), s(start = 1, fixed = true);\n",
           x[0], y[0], y[1]);
    printf("  equation\n    fder(x, %.3f) = -%.3f*(x - (%.3f) - (%.3f)*time - (%.3f)*time^2)", order, loss, x[0], x[1], x[2]);
    for (int p = 1; p <= 2; p++)
        printf(" + (%.15g)*time^%.3f", x[p] * tgamma(p + 1) / tgamma(p + 1 - order), p - order);
    printf(";\n    w = der(y);\n    %.3f*der(w) + %.3f*fder(y, %.3f) + %.3f*y = %.3f*(2*(%.3f) + 6*(%.3f)*time)", m, c, high, k, m, y[2], y[3]);
    printf(" + %.3f*(%.3f + (%.3f)*time + (%.3f)*time^2 + (%.3f)*time^3)", k, y[0], y[1], y[2], y[3]);
    for (int p = high > 1 ? 2 : 1; p <= 3; p++)
        printf(" + (%.15g)*time^%.3f", c * y[p] * tgamma(p + 1) / tgamma(p + 1 - high), p - high);
    printf(";\n    fder(z, 0.5) = -%.3f*z;\n    der(s) + %.3f*fder(s, 0.5) + %.9f*s = 0;\n", rate, l1 + l2, l1 * l2);
    end_model("Given", 2);
    // E(-l*t^(1/2)) of order 1/2 is exp(l^2*t)*erfc(l*t^(1/2)).
    printf("  function mittag\n    input Real l, t;\n    output Real y = exp(l^2*t)*(1 - 2/sqrt(3.141592653589793)*integral(exp(-a^2), a, 0, l*sqrt(t)));\n  end mittag;\n");
    printf("  model Written\n");
    printf(polynomials, x[0], x[1], x[2], y[0], y[1], y[2], y[3]);
    printf("    Real z = mittag(%.3f, time), s = (%.3f*mittag(%.3f, time) - %.3f*mittag(%.3f, time))/%.3f;\n", rate, l2, l1, l1, l2, l2 - l1);
    end_model("Written", 2);
}

// --- inverse memory: elements whose displacement is a curve of a momentum or its integrals, and the states that the curves make of them

// The u for which c[0]*u + c[1]*u^3 = y.
static double
cubic_root(const double c[2], double y)
{
    double u = y / c[0];
    for (int k = 0; k < 100; k++)
        u -= (c[0] * u + c[1] * u * u * u - y) / (c[0] + 3 * c[1] * u * u);
    return u;
}

void
inverse_memory(Random *random)
{
    static const char *const class[] = {"MomentumControlledMemDamper", "MomentumControlledMemSpring", "IntegratedMomentumControlledMemInerter"};
    double m = between(random, 0.5, 3), k = between(random, 2, 20), x = between(random, -0.5, 0.5), v = between(random, -1, 1), c[3][2];
    bool used[3];
    for (int i = 0; i < 3; i++)
        c[i][0] = between(random, 0.5, 2), c[i][1] = between(random, 0, 1), used[i] = random_below(random, 3);
    printf("  model Given\n    Translational.Fixed wall;\n    Translational.Mass b(m = %.3f, s(start = %.3f, fixed = true), v(start = %.3f, fixed = true));\n"
           "    Translational.Spring spring(k = %.3f);\n    Real x = b.s, w = b.v;\n", m, x, v, k);
    for (int i = 0; i < 3; i++)
        if (used[i])
            printf("    Memory.%s e%d(redeclare function curve = Memory.Polynomial(c = {0, %.3f, 0, %.3f}));\n", class[i], i, c[i][0], c[i][1]);
    printf("  equation\n    connect(wall.flange, spring.flange_a);\n    connect(spring.flange_b, b.flange);\n");
    for (int i = 0; i < 3; i++)
        if (used[i])
            printf("    connect(wall.flange, e%d.flange_a);\n    connect(e%d.flange_b, b.flange);\n", i, i);
    end_model("Given", 2);
    double p1 = cubic_root(c[0], x), d0 = cubic_root(c[2], x), slope = c[2][0] + 3 * c[2][1] * d0 * d0;
    printf("  model Written\n    Real x, w, f0, f1, h0 = %.3f + 3*%.3f*p0^2, h1 = %.3f + 3*%.3f*p1^2;\n", c[0][0], c[0][1], c[1][0], c[1][1]);
    printf("    Real p0(start = %.15g, fixed = true), p1(start = 0, fixed = true);\n", p1);
    if (used[2])
        printf("    Real d(start = %.15g, fixed = true), p(start = %.15g, fixed = true), h = %.3f + 3*%.3f*d^2;\n", d0, v / slope, c[2][0], c[2][1]);
    else
        printf("    Real d(start = %.3f, fixed = true), p(start = %.3f, fixed = true);\n", x, v);
    printf("  equation\n    der(p0) = w/h0;\n    der(p1) = x/h1;\n    f0 = %s;\n    f1 = %s;\n    der(d) = p;\n", used[0] ? "w/h0" : "0", used[1] ? "x/h1" : "0");
    if (used[2]) // x = h(d), w = h'(d)*p, and f = der(p)
        printf("    x = %.3f*d + %.3f*d^3;\n    w = h*p;\n    (1 + %.3f*h)*der(p) = -%.3f*x - f0 - f1 - %.3f*6*%.3f*d*p^2;\n", c[2][0], c[2][1], m, k, m, c[2][1]);
    else
        printf("    x = d;\n    w = p;\n    %.3f*der(p) = -%.3f*x - f0 - f1;\n", m, k);
    end_model("Written", 2);
}
