// planes.c: a body that slides on a moving plane, or in space against what moves with it, with friction in every direction; and the same with the
// friction of a velocity so small that it does not matter.
#include "tests/random/kinds.h"

#include <stdio.h>

void
planes(Random *random)
{
    uint32_t n = 2 + random_below(random, 2);
    double mass = between(random, 0.5, 2), friction = between(random, 0.3, 1), load = between(random, 1, 4), change = between(random, 0, 0.8), speed = between(random, 1, 6);
    double spring = between(random, 0, 4), belt[3], start[3], push[3], rate[3], phase[3];
    for (uint32_t i = 0; i < n; i++) {
        belt[i] = random_below(random, 2) ? between(random, -0.5, 0.5) : 0;
        start[i] = between(random, -1, 1), push[i] = between(random, 0, 4), rate[i] = between(random, 1, 7), phase[i] = between(random, 0, 3);
    }
    for (int written = 0; written < 2; written++) {
        printf("  model %s\n    Real x[%u](start = fill(0, %u), each fixed = true), v[%u](start = ", written ? "Written" : "Given", n, n, n);
        print_vector(start, n);
        printf(", each fixed = true), u[%u] = v - ", n);
        print_vector(belt, n);
        printf(", %s[%u];\n    Real limit = %.3f*%.3f*(1 + %.3f*sin(%.3f*time));\n  equation\n    der(x) = v;\n    %.3f*der(v) = %s + {", written ? "r" : "f", n, friction, load, change, speed, mass, written ? "r" : "f");
        for (uint32_t i = 0; i < n; i++)
            printf("%s%.3f*sin(%.3f*time + %.3f)", i ? ", " : "", push[i], rate[i], phase[i]);
        printf("} - %.3f*x;\n", spring);
        // Rest is a motion of at most 1e-8 in one case. The direction of a force is not compared: it is lost just before the body rests.
        printf(written ? "    r = -limit*u/sqrt(u*u + 1e-16);\n" : "    f = -coulomb(u, limit);\n");
        end_model(written ? "Written" : "Given", 3);
    }
}
