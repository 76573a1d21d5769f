// nvector.h: vectorised operations for SUNDIALS' serial vectors (the packaged ones are not optimised).
#ifndef MDLC_RUNTIME_NVECTOR_H
#define MDLC_RUNTIME_NVECTOR_H

#include <sundials/sundials_nvector.h>

// Replaces the operations IDA uses in its steps; clones inherit them.
void nvector_accelerate(N_Vector vector);

#endif
