// backend.h: from programs (ir/dae/sys.h) to callable code.
#ifndef MDLC_BACKEND_CODE_BACKEND_H
#define MDLC_BACKEND_CODE_BACKEND_H

#include <stdbool.h>

#include "ir/base/out.h"
#include "ir/dae/sys.h"
#include "runtime/model/straight.h"
#include "runtime/model/threads.h"

typedef struct Engine Engine; // compiled code of one Sys; must outlive every use of its model

typedef struct EngineOptions {
    int opt;          // -1 automatic (by size), 0 fastest compilation, 1, 2 best code
    bool verify;      // run LLVM's verifier
    Threads *threads;       // NULL, or threads that compile, and do large loops of functions, in this process
    enum { TRANSLATE_LATE, TRANSLATE_AT_ONCE, TRANSLATE_NEVER } translate; // what runs are found to do often, when
} EngineOptions;

// Each compiles every function of `sys` and writes the code into the model through sys->fixups. The Sys and its
// expressions must outlive the engine: with opt < 0 long functions are compiled only when they have been called often.
// NULL on failure with a line in `why` (an internal fault).
Engine *engine_interp(Sys *sys, Out *why);
Engine *engine_llvm(Sys *sys, const EngineOptions *options, Out *why);
void engine_free(Engine **engine);
// Seconds that the engine has spent so far on compiling such functions while the model ran.
const double *engine_late_seconds(const Engine *engine);
// Who makes machine code of what a run is found to do often; NULL: nobody does.
const mdl_translator *engine_translator(const Engine *engine);
// Compiles the model's tangents for `width` directions at once, 4 or 8, now; NULL: they have no such form, or nobody can. They are the engine's.
const mdl_directions *engine_directions(Engine *engine, uint32_t width);

// What an execution of the functions func[0 .. n) computes, into operations[0 .. n): equal parts of a function once (of 20,000 operations in a row where it is
// longer), a call of a routine as one operation, both sides of a condition.
void backend_operations(const Sys *sys, const uint32_t *func, uint32_t n, uint64_t *operations);

// mdlc show llvm / asm. False: a line in `why`.
bool backend_print_llvm(Sys *sys, const EngineOptions *options, Out *out, Out *why);
bool backend_print_asm(Sys *sys, const EngineOptions *options, Out *out, Out *why);

// Which texts of the model are in an object: all; no places in files and no equations; no names of variables either. Messages of assertions are there as
// long as they quote no formula.
typedef enum Disclosure { DISCLOSE_ALL, DISCLOSE_NAMES, DISCLOSE_NOTHING } Disclosure;

// A whole model in one file: functions, and the tables of runtime/model/model.h as the constant `symbol` (an mdl_model).
typedef struct ObjectOptions {
    enum { OBJECT_FILE, OBJECT_ASM, OBJECT_LLVM } kind; // relocatable object, assembly, LLVM's text
    const char *path, *symbol;
    bool native;      // instructions of this computer's processor, not only those all of the architecture have
    Disclosure disclosed;
    const char *triple; // of another computer that it is for, as LLVM names it; NULL: for this one's kind
    uint32_t lanes;     // code for so many runs side by side as well (mdl_model.lanes), for x86-64 with AVX2; 0: none
    bool implicit;      // and that of the Jacobian, for implicit methods
} ObjectOptions;

// It needs libm. False: a line in `why`.
bool backend_write_model(Sys *sys, const EngineOptions *engine, const ObjectOptions *options, Out *why);

#endif
