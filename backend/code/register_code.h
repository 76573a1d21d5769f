// register_code.h: straight linear code as machine code of x86-64.
#ifndef MDLC_BACKEND_CODE_REGISTER_CODE_H
#define MDLC_BACKEND_CODE_REGISTER_CODE_H

#include "backend/code/assembler.h"
#include "backend/code/code.h"

// Routines that may be called: of each, by its number, the address of a function as ll_routine.c makes it, which need not be there yet, and whether
// something calls it.
typedef struct Calls {
    const Sys *sys;
    uintptr_t *address;
    uint8_t *called;
    uint32_t made; // calls, counted on
    VEC(double *) tables; // that the code reads, freed by whoever frees the code
} Calls;

// Appends the operations of the code, which has no loop, to a function that has begun. Places are those of IN_PLACE: of v, or of one of three arrays in code
// that calls nothing. calls: NULL, no routines can be called, and there are no computed subscripts. *slots grows to the doubles of the stack that are needed.
// False: there is something that it has no machine code for, and what has been appended is of no use.
bool register_code(Assembler *a, const Code *code, Calls *calls, uint32_t *slots);

#endif
