// exponentials.c: quadrature for the kernel of fractional derivatives.
//
// Purpose: t^-a/Gamma(1 - a) as a short sum of exponentials with a proven error, for times over many decades.
// Method: t^-a = 1/Gamma(a) * integral of exp(a*x - t*exp(x)) over all x. The trapezoidal rule with step H is wrong,
//         relative to t^-a and for every t > 0, by at most 2 * sum over n >= 1 of |Gamma(a + 2*pi*i*n/H)|/Gamma(a) (Poisson's
//         sum formula; McLean, Exponential sum approximations for t^-beta, 2018; Beylkin and Monzon, Appl. Comput. Harmon.
//         Anal. 28 (2010) 131). Its nodes with rates below 1/longest are many; as exp(-s*t) hardly bends there, Gauss's
//         rule for their discrete measure on [0, s0] with M nodes stands for them, wrong by at most
//         mass * 4 * (s0*t/4)^(2M)/(2M)! (Stieltjes' procedure: Gautschi, Orthogonal Polynomials, 2004, 2.2). Nodes with
//         rates above 1/shortest become an impulse (tail) and, for stiff methods, one node that has their moments. All sums over infinitely many nodes are geometric.
// Contract: exponentials.h. Complexity: O(n + 100 M).
#include "runtime/memory/exponentials.h"

#include <complex.h>
#include <math.h>
#include <stdlib.h>

enum { SLOW_MOST = 8, SLOW_SOURCES = 600 };

static const double PI = 3.14159265358979323846;

// --- the step

// log |Gamma(x + iy)|, by the recurrence to where Stirling's series is exact to rounding.
static double
log_gamma(double x, double y)
{
    double complex z = x + y * I;
    double sum = 0;
    for (; creal(z) < 15; z += 1)
        sum -= log(cabs(z));
    double complex inverse = 1 / z, square = inverse * inverse;
    double complex series = inverse * (1.0 / 12 - square * (1.0 / 360 - square * (1.0 / 1260 - square / 1680)));
    return sum + creal((z - 0.5) * clog(z) - z + 0.5 * log(2 * PI) + series);
}

// Relative error of the trapezoidal rule, the same bound for all times.
static double
step_error(double order, double step)
{
    double sum = 0, gamma = log_gamma(order, 0);
    for (int n = 1; n < 50; n++) {
        double term = exp(log_gamma(order, 2 * PI * n / step) - gamma);
        sum += 2 * term;
        if (term < 1e-18 * sum)
            break;
    }
    return sum;
}

static double
choose_step(double order, double error)
{
    double low = 0.05, high = 4;
    for (int k = 0; k < 60; k++) {
        double middle = (low + high) / 2;
        *(step_error(order, middle) <= error ? &low : &high) = middle;
    }
    return low;
}

// --- the slow end

typedef struct Measure { // nodes x in [0, 1], weights w
    uint32_t n;
    double x[SLOW_SOURCES], w[SLOW_SOURCES];
} Measure;

// What is slower than all nodes that count is constant for as long as the run lasts: one node at rate 0.
static void
slow_measure(double order, double step, Measure *measure)
{
    uint32_t n = 0;
    for (; n < SLOW_SOURCES - 1 && n * step < 40; n++) {
        measure->x[n] = exp(-(double)n * step);
        measure->w[n] = exp(-order * n * step);
    }
    measure->x[n] = 0;
    measure->w[n] = exp(-order * n * step) / -expm1(-order * step);
    measure->n = n + 1;
}

// Recurrence coefficients of the monic orthogonal polynomials p(k+1) = (x - a[k]) p(k) - b[k] p(k-1); b[0] is the mass.
static void
stieltjes(const Measure *measure, uint32_t m, double *a, double *b)
{
    double now[SLOW_SOURCES], before[SLOW_SOURCES] = {0}, norm_before = 1;
    for (uint32_t i = 0; i < measure->n; i++)
        now[i] = 1;
    for (uint32_t k = 0; k < m; k++) {
        double norm = 0, moment = 0;
        for (uint32_t i = 0; i < measure->n; i++) {
            double square = measure->w[i] * now[i] * now[i];
            norm += square;
            moment += measure->x[i] * square;
        }
        a[k] = moment / norm;
        b[k] = k ? norm / norm_before : norm;
        norm_before = norm;
        for (uint32_t i = 0; i < measure->n; i++) {
            double next = (measure->x[i] - a[k]) * now[i] - (k ? b[k] : 0) * before[i];
            before[i] = now[i];
            now[i] = next;
        }
    }
}

// p(m) at x; *kernel = 1/sum of p(k)^2/norm(k), the weight of a node at x.
static double
polynomial(uint32_t m, const double *a, const double *b, double x, double *kernel)
{
    double now = 1, before = 0, norm = 1, sum = 0;
    for (uint32_t k = 0; k < m; k++) {
        norm *= b[k];
        sum += now * now / norm;
        double next = (x - a[k]) * now - (k ? b[k] : 0) * before;
        before = now;
        now = next;
    }
    *kernel = 1 / sum;
    return now;
}

static double
root_between(uint32_t m, const double *a, const double *b, double low, double high)
{
    double unused, sign = polynomial(m, a, b, low, &unused);
    for (int k = 0; k < 80; k++) {
        double middle = (low + high) / 2, value = polynomial(m, a, b, middle, &unused);
        *((value < 0) == (sign < 0) ? &low : &high) = middle;
    }
    return (low + high) / 2;
}

