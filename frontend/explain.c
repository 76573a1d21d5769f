// explain.c: pages of diagnostics.
//
// Purpose: what a code means, why it is reported and what helps, in the terminal and in docs/diagnostics.md. Method: the
// meaning is that of diag.def; the rest stands in explain.txt, which is part of the program:
//   == CODE, the cause, `fix: ...`, then `none: ...` (why there is no example) or, after an optional `call: OPTIONS`, the lines
//   `wrong:` and `right:`, each with a program behind it.
// Contract: explain.h; tests/cli/explain.check compiles every example. Complexity: linear in the text per page.
#include "frontend/explain.h"

#include <string.h>
#include <strings.h>

#include "ir/base/diag.h"

extern const unsigned char asset_explain_txt[];

enum { WIDTH = 100 };

typedef struct Text { const char *at; size_t length; } Text;

static Text
take_line(Text *rest)
{
    const char *end = memchr(rest->at, '\n', rest->length);
    Text line = {rest->at, end ? (size_t)(end - rest->at) : rest->length};
    size_t used = line.length + (end != NULL);
    *rest = (Text){rest->at + used, rest->length - used};
    return line;
}

static bool
begins(Text line, const char *with)
{
    size_t length = strlen(with);
    return line.length >= length && !strncmp(line.at, with, length);
}

// The lines behind `== CODE`, up to the next one.
static Text
section_of(const char *code)
{
    const char *all = (const char *)asset_explain_txt;
    Text rest = {all, strlen(all)}, none = {"", 0};
    while (rest.length) {
        Text line = take_line(&rest);
        if (!begins(line, "== ") || line.length != 3 + strlen(code) || strncasecmp(line.at + 3, code, strlen(code)))
            continue;
        const char *end = strstr(rest.at, "\n== ");
        return (Text){rest.at, end ? (size_t)(end + 1 - rest.at) : rest.length};
    }
    return none;
}

// What stands behind `label` on its line, or for "wrong:" and "right:" on the lines after it.
static Text
part_of(Text section, const char *label)
{
    Text rest = section;
    while (rest.length) {
        Text line = take_line(&rest);
        size_t length = strlen(label);
        if (!begins(line, label))
            continue;
        if (line.length > length)
            return (Text){line.at + length + 1, line.length - length - 1};
        const char *end = strcmp(label, "wrong:") ? NULL : strstr(rest.at, "\nright:");
        return (Text){rest.at, end ? (size_t)(end + 1 - rest.at) : rest.length};
    }
    return (Text){"", 0};
}

static Text
cause_of(Text section)
{
    const char *end = strstr(section.at, "\nfix:");
    return (Text){section.at, end ? (size_t)(end - section.at) : 0};
}

// Words, in lines of at most WIDTH columns behind two blanks.
static void
print_wrapped(Text text, Out *out)
{
    size_t column = 0;
    for (size_t i = 0; i < text.length;) {
        size_t word = 0;
        while (i + word < text.length && text.at[i + word] != ' ' && text.at[i + word] != '\n')
            word++;
        bool first = column == 0 || column + 1 + word > WIDTH;
        out_printf(out, "%s%.*s", !first ? " " : column ? "\n  " : "  ", (int)word, text.at + i);
        column = first ? word : column + 1 + word;
        i += word + (i + word < text.length);
    }
    out_char(out, '\n');
}

static void
print_program(Text program, Out *out)
{
    while (program.length) {
        Text line = take_line(&program);
        out_printf(out, "    %.*s\n", (int)line.length, line.at);
    }
}

static void
print_text_page(DiagCode code, Text section, Out *out)
{
    Text none = part_of(section, "none:"), call = part_of(section, "call:");
    const char *name = diag_switch(code);
    out_printf(out, "%s: %s%s%s%s\n\n", diag_code_text(code), diag_meaning(code), name ? " [-W" : "", name ? name : "", name ? "]" : "");
    print_wrapped(cause_of(section), out);
    out_char(out, '\n');
    print_wrapped(part_of(section, "fix:"), out);
    if (none.length) {
        out_printf(out, "\nThere is no example: %.*s\n", (int)none.length, none.at);
        return;
    }
    out_printf(out, "\nWrong%s%.*s:\n\n", call.length ? ", with " : "", (int)call.length, call.at);
    print_program(part_of(section, "wrong:"), out);
    out_text(out, "\nRight:\n\n");
    print_program(part_of(section, "right:"), out);
}

static void
print_markdown_page(DiagCode code, Text section, Out *out)
{
    Text cause = cause_of(section), fix = part_of(section, "fix:"), none = part_of(section, "none:"), call = part_of(section, "call:");
    out_printf(out, "### %s\n\n%s", diag_code_text(code), diag_meaning(code));
    if (diag_switch(code))
        out_printf(out, " Switch: `-W%s`.", diag_switch(code));
    out_printf(out, "\n\n%.*s\n\n%.*s\n\n", (int)cause.length, cause.at, (int)fix.length, fix.at);
    if (none.length) {
        out_printf(out, "There is no example: %.*s\n\n", (int)none.length, none.at);
        return;
    }
    out_printf(out, "Wrong%s%.*s%s:\n\n", call.length ? ", with `" : "", (int)call.length, call.at, call.length ? "`" : "");
    print_program(part_of(section, "wrong:"), out);
    out_text(out, "\nRight:\n\n");
    print_program(part_of(section, "right:"), out);
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
    Text part = part_of(section_of(text), label);
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
