// pattern.h: memo of work done once per shape and pattern of its slots.
//
// A pattern is one number per slot of a shape that says all the work depends on (which alias a slot stands
// for, whether it has a rate). The result is another shape and, for each of its slots, which old
// slot (or other source, the user's choice) it comes from. Everything lives in the arena given.
#ifndef MDLC_IR_DAE_PATTERN_H
#define MDLC_IR_DAE_PATTERN_H

#include "ir/base/arena.h"
#include "ir/expr/expr_id.h"

typedef struct Pattern {
    uint64_t hash;
    Expr shape, result;
    uint32_t n, n_result;
    const uint32_t *slots;  // n: the pattern
    const uint32_t *source; // n_result: where slot k of the result comes from
} Pattern;

// Zero-initialise but for `arena`.
typedef struct Patterns {
    Arena *arena;
    Pattern **table; // open addressing, capacity a power of two
    uint32_t count, capacity;
} Patterns;

// The entry of (shape, slots[0..n)) or NULL.
const Pattern *patterns_find(const Patterns *patterns, Expr shape, const uint32_t *slots, uint32_t n);
// Adds an entry (copies the arrays); the key must not be present.
const Pattern *patterns_add(Patterns *patterns, Expr shape, const uint32_t *slots, uint32_t n, Expr result,
                            const uint32_t *source, uint32_t n_result);

#endif
