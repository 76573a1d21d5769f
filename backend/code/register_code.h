// register_code.h: straight linear code as machine code of x86-64.
#ifndef MDLC_BACKEND_CODE_REGISTER_CODE_H
#define MDLC_BACKEND_CODE_REGISTER_CODE_H

#include "backend/code/assembler.h"
#include "backend/code/code.h"

// Appends the operations of the code, which has no loop, to a function that has begun. Places are those of IN_PLACE: of v, or of one of three arrays in code
// that calls nothing. *slots grows to the doubles of the stack that are needed.
// False: there is something that it has no machine code for, and what has been appended is of no use.
bool register_code(Assembler *a, const Code *code, uint32_t *slots);

#endif
