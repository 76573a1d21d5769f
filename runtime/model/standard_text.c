// standard_text.c: functions of texts.
//
// Purpose: what Modelica.Utilities.Strings and Streams call. Method: none.
// Contract: standard.h. Complexity: linear in the texts.
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "runtime/model/platform.h"
#include "runtime/model/standard_inner.h"
#include "runtime/model/texts.h"

void
mdl_standard_error(const double *in, double *out, double *state)
{
    out[0] = 0;
    standard_fail(in, state, "%s", standard_text(in, 0, state));
}

void
mdl_standard_length(const double *in, double *out, double *state)
{
    out[0] = (double)strlen(standard_text(in, 0, state));
}

void
mdl_standard_substring(const double *in, double *out, double *state)
{
    const char *text = standard_text(in, 0, state);
    double from = standard_scalar(in, 1), to = standard_scalar(in, 2), length = (double)strlen(text);
    from = from < 1 ? 1 : from;
    if (to < from || from > length || to > length) {
        standard_fail(in, state, "the text '%s' has no characters %g to %g", text, standard_scalar(in, 1), standard_scalar(in, 2));
        return;
    }
    char *piece = strndup(text + (size_t)from - 1, (size_t)(to - from) + 1);
    out[0] = mdl_text_from(piece, state);
    free(piece);
}

void
mdl_standard_compare(const double *in, double *out, double *state)
{
    const char *a = standard_text(in, 0, state), *b = standard_text(in, 1, state);
    int order = standard_scalar(in, 2) != 0 ? strcmp(a, b) : strcasecmp(a, b);
    out[0] = order < 0 ? 1 : order == 0 ? 2 : 3; // Less, Equal, Greater
}

// Where the text that an argument gives begins, from a number from 1 on in the next argument; its place is never behind the end.
static const char *
text_from(const double *in, const double *state, size_t *place)
{
    const char *text = standard_text(in, 0, state);
    double at = standard_scalar(in, 1);
    size_t length = strlen(text);
    *place = at < 1 ? 0 : at > (double)length ? length : (size_t)at - 1;
    return text;
}

static size_t
behind_space(const char *text, size_t at)
{
    while (isspace((unsigned char)text[at]))
        at++;
    return at;
}

void
mdl_standard_skip_space(const double *in, double *out, double *state)
{
    size_t at;
    const char *text = text_from(in, state, &at);
    out[0] = (double)behind_space(text, at) + 1;
}

// The hash of Arash Partow.
void
mdl_standard_hash(const double *in, double *out, double *state)
{
    const char *text = standard_text(in, 0, state);
    uint32_t hash = 0xaaaaaaaa;
    for (size_t i = 0; text[i]; i++) {
        uint32_t c = (uint32_t)(int32_t)(signed char)text[i];
        hash ^= i & 1 ? ~((hash << 11) + (c ^ (hash >> 5))) : (hash << 7) ^ c * (hash >> 3);
    }
    out[0] = (int32_t)hash;
}

static size_t
behind_digits(const char *text, size_t at)
{
    while (isdigit((unsigned char)text[at]))
        at++;
    return at;
}

static size_t
behind_sign(const char *text, size_t at, bool allowed)
{
    return allowed && (text[at] == '+' || text[at] == '-') ? at + 1 : at;
}

// Results (next, value) of a scan that found what stands from `at` to `end`; nothing, when that is empty.
static void
found_number(double *out, const char *text, size_t start, size_t at, size_t end)
{
    out[0] = (double)(end > at ? end : start) + 1;
    out[1] = end > at ? strtod(text + at, NULL) : 0;
}

void
mdl_standard_scan_real(const double *in, double *out, double *state)
{
    size_t start, at, end, whole;
    const char *text = text_from(in, state, &start);
    at = behind_space(text, start);
    whole = behind_sign(text, at, standard_scalar(in, 2) == 0);
    end = behind_digits(text, whole);
    size_t digits = end - whole, fraction = text[end] == '.' ? behind_digits(text, end + 1) - end - 1 : 0;
    if (!digits && !fraction) {
        found_number(out, text, start, at, at);
        return;
    }
    end += text[end] == '.' ? fraction + 1 : 0;
    if (text[end] == 'e' || text[end] == 'E') {
        size_t power = behind_sign(text, end + 1, true), behind = behind_digits(text, power);
        end = behind > power ? behind : end;
    }
    found_number(out, text, start, at, end);
}

void
mdl_standard_scan_integer(const double *in, double *out, double *state)
{
    size_t start, at, whole, end;
    const char *text = text_from(in, state, &start);
    at = behind_space(text, start);
    whole = behind_sign(text, at, standard_scalar(in, 2) == 0);
    end = behind_digits(text, whole);
    bool real = text[end] == '.' || text[end] == 'e' || text[end] == 'E';
    found_number(out, text, start, at, end > whole && !real ? end : at);
}

// Results (next, text) of a scan.
static void
found_text(double *out, double *state, const char *text, size_t start, size_t at, size_t end, size_t next)
{
    char *piece = next > start ? strndup(text + at, end - at) : NULL;
    out[0] = (double)next + 1;
    out[1] = mdl_text_from(piece, state);
    free(piece);
}

void
mdl_standard_scan_string(const double *in, double *out, double *state)
{
    size_t start, at, end;
    const char *text = text_from(in, state, &start);
    at = behind_space(text, start);
    end = at + 1;
    if (text[at] == '"')
        while (text[end] && text[end] != '"')
            end += text[end] == '\\' && text[end + 1] ? 2 : 1;
    bool closed = text[at] == '"' && text[end] == '"';
    found_text(out, state, text, start, at + 1, end, closed ? end + 1 : start);
}

void
mdl_standard_scan_identifier(const double *in, double *out, double *state)
{
    size_t start, at, end;
    const char *text = text_from(in, state, &start);
    at = end = behind_space(text, start);
    if (isalpha((unsigned char)text[at]) || text[at] == '_')
        while (isalnum((unsigned char)text[end]) || text[end] == '_')
            end++;
    found_text(out, state, text, start, at, end, end > at ? end : start);
}
