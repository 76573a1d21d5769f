// motion.c: mechanisms by their energies, with each formalism, in minimal coordinates and with constraints; and Newton's laws by hand.
#include "tests/random/kinds.h"

#include <math.h>
#include <stdio.h>

static const char *const formalism[] = {"lagrange", "hamilton", "gibbs_appell", "kane", "maggi"};
enum { FORMALISMS = 5 };

// A model `Given` with the class Motion once for each formalism, and its variables a and b.
static void
print_formalisms(Random *random, const char *a, const char *b, double stop)
{
    uint32_t skipped = random_below(random, 2 * FORMALISMS);
    for (uint32_t f = 0; f < FORMALISMS; f++)
        if (f != skipped)
            printf("  model By_%s\n    extends Motion;\n  energy\n    formalism %s;\n  end By_%s;\n", formalism[f], formalism[f], formalism[f]);
    printf("  model Given\n");
    for (uint32_t f = 0; f < FORMALISMS; f++)
        if (f != skipped)
            printf("    By_%s m_%s;\n    Real a_%s = m_%s.%s, b_%s = m_%s.%s;\n", formalism[f], formalism[f], formalism[f], formalism[f], a, formalism[f], formalism[f], b);
    end_model("Given", stop);
}

static void
print_copies(const char *a, const char *b)
{
    for (uint32_t f = 0; f < FORMALISMS; f++)
        printf("    Real a_%s = %s, b_%s = %s;\n", formalism[f], a, formalism[f], b);
}

// --- pendulums: two in a row, by angles, or by the places of their masses on circles

void
pendulums(Random *random)
{
    double m1 = between(random, 0.5, 2), m2 = between(random, 0.5, 2), L1 = between(random, 0.5, 1.5), L2 = between(random, 0.5, 1.5), g = between(random, 2, 10);
    double k = between(random, 0.1, 5), d = between(random, 0.01, 0.5), push = between(random, 0.1, 2), speed = between(random, 1, 5), J = between(random, 0.01, 0.5);
    double a = between(random, -0.8, 0.8), b = between(random, -0.8, 0.8), u = between(random, -1, 1), w = between(random, -1, 1);
    double x1 = L1 * sin(a), y1 = -L1 * cos(a), v1 = L1 * cos(a) * u, x2 = x1 + L2 * sin(b), y2 = y1 - L2 * cos(b), v2 = v1 + L2 * cos(b) * w;
    if (random_below(random, 2)) {
        printf("  model Motion\n    coordinate Real a(start = %.3f, fixed = true), b(start = %.3f, fixed = true);\n    Real u(start = %.3f, fixed = true) = der(a);\n"
               "    Real w(start = %.3f, fixed = true) = der(b);\n    Real x1 = %.3f*sin(a), y1 = -%.3f*cos(a), x2 = x1 + %.3f*sin(b), y2 = y1 - %.3f*cos(b);\n  energy\n",
               a, b, u, w, L1, L1, L2, L2);
        printf("    inertia %.3f at {x1, y1};\n    inertia %.3f at {x2, y2};\n    inertia %.3f about b;\n    potential %.3f*%.3f*y1 + %.3f*%.3f*y2 + %.3f*x2^2/2;\n"
               "    dissipation %.3f*(w - u)^2/2;\n    force a = %.3f*sin(%.3f*time);\n  end Motion;\n", m1, m2, J, m1, g, m2, g, k, d, push, speed);
    } else {
        J = d = push = 0;
        printf("  model Motion\n    coordinate Real x1(start = %.15g, fixed = true), y1(start = %.15g), x2(start = %.15g, fixed = true), y2(start = %.15g);\n"
               "    Real v1(start = %.15g, fixed = true) = der(x1);\n    Real v2(start = %.15g, fixed = true) = der(x2);\n  energy\n", x1, y1, x2, y2, v1, v2);
        printf("    kinetic %.3f*(der(x1)^2 + der(y1)^2)/2 + %.3f*(der(x2)^2 + der(y2)^2)/2;\n    potential %.3f*%.3f*y1 + %.3f*%.3f*y2 + %.3f*x2^2/2;\n"
               "    constraint x1^2 + y1^2 = %.3f^2;\n    constraint (x2 - x1)^2 + (y2 - y1)^2 = %.3f^2;\n  end Motion;\n", m1, m2, m1, g, m2, g, k, L1, L2);
    }
    print_formalisms(random, "x2", "y2", 1.5);
    printf("  model Written\n    Real a(start = %.3f, fixed = true), b(start = %.3f, fixed = true), u(start = %.3f, fixed = true), w(start = %.3f, fixed = true);\n"
           "    Real c = %.9f*cos(a - b), s = %.9f*sin(a - b), h, l, det, x = %.3f*sin(a) + %.3f*sin(b), y = -%.3f*cos(a) - %.3f*cos(b);\n",
           a, b, u, w, m2 * L1 * L2, m2 * L1 * L2, L1, L2, L1, L2);
    print_copies("x", "y");
    printf("  equation\n    der(a) = u;\n    der(b) = w;\n    h = -s*w^2 - %.9f*sin(a) - %.3f*x*%.3f*cos(a) + %.3f*(w - u) + %.3f*sin(%.3f*time);\n"
           "    l = s*u^2 - %.9f*sin(b) - %.3f*x*%.3f*cos(b) - %.3f*(w - u);\n", (m1 + m2) * g * L1, k, L1, d, push, speed, m2 * g * L2, k, L2, d);
    double A = (m1 + m2) * L1 * L1, B = m2 * L2 * L2 + J;
    printf("    det = %.12f - c^2;\n    der(u) = (%.9f*h - c*l)/det;\n    der(w) = (%.9f*l - c*h)/det;\n", A * B, B, A);
    end_model("Written", 1.5);
}

