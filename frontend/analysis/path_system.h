// path_system.h: the stationary conditions of a discretised action and their derivatives. Private to path_*.c.
#ifndef MDLC_FRONTEND_ANALYSIS_PATH_SYSTEM_H
#define MDLC_FRONTEND_ANALYSIS_PATH_SYSTEM_H

#include "frontend/analysis/path_rule.h"

// Unknown b*node + i: coordinate i, then the multipliers of the node, those of constraints and those that tie rates to what they are rates of. Columns of the matrix are stored from row first[c] on.
typedef struct PathSystem {
    const PathProblem *problem;
    const PathMesh *mesh;
    PathRule rule;
    uint32_t b, nodes, size;
    bool nonlocal;
    uint32_t *start, *row;   // compressed columns
    double *matrix;
    double *residual, *magnitude; // per unknown; the magnitude of the residual's terms
    double action;
    double form, terms;      // second variation along `direction`, and its terms' magnitudes
    const double *direction; // NULL: not wanted
    double **memory;         // weights of the features beside coordinates and velocities: of feature 2n + k at point p memory[k*points + p]
    uint32_t points;
    double *feature, *force, *slope; // at one point
    double *constraint, *jacobian, *curvature;
} PathSystem;

bool path_is_nonlocal(const PathProblem *problem);
// False when memory is exhausted.
bool path_system_make(PathSystem *system, const PathProblem *problem, const PathMesh *mesh);
void path_system_free(PathSystem *system);
// Residuals, action, and with `slopes` the matrix, at these values of the unknowns. False: not finite.
bool path_system_evaluate(PathSystem *system, const double *u, bool slopes);
static inline bool
path_is_held(const PathSystem *system, uint32_t node, uint32_t i)
{
    const PathProblem *problem = system->problem;
    if (i >= problem->n + problem->n_constraints)
        return node == 0;
    if (i >= problem->n)
        return node == 0 || node + 1 == system->nodes; // at the ends constraints hold by what is given
    return (node == 0 && problem->start[i] == problem->start[i]) || (node + 1 == system->nodes && problem->end[i] == problem->end[i]);
}

#endif
