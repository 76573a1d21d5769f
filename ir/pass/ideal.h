// ideal.h: which constraints do no work.
#ifndef MDLC_IR_PASS_IDEAL_H
#define MDLC_IR_PASS_IDEAL_H

#include "ir/dae.h"

// After laws, before alias: sets GraphNode.work of constraints.
void ideal_mark(Dae *dae);

#endif
