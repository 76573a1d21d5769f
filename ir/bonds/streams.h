// streams.h: equations of stream variables (Modelica 3.6, chapter 15).
#ifndef MDLC_IR_BONDS_STREAMS_H
#define MDLC_IR_BONDS_STREAMS_H

#include "ir/dae/dae.h"

typedef struct ConnectionSets { // elements are 2*connector + outside
    const uint32_t *set_of;     // per element: its set, or NONE when nothing is connected to it
    const uint32_t *start, *items; // elements of set s: items[start[s] .. start[s + 1])
    const uint32_t *node;       // per set: the node that owns its equations
} ConnectionSets;

// Adds the equations of inStream() for everything in Dae.in_streams, and those of the stream variables of connected outside
// connectors.
void streams_mix(Dae *dae, const ConnectionSets *sets);

#endif