// Gauss's rule with m nodes: roots of p(k) separate those of p(k + 1).
static void
gauss_rule(const Measure *measure, uint32_t m, double *node, double *weight)
{
    double a[SLOW_MOST], b[SLOW_MOST], root[SLOW_MOST + 2] = {0};
    stieltjes(measure, m, a, b);
    for (uint32_t k = 1; k <= m; k++) {
        double found[SLOW_MOST];
        root[k] = 1; // right of the k - 1 roots, which stand from place 1 on
        for (uint32_t i = 0; i < k; i++)
            found[i] = root_between(k, a, b, i ? root[i] : 0, root[i + 1]);
        for (uint32_t i = 0; i < k; i++)
            root[i + 1] = found[i];
    }
    for (uint32_t i = 0; i < m; i++) {
        node[i] = root[i + 1];
        polynomial(m, a, b, node[i], &weight[i]);
    }
}

// Relative to the kernel at the longest time, of m nodes on [0, s0] with s0*longest = reach.
static double
slow_error(double order, double step, double reach, uint32_t m)
{
    double mass = step * pow(reach, order) / -expm1(-order * step) / tgamma(order);
    return mass * 4 * exp(2 * m * log(reach / 4) - lgamma(2.0 * m + 1));
}

// --- the fast end

// Nodes from exp(next) on are infinitely many. To what is slow beside them they are their moments, sums of c/s^(j + 1): Gauss and Radau's rule
// for the measure c/s of the variable 1/s, with one node at 0, which is the impulse `tail`, and another one, has the first three. The impulse
// is the smaller for it, by which equations may have to be divided: explicit methods are better off with the impulse alone.
static void
fast_rule(double factor, double order, double step, double next, bool stiff, Exponentials *out)
{
    double moment[4] = {0}; // without the factor, which is 0 for order 1, where the first one is infinite
    for (int j = order == 1; j < 4; j++)
        moment[j] = exp((order - 1 - j) * next) / -expm1((order - 1 - j) * step);
    out->tail = order == 1 ? 1 : factor * moment[0];
    out->blur = factor * moment[1];
    if (!stiff)
        return;
    double rate = moment[1] / moment[2], weight = factor * moment[1] * rate * rate;
    out->rate[out->n - 1] = rate;
    out->weight[out->n - 1] = weight;
    out->tail -= weight / rate;
    out->blur = factor * moment[3] - weight / (rate * rate * rate * rate);
}

// --- all

// All but the bound of the error, by the quadrature that `out` says.
static bool
fill(double order, Exponentials *out)
{
    out->rate = calloc(2 * (size_t)out->n, sizeof *out->rate);
    if (!out->rate)
        return false;
    out->weight = out->rate + out->n;
    uint32_t slow = out->slow, fast = out->n - slow - out->stiff;
    Measure measure;
    slow_measure(order, out->step, &measure);
    gauss_rule(&measure, slow, out->rate, out->weight);
    // 1/(Gamma(order)*Gamma(1 - order)) of the integral.
    double factor = order == 1 ? 0 : out->step * sin(PI * order) / PI, base = exp(out->first * out->step);
    for (uint32_t i = 0; i < slow; i++) {
        out->rate[i] *= base;
        out->weight[i] *= factor * pow(base, order);
    }
    for (uint32_t i = 0; i < fast; i++) {
        double x = (out->first + 1 + i) * out->step;
        out->rate[slow + i] = exp(x);
        out->weight[slow + i] = factor * exp(order * x);
    }
    fast_rule(factor, order, out->step, (out->first + 1 + fast) * out->step, out->stiff, out);
    return true;
}

bool
exponentials_make(double order, double error, double shortest, double longest, bool stiff, bool turned, Exponentials *out)
{
    if (order == 1 && !turned) { // nothing but the present
        *out = (Exponentials){.tail = 1};
        return true;
    }
    double step = choose_step(order, error / 2), first = floor(-log(longest) / step), last = ceil(-log(shortest) / step);
    double reach = exp(first * step) * longest;
    uint32_t slow = 1, fast = last > first + stiff ? (uint32_t)(last - first - stiff) : 0;
    while (slow < SLOW_MOST && slow_error(order, step, reach, slow) > error / 2)
        slow++;
    *out = (Exponentials){.n = slow + fast + stiff, .step = step, .first = first, .slow = slow, .stiff = stiff};
    out->error = step_error(order, step) + slow_error(order, step, reach, slow);
    return fill(order, out);
}

// Central differences of a construction that is analytic in the order, beyond 1 as well, extrapolated (Richardson): the error is that of their fourth
// power.
bool
exponentials_slope(const Exponentials *sum, double order, Exponentials *slope)
{
    double away = 0.25 * fmin(2e-3, order == 1 ? 1 : fmin(order, 1 - order));
    Exponentials near[4];
    bool good = true;
    *slope = *sum;
    slope->rate = calloc(2 * (size_t)sum->n, sizeof *slope->rate);
    slope->weight = slope->rate ? slope->rate + sum->n : NULL;
    for (int k = 0; k < 4; k++) {
        near[k] = *sum;
        near[k].rate = NULL;
        good = good && fill(order + (k < 2 ? k - 2 : k - 1) * away, &near[k]);
    }
    good = good && slope->rate;
    for (uint32_t i = 0; good && i < 2 * sum->n; i++) // rates, then weights
        slope->rate[i] = (8 * (near[2].rate[i] - near[1].rate[i]) - (near[3].rate[i] - near[0].rate[i])) / (12 * away);
    slope->tail = (8 * (near[2].tail - near[1].tail) - (near[3].tail - near[0].tail)) / (12 * away);
    for (int k = 0; k < 4; k++)
        free(near[k].rate);
    return good;
}

void
exponentials_free(Exponentials *sum)
{
    free(sum->rate);
    *sum = (Exponentials){0};
}
