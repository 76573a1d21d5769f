// design.h: the door of frontend/design: the design of a study, from its text to the values of each run.
//
// In: a study file (docs/studies.md).
// Out: what it asks for (Study), bound to a compiled model (Binding), and the values of the factors of any run.
// Read first: design.h, then design.c, then study_read.c.
// Also open to other rooms: cells.h, sobol.h, student.h.
//
// A study is a function from a number, the id, to values of factors: nothing is drawn in an order, so that any process makes any run, and
// all make the same.
#ifndef MDLC_FRONTEND_DESIGN_DESIGN_H
#define MDLC_FRONTEND_DESIGN_DESIGN_H

#include <stdbool.h>
#include <stdint.h>

#include "frontend/design/distribution.h"
#include "ir/base/arena.h"
#include "ir/base/diag.h"
#include "runtime/shell/options.h"

typedef struct Factor {
    const char *name, *written; // as the study has its values
    Span span;
    Distribution values;
    bool structural;            // the model is compiled for each value
    const char **text;          // of a structural factor: its values as --set takes them; values are indices into it
} Factor;

typedef enum OutputKind {
    OUTPUT_FINAL, OUTPUT_MIN, OUTPUT_MAX, OUTPUT_MEAN, OUTPUT_RMS, OUTPUT_INTEGRAL, OUTPUT_AT, OUTPUT_FIRST
} OutputKind;

typedef struct StudyOutput {
    const char *name;           // of its column
    const char *variable, *written;
    Span span;
    OutputKind kind;
    double argument;            // the time of OUTPUT_AT, the value that OUTPUT_FIRST compares with
    bool below;                 // OUTPUT_FIRST: when the variable comes below it; else above
} StudyOutput;

typedef struct StudySetting { // set NAME = VALUE
    const char *name, *value;
} StudySetting;

typedef enum DesignKind {
    DESIGN_GRID, DESIGN_ZIP, DESIGN_RANDOM, DESIGN_LATIN_HYPERCUBE, DESIGN_SOBOL, DESIGN_POINTS
} DesignKind;

typedef struct Study {
    const char *name, *path;    // of the file
    const char *model, *class_name; // the file or class of the model; NULL: its only class
    DesignKind design;
    const char *design_written;
    uint64_t seed, runs;
    Factor *factor;
    uint32_t factors;
    StudyOutput *output;
    uint32_t outputs;
    StudySetting *set;
    uint32_t n_set;
    RunSettings run;            // what its run() gives
    const char *run_written;    // may be NULL
    const char *keep;           // which variables' trajectories are kept, a regular expression; NULL: none
    double *root;               // factors x factors: lower Cholesky factor of their correlations; NULL: there are none
    const char *correlated;     // as written; may be NULL
    const double *point;        // runs x factors of DESIGN_POINTS
    uint64_t points_hash;       // of their file
    uint32_t builds;            // how many combinations of structural values there are
    const char **kept_name;     // of study_bind(), where trajectories are kept
    uint32_t kept;
} Study;

// The names of a study in one build of its model.
typedef struct Binding {
    const struct mdl_model *model;
    uint32_t *settable;         // of each factor: index into the model's settables
    uint32_t *column;           // columns of a run, indices into the model's outputs; the last ones are those of trajectories
    uint32_t columns;
    uint32_t *of_output;        // of each output: which of the columns
} Binding;
enum { SETTABLE_NONE = UINT32_MAX, SETTABLE_TOLERANCE = UINT32_MAX - 1 }; // a structural factor; the tolerance of the solver

// The study in the file at `path`, in `arena`; NULL after messages. *unreadable: the file could not be read.
Study *study_read(const char *path, Sources *sources, Arena *arena, Diags *diags, bool *unreadable);
void study_free(Study *study); // what is not in the arena

// --- binding.c
// Looks up names in a compiled model; false after messages.
bool study_bind(Study *study, const struct mdl_model *model, Arena *arena, Diags *diags, Binding *binding);

// --- design.c
// Values of the factors of run `id`; of a structural factor the number of its value.
void design_point(const Study *study, uint64_t id, double *value);
// Which build those values need: a number below study->builds.
uint32_t design_build(const Study *study, const double *value);
// The number of the value of structural factor `k` in that build.
uint32_t design_build_value(const Study *study, uint32_t build, uint32_t k);

// --- study_plan.c
// What runs depend on, a line for each thing, with hashes of the libraries: who continues compares it.
void study_plan(const Study *study, const char *version, const uint64_t *library, Out *out);
// What two plans differ in, for people.
void study_difference(const char *was, const char *is, Out *out);

#endif
