// sets.h: disjoint sets of numbers 0 .. n - 1 (union-find; Tarjan, J. ACM 22 (1975) 215), held in a U32Vec.
//
// The smaller root stays the root when two sets join, so that results do not depend on the order of joining.
#ifndef MDLC_IR_BASE_SETS_H
#define MDLC_IR_BASE_SETS_H

#include <stdbool.h>

#include "ir/base/vec.h"

// Appends numbers until there are n, each a set of its own.
static inline void
sets_grow(U32Vec *sets, uint32_t n)
{
    vec_reserve(sets, n);
    while (sets->n < n)
        vec_push(sets, sets->n);
}

// The number that stands for the set of `at`; shortens the path to it.
static inline uint32_t
sets_find(U32Vec *sets, uint32_t at)
{
    uint32_t *up = sets->at;
    while (up[at] != at) {
        up[at] = up[up[at]];
        at = up[at];
    }
    return at;
}

// False when both were in one set already.
static inline bool
sets_join(U32Vec *sets, uint32_t a, uint32_t b)
{
    a = sets_find(sets, a);
    b = sets_find(sets, b);
    sets->at[a > b ? a : b] = a > b ? b : a;
    return a != b;
}

#endif
