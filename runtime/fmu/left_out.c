// left_out.c: what a unit of a model does not contain.
//
// Purpose: a unit writes no files and integrates by what it chooses itself; small models need no sparse matrices. Method: the linker lets names
// of functions that are never called, or whose failure is foreseen (runtime/linear/lu.c), stand for this one (frontend/command/build_unit.c), so that
// nothing behind them is linked. Contract: 0 is what these functions give when memory is exhausted. Complexity: none.
#include "runtime/fmu/fmu.h"

long
fmu_left_out(void)
{
    return 0;
}
