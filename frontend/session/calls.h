// calls.h: the functions of the calls, from the rows of calls.def. Each gives an exit code, one of session.h, and has told what went wrong.
#ifndef MDLC_FRONTEND_SESSION_CALLS_H
#define MDLC_FRONTEND_SESSION_CALLS_H

#include "frontend/session/session.h"

#define CALL(id, function, ...) int function(Session *session);
#include "frontend/session/calls.def"

#endif
