// feet.c: a body on two to four feet with dry friction, most of them beside a wall that rubs, too, pushed, turned and lifted: each foot with a friction of
// its own, all in any order; and the same with one friction of all feet.
#include "tests/random/kinds.h"

#include <stdbool.h>
#include <stdio.h>

enum { FEET = 4 };

typedef struct Standing {
    uint32_t feet;
    bool wall;
    double place[FEET], mass, friction, rough, height, swing, rate, push, turn, lift;
} Standing;

static Standing
make(Random *random)
{
    Standing s = {.feet = 2 + random_below(random, FEET - 1), .wall = random_below(random, 5) < 3};
    for (uint32_t i = 0; i < s.feet; i++)
        s.place[i] = -1 + 2*(i + between(random, 0.1, 0.9))/s.feet;
    s.mass = between(random, 0.5, 2), s.friction = between(random, 0.1, 0.7), s.rough = between(random, 0.1, 0.6), s.height = between(random, -0.2, 0.4);
    s.swing = between(random, 0.5, 6), s.rate = between(random, 2, 6), s.push = between(random, 0, 3), s.turn = between(random, -2, 2), s.lift = between(random, 0, 4);
    return s;
}

static uint32_t
print_reactions(const Standing *s, char line[][LINE])
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < s->feet; i++)
        snprintf(line[n++], LINE, "n%u = unilateral(y - 0.1 + (%.3f)*phi, 0);", i, s->place[i]);
    if (s->wall) {
        snprintf(line[n++], LINE, "nw = unilateral(x, 0);");
        snprintf(line[n++], LINE, "tw = %.3f*nw*Sgn(v);", s->rough);
    } else {
        snprintf(line[n++], LINE, "nw = 0;");
        snprintf(line[n++], LINE, "tw = 0;");
    }
    return n;
}

static uint32_t
print_motion(const Standing *s, char line[][LINE], uint32_t n)
{
    char up[LINE] = "", turn[LINE] = "";
    for (uint32_t i = 0, u = 0, t = 0; i < s->feet; i++) {
        u += (uint32_t)snprintf(up + u, LINE - u, " + n%u", i);
        t += (uint32_t)snprintf(turn + t, LINE - t, " + (%.3f)*n%u", s->place[i], i);
    }
    snprintf(line[n++], LINE, "der(x) = u;");
    snprintf(line[n++], LINE, "der(y) = v;");
    snprintf(line[n++], LINE, "der(phi) = w;");
    snprintf(line[n++], LINE, "%.3f*der(u) = %.3f*sin(%.3f*time) - %.3f + nw - along;", s->mass, s->swing, s->rate, s->push);
    snprintf(line[n++], LINE, "%.3f*der(v) = %.3f*sin(3*time) - %.3f*9.81 - tw%.300s;", s->mass, s->lift, s->mass, up);
    snprintf(line[n++], LINE, "0.3*der(w) = (%.3f)*sin(2*time) - 0.1*along - (%.3f)*nw%.300s;", s->turn, s->height, turn);
    return n;
}

void
feet(Random *random)
{
    Standing s = make(random);
    for (int written = 0; written < 2; written++) {
        char line[3*FEET + 10][LINE], sum[LINE] = "";
        uint32_t n = print_motion(&s, line, print_reactions(&s, line));
        printf("  model %s\n    Real x(start = %d, fixed = true), y(start = 0.1, fixed = true), phi(start = 0, fixed = true);\n"
               "    Real u(start = 0, fixed = true), v(start = 0, fixed = true), w(start = 0, fixed = true), nw, tw, along", written ? "Written" : "Given", !s.wall);
        for (uint32_t i = 0, at = 0; i < s.feet; i++) {
            at += (uint32_t)snprintf(sum + at, LINE - at, written ? "%sn%u" : "%st%u", i ? " + " : "", i);
            printf(written ? ", n%u" : ", n%u, t%u", i, i);
            if (!written)
                snprintf(line[n++], LINE, "t%u = %.3f*n%u*Sgn(u + 0.1*w);", i, s.friction, i);
        }
        if (written)
            snprintf(line[n++], LINE, "along = %.3f*(%.300s)*Sgn(u + 0.1*w);", s.friction, sum);
        else
            snprintf(line[n++], LINE, "along = %.300s;", sum);
        printf(";\n  equation\n");
        shuffled(random, line, n);
        end_model(written ? "Written" : "Given", 0.8);
    }
}
