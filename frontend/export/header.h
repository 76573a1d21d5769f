// header.h: a C header for a compiled model.
#ifndef MDLC_FRONTEND_EXPORT_HEADER_H
#define MDLC_FRONTEND_EXPORT_HEADER_H

#include "ir/base/out.h"
#include "runtime/model/model.h"

// Handles (runtime/shell/embed.h) of all variables as enumeration constants, and what can be set, with units and descriptions.
// `symbol` is what the model is called in its object file.
void header_print(const mdl_model *model, const char *symbol, Out *out);

#endif
