// gauss_wide.h: sums over the stages of Gauss steps of several runs side by side.
//
// Number k of run l stands at array[k*width + l], width being 4 or 8; arrays of stages or points have `size` doubles (unknowns times width) for each. What is computed
// for one run does not depend on those beside it. Numbers of runs may be those of runs that nobody asks about.
#ifndef MDLC_RUNTIME_LINEAR_GAUSS_WIDE_H
#define MDLC_RUNTIME_LINEAR_GAUSS_WIDE_H

#include <stddef.h>

#include "runtime/linear/collocation.h"
#include "runtime/linear/radau_wide.h"

typedef WideNumber GaussSum[GAUSS_STAGES]; // of each run's stages

// to := from in the runs of the mask.
void gauss_wide_put(uint32_t width, const uint64_t *mask, const double *from, double *to, size_t size);
// out := base + sum of weight_j in_j; base may be out, NULL: 0.
void gauss_wide_sum(uint32_t width, const double *base, const WideNumber *weight, const double *in, double *out, size_t size);
// weight := 1/(tolerance |y| + absolute).
void gauss_wide_weights(uint32_t width, const double *tolerance, const double *absolute, const double *y, double *weight, size_t size);
// z_i := h times the sum of a_ij f_j.
void gauss_wide_offsets(uint32_t width, const Collocation *method, const double *h, const double *f, double *z, size_t size);
// change_i := that - z_i.
void gauss_wide_defects(uint32_t width, const Collocation *method, const double *h, const double *f, const double *z, double *change, size_t size);
// Newton's method for stage i, whose coefficients t_ij of the method's lower triangle stand in lower: change_i becomes what (1 - h T x J)^-1 makes of it in the runs of
// the mask. Before: change_i += sum of t_ij scaled_j for j < i; right := change_i/(h t_ii). Behind, with the solution in right: scaled_i := (right - change_i)/t_ii, and
// change_i := right.
void gauss_wide_before(uint32_t width, uint32_t stage, const double *lower, const double *h, const uint64_t *mask, double *change, const double *scaled, double *right,
                       size_t size);
void gauss_wide_behind(uint32_t width, uint32_t stage, const double *lower, const uint64_t *mask, const double *right, double *change, double *scaled, size_t size);
// z += change in the runs of the mask, and by how much that is at most: relative to the largest of |base|, least and |z| (most), and in tolerances of that (error). What
// is no number is found in most.
typedef struct GaussChange {
    const double *base, *least, *absolute; // of each unknown
    const double *tolerance;               // of each run
    WideNumber most, error;
} GaussChange;
void gauss_wide_take(uint32_t width, const uint64_t *mask, const double *change, double *z, GaussChange *size_of, size_t size);
// The end of a step from start - carry, and what rounding has taken off it: next - next_carry.
void gauss_wide_end(uint32_t width, const Collocation *method, const double *h, const double *f, const double *start, const double *carry, double *next, double *next_carry,
                    size_t size);
// squares of factor times (a - b) times weight, added up over the unknowns.
void gauss_wide_distance(uint32_t width, const double *factor, const double *a, const double *b, const double *weight, double *squares, size_t size);
// Newton's divided differences of steps of length h through values y and slopes f at GAUSS_POINTS places, which are fractions of the step: 2*GAUSS_POINTS rows.
void gauss_wide_divide(uint32_t width, const double *place, const double *h, const double *y, const double *f, double *divided, size_t size);
// The polynomial at fractions `at` of the steps.
void gauss_wide_value(uint32_t width, const double *place, const double *at, const double *divided, double *out, size_t size);

#endif
