// symmetric_eigen.h: eigenvalues and eigenvectors of a symmetric matrix.
#ifndef MDLC_IR_CHECK_SYMMETRIC_EIGEN_H
#define MDLC_IR_CHECK_SYMMETRIC_EIGEN_H

#include <stdint.h>

// Overwrites `at`, n*n; value[n], in no order; the rows of `vectors`, n*n, are orthonormal eigenvectors. Values are right to rounding of the largest.
void symmetric_eigen(uint32_t n, double *at, double *value, double *vectors);

#endif
