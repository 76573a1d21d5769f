// sine_pairs.c: generated code asks sincos() for a sine and a cosine of one angle, the interpreter sin() and cos(): they are the same to the last bit.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// Through pointers, so that the C compiler makes no pair of its own of the two calls.
static double (*volatile sine)(double) = sin, (*volatile cosine)(double) = cos;
static void (*volatile both)(double, double *, double *) = sincos;

static int
differs(double x)
{
    double s[2] = {sine(x)}, c[2] = {cosine(x)};
    both(x, &s[1], &c[1]);
    return memcmp(&s[0], &s[1], sizeof *s) || memcmp(&c[0], &c[1], sizeof *c);
}

int
main(void)
{
    enum { SAMPLES = 1000 * 1000 };
    static const double special[] = {0.0, -0.0, INFINITY, -INFINITY, NAN, 5e-324, 1e300, 0.126, 0.855469, 2.426265, 105414350.0};
    // Widths of the ranges that the library treats in different ways; 0: any exponent.
    static const double range[] = {1e-7, 0.25, 2, 5, 100, 1e6, 2.2e8, 0};
    uint64_t bits = 88172645463325252u;
    int bad = 0;
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        bad += differs(special[i]) || differs(-special[i]);
    for (int i = 0; i < SAMPLES; i++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        double part = (double)(bits >> 11) / 9007199254740992.0 - 0.5, width = range[i % 8];
        bad += differs(width > 0 ? part * width : ldexp(part, (int)(bits % 2000) - 1000));
    }
    printf("%s sincos() is sin() and cos(): %d differ\n", bad ? "FAIL" : "ok", bad);
    return bad != 0;
}
