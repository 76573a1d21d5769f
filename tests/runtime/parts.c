// parts.c: a part of a run whose functions are all NULL takes part in everything, and changes nothing.
//
// Purpose: functions of a part are optional (runtime/point/part.h); a call that does not ask is a crash for the first part without it.
// Method: run_parts.c is compiled here once more (and driven_run.c, which knows the run within), with a part that has a name only in the place of one that the model does not need.
#define transport_part hollow_part
#include "runtime/shell/run_parts.c"
#undef transport_part
#include "runtime/shell/driven_run.c"

#include "tests/runtime/check.h"
#include "tests/runtime/quarter_car.h"

const RunPart hollow_part = {.name = "hollow"};

enum { STATES = 4, HALF = 1 };

// The run in two halves with a detour between them, or in one; its states at the end.
static int
drive(const mdl_model *model, mdl_solver solver, mdl_form form, bool detour, double *end, bool *takes_part)
{
    mdl_options options;
    Rows rows = {0};
    Log log = {0};
    mdl_sink sink = rows_sink(&rows);
    mdl_options_default(model, &options);
    options.stop = 2 * HALF;
    options.solver = solver;
    options.form = form;
    options.step = solver == MDL_SOLVER_RK4 ? 1e-4 : 0;
    options.sink = &sink;
    options.message = log_message;
    options.user = &log;
    int status;
    mdl_run *run = mdl_run_open(model, &options, &status);
    if (status == MDL_OK)
        status = mdl_run_advance(run, HALF);
    size_t size = run ? mdl_run_save(run, NULL, 0) : 0;
    void *state = malloc(size + 1);
    if (status == MDL_OK)
        mdl_run_save(run, state, size);
    if (status == MDL_OK && detour)
        status = mdl_run_advance(run, 1.5 * HALF);
    if (status == MDL_OK && detour)
        status = mdl_run_restore(run, state, size);
    if (status == MDL_OK)
        status = mdl_run_advance(run, 2 * HALF);
    *takes_part = false;
    for (uint32_t i = 0; run && i < run->run.parts; i++)
        *takes_part |= run->run.part[i] == &hollow_part;
    for (uint32_t i = 0; run && i < STATES; i++)
        end[i] = mdl_run_values(run)[model->y + i];
    if (run)
        mdl_run_drop(run);
    free(state);
    free(rows.value);
    return status;
}

int
main(void)
{
    static const struct { const char *name; mdl_solver solver; mdl_form form; } ways[] = {
        {"ida, causal", MDL_SOLVER_IDA, MDL_FORM_CAUSAL}, {"ida, dae", MDL_SOLVER_IDA, MDL_FORM_DAE},
        {"cvode", MDL_SOLVER_CVODE, MDL_FORM_CAUSAL}, {"erk", MDL_SOLVER_ERK, MDL_FORM_CAUSAL}, {"rk4", MDL_SOLVER_RK4, MDL_FORM_CAUSAL},
    };
    Check state = {0};
    double v0[QC_COUNT];
    mdl_model model = quarter_car(v0, 200, 10, 1);
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        double straight[STATES] = {0}, round[STATES] = {0};
        bool takes_part;
        int status = drive(&model, ways[i].solver, ways[i].form, false, straight, &takes_part);
        int again = drive(&model, ways[i].solver, ways[i].form, true, round, &takes_part);
        check(&state, status == MDL_OK && again == MDL_OK && takes_part && !memcmp(straight, round, sizeof straight), ways[i].name,
              "status %d and %d, x = %.17g and %.17g", status, again, straight[1], round[1]);
    }
    return check_end(&state);
}
