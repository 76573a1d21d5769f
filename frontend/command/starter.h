// starter.h: mdlc new and mdlc examples: where a new user begins.
#ifndef MDLC_FRONTEND_COMMAND_STARTER_H
#define MDLC_FRONTEND_COMMAND_STARTER_H

#include "ir/base/out.h"

// Writes NAME.mdl, a first model with comments that explain it. `library`: the folder of the standard library. 0; 2: no name
// of a class, or that of a library; 5: the file exists or cannot be written; with a line in `why`.
int starter_new(const char *library, const char *name, Out *out, Out *why);
// The folders of examples with the first line of their README.
int starter_list(const char *directory, Out *out, Out *why);
// Copies one of them into the working directory, under its name. 0; 2: no such example; 5.
int starter_copy(const char *directory, const char *name, Out *out, Out *why);

#endif
