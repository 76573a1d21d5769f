// peer_filters_ida.c: tests/bench/models/filter_cascade.mdl written by hand against IDA as it is packaged.
//
// Purpose: the anchor "IDA as packaged / ours": serial vectors, SUNDIALS' own KLU module with its default
// ordering (COLAMD), an analytic Jacobian, and the tolerances of the runtime (1e-6 relative, 1e-8 absolute).
// usage: peer_filters_ida [N [STOP [flush]]]; with `flush` subnormal numbers are taken as 0, which is a property of
// the processor and not of the package. Prints steps, ms of processor time of all calls of IDASolve, and the output
// of filter N*STOP at the end. Complexity: O(n) per step.
#include <ida/ida.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdio.h>
#include <stdlib.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>
#include <xmmintrin.h>

enum { POINTS = 25 };

typedef struct Figures {
    long steps;
    double ms, front;
} Figures;

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

static int
residual(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *user)
{
    (void)t;
    long n = *(const long *)user;
    const double *x = NV_DATA_S(y), *rate = NV_DATA_S(yp);
    double *out = NV_DATA_S(r), gain = (double)n;
    out[0] = rate[0] - gain * (1 - x[0]);
    for (long i = 1; i < n; i++)
        out[i] = rate[i] - gain * (x[i - 1] - x[i]);
    return 0;
}

static int
matrix(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix jacobian, void *user, N_Vector a,
       N_Vector b, N_Vector c)
{
    (void)t, (void)y, (void)yp, (void)r, (void)a, (void)b, (void)c;
    long n = *(const long *)user, at = 0;
    sunindextype *start = SM_INDEXPTRS_S(jacobian), *row = SM_INDEXVALS_S(jacobian);
    double *value = SM_DATA_S(jacobian);
    for (long j = 0; j < n; j++) {
        start[j] = at;
        row[at] = j;
        value[at++] = cj + (double)n;
        if (j + 1 < n) {
            row[at] = j + 1;
            value[at++] = -(double)n;
        }
    }
    start[n] = at;
    return 0;
}

static int
integrate(void *ida, N_Vector y, N_Vector yp, double stop, Figures *figures)
{
    double begun = now(), t;
    int flag = 0;
    for (int i = 1; i <= POINTS && flag >= 0; i++)
        flag = IDASolve(ida, stop * i / POINTS, &t, y, yp, IDA_NORMAL);
    figures->ms = now() - begun;
    figures->front = NV_Ith_S(y, (long)fmax(1, (double)NV_LENGTH_S(y) * stop) - 1);
    IDAGetNumSteps(ida, &figures->steps);
    return flag;
}

static int
run_cascade(long n, double stop, Figures *figures)
{
    SUNContext context;
    if (SUNContext_Create(NULL, &context))
        return -1;
    N_Vector y = N_VNew_Serial(n, context), yp = N_VClone(y);
    SUNMatrix jacobian = SUNSparseMatrix(n, n, 2 * n - 1, CSC_MAT, context);
    SUNLinearSolver solver = SUNLinSol_KLU(y, jacobian, context);
    void *ida = IDACreate(context);
    N_VConst(0, y);
    N_VConst(0, yp);
    NV_Ith_S(yp, 0) = (double)n;
    int flag = IDAInit(ida, residual, 0, y, yp) || IDASetUserData(ida, &n) || IDASStolerances(ida, 1e-6, 1e-8) ||
               IDASetLinearSolver(ida, solver, jacobian) || IDASetJacFn(ida, matrix) ||
               IDASetMaxNumSteps(ida, 10000000);
    flag = flag ? -1 : integrate(ida, y, yp, stop, figures);
    IDAFree(&ida);
    SUNLinSolFree(solver);
    SUNMatDestroy(jacobian);
    N_VDestroy(y);
    N_VDestroy(yp);
    SUNContext_Free(&context);
    return flag;
}

int
main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000;
    Figures figures;
    if (argc > 3)
        _mm_setcsr(_mm_getcsr() | 0x8040u); // FTZ and DAZ
    if (run_cascade(n < 2 ? 2 : n, argc > 2 ? atof(argv[2]) : 2, &figures) < 0) {
        fprintf(stderr, "peer_filters_ida: IDA failed\n");
        return 1;
    }
    printf("%ld %.2f %.9f\n", figures.steps, figures.ms, figures.front);
    return 0;
}
