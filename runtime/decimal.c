// decimal.c: numbers as text with 17 significant digits, as fast as results are written.
//
// Purpose: a result file is millions of numbers; printf takes half a microsecond for each.
// Method: |x| = m*2^e is multiplied by a power of ten in 128 bits, so that the integer part has 17 digits and what follows says
//   how to round (the fixed-precision half of Adams, Ryu revisited: printf floating point conversion, OOPSLA 2019, with
//   truncated powers). The powers are products of an exact one below 10^27 and one of a table; they are short by less than 4
//   units in the last of 128 places, and of the product the first 128 bits are kept, so the fraction is short by less than
//   2^-57. Fractions that are nearer to a half than that, exact halves among them, and subnormal numbers are left to printf.
// Contract: decimal.h; the same bytes as printf. Complexity: a few multiplications and 17 digits.
#include "runtime/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { DIGITS = 17, STEP = 27, LOWEST = -11 };

static const uint64_t UNSURE = 256; // of 2^64: fractions that are not told from a half

typedef unsigned __int128 Wide;

// high*2^64 + low times 2^exponent, truncated.
typedef struct Power {
    uint64_t high, low;
    int exponent;
} Power;

static const Power coarse[] = {
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e, -1114}, // 10^-297
    {0x873e4f75e2224e68, 0x5a7744a6e804a291, -1024}, // 10^-270
    {0xda7f5bf590966848, 0xaf39a475506a899e, -935}, // 10^-243
    {0xb080392cc4349dec, 0xbd8d794d96aacfb3, -845}, // 10^-216
    {0x8e938662882af53e, 0x547eb47b7282ee9c, -755}, // 10^-189
    {0xe65829b3046b0afa, 0x0cb4a5a3112a5112, -666}, // 10^-162
    {0xba121a4650e4ddeb, 0x92f34d62616ce413, -576}, // 10^-135
    {0x964e858c91ba2655, 0x3a6a07f8d510f86f, -486}, // 10^-108
    {0xf2d56790ab41c2a2, 0xfae27299423fb9c3, -397}, // 10^-81
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b886, -307}, // 10^-54
    {0x9e74d1b791e07e48, 0x775ea264cf55347d, -217}, // 10^-27
    {0x8000000000000000, 0x0000000000000000, -127}, // 10^0
    {0xcecb8f27f4200f3a, 0x0000000000000000, -38}, // 10^27
    {0xa70c3c40a64e6c51, 0x999090b65f67d924, 52}, // 10^54
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3, 142}, // 10^81
    {0xda01ee641a708de9, 0xe80e6f4820cc9495, 231}, // 10^108
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f, 321}, // 10^135
    {0x8e41ade9fbebc27d, 0x14588f13be847307, 411}, // 10^162
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fa, 500}, // 10^189
    {0xb9a74a0637ce2ee1, 0x6d953e2bd7173692, 590}, // 10^216
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e, 680}, // 10^243
    {0xf24a01a73cf2dccf, 0xbc633b39673c8cec, 769}, // 10^270
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8, 859}, // 10^297
    {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1, 949}, // 10^324
};

static const uint64_t fine[] = { // 5^k
    1u, 5u, 25u, 125u,
    625u, 3125u, 15625u, 78125u,
    390625u, 1953125u, 9765625u, 48828125u,
    244140625u, 1220703125u, 6103515625u, 30517578125u,
    152587890625u, 762939453125u, 3814697265625u, 19073486328125u,
    95367431640625u, 476837158203125u, 2384185791015625u, 11920928955078125u,
    59604644775390625u, 298023223876953125u, 1490116119384765625u, 7450580596923828125u,
};

