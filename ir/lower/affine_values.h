// affine_values.h: which values of a straight-line program are affine in chosen places, with constant coefficients.
#ifndef MDLC_IR_LOWER_AFFINE_VALUES_H
#define MDLC_IR_LOWER_AFFINE_VALUES_H

#include "ir/lower/lower_inner.h"

// How a place depends on the chosen ones and on time. TIMED: on time alone, in any way. STRAIGHT: affine in the chosen places
// with coefficients that change at events only; what is added to them may depend on time where `free` says so.
typedef enum Bend { FIXED, TIMED, STRAIGHT, CURVED } Bend;

typedef struct Bends {
    Lowering *low;
    bool free;      // time may be added; otherwise all that depends on it is CURVED
    U8Vec of;       // per place
    Map decided;    // (shape, bends of its slots) -> Bend
} Bends;

// `low` and `free` are set. All places are FIXED.
void bends_begin(Bends *bends);
void bends_free(Bends *bends);
// Chooses `count` places from `first` on.
void bends_set(Bends *bends, uint32_t first, uint32_t count);
Bend bend_of(Bends *bends, const Instr *instr);
// Gives each instruction's result its bend. False: one is CURVED.
bool bends_follow(Bends *bends, const InstrVec *code);

#endif
