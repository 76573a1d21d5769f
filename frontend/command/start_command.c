// start_command.c: where a new user begins: mdlc new, mdlc examples.
//
// Purpose: calls that write files to begin with. Method: none: starter.c does it.
// Contract: command.h. Complexity: that of starter.c.
#include "frontend/command/command.h"

#include <stdio.h>

#include "frontend/command/starter.h"

int
command_start(Session *session)
{
    const char *what = session->options.what, *examples = distributed_folder(session->arena, "examples", "README.md");
    const char *library = distributed_folder(session->arena, "stdlib", "Units.mdl");
    Out out = {0}, why = {0};
    int status = session->options.command == COMMAND_NEW ? starter_new(library, what, &out, &why)
        : what ? starter_copy(examples, what, &out, &why) : starter_list(examples, &out, &why);
    if (why.length)
        fprintf(stderr, "mdlc: %s", why.text);
    out_free(&why);
    int printed = print_out(&out);
    return status ? status : printed;
}
