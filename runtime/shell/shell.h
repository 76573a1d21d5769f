// shell.h: the door of runtime/shell: a whole run, and the programs around it.
//
// In: options.
// Out: mdl_simulate() and runs that are driven (simulate.c), the command line of built programs, the embedding interface (embed.h).
// Read first: simulate.c.
// Also open to other rooms: options.h, run_program.h.
#ifndef MDLC_RUNTIME_SHELL_SHELL_H
#define MDLC_RUNTIME_SHELL_SHELL_H

#endif
