// law_rank.h: how many directions the laws of a constraint fill.
#ifndef MDLC_IR_ELEMENTS_LAW_RANK_H
#define MDLC_IR_ELEMENTS_LAW_RANK_H

#include "ir/elements/domains.h"

// Of n equations between efforts and motion: the dimension of the space that what is left of them without their efforts
// spans when the motion varies. Law_rank <= n.
uint32_t law_rank(const Domains *domains, const uint32_t *equations, uint32_t n);

#endif
