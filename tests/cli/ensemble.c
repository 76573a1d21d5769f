// Runs of one model side by side, for ensemble.check: what is computed for eight runs at once is what is computed for one, and a run is the same
// to the bit in any company.
// usage: ensemble WIDTH NEAR SOLVER
//
// WIDTH: how many runs must be made at once; NEAR: how far rows may be from those of mdl_simulate(), relative to the largest value of a column; 1: they
// are not compared (functions that jump without an event).
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/sim.h"

enum { RUNS = 23, MOST = 8, SAID = 400 };

extern const mdl_model mdl_program;

typedef struct Kept {
    double *value;
    uint32_t rows, columns;
    int status;
    uint64_t events;
    char said[SAID];
} Kept;

static void
fail(const char *what, int run, double a, double b)
{
    printf("run %d: %s: %.17g and %.17g\n", run, what, a, b);
    exit(1);
}

static int
keep_row(void *self, const double *value, uint32_t count)
{
    Kept *kept = self;
    kept->columns = count;
    kept->value = realloc(kept->value, (size_t)(kept->rows + 1) * count * sizeof *value);
    if (!kept->value)
        return 12;
    memcpy(kept->value + (size_t)kept->rows++ * count, value, count * sizeof *value);
    return 0;
}

static void
keep_message(void *user, mdl_severity severity, const char *text)
{
    Kept *kept = user;
    size_t used = strlen(kept->said);
    (void)severity;
    snprintf(kept->said + used, SAID - used, "%s\n", text);
}

static const mdl_settable *
parameter(void)
{
    for (uint32_t k = 0; k < mdl_program.n_settables; k++)
        if (!strcmp(mdl_program.settable[k].name, "p"))
            return &mdl_program.settable[k];
    fail("there is no parameter p", 0, 0, 0);
    return NULL;
}

// Runs first to first + n - 1 in one call, or each by itself where there is no ensemble.
static void
simulate(mdl_solver solver, mdl_ensemble *ensemble, int first, uint32_t n, Kept *kept)
{
    mdl_options options[MOST];
    mdl_stats stats[MOST];
    mdl_sink sink[MOST];
    mdl_override override[MOST][2];
    int status[MOST];
    const mdl_settable *p = parameter();
    for (uint32_t k = 0; k < n; k++) {
        mdl_options_default(&mdl_program, &options[k]);
        options[k].solver = solver;
        sink[k] = (mdl_sink){.self = &kept[k], .row = keep_row};
        options[k].sink = &sink[k];
        options[k].message = keep_message;
        options[k].user = &kept[k];
        override[k][0] = (mdl_override){p->value, 0.8 + 0.02 * (first + (int)k)};
        override[k][1] = (mdl_override){p->given, 1};
        options[k].override = override[k];
        options[k].overrides = p->given ? 2 : 1;
        options[k].no_ranges = true;
    }
    if (ensemble)
        mdl_ensemble_simulate(ensemble, options, stats, status, n);
    else
        status[0] = mdl_simulate(&mdl_program, &options[0], &stats[0]);
    for (uint32_t k = 0; k < n; k++) {
        kept[k].status = status[k];
        kept[k].events = stats[k].events;
        if (solver != MDL_SOLVER_DOP853 && status[k] == MDL_OK && ensemble && mdl_ensemble_width(ensemble) > 1 && strcmp(stats[k].linear_solver, "lanes"))
            fail("made by itself", first + (int)k, 0, 0);
    }
}

// In groups of these sizes, over and over.
static Kept *
simulate_all(mdl_solver solver, mdl_ensemble *ensemble, const uint32_t *size, uint32_t sizes)
{
    Kept *kept = calloc(RUNS, sizeof *kept);
    if (!kept)
        exit(2);
    for (uint32_t done = 0, k = 0; done < RUNS; k++) {
        uint32_t n = size[k % sizes] < RUNS - done ? size[k % sizes] : RUNS - done;
        simulate(solver, ensemble, (int)done, n, kept + done);
        done += n;
    }
    return kept;
}

