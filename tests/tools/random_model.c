// random_model.c: random models, each written twice.
//
// usage: random_model KIND SEED     prints a package `R` with two models, `Given` and `Written`, whose variables of the same name have
//                                   the same values: KIND is one of the rows of `kinds` below
//
// `Given` says something in the way a user would: by components of the library, by energies, memory elements, constraints, tables, in equations
// of any order. `Written` says the same in plain explicit equations that were derived by hand from the textbooks' laws, or in another part of the
// language (a function for expressions, an algorithm for events), so that passes, library and solvers have little in common on the two ways.
#include "tests/random/kinds.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// --- expressions: values of time, in equations and in a function

static void
expression(Random *random, uint32_t known, uint32_t depth)
{
    static const char *const unary[] = {"sin(", "cos(", "atan(", "tanh(", "abs(", "exp(-abs(", "sqrt(1 + abs("};
    static const char *const binary[] = {"%s + ", "%s - ", "%s*"};
    uint32_t pick = random_below(random, 12);
    if (depth == 0 || pick == 0) {
        if (known && random_below(random, 3))
            printf("x%u", random_below(random, known));
        else if (random_below(random, 2))
            printf("t");
        else
            printf("%.3f", between(random, 0.1, 2));
    } else if (pick < 6) {
        uint32_t which = random_below(random, 7);
        printf("%s", unary[which]);
        expression(random, known, depth - 1);
        printf(which >= 5 ? "))" : ")");
    } else if (pick < 10) {
        uint32_t which = random_below(random, 3);
        printf("(");
        expression(random, known, depth - 1);
        printf("%s", binary[which] + 2);
        expression(random, known, depth - 1);
        printf(")");
    } else if (pick == 10) {
        printf("%s(", either(random, "min", "max"));
        expression(random, known, depth - 1);
        printf(", ");
        expression(random, known, depth - 1);
        printf(")");
    } else {
        printf("(if ");
        expression(random, known, depth - 1);
        printf(" > ");
        expression(random, known, depth - 1);
        // Where both sides may be the same, or touch each other flatly, rounding alone would decide.
        printf(" + %.3f then ", between(random, 0.01, 0.1));
        expression(random, known, depth - 1);
        printf(" else ");
        expression(random, known, depth - 1);
        printf(")");
    }
}

static void
expressions(Random *random)
{
    uint32_t n = 3 + random_below(random, 6), seed = random_below(random, 1u << 30), turned = random_below(random, n);
    printf("  model Given\n    Real t = time");
    for (uint32_t i = 0; i < n; i++)
        printf(", x%u", i);
    printf(";\n  equation\n");
    for (uint32_t i = n; i-- > 0;) {
        Random own = {seed + i};
        printf(i == turned ? "    -x%u = -(" : "    x%u = (", i);
        expression(&own, i, 3);
        printf(");\n");
    }
    end_model("Given", 2);
    printf("  function all\n    input Real t;\n    output Real x[%u];\n  protected\n    Real", n);
    for (uint32_t i = 0; i < n; i++)
        printf(" x%u%s", i, i + 1 < n ? "," : ";\n  algorithm\n");
    for (uint32_t i = 0; i < n; i++) {
        Random own = {seed + i};
        printf("    x%u := ", i);
        expression(&own, i, 3);
        printf(";\n    x[%u] := x%u;\n", i + 1, i);
    }
    printf("  end all;\n  model Written\n    Real x[%u] = all(time);\n    Real t = time", n);
    for (uint32_t i = 0; i < n; i++)
        printf(", x%u = x[%u]", i, i + 1);
    printf(";\n");
    end_model("Written", 2);
}

// --- hybrid: a controller with hysteresis, a sampler, a counter with resets; as equations and as an algorithm

