// diag.h: diagnostics as collected records. Nothing below the driver prints or exits.
//
//     Diag *d = diag_add(diags, E0102, span, "no component named '%s' in %s", name, class);
//     diag_note(d, other_span, "declared here");
//     diag_help(d, "did you mean '%s'?", near);
//
// A code is stable, documented in docs/diagnostics.md (made from diag.def) and names its tests.
#ifndef MDLC_IR_BASE_DIAG_H
#define MDLC_IR_BASE_DIAG_H

#include <stdbool.h>
#include <stdint.h>

#include "ir/base/out.h"
#include "ir/base/src.h"

typedef enum DiagCode {
#define DIAG(code, severity, doc) code,
#include "ir/base/diag.def"
#undef DIAG
    DIAG_COUNT
} DiagCode;

typedef enum Severity { SEVERITY_ERROR, SEVERITY_WARNING } Severity;

typedef struct Diag Diag;
typedef struct Diags Diags;

Diags *diags_create(const Sources *sources);
void diags_free(Diags **diags);
Diag *diag_add(Diags *diags, DiagCode code, Span span, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
void diag_note(Diag *diag, Span span, const char *format, ...) __attribute__((format(printf, 3, 4)));
void diag_help(Diag *diag, const char *format, ...) __attribute__((format(printf, 2, 3)));
// The diagnostic added last, for a note by whoever knows what it was part of; one that takes notes and is not
// printed when there is none, or when the last one was only counted.
Diag *diags_newest(Diags *diags);
Span diag_span(const Diag *diag);
void diag_move(Diag *diag, Span span); // to a place that tells more
uint32_t diags_errors(const Diags *diags);
uint32_t diags_count(const Diags *diags);
// --- warnings and their switches
// "unused", "no-unused", "error", "no-error", "error=unused", "no-error=unused", as they stand behind -W. "unused" means all
// whose switch is it, or begins with "unused-"; "all" means all. False when there is no such warning.
bool diags_switch(Diags *diags, const char *text);
// Whether diags_switch would take it.
bool diag_switch_known(const char *text);
// The switch of a code; NULL for errors.
const char *diag_switch(DiagCode code);
// The same for the first of several codes with one switch, otherwise NULL: lists each switch once.
const char *diag_switch_once(DiagCode code);
// What a code means: the sentence of diag.def.
const char *diag_meaning(DiagCode code);

// At most 20 errors and 20 warnings are kept; later errors are only counted. Producers that can
// flood (the scanner) stop when diags_full, which looks at errors, is true.
bool diags_full(const Diags *diags);
// A place to return to: diags_return_to forgets what was added since diags_mark.
typedef struct DiagsMark { uint32_t listed, errors, lost, kept[2]; } DiagsMark;
DiagsMark diags_mark(const Diags *diags);
// Moves what was added since from the standard library to `to`, a place of the user that is the reason for it, and notes
// where it was. Nothing when `to` is in the library, too.
void diags_relocate(Diags *diags, DiagsMark since, Span to);
bool diags_same(const Diags *diags, DiagsMark mark); // nothing was added
// All errors that were added since have one of these n codes.
bool diags_are(const Diags *diags, DiagsMark mark, const DiagCode *codes, uint32_t n);
void diags_return_to(Diags *diags, DiagsMark mark);
const char *diag_code_text(DiagCode code);

// Terminal form: path:line:col: error[E0102]: text / source line / caret range / note: / help:.
// In the order they were added; colour with ANSI escapes when asked.
void diags_print_text(const Diags *diags, Out *out, bool colour);
// One JSON array: [{code, severity, switch (of a warning), path, line, column, end_line, end_column, message, notes, help}].
void diags_print_json(const Diags *diags, Out *out);

#endif
