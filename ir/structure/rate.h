// rate.h: the time derivative of an equation as another equation.
#ifndef MDLC_IR_STRUCTURE_RATE_H
#define MDLC_IR_STRUCTURE_RATE_H

#include "ir/dae/pattern.h"
#include "ir/structure/structure.h"

// Appends the derivative of the equation that `structure` has read last (of id `equation`): EQN_NORMAL, generated, of the
// same node, over representatives; derivative variables are made on demand. Slots of discrete variables, parameters,
// inputs and pre() are constant in time. NONE when the text has no derivative. Shapes are differentiated once (`rates`).
uint32_t rate_append(Structure *structure, Patterns *rates, uint32_t equation);
// The shape and row of that equation alone. False when the text has no derivative.
bool rate_of(Structure *structure, Patterns *rates, Expr *shape, uint32_t *row);

#endif
