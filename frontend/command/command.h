// command.h: the door of frontend/command: the calls of mdlc, and the process.
//
// In: a session (frontend/session/session.h) whose options are those of the call.
// Out: what is printed or written, and the exit code.
// Read first: main.c, then run_command.c.
#ifndef MDLC_FRONTEND_COMMAND_COMMAND_H
#define MDLC_FRONTEND_COMMAND_COMMAND_H

#include "frontend/session/session.h"

// The calls. Each gives an exit code, one of session.h, and has told what went wrong.
#define CALL(id, function, ...) int function(Session *session);
#include "frontend/session/calls.def"

#endif
