// describe.h: what the nodes of the bond graph are made of.
#ifndef MDLC_IR_PASS_DESCRIBE_H
#define MDLC_IR_PASS_DESCRIBE_H

#include "ir/dae.h"

// After laws, before alias, for those who look at the graph (show bonds, the audit): fills GraphNode.parts of constraints and
// bodies, and calls what only hands power on a transformer.
void describe_nodes(Dae *dae);

#endif
