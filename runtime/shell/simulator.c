// simulator.c: the program around one compiled model.
//
// Purpose: what `mdlc build` makes is a program with options, help and values to set. Method: the tables of options.c; values are set by
// name (runtime/start/settable.h) before run_program.c runs the model.
// Contract: simulator.h. Complexity: that of the run; linear in settable values and columns before it.
#include "runtime/shell/simulator.h"

#include <regex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/model/number.h"
#include "runtime/shell/run_program.h"
#include "runtime/start/settable.h"

typedef struct Simulator {
    const mdl_model *model;
    const char *program;
    RunSettings settings;
    bool help;
    mdl_override *override;
    uint32_t overrides;
    uint32_t *column;
    uint32_t columns;
} Simulator;

static const Option own_options[] = {
    {"limit", 0, OPTION_TEXT, false, "time=SECONDS", "end the run after so much time", CALL_RUN},
    {"help", 'h', OPTION_FLAG, false, NULL, "this text", CALL_RUN},
};

static bool
take_own(void *user, uint32_t index, const char *value, char why[OPTION_WHY])
{
    Simulator *s = user;
    if (index == 1) {
        s->help = true;
        return true;
    }
    if (!strncmp(value, "time=", 5) && number_of_text(value + 5, &s->settings.limit_time) && s->settings.limit_time > 0)
        return true;
    snprintf(why, OPTION_WHY, "--limit needs time and a positive number of seconds, got '%s'", value);
    return false;
}

MDL_CHECKED static int
usage(const Simulator *s, const char *why)
{
    fprintf(stderr, "%s: %s\n%s --help shows the options, parameters and start values; other options of mdlc run need the compiler.\n", s->program, why, s->program);
    return MDL_USAGE;
}

static void
help_options(const Option *options, uint32_t count, bool audit)
{
    char line[1024];
    for (uint32_t i = 0; i < count; i++) {
        Option option = options[i];
        if ((!strcmp(option.name, "audit") && !audit) || !strcmp(option.name, "check"))
            continue;
        option_help(&option, line, sizeof line);
        fputs(line, stdout);
    }
}

MDL_CHECKED static int
print_help(const Simulator *s)
{
    const mdl_model *model = s->model;
    double *v = malloc(((size_t)model->nv + 1) * sizeof *v);
    if (!v)
        return MDL_INTERNAL;
    memcpy(v, model->v0, model->nv * sizeof *v);
    for (uint32_t i = 0; i < s->overrides; i++)
        v[s->override[i].place] = s->override[i].value;
    mdl_call(model->parameters, v);
    printf("usage: %s [options]     simulates %s\n\n", s->program, model->name);
    help_options(run_options, run_options_count, model->audit != NULL);
    help_options(own_options, sizeof own_options / sizeof *own_options, true);
    printf("\nTime: %g to %g s, tolerance %g.\n", model->start, model->stop, model->tolerance);
    puts("\nParameters:");
    settable_print(model, v, MDL_SETTABLE_PARAMETER);
    puts("\nStart values:");
    settable_print(model, v, MDL_SETTABLE_START);
    bool inputs = false;
    for (uint32_t i = 0; i < model->n_settables; i++)
        inputs = inputs || model->settable[i].kind == MDL_SETTABLE_INPUT;
    if (inputs)
        puts("\nInputs, which keep these values:");
    settable_print(model, v, MDL_SETTABLE_INPUT);
    puts("\nExit codes: 0 fine, 1 a value is not allowed, 2 wrong usage, 3 the simulation failed, 4 internal fault,\n"
         "5 a file could not be written, 130 interrupted.");
    free(v);
    return fflush(stdout) ? MDL_IO : MDL_OK;
}

