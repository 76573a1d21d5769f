// linearize_command.c: mdlc linearize: the linear system that the model is for small changes around a point, and its eigenvalues.
//
// Purpose: `mdlc linearize`. Method: operating_point.c.
// Contract: studies.h. Complexity: that of the run to the point and of the linearisation.
#include "frontend/studies/studies.h"

#include "frontend/session/operating_point.h"

static int
write_system(Session *session, const System *system)
{
    Out out = {0};
    if (output_ends_with(session, ".mat"))
        system_print_mat(system, &out);
    else if (wants_json(session) || output_ends_with(session, ".json"))
        system_print_json(system, &out);
    else
        system_print_text(system, &out);
    return write_output(session, &out);
}

int
command_linearize(Session *session)
{
    return analysis_run(session, NULL, write_system);
}
