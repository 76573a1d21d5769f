// Fuzz target: programs over one array as text, through their reader. What is read is printed, and is read again
// as the same.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/diag.h"
#include "ir/dae/sys.h"
#include "ir/expr/expr.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The text of what is read of `data`, without text where it is refused; true when it is read.
static bool
print_again(const char *data, size_t size, Out *out)
{
    Sources *sources = sources_create();
    Syms *syms = syms_create();
    Exprs *exprs = exprs_create();
    Diags *diags = diags_create(sources);
    int file = sources_add(sources, "input.sys", data, size);
    Sys *sys = sys_read(exprs, syms, sources, file, false, diags);
    bool good = sys && !diags_errors(diags);
    if (good)
        sys_print(sys, out);
    if (sys)
        sys_free(&sys);
    exprs_free(&exprs);
    diags_free(&diags);
    syms_free(&syms);
    sources_free(&sources);
    return good;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Out once = {0}, twice = {0};
    if (print_again((const char *)data, size, &once)
        && (!print_again(once.text, once.length, &twice) || once.length != twice.length || memcmp(once.text, twice.text, once.length))) {
        fprintf(stderr, "what is printed is not what was read:\n%s", once.text);
        abort();
    }
    out_free(&once);
    out_free(&twice);
    return 0;
}
