// peer_chain.c: a heat chain of N states (default 1000) by plain IDA as packaged and by the runtime.
//
// Purpose: the anchor "IDA as packaged / ours". Both use the same residual, tolerances (1e-6), KLU and an
// analytic Jacobian; the chain is excited at one end so that steps keep changing. Prints microseconds per
// step.
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>
#include <time.h>

#include "tests/runtime/small.h"

typedef struct Chain {
    uint32_t n;
    double *v0;
    uint32_t *start, *row;
} Chain;

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
rates(const double *x, double *dx, uint32_t n, double time)
{
    double c = (n + 1.0) * (n + 1.0), left = sin(20 * time);
    dx[0] = c * (left - 2 * x[0] + x[1]);
    for (uint32_t i = 1; i + 1 < n; i++)
        dx[i] = c * (x[i - 1] - 2 * x[i] + x[i + 1]);
    dx[n - 1] = c * (x[n - 2] - 2 * x[n - 1]);
}

// --- the runtime

static void
dynamics(double *v, const void *self)
{
    uint32_t n = ((const Chain *)self)->n;
    rates(v + 1, v + DX(n, 0), n, v[0]);
}

static void
jacobian(double *v, const void *self)
{
    const Chain *chain = self;
    uint32_t n = chain->n;
    double c = (n + 1.0) * (n + 1.0);
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t k = chain->start[j]; k < chain->start[j + 1]; k++)
            v[EXTRA(n, k)] = chain->row[k] == j ? 2 * c : -c;
}

static double
run_ours(const Chain *chain, const char *const *names, double stop, uint64_t *steps)
{
    uint32_t n = chain->n;
    mdl_step step = {.call = {dynamics, chain}};
    mdl_model model = small_model(chain->v0, EXTRA(n, 3 * n), n, n, names);
    model.n_dynamics = 1;
    model.dynamics = &step;
    model.jac_y = (mdl_matrix){n, n, chain->start[n], chain->start, chain->row, EXTRA(n, 0)};
    model.jacobian = (mdl_code){jacobian, chain};
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = stop;
    trial.options.points = 1;
    trial.options.abstol = 1e-6;
    double begun = now();
    trial_run(&trial, &model);
    double seconds = now() - begun;
    *steps = trial.stats.steps;
    trial_end(&trial);
    return seconds;
}

// --- plain IDA

static int
residual(realtype t, N_Vector y, N_Vector yp, N_Vector r, void *user)
{
    const Chain *chain = user;
    double *out = NV_DATA_S(r), *rate = NV_DATA_S(yp);
    rates(NV_DATA_S(y), out, chain->n, t);
    for (uint32_t i = 0; i < chain->n; i++)
        out[i] = rate[i] - out[i];
    return 0;
}

static int
matrix(realtype t, realtype cj, N_Vector y, N_Vector yp, N_Vector r, SUNMatrix j, void *user, N_Vector a, N_Vector b,
       N_Vector d)
{
    (void)t, (void)y, (void)yp, (void)r, (void)a, (void)b, (void)d;
    const Chain *chain = user;
    double c = (chain->n + 1.0) * (chain->n + 1.0);
    for (uint32_t k = 0; k < chain->n; k++)
        for (uint32_t i = chain->start[k]; i < chain->start[k + 1]; i++) {
            SM_INDEXVALS_S(j)[i] = chain->row[i];
            SM_DATA_S(j)[i] = chain->row[i] == k ? cj + 2 * c : -c;
        }
    for (uint32_t k = 0; k <= chain->n; k++)
        SM_INDEXPTRS_S(j)[k] = chain->start[k];
    return 0;
}

static double
run_plain(Chain *chain, double stop, uint64_t *steps)
{
    SUNContext context;
    SUNContext_Create(NULL, &context);
    N_Vector y = N_VNew_Serial(chain->n, context), yp = N_VClone(y);
    N_VConst(0, y);
    residual(0, y, y, yp, chain);
    N_VConst(0, yp);
    void *ida = IDACreate(context);
    IDAInit(ida, residual, 0, y, yp);
    IDASetUserData(ida, chain);
    IDASStolerances(ida, 1e-6, 1e-6);
    SUNMatrix j = SUNSparseMatrix(chain->n, chain->n, chain->start[chain->n], CSC_MAT, context);
    SUNLinearSolver solver = SUNLinSol_KLU(y, j, context);
    IDASetLinearSolver(ida, solver, j);
    IDASetJacFn(ida, matrix);
    IDASetMaxNumSteps(ida, 1000000);
    double begun = now(), t;
    int flag = IDASolve(ida, stop, &t, y, yp, IDA_NORMAL);
    double seconds = now() - begun;
    long count = 0;
    IDAGetNumSteps(ida, &count);
    *steps = flag < 0 ? 0 : (uint64_t)count;
    IDAFree(&ida);
    SUNLinSolFree(solver);
    SUNMatDestroy(j);
    N_VDestroy(y);
    N_VDestroy(yp);
    SUNContext_Free(&context);
    return seconds;
}

int
main(int argc, char **argv)
{
    Chain chain = {.n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000};
    uint32_t n = chain.n < 3 ? chain.n = 3 : chain.n, at = 0;
    const char **names = calloc(n, sizeof *names);
    chain.v0 = calloc(EXTRA(n, 3 * n), sizeof *chain.v0);
    chain.start = calloc(n + 1, sizeof *chain.start);
    chain.row = calloc(3 * n, sizeof *chain.row);
    if (!names || !chain.v0 || !chain.start || !chain.row)
        return 1;
    for (uint32_t i = 0; i < n; i++) {
        names[i] = "x";
        chain.start[i] = at;
        for (uint32_t k = i ? i - 1 : 0; k <= i + 1 && k < n; k++)
            chain.row[at++] = k;
    }
    chain.start[n] = at;
    uint64_t ours, plain;
    double stop = 5, our_time = run_ours(&chain, names, stop, &ours), plain_time = run_plain(&chain, stop, &plain);
    printf("n %u: plain IDA %llu steps %.3g us/step; runtime %llu steps %.3g us/step; time ratio %.3g\n", n,
           (unsigned long long)plain, 1e6 * plain_time / (double)plain, (unsigned long long)ours,
           1e6 * our_time / (double)ours, plain_time / our_time);
    free(names);
    free(chain.v0);
    free(chain.start);
    free(chain.row);
    return 0;
}
