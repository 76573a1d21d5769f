// template.h: texts with values that are known at run time.
//
// A value stands in a text as \1FORMAT\2. FORMAT is a printf conversion of a double or an integer ("%.6g", "%4x"), b (a Boolean), d
// with an optional width before it (an Integer: "d", "-8d"), e and the names of an enumeration ("ered,green"), s (the number of a text)
// or t (the address of one). Formats are checked by whoever writes the text.
#ifndef MDL_TEMPLATE_H
#define MDL_TEMPLATE_H

#include <stddef.h>

#include "runtime/model/texts.h"

// Writes the text with the next value in each place, cut to `size` bytes with NUL. `texts` may be NULL: no number stands for a text.
void template_fill(const char *text, const double *values, const mdl_texts *texts, char *out, size_t size);
// The number of places in a text that may come from anywhere; -1 when a format is none of the above, or takes an address.
int template_places(const char *text);

#endif
