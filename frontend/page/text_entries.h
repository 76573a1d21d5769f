// text_entries.h: texts that are part of the program and consist of entries: `== NAMES` and lines behind it, of which some begin with a label.
#ifndef MDLC_FRONTEND_PAGE_TEXT_ENTRIES_H
#define MDLC_FRONTEND_PAGE_TEXT_ENTRIES_H

#include <stdbool.h>

#include "ir/base/out.h"

// A part of such a text; it is not ended by NUL.
typedef struct Text { const char *at; size_t length; } Text;

// The first line, without its end, which leaves *rest.
Text entry_line(Text *rest);
// The next entry from *rest on: its names, and *body, the lines behind them. Empty at the end.
Text entry_next(Text *rest, Text *body);
// Is `name` one of the names, which blanks separate?
bool entry_names(Text names, const char *name, bool any_case);
// The lines of the entry of that name; empty when there is none.
Text entry_find(const char *all, const char *name, bool any_case);
// What stands on the line behind `label`; empty when there is no such line.
Text entry_value(Text entry, const char *label);
// The lines between the line `label` and the one that begins with `until` (all, when NULL).
Text entry_lines(Text entry, const char *label, const char *until);

// Words, in lines of at most 100 columns behind two blanks.
void entry_print_wrapped(Text text, Out *out);
// Lines, behind four blanks.
void entry_print_program(Text program, Out *out);

#endif
