// ll_jit.c: the LLVM engine: object code in this process.
//
// Method: each module becomes an object in memory (no lazy compilation, no passes of ORC's own) that LLJIT
//   links and maps. The few functions that generated code may call are defined by address, so that the
//   executable needs no dynamic symbol table. The code lives as long as the engine, and so do the tables of
//   places it reads.
// Ownership: LLJIT takes the object buffers; a target machine goes into the JIT's builder.
#include <llvm-c/Error.h>
#include <llvm-c/LLJIT.h>
#include <llvm-c/Orc.h>
#include <math.h>

#include "backend/engine.h"
#include "backend/ll.h"

typedef struct Jit {
    LLVMOrcLLJITRef lljit;
    PiecesVec kept;
    Sharing sharing;
} Jit;

static bool
succeeded(LLVMErrorRef error, const char *doing, Out *why)
{
    if (!error)
        return true;
    char *message = LLVMGetErrorMessage(error);
    out_printf(why, "LLVM failed to %s: %s\n", doing, message);
    LLVMDisposeErrorMessage(message);
    return false;
}

static void
release_jit(void *state)
{
    Jit *jit = state;
    if (jit->lljit)
        LLVMConsumeError(LLVMOrcDisposeLLJIT(jit->lljit));
    for (uint32_t i = 0; i < jit->kept.n; i++)
        pieces_free(&jit->kept.at[i]);
    vec_free(&jit->kept);
    share_free(&jit->sharing);
    free(jit);
}

typedef double Unary(double);
typedef double Binary(double, double);

// What generated code may call: libm by the operator table, and what the optimiser makes of copies and of
// functions the processor lacks.
static LLVMErrorRef
define_library(Jit *jit)
{
    static const struct { const char *name; Unary *f; } unary[] = {
        {"exp", exp}, {"log", log}, {"log10", log10}, {"sin", sin}, {"cos", cos}, {"tan", tan},
        {"asin", asin},
        {"acos", acos}, {"atan", atan}, {"sinh", sinh}, {"cosh", cosh}, {"tanh", tanh}, {"sqrt", sqrt},
        {"floor", floor}, {"ceil", ceil}, {"trunc", trunc}, {"fabs", fabs}};
    enum { UNARY = sizeof unary / sizeof *unary, ALL = UNARY + 5 };
    const struct { const char *name; uintptr_t f; } other[] = {
        {"pow", (uintptr_t)(Binary *)pow}, {"atan2", (uintptr_t)(Binary *)atan2},
        {"memcpy", (uintptr_t)memcpy},
        {"memset", (uintptr_t)memset}, {"memmove", (uintptr_t)memmove}};
    LLVMOrcCSymbolMapPair pairs[ALL];
    for (uint32_t i = 0; i < ALL; i++) {
        const char *name = i < UNARY ? unary[i].name : other[i - UNARY].name;
        pairs[i].Name = LLVMOrcLLJITMangleAndIntern(jit->lljit, name);
        pairs[i].Sym.Address = i < UNARY ? (uintptr_t)unary[i].f : other[i - UNARY].f;
        pairs[i].Sym.Flags.GenericFlags =
            LLVMJITSymbolGenericFlagsExported | LLVMJITSymbolGenericFlagsCallable;
        pairs[i].Sym.Flags.TargetFlags = 0;
    }
    return LLVMOrcJITDylibDefine(LLVMOrcLLJITGetMainJITDylib(jit->lljit), LLVMOrcAbsoluteSymbols(pairs, ALL));
}

static bool
start_jit(Jit *jit, Out *why)
{
    LLVMTargetMachineRef machine = ll_machine(LLVMCodeGenLevelNone, why);
    if (!machine)
        return false;
    LLVMOrcLLJITBuilderRef builder = LLVMOrcCreateLLJITBuilder();
    LLVMOrcJITTargetMachineBuilderRef target = LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine);
    LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, target);
    return succeeded(LLVMOrcCreateLLJIT(&jit->lljit, builder), "start its JIT", why) &&
           succeeded(define_library(jit), "define the library functions", why);
}

static bool
add_object(LlModule *m, LLVMTargetMachineRef machine, void *context, Out *why)
{
    Jit *jit = context;
    LLVMMemoryBufferRef object;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, m->module, LLVMObjectFile, &message, &object)) {
        out_printf(why, "LLVM cannot generate code: %s\n", message);
        LLVMDisposeMessage(message);
        return false;
    }
    LLVMErrorRef error =
        LLVMOrcLLJITAddObjectFile(jit->lljit, LLVMOrcLLJITGetMainJITDylib(jit->lljit), object);
    return succeeded(error, "add an object", why);
}

static bool
find_function(Jit *jit, const Sys *sys, uint32_t f, mdl_code *code, Out *why)
{
    LLVMOrcExecutorAddress address = 0;
    uint32_t leader = jit->sharing.leader.at[f];
    if (leader != SHARE_NONE && leader != f) {
        code[f].fn = code[leader].fn; // leaders come first
    } else {
        if (!succeeded(LLVMOrcLLJITLookup(jit->lljit, &address, sys->funcs.at[f].name), "link a function",
                       why))
            return false;
        code[f].fn = (mdl_fn *)(uintptr_t)address;
    }
    if (leader != SHARE_NONE)
        code[f].self = jit->sharing.places.at + jit->sharing.table.at[f];
    return true;
}

static bool
find_functions(Jit *jit, Sys *sys, Out *why)
{
    mdl_code *code = base_calloc(sys->funcs.n + 1, sizeof *code);
    bool good = true;
    for (uint32_t f = 0; good && f < sys->funcs.n; f++)
        if (sys->funcs.at[f].count)
            good = find_function(jit, sys, f, code, why);
    if (good)
        link_code(sys, code);
    free(code);
    return good;
}

Engine *
engine_llvm(Sys *sys, const EngineOptions *options, Out *why)
{
    Jit *jit = base_calloc(1, sizeof *jit);
    LlRequest request = {.sys = sys, .options = *options, .sharing = &jit->sharing, .kept = &jit->kept,
                         .sink = add_object, .context = jit};
    if (!sys_verify(sys, why)) {
        release_jit(jit);
        return NULL;
    }
    SlotCounts slots = {0};
    share_find(&jit->sharing, sys, &slots);
    vec_free(&slots.count);
    if (start_jit(jit, why) && ll_compile(&request, why) && find_functions(jit, sys, why))
        return engine_make(release_jit, jit);
    release_jit(jit);
    return NULL;
}
