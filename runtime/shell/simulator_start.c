// simulator_start.c: where a built simulator begins. `mdlc build` makes the model it names.
#include "runtime/shell/simulator.h"

extern const mdl_model mdl_program;

int
main(int argc, char **argv)
{
    return simulator_main(&mdl_program, argc, argv);
}
