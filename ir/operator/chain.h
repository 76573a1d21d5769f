// chain.h: the chains of memory elements: zeta -> x -> v -> a and delta -> p -> f, each arrow a derivative.
#ifndef MDLC_IR_OPERATOR_CHAIN_H
#define MDLC_IR_OPERATOR_CHAIN_H

#include "ir/dae/dae.h"

// True when the equation, written in a memory element, is y = der(x) or der(x) = y (also where it became an alias).
bool chain_link(const Dae *dae, uint32_t equation, Var *x, Var *y);

#endif
