// bonds.h: the door of ir/bonds: connections become the junctions and bonds of a multibond graph.
//
// In: connection sets and components of a flat model; what element each of these is, from ir/elements.
// Out: junction equations, bonds with efforts and flows, causal strokes; what is connected to nothing, or closes a cycle.
// Read first: bonds.c, then strokes.c.
#ifndef MDLC_IR_BONDS_BONDS_H
#define MDLC_IR_BONDS_BONDS_H

#include "ir/dae/dae.h"
#include "ir/expr/expr_id.h"
#include "ir/structure/problem.h"

// Connection sets become junctions, bonds, equations (bonds.c).
bool pass_bonds(Dae *dae, Diags *diags);

// --- rates.c flows of bonds that are derivatives of algebraic positions.
// On the matched problem of the dynamics, for the audit: every bond whose flow is the derivative of a position gets it as
// a variable of the model. Positions that are computed from others are differentiated with all they depend on; the
// equations that were there, their matching and the states stay as they are. False after errors: a position follows a
// delayed value.
bool rates_add(Dae *dae, Reduction *reduction, Problem *problem, Diags *diags);
// Dae.monitors become equations again, in the same way.
bool monitors_add(Dae *dae, Reduction *reduction, Problem *problem, Diags *diags);

// --- strokes.c causal strokes of bonds whose effort is determined elsewhere.
// node_of[b] is the node that determines the effort of bond b, or NONE. Strokes of bonds that do not end at
// this node are set from the way the effort takes from it, through junctions and components that hand it on
// unchanged.
void strokes_follow(Dae *dae, const U32Vec *node_of);

#endif
