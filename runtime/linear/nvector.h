// nvector.h: vectorised operations for SUNDIALS' serial vectors (the packaged ones are not optimised).
#ifndef MDLC_RUNTIME_LINEAR_NVECTOR_H
#define MDLC_RUNTIME_LINEAR_NVECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <sundials/sundials_nvector.h>

#include "runtime/model/threads.h"

// Replaces the operations IDA uses in its steps; clones inherit them. Those of vectors of THREADS_LEAST elements are done in parts, by these threads
// (here and below: NULL: by the caller), with the same result for any number of threads.
void nvector_accelerate(N_Vector vector, Threads *threads);
// Whether so many vectors of n find memory just now. N_VClone() of SUNDIALS 6.4 reads what it has got before it looks whether it has got anything.
bool nvector_room(size_t n, size_t vectors);

// out := a - b. The arrays do not overlap.
void nvector_difference(Threads *threads, const double *a, const double *b, double *out, size_t n);
// out := factor * x. The arrays do not overlap.
void nvector_scale(double factor, const double *x, double *out, size_t n);
// out := scale / (relative * |x| + absolute), elementwise. The arrays do not overlap.
void nvector_weights(Threads *threads, const double *x, double scale, double relative, const double *absolute, double *out, size_t n);
// out := sum of factor[k] * term[k], count >= 1, added up in this order. `out` may be one of the first six terms.
void nvector_combine(Threads *threads, const double *factor, const double *const *term, int count, double *out, size_t n);
// True when |term[0] - centre| + factor[1] * |term[1]| + factor[2] * |term[2]| + ... <= radius for the n elements; those of the
// terms from `first` on. factor[0] does not count. 2 <= count <= 6, or the answer is false.
bool nvector_stays(const double *const *term, const double *factor, uint32_t count, size_t first, const double *centre,
                   const double *radius, size_t n);
// correction -= factor * solution, y := y0 + correction, yp := yp0 + cj * correction. Returns the weighted root mean square of
// the scaled solution. y and yp may be y0 and yp0; the arrays do not overlap otherwise.
double nvector_correct(Threads *threads, const double *solution, double factor, const double *weight, const double *y0, const double *yp0, double cj,
                       double *correction, double *y, double *yp, size_t n);
// The sum of (x*w)^2.
double nvector_squares(Threads *threads, const double *x, const double *w, size_t n);
// out := start + s*first + s^2*second + s^3*third. The arrays do not overlap.
void nvector_cubic(const double *start, const double *first, const double *second, const double *third, double s, double *out,
                   size_t n);
// largest := the larger of largest and |x|, elementwise; what is not a number leaves it. The arrays do not overlap.
void nvector_largest(Threads *threads, const double *x, double *largest, size_t n);
// out := x. The arrays do not overlap.
void nvector_copy_large(Threads *threads, const double *x, double *out, size_t n);
static inline void
nvector_copy(Threads *threads, const double *x, double *out, size_t n)
{
    if (threads && n >= THREADS_LEAST)
        nvector_copy_large(threads, x, out, n);
    else
        memcpy(out, x, n * sizeof *out);
}
// True when all values are finite.
bool nvector_finite(const double *x, size_t n);

#endif
