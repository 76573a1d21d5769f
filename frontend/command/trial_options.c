// trial_options.c: from the call to runs with other values.
//
// Purpose: a search knows what it may change, and where that begins. Method: the model is compiled as for sensitivities and opened once, which says
// where parameters begin. Runs are more exact than those of mdlc run, because searches compare them.
// Contract: trial_options.h. Complexity: that of compiling.
#include "frontend/command/trial_options.h"

#include <math.h>
#include <stdio.h>

#include "runtime/shell/run_program.h"

#define SEARCH_TOLERANCE 1e-8

// The start of the model as the call has it; messages are told.
static int
open_start(Analysis *analysis, FreeList *free, Out *why)
{
    mdl_options options = analysis->options;
    int status = MDL_OK;
    if (!(options.stop > options.start))
        options.stop = options.start + 1;
    mdl_run *run = mdl_run_open(analysis->model, &options, &status);
    if (!run)
        return internal_fault("memory is exhausted");
    if (status == MDL_OK && !free_begin(free, analysis->model, mdl_run_values(run), why))
        status = EXIT_USAGE;
    mdl_run_drop(run);
    return status;
}

int
trial_prepare(Session *session, Analysis *analysis, FreeList *free)
{
    const Options *o = &session->options;
    Out why = {0};
    int status = EXIT_USAGE;
    bool good = true;
    for (uint32_t k = 0; k < o->search.n_free && good; k++)
        good = free_read(o->search.free[k], session->arena, free, &why);
    if (good)
        status = analysis_compile(session, analysis);
    if (good && !status && !free_bind(free, analysis->model, session->arena, &why))
        status = free->n ? EXIT_MODEL : EXIT_USAGE;
    if (good && !status)
        status = open_start(analysis, free, &why);
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    if (diags_count(session->diags)) {
        print_diagnostics(session);
        diags_free(&session->diags);
        session->diags = diags_create(session->sources);
    }
    if (status)
        return status;
    run_signals(NULL);
    analysis->options.interrupt = run_interrupt();
    analysis->options.explain = NULL;
    analysis->options.time_limit = o->run.limit_time;
    if (isnan(o->run.tolerance))
        analysis->options.tolerance = fmin(analysis->options.tolerance, SEARCH_TOLERANCE);
    return EXIT_FINE;
}
