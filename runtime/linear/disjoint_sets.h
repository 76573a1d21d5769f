// disjoint_sets.h: disjoint sets of numbers 0 .. n - 1 (union-find; Tarjan, J. ACM 22 (1975) 215) in an array of the caller's.
#ifndef MDLC_RUNTIME_LINEAR_DISJOINT_SETS_H
#define MDLC_RUNTIME_LINEAR_DISJOINT_SETS_H

#include <stdint.h>

// Each number a set of its own.
static inline void
sets_begin(uint32_t *parent, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        parent[i] = i;
}

// The number that stands for the set of i; shortens the path to it.
static inline uint32_t
sets_find(uint32_t *parent, uint32_t i)
{
    while (parent[i] != i)
        i = parent[i] = parent[parent[i]];
    return i;
}

// The set of b takes in that of a.
static inline void
sets_join(uint32_t *parent, uint32_t a, uint32_t b)
{
    parent[sets_find(parent, a)] = sets_find(parent, b);
}

#endif
