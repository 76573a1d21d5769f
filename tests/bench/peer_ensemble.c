// What a run costs that is made with seven others, beside one that is made alone, with the same method and outputs.
// usage: peer_ensemble LIBRARY.so RUNS SOLVER [PARAMETER]: a library of `mdlc build --emit=shared --lanes 8`. Prints microseconds of processor time for a run,
// both ways. PARAMETER is given another value in each run, 10 % up and down.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "runtime/model/sim.h"

enum { MOST = 8, COLUMNS = 3, ROUNDS = 3 };

static double
seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static int
add_row(void *self, const double *value, uint32_t count)
{
    for (uint32_t k = 0; k < count; k++)
        *(double *)self += value[k];
    return 0;
}

typedef struct Task {
    const mdl_model *model;
    mdl_solver solver;
    const mdl_settable *varied; // NULL: all runs are the same
    double value;
} Task;

// Microseconds for a run of so many, `n` at once.
static double
time_runs(const Task *task, mdl_ensemble *ensemble, uint32_t runs, uint32_t n)
{
    const mdl_model *model = task->model;
    static const uint32_t column[COLUMNS] = {0, 1, 2};
    double sum[MOST] = {0}, begun = seconds();
    for (uint32_t done = 0; done < runs; done += n) {
        mdl_options options[MOST];
        mdl_stats stats[MOST];
        mdl_sink sink[MOST];
        mdl_override override[MOST][2];
        int status[MOST];
        for (uint32_t k = 0; k < n; k++) {
            mdl_options_default(model, &options[k]);
            options[k].solver = task->solver;
            sink[k] = (mdl_sink){.self = &sum[k], .row = add_row};
            options[k].sink = &sink[k];
            options[k].column = column;
            options[k].columns = model->n_outputs < COLUMNS ? model->n_outputs : COLUMNS;
            options[k].no_ranges = true;
            if (!task->varied)
                continue;
            override[k][0] = (mdl_override){task->varied->value, task->value * (0.9 + 0.2 * (done + k) / runs)};
            override[k][1] = (mdl_override){task->varied->given, 1};
            options[k].override = override[k];
            options[k].overrides = task->varied->given ? 2 : 1;
        }
        if (n == 1)
            status[0] = mdl_simulate(model, &options[0], &stats[0]);
        else
            mdl_ensemble_simulate(ensemble, options, stats, status, n);
        for (uint32_t k = 0; k < n; k++)
            if (status[k] != MDL_OK) {
                fprintf(stderr, "run %u ends with status %d\n", done + k, status[k]);
                exit(1);
            }
    }
    return (seconds() - begun) / runs * 1e6;
}

static double
value_of(const mdl_model *model, const mdl_settable *settable)
{
    double value = 0, *v = malloc(model->nv * sizeof *v);
    if (v) {
        memcpy(v, model->v0, model->nv * sizeof *v);
        mdl_call(model->parameters, v);
        value = v[settable->result];
    }
    free(v);
    return value;
}

int
main(int argc, char **argv)
{
    void *library = argc >= 4 ? dlopen(argv[1], RTLD_NOW) : NULL;
    const mdl_model *model = library ? dlsym(library, "mdl_program") : NULL;
    mdl_ensemble *ensemble = model ? mdl_ensemble_open(model) : NULL;
    Task task = {.model = model, .solver = MDL_SOLVER_DOP853};
    if (model && !strcmp(argv[3], "radau"))
        task.solver = MDL_SOLVER_RADAU;
    if (model && !strcmp(argv[3], "gauss"))
        task.solver = MDL_SOLVER_GAUSS;
    for (uint32_t k = 0; ensemble && argc > 4 && k < model->n_settables; k++)
        if (!strcmp(model->settable[k].name, argv[4]))
            task.varied = &model->settable[k];
    if (!ensemble || (argc > 4 && !task.varied)) {
        fprintf(stderr, "usage: peer_ensemble LIBRARY.so RUNS dop853|radau|gauss [PARAMETER]\n");
        return 2;
    }
    if (task.varied)
        task.value = value_of(model, task.varied);
    uint32_t width = mdl_ensemble_width(ensemble), runs = ((uint32_t)atoi(argv[2]) + MOST - 1) / MOST * MOST;
    double alone = 1e300, together = 1e300;
    for (int k = 0; k < ROUNDS; k++) { // in turn, the least of each
        double a = time_runs(&task, ensemble, runs, 1), b = time_runs(&task, ensemble, runs, width);
        alone = a < alone ? a : alone;
        together = b < together ? b : together;
    }
    printf("%u %u %.1f %.1f %.2f\n", model->nx, width, alone, together, alone / together);
    mdl_ensemble_close(ensemble);
    return 0;
}
