// operating_point.c: from the call to a run that stands at the point of interest.
//
// Purpose: what `linearize`, `freq` and `steady` share. Method: the model is compiled with directional derivatives and run to the point;
// columns are tangents there (runtime/study/linearize.c).
// Contract: operating_point.h.
// Complexity: that of the run, and one tangent per state and input.
#include "frontend/session/operating_point.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/nearest.h"

static void
on_message(void *user, mdl_severity severity, const char *text)
{
    static const char *const names[] = {[MDL_NOTE] = "note", [MDL_WARNING] = "warning", [MDL_ERROR] = "error"};
    (void)user;
    fprintf(stderr, "mdlc: %s: %s\n", names[severity], text);
}

int
analysis_compile(Session *session, Analysis *analysis)
{
    Compilation *c = &session->compilation;
    *analysis = (Analysis){.session = session, .point = "the start"};
    c->results = c->settable = c->tangents = true;
    int status = compile_model(session, FACT_SYS);
    if (!status)
        status = make_engine(session);
    if (status)
        return status;
    analysis->model = c->sys->model;
    run_settings_apply(&session->options.run, analysis->model, &analysis->options);
    analysis->options.output_path = NULL;
    analysis->options.steady = session->options.analysis.steady;
    if (analysis->options.steady)
        analysis->point = "an equilibrium";
    analysis->options.message = on_message;
    analysis->options.explain = explain_value;
    analysis->options.user = session;
    return EXIT_FINE;
}

// --- names

uint32_t
analysis_split(const Analysis *analysis, const char *list, const char ***names)
{
    Arena *arena = analysis->session->arena;
    uint32_t n = 0;
    *names = arena_array(arena, const char *, strlen(list) + 1);
    for (const char *rest = list; rest;) {
        (*names)[n] = arena_item(arena, &rest);
        n += *(*names)[n] != '\0';
    }
    return n;
}

static void
tell_unknown(const char *what, const char *name, const char *const *candidates, uint32_t n)
{
    const char *near = nearest_name(name, candidates, n);
    fprintf(stderr, near ? "mdlc: the model has no %s '%s'; did you mean '%s'?\n" : "mdlc: the model has no %s '%s'\n", what, name,
            near);
}

uint32_t
analysis_find_settable(const Analysis *analysis, const char *name)
{
    const mdl_model *model = analysis->model;
    const char **candidates = arena_array(analysis->session->arena, const char *, model->n_settables + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_settables; i++) {
        const mdl_settable *at = &model->settable[i];
        if (at->kind == MDL_SETTABLE_START || at->type != MDL_REAL)
            continue;
        if (!strcmp(at->name, name)) {
            if (!at->why)
                return i;
            fprintf(stderr, "mdlc: '%s' cannot be varied: %s\n", name, at->why);
            return UINT32_MAX;
        }
        candidates[n++] = at->name;
    }
    for (uint32_t i = 0; i < model->n_outputs; i++)
        if (!strcmp(model->output[i].name, name)) {
            fprintf(stderr, "mdlc: '%s' is determined by equations and cannot be varied; what can are parameters, and variables that "
                    "the model declares as input\n", name);
            return UINT32_MAX;
        }
    tell_unknown("input or real parameter", name, candidates, n);
    return UINT32_MAX;
}

static uint32_t
analysis_find_output(const Analysis *analysis, const char *name)
{
    const mdl_model *model = analysis->model;
    const char **candidates = arena_array(analysis->session->arena, const char *, model->n_outputs + 1);
    uint32_t n = 0;
    for (uint32_t i = 0; i < model->n_outputs; i++) {
        if (model->output[i].type != MDL_REAL)
            continue;
        if (!strcmp(model->output[i].name, name))
            return i;
        candidates[n++] = model->output[i].name;
    }
    tell_unknown("real variable", name, candidates, n);
    return UINT32_MAX;
}

// --- inputs and outputs

static int
choose_inputs(Analysis *analysis, uint32_t *chosen, uint32_t *n)
{
    const mdl_model *model = analysis->model;
    const char *list = analysis->session->options.analysis.inputs, **names;
    for (uint32_t i = 0; !list && i < model->n_settables; i++)
        if (model->settable[i].kind == MDL_SETTABLE_INPUT && model->settable[i].type == MDL_REAL)
            chosen[(*n)++] = i;
    uint32_t count = list ? analysis_split(analysis, list, &names) : 0;
    for (uint32_t k = 0; k < count; k++) {
        chosen[*n] = analysis_find_settable(analysis, names[k]);
        if (chosen[(*n)++] == UINT32_MAX)
            return EXIT_MODEL;
    }
    return EXIT_FINE;
}

// Columns of the model's own variables that are declared as outputs.
static void
find_outputs(Analysis *analysis, uint32_t *chosen, uint32_t *n)
{
    const Dae *dae = analysis->session->compilation.dae;
    Out name = {0};
    for (uint32_t g = 0; g < dae->groups.n; g++) {
        const Group *group = &dae->groups.at[g];
        if (!(group->decl->flags & GROUP_OUTPUT) || group->inst || group->decl->type != TYPE_REAL)
            continue;
        for (Var var = group->first; var < group->first + group->decl->count; var++) {
            name.length = 0;
            dae_var_name(dae, var, &name);
            for (uint32_t i = 0; i < analysis->model->n_outputs; i++)
                if (!strcmp(analysis->model->output[i].name, name.text))
                    chosen[(*n)++] = i;
        }
    }
    out_free(&name);
}

