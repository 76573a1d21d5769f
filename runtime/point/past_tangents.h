// past_tangents.h: derivatives of values of the past that are looked up with what the dynamics compute (past_tangents.c).
#ifndef MDLC_RUNTIME_POINT_PAST_TANGENTS_H
#define MDLC_RUNTIME_POINT_PAST_TANGENTS_H

#include "runtime/point/tangent.h"

// What values are looked up with: a delay time, the position of a profile.
typedef struct PastPlace {
    uint32_t place;
    int32_t sign;        // sign*v[place] is it
    double used;         // the derivative of it that the last pass was given,
    double first;        // and that which pass 0, which was given none, has said
} PastPlace;

typedef struct PastValue {
    uint32_t value;      // place in v
    uint32_t with;       // of PastPlace
    double base, slope;  // it moves by base - slope*used
} PastValue;

typedef struct PastTangents {
    PastPlace *place;
    PastValue *value;
    double *matrix;      // n*n: what the passes say of places when one of those before them moves
    uint32_t n, values;  // in the direction that was seeded last
} PastTangents;

MDL_CHECKED bool past_tangents_create(PastTangents *past, const mdl_model *model); // false: out of memory
void past_tangents_free(PastTangents *past);
void past_tangents_add(PastTangents *past, uint32_t place, int32_t sign, uint32_t value, double base, double slope);
// Behind pass 0, 1, ... over the tangents of the dynamics, whose direction was seeded with the bases. True: the tangents of the values are others
// now, and another pass is wanted.
bool past_tangents_choose(const Tangent *tangent, PastTangents *past, unsigned pass);

#endif
