// linear.h: the door of runtime/linear: linear algebra of small and sparse systems.
//
// In: matrices.
// Out: factors, ranks and null spaces, regular parts of redundant blocks, vectors and matrices for SUNDIALS, collocation; lengths of vectors, random numbers.
// Read first: lu.h, then rank.c.
// Also open to other rooms: adapter.h, block_vectors.h, bordered.h, collocation.h, disjoint_sets.h, dop853_rule.h, gauss_wide.h, lu.h, nvector.h, radau_rule.h, radau_wide.h, rank.h,
// regular_block.h, shifted.h, standing.h, sundials.h.
#ifndef MDLC_RUNTIME_LINEAR_LINEAR_H
#define MDLC_RUNTIME_LINEAR_LINEAR_H

#include <math.h>
#include <stdint.h>

static inline double
vector_length(const double *x, uint32_t n)
{
    double sum = 0;
    for (uint32_t i = 0; i < n; i++)
        sum += x[i] * x[i];
    return sqrt(sum);
}

// The next of numbers between -1 and 1 that follow from `state`, which is not 0 (Marsaglia, Xorshift RNGs, J. Stat. Softw. 8 (2003) 14).
static inline double
random_around_zero(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (double)(*state >> 11) / 4503599627370496.0 - 1;
}

#endif
