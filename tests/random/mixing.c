// mixing.c: tanks at both ends of a pipe, with stream connectors; and the mixture at every point by the sums of what comes in.
#include "tests/random/kinds.h"

#include <stdio.h>

enum { MOST_TANKS = 5 };

// The sum over the tanks of one end, without one of them, of what they deliver; times their enthalpy.
static void
print_sum(const uint32_t *end, uint32_t n, uint32_t at, uint32_t without, const char *times)
{
    printf("(0");
    for (uint32_t i = 0; i < n; i++)
        if (end[i] == at && i != without) {
            printf(" + max(-m%u, 0)", i);
            if (*times)
                printf("*%s%u", times, i);
        }
    printf(")");
}

void
mixing(Random *random)
{
    uint32_t n = 3 + random_below(random, MOST_TANKS - 2), end[MOST_TANKS];
    double start[MOST_TANKS], content[MOST_TANKS], mean[MOST_TANKS], swing[MOST_TANKS], rate[MOST_TANKS], phase[MOST_TANKS];
    for (uint32_t i = 0; i < n; i++) {
        end[i] = i < 2 ? i : random_below(random, 2);
        start[i] = between(random, -5, 5), content[i] = between(random, 0.3, 2), mean[i] = between(random, -0.5, 0.5), swing[i] = between(random, 0.3, 2);
        rate[i] = between(random, 1, 6), phase[i] = between(random, 0, 6);
    }
    printf("  connector Port\n    Real p;\n    flow Real m_flow;\n    stream Real h_outflow;\n  end Port;\n  model Tank\n    Port port;\n    parameter Real M = 1, h0 = 0;\n"
           "    Real h(start = h0, fixed = true);\n  equation\n    port.h_outflow = h;\n    M*der(h) = port.m_flow*(actualStream(port.h_outflow) - h);\n  end Tank;\n");
    printf("  model Pump \"a tank with a given flow\"\n    extends Tank;\n    parameter Real m0 = 1, m1 = 1, w = 1, phi = 0;\n  equation\n    port.m_flow = m0 + m1*sin(w*time + phi);\n  end Pump;\n"
           "  model Open \"a tank that takes what comes\"\n    extends Tank;\n  equation\n    port.p = 1;\n  end Open;\n");
    printf("  model Pipe\n    Port a, b;\n  equation\n    a.m_flow + b.m_flow = 0;\n    a.m_flow = a.p - b.p;\n    a.h_outflow = inStream(b.h_outflow);\n    b.h_outflow = inStream(a.h_outflow);\n  end Pipe;\n");
    printf("  model Given\n    Pipe pipe;\n    Open t0(M = %.3f, h0 = %.3f);\n", content[0], start[0]);
    for (uint32_t i = 1; i < n; i++)
        printf("    Pump t%u(M = %.3f, h0 = %.3f, m0 = %.3f, m1 = %.3f, w = %.3f, phi = %.3f);\n", i, content[i], start[i], mean[i], swing[i], rate[i], phase[i]);
    for (uint32_t i = 0; i < n; i++)
        printf("    Real h%u = t%u.h, m%u = t%u.port.m_flow;\n", i, i, i, i);
    printf("  equation\n");
    char line[MOST_TANKS][LINE];
    for (uint32_t i = 0; i < n; i++)
        snprintf(line[i], LINE, random_below(random, 2) ? "connect(pipe.%c, t%u.port);" : "connect(pipe.%c, t%u.port) \"same\";", "ab"[end[i]], i);
    shuffled(random, line, n);
    end_model("Given", 3);
    printf("  model Written\n    Real q \"through the pipe, from the end 0\", g[2] \"what each end delivers\";\n");
    for (uint32_t i = 0; i < n; i++)
        printf("    Real h%u(start = %.3f, fixed = true), m%u;\n", i, start[i], i);
    printf("  equation\n    m0 = -(0");
    for (uint32_t i = 1; i < n; i++)
        printf(" + m%u", i);
    printf(");\n    q = 0");
    for (uint32_t i = 0; i < n; i++)
        if (end[i] == 1)
            printf(" + m%u", i);
    printf(";\n");
    for (uint32_t i = 1; i < n; i++)
        printf("    m%u = %.3f + %.3f*sin(%.3f*time + %.3f);\n", i, mean[i], swing[i], rate[i], phase[i]);
    for (uint32_t at = 0; at < 2; at++) {
        printf("    g[%u] = ", at + 1);
        print_sum(end, n, at, n, "h");
        printf("/max(1e-12, ");
        print_sum(end, n, at, n, "");
        printf(");\n");
    }
    for (uint32_t i = 0; i < n; i++) {
        const char *from = end[i] ? "max(q, 0)" : "max(-q, 0)";
        printf("    %.3f*der(h%u) = max(m%u, 0)*((", content[i], i, i);
        print_sum(end, n, end[i], i, "h");
        printf(" + %s*g[%u])/max(1e-12, ", from, 2 - end[i]);
        print_sum(end, n, end[i], i, "");
        printf(" + %s) - h%u);\n", from, i);
    }
    end_model("Written", 3);
}
