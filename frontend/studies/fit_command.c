// fit_command.c: mdlc fit: values of parameters with which a model does what was measured.
//
// Purpose: `mdlc fit`. Method: a search by least squares over runs with sensitivities (frontend/search).
// Contract: studies.h. Complexity: that of the runs.
#include "frontend/studies/studies.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "frontend/studies/search_calls.h"
#include "frontend/search/fit.h"

// What the result is worth, on standard error; an exit code.
static int
tell_end(const Session *session, const Fit *fit)
{
    Out names = {0};
    int status = EXIT_FINE;
    if (fit->by_differences && !session->options.run.quiet)
        fprintf(stderr, "mdlc: note: derivatives are differences of runs, since these have no sensitivities: %s\n", fit->reason);
    switch (fit->end) {
    case SEARCH_LIMIT:
        fprintf(stderr, "mdlc: the search has not come to its end within %llu runs: --max-runs allows more, and --set with the values above goes on from there\n",
                (unsigned long long)fit->runs);
        status = EXIT_FAILED;
        break;
    case SEARCH_STUCK:
        fputs("mdlc: no step makes the fit better although derivatives say that one should: the best values so far are shown; --starts tries others, "
              "a smaller --tol makes runs more exact\n", stderr);
        status = EXIT_FAILED;
        break;
    case SEARCH_INTERRUPTED:
        fputs("mdlc: interrupted: the best values so far are shown\n", stderr);
        status = EXIT_INTERRUPTED;
        break;
    default: break;
    }
    if (fit->precision.combinations) {
        fit_print_undetermined(fit, &names);
        fprintf(stderr, "mdlc: the data do not determine %s: other values fit as well; give them by --set and leave them out of --free, or measure more\n", names.text);
        status = status ? status : EXIT_FAILED;
    }
    out_free(&names);
    return status;
}

static int
show_fit(const Session *session, const Fit *fit, const char *model)
{
    SearchResult result = {0};
    const char *path = session->options.run.output;
    SearchDrawing drawing = search_drawing(session);
    if (drawing == DRAWING_PAGE)
        result.drawn = fit_page(fit, model, path, &result.why);
    else if (drawing == DRAWING_PICTURE)
        result.drawn = fit_draw(fit, path, &result.why);
    fit_print(fit, model, &result.text);
    fit_print_json(fit, model, &result.json);
    fit_print_table(fit, &result.table);
    return search_show(session, &result);
}

int
command_fit(Session *session)
{
    Analysis analysis;
    FreeList free = {0};
    Fit fit;
    Out why = {0};
    const Options *o = &session->options;
    int status = trial_prepare(session, &analysis, &free);
    if (status)
        return status;
    const TrialCompiler compiler = trial_compiler(session);
    const FitRequest request = {.compiler = &compiler, .model = analysis.model, .options = &analysis.options, .free = &free, .files = o->files + 1, .n_files = o->n_files - 1,
                                .columns = o->search.columns, .deviations = o->search.deviations, .starts = o->search.starts ? o->search.starts : 1,
                                .runs_most = o->search.runs ? o->search.runs : UINT32_MAX, .stop_given = !isnan(o->run.stop)};
    status = fit_find(&request, session->arena, &fit, &why);
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    if (status)
        return status;
    status = show_fit(session, &fit, analysis.model->name);
    int worth = tell_end(session, &fit);
    return status ? status : worth;
}
