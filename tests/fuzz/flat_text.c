// Fuzz target: the textual form of flat models through its reader and all passes.
#include <stdint.h>
#include <stdio.h>

#include "tests/fuzz/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    Sources *sources = sources_create();
    Syms *syms = syms_create();
    Diags *diags = diags_create(sources);
    int file = sources_add(sources, "input.dae", (const char *)data, size);
    Dae *dae = dae_read(syms, sources, file, false, diags);
    if (dae && !diags_errors(diags))
        compile(dae, diags);
    else if (dae)
        dae_free(&dae);
    diags_free(&diags);
    syms_free(&syms);
    sources_free(&sources);
    return 0;
}
