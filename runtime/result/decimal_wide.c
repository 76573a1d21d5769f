// decimal_wide.c: many numbers as text, four at a time where the processor has vectors of four and fused multiplication.
//
// Purpose: rows of a result; what decimal.c does with one number, in two thirds of the time.
// Method: the same powers of ten as pairs of doubles, 106 bits. |x| times such a power is a double and its rounding error (Dekker,
//   Numer. Math. 18 (1971) 224), which are split into an integer of nine digits and one of eight, the latter rounded. What follows the
//   nine digits is known within 2^-53, so that the eight are right unless it lies within 2^-24 of a half behind them. Numbers of which
//   this is not known, whose exponent was guessed one too small, or which are 0 or near the ends of the range are left to decimal.c.
//   Digits are split as there, two numbers in one register. Each step goes over many numbers before the next: so chains of
//   operations that wait for one another are short, and a processor overlaps them.
// Contract: decimal.h; the same bytes as printf. Complexity: about 25 cycles a number.
#include "runtime/result/decimal_inner.h"

static char *
format_one(const DecimalPowers *powers, char *text, double value, uint8_t *length)
{
    *length = (uint8_t)decimal_format(powers, text, value);
    text[*length] = ',';
    return text + *length + 1;
}

static char *
format_each(const DecimalPowers *powers, char *text, const double *value, uint32_t count, uint8_t *length)
{
    for (uint32_t k = 0; k < count; k++)
        text = format_one(powers, text, value[k], length + k);
    return text;
}

#ifdef __x86_64__
#include <immintrin.h>

#define WIDE __attribute__((target("avx2,fma")))

enum { FOUR = 4, MANY = 16 };

// Where the powers, what they are multiplied by and their second halves are normal numbers. Others count as 1 until they are left out.
static const double LEAST = 1e-298, MOST = 1e282;

// Four numbers on their way.
typedef struct Four {
    union {
        __m256d part[2];     // nine and eight digits as integers
        __m256i digits[2];   // then the characters behind the first: of numbers 0 and 2, and of 1 and 3
    };
    uint64_t scaled[FOUR];   // bytes behind `pair` in the table of powers, which are 16 for each power of ten
    uint64_t first[FOUR];    // digit
    uint32_t zeros[2];       // a bit for each of `digits` that is 0
    uint32_t told;           // a bit for each number whose digits are right
} Four;

// 10^(8 - floor(log10 x)), or ten times that for two numbers of a hundred, as bytes behind the table of pairs. As in decimal.c, with the
// sign changed: -(y >> 40) is (-y + 2^40 - 1) >> 40. All is positive, so that bits can be shifted out.
WIDE static inline __m256i
scale_of(__m256d x)
{
    const int64_t per = 315653, one = (int64_t)1 << 40, bias = ((int64_t)1023 << 20) * per;
    const int64_t add = bias + (one >> 12) + one - 1 + (8 - DECIMAL_LEAST) * one;
    __m256i high = _mm256_srli_epi64(_mm256_castpd_si256(x), 32);
    __m256i y = _mm256_add_epi64(_mm256_mul_epi32(high, _mm256_set1_epi32((int)-per)), _mm256_set1_epi64x(add));
    return _mm256_and_si256(_mm256_srli_epi64(y, 36), _mm256_set1_epi64x(~15));
}

static inline int
decimal_of(uint64_t scale)
{
    return 8 - DECIMAL_LEAST - (int)(scale >> 4);
}

WIDE static inline __m256d
two_pairs(const DecimalPowers *powers, uint64_t left, uint64_t right)
{
    const char *table = (const char *)powers->pair;
    __m128d low = _mm_load_pd((const double *)(const void *)(table + left));
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(low), _mm_load_pd((const double *)(const void *)(table + right)), 1);
}