// --- sleighs: a blade that slides along itself only, on a slope; and its equations in velocities along and about the blade

void
sleighs(Random *random)
{
    double m = between(random, 0.5, 2), J = between(random, 0.1, 1), c = between(random, -0.6, 0.6), slope = between(random, 0.1, 3), d = between(random, 0.01, 0.5);
    double phi = between(random, -1.2, 1.2), along = between(random, -2, 2), turn = between(random, -3, 3);
    printf("  model Motion\n    coordinate Real x(start = 0, fixed = true), y(start = 0, fixed = true), phi(start = %.3f, fixed = true);\n"
           "    Real u(start = %.15g, fixed = true) = der(x);\n    Real v(start = %.15g) = der(y);\n    Real w(start = %.3f, fixed = true) = der(phi);\n", phi,
           along * cos(phi), along * sin(phi), turn);
    printf("    Real X = x + (%.3f)*cos(phi), Y = y + (%.3f)*sin(phi);\n  energy\n    inertia %.3f at {X, Y};\n    inertia %.3f about phi;\n    potential %.3f*%.3f*X;\n"
           "    dissipation %.3f*w^2/2;\n    constraint sin(phi)*der(x) - cos(phi)*der(y) = 0;\n  end Motion;\n", c, c, m, J, m, slope, d);
    print_formalisms(random, "X", "Y", 2);
    printf("  model Written\n    Real x(start = 0, fixed = true), y(start = 0, fixed = true), phi(start = %.3f, fixed = true), s(start = %.3f, fixed = true), w(start = %.3f, fixed = true);\n",
           phi, along, turn);
    printf("    Real X = x + (%.3f)*cos(phi), Y = y + (%.3f)*sin(phi);\n", c, c);
    print_copies("X", "Y");
    printf("  equation\n    der(x) = s*cos(phi);\n    der(y) = s*sin(phi);\n    der(phi) = w;\n    der(s) = (%.3f)*w^2 - %.3f*cos(phi);\n"
           "    %.12f*der(w) = %.9f*(%.3f*sin(phi) - s*w) - %.3f*w;\n", c, slope, J + m * c * c, m * c, slope, d);
    end_model("Written", 2);
}
