// peer_ivp.c: the models of tests/bench/models/against.mdl written by hand against CVODE as it is packaged.
//
// Purpose: what somebody gets who derives right sides and matrices by hand and takes the same solvers.
// Method: BDF with an analytic Jacobian, tridiagonal where it is one, dense otherwise; Adams with functional iteration for the chain, whose
// accelerations come from a Cholesky factorisation of its matrix of masses.
// usage: peer_ivp MODEL TOL STOP; prints ms of processor time (the least of several runs), steps, and the values at the end that against.py compares.
// Complexity: O(n) per step.
#include <cvode/cvode.h>
#include <math.h>
#include <nvector/nvector_serial.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sunlinsol/sunlinsol_band.h>
#include <sunlinsol/sunlinsol_dense.h>
#include <sunmatrix/sunmatrix_band.h>
#include <sunmatrix/sunmatrix_dense.h>
#include <sunnonlinsol/sunnonlinsol_fixedpoint.h>
#include <time.h>

enum { LINKS = 4, RUNS = 3 };

typedef struct Problem {
    const char *name;
    long n;
    CVRhsFn rates;
    CVLsJacFn matrix;   // NULL: Adams
    bool tridiagonal;
    double y[2 * LINKS];  // at the start; 0 behind these
    double abstol;        // times the relative tolerance
    long shown[3];
} Problem;

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return 1e3 * (double)t.tv_sec + 1e-6 * (double)t.tv_nsec;
}

// --- Reaction

static int
reaction(realtype t, N_Vector state, N_Vector rate, void *user)
{
    (void)t, (void)user;
    const double *y = NV_DATA_S(state);
    double *f = NV_DATA_S(rate), slow = -0.04 * y[0] + 1e4 * y[1] * y[2], fast = 3e7 * y[1] * y[1];
    f[0] = slow;
    f[1] = -slow - fast;
    f[2] = fast;
    return 0;
}

static int
reaction_matrix(realtype t, N_Vector state, N_Vector rate, SUNMatrix m, void *user, N_Vector a, N_Vector b, N_Vector c)
{
    (void)t, (void)rate, (void)user, (void)a, (void)b, (void)c;
    const double *y = NV_DATA_S(state);
    double slow[3] = {-0.04, 1e4 * y[2], 1e4 * y[1]}, fast = 6e7 * y[1];
    for (long j = 0; j < 3; j++) {
        SM_ELEMENT_D(m, 0, j) = slow[j];
        SM_ELEMENT_D(m, 1, j) = -slow[j] - (j == 1 ? fast : 0);
        SM_ELEMENT_D(m, 2, j) = j == 1 ? fast : 0;
    }
    return 0;
}

// --- Rod and Ladder: one cell behind the other

typedef struct Line {
    double gain, frequency;
} Line;

static int
line(realtype t, N_Vector state, N_Vector rate, void *user)
{
    const Line *of = user;
    const double *y = NV_DATA_S(state);
    double *f = NV_DATA_S(rate);
    long n = NV_LENGTH_S(state);
    f[0] = of->gain * (sin(of->frequency * t) - 2 * y[0] + y[1]);
    for (long i = 1; i < n - 1; i++)
        f[i] = of->gain * (y[i - 1] - 2 * y[i] + y[i + 1]);
    f[n - 1] = of->gain * (y[n - 2] - y[n - 1]);
    return 0;
}

static int
line_matrix(realtype t, N_Vector state, N_Vector rate, SUNMatrix m, void *user, N_Vector a, N_Vector b, N_Vector c)
{
    (void)t, (void)rate, (void)a, (void)b, (void)c;
    const Line *of = user;
    long n = NV_LENGTH_S(state);
    for (long i = 0; i < n; i++) {
        SM_ELEMENT_B(m, i, i) = i < n - 1 ? -2 * of->gain : -of->gain;
        if (i > 0)
            SM_ELEMENT_B(m, i, i - 1) = of->gain;
        if (i < n - 1)
            SM_ELEMENT_B(m, i, i + 1) = of->gain;
    }
    return 0;
}

