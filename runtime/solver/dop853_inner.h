// dop853_inner.h: what dop853.c and dop853_lanes.c share: the arrays of a step, of one run or of several side by side.
#ifndef MDLC_RUNTIME_SOLVER_DOP853_INNER_H
#define MDLC_RUNTIME_SOLVER_DOP853_INNER_H

#include "runtime/linear/dop853_rule.h"
#include "runtime/point/run.h"
#include "runtime/step/step.h"

// Number i of the run in column l stands at i*stride + l.
typedef struct Steps {
    size_t stride, chunks;      // chunks of DOP853_WIDTH numbers
    size_t size;                // from one array to the next
    double *block;              // all arrays
    double *start, *end;        // of the last step, or of the one that is tried
    double *slope[DOP853_SLOPES], *term[DOP853_TERMS];
    double *carry, *left;       // what rounding has taken off `start`, and off `end`
    double *weight, *error, *point, *rate;
    bool between;               // `term` is that of the step
} Steps;

bool steps_create(Steps *steps, uint32_t n, uint32_t stride); // false: out of memory
void steps_free(Steps *steps);

typedef struct Bridge Bridge;

struct Ode {
    uint32_t n;
    Steps own;                  // of steps that are made alone; without a block: there was none yet
    Steps aside;                // the same for a value within a step that the polynomial does not know; without a block: not needed yet
    Steps half[2];              // the last step in two halves; without a block: not needed yet
    bool judged, halved;        // it is known whether values within the last step are those of its halves; they are
    Steps *at;                  // those that have the last step
    double from, length;        // of the last step; length 0: none
    double step;                // the next one; 0: not known
    double before;              // the one that would have come before the latest start; 0: there was none, or there have been steps
    double *held, *carry;       // what rounding has taken off unknowns of these values; others begin with nothing
    bool fresh;                 // run->yp is the slope at run->y
    bool rejected;              // the latest attempt
    bool off;                   // it ended where nothing leads back to the invariants
    uint32_t stiff, calm;       // steps that stability has limited, and others behind them
    double rate;                // of the equations, the largest that was seen lately; 0: none
    double *direction, *probed; // along which it was seen; slopes
    bool shortened;             // the latest attempt, by stability
    bool stuck;                 // there is no step, however short
    bool unclear;               // it may end near a singular position
    double *left;               // of a run in an ensemble: what rounding has taken off the unknowns of the step that is ready
    Projection *projection;     // NULL: all states are free
    Bridge *bridge;             // over singular positions; NULL: all states are free
};

// The step that is tried next.
typedef struct Attempt {
    double length, to;
    bool last;                  // it ends at the limit
} Attempt;

// --- dop853.c
// Before an attempt: the slope at run->y, weights and the length of a first step. They go into the column of `steps`. False: there is no right side.
MDL_CHECKED bool dop853_prepare(Run *run, Steps *steps, double limit);
Attempt dop853_attempt(const Run *run, double limit);
// Behind it, with the size of its error (NaN: a stage had no right side): whether it is accepted. ode->step is the next one; ode->stuck may be set.
bool dop853_accept(Run *run, Attempt attempt, double size);

// The size of the error of an attempt in the run's column of `steps`, or of what stability asks for. squares: the sums of dop853_differences() over all unknowns.
double dop853_judge_stability(Run *run, const Steps *steps, const double *squares, double length, double error);

// The slope at a point. MDL_FAILED without a message: there is none.
MDL_CHECKED int dop853_right_side(Run *run, double time, const double *y, double *slope);
// Slopes `from` to `to` - 1 of a step from `time`, whose length stands DOP853_WIDTH times in `step` (dop853_lengths()). False: there is none.
MDL_CHECKED bool dop853_stages(Run *run, Steps *steps, double time, const double *step, uint32_t from, uint32_t to);
void dop853_lengths(double length, double *step);
// Whether an attempt whose end is on the invariants comes too near a position in which they depend on each other to be taken.
bool dop853_nears_singular(Run *run, const double *end);
double dop853_estimate(const Run *run, Steps *steps, double length); // the size of a step's error by its slopes; steps->error has it per unknown
MDL_CHECKED int dop853_report(Run *run); // MDL_FAILED: there is no step

// --- dop853_dense.c: values within a step
MDL_CHECKED int dop853_interpolate(Run *run, double time);
// What the polynomial of a step may be wrong by, in units of the tolerance: a tenth of what its last term is at most, x^4*(1 - x)^3 of it. Near the limit of
// stability, where what is fast moves within a long step, errors at the ends of steps tell nothing of it. Beyond DOP853_WRONG values within are made by halves.
double dop853_wrong(const Run *run, const Steps *steps);
#define DOP853_WRONG 4.0
// How far the projection of a value within the step has led, from states that stand `stride` places apart, in units of what a step may be wrong by. Where that is far
// the polynomial is no good: of the slopes that belong to nothing else one was taken in a position in which invariants depend on each other, and is noise.
double dop853_way(const Run *run, const Steps *steps, const double *from, size_t stride, const double *to);
#define DOP853_FAR 10.0

// --- dop853_bridge.c: steps over positions in which invariants depend on each other
enum { BRIDGE_SLOPES = 10 };
Bridge *bridge_create(uint32_t n); // NULL: out of memory
void bridge_free(Bridge **bridge);
void bridge_forget(Bridge *bridge); // the motion begins anew
void bridge_snapshot(Bridge *bridge, struct Snapshot *snapshot);
void bridge_note(Bridge *bridge, double time, const double *y, double noise, double least); // a step has ended there, with this noise of the invariants; the least of them
double bridge_usual(const Bridge *bridge); // a bridge begins as near a position as that; 0: too little is known of the motion
// A step from run->time over a singular position, near which an attempt has just ended, at `beyond`; it may begin before run->time, and ends behind `beyond`, at or before `limit`.
// The run is there, with its slope in v. False: there is none.
MDL_CHECKED bool bridge_over(Run *run, double beyond, double limit);
bool bridge_made(const Bridge *bridge); // it was the last step; NULL: never
void bridge_value(const Bridge *bridge, double time, double *y, double *yp); // within it

#endif
