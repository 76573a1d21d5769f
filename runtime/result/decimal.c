// decimal.c: numbers as text with 17 significant digits, as fast as results are written.
//
// Purpose: a result file is millions of numbers; printf takes half a microsecond for each.
// Method: |x| = m*2^e is multiplied by a power of ten in 128 bits, so that the integer part has 17 digits and what follows says
//   how to round (the fixed-precision half of Adams, Ryu revisited: printf floating point conversion, OOPSLA 2019, with
//   truncated powers). The powers are products of an exact one below 10^27 and one of a table; they are short by less than 4
//   units in the last of 128 places, and of the product the first 128 bits are kept, so the fraction is short by less than
//   2^-57. Fractions that are nearer to a half than that, exact halves among them, and subnormal numbers are left to printf.
//   The 16 digits behind the first are split side by side in one vector register (Mula, SSE2 conversions of integers to text, 2011);
//   no branch depends on a digit, because processors guess these wrong.
// Contract: decimal.h; the same bytes as printf. Complexity: a few multiplications and 17 digits, about 40 cycles.
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "runtime/result/decimal_inner.h"

enum { STEP = 27, LOWEST = -11 };

static const uint64_t UNSURE = 256; // of 2^64: fractions that are not told from a half

typedef unsigned __int128 Wide;

// The first 128 bits, high*2^64 + low.
typedef struct Coarse {
    uint64_t high, low;
} Coarse;

static const Coarse coarse[] = {
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e}, // 10^-297
    {0x873e4f75e2224e68, 0x5a7744a6e804a291}, // 10^-270
    {0xda7f5bf590966848, 0xaf39a475506a899e}, // 10^-243
    {0xb080392cc4349dec, 0xbd8d794d96aacfb3}, // 10^-216
    {0x8e938662882af53e, 0x547eb47b7282ee9c}, // 10^-189
    {0xe65829b3046b0afa, 0x0cb4a5a3112a5112}, // 10^-162
    {0xba121a4650e4ddeb, 0x92f34d62616ce413}, // 10^-135
    {0x964e858c91ba2655, 0x3a6a07f8d510f86f}, // 10^-108
    {0xf2d56790ab41c2a2, 0xfae27299423fb9c3}, // 10^-81
    {0xc428d05aa4751e4c, 0xaa97e14c3c26b886}, // 10^-54
    {0x9e74d1b791e07e48, 0x775ea264cf55347d}, // 10^-27
    {0x8000000000000000, 0x0000000000000000}, // 10^0
    {0xcecb8f27f4200f3a, 0x0000000000000000}, // 10^27
    {0xa70c3c40a64e6c51, 0x999090b65f67d924}, // 10^54
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3}, // 10^81
    {0xda01ee641a708de9, 0xe80e6f4820cc9495}, // 10^108
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f}, // 10^135
    {0x8e41ade9fbebc27d, 0x14588f13be847307}, // 10^162
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fa}, // 10^189
    {0xb9a74a0637ce2ee1, 0x6d953e2bd7173692}, // 10^216
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e}, // 10^243
    {0xf24a01a73cf2dccf, 0xbc633b39673c8cec}, // 10^270
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8}, // 10^297
    {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1}, // 10^324
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

// 10^k, normalised and truncated to 128 bits; short by less than 4.
static Wide
power_of_ten(int k)
{
    int j = (k - LOWEST * STEP) / STEP, rest = k - (j + LOWEST) * STEP;
    const Coarse *power = &coarse[j];
    uint64_t five = fine[rest];
    five <<= __builtin_clzll(five);
    // 128 x 64 bits; the upper 128 of 192.
    Wide low = (Wide)power->low * five, high = (Wide)power->high * five + (uint64_t)(low >> 64);
    return high >> 127 ? high : high << 1 | ((uint64_t)low >> 63);
}

// value * 2^exponent.
static double
scaled(double value, int exponent)
{
    if (exponent < -1022 || exponent > 1023)
        return ldexp(value, exponent);
    uint64_t bits = (uint64_t)(exponent + 1023) << 52;
    double two;
    memcpy(&two, &bits, sizeof two);
    return value * two;
}

void
decimal_prepare(DecimalPowers *powers)
{
    for (int k = DECIMAL_LEAST; k <= DECIMAL_MOST; k++) {
        Wide power = power_of_ten(k);
        int exponent = (k * 217706 >> 16) - 127; // of the last bit
        powers->of[k - DECIMAL_LEAST] = (DecimalPower){(uint64_t)(power >> 64), (uint64_t)power};
        // 53 bits, then 75, of which the upper 43 and the lower 32 are exact: one rounding, as of 75 bits converted at once.
        double upper = (double)(int64_t)(power >> 32 & ((UINT64_C(1) << 43) - 1)), lower = (double)(uint32_t)power;
        powers->pair[k - DECIMAL_LEAST][0] = scaled((double)(int64_t)(power >> 75), exponent + 75);
        powers->pair[k - DECIMAL_LEAST][1] = scaled(upper * 0x1p32 + lower, exponent);
    }
    powers->wide = decimal_wide();
}

