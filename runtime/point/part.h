// part.h: what takes part in a run besides the integration of the model's equations: laws, what is remembered, what is watched.
//
// Each part is a row of functions; parts.def lists them. Evaluations, steps and snapshots go through the rows in their order, so that a
// run is saved by one loop. A function that is NULL has nothing to do.
#ifndef MDLC_RUNTIME_POINT_PART_H
#define MDLC_RUNTIME_POINT_PART_H

#include "runtime/point/run.h"
#include "runtime/point/snapshot.h"
#include "runtime/point/tangent.h"

struct RunPart {
    const char *name;
    MDL_CHECKED int (*create)(Run *run); // MDL_INTERNAL, silently: memory is exhausted; MDL_MODEL: it has told what is wrong
    void (*free)(Run *run);              // also what create() has only begun
    // The model has something for it: the functions below are called. NULL: they are called in any case.
    bool (*present)(const Run *run);
    void (*begin)(Run *run);             // the model's values are in v, and nothing is evaluated yet
    // --- evaluations (evaluate.c, tangent.c)
    // Values of the past, at the time and the states in v. True when what they were looked up with may follow from the dynamics,
    // and then whether it has moved: then they are looked up again, in pass 1, 2, ... of the same evaluation. Where that does not end
    // `tell_open` says of what.
    bool (*load)(Run *run, unsigned pass);
    bool (*moved)(const Run *run);
    void (*tell_open)(const Run *run);
    void (*react)(Run *run); // behind the dynamics: what acts on dx
    void (*clamp)(Run *run); // behind that: derivatives that are exactly zero
    MDL_CHECKED int (*share)(Run *run, bool report); // forces that the equations leave open, once these are solved
    MDL_CHECKED int (*close_row)(Run *run); // of a row: moves states in v onto what laws of rates say of them
    void (*rates)(const Run *run, const double *mode, double *rate); // of the exponentials in `mode`
    void (*react_tangent)(Run *run); // the same for directional derivatives,
    bool (*reacts)(const Run *run);  // and whether anything does; NULL: it may
    void (*clamp_tangent)(const Run *run, double *rate, uint32_t width); // in `width` directions side by side: those of the rate of state i from rate[i*width] on
    // Tangents of values of the past, in the direction that is in `tangent`, for parameter p of Sense, or UINT32_MAX: no parameter moves.
    void (*seed)(const Run *run, Tangent *tangent, uint32_t p);
    // --- steps (advance.c)
    double (*limit)(const Run *run); // where the next one must end at the latest
    MDL_CHECKED int (*record)(Run *run, double before, double instant); // one was accepted, up to an instant in it
    // --- the state of the run
    void (*snapshot)(Run *run, Snapshot *snapshot);
    // After the state was saved or restored, before anything else: what would be found again, and differ by rounding (the pivots of
    // a matrix), is forgotten, so that the run that was saved and the one that goes on from there do the same.
    void (*settle)(Run *run);
};

#define PART(name) extern const RunPart name##_part;
#include "runtime/point/parts.def"

#endif
