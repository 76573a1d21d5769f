// radau_wide.h: sums over the stages of Radau steps of several runs side by side, with coefficients of each run's own.
//
// Number k of run l stands at array[k*width + l], width being 4 or 8; arrays of stages have `size` doubles (unknowns times width) for each. A run with fewer stages
// than `stages` has zeros in the places of the others. What is computed for one run does not depend on those beside it.
#ifndef MDLC_RUNTIME_LINEAR_RADAU_WIDE_H
#define MDLC_RUNTIME_LINEAR_RADAU_WIDE_H

#include <stddef.h>
#include <stdint.h>

#include "runtime/linear/radau_rule.h"

enum { WIDE_MOST = 8 };

typedef double WideNumber[WIDE_MOST];                  // of each run
typedef WideNumber WideSum[RADAU_STAGES];              // of its stages
typedef uint64_t WideMask[WIDE_MOST];                  // all bits, or none
typedef struct WideShift {                             // the blocks of RadauRule, by the step's length
    WideNumber real, alpha[RADAU_PAIRS], beta[RADAU_PAIRS];
} WideShift;

// out_i := sum of matrix_ij in_j in the runs of the mask; may be done in place.
void radau_wide_transform(uint32_t width, uint32_t stages, WideSum *matrix, const uint64_t *mask, const double *in, double *out, size_t size);
// f := matrix f - shift w, what the transformed corrections are solved from.
void radau_wide_defects(uint32_t width, uint32_t stages, WideSum *matrix, const WideShift *shift, double *f, const double *w, size_t size);
// With the transformed corrections f, in the runs of the mask: w += f and z += matrix f. squares: of what z has changed by, times weight.
void radau_wide_correct(uint32_t width, uint32_t stages, WideSum *matrix, const uint64_t *mask, const double *f, double *w, double *z, const double *weight,
                        double *squares, size_t size);
// out := factor base + sum of sum_j in_j. squares: of that times weight. `out` or `weight` with `squares` may be NULL.
void radau_wide_sum(uint32_t width, uint32_t stages, const double *factor, const double *base, const WideNumber *sum, const double *in, double *out,
                    const double *weight, double *squares, size_t size);
// out := a + b.
void radau_wide_add(uint32_t width, const double *a, const double *b, double *out, size_t size);

#endif
