// What a run costs that is made with seven others, beside one that is made alone, with the same method and outputs.
// usage: peer_ensemble LIBRARY.so RUNS: a library of `mdlc build --emit=shared --lanes 8`. Prints microseconds of processor time for a run, both ways.
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
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

// Microseconds for a run of so many, `n` at once.
static double
time_runs(const mdl_model *model, mdl_ensemble *ensemble, uint32_t runs, uint32_t n)
{
    static const uint32_t column[COLUMNS] = {0, 1, 2};
    double sum[MOST] = {0}, begun = seconds();
    for (uint32_t done = 0; done < runs; done += n) {
        mdl_options options[MOST];
        mdl_stats stats[MOST];
        mdl_sink sink[MOST];
        int status[MOST];
        for (uint32_t k = 0; k < n; k++) {
            mdl_options_default(model, &options[k]);
            options[k].solver = MDL_SOLVER_DOP853;
            sink[k] = (mdl_sink){.self = &sum[k], .row = add_row};
            options[k].sink = &sink[k];
            options[k].column = column;
            options[k].columns = model->n_outputs < COLUMNS ? model->n_outputs : COLUMNS;
            options[k].no_ranges = true;
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

int
main(int argc, char **argv)
{
    void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
    const mdl_model *model = library ? dlsym(library, "mdl_program") : NULL;
    mdl_ensemble *ensemble = model ? mdl_ensemble_open(model) : NULL;
    if (!ensemble) {
        fprintf(stderr, "usage: peer_ensemble LIBRARY.so RUNS\n");
        return 2;
    }
    uint32_t width = mdl_ensemble_width(ensemble), runs = ((uint32_t)atoi(argv[2]) + MOST - 1) / MOST * MOST;
    double alone = 1e300, together = 1e300;
    for (int k = 0; k < ROUNDS; k++) { // in turn, the least of each
        double a = time_runs(model, ensemble, runs, 1), b = time_runs(model, ensemble, runs, width);
        alone = a < alone ? a : alone;
        together = b < together ? b : together;
    }
    printf("%u %u %.1f %.1f %.2f\n", model->nx, width, alone, together, alone / together);
    mdl_ensemble_close(ensemble);
    return 0;
}
