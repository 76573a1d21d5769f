// profile_ticks.c: time that belongs to the compiler.
//
// Purpose: functions that are compiled during a run (backend/llvm/ll_jit.c) do not count as slow evaluations. Method: the engine's seconds, as ticks by
// the rate so far.
// Contract: profile.h. Complexity: constant.
#include "runtime/point/profile.h"

#include <math.h>

// The engine tells seconds: their ticks by the rate so far.
void
profile_take_compiling(const Run *run, uint64_t now)
{
    mdl_profile *p = run->profile;
    double elapsed = clock_seconds() - p->began_at, more = *run->options->compiling - p->compiling_seen;
    p->compiling_seen = *run->options->compiling;
    if (elapsed > 0)
        p->compiling += (uint64_t)(fmin(more / elapsed, 1) * (double)(now - p->began));
}
