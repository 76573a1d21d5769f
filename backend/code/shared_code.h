// shared_code.h: functions that differ only in the places they name.
//
// A thousand equal components with an algebraic loop each give a thousand functions of the same shapes. Such
// functions share one compiled body, which reads its places from a table behind mdl_code.self.
#ifndef MDLC_BACKEND_CODE_SHARED_CODE_H
#define MDLC_BACKEND_CODE_SHARED_CODE_H

#include "backend/code/pieces.h"

enum { SHARE_NONE = UINT32_MAX };

typedef struct Sharing {
    U32Vec leader; // by function: the function whose code it uses (may be itself), or SHARE_NONE
    U32Vec table;  // by function: where its places start in `places`
    U32Vec places; // per sharing function, the place of each column, in the order of share_pieces
} Sharing;

// Finds groups of many equal short functions. Equal: the same shapes in the same order, and the same pattern
// of places (two operands are one place in all of them or in none). Linear in instructions and slots.
void share_find(Sharing *sharing, const Sys *sys, SlotCounts *slots);
void share_free(Sharing *sharing);
// The body of a sharing function as one segment of one trip: a column per place, all different.
void share_pieces(Pieces *pieces, const Sys *sys, SlotCounts *slots, const Func *func);

#endif
