// history.h: a history for IDA at a restart, from a Taylor polynomial. Included by ida.c only.
#ifndef MDLC_RUNTIME_HISTORY_H
#define MDLC_RUNTIME_HISTORY_H

#include <stdbool.h>
#include <stdint.h>

#include "runtime/run.h"

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

#endif
