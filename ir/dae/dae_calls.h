// dae_calls.h: what expressions call, in the texts of models and programs (docs/ir.md): texts, sites and routines. Inner header of
// their printers.
#ifndef MDLC_IR_DAE_DAE_CALLS_H
#define MDLC_IR_DAE_DAE_CALLS_H

#include "ir/base/map.h"
#include "ir/dae/dae.h"

// Routines and sites that expressions use, in the order of their numbers; the text counts them anew, from 1.
typedef struct DaeCalls {
    const Dae *dae;                  // NULL: of programs
    Exprs *exprs;
    U32Vec routines, sites;          // those that are used
    U32Vec routine_place, site_place; // per number: place in the text, 0: not used
    U8Vec named;                     // per routine: its name says which it is
} DaeCalls;

void dae_calls_find(const Dae *dae, DaeCalls *calls);
void dae_calls_of(Exprs *exprs, const Expr *roots, uint32_t n, DaeCalls *calls); // 0 among the roots is none
void dae_calls_free(DaeCalls *calls);
// Its lines.
void dae_calls_print(const DaeCalls *calls, Out *out);
// For ExprWriter: the name of a routine in a call, the place of a site.
void dae_calls_name(const DaeCalls *calls, uint32_t routine, Out *out);
uint32_t dae_calls_site(const DaeCalls *calls, uint32_t site);
// A text in quotation marks.
void dae_print_string(Out *out, const char *text);

#endif
