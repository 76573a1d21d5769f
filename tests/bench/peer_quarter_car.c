// peer_quarter_car.c: the quarter car written by hand in C, on the same runtime as generated code.
//
//   peer_quarter_car [RUN_MS STEPS]     of `mdlc run examples/quarter_car/bump.mdl --set V=3 --tol 1e-6`
//
// Purpose: the ratio generated / hand-written of a whole simulation: 5 s, 500 output intervals, both write
// a result file of about the same width. Prints the least of several runs.
#include <float.h>
#include <stdio.h>
#include <stdlib.h>

#include "runtime/model/sim.h"
#include "tests/runtime/quarter_car.h"

int
main(int argc, char **argv)
{
    double generated = argc > 1 ? atof(argv[1]) : 0, steps = argc > 2 ? atof(argv[2]) : 0, least = DBL_MAX;
    double *v0 = calloc(QC_COUNT, sizeof *v0);
    mdl_model model = quarter_car(v0, 0.2, 3, 0);
    mdl_options options;
    mdl_stats stats = {0};
    mdl_options_default(&model, &options);
    options.start = 0;
    options.stop = 5;
    options.interval = 0.01;
    options.tolerance = 1e-6;
    options.output_path = "/tmp/peer_quarter_car.csv";
    for (int i = 0; i < 20; i++) {
        int status = mdl_simulate(&model, &options, &stats);
        if (status) {
            printf("FAIL peer_quarter_car: status %d\n", status);
            return 1;
        }
        if (stats.run_seconds < least)
            least = stats.run_seconds;
    }
    remove(options.output_path);
    printf("hand-written: %.2f ms, %.0f steps, %.2f us/step\n", 1e3 * least, (double)stats.steps,
           1e6 * least / (double)stats.steps);
    if (generated > 0)
        printf("generated:    %.2f ms, %.0f steps, %.2f us/step; ratio of time %.2f, per step %.2f\n", generated, steps,
               1e3 * generated / steps, generated / (1e3 * least), generated / steps / (1e3 * least / (double)stats.steps));
    free(v0);
    return 0;
}
