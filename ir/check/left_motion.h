// left_motion.h: the motion that the constraints among rows leave: local coordinates, and their accelerations.
#ifndef MDLC_IR_CHECK_LEFT_MOTION_H
#define MDLC_IR_CHECK_LEFT_MOTION_H

#include <math.h>
#include <stddef.h>

#include "ir/check/motion_rows.h"
#include "ir/expr/expr_eval.h"

enum {
    LEFT_MOST = 12,          // coordinates of which accelerations are taken as polynomials, term by term
    LEFT_ROWS_MOST = 800,    // rows, and variables
    LEFT_SLOPES_MOST = 2     // slopes whose velocities left_motion_accelerate has room for
};

// The accelerations of the coordinates y at a point as polynomials of their velocities: a + b*v + v*c*v; c is symmetric in its last two. One array, so that
// differences are those of all numbers.
typedef struct Jet {
    uint32_t n;
    double *a, *b, *c;     // n, n*n: k, i at [k*n + i], n*n*n: k, i, j at [(k*n + i)*n + j]
} Jet;

typedef struct LeftMotion {
    MotionRows *rows;
    U32Vec row, variable;  // of the whole system
    U32Vec positions;      // variables: what is differentiated, and what else constraints of positions determine
    U32Vec forces;         // variables that accelerations go along with
    U32Vec firsts;         // among the positions: none of their second derivatives is in a row
    U32Vec constraints, rates, dynamics; // rows: of positions; of positions and velocities; all others
    bool linear;           // in accelerations and forces, with coefficients of positions
    bool timely;           // time stands in a row
    bool bent;             // a row of `rates` is not linear in velocities: nothing is evaluated
    uint32_t moving;       // how many variables have derivatives
    uint32_t leads, order; // a variable with derivatives of a higher order than the second, the highest; NONE: nothing is evaluated otherwise
    ExprTape *gap, *slope, *first, *matrix, *residual;
    U32Vec slope_at, matrix_at; // places of the entries that the tapes give
    uint32_t width;        // of the matrix: positions and forces
    double *slots, *values, *table; // of the point at hand
    double time;
    U32Vec bound, free;    // places among the positions: the chart
    uint32_t n;            // = free.n: freedoms
    double speed;          // of the velocities at which accelerations are looked at
    // Of the last jet: the coordinate whose acceleration is no such polynomial, and by how much; NONE.
    uint32_t beyond;
} LeftMotion;

typedef struct LeftPoint {
    double time, *q;       // q[positions.n]
} LeftPoint;

// What never has a derivative and stands in a row without any: a force; a position where that row has no other such variable (the length of a spring);
// a position.
typedef enum LeftStill { LEFT_STILL_FORCES, LEFT_STILL_LENGTHS, LEFT_STILL_POSITIONS, LEFT_STILL_KINDS } LeftStill;

// The rows that hang together with the variables; `frozen`: variables of `firsts`, with their rows, are held. False: rows are not of the kind: `reason`.
bool left_motion_open(LeftMotion *left, MotionRows *rows, const U32Vec *from, bool frozen, LeftStill still, const char **reason);
void left_motion_close(LeftMotion *left);
// A point without order, one of many, that fulfils the constraints, and a chart around it; false: none was found.
bool left_motion_start(LeftMotion *left, uint32_t start, LeftPoint *point);
// Goes on from a point by as much of time and of the coordinates; false where the chart ends.
bool left_motion_go(LeftMotion *left, const LeftPoint *from, double time, const double *by, LeftPoint *to);
// Velocities q for those of the coordinates.
bool left_motion_velocity(LeftMotion *left, const LeftPoint *at, const double *v, double *velocity);
bool left_motion_jet(LeftMotion *left, const LeftPoint *at, Jet *out);
// Velocities q for those of the coordinates, v: drift[j] + sum of v[k]*tangent[k*positions.n + j].
bool left_motion_tangent(LeftMotion *left, const LeftPoint *at, double *drift, double *tangent);
// Accelerations of the coordinates, rows of n, at velocities q, rows of positions.n: up to 2*n*LEFT_SLOPES_MOST + 1 of them.
bool left_motion_accelerate(LeftMotion *left, const LeftPoint *at, uint32_t count, const double *velocity, double *out);
// Derivatives of accelerations by the coordinates at fixed velocities of them, by k, i at [k*n + i]: one elimination, and residuals at near places.
bool left_motion_gradient(LeftMotion *left, const LeftPoint *at, const double *velocity, const double *tangent, double *out);
// The row of velocities that is not integrable at the point: the largest of the exterior derivatives of such rows on motions that are left; NONE.
// `homogeneous`: it is none without the passage of time.
uint32_t left_motion_nonholonomic(LeftMotion *left, const LeftPoint *at, bool *homogeneous);

LeftPoint left_point_make(const LeftMotion *left);
void left_point_free(LeftPoint *point);
Jet jet_make(uint32_t n);
void jet_free(Jet *jet);
static inline uint32_t
jet_size(uint32_t n)
{
    return n + n*n + n*n*n;
}

// The largest magnitude of n numbers; 0 of none.
static inline double
left_largest(const double *at, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++)
        most = fmax(most, fabs(at[i]));
    return most;
}

#endif
