// stationary.h: motions between two ends of time for which an action is stationary.
//
// The action is the integral of L over time, where L is a function of features: coordinates (order 0), their velocities (1) and
// Caputo derivatives (0 < order < 1) or integrals (order < 0) from the start. Forces do virtual work beside it. A coordinate may be the rate of
// another one, which makes derivatives of higher orders.
#ifndef MDLC_FRONTEND_ANALYSIS_STATIONARY_H
#define MDLC_FRONTEND_ANALYSIS_STATIONARY_H

#include <stdbool.h>
#include <stdint.h>

typedef struct PathProblem {
    uint32_t n, n_constraints;
    uint32_t n_features;         // features 2*i and 2*i + 1 are coordinate i and its velocity
    const uint32_t *coordinate;  // per feature
    const double *order;
    double from, to;
    const uint32_t *rate_of;     // per coordinate: the one before it whose rate it is; UINT32_MAX: of none
    uint32_t n_rates;
    const double *start, *end;   // per coordinate; NAN: free
    const double *const *guess;  // per coordinate: values of the first guess at equal times between the ends; NULL: a straight line
    const uint32_t *n_guess;     // per coordinate: how many
    double tolerance;            // relative to the largest value of each coordinate
    uint32_t intervals;          // 0: chosen by the tolerance; otherwise equal ones, and no refinement
    // At a time, for features y: L, what stands on the variation of each feature (dL/dy, with the force on a coordinate in its place), and
    // slope[f*n_features + k] = dforce[f]/dy[k]. Not finite where L is not defined.
    void (*evaluate)(void *user, double time, const double *y, double *value, double *force, double *slope);
    // c = 0; jacobian[k*n + i] = dc[k]/dq[i]; curvature[i*n + j]: second derivatives of sum of multiplier[k]*c[k].
    void (*constrain)(void *user, double time, const double *q, const double *multiplier, double *c, double *jacobian,
                      double *curvature);
    void *user;
} PathProblem;

typedef enum PathEnd {
    PATH_FOUND,
    PATH_COARSE,     // the mesh became too fine before the tolerance was reached
    PATH_NO_NEWTON,  // Newton's method does not converge
    PATH_SINGULAR,   // the second variation is singular along the path: conjugate ends
    PATH_UNDEFINED,  // the action is not finite on the first guess
    PATH_NO_MEMORY
} PathEnd;

typedef struct PathRule PathRule;
typedef struct PathMesh {    // intervals of time, each with a polynomial of degree PATH_DEGREE per coordinate
    uint32_t n;
    double *time;            // n + 1
    double *length;          // n; differences of times lose digits where intervals are small
} PathMesh;
enum { PATH_DEGREE = 4, PATH_NODES = PATH_DEGREE + 1 };

typedef struct Path {
    PathMesh mesh;
    double *value;           // node k = PATH_DEGREE*interval + point: n coordinates, then n_constraints + n_rates multipliers
    double action;
    double residual;         // of the stationarity, relative to its largest terms
    double error;            // estimated, relative; NAN: not known
    double curvature;        // |second variation| of its weakest direction, relative to the sum of its terms' magnitudes; NAN: not known
    uint32_t newton, meshes; // steps in all; meshes in all
    bool nonlocal;
} Path;

// Unknowns at a node.
static inline uint32_t
path_width(const PathProblem *problem)
{
    return problem->n + problem->n_constraints + problem->n_rates;
}

// *path is to be freed whatever the end is; after PATH_COARSE and PATH_SINGULAR it has what was reached.
PathEnd path_stationary(const PathProblem *problem, Path *path);
// Values at a time: n coordinates, n velocities, n_constraints multipliers, and the features behind the first 2n.
void path_at(const PathProblem *problem, const Path *path, double time, double *out);
void path_free(Path *path);

#endif
