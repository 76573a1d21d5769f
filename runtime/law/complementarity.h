// complementarity.h: impulses (or forces) of unilateral constraints and of the friction on them.
#ifndef MDLC_RUNTIME_LAW_COMPLEMENTARITY_H
#define MDLC_RUNTIME_LAW_COMPLEMENTARITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What one unknown z of the problem obeys, with s = M z + q and a = L z:
//   HOLD: s = 0.
//   PUSH: 0 <= z complementary to s >= 0.
//   RUB:  |z| <= a, z = -a*s/|s| where s is not zero; for one component, or for two or three together (`of`).
enum { COMPLEMENT_HOLD, COMPLEMENT_PUSH, COMPLEMENT_RUB };

// Compressed columns of a matrix; rows ascend in each column.
typedef struct ComplementMatrix {
    uint32_t *start, *row;
    double *value;
} ComplementMatrix;

typedef struct Complementarity {
    uint32_t n;
    uint8_t *kind;              // n
    uint8_t *of;                // n: of RUB, how many components follow each other, at the first of them; otherwise 0
    ComplementMatrix answer;    // M; its diagonal entries are positive
    ComplementMatrix limit;     // L; rows of the first components of RUB, columns of PUSH
    double *offset;             // n: q
    double *z;                  // n: the result
    uint8_t *active;            // n, a result: s is zero there because z holds it
    // Of the result: what is left of the conditions above relative to the terms that each one is the sum of.
    double residual;
} Complementarity;

// Room for n unknowns and so many entries of both matrices, all zero. False: out of memory; to be freed all the same.
bool complementarity_allocate(Complementarity *problem, size_t answers, size_t limits);
void complementarity_free(Complementarity *problem);

// Solves. False: out of memory, or no z was found that fulfils the conditions; z is then the best that was found. Where several z
// do with one motion (redundant contacts), z is that with the least sum of M_kk*z_k^2, up to about 1e-10.
bool complementarity_solve(Complementarity *problem);

// The active set of a problem with lines of friction only, by pivoting: PUSH with z > 0, RUB with their side (-1, 0, +1: z = side*a
// or s = 0). Dense `m` (n x n by rows) and `limit` likewise; no HOLD. False: out of memory, or the pivots end on a ray.
bool lemke_solve(uint32_t n, const uint8_t *kind, const double *m, const double *limit, const double *offset, int8_t *side);

#endif
