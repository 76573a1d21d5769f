// kinds.h: which bond-graph element a component is, read off its own equations.
#ifndef MDLC_IR_ELEMENTS_KINDS_H
#define MDLC_IR_ELEMENTS_KINDS_H

#include "ir/dae/dae.h"

// Sets the kind of every component node that has bonds. A component whose law mixes several kinds (a spring
// and a damper in one) or that is none of them keeps NODE_COMPONENT.
void node_kinds(Dae *dae);
// The component (an instance) that a connector is a port of; a connector inside a connector belongs to the outer one's (quantities.c).
uint32_t port_component(const Dae *dae, uint32_t connector);

// Behind describe_nodes: which scalar bond of each constraint is closed by what (closures.h; constraint_closures.c).
void node_closures(Dae *dae);

#endif
