// packed.h: formulas of a page that are text until they are seen, in few bytes.
//
// The symbol of a variable is some hundred bytes of MathML and stands in many formulas. In packed text it is ~12; (the twelfth symbol), a frequent piece of
// markup ~ and a letter, and ~ itself ~~. unpack() in frontend/page/links.js gives back the same text, with the tables that packing_print writes.
#ifndef MDLC_FRONTEND_PAGE_PACKED_H
#define MDLC_FRONTEND_PAGE_PACKED_H

#include "ir/base/out.h"
#include "ir/base/vec.h"
#include "ir/dae/dae.h"

typedef struct Packing {
    const Dae *dae;
    U32Vec number;  // per variable: of its symbol, from 1 on; 0: none yet
    U32Vec start;   // of each symbol in `symbols`, and the end
    Out symbols;
} Packing;

// Packs what stands in `out` from `from` on.
void pack(Packing *packing, size_t from, Out *out);
// The tables, as JSON for a script element.
void packing_print(Packing *packing, Out *out);
void packing_free(Packing *packing);

#endif