static void
hybrid(Random *random)
{
    double gain = between(random, 2, 6), loss = between(random, 0.5, 1.5), low = between(random, 0.2, 0.5), high = between(random, 0.7, 1);
    double period = between(random, 0.05, 0.4), first = between(random, 0, 0.3), limit = between(random, 0.3, 1.5), kept = between(random, 0.2, 0.9);
    const char *head = "    Real x(start = 0, fixed = true), y(start = 0, fixed = true), q(start = 0, fixed = true);\n"
                       "    Boolean on(start = true, fixed = true);\n"
                       "    Integer n(start = 0, fixed = true), m(start = 0, fixed = true);\n"
                       "    discrete Real h(start = 0, fixed = true);\n";
    char line[8][LINE];
    snprintf(line[0], sizeof *line, "on = x < %.3f or pre(on) and x <= %.3f;", low, high);
    snprintf(line[1], sizeof *line, "der(x) = (if on then %.3f else 0) - %.3f*x;", gain, loss);
    snprintf(line[2], sizeof *line, "when sample(%.3f, %.3f) then h = x; m = pre(m) + 1; end when;", first, period);
    snprintf(line[3], sizeof *line, "der(y) = h;");
    snprintf(line[4], sizeof *line, "der(q) = x + 0.1;");
    snprintf(line[5], sizeof *line, "when q > %.3f then reinit(q, %.3f*(pre(q) - %.3f)); n = pre(n) + 1; end when;", limit, kept, limit);
    printf("  model Given\n%s  equation\n", head);
    shuffled(random, line, 6);
    end_model("Given", 3);
    printf("  model Written\n%s  algorithm\n    when x > %.3f then\n      on := false;\n    elsewhen x < %.3f then\n      on := true;\n    end when;\n"
           "    when sample(%.3f, %.3f) then\n      h := x;\n      m := pre(m) + 1;\n    end when;\n"
           "    when q > %.3f then\n      n := pre(n) + 1;\n    end when;\n  equation\n"
           "    der(x) = if on then %.3f - %.3f*x else -%.3f*x;\n    der(y) = h;\n    der(q) = x + 0.1;\n"
           "    when change(n) then\n      reinit(q, %.3f*(pre(q) - %.3f));\n    end when;\n",
           head, high, low, first, period, limit, gain, loss, loss, kept, limit);
    end_model("Written", 3);
}

// --- circuits: components, and the laws of Kirchhoff written out

static void
circuit(Random *random)
{
    enum { MOST = 16 };
    struct { char kind; uint32_t p, n; double value; } element[MOST];
    static const char *const declared[] = {"Electrical.Resistor e%u(R = %.3f);\n", "Electrical.Inductor e%u(L = %.3f, i(start = 0, fixed = true));\n",
                                           "Electrical.Capacitor e%u(C = %.3f, v(start = 0, fixed = true));\n",
                                           "Electrical.SineVoltage e%u(V = 10, f = %.3f, phase = 0.5);\n"};
    static const char kinds[] = "RLCV";
    uint32_t nodes = 3 + random_below(random, 4), n = 0;
    // A tree of resistors; inductors and capacitors in parallel with resistances of their own, so that all states are free.
    for (uint32_t i = 1; i < nodes; i++, n++)
        element[n].kind = 'R', element[n].p = i, element[n].n = random_below(random, i), element[n].value = between(random, 1, 20);
    uint32_t more = 2 + random_below(random, 4);
    uint32_t inner = nodes;
    for (uint32_t k = 0; k < more && n + 2 <= MOST; k++) {
        uint32_t a = random_below(random, nodes), b = (a + 1 + random_below(random, nodes - 1)) % nodes;
        element[n].kind = 'R', element[n].p = a, element[n].n = inner, element[n].value = between(random, 1, 20), n++;
        element[n].kind = kinds[1 + random_below(random, 3)], element[n].p = inner, element[n].n = b;
        element[n].value = element[n].kind == 'C' ? between(random, 0.05, 0.2) : between(random, 0.3, 2), n++, inner++;
    }
    printf("  model Given\n    Electrical.Ground g;\n");
    for (uint32_t i = 0; i < n; i++) {
        printf("    ");
        printf(declared[strchr(kinds, element[i].kind) - kinds], i, element[i].value);
    }
    printf("  equation\n");
    for (uint32_t node = 0; node < inner; node++) {
        bool begun = false;
        for (uint32_t i = 0; i < n; i++)
            for (int end = 0; end < 2; end++)
                if ((end ? element[i].n : element[i].p) == node) {
                    if (node == 0)
                        printf("    connect(g.p, e%u.%s);\n", i, end ? "n" : "p");
                    else if (begun)
                        printf(", e%u.%s);\n", i, end ? "n" : "p");
                    begun = true;
                    if (node && (end ? element[i].p : element[i].n) != node) {
                        // the next end at this node, if there is one
                        uint32_t k;
                        for (k = i + 1; k < n && element[k].p != node && element[k].n != node; k++) {}
                        if (k < n)
                            printf("    connect(e%u.%s", i, end ? "n" : "p");
                    }
                }
    }
    end_model("Given", 2);
    printf("  model Written\n    record Branch\n      Real v, i;\n    end Branch;\n    constant Real pi = 3.141592653589793;\n    Real u[%u];\n", inner);
    for (uint32_t i = 0; i < n; i++)
        printf("    Branch e%u%s;\n", i, element[i].kind == 'C' ? "(v(start = 0, fixed = true))" : element[i].kind == 'L' ? "(i(start = 0, fixed = true))" : "");
    printf("  equation\n    u[1] = 0;\n");
    for (uint32_t i = 0; i < n; i++) {
        printf("    e%u.v = u[%u] - u[%u];\n    ", i, element[i].p + 1, element[i].n + 1);
        switch (element[i].kind) {
        case 'R': printf("e%u.v = %.3f*e%u.i;\n", i, element[i].value, i); break;
        case 'L': printf("%.3f*der(e%u.i) = e%u.v;\n", element[i].value, i, i); break;
        case 'C': printf("%.3f*der(e%u.v) = e%u.i;\n", element[i].value, i, i); break;
        default: printf("e%u.v = 10*sin(2*pi*%.3f*time + 0.5);\n", i, element[i].value); break;
        }
    }
    for (uint32_t node = 1; node < inner; node++) {
        printf("    0 = 0");
        for (uint32_t i = 0; i < n; i++)
            if (element[i].p == node || element[i].n == node)
                printf(" %c e%u.i", element[i].p == node ? '+' : '-', i);
        printf(";\n");
    }
    end_model("Written", 2);
}

