// run_command.c: mdlc run.
//
// Purpose: `mdlc run`: compile and simulate in one process. Method: the tables of the model go to the runtime in memory; the written
// equations are looked at in between (runtime/result/residual_check.c).
// Contract: command.h. Complexity: that of compiling and of the run.
#include "frontend/command/command.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/shell/run_program.h"
#include "runtime/model/clock.h"

// Of a model with more equations than this nothing is looked at unless it is asked for: the first look alone would be noticed.
enum { CHECKED_MOST = 20000 };

// Without the option: MDLC_CHECK, as tests set it.
static void
choose_check(Session *session)
{
    mdl_check *check = &session->options.run.check;
    const char *given = getenv("MDLC_CHECK");
    if (*check == MDL_CHECK_AUTO && given)
        *check = !strcmp(given, "steps") ? MDL_CHECK_STEPS : !strcmp(given, "rows") ? MDL_CHECK_ROWS : MDL_CHECK_OFF;
    session->compilation.checked = *check != MDL_CHECK_OFF;
    session->compilation.check_most = *check == MDL_CHECK_AUTO ? CHECKED_MOST : 0;
}

// An mdl_check_fn; user: the Session.
static const char *
check_values(void *user, const double *v, double tolerance, double resolution)
{
    Session *session = user;
    Out out = {0};
    if (check_holds(session->compilation.check, v, tolerance, resolution, &out))
        return NULL;
    const char *text = arena_strndup(session->arena, out.text, out.length);
    out_free(&out);
    return text;
}

// What was looked at, and what was not.
static void
print_check(const Session *session)
{
    const Check *check = session->compilation.check;
    if (!check) {
        fprintf(stderr, "check: off%s\n", session->compilation.checked ? " (a large model; --check=rows looks at it)" : "");
        return;
    }
    fprintf(stderr, "check: %u equations held at %llu points", check_count(check), (unsigned long long)session->stats.checked);
    const char *between = "; left out: ";
    for (uint32_t why = 0; why < CHECK_LEFT; why++) {
        if (!check_left(check, why))
            continue;
        fprintf(stderr, "%s%u %s", between, check_left(check, why), check_why(why));
        between = ", ";
    }
    fputc('\n', stderr);
}

static int
simulate(Session *session)
{
    session->compile_seconds = clock_seconds() - session->began;
    const RunCommand command = {.settings = &session->options.run, .program = "mdlc", .explain = explain_value,
                                .checker = session->compilation.check ? check_values : NULL,
                                .user = session, .threads = session->threads, .compile_seconds = session->compile_seconds,
                                .compiling = engine_late_seconds(session->engine),
                                .translator = engine_translator(session->engine), .steady = session->options.analysis.steady, .stats = &session->stats};
    int status = run_command(session->compilation.sys->model, &command);
    if (session->options.run.stats && !session->options.run.stats_json)
        print_check(session);
    return status;
}

int
command_run(Session *session)
{
    int status = check_regex(session->options.run.variables);
    if (status)
        return status;
    session->compilation.results = true;
    session->compilation.audit = session->options.run.audit;
    choose_check(session);
    session->compilation.tangents = session->options.analysis.steady;
    session->compilation.parameters = run_wants_parameters(&session->options.run);
    session->compilation.variables = session->options.run.variables;
    status = compile_model(session, FACT_SYS);
    if (!status)
        status = make_engine(session);
    if (diags_count(session->diags)) {
        print_diagnostics(session);
        diags_free(&session->diags);
        session->diags = diags_create(session->sources);
    }
    return status ? status : simulate(session);
}
