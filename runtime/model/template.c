// template.c: texts with values that are known at run time.
//
// Purpose: texts of messages are made where their values are known, in generated code and without its help. Method: one pass over the text;
// formats were checked before.
// Contract: template.h. Complexity: linear in the text.
#include "runtime/model/template.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

// The n-th of names separated by commas, from 1.
static int
write_name(const char *names, const char *end, double n, char *out, size_t size)
{
    while (n > 1 && names < end) {
        const char *comma = memchr(names, ',', (size_t)(end - names));
        names = comma ? comma + 1 : end;
        n--;
    }
    const char *comma = memchr(names, ',', (size_t)(end - names));
    return snprintf(out, size, "%.*s", (int)((comma ? comma : end) - names), names);
}

static int
write_value(const char *format, const char *end, double value, const mdl_texts *texts, char *out, size_t size)
{
    char spec[48];
    size_t length = (size_t)(end - format);
    if (!length || length >= sizeof spec - 4)
        return *format == 'e' && length ? write_name(format + 1, end, value, out, size) : 0;
    if (*format == 'e')
        return write_name(format + 1, end, value, out, size);
    if (*format == 's')
        return snprintf(out, size, "%s", mdl_text(texts, value));
    if (*format == 't')
        return snprintf(out, size, "%s", value > 0 ? (const char *)(uintptr_t)value : "");
    if (*format == 'b')
        return snprintf(out, size, "%s", value != 0 ? "true" : "false");
    if (*format == '%')
        snprintf(spec, sizeof spec, "%.*s", (int)length, format);
    else
        snprintf(spec, sizeof spec, "%%%.*s.0f", (int)length - 1, format);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    char *letter = spec + strlen(spec) - 1;
    if (strchr("diouxX", *letter)) {
        memmove(letter + 2, letter, 2);
        memcpy(letter, "ll", 2);
        return snprintf(out, size, spec, (long long)value);
    }
    return snprintf(out, size, spec, value);
#pragma GCC diagnostic pop
}

void
template_fill(const char *text, const double *values, const mdl_texts *texts, char *out, size_t size)
{
    size_t used = 0;
    while (*text && used + 1 < size) {
        const char *end = *text == '\1' ? strchr(text, '\2') : NULL;
        if (!end) {
            out[used++] = *text++;
            continue;
        }
        int written = write_value(text + 1, end, *values++, texts, out + used, size - used);
        used += written > 0 ? (size_t)written : 0;
        if (used >= size)
            used = size - 1;
        text = end + 1;
    }
    out[used] = '\0';
}

static const char *
skip_digits(const char *at, int most)
{
    while (most-- && *at >= '0' && *at <= '9')
        at++;
    return at;
}

// A conversion of printf without lengths and stars.
static bool
is_conversion(const char *at, const char *end)
{
    at = skip_digits(at + 1 + strspn(at + 1, "-+ 0#"), 3);
    if (*at == '.')
        at = skip_digits(at + 1, 3);
    return at + 1 == end && strchr("eEfFgGaAdiouxX", *at);
}

static bool
is_format(const char *at, const char *end)
{
    enum { LONGEST = 40 };
    if (*at == 'e')
        return true;
    if (end - at > LONGEST)
        return false;
    if (*at == '%')
        return is_conversion(at, end);
    if (*at == 'b' || *at == 's')
        return at + 1 == end;
    at = skip_digits(at + strspn(at, "-+ 0"), 3);
    return at + 1 == end && *at == 'd';
}

int
template_places(const char *text)
{
    int places = 0;
    for (const char *at = strchr(text, '\1'), *end; at && (end = strchr(at, '\2')); at = strchr(end, '\1')) {
        if (!is_format(at + 1, end))
            return -1;
        places++;
    }
    return places;
}
