// pattern.c: memo of work done once per shape and pattern of its slots. See pattern.h.
//
// Purpose: what thousands of rows share is computed once. Method: open addressing with a table of a power of two, doubled when it is half
// full.
// Complexity: expected time linear in the number of slots per call; old tables stay in the arena (at most
// as much again as the newest one).
// Contract: pattern.h.
#include "ir/dae/pattern.h"

#include <string.h>

#include "ir/base/map.h"

static uint64_t
pattern_hash(Expr shape, const uint32_t *slots, uint32_t n)
{
    uint64_t hash = hash_add(n, shape);
    for (uint32_t k = 0; k < n; k++)
        hash = hash_add(hash, slots[k]);
    return hash;
}

static Pattern **
place_of(const Patterns *patterns, uint64_t hash, Expr shape, const uint32_t *slots, uint32_t n)
{
    uint32_t mask = patterns->capacity - 1;
    for (uint32_t at = (uint32_t)hash & mask;; at = (at + 1) & mask) {
        Pattern *entry = patterns->table[at];
        if (!entry)
            return &patterns->table[at];
        if (entry->hash == hash && entry->shape == shape && entry->n == n &&
            !memcmp(entry->slots, slots, n * sizeof *slots))
            return &patterns->table[at];
    }
}

const Pattern *
patterns_find(const Patterns *patterns, Expr shape, const uint32_t *slots, uint32_t n)
{
    if (!patterns->capacity)
        return NULL;
    return *place_of(patterns, pattern_hash(shape, slots, n), shape, slots, n);
}

static void
grow(Patterns *patterns)
{
    Pattern **old = patterns->table;
    uint32_t old_capacity = patterns->capacity;
    patterns->capacity = old_capacity ? old_capacity * 2 : 64;
    patterns->table = arena_array(patterns->arena, Pattern *, patterns->capacity);
    for (uint32_t i = 0; i < old_capacity; i++)
        if (old[i])
            *place_of(patterns, old[i]->hash, old[i]->shape, old[i]->slots, old[i]->n) = old[i];
}

static const uint32_t *
copy(Arena *arena, const uint32_t *from, uint32_t n)
{
    uint32_t *to = arena_array(arena, uint32_t, n);
    if (n)
        memcpy(to, from, n * sizeof *to);
    return to;
}

const Pattern *
patterns_add(Patterns *patterns, Expr shape, const uint32_t *slots, uint32_t n, Expr result,
             const uint32_t *source, uint32_t n_result)
{
    if (patterns->count * 2 >= patterns->capacity)
        grow(patterns);
    Pattern *entry = arena_new(patterns->arena, Pattern);
    *entry = (Pattern){
        .hash = pattern_hash(shape, slots, n), .shape = shape, .result = result, .n = n, .n_result = n_result,
        .slots = copy(patterns->arena, slots, n), .source = copy(patterns->arena, source, n_result),
    };
    *place_of(patterns, entry->hash, shape, slots, n) = entry;
    patterns->count++;
    return entry;
}
