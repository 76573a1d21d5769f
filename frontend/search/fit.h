// fit.h: values of free quantities with which a model's runs come nearest to what was measured.
#ifndef MDLC_FRONTEND_SEARCH_FIT_H
#define MDLC_FRONTEND_SEARCH_FIT_H

#include "frontend/search/least_squares.h"
#include "frontend/search/measured.h"
#include "frontend/search/search.h"

typedef struct FitColumn {      // a column of data that a variable is compared with
    uint32_t data;              // of Measured
    uint32_t deviations;        // the column with its standard deviations; UINT32_MAX: none
    uint32_t kind;              // of Fit.kind
    double scale, offset;       // value in the unit of the variable = scale*data + offset
    double deviation_scale;     // of the deviations
} FitColumn;

typedef struct FitKind {        // a variable, in all files
    const char *name, *unit;
    uint32_t output;            // of the model
    double deviation;           // standard deviation of its measurements: given, or found from residuals
    bool given;
    uint64_t n;                 // values
    double squares;             // sum of squares of its residuals, in its unit
    double spread;              // of its data about their mean
} FitKind;

typedef struct Experiment {
    Measured data;
    FitColumn *column;          // columns
    uint32_t columns;
    Trial trial;
    double *value;              // rows x columns: of the model, at the point of the last evaluation
    double *measured;           // rows x columns in the unit of the variable; NAN: none
    double *deviation;          // rows x columns; NAN: that of the kind
    double *best;               // value at the end
    uint32_t first;             // where its residuals begin
    // Of an evaluation:
    double *derivative;         // rows x columns x quantities
    uint32_t row;
} Experiment;

typedef struct FitRequest {
    const mdl_model *model;
    const mdl_options *options;
    FreeList *free;
    const char *const *files;
    uint32_t n_files;
    const char *columns;        // "COLUMN=VARIABLE,..."; NULL: all, by their names
    const char *deviations;     // "VARIABLE=VALUE,..."; NULL: as in the data, or from residuals
    uint32_t starts, runs_most;
    bool stop_given;
    const TrialCompiler *compiler; // may be NULL
} FitRequest;

typedef struct Fit {
    FreeList *free;
    FitKind *kind;
    uint32_t kinds;
    Experiment *experiment;
    uint32_t experiments;
    uint32_t values;            // that were measured
    bool weighted;              // all measurements have standard deviations of their own
    double *x, *begin;          // found, and where the best search began
    double chi2;                // sum of squares over standard deviations
    double *covariance, *error; // n x n, n; NAN where it is not known
    double quantile;            // of Student's distribution: the interval of 95 % is x +- quantile*error
    Precision precision;
    SearchEnd end;
    uint64_t runs, failed;
    uint64_t sides, together;   // right sides with derivatives, and of these for several quantities at once
    uint32_t starts, agreeing;  // searches, and how many came to the same sum
    uint64_t by_differences;    // points at which derivatives were differences, because
    char reason[500];           // of this
    char said[500];             // what a run that failed said last
} Fit;

// Finds the values. An exit code: 1 or 2 or 5 with lines in `why` when there is nothing to show; otherwise 0, also where the search
// did not come to an end (fit->end).
int fit_find(const FitRequest *request, Arena *arena, Fit *fit, Out *why);

// --- fit_text.c
void fit_print(const Fit *fit, const char *model, Out *out);
void fit_print_json(const Fit *fit, const char *model, Out *out);
// Data, model and residuals, a row for each row of the files.
void fit_print_table(const Fit *fit, Out *out);
// Names of what the data do not determine: "a and b together".
void fit_print_undetermined(const Fit *fit, Out *out);

// --- fit_picture.c
// Into a .svg, .png or .pdf; 0, 2 or 5 with a line in `why`.
int fit_draw(const Fit *fit, const char *path, Out *why);
// A page with all of it.
int fit_page(const Fit *fit, const char *model, const char *path, Out *why);

#endif
