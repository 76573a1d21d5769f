// map.h: hash map from 64-bit keys to 32-bit values (open addressing, insertion never moves values
// a caller keeps, because values are returned by copy). Zero-initialise; key 0 is an ordinary key.
#ifndef MDLC_IR_BASE_MAP_H
#define MDLC_IR_BASE_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct Map {
    uint64_t *keys;
    uint32_t *values; // value + 1; 0 marks a free place
    uint32_t count, capacity;
    uint32_t shift;   // leaves as many high bits of 64 as number the places
} Map;

// Finds `key`; true and *value when present.
bool map_get(const Map *map, uint64_t key, uint32_t *value);
// Sets or replaces. value must be below UINT32_MAX.
void map_put(Map *map, uint64_t key, uint32_t value);
void map_clear(Map *map);
void map_free(Map *map);

// A 64-bit mixer (the finaliser of splitmix64) for building keys of larger things.
static inline uint64_t
hash_mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}
static inline uint64_t
hash_add(uint64_t hash, uint64_t value)
{
    return hash_mix(hash * 0x9e3779b97f4a7c15u + value + 0x7f4a7c15u);
}
uint64_t hash_bytes(const void *bytes, size_t length);

#endif
