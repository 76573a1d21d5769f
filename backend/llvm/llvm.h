// llvm.h: the door of backend/llvm: linear code as machine code.
//
// In: pieces of backend/code.
// Out: functions in this process, objects for native programs, text of IR and assembly. LLVM is seen in this room only.
// Read first: ll_emit.c, then ll_module.c and ll_jit.c.
//
// llvm.h: the LLVM engine's parts. LLVM-C appears only in ll_*.
//
//   ll_emit.c    one piece of linear code -> one LLVM function
//   ll_routine.c routines, and calls of them
//   ll_lanes.c   functions for several runs side by side
//   ll_directions.c  tangents in several directions at once
//   ll_module.c  functions of a Sys -> modules, optimised, handed to a sink
//   ll_jit.c     sink: object code in this process            (engine_llvm)
//   ll_print.c   sinks: text of IR and assembly
//   ll_object.c  sink: a whole model as one file
//   ll_tables.c  the model's tables as constants
//   ll_memory.c  what happens when memory ends inside LLVM
#ifndef MDLC_BACKEND_LLVM_LLVM_H
#define MDLC_BACKEND_LLVM_LLVM_H

#include <llvm-c/Core.h>
#include <llvm-c/TargetMachine.h>

#include "backend/code/backend.h"
#include "backend/code/code.h"
#include "backend/code/shared_code.h"
#include "ir/expr/op.h"

// One LLVM module under construction; owns its context.
typedef struct LlModule {
    LLVMContextRef context;
    LLVMModuleRef module;
    LLVMBuilderRef builder;
    LLVMTypeRef type_void, type_double, type_pointer, type_index, type_int32;
    LLVMValueRef callee[OP_COUNT]; // libm functions declared so far
    LLVMValueRef sincos;           // the same
    LLVMValueRef sqrt, floor, ceil, trunc, fabs;
    uint32_t failure;              // mdl_model.failure
    const Exprs *exprs;            // whose routines are called
    bool optimised;                // may hold what runs default<O2> and the optimising code generator
    bool gains;                    // it does
    uint32_t instrs;               // instructions of the Sys in it
    // While functions are emitted for several runs side by side: how many, and type_double is a vector of so many doubles. Otherwise 0.
    uint32_t lanes;
    bool unfit;                    // of such a function something is missing, so that none may be used
    // While tangents are emitted for several directions at once (ll_directions.c): how many; places from `shift` on are vectors of so many doubles, in the array
    // that is the function's second parameter. Otherwise 0.
    uint32_t directions, shift;
} LlModule;

typedef struct LlLoop {
    const Pieces *pieces;
    const Segment *segment;
    bool self;     // one trip, with the places in a table behind `self`
    bool divided;  // the trips from self[0] to self[1] only, of two uint64_t
    bool absolute; // tables by address (they outlive the code) instead of as constants of the module
} LlLoop;

// Adds the operations of `code` to a new block structure of `function`, whose parameters are v and, for
// shared code, self; ends it with ret.
// loop is NULL for straight code.
void ll_emit(LlModule *m, LLVMValueRef function, const Code *code, const LlLoop *loop);

void ll_attribute(LlModule *m, LLVMValueRef function, const char *name);
// What calls an external function, defined elsewhere (ExternalCode).
LLVMValueRef ll_external(LlModule *m, const char *symbol);
// The body of a routine.
LLVMValueRef ll_emit_routine(LlModule *m, Lowering *lowering, const Routine *routine, bool inside);

// A sink consumes finished modules. It may take the context and module (setting m->module and m->context
// NULL).
typedef bool LlSink(LlModule *m, LLVMTargetMachineRef machine, void *context, Out *why);

typedef VEC(Pieces) PiecesVec;

typedef struct LlRequest {
    Sys *sys;
    EngineOptions options;
    // NULL: every function has code of its own; else only leaders and those that share nothing
    const Sharing *sharing;
    PiecesVec *kept;   // receives the tables, which the code then names by address; NULL: they become
                       // constants of the module
    bool single;       // everything in one module, which exists even without code
    bool portable;     // for any processor of the architecture
    const char *triple; // of another computer, portable; NULL: this one's
    uint32_t lanes;     // not 0: what a step of the model calls exists for so many runs at once as well, where that can be (all in one module)
    bool implicit;      // and the Jacobian, for implicit methods
    uint32_t directions; // not 0: only the tangents of dynamics and outputs are compiled, for so many directions at once
    bool *unfit;         // then: whether something has no such form, so that nothing of it may be used
    // NULL: all functions. Otherwise one entry per function: a long straight one is marked and left out. With
    // `marked` only the marked ones are compiled, and the marks stay.
    uint8_t *late;
    bool marked;
    const uint8_t *made; // NULL, or one entry per function: this one is not needed
    bool plain_routines; // routines are not optimised
    bool routines_alone; // no functions
    // NULL: none. Otherwise one entry per function: of one with long loops whose trips threads may share the parts NAME.0, NAME.1, ... are to be
    // called one after the other, and each entry has trips (LlLoop.divided), or 0.
    U32Vec *divided;
    LlSink *sink;
    void *context;
} LlRequest;

// Compiles every function of the Sys. False: a line in `why`.
bool ll_compile(const LlRequest *request, Out *why);
// Operations of all routines of the Sys.
size_t ll_routines_length(const Sys *sys);

// A target machine for this computer, for all of its kind, or, where a triple is given, for another kind. NULL: a line in `why`.
// From here on the process ends with exit code 4 and a sentence when memory ends inside LLVM.
void ll_handle_failures(void);
// Whether what LLVM says is that memory has ended.
bool ll_lacks_memory(const char *reason);

LLVMTargetMachineRef ll_machine(LLVMCodeGenOptLevel level, bool portable, const char *triple, Out *why);

// The function of that name, declared when the module does not have it.
LLVMValueRef ll_function(LlModule *m, const char *name);

// --- ll_lanes.c
// From here on until ll_lanes_end() functions of the module are for `lanes` runs.
void ll_lanes_begin(LlModule *m, uint32_t lanes);
void ll_lanes_end(LlModule *m);
// Lets the function use the vectors that the processor must have (AVX2).
void ll_lanes_attribute(LlModule *m, LLVMValueRef function);
// What is called of libm, for each run: `arity` operands.
LLVMValueRef ll_lanes_call(LlModule *m, const char *name, LLVMValueRef a, LLVMValueRef b);
// Marks, per function of the Sys, those that a step calls.
void ll_lanes_functions(const Sys *sys, bool implicit, uint8_t *called);
#define LANES_SUFFIX ".lanes"

// --- ll_directions.c
// Marks, per function of the Sys, those that are tangents of dynamics and outputs.
void ll_directions_functions(const Sys *sys, uint8_t *called);
#define DIRECTIONS_SUFFIX ".directions"

// Adds the constant `name`, the model of the Sys, to a module with its functions, which were made for `lanes` runs as well (0: they were not).
void ll_tables(LlModule *m, const Sys *sys, const Sharing *sharing, const char *name, Disclosure disclosed, uint32_t lanes, bool implicit);

#endif
