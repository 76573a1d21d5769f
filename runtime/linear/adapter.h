// adapter.h: the runtime's own linear solver as SUNDIALS sees it. Included by the steppers only.
#ifndef MDLC_RUNTIME_LINEAR_ADAPTER_H
#define MDLC_RUNTIME_LINEAR_ADAPTER_H

#include <sundials/sundials_linearsolver.h>
#include <sundials/sundials_matrix.h>

// A matrix without entries: the stepper's own Jacobian holds them. NULL: out of memory.
SUNMatrix adapter_matrix(SUNContext context);
// A direct solver over `content`, which the functions find through adapter_content(). NULL: out of memory.
SUNLinearSolver adapter_solver(SUNContext context, void *content, int (*initialize)(SUNLinearSolver),
                               int (*setup)(SUNLinearSolver, SUNMatrix),
                               int (*solve)(SUNLinearSolver, SUNMatrix, N_Vector, N_Vector, realtype));

#endif
