// reduce.h: from the rows of a run to its outputs.
#ifndef MDLC_FRONTEND_SWEEP_REDUCE_H
#define MDLC_FRONTEND_SWEEP_REDUCE_H

#include "frontend/design/design.h"
#include "ir/base/vec.h"
#include "runtime/model/sim.h"

typedef struct Reduction {
    const Study *study;
    const Binding *binding;
    double *value;      // of each output; valid behind reduce_end()
    double *before;     // the last row: time, then columns
    double start;       // time of the first row
    uint64_t rows;
    F64Vec kept;        // rows of the trajectory: time, then what is kept
} Reduction;

bool reduce_create(Reduction *reduction, const Study *study);
void reduce_free(Reduction *reduction);
// Before each run, whose rows then go to the sink.
void reduce_begin(Reduction *reduction, const Binding *binding);
mdl_sink reduce_sink(Reduction *reduction);
void reduce_end(Reduction *reduction);

#endif
