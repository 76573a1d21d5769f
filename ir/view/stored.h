// stored.h: what the elements of a model store, and which storages are in derivative causality.
#ifndef MDLC_IR_VIEW_STORED_H
#define MDLC_IR_VIEW_STORED_H

#include "ir/structure/problem.h"

// Two elements that store in the same variable after alias elimination, as inductors in series do.
typedef struct SharedStore {
    uint32_t node;  // the one in derivative causality
    uint32_t other; // the one whose equation determines the derivative
    Var var;        // representative
} SharedStore;

// An element stores in x when one of its own equations contains der(x). Free with stored_free.
typedef struct Stored {
    U32Vec by;       // per variable: node of the element that differentiates it, or NONE
    VEC(SharedStore) shared;
    U8Vec dependent; // per node: 1 when something that it stores is no state, or it shares all of it with another element; but not
                     // a spring whose displacement follows from coordinates that are states
} Stored;

// Requires causality: `problem` is the matched problem of the dynamics. Linear in equations and variables.
Stored stored_open(const Dae *dae, const Problem *problem);
void stored_free(Stored *stored);
// Dampers and the like differentiate a coordinate, too, but store nothing.
bool stored_in_kind(uint8_t kind);
// The representative of x for var = der(x) or an alias of it; NONE for what is no derivative.
Var stored_base(const Dae *dae, Var var);

#endif
