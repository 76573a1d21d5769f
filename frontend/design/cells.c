// cells.c: tables that are texts, line by line and cell by cell.
//
// Purpose: one reader for what spreadsheets, measuring equipment and other tools write, and cells as they read them. Method: the file is read as a whole, lines and cells are
// cut by NULs where they stand. RFC 4180 says what quotation marks mean; a subscript, x[1,2], needs none.
// Contract: cells.h. Complexity: linear in the text.
#include "frontend/design/cells.h"

#include <stdint.h>
#include <string.h>

bool
cells_read(const char *path, Out *text, char **at, Out *why)
{
    static const char mark[] = "\xef\xbb\xbf"; // which some spreadsheets put before a text
    int error = out_file(text, path);
    if (error || strlen(text->text) != text->length) {
        out_printf(why, error ? "%s: %s" : "%s is no text", path, strerror(error));
        return false;
    }
    *at = text->text + (strncmp(text->text, mark, 3) ? 0 : 3);
    return true;
}

char *
cells_trim(char *text)
{
    text += strspn(text, " \t\r");
    size_t length = strlen(text);
    while (length && strchr(" \t\r", text[length - 1]))
        text[--length] = '\0';
    return text;
}

char *
cells_line(char **at)
{
    char *line = *at, *end = line ? strchr(line, '\n') : NULL;
    if (!line || !*line)
        return NULL;
    *at = end ? end + 1 : line + strlen(line);
    if (end)
        *end = '\0';
    return cells_trim(line);
}

// What stands in quotation marks, and behind them.
static char *
unquote(char *cell)
{
    char *from = cell + 1, *to = cell;
    while (*from && (*from != '"' || from[1] == '"')) {
        from += *from == '"';
        *to++ = *from++;
    }
    from += *from == '"';
    memmove(to, from, strlen(from) + 1);
    return cell;
}

char *
cells_take(char **at, char separator)
{
    char *begin = *at, *c = begin;
    uint32_t depth = 0;
    bool quoted = false;
    if (!begin)
        return NULL;
    for (; *c && (*c != separator || depth || quoted); c++) {
        quoted ^= *c == '"';
        depth += !quoted && (*c == '[' || *c == '(');
        depth -= !quoted && (*c == ']' || *c == ')') && depth;
    }
    *at = *c ? c + 1 : NULL;
    *c = '\0';
    begin = cells_trim(begin);
    return *begin == '"' ? cells_trim(unquote(begin)) : begin;
}

void
cells_put(const char *text, size_t length, Out *out)
{
    bool plain = true;
    for (size_t i = 0; i < length; i++)
        plain = plain && text[i] != ',' && text[i] != '"' && (unsigned char)text[i] >= ' ';
    if (plain) {
        out_bytes(out, text, length);
        return;
    }
    out_char(out, '"');
    for (size_t i = 0; i < length; i++) {
        if (text[i] == '"')
            out_char(out, '"');
        out_char(out, (unsigned char)text[i] >= ' ' ? text[i] : ' ');
    }
    out_char(out, '"');
}
