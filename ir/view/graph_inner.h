// graph_inner.h: what the views of the multibond graph share (graph.c, graph_draw.c, canonical.c).
#ifndef MDLC_IR_VIEW_GRAPH_INNER_H
#define MDLC_IR_VIEW_GRAPH_INNER_H

#include "ir/view/graph.h"

// What the printers need to know of a node.
typedef struct NodeUse {
    uint32_t bonds;   // scalar bonds
    uint32_t ports;   // connectors
    uint32_t first;   // first bond of the first port
    uint32_t last;    // first bond of the last port
    uint32_t number;  // of a junction, from 1
} NodeUse;

enum { MARK_LOOP = 1, MARK_DERIVATIVE = 2, MARK_SURPLUS = 4 }; // bits of Graph.marks; the last of closures only

typedef struct Further { // an effort that adds to that of a bond
    Var effort;
    uint32_t next;
} Further;

typedef struct Graph {
    const Dae *dae;   // the model, with the bonds of the graph that is shown
    Dae *simplified;  // what dae points to, or NULL: a view of the model with other bonds; the rest is not owned
    U32Vec also;      // per bond: place in `further` + 1 of the bonds that became one with it, or 0
    VEC(Further) further;
    NodeUse *uses;    // per node
    U8Vec marks;      // per bond: its effort or flow is in an algebraic loop; its storage has derivative causality
    U8Vec redundant;  // per node: a constraint some of whose equations follow from others
    U32Vec grounds;   // components that are left out with their junctions, since their effort or flow is zero
    uint32_t components, junctions;
} Graph;

Graph graph_open(const Dae *dae, const Problem *problem, uint32_t form);
void graph_close(Graph *graph);

static inline const ConnectorType *
bond_type(const Dae *dae, const Bond *bond)
{
    return &dae->connector_types.at[dae->connectors.at[bond->connector].type];
}

// What graph_layout.c changes in the text for Graphviz: how layers lie, and where the name of a frame stands.
#define GRAPH_LAYERS "rankdir=LR"
#define GRAPH_FOLD ", constraint=false"
#define GRAPH_BESIDE ",  label=<" // of a bond, and of nothing else
#define GRAPH_TITLE "labelloc=t; labeljust=l"

// The k-th of the elements that close scalar bonds of a constraint: its letters, or "C/R" where they are not known, and how many it closes;
// 0 behind the last.
enum { GRAPH_ELEMENTS = 2 }; // of a contact: its normal law, and friction
uint32_t graph_elements(const Dae *dae, uint32_t node, uint32_t k, const char **letters);
// The closures of a constraint whose letters are these: "v x y z" and "ω x y", of which the second begins with `between`.
void graph_print_axes(const Dae *dae, uint32_t node, const char *letters, const char *between, Out *out);
// How many there are.
uint32_t graph_count_closures(const Dae *dae, uint32_t node, const char *letters);
// The name of the port that a bond is of, within its component.
const char *graph_port_name(const Graph *graph, uint32_t bond);
// A component's path, or "J3" for a junction.
void graph_print_name(const Graph *graph, uint32_t node, Out *out);
// The effort of a bond; a sum where several bonds have become one.
void graph_print_effort(const Graph *graph, uint32_t bond, Out *out);
// "x", or "der(x)" where the flow is a derivative.
void graph_print_flow(const Dae *dae, const Bond *bond, Out *out);

#endif
