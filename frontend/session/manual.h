// manual.h: texts made from the table of calls and options.
#ifndef MDLC_FRONTEND_SESSION_MANUAL_H
#define MDLC_FRONTEND_SESSION_MANUAL_H

#include <stdbool.h>

#include "ir/base/out.h"

// The manual page, for man(1).
void manual_page(const char *version, Out *out);
// What the shell (bash, zsh or fish) needs to complete calls and options; false when it is another one.
bool manual_completions(const char *shell, Out *out);

#endif
