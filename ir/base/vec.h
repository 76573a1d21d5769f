// vec.h: growing arrays of any element type.
//
//     VEC(double) v = {0};            // zero is the empty vector
//     vec_push(&v, 3.0);  v.at[0];  v.n;
//     vec_free(&v);
//
// Elements move when the array grows: keep indices, not pointers. Counts are 32 bits wide.
#ifndef MDLC_IR_BASE_VEC_H
#define MDLC_IR_BASE_VEC_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"

#define VEC(Type) struct { Type *at; uint32_t n, capacity; }

typedef VEC(uint32_t) U32Vec;
typedef VEC(int32_t) I32Vec;
typedef VEC(double) F64Vec;
typedef VEC(uint8_t) U8Vec;

// What is asked for at once is taken as it is; what grows step by step doubles, and when it is large grows by half.
static inline uint32_t
vec_larger(uint32_t capacity, uint32_t want)
{
    uint32_t more = capacity < 4 ? 8 - capacity : capacity < 1u << 20 ? capacity : capacity / 2;
    uint32_t larger = capacity < UINT32_MAX - more ? capacity + more : UINT32_MAX;
    return want > larger ? want : larger;
}

#define vec_reserve(v, want) \
    do { \
        if ((v)->capacity < (uint32_t)(want)) { \
            uint32_t cap_ = vec_larger((v)->capacity, (uint32_t)(want)); \
            (v)->at = base_realloc((v)->at, sizeof *(v)->at * (size_t)cap_); \
            (v)->capacity = cap_; \
        } \
    } while (0)

#define vec_push(v, ...) \
    do { \
        vec_reserve((v), (v)->n + 1); \
        (v)->at[(v)->n] = (__VA_ARGS__); \
        (v)->n++; \
    } while (0)

// Appends `count` zeroed elements.
#define vec_grow(v, count) \
    do { \
        uint32_t more_ = (uint32_t)(count); \
        vec_reserve((v), (v)->n + more_); \
        if (more_) \
            memset((v)->at + (v)->n, 0, sizeof *(v)->at * (size_t)more_); \
        (v)->n += more_; \
    } while (0)

// Appends `count` elements of one value.
#define vec_fill(v, count, ...) \
    do { \
        uint32_t begin_ = (v)->n, end_ = begin_ + (uint32_t)(count); \
        vec_reserve((v), end_); \
        (v)->n = end_; \
        for (uint32_t i_ = begin_; i_ < end_; i_++) \
            (v)->at[i_] = (__VA_ARGS__); \
    } while (0)

// Appends `count` elements copied from `from` (which must not lie inside the vector).
#define vec_append(v, from, count) \
    do { \
        uint32_t more_ = (uint32_t)(count); \
        vec_reserve((v), (v)->n + more_); \
        if (more_) \
            memcpy((v)->at + (v)->n, (from), sizeof *(v)->at * (size_t)more_); \
        (v)->n += more_; \
    } while (0)

#define vec_last(v) ((v)->at[(v)->n - 1])
#define vec_pop(v) ((v)->at[--(v)->n])
#define vec_drop(v) ((void)--(v)->n) // forgets the last element
#define vec_clear(v) ((v)->n = 0)
// Gives back what was reserved for elements that did not come.
#define vec_trim(v) \
    do { \
        if ((v)->n && (v)->n < (v)->capacity) { \
            (v)->at = base_realloc((v)->at, sizeof *(v)->at * (size_t)(v)->n); \
            (v)->capacity = (v)->n; \
        } \
    } while (0)
#define vec_free(v) \
    do { \
        free((v)->at); \
        (v)->at = NULL; \
        (v)->n = (v)->capacity = 0; \
    } while (0)

#endif
