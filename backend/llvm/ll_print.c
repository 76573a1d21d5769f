// ll_print.c: generated code as text.
//
// Purpose: `mdlc show llvm` and `mdlc show asm`. Method: the module of ll_module.c, optimised or not, printed by LLVM.
// Contract: the printed code is what engine_llvm would run, except that tables of places are constants of the
//   module instead of addresses, and that equal functions do not share a body.
// Complexity: that of compiling.
#include "backend/llvm/llvm.h"

static bool
print_ir(LlModule *m, LLVMTargetMachineRef machine, void *context, Out *why)
{
    (void)machine;
    (void)why;
    char *text = LLVMPrintModuleToString(m->module);
    out_text(context, text);
    LLVMDisposeMessage(text);
    return true;
}

static bool
emit_failed(char *message, Out *why)
{
    out_printf(why, "LLVM cannot generate code: %s\n", message);
    LLVMDisposeMessage(message);
    return false;
}

static bool
print_asm(LlModule *m, LLVMTargetMachineRef machine, void *context, Out *why)
{
    LLVMMemoryBufferRef text;
    char *message = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, m->module, LLVMAssemblyFile, &message, &text))
        return emit_failed(message, why);
    out_bytes(context, LLVMGetBufferStart(text), LLVMGetBufferSize(text));
    LLVMDisposeMemoryBuffer(text);
    return true;
}

bool
backend_print_llvm(Sys *sys, const EngineOptions *options, Out *out, Out *why)
{
    return ll_compile(&(LlRequest){.sys = sys, .options = *options, .sink = print_ir, .context = out}, why);
}

bool
backend_print_asm(Sys *sys, const EngineOptions *options, Out *out, Out *why)
{
    return ll_compile(&(LlRequest){.sys = sys, .options = *options, .sink = print_asm, .context = out}, why);
}
