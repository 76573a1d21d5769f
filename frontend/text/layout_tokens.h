// layout_tokens.h: canonical layout (`mdlc fmt`).
#ifndef MDLC_FRONTEND_TEXT_LAYOUT_TOKENS_H
#define MDLC_FRONTEND_TEXT_LAYOUT_TOKENS_H

#include "ir/base/diag.h"
#include "ir/base/out.h"

// Reformats one file: indentation, spacing and line breaks become canonical; comments, strings, number
// spellings, parentheses and blank lines between things (at most one) stay. Idempotent, and the result
// parses to the same tree. Returns false (out untouched) when the text does not parse; the errors are
// in `diags`.
bool format_file(Sources *sources, int file, Diags *diags, Out *out);

#endif
