// assemble.h: what assemble.c and assemble_report.c share.
#ifndef MDLC_RUNTIME_START_ASSEMBLE_H
#define MDLC_RUNTIME_START_ASSEMBLE_H

#include "runtime/point/run.h"

static const double ASSEMBLE_CLOSED = 1e-9; // largest residual of a closed loop, in metres and radians
static const double ASSEMBLE_MOVED = 1e-9;  // relative change of a start value that is told

// Moves states in v to where the invariants hold, positions first; with `release` fixed start values, too, where nothing else helps.
// Returns the depth that does not close, 0 when all do.
uint32_t assemble_close(Run *run, bool release);
bool assemble_has_joints(const mdl_model *model);
// Says which loops of this depth are open; moved: whatever start values move.
void assemble_report(Run *run, uint32_t open, bool moved);

#endif
