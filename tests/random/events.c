// events.c: what happens at instants: when, impacts, friction, valves. `Written` says it in algorithms or with reinit.
#include "tests/random/kinds.h"

#include <stdio.h>
#include <string.h>

// --- whens: clocks at two rates, elsewhen, several assignments, edges; as equations in any order and as one algorithm

void
whens(Random *random)
{
    static const char *const rate[] = {"0.1", "0.15", "0.2", "0.25", "0.05", "0.3"}, *const first[] = {"0", "0.05", "0.1", "0.02"};
    const char *t1 = rate[random_below(random, 6)], *t2 = rate[random_below(random, 6)], *o1 = first[random_below(random, 4)], *o2 = first[random_below(random, 4)];
    uint32_t modulus = 3 + random_below(random, 5), many = 2 + random_below(random, 5);
    double a = between(random, -0.9, 0.9), b = between(random, -1, 1), late = between(random, 0.3, 1.7), limit = between(random, 0.2, 0.8), speed = between(random, 1, 7);
    const char *head = "    Integer n(start = 0, fixed = true), k(start = 0, fixed = true), up(start = 0, fixed = true), ch(start = 0, fixed = true);\n"
                       "    Integer hit(start = 0, fixed = true), high(start = 0, fixed = true), low(start = 0, fixed = true);\n"
                       "    discrete Real d(start = 0, fixed = true), e(start = 0, fixed = true), tl(start = 0, fixed = true), peak(start = 0, fixed = true);\n"
                       "    Boolean flip(start = false, fixed = true), late(start = false, fixed = true), both(start = false, fixed = true);\n"
                       "    Real x(start = 0, fixed = true), s(start = 0, fixed = true);\n";
    char line[10][LINE];
    snprintf(line[0], LINE, "when sample(%s, %s) then\n      n = pre(n) + 1;\n      d = %.3f*pre(d) + (%.3f)*n;\n    end when;", o1, t1, a, b);
    snprintf(line[1], LINE,
             "when sample(%s, %s) then\n      k = mod(pre(k) + 2*n, %u);\n      e = d - pre(e) + x;\n    elsewhen x > %.3f then\n      e = pre(e) + 1;\n      k = pre(k) + 1;\n    end when;",
             o2, t2, modulus, limit);
    snprintf(line[2], LINE, "flip = k > 1;");
    snprintf(line[3], LINE, "when edge(flip) then\n      up = pre(up) + 1;\n    end when;");
    snprintf(line[4], LINE, "when change(flip) then\n      ch = pre(ch) + 1;\n      tl = time;\n    end when;");
    snprintf(line[5], LINE, "late = time >= %.3f;", late);
    snprintf(line[6], LINE, "both = late and flip;");
    snprintf(line[7], LINE, "when {both, not late and n > %u} then\n      hit = pre(hit) + 1;\n    end when;", many);
    snprintf(line[8], LINE,
             "when x > %.3f then\n      high = pre(high) + 1;\n      low = pre(low);\n      peak = time;\n    elsewhen x < -%.3f then\n      low = pre(low) + 1;\n      high = pre(high);\n"
             "      peak = -time;\n    elsewhen time > %.3f then\n      low = 0;\n      high = 0;\n      peak = pre(peak) - 1;\n    end when;",
             limit, limit, late);
    snprintf(line[9], LINE, "der(s) = if both then 1 elseif flip then 0.5 else -0.25;");
    char ordered[10][LINE];
    memcpy(ordered, line, sizeof ordered);
    printf("  model Given\n%s  equation\n    der(x) = %.3f*cos(%.3f*time);\n", head, speed, speed);
    shuffled(random, line, 10);
    end_model("Given", 3.01);
    printf("  model Written\n%s  equation\n    der(x) = %.3f*cos(%.3f*time);\n    %s\n  algorithm\n", head, speed, speed, ordered[9]);
    for (int i = 0; i < 9; i++) {
        printf("    ");
        // An equation is an assignment where its left side is assigned.
        for (const char *at = ordered[i]; *at; at++)
            printf(*at == '=' && at[-1] == ' ' && at[1] == ' ' ? ":=" : "%c", *at);
        printf("\n");
    }
    end_model("Written", 3.01);
}

// --- impacts: two balls above a moving table, with unilateral constraints; and with the velocities behind each impact. The balls are so elastic that the run
// ends before rebounds accumulate: the latter says nothing of what is beyond, and shortly before it each rebound multiplies all errors.

void
impacts(Random *random)
{
    double e[2] = {between(random, 0.85, 0.98), between(random, 0.7, 0.95)}, m[2] = {between(random, 1, 3), between(random, 0.3, 1)};
    double height = between(random, 0.2, 0.6), above = height + between(random, 0.3, 0.9), v[2] = {between(random, -2, 2), between(random, -3, 1)};
    double amplitude = between(random, 0, 0.1), speed = between(random, 1, 6), spring = between(random, 0, 5);
    const char *head = "    Real y(start = %.3f, fixed = true), z(start = %.3f, fixed = true), v(start = %.3f, fixed = true), w(start = %.3f, fixed = true);\n";
    printf("  model Given\n");
    printf(head, height, above, v[0], v[1]);
    printf("    Real p = unilateral(y - %.3f*sin(%.3f*time), %.3f), q = unilateral(z - y, %.3f);\n  equation\n", amplitude, speed, e[0], e[1]);
    printf("    der(y) = v;\n    der(z) = w;\n    %.3f*der(v) = p - q - %.3f*9.81 - %.3f*y;\n    %.3f*der(w) = q - %.3f*9.81;\n", m[0], m[0], spring, m[1], m[1]);
    end_model("Given", 0.6);
    printf("  model Written\n");
    printf(head, height, above, v[0], v[1]);
    printf("    Real table = %.3f*sin(%.3f*time), t = %.9f*cos(%.3f*time), common = (%.3f*v + %.3f*w)/(%.3f);\n  equation\n", amplitude, speed, amplitude * speed, speed,
           m[0], m[1], m[0] + m[1]);
    printf("    der(y) = v;\n    der(z) = w;\n    der(v) = -9.81 - %.3f*y/%.3f;\n    der(w) = -9.81;\n", spring, m[0]);
    printf("    when y < table then\n      reinit(v, t - %.3f*(pre(v) - t));\n    elsewhen z < y then\n", e[0]);
    printf("      reinit(v, pre(common) + %.3f*%.3f/%.3f*(pre(w) - pre(v)));\n      reinit(w, pre(common) - %.3f*%.3f/%.3f*(pre(w) - pre(v)));\n    end when;\n", e[1], m[1],
           m[0] + m[1], e[1], m[0], m[0] + m[1]);
    end_model("Written", 0.6);
}

