// lump.h: distributed inertia as a few concentrated ones.
//
//     integral of density/2*|der(place)|^2 over a domain = sum over i of masses[i]/2*|der(places[i])|^2
//
// exactly, where place is a polynomial in the variables of the domain: equations of motion from either are the same,
// whatever formalism derives them. See docs/integrals.md, Distributed inertia.
#ifndef MDLC_IR_LUMP_H
#define MDLC_IR_LUMP_H

#include "ir/expr.h"

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
