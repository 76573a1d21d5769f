// radau_rule.c: the coefficients of Radau IIA collocation with 3, 5 or 7 stages (orders 5, 9, 13).
//
// Purpose: tables for radau.c, computed rather than typed.
// Method: nodes are the roots of P_s - P_(s-1), shifted to (0, 1], found between changes of sign. a_ij are integrals of Lagrange
//         polynomials, by a rule that is exact for them. The eigenvalues of A^-1 are the roots of the denominator of the stability
//         function, a Pade approximation of exp(z) with the degrees s - 1 and s; their eigenvectors make T (Hairer and Wanner, Solving
//         Ordinary Differential Equations II, 1996, IV.3, IV.5 and IV.8). All of it in extended precision.
// Contract: radau_rule.h. Complexity: constant, some ten thousand operations.
#include "runtime/linear/radau_rule.h"

#include <complex.h>
#include <float.h>
#include <math.h>
#include <string.h>

enum { MOST = RADAU_STAGES, GRID = 400, BISECTIONS = 80, NEWTON = 60, LOOKS = 200 };

typedef long double complex Complex;

// P_n - P_(n-1) at 2x - 1.
static long double
node_function(uint32_t n, long double x)
{
    long double t = 2 * x - 1, before = 1, now = t;
    for (uint32_t k = 1; k < n; k++) {
        long double next = ((2 * k + 1) * t * now - k * before) / (k + 1);
        before = now;
        now = next;
    }
    return now - before;
}

static bool
find_nodes(uint32_t s, long double *node)
{
    uint32_t found = 0;
    for (int g = 0; g + 1 < GRID && found < s; g++) {
        long double low = g / (long double)GRID, high = (g + 1) / (long double)GRID;
        long double sign = node_function(s, low);
        if (sign * node_function(s, high) > 0)
            continue;
        for (int k = 0; k < BISECTIONS; k++) {
            long double middle = (low + high) / 2;
            if (sign * node_function(s, middle) > 0)
                low = middle;
            else
                high = middle;
        }
        node[found++] = (low + high) / 2;
    }
    if (found != s - 1)
        return false;
    node[s - 1] = 1;
    return true;
}

static long double
lagrange(const long double *node, uint32_t s, uint32_t j, long double x)
{
    long double value = 1;
    for (uint32_t k = 0; k < s; k++)
        if (k != j)
            value *= (x - node[k]) / (node[j] - node[k]);
    return value;
}

// The integral of Lagrange polynomial j from 0 to x, by Gauss's rule of four points, exact up to degree 7.
static long double
integral(const long double *node, uint32_t s, uint32_t j, long double x)
{
    long double inner = 2.0L / 7 * sqrtl(1.2L), sum = 0;
    long double place[] = {sqrtl(3.0L / 7 - inner), sqrtl(3.0L / 7 + inner)}, tilt = sqrtl(30.0L) / 36;
    for (int q = 0; q < 4; q++) {
        long double at = (1 + (q % 2 ? -1 : 1) * place[q / 2]) / 2, weight = (q / 2 ? 0.5L - tilt : 0.5L + tilt) / 2;
        sum += x * weight * lagrange(node, s, j, x * at);
    }
    return sum;
}

// b := a^-1 b, n x n and n x columns, by elimination with the largest pivots; a is lost.
static bool
solve(uint32_t n, Complex a[MOST][MOST], uint32_t columns, Complex b[MOST][MOST])
{
    for (uint32_t j = 0; j < n; j++) {
        uint32_t pivot = j;
        for (uint32_t i = j + 1; i < n; i++)
            if (cabsl(a[i][j]) > cabsl(a[pivot][j]))
                pivot = i;
        if (cabsl(a[pivot][j]) == 0)
            return false;
        for (uint32_t k = 0; k < n; k++) {
            Complex swapped = a[j][k];
            a[j][k] = a[pivot][k];
            a[pivot][k] = swapped;
        }
        for (uint32_t k = 0; k < columns; k++) {
            Complex swapped = b[j][k];
            b[j][k] = b[pivot][k];
            b[pivot][k] = swapped;
        }
        for (uint32_t i = 0; i < n; i++) {
            Complex factor = i == j ? 0 : a[i][j] / a[j][j];
            for (uint32_t k = j; k < n; k++)
                a[i][k] -= factor * a[j][k];
            for (uint32_t k = 0; k < columns; k++)
                b[i][k] -= factor * b[j][k];
        }
    }
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < columns; k++)
            b[i][k] /= a[i][i];
    return true;
}

static bool
invert_inner(const long double *node, uint32_t s, Complex inverse[MOST][MOST])
{
    Complex inner[MOST][MOST];
    for (uint32_t i = 0; i < s; i++)
        for (uint32_t j = 0; j < s; j++) {
            inner[i][j] = integral(node, s, j, node[i]);
            inverse[i][j] = i == j;
        }
    return solve(s, inner, s, inverse);
}

