// play.h: set-valued laws in series with springs (play.c).
#ifndef MDLC_IR_OPERATOR_PLAY_H
#define MDLC_IR_OPERATOR_PLAY_H

#include "ir/structure/structure.h"

// Finds the laws whose force is determined by positions and gives them their form in rates.
void play_find(Dae *dae);

#endif