// --- Chain

static int
chain(realtype t, N_Vector state, N_Vector rate, void *user)
{
    (void)t, (void)user;
    const double *q = NV_DATA_S(state), *w = q + LINKS;
    double *f = NV_DATA_S(rate), *a = f + LINKS, sine[LINKS], cosine[LINKS], mass[LINKS][LINKS];
    for (int i = 0; i < LINKS; i++) {
        sine[i] = sin(q[i]);
        cosine[i] = cos(q[i]);
        f[i] = w[i];
    }
    for (int i = 0; i < LINKS; i++) {
        a[i] = -(LINKS - i) * 9.81 * sine[i];
        for (int j = 0; j < LINKS; j++) {
            double carried = LINKS - (i > j ? i : j);
            mass[i][j] = carried * (cosine[i] * cosine[j] + sine[i] * sine[j]);
            a[i] -= carried * (sine[i] * cosine[j] - cosine[i] * sine[j]) * w[j] * w[j];
        }
    }
    for (int j = 0; j < LINKS; j++) {
        for (int k = 0; k < j; k++)
            mass[j][j] -= mass[j][k] * mass[j][k];
        mass[j][j] = sqrt(mass[j][j]);
        for (int i = j + 1; i < LINKS; i++) {
            for (int k = 0; k < j; k++)
                mass[i][j] -= mass[i][k] * mass[j][k];
            mass[i][j] /= mass[j][j];
        }
    }
    for (int i = 0; i < LINKS; i++) {
        for (int k = 0; k < i; k++)
            a[i] -= mass[i][k] * a[k];
        a[i] /= mass[i][i];
    }
    for (int i = LINKS - 1; i >= 0; i--) {
        for (int k = i + 1; k < LINKS; k++)
            a[i] -= mass[k][i] * a[k];
        a[i] /= mass[i][i];
    }
    return 0;
}

// --- Rectifier

static const double IS = 1e-12, VT = 0.025, R = 10, C = 1e-4, LOAD = 1000, SMALL = 1e-8;

static int
rectifier(realtype t, N_Vector state, N_Vector rate, void *user)
{
    (void)user;
    const double *y = NV_DATA_S(state);
    double *f = NV_DATA_S(rate), a = y[0], b = y[1], u = y[2];
    double i = (10 * sin(314.1592653589793 * t) - a + b) / R;
    double pa = IS * (exp((a - u) / VT) - 1), pb = IS * (exp((b - u) / VT) - 1), na = IS * (exp(-a / VT) - 1), nb = IS * (exp(-b / VT) - 1);
    f[0] = (i - pa + na) / SMALL;
    f[1] = (-i - pb + nb) / SMALL;
    f[2] = (pa + pb - u / LOAD) / C;
    return 0;
}

static int
rectifier_matrix(realtype t, N_Vector state, N_Vector rate, SUNMatrix m, void *user, N_Vector x, N_Vector y, N_Vector z)
{
    (void)t, (void)rate, (void)user, (void)x, (void)y, (void)z;
    const double *v = NV_DATA_S(state), a = v[0], b = v[1], u = v[2], g = IS / VT;
    double pa = g * exp((a - u) / VT), pb = g * exp((b - u) / VT), na = g * exp(-a / VT), nb = g * exp(-b / VT);
    double rows[3][3] = {
        {(-1 / R - pa - na) / SMALL, 1 / R / SMALL, pa / SMALL},
        {1 / R / SMALL, (-1 / R - pb - nb) / SMALL, pb / SMALL},
        {pa / C, pb / C, (-pa - pb - 1 / LOAD) / C},
    };
    for (long i = 0; i < 3; i++)
        for (long j = 0; j < 3; j++)
            SM_ELEMENT_D(m, i, j) = rows[i][j];
    return 0;
}

