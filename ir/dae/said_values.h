// said_values.h: values of Strings and Booleans as they were written.
//
// In expressions a String is the number of a text, and a Boolean 0 or 1. Where an equation is shown these numbers are replaced by slots
// behind those of the equation, and whoever prints its slots prints "text" and true for them.
#ifndef MDLC_IR_DAE_SAID_VALUES_H
#define MDLC_IR_DAE_SAID_VALUES_H

#include "ir/dae/dae.h"

typedef struct SaidValues {
    Dae *dae;
    const Var *vars;    // of the first n slots
    uint32_t n;
    VEC(const char *) texts; // of the slots behind these
} SaidValues;

// The expression to be shown, over slots of `vars`, as the value of `of` (NONE: of nothing, or an equation). Only the table of expressions changes.
// Pair with said_values_close.
Expr said_values_open(SaidValues *said, const Dae *dae, Expr shape, const Var *vars, Var of);
// What is to be printed for a slot that is no variable; NULL: it is one.
const char *said_value(const SaidValues *said, uint32_t slot);
void said_values_close(SaidValues *said);

#endif