// The roots of sum of (-z)^j s!/(j!(s-j)!) (2s-1-j)!/(2s-1)!, all at once (Durand and Kerner).
static void
find_eigenvalues(uint32_t s, Complex *root)
{
    long double coefficient[MOST + 1] = {1};
    for (uint32_t j = 0; j < s; j++)
        coefficient[j + 1] = -coefficient[j] * (s - j) / ((j + 1) * (long double)(2 * s - 1 - j));
    for (uint32_t k = 0; k < s; k++)
        root[k] = 6 * cpowl(0.4L + 0.9L * I, k);
    for (int pass = 0; pass < 10 * NEWTON; pass++)
        for (uint32_t k = 0; k < s; k++) {
            Complex value = coefficient[s], others = coefficient[s];
            for (uint32_t j = s; j-- > 0;)
                value = value * root[k] + coefficient[j];
            for (uint32_t j = 0; j < s; j++)
                if (j != k)
                    others *= root[k] - root[j];
            root[k] -= value / others;
        }
}

// The vector whose last component is 1 and that the matrix multiplies by `value`.
static bool
eigenvector(uint32_t s, Complex matrix[MOST][MOST], Complex value, Complex *vector)
{
    Complex a[MOST][MOST], b[MOST][MOST];
    for (uint32_t i = 0; i + 1 < s; i++) {
        for (uint32_t j = 0; j + 1 < s; j++)
            a[i][j] = matrix[i][j] - (i == j ? value : 0);
        b[i][0] = -matrix[i][s - 1];
    }
    if (!solve(s - 1, a, 1, b))
        return false;
    for (uint32_t i = 0; i + 1 < s; i++)
        vector[i] = b[i][0];
    vector[s - 1] = 1;
    return true;
}

// T with its eigenvalues: the real one first, then the pairs by growing imaginary part.
static bool
set_transformation(RadauRule *rule, Complex inverse[MOST][MOST])
{
    uint32_t s = rule->stages, pairs = 0;
    Complex root[MOST], vector[MOST], from[MOST][MOST], to[MOST][MOST];
    find_eigenvalues(s, root);
    for (uint32_t k = 0; k < s; k++)
        for (uint32_t j = k + 1; j < s; j++)
            if (cimagl(root[j]) < cimagl(root[k])) {
                Complex swapped = root[j];
                root[j] = root[k];
                root[k] = swapped;
            }
    for (uint32_t k = s / 2; k < s; k++) {
        bool real = k == s / 2;
        Complex value = real ? creall(root[k]) : root[k];
        if (!eigenvector(s, inverse, value, vector))
            return false;
        uint32_t column = real ? 0 : 2 * pairs + 1;
        for (uint32_t i = 0; i < s; i++) {
            from[i][column] = creall(vector[i]);
            if (!real)
                from[i][column + 1] = cimagl(vector[i]);
        }
        if (real) {
            rule->real = (double)creall(value);
            continue;
        }
        rule->alpha[pairs] = (double)creall(value);
        rule->beta[pairs++] = (double)cimagl(value);
    }
    for (uint32_t i = 0; i < s; i++)
        for (uint32_t j = 0; j < s; j++) {
            rule->from[i][j] = (double)creall(from[i][j]);
            to[i][j] = i == j;
        }
    if (!solve(s, from, s, to))
        return false;
    for (uint32_t i = 0; i < s; i++)
        for (uint32_t j = 0; j < s; j++)
            rule->to[i][j] = (double)creall(to[i][j]);
    return true;
}

// u'(0) of the polynomial through 0 at 0 and z_i at c_i.
static void
set_rate(RadauRule *rule, const long double *node)
{
    for (uint32_t i = 0; i < rule->stages; i++) {
        long double product = 1 / node[i];
        for (uint32_t k = 0; k < rule->stages; k++)
            if (k != i)
                product *= -node[k] / (node[i] - node[k]);
        rule->rate[i] = (double)product;
    }
}

// With M(x) the product of x - c_i, a step is wrong by h^(s+1) y^(s+1)/s! times the integral of M up to x, and the estimate is that
// times M(0)/real.
static void
set_between(RadauRule *rule, const long double *node)
{
    long double sum = 0, most = 0, first = 1, step = 1.0L / LOOKS;
    for (uint32_t i = 0; i < rule->stages; i++)
        first *= -node[i];
    for (int k = 0; k < LOOKS; k++) {
        long double product = 1, at = (k + 0.5L) * step;
        for (uint32_t i = 0; i < rule->stages; i++)
            product *= at - node[i];
        sum += step * product;
        most = fmaxl(most, fabsl(sum));
        rule->bulge = fmax(rule->bulge, fabs((double)(at * product)));
    }
    rule->between = (double)(most / (fabsl(first) / rule->real));
}

bool
radau_rule_init(RadauRule *rule, uint32_t stages)
{
    long double node[MOST];
    Complex inverse[MOST][MOST];
    memset(rule, 0, sizeof *rule);
    rule->stages = stages;
    if (!find_nodes(stages, node) || !invert_inner(node, stages, inverse) || !set_transformation(rule, inverse))
        return false;
    for (uint32_t i = 0; i < stages; i++)
        rule->node[i] = (double)node[i];
    set_rate(rule, node);
    set_between(rule, node);
    return true;
}

double
radau_rule_product(const RadauRule *rule, double x)
{
    double product = x;
    for (uint32_t i = 0; i < rule->stages; i++)
        product *= x - rule->node[i];
    return product;
}

double
radau_rule_beginning(const RadauRule *rule)
{
    const double nearly_zero = 1e-100;
    return fabs(radau_rule_product(rule, nearly_zero) / nearly_zero);
}
