// simulator.h: the program around one compiled model: what `mdlc build` links it to.
#ifndef MDLC_RUNTIME_SHELL_SIMULATOR_H
#define MDLC_RUNTIME_SHELL_SIMULATOR_H

#include "runtime/model/model.h"

// Takes the options of a run (options.h) and --help; the exit code of the process (sim.h).
MDL_CHECKED int simulator_main(const mdl_model *model, int argc, char **argv);

#endif
