// zeros.h: what follows where an inertance or a capacitance is zero. Inner header of zeros.c, zero_inertia.c and compound_rates.c.
#ifndef MDLC_IR_INDEX_ZEROS_H
#define MDLC_IR_INDEX_ZEROS_H

#include "ir/dae/dae.h"

bool zeros_says(Exprs *exprs, Expr shape); // c*#0 = 0
// These equations lost a derivative, `bases` are the variables that it was of: the effort on what has no mass is zero for its neighbours
// too, and names of its derivatives ask for nothing (zero_inertia.c).
void zeros_spread(Dae *dae, const U32Vec *equations, const U32Vec *bases);
// Of these equations, x = y and x = -y become aliases beside those that are there (alias.c).
void alias_more(Dae *dae, const U32Vec *equations);

// Velocities and accelerations that equations make of derivatives (compound_rates.c).
typedef struct CompoundRates {
    U8Vec order;  // per class: 0 is no rate, 1 a velocity, 2 an acceleration or more
    U32Vec given; // per class: 1 + the equation that says so; 0: it is a derivative itself, or no rate
} CompoundRates;

void compound_rates_find(Dae *dae, const U8Vec *zero, CompoundRates *rates); // into an empty struct; zero: per class, it is zero
// The rates `of` (classes), those of which they are made, and all in which one of these stands.
void compound_rates_mark(const Dae *dae, const CompoundRates *rates, const U32Vec *of, U8Vec *marked);
void compound_rates_free(CompoundRates *rates);

#endif
