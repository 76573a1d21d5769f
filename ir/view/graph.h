// graph.h: views of the multibond graph.
//
// Shown are junctions and the components whose ports they join. In text and JSON a bond's half arrow points
// into the component: its flow times its effort is power into the component. A causal stroke, once the
// causality pass has run, stands at the end that receives the effort. `problem` is the sorted problem of the dynamics, for
// marks of algebraic loops, or NULL. All printers append to `out` and change nothing.
#ifndef MDLC_IR_VIEW_GRAPH_H
#define MDLC_IR_VIEW_GRAPH_H

#include "ir/structure/problem.h"

// A list of nodes and one of scalar bonds:  J1 |--⇀ spring   means that the spring gives the effort.
// Elements whose ports have one flow (a rigid inertia between two flanges) or one effort stand on one junction; a junction of two
// bonds is one bond. GRAPH_FULL keeps a junction for every connection set.
enum { GRAPH_CANONICAL = 1, GRAPH_FULL = 2 }; // bits of `form`
void graph_print_text(const Dae *dae, const Problem *problem, uint32_t form, Out *out);
// Graphviz source, in the usual notation: a two-terminal element hangs on a junction of its own, a junction
// of two bonds is drawn as one bond, a multibond as a double line with its dimension, or as several where the causality of its
// scalar bonds differs. Bodies are 1-junctions with what they are made of, constraints 0-junctions; in large graphs they
// are one box each.
// With GRAPH_CANONICAL all are drawn with their parts, and what closes a constraint's scalar bonds stands at junctions of its own.
void graph_print_dot(const Dae *dae, const Problem *problem, uint32_t form, Out *out);
// {"model", "nodes": [{id, kind, name, class}], "bonds": [{component, junction, port, flow, effort,
// effort_from}]}
void graph_print_json(const Dae *dae, const Problem *problem, uint32_t form, Out *out);
// Runs Graphviz (`dot -Tsvg`) on the source above. False when that fails; `why` then says so in one line.
bool graph_render_svg(const Dae *dae, const Problem *problem, uint32_t form, Out *out, Out *why);

// `mdlc show bonds --canonical`: the fields around the junction structure, and its matrix row by row (canonical.c). The model
// was compiled with Compilation.audit, so that every flow is a variable.
void graph_print_canonical(Dae *dae, const Problem *problem, uint32_t form, Out *out);
// {"model", "inputs": [{field, kind, component, input, terms: [{output, factor}]}]}; a factor is a number, a text, or null
// where only the dependence is told (with loop: whether it goes through a loop).
void graph_print_canonical_json(Dae *dae, const Problem *problem, uint32_t form, Out *out);

#endif
