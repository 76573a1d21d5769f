// gauss_inner.h: what the files of the Gauss method share: one step (gauss_attempt.c), its length (gauss_length.c), values between steps (gauss_dense.c).
// gauss.c is the integrator.
#ifndef MDLC_RUNTIME_SOLVER_GAUSS_INNER_H
#define MDLC_RUNTIME_SOLVER_GAUSS_INNER_H

#include "runtime/point/point.h"
#include "runtime/solver/solver.h"
#include "runtime/step/stages.h"

enum { GAUSS_ATTEMPTS = 60 };

static const double GAUSS_SHORTEST = 1e-10; // of the run: a step

struct Ode {
    Collocation method;
    Stages *stages, *inside;    // of the step; of steps inside it
    uint32_t n;
    double step;                // the constant step, 0: not chosen
    double chosen;              // what it was at first
    double anchor;              // time at which counting steps began
    uint64_t count;             // steps of full length since
    double from, length;        // the last accepted step
    bool searching;             // no step was accepted since the run began
    double surprise;            // of the last attempt, see surprise_of
    double trusted;             // surprise up to which the step is known to be good
    double nearness;            // of the last attempt to singular positions, see nearness_at
    double nearness_before;     // the same of the step before
    double ordinary;            // the least so far
    uint32_t unchecked;         // steps since the last comparison
    uint32_t history;           // past steps of the present length whose slopes are known, at most 2
    double *older, *newer;      // those slopes, GAUSS_STAGES x n each
    double *start, *slope;      // y and f at the start of the last step
    double *carry, *next_carry; // what compensated summation has not added yet
    double *base;               // start, moved by the projection
    double *next, *other;       // the end of the step; the same by two half steps
    double *lift, *rho;         // of the projection
    Projection *at_start, *at_end;
    double *behind;             // the latest BEHIND points since the method began: time, y, f
    uint32_t n_behind;          // how many there have been
    bool noisy;                 // the latest attempt comes near to a singular position
    bool warned;                // of a step that has become much shorter
    uint32_t creeping;          // steps taken since then with such a step
    bool recovering;            // the step has been much shorter, and is not yet what it was
    bool longer;                // the latest change made it longer
    uint32_t wait, waited;      // steps until it is tried longer; since it was changed
    double place[GAUSS_POINTS];       // of the points of the interpolation, as fractions of the step
    bool dense;                 // `divided` belongs to the last step
    double *divided;            // 2*GAUSS_POINTS x n: divided differences of the interpolation
    double *value, *rate;       // interpolated
    bool beside;                // the last step was made beside those of other runs, and its slopes are there
};

// --- gauss.c: of a step that begins at run->time
// Where it ends, at most at `limit`; *whole: not there. Its length.
double gauss_plan(Run *run, double limit, bool *whole);
// A shorter one is none, or too many would be left to be made.
bool gauss_is_hopeless(Run *run, double limit);
MDL_CHECKED int gauss_check_pace(Run *run);
// A step of length h has been accepted.
void gauss_note(Ode *ode, double h, bool whole);

// --- gauss_attempt.c
// A step of length h from `start`; its end is in `next`. False: not solved, or too near to a singular position (`noisy`).
bool gauss_attempt(Run *run, double h);
// A step of length h that begins at the fraction `begin` of the present one: y := y + h * sum of b_j f_j.
bool gauss_step_inside(Run *run, Ode *ode, double begin, double length, double h, double *y);
double gauss_norm(const Run *run, const double *y, const double *difference); // in units of the tolerance
// How far rounding of the invariants moves states near the point y, in units of their sizes. Clobbers `value`.
double gauss_nearness(const Run *run, Projection *projection, const double *y);
// The most of it at the stages of a step of length h from y at `time`; no more are looked at when it is above `limit`.
double gauss_nearness_of_stages(Run *run, double limit, const Stages *stages, double time, const double *y, double h);
// Nearness above which rounding moves states by more than this share of the tolerance.
double gauss_noisy(const Run *run, double share);

// --- gauss_length.c
bool gauss_is_much_shorter(const Ode *ode); // than at first
void gauss_change_step(Run *run, double factor);
void gauss_recover(Run *run); // after each step
// After an attempt that converged; false: the step has been changed.
bool gauss_is_good(Run *run, double h, bool cut, int attempt);
// What it consists of: what was compared before vouches for this step; the step's error in units of what is allowed, by a comparison (INFINITY: that failed), or
// from the distance of two half steps in tolerances; what that says of the step.
bool gauss_is_vouched(Run *run);
double gauss_error(Run *run, double h);
double gauss_error_of(const Run *run, double distance);
bool gauss_is_within(Run *run, double h, bool cut, int attempt, double error);
double gauss_first_guess(const Run *run);

// --- gauss_dense.c
MDL_CHECKED int gauss_interpolate(Run *run, double time);
// The places of the points of a polynomial without singular positions within the step.
extern const double gauss_places[GAUSS_POINTS];

#endif
