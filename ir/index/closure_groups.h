// closure_groups.h: mechanisms that have nothing to do with each other in a singular part of the structure.
#ifndef MDLC_IR_INDEX_CLOSURE_GROUPS_H
#define MDLC_IR_INDEX_CLOSURE_GROUPS_H

#include "ir/structure/problem.h"

// Zero-initialise; groups_free() when done.
typedef struct Groups {
    U32Vec of_equation; // per equation of the Dae: number of its group, or NONE
    U32Vec of_variable; // per variable, likewise
    U32Vec equations, variables; // per group: how many
    uint32_t n;
} Groups;

// Groups of the over-determined part, or of the under-determined one. What is shared belongs to no group: over-determined, components
// that know their variables without the rest (the world, what is fastened to it); under-determined, components of which nobody wants
// to know anything (the sum of all forces on the world).
void groups_over(const Dae *dae, const Problem *problem, const Singular *part, Groups *groups);
void groups_under(const Dae *dae, const Problem *problem, const Singular *part, Groups *groups);
void groups_free(Groups *groups);

#endif
