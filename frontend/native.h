// native.h: from an object file to a program that needs neither compiler nor LLVM.
#ifndef MDLC_FRONTEND_NATIVE_H
#define MDLC_FRONTEND_NATIVE_H

#include <stdbool.h>

#include "ir/base/out.h"

// Links the object with `library` (libsimulator.a) into an executable, or into a shared library. The system's C compiler
// (environment variable CC, otherwise cc) drives the linker. False: lines in `why`.
bool native_link(const char *object, const char *library, const char *target, bool shared, Out *why);

#endif
