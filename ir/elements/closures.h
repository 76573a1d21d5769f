// closures.h: which scalar bond of a constraint is closed by what.
#ifndef MDLC_IR_ELEMENTS_CLOSURES_H
#define MDLC_IR_ELEMENTS_CLOSURES_H

#include "ir/elements/scalar_law.h"

// The law of one constraint, and the groups of variables that its class declares (indices into Dae.groups).
typedef struct ConstraintLaw {
    uint32_t node;
    ScalarAsk *ask;
    const uint32_t *groups;
    uint32_t n;
    bool is_contact;
} ConstraintLaw;

// Appends to Dae.closures what the law says, and sets the bits PART_ARM_A, PART_ARM_B; nothing where the law cannot be evaluated or
// says something else than the counts of NodeParts.
void closures_of(const ConstraintLaw *constraint);

#endif
