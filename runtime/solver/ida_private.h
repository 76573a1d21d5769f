// ida_private.h: the memory of IDA, the one place that names a private header of SUNDIALS.
//
// Two things are not to be had through the public interface. history.c gives IDA a past (differences, order and steps at which an
// integration goes on after an event, or from a saved state): IDAReInit() begins at order 1, as IDACreate() does. corrector.c is a
// SUNNonlinearSolver that reads the predictions, weights and the coefficient of the step where IDA's own iteration does.
// What the members mean may change with any release, at the same names and types. So releases are listed that were compared with what these two
// files do: IDAStep(), IDACompleteStep(), IDASetCoeffs() and IDANls() of ida.c, IDAMemRec of ida_impl.h. To add one, compare these functions,
// run the suite with it, and put it here; Debian 12 has 6.4.1.
#ifndef MDLC_RUNTIME_SOLVER_IDA_PRIVATE_H
#define MDLC_RUNTIME_SOLVER_IDA_PRIVATE_H

#include <ida/ida.h>
#include <ida/ida_impl.h>
#include <sundials/sundials_config.h>

_Static_assert(SUNDIALS_VERSION_MAJOR == 6 && SUNDIALS_VERSION_MINOR == 4,
               "this release of SUNDIALS has not been compared with what is read and written of IDA's memory: runtime/solver/ida_private.h says how");
// How far the tables of the past reach, as history.c fills them.
_Static_assert(MXORDP1 == 6 && sizeof((IDAMem)0)->ida_phi / sizeof *((IDAMem)0)->ida_phi == MXORDP1
                   && sizeof((IDAMem)0)->ida_psi / sizeof *((IDAMem)0)->ida_psi == MXORDP1,
               "the tables of IDA's past have another size: runtime/solver/ida_private.h");

#endif
