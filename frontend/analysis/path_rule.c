// path_rule.c: polynomials on a mesh and their derivatives of broken order.
//
// Purpose: what the discretised action is made of. Method: polynomials of degree 4 per interval by their values at Lobatto's nodes.
// Where everything is local, Gauss's rule of 6 points. With memory, the rule of 16 points in the variable x^(1/4): a derivative of order a of
// a polynomial that begins at a node behaves like x^(1-a) behind it. Weights of D^a at t are integrals of (t - s)^(-a)*phi'(s) (of
// (t - s)^(-a-1)*phi(s) for integrals, a < 0) over each interval: in closed form about s = t where the interval is near, by Gauss's rule of 16 points
// where it is two of its lengths away or more, where that is exact to rounding.
// Contract: path_rule.h. Distances between points are sums of lengths of intervals, so that meshes may be graded as far as numbers reach.
// Complexity: linear in the nodes before t, per point t.
#include "frontend/analysis/path_rule.h"

#include <math.h>

#include "ir/expr/integrate.h"

// Coefficients of the polynomial that is 1 at node k and 0 at the others.
static void
make_basis(PathRule *rule)
{
    for (uint32_t k = 0; k < PATH_NODES; k++) {
        double *c = rule->basis[k], scale = 1;
        uint32_t degree = 0;
        for (uint32_t m = 0; m < PATH_NODES; m++)
            c[m] = m == 0;
        for (uint32_t j = 0; j < PATH_NODES; j++) {
            if (j == k)
                continue;
            for (uint32_t m = ++degree; m > 0; m--)
                c[m] = c[m - 1] - rule->node[j]*c[m];
            c[0] *= -rule->node[j];
            scale *= rule->node[k] - rule->node[j];
        }
        for (uint32_t m = 0; m < PATH_NODES; m++)
            c[m] /= scale;
        for (uint32_t j = 0; j < PATH_NODES; j++) {
            rule->integral[j][k] = 0;
            for (uint32_t m = PATH_NODES; m-- > 0;)
                rule->integral[j][k] = (rule->integral[j][k] + c[m]/(m + 1))*rule->node[j];
        }
    }
}

void
path_rule_make(PathRule *rule, bool memory)
{
    double inner = sqrt(3.0 / 7)/2;
    double nodes[PATH_NODES] = {0, 0.5 - inner, 0.5, 0.5 + inner, 1};
    double weights[PATH_NODES] = {1.0 / 20, 49.0 / 180, 16.0 / 45, 49.0 / 180, 1.0 / 20};
    for (uint32_t k = 0; k < PATH_NODES; k++) {
        rule->node[k] = nodes[k];
        rule->node_weight[k] = weights[k];
    }
    make_basis(rule);
    rule->n_points = memory ? PATH_POINTS_MEMORY : PATH_POINTS_LOCAL;
    gauss_legendre(rule->n_points, rule->point, rule->weight);
    for (uint32_t i = 0; i < rule->n_points; i++) {
        double y = (1 + rule->point[i])/2;
        rule->weight[i] *= memory ? 2*y*y*y : 0.5;
        rule->point[i] = memory ? y*y*y*y : y;
    }
    gauss_legendre(PATH_POINTS_FAR, rule->far, rule->far_weight);
    for (uint32_t i = 0; i < PATH_POINTS_FAR; i++) {
        rule->far[i] = (1 + rule->far[i])/2;
        rule->far_weight[i] /= 2;
    }
}

void
path_basis(const PathRule *rule, double x, double *value, double *slope)
{
    for (uint32_t k = 0; k < PATH_NODES; k++) {
        value[k] = slope[k] = 0;
        for (uint32_t m = PATH_NODES; m-- > 0;) {
            slope[k] = slope[k]*x + value[k];
            value[k] = value[k]*x + rule->basis[k][m];
        }
    }
}

// The coefficients of p, of degree n - 1 in x, in x - about.
static void
shift(double *p, uint32_t n, double about)
{
    for (uint32_t i = 0; i + 1 < n; i++)
        for (uint32_t m = n - 1; m-- > i;)
            p[m] += about*p[m + 1];
}

// Integral of tau^power*p(x) over the interval, where tau runs from `near` to `away` in its lengths and x = away - tau.
static double
moment(const PathRule *rule, const double *p, uint32_t n, double power, double near, double away)
{
    double sum = 0, about[PATH_NODES];
    if (near >= 1) {
        for (uint32_t i = 0; i < PATH_POINTS_FAR; i++) {
            double value = 0, x = rule->far[i];
            for (uint32_t m = n; m-- > 0;)
                value = value*x + p[m];
            sum += rule->far_weight[i]*value*pow(near + (1 - x), power);
        }
        return sum;
    }
    for (uint32_t m = 0; m < n; m++)
        about[m] = p[m];
    shift(about, n, away);
    for (uint32_t m = 0; m < n; m++) {
        double e = power + m + 1;
        sum += (m % 2 ? -about[m] : about[m])*(pow(away, e) - (near > 0 ? pow(near, e) : 0))/e;
    }
    return sum;
}

void
path_memory_weights(const PathRule *rule, const PathMesh *mesh, uint32_t interval, double x, double order, double *weight)
{
    bool rate = order > 0;
    double power = rate ? -order : -order - 1, gamma = tgamma(power + 1), distance = 0; // from the end of interval j to t
    for (uint32_t k = 0; k <= PATH_DEGREE*(interval + 1); k++)
        weight[k] = 0;
    for (uint32_t j = interval + 1; j-- > 0;) {
        double h = mesh->length[j], near = j == interval ? 0 : distance/h, away = j == interval ? x : near + 1;
        double scale = pow(h, power + (rate ? 0 : 1))/gamma;
        for (uint32_t k = 0; k < PATH_NODES; k++) {
            double p[PATH_NODES];
            uint32_t n = PATH_NODES;
            for (uint32_t m = 0; m < PATH_NODES; m++)
                p[m] = rule->basis[k][m];
            if (rate) {
                for (uint32_t m = 1; m < PATH_NODES; m++)
                    p[m - 1] = m*rule->basis[k][m];
                n--;
            }
            weight[PATH_DEGREE*j + k] += scale*moment(rule, p, n, power, near, away);
        }
        distance += j == interval ? x*h : h;
    }
}
