// digest.h: SHA-256, by which a page names the scripts that may run in it.
#ifndef MDLC_FRONTEND_PAGE_DIGEST_H
#define MDLC_FRONTEND_PAGE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

#include "ir/base/out.h"

// The digest of the text in base 64, as Content-Security-Policy wants it (FIPS 180-4; RFC 4648).
void digest_print(const char *text, Out *out);
// n bytes in base 64.
void base64_print(const uint8_t *bytes, size_t n, Out *out);

#endif
