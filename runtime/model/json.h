// json.h: strings of JSON (RFC 8259, section 7), one definition for the compiler's texts and those of a run.
#ifndef MDLC_RUNTIME_MODEL_JSON_H
#define MDLC_RUNTIME_MODEL_JSON_H

#include <stdbool.h>
#include <stdio.h>

enum { JSON_CHARACTER = 8 };

// How a byte stands inside a string; bytes of UTF-8 stand for themselves. `in_script`: within an element of HTML, where `<` could end it.
static inline const char *
json_character(char c, bool in_script, char text[JSON_CHARACTER])
{
    bool bare = (unsigned char)c >= 0x20 && !(in_script && c == '<');
    int used = 0;
    if (c == '"' || c == '\\')
        text[used++] = '\\';
    if (bare)
        text[used++] = c;
    text[used] = '\0';
    if (!bare)
        snprintf(text, JSON_CHARACTER, "\\u%04x", (unsigned char)c);
    return text;
}

#endif
