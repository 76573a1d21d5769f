// command.h: the door of frontend/command: the process, and the calls that read, show, build and run one model.
//
// In: a session (frontend/session/session.h) whose options are those of the call.
// Out: what is printed or written, and the exit code. Calls of frontend/studies are made here, too.
// Read first: main.c, then run_command.c.
#ifndef MDLC_FRONTEND_COMMAND_COMMAND_H
#define MDLC_FRONTEND_COMMAND_COMMAND_H

#include "frontend/session/calls.h"

#endif
