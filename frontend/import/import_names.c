// import_names.c: names and texts of a unit in the language.
//
// Purpose: names of FMI may be anything. Method: what is no identifier stands in quotes, with the escapes of the language (docs/language.md).
// Contract: import_inner.h. Complexity: linear.
#include "frontend/import/import_inner.h"
#include "ir/base/words.h"

#include <ctype.h>
#include <string.h>

static bool
is_word(const char *name)
{
    static const char *const words[] = {
#define KEYWORD(token, text) text,
#define CONTEXT(token, text) text,
#include "frontend/text/keyword.def"
#undef KEYWORD
#undef CONTEXT
        "time", "Real", "Integer", "Boolean", "String",
    };
    return word_is_among(name, words, sizeof words / sizeof *words);
}

static void
put_escaped(const char *text, char quote, Out *out)
{
    out_char(out, quote);
    for (const char *c = text; *c; c++) {
        if (*c == quote || *c == '\\')
            out_char(out, '\\');
        if (*c == '\n')
            out_text(out, "\\n");
        else if ((unsigned char)*c >= ' ')
            out_char(out, *c);
    }
    out_char(out, quote);
}

void
imported_name(const char *name, Out *out)
{
    bool plain = isalpha((unsigned char)*name) || *name == '_';
    for (const char *c = name; *c && plain; c++)
        plain = isalnum((unsigned char)*c) || *c == '_';
    if (plain && !is_word(name))
        out_text(out, name);
    else
        put_escaped(name, '\'', out);
}

void
imported_string(const char *text, Out *out)
{
    put_escaped(text ? text : "", '"', out);
}