// --- friction: a block on a spring that is pushed, with Sgn; and its three modes one by one

void
friction(Random *random)
{
    double mass = between(random, 0.5, 2), band = between(random, 0.5, 2), push = between(random, 1, 6), speed = between(random, 1, 8), spring = between(random, 0, 5);
    double rest = between(random, -0.4, 0.4) * band, damping = between(random, 0, 0.5), belt = random_below(random, 2) ? between(random, -0.5, 0.5) : 0;
    const char *head = "    Real x(start = 0, fixed = true), v(start = %.3f, fixed = true), force = %.3f*sin(%.3f*time) + (%.3f) - %.3f*x - %.3f*v;\n";
    printf("  model Given\n");
    printf(head, belt, push, speed, rest + damping * belt, spring, damping);
    printf("  equation\n    der(x) = v;\n");
    if (random_below(random, 2))
        printf("    %.3f*der(v) = force - %.3f*Sgn(v - (%.3f));\n", mass, band, belt);
    else // two frictions side by side
        printf("    %.3f*der(v) = force - %.6f*Sgn(v - (%.3f)) + %.6f*Sgn((%.3f) - v);\n", mass, band / 4, belt, band * 3 / 4, belt);
    end_model("Given", 4);
    printf("  model Written\n    Integer mode(start = 0, fixed = true);\n");
    printf(head, belt, push, speed, rest + damping * belt, spring, damping);
    printf("  equation\n    der(x) = v;\n    der(v) = if mode == 0 then 0 else (force - %.3f*mode)/%.3f;\n  algorithm\n", band, mass);
    printf("    when pre(mode) == 0 and force > %.3f then\n      mode := 1;\n    elsewhen pre(mode) == 0 and force < -%.3f then\n      mode := -1;\n", band, band);
    // The product is exactly 0 from the event on as long as the block rests. Where slipping begins the force is that of rest: the velocity leaves that
    // of a moving belt by less than its rounding at first.
    if (belt == 0 && random_below(random, 2))
        printf("    elsewhen pre(mode)*v < 0 then\n");
    else
        printf("    elsewhen pre(mode) == 1 and v < %.9f or pre(mode) == -1 and v > %.9f then\n", belt - 1e-9, belt + 1e-9);
    printf("      mode := if force > %.3f then 1 elseif force < -%.3f then -1 else 0;\n      reinit(v, %.3f);\n    end when;\n", band, band, belt);
    end_model("Written", 4);
}

// --- valves: a rectifier with a capacitor and a freewheel with unilateral; and as a maximum and as two modes

void
valves(Random *random)
{
    double voltage = between(random, 2, 20), speed = between(random, 2, 12), resistance = between(random, 0.5, 5), load = between(random, 5, 50), capacity = between(random, 0.02, 0.2);
    double J1 = between(random, 0.5, 2), J2 = between(random, 0.5, 2), d1 = between(random, 0.05, 0.5), d2 = between(random, 0.05, 0.5), torque = between(random, 1, 5);
    double w2 = between(random, 0.05, 1);
    const char *head = "    Real u(start = 0, fixed = true), i, w1(start = 0, fixed = true), w2(start = %.3f, fixed = true), tau;\n  equation\n"
                       "    %.3f*der(u) = i - u/%.3f;\n    %.3f*der(w1) = %.3f*sin(%.3f*time) - %.3f*w1 - tau;\n    %.3f*der(w2) = tau - %.3f*w2;\n";
    for (int written = 0; written < 2; written++) {
        printf("  model %s\n", written ? "Written" : "Given");
        printf(written ? "    Boolean locked(start = false, fixed = true);\n" : "    Real drop;\n");
        printf(head, w2, capacity, load, J1, torque, speed / 3, d1, J2, d2);
        if (!written) {
            printf("    %.3f*sin(%.3f*time) = %.3f*i + drop + u;\n    i = unilateral(-drop, 0);\n    tau = unilateral(w2 - w1, 0);\n", voltage, speed, resistance);
        } else {
            printf("    i = max(0, %.3f*sin(%.3f*time) - u)/%.3f;\n", voltage, speed, resistance);
            printf("    tau = if locked then (%.3f*(%.3f*sin(%.3f*time) - %.3f*w1) + %.3f*%.3f*w2)/%.3f else 0;\n  algorithm\n", J2, torque, speed / 3, d1, J1, d2, J1 + J2);
            printf("    when not pre(locked) and w2 - w1 < -1e-9 then\n      locked := true;\n      reinit(w2, w1);\n    elsewhen pre(locked) and tau < 0 then\n      locked := false;\n    end when;\n");
        }
        end_model(written ? "Written" : "Given", 4);
    }
}
