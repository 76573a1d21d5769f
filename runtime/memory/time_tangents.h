// time_tangents.h: derivatives of delay times that the dynamics compute (time_tangents.c).
#ifndef MDLC_RUNTIME_MEMORY_TIME_TANGENTS_H
#define MDLC_RUNTIME_MEMORY_TIME_TANGENTS_H

#include "runtime/point/run.h"

typedef struct TimeTangents {
    uint32_t n;          // delays whose times are computed
    uint32_t *delay;     // n: which ones
    double *base;        // n: derivatives of the delayed values as long as these times do not move,
    double *used;        // those of the times that the last pass was given,
    double *first;       // and those that pass 0, which was given none, has said
    double *matrix;      // n*n: what the passes say of times when one of those before them moves
} TimeTangents;

MDL_CHECKED bool time_tangents_create(TimeTangents *tangents, const mdl_model *model); // false: out of memory
void time_tangents_free(TimeTangents *tangents);
// Behind pass 0, 1, ... over the tangents of the dynamics, whose direction was seeded without times that move; slope: per delay of the model, of what
// was delayed. True: the tangents of the delayed values are others now, and another pass is wanted.
bool time_tangents_choose(const Run *run, TimeTangents *tangents, const double *slope, unsigned pass);

#endif
