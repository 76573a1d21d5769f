// seek.h: one search for the least value of a combination of objectives, under constraints: what seek.c, front.c and recorded.c share.
#ifndef MDLC_FRONTEND_OPTIMUM_SEEK_H
#define MDLC_FRONTEND_OPTIMUM_SEEK_H

#include "frontend/optimum/optimiser_library.h"
#include "frontend/optimum/optimum.h"

// offset + sum of weight * objective, of objectives over their sizes.
typedef struct Aim {
    double weight[OBJECTIVES_MOST], offset;
} Aim;

typedef struct Seeking {
    const OptimumRequest *request;
    Optima *optima;
    Arena *arena;
    Nlopt nlopt;
    uint32_t n;
    struct Recorded *record;    // NULL: none
    bool corners;
    // Quantities as the search has them: 0 to 1 between bounds.
    double *low, *width;        // x = low + width*z; width < 0: x = low*exp(-width*z)
    double *z_low, *z_high;
    double *size;               // of each goal: the search has values over it
    // The point that was evaluated last.
    double *z, *x, *value, *slope; // value: goals over their sizes; slope: goals x n, by z
    double *step, *derivative;  // of all steps
    bool known, sloped, good;
    uint32_t failures;          // runs that failed, less those that did not
    double ceiling;             // the largest aim of a run so far: one that fails is above it
    Aim aim, limit;             // limit: not positive, when `limited`
    bool limited;
    bool lost;                  // a run had no derivatives, on which the search relied
    // The best point since seek() was called.
    bool found;
    double *best_z, *best_step, best, best_worst; // best_step: of all steps
    SearchEnd stop;             // why it was stopped from within
    NloptProblem problem;       // while it runs
} Seeking;

// From x on, where constraints are all those of the request and, unless it is NULL, `limit` <= 0. result->x is filled in.
void seek(Seeking *seeking, const double *x, const Aim *aim, const Aim *limit, Optimum *result);
// The search may go on: neither a signal nor the number of runs has ended it.
bool seek_may(Seeking *seeking);
// An empty result.
Optimum optimum_create(const OptimumRequest *request, Arena *arena);

// --- front.c: the points of a front, into optima->at.
void front_find(Seeking *seeking);

// --- recorded.c: runs in a file
typedef struct Recorded Recorded;
// Reads what the file has, or begins it. NULL with a line in `why`.
Recorded *recorded_open(const char *path, const OptimumRequest *request, Out *why);
void recorded_close(Recorded *recorded);
// The run at x with derivatives, or without: true when the file has it; *good and, when it came to its end, output and slope as of outcome_run();
// otherwise `said`. The first of them is not told: whoever makes it again compares.
bool recorded_find(const Recorded *recorded, const double *x, bool derivatives, bool *good, double *output, double *slope, char *said, size_t room);
// Appends a run; false with a line in `why`: it cannot be written.
bool recorded_put(Recorded *recorded, const double *x, bool derivatives, bool good, const double *output, const double *slope, const char *said, Out *why);
// The first run of the file, made again at `x`, has other outputs: the model is another one.
bool recorded_differs(const Recorded *recorded, const double *x, bool derivatives, bool good, const double *output);

#endif