WIDE static inline void
scale(const DecimalPowers *powers, const double *value, Four *four)
{
    const __m256d sign = _mm256_set1_pd(-0.0), part = _mm256_set1_pd(1e8);
    __m256d x = _mm256_andnot_pd(sign, _mm256_loadu_pd(value));
    __m256d inside = _mm256_and_pd(_mm256_cmp_pd(x, _mm256_set1_pd(LEAST), _CMP_GE_OQ), _mm256_cmp_pd(x, _mm256_set1_pd(MOST), _CMP_LE_OQ));
    x = _mm256_blendv_pd(_mm256_set1_pd(1), x, inside);
    __m256i scaled = scale_of(x);
    _mm256_store_si256((__m256i *)(void *)four->scaled, scaled);
    __m128i low = _mm256_castsi256_si128(scaled), high = _mm256_extracti128_si256(scaled, 1);
    __m256d even = two_pairs(powers, (uint64_t)_mm_cvtsi128_si64(low), (uint64_t)_mm_cvtsi128_si64(high));
    __m256d odd = two_pairs(powers, (uint64_t)_mm_extract_epi64(low, 1), (uint64_t)_mm_extract_epi64(high, 1));
    __m256d power = _mm256_unpacklo_pd(even, odd), rest = _mm256_unpackhi_pd(even, odd);
    __m256d product = _mm256_mul_pd(x, power);
    __m256d error = _mm256_fmadd_pd(x, rest, _mm256_fmsub_pd(x, power, product));
    __m256d nine = _mm256_floor_pd(product);
    __m256d behind = _mm256_mul_pd(_mm256_add_pd(_mm256_sub_pd(product, nine), error), part);
    __m256d eight = _mm256_round_pd(behind, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    __m256d off = _mm256_andnot_pd(sign, _mm256_sub_pd(behind, eight));
    // -1, 0 or 1 goes over from the eight digits to the nine.
    __m256d over = _mm256_floor_pd(_mm256_mul_pd(eight, _mm256_set1_pd(1e-8)));
    four->part[0] = nine = _mm256_add_pd(nine, over);
    four->part[1] = _mm256_fnmadd_pd(over, part, eight);
    __m256d told = _mm256_and_pd(_mm256_cmp_pd(off, _mm256_set1_pd(0.5 - 0x1p-24), _CMP_LT_OQ), _mm256_cmp_pd(nine, _mm256_set1_pd(1e9), _CMP_LT_OQ));
    four->told = (uint32_t)_mm256_movemask_pd(_mm256_and_pd(told, inside));
}

// Per 64 bits an integer below 10^8, whose upper half may be anything: a byte for each digit, as in decimal.c.
WIDE static inline __m256i
eight_digits(__m256i eight)
{
    __m256i left = _mm256_srli_epi64(_mm256_mul_epu32(eight, _mm256_set1_epi32((int)3518437209u)), 45);
    __m256i right = _mm256_sub_epi32(eight, _mm256_mul_epu32(left, _mm256_set1_epi32(10000)));
    __m256i four = _mm256_or_si256(left, _mm256_slli_epi64(right, 32));
    left = _mm256_srli_epi16(_mm256_mulhi_epu16(four, _mm256_set1_epi16(5243)), 3);
    right = _mm256_sub_epi16(four, _mm256_madd_epi16(left, _mm256_set1_epi32(100)));
    __m256i two = _mm256_or_si256(left, _mm256_slli_epi32(right, 16));
    left = _mm256_mulhi_epu16(two, _mm256_set1_epi16(6554));
    return _mm256_sub_epi16(_mm256_slli_epi16(two, 8), _mm256_mullo_epi16(left, _mm256_set1_epi16(2559)));
}

WIDE static inline void
split(__m256i eight, Four *four, int k)
{
    __m256i digits = eight_digits(eight);
    four->zeros[k] = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(digits, _mm256_setzero_si256()));
    four->digits[k] = _mm256_or_si256(digits, _mm256_set1_epi8('0'));
}

// Integers below 2^32 stand in the lower halves of their sums with 2^52; nothing looks at the upper halves. The first of nine digits is
// nine*1441151881/2^57, exact below 10^9.
WIDE static inline void
split_all(Four *four)
{
    const __m256d large = _mm256_set1_pd(0x1p52);
    __m256i nine = _mm256_castpd_si256(_mm256_add_pd(four->part[0], large)), lower = _mm256_castpd_si256(_mm256_add_pd(four->part[1], large));
    __m256i first = _mm256_srli_epi64(_mm256_mul_epu32(nine, _mm256_set1_epi32(1441151881)), 57);
    __m256i upper = _mm256_sub_epi32(nine, _mm256_mul_epu32(first, _mm256_set1_epi32(100000000)));
    _mm256_store_si256((__m256i *)(void *)four->first, first);
    split(_mm256_unpacklo_epi64(upper, lower), four, 0);
    split(_mm256_unpackhi_epi64(upper, lower), four, 1);
}

