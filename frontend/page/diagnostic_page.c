// diagnostic_page.c: pages of diagnostics.
//
// Purpose: what a code means, why it is reported and what helps, in the terminal and in docs/diagnostics.md. Method: the
// meaning is that of ir/base/diag.def; the rest stands in explain.txt, which is part of the program:
//   == CODE, the cause, `fix: ...`, then `none: ...` (why there is no example) or, after an optional `call: OPTIONS`, the lines
//   `wrong:` and `right:`, each with a program behind it.
// Contract: diagnostic_page.h; tests/cli/explain.check compiles every example. Complexity: linear in the text per page.
#include "frontend/page/diagnostic_page.h"

#include <string.h>
#include <strings.h>

#include "frontend/page/text_entries.h"
#include "ir/base/diag.h"

extern const unsigned char asset_explain_txt[];

static Text
section_of(const char *code)
{
    return entry_find((const char *)asset_explain_txt, code, true);
}

static Text
example_of(Text section, const char *label)
{
    return entry_lines(section, label, strcmp(label, "wrong:") ? NULL : "right:");
}

static Text
cause_of(Text section)
{
    const char *end = strstr(section.at, "\nfix:");
    return (Text){section.at, end ? (size_t)(end - section.at) : 0};
}

static void
print_text_page(DiagCode code, Text section, Out *out)
{
    Text none = entry_value(section, "none:"), call = entry_value(section, "call:");
    const char *name = diag_switch(code);
    out_printf(out, "%s: %s%s%s%s\n\n", diag_code_text(code), diag_meaning(code), name ? " [-W" : "", name ? name : "", name ? "]" : "");
    entry_print_wrapped(cause_of(section), out);
    out_char(out, '\n');
    entry_print_wrapped(entry_value(section, "fix:"), out);
    if (none.length) {
        out_printf(out, "\nThere is no example: %.*s\n", (int)none.length, none.at);
        return;
    }
    out_printf(out, "\nWrong%s%.*s:\n\n", call.length ? ", with " : "", (int)call.length, call.at);
    entry_print_program(example_of(section, "wrong:"), out);
    out_text(out, "\nRight:\n\n");
    entry_print_program(example_of(section, "right:"), out);
}

static void
print_markdown_page(DiagCode code, Text section, Out *out)
{
    Text cause = cause_of(section), fix = entry_value(section, "fix:"), none = entry_value(section, "none:"), call = entry_value(section, "call:");
    out_printf(out, "### %s\n\n%s", diag_code_text(code), diag_meaning(code));
    if (diag_switch(code))
        out_printf(out, " Switch: `-W%s`.", diag_switch(code));
    out_printf(out, "\n\n%.*s\n\n%.*s\n\n", (int)cause.length, cause.at, (int)fix.length, fix.at);
    if (none.length) {
        out_printf(out, "There is no example: %.*s\n\n", (int)none.length, none.at);
        return;
    }
    out_printf(out, "Wrong%s%.*s%s:\n\n", call.length ? ", with `" : "", (int)call.length, call.at, call.length ? "`" : "");
    entry_print_program(example_of(section, "wrong:"), out);
    out_text(out, "\nRight:\n\n");
    entry_print_program(example_of(section, "right:"), out);
    out_char(out, '\n');
}

static DiagCode
code_named(const char *text)
{
    DiagCode code = 0;
    while (code < DIAG_COUNT && strcasecmp(diag_code_text(code), text))
        code++;
    return code;
}

bool
explain_page(const char *text, bool markdown, Out *out)
{
    DiagCode code = code_named(text);
    if (code == DIAG_COUNT)
        return false;
    (markdown ? print_markdown_page : print_text_page)(code, section_of(text), out);
    return true;
}

bool
explain_example(const char *text, const char *which, Out *out)
{
    char label[16];
    snprintf(label, sizeof label, "%s:", which);
    Text section = section_of(text), part = strcmp(which, "call") ? example_of(section, label) : entry_value(section, label);
    out_printf(out, "%.*s", (int)part.length, part.at);
    return code_named(text) < DIAG_COUNT;
}

// By number, which the table is not.
void
explain_all(bool markdown, Out *out)
{
    const char *last = "";
    for (DiagCode n = 0; n < DIAG_COUNT; n++) {
        DiagCode next = DIAG_COUNT;
        for (DiagCode code = 0; code < DIAG_COUNT; code++)
            if (strcmp(diag_code_text(code), last) > 0 && (next == DIAG_COUNT || strcmp(diag_code_text(code), diag_code_text(next)) < 0))
                next = code;
        last = diag_code_text(next);
        if (markdown)
            print_markdown_page(next, section_of(last), out);
        else
            out_printf(out, "%s  %s\n", last, diag_meaning(next));
    }
}
