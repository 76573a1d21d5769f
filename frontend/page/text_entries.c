// text_entries.c: texts that consist of entries.
//
// Purpose: pages of diagnostics and of words of the language stand in text files that are part of the program. Method: such
// a text is read from its beginning for every page. Contract: text_entries.h. Complexity: linear in the text.
#include "frontend/page/text_entries.h"

#include <string.h>
#include <strings.h>

enum { WIDTH = 100 };

Text
entry_line(Text *rest)
{
    const char *end = memchr(rest->at, '\n', rest->length);
    Text line = {rest->at, end ? (size_t)(end - rest->at) : rest->length};
    size_t used = line.length + (end != NULL);
    *rest = (Text){rest->at + used, rest->length - used};
    return line;
}

// Does `line` begin with these characters?
static bool
entry_begins(Text line, const char *with)
{
    size_t length = strlen(with);
    return line.length >= length && !strncmp(line.at, with, length);
}

Text
entry_next(Text *rest, Text *body)
{
    Text none = {"", 0}, line = none;
    *body = none;
    while (rest->length && !entry_begins(line, "== "))
        line = entry_line(rest);
    if (!entry_begins(line, "== "))
        return none;
    const char *start = rest->at;
    while (rest->length && !entry_begins(*rest, "== "))
        entry_line(rest);
    *body = (Text){start, (size_t)(rest->at - start)};
    return (Text){line.at + 3, line.length - 3};
}

bool
entry_names(Text names, const char *name, bool any_case)
{
    size_t length = strlen(name);
    for (size_t i = 0; i < names.length;) {
        const char *end = memchr(names.at + i, ' ', names.length - i);
        size_t word = end ? (size_t)(end - names.at) - i : names.length - i;
        if (word == length && length && !(any_case ? strncasecmp : strncmp)(names.at + i, name, length))
            return true;
        i += word + 1;
    }
    return false;
}

Text
entry_find(const char *all, const char *name, bool any_case)
{
    Text rest = {all, strlen(all)}, body, names;
    while ((names = entry_next(&rest, &body)).length)
        if (entry_names(names, name, any_case))
            return body;
    return body;
}

Text
entry_value(Text entry, const char *label)
{
    size_t length = strlen(label);
    while (entry.length) {
        Text line = entry_line(&entry);
        if (entry_begins(line, label) && line.length > length)
            return (Text){line.at + length + 1, line.length - length - 1};
    }
    return (Text){"", 0};
}

Text
entry_lines(Text entry, const char *label, const char *until)
{
    size_t length = strlen(label);
    bool found = false;
    while (entry.length && !found) {
        Text line = entry_line(&entry);
        found = entry_begins(line, label) && line.length == length;
    }
    Text lines = {entry.at, 0};
    while (entry.length && !(until && entry_begins(entry, until))) {
        entry_line(&entry);
        lines.length = (size_t)(entry.at - lines.at);
    }
    return lines;
}

void
entry_print_wrapped(Text text, Out *out)
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

void
entry_print_program(Text program, Out *out)
{
    while (program.length) {
        Text line = entry_line(&program);
        out_printf(out, "    %.*s\n", (int)line.length, line.at);
    }
}
