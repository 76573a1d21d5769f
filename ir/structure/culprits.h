// culprits.h: which equations of a singular set are shown.
#ifndef MDLC_IR_STRUCTURE_CULPRITS_H
#define MDLC_IR_STRUCTURE_CULPRITS_H

#include "ir/dae/dae.h"

enum { CULPRITS_SHOWN = 6 };

// An equation, and how many others of the set stand in the same place of the source with the same text.
typedef struct Culprit {
    uint32_t equation, more;
} Culprit;
typedef VEC(Culprit) CulpritVec;

// All n equations of a set that is short enough to be shown. Of a longer one, one for each text of each place: a million equations of a
// loop say no more than the first of them. They come in the order in which they were found; `rare_first`: those first that are few
// of their kind, because what is too much was mostly written once.
void culprits_find(const Dae *dae, const uint32_t *equation, uint32_t n, bool rare_first, CulpritVec *culprits);

#endif
