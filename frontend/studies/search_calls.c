// search_calls.c: what calls that search for values share.
//
// Purpose: a search knows what it may change, and where that begins; its result goes where --output says. Method: the model is compiled as for
// sensitivities and opened once, which says where parameters begin. Runs are more exact than those of mdlc run, because searches compare them.
// Contract: search_calls.h. Complexity: that of compiling, and the size of what is printed.
#include "frontend/studies/search_calls.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

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
    session->compilation.turned = true;
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
    analysis->options.translator = engine_translator(session->engine);
    analysis->options.time_limit = o->run.limit_time;
    if (isnan(o->run.tolerance))
        analysis->options.tolerance = fmin(analysis->options.tolerance, SEARCH_TOLERANCE);
    return EXIT_FINE;
}

static const mdl_directions *
compile_directions(void *engine, uint32_t width)
{
    return engine_directions(engine, width);
}

TrialCompiler
trial_compiler(const Session *session)
{
    const char *when = session->options.translate;
    return (TrialCompiler){.directions = compile_directions, .engine = session->engine, .at_once = when && !strcmp(when, "early")};
}

SearchDrawing
search_drawing(const Session *session)
{
    static const struct { const char *tail; SearchDrawing drawing; } kinds[] = {
        {".html", DRAWING_PAGE}, {".htm", DRAWING_PAGE}, {".svg", DRAWING_PICTURE}, {".png", DRAWING_PICTURE}, {".pdf", DRAWING_PICTURE}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (output_ends_with(session, kinds[i].tail))
            return kinds[i].drawing;
    return DRAWING_NONE;
}

// Beside a drawing or a table the result is printed, too.
int
search_show(const Session *session, SearchResult *result)
{
    bool drawn = search_drawing(session) != DRAWING_NONE, table = output_ends_with(session, ".csv");
    int status = result->drawn;
    if (result->why.length)
        fprintf(stderr, "mdlc: %s", result->why.text);
    if (table)
        status = write_output(session, &result->table);
    Out *printed = wants_json(session) || output_ends_with(session, ".json") ? &result->json : &result->text;
    int shown = drawn || table ? print_out(printed) : write_output(session, printed);
    Out *all[] = {&result->text, &result->json, &result->table, &result->why};
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        out_free(all[i]);
    return status ? status : shown;
}
