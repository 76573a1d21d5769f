// foreign.c: what the scanner says about characters and signs that the language does not have.
//
// Purpose: names the character, and its replacement where one is likely: signs of other languages, and the look-alikes of
// signs that word processors and web pages put in. Method: tables. Contract: syntax.h; in text that is skipped after a
// syntax error nothing is said. Complexity: O(1) per character reported.
#include <stdio.h>
#include <string.h>

#include "frontend/text/parser.h"
#include "frontend/text/syntax.h"

// Characters that look like a sign of the language; the code point, its UTF-8 bytes, and the sign.
static const struct {
    unsigned point;
    const char *bytes, *sign;
} lookalikes[] = {
    {0x2212, "\xe2\x88\x92", "-"}, {0x2013, "\xe2\x80\x93", "-"}, {0x2014, "\xe2\x80\x94", "-"}, {0x2010, "\xe2\x80\x90", "-"},
    {0x2011, "\xe2\x80\x91", "-"}, {0x00d7, "\xc3\x97", "*"}, {0x00b7, "\xc2\xb7", "*"}, {0x22c5, "\xe2\x8b\x85", "*"},
    {0x00f7, "\xc3\xb7", "/"}, {0x2215, "\xe2\x88\x95", "/"}, {0x2264, "\xe2\x89\xa4", "<="}, {0x2265, "\xe2\x89\xa5", ">="},
    {0x2260, "\xe2\x89\xa0", "<>"}, {0x201c, "\xe2\x80\x9c", "\""}, {0x201d, "\xe2\x80\x9d", "\""}, {0x201e, "\xe2\x80\x9e", "\""},
    {0x2018, "\xe2\x80\x98", "'"}, {0x2019, "\xe2\x80\x99", "'"}, {0x00b2, "\xc2\xb2", "^2"}, {0x00b3, "\xc2\xb3", "^3"},
    {0x00a0, "\xc2\xa0", " "}, {0x202f, "\xe2\x80\xaf", " "}, {0x2009, "\xe2\x80\x89", " "}, {0x200b, "\xe2\x80\x8b", ""},
    {0xfeff, "\xef\xbb\xbf", ""}, {0xff1b, "\xef\xbc\x9b", ";"}, {0xff08, "\xef\xbc\x88", "("}, {0xff09, "\xef\xbc\x89", ")"},
    {0xff0c, "\xef\xbc\x8c", ","}, {0xff1d, "\xef\xbc\x9d", "="},
};

// Once the parser skips to the next ';', what the skipped text contains is of no interest.
static bool
is_silent(Parser *p, Span span)
{
    p->bad_character = span.hi;
    if (diags_full(p->diags))
        p->stop = true;
    return p->recovering || p->stop;
}

void
foreign_spelling(Parser *p, Span span, const char *text, const char *ours)
{
    if (!is_silent(p, span))
        diag_add(p->diags, E0002, span, "'%s' is written '%s'", text, ours);
}

void
foreign_comment(Parser *p, Span span)
{
    if (!is_silent(p, span))
        diag_add(p->diags, E0002, (Span){span.lo, span.lo + 1}, "a comment begins with '//', not with '%c'",
                 p->text[span.lo - p->base]);
}

void
foreign_assignment(Parser *p, Span span)
{
    char sign = p->text[span.lo - p->base];
    if (!is_silent(p, span))
        diag_add(p->diags, E0002, span, "'x %c= a' is written 'x := x %c a'", sign, sign);
    p->bad_token = span.lo;
}

bool
foreign_behind_operand(const Parser *p, Span span)
{
    uint32_t at = span.lo - p->base;
    while (at && (p->text[at - 1] == ' ' || p->text[at - 1] == '\t'))
        at--;
    return at && memchr("\n\r;", p->text[at - 1], 3) == NULL;
}

static void
report_lookalike(Parser *p, Span span, uint32_t which)
{
    const char *sign = lookalikes[which].sign;
    unsigned point = lookalikes[which].point;
    if (*sign == '^')
        diag_add(p->diags, E0002, span, "a raised digit is written '%s'", sign);
    else if (*sign > ' ')
        diag_add(p->diags, E0002, span, "this character (U+%04X) only looks like %s%s%s", point, *sign == '\'' ? "" : "'",
                 *sign == '\'' ? "a single quote" : sign, *sign == '\'' ? "" : "'");
    else
        diag_add(p->diags, E0002, span, "an invisible character (U+%04X), which is no space", point);
}

// The first character of the word outside ASCII, when it is a look-alike.
static bool
find_lookalike(Parser *p, const char *text, Span span)
{
    for (uint32_t at = 0; span.lo + at < span.hi; at++) {
        if ((unsigned char)text[at] < 0x80)
            continue;
        for (uint32_t i = 0; i < sizeof lookalikes / sizeof *lookalikes; i++) {
            size_t n = strlen(lookalikes[i].bytes);
            if (!strncmp(text + at, lookalikes[i].bytes, n)) {
                report_lookalike(p, (Span){span.lo + at, span.lo + at + (uint32_t)n}, i);
                return true;
            }
        }
        return false;
    }
    return false;
}

static void
help_character(Diag *diag, unsigned char c)
{
    if (c == '%')
        diag_help(diag, "the remainder is 'mod(a, b)'");
    if (c == '?')
        diag_help(diag, "a choice is written 'if condition then a else b'");
}

void
foreign_character(Parser *p, const char *text, Span span)
{
    unsigned char first = (unsigned char)text[0];
    if (is_silent(p, span) || find_lookalike(p, text, span))
        return;
    if (span.hi - span.lo > 1 || first >= 0x80) {
        Diag *diag = diag_add(p->diags, E0002, span,
                              "letters outside ASCII may stand only in comments, strings and quoted names");
        if (span.hi - span.lo < 30)
            diag_help(diag, "a name may be quoted: '%.*s'", (int)(span.hi - span.lo), text);
    } else if (first < 0x20 || first == 0x7f) {
        diag_add(p->diags, E0002, span, "a control character (byte 0x%02x)", first);
    } else {
        help_character(diag_add(p->diags, E0002, span, "'%c' does not exist in the language", first), first);
    }
}
