// path_rule.h: the polynomials of a path on its mesh, its quadrature, and derivatives of broken order. Private to path_*.c.
#ifndef MDLC_FRONTEND_ANALYSIS_PATH_RULE_H
#define MDLC_FRONTEND_ANALYSIS_PATH_RULE_H

#include "frontend/analysis/stationary.h"

// Of the reference interval [0, 1].
enum { PATH_POINTS_LOCAL = 6, PATH_POINTS_MEMORY = 16, PATH_POINTS_FAR = 16 };
struct PathRule {
    double node[PATH_NODES], node_weight[PATH_NODES];        // those of Lobatto
    double integral[PATH_NODES][PATH_NODES];                 // integral[j][k]: of the polynomial that is 1 at node k, from 0 to node j
    double basis[PATH_NODES][PATH_NODES];                    // basis[k][m]: coefficient of x^m of the polynomial that is 1 at node k
    uint32_t n_points;
    double point[PATH_POINTS_MEMORY], weight[PATH_POINTS_MEMORY];
    double far[PATH_POINTS_FAR], far_weight[PATH_POINTS_FAR];
};

// `memory`: points that are dense at the left end, behind which derivatives of broken order have a kink.
void path_rule_make(PathRule *rule, bool memory);
// Values and slopes of the basis at x.
void path_basis(const PathRule *rule, double x, double *value, double *slope);
// weight[k], k = 0 ... PATH_DEGREE*(interval + 1): the derivative of this order at point x of the interval of the path whose node k is 1.
void path_memory_weights(const PathRule *rule, const PathMesh *mesh, uint32_t interval, double x, double order, double *weight);

#endif
