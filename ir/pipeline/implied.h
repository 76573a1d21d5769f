// implied.h: what a pass took out of the model follows from what it left.
#ifndef MDLC_IR_PIPELINE_IMPLIED_H
#define MDLC_IR_PIPELINE_IMPLIED_H

#include "ir/dae/dae.h"

typedef struct Snapshot { // the equations in force before a pass; their rows stay where they are
    VEC(Equation) equations;
    bool laws;            // the pass makes laws of set-valued terms, which are no equations: what has such terms cannot be judged
    bool ticks;           // equations hold at ticks, or while a state is active, and no longer afterwards: what the pass takes out cannot be judged
} Snapshot;

typedef struct Implied {  // equations that passes took out or wrote anew
    uint32_t proven;
    uint32_t defining;    // only computed a variable that went with them
    uint32_t opaque;      // with operators that have no value of their own (fder, delay, floor of what moves, ...), or set-valued terms that became laws
    uint32_t open;        // not decided: too large, or no point of the solution set was found
    uint32_t passed_over; // beyond the number that is looked at after one pass
} Implied;

void snapshot_take(const Dae *dae, Snapshot *out);
void snapshot_free(Snapshot *snapshot);
// True when no equation of the snapshot is found that does not follow from the model as it is now; otherwise `why` has a line that
// quotes it. Counts are added to `implied`. Nothing in the model changes but memos.
bool snapshot_implied(Dae *dae, const Snapshot *before, Implied *implied, Out *why);

#endif
