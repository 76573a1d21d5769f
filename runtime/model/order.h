// order.h: the order of numbers, for qsort and bsearch.
#ifndef MDLC_RUNTIME_MODEL_ORDER_H
#define MDLC_RUNTIME_MODEL_ORDER_H

#include <stdint.h>

static inline int
ascending_u32(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return x < y ? -1 : x > y;
}

#endif
