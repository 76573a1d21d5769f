// studies.h: the door of frontend/studies: the calls that ask for more than the rows of one run.
//
// In: a session (frontend/session/session.h) whose options are those of the call.
// Out: what is printed or written, and the exit code: equilibria, linear systems, responses, sensitivities, searches, sweeps.
// Read first: steady_command.c, then search_calls.c.
#ifndef MDLC_FRONTEND_STUDIES_STUDIES_H
#define MDLC_FRONTEND_STUDIES_STUDIES_H

#include "frontend/session/calls.h"

#endif
