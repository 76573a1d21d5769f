// optimise_command.c: mdlc optimise: values of parameters with which what is wanted of a run is best.
//
// Purpose: `mdlc optimise`. Method: formulas are read before the model is compiled, a search follows (frontend/optimum).
// Contract: studies.h. Complexity: that of the runs.
#include "frontend/studies/studies.h"

#include <stdio.h>
#include <string.h>

#include "frontend/studies/search_calls.h"
#include "frontend/optimum/optimum.h"

// Of all points.
static SearchEnd
worst_end(const Optima *optima)
{
    SearchEnd end = SEARCH_FOUND;
    for (uint32_t i = 0; i < optima->n; i++)
        end = optima->at[i].end == SEARCH_FOUND || end == SEARCH_INTERRUPTED ? end : optima->at[i].end;
    return end;
}

// What the result is worth, on standard error; an exit code.
static int
tell_end(const Session *session, const OptimumRequest *request, const Optima *optima)
{
    int status = EXIT_FINE;
    if (*optima->reason && !session->options.run.quiet)
        fprintf(stderr, "mdlc: note: %s have no derivatives, and the search goes on without them: %s\n", optima->gradients ? "some runs" : "runs", optima->reason);
    if (optima->failed && !session->options.run.quiet)
        fprintf(stderr, "mdlc: note: of %llu runs %llu failed, the last one of them: %s\n", (unsigned long long)optima->runs, (unsigned long long)optima->failed, optima->said);
    switch (worst_end(optima)) {
    case SEARCH_LIMIT:
        fprintf(stderr, "mdlc: the search has not come to its end within %llu runs: --max-runs allows more\n", (unsigned long long)optima->runs);
        status = EXIT_FAILED;
        break;
    case SEARCH_STUCK:
        fputs("mdlc: the search gave up before its end: the best values so far are shown; --starts tries others, a smaller --tol makes runs more exact\n", stderr);
        status = EXIT_FAILED;
        break;
    case SEARCH_INTERRUPTED:
        fprintf(stderr, "mdlc: interrupted: the best values so far are shown%s\n", request->record ? "; the same call goes on" : "");
        return EXIT_INTERRUPTED;
    default: break;
    }
    const Optimum *o = optima->at;
    if (o->worst <= OPTIMUM_MISS)
        return status;
    for (uint32_t g = request->objectives; g < request->goals; g++) {
        double miss = optimum_missed(&request->goal[g], o, g);
        if (miss > 0)
            fprintf(stderr, "mdlc: no values were found that meet '%s': the nearest ones miss it by %.6g\n", request->goal[g].written, miss);
    }
    return EXIT_FAILED;
}

static int
show_optima(const Session *session, const OptimumRequest *request, const Optima *optima, const char *model)
{
    SearchResult result = {0};
    const char *path = session->options.run.output;
    SearchDrawing drawing = search_drawing(session);
    if (drawing == DRAWING_PAGE)
        result.drawn = optimum_page(request, optima, model, path, &result.why);
    else if (drawing == DRAWING_PICTURE)
        result.drawn = optimum_draw(request, optima, path, &result.why);
    optimum_print(request, optima, model, &result.text);
    optimum_print_json(request, optima, model, &result.json);
    optimum_print_table(request, optima, &result.table);
    return search_show(session, &result);
}

// Objectives, then constraints, as the call has them.
static bool
read_goals(Session *session, GoalReader *reader, Goal *goal, uint32_t *objectives, uint32_t *goals)
{
    const SearchOptions *o = &session->options.search;
    bool good = true;
    for (uint32_t k = 0; k < o->n_objectives; k++) {
        bool most = o->objective[k].most;
        good = goal_read(reader, most ? "--maximise" : "--minimise", o->objective[k].formula, most ? GOAL_MOST : GOAL_LEAST, &goal[(*goals)++]) && good;
    }
    *objectives = *goals;
    for (uint32_t k = 0; k < o->n_constraints; k++)
        good = goal_read(reader, "--subject-to", o->constraint[k], GOAL_BELOW, &goal[(*goals)++]) && good;
    return good;
}

static int
optimise(Session *session, const Analysis *analysis, OptimumRequest *request)
{
    Outcome outcome;
    Optima optima;
    Out why = {0};
    if (!outcome_create(&outcome, analysis->model, &analysis->options, request->free, &request->reader->outputs, session->arena, session->diags)) {
        outcome_free(&outcome);
        return EXIT_MODEL;
    }
    const TrialCompiler compiler = trial_compiler(session);
    outcome.trial.compiler = &compiler;
    request->outcome = &outcome;
    int status = optimum_find(request, session->arena, &optima, &why);
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    if (!status) {
        status = show_optima(session, request, &optima, analysis->model->name);
            int worth = tell_end(session, request, &optima);
        status = status ? status : worth;
    }
    optima_free(&optima);
    outcome_free(&outcome);
    return status;
}

int
command_optimise(Session *session)
{
    Analysis analysis;
    FreeList wanted = {0};
    const SearchOptions *o = &session->options.search;
    Goal *goal = arena_array(session->arena, Goal, o->n_objectives + o->n_constraints + 1);
    GoalReader reader = {.sources = session->sources, .syms = session->syms, .diags = session->diags, .arena = session->arena, .free = &wanted};
    OptimumRequest request = {.free = &wanted, .reader = &reader, .goal = goal, .starts = o->starts ? o->starts : 1, .front = o->front ? o->front : FRONT_POINTS,
                              .runs_most = o->runs ? o->runs : UINT64_MAX, .record = o->record,
                              .library = arena_printf(session->arena, "%s../lib/mdlc/libnlopt.so.0", program_folder(session->arena))};
    int status = trial_prepare(session, &analysis, &wanted);
    reader.diags = session->diags;
    if (!status)
        status = read_goals(session, &reader, goal, &request.objectives, &request.goals) ? optimise(session, &analysis, &request) : EXIT_USAGE;
    vec_free(&reader.steps);
    vec_free(&reader.outputs);
    return status;
}
