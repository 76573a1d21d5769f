// simulate.h: what runs to the end (simulate.c) and runs that are driven (driven_run.c) are made of. Private to runtime/shell.
#ifndef MDLC_RUNTIME_SHELL_SIMULATE_H
#define MDLC_RUNTIME_SHELL_SIMULATE_H

#include "runtime/shell/shell.h"

// --- run_parts.c: with .model, .options and .stats set. Parts are freed also where setting up has failed.
MDL_CHECKED int simulate_set_up(Run *run);
void simulate_clean_up(Run *run);

// --- advance.c
// One step of the integrator, to `stop` at most, with all that follows from it: rows, and an event where there is one, which with
// run->holds is left in run->held.
MDL_CHECKED int simulate_advance(Run *run, double stop);

// --- simulate.c
MDL_CHECKED int simulate_start(Run *run); // consistent values, and the first row
unsigned simulate_flush_subnormals(void); // returns what float_control_set() brings back

#endif
