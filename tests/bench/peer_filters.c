// peer_filters.c: tests/bench/models/filter_cascade.mdl written by hand, on the same runtime.
//
// Purpose: the anchor "generated code / hand-written C". usage: peer_filters [N [STOP]]. Prints steps, ms of
// processor time and the output of filter N*STOP at the end (T is 1 s: the front is there).
#include <time.h>

#include "tests/runtime/small.h"

typedef struct Cascade {
    uint32_t n;
    uint32_t *start, *row;
} Cascade;

static double
now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
dynamics(double *v, const void *self)
{
    uint32_t n = ((const Cascade *)self)->n;
    const double *x = v + 1;
    double *dx = v + DX(n, 0);
    dx[0] = n * (1 - x[0]);
    for (uint32_t i = 1; i < n; i++)
        dx[i] = n * (x[i - 1] - x[i]);
}

// Values of -d(dx)/dx.
static void
jacobian(double *v, const void *self)
{
    const Cascade *cascade = self;
    uint32_t n = cascade->n;
    for (uint32_t j = 0; j < n; j++)
        for (uint32_t k = cascade->start[j]; k < cascade->start[j + 1]; k++)
            v[EXTRA(n, k)] = cascade->row[k] == j ? n : -(double)n;
}

static double
run_cascade(const Cascade *cascade, double *v0, const char *const *names, double stop, uint64_t *steps,
            double *front)
{
    uint32_t n = cascade->n;
    mdl_step step = {.call = {dynamics, cascade}};
    mdl_model model = small_model(v0, EXTRA(n, 2 * n), n, n, names);
    model.n_dynamics = 1;
    model.dynamics = &step;
    model.jac_y = (mdl_matrix){n, n, cascade->start[n], cascade->start, cascade->row, EXTRA(n, 0)};
    model.jacobian = (mdl_code){jacobian, cascade};
    mdl_output output = {"x", Y(n, (uint32_t)fmax(1, n * stop) - 1), 1, MDL_REAL, 0, 0};
    model.output = &output;
    model.n_outputs = 1;
    Trial trial;
    trial_begin(&trial, &model);
    trial.options.stop = stop;
    trial.options.points = 25;
    double begun = now();
    trial_run(&trial, &model);
    double seconds = now() - begun;
    *steps = trial.status ? 0 : trial.stats.steps;
    *front = rows_at(&trial.rows, trial.rows.count - 1, 1);
    trial_end(&trial);
    return seconds;
}

int
main(int argc, char **argv)
{
    Cascade cascade = {.n = argc > 1 ? (uint32_t)atoi(argv[1]) : 1000};
    uint32_t n = cascade.n < 2 ? cascade.n = 2 : cascade.n, at = 0;
    const char **names = calloc(n, sizeof *names);
    double *v0 = calloc(EXTRA(n, 2 * (size_t)n), sizeof *v0);
    cascade.start = calloc(n + 1, sizeof *cascade.start);
    cascade.row = calloc(2 * (size_t)n, sizeof *cascade.row);
    if (!names || !v0 || !cascade.start || !cascade.row)
        return 1;
    for (uint32_t i = 0; i < n; i++) {
        names[i] = "x";
        cascade.start[i] = at;
        for (uint32_t k = i; k <= i + 1 && k < n; k++)
            cascade.row[at++] = k;
    }
    cascade.start[n] = at;
    uint64_t steps;
    double front, seconds = run_cascade(&cascade, v0, names, argc > 2 ? atof(argv[2]) : 2, &steps, &front);
    printf("%llu %.2f %.9f\n", (unsigned long long)steps, 1e3 * seconds, front);
    free(names);
    free(v0);
    free(cascade.start);
    free(cascade.row);
    return 0;
}
