// graph_paths.h: ways through the multibond graph, and its nodes in words.
#ifndef MDLC_IR_STRUCTURE_GRAPH_PATHS_H
#define MDLC_IR_STRUCTURE_GRAPH_PATHS_H

#include "ir/dae/dae.h"

// The bonds at every node, and numbers of junctions as `mdlc show bonds` prints them. Free with ways_free.
typedef struct Ways {
    const Dae *dae;
    U32Vec start, bond;   // bonds at node i: bond[start[i] .. start[i+1])
    U32Vec number;        // of a junction, from 1; 0 for what is none or has no bonds
    U32Vec from, queue;   // of the latest search: per node the node it was reached from, or NONE
} Ways;

Ways ways_open(const Dae *dae);
void ways_free(Ways *ways);
// The shortest way from `node` to one with target[i] set, through nodes with passable[i] set (NULL: through all). `way` receives the nodes, both ends included. False when there is none. Linear in bonds.
bool ways_find(Ways *ways, uint32_t node, const U8Vec *target, const U8Vec *passable, U32Vec *way);

// "I m (Translational.Mass)", "1-junction J2", "the model 'Top'".
void way_print_node(const Ways *ways, uint32_t node, bool with_class, Out *out);
// "I element", "C element", "flow source", ...
const char *way_kind_words(const Dae *dae, uint32_t node);

#endif