// --- beads on curves y = f(x), joined by springs: a constraint with its force, and the equation along the curve

static void
beads(Random *random)
{
    uint32_t n = 1 + random_below(random, 3);
    double a[3], b[3], c[3], m[3], d[3], k[4] = {0}, x[3], v[3];
    for (uint32_t i = 0; i < n; i++) {
        a[i] = between(random, -0.6, 0.6), b[i] = between(random, 0.1, 0.5), c[i] = between(random, 0, 0.1);
        m[i] = between(random, 0.5, 2), d[i] = between(random, 0, 0.5), k[i] = between(random, 1, 9);
        x[i] = between(random, -1, 1), v[i] = between(random, -1, 1);
    }
    printf("  model Given\n");
    char line[20][LINE];
    uint32_t lines = 0;
    for (uint32_t i = 0; i < n; i++) {
        printf("    Real x%u(start = %.3f, fixed = true), y%u(start = %.4f), u%u(start = %.3f, fixed = true), w%u, l%u;\n", i, x[i], i,
               a[i] * x[i] + b[i] * x[i] * x[i] + c[i] * pow(x[i], 3), i, v[i], i, i);
        char springs[200] = "";
        if (i)
            snprintf(springs, sizeof springs, " - %.3f*(x%u - x%u)", k[i], i, i - 1);
        if (i + 1 < n)
            snprintf(springs + strlen(springs), sizeof springs - strlen(springs), " + %.3f*(x%u - x%u)", k[i + 1], i + 1, i);
        snprintf(line[lines++], sizeof *line, "y%u - (%.3f)*x%u = %.3f*x%u^2 + %.3f*x%u^3;", i, a[i], i, b[i], i, c[i], i);
        snprintf(line[lines++], sizeof *line, "der(x%u) = u%u;", i, i);
        snprintf(line[lines++], sizeof *line, "der(y%u) = w%u;", i, i);
        snprintf(line[lines++], sizeof *line, "%.3f*der(u%u) = -%.3f*u%u - l%u*(%.3f + 2*%.3f*x%u + 3*%.3f*x%u^2) - %.3f*x%u%s;", m[i], i, d[i], i, i,
                 a[i], b[i], i, c[i], i, k[i], i, springs);
        snprintf(line[lines++], sizeof *line, "%.3f*der(w%u) = -%.3f*w%u + l%u - %.3f*9.81;", m[i], i, d[i], i, i, m[i]);
    }
    printf("  equation\n");
    shuffled(random, line, lines);
    end_model("Given", 2);
    // m*(1 + y'^2)*x'' + m*y'*y''*x'^2 = F - y'*(d*y'*x' + m*g)
    printf("  model Written\n");
    for (uint32_t i = 0; i < n; i++)
        printf("    Real x%u(start = %.3f, fixed = true), u%u(start = %.3f, fixed = true), y%u, s%u, r%u;\n", i, x[i], i, v[i], i, i, i);
    printf("  equation\n");
    for (uint32_t i = 0; i < n; i++) {
        printf("    y%u = x%u*((%.3f) + x%u*(%.3f + %.3f*x%u));\n    s%u = (%.3f) + x%u*(2*%.3f + 3*%.3f*x%u);\n    r%u = 2*%.3f + 6*%.3f*x%u;\n", i, i,
               a[i], i, b[i], c[i], i, i, a[i], i, b[i], c[i], i, i, b[i], c[i], i);
        printf("    der(x%u) = u%u;\n    der(u%u) = (-%.3f*u%u - %.3f*x%u", i, i, i, d[i], i, k[i], i);
        if (i)
            printf(" - %.3f*(x%u - x%u)", k[i], i, i - 1);
        if (i + 1 < n)
            printf(" + %.3f*(x%u - x%u)", k[i + 1], i + 1, i);
        printf(" - s%u*(%.3f*r%u*u%u^2 + %.3f*s%u*u%u + %.3f*9.81))/(%.3f*(1 + s%u^2));\n", i, m[i], i, i, d[i], i, i, m[i], m[i], i);
    }
    end_model("Written", 2);
}

