// sense.h: forward sensitivities: what sense.c, saltation.c and the run share.
#ifndef MDLC_RUNTIME_SENSE_H
#define MDLC_RUNTIME_SENSE_H

#include "runtime/run.h"
#include "runtime/tangent.h"

struct Sense {
    const mdl_sense *wanted;
    Tangent *tangent;
    uint32_t nx, n;      // states, parameters
    double **image;      // per parameter: the tangents of parameters and discrete variables (shift places)
    double *s;           // n*nx: sensitivities of the states at run->time
    double *present;     // n*nx: at the point in v: within the last step, or at an event
    // An event: v and sensitivities before it, and what triggered it.
    double *left, *left_s, *after, *tau, *fresh;
    uint8_t *trigger;    // per guard
    struct Stepping *stepping; // of sense.c
};

// Tangents of everything for parameter p with the sensitivities s of the states, as far as `image` has them; dynamics are
// not called yet.
void sense_seed(const Run *run, uint32_t p, const double *s);

#endif
