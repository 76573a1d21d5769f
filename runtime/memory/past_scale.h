// past_scale.h: how long steps may be that read a stretch of the past (past_scale.c).
#ifndef MDLC_RUNTIME_MEMORY_PAST_SCALE_H
#define MDLC_RUNTIME_MEMORY_PAST_SCALE_H

#include "runtime/point/run.h"

// Stored points; those from `first` on, or with `backward` down from there, are read next, one after the other.
typedef struct Past {
    const double *at, *value;  // places (times, or positions of material) and one value per `stride` numbers
    const uint8_t *starts;     // per point: between it and the one before nothing is smooth; NULL: none is such
    size_t stride, points, first;
    bool backward, falling;    // their places become smaller while they are read
    double nothing;            // values are right to this only: changes below it are none
} Past;

// Of steps that read on from place `from`, `first` being the nearest point beyond it, until they have read `longest`: what they may read at once,
// and at most up to where. Both infinite: nothing is known.
typedef struct PastScale {
    double pace, end;
} PastScale;

PastScale past_scale(const Run *run, const Past *past, double from, double longest, double shortest);

#endif
