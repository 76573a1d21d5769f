// shell.h: the door of runtime/shell: a whole run, and the programs around it.
//
// In: options.
// Out: mdl_simulate() and runs that are driven (driven_run.c) or integrated outside (exchange.c), the command line of built programs, the embedding interface (embed.h).
// Read first: simulate.c, then advance.c.
// Also open to other rooms: options.h, run_program.h.
#ifndef MDLC_RUNTIME_SHELL_SHELL_H
#define MDLC_RUNTIME_SHELL_SHELL_H

#include "runtime/point/run.h"

// advance.c: everything that happens at an event. other: something else than a delayed event makes it.
MDL_CHECKED int simulate_event(Run *run, double instant, bool located, bool other);
// Once the integrator is ready: what relations with time change just after the start is an event of its own there.
MDL_CHECKED int simulate_leave_start(Run *run);

#endif
