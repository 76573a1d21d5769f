// dissection.h: an order of elimination in which parts of a large matrix do not touch each other. Included by lu.c only.
#ifndef MDLC_RUNTIME_LINEAR_DISSECTION_H
#define MDLC_RUNTIME_LINEAR_DISSECTION_H

#include <stdint.h>

// Blocks with fewer columns are ordered by AMD as they are: no thread has anything to gain by them.
enum { DISSECTION_LEAST = 20000 };

// Writes the columns of a square pattern with a zero-free diagonal in the order of elimination. Entries of the factor L that follow with pivots
// on the diagonal, 0: out of memory.
double dissection_order(int32_t n, const int32_t *start, const int32_t *row, int32_t *order);

#endif
