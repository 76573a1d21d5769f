// assign.h: the assignment of rows to columns with the largest sum of gains.
#ifndef MDLC_IR_CHECK_ASSIGN_H
#define MDLC_IR_CHECK_ASSIGN_H

#include <stdint.h>

#define ASSIGN_NEVER (-1e6) // the gain of a pair that is taken only when there is no other way

// gain: n x n, row-major. column_of: n. O(n^3).
void assign_most(const double *gain, uint32_t n, uint32_t *column_of);

#endif
