// map.c: hash maps from 64-bit keys to 32-bit values.
//
// Purpose: the one associative array of the compiler. Method: open addressing with linear probing, a power of two places, doubled when two
// thirds are taken. A key's place is the high bits of a multiple of it (Knuth, The Art of Computer Programming 3, section 6.4): keys are
// small numbers, pairs of them or hashes, which this spreads, and nearly all that a question costs is to find the place.
// Contract: map.h. Complexity: constant expected time per call.
#include "ir/base/map.h"

#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

uint64_t
hash_bytes(const void *bytes, size_t length)
{
    const unsigned char *p = bytes;
    uint64_t hash = length;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, p, 8);
        hash = hash_add(hash, word);
        p += 8;
        length -= 8;
    }
    uint64_t tail = 0;
    if (length) // otherwise there may be no bytes at all
        memcpy(&tail, p, length);
    return hash_add(hash, tail);
}

static inline uint32_t
place_of(const Map *map, uint64_t key)
{
    uint32_t mask = map->capacity - 1;
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15u >> map->shift);
    while (map->values[at] && map->keys[at] != key)
        at = (at + 1) & mask;
    return at;
}

bool
map_get(const Map *map, uint64_t key, uint32_t *value)
{
    if (!map->capacity)
        return false;
    uint32_t at = place_of(map, key);
    if (!map->values[at])
        return false;
    *value = map->values[at] - 1;
    return true;
}

static void
map_rehash(Map *map, uint32_t capacity)
{
    Map old = *map;
    map->keys = base_calloc(capacity, sizeof *map->keys);
    map->values = base_calloc(capacity, sizeof *map->values);
    map->capacity = capacity;
    map->shift = (uint32_t)__builtin_clz(capacity) + 33;
    for (uint32_t i = 0; i < old.capacity; i++) {
        if (!old.values[i])
            continue;
        uint32_t at = place_of(map, old.keys[i]);
        map->keys[at] = old.keys[i];
        map->values[at] = old.values[i];
    }
    free(old.keys);
    free(old.values);
}

void
map_put(Map *map, uint64_t key, uint32_t value)
{
    if ((map->count + 1) * 3ull >= map->capacity * 2ull)
        map_rehash(map, map->capacity ? map->capacity * 2 : 16);
    uint32_t at = place_of(map, key);
    if (!map->values[at]) {
        map->keys[at] = key;
        map->count++;
    }
    map->values[at] = value + 1;
}

void
map_clear(Map *map)
{
    if (map->capacity)
        memset(map->values, 0, sizeof *map->values * map->capacity);
    map->count = 0;
}

void
map_free(Map *map)
{
    free(map->keys);
    free(map->values);
    memset(map, 0, sizeof *map);
}
