// ll_memory.c: what happens when memory ends inside LLVM, or LLVM gives up.
//
// Purpose: LLVM is C++ without exceptions, so that an allocation that fails ends in abort(), which looks like a crash. The
//   process ends with the sentence and the exit code of our own allocations instead.
// Method: operator new calls the handler of std::set_new_handler, LLVM's own malloc its bad-alloc handler, and errors it has
//   no way back from its fatal-error handler. None of them may return. The first two have no interface in C; their names are
//   those of the C++ ABI of all systems we run on (Itanium).
// Contract: once per process is enough, and more often does no harm.
// Complexity: constant.
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <llvm-c/ErrorHandling.h>

#include "backend/llvm/llvm.h"

typedef void (*NewHandler)(void);
typedef void (*BadAllocHandler)(void *data, const char *reason, bool dump);

NewHandler set_new_handler(NewHandler handler) __asm__("_ZSt15set_new_handlerPFvvE");
void install_bad_alloc_handler(BadAllocHandler handler, void *data) __asm__("_ZN4llvm31install_bad_alloc_error_handlerEPFvPvPKcbES0_");

static void
on_new(void)
{
    base_out_of_memory(0);
}

static void
on_bad_alloc(void *data, const char *reason, bool dump)
{
    (void)data, (void)reason, (void)dump;
    base_out_of_memory(0);
}

bool
ll_lacks_memory(const char *reason)
{
    // Memory for code comes from mmap, whose failure is an error with a text and no more; of LLVM's own texts all say "allocate".
    return strstr(reason, strerror(ENOMEM)) || strstr(reason, "llocate");
}

// Ends it because of an error that LLVM has no way back from.
static void
ll_give_up(const char *reason)
{
    if (ll_lacks_memory(reason))
        base_out_of_memory(0);
    fflush(NULL);
    fprintf(stderr, "mdlc: internal fault, please report: LLVM: %s\n", reason);
    _exit(4);
}

// Before main, too, where LLVM's lists of options are made: the first of all constructors that a program may have.
__attribute__((constructor(101))) static void
handle_early(void)
{
    set_new_handler(on_new);
}

void
ll_handle_failures(void)
{
    install_bad_alloc_handler(on_bad_alloc, NULL);
    LLVMInstallFatalErrorHandler(ll_give_up);
}
