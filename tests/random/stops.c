// stops.c: a mass between two rigid stops, with friction, of the library; and its five modes one by one.
#include "tests/random/kinds.h"

#include <stdio.h>

void
stops(Random *random)
{
    double mass = between(random, 0.5, 2), band = between(random, 0.2, 2), push = between(random, 2, 8), speed = between(random, 1, 8), spring = between(random, 0, 5);
    double damping = between(random, 0, 0.5), low = between(random, -0.6, -0.1), high = between(random, 0.1, 0.6), bias = between(random, -1.5, 1.5);
    double inner = between(random, 0.05, 1), start = between(random, -1, 1);
    printf("  model Given\n    Translational.MassWithStopAndFriction b(m = %.3f, smin = %.3f, smax = %.3f, F = %.3f, c = %.3f,\n"
           "      mass(s(start = 0, fixed = true), v(start = %.3f, fixed = true)));\n", mass, low, high, band, damping, start);
    printf("    Translational.Spring spring(k = %.3f);\n    Translational.Fixed wall;\n    Translational.PrescribedForce push(f = %.3f*sin(%.3f*time) + (%.3f));\n", spring, push,
           speed, bias);
    // What hangs on the mass has a motion of its own, which the stops do not see but by its spring.
    printf("    Translational.Spring link(k = 3);\n    Translational.Mass other(m = %.3f, s(start = 0, fixed = true), v(start = 0, fixed = true));\n", inner);
    printf("    Real x = b.mass.s, v = b.mass.v, y = other.s;\n  equation\n    connect(wall.flange, spring.flange_a);\n    connect(spring.flange_b, b.flange);\n"
           "    connect(push.flange, b.flange);\n    connect(b.flange, link.flange_a);\n    connect(link.flange_b, other.flange);\n");
    end_model("Given", 4);
    printf("  model Written\n    Integer mode(start = %d, fixed = true);\n    Real x(start = 0, fixed = true), v(start = %.3f, fixed = true), y(start = 0, fixed = true), w(start = 0, fixed = true);\n",
           start > 0 ? 1 : start < 0 ? -1 : 0, start);
    printf("    Real force = %.3f*sin(%.3f*time) + (%.3f) - %.3f*x - %.3f*v + 3*(y - x);\n  equation\n    der(x) = v;\n    der(y) = w;\n    der(w) = 3*(x - y)/%.3f;\n", push, speed, bias,
           spring, damping, inner);
    printf("    der(v) = if mode == 1 or mode == -1 then (force - %.3f*mode)/%.3f else 0;\n  algorithm\n", band, mass);
    // At a stop what pulls away has friction against it, too.
    printf("    when (pre(mode) == 0 or pre(mode) == -2) and force > %.3f then\n      mode := 1;\n    elsewhen (pre(mode) == 0 or pre(mode) == 2) and force < -%.3f then\n      mode := -1;\n", band, band);
    printf("    elsewhen pre(mode) == 1 and x > %.3f then\n      mode := 2;\n      reinit(v, 0);\n      reinit(x, %.3f);\n", high, high);
    printf("    elsewhen pre(mode) == -1 and x < %.3f then\n      mode := -2;\n      reinit(v, 0);\n      reinit(x, %.3f);\n", low, low);
    printf("    elsewhen pre(mode) == 1 and v < -1e-9 or pre(mode) == -1 and v > 1e-9 then\n"
           "      mode := if force > %.3f then 1 elseif force < -%.3f then -1 else 0;\n      reinit(v, 0);\n    end when;\n", band, band);
    end_model("Written", 4);
}