static void
compare(const Kept *a, const Kept *b, double near)
{
    for (int run = 0; run < RUNS; run++) {
        if (a[run].status != b[run].status)
            fail("status", run, a[run].status, b[run].status);
        if (a[run].rows != b[run].rows || a[run].events != b[run].events)
            fail("rows or events", run, a[run].rows, b[run].rows);
        if (near == 0 && strcmp(a[run].said, b[run].said))
            fail(a[run].said, run, 0, 0);
        for (uint32_t c = 0; c < a[run].columns; c++) {
            double largest = 1e-3;
            for (uint32_t r = 0; r < a[run].rows; r++)
                largest = fmax(largest, fabs(a[run].value[(size_t)r * a[run].columns + c]));
            for (uint32_t r = 0; r < a[run].rows; r++) {
                const double *x = &a[run].value[(size_t)r * a[run].columns + c], *y = &b[run].value[(size_t)r * a[run].columns + c];
                if (near > 0 ? !(fabs(*x - *y) <= near * largest) : memcmp(x, y, sizeof *x) != 0)
                    fail(c ? mdl_program.output[c - 1].name : "time", run, *x, *y);
            }
        }
    }
}

// All functions at eight points that differ in every state.
static void
compare_functions(void)
{
    const mdl_model *m = &mdl_program;
    uint32_t width = m->lanes->width;
    double *together = aligned_alloc(64, ((size_t)m->nv * width * sizeof *together + 63) / 64 * 64), *one = malloc(m->nv * sizeof *one);
    for (uint32_t round = 0; round < 40; round++) {
        for (int way = 0; way < 2; way++)
            for (uint32_t l = 0; l < width; l++) {
                memcpy(one, m->v0, m->nv * sizeof *one);
                mdl_call(m->parameters, one);
                one[0] = 0.3 * round + 0.01 * l;
                for (uint32_t i = 0; i < m->n; i++)
                    one[m->y + i] = 1.5 * sin(1.0 + 2.7 * i + 1.3 * l + 0.37 * round);
                for (uint32_t k = 0; way && k < m->n_dynamics; k++)
                    mdl_call(m->dynamics[k].block ? m->dynamics[k].block->eval : m->dynamics[k].call, one);
                if (way)
                    mdl_call(m->outputs, one);
                for (uint32_t p = 0; p < m->nv; p++) {
                    double *there = &together[(size_t)p * width + l];
                    if (!way)
                        *there = one[p];
                    else if (!(fabs(*there - one[p]) <= 1e-13 * fmax(1, fabs(one[p]))) && !(isnan(one[p]) && isnan(*there)) && !(isinf(one[p]) && one[p] == *there))
                        fail(m->name, (int)p, one[p], *there);
                }
                if (!way && l == width - 1) {
                    for (uint32_t k = 0; k < m->n_dynamics; k++)
                        mdl_call(m->lanes->step[k].call, together);
                    mdl_call(m->lanes->outputs, together);
                }
            }
    }
    free(one);
    free(together);
}

static void
free_all(Kept *kept)
{
    for (int run = 0; run < RUNS; run++)
        free(kept[run].value);
    free(kept);
}

int
main(int argc, char **argv)
{
    if (argc != 4)
        return 2;
    uint32_t wanted = (uint32_t)atoi(argv[1]);
    mdl_solver solver = !strcmp(argv[3], "radau") ? MDL_SOLVER_RADAU : !strcmp(argv[3], "gauss") ? MDL_SOLVER_GAUSS : MDL_SOLVER_DOP853;
    if (!mdl_program.lanes != (wanted == 0))
        fail("functions for several runs", 0, mdl_program.lanes != NULL, wanted);
    mdl_ensemble *ensemble = mdl_ensemble_open(&mdl_program);
    uint32_t width = mdl_ensemble_width(ensemble);
    if (width != (wanted ? wanted : 1))
        fail("runs made at once", 0, width, wanted);
    if (wanted > 1)
        compare_functions();
    const uint32_t one[] = {1}, all[] = {width}, some[] = {width > 1 ? width - 1 : 1, 1, width > 4 ? 3 : 1};
    Kept *alone = simulate_all(solver, NULL, one, 1), *single = simulate_all(solver, ensemble, one, 1), *full = simulate_all(solver, ensemble, all, 1),
         *mixed = simulate_all(solver, ensemble, some, 3);
    if (atof(argv[2]) < 1)
        compare(alone, single, atof(argv[2]));
    compare(single, full, 0);
    compare(single, mixed, 0);
    int failed = 0;
    for (int run = 0; run < RUNS; run++)
        failed += single[run].status != MDL_OK;
    printf("%u at once, %d failed\n", width, failed);
    free_all(alone);
    free_all(single);
    free_all(full);
    free_all(mixed);
    mdl_ensemble_close(ensemble);
    return 0;
}