// --- linkages: a four-bar linkage of the library, and its bodies with the forces of their pins

static void
linkage(Random *random)
{
    double a, b, c, d, angle, reach, along, coupler, rocker, m[3];
    do {
        a = between(random, 0.2, 0.4), b = between(random, 0.7, 1.1), c = between(random, 0.5, 0.8), d = between(random, 0.6, 0.9);
        angle = between(random, 0, 6.2);
        double x = d - a * cos(angle), y = -a * sin(angle);
        reach = hypot(x, y), along = atan2(y, x);
    } while (a + b > 0.95 * (c + d) || reach > 0.97 * (b + c) || reach < 1.03 * fabs(b - c) + 0.03 || a + d > 0.95 * (b + c) || b + 0.05 > a + c + d);
    coupler = along + acos((b * b + reach * reach - c * c) / (2 * b * reach));
    rocker = atan2(a * sin(angle) + b * sin(coupler), a * cos(angle) + b * cos(coupler) - d);
    for (int i = 0; i < 3; i++)
        m[i] = between(random, 0.2, 2);
    double speed = between(random, -8, 8);
    printf("  model Given\n    inner Planar.World world;\n    Planar.Fixed o, p(r = {%.3f, 0});\n"
           "    Planar.Revolute j1(phi(start = %.3f, fixed = true), w(start = %.3f, fixed = true)), j2(phi(start = %.4f)), j3, j4(phi(start = %.4f));\n"
           "    Planar.Link k1(L = %.3f, m = %.3f), k2(L = %.3f, m = %.3f), k3(L = %.3f, m = %.3f);\n"
           "    Real phi = k1.frame_a.phi, x = k2.frame_b.x, y = k2.frame_b.y;\n  equation\n",
           d, angle, speed, coupler - angle, rocker, a, m[0], b, m[1], c, m[2]);
    char line[8][LINE] = {"connect(o.frame, j1.frame_a);", "connect(j1.frame_b, k1.frame_a);", "connect(k1.frame_b, j2.frame_a);", "connect(j2.frame_b, k2.frame_a);",
                         "connect(k2.frame_b, j3.frame_a);", "connect(k3.frame_b, j3.frame_b);", "connect(p.frame, j4.frame_a);", "connect(j4.frame_b, k3.frame_a);"};
    shuffled(random, line, 8);
    end_model("Given", 1);
    // Bars as bodies with centres at X, Y; force of pin i in Fx[i], Fy[i] on the bar in front of it (1: ground on bar 1, 4: ground on bar 3).
    printf("  model Written\n    constant Real L[3] = {%.3f, %.3f, %.3f}, m[3] = {%.3f, %.3f, %.3f}, d = %.3f;\n"
           "    Real phi(start = %.3f, fixed = true), w(start = %.3f, fixed = true), f2(start = %.4f), f3(start = %.4f);\n"
           "    Real X[3], Y[3], Fx[4], Fy[4], x, y, f[3] = {phi, f2, f3};\n  equation\n"
           "    w = der(phi);\n    X = {L[1]/2*cos(phi), L[1]*cos(phi) + L[2]/2*cos(f2), d + L[3]/2*cos(f3)};\n"
           "    Y = {L[1]/2*sin(phi), L[1]*sin(phi) + L[2]/2*sin(f2), L[3]/2*sin(f3)};\n"
           "    x = L[1]*cos(phi) + L[2]*cos(f2);\n    y = L[1]*sin(phi) + L[2]*sin(f2);\n    x = d + L[3]*cos(f3);\n    y = L[3]*sin(f3);\n"
           "    m[1]*der(der(X[1])) = Fx[1] - Fx[2];\n    m[1]*der(der(Y[1])) = Fy[1] - Fy[2] - 9.81*m[1];\n"
           "    m[2]*der(der(X[2])) = Fx[2] - Fx[3];\n    m[2]*der(der(Y[2])) = Fy[2] - Fy[3] - 9.81*m[2];\n"
           "    m[3]*der(der(X[3])) = Fx[3] + Fx[4];\n    m[3]*der(der(Y[3])) = Fy[3] + Fy[4] - 9.81*m[3];\n"
           "    for i in 1:2 loop\n      m[i]*L[i]^2/12*der(der(f[i])) = L[i]/2*(sin(f[i])*(Fx[i] + Fx[i + 1]) - cos(f[i])*(Fy[i] + Fy[i + 1]));\n    end for;\n"
           "    m[3]*L[3]^2/12*der(der(f3)) = L[3]/2*(cos(f3)*(Fy[3] - Fy[4]) - sin(f3)*(Fx[3] - Fx[4]));\n",
           a, b, c, m[0], m[1], m[2], d, angle, speed, coupler, rocker);
    end_model("Written", 1);
}

