// radau_inner.h: what radau.c and radau_lanes.c share: the control of steps, orders and iterations.
#ifndef MDLC_RUNTIME_SOLVER_RADAU_INNER_H
#define MDLC_RUNTIME_SOLVER_RADAU_INNER_H

#include "runtime/linear/radau_rule.h"
#include "runtime/linear/shifted.h"
#include "runtime/point/run.h"
#include "runtime/step/jacobian.h"
#include "runtime/step/step.h"

enum { RADAU_RULES = 3, RADAU_ATTEMPTS = 100 };

struct Ode {
    const RadauRule *rule;      // RADAU_RULES of them: run->radau_rules, or those of an ensemble
    uint32_t order;             // the rule in use
    bool stands;                // and is used throughout, in an ensemble
    uint32_t n;
    Jacobian *jacobian;
    Shifted *shifted;
    Projection *projection;     // NULL: all states are free
    double *z, *w, *f, *scratch; // STAGES x n each: offsets, transformed ones, slopes, anything
    uint32_t taken;             // the rule of the step that `z` belongs to
    double *past;               // offsets of the last step; number k of stage j is past[(j*n + k)*stride]
    uint32_t past_order;        // its rule
    double from, length;        // the last step; 0: none
    double *start, *tilt;       // its beginning, in the same way; how far its end was moved
    size_t stride;              // 1, or the width of the ensemble that `past` and `start` are columns of
    double *own;                // all arrays that are not
    const double *errors;       // of the last step, by stride: of the ensemble; NULL: in `error`
    double *y, *slope;          // the beginning of the present step
    double *weight, *error, *point, *right;
    double step;                // the next one, 0: not known
    double before, error_before; // the last step and its error, of the controller
    double rate;                // of the latest iteration
    uint32_t settled;           // steps since the order has changed
    bool first, rejected;       // no step since the start; the last attempt
    bool assembled;             // the jacobian is that of the present point or of one that still serves
    bool current;               // it is that of the present point
    double factored;            // the step that the factors belong to, 0: none
    uint32_t factored_order;
    uint32_t iterations;        // of the latest attempt
    double size;                // of its error
};

typedef enum RadauOutcome { RADAU_GOES_ON, RADAU_GOOD, RADAU_FAILED, RADAU_SLOW } RadauOutcome;

// Newton's iteration for the stages of a step.
typedef struct RadauIteration {
    uint32_t count, most;
    double before, rate_before, rate;
    double goal;
    double factor; // by which the step shall change when the iteration would end too late
} RadauIteration;

// --- radau.c
bool radau_rules_init(RadauRule *rule); // RADAU_RULES of them
// The point, its slope and the weights there, at the beginning of a step.
void radau_begin(Run *run);
double radau_first_guess(const Run *run);
// The length of a step that should have `wanted`.
double radau_length(const Run *run, double limit, double wanted);
void radau_iteration_begin(const Run *run, RadauIteration *it, uint32_t stages);
// By the size of the next correction, in units of the tolerance.
RadauOutcome radau_iteration_judge(RadauIteration *it, double size);
// Weights of the offsets of a step at the fraction x of it: of the value, or of its derivative by x.
void radau_offset_weights(const RadauRule *rule, double x, bool derivative, double *weight);
// The point of the step before that tells most about the error of a step of length h: where it is, in units of h from run->time, and (*there) as a fraction of
// that step.
double radau_point_before(const Run *run, double h, double *there);
void radau_choose_order(Ode *ode, double ratio, bool failed);
// From ode->size and what else the latest attempt has left.
double radau_next_step(const Ode *ode, double h);
// What a step that was accepted leaves for the next one.
void radau_plan(Run *run, double h, bool cut, double wanted);

#endif
