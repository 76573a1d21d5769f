// decimal.c and decimal_wide.c against printf: random bits, random decimals with few digits, neighbours of powers of ten and of halves.
#include <stdint.h>

#include "runtime/result/decimal.h"
#include "tests/runtime/check.h"

static uint64_t
next(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static void
differs(const DecimalPowers *powers, uint32_t *wrong, double value)
{
    char want[64], got[64];
    snprintf(want, sizeof want, "%.17g", isnan(value) ? fabs(value) : value);
    size_t length = decimal_format(powers, got, value);
    if (length == strlen(want) && !memcmp(want, got, length))
        return;
    if (!(*wrong)++)
        printf("# %s, not %.*s\n", want, (int)length, got);
}

// A number of a kind that is drawn: any bits, few digits, dyadic fractions, neighbours of powers of ten and of numbers of 17 digits
// with a half behind, sizes of every day, zeros.
static double
draw(uint64_t *random)
{
    uint64_t bits = next(random);
    double value, ten = pow(10, (double)(bits >> 8 & 31) - 16);
    switch (bits >> 61) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return isfinite(value) ? value : 1;
    case 1: return (double)(int64_t)(bits % 2000001 - 1000000) / pow(10, (double)(bits >> 57 & 15));
    case 2: return ldexp((double)(bits & 0xfffffffffffff), -(int)(bits >> 52 & 127));
    case 3: return bits & 1 ? nextafter(ten, 0) : bits & 2 ? nextafter(ten, INFINITY) : bits & 4 ? -ten : ten;
    case 4: return ldexp((double)(bits & 0x1fffffffffffff) + 0.5, (int)(bits >> 54 & 31) - 16);
    case 5: return bits & 1 ? 0.0 : -0.0;
    default: return ((double)(bits & 0x1fffffffffffff) - 0x1p52) * 0x1p-52 * ten;
    }
}

// Rows of 1 to 99 numbers as text, against printf.
static uint32_t
rows_differ(const DecimalPowers *powers, uint64_t random, int rows)
{
    enum { MOST = 99 };
    static char want[MOST * 26 + 1], got[MOST * 26 + DECIMAL_BYTES];
    double value[MOST];
    uint8_t length[MOST];
    uint32_t wrong = 0;
    for (int r = 0; r < rows; r++) {
        uint32_t count = 1 + (uint32_t)(next(&random) % MOST), same = 1;
        size_t size = 0;
        for (uint32_t k = 0; k < count; k++) {
            value[k] = draw(&random);
            size += (size_t)snprintf(want + size, sizeof want - size, "%.17g,", isnan(value[k]) ? fabs(value[k]) : value[k]);
        }
        char *end = decimal_format_all(powers, got, value, count, length);
        const char *at = got;
        for (uint32_t k = 0; k < count; at += length[k++] + 1)
            same = same && at[length[k]] == ',';
        if (at != end || (size_t)(end - got) != size || memcmp(got, want, size) || !same)
            wrong++;
    }
    return wrong;
}

int
main(void)
{
    enum { RANDOM = 100000, ROWS = 4000 };
    Check state = {0};
    DecimalPowers powers_of_ten;
    decimal_prepare(&powers_of_ten);
    uint64_t random = 88172645463325252u;
    uint32_t bits_wrong = 0, decimals = 0, halves = 0, powers = 0;
    for (int i = 0; i < RANDOM; i++) {
        uint64_t bits = next(&random);
        double value;
        memcpy(&value, &bits, sizeof value);
        differs(&powers_of_ten, &bits_wrong, value);
        differs(&powers_of_ten, &decimals, (double)(int64_t)(bits % 2000001 - 1000000) / pow(10, (double)(bits >> 60)));
        differs(&powers_of_ten, &halves, ldexp((double)(bits >> 11), -(int)(bits % 80)));
    }
    for (int k = -323; k <= 308; k++) {
        double ten = pow(10, k), near[] = {ten, -ten, nextafter(ten, 0), nextafter(ten, INFINITY), 5 * ten};
        for (int i = 0; i < 5; i++)
            differs(&powers_of_ten, &powers, near[i]);
    }
    const double special[] = {0, -0.0, INFINITY, -INFINITY, 0.1, 1.0 / 3, 9007199254740993.0};
    for (size_t i = 0; i < sizeof special / sizeof *special; i++)
        differs(&powers_of_ten, &powers, special[i]);
    check(&state, bits_wrong == 0, "any bits", "%u of %d differ", bits_wrong, RANDOM);
    check(&state, decimals == 0, "short decimals", "%u of %d differ", decimals, RANDOM);
    check(&state, halves == 0, "dyadic fractions", "%u of %d differ", halves, RANDOM);
    check(&state, powers == 0, "around powers of ten", "%u differ", powers);
    uint32_t rows = rows_differ(&powers_of_ten, random, ROWS);
    check(&state, rows == 0, "rows", "%u of %d differ, %s", rows, ROWS, powers_of_ten.wide ? "four numbers at a time" : "one by one");
    powers_of_ten.wide = false;
    rows = rows_differ(&powers_of_ten, random, ROWS);
    check(&state, rows == 0, "rows, one by one", "%u of %d differ", rows, ROWS);
    return check_end(&state);
}
