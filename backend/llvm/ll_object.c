// ll_object.c: a whole model as one object file: its code and its tables.
//
// Purpose: what a simulator is linked from. Method: the modules of ll_module.c, all in one, and the tables of
//   ll_tables.c behind them. The code is that of any computer of the architecture unless that of this one is asked for.
// Contract: what engine_llvm would not optimise is marked optnone; the numbers it computes are the same.
// Complexity: that of LLVM; linear in the tables.
#include <stdio.h>
#include <string.h>

#include "backend/llvm/llvm.h"
#include "ir/base/replace.h"

typedef struct Object {
    const ObjectOptions *options;
    Sys *sys;
    Sharing sharing;
    uint32_t lanes;
    bool written;
} Object;

// "dynamics0" becomes "SYMBOL.dynamics0", so that models and whatever they are linked with stay apart.
static void
rename_functions(LlModule *m, const char *symbol)
{
    char name[512];
    size_t length;
    for (LLVMValueRef f = LLVMGetFirstFunction(m->module); f; f = LLVMGetNextFunction(f))
        if (!LLVMIsDeclaration(f)) {
            snprintf(name, sizeof name, "%s.%s", symbol, LLVMGetValueName2(f, &length));
            LLVMSetValueName2(f, name, strlen(name));
        }
}

static bool
write_bytes(const char *path, const char *bytes, size_t length, Out *why)
{
    int error = replace_file(path, bytes, length, 0);
    if (!error)
        return true;
    out_printf(why, "%s: %s\n", path, strerror(error));
    return false;
}

// LLVM's own writers end the process where a disk is full.
static bool
write_code(LlModule *m, LLVMTargetMachineRef machine, const ObjectOptions *options, Out *why)
{
    LLVMCodeGenFileType type = options->kind == OBJECT_ASM ? LLVMAssemblyFile : LLVMObjectFile;
    LLVMMemoryBufferRef buffer = NULL;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, m->module, type, &message, &buffer)) {
        out_printf(why, "%s: %s\n", options->path, message);
        LLVMDisposeMessage(message);
        return false;
    }
    bool good = write_bytes(options->path, LLVMGetBufferStart(buffer), LLVMGetBufferSize(buffer), why);
    LLVMDisposeMemoryBuffer(buffer);
    return good;
}

static bool
write_module(LlModule *m, LLVMTargetMachineRef machine, void *context, Out *why)
{
    Object *object = context;
    const ObjectOptions *options = object->options;
    ll_tables(m, object->sys, &object->sharing, options->symbol, options->disclosed, object->lanes, options->implicit);
    rename_functions(m, options->symbol);
    object->written = true;
    if (options->kind != OBJECT_LLVM)
        return write_code(m, machine, options, why);
    char *text = LLVMPrintModuleToString(m->module);
    bool good = write_bytes(options->path, text, strlen(text), why);
    LLVMDisposeMessage(text);
    return good;
}

bool
backend_write_model(Sys *sys, const EngineOptions *engine, const ObjectOptions *options, Out *why)
{
    Object object = {.options = options, .sys = sys};
    if (!sys_verify(sys, why))
        return false;
    char *host = LLVMGetDefaultTargetTriple();
    object.lanes = !options->triple && !strncmp(host, "x86_64", 6) ? options->lanes : 0;
    LLVMDisposeMessage(host);
    SlotCounts slots = {0};
    share_find(&object.sharing, sys, &slots);
    vec_free(&slots.count);
    LlRequest request = {.sys = sys, .options = *engine, .single = true, .portable = !options->native || options->triple, .triple = options->triple,
                         .sharing = &object.sharing, .lanes = object.lanes, .implicit = options->implicit, .sink = write_module, .context = &object};
    bool good = ll_compile(&request, why);
    share_free(&object.sharing);
    if (good && !object.written)
        out_text(why, "the model has no code\n");
    return good && object.written;
}
