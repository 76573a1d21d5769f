// massless.h: pieces without inertia between constraints. Private to massless_*.c.
#ifndef MDLC_IR_ELEMENTS_MASSLESS_H
#define MDLC_IR_ELEMENTS_MASSLESS_H

#include "ir/base/vec.h"
#include "ir/elements/kinds_inner.h"

enum { AXES = 6 };

typedef struct Attached { // a constraint at a piece
    uint32_t node, connector;
    double to[AXES][AXES]; // from the motion of the first junction of the piece to that of this port
} Attached;

// A piece between two constraints, each of which admits the motions of a lower pair.
typedef struct Link {
    uint32_t size;       // scalar bonds of its frames
    Attached end[2];
} Link;
typedef VEC(Link) Links;

// The motions of its port that a constraint admits while the others rest, over the port's flows; their number, 0 where nothing is known.
uint32_t massless_motions(Kinds *kinds, const Attached *attached, uint32_t size, double motions[AXES][AXES]);
// A motion of a port of the component at hand as three translations and three rotations.
void massless_twist(const Kinds *kinds, const Attached *attached, uint32_t size, const double *motion, double twist[AXES]);
// Appends their commutators to n twists until there are no more; the dimension of what they span.
uint32_t massless_algebra(double twists[AXES][AXES], uint32_t n);

// The map of motions that is `right`, then `left`, of n motions.
void massless_product(double product[AXES][AXES], double left[AXES][AXES], double right[AXES][AXES], uint32_t n);
void massless_print(const Dae *dae, uint32_t node, Out *out); // 'path' (Class)
// massless_chains.c: E0413 of rows of such pieces. False when there are such.
bool massless_chains_are_held(Kinds *kinds, const Links *links, Diags *diags);

#endif
