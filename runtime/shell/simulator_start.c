// simulator_start.c: where a built simulator begins. `mdlc build` makes the model it names.
//
// Purpose: main() of built programs, apart from the rest so that libraries have none. Method: none.
// Contract: simulator.h. Complexity: that of the run.
#include "runtime/shell/simulator.h"

extern const mdl_model mdl_program;

int
main(int argc, char **argv)
{
    return simulator_main(&mdl_program, argc, argv);
}
