// delay_inner.h: what the files of delayed values share: the history (delay_history.c), values from it (delay_values.c), and their sensitivities
// (delay_tangents.c). delay.c is the part of a run.
#ifndef MDLC_RUNTIME_MEMORY_DELAY_INNER_H
#define MDLC_RUNTIME_MEMORY_DELAY_INNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/memory/delay_times.h"
#include "runtime/memory/memory.h"
#include "runtime/memory/past_polynomial.h"
#include "runtime/memory/step_points.h"
#include "runtime/point/tangent.h"

typedef struct Break {    // an event within the history, or the start
    double time;
    uint64_t point;       // the first point after it, counted from the start of the run
    uint32_t level;       // 0: not made by a delay alone; otherwise how many delays it has passed
    bool jumped;          // an input had another value behind it
} Break;

struct Delays {
    StepPoints step;      // points of the latest step
    double *time;         // of the points; all inputs are sampled together
    double *value;        // n_delays per point
    uint8_t *starts;      // per point: it stands behind an event
    uint32_t parameters;  // sensitivities are wanted to so many of them
    double *moved;        // per point, delay and parameter: the derivative of the value
    double *tau;          // per break and parameter: the derivative of its time
    double *noted;        // per delay and parameter: the derivative of what is delayed now
    double *behind;       // per delay: how fast what is delayed moves behind the latest event
    size_t points, capacity;
    uint64_t dropped;     // points given up at the front
    double needed;        // rows and points of the last step may still be asked for from here on
    Break *broken;
    size_t breaks, break_capacity;
    size_t *passed;       // per delay: breaks that its argument has passed; the first is the start
    DelayTimes times;     // for which the values in v were looked up
    double *came;         // per delay: the time of the past that it has come to at the end of the latest step,
    double *rate;         // and how fast that moves while time does by one
    double came_at, before; // the end of that step and of the one before
    bool moving;          // some delay time may change
    bool weighted;        // some delay may vanish
    double reach;         // with these: the length of the next step at which the polynomial beyond the last point is right
    bool failed;          // out of memory
    uint32_t levels;      // breaks of a higher level are not followed
    uint32_t next_level;  // of the event at the next instant
};

// Points whose polynomial gives the value at `time`.
typedef struct Nodes {
    size_t first, count;
    double time;
} Nodes;

// Points that make a polynomial with that of the present instant, latest first: about as far apart as that is from the last of them, since
// closer ones would multiply what rounding and the integrator leave in their values. No break divides them.
typedef struct Latest {
    size_t at[POLYNOMIAL_ORDER], count;
} Latest;

// Numbers of which each point has `stride`.
typedef struct Kept {
    const double *value;
    size_t stride;
} Kept;

// --- delay_history.c
double delay_input(const Run *run, uint32_t k);        // what delay k delays, in v
void delay_read_row(const Run *run, double *row);      // the same of all
bool delay_more_points(Delays *delays, uint32_t n, size_t capacity); // room; false: out of memory
bool delay_more_breaks(Delays *delays, size_t capacity);
// Out of memory these set `failed`.
void delay_add_point(Run *run, double time, const double *row, bool starts);
void delay_add_start(Run *run); // a new stretch of the history begins at the values in v
void delay_add_break(Run *run, uint32_t level, bool jumped);

// --- delay_values.c
bool delay_is_jump(double left, double right);
// First point of [low, high) behind time, or high.
size_t delay_first_behind(const Delays *delays, size_t low, size_t high, double time);
// Of numbers of which each point has `stride`; the derivative of the polynomial goes to *slope.
double delay_interpolate(const Delays *delays, const double *value, size_t stride, const Nodes *nodes, double *slope);
Nodes delay_nodes(const Run *run, uint32_t k, double time);
Latest delay_latest(const Delays *delays, double now);
Kept delay_kept(const Run *run, uint32_t k);
// The polynomial through the first `count` of them and what is delayed now: the present value's share in the value at `time`, and
// what the points give.
double delay_share(const Run *run, Kept kept, const Latest *latest, size_t count, double time, double *rest);
bool delay_vanishes(const Run *run, uint32_t k);
bool delay_beyond(const Run *run, uint32_t k, double time); // beyond the last point, on the near side of jumps
// Of the RunPart: values at the time in v; whether the dynamics gave other delay times; which.
bool delay_load(Run *run, unsigned pass);
bool delay_moved(const Run *run);
void delay_tell_open(const Run *run);

// --- delay_tangents.c
void delay_tangents(const Run *run, Tangent *tangent, uint32_t p); // of the RunPart
MDL_CHECKED int delay_note_present(const Run *run); // what is delayed at the point in v, which is evaluated
void delay_keep_noted(const Run *run);              // beside the latest point, if that is it

#endif
