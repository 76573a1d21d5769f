// collocation.c: the coefficients of Gauss-Legendre collocation with four stages (order 8).
//
// Purpose: tables for gauss.c and stages.c, computed rather than typed.
// Method: nodes are the roots of the shifted Legendre polynomial of degree 4 in closed form; a_ij and b_j are
//         integrals of Lagrange polynomials, multiplied out in extended precision (Hairer, Lubich and Wanner,
//         Geometric Numerical Integration, 2006, II.1.3). Crout's factor T makes the stage iteration
//         triangular (van der Houwen and de Swart, SIAM J. Sci. Comput. 18 (1997) 41).
// Contract: collocation.h. Complexity: constant.
#include "runtime/linear/collocation.h"

#include <math.h>

enum { S = GAUSS_STAGES };

static void
set_nodes(long double *node)
{
    long double inner = 2.0L / 7 * sqrtl(1.2L);
    long double near = sqrtl(3.0L / 7 - inner) / 2, far = sqrtl(3.0L / 7 + inner) / 2;
    node[0] = 0.5L - far;
    node[1] = 0.5L - near;
    node[2] = 0.5L + near;
    node[3] = 0.5L + far;
}

// Coefficients of the Lagrange polynomial of node j, lowest power first.
static void
lagrange_coefficients(const long double *node, int j, long double *coefficient)
{
    int degree = 0;
    coefficient[0] = 1;
    for (int k = 0; k < S; k++) {
        if (k == j)
            continue;
        long double scale = 1 / (node[j] - node[k]);
        coefficient[degree + 1] = coefficient[degree] * scale;
        for (int power = degree; power > 0; power--)
            coefficient[power] = (coefficient[power - 1] - node[k] * coefficient[power]) * scale;
        coefficient[0] *= -node[k] * scale;
        degree++;
    }
}

static long double
integral(const long double *coefficient, long double to)
{
    long double sum = 0;
    for (int power = S - 1; power >= 0; power--)
        sum = (sum + coefficient[power] / (power + 1)) * to;
    return sum;
}

static void
set_lower(Collocation *method)
{
    double upper[S][S] = {0};
    for (int j = 0; j < S; j++) {
        for (int i = j; i < S; i++) {
            method->lower[i][j] = method->inner[i][j];
            for (int k = 0; k < j; k++)
                method->lower[i][j] -= method->lower[i][k] * upper[k][j];
        }
        for (int i = j + 1; i < S; i++) {
            method->lower[j][i] = 0;
            upper[j][i] = method->inner[j][i];
            for (int k = 0; k < j; k++)
                upper[j][i] -= method->lower[j][k] * upper[k][i];
            upper[j][i] /= method->lower[j][j];
        }
    }
}

void
collocation_init(Collocation *method)
{
    long double node[S], coefficient[S];
    set_nodes(node);
    for (int j = 0; j < S; j++) {
        lagrange_coefficients(node, j, coefficient);
        method->node[j] = (double)node[j];
        method->weight[j] = (double)integral(coefficient, 1);
        for (int i = 0; i < S; i++)
            method->inner[i][j] = (double)integral(coefficient, node[i]);
    }
    set_lower(method);
}

void
collocation_lagrange(const double *point, uint32_t count, double x, double *value)
{
    for (uint32_t j = 0; j < count; j++) {
        value[j] = 1;
        for (uint32_t k = 0; k < count; k++)
            if (k != j)
                value[j] *= (x - point[k]) / (point[j] - point[k]);
    }
}
