// engine.h: what an Engine is to the engines themselves.
#ifndef MDLC_BACKEND_CODE_ENGINE_H
#define MDLC_BACKEND_CODE_ENGINE_H

#include "backend/code/backend.h"

struct Engine {
    void (*release)(void *state); // frees the state
    void *state;
    double late_seconds;
    mdl_translator translator; // make is NULL: there is none
};

// Takes ownership of `state`.
Engine *engine_make(void (*release)(void *), void *state);
// Interpreted programs of the functions that are marked in `chosen` (one entry per function; NULL: of all); their code goes
// to code[f].
typedef struct Interp Interp;
Interp *interp_create(const Sys *sys, const uint8_t *chosen, mdl_code *code);
size_t interp_length(const mdl_code *code); // instructions of one of these functions
void interp_free(Interp **interp);
// Who makes machine code of programs of a run; make is NULL where this processor is another one.
mdl_translator straight_translator(bool at_once);
// Writes code[f] of every function into the model through sys->fixups.
void link_code(Sys *sys, const mdl_code *code);

#endif
