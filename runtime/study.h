// study.h
#ifndef MDLC_RUNTIME_STUDY_H
#define MDLC_RUNTIME_STUDY_H

#include "runtime/run.h"

// --- linearize.c
struct mdl_linear;
struct mdl_linear_request;
// mdl_linearize() at run->time, run->y.
MDL_CHECKED int linearize_run(Run *run, const struct mdl_linear_request *request, struct mdl_linear *out);

// --- steady.c: options.steady
// Moves the states in run->y to an equilibrium, with inputs, parameters and discrete variables as they are. v is there.
MDL_CHECKED int steady_find(Run *run);

#endif
