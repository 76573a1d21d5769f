// leak.h: ideal diodes that leak while the runtime looks for the modes (leak.c).
#ifndef MDLC_IR_OPERATOR_LEAK_H
#define MDLC_IR_OPERATOR_LEAK_H

#include "ir/dae/dae.h"

void leak_add(Dae *dae);

#endif