// --- energies: energy sections, and Lagrange's equations differentiated by hand, with memory energies or without

static void
energies(Random *random)
{
    static const char *const formalism[] = {"lagrange", "hamilton", "gibbs_appell", "kane"};
    double m1 = between(random, 1, 3), m2 = between(random, 0.5, 2), couple = between(random, 0, 0.6), k1 = between(random, 1, 9), k2 = between(random, 1, 9);
    double k12 = between(random, 0, 6), g = between(random, 0, 5), c1 = between(random, 0, 0.6), c2 = between(random, 0, 0.6);
    double d1 = between(random, 0.1, 0.6), d3 = between(random, 0, 0.5), b1 = between(random, 0.1, 0.6), b3 = between(random, 0, 0.5);
    bool damper = random_below(random, 2), inerter = random_below(random, 2);
    double q = between(random, -1, 1), r = between(random, -1, 1), u = between(random, -1, 1), w = between(random, -1, 1);
    printf("  model Given\n    coordinate Real q(start = %.3f, fixed = true);\n    coordinate Real r(start = %.3f, fixed = true);\n"
           "    Real u(start = %.3f, fixed = true) = der(q);\n    Real w(start = %.3f, fixed = true) = der(r);\n  energy\n"
           "    formalism %s;\n    kinetic %.3f*u^2/2 + %.3f*w^2/2 + %.3f*cos(q - r)*u*w;\n"
           "    potential %.3f*q^2/2 + %.3f*r^4/4 + %.3f*(q - r)^2/2 + %.3f*(1 - cos(q));\n    dissipation %.3f*u^2/2 + %.3f*w^2/2;\n",
           q, r, u, w, formalism[random_below(random, 4)], m1, m2, couple, k1, k2, k12, g, c1, c2);
    if (damper)
        printf("    memory dissipation %.3f*q^2/2 + %.3f*q^4/4;\n", d1, d3);
    if (inerter)
        printf("    memory kinetic %.3f*q^2/2 + %.3f*q^4/4;\n", b1, b3);
    end_model("Given", 2);
    d1 = damper ? d1 : 0, d3 = damper ? d3 : 0, b1 = inerter ? b1 : 0, b3 = inerter ? b3 : 0;
    printf("  model Written\n    Real q(start = %.3f, fixed = true), r(start = %.3f, fixed = true), u(start = %.3f, fixed = true), w(start = %.3f, fixed = true), c, s, h, l, det;\n"
           "  equation\n    der(q) = u;\n    der(r) = w;\n    c = %.3f*cos(q - r);\n    s = %.3f*sin(q - r);\n"
           "    h = -s*w^2 - (%.3f + 3*%.3f*q^2)*u - 6*%.3f*q*u^2 - %.3f*q - %.3f*(q - r) - %.3f*sin(q) - %.3f*u;\n"
           "    l = s*u^2 - %.3f*r^3 + %.3f*(q - r) - %.3f*w;\n"
           "    det = (%.3f + %.3f + 3*%.3f*q^2)*%.3f - c^2;\n    der(u) = (%.3f*h - c*l)/det;\n    der(w) = ((%.3f + %.3f + 3*%.3f*q^2)*l - c*h)/det;\n",
           q, r, u, w, couple, couple, d1, d3, b3, k1, k12, g, c1, k2, k12, c2, m1, b1, b3, m2, m2, m1, b1, b3);
    end_model("Written", 2);
}