// 10^k, k from -297 to 350, as a number below 2^128 times 2^exponent; short by less than 4.
static Wide
power_of_ten(int k, int *exponent)
{
    int j = (k - LOWEST * STEP) / STEP, rest = k - (j + LOWEST) * STEP;
    const Power *power = &coarse[j];
    uint64_t five = fine[rest];
    int shift = __builtin_clzll(five);
    five <<= shift;
    // 128 x 64 bits; the upper 128 of 192.
    Wide low = (Wide)power->low * five, high = (Wide)power->high * five + (uint64_t)(low >> 64);
    *exponent = power->exponent + rest - shift + 64;
    if (high >> 127)
        return high;
    --*exponent;
    return high << 1 | ((uint64_t)low >> 63);
}

// |x| times 10^k: its integer part, and whether it is to be rounded up. False: not told at this precision.
static bool
scale(uint64_t mantissa, int binary, int k, uint64_t *whole, bool *up)
{
    int exponent;
    Wide power = power_of_ten(k, &exponent);
    // 53 x 128 bits, in two parts: product = high*2^64 + (low bits).
    Wide low = (Wide)mantissa * (uint64_t)power, high = (Wide)mantissa * (uint64_t)(power >> 64) + (uint64_t)(low >> 64);
    int point = -(binary + exponent) - 64; // bits of `high` behind the point: 59 to 63
    if (point < 58 || point > 64)
        return false;
    *whole = (uint64_t)(high >> point);
    uint64_t fraction = (uint64_t)((high << (128 - point)) >> 64), half = (uint64_t)1 << 63;
    *up = fraction >= half;
    return fraction - (half - UNSURE) > 2 * UNSURE && fraction < UINT64_MAX - UNSURE;
}

static void
put_digits(char *to, uint64_t whole)
{
    uint32_t low = (uint32_t)(whole % 100000000), high = (uint32_t)(whole / 100000000);
    for (int i = 8; i-- > 0; low /= 10)
        to[DIGITS - 8 + i] = (char)('0' + low % 10);
    for (int i = DIGITS - 8; i-- > 0; high /= 10)
        to[i] = (char)('0' + high % 10);
}

// e-07
static size_t
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
static size_t
lay_out(char *text, bool negative, const char *digits, int decimal)
{
    char *at = text;
    int n = DIGITS;
    while (n > 1 && digits[n - 1] == '0')
        n--;
    if (negative)
        *at++ = '-';
    if (decimal >= -4 && decimal < 0) {
        memcpy(at, "0.000", 5);
        at += 1 - decimal;
        memcpy(at, digits, (size_t)n);
        return (size_t)(at + n - text);
    }
    int before = decimal >= 0 && decimal < DIGITS ? decimal + 1 : 1;
    memcpy(at, digits, (size_t)before);
    at += before;
    if (n > before) {
        *at++ = '.';
        memcpy(at, digits + before, (size_t)(n - before));
        at += n - before;
    }
    if (before == decimal + 1)
        return (size_t)(at - text);
    return (size_t)(at - text) + put_exponent(at, decimal);
}

static size_t
print(char *text, double value)
{
    return (size_t)snprintf(text, DECIMAL_BYTES, "%.17g", value);
}

size_t
decimal_format(char *text, double value)
{
    uint64_t bits, whole;
    char digits[DIGITS];
    bool up;
    memcpy(&bits, &value, sizeof bits);
    int field = (int)(bits >> 52 & 0x7ff), binary = field - 1075;
    if (field == 0 || field == 0x7ff)
        return print(text, value);
    uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    // floor(log10 |x|), or one less.
    int decimal = (int)floor((field - 1023) * 0.30102999566398120);
    if (!scale(mantissa, binary, DIGITS - 1 - decimal, &whole, &up))
        return print(text, value);
    if (whole >= 100000000000000000u) {
        decimal++;
        if (!scale(mantissa, binary, DIGITS - 1 - decimal, &whole, &up))
            return print(text, value);
    }
    whole += up;
    if (whole >= 100000000000000000u) {
        whole /= 10;
        decimal++;
    }
    put_digits(digits, whole);
    return lay_out(text, bits >> 63, digits, decimal);
}
