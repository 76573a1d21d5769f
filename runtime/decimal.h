// decimal.h: numbers as text with 17 significant digits.
#ifndef MDLC_RUNTIME_DECIMAL_H
#define MDLC_RUNTIME_DECIMAL_H

#include <stddef.h>

enum { DECIMAL_BYTES = 32 };

// What printf("%.17g") gives, without the 0 at the end; the length. `text` has room for DECIMAL_BYTES.
size_t decimal_format(char *text, double value);

#endif
