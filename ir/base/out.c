// out.c: text in memory, and how numbers, JSON and HTML are written into it.
//
// Purpose: printers write to memory and fail nowhere; whoever owns the file writes it. Method: a growing array of bytes; numbers get the
// fewest digits that read back as the same double.
// Contract: out.h. Complexity: linear in the bytes.
#include "ir/base/out.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "ir/base/arena.h"
#include "runtime/model/json.h"

static void
reserve(Out *out, size_t more)
{
    if (out->length + more + 1 <= out->capacity)
        return;
    size_t capacity = out->capacity ? out->capacity * 2 : 256;
    while (capacity < out->length + more + 1)
        capacity *= 2;
    out->text = base_realloc(out->text, capacity);
    out->capacity = capacity;
}

void
out_bytes(Out *out, const char *bytes, size_t length)
{
    reserve(out, length);
    memcpy(out->text + out->length, bytes, length);
    out->length += length;
    out->text[out->length] = 0;
}

void
out_text(Out *out, const char *text)
{
    out_bytes(out, text, strlen(text));
}

void
out_char(Out *out, char c)
{
    reserve(out, 1);
    out->text[out->length++] = c;
    out->text[out->length] = 0;
}

void
out_repeat(Out *out, char c, size_t count)
{
    reserve(out, count);
    memset(out->text + out->length, c, count);
    out->length += count;
    out->text[out->length] = 0;
}

void
out_printf(Out *out, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    reserve(out, (size_t)length);
    vsnprintf(out->text + out->length, (size_t)length + 1, format, again);
    va_end(again);
    out->length += (size_t)length;
}

void
out_unsigned(Out *out, unsigned value)
{
    char digits[16];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    out_bytes(out, digits + at, sizeof digits - at);
}

void
out_number(Out *out, double value)
{
    char text[40];
    if (isnan(value) || isinf(value)) {
        out_text(out, isnan(value) ? "nan" : value > 0 ? "inf" : "-inf");
        return;
    }
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(text, sizeof text, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    // Whole numbers below 1e15 are nicer without an exponent.
    if (strchr(text, 'e') && value == floor(value) && fabs(value) < 1e15)
        snprintf(text, sizeof text, "%.0f", value);
    out_text(out, text);
}

static void
json_string(Out *out, const char *text, bool in_script)
{
    char one[JSON_CHARACTER];
    out_char(out, '"');
    for (; text && *text; text++)
        out_text(out, json_character(*text, in_script, one));
    out_char(out, '"');
}

void
out_json(Out *out, const char *text)
{
    json_string(out, text, false);
}

void
out_json_script(Out *out, const char *text)
{
    json_string(out, text, true);
}

void
out_html_bytes(Out *out, const char *bytes, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (bytes[i] == '<')
            out_text(out, "&lt;");
        else if (bytes[i] == '>')
            out_text(out, "&gt;");
        else if (bytes[i] == '&')
            out_text(out, "&amp;");
        else if (bytes[i] == '"')
            out_text(out, "&quot;");
        else
            out_char(out, bytes[i]);
    }
}

void
out_html(Out *out, const char *text)
{
    out_html_bytes(out, text, strlen(text));
}

int
out_file(Out *out, const char *path)
{
    char block[1 << 14];
    FILE *file = fopen(path, "rb");
    if (!file)
        return errno;
    out_text(out, "");
    for (size_t n; (n = fread(block, 1, sizeof block, file)) > 0;)
        out_bytes(out, block, n);
    int error = ferror(file) ? EIO : 0;
    fclose(file);
    return error;
}

int
out_flush(Out *out, FILE *file)
{
    int error = 0;
    errno = 0;
    if (out->length && fwrite(out->text, 1, out->length, file) != out->length)
        error = errno ? errno : EIO;
    out->length = 0;
    return error;
}

void
out_free(Out *out)
{
    free(out->text);
    memset(out, 0, sizeof *out);
}
