// sense_command.c: mdlc sense: a run with the sensitivities of outputs to parameters as further columns.
//
// Purpose: `mdlc sense`. Method: tangents beside the run (runtime/study/sensitivities.c).
// Contract: studies.h. Complexity: the run, times one more per parameter.
#include "frontend/studies/studies.h"

#include <stdio.h>
#include <string.h>

#include "frontend/session/operating_point.h"
#include "runtime/shell/run_program.h"

// All states, where the model has no outputs and the call names none.
static void
take_states(Analysis *analysis)
{
    const mdl_model *model = analysis->model;
    uint32_t *output = arena_array(analysis->session->arena, uint32_t, model->n_outputs + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < model->n_outputs; k++)
        if (model->output[k].place >= model->y && model->output[k].place < model->y + model->nx && model->output[k].type == MDL_REAL)
            output[n++] = k;
    analysis->request.output = output;
    analysis->request.outputs = n;
}

static int
take_parameters(Analysis *analysis, mdl_sense *sense)
{
    const char **names;
    uint32_t n = analysis_split(analysis, analysis->session->options.analysis.parameters, &names);
    uint32_t *parameter = arena_array(analysis->session->arena, uint32_t, n + 1);
    for (uint32_t p = 0; p < n; p++)
        if ((parameter[p] = analysis_find_settable(analysis, names[p])) == UINT32_MAX)
            return EXIT_MODEL;
    if (!n) {
        fprintf(stderr, "mdlc: --param names no parameter\n");
        return EXIT_USAGE;
    }
    sense->parameter = parameter;
    sense->n = n;
    return EXIT_FINE;
}

// The model with places and columns for sensitivities: chosen outputs, each followed by its derivatives.
static const mdl_model *
extend(const Analysis *analysis, mdl_sense *sense)
{
    Arena *arena = analysis->session->arena;
    const mdl_model *model = analysis->model;
    uint32_t most = sense->outputs * (sense->n + 1), n = 0;
    mdl_model *wide = arena_new(arena, mdl_model);
    mdl_output *output = arena_array(arena, mdl_output, model->n_outputs + most + 1);
    mdl_declaration *declaration = arena_array(arena, mdl_declaration, model->n_declarations + 1);
    double *v0 = arena_array(arena, double, model->nv + most + 1);
    *wide = *model;
    memcpy(v0, model->v0, model->nv * sizeof *v0);
    memcpy(output, model->output, model->n_outputs * sizeof *output);
    if (model->n_declarations)
        memcpy(declaration, model->declaration, model->n_declarations * sizeof *declaration);
    declaration[model->n_declarations] = (mdl_declaration){0};
    sense->place = model->nv;
    for (uint32_t k = 0; k < sense->outputs; k++)
        for (uint32_t p = 0; p < sense->n; p++, n++) {
            const char *name = arena_printf(arena, "d(%s)/d(%s)", model->output[sense->output[k]].name,
                                            model->settable[sense->parameter[p]].name);
            output[model->n_outputs + n] = (mdl_output){name, sense->place + n, 1, MDL_REAL, MDL_OUTPUT_ALWAYS, model->n_declarations};
        }
    wide->nv += n;
    wide->v0 = v0;
    wide->output = output;
    wide->n_outputs += n;
    wide->declaration = declaration;
    wide->n_declarations++;
    return wide;
}

static int
simulate(const Analysis *analysis, const mdl_model *wide, const mdl_sense *sense)
{
    Session *session = analysis->session;
    uint32_t n = 0, *column = arena_array(session->arena, uint32_t, sense->outputs * (sense->n + 1) + 1);
    for (uint32_t k = 0; k < sense->outputs; k++) {
        column[n++] = sense->output[k];
        for (uint32_t p = 0; p < sense->n; p++)
            column[n++] = analysis->model->n_outputs + k * sense->n + p;
    }
    const RunCommand command = {.settings = &session->options.run, .program = "mdlc", .explain = explain_value, .user = session,
                                .sense = sense, .column = column, .columns = n, .stats = &session->stats};
    return run_command(wide, &command);
}

int
command_sense(Session *session)
{
    Analysis analysis;
    mdl_sense sense = {0};
    session->compilation.turned = true;
    int status = analysis_compile(session, &analysis);
    if (!status)
        status = analysis_choose(&analysis);
    if (!status)
        status = take_parameters(&analysis, &sense);
    if (status)
        return status;
    if (!analysis.request.outputs)
        take_states(&analysis);
    sense.output = analysis.request.output;
    sense.outputs = analysis.request.outputs;
    if (diags_count(session->diags)) {
        print_diagnostics(session);
        diags_free(&session->diags);
        session->diags = diags_create(session->sources);
    }
    return simulate(&analysis, extend(&analysis, &sense), &sense);
}
