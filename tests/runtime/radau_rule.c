// radau_rule.c and shifted.c: the conditions of order 2s - 1, by what the transformed coefficients make together; factors for complex numbers against elimination by hand.
#include <complex.h>
#include <math.h>

#include "runtime/linear/radau_rule.h"
#include "runtime/linear/shifted.h"
#include "tests/runtime/check.h"

enum { S = RADAU_STAGES };

// A^-1 = T Lambda T^-1.
static void
inverse_of(const RadauRule *rule, double inverse[S][S])
{
    uint32_t s = rule->stages;
    double lambda[S][S] = {{rule->real}};
    for (uint32_t p = 0; p < s / 2; p++) {
        uint32_t a = 2 * p + 1;
        lambda[a][a] = lambda[a + 1][a + 1] = rule->alpha[p];
        lambda[a][a + 1] = rule->beta[p];
        lambda[a + 1][a] = -rule->beta[p];
    }
    for (uint32_t i = 0; i < s; i++)
        for (uint32_t j = 0; j < s; j++) {
            inverse[i][j] = 0;
            for (uint32_t k = 0; k < s; k++)
                for (uint32_t l = 0; l < s; l++)
                    inverse[i][j] += rule->from[i][k] * lambda[k][l] * rule->to[l][j];
        }
}

static void
eliminate(uint32_t s, double a[S][S], double *b)
{
    for (uint32_t j = 0; j < s; j++)
        for (uint32_t i = 0; i < s; i++) {
            double factor = i == j ? 0 : a[i][j] / a[j][j];
            for (uint32_t k = 0; k < s; k++)
                a[i][k] -= factor * a[j][k];
            b[i] -= factor * b[j];
        }
    for (uint32_t i = 0; i < s; i++)
        b[i] /= a[i][i];
}

// sum of a_ij c_j^(q-1) = c_i^q/q for q <= s, by A^-1: what it is wrong by.
static double
wrong_stages(const RadauRule *rule)
{
    double inverse[S][S], most = 0;
    inverse_of(rule, inverse);
    for (uint32_t q = 1; q <= rule->stages; q++)
        for (uint32_t i = 0; i < rule->stages; i++) {
            double sum = -pow(rule->node[i], q - 1);
            for (uint32_t j = 0; j < rule->stages; j++)
                sum += inverse[i][j] * pow(rule->node[j], q) / q;
            most = fmax(most, fabs(sum));
        }
    return most;
}

// sum of b_i c_i^(q-1) = 1/q, b being the last row of A.
static double
wrong_end(const RadauRule *rule, uint32_t q)
{
    uint32_t s = rule->stages;
    double inverse[S][S], turned[S][S], b[S] = {0}, sum = -1.0 / q;
    inverse_of(rule, inverse);
    for (uint32_t i = 0; i < s; i++)
        for (uint32_t j = 0; j < s; j++)
            turned[i][j] = inverse[j][i];
    b[s - 1] = 1;
    eliminate(s, turned, b);
    for (uint32_t i = 0; i < s; i++)
        sum += b[i] * pow(rule->node[i], q - 1);
    return fabs(sum);
}

// Both together are order 2s - 1 (Butcher; Hairer, Norsett and Wanner, Solving Ordinary Differential Equations I, II.7).
static void
check_rules(Check *state)
{
    for (uint32_t s = 3; s <= S; s += 2) {
        RadauRule rule;
        bool computed = radau_rule_init(&rule, s);
        check(state, computed && rule.node[s - 1] == 1, "coefficients", "%u stages", s);
        check(state, wrong_stages(&rule) < 1e-11, "stages", "off by %g with %u stages", wrong_stages(&rule), s);
        double end = 0, slope = -1; // the slope of x at 0
        for (uint32_t q = 1; q < 2 * s; q++)
            end = fmax(end, wrong_end(&rule, q));
        check(state, end < 1e-13, "order", "off by %g with %u stages", end, s);
        check(state, wrong_end(&rule, 2 * s) > 1e-9, "order", "higher than %u", 2 * s - 1);
        for (uint32_t i = 0; i < s; i++)
            slope += rule.rate[i] * rule.node[i];
        check(state, fabs(slope) < 1e-12, "slope", "off by %g", slope);
    }
}

// A = {4, 1, 0; 2, 3, 1; 1, 0, 2}, of which B has two columns.
static void
check_shifted(Check *state)
{
    static const uint32_t start[] = {0, 3, 5, 7}, row[] = {0, 1, 2, 0, 1, 1, 2};
    static const double values[] = {4, 2, 1, 1, 3, 1, 2};
    Shifted *shifted = shifted_create(3, 2, start, row, NULL);
    double x[] = {1, -2}, y[] = {3, 0.5};
    bool factored = shifted && shifted_factor_pair(shifted, 1, values, 0.7, 1.3) && shifted_factor_real(shifted, values, 0.7);
    check(state, factored, "factors", "singular");
    if (!factored)
        return;
    shifted_solve_pair(shifted, 1, x, y);
    // {A + alpha, beta; -beta, A + alpha} (x; y) is (A + alpha - i beta)(x + i y).
    double complex shift = 0.7 - 1.3 * I, u = x[0] + I * y[0], v = x[1] + I * y[1];
    double first = cabs((4 + shift) * u + v - (1 + 3 * I)), second = cabs(1.5 * u + (3 + shift) * v - (-2 + 0.5 * I)); // the third is -u/2
    check(state, first < 1e-13 && second < 1e-13, "complex solution", "off by %g, %g", first, second);
    double b[] = {1, 2};
    shifted_solve_real(shifted, b);
    first = fabs(4.7 * b[0] + b[1] - 1);
    second = fabs(1.5 * b[0] + 3.7 * b[1] - 2);
    check(state, first < 1e-13 && second < 1e-13, "real solution", "off by %g, %g", first, second);
    shifted_free(&shifted);
}

int
main(void)
{
    Check state = {0};
    check_rules(&state);
    check_shifted(&state);
    return check_end(&state);
}
