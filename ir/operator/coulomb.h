// coulomb.h: the law of friction in a plane, for those who look at laws.
#ifndef MDLC_IR_OPERATOR_COULOMB_H
#define MDLC_IR_OPERATOR_COULOMB_H

#include "ir/structure/problem.h"
#include "runtime/model/model.h"

enum { COULOMB_MOST = 3 }; // components

#endif
