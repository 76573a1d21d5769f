// build.h: what `mdlc build` is made of.
#ifndef MDLC_FRONTEND_COMMAND_BUILD_H
#define MDLC_FRONTEND_COMMAND_BUILD_H

#include "frontend/session/session.h"

// The archive of that name, which programs and units are linked from; NULL, for libsimulator.a after a message.
const char *build_library(Arena *arena, const char *name);
// build_unit.c: -o NAME.fmu. Exit codes, after messages. The options of the call are looked at before anything is compiled.
int build_unit_check(const Session *session);
int build_unit(Session *session, const EngineOptions *engine);

#endif