// --- memory: elements of the library, and the laws of Nie, Liu and Zhang (Machines 12 (2024) 208) for the force written out

static void
memory(Random *random)
{
    static const char *const class[] = {"MemDamper", "MemInerter", "MemSpring"};
    double m = between(random, 0.5, 3), k = between(random, 2, 20), s = between(random, -0.5, 0.5), v = between(random, -1, 1), p[3][2];
    bool used[3];
    for (int i = 0; i < 3; i++)
        p[i][0] = between(random, 0.2, 2), p[i][1] = between(random, 0, 0.4), used[i] = random_below(random, 3);
    printf("  model Given\n    Translational.Fixed wall;\n    Translational.Mass b(m = %.3f, s(start = %.3f, fixed = true), v(start = %.3f, fixed = true));\n"
           "    Translational.Spring spring(k = %.3f);\n    Real x = b.s, w = b.v;\n", m, s, v, k);
    for (int i = 0; i < 3; i++)
        if (used[i])
            printf("    Memory.%s e%d(redeclare function curve = Memory.Polynomial(c = {0, %.3f, 0, %.3f}));\n", class[i], i, p[i][0], p[i][1]);
    printf("  equation\n    connect(wall.flange, spring.flange_a);\n    connect(spring.flange_b, b.flange);\n");
    for (int i = 0; i < 3; i++)
        if (used[i])
            printf("    connect(wall.flange, e%d.flange_a);\n    connect(e%d.flange_b, b.flange);\n", i, i);
    end_model("Given", 2);
    for (int i = 0; i < 3; i++)
        p[i][0] *= used[i], p[i][1] *= used[i];
    // Slopes of the curves: damping by x, inertance by x, stiffness by the absement z.
    printf("  model Written\n    Real x(start = %.3f, fixed = true), w(start = %.3f, fixed = true), z(start = 0, fixed = true);\n  equation\n"
           "    der(x) = w;\n    der(z) = x;\n    (%.3f + %.3f + 3*%.3f*x^2)*der(w) = -%.3f*x - (%.3f + 3*%.3f*x^2)*w - 6*%.3f*x*w^2 - (%.3f + 3*%.3f*z^2)*x;\n",
           s, v, m, p[1][0], p[1][1], k, p[0][0], p[0][1], p[1][1], p[2][0], p[2][1]);
    end_model("Written", 2);
}

// --- tables: of a state and of time, with a periodic source; and as if-expressions

