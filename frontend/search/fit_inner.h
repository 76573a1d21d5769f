// fit_inner.h: what fit.c (searches), fit_data.c (what was measured) and fit_runs.c (residuals of runs) share.
#ifndef MDLC_FRONTEND_SEARCH_FIT_INNER_H
#define MDLC_FRONTEND_SEARCH_FIT_INNER_H

#include "frontend/search/fit.h"

enum { FAULT_MODEL = 1, FAULT_USAGE = 2, FAULT_IO = 5 };

typedef struct Fitting {
    const FitRequest *request;
    Fit *fit;
    Arena *arena;
    Out *why;
    LeastSquares problem;
    double *shifted;            // residuals, for differences
    double step;                // of differences, relative
} Fitting;

// --- fit_data.c
// Reads all files into fit->experiment, with a trial for each. An exit code, with lines in `why`.
int fit_read(Fitting *fitting);

// --- fit_runs.c
// LeastSquares.evaluate: residuals of all experiments, and unless it is NULL their Jacobian.
bool fit_evaluate(void *user, const double *x, double *residual, double *jacobian);
// The standard deviation of value `at` of an experiment.
double fit_deviation(const Fit *fit, const Experiment *e, size_t at);

#endif
