// areas.c: integrals between limits that move, against their closed forms; and memory energies of integrals over time.
#include "tests/random/kinds.h"

#include <stdio.h>

// In both texts @ is the variable, A a positive number and B one of either sign.
typedef struct Area {
    const char *integrand, *antiderivative;
} Area;

static void
print_with(const char *text, const char *s, double a, double b)
{
    for (; *text; text++)
        if (*text == 'A')
            printf("%.3f", a);
        else if (*text == 'B')
            printf("(%.3f)", b);
        else if (*text == '@')
            printf("%s", s);
        else
            printf("%c", *text);
}

void
areas(Random *random)
{
    static const Area rows[] = {
        {"A*@^2 + B*@", "A/3*@^3 + B/2*@^2"},
        {"sin(A*@ + x)", "-cos(A*@ + x)/A"},
        {"exp(-A*@)", "-exp(-A*@)/A"},
        {"@*cos(A*@)", "@*sin(A*@)/A + cos(A*@)/A^2"},
        {"1/(1 + A*@^2)", "atan(sqrt(A)*@)/sqrt(A)"},
        {"abs(@ - B)", "(@ - B)*abs(@ - B)/2"},
        {"max(@, B)", "(if @ > B then @^2/2 + B^2/2 else B*@)"},
        {"luz(@, A)", "max(abs(@) - A, 0)^2/2"},
        {"if @ > B then A else -@", "(if @ > B then A*(@ - B) - B^2/2 else -@^2/2)"},
        {"integral(A*@*v + x, v, 0, @)", "(A/8*@^4 + x/2*@^2)"},
        {"(x + @)^3", "(x + @)^4/4"},
        {"x*@/(A + @^2)", "x/2*log(A + @^2)"},
    };
    enum { ROWS = sizeof rows / sizeof *rows, PICKED = 5 };
    double a[PICKED], b[PICKED], speed = between(random, 0.5, 4), start = between(random, -0.5, 0.5), rate = between(random, 0.5, 3), fixed = between(random, -1, 1), loss = between(random, 0.2, 1);
    double bell = between(random, 0.3, 2), m = between(random, 0.5, 2), k = between(random, 1, 8), c1 = between(random, 0.2, 2), c2 = between(random, 0, 1), q = between(random, -1, 1);
    uint32_t picked[PICKED];
    for (int i = 0; i < PICKED; i++)
        picked[i] = random_below(random, ROWS), a[i] = between(random, 0.3, 2), b[i] = between(random, -0.8, 0.8);
    for (int written = 0; written < 2; written++) {
        printf("  model %s\n    Real x(start = %.3f, fixed = true), y, z(start = 0, fixed = true);\n    %sReal q(start = %.3f, fixed = true);\n    Real u(start = 0, fixed = true)%s;\n",
               written ? "Written" : "Given", start, written ? "" : "coordinate ", q, written ? "" : " = der(q)");
        printf("    Real e%s, c(start = 0)", written ? "(start = 0, fixed = true)" : "");
        for (int i = 0; i < PICKED; i++)
            printf(", a%d, i%d(start = 0, fixed = true)", i, i);
        printf(";\n");
        printf("  equation\n    der(x) = cos(%.3f*time) - %.3f*x;\n    y = (%.3f) + 0.5*sin(%.3f*time);\n    der(z) = q;\n", speed, loss, fixed, rate);
        for (int i = 0; i < PICKED; i++) {
            const Area *row = &rows[picked[i]];
            printf("    der(i%d) = a%d;\n    a%d = ", i, i, i);
            if (!written) {
                printf("integral(");
                print_with(row->integrand, "s", a[i], b[i]);
                printf(", s, y, x);\n");
            } else {
                print_with(row->antiderivative, "x", a[i], b[i]);
                printf(" - (");
                print_with(row->antiderivative, "y", a[i], b[i]);
                printf(");\n");
            }
        }
        // One without a closed form, and one whose limit is what is asked for.
        if (written)
            printf("    der(e) = exp(-%.3f*x^2)*der(x);\n    c + %.3f*c^3/3 = time;\n", bell, bell);
        else
            printf("    e = integral(exp(-%.3f*s^2), s, %.3f, x);\n    integral(1 + %.3f*s^2, s, 0, c) = time;\n", bell, start, bell);
        if (written)
            printf("    der(q) = u;\n    %.3f*der(u) = -%.3f*q - (%.3f + 3*%.3f*z^2)*q;\n", m, k, c1, c2);
        else
            printf("  energy\n    kinetic %.3f*u^2/2;\n    potential %.3f*q^2/2;\n    memory potential %.3f*z^2/2 + %.3f*z^4/4;\n", m, k, c1, c2);
        end_model(written ? "Written" : "Given", 2);
    }
}
