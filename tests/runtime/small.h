// small.h: the common layout of small hand-written models: with n unknowns, y from place 1, then y',
// residuals,
// dx, nominal values, then whatever the model needs from place small_extra(n) on.
#ifndef MDLC_TESTS_RUNTIME_SMALL_H
#define MDLC_TESTS_RUNTIME_SMALL_H

#include "tests/runtime/check.h"

enum { SMALL_PLACES = 96 };

#define Y(n, i) (1 + (i))
#define YP(n, i) (1 + (n) + (i))
#define R(n, i) (1 + 2 * (n) + (i))
#define DX(n, i) (1 + 3 * (n) + (i))
#define EXTRA(n, i) (1 + 5 * (n) + (i))

// A model of `places` places whose nominal values are 1; v0 must outlive it.
static inline mdl_model
small_model(double *v0, uint32_t places, uint32_t n, uint32_t nx, const char *const *names)
{
    memset(v0, 0, places * sizeof *v0);
    for (uint32_t i = 0; i < n; i++)
        v0[1 + 4 * n + i] = 1;
    return (mdl_model){
        .version = MDL_MODEL_VERSION, .size = sizeof(mdl_model), .name = "Small", .nv = places, .v0 = v0,
        .n = n, .nx = nx, .y = 1, .yp = 1 + n, .r = 1 + 2 * n, .dx = 1 + 3 * n, .nominal = 1 + 4 * n,
        .state_name = names, .stop = 1, .tolerance = 1e-6,
    };
}

typedef struct Trial {
    Rows rows;
    Log log;
    mdl_stats stats;
    mdl_options options;
    mdl_sink sink;
    int status;
} Trial;

// Options from the model, rows and messages into the trial; the caller may change options before trial_run.
static inline void
trial_begin(Trial *trial, const mdl_model *model)
{
    memset(trial, 0, sizeof *trial);
    mdl_options_default(model, &trial->options);
    trial->sink = rows_sink(&trial->rows);
    trial->options.sink = &trial->sink;
    trial->options.message = log_message;
    trial->options.user = &trial->log;
}

static inline void
trial_run(Trial *trial, const mdl_model *model)
{
    trial->status = mdl_simulate(model, &trial->options, &trial->stats);
}

static inline void
trial_end(Trial *trial)
{
    free(trial->rows.value);
    trial->rows = (Rows){0};
}

static inline double
trial_last(const Trial *trial, uint32_t column)
{
    return trial->rows.count ? rows_at(&trial->rows, trial->rows.count - 1, column) : NAN;
}

// Value of a column in the first row at a time.
static inline double
trial_value(const Trial *trial, double time, uint32_t column)
{
    for (uint32_t r = 0; r < trial->rows.count; r++)
        if (fabs(rows_at(&trial->rows, r, 0) - time) < 1e-9)
            return rows_at(&trial->rows, r, column);
    return NAN;
}

#endif
