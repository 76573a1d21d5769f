// order.h: the order of numbers, for qsort and bsearch, and the place of one among others.
#ifndef MDLC_RUNTIME_MODEL_ORDER_H
#define MDLC_RUNTIME_MODEL_ORDER_H

#include <stddef.h>
#include <stdint.h>

static inline int
ascending_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

static inline int
ascending_f64(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// The first of at[low..high), which ascend, that is larger than x; `high`: none is.
static inline size_t
first_above(const double *at, size_t low, size_t high, double x)
{
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (at[middle] > x)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

#endif
