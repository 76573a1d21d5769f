// delay_times.h: which time of the past a delay is looked up with (delay_times.c).
#ifndef MDLC_RUNTIME_MEMORY_DELAY_TIMES_H
#define MDLC_RUNTIME_MEMORY_DELAY_TIMES_H

#include "runtime/point/run.h"

typedef struct DelayTimes {
    double *last;    // per delay: the delay time for which the value in v was looked up,
    double *before;  // the one before it in the same evaluation,
    double *gap;     // and by how much the dynamics then said another one
    double *inverse; // n_delays^2 for Broyden's method, within one evaluation
    unsigned pass;   // of that evaluation
} DelayTimes;

MDL_CHECKED bool delay_times_create(DelayTimes *times, uint32_t n); // false: out of memory
void delay_times_free(DelayTimes *times);
// What the dynamics, or the model's parameters, say that delay k is; no longer than the longest that was announced.
double delay_time(const Run *run, uint32_t k);
// Sets the times of pass 0, 1, ... of one evaluation, in v and in `last`.
void delay_times_choose(Run *run, DelayTimes *times, unsigned pass);
// Behind the dynamics: they say another time than the one that was used.
bool delay_time_moved(const Run *run, const DelayTimes *times, uint32_t k);

#endif