static int
choose_outputs(Analysis *analysis, uint32_t *chosen, uint32_t *n)
{
    const char *list = analysis->session->options.analysis.outputs, **names;
    if (list && !*list) {
        fputs("mdlc: --outputs= names nothing\n", stderr);
        return EXIT_USAGE;
    }
    uint32_t count = list ? analysis_split(analysis, list, &names) : 0;
    if (!list)
        find_outputs(analysis, chosen, n);
    for (uint32_t k = 0; k < count; k++) {
        chosen[*n] = analysis_find_output(analysis, names[k]);
        if (chosen[(*n)++] == UINT32_MAX)
            return EXIT_MODEL;
    }
    return EXIT_FINE;
}

int
analysis_choose(Analysis *analysis)
{
    const mdl_model *model = analysis->model;
    const AnalysisOptions *o = &analysis->session->options.analysis;
    Arena *arena = analysis->session->arena;
    size_t named_inputs = o->inputs ? strlen(o->inputs) : 0, named_outputs = o->outputs ? strlen(o->outputs) : 0;
    uint32_t *input = arena_array(arena, uint32_t, model->n_settables + named_inputs + 1);
    uint32_t *output = arena_array(arena, uint32_t, model->n_outputs + named_outputs + 1);
    int status = choose_inputs(analysis, input, &analysis->request.inputs);
    if (status == EXIT_FINE)
        status = choose_outputs(analysis, output, &analysis->request.outputs);
    analysis->request.input = input;
    analysis->request.output = output;
    return status;
}

// --- the point

int
analysis_open(Analysis *analysis)
{
    double at = analysis->session->options.analysis.at;
    mdl_options *options = &analysis->options;
    int status = MDL_OK;
    if (!isnan(at)) {
        if (at < options->start) {
            fprintf(stderr, "mdlc: --at=%.12g lies before the start %.12g\n", at, options->start);
            return EXIT_USAGE;
        }
        options->stop = at;
        analysis->point = arena_printf(analysis->session->arena, "time %.12g%s", at,
                                       options->steady ? " after an equilibrium" : "");
    }
    if (!(options->stop > options->start))
        options->stop = options->start + 1; // a span for the integrator's scales; nothing is integrated
    analysis->run = mdl_run_open(analysis->model, options, &status);
    if (!analysis->run)
        return internal_fault("memory is exhausted");
    if (status == MDL_OK && at > options->start)
        status = mdl_run_advance(analysis->run, at);
    if (status == MDL_OK && at > options->start && mdl_run_values(analysis->run)[0] < at) {
        fprintf(stderr, "mdlc: the model ends at time %.12g, before --at=%.12g\n", mdl_run_values(analysis->run)[0], at);
        return EXIT_FAILED;
    }
    return status;
}

void
analysis_close(Analysis *analysis)
{
    if (analysis->run)
        mdl_run_drop(analysis->run);
    analysis->run = NULL;
}

// --- the linear system

typedef struct HeldList {
    HeldMode *held;
    uint32_t n;
} HeldList;

static void
add_held(void *user, const char *what, const char *mode)
{
    HeldList *list = user;
    list->held[list->n++] = (HeldMode){what, mode};
}

int
analysis_system(Analysis *analysis, System *system)
{
    const mdl_model *model = analysis->model;
    size_t most = (size_t)model->n_relations + model->n_time_relations + model->n_sgns + 1;
    HeldList list = {.held = arena_array(analysis->session->arena, HeldMode, most)};
    Out why = {0};
    *system = (System){.model = model, .request = &analysis->request, .point = analysis->point};
    if (!model->nx) {
        fprintf(stderr, "mdlc: %s has no states: there is nothing to linearise\n", model->name);
        return EXIT_MODEL;
    }
    int status = mdl_linearize(analysis->run, &analysis->request, &system->linear);
    if (status)
        return status;
    system->v = mdl_run_values(analysis->run);
    mdl_run_modes(analysis->run, add_held, &list);
    system->held = list.held;
    system->n_held = list.n;
    if (!modes_find(system->linear.a, system->linear.n, &system->modes, &why)) {
        fprintf(stderr, "mdlc: %s", why.text);
        status = EXIT_IO;
    }
    out_free(&why);
    return status;
}

void
analysis_free_system(System *system)
{
    mdl_linear_free(&system->linear);
    modes_free(&system->modes);
}

int
analysis_run(Session *session, AnalysisCheck *check, AnalysisFinish *finish)
{
    Analysis analysis;
    System system = {0};
    int status = analysis_compile(session, &analysis);
    if (status)
        return status;
    status = analysis_choose(&analysis);
    if (!status && check)
        status = check(&analysis);
    if (!status)
        status = analysis_open(&analysis);
    if (!status)
        status = analysis_system(&analysis, &system);
    if (!status)
        status = finish(session, &system);
    analysis_free_system(&system);
    analysis_close(&analysis);
    return status;
}
