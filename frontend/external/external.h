// external.h: the door of frontend/external: functions in C and FORTRAN that models call.
//
// In: declarations of external functions.
// Out: routines that call them, compiled C, objects to link.
// Read first: external.c.
// Also open to other rooms: native.h.
//
// external.h: external functions in C and FORTRAN 77, for the files frontend/external/external*.c and who compiles models.
#ifndef MDLC_FRONTEND_EXTERNAL_EXTERNAL_H
#define MDLC_FRONTEND_EXTERNAL_EXTERNAL_H

#include "frontend/value/frame.h"
#include "ir/base/diag.h"
#include "ir/base/out.h"
#include "ir/dae/sys.h"

// Whether programs of the model call external functions.
bool externals_needed(const Sys *sys);
// Compiles what calls the external functions of the model, loads it into this process and gives the functions their addresses, for
// as long as the process lives. The C compiler is that of native.h. False: lines in `why`.
bool externals_load(const Sys *sys, Out *why);
// The same into an object file for native_link; *words, as long as the arena lives, are what the linker needs besides. The compiler is that of
// native_compile_with().
bool externals_object(const Sys *sys, const char *compiler, const char *object, Arena *arena, const char *const **words, uint32_t *n_words, Out *why);
// From now on the expressions of the model may have values that external functions give while it is compiled; messages go to `diags`, which
// live as long.
void externals_evaluate(Exprs *exprs, Diags *diags);

// Calls the external function that the frame's function declares: its outputs get their values.
bool external_run(Frame *frame);

#endif
