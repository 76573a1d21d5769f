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

// Where the next step must end at the latest.
double simulate_limit(Run *run);
// The next output points up to a time, at most so many; their number.
uint32_t simulate_points(const Run *run, double until, double *point, uint32_t most);

// --- simulate.c
// A whole run is its beginning, up to the first step, steps while it goes on, and its end, which gets the status so far.
typedef struct Watch {
    double begun, shown; // clock of the beginning, of the latest look at the progress
    bool integrates;     // it has come to the integration
} Watch;
MDL_CHECKED int simulate_begin(Run *run, Watch *clock);
bool simulate_goes_on(const Run *run);
MDL_CHECKED int simulate_step(Run *run, Watch *clock);
MDL_CHECKED int simulate_end(Run *run, const Watch *clock, int status);
MDL_CHECKED int simulate_start(Run *run); // consistent values, and the first row
unsigned simulate_flush_subnormals(void); // returns what float_control_set() brings back

#endif
