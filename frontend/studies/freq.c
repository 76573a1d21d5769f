// freq.c: mdlc freq: the frequency response of the model, linearised.
//
// Purpose: `mdlc freq`. Method: the linear system of operating_point.c, solved at each frequency (response.c).
// Contract: studies.h. Complexity: that of the linearisation and of the responses.
#include "frontend/studies/studies.h"

#include <stdio.h>
#include <string.h>

#include "frontend/analysis/response.h"
#include "frontend/page/plot.h"
#include "frontend/session/operating_point.h"

static bool
has_end(const char *path, const char *const *ends)
{
    const char *dot = path ? strrchr(path, '.') : NULL;
    while (dot && *ends && strcmp(dot, *ends))
        ends++;
    return dot && *ends;
}

static int
draw(const Session *session, const System *system, const Response *response)
{
    Table *table = response_table(system, response);
    Out why = {0};
    if (!table)
        return internal_fault("memory is exhausted");
    PlotOptions plot = session->options.plot;
    plot.variables = (const char *const *)table->name + 1;
    plot.n_variables = table->columns - 1;
    plot.output = session->options.run.output;
    plot.logarithmic = true;
    int status = plot_table(table, &plot, &why);
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    table_free(&table);
    return status;
}

static int
write_response(const Session *session, const System *system, const Response *response)
{
    static const char *const pictures[] = {".svg", ".png", ".pdf", NULL}, *const json[] = {".json", NULL};
    const char *path = session->options.run.output;
    Out out = {0};
    if (has_end(path, pictures))
        return draw(session, system, response);
    if (wants_json(session) || has_end(path, json))
        response_print_json(system, response, &out);
    else if (path)
        response_print_csv(system, response, &out);
    else
        response_print_text(system, response, &out);
    return write_output(session, &out);
}

// An input without any influence is rarely what was meant: the amplitude of a source that is zero where the model is linearised.
static void
tell_silent(const System *system, const Response *response)
{
    for (uint32_t pair = 0; pair < response->pairs; pair++) {
        uint32_t point = 0;
        while (point < response->points && response->value[(size_t)point*response->pairs + pair] == 0)
            point++;
        const uint32_t outputs = system->request->outputs;
        if (point == response->points)
            fprintf(stderr, "mdlc: warning: '%s' has no influence on '%s' around %s\n", system_input(system, pair/outputs),
                    system_output(system, pair%outputs), system->point);
    }
}

static int
check_pairs(const Analysis *analysis)
{
    if (analysis->request.inputs && analysis->request.outputs)
        return EXIT_FINE;
    if (!analysis->request.inputs)
        fprintf(stderr, "mdlc: %s has no inputs: declare 'input Real u' in it, or name parameters: --inputs=NAME,...\n",
                analysis->model->name);
    else
        fprintf(stderr, "mdlc: %s has no outputs: declare 'output Real y' in it, or name variables: --outputs=NAME,...\n",
                analysis->model->name);
    return EXIT_MODEL;
}

static int
respond(Session *session, const System *system)
{
    const AnalysisOptions *o = &session->options.analysis;
    const ResponseGrid grid = {o->from, o->to, o->per_decade};
    Response response;
    Out why = {0};
    int status = EXIT_USAGE;
    if (response_find(system, grid, &response, &why)) {
        tell_silent(system, &response);
        status = write_response(session, system, &response);
    } else {
        fprintf(stderr, "mdlc: %s", why.text);
    }
    out_free(&why);
    response_free(&response);
    return status;
}

int
command_freq(Session *session)
{
    return analysis_run(session, check_pairs, respond);
}
