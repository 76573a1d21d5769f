// native.h: from an object file to a program that needs neither compiler nor LLVM.
#ifndef MDLC_FRONTEND_EXTERNAL_NATIVE_H
#define MDLC_FRONTEND_EXTERNAL_NATIVE_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/out.h"

// Runs a C compiler with these words behind its name; NULL: the system's (environment variable CC, otherwise cc). False: lines in `why`.
bool native_compile_with(const char *compiler, const char *const *words, uint32_t n, Out *why);

// One object file of several, which defines the symbol `keep` for others and nothing else (binutils' objcopy).
bool native_join(const char *const *objects, uint32_t n, const char *target, const char *keep, Out *why);

typedef struct NativeLink {
    const char *objects[2];
    uint32_t n_objects;
    const char *library;      // libsimulator.a
    const char *const *words; // libraries of external functions
    uint32_t n_words;
    const char *target;
    bool shared;              // a shared library instead of an executable
    const char *linker;       // NULL, or the linker that comes along, for shared libraries
} NativeLink;

// The C compiler drives the linker; a shared library without libraries of others is made by the linker alone where CC is not set. False: lines
// in `why`.
bool native_link(const NativeLink *link, Out *why);

#endif
