// collocation.h: the coefficients of Gauss-Legendre collocation with four stages (order 8).
#ifndef MDLC_RUNTIME_LINEAR_COLLOCATION_H
#define MDLC_RUNTIME_LINEAR_COLLOCATION_H

#include <stdint.h>

enum { GAUSS_STAGES = 4 };
enum { GAUSS_POINTS = 4 }; // of the polynomial within a step, each with value and slope

typedef struct Collocation {
    double node[GAUSS_STAGES];                 // c_i in (0, 1)
    double weight[GAUSS_STAGES];               // b_j: y1 = y0 + h * sum of b_j f_j
    double inner[GAUSS_STAGES][GAUSS_STAGES];  // a_ij: Y_i = y0 + h * sum of a_ij f_j
    double lower[GAUSS_STAGES][GAUSS_STAGES];  // T of A = T U, T lower triangular, U with ones on its diagonal
} Collocation;

void collocation_init(Collocation *method);
// The Lagrange polynomials over `count` points at x: sum of value[j] f(point[j]) interpolates f there.
void collocation_lagrange(const double *point, uint32_t count, double x, double *value);

#endif
