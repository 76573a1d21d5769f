// linearize_command.c: mdlc linearize: the linear system that the model is for small changes around a point, and its eigenvalues.
//
// Purpose: `mdlc linearize`. Method: operating_point.c.
// Contract: command.h. Complexity: that of the run to the point and of the linearisation.
#include "frontend/command/command.h"

#include <string.h>

#include "frontend/session/operating_point.h"

static bool
ends_with(const char *text, const char *end)
{
    size_t length = text ? strlen(text) : 0, tail = strlen(end);
    return length > tail && !strcmp(text + length - tail, end);
}

static int
write_system(Session *session, const System *system)
{
    const char *path = session->options.run.output;
    Out out = {0};
    if (ends_with(path, ".mat"))
        system_print_mat(system, &out);
    else if (wants_json(session) || ends_with(path, ".json"))
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