MDL_CHECKED static int
set_values(Simulator *s)
{
    char why[SETTABLE_WHY];
    size_t room = 1;
    for (uint32_t i = 0; i < s->settings.n_set; i++)
        room += settable_room(s->settings.set[i].value);
    s->override = malloc(room * sizeof *s->override);
    if (!s->override)
        return MDL_INTERNAL;
    int status = MDL_OK;
    for (uint32_t i = 0; i < s->settings.n_set; i++)
        if (!settable_override(s->model, s->settings.set[i].name, s->settings.set[i].value, s->override, &s->overrides, why)) {
            fprintf(stderr, "%s: error: %s\n", s->program, why);
            status = MDL_MODEL;
        }
    return status;
}

MDL_CHECKED static int
choose_columns(Simulator *s)
{
    regex_t filter;
    char why[256];
    if (!s->settings.variables)
        return MDL_OK;
    int error = regcomp(&filter, s->settings.variables, REG_EXTENDED | REG_NOSUB);
    if (error) {
        char text[512];
        regerror(error, NULL, why, sizeof why);
        snprintf(text, sizeof text, "--vars '%.200s': %s", s->settings.variables, why);
        return usage(s, text);
    }
    s->column = malloc(((size_t)s->model->n_outputs + 1) * sizeof *s->column);
    for (uint32_t i = 0; s->column && i < s->model->n_outputs; i++)
        if (!regexec(&filter, s->model->output[i].name, 0, NULL, 0))
            s->column[s->columns++] = i;
    regfree(&filter);
    if (s->column && !s->columns)
        fprintf(stderr, "%s: warning: no variable's name matches '%s': the result has only the time\n", s->program,
                s->settings.variables);
    return s->column ? MDL_OK : MDL_INTERNAL;
}

// Without --vars: what `mdlc run` shows.
MDL_CHECKED static int
default_columns(Simulator *s)
{
    if (s->settings.variables)
        return MDL_OK;
    s->column = malloc(((size_t)s->model->n_outputs + 1) * sizeof *s->column);
    for (uint32_t i = 0; s->column && i < s->model->n_outputs; i++)
        if (s->model->output[i].on_request == MDL_OUTPUT_ALWAYS
            || (s->model->output[i].on_request == MDL_OUTPUT_PARAMETER && run_wants_parameters(&s->settings)))
            s->column[s->columns++] = i;
    return s->column ? MDL_OK : MDL_INTERNAL;
}

MDL_CHECKED static int
run(Simulator *s, int argc, char **argv)
{
    const OptionTable tables[] = {
        {run_options, run_options_count, run_settings_take, &s->settings},
        {own_options, sizeof own_options / sizeof *own_options, take_own, s},
    };
    char why[OPTION_WHY];
    int rest = argc;
    if (!options_scan(tables, 2, CALL_RUN, argc, argv, 1, &rest, why))
        return usage(s, why);
    if (rest < argc) {
        snprintf(why, sizeof why, "no file is needed, got '%.400s'", argv[rest]);
        return usage(s, why);
    }
    // The residual of the equations as they are written is evaluated by the compiler (mdl_options.checker).
    if (s->settings.check == MDL_CHECK_ROWS || s->settings.check == MDL_CHECK_STEPS)
        return usage(s, "--check: a built program has the equations in solved form only; mdlc run --check holds its values against those that are written");
    int status = set_values(s);
    if (!status && s->help)
        return print_help(s);
    if (!status)
        status = choose_columns(s);
    if (!status)
        status = default_columns(s);
    if (status)
        return status;
    const RunCommand command = {.settings = &s->settings, .program = s->program, .override = s->override,
                                .overrides = s->overrides, .column = s->column, .columns = s->columns};
    return run_command(s->model, &command);
}

int
simulator_main(const mdl_model *model, int argc, char **argv)
{
    const char *slash = argc ? strrchr(argv[0], '/') : NULL;
    Simulator s = {.model = model, .program = slash ? slash + 1 : argc ? argv[0] : model->name};
    run_settings_init(&s.settings);
    signal(SIGPIPE, SIG_IGN); // a closed pipe and a limit on the size of files are write errors
    signal(SIGXFSZ, SIG_IGN);
    int status = run(&s, argc, argv);
    run_settings_free(&s.settings);
    free(s.override);
    free(s.column);
    return status;
}
