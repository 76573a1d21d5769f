// nvector.h: vectorised operations for SUNDIALS' serial vectors (the packaged ones are not optimised).
#ifndef MDLC_RUNTIME_NVECTOR_H
#define MDLC_RUNTIME_NVECTOR_H

#include <stdbool.h>
#include <stddef.h>

#include <sundials/sundials_nvector.h>

// Replaces the operations IDA uses in its steps; clones inherit them.
void nvector_accelerate(N_Vector vector);

// out := a - b. The arrays do not overlap.
void nvector_difference(const double *a, const double *b, double *out, size_t n);
// True when all values are finite.
bool nvector_finite(const double *x, size_t n);

#endif