static const Problem problems[] = {
    {.name = "Reaction", .n = 3, .rates = reaction, .matrix = reaction_matrix, .y = {1}, .abstol = 1e-6, .shown = {0, 1, 2}},
    {.name = "Rod", .n = 1000, .rates = line, .matrix = line_matrix, .tridiagonal = true, .abstol = 1e-2, .shown = {9, 99, 499}},
    {.name = "Chain", .n = 2 * LINKS, .rates = chain, .y = {1.0, 0.6, 0.2, -0.2}, .abstol = 1e-1, .shown = {0, 1, 3}},
    {.name = "Ladder", .n = 200, .rates = line, .matrix = line_matrix, .tridiagonal = true, .abstol = 1e-2, .shown = {0, 9, 29}},
    {.name = "Rectifier", .n = 3, .rates = rectifier, .matrix = rectifier_matrix, .abstol = 1e-1, .shown = {0, 1, 2}},
};

static int
run(const Problem *of, double tolerance, double stop, double *ms, long *steps, double *end)
{
    SUNContext context;
    Line line_of = of->n == 200 ? (Line){1, 0.2} : (Line){1e4, 1};
    double begin = now(), t = 0;
    if (SUNContext_Create(NULL, &context))
        return 1;
    N_Vector y = N_VNew_Serial(of->n, context);
    memset(NV_DATA_S(y), 0, (size_t)of->n * sizeof(double));
    memcpy(NV_DATA_S(y), of->y, (size_t)(of->n < 2 * LINKS ? of->n : 2 * LINKS) * sizeof(double));
    SUNMatrix matrix = NULL;
    SUNLinearSolver linear = NULL;
    SUNNonlinearSolver fixed = NULL;
    void *solver = CVodeCreate(of->matrix ? CV_BDF : CV_ADAMS, context);
    int status = CVodeInit(solver, of->rates, 0, y) || CVodeSStolerances(solver, tolerance, tolerance * of->abstol)
        || CVodeSetMaxNumSteps(solver, 100000000) || CVodeSetUserData(solver, &line_of);
    if (of->matrix) {
        matrix = of->tridiagonal ? SUNBandMatrix(of->n, 1, 1, context) : SUNDenseMatrix(of->n, of->n, context);
        linear = of->tridiagonal ? SUNLinSol_Band(y, matrix, context) : SUNLinSol_Dense(y, matrix, context);
        status = status || CVodeSetLinearSolver(solver, linear, matrix) || CVodeSetJacFn(solver, of->matrix);
    } else {
        fixed = SUNNonlinSol_FixedPoint(y, 0, context);
        status = status || CVodeSetNonlinearSolver(solver, fixed);
    }
    status = status || CVodeSetStopTime(solver, stop) || CVode(solver, stop, y, &t, CV_NORMAL) < 0 || CVodeGetNumSteps(solver, steps);
    for (int k = 0; k < 3; k++)
        end[k] = NV_DATA_S(y)[of->shown[k]];
    CVodeFree(&solver);
    SUNLinSolFree(linear);
    SUNNonlinSolFree(fixed);
    SUNMatDestroy(matrix);
    N_VDestroy(y);
    SUNContext_Free(&context);
    double spent = now() - begin;
    if (spent < *ms)
        *ms = spent;
    return status;
}

int
main(int argc, char **argv)
{
    for (size_t k = 0; argc == 4 && k < sizeof problems / sizeof *problems; k++) {
        if (strcmp(argv[1], problems[k].name) != 0)
            continue;
        double ms = INFINITY, end[3];
        long steps = 0;
        for (int i = 0; i < RUNS; i++)
            if (run(&problems[k], atof(argv[2]), atof(argv[3]), &ms, &steps, end))
                return 3;
        printf("%.6g %ld %.17g %.17g %.17g\n", ms, steps, end[0], end[1], end[2]);
        return 0;
    }
    fprintf(stderr, "usage: peer_ivp MODEL TOL STOP\n");
    return 1;
}
