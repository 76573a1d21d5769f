// straight.h: programs without branches and loops, of which whoever has a compiler at hand makes machine code while a model runs.
//
// A program computes values one after the other, each in one register x that begins with ZERO or LOAD and goes to a place with STORE. Places are those of
// three arrays of doubles, of which a program does not store into the first. Each operation is rounded once, in its order; LESS is one where the
// processor has it as one.
#ifndef MDLC_RUNTIME_MODEL_STRAIGHT_H
#define MDLC_RUNTIME_MODEL_STRAIGHT_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/model/checked.h"

typedef enum mdl_straight_kind {
    MDL_STRAIGHT_ZERO,   // x = 0
    MDL_STRAIGHT_LOAD,   // x = a
    MDL_STRAIGHT_LESS,   // x = x - a*b, rounded once where mdl_straight_fuses(), else the product, too
    MDL_STRAIGHT_TIMES,  // x = x*a
    MDL_STRAIGHT_INVERT, // x = 1/x
    MDL_STRAIGHT_STORE   // a = x
} mdl_straight_kind;

enum { MDL_STRAIGHT_PLACES = 1 << 28 }; // of an array

// Whether this processor multiplies and subtracts in one operation. Whoever computes the same without a translator does as it says.
static inline bool
mdl_straight_fuses(void)
{
#if defined __x86_64__
    return __builtin_cpu_supports("fma");
#elif defined __aarch64__
    return true;
#else
    return false;
#endif
}

typedef struct mdl_straight_op {
    uint32_t kind, a, b; // mdl_straight_kind; mdl_straight_place()
} mdl_straight_op;

static inline uint32_t
mdl_straight_place(uint32_t array, uint32_t place)
{
    return array * (uint32_t)MDL_STRAIGHT_PLACES + place;
}

typedef struct mdl_straight {
    mdl_straight_op *op;
    uint32_t n;
} mdl_straight;

typedef void mdl_straight_fn(double *first, double *second, double *third);

// Who translates. Functions may be called by several threads at once.
typedef struct mdl_translator {
    void *self;
    // One function per program, until *made is given to release(); false: there are none.
    MDL_CHECKED bool (*make)(void *self, const mdl_straight *program, uint32_t n, mdl_straight_fn **fn, void **made);
    void (*release)(void *self, void *made);
    bool at_once; // nothing is waited for: what is tested is the code, not whether it pays
} mdl_translator;

#endif
