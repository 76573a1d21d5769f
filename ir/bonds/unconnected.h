// unconnected.h: components that nothing is connected to.
#ifndef MDLC_IR_BONDS_UNCONNECTED_H
#define MDLC_IR_BONDS_UNCONNECTED_H

#include "ir/dae/dae.h"

// Warns of components, and of ports of elements, that nothing is connected to; reports bodies that neither a connection nor
// the model's text says anything about, and returns false when there are such. touched[2*c] and touched[2*c + 1] say
// whether a connect names connector c from outside and from inside its component.
bool unconnected_check(Dae *dae, const uint8_t *touched, Diags *diags);

// Warns of bodies that hang together but on nothing, W1404; reports a body to which nothing but sensors is connected, and returns
// false when there is one (floating_networks.c).
bool floating_check(Dae *dae, Diags *diags);

#endif
