// decimal_inner.h: how the digits of a number are laid out as text, for decimal.c and decimal_wide.c.
#ifndef MDLC_RUNTIME_RESULT_DECIMAL_INNER_H
#define MDLC_RUNTIME_RESULT_DECIMAL_INNER_H

#include <emmintrin.h>
#include <stdbool.h>
#include <string.h>

#include "runtime/result/decimal.h"

enum { DIGITS = 17 };

// Seventeen digits: the first one, the others, and how many there are up to the last that is not 0. All are characters.
typedef struct Digits {
    unsigned first;
    unsigned count;
    __m128i others;
} Digits;

// Of 17 digits with the first not 0, from the bits of those behind it that are 0.
static inline unsigned
count_digits(unsigned zeros)
{
    return 32 - (unsigned)__builtin_clz((~zeros & 0xffff) << 1 | 1);
}

// All seventeen; what is behind the last one wanted is overwritten or left out.
static inline void
put_digits(char *to, const Digits *digits)
{
    to[0] = (char)digits->first;
    _mm_storeu_si128((__m128i *)(void *)(to + 1), digits->others);
}

// Digits with a point behind the first `before`, 1 to 17 of them: all digits one place further on, then the first ones and the
// point over them, by one store from a register where eight bytes hold them. What has been stored is not loaded again.
static inline void
put_with_point(char *to, const Digits *digits, int before)
{
    put_digits(to + 1, digits);
    if (before < 8) {
        uint64_t first = digits->first | (uint64_t)_mm_cvtsi128_si64(digits->others) << 8;
        uint64_t kept = ((uint64_t)1 << 8 * before) - 1, point = (uint64_t)'.' << 8 * before;
        first = (first & kept) | point | (first << 8 & ~(kept << 8 | 0xff));
        memcpy(to, &first, sizeof first);
        return;
    }
    memmove(to, to + 1, (size_t)before);
    to[before] = '.';
}

// e-07
static inline size_t
put_exponent(char *to, int exponent)
{
    uint32_t left = (uint32_t)(exponent < 0 ? -exponent : exponent);
    size_t n = 2;
    to[0] = 'e';
    to[1] = exponent < 0 ? '-' : '+';
    if (left >= 100)
        to[n++] = (char)('0' + left / 100);
    to[n++] = (char)('0' + left / 10 % 10);
    to[n++] = (char)('0' + left % 10);
    return n;
}

// As %g does: plain from 1e-4 to below 1e17, zeros at the end left out.
static inline size_t
write_digits(char *text, bool negative, const Digits *digits, int decimal)
{
    char *at = text;
    int n = (int)digits->count;
    *at = '-';
    at += negative;
    if (decimal >= -4 && decimal < 0) {
        memcpy(at, "0.000000", 8);
        at += 1 - decimal;
        put_digits(at, digits);
        return (size_t)(at + n - text);
    }
    bool plain = decimal >= 0 && decimal < DIGITS;
    int before = plain ? decimal + 1 : 1;
    put_with_point(at, digits, before);
    at += n > before ? n + 1 : before;
    return (size_t)(at - text) + (plain ? 0 : put_exponent(at, decimal));
}

// Whether decimal_format_all() can take four numbers at a time.
bool decimal_wide(void);

#endif
