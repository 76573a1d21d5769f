// strokes.h: causal strokes of bonds whose effort is determined elsewhere.
#ifndef MDLC_IR_PASS_STROKES_H
#define MDLC_IR_PASS_STROKES_H

#include "ir/dae.h"

// node_of[b] is the node that determines the effort of bond b, or NONE. Strokes of bonds that do not end at
// this node are set from the way the effort takes from it, through junctions and components that hand it on
// unchanged.
void strokes_follow(Dae *dae, const U32Vec *node_of);

#endif
