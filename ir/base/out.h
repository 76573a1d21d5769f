// out.h: a growing text buffer; what every printer writes to.
#ifndef MDLC_IR_BASE_OUT_H
#define MDLC_IR_BASE_OUT_H

#include <stddef.h>
#include <stdio.h>

typedef struct Out {
    char *text; // NUL-terminated once anything was written
    size_t length, capacity;
} Out;

void out_text(Out *out, const char *text);
void out_bytes(Out *out, const char *bytes, size_t length);
void out_char(Out *out, char c);
void out_repeat(Out *out, char c, size_t count);
void out_printf(Out *out, const char *format, ...) __attribute__((format(printf, 2, 3)));
void out_unsigned(Out *out, unsigned value);
// The shortest decimal that reads back as the same double ("0.1", "1e-9", "40000").
void out_number(Out *out, double value);
// A JSON string with its quotation marks; NULL is the empty one.
void out_json(Out *out, const char *text);
// The same for a script element of a page: no '<' stands in it.
void out_json_script(Out *out, const char *text);
// Text of a page or of an attribute in quotation marks.
void out_html(Out *out, const char *text);
void out_html_bytes(Out *out, const char *bytes, size_t length);
// Appends what is in a file; 0 or an errno. The text ends with a NUL even when nothing is in it.
int out_file(Out *out, const char *path);
// Writes and clears; 0 or an errno.
int out_flush(Out *out, FILE *file);
void out_free(Out *out);

#endif
