// motion.h: what other layers see of the derivation of equations of motion.
#ifndef MDLC_IR_ENERGY_MOTION_H
#define MDLC_IR_ENERGY_MOTION_H

#include "ir/dae.h"

// Operations of the equations of motion as they are made: with every expression written out, and with equal parts
// computed once.
typedef struct MotionCost {
    uint64_t raw, shared;
    uint32_t coordinates, equations;
} MotionCost;

// Derives the equations of motion from Dae.energies by Dae.formalism and adds them to the model (passes/energy.c).
// `cost` may be NULL.
bool pass_energy(Dae *dae, Diags *diags, MotionCost *cost);

#endif
