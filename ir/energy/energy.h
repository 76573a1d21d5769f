// energy.h: the door of ir/energy: equations of motion from energies, by the formalism that the user chose.
//
// In: Dae.energies with forms (memory elements included) and constraints.
// Out: equations of Lagrange, Hamilton, Gibbs-Appell, Kane or Maggi, which agree in their solutions.
// Read first: equations_of_motion.c, then collect.c and lagrange.c.
//
// Also open to other rooms: action.h.
//
// What other rooms see of the derivation of equations of motion.
#ifndef MDLC_IR_ENERGY_ENERGY_H
#define MDLC_IR_ENERGY_ENERGY_H

#include "ir/dae/dae.h"
#include "ir/energy/motion_proof.h"

// Operations of the equations of motion as they are made: with every expression written out, and with equal parts
// computed once.
typedef struct MotionCost {
    uint64_t raw, shared;
    uint32_t coordinates, equations;
} MotionCost;

// Derives the equations of motion from Dae.energies by Dae.formalism and adds them to the model (equations_of_motion.c).
// `cost` may be NULL, `record` too: filled in, it says what can be proven of the equations (motion_proof.h).
bool pass_energy(Dae *dae, Diags *diags, MotionCost *cost, MotionRecord *record);

#endif
