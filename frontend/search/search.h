// search.h: the door of frontend/search: quantities of a model that many runs look for.
//
// In: a compiled model with directional derivatives, names of free quantities, data of experiments.
// Out: values with how well they are known: least squares with confidence intervals.
// Read first: search.h, then trial.c, then least_squares.c.
// Also open to other rooms: fit.h, search_text.h.
//
// All functions: false, or a number other than 0, goes with lines in `why`.
#ifndef MDLC_FRONTEND_SEARCH_SEARCH_H
#define MDLC_FRONTEND_SEARCH_SEARCH_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/arena.h"
#include "ir/base/out.h"
#include "runtime/model/sim.h"
#include "runtime/model/model.h"

typedef struct FreeQuantity {
    const char *name, *unit;    // unit: "" where there is none
    uint32_t settable;          // index into the model's
    double start, low, high;    // low, high: infinite where there is no bound
} FreeQuantity;

typedef struct FreeList {
    FreeQuantity *at;
    uint32_t n;
} FreeList;

// --- free_quantities.c
// Reads "a,b[2]=0.1..3,c=..5" behind what the list has already.
bool free_read(const char *list, Arena *arena, FreeList *free, Out *why);
// Finds the names among what the model lets be set at a run.
bool free_bind(FreeList *free, const mdl_model *model, Arena *arena, Out *why);
// Where they begin, and the limits of the model, from the values of a run that was opened.
bool free_begin(FreeList *free, const mdl_model *model, const double *v, Out *why);
// "--set a=1 --set b=2", with digits that give the same values again.
void free_print_set(const FreeList *free, const double *x, Out *out);
// Point `id` of `starts` in the bounds: 0 is where the search begins, the others are spread by a Sobol sequence; over several powers of ten
// by the logarithm. False: a quantity has no two bounds.
bool free_spread(const FreeList *free, uint32_t id, double *x, Out *why);

// --- trial.c: one run with other values
// Who compiles tangents for several directions at once when runs have cost enough, or at once.
typedef struct TrialCompiler {
    const mdl_directions *(*directions)(void *engine, uint32_t width); // 4 or 8; NULL: they have no such form
    void *engine;
    bool at_once;
} TrialCompiler;

typedef struct Trial {
    const mdl_model *model;
    const FreeList *free;
    mdl_options options;        // of every run; without columns, sink, overrides and messages
    const uint32_t *column;     // indices into the model's outputs
    uint32_t columns;
    const mdl_override *override; // besides the free quantities
    uint32_t overrides;
    const TrialCompiler *compiler; // NULL: there is none
    uint64_t runs, failed;
    uint64_t sides, together;   // right sides with derivatives of all runs, and of these for several quantities at once
    char said[500];             // the first line of what the last run that failed said
    // Of trial_create():
    mdl_model wide;             // with places for derivatives
    mdl_override *place;
    mdl_sense sense;
    uint32_t *wide_column;
} Trial;

// A row of a run: time, then the columns. With derivatives, behind them: each column by each quantity, how the time of the last event moves by
// each quantity, and the rates of the columns.
typedef void TrialRow(void *user, const double *row);

void trial_create(Trial *trial, Arena *arena);
// False: the run failed, `said` tells why; trial->options.interrupt may be why.
bool trial_run(Trial *trial, const double *x, bool derivatives, TrialRow *row, void *user);
// Where derivatives begin in a row.
static inline uint32_t
trial_derivative(const Trial *trial, uint32_t column, uint32_t quantity)
{
    return 1 + trial->columns + column * trial->free->n + quantity;
}
// How the time of the event moves in whose rows these stand.
static inline uint32_t
trial_instant(const Trial *trial, uint32_t quantity)
{
    return 1 + trial->columns + trial->columns * trial->free->n + quantity;
}
// The derivative of a column by time.
static inline uint32_t
trial_rate(const Trial *trial, uint32_t column)
{
    return 1 + trial->columns + (trial->columns + 1) * trial->free->n + column;
}

#endif
