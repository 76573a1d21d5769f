// diagnostic_page.h: a page for every diagnostic: cause, remedy, a wrong and a right example.
#ifndef MDLC_FRONTEND_PAGE_DIAGNOSTIC_PAGE_H
#define MDLC_FRONTEND_PAGE_DIAGNOSTIC_PAGE_H

#include <stdbool.h>

#include "ir/base/out.h"

// The page of a code, as text or Markdown; false when there is no such code.
bool explain_page(const char *code, bool markdown, Out *out);
// One example of it: "wrong", "right", or "call": the options with which `mdlc check` shows it. Nothing when it has none.
bool explain_example(const char *code, const char *which, Out *out);
// Every code with its meaning, or every page in Markdown.
void explain_all(bool markdown, Out *out);

#endif
