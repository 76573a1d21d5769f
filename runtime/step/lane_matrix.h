// lane_matrix.h: A + c B of several runs side by side, where A = dF/dy and B = dF/dy' of the model's equations.
//
// Arrays have number k of run l at array[k*width + l]. With B in front of right sides this is (c - df/dx)^-1 of x' = f(t, x), the loops' unknowns eliminated.
#ifndef MDLC_RUNTIME_STEP_LANE_MATRIX_H
#define MDLC_RUNTIME_STEP_LANE_MATRIX_H

#include "runtime/point/run.h"

enum { LANE_FACTORS = 4 };

typedef struct LaneMatrix LaneMatrix;

// The order of elimination is chosen beside this run's values, for this c. NULL: out of memory, or there is none.
LaneMatrix *lane_matrix_create(Run *typical, uint32_t width, double c);
void lane_matrix_free(LaneMatrix **matrix);
// The matrices of the runs in the mask (all bits, or none) become those of v, in which the dynamics were called and derivatives stand in their places.
void lane_matrix_load(LaneMatrix *matrix, double *v, const uint64_t *mask);
// Factors `which` of A + c B, c being real[l] of run l, or real[l] - i imaginary[l]; a matrix is always real (imaginary is NULL), or never. worn[l] becomes 1
// where they are good for nothing.
void lane_matrix_factor(LaneMatrix *matrix, uint32_t which, const double *real, const double *imaginary, uint8_t *worn);
// x := (A + c B)^-1 B x for the states; of complex numbers y are the imaginary parts (NULL: there are none).
void lane_matrix_solve(LaneMatrix *matrix, uint32_t which, double *x, double *y);
uint32_t lane_matrix_nonzeros(const LaneMatrix *matrix);

#endif
