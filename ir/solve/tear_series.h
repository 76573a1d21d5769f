// tear_series.h: a row of springs and clearances in closed form, and what it asks of tear_algebra.c.
#ifndef MDLC_IR_SOLVE_TEAR_SERIES_H
#define MDLC_IR_SOLVE_TEAR_SERIES_H

#include "ir/solve/tear.h"

// Writes the block, which is loaded, as assignments if it is a row of springs and clearances with one force. False, and nothing is
// written, when it is not, when a sign is not known, or when a position between two clearances moves a state.
bool tearing_series(Tearing *t, Causal *causal, const uint32_t *equations, const Var *unknowns, uint32_t n);

// --- tear_algebra.c
// All texts of the block over one numbering of slots, which begins anew.
void tearing_texts_begin(Tearing *t, uint32_t n);
Expr tearing_text(Tearing *t, const LoopEquation *e);

// --- tear_moves.c
// Whether a state, an event or a law depends on the unknown, by way of other blocks.
bool tearing_moves(Tearing *t, Var unknown);

#endif