// Plain numbers with the point at most behind the seventh digit: where the digits behind the first go, and how the first eight bytes
// are made of the first eight digits: (digits & kept) | fixed | (digits << by & moved).
typedef struct Plain {
    uint64_t kept, fixed, moved;
    uint8_t by, others, before, more; // digits before the point; what else there is when there are digits behind it
} Plain;

enum { LOWEST = -4, HIGHEST = 6 };

#define BELOW(k, text) {0, text, ~(uint64_t)0, 8 * (k), (k) + 1, 0, k}
#define UP_TO(k) {((uint64_t)1 << 8 * (k)) - 1, (uint64_t)'.' << 8 * (k), ~(((uint64_t)1 << (8 * (k) + 7) << 1) - 1), 8, 2, k, 1}

static const Plain plain[] = {
    BELOW(5, 0x3030302e30), BELOW(4, 0x30302e30), BELOW(3, 0x302e30), BELOW(2, 0x2e30), // 0.000, 0.00, 0.0, 0.
    UP_TO(1), UP_TO(2), UP_TO(3), UP_TO(4), UP_TO(5), UP_TO(6), UP_TO(7),
};

WIDE static inline size_t
lay_out_plain(char *text, bool negative, const Digits *digits, const Plain *how)
{
    uint64_t first = digits->first | (uint64_t)_mm_cvtsi128_si64(digits->others) << 8;
    first = (first & how->kept) | how->fixed | (first << how->by & how->moved);
    *text = '-';
    text += negative;
    _mm_storeu_si128((__m128i *)(void *)(text + how->others), digits->others);
    memcpy(text, &first, sizeof first);
    return negative + (digits->count > how->before ? digits->count + how->more : how->before);
}

WIDE static inline char *
lay_out_one(const Four *four, unsigned k, double value, char *text, uint8_t *length)
{
    unsigned zeros = four->zeros[k & 1] >> (k & 2) * 8 & 0xffff;
    const __m128i *others = (const __m128i *)(const void *)&four->digits[k & 1] + (k >> 1);
    Digits digits = {'0' + (unsigned)four->first[k], count_digits(zeros), _mm_load_si128(others)};
    int decimal = decimal_of(four->scaled[k]);
    bool negative = __builtin_signbit(value);
    size_t is = decimal >= LOWEST && decimal <= HIGHEST ? lay_out_plain(text, negative, &digits, &plain[decimal - LOWEST]) : write_digits(text, negative, &digits, decimal);
    *length = (uint8_t)is;
    text[is] = ',';
    return text + is + 1;
}

WIDE static char *
format_wide(const DecimalPowers *powers, char *text, const double *value, uint32_t count, uint8_t *length)
{
    Four many[MANY];
    while (count >= FOUR) {
        uint32_t fours = count / FOUR < MANY ? count / FOUR : MANY;
        for (uint32_t i = 0; i < fours; i++)
            scale(powers, value + FOUR * i, &many[i]);
        for (uint32_t i = 0; i < fours; i++)
            split_all(&many[i]);
        for (uint32_t i = 0; i < fours; i++, value += FOUR, length += FOUR)
#pragma GCC unroll 4
            for (uint32_t k = 0; k < FOUR; k++)
                if (many[i].told >> k & 1)
                    text = lay_out_one(&many[i], k, value[k], text, length + k);
                else
                    text = format_one(powers, text, value[k], length + k);
        count -= fours * FOUR;
    }
    return format_each(powers, text, value, count, length);
}

bool
decimal_wide(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
#define format_wide format_each
bool
decimal_wide(void)
{
    return false;
}
#endif

char *
decimal_format_all(const DecimalPowers *powers, char *text, const double *value, uint32_t count, uint8_t *length)
{
    return (powers->wide ? format_wide : format_each)(powers, text, value, count, length);
}
