// struts.c: bodies in a plane that struts with dry friction hold, to hooks and to each other, and that fall past them; and the same in plain
// equations with the friction of a velocity so small that it does not matter.
#include "tests/random/kinds.h"

#include <stdbool.h>
#include <stdio.h>

enum { BODIES = 2, STRUTS = 3 };

typedef struct Strut {
    uint32_t body, other; // other: a body, or BODIES + a hook
    double force, stiffness, length;
} Strut;

typedef struct Mechanism {
    uint32_t n, struts;
    double mass[BODIES], x[BODIES], y[BODIES], u[BODIES], v[BODIES], hook[STRUTS][2];
    Strut strut[STRUTS];
} Mechanism;

static Mechanism
make(Random *random)
{
    Mechanism m = {.n = 1 + random_below(random, BODIES)};
    for (uint32_t i = 0; i < m.n; i++) {
        m.mass[i] = between(random, 0.5, 2), m.x[i] = 1.2 * i + between(random, 0.8, 1.2), m.y[i] = between(random, -0.5, 0.6);
        m.u[i] = between(random, -0.5, 0.5), m.v[i] = between(random, -0.5, 0.5);
    }
    m.struts = m.n == 1 ? 1 + random_below(random, 2) : 2;
    for (uint32_t k = 0; k < m.struts; k++) {
        uint32_t body = k % m.n;
        m.hook[k][0] = k ? between(random, 2.8, 3.4) : between(random, -0.4, 0.2), m.hook[k][1] = between(random, -0.4, 0.4);
        m.strut[k] = (Strut){body, body ? body - 1 : BODIES + k, between(random, 1, 15), random_below(random, 2) ? between(random, 5, 40) : 0,
                             between(random, 0.5, 1.5)};
    }
    return m;
}

static void
print_given(const Mechanism *m)
{
    printf("  model Given\n    inner Planar.World world;\n    Real x[%u], y[%u];\n", m->n, m->n);
    for (uint32_t i = 0; i < m->n; i++)
        printf("    Planar.Body body%u(m = %.3f, I = 0.1, r_CM = {0, 0}, frame_a(x(start = %.3f, fixed = true), y(start = %.3f, fixed = true),\n"
               "        phi(start = 0, fixed = true)), v(start = {%.3f, %.3f}, each fixed = true), w(start = 0, fixed = true));\n",
               i, m->mass[i], m->x[i], m->y[i], m->u[i], m->v[i]);
    for (uint32_t k = 0; k < m->struts; k++) {
        const Strut *at = &m->strut[k];
        printf("    Planar.DryFriction strut%u(F = %.3f);\n", k, at->force);
        if (at->stiffness > 0)
            printf("    Planar.Spring spring%u(k = %.3f, L0 = %.3f);\n", k, at->stiffness, at->length);
        if (at->other >= BODIES)
            printf("    Planar.Fixed hook%u(r = {%.3f, %.3f});\n", k, m->hook[k][0], m->hook[k][1]);
    }
    printf("  equation\n");
    for (uint32_t i = 0; i < m->n; i++)
        printf("    x[%u] = body%u.frame_a.x;\n    y[%u] = body%u.frame_a.y;\n", i + 1, i, i + 1, i);
    for (uint32_t k = 0; k < m->struts; k++)
        for (int spring = 0; spring < 1 + (m->strut[k].stiffness > 0); spring++) {
            const Strut *at = &m->strut[k];
            const char *name = spring ? "spring" : "strut";
            if (at->other >= BODIES)
                printf("    connect(hook%u.frame, %s%u.frame_a);\n", k, name, k);
            else
                printf("    connect(body%u.frame_a, %s%u.frame_a);\n", at->other, name, k);
            printf("    connect(%s%u.frame_b, body%u.frame_a);\n", name, k, at->body);
        }
    end_model("Given", 1);
}

// The difference of a coordinate between the ends of a strut.
static void
print_difference(const Mechanism *m, uint32_t k, int axis, bool rate)
{
    static const char *const names[2][2] = {{"x", "y"}, {"u", "v"}};
    const char *name = names[rate][axis];
    printf("%s[%u]", name, m->strut[k].body + 1);
    if (m->strut[k].other < BODIES)
        printf(" - %s[%u]", name, m->strut[k].other + 1);
    else if (!rate)
        printf(" - (%.3f)", m->hook[k][axis]);
}

static void
print_written(const Mechanism *m)
{
    printf("  model Written\n    Real x[%u](start = ", m->n);
    print_vector(m->x, m->n);
    printf(", each fixed = true), y[%u](start = ", m->n);
    print_vector(m->y, m->n);
    printf(", each fixed = true), u[%u](start = ", m->n);
    print_vector(m->u, m->n);
    printf(", each fixed = true), v[%u](start = ", m->n);
    print_vector(m->v, m->n);
    printf(", each fixed = true);\n    Real l[%u], s[%u], tension[%u];\n  equation\n    der(x) = u;\n    der(y) = v;\n", m->struts, m->struts, m->struts);
    for (uint32_t k = 0; k < m->struts; k++) {
        printf("    l[%u] = sqrt((", k + 1);
        print_difference(m, k, 0, false);
        printf(")^2 + (");
        print_difference(m, k, 1, false);
        printf(")^2);\n    s[%u] = (", k + 1);
        for (int axis = 0; axis < 2; axis++) {
            printf(axis ? " + (" : "(");
            print_difference(m, k, axis, false);
            printf(")*(");
            print_difference(m, k, axis, true);
            printf(")");
        }
        printf(")/l[%u];\n", k + 1);
        // Rest is a motion of at most 1e-8.
        printf("    tension[%u] = %.3f*s[%u]/sqrt(s[%u]^2 + 1e-16)", k + 1, m->strut[k].force, k + 1, k + 1);
        if (m->strut[k].stiffness > 0)
            printf(" + %.3f*(l[%u] - %.3f)", m->strut[k].stiffness, k + 1, m->strut[k].length);
        printf(";\n");
    }
    for (uint32_t i = 0; i < m->n; i++)
        for (int axis = 0; axis < 2; axis++) {
            printf("    %.3f*der(%s[%u]) = -%.3f*%.3f", m->mass[i], axis ? "v" : "u", i + 1, axis ? 9.81 : 0, m->mass[i]);
            for (uint32_t k = 0; k < m->struts; k++)
                if (m->strut[k].body == i || m->strut[k].other == i) {
                    printf(" %c tension[%u]*(", m->strut[k].body == i ? '-' : '+', k + 1);
                    print_difference(m, k, axis, false);
                    printf(")/l[%u]", k + 1);
                }
            printf(";\n");
        }
    end_model("Written", 1);
}

void
struts(Random *random)
{
    Mechanism m = make(random);
    print_given(&m);
    print_written(&m);
}
