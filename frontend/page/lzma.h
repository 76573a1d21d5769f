// lzma.h: compressed text.
#ifndef MDLC_FRONTEND_PAGE_LZMA_H
#define MDLC_FRONTEND_PAGE_LZMA_H

#include <stddef.h>

#include "ir/base/out.h"

// Appends the bytes of a file .lzma (lc = 3, lp = pb = 0) with the text, which has less than 4 GB. frontend/page/unfold.js reads them, and any program
// that knows the format.
void lzma_print(const char *text, size_t length, Out *out);

#endif
