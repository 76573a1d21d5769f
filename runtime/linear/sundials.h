// sundials.h: what SUNDIALS (Hindmarsh et al., ACM Trans. Math. Softw. 31 (2005) 363) returns is looked at.
//
// Its functions are declared once more, as those whose status must not be dropped: a call that does so does not compile. Out of memory is
// MDL_INTERNAL with a sentence, and everything else what its caller makes of it.
#ifndef MDLC_RUNTIME_LINEAR_SUNDIALS_H
#define MDLC_RUNTIME_LINEAR_SUNDIALS_H

#include <arkode/arkode_erkstep.h>
#include <cvode/cvode.h>
#include <ida/ida.h>

#include "runtime/model/checked.h"

MDL_CHECKED int SUNContext_Create(void *comm, SUNContext *context);

MDL_CHECKED int IDAInit(void *ida, IDAResFn residual, realtype time, N_Vector y, N_Vector yp);
MDL_CHECKED int IDAReInit(void *ida, realtype time, N_Vector y, N_Vector yp);
MDL_CHECKED int IDAWFtolerances(void *ida, IDAEwtFn weights);
MDL_CHECKED int IDASetErrHandlerFn(void *ida, IDAErrHandlerFn handler, void *user);
MDL_CHECKED int IDASetUserData(void *ida, void *user);
MDL_CHECKED int IDASetNonlinearSolver(void *ida, SUNNonlinearSolver solver);
MDL_CHECKED int IDASetMaxStep(void *ida, realtype step);
MDL_CHECKED int IDASetInitStep(void *ida, realtype step);
MDL_CHECKED int IDASetStopTime(void *ida, realtype time);
MDL_CHECKED int IDASolve(void *ida, realtype limit, realtype *time, N_Vector y, N_Vector yp, int task);
MDL_CHECKED int IDAGetNumErrTestFails(void *ida, long int *count);
MDL_CHECKED int IDAGetNumNonlinSolvConvFails(void *ida, long int *count);
MDL_CHECKED int IDAGetEstLocalErrors(void *ida, N_Vector errors);
MDL_CHECKED int IDAGetErrWeights(void *ida, N_Vector weights);
MDL_CHECKED int IDAGetCurrentStep(void *ida, realtype *step);
MDL_CHECKED int IDAGetLastOrder(void *ida, int *order);

MDL_CHECKED int CVodeInit(void *cvode, CVRhsFn right_side, realtype time, N_Vector y);
MDL_CHECKED int CVodeReInit(void *cvode, realtype time, N_Vector y);
MDL_CHECKED int CVodeWFtolerances(void *cvode, CVEwtFn weights);
MDL_CHECKED int CVodeSetErrHandlerFn(void *cvode, CVErrHandlerFn handler, void *user);
MDL_CHECKED int CVodeSetUserData(void *cvode, void *user);
MDL_CHECKED int CVodeSetLinearSolver(void *cvode, SUNLinearSolver solver, SUNMatrix matrix);
MDL_CHECKED int CVodeSetNonlinearSolver(void *cvode, SUNNonlinearSolver solver);
MDL_CHECKED int CVodeSetLinSysFn(void *cvode, CVLsLinSysFn fill);
MDL_CHECKED int CVodeSetMaxNumSteps(void *cvode, long int most);
MDL_CHECKED int CVodeSetMaxErrTestFails(void *cvode, int most);
MDL_CHECKED int CVodeSetMaxStep(void *cvode, realtype step);
MDL_CHECKED int CVodeSetInitStep(void *cvode, realtype step);
MDL_CHECKED int CVodeSetStopTime(void *cvode, realtype time);
MDL_CHECKED int CVodeSetNonlinConvCoef(void *cvode, realtype coefficient);
MDL_CHECKED int CVode(void *cvode, realtype limit, N_Vector y, realtype *time, int task);
MDL_CHECKED int CVodeGetDky(void *cvode, realtype time, int order, N_Vector out);
MDL_CHECKED int CVodeGetCurrentGamma(void *cvode, realtype *gamma);
MDL_CHECKED int CVodeGetNumErrTestFails(void *cvode, long int *count);
MDL_CHECKED int CVodeGetNumNonlinSolvConvFails(void *cvode, long int *count);
MDL_CHECKED int CVodeGetEstLocalErrors(void *cvode, N_Vector errors);
MDL_CHECKED int CVodeGetErrWeights(void *cvode, N_Vector weights);
MDL_CHECKED int CVodeGetLastStep(void *cvode, realtype *step);
MDL_CHECKED int CVodeGetLastOrder(void *cvode, int *order);

MDL_CHECKED int ERKStepReInit(void *erk, ARKRhsFn right_side, realtype time, N_Vector y);
MDL_CHECKED int ERKStepWFtolerances(void *erk, ARKEwtFn weights);
MDL_CHECKED int ERKStepSetErrHandlerFn(void *erk, ARKErrHandlerFn handler, void *user);
MDL_CHECKED int ERKStepSetUserData(void *erk, void *user);
MDL_CHECKED int ERKStepSetOrder(void *erk, int order);
MDL_CHECKED int ERKStepSetInterpolantDegree(void *erk, int degree);
MDL_CHECKED int ERKStepSetMaxNumSteps(void *erk, long int most);
MDL_CHECKED int ERKStepSetMaxStep(void *erk, realtype step);
MDL_CHECKED int ERKStepSetInitStep(void *erk, realtype step);
MDL_CHECKED int ERKStepSetStopTime(void *erk, realtype time);
MDL_CHECKED int ERKStepEvolve(void *erk, realtype limit, N_Vector y, realtype *time, int task);
MDL_CHECKED int ERKStepGetDky(void *erk, realtype time, int order, N_Vector out);
MDL_CHECKED int ERKStepGetNumErrTestFails(void *erk, long int *count);
MDL_CHECKED int ERKStepGetEstLocalErrors(void *erk, N_Vector errors);
MDL_CHECKED int ERKStepGetErrWeights(void *erk, N_Vector weights);
MDL_CHECKED int ERKStepGetLastStep(void *erk, realtype *step);
MDL_CHECKED int ERKStepGetCurrentStep(void *erk, realtype *step);

#endif
