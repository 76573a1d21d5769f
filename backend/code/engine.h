// engine.h: what an Engine is to the engines themselves.
#ifndef MDLC_BACKEND_CODE_ENGINE_H
#define MDLC_BACKEND_CODE_ENGINE_H

#include "backend/code/backend.h"
#include "backend/code/shared_code.h"

struct Engine {
    void (*release)(void *state); // frees the state
    void *state;
    double late_seconds;
    mdl_translator translator; // make is NULL: there is none
    // NULL: never. Otherwise compiles the model's tangents for `width` directions at once; NULL: they have no such form.
    const mdl_directions *(*directions)(void *state, uint32_t width);
};

// Takes ownership of `state`.
Engine *engine_make(void (*release)(void *), void *state);
// Interpreted programs of the functions that are marked in `chosen` (one entry per function; NULL: of all); their code goes
// to code[f].
typedef struct Interp Interp;
Interp *interp_create(const Sys *sys, const uint8_t *chosen, mdl_code *code);
size_t interp_length(const mdl_code *code); // instructions of one of these functions
void interp_free(Interp **interp);
// CODE_INDEX: subscript - 1 when 1 <= subscript <= size, else NaN and a failure in what calls share.
double interp_subscript(double subscript, double size, double *state, uint32_t site);
// Machine code of the functions that need no compiler, to code[f]; the others stay NULL. leader: Sharing.leader, whose groups get code for each function
// where that is not much. `all`: long loops, too. NULL: this processor is another one.
typedef struct NativeCode NativeCode;
NativeCode *native_create(const Sys *sys, SlotCounts *slots, const uint32_t *leader, bool all, mdl_code *code);
bool native_function_calls(const NativeCode *native, uint32_t func); // a routine
// Whether anything calls it; whoever asks makes it (ll_routine.c) and says where it is, before anything is called.
bool native_calls(const NativeCode *native, uint32_t routine);
void native_set_routine(NativeCode *native, uint32_t routine, mdl_fn *address);
void native_free(NativeCode **native);
// Who makes machine code of programs of a run; make is NULL where this processor is another one.
mdl_translator straight_translator(bool at_once);
// Writes code[f] of every function into the model through sys->fixups.
void link_code(Sys *sys, const mdl_code *code);

#endif
