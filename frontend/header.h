// header.h: a C header for a compiled model.
#ifndef MDLC_FRONTEND_HEADER_H
#define MDLC_FRONTEND_HEADER_H

#include "ir/base/out.h"
#include "runtime/model.h"

// Handles (embed.h) of all variables as enumeration constants, and what can be set, with units and descriptions.
void header_print(const mdl_model *model, Out *out);

#endif
