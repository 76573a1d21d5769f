// history.h: IDA's history: the polynomial of the last step, one for a restart, one to resume with, and its shift by projections. Included by
// ida_inner.h only.
#ifndef MDLC_RUNTIME_SOLVER_HISTORY_H
#define MDLC_RUNTIME_SOLVER_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/point/run.h"

typedef struct History History;

// For `ny` unknowns of the integrator. NULL: out of memory.
History *history_create(uint32_t ny);
void history_free(History **history);

// Estimates the derivatives at run->time by evaluating the model a little later, never later than `most`, and
// returns the step for which the error of order 3 is a small part of what `weight` (1/size, per unknown) allows;
// 0 when there is none of at least `least`. `guess`: where to look first. run->v is what it was before.
double history_estimate(History *history, Run *run, const double *weight, double guess, double most, double least);
// After IDAReInit at the point of the estimate: the memory of IDA (of its second or a later start) is what it would
// be after constant steps of this size and order 3. False: this memory admits no such history and is as it was.
bool history_install(const History *history, void *ida, double step);

// IDA's memory between two steps into a block or out of it, then that of an IDA which was created alike.
void history_snapshot(void *ida, uint32_t n, struct Snapshot *snapshot);

// Before IDAReInit at a `time` within the last step: remembers the polynomial of that step from there backwards, its order and
// the next step that was meant. False: there is none, or so short a one that a start is better.
MDL_CHECKED bool history_keep(History *history, void *ida, double time);
// After IDAReInit at that time: the memory of IDA is as if it had arrived there by constant steps on the polynomial.
void history_resume(const History *history, void *ida);

enum { HISTORY_TERMS = 6 };

// The polynomial of the last step at `time`, which lies within it: the sum of factor[k] * term[k] over the result's number
// of terms, arrays of the unknowns in IDA's memory; its derivative is that of slope[k] * term[k] (`slope` may be NULL). factor[0]
// is 1, the other factors are between -1 and 1, and slope[0] is 0. 0: there has been no step since the start.
uint32_t history_terms(void *ida, double time, double *factor, double *slope, const double **term);
// What Stepper.differences says (run.h).
uint32_t history_differences(void *ida, double steps, const double **difference, double *factor, double *next);

// Length and order of the last step.
void history_last(void *ida, double *step, int *order);

// After an accepted step: IDA's interpolating polynomial, with all points it goes through, moves by `shift` (the first n
// unknowns). Differences and derivatives stay, so neither the error test nor the choice of the order sees it. Moving the
// newest point alone would: then the first differences change by as much as the error of the step, the next order never
// looks better, and the method may stay at order 1 for ever.
void history_shift(void *ida, const double *shift, uint32_t n);

#endif
