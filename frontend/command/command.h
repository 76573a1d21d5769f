// command.h: the door of frontend/command: the calls of mdlc: the only room that sees every floor.
//
// In: the command line.
// Out: what is printed, and how the process ends.
// Read first: main.c, then session.c and run_command.c.
#ifndef MDLC_FRONTEND_COMMAND_COMMAND_H
#define MDLC_FRONTEND_COMMAND_COMMAND_H

#endif