static void
tables(Random *random)
{
    enum { ROWS = 4 };
    double at[ROWS], value[ROWS], when[ROWS], signal[ROWS];
    double period = between(random, 0.3, 1.2), begin = between(random, -2, 0.5), height = between(random, 0.5, 2), width = between(random, 0.2, 0.8);
    for (int i = 0; i < ROWS; i++) {
        at[i] = -1.5 + i + between(random, -0.3, 0.3), value[i] = between(random, -2, 2);
        when[i] = 0.7 * i + between(random, 0, 0.5), signal[i] = between(random, -2, 2);
    }
    when[0] = 0;
    printf("  model Given\n    Blocks.Table1D law(table = {");
    for (int i = 0; i < ROWS; i++)
        printf("%s{%.3f, %.3f}", i ? ", " : "", at[i], value[i]);
    printf("});\n    Blocks.TimeTable course(table = {");
    for (int i = 0; i < ROWS; i++)
        printf("%s{%.3f, %.3f}", i ? ", " : "", when[i], signal[i]);
    printf("});\n    Blocks.Pulse pulse(amplitude = %.3f, period = %.3f, width = %.3f, startTime = %.3f);\n"
           "    Real x(start = 0.5, fixed = true), y(start = 0, fixed = true);\n  equation\n    law.u = y;\n"
           "    der(x) = -x + law.y + course.y;\n    der(y) = -2*y + x + pulse.y;\n", height, period, width, begin);
    end_model("Given", 2.5);
    printf("  model Written\n    Real x(start = 0.5, fixed = true), y(start = 0, fixed = true), a, b, c;\n  equation\n    a = ");
    for (int i = 1; i < ROWS; i++) {
        if (i + 1 < ROWS)
            printf("if y < %.3f then ", at[i]);
        printf("%.3f + (%.12g)*(y - (%.3f))%s", value[i - 1], (value[i] - value[i - 1]) / (at[i] - at[i - 1]), at[i - 1], i + 1 < ROWS ? " else " : ";\n    b = ");
    }
    for (int i = 1; i < ROWS; i++)
        printf("if time < %.3f then %.3f + (%.12g)*(time - (%.3f)) else ", when[i], signal[i - 1], (signal[i] - signal[i - 1]) / (when[i] - when[i - 1]), when[i - 1]);
    // The periods that reach into the run, one by one.
    printf("%.3f;\n    c = 0", signal[ROWS - 1]);
    for (double from = begin; from < 2.5; from += period)
        if (from + width * period > 0)
            printf(" + (if time >= %.12g and time < %.12g then %.3f else 0)", from, from + width * period, height);
    printf(";\n    der(x) = -x + a + b;\n    der(y) = -2*y + x + c;\n");
    end_model("Written", 2.5);
}

static const struct { const char *name; void (*print)(Random *random); } kinds[] = {
    {"expressions", expressions}, {"hybrid", hybrid}, {"circuit", circuit}, {"beads", beads}, {"linkage", linkage},
    {"energies", energies}, {"memory", memory}, {"tables", tables}, {"arrays", arrays}, {"classes", classes}, {"functions", functions}, {"whens", whens},
    {"impacts", impacts}, {"friction", friction}, {"valves", valves}, {"delays", delays}, {"transports", transports}, {"fractional", fractional},
    {"inverse_memory", inverse_memory}, {"pendulums", pendulums}, {"sleighs", sleighs},
    {"stops", stops}, {"planes", planes}, {"ladders", ladders}, {"mixing", mixing}, {"areas", areas}, {"struts", struts}, {"feet", feet},
};

int
main(int argc, char **argv)
{
    for (size_t i = 0; argc == 3 && i < sizeof kinds / sizeof *kinds; i++)
        if (!strcmp(argv[1], kinds[i].name)) {
            Random random = {strtoull(argv[2], NULL, 10) * 977 + i};
            for (int k = 0; k < 4; k++)
                (void)random_below(&random, 2);
            printf("package R\n");
            kinds[i].print(&random);
            printf("end R;\n");
            return 0;
        }
    fprintf(stderr, "usage: random_model KIND SEED; kinds:");
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        fprintf(stderr, " %s", kinds[i].name);
    fprintf(stderr, "\n");
    return 2;
}
