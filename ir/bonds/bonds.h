// bonds.h: the door of ir/bonds: connections become junctions, and components become elements of a multibond graph.
//
// In: connection sets and components of a flat model.
// Out: junction equations, bonds with efforts and flows, kinds of nodes (I, C, R, Se, Sf, TF, GY, joints), causal strokes.
// Read first: bonds.c, then kinds.c.
#ifndef MDLC_IR_BONDS_BONDS_H
#define MDLC_IR_BONDS_BONDS_H

#include "ir/dae/dae.h"
#include "ir/expr/expr_id.h"
#include "ir/structure/problem.h"

// Connection sets become junctions, bonds, equations (bonds.c).
bool pass_bonds(Dae *dae, Diags *diags);

// --- constraint_closures.c complementarity of constraints.
// E0413 at each constraint between two ports that closes a scalar bond twice and leaves another open, though as many conditions are
// there as it needs: by its law over the scalar bonds (elements.h). For constraints that have the right count. Changes nothing.
bool constraints_are_closed(Dae *dae, Diags *diags);

// --- massless_pieces.c complementarity through several constraints.
// E0413 at each piece without inertia that may move in all positions although all constraints at it give their efforts. Changes nothing.
bool pieces_are_held(Dae *dae, Diags *diags);

// --- describe.c what the nodes of the bond graph are made of.
// After laws, before alias, for those who look at the graph (show bonds, the audit): fills GraphNode.parts of constraints and
// bodies. The kinds of nodes stay what pass bonds has found.
void describe_nodes(Dae *dae);

// --- momenta.c momenta and weights of inertances, for the audit of energy.
// Before alias elimination. For every bond of an inertance or body whose law is linear in its accelerations two hidden
// variables with equations: Dae.bond_momentum, such that the kinetic energy is half the sum of flow*momentum, and
// Dae.bond_weight (NONE when the body has no weight), the effort that would hold the body at rest.
void momenta_add(Dae *dae);

// --- rates.c flows of bonds that are derivatives of algebraic positions.
// On the matched problem of the dynamics, for the audit: every bond whose flow is the derivative of a position gets it as
// a variable of the model. Positions that are computed from others are differentiated with all they depend on; the
// equations that were there, their matching and the states stay as they are. False after errors: a position follows a
// delayed value.
bool rates_add(Dae *dae, Reduction *reduction, Problem *problem, Diags *diags);

// --- strokes.c causal strokes of bonds whose effort is determined elsewhere.
// node_of[b] is the node that determines the effort of bond b, or NONE. Strokes of bonds that do not end at
// this node are set from the way the effort takes from it, through junctions and components that hand it on
// unchanged.
void strokes_follow(Dae *dae, const U32Vec *node_of);

// --- lump.c distributed inertia as a few concentrated ones.
enum { LUMP_RANGES = 3, LUMP_MOST = 4096 };

typedef struct LumpRange { // a variable of the domain; its limits may depend on the variables before it
    uint32_t slot;
    Expr from, to;
} LumpRange;

typedef struct Lumps {
    U32Vec masses, places; // places[i*n_places + k]: component k of the place of mass i
    bool points;           // the places are points of the domain; otherwise only the first moves with an added constant
    const char *reason;    // why there are none: a static sentence about culprit
    Expr culprit;
} Lumps;

bool expr_lump(Exprs *exprs, Expr density, const Expr *places, uint32_t n_places, const LumpRange *ranges,
               uint32_t n_ranges, Lumps *out);
void lumps_free(Lumps *lumps);

#endif
