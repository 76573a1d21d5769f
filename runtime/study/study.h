// study.h: the door of runtime/study: what is asked about a motion besides its rows.
//
// In: a run at a point.
// Out: linear systems, equilibria, directional derivatives, sensitivities; values set by name.
// Read first: linearize.c, then sensitivities.c.
// Also open to other rooms: linearize.h.
#ifndef MDLC_RUNTIME_STUDY_STUDY_H
#define MDLC_RUNTIME_STUDY_STUDY_H

#include "runtime/point/run.h"

// --- linearize.c
struct mdl_linear;
struct mdl_linear_request;
// mdl_linearize() at run->time, run->y.
MDL_CHECKED int linearize_run(Run *run, const struct mdl_linear_request *request, struct mdl_linear *out);

// --- steady.c: options.steady
// Moves the states in run->y to an equilibrium, with inputs, parameters and discrete variables as they are. v is there.
MDL_CHECKED int steady_find(Run *run);

#endif
