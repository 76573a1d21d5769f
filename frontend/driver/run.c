// mdlc run.
#include "frontend/driver/session.h"

#include "runtime/command.h"

static int
simulate(Session *session)
{
    session->compile_seconds = now() - session->began;
    const RunCommand command = {.settings = &session->options.run, .program = "mdlc", .explain = explain_value,
                                .user = session, .compile_seconds = session->compile_seconds,
                                .compiling = engine_late_seconds(session->engine), .steady = session->options.analysis.steady, .stats = &session->stats};
    return run_command(session->compilation.sys->model, &command);
}

int
command_run(Session *session)
{
    int status = check_regex(session->options.run.variables);
    if (status)
        return status;
    session->compilation.results = true;
    session->compilation.audit = session->options.run.audit;
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
