// Fuzz target: text through parser, elaboration and all passes.
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "frontend/flatten/flatten.h"
#include "frontend/names/names.h"
#include "tests/fuzz/compile.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char path[64];
    int file = memfd_create("input", 0);
    if (file < 0 || write(file, data, size) != (ssize_t)size)
        abort();
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    Sources *sources = sources_create();
    Syms *syms = syms_create();
    Diags *diags = diags_create(sources);
    Program *program = program_create(sources, syms, diags);
    const char *library = getenv("MDLC_FUZZ_LIBRARY");
    if (library)
        program_add_path(program, library);
    Dae *dae = NULL;
    if (program_add_file(program, path) && !diags_errors(diags))
        dae = elaborate(program, &(ElaborateOptions){.max_scalars = 20000}, diags);
    if (dae && !diags_errors(diags))
        compile(dae, diags);
    else if (dae)
        dae_free(&dae);
    Out out = {0};
    diags_print_text(diags, &out, false);
    diags_print_json(diags, &out);
    out_free(&out);
    program_free(&program);
    diags_free(&diags);
    syms_free(&syms);
    sources_free(&sources);
    close(file);
    return 0;
}
