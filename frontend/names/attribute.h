// attribute.h: the attributes that variables of the predefined types have (Modelica 3.6, section 4.9).
#ifndef MDLC_FRONTEND_NAMES_ATTRIBUTE_H
#define MDLC_FRONTEND_NAMES_ATTRIBUTE_H

#include "ir/dae/dae.h"

// Whether variables of a predefined type have an attribute of this name; the message where they have not.
bool attribute_known(VarType type, const char *name);
void attribute_unknown(Diags *diags, Span span, const char *variable, VarType type, const char *name);

#endif
