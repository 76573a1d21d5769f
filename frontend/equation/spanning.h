// spanning.h: the virtual connection graph of overconstrained connectors (Modelica 3.6, section 9.4).
#ifndef MDLC_FRONTEND_EQUATION_SPANNING_H
#define MDLC_FRONTEND_EQUATION_SPANNING_H

#include "ir/base/diag.h"
#include "ir/base/vec.h"

typedef enum SpanState {
    SPAN_TREE,      // in the tree: both ends are equal
    SPAN_BROKEN,    // closes a loop: the ends satisfy equalityConstraint
    SPAN_REDUNDANT  // closes a loop of connections alone: it says nothing new
} SpanState;

typedef struct SpanNode {     // an overconstrained variable
    bool root, potential;     // as declared
    double priority;          // of a potential root; the smallest is taken first
    Span span;                // of the declaration, or of the first connect that names it
    // found
    uint32_t branches;        // that it is an end of
    uint32_t opposite;        // the other end of the last of these
    bool is_root;
    uint32_t depth;           // edges between it and its root
} SpanNode;

typedef struct SpanEdge {
    uint32_t a, b;            // nodes
    bool branch;              // Connections.branch: cannot be broken
    Span span;
    uint8_t state;            // SpanState, found
} SpanEdge;

typedef struct SpanGraph {
    VEC(SpanNode) nodes;
    VEC(SpanEdge) edges;
} SpanGraph;

typedef enum SpanFault { SPAN_SOUND, SPAN_LOOP, SPAN_TWO_ROOTS, SPAN_NO_ROOT } SpanFault;

// Chooses roots and breaks connections so that what is left is a forest with one root in each tree. On a fault
// `at` is the place that shows it. Linear, but for the inverse Ackermann factor.
SpanFault span_graph_solve(SpanGraph *graph, Span *at);
void span_graph_free(SpanGraph *graph);

#endif
