// elements.h: the door of ir/elements: what the equations of a component make it in a multibond graph.
//
// In: components of a flat model, by their equations.
// Out: kinds of nodes (I, C, R, Se, Sf, TF, GY, joints), which scalar bond of a constraint is closed by what, momenta of bodies.
// Read first: kinds.c, then element.c.
// Also open to other rooms: generic.h, kinds.h.
#ifndef MDLC_IR_ELEMENTS_ELEMENTS_H
#define MDLC_IR_ELEMENTS_ELEMENTS_H

#include "ir/dae/dae.h"
#include "ir/expr/expr_id.h"

// --- constraint_closures.c complementarity of constraints.
// E0413 at each constraint between two ports, or at one, that closes a scalar bond twice and leaves another open, though as many conditions are
// there as it needs: by its law over the scalar bonds (element.h). For constraints that have the right count. Changes nothing.
bool constraints_are_closed(Dae *dae, Diags *diags);
// Of the constraint between two ports or at one, which has `n_twice` conditions too many and `n_open` too few: the motions that are closed more than once, and those that nothing
// closes, in words ("rotation about 'n' = {0, 0, 1}"). False where its law does not show so many.
bool constraint_surplus(Dae *dae, uint32_t inst, uint32_t n_twice, uint32_t n_open, Out *twice, Out *open);

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
