// generic.h: random values of a model's variables, at which equations show what they are almost everywhere.
#ifndef MDLC_IR_ELEMENTS_GENERIC_H
#define MDLC_IR_ELEMENTS_GENERIC_H

#include "ir/dae/dae.h"

// A number in [0.5, 1.5) or, not positive, with either sign; `seed` decides.
double generic_number(uint64_t seed, bool positive);
// A value of a variable. Parameters and constants have the same in every sample. What has no unit stays what it may be: a
// vector of two or three numbers is a direction of length one, a matrix of three by three the rotation of axes.
double generic_value(const Dae *dae, Var var, uint32_t sample);

#endif