// |x| times 10^k: its integer part, and whether it is to be rounded up. False: not told at this precision.
static inline bool
scale(const DecimalPowers *powers, uint64_t mantissa, int binary, int k, uint64_t *whole, bool *up)
{
    const DecimalPower *power = &powers->of[k - DECIMAL_LEAST];
    // 53 x 128 bits; product = high*2^64 + (low bits), 10^k = power * 2^(floor(k log2(10)) - 127).
    Wide high = (Wide)mantissa * power->high + (uint64_t)((Wide)mantissa * power->low >> 64);
    int point = 63 - binary - (k * 217706 >> 16); // bits of `high` behind the point: 59 to 63
    if (point < 58 || point > 63)
        return false;
    *whole = (uint64_t)(high >> 64) << (64 - point) | (uint64_t)high >> point;
    uint64_t fraction = (uint64_t)high << (64 - point), half = (uint64_t)1 << 63;
    *up = fraction >= half;
    return fraction - (half - UNSURE) > 2 * UNSURE && fraction < UINT64_MAX - UNSURE;
}

// Two numbers below 10^8, a byte each digit: lanes of eight digits are halved to four, two and one. Quotients are multiplications by
// 3518437209/2^45, 5243/2^19 and 6554/2^16, exact below 2^32, 10^4 and 100. The last step is left + 256*(two - 10*left).
static inline __m128i
sixteen_digits(uint32_t upper, uint32_t lower)
{
    __m128i eight = _mm_set_epi64x(lower, upper);
    __m128i left = _mm_srli_epi64(_mm_mul_epu32(eight, _mm_set1_epi32((int)3518437209u)), 45);
    __m128i right = _mm_sub_epi32(eight, _mm_mul_epu32(left, _mm_set1_epi32(10000)));
    __m128i four = _mm_or_si128(left, _mm_slli_epi64(right, 32));
    left = _mm_srli_epi16(_mm_mulhi_epu16(four, _mm_set1_epi16(5243)), 3);
    right = _mm_sub_epi16(four, _mm_madd_epi16(left, _mm_set1_epi32(100)));
    __m128i two = _mm_or_si128(left, _mm_slli_epi32(right, 16));
    left = _mm_mulhi_epu16(two, _mm_set1_epi16(6554));
    return _mm_sub_epi16(_mm_slli_epi16(two, 8), _mm_mullo_epi16(left, _mm_set1_epi16(2559)));
}

static inline Digits
split(uint64_t whole)
{
    uint64_t nine = whole / 100000000, first = nine / 100000000;
    __m128i digits = sixteen_digits((uint32_t)(nine - first * 100000000), (uint32_t)(whole - nine * 100000000));
    unsigned zeros = (unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(digits, _mm_setzero_si128()));
    return (Digits){'0' + (unsigned)first, count_digits(zeros), _mm_or_si128(digits, _mm_set1_epi8('0'))};
}

// What the fast way does not tell: subnormal numbers, infinities, neighbours of halves; and 0, which is frequent. (Processors can
// be told to take subnormal numbers for 0 where they compare them.)
static __attribute__((noinline, cold)) size_t
print(char *text, double value, uint64_t bits)
{
    if (bits << 1 == 0) {
        *text = '-';
        text[bits >> 63] = '0';
        return 1 + (bits >> 63);
    }
    return (size_t)snprintf(text, DECIMAL_BYTES, "%.17g", isnan(value) ? fabs(value) : value); // no number has no sign
}

// floor(log10 |x|), or one less for two numbers of a hundred: exponent and fraction of a number, read as one with a binary point,
// are its binary logarithm or up to 0.086 less; 315653/2^20 is log10(2) within 6e-7, which 2^28/2^40 is more than.
static int
decimal_exponent(uint64_t bits)
{
    int64_t logarithm = (int64_t)(bits >> 32 & 0x7fffffff) - ((int64_t)1023 << 20);
    return (int)((logarithm * 315653 - ((int64_t)1 << 28)) >> 40);
}

size_t
decimal_format(const DecimalPowers *powers, char *text, double value)
{
    uint64_t bits, whole;
    bool up;
    memcpy(&bits, &value, sizeof bits);
    int field = (int)(bits >> 52 & 0x7ff), binary = field - 1075;
    if (field == 0 || field == 0x7ff)
        return print(text, value, bits);
    uint64_t mantissa = (bits & (((uint64_t)1 << 52) - 1)) | (uint64_t)1 << 52;
    int decimal = decimal_exponent(bits);
    if (!scale(powers, mantissa, binary, DIGITS - 1 - decimal, &whole, &up))
        return print(text, value, bits);
    if (whole >= 100000000000000000u) {
        decimal++;
        if (!scale(powers, mantissa, binary, DIGITS - 1 - decimal, &whole, &up))
            return print(text, value, bits);
    }
    whole += up;
    if (whole >= 100000000000000000u) {
        whole /= 10;
        decimal++;
    }
    Digits digits = split(whole);
    return write_digits(text, bits >> 63, &digits, decimal);
}
