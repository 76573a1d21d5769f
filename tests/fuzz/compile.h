// compile.h: what the targets that compile share.
#ifndef MDLC_TESTS_FUZZ_COMPILE_H
#define MDLC_TESTS_FUZZ_COMPILE_H

#include <stdlib.h>

#include "ir/pipeline/pipeline.h"

// All passes on a flat model, each verified; what a pass should have refused ends the process.
static void
compile(Dae *dae, Diags *diags)
{
    Compilation compilation = {.dae = dae, .diags = diags, .verify = true, .results = true};
    Out why = {0};
    if (!pipeline_run(&compilation, FACT_SYS, NULL, &why) && !diags_errors(diags)) {
        fprintf(stderr, "internal fault: %s\n", why.text ? why.text : "no reason");
        abort();
    }
    out_free(&why);
    compilation_free(&compilation);
}

#endif
