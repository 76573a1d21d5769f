// root_inner.h: what root.c, sightings.c and answers.c share.
#ifndef MDLC_RUNTIME_EVENT_ROOT_INNER_H
#define MDLC_RUNTIME_EVENT_ROOT_INNER_H

#include "runtime/point/run.h"

// --- root.c
// Fills run->phi with the guard functions at the point in v; a blind guard is shifted by its band.
void root_compute(Run *run);

// --- answers.c
// Whether an amount of the function of relation k is more than errors of the states make of it. Below that it is not known whether the
// condition changes, and looking again finds what the next step contradicts.
bool answer_is_known(Run *run, uint32_t k, double amount);
// How large the function of relation k may be and still be noise; it is not looked at closely where a size of `wanted` is noise anyway.
double answer_to_noise(Run *run, uint32_t k, double wanted);

#endif
