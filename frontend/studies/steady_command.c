// steady_command.c: mdlc steady: an equilibrium near the start values, and whether it is stable.
//
// Purpose: `mdlc steady`. Method: the run of operating_point.c is brought to rest (runtime/study/steady.c) and linearised there.
// Contract: studies.h. Complexity: that of the equilibrium and of one linearisation.
#include "frontend/studies/studies.h"

#include "frontend/session/operating_point.h"

int
command_steady(Session *session)
{
    Analysis analysis;
    System system = {0};
    Out out = {0};
    session->options.analysis.steady = true;
    int status = analysis_compile(session, &analysis);
    if (status)
        return status;
    status = analysis_choose(&analysis);
    if (!status)
        status = analysis_open(&analysis);
    if (!status) {
        analysis.request.inputs = 0;
        status = analysis_system(&analysis, &system);
    }
    if (!status) {
        if (wants_json(session) || output_ends_with(session, ".json"))
            system_print_steady_json(&system, &out);
        else
            system_print_steady(&system, &out);
        status = write_output(session, &out);
    }
    out_free(&out);
    analysis_free_system(&system);
    analysis_close(&analysis);
    return status;
}
