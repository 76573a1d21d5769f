// trial_options.h: from the call to runs with other values.
#ifndef MDLC_FRONTEND_COMMAND_TRIAL_OPTIONS_H
#define MDLC_FRONTEND_COMMAND_TRIAL_OPTIONS_H

#include "frontend/search/search.h"
#include "frontend/session/operating_point.h"

// Compiles the model, finds the free quantities and where they begin; signals end a run from then on. An exit code; what went wrong was said.
int trial_prepare(Session *session, Analysis *analysis, FreeList *free);

#endif
