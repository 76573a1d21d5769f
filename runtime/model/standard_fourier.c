// standard_fourier.c: amplitudes and phases of a sampled signal.
//
// Purpose: what Modelica.Math.FastFourierTransform calls. Method: Stockham's autosort form of the fast Fourier transform, decimation in
// frequency, one pass for each prime factor p of the length: with n = p*m values left and s done transforms between them,
//
//     y[j + s*(p*q + r)] = w^(q*r) * sum over t of x[j + s*(q + m*t)] * e^(-2 pi i t r/p),     w = e^(-2 pi i/n)
//
// Contract: standard.h. Amplitudes are |X|/(n/2 + 1), as the library has them: a little less than those of cosines, 2|X|/n.
// Complexity: n times the sum of the prime factors.
#include <complex.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/standard_inner.h"

static const double TURN = 6.283185307179586476925286766559;

// e^(-2 pi i k/n)
static double complex
unit_root(size_t k, size_t n)
{
    double angle = TURN * (double)(k % n) / (double)n;
    return cos(angle) - I * sin(angle);
}

static size_t
prime_factor(size_t n)
{
    size_t p = 2;
    while (p * p <= n && n % p)
        p += p == 2 ? 1 : 2;
    return n % p ? n : p;
}

static void
pass(const double complex *x, double complex *y, size_t n, size_t p, size_t s)
{
    size_t m = n / p;
    for (size_t q = 0; q < m; q++)
        for (size_t r = 0; r < p; r++) {
            double complex twiddle = unit_root(q * r, n);
            for (size_t j = 0; j < s; j++)
                y[j + s * (p * q + r)] = 0;
            for (size_t t = 0; t < p; t++) {
                double complex factor = twiddle * unit_root(t * r, p);
                for (size_t j = 0; j < s; j++)
                    y[j + s * (p * q + r)] += factor * x[j + s * (q + m * t)];
            }
        }
}

// The transform of the n values, in one of both arrays.
static double complex *
transform(double complex *x, double complex *y, size_t n)
{
    for (size_t s = 1; n > 1;) {
        size_t p = prime_factor(n);
        pass(x, y, n, p, s);
        double complex *done = y;
        y = x;
        x = done;
        n /= p;
        s *= p;
    }
    return x;
}

// info = 0; 1: the number of samples is odd; 3: there is no memory.
void
mdl_standard_fourier(const double *in, double *out, double *state)
{
    Argument signal = standard_argument(in, 0);
    double *amplitudes = standard_result(in, out + 1, 4), *phases = standard_result(in, out + 1, 5);
    size_t n = signal.n;
    (void)state;
    if (n % 2 || !n || !amplitudes || !phases) {
        out[0] = 1;
        return;
    }
    double complex *work = malloc(2 * n * sizeof *work);
    out[0] = work ? 0 : 3;
    for (size_t k = 0; k < n && work; k++)
        work[k] = signal.at[k];
    const double complex *made = work ? transform(work, work + n, n) : NULL;
    for (size_t k = 0; k <= n / 2 && made; k++) {
        amplitudes[k] = cabs(made[k]) / (double)(n / 2 + 1);
        phases[k] = carg(made[k]);
    }
    free(work);
}
