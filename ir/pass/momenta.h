// momenta.h: momenta and weights of inertances, for the audit of energy.
#ifndef MDLC_IR_PASS_MOMENTA_H
#define MDLC_IR_PASS_MOMENTA_H

#include "ir/dae.h"

// Before alias elimination. For every bond of an inertance or body whose law is linear in its accelerations two hidden
// variables with equations: Dae.bond_momentum, such that the kinetic energy is half the sum of flow*momentum, and
// Dae.bond_weight (NONE when the body has no weight), the effort that would hold the body at rest.
void momenta_add(Dae *dae);

#endif
